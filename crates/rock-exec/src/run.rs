//! Runs steps in order on this machine.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::host_env::{HostEnv, answers, invocation};
use super::job_directory::JobDirectory;
use super::mask::SecretMasks;
use super::record::{BuildOutcome, BuildRecord, StageRecord, StageState};
use super::runner::StepExecutor;
use super::step_failure::{StagesOutcome, StepError, StepErrorKind};
use super::transcript::BuildTranscript;
use rock_audit::{RepairNote, RepairedWheel};
use rock_diagnostic::Diagnostic;
use rock_recipe::Step;
use rock_recipe::render;
use rock_recipe::time_cap::{CapDecision, StepAllowance, StepEnd, TimeCap, next};
use rock_sys::process::{Control, ProcessError, ProcessEvent, ProcessStatus};
use rock_sys::{self as sys, FileError, Signals, StopSignal};

/// Time limits of a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunLimits {
    /// The time after which the build is stopped so that its work can be saved.
    pub cap: Option<TimeCap>,
    /// Seconds that the job had run before this program started.
    pub used_before_s: u64,
    /// The pause before a failed stage is retried.
    pub retry_pause: Duration,
}

/// A request to run the steps of a job.
#[derive(Debug, Clone, Copy)]
pub struct RunRequest<'a> {
    /// The job directory.
    pub directory: &'a JobDirectory,
    /// The steps, each of which is a stage.
    pub steps: &'a [Step],
    /// The index of the first step to run.
    pub from: usize,
    /// The environment and resources of this machine.
    pub surroundings: &'a HostEnv<'a>,
    pub limits: RunLimits,
    /// Secrets that must not be shown.
    pub masks: &'a SecretMasks,
    /// The signals that stop the build.
    pub signals: &'a Signals,
}

/// An event that is reported while a build runs.
#[derive(Debug, Clone, Copy)]
pub enum BuildEvent<'a> {
    /// A fresh build replaces an earlier one with this outcome.
    Replaces(BuildOutcome),
    /// A stage that was done runs again, because deferred facts that it uses have changed.
    OtherAnswers {
        /// The stage.
        stage: &'a str,
    },
    /// A stage that copies a source tree runs although the build was to start at a later one,
    /// because the tree changed.
    SourceChanged {
        /// The stage.
        stage: &'a str,
    },
    /// A stage begins.
    Started {
        stage: &'a str,
        /// Its number, from 1.
        number: usize,
        /// The number of stages.
        of: usize,
    },
    /// A stage printed a line.
    Line(&'a str),
    /// Time has passed.
    Tick {
        stage: &'a str,
        /// The time since it began.
        elapsed: Duration,
    },
    /// A stage failed and is retried.
    Retried {
        stage: &'a str,
        /// The exit status of the failed attempt.
        ended: &'a str,
    },
    /// A stage ended.
    Ended {
        stage: &'a str,
        /// Wall-clock seconds.
        seconds: u64,
        state: StageState,
    },
    /// All stages have ended, or the build was stopped. Wheels are delivered next, if all stages
    /// are done.
    StagesEnded {
        /// The reason why the build did not succeed, and problems of an earlier record.
        diagnostics: &'a [Diagnostic],
        /// Counters that steps reported.
        figures: &'a BTreeMap<String, BTreeMap<String, u64>>,
    },
    /// Findings about built wheels, or the reasons why they are not delivered.
    Findings(&'a [Diagnostic]),
    /// Something that the repair of a wheel leaves as it is.
    RepairNote {
        /// The path of the wheel.
        path: &'a Path,
        note: &'a RepairNote,
    },
    /// A wheel was repaired.
    Repaired {
        /// The path of the original wheel.
        path: &'a Path,
        repaired: &'a RepairedWheel,
    },
}

/// Runs the steps, starting at `order.from`. Saves `record` before and after each step. After a
/// step has failed, only the `finally` steps run; the first failure is returned.
pub fn run_steps(
    order: &RunRequest<'_>,
    record: &mut BuildRecord,
    runner: &mut dyn StepExecutor,
    tell: &mut dyn FnMut(BuildEvent<'_>),
) -> StagesOutcome {
    let log = match order.directory.open_log() {
        Ok(log) => log,
        Err(error) => return StagesOutcome::File(error),
    };
    let mut transcript = BuildTranscript::new(log, order.masks);
    for number in order.from..order.steps.len() {
        let end = run_stage(order, number, record, &mut transcript, runner, tell);
        if matches!(end, StagesOutcome::Failed(_)) && !order.steps[number].finally {
            let mut last =
                (number + 1..order.steps.len()).filter(|number| order.steps[*number].finally);
            while let Some(number) = last.next()
                && matches!(
                    run_stage(order, number, record, &mut transcript, runner, tell),
                    StagesOutcome::Done
                )
            {}
        }
        if !matches!(end, StagesOutcome::Done) {
            return end;
        }
    }
    StagesOutcome::Done
}

/// Returns the step at which a build resumes that could resume at `order.from`: the first earlier
/// one whose deferred facts have changed. The stages that detect facts run again for this, without
/// an entry in the record, because detection changes nothing else. If one of them fails, the build
/// resumes there, and that stage reports the reason.
///
/// # Errors
/// If a signal or the cap stops it, or the log cannot be written.
pub(super) fn ask_again(
    order: &RunRequest<'_>,
    before: &[StageRecord],
    runner: &mut dyn StepExecutor,
    tell: &mut dyn FnMut(BuildEvent<'_>),
) -> Result<usize, Box<StagesOutcome>> {
    let asks = |number: &usize| !order.steps[*number].facts.is_empty();
    if !(0..order.from).any(|number| asks(&number)) {
        return Ok(order.from);
    }
    let log = order
        .directory
        .open_log()
        .map_err(|error| Box::new(StagesOutcome::File(error)))?;
    let mut transcript = BuildTranscript::new(log, order.masks);
    for number in (0..order.from).filter(asks) {
        match run_step(
            order,
            &order.steps[number],
            &mut transcript,
            runner,
            &mut |_| (),
        )
        .0
        {
            StagesOutcome::Done => {}
            StagesOutcome::Failed(_) => return Ok(number),
            ended => return Err(Box::new(ended)),
        }
    }
    let took_others = |number: &usize| {
        !asks(number)
            && before[*number].answers != answers(&order.steps[*number], order.directory.path())
    };
    let Some(number) = (0..order.from).find(took_others) else {
        return Ok(order.from);
    };
    tell(BuildEvent::OtherAnswers {
        stage: &order.steps[number].stage,
    });
    Ok(number)
}

/// Runs one step and records its result.
fn run_stage(
    order: &RunRequest<'_>,
    number: usize,
    record: &mut BuildRecord,
    transcript: &mut BuildTranscript<'_>,
    runner: &mut dyn StepExecutor,
    tell: &mut dyn FnMut(BuildEvent<'_>),
) -> StagesOutcome {
    let step = &order.steps[number];
    tell(BuildEvent::Started {
        stage: &step.stage,
        number: number + 1,
        of: order.steps.len(),
    });
    record.stages[number].state = StageState::Running;
    record.stages[number].answers = answers(step, order.directory.path());
    if let Err(error) = record.save(&order.directory.record()) {
        return StagesOutcome::File(error);
    }
    let begun = runner.clock();
    let (mut end, tries) = run_step(order, step, transcript, runner, tell);
    let stage = &mut record.stages[number];
    stage.seconds = runner.clock().saturating_sub(begun).as_secs();
    stage.tries = tries;
    stage.state = match &end {
        StagesOutcome::Done => StageState::Done,
        StagesOutcome::Capped(_) | StagesOutcome::Stopped(..) => StageState::Stopped,
        _ => StageState::Failed,
    };
    stage.ended = match &end {
        StagesOutcome::Failed(StepError {
            kind: StepErrorKind::Ended(how),
            ..
        }) => Some(how.clone()),
        _ => None,
    };
    tell(BuildEvent::Ended {
        stage: &step.stage,
        seconds: stage.seconds,
        state: stage.state,
    });
    if let Err(error) = record.save(&order.directory.record())
        && matches!(end, StagesOutcome::Done)
    {
        end = StagesOutcome::File(error);
    }
    end
}

/// Runs one step with its retries, and also returns the number of attempts.
/// [`StagesOutcome::Done`] if it succeeded.
fn run_step(
    order: &RunRequest<'_>,
    step: &Step,
    transcript: &mut BuildTranscript<'_>,
    runner: &mut dyn StepExecutor,
    tell: &mut dyn FnMut(BuildEvent<'_>),
) -> (StagesOutcome, u32) {
    let command = brief(&step.argv, order.masks);
    let failed = |kind, transcript: &BuildTranscript<'_>| {
        let (stage, command, output) = (step.stage.clone(), command.clone(), transcript.excerpt());
        StagesOutcome::Failed(StepError {
            stage,
            command,
            kind,
            output,
        })
    };
    let mut tries = 0;
    loop {
        tries += 1;
        transcript.forget();
        if let Err(error) = note(transcript, order, &format!("== {}", step.stage)) {
            return (StagesOutcome::File(error), tries);
        }
        if let Err(error) = check_checkout(order, step) {
            return (StagesOutcome::File(error), tries);
        }
        for path in &step.clean {
            if !is_below(path) {
                return (
                    failed(StepErrorKind::CleansOutside(path.clone()), transcript),
                    tries,
                );
            }
            if let Err(error) = order.directory.at(path).remove() {
                return (StagesOutcome::File(error), tries);
            }
        }
        let ended = match attempt(order, step, transcript, runner, tell) {
            AttemptResult::Succeeded => match order
                .directory
                .check()
                .and_then(|()| missing_outputs(order, step))
            {
                Ok(None) => return (StagesOutcome::Done, tries),
                Ok(Some(kind)) => return (failed(kind, transcript), tries),
                Err(error) => return (StagesOutcome::File(error), tries),
            },
            AttemptResult::Ended(how) => how,
            AttemptResult::TimedOut(seconds) => {
                return (failed(StepErrorKind::TimedOut(seconds), transcript), tries);
            }
            AttemptResult::NotStarted(reason) => {
                return (failed(StepErrorKind::NotStarted(reason), transcript), tries);
            }
            AttemptResult::Over(end) => return (end, tries),
        };
        let told = note(
            transcript,
            order,
            &format!("== {} failed: {ended}", step.stage),
        );
        if tries > step.retries {
            return (failed(StepErrorKind::Ended(ended), transcript), tries);
        }
        if let Err(error) = told {
            return (StagesOutcome::File(error), tries);
        }
        tell(BuildEvent::Retried {
            stage: &step.stage,
            ended: &ended,
        });
        if let Some(signal) = pause(order, runner) {
            return (StagesOutcome::Stopped(signal, step.stage.clone()), tries);
        }
    }
}

/// Checks that no directory into which this program checks out a source is a symlink, which an
/// earlier build may have left.
fn check_checkout(order: &RunRequest<'_>, step: &Step) -> Result<(), FileError> {
    let Some(checkout) = step.checkout_folder() else {
        return Ok(());
    };
    [
        checkout.to_owned(),
        format!("{checkout}/.git"),
        format!("{checkout}/.rock"),
    ]
    .iter()
    .try_for_each(|path| order.directory.at(path).check())
}

/// Formats a command for a message, with only the first line of arguments that have several, such
/// as whole programs.
pub(super) fn brief(argv: &[String], masks: &SecretMasks) -> String {
    let first_lines = argv.iter().map(|word| match word.split_once('\n') {
        Some((first, _)) => format!("{first} …"),
        None => word.clone(),
    });
    masks.hide(&render::command(&first_lines.collect::<Vec<_>>()))
}

/// The result of one attempt at a step.
enum AttemptResult {
    Succeeded,
    Ended(String),
    TimedOut(u64),
    NotStarted(String),
    Over(StagesOutcome),
}

fn attempt(
    order: &RunRequest<'_>,
    step: &Step,
    transcript: &mut BuildTranscript<'_>,
    runner: &mut dyn StepExecutor,
    tell: &mut dyn FnMut(BuildEvent<'_>),
) -> AttemptResult {
    let begun = runner.clock();
    let allowance = TimeCap::allowance(
        order.limits.cap,
        order.limits.used_before_s + begun.as_secs(),
        step.timeout_s,
    );
    let mut watch = Watchdog::new(allowance, begun);
    if watch.control(begun, order.signals) != Control::Continue || allowance == StepAllowance::Over
    {
        return AttemptResult::Over(watch.end(&step.stage));
    }
    let mut lost_log = None;
    let run = runner.run(
        &invocation(step, order.directory.path(), order.surroundings),
        &mut |clock, heard| {
            if let ProcessEvent::Output(bytes) | ProcessEvent::Stderr(bytes) = heard {
                lost_log = transcript
                    .feed(bytes, |_, line| tell(BuildEvent::Line(&line)))
                    .err();
            }
            tell(BuildEvent::Tick {
                stage: &step.stage,
                elapsed: clock().saturating_sub(begun),
            });
            if lost_log.is_some() {
                Control::Terminate
            } else {
                watch.control(clock(), order.signals)
            }
        },
    );
    let rest = transcript.finish();
    if let Ok(lines) = &rest {
        for line in lines {
            tell(BuildEvent::Line(line));
        }
    }
    if let Some(error) = lost_log.or(rest.err()) {
        return AttemptResult::Over(StagesOutcome::File(FileError::new(
            "write",
            &order.directory.log(),
            error,
        )));
    }
    let status = match run {
        Ok(status) => status,
        Err(
            error @ (ProcessError::EmptyArgv
            | ProcessError::ProgramNotFound(_)
            | ProcessError::DirectoryNotFound(_)),
        ) => {
            return AttemptResult::NotStarted(error.to_string());
        }
        Err(ProcessError::SpawnFailed { source, .. }) => {
            return AttemptResult::NotStarted(source.to_string());
        }
    };
    if watch.stopped.is_some() {
        return AttemptResult::Over(watch.end(&step.stage));
    }
    let end = match status {
        _ if watch.is_late => StepEnd::TimedOut,
        ProcessStatus::Code(code) => StepEnd::Exit(code),
        ProcessStatus::Signal(signal) => StepEnd::Exit(128 + signal),
    };
    match (next(allowance, end), allowance) {
        (CapDecision::GoOn, _) => AttemptResult::Succeeded,
        (
            CapDecision::Stop {
                save_cache: true, ..
            },
            _,
        ) => AttemptResult::Over(StagesOutcome::Capped(step.stage.clone())),
        (_, StepAllowance::Step(seconds)) if watch.is_late => AttemptResult::TimedOut(seconds),
        _ => AttemptResult::Ended(status.to_string()),
    }
}

/// Decides when the running process has to stop: after a signal, or when its allowance is used up.
#[derive(Debug)]
pub(super) struct Watchdog {
    until: Option<Duration>,
    pub(super) stopped: Option<StopSignal>,
    pub(super) is_late: bool,
    is_forced: bool,
}

impl Watchdog {
    pub(super) fn new(allowance: StepAllowance, begun: Duration) -> Self {
        let until = match allowance {
            StepAllowance::Step(seconds) | StepAllowance::Cap(seconds) => {
                Some(begun + Duration::from_secs(seconds))
            }
            StepAllowance::Over => Some(begun),
            StepAllowance::Unlimited => None,
        };
        Self {
            until,
            stopped: None,
            is_late: false,
            is_forced: false,
        }
    }

    /// Returns the request to the process at this time. A second signal kills what the first
    /// terminated.
    pub(super) fn control(&mut self, now: Duration, signals: &Signals) -> Control {
        if let Some(signal) = signals.take() {
            self.is_forced |= self.stopped.is_some();
            self.stopped.get_or_insert(signal);
        }
        self.is_late |= self.stopped.is_none() && self.until.is_some_and(|until| now >= until);
        match (self.stopped.is_some() || self.is_late, self.is_forced) {
            (true, true) => Control::Kill,
            (true, false) => Control::Terminate,
            (false, _) => Control::Continue,
        }
    }

    /// Returns the end of a build that was stopped in this stage.
    pub(super) fn end(&self, stage: &str) -> StagesOutcome {
        match self.stopped {
            Some(signal) => StagesOutcome::Stopped(signal, stage.to_owned()),
            None => StagesOutcome::Capped(stage.to_owned()),
        }
    }
}

fn note(
    transcript: &mut BuildTranscript<'_>,
    order: &RunRequest<'_>,
    line: &str,
) -> Result<(), FileError> {
    transcript
        .note(line)
        .map_err(|error| FileError::new("write", &order.directory.log(), error))
}

pub(super) fn missing_outputs(
    order: &RunRequest<'_>,
    step: &Step,
) -> Result<Option<StepErrorKind>, FileError> {
    for output in &step.outputs {
        let found = sys::glob(order.directory.path(), &output.glob)?;
        if found.len() != output.count {
            let name = |path: &std::path::PathBuf| {
                path.strip_prefix(order.directory.path())
                    .unwrap_or(path)
                    .display()
                    .to_string()
            };
            return Ok(Some(StepErrorKind::Outputs {
                glob: output.glob.clone(),
                expected: output.count,
                found: found.iter().map(name).collect(),
            }));
        }
    }
    Ok(None)
}

/// Waits before a retry. Returns early with the signal if one arrives.
fn pause(order: &RunRequest<'_>, runner: &mut dyn StepExecutor) -> Option<StopSignal> {
    const MOMENT: Duration = Duration::from_millis(50);
    let until = runner.clock() + order.limits.retry_pause;
    while runner.clock() < until {
        if let Some(signal) = order.signals.take() {
            return Some(signal);
        }
        runner.pause(MOMENT.min(until.saturating_sub(runner.clock())));
    }
    None
}

/// Whether a path stays below the directory that it is relative to, and is not that directory.
fn is_below(path: &str) -> bool {
    use std::path::Component;
    let mut parts = std::path::Path::new(path)
        .components()
        .filter(|part| *part != Component::CurDir)
        .peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests;
