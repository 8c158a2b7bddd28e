//! SIGINT, SIGTERM and SIGHUP as values.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// A wish from outside that the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM, or SIGHUP when the terminal is closed.
    Terminate,
}

/// Where such wishes arrive, once listened to.
#[derive(Debug, Clone, Default)]
pub struct Signals {
    pending: Arc<AtomicUsize>,
}

impl Signals {
    /// Catches the signals from here on. They end the program no more; [`Self::take`] tells of them.
    ///
    /// # Errors
    /// When the system refuses the handlers.
    pub fn listen() -> std::io::Result<Self> {
        let signals = Self::default();
        for (signal, word) in [(SIGINT, 1), (SIGTERM, 2), (SIGHUP, 2)] {
            signal_hook::flag::register_usize(signal, Arc::clone(&signals.pending), word)?;
        }
        Ok(signals)
    }

    /// The latest signal since the last call.
    pub fn take(&self) -> Option<StopSignal> {
        match self.pending.swap(0, Ordering::SeqCst) {
            0 => None,
            1 => Some(StopSignal::Interrupt),
            _ => Some(StopSignal::Terminate),
        }
    }

    /// Acts as if the signal had come.
    pub fn raise(&self, signal: StopSignal) {
        let word = if signal == StopSignal::Interrupt { 1 } else { 2 };
        self.pending.store(word, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_told_once() {
        let signals = Signals::default();
        assert_eq!(signals.take(), None);
        signals.raise(StopSignal::Interrupt);
        assert_eq!((signals.take(), signals.take()), (Some(StopSignal::Interrupt), None));
        signals.raise(StopSignal::Terminate);
        assert_eq!(signals.take(), Some(StopSignal::Terminate));
    }
}
