//! The `S` codes: Python packages of the ROCm SDK.

use super::super::Code;

/// Every one of these codes, in order.
pub const ALL: &[&Code] = &[
    &NO_ARTIFACT,
    &BAD_ARTIFACT,
    &NO_SDK_MANIFEST,
    &OVERLAPPING_FILES,
    &FILE_AND_FOLDER,
    &LINK_TO_NOWHERE,
    &CASE_CLASH,
    &OTHER_SDK_MODE,
    &MISSING_TARGETS,
    &BAD_SDK_VERSION,
    &SDK_OUTPUT_EXISTS,
    &PROGRAM_LINK,
];

/// An artifact is missing.
pub const NO_ARTIFACT: Code = Code::error(
    "S001",
    "no-artifact",
    "A package of the SDK is made of artifacts that are not there. Artifacts are folders named `NAME_COMPONENT_GPUS`, such as `blas_lib_gfx942`, with an `artifact_manifest.txt`; folders without one are passed over.\n\nFetch what is missing into the folder of artifacts. Which artifacts feed which package is shown by `rock-matrix compat list sdk-packages`.",
);
/// A folder that is named like an artifact is none.
pub const BAD_ARTIFACT: Code = Code::error(
    "S002",
    "bad-artifact",
    "Something in the folder of artifacts looks like an artifact and cannot be one: its name has a component that does not exist, its manifest names a path outside of it, or it holds what no package can: a name that is no UTF-8 text, a device, a damaged library.\n\nFetch the artifact anew, or take it out of the folder.",
);
/// The manifest of the build is missing or cannot be read.
pub const NO_SDK_MANIFEST: Code = Code::error(
    "S003",
    "no-sdk-manifest",
    "The file `therock_manifest.json` of the artifact `base_lib_generic` tells how the ROCm build was made, above all whether code for GPUs is split from the libraries (`KPACK_SPLIT_ARTIFACTS`). Without it the packages would be made in the wrong way.\n\nFetch the artifact `base_lib_generic` of the same run, or say how the build was made with `--mode`.",
);
/// Two artifacts have a path with different bytes.
pub const OVERLAPPING_FILES: Code = Code::warning(
    "S004",
    "overlapping-files",
    "Two artifacts of one package have a file under the same path, and the bytes differ. The one of the artifact that comes first by name is packed, so that the result does not depend on the order in which a file system lists folders. With `--strict` it is an error.",
);
/// A path is a file in one artifact and a folder in another.
pub const FILE_AND_FOLDER: Code = Code::error(
    "S005",
    "file-and-folder",
    "A path is a file in one artifact and a folder in another. Both cannot be in one package. Artifacts of different runs were mixed, or two projects install over each other.",
);
/// A link leads out of its artifact, or to itself.
pub const LINK_TO_NOWHERE: Code = Code::warning(
    "S006",
    "link-to-nowhere",
    "A symbolic link of an artifact leads out of the artifact, or by some way to itself. No package can hold it. It is left out.\n\nLinks to what another artifact has are no fault: they are left out of packages that are run from and are in the one to build against. `rock-matrix sdk plan` lists all that is left out, with reasons.",
);
/// Names differ only in case.
pub const CASE_CLASH: Code = Code::warning(
    "S007",
    "case-clash",
    "Two paths of one package differ only in case. On Windows, and on most disks of macOS, one of them would take the place of the other. For packages of Windows it is an error.",
);
/// What was asked for is not how the build was made.
pub const OTHER_SDK_MODE: Code = Code::warning(
    "S008",
    "other-sdk-mode",
    "The way of making packages does not go with the artifacts: `--mode` says other than the build's manifest, or the build is said to be split while no artifact is for one GPU target.",
);
/// GPU targets are missing.
pub const MISSING_TARGETS: Code = Code::error(
    "S009",
    "missing-targets",
    "A GPU target that was asked for has no artifacts, so that there would be no package for it. Nothing is written.\n\nFetch the artifacts of the target, or take it out of the families that were asked for.",
);
/// The version is none.
pub const BAD_SDK_VERSION: Code = Code::error(
    "S010",
    "bad-sdk-version",
    "The version of the packages must be one that installers take, in its normal form (version specifiers, \"Normalization\"): `7.10.0`, `7.10.0a20251120`, `7.10.0.dev0+0123abcd`. Installers normalize the versions of wheels and would not find one that is written otherwise.",
);
/// The output folder holds other packages.
pub const SDK_OUTPUT_EXISTS: Code = Code::error(
    "S011",
    "sdk-output-exists",
    "The output folder has packages already. A second run would mix its packages with those of the first.\n\nGive another folder, or `--overwrite`, which replaces the folder `dist` in it as a whole.",
);
/// A link to a program for Windows.
pub const PROGRAM_LINK: Code = Code::error(
    "S012",
    "program-link",
    "A symbolic link leads to a program, and nothing can stand for it in a wheel: wheels hold no links, on Windows there is no small program that becomes another, and elsewhere there is one for x86-64 and AArch64 only.",
);
