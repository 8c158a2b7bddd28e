//! The retry policy: which requests are retried, and after what delay.

use std::time::Duration;

use rock_sys::http::is_transient_status;

/// Maximum attempts of a request.
pub(super) const MOST_TRIES: u32 = 6;
/// The longest delay, unless a header asks for more.
const LONGEST: Duration = Duration::from_mins(1);
/// The minimum delay after a secondary rate limit without a header (GitHub Docs, "Rate limits for
/// the REST API": at least one minute).
const SECONDARY: Duration = Duration::from_mins(1);

/// The properties of a response that decide whether its request is retried.
#[derive(Debug, Clone, Copy, Default)]
pub struct RetryInput<'a> {
    /// The HTTP status; 0 if there was no response.
    pub status: u16,
    /// The header `retry-after`, in seconds.
    pub retry_after: Option<u64>,
    /// The header `x-ratelimit-remaining`.
    pub remaining: Option<u64>,
    /// The header `x-ratelimit-reset`, in seconds since 1970-01-01 UTC.
    pub reset: Option<u64>,
    /// The server's time from its header `date`, in seconds since 1970-01-01 UTC: this machine's
    /// clock may be wrong.
    pub now: u64,
    /// The message in the body.
    pub message: &'a str,
}

/// The decision about a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryDecision {
    /// Success.
    Good,
    /// Retry after this delay.
    Again(Duration),
    /// A temporary error, but the maximum number of attempts is reached.
    TooOften,
    /// A permanent error.
    Bad,
}

impl RetryInput<'_> {
    fn is_secondary(&self) -> bool {
        self.message
            .to_ascii_lowercase()
            .contains("secondary rate limit")
    }

    /// Whether the server asks to send nothing for a while.
    pub(super) fn asks_to_wait(&self) -> bool {
        self.is_secondary() || self.retry_after.is_some() || self.remaining == Some(0)
    }
}

/// Decides whether to retry after a response to an attempt, whose number starts at 1. `chance` is a
/// random number from 0 to 1.
///
/// ```
/// use std::time::Duration;
/// use rock_github::{RetryDecision, RetryInput, judge};
/// let overloaded = RetryInput { status: 503, retry_after: Some(7), ..RetryInput::default() };
/// assert_eq!(judge(&overloaded, 1, 0.5), RetryDecision::Again(Duration::from_secs(7)));
/// let unauthorized = RetryInput { status: 401, ..RetryInput::default() };
/// assert_eq!(judge(&unauthorized, 1, 0.5), RetryDecision::Bad);
/// ```
pub fn judge(answer: &RetryInput<'_>, tries: u32, chance: f64) -> RetryDecision {
    if (200..400).contains(&answer.status) {
        return RetryDecision::Good;
    }
    let is_transient = match answer.status {
        0 => true,
        403 => answer.asks_to_wait(),
        status => is_transient_status(status),
    };
    if !is_transient {
        return RetryDecision::Bad;
    }
    if tries >= MOST_TRIES {
        return RetryDecision::TooOften;
    }
    if let Some(seconds) = answer.retry_after {
        return RetryDecision::Again(Duration::from_secs(seconds));
    }
    if let (Some(0), Some(reset)) = (answer.remaining, answer.reset) {
        // The limit may end up to a second after `reset`, which has whole seconds.
        return RetryDecision::Again(Duration::from_secs(reset.saturating_sub(answer.now) + 1));
    }
    let least = if answer.is_secondary() {
        SECONDARY
    } else {
        Duration::ZERO
    };
    RetryDecision::Again(least + backoff(tries, chance))
}

/// Returns the delay after an attempt, whose number starts at 1: a random part of a time that
/// doubles with each attempt. `chance` is a random number from 0 to 1.
pub(super) fn backoff(tries: u32, chance: f64) -> Duration {
    let doubled = Duration::from_secs(1 << (tries - 1).min(6)).min(LONGEST);
    doubled.mul_f64(chance.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::{MOST_TRIES, RetryDecision, RetryInput, judge};
    use std::time::Duration;

    fn status(status: u16) -> RetryInput<'static> {
        RetryInput {
            status,
            now: 1000,
            ..RetryInput::default()
        }
    }

    fn waits(answer: &RetryInput<'_>, tries: u32) -> Option<u64> {
        match judge(answer, tries, 1.0) {
            RetryDecision::Again(time) => Some(time.as_secs()),
            _ => None,
        }
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        for code in [0, 408, 425, 429, 500, 502, 503, 504] {
            assert!(waits(&status(code), 1).is_some(), "{code}");
        }
        for code in [400, 401, 403, 404, 409, 410, 413, 422, 451, 501] {
            assert_eq!(judge(&status(code), 1, 1.0), RetryDecision::Bad, "{code}");
        }
        assert_eq!(judge(&status(302), 1, 1.0), RetryDecision::Good);
    }

    #[test]
    fn the_wait_doubles_to_a_minute_with_full_jitter() {
        let longest: Vec<_> = (1..MOST_TRIES)
            .map(|tries| waits(&status(502), tries))
            .collect();
        assert_eq!(longest, [Some(1), Some(2), Some(4), Some(8), Some(16)]);
        assert_eq!(
            judge(&status(502), 3, 0.0),
            RetryDecision::Again(Duration::ZERO)
        );
        assert_eq!(
            judge(&status(502), MOST_TRIES, 1.0),
            RetryDecision::TooOften
        );
    }

    #[test]
    fn a_server_that_names_its_time_is_obeyed() {
        assert_eq!(
            waits(
                &RetryInput {
                    retry_after: Some(90),
                    ..status(403)
                },
                1
            ),
            Some(90)
        );
        let empty = RetryInput {
            remaining: Some(0),
            reset: Some(1300),
            ..status(403)
        };
        assert_eq!(waits(&empty, 1), Some(301));
        assert_eq!(
            waits(&RetryInput { now: 5000, ..empty }, 1),
            Some(1),
            "the limit is over"
        );
        assert_eq!(
            waits(
                &RetryInput {
                    remaining: Some(3),
                    ..status(403)
                },
                1
            ),
            None,
            "it is no limit"
        );
    }

    #[test]
    fn a_secondary_limit_waits_a_minute_at_least() {
        let limited = RetryInput {
            message: "You have exceeded a Secondary rate limit.",
            ..status(403)
        };
        assert_eq!(
            judge(&limited, 1, 0.0),
            RetryDecision::Again(Duration::from_mins(1))
        );
    }
}
