//! Waits before requests, and their text.

use std::fmt;
use std::time::Duration;

use super::retry::MOST_TRIES;

/// A wait before a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestWait<'w> {
    /// The request: method and path, with the filename of an upload.
    pub call: &'w str,
    /// The reason, such as the response to the last attempt.
    pub reason: &'w str,
    /// The duration.
    pub duration: Duration,
    /// The number of the attempt that follows, if the wait is one between attempts.
    pub next_attempt: Option<u32>,
}

impl<'w> RequestWait<'w> {
    /// Creates a wait that is not one between attempts.
    pub(super) fn new(call: &'w str, reason: &'w str, duration: Duration) -> Self {
        Self {
            call,
            reason,
            duration,
            next_attempt: None,
        }
    }

    /// Returns the wait before another attempt with this number.
    #[must_use]
    pub(super) fn before_attempt(self, number: u32) -> Self {
        Self {
            next_attempt: Some(number),
            ..self
        }
    }
}

/// Writes the request, the reason and the duration, rounded up to seconds.
impl fmt::Display for RequestWait<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.duration.as_millis().div_ceil(1000);
        write!(f, "{}: {}; ", self.call, self.reason)?;
        match self.next_attempt {
            Some(number) => write!(f, "attempt {number} of {MOST_TRIES} in {seconds} s"),
            None => write!(f, "continuing in {seconds} s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::RequestWait;

    #[test]
    fn a_wait_names_the_request_the_reason_and_the_next_attempt() {
        let call = "POST /repos/o/r/releases/1/assets?name=a.whl";
        let wait = RequestWait::new(call, "502 an HTML page", Duration::from_millis(300));
        assert_eq!(
            wait.before_attempt(2).to_string(),
            "POST /repos/o/r/releases/1/assets?name=a.whl: 502 an HTML page; attempt 2 of 6 in 1 s"
        );
        let wait = RequestWait::new("GET /x", "the rate is limited", Duration::from_mins(1));
        assert_eq!(
            wait.to_string(),
            "GET /x: the rate is limited; continuing in 60 s"
        );
    }
}
