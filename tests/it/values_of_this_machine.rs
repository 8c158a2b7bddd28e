//! `gfx: [host]` and `rocm: [host]`: values that the machine has.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;

use crate::support::{Project, Wheel};

fn project(lines: &str) -> Project {
    let text = format!(
        "version: 1\ndistribution: own\nrecipe: hip-extension\nvars: {{source: .}}\npython-from: host\ntorch-from: host\n{lines}"
    );
    Project::new().file("matrices/own.yaml", &text)
}

const AXES: &str = "axes: {own: [\"1.0\"], python: [\"3.11\"], rocm: [\"6.2\"]}\n";

/// Whether the machine that the tests run on has a GPU of AMD.
fn has_gpu() -> bool {
    std::path::Path::new("/dev/kfd").exists()
}

/// Whether the machine that the tests run on has ROCm where it is looked for first.
fn has_rocm() -> bool {
    let installed = std::fs::read_dir("/opt").into_iter().flatten().flatten();
    installed
        .into_iter()
        .any(|one| one.file_name().to_string_lossy().starts_with("rocm"))
}

#[test]
fn without_a_gpu_the_targets_are_those_of_gfx_fallback() {
    if has_gpu() {
        let _ = writeln!(std::io::stderr(), "skipped: this machine has a GPU of AMD");
        return;
    }
    let lines = format!("{AXES}gfx: [host]\ngfx-fallback: [gfx90a, gfx942, gfx1030, gfx1100]\n");
    let outcome = project(&lines).run(&["plan"]).exits(0);
    insta::assert_snapshot!(outcome.stderr, @r"
    warning[P027 host-without-gpu]: `gfx: [host]` selects this machine's GPUs, and it has none
     --> matrices/own.yaml:8:6
      |
    8 | gfx: [host]
      |      ^^^^^^
      |
      = note: `gfx-fallback` is used: gfx90a, gfx942, gfx1030, gfx1100
    ");
    insta::assert_snapshot!(outcome.stdout, @r"
    matrices/own.yaml: 1 cell, 1 job, 0 excluded
      own-1.0+rocm62-cp311-cp311-linux_x86_64.whl  gfx90a gfx942 gfx1030 gfx1100
    note: source `extension` is copied from `.` without .git, .rock, build, dist, *.egg-info, __pycache__, matrices, releases, virtual environments and files that git ignores
    ");
}

#[test]
fn without_a_gpu_and_a_fallback_gfx_of_this_machine_is_an_error() {
    if has_gpu() {
        let _ = writeln!(std::io::stderr(), "skipped: this machine has a GPU of AMD");
        return;
    }
    let outcome = project(&format!("{AXES}gfx: [host]\n"))
        .run(&["plan"])
        .exits(1);
    insta::assert_snapshot!(outcome.stderr, @r"
    error[P027 host-without-gpu]: `gfx: [host]` selects this machine's GPUs, and it has none
     --> matrices/own.yaml:8:6
      |
    8 | gfx: [host]
      |      ^^^^^^
      |
    help: list the targets, set `gfx-fallback` to the targets to build without a GPU, or build on the machine with the GPU; `rock-matrix doctor` shows the GPUs that it detects
    ");
}

#[test]
fn a_fallback_for_named_targets_is_an_error() {
    let outcome = project(&format!("{AXES}gfx: [gfx942]\ngfx-fallback: [gfx90a]\n"))
        .run(&["check"])
        .exits(1);
    insta::assert_snapshot!(outcome.stderr, @r"
    error[M037 bad-gfx]: `gfx-fallback` has no effect without `gfx: [host]`
     --> matrices/own.yaml:9:16
      |
    9 | gfx-fallback: [gfx90a]
      |                ^^^^^^
      |
    help: write `gfx: [host]`, or remove `gfx-fallback`

    1 file, 1 error, 0 warnings
    ");
}

#[test]
fn rocm_of_this_machine_is_the_one_of_hipconfig() {
    if has_rocm() {
        let _ = writeln!(std::io::stderr(), "skipped: this machine has ROCm in /opt");
        return;
    }
    let lines = "axes: {own: [\"1.0\"], python: [\"3.11\"], rocm: [host]}\ngfx: [gfx90a]\n";
    let project = project(lines).file("bin/hipconfig", "#!/bin/sh\necho 5.2.21153-0\n");
    std::fs::set_permissions(
        project.path("bin/hipconfig"),
        PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    std::fs::create_dir(project.path("empty")).unwrap();
    let path = |project: Project, folder: &str| {
        let folder = project.path(folder).display().to_string();
        project.env("PATH", &folder)
    };
    let project = path(project, "bin");
    let outcome = project.run(&["plan"]).exits(0);
    insta::assert_snapshot!(outcome.stdout, @r"
    matrices/own.yaml: 1 cell, 1 job, 0 excluded
      own-1.0+rocm52-cp311-cp311-linux_x86_64.whl  gfx90a
    note: source `extension` is copied from `.` without .git, .rock, build, dist, *.egg-info, __pycache__, matrices, releases, virtual environments and files that git ignores
    ");
    let pick = [
        "pick",
        "--published",
        "dist",
        "--gfx",
        "RX 7900 XTX, mi300x mi210",
        "--python",
        "3.11",
    ];
    let wheel = "own-1.0+rocm52-cp311-cp311-linux_x86_64.whl";
    std::fs::create_dir(project.path("dist")).unwrap();
    std::fs::write(
        project.path("dist").join(wheel),
        Wheel::named(wheel).bytes(),
    )
    .unwrap();
    let output = project.command(&pick).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.contains("ROCm 5.2, gfx1100 and gfx90a and gfx942"),
        "{errors}"
    );
    // The workflow would ask a runner of GitHub.
    let outcome = project.run(&["render", "workflow"]).exits(0);
    insta::assert_snapshot!(outcome.stderr, @r#"
    warning[P094 host-value-in-workflow]: `rocm: [host]` fails in the workflow: the runner that makes its plan does not have ROCm
     --> matrices/own.yaml:7:47
      |
    7 | axes: {own: ["1.0"], python: ["3.11"], rocm: [host]}
      |                                               ^^^^
      |
    help: write the version
    "#);
    let project = path(project, "empty");
    let outcome = project.run(&["check"]).exits(1);
    insta::assert_snapshot!(outcome.stderr, @r#"
    error[P093 host-without-rocm]: `rocm: [host]` needs one ROCm installation on this machine, but there is none, or several
     --> matrices/own.yaml:7:47
      |
    7 | axes: {own: ["1.0"], python: ["3.11"], rocm: [host]}
      |                                               ^^^^
      |
    help: write the version, or select an installation with ROCM_PATH; `rock-matrix doctor` shows those it finds

    1 file, 1 error, 0 warnings
    "#);
}
