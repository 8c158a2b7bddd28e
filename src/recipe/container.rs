//! The argv of the container that a job builds in. It is made here and nowhere else: `render` prints it, `build` runs
//! it.

use crate::config::{GpuPolicy, GroupIds};
use crate::plan::Job;

/// The program that runs containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// Docker.
    Docker,
    /// Podman.
    Podman,
}

impl Engine {
    /// The program's name.
    pub fn program(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
        }
    }
}

/// Whether the container gets the GPU's device nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Devices {
    /// With them, and with what using them asks for.
    Present,
    /// Without.
    Absent,
}

impl Devices {
    /// What a policy means on a machine that has the nodes, or has not.
    pub fn resolve(policy: GpuPolicy, nodes_exist: bool) -> Self {
        match policy {
            GpuPolicy::None => Self::Absent,
            GpuPolicy::Required => Self::Present,
            GpuPolicy::Auto if nodes_exist => Self::Present,
            GpuPolicy::Auto => Self::Absent,
        }
    }
}

/// The device nodes of the AMD GPU driver: the compute interface and the render nodes.
pub const DEVICE_NODES: [&str; 2] = ["/dev/kfd", "/dev/dri"];

/// Where the job's folder is mounted.
pub const MOUNT: &str = "/rock";

/// Where the folder that relative source paths start from is mounted, read-only.
pub const CALLER_MOUNT: &str = "/rock-caller";

/// gfx targets above which the link command of a build needs a larger stack: its arguments are then more than a
/// quarter of the usual 8 MiB (measured at 10 targets: 2,273,941 bytes).
const TARGETS_WITHIN_USUAL_STACK: usize = 3;

/// A container to start.
#[derive(Debug, Clone)]
pub struct Container<'a> {
    /// The program that runs it.
    pub engine: Engine,
    /// Image reference.
    pub image: &'a str,
    /// Whether it gets the GPU.
    pub devices: Devices,
    /// The job's folder on the host, absolute.
    pub folder: &'a str,
    /// The folder that relative source paths start from, absolute; `None` when the recipe copies nothing from it.
    pub caller: Option<&'a str>,
    /// Numeric ids of the groups that own the device nodes, where they were read.
    pub device_gids: &'a [u32],
    /// Names of variables passed on from the caller's environment.
    pub pass_env: &'a [String],
    /// Further arguments, after those of the matrix file.
    pub extra: &'a [String],
    /// A name to stop it by.
    pub name: Option<&'a str>,
}

/// The argv that builds `job`: the engine, its options, the image, and the script in the job's folder.
pub fn argv(job: &Job, container: &Container<'_>) -> Vec<String> {
    let docker = &job.settings.docker;
    let mut argv: Vec<String> = [container.engine.program(), "run", "--rm"].map(str::to_owned).into();
    let mut add = |word: String| argv.push(word);
    if let Some(name) = container.name {
        add(format!("--name={name}"));
    }
    if container.devices == Devices::Present {
        for node in DEVICE_NODES {
            add(format!("--device={node}"));
        }
        for group in groups(job, container) {
            add("--group-add".to_owned());
            add(group);
        }
        add("--cap-add=SYS_PTRACE".to_owned());
        add("--security-opt".to_owned());
        add("seccomp=unconfined".to_owned());
    }
    add("--ipc=host".to_owned());
    if !docker.shm_size.is_empty() {
        add("--shm-size".to_owned());
        add(docker.shm_size.clone());
    }
    if job.gfx.len() > TARGETS_WITHIN_USUAL_STACK {
        add("--ulimit".to_owned());
        add("stack=67108864:67108864".to_owned());
    }
    for name in container.pass_env {
        add(format!("--env={name}"));
    }
    add(format!("--volume={}:{MOUNT}", container.folder));
    if let Some(caller) = container.caller {
        add(format!("--volume={caller}:{CALLER_MOUNT}:ro"));
    }
    add(format!("--workdir={MOUNT}"));
    for word in docker.args.iter().chain(container.extra) {
        add(word.clone());
    }
    add(container.image.to_owned());
    add("bash".to_owned());
    add(format!("{MOUNT}/build.sh"));
    argv
}

/// Numbers where they were read (a name is looked up in the image, whose group file may lack it), else names.
fn groups(job: &Job, container: &Container<'_>) -> Vec<String> {
    let docker = &job.settings.docker;
    if docker.gid == GroupIds::Auto && !container.device_gids.is_empty() {
        return container.device_gids.iter().map(ToString::to_string).collect();
    }
    docker.groups.clone()
}
