//! The container that the steps of a job run in.

use std::path::Path;

use super::assigned_gpu::assigned_gpu;
use super::build_options::{BuildOptions, CallerEnv};
use super::container::ContainerSetup;
use super::host_env::SOURCE_DATE;
use super::prepared_build::GENERATOR;
use crate::codes::build as codes;
use rock_diagnostic::Diagnostic;
use rock_host::device_group_ids;
use rock_plan::Job;
use rock_recipe::container::{
    self, ContainerRun, DEVICE_NODES, DeviceAccess, EngineProgram, PROXY_VARIABLES, VISIBLE_GPUS,
};
use rock_recipe::{Build, BuildSite, render};
use rock_sys as sys;

/// The container of a job: its image, its command and the script that it runs.
#[derive(Debug)]
pub(super) struct JobContainer {
    pub(super) image: String,
    /// The command that starts it.
    pub(super) argv: Vec<String>,
    engine: EngineProgram,
    script: String,
}

/// The values that determine the container of a job.
#[derive(Debug)]
pub(super) struct ContainerInputs<'a> {
    pub(super) engine: EngineProgram,
    pub(super) options: &'a BuildOptions,
    pub(super) caller: CallerEnv<'a>,
    /// The job directory.
    pub(super) directory: &'a str,
    /// The name of the container.
    pub(super) name: &'a str,
}

impl JobContainer {
    /// Returns the container of a job. Adds warnings about its image to `build`.
    ///
    /// # Errors
    /// If there is no image, the path of the job directory cannot be mounted, or the assigned GPU
    /// cannot be read.
    pub(super) fn new(
        job: &Job,
        build: &mut Build,
        inputs: &ContainerInputs<'_>,
    ) -> Result<Self, Diagnostic> {
        let ContainerInputs {
            engine,
            options,
            caller,
            directory,
            name,
        } = *inputs;
        let (image, warnings) = container::image(job, options.image.as_deref())?;
        build.warnings.extend(warnings);
        if directory.contains(':') {
            let message =
                format!("`{directory}` contains a colon, which ends the path in `--volume`");
            return Err(Diagnostic::new(&codes::BUILD_FOLDER, message)
                .help("build in a directory whose path has no colon"));
        }
        let devices = DeviceAccess::resolve(
            job.gpu,
            DEVICE_NODES.iter().all(|node| sys::exists(Path::new(node))),
        );
        let assigned = match devices {
            DeviceAccess::Present => assigned_gpu(&options.podinfo)?,
            DeviceAccess::Absent => None,
        };
        let caller_directory = caller.directory().display().to_string();
        let run = ContainerRun {
            engine,
            image,
            devices,
            assigned: assigned.as_ref(),
            folder: directory,
            caller: build.uses_caller.then_some(caller_directory.as_str()),
            device_gids: &device_group_ids(caller.host),
            pass_env: &inherited_variables(job, build, devices, caller),
            extra: &options.engine_args,
            name: Some(name),
        };
        Ok(Self {
            image: image.to_owned(),
            argv: container::argv(job, &run),
            engine,
            script: render::script(job, build, &BuildSite::Container, GENERATOR),
        })
    }

    /// Returns the commands for a container of this name, whose job directory is `directory`.
    pub(super) fn setup(&self, name: &str, directory: &Path) -> ContainerSetup<'_> {
        let directory = directory.display().to_string();
        ContainerSetup {
            engine: self.engine,
            image: &self.image,
            script: &self.script,
            argv: self.argv.clone(),
            remove: container::removal(self.engine, name),
            give_back: container::giving_back(
                self.engine,
                &self.image,
                &directory,
                sys::effective_ids(),
            ),
            inspect: container::inspection(self.engine, &self.image),
        }
    }
}

/// Returns the names of the variables that a container inherits: those of the build, the proxies of
/// this machine, and the list of visible GPUs if it has one.
fn inherited_variables(
    job: &Job,
    build: &Build,
    devices: DeviceAccess,
    caller: CallerEnv<'_>,
) -> Vec<String> {
    let gpu = (devices == DeviceAccess::Present).then_some(VISIBLE_GPUS);
    let of_machine = PROXY_VARIABLES.into_iter().chain(gpu).chain([SOURCE_DATE]);
    let is_set = |name: &&str| {
        caller
            .environment
            .get(name)
            .is_some_and(|value| !value.is_empty())
    };
    let mut names = container::passed_env(job, build);
    names.extend(of_machine.filter(is_set).map(str::to_owned));
    names
}
