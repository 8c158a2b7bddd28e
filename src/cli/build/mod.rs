//! `build`: runs the recipes of jobs and checks the wheels.

mod containment;
mod finish;
mod options;
mod points;
mod prepare;
mod progress;
mod recipe_facts;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::error::ErrorKind;
use itertools::Itertools as _;

use super::command_line::repeated;
use super::jobs::{EngineChoice, Ready, named};
use super::{Exit, Shell, load, misused};
use crate::cli::completed_value::{self, CompletedValue};
use crate::codes::build as codes;
use crate::compat::Compat;
use crate::compat::rows::KnownFailureRow;
use crate::diagnostic::render::redact_urls;
use crate::diagnostic::{Diagnostic, Sink};
use crate::doctor;
use crate::exec::{self, BuildEnd, MessageContext, ProcessRunner, StartError};
use crate::host::HostFacts;
use crate::recipe::measurements::BuildMeasurements;
use crate::render::actions::table;
use crate::sys::{self, HostRoots, Signals};
use options::AUTO;
pub(super) use options::JobOptions;
use prepare::Prepared;
use progress::Progress;

/// The default output directory.
pub(super) const DEFAULT_OUT: &str = "dist";

#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Examples:
  rock-matrix build JOB           build one job on this machine
  rock-matrix build JOB --resume  resume it after a failure, a time limit or Ctrl-C",
    after_long_help = "\
Each job is built in its own directory .rock/JOB, which contains the sources, the log and
build.json. Resume an unfinished build with --resume. Steps run with the rights of the calling user,
and stdin is closed.

Exit codes: 0 built, 1 the wheel was rejected or the input is invalid, 3 the machine or the engine
failed, 4 a stage failed, 124 the limit of --cap was reached, 130 and 143 stopped by a signal.

Examples:
  rock-matrix build JOB                  build one job on this machine
  rock-matrix build JOB --engine docker  build it in the image of the plan
  rock-matrix build flash_attn-2.7.4.post1+rocm62torch2.5triton-py3-none-any.whl \\
      --matrix matrices/flash-attn.yaml
  rock-matrix build JOB --dry-run        show every step
  rock-matrix build --recipe flash-attn --set flash-attn=2.7.4.post1 --set python=3.12 \\
      --set torch=2.5.1 --set rocm=6.2 --set backend=triton    build without a matrix file
  rock-matrix build JOB --resume         resume after a failure, a time limit or Ctrl-C
  rock-matrix build --all --plan plan.json --cap 330 --started-at 1750000000"
)]
pub(super) struct Args {
    #[command(flatten)]
    options: JobOptions,
    /// Build with this recipe and the values of --set, without a matrix file
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with_all = ["words", "all", "job_env", "matrix", "plan"],
        value_parser = CompletedValue(completed_value::recipes),
        hide_possible_values = true,
        help_heading = "Selection"
    )]
    recipe: Option<String>,
    /// With --recipe: set an axis, a variable or a key, such as `python=3.12`
    ///
    /// Sets an axis, a variable of the recipe, or a key of matrix files. Can be repeated, also to
    /// give an axis several values.
    #[arg(
        long,
        value_name = "NAME=VALUE",
        requires = "recipe",
        value_parser = super::render::name_and_value,
        help_heading = "Selection"
    )]
    set: Vec<(String, String)>,
    /// Directory for the built wheels
    #[arg(
        short,
        long,
        value_name = "DIR",
        default_value = DEFAULT_OUT,
        help_heading = "Output"
    )]
    out: PathBuf,
}

/// The jobs of `build` or `test`, and the action for them.
#[derive(Debug)]
pub(super) struct BuildRequest<'a> {
    /// The command, for errors.
    command: &'static str,
    options: &'a JobOptions,
    engine: EngineChoice,
    /// The recipe to build with, without a matrix file.
    recipe: Option<&'a str>,
    /// Values of axes, variables and keys for `recipe`.
    set: &'a [(String, String)],
    /// The directory for the built wheels.
    out: &'a Path,
    /// The directory of the wheels to test; `None` builds them.
    test: Option<&'a Path>,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let request = BuildRequest {
        command: "build",
        options: &args.options,
        engine: engine(&args.options, shell),
        recipe: args.recipe.as_deref(),
        set: &args.set,
        out: &args.out,
        test: None,
    };
    run_jobs(&request, shell)
}

/// Tests the wheels of jobs in a directory.
pub(super) fn test(options: &JobOptions, directory: &Path, shell: &Shell) -> Exit {
    // Another stage would end the record of the build that `build --resume` needs.
    if options.resume().is_some_and(|stage| stage != AUTO) {
        let text = "`test` resumes at its own stage: write `--resume` without a stage";
        return misused(&["test"], ErrorKind::InvalidValue, text);
    }
    let request = BuildRequest {
        command: "test",
        options,
        engine: engine(options, shell),
        recipe: None,
        set: &[],
        out: directory,
        test: Some(directory),
    };
    run_jobs(&request, shell)
}

/// Returns the engine that an option, an environment variable or the project file selects.
fn engine(options: &JobOptions, shell: &Shell) -> EngineChoice {
    options
        .engine
        .or(shell.project_file.engine)
        .unwrap_or(EngineChoice::Local)
}

/// Builds or tests the jobs of a request.
fn run_jobs(args: &BuildRequest<'_>, shell: &Shell) -> Exit {
    if args.engine == EngineChoice::Local
        && (args.options.image.is_some() || !args.options.docker_arg.is_empty())
    {
        let text = "`--image` and `--docker-arg` need a container; add `--engine docker` or `--engine podman`";
        return misused(&[args.command], ErrorKind::ArgumentConflict, text);
    }
    let mut sink = Sink::new();
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let ready = match gather(args, shell, compat, &mut sink) {
        Ok(ready) => ready,
        Err(exit) => {
            shell.report(&sink.finish());
            return exit;
        }
    };
    super::jobs::check_given(
        &ready,
        &args.options.docker_arg,
        ("--fact", &args.options.fact),
        &mut sink,
    );
    if sink.has_errors() {
        return shell.report(&sink.finish());
    }
    let facts = sys::read_host_facts(&HostRoots::default(), &shell.environment, &[]);
    let mut jobs = Vec::new();
    for one in &ready {
        match prepare::prepare(one, args, shell, compat, &facts) {
            Ok(prepared) => {
                sink.extend(prepared.build.warnings.iter().cloned());
                jobs.push(prepared);
            }
            Err(faults) => sink.extend(faults),
        }
    }
    if shell.report(&sink.finish()) != Exit::Done {
        return Exit::Fault;
    }
    if args.options.dry_run {
        if let Some(exit) = jobs.iter().find_map(|job| job.cannot_go_on(args, shell)) {
            return exit;
        }
        let exit = shell.print(&redact_urls(
            &jobs.iter().map(|job| job.dry_run(args)).collect::<String>(),
        ));
        for job in &jobs {
            points::tell(job, args, shell);
        }
        return exit;
    }
    let is_ready = match args.test {
        Some(_) => Ok(()),
        None => sys::ensure_writable(args.out),
    };
    match is_ready {
        Ok(()) => {
            let mut measured = Vec::new();
            let exit = build_all(&jobs, args, shell, &facts, &mut measured);
            if !measured.is_empty() {
                shell.summarise_if_it_can_be(|room| {
                    table(BuildMeasurements::TABLE_HEAD, measured, "build", room)
                });
            }
            exit
        }
        Err(error) => {
            shell.report(&[Diagnostic::from(&exec::CollectError::File(error))]);
            Exit::Machine
        }
    }
}

/// Returns the jobs that the command line selects.
fn gather(
    args: &BuildRequest<'_>,
    shell: &Shell,
    compat: &Compat,
    sink: &mut Sink,
) -> Result<Vec<Ready>, Exit> {
    if let Some(recipe) = args.recipe {
        return super::jobs::of_recipe(shell, compat, recipe, args.set, sink);
    }
    let files = args
        .options
        .matrix
        .iter()
        .chain(&args.options.plan)
        .map(|path| path.display().to_string());
    let leg = args
        .options
        .job_env
        .as_deref()
        .map(|name| super::jobs::leg_id(name, shell))
        .transpose();
    let leg = leg.map_err(|fault| {
        sink.push(fault);
        Exit::Fault
    })?;
    let words: Vec<String> = args
        .options
        .words
        .iter()
        .cloned()
        .chain(leg)
        .chain(files)
        .collect();
    let found = named(shell, compat, &words, sink)?;
    match (args.options.all, found.by_name) {
        (true, true) => Err(misused(
            &[args.command],
            ErrorKind::ArgumentConflict,
            "`--all` selects all jobs, so name none",
        )),
        (false, false) => Err(misused(
            &[args.command],
            ErrorKind::MissingRequiredArgument,
            &format!(
                "{}, or select all with `--all`",
                super::jobs::one_of(found.jobs.iter().map(|ready| ready.job.id.as_str()))
            ),
        )),
        _ => Ok(found.jobs),
    }
}

/// Builds one job after the other and returns the worst exit code. A signal or the cap ends the
/// run. Each build adds a row of measurements.
fn build_all(
    jobs: &[Prepared],
    args: &BuildRequest<'_>,
    shell: &Shell,
    facts: &HostFacts,
    measured: &mut Vec<String>,
) -> Exit {
    let signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => {
            shell.report(&[exec::no_signals(&error)]);
            return Exit::Machine;
        }
    };
    let mut runner = ProcessRunner::new(Duration::from_secs(args.options.grace));
    let (mut worst, mut failed) = (Exit::Done, Vec::new());
    for (number, job) in jobs.iter().enumerate() {
        if jobs.len() > 1 {
            shell.say(&format!(
                "job {} of {}: {}",
                number + 1,
                jobs.len(),
                job.job.id
            ));
        }
        let exit = build_one(job, args, shell, facts, &signals, &mut runner, measured);
        if matches!(exit, Exit::Interrupted | Exit::Terminated | Exit::Capped) {
            return exit;
        }
        if exit != Exit::Done {
            failed.push(job.job.id.as_str());
            worst = if exit.code() > worst.code() {
                exit
            } else {
                worst
            };
        }
    }
    if jobs.len() > 1 && !failed.is_empty() {
        let message = format!("{} of {} builds failed", failed.len(), jobs.len());
        let told = Diagnostic::new(&codes::BUILDS_FAILED, message)
            .note(format!("the failed jobs are {}", failed.join(", ")));
        shell.report(&[told.help(format!(
            "fix the causes, then run `{}`",
            prepare::resume(shell)
        ))]);
    }
    worst
}

/// Adds the known failures that match a failed step: its name, command, variables and output.
fn with_known_failures(
    told: Diagnostic,
    job: &Prepared,
    end: &BuildEnd,
    shell: &Shell,
) -> Diagnostic {
    let BuildEnd::Failed(fault) = end else {
        return told;
    };
    let Ok(compat) = load::compat(shell) else {
        return told;
    };
    let step = job
        .build
        .steps
        .iter()
        .find(|step| step.stage == fault.stage);
    let variables = step
        .iter()
        .flat_map(|step| &step.env)
        .map(|(name, value)| format!("{name}={value}"));
    let mut said = vec![fault.stage.clone(), fault.command.clone()];
    said.extend(
        variables.chain(
            fault
                .output
                .errors
                .iter()
                .chain(&fault.output.tail)
                .cloned(),
        ),
    );
    let known = doctor::known_failures(compat, &said.join("\n"));
    let reason = |row: &KnownFailureRow| {
        let source = compat.cite("run-time.yaml", &row.failure, &row.origin);
        format!("known problem: {} ({source})", row.reason)
    };
    let help = known
        .iter()
        .map(|row| row.help.as_str())
        .unique()
        .join("; ");
    let told = known.iter().fold(told, |told, row| told.note(reason(row)));
    if help.is_empty() {
        told
    } else {
        told.help(format!("{help}, then run `{}`", prepare::resume(shell)))
    }
}

fn build_one(
    job: &Prepared,
    args: &BuildRequest<'_>,
    shell: &Shell,
    facts: &HostFacts,
    signals: &Signals,
    runner: &mut ProcessRunner,
    measured: &mut Vec<String>,
) -> Exit {
    let wheels = match args
        .test
        .map(|dist| prepare::wheels_to_test(job, dist))
        .transpose()
    {
        Ok(wheels) => wheels.unwrap_or_default(),
        Err(fault) => return shell.report(&[fault]),
    };
    points::tell(job, args, shell);
    let mut progress = Progress::new(shell);
    let surroundings = prepare::surroundings(shell, facts);
    let session = job.session(args, shell, wheels, &surroundings, signals);
    let built = exec::build(session, runner, &mut |event| progress.tell(event));
    progress.finish();
    let log = prepare::shown(job.folder.log().as_path(), shell);
    let (resume, dry_run) = (
        prepare::resume(shell),
        repeated(&shell.arguments, &["--format=", "--json"], &["--dry-run"]),
    );
    let context = MessageContext {
        log: &log,
        resume: &resume,
        dry_run: &dry_run,
    };
    let mut built = match built {
        Ok(built) => built,
        Err(StartError::Open(fault)) => {
            shell.report(&[Diagnostic::from(&fault)]);
            return Exit::Machine;
        }
        Err(StartError::Wheels(fault)) => {
            shell.report(&[Diagnostic::from(fault)]);
            return Exit::Machine;
        }
        Err(StartError::Engine(fault)) => {
            shell.report(&[fault.diagnostic(&context)]);
            return Exit::Machine;
        }
        Err(StartError::Stage(fault)) => {
            shell.report(&[job.unknown(&fault)]);
            return Exit::Usage;
        }
    };
    if let Some(reason) = &built.unreadable {
        let message = format!(
            "`{}` cannot be read: {reason}",
            prepare::shown(&job.folder.record(), shell)
        );
        shell.report(&[Diagnostic::new(&codes::BAD_BUILD_FILE, message)
            .help("no action is needed: the file is written again")]);
    }
    if let Some(told) = built.end.diagnostic(&context) {
        shell.report(&[with_known_failures(told, job, &built.end, shell)]);
    }
    for (name, counts) in &built.record.figures {
        let counts: Vec<String> = counts
            .iter()
            .map(|(word, count)| format!("{count} {word}"))
            .collect();
        shell.say(&format!("{name}: {}", counts.join(", ")));
    }
    let exit = match &built.end {
        BuildEnd::Done if args.test.is_some() => Exit::Done,
        BuildEnd::Done => finish::finish(job, &mut built, args, shell),
        BuildEnd::Failed(_) => Exit::Step,
        BuildEnd::Capped(_) => Exit::Capped,
        BuildEnd::Stopped(signal, _) => (*signal).into(),
        BuildEnd::Engine(_) | BuildEnd::File(_) => Exit::Machine,
    };
    measured.push(finish::measure(job, &built, exit, shell));
    if args.options.is_json() {
        let line = serde_json::to_string(&built.record).unwrap_or_default();
        shell.print(&redact_urls(&(line + "\n")));
    }
    if matches!(built.end, BuildEnd::Done) {
        shell.say(&format!("the log is {log}"));
    }
    // A signal received while the wheel was checked ends the run.
    signals.take().map_or(exit, Exit::from)
}
