//! Delays requests to stay within GitHub's rate limits.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::executor::Idempotency;
use rock_compat::Compat;

/// The headroom kept below GitHub's limits for drafts and files per minute and per hour. GitHub
/// counts them on arrival, and some may be delayed on the way.
const LEFT: (usize, usize) = (5, 20);

/// GitHub's rate limits for creating content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimits {
    /// Drafts and files that may be created per minute.
    pub per_minute: usize,
    /// Drafts and files that may be created per hour.
    pub per_hour: usize,
    /// The minimum time between two requests that change something.
    pub between_writes: Duration,
}

impl RateLimits {
    /// Returns the limits `content-per-minute`, `content-per-hour` and `between-writes` of the
    /// compatibility data.
    pub fn of(compat: &Compat) -> Self {
        Self {
            per_minute: compat.limit_value("content-per-minute"),
            per_hour: compat.limit_value("content-per-hour"),
            between_writes: Duration::from_secs(
                compat.limit("between-writes").map_or(0, |row| row.value),
            ),
        }
    }
}

/// Decides when a request may be sent. All requests of a run share it, including uploads.
#[derive(Debug)]
pub(super) struct RateLimiter {
    /// The number of drafts and files that may be created in each period.
    made: [(Duration, usize); 2],
    between_writes: Duration,
    state: Mutex<LimiterState>,
}

#[derive(Debug, Default)]
struct LimiterState {
    /// A server asked to send nothing before this time, for this reason.
    held: (Duration, String),
    /// Whether this wait has been reported.
    is_reported: bool,
    next_write: Duration,
    /// The times at which drafts and files of the last hour were started.
    made: VecDeque<Duration>,
}

/// The delay after which a request may be tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RetryAt {
    /// The time to wait before the next try.
    pub(super) wait: Duration,
    /// The reason.
    pub(super) why: String,
    /// Whether this wait has been reported for another request: a server's request to wait holds
    /// all of them.
    pub(super) is_reported: bool,
}

impl RateLimiter {
    /// Returns a limiter that stays below these limits.
    pub(super) fn new(rates: RateLimits) -> Self {
        let per_minute = rates.per_minute.saturating_sub(LEFT.0).max(1);
        let per_hour = rates.per_hour.saturating_sub(LEFT.1).max(1);
        Self {
            made: [
                (Duration::from_mins(1), per_minute),
                (Duration::from_hours(1), per_hour),
            ],
            between_writes: rates.between_writes,
            state: Mutex::default(),
        }
    }

    /// Takes the time `now` for a request of this kind.
    ///
    /// # Errors
    /// The time that the request must wait, and the reason.
    pub(super) fn take(&self, now: Duration, kind: Idempotency) -> Result<(), RetryAt> {
        let mut state = self.state();
        let is_short = matches!(kind, Idempotency::Idempotent | Idempotency::NotIdempotent);
        let is_made = matches!(kind, Idempotency::NotIdempotent | Idempotency::Upload);
        let mut until = state.held.0;
        let mut why = state.held.1.as_str();
        if is_short && state.next_write > until {
            (until, why) = (
                state.next_write,
                "GitHub limits the rate of requests that change something",
            );
        }
        for (time, most) in self.made.into_iter().filter(|_| is_made) {
            let before = state
                .made
                .len()
                .checked_sub(most)
                .and_then(|at| state.made.get(at));
            if let Some(free) = before.map(|begun| *begun + time)
                && free > until
            {
                (until, why) = (free, "GitHub limits the rate at which files can be created");
            }
        }
        if until > now {
            let is_held = until == state.held.0;
            let later = RetryAt {
                wait: until.saturating_sub(now),
                why: why.to_owned(),
                is_reported: is_held && state.is_reported,
            };
            state.is_reported |= is_held;
            return Err(later);
        }
        if is_short {
            state.next_write = now + self.between_writes;
        }
        if is_made {
            state.made.push_back(now);
            let (longest, _) = self.made[1];
            while state
                .made
                .front()
                .is_some_and(|begun| *begun + longest <= now)
            {
                state.made.pop_front();
            }
        }
        Ok(())
    }

    /// Holds all requests until this time, because a server asked for it.
    pub(super) fn hold(&self, until: Duration, why: &str) {
        let mut state = self.state();
        if until > state.held.0 {
            state.held = (until, why.to_owned());
            state.is_reported = false;
        }
    }

    fn state(&self) -> MutexGuard<'_, LimiterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{Idempotency, RateLimiter, RateLimits};
    use rock_compat::Compat;
    use std::time::Duration;

    /// Returns the time at which a request of this kind starts, if requested at `now` seconds.
    fn begins(limiter: &RateLimiter, now: u64, kind: Idempotency) -> u64 {
        let mut at = Duration::from_secs(now);
        while let Err(later) = limiter.take(at, kind) {
            at += later.wait;
        }
        at.as_secs()
    }

    #[test]
    fn writes_are_a_second_apart_and_reads_wait_for_nothing() {
        let limiter = RateLimiter::new(RateLimits::of(&Compat::embedded()));
        let begun = [
            Idempotency::Idempotent,
            Idempotency::NotIdempotent,
            Idempotency::Safe,
            Idempotency::Idempotent,
        ]
        .map(|kind| begins(&limiter, 10, kind));
        assert_eq!(begun, [10, 11, 10, 12]);
        assert_eq!(begins(&limiter, 99, Idempotency::Idempotent), 99);
    }

    #[test]
    fn files_follow_each_other_at_once_up_to_what_github_takes_in_a_minute_and_in_an_hour() {
        let limiter = RateLimiter::new(RateLimits::of(&Compat::embedded()));
        let begun: Vec<u64> = (0..1000)
            .scan(0, |now, _| {
                *now = begins(&limiter, *now, Idempotency::Upload);
                Some(*now)
            })
            .collect();
        assert_eq!((begun[74], begun[75], begun[150]), (0, 60, 120));
        for (at, begin) in begun.iter().enumerate() {
            let within = |time: u64| {
                begun[at..]
                    .iter()
                    .filter(|other| **other < begin + time)
                    .count()
            };
            assert!(within(60) < 80 && within(3600) < 500, "{at}");
        }
    }

    #[test]
    fn what_one_answer_asks_for_holds_all_requests() {
        let limiter = RateLimiter::new(RateLimits::of(&Compat::embedded()));
        limiter.hold(Duration::from_secs(30), "429 slow down");
        limiter.hold(Duration::from_secs(20), "a shorter one");
        assert_eq!(
            limiter
                .take(Duration::ZERO, Idempotency::Upload)
                .unwrap_err()
                .why,
            "429 slow down"
        );
        let begun = [
            Idempotency::Safe,
            Idempotency::Idempotent,
            Idempotency::Upload,
        ]
        .map(|kind| begins(&limiter, 5, kind));
        assert_eq!(begun, [30, 30, 30]);
    }
}
