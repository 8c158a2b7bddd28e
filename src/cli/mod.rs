//! The command line: one module for each command, which reads its arguments, calls a library and
//! prints the result.
//!
//! **Invariant:** a command decides nothing that a caller of the libraries could not decide with the
//! same values.
#![expect(
    clippy::doc_markdown,
    reason = "doc comments of arguments are help texts, where backticks mark only literal values"
)]

mod actions;
mod attention;
mod build;
mod check;
mod clean;
mod command_line;
mod compat;
mod completed_value;
mod completions;
mod doctor;
mod engine;
mod env;
mod exit;
mod explain;
mod gfx_targets;
mod help;
mod index;
mod init;
mod jobs;
mod leg_options;
mod load;
mod man;
mod markdown;
mod output_format;
mod output_path;
mod pick;
mod plan;
mod project_file;
mod publish;
mod published;
mod recipe;
mod release;
mod render;
mod report;
mod reporters;
mod schema;
mod sdk;
mod shell;
mod source;
mod suggestions;
mod test;
mod wheel;
mod whole_number;
mod yanked_in_options;

use std::ffi::OsString;
use std::mem::ManuallyDrop;
use std::path::Path;

use clap::{Args as _, CommandFactory, FromArgMatches, Parser, Subcommand as _};

pub use exit::Exit;
pub use markdown::reference;
pub use project_file::ProjectFile;
pub use shell::{ColorChoice, Format, Shell, Verbosity};

use output_format::OutputFormat;

use crate::diagnostic::Diagnostics;
use crate::diagnostic::render::{escape_line, human, redact_urls, sanitize_output};
use crate::plan::workspace::DataDirectories;
use crate::sys::Environment;

/// Maximum width of help in columns, on wider terminals too: longer lines are hard to read.
pub const HELP_WIDTH: usize = 100;

/// Plan, build, check and publish Python wheels for AMD GPUs from one matrix file.
#[derive(Debug, Parser)]
#[command(
    name = "rock-matrix",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    max_term_width = HELP_WIDTH
)]
#[command(after_long_help = "\
Examples:
  rock-matrix init                     create a first matrix file and workflow
  rock-matrix wheel repair dist/*.whl  graft libraries and set the right platform tags")]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

// The options of every command. Like all groups of options that are flattened into a command, it
// has no doc comment: clap would show that as the description of the command.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
struct Global {
    /// Write only errors and warnings to stderr
    ///
    /// Results on stdout are not affected, except that `wheel check` prints one line for each wheel.
    #[arg(
        short,
        long,
        global = true,
        hide_short_help = true,
        conflicts_with = "verbose"
    )]
    quiet: bool,
    /// Show more detail, such as each command that is run
    #[arg(short, long, global = true, hide_short_help = true)]
    verbose: bool,
    /// When to use colors on stderr [default: auto]
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        value_enum,
        value_name = "WHEN"
    )]
    color: Option<ColorChoice>,
    /// Format of messages on stderr: `human`, or `json` (one object per line) [default: human]
    #[arg(
        long,
        alias = "diagnostics",
        global = true,
        hide_short_help = true,
        value_enum,
        hide_possible_values = true,
        value_name = "FORMAT"
    )]
    message_format: Option<Format>,
    /// Also write messages as GitHub annotations (default in GitHub Actions)
    #[arg(long, global = true, hide_short_help = true)]
    annotations: bool,
    /// Use the compatibility tables of this directory instead of the built-in ones
    #[arg(long, global = true, hide_short_help = true, value_name = "DIR")]
    compat: Option<std::path::PathBuf>,
    /// Look for recipes in this directory before the built-in ones
    #[arg(long, global = true, hide_short_help = true, value_name = "DIR")]
    recipes: Option<std::path::PathBuf>,
}

// The arguments of a command are declared when it is parsed: declaring those of every command takes
// longer than running a small one. Therefore the descriptions of commands are here.
#[derive(Debug, clap::Subcommand)]
#[command(defer = true)]
enum Command {
    /// Predict and check the attention backend of torch on a GPU
    Attention(attention::Args),
    /// Build, repair and check the wheels of jobs
    Build(Box<build::Args>),
    /// Report every error in matrix and recipe files
    Check(check::Args),
    /// Remove build directories
    Clean(clean::Args),
    /// Query and refresh the compatibility tables
    Compat(compat::Args),
    /// Generate a completion script for a shell
    Completions(completions::Args),
    /// Check the GPUs, container engines, limits and disk space of this machine
    Doctor(doctor::Args),
    /// Print environment variables for everyday use, debugging or benchmarks
    Env(env::Args),
    /// Explain a diagnostic code and how to fix its cause
    Explain(explain::Args),
    /// Show help for a command or topic
    Help(help::Args),
    /// Build package indexes for pip and uv, and yank files
    Index(index::Args),
    /// Create a matrix file and a workflow
    Init(init::Args),
    /// Generate manual pages
    Man(man::Args),
    /// Find the published wheel for a machine, and the command that installs it
    Pick(pick::Args),
    /// Show the jobs of a matrix, and the reason for each excluded combination
    Plan(plan::Args),
    /// Publish wheels as a GitHub release, or to a directory with an index
    Publish(publish::Args),
    /// List, show and create recipes
    Recipe(recipe::Args),
    /// Check and prune releases on GitHub
    Release(release::Args),
    /// Print the commands, scripts and workflow of a build without running it
    Render(render::Args),
    /// Write release notes, package tables, coverage, failures and the wheel finder
    Report(report::Args),
    /// Print the JSON Schema of matrix files
    Schema(schema::Args),
    /// Build and verify the Python packages of the ROCm SDK
    Sdk(sdk::Args),
    /// Plan, check out and patch the sources of torch and related projects
    Source(source::Args),
    /// Test built wheels
    Test(Box<test::Args>),
    /// Inspect, check, repair and relabel wheels
    Wheel(wheel::Args),
}

impl Command {
    /// Whether the command may send the token of the environment to GitHub.
    fn uses_github(&self) -> bool {
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

    /// Whether the command uses files of the working directory; other commands print built-in texts.
    fn reads_directory(&self) -> bool {
        !matches!(
            self,
            Self::Completions(_)
                | Self::Explain(_)
                | Self::Help(_)
                | Self::Man(_)
                | Self::Schema(_)
        )
    }

    fn run(self, shell: &Shell) -> Exit {
        match self {
            Self::Attention(args) => attention::run(&args, shell),
            Self::Build(args) => build::run(&args, shell),
            Self::Check(args) => check::run(&args, shell),
            Self::Clean(args) => clean::run(&args, shell),
            Self::Compat(args) => compat::run(&args, shell),
            Self::Completions(args) => completions::run(&args, shell),
            Self::Doctor(args) => doctor::run(&args, shell),
            Self::Env(args) => env::run(&args, shell),
            Self::Explain(args) => explain::run(&args, shell),
            Self::Help(args) => help::run(&args, shell),
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
            Self::Test(args) => test::run(&args, shell),
            Self::Wheel(args) => wheel::run(&args, shell),
        }
    }
}

/// Returns the command line with the arguments of every command, for help, manual pages and
/// documents.
pub fn command() -> clap::Command {
    let mut command = Cli::command();
    command.build();
    command
}

/// Reports a command-line error that clap cannot detect, in clap's form and with the usage of this
/// command.
fn misused(path: &[&str], kind: clap::error::ErrorKind, text: &str) -> Exit {
    let mut all = command();
    let mut named = &mut all;
    for name in path {
        named = named.find_subcommand_mut(name).expect("the command exists");
    }
    let _ = print_usage(&named.error(kind, text));
    Exit::Usage
}

/// Parses the command line. Parsers are leaked on purpose: dropping one takes half as long as
/// building it.
fn parsed(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    use clap::error::ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand};
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let mut matches = match matches_of_one_command(&arguments) {
        Some(matches) => matches,
        None => match ManuallyDrop::new(Cli::command()).try_get_matches_from_mut(&arguments) {
            Ok(matches) => matches,
            Err(error)
                if matches!(
                    error.kind(),
                    DisplayHelp | DisplayHelpOnMissingArgumentOrSubcommand
                ) =>
            {
                help::command_with_layout().try_get_matches_from(&arguments)?
            }
            Err(error) => return Err(error),
        },
    };
    suggestions::check_single_dashes(&arguments, &matches)?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut Cli::command()))
}

/// Returns the matches of a valid command line whose first argument is the name of a command.
///
/// clap copies the global options to every command that it knows, which takes longer than parsing
/// the arguments. Therefore this parser knows one command.
fn matches_of_one_command(arguments: &[OsString]) -> Option<clap::ArgMatches> {
    let name = arguments.get(1)?;
    let commands = Command::augment_subcommands(clap::Command::new("rock-matrix"));
    let commands = ManuallyDrop::new(commands);
    let named = commands
        .get_subcommands()
        .find(|command| command.get_name() == name)?;
    let root = clap::Command::new("rock-matrix")
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_subcommand(true);
    let mut root = ManuallyDrop::new(Global::augment_args(root).subcommand(named.clone()));
    root.try_get_matches_from_mut(arguments).ok()
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
        Err(error) => {
            let error = suggestions::improved(with_escapes(error, &arguments), &arguments);
            return print_clap_error(&error, is_annotated);
        }
    };
    let (project_file, file_errors) = match project_file(&cli.command, &environment) {
        Ok(file) => (file, None),
        Err(errors) => (ProjectFile::default(), Some(errors)),
    };
    let global = cli.global;
    let mut directories = if cli.command.reads_directory() {
        DataDirectories::discover(Path::new(""))
    } else {
        DataDirectories::default()
    };
    if let Some(compat) = global.compat.or_else(|| project_file.compat.clone()) {
        directories = directories.with_compat(compat);
    }
    if let Some(recipes) = global.recipes.or_else(|| project_file.recipes.clone()) {
        directories = directories.with_recipes(recipes);
    }
    let shell = Shell {
        arguments,
        color: is_colored(global.color, project_file.color, &environment),
        annotations: global.annotations || is_annotated,
        annotated: std::sync::Mutex::default(),
        environment,
        verbosity: match (global.quiet, global.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        },
        message_format: global
            .message_format
            .or(project_file.message_format)
            .unwrap_or_default(),
        directories,
        compat: std::sync::OnceLock::new(),
        project_file,
    };
    if let Some(errors) = file_errors {
        shell.report(errors.as_slice());
        return errors.exit_class().into();
    }
    if let Some(path) = &shell.project_file.path {
        shell.detail(&format!("using defaults of {}", path.display()));
    }
    for note in shell.directories.notes() {
        shell.detail(&note);
    }
    if cli.command.uses_github() {
        actions::TOKENS
            .iter()
            .filter_map(|name| shell.environment.get(name))
            .for_each(|token| shell.mask(token));
    }
    cli.command.run(&shell)
}

/// Reads the project file of the working directory, except for commands that only print built-in
/// texts.
fn project_file(command: &Command, environment: &Environment) -> Result<ProjectFile, Diagnostics> {
    if !command.reads_directory() {
        return Ok(ProjectFile::default());
    }
    let mut file = ProjectFile::find(&environment.current_dir)?;
    file.override_with(environment)?;
    Ok(file)
}

/// Returns the error that clap reports for the same arguments with escaped control characters,
/// because clap repeats arguments literally.
fn with_escapes(error: clap::Error, arguments: &[OsString]) -> clap::Error {
    let escaped: Vec<OsString> = arguments
        .iter()
        .map(|text| OsString::from(escape_line(&text.to_string_lossy())))
        .collect();
    if escaped == arguments {
        return error;
    }
    match parsed(escaped) {
        Err(other) if other.kind() == error.kind() => other,
        _ => error,
    }
}

/// Prints a message of clap with its styles, or without them if a line contains control characters,
/// a workflow command or a password.
fn print_usage(error: &clap::Error) -> std::io::Result<()> {
    let plain = error.to_string();
    let safe = sanitize_output(&redact_urls(&plain)).into_owned();
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

/// Prints what clap returns instead of a command line: an error, help or the version.
fn print_clap_error(error: &clap::Error, is_annotated: bool) -> Exit {
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

/// Whether stderr is colored. An option overrides `NO_COLOR` and `CLICOLOR_FORCE`, which override
/// the default of the user.
fn is_colored(
    option: Option<ColorChoice>,
    default: Option<ColorChoice>,
    environment: &Environment,
) -> bool {
    match option {
        Some(ColorChoice::Always) => true,
        Some(ColorChoice::Never) => false,
        _ if environment.get("NO_COLOR").is_some() => false,
        _ if environment.get("CLICOLOR_FORCE").is_some_and(|v| v != "0") => true,
        _ => match default {
            Some(ColorChoice::Always) => true,
            Some(ColorChoice::Never) => false,
            Some(ColorChoice::Auto) | None => {
                environment.stderr_is_terminal || environment.get("GITHUB_ACTIONS") == Some("true")
            }
        },
    }
}
