//! `compat refresh`: compares tables with their sources and prints patches.

mod actions;
mod pages;

use crate::cli::publish::Connection;
use crate::cli::{Exit, Format, OutputFormat, Shell};
use crate::compat::Compat;
use crate::compat::refresh::TableComparison;

/// Compare a compatibility table with its source, and print the differences as a patch
///
/// The torch table is compared with the pages of a package index, the table of torch's requirements
/// with PyPI, and the table of actions with their tags on GitHub.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix compat refresh --requirements               patch of the table of requirements
  rock-matrix compat refresh --from saved-pages/ --check  whether the torch table is up to date")]
pub(super) struct Args {
    #[command(flatten)]
    source: Source,
    #[command(flatten)]
    format: OutputFormat,
    /// Exit with 1 if there are differences
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
    /// Compare the torch table with the pages of an index
    ///
    /// The root of the index, a URL or a directory of saved pages, contains paths such as
    /// rocm6.2/torch/.
    #[arg(long, value_name = "DIR|URL")]
    from: Option<String>,
    /// Compare the requirements of torch releases with PyPI [default URL: https://pypi.org]
    ///
    /// The server must have PyPI's JSON API.
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = PYPI)]
    requirements: Option<String>,
    /// Compare the table of actions with the tags of their repositories on GitHub
    #[arg(long)]
    actions: bool,
}

/// Runs the command.
pub(super) fn run(args: &Args, compat: &Compat, shell: &Shell) -> Exit {
    let compared = match (&args.source.from, &args.source.requirements) {
        (Some(from), _) => pages::compare_torch(compat, from, shell),
        (None, Some(address)) => pages::compare_requirements(compat, address, shell),
        (None, None) => actions::compare(compat, &args.connection, shell),
    };
    let TableComparison {
        differs,
        up_to_date,
        document,
        patch,
        ..
    } = match compared {
        Ok(compared) => compared,
        Err(exit) => return exit,
    };
    if let Some(line) = up_to_date {
        shell.say(line);
    }
    match shell.print(match args.format.get() {
        Format::Json => &document,
        Format::Human => &patch,
    }) {
        Exit::Done if args.check && differs => Exit::Fault,
        exit => exit,
    }
}
