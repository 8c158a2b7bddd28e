//! The report of a run that yanks and unyanks files.

use std::collections::{BTreeMap, BTreeSet};

use rock_diagnostic::counted;
use rock_names::YankedFiles;
use serde::Serialize;

use super::{IndexFile, ReasonChange, YankChanges, YankStatus};

/// The files that were yanked and unyanked, or would be.
///
/// It serializes as the object `yank` of the JSON document that the commands print.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct YankReport {
    applied: bool,
    yanked: BTreeMap<String, String>,
    new_reasons: BTreeMap<String, ReasonChange>,
    unyanked: BTreeSet<String>,
    /// The selected files that were yanked before, with their reasons.
    #[serde(skip)]
    kept: BTreeMap<String, String>,
}

impl YankReport {
    /// Creates the report of these changes. `is_applied` is whether the index has them.
    pub fn new(changes: YankChanges, is_applied: bool) -> Self {
        Self {
            applied: is_applied,
            yanked: changes.yank,
            new_reasons: changes.reasons,
            unyanked: changes.unyank,
            kept: changes.kept,
        }
    }

    /// Returns whether nothing is yanked or unyanked, and no reason changes.
    pub fn is_empty(&self) -> bool {
        self.yanked.is_empty() && self.new_reasons.is_empty() && self.unyanked.is_empty()
    }

    /// Returns a note if selected files were yanked before and keep their reason.
    pub fn kept_note(&self) -> Option<String> {
        let (name, reason) = self.kept.first_key_value()?;
        let others = match self.kept.len() - 1 {
            0 => String::new(),
            count => format!(" and {}", counted(count, "other file")),
        };
        let reason = if reason.is_empty() {
            "without a reason".to_owned()
        } else {
            format!("with the reason `{reason}`")
        };
        Some(format!(
            "already yanked {reason}: {name}{others}; another reason after a colon replaces it"
        ))
    }

    /// Returns the text for people; it is empty if there are no changes.
    pub fn to_text(&self) -> String {
        let would = if self.applied { "" } else { "would be " };
        let mut text = String::new();
        for (name, reason) in &self.yanked {
            let reason = if reason.is_empty() {
                String::new()
            } else {
                format!(": {reason}")
            };
            text.push_str(&format!("{would}yanked: {name}{reason}\n"));
        }
        for (name, ReasonChange { before, after }) in &self.new_reasons {
            let before = if before.is_empty() {
                "there was none".to_owned()
            } else {
                format!("it was `{before}`")
            };
            text.push_str(&format!(
                "{would}yanked with a new reason: {name}: {after} ({before})\n"
            ));
        }
        for name in &self.unyanked {
            text.push_str(&format!("{would}unyanked: {name}\n"));
        }
        if !self.applied && !text.is_empty() {
            text.push_str("nothing was changed; add `--apply` to change the index\n");
        }
        text
    }
}

impl YankChanges {
    /// Returns a note if nightly builds are kept because their date is unknown.
    pub fn undated_note(&self) -> Option<String> {
        let first = self.undated.first()?;
        let count = self.undated.len();
        Some(format!(
            "{count} nightly builds are kept, because their date is unknown; the first is `{first}`"
        ))
    }
}

/// Returns a note for each file that stays yanked although its bytes changed, and for each yanked
/// file that the index no longer lists. `before` are the files that were yanked.
pub fn yank_notes<'f>(
    before: &YankedFiles,
    files: impl IntoIterator<Item = &'f IndexFile>,
) -> Vec<String> {
    if before.is_empty() {
        return Vec::new();
    }
    let mut notes = Vec::new();
    let mut listed = BTreeSet::new();
    for file in files {
        let has_changed = file.yanked != YankStatus::No
            && before.reason(&file.name, None).is_some()
            && before.reason(&file.name, file.digest).is_none();
        if has_changed {
            notes.push(format!(
                "still yanked, although its bytes changed (revert with `index unyank`): {}",
                file.name
            ));
        }
        listed.insert(file.name.to_lowercase());
    }
    notes.extend(
        before
            .names()
            .filter(|name| !listed.contains(*name))
            .map(|name| format!("no longer listed, so its yank is dropped: {name}")),
    );
    notes
}

#[cfg(test)]
mod tests {
    use rock_names::{Digest, YankedFiles};

    use super::{YankReport, yank_notes};
    use crate::testing::file;
    use crate::{ReasonChange, YankChanges, carry_over};

    const NAME: &str = "flash_attn-2.8.3-cp311-cp311-linux_x86_64.whl";

    #[test]
    fn changed_and_missing_files_are_noted() {
        let yanked: YankedFiles = [
            (
                NAME.to_owned(),
                Some(Digest::new([1; 32])),
                "broken".to_owned(),
            ),
            ("gone.whl".to_owned(), None, String::new()),
        ]
        .into_iter()
        .collect();
        let mut files = [file(NAME, "6.2", "2.5")];
        carry_over(&yanked.clone().ignoring_digests(), &mut files);
        assert_eq!(
            yank_notes(&yanked, &files),
            [
                format!(
                    "still yanked, although its bytes changed (revert with `index unyank`): {NAME}"
                ),
                "no longer listed, so its yank is dropped: gone.whl".to_owned()
            ]
        );
        assert!(yank_notes(&YankedFiles::default(), &files).is_empty());
    }

    #[test]
    fn a_preview_names_the_option_that_applies_it() {
        let mut changes = YankChanges::default();
        changes.yank.insert(NAME.to_owned(), "broken".to_owned());
        let report = YankReport::new(changes.clone(), false);
        assert_eq!(
            report.to_text(),
            format!(
                "would be yanked: {NAME}: broken\n\
                 nothing was changed; add `--apply` to change the index\n"
            )
        );
        assert_eq!(
            YankReport::new(changes, true).to_text(),
            format!("yanked: {NAME}: broken\n")
        );
        assert!(YankReport::new(YankChanges::default(), false).is_empty());
    }

    #[test]
    fn files_that_are_already_yanked_are_reported() {
        let report = |change: &dyn Fn(&mut YankChanges)| {
            let mut changes = YankChanges::default();
            change(&mut changes);
            YankReport::new(changes, false)
        };
        let changed = report(&|changes| {
            let reason = ReasonChange {
                before: "broken".to_owned(),
                after: "insecure".to_owned(),
            };
            changes.reasons.insert(NAME.to_owned(), reason);
        });
        assert_eq!(
            changed.to_text(),
            format!(
                "would be yanked with a new reason: {NAME}: insecure (it was `broken`)\n\
                 nothing was changed; add `--apply` to change the index\n"
            )
        );
        assert_eq!(changed.kept_note(), None);
        let kept = report(&|changes| {
            for name in [NAME, "zebra.whl"] {
                changes.kept.insert(name.to_owned(), String::new());
            }
        });
        assert!(kept.is_empty());
        assert_eq!(
            kept.kept_note().unwrap(),
            format!(
                "already yanked without a reason: {NAME} and 1 other file; another reason after a \
                 colon replaces it"
            )
        );
    }
}
