//! The argv of the container that a job builds in. It is made here and nowhere else: `render`
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
    /// The program's name.
    pub fn program(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
        }
    }

    /// The engine whose program has this name.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Docker, Self::Podman]
            .into_iter()
            .find(|engine| engine.program() == word)
    }
}

/// Whether the container gets the GPU's device nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceAccess {
    /// With them, and with what using them asks for.
    Present,
    /// Without.
    Absent,
}

impl DeviceAccess {
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

/// Variables that say through which proxy programs reach the network. curl reads the lower-case
/// forms, Go and others both.
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
    /// A file with variables that isolate the GPU, which the container gets.
    pub env_file: Option<String>,
    /// Render nodes below `/dev/dri` that take the place of all of them.
    pub render_nodes: Vec<String>,
}

/// Reads the render nodes of `gha-render-devices`, a text of engine options such as
/// `--device /dev/dri/renderD129`. Without any, all nodes are meant.
///
/// # Errors
/// When it has anything but devices below `/dev/dri`: its words would become options of the engine.
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

/// Where the job's folder is mounted.
pub const MOUNT: &str = "/rock";

/// Where the folder that relative source paths start from is mounted, read-only.
pub const CALLER_MOUNT: &str = "/rock-caller";

/// gfx targets above which the link command of a build needs a larger stack: its arguments are then
/// more than a quarter of the usual 8 MiB (measured at 10 targets: 2,273,941 bytes).
const TARGETS_WITHIN_USUAL_STACK: usize = 3;

/// A container to start.
#[derive(Debug, Clone)]
pub struct ContainerRun<'a> {
    /// The program that runs it.
    pub engine: EngineProgram,
    /// Image reference.
    pub image: &'a str,
    /// Whether it gets the GPU.
    pub devices: DeviceAccess,
    /// The job's folder on the host, absolute.
    pub folder: &'a str,
    /// The folder that relative source paths start from, absolute; `None` when the recipe copies
    /// nothing from it.
    pub caller: Option<&'a str>,
    /// Numeric ids of the groups that own the device nodes, where they were read.
    pub device_gids: &'a [u32],
    /// The GPU of the job, where its runner has assigned one.
    pub assigned: Option<&'a AssignedGpu>,
    /// Names of variables passed on from the caller's environment.
    pub pass_env: &'a [String],
    /// Further arguments, after those of the matrix file.
    pub extra: &'a [String],
    /// A name to stop it by.
    pub name: Option<&'a str>,
}

/// Variables that a container gets from the caller where they are set there: secrets, what says
/// where a script begins and ends, and numbers of parallel jobs, which always win.
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

/// The argv that builds `job`: the engine, its options, the image, and the script in the job's
/// folder.
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
    // The host's shared memory is as large as the host made it: docker ignores a size for it, and
    // podman refuses one ("cannot set shmsize when running in the host IPC Namespace", podman
    // 4.3.1).
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

/// A name for the container of a job: the same for every build in one folder, another for each
/// folder.
pub fn name(id: &str, folder: &str) -> String {
    use sha2::Digest;
    let digest = rock_names::Digest::new(sha2::Sha256::digest(folder.as_bytes()).into()).to_hex();
    format!("rock-{id}-{}", &digest[..8])
}

/// The argv that ends a container and removes it.
pub fn removal(engine: EngineProgram, name: &str) -> Vec<String> {
    [engine.program(), "rm", "--force", name]
        .map(str::to_owned)
        .into()
}

/// The argv that prints what an image's name means: its digest in a registry, else its own id.
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

/// The argv that gives the files of a job's folder to a user of the host: a container writes them
/// as its own root.
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

/// A folder of the host inside the container. `--volume` ends a path at a colon; `--mount` reads a
/// line of CSV, in which quotes keep everything together.
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

/// The groups that may use a GPU by the names of most systems; their numbers differ.
const DEVICE_GROUPS: [&str; 2] = ["video", "render"];

/// Groups of the matrix file; those of the device nodes by number where the numbers were read,
/// because a name is looked up in the image, whose group file may lack it.
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

/// The image that a job builds in, `chosen` by hand or the plan's, and what a person should know
/// about it.
///
/// # Errors
/// When there is none, when it must be pinned and is not, or when its Python is not the job's and
/// no other is used.
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
            .filter(|warning| warning.contains("image"));
        let fault = notes.fold(fault, |fault, note| fault.note(note.clone()));
        return Err(
            fault.help("name one with `--image`, or with `image: {tag: …}` in the matrix file")
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
        let message = format!("image `{image}` holds Python {inside}, and the job is for {python}");
        return Err(Diagnostic::new(&codes::WRONG_PYTHON, message).help(format!(
            "take an image with Python {python}, or set `python-from: uv`"
        )));
    }
    let mut told = Vec::new();
    if !is_pinned(image) && job.settings.image.digest != DigestRule::Ignore {
        let unpinned = Diagnostic::new(&codes::UNPINNED_IMAGE, format!("image `{image}` is not pinned by a digest"))
            .help("add `@sha256:…` to it; `docker image inspect` or `podman image inspect` shows the digest of one that was pulled");
        if job.settings.image.digest == DigestRule::Require {
            return Err(unpinned.severity(Severity::Error));
        }
        told.push(unpinned);
    }
    Ok((image, told))
}

/// Whether a reference names bytes: `name@sha256:` and 64 hexadecimal digits.
fn is_pinned(image: &str) -> bool {
    image
        .split_once("@sha256:")
        .is_some_and(|(_, hex)| hex.len() == 64 && hex.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// The Python that a tag names, `_py3.10_`.
fn python_of(image: &str) -> Option<PythonVersion> {
    let tag = image
        .split_once('@')
        .map_or(image, |(tag, _)| tag)
        .rsplit_once(':')?
        .1;
    tag.split('_')
        .find_map(|part| part.strip_prefix("py")?.parse().ok())
}
