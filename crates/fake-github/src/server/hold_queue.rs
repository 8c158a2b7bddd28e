//! Requests that wait until they are released, so that a test can kill a client at an exact point.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

/// The waiting requests.
#[derive(Debug, Default)]
pub(super) struct HoldQueue {
    held: Mutex<Vec<u64>>,
    changed: Condvar,
    go: Notify,
}

/// A waiting request; it stops waiting when its client disconnects.
struct HeldRequest<'a>(&'a HoldQueue, u64);

impl Drop for HeldRequest<'_> {
    fn drop(&mut self) {
        let mut held = self.0.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|number| *number != self.1);
    }
}

impl HoldQueue {
    /// Waits until the request is released.
    pub(super) async fn wait(&self, number: u64) {
        let mut gone = std::pin::pin!(self.go.notified());
        gone.as_mut().enable();
        let _held = HeldRequest(self, number);
        self.held
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(number);
        self.changed.notify_all();
        gone.await;
    }

    /// Returns the number of a waiting request, or `None` after the timeout.
    pub(super) fn wait_held(&self, at_most: Duration) -> Option<u64> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let (held, _) = self
            .changed
            .wait_timeout_while(held, at_most, |held| held.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        held.first().copied()
    }

    /// Releases all requests.
    pub(super) fn release_held(&self) {
        self.go.notify_waiters();
    }
}
