//! The output of a build: delivered wheels, the steps of a dry run, and where to resume.

use std::path::Path;
use std::time::Duration;

use super::BuildRequest;
use crate::cli::reporters::format_duration;
use crate::cli::wheel::fail;
use crate::cli::{Exit, Shell};
use crate::diagnostic::counted;
use crate::diagnostic::render::redact_urls;
use crate::exec::{BuildOutcome, BuildReport, BuildStart, PreparedBuild, ResumePoint};

impl BuildRequest<'_> {
    /// Prints the delivered wheels, and returns the exit code of a build.
    pub(super) fn print_result(&self, report: &BuildReport, shell: &Shell) -> Exit {
        let printed = if report.is_delivered {
            shell.report(&report.warnings);
            self.print_wheels(report, shell)
        } else {
            Exit::Done
        };
        if let Some(error) = &report.record_error {
            shell.report(std::slice::from_ref(error));
        }
        match report.outcome() {
            BuildOutcome::Done => printed,
            BuildOutcome::Refused => Exit::Fault,
            BuildOutcome::Failed => Exit::Step,
            BuildOutcome::Capped => Exit::Capped,
            BuildOutcome::Stopped => report.stop_signal().map_or(Exit::Machine, Exit::from),
            BuildOutcome::Running | BuildOutcome::Machine => Exit::Machine,
        }
    }

    fn print_wheels(&self, report: &BuildReport, shell: &Shell) -> Exit {
        let record = &report.record;
        let used: Vec<String> = record
            .used
            .iter()
            .filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?)))
            .collect();
        let took = format_duration(Duration::from_secs(record.seconds));
        match report.skipped_stages {
            0 => shell.say(&format!("built in {took}")),
            stages => shell.say(&format!(
                "built in {took}; skipped {}",
                counted(stages, "completed stage")
            )),
        }
        if !used.is_empty() {
            shell.say(&format!("used {}", used.join(", ")));
        }
        if self.options.is_json() {
            return Exit::Done;
        }
        let lines = record.wheels.iter().map(|wheel| {
            let path = Path::new(&wheel.path);
            let shown = path
                .strip_prefix(&shell.environment.current_dir)
                .unwrap_or(path)
                .display();
            format!("{shown}  {}  {} bytes\n", wheel.digest, wheel.size_bytes)
        });
        shell.print(&lines.collect::<String>())
    }
}

/// Prints the steps of builds without running them; as JSON, one line for each job.
pub(super) fn describe(builds: &[PreparedBuild<'_>], is_json: bool, shell: &Shell) -> Exit {
    for build in builds {
        if build.start() == BuildStart::Auto {
            shell.say("the stage at which it resumes depends on this machine, so a dry run shows every stage");
        }
        if let Err(errors) = build.check_start() {
            return fail(shell, &errors);
        }
    }
    let steps: String = if is_json {
        builds.iter().map(PreparedBuild::describe_json).collect()
    } else {
        builds.iter().map(PreparedBuild::describe).collect()
    };
    let exit = shell.print(&redact_urls(&steps));
    for build in builds {
        say_resume_points(build, shell);
    }
    exit
}

/// Lists the points at which an earlier build of a job can be resumed.
pub(super) fn say_resume_points(build: &PreparedBuild<'_>, shell: &Shell) {
    let points = build.resume_points();
    if points.is_empty() {
        return;
    }
    shell.say("an earlier build of this job can be resumed; add one of these options:");
    for ResumePoint { name, after, files } in points {
        let files = if files.is_empty() {
            String::new()
        } else {
            format!(": {}", files.join(", "))
        };
        shell.say(&format!("  --resume={name:<10} `{after}` is done{files}"));
    }
}
