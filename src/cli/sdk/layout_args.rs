//! Options for artifacts and the layout of packages.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::config::Platform;
use crate::sdk::fetch::parse_platform;
use crate::sdk::{LayoutOptions, SplitMode};

// The artifacts and the layout of packages. A doc comment would become the description of the
// command.
#[derive(Debug, clap::Args)]
pub(super) struct LayoutArgs {
    /// Directory with the artifacts of a ROCm build
    ///
    /// Each artifact is a directory or an archive named `NAME_COMPONENT_GPUS`.
    #[arg(long, value_name = "DIR")]
    pub(super) artifact_dir: PathBuf,
    /// Distribution of device code and libraries among packages
    #[arg(long, value_enum, default_value = "auto", value_name = "MODE")]
    mode: ModeWord,
    /// Platform of the packages, `linux` or `windows`
    #[arg(
        long,
        default_value = "linux",
        value_parser = parse_platform,
        value_name = "PLATFORM"
    )]
    pub(super) platform: Platform,
    /// Report different files at the same path of two artifacts as errors
    ///
    /// Without this option they are warnings.
    #[arg(long)]
    pub(super) strict: bool,
    /// Keep dangling links in the devel package
    #[arg(long)]
    pub(super) keep_dangling: bool,
    /// Also install libraries under other names that match this glob
    ///
    /// For programs that open `libx.so` at run time when only `libx.so.7` exists. Can be repeated.
    /// `sdk plan` lists the names that are left out.
    #[arg(long, value_name = "GLOB")]
    pub(super) runtime_alias: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ModeWord {
    /// As in the manifest of the build
    Auto,
    /// Libraries for all GPUs, and a package of device code for each target
    Kpack,
    /// A package of libraries for each GPU family
    Legacy,
}

impl LayoutArgs {
    /// Returns the layout options for a suffix of directory names and the GPU families to use.
    pub(super) fn options(&self, name_suffix: &str, families: BTreeSet<String>) -> LayoutOptions {
        LayoutOptions {
            mode: match self.mode {
                ModeWord::Auto => None,
                ModeWord::Kpack => Some(SplitMode::Kpack),
                ModeWord::Legacy => Some(SplitMode::Legacy),
            },
            name_suffix: name_suffix.to_owned(),
            families,
            runtime_aliases: self.runtime_alias.clone(),
            is_strict: self.strict,
            keep_dangling: self.keep_dangling,
            ..LayoutOptions::new(self.artifact_dir.clone(), self.platform)
        }
    }
}
