//! `source checkout --manifest`: the trees of a manifest.

use std::path::PathBuf;

use super::limits::LARGEST_MANIFEST_BYTES;
use super::{Exit, Shell, load};
use crate::codes::sources as codes;
use crate::compat::Compat;
use crate::compat::rows::ProjectRow;
use crate::diagnostic::{Diagnostic, Location, Sink};
use crate::fetch;
use crate::source::manifest::{ManifestEntry, SourceManifest};
use crate::source::projects;

// Options that select the trees of a manifest. They have no doc comment: clap would show it as the
// description of the command.
#[derive(Debug, clap::Args)]
pub(super) struct ByManifest {
    /// Check out the projects of this manifest
    ///
    /// Torch is checked out first. `rock-matrix source lock` writes a manifest.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = SINGLE,
        help_heading = "Manifest"
    )]
    manifest: Option<PathBuf>,
    /// Check out the projects of the manifest at this URL
    #[arg(
        long,
        value_name = "URL",
        conflicts_with_all = SINGLE,
        conflicts_with = "manifest",
        help_heading = "Manifest",
        hide_short_help = true
    )]
    manifest_url: Option<String>,
    /// Directory for the trees of a manifest
    ///
    /// Each tree is in a subdirectory with the name of its project's directory.
    #[arg(
        long,
        value_name = "DIR",
        default_value = ".",
        help_heading = "Manifest",
        hide_short_help = true
    )]
    checkout_root: PathBuf,
    /// Check out only these projects of the manifest, such as "torch;triton"
    ///
    /// Names are separated by `;` or blanks.
    #[arg(
        long,
        value_name = "NAMES",
        help_heading = "Manifest",
        hide_short_help = true
    )]
    projects: Option<String>,
    /// Fail if the manifest has torch at another ref
    #[arg(
        long,
        value_name = "REF",
        help_heading = "Manifest",
        hide_short_help = true
    )]
    expected_pytorch_git_ref: Option<String>,
}

/// Options of a single tree, which conflict with a manifest.
const SINGLE: [&str; 5] = ["project", "checkout_dir", "reference", "origin", "patchset"];

/// A tree of a manifest.
pub(super) struct Tree<'a> {
    pub(super) row: &'a ProjectRow,
    pub(super) entry: ManifestEntry,
    pub(super) folder: PathBuf,
}

impl ByManifest {
    /// Returns whether a manifest is given.
    pub(super) fn is_given(&self) -> bool {
        self.manifest.is_some() || self.manifest_url.is_some()
    }

    /// Returns the trees in build order, torch first. Problems are pushed to the sink.
    pub(super) fn trees<'a>(
        &self,
        compat: &'a Compat,
        platform: &str,
        shell: &Shell,
        sink: &mut Sink,
    ) -> Result<Vec<Tree<'a>>, Exit> {
        let (text, name) = match (&self.manifest, &self.manifest_url) {
            (Some(path), _) => {
                let source = load::reported(shell, |sink| {
                    load::read_limited(path, LARGEST_MANIFEST_BYTES, sink)
                })?;
                (source.text.to_string(), source.path.to_string())
            }
            (None, Some(url)) => {
                let proxies =
                    fetch::ProxySettings::from_variables(|name| shell.environment.get(name));
                let text = fetch::get(url, LARGEST_MANIFEST_BYTES, &proxies).map_err(|error| {
                    shell.report(&[error.into()]);
                    Exit::Machine
                })?;
                (text, url.clone())
            }
            (None, None) => return Ok(Vec::new()),
        };
        let manifest = match SourceManifest::parse(&text, &name, compat) {
            Ok(manifest) => manifest,
            Err(faults) => {
                sink.extend(faults);
                return Ok(Vec::new());
            }
        };
        if let Some(reference) = &self.expected_pytorch_git_ref {
            sink.extend(manifest.expect_torch(reference, &name, compat).err());
        }
        let rows = self.rows(compat, platform, &manifest, &name, sink);
        let tree = |row: &'a ProjectRow| {
            let entry = manifest.entry(&row.folder)?.clone();
            Some(Tree {
                row,
                entry,
                folder: self.checkout_root.join(&row.folder),
            })
        };
        Ok(rows.into_iter().filter_map(tree).collect())
    }

    /// Returns the projects of `--projects`, or else all of the platform.
    fn rows<'a>(
        &self,
        compat: &'a Compat,
        platform: &str,
        manifest: &SourceManifest,
        name: &str,
        sink: &mut Sink,
    ) -> Vec<&'a ProjectRow> {
        let mut rows = projects::on(compat, platform);
        let Some(names) = &self.projects else {
            return rows;
        };
        let mut wanted = Vec::new();
        for word in names
            .split(|c: char| c == ';' || c.is_whitespace())
            .filter(|word| !word.is_empty())
        {
            match projects::find(compat, word, platform) {
                Ok(row) if manifest.entry(&row.folder).is_some() => wanted.push(row),
                Ok(row) => sink.push(
                    Diagnostic::new(
                        &codes::BAD_SOURCE_MANIFEST,
                        format!("`{name}` has no `{}`", row.folder),
                    )
                    .at(Location::File(name.into()), "")
                    .help("remove it from `--projects`, or use a manifest that contains it"),
                ),
                Err(fault) => sink.push(fault),
            }
        }
        rows.retain(|row| wanted.contains(row));
        rows
    }
}
