//! Builds of a toy recipe: what is planned, what runs, and which wheels are delivered.
#![expect(clippy::unwrap_used, reason = "tests")]
#![expect(
    clippy::redundant_closure_for_method_calls,
    reason = "the method itself is not general enough in its lifetime"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rock_audit::NoProgress;
use rock_compat::Compat;
use rock_diagnostic::{ExitClass, Sink, SourceText};
use rock_exec::{
    BuildContext, BuildEvent, BuildOptions, BuildOutcome, BuildReport, CallerEnv, PreparedBuild,
    ProcessRunner, ResumePoint, ResumeRequest,
};
use rock_host::HostFacts;
use rock_plan::config::recipe::{self, RecipeDocument, RecipeSet};
use rock_plan::config::{self, Lookups, Platform};
use rock_plan::{Job, JobView, PlanInputs};
use rock_sys::{self as sys, Environment, Signals};

const WHEEL: &str = "toy-1.0+rocm62-cp311-cp311-linux_x86_64.whl";
const ID: &str = "toy-1.0-rocm6.2-py3.11";

/// A job, its recipe and the directory that it is built in.
struct Toy {
    job: Job,
    recipe: Arc<RecipeDocument>,
    compat: Compat,
    directory: tempfile::TempDir,
}

impl Toy {
    /// Plans a job whose stage `build` is this script; `gates` are checks of its wheel.
    fn new(script: &str, gates: &str) -> Self {
        // `true` stands in for Python, which would install and import the wheel.
        let recipe = format!(
            "recipe: 1\nname: toy\ndistribution: toy\nvars: {{python: 'true'}}\nsteps:\n  - stage: prepare\n    argv: [bash, -c, 'echo {{}} >used.json']\n  - stage: build\n    argv:\n      - bash\n      - -c\n      - |\n        {script}\npoints:\n  wheel: [build]\ncollect:\n  wheels: 'dist/*.whl'\n  gates: [{gates}]\n"
        );
        let matrix = "version: 1\ndistribution: toy\nrecipe: toy\naxes:\n  toy: ['1.0']\n  python: ['3.11']\n  rocm: ['6.2']\ngfx: [gfx90a]\ntorch-from: host\npython-from: host\nrepair: off\n";
        let compat = Compat::embedded();
        let mut sink = Sink::new();
        let document = recipe::from_source(&SourceText::new("toy.yaml", recipe), &mut sink);
        let recipes = Arc::new(RecipeSet::with_shipped(document));
        let job = planned(matrix, &recipes, &compat, &mut sink);
        Self {
            job: job.unwrap_or_else(|| panic!("{:?}", sink.finish())),
            recipe: recipes.known("toy").unwrap(),
            compat,
            directory: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.directory.path().join(path)
    }

    /// Prepares the build in a directory and passes it on.
    fn prepare<T>(&self, options: &BuildOptions, run: impl FnOnce(&PreparedBuild<'_>) -> T) -> T {
        let environment = Environment {
            current_dir: self.directory.path().to_owned(),
            ..Environment::snapshot()
        };
        let caller = CallerEnv {
            compat: &self.compat,
            environment: &environment,
            host: &HostFacts::default(),
        };
        run(&PreparedBuild::prepare(&self.job, &self.recipe, options, caller).unwrap())
    }

    fn options(&self) -> BuildOptions {
        BuildOptions {
            out: self.path("dist"),
            ..BuildOptions::default()
        }
    }
}

/// Plans the first job of a matrix file.
fn planned(
    matrix: &str,
    recipes: &Arc<RecipeSet>,
    compat: &Compat,
    sink: &mut Sink,
) -> Option<Job> {
    let lookups = Lookups::new(compat, Arc::clone(recipes));
    let config = config::read(&SourceText::new("m.yaml", matrix), &lookups, sink)?;
    let profile = recipes
        .known(&config.recipe)?
        .profile(&config.distribution.normalized());
    let inputs = PlanInputs::default();
    let plan = rock_plan::plan(vec![(config, profile)], compat, &inputs, sink)?;
    plan.jobs().map(JobView::to_job).next()
}

/// Runs a build; returns its report and the messages of its events.
fn run(build: &PreparedBuild<'_>) -> (BuildReport, Vec<String>) {
    let context = BuildContext {
        signals: &Signals::default(),
        resume_command: "build --resume",
        dry_run_command: "build --dry-run",
        progress: &NoProgress,
    };
    let mut messages = Vec::new();
    let report = build
        .run(
            context,
            &mut ProcessRunner::new(Duration::from_millis(200)),
            &mut |event| match event {
                BuildEvent::StagesEnded { diagnostics, .. } => {
                    messages.extend(diagnostics.iter().map(|one| one.message.clone()));
                }
                BuildEvent::Findings(findings) => {
                    messages.extend(findings.iter().map(|one| one.message.clone()));
                }
                _ => {}
            },
        )
        .unwrap();
    (report, messages)
}

fn exists(path: &Path) -> bool {
    sys::exists(path)
}

#[test]
fn a_built_wheel_is_delivered_with_its_record() {
    let toy = Toy::new(&format!("mkdir -p dist; echo wheel >dist/{WHEEL}"), "");
    let options = toy.options();
    let (report, messages) = toy.prepare(&options, run);
    assert_eq!(messages, [""; 0]);
    assert!(report.is_delivered && report.record_error.is_none());
    assert_eq!(report.record.outcome, BuildOutcome::Done);
    assert_eq!(report.outcome(), BuildOutcome::Done);
    assert_eq!(report.record.engine, "local");
    let wheel = report.record.wheels.first().unwrap();
    assert_eq!((wheel.name.as_str(), wheel.size_bytes), (WHEEL, 6));
    assert!(exists(&toy.path(&format!("dist/{WHEEL}"))));
    assert!(exists(&toy.path(&format!(
        "dist/{}.build.json",
        WHEEL.trim_end_matches(".whl")
    ))));
    drop(report);
    // Nothing is left to run, and the wheel is delivered again.
    let options = BuildOptions {
        resume: ResumeRequest::Auto,
        ..options
    };
    let (report, _) = toy.prepare(&options, run);
    assert!(report.is_delivered && report.skipped_stages > 1);
}

#[test]
fn a_wheel_that_fails_a_gate_is_not_delivered() {
    let toy = Toy::new(
        &format!("mkdir -p dist; echo wheel >dist/{WHEEL}"),
        "verify",
    );
    let (report, messages) = toy.prepare(&toy.options(), |build| {
        let (report, messages) = run(build);
        let (measurements, error) = build.write_measurements(&report, 1);
        assert!(error.is_none() && measurements.exit == 1);
        (report, messages)
    });
    assert!(!report.is_delivered);
    assert_eq!(report.record.outcome, BuildOutcome::Refused);
    assert_eq!(report.outcome(), BuildOutcome::Refused);
    let refusal = messages.last().unwrap();
    assert!(
        refusal.contains("did not pass the gate `verify`"),
        "{messages:?}"
    );
    assert!(!exists(&toy.path(&format!("dist/{WHEEL}"))));
    assert!(exists(&toy.path(&format!(".rock/{ID}/measured.json"))));
}

#[test]
fn a_failed_build_can_be_resumed_at_a_point_of_the_recipe() {
    let toy = Toy::new("exit 3", "");
    let options = toy.options();
    let (report, messages) = toy.prepare(&options, run);
    assert_eq!(report.record.outcome, BuildOutcome::Failed);
    assert_eq!(report.outcome(), BuildOutcome::Failed);
    assert_eq!(messages, ["stage `build` failed: exit status 3"]);
    drop(report);
    toy.prepare(&options, |build| {
        let [point]: [ResumePoint; 1] = build.resume_points().try_into().unwrap();
        assert_eq!(
            (point.name.as_str(), point.after.as_str()),
            ("wheel", "prepare")
        );
    });
    let at = |name: &str| BuildOptions {
        resume: ResumeRequest::At(name.to_owned()),
        ..options.clone()
    };
    toy.prepare(&at("wheel"), |build| build.check_start().unwrap());
    let errors = toy.prepare(&at("wheels"), |build| build.check_start().unwrap_err());
    assert_eq!(errors.exit_class(), ExitClass::Usage);
    assert_eq!(errors.to_string(), "the build has no stage `wheels`");
}

#[test]
fn a_dry_run_describes_the_steps_and_writes_nothing() {
    let toy = Toy::new("true", "");
    let options = BuildOptions {
        dry_run: true,
        ..toy.options()
    };
    let text = toy.prepare(&options, |build| build.describe());
    assert!(text.contains(&format!("== {ID}")), "{text}");
    assert!(text.contains("none: it builds on this machine"), "{text}");
    assert!(!exists(&toy.path(".rock")) && !exists(&options.out));
}

#[test]
fn jobs_are_prepared_together_and_report_all_errors() {
    let toy = Toy::new("true", "");
    let mut windows = toy.job.clone();
    windows.settings.platform = Platform::Windows;
    let environment = Environment {
        current_dir: toy.directory.path().to_owned(),
        ..Environment::snapshot()
    };
    let caller = CallerEnv {
        compat: &toy.compat,
        environment: &environment,
        host: &HostFacts::default(),
    };
    let options = toy.options();
    let prepare = |jobs: &[&Job]| {
        let jobs = jobs.iter().map(|job| (*job, &*toy.recipe));
        PreparedBuild::prepare_all(jobs, &options, caller, |job| format!("render {}", job.id))
            .map(|(builds, _)| builds.len())
    };
    assert_eq!(prepare(&[&toy.job, &toy.job]).unwrap(), 2);
    let errors = prepare(&[&windows, &toy.job, &windows]).unwrap_err();
    let helps: Vec<_> = errors
        .as_slice()
        .iter()
        .filter(|error| error.is_error())
        .map(|error| (error.code.name, error.help.clone().unwrap_or_default()))
        .collect();
    let expected = ("windows-job", format!("render {ID}"));
    assert_eq!(helps, [expected.clone(), expected]);
}
