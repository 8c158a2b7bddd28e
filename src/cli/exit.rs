//! Exit codes.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done, or nothing to do.
    Done,
    /// The input or artifact is at fault.
    Fault,
    /// Bad command line.
    Usage,
    /// The machine, network or credentials are at fault.
    Machine,
    /// A build step failed.
    Step,
    /// A build was capped and can be resumed.
    Capped,
    /// Stopped by SIGINT.
    Interrupted,
    /// Stopped by SIGTERM.
    Terminated,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Fault => 1,
            Exit::Usage => 2,
            Exit::Machine => 3,
            Exit::Step => 4,
            Exit::Capped => 124,
            Exit::Interrupted => 130,
            Exit::Terminated => 143,
        })
    }
}
