//! A complete build of one job, from opening its directory to recording its outcome.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::build_start::{BuildStart, UnknownStage, first_step};
use super::container::{ContainerSetup, run_container, unusable};
use super::engine_failure::EngineFailure;
use super::host_env::{HostEnv, MARK, answers};
use super::job_directory::{JobDirectory, LockedDirectory, OpenDirectoryError, open};
use super::limits::MAX_FACTS_BYTES;
use super::record::{
    BuildOutcome, BuildRecord, StageRecord, StageState, is_counted, is_used, shown_text,
};
use super::run::{BuildEvent, RunLimits, RunRequest, ask_again, run_steps};
use super::runner::StepExecutor;
use super::step_failure::StagesOutcome;
use super::step_hash::step_hash;
use super::wheels_to_test::{WheelToTest, place_wheels};
use crate::SecretMasks;
use rock_recipe::container::{self, EngineProgram};
use rock_recipe::{FIGURES_FILE, RECORD_FILE, Step};
use rock_sys::{self as sys, FileError, Signals};

/// Time that processes which left their stage's process group get to end after the build.
const STRAY_GRACE: Duration = Duration::from_secs(5);

/// The inputs of a build.
#[derive(Debug)]
pub struct BuildSession<'a> {
    /// The job directory.
    pub directory: &'a JobDirectory,
    /// The stage to start at.
    pub start: BuildStart,
    pub steps: &'a [Step],
    /// The container to run the steps in; `None` runs them on this machine.
    pub containment: Option<ContainerSetup<'a>>,
    /// The name of the job's containers in this directory. A container of a killed build is
    /// removed.
    pub container_name: &'a str,
    /// Wheels that are copied to the job directory before the first step, if only the tests of the
    /// build run on them.
    pub wheels: Vec<WheelToTest>,
    /// Listings of the files outside the job directory that a stage reads, by stage.
    pub inputs: BTreeMap<String, String>,
    /// The initial record: job, versions, names.
    pub record: BuildRecord,
    /// The environment and resources of this machine.
    pub surroundings: &'a HostEnv<'a>,
    pub limits: RunLimits,
    /// Secrets that must not be shown.
    pub masks: &'a SecretMasks,
    /// The signals that stop the build.
    pub signals: &'a Signals,
}

/// A build that has run.
#[derive(Debug)]
pub struct FinishedBuild {
    /// The build record, which is also on disk.
    pub record: BuildRecord,
    /// The outcome of the stages.
    pub end: StagesOutcome,
    /// The reason why the record of an earlier build could not be read.
    pub unreadable: Option<String>,
    /// The number of stages that were skipped because they were done.
    pub passed_over: usize,
    /// The job directory, locked until this is dropped.
    pub opened: LockedDirectory,
}

/// An error for which no build was started.
#[derive(Debug)]
pub enum StartError {
    /// The job directory cannot be used.
    Open(OpenDirectoryError),
    /// There is no such stage.
    Stage(UnknownStage),
    /// The engine cannot start anything.
    Engine(EngineFailure),
    /// The wheels to test cannot be copied to the job directory.
    Wheels(FileError),
}

/// Runs a build.
///
/// # Errors
/// If it cannot be started. In that case, no step has run and no record has changed.
pub fn build(
    session: BuildSession<'_>,
    runner: &mut dyn StepExecutor,
    tell: &mut dyn FnMut(BuildEvent<'_>),
) -> Result<FinishedBuild, StartError> {
    let BuildSession {
        directory,
        start,
        steps,
        containment,
        mut record,
        ..
    } = session;
    let begun = runner.clock();
    let site = format!(
        "{} {}",
        record.engine,
        record.image.as_deref().unwrap_or_default()
    );
    let hash = |step: &Step| {
        let inputs = session.inputs.get(&step.stage).map_or("", String::as_str);
        (
            step.stage.clone(),
            step_hash(step, &site, inputs).to_string(),
        )
    };
    let stages: Vec<(String, String)> = steps.iter().map(hash).collect();
    if let BuildStart::Stage(_) = &start {
        first_step(&start, &stages, &[]).map_err(StartError::Stage)?;
    }
    if let Some(fault) = containment
        .as_ref()
        .and_then(|containment| unusable(containment, runner))
    {
        return Err(StartError::Engine(fault));
    }
    let opened = open(directory, &start).map_err(StartError::Open)?;
    if let (BuildStart::Fresh, Some(last)) = (&start, &opened.last) {
        tell(BuildEvent::Replaces(last.outcome));
    }
    let killed = opened
        .last
        .as_ref()
        .filter(|last| last.outcome == BuildOutcome::Running);
    if let Some(engine) = killed.and_then(|last| EngineProgram::from_word(&last.engine)) {
        runner.ask(&container::removal(engine, session.container_name));
    }
    place_wheels(directory, &session.wheels).map_err(StartError::Wheels)?;
    let mut before = opened
        .before
        .as_ref()
        .map(|record| record.stages.clone())
        .unwrap_or_default();
    if containment.is_some() {
        // The script of a killed build left its markers, but they are not in the record.
        for stage in &mut before {
            if directory.is_done(&stage.stage) {
                stage.state = StageState::Done;
            }
        }
    }
    let mut from = first_step(&start, &stages, &before).map_err(StartError::Stage)?;
    if let Some(number) = changed_copy(&steps[..from], &stages, &before) {
        tell(BuildEvent::SourceChanged {
            stage: &steps[number].stage,
        });
        from = number;
    }
    let (surroundings, limits, masks, signals) = (
        session.surroundings,
        session.limits,
        session.masks,
        session.signals,
    );
    let order = RunRequest {
        directory,
        steps,
        from,
        surroundings,
        limits,
        masks,
        signals,
    };
    // In a container the image determines the deferred facts, and it is part of every stage's hash.
    let asked = match (&start, &containment) {
        (BuildStart::Auto | BuildStart::Test, None) => ask_again(&order, &before, runner, tell),
        _ => Ok(from),
    };
    let from = *asked.as_ref().unwrap_or(&from);
    let order = RunRequest { from, ..order };
    record.stages = stages
        .iter()
        .map(|(stage, hash)| StageRecord::new(stage, hash))
        .collect();
    for (stage, old) in record
        .stages
        .iter_mut()
        .zip(&before)
        .take(from)
        .filter(|(stage, old)| stage.stage == old.stage)
    {
        // Keeps the old hash, so that a stage skipped on request still counts as changed.
        *stage = old.clone();
    }
    record.outcome = BuildOutcome::Running;
    record.log = directory.log().display().to_string();
    record.disk_before_bytes = sys::free_bytes(directory.path());
    let mut end = match (asked, &containment) {
        (Err(end), _) => *end,
        _ if let Err(error) = remove_outdated(directory, steps, &stages, &before, from) => {
            StagesOutcome::File(error)
        }
        _ if from == steps.len() => StagesOutcome::Done,
        (Ok(_), Some(containment)) => {
            // Checkouts are made by this program itself; the container finds them in the job
            // directory.
            let own = steps.iter().take_while(|step| step.host).count();
            let checkouts = RunRequest {
                steps: &steps[..own],
                ..order
            };
            match if from < own {
                run_steps(&checkouts, &mut record, runner, tell)
            } else {
                StagesOutcome::Done
            } {
                StagesOutcome::Done => run_container(
                    &RunRequest {
                        from: from.max(own),
                        ..order
                    },
                    containment,
                    &mut record,
                    runner,
                    tell,
                ),
                ended => ended,
            }
        }
        (Ok(_), None) => run_steps(&order, &mut record, runner, tell),
    };
    sys::process::terminate_marked(MARK, &directory.path().display().to_string(), STRAY_GRACE);
    // A value that a record may not contain would make it unreadable.
    record.used = left(directory, RECORD_FILE);
    record.used.retain(|name, value| is_used((name, value)));
    record.figures = left(directory, FIGURES_FILE);
    record
        .figures
        .retain(|name, counts| is_counted((name, counts)));
    record.seconds = runner.clock().saturating_sub(begun).as_secs();
    record.disk_after_bytes = sys::free_bytes(directory.path());
    record.outcome = match &end {
        StagesOutcome::Done => BuildOutcome::Done,
        StagesOutcome::Failed(_) => BuildOutcome::Failed,
        StagesOutcome::Capped(_) => BuildOutcome::Capped,
        StagesOutcome::Stopped(..) => BuildOutcome::Stopped,
        StagesOutcome::Engine(_) | StagesOutcome::File(_) => BuildOutcome::Machine,
    };
    record.reason = end.reason().map(|reason| shown_text(&reason));
    if start == BuildStart::Test {
        // A test run has only some of the stages; keep the others, so that a build can still
        // resume.
        record.stages = with_earlier(record.stages, before);
    }
    // A container that did not start has built nothing, so the record of the earlier build is kept.
    let kept = opened
        .before
        .as_ref()
        .filter(|_| matches!(end, StagesOutcome::Engine(_)));
    if let Err(error) = kept.unwrap_or(&record).save(&directory.record())
        && matches!(end, StagesOutcome::Done)
    {
        end = StagesOutcome::File(error);
    }
    Ok(FinishedBuild {
        record,
        end,
        unreadable: opened.unreadable.clone(),
        passed_over: from,
        opened,
    })
}

/// Updates the stages of an earlier build with those that were run again. Without an earlier build,
/// returns the latter.
fn with_earlier(ran: Vec<StageRecord>, mut before: Vec<StageRecord>) -> Vec<StageRecord> {
    if before.is_empty() {
        return ran;
    }
    for stage in ran {
        if let Some(old) = before.iter_mut().find(|old| old.stage == stage.stage) {
            *old = stage;
        }
    }
    before
}

/// Returns the first step that copies a source tree and whose copy is outdated. Later steps would
/// build from a stale copy.
fn changed_copy(
    steps: &[Step],
    stages: &[(String, String)],
    before: &[StageRecord],
) -> Option<usize> {
    let is_current = |number: usize| {
        let (stage, hash) = &stages[number];
        before.get(number).is_some_and(|old| {
            old.stage == *stage && old.hash == *hash && old.state == StageState::Done
        })
    };
    (0..steps.len()).find(|number| !steps[*number].left_out.is_empty() && !is_current(*number))
}

/// Removes files that steps from `from` on cannot reuse, because they last ran with another command
/// or environment.
fn remove_outdated(
    directory: &JobDirectory,
    steps: &[Step],
    stages: &[(String, String)],
    before: &[StageRecord],
    from: usize,
) -> Result<(), FileError> {
    let ran_like_that = |step: &Step, (stage, hash): &(String, String)| {
        let last = before
            .iter()
            .find(|old| old.stage == *stage && old.state != StageState::Waiting);
        last.is_some_and(|last| {
            last.hash == *hash && last.answers == answers(step, directory.path())
        })
    };
    let outdated = steps
        .iter()
        .zip(stages)
        .skip(from)
        .filter(|(step, stage)| !ran_like_that(step, stage));
    outdated
        .flat_map(|(step, _)| &step.outdated)
        .try_for_each(|path| directory.at(path).remove())
}

/// Reads a file of the build by name: the versions it used, or its counters.
fn left<T: DeserializeOwned>(directory: &JobDirectory, file: &str) -> BTreeMap<String, T> {
    let text = directory
        .at(file)
        .read_text(MAX_FACTS_BYTES)
        .unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProcessRunner;
    use rock_sys::Environment;

    struct Bench {
        base: tempfile::TempDir,
    }

    impl Bench {
        fn new() -> Self {
            Self {
                base: tempfile::tempdir().unwrap(),
            }
        }

        fn directory(&self) -> JobDirectory {
            JobDirectory::new(self.base.path(), "job").unwrap()
        }

        fn build(
            &self,
            start: BuildStart,
            steps: &[Step],
            inputs: &[(&str, &str)],
        ) -> (Result<FinishedBuild, StartError>, Vec<String>) {
            let environment = Environment::default();
            let surroundings = HostEnv {
                environment: &environment,
                threads: 1,
                memory_tenths_gib: 10,
            };
            let mut record = BuildRecord::new("test", "job", "w");
            record.engine = "local".into();
            let session = BuildSession {
                directory: &self.directory(),
                start,
                steps,
                containment: None,
                container_name: "rock-job",
                wheels: Vec::new(),
                inputs: inputs
                    .iter()
                    .map(|(stage, text)| ((*stage).to_owned(), (*text).to_owned()))
                    .collect(),
                record,
                surroundings: &surroundings,
                limits: RunLimits::default(),
                masks: &SecretMasks::default(),
                signals: &Signals::default(),
            };
            let mut ran = Vec::new();
            let built = build(
                session,
                &mut ProcessRunner::new(Duration::from_millis(200)),
                &mut |event| {
                    if let BuildEvent::Started { stage, .. } = event {
                        ran.push(stage.to_owned());
                    }
                },
            );
            (built, ran)
        }
    }

    fn step(stage: &str, script: &str) -> Step {
        Step {
            stage: stage.into(),
            argv: ["bash", "-c", script].map(str::to_owned).into(),
            ..Step::default()
        }
    }

    #[test]
    fn facts_of_a_build_at_the_limit_are_read_and_larger_ones_are_not() {
        let bench = Bench::new();
        let directory = bench.directory();
        let read = |bytes: u64| {
            let fact = r#"{"torch": "2.6.0"}"#;
            let text = fact.to_owned() + &" ".repeat(usize::try_from(bytes).unwrap() - fact.len());
            sys::write_atomic(&directory.at("used.json").path(), text.as_bytes()).unwrap();
            left::<String>(&directory, "used.json").len()
        };
        assert_eq!((read(MAX_FACTS_BYTES), read(MAX_FACTS_BYTES + 1)), (1, 0));
    }

    #[test]
    fn auto_continues_at_the_failed_or_the_first_changed_stage() {
        let bench = Bench::new();
        let steps = [
            step("a", "echo a >>order"),
            step("b", "echo b >>order; [ -e fixed ]"),
            step("c", "echo c >>order"),
        ];
        let (built, ran) = bench.build(BuildStart::Auto, &steps, &[]);
        assert_eq!(built.unwrap().record.outcome, BuildOutcome::Failed);
        assert_eq!(ran, ["a", "b"]);
        sys::write_atomic(&bench.directory().path().join("fixed"), b"").unwrap();
        let (built, ran) = bench.build(BuildStart::Auto, &steps, &[]);
        assert_eq!(
            (built.unwrap().record.outcome, ran.join(" ").as_str()),
            (BuildOutcome::Done, "b c")
        );
        assert!(
            bench.build(BuildStart::Auto, &steps, &[]).1.is_empty(),
            "all is done"
        );
        assert_eq!(
            bench.build(BuildStart::Auto, &steps, &[("b", "changed")]).1,
            ["b", "c"]
        );
        assert_eq!(
            bench
                .build(BuildStart::Stage("c".into()), &steps, &[("b", "changed")])
                .1,
            ["c"]
        );
        let (built, ran) = bench.build(BuildStart::Fresh, &steps, &[]);
        assert_eq!(
            ran,
            ["a", "b"],
            "a fresh build begins in an empty directory"
        );
        assert_eq!(built.unwrap().record.stages[1].state, StageState::Failed);
    }

    /// A deferred fact affects only the stages that use it.
    #[test]
    fn another_answer_runs_the_stages_again_that_take_it() {
        let bench = Bench::new();
        let answer = |text: &str| {
            sys::write_atomic(&bench.directory().path().join("installed"), text.as_bytes())
                .unwrap();
        };
        let asks = "cat installed; mkdir -p facts; cp installed facts/sdk";
        let question = Step {
            facts: vec!["sdk".into()],
            ..step("facts-sdk", asks)
        };
        let word = rock_recipe::shell_variable(&rock_recipe::late_name("sdk"));
        let takes = |stage: &str, script: &str| {
            let mut step = step(stage, script);
            step.argv.push(word.clone());
            step
        };
        let steps = [
            step("sdk", "true"),
            question,
            step("between", "true"),
            takes("torch", "echo $0 >>built; [ ! -e cut ]"),
            step("audio", "true"),
        ];
        answer("7.13");
        assert_eq!(
            bench.build(BuildStart::Auto, &steps, &[]).1,
            ["sdk", "facts-sdk", "between", "torch", "audio"]
        );
        assert!(
            bench.build(BuildStart::Auto, &steps, &[]).1.is_empty(),
            "the same answer builds nothing"
        );
        answer("7.14");
        sys::write_atomic(&bench.directory().path().join("cut"), b"").unwrap();
        assert_eq!(
            bench.build(BuildStart::Auto, &steps, &[]).1,
            ["torch"],
            "it was cut there"
        );
        sys::remove(&bench.directory().path().join("cut")).unwrap();
        assert_eq!(
            bench.build(BuildStart::Auto, &steps, &[]).1,
            ["torch", "audio"]
        );
        assert!(bench.build(BuildStart::Auto, &steps, &[]).1.is_empty());
        let built = sys::read_text(&bench.directory().path().join("built"), 99).unwrap();
        assert_eq!(
            built.split_whitespace().collect::<Vec<_>>(),
            ["7.13", "7.14", "7.14"]
        );
        sys::remove(&bench.directory().path().join("installed")).unwrap();
        let (built, ran) = bench.build(BuildStart::Auto, &steps, &[]);
        assert_eq!(
            (built.unwrap().record.outcome, ran.join(" ").as_str()),
            (BuildOutcome::Failed, "facts-sdk")
        );
    }

    #[test]
    fn what_runs_always_runs_after_a_failure_which_stays_the_end() {
        let bench = Bench::new();
        let last = |script: &str| Step {
            finally: true,
            ..step("last", script)
        };
        let steps = |script: &str| {
            [
                step("a", "[ -e fixed ] || exit 7"),
                step("b", "true"),
                last(script),
            ]
        };
        for script in ["true", "exit 9"] {
            let (built, ran) = bench.build(BuildStart::Fresh, &steps(script), &[]);
            let built = built.unwrap();
            assert_eq!(
                (built.end.reason().unwrap().as_str(), ran.join(" ").as_str()),
                ("stage `a`, exit status 7", "a last")
            );
            assert_eq!(built.record.stages[1].state, StageState::Waiting);
        }
        sys::write_atomic(&bench.directory().path().join("fixed"), b"").unwrap();
        assert_eq!(
            bench.build(BuildStart::Auto, &steps("true"), &[]).1,
            ["a", "b", "last"]
        );
        assert!(
            bench
                .build(BuildStart::Auto, &steps("true"), &[])
                .1
                .is_empty()
        );
    }

    #[test]
    fn outdated_paths_are_removed_only_for_another_command() {
        let bench = Bench::new();
        let build = |script: &str, inputs: &[(&str, &str)]| {
            let step = Step {
                outdated: vec!["objects".into()],
                ..step("build", script)
            };
            let (built, _) = bench.build(
                BuildStart::Auto,
                &[self::step("fetch", "true"), step],
                inputs,
            );
            assert_eq!(built.unwrap().record.outcome, BuildOutcome::Done);
            sys::read_text(&bench.directory().path().join("objects/log"), 99).unwrap()
        };
        let one = "mkdir -p objects; echo one >>objects/log";
        assert_eq!(build(one, &[]), "one\n");
        assert_eq!(build(one, &[("fetch", "changed")]), "one\none\n");
        assert_eq!(
            build(
                "mkdir -p objects; echo two >>objects/log",
                &[("fetch", "changed")]
            ),
            "two\n"
        );
    }

    #[test]
    fn a_stage_that_is_not_there_changes_nothing() {
        let bench = Bench::new();
        let (built, _) = bench.build(BuildStart::Stage("z".into()), &[step("a", "true")], &[]);
        assert!(matches!(built, Err(StartError::Stage(_))));
        assert!(!sys::exists(bench.directory().path()));
    }

    #[test]
    fn figures_of_a_build_are_not_recorded_for_a_later_one() {
        let bench = Bench::new();
        let counts = "echo '{\"ccache\": {\"hits\": 12, \"misses\": 3}}' >figures.json";
        let built = |steps: &[Step]| {
            bench
                .build(BuildStart::Fresh, steps, &[])
                .0
                .unwrap()
                .record
                .figures
        };
        let counted = built(&[step("count", counts), step("fail", "false")]);
        assert_eq!(
            (counted["ccache"]["hits"], counted["ccache"]["misses"]),
            (12, 3),
            "of a failure too"
        );
        assert!(built(&[step("other", "true")]).is_empty());
    }

    #[test]
    fn what_was_used_and_measured_is_recorded() {
        let facts = "echo '{\"torch\": \"1.13.1\", \"hip\": null}' >used.json";
        let (built, _) = Bench::new().build(BuildStart::Fresh, &[step("record", facts)], &[]);
        let record = built.unwrap().record;
        assert_eq!(record.used["torch"].as_deref(), Some("1.13.1"));
        assert_eq!(record.used["hip"], None);
        assert!(record.disk_before_bytes.is_some() && record.disk_after_bytes.is_some());
    }

    #[test]
    fn a_daemon_that_left_its_group_ends_with_the_build() {
        let bench = Bench::new();
        let (built, _) = bench.build(
            BuildStart::Fresh,
            &[step("a", "setsid sleep 60 >/dev/null 2>&1 & echo $! >id")],
            &[],
        );
        assert!(matches!(built.unwrap().end, StagesOutcome::Done));
        let id = sys::read_text(&bench.directory().path().join("id"), 99).unwrap();
        assert!(!sys::process::is_running(id.trim().parse().unwrap()));
    }

    #[test]
    fn a_record_that_cannot_be_read_begins_anew() {
        let bench = Bench::new();
        sys::write_atomic(&bench.directory().record(), b"{").unwrap();
        let (built, ran) = bench.build(BuildStart::Auto, &[step("a", "true")], &[]);
        assert!(built.unwrap().unreadable.is_some());
        assert_eq!(ran, ["a"]);
    }
}
