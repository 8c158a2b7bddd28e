//! Device code that was split from libraries, across all packages.

use std::collections::BTreeSet;

use super::OpenedPackages;
use crate::PackageKind;
use rock_audit::codes::rocm;
use rock_audit::gfx::{SplitCode, kpack_locations, missing_archives};
use rock_diagnostic::{Diagnostic, Location, Severity};

/// Warns about libraries whose device code is in no package, or only in those of some targets. Both
/// may be intended: some libraries have no code for some targets.
pub(super) fn findings(opened: &OpenedPackages, splits: &[SplitCode]) -> Vec<Diagnostic> {
    let missing = missing_archives(splits).into_iter().flatten();
    let mut found: Vec<Diagnostic> = missing.map(|one| one.severity(Severity::Warning)).collect();
    let devices = opened
        .wheels
        .iter()
        .filter(|wheel| wheel.kind == PackageKind::Device);
    let targets: BTreeSet<&str> = devices
        .filter_map(|wheel| wheel.made_for.as_deref())
        .collect();
    for split in splits {
        for (library, references) in &split.libraries {
            let archives = kpack_locations(library, references, splits);
            if archives.is_empty() {
                continue;
            }
            let has = |target: &&str| {
                archives
                    .keys()
                    .any(|known| known.to_string().split(':').next() == Some(*target))
            };
            let lacking: Vec<&str> = targets
                .iter()
                .copied()
                .filter(|target| !has(target))
                .collect();
            if !lacking.is_empty() {
                let message = format!("its code for {} is in no package", lacking.join(", "));
                let place = Location::Member {
                    wheel: split.wheel.clone(),
                    member: library.clone(),
                };
                let finding = Diagnostic::new(&rocm::KPACK_MISSING, message)
                    .severity(Severity::Warning)
                    .at(place, "");
                found.push(finding.help(
                    "if it should have some, fetch the artifacts of these targets and build again",
                ));
            }
        }
    }
    found
}
