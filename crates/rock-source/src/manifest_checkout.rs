//! Selection of the trees of a manifest.

use std::path::PathBuf;

use rock_compat::Compat;
use rock_compat::rows::ProjectRow;
use rock_diagnostic::{Diagnostic, Location, Sink};

use crate::codes::sources as codes;
use crate::manifest::{ManifestEntry, SourceManifest};
use crate::projects;

/// Selects trees of a manifest to check out.
#[derive(Debug, Clone)]
pub struct ManifestCheckout {
    /// The platform of the projects, `linux` or `windows`.
    pub platform: String,
    /// The directory that contains the trees, each in the directory of its project.
    pub root: PathBuf,
    /// The projects to check out, by name, directory or distribution; `None` for all projects of
    /// the platform.
    pub projects: Option<Vec<String>>,
    /// The ref of torch that the manifest must have.
    pub expected_torch_ref: Option<String>,
}

/// A tree of a manifest.
#[derive(Debug, Clone)]
pub(crate) struct ManifestTree<'a> {
    /// The row of the project.
    pub(crate) row: &'a ProjectRow,
    /// The entry of the project in the manifest.
    pub(crate) entry: ManifestEntry,
    /// The directory of the tree.
    pub(crate) directory: PathBuf,
}

impl ManifestCheckout {
    /// Selects all projects of a platform, below the working directory.
    pub fn new(platform: &str) -> Self {
        Self {
            platform: platform.to_owned(),
            root: PathBuf::from("."),
            projects: None,
            expected_torch_ref: None,
        }
    }

    /// Parses a manifest with this name, and returns its selected trees in build order, torch
    /// first. Errors go to the sink.
    pub(crate) fn trees<'a>(
        &self,
        text: &str,
        name: &str,
        compat: &'a Compat,
        sink: &mut Sink,
    ) -> Vec<ManifestTree<'a>> {
        let manifest = match SourceManifest::parse(text, name, compat) {
            Ok(manifest) => manifest,
            Err(errors) => {
                sink.extend(errors);
                return Vec::new();
            }
        };
        if let Some(reference) = &self.expected_torch_ref {
            sink.extend(manifest.expect_torch(reference, name, compat).err());
        }
        let rows = self.rows(compat, &manifest, name, sink);
        rows.into_iter()
            .filter_map(|row| {
                Some(ManifestTree {
                    row,
                    entry: manifest.entry(&row.folder)?.clone(),
                    directory: self.root.join(&row.folder),
                })
            })
            .collect()
    }

    /// Returns the rows of the selected projects.
    fn rows<'a>(
        &self,
        compat: &'a Compat,
        manifest: &SourceManifest,
        name: &str,
        sink: &mut Sink,
    ) -> Vec<&'a ProjectRow> {
        let mut rows = projects::on(compat, &self.platform);
        let Some(names) = &self.projects else {
            return rows;
        };
        let mut selected = Vec::new();
        for project in names {
            match projects::find(compat, project, &self.platform) {
                Ok(row) if manifest.entry(&row.folder).is_some() => selected.push(row),
                Ok(row) => sink.push(
                    Diagnostic::new(
                        &codes::BAD_SOURCE_MANIFEST,
                        format!("`{name}` has no `{}`", row.folder),
                    )
                    .at(Location::File(name.into()), "")
                    .help("remove it from `--projects`, or use a manifest that contains it"),
                ),
                Err(error) => sink.push(error),
            }
        }
        rows.retain(|row| selected.contains(row));
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::ManifestCheckout;
    use rock_compat::Compat;
    use rock_diagnostic::Sink;

    #[test]
    fn trees_are_in_build_order_and_a_project_without_entry_is_an_error() {
        let compat = Compat::embedded();
        let commit = "0123456789abcdef0123456789abcdef01234567";
        let entry = format!("{{\"repo\": \"r\", \"commit\": \"{commit}\"}}");
        let text = format!("{{\"pytorch_audio\": {entry}, \"pytorch\": {entry}}}");
        let trees = |projects: Option<&[&str]>| {
            let mut sink = Sink::new();
            let checkout = ManifestCheckout {
                root: "trees".into(),
                projects: projects.map(|names| names.iter().map(|&name| name.to_owned()).collect()),
                ..ManifestCheckout::new("linux")
            };
            let trees = checkout.trees(&text, "m.json", &compat, &mut sink);
            let directories: Vec<String> = trees
                .iter()
                .map(|tree| tree.directory.display().to_string())
                .collect();
            let messages: Vec<String> = sink
                .finish()
                .into_iter()
                .map(|error| error.message)
                .collect();
            (directories, messages)
        };
        let both = ["trees/pytorch", "trees/pytorch_audio"].map(str::to_owned);
        assert_eq!(trees(None), (both.to_vec(), Vec::new()));
        let (directories, messages) = trees(Some(&["torchaudio", "triton"]));
        assert_eq!(directories, ["trees/pytorch_audio"]);
        assert_eq!(messages, ["`m.json` has no `triton`"]);
    }
}
