//! The facts of a machine, and the resources and GPU targets of builds on it.

use std::collections::{BTreeMap, BTreeSet};

use super::cgroup::CgroupLimits;
use super::device::{DeviceNode, DeviceState};
use super::kfd::GpuTopology;
use super::proc::{MemoryInfo, ProcessInfo};
use super::python::PythonFacts;
use rock_names::{GfxTarget, RocmVersion};

/// The facts of a machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostFacts {
    /// The GPUs that the kernel driver lists.
    pub topology: GpuTopology,
    /// The state of `/dev/kfd`; `None` if the topology is that of another machine.
    pub kfd: Option<DeviceState>,
    /// `/dev/dri/renderD*`, by number.
    pub render_nodes: Vec<DeviceNode>,
    /// The user, groups and CPUs of this process.
    pub process: ProcessInfo,
    /// The names of the groups in `/etc/group`, by ID.
    pub group_names: BTreeMap<u32, String>,
    /// The memory of the machine.
    pub memory: MemoryInfo,
    /// The number of online CPUs.
    pub cpus_online: u32,
    /// The limits of the control groups that this process is in.
    pub cgroup: CgroupLimits,
    /// The free space of selected directories.
    pub disks: Vec<DiskSpace>,
    /// The evidence that this is a container, if there is any.
    pub container: Option<String>,
    /// The container engines, docker before podman.
    pub engines: Vec<ContainerEngine>,
    /// The environment variables that change which GPUs programs see.
    pub overrides: RuntimeOverrides,
    /// The ROCm installations, sorted by directory.
    pub rocm: Vec<RocmInstallation>,
    /// The value of `ROCM_PATH` without a trailing slash.
    pub rocm_path: Option<String>,
    /// The output of `hipconfig --version`.
    pub hip_version: Option<String>,
    /// The output of `ninja --version`.
    pub ninja_version: Option<String>,
    /// The interpreter that `python3` starts.
    pub python: Option<PythonFacts>,
    /// Files that exist but could not be read or parsed.
    pub unreadable: Vec<UnreadableFile>,
}

/// The free space of a directory's file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskSpace {
    /// The directory.
    pub directory: String,
    /// The number of bytes that this user can write.
    pub free_bytes: u64,
    /// The size of the file system in bytes.
    pub total_bytes: u64,
}

/// A container engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerEngine {
    /// The name, `docker` or `podman`.
    pub name: String,
    /// The version of the client; `None` if the program does not exist.
    pub client: Option<String>,
    /// The version of the daemon, or of the client for engines without one; `None` if the daemon
    /// does not answer.
    pub server: Option<String>,
}

/// Environment variables that change which GPUs programs see at run time.
///
/// They change nothing in `/sys`, and do not affect the GPU targets of builds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuntimeOverrides {
    /// The value of `HSA_OVERRIDE_GFX_VERSION`, `11.0.0`.
    pub hsa_gfx_version: Option<String>,
    /// The value of `ROCR_VISIBLE_DEVICES`.
    pub rocr_visible_devices: Option<String>,
    /// The value of `HIP_VISIBLE_DEVICES`.
    pub hip_visible_devices: Option<String>,
}

/// A ROCm installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RocmInstallation {
    /// The directory, `/opt/rocm`.
    pub directory: String,
    /// The contents of `.info/version`, `6.2.4-123`.
    pub version: String,
}

/// A file that exists but could not be read or parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableFile {
    /// The path of the file.
    pub path: String,
    /// The reason, as the end of a sentence about the file.
    pub reason: String,
}

/// A value of `HSA_OVERRIDE_GFX_VERSION` that is not a version of a GPU.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`HSA_OVERRIDE_GFX_VERSION` is `{0}`")]
pub struct GfxOverrideError(
    /// The value.
    pub String,
);

impl RuntimeOverrides {
    /// Parses `HSA_OVERRIDE_GFX_VERSION`, `major.minor.step` in decimal, as the gfx target that
    /// programs see. Returns `None` if the variable is not set.
    ///
    /// # Errors
    /// Returns an error if the value is not such a version.
    pub fn runtime_target(&self) -> Result<Option<GfxTarget>, GfxOverrideError> {
        let Some(text) = self.hsa_gfx_version.as_deref() else {
            return Ok(None);
        };
        let numbers: Option<Vec<u32>> = text.split('.').map(|part| part.parse().ok()).collect();
        match numbers.as_deref() {
            Some([major @ 1..=99, minor @ 0..=15, step @ 0..=15]) => Ok(
                GfxTarget::from_kfd_version(major * 10_000 + minor * 100 + step),
            ),
            _ => Err(GfxOverrideError(text.to_owned())),
        }
    }
}

/// Returns the distinct gfx targets of the GPUs, sorted, ignoring [`RuntimeOverrides`].
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

/// Returns the ROCm version of the machine: that of the installation in `ROCM_PATH`, otherwise in
/// `/opt/rocm`, otherwise of the only installation.
///
/// If there is no installation, or none in `ROCM_PATH`, `of_hip` converts the HIP version to a ROCm
/// version. Returns `None` if several installations exist and none of them is selected.
pub fn system_rocm(
    facts: &HostFacts,
    of_hip: impl Fn(&RocmVersion) -> Option<RocmVersion>,
) -> Option<RocmVersion> {
    match selected_installation(facts) {
        Some(install) => {
            RocmVersion::from_leading_numbers(install.version.split('-').next().unwrap_or_default())
        }
        None if facts.rocm.is_empty() || facts.rocm_path.is_some() => of_hip(
            &RocmVersion::from_leading_numbers(facts.hip_version.as_deref()?)?,
        ),
        None => None,
    }
}

/// Returns the source of the version that [`system_rocm`] returns: the directory of the
/// installation, or `hipconfig`.
pub fn system_rocm_source(facts: &HostFacts) -> &str {
    selected_installation(facts).map_or("hipconfig", |install| install.directory.as_str())
}

fn selected_installation(facts: &HostFacts) -> Option<&RocmInstallation> {
    let in_directory = |path: &str| facts.rocm.iter().find(|install| install.directory == path);
    let only = || facts.rocm.first().filter(|_| facts.rocm.len() == 1);
    match &facts.rocm_path {
        Some(path) => in_directory(path),
        None => in_directory("/opt/rocm").or_else(only),
    }
}

/// Returns the number of threads for a build: the least of the online CPUs, the CPUs that this
/// process may run on, and the control group's CPU quota rounded down; at least 1.
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

/// Returns the memory for a build in bytes: the memory of the machine or the limit of the control
/// group, whichever is less.
pub fn build_memory_bytes(facts: &HostFacts) -> u64 {
    let limit = facts
        .cgroup
        .memory_bytes
        .as_ref()
        .map_or(u64::MAX, |limit| limit.value);
    facts.memory.total_bytes.min(limit)
}

/// Returns the IDs of the groups that own `/dev/kfd` and the render nodes, without root, for
/// `--group-add`.
///
/// Container engines look up group names in the image, which often lacks `render`, so IDs are used.
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

/// Returns whether there is a GPU, and this process can open `/dev/kfd`.
pub fn has_usable_gpu(facts: &HostFacts) -> bool {
    !facts.topology.gpus.is_empty() && facts.kfd.as_ref().is_some_and(DeviceState::is_usable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cgroup::CgroupLimit;
    use crate::kfd::Gpu;

    fn machine(cpus: u32, gib: u64) -> HostFacts {
        HostFacts {
            cpus_online: cpus,
            memory: MemoryInfo {
                total_bytes: gib << 30,
                available_bytes: gib << 30,
            },
            ..HostFacts::default()
        }
    }

    fn limit(value: u64) -> CgroupLimit {
        CgroupLimit {
            value,
            directory: "/sys/fs/cgroup/job".to_owned(),
        }
    }

    #[test]
    fn limits_of_a_control_group_apply_to_threads_and_memory() {
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
    fn a_limit_above_the_host_has_no_effect() {
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
    fn the_runtime_override_is_not_a_build_target() {
        let over = |text: &str| RuntimeOverrides {
            hsa_gfx_version: Some(text.to_owned()),
            ..RuntimeOverrides::default()
        };
        let target = |text: &str| {
            over(text)
                .runtime_target()
                .map(|t| t.map(|t| t.to_string()))
                .map_err(|GfxOverrideError(value)| value)
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
            topology: GpuTopology {
                gpus: vec![gpu],
                ..GpuTopology::default()
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
    fn device_groups_are_distinct_and_exclude_root() {
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
    fn system_rocm_is_the_selected_installation() {
        let rocm = |installs: &[(&str, &str)], path: Option<&str>, hip: Option<&str>| {
            let install = |(folder, version): &(&str, &str)| RocmInstallation {
                directory: (*folder).to_owned(),
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
