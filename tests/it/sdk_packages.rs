//! The Python packages of the ROCm SDK, made of artifacts.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};
use std::path::Path;
use std::process::Command;

use rock_matrix::elf::{Elf, tag, verify};

use crate::support::artifacts::{Artifacts, library};
use crate::support::rewritten::{Members, members};
use crate::support::{Outcome, Project};

pub fn build(project: &Project, more: &[&str], code: i32) -> Outcome {
    let words = [
        "sdk",
        "build",
        "--artifact-dir",
        "artifacts",
        "--dest-dir",
        "out",
        "--version",
        "7.10.0",
    ];
    let outcome = project.run(&[&words, more].concat()).exits(code);
    if code == 0 {
        // Whatever the story, packages that were made keep their promises.
        project.run(&["sdk", "verify", "out/dist"]).exits(0);
    }
    outcome
}

/// The wheel of a project in `out/dist`.
pub fn wheel(project: &Project, name: &str) -> Members {
    members(&project.path(&format!("out/dist/{name}-7.10.0-py3-none-linux_x86_64.whl")))
}

/// Paths of a folder of a wheel, below it.
fn below(wheel: &Members, folder: &str) -> Vec<String> {
    wheel
        .keys()
        .filter_map(|name| name.strip_prefix(&format!("{folder}/")))
        .map(str::to_owned)
        .collect()
}

/// The members of the tree to build against: path and text of the link, in order.
pub fn devel(project: &Project) -> Vec<(String, Option<String>)> {
    let tar = wheel(project, "rocm_sdk_devel")["rocm_sdk_devel/_devel.tar"]
        .0
        .clone();
    let mut archive = tar::Archive::new(Cursor::new(tar));
    let entries = archive.entries().unwrap().map(|entry| {
        let entry = entry.unwrap();
        let path = entry
            .path()
            .unwrap()
            .strip_prefix("_rocm_sdk_devel")
            .unwrap()
            .display()
            .to_string();
        (
            path,
            entry
                .link_name()
                .unwrap()
                .map(|link| link.display().to_string()),
        )
    });
    entries.collect()
}

/// The search path of a library, which must be an RPATH and stand alone.
fn rpath(bytes: &[u8]) -> String {
    let bytes = bytes.to_vec();
    let elf = Elf::read(&bytes).unwrap();
    let strings = elf.string_table(&bytes).unwrap();
    assert_eq!(elf.dynamic_value(tag::RUNPATH), None);
    assert_eq!(verify(&bytes), []);
    elf.dynamic_strings(&strings, tag::RPATH)
        .unwrap()
        .join(" and ")
}

/// A split build gives exactly these files.
#[test]
fn a_split_build_gives_one_package_a_kind_and_one_a_target() {
    let project = Project::new();
    Artifacts::split(&project);
    let stdout = build(&project, &[], 0).stdout;
    let wheels = [
        "rocm_profiler",
        "rocm_sdk_core",
        "rocm_sdk_devel",
        "rocm_sdk_device_gfx1100",
        "rocm_sdk_device_gfx942",
        "rocm_sdk_libraries",
    ];
    let mut expected: Vec<String> = wheels
        .iter()
        .map(|name| format!("out/dist/{name}-7.10.0-py3-none-linux_x86_64.whl"))
        .collect();
    expected.push("out/dist/rocm-7.10.0.tar.gz".to_owned());
    expected.sort();
    assert_eq!(stdout.lines().collect::<Vec<_>>(), expected);
    for line in stdout.lines().filter(|line| line.contains("-py3-none-")) {
        project.run(&["wheel", "verify", line]).exits(0);
    }
}

/// A library is packed once, under the name that loaders ask for; other names are links to
/// build against.
#[test]
fn a_library_is_packed_under_the_name_that_loaders_ask_for() {
    let project = Project::new();
    Artifacts::split(&project);
    build(&project, &[], 0);
    let core = wheel(&project, "rocm_sdk_core");
    let libraries: Vec<String> = below(&core, "_rocm_sdk_core")
        .into_iter()
        .filter(|path| path.contains("libamdhip64"))
        .collect();
    assert_eq!(libraries, ["lib/libamdhip64.so.7"]);
    let links: BTreeMap<String, Option<String>> = devel(&project).into_iter().collect();
    let link = |path: &str| links[path].clone().unwrap_or_default();
    assert_eq!(
        link("lib/libamdhip64.so.7"),
        "../../_rocm_sdk_core/lib/libamdhip64.so.7"
    );
    assert_eq!(link("lib/libamdhip64.so.7.1.0"), "libamdhip64.so.7");
    assert_eq!(link("lib/libamdhip64.so"), "libamdhip64.so.7");
}

/// Nobody asks for such a library by a SONAME, so each name stays.
#[test]
fn a_library_without_a_soname_is_there_under_each_name() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    let bare = crate::support::elf::Library::new().exports("f").build();
    artifacts.executable("core-hip_lib_generic/hip/stage/lib/libbare.so.1", bare);
    artifacts.link(
        "core-hip_lib_generic/hip/stage/lib/libbare.so",
        "libbare.so.1",
    );
    build(&project, &[], 0);
    let core = wheel(&project, "rocm_sdk_core");
    assert_eq!(
        core["_rocm_sdk_core/lib/libbare.so"],
        core["_rocm_sdk_core/lib/libbare.so.1"]
    );
}

/// What becomes of links that no wheel can hold.
#[test]
fn links_to_folders_and_to_other_artifacts_are_only_in_the_tree_to_build_against() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    artifacts.link("base_run_generic/base/stage/bin/gone", "../nowhere");
    artifacts.link("base_run_generic/base/stage/bin/self", "self");
    artifacts.link(
        "base_run_generic/base/stage/bin/out",
        "../../../../../../outside",
    );
    let stderr = build(&project, &[], 0).stderr;
    assert!(
        stderr.contains("warning[S006 link-to-nowhere]")
            && stderr.contains("leads to itself")
            && stderr.contains("leads out of its artifact"),
        "{stderr}"
    );
    let core = below(&wheel(&project, "rocm_sdk_core"), "_rocm_sdk_core");
    for path in ["llvm", "bin/amdclang", "bin/gone", "bin/self", "bin/out"] {
        assert!(!core.contains(&path.to_owned()), "{path}");
    }
    let links: BTreeMap<String, Option<String>> = devel(&project).into_iter().collect();
    assert_eq!(links["llvm"].as_deref(), Some("lib/llvm"));
    assert_eq!(
        links["bin/amdclang"].as_deref(),
        Some("../lib/llvm/bin/clang")
    );
    for path in ["bin/gone", "bin/self", "bin/out"] {
        assert!(!links.contains_key(path), "{path}");
    }
    let plan = project
        .run(&["sdk", "plan", "--artifact-dir", "artifacts"])
        .exits(0)
        .stdout;
    for line in [
        "llvm of rocm-sdk-core: a link to a directory",
        "bin/amdclang of rocm-sdk-core: a link whose target is not in its artifact",
        "bin/gone of rocm-sdk-devel: a link whose target is not in its artifact",
        "lib/libamdhip64.so of rocm-sdk-core: another name of libamdhip64.so.7, which is included",
    ] {
        assert!(plan.contains(line), "{line}\n{plan}");
    }
    build(&project, &["--keep-dangling", "--overwrite"], 0);
    let links: BTreeMap<String, Option<String>> = devel(&project).into_iter().collect();
    assert_eq!(links["bin/gone"].as_deref(), Some("../nowhere"));
    for path in ["bin/self", "bin/out"] {
        assert!(!links.contains_key(path), "{path} is no package's to hold");
    }
}

/// Libraries search the core package from wherever they are, after what they searched before.
#[test]
fn libraries_search_the_core_package_after_what_they_searched() {
    let project = Project::new();
    Artifacts::split(&project);
    build(&project, &[], 0);
    let core = wheel(&project, "rocm_sdk_core");
    assert_eq!(
        rpath(&core["_rocm_sdk_core/lib/libamdhip64.so.7"].0),
        "$ORIGIN/llvm/lib:$ORIGIN/../../_rocm_sdk_core/lib/llvm/lib:$ORIGIN/../../_rocm_sdk_core/lib/rocm_sysdeps/lib"
    );
    assert_eq!(
        rpath(&core["_rocm_sdk_core/lib/llvm/bin/clang-23"].0),
        "$ORIGIN/../../../../_rocm_sdk_core/lib/llvm/lib:$ORIGIN/../../../../_rocm_sdk_core/lib/rocm_sysdeps/lib"
    );
    let device = wheel(&project, "rocm_sdk_device_gfx942");
    assert_eq!(
        rpath(&device["_rocm_sdk_libraries/lib/libMIOpenCKGroupedConv_gfx942.so"].0),
        "$ORIGIN/llvm/lib:$ORIGIN/../../_rocm_sdk_core/lib:$ORIGIN/../../_rocm_sdk_core/lib/rocm_sysdeps/lib"
    );
}

/// A program stands for a link to a program, as often as links follow each other.
#[test]
fn links_to_programs_run_them_under_their_own_name() {
    // No compiler and no other program is there.
    let project = Project::new().env("PATH", "");
    Artifacts::split(&project);
    build(&project, &[], 0);
    let site = project.path("site");
    for (name, (bytes, mode)) in wheel(&project, "rocm_sdk_core") {
        let path = site.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode))
            .unwrap();
    }
    let run = |site: &Path, program: &Path| {
        let done = Command::new(program).arg("-v").output().unwrap();
        let real = site
            .canonicalize()
            .unwrap()
            .join("_rocm_sdk_core/lib/llvm/bin/clang-23");
        assert_eq!(
            done.status.code(),
            Some(7),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
        assert_eq!(
            String::from_utf8(done.stdout).unwrap(),
            format!("{}\n{}\n-v\n", real.display(), program.display())
        );
    };
    let bin = "_rocm_sdk_core/lib/llvm/bin/clang++";
    run(&site, &site.join(bin));
    let folder = site.join(bin).parent().unwrap().to_owned();
    let by_name = Command::new("sh")
        .args(["-c", "clang++ -v"])
        .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
        .output();
    let stdout = String::from_utf8(by_name.unwrap().stdout).unwrap();
    assert!(stdout.contains("clang++\n-v\n"), "{stdout}");
    let outer = project.path("outer");
    std::os::unix::fs::symlink(site.join(bin), &outer).unwrap();
    run(&site, &outer);
    let moved = project.path("moved to");
    std::fs::rename(&site, &moved).unwrap();
    run(&moved, &moved.join(bin));
}

/// A device package has its code, the list of its files for the tree to build against,
/// and no module.
#[test]
fn a_device_package_lists_its_files_for_the_tree_to_build_against() {
    let project = Project::new();
    Artifacts::split(&project);
    build(&project, &[], 0);
    let device = wheel(&project, "rocm_sdk_device_gfx942");
    let text = String::from_utf8(
        device["_rocm_sdk_libraries/.devel_links/gfx942.json"]
            .0
            .clone(),
    )
    .unwrap();
    let links: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        links["links"][0],
        serde_json::json!({
            "relpath": ".kpack/blas_lib_gfx942.kpack",
            "target": "../../_rocm_sdk_libraries/.kpack/blas_lib_gfx942.kpack",
        })
    );
    assert!(device.contains_key("_rocm_sdk_libraries/lib/rocblas/library/Kernels_gfx942.co"));
    assert!(
        !device.contains_key("_rocm_sdk_libraries/__init__.py"),
        "libraries have it"
    );
    let metadata = String::from_utf8(
        device["rocm_sdk_device_gfx942-7.10.0.dist-info/METADATA"]
            .0
            .clone(),
    )
    .unwrap();
    assert!(
        metadata.contains("\nRequires-Dist: rocm-sdk-libraries==7.10.0\n"),
        "{metadata}"
    );
}

/// Code for a target with and without a feature goes into one package, whose name has no
/// colon.
#[test]
fn features_of_a_target_go_into_its_package() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    artifacts.file(
        "blas_lib_gfx942:xnack+/blas/stage/lib/rocblas/library/Kernels_xnack.co",
        b"x",
    );
    let made = build(&project, &[], 0).stdout;
    assert!(!made.contains(':'), "{made}");
    let device = wheel(&project, "rocm_sdk_device_gfx942");
    for file in ["Kernels_gfx942.co", "Kernels_xnack.co"] {
        assert!(
            device.contains_key(&format!("_rocm_sdk_libraries/lib/rocblas/library/{file}")),
            "{file}"
        );
    }
    for (name, (bytes, _)) in &device {
        assert!(!name.contains(':'), "{name}");
        if name.contains(".devel_links/") || name.contains(".dist-info/") {
            assert!(
                !String::from_utf8_lossy(bytes).contains("gfx942:"),
                "{name}"
            );
        }
    }
}

/// Nothing is written where a target has no artifacts.
#[test]
fn a_target_without_artifacts_stops_the_build_before_anything_is_written() {
    let project = Project::new();
    Artifacts::split(&project);
    let stderr = build(
        &project,
        &["--linux-amdgpu-families", "gfx94X-dcgpu,gfx110X-dgpu"],
        1,
    )
    .stderr;
    assert!(
        stderr.starts_with(
            "error[S009 missing-targets]: there are no artifacts for gfx1101, gfx1102"
        ),
        "{stderr}"
    );
    assert!(!project.has("out/dist"), "nothing is written");
    let stderr = build(&project, &["--linux-amdgpu-families", "gfx94"], 1).stderr;
    assert!(
        stderr.contains("there is no family `gfx94`") && stderr.contains("gfx94X-dcgpu"),
        "{stderr}"
    );
}

/// Without the manifest of the build nobody knows how packages are to be made.
#[test]
fn the_manifest_of_the_build_determines_the_packages() {
    let project = Project::new();
    Artifacts::split(&project);
    let manifest =
        "artifacts/base_lib_generic/base/aux-overlay/stage/share/therock/therock_manifest.json";
    std::fs::remove_file(project.path(manifest)).unwrap();
    let stderr = build(&project, &[], 1).stderr;
    assert!(
        stderr.starts_with("error[S003 no-sdk-manifest]") && stderr.contains(manifest),
        "{stderr}"
    );
    build(&project, &["--mode", "kpack"], 0);
}

/// What cannot be written to stays what it is, but for that; scripts keep their first line
/// and may be run.
#[test]
fn modes_are_those_of_the_artifact_with_the_owner_allowed_to_write() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    artifacts.file("base_run_generic/base/stage/share/read-only", b"x");
    let path = project.path("artifacts/base_run_generic/base/stage/share/read-only");
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o444)).unwrap();
    build(&project, &[], 0);
    let core = wheel(&project, "rocm_sdk_core");
    assert_eq!(core["_rocm_sdk_core/share/read-only"].1, 0o644);
    assert_eq!(
        core["_rocm_sdk_core/bin/hipcc"],
        (b"#!/bin/sh\necho hipcc\n".to_vec(), 0o755)
    );
}

/// A name that would break out of Python sources is no artifact.
#[test]
fn a_folder_with_a_hostile_name_is_reported_and_left_out() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    artifacts.file("x_lib_gfx9');import os#/blas/stage/lib/a.co", b"x");
    let stderr = build(&project, &[], 0).stderr;
    assert!(
        stderr.contains("warning[S002 bad-artifact]")
            && stderr.contains("is neither a family nor a gfx target"),
        "{stderr}"
    );
}

/// Neither the number of threads nor the order of folders on the disk shows.
#[test]
fn two_builds_make_the_same_bytes() {
    let project = Project::new();
    Artifacts::split(&project);
    build(&project, &["--jobs", "1"], 0);
    let files = || -> BTreeMap<String, Vec<u8>> {
        let listed = std::fs::read_dir(project.path("out/dist")).unwrap();
        listed
            .map(|file| file.unwrap())
            .map(|file| {
                (
                    file.file_name().into_string().unwrap(),
                    std::fs::read(file.path()).unwrap(),
                )
            })
            .collect()
    };
    let first = files();
    let again = Project::new();
    copy_backwards(&project.path("artifacts"), &again.path("artifacts"));
    std::fs::remove_dir_all(project.path("artifacts")).unwrap();
    std::fs::rename(again.path("artifacts"), project.path("artifacts")).unwrap();
    build(&project, &["--jobs", "8", "--overwrite"], 0);
    assert!(files() == first, "the bytes differ");
}

/// Copies a tree, each folder's last entry first.
fn copy_backwards(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    let mut entries: Vec<_> = std::fs::read_dir(from)
        .unwrap()
        .map(|entry| entry.unwrap())
        .collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.file_name()));
    for entry in entries {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            copy_backwards(&path, &target);
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(std::fs::read_link(&path).unwrap(), target).unwrap();
        } else {
            std::fs::copy(&path, target).unwrap();
        }
    }
}

/// A second run into the same folder mixes nothing.
#[test]
fn a_folder_with_packages_is_replaced_as_a_whole_or_left() {
    let project = Project::new();
    Artifacts::split(&project);
    build(&project, &[], 0);
    std::fs::remove_dir_all(project.path("artifacts/blas_lib_gfx1100")).unwrap();
    let stderr = build(&project, &[], 1).stderr;
    assert!(
        stderr.starts_with("error[S011 sdk-output-exists]"),
        "{stderr}"
    );
    assert!(project.has("out/dist/rocm_sdk_device_gfx1100-7.10.0-py3-none-linux_x86_64.whl"));
    build(&project, &["--overwrite"], 0);
    assert!(!project.has("out/dist/rocm_sdk_device_gfx1100-7.10.0-py3-none-linux_x86_64.whl"));
}

/// Profilers take their own files only, and short names of their libraries are copies.
#[test]
fn the_profiler_takes_its_own_files_and_short_names_of_its_libraries() {
    let project = Project::new();
    Artifacts::split(&project);
    build(&project, &[], 0);
    let profiler = below(&wheel(&project, "rocm_profiler"), "_rocm_profiler");
    assert_eq!(
        profiler,
        [
            "__init__.py",
            "bin/rocprof-compute",
            "lib/librocprof-sys.so",
            "lib/librocprof-sys.so.1",
            "libexec/rocprofiler-compute/rocprof-compute",
        ]
    );
    for part in ["systems_lib", "compute_run"] {
        std::fs::remove_dir_all(project.path(&format!("artifacts/rocprofiler-{part}_generic")))
            .unwrap();
    }
    let stderr = build(&project, &["--overwrite"], 1).stderr;
    assert!(
        stderr.contains("there is no artifact for the package `rocm-profiler`"),
        "{stderr}"
    );
}

/// A package that nothing feeds, and a folder without artifacts.
#[test]
fn a_folder_without_artifacts_is_reported() {
    let project = Project::new().file("artifacts/readme", "");
    let stderr = build(&project, &[], 1).stderr;
    assert!(
        stderr.starts_with("error[S001 no-artifact]: there is no artifact in the directory"),
        "{stderr}"
    );
    assert!(!project.has("out"));
}

#[test]
fn the_first_of_two_artifacts_with_one_path_is_used() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    artifacts.file("base_run_generic/base/stage/share/same", b"same");
    artifacts.file("hipify_run_generic/hipify/stage/share/same", b"same");
    artifacts.file("base_run_generic/base/stage/share/other", b"of base");
    artifacts.file("hipify_run_generic/hipify/stage/share/other", b"of hipify");
    let stderr = build(&project, &[], 0).stderr;
    assert_eq!(
        stderr.matches("warning[S004 overlapping-files]").count(),
        1,
        "{stderr}"
    );
    assert!(
        stderr.contains("`share/other`")
            && stderr.contains("the other one is used: base_run_generic"),
        "{stderr}"
    );
    assert_eq!(
        wheel(&project, "rocm_sdk_core")["_rocm_sdk_core/share/other"].0,
        b"of base"
    );
    let stderr = build(&project, &["--strict", "--overwrite"], 1).stderr;
    assert!(stderr.contains("error[S004 overlapping-files]"), "{stderr}");
}

#[test]
fn a_path_that_is_a_file_here_and_a_folder_there_is_refused() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    artifacts.file("base_run_generic/base/stage/share/x", b"file");
    artifacts.file("hipify_run_generic/hipify/stage/share/x/y", b"in a folder");
    artifacts.file("hipify_run_generic/hipify/stage/share/x/z", b"in a folder");
    let stderr = build(&project, &[], 1).stderr;
    assert!(
        stderr.contains("error[S005 file-and-folder]: `share/x` is both a file and a directory"),
        "{stderr}"
    );
    assert!(
        stderr.contains("the directory is from hipify_run_generic/hipify/stage/share/x/y"),
        "{stderr}"
    );
    assert_eq!(
        stderr.matches("error[").count(),
        1,
        "however much the folder holds: {stderr}"
    );
    assert!(!project.has("out/dist"));
}

#[test]
fn names_that_differ_only_in_case_are_refused_for_windows() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    artifacts.file("base_run_generic/base/stage/share/Readme", b"a");
    artifacts.file("base_run_generic/base/stage/share/README", b"b");
    let stderr = build(&project, &[], 0).stderr;
    assert!(
        stderr.contains("warning[S007 case-clash]: `share/README` and `share/Readme`"),
        "{stderr}"
    );
    let stderr = build(&project, &["--platform", "windows", "--overwrite"], 1).stderr;
    assert!(stderr.contains("error[S007 case-clash]"), "{stderr}");
    assert!(
        stderr.contains("error[S012 program-link]"),
        "no program stands for another on Windows: {stderr}"
    );
}

#[test]
fn a_mode_that_is_not_that_of_the_build_is_reported() {
    let project = Project::new();
    Artifacts::split(&project);
    let stderr = build(&project, &["--mode", "legacy"], 0).stderr;
    assert!(
        stderr.starts_with("warning[S008 other-sdk-mode]: the manifest of the build says kpack"),
        "{stderr}"
    );
}

#[test]
fn a_version_that_installers_write_otherwise_is_refused() {
    let project = Project::new();
    Artifacts::split(&project);
    let words = [
        "sdk",
        "build",
        "--artifact-dir",
        "artifacts",
        "--dest-dir",
        "out",
        "--version",
    ];
    for (version, help) in [
        ("7.10.0-rc1", "pass `7.10.0rc1` with `--version`"),
        ("latest", "pass one such as `7.10.0`"),
    ] {
        let stderr = project
            .run(&[&words[..], &[version]].concat())
            .exits(1)
            .stderr;
        assert!(
            stderr.starts_with("error[S010 bad-sdk-version]") && stderr.contains(help),
            "{stderr}"
        );
    }
}

/// What no search path can go into is packed as it is.
#[test]
fn static_programs_and_code_for_gpus_keep_their_bytes() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    let mut code = crate::support::artifacts::library("kernel.so");
    // `e_machine` of AMD GPUs.
    code[18..20].copy_from_slice(&224_u16.to_le_bytes());
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("p.c"), "int main(void) { return 0; }\n").unwrap();
    let made = Command::new("cc")
        .current_dir(folder.path())
        .args(["-static", "p.c", "-o", "p"])
        .status()
        .unwrap();
    assert!(made.success());
    let program = std::fs::read(folder.path().join("p")).unwrap();
    artifacts.executable("base_run_generic/base/stage/lib/kernel.so", &code);
    artifacts.executable("base_run_generic/base/stage/bin/static", &program);
    artifacts.file("base_run_generic/base/stage/lib/libx.a", b"!<arch>\n");
    artifacts.file(
        "base_run_generic/base/stage/lib/libtext.so",
        b"INPUT(libx.so.1)\n",
    );
    build(&project, &[], 0);
    let core = wheel(&project, "rocm_sdk_core");
    assert!(
        core["_rocm_sdk_core/lib/kernel.so"].0 == code
            && core["_rocm_sdk_core/bin/static"].0 == program
    );
    assert_eq!(core["_rocm_sdk_core/lib/libx.a"].0, b"!<arch>\n");
    assert_eq!(
        core["_rocm_sdk_core/lib/libtext.so"].0,
        b"INPUT(libx.so.1)\n"
    );
}

/// A package of libraries for each family, and for each a selector and a tree to build
/// against of its own.
#[test]
fn a_build_by_families_gives_each_its_libraries_and_its_tree() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    for target in ["gfx942", "gfx1100"] {
        std::fs::remove_dir_all(project.path(&format!("artifacts/blas_lib_{target}"))).unwrap();
    }
    for family in ["gfx94X-dcgpu", "gfx110X-all"] {
        artifacts.file(
            &format!("blas_lib_{family}/blas/stage/lib/rocblas/library/{family}.co"),
            b"code",
        );
    }
    let manifest =
        "artifacts/base_lib_generic/base/aux-overlay/stage/share/therock/therock_manifest.json";
    std::fs::write(project.path(manifest), "{\"flags\": {}}").unwrap();
    let made = build(&project, &[], 0).stdout;
    for file in [
        "out/dist/rocm_sdk_libraries_gfx94x_dcgpu-7.10.0-py3-none-linux_x86_64.whl",
        "out/dist/rocm_sdk_libraries_gfx110x_all-7.10.0-py3-none-linux_x86_64.whl",
        "out/dist/gfx94X-dcgpu/rocm-7.10.0.tar.gz",
        "out/dist/gfx110X-all/rocm_sdk_devel-7.10.0-py3-none-linux_x86_64.whl",
    ] {
        assert!(made.lines().any(|line| line == file), "{file}\n{made}");
    }
    let libraries = wheel(&project, "rocm_sdk_libraries_gfx94x_dcgpu");
    assert!(
        libraries
            .contains_key("_rocm_sdk_libraries_gfx94X_dcgpu/lib/rocblas/library/gfx94X-dcgpu.co")
    );
    assert!(
        libraries.contains_key("rocm_sdk_libraries_gfx94X_dcgpu/__init__.py"),
        "a name that can be imported"
    );
    let metadata = &libraries["rocm_sdk_libraries_gfx94x_dcgpu-7.10.0.dist-info/METADATA"].0;
    assert!(
        String::from_utf8_lossy(metadata).contains("\nName: rocm-sdk-libraries-gfx94X-dcgpu\n")
    );
    for family in ["gfx94X-dcgpu", "gfx110X-all"] {
        let texts = selector(
            &std::fs::read(project.path(&format!("out/dist/{family}/rocm-7.10.0.tar.gz"))).unwrap(),
        );
        let module = &texts["rocm-7.10.0/src/rocm_sdk/_dist_info.py"];
        for line in [
            format!("DEFAULT_TARGET_FAMILY = \"{family}\""),
            format!("AVAILABLE_TARGET_FAMILIES = [\"{family}\"]"),
        ] {
            assert!(
                module.lines().any(|found| found == line),
                "{line}: {module}"
            );
        }
    }
}

/// The stub is what its source says.
#[test]
fn the_stub_is_made_of_the_source_beside_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/rock-sdk/src/stub");
    let folder = tempfile::tempdir().unwrap();
    let run = |program: &str, words: &[&str]| {
        let done = Command::new(program)
            .current_dir(folder.path())
            .args(words)
            .output();
        let done =
            done.unwrap_or_else(|_| panic!("{program}, which the linker of Rust comes with"));
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
    };
    let source = root.join("x86_64.S").display().to_string();
    run("as", &["--64", &source, "-o", "stub.o"]);
    run(
        "objcopy",
        &["-O", "binary", "-j", ".text", "stub.o", "stub.bin"],
    );
    let made = std::fs::read(folder.path().join("stub.bin")).unwrap();
    assert!(made == std::fs::read(root.join("x86_64.bin")).unwrap());
}

/// Every command that the page shows, run as it stands there.
#[test]
fn the_commands_of_the_page_run() {
    let project = Project::new().copy("matrices/rocm-sdk.yaml", "matrices/rocm-sdk.yaml");
    let project = project.env("THEROCK_LOCAL_STAGING_DIR", "staging");
    Artifacts::split(&project).publish("staging", "18456789012-linux");
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/sdk-packages.md"))
            .unwrap();
    let commands: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("$ rock-matrix "))
        .collect();
    assert!(commands.len() >= 5, "{commands:?}");
    for command in commands {
        project
            .run(&command.split_whitespace().collect::<Vec<_>>())
            .exits(0);
    }
}

/// The files of a source distribution, as texts.
fn selector(packed: &[u8]) -> BTreeMap<String, String> {
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(packed));
    let text = |entry: std::io::Result<tar::Entry<'_, _>>| {
        let mut entry = entry.unwrap();
        let mut text = String::new();
        entry.read_to_string(&mut text).unwrap();
        (entry.path().unwrap().display().to_string(), text)
    };
    archive.entries().unwrap().map(text).collect()
}

/// The source distribution knows the targets of both platforms, whichever of them
/// made it.
#[test]
fn both_platforms_make_the_same_source_distribution_of_the_targets_of_both() {
    let families = [
        "--linux-amdgpu-families",
        "gfx94X-dcgpu,gfx110X-dgpu",
        "--windows-amdgpu-families",
        "gfx110X-dgpu",
    ];
    let sdist = |platform: &str, targets: &[&str]| {
        let project = Project::new();
        let artifacts = Artifacts::split(&project);
        for target in ["gfx942", "gfx1100"] {
            std::fs::remove_dir_all(project.path(&format!("artifacts/blas_lib_{target}"))).unwrap();
        }
        for target in targets {
            artifacts.file(
                &format!("blas_lib_{target}/blas/stage/lib/{target}.co"),
                target.as_bytes(),
            );
        }
        if platform == "windows" {
            artifacts.windows(&[]);
        }
        // Only links that Windows cannot hold are in the way there.
        for link in [
            "amd-llvm_run_generic/llvm/stage/lib/llvm/bin/clang",
            "amd-llvm_run_generic/llvm/stage/lib/llvm/bin/clang++",
            "base_run_generic/base/stage/bin/amdclang",
        ] {
            std::fs::remove_file(project.path("artifacts").join(link)).unwrap();
        }
        let made = build(
            &project,
            &[&families[..], &["--platform", platform]].concat(),
            0,
        )
        .stdout;
        // There is no profiler for Windows, whatever artifacts there are.
        assert_eq!(
            made.contains("rocm_profiler"),
            platform == "linux",
            "{made}"
        );
        std::fs::read(project.path("out/dist/rocm-7.10.0.tar.gz")).unwrap()
    };
    let linux = sdist("linux", &["gfx942", "gfx1100", "gfx1101", "gfx1102"]);
    assert!(linux == sdist("windows", &["gfx1100", "gfx1101", "gfx1102"]));
    let texts = selector(&linux);
    let module = &texts["rocm-7.10.0/src/rocm_sdk/_dist_info.py"];
    for line in [
        r#"DEFAULT_TARGET_FAMILY = "gfx1100""#,
        r#"AVAILABLE_TARGET_FAMILIES = ["gfx1100","gfx1101","gfx1102","gfx942"]"#,
        r#"LINUX_TARGET_FAMILIES = ["gfx1100","gfx1101","gfx1102","gfx942"]"#,
        r#"WINDOWS_TARGET_FAMILIES = ["gfx1100","gfx1101","gfx1102"]"#,
    ] {
        assert!(
            module.lines().any(|found| found == line),
            "{line}: {module}"
        );
    }
    let about = &texts["rocm-7.10.0/PKG-INFO"];
    for line in [
        "Provides-Extra: device-gfx942",
        "Provides-Extra: device-gfx1100",
        r#"Requires-Dist: rocm-sdk-device-gfx942==7.10.0; sys_platform == "linux" and extra == "device-gfx942""#,
        r#"Requires-Dist: rocm-sdk-device-gfx1100==7.10.0; extra == "device-gfx1100""#,
    ] {
        assert!(about.lines().any(|found| found == line), "{line}: {about}");
    }
    assert!(texts.values().all(|text| !text.contains('\r')));
}

#[test]
fn names_that_files_and_modules_cannot_have_are_refused_before_anything_is_made() {
    let project = Project::new();
    Artifacts::split(&project);
    let stderr = build(&project, &["--version-suffix", "x y"], 2).stderr;
    assert!(
        stderr.contains("module names contain only letters, digits and `_`"),
        "{stderr}"
    );
    for tag in ["../../x y", "linux\nx86_64", "Linux"] {
        let project = Project::new().env("ROCM_SDK_WHEEL_PLATFORM_TAG", tag);
        Artifacts::split(&project);
        let stderr = build(&project, &[], 1).stderr;
        assert!(
            stderr.contains("is not a platform tag")
                && stderr.contains("ROCM_SDK_WHEEL_PLATFORM_TAG"),
            "{stderr}"
        );
        assert!(!project.has("out"));
    }
}

/// Also where libraries are made for a family.
#[test]
fn a_family_without_artifacts_is_missed_in_a_build_that_is_not_split() {
    let project = Project::new();
    let artifacts = Artifacts::new(&project, false);
    artifacts.executable(
        "blas_lib_gfx94X-dcgpu/blas/stage/lib/libhipblas.so.3",
        library("libhipblas.so.3"),
    );
    artifacts.executable(
        "rocprofiler-compute_run_generic/p/stage/libexec/rocprofiler-compute/rocprof-compute",
        b"#!/bin/sh\n",
    );
    let stderr = build(
        &project,
        &["--linux-amdgpu-families", "gfx94X-dcgpu,gfx110X-all"],
        1,
    )
    .stderr;
    assert!(
        stderr.contains("there are no artifacts for gfx110X-all"),
        "{stderr}"
    );
    assert!(!project.has("out/dist"));
    build(&project, &["--linux-amdgpu-families", "gfx94X-dcgpu"], 0);
}
