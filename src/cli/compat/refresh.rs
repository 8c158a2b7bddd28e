//! `compat refresh`: what others say of versions in, a patch of a table out.

mod actions;
mod requirements;
mod torch;

use super::json;
use crate::cli::publish::Connection;
use crate::cli::{Exit, Format, Shell};
use crate::compat::Compat;

/// Compare a table with its source: torch with the pages of a package index, what torch requires
/// with PyPI, actions with their tags on GitHub
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rock-matrix compat refresh --from saved-pages/          a patch with what the torch table lacks
  rock-matrix compat refresh --from saved-pages/ --check  whether it lacks something
  rock-matrix compat refresh --requirements               a patch with what torch requires
  rock-matrix compat refresh --actions                    a patch with newer releases of actions")]
pub(super) struct Args {
    #[command(flatten)]
    source: Source,
    /// How to print the differences
    #[arg(long, value_enum, default_value = "human")]
    format: Format,
    /// Exit with 1 when there are differences
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    connection: Connection,
}

/// The Python Package Index.
const PYPI: &str = "https://pypi.org";

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Source {
    /// The torch table; root of an index laid out as rocm6.2/torch/: a folder of saved pages, or an
    /// address
    #[arg(long, value_name = "DIR|URL")]
    from: Option<String>,
    /// The table of what releases of torch require, with their metadata on PyPI or another server
    /// with its JSON API
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = PYPI)]
    requirements: Option<String>,
    /// The table of actions, with the tags of their repositories on GitHub
    #[arg(long)]
    actions: bool,
}

/// What a comparison found.
struct Found {
    /// Whether `--check` fails.
    differs: bool,
    /// The output as JSON.
    document: String,
    /// The output as a patch.
    patch: String,
}

/// Runs the command.
pub(super) fn run(args: &Args, compat: &Compat, shell: &Shell) -> Exit {
    let found = match (&args.source.from, &args.source.requirements) {
        (Some(from), _) => torch::compare(compat, from, shell),
        (None, Some(address)) => requirements::compare(compat, address, shell),
        (None, None) => actions::compare(compat, &args.connection, shell),
    };
    let Found {
        differs,
        document,
        patch,
    } = match found {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    match shell.print(match args.format {
        Format::Json => &document,
        Format::Human => &patch,
    }) {
        Exit::Done if args.check && differs => Exit::Fault,
        exit => exit,
    }
}
