//! The types of a recipe document, as written.

use indexmap::IndexMap;
use serde::Deserialize;

use super::unions::EnvValue;
use crate::Job;
use crate::config::{CheckProfile, Gate, Leaves, RecipeBackend, RecipeProfile, VersionFrom};
use rock_compat::RuntimeRequirements;
use rock_diagnostic::SourceText;
use rock_names::Version;

/// A recipe. Texts may contain `{{ }}` expressions, except where marked as plain text.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RecipeDocument {
    /// Version of the format, 1.
    pub recipe: u32,
    /// The recipe's name, which is the file stem. Plain text.
    pub name: String,
    /// The distribution that it builds; a matrix file may name another one. Plain text.
    #[serde(default)]
    pub distribution: String,
    /// Normalized name of the package whose compatibility data applies; if empty, the matrix file's
    /// distribution. Plain text.
    #[serde(default)]
    pub package: String,
    /// The source of the version of the built distribution. Plain text.
    #[serde(default)]
    pub version_from: VersionFrom,
    /// The artifacts that a job produces. Plain text.
    #[serde(default)]
    pub leaves: Leaves,
    /// Whether the build produces the torch of the axis `torch`, so that jobs install none.
    #[serde(default)]
    pub builds_torch: bool,
    /// Wheels of other distributions that the build also produces.
    #[serde(default)]
    pub wheels: Vec<WheelDocument>,
    /// Axes that it supports in addition to package, python, torch, rocm, backend and gfx. Plain
    /// texts.
    #[serde(default)]
    pub axes: Vec<String>,
    /// Axes that a matrix file must have, because they select what the build compiles against.
    /// Plain texts.
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
    /// Combinations that are built with a warning.
    #[serde(default)]
    pub warn: Vec<RefuseDocument>,
    /// Environment variables of every step.
    #[serde(default)]
    pub env: IndexMap<String, EnvValue>,
    /// Sources to fetch, by the directory that they are placed in.
    #[serde(default)]
    pub sources: IndexMap<String, SourceDocument>,
    /// Changes to the sources, in order.
    #[serde(default)]
    pub edits: Vec<EditDocument>,
    /// The build steps, in order.
    pub steps: Vec<StepDocument>,
    /// Additional values of `--resume`: each names stages, and the build resumes at the first of
    /// them. Plain texts.
    #[serde(default)]
    pub points: IndexMap<String, Vec<String>>,
    /// The artifacts to collect, and their checks.
    #[serde(default)]
    pub collect: CollectDocument,
    /// Tests of the built wheel.
    #[serde(default)]
    pub test: TestDocument,
    /// Names of the recipes that it uses, filled in when they are merged into this one.
    #[serde(skip)]
    pub used: Vec<String>,
    /// Run-time needs of the installed package, for all backends.
    #[serde(default)]
    pub run_time: RuntimeRequirements,
    /// The file that it was read from, for locations of diagnostics; `None` for a shipped recipe.
    #[serde(skip)]
    pub source: Option<SourceText>,
}

/// A wheel of another distribution that the build also produces.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct WheelDocument {
    /// The distribution; expressions can refer to `each`.
    pub distribution: String,
    /// Condition under which the build produces it; expressions can refer to the axes, `vars`,
    /// `platform`, `backend`, `python`, `gfx` and `families`.
    #[serde(default)]
    pub when: Option<String>,
    /// An expression over the same values that yields a list; the build produces one wheel per
    /// item.
    #[serde(default)]
    pub each: Option<String>,
    /// Whether it has the version of the job's own distribution; otherwise only the build knows the
    /// version. Plain text.
    #[serde(default)]
    pub same_version: bool,
    /// A wheel tag that does not depend on the job, `py3-none-any`. Plain text.
    #[serde(default)]
    pub tag: Option<String>,
}

/// A backend. Its texts are plain texts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BackendDocument {
    /// Its segment of the local version label.
    #[serde(default)]
    pub label: String,
    /// Axes whose values share one wheel.
    #[serde(default)]
    pub collapse: Vec<String>,
    /// Axes whose values share one wheel if the matrix file requests it.
    #[serde(default)]
    pub collapsible: Vec<String>,
    /// A wheel tag that does not depend on the job, `py3-none-any`.
    #[serde(default)]
    pub tag: Option<String>,
    /// Whether the wheel contains device code.
    #[serde(default = "yes")]
    pub device_code: bool,
    /// Suggestions that shorten a long build, as shown to the user.
    #[serde(default)]
    pub levers: Vec<String>,
    /// Additional run-time needs of the installed package.
    #[serde(default)]
    pub run_time: RuntimeRequirements,
}

fn yes() -> bool {
    true
}

/// A recipe fact; exactly one of its kinds is set.
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
    /// With `file`: a regular expression; the value is its first group, or the whole first match if
    /// it has no group. Plain text.
    #[serde(default)]
    pub find: String,
    /// Candidate paths; the value is the first one that exists.
    #[serde(default)]
    pub path: Option<Vec<String>>,
    /// An environment variable of the caller. Plain text.
    #[serde(default)]
    pub env: Option<String>,
    /// A table of the compatibility data, `rocm-gfx`. Plain text.
    #[serde(default)]
    pub table: Option<String>,
    /// With `table`: column → text that the column must equal, or contain if it is a list; the
    /// first matching row is used.
    #[serde(default)]
    pub r#where: IndexMap<String, String>,
    /// With `table`: column → version. The newest of the rows whose version is at most this one is
    /// used.
    #[serde(default)]
    pub at_most: IndexMap<String, String>,
    /// With `table`: the column that names the values. All rows are then used, as a mapping from it
    /// to `column`. Plain text.
    #[serde(default)]
    pub key: String,
    /// With `table`: the column that the value is read from. Plain text.
    #[serde(default)]
    pub column: String,
    /// With `command`, `file` or `path`: the stage after which the build itself detects the fact;
    /// expressions can pass on its value but not inspect it. Plain text.
    #[serde(default)]
    pub after: String,
    /// Like `after`, but right before this stage. Plain text.
    #[serde(default)]
    pub before: String,
    /// Fallback if the command fails, or the file, variable or row is missing.
    #[serde(default)]
    pub default: Option<String>,
    /// Stand-in for checks and dry runs, which detect nothing; for facts that conditions inspect.
    #[serde(default)]
    pub stand_in: Option<String>,
}

impl FactDocument {
    /// Returns the stage before or after which the build detects the fact; `None` if the fact is
    /// known before the build.
    pub fn stage(&self) -> Option<&str> {
        [&self.after, &self.before]
            .into_iter()
            .find(|stage| !stage.is_empty())
            .map(String::as_str)
    }

    /// Whether its value is detected on the machine before the build starts.
    pub fn is_question(&self) -> bool {
        self.expr.is_none() && self.table.is_none() && self.stage().is_none()
    }
}

/// A combination that is refused, or built with a warning.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RefuseDocument {
    /// Condition under which it applies.
    pub when: String,
    /// The reason.
    pub reason: String,
    /// The suggested alternative.
    #[serde(default)]
    pub help: String,
}

/// A source to fetch; exactly one of its kinds is set, or `path` together with `git` or `project`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SourceDocument {
    /// Condition under which it is needed.
    #[serde(default)]
    pub when: Option<String>,
    /// A requirement whose source distribution is fetched from the package index,
    /// `flash-attn==2.8.3`.
    #[serde(default)]
    pub sdist: Option<String>,
    /// The archive's SHA-256 digest; if empty, it is not verified, with a warning.
    #[serde(default)]
    pub sha256: String,
    /// The URL of a git repository.
    #[serde(default)]
    pub git: Option<String>,
    /// The commit, tag or branch.
    #[serde(default)]
    pub r#ref: String,
    /// Whether submodules are fetched.
    #[serde(default)]
    pub submodules: bool,
    /// With `git`: the directory to check out, with the files in its parent directories; empty for
    /// everything.
    #[serde(default)]
    pub sparse: String,
    /// A directory on this machine to copy; with `git` or `project`, it replaces them unless the
    /// text is empty.
    #[serde(default)]
    pub path: Option<String>,
    /// A project of the compatibility data, checked out by `source checkout`. Plain text.
    #[serde(default)]
    pub project: Option<String>,
    /// With `project`: arguments of `source checkout` in addition to the ref, each a word or a list
    /// of words.
    #[serde(default)]
    pub checkout: Vec<String>,
    /// An archive (`.tar.gz`) on this machine that another job produced, to unpack.
    #[serde(default)]
    pub artifact: Option<String>,
    /// Environment variables of the processes that fetch it.
    #[serde(default)]
    pub env: IndexMap<String, EnvValue>,
}

/// A change to a source file, a file to write, or paths to remove.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct EditDocument {
    /// Condition under which the edit is made.
    #[serde(default)]
    pub when: Option<String>,
    /// A file to edit, relative to the job directory.
    #[serde(default)]
    pub file: Option<String>,
    /// A regular expression in Python syntax.
    #[serde(default)]
    pub find: String,
    /// The replacement, with `\1` for groups.
    #[serde(default)]
    pub replace: String,
    /// A text whose presence means that the edit has already been made.
    #[serde(default)]
    pub unless: String,
    /// A text that the file must contain, or the edit does not apply; empty for no condition.
    #[serde(default)]
    pub only_with: String,
    /// The required number of matches; by default at least one.
    #[serde(default)]
    pub count: Option<usize>,
    /// The complete content of the file, instead of a replacement.
    #[serde(default)]
    pub write: Option<String>,
    /// Paths to remove instead, relative to the job directory.
    #[serde(default)]
    pub remove: Vec<String>,
}

/// A build step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct StepDocument {
    /// Its stage; empty for a step that uses a recipe. Plain text.
    #[serde(default)]
    pub stage: String,
    /// Another recipe to merge into this one; its steps take the place of this step. Plain text.
    #[serde(default)]
    pub r#use: String,
    /// Condition under which it runs.
    #[serde(default)]
    pub when: Option<String>,
    /// Program and arguments; items that evaluate to none or an empty text are dropped.
    #[serde(default)]
    pub argv: Vec<String>,
    /// Arguments of this program, instead of `argv`; such a step runs on this machine, before all
    /// others.
    #[serde(default)]
    pub rock_matrix: Vec<String>,
    /// Files and directories that it reads, absolute or relative to the caller's working directory.
    #[serde(default)]
    pub inputs: Vec<String>,
    /// `bash`, with `script` instead of `argv`. Plain text.
    #[serde(default)]
    pub shell: Option<String>,
    /// The shell script, run with `set -euo pipefail`. Plain text: values reach it through `env`.
    #[serde(default)]
    pub script: String,
    /// Files to place in an environment, instead of running a process.
    #[serde(default)]
    pub place: Option<PlaceDocument>,
    /// Environment variables of this step.
    #[serde(default)]
    pub env: IndexMap<String, EnvValue>,
    /// Working directory, relative to the job directory.
    #[serde(default)]
    pub cwd: String,
    /// Timeout in minutes.
    #[serde(default)]
    pub timeout_min: Option<u64>,
    /// Paths to remove first.
    #[serde(default)]
    pub clean: Vec<String>,
    /// Paths to remove first, unless the step last ran with the same command and variables.
    #[serde(default)]
    pub outdated: Vec<String>,
    /// The number of retries.
    #[serde(default)]
    pub retry: u32,
    /// Files that it must produce, by name.
    #[serde(default)]
    pub outputs: IndexMap<String, OutputDocument>,
    /// Whether it runs at the end of the build, regardless of its position, and also after a
    /// failure.
    #[serde(default)]
    pub finally: bool,
}

/// Files of the job directory to place in directories of an environment, all or none.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PlaceDocument {
    /// The environment's directory: absolute, or relative to the caller's working directory.
    pub into: String,
    /// A glob that must match in it; if empty, any directory is accepted.
    #[serde(default)]
    pub holds: String,
    /// The files to place.
    pub rows: Vec<PlaceRowDocument>,
}

/// Files that are placed in the same directories.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PlaceRowDocument {
    /// Condition under which they are placed.
    #[serde(default)]
    pub when: Option<String>,
    /// A glob, relative to the job directory. A directory is placed as a whole.
    pub from: String,
    /// Target directories, relative to the environment's.
    pub to: Vec<String>,
    /// Whether exactly one path must match; otherwise at least one.
    #[serde(default)]
    pub one: bool,
    /// The name of a symlink next to the file; empty for none.
    #[serde(default)]
    pub link: String,
    /// A glob of files to remove from these directories; if empty, only replaced files are removed.
    #[serde(default)]
    pub replaces: String,
}

/// Files that a step must produce.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct OutputDocument {
    /// A glob, relative to the job directory.
    pub glob: String,
    /// The required number of matches.
    #[serde(default = "one")]
    pub count: usize,
    /// Whether they are wheels that later stages need installed in their Python.
    #[serde(default)]
    pub install: bool,
}

fn one() -> usize {
    1
}

/// The artifacts that a build produces.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CollectDocument {
    /// Glob of the wheels, relative to the job directory.
    #[serde(default)]
    pub wheels: String,
    /// Glob of the archive or source distribution, relative to the job directory.
    #[serde(default)]
    pub archive: String,
    /// Whether the label is set after the build, for builds that cannot set it themselves.
    #[serde(default)]
    pub relabel: bool,
    /// Checks that every wheel must pass.
    #[serde(default)]
    pub gates: Vec<Gate>,
    /// The kind of the wheels, for checks of all wheels of a release.
    #[serde(default)]
    pub profile: CheckProfile,
    /// Commands whose output `build.json` records, by name.
    #[serde(default)]
    pub record: IndexMap<String, Vec<String>>,
}

/// Tests of the built wheel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TestDocument {
    /// A Python program to run without a GPU; the wheel is installed and importable.
    #[serde(default)]
    pub cpu: String,
    /// A Python program to run on a GPU, once for each kind of GPU that the job builds for.
    #[serde(default)]
    pub gpu: String,
    /// Arguments of pytest, which then runs `gpu` as a test file.
    #[serde(default)]
    pub pytest: Option<Vec<String>>,
    /// Environment variables of both.
    #[serde(default)]
    pub env: IndexMap<String, EnvValue>,
    /// Requirements that pip installs before a finished wheel is tested outside its build
    /// environment.
    #[serde(default)]
    pub requires: Vec<String>,
    /// Stages to run first in such a test. Plain texts.
    #[serde(default)]
    pub stages: Vec<String>,
}

impl RecipeDocument {
    /// Whether a source may be a directory or an archive of the build machine.
    pub fn has_sources_of_this_machine(&self) -> bool {
        self.sources
            .values()
            .any(|source| source.path.is_some() || source.artifact.is_some())
    }

    /// Returns the torch that a job installs or finds; `None` also if the job builds torch.
    pub fn installed_torch<'j>(&self, job: &'j Job) -> Option<&'j Version> {
        job.torch.as_ref().filter(|_| !self.builds_torch)
    }

    /// Returns the properties that planning needs; `distribution` is the matrix file's, normalized.
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
            builds_torch: self.builds_torch,
            checked_as: self.collect.profile,
            wheels: self.wheels.clone(),
            vars: self.vars.clone(),
            required_vars: self.required_vars.clone(),
            backends,
        }
    }
}
