//! The checked matrix file.

use super::RunnerSelector;
use indexmap::IndexMap;

use super::KeyLocations;
use rock_compat::rows::ReleaseTypeRow;
pub use rock_names::Platform;
use rock_names::{
    Age, DistributionName, GfxTarget, PackageVersion, PythonVersion, RocmVersion, Version,
    YankSelection,
};

/// One matrix file: a group of cells with one distribution and one recipe.
#[derive(Debug, Clone)]
pub struct MatrixConfig {
    /// Where its parts stand.
    pub places: KeyLocations,
    /// `false` keeps the file but yields no jobs.
    pub enabled: bool,
    /// What is built.
    pub distribution: DistributionName,
    /// Name of the recipe that builds it.
    pub recipe: String,
    /// Where the wheels run.
    pub platform: Platform,
    /// The axes in the order of the file.
    pub axes: Vec<Axis>,
    /// Explicit cells beside the product.
    pub rows: Vec<CellRow>,
    /// The gfx targets wanted.
    pub gfx: GfxSelection,
    /// Targets instead of those of this machine where it has no GPU; empty for none.
    pub gfx_fallback: Vec<GfxTarget>,
    /// Values that only a machine with a GPU or with ROCm has.
    pub host_values: Vec<HostValue>,
    /// The targets as written: families and targets.
    pub families: Vec<String>,
    /// What the kind of release says, where one is named.
    pub release_type: Option<ReleaseTypeRow>,
    /// Cells left out by hand: partial keys with the value's text.
    pub exclude: Vec<ExcludeEntry>,
    /// Cells added or changed by hand.
    pub include: Vec<CellRow>,
    /// Which of a torch release's ROCm versions to keep.
    pub rocm_policy: RocmPolicy,
    /// How much of the ROCm version stands in a label.
    pub rocm_precision: RocmPrecision,
    /// How labels spell versions.
    pub label_style: LabelChoice,
    /// What to do with combinations that no fact speaks about.
    pub unknown: Strictness,
    /// Whether free-threaded Pythons are built.
    pub free_threaded: bool,
    /// Where torch comes from.
    pub torch_from: TorchFrom,
    /// Where Python comes from.
    pub python_from: PythonFrom,
    /// The container image.
    pub image: ImageConfig,
    /// Arguments of the container.
    pub docker: DockerConfig,
    /// Whether jobs see a GPU.
    pub gpu: GpuPolicy,
    /// Runner name or label of the facts.
    pub runner: RunnerSelector,
    /// Axes whose values share one wheel, of those that the recipe can collapse.
    pub collapse: Vec<String>,
    /// Recipe variables, as text.
    pub vars: IndexMap<String, String>,
    /// Names of secrets the build needs.
    pub secrets: Vec<String>,
    /// Index URL templates by name (`torch`, `rocm`).
    pub indexes: IndexMap<String, String>,
    /// Whether the ROCm index has device code under an extra for each target.
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

/// A value of a matrix file that is taken from the machine which makes the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostValue {
    /// `gfx: [host]` without `gfx-fallback`.
    Gfx,
    /// `host` among the values of the axis `rocm`.
    Rocm {
        /// Its index, from 0.
        index: usize,
    },
}

impl HostValue {
    /// Returns its place in the file, as [`KeyLocations::of`] takes it.
    pub fn place(self) -> String {
        match self {
            Self::Gfx => "gfx".to_owned(),
            Self::Rocm { index } => format!("axes.rocm[{index}]"),
        }
    }
}

/// One axis with its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// The name as written.
    pub name: String,
    /// What its values mean.
    pub role: AxisRole,
    /// The values in the order of the file; never empty, never twice the same.
    pub values: Vec<AxisValue>,
}

/// What an axis stands for.
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

/// One value of an axis: its text as written and what it was read as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisValue {
    /// As written.
    pub text: String,
    /// Parsed by the axis's role.
    pub value: ParsedValue,
}

/// A parsed axis value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ParsedValue {
    /// Of [`AxisRole::Package`].
    Package(PackageVersion),
    /// Of [`AxisRole::Python`].
    Python(PythonVersion),
    /// Of [`AxisRole::Torch`].
    Torch(Version),
    /// Of [`AxisRole::Rocm`].
    Rocm(RocmVersion),
    /// Of [`AxisRole::Gfx`].
    Gfx(Vec<GfxTarget>),
    /// Of [`AxisRole::Backend`] and [`AxisRole::Field`].
    Text(String),
}

impl ParsedValue {
    /// The role of the axis that such a value belongs to; a text's depends on the axis name.
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

/// Partial axes of an `exclude` entry: every key is an axis, every text one of its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExcludeEntry {
    /// Axis name → value text.
    pub axes: IndexMap<String, String>,
}

/// An explicit cell (`rows`), or an `include` entry: cells of the product that match `axes` get
/// `set`; when a value lies outside the product, the entry is a cell of its own and names every
/// axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellRow {
    /// Axis name → value.
    pub axes: IndexMap<String, AxisValue>,
    /// What differs for these cells.
    pub set: RowOverrides,
}

/// Fields that a row may change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowOverrides {
    /// Another runner.
    pub runner: Option<RunnerSelector>,
    /// Another gpu policy.
    pub gpu: Option<GpuPolicy>,
    /// Other gfx targets.
    pub gfx: Option<Vec<GfxTarget>>,
    /// The same as written: families and targets.
    pub families: Option<Vec<String>>,
    /// An exact image reference.
    pub image: Option<String>,
    /// Recipe variables added or replaced.
    pub vars: IndexMap<String, String>,
}

/// The gfx targets wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GfxSelection {
    /// These, families already expanded.
    Targets(Vec<GfxTarget>),
    /// Those of the GPUs in this machine; local builds only.
    Host,
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// The words of the matrix file, in the order of the variants.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word of the matrix file.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// The variant of a word.
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
    /// Which of a torch release's ROCm versions to keep, among the user's.
    RocmPolicy { /// All of them.
        All = "all", /// The oldest.
        Oldest = "oldest", /// The newest.
        Newest = "newest" }
}
words! {
    /// How much of the ROCm version stands in a label.
    RocmPrecision { /// `6.2`.
        Minor = "minor", /// `6.2.4`.
        Patch = "patch" }
}
words! {
    /// How labels spell the ROCm version.
    LabelChoice { /// Compact where it has one reading, else dotted.
        Auto = "auto", /// Always compact; an error where ambiguous.
        Compact = "compact", /// Always dotted.
        Dotted = "dotted" }
}
words! {
    /// What to do with combinations that no fact speaks about.
    Strictness { /// They are faults.
        Strict = "strict", /// They are kept with a warning.
        Lenient = "lenient" }
}
words! {
    /// Where torch comes from.
    TorchFrom { /// The official index of PyTorch.
        PytorchIndex = "pytorch-index", /// AMD's index.
        AmdIndex = "amd-index", /// The container image's own.
        Image = "image", /// Whatever the machine has.
        Host = "host" }
}
words! {
    /// Where Python comes from in a container.
    PythonFrom { /// uv.
        Uv = "uv", /// The image's own.
        Image = "image", /// The deadsnakes archive (Ubuntu).
        Deadsnakes = "deadsnakes", /// `/opt/python` of manylinux images.
        Manylinux = "manylinux", /// The machine's own.
        Host = "host" }
}
words! {
    /// Whether jobs see a GPU.
    GpuPolicy { /// No device, group or ptrace flags.
        None = "none", /// The flags always.
        Required = "required", /// The flags where the devices exist.
        Auto = "auto" }
}
words! {
    /// What to do when the image table has no exact tag.
    MissingImage { /// Take a ROCm builder image.
        Builder = "builder", /// Leave the image out and say so.
        Error = "error" }
}
words! {
    /// What an unpinned image is.
    DigestRule { /// A warning.
        Warn = "warn", /// An error.
        Require = "require", /// Nothing.
        Ignore = "ignore" }
}
words! {
    /// Numeric or named groups for the container.
    GroupIds { /// Numbers of the device nodes where they can be read, else names.
        Auto = "auto", /// Names as given.
        Name = "name" }
}
words! {
    /// What pull requests run.
    PrRunMode { /// Plan only.
        Plan = "plan", /// Plan and build.
        Build = "build", /// Nothing.
        Skip = "skip" }
}
words! {
    /// Where a rendered workflow gets this tool from.
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
    /// Whether a release is a prerelease.
    Prerelease { /// By its tag.
        Auto = "auto", /// It is.
        True = "true", /// It is not.
        False = "false" }
}
words! {
    /// Which release GitHub shows as the latest.
    MakeLatest { /// By date and version.
        Legacy = "legacy", /// This one.
        True = "true", /// Not this one.
        False = "false" }
}

/// The container image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageConfig {
    /// Where tags are looked up, `rocm/pytorch`.
    pub repository: String,
    /// An exact tag; empty: looked up in the facts.
    pub tag: String,
    /// When no tag fits.
    pub missing: MissingImage,
    /// When no digest is known.
    pub digest: DigestRule,
}

/// Arguments of the container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DockerConfig {
    /// `--shm-size`, `8G`.
    pub shm_size: String,
    /// Groups for device access.
    pub groups: Vec<String>,
    /// Names or numbers.
    pub gid: GroupIds,
    /// Further arguments, each one word.
    pub args: Vec<String>,
}

/// Wheel repair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepairConfig {
    /// The platform aimed at.
    pub platform: RepairPlatform,
    /// Exclude presets.
    pub presets: Vec<String>,
    /// Names and patterns of further excluded libraries.
    pub exclude: Vec<String>,
}

/// Presets of libraries that are excluded from repairs unless others are named: a process must hold
/// one copy of the GPU runtimes and of torch.
pub const REPAIR_PRESETS: [&str; 3] = ["rocm", "torch", "cuda"];

/// The platform that a built wheel is repaired for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepairPlatform {
    /// None: the wheel stays as it was built.
    Off,
    /// The oldest that its symbols allow.
    Auto,
    /// This platform tag.
    Tag(String),
}

impl RepairPlatform {
    /// The platform of a word of the matrix file.
    pub fn from_word(word: &str) -> Self {
        match word {
            "off" => Self::Off,
            "auto" => Self::Auto,
            tag => Self::Tag(tag.to_owned()),
        }
    }
}

/// The word of the matrix file.
impl std::fmt::Display for RepairPlatform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::Auto => "auto",
            Self::Tag(tag) => tag,
        })
    }
}

/// Tests after the build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestConfig {
    /// Runner of the test; empty: none.
    pub runner: RunnerSelector,
    /// Families whose runners test, instead of `runner`.
    pub families: Option<TestFamilies>,
    /// Whether it sees a GPU.
    pub gpu: GpuPolicy,
}

/// Families whose runners test a wheel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestFamilies {
    /// Those that it was built for.
    Built,
    /// None of them.
    None,
    /// These.
    These(Vec<String>),
}

impl TestFamilies {
    /// What a word other than a family means.
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
    /// Patterns of the tags that publish, at least one.
    pub tags: Vec<String>,
    /// How many builds run at once, and how many tests, 1 to 256.
    pub max_parallel: u32,
    /// Jobs of one matrix, 1 to 256.
    pub max_jobs: u32,
    /// What pull requests run.
    pub pr_run_mode: PrRunMode,
    /// Where the tool comes from.
    pub tool: ToolFrom,
    /// Whether builds keep a compiler cache.
    pub cache: Switch,
    /// How many runs of one tag wait.
    pub queue: Queue,
    /// Whether runs of tags leave out what is published.
    pub incremental: bool,
}

/// Options of the release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseConfig {
    /// Which release is latest.
    pub make_latest: MakeLatest,
    /// Whether wheels are attested.
    pub attest: Attest,
    /// Whether the release is a prerelease.
    pub prerelease: Prerelease,
    /// Whether pages are deployed.
    pub pages: bool,
    /// What the index of the pages withdraws.
    pub yank: Vec<YankSelection>,
    /// How long the index of the pages offers nightly builds.
    pub yank_older_than: Option<Age>,
    /// How many versions of each project and folder stay, however old: the newest.
    pub yank_keep: usize,
}

words! {
    /// Whether the files of a release are attested. Private repositories have attestations with
    /// Enterprise Cloud only (GitHub Docs, "Using artifact attestations to establish provenance for
    /// builds").
    #[derive(Default)]
    Attest { /// Where the repository is not private.
        #[default] Auto = "auto", /// Always.
        On = "on", /// Never.
        Off = "off" }
}

words! {
    /// How many runs of one concurrency group wait (workflow syntax, `concurrency.queue`; new in
    /// 2026).
    Queue { /// The newest one; those before it are cancelled.
        Single = "single", /// All of them, up to GitHub's bound.
        Max = "max" }
}

words! {
    /// Where the version of what a recipe builds stands.
    #[derive(Default)]
    VersionFrom { /// In an axis of the matrix file.
        #[default] Axis = "axis", /// In the sources, which only the build reads.
        Build = "build" }
}

words! {
    /// What a job of a recipe leaves.
    #[derive(Default)]
    Leaves { /// Wheels.
        #[default] Wheels = "wheels", /// A source distribution, with the wheels that it is for beside it.
        Sdist = "sdist", /// An archive of an install tree.
        Archive = "archive", /// An install tree or an environment, where the build put it.
        Tree = "tree" }
}

words! {
    /// A check that a built wheel must pass.
    Gate { /// It has the name that the plan expects.
        Name = "name", /// Container, RECORD and METADATA are right, before a label is set and after it.
        Verify = "verify", /// Its label, platforms, libraries and code for GPUs agree with each other and with the plan.
        Check = "check", /// It holds and requires what finished wheels of its distribution must.
        Contents = "contents" }
}

/// Words that recipes hold are read by serde.
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
    /// What kind of wheels those of a recipe are, as `wheel check --profile` takes it.
    #[derive(Default)]
    CheckProfile { /// Any wheels.
        #[default] Default = "default", /// Packages of the ROCm SDK.
        Sdk = "sdk" }
}

read_as_words!(CheckProfile, Gate, Leaves, VersionFrom);
