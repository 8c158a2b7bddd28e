//! The `B` codes, for recipes, builds and containers.

use rock_diagnostic::Code;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[
    &BAD_RECIPE,
    &BAD_EXPRESSION,
    &NO_IMAGE,
    &UNKNOWN_VARIABLE,
    &NO_RECIPES,
    &UNKNOWN_FACT,
    &BAD_REPLACEMENT,
];

/// An invalid recipe.
pub const BAD_RECIPE: Code = Code::error(
    "B001",
    "bad-recipe",
    "The recipe file is invalid: a key is unknown or missing, a value has the wrong form, or the recipe does not collect the files that it produces. Only a recipe with `leaves: tree` produces no file.\n\n`rock-matrix help recipes` explains the format, and `docs/recipes.md` describes all keys.",
);
/// An invalid expression in a recipe.
pub const BAD_EXPRESSION: Code = Code::error(
    "B002",
    "bad-expression",
    "A `{{ }}` expression of the recipe does not parse, or uses an undefined name.\n\nExpressions can use the job (`version`, `label`, `gfx`, `backend`, the axes with `-` as `_`), `vars`, `package` (its row in the compatibility data) and the recipe's own facts.",
);
/// No known image for a job.
pub const NO_IMAGE: Code = Code::error(
    "B005",
    "no-image",
    "No container image is known for this job: the table has no tag for its versions, and no builder image for its ROCm.\n\nSet one with `--image`, with `image: {tag: …}` in the matrix file, or for some cells in `include`.",
);
/// An unknown recipe variable.
pub const UNKNOWN_VARIABLE: Code = Code::error(
    "B008",
    "unknown-variable",
    "The matrix file sets a variable that the recipe does not have. `docs/recipes.md` lists the variables of each built-in recipe.",
);
/// A recipe directory without recipes.
pub const NO_RECIPES: Code = Code::error(
    "B075",
    "no-recipes",
    "The directory in `--recipes` does not exist, or contains no YAML files. Its recipes override the built-in ones, so without them another recipe than intended would be used.",
);
/// A fact that no recipe has.
pub const UNKNOWN_FACT: Code = Code::error(
    "B076",
    "unknown-fact",
    "`build --fact NAME=VALUE` or `render --set NAME=VALUE` sets a fact that none of the selected jobs' recipes has, so the value would be ignored.\n\nA recipe lists its facts under `facts`.",
);
/// An invalid escape in the replacement of an edit.
pub const BAD_REPLACEMENT: Code = Code::error(
    "B080",
    "bad-replacement",
    "The replacement of an edit (`replace`) has an unknown escape. `\\1` to `\\99`, `\\g<N>` and `\\g<NAME>` insert groups of the match, `\\n` a line break, `\\t` a tab, and `\\\\` a backslash. Other escapes of Python's `re` are not supported. Values of expressions are inserted literally.\n\nWrite `\\\\` for a backslash, or remove it.",
);
