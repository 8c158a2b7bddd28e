//! What a user says of a release on GitHub.

use std::path::PathBuf;

use crate::compat::Compat;
use crate::github::UploadsHost;
use crate::publish::is_prerelease_tag;
use crate::publish::remote::{DesiredRelease, MakeLatest};
use crate::sys;

/// Minutes that publishing may take, and with `--slow`.
const MINUTES: (u64, u64) = (45, 300);

/// How many files are sent at once unless told otherwise.
pub(super) const AT_ONCE: u8 = 2;

// Options for a release on GitHub.
#[derive(Debug, Clone, clap::Args)]
#[group(id = "on-github", multiple = true, conflicts_with = "to")]
pub(in crate::cli::publish) struct Options {
    #[arg(
        long,
        help_heading = "GitHub",
        help = "Write release-id and release-url to the file that GITHUB_OUTPUT names"
    )]
    pub(super) github_output: bool,
    /// The text of the release; an existing one keeps its own without it
    #[arg(long, value_name = "FILE", help_heading = "GitHub")]
    pub(super) notes: Option<PathBuf>,
    /// The title of the release [default: the tag]
    #[arg(long, value_name = "TEXT", help_heading = "GitHub")]
    pub(super) title: Option<String>,
    /// The commit, or the branch, that the tag names; it is made there if it does not exist, and
    /// must be there if it does
    #[arg(long, value_name = "COMMIT", help_heading = "GitHub")]
    pub(super) target: Option<String>,
    /// Mark the release as a prerelease, which is never the latest; `auto` decides by the version
    /// or the word `nightly` in the tag
    #[arg(long, value_parser = ["auto", "true", "false"], default_value = "false", default_missing_value = "true", num_args = 0..=1, require_equals = true, value_name = "WHEN", help_heading = "GitHub")]
    pub(super) prerelease: String,
    /// Whether it becomes the latest release
    #[arg(long, value_parser = ["true", "false", "legacy"], default_value = "legacy", value_name = "WHEN", help_heading = "GitHub")]
    pub(super) make_latest: String,
    /// Upload every file but leave the release a draft; run again without this option to publish
    #[arg(long, conflicts_with_all = ["allow_published", "make_latest"], help_heading = "GitHub")]
    pub(super) draft: bool,
    /// Write to a release that is published already
    #[arg(long, help_heading = "GitHub")]
    pub(super) allow_published: bool,
    /// Delete empty drafts of the same tag
    #[arg(long, help_heading = "GitHub")]
    pub(super) clean_duplicates: bool,
    /// Where GitHub does not tell a digest: compare the size, or fetch the file and hash it
    #[arg(long, value_parser = ["size", "full"], default_value = "size", value_name = "HOW", help_heading = "GitHub")]
    pub(super) verify: String,
    /// How many files are sent at once
    #[arg(long, value_name = "COUNT", default_value_t = AT_ONCE, value_parser = clap::value_parser!(u8).range(1..=4), help_heading = "GitHub")]
    pub(super) at_once: u8,
    /// Publish more than GitHub takes in an hour, and take longer
    #[arg(long, help_heading = "GitHub")]
    pub(super) slow: bool,
    /// A host that files may be sent to beside the API's own; can be repeated
    #[arg(long, value_name = "HOST", help_heading = "GitHub")]
    pub(super) uploads_host: Vec<UploadsHost>,
    /// With --dry-run: read releases from this JSON file (`report listing`, `gh api`) instead of
    /// asking GitHub
    #[arg(
        long,
        value_name = "FILE",
        requires = "dry_run",
        help_heading = "GitHub"
    )]
    pub(in crate::cli::publish) state: Option<PathBuf>,
}

impl Options {
    /// Returns the value of `--prerelease` that was written without `=`, and so was parsed as a
    /// file.
    pub(in crate::cli::publish) fn stray_prerelease<'f>(
        &self,
        files: &'f [PathBuf],
    ) -> Option<&'f str> {
        let mut words = files
            .iter()
            .filter(|file| !sys::exists(file))
            .filter_map(|file| file.to_str());
        words.find(|word| self.prerelease == "true" && ["auto", "true", "false"].contains(word))
    }

    /// What they say of a release.
    pub(super) fn goal(
        &self,
        tag: String,
        notes: Option<String>,
        compat: &Compat,
    ) -> DesiredRelease {
        let prerelease = match self.prerelease.as_str() {
            "auto" => is_prerelease_tag(&tag),
            word => word == "true",
        };
        DesiredRelease {
            tag,
            title: self.title.clone(),
            body: notes,
            target: self.target.clone(),
            prerelease,
            make_latest: match self.make_latest.as_str() {
                _ if prerelease => MakeLatest::No,
                "true" => MakeLatest::Yes,
                "false" => MakeLatest::No,
                _ => MakeLatest::Legacy,
            },
            stays_draft: self.draft,
            assets: Vec::new(),
            nonce: sys::random_name()[..16].to_owned(),
            most_assets: compat.limit_value("release-assets"),
        }
    }

    /// Minutes that all calls and waits may take.
    pub(super) fn minutes(&self) -> u64 {
        if self.slow { MINUTES.1 } else { MINUTES.0 }
    }
}
