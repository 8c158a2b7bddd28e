//! Finds versions that installers sort differently from their ROCm versions.

use std::collections::BTreeMap;

use super::{IndexFile, YankStatus};
use crate::codes::release as codes;
use rock_diagnostic::Diagnostic;
use rock_names::{Version, find_order_conflict};

/// Returns a warning for each project with two such versions among the files that are not yanked.
pub fn label_order(files: &[IndexFile]) -> Vec<Diagnostic> {
    let mut versions: BTreeMap<String, Vec<&Version>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.yanked == YankStatus::No) {
        if file
            .version
            .local()
            .is_some_and(|label| label.contains("rocm") && !label.contains("torch"))
        {
            versions
                .entry(file.project.normalized())
                .or_default()
                .push(&file.version);
        }
    }
    let misordered = |(project, versions): (String, Vec<&Version>)| {
        let found = find_order_conflict(versions)?;
        let message = format!(
            "installers consider {project} {} older than {}",
            found.below, found.above
        );
        let note = format!(
            "`{}` {}: labels are compared as text",
            found.above, found.reason
        );
        let help = "install from the directory of one ROCm version, or request a version: \
                    `pip install 'NAME==VERSION'`";
        let warning = Diagnostic::new(&codes::LABELS_MISORDERED, message);
        Some(warning.note(note).help(help))
    };
    versions.into_iter().filter_map(misordered).collect()
}
