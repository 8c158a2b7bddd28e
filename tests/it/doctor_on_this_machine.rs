//! `doctor`: GPUs of seven machines' trees, what can be wrong with one, and runners with limits
//! below their host's.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rock_matrix::host::{self, DeviceState};
use rock_matrix::sys::{Environment, HostRoots, read_host_facts};

use crate::support::{Outcome, Project, assert_file};

const TREES: [&str; 7] = [
    "cpu-only",
    "mi250x-2gcd",
    "mi300x-8",
    "mixed-igpu-dgpu",
    "rx7900xtx",
    "rx9070",
    "strix-halo",
];

/// A project in which this machine's engines and GPU variables are out of sight.
fn quiet() -> Project {
    [
        "PATH",
        "HSA_OVERRIDE_GFX_VERSION",
        "ROCR_VISIBLE_DEVICES",
        "HIP_VISIBLE_DEVICES",
    ]
    .into_iter()
    .fold(Project::new(), |project, name| project.env(name, ""))
}

/// A project with a copy of one machine's tree in `tree`.
fn with_tree(name: &str) -> Project {
    quiet().copy(&format!("tests/fixtures/kfd/{name}"), "tree")
}

fn doctor(project: &Project) -> Outcome {
    project.run(&["doctor", "--sysfs-root", "tree"]).exits(0)
}

fn section<'a>(text: &'a str, title: &str) -> &'a str {
    text.split("\n\n")
        .find(|section| section.starts_with(title))
        .unwrap_or_else(|| panic!("no {title} in {text}"))
}

fn node(number: u32) -> String {
    format!("tree/sys/class/kfd/kfd/topology/nodes/{number}")
}

#[test]
fn the_gpus_of_seven_machines_are_read_as_recorded() {
    for name in TREES {
        let project = with_tree(name);
        let outcome = doctor(&project);
        let report = project
            .run(&["doctor", "--sysfs-root", "tree", "--format", "json"])
            .exits(0)
            .json();
        let gfx = outcome
            .stdout
            .lines()
            .find(|line| line.contains("gfx: [host]"))
            .unwrap();
        let json = serde_json::to_string_pretty(&report["gpus"]).unwrap();
        let recorded = format!(
            "{}\n\n{}\n\n{json}\n",
            section(&outcome.stdout, "GPUs"),
            gfx.trim()
        );
        assert_file(
            &format!("tests/it/doctor_on_this_machine/{name}.txt"),
            &recorded,
        );
    }
}

#[test]
fn no_gpu_is_a_note_and_not_a_fault() {
    // How much memory is free is this machine's own.
    let stderr = doctor(&with_tree("cpu-only")).stderr;
    let findings: Vec<&str> = stderr
        .split("\n\n")
        .filter(|finding| !finding.contains("[H014 "))
        .collect();
    insta::assert_snapshot!(findings.join("\n\n"), @r"
    note[H001 no-gpu]: no AMD GPU was found
     = note: `tree/sys/class/kfd/kfd/topology/nodes` lists no GPU
    help: list the targets in the matrix file, as in `gfx: [gfx90a, gfx942]`; builds need no GPU

    note[H010 no-container-engine]: neither docker nor podman is installed
    help: build with `--engine local`, or install one of them
    ");
}

#[test]
fn a_tree_without_a_driver_has_no_gpu_either() {
    let project = quiet().file("tree/sys/kernel/mm/ksm/run", "0\n");
    let outcome = doctor(&project);
    assert!(
        outcome
            .stderr
            .contains("`tree/sys/class/kfd/kfd/topology/nodes` does not exist"),
        "{}",
        outcome.stderr
    );
    assert_eq!(section(&outcome.stdout, "GPUs"), "GPUs\n  none");
}

#[test]
fn the_folder_given_is_the_one_above_sys() {
    let project = with_tree("rx9070");
    let stderr = project
        .run(&["doctor", "--sysfs-root", "tree/sys"])
        .exits(1)
        .stderr;
    insta::assert_snapshot!(stderr, @r"
    error[H019 no-such-tree]: `tree/sys` has no directory `sys`
    help: give the parent directory of `sys`
    ");
}

#[test]
fn a_wrong_gpu_id_file_is_reported_and_the_gpu_is_kept() {
    let project = with_tree("strix-halo").file(&format!("{}/gpu_id", node(1)), "0\n");
    let outcome = doctor(&project);
    assert!(section(&outcome.stdout, "GPUs").contains("gfx1151"));
    assert!(
        outcome.stderr.starts_with(
            "warning[H003 wrong-gpu-id]: the `gpu_id` file of node 1 contains 0, \
                which means a CPU\n"
        ),
        "{}",
        outcome.stderr
    );
}

#[test]
fn malformed_properties_leave_out_one_gpu_and_keep_the_others() {
    let project = with_tree("mi250x-2gcd").file(
        &format!("{}/properties", node(1)),
        "simd_count 440\ngfx_target_version 115100\nvendor_id 4098\n",
    );
    let outcome = doctor(&project);
    insta::assert_snapshot!(section(&outcome.stdout, "GPUs"), @r"
    GPUs
      node  gfx     CUs  VRAM  render node          PCI location
      2     gfx90a  110  -     /dev/dri/renderD129  0000:05:00.0
    ");
    assert!(
        outcome.stderr.starts_with(
            "warning[H002 gpu-node-unreadable]: node 1 is skipped: `gfx_target_version 115100` is \
             not a valid processor"
        ),
        "{}",
        outcome.stderr
    );
}

#[test]
fn nodes_past_nine_come_after_the_others() {
    let text = "simd_count 4\nsimd_per_cu 2\ngfx_target_version 100306\nvendor_id 4098\n";
    let project = (0..12).rev().fold(quiet(), |project, number| {
        project
            .file(&format!("{}/properties", node(number)), text)
            .file(&format!("{}/gpu_id", node(number)), "7\n")
    });
    let gpus = doctor(&project).stdout;
    let numbers: Vec<u32> = section(&gpus, "GPUs")
        .lines()
        .filter_map(|line| line.split_whitespace().next()?.parse().ok())
        .collect();
    assert_eq!(numbers, (0..12).collect::<Vec<_>>());
}

#[test]
fn an_override_is_shown_beside_the_hardware_and_changes_no_target() {
    let project = with_tree("strix-halo").env("HSA_OVERRIDE_GFX_VERSION", "11.0.0");
    let outcome = doctor(&project);
    assert!(
        outcome
            .stderr
            .contains("note[H015 runtime-override]: hardware gfx1151, runtime override gfx1100")
    );
    assert!(outcome.stdout.contains("gfx of `gfx: [host]`  gfx1151"));
}

#[test]
fn this_machine_is_read_without_a_tree() {
    let report = quiet().run(&["doctor", "--format", "json"]);
    // A machine whose devices are wrong is at fault, and that is what the code says.
    let report = if Path::new("/dev/kfd").exists() {
        return;
    } else {
        report.exits(0).json()
    };
    assert_eq!(report["version"], 1);
    assert!(report["build"]["threads"].as_u64().unwrap() >= 1);
    assert!(report["memory"]["total_bytes"].as_u64().unwrap() > 1 << 20);
    assert_eq!(report["devices"][0]["state"], "absent");
}

/// A machine below a folder: `proc`, `dev`, `etc`, `opt` and `sys`.
fn machine(root: PathBuf) -> host::HostFacts {
    read_host_facts(
        &HostRoots {
            machine: root,
            sysfs: None,
        },
        &Environment::default(),
        &[],
    )
}

fn runner(name: &str) -> host::HostFacts {
    let facts = machine(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures/runners")
            .join(name),
    );
    assert_eq!(facts.unreadable, [], "{name}");
    facts
}

#[test]
fn a_runners_control_group_decides_what_a_build_may_use() {
    let shapes = [
        ("hosted-4x15", 4, 15),
        ("pod-64x251-as-8x31", 8, 31),
        ("container-128x62-as-16x30", 16, 30),
        ("v1-32x125-as-3x12", 3, 12),
        ("pinned-96x503-as-6x503", 6, 503),
    ];
    for (name, threads, gib) in shapes {
        let facts = runner(name);
        assert_eq!(
            (
                host::build_threads(&facts),
                host::build_memory_bytes(&facts) >> 30
            ),
            (threads, gib),
            "{name}"
        );
    }
}

#[test]
fn the_folder_that_sets_the_limit_is_named() {
    let limits = runner("pod-64x251-as-8x31").cgroup;
    assert_eq!(
        limits.cpu_millis.unwrap().directory,
        "/sys/fs/cgroup/kubepods/pod7"
    );
    assert_eq!(
        limits.memory_bytes.unwrap().directory,
        "/sys/fs/cgroup/kubepods/pod7"
    );
    assert_eq!(runner("hosted-4x15").cgroup, host::CgroupLimits::default());
}

#[test]
fn devices_are_looked_at_and_not_only_listed() {
    let project = Project::new()
        .file("dev/kfd", "")
        .file("dev/dri/card0", "")
        .file("dev/dri/renderDx", "");
    assert_eq!(
        machine(project.root().to_owned()).kfd,
        Some(DeviceState::NotCharDevice)
    );
    // The null device opens for everyone, as a working `/dev/kfd` does.
    std::fs::remove_file(project.path("dev/kfd")).unwrap();
    for name in ["dev/kfd", "dev/dri/renderD128", "dev/dri/renderD9"] {
        std::os::unix::fs::symlink("/dev/null", project.path(name)).unwrap();
    }
    let facts = machine(project.root().to_owned());
    assert!(
        matches!(facts.kfd, Some(DeviceState::Usable { .. })),
        "{:?}",
        facts.kfd
    );
    let nodes: Vec<&str> = facts
        .render_nodes
        .iter()
        .map(|node| node.path.as_str())
        .collect();
    assert_eq!(nodes, ["/dev/dri/renderD9", "/dev/dri/renderD128"]);
}

#[test]
fn installations_and_markers_are_found_below_the_root() {
    let project = Project::new()
        .file("opt/rocm-6.2.4/.info/version", "6.2.4-139\n")
        .file("opt/rocm/.info/version", "7.1.0-20\n")
        .file("opt/other/.info/version", "1\n")
        .file("run/.containerenv", "");
    let facts = machine(project.root().to_owned());
    let found: Vec<String> = facts
        .rocm
        .iter()
        .map(|rocm| format!("{} {}", rocm.directory, rocm.version))
        .collect();
    assert_eq!(found, ["/opt/rocm 7.1.0-20", "/opt/rocm-6.2.4 6.2.4-139"]);
    assert_eq!(
        facts.container.as_deref(),
        Some("`/run/.containerenv` exists")
    );
}

#[test]
fn a_file_that_is_not_what_the_kernel_writes_is_reported() {
    let project = Project::new().file("proc/meminfo", "MemTotal: plenty\n");
    let facts = machine(project.root().to_owned());
    assert_eq!(facts.unreadable[0].path, "/proc/meminfo");
    assert_eq!(
        facts.unreadable[0].reason,
        "does not have the format that the kernel writes"
    );
}

#[test]
fn a_windows_machine_that_is_described_is_judged_for_builds_of_torch() {
    let project = with_tree("rx9070");
    let given = [
        "--platform",
        "windows",
        "--folder",
        "C:/Users/someone/src/pytorch",
        "--ninja",
        "1.12.1",
    ];
    let python = ["--python", "C:/Program Files/Python312/python.exe"];
    let stderr = project
        .run(&[&["doctor", "--sysfs-root", "tree"], &given[..], &python].concat())
        .exits(0)
        .stderr;
    let findings = &stderr[stderr.find("warning[H031").unwrap()..];
    insta::assert_snapshot!(findings, @"
    warning[H031 old-build-tool]: ninja 1.12.1 is older than 1.13.1
     = note: older versions fail in torch's build with flash attention
    help: install ninja 1.13.1 or later

    warning[H032 unfit-path]: the path of the build folder, `C:/Users/someone/src/pytorch`, has 28 characters, more than 20
     = note: the command lines of the build grow with it, and Windows limits them to 32,767 characters
    help: build in a short folder, such as C:/b/pytorch

    warning[H032 unfit-path]: the path of Python, `C:/Program Files/Python312/python.exe`, contains a space
     = note: builds of torchvision fail with it
    help: install Python for one user, below %LOCALAPPDATA%/Programs/Python, not for all users
    ");
    let short = [
        "--platform",
        "windows",
        "--folder",
        "C:/b/pytorch",
        "--ninja",
        "1.13.1",
    ];
    let stderr = project
        .run(&[&["doctor", "--sysfs-root", "tree"], &short[..]].concat())
        .exits(0)
        .stderr;
    assert!(
        !stderr.contains("H031") && !stderr.contains("H032"),
        "{stderr}"
    );
}

#[test]
fn the_version_of_ninja_is_detected_on_this_machine() {
    let project = with_tree("rx9070").file(
        "bin/ninja",
        "#!/bin/sh\necho 1.10.2.git.kitware.jobserver-1\n",
    );
    let made = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(project.path("bin/ninja"), made).unwrap();
    let bin = project.path("bin");
    let outcome = project
        .env("PATH", bin)
        .run(&["doctor", "--sysfs-root", "tree"])
        .exits(0);
    assert!(
        outcome
            .stdout
            .contains("Build tools\n  ninja  1.10.2.git.kitware.jobserver-1\n"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stderr.contains(
        "warning[H031 old-build-tool]: ninja 1.10.2.git.kitware.jobserver-1 is older than 1.11\n"
    ));
}
