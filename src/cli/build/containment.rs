//! The container that the steps of a job run in.

use std::path::Path;

use super::BuildRequest;
use super::prepare::GENERATOR;
use crate::cli::Shell;
use crate::codes::build as codes;
use crate::diagnostic::Diagnostic;
use crate::exec;
use crate::host::{HostFacts, device_group_ids};
use crate::plan::Job;
use crate::recipe::container::{
    self, ContainerRun, DEVICE_NODES, DeviceAccess, EngineProgram, PROXY_VARIABLES, VISIBLE_GPUS,
};
use crate::recipe::{Build, BuildSite};
use crate::render;
use crate::sys;

/// The owned values that [`exec::ContainerSetup`] borrows.
#[derive(Debug)]
pub(super) struct Owned {
    pub(super) engine: EngineProgram,
    pub(super) image: String,
    pub(super) script: String,
    pub(super) argv: Vec<String>,
}

/// Returns the container of a job, with the command and the script that it runs.
pub(super) fn contained(
    engine: EngineProgram,
    job: &Job,
    build: &mut Build,
    args: &BuildRequest<'_>,
    (facts, shell): (&HostFacts, &Shell),
    (folder, caller, name): (&str, &str, &str),
) -> Result<Owned, Vec<Diagnostic>> {
    let (image, told) =
        container::image(job, args.options.image.as_deref()).map_err(|fault| vec![fault])?;
    build.warnings.extend(told);
    if folder.contains(':') {
        let message = format!("`{folder}` contains a colon, which ends the path in `--volume`");
        return Err(vec![
            Diagnostic::new(&codes::BUILD_FOLDER, message)
                .help("build in a folder whose path has no colon"),
        ]);
    }
    let devices = DeviceAccess::resolve(
        job.gpu,
        DEVICE_NODES.iter().all(|node| sys::exists(Path::new(node))),
    );
    let assigned = match devices {
        DeviceAccess::Present => {
            exec::assigned_gpu(&args.options.podinfo_dir).map_err(|fault| vec![fault])?
        }
        DeviceAccess::Absent => None,
    };
    let container = ContainerRun {
        engine,
        image,
        devices,
        assigned: assigned.as_ref(),
        folder,
        caller: build.uses_caller.then_some(caller),
        device_gids: &device_group_ids(facts),
        pass_env: &passed_env(job, build, devices, shell),
        extra: &args.options.docker_arg,
        name: Some(name),
    };
    let argv = container::argv(job, &container);
    let script = render::script(job, build, &BuildSite::Container, GENERATOR);
    Ok(Owned {
        engine,
        image: image.to_owned(),
        script,
        argv,
    })
}

/// Returns the names of the variables that a container inherits: those of the build, the proxies of
/// this machine, and the list of visible GPUs if it has one.
fn passed_env(job: &Job, build: &Build, devices: DeviceAccess, shell: &Shell) -> Vec<String> {
    let gpu = (devices == DeviceAccess::Present).then_some(VISIBLE_GPUS);
    let of_machine = PROXY_VARIABLES
        .into_iter()
        .chain(gpu)
        .chain([exec::SOURCE_DATE]);
    let is_set = |name: &&str| {
        shell
            .environment
            .get(name)
            .is_some_and(|value| !value.is_empty())
    };
    let mut names = container::passed_env(job, build);
    names.extend(of_machine.filter(is_set).map(str::to_owned));
    names
}
