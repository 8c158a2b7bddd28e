//! Time and chance, so that waiting can be tested without waiting.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Time and chance.
pub trait Clock: Send + Sync {
    /// Since some moment that stays the same.
    fn now(&self) -> Duration;
    /// Seconds since 1970 in UTC, as far as this machine knows.
    fn epoch_seconds(&self) -> u64;
    /// Waits.
    fn sleep(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>>;
    /// A number from 0 to 1, another each time.
    fn chance(&self) -> f64;
}

/// The machine's.
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

/// One that never waits: a wait makes it later. For what only finds out which calls would be made.
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
        // A wait of less than a millisecond ends as well.
        let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1);
        self.now_ms.fetch_add(ms, Ordering::Relaxed);
        Box::pin(std::future::ready(()))
    }

    fn chance(&self) -> f64 {
        0.5
    }
}
