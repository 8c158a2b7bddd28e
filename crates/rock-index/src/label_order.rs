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
    let told = |(project, versions): (String, Vec<&Version>)| {
        let found = find_order_conflict(versions)?;
        let message = format!(
            "installers take {project} {} for older than {}",
            found.below, found.above
        );
        Some(
            Diagnostic::new(&codes::LABELS_MISORDERED, message)
                .note(format!("`{}` {}: a label is compared as a text", found.above, found.reason))
                .help("install from the folder of one ROCm, or name the version: `pip install 'NAME==VERSION'`"),
        )
    };
    versions.into_iter().filter_map(told).collect()
}
