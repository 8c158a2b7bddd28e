//! The ROCm SDK's packages by the shipped matrix file and recipe: planned, built, checked and
//! published as a rendered workflow does it.

use std::collections::BTreeSet;

use crate::support::Project;
use crate::support::artifacts::Artifacts;
use crate::support::bundle::kpack;
use crate::support::elf::Library;

const MATRIX: &str = "matrices/rocm-sdk.yaml";
const PACKAGES: [&str; 7] = [
    "rocm-7.10.0.tar.gz",
    "rocm_profiler-7.10.0-py3-none-linux_x86_64.whl",
    "rocm_sdk_core-7.10.0-py3-none-linux_x86_64.whl",
    "rocm_sdk_devel-7.10.0-py3-none-linux_x86_64.whl",
    "rocm_sdk_device_gfx1100-7.10.0-py3-none-linux_x86_64.whl",
    "rocm_sdk_device_gfx942-7.10.0-py3-none-linux_x86_64.whl",
    "rocm_sdk_libraries-7.10.0-py3-none-linux_x86_64.whl",
];

/// The shipped matrix file for these targets, with other variables than those of a run.
fn matrix(gfx: &str, vars: &str) -> String {
    let text =
        std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(MATRIX))
            .unwrap();
    let own = |line: &str| match line.split_once(':') {
        Some(("gfx", _)) => format!("gfx: {gfx}\n"),
        Some(("vars", _)) => format!("vars: {vars}\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(own).collect()
}

/// Artifacts that lack nothing, for two targets.
fn artifacts(project: &Project) -> Artifacts<'_> {
    let artifacts = Artifacts::split(project);
    artifacts.programs();
    for target in ["gfx942", "gfx1100"] {
        let archive = format!("blas_lib_{target}/blas/stage/.kpack/blas_lib_{target}.kpack");
        artifacts.file(&archive, &kpack(&[target], &["hipblas"]));
    }
    artifacts
}

/// A project with the matrix file for a folder of artifacts, which is there.
fn project(gfx: &str) -> Project {
    let project = Project::new().file(MATRIX, &matrix(gfx, "{artifacts-from: folder}"));
    artifacts(&project);
    project
}

/// The names in a folder that are none of the program's own.
fn files(project: &Project, folder: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(project.path(folder))
        .into_iter()
        .flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !name.contains(".build.")).collect()
}

/// What the plan names is what the build leaves, and what a release of it is made of.
#[test]
fn the_packages_of_a_plan_are_built_checked_and_published() {
    let project = project("[gfx942, gfx1100]");
    let expected: BTreeSet<String> = PACKAGES.map(str::to_owned).into();
    let plan = project
        .run(&["plan", MATRIX, "--format", "json", "--out", "plan.json"])
        .exits(0);
    assert_eq!(plan.stderr, "wrote plan.json\n");
    let plan: serde_json::Value = serde_json::from_str(&project.read("plan.json")).unwrap();
    let job = &plan["jobs"][0];
    let named = job["wheels"]
        .as_array()
        .unwrap()
        .iter()
        .chain([&job["wheel"]]);
    assert_eq!(
        named
            .map(|name| name.as_str().unwrap().to_owned())
            .collect::<BTreeSet<_>>(),
        expected
    );
    assert_eq!(
        (job["id"].as_str(), job["image"].as_str()),
        (Some("rocm-7.10.0"), None)
    );

    let outcome = project
        .run(&["build", "rocm-7.10.0", "--plan", "plan.json"])
        .exits(0);
    assert_eq!(
        outcome.stdout.lines().count(),
        PACKAGES.len(),
        "{}",
        outcome.stdout
    );
    assert_eq!(files(&project, "dist"), expected);
    let record: serde_json::Value =
        serde_json::from_str(&project.read(".rock/rocm-7.10.0/build.json")).unwrap();
    assert_eq!(
        (
            &record["outcome"],
            record["wheels"].as_array().unwrap().len()
        ),
        (&"done".into(), PACKAGES.len())
    );

    // As the rendered workflow checks and publishes them.
    let wheels: Vec<String> = expected
        .iter()
        .filter(|name| name.contains("-py3-"))
        .map(|name| format!("dist/{name}"))
        .collect();
    let wheels: Vec<&str> = wheels.iter().map(String::as_str).collect();
    project
        .run(
            &[
                &["wheel", "check", "--profile", "sdk", "--no-host-libs"],
                wheels.as_slice(),
            ]
            .concat(),
        )
        .exits(0);
    let publish = [
        "publish",
        "--to",
        "release",
        "--tag",
        "v7.10.0",
        "--plan",
        "plan.json",
        "--dist",
        "dist",
    ];
    let sdist = std::fs::read(project.path("dist/rocm-7.10.0.tar.gz")).unwrap();
    std::fs::remove_file(project.path("dist/rocm-7.10.0.tar.gz")).unwrap();
    let stderr = project.run(&publish).exits(1).stderr;
    assert!(
        stderr.contains("a source distribution is missing: `rocm-7.10.0.tar.gz`"),
        "{stderr}"
    );
    std::fs::write(project.path("dist/rocm-7.10.0.tar.gz"), sdist).unwrap();
    project.run(&publish).exits(0);
    project
        .run(&[
            "index",
            "build",
            "--published",
            "release",
            "--out",
            "simple",
        ])
        .exits(0);
    let page = std::fs::read_to_string(project.path("simple/any/rocm/index.html")).unwrap();
    assert!(page.contains("rocm-7.10.0.tar.gz"), "{page}");
    // What is published is not made again.
    let stdout = project
        .run(&["plan", MATRIX, "--published", "release", "--format", "json"])
        .exits(0)
        .stdout;
    let again: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        (
            again["jobs"].as_array().unwrap().len(),
            again["published"].as_array().unwrap().len()
        ),
        (0, 7)
    );
}

/// The archives of a run are packed as they were fetched.
#[test]
fn the_packages_of_a_run_are_made_of_what_is_fetched() {
    let vars = "{artifacts-from: run, run-id: \"18456789012\", local-staging: staging}";
    let project = Project::new().file(MATRIX, &matrix("[gfx942]", vars));
    artifacts(&project).publish("staging", "18456789012-linux");
    project
        .run(&["build", "--all", "--matrix", MATRIX])
        .exits(0);
    let expected = PACKAGES.iter().filter(|name| !name.contains("gfx1100"));
    assert_eq!(
        files(&project, "dist"),
        expected.map(|name| (*name).to_owned()).collect()
    );
}

#[test]
fn a_resumed_build_rebuilds_packages_of_changed_artifacts() {
    let project = project("[gfx942, gfx1100]");
    let build = || {
        project
            .run(&[
                "build",
                "--all",
                "--matrix",
                MATRIX,
                "--continue",
                "auto",
                "-v",
            ])
            .exits(0)
            .stderr
    };
    build();
    let core = || std::fs::read(project.path(&format!("dist/{}", PACKAGES[2]))).unwrap();
    let first = core();
    let again = build();
    assert!(
        !again.contains("packages"),
        "nothing is to be done: {again}"
    );
    let version = project.path("artifacts/base_run_generic/base/stage/.info/version");
    std::fs::write(version, "7.10.0-1\n").unwrap();
    build();
    assert_ne!(core(), first);
}

#[test]
fn packages_that_would_not_work_are_not_delivered() {
    let project = project("[gfx942, gfx1100]");
    // What core needs lies in the libraries, where nothing leads from core.
    let lost = Library::new()
        .soname("liblost.so.1")
        .exports("lost")
        .needs("libhipblas.so.3", &[])
        .build();
    let place = project.path("artifacts/core-hip_lib_generic/hip/stage/lib/liblost.so.1");
    std::fs::write(place, lost).unwrap();
    let stderr = project
        .run(&["build", "--all", "--matrix", MATRIX])
        .exits(4)
        .stderr;
    assert!(
        stderr.contains("stage `prove`") && stderr.contains("libhipblas.so.3"),
        "{stderr}"
    );
    assert_eq!(files(&project, "dist"), BTreeSet::new());
}

#[test]
fn a_target_without_artifacts_fails_the_build_and_nothing_is_delivered() {
    let project = project("[gfx942, gfx1101]");
    let outcome = project
        .run(&["build", "--all", "--matrix", MATRIX])
        .exits(4);
    let log = project.read(".rock/rocm-7.10.0/logs/build.log");
    assert!(
        (outcome.stderr + &log).contains("there are no artifacts for gfx1101"),
        "{log}"
    );
    assert_eq!(files(&project, "dist"), BTreeSet::new());
    std::fs::remove_dir_all(project.path("artifacts")).unwrap();
    let stderr = project
        .run(&["build", "--all", "--matrix", MATRIX])
        .exits(1)
        .stderr;
    assert!(
        stderr.contains("error[B077 missing-source]")
            && stderr.contains("`artifacts`, which does not exist"),
        "{stderr}"
    );
}

/// What would be run for the first job, a command a line.
fn commands(vars: &str, more: &str) -> Vec<String> {
    let project = Project::new().file(MATRIX, &(matrix("[gfx94X-dcgpu, gfx1151]", vars) + more));
    let stdout = project
        .run(&["build", "--all", "--dry-run", "--matrix", MATRIX])
        .exits(0)
        .stdout;
    let commands = stdout
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("rock-matrix sdk "));
    let (proof, others): (Vec<&str>, Vec<&str>) =
        commands.partition(|line| *line == "rock-matrix sdk verify dist");
    assert_eq!(proof.len(), 1, "{stdout}");
    others.into_iter().map(str::to_owned).collect()
}

#[test]
fn artifacts_come_from_a_run_or_from_a_folder() {
    let build = "--out=. --version=7.10.0 --platform=linux --linux-gfx=gfx94X-dcgpu,gfx1151";
    let fetch = |repository: &str, more: &str, end: &str| {
        format!(
            "rock-matrix sdk fetch --run-id=123 --run-github-repo={repository} {more}--platform=linux '--gfx=gfx94X-dcgpu;gfx1151'{end} --out=artifacts"
        )
    };
    let made = format!("rock-matrix sdk build --artifact-dir=artifacts {build}");
    let expand = " --expand-family-to-targets";
    assert_eq!(
        commands("{artifacts-from: run, run-id: \"123\"}", ""),
        [fetch("ROCm/TheRock", "", expand), made.clone()]
    );
    let staging =
        "{artifacts-from: run, run-id: \"123\", run-github-repo: o/r, local-staging: staged}";
    assert_eq!(
        commands(staging, ""),
        [
            fetch("o/r", "--local-staging=[ROOT]/staged ", expand),
            made.clone()
        ]
    );
    for (folder, shown) in [("mine", "[ROOT]/mine"), ("/srv/mine", "/srv/mine")] {
        let vars = format!(
            "{{artifact-dir: {folder}, windows-families: gfx1151, strict: \"on\", compress-wheels: \"off\", compress-devel: \"on\"}}"
        );
        let more =
            "--windows-gfx=gfx1151 --devel-tarball-compression --no-wheel-compression --strict";
        assert_eq!(
            commands(&vars, ""),
            [format!(
                "rock-matrix sdk build --artifact-dir={shown} {build} {more}"
            )]
        );
    }
}

#[test]
fn what_cannot_be_made_is_refused_before_anything_is_fetched() {
    for (vars, text) in [
        (
            "{artifacts-from: run}",
            "`artifacts-from: run` requires `run-id`",
        ),
        (
            "{artifacts-from: index}",
            "`artifacts-from: index` is invalid",
        ),
        ("{mode: split}", "`mode: split` is invalid"),
        (
            "{mode: legacy}",
            "the packages of gfx94X-dcgpu,gfx1151 would have the same names without `mode: kpack`",
        ),
    ] {
        let project = Project::new().file(MATRIX, &matrix("[gfx94X-dcgpu, gfx1151]", vars));
        let stderr = project.run(&["check", MATRIX]).exits(1).stderr;
        assert!(stderr.contains(text), "{vars}: {stderr}");
    }
}

#[test]
fn a_build_that_is_not_split_has_libraries_for_its_one_family() {
    let project = Project::new().file(MATRIX, &matrix("[gfx94X-dcgpu]", "{mode: legacy}"));
    let artifacts = Artifacts::new(&project, false);
    let library = crate::support::artifacts::library;
    artifacts.executable(
        "core-hip_lib_generic/hip/stage/lib/libamdhip64.so.7",
        library("libamdhip64.so.7"),
    );
    artifacts.executable(
        "blas_lib_gfx94X-dcgpu/blas/stage/lib/libhipblas.so.3",
        library("libhipblas.so.3"),
    );
    artifacts.executable(
        "rocprofiler-systems_lib_generic/p/stage/lib/librocprof-sys.so.1",
        library("librocprof-sys.so.1"),
    );
    artifacts.programs();
    artifacts.executable("core-hip_run_generic/hip/stage/bin/hipcc", b"#!/bin/sh\n");
    let compute =
        "rocprofiler-compute_run_generic/p/stage/libexec/rocprofiler-compute/rocprof-compute";
    artifacts.executable(compute, b"#!/bin/sh\n");
    project
        .run(&["build", "--all", "--matrix", MATRIX])
        .exits(0);
    let built = files(&project, "dist");
    assert!(
        built.contains("rocm_sdk_libraries_gfx94x_dcgpu-7.10.0-py3-none-linux_x86_64.whl"),
        "{built:?}"
    );
    assert!(
        built.iter().all(|name| !name.contains("device")) && built.len() == 5,
        "{built:?}"
    );
}

/// A recipe of one's own that leaves a source distribution beside a wheel.
#[test]
fn a_source_distribution_of_another_name_is_not_delivered() {
    let recipe = "recipe: 1\nname: own\nleaves: sdist\nwheels:\n  - {distribution: own-part, same-version: true}\nsteps:\n  \
                  - {stage: build, shell: bash, script: 'mkdir -p dist; : >dist/own-2.0.tar.gz; : >dist/own_part-1.0-py3-none-linux_x86_64.whl'}\n\
                  collect: {wheels: 'dist/*.whl', archive: 'dist/*.tar.gz'}\n";
    let matrix = "version: 1\ndistribution: own\nrecipe: own\naxes: {own: [\"1.0\"]}\npython-from: host\ntorch-from: host\nrepair: off\n";
    let project = Project::new()
        .file("recipes/own.yaml", recipe)
        .file("m.yaml", matrix);
    let stderr = project
        .run(&[
            "--recipes",
            "recipes",
            "build",
            "--all",
            "--matrix",
            "m.yaml",
        ])
        .exits(1)
        .stderr;
    assert!(
        stderr.contains("the build produced `own-2.0.tar.gz`, which is not the job's"),
        "{stderr}"
    );
    assert_eq!(files(&project, "dist"), BTreeSet::new());
    std::fs::write(
        project.path("recipes/own.yaml"),
        recipe.replace("own-2.0", "own-1.0"),
    )
    .unwrap();
    project
        .run(&[
            "--recipes",
            "recipes",
            "build",
            "--all",
            "--matrix",
            "m.yaml",
        ])
        .exits(0);
    assert_eq!(files(&project, "dist").len(), 2);
}

#[test]
fn invalid_rows_of_wheels_are_reported_once_for_each_file() {
    let recipe = "recipe: 1\nname: own\nwheels:\n  - {distribution: 'own-{{ each }}', each: '{{ targets }}'}\n  - {distribution: '{{ \
                  gfx|first }}!'}\nsteps:\n  - {stage: a, rock-matrix: [sdk, targets], argv: [x]}\ncollect: {wheels: 'dist/*.whl'}\n";
    let matrix =
        "version: 1\ndistribution: own\nrecipe: own\naxes: {own: [\"1.0\"]}\ngfx: [gfx942]\n";
    let project = Project::new()
        .file("recipes/own.yaml", recipe)
        .file("m.yaml", matrix);
    let stderr = project
        .run(&["--recipes", "recipes", "check", "m.yaml"])
        .exits(1)
        .stderr;
    assert!(
        stderr.contains("step `a` has both `argv` and `rock-matrix`"),
        "{stderr}"
    );
    std::fs::write(
        project.path("recipes/own.yaml"),
        recipe.replace(", argv: [x]", ""),
    )
    .unwrap();
    let stderr = project
        .run(&["--recipes", "recipes", "plan", "m.yaml"])
        .exits(1)
        .stderr;
    assert!(
        stderr.contains("cannot evaluate `{{ targets }}` of the wheel `own-{{ each }}`"),
        "{stderr}"
    );
    assert!(
        stderr.contains("cannot evaluate `{{ gfx|first }}!` of the wheel"),
        "{stderr}"
    );
}

#[test]
fn files_whose_wheels_are_checked_in_other_ways_do_not_share_a_workflow() {
    let flash = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\naxes: {flash-attn: [\"2.7.4.post1\"], python: [\"3.11\"], torch: \
                 [\"2.5.1\"], rocm: [\"6.2\"], backend: [triton]}\n";
    let project = project("[gfx942]").file("matrices/flash-attn.yaml", flash);
    let stderr = project.run(&["render", "workflow"]).exits(1).stderr;
    assert!(
        stderr.contains(
            "error[P040 options-differ]: the files of a workflow have different `recipe`\n"
        ),
        "{stderr}"
    );
}
