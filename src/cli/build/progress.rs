//! How far a build is: one moving line on a terminal, else a line when a stage begins and ends and
//! a sign of life between.

use std::time::Duration;

use crate::cli::moving_line::{HEARTBEAT, MovingLine, cut};
use crate::cli::shell::{Format, Shell, Verbosity};
use crate::exec::{BuildEvent, BuildOutcome, StageState};
use crate::render::actions;
use crate::sys;

/// Tells a person how far a build is.
pub(super) struct Progress<'a> {
    shell: &'a Shell,
    moving: MovingLine,
    last_line: String,
    last_beat: Duration,
    number: String,
    /// What ends the group of the stage in a workflow's log, while one is open.
    group: Option<String>,
}

impl<'a> Progress<'a> {
    /// Progress for the terminal or the log that `shell` talks to.
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

    /// Takes one event.
    pub(super) fn tell(&mut self, event: BuildEvent<'_>) {
        match event {
            BuildEvent::Replaces(outcome) => {
                if let Some(word) = unfinished(outcome) {
                    let text = format!(
                        "starting anew: an earlier build {word}, `--continue auto` would go on with it"
                    );
                    self.line(&text);
                }
            }
            BuildEvent::OtherAnswers { stage } => {
                self.line(&format!(
                    "`{stage}` is run again: what it takes from earlier stages is not what it was"
                ));
            }
            BuildEvent::SourceChanged { stage } => {
                self.line(&format!(
                    "the build resumes at `{stage}`: its source is not what was copied"
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

    /// Says that a stage begins. In a workflow its lines are a group, and none of them is a
    /// command: the build wrote them.
    fn begin(&mut self, title: &str) {
        self.end();
        let is_text = self.shell.diagnostics == Format::Human;
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

    /// Takes the moving line away, and ends what a build that stopped left open.
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

/// How an earlier build ended that could go on.
fn unfinished(outcome: BuildOutcome) -> Option<&'static str> {
    match outcome {
        BuildOutcome::Running => Some("is unfinished"),
        BuildOutcome::Failed => Some("failed"),
        BuildOutcome::Capped => Some("was capped"),
        BuildOutcome::Stopped => Some("was stopped"),
        BuildOutcome::Done | BuildOutcome::Refused | BuildOutcome::Machine => None,
    }
}

/// A span of time for people: `7 s`, `12 min 05 s`, `3 h 20 min`.
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
