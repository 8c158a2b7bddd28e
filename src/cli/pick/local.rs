//! `pick --wheels`: install commands for the wheels of a local build.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::{Exit, Format, Shell, load};
use super::{Args, machine};
use crate::codes::{host, release as codes};
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Location, Severity, Sink};
use crate::exec::BuildRecord;
use crate::names::{DistributionName, WheelName, has_wheel_extension};
use crate::pick::{
    LocalWheel, PrereleaseMode, TargetMachine, WheelFilter, WheelOffers, candidates, newest,
    unfit_warnings,
};
use crate::publish::{INDEX, PublishedReleases, PublishedYanks, pages_help, read_yanked_files};
use crate::sys::{self, DirectoryEntryKind};

/// The end of the filenames of build records.
const RECORD: &str = "build.json";

/// Prints an install command for each distribution in the directory.
pub(super) fn pick(
    folder: &Path,
    args: &Args,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Exit, Exit> {
    let mut wheels = wheels(folder, sink)?;
    if let Some(requested) = args.requested_version() {
        wheels.retain(|wheel| requested.matches(&wheel.name));
        if wheels.is_empty() {
            let message = format!(
                "no wheel in `{}` is of the requested version",
                folder.display()
            );
            sink.push(
                Diagnostic::new(&codes::NO_WHEEL_FITS, message)
                    .help("leave out the version, or build it with `rock-matrix build`"),
            );
            return Err(Exit::Fault);
        }
    }
    mark_yanked(folder, &mut wheels, sink)?;
    let compat = load::compat(shell)?;
    let machine = machine(args, compat, shell, sink)?;
    let filter = WheelFilter {
        distribution: args.distribution().map(DistributionName::normalized),
        python: machine.python,
        label: args.label.clone(),
        platform: machine.platform.clone(),
        libc: machine.libc,
        detected: machine.detected.clone(),
    };
    let found = newest(&wheels, &filter);
    let printed = shell.print(&match args.format.get() {
        Format::Human => found.text(),
        Format::Json => found.json(),
    });
    sink.extend(found.diagnostics(&folder.display().to_string(), &filter));
    if machine.rocm.is_some() || machine.torch.is_some() || !machine.gfx.is_empty() {
        sink.extend(unfit(folder, &found.wheels, &machine, compat));
    }
    Ok(printed)
}

/// Sets the reason of the wheels that the index in the directory yanks, with the bytes there.
fn mark_yanked(folder: &Path, wheels: &mut [LocalWheel], sink: &mut Sink) -> Result<(), Exit> {
    let yanked = read_yanked_files(&folder.join(INDEX))
        .map_err(|errors| Exit::collect(errors, sink))?
        .unwrap_or_default();
    for wheel in wheels {
        let path = Path::new(&wheel.path);
        let Some(file) = path.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        if yanked.reason(file, None).is_none() {
            continue;
        }
        let (_, digest) = sys::hash_file(path).map_err(|error| {
            sink.push(error.into());
            Exit::Machine
        })?;
        wheel.yanked = yanked.reason(file, Some(digest)).map(str::to_owned);
    }
    Ok(())
}

/// Reads the selected wheels, and returns warnings about those whose code is for another ROCm,
/// torch or GPU.
fn unfit(
    folder: &Path,
    wheels: &[&LocalWheel],
    machine: &TargetMachine,
    compat: &Compat,
) -> Vec<Diagnostic> {
    let files: Vec<PathBuf> = wheels
        .iter()
        .map(|wheel| PathBuf::from(&wheel.path))
        .collect();
    let mut published: PublishedReleases = PublishedReleases::new(&[folder]);
    let mut found = published.add_wheels(folder, &files, compat);
    let offers = WheelOffers::of_published(&published, None, &PublishedYanks::default());
    let selected = candidates(offers.into_wheels(), compat, PrereleaseMode::Allow);
    found.extend(unfit_warnings(&selected, machine, compat));
    found
}

/// Reads the wheels in the directory with the label of `--label`, and the targets of their code.
pub(super) fn read(
    folder: &Path,
    args: &Args,
    compat: &Compat,
    sink: &mut Sink,
) -> Result<PublishedReleases, Exit> {
    let mut wheels = wheels(folder, sink)?;
    wheels.retain(|wheel| wheel.has_label(args.label.as_ref()));
    if wheels.is_empty() {
        let message = format!("no wheel in `{}` has this label", folder.display());
        sink.push(
            Diagnostic::new(&codes::NO_WHEEL_FITS, message)
                .at(Location::Argument("--label".to_owned()), "")
                .help("leave out the label, or build it with `rock-matrix build`"),
        );
        return Err(Exit::Fault);
    }
    let names = wheels
        .iter()
        .filter_map(|wheel| Path::new(&wheel.path).file_name());
    let files: Vec<PathBuf> = names.map(|name| folder.join(name)).collect();
    let mut published = PublishedReleases::new(&[folder]);
    sink.extend(published.add_wheels(folder, &files, compat));
    Ok(published)
}

/// Returns the diagnostic for a directory without wheels.
pub(super) fn no_wheels(folder: &Path) -> Diagnostic {
    let message = format!("there are no wheels in `{}`", folder.display());
    let build = "build some with `rock-matrix build`";
    Diagnostic::new(&codes::NO_PUBLISHED_WHEELS, message)
        .help(pages_help(folder).unwrap_or_else(|| build.to_owned()))
}

/// Returns the wheels in a directory; if it contains build records, only the wheels that they list.
/// Reports a directory without wheels.
fn wheels(folder: &Path, sink: &mut Sink) -> Result<Vec<LocalWheel>, Exit> {
    if !folder.is_dir() {
        let fault = Diagnostic::new(
            &host::CANNOT_READ_FILE,
            format!("`{}` is not a directory", folder.display()),
        );
        sink.push(fault.help("give the directory that a build wrote its wheels to"));
        return Err(Exit::Fault);
    }
    let entries = sys::read_entries(folder).map_err(|error| {
        sink.push(error.into());
        Exit::Machine
    })?;
    let root = sys::real_path(folder);
    let (mut wheels, mut recorded) = (Vec::new(), BTreeSet::new());
    for entry in entries
        .iter()
        .filter(|entry| entry.kind == DirectoryEntryKind::File)
    {
        let Some(file) = entry.path.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        if file.ends_with(RECORD) {
            match BuildRecord::load(&entry.path) {
                Ok(record) => recorded.extend(
                    record
                        .into_iter()
                        .flat_map(|record| record.wheels)
                        .map(|one| one.name),
                ),
                Err(reason) => {
                    let message = format!("cannot read `{}`: {reason}", entry.path.display());
                    sink.push(
                        Diagnostic::new(&host::CANNOT_READ_FILE, message)
                            .severity(Severity::Warning),
                    );
                }
            }
        } else if has_wheel_extension(file)
            && let Ok(name) = file.parse::<WheelName>()
        {
            let since = |time: std::time::SystemTime| {
                time.duration_since(std::time::UNIX_EPOCH)
                    .unwrap_or_default()
            };
            let modified = sys::size_and_mtime(&entry.path)
                .map(|(_, time)| since(time).as_nanos())
                .unwrap_or_default();
            let path = root.join(file).display().to_string();
            wheels.push((
                file.to_owned(),
                LocalWheel {
                    name,
                    path,
                    modified,
                    yanked: None,
                },
            ));
        }
    }
    let is_selected = |file: &String| recorded.is_empty() || recorded.contains(file);
    let wheels: Vec<LocalWheel> = wheels
        .into_iter()
        .filter(|(file, _)| is_selected(file))
        .map(|(_, wheel)| wheel)
        .collect();
    if wheels.is_empty() {
        sink.push(no_wheels(folder));
        return Err(Exit::Fault);
    }
    Ok(wheels)
}
