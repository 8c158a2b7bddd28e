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
        needed(
            "name",
            Shape::Text,
            "Its name, the same as the file's stem.",
        ),
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
            "The package whose rows of the compatibility data apply. Default: the matrix file's \
             distribution.",
        ),
        field(
            "version-from",
            Shape::Word(VersionFrom::WORDS),
            "axis",
            "Where the version comes from: an axis of the matrix file, or the sources, which only \
             the build reads.",
        ),
        field(
            "leaves",
            Shape::Word(Leaves::WORDS),
            "wheels",
            "What a job produces: wheels, a source distribution with its wheels, an archive of an \
             install tree, or only the tree.",
        ),
        field(
            "builds-torch",
            Shape::Boolean,
            "false",
            "Whether the build produces the torch of the axis `torch`; jobs then install none, and \
             its versions are not limited to those with wheels.",
        ),
        field(
            "wheels",
            Shape::List(&Shape::Record(&WHEEL)),
            "[]",
            "Wheels of other distributions that the build also produces.",
        ),
        field(
            "axes",
            TEXT_LIST,
            "[]",
            "Axes in addition to package, python, torch, rocm, backend and gfx.",
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
            "Build variants, the default one first.",
        ),
        field(
            "vars",
            TEXTS,
            "{}",
            "Variables with their defaults; a matrix file may set only these.",
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
            "Sources to fetch; `NAME` is placed in `src/NAME`.",
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
            "The steps of the build, in order.",
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
            "The wheels that it produces.",
        ),
        field(
            "test",
            Shape::Record(&TEST),
            "{}",
            "Tests of the built wheel.",
        ),
        field(
            "run-time",
            Shape::Record(&RUN_TIME),
            "{}",
            "Requirements of the installed package.",
        ),
    ],
});

const WHEEL: RecordShape = RecordShape {
    name: "recipe wheel",
    fields: &[
        needed(
            "distribution",
            Shape::Text,
            "The distribution; an expression may use `each`.",
        ),
        field(
            "when",
            Shape::Text,
            "",
            "When it is produced: an expression over axes, vars, platform, backend, python, gfx \
             and families.",
        ),
        field(
            "each",
            Shape::Text,
            "",
            "An expression over the same names that returns a list: one wheel for each item.",
        ),
        field(
            "same-version",
            Shape::Boolean,
            "false",
            "Whether it has the same version as the job's distribution.",
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
            "Axes whose values share one wheel if `collapse` of the matrix file lists them.",
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
            "Whether the wheel contains device code, so that gfx targets matter.",
        ),
        field(
            "levers",
            TEXT_LIST,
            "[]",
            "Ways to shorten a build, for estimates that exceed the limit. One that begins with a \
             variable and its value in backticks is omitted if the file sets that value.",
        ),
        field(
            "run-time",
            Shape::Record(&RUN_TIME),
            "{}",
            "Additional requirements of the installed package.",
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
            "The trimmed output of a command, run before the build.",
        ),
        field(
            "after",
            Shape::Text,
            "\"\"",
            "With `command`, `file` or `path`: evaluated during the build, after this stage.",
        ),
        field(
            "before",
            Shape::Text,
            "\"\"",
            "The same, but right before this stage.",
        ),
        field("file", Shape::Text, "", "The trimmed content of a file."),
        field(
            "find",
            Shape::Text,
            "\"\"",
            "With `file`: a regular expression; the fact is its first group, or the match.",
        ),
        field(
            "path",
            TEXT_LIST,
            "",
            "The first of these paths that exists.",
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
            "A table of the compatibility data, such as `rocm-gfx`.",
        ),
        field(
            "where",
            TEXTS,
            "{}",
            "With `table`: values that the columns of the row must equal or contain.",
        ),
        field(
            "at-most",
            TEXTS,
            "{}",
            "With `table`: a column and a version; selects the newest row up to this version.",
        ),
        field(
            "key",
            Shape::Text,
            "",
            "With `table`: the column with the keys, if all rows become a mapping.",
        ),
        field(
            "column",
            Shape::Text,
            "",
            "With `table`: the column whose value is used.",
        ),
        field(
            "default",
            Shape::Text,
            "",
            "The default, if the fact has no value.",
        ),
        field(
            "stand-in",
            Shape::Text,
            "",
            "The value for `check` and dry runs, which run nothing.",
        ),
    ],
};

const REFUSE: RecordShape = RecordShape {
    name: "recipe refusal",
    fields: &[
        needed("when", Shape::Text, "When it applies."),
        needed("reason", Shape::Text, "Why."),
        field("help", Shape::Text, "\"\"", "How to avoid it."),
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
        field("git", Shape::Text, "", "A git URL."),
        field(
            "path",
            Shape::Text,
            "",
            "A directory on this machine to copy; relative to the directory in which rock-matrix \
             is called.",
        ),
        field(
            "project",
            Shape::Text,
            "",
            "A project of the compatibility data, as for `source checkout`.",
        ),
        field(
            "checkout",
            TEXT_LIST,
            "[]",
            "With `project`: additional options of `source checkout`.",
        ),
        field(
            "artifact",
            Shape::Text,
            "",
            "A `.tar.gz` on this machine from another job, which is unpacked.",
        ),
        field(
            "sha256",
            Shape::Text,
            "\"\"",
            "The archive's digest; without it the archive is not checked, with a warning.",
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
            "With `git`: the only directory to check out, with the files in its parent \
             directories. Default: everything.",
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
        field("when", Shape::Text, "", "When it is applied."),
        field(
            "file",
            Shape::Text,
            "",
            "A file to edit, relative to the job directory.",
        ),
        field(
            "find",
            Shape::Text,
            "\"\"",
            "A Python regular expression, matched per line.",
        ),
        field(
            "replace",
            Shape::Text,
            "\"\"",
            "The replacement: `\\1` and `\\g<N>` are groups, `\\n`, `\\t` and `\\\\` a line break, \
             a tab and a backslash; values of expressions are literal.",
        ),
        field(
            "unless",
            Shape::Text,
            "\"\"",
            "A text that the file contains if the edit has already been applied.",
        ),
        field(
            "only-with",
            Shape::Text,
            "\"\"",
            "A text that the file must contain; if the file or the text is missing, the edit is \
             skipped.",
        ),
        field(
            "count",
            Shape::Integer,
            "",
            "The number of matches required. Default: at least one.",
        ),
        field(
            "write",
            Shape::Text,
            "",
            "Instead of `find`: the new content of the file.",
        ),
        field(
            "remove",
            TEXT_LIST,
            "[]",
            "Paths to remove instead, relative to the job directory.",
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
