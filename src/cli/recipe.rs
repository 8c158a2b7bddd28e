//! `recipe`: the recipes that matrix files can use.

use std::path::Path;

use super::completed_value::{self, CompletedValue};
use super::init::project_files;
use super::wheel::fail;
use super::{Exit, Format, OutputFormat, Shell};
use crate::codes::host;
use crate::config::recipe::{self, RecipeOverview, embedded_names};
use crate::config::syntax::is_name;
use crate::diagnostic::{Diagnostic, Diagnostics, ExitClass, Sink, shell_quoted};
use crate::sys;

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix recipe list             list all recipes
  rock-matrix recipe show flash-attn  show the variables of a recipe
  rock-matrix recipe new my-kernels   write a recipe to start from
  rock-matrix help recipes            explain the format of recipes")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List all recipes
    #[command(after_long_help = "\
Examples:
  rock-matrix recipe list
  rock-matrix recipe list --json")]
    List(ListArgs),
    /// Show the variables, defaults and stages of a recipe
    #[command(after_long_help = "\
Examples:
  rock-matrix recipe show flash-attn
  rock-matrix recipe show mine --recipes own  a recipe in the directory own")]
    Show(ShowArgs),
    /// Write a recipe to start from
    ///
    /// The recipe builds the Python project in the working directory, and its comments explain the
    /// keys. It is written to `matrices/recipes`, whose recipes are used without an option, or to
    /// the directory of --recipes. Never overwrites an existing file.
    #[command(after_long_help = "\
Examples:
  rock-matrix recipe new my-kernels                write matrices/recipes/my-kernels.yaml
  rock-matrix recipe new my-kernels --recipes own  write own/my-kernels.yaml")]
    New(NewArgs),
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    #[command(flatten)]
    format: OutputFormat,
}

#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// Name of the recipe
    #[arg(value_parser = CompletedValue(completed_value::recipes), hide_possible_values = true)]
    name: String,
    #[command(flatten)]
    format: OutputFormat,
}

#[derive(Debug, clap::Args)]
struct NewArgs {
    /// Name of the recipe, usually that of the distribution it builds
    #[arg(value_parser = recipe_name)]
    name: String,
}

/// Reads the name of a recipe.
fn recipe_name(text: &str) -> Result<String, String> {
    if is_name(text) && text.starts_with(|first: char| first.is_ascii_lowercase()) {
        Ok(text.to_owned())
    } else {
        Err("a name has lower-case letters, digits and `-`, and begins with a letter".to_owned())
    }
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    match &args.command {
        Command::List(args) => list(args, shell),
        Command::Show(args) => show(args, shell),
        Command::New(args) => create(args, shell),
    }
}

fn list(args: &ListArgs, shell: &Shell) -> Exit {
    let overviews = match load_overviews(None, shell) {
        Ok(overviews) => overviews,
        Err(exit) => return exit,
    };
    if args.format.get() == Format::Json {
        return shell.print(&format!(
            "{}\n",
            serde_json::json!({"version": 1, "recipes": overviews})
        ));
    }
    let width = overviews
        .iter()
        .map(|overview| overview.name.len())
        .max()
        .unwrap_or_default();
    let line = |one: &RecipeOverview| format!("{:<width$}  {}\n", one.name, one.summary());
    shell.print(&overviews.iter().map(line).collect::<String>())
}

fn show(args: &ShowArgs, shell: &Shell) -> Exit {
    let overviews = match load_overviews(Some(&args.name), shell) {
        Ok(overviews) => overviews,
        Err(exit) => return exit,
    };
    let Some(overview) = overviews.first() else {
        return Exit::Fault;
    };
    shell.print(&match args.format.get() {
        Format::Human => overview.to_string(),
        Format::Json => format!(
            "{}\n",
            serde_json::json!({"version": 1, "recipe": overview})
        ),
    })
}

/// Loads the overview of one recipe, or of all.
///
/// # Errors
/// The exit code of the command, after reporting the errors.
fn load_overviews(name: Option<&str>, shell: &Shell) -> Result<Vec<RecipeOverview>, Exit> {
    // A recipe that cannot be read would also be reported as unknown.
    let (recipes, warnings) = shell
        .directories
        .load_recipes()
        .map_err(|errors| fail(shell, &errors))?;
    let mut sink = Sink::new();
    sink.extend(warnings);
    let names = name.map_or_else(|| recipes.names(), |name| vec![name]);
    match recipes.overviews(names) {
        Ok(overviews) => {
            shell.report(&sink.finish());
            Ok(overviews)
        }
        Err(errors) => {
            let exit_class = errors.exit_class();
            sink.extend(errors);
            shell.report(&sink.finish());
            Err(exit_class.into())
        }
    }
}

fn create(args: &NewArgs, shell: &Shell) -> Exit {
    let path = shell.directories.recipe_path(&args.name);
    let refusal = if sys::exists(&path) {
        Some((
            format!("`{}` already exists", path.display()),
            "edit the file, or choose another name",
        ))
    } else if embedded_names().any(|name| name == args.name) {
        Some((
            format!("`{}` is a recipe of the program", args.name),
            "choose another name: a file with this one would replace the recipe in all matrix files",
        ))
    } else {
        None
    };
    if let Some((message, help)) = refusal {
        let error = Diagnostic::new(&host::CANNOT_WRITE_FILE, message).help(help);
        return fail(
            shell,
            &Diagnostics::from(error).exits_with(ExitClass::Input),
        );
    }
    if let Err(error) = sys::write_atomic(&path, recipe::starter(&args.name).as_bytes()) {
        shell.report(&[error.into()]);
        return Exit::Machine;
    }
    shell.say(&format!("wrote {}", path.display()));
    let directory = shell.directories.named_recipes();
    let option = directory.map_or_else(String::new, |directory| {
        format!(" --recipes {}", shell_quoted(directory))
    });
    // `init` reads the version of a project, and no other.
    let is_project = project_files(Path::new(".")).is_ok_and(|files| files.is_project());
    let version = if is_project {
        ""
    } else {
        " --set version=VERSION"
    };
    shell.say(&format!(
        "next: edit it, then `rock-matrix check {}`; `rock-matrix init --recipe {}{version}{option}` \
         writes a matrix file that uses it",
        shell_quoted(&path),
        args.name
    ));
    Exit::Done
}
