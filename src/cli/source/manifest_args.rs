//! `source checkout --manifest`: options for the trees of a manifest.

use std::path::PathBuf;

use super::{Exit, Shell};
use crate::fetch;
use crate::plan::workspace::read_text;
use crate::source::{LARGEST_MANIFEST_BYTES, ManifestCheckout};

// Options that select the trees of a manifest. They have no doc comment: clap would show it as the
// description of the command.
#[derive(Debug, clap::Args)]
pub(super) struct ManifestArgs {
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

impl ManifestArgs {
    /// Returns whether a manifest is given.
    pub(super) fn is_given(&self) -> bool {
        self.manifest.is_some() || self.manifest_url.is_some()
    }

    /// Returns the selected trees of the manifest.
    pub(super) fn checkout(&self, platform: &str) -> ManifestCheckout {
        let names = |text: &String| -> Vec<String> {
            text.split(|c: char| c == ';' || c.is_whitespace())
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect()
        };
        ManifestCheckout {
            platform: platform.to_owned(),
            root: self.checkout_root.clone(),
            projects: self.projects.as_ref().map(names),
            expected_torch_ref: self.expected_pytorch_git_ref.clone(),
        }
    }

    /// Reads the manifest, and returns its text and its name for messages.
    ///
    /// # Errors
    /// The exit code of the command, after reporting the error.
    pub(super) fn read(&self, shell: &Shell) -> Result<(String, String), Exit> {
        if let Some(path) = &self.manifest {
            let source =
                read_text(path, LARGEST_MANIFEST_BYTES).map_err(|error| shell.report(&[error]))?;
            return Ok((source.text.to_string(), source.path.to_string()));
        }
        let url = self.manifest_url.clone().unwrap_or_default();
        let proxies = fetch::ProxySettings::from_variables(|name| shell.environment.get(name));
        let text = fetch::get(&url, LARGEST_MANIFEST_BYTES, &proxies).map_err(|error| {
            shell.report(&[error.into()]);
            Exit::Machine
        })?;
        Ok((text, url))
    }
}
