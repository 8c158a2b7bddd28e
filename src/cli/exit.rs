//! Exit codes.

use crate::diagnostic::{Diagnostics, ExitClass, Sink};
use std::process::ExitCode;

use crate::sys::StopSignal;

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

impl Exit {
    /// The number that the shell sees.
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Fault => 1,
            Self::Usage => 2,
            Self::Machine => 3,
            Self::Step => 4,
            Self::Capped => 124,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// Moves the errors of a library to the sink and returns the exit of the command.
    pub(super) fn collect(errors: Diagnostics, sink: &mut Sink) -> Self {
        let exit_class = errors.exit_class();
        sink.extend(errors);
        exit_class.into()
    }
}

impl From<StopSignal> for Exit {
    fn from(signal: StopSignal) -> Self {
        match signal {
            StopSignal::Interrupt => Self::Interrupted,
            StopSignal::Terminate => Self::Terminated,
        }
    }
}

impl From<ExitClass> for Exit {
    fn from(class: ExitClass) -> Self {
        match class {
            ExitClass::Input => Self::Fault,
            ExitClass::Machine => Self::Machine,
            ExitClass::Usage => Self::Usage,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
