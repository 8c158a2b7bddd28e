//! The `B` codes: recipes, building, containers.

use super::super::Code;

/// Every `B` code, in order.
pub const ALL: &[&Code] = &[
    &BAD_RECIPE,
    &BAD_EXPRESSION,
    &REFUSED_BY_RECIPE,
    &FACT_CYCLE,
    &NO_IMAGE,
    &UNPINNED_IMAGE,
    &WINDOWS_JOB,
    &UNKNOWN_VARIABLE,
    &WRONG_PYTHON,
    &TORCH_OF_ANOTHER_PYTHON,
    &UNPINNED_SOURCE,
    &PATH_OUTSIDE,
];

/// A recipe file that does not follow the format.
pub const BAD_RECIPE: Code = Code::error(
    "B001",
    "bad-recipe",
    "The recipe file does not follow the format: a key is unknown or missing, or a value has the wrong form.\n\n`docs/recipes.md` lists what a recipe may hold.",
);
/// An expression of a recipe that cannot be evaluated.
pub const BAD_EXPRESSION: Code = Code::error(
    "B002",
    "bad-expression",
    "A `{{ }}` expression of the recipe does not parse, or names something that is not there.\n\nExpressions see the job (`version`, `label`, `gfx`, `backend`, the axes with `-` as `_`), `vars`, `package` (the row of the facts) and the recipe's own facts.",
);
/// The recipe refuses this combination.
pub const REFUSED_BY_RECIPE: Code = Code::error(
    "B003",
    "refused-by-recipe",
    "The recipe itself refuses this combination, for example a variable that this version of the package does not read.",
);
/// Facts of a recipe that need each other.
pub const FACT_CYCLE: Code = Code::error(
    "B004",
    "fact-cycle",
    "Facts of the recipe need each other in a circle, so none of them can be computed first.",
);
/// A container is asked for, and no image is known.
pub const NO_IMAGE: Code = Code::error(
    "B005",
    "no-image",
    "No container image is known for this job: the table has no tag for its versions, and no builder image for its ROCm.\n\nName one with `--image`, with `image: {tag: …}` in the matrix file, or for some cells in `include`.",
);
/// An image without a digest.
pub const UNPINNED_IMAGE: Code = Code::warning(
    "B006",
    "unpinned-image",
    "The container image is named by a tag, which may come to mean another image. Pin it as `tag@sha256:…` where builds must be reproducible; `image: {digest: require}` makes this an error, `ignore` silences it.",
);
/// Windows jobs are planned and rendered, not run.
pub const WINDOWS_JOB: Code =
    Code::error("B007", "windows-job", "Jobs for Windows are planned; building and containers are for Linux only.");
/// A variable that the recipe does not know.
pub const UNKNOWN_VARIABLE: Code = Code::error(
    "B008",
    "unknown-variable",
    "The matrix file sets a recipe variable that the recipe does not have. `docs/recipes.md` lists the variables of each shipped recipe.",
);
/// The image's Python is not the job's.
pub const WRONG_PYTHON: Code = Code::error(
    "B009",
    "wrong-python",
    "With `python-from: image` the Python is the one inside the container image, and this image's tag names another one than the job's.\n\nUse an image for this Python, or `python-from: uv`.",
);
/// The image's torch is asked for together with another Python.
pub const TORCH_OF_ANOTHER_PYTHON: Code = Code::error(
    "B010",
    "torch-of-another-python",
    "With `torch-from: image` the torch is the one inside the container image, and it is installed for the image's own Python only. Another Python does not see it.\n\nSet `python-from: image`, or take torch from an index.",
);
/// A source that may change under the same name.
pub const UNPINNED_SOURCE: Code = Code::warning(
    "B011",
    "unpinned-source",
    "What is built is fetched without a digest or by a name that may move. A build of tomorrow may then be of other sources, and nobody would see it.\n\nGive an archive its `sha256`, and name a commit in full.",
);
/// A path of a recipe that leaves the job's folder.
pub const PATH_OUTSIDE: Code = Code::error(
    "B012",
    "path-outside",
    "A recipe edits, removes and collects files of the job's folder and nowhere else. This path is absolute or goes up with `..`.",
);
