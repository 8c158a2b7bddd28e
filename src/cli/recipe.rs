//! `recipe`: the recipes that matrix files can use.

use super::completed_value::{self, CompletedValue};
use super::wheel::fail;
use super::{Exit, Format, OutputFormat, Shell};
use crate::config::recipe::RecipeOverview;
use crate::diagnostic::Sink;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rock-matrix recipe list             list all recipes
  rock-matrix recipe show flash-attn  show the variables of a recipe")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List all recipes
    #[command(after_help = "\
Examples:
  rock-matrix recipe list
  rock-matrix recipe list --json")]
    List(ListArgs),
    /// Show the variables, defaults and stages of a recipe
    #[command(after_help = "\
Examples:
  rock-matrix recipe show flash-attn
  rock-matrix recipe show mine --recipes own  a recipe in the directory own")]
    Show(ShowArgs),
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

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    // A recipe that cannot be read would also be reported as unknown.
    let (recipes, warnings) = match shell.directories.load_recipes() {
        Ok(loaded) => loaded,
        Err(errors) => return fail(shell, &errors),
    };
    let mut sink = Sink::new();
    sink.extend(warnings);
    let names = match &args.command {
        Command::List(_) => recipes.names(),
        Command::Show(show) => vec![show.name.as_str()],
    };
    let overviews = match recipes.overviews(names) {
        Ok(overviews) => overviews,
        Err(errors) => {
            let exit_class = errors.exit_class();
            sink.extend(errors);
            shell.report(&sink.finish());
            return exit_class.into();
        }
    };
    shell.report(&sink.finish());
    match &args.command {
        Command::List(list) if list.format.get() == Format::Json => shell.print(&format!(
            "{}\n",
            serde_json::json!({"version": 1, "recipes": overviews})
        )),
        Command::List(_) => {
            let width = overviews
                .iter()
                .map(|overview| overview.name.len())
                .max()
                .unwrap_or_default();
            let line = |one: &RecipeOverview| format!("{:<width$}  {}\n", one.name, one.summary());
            shell.print(&overviews.iter().map(line).collect::<String>())
        }
        Command::Show(show) => {
            let Some(overview) = overviews.first() else {
                return Exit::Fault;
            };
            shell.print(&match show.format.get() {
                Format::Human => overview.to_string(),
                Format::Json => format!(
                    "{}\n",
                    serde_json::json!({"version": 1, "recipe": overview})
                ),
            })
        }
    }
}
