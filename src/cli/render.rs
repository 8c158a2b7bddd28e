//! `render`: prints the commands, scripts and workflows of a plan without running them.

mod delivery;
mod options;
mod workflow;

use std::path::Path;

use clap::error::ErrorKind;

use super::engine::{check_container_options, selected_engine};
use super::jobs::{EngineChoice, check_job_options, select_jobs, select_jobs_of_group};
use super::{Exit, Format, Shell, load, misused, output_path};
use crate::diagnostic::Sink;
use crate::exec::{JobRenderer, RenderOptions};
use crate::plan::workspace::{JobSelection, is_stdin};
use crate::{render, sys};

use delivery::deliver;
pub(super) use delivery::{compare, write};
use options::Options;
pub(super) use options::name_and_value;
pub(super) use workflow::{sources, warn_of_outdated};

/// Name and version of this program in rendered files.
pub(super) const GENERATOR: &str = concat!("rock-matrix ", env!("CARGO_PKG_VERSION"));

#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_long_help = "\
Nothing is run and this machine is not inspected, so the same files give the same output everywhere.
Without a subcommand, shows everything that the builds of all selected jobs do.

Examples:
  rock-matrix render                                      show the plan and every build
  rock-matrix render script JOB                           print a script for this machine
  rock-matrix render docker matrices/flash-attn.yaml JOB  print the container command of one job
  rock-matrix render script JOB --engine docker -o .rock/JOB/build.sh    write the script it runs
  rock-matrix render recipe --out rendered --check        check that the files are up to date
  rock-matrix render docker --format json                 print the commands of all jobs as JSON"
)]
pub(super) struct Args {
    #[command(subcommand)]
    kind: Option<Kind>,
    #[command(flatten)]
    options: Options,
}

#[derive(Debug, clap::Subcommand)]
enum Kind {
    /// Print the command that starts the container of a job
    #[command(after_long_help = "\
Examples:
  rock-matrix render docker JOB            print a command to paste
  rock-matrix render docker --format json  print the commands of all jobs as JSON")]
    Docker(Options),
    /// Print the script that builds a job, on this machine or in a container
    ///
    /// Scripts of several jobs are written with --out, one file for each job, or printed with
    /// --json.
    #[command(after_long_help = "\
Examples:
  rock-matrix render script JOB                  print a script for this machine
  rock-matrix render script JOB --engine docker  print the script for the job's container
  rock-matrix render script JOB --shell cmd      print a Windows job as a batch file
  rock-matrix render script --out rendered/      write a script for each job")]
    Script(Options),
    /// Print the steps of a job with all values filled in
    ///
    /// The output is YAML with the resolved stages, commands and variables of the build, and the
    /// files that it collects. It is not a recipe; `rock-matrix help recipes` explains the format
    /// of recipes.
    #[command(after_long_help = "\
Examples:
  rock-matrix render recipe JOB                      print the steps of one job
  rock-matrix render recipe --out rendered/ --check  check that the files are up to date")]
    Recipe(Options),
    /// Generate the GitHub workflow that plans, builds, attests and publishes
    Workflow(workflow::Args),
}

/// The rendered text of one job in the JSON output.
#[derive(serde::Serialize)]
struct Rendered<'a> {
    job: &'a str,
    wheel: &'a str,
    text: &'a str,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let mut sink = Sink::new();
    let exit = rendered(args, shell, &mut sink);
    let report_exit = shell.report(&sink.finish());
    match exit {
        Err(exit) | Ok(exit) if exit != Exit::Done => exit,
        _ => report_exit,
    }
}

fn rendered(args: &Args, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    let (options, kind, end, text): (&Options, &str, &str, Text) = match &args.kind {
        None => (&args.options, "dry-run", "txt", Text::DryRun),
        Some(Kind::Docker(options)) => (options, "docker", "docker.sh", Text::Docker),
        Some(Kind::Script(options)) => (options, "script", "sh", Text::Script),
        Some(Kind::Recipe(options)) => (options, "recipe", "yaml", Text::Recipe),
        Some(Kind::Workflow(args)) => return workflow::run(args, shell, sink),
    };
    let engine = selected_engine(options.engine, shell);
    if matches!(args.kind, Some(Kind::Docker(_))) {
        if options.engine == Some(EngineChoice::Local) {
            let text = "`--engine local` does not start a container; `render script --engine local` prints its script";
            return Err(misused(&["render"], ErrorKind::ArgumentConflict, text));
        }
    } else if engine == EngineChoice::Local {
        check_container_options("render", options.image.as_ref(), &options.docker_arg)?;
    }
    if options.shell.is_some() && !matches!(args.kind, Some(Kind::Script(_))) {
        return Err(misused(
            &["render"],
            ErrorKind::ArgumentConflict,
            "`--shell` applies only to `render script`",
        ));
    }
    let compat = load::compat(shell)?;
    let selection = match &args.kind {
        None => select_jobs_of_group(shell, compat, "render", &options.words, sink)?,
        Some(_) => select_jobs(shell, compat, &options.words, sink)?,
    };
    let is_json = options.json || options.format == Format::Json;
    let file = output_path::document_file(options.out.as_deref(), options.check);
    if matches!(text, Text::Script) && file.is_none() && !is_json {
        check_single_script(&selection)?;
    }
    let read = selection
        .jobs()
        .iter()
        .map(|ready| Path::new(&ready.job.settings.matrix));
    load::refuse_overwriting_input(
        shell,
        options.out.as_deref(),
        read.chain(options.words.iter().map(Path::new)),
    )?;
    check_job_options(selection.jobs(), &options.docker_arg, &options.set, sink);
    if sink.has_errors() {
        return Err(Exit::Fault);
    }
    let files: Vec<String> = options
        .words
        .iter()
        .filter(|word| is_stdin(Path::new(word)) || sys::is_file(Path::new(word)))
        .cloned()
        .collect();
    let data_options = load::data_options(shell);
    let render_options = RenderOptions {
        engine: engine.container(),
        requires_container: options.engine.and_then(EngineChoice::container).is_some(),
        image: options.image.as_deref(),
        docker_args: &options.docker_arg,
        facts: &options.set,
        shell: options.shell.map(Into::into),
        files: &files,
        data_options: &data_options,
        current_dir: &shell.environment.current_dir,
        generator: GENERATOR,
    };
    let mut texts = Vec::new();
    for ready in selection.jobs() {
        let renderer = JobRenderer {
            job: &ready.job,
            recipe: &ready.recipe,
            compat,
            options: &render_options,
        };
        let made = renderer.check().and_then(|()| match text {
            Text::DryRun => renderer.dry_run(sink),
            Text::Docker => renderer.docker(sink),
            Text::Script => renderer.script(sink),
            Text::Recipe => renderer.recipe(sink),
        });
        let end = if matches!(text, Text::Script) {
            renderer.shell().extension()
        } else {
            end
        };
        match made {
            Ok(text) => texts.push((&ready.job, end, text)),
            Err(faults) => sink.extend(faults),
        }
    }
    if sink.has_errors() {
        return Err(Exit::Fault);
    }
    if is_json {
        let texts: Vec<Rendered<'_>> = texts
            .iter()
            .map(|(job, _, text)| Rendered {
                job: &job.id,
                wheel: &job.wheel,
                text,
            })
            .collect();
        return Ok(shell.print_data(&format!(
            "{}\n",
            serde_json::json!({"version": 1, "kind": kind, "jobs": texts})
        )));
    }
    let texts: Vec<_> = texts
        .into_iter()
        .map(|(job, end, text)| (format!("{}.{end}", job.id), text))
        .collect();
    if args.kind.is_none() {
        let text =
            summary(&selection) + &texts.into_iter().map(|(_, text)| text).collect::<String>();
        return Ok(deliver(
            vec![("render.txt".to_owned(), text)],
            true,
            options,
            shell,
        ));
    }
    Ok(deliver(texts, selection.jobs().len() == 1, options, shell))
}

/// Refuses to print the scripts of several jobs one after the other.
///
/// # Errors
/// The exit code of the command, after reporting the error.
fn check_single_script(selection: &JobSelection) -> Result<(), Exit> {
    let count = selection.jobs().len();
    if count < 2 {
        return Ok(());
    }
    let text = format!(
        "{count} jobs are selected, and a script builds one: {}, or write one script for each job \
         with `--out DIR`",
        selection.names_hint()
    );
    Err(misused(
        &["render", "script"],
        ErrorKind::MissingRequiredArgument,
        &text,
    ))
}

/// Returns the plan that precedes the jobs of a dry run.
fn summary(selection: &JobSelection) -> String {
    selection
        .plan()
        .map(|plan| render::plan(plan, &[], render::PlanDetail::Summary))
        .unwrap_or_default()
}

/// The kind of text to print for each job.
#[derive(Debug, Clone, Copy)]
enum Text {
    DryRun,
    Docker,
    Script,
    Recipe,
}
