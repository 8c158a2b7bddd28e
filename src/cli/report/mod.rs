//! `report`: documents about planned and published wheels.

mod coverage;
mod failures;
mod input;
mod leg;
mod legs;
mod listing;
mod missing;
mod notes;
mod output;
mod packages;
mod page;

use super::{Exit, Shell};
use crate::diagnostic::Sink;

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Documents are generated from a plan and a list of releases, never from an earlier document, so
running a command again changes nothing. The list is read from GitHub or from a saved file.

Examples:
  rock-matrix report packages --published OWNER/REPO --out docs/packages.md
  rock-matrix report missing --plan plan.json --published releases.json")]
pub(super) struct Args {
    #[command(subcommand)]
    document: Document,
}

#[derive(Debug, clap::Subcommand)]
enum Document {
    Coverage(coverage::Args),
    Failures(failures::Args),
    Leg(leg::Args),
    Legs(legs::Args),
    Listing(listing::Args),
    Missing(missing::Args),
    Notes(notes::Args),
    Packages(packages::Args),
    Page(page::Args),
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let mut sink = Sink::new();
    let exit = match &args.document {
        Document::Coverage(args) => coverage::run(args, shell, &mut sink),
        Document::Failures(args) => failures::run(args, shell, &mut sink),
        Document::Leg(args) => leg::run(args, shell, &mut sink),
        Document::Legs(args) => legs::run(args, shell, &mut sink),
        Document::Listing(args) => listing::run(args, shell, &mut sink),
        Document::Missing(args) => missing::run(args, shell, &mut sink),
        Document::Notes(args) => notes::run(args, shell, &mut sink),
        Document::Packages(args) => packages::run(args, shell, &mut sink),
        Document::Page(args) => page::run(args, shell, &mut sink),
    };
    let report_exit = shell.report(&sink.finish());
    match exit {
        Err(exit) | Ok(exit) if exit != Exit::Done => exit,
        _ => report_exit,
    }
}
