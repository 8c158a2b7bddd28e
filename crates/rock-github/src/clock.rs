//! Time and randomness, so that waits can be tested without waiting.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A source of time and randomness.
pub trait Clock: Send + Sync {
    /// Returns the time since a fixed moment.
    fn now(&self) -> Duration;
    /// Returns the seconds since 1970-01-01 UTC, by this machine's clock.
    fn epoch_seconds(&self) -> u64;
    /// Waits for a duration.
    fn sleep(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>>;
    /// Returns a random number from 0 to 1.
    fn chance(&self) -> f64;
}

/// The clock of this machine.
#[derive(Debug)]
pub struct SystemClock {
    begun: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self {
            begun: rock_sys::monotonic_now(),
        }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn epoch_seconds(&self) -> u64 {
        rock_sys::now_s()
    }

    fn sleep(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(tokio::time::sleep(time))
    }

    fn chance(&self) -> f64 {
        #[expect(
            clippy::cast_precision_loss,
            reason = "a few bits of chance are enough"
        )]
        let part = (rock_sys::random_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        part
    }
}

/// A clock that never waits: a wait advances it. Used to determine which requests would be made.
#[derive(Debug, Default)]
pub struct SkippingClock {
    now_ms: AtomicU64,
}

impl Clock for SkippingClock {
    fn now(&self) -> Duration {
        Duration::from_millis(self.now_ms.load(Ordering::Relaxed))
    }

    fn epoch_seconds(&self) -> u64 {
        self.now().as_secs()
    }

    fn sleep(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        // A wait of less than a millisecond must advance the clock too.
        let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1);
        self.now_ms.fetch_add(ms, Ordering::Relaxed);
        Box::pin(std::future::ready(()))
    }

    fn chance(&self) -> f64 {
        0.5
    }
}
