//! Renders facts and findings as JSON.

use serde::Serialize;

use rock_diagnostic::Diagnostic;
use rock_host::kfd::NodeError;
use rock_host::{
    DeviceState, Gpu, HostFacts, PythonFacts, build_memory_bytes, build_threads, device_group_ids,
    gfx_targets, has_usable_gpu,
};

/// Incremented when a field is removed or changes its meaning.
const VERSION: u32 = 1;

#[derive(Debug, Serialize)]
struct DoctorReport<'a> {
    version: u32,
    gpus: Vec<GpuRow<'a>>,
    topology: TopologyRow<'a>,
    devices: Vec<DeviceRow<'a>>,
    groups: GroupsRow<'a>,
    container: Option<&'a str>,
    engines: Vec<EngineRow<'a>>,
    cpu: CpuRow<'a>,
    memory: MemoryRow<'a>,
    disks: Vec<DiskRow<'a>>,
    rocm: Vec<RocmRow<'a>>,
    hip_version: Option<&'a str>,
    ninja_version: Option<&'a str>,
    python: Option<PythonRow<'a>>,
    overrides: OverridesRow<'a>,
    build: BuildRow,
    findings: Vec<FindingRow<'a>>,
}

#[derive(Debug, Serialize)]
struct GpuRow<'a> {
    node: u32,
    gfx: String,
    compute_units: Option<u64>,
    xcc_count: Option<u64>,
    vram_bytes: Option<u64>,
    render_node: Option<String>,
    pci_location: Option<&'a str>,
    device_id: Option<String>,
    gpu_id: Option<u32>,
}

#[derive(Debug, Serialize)]
struct TopologyRow<'a> {
    folder: &'a str,
    present: bool,
    skipped: Vec<SkippedRow<'a>>,
}

#[derive(Debug, Serialize)]
struct SkippedRow<'a> {
    node: u32,
    why: &'static str,
    reason: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct DeviceRow<'a> {
    path: &'a str,
    state: &'static str,
    gid: Option<u32>,
    mode: Option<String>,
}

#[derive(Debug, Serialize)]
struct GroupsRow<'a> {
    user: u32,
    own: Vec<GroupRow<'a>>,
    group_add: Vec<u32>,
}

#[derive(Debug, Serialize)]
struct GroupRow<'a> {
    gid: u32,
    name: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct EngineRow<'a> {
    name: &'a str,
    client: Option<&'a str>,
    server: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct CpuRow<'a> {
    online: u32,
    allowed: Option<u32>,
    limit_millis: Option<u64>,
    limit_folder: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct MemoryRow<'a> {
    total_bytes: u64,
    available_bytes: u64,
    limit_bytes: Option<u64>,
    limit_folder: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct DiskRow<'a> {
    folder: &'a str,
    free_bytes: u64,
    total_bytes: u64,
}

#[derive(Debug, Serialize)]
struct RocmRow<'a> {
    folder: &'a str,
    version: &'a str,
}

#[derive(Debug, Serialize)]
struct PythonRow<'a> {
    program: &'a str,
    version: &'a str,
    free_threaded: bool,
    platform: &'a str,
    libc: Option<&'a str>,
    torch: Option<&'a str>,
    torch_hip: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct OverridesRow<'a> {
    hsa_override_gfx_version: Option<&'a str>,
    runtime_gfx: Option<String>,
    rocr_visible_devices: Option<&'a str>,
    hip_visible_devices: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct BuildRow {
    threads: u32,
    memory_bytes: u64,
    gfx: Vec<String>,
    gpu_usable: bool,
}

#[derive(Debug, Serialize)]
struct FindingRow<'a> {
    code: &'a str,
    name: &'a str,
    severity: String,
    message: &'a str,
    notes: &'a [String],
    help: Option<&'a str>,
}

/// Renders facts and findings as a JSON object with a final newline.
///
/// # Panics
/// Never: strings and numbers always serialize.
pub fn json(facts: &HostFacts, findings: &[Diagnostic]) -> String {
    let report = DoctorReport {
        version: VERSION,
        gpus: facts.topology.gpus.iter().map(gpu).collect(),
        topology: TopologyRow {
            folder: &facts.topology.directory,
            present: facts.topology.is_present,
            skipped: facts
                .topology
                .skipped
                .iter()
                .map(|node| skipped(node.node, &node.error))
                .collect(),
        },
        devices: devices(facts),
        groups: GroupsRow {
            user: facts.process.uid,
            own: facts
                .process
                .groups
                .iter()
                .map(|gid| GroupRow {
                    gid: *gid,
                    name: facts.group_names.get(gid).map(String::as_str),
                })
                .collect(),
            group_add: device_group_ids(facts),
        },
        container: facts.container.as_deref(),
        engines: facts
            .engines
            .iter()
            .map(|e| EngineRow {
                name: &e.name,
                client: e.client.as_deref(),
                server: e.server.as_deref(),
            })
            .collect(),
        cpu: CpuRow {
            online: facts.cpus_online,
            allowed: facts.process.cpus_allowed,
            limit_millis: facts.cgroup.cpu_millis.as_ref().map(|limit| limit.value),
            limit_folder: facts
                .cgroup
                .cpu_millis
                .as_ref()
                .map(|limit| limit.directory.as_str()),
        },
        memory: MemoryRow {
            total_bytes: facts.memory.total_bytes,
            available_bytes: facts.memory.available_bytes,
            limit_bytes: facts.cgroup.memory_bytes.as_ref().map(|limit| limit.value),
            limit_folder: facts
                .cgroup
                .memory_bytes
                .as_ref()
                .map(|limit| limit.directory.as_str()),
        },
        disks: facts
            .disks
            .iter()
            .map(|d| DiskRow {
                folder: &d.directory,
                free_bytes: d.free_bytes,
                total_bytes: d.total_bytes,
            })
            .collect(),
        rocm: facts
            .rocm
            .iter()
            .map(|r| RocmRow {
                folder: &r.directory,
                version: &r.version,
            })
            .collect(),
        hip_version: facts.hip_version.as_deref(),
        ninja_version: facts.ninja_version.as_deref(),
        python: facts.python.as_ref().map(python),
        overrides: OverridesRow {
            hsa_override_gfx_version: facts.overrides.hsa_gfx_version.as_deref(),
            runtime_gfx: facts
                .overrides
                .runtime_target()
                .ok()
                .flatten()
                .map(|target| target.to_string()),
            rocr_visible_devices: facts.overrides.rocr_visible_devices.as_deref(),
            hip_visible_devices: facts.overrides.hip_visible_devices.as_deref(),
        },
        build: BuildRow {
            threads: build_threads(facts),
            memory_bytes: build_memory_bytes(facts),
            gfx: gfx_targets(facts).iter().map(ToString::to_string).collect(),
            gpu_usable: has_usable_gpu(facts),
        },
        findings: findings.iter().map(finding).collect(),
    };
    let mut text =
        serde_json::to_string_pretty(&report).expect("strings and numbers always serialize");
    text.push('\n');
    text
}

fn python(facts: &PythonFacts) -> PythonRow<'_> {
    PythonRow {
        program: &facts.program,
        version: &facts.version,
        free_threaded: facts.free_threaded,
        platform: &facts.platform,
        libc: facts.libc.as_deref(),
        torch: facts.torch.as_deref(),
        torch_hip: facts.torch_hip.as_deref(),
    }
}

fn gpu(gpu: &Gpu) -> GpuRow<'_> {
    GpuRow {
        node: gpu.node,
        gfx: gpu.target.to_string(),
        compute_units: gpu.compute_units,
        xcc_count: gpu.xcc_count,
        vram_bytes: gpu.vram_bytes,
        render_node: gpu
            .render_minor
            .map(|minor| format!("/dev/dri/renderD{minor}")),
        pci_location: gpu.pci_location.as_deref(),
        device_id: gpu.device_id.map(|id| format!("0x{id:04x}")),
        gpu_id: gpu.gpu_id.as_ref().ok().copied(),
    }
}

fn skipped(node: u32, why: &NodeError) -> SkippedRow<'_> {
    let (why, reason) = match why {
        NodeError::Masked => ("masked", None),
        NodeError::Unreadable(reason) => ("unreadable", Some(reason.as_str())),
        NodeError::Malformed(reason) => ("malformed", Some(reason.as_str())),
    };
    SkippedRow { node, why, reason }
}

fn devices(facts: &HostFacts) -> Vec<DeviceRow<'_>> {
    let row = |path, state: &DeviceState| DeviceRow {
        path,
        state: state.as_str(),
        gid: state.gid(),
        mode: state.mode().map(|mode| format!("{mode:04o}")),
    };
    let kfd = facts.kfd.iter().map(|state| row("/dev/kfd", state));
    kfd.chain(
        facts
            .render_nodes
            .iter()
            .map(|node| row(&node.path, &node.state)),
    )
    .collect()
}

fn finding(diagnostic: &Diagnostic) -> FindingRow<'_> {
    FindingRow {
        code: diagnostic.code.id,
        name: diagnostic.code.name,
        severity: diagnostic.severity.to_string(),
        message: &diagnostic.message,
        notes: &diagnostic.notes,
        help: diagnostic.help.as_deref(),
    }
}

#[cfg(test)]
mod tests {
    use super::json;
    use crate::codes;
    use rock_diagnostic::Diagnostic;
    use rock_host::kfd::GpuTopology;
    use rock_host::{DeviceState, HostFacts};

    #[test]
    fn the_report_names_its_version_the_gpus_and_the_findings() {
        let facts = HostFacts {
            topology: GpuTopology {
                gpus: vec![crate::example_gpu(2, 90_010)],
                ..GpuTopology::default()
            },
            kfd: Some(DeviceState::NoPermission {
                gid: 105,
                mode: 0o660,
            }),
            ..HostFacts::default()
        };
        let finding = Diagnostic::new(&codes::host::NO_GPU, "no AMD GPU was found");
        let value: serde_json::Value = serde_json::from_str(&json(&facts, &[finding])).unwrap();
        assert_eq!(value["version"], 1);
        assert_eq!(value["gpus"][0]["gfx"], "gfx90a");
        assert_eq!(value["devices"][0]["mode"], "0660");
        assert_eq!(value["groups"]["group_add"][0], 105);
        assert_eq!(value["build"]["gfx"][0], "gfx90a");
        assert_eq!(value["findings"][0]["code"], "H001");
        assert_eq!(value["findings"][0]["severity"], "note");
    }
}
