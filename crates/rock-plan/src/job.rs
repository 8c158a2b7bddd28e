//! A job: a leg, or several collapsed into one, with everything that is needed to build it.

use indexmap::IndexMap;

use crate::config::{
    DockerConfig, Gate, GpuPolicy, ImageConfig, Platform, PythonFrom, RepairConfig, Switch,
    TestConfig, TorchFrom,
};
use rock_compat::{RuntimeRequirements, SupportReason};
use rock_names::{
    DistributionName, GfxTarget, LocalLabel, PackageVersion, PythonVersion, RocmVersion, Version,
    has_wheel_extension, is_sdist, is_tree_archive,
};

/// A job of the plan. It is self-contained: `build` and `render` need nothing else from the matrix
/// file.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Unique and stable ID, `[a-z0-9._-]{1,80}`.
    pub id: String,
    /// Axis names and values, both as written.
    pub axes: IndexMap<String, String>,
    /// The distribution to build.
    pub distribution: DistributionName,
    /// Its requested version; `None` if no axis sets it.
    pub package: Option<PackageVersion>,
    /// The wheel's public version, if it is known before the build.
    pub version: Option<Version>,
    /// The label after `+`; `None` for a wheel without ROCm.
    pub label: Option<LocalLabel>,
    /// The expected wheel name before repair, as [`rock_names::ExpectedWheel`] parses it. For a job
    /// without a wheel of its own, the name of its source distribution, archive or tree.
    pub wheel: String,
    /// Names of the wheels of other distributions that the job also produces.
    pub extra_wheels: Vec<String>,
    /// The job's Python; the lowest one for a collapsed job.
    pub python: Option<PythonVersion>,
    /// The job's torch.
    pub torch: Option<Version>,
    /// The job's ROCm.
    pub rocm: Option<RocmVersion>,
    /// Name of the backend; the recipe's default if no axis sets it.
    pub backend: String,
    /// The gfx targets to compile for; empty for a backend without device code.
    pub gfx: Vec<GfxTarget>,
    /// The requested families and targets, without those that nothing is compiled for.
    pub families: Vec<String>,
    /// Requested targets that are not compiled, with the reason.
    pub dropped_gfx: Vec<DroppedGfx>,
    /// The container image with tag or digest, if one is known.
    pub image: Option<String>,
    /// The glibc version of the image, if the compatibility data has it.
    pub image_glibc: Option<Version>,
    /// Runner labels for `runs-on`.
    pub runner: Vec<String>,
    /// Runner group for `runs-on`.
    pub runner_group: Option<String>,
    /// The GPU policy: whether the job has access to a GPU.
    pub gpu: GpuPolicy,
    /// Name of the recipe.
    pub recipe: String,
    /// Checks that the built wheel must pass, in order.
    pub gates: Vec<Gate>,
    /// The estimated cost of the build, if there are measurements.
    pub estimate: Option<BuildEstimate>,
    /// Values of collapsed axes that this job covers, by axis name, including the job's own.
    pub covers: IndexMap<String, Vec<String>>,
    /// Warnings about this job for people.
    pub warnings: Vec<String>,
    /// Requirements of the installed wheel.
    pub run_time: RuntimeRequirements,
    /// Settings of the matrix file that recipes and rendering read.
    pub settings: JobSettings,
}

impl Job {
    /// Returns the values of an axis that the job builds: those that it covers, or its own.
    pub(crate) fn values_of_axis(&self, axis: &str) -> Vec<&str> {
        match self.covers.get(axis) {
            Some(values) => values.iter().map(String::as_str).collect(),
            None => self
                .axes
                .get(axis)
                .into_iter()
                .map(String::as_str)
                .collect(),
        }
    }

    /// Returns the names of the expected wheels: the job's own, then the others.
    pub fn wheels(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.wheel)
            .filter(|name| has_wheel_extension(name))
            .chain(&self.extra_wheels)
    }

    /// Returns the names of the job's files: its wheels, or the archive or tree that it produces
    /// instead.
    pub fn files(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.wheel).chain(&self.extra_wheels)
    }

    /// Returns the name of the archive of an install tree, if the job produces one.
    pub fn archive(&self) -> Option<&str> {
        Some(self.wheel.as_str()).filter(|name| is_tree_archive(name))
    }

    /// Returns the name of the source distribution, if the job produces one.
    pub fn sdist(&self) -> Option<&str> {
        Some(self.wheel.as_str()).filter(|name| is_sdist(name))
    }
}

/// A requested target that is not compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedGfx {
    /// The target.
    pub target: GfxTarget,
    /// The reason, in one line.
    pub reason: String,
}

impl From<&(GfxTarget, SupportReason)> for DroppedGfx {
    fn from((target, because): &(GfxTarget, SupportReason)) -> Self {
        Self {
            target: target.clone(),
            reason: because.reason.clone(),
        }
    }
}

/// The estimated cost of a build.
#[derive(Debug, Clone, PartialEq)]
pub struct BuildEstimate {
    /// Number of objects to compile.
    pub objects: u64,
    /// Wall-clock hours on the job's runner.
    pub hours: f64,
    /// Number of attempts needed within the runner's time limit.
    pub attempts: u32,
    /// Size of the compiler cache in MB.
    pub cache_mb: u64,
    /// One-line summary for people: `does not fit 6 h; about 6 attempts`.
    pub verdict: String,
}

/// Settings of the matrix file that recipes and rendering read, identical for all jobs of a file
/// except for overrides.
#[derive(Debug, Clone, PartialEq)]
pub struct JobSettings {
    /// The path of the matrix file as given.
    pub matrix: String,
    /// The platform that the wheels run on.
    pub platform: Platform,
    /// The source of torch.
    pub torch_from: TorchFrom,
    /// The source of Python.
    pub python_from: PythonFrom,
    /// The image options.
    pub image: ImageConfig,
    /// The container options.
    pub docker: DockerConfig,
    /// Whether the compiler keeps a cache: `workflow.cache`.
    pub cache: Switch,
    /// Maximum size of this cache in MB, if the plan divides a limit among builds.
    pub cache_mb: Option<u64>,
    /// Recipe variables.
    pub vars: IndexMap<String, String>,
    /// Names of secrets.
    pub secrets: Vec<String>,
    /// Index URL templates.
    pub indexes: IndexMap<String, String>,
    /// Whether the ROCm index provides device code as one extra per target.
    pub device_extras: bool,
    /// Wheel repair.
    pub repair: RepairConfig,
    /// Tests after the build.
    pub test: TestConfig,
}

/// Placeholder in an index URL for the only family of a job.
pub(super) const FAMILY: &str = "{family}";

/// Returns the index URLs of a job built for these families. The plan ensures that there is exactly
/// one family if a URL uses the placeholder.
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
