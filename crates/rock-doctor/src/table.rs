//! Renders host facts as a table.

use std::collections::BTreeSet;
use std::fmt::Write;

use rock_compat::Compat;
use rock_host::device::DeviceState;
use rock_host::{HostFacts, build_memory_bytes, build_threads, device_group_ids, gfx_targets};

/// Renders all facts, section by section; findings are reported separately.
pub fn human(facts: &HostFacts, compat: &Compat) -> String {
    let sections = [
        ("GPUs", gpus(facts)),
        ("Products with these targets", products(facts, compat)),
        ("Device access", devices(facts)),
        ("Groups", groups(facts)),
        ("Container engine", engines(facts)),
        ("CPU and memory", limits(facts)),
        ("Disk", disks(facts)),
        ("ROCm", rocm(facts)),
        ("Python", python(facts)),
        ("Build tools", tools(facts)),
        ("A build here would use", build(facts)),
    ];
    let mut text = String::new();
    for (number, (title, rows)) in sections
        .iter()
        .filter(|(_, rows)| !rows.is_empty())
        .enumerate()
    {
        let gap = if number == 0 { "" } else { "\n" };
        let _ = writeln!(text, "{gap}{title}");
        text.push_str(&aligned(rows));
    }
    text
}

type Rows = Vec<Vec<String>>;

fn gpus(facts: &HostFacts) -> Rows {
    if facts.topology.gpus.is_empty() {
        return vec![vec!["none".to_owned()]];
    }
    let unknown = || "-".to_owned();
    let mut rows = vec![
        ["node", "gfx", "CUs", "VRAM", "render node", "PCI location"]
            .map(str::to_owned)
            .to_vec(),
    ];
    rows.extend(facts.topology.gpus.iter().map(|gpu| {
        vec![
            gpu.node.to_string(),
            gpu.target.to_string(),
            gpu.compute_units
                .map_or_else(unknown, |count| count.to_string()),
            gpu.vram_bytes.map_or_else(unknown, gib),
            gpu.render_minor
                .map_or_else(unknown, |minor| format!("/dev/dri/renderD{minor}")),
            gpu.pci_location.clone().unwrap_or_else(unknown),
        ]
    }));
    rows
}

/// Returns the product names of the GPUs' targets; several products share a target.
fn products(facts: &HostFacts, compat: &Compat) -> Rows {
    let processors: BTreeSet<&str> = facts
        .topology
        .gpus
        .iter()
        .map(|gpu| gpu.target.processor())
        .collect();
    let named =
        |processor: &str| Some(vec![processor.to_owned(), compat.product_names(processor)?]);
    processors.into_iter().filter_map(named).collect()
}

fn devices(facts: &HostFacts) -> Rows {
    let Some(kfd) = &facts.kfd else {
        return vec![vec![format!(
            "not checked: the GPUs are read from {}",
            facts.topology.directory
        )]];
    };
    let nodes = facts
        .render_nodes
        .iter()
        .map(|node| (node.path.as_str(), &node.state));
    let mut rows: Rows = std::iter::once(("/dev/kfd", kfd))
        .chain(nodes)
        .map(|(path, state)| {
            vec![
                path.to_owned(),
                state_words(state),
                owner_words(state, facts),
            ]
        })
        .collect();
    if facts.render_nodes.is_empty() {
        rows.push(vec!["/dev/dri/renderD*".to_owned(), "absent".to_owned()]);
    }
    rows
}

fn state_words(state: &DeviceState) -> String {
    match state {
        DeviceState::Absent => "absent".to_owned(),
        DeviceState::NotCharDevice => "not a device".to_owned(),
        DeviceState::NoPermission { .. } => "no permission".to_owned(),
        DeviceState::DeniedByCgroup { .. } => "denied by the device control group".to_owned(),
        DeviceState::Broken { reason } => format!("broken: {reason}"),
        DeviceState::Usable { .. } => "ok".to_owned(),
    }
}

fn owner_words(state: &DeviceState, facts: &HostFacts) -> String {
    match (state.gid(), state.mode()) {
        (Some(gid), Some(mode)) => format!("group {}, mode {mode:04o}", group(gid, facts)),
        _ => String::new(),
    }
}

fn groups(facts: &HostFacts) -> Rows {
    let own = facts.process.groups.iter().map(|gid| group(*gid, facts));
    let mut rows = vec![
        vec!["user".to_owned(), facts.process.uid.to_string()],
        vec!["groups".to_owned(), joined(own, "unknown")],
    ];
    let needed = device_group_ids(facts);
    if !needed.is_empty() {
        let options = needed.iter().map(|gid| format!("--group-add {gid}"));
        rows.push(vec![
            "for a container".to_owned(),
            options.collect::<Vec<_>>().join(" "),
        ]);
    }
    rows
}

fn group(gid: u32, facts: &HostFacts) -> String {
    facts
        .group_names
        .get(&gid)
        .map_or_else(|| gid.to_string(), |name| format!("{gid} ({name})"))
}

fn engines(facts: &HostFacts) -> Rows {
    let mut rows: Rows = facts
        .engines
        .iter()
        .map(|engine| {
            let words = match (&engine.client, &engine.server) {
                (None, _) => "not found".to_owned(),
                (Some(client), None) => format!("{client}, no daemon responds"),
                (Some(client), Some(server)) if client == server => client.clone(),
                (Some(client), Some(server)) => format!("{client}, engine {server}"),
            };
            vec![engine.name.clone(), words]
        })
        .collect();
    let inside = facts
        .container
        .as_ref()
        .map_or_else(|| "no".to_owned(), |hint| format!("yes: {hint}"));
    rows.push(vec!["inside a container".to_owned(), inside]);
    rows
}

fn limits(facts: &HostFacts) -> Rows {
    let allowed = facts.process.cpus_allowed.unwrap_or(facts.cpus_online);
    let none = || "none".to_owned();
    let cpu = facts.cgroup.cpu_millis.as_ref();
    let memory = facts.cgroup.memory_bytes.as_ref();
    vec![
        vec![
            "CPUs".to_owned(),
            format!("{} online, {allowed} for this process", facts.cpus_online),
        ],
        vec![
            "CPU limit".to_owned(),
            cpu.map_or_else(none, |limit| {
                format!("{} CPUs ({})", thousandths(limit.value), limit.directory)
            }),
        ],
        vec![
            "memory".to_owned(),
            format!(
                "{}, {} available",
                gib(facts.memory.total_bytes),
                gib(facts.memory.available_bytes)
            ),
        ],
        vec![
            "memory limit".to_owned(),
            memory.map_or_else(none, |limit| {
                format!("{} ({})", gib(limit.value), limit.directory)
            }),
        ],
    ]
}

fn disks(facts: &HostFacts) -> Rows {
    let row = |disk: &rock_host::DiskSpace| {
        vec![
            disk.directory.clone(),
            format!("{} free of {}", gib(disk.free_bytes), gib(disk.total_bytes)),
        ]
    };
    facts.disks.iter().map(row).collect()
}

fn rocm(facts: &HostFacts) -> Rows {
    let mut rows: Rows = facts
        .rocm
        .iter()
        .map(|install| vec![install.directory.clone(), install.version.clone()])
        .collect();
    rows.push(vec![
        "hipconfig".to_owned(),
        facts
            .hip_version
            .clone()
            .unwrap_or_else(|| "not found".to_owned()),
    ]);
    let overrides = [
        ("HSA_OVERRIDE_GFX_VERSION", &facts.overrides.hsa_gfx_version),
        (
            "ROCR_VISIBLE_DEVICES",
            &facts.overrides.rocr_visible_devices,
        ),
        ("HIP_VISIBLE_DEVICES", &facts.overrides.hip_visible_devices),
    ];
    rows.extend(
        overrides
            .into_iter()
            .filter_map(|(name, value)| Some(vec![name.to_owned(), value.clone()?])),
    );
    rows
}

fn python(facts: &HostFacts) -> Rows {
    let Some(python) = &facts.python else {
        return vec![vec!["python3".to_owned(), "not found".to_owned()]];
    };
    let threads = if python.free_threaded { "t" } else { "" };
    let libc = python
        .libc
        .as_ref()
        .map_or_else(String::new, |libc| format!(", {libc}"));
    let hip = python
        .torch_hip
        .as_ref()
        .map_or_else(String::new, |hip| format!(", HIP {hip}"));
    vec![
        vec![
            python.program.clone(),
            format!("{}{threads}, {}{libc}", python.version, python.platform),
        ],
        vec![
            "torch".to_owned(),
            python
                .torch
                .as_ref()
                .map_or_else(|| "none".to_owned(), |torch| torch.clone() + &hip),
        ],
    ]
}

fn tools(facts: &HostFacts) -> Rows {
    let ninja = facts
        .ninja_version
        .clone()
        .unwrap_or_else(|| "not found".to_owned());
    vec![vec!["ninja".to_owned(), ninja]]
}

fn build(facts: &HostFacts) -> Rows {
    vec![
        vec!["threads".to_owned(), build_threads(facts).to_string()],
        vec!["memory".to_owned(), gib(build_memory_bytes(facts))],
        vec![
            "gfx of `gfx: [host]`".to_owned(),
            joined(
                gfx_targets(facts).iter().map(ToString::to_string),
                "none: no GPU was found",
            ),
        ],
    ]
}

/// Joins words with commas, or returns `none` if there are no words.
pub(super) fn joined(words: impl Iterator<Item = String>, none: &str) -> String {
    let words: Vec<String> = words.collect();
    if words.is_empty() {
        none.to_owned()
    } else {
        words.join(", ")
    }
}

/// Formats a size in GiB with one decimal, or in MiB if it is below 1 GiB.
pub(super) fn gib(bytes: u64) -> String {
    let (unit, shift) = if bytes >= 1 << 30 {
        ("GiB", 30)
    } else {
        ("MiB", 20)
    };
    let tenths = (u128::from(bytes) * 10) >> shift;
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

/// Formats thousandths as a decimal number without trailing zeros: `2.5`.
pub(super) fn thousandths(value: u64) -> String {
    let text = format!("{}.{:03}", value / 1000, value % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Aligns the columns of rows: padded to the widest cell, two spaces in front and between.
fn aligned(rows: &Rows) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("  {cell:<width$}"));
        let _ = writeln!(text, "{}", cells.collect::<String>().trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use rock_host::kfd::{Gpu, GpuTopology};
    use rock_host::proc::{MemoryInfo, ProcessInfo};
    use rock_host::{
        CgroupLimit, CgroupLimits, ContainerEngine, DeviceNode, DiskSpace, RocmInstallation,
    };

    #[test]
    fn a_machine_with_a_gpu_in_a_limited_container() {
        let gpu = Gpu {
            compute_units: Some(40),
            vram_bytes: Some(96 << 30),
            render_minor: Some(128),
            pci_location: Some("0000:03:00.0".to_owned()),
            ..crate::example_gpu(1, 110_501)
        };
        let facts = HostFacts {
            topology: GpuTopology {
                gpus: vec![gpu, crate::example_gpu(10, 100_306)],
                ..GpuTopology::default()
            },
            kfd: Some(DeviceState::NoPermission {
                gid: 105,
                mode: 0o660,
            }),
            render_nodes: vec![DeviceNode {
                path: "/dev/dri/renderD128".to_owned(),
                state: DeviceState::Usable {
                    gid: 44,
                    mode: 0o666,
                },
            }],
            process: ProcessInfo {
                uid: 1000,
                groups: [44, 1000].into(),
                cpus_allowed: Some(32),
            },
            group_names: [(44, "video".to_owned())].into(),
            memory: MemoryInfo {
                total_bytes: 125 << 30,
                available_bytes: 100 << 30,
            },
            cpus_online: 32,
            cgroup: CgroupLimits {
                cpu_millis: Some(CgroupLimit {
                    value: 7500,
                    directory: "/sys/fs/cgroup".to_owned(),
                }),
                memory_bytes: Some(CgroupLimit {
                    value: 15 << 30,
                    directory: "/sys/fs/cgroup".to_owned(),
                }),
            },
            disks: vec![DiskSpace {
                directory: "/data".to_owned(),
                free_bytes: 512 << 20,
                total_bytes: 80 << 30,
            }],
            container: Some("`/.dockerenv` exists".to_owned()),
            engines: vec![
                ContainerEngine {
                    name: "docker".to_owned(),
                    client: Some("28.2.2".to_owned()),
                    server: None,
                },
                ContainerEngine {
                    name: "podman".to_owned(),
                    client: None,
                    server: None,
                },
            ],
            rocm: vec![RocmInstallation {
                directory: "/opt/rocm".to_owned(),
                version: "6.2.4-123".to_owned(),
            }],
            hip_version: Some("6.2.41134".to_owned()),
            ..HostFacts::default()
        };
        insta::assert_snapshot!(human(&facts, &Compat::embedded()), @r"
        GPUs
          node  gfx      CUs  VRAM      render node          PCI location
          1     gfx1151  40   96.0 GiB  /dev/dri/renderD128  0000:03:00.0
          10    gfx1036  -    -         -                    -

        Products with these targets
          gfx1036  Raphael
          gfx1151  Strix Halo, Radeon 8065S, Radeon 8060S and 5 more

        Device access
          /dev/kfd             no permission  group 105, mode 0660
          /dev/dri/renderD128  ok             group 44 (video), mode 0666

        Groups
          user             1000
          groups           44 (video), 1000
          for a container  --group-add 44 --group-add 105

        Container engine
          docker              28.2.2, no daemon responds
          podman              not found
          inside a container  yes: `/.dockerenv` exists

        CPU and memory
          CPUs          32 online, 32 for this process
          CPU limit     7.5 CPUs (/sys/fs/cgroup)
          memory        125.0 GiB, 100.0 GiB available
          memory limit  15.0 GiB (/sys/fs/cgroup)

        Disk
          /data  512.0 MiB free of 80.0 GiB

        ROCm
          /opt/rocm  6.2.4-123
          hipconfig  6.2.41134

        Python
          python3  not found

        Build tools
          ninja  not found

        A build here would use
          threads               7
          memory                15.0 GiB
          gfx of `gfx: [host]`  gfx1036, gfx1151
        ");
    }

    #[test]
    fn sizes_and_thousandths_are_short() {
        assert_eq!(
            [gib(0), gib(1 << 30), gib(25_336_823_808)],
            ["0.0 MiB", "1.0 GiB", "23.5 GiB"]
        );
        assert_eq!(
            [thousandths(2000), thousandths(1500), thousandths(125)],
            ["2", "1.5", "0.125"]
        );
    }
}
