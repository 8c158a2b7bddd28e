//! Everything known of a machine, and what a build may conclude from it.

use std::collections::{BTreeMap, BTreeSet};

use super::cgroup::CgroupLimits;
use super::device::{DeviceNode, DeviceState};
use super::kfd::Topology;
use super::proc::{Memory, Process};
use super::python::PythonFacts;
use rock_names::{GfxTarget, RocmVersion};

/// What was seen of a machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostFacts {
    /// GPUs, as the kernel driver lists them.
    pub topology: Topology,
    /// `/dev/kfd`; `None` when it was not looked at because the topology is another machine's.
    pub kfd: Option<DeviceState>,
    /// `/dev/dri/renderD*`, by number.
    pub render_nodes: Vec<DeviceNode>,
    /// User, groups and CPUs of this process.
    pub process: Process,
    /// Names of the groups of `/etc/group`, by number.
    pub group_names: BTreeMap<u32, String>,
    /// Memory of the machine.
    pub memory: Memory,
    /// CPUs that are online.
    pub cpus_online: u32,
    /// Limits of the control group this process is in.
    pub cgroup: CgroupLimits,
    /// Free space below the folders that were asked for.
    pub disks: Vec<Disk>,
    /// What says that this is a container, if anything does.
    pub container: Option<String>,
    /// Container engines, docker before podman.
    pub engines: Vec<Engine>,
    /// Variables that change what programs see of the GPUs.
    pub overrides: Overrides,
    /// ROCm installations, by folder.
    pub rocm: Vec<RocmInstall>,
    /// The folder that `ROCM_PATH` names, without a slash at its end.
    pub rocm_path: Option<String>,
    /// What `hipconfig --version` says.
    pub hip_version: Option<String>,
    /// What `ninja --version` says.
    pub ninja_version: Option<String>,
    /// The interpreter that `python3` starts.
    pub python: Option<PythonFacts>,
    /// Files that are there but could not be read or understood.
    pub unreadable: Vec<Unreadable>,
}

/// Free space below a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disk {
    /// The folder.
    pub folder: String,
    /// Bytes that this user may still write.
    pub free_bytes: u64,
    /// Bytes that the file system has.
    pub total_bytes: u64,
}

/// A container engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// `docker` or `podman`.
    pub name: String,
    /// The client's version; `None` when there is no such program.
    pub client: Option<String>,
    /// The daemon's version; the client's own for engines without a daemon; `None` when nothing
    /// answers.
    pub server: Option<String>,
}

/// Variables that change what programs see at run time. They change nothing in `/sys`, so build
/// targets ignore them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `HSA_OVERRIDE_GFX_VERSION`, `11.0.0`.
    pub hsa_gfx_version: Option<String>,
    /// `ROCR_VISIBLE_DEVICES`.
    pub rocr_visible_devices: Option<String>,
    /// `HIP_VISIBLE_DEVICES`.
    pub hip_visible_devices: Option<String>,
}

/// A folder with a ROCm installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RocmInstall {
    /// The folder, `/opt/rocm`.
    pub folder: String,
    /// The text of its `.info/version`, `6.2.4-123`.
    pub version: String,
}

/// A file that is there but tells nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The file.
    pub path: String,
    /// Why.
    pub reason: String,
}

impl Overrides {
    /// The target that `HSA_OVERRIDE_GFX_VERSION` makes programs see: `major.minor.step` in
    /// decimal. `None` when unset, an error when it is no such version.
    ///
    /// # Errors
    /// With the text as it is set.
    pub fn runtime_target(&self) -> Result<Option<GfxTarget>, &str> {
        let Some(text) = self.hsa_gfx_version.as_deref() else {
            return Ok(None);
        };
        let numbers: Option<Vec<u32>> = text.split('.').map(|part| part.parse().ok()).collect();
        match numbers.as_deref() {
            Some([major @ 1..=99, minor @ 0..=15, step @ 0..=15]) => Ok(
                GfxTarget::from_kfd_version(major * 10_000 + minor * 100 + step),
            ),
            _ => Err(text),
        }
    }
}

/// The gfx targets of the machine's GPUs, each once, sorted. Overrides of the runtime do not count.
pub fn gfx_targets(facts: &HostFacts) -> Vec<GfxTarget> {
    facts
        .topology
        .gpus
        .iter()
        .map(|gpu| gpu.target.clone())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

/// Returns the ROCm of the machine: that of `ROCM_PATH`, else of `/opt/rocm`, else of the only
/// installation, else the one that `of_hip` gives for the version of HIP. `None` where there is
/// none, or several of which none is chosen.
pub fn system_rocm(
    facts: &HostFacts,
    of_hip: impl Fn(&RocmVersion) -> Option<RocmVersion>,
) -> Option<RocmVersion> {
    let in_folder = |folder: &str| facts.rocm.iter().find(|install| install.folder == folder);
    let only = || facts.rocm.first().filter(|_| facts.rocm.len() == 1);
    let install = match &facts.rocm_path {
        Some(folder) => in_folder(folder),
        None => in_folder("/opt/rocm").or_else(only),
    };
    match install {
        Some(install) => {
            RocmVersion::from_leading_numbers(install.version.split('-').next().unwrap_or_default())
        }
        None if facts.rocm.is_empty() || facts.rocm_path.is_some() => of_hip(
            &RocmVersion::from_leading_numbers(facts.hip_version.as_deref()?)?,
        ),
        None => None,
    }
}

/// Threads that a build may use: online CPUs, those this process may run on, and the control
/// group's quota, whichever is least; a broken quota is rounded down, and one thread is always
/// left.
pub fn build_threads(facts: &HostFacts) -> u32 {
    let quota = facts
        .cgroup
        .cpu_millis
        .as_ref()
        .map(|limit| u32::try_from(limit.value / 1000).unwrap_or(u32::MAX));
    [Some(facts.cpus_online), facts.process.cpus_allowed, quota]
        .into_iter()
        .flatten()
        .min()
        .unwrap_or(1)
        .max(1)
}

/// Memory in bytes that a build may use: the machine's or the control group's, whichever is less.
pub fn build_memory_bytes(facts: &HostFacts) -> u64 {
    let limit = facts
        .cgroup
        .memory_bytes
        .as_ref()
        .map_or(u64::MAX, |limit| limit.value);
    facts.memory.total_bytes.min(limit)
}

/// Numeric groups that own `/dev/kfd` and the render nodes, without root's: what `--group-add`
/// needs.
///
/// Numbers, because an engine looks names up in the image, where `render` is often missing.
pub fn device_group_ids(facts: &HostFacts) -> Vec<u32> {
    let kfd = facts.kfd.as_ref().and_then(DeviceState::gid);
    let nodes = facts
        .render_nodes
        .iter()
        .filter_map(|node| node.state.gid());
    kfd.into_iter()
        .chain(nodes)
        .filter(|gid| *gid != 0)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

/// Whether a GPU is there that this process can open.
pub fn has_usable_gpu(facts: &HostFacts) -> bool {
    !facts.topology.gpus.is_empty() && facts.kfd.as_ref().is_some_and(DeviceState::is_usable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cgroup::Limit;
    use crate::kfd::Gpu;

    fn machine(cpus: u32, gib: u64) -> HostFacts {
        HostFacts {
            cpus_online: cpus,
            memory: Memory {
                total_bytes: gib << 30,
                available_bytes: gib << 30,
            },
            ..HostFacts::default()
        }
    }

    fn limit(value: u64) -> Limit {
        Limit {
            value,
            folder: "/sys/fs/cgroup/job".to_owned(),
        }
    }

    #[test]
    fn a_control_group_below_the_host_decides_threads_and_memory() {
        let mut facts = machine(64, 251);
        assert_eq!(
            (build_threads(&facts), build_memory_bytes(&facts)),
            (64, 251 << 30)
        );
        facts.cgroup = CgroupLimits {
            cpu_millis: Some(limit(8_500)),
            memory_bytes: Some(limit(31 << 30)),
        };
        assert_eq!(
            (build_threads(&facts), build_memory_bytes(&facts)),
            (8, 31 << 30)
        );
        facts.process.cpus_allowed = Some(4);
        assert_eq!(build_threads(&facts), 4);
    }

    #[test]
    fn a_limit_above_the_host_changes_nothing_and_one_thread_is_always_left() {
        let mut facts = machine(2, 7);
        facts.cgroup = CgroupLimits {
            cpu_millis: Some(limit(64_000)),
            memory_bytes: Some(limit(1 << 50)),
        };
        assert_eq!(
            (build_threads(&facts), build_memory_bytes(&facts)),
            (2, 7 << 30)
        );
        facts.cgroup.cpu_millis = Some(limit(250));
        assert_eq!(build_threads(&facts), 1);
        assert_eq!(build_threads(&HostFacts::default()), 1);
    }

    #[test]
    fn the_runtime_override_is_decimal_and_never_a_build_target() {
        let over = |text: &str| Overrides {
            hsa_gfx_version: Some(text.to_owned()),
            ..Overrides::default()
        };
        let target = |text: &str| {
            over(text)
                .runtime_target()
                .map(|t| t.map(|t| t.to_string()))
                .map_err(str::to_owned)
        };
        assert_eq!(target("11.0.0"), Ok(Some("gfx1100".to_owned())));
        assert_eq!(target("9.0.10"), Ok(Some("gfx90a".to_owned())));
        for text in ["11.0", "gfx1100", "11.0.16", "0.0.0", "11.0.0.0"] {
            assert_eq!(target(text), Err(text.to_owned()));
        }
        let gpu = Gpu {
            node: 1,
            target: "gfx1151".parse().unwrap(),
            compute_units: None,
            vram_bytes: None,
            render_minor: None,
            pci_location: None,
            device_id: None,
            xcc_count: None,
            gpu_id: Ok(1),
        };
        let facts = HostFacts {
            topology: Topology {
                gpus: vec![gpu],
                ..Topology::default()
            },
            overrides: over("11.0.0"),
            ..HostFacts::default()
        };
        assert_eq!(
            gfx_targets(&facts)
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>(),
            ["gfx1151"]
        );
    }

    #[test]
    fn groups_of_the_devices_are_numbers_each_once_without_root() {
        let node = |number, gid| DeviceNode {
            path: format!("/dev/dri/renderD{number}"),
            state: DeviceState::NoPermission { gid, mode: 0o660 },
        };
        let facts = HostFacts {
            kfd: Some(DeviceState::Usable {
                gid: 105,
                mode: 0o660,
            }),
            render_nodes: vec![node(128, 105), node(129, 44), node(130, 0)],
            ..HostFacts::default()
        };
        assert_eq!(device_group_ids(&facts), [44, 105]);
    }

    #[test]
    fn the_rocm_of_a_machine_is_the_one_that_is_chosen() {
        let rocm = |installs: &[(&str, &str)], path: Option<&str>, hip: Option<&str>| {
            let install = |(folder, version): &(&str, &str)| RocmInstall {
                folder: (*folder).to_owned(),
                version: (*version).to_owned(),
            };
            let facts = HostFacts {
                rocm: installs.iter().map(install).collect(),
                rocm_path: path.map(str::to_owned),
                hip_version: hip.map(str::to_owned),
                ..HostFacts::default()
            };
            system_rocm(&facts, |hip| Some(hip.minor())).map(|version| version.to_string())
        };
        let (six, seven, linked) = (
            ("/opt/rocm-6.2.4", "6.2.4-123"),
            ("/opt/rocm-7.1", "7.1.0-9"),
            ("/opt/rocm", "7.1.0-9"),
        );
        assert_eq!(rocm(&[six], None, None).as_deref(), Some("6.2.4"));
        assert_eq!(
            rocm(&[linked, six, seven], None, None).as_deref(),
            Some("7.1.0")
        );
        assert_eq!(
            rocm(&[six, seven], Some("/opt/rocm-6.2.4"), None).as_deref(),
            Some("6.2.4")
        );
        assert_eq!(
            rocm(&[six, seven], None, Some("5.2.21153-0")),
            None,
            "several, and none is chosen"
        );
        assert_eq!(
            rocm(&[six], Some("/usr"), Some("5.2.21153-0")).as_deref(),
            Some("5.2"),
            "not the other one"
        );
        assert_eq!(rocm(&[], None, Some("5.2.21153-0")).as_deref(), Some("5.2"));
        assert_eq!(rocm(&[], None, None), None);
    }
}
