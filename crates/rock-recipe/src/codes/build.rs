//! The `B` codes, for recipes, builds and containers.

use rock_diagnostic::Code;
pub(crate) use rock_plan::codes::build::{
    BAD_EXPRESSION, BAD_RECIPE, BAD_REPLACEMENT, NO_IMAGE, UNKNOWN_VARIABLE,
};

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[
    &REFUSED_BY_RECIPE,
    &FACT_CYCLE,
    &UNPINNED_IMAGE,
    &WINDOWS_JOB,
    &WRONG_PYTHON,
    &TORCH_OF_ANOTHER_PYTHON,
    &UNPINNED_SOURCE,
    &PATH_OUTSIDE,
    &WARNED_BY_RECIPE,
    &FACT_UNKNOWN,
];

/// A combination that the recipe refuses.
pub const REFUSED_BY_RECIPE: Code = Code::error(
    "B003",
    "refused-by-recipe",
    "The recipe refuses this combination, for example because this version of the package ignores a variable that is set. The message contains the recipe's reason.\n\n`check` and `build` report it as an error. `plan` warns if the first job of a matrix file is refused, and does not try the others.",
);
/// Recipe facts that depend on each other.
pub const FACT_CYCLE: Code = Code::error(
    "B004",
    "fact-cycle",
    "Facts of the recipe depend on each other in a cycle, so none of them can be computed first.",
);
/// An image without a digest.
pub const UNPINNED_IMAGE: Code = Code::warning(
    "B006",
    "unpinned-image",
    "The container image has a tag but no digest, and the tag may later point to another image.\n\nFor reproducible builds, pin it as `tag@sha256:…`. `image: {digest: require}` makes this an error, `ignore` silences it.",
);
/// A Windows job that cannot run here.
pub const WINDOWS_JOB: Code = Code::error(
    "B007",
    "windows-job",
    "Jobs for Windows can be planned, and `render script` writes a PowerShell or cmd script that builds them on a Windows machine. `build`, containers and workflows support Linux only, and so do the Pythons of `python-from: manylinux` and `deadsnakes`. `render workflow` without files skips the matrix files for Windows, with a note.",
);
/// An image with another Python than the job's.
pub const WRONG_PYTHON: Code = Code::error(
    "B009",
    "wrong-python",
    "With `python-from: image` the Python inside the container image is used, and the image's tag names another version than the job's.\n\nUse an image with this Python, or `python-from: uv`.",
);
/// An installed torch with another Python.
pub const TORCH_OF_ANOTHER_PYTHON: Code = Code::error(
    "B010",
    "torch-of-another-python",
    "With `torch-from: image` or `host`, torch is already installed, for one Python of that image or machine. Another Python, such as one from uv, does not find it.\n\nSet `python-from` to the same value, or take torch from an index.",
);
/// Sources that may change.
pub const UNPINNED_SOURCE: Code = Code::warning(
    "B011",
    "unpinned-source",
    "The sources are fetched without a digest, or by a name that can move, so a later build may silently use other sources.\n\nSet the `sha256` of an archive; name a commit in full.",
);
/// A recipe path outside of the job directory.
pub const PATH_OUTSIDE: Code = Code::error(
    "B012",
    "path-outside",
    "A recipe may only edit, remove and collect files in the job directory. This path is absolute, or leads out of that directory with `..`.",
);
/// A warning of the recipe.
pub const WARNED_BY_RECIPE: Code = Code::warning(
    "B013",
    "warned-by-recipe",
    "The recipe builds this combination but warns about it, for example because this version is untested and is built like the newest known one.",
);
/// A recipe fact without a value.
pub const FACT_UNKNOWN: Code = Code::error(
    "B073",
    "fact-unknown",
    "The recipe detects a fact on this machine (with a command, file or variable). There is no result, and the recipe has no default.\n\nCommands run where the steps run on this machine; for a container, pass the value with `build --fact NAME=VALUE` or `render --set NAME=VALUE`.",
);
