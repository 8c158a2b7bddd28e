//! `wheel gfx`: list the GPU targets that wheels contain code for.

use std::path::{Path, PathBuf};

use super::options::Work;
use super::{Format, OutputFormat, fail, report};
use crate::audit::gfx::{DeviceWheels, GfxReport, SplitCode, UnexpectedTargets};
use crate::audit::{
    self, InspectOptions, InspectedFile, Inspection, ProgressReporter as _, WheelFile,
};
use crate::cli::gfx_targets::{GfxWords, gfx_words, targets};
use crate::cli::reporters::WheelReporter;
use crate::cli::{Exit, Shell, load};
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::names::GfxTarget;
use crate::sys::ScratchSpace;
use crate::wheel::{WheelHeaders, ZipArchive};

/// List the GPU targets that wheels contain code for, file by file
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
GPU code is found in offload bundles (compressed or not), code objects, kpack archives and data
files, anywhere in a wheel. Exits with 1 if a file lacks targets of --require or --exact, has others
than --exact, or if code is damaged or contradicts the table of its bundle.

Examples:
  rock-matrix wheel gfx dist/*.whl
  rock-matrix wheel gfx built.whl --require gfx942,gfx1100        fail if one is missing
  rock-matrix wheel gfx built.whl --exact gfx90a,gfx942,gfx1100   fail on any other set
  rock-matrix wheel gfx built.whl --fast                          read only tables of bundles
  rock-matrix wheel gfx libraries.whl device_gfx942.whl           GPU code in other wheels
  rock-matrix wheel gfx built.whl --json")]
pub(super) struct Args {
    /// Wheels, or directories with wheels
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
    let expected = expected
        .as_ref()
        .map(|(targets, unexpected)| (targets.as_slice(), *unexpected));
    for (name, files) in wheels {
        let (text, found) = match files {
            Ok(files) => {
                let report = GfxReport::new(&name, &files, &splits, expected);
                let text = match args.format.get() {
                    Format::Human => report.to_text(compat),
                    Format::Json => report.to_json(),
                };
                (text, report.findings().to_vec())
            }
            Err(faults) => match (args.format.get(), faults.first()) {
                (Format::Json, Some(first)) => (GfxReport::unreadable_json(&name, first), faults),
                _ => (String::new(), faults),
            },
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

/// The files of a wheel, or the errors that keep it from being read.
type Inspected = Result<Vec<InspectedFile>, Vec<Diagnostic>>;

fn inspect(path: &Path, args: &Args, room: &ScratchSpace, reporter: &WheelReporter) -> Inspected {
    let file = WheelFile::open(path).map_err(|fault| vec![fault])?;
    let fault = |error: crate::wheel::WheelError| error.diagnostic(&file.file_name);
    let archive = ZipArchive::open(&file.file).map_err(|error| vec![fault(error)])?;
    let on_progress = reporter.start(&file.file_name);
    let inspection = if args.fast {
        Inspection::GPU_TABLES
    } else {
        Inspection::default()
    };
    let options = InspectOptions {
        inspection,
        keeps_symbol: &|_| false,
        make_scratch: &|size_bytes| room.allocate(size_bytes),
        record: None,
        progress: &*on_progress,
    };
    audit::inspect_members(&archive, options)
        .map_err(|faults| faults.into_iter().map(fault).collect())
}
