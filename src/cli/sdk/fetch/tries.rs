//! Trying again what may go well another time.

use std::time::Duration;

use crate::diagnostic::Diagnostic;
use crate::fetch::FetchError;
use crate::sys::FileError;

/// What went wrong in one try.
#[derive(Debug)]
pub(super) struct Fault {
    /// What is told where it stays so.
    pub(super) told: Diagnostic,
    /// Whether it may go well another time: what is not there, and a full disk, time does not mend.
    pub(super) may_pass: bool,
}

impl From<FetchError> for Fault {
    fn from(error: FetchError) -> Self {
        Self { may_pass: error.may_pass, told: error.into() }
    }
}

impl From<FileError> for Fault {
    fn from(error: FileError) -> Self {
        Self { may_pass: false, told: error.into() }
    }
}

impl Fault {
    /// The same with another help.
    pub(super) fn help(self, help: &str) -> Self {
        Self { told: self.told.help(help), ..self }
    }
}

/// How long is waited before the second and the third try.
const WAITS: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(4)];

/// The tries that are left.
#[derive(Debug)]
pub(super) struct Tries(std::slice::Iter<'static, Duration>);

impl Tries {
    /// All of them, the first of which is under way.
    pub(super) fn all() -> Self {
        Self(WAITS.iter())
    }

    /// Whether to try again, after a while that is over when this returns.
    pub(super) fn again(&mut self, fault: &Fault) -> bool {
        let wait = if fault.may_pass { self.0.next() } else { None };
        wait.map(|wait| std::thread::sleep(*wait)).is_some()
    }
}

/// Does work, again where that may help.
pub(super) fn tried<T>(work: impl Fn() -> Result<T, Fault>) -> Result<T, Diagnostic> {
    let mut tries = Tries::all();
    loop {
        match work() {
            Err(fault) if tries.again(&fault) => {}
            done => return done.map_err(|fault| fault.told),
        }
    }
}
