//! How fast calls that make something follow each other.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The least time between two calls that change something (GitHub Docs, "Best practices for using the REST API").
const BETWEEN_WRITES: Duration = Duration::from_secs(1);

/// Gives each call that changes something its moment.
#[derive(Debug, Default)]
pub(super) struct Pace {
    next: Mutex<Duration>,
}

impl Pace {
    /// How long to wait from `now` on; the moment after it is taken.
    pub(super) fn take(&self, now: Duration) -> Duration {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let at = (*next).max(now);
        *next = at + BETWEEN_WRITES;
        at.saturating_sub(now)
    }
}

#[cfg(test)]
mod tests {
    use super::Pace;
    use std::time::Duration;

    #[test]
    fn writes_are_a_second_apart() {
        let (pace, at) = (Pace::default(), Duration::from_secs);
        assert_eq!([pace.take(at(10)), pace.take(at(10)), pace.take(at(10))], [at(0), at(1), at(2)]);
        assert_eq!(pace.take(at(99)), at(0));
    }
}
