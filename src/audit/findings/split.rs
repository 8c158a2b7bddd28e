//! Code for GPUs that was split off from its libraries, into archives of the same wheel or of one beside it.
//!
//! Wheels of one release are installed into one folder: wheels of one target hold nothing but archives, below the folder
//! of the package that has the libraries (`TheRock` RFC 0008, "Multi-Architecture Packaging with Kpack").

use std::collections::{BTreeMap, BTreeSet};

use crate::audit::inspect::FileFacts;
use crate::audit::search::installed;
use crate::codeobj::{ContainerKind, KpackReference, Target};
use crate::diagnostic::registry::rocm as codes;
use crate::diagnostic::{Diagnostic, Place};

/// What a wheel holds of code that was split off.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SplitCode {
    /// The name of the wheel's file.
    pub wheel: String,
    /// Libraries without their code, by path, and what they say of the archives that hold it.
    pub libraries: Vec<(String, Vec<KpackReference>)>,
    /// Archives, by path, and the targets they hold code for.
    pub archives: Vec<(String, BTreeSet<Target>)>,
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
        let mut split = Self { wheel: wheel.to_owned(), ..Self::default() };
        for file in files {
            let inventory = &file.inventory;
            if !inventory.kpack_references.is_empty() {
                split.libraries.push((file.path.clone(), inventory.kpack_references.clone()));
            }
            if inventory.kinds().contains(&ContainerKind::Kpack) {
                split.archives.push((file.path.clone(), inventory.targets().into_keys().collect()));
            }
        }
        split
    }

    /// Whether other wheels have nothing to do with it.
    pub fn is_empty(&self) -> bool {
        self.libraries.is_empty() && self.archives.is_empty()
    }
}

/// The archives of these wheels that a library refers to, by the targets that they hold code for.
pub fn archives_of(
    library: &str,
    references: &[KpackReference],
    wheels: &[SplitCode],
) -> BTreeMap<Target, BTreeSet<Archive>> {
    let mut found: BTreeMap<Target, BTreeSet<Archive>> = BTreeMap::new();
    for wheel in wheels {
        for (path, targets) in wheel.archives.iter().filter(|(path, _)| is_named(library, references, path)) {
            for target in targets {
                let archive = Archive { wheel: wheel.wheel.clone(), path: path.clone() };
                found.entry(target.clone()).or_default().insert(archive);
            }
        }
    }
    found
}

/// Whether a library refers to an archive, both where they are installed.
fn is_named(library: &str, references: &[KpackReference], archive: &str) -> bool {
    references.iter().any(|one| one.matched(installed(library), installed(archive)).is_some())
}

/// For each of these wheels: its libraries whose archives are in none of them, and its archives that no library of them
/// refers to. Archives alone are for libraries of another wheel.
pub fn missing_archives(wheels: &[SplitCode]) -> Vec<Vec<Diagnostic>> {
    wheels.iter().map(|wheel| missing(wheel, wheels)).collect()
}

fn missing(wheel: &SplitCode, wheels: &[SplitCode]) -> Vec<Diagnostic> {
    let finding = |member: &str, message: String| {
        let place = Place::Member { wheel: wheel.wheel.clone(), member: member.to_owned() };
        Diagnostic::new(&codes::KPACK_MISSING, message).at(place, "")
    };
    let archives = || wheels.iter().flat_map(|wheel| &wheel.archives);
    let libraries = || wheels.iter().flat_map(|wheel| &wheel.libraries);
    let mut found = Vec::new();
    for (library, references) in &wheel.libraries {
        for reference in references {
            let one = std::slice::from_ref(reference);
            if !archives().any(|(archive, _)| is_named(library, one, archive)) {
                let paths = reference.search_paths.join(" or ");
                let message = format!("its code objects lie in {paths}, which is not there");
                let help = "name the wheels of one release together, those with the archives too";
                found.push(finding(library, message).help(help));
            }
        }
    }
    let has_libraries = libraries().next().is_some();
    for (archive, _) in wheel.archives.iter().filter(|_| has_libraries) {
        if !libraries().any(|(library, references)| is_named(library, references, archive)) {
            found.push(finding(archive, "no library refers to this archive of code objects".to_owned()));
        }
    }
    found
}
