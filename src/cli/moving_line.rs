//! How far long work is, at a terminal: one line that moves, and is taken away at the end.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::Shell;
use crate::diagnostic::render::{redact_urls, visible};

/// How often long work is said to live where there is no terminal.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(30);
/// How much of what a program says stands on the line.
const LINE_CHARS: usize = 60;

/// The line, where a person watches.
pub(super) struct MovingLine(Option<ProgressBar>);

impl MovingLine {
    /// A line on the terminal of this shell; none where it talks to a log.
    pub(super) fn new(shell: &Shell) -> Self {
        Self(shell.is_watched().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
            bar.set_style(
                ProgressStyle::with_template("{spinner} {wide_msg}")
                    .expect("the template is sound"),
            );
            bar
        }))
    }

    /// Whether there is one.
    pub(super) fn is_shown(&self) -> bool {
        self.0.is_some()
    }

    /// Moves on, with this text.
    pub(super) fn draw(&self, text: impl FnOnce() -> String) {
        if let Some(bar) = &self.0 {
            bar.set_message(visible(&redact_urls(&text())));
            bar.tick();
        }
    }

    /// Lets something else be said, above it.
    pub(super) fn above<T>(&self, say: impl FnOnce() -> T) -> T {
        match &self.0 {
            Some(bar) => bar.suspend(say),
            None => say(),
        }
    }

    /// Takes it away.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

/// As much of a program's line as has room.
pub(super) fn cut(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{LINE_CHARS, cut};

    #[test]
    fn a_long_line_is_cut_between_characters() {
        assert_eq!(cut(&"ä".repeat(70)).chars().count(), LINE_CHARS + 1);
        assert_eq!(cut("short"), "short");
    }
}
