//! The checked matrix file.

use super::RunnerSelector;
use indexmap::IndexMap;

use super::{KeyLocations, RepairConfig};
use rock_compat::rows::ReleaseTypeRow;
pub use rock_names::Platform;
use rock_names::{
    Age, DistributionName, GfxTarget, PackageVersion, PythonVersion, RocmVersion, Version,
    YankSelection,
};

/// A matrix file: a group of cells with one distribution and one recipe.
#[derive(Debug, Clone)]
pub struct MatrixConfig {
    /// Source locations of the file's keys and values.
    pub locations: KeyLocations,
    /// Whether the file is planned; a disabled file yields no jobs.
    pub enabled: bool,
    /// The distribution to build.
    pub distribution: DistributionName,
    /// Name of the recipe that builds it.
    pub recipe: String,
    /// The platform that the wheels run on.
    pub platform: Platform,
    /// The axes in the order of the file.
    pub axes: Vec<Axis>,
    /// Explicit cells in addition to the product of the axes.
    pub rows: Vec<CellRow>,
    /// The gfx targets to build for.
    pub gfx: GfxSelection,
    /// Fallback gfx targets for `gfx: [host]` on a machine without a GPU; may be empty.
    pub gfx_fallback: Vec<GfxTarget>,
    /// Values taken from the machine that makes the plan: its GPUs or its ROCm.
    pub host_values: Vec<HostValue>,
    /// `gfx` as written: families and targets.
    pub families: Vec<String>,
    /// The row of the release type, if the file or the command line names one.
    pub release_type: Option<ReleaseTypeRow>,
    /// Cells that `exclude` leaves out.
    pub exclude: Vec<ExcludeEntry>,
    /// Cells that `include` adds or changes.
    pub include: Vec<CellRow>,
    /// The ROCm versions to keep for each torch release.
    pub rocm_policy: RocmPolicy,
    /// The precision of the ROCm version in labels.
    pub rocm_precision: RocmPrecision,
    /// The spelling of versions in labels.
    pub label_style: LabelChoice,
    /// The handling of combinations that the compatibility data does not cover.
    pub unknown: Strictness,
    /// Whether free-threaded Pythons are built.
    pub free_threaded: bool,
    /// The source of torch.
    pub torch_from: TorchFrom,
    /// The source of Python.
    pub python_from: PythonFrom,
    /// The container image.
    pub image: ImageConfig,
    /// Arguments of the container.
    pub docker: DockerConfig,
    /// GPU access of jobs.
    pub gpu: GpuPolicy,
    /// Selector of the runners that take the jobs.
    pub runner: RunnerSelector,
    /// Axes to collapse, among those that the recipe allows: their values share one wheel.
    pub collapse: Vec<String>,
    /// Recipe variables, as text.
    pub vars: IndexMap<String, String>,
    /// Names of secrets that the build needs.
    pub secrets: Vec<String>,
    /// Index URL templates by name (`torch`, `rocm`).
    pub indexes: IndexMap<String, String>,
    /// Whether the ROCm index provides device code as one extra per gfx target.
    pub device_extras: bool,
    /// Wheel repair.
    pub repair: RepairConfig,
    /// Tests after the build.
    pub test: TestConfig,
    /// Options of the rendered workflow.
    pub workflow: WorkflowConfig,
    /// Options of the release.
    pub release: ReleaseConfig,
}

/// A value of a matrix file that is read from the machine that makes the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostValue {
    /// `gfx: [host]` without `gfx-fallback`.
    Gfx,
    /// `host` as a value of the axis `rocm`.
    Rocm {
        /// The zero-based index of the value.
        index: usize,
    },
}

impl HostValue {
    /// Returns the key path of the value, for [`KeyLocations::of`].
    pub fn path(self) -> String {
        match self {
            Self::Gfx => "gfx".to_owned(),
            Self::Rocm { index } => format!("axes.rocm[{index}]"),
        }
    }
}

/// An axis with its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// The name as written.
    pub name: String,
    /// The role of the values.
    pub role: AxisRole,
    /// The values in the order of the file, non-empty and without duplicates.
    pub values: Vec<AxisValue>,
}

/// The meaning of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AxisRole {
    /// The version of the distribution; the axis is named after it, or `version`.
    Package,
    /// The Python version.
    Python,
    /// The torch version.
    Torch,
    /// The ROCm version.
    Rocm,
    /// The backend.
    Backend,
    /// A list of gfx targets per value: `gfx90a` or `gfx90a;gfx942`.
    Gfx,
    /// A field that is a scalar elsewhere (`runner`, `gpu`, …) or a recipe variable.
    Field,
}

/// An axis value: its text as written and the parsed value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisValue {
    /// The text as written.
    pub text: String,
    /// The value, parsed according to the axis's role.
    pub value: ParsedValue,
}

/// A parsed axis value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ParsedValue {
    /// A value of [`AxisRole::Package`].
    Package(PackageVersion),
    /// A value of [`AxisRole::Python`].
    Python(PythonVersion),
    /// A value of [`AxisRole::Torch`].
    Torch(Version),
    /// A value of [`AxisRole::Rocm`].
    Rocm(RocmVersion),
    /// A value of [`AxisRole::Gfx`].
    Gfx(Vec<GfxTarget>),
    /// A value of [`AxisRole::Backend`] or [`AxisRole::Field`].
    Text(String),
}

impl ParsedValue {
    /// Returns the role of the axis that the value belongs to; for text, it depends on the axis
    /// name.
    pub fn role(&self, axis: &str) -> AxisRole {
        match self {
            Self::Package(_) => AxisRole::Package,
            Self::Python(_) => AxisRole::Python,
            Self::Torch(_) => AxisRole::Torch,
            Self::Rocm(_) => AxisRole::Rocm,
            Self::Gfx(_) => AxisRole::Gfx,
            Self::Text(_) if axis == "backend" => AxisRole::Backend,
            Self::Text(_) => AxisRole::Field,
        }
    }
}

/// An `exclude` entry: a subset of the axes with one value each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcludeEntry {
    /// Axis name → value text.
    pub axes: IndexMap<String, String>,
}

/// An explicit cell (`rows`) or an `include` entry. An `include` entry applies `set` to the cells
/// of the product that match `axes`; if a value is not in the product, the entry adds a separate
/// cell and names every axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellRow {
    /// Axis name → value.
    pub axes: IndexMap<String, AxisValue>,
    /// The fields to override for these cells.
    pub set: RowOverrides,
}

/// Fields that a row or `include` entry may override.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowOverrides {
    /// The runners to use instead.
    pub runner: Option<RunnerSelector>,
    /// The GPU policy to use instead.
    pub gpu: Option<GpuPolicy>,
    /// The gfx targets to use instead.
    pub gfx: Option<Vec<GfxTarget>>,
    /// `gfx` as written: families and targets.
    pub families: Option<Vec<String>>,
    /// An exact image reference.
    pub image: Option<String>,
    /// Recipe variables added or replaced.
    pub vars: IndexMap<String, String>,
}

/// The selection of gfx targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GfxSelection {
    /// These targets, with families expanded.
    Targets(Vec<GfxTarget>),
    /// The targets of the GPUs in this machine; for local builds only.
    Host,
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// The keywords in a matrix file, in the order of the variants.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// Returns the keyword in a matrix file.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// Returns the variant for a keyword.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}

words! {
    /// The ROCm versions to keep for a torch release, among those that the file lists.
    RocmPolicy { /// All of them.
        All = "all", /// The oldest.
        Oldest = "oldest", /// The newest.
        Newest = "newest" }
}
words! {
    /// The precision of the ROCm version in a label.
    RocmPrecision { /// `6.2`.
        Minor = "minor", /// `6.2.4`.
        Patch = "patch" }
}
words! {
    /// The spelling of ROCm versions in labels.
    LabelChoice { /// Compact if unambiguous, else dotted.
        Auto = "auto", /// Always compact; ambiguity is an error.
        Compact = "compact", /// Always dotted.
        Dotted = "dotted" }
}
words! {
    /// The handling of combinations that the compatibility data does not cover.
    Strictness { /// They are errors.
        Strict = "strict", /// They are kept with a warning.
        Lenient = "lenient" }
}
words! {
    /// The source of torch.
    TorchFrom { /// The official index of PyTorch.
        PytorchIndex = "pytorch-index", /// AMD's index.
        AmdIndex = "amd-index", /// The torch of the container image.
        Image = "image", /// The torch installed on the machine.
        Host = "host" }
}

impl TorchFrom {
    /// Whether torch is installed from an index of releases.
    pub(crate) fn is_index(self) -> bool {
        matches!(self, Self::PytorchIndex | Self::AmdIndex)
    }
}

words! {
    /// The source of Python in a container.
    PythonFrom { /// uv.
        Uv = "uv", /// The Python of the image.
        Image = "image", /// The deadsnakes archive (Ubuntu).
        Deadsnakes = "deadsnakes", /// `/opt/python` of manylinux images.
        Manylinux = "manylinux", /// The Python of the machine.
        Host = "host" }
}
words! {
    /// GPU access of jobs.
    GpuPolicy { /// No device, group or ptrace flags.
        None = "none", /// Always these flags.
        Required = "required", /// These flags if the devices exist.
        Auto = "auto" }
}
words! {
    /// The action when the image table has no exact tag.
    MissingImage { /// Use a ROCm builder image.
        Builder = "builder", /// Report jobs without an image as an error.
        Error = "error" }
}
words! {
    /// The severity of an unpinned image.
    DigestRule { /// A warning.
        Warn = "warn", /// An error.
        Require = "require", /// Nothing.
        Ignore = "ignore" }
}
words! {
    /// The form of group arguments for the container.
    GroupIds { /// The group numbers of the device nodes if they can be read, else names.
        Auto = "auto", /// Names as given.
        Name = "name" }
}
words! {
    /// The jobs that pull requests run.
    PrRunMode { /// Plan only.
        Plan = "plan", /// Plan and build.
        Build = "build", /// Nothing.
        Skip = "skip" }
}
words! {
    /// The source of this program in a rendered workflow.
    ToolFrom { /// The action.
        Action = "action", /// The checkout.
        Source = "source" }
}
words! {
    /// On or off.
    Switch { /// Off.
        Off = "off", /// On.
        On = "on" }
}
words! {
    /// The prerelease setting of a release.
    Prerelease { /// Decided by its tag.
        Auto = "auto", /// Always a prerelease.
        True = "true", /// Never a prerelease.
        False = "false" }
}
words! {
    /// The release that GitHub shows as the latest.
    MakeLatest { /// By date and version.
        Legacy = "legacy", /// This one.
        True = "true", /// Not this one.
        False = "false" }
}

/// The container image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageConfig {
    /// The repository in which tags are looked up, `rocm/pytorch`.
    pub repository: String,
    /// An exact tag; if empty, it is looked up in the compatibility data.
    pub tag: String,
    /// The action when no tag matches.
    pub missing: MissingImage,
    /// The severity of an image without a known digest.
    pub digest: DigestRule,
}

/// Arguments of the container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DockerConfig {
    /// `--shm-size`, `8G`.
    pub shm_size: String,
    /// Groups for device access.
    pub groups: Vec<String>,
    /// The form of the groups: numbers or names.
    pub gid: GroupIds,
    /// Additional arguments, each a single word.
    pub args: Vec<String>,
}

/// Tests after the build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestConfig {
    /// Runner of the test; empty for no test.
    pub runner: RunnerSelector,
    /// Target families whose runners run the test, instead of `runner`.
    pub families: Option<TestFamilies>,
    /// GPU access of the test.
    pub gpu: GpuPolicy,
}

/// The target families whose runners test a wheel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestFamilies {
    /// The families that it was built for.
    Built,
    /// No family.
    None,
    /// These families.
    These(Vec<String>),
}

impl TestFamilies {
    /// Returns the selection that a keyword stands for; `None` if the word is not a keyword.
    pub fn control(word: &str) -> Option<Self> {
        match word {
            "auto" | "built" => Some(Self::Built),
            "none" | "skip" => Some(Self::None),
            _ => None,
        }
    }
}

impl std::fmt::Display for TestFamilies {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Built => f.write_str("auto"),
            Self::None => f.write_str("none"),
            Self::These(families) => f.write_str(&families.join(";")),
        }
    }
}

/// Options of the rendered workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowConfig {
    /// Patterns of the tags that trigger publishing, at least one.
    pub tags: Vec<String>,
    /// The maximum number of concurrent builds, and of concurrent tests, 1 to 256.
    pub max_parallel: u32,
    /// The maximum number of jobs in one workflow matrix, 1 to 256.
    pub max_jobs: u32,
    /// The jobs that pull requests run.
    pub pr_run_mode: PrRunMode,
    /// The source of this program.
    pub tool: ToolFrom,
    /// The compiler cache of builds: on or off.
    pub cache: Switch,
    /// The number of runs of one tag that may wait.
    pub queue: Queue,
    /// Whether runs for tags skip wheels that are already published.
    pub incremental: bool,
}

/// Options of the release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseConfig {
    /// The release that GitHub shows as the latest.
    pub make_latest: MakeLatest,
    /// The attestation of the release's files.
    pub attest: Attest,
    /// The prerelease setting.
    pub prerelease: Prerelease,
    /// Whether pages are deployed.
    pub pages: bool,
    /// Files that the index of the pages yanks.
    pub yank: Vec<YankSelection>,
    /// The age at which the index of the pages yanks nightly builds; `None` for never.
    pub yank_older_than: Option<Age>,
    /// The number of newest versions of each project and directory that are kept, however old.
    pub yank_keep: usize,
}

words! {
    /// The attestation of a release's files. Private repositories have attestations only with
    /// Enterprise Cloud (GitHub Docs, "Using artifact attestations to establish provenance for
    /// builds").
    #[derive(Default)]
    Attest { /// Unless the repository is private.
        #[default] Auto = "auto", /// Always.
        On = "on", /// Never.
        Off = "off" }
}

words! {
    /// The number of runs of one concurrency group that may wait (workflow syntax,
    /// `concurrency.queue`; new in 2026).
    Queue { /// The newest one; earlier ones are cancelled.
        Single = "single", /// All of them, up to GitHub's limit.
        Max = "max" }
}

words! {
    /// The source of the version that a recipe builds.
    #[derive(Default)]
    VersionFrom { /// An axis of the matrix file.
        #[default] Axis = "axis", /// The sources, which only the build reads.
        Build = "build" }
}

words! {
    /// The artifacts that a job of a recipe produces.
    #[derive(Default)]
    Leaves { /// Wheels.
        #[default] Wheels = "wheels", /// A source distribution, and the wheels that it is for.
        Sdist = "sdist", /// An archive of an install tree.
        Archive = "archive", /// An install tree or an environment, left where the build put it.
        Tree = "tree" }
}

words! {
    /// A check that a built wheel must pass.
    Gate { /// Its name is the one that the plan expects.
        Name = "name", /// The archive, RECORD and METADATA are valid, before and after the label is set.
        Verify = "verify", /// Its label, platforms, libraries and GPU code agree with each other and with the plan.
        Check = "check", /// It contains and requires everything that finished wheels of its distribution must.
        Contents = "contents" }
}

/// Implements `Deserialize` for the keyword enums in recipes.
macro_rules! read_as_words {
    ($($name:ident),+) => {$(
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Self::from_word(&word).ok_or_else(|| serde::de::Error::unknown_variant(&word, Self::WORDS))
            }
        }
    )+};
}

words! {
    /// The kind of wheels that a recipe produces, as in `wheel check --profile`.
    #[derive(Default)]
    CheckProfile { /// Any wheels.
        #[default] Default = "default", /// Packages of the ROCm SDK.
        Sdk = "sdk" }
}

read_as_words!(CheckProfile, Gate, Leaves, VersionFrom);
