//! What goes where in the packages of the SDK, where artifacts are not as the usual ones are.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use rock_matrix::sdk::stub;

use crate::sdk_packages::{build, devel, wheel};
use crate::support::Project;
use crate::support::artifacts::{Artifacts, library};

/// The links of the tree to build against, by path.
fn links(project: &Project) -> BTreeMap<String, Option<String>> {
    devel(project).into_iter().collect()
}

/// What `plan` says of a path of a package: what becomes of it, and why.
fn planned(project: &Project, package: &str, path: &str) -> Option<(String, String)> {
    let plan = project
        .run(&[
            "sdk",
            "plan",
            "--artifact-dir",
            "artifacts",
            "--format",
            "json",
        ])
        .exits(0)
        .json();
    let is_it = |line: &&serde_json::Value| line["package"] == package && line["path"] == path;
    let line = plan["files"]
        .as_array()
        .unwrap()
        .iter()
        .find(is_it)
        .cloned()?;
    let text = |key: &str| line[key].as_str().unwrap().to_owned();
    Some((text("action"), text("reason")))
}

/// Wheels hold no links to folders, so nothing may run by way of one.
#[test]
fn a_program_that_is_linked_to_through_a_link_to_a_folder_is_run() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    let bin = "amd-llvm_run_generic/llvm/stage/bin";
    for (name, text) in [
        ("amdclang-x", "../llvm/bin/clang-23"),
        ("amdclang-y", "../lib/llvm/../../llvm/bin/clang++"),
    ] {
        artifacts.link(&format!("{bin}/{name}"), text);
    }
    build(&project, &[], 0);
    let core = wheel(&project, "rocm_sdk_core");
    let text = |path: &str| {
        stub::text_in(&core[&format!("_rocm_sdk_core/{path}")].0)
            .unwrap()
            .to_owned()
    };
    assert_eq!(text("bin/amdclang-x"), "../lib/llvm/bin/clang-23");
    assert_eq!(text("bin/amdclang-y"), "../lib/llvm/bin/clang-23");
    assert_eq!(
        text("lib/llvm/bin/clang++"),
        "clang",
        "a text that leads to a program of the package stays"
    );
    assert_eq!(
        planned(&project, "rocm-sdk-core", "bin/amdclang-x")
            .unwrap()
            .1,
        "a program that runs ../lib/llvm/bin/clang-23"
    );
    let site = project.path("site");
    for path in ["bin/amdclang-x", "lib/llvm/bin/clang-23"] {
        let place = site.join(path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(&place, &core[&format!("_rocm_sdk_core/{path}")].0).unwrap();
        std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let done = Command::new(site.join("bin/amdclang-x")).output().unwrap();
    assert_eq!(
        done.status.code(),
        Some(7),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

/// What loaders ask for by a name that nothing has is opened by its path.
#[test]
fn a_library_whose_soname_nothing_in_its_folder_has_is_packed_under_its_own_name() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    let plug = "blas_lib_generic/blas/stage/lib/plug";
    artifacts.executable(
        &format!("{plug}/libplugin.so.1"),
        library("libhipblas.so.3"),
    );
    artifacts.link(&format!("{plug}/libplugin.so"), "libplugin.so.1");
    // These are names that no file has.
    let odd = [
        ("libslash.so", "a/b.so"),
        ("libhere.so", "."),
        ("libabove.so", ".."),
    ];
    for (file, soname) in odd {
        artifacts.executable(&format!("{plug}/{file}"), library(soname));
    }
    artifacts.file(&format!("{plug}/a/b.so"), b"not that one");
    for more in [
        &[][..],
        &["--overwrite", "--runtime-alias", "lib/plug/libplugin.so"],
    ] {
        build(&project, more, 0);
        let libraries = wheel(&project, "rocm_sdk_libraries");
        let links = links(&project);
        for file in [
            "libplugin.so.1",
            "libplugin.so",
            "libslash.so",
            "libhere.so",
            "libabove.so",
        ] {
            let packed = &libraries[&format!("_rocm_sdk_libraries/lib/plug/{file}")].0;
            assert!(
                packed.len() > 4096,
                "{file} is the library: {} bytes",
                packed.len()
            );
            let text = links[&format!("lib/plug/{file}")].as_deref();
            assert_eq!(
                text,
                Some(format!("../../../_rocm_sdk_libraries/lib/plug/{file}").as_str())
            );
            let (action, reason) =
                planned(&project, "rocm-sdk-libraries", &format!("lib/plug/{file}")).unwrap();
            assert!(
                action == "search" && reason.starts_with("RPATH "),
                "{file}: {action} {reason}"
            );
        }
    }
    let stderr = project.run(&["sdk", "verify", "out/dist"]).exits(0).stderr;
    assert!(
        stderr.contains(
            "warning[S039 other-soname]: the dynamic linker looks it up as `libhipblas.so.3`"
        ),
        "{stderr}"
    );
    // A link to it has the name, so other names are not packed.
    artifacts.link(&format!("{plug}/libhipblas.so.3"), "libplugin.so.1");
    build(&project, &["--overwrite"], 0);
    let libraries = wheel(&project, "rocm_sdk_libraries");
    let has = |file: &str| libraries.contains_key(&format!("_rocm_sdk_libraries/lib/plug/{file}"));
    assert!(has("libhipblas.so.3") && !has("libplugin.so") && !has("libplugin.so.1"));
}

#[test]
fn packages_that_would_have_one_file_name_are_refused_before_anything_is_written() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    for family in ["gfx13X-all", "gfx13x-all"] {
        artifacts.file(
            &format!("blas_lib_{family}/blas/stage/lib/rocblas/library/{family}.co"),
            b"code",
        );
    }
    let stderr = build(&project, &[], 1).stderr;
    assert!(
        stderr.starts_with("error[S016 package-twice]: `rocm-sdk-device-gfx13X-all` and"),
        "{stderr}"
    );
    for name in [
        "--> blas_lib_gfx13x-all",
        "the other one is from `blas_lib_gfx13X-all`",
        "rocm_sdk_device_gfx13x_all",
    ] {
        assert!(stderr.contains(name), "{name}: {stderr}");
    }
    assert!(!project.has("out/dist"));
}

#[test]
fn a_target_in_another_case_than_everyone_writes_it_is_refused() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    artifacts.file("fft_lib_GFX950:xnack+/fft/stage/lib/x.co", b"code");
    artifacts.file("fft_lib_gfx94x-dcgpu/fft/stage/lib/y.co", b"code");
    let stderr = build(&project, &[], 1).stderr;
    assert!(
        stderr.contains(
            "error[S002 bad-artifact]: `fft_lib_GFX950:xnack+` is for GPUs that are spelled"
        ),
        "{stderr}"
    );
    assert!(
        stderr.contains("rename it to `fft_lib_gfx950:xnack+`"),
        "{stderr}"
    );
    assert!(
        stderr.contains("rename it to `fft_lib_gfx94X-dcgpu`"),
        "all errors are reported in one run: {stderr}"
    );
    assert!(!project.has("out/dist"));
}

#[test]
fn different_files_at_one_path_of_the_devel_tree_are_reported() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    let header = "p/stage/include/hip/hip_runtime.h";
    artifacts.file(&format!("prim_dev_generic/{header}"), b"#pragma twice\n");
    // What runs is taken whatever is built against, and as many bytes need not be the same ones.
    artifacts.executable(
        "amd-llvm_dev_generic/llvm/stage/bin/hipcc",
        b"#!/bin/sh\necho HIPCC\n",
    );
    artifacts.file("prim_dev_generic/p/stage/include/same.h", b"same");
    artifacts.file("blas_dev_generic/blas/stage/include/same.h", b"same");
    let stderr = build(&project, &[], 0).stderr;
    assert_eq!(
        stderr.matches("warning[S004 overlapping-files]").count(),
        2,
        "{stderr}"
    );
    for text in [
        "two artifacts have different files at `include/hip/hip_runtime.h`",
        "--> prim_dev_generic/p/stage/include/hip/hip_runtime.h",
        "the other one is used: core-hip_dev_generic/hip/stage/include/hip/hip_runtime.h",
        "--> amd-llvm_dev_generic/llvm/stage/bin/hipcc",
        "the other one is used: core-hip_run_generic/hip/stage/bin/hipcc",
    ] {
        assert!(stderr.contains(text), "{text}: {stderr}");
    }
    assert_eq!(
        links(&project)["bin/hipcc"].as_deref(),
        Some("../../_rocm_sdk_core/bin/hipcc")
    );
    let stderr = build(&project, &["--strict", "--overwrite"], 1).stderr;
    assert_eq!(
        stderr.matches("error[S004 overlapping-files]").count(),
        2,
        "{stderr}"
    );
}

#[test]
fn a_file_here_and_a_folder_there_are_refused_in_the_tree_to_build_against() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    artifacts.file("prim_dev_generic/p/stage/share/x/Foo.h", b"file");
    artifacts.file(
        "rocwmma_dev_generic/p/stage/share/x/Foo.h/in.h",
        b"in a folder",
    );
    artifacts.link("prim_dev_generic/p/stage/share/y", "x");
    artifacts.file("rocwmma_dev_generic/p/stage/share/y/in.h", b"in a folder");
    let stderr = build(&project, &[], 1).stderr;
    for text in [
        "error[S005 file-and-folder]: `share/x/Foo.h` is both a file and a directory in \
         `rocm-sdk-devel`",
        "error[S005 file-and-folder]: `share/y` is both a link and a directory in `rocm-sdk-devel`",
        "--> prim_dev_generic/p/stage/share/x/Foo.h",
        "the directory is from rocwmma_dev_generic/p/stage/share/x/Foo.h",
    ] {
        assert!(stderr.contains(text), "{text}: {stderr}");
    }
    assert_eq!(
        stderr.matches("error[S005").count(),
        2,
        "each is reported once: {stderr}"
    );
    assert!(!project.has("out/dist"));
}

#[test]
fn headers_that_differ_only_in_case_are_refused_for_windows() {
    let project = Project::new();
    let artifacts = Artifacts::new(&project, true);
    artifacts.file("blas_lib_gfx942/blas/stage/lib/a.co", b"code");
    artifacts.file("blas_lib_generic/blas/stage/lib/rocblas/x", b"x");
    artifacts.file(
        "rocprofiler-compute_run_generic/p/stage/libexec/rocprofiler-compute/rocprof-compute",
        b"#!/bin/sh\n",
    );
    artifacts.file("prim_dev_generic/p/stage/include/foo.h", b"a");
    artifacts.file("rocwmma_dev_generic/p/stage/include/Foo.h", b"b");
    let stderr = build(&project, &[], 0).stderr;
    assert_eq!(
        stderr.matches("warning[S007 case-clash]").count(),
        1,
        "{stderr}"
    );
    for text in [
        "`include/Foo.h` and `include/foo.h` of `rocm-sdk-devel` differ only in case",
        "--> prim_dev_generic/p/stage/include/foo.h",
        "the other one is rocwmma_dev_generic/p/stage/include/Foo.h",
    ] {
        assert!(stderr.contains(text), "{text}: {stderr}");
    }
    let stderr = build(&project, &["--platform", "windows", "--overwrite"], 1).stderr;
    assert!(
        stderr.starts_with("error[S007 case-clash]: `include/Foo.h`"),
        "{stderr}"
    );
}

/// Links that lead somewhere stay, by whatever way.
#[test]
fn links_through_links_to_folders_are_in_the_tree_to_build_against() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    let share = "prim_dev_generic/p/stage/share";
    artifacts.file(&format!("{share}/real/z/f"), b"f");
    for (name, text) in [
        ("y", "real"),
        ("x", "y/z"),
        ("l", "x/f"),
        ("up", "y/../real/z/f"),
    ] {
        artifacts.link(&format!("{share}/{name}"), text);
    }
    let stderr = build(&project, &[], 0).stderr;
    assert_eq!(stderr, "");
    let links = links(&project);
    for (name, text) in [
        ("y", "real"),
        ("x", "y/z"),
        ("l", "x/f"),
        ("up", "y/../real/z/f"),
    ] {
        assert_eq!(
            links[&format!("share/{name}")].as_deref(),
            Some(text),
            "{name}"
        );
    }
}

/// Nothing can hold these, and each is reported.
#[test]
fn loops_and_links_out_of_the_devel_tree_are_left_out() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    let stage = "prim_dev_generic/p/stage";
    for (name, text) in [
        ("lib/a", "b"),
        ("lib/b", "c"),
        ("lib/c", "a"),
        ("inc", "/usr/include"),
        ("in", "inc/x.h"),
    ] {
        artifacts.link(&format!("{stage}/{name}"), text);
    }
    for keeps in [&[][..], &["--keep-dangling", "--overwrite"]] {
        let stderr = build(&project, keeps, 0).stderr;
        assert_eq!(
            stderr.matches("warning[S006 link-to-nowhere]").count(),
            5,
            "{stderr}"
        );
        let links = links(&project);
        for (path, why) in [
            ("lib/a", "the link leads to itself"),
            ("lib/b", "the link leads to itself"),
            ("lib/c", "the link leads to itself"),
            ("inc", "the link leads out of its artifact"),
            ("in", "the link leads out of its artifact"),
        ] {
            assert!(
                stderr.contains(&format!("`{path}` of `rocm-sdk-devel`: {why}")),
                "{path}: {stderr}"
            );
            assert!(!links.contains_key(path), "{path}");
        }
    }
    let reason = |path: &str| planned(&project, "rocm-sdk-devel", path).unwrap();
    assert_eq!(
        reason("lib/b"),
        ("drop".to_owned(), "a link that leads to itself".to_owned())
    );
    assert_eq!(
        reason("inc"),
        (
            "drop".to_owned(),
            "a link that leads out of its artifact".to_owned()
        )
    );
}

#[test]
fn the_plan_counts_programs_that_stand_for_links_as_large_as_they_are() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    let size_kb = || -> f64 {
        let plan = project
            .run(&["sdk", "plan", "--artifact-dir", "artifacts"])
            .exits(0)
            .stdout;
        let line = plan
            .lines()
            .find(|line| line.starts_with("rocm-sdk-core: "))
            .unwrap();
        line.rsplit_once(", ")
            .unwrap()
            .1
            .strip_suffix(" kB")
            .unwrap()
            .parse()
            .unwrap()
    };
    let before = size_kb();
    for number in 0..100 {
        artifacts.link(
            &format!("amd-llvm_run_generic/llvm/stage/lib/llvm/bin/clang-{number:03}"),
            "clang-23",
        );
    }
    let one = stub::stub(rock_matrix::elf::machine::X86_64, "clang-23")
        .unwrap()
        .len();
    let expected = f64::from(u32::try_from(100 * one).unwrap()) / 1000.0;
    assert!(
        (size_kb() - before - expected).abs() < 0.2,
        "{before} and {expected}: {}",
        size_kb()
    );
}
