//! The progress of a build: a status line on a terminal, otherwise a line when a stage starts or
//! ends and a heartbeat in between.

use std::time::Duration;

use crate::cli::moving_line::{HEARTBEAT, MovingLine, cut};
use crate::cli::shell::{Format, Shell, Verbosity};
use crate::exec::{BuildEvent, BuildOutcome, StageState};
use crate::render::actions;
use crate::sys;

/// Shows the progress of a build.
pub(super) struct Progress<'a> {
    shell: &'a Shell,
    moving: MovingLine,
    last_line: String,
    last_beat: Duration,
    number: String,
    /// The text that ends the open group of a stage in a workflow's log.
    group: Option<String>,
}

impl<'a> Progress<'a> {
    /// Creates the progress display for the terminal or log of `shell`.
    pub(super) fn new(shell: &'a Shell) -> Self {
        let moving = MovingLine::new(shell);
        Self {
            shell,
            moving,
            last_line: String::new(),
            last_beat: Duration::ZERO,
            number: String::new(),
            group: None,
        }
    }

    /// Shows one event.
    pub(super) fn tell(&mut self, event: BuildEvent<'_>) {
        match event {
            BuildEvent::Replaces(outcome) => {
                if let Some(word) = unfinished(outcome) {
                    self.line(&format!(
                        "starting over: an earlier build {word}; use `--resume` to continue it"
                    ));
                }
            }
            BuildEvent::OtherAnswers { stage } => {
                self.line(&format!(
                    "running `{stage}` again: its inputs from earlier stages have changed"
                ));
            }
            BuildEvent::SourceChanged { stage } => {
                self.line(&format!(
                    "the build resumes at `{stage}`: its source has changed since it was copied"
                ));
            }
            BuildEvent::Started { stage, number, of } => {
                self.number = format!("[{number}/{of}]");
                self.last_line.clear();
                self.last_beat = Duration::ZERO;
                if !self.moving.is_shown() {
                    self.begin(&format!("{} {stage}", self.number));
                }
            }
            BuildEvent::Line(line) => {
                if self.shell.verbosity == Verbosity::Verbose {
                    self.shell.tell_output(&format!("    {line}"));
                }
                line.clone_into(&mut self.last_line);
            }
            BuildEvent::Tick { stage, elapsed } => self.tick(stage, elapsed),
            BuildEvent::Retried { stage, ended } => {
                self.line(&format!("{} {stage}: {ended}, trying again", self.number));
            }
            BuildEvent::Ended {
                stage,
                seconds,
                state,
            } => {
                let word = match state {
                    StageState::Done => "done",
                    StageState::Stopped => "stopped",
                    _ => "failed",
                };
                self.end();
                self.line(&format!(
                    "{} {stage}: {word} after {}",
                    self.number,
                    span(Duration::from_secs(seconds))
                ));
            }
        }
    }

    /// Announces a stage. In a workflow its lines form a group and cannot be workflow commands,
    /// because the build wrote them.
    fn begin(&mut self, title: &str) {
        self.end();
        let is_text = self.shell.message_format == Format::Human;
        if !self.shell.is_in_actions() || !is_text || self.shell.verbosity < Verbosity::Normal {
            return self.shell.say(title);
        }
        let (begin, end) = actions::group(title);
        let (stop, go_on) = actions::stopped(&sys::random_name());
        Shell::command(&format!("{begin}{stop}"));
        self.group = Some(go_on + end);
    }

    fn end(&mut self) {
        if let Some(end) = self.group.take() {
            Shell::command(&end);
        }
    }

    /// Removes the status line and closes the open group.
    pub(super) fn finish(&mut self) {
        self.end();
        self.moving.finish();
    }

    fn tick(&mut self, stage: &str, elapsed: Duration) {
        self.moving.draw(|| {
            format!(
                "{} {stage}  {}  {}",
                self.number,
                span(elapsed),
                cut(&self.last_line)
            )
        });
        if !self.moving.is_shown() && elapsed.saturating_sub(self.last_beat) >= HEARTBEAT {
            self.last_beat = elapsed;
            if self.shell.verbosity == Verbosity::Normal {
                let said = if self.last_line.is_empty() {
                    String::new()
                } else {
                    format!(": {}", cut(&self.last_line))
                };
                self.shell
                    .say(&format!("{} {stage}, {}{said}", self.number, span(elapsed)));
            }
        }
    }

    fn line(&self, line: &str) {
        self.moving.above(|| self.shell.say(line));
    }
}

/// Describes the end of an earlier build that can be resumed.
fn unfinished(outcome: BuildOutcome) -> Option<&'static str> {
    match outcome {
        BuildOutcome::Running => Some("is unfinished"),
        BuildOutcome::Failed => Some("failed"),
        BuildOutcome::Capped => Some("was capped"),
        BuildOutcome::Stopped => Some("was stopped"),
        BuildOutcome::Done | BuildOutcome::Refused | BuildOutcome::Machine => None,
    }
}

/// Formats a duration: `7 s`, `12 min 05 s`, `3 h 20 min`.
pub(super) fn span(span: Duration) -> String {
    match span.as_secs() {
        s @ 0..60 => format!("{s} s"),
        s @ 60..3600 => format!("{} min {:02} s", s / 60, s % 60),
        s => format!("{} h {:02} min", s / 3600, s / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_written_for_people() {
        let words = [7, 60, 725, 3600, 12_059].map(|s| span(Duration::from_secs(s)));
        assert_eq!(
            words,
            [
                "7 s",
                "1 min 00 s",
                "12 min 05 s",
                "1 h 00 min",
                "3 h 20 min"
            ]
        );
    }
}
