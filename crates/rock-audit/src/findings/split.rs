//! Code for GPUs that was split off from its libraries, into archives of the same wheel or of one
//! beside it.
//!
//! Wheels of one release are installed into one folder: wheels of one target hold nothing but
//! archives, below the folder of the package that has the libraries (`TheRock` RFC 0008,
//! "Multi-Architecture Packaging with Kpack").

use std::collections::{BTreeMap, BTreeSet};

use super::devices::{DeviceWheels, elsewhere};
use crate::codes::rocm as codes;
use crate::inspect::FileFacts;
use crate::search::installed;
use rock_codeobj::{CodeContainerKind, CodeTarget, KpackReference};
use rock_diagnostic::{Diagnostic, Location, Severity, counted};

/// What a wheel holds of code that was split off.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SplitCode {
    /// The name of the wheel's file.
    pub wheel: String,
    /// Libraries without their code, by path, and what they say of the archives that hold it.
    pub libraries: Vec<(String, Vec<KpackReference>)>,
    /// Archives, sorted by path.
    pub archives: Vec<SplitArchive>,
    /// Wheels that METADATA names for the code of the libraries.
    pub devices: DeviceWheels,
}

/// An archive of code that was split off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitArchive {
    /// Its path in the wheel.
    pub path: String,
    /// The targets that it holds code for.
    pub targets: BTreeSet<CodeTarget>,
    /// Whose code it holds.
    pub kernel_names: Vec<String>,
}

/// Where the code of a library for a target lies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Archive {
    /// The name of the wheel's file.
    pub wheel: String,
    /// Its path in that wheel.
    pub path: String,
}

impl SplitCode {
    /// What these files of a wheel hold of it.
    pub fn new(wheel: &str, files: &[FileFacts]) -> Self {
        let mut split = Self {
            wheel: wheel.to_owned(),
            ..Self::default()
        };
        for file in files {
            let inventory = &file.inventory;
            if !inventory.kpack_references.is_empty() {
                split
                    .libraries
                    .push((file.path.clone(), inventory.kpack_references.clone()));
            }
            if inventory.kinds().contains(&CodeContainerKind::Kpack) {
                split.archives.push(SplitArchive {
                    path: file.path.clone(),
                    targets: inventory.targets().into_keys().collect(),
                    kernel_names: inventory.kpack_names.clone(),
                });
            }
        }
        split
    }

    /// Adds the wheels that METADATA names for the code of the libraries.
    #[must_use]
    pub fn with_device_wheels(self, devices: DeviceWheels) -> Self {
        Self { devices, ..self }
    }

    /// Whether other wheels have nothing to do with it.
    pub fn is_empty(&self) -> bool {
        self.libraries.is_empty() && self.archives.is_empty()
    }
}

/// The archives of these wheels that a library refers to and that hold code of it, by the targets
/// that they are for.
pub fn archives_of(
    library: &str,
    references: &[KpackReference],
    wheels: &[SplitCode],
) -> BTreeMap<CodeTarget, BTreeSet<Archive>> {
    let mut found: BTreeMap<CodeTarget, BTreeSet<Archive>> = BTreeMap::new();
    for wheel in wheels {
        for archive in wheel
            .archives
            .iter()
            .filter(|archive| holds(library, references, archive))
        {
            for target in &archive.targets {
                let archive = Archive {
                    wheel: wheel.wheel.clone(),
                    path: archive.path.clone(),
                };
                found.entry(target.clone()).or_default().insert(archive);
            }
        }
    }
    found
}

/// Whether a library refers to an archive, both where they are installed.
fn is_named(library: &str, reference: &KpackReference, archive: &SplitArchive) -> bool {
    reference
        .matching_target(installed(library), installed(&archive.path))
        .is_some()
}

/// Whether a library refers to an archive that holds code of it.
fn holds(library: &str, references: &[KpackReference], archive: &SplitArchive) -> bool {
    references
        .iter()
        .any(|one| is_named(library, one, archive) && one.is_contained_in(&archive.kernel_names))
}

/// For each of these wheels: its libraries whose archives are in none of them, those of which no
/// archive they refer to has code, and its archives that no library of them refers to. Archives
/// alone are for libraries of another wheel, and a host wheel alone has a remark on the device
/// wheels that its METADATA names.
///
/// Not every archive needs to have code of each library: there are targets that a library has no
/// code for. That an archive has code of a library which is in none of these wheels is no finding
/// either, since one archive serves the libraries of several wheels.
pub fn missing_archives(wheels: &[SplitCode]) -> Vec<Vec<Diagnostic>> {
    wheels.iter().map(|wheel| missing(wheel, wheels)).collect()
}

fn missing(wheel: &SplitCode, wheels: &[SplitCode]) -> Vec<Diagnostic> {
    let finding = |member: &str, message: String| {
        let place = Location::Member {
            wheel: wheel.wheel.clone(),
            member: member.to_owned(),
        };
        Diagnostic::new(&codes::KPACK_MISSING, message).at(place, "")
    };
    let archives = || wheels.iter().flat_map(|wheel| &wheel.archives);
    let libraries = || wheels.iter().flat_map(|wheel| &wheel.libraries);
    let mut found = Vec::new();
    let devices = elsewhere(wheel, wheels);
    let mut without_code = 0;
    for (library, references) in &wheel.libraries {
        let mut is_without_code = false;
        for reference in references {
            let named: Vec<&SplitArchive> = archives()
                .filter(|archive| is_named(library, reference, archive))
                .collect();
            if named.is_empty() && devices.is_some() {
                is_without_code = true;
            } else if named.is_empty() {
                let paths = reference.search_paths.join(" or ");
                let message = format!("its code objects lie in {paths}, which is not there");
                let help = "name the wheels of one release together, those with the archives too";
                found.push(finding(library, message).help(help));
            } else if !named
                .iter()
                .any(|archive| reference.is_contained_in(&archive.kernel_names))
            {
                let (first, others) = (&named[0].path, named.len() - 1);
                let more = if others == 0 {
                    String::new()
                } else {
                    format!(" and {}", counted(others, "other archive"))
                };
                let message = format!("no code of `{}` is in {first}{more}", reference.kernel_name);
                let help = "take library and archives out of the same build, and name all wheels of it together";
                found.push(finding(library, message).help(help));
            }
        }
        without_code += usize::from(is_without_code);
    }
    found.extend(
        devices
            .filter(|_| without_code > 0)
            .map(|devices| in_device_wheels(wheel, devices, without_code)),
    );
    let has_libraries = libraries().next().is_some();
    for archive in wheel.archives.iter().filter(|_| has_libraries) {
        let is_of = |(library, references): &(String, Vec<KpackReference>)| {
            references
                .iter()
                .any(|reference| is_named(library, reference, archive))
        };
        if !libraries().any(is_of) {
            found.push(finding(
                &archive.path,
                "no library refers to this archive of code objects".to_owned(),
            ));
        }
    }
    found
}

/// Reports that the code of a host wheel's libraries is in device wheels that were not checked with
/// it.
fn in_device_wheels(wheel: &SplitCode, devices: &DeviceWheels, libraries: usize) -> Diagnostic {
    // Where no wheel is of one target, the bundles say what they are for.
    let targets: Vec<String> = if devices.targets.is_empty() {
        devices.bundles.iter().cloned().collect()
    } else {
        devices.targets.iter().map(ToString::to_string).collect()
    };
    let targets = targets.join(", ");
    let message = format!(
        "the code of {} is in device wheels, for {targets}",
        counted(libraries, "library")
    );
    let finding = Diagnostic::new(&codes::KPACK_MISSING, message)
        .severity(Severity::Note)
        .at(Location::File(wheel.wheel.clone().into()), "");
    let extra = devices
        .example
        .as_ref()
        .map(|one| format!("`{one}` installs one with it; "))
        .unwrap_or_default();
    finding.help(format!(
        "{extra}name the device wheels too to check them together"
    ))
}
