//! The manifest of a ROCm build.

use std::io::BufReader;
use std::path::Path;

use rock_bytes::RangeReader;
use rock_diagnostic::{Diagnostic, Location};
use serde::Deserialize;

use crate::codes::sdk as codes;
use crate::limits::MAX_BUILD_MANIFEST_BYTES;
use crate::{ArtifactSet, SplitMode};

/// The artifact with the manifest, the root in it, and the path below that (ROCm/TheRock,
/// `build_tools/build_python_packages.py`).
const BUILD_MANIFEST: [&str; 3] = [
    "base_lib_generic",
    "base/aux-overlay/stage",
    "share/therock/therock_manifest.json",
];

/// The parts of `therock_manifest.json` that packages depend on.
#[derive(Debug, Deserialize)]
pub(crate) struct BuildManifest {
    /// `X.Y.Z`.
    #[serde(default)]
    pub(crate) rocm_version: Option<String>,
    #[serde(default)]
    flags: serde_json::Map<String, serde_json::Value>,
}

impl BuildManifest {
    /// Reads the manifest from the artifacts of a directory.
    ///
    /// # Errors
    /// When it does not exist or is invalid.
    pub(crate) fn read(directory: &Path, artifacts: &ArtifactSet) -> Result<Self, Diagnostic> {
        let [artifact, root, path] = BUILD_MANIFEST;
        let Some(origin) = artifacts.find(artifact, root, path) else {
            return Err(invalid(directory, "the manifest of the build is missing"));
        };
        let file = artifacts.open(origin)?;
        if file.size_bytes() > MAX_BUILD_MANIFEST_BYTES {
            let reason = format!("it has {} bytes", file.size_bytes());
            return Err(no_manifest(directory, &reason));
        }
        parse_json_object(RangeReader::new(file.as_ref(), 0, file.size_bytes()))
            .map_err(|reason| no_manifest(directory, &reason))
    }

    /// Returns how the build split device code from the libraries.
    ///
    /// # Errors
    /// When the flag has another type than a boolean or a number.
    pub(crate) fn split_mode(&self, directory: &Path) -> Result<SplitMode, Diagnostic> {
        match self.flags.get("KPACK_SPLIT_ARTIFACTS") {
            Some(serde_json::Value::Bool(true)) => Ok(SplitMode::Kpack),
            Some(serde_json::Value::Number(number)) if number.as_f64() != Some(0.0) => {
                Ok(SplitMode::Kpack)
            }
            None
            | Some(
                serde_json::Value::Bool(false)
                | serde_json::Value::Null
                | serde_json::Value::Number(_),
            ) => Ok(SplitMode::Legacy),
            Some(other) => Err(invalid(
                directory,
                &format!("its flag `KPACK_SPLIT_ARTIFACTS` is {other}, neither on nor off"),
            )),
        }
    }
}

fn no_manifest(directory: &Path, reason: &str) -> Diagnostic {
    invalid(
        directory,
        &format!("the manifest of the build is invalid: {reason}"),
    )
}

fn invalid(directory: &Path, message: &str) -> Diagnostic {
    let path = directory.join(BUILD_MANIFEST.join("/"));
    Diagnostic::new(&codes::NO_SDK_MANIFEST, message)
        .at(Location::File(path.display().to_string().into()), "")
        .help(
            "fetch the artifact `base_lib_generic` of the same run, or set the mode with `--mode`",
        )
}

/// Parses a JSON document that must be an object. An array is not accepted, even if its elements
/// match the fields in order.
///
/// # Errors
/// Returns the reason for which the document is invalid.
pub fn parse_json_object<T: serde::de::DeserializeOwned>(
    document: impl std::io::Read,
) -> Result<T, String> {
    let object: serde_json::Map<String, serde_json::Value> =
        serde_json::from_reader(BufReader::new(document)).map_err(|error| error.to_string())?;
    serde_json::from_value(object.into()).map_err(|error| error.to_string())
}
