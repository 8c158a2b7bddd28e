//! `pick --wheels`: install commands for the wheels of a local build.

use std::collections::BTreeSet;
use std::path::Path;

use super::super::{Exit, Format, Shell, load};
use super::{Args, machine};
use crate::codes::{host, release as codes};
use crate::diagnostic::{Diagnostic, Location, Severity, Sink};
use crate::exec::BuildRecord;
use crate::names::{DistributionName, WheelName, has_wheel_extension};
use crate::pick::{ForeignWheel, LocalWheel, Mismatch, NewestWheel, WheelFilter, newest};
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
    let wheels = wheels(folder, sink)?;
    if wheels.is_empty() {
        let message = format!("there are no wheels in `{}`", folder.display());
        sink.push(
            Diagnostic::new(&codes::NO_PUBLISHED_WHEELS, message)
                .help("build some with `rock-matrix build`"),
        );
        return Err(Exit::Fault);
    }
    let machine = machine(args, load::compat(shell)?, shell, sink)?;
    let asked = WheelFilter {
        distribution: args.distribution().map(DistributionName::normalized),
        python: machine.python,
        label: args.label.clone(),
        platform: machine.platform,
        libc: machine.libc,
    };
    let found = newest(&wheels, &asked);
    let printed = match args.format.get() {
        Format::Human => shell.print(
            &found
                .wheels
                .iter()
                .map(|wheel| wheel.install_line() + "\n")
                .collect::<String>(),
        ),
        Format::Json => shell.print(&document(&found)),
    };
    let severity = if found.wheels.is_empty() {
        Severity::Error
    } else {
        Severity::Warning
    };
    for (project, others) in &found.others {
        let python = asked
            .python
            .map(|python| format!(" for Python {python}"))
            .unwrap_or_default();
        let label = asked
            .label
            .as_ref()
            .map(|label| format!(" with the label `{label}`"))
            .unwrap_or_default();
        let foreign: Vec<&ForeignWheel> = found
            .foreign
            .iter()
            .filter(|one| one.project == *project)
            .collect();
        let list = others
            .iter()
            .map(|other| format!("`{other}`"))
            .collect::<Vec<_>>()
            .join(", ");
        let fits = if foreign.is_empty() {
            "is"
        } else {
            "that fits the system is"
        };
        let message = format!(
            "no wheel of {project}{python}{label} {fits} in `{}`",
            folder.display()
        );
        let finding = Diagnostic::new(&codes::NO_WHEEL_FITS, message).severity(severity);
        let finding = if list.is_empty() {
            finding
        } else {
            finding.note(format!("there are {list}"))
        };
        let finding = foreign
            .iter()
            .fold(finding, |finding, one| finding.note(left_out(one)));
        sink.push(finding.help(match foreign.first() {
            Some(one) => {
                let Mismatch { axis, wheel, .. } = &one.difference;
                format!("use {axis} {wheel}, or build the wheel with `rock-matrix build`")
            }
            None => "build it, or select another one with `--python` and `--label`".to_owned(),
        }));
    }
    for one in found
        .foreign
        .iter()
        .filter(|one| !found.others.contains_key(&one.project))
    {
        sink.push(Diagnostic::new(&codes::NO_WHEEL_FITS, left_out(one)).severity(Severity::Note));
    }
    if found.wheels.is_empty() && found.others.is_empty() {
        let name = asked.distribution.unwrap_or_default();
        let message = format!("no wheel of {name} is in `{}`", folder.display());
        sink.push(
            Diagnostic::new(&codes::NO_SUCH_PROJECT, message)
                .at(Location::Argument(name), "")
                .help("omit the name to see all distributions"),
        );
    }
    Ok(printed)
}

/// Returns the wheels in a directory; if it contains build records, only the wheels that they list.
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
                },
            ));
        }
    }
    let is_selected = |file: &String| recorded.is_empty() || recorded.contains(file);
    Ok(wheels
        .into_iter()
        .filter(|(file, _)| is_selected(file))
        .map(|(_, wheel)| wheel)
        .collect())
}

fn left_out(one: &ForeignWheel<'_>) -> String {
    format!("`{}` is left out: {}", one.wheel.name, one.difference)
}

fn document(found: &NewestWheel<'_>) -> String {
    let foreign = |one: &ForeignWheel<'_>| {
        serde_json::json!({
            "distribution": one.wheel.name.distribution().as_str(),
            "version": one.wheel.name.version().to_string(),
            "path": one.wheel.path,
            "reason": one.difference.to_string(),
        })
    };
    let wheel = |wheel: &&LocalWheel| {
        serde_json::json!({
            "distribution": wheel.name.distribution().as_str(),
            "version": wheel.name.version().to_string(),
            "path": wheel.path,
            "install": wheel.install_line(),
        })
    };
    let document = serde_json::json!({
        "version": 1,
        "wheels": found.wheels.iter().map(wheel).collect::<Vec<_>>(),
        "others": found.others,
        "left_out": found.foreign.iter().map(foreign).collect::<Vec<_>>(),
    });
    format!("{document:#}\n")
}
