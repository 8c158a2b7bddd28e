//! Progress of long work on stderr: at a terminal a line or a bar that is redrawn, in a log a line
//! from time to time.
//!
//! Each kind of work has a reporter, which turns events of the library into output. Nothing is
//! redrawn with `--quiet`, with `--verbose`, which prints every line, and with JSON messages.
//!
//! **Invariant:** a terminal has at most one moving line, and it is removed when its reporter ends.
//! Reporters share no state. Code outside of a reporter that writes while its line may be shown
//! has a [`MovingLine`].

mod build;
mod checkout;
mod upload;
mod wheel;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{Shell, Verbosity};
use crate::diagnostic::render::{escape_line, redact_urls};

pub(super) use build::{BuildReporter, format_duration};
pub(super) use checkout::CheckoutReporter;
pub(super) use upload::UploadReporter;
pub(super) use wheel::WheelReporter;

/// The time between two lines about the same work in a log.
const HEARTBEAT: Duration = Duration::from_secs(30);
/// Redraws per second at a terminal.
const REDRAW_HZ: u8 = 5;
/// Minimum amount of bytes for a bar. Smaller amounts are done before anybody could read it.
const MIN_BAR_BYTES: u64 = 64 << 20;
/// Characters of a program's output that are shown in a line.
const MAX_OUTPUT_CHARS: usize = 60;

/// The place where progress is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProgressTarget {
    /// A terminal, where a line can be redrawn.
    Terminal,
    /// A log, to which lines are appended.
    Log,
    /// Progress is not shown.
    Hidden,
}

impl ProgressTarget {
    /// Returns the target for the stderr of a shell.
    fn of(shell: &Shell) -> Self {
        if shell.verbosity == Verbosity::Quiet {
            Self::Hidden
        } else if shell.is_watched() {
            Self::Terminal
        } else {
            Self::Log
        }
    }
}

/// A line at a terminal that is redrawn; shows nothing elsewhere.
struct StatusLine(Option<ProgressBar>);

impl StatusLine {
    /// Creates the line for the stderr of a shell.
    fn new(shell: &Shell) -> Self {
        let is_shown = ProgressTarget::of(shell) == ProgressTarget::Terminal;
        Self(is_shown.then(|| {
            let target = ProgressDrawTarget::stderr_with_hz(REDRAW_HZ);
            let line = ProgressBar::with_draw_target(None, target);
            line.set_style(style("{spinner} {wide_msg}"));
            line
        }))
    }

    /// Returns whether the line is shown.
    fn is_shown(&self) -> bool {
        self.0.is_some()
    }

    /// Redraws the line with this text.
    fn draw(&self, text: impl FnOnce() -> String) {
        if let Some(line) = &self.0 {
            line.set_message(escape_line(&redact_urls(&text())));
            line.tick();
        }
    }

    /// Writes other output above the line.
    fn write_above<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some(line) => line.suspend(write),
            None => write(),
        }
    }

    /// Removes the line.
    fn finish(&self) {
        if let Some(line) = &self.0 {
            line.finish_and_clear();
        }
    }
}

/// A bar at a terminal for a number of bytes, which is not drawn before [`show`](Self::show).
struct ByteBar(ProgressBar);

impl ByteBar {
    /// Creates a bar; `rest` is the part of the template after the numbers of bytes.
    fn new(total_bytes: u64, rest: &str) -> Self {
        let hidden = ProgressDrawTarget::hidden();
        let bar = ProgressBar::with_draw_target(Some(total_bytes), hidden);
        bar.set_style(style(&format!(
            "{{bar:24}} {{bytes}}/{{total_bytes}}  {rest}"
        )));
        Self(bar)
    }

    /// Draws the bar from now on.
    fn show(&self) {
        if self.0.is_hidden() {
            self.0
                .set_draw_target(ProgressDrawTarget::stderr_with_hz(REDRAW_HZ));
        }
    }

    /// Removes the bar.
    fn finish(&self) {
        self.0.finish_and_clear();
    }
}

/// The bar that a terminal shows, if any, for code outside of its reporter.
#[derive(Debug, Clone, Default)]
pub(super) struct MovingLine(Arc<Mutex<Option<ProgressBar>>>);

impl MovingLine {
    /// Writes other output above the bar.
    pub(super) fn write_above(&self, write: impl FnOnce()) {
        let bar = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Sets the bar of the reporter that starts.
    fn set(&self, bar: &ByteBar) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.0.clone());
    }
}

/// Decides when work that takes long gets another line in a log.
#[derive(Debug)]
struct Heartbeat {
    last: Duration,
}

impl Heartbeat {
    /// Starts at this time.
    fn new(now: Duration) -> Self {
        Self { last: now }
    }

    /// Returns whether a line is due, and then counts from this time.
    fn is_due(&mut self, now: Duration) -> bool {
        let is_due = now.saturating_sub(self.last) >= HEARTBEAT;
        if is_due {
            self.last = now;
        }
        is_due
    }
}

/// Parses a template of this module.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("templates are valid")
}

/// Shortens a line of a program's output.
fn shorten(line: &str) -> String {
    match line.char_indices().nth(MAX_OUTPUT_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{ByteBar, Heartbeat, MAX_OUTPUT_CHARS, MovingLine, shorten};

    #[test]
    fn a_long_line_is_cut_between_characters() {
        assert_eq!(
            shorten(&"ä".repeat(70)).chars().count(),
            MAX_OUTPUT_CHARS + 1
        );
        assert_eq!(shorten("short"), "short");
    }

    #[test]
    fn other_output_is_written_once_with_and_without_a_bar() {
        let line = MovingLine::default();
        let mut count = 0;
        line.write_above(|| count += 1);
        let bar = ByteBar::new(7, "");
        line.clone().set(&bar);
        line.write_above(|| count += 1);
        bar.finish();
        line.write_above(|| count += 1);
        assert_eq!(count, 3);
    }

    #[test]
    fn a_log_gets_a_line_each_half_minute() {
        let mut heartbeat = Heartbeat::new(Duration::from_secs(5));
        let due = [34, 35, 64, 65].map(|s| heartbeat.is_due(Duration::from_secs(s)));
        assert_eq!(due, [false, true, false, true]);
    }
}
