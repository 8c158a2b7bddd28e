//! GPU code that was split off from its libraries into kpack archives of the same wheel or of
//! another one.
//!
//! Wheels of one release are installed into one directory: device wheels contain only archives,
//! below the directory of the package that has the libraries (`TheRock` RFC 0008,
//! "Multi-Architecture Packaging with Kpack").

use std::collections::{BTreeMap, BTreeSet};

use super::devices::{DeviceWheels, elsewhere};
use crate::codes::rocm as codes;
use crate::inspect::InspectedFile;
use crate::search_path::installed;
use rock_codeobj::{CodeContainerKind, CodeTarget, KpackReference};
use rock_diagnostic::{Diagnostic, Location, Severity, counted};

/// The split-off code of a wheel: its archives, and the libraries that refer to archives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SplitCode {
    /// The file name of the wheel.
    pub wheel: String,
    /// References to archives of libraries without code, by the path of the library.
    pub libraries: Vec<(String, Vec<KpackReference>)>,
    /// The archives, sorted by path.
    pub archives: Vec<SplitArchive>,
    /// The device wheels that METADATA names.
    pub devices: DeviceWheels,
}

/// An archive of split-off code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitArchive {
    /// The path in the wheel.
    pub path: String,
    /// The targets for which it contains code.
    pub targets: BTreeSet<CodeTarget>,
    /// The libraries whose code it contains.
    pub kernel_names: Vec<String>,
}

/// The location of the code of a library for one target.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KpackLocation {
    /// The file name of the wheel.
    pub wheel: String,
    /// The path in that wheel.
    pub path: String,
}

impl SplitCode {
    /// Collects the split-off code of the files of a wheel.
    pub fn new(wheel: &str, files: &[InspectedFile]) -> Self {
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

    /// Sets the device wheels that METADATA names.
    #[must_use]
    pub fn with_device_wheels(self, devices: DeviceWheels) -> Self {
        Self { devices, ..self }
    }

    /// Returns whether the wheel neither contains archives nor refers to any.
    pub fn is_empty(&self) -> bool {
        self.libraries.is_empty() && self.archives.is_empty()
    }
}

/// Returns the archives of these wheels that a library refers to and that contain its code, by
/// target.
pub fn kpack_locations(
    library: &str,
    references: &[KpackReference],
    wheels: &[SplitCode],
) -> BTreeMap<CodeTarget, BTreeSet<KpackLocation>> {
    let mut locations: BTreeMap<CodeTarget, BTreeSet<KpackLocation>> = BTreeMap::new();
    for wheel in wheels {
        for archive in wheel
            .archives
            .iter()
            .filter(|archive| holds(library, references, archive))
        {
            for target in &archive.targets {
                let location = KpackLocation {
                    wheel: wheel.wheel.clone(),
                    path: archive.path.clone(),
                };
                locations
                    .entry(target.clone())
                    .or_default()
                    .insert(location);
            }
        }
    }
    locations
}

/// Returns whether a library refers to an archive, with both at their installed paths.
fn is_named(library: &str, reference: &KpackReference, archive: &SplitArchive) -> bool {
    reference
        .matching_target(installed(library), installed(&archive.path))
        .is_some()
}

/// Returns whether a library refers to an archive that contains its code.
fn holds(library: &str, references: &[KpackReference], archive: &SplitArchive) -> bool {
    references.iter().any(|reference| {
        is_named(library, reference, archive) && reference.is_contained_in(&archive.kernel_names)
    })
}

/// Reports for each of these wheels: libraries none of whose archives are in these wheels,
/// libraries without code in any archive that they refer to, and archives that no library refers
/// to. Archives alone belong to libraries of another wheel, and a host wheel alone gets a note on
/// the device wheels that its METADATA names.
///
/// Not every archive needs to contain code of each library: some targets have none. An archive with
/// code of a library that is in none of these wheels is not reported either, because one archive
/// serves the libraries of several wheels.
pub fn missing_archives(wheels: &[SplitCode]) -> Vec<Vec<Diagnostic>> {
    wheels.iter().map(|wheel| missing(wheel, wheels)).collect()
}

fn missing(wheel: &SplitCode, wheels: &[SplitCode]) -> Vec<Diagnostic> {
    let archives = || wheels.iter().flat_map(|wheel| &wheel.archives);
    let libraries = || wheels.iter().flat_map(|wheel| &wheel.libraries);
    let mut findings = Vec::new();
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
                let message = format!("its code objects are in {paths}, which is missing");
                let help =
                    "pass all wheels of one release together, including those with the archives";
                findings.push(kpack_missing(wheel, library, message).help(help));
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
                let message = format!(
                    "no code for `{}` is in {first}{more}",
                    reference.kernel_name
                );
                let help = "use the library and the archives of the same build, and pass all of \
                            its wheels together";
                findings.push(kpack_missing(wheel, library, message).help(help));
            }
        }
        without_code += usize::from(is_without_code);
    }
    findings.extend(
        devices
            .filter(|_| without_code > 0)
            .map(|devices| in_device_wheels(wheel, devices, without_code)),
    );
    let has_libraries = libraries().next().is_some();
    for archive in wheel.archives.iter().filter(|_| has_libraries) {
        let is_referred_to = libraries().any(|(library, references)| {
            references
                .iter()
                .any(|reference| is_named(library, reference, archive))
        });
        if !is_referred_to {
            let message = "no library refers to this archive of code objects".to_owned();
            findings.push(kpack_missing(wheel, &archive.path, message));
        }
    }
    findings
}

fn kpack_missing(wheel: &SplitCode, member: &str, message: String) -> Diagnostic {
    let location = Location::Member {
        wheel: wheel.wheel.clone(),
        member: member.to_owned(),
    };
    Diagnostic::new(&codes::KPACK_MISSING, message).at(location, "")
}

/// Reports that the code of a host wheel's libraries is in device wheels that were not checked with
/// it.
fn in_device_wheels(wheel: &SplitCode, devices: &DeviceWheels, libraries: usize) -> Diagnostic {
    // If no device wheel is for one target, the target families in their names are reported.
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
        .map(|example| format!("`{example}` installs one with it; "))
        .unwrap_or_default();
    finding.help(format!(
        "{extra}pass the device wheels too to check them together"
    ))
}
