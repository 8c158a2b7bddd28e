//! The `P` codes, for excluded cells and for plans and workflows that fail.

use rock_diagnostic::Code;
pub use rock_plan::codes::plan::*;
pub use rock_recipe::codes::plan::*;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[
    &OUT_IS_INPUT,
    &NOT_RENDERED,
    &WORKFLOW_ELSEWHERE,
    &OUTDATED_WORKFLOW,
];

/// An output that is also an input.
pub const OUT_IS_INPUT: Code = Code::error(
    "P031",
    "out-is-input",
    "`--out` names a file that this command reads, such as the matrix file itself. Writing to it would destroy it, so nothing was written.\n\nChoose another file.",
);
/// An existing file that was not rendered.
pub const NOT_RENDERED: Code = Code::error(
    "P046",
    "not-rendered",
    "`render workflow --out` replaces only files that it rendered before, which start with `# Rendered by rock-matrix`. This file starts differently, so it is not replaced.\n\nChoose another file, or remove this one first.",
);
/// A workflow outside of `.github/workflows`.
pub const WORKFLOW_ELSEWHERE: Code = Code::warning(
    "P051",
    "workflow-elsewhere",
    "GitHub runs only files that are directly in `.github/workflows`, with names that end in `.yml` or `.yaml`. This workflow is written elsewhere, so GitHub does not run it.\n\nWrite it to `.github/workflows`.",
);
/// A rendered workflow that does not match the matrix files.
pub const OUTDATED_WORKFLOW: Code = Code::warning(
    "P055",
    "outdated-workflow",
    "A workflow in `.github/workflows` was rendered from the files in `matrices/`, and would be \
     rendered differently now: a matrix file, a recipe or the compatibility data changed since. If \
     the plan has more jobs than the workflow has outputs for, its runs fail (P047).\n\nRender it \
     again with the command in its second line, and commit it; with `--check` the command shows \
     the differences. `check` without arguments reports this; it skips workflows that were \
     rendered with other options than `--out`.",
);
