//! The types of a recipe document, as written.

use indexmap::IndexMap;
use serde::Deserialize;

use super::unions::EnvValue;
use crate::config::{
    CheckProfile, Gate, Leaves, RecipeBackend, RecipeProfile, RunTime, VersionFrom,
};
use rock_diagnostic::SourceText;

/// A recipe. Texts may hold `{{ }}` expressions unless said otherwise.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RecipeDocument {
    /// Version of the format, 1.
    pub recipe: u32,
    /// Its name, the file's stem. Plain text.
    pub name: String,
    /// The distribution it builds; a matrix file may name another one. Plain text.
    #[serde(default)]
    pub distribution: String,
    /// Normalized name of the package whose facts apply; empty: the matrix file's distribution.
    /// Plain text.
    #[serde(default)]
    pub package: String,
    /// Where the version of what it builds stands. Plain text.
    #[serde(default)]
    pub version_from: VersionFrom,
    /// What a job leaves. Plain text.
    #[serde(default)]
    pub leaves: Leaves,
    /// Wheels of other distributions that the build leaves beside its own.
    #[serde(default)]
    pub wheels: Vec<WheelDocument>,
    /// Axes it knows beyond package, python, torch, rocm, backend and gfx. Plain texts.
    #[serde(default)]
    pub axes: Vec<String>,
    /// Axes that a matrix file must have: without them the build would not know what to build
    /// against. Plain texts.
    #[serde(default)]
    pub requires: Vec<String>,
    /// Backends, the default one first.
    #[serde(default)]
    pub backends: IndexMap<String, BackendDocument>,
    /// Variables with their defaults; a matrix file may set these and no others.
    #[serde(default)]
    pub vars: IndexMap<String, String>,
    /// Variables that a matrix file must set. Plain texts.
    #[serde(default)]
    pub required_vars: Vec<String>,
    /// Named values, in any order.
    #[serde(default)]
    pub facts: IndexMap<String, FactDocument>,
    /// Combinations that this recipe refuses.
    #[serde(default)]
    pub refuse: Vec<RefuseDocument>,
    /// What a person should know of a combination that is built all the same.
    #[serde(default)]
    pub warn: Vec<RefuseDocument>,
    /// Variables of every step.
    #[serde(default)]
    pub env: IndexMap<String, EnvValue>,
    /// What is fetched, by the folder it lands in.
    #[serde(default)]
    pub sources: IndexMap<String, SourceDocument>,
    /// Changes to the sources.
    #[serde(default)]
    pub edits: Vec<EditDocument>,
    /// The build.
    pub steps: Vec<StepDocument>,
    /// Further words for `--continue`: each with stages, the first of which it begins at. Plain
    /// texts.
    #[serde(default)]
    pub points: IndexMap<String, Vec<String>>,
    /// The wheels it leaves.
    #[serde(default)]
    pub collect: CollectDocument,
    /// What is run with the built wheel.
    #[serde(default)]
    pub test: TestDocument,
    /// Names of the recipes that it uses, put there when they are put together.
    #[serde(skip)]
    pub used: Vec<String>,
    /// Needs of the installed package, whatever the backend.
    #[serde(default)]
    pub run_time: RunTime,
    /// The file it was read from, so that faults can point into it; `None` for a shipped one.
    #[serde(skip)]
    pub source: Option<SourceText>,
}

/// A wheel of another distribution that the build leaves too.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct WheelDocument {
    /// The distribution; the expression sees `each`.
    pub distribution: String,
    /// When it is left; the expression sees the axes, `vars`, `platform`, `backend`, `python`,
    /// `gfx` and `families`.
    #[serde(default)]
    pub when: Option<String>,
    /// There is one for each item of this list, which the expression makes of the same values.
    #[serde(default)]
    pub each: Option<String>,
    /// Whether it has the version of the job's own distribution; else only the build knows it.
    /// Plain text.
    #[serde(default)]
    pub same_version: bool,
    /// Wheel tags that do not depend on the job, `py3-none-any`. Plain text.
    #[serde(default)]
    pub tag: Option<String>,
}

/// One backend. Plain texts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BackendDocument {
    /// What it adds to the label.
    #[serde(default)]
    pub label: String,
    /// Axes whose values share one wheel.
    #[serde(default)]
    pub collapse: Vec<String>,
    /// Axes whose values share one wheel where the matrix file asks for it.
    #[serde(default)]
    pub collapsible: Vec<String>,
    /// Wheel tags that do not depend on the job, `py3-none-any`.
    #[serde(default)]
    pub tag: Option<String>,
    /// Whether the wheel holds device code.
    #[serde(default = "yes")]
    pub device_code: bool,
    /// What makes a long build shorter, in the user's words.
    #[serde(default)]
    pub levers: Vec<String>,
    /// Further needs of the installed package.
    #[serde(default)]
    pub run_time: RunTime,
}

fn yes() -> bool {
    true
}

/// A named value; exactly one of the kinds is set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FactDocument {
    /// An expression over the job and other facts.
    #[serde(default)]
    pub expr: Option<String>,
    /// The trimmed output of a command.
    #[serde(default)]
    pub command: Option<Vec<String>>,
    /// The trimmed content of a file.
    #[serde(default)]
    pub file: Option<String>,
    /// With `file`: a regular expression; its first group, or all of the first match, is taken.
    /// Plain text.
    #[serde(default)]
    pub find: String,
    /// The first of these paths that is there.
    #[serde(default)]
    pub path: Option<Vec<String>>,
    /// A variable of the caller's environment. Plain text.
    #[serde(default)]
    pub env: Option<String>,
    /// A table of the facts, `rocm-gfx`. Plain text.
    #[serde(default)]
    pub table: Option<String>,
    /// With `table`: column → text that a row must have, or hold in a list; the first such row is
    /// taken.
    #[serde(default)]
    pub r#where: IndexMap<String, String>,
    /// With `table`: column → version. Of the rows whose version is at most this one, the newest is
    /// taken.
    #[serde(default)]
    pub at_most: IndexMap<String, String>,
    /// With `table`: the column that names the values. All rows are taken then, as a mapping from
    /// it to `column`. Plain text.
    #[serde(default)]
    pub key: String,
    /// With `table`: the column whose value is taken. Plain text.
    #[serde(default)]
    pub column: String,
    /// With `command`, `file` or `path`: asked where and when the build runs, after this stage;
    /// expressions can pass the answer on, not look into it. Plain text.
    #[serde(default)]
    pub after: String,
    /// The same, right before this stage. Plain text.
    #[serde(default)]
    pub before: String,
    /// What to take when the command fails, or the file, the variable or the row is missing.
    #[serde(default)]
    pub default: Option<String>,
    /// What a check and a dry run take, which ask nothing; for facts that conditions look into.
    #[serde(default)]
    pub stand_in: Option<String>,
}

impl FactDocument {
    /// The stage beside which the build itself asks it; `None` for a fact that is known before.
    pub fn stage(&self) -> Option<&str> {
        [&self.after, &self.before]
            .into_iter()
            .find(|stage| !stage.is_empty())
            .map(String::as_str)
    }

    /// Whether its value comes from the machine, before the build starts.
    pub fn is_question(&self) -> bool {
        self.expr.is_none() && self.table.is_none() && self.stage().is_none()
    }
}

/// A combination that cannot be built, or is warned of.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RefuseDocument {
    /// When it applies.
    pub when: String,
    /// Why.
    pub reason: String,
    /// What to do instead.
    #[serde(default)]
    pub help: String,
}

/// Something fetched; exactly one of the kinds is set, or `path` beside `git` or `project`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SourceDocument {
    /// When it is needed.
    #[serde(default)]
    pub when: Option<String>,
    /// A requirement whose source distribution is fetched from the package index,
    /// `flash-attn==2.8.3`.
    #[serde(default)]
    pub sdist: Option<String>,
    /// The archive's SHA-256; empty: not checked, with a warning.
    #[serde(default)]
    pub sha256: String,
    /// A git address.
    #[serde(default)]
    pub git: Option<String>,
    /// The commit, tag or branch.
    #[serde(default)]
    pub r#ref: String,
    /// Whether submodules are fetched.
    #[serde(default)]
    pub submodules: bool,
    /// With `git`: the folder that is checked out, with the files above it; empty: all.
    #[serde(default)]
    pub sparse: String,
    /// A folder on this machine, copied; with `git` or `project`, taken in its place where the text
    /// is not empty.
    #[serde(default)]
    pub path: Option<String>,
    /// A project of the facts, checked out by `source checkout`. Plain text.
    #[serde(default)]
    pub project: Option<String>,
    /// With `project`: what `source checkout` is given beside the ref, one word or list of words
    /// after another.
    #[serde(default)]
    pub checkout: Vec<String>,
    /// An archive (`.tar.gz`) on this machine that another job left, unpacked.
    #[serde(default)]
    pub artifact: Option<String>,
    /// Variables of the fetching processes.
    #[serde(default)]
    pub env: IndexMap<String, EnvValue>,
}

/// A change to a source file, a file written, or a path removed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct EditDocument {
    /// When it is made.
    #[serde(default)]
    pub when: Option<String>,
    /// A file to edit, relative to the job's folder.
    #[serde(default)]
    pub file: Option<String>,
    /// A regular expression (Python's).
    #[serde(default)]
    pub find: String,
    /// What takes its place, with `\1` for groups.
    #[serde(default)]
    pub replace: String,
    /// A text that is there when the edit is made already.
    #[serde(default)]
    pub unless: String,
    /// A text of the sources that it is for; empty: all of them.
    #[serde(default)]
    pub only_with: String,
    /// How many places must match; without it, any number but none.
    #[serde(default)]
    pub count: Option<usize>,
    /// The whole content that the file gets instead.
    #[serde(default)]
    pub write: Option<String>,
    /// Paths removed instead, relative to the job's folder.
    #[serde(default)]
    pub remove: Vec<String>,
}

/// One step of the build.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct StepDocument {
    /// Its name; empty for a step that uses a recipe. Plain text.
    #[serde(default)]
    pub stage: String,
    /// Another recipe, whose parts become parts of this one and whose steps stand here. Plain text.
    #[serde(default)]
    pub r#use: String,
    /// When it runs.
    #[serde(default)]
    pub when: Option<String>,
    /// Program and arguments; items that evaluate to none or nothing are dropped.
    #[serde(default)]
    pub argv: Vec<String>,
    /// Arguments of this program, instead of `argv`: such a step runs on this machine, before all
    /// others.
    #[serde(default)]
    pub rock_matrix: Vec<String>,
    /// Files and folders that it reads, absolute or relative to where the program is called.
    #[serde(default)]
    pub inputs: Vec<String>,
    /// `bash`, with `script` instead of `argv`. Plain text.
    #[serde(default)]
    pub shell: Option<String>,
    /// The shell's program, run with `set -euo pipefail`. Plain text: values reach it through
    /// `env`.
    #[serde(default)]
    pub script: String,
    /// Files to place in an environment, instead of a process.
    #[serde(default)]
    pub place: Option<PlaceDocument>,
    /// Variables of this step.
    #[serde(default)]
    pub env: IndexMap<String, EnvValue>,
    /// Working folder, relative to the job's folder.
    #[serde(default)]
    pub cwd: String,
    /// Minutes until it is stopped.
    #[serde(default)]
    pub timeout_min: Option<u64>,
    /// Paths removed first.
    #[serde(default)]
    pub clean: Vec<String>,
    /// Paths removed first unless the step was last run with the same command and variables.
    #[serde(default)]
    pub outdated: Vec<String>,
    /// How often it is tried again.
    #[serde(default)]
    pub retry: u32,
    /// Files it must leave.
    #[serde(default)]
    pub outputs: IndexMap<String, OutputDocument>,
    /// Whether it runs at the end of the build, wherever it stands, and after a failure too.
    #[serde(default)]
    pub finally: bool,
}

/// Files of the job's folder that are placed in folders of an environment, all or none.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PlaceDocument {
    /// The environment's folder: absolute, or relative to where the program is called.
    pub into: String,
    /// A glob that must match in it; empty: any folder will do.
    #[serde(default)]
    pub holds: String,
    /// What is placed.
    pub rows: Vec<PlaceRowDocument>,
}

/// Files that go to the same folders.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PlaceRowDocument {
    /// When they are placed.
    #[serde(default)]
    pub when: Option<String>,
    /// A glob, relative to the job's folder. A folder is placed as a whole.
    pub from: String,
    /// Folders, relative to the environment's.
    pub to: Vec<String>,
    /// Whether exactly one must match; else at least one.
    #[serde(default)]
    pub one: bool,
    /// The name of a symbolic link beside the file; empty: none.
    #[serde(default)]
    pub link: String,
    /// A glob of what goes away in these folders; empty: nothing but what is replaced.
    #[serde(default)]
    pub replaces: String,
}

/// Files that a step must leave.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct OutputDocument {
    /// A glob, relative to the job's folder.
    pub glob: String,
    /// How many must match.
    #[serde(default = "one")]
    pub count: usize,
    /// Whether they are wheels that later stages need in their Python.
    #[serde(default)]
    pub install: bool,
}

fn one() -> usize {
    1
}

/// The wheels that a build leaves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CollectDocument {
    /// Glob of the wheels, relative to the job's folder.
    #[serde(default)]
    pub wheels: String,
    /// Glob of the archive or source distribution, relative to the job's folder.
    #[serde(default)]
    pub archive: String,
    /// Set the label after the build, for builds that cannot set it themselves.
    #[serde(default)]
    pub relabel: bool,
    /// Checks that every wheel must pass.
    #[serde(default)]
    pub gates: Vec<Gate>,
    /// What kind of wheels they are where all wheels of a release are checked.
    #[serde(default)]
    pub profile: CheckProfile,
    /// Commands whose output `build.json` records, by name.
    #[serde(default)]
    pub record: IndexMap<String, Vec<String>>,
}

/// What is run with the built wheel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TestDocument {
    /// Without a GPU: a Python program; the wheel is installed and importable.
    #[serde(default)]
    pub cpu: String,
    /// On a GPU: a Python program, run once for each kind of GPU that the job builds for.
    #[serde(default)]
    pub gpu: String,
    /// Arguments of pytest, which then runs `gpu` as a file of tests.
    #[serde(default)]
    pub pytest: Option<Vec<String>>,
    /// Variables of both.
    #[serde(default)]
    pub env: IndexMap<String, EnvValue>,
    /// What pip installs before a finished wheel is tested elsewhere than where it was built.
    #[serde(default)]
    pub requires: Vec<String>,
    /// Stages that run there first. Plain texts.
    #[serde(default)]
    pub stages: Vec<String>,
}

impl RecipeDocument {
    /// Whether a source may be a folder or an archive of the machine that builds.
    pub fn has_sources_of_this_machine(&self) -> bool {
        self.sources
            .values()
            .any(|source| source.path.is_some() || source.artifact.is_some())
    }

    /// What a plan must know; `distribution` is the matrix file's, normalized.
    pub fn profile(&self, distribution: &str) -> RecipeProfile {
        let gates = &self.collect.gates;
        let backend = |(name, backend): (&String, &BackendDocument)| RecipeBackend {
            name: name.clone(),
            label: backend.label.clone(),
            collapse: backend.collapse.clone(),
            collapsible: backend.collapsible.clone(),
            tag: backend.tag.clone(),
            device_code: backend.device_code,
            levers: backend.levers.clone(),
            gates: gates.clone(),
            run_time: self.run_time.with(&backend.run_time),
        };
        let mut backends: Vec<RecipeBackend> = self.backends.iter().map(backend).collect();
        if backends.is_empty() {
            let document = BackendDocument {
                device_code: true,
                ..BackendDocument::default()
            };
            backends.push(backend((&"default".to_owned(), &document)));
        }
        RecipeProfile {
            name: self.name.clone(),
            package: if self.package.is_empty() {
                distribution.to_owned()
            } else {
                self.package.clone()
            },
            axes: self.axes.clone(),
            requires: self.requires.clone(),
            version_from: self.version_from,
            leaves: self.leaves,
            checked_as: self.collect.profile,
            wheels: self.wheels.clone(),
            vars: self.vars.clone(),
            required_vars: self.required_vars.clone(),
            backends,
        }
    }
}
