//! Progress of reading and writing wheels and archives.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{ByteBar, MIN_BAR_BYTES, ProgressTarget};
use crate::audit::ProgressReporter;
use crate::cli::Shell;
use crate::wheel::{ByteProgress, ProgressCallback};

/// Shows a bar for each large wheel at a terminal. Of wheels that are read at the same time, one
/// has a bar.
#[derive(Debug)]
pub(in crate::cli) struct WheelReporter {
    target: ProgressTarget,
    /// Whether a bar is drawn.
    is_drawing: AtomicBool,
}

impl WheelReporter {
    /// Returns a reporter for the stderr of a shell.
    pub(in crate::cli) fn new(shell: &Shell) -> Self {
        Self {
            target: ProgressTarget::of(shell),
            is_drawing: AtomicBool::new(false),
        }
    }
}

impl ProgressReporter for WheelReporter {
    fn start<'p>(&'p self, wheel: &str) -> Box<ProgressCallback<'p>> {
        if self.target != ProgressTarget::Terminal {
            return Box::new(|_| {});
        }
        let bar = WheelBar::new(&self.is_drawing, wheel);
        Box::new(move |progress| bar.update(progress))
    }
}

/// A bar for one wheel, which is removed when it is dropped.
struct WheelBar<'r> {
    bar: ByteBar,
    is_drawn: AtomicBool,
    /// Whether a bar of the reporter is drawn.
    is_any_drawn: &'r AtomicBool,
}

impl<'r> WheelBar<'r> {
    fn new(is_any_drawn: &'r AtomicBool, name: &str) -> Self {
        let bar = ByteBar::new(0, "{wide_msg}");
        bar.0.set_message(name.to_owned());
        Self {
            bar,
            is_drawn: AtomicBool::new(false),
            is_any_drawn,
        }
    }

    fn update(&self, progress: ByteProgress) {
        if progress.total_bytes < MIN_BAR_BYTES {
            return;
        }
        if !self.is_drawn.load(Ordering::Relaxed) {
            if self.is_any_drawn.swap(true, Ordering::Relaxed) {
                return;
            }
            self.is_drawn.store(true, Ordering::Relaxed);
            self.bar.show();
        }
        let bar = &self.bar.0;
        if bar.length() != Some(progress.total_bytes) {
            bar.set_length(progress.total_bytes);
        }
        bar.set_position(progress.done_bytes.max(bar.position()));
    }
}

impl Drop for WheelBar<'_> {
    fn drop(&mut self) {
        self.bar.finish();
        if self.is_drawn.load(Ordering::Relaxed) {
            self.is_any_drawn.store(false, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::{MIN_BAR_BYTES, ProgressReporter as _, ProgressTarget, WheelReporter};
    use crate::wheel::ByteProgress;

    #[test]
    fn one_of_two_large_wheels_has_a_bar() {
        let reporter = WheelReporter {
            target: ProgressTarget::Terminal,
            is_drawing: AtomicBool::new(false),
        };
        let is_drawing = || reporter.is_drawing.load(Ordering::Relaxed);
        let progress = |total_bytes| ByteProgress {
            done_bytes: 1,
            total_bytes,
        };
        let (first, second) = (reporter.start("a.whl"), reporter.start("b.whl"));
        first(progress(MIN_BAR_BYTES - 1));
        assert!(!is_drawing());
        first(progress(MIN_BAR_BYTES));
        second(progress(MIN_BAR_BYTES));
        drop(second);
        assert!(is_drawing());
        drop(first);
        assert!(!is_drawing());
    }
}
