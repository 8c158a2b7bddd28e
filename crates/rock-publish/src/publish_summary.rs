//! The report at the end of publishing to a directory: the changes, and how to install.

use std::collections::BTreeSet;
use std::path::Path;

use rock_compat::Compat;
use rock_diagnostic::render::escape_line;
use rock_names::is_asset_name;
use serde::Serialize;

use crate::index_summary::{IndexSummary, index_summaries, install_text};
use crate::{Asset, DirectoryEdit, DirectoryEdits, INDEX, ReleaseContents};

/// The changes of a release in a directory, or those that a dry run would make.
///
/// It serializes as the JSON document that `publish --out DIR --format json` prints.
#[derive(Debug, Serialize)]
pub struct PublishSummary {
    version: u32,
    release: String,
    dry_run: bool,
    changed: bool,
    added: Vec<String>,
    replaced: Vec<String>,
    removed: Vec<String>,
    same: usize,
    indexes: Vec<IndexSummary>,
    /// Names of the assets, with those of deleted ones; other files are generated.
    #[serde(skip)]
    assets: BTreeSet<String>,
}

impl PublishSummary {
    /// Creates the summary of the edits of a release in `directory`.
    pub fn new(
        directory: &Path,
        release: &ReleaseContents,
        edits: &DirectoryEdits,
        is_dry_run: bool,
        compat: &Compat,
    ) -> Self {
        let (mut added, mut deleted) = (Vec::new(), Vec::new());
        for edit in &edits.steps {
            match edit {
                DirectoryEdit::Add(name) => added.push(name.clone()),
                DirectoryEdit::Delete(name) => deleted.push(name.clone()),
            }
        }
        let added_names: BTreeSet<String> = added.iter().cloned().collect();
        let deleted_names: BTreeSet<String> = deleted.iter().cloned().collect();
        added.retain(|name| !deleted_names.contains(name));
        let (replaced, removed): (Vec<String>, Vec<String>) = deleted
            .into_iter()
            .partition(|name| added_names.contains(name));
        let assets = release
            .assets
            .iter()
            .map(|asset| asset.name().to_owned())
            .chain(removed.iter().filter(|name| is_asset_name(name)).cloned())
            .collect();
        Self {
            version: 1,
            release: directory.display().to_string(),
            dry_run: is_dry_run,
            changed: !edits.steps.is_empty(),
            added,
            replaced,
            removed,
            same: edits.same.len(),
            indexes: index_summaries(
                release.assets.iter().map(|asset: &Asset| &asset.file),
                &directory.join(INDEX),
                |_| true,
                compat,
            ),
            assets,
        }
    }

    /// Returns the JSON document, with a final newline.
    pub fn to_json(&self) -> String {
        let mut text =
            serde_json::to_string_pretty(self).expect("a struct of text and numbers serialises");
        text.push('\n');
        text
    }

    /// Returns the text for people, with the commands that install from the index.
    pub fn to_text(&self) -> String {
        let release = escape_line(&self.release);
        let mut text = match (self.changed, self.dry_run) {
            (false, _) => format!(
                "{release} is up to date: {} files, nothing written\n",
                self.same
            ),
            (true, true) => format!("{release} would change:\n"),
            (true, false) => format!("published to {release}:\n"),
        };
        for (sign, names) in [
            ('+', &self.added),
            ('~', &self.replaced),
            ('-', &self.removed),
        ] {
            for name in names.iter().filter(|name| self.assets.contains(*name)) {
                text.push_str(&format!("  {sign} {name}\n"));
            }
        }
        let generated = self
            .added
            .iter()
            .chain(&self.replaced)
            .filter(|name| !self.assets.contains(*name))
            .count();
        if generated > 0 {
            text.push_str(&format!(
                "  and {generated} generated files: checksums, manifest, index\n"
            ));
        }
        text.push_str(&install_text(&self.indexes));
        text
    }
}
