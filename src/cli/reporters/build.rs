//! Progress of a build.

use std::time::Duration;

use super::{Heartbeat, StatusLine, shorten};
use crate::cli::shell::{Format, Shell, Verbosity};
use crate::cli::wheel::{graft_lines, repair_note_line, unchanged_line};
use crate::exec::{BuildEvent, BuildOutcome, StageState};
use crate::render::actions;
use crate::sys;

/// Shows a status line at a terminal; elsewhere a line when a stage starts or ends, and heartbeats
/// in between. Findings and results are shown everywhere.
pub(in crate::cli) struct BuildReporter<'a> {
    shell: &'a Shell,
    status: StatusLine,
    last_line: String,
    /// Counts from the start of the stage.
    heartbeat: Heartbeat,
    /// The number of the stage, `[2/5]`.
    number: String,
    /// The text that ends the open group of a stage in a workflow's log.
    group: Option<String>,
}

impl<'a> BuildReporter<'a> {
    /// Returns a reporter for the stderr of a shell.
    pub(in crate::cli) fn new(shell: &'a Shell) -> Self {
        Self {
            shell,
            status: StatusLine::new(shell),
            last_line: String::new(),
            heartbeat: Heartbeat::new(Duration::ZERO),
            number: String::new(),
            group: None,
        }
    }

    /// Shows an event.
    pub(in crate::cli) fn report(&mut self, event: BuildEvent<'_>) {
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
                self.heartbeat = Heartbeat::new(Duration::ZERO);
                if !self.status.is_shown() {
                    self.begin_group(&format!("{} {stage}", self.number));
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
                self.end_group();
                self.line(&format!(
                    "{} {stage}: {word} after {}",
                    self.number,
                    format_duration(Duration::from_secs(seconds))
                ));
            }
            BuildEvent::StagesEnded {
                diagnostics,
                figures,
            } => {
                self.finish();
                for diagnostic in diagnostics {
                    self.shell.report(std::slice::from_ref(diagnostic));
                }
                for (name, counts) in figures {
                    let counts: Vec<String> = counts
                        .iter()
                        .map(|(word, count)| format!("{count} {word}"))
                        .collect();
                    self.shell.say(&format!("{name}: {}", counts.join(", ")));
                }
            }
            BuildEvent::Findings(findings) => {
                self.shell.report(findings);
            }
            BuildEvent::RepairNote { path, note } => self.shell.say(&repair_note_line(note, path)),
            BuildEvent::Repaired { path, repaired } => {
                for line in unchanged_line(repaired, path)
                    .into_iter()
                    .chain(graft_lines(&repaired.changes))
                {
                    self.shell.say(&line);
                }
                self.shell.report(&repaired.findings);
                let name = repaired.name.to_string();
                if path.file_name().is_none_or(|old| old != name.as_str()) {
                    let tags = repaired.name.platform_tags();
                    self.shell.say(&format!("repaired for {tags}"));
                }
            }
        }
    }

    /// Announces a stage. In a workflow its lines form a group and cannot be workflow commands,
    /// because the build wrote them.
    fn begin_group(&mut self, title: &str) {
        self.end_group();
        let is_text = self.shell.message_format == Format::Human;
        if !self.shell.is_in_actions() || !is_text || self.shell.verbosity < Verbosity::Normal {
            return self.shell.say(title);
        }
        let (begin, end) = actions::group(title);
        let (stop, go_on) = actions::stopped(&sys::random_name());
        Shell::command(&format!("{begin}{stop}"));
        self.group = Some(go_on + end);
    }

    fn end_group(&mut self) {
        if let Some(end) = self.group.take() {
            Shell::command(&end);
        }
    }

    /// Removes the status line and ends the open group.
    pub(in crate::cli) fn finish(&mut self) {
        self.end_group();
        self.status.finish();
    }

    fn tick(&mut self, stage: &str, elapsed: Duration) {
        self.status.draw(|| {
            format!(
                "{} {stage}  {}  {}",
                self.number,
                format_duration(elapsed),
                shorten(&self.last_line)
            )
        });
        if !self.status.is_shown()
            && self.heartbeat.is_due(elapsed)
            && self.shell.verbosity == Verbosity::Normal
        {
            let output = if self.last_line.is_empty() {
                String::new()
            } else {
                format!(": {}", shorten(&self.last_line))
            };
            self.shell.say(&format!(
                "{} {stage}, {}{output}",
                self.number,
                format_duration(elapsed)
            ));
        }
    }

    fn line(&self, line: &str) {
        self.status.write_above(|| self.shell.say(line));
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
pub(in crate::cli) fn format_duration(duration: Duration) -> String {
    match duration.as_secs() {
        s @ 0..60 => format!("{s} s"),
        s @ 60..3600 => format!("{} min {:02} s", s / 60, s % 60),
        s => format!("{} h {:02} min", s / 3600, s / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_for_people() {
        let words = [7, 60, 725, 3600, 12_059].map(|s| format_duration(Duration::from_secs(s)));
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
