//! The fields of the matrix file: shapes, defaults and descriptions.
//!
//! The structural check, the JSON Schema, the reference page and the reader's defaults all come
//! from these tables.
//!
//! **Invariant:** each default is defined here and nowhere else.

use super::model::{
    Attest, DigestRule, GpuPolicy, GroupIds, LabelChoice, MakeLatest, MissingImage, Platform,
    PrRunMode, Prerelease, PythonFrom, Queue, RocmPolicy, RocmPrecision, Strictness, Switch,
    ToolFrom, TorchFrom,
};
use rock_yaml::shape::{FieldShape, RecordShape, Shape};

/// The shape of a matrix file.
pub const MATRIX_FILE: Shape = Shape::Record(&MATRIX);

const fn required(name: &'static str, shape: Shape, doc: &'static str) -> FieldShape {
    FieldShape {
        name,
        shape,
        required: true,
        default: "",
        doc,
    }
}

const fn optional(
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

const TEXTS: Shape = Shape::List(&Shape::Text);
const TEXT_MAP: Shape = Shape::Map(&Shape::Text);

const RUNNER_SHAPE: Shape = Shape::AnyOf(&[Shape::Text, TEXTS, Shape::Record(&RUNNER)]);

const RUNNER: RecordShape = RecordShape {
    name: "runner",
    fields: &[
        optional("group", Shape::Text, "", "The group of runners."),
        optional(
            "labels",
            TEXTS,
            "[]",
            "Labels that a runner of the group must all have.",
        ),
    ],
};

/// The top level.
pub(super) const MATRIX: RecordShape = RecordShape {
    name: "matrix file",
    fields: &[
        required(
            "version",
            Shape::Integer,
            "The version of this format, `1`.",
        ),
        optional(
            "enabled",
            Shape::Boolean,
            "true",
            "`false` keeps the file but plans no jobs.",
        ),
        required(
            "distribution",
            Shape::Text,
            "The Python project whose wheels are built. An axis of the same name lists its versions.",
        ),
        optional(
            "recipe",
            Shape::Text,
            "",
            "The recipe that builds it. Default: the recipe named after the distribution.",
        ),
        optional(
            "platform",
            Shape::Word(Platform::WORDS),
            "linux",
            "Where the wheels run. Jobs for Windows are planned and have scripts; containers and builds are for Linux only.",
        ),
        optional(
            "release-type",
            Shape::Text,
            "",
            "The kind of release, such as `nightly`: it provides the values of axes that are not \
             listed; `rock-matrix compat list release-types` shows them.",
        ),
        optional(
            "axes",
            Shape::Map(&TEXTS),
            "{}",
            "The axes of the matrix: every value of each is combined with every value of the \
             others. Axes are the distribution's name (or `version`), `python`, `torch`, `rocm`, \
             `backend`, `gfx`, the variables and axes of the recipe, and the fields `runner`, \
             `gpu` and `python-from`. Quote versions: `\"3.10\"`.",
        ),
        optional(
            "rows",
            Shape::List(&Shape::Map(&Shape::Any)),
            "[]",
            "Cells in addition to the product, one mapping each: axis names with one value, and \
             optionally `runner`, `gpu`, `gfx`, `image`, `vars` for this cell only.",
        ),
        optional(
            "gfx",
            TEXTS,
            DEFAULT_GFX,
            "The GPU targets to build for: targets (`gfx942`), families (`gfx110X-all`), or \
             `[host]` for those of this machine in local builds. Targets that a version, a ROCm or \
             the torch wheels do not support are dropped and reported.",
        ),
        optional(
            "gfx-fallback",
            TEXTS,
            "[]",
            "The GPU targets if `gfx: [host]` finds no GPU, as on GitHub's runners. Without them \
             that is an error.",
        ),
        optional(
            "exclude",
            Shape::List(&TEXT_MAP),
            "[]",
            "Cells to exclude: axis names with one value each. Every cell that has all of an \
             entry's values is excluded.",
        ),
        optional(
            "include",
            Shape::List(&Shape::Record(&INCLUDE)),
            "[]",
            "Cells to change or add: if `axes` match cells of the product, `set` changes these; if \
             a value is not in the product, the entry is an additional cell. An entry that names \
             every axis overrides `exclude` and `rocm-policy`, but not the compatibility data.",
        ),
        optional(
            "collapse",
            Shape::List(&Shape::Word(&COLLAPSED_AXES)),
            "[]",
            "Axes whose values share one wheel, in addition to those that the recipe always \
             collapses: any that the recipe allows for the backend. Labels contain only the axes \
             that are not collapsed.",
        ),
        optional(
            "rocm-policy",
            Shape::Word(RocmPolicy::WORDS),
            "all",
            "Which of the listed ROCm versions to keep for each torch release. Entries of `include` \
             do not change the choice.",
        ),
        optional(
            "rocm-precision",
            Shape::Word(RocmPrecision::WORDS),
            "minor",
            "How much of the ROCm version a label contains: `6.2` or `6.2.4`.",
        ),
        optional(
            "label-style",
            Shape::Word(LabelChoice::WORDS),
            "auto",
            "How labels spell the ROCm version: `rocm71` or `rocm7.1`. Both are read, and dotted \
             labels are never ambiguous. `auto` is compact if that can be read in only one way, \
             otherwise dotted, so one plan may have `rocm71` and `rocm7.14` (`rocm714` could be \
             7.1.4).",
        ),
        optional(
            "unknown",
            Shape::Word(Strictness::WORDS),
            "strict",
            "What to do with combinations of torch, ROCm and Python that the compatibility data \
             does not cover: fail, or keep them with a warning. Excluded cells are not reported.",
        ),
        optional(
            "free-threaded",
            Shape::Boolean,
            "false",
            "Whether free-threaded Pythons (`3.13t`) are built.",
        ),
        optional(
            "torch-from",
            Shape::Word(TorchFrom::WORDS),
            "pytorch-index",
            "Where torch comes from. This also decides which combinations are legal: those of the \
             index table, those of the image's torch, or any with `host`.",
        ),
        optional(
            "python-from",
            Shape::Word(PythonFrom::WORDS),
            "uv",
            "Where Python comes from in the container.",
        ),
        optional(
            "image",
            Shape::AnyOf(&[Shape::Text, Shape::Record(&IMAGE)]),
            "{}",
            "The container image. A string is short for repository and tag: `rocm/pytorch:TAG`.",
        ),
        optional(
            "docker",
            Shape::Record(&DOCKER),
            "{}",
            "Arguments of the container.",
        ),
        optional(
            "gpu",
            Shape::Word(GpuPolicy::WORDS),
            "auto",
            "Whether jobs see a GPU: never, always, or if the devices exist. It decides the device \
             flags of the container.",
        ),
        optional(
            "runner",
            RUNNER_SHAPE,
            "ubuntu-22.04",
            "Where jobs run: a runner name or label, a list of labels that a runner must all have, \
             or `{group, labels}`; `rock-matrix compat list runners` shows the known ones.",
        ),
        optional(
            "vars",
            TEXT_MAP,
            "{}",
            "Recipe variables, as strings: `opt-dim`, `max-jobs`, and any others that the recipe \
             declares.",
        ),
        optional(
            "secrets",
            TEXTS,
            "[]",
            "Names of secrets that the build needs as environment variables. Never their values.",
        ),
        optional(
            "indexes",
            Shape::Record(&INDEXES),
            "{}",
            "Package indexes to use instead of the official ones.",
        ),
        optional(
            "repair",
            Shape::AnyOf(&[Shape::Text, Shape::Record(&REPAIR)]),
            "{}",
            "Platform tag and excluded libraries for repairing the built wheels. A string is short \
             for `platform`: `off` keeps the wheel as it was built.",
        ),
        optional(
            "test",
            Shape::Record(&TEST),
            "{}",
            "Where a built wheel is tested.",
        ),
        optional(
            "workflow",
            Shape::Record(&WORKFLOW),
            "{}",
            "Options of the rendered workflow.",
        ),
        optional(
            "release",
            Shape::Record(&RELEASE),
            "{}",
            "Options of the release.",
        ),
    ],
};

const INCLUDE: RecordShape = RecordShape {
    name: "include entry",
    fields: &[
        required("axes", TEXT_MAP, "Axis names with one value each."),
        optional(
            "set",
            Shape::Record(&OVERRIDES),
            "{}",
            "The settings to change for these cells.",
        ),
    ],
};

/// The fields that `set` may contain, and a row in addition to its axes.
pub(super) const OVERRIDES: RecordShape = RecordShape {
    name: "`set` of an include entry",
    fields: &[
        optional("runner", RUNNER_SHAPE, "", "Another runner."),
        optional(
            "gpu",
            Shape::Word(GpuPolicy::WORDS),
            "",
            "Another gpu policy.",
        ),
        optional("gfx", TEXTS, "", "Other GPU targets."),
        optional("image", Shape::Text, "", "An exact image reference."),
        optional(
            "vars",
            TEXT_MAP,
            "{}",
            "Recipe variables, added or replaced.",
        ),
    ],
};

/// The targets of a matrix file without `gfx`.
pub(super) const DEFAULT_GFX: &str = "[gfx90a, gfx942, gfx1030, gfx1100]";

/// The image as a mapping.
pub(super) const IMAGE: RecordShape = RecordShape {
    name: "`image`",
    fields: &[
        optional(
            "repository",
            Shape::Text,
            "docker.io/rocm/pytorch",
            "Where tags are looked up.",
        ),
        optional(
            "tag",
            Shape::Text,
            "",
            "An exact tag, with or without `@sha256:` and a digest. Default: the tag is chosen \
             from the compatibility data.",
        ),
        optional(
            "missing",
            Shape::Word(MissingImage::WORDS),
            "builder",
            "If no tag matches: take an image with this ROCm and an old glibc, or fail.",
        ),
        optional(
            "digest",
            Shape::Word(DigestRule::WORDS),
            "warn",
            "How to report an image whose digest is unknown: as a warning, as an error, or not at \
             all.",
        ),
    ],
};

const DOCKER: RecordShape = RecordShape {
    name: "`docker`",
    fields: &[
        optional(
            "shm-size",
            Shape::Text,
            "8G",
            "Shared memory: a number with `b`, `k`, `m` or `g`.",
        ),
        optional(
            "groups",
            TEXTS,
            "[video]",
            "Groups that may use the devices.",
        ),
        optional(
            "gid",
            Shape::Word(GroupIds::WORDS),
            "auto",
            "Pass groups by number if the device nodes can be read, or always by name.",
        ),
        optional(
            "args",
            TEXTS,
            "[]",
            "Additional arguments of `docker run`, one word each.",
        ),
    ],
};

const INDEXES: RecordShape = RecordShape {
    name: "`indexes`",
    fields: &[
        optional(
            "torch",
            Shape::Text,
            "",
            "URL of the index with torch wheels; `{rocm}` is replaced with the ROCm version.",
        ),
        optional(
            "rocm",
            Shape::Text,
            "",
            "URL of the index with ROCm packages, or the name of a layout; `{rocm}` is replaced \
             with the ROCm version, `{family}` with the only family of a job.",
        ),
        optional(
            "base",
            Shape::Text,
            "",
            "Base URL of a layout, if not the public server; `rock-matrix compat list \
             index-templates` shows the layouts and their servers.",
        ),
        optional(
            "find-links",
            Shape::Text,
            "",
            "URL of a page with links to ROCm packages, instead of `rocm`.",
        ),
    ],
};

/// Presets of libraries that an audit can leave to the environment where a wheel is installed.
const EXCLUDE_PRESETS: &[&str] = &["rocm", "torch", "cuda"];

pub(super) const REPAIR: RecordShape = RecordShape {
    name: "`repair`",
    fields: &[
        optional(
            "platform",
            Shape::Text,
            "auto",
            "The target platform tag, such as `manylinux_2_28_x86_64`; `auto` is the oldest that \
             the wheel's symbols allow, and `off` keeps the wheel as it was built.",
        ),
        optional(
            "presets",
            Shape::List(&Shape::Word(EXCLUDE_PRESETS)),
            "[rocm, torch, cuda]",
            "Presets of libraries that are not grafted into the wheel.",
        ),
        optional(
            "exclude",
            TEXTS,
            "[]",
            "Names or shell patterns of other libraries that are not grafted: `libnuma.so*`.",
        ),
    ],
};

const TEST: RecordShape = RecordShape {
    name: "`test`",
    fields: &[
        optional(
            "runner",
            RUNNER_SHAPE,
            "",
            "Where wheels are tested after the build, in the form of `runner`; empty: in the build \
             job.",
        ),
        optional(
            "families",
            Shape::AnyOf(&[Shape::Text, TEXTS]),
            "",
            "Families on whose runners wheels are tested after the build, instead of `runner`: \
             `auto` for those that are built, `none`, or a list; families without a known runner \
             are skipped with a note.",
        ),
        optional(
            "gpu",
            Shape::Word(GpuPolicy::WORDS),
            "none",
            "Whether the test sees a GPU.",
        ),
    ],
};

const WORKFLOW: RecordShape = RecordShape {
    name: "`workflow`",
    fields: &[
        optional(
            "tags",
            TEXTS,
            "[\"v*\"]",
            "Patterns of the tags that trigger a build and its publication.",
        ),
        optional(
            "max-parallel",
            Shape::Integer,
            "20",
            "Maximum number of concurrent builds (1 to 256), and of concurrent tests, in total over all matrices of a workflow.",
        ),
        optional(
            "max-jobs",
            Shape::Integer,
            "256",
            "Maximum number of jobs per matrix of the workflow (1 to 256); additional jobs go into \
             further matrices.",
        ),
        optional(
            "pr-run-mode",
            Shape::Word(PrRunMode::WORDS),
            "plan",
            "What pull requests run.",
        ),
        optional(
            "tool",
            Shape::Word(ToolFrom::WORDS),
            "action",
            "Where the workflow gets rock-matrix from.",
        ),
        optional(
            "cache",
            Shape::Word(Switch::WORDS),
            "off",
            "Compiler cache; a build that reaches its time cap resumes from it.",
        ),
        optional(
            "queue",
            Shape::Word(Queue::WORDS),
            "single",
            "How many runs for the same tag may be queued.",
        ),
        optional(
            "incremental",
            Shape::Boolean,
            "true",
            "Whether runs for tags build only wheels that no release of the repository contains \
             yet.",
        ),
    ],
};

const RELEASE: RecordShape = RecordShape {
    name: "`release`",
    fields: &[
        optional(
            "make-latest",
            Shape::Word(MakeLatest::WORDS),
            "legacy",
            "Which release GitHub marks as the latest: by date and version, this one, or not this \
             one.",
        ),
        optional(
            "attest",
            Shape::Word(Attest::WORDS),
            "auto",
            "Whether the files are attested; `auto`: unless the repository is private.",
        ),
        optional(
            "prerelease",
            Shape::Word(Prerelease::WORDS),
            "auto",
            "Whether releases are prereleases, which are never the latest; `auto`: if the version \
             is one or the tag contains the word `nightly`.",
        ),
        optional(
            "pages",
            Shape::Boolean,
            "false",
            "Whether to deploy finder, packages and index of all releases to GitHub Pages.",
        ),
        optional(
            "yank",
            TEXTS,
            "[]",
            "Files to yank in the index of the pages, in the syntax of `index yank`: \
             `\"flash-attn<2.6: superseded\"`.",
        ),
        optional(
            "yank-older-than",
            Shape::Text,
            "never",
            "Age at which the index of the pages yanks nightly builds, in the syntax of `index \
             yank --older-than`: `30d`.",
        ),
        optional(
            "yank-keep",
            Shape::Integer,
            "3",
            "With `yank-older-than`: the number of newest versions to keep, for each project in \
             each index.",
        ),
    ],
};

/// Axes that can be collapsed: several of their values share one wheel.
pub(super) const COLLAPSED_AXES: [&str; 4] = ["python", "torch", "rocm", "gfx"];

/// Fields that may also be axes.
pub(super) const FIELD_AXES: [&str; 3] = ["gpu", "python-from", "runner"];
