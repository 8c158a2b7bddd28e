//! `report`: documents of what is planned and what is published.

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
#[command(after_help = "\
Documents are made of a plan and a list of releases, never of an earlier document. The list is what
GitHub answers, when it is asked or as it was saved.

Examples:
  rock-matrix report packages --published OWNER/REPO --out docs/packages.md
  rock-matrix report listing --published OWNER/REPO --out releases.json
  rock-matrix report packages --published releases.json --out docs/packages.md
  rock-matrix report page --published releases.json --out site/index.html
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
    let reported = shell.report(&sink.finish());
    match exit {
        Err(exit) | Ok(exit) if exit != Exit::Done => exit,
        _ => reported,
    }
}
