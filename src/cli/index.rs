//! `index build`: a static package index for a folder of wheels.

use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use super::assets::{self, Depth};
use super::known::{self, Known, Texts};
use super::release_folder::{in_place, machine};
use super::told::{IndexDocument, indexes, install_lines};
use super::{Exit, Format, Shell, load, publish};
use crate::diagnostic::{Diagnostic, Place, Sink, registry::release as codes};
use crate::index::{GENERATOR, Repository, repository};
use crate::publish::{INDEX, as_release};
use crate::sys::{self, FolderSwap};

/// Make package indexes that pip and uv install from
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: IndexCommand,
}

#[derive(Debug, clap::Subcommand)]
enum IndexCommand {
    Build(BuildArgs),
}

/// Make the index of a folder of wheels: static files, one package index for each ROCm and torch
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Writes the pages as one folder, which is replaced as a whole, and beside each wheel its METADATA as WHEEL.metadata, so
that installers need not fetch the wheel to know what it wants. A run that changes nothing writes nothing. Wheels that
a rock-manifest.json beside them knows, and that are not newer than it, are not read again.

Examples:
  rock-matrix index build dist                                 pages in dist/simple, links relative
  rock-matrix index build dist --out site                      pages in site, links to ../dist
  rock-matrix index build dist --no-metadata --base-url https://github.com/O/R/releases/download/v1
                                                               wheels are served from a GitHub release
  pip install flash-attn --no-deps --index-url file://$PWD/dist/simple/rocm6.2-torch2.5/")]
struct BuildArgs {
    /// Folder that holds wheels and source distributions
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Folder of the pages [default: DIR/simple]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Address below which the files will be served; links are relative without it
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Write no .metadata files and name none, for hosts that get the wheels alone
    #[arg(long)]
    no_metadata: bool,
    /// A rock-manifest.json or SHA256SUMS that tells the digests of the files, which are then not read again
    #[arg(long, value_name = "FILE", help_heading = "What is read")]
    known: Vec<PathBuf>,
    /// Read every file, although a rock-manifest.json beside it tells its digest
    #[arg(long, conflicts_with = "known", help_heading = "What is read")]
    read_all: bool,
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
    let out = args.out.clone().unwrap_or_else(|| args.folder.join(INDEX));
    let links = publish::links(args.base_url.as_deref(), steps(&out, &args.folder), sink);
    let compat = load::compat(shell)?;
    let files = assets::files(std::slice::from_ref(&args.folder), sink);
    let known = known(args, &files, shell, sink)?;
    let gathered = assets::gather(&files, Depth::Identify, &known, &compat, sink);
    known::tell(&gathered, shell);
    let assets: Vec<_> = gathered.into_iter().map(|g| g.asset).collect();
    as_release(&assets, sink);
    check_out(&out, &args.folder, sink)?;
    let Some(links) = links.filter(|_| !sink.has_errors()) else { return Err(Exit::Fault) };
    let mut files: Vec<_> = assets.into_iter().map(|asset| asset.file).collect();
    if args.no_metadata {
        for file in &mut files {
            file.metadata = None;
        }
    }
    let indexes = indexes(files.iter(), &out);
    let made = repository(files, &links).map_err(|error| {
        sink.push(Diagnostic::new(&codes::CANNOT_INDEX, error.to_string()));
        Exit::Fault
    })?;
    let mut written = write_metadata(&made, &args.folder, sink)?;
    written += write_pages(&made, &out, shell, sink)?;
    Ok(shell.print(&told(args.format, &out, made.pages.len(), written, &indexes)))
}

fn known(args: &BuildArgs, files: &[PathBuf], shell: &Shell, sink: &mut Sink) -> Result<Known, Exit> {
    if args.read_all {
        return Ok(Known::nothing());
    }
    let mut known = Known::beside(files, Texts::Wanted, shell);
    for path in &args.known {
        known.add(path, shell, sink)?;
    }
    Ok(known)
}

/// `.metadata` comes first: pages must not name what is not there.
fn write_metadata(made: &Repository, folder: &Path, sink: &mut Sink) -> Result<usize, Exit> {
    let mut written = 0;
    for (name, bytes) in &made.metadata {
        written += usize::from(sys::write_if_changed(&folder.join(name), bytes).map_err(|e| machine(e, sink))?);
    }
    Ok(written)
}

fn write_pages(made: &Repository, out: &Path, shell: &Shell, sink: &mut Sink) -> Result<usize, Exit> {
    let waits = || shell.say("another run is writing this index; waiting for it to end");
    let swap = FolderSwap::begin(out, waits).map_err(|e| in_place(&e, sink))?;
    let present = sys::tree(out).map_err(|e| machine(e, sink))?.unwrap_or_default();
    let same = |(name, size): &sys::Listed| {
        made.pages.get(name).is_some_and(|bytes| {
            *size == Some(bytes.len() as u64)
                && sys::read_bytes(&out.join(name), bytes.len() as u64).is_ok_and(|there| there == *bytes)
        })
    };
    if present.len() == made.pages.len() && present.iter().all(same) {
        return Ok(0);
    }
    let staging = swap.stage().map_err(|e| in_place(&e, sink))?;
    for (name, bytes) in &made.pages {
        staging.write(name, bytes).map_err(|e| machine(e, sink))?;
    }
    staging.commit().map_err(|e| in_place(&e, sink))?;
    Ok(made.pages.len())
}

/// The folder of the pages is replaced, so it must be new, empty or one that was written before.
fn check_out(out: &Path, folder: &Path, sink: &mut Sink) -> Result<(), Exit> {
    const LARGEST_PAGE_BYTES: u64 = 64 << 20;
    let present = sys::tree(out).map_err(|e| machine(e, sink))?.unwrap_or_default();
    let landing = sys::read_text(&out.join("index.html"), LARGEST_PAGE_BYTES).unwrap_or_default();
    let is_page = |name: &str| matches!(name.rsplit('/').next(), Some("index.html" | "index.json"));
    let ours = landing.contains(&format!("content=\"{GENERATOR}\"")) && present.iter().all(|(name, _)| is_page(name));
    let what = if normal(folder).starts_with(&normal(out)) {
        "holds the wheels; the pages need a folder of their own"
    } else if present.is_empty() || ours {
        return Ok(());
    } else {
        "holds files that are no index of this program"
    };
    sink.push(
        Diagnostic::new(&codes::CANNOT_INDEX, format!("`{}` {what}", out.display()))
            .at(Place::Argument("--out".to_owned()), "")
            .help("give a new folder with `--out`"),
    );
    Ok(())
}

/// The steps from one folder to another.
fn steps(from: &Path, to: &Path) -> Vec<String> {
    let (from, to) = (normal(from), normal(to));
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..".to_owned(), from.len() - shared);
    up.chain(to[shared..].iter().cloned()).collect()
}

/// The parts of an absolute path, `.` and `..` taken away, links followed as far as the path exists.
fn normal(path: &Path) -> Vec<String> {
    let absolute = sys::real_path(path);
    let mut parts = Vec::new();
    for part in absolute.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
            Component::ParentDir => drop(parts.pop()),
            _ => {}
        }
    }
    parts
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    index: String,
    pages: usize,
    changed: bool,
    indexes: &'a [IndexDocument],
}

fn told(format: Format, out: &Path, pages: usize, written: usize, indexes: &[IndexDocument]) -> String {
    let index = out.display().to_string();
    if format == Format::Json {
        let document = Document { version: 1, index, pages, changed: written > 0, indexes };
        return serde_json::to_string_pretty(&document).expect("a struct of text and numbers serialises") + "\n";
    }
    let text = match written {
        0 => format!("{index} is up to date: {pages} pages, nothing written\n"),
        _ => format!("wrote {index}: {pages} pages\n"),
    };
    text + &install_lines(indexes)
}
