//! What a recipe file may hold, key by key.

use crate::config::fields::COLLAPSED_AXES;
use crate::config::{CheckProfile, Gate, Leaves, VersionFrom};
use crate::yaml::shape::{Field, Record, Shape};

const TEXT_LIST: Shape = Shape::List(&Shape::Text);
const TEXTS: Shape = Shape::Map(&Shape::Text);
const ENV: Shape = Shape::Map(&Shape::AnyOf(&[
    Shape::Text,
    TEXT_LIST,
    Shape::Record(&ENV_MAP),
    Shape::Nothing,
]));

const fn needed(name: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field {
        name,
        shape,
        required: true,
        default: "",
        doc,
    }
}

const fn field(
    name: &'static str,
    shape: Shape,
    default: &'static str,
    doc: &'static str,
) -> Field {
    Field {
        name,
        shape,
        required: false,
        default,
        doc,
    }
}

/// A recipe file.
pub const RECIPE: Shape = Shape::Record(&Record {
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
            "Further words for `--continue`, in order: each with stages, at the first of which it begins.",
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

const WHEEL: Record = Record {
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

/// Axes that values of a wheel's name come from.
const AXES: Shape = Shape::List(&Shape::Word(&COLLAPSED_AXES));

const BACKEND: Record = Record {
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

const RUN_TIME: Record = Record {
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

const FACT: Record = Record {
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

const REFUSE: Record = Record {
    name: "recipe refusal",
    fields: &[
        needed("when", Shape::Text, "When it applies."),
        needed("reason", Shape::Text, "Why."),
        field("help", Shape::Text, "\"\"", "What to do instead."),
    ],
};

const SOURCE: Record = Record {
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

const EDIT: Record = Record {
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

const STEP: Record = Record {
    name: "recipe step",
    fields: &[
        field(
            "stage",
            Shape::Text,
            "\"\"",
            "Its name, unique in the recipe.",
        ),
        field(
            "use",
            Shape::Text,
            "\"\"",
            "Instead of all but `when`: a recipe whose steps stand here.",
        ),
        field("when", Shape::Text, "", "When it runs."),
        field(
            "argv",
            TEXT_LIST,
            "[]",
            "Program and arguments; items that give none or nothing are dropped.",
        ),
        field(
            "rock-matrix",
            TEXT_LIST,
            "[]",
            "Arguments of this program instead of `argv`: run on this machine, before all other steps.",
        ),
        field(
            "inputs",
            TEXT_LIST,
            "[]",
            "Files and folders that it reads: absolute, or relative to where rock-matrix is called.",
        ),
        field(
            "shell",
            Shape::Word(&["bash"]),
            "",
            "Run `script` instead of `argv`.",
        ),
        field(
            "script",
            Shape::Text,
            "\"\"",
            "The shell's program, without expressions: values reach it through `env`.",
        ),
        field(
            "place",
            Shape::Record(&PLACE),
            "",
            "Instead of `argv`: files that are placed in folders of an environment, all or none.",
        ),
        field("env", ENV, "{}", "Environment variables of this step."),
        field(
            "cwd",
            Shape::Text,
            "\"\"",
            "Working folder, relative to the job's folder.",
        ),
        field(
            "timeout-min",
            Shape::Integer,
            "",
            "Minutes until it is stopped.",
        ),
        field(
            "clean",
            TEXT_LIST,
            "[]",
            "Paths removed first, relative to the job's folder.",
        ),
        field(
            "outdated",
            TEXT_LIST,
            "[]",
            "Paths removed first unless the step last ran with the same command and variables.",
        ),
        field("retry", Shape::Integer, "0", "How often it is tried again."),
        field(
            "outputs",
            Shape::Map(&Shape::Record(&OUTPUT)),
            "{}",
            "Files it must leave, by name.",
        ),
        field(
            "finally",
            Shape::Boolean,
            "false",
            "Run it at the end of the build, and after a failure too.",
        ),
    ],
};

const PLACE: Record = Record {
    name: "recipe placing",
    fields: &[
        needed(
            "into",
            Shape::Text,
            "The folder: absolute, or relative to where rock-matrix is called.",
        ),
        field(
            "holds",
            Shape::Text,
            "\"\"",
            "A glob that must match in it.",
        ),
        needed(
            "rows",
            Shape::List(&Shape::Record(&PLACE_ROW)),
            "What is placed.",
        ),
    ],
};

const PLACE_ROW: Record = Record {
    name: "recipe placed files",
    fields: &[
        field("when", Shape::Text, "", "When they are placed."),
        needed(
            "from",
            Shape::Text,
            "A glob, relative to the job's folder; a folder is placed as a whole.",
        ),
        needed("to", TEXT_LIST, "Folders, relative to `into`."),
        field(
            "one",
            Shape::Boolean,
            "false",
            "Whether exactly one must match, instead of at least one.",
        ),
        field(
            "link",
            Shape::Text,
            "\"\"",
            "The name of a symbolic link to it, beside it.",
        ),
        field(
            "replaces",
            Shape::Text,
            "\"\"",
            "A glob of what goes away in these folders.",
        ),
    ],
};

const OUTPUT: Record = Record {
    name: "recipe output",
    fields: &[
        needed("glob", Shape::Text, "A glob, relative to the job's folder."),
        field("count", Shape::Integer, "1", "How many files must match."),
        field(
            "install",
            Shape::Boolean,
            "false",
            "Whether they are wheels that later stages need installed.",
        ),
    ],
};

const COLLECT: Record = Record {
    name: "recipe collect",
    fields: &[
        field(
            "wheels",
            Shape::Text,
            "\"\"",
            "Glob of the wheels, relative to the job's folder.",
        ),
        field(
            "archive",
            Shape::Text,
            "\"\"",
            "Glob of the archive or source distribution, in the job's folder.",
        ),
        field(
            "relabel",
            Shape::Boolean,
            "false",
            "Set the label after the build, where the build cannot.",
        ),
        field(
            "gates",
            Shape::List(&Shape::Word(Gate::WORDS)),
            "[]",
            "Checks that every wheel must pass.",
        ),
        field(
            "profile",
            Shape::Word(CheckProfile::WORDS),
            "default",
            "What kind of wheels they are, as `wheel check --profile` takes it; those of `sdk` are not repaired.",
        ),
        field(
            "record",
            Shape::Map(&TEXT_LIST),
            "{}",
            "Commands whose first line of output `build.json` records.",
        ),
    ],
};

const TEST: Record = Record {
    name: "recipe test",
    fields: &[
        field(
            "cpu",
            Shape::Text,
            "\"\"",
            "A Python program that needs no GPU; the wheel is installed.",
        ),
        field(
            "pytest",
            TEXT_LIST,
            "",
            "Arguments of pytest, which then runs `gpu` as a file of tests.",
        ),
        field("env", ENV, "{}", "Variables of both."),
        field(
            "requires",
            TEXT_LIST,
            "[]",
            "What pip installs before a finished wheel is tested elsewhere.",
        ),
        field("stages", TEXT_LIST, "[]", "Stages that run there first."),
        field(
            "gpu",
            Shape::Text,
            "\"\"",
            "A Python program for a machine with a GPU.",
        ),
    ],
};

const ENV_MAP: Record = Record {
    name: "recipe variable",
    fields: &[
        field(
            "prepend",
            Shape::Text,
            "",
            "Put before the inherited value.",
        ),
        field("append", Shape::Text, "", "Put after the inherited value."),
        field(
            "sep",
            Shape::Text,
            "path",
            "What stands between; `path` is `:`.",
        ),
        field(
            "if",
            Shape::Text,
            "",
            "A fact that is asked while the build runs: only where it has an answer,",
        ),
        field("value", Shape::Text, "", "the variable is set to this."),
        field(
            "count",
            Shape::Text,
            "\"\"",
            "With `gib-per-job`: the number itself, where it is not empty.",
        ),
        field(
            "gib-per-job",
            Shape::Text,
            "",
            "The number of parallel jobs for this much memory each, unless set.",
        ),
    ],
};

#[cfg(test)]
mod tests {
    use super::RECIPE;
    use crate::yaml::shape::Shape;

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
        let page = include_str!("../../../docs/recipes.md");
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
