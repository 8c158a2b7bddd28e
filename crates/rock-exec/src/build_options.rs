//! The options of a build, and what it takes from its caller.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::assigned_gpu::PODINFO;
use super::host_env::HostEnv;
use rock_compat::Compat;
use rock_host::HostFacts;
use rock_recipe::container::EngineProgram;
use rock_sys::Environment;

/// Options of a [`PreparedBuild`](crate::PreparedBuild).
#[derive(Debug, Clone)]
pub struct BuildOptions {
    /// The container engine that runs the steps; `None` runs them on this machine.
    pub engine: Option<EngineProgram>,
    /// The container image to use instead of the job's.
    pub image: Option<String>,
    /// Arguments of the container engine, after those of the matrix file.
    pub engine_args: Vec<String>,
    /// Facts of the recipe that are set instead of detected, by name.
    pub facts: BTreeMap<String, String>,
    /// The requested start of the build.
    pub resume: ResumeRequest,
    /// Whether the build is only described. Facts are not detected by running commands, and
    /// missing sources are not errors.
    pub dry_run: bool,
    /// The time after which the build is stopped so that its work can be saved, in seconds.
    pub cap_s: Option<u64>,
    /// The time that the cap counts from, in seconds since 1970-01-01 UTC; `None` for now.
    pub cap_starts_at_s: Option<u64>,
    /// The time limit of stages without a limit in the recipe, in seconds.
    pub stage_timeout_s: Option<u64>,
    /// The output directory.
    pub out: PathBuf,
    /// The directory with the wheels to test; `None` builds them.
    pub test: Option<PathBuf>,
    /// The directory in which a runner reports the assigned GPU.
    pub podinfo: PathBuf,
}

impl Default for BuildOptions {
    /// Returns the options of a new build on this machine, with the output directory `dist`.
    fn default() -> Self {
        Self {
            engine: None,
            image: None,
            engine_args: Vec::new(),
            facts: BTreeMap::new(),
            resume: ResumeRequest::Fresh,
            dry_run: false,
            cap_s: None,
            cap_starts_at_s: None,
            stage_timeout_s: None,
            out: PathBuf::from("dist"),
            test: None,
            podinfo: PathBuf::from(PODINFO),
        }
    }
}

/// A request to resume an unfinished build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ResumeRequest {
    /// Start a new build.
    #[default]
    Fresh,
    /// Resume at the first stage that changed or did not succeed.
    Auto,
    /// Resume at the stage or resume point of this name.
    At(String),
}

/// The environment of the caller: its compatibility data, variables, directory and machine.
#[derive(Debug, Clone, Copy)]
pub struct CallerEnv<'a> {
    /// The compatibility data.
    pub compat: &'a Compat,
    /// The variables and the working directory.
    pub environment: &'a Environment,
    /// The facts of this machine.
    pub host: &'a HostFacts,
}

impl<'a> CallerEnv<'a> {
    /// Returns the environment and the resources of the steps.
    pub(super) fn host_env(&self) -> HostEnv<'a> {
        HostEnv::new(self.environment, self.host)
    }

    /// Returns the directory that relative paths start from.
    pub(super) fn directory(&self) -> &'a Path {
        &self.environment.current_dir
    }

    /// Returns a path for messages, relative to the caller's directory if it is below it.
    pub(super) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(self.directory())
            .unwrap_or(path)
            .display()
            .to_string()
    }
}
