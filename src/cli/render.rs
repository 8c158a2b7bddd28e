//! `render`: prints the commands, scripts and workflows of a plan without running them.

mod options;
mod workflow;

use std::collections::BTreeMap;
use std::path::{Component, Path};

use clap::error::ErrorKind;

use super::engine::{check_container_options, selected_engine};
use super::jobs::{EngineChoice, check_job_options, select_jobs, select_jobs_of_group};
use super::limits::MAX_FILE_BYTES;
use super::{Exit, Format, Shell, load, misused};
use crate::codes::{build as codes, host};
use crate::compat::Compat;
use crate::config::Platform;
use crate::diagnostic::render::visible;
use crate::diagnostic::{Diagnostic, Sink};
use crate::exec::{self, ROOT, SOURCE_DATE, ignore_directory};
use crate::plan::workspace::{JobSelection, ReadyJob, is_stdin};
use crate::recipe::container::{self, ContainerRun, DeviceAccess, EngineProgram, PROXY_VARIABLES};
use crate::recipe::{self, Build, BuildSite, shell_variable};
use crate::render::WindowsShell;
use crate::{render, sys};

pub(super) use options::name_and_value;
use options::{Options, ScriptShell};
pub(super) use workflow::sources;

/// Name and version of this program in rendered files.
pub(super) const GENERATOR: &str = concat!("rock-matrix ", env!("CARGO_PKG_VERSION"));

#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  rock-matrix render JOB         show everything that a build of the job does
  rock-matrix render script JOB  print only its script",
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
    #[command(after_help = "\
Examples:
  rock-matrix render docker JOB            print a command to paste
  rock-matrix render docker --format json  print the commands of all jobs as JSON")]
    Docker(Options),
    /// Print the script that builds a job, on this machine or in a container
    ///
    /// Scripts of several jobs are written with --out, one file for each job, or printed with
    /// --json.
    #[command(
        after_help = "\
Examples:
  rock-matrix render script JOB                  print a script for this machine
  rock-matrix render script JOB --engine docker  print the script for the job's container",
        after_long_help = "\
Examples:
  rock-matrix render script JOB                  print a script for this machine
  rock-matrix render script JOB --engine docker  print the script for the job's container
  rock-matrix render script JOB --shell cmd      print a Windows job as a batch file
  rock-matrix render script --out rendered/      write a script for each job"
    )]
    Script(Options),
    /// Print the steps of a job with all values filled in
    ///
    /// The output is YAML with the resolved stages, commands and variables of the build, and the
    /// files that it collects. It is not a recipe; `rock-matrix help recipes` explains the format
    /// of recipes.
    #[command(after_help = "\
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
    let reported = shell.report(&sink.finish());
    match exit {
        Err(exit) | Ok(exit) if exit != Exit::Done => exit,
        _ => reported,
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
    if matches!(text, Text::Script) && options.out.is_none() && !is_json {
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
    let mut texts = Vec::new();
    for ready in selection.jobs() {
        let maker = Maker {
            ready,
            options,
            engine,
            compat,
            shell,
        };
        let made = maker.fits().and_then(|()| match text {
            Text::DryRun => maker.dry_run(sink),
            Text::Docker => maker.docker(sink),
            Text::Script => maker.script(sink),
            Text::Recipe => maker.recipe(sink),
        });
        let end = if matches!(text, Text::Script) {
            maker.shell().extension()
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

/// Renders the text of one job.
struct Maker<'a> {
    ready: &'a ReadyJob,
    options: &'a Options,
    engine: EngineChoice,
    compat: &'a Compat,
    shell: &'a Shell,
}

impl Maker<'_> {
    /// Returns the shell of the job's script.
    fn shell(&self) -> ScriptShell {
        self.options
            .shell
            .unwrap_or(match self.ready.job.settings.platform {
                Platform::Linux => ScriptShell::Sh,
                Platform::Windows => ScriptShell::Powershell,
            })
    }

    /// Rejects options that the platform of the job does not support: containers on Windows, and
    /// the shells of the other platform.
    fn fits(&self) -> Result<(), Vec<Diagnostic>> {
        let job = &self.ready.job;
        let is_windows = job.settings.platform == Platform::Windows;
        let in_container = self
            .options
            .engine
            .is_some_and(|engine| engine.container().is_some());
        let told = |message: &str, help: &str| {
            let fault = Diagnostic::new(&codes::WINDOWS_JOB, format!("job `{}` {message}", job.id));
            Err(vec![fault.help(help.to_owned())])
        };
        if is_windows
            && (in_container || self.options.image.is_some() || !self.options.docker_arg.is_empty())
        {
            return told(
                "is for Windows, where builds do not use containers",
                "leave out the container options",
            );
        }
        if is_windows != (self.shell() != ScriptShell::Sh) {
            if is_windows {
                return told(
                    "is for Windows",
                    "use `--shell powershell` or `--shell cmd`",
                );
            }
            return told(
                "is for Linux",
                "leave out `--shell`: its script is for bash",
            );
        }
        Ok(())
    }

    /// Returns where the steps run. Builds for Windows do not use containers.
    fn site(&self) -> BuildSite {
        let is_windows = self.ready.job.settings.platform == Platform::Windows;
        match self.engine.container() {
            Some(_) if !is_windows => BuildSite::Container,
            _ => BuildSite::Script,
        }
    }

    /// Returns the engine of a container command.
    fn container_engine(&self) -> EngineProgram {
        self.engine.container().unwrap_or(EngineProgram::Docker)
    }

    fn build(&self, site: &BuildSite, sink: &mut Sink) -> Result<Build, Vec<Diagnostic>> {
        let given: BTreeMap<String, String> = self.options.set.iter().cloned().collect();
        let mut build = recipe::build(
            &self.ready.job,
            &self.ready.recipe,
            self.compat,
            site,
            &given,
        )?;
        exec::exclude_matrix_directory(&mut build, site, &self.shell.environment.current_dir);
        sink.extend(std::mem::take(&mut build.warnings));
        Ok(build)
    }

    fn script(&self, sink: &mut Sink) -> Result<String, Vec<Diagnostic>> {
        let site = self.site();
        let build = self.build(&site, sink)?;
        let (job, shell) = (&self.ready.job, self.shell());
        let shell = match shell {
            ScriptShell::Sh => return Ok(render::script(job, &build, &site, GENERATOR)),
            ScriptShell::Powershell => WindowsShell::PowerShell,
            ScriptShell::Cmd => WindowsShell::Cmd,
        };
        let python = recipe::named(job, &self.ready.recipe);
        render::windows_script(job, &build, &python, shell, self.compat, GENERATOR).map_err(
            |fault| {
                let fault = Diagnostic::new(
                    &host::UNWRITABLE_VARIABLE,
                    format!("job `{}`: {fault}", job.id),
                );
                vec![fault.help("use `--shell powershell`, or another value")]
            },
        )
    }

    fn recipe(&self, sink: &mut Sink) -> Result<String, Vec<Diagnostic>> {
        Ok(render::recipe(
            &self.ready.job,
            &self.build(&self.site(), sink)?,
        ))
    }

    fn docker(&self, sink: &mut Sink) -> Result<String, Vec<Diagnostic>> {
        if self.ready.job.settings.platform == Platform::Windows {
            let message = format!(
                "job `{}` is for Windows, where builds do not use containers",
                self.ready.job.id
            );
            let fault = Diagnostic::new(&codes::WINDOWS_JOB, message);
            return Err(vec![fault.help("`render script` prints its build script")]);
        }
        let build = self.build(&BuildSite::Container, sink)?;
        let command = self.command(&build, sink).map_err(|fault| vec![fault])?;
        let job = &self.ready.job;
        let directory = format!("{ROOT}/{}", job.id);
        let written = render::command(&self.script_command(&directory));
        // The container does not have this program, so checkouts are made before it starts.
        let checkouts: Vec<String> = build
            .steps
            .iter()
            .filter(|step| step.host)
            .map(|step| render::command(&step.argv))
            .collect();
        let checkouts = match checkouts.as_slice() {
            [] => String::new(),
            all => {
                let directory = render::command(std::slice::from_ref(&directory));
                let all = visible(&all.join(" && "));
                format!(
                    "# Check out the sources first: \
                     (mkdir -p {directory} && cd {directory} && {all})\n"
                )
            }
        };
        let finishing = match recipe::finishing(job, build.relabel) {
            None => String::new(),
            Some(mut words) => {
                if recipe::is_repaired(job) {
                    words.extend([
                        "--sysroot".to_owned(),
                        format!("{directory}/{}", recipe::LIBRARIES_FOLDER),
                    ]);
                }
                words.extend(["--out", "dist"].map(str::to_owned));
                let words = format!("{} {directory}/{}", render::command(&words), build.wheels);
                format!("# Finish the wheel afterwards: {}\n", visible(&words))
            }
        };
        let (wheel, written) = (render::comment(&job.wheel), visible(&written));
        Ok(format!(
            "# {wheel}\n{checkouts}# Write the script that it runs: {written}\n{finishing}{command}"
        ))
    }

    /// Returns the command that writes the script of the container, with the options of this run.
    fn script_command(&self, directory: &str) -> Vec<String> {
        let path = |path: &Path| path.display().to_string();
        let mut words = vec!["rock-matrix".to_owned()];
        let directories = &self.shell.directories;
        let options = [
            ("--compat", directories.named_compat()),
            ("--recipes", directories.named_recipes()),
        ];
        words.extend(
            options
                .into_iter()
                .filter_map(|(name, directory)| Some([name.to_owned(), path(directory?)]))
                .flatten(),
        );
        words.extend(["render", "script"].map(str::to_owned));
        let files: Vec<String> = self
            .options
            .words
            .iter()
            .filter(|word| is_stdin(Path::new(word)) || sys::is_file(Path::new(word)))
            .cloned()
            .collect();
        let job = &self.ready.job;
        words.extend(if files.is_empty() {
            vec![job.settings.matrix.clone()]
        } else {
            files
        });
        words.push(job.id.clone());
        words.extend(["--engine", self.container_engine().program()].map(str::to_owned));
        words.extend(
            self.options
                .set
                .iter()
                .flat_map(|(name, value)| ["--set".to_owned(), format!("{name}={value}")]),
        );
        words.extend(["--out".to_owned(), format!("{directory}/build.sh")]);
        words
    }

    /// Returns the container command; its paths are relative to where it is run.
    fn command(&self, build: &Build, sink: &mut Sink) -> Result<String, Diagnostic> {
        let job = &self.ready.job;
        let (image, told) = container::image(job, self.options.image.as_deref())?;
        sink.extend(told);
        let here = shell_variable("PWD");
        // As in `build`. A variable that is unset where the command is run is unset in the
        // container too (docker(1), `--env`).
        let mut pass_env = container::passed_env(job, build);
        pass_env.extend(PROXY_VARIABLES.map(str::to_owned));
        pass_env.push(SOURCE_DATE.to_owned());
        let container = ContainerRun {
            engine: self.container_engine(),
            image,
            devices: DeviceAccess::Absent,
            folder: &format!("{here}/{}/{}", ROOT, job.id),
            caller: build.uses_caller.then_some(&here),
            assigned: None,
            device_gids: &[],
            pass_env: &pass_env,
            extra: &self.options.docker_arg,
            name: None,
        };
        Ok(render::docker(job, &container))
    }

    fn dry_run(&self, sink: &mut Sink) -> Result<String, Vec<Diagnostic>> {
        let site = self.site();
        let build = self.build(&site, sink)?;
        let job = &self.ready.job;
        if site != BuildSite::Container {
            let place = match job.settings.platform {
                Platform::Linux => "none: it builds on this machine",
                Platform::Windows => "none: it builds on a Windows machine",
            };
            return Ok(render::dry_run(job, &build, Err(place), 0));
        }
        let command = self.command(&build, sink).map_err(|fault| vec![fault])?;
        Ok(render::dry_run(job, &build, Ok(&command), 0))
    }
}

/// Prints the texts, writes them, or compares them with files. The text of a single job is written
/// to `--out` itself, unless that is a directory or ends with `/`.
fn deliver(texts: Vec<(String, String)>, alone: bool, options: &Options, shell: &Shell) -> Exit {
    let Some(out) = &options.out else {
        return shell.print_data(
            &texts
                .into_iter()
                .map(|(_, text)| text)
                .collect::<Vec<_>>()
                .join("\n"),
        );
    };
    let is_directory = out.as_os_str().to_string_lossy().ends_with('/')
        || (sys::exists(out) && !sys::is_file(out));
    let alone = alone && !is_directory;
    let mut exit = Exit::Done;
    for (name, text) in texts {
        let path = if alone { out.clone() } else { out.join(name) };
        let ended = if options.check {
            compare(shell, &path, &text)
        } else {
            write(shell, &path, &text)
        };
        let is_of_jobs = path.components().find(|part| *part != Component::CurDir)
            == Some(Component::Normal(ROOT.as_ref()));
        if is_of_jobs
            && ended == Exit::Done
            && let Err(error) = ignore_directory(Path::new(ROOT))
        {
            shell.report(&[error.into()]);
            return Exit::Machine;
        }
        if ended != Exit::Done {
            exit = ended;
        }
    }
    exit
}

/// Compares a file with the text that would be written, and reports the first difference.
pub(super) fn compare(shell: &Shell, path: &Path, text: &str) -> Exit {
    let present = sys::read_text(path, MAX_FILE_BYTES).ok();
    match render::drift(&path.display().to_string(), present.as_deref(), text) {
        None => Exit::Done,
        Some(difference) => {
            shell.tell(&difference);
            Exit::Fault
        }
    }
}

/// Writes a file atomically unless it is up to date.
pub(super) fn write(shell: &Shell, path: &Path, text: &str) -> Exit {
    match sys::write_if_changed(path, text.as_bytes()) {
        Ok(changed) => {
            shell.say(&format!(
                "{} {}",
                if changed { "wrote" } else { "unchanged:" },
                path.display()
            ));
            Exit::Done
        }
        Err(error) => {
            shell.report(&[error.into()]);
            Exit::Machine
        }
    }
}
