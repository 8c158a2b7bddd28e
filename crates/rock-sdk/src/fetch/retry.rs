//! Retries of transient errors.

use std::time::Duration;

use rock_diagnostic::Diagnostic;
use rock_sys::FileError;
use rock_sys::fetch::FetchError;

/// The error of one attempt.
#[derive(Debug)]
pub(super) struct AttemptError {
    /// Reported after the last attempt.
    pub(super) diagnostic: Diagnostic,
    /// Whether another attempt may succeed; not for a missing file or a full disk.
    pub(super) is_transient: bool,
    /// Whether the server has no such file, or does not show it.
    pub(super) is_missing: bool,
}

impl From<FetchError> for AttemptError {
    fn from(error: FetchError) -> Self {
        Self {
            is_transient: error.is_transient,
            is_missing: matches!(error.status, Some(403 | 404)),
            diagnostic: error.into(),
        }
    }
}

impl From<FileError> for AttemptError {
    fn from(error: FileError) -> Self {
        Self {
            is_transient: false,
            is_missing: false,
            diagnostic: error.into(),
        }
    }
}

impl AttemptError {
    /// Replaces the help.
    pub(super) fn help(self, help: &str) -> Self {
        Self {
            diagnostic: self.diagnostic.help(help),
            ..self
        }
    }
}

/// The delays before the second and the third attempt.
const DELAYS: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(4)];

/// The bytes of a large file after which a broken connection starts a new series of attempts.
const PROGRESS_BYTES: u64 = 64 << 20;

/// The attempts that are left.
#[derive(Debug)]
pub(super) struct Retries {
    delays: std::slice::Iter<'static, Duration>,
    /// The bytes that had been received when the attempts were last reset.
    since_bytes: u64,
}

impl Retries {
    /// Creates a policy for three attempts, the first of which is under way.
    pub(super) fn new() -> Self {
        Self {
            delays: DELAYS.iter(),
            since_bytes: 0,
        }
    }

    /// Resets the attempts if much of a file was received since the last reset.
    pub(super) fn record_progress(&mut self, bytes: u64) {
        if bytes >= self.since_bytes + PROGRESS_BYTES {
            *self = Self {
                since_bytes: bytes,
                ..Self::new()
            };
        }
    }

    /// Waits and returns true if there is another attempt after this error.
    pub(super) fn wait_after(&mut self, error: &AttemptError) -> bool {
        let delay = if error.is_transient {
            self.delays.next()
        } else {
            None
        };
        delay.map(|delay| std::thread::sleep(*delay)).is_some()
    }
}

/// Runs an operation, again after transient errors.
pub(super) fn retry<T>(operation: impl Fn() -> Result<T, AttemptError>) -> Result<T, AttemptError> {
    let mut policy = Retries::new();
    loop {
        match operation() {
            Err(error) if policy.wait_after(&error) => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PROGRESS_BYTES, Retries};

    #[test]
    fn progress_of_a_large_file_resets_the_attempts() {
        let mut policy = Retries::new();
        let mut left_at = |bytes| {
            policy.record_progress(bytes);
            let _ = policy.delays.next();
            policy.delays.len()
        };
        assert_eq!(
            [left_at(PROGRESS_BYTES - 1), left_at(PROGRESS_BYTES - 1)],
            [1, 0]
        );
        assert_eq!(
            [
                left_at(PROGRESS_BYTES),
                left_at(PROGRESS_BYTES + 1),
                left_at(2 * PROGRESS_BYTES - 1)
            ],
            [1, 0, 0]
        );
        // After a restart from the first byte, earlier progress does not count.
        assert_eq!(
            [
                left_at(0),
                left_at(PROGRESS_BYTES),
                left_at(2 * PROGRESS_BYTES)
            ],
            [0, 0, 1]
        );
    }
}
