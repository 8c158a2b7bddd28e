//! Options for a release on GitHub.

use std::path::PathBuf;

use crate::cli::whole_number::{Unit, whole_number};
use crate::compat::Compat;
use crate::github::UploadsHost;
use crate::publish::is_prerelease_tag;
use crate::publish::remote::{DesiredRelease, MakeLatest};
use crate::sys;

/// Default time limits in minutes, without and with `--slow`.
const MINUTES: (u64, u64) = (45, 300);

/// Default number of parallel uploads.
const DEFAULT_JOBS: u8 = 2;

// Options for a release on GitHub.
#[derive(Debug, Clone, clap::Args)]
#[group(id = "on-github", multiple = true, conflicts_with = "out")]
pub(in crate::cli::publish) struct Options {
    /// File with the text of the release
    ///
    /// Without this option, an existing release keeps its text.
    #[arg(long, value_name = "FILE", help_heading = "GitHub release")]
    pub(super) notes: Option<PathBuf>,
    /// Title of the release [default: the tag]
    #[arg(
        long,
        value_name = "TEXT",
        hide_short_help = true,
        help_heading = "GitHub release"
    )]
    pub(super) title: Option<String>,
    /// Commit or branch that the tag points to
    ///
    /// A tag that does not exist is created there; an existing tag must point there. A branch
    /// resolves to its current commit.
    #[arg(long, value_name = "COMMIT", help_heading = "GitHub release")]
    pub(super) target: Option<String>,
    /// Mark the release as a prerelease
    ///
    /// A prerelease is never the latest release. `--prerelease=auto` marks it if the tag has a
    /// prerelease version or the word `nightly`. The value needs the `=`.
    #[arg(
        long,
        value_parser = ["auto", "true", "false"],
        default_value = "false",
        default_missing_value = "true",
        num_args = 0..=1,
        require_equals = true,
        value_name = "WHEN",
        hide_default_value = true,
        help_heading = "GitHub release"
    )]
    pub(super) prerelease: String,
    /// Mark the release as the latest
    ///
    /// With `legacy`, GitHub decides by date and version.
    #[arg(
        long,
        value_parser = ["true", "false", "legacy"],
        default_value = "legacy",
        value_name = "WHEN",
        hide_short_help = true,
        help_heading = "GitHub release"
    )]
    pub(super) make_latest: String,
    /// Upload every file but leave the release a draft
    ///
    /// Run again without this option to publish it.
    #[arg(
        long,
        conflicts_with_all = ["allow_published", "make_latest"],
        help_heading = "GitHub release"
    )]
    pub(in crate::cli::publish) draft: bool,
    // The former spelling of `--allow G101`.
    #[arg(long, hide = true)]
    pub(in crate::cli::publish) allow_published: bool,
    /// Delete empty drafts with the same tag
    #[arg(long, hide_short_help = true, help_heading = "GitHub release")]
    pub(super) clean_duplicates: bool,
    /// Number of parallel uploads
    #[arg(
        short,
        long,
        alias = "at-once",
        value_name = "N",
        default_value_t = DEFAULT_JOBS,
        value_parser = whole_number::<u8>(Unit::One, 1..=4),
        help_heading = "GitHub release"
    )]
    pub(super) jobs: u8,
    /// Upload more files than GitHub accepts per hour
    ///
    /// Takes longer than an hour.
    #[arg(long, hide_short_help = true, help_heading = "GitHub release")]
    pub(super) slow: bool,
    /// Comparison of published files that have no digest on GitHub
    ///
    /// `size` compares sizes, `full` downloads the file and hashes it.
    #[arg(
        long,
        value_parser = ["size", "full"],
        default_value = "size",
        value_name = "METHOD",
        hide_short_help = true,
        help_heading = "GitHub release"
    )]
    pub(super) verify: String,
    /// Additional host that files may be uploaded to; can be repeated
    ///
    /// By default, files are uploaded only to the hosts of the API.
    #[arg(
        long,
        value_name = "HOST",
        hide_short_help = true,
        help_heading = "GitHub"
    )]
    pub(super) uploads_host: Vec<UploadsHost>,
    /// With --dry-run: read releases from this JSON file instead of GitHub
    ///
    /// The file is the output of `report listing`, or of `gh api` for releases.
    #[arg(
        long,
        value_name = "FILE",
        requires = "dry_run",
        hide_short_help = true,
        help_heading = "GitHub"
    )]
    pub(in crate::cli::publish) state: Option<PathBuf>,
    /// Write release-id and release-url to the file that `GITHUB_OUTPUT` names
    #[arg(long, hide_short_help = true, help_heading = "Workflow")]
    pub(super) github_output: bool,
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

    /// Returns the desired release, without files.
    pub(super) fn desired_release(
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

    /// Returns the default limit in minutes for all requests and waits.
    pub(super) fn minutes(&self) -> u64 {
        if self.slow { MINUTES.1 } else { MINUTES.0 }
    }
}
