//! `index build`: a static package index of a folder of wheels, or of what is published.

mod input;
mod pages;
mod withdrawn;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::known::{self, Known, Texts};
use super::published::{self, Prereleases, Reading};
use super::release_folder::{in_place, machine};
use super::told::{IndexDocument, indexes, install_lines};
use super::withdrawals::tell_of_names;
use super::{Exit, Format, Shell, assets, load, publish};
use crate::codes::release as codes;
use crate::diagnostic::{Diagnostic, Location, Sink, counted};
use crate::index::{FileLinks, IndexFile, YankStatus, carry_over, label_order, repository};
use crate::names::{RepoName, YankedFiles};
use crate::publish::{INDEX, rebuilt_warning};
use crate::sys::DirectorySwap;

use input::Input;
pub(super) use pages::withdrawn_in;
use withdrawn::Decided;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rock-matrix index build dist                                 of the wheels in a folder
  rock-matrix index build --published OWNER/REPO --out site    of all releases on GitHub")]
pub(super) struct Args {
    #[command(subcommand)]
    command: IndexCommand,
}

#[derive(Debug, clap::Subcommand)]
enum IndexCommand {
    Build(Box<BuildArgs>),
}

/// Make the index of a folder of wheels or of what is published: static files, one package index
/// for each ROCm and torch
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Writes the pages as one folder, which is replaced as a whole, and beside each wheel of DIR its
METADATA as WHEEL.metadata, so that installers need not fetch the wheel to know what it wants. A run
that changes nothing writes nothing. Wheels that a rock-manifest.json beside them knows, and that
are not newer than it, are not read again.

What is withdrawn (--yank) stays so in later runs until --unyank. Installers pass over it unless its
version is pinned.

Examples:
  rock-matrix index build dist                               pages in dist/simple, links relative
  rock-matrix index build dist --out site                    pages in site, links to ../dist
  rock-matrix index build dist --no-metadata --repo OWNER/REPO --tag v1
                                                             wheels are served from a GitHub release
  rock-matrix index build --published OWNER/REPO --out site  of all releases on GitHub
  rock-matrix index build --published releases.json --published rock-manifest.json --out site
  rock-matrix index build dist --yank 'flash-attn<2.6: superseded'
                                                             only says what it would withdraw
  rock-matrix index build dist --yank-older-than 30d --keep 3 --apply
                                                             old nightly builds
  pip install flash-attn==2.7.4.post1+rocm62torch2.5triton \\
      --extra-index-url file://$PWD/dist/simple/rocm6.2-torch2.5/")]
struct BuildArgs {
    /// Folder that holds wheels and source distributions
    #[arg(
        value_name = "DIR",
        required_unless_present = "published",
        conflicts_with = "published"
    )]
    folder: Option<PathBuf>,
    #[arg(long, value_name = "FILE|DIR|OWNER/REPO", requires = "out", help = published::HELP)]
    published: Vec<PathBuf>,
    /// Folder of the pages [default: DIR/simple]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Address below which the files will be served; links are relative without it
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The repository on GitHub whose release serves the files, instead of --base-url
    #[arg(long, value_name = "OWNER/REPO", requires = "tag", conflicts_with_all = ["base_url", "published"])]
    repo: Option<RepoName>,
    /// The tag of that release
    #[arg(long, value_name = "TAG", requires = "repo")]
    tag: Option<String>,
    /// Write no .metadata files and name none, for hosts that get the wheels alone
    #[arg(long)]
    no_metadata: bool,
    #[command(flatten)]
    prereleases: Prereleases,
    /// A rock-manifest.json or SHA256SUMS that tells the digests of the files, which are then not
    /// read again
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "published",
        help_heading = "What is read"
    )]
    known: Vec<PathBuf>,
    /// Read every file, although a rock-manifest.json beside it tells its digest
    #[arg(long, conflicts_with_all = ["known", "published"], help_heading = "What is read")]
    read_all: bool,
    #[command(flatten)]
    withdraw: withdrawn::Options,
    #[command(flatten)]
    reading: Reading,
    /// What to print
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    format: Format,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let IndexCommand::Build(args) = &args.command;
    let mut sink = Sink::new();
    let exit = build(args, shell, &mut sink).unwrap_or_else(|exit| exit);
    match shell.report(&sink.finish()) {
        Exit::Fault if exit == Exit::Done => Exit::Fault,
        _ => exit,
    }
}

fn build(args: &BuildArgs, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    let compat = load::compat(shell)?;
    let rules = args.withdraw.rules(compat, shell, sink)?;
    let folder = args.folder.as_deref().unwrap_or(Path::new("."));
    let out = args.out.clone().unwrap_or_else(|| folder.join(INDEX));
    let links = match (&args.repo, &args.tag) {
        (Some(repo), Some(tag)) => {
            publish::release_address(repo, tag, shell, sink).map(FileLinks::Absolute)
        }
        _ => publish::links(args.base_url.as_deref(), input::steps(&out, folder), sink),
    };
    let Input {
        mut files,
        mut rebuilt,
        of_folders,
    } = match &args.folder {
        Some(folder) => {
            let files = input::of_folder(args, folder, &out, compat, shell, sink)?;
            Input {
                files,
                rebuilt: Vec::new(),
                of_folders: YankedFiles::default(),
            }
        }
        None => input::of_published(args, &out, links.as_ref(), compat, shell, sink)?,
    };
    pages::check_out(&out, args.folder.as_deref(), sink)?;
    let Some(links) = links.filter(|_| !sink.has_errors()) else {
        return Err(Exit::Fault);
    };
    rules.check(&files, sink)?;
    if args.no_metadata {
        for file in &mut files {
            file.metadata = None;
        }
    }

    let waits = || shell.say("another run is writing this index; waiting for it to end");
    let swap = DirectorySwap::begin(&out, waits).map_err(|e| in_place(&e, sink))?;
    let present = pages::present(&out).map_err(|e| machine(e, sink))?;
    let before = pages::withdrawn(&out, &present, sink)?.without(&of_folders);
    carry_over(&before.clone().ignoring_digests(), &mut files);
    let withdrawn = Decided::decide(&rules, &mut files, shell);
    tell_of_names(&before, &files.iter().collect::<Vec<_>>(), shell);
    // What is withdrawn is offered to nobody.
    let is_withdrawn = |file: &&IndexFile| file.yanked != YankStatus::No;
    let names: BTreeSet<&str> = files
        .iter()
        .filter(is_withdrawn)
        .map(|file| file.name.as_str())
        .collect();
    rebuilt.retain(|one| !names.contains(one.name.as_str()));
    sink.extend(rebuilt_warning(&rebuilt));
    sink.extend(label_order(&files));
    let indexes = indexes(files.iter(), &out, compat);
    let made = repository(&files.iter().collect::<Vec<_>>(), &links, compat).map_err(|error| {
        sink.push(Diagnostic::new(&codes::CANNOT_INDEX, error.to_string()));
        Exit::Fault
    })?;
    let mut written = match &args.folder {
        Some(folder) => pages::write_metadata(&files, folder, sink)?,
        None => 0,
    };
    written += pages::write(&made, &present, args.folder.as_deref(), swap, sink)?;
    let document = Document {
        version: 1,
        index: out.display().to_string(),
        pages: made.pages.len(),
        changed: written > 0,
        withdrawn,
        indexes,
    };
    // The process ends: to free what many small texts took would be a tenth of it.
    std::mem::forget((files, made));
    Ok(shell.print(&document.text(args.format)))
}

#[derive(Serialize)]
struct Document {
    version: u32,
    index: String,
    pages: usize,
    changed: bool,
    #[serde(rename = "yank")]
    withdrawn: Decided,
    indexes: Vec<IndexDocument>,
}

impl Document {
    fn text(&self, format: Format) -> String {
        if format == Format::Json {
            return serde_json::to_string_pretty(self)
                .expect("a struct of text and numbers serialises")
                + "\n";
        }
        let (index, pages) = (&self.index, self.pages);
        let text = if self.changed {
            format!("wrote {index}: {}\n", counted(pages, "page"))
        } else {
            format!(
                "{index} is up to date: {}, nothing written\n",
                counted(pages, "page")
            )
        };
        text + &self.withdrawn.text() + &install_lines(&self.indexes)
    }
}
