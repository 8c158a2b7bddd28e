//! `build`: builds jobs, and tests or delivers their wheels.

mod options;
mod outcome;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::error::ErrorKind;

use super::command_line::repeated;
use super::engine::{check_container_options, selected_engine};
use super::jobs::{EngineChoice, check_job_options, select_jobs, select_recipe_jobs};
use super::reporters::{BuildReporter, WheelReporter};
use super::wheel::fail;
use super::{Exit, Shell, load, misused, output_path};
use crate::cli::completed_value::{self, CompletedValue};
use crate::compat::Compat;
use crate::diagnostic::render::redact_urls;
use crate::diagnostic::{Severity, Sink};
use crate::exec::{
    self, BuildContext, BuildOptions, CallerEnv, PreparedBuild, ProcessRunner, ResumeRequest,
    StagesOutcome,
};
use crate::plan::workspace::JobSelection;
use crate::recipe::measurements::BuildMeasurements;
use crate::render::actions::table;
use crate::sys::{self, HostRoots, Signals};
use options::AUTO;
pub(super) use options::JobOptions;
use outcome::{describe, say_resume_points};

/// The default output directory.
pub(super) const DEFAULT_OUT: &str = "dist";

#[derive(Debug, clap::Args)]
#[command(
    override_usage = "rock-matrix build [OPTIONS] <JOB...|--all|--recipe <NAME>>",
    after_long_help = "\
Each job is built in its own directory .rock/JOB, which contains the sources, the log and
build.json. Resume an unfinished build with --resume. Steps run with the rights of the calling user,
and stdin is closed.

Exit codes: 0 built, 1 the wheel was rejected or the input is invalid, 3 the machine or the engine
failed, 4 a stage failed, 124 the limit of --cap was reached, 130 and 143 stopped by a signal.

Examples:
  rock-matrix build JOB                  build one job on this machine
  rock-matrix build JOB --resume         resume after a failure, a time limit or Ctrl-C
  rock-matrix build JOB --engine docker  build it in the image of the plan
  rock-matrix build WHEEL --matrix matrices/flash-attn.yaml
                                         build the job of a wheel that `plan` lists
  rock-matrix build JOB --dry-run        show every step
  rock-matrix build --recipe flash-attn --set flash-attn=2.7.4.post1 --set python=3.12 \\
      --set torch=2.5.1 --set rocm=6.2 --set backend=triton    build without a matrix file
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
        value_parser = output_path::several_files(),
        default_value = DEFAULT_OUT,
        help_heading = "Output"
    )]
    out: PathBuf,
}

/// The jobs of `build` or `test`, and the action for them.
#[derive(Debug)]
struct BuildRequest<'a> {
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
        engine: selected_engine(args.options.engine, shell),
        recipe: args.recipe.as_deref(),
        set: &args.set,
        out: &args.out,
        test: None,
    };
    request.run(shell)
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
        engine: selected_engine(options.engine, shell),
        recipe: None,
        set: &[],
        out: directory,
        test: Some(directory),
    };
    request.run(shell)
}

impl BuildRequest<'_> {
    /// Builds or tests the jobs.
    fn run(&self, shell: &Shell) -> Exit {
        self.build(shell).unwrap_or_else(|exit| exit)
    }

    fn build(&self, shell: &Shell) -> Result<Exit, Exit> {
        let (image, docker_args) = (self.options.image.as_ref(), &self.options.docker_arg);
        if self.engine == EngineChoice::Local {
            check_container_options(self.command, image, docker_args)?;
        }
        let mut sink = Sink::new();
        let compat = load::compat(shell)?;
        let selection = match self.select(shell, compat, &mut sink) {
            Ok(selection) => selection,
            Err(exit) => {
                shell.report(&sink.finish());
                return Err(exit);
            }
        };
        check_job_options(selection.jobs(), docker_args, &self.options.fact, &mut sink);
        if sink.has_errors() {
            return Err(shell.report(&sink.finish()));
        }
        let options = self.build_options();
        let facts = sys::read_host_facts(&HostRoots::default(), &shell.environment, &[]);
        let caller = CallerEnv {
            compat,
            environment: &shell.environment,
            host: &facts,
        };
        let jobs = selection.jobs().iter();
        let jobs = jobs.map(|ready| (&ready.job, &*ready.recipe));
        let prepared = PreparedBuild::prepare_all(jobs, &options, caller, |job| {
            selection.windows_help(&job.id)
        });
        let prepared = load::collected(prepared, &mut sink);
        shell.report(&sink.finish());
        // Whatever its cause, a job that cannot be built is an error of the input.
        let builds = prepared.map_err(|_| Exit::Fault)?;
        if self.options.dry_run {
            return Ok(describe(&builds, self.options.is_json(), shell));
        }
        if self.test.is_none() {
            exec::check_output(self.out).map_err(|errors| fail(shell, &errors))?;
        }
        let mut measured = Vec::new();
        let exit = self.build_all(&builds, shell, &mut measured);
        if !measured.is_empty() {
            shell.summarise_if_it_can_be(|room| {
                table(BuildMeasurements::TABLE_HEAD, measured, "build", room)
            });
        }
        Ok(exit)
    }

    /// Returns the options of the builds.
    fn build_options(&self) -> BuildOptions {
        let options = self.options;
        BuildOptions {
            engine: self.engine.container(),
            image: options.image.clone(),
            engine_args: options.docker_arg.clone(),
            facts: options.fact.iter().cloned().collect(),
            resume: match options.resume() {
                None => ResumeRequest::Fresh,
                Some(AUTO) => ResumeRequest::Auto,
                Some(name) => ResumeRequest::At(name.to_owned()),
            },
            dry_run: options.dry_run,
            cap_s: options.cap.map(|minutes| minutes * 60),
            cap_starts_at_s: options.started_at,
            stage_timeout_s: options.timeout.map(|minutes| minutes * 60),
            out: self.out.to_owned(),
            test: self.test.map(Path::to_owned),
            podinfo: options.podinfo_dir.clone(),
        }
    }

    /// Returns the jobs that the command line selects.
    fn select(
        &self,
        shell: &Shell,
        compat: &Compat,
        sink: &mut Sink,
    ) -> Result<JobSelection, Exit> {
        if let Some(recipe) = self.recipe {
            return select_recipe_jobs(shell, compat, recipe, self.set, sink);
        }
        let leg = self
            .options
            .job_env
            .as_deref()
            .map(|name| super::jobs::leg_id(name, shell))
            .transpose();
        let leg = leg.map_err(|error| {
            sink.push(error);
            Exit::Fault
        })?;
        let words: Vec<String> = self
            .options
            .words
            .iter()
            .cloned()
            .chain(leg)
            .chain(self.options.files())
            .collect();
        let selection = select_jobs(shell, compat, &words, sink)?;
        match (self.options.all, selection.is_by_name()) {
            (true, true) => Err(misused(
                &[self.command],
                ErrorKind::ArgumentConflict,
                "`--all` selects all jobs, so name none",
            )),
            (false, false) => Err(misused(
                &[self.command],
                ErrorKind::MissingRequiredArgument,
                &format!("{}, or select all with `--all`", selection.names_hint()),
            )),
            _ => Ok(selection),
        }
    }

    /// Builds one job after the other and returns the worst exit code. A signal or the cap ends the
    /// run. Each build adds a row of measurements.
    fn build_all(
        &self,
        builds: &[PreparedBuild<'_>],
        shell: &Shell,
        measured: &mut Vec<String>,
    ) -> Exit {
        let signals = match Signals::listen() {
            Ok(signals) => signals,
            Err(error) => {
                shell.report(&[exec::no_signals(&error)]);
                return Exit::Machine;
            }
        };
        let mut runner = ProcessRunner::new(Duration::from_secs(self.options.grace));
        let (mut worst, mut failed) = (Exit::Done, Vec::new());
        for (number, build) in builds.iter().enumerate() {
            if builds.len() > 1 {
                shell.say(&format!(
                    "job {} of {}: {}",
                    number + 1,
                    builds.len(),
                    build.job_id()
                ));
            }
            let exit = self.build_one(build, shell, &signals, &mut runner, measured);
            if matches!(exit, Exit::Interrupted | Exit::Terminated | Exit::Capped) {
                return exit;
            }
            if exit != Exit::Done {
                failed.push(build.job_id());
                worst = if exit.code() > worst.code() {
                    exit
                } else {
                    worst
                };
            }
        }
        if let Some(error) =
            exec::failed_builds_error(&failed, builds.len(), &resume_command(shell))
        {
            shell.report(&[error]);
        }
        worst
    }

    fn build_one(
        &self,
        build: &PreparedBuild<'_>,
        shell: &Shell,
        signals: &Signals,
        runner: &mut ProcessRunner,
        measured: &mut Vec<String>,
    ) -> Exit {
        say_resume_points(build, shell);
        let mut reporter = BuildReporter::new(shell);
        let context = BuildContext {
            signals,
            resume_command: &resume_command(shell),
            dry_run_command: &repeated(&shell.arguments, &["--format=", "--json"], &["--dry-run"]),
            progress: &WheelReporter::new(shell),
        };
        let result = build.run(context, runner, &mut |event| reporter.report(event));
        reporter.finish();
        let report = match result {
            Ok(report) => report,
            Err(errors) => return fail(shell, &errors),
        };
        let exit = self.print_result(&report, shell);
        let (measurements, error) = build.write_measurements(&report, exit.code());
        if let Some(error) = error {
            shell.report(&[error.severity(Severity::Warning)]);
        }
        measured.push(measurements.row());
        if self.options.is_json() {
            let line = serde_json::to_string(&report.record).unwrap_or_default();
            shell.print(&redact_urls(&(line + "\n")));
        }
        if exit == Exit::Done {
            for wheel in build.tested_wheels() {
                shell.say(&format!("passed: {wheel}"));
            }
        }
        if matches!(report.end, StagesOutcome::Done) {
            shell.say(&format!("the log is {}", build.log()));
        }
        // A signal received while the wheel was checked ends the run.
        signals.take().map_or(exit, Exit::from)
    }
}

/// Returns the command line that resumes the builds of this run.
fn resume_command(shell: &Shell) -> String {
    repeated(
        &shell.arguments,
        &[
            "--continue=",
            "--resume[=]",
            "--dry-run",
            "-n",
            "--started-at=",
        ],
        &["--resume"],
    )
}
