//! One job: a leg, or several collapsed into one, with all that building it needs.

use indexmap::IndexMap;

use crate::config::{
    DockerConfig, Gate, GpuPolicy, ImageConfig, Platform, PythonFrom, RepairConfig, RunTime,
    Switch, TestConfig, TorchFrom,
};
use rock_names::{
    DistributionName, GfxTarget, LocalLabel, PackageVersion, PythonVersion, RocmVersion, Version,
    has_wheel_extension, is_sdist, is_tree_archive,
};

/// A job of the plan. It is whole in itself: `build` and `render` need nothing else of the matrix
/// file.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Unique, stable, `[a-z0-9._-]{1,80}`.
    pub id: String,
    /// Axis name → value, both as written.
    pub axes: IndexMap<String, String>,
    /// The distribution built.
    pub distribution: DistributionName,
    /// Its version as asked for; `None` where no axis names it.
    pub package: Option<PackageVersion>,
    /// The public version that the wheel carries, where it is known before the build.
    pub version: Option<Version>,
    /// The label after `+`; `None` for a wheel without ROCm.
    pub label: Option<LocalLabel>,
    /// The expected wheel name, before repair, as [`rock_names::ExpectedWheel`] reads it; of a
    /// job without one of its own, the name of its source distribution, archive or tree.
    pub wheel: String,
    /// Names of the wheels of other distributions that it leaves too.
    pub further_wheels: Vec<String>,
    /// The job's Python; the lowest one for a collapsed job.
    pub python: Option<PythonVersion>,
    /// The job's torch.
    pub torch: Option<Version>,
    /// The job's ROCm.
    pub rocm: Option<RocmVersion>,
    /// Name of the backend; the recipe's default where no axis names it.
    pub backend: String,
    /// The gfx targets compiled for; empty for a backend without device code.
    pub gfx: Vec<GfxTarget>,
    /// The families and targets that were asked for, without those that nothing is compiled for.
    pub families: Vec<String>,
    /// Targets asked for and left out, with the reason.
    pub dropped_gfx: Vec<DroppedGfx>,
    /// The container image with tag or digest, where one is known.
    pub image: Option<String>,
    /// The glibc of the image, where the facts know it.
    pub image_glibc: Option<Version>,
    /// Labels of the runner, `runs-on`.
    pub runner: Vec<String>,
    /// The group of the runner, `runs-on`.
    pub runner_group: Option<String>,
    /// Whether the job sees a GPU.
    pub gpu: GpuPolicy,
    /// Name of the recipe.
    pub recipe: String,
    /// Checks the built wheel must pass, in order.
    pub gates: Vec<Gate>,
    /// What the build is likely to cost, where measurements allow a guess.
    pub estimate: Option<BuildEstimate>,
    /// Values of collapsed axes that this job stands for: axis name → values, the job's own among
    /// them.
    pub covers: IndexMap<String, Vec<String>>,
    /// Things a person should know about this job.
    pub warnings: Vec<String>,
    /// Needs of the installed wheel.
    pub run_time: RunTime,
    /// Fields of the matrix file that recipes and rendering read.
    pub settings: JobSettings,
}

impl Job {
    /// Names of the expected wheels: the job's own, then the others.
    pub fn wheels(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.wheel)
            .filter(|name| has_wheel_extension(name))
            .chain(&self.further_wheels)
    }

    /// What it is known by beside its id: the wheels, or the archive or tree that it leaves
    /// instead.
    pub fn files(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.wheel).chain(&self.further_wheels)
    }

    /// The name of the archive of an install tree, where it leaves one.
    pub fn archive(&self) -> Option<&str> {
        Some(self.wheel.as_str()).filter(|name| is_tree_archive(name))
    }

    /// The name of the source distribution, where it leaves one.
    pub fn sdist(&self) -> Option<&str> {
        Some(self.wheel.as_str()).filter(|name| is_sdist(name))
    }
}

/// A target that was asked for and is not compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedGfx {
    /// The target.
    pub target: GfxTarget,
    /// Why, with the row it rests on.
    pub reason: String,
}

/// What a build is likely to cost.
#[derive(Debug, Clone, PartialEq)]
pub struct BuildEstimate {
    /// Objects compiled.
    pub objects: u64,
    /// Wall-clock hours on the job's runner.
    pub hours: f64,
    /// Capped attempts needed within the runner's limit.
    pub attempts: u32,
    /// Size of the compiler cache in MB.
    pub cache_mb: u64,
    /// One line for people: `does not fit 6 h; about 6 attempts`.
    pub verdict: String,
}

/// Fields of the matrix file that recipes and rendering read, the same for all jobs of one file but
/// for overrides.
#[derive(Debug, Clone, PartialEq)]
pub struct JobSettings {
    /// The matrix file's path as given.
    pub matrix: String,
    /// Where the wheels run.
    pub platform: Platform,
    /// Where torch comes from.
    pub torch_from: TorchFrom,
    /// Where Python comes from.
    pub python_from: PythonFrom,
    /// The image options.
    pub image: ImageConfig,
    /// The container options.
    pub docker: DockerConfig,
    /// Whether the compiler keeps a cache: `workflow.cache`.
    pub cache: Switch,
    /// MB that this cache may take, where a plan shares a limit among builds.
    pub cache_mb: Option<u64>,
    /// Recipe variables.
    pub vars: IndexMap<String, String>,
    /// Names of secrets.
    pub secrets: Vec<String>,
    /// Index templates.
    pub indexes: IndexMap<String, String>,
    /// Whether the ROCm index has device code under an extra for each target.
    pub device_extras: bool,
    /// Wheel repair.
    pub repair: RepairConfig,
    /// Tests after the build.
    pub test: TestConfig,
}

/// What stands in the address of an index for the one family of a job.
pub(super) const FAMILY: &str = "{family}";

/// The indexes of a job that is built for these families; a plan makes sure that it is one where an
/// address names it.
pub(super) fn indexes_for(
    indexes: &IndexMap<String, String>,
    families: &[String],
) -> IndexMap<String, String> {
    let family = families.first().map(String::as_str).unwrap_or_default();
    indexes
        .iter()
        .map(|(name, address)| (name.clone(), address.replace(FAMILY, family)))
        .collect()
}
