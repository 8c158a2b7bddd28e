//! Reads the texts that [`rock_host`] understands: below `/sys`, `/proc`, `/dev`, `/etc` and
//! `/opt`.

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

/// Files of `/proc` and `/sys` are small; one that is larger is not what it says.
const FILE_LIMIT_BYTES: u64 = 4 << 20;
/// How long an engine or `hipconfig` may take to say its version.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// Where a machine is read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRoots {
    /// The folder that holds `proc`, `dev`, `etc` and `opt`: `/`, or a tree in a test.
    pub machine: PathBuf,
    /// The folder that holds the `sys` of the GPUs, when it is another than the machine's own.
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

/// Reads the facts of a machine from files alone, in milliseconds; free space is looked at for
/// `folders`. What cannot be read is a fact too.
pub fn host_facts(roots: &HostRoots, environment: &Environment, folders: &[PathBuf]) -> HostFacts {
    let mut reader = HostReader {
        machine: &roots.machine,
        unreadable: Vec::new(),
    };
    let topology = topology(roots.sysfs.as_deref().unwrap_or(&roots.machine));
    let cgroup_names = reader.text("proc/self/cgroup").unwrap_or_default();
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
            .parsed("proc/self/status", proc::parse_status)
            .unwrap_or_default(),
        group_names: reader
            .text("etc/group")
            .map(|text| proc::parse_groups(&text))
            .unwrap_or_default(),
        memory: reader
            .parsed("proc/meminfo", proc::parse_meminfo)
            .unwrap_or_default(),
        cpus_online: reader
            .text("proc/stat")
            .map_or(0, |text| proc::count_online_cpus(&text)),
        cgroup: reader.cgroup_limits(&cgroup_names),
        disks: folders.iter().filter_map(|folder| disk(folder)).collect(),
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

/// Adds the version of HIP, as `hipconfig` says it.
pub fn with_hip(facts: HostFacts, environment: &Environment) -> HostFacts {
    HostFacts {
        hip_version: hip_version(environment),
        ..facts
    }
}

/// Adds what programs must be asked for: the versions of the container engines, of HIP, of ninja,
/// of Python and of its torch.
pub fn with_programs(facts: HostFacts, environment: &Environment) -> HostFacts {
    HostFacts {
        engines: ["docker", "podman"]
            .map(|name| engine(name, environment))
            .to_vec(),
        hip_version: hip_version(environment),
        ninja_version: find_program("ninja", environment).and_then(|ninja| {
            probe(&ninja, &["--version"], environment, PROBE_TIMEOUT).first_line_of_success()
        }),
        python: python(environment),
        ..facts
    }
}

/// What the `python3` of the `PATH` says of itself and its torch; `None` where there is none that
/// answers.
pub fn python(environment: &Environment) -> Option<PythonFacts> {
    let program = find_program("python3", environment)?;
    let answer = probe(
        &program,
        &["-c", PYTHON_FACTS_SCRIPT],
        environment,
        PROBE_TIMEOUT,
    );
    PythonFacts::parse(&program.display().to_string(), &answer.stdout).filter(|_| answer.succeeded)
}

/// Reads the GPUs below `root/sys`.
pub fn topology(root: &Path) -> GpuTopology {
    let folder = root.join("sys/class/kfd/kfd/topology/nodes");
    let shown = folder.display().to_string();
    let Ok(entries) = fs::read_dir(&folder) else {
        return GpuTopology {
            directory: shown,
            ..GpuTopology::default()
        };
    };
    let nodes = entries.filter_map(|entry| {
        let entry = entry.ok()?;
        let node = entry.file_name().to_str()?.parse().ok()?;
        Some(node_text(node, &entry.path()))
    });
    GpuTopology::from_nodes(shown, nodes.collect())
}

fn node_text(node: u32, folder: &Path) -> NodeFiles {
    let banks = fs::read_dir(folder.join("mem_banks"))
        .into_iter()
        .flatten()
        .flatten();
    NodeFiles {
        node,
        gpu_id: small_text(&folder.join("gpu_id")),
        properties: small_text(&folder.join("properties")),
        mem_banks: banks
            .filter_map(|bank| small_text(&bank.path().join("properties")).ok())
            .collect(),
    }
}

fn small_text(path: &Path) -> Result<String, AccessError> {
    super::read_text(path, FILE_LIMIT_BYTES).map_err(|error| {
        let errno = error.source.as_ref().and_then(std::io::Error::raw_os_error);
        AccessError::from_errno(errno, error.reason)
    })
}

/// Looks at a device node: its status, and whether it opens for reading and writing.
fn device_state(path: &Path) -> DeviceState {
    let refusal =
        |error: &std::io::Error| AccessError::from_errno(error.raw_os_error(), error.to_string());
    let status = fs::metadata(path)
        .map_err(|error| refusal(&error))
        .map(|status| DeviceMetadata {
            is_char_device: status.file_type().is_char_device(),
            gid: status.gid(),
            mode: status.mode(),
        });
    let opened = match &status {
        Ok(status) if status.is_char_device => {
            let mut options = fs::OpenOptions::new();
            options.read(true).write(true).custom_flags(NO_WAIT);
            options
                .open(path)
                .map(drop)
                .map_err(|error| refusal(&error))
        }
        _ => Ok(()),
    };
    DeviceState::from_access(status, opened)
}

/// A device at that name may be anything: opening it must neither wait nor become our terminal.
const NO_WAIT: i32 =
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

fn disk(folder: &Path) -> Option<DiskSpace> {
    // A folder that is not made yet lies on the file system of the nearest one that is.
    let existing = folder.ancestors().find(|ancestor| ancestor.is_dir())?;
    let space = rustix::fs::statvfs(existing).ok()?;
    Some(DiskSpace {
        directory: folder.display().to_string(),
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
    let said = |arguments: &[&str]| match find_program(name, environment) {
        Some(program) => probe(&program, arguments, environment, PROBE_TIMEOUT),
        None => ProgramOutput::default(),
    };
    let (client, server) = if name == "docker" {
        // The first half is printed before the daemon is asked, so a daemon that is down still
        // tells the client.
        let client = said(&["version", "--format", "{{.Client.Version}}"]).first_line();
        let server = said(&["version", "--format", "{{.Server.Version}}"]).first_line_of_success();
        (client, server)
    } else {
        let version = said(&["version", "--format", "{{.Client.Version}}"]).first_line_of_success();
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

/// The folder of `ROCM_PATH`; an empty variable is none.
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
            let version = small_text(&entry.path().join(".info/version"))
                .ok()?
                .trim()
                .to_owned();
            (!version.is_empty()).then(|| RocmInstallation {
                directory: format!("/opt/{name}"),
                version,
            })
        })
        .collect();
    let elsewhere = rocm_path(environment)
        .filter(|folder| !found.iter().any(|install| install.directory == *folder));
    found.extend(elsewhere.and_then(|folder| {
        let version = small_text(
            &machine
                .join(folder.trim_start_matches('/'))
                .join(".info/version"),
        )
        .ok()?;
        let version = version.trim().to_owned();
        (!version.is_empty()).then(|| RocmInstallation {
            directory: folder.to_owned(),
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

/// Reads files of the machine and remembers those that are there but tell nothing.
#[derive(Debug)]
struct HostReader<'a> {
    machine: &'a Path,
    unreadable: Vec<UnreadableFile>,
}

impl HostReader<'_> {
    /// A file's text, if it is there.
    fn text(&mut self, file: &str) -> Option<String> {
        match small_text(&self.machine.join(file)) {
            Ok(text) => Some(text),
            Err(AccessError::NotFound) => None,
            Err(refusal) => {
                self.wrong(file, format!("cannot be read: {refusal}"));
                None
            }
        }
    }

    fn parsed<T>(&mut self, file: &str, parse: fn(&str) -> Option<T>) -> Option<T> {
        let text = self.text(file)?;
        let value = parse(&text);
        if value.is_none() {
            self.wrong(file, "is not what the kernel writes".to_owned());
        }
        value
    }

    fn wrong(&mut self, file: &str, reason: String) {
        self.unreadable.push(UnreadableFile {
            path: format!("/{file}"),
            reason,
        });
    }

    fn cgroup_limits(&mut self, cgroup_names: &str) -> CgroupLimits {
        let mut limits = CgroupLimits::default();
        let mountinfo = self.text("proc/self/mountinfo").unwrap_or_default();
        for hierarchy in cgroup::hierarchies(&mountinfo, cgroup_names) {
            for folder in hierarchy.directories {
                let inside = folder.trim_start_matches('/').to_owned();
                let files = hierarchy
                    .kind
                    .files()
                    .iter()
                    .map(|file| format!("{inside}/{file}"));
                let texts: Vec<String> = files.map_while(|file| self.text(&file)).collect();
                if texts.is_empty() {
                    continue;
                }
                match hierarchy.kind.limit(&texts) {
                    Ok(Some(value)) => limits.tighten(
                        hierarchy.kind,
                        CgroupLimit {
                            value,
                            directory: folder,
                        },
                    ),
                    Ok(None) => {}
                    Err(error) => {
                        self.wrong(
                            &format!("{inside}/{}", hierarchy.kind.files()[0]),
                            error.to_string(),
                        );
                    }
                }
            }
        }
        limits
    }
}
