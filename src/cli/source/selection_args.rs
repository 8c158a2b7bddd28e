//! Options that select sources.

use std::path::PathBuf;

use crate::source::related::RowStrictness;
use crate::source::{DEFAULT_RELATED_OS, ProjectSelection};

// Options that select sources. They have no doc comment: clap would show it as the description of
// the command.
#[derive(Debug, clap::Args)]
pub(super) struct SelectionArgs {
    /// Target platform
    #[arg(
        long,
        default_value = "linux",
        value_parser = ["linux", "windows"],
        value_name = "PLATFORM",
        help_heading = "Sources"
    )]
    pub(super) platform: String,
    /// Use the repositories and refs of a preset, such as rocm-2.13
    ///
    /// Presets are rows of the table `torch-sources`: refs that are known to build together, and
    /// the projects to build on each platform. `rock-matrix compat list torch-sources` lists them.
    #[arg(long, value_name = "NAME", help_heading = "Sources")]
    preset: Option<String>,
    /// Torch checkout to read pins from [default: pytorch, if it exists]
    ///
    /// The default is torch's directory in the table `projects`, relative to the working directory.
    #[arg(long, value_name = "DIR", help_heading = "Sources")]
    torch_dir: Option<PathBuf>,
    /// Operating system whose rows of `related_commits` are preferred
    ///
    /// A project without a row for it uses a row for another system.
    #[arg(
        long,
        value_name = "OS",
        default_value = DEFAULT_RELATED_OS,
        help_heading = "Pins",
        hide_short_help = true
    )]
    related_os: String,
    /// Fail if `related_commits` has no row for a project
    ///
    /// Without this option, such a project uses its default ref.
    #[arg(long, help_heading = "Pins", hide_short_help = true)]
    pub(super) require_related_commit: bool,
    /// Skip invalid rows of `related_commits` with a warning
    #[arg(long, help_heading = "Pins", hide_short_help = true)]
    lenient: bool,
    /// Use triton's release branch instead of the commit that torch pins
    ///
    /// The branch is that of the triton version that torch pins.
    #[arg(long, help_heading = "Pins", hide_short_help = true)]
    pub(super) release: bool,
}

impl SelectionArgs {
    /// Returns the selection.
    pub(super) fn selection(&self) -> ProjectSelection {
        ProjectSelection {
            platform: self.platform.clone(),
            preset: self.preset.clone(),
            torch_dir: self.torch_dir.clone(),
            related_os: self.related_os.clone(),
            strictness: strictness(self.lenient),
        }
    }
}

/// Returns the treatment of invalid rows of `related_commits`.
pub(super) fn strictness(is_lenient: bool) -> RowStrictness {
    if is_lenient {
        RowStrictness::Lenient
    } else {
        RowStrictness::Strict
    }
}
