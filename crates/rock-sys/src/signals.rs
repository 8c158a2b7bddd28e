//! SIGINT, SIGTERM and SIGHUP as values, and SIGXFSZ as an error of who writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

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
    /// Catches the signals from here on. They end the program no more; [`Self::take`] tells of
    /// them.
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
        Self::of(self.pending.swap(0, Ordering::SeqCst))
    }

    /// The latest signal since the last [`Self::take`], which may still take it.
    pub fn pending(&self) -> Option<StopSignal> {
        Self::of(self.pending.load(Ordering::SeqCst))
    }

    /// Acts as if the signal had come.
    pub fn raise(&self, signal: StopSignal) {
        let word = if signal == StopSignal::Interrupt {
            1
        } else {
            2
        };
        self.pending.store(word, Ordering::SeqCst);
    }

    fn of(word: usize) -> Option<StopSignal> {
        match word {
            0 => None,
            1 => Some(StopSignal::Interrupt),
            _ => Some(StopSignal::Terminate),
        }
    }
}

/// Has writing fail where a file gets longer than `ulimit -f` permits; else SIGXFSZ would end the
/// program without a word. Programs that are started have the signal as it was: what is caught they
/// do not inherit, and where it is ignored it stays so.
pub fn ignore_sigxfsz() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if !ignores(&status, SIGXFSZ) {
        // Where the system refuses the handler, the signal ends the program as before.
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    }
}

/// Whether a process ignores a signal, by its `/proc/PID/status` (its manual page, `SigIgn`).
fn ignores(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_told_once() {
        let signals = Signals::default();
        assert_eq!(signals.take(), None);
        signals.raise(StopSignal::Interrupt);
        assert_eq!(
            (signals.take(), signals.take()),
            (Some(StopSignal::Interrupt), None)
        );
        signals.raise(StopSignal::Terminate);
        assert_eq!(
            (signals.pending(), signals.pending()),
            (Some(StopSignal::Terminate), Some(StopSignal::Terminate))
        );
        assert_eq!(signals.take(), Some(StopSignal::Terminate));
    }

    #[test]
    fn a_signal_that_is_ignored_is_known() {
        let status = "Name:\tx\nSigBlk:\t0000000000000000\nSigIgn:\t0000000001001000\nSigCgt:\t0000000000000440\n";
        assert!(ignores(status, SIGXFSZ) && !ignores(status, SIGINT) && !ignores("", SIGXFSZ));
    }
}
