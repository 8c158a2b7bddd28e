//! `build`: runs the recipes of jobs and checks what they made.

mod containment;
mod finish;
mod points;
mod prepare;
mod progress;
mod recipe_facts;

use std::path::PathBuf;
use std::time::Duration;

use clap::error::ErrorKind;
use itertools::Itertools as _;

use super::command_line::repeated;
use super::jobs::{EngineChoice, Ready, named};
use super::{Exit, Format, Shell, load, misused};
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
use prepare::Prepared;
use progress::Progress;

/// Where wheels go.
const DEFAULT_OUT: &str = "dist";

/// The longest time that a build may be given: a year.
const MOST_MINUTES: u64 = 365 * 24 * 60;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each job is built in its own folder .rock/JOB, which holds the sources, the log and build.json. A
build that was ended in any way goes on with --continue auto. Steps run with the rights of whoever
calls; stdin is closed.

Exit code: 0 built, 1 the wheel was refused or the input is at fault, 3 the machine or the engine is
at fault, 4 a stage failed, 124 capped, 130 and 143 stopped by a signal.

Examples:
  rock-matrix build JOB                  on this machine
  rock-matrix build JOB --engine docker  in the plan's image
  rock-matrix build flash_attn-2.7.4.post1+rocm62torch2.5triton-py3-none-any.whl \\
      --matrix matrices/flash-attn.yaml
  rock-matrix build JOB --dry-run        what would be run
  rock-matrix build --recipe flash-attn --set flash-attn=2.7.4.post1 --set python=3.12 \\
      --set torch=2.5.1 --set rocm=6.2 --set backend=triton    without a matrix file
  rock-matrix build JOB --continue auto  after a failure, the cap, or Ctrl-C
  rock-matrix build --all --plan plan.json --cap 330 --started-at 1750000000")]
pub(super) struct Args {
    /// Jobs by id, by expected wheel, or by how one id begins; matrix files may stand among them
    #[arg(value_name = "JOB", required_unless_present_any = ["all", "job_env", "recipe"])]
    words: Vec<String>,
    /// Build with this recipe and the values of --set, without a matrix file
    #[arg(long, value_name = "NAME", conflicts_with_all = ["words", "all", "job_env", "matrix", "plan"])]
    recipe: Option<String>,
    /// With --recipe: set an axis, a variable of the recipe, or a key of matrix files, such as
    /// `python=3.12`; repeat it for further values of an axis
    #[arg(long, value_name = "NAME=VALUE", requires = "recipe", value_parser = super::render::name_and_value)]
    set: Vec<(String, String)>,
    /// The job is that of the workflow's leg, as JSON in this environment variable
    #[arg(long, value_name = "NAME", conflicts_with = "all")]
    job_env: Option<String>,
    /// Build every job, one after the other
    #[arg(long)]
    all: bool,
    /// A matrix file; may be given several times [default: those of matrices/ that end in .yaml or
    /// .yml]
    #[arg(long, value_name = "FILE")]
    matrix: Vec<PathBuf>,
    /// A plan saved with `plan --format json`, instead of matrix files
    #[arg(long, value_name = "FILE", conflicts_with = "matrix")]
    plan: Option<PathBuf>,
    /// What runs the steps
    #[arg(long, value_enum, default_value = "local", help_heading = "Where")]
    engine: EngineChoice,
    /// The container image instead of the plan's
    #[arg(long, value_name = "REF", help_heading = "Where", value_parser = super::jobs::image_name)]
    image: Option<String>,
    /// One more argument of the container, after those of the matrix file
    #[arg(
        long,
        value_name = "ARG",
        allow_hyphen_values = true,
        help_heading = "Where"
    )]
    docker_arg: Vec<String>,
    /// The folder that wheels are copied to
    #[arg(long, value_name = "DIR", default_value = DEFAULT_OUT)]
    out: PathBuf,
    /// Build nothing: make ready, and test the job's wheel of this folder where `test.gpu` says
    #[arg(long, value_name = "DIR")]
    test: Option<PathBuf>,
    /// Print every step and touch nothing
    #[arg(long, conflicts_with = "format")]
    dry_run: bool,
    /// Go on with an earlier build: at this stage, or with `auto` at the first that changed or did
    /// not succeed
    #[arg(long = "continue", value_name = "STAGE|auto")]
    resume: Option<String>,
    /// What a fact of the recipe is, instead of asking for it
    #[arg(long, value_name = "NAME=VALUE", value_parser = super::render::name_and_value)]
    fact: Vec<(String, String)>,
    /// Minutes that a stage may take where the recipe sets no limit
    #[arg(long, value_name = "MIN", value_parser = clap::value_parser!(u64).range(1..=MOST_MINUTES), help_heading = "Time")]
    timeout: Option<u64>,
    /// Minutes after which the build ends with 124, so that its work can be saved
    #[arg(long, value_name = "MIN", value_parser = clap::value_parser!(u64).range(1..=MOST_MINUTES), help_heading = "Time")]
    cap: Option<u64>,
    /// When the surrounding job began, in seconds since 1970; the cap counts from there [default:
    /// now]
    #[arg(long, value_name = "SECONDS", requires = "cap", help_heading = "Time")]
    started_at: Option<u64>,
    /// Seconds that what is stopped gets between SIGTERM and SIGKILL; a second Ctrl-C waits for
    /// nothing
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(0..=3600), help_heading = "Time")]
    grace: u64,
    /// What to print: a line a wheel, or build.json as one line a job
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    format: Format,
    /// Where a runner says which GPU it has assigned; tests have such a folder of their own
    #[arg(long, value_name = "DIR", default_value = exec::PODINFO, hide = true)]
    podinfo_dir: PathBuf,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    if args.engine == EngineChoice::Local && (args.image.is_some() || !args.docker_arg.is_empty()) {
        let text = "`--image` and `--docker-arg` are about a container; add `--engine docker` or `--engine podman`";
        return misused("build", ErrorKind::ArgumentConflict, text);
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
    super::jobs::check_given(&ready, &args.docker_arg, &args.fact, &mut sink);
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
    if args.dry_run {
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
    match sys::ensure_writable(&args.out) {
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

/// The jobs named on the command line.
fn gather(
    args: &Args,
    shell: &Shell,
    compat: &Compat,
    sink: &mut Sink,
) -> Result<Vec<Ready>, Exit> {
    if let Some(recipe) = &args.recipe {
        return super::jobs::of_recipe(shell, compat, recipe, &args.set, sink);
    }
    let files = args
        .matrix
        .iter()
        .chain(&args.plan)
        .map(|path| path.display().to_string());
    let leg = args
        .job_env
        .as_deref()
        .map(|name| super::jobs::leg_id(name, shell))
        .transpose();
    let leg = leg.map_err(|fault| {
        sink.push(fault);
        Exit::Fault
    })?;
    let words: Vec<String> = args.words.iter().cloned().chain(leg).chain(files).collect();
    let found = named(shell, compat, &words, sink)?;
    match (args.all, found.by_name) {
        (true, true) => Err(misused(
            "build",
            ErrorKind::ArgumentConflict,
            "`--all` builds every job; name none beside it",
        )),
        (false, false) => Err(misused(
            "build",
            ErrorKind::MissingRequiredArgument,
            &format!(
                "{}, or build all with `--all`",
                super::jobs::one_of(found.jobs.iter().map(|ready| ready.job.id.as_str()))
            ),
        )),
        _ => Ok(found.jobs),
    }
}

/// Builds one job after the other; the worst exit counts. A signal or the cap ends all. Each adds a
/// row of what it took.
fn build_all(
    jobs: &[Prepared],
    args: &Args,
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
    let mut runner = ProcessRunner::new(Duration::from_secs(args.grace));
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
            .note(format!("they are {}", failed.join(", ")));
        shell.report(&[told.help(format!(
            "fix the causes, then run `{}`",
            prepare::resume(shell)
        ))]);
    }
    worst
}

/// Adds what the facts know of a failed step by its name, its command, its variables and its last
/// words.
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
        format!("this is known: {} ({source})", row.reason)
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
    args: &Args,
    shell: &Shell,
    facts: &HostFacts,
    signals: &Signals,
    runner: &mut ProcessRunner,
    measured: &mut Vec<String>,
) -> Exit {
    let wheels = match args
        .test
        .as_deref()
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
        repeated(&shell.arguments, &["--format="], &["--dry-run"]),
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
            .help("nothing is to be done: it is written anew")]);
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
    if args.format == Format::Json {
        let line = serde_json::to_string(&built.record).unwrap_or_default();
        shell.print(&redact_urls(&(line + "\n")));
    }
    if matches!(built.end, BuildEnd::Done) {
        shell.say(&format!("the log is {log}"));
    }
    // A signal that came while the wheel was checked ends what would follow.
    signals.take().map_or(exit, Exit::from)
}
