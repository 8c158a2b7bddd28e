//! Reads host facts from `/sys`, `/proc`, `/dev`, `/etc` and `/opt`, and from the output of
//! programs.
//!
//! The texts are parsed by [`rock_host`].

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Environment;
use super::probe::{ProgramOutput, find_program, probe};
use rock_host::cgroup::{self, CgroupLimit, CgroupLimits};
use rock_host::device::{AccessError, DeviceMetadata, DeviceNode, DeviceState};
use rock_host::kfd::NodeFiles;
use rock_host::{
    ContainerEngine, DiskSpace, GpuTopology, HostFacts, PYTHON_FACTS_SCRIPT, PythonFacts,
    RocmInstallation, RuntimeOverrides, UnreadableFile, proc,
};

/// Maximum size in bytes of a file in `/proc` or `/sys`; such files are small.
const FILE_LIMIT_BYTES: u64 = 4 << 20;
/// Time limit for a program to print its version.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// The root directories that host facts are read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRoots {
    /// The directory with `proc`, `dev`, `etc` and `opt`: `/`, or a directory tree in a test.
    pub machine: PathBuf,
    /// The directory with `sys`, if GPUs are read from a copy instead of this machine.
    pub sysfs: Option<PathBuf>,
}

impl Default for HostRoots {
    fn default() -> Self {
        Self {
            machine: PathBuf::from("/"),
            sysfs: None,
        }
    }
}

/// Reads host facts from files only, without starting programs. Free space is reported for
/// `directories`.
///
/// Files that exist but cannot be read or parsed are listed in [`HostFacts::unreadable`].
pub fn read_host_facts(
    roots: &HostRoots,
    environment: &Environment,
    directories: &[PathBuf],
) -> HostFacts {
    let mut reader = HostReader {
        machine: &roots.machine,
        unreadable: Vec::new(),
    };
    let topology = read_topology(roots.sysfs.as_deref().unwrap_or(&roots.machine));
    let cgroup_names = reader.read("proc/self/cgroup").unwrap_or_default();
    let facts = HostFacts {
        kfd: roots
            .sysfs
            .is_none()
            .then(|| device_state(&roots.machine.join("dev/kfd"))),
        render_nodes: if roots.sysfs.is_none() {
            render_nodes(&roots.machine)
        } else {
            Vec::new()
        },
        topology,
        process: reader
            .parse("proc/self/status", proc::parse_status)
            .unwrap_or_default(),
        group_names: reader
            .read("etc/group")
            .map(|text| proc::parse_groups(&text))
            .unwrap_or_default(),
        memory: reader
            .parse("proc/meminfo", proc::parse_meminfo)
            .unwrap_or_default(),
        cpus_online: reader
            .read("proc/stat")
            .map_or(0, |text| proc::count_online_cpus(&text)),
        cgroup: reader.cgroup_limits(&cgroup_names),
        disks: directories
            .iter()
            .filter_map(|directory| disk_space(directory))
            .collect(),
        container: container(&roots.machine, environment, &cgroup_names),
        engines: Vec::new(),
        overrides: overrides(environment),
        rocm: rocm_installs(&roots.machine, environment),
        rocm_path: rocm_path(environment).map(str::to_owned),
        hip_version: None,
        ninja_version: None,
        python: None,
        unreadable: Vec::new(),
    };
    HostFacts {
        unreadable: reader.unreadable,
        ..facts
    }
}

/// Adds the HIP version, as printed by `hipconfig`.
pub fn add_hip_version(facts: HostFacts, environment: &Environment) -> HostFacts {
    HostFacts {
        hip_version: hip_version(environment),
        ..facts
    }
}

/// Adds facts printed by programs: versions of container engines, HIP, ninja, Python and its torch.
pub fn add_program_versions(facts: HostFacts, environment: &Environment) -> HostFacts {
    HostFacts {
        engines: ["docker", "podman"]
            .map(|name| engine(name, environment))
            .to_vec(),
        hip_version: hip_version(environment),
        ninja_version: find_program("ninja", environment).and_then(|ninja| {
            probe(&ninja, &["--version"], environment, PROBE_TIMEOUT).first_line_of_success()
        }),
        python: read_python_facts(environment),
        ..facts
    }
}

/// Runs the `python3` of the `PATH` to describe itself and its torch; `None` if there is none or it
/// fails.
pub fn read_python_facts(environment: &Environment) -> Option<PythonFacts> {
    let program = find_program("python3", environment)?;
    let answer = probe(
        &program,
        &["-c", PYTHON_FACTS_SCRIPT],
        environment,
        PROBE_TIMEOUT,
    );
    PythonFacts::parse(&program.display().to_string(), &answer.stdout).filter(|_| answer.succeeded)
}

/// Reads the GPUs from `sys` below `root`.
pub fn read_topology(root: &Path) -> GpuTopology {
    let directory = root.join("sys/class/kfd/kfd/topology/nodes");
    let shown = directory.display().to_string();
    let Ok(entries) = fs::read_dir(&directory) else {
        return GpuTopology {
            directory: shown,
            ..GpuTopology::default()
        };
    };
    let nodes = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let node = entry.file_name().to_str()?.parse().ok()?;
        Some(read_node_files(node, &entry.path()))
    });
    GpuTopology::from_nodes(shown, nodes.collect())
}

fn read_node_files(node: u32, directory: &Path) -> NodeFiles {
    let banks = fs::read_dir(directory.join("mem_banks"))
        .into_iter()
        .flatten()
        .flatten();
    NodeFiles {
        node,
        gpu_id: read_small_text(&directory.join("gpu_id")),
        properties: read_small_text(&directory.join("properties")),
        mem_banks: banks
            .filter_map(|bank| read_small_text(&bank.path().join("properties")).ok())
            .collect(),
    }
}

fn read_small_text(path: &Path) -> Result<String, AccessError> {
    super::read_text(path, FILE_LIMIT_BYTES).map_err(|error| {
        let errno = error.source.as_ref().and_then(std::io::Error::raw_os_error);
        AccessError::from_errno(errno, error.reason)
    })
}

/// Examines a device node and tries to open it for reading and writing.
fn device_state(path: &Path) -> DeviceState {
    let access_error =
        |error: &std::io::Error| AccessError::from_errno(error.raw_os_error(), error.to_string());
    let status = fs::metadata(path)
        .map_err(|error| access_error(&error))
        .map(|status| DeviceMetadata {
            is_char_device: status.file_type().is_char_device(),
            gid: status.gid(),
            mode: status.mode(),
        });
    let opened = match &status {
        Ok(status) if status.is_char_device => {
            let mut options = fs::OpenOptions::new();
            options.read(true).write(true).custom_flags(OPEN_FLAGS);
            options
                .open(path)
                .map(drop)
                .map_err(|error| access_error(&error))
        }
        _ => Ok(()),
    };
    DeviceState::from_access(status, opened)
}

/// Flags for opening an unknown device: do not block, and do not make it the controlling terminal.
const OPEN_FLAGS: i32 =
    (rustix::fs::OFlags::NONBLOCK.bits() | rustix::fs::OFlags::NOCTTY.bits()).cast_signed();

fn render_nodes(machine: &Path) -> Vec<DeviceNode> {
    let entries = fs::read_dir(machine.join("dev/dri"))
        .into_iter()
        .flatten()
        .flatten();
    let mut nodes: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| {
            let number = entry
                .file_name()
                .to_str()?
                .strip_prefix("renderD")?
                .parse()
                .ok()?;
            Some((number, entry.path()))
        })
        .collect();
    nodes.sort();
    nodes
        .into_iter()
        .map(|(number, path)| DeviceNode {
            path: format!("/dev/dri/renderD{number}"),
            state: device_state(&path),
        })
        .collect()
}

fn disk_space(directory: &Path) -> Option<DiskSpace> {
    // A missing directory will be on the file system of its nearest existing parent.
    let existing = directory.ancestors().find(|ancestor| ancestor.is_dir())?;
    let space = rustix::fs::statvfs(existing).ok()?;
    Some(DiskSpace {
        directory: directory.display().to_string(),
        free_bytes: space.f_bavail.saturating_mul(space.f_frsize),
        total_bytes: space.f_blocks.saturating_mul(space.f_frsize),
    })
}

fn container(machine: &Path, environment: &Environment, cgroup_names: &str) -> Option<String> {
    let markers: Vec<&str> = ["/.dockerenv", "/run/.containerenv"]
        .into_iter()
        .filter(|file| machine.join(&file[1..]).exists())
        .collect();
    proc::container_evidence(&markers, environment.get("container"), cgroup_names)
}

fn engine(name: &str, environment: &Environment) -> ContainerEngine {
    let run = |arguments: &[&str]| match find_program(name, environment) {
        Some(program) => probe(&program, arguments, environment, PROBE_TIMEOUT),
        None => ProgramOutput::default(),
    };
    let (client, server) = if name == "docker" {
        // docker prints the client's version before it contacts the daemon.
        let client = run(&["version", "--format", "{{.Client.Version}}"]).first_line();
        let server = run(&["version", "--format", "{{.Server.Version}}"]).first_line_of_success();
        (client, server)
    } else {
        let version = run(&["version", "--format", "{{.Client.Version}}"]).first_line_of_success();
        (version.clone(), version)
    };
    ContainerEngine {
        name: name.to_owned(),
        client,
        server,
    }
}

fn overrides(environment: &Environment) -> RuntimeOverrides {
    let get = |name: &str| environment.get(name).map(str::to_owned);
    RuntimeOverrides {
        hsa_gfx_version: get("HSA_OVERRIDE_GFX_VERSION"),
        rocr_visible_devices: get("ROCR_VISIBLE_DEVICES"),
        hip_visible_devices: get("HIP_VISIBLE_DEVICES"),
    }
}

/// Returns `ROCM_PATH` without trailing slashes; `None` if it is unset or empty.
fn rocm_path(environment: &Environment) -> Option<&str> {
    environment
        .get("ROCM_PATH")
        .map(|path| path.trim_end_matches('/'))
        .filter(|path| !path.is_empty())
}

fn rocm_installs(machine: &Path, environment: &Environment) -> Vec<RocmInstallation> {
    let entries = fs::read_dir(machine.join("opt"))
        .into_iter()
        .flatten()
        .flatten();
    let mut found: Vec<RocmInstallation> = entries
        .filter_map(|entry| {
            let name = entry
                .file_name()
                .into_string()
                .ok()
                .filter(|name| name.starts_with("rocm"))?;
            let version = read_small_text(&entry.path().join(".info/version"))
                .ok()?
                .trim()
                .to_owned();
            (!version.is_empty()).then(|| RocmInstallation {
                directory: format!("/opt/{name}"),
                version,
            })
        })
        .collect();
    let configured = rocm_path(environment)
        .filter(|directory| !found.iter().any(|install| install.directory == *directory));
    found.extend(configured.and_then(|directory| {
        let version = read_small_text(
            &machine
                .join(directory.trim_start_matches('/'))
                .join(".info/version"),
        )
        .ok()?;
        let version = version.trim().to_owned();
        (!version.is_empty()).then(|| RocmInstallation {
            directory: directory.to_owned(),
            version,
        })
    }));
    found.sort_by(|a, b| a.directory.cmp(&b.directory));
    found
}

fn hip_version(environment: &Environment) -> Option<String> {
    let program = find_program("hipconfig", environment)?;
    probe(&program, &["--version"], environment, PROBE_TIMEOUT).first_line_of_success()
}

/// Reads files below the root and records those that exist but are not usable.
#[derive(Debug)]
struct HostReader<'a> {
    machine: &'a Path,
    unreadable: Vec<UnreadableFile>,
}

impl HostReader<'_> {
    /// Returns the text of a file; `None` if it is missing or unreadable.
    fn read(&mut self, file: &str) -> Option<String> {
        match read_small_text(&self.machine.join(file)) {
            Ok(text) => Some(text),
            Err(AccessError::NotFound) => None,
            Err(error) => {
                self.report(file, format!("cannot be read: {error}"));
                None
            }
        }
    }

    /// Reads and parses a file; `None` if either fails.
    fn parse<T>(&mut self, file: &str, parse: fn(&str) -> Option<T>) -> Option<T> {
        let text = self.read(file)?;
        let value = parse(&text);
        if value.is_none() {
            self.report(
                file,
                "does not have the format that the kernel writes".to_owned(),
            );
        }
        value
    }

    fn report(&mut self, file: &str, reason: String) {
        self.unreadable.push(UnreadableFile {
            path: format!("/{file}"),
            reason,
        });
    }

    fn cgroup_limits(&mut self, cgroup_names: &str) -> CgroupLimits {
        let mut limits = CgroupLimits::default();
        let mountinfo = self.read("proc/self/mountinfo").unwrap_or_default();
        for hierarchy in cgroup::hierarchies(&mountinfo, cgroup_names) {
            for directory in hierarchy.directories {
                let path = directory.trim_start_matches('/').to_owned();
                let files = hierarchy
                    .kind
                    .files()
                    .iter()
                    .map(|file| format!("{path}/{file}"));
                let texts: Vec<String> = files.map_while(|file| self.read(&file)).collect();
                if texts.is_empty() {
                    continue;
                }
                match hierarchy.kind.limit(&texts) {
                    Ok(Some(value)) => {
                        limits.tighten(hierarchy.kind, CgroupLimit { value, directory });
                    }
                    Ok(None) => {}
                    Err(reason) => {
                        self.report(
                            &format!("{path}/{}", hierarchy.kind.files()[0]),
                            reason.to_string(),
                        );
                    }
                }
            }
        }
        limits
    }
}
