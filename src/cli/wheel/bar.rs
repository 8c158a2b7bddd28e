//! Progress bars for reading and writing wheels.

use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::audit::ProgressReporter;
use crate::cli::Shell;
use crate::wheel::{ByteProgress, ProgressCallback};

/// Minimum size for a bar, in bytes: smaller wheels are done before anybody could read it.
const SHOWN_FROM_BYTES: u64 = 64 << 20;

/// Whether a person watches the progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Watchers {
    /// A person at a terminal.
    Person,
    /// Nobody; stderr may be a log.
    Nobody,
}

impl Watchers {
    /// Returns who watches the output of this shell.
    pub(in crate::cli) fn of(shell: &Shell) -> Self {
        if shell.is_watched() {
            Self::Person
        } else {
            Self::Nobody
        }
    }
}

impl ProgressReporter for Watchers {
    fn start<'p>(&'p self, wheel: &str) -> Box<ProgressCallback<'p>> {
        let bar = Bar::new(*self, wheel);
        Box::new(move |progress| bar.tell(progress))
    }
}

/// A progress bar for a large wheel, cleared at the end. Only one bar is drawn at a time.
pub(in crate::cli) struct Bar {
    bar: Option<ProgressBar>,
    is_drawn: AtomicBool,
}

/// Whether a bar is drawn.
static DRAWN: AtomicBool = AtomicBool::new(false);

impl Bar {
    /// Creates a bar for the wheel of this name.
    pub(in crate::cli) fn new(watchers: Watchers, name: &str) -> Self {
        if watchers == Watchers::Nobody {
            return Self {
                bar: None,
                is_drawn: AtomicBool::new(false),
            };
        }
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        let template = "{bar:24} {bytes}/{total_bytes}  {wide_msg}";
        bar.set_style(ProgressStyle::with_template(template).expect("the template is sound"));
        bar.set_message(name.to_owned());
        Self {
            bar: Some(bar),
            is_drawn: AtomicBool::new(false),
        }
    }

    /// Updates the bar.
    pub(in crate::cli) fn tell(&self, progress: ByteProgress) {
        let Some(bar) = self
            .bar
            .as_ref()
            .filter(|_| progress.total_bytes >= SHOWN_FROM_BYTES)
        else {
            return;
        };
        if !self.is_drawn.load(Ordering::Relaxed) {
            if DRAWN.swap(true, Ordering::Relaxed) {
                return;
            }
            self.is_drawn.store(true, Ordering::Relaxed);
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        }
        if bar.length() != Some(progress.total_bytes) {
            bar.set_length(progress.total_bytes);
        }
        bar.set_position(progress.done_bytes.max(bar.position()));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        if self.is_drawn.load(Ordering::Relaxed) {
            DRAWN.store(false, Ordering::Relaxed);
        }
    }
}
