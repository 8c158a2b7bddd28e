//! Derives findings from host facts.

use crate::codes::host as codes;
use rock_diagnostic::{Diagnostic, Severity};
use rock_host::device::DeviceState;
use rock_host::kfd::NodeError;
use rock_host::{HostFacts, build_memory_bytes, build_threads, gfx_targets};

use super::table::{gib, joined};

/// The approximate memory of one compiler of GPU kernels: the fork's rule is memory in GiB / 4
/// jobs.
const JOB_MEMORY_BYTES: u64 = 4 << 30;
/// The disk space that GitHub guarantees on its hosted runners ("About GitHub-hosted runners").
const GOOD_DISK_BYTES: u64 = 14_000_000_000;
const LEAST_DISK_BYTES: u64 = 1_000_000_000;

/// Returns all findings, GPUs first.
pub fn findings(facts: &HostFacts) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    gpus(facts, &mut found);
    devices(facts, &mut found);
    variables(facts, &mut found);
    engines(facts, &mut found);
    limits(facts, &mut found);
    disks(facts, &mut found);
    found.extend(facts.unreadable.iter().map(|file| {
        Diagnostic::new(
            &codes::UNREADABLE_HOST_FILE,
            format!("`{}` {}", file.path, file.reason),
        )
        .help("set `max-jobs` in the matrix file if builds take too much")
    }));
    found
}

fn gpus(facts: &HostFacts, found: &mut Vec<Diagnostic>) {
    let topology = &facts.topology;
    if topology.gpus.is_empty() && topology.skipped.is_empty() {
        let why = if topology.is_present {
            format!("`{}` lists no GPU", topology.directory)
        } else {
            format!(
                "`{}` does not exist: the amdgpu driver is not loaded",
                topology.directory
            )
        };
        found.push(
            Diagnostic::new(&codes::NO_GPU, "no AMD GPU was found")
                .note(why)
                .help(
                    "list the targets in the matrix file, as in `gfx: [gfx90a, gfx942]`; builds \
                    need no GPU",
                ),
        );
    }
    for skipped in &topology.skipped {
        let node = skipped.node;
        let diagnostic = match &skipped.error {
            NodeError::Masked => Diagnostic::new(
                &codes::MASKED_GPU,
                format!("node {node} is hidden from this container"),
            )
            .help("pass its render node with `--device` if it should be visible"),
            NodeError::Unreadable(reason) | NodeError::Malformed(reason) => Diagnostic::new(
                &codes::GPU_NODE_UNREADABLE,
                format!("node {node} is skipped: {reason}"),
            )
            .note(format!("in `{}/{node}/properties`", topology.directory))
            .help("list this GPU's target in the matrix file instead of `gfx: [host]`"),
        };
        found.push(diagnostic);
    }
    for gpu in &topology.gpus {
        if let Err(reason) = &gpu.gpu_id {
            found.push(
                Diagnostic::new(
                    &codes::WRONG_GPU_ID,
                    format!("the `gpu_id` file of node {} {reason}", gpu.node),
                )
                .note(format!(
                    "`properties` describes {}, so the GPU is kept",
                    gpu.target
                ))
                .help("report it to the driver's vendor if this is a physical machine"),
            );
        }
    }
}

fn devices(facts: &HostFacts, found: &mut Vec<Diagnostic>) {
    if let Some(kfd) = &facts.kfd {
        found.extend(device("/dev/kfd", kfd, facts));
    }
    found.extend(
        facts
            .render_nodes
            .iter()
            .filter_map(|node| device(&node.path, &node.state, facts)),
    );
}

fn device(path: &str, state: &DeviceState, facts: &HostFacts) -> Option<Diagnostic> {
    Some(match state {
        DeviceState::Usable { .. } => return None,
        DeviceState::Absent if facts.topology.gpus.is_empty() => return None,
        DeviceState::Absent => Diagnostic::new(
            &codes::KFD_ABSENT,
            format!("GPUs are listed, but `{path}` does not exist"),
        )
        .help(match &facts.container {
            Some(_) => "start the container with `--device=/dev/kfd --device=/dev/dri`",
            None => "load the driver with `modprobe amdgpu`",
        }),
        DeviceState::NotCharDevice => Diagnostic::new(
            &codes::NOT_A_DEVICE,
            format!("`{path}` is not a character device"),
        )
        .help("remove it, and pass devices with `--device`, not with `--volume`"),
        DeviceState::NoPermission { gid, mode } => no_permission(path, *gid, *mode, facts),
        DeviceState::DeniedByCgroup { .. } => Diagnostic::new(
            &codes::DEVICE_REFUSED,
            format!("the device control group denies access to `{path}`"),
        )
        .help("start the container with `--device=/dev/kfd --device=/dev/dri`"),
        DeviceState::Broken { reason } => Diagnostic::new(
            &codes::BROKEN_DEVICE,
            format!("`{path}` does not respond: {reason}"),
        )
        .help("search the output of `dmesg` for amdgpu"),
    })
}

fn no_permission(path: &str, gid: u32, mode: u32, facts: &HostFacts) -> Diagnostic {
    let name = facts.group_names.get(&gid);
    let group = name.map_or_else(|| format!("{gid}"), |name| format!("{gid} ({name})"));
    let diagnostic = Diagnostic::new(
        &codes::NO_DEVICE_PERMISSION,
        format!("user {} is not allowed to open `{path}`", facts.process.uid),
    )
    .note(format!(
        "it belongs to group {group} and has mode {mode:04o}"
    ));
    let lets_group_in = mode & 0o060 == 0o060;
    diagnostic.help(match (lets_group_in, name, &facts.container) {
        (false, ..) => format!("allow its group to read and write: `sudo chmod g+rw {path}`"),
        (true, _, Some(_)) => format!("start the container with `--group-add {gid}`"),
        (true, Some(name), None) => {
            format!("run `sudo usermod -aG {name} $USER` and log in again; for a container, `--group-add {gid}`")
        }
        (true, None, None) => format!("add this user to group {gid}; for a container, `--group-add \
            {gid}`"),
    })
}

fn variables(facts: &HostFacts, found: &mut Vec<Diagnostic>) {
    match facts.overrides.runtime_target() {
        Ok(None) => {}
        Ok(Some(target)) => {
            let real = joined(gfx_targets(facts).iter().map(ToString::to_string), "none");
            found.push(
                Diagnostic::new(
                    &codes::RUNTIME_OVERRIDE,
                    format!("hardware {real}, runtime override {target}"),
                )
                .note(format!(
                    "`HSA_OVERRIDE_GFX_VERSION` is `{}`",
                    facts
                        .overrides
                        .hsa_gfx_version
                        .as_deref()
                        .unwrap_or_default()
                ))
                .help(format!(
                    "list `{target}` under `gfx` if wheels should run with the override"
                )),
            );
        }
        Err(error) => found.push(
            Diagnostic::new(&codes::BAD_RUNTIME_OVERRIDE, error.to_string()).help(
                "write major, minor and step in decimal, as in `11.0.0` for gfx1100, or unset it",
            ),
        ),
    }
    let hiding = [
        (
            "ROCR_VISIBLE_DEVICES",
            &facts.overrides.rocr_visible_devices,
        ),
        ("HIP_VISIBLE_DEVICES", &facts.overrides.hip_visible_devices),
    ];
    found.extend(hiding.into_iter().filter_map(|(name, value)| {
        let value = value.as_deref()?;
        Some(
            Diagnostic::new(
                &codes::HIDDEN_GPUS,
                format!("programs only see the GPUs listed in `{name}={value}`"),
            )
            .help(format!("unset `{name}` to use all of them")),
        )
    }));
}

fn engines(facts: &HostFacts, found: &mut Vec<Diagnostic>) {
    if facts.engines.iter().all(|engine| engine.client.is_none()) {
        found.push(
            Diagnostic::new(
                &codes::NO_CONTAINER_ENGINE,
                "neither docker nor podman is installed",
            )
            .help("build with `--engine local`, or install one of them"),
        );
    }
    found.extend(
        facts
            .engines
            .iter()
            .filter(|engine| engine.client.is_some() && engine.server.is_none())
            .map(|engine| {
                Diagnostic::new(
                    &codes::ENGINE_UNREACHABLE,
                    format!("no daemon responds to the `{}` client", engine.name),
                )
                .help("start the daemon, or set `DOCKER_HOST` to its address")
            }),
    );
}

fn limits(facts: &HostFacts, found: &mut Vec<Diagnostic>) {
    let mut lowered = Vec::new();
    let host_cpus = facts
        .process
        .cpus_allowed
        .unwrap_or(facts.cpus_online)
        .min(facts.cpus_online);
    if let Some(limit) = facts
        .cgroup
        .cpu_millis
        .as_ref()
        .filter(|limit| limit.value < u64::from(host_cpus) * 1000)
    {
        lowered.push(format!(
            "{} of {} CPUs (`{}`)",
            super::table::thousandths(limit.value),
            host_cpus,
            limit.directory
        ));
    }
    if let Some(limit) = facts
        .cgroup
        .memory_bytes
        .as_ref()
        .filter(|limit| limit.value < facts.memory.total_bytes)
    {
        lowered.push(format!(
            "{} of {} memory (`{}`)",
            gib(limit.value),
            gib(facts.memory.total_bytes),
            limit.directory
        ));
    }
    if !lowered.is_empty() {
        let message = format!("the control group allows {}", lowered.join(" and "));
        found.push(
            Diagnostic::new(&codes::LIMITED_BY_CGROUP, message).help(format!(
                "no action is needed: builds use {} threads and {}",
                build_threads(facts),
                gib(build_memory_bytes(facts))
            )),
        );
    }
    let memory = build_memory_bytes(facts);
    if memory < JOB_MEMORY_BYTES && facts.memory.total_bytes > 0 {
        found.push(
            Diagnostic::new(
                &codes::LITTLE_MEMORY,
                format!("a build here has {} of memory", gib(memory)),
            )
            .note("one compile job for GPU kernels takes about 4 GiB")
            .help("build kernels on another machine, or raise the limit"),
        );
    }
}

fn disks(facts: &HostFacts, found: &mut Vec<Diagnostic>) {
    let mut reported = Vec::new();
    for disk in facts
        .disks
        .iter()
        .filter(|disk| disk.free_bytes < GOOD_DISK_BYTES)
    {
        // Directories on one file system share its free space, so it is reported once.
        let file_system = (disk.total_bytes, disk.free_bytes / LEAST_DISK_BYTES);
        if reported.contains(&file_system) {
            continue;
        }
        reported.push(file_system);
        let is_hopeless = disk.free_bytes < LEAST_DISK_BYTES;
        found.push(
            Diagnostic::new(
                &codes::LITTLE_DISK,
                format!(
                    "{} are free below `{}`",
                    gib(disk.free_bytes),
                    disk.directory
                ),
            )
            .severity(if is_hopeless {
                Severity::Error
            } else {
                Severity::Warning
            })
            .help("free some space, or set `TMPDIR` to a larger disk"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rock_host::device::DeviceNode;
    use rock_host::kfd::{GpuIdError, GpuTopology, SkippedNode};
    use rock_host::proc::{MemoryInfo, ProcessInfo};
    use rock_host::{
        CgroupLimit, CgroupLimits, ContainerEngine, DiskSpace, RuntimeOverrides, UnreadableFile,
    };

    /// Returns the facts of a machine without problems.
    fn healthy() -> HostFacts {
        let engine = |name: &str| ContainerEngine {
            name: name.to_owned(),
            client: Some("28.2.2".to_owned()),
            server: Some("28.2.2".to_owned()),
        };
        HostFacts {
            topology: GpuTopology {
                directory: "/sys/class/kfd/kfd/topology/nodes".to_owned(),
                is_present: true,
                gpus: vec![crate::example_gpu(1, 110_501)],
                ..GpuTopology::default()
            },
            kfd: Some(DeviceState::Usable {
                gid: 105,
                mode: 0o660,
            }),
            process: ProcessInfo {
                uid: 1000,
                groups: [1000].into(),
                cpus_allowed: Some(16),
            },
            group_names: [(105, "render".to_owned())].into(),
            memory: MemoryInfo {
                total_bytes: 62 << 30,
                available_bytes: 60 << 30,
            },
            cpus_online: 16,
            disks: vec![DiskSpace {
                directory: "/data".to_owned(),
                free_bytes: 100 << 30,
                total_bytes: 200 << 30,
            }],
            engines: vec![engine("docker"), engine("podman")],
            ..HostFacts::default()
        }
    }

    fn check(change: impl FnOnce(&mut HostFacts), expect: &str) {
        let mut facts = healthy();
        change(&mut facts);
        let lines: Vec<String> = findings(&facts)
            .iter()
            .map(|d| {
                let mut parts = vec![d.message.as_str()];
                parts.extend(d.notes.iter().map(String::as_str));
                parts.extend(d.help.as_deref());
                format!("{}[{}]: {}", d.severity, d.code, parts.join(" | "))
            })
            .collect();
        assert_eq!(lines.join("\n"), expect);
    }

    #[test]
    fn a_healthy_machine_gives_no_finding() {
        check(|_| {}, "");
    }

    #[test]
    fn no_gpu_is_a_note_that_builds_need_none() {
        check(
            |facts| {
                facts.topology = GpuTopology {
                    directory: "/sys/x".to_owned(),
                    ..GpuTopology::default()
                }
            },
            "note[H001 no-gpu]: no AMD GPU was found | `/sys/x` does not exist: the amdgpu driver \
             is not loaded | \
             list the targets in the matrix file, as in `gfx: [gfx90a, gfx942]`; builds need no \
             GPU",
        );
    }

    #[test]
    fn a_masked_node_is_a_note_and_a_malformed_one_a_warning() {
        check(
            |facts| {
                let malformed = NodeError::Malformed("`properties` has no `simd_count`".to_owned());
                facts.topology.skipped = vec![
                    SkippedNode {
                        node: 2,
                        error: NodeError::Masked,
                    },
                    SkippedNode {
                        node: 3,
                        error: malformed,
                    },
                ];
            },
            "note[H004 masked-gpu]: node 2 is hidden from this container | \
             pass its render node with `--device` if it should be visible\n\
             warning[H002 gpu-node-unreadable]: node 3 is skipped: `properties` has no \
             `simd_count` | \
             in `/sys/class/kfd/kfd/topology/nodes/3/properties` | \
             list this GPU's target in the matrix file instead of `gfx: [host]`",
        );
    }

    #[test]
    fn a_wrong_gpu_id_is_a_warning() {
        check(
            |facts| facts.topology.gpus[0].gpu_id = Err(GpuIdError::NotANumber("x".to_owned())),
            "warning[H003 wrong-gpu-id]: the `gpu_id` file of node 1 contains `x`, not a number | \
             `properties` describes gfx1151, so the GPU is kept | report it to the driver's vendor \
             if this is a physical machine",
        );
    }

    #[test]
    fn a_missing_kfd_has_other_help_in_a_container() {
        check(
            |facts| facts.kfd = Some(DeviceState::Absent),
            "warning[H005 kfd-absent]: GPUs are listed, but `/dev/kfd` does not exist | \
             load the driver with `modprobe amdgpu`",
        );
        check(
            |facts| {
                facts.kfd = Some(DeviceState::Absent);
                facts.container = Some("`/.dockerenv` exists".to_owned());
            },
            "warning[H005 kfd-absent]: GPUs are listed, but `/dev/kfd` does not exist | \
             start the container with `--device=/dev/kfd --device=/dev/dri`",
        );
    }

    #[test]
    fn no_permission_names_the_numeric_group_and_the_exact_option() {
        let denied = DeviceState::NoPermission {
            gid: 105,
            mode: 0o660,
        };
        let fact = "error[H007 no-device-permission]: user 1000 is not allowed to open `/dev/kfd` \
                    | \
                    it belongs to group 105 (render) and has mode 0660 | ";
        check(
            |facts| facts.kfd = Some(denied.clone()),
            &format!(
                "{fact}run `sudo usermod -aG render $USER` and log in again; for a container, `--group-add 105`"
            ),
        );
        check(
            |facts| {
                facts.kfd = Some(denied.clone());
                facts.container = Some("x".to_owned());
            },
            &format!("{fact}start the container with `--group-add 105`"),
        );
        check(
            |facts| {
                let state = DeviceState::NoPermission {
                    gid: 0,
                    mode: 0o644,
                };
                facts.render_nodes = vec![DeviceNode {
                    path: "/dev/dri/renderD128".to_owned(),
                    state,
                }];
            },
            "error[H007 no-device-permission]: user 1000 is not allowed to open \
             `/dev/dri/renderD128` | \
             it belongs to group 0 and has mode 0644 | \
             allow its group to read and write: `sudo chmod g+rw /dev/dri/renderD128`",
        );
    }

    #[test]
    fn a_refused_a_broken_and_a_false_device_differ() {
        check(
            |facts| {
                facts.kfd = Some(DeviceState::DeniedByCgroup {
                    gid: 105,
                    mode: 0o660,
                });
            },
            "warning[H008 device-refused]: the device control group denies access to `/dev/kfd` | \
             start the container with `--device=/dev/kfd --device=/dev/dri`",
        );
        check(
            |facts| {
                facts.kfd = Some(DeviceState::Broken {
                    reason: "No such device".to_owned(),
                });
            },
            "error[H009 broken-device]: `/dev/kfd` does not respond: No such device | \
             search the output of `dmesg` for amdgpu",
        );
        check(
            |facts| facts.kfd = Some(DeviceState::NotCharDevice),
            "error[H006 not-a-device]: `/dev/kfd` is not a character device | \
             remove it, and pass devices with `--device`, not with `--volume`",
        );
    }

    #[test]
    fn engines_that_are_missing_or_do_not_answer_are_reported() {
        check(
            |facts| {
                facts
                    .engines
                    .iter_mut()
                    .for_each(|engine| engine.client = None);
            },
            "note[H010 no-container-engine]: neither docker nor podman is installed | \
             build with `--engine local`, or install one of them",
        );
        check(
            |facts| facts.engines[0].server = None,
            "warning[H011 engine-unreachable]: no daemon responds to the `docker` client | \
             start the daemon, or set `DOCKER_HOST` to its address",
        );
    }

    #[test]
    fn a_control_group_below_the_host_is_a_note_and_too_little_memory_a_warning() {
        let limit = |value| {
            Some(CgroupLimit {
                value,
                directory: "/sys/fs/cgroup/job".to_owned(),
            })
        };
        check(
            |facts| {
                facts.cgroup = CgroupLimits {
                    cpu_millis: limit(2500),
                    memory_bytes: limit(3 << 30),
                }
            },
            "note[H012 limited-by-cgroup]: the control group allows 2.5 of 16 CPUs (`/sys/fs/cgroup/job`) and \
             3.0 GiB of 62.0 GiB memory (`/sys/fs/cgroup/job`) | no action is needed: builds use 2 \
             threads and 3.0 GiB\n\
             warning[H013 little-memory]: a build here has 3.0 GiB of memory | \
             one compile job for GPU kernels takes about 4 GiB | build kernels on another machine, \
             or raise the limit",
        );
    }

    #[test]
    fn a_full_disk_is_reported_once_and_may_be_an_error() {
        check(
            |facts| {
                let disk = |folder: &str| DiskSpace {
                    directory: folder.to_owned(),
                    free_bytes: 5 << 30,
                    total_bytes: 9 << 30,
                };
                facts.disks = vec![disk("/data"), disk("/tmp")];
            },
            "warning[H014 little-disk]: 5.0 GiB are free below `/data` | \
             free some space, or set `TMPDIR` to a larger disk",
        );
        check(
            |facts| facts.disks[0].free_bytes = 1 << 20,
            "error[H014 little-disk]: 1.0 MiB are free below `/data` | \
             free some space, or set `TMPDIR` to a larger disk",
        );
    }

    #[test]
    fn the_override_is_shown_beside_the_hardware() {
        check(
            |facts| facts.overrides.hsa_gfx_version = Some("11.0.0".to_owned()),
            "note[H015 runtime-override]: hardware gfx1151, runtime override gfx1100 | \
             `HSA_OVERRIDE_GFX_VERSION` is `11.0.0` | \
             list `gfx1100` under `gfx` if wheels should run with the override",
        );
        check(
            |facts| facts.overrides.hsa_gfx_version = Some("gfx1100".to_owned()),
            "warning[H016 bad-runtime-override]: `HSA_OVERRIDE_GFX_VERSION` is `gfx1100` | \
             write major, minor and step in decimal, as in `11.0.0` for gfx1100, or unset it",
        );
    }

    #[test]
    fn hidden_gpus_and_uninformative_files_are_reported() {
        check(
            |facts| {
                facts.overrides = RuntimeOverrides {
                    rocr_visible_devices: Some("0".to_owned()),
                    ..RuntimeOverrides::default()
                };
                facts.unreadable = vec![UnreadableFile {
                    path: "/proc/meminfo".to_owned(),
                    reason: "is empty".to_owned(),
                }];
            },
            "note[H017 hidden-gpus]: programs only see the GPUs listed in `ROCR_VISIBLE_DEVICES=0` \
             | \
             unset `ROCR_VISIBLE_DEVICES` to use all of them\n\
             warning[H018 unreadable-host-file]: `/proc/meminfo` is empty | \
             set `max-jobs` in the matrix file if builds take too much",
        );
    }
}
