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

const PLACE: RecordShape = RecordShape {
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

const PLACE_ROW: RecordShape = RecordShape {
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

const OUTPUT: RecordShape = RecordShape {
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

pub(super) const COLLECT: RecordShape = RecordShape {
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

pub(super) const TEST: RecordShape = RecordShape {
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

pub(super) const ENV_MAP: RecordShape = RecordShape {
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
