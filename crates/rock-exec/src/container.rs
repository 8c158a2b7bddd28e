//! Runs all steps as one script in a container.

use std::time::Duration;

use super::engine_failure::{EngineErrorKind, EngineFailure};
use super::host_env::MARK;
use super::job_directory::JobDirectory;
use super::record::{BuildRecord, StageState};
use super::run::{BuildEvent, RunRequest, Watchdog, brief, missing_outputs};
use super::runner::StepExecutor;
use super::step_failure::{StagesOutcome, StepError, StepErrorKind};
use super::transcript::{BuildTranscript, OutputExcerpt};
use rock_recipe::container::EngineProgram;
use rock_recipe::render;
use rock_recipe::time_cap::{StepAllowance, TimeCap};
use rock_recipe::{Step, StepOutput};
use rock_sys::process::{Control, Invocation, ProcessError, ProcessEvent, ProcessStatus};
use rock_sys::{self as sys, FileError};

/// The environment variable that makes the script start at a later stage.
const FROM: &str = "ROCK_FROM";
/// The environment variable that makes the script stop by itself. It is always unset, because this
/// process enforces the cap.
const CAP: &str = "ROCK_CAP_S";

/// Time limit for the engine to print its version.
const ENGINE_PATIENCE: Duration = Duration::from_secs(30);

/// The container that a job is built in.
#[derive(Debug, Clone)]
pub struct ContainerSetup<'a> {
    /// The container engine.
    pub engine: EngineProgram,
    pub image: &'a str,
    /// The text of the script.
    pub script: &'a str,
    /// The argv that starts the container and passes `ROCK_FROM` on if it is set.
    pub argv: Vec<String>,
    /// The argv that stops and removes the container.
    pub remove: Vec<String>,
    /// The argv that changes the owner of the files in the job directory to this user.
    pub give_back: Vec<String>,
    /// The argv that prints the image's digest.
    pub inspect: Vec<String>,
}

/// The progress of the script, as observed from its output.
struct ScriptProgress<'a> {
    directory: &'a JobDirectory,
    steps: &'a [Step],
    current: Option<usize>,
    /// The stage that failed before the `finally` stages ran, with an excerpt of its output.
    failed: Option<(usize, OutputExcerpt)>,
    since: Duration,
    seconds: Vec<u64>,
    tries: Vec<u32>,
}

/// Runs the script in its container, starting at `order.from`. Saves `record` before and after.
pub fn run_container(
    order: &RunRequest<'_>,
    containment: &ContainerSetup<'_>,
    record: &mut BuildRecord,
    runner: &mut dyn StepExecutor,
    tell: &mut dyn FnMut(BuildEvent<'_>),
) -> StagesOutcome {
    let (log, invocation) = match prepare(order, containment, record) {
        Ok(prepared) => prepared,
        Err(error) => return StagesOutcome::File(error),
    };
    let mut transcript = BuildTranscript::new(log, order.masks);
    let begun = runner.clock();
    let first = order
        .steps
        .get(order.from)
        .map_or("build", |step| step.stage.as_str());
    let allowance = TimeCap::allowance(
        order.limits.cap,
        order.limits.used_before_s + begun.as_secs(),
        None,
    );
    let mut watch = Watchdog::new(allowance, begun);
    if watch.control(begun, order.signals) != Control::Continue || allowance == StepAllowance::Over
    {
        return watch.end(first);
    }
    let count = order.steps.len();
    let mut seen = ScriptProgress {
        directory: order.directory,
        steps: order.steps,
        current: None,
        failed: None,
        since: begun,
        seconds: vec![0; count],
        tries: vec![0; count],
    };
    let mut lost_log = transcript
        .note(&format!("== {}", render::command(&invocation.argv)))
        .err();
    let run = runner.run(&invocation, &mut |clock, heard| {
        if let ProcessEvent::Output(bytes) | ProcessEvent::Stderr(bytes) = heard {
            let written =
                transcript.feed(bytes, |transcript, line| match seen.stage_begun_by(&line) {
                    Some(number) => seen.begin(number, transcript.end_stage(), clock(), tell),
                    None => tell(BuildEvent::Line(&line)),
                });
            lost_log = lost_log.take().or(written.err());
        }
        let stage = seen
            .current
            .map_or("container", |number| order.steps[number].stage.as_str());
        tell(BuildEvent::Tick {
            stage,
            elapsed: clock().saturating_sub(seen.since),
        });
        if lost_log.is_some() {
            Control::Terminate
        } else {
            watch.control(clock(), order.signals)
        }
    });
    lost_log = lost_log.or(transcript.finish().err());
    let was_ended = watch.stopped.is_some() || watch.is_late || lost_log.is_some();
    if was_ended {
        // A container that was still being created when it was stopped exists by now.
        runner.ask(&containment.remove);
    }
    let (uid, _) = sys::effective_ids();
    if uid != 0 && sys::has_foreign_files(order.directory.path(), uid).unwrap_or(false) {
        runner.ask(&containment.give_back);
    }
    record.image_digest = runner.ask(&containment.inspect);
    let end = match (run, lost_log) {
        (_, Some(error)) => {
            StagesOutcome::File(FileError::new("write", &order.directory.log(), error))
        }
        (Err(error), None) => StagesOutcome::Engine(not_started(containment, &error)),
        (Ok(_), None) if was_ended => watch.end(seen.stage().unwrap_or(first)),
        (Ok(ProcessStatus::Code(0)), None) => order
            .directory
            .check()
            .map_or_else(StagesOutcome::File, |()| StagesOutcome::Done),
        (Ok(status), None) => failure(order, containment, &seen, &transcript, status),
    };
    let is_marked = seen
        .stage()
        .is_some_and(|stage| order.directory.is_done(stage));
    seen.close(
        runner.clock(),
        if is_marked || matches!(end, StagesOutcome::Done) {
            StageClose::Done
        } else {
            StageClose::of(&end)
        },
        tell,
    );
    note_stages(order, record, &seen, &end);
    match record.save(&order.directory.record()) {
        Err(error) if matches!(end, StagesOutcome::Done) => StagesOutcome::File(error),
        _ => end,
    }
}

/// Returns the reason why the engine cannot start anything: its program is missing, or its daemon
/// does not respond. This is checked before a build changes anything. Unrecognized output is not an
/// error here; the build itself will report it.
pub(super) fn unusable(
    containment: &ContainerSetup<'_>,
    runner: &mut dyn StepExecutor,
) -> Option<EngineFailure> {
    let program = containment.engine.program();
    let argv = [program, "version"].map(str::to_owned).into();
    let mut output = Vec::new();
    let invocation = Invocation {
        argv,
        current_dir: "/".into(),
        ..Invocation::default()
    };
    let status = runner.run(&invocation, &mut |clock, heard| {
        if let ProcessEvent::Output(bytes) = heard {
            output.extend_from_slice(bytes);
        }
        if clock() > ENGINE_PATIENCE {
            Control::Kill
        } else {
            Control::Continue
        }
    });
    match status {
        Err(error @ ProcessError::ProgramNotFound(_)) => Some(not_started(containment, &error)),
        Ok(status) if status != ProcessStatus::Code(0) => {
            let output: Vec<String> = String::from_utf8_lossy(&output)
                .lines()
                .map(str::to_owned)
                .collect();
            let kind = EngineErrorKind::of(&output, &status.to_string());
            let fault = EngineFailure {
                engine: program.to_owned(),
                image: containment.image.to_owned(),
                kind,
                output,
            };
            (fault.kind == EngineErrorKind::Unreachable).then_some(fault)
        }
        _ => None,
    }
}

fn prepare(
    order: &RunRequest<'_>,
    containment: &ContainerSetup<'_>,
    record: &mut BuildRecord,
) -> Result<(std::fs::File, Invocation), FileError> {
    sys::replace_file(&order.directory.script(), containment.script.as_bytes())?;
    for step in &order.steps[order.from..] {
        order.directory.done(&step.stage).remove()?;
    }
    let log = order.directory.open_log()?;
    let mut invocation = Invocation {
        current_dir: order.directory.path().to_owned(),
        mark: Some((
            MARK.to_owned(),
            order.directory.path().display().to_string(),
        )),
        stop_command: containment.remove.clone(),
        argv: containment.argv.clone(),
        remove_env: vec![CAP.to_owned()],
        ..Invocation::default()
    };
    match order.steps.get(order.from).filter(|_| order.from > 0) {
        Some(step) => drop(
            invocation
                .set_env
                .insert(FROM.to_owned(), step.stage.clone()),
        ),
        None => invocation.remove_env.push(FROM.to_owned()),
    }
    if let Some(stage) = record.stages.get_mut(order.from) {
        stage.state = StageState::Running;
    }
    record.save(&order.directory.record())?;
    Ok((log, invocation))
}

fn not_started(containment: &ContainerSetup<'_>, error: &ProcessError) -> EngineFailure {
    EngineFailure {
        engine: containment.engine.program().to_owned(),
        image: containment.image.to_owned(),
        kind: match error {
            ProcessError::ProgramNotFound(_) => EngineErrorKind::NoProgram,
            other => EngineErrorKind::Other(other.to_string()),
        },
        output: Vec::new(),
    }
}

fn failure(
    order: &RunRequest<'_>,
    containment: &ContainerSetup<'_>,
    seen: &ScriptProgress<'_>,
    transcript: &BuildTranscript<'_>,
    status: ProcessStatus,
) -> StagesOutcome {
    let (number, output) = match &seen.failed {
        Some((number, output)) => (Some(*number), output.clone()),
        None => (seen.current, transcript.excerpt()),
    };
    let tail = &output.tail;
    let Some(step) = number.map(|number| &order.steps[number]) else {
        let kind = EngineErrorKind::of(tail, &status.to_string());
        let engine = containment.engine.program().to_owned();
        return StagesOutcome::Engine(EngineFailure {
            engine,
            image: containment.image.to_owned(),
            kind,
            output: output.tail,
        });
    };
    let complains = |output: &StepOutput| {
        tail.iter()
            .any(|line| line.contains(&format!(" expected for {}", output.glob)))
    };
    let outputs = if step.outputs.iter().any(complains) {
        missing_outputs(order, step)
    } else {
        Ok(None)
    };
    let late = format!("== {}: more than ", step.stage);
    let is_late = tail.iter().any(|line| line.starts_with(&late));
    let kind = match (outputs, step.timeout_s) {
        (Ok(Some(kind)), _) => kind,
        (_, Some(seconds)) if is_late => StepErrorKind::TimedOut(seconds),
        _ => StepErrorKind::Ended(status.to_string()),
    };
    let command = brief(&step.argv, order.masks);
    StagesOutcome::Failed(StepError {
        stage: step.stage.clone(),
        command,
        kind,
        output,
    })
}

/// Updates the record of the stages that were to run from the markers in the job directory.
fn note_stages(
    order: &RunRequest<'_>,
    record: &mut BuildRecord,
    seen: &ScriptProgress<'_>,
    end: &StagesOutcome,
) {
    for (number, step) in order.steps.iter().enumerate().skip(order.from) {
        let stage = &mut record.stages[number];
        (stage.seconds, stage.tries) = (seen.seconds[number], seen.tries[number]);
        stage.state = match end {
            _ if order.directory.is_done(&step.stage) => StageState::Done,
            StagesOutcome::Done => StageState::Done,
            StagesOutcome::Capped(at) | StagesOutcome::Stopped(_, at) if *at == step.stage => {
                StageState::Stopped
            }
            StagesOutcome::Failed(fault) if fault.stage == step.stage => StageState::Failed,
            _ => StageState::Waiting,
        };
        stage.ended = match end {
            StagesOutcome::Failed(StepError {
                stage,
                kind: StepErrorKind::Ended(how),
                ..
            }) if *stage == step.stage => Some(how.clone()),
            _ => None,
        };
    }
}

/// The reported end of the stage that was observed last.
#[derive(Clone, Copy)]
enum StageClose {
    Done,
    Failed,
    Stopped,
}

impl StageClose {
    fn of(end: &StagesOutcome) -> Self {
        match end {
            StagesOutcome::Capped(_) | StagesOutcome::Stopped(..) => Self::Stopped,
            _ => Self::Failed,
        }
    }
}

impl ScriptProgress<'_> {
    /// Returns the number of the stage that this line of the script's output announces.
    fn stage_begun_by(&self, line: &str) -> Option<usize> {
        let name = line.strip_prefix("== ")?;
        self.steps.iter().position(|step| step.stage == name)
    }

    /// Records that a stage begins. `output` is an excerpt of the output of the stage before it.
    fn begin(
        &mut self,
        number: usize,
        output: OutputExcerpt,
        now: Duration,
        tell: &mut dyn FnMut(BuildEvent<'_>),
    ) {
        if self.current != Some(number) {
            let is_done = |before: &usize| self.directory.is_done(&self.steps[*before].stage);
            let failed = self
                .current
                .filter(|before| self.steps[number].finally && !is_done(before));
            self.close(
                now,
                if failed.is_some() {
                    StageClose::Failed
                } else {
                    StageClose::Done
                },
                tell,
            );
            self.failed = self.failed.take().or(failed.map(|before| (before, output)));
            (self.current, self.since) = (Some(number), now);
            tell(BuildEvent::Started {
                stage: &self.steps[number].stage,
                number: number + 1,
                of: self.steps.len(),
            });
        }
        self.tries[number] += 1;
    }

    fn close(&mut self, now: Duration, how: StageClose, tell: &mut dyn FnMut(BuildEvent<'_>)) {
        let Some(number) = self.current.take() else {
            return;
        };
        let seconds = now.saturating_sub(self.since).as_secs();
        self.seconds[number] = seconds;
        let state = match how {
            StageClose::Done => StageState::Done,
            StageClose::Failed => StageState::Failed,
            StageClose::Stopped => StageState::Stopped,
        };
        tell(BuildEvent::Ended {
            stage: &self.steps[number].stage,
            seconds,
            state,
        });
    }

    fn stage(&self) -> Option<&str> {
        self.current.map(|number| self.steps[number].stage.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::{RecordedProcess, RecordingRunner};
    use crate::{HostEnv, RunLimits, SecretMasks, StageRecord};
    use rock_sys::{Environment, Signals, StopSignal};

    struct Run {
        end: StagesOutcome,
        record: BuildRecord,
        runner: RecordingRunner,
        events: Vec<String>,
    }

    fn run(
        from: usize,
        takes_s: u64,
        output: &str,
        status: i32,
        done: &[&str],
        prepare: impl Fn(&Signals),
    ) -> Run {
        let base = tempfile::tempdir().unwrap();
        let directory = JobDirectory::new(base.path(), "job").unwrap();
        let step = |stage: &str| Step {
            stage: stage.into(),
            argv: vec!["make".into(), stage.into()],
            ..Step::default()
        };
        let mut steps = [step("fetch"), step("build"), step("record")];
        steps[1].timeout_s = Some(60);
        steps[2].finally = true;
        steps[1].outputs.push(StepOutput {
            name: "wheel".into(),
            glob: "dist/*.whl".into(),
            count: 1,
        });
        let (environment, masks, signals) = (
            Environment::default(),
            SecretMasks::new(["sesame"]),
            Signals::default(),
        );
        let surroundings = HostEnv {
            environment: &environment,
            threads: 1,
            memory_tenths_gib: 10,
        };
        let limits = RunLimits {
            cap: Some(TimeCap { at_s: 600 }),
            ..RunLimits::default()
        };
        let (directory, surroundings, masks, signals) =
            (&directory, &surroundings, &masks, &signals);
        let order = RunRequest {
            directory,
            steps: &steps,
            from,
            surroundings,
            limits,
            masks,
            signals,
        };
        let words = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let containment = ContainerSetup {
            engine: EngineProgram::Docker,
            image: "x:1",
            script: "echo script\n",
            argv: words("docker run"),
            remove: words("docker rm"),
            give_back: words("docker chown"),
            inspect: words("docker inspect"),
        };
        let mut record = BuildRecord::new("test", "job", "w");
        record.stages = steps
            .iter()
            .map(|step| StageRecord::new(&step.stage, ""))
            .collect();
        let takes = Duration::from_secs(takes_s);
        let answer = RecordedProcess {
            output: output.to_owned(),
            status: ProcessStatus::Code(status),
            takes,
        };
        let mut runner = RecordingRunner {
            answers: [answer].into(),
            ..RecordingRunner::default()
        };
        // The script leaves its markers while it runs.
        let mut events = Vec::new();
        prepare(signals);
        let end = run_container(
            &order,
            &containment,
            &mut record,
            &mut runner,
            &mut |event| match event {
                BuildEvent::Started { stage, number, of } => {
                    events.push(format!("{number}/{of} {stage}"));
                    if number == 1 || number == from + 1 {
                        for stage in done {
                            sys::write_atomic(&order.directory.done(stage).path(), b"").unwrap();
                        }
                    }
                }
                BuildEvent::Ended { stage, state, .. } => events.push(format!("{stage} {state:?}")),
                BuildEvent::Line(line) => assert!(!line.contains("sesame")),
                BuildEvent::Replaces(_)
                | BuildEvent::OtherAnswers { .. }
                | BuildEvent::SourceChanged { .. }
                | BuildEvent::Tick { .. }
                | BuildEvent::Retried { .. }
                | BuildEvent::StagesEnded { .. }
                | BuildEvent::Findings(_)
                | BuildEvent::RepairNote { .. }
                | BuildEvent::Repaired { .. } => {}
            },
        );
        assert_eq!(
            sys::read_text(&directory.script(), 99).unwrap(),
            "echo script\n"
        );
        Run {
            end,
            record,
            runner,
            events,
        }
    }

    fn states(run: &Run) -> Vec<StageState> {
        run.record.stages.iter().map(|stage| stage.state).collect()
    }

    #[test]
    fn stages_are_seen_in_the_scripts_words() {
        let output = "== fetch\nx sesame\n== build\n== build: failed with 1, trying again\n== build\n== record\n== built a.whl\n";
        let run = run(0, 1, output, 0, &["fetch", "build", "record"], |_| {});
        assert!(matches!(run.end, StagesOutcome::Done), "{:?}", run.end);
        assert_eq!(
            run.events,
            [
                "1/3 fetch",
                "fetch Done",
                "2/3 build",
                "build Done",
                "3/3 record",
                "record Done"
            ]
        );
        assert_eq!(states(&run), [StageState::Done; 3]);
        assert_eq!(run.record.stages[1].tries, 2);
        assert_eq!(run.runner.invocations[0].argv, ["docker", "run"]);
        assert_eq!(run.runner.invocations[0].remove_env, [CAP, FROM]);
    }

    #[test]
    fn going_on_passes_the_stage_to_the_script() {
        let run = run(
            1,
            1,
            "== fetch: done before\n== build\n== record\n",
            0,
            &["build", "record"],
            |_| {},
        );
        assert_eq!(run.runner.invocations[0].argv, ["docker", "run"]);
        assert_eq!(run.runner.invocations[0].set_env[FROM], "build");
        assert_eq!(run.events[0], "2/3 build");
        assert_eq!(
            states(&run),
            [StageState::Waiting, StageState::Done, StageState::Done]
        );
    }

    #[test]
    fn a_failed_stage_differs_from_an_engine_that_did_not_start() {
        let failed = run(
            0,
            1,
            "== fetch\n== build\ncc: no\n== build: failed with 2\n",
            2,
            &["fetch"],
            |_| {},
        );
        let StagesOutcome::Failed(fault) = &failed.end else {
            panic!("{:?}", failed.end)
        };
        assert_eq!(
            (fault.stage.as_str(), fault.command.as_str()),
            ("build", "make build")
        );
        assert_eq!(fault.kind, StepErrorKind::Ended("exit status 2".into()));
        assert_eq!(fault.output.tail, ["cc: no", "== build: failed with 2"]);
        assert_eq!(
            states(&failed),
            [StageState::Done, StageState::Failed, StageState::Waiting]
        );
        let engine = run(
            0,
            1,
            "Error: stat /dev/kfd: no such file or directory\n",
            125,
            &[],
            |_| {},
        );
        assert!(
            matches!(&engine.end, StagesOutcome::Engine(fault) if fault.kind == EngineErrorKind::NoDevice)
        );
        assert_eq!(states(&engine), [StageState::Waiting; 3]);
    }

    #[test]
    fn what_runs_after_a_failure_does_not_take_its_place() {
        let output = "== fetch\n== build\ncc: no\n== build: failed with 2\n== record\nhits: 3\n";
        let run = run(0, 1, output, 2, &["fetch", "record"], |_| {});
        let StagesOutcome::Failed(fault) = &run.end else {
            panic!("{:?}", run.end)
        };
        assert_eq!(
            (fault.stage.as_str(), fault.output.tail.join("; ").as_str()),
            ("build", "cc: no; == build: failed with 2")
        );
        assert_eq!(
            states(&run),
            [StageState::Done, StageState::Failed, StageState::Done]
        );
        assert_eq!(
            run.events[3..],
            ["build Failed", "3/3 record", "record Done"]
        );
    }

    #[test]
    fn time_outs_and_missing_outputs_of_the_script_are_understood() {
        let late = run(
            0,
            1,
            "== fetch\n== build\n== build: more than 60 s\n== build: failed with 1\n",
            1,
            &["fetch"],
            |_| {},
        );
        assert!(
            matches!(late.end, StagesOutcome::Failed(fault) if fault.kind == StepErrorKind::TimedOut(60))
        );
        let missing = run(
            0,
            1,
            "== fetch\n== build\n== 1 expected for dist/*.whl, 0 there\n",
            1,
            &["fetch"],
            |_| {},
        );
        assert!(
            matches!(missing.end, StagesOutcome::Failed(fault) if matches!(fault.kind, StepErrorKind::Outputs { .. }))
        );
    }

    #[test]
    fn the_cap_and_signals_remove_the_container() {
        let capped = run(0, 3600, "== fetch\n== build\n", 0, &["fetch"], |_| {});
        assert!(
            matches!(&capped.end, StagesOutcome::Capped(stage) if stage == "build"),
            "{:?}",
            capped.end
        );
        assert_eq!(capped.runner.short_commands[0], ["docker", "rm"]);
        assert_eq!(capped.runner.invocations[0].stop_command, ["docker", "rm"]);
        assert_eq!(
            states(&capped),
            [StageState::Done, StageState::Stopped, StageState::Waiting]
        );
        let stopped = run(0, 10, "", 0, &[], |signals| {
            signals.raise(StopSignal::Terminate);
        });
        assert!(matches!(
            stopped.end,
            StagesOutcome::Stopped(StopSignal::Terminate, _)
        ));
        assert!(
            stopped.runner.invocations.is_empty(),
            "nothing is started after the signal"
        );
    }
}
