//! The argument vector of the container that a job builds in. It is created only here: `render`
//! prints it, `build` runs it.

use super::Build;
use crate::codes::build as codes;
use rock_diagnostic::{Diagnostic, Severity};
use rock_names::PythonVersion;
use rock_plan::Job;
use rock_plan::config::{DigestRule, GpuPolicy, GroupIds};

/// The program that runs containers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineProgram {
    /// Docker.
    Docker,
    /// Podman.
    Podman,
}

impl EngineProgram {
    /// Returns the program's name.
    pub fn program(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
        }
    }

    /// Returns the engine whose program has this name.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Docker, Self::Podman]
            .into_iter()
            .find(|engine| engine.program() == word)
    }
}

/// The access of a container to the GPU's device nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceAccess {
    /// With the device nodes, and the options that using them requires.
    Present,
    /// Without the device nodes.
    Absent,
}

impl DeviceAccess {
    /// Resolves a policy on a machine that has the device nodes or lacks them.
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

/// Variables that configure the network proxy. curl reads the lowercase forms; Go and others read
/// both.
pub const PROXY_VARIABLES: [&str; 8] = [
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "https_proxy",
    "http_proxy",
    "no_proxy",
    "all_proxy",
];

/// The variable with which a runner limits a job to its GPUs; AMD's runners set it
/// (ROCm/rocm-libraries, container options of its tests: "Pass host's GPU isolation env var to
/// container").
pub const VISIBLE_GPUS: &str = "ROCR_VISIBLE_DEVICES";

/// The GPU that a runner has assigned to a job, of several on its machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AssignedGpu {
    /// A file with the variables that isolate the GPU; the container gets them.
    pub env_file: Option<String>,
    /// Render nodes below `/dev/dri` that replace all of them; if empty, the container gets all.
    pub render_nodes: Vec<String>,
}

/// Parses the render nodes of `gha-render-devices`, a string of engine options such as
/// `--device /dev/dri/renderD129`. An empty list means all nodes.
///
/// # Errors
/// Returns the offending word if the text contains anything but devices below `/dev/dri`, because
/// its words would become options of the engine.
pub fn render_nodes(text: &str) -> Result<Vec<String>, String> {
    let mut nodes = Vec::new();
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        let node = match word.strip_prefix("--device=") {
            Some(node) => Some(node),
            None if word == "--device" => words.next(),
            None => None,
        };
        let is_node = |node: &&str| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "/_-:".contains(c);
            (*node == "/dev/dri" || node.starts_with("/dev/dri/")) && node.chars().all(is_plain)
        };
        match node.filter(is_node) {
            Some(node) => nodes.push(node.to_owned()),
            None => return Err(word.to_owned()),
        }
    }
    Ok(nodes)
}

/// The mount point of the job directory.
pub const MOUNT: &str = "/rock";

/// The read-only mount point of the directory that relative source paths start from.
pub const CALLER_MOUNT: &str = "/rock-caller";

/// The number of gfx targets above which the link command of a build needs a larger stack: its
/// arguments then take more than a quarter of the usual 8 MiB (measured at 10 targets: 2,273,941
/// bytes).
const TARGETS_WITHIN_USUAL_STACK: usize = 3;

/// A container to start.
#[derive(Debug, Clone)]
pub struct ContainerRun<'a> {
    /// The container engine.
    pub engine: EngineProgram,
    /// Image reference.
    pub image: &'a str,
    /// The access to the GPU's device nodes.
    pub devices: DeviceAccess,
    /// The job directory on the host, absolute.
    pub folder: &'a str,
    /// The directory that relative source paths start from, absolute; `None` if the recipe copies
    /// nothing from it.
    pub caller: Option<&'a str>,
    /// Numeric IDs of the groups that own the device nodes; empty if they were not read.
    pub device_gids: &'a [u32],
    /// The GPU that the runner has assigned to the job, if any.
    pub assigned: Option<&'a AssignedGpu>,
    /// Names of the variables that are passed on from the caller's environment.
    pub pass_env: &'a [String],
    /// Additional arguments, after those of the matrix file.
    pub extra: &'a [String],
    /// The container name, used to stop it.
    pub name: Option<&'a str>,
}

/// Returns the variables that a container inherits from the caller if they are set there: secrets,
/// the script's start and time cap, and numbers of parallel jobs, which always win.
pub fn passed_env(job: &Job, build: &Build) -> Vec<String> {
    let jobs = build
        .steps
        .iter()
        .filter_map(|step| step.jobs.as_ref().map(|jobs| jobs.variable.clone()));
    let of_script = ["ROCK_FROM", "ROCK_CAP_S"].map(str::to_owned);
    let mut names: Vec<String> = job
        .settings
        .secrets
        .iter()
        .cloned()
        .chain(jobs)
        .chain(of_script)
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Returns the argument vector that builds `job`: the engine, its options, the image, and the
/// script in the job directory.
pub fn argv(job: &Job, container: &ContainerRun<'_>) -> Vec<String> {
    let docker = &job.settings.docker;
    let mut argv: Vec<String> = [container.engine.program(), "run", "--rm"]
        .map(str::to_owned)
        .into();
    let mut add = |word: String| argv.push(word);
    if let Some(name) = container.name {
        add(format!("--name={name}"));
    }
    if container.devices == DeviceAccess::Present {
        let assigned = container.assigned;
        let nodes = assigned
            .map(|gpu| gpu.render_nodes.as_slice())
            .filter(|nodes| !nodes.is_empty());
        let [compute, render] = DEVICE_NODES;
        add(format!("--device={compute}"));
        match nodes {
            Some(nodes) => nodes
                .iter()
                .for_each(|node| add(format!("--device={node}"))),
            None => add(format!("--device={render}")),
        }
        if let Some(file) = assigned.and_then(|gpu| gpu.env_file.as_ref()) {
            add(format!("--env-file={file}"));
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
    // The size of the host's shared memory is fixed: docker ignores the option, and podman rejects
    // it ("cannot set shmsize when running in the host IPC Namespace", podman 4.3.1).
    if container.engine == EngineProgram::Docker && !docker.shm_size.is_empty() {
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
    add(mount(container.folder, MOUNT, ""));
    if let Some(caller) = container.caller {
        add(mount(caller, CALLER_MOUNT, "ro"));
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

/// Returns a name for the container of a job, the same for every build in one directory and
/// different for each directory.
pub fn name(id: &str, folder: &str) -> String {
    use sha2::Digest;
    let digest = rock_names::Digest::new(sha2::Sha256::digest(folder.as_bytes()).into()).to_hex();
    format!("rock-{id}-{}", &digest[..8])
}

/// Returns the argument vector that stops and removes a container.
pub fn removal(engine: EngineProgram, name: &str) -> Vec<String> {
    [engine.program(), "rm", "--force", name]
        .map(str::to_owned)
        .into()
}

/// Returns the argument vector that prints what an image name resolves to: its digest in a
/// registry, else its local ID.
pub fn inspection(engine: EngineProgram, image: &str) -> Vec<String> {
    const FORMAT: &str = "{{if .RepoDigests}}{{index .RepoDigests 0}}{{else}}{{.Id}}{{end}}";
    [
        engine.program(),
        "image",
        "inspect",
        "--format",
        FORMAT,
        image,
    ]
    .map(str::to_owned)
    .into()
}

/// Returns the argument vector that changes the owner of a job directory's files to a user of the
/// host, because a container writes them as its own root.
pub fn giving_back(
    engine: EngineProgram,
    image: &str,
    folder: &str,
    (uid, gid): (u32, u32),
) -> Vec<String> {
    let mut argv: Vec<String> = [engine.program(), "run", "--rm", "--network=none"]
        .map(str::to_owned)
        .into();
    argv.push(format!("--volume={folder}:{MOUNT}"));
    argv.push(image.to_owned());
    argv.extend(["chown", "-R"].map(str::to_owned));
    argv.extend([format!("{uid}:{gid}"), MOUNT.to_owned()]);
    argv
}

/// Returns the option that mounts a directory of the host in the container. `--volume` ends a path
/// at a colon; `--mount` takes a line of CSV, in which quotes keep a path together.
fn mount(folder: &str, target: &str, option: &str) -> String {
    let with = |sign: &str| {
        if option.is_empty() {
            String::new()
        } else {
            format!("{sign}{option}")
        }
    };
    if folder.contains(':') {
        return format!(
            "--mount=type=bind,\"source={}\",target={target}{}",
            folder.replace('"', "\"\""),
            with(",")
        );
    }
    format!("--volume={folder}:{target}{}", with(":"))
}

/// The usual names of the groups that may use a GPU; their numbers differ between systems.
const DEVICE_GROUPS: [&str; 2] = ["video", "render"];

/// Returns the groups of the matrix file. Unless it asks for names, the groups of the device nodes
/// are given by number if the numbers were read, because a name is looked up in the image, whose
/// group file may lack it.
fn groups(job: &Job, container: &ContainerRun<'_>) -> Vec<String> {
    let docker = &job.settings.docker;
    if docker.gid == GroupIds::Name || container.device_gids.is_empty() {
        return docker.groups.clone();
    }
    let numbers: Vec<String> = container
        .device_gids
        .iter()
        .map(ToString::to_string)
        .collect();
    let others = docker
        .groups
        .iter()
        .filter(|group| !DEVICE_GROUPS.contains(&group.as_str()));
    let others: Vec<String> = others
        .filter(|group| !numbers.contains(group))
        .cloned()
        .collect();
    numbers.into_iter().chain(others).collect()
}

/// Returns the image that a job builds in, either `chosen` by the user or the plan's, and warnings
/// about it.
///
/// # Errors
/// If there is no image, if it must be pinned and is not, or if the build uses the image's Python
/// and that is not the job's.
pub fn image<'a>(
    job: &'a Job,
    chosen: Option<&'a str>,
) -> Result<(&'a str, Vec<Diagnostic>), Diagnostic> {
    let Some(image) = chosen.or(job.image.as_deref()) else {
        let fault = Diagnostic::new(
            &codes::NO_IMAGE,
            format!("no container image is known for job `{}`", job.id),
        );
        let notes = job
            .warnings
            .iter()
            .filter(|warning| is_about_image(warning));
        let fault = notes.fold(fault, |fault, note| fault.note(note.clone()));
        return Err(
            fault.help("set one with `--image`, or with `image: {tag: …}` in the matrix file")
        );
    };
    if let (rock_plan::config::PythonFrom::Image, Some(python), Some(inside)) =
        (job.settings.python_from, job.python, python_of(image))
        && python != inside
        && !job
            .covers
            .values()
            .flatten()
            .any(|covered| covered.parse() == Ok(inside))
    {
        let message =
            format!("image `{image}` contains Python {inside}, but the job is for {python}");
        return Err(Diagnostic::new(&codes::WRONG_PYTHON, message).help(format!(
            "use an image with Python {python}, or set `python-from: uv`"
        )));
    }
    let mut warnings = Vec::new();
    if !is_pinned(image) && job.settings.image.digest != DigestRule::Ignore {
        let unpinned = Diagnostic::new(
            &codes::UNPINNED_IMAGE,
            format!("image `{image}` is not pinned by a digest"),
        )
        .help(
            "append `@sha256:…`; `docker image inspect` or `podman image inspect` shows the \
                digest of a pulled image",
        );
        if job.settings.image.digest == DigestRule::Require {
            return Err(unpinned.severity(Severity::Error));
        }
        warnings.push(unpinned);
    }
    Ok((image, warnings))
}

/// Whether a warning of a job says why it has no image, or another one than that of its versions.
pub(crate) fn is_about_image(warning: &str) -> bool {
    warning.starts_with("no ") && warning.contains("image")
}

/// Whether an image reference is pinned: `name@sha256:` and 64 hexadecimal digits.
fn is_pinned(image: &str) -> bool {
    image
        .split_once("@sha256:")
        .is_some_and(|(_, hex)| hex.len() == 64 && hex.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Returns the Python version that a tag names, `_py3.10_`.
fn python_of(image: &str) -> Option<PythonVersion> {
    let tag = image
        .split_once('@')
        .map_or(image, |(tag, _)| tag)
        .rsplit_once(':')?
        .1;
    tag.split('_')
        .find_map(|part| part.strip_prefix("py")?.parse().ok())
}
