//! The shapes of steps, tests and collected artifacts in a recipe file.

use super::shape::{ENV, TEXT_LIST, field, needed};
use crate::config::{CheckProfile, Gate};
use rock_yaml::shape::{RecordShape, Shape};

pub(super) const STEP: RecordShape = RecordShape {
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
            "The recipe whose steps are inserted here; excludes all other keys except `when`.",
        ),
        field("when", Shape::Text, "", "When it runs."),
        field(
            "argv",
            TEXT_LIST,
            "[]",
            "Program and arguments; items that evaluate to none or to an empty text are dropped.",
        ),
        field(
            "rock-matrix",
            TEXT_LIST,
            "[]",
            "Arguments of rock-matrix, instead of `argv`; runs on this machine, before all other \
             steps.",
        ),
        field(
            "inputs",
            TEXT_LIST,
            "[]",
            "Files and directories that it reads: absolute, or relative to the directory in which \
             rock-matrix is called.",
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
            "The script, without expressions: values are passed in `env`.",
        ),
        field(
            "place",
            Shape::Record(&PLACE),
            "",
            "Instead of `argv`: files to place in directories of an environment, all or none.",
        ),
        field("env", ENV, "{}", "Environment variables of this step."),
        field(
            "cwd",
            Shape::Text,
            "\"\"",
            "Working directory, relative to the job directory.",
        ),
        field("timeout-min", Shape::Integer, "", "Time limit in minutes."),
        field(
            "clean",
            TEXT_LIST,
            "[]",
            "Paths to remove first, relative to the job directory.",
        ),
        field(
            "outdated",
            TEXT_LIST,
            "[]",
            "Paths to remove first, unless the step last ran with the same command and variables.",
        ),
        field("retry", Shape::Integer, "0", "How often it is retried."),
        field(
            "outputs",
            Shape::Map(&Shape::Record(&OUTPUT)),
            "{}",
            "Files that it must produce, by name.",
        ),
        field(
            "finally",
            Shape::Boolean,
            "false",
            "Run it at the end of the build, also after a failure.",
        ),
    ],
};

const PLACE: RecordShape = RecordShape {
    name: "recipe placing",
    fields: &[
        needed(
            "into",
            Shape::Text,
            "The target directory: absolute, or relative to the directory in which rock-matrix is \
             called.",
        ),
        field(
            "holds",
            Shape::Text,
            "\"\"",
            "A glob that must match in the target directory.",
        ),
        needed(
            "rows",
            Shape::List(&Shape::Record(&PLACE_ROW)),
            "The files to place.",
        ),
    ],
};

const PLACE_ROW: RecordShape = RecordShape {
    name: "recipe placed files",
    fields: &[
        field("when", Shape::Text, "", "When they are placed."),
        needed(
            "from",
            Shape::Text,
            "A glob, relative to the job directory; a directory is placed as a whole.",
        ),
        needed("to", TEXT_LIST, "Directories, relative to `into`."),
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
            "The name of a symbolic link to it, in the same directory.",
        ),
        field(
            "replaces",
            Shape::Text,
            "\"\"",
            "A glob of files to remove from these directories.",
        ),
    ],
};

const OUTPUT: RecordShape = RecordShape {
    name: "recipe output",
    fields: &[
        needed(
            "glob",
            Shape::Text,
            "A glob, relative to the job directory.",
        ),
        field("count", Shape::Integer, "1", "How many files must match."),
        field(
            "install",
            Shape::Boolean,
            "false",
            "Whether they are wheels that later stages need installed.",
        ),
    ],
};

pub(super) const COLLECT: RecordShape = RecordShape {
    name: "recipe collect",
    fields: &[
        field(
            "wheels",
            Shape::Text,
            "\"\"",
            "Glob of the wheels, relative to the job directory.",
        ),
        field(
            "archive",
            Shape::Text,
            "\"\"",
            "Glob of the archive or source distribution, in the job directory.",
        ),
        field(
            "relabel",
            Shape::Boolean,
            "false",
            "Set the label after the build, if the build cannot.",
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
            "The wheels' profile, as for `wheel check --profile`; wheels of the profile `sdk` are \
             not repaired.",
        ),
        field(
            "record",
            Shape::Map(&TEXT_LIST),
            "{}",
            "Commands whose first line of output `build.json` records.",
        ),
    ],
};

pub(super) const TEST: RecordShape = RecordShape {
    name: "recipe test",
    fields: &[
        field(
            "cpu",
            Shape::Text,
            "\"\"",
            "A Python program that needs no GPU; runs with the wheel installed.",
        ),
        field(
            "pytest",
            TEXT_LIST,
            "",
            "Arguments of pytest, which then runs `gpu` as a test file.",
        ),
        field("env", ENV, "{}", "Variables of both."),
        field(
            "requires",
            TEXT_LIST,
            "[]",
            "Packages that pip installs before a finished wheel is tested on another machine.",
        ),
        field("stages", TEXT_LIST, "[]", "Stages to run there first."),
        field(
            "gpu",
            Shape::Text,
            "\"\"",
            "A Python program for a machine with a GPU.",
        ),
    ],
};

pub(super) const ENV_MAP: RecordShape = RecordShape {
    name: "recipe variable",
    fields: &[
        field(
            "prepend",
            Shape::Text,
            "",
            "Prepended to the inherited value.",
        ),
        field(
            "append",
            Shape::Text,
            "",
            "Appended to the inherited value.",
        ),
        field("sep", Shape::Text, "path", "The separator; `path` is `:`."),
        field(
            "if",
            Shape::Text,
            "",
            "A fact that is detected during the build; if it has a value,",
        ),
        field("value", Shape::Text, "", "the variable is set to this."),
        field(
            "count",
            Shape::Text,
            "\"\"",
            "With `gib-per-job`: the exact number, unless empty.",
        ),
        field(
            "gib-per-job",
            Shape::Text,
            "",
            "Sets the variable to the number of parallel jobs, with this much memory for each.",
        ),
    ],
};
