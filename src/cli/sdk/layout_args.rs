//! Arguments that name artifacts and how packages are made of them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::config::Platform;
use crate::sdk::{LayoutOptions, SplitMode};

/// The artifacts, and how packages are made of them.
#[derive(Debug, clap::Args)]
pub(super) struct LayoutArgs {
    #[arg(
        help = "Folder of artifacts, which are folders or archives named NAME_COMPONENT_GPUS",
        long,
        value_name = "DIR"
    )]
    pub(super) artifact_dir: PathBuf,
    /// How device code is split from the libraries [default: as in the manifest of the build]
    #[arg(
        long,
        value_enum,
        default_value = "auto",
        value_name = "MODE",
        hide_default_value = true
    )]
    mode: ModeWord,
    #[arg(help = "Platform of the packages", long, default_value = "linux", value_parser = platform, value_name = "PLATFORM")]
    pub(super) platform: Platform,
    /// Report different files at the same path of two artifacts as errors
    #[arg(long)]
    pub(super) strict: bool,
    /// Keep dangling links in the devel package
    #[arg(long)]
    pub(super) keep_dangling: bool,
    /// Also install libraries under the other names that match this glob, for programs that open
    /// `libx.so` at run time when only `libx.so.7` exists
    #[arg(long, value_name = "GLOB")]
    pub(super) runtime_alias: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ModeWord {
    Auto,
    Kpack,
    Legacy,
}

impl LayoutArgs {
    /// Returns the options of a layout of the artifacts.
    pub(super) fn layout_options(&self, nonce: &str, families: BTreeSet<String>) -> LayoutOptions {
        LayoutOptions {
            artifact_dir: self.artifact_dir.clone(),
            mode: match self.mode {
                ModeWord::Auto => None,
                ModeWord::Kpack => Some(SplitMode::Kpack),
                ModeWord::Legacy => Some(SplitMode::Legacy),
            },
            platform: self.platform,
            nonce: nonce.to_owned(),
            families,
            runtime_aliases: self.runtime_alias.clone(),
            is_strict: self.strict,
            keep_dangling: self.keep_dangling,
        }
    }
}

/// Parses a platform.
pub(super) fn platform(word: &str) -> Result<Platform, String> {
    Platform::from_word(word).ok_or_else(|| format!("it is none of {}", Platform::WORDS.join(", ")))
}
