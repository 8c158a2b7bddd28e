//! The folder of packages, listed and opened.

use std::path::{Path, PathBuf};

use super::{open, payload};
use crate::audit::gfx::SplitCode;
use crate::audit::{AuditOptions, Auditor, NoLibraries};
use crate::bytes::{RangeReader, ReadAt as _};
use crate::cli::wheel::{self, Watchers, WheelFile};
use crate::codes::{rocm, sdk as codes};
use crate::compat::Compat;
use crate::diagnostic::{Code, Diagnostic, Location};
use crate::sdk::verify::{ON_PURPOSE, OpenedPackages};
use crate::sys::{self, DirectoryEntryKind, FileError, PositionalFile};

/// What is asked of all packages together, and told by that: where libraries search those that they
/// need.
const OF_ALL: [&Code; 3] = [
    &rocm::LIBRARY_FROM_ELSEWHERE,
    &rocm::RPATH_LEAVES_WHEEL,
    &rocm::ABSOLUTE_RPATH,
];

/// The packages of a folder.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) opened: OpenedPackages,
    /// What each wheel holds of code that was split from libraries.
    pub(super) splits: Vec<SplitCode>,
    /// All of them, with those that cannot be read.
    pub(super) packages: Vec<Package>,
    /// What is wrong with each by itself.
    pub(super) findings: Vec<Diagnostic>,
    /// Whether all of them could be read.
    pub(super) is_whole: bool,
}

/// A file of the folder.
#[derive(Debug)]
pub(super) struct Package {
    /// Its path below the folder.
    pub(super) path: String,
    pub(super) size_bytes: u64,
    /// How many files it has, and how many bytes those; `None` of one that cannot be read.
    pub(super) unpacked: Option<(usize, u64)>,
}

/// Opens every package of a folder, and of the folders for families in it.
///
/// # Errors
/// When a folder cannot be read, or has no packages.
pub(super) fn read(
    folder: &Path,
    compat: &'static Compat,
    watchers: Watchers,
) -> Result<Read, Diagnostic> {
    let paths = listed(folder)?;
    if paths.is_empty() {
        let is_there = sys::exists(folder);
        let message = if is_there {
            "there is no package of the SDK in the folder"
        } else {
            "there is no such folder"
        };
        return Err(Diagnostic::new(&codes::NO_SDK_PACKAGES, message)
            .at(Location::File(folder.display().to_string().into()), "")
            .help("give the folder `dist` that `rock-matrix sdk build` wrote"));
    }
    if paths.iter().all(|(shown, _)| shown.starts_with("dist/")) {
        let dist = folder.join("dist").display().to_string();
        return Err(Diagnostic::new(
            &codes::NO_SDK_PACKAGES,
            "the packages are in its folder `dist`",
        )
        .at(Location::File(folder.display().to_string().into()), "")
        .help(format!("run `rock-matrix sdk verify {dist}`")));
    }
    let mut read = Read {
        is_whole: true,
        ..Read::default()
    };
    for (shown, path) in paths {
        if is_wheel(&shown) {
            add_wheel(&mut read, &shown, &path, compat, watchers);
        } else {
            let file = PositionalFile::open(&path)?;
            let selector = payload::selector(&shown, RangeReader::new(&file, 0, file.size_bytes()))
                .map_err(|error| FileError::new("read", &path, error))?;
            let unpacked = selector
                .files
                .values()
                .map(|content| content.len() as u64)
                .sum();
            let unpacked = selector
                .fault
                .is_none()
                .then_some((selector.files.len(), unpacked));
            read.packages.push(Package {
                path: shown,
                size_bytes: file.size_bytes(),
                unpacked,
            });
            read.opened.selectors.push(selector);
        }
    }
    Ok(read)
}

/// The wheels and source distributions of a folder and of those in it: their paths below it, and as
/// they are.
fn listed(folder: &Path) -> Result<Vec<(String, PathBuf)>, Diagnostic> {
    let mut found = Vec::new();
    for entry in sys::read_entries(folder)? {
        let name = name_of(&entry.path);
        match entry.kind {
            DirectoryEntryKind::File if is_package(&name) => found.push((name, entry.path)),
            DirectoryEntryKind::Directory if !name.starts_with('.') => {
                let inside = sys::read_entries(&entry.path)?
                    .into_iter()
                    .filter(|inner| inner.kind == DirectoryEntryKind::File);
                let inside = inside.map(|inner| (name_of(&inner.path), inner.path));
                found.extend(
                    inside
                        .filter(|(file, _)| is_package(file))
                        .map(|(file, path)| (format!("{name}/{file}"), path)),
                );
            }
            _ => {}
        }
    }
    found.sort();
    Ok(found)
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn is_package(file: &str) -> bool {
    is_wheel(file)
        || file
            .strip_prefix("rocm-")
            .and_then(|rest| rest.strip_suffix(".tar.gz"))
            .is_some()
}

fn is_wheel(file: &str) -> bool {
    file.strip_suffix(".whl").is_some()
}

fn add_wheel(
    read: &mut Read,
    shown: &str,
    path: &Path,
    compat: &'static Compat,
    watchers: Watchers,
) {
    let file = match wheel::open(path) {
        Ok(file) => WheelFile {
            shown: shown.to_owned(),
            ..file
        },
        Err(fault) => {
            read.is_whole = false;
            read.packages.push(Package {
                path: shown.to_owned(),
                size_bytes: 0,
                unpacked: None,
            });
            read.findings.push(fault);
            return;
        }
    };
    let facts = compat.sdk_tables();
    let options = AuditOptions {
        verify_record: true,
        ..AuditOptions::default()
    };
    let auditor = Auditor::new(compat, NoLibraries, options).with_progress(watchers);
    let verified = auditor.audit_and_verify(shown, &file.name, &file.file);
    let taken = verified.audited.as_ref().map(|audited| {
        read.splits.push(SplitCode::new(shown, audited.files()));
        open::opened(audited.wheel(), audited.files(), shown, &file.name, facts)
    });
    let found = verified.findings;
    let is_told = |one: &Diagnostic| !ON_PURPOSE.contains(&one.code) && !OF_ALL.contains(&one.code);
    let found = found.into_iter().filter(is_told);
    read.findings
        .extend(found.map(|one| placed(one, &file.name.to_string(), shown)));
    let mut package = Package {
        path: shown.to_owned(),
        size_bytes: file.file.size_bytes(),
        unpacked: None,
    };
    match taken {
        Some(Ok(Some((wheel, of_tree)))) => {
            read.findings.extend(of_tree);
            package.unpacked = Some((
                wheel.files.len(),
                wheel.files.values().map(|one| one.size_bytes).sum(),
            ));
            read.opened.wheels.push(wheel);
        }
        Some(Ok(None)) => {
            read.findings.push(open::none_of_the_sdk(shown));
        }
        Some(Err(fault)) => {
            read.is_whole = false;
            read.findings.push(fault.diagnostic(shown));
        }
        None => read.is_whole = false,
    }
    read.packages.push(package);
}

/// A finding about a wheel that lies in the folder of a family: its place is told by its path.
fn placed(mut finding: Diagnostic, name: &str, shown: &str) -> Diagnostic {
    for label in &mut finding.labels {
        match &mut label.location {
            Location::Member { wheel, .. } if wheel == name => shown.clone_into(wheel),
            Location::File(file) if file.as_ref() == name => *file = shown.into(),
            _ => {}
        }
    }
    finding
}
