//! What is asked for, and how the artifacts were made.

use std::io::BufReader;
use std::path::PathBuf;

use serde::Deserialize;

use super::read::Read;
use crate::bytes::RangeReader;
use crate::codes::sdk as codes;
use crate::config::Platform;
use crate::diagnostic::{Diagnostic, Location};
use crate::sdk::SplitMode;
use crate::sdk::limits::MAX_BUILD_MANIFEST_BYTES;

/// Where the manifest of a build lies: the artifact, its folder, the path in that (ROCm/TheRock,
/// `build_tools/build_python_packages.py`).
const BUILD_MANIFEST: [&str; 3] = [
    "base_lib_generic",
    "base/aux-overlay/stage",
    "share/therock/therock_manifest.json",
];

/// Artifacts, and how packages are made of them.
#[derive(Debug, clap::Args)]
pub(super) struct Wanted {
    #[arg(
        help = "The folder of artifacts: folders or archives named NAME_COMPONENT_GPUS",
        long,
        value_name = "DIR"
    )]
    pub(super) artifact_dir: PathBuf,
    /// How code for GPUs is split from the libraries [default: as the manifest of the build says]
    #[arg(
        long,
        value_enum,
        default_value = "auto",
        value_name = "MODE",
        hide_default_value = true
    )]
    mode: ModeWord,
    #[arg(help = "What the packages are for", long, default_value = "linux", value_parser = platform, value_name = "PLATFORM")]
    pub(super) platform: Platform,
    /// Make two artifacts with other bytes under one path an error
    #[arg(long)]
    pub(super) strict: bool,
    /// Keep links that lead nowhere in the package to build against
    #[arg(long)]
    pub(super) keep_dangling: bool,
    /// Have other names of libraries, too: for programs that open `libx.so` at run time where there
    /// is `libx.so.7`
    #[arg(long, value_name = "GLOB")]
    pub(super) runtime_alias: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ModeWord {
    Auto,
    Kpack,
    Legacy,
}

/// What is read of the manifest of a build.
#[derive(Debug, Deserialize)]
struct BuildManifest {
    /// `X.Y.Z`.
    #[serde(default)]
    rocm_version: Option<String>,
    #[serde(default)]
    flags: serde_json::Map<String, serde_json::Value>,
}

/// How a build was made.
pub(super) struct Made {
    pub(super) mode: SplitMode,
    /// Its version, where its manifest says it.
    pub(super) version: Option<String>,
}

impl Wanted {
    /// How code for GPUs is split: as the manifest of the build says, unless an option says it.
    ///
    /// # Errors
    /// When the manifest is needed and is not there, or is none.
    pub(super) fn made(&self, read: &Read) -> Result<(Made, Vec<Diagnostic>), Diagnostic> {
        let manifest = self.manifest(read);
        let said = manifest
            .as_ref()
            .map_err(Diagnostic::clone)
            .and_then(|manifest| self.said(manifest));
        let asked = match self.mode {
            ModeWord::Auto => None,
            ModeWord::Kpack => Some(SplitMode::Kpack),
            ModeWord::Legacy => Some(SplitMode::Legacy),
        };
        let mode = match (asked, &said) {
            (Some(mode), _) => mode,
            (None, Ok(mode)) => *mode,
            (None, Err(fault)) => return Err(fault.clone()),
        };
        let mut findings = Vec::new();
        if let (Some(asked), Ok(said)) = (asked, &said)
            && asked != *said
        {
            let message = format!(
                "the manifest of the build says {}, and `--mode` {}",
                said.word(),
                asked.word()
            );
            findings.push(
                Diagnostic::new(&codes::OTHER_SDK_MODE, message)
                    .at(Location::Argument(format!("--mode {}", asked.word())), "")
                    .help("leave out `--mode` to make the packages as the build was made"),
            );
        }
        let has_targets = read
            .artifacts
            .iter()
            .any(|artifact| artifact.name.base().is_some());
        if mode == SplitMode::Kpack && !has_targets {
            findings.push(
                Diagnostic::new(
                    &codes::OTHER_SDK_MODE,
                    "the code for GPUs is split, and no artifact is for a GPU target",
                )
                .at(
                    Location::File(self.artifact_dir.display().to_string().into()),
                    "",
                )
                .help("fetch the artifacts of the targets, such as `blas_lib_gfx942`"),
            );
        }
        let version = manifest.ok().and_then(|manifest| manifest.rocm_version);
        Ok((Made { mode, version }, findings))
    }

    /// How the manifest of the build says that code for GPUs is split.
    fn said(&self, manifest: &BuildManifest) -> Result<SplitMode, Diagnostic> {
        Ok(match manifest.flags.get("KPACK_SPLIT_ARTIFACTS") {
            Some(serde_json::Value::Bool(true)) => SplitMode::Kpack,
            Some(serde_json::Value::Number(number)) if number.as_f64() != Some(0.0) => {
                SplitMode::Kpack
            }
            None
            | Some(
                serde_json::Value::Bool(false)
                | serde_json::Value::Null
                | serde_json::Value::Number(_),
            ) => SplitMode::Legacy,
            Some(other) => {
                return Err(self.fault(format!(
                    "its flag `KPACK_SPLIT_ARTIFACTS` is {other}, neither on nor off"
                )));
            }
        })
    }

    fn fault(&self, message: String) -> Diagnostic {
        let place = self
            .artifact_dir
            .join(BUILD_MANIFEST.join("/"))
            .display()
            .to_string();
        Diagnostic::new(&codes::NO_SDK_MANIFEST, message)
            .at(Location::File(place.into()), "")
            .help("fetch the artifact `base_lib_generic` of the same run, or give `--mode`")
    }

    fn manifest(&self, read: &Read) -> Result<BuildManifest, Diagnostic> {
        let [artifact, root, path] = BUILD_MANIFEST;
        let Some(origin) = read.find(artifact, root, path) else {
            return Err(self.fault("the manifest of the build is not there".to_owned()));
        };
        let none =
            |reason: String| self.fault(format!("the manifest of the build is none: {reason}"));
        let bytes = read.open(origin)?;
        if bytes.size_bytes() > MAX_BUILD_MANIFEST_BYTES {
            return Err(none(format!("it has {} bytes", bytes.size_bytes())));
        }
        object(RangeReader::new(bytes.as_ref(), 0, bytes.size_bytes())).map_err(none)
    }
}

/// What a document says that must be an object: a list is none, even where what it holds would fit
/// in order.
///
/// # Errors
/// Why it is none.
pub(super) fn object<T: serde::de::DeserializeOwned>(
    document: impl std::io::Read,
) -> Result<T, String> {
    let read: serde_json::Map<String, serde_json::Value> =
        serde_json::from_reader(BufReader::new(document)).map_err(|error| error.to_string())?;
    serde_json::from_value(read.into()).map_err(|error| error.to_string())
}

/// Reads the word of a platform.
pub(super) fn platform(word: &str) -> Result<Platform, String> {
    Platform::from_word(word).ok_or_else(|| format!("it is none of {}", Platform::WORDS.join(", ")))
}
