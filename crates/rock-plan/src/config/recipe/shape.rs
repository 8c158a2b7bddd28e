//! The shape of a recipe file, key by key.

use super::step_shape::{COLLECT, ENV_MAP, STEP, TEST};
use crate::config::fields::COLLAPSED_AXES;
use crate::config::{Leaves, VersionFrom};
use rock_yaml::shape::{FieldShape, RecordShape, Shape};

pub(super) const TEXT_LIST: Shape = Shape::List(&Shape::Text);
pub(super) const TEXTS: Shape = Shape::Map(&Shape::Text);
pub(super) const ENV: Shape = Shape::Map(&Shape::AnyOf(&[
    Shape::Text,
    TEXT_LIST,
    Shape::Record(&ENV_MAP),
    Shape::Null,
]));

pub(super) const fn needed(name: &'static str, shape: Shape, doc: &'static str) -> FieldShape {
    FieldShape {
        name,
        shape,
        required: true,
        default: "",
        doc,
    }
}

pub(super) const fn field(
    name: &'static str,
    shape: Shape,
    default: &'static str,
    doc: &'static str,
) -> FieldShape {
    FieldShape {
        name,
        shape,
        required: false,
        default,
        doc,
    }
}

/// The shape of a recipe file.
pub const RECIPE: Shape = Shape::Record(&RecordShape {
    name: "recipe",
    fields: &[
        needed("recipe", Shape::Integer, "Version of the format, 1."),
        needed("name", Shape::Text, "Its name, the file's stem."),
        field(
            "distribution",
            Shape::Text,
            "\"\"",
            "The distribution it builds; a matrix file may name another one.",
        ),
        field(
            "package",
            Shape::Text,
            "\"\"",
            "The package whose rows of the facts apply; without it the matrix file's distribution.",
        ),
        field(
            "version-from",
            Shape::Word(VersionFrom::WORDS),
            "axis",
            "Where the version stands: in an axis of the matrix file, or in the sources, which only the build reads.",
        ),
        field(
            "leaves",
            Shape::Word(Leaves::WORDS),
            "wheels",
            "What a job leaves: wheels, a source distribution with its wheels, an archive of an install tree, or the tree \
             alone.",
        ),
        field(
            "wheels",
            Shape::List(&Shape::Record(&WHEEL)),
            "[]",
            "Wheels of other distributions that the build leaves beside its own.",
        ),
        field(
            "axes",
            TEXT_LIST,
            "[]",
            "Axes it knows beyond package, python, torch, rocm, backend and gfx.",
        ),
        field(
            "requires",
            TEXT_LIST,
            "[]",
            "Axes that a matrix file must have, such as torch, rocm and python.",
        ),
        field(
            "backends",
            Shape::Map(&Shape::Record(&BACKEND)),
            "{}",
            "Ways of building, the default one first.",
        ),
        field(
            "vars",
            TEXTS,
            "{}",
            "Variables with their defaults; a matrix file may set these and no others.",
        ),
        field(
            "required-vars",
            TEXT_LIST,
            "[]",
            "Variables that a matrix file must set; they have no default.",
        ),
        field(
            "facts",
            Shape::Map(&Shape::Record(&FACT)),
            "{}",
            "Named values, in any order.",
        ),
        field(
            "refuse",
            Shape::List(&Shape::Record(&REFUSE)),
            "[]",
            "Combinations that cannot be built, with the reason.",
        ),
        field(
            "warn",
            Shape::List(&Shape::Record(&REFUSE)),
            "[]",
            "Combinations that are built with a warning.",
        ),
        field("env", ENV, "{}", "Environment variables of every step."),
        field(
            "sources",
            Shape::Map(&Shape::Record(&SOURCE)),
            "{}",
            "What is fetched; `NAME` lands in `src/NAME`.",
        ),
        field(
            "edits",
            Shape::List(&Shape::Record(&EDIT)),
            "[]",
            "Changes to the sources, in order.",
        ),
        needed(
            "steps",
            Shape::List(&Shape::Record(&STEP)),
            "The build, in order.",
        ),
        field(
            "points",
            Shape::Map(&TEXT_LIST),
            "{}",
            "Additional values of `--resume`, in order: each has a list of stages, and the build resumes at the first of them.",
        ),
        field(
            "collect",
            Shape::Record(&COLLECT),
            "{}",
            "The wheels it leaves.",
        ),
        field(
            "test",
            Shape::Record(&TEST),
            "{}",
            "What is run with the built wheel.",
        ),
        field(
            "run-time",
            Shape::Record(&RUN_TIME),
            "{}",
            "Needs of the installed package.",
        ),
    ],
});

const WHEEL: RecordShape = RecordShape {
    name: "recipe wheel",
    fields: &[
        needed(
            "distribution",
            Shape::Text,
            "The distribution, in which an expression may name `each`.",
        ),
        field(
            "when",
            Shape::Text,
            "",
            "When it is left: an expression over axes, vars, platform, backend, python, gfx and families.",
        ),
        field(
            "each",
            Shape::Text,
            "",
            "An expression over the same that gives a list: one wheel for each item.",
        ),
        field(
            "same-version",
            Shape::Boolean,
            "false",
            "Whether it has the version of the job's own distribution.",
        ),
        field(
            "tag",
            Shape::Text,
            "",
            "Wheel tags that do not depend on the job, `py3-none-any`.",
        ),
    ],
};

/// A list of axes that can be collapsed.
const AXES: Shape = Shape::List(&Shape::Word(&COLLAPSED_AXES));

const BACKEND: RecordShape = RecordShape {
    name: "recipe backend",
    fields: &[
        field("label", Shape::Text, "\"\"", "What it adds to the label."),
        field("collapse", AXES, "[]", "Axes whose values share one wheel."),
        field(
            "collapsible",
            AXES,
            "[]",
            "Axes whose values share one wheel where `collapse` of the matrix file says so.",
        ),
        field(
            "tag",
            Shape::Text,
            "",
            "Wheel tags that do not depend on the job, `py3-none-any`.",
        ),
        field(
            "device-code",
            Shape::Boolean,
            "true",
            "Whether the wheel holds device code, so that gfx targets matter.",
        ),
        field(
            "levers",
            TEXT_LIST,
            "[]",
            "What makes a build shorter, for estimates that do not fit. One that begins with a variable and its value in backticks is left out where the file sets that value.",
        ),
        field(
            "run-time",
            Shape::Record(&RUN_TIME),
            "{}",
            "Further needs of the installed package.",
        ),
    ],
};

const RUN_TIME: RecordShape = RecordShape {
    name: "recipe run-time needs",
    fields: &[
        field(
            "env",
            TEXTS,
            "{}",
            "Environment variables that must be set to import or use it, without expressions.",
        ),
        field(
            "requires",
            TEXT_LIST,
            "[]",
            "Packages that must be installed, as requirements: `einops`.",
        ),
    ],
};

const FACT: RecordShape = RecordShape {
    name: "recipe fact",
    fields: &[
        field(
            "expr",
            Shape::Text,
            "",
            "An expression over the job and other facts.",
        ),
        field(
            "command",
            TEXT_LIST,
            "",
            "The trimmed output of a command, asked before the build.",
        ),
        field(
            "after",
            Shape::Text,
            "\"\"",
            "With `command`, `file` or `path`: asked by the build itself, after this stage.",
        ),
        field(
            "before",
            Shape::Text,
            "\"\"",
            "The same, right before this stage.",
        ),
        field("file", Shape::Text, "", "The trimmed content of a file."),
        field(
            "find",
            Shape::Text,
            "\"\"",
            "With `file`: a regular expression, whose first group or match is taken.",
        ),
        field(
            "path",
            TEXT_LIST,
            "",
            "The first of these paths that is there.",
        ),
        field(
            "env",
            Shape::Text,
            "",
            "A variable of the caller's environment.",
        ),
        field(
            "table",
            Shape::Text,
            "",
            "A table of the facts, such as `rocm-gfx`.",
        ),
        field(
            "where",
            TEXTS,
            "{}",
            "With `table`: what the columns of the row must have or hold.",
        ),
        field(
            "at-most",
            TEXTS,
            "{}",
            "With `table`: column and version; the newest row up to it is taken.",
        ),
        field(
            "key",
            Shape::Text,
            "",
            "With `table`: the column that names the values of all rows, which become a mapping.",
        ),
        field(
            "column",
            Shape::Text,
            "",
            "With `table`: the column whose value is taken.",
        ),
        field(
            "default",
            Shape::Text,
            "",
            "What to take when there is no answer.",
        ),
        field(
            "stand-in",
            Shape::Text,
            "",
            "What `check` and a dry run take, which ask nothing.",
        ),
    ],
};

const REFUSE: RecordShape = RecordShape {
    name: "recipe refusal",
    fields: &[
        needed("when", Shape::Text, "When it applies."),
        needed("reason", Shape::Text, "Why."),
        field("help", Shape::Text, "\"\"", "What to do instead."),
    ],
};

const SOURCE: RecordShape = RecordShape {
    name: "recipe source",
    fields: &[
        field("when", Shape::Text, "", "When it is needed."),
        field(
            "sdist",
            Shape::Text,
            "",
            "A requirement whose source distribution is fetched, `flash-attn==2.8.3`.",
        ),
        field("git", Shape::Text, "", "A git address."),
        field(
            "path",
            Shape::Text,
            "",
            "A folder on this machine, copied; relative to where rock-matrix is called.",
        ),
        field(
            "project",
            Shape::Text,
            "",
            "A project of the facts, as `source checkout` knows it.",
        ),
        field(
            "checkout",
            TEXT_LIST,
            "[]",
            "With `project`: further options of `source checkout`.",
        ),
        field(
            "artifact",
            Shape::Text,
            "",
            "A `.tar.gz` on this machine that another job left, unpacked.",
        ),
        field(
            "sha256",
            Shape::Text,
            "\"\"",
            "The archive's digest; without one it is not checked, with a warning.",
        ),
        field(
            "ref",
            Shape::Text,
            "\"\"",
            "With `git` and `project`: the commit, tag or branch.",
        ),
        field(
            "submodules",
            Shape::Boolean,
            "false",
            "With `git`: whether submodules are fetched.",
        ),
        field(
            "sparse",
            Shape::Text,
            "\"\"",
            "With `git`: the folder that is checked out, with the files above it; all without one.",
        ),
        field(
            "env",
            ENV,
            "{}",
            "Environment variables of the fetching process.",
        ),
    ],
};

const EDIT: RecordShape = RecordShape {
    name: "recipe edit",
    fields: &[
        field("when", Shape::Text, "", "When it is made."),
        field(
            "file",
            Shape::Text,
            "",
            "A file to edit, relative to the job's folder.",
        ),
        field(
            "find",
            Shape::Text,
            "\"\"",
            "A regular expression, Python's, by line.",
        ),
        field(
            "replace",
            Shape::Text,
            "\"\"",
            "What takes its place: `\\1` and `\\g<N>` are groups, `\\n`, `\\t` and `\\\\` a line break, a tab and a backslash; values of expressions are literal.",
        ),
        field(
            "unless",
            Shape::Text,
            "\"\"",
            "A text that is there when the edit is made already.",
        ),
        field(
            "only-with",
            Shape::Text,
            "\"\"",
            "A text of the sources that it is for: where the file or the text is not there, it does not apply.",
        ),
        field(
            "count",
            Shape::Integer,
            "",
            "How many places must match; without it any number but none.",
        ),
        field(
            "write",
            Shape::Text,
            "",
            "Instead of `find`: the whole content of the file.",
        ),
        field(
            "remove",
            TEXT_LIST,
            "[]",
            "Paths removed instead, relative to the job's folder.",
        ),
    ],
};

#[cfg(test)]
mod tests {
    use super::RECIPE;
    use rock_yaml::shape::Shape;

    fn keys(shape: &Shape, found: &mut Vec<&'static str>) {
        match shape {
            Shape::Record(record) => {
                for field in record.fields {
                    found.push(field.name);
                    keys(&field.shape, found);
                }
            }
            Shape::List(inner) | Shape::Map(inner) => keys(inner, found),
            Shape::AnyOf(all) => all.iter().for_each(|shape| keys(shape, found)),
            _ => {}
        }
    }

    #[test]
    fn the_page_of_recipes_names_every_key() {
        let page = include_str!("../../../../../docs/recipes.md");
        let mut found = Vec::new();
        keys(&RECIPE, &mut found);
        assert!(found.len() > 60, "{found:?}");
        for key in found {
            let named = page.split('`').skip(1).step_by(2).any(|code| {
                code.trim_matches(['{', '}'])
                    .split([',', ' ', ':'])
                    .any(|word| word == key)
            });
            assert!(named, "`{key}` is not in docs/recipes.md");
        }
    }
}
