//! The `S` codes, for the Python packages of the ROCm SDK.

use rock_diagnostic::Code;
pub use rock_sdk::codes::sdk::*;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[
    &NO_SDK_MANIFEST,
    &OTHER_SDK_MODE,
    &MISSING_TARGETS,
    &SDK_OUTPUT_EXISTS,
    &ARTIFACT_TWICE,
    &MIXED_ARTIFACTS,
    &NO_SDK_PACKAGES,
];

/// A missing or unreadable build manifest.
pub const NO_SDK_MANIFEST: Code = Code::error(
    "S003",
    "no-sdk-manifest",
    "The file `therock_manifest.json` of the artifact `base_lib_generic` describes how ROCm was built, in particular whether GPU code is split from the libraries (`KPACK_SPLIT_ARTIFACTS`). Without it the packages could be made in the wrong way.\n\nFetch the artifact `base_lib_generic` of the same run, or set the mode with `--mode`.",
);
/// A mode that does not match the artifacts.
pub const OTHER_SDK_MODE: Code = Code::warning(
    "S008",
    "other-sdk-mode",
    "The mode does not match the artifacts: `--mode` contradicts the build's manifest, or the build should be split but no artifact is for a single GPU target.",
);
/// Targets without artifacts.
pub const MISSING_TARGETS: Code = Code::error(
    "S009",
    "missing-targets",
    "A requested GPU target has no artifacts, so there would be no package for it. Nothing is written.\n\nFetch the artifacts of the target, or remove it from the requested families.",
);
/// An output directory that already has packages.
pub const SDK_OUTPUT_EXISTS: Code = Code::error(
    "S011",
    "sdk-output-exists",
    "The output directory already contains packages, and a second run would mix its packages with them.\n\nChoose another directory, or pass `--overwrite`, which replaces the whole directory `dist` in it.",
);
/// An artifact that exists in several forms.
pub const ARTIFACT_TWICE: Code = Code::warning(
    "S014",
    "artifact-twice",
    "An artifact exists as a directory and as an archive, or as two archives. The directory is used, otherwise the zstd archive, otherwise the xz archive. If only one of them was fetched again, the packages may be made from the older one.\n\nRemove the others.",
);
/// Artifacts of several builds.
pub const MIXED_ARTIFACTS: Code = Code::warning(
    "S015",
    "mixed-artifacts",
    "Artifacts of several builds are mixed. Few files show which build an artifact belongs to: `.info/version` and the manifest of the build contain the version of ROCm, and if GPU code is split from the libraries, the list next to them (`.kpack/NAME_COMPONENT.kpm`) contains the size of each archive with that code. GPU code of another build than its libraries is not found, or crashes the program.\n\nFetch all artifacts of one run.",
);
/// A directory without SDK packages.
pub const NO_SDK_PACKAGES: Code = Code::error(
    "S030",
    "no-sdk-packages",
    "The directory has no packages of the ROCm SDK: neither it nor one of its subdirectories contains a wheel or sdist of `rocm`. Other wheels among the packages are skipped with a warning.\n\nPass the directory `dist` that `rock-matrix sdk build` wrote.",
);
