//! What a build of the SDK's packages can be asked for besides.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use rock_matrix::sys::DirectoryLock;

use crate::support::artifacts::Artifacts;
use crate::support::rewritten::{Members, members};
use crate::support::{Outcome, Project};

fn build(project: &Project, more: &[&str], code: i32) -> Outcome {
    let words = [
        "sdk",
        "build",
        "--artifact-dir",
        "artifacts",
        "--dest-dir",
        "out",
        "--version",
        "7.10.0",
        "--overwrite",
    ];
    project.run(&[&words, more].concat()).exits(code)
}

fn wheel(project: &Project, name: &str) -> Members {
    members(&project.path(&format!("out/dist/{name}-7.10.0-py3-none-linux_x86_64.whl")))
}

/// Unpacks a wheel into a folder.
fn unpack(wheel: Members, site: &Path) {
    for (name, (bytes, _)) in wheel {
        let path = site.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
    }
}

/// A program that opens a library by its short name gets the library, and not a second one.
#[test]
fn other_names_of_libraries_are_there_on_request() {
    let project = Project::new();
    Artifacts::split(&project);
    build(
        &project,
        &[
            "--runtime-alias",
            "lib/libamdhip64.so",
            "--runtime-alias",
            "lib/libhip*.so",
        ],
        0,
    );
    project.run(&["sdk", "verify", "out/dist"]).exits(0);
    let core = wheel(&project, "rocm_sdk_core");
    let names: Vec<&str> = core
        .keys()
        .filter_map(|name| name.strip_prefix("_rocm_sdk_core/lib/libamdhip64"))
        .collect();
    assert_eq!(names, [".so", ".so.7"], "the others stay out");
    let alias = &core["_rocm_sdk_core/lib/libamdhip64.so"].0;
    assert!(alias.len() < 1024, "{} bytes", alias.len());
    let site = project.path("site");
    unpack(core, &site);
    let code = "import ctypes, sys\n\
                alias = ctypes.CDLL(sys.argv[1])\n\
                library = ctypes.CDLL(sys.argv[1] + '.7')\n\
                address = lambda of: ctypes.cast(of.answer, ctypes.c_void_p).value\n\
                loaded = {line.split()[-1] for line in open('/proc/self/maps') if 'libamdhip64' in line}\n\
                print(alias.answer(), address(alias) == address(library), len(loaded))";
    let path = site.join("_rocm_sdk_core/lib/libamdhip64.so");
    let done = Command::new("python3")
        .args(["-c", code])
        .arg(path)
        .output()
        .unwrap();
    let (text, why) = (
        String::from_utf8(done.stdout).unwrap(),
        String::from_utf8_lossy(&done.stderr).into_owned(),
    );
    assert_eq!(text, "42 True 2\n", "{why}");
    // What is linked is to need the library.
    let tree = wheel(&project, "rocm_sdk_devel")["rocm_sdk_devel/_devel.tar"]
        .0
        .clone();
    let mut tree = tar::Archive::new(tree.as_slice());
    let mut entries = tree.entries().unwrap().map(Result::unwrap);
    let link = entries
        .find(|entry| entry.path().unwrap().ends_with("lib/libamdhip64.so"))
        .unwrap();
    assert_eq!(
        link.link_name().unwrap().unwrap().to_str(),
        Some("libamdhip64.so.7")
    );
}

/// Every other name that is left out is in the plan.
#[test]
fn the_plan_lists_other_names_of_libraries_whether_they_are_left_out_or_not() {
    let project = Project::new();
    Artifacts::split(&project);
    let plan = |more: &[&str]| {
        let words = [
            "sdk",
            "plan",
            "--artifact-dir",
            "artifacts",
            "--format",
            "json",
        ];
        let plan = project.run(&[&words, more].concat()).exits(0);
        let lines = plan.json()["files"].as_array().unwrap().clone();
        let of = |line: &serde_json::Value| {
            let text = |key: &str| line[key].as_str().unwrap().to_owned();
            let is_of = text("path").starts_with("lib/libamdhip64.so")
                && text("package") == "rocm-sdk-core";
            is_of.then(|| format!("{} {}: {}", text("action"), text("path"), text("reason")))
        };
        let mut lines: Vec<String> = lines
            .iter()
            .filter_map(of)
            .filter(|line| !line.starts_with("search"))
            .collect();
        lines.sort();
        (lines, plan.stderr)
    };
    let left_out = |name: &str| {
        format!("drop lib/{name}: another name of libamdhip64.so.7, which is included")
    };
    let (lines, stderr) = plan(&[]);
    assert_eq!(
        (lines, stderr.as_str()),
        (
            vec![left_out("libamdhip64.so.7.1.0"), left_out("libamdhip64.so")],
            ""
        )
    );
    let (lines, stderr) = plan(&[
        "--runtime-alias",
        "**/*hip64.so",
        "--runtime-alias",
        "lib/libhsa*.so",
    ]);
    let opened = "alias lib/libamdhip64.so: a library that opens libamdhip64.so.7".to_owned();
    assert_eq!(lines, [opened, left_out("libamdhip64.so.7.1.0")]);
    assert!(stderr.starts_with(
        "warning[S013 no-such-alias]: no library has another name that matches `lib/libhsa*.so`"
    ));
    let words = [
        "sdk",
        "plan",
        "--artifact-dir",
        "artifacts",
        "--runtime-alias",
        "lib/[",
    ];
    let stderr = project.run(&words).exits(1).stderr;
    assert!(
        stderr.starts_with("error[W032 bad-pattern]: it is not a valid glob: ")
            && stderr.contains("--runtime-alias lib/["),
        "{stderr}"
    );
}

#[test]
fn the_time_of_members_is_that_of_the_option() {
    let project = Project::new().env("SOURCE_DATE_EPOCH", "1000000000");
    Artifacts::split(&project);
    let sum = |name: &str| std::fs::read(project.path("out/dist").join(name)).unwrap();
    let name = "rocm_sdk_core-7.10.0-py3-none-linux_x86_64.whl";
    build(&project, &[], 0);
    let of_environment = (sum(name), sum("rocm-7.10.0.tar.gz"));
    build(&project, &["--source-date-epoch", "1700000000"], 0);
    let of_option = (sum(name), sum("rocm-7.10.0.tar.gz"));
    assert!(of_option.0 != of_environment.0 && of_option.1 != of_environment.1);
    build(&project, &["--source-date-epoch", "1000000000"], 0);
    assert!((sum(name), sum("rocm-7.10.0.tar.gz")) == of_environment);
    let stderr = build(&project, &["--source-date-epoch", "today"], 1).stderr;
    assert!(
        stderr.contains("bad-source-date") && stderr.contains("`today`"),
        "{stderr}"
    );
    // Installers make wheels of the sources, and those say no time before 1980 or after 2107.
    for (stderr, is) in [("1", 315_532_800), ("99999999999999", 4_354_819_198)] {
        build(&project, &["--source-date-epoch", stderr], 0);
        let packed = sum("rocm-7.10.0.tar.gz");
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(packed.as_slice()));
        let times: Vec<u64> = archive
            .entries()
            .unwrap()
            .map(|one| one.unwrap().header().mtime().unwrap())
            .collect();
        assert!(
            times.len() > 5 && times.iter().all(|time| *time == is),
            "{times:?}"
        );
    }
}

/// Lists whose values would fit in order are none either.
#[test]
fn a_manifest_of_a_build_that_is_a_list_is_invalid() {
    for text in ["[]", "[\"7.10.0\", {}]"] {
        let project = Project::new();
        Artifacts::split(&project).file(
            "base_lib_generic/base/aux-overlay/stage/share/therock/therock_manifest.json",
            text.as_bytes(),
        );
        let stderr = build(&project, &[], 1).stderr;
        assert!(
            stderr.contains("error[S003 no-sdk-manifest]: the manifest of the build is invalid"),
            "{stderr}"
        );
    }
}

#[test]
fn a_family_of_no_name_is_none() {
    for words in ["", " ;,"] {
        let stderr = Project::new()
            .run(&["sdk", "targets", "--family", words])
            .exits(1)
            .stderr;
        assert!(
            stderr.starts_with(&format!(
                "error[S009 missing-targets]: there is no family `{words}`"
            )),
            "{stderr}"
        );
    }
}

#[test]
fn a_build_without_packages_reports_errors_and_writes_nothing() {
    let project = Project::new();
    Artifacts::split(&project);
    let outcome = build(&project, &["--no-build-packages", "--format", "json"], 0);
    assert_eq!(outcome.json()["files"], serde_json::json!([]));
    let stderr = build(
        &project,
        &[
            "--no-build-packages",
            "--linux-amdgpu-families",
            "gfx110X-dgpu",
        ],
        1,
    )
    .stderr;
    assert!(
        stderr.contains("error[S009 missing-targets]: there are no artifacts for gfx1101, gfx1102"),
        "{stderr}"
    );
    assert!(!project.has("out"));
    build(&project, &["--no-build-packages", "--build-packages"], 0);
    assert!(project.has("out/dist"));
    // Nor does it matter what is there.
    let words = [
        "sdk",
        "build",
        "--artifact-dir",
        "artifacts",
        "--dest-dir",
        "out",
        "--version",
        "7.11.0",
    ];
    project
        .run(&[&words[..], &["--no-build-packages"]].concat())
        .exits(0);
    project.run(&words).exits(1);
}

#[test]
fn packages_of_a_concurrent_run_are_replaced_only_on_request() {
    let project = Project::new();
    Artifacts::split(&project);
    std::fs::create_dir_all(project.path("out")).unwrap();
    let first = DirectoryLock::acquire(&project.path("out"), || ()).unwrap();
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
    let mut second = project
        .command(&words)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(second.stderr.take().unwrap()).lines();
    assert!(
        lines
            .next()
            .unwrap()
            .unwrap()
            .contains("waiting for another run to end")
    );
    std::fs::create_dir(project.path("out/dist")).unwrap();
    std::fs::write(project.path("out/dist/rocm-1.0.tar.gz"), b"first").unwrap();
    drop(first);
    let messages: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(
        messages[0].starts_with("error[S011 sdk-output-exists]"),
        "{messages:?}"
    );
    assert_eq!(second.wait().unwrap().code(), Some(1));
    let left: Vec<_> = std::fs::read_dir(project.path("out/dist"))
        .unwrap()
        .map(|one| one.unwrap().file_name())
        .collect();
    assert_eq!(left, ["rocm-1.0.tar.gz"]);
    let left: Vec<_> = std::fs::read_dir(project.path("out"))
        .unwrap()
        .map(|one| one.unwrap().file_name())
        .collect();
    assert_eq!(left, ["dist"]);
}

/// The artifacts of a build by two families.
fn by_families(project: &Project) {
    let artifacts = Artifacts::split(project);
    artifacts.programs();
    for target in ["gfx942", "gfx1100"] {
        std::fs::remove_dir_all(project.path(&format!("artifacts/blas_lib_{target}"))).unwrap();
    }
    for family in ["gfx94X-dcgpu", "gfx110X-all"] {
        artifacts.file(
            &format!("blas_lib_{family}/blas/stage/lib/rocblas/library/{family}.co"),
            b"code",
        );
        artifacts.file(
            &format!("blas_dev_{family}/blas/stage/include/{family}.h"),
            b"",
        );
    }
}

#[test]
fn one_of_several_families_is_made_as_if_there_were_no_other() {
    let project = Project::new();
    by_families(&project);
    let outcome_of =
        |more: &[&str], code| build(&project, &[&["--mode", "legacy"], more].concat(), code);
    let made = outcome_of(&["--linux-amdgpu-families", "gfx94X-dcgpu"], 0).stdout;
    let names: Vec<&str> = made
        .lines()
        .filter_map(|line| line.strip_prefix("out/dist/"))
        .collect();
    let wheel = |name: &str| format!("{name}-7.10.0-py3-none-linux_x86_64.whl");
    let wheels = [
        "rocm_profiler",
        "rocm_sdk_core",
        "rocm_sdk_devel",
        "rocm_sdk_libraries_gfx94x_dcgpu",
    ]
    .map(wheel);
    assert_eq!(names[0], "rocm-7.10.0.tar.gz");
    assert_eq!(names[1..], wheels);
    assert_eq!(
        project.run(&["sdk", "verify", "out/dist"]).exits(0).stderr,
        ""
    );
    // Also where the other system is asked for others, or alone.
    let both = [
        "--linux-amdgpu-families",
        "gfx94X-dcgpu",
        "--windows-amdgpu-families",
        "gfx94X-dcgpu,gfx1151",
    ];
    for families in [&both[..], &both[2..]] {
        outcome_of(families, 0);
        assert_eq!(
            project.run(&["sdk", "verify", "out/dist"]).exits(0).stderr,
            "",
            "{families:?}"
        );
    }
    let stderr = outcome_of(&["--linux-amdgpu-families", "gfx94X-dcgpu,gfx1151"], 1).stderr;
    let there = "artifacts exist for gfx110X-all, gfx94X-dcgpu";
    assert!(
        stderr.contains("there are no artifacts for gfx1151") && stderr.contains(there),
        "{stderr}"
    );
    let stderr = outcome_of(&["--windows-amdgpu-families", "bogus"], 1).stderr;
    assert!(
        stderr.contains("error[S009 missing-targets]: there is no family `bogus`"),
        "{stderr}"
    );
    assert!(stderr.contains("--windows-gfx bogus"), "{stderr}");
}

/// A chip that no facts know needs no release of this program.
#[test]
fn families_can_be_those_of_a_checkout() {
    let declared = "therock_add_amdgpu_target(gfx942 \"MI300X\" FAMILY dcgpu-all)\n\
                    therock_add_amdgpu_target(gfx7777 \"MI9000\" FAMILY dcgpu-all gfx777X-all # soon\n  \
                    EXCLUDE_TARGET_PROJECTS hipSPARSELt)\n";
    let project = Project::new()
        .file("targets.cmake", declared)
        .file("empty.cmake", "project(x)\n");
    let artifacts = Artifacts::split(&project);
    let arguments = [
        "--linux-amdgpu-families",
        "gfx777X-all",
        "--targets-file",
        "targets.cmake",
    ];
    let stderr = build(&project, &arguments, 1).stderr;
    assert!(
        stderr.starts_with("error[S009 missing-targets]: there are no artifacts for gfx7777"),
        "{stderr}"
    );
    artifacts.file(
        "blas_lib_gfx7777/blas/stage/lib/rocblas/library/K.co",
        b"code",
    );
    build(&project, &arguments, 0);
    assert!(project.has("out/dist/rocm_sdk_device_gfx7777-7.10.0-py3-none-linux_x86_64.whl"));
    let stderr = build(&project, &arguments[..2], 1).stderr;
    assert!(
        stderr.contains("there is no family `gfx777X-all`"),
        "the facts do not know it: {stderr}"
    );
    let stdout = project
        .run(&["sdk", "targets", "--targets-file", "targets.cmake"])
        .exits(0)
        .stdout;
    assert_eq!(stdout, "dcgpu-all: gfx942 gfx7777\ngfx777X-all: gfx7777\n");
    let stderr = project
        .run(&["sdk", "targets", "--targets-file", "empty.cmake"])
        .exits(1)
        .stderr;
    assert!(
        stderr.starts_with("error[S009 missing-targets]: it declares no GPU target"),
        "{stderr}"
    );
}

/// Two packages then contain the module, as in packages of older tools, which `sdk verify` reports.
#[test]
fn device_packages_have_the_library_module_only_on_request() {
    let project = Project::new();
    Artifacts::split(&project);
    build(&project, &["--device-init-compat"], 0);
    assert!(
        wheel(&project, "rocm_sdk_device_gfx942").contains_key("_rocm_sdk_libraries/__init__.py")
    );
    let stderr = project.run(&["sdk", "verify", "out/dist"]).exits(1).stderr;
    assert!(stderr.contains("error[S033 path-of-two]"), "{stderr}");
}

/// On Windows nothing stands for a library that was not packaged.
#[test]
fn the_tree_to_build_against_has_no_link_to_what_no_package_has() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    for link in [
        "amd-llvm_run_generic/llvm/stage/lib/llvm/bin/clang",
        "amd-llvm_run_generic/llvm/stage/lib/llvm/bin/clang++",
        "base_run_generic/base/stage/bin/amdclang",
    ] {
        std::fs::remove_file(project.path("artifacts").join(link)).unwrap();
    }
    artifacts.windows(&["gfx942", "gfx1100"]);
    // Profilers are not made for Windows, and tests are in no package that is run from.
    artifacts.file(
        "rocprofiler-systems_dev_generic/p/stage/include/rocprofiler-systems/a.h",
        b"a",
    );
    artifacts.link("blas_dev_generic/blas/stage/lib/libgone.so", "libgone.so.1");
    build(&project, &["--platform", "windows"], 0);
    project.run(&["sdk", "verify", "out/dist"]).exits(0);
    let names = |folder: &str, name: &str| -> Vec<String> {
        let wheel =
            members(&project.path(&format!("out/dist/{name}-7.10.0-py3-none-win_amd64.whl")));
        wheel
            .keys()
            .filter_map(|path| path.strip_prefix(&format!("{folder}/")))
            .map(str::to_owned)
            .collect()
    };
    let mut owned = names("_rocm_sdk_core", "rocm_sdk_core");
    owned.extend(names("_rocm_sdk_libraries", "rocm_sdk_libraries"));
    let devel = members(&project.path("out/dist/rocm_sdk_devel-7.10.0-py3-none-win_amd64.whl"));
    let mut tree = tar::Archive::new(devel["rocm_sdk_devel/_devel.tar"].0.as_slice());
    let (mut paths, mut links) = (Vec::new(), Vec::new());
    for entry in tree.entries().unwrap() {
        let entry = entry.unwrap();
        let path = entry
            .path()
            .unwrap()
            .strip_prefix("_rocm_sdk_devel")
            .unwrap()
            .display()
            .to_string();
        if let Some(text) = entry.link_name().unwrap() {
            links.push((path.clone(), text.display().to_string()));
        }
        paths.push(path);
    }
    assert!(links.len() >= 5, "{links:?}");
    for (path, text) in links {
        let beside = Path::new(&path).with_file_name(&text);
        let is_there = match text.split_once("/_rocm_sdk_") {
            Some((_, below)) => owned
                .iter()
                .any(|known| below.split_once('/').unwrap().1 == known),
            None => paths
                .iter()
                .any(|known| Path::new(known) == beside || known == text.trim_end_matches('/')),
        };
        assert!(is_there, "{path} leads to {text}");
    }
}

/// Installers keep the wheel that they built of `rocm`, with the GPU of that day in it. Its
/// page says so, and what is asked for by name does not depend on it.
#[test]
fn extras_that_name_a_gpu_are_the_same_on_every_machine() {
    let project = Project::new();
    Artifacts::split(&project);
    build(&project, &[], 0);
    let packed = std::fs::read(project.path("out/dist/rocm-7.10.0.tar.gz")).unwrap();
    let text = |name: &str| {
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(packed.as_slice()));
        let found = archive
            .entries()
            .unwrap()
            .map(Result::unwrap)
            .find(|entry| entry.path().unwrap().ends_with(name));
        std::io::read_to_string(found.unwrap()).unwrap()
    };
    let about = text("PKG-INFO");
    for extra in ["device-gfx942", "device-gfx1100", "device-all"] {
        assert!(
            about.contains(&format!("\nProvides-Extra: {extra}\n")),
            "{about}"
        );
    }
    let page = text("README.md");
    assert!(
        page.contains("remove `rocm` from the installer's cache"),
        "{page}"
    );
}
