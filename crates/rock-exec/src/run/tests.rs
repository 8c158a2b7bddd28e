use super::*;
use crate::record::StageRecord;
use crate::runner::{ProcessRunner, RecordedProcess, RecordingRunner};
use rock_recipe::StepOutput;
use rock_sys::Environment;

fn step(stage: &str, script: &str) -> Step {
    Step {
        stage: stage.into(),
        argv: ["bash", "-c", script].map(str::to_owned).into(),
        ..Step::default()
    }
}

struct Bench {
    base: tempfile::TempDir,
    limits: RunLimits,
    masks: SecretMasks,
    signals: Signals,
    environment: Environment,
}

struct Run {
    end: StagesOutcome,
    record: BuildRecord,
    events: Vec<String>,
    log: String,
}

impl Bench {
    fn new() -> Self {
        Self {
            base: tempfile::Builder::new()
                .prefix("größe mit Leerzeichen ")
                .tempdir()
                .unwrap(),
            limits: RunLimits::default(),
            masks: SecretMasks::default(),
            signals: Signals::default(),
            environment: Environment::default(),
        }
    }

    fn directory(&self) -> JobDirectory {
        JobDirectory::new(self.base.path(), "job").unwrap()
    }

    fn run(&self, runner: &mut dyn StepExecutor, steps: &[Step]) -> Run {
        let directory = self.directory();
        sys::create_directory(directory.path()).unwrap();
        let surroundings = HostEnv {
            environment: &self.environment,
            threads: 1,
            memory_tenths_gib: 10,
        };
        let (limits, masks, signals) = (self.limits, &self.masks, &self.signals);
        let order = RunRequest {
            directory: &directory,
            steps,
            from: 0,
            surroundings: &surroundings,
            limits,
            masks,
            signals,
        };
        let mut record = BuildRecord::new("test", "job", "a-1-py3-none-any.whl");
        record.stages = steps
            .iter()
            .map(|step| StageRecord::new(&step.stage, ""))
            .collect();
        let mut events = Vec::new();
        let end = run_steps(&order, &mut record, runner, &mut |event| match event {
            BuildEvent::Started { stage, number, of } => {
                events.push(format!("{number}/{of} {stage}"));
            }
            BuildEvent::Ended { stage, state, .. } => events.push(format!("{stage} {state:?}")),
            BuildEvent::Retried { stage, ended } => {
                events.push(format!("{stage} again after {ended}"));
            }
            BuildEvent::Replaces(_)
            | BuildEvent::OtherAnswers { .. }
            | BuildEvent::SourceChanged { .. }
            | BuildEvent::Line(_)
            | BuildEvent::Tick { .. }
            | BuildEvent::StagesEnded { .. }
            | BuildEvent::Findings(_)
            | BuildEvent::RepairNote { .. }
            | BuildEvent::Repaired { .. } => {}
        });
        assert_eq!(
            BuildRecord::load(&directory.record()).unwrap().unwrap(),
            record,
            "the record on disk is up to date"
        );
        let log = sys::read_text(&directory.log(), 1 << 20).unwrap();
        Run {
            end,
            record,
            events,
            log,
        }
    }

    fn really(&self, steps: &[Step]) -> Run {
        self.run(&mut ProcessRunner::new(Duration::from_millis(200)), steps)
    }
}

fn kind(end: StagesOutcome) -> StepErrorKind {
    match end {
        StagesOutcome::Failed(fault) => fault.kind,
        other => panic!("{other:?}"),
    }
}

#[test]
fn steps_run_in_order_in_their_directories_with_their_variables() {
    let mut second = step("two", "echo \"$A in $(basename \"$PWD\")\" >../found");
    second.cwd = "src".into();
    second.env.insert("A".into(), "ü b".into());
    let bench = Bench::new();
    let run = bench.really(&[step("one", "mkdir src; echo hello"), second]);
    assert!(matches!(run.end, StagesOutcome::Done), "{:?}", run.end);
    assert_eq!(run.events, ["1/2 one", "one Done", "2/2 two", "two Done"]);
    assert_eq!(run.log, "== one\nhello\n== two\n");
    assert_eq!(
        sys::read_text(&bench.directory().path().join("found"), 99).unwrap(),
        "ü b in src\n"
    );
}

#[test]
fn a_failing_step_ends_the_build_and_keeps_its_last_words() {
    let run = Bench::new().really(&[
        step("one", "echo before; echo worse >&2; exit 3"),
        step("two", "true"),
    ]);
    assert_eq!(run.events, ["1/2 one", "one Failed"]);
    let StagesOutcome::Failed(fault) = run.end else {
        panic!()
    };
    assert_eq!(fault.kind, StepErrorKind::Ended("exit status 3".into()));
    assert_eq!(fault.output.tail, ["before", "worse"]);
    assert_eq!(
        fault.command,
        "bash -c 'echo before; echo worse >&2; exit 3'"
    );
    assert_eq!(run.record.stages[0].ended.as_deref(), Some("exit status 3"));
    assert_eq!(run.record.stages[1].state, StageState::Waiting);
    assert!(run.log.ends_with("== one failed: exit status 3\n"));
}

#[test]
fn a_step_is_tried_again_up_to_its_number_of_tries() {
    let mut flaky = step("fetch", "echo x >>tries; [ $(wc -l <tries) -ge 3 ]");
    flaky.retries = 2;
    let run = Bench::new().really(&[flaky.clone()]);
    assert!(matches!(run.end, StagesOutcome::Done));
    assert_eq!(run.record.stages[0].tries, 3);
    assert_eq!(run.events[1], "fetch again after exit status 1");
    flaky.retries = 1;
    assert_eq!(
        kind(Bench::new().really(&[flaky]).end),
        StepErrorKind::Ended("exit status 1".into())
    );
}

#[test]
fn a_missing_output_fails_the_step() {
    let mut build = step("build", "mkdir dist; touch dist/a.whl dist/b.whl");
    build.outputs.push(StepOutput {
        name: "wheel".into(),
        glob: "dist/*.whl".into(),
        count: 1,
    });
    let found = kind(Bench::new().really(&[build.clone()]).end);
    let expected = StepErrorKind::Outputs {
        glob: "dist/*.whl".into(),
        expected: 1,
        found: vec!["dist/a.whl".into(), "dist/b.whl".into()],
    };
    assert_eq!(found, expected);
    build.outputs[0].count = 2;
    assert!(matches!(
        Bench::new().really(&[build]).end,
        StagesOutcome::Done
    ));
}

#[test]
fn paths_are_cleaned_before_a_step_and_only_below_the_directory() {
    let mut build = step("build", "! [ -e dist/old ]");
    build.clean.push("dist".into());
    let bench = Bench::new();
    sys::write_atomic(&bench.directory().path().join("dist/old"), b"x").unwrap();
    assert!(matches!(
        bench.really(&[build.clone()]).end,
        StagesOutcome::Done
    ));
    for outside in ["../x", "/etc", "a/../../x", ".", ""] {
        build.clean = vec![outside.into()];
        assert_eq!(
            kind(bench.really(&[build.clone()]).end),
            StepErrorKind::CleansOutside(outside.into())
        );
    }
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let missing = Step {
        stage: "x".into(),
        argv: vec!["no-such-program".into()],
        ..Step::default()
    };
    let found = kind(Bench::new().really(&[missing]).end);
    assert_eq!(
        found,
        StepErrorKind::NotStarted("the program `no-such-program` was not found".into())
    );
    let nowhere = Step {
        cwd: "src/none".into(),
        ..step("x", "true")
    };
    assert!(
        matches!(kind(Bench::new().really(&[nowhere]).end), StepErrorKind::NotStarted(why) if why.contains("src/none"))
    );
}

#[test]
fn secrets_are_masked_in_the_log_the_tail_and_the_command() {
    let mut bench = Bench::new();
    bench.masks = SecretMasks::new(["open-sesame"]);
    let run = bench.really(&[step("one", "echo the word is open-sesame; exit 1")]);
    assert!(!run.log.contains("sesame") && run.log.contains("the word is ***"));
    let StagesOutcome::Failed(fault) = run.end else {
        panic!()
    };
    assert_eq!(fault.output.tail, ["the word is ***"]);
    assert!(fault.command.contains("***") && !fault.command.contains("sesame"));
}

#[test]
fn a_step_that_takes_too_long_is_ended_with_its_children() {
    let slow = Step {
        timeout_s: Some(1),
        ..step(
            "slow",
            "trap '' TERM; sleep 60 & echo $! >child; wait; sleep 60",
        )
    };
    let bench = Bench::new();
    assert_eq!(kind(bench.really(&[slow]).end), StepErrorKind::TimedOut(1));
    let child = sys::read_text(&bench.directory().path().join("child"), 99).unwrap();
    assert!(!sys::process::is_running(child.trim().parse().unwrap()));
}

#[test]
fn the_cap_ends_the_running_step_under_a_clock_of_our_own() {
    let minutes = |n: u64| Duration::from_secs(60 * n);
    let answer = |takes| RecordedProcess {
        output: String::new(),
        status: ProcessStatus::Code(0),
        takes,
    };
    let mut bench = Bench::new();
    bench.limits.cap = Some(TimeCap { at_s: 60 * 60 });
    let steps = [step("fetch", ""), step("build", ""), step("record", "")];
    let run_for = |bench: &Bench, lengths: &[u64]| {
        let answers = lengths.iter().map(|&n| answer(minutes(n))).collect();
        bench.run(
            &mut RecordingRunner {
                answers,
                ..RecordingRunner::default()
            },
            &steps,
        )
    };
    assert!(matches!(
        run_for(&bench, &[10, 40, 5]).end,
        StagesOutcome::Done
    ));
    let capped = run_for(&bench, &[10, 55, 5]);
    assert!(
        matches!(&capped.end, StagesOutcome::Capped(stage) if stage == "build"),
        "{:?}",
        capped.end
    );
    let states: Vec<StageState> = capped
        .record
        .stages
        .iter()
        .map(|stage| stage.state)
        .collect();
    assert_eq!(
        states,
        [StageState::Done, StageState::Stopped, StageState::Waiting]
    );
    assert_eq!(capped.record.stages[1].seconds, 50 * 60);
    bench.limits.used_before_s = 20 * 60;
    assert!(
        matches!(run_for(&bench, &[10, 40, 5]).end, StagesOutcome::Capped(stage) if stage == "build")
    );
    bench.limits.used_before_s = 61 * 60;
    assert!(matches!(run_for(&bench, &[1]).end, StagesOutcome::Capped(stage) if stage == "fetch"));
}

#[test]
fn a_signal_ends_the_step_and_a_second_one_forces_it() {
    for (signal, again) in [
        (StopSignal::Interrupt, false),
        (StopSignal::Terminate, true),
    ] {
        let bench = Bench::new();
        let signals = bench.signals.clone();
        let ready = bench.directory().path().join("ready");
        let sender = std::thread::spawn(move || {
            while !sys::exists(&ready) {
                std::thread::sleep(Duration::from_millis(5));
            }
            signals.raise(signal);
            while again && signals.take().map(|taken| signals.raise(taken)).is_some() {
                std::thread::sleep(Duration::from_millis(5));
            }
            if again {
                signals.raise(StopSignal::Interrupt);
            }
        });
        // A second signal does not wait for the grace period of an hour.
        let grace = if again {
            Duration::from_hours(1)
        } else {
            Duration::from_millis(200)
        };
        let stubborn = step(
            "build",
            "trap '' TERM; touch ready; while :; do sleep 0.05; done",
        );
        let run = bench.run(
            &mut ProcessRunner::new(grace),
            &[stubborn, step("after", "true")],
        );
        sender.join().unwrap();
        assert!(
            matches!(&run.end, StagesOutcome::Stopped(found, stage) if *found == signal && stage == "build"),
            "{:?}",
            run.end
        );
        assert_eq!(run.record.stages[0].state, StageState::Stopped);
        assert_eq!(run.events.last().unwrap(), "build Stopped");
    }
}

#[test]
fn a_log_that_is_a_link_ends_the_build() {
    let bench = Bench::new();
    sys::create_directory(bench.directory().log().parent().unwrap()).unwrap();
    std::os::unix::fs::symlink("/dev/full", bench.directory().log()).unwrap();
    let directory = bench.directory();
    let surroundings = HostEnv {
        environment: &bench.environment,
        threads: 1,
        memory_tenths_gib: 10,
    };
    let steps = [step("one", "echo x; sleep 60")];
    let (limits, masks, signals) = (bench.limits, &bench.masks, &bench.signals);
    let order = RunRequest {
        directory: &directory,
        steps: &steps,
        from: 0,
        surroundings: &surroundings,
        limits,
        masks,
        signals,
    };
    let mut record = BuildRecord::new("test", "job", "w");
    record.stages = vec![StageRecord::new("one", "")];
    let end = run_steps(
        &order,
        &mut record,
        &mut ProcessRunner::new(Duration::from_millis(200)),
        &mut |_| {},
    );
    assert!(
        matches!(end, StagesOutcome::File(error) if error.to_string().contains("it is a symbolic link"))
    );
}

/// An earlier build may leave a symlink in place of a checkout, its `.git` or its `.rock`.
#[test]
fn a_checkout_does_not_begin_behind_a_link() {
    for link in ["src", "src/torch", "src/torch/.git", "src/torch/.rock"] {
        let bench = Bench::new();
        let outside = bench.base.path().join("outside");
        sys::create_directory(&outside).unwrap();
        let place = bench.directory().path().join(link);
        sys::create_directory(place.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&outside, &place).unwrap();
        let words = [
            "rock-matrix",
            "source",
            "checkout",
            "pytorch",
            "--checkout-dir",
            "src/torch",
        ];
        let step = Step {
            argv: words.map(str::to_owned).into(),
            host: true,
            ..step("fetch-torch", "")
        };
        let mut runner = RecordingRunner::default();
        let run = bench.run(&mut runner, &[step]);
        let diagnostic = run
            .end
            .diagnostic(&crate::MessageContext::default())
            .unwrap();
        assert_eq!(diagnostic.code.name, "linked-folder");
        assert!(
            diagnostic
                .message
                .contains(&format!("{link}`: it is a symbolic link")),
            "{}",
            diagnostic.message
        );
        assert_eq!(
            (
                runner.invocations.len(),
                sys::entry_names(&outside).unwrap().len()
            ),
            (0, 0)
        );
    }
}
