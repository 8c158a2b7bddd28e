//! `wheel gfx`: list the GPU targets that wheels contain code for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::options::Work;
use super::{Format, OutputFormat, fail, report};
use crate::audit::gfx::{
    DeviceWheels, GfxDocument, KpackLocation, SplitCode, UnexpectedTargets, gfx_findings,
    kpack_locations, unexpected_targets,
};
use crate::audit::{
    self, FindingView, InspectOptions, InspectedFile, InspectedKind, InspectionDepth,
    ProgressReporter as _, WheelFile,
};
use crate::cli::reporters::WheelReporter;
use crate::cli::targets::{GfxWords, gfx_words, targets};
use crate::cli::{Exit, Shell, load};
use crate::codeobj::{CodeContainerKind, CodeInventory, CodeTarget, InventoryTotals, SourceKind};
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity, counted};
use crate::names::GfxTarget;
use crate::sdk::base_target;
use crate::sys::ScratchSpace;
use crate::wheel::{WheelHeaders, ZipArchive};

/// List the GPU targets that wheels contain code for, file by file
#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Examples:
  rock-matrix wheel gfx dist/*.whl
  rock-matrix wheel gfx built.whl --require gfx942,gfx1100        fail if one is missing",
    after_long_help = "\
GPU code is found in offload bundles (compressed or not), code objects, kpack archives and data
files, anywhere in a wheel. Exits with 1 if a file lacks targets of --require or --exact, has others
than --exact, or if code is damaged or contradicts the table of its bundle.

Examples:
  rock-matrix wheel gfx dist/*.whl
  rock-matrix wheel gfx built.whl --require gfx942,gfx1100        fail if one is missing
  rock-matrix wheel gfx built.whl --exact gfx90a,gfx942,gfx1100   fail on any other set
  rock-matrix wheel gfx built.whl --fast                          read only tables of bundles
  rock-matrix wheel gfx libraries.whl device_gfx942.whl           GPU code in other wheels
  rock-matrix wheel gfx built.whl --json"
)]
pub(super) struct Args {
    /// Wheels, or folders with wheels
    #[arg(required = true, value_name = "WHEEL|DIR")]
    wheels: Vec<PathBuf>,
    /// Fail unless every file with offload bundles has exactly these targets
    ///
    /// Separate targets with commas; families and products, such as mi300x, select their targets.
    #[arg(long, value_name = "LIST", value_parser = gfx_words, alias = "expect")]
    exact: Option<GfxWords>,
    /// Fail unless every file with offload bundles has all of these targets
    ///
    /// The files may have other targets as well.
    #[arg(long, value_name = "LIST", value_parser = gfx_words, conflicts_with = "exact")]
    require: Option<GfxWords>,
    /// Trust the tables of bundles instead of reading the code objects
    #[arg(long)]
    fast: bool,
    #[command(flatten)]
    work: Work,
    #[command(flatten)]
    format: OutputFormat,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let room = match args.work.room() {
        Ok(room) => room,
        Err(fault) => return report(shell, vec![fault]),
    };
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let expected = match expected_targets(args, compat, shell) {
        Ok(expected) => expected,
        Err(errors) => return fail(shell, &errors),
    };
    let named = |path: &PathBuf| {
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let (paths, mut all) = audit::find_wheels(&args.wheels);
    let reporter = WheelReporter::new(shell);
    let wheels: Vec<(String, Inspected)> = paths
        .iter()
        .map(|path| (named(path), inspect(path, args, &room, &reporter)))
        .collect();
    let split = |(path, (name, files)): (&PathBuf, &(String, Inspected))| {
        Some(
            SplitCode::new(name, files.as_ref().ok()?)
                .with_device_wheels(device_wheels(path, compat)),
        )
    };
    let splits: Vec<SplitCode> = paths.iter().zip(&wheels).filter_map(split).collect();
    for (name, files) in wheels {
        let (text, found) = match files {
            Ok(files) => listed(&name, &files, &splits, expected.as_ref(), compat, args),
            Err(faults) => (unread(&name, &faults, args), faults),
        };
        if let exit @ (Exit::Machine | Exit::Fault) = shell.print(&text) {
            return exit;
        }
        // Notes only repeat the table.
        all.extend(
            found
                .into_iter()
                .filter(|finding| finding.severity < Severity::Note),
        );
    }
    report(shell, all)
}

/// Returns the targets of `--exact` or `--require`.
fn expected_targets(
    args: &Args,
    compat: &Compat,
    shell: &Shell,
) -> Result<Option<(Vec<GfxTarget>, UnexpectedTargets)>, Diagnostics> {
    let (words, option, unexpected) = match (&args.exact, &args.require) {
        (Some(words), _) => (words, "--exact", UnexpectedTargets::Rejected),
        (None, Some(words)) => (words, "--require", UnexpectedTargets::Allowed),
        (None, None) => return Ok(None),
    };
    Ok(Some((targets(words, option, compat, shell)?, unexpected)))
}

/// Returns the device wheels that METADATA names; none if it cannot be read, which `wheel check`
/// reports.
fn device_wheels(path: &Path, compat: &Compat) -> DeviceWheels {
    let file = WheelFile::open(path).ok();
    let devices = |file: &WheelFile| {
        Some(DeviceWheels::new(
            WheelHeaders::open(&file.file).ok()?.metadata(),
            compat,
        ))
    };
    file.as_ref().and_then(devices).unwrap_or_default()
}

/// Returns the output for a wheel and its findings.
fn listed(
    name: &str,
    files: &[InspectedFile],
    splits: &[SplitCode],
    expected: Option<&(Vec<GfxTarget>, UnexpectedTargets)>,
    compat: &Compat,
    args: &Args,
) -> (String, Vec<Diagnostic>) {
    let document = GfxDocument::with_other_wheels(name, files, splits);
    let mut found: Vec<Diagnostic> = files
        .iter()
        .flat_map(|file| gfx_findings(name, file))
        .collect();
    if let Some((targets, unexpected)) = expected {
        found.extend(unexpected_targets(
            name,
            files,
            splits,
            targets,
            *unexpected,
        ));
    }
    let text = match args.format.get() {
        Format::Human => human(name, files, splits, &document, compat),
        Format::Json => {
            let findings: Vec<FindingView> = found.iter().map(FindingView::new).collect();
            let document = serde_json::json!({
                "version": 1,
                "wheel": name,
                "gfx": document,
                "findings": findings,
            });
            format!("{document}\n")
        }
    };
    (text, found)
}

/// Returns the output for a wheel that cannot be read.
fn unread(name: &str, faults: &[Diagnostic], args: &Args) -> String {
    match (args.format.get(), faults.first()) {
        (Format::Json, Some(first)) => {
            format!(
                "{}\n",
                serde_json::json!({"version": 1, "wheel": name, "error": first.message})
            )
        }
        _ => String::new(),
    }
}

/// The files of a wheel, or the errors that keep it from being read.
type Inspected = Result<Vec<InspectedFile>, Vec<Diagnostic>>;

fn inspect(path: &Path, args: &Args, room: &ScratchSpace, reporter: &WheelReporter) -> Inspected {
    let file = WheelFile::open(path).map_err(|fault| vec![fault])?;
    let fault = |error: crate::wheel::WheelError| error.diagnostic(&file.file_name);
    let archive = ZipArchive::open(&file.file).map_err(|error| vec![fault(error)])?;
    let on_progress = reporter.start(&file.file_name);
    let depth = if args.fast {
        InspectionDepth::Tables
    } else {
        InspectionDepth::Everything
    };
    let options = InspectOptions {
        depth,
        keeps_symbol: &|_| false,
        make_scratch: &|size_bytes| room.allocate(size_bytes),
        record: None,
        progress: &*on_progress,
    };
    audit::inspect_members(&archive, options)
        .map_err(|faults| faults.into_iter().map(fault).collect())
}

fn human(
    name: &str,
    files: &[InspectedFile],
    splits: &[SplitCode],
    document: &GfxDocument,
    compat: &Compat,
) -> String {
    let mut text = format!("{name}\n");
    let targets = document.targets();
    let all = if targets.is_empty() {
        "none".to_owned()
    } else {
        targets.join(" ")
    };
    let _ = writeln!(text, "  targets   {all}");
    let processors: BTreeSet<&str> = targets.iter().map(|target| base_target(target)).collect();
    for processor in processors {
        if let Some(products) = compat.product_names(processor) {
            let _ = writeln!(text, "            {processor}: {products}");
        }
    }
    if !document.elsewhere().is_empty() {
        let _ = writeln!(text, "  elsewhere {}", document.elsewhere().join(" "));
    }
    // Most files of a build have the same targets, which are listed once.
    let mut sets: BTreeMap<Vec<CodeTarget>, Vec<&InspectedFile>> = BTreeMap::new();
    for file in files
        .iter()
        .filter(|file| !file.inventory.containers.is_empty())
    {
        sets.entry(file.inventory.targets().into_keys().collect())
            .or_default()
            .push(file);
    }
    let mut sets: Vec<Vec<&InspectedFile>> = sets.into_values().collect();
    sets.sort_by(|one, other| {
        one.first()
            .map(|file| &file.path)
            .cmp(&other.first().map(|file| &file.path))
    });
    for set in sets {
        let mut union = InventoryTotals::default();
        for file in set {
            let inventory = &file.inventory;
            let unpacked = match inventory.raw_bytes() {
                raw if raw == inventory.packed_bytes() => String::new(),
                raw => format!(" for {} unpacked", audit::format_size(raw)),
            };
            let _ = writeln!(
                text,
                "  {}: {}, {}{unpacked}",
                file.path,
                containers(inventory),
                audit::format_size(inventory.packed_bytes()),
            );
            union.add(inventory);
        }
        for (target, totals) in union.targets {
            let objects = counted(totals.objects, "object");
            let held = if totals.objects == 0 {
                String::new()
            } else {
                format!("{objects}, {}", audit::format_size(totals.bytes))
            };
            let _ = writeln!(
                text,
                "{}",
                format!("    {:24}{held}", target.to_string()).trim_end()
            );
        }
    }
    for file in files
        .iter()
        .filter(|file| !file.inventory.kpack_references.is_empty())
    {
        let _ = writeln!(text, "  {}: code split off", file.path);
        for (target, archives) in
            kpack_locations(&file.path, &file.inventory.kpack_references, splits)
        {
            let shown = |one: &KpackLocation| {
                if one.wheel == name {
                    one.path.clone()
                } else {
                    format!("{} of {}", one.path, one.wheel)
                }
            };
            let archives: Vec<String> = archives.iter().map(shown).collect();
            let _ = writeln!(
                text,
                "    {:24}{}",
                target.to_string(),
                archives.join(" and ")
            );
        }
    }
    for (kind, word) in [
        (SourceKind::Source, "source file"),
        (SourceKind::Bitcode, "bitcode file"),
    ] {
        let count = files
            .iter()
            .filter(|file| file.kind == InspectedKind::Source(kind))
            .count();
        if count > 0 {
            let _ = writeln!(text, "  {} (not GPU code)", counted(count, word));
        }
    }
    text
}

/// Returns the number of containers of each kind.
fn containers(inventory: &CodeInventory) -> String {
    let mut counts: BTreeMap<CodeContainerKind, usize> = BTreeMap::new();
    for container in &inventory.containers {
        *counts.entry(container.kind).or_default() += 1;
    }
    let describe = |(kind, count): (CodeContainerKind, usize)| match kind {
        CodeContainerKind::Bundle => counted(count, "bundle"),
        CodeContainerKind::Compressed(_) => {
            format!("{} ({kind})", counted(count, "compressed bundle"))
        }
        CodeContainerKind::Elf => counted(count, "code object"),
        CodeContainerKind::Kpack => counted(count, "archive"),
        CodeContainerKind::Data => counted(count, "data file"),
    };
    counts
        .into_iter()
        .map(describe)
        .collect::<Vec<_>>()
        .join(" and ")
}
