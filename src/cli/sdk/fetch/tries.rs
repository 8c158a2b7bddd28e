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
    pub(super) is_transient: bool,
}

impl From<FetchError> for Fault {
    fn from(error: FetchError) -> Self {
        Self {
            is_transient: error.is_transient,
            told: error.into(),
        }
    }
}

impl From<FileError> for Fault {
    fn from(error: FileError) -> Self {
        Self {
            is_transient: false,
            told: error.into(),
        }
    }
}

impl Fault {
    /// The same with another help.
    pub(super) fn help(self, help: &str) -> Self {
        Self {
            told: self.told.help(help),
            ..self
        }
    }
}

/// How long is waited before the second and the third try.
const WAITS: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(4)];

/// After so much more of a large file, breaking off is no sign that it will not come.
const MUCH_BYTES: u64 = 64 << 20;

/// The tries that are left.
#[derive(Debug)]
pub(super) struct Tries {
    waits: std::slice::Iter<'static, Duration>,
    /// How much of a file was here when they were all of them.
    since_bytes: u64,
}

impl Tries {
    /// All of them, the first of which is under way.
    pub(super) fn all() -> Self {
        Self {
            waits: WAITS.iter(),
            since_bytes: 0,
        }
    }

    /// Tells that so much of a file is here: where that is much more than before, there are all
    /// tries again.
    pub(super) fn reached(&mut self, bytes: u64) {
        if bytes >= self.since_bytes + MUCH_BYTES {
            *self = Self {
                since_bytes: bytes,
                ..Self::all()
            };
        }
    }

    /// Whether to try again, after a while that is over when this returns.
    pub(super) fn again(&mut self, fault: &Fault) -> bool {
        let wait = if fault.is_transient {
            self.waits.next()
        } else {
            None
        };
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

#[cfg(test)]
mod tests {
    use super::{MUCH_BYTES, Tries};

    #[test]
    fn a_large_file_that_gets_on_has_all_tries_again_and_one_that_does_not_has_none() {
        let mut tries = Tries::all();
        let mut left_at = |bytes| {
            tries.reached(bytes);
            let _ = tries.waits.next();
            tries.waits.len()
        };
        assert_eq!([left_at(MUCH_BYTES - 1), left_at(MUCH_BYTES - 1)], [1, 0]);
        assert_eq!(
            [
                left_at(MUCH_BYTES),
                left_at(MUCH_BYTES + 1),
                left_at(2 * MUCH_BYTES - 1)
            ],
            [1, 0, 0]
        );
        // From its start once more, what came before counts for nothing.
        assert_eq!(
            [left_at(0), left_at(MUCH_BYTES), left_at(2 * MUCH_BYTES)],
            [0, 0, 1]
        );
    }
}
