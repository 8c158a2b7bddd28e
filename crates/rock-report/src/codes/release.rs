//! The `G` codes, for releases in directories and on GitHub, and for published wheels.

use rock_diagnostic::Code;
pub(crate) use rock_publish::codes::release::UNREADABLE_PUBLISHED_NAME;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[
    &NO_WHEEL_FITS,
    &NO_SUCH_PROJECT,
    &SEVERAL_PROJECTS,
    &TORCH_NOT_FOR_ROCM,
    &NO_TORCH,
    &UNKNOWN_ROCM,
    &AMBIGUOUS_PUBLISHED_LABEL,
    &NO_MARKER,
    &UNKNOWN_RELEASE,
    &BAD_RESULTS,
    &ADDRESS_OF_THIS_MACHINE,
];

/// No wheel for this machine.
pub const NO_WHEEL_FITS: Code = Code::error(
    "G200",
    "no-wheel-fits",
    "Every published wheel has another version than the requested one, is yanked, or needs another system, C library, GPU, ROCm, torch, Python or backend than this machine has. The closest wheels are listed with all differences, the hardest to change first.\n\nInstall what the closest wheel needs, or build a wheel for this machine. `compat list reach` shows with which other ROCm versions a wheel works.",
);
/// No wheel of the selected project.
pub const NO_SUCH_PROJECT: Code = Code::error(
    "G201",
    "no-such-project",
    "None of the published wheels belongs to the requested project. The message lists the projects that have wheels.",
);
/// Wheels of several projects.
pub const SEVERAL_PROJECTS: Code = Code::error(
    "G202",
    "several-projects",
    "Wheels of more than one project are published. Name one, such as `rock-matrix pick flash-attn`.",
);
/// A torch that is not built for ROCm.
pub const TORCH_NOT_FOR_ROCM: Code = Code::warning(
    "G207",
    "torch-not-for-rocm",
    "The installed torch is built for the CPU or for CUDA. A wheel for ROCm does not load with it.\n\nInstall torch from an index for ROCm first.",
);
/// A Python without torch.
pub const NO_TORCH: Code = Code::warning(
    "G208",
    "no-torch",
    "The selected wheel needs torch, and the Python that it was selected for has none, so the wheel cannot be imported.\n\nThe command that `pick` prints also installs torch, if the official index has it for the ROCm version of the wheel. Otherwise, install it from an index for ROCm first.",
);
/// A selected wheel whose ROCm version is unknown.
pub const UNKNOWN_ROCM: Code = Code::warning(
    "G209",
    "unknown-rocm",
    "The name of the selected wheel does not contain a ROCm version, and no manifest of its release records which ROCm its libraries need, so it may be for another one and fail to load.\n\nDownload it and read its ROCm with `rock-matrix wheel show`. Whoever publishes it can set its label with `rock-matrix wheel label`, or publish it with `rock-matrix publish`, which records the ROCm of its libraries.",
);
/// An ambiguous label of a published wheel.
pub const AMBIGUOUS_PUBLISHED_LABEL: Code = Code::warning(
    "G301",
    "ambiguous-published-label",
    "The digits in the label of a published wheel can be read as two ROCm versions: `rocm714` is 7.14 and 7.1.4. Documents show it under the version named here, which may be the wrong one.\n\nPublish such wheels with dots in the label: `rock-matrix wheel label WHEEL rocm7.14torch2.14`.",
);
/// A document without the markers to write between.
pub const NO_MARKER: Code = Code::error(
    "G302",
    "no-marker",
    "An existing document is changed only between two marker comments, or below a heading, and each of these must occur once. Here one is missing or occurs several times, so nothing was written.\n\nCoverage goes between `<!-- COVERAGE_BADGE_START -->` and `<!-- COVERAGE_BADGE_END -->`, and between `<!-- COVERAGE_TABLE_START -->` and `<!-- COVERAGE_TABLE_END -->`; one pair is enough. The release history goes below the line `## History`.",
);
/// An unknown release.
pub const UNKNOWN_RELEASE: Code = Code::error(
    "G303",
    "unknown-release",
    "No release in the list has this tag, so there is nothing to write notes about.\n\nA release in a directory has a tag if it was published with `--tag`: `rock-matrix publish dist --out releases --tag v1` writes it to `releases/v1`.\n\nOnly a token with write access sees drafts. Save the list again, for example with `gh api --paginate --slurp repos/OWNER/REPO/releases`, or name the repository.",
);
/// An invalid results file.
pub const BAD_RESULTS: Code = Code::error(
    "G304",
    "bad-results",
    "A results file contains the outcomes of the jobs of a plan: the `build.json` of each build, a list of such objects, or one object per line, each with `job` and `outcome` and an optional `reason`.\n\nIf a result belongs to a job that is not in the plan, this is a warning and the result is ignored. Use the plan that the run was started with.",
);
/// A page with links to this machine.
pub const ADDRESS_OF_THIS_MACHINE: Code = Code::warning(
    "G307",
    "address-of-this-machine",
    "The page was made from a directory, and its links and install commands refer to that directory on this machine. This is right for a local page, but the links are dead on a deployed one.\n\nSet the URL under which the files will be served with `--base-url`, or make the page from releases on GitHub, whose files have URLs.",
);
