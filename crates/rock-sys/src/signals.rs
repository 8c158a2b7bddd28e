//! SIGINT, SIGTERM and SIGHUP as values; SIGXFSZ as a write error.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

/// A signal that asks the program to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    /// SIGINT, sent by Ctrl-C.
    Interrupt,
    /// SIGTERM, or SIGHUP when the terminal is closed.
    Terminate,
}

/// Receives stop signals once [`Self::listen`] was called.
#[derive(Debug, Clone, Default)]
pub struct Signals {
    pending: Arc<AtomicUsize>,
}

impl Signals {
    /// Installs the signal handlers. From now on the signals do not end the program; [`Self::take`]
    /// returns them.
    ///
    /// # Errors
    ///
    /// Returns an error if a handler cannot be installed.
    pub fn listen() -> std::io::Result<Self> {
        let signals = Self::default();
        for (signal, number) in [(SIGINT, 1), (SIGTERM, 2), (SIGHUP, 2)] {
            signal_hook::flag::register_usize(signal, Arc::clone(&signals.pending), number)?;
        }
        Ok(signals)
    }

    /// Returns the latest signal since the previous call.
    pub fn take(&self) -> Option<StopSignal> {
        Self::decode(self.pending.swap(0, Ordering::SeqCst))
    }

    /// Returns the latest signal since the last [`Self::take`], without taking it.
    pub fn pending(&self) -> Option<StopSignal> {
        Self::decode(self.pending.load(Ordering::SeqCst))
    }

    /// Behaves as if the signal had been received.
    pub fn raise(&self, signal: StopSignal) {
        let number = if signal == StopSignal::Interrupt {
            1
        } else {
            2
        };
        self.pending.store(number, Ordering::SeqCst);
    }

    fn decode(number: usize) -> Option<StopSignal> {
        match number {
            0 => None,
            1 => Some(StopSignal::Interrupt),
            _ => Some(StopSignal::Terminate),
        }
    }
}

/// Makes a write beyond `ulimit -f` fail with an error instead of ending the program by SIGXFSZ.
///
/// Child processes keep the original disposition: handlers are not inherited, and an ignored signal
/// stays ignored.
pub fn ignore_sigxfsz() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if !ignores(&status, SIGXFSZ) {
        // If the handler cannot be installed, the signal ends the program as before.
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    }
}

/// Returns whether a process ignores a signal according to its `/proc/PID/status` (`SigIgn` in
/// `proc_pid_status(5)`).
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
    fn a_signal_is_taken_once() {
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
    fn ignored_signals_are_parsed() {
        let status = "Name:\tx\nSigBlk:\t0000000000000000\nSigIgn:\t0000000001001000\nSigCgt:\t0000000000000440\n";
        assert!(ignores(status, SIGXFSZ) && !ignores(status, SIGINT) && !ignores("", SIGXFSZ));
    }
}
