//! The packages of a directory, opened and checked.

use std::path::{Path, PathBuf};

use rock_audit::codes::rocm;
use rock_audit::gfx::SplitCode;
use rock_audit::{AuditOptions, Auditor, NoLibraries, ProgressReporter, WheelFile, check_size};
use rock_bytes::{RangeReader, ReadAt as _};
use rock_compat::Compat;
use rock_diagnostic::{Code, Diagnostic, Location, Severity};
use rock_sys::{DirectoryEntryKind, FileError, PositionalFile};

use super::{ON_PURPOSE, OpenedPackages, archives, split_code, wheel};
use crate::codes::sdk as codes;

/// Codes that are checked across all packages: where libraries search for their dependencies.
const CHECKED_ACROSS_PACKAGES: [&Code; 3] = [
    &rocm::LIBRARY_FROM_ELSEWHERE,
    &rocm::RPATH_LEAVES_WHEEL,
    &rocm::ABSOLUTE_RPATH,
];

/// The packages of a directory and their problems.
#[derive(Debug, Default)]
pub struct VerifiedPackages {
    /// All packages, including those that cannot be read, sorted by path.
    pub packages: Vec<VerifiedPackage>,
    /// The problems of each package and those across packages.
    pub findings: Vec<Diagnostic>,
}

/// A file of the directory.
#[derive(Debug)]
pub struct VerifiedPackage {
    /// The path relative to the directory.
    pub path: String,
    /// The size of the file.
    pub size_bytes: u64,
    /// The number of its files and the sum of their sizes; `None` if it cannot be read.
    pub unpacked: Option<(usize, u64)>,
}

impl VerifiedPackages {
    /// Checks every package of a directory, and of its subdirectories for GPU families.
    ///
    /// Checks across packages are left out if a package cannot be read, since they would report the
    /// files of that package as missing.
    ///
    /// # Errors
    /// When a directory cannot be read or has no packages.
    pub fn verify(
        directory: &Path,
        compat: &Compat,
        progress: &dyn ProgressReporter,
    ) -> Result<Self, Diagnostic> {
        let facts = compat.sdk_tables();
        let reader = PackageReader::read(directory, compat, progress)?;
        let mut findings = reader.findings;
        for package in &reader.packages {
            findings.extend(
                check_size(&package.path, package.size_bytes, None, compat)
                    .filter(Diagnostic::is_error)
                    .map(|finding| finding.severity(Severity::Warning)),
            );
        }
        if reader.is_complete {
            findings.extend(super::verify(&reader.opened, facts));
            findings.extend(split_code::findings(&reader.opened, &reader.split_code));
        } else {
            for wheel in &reader.opened.wheels {
                findings.extend(super::check_wheel(wheel, facts));
            }
        }
        Ok(Self {
            packages: reader.packages,
            findings,
        })
    }
}

/// The packages that were opened so far.
struct PackageReader<'r> {
    compat: &'r Compat,
    progress: &'r dyn ProgressReporter,
    opened: OpenedPackages,
    /// The device code of each wheel that was split from libraries.
    split_code: Vec<SplitCode>,
    packages: Vec<VerifiedPackage>,
    findings: Vec<Diagnostic>,
    /// Whether all packages could be read.
    is_complete: bool,
}

impl<'r> PackageReader<'r> {
    fn read(
        directory: &Path,
        compat: &'r Compat,
        progress: &'r dyn ProgressReporter,
    ) -> Result<Self, Diagnostic> {
        let paths = list_packages(directory)?;
        check_directory(directory, &paths)?;
        let mut reader = Self {
            compat,
            progress,
            opened: OpenedPackages::default(),
            split_code: Vec::new(),
            packages: Vec::new(),
            findings: Vec::new(),
            is_complete: true,
        };
        for (shown, path) in paths {
            if is_wheel(&shown) {
                reader.add_wheel(&shown, &path);
            } else {
                reader.add_sdist(shown, &path)?;
            }
        }
        Ok(reader)
    }

    fn add_sdist(&mut self, shown: String, path: &Path) -> Result<(), FileError> {
        let file = PositionalFile::open(path)?;
        let sdist = archives::read_sdist(&shown, RangeReader::new(&file, 0, file.size_bytes()))
            .map_err(|error| FileError::new("read", path, error))?;
        let unpacked_bytes = sdist
            .files
            .values()
            .map(|content| content.len() as u64)
            .sum();
        self.packages.push(VerifiedPackage {
            path: shown,
            size_bytes: file.size_bytes(),
            unpacked: sdist
                .fault
                .is_none()
                .then_some((sdist.files.len(), unpacked_bytes)),
        });
        self.opened.selectors.push(sdist);
        Ok(())
    }

    fn add_wheel(&mut self, shown: &str, path: &Path) {
        let mut package = VerifiedPackage {
            path: shown.to_owned(),
            size_bytes: 0,
            unpacked: None,
        };
        match WheelFile::open(path) {
            Ok(file) => {
                package.size_bytes = file.file.size_bytes();
                package.unpacked = self.audit_wheel(shown, &file);
            }
            Err(error) => {
                self.is_complete = false;
                self.findings.push(error);
            }
        }
        self.packages.push(package);
    }

    /// Audits and opens a wheel. Returns the number of its files and the sum of their sizes, or
    /// `None` if it cannot be read or is not a package of the SDK.
    fn audit_wheel(&mut self, shown: &str, file: &WheelFile) -> Option<(usize, u64)> {
        let options = AuditOptions {
            verify_record: true,
            ..AuditOptions::default()
        };
        let auditor = Auditor::new(self.compat, NoLibraries, options).with_progress(self.progress);
        let verified = auditor.audit_and_verify(shown, &file.name, &file.file);
        let opened = verified.audited().map(|audited| {
            self.split_code.push(SplitCode::new(shown, audited.files()));
            let facts = self.compat.sdk_tables();
            wheel::open_wheel(audited.wheel(), audited.files(), shown, &file.name, facts)
        });
        let findings = verified.findings().iter().filter(|finding| {
            !ON_PURPOSE.contains(&finding.code) && !CHECKED_ACROSS_PACKAGES.contains(&finding.code)
        });
        let name = file.name.to_string();
        self.findings
            .extend(findings.map(|finding| with_path(finding.clone(), &name, shown)));
        match opened {
            Some(Ok(Some((wheel, findings)))) => {
                self.findings.extend(findings);
                let files = wheel.files.len();
                let bytes = wheel.files.values().map(|file| file.size_bytes).sum();
                self.opened.wheels.push(wheel);
                Some((files, bytes))
            }
            Some(Ok(None)) => {
                self.findings.push(wheel::not_an_sdk_package(shown));
                None
            }
            Some(Err(error)) => {
                self.is_complete = false;
                self.findings.push(error.diagnostic(shown));
                None
            }
            None => {
                self.is_complete = false;
                None
            }
        }
    }
}

/// Checks that a directory has packages and is not the parent of their directory.
fn check_directory(directory: &Path, paths: &[(String, PathBuf)]) -> Result<(), Diagnostic> {
    let place = Location::File(directory.display().to_string().into());
    if paths.is_empty() {
        let message = if rock_sys::exists(directory) {
            "there is no package of the SDK in the directory"
        } else {
            "there is no such directory"
        };
        return Err(Diagnostic::new(&codes::NO_SDK_PACKAGES, message)
            .at(place, "")
            .help("pass the directory `dist` that `rock-matrix sdk build` wrote"));
    }
    if paths.iter().all(|(shown, _)| shown.starts_with("dist/")) {
        let dist = directory.join("dist").display().to_string();
        let message = "the packages are in its subdirectory `dist`";
        return Err(Diagnostic::new(&codes::NO_SDK_PACKAGES, message)
            .at(place, "")
            .help(format!("run `rock-matrix sdk verify {dist}`")));
    }
    Ok(())
}

/// Lists the wheels and source distributions of a directory and its subdirectories, as relative and
/// complete paths.
fn list_packages(directory: &Path) -> Result<Vec<(String, PathBuf)>, Diagnostic> {
    let mut found = Vec::new();
    for entry in rock_sys::read_entries(directory)? {
        let name = name_of(&entry.path);
        match entry.kind {
            DirectoryEntryKind::File if is_package(&name) => found.push((name, entry.path)),
            DirectoryEntryKind::Directory if !name.starts_with('.') => {
                let inside = rock_sys::read_entries(&entry.path)?
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

/// Replaces the name of a wheel in the locations of a finding by its path, since the subdirectories
/// of families have wheels with the same name.
fn with_path(mut finding: Diagnostic, name: &str, shown: &str) -> Diagnostic {
    for label in &mut finding.labels {
        match &mut label.location {
            Location::Member { wheel, .. } if wheel == name => shown.clone_into(wheel),
            Location::File(file) if file.as_ref() == name => *file = shown.into(),
            _ => {}
        }
    }
    finding
}
