//! `wheel gfx`: for which GPUs wheels hold code.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::bar::{Bar, Watchers};
use super::{Format, Printing, report};
use crate::audit::{self, FileFacts, FileKind, GfxDocument, Look, Reading};
use crate::cli::{Exit, Shell};
use crate::codeobj::SourceKind;
use crate::diagnostic::{Diagnostic, counted};
use crate::names::GfxTarget;
use crate::sys;
use crate::wheel::Archive;

/// List for which GPUs wheels hold code, file by file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Code is found in bundles, compressed or not, code objects, archives of them, and data files, wherever they lie.
Exits with 1 when --expect names other targets than a file holds.

Examples:
  rock-matrix wheel gfx dist/*.whl
  rock-matrix wheel gfx built.whl --expect gfx90a,gfx942,gfx1100
  rock-matrix wheel gfx built.whl --fast                    the tables of bundles alone
  rock-matrix wheel gfx built.whl --json")]
pub(super) struct Args {
    /// The wheels
    #[arg(required = true, value_name = "WHEEL")]
    wheels: Vec<PathBuf>,
    /// The targets that every file with bundles must hold code for, and no others
    #[arg(long, value_name = "TARGETS", value_delimiter = ',')]
    expect: Vec<GfxTarget>,
    /// Believe the tables of bundles, and do not look at the code objects
    #[arg(long)]
    fast: bool,
    #[command(flatten)]
    printing: Printing,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let mut all = Vec::new();
    for path in &args.wheels {
        let files = match inspect(path, args, shell) {
            Ok(files) => files,
            Err(faults) => {
                all.extend(faults);
                continue;
            }
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let text = match args.printing.format() {
            Format::Human => human(&name, &files),
            Format::Json => {
                let document = serde_json::json!({"version": 1, "wheel": name, "gfx": GfxDocument::new(&files)});
                format!("{document}\n")
            }
        };
        if let exit @ (Exit::Machine | Exit::Fault) = shell.print(&text) {
            return exit;
        }
        if !args.expect.is_empty() {
            all.extend(audit::unexpected(&name, &files, &args.expect));
        }
    }
    report(shell, &all)
}

fn inspect(path: &Path, args: &Args, shell: &Shell) -> Result<Vec<FileFacts>, Vec<Diagnostic>> {
    let file = super::open(path).map_err(|fault| vec![fault])?;
    let fault = |error: crate::wheel::WheelError| error.diagnostic(&file.shown);
    let archive = Archive::open(&file.file).map_err(|error| vec![fault(error)])?;
    let bar = Bar::new(Watchers::of(shell), &file.shown);
    let look = if args.fast { Look::Tables } else { Look::Everything };
    let reading = Reading {
        look,
        asked: &|_| false,
        make_scratch: &sys::scratch,
        vouching: None,
        watch: &|progress| bar.tell(progress),
    };
    audit::inspect(&archive, reading).map_err(|faults| faults.into_iter().map(fault).collect())
}

fn human(name: &str, files: &[FileFacts]) -> String {
    let document = GfxDocument::new(files);
    let mut text = format!("{name}\n");
    let targets = document.targets();
    let all = if targets.is_empty() { "none".to_owned() } else { targets.join(" ") };
    let _ = writeln!(text, "  targets   {all}");
    for file in files.iter().filter(|file| !file.inventory.is_empty()) {
        let inventory = &file.inventory;
        let kinds: Vec<String> = inventory.kinds().iter().map(ToString::to_string).collect();
        let _ = writeln!(
            text,
            "  {}: {} in {}, {} bytes{}",
            file.path,
            counted(inventory.containers.len(), "container"),
            kinds.join(" and "),
            inventory.packed_bytes(),
            if inventory.raw_bytes() == inventory.packed_bytes() {
                String::new()
            } else {
                format!(" for {} unpacked", inventory.raw_bytes())
            }
        );
        for (target, totals) in inventory.targets() {
            let objects = counted(totals.objects, "object");
            let _ = writeln!(text, "    {:24}{objects}, {} bytes", target.to_string(), totals.bytes);
        }
    }
    let sources = files.iter().filter(|file| matches!(file.kind, FileKind::Source(SourceKind::Source))).count();
    if sources > 0 {
        let _ = writeln!(text, "  {}, which are no code for a GPU", counted(sources, "source file"));
    }
    text
}
