//! The command line: one file a subcommand, each gathers, decides, applies and tells.
//!
//! **Invariant:** no decision is taken here that a library caller could not take with the same
//! values.

mod actions;
mod assets;
mod build;
mod check;
mod clean;
mod command_line;
mod compat;
mod completions;
mod doctor;
mod documents;
mod env;
mod exit;
mod explain;
mod facts;
mod index;
mod init;
mod jobs;
mod known;
mod legs;
mod limits;
mod load;
mod man;
mod markdown;
mod moving_line;
mod pick;
mod plan;
mod publish;
mod published;
mod recipe;
mod release;
mod release_folder;
mod render;
mod report;
mod schema;
mod sdk;
mod shell;
mod source;
mod targets;
mod told;
mod wheel;
mod wheel_file;
mod withdrawals;

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser};

pub use exit::Exit;
pub use markdown::reference;
pub use shell::{Folders, Format, Shell, Verbosity};

use crate::diagnostic::render::{human, printable, redact_urls, visible};
use crate::sys::Environment;

/// Columns of `--help` at most, on a wider terminal too: longer lines are hard to read.
pub const HELP_WIDTH: usize = 100;

/// Plan, build, check and publish Python wheels for AMD GPUs from one matrix file.
#[derive(Debug, Parser)]
#[command(name = "rock-matrix", version, propagate_version = true, arg_required_else_help = true, max_term_width = HELP_WIDTH)]
#[command(after_help = "\
Exit code: 0 done or nothing to do, 1 the input is at fault, 2 a bad command line, 3 the machine,
the network or the credentials are at fault, 4 a build step failed.

Examples:
  rock-matrix init                            a first matrix file and workflow
  rock-matrix plan                            the jobs of all matrix files
  rock-matrix build --all                     their wheels, in dist/
  rock-matrix publish --to release dist/      a release with an index that pip installs from
  rock-matrix explain M001                    what a code means that was told")]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Options of every command.
#[derive(Debug, clap::Args)]
struct Global {
    /// Say only what is wrong
    #[arg(
        short,
        long,
        global = true,
        conflicts_with = "verbose",
        help_heading = "Talk"
    )]
    quiet: bool,
    /// Say why, and show each command that is run
    #[arg(short, long, global = true, help_heading = "Talk")]
    verbose: bool,
    /// How stderr is written, once the command line is understood: for people, or one JSON object a
    /// line, without a `code` where it is no diagnostic
    #[arg(
        long,
        global = true,
        value_enum,
        default_value = "human",
        value_name = "FORMAT",
        help_heading = "Talk"
    )]
    diagnostics: Format,
    #[arg(help = "Colours on stderr: auto obeys NO_COLOR and CLICOLOR_FORCE", long, global = true, default_value = "auto", value_parser = ["auto", "always", "never"], help_heading = "Talk")]
    color: String,
    /// Write diagnostics as annotations of GitHub too, as in a step of GitHub Actions
    #[arg(long, global = true, help_heading = "Talk")]
    annotations: bool,
    /// Read facts from this folder instead of the shipped ones
    #[arg(long, global = true, value_name = "DIR", help_heading = "Facts")]
    compat: Option<std::path::PathBuf>,
    /// Look for recipes in this folder before the shipped ones
    #[arg(long, global = true, value_name = "DIR", help_heading = "Facts")]
    recipes: Option<std::path::PathBuf>,
}

// Deferred, because declaring the arguments of every command takes longer than running a small one.
// Therefore the descriptions are here, and groups of options that are flattened into a command have
// no doc comments: clap would show those as the description of the command
// (`the_reference_page_is_fresh`).
#[derive(Debug, clap::Subcommand)]
#[command(defer = true)]
enum Command {
    /// Build the wheels of jobs and check them
    Build(Box<build::Args>),
    /// Report every fault in matrix and recipe files
    Check(check::Args),
    /// Remove the build folders of jobs
    Clean(clean::Args),
    /// Show what is known about versions, and where it was read
    Compat(compat::Args),
    /// Print the completion script of a shell
    Completions(completions::Args),
    /// Show GPUs, devices, engines, limits and disk of this machine, and what is wrong with them
    Doctor(doctor::Args),
    /// Print the variables of a purpose: everyday use, debugging, benchmarks
    Env(env::Args),
    /// Show what a diagnostic code means and what to do
    Explain(explain::Args),
    /// Make package indexes that pip and uv install from
    Index(index::Args),
    /// Write a matrix file and a workflow to begin with
    Init(init::Args),
    /// Print the manual page, or write those of all commands into a folder
    Man(man::Args),
    /// Show which published wheel fits a machine, and the line that installs it
    Pick(pick::Args),
    /// Show the jobs of a matrix and the reason for every missing cell
    Plan(plan::Args),
    /// Publish wheels as a release: on GitHub, or in a folder with checksums, a manifest and an
    /// index that pip installs from
    Publish(publish::Args),
    /// List recipes, and show their variables
    Recipe(recipe::Args),
    /// Check releases on GitHub
    Release(release::Args),
    /// Print what a build would do: container commands, scripts, steps; and the workflow that does
    /// it on GitHub
    Render(render::Args),
    /// Write documents: release notes, tables of packages, coverage, what is missing, what failed,
    /// the wheel finder, what is published
    Report(report::Args),
    /// Print the JSON Schema of matrix files
    Schema(schema::Args),
    /// Make the Python packages of the ROCm SDK
    Sdk(sdk::Args),
    /// Show where the sources of torch and its companions come from, and check them out with
    /// patches
    Source(source::Args),
    /// Look at wheels, check and repair them, and give them another label or other tags
    Wheel(wheel::Args),
}

impl Command {
    /// Whether it may give GitHub the token of the environment.
    fn asks_github(&self) -> bool {
        matches!(
            self,
            Self::Compat(_)
                | Self::Index(_)
                | Self::Pick(_)
                | Self::Plan(_)
                | Self::Publish(_)
                | Self::Release(_)
                | Self::Report(_)
        )
    }

    fn run(self, shell: &Shell) -> Exit {
        match self {
            Self::Build(args) => build::run(&args, shell),
            Self::Check(args) => check::run(&args, shell),
            Self::Clean(args) => clean::run(&args, shell),
            Self::Compat(args) => compat::run(&args, shell),
            Self::Completions(args) => completions::run(&args, shell),
            Self::Doctor(args) => doctor::run(&args, shell),
            Self::Env(args) => env::run(&args, shell),
            Self::Explain(args) => explain::run(&args, shell),
            Self::Index(args) => index::run(&args, shell),
            Self::Init(args) => init::run(&args, shell),
            Self::Man(args) => man::run(&args, shell),
            Self::Pick(args) => pick::run(&args, shell),
            Self::Plan(args) => plan::run(&args, shell),
            Self::Publish(args) => publish::run(&args, shell),
            Self::Recipe(args) => recipe::run(&args, shell),
            Self::Release(args) => release::run(&args, shell),
            Self::Render(args) => render::run(&args, shell),
            Self::Report(args) => report::run(&args, shell),
            Self::Schema(args) => schema::run(&args, shell),
            Self::Sdk(args) => sdk::run(&args, shell),
            Self::Source(args) => source::run(&args, shell),
            Self::Wheel(args) => wheel::run(&args, shell),
        }
    }
}

/// The whole command line with the arguments of every command and without `help`, for manual pages
/// and documents.
pub fn command() -> clap::Command {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    command
}

/// A bad command line that clap cannot see, told in the way of all others, with the usage of this
/// command.
fn misused(name: &str, kind: clap::error::ErrorKind, text: &str) -> Exit {
    let mut all = command();
    if let Some(named) = all.find_subcommand_mut(name) {
        let _ = print_usage(&named.error(kind, text));
    }
    Exit::Usage
}

/// The command line. What clap makes to read it stays until the program ends: taking it apart takes
/// half as long as making it.
fn parsed(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut command = std::mem::ManuallyDrop::new(Cli::command());
    let mut matches = command.try_get_matches_from_mut(arguments)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// Runs the program with these arguments (the first is its own name).
pub fn run(arguments: impl IntoIterator<Item = OsString>, environment: Environment) -> Exit {
    // `ROCK_ANNOTATIONS=false` is the action's input `annotations`.
    let is_annotated = environment.get("GITHUB_ACTIONS") == Some("true")
        && environment
            .get("ROCK_ANNOTATIONS")
            .is_none_or(|word| word != "false");
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let cli = match parsed(arguments.clone()) {
        Ok(cli) => cli,
        Err(error) => return told_by_clap(&with_escapes(error, &arguments), is_annotated),
    };
    let shell = Shell {
        arguments,
        color: colored(&cli.global.color, &environment),
        annotations: cli.global.annotations || is_annotated,
        annotated: std::sync::Mutex::default(),
        environment,
        verbosity: match (cli.global.quiet, cli.global.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        },
        diagnostics: cli.global.diagnostics,
        folders: Folders {
            compat: cli.global.compat,
            recipes: cli.global.recipes,
        },
    };
    if cli.command.asks_github() {
        actions::TOKENS
            .iter()
            .filter_map(|name| shell.environment.get(name))
            .for_each(|token| shell.mask(token));
    }
    cli.command.run(&shell)
}

/// Returns the fault as clap words it for the same arguments with their control characters escaped:
/// it repeats them as they are.
fn with_escapes(error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let escaped: Vec<OsString> = arguments
        .iter()
        .map(|text| OsString::from(visible(&text.to_string_lossy())))
        .collect();
    if escaped == arguments {
        return error;
    }
    match parsed(escaped) {
        Err(other) if other.kind() == error.kind() => other,
        _ => error,
    }
}

/// Prints what clap says with its styles; without them where a line would still steer the terminal,
/// be a command for the runner of a workflow or hold a password.
fn print_usage(error: &clap::Error) -> std::io::Result<()> {
    let plain = error.to_string();
    let safe = printable(&redact_urls(&plain)).into_owned();
    if safe == plain {
        return error.print();
    }
    let mut out: Box<dyn std::io::Write> = if error.use_stderr() {
        Box::new(std::io::stderr())
    } else {
        Box::new(std::io::stdout())
    };
    out.write_all(safe.as_bytes())
}

/// Says what clap has to say instead of a command line: a fault, or help and version that were
/// asked for.
fn told_by_clap(error: &clap::Error, is_annotated: bool) -> Exit {
    if is_annotated && error.use_stderr() {
        let text = crate::render::actions::usage_error(&redact_urls(&error.to_string()));
        let _ = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());
    }
    match print_usage(error) {
        _ if error.use_stderr() => Exit::Usage,
        Err(fault) if fault.kind() != std::io::ErrorKind::BrokenPipe => {
            let text = human(&[shell::stdout_fault(&fault)], false);
            let _ = std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes());
            Exit::Machine
        }
        _ => Exit::Done,
    }
}

fn colored(choice: &str, environment: &Environment) -> bool {
    match choice {
        "always" => true,
        "never" => false,
        _ if environment.get("NO_COLOR").is_some() => false,
        _ => {
            environment.get("CLICOLOR_FORCE").is_some_and(|v| v != "0")
                || environment.stderr_is_terminal
                || environment.get("GITHUB_ACTIONS") == Some("true")
        }
    }
}
