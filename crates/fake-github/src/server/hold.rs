//! Requests that wait until they are let go, so that a test can end a client at an exact place.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

/// The requests that wait.
#[derive(Debug, Default)]
pub(super) struct Hold {
    held: Mutex<Vec<u64>>,
    changed: Condvar,
    go: Notify,
}

/// A request that waits; it waits no more when its client is gone.
struct Held<'a>(&'a Hold, u64);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let mut held = self.0.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|number| *number != self.1);
    }
}

impl Hold {
    /// Waits until it is let go.
    pub(super) async fn wait(&self, number: u64) {
        let mut gone = std::pin::pin!(self.go.notified());
        gone.as_mut().enable();
        let _held = Held(self, number);
        self.held
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(number);
        self.changed.notify_all();
        gone.await;
    }

    /// The number of a request that waits.
    pub(super) fn wait_held(&self, at_most: Duration) -> Option<u64> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let (held, _) = self
            .changed
            .wait_timeout_while(held, at_most, |held| held.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        held.first().copied()
    }

    /// Lets all go.
    pub(super) fn let_go(&self) {
        self.go.notify_waiters();
    }
}
