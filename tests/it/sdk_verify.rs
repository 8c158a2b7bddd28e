//! Finished packages of the SDK, proved before anyone installs them: each promise broken in a real
//! set.

use std::io::Read as _;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::artifacts::Artifacts;
use crate::support::rewritten::{Members, rewrite};
use crate::support::{Outcome, Project};

/// A set of packages in `out/dist`, made of artifacts that lack nothing.
struct Set {
    project: Project,
}

impl Set {
    fn new() -> Self {
        Self::of(|_| {})
    }

    /// The same of artifacts with something added.
    fn of(add: impl FnOnce(&Artifacts<'_>)) -> Self {
        let project = Project::new();
        let artifacts = Artifacts::split(&project);
        artifacts.programs();
        add(&artifacts);
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
        project.run(&words).exits(0);
        Self { project }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.project
            .path(&format!("out/dist/{name}-7.10.0-py3-none-linux_x86_64.whl"))
    }

    /// Changes a wheel.
    fn edit(&self, name: &str, edit: impl FnOnce(&mut Members)) -> &Self {
        rewrite(&self.path(name), edit);
        self
    }

    fn verify(&self, code: i32) -> Outcome {
        self.project.run(&["sdk", "verify", "out/dist"]).exits(code)
    }

    /// Asserts that exactly one finding is reported, and how it begins.
    #[track_caller]
    fn assert_finding(&self, code: i32, begins: &str, holds: &str) {
        let stderr = self.verify(code).stderr;
        assert!(
            stderr.starts_with(begins) && stderr.contains(holds),
            "{stderr}"
        );
        let findings = stderr.lines().filter(|line| {
            ["error[", "warning["]
                .iter()
                .any(|word| line.starts_with(word))
        });
        assert_eq!(findings.count(), 1, "{stderr}");
    }
}

/// A member that is a text, changed.
fn text(members: &mut Members, name: &str, edit: impl FnOnce(String) -> String) {
    let content = &mut members.get_mut(name).unwrap_or_else(|| panic!("{name}")).0;
    *content = edit(String::from_utf8(std::mem::take(content)).unwrap()).into_bytes();
}

fn linked(
    build: impl FnOnce(crate::support::elf::Library) -> crate::support::elf::Library,
) -> (Vec<u8>, u32) {
    (build(crate::support::elf::Library::new()).build(), 0o755)
}

/// A member of the tree to build against.
#[derive(Debug, Clone)]
struct InTree {
    path: String,
    link: Option<String>,
    is_folder: bool,
    content: Vec<u8>,
}

/// The tree to build against, changed.
fn tree(members: &mut Members, edit: impl FnOnce(&mut Vec<InTree>)) {
    let content = &mut members.get_mut("rocm_sdk_devel/_devel.tar").unwrap().0;
    let mut archive = tar::Archive::new(content.as_slice());
    let mut entries: Vec<InTree> = archive
        .entries()
        .unwrap()
        .map(|entry| {
            let mut entry = entry.unwrap();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            InTree {
                path: entry
                    .path()
                    .unwrap()
                    .display()
                    .to_string()
                    .trim_end_matches('/')
                    .to_owned(),
                link: entry
                    .link_name()
                    .unwrap()
                    .map(|link| link.display().to_string()),
                is_folder: entry.header().entry_type().is_dir(),
                content,
            }
        })
        .collect();
    edit(&mut entries);
    let mut builder = tar::Builder::new(Vec::new());
    for entry in entries {
        let mut header = tar::Header::new_gnu();
        header.set_size(entry.content.len() as u64);
        header.set_mode(0o644);
        // Paths that the library would not write are written by hand.
        header.as_old_mut().name[..entry.path.len()].copy_from_slice(entry.path.as_bytes());
        if let Some(link) = entry.link {
            header.set_entry_type(tar::EntryType::Symlink);
            header.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
        } else if entry.is_folder {
            header.set_entry_type(tar::EntryType::Directory);
        }
        header.set_cksum();
        builder.append(&header, entry.content.as_slice()).unwrap();
    }
    *content = builder.into_inner().unwrap();
}

/// Where a member of the tree stands.
fn place(entries: &[InTree], path: &str) -> usize {
    entries
        .iter()
        .position(|entry| entry.path == format!("_rocm_sdk_devel/{path}"))
        .unwrap_or_else(|| panic!("{path}"))
}

/// The search path of a library of core, at `lib`.
const CORE: &str =
    "$ORIGIN/../../_rocm_sdk_core/lib/llvm/lib:$ORIGIN/../../_rocm_sdk_core/lib/rocm_sysdeps/lib";

/// `MAX_TEXT_BYTES`: 64 MiB.
#[test]
fn a_module_past_the_limit_is_refused() {
    for past in [false, true] {
        let set = Set::new();
        let module = vec![b'#'; (64 << 20) + usize::from(past)];
        set.edit("rocm_sdk_core", |members| {
            drop(members.insert("rocm_sdk_core/large.py".to_owned(), (module, 0o644)));
        });
        let stderr = set.verify(i32::from(past)).stderr;
        assert_eq!(stderr.contains("rocm_sdk_core/large.py"), past, "{stderr}");
    }
}

#[test]
fn a_sound_set_is_listed_by_package_without_findings() {
    let set = Set::new();
    let outcome = set.verify(0);
    assert_eq!(outcome.stderr, "");
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(lines.len(), 8, "{}", outcome.stdout);
    assert!(
        lines[0].starts_with("ok     rocm-7.10.0.tar.gz: "),
        "{}",
        lines[0]
    );
    assert!(
        lines[2].starts_with("ok     rocm_sdk_core-7.10.0-py3-none-linux_x86_64.whl: "),
        "{}",
        lines[2]
    );
    assert!(lines[7].starts_with("7 packages: "), "{}", lines[7]);
    let document = set
        .project
        .run(&["sdk", "verify", "out/dist", "--format", "json"])
        .exits(0)
        .stdout;
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(
        (&document["version"], &document["ok"]),
        (&1.into(), &true.into())
    );
    assert_eq!(document["packages"].as_array().unwrap().len(), 7);
    assert!(
        document["packages"][2]["files"].as_u64().unwrap() > 10,
        "{document}"
    );
    assert_eq!(document["findings"], serde_json::json!([]));
}

#[test]
fn a_folder_without_packages_is_reported() {
    let project = Project::new()
        .file("empty/readme", "")
        .bytes("other/demo-1.0-py3-none-any.whl", b"");
    let stderr = project.run(&["sdk", "verify", "empty"]).exits(1).stderr;
    assert!(
        stderr.starts_with(
            "error[S030 no-sdk-packages]: there is no package of the SDK in the directory"
        ),
        "{stderr}"
    );
    let stderr = project.run(&["sdk", "verify", "nowhere"]).exits(1).stderr;
    assert!(
        stderr.starts_with("error[S030 no-sdk-packages]: there is no such directory"),
        "{stderr}"
    );
    let project = Project::new().bytes("out/dist/rocm-7.10.0.tar.gz", b"");
    let stderr = project.run(&["sdk", "verify", "out"]).exits(1).stderr;
    assert!(
        stderr.contains("the packages are in its subdirectory `dist`"),
        "{stderr}"
    );
    assert!(
        stderr.contains("run `rock-matrix sdk verify out/dist`"),
        "{stderr}"
    );
}

#[test]
fn a_damaged_wheel_is_reported_and_not_as_missing() {
    let set = Set::new();
    std::fs::write(set.path("rocm_sdk_core"), b"PK").unwrap();
    let outcome = set.verify(1);
    assert!(outcome.stderr.starts_with("error[W"), "{}", outcome.stderr);
    assert!(
        !outcome.stderr.contains("sdk-package-missing"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stdout.contains("failed rocm_sdk_core-7.10.0"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_wheel_of_something_else_is_reported_and_not_looked_at() {
    let set = Set::new();
    let other = crate::support::Wheel::named("demo-1.0-py3-none-any.whl");
    std::fs::write(
        set.project.path("out/dist").join(other.name()),
        other.bytes(),
    )
    .unwrap();
    set.assert_finding(
        0,
        "warning[S030 no-sdk-packages]: it is not a package of the SDK",
        "demo-1.0-py3-none-any.whl",
    );
}

#[test]
fn a_member_that_contradicts_record_is_reported_with_its_path() {
    let set = Set::new();
    let path = set.path("rocm_sdk_libraries");
    let mut members = crate::support::rewritten::members(&path);
    members.get_mut("rocm_sdk_libraries/py.typed").unwrap().0 = b"x".to_vec();
    crate::support::rewritten::write(&path, &members);
    set.assert_finding(
        1,
        "error[W0",
        "rocm_sdk_libraries-7.10.0-py3-none-linux_x86_64.whl: rocm_sdk_libraries/py.typed",
    );
}

#[test]
fn packages_of_two_versions_are_reported() {
    let set = Set::new();
    let (old, new) = (
        set.path("rocm_profiler"),
        "out/dist/rocm_profiler-7.11.0-py3-none-linux_x86_64.whl",
    );
    rewrite(&old, |members| {
        *members = std::mem::take(members)
            .into_iter()
            .map(|(name, content)| {
                (
                    name.replace("7.10.0.dist-info", "7.11.0.dist-info"),
                    content,
                )
            })
            .collect();
        text(members, "rocm_profiler-7.11.0.dist-info/METADATA", |text| {
            text.replace("7.10.0", "7.11.0")
        });
        text(members, "rocm_profiler/_dist_info.py", |text| {
            text.replace("7.10.0", "7.11.0")
        });
    });
    std::fs::rename(old, set.project.path(new)).unwrap();
    set.assert_finding(
        1,
        "error[S031 sdk-package-name]: the packages do not have the same version: 7.10.0, 7.11.0",
        "7.11.0-py3",
    );
}

#[test]
fn packages_for_two_platforms_or_with_other_tags_are_reported() {
    let set = Set::new();
    let (old, new) = (
        set.path("rocm_profiler"),
        "out/dist/rocm_profiler-7.10.0-py2.py3-none-linux_aarch64.whl",
    );
    rewrite(&old, |members| {
        text(members, "rocm_profiler-7.10.0.dist-info/WHEEL", |text| {
            text.replace(
                "Tag: py3-none-linux_x86_64",
                "Tag: py2-none-linux_aarch64\nTag: py3-none-linux_aarch64",
            )
        });
    });
    std::fs::rename(old, set.project.path(new)).unwrap();
    let stderr = set.verify(1).stderr;
    assert!(
        stderr.contains("do not have the same platform: linux_aarch64, linux_x86_64"),
        "{stderr}"
    );
    assert!(
        stderr.contains(
            "error[S031 sdk-package-name]: the tags of the SDK's wheels are `py3-none-PLATFORM`"
        ),
        "{stderr}"
    );
}

#[test]
fn a_package_that_rocm_asks_for_and_is_not_there_is_reported() {
    for (name, project) in [
        ("rocm_sdk_core", "rocm-sdk-core"),
        ("rocm_sdk_libraries", "rocm-sdk-libraries"),
        ("rocm_sdk_devel", "rocm-sdk-devel"),
        ("rocm_profiler", "rocm-profiler"),
    ] {
        let set = Set::new();
        std::fs::remove_file(set.path(name)).unwrap();
        let stderr = set.verify(1).stderr;
        let missing = format!("error[S032 sdk-package-missing]: there is no package `{project}`\n");
        assert!(stderr.contains(&missing), "{stderr}");
    }
    let set = Set::new();
    std::fs::remove_file(set.project.path("out/dist/rocm-7.10.0.tar.gz")).unwrap();
    set.assert_finding(
        1,
        "error[S032 sdk-package-missing]: there is no package `rocm`",
        "",
    );
}

#[test]
fn a_path_that_two_packages_have_is_reported() {
    let set = Set::new();
    set.edit("rocm_sdk_device_gfx942", |members| {
        members.insert(
            "_rocm_sdk_libraries/lib/libhipblas.so.3".into(),
            linked(|library| {
                library
                    .soname("libhipblas.so.3")
                    .rpath("$ORIGIN/../../_rocm_sdk_core/lib:$ORIGIN/../../_rocm_sdk_core/lib/rocm_sysdeps/lib")
            }),
        );
    });
    let stderr = set.verify(1).stderr;
    assert!(
        stderr.contains("error[S033 path-of-two]: `rocm_sdk_device_gfx942-7.10.0"),
        "{stderr}"
    );
}

#[test]
fn a_file_where_another_package_has_a_folder_is_reported() {
    let set = Set::new();
    set.edit("rocm_sdk_device_gfx1100", |members| {
        members.retain(|name, _| !name.starts_with("_rocm_sdk_libraries/lib/"));
        members.insert("_rocm_sdk_libraries/lib".into(), (b"x".to_vec(), 0o644));
    });
    let stderr = set.verify(1).stderr;
    assert!(
        stderr.contains("error[S033 path-of-two]: it is a file here and a directory in"),
        "{stderr}"
    );
}

#[test]
fn the_module_of_the_libraries_belongs_to_no_device_package() {
    let set = Set::new();
    set.edit("rocm_sdk_device_gfx942", |members| {
        members.insert(
            "_rocm_sdk_libraries/__init__.py".into(),
            (Vec::new(), 0o644),
        );
    });
    let stderr = set.verify(1).stderr;
    assert!(
        stderr.contains("error[S035 sdk-package-layout]: it belongs to the libraries package"),
        "{stderr}"
    );
    assert!(stderr.contains("error[S033 path-of-two]"), "{stderr}");
}

/// A path that is too long for Windows, in a package or in the tree to build against.
#[test]
fn names_that_some_systems_do_not_take_are_warnings() {
    let set = Set::of(|artifacts| {
        let long = format!("base_run_generic/base/stage/share/{}/x", "a".repeat(190));
        artifacts.file(&long, b"x");
    });
    let stderr = set.verify(0).stderr;
    assert!(
        stderr.contains("warning[S034 long-sdk-path]: its path has 213 bytes below site-packages"),
        "{stderr}"
    );
    assert_eq!(
        stderr.matches("warning[S034 long-sdk-path]").count(),
        2,
        "{stderr}"
    );
    assert!(
        stderr.contains("/x`: its path has 214 bytes") && stderr.contains("_devel.tar"),
        "{stderr}"
    );
    assert_eq!(stderr.matches("warning[").count(), 2, "{stderr}");
    let set = Set::of(|artifacts| {
        artifacts.file("blas_lib_gfx1100/blas/stage/lib/LibHipblas.so.3", b"x");
    });
    set.assert_finding(
        0,
        "warning[S007 case-clash]: its name differs from ",
        "LibHipblas.so.3",
    );
}

#[test]
fn packages_that_would_not_lie_beside_each_other_are_reported() {
    let set = Set::new();
    set.edit("rocm_sdk_core", |members| {
        let wheel = "rocm_sdk_core-7.10.0.dist-info/WHEEL";
        text(members, wheel, |text| {
            text.replace("Purelib: true", "Purelib: false")
        });
    });
    set.assert_finding(
        1,
        "error[S035 sdk-package-layout]: WHEEL does not have `Root-Is-Purelib: true`",
        "rocm_sdk_core",
    );
    let set = Set::new();
    set.edit("rocm_profiler", |members| {
        drop(members.remove("_rocm_profiler/__init__.py"));
    });
    set.assert_finding(
        1,
        "error[S035 sdk-package-layout]: there is no `_rocm_profiler/__init__.py`",
        "rocm_profiler",
    );
    let set = Set::new();
    set.edit("rocm_profiler", |members| {
        drop(members.insert("etc/x".into(), (Vec::new(), 0o644)));
    });
    set.assert_finding(
        1,
        "error[S035 sdk-package-layout]: it is outside `_rocm_profiler`",
        "etc/x",
    );
}

#[test]
fn a_device_package_requires_the_libraries_of_its_own_version() {
    let set = Set::new();
    set.edit("rocm_sdk_device_gfx942", |members| {
        let metadata = "rocm_sdk_device_gfx942-7.10.0.dist-info/METADATA";
        text(members, metadata, |text| {
            text.replace("libraries==7.10.0", "libraries>=7")
        });
    });
    let expected = "error[S035 sdk-package-layout]: METADATA does not have `Requires-Dist: \
                    rocm-sdk-libraries==7.10.0`";
    set.assert_finding(1, expected, "rocm_sdk_device_gfx942");
}

#[test]
fn a_console_script_without_a_function_is_an_error_and_without_its_program_a_warning() {
    let set = Set::new();
    set.edit("rocm_sdk_core", |members| {
        let scripts = "rocm_sdk_core-7.10.0.dist-info/entry_points.txt";
        text(members, scripts, |text| {
            text + "roc-obj = rocm_sdk_core._cli:roc_obj\n"
        });
    });
    set.assert_finding(
        1,
        "error[S036 script-without-program]: `roc-obj` runs `rocm_sdk_core._cli:roc_obj`",
        "entry_points.txt",
    );
    let set = Set::of(|artifacts| artifacts.remove("base_run_generic/base/stage/bin/rocminfo"));
    set.assert_finding(
        0,
        "warning[S036 script-without-program]: `rocminfo` runs `bin/rocminfo`",
        "entry_points.txt",
    );
}

#[test]
fn libraries_search_by_rpath_and_in_the_core_package() {
    let library = "_rocm_sdk_core/lib/libamdhip64.so.7";
    let edited = |search: &str, is_runpath: bool| {
        let set = Set::new();
        set.edit("rocm_sdk_core", |members| {
            let made = linked(|one| {
                let one = one.soname("libamdhip64.so.7");
                if is_runpath {
                    one.runpath(search)
                } else {
                    one.rpath(search)
                }
            });
            members.insert(library.into(), made);
        });
        set
    };
    let core = |more: &str| format!("{CORE}{more}");
    edited(&core(""), true).assert_finding(
        1,
        "error[S037 sdk-search-path]: it has the RUNPATH",
        library,
    );
    let half = "$ORIGIN/../../_rocm_sdk_core/lib/llvm/lib";
    edited(half, false).assert_finding(
        1,
        "error[S037 sdk-search-path]: it does not search `_rocm_sdk_core/lib/rocm_sysdeps/lib`",
        library,
    );
    edited(&core(":$ORIGIN/../../_rocm_other/lib"), false).assert_finding(
        1,
        "error[S037 sdk-search-path]: it searches `$ORIGIN/../../_rocm_other/lib`, but no package has the directory",
        library,
    );
    edited(&core(":$ORIGIN/../../../lib"), false).assert_finding(
        1,
        "error[S037 sdk-search-path]: it searches `$ORIGIN/../../../lib`, above",
        library,
    );
    edited(&core(":/opt/rocm/lib"), false).assert_finding(
        0,
        "warning[S037 sdk-search-path]: it searches `/opt/rocm/lib`, where the ROCm of a machine \
         may be",
        library,
    );
}

#[test]
fn a_library_that_is_needed_must_be_found_where_it_lies() {
    let needing = |needed: &str| {
        let needed = needed.to_owned();
        Set::of(move |artifacts| {
            let library = crate::support::elf::Library::new()
                .soname("libuser.so.1")
                .linked(&needed)
                .build();
            artifacts.executable("blas_lib_generic/blas/stage/lib/libuser.so.1", library);
            let library = crate::support::artifacts::library("libdeep.so.1");
            artifacts.executable("blas_lib_generic/blas/stage/lib/deep/libdeep.so.1", library);
        })
    };
    let set = needing("libamdhip64.so.7");
    assert_eq!(set.verify(0).stderr, "", "the core package is searched");
    needing("libdeep.so.1").assert_finding(
        1,
        "error[S038 unreachable-library]: it needs `libdeep.so.1` of _rocm_sdk_libraries/lib/deep",
        "_rocm_sdk_libraries/lib/libuser.so.1",
    );
    needing("libhipblas.so.3").assert_finding(
        0,
        "warning[S038 unreachable-library]: it needs `libhipblas.so.3`, which is next to it, but \
         does not search its own directory",
        "libuser.so.1",
    );
    needing("libnobody.so.9").assert_finding(
        0,
        "warning[S038 unreachable-library]: it needs `libnobody.so.9`, which is in no package",
        "libuser.so.1",
    );
    assert_eq!(needing("libm.so.6").verify(0).stderr, "");
}

#[test]
fn what_loads_a_library_may_search_for_it() {
    let set = Set::of(|artifacts| {
        let library = |soname: &str| crate::support::elf::Library::new().soname(soname);
        let stage = "blas_lib_generic/blas/stage/lib";
        let loader = library("libloader.so.1")
            .linked("libdeep.so.1")
            .runpath("$ORIGIN/deep:$ORIGIN/deeper");
        artifacts.executable(&format!("{stage}/libloader.so.1"), loader.build());
        artifacts.executable(
            &format!("{stage}/deep/libdeep.so.1"),
            library("libdeep.so.1").linked("libend.so.1").build(),
        );
        artifacts.executable(
            &format!("{stage}/deeper/libend.so.1"),
            library("libend.so.1").build(),
        );
    });
    assert_eq!(set.verify(0).stderr, "");
}

#[test]
fn a_library_is_named_as_loaders_ask_for_it() {
    let set = Set::new();
    set.edit("rocm_sdk_core", |members| {
        let library = members["_rocm_sdk_core/lib/libamdhip64.so.7"].clone();
        members.insert("_rocm_sdk_core/lib/libamdhip64.so".into(), library);
    });
    set.assert_finding(
        1,
        "error[S039 other-soname]: the dynamic linker looks it up as `libamdhip64.so.7`",
        "libamdhip64.so",
    );
}

#[test]
fn a_program_in_place_of_a_link_leads_to_a_program() {
    let set = Set::new();
    set.edit("rocm_sdk_core", |members| {
        members.remove("_rocm_sdk_core/lib/llvm/bin/clang");
    });
    let stderr = set.verify(1).stderr;
    assert!(
        stderr.starts_with(
            "error[S040 stub-to-nowhere]: it runs `clang`, which is not in the package"
        ),
        "{stderr}"
    );
    let set = Set::new();
    set.edit("rocm_sdk_core", |members| {
        members
            .get_mut("_rocm_sdk_core/lib/llvm/bin/clang-23")
            .unwrap()
            .1 = 0o644;
    });
    set.assert_finding(
        1,
        "error[S040 stub-to-nowhere]: it runs `clang-23`, which is not executable",
        "clang",
    );
}

#[test]
fn a_library_that_loaders_refuse_is_reported() {
    let set = Set::new();
    set.edit("rocm_sdk_core", |members| {
        let library = &mut members
            .get_mut("_rocm_sdk_core/lib/libamdhip64.so.7")
            .unwrap()
            .0;
        let word = |at: usize| u64::from_le_bytes(library[at..at + 8].try_into().unwrap());
        // The first segment that is loaded (`PT_LOAD` is 1): its size in memory, below what it has
        // in the file.
        let mut headers = (usize::try_from(word(32)).unwrap()..).step_by(56);
        let at = headers.find(|at| word(*at) & 0xffff_ffff == 1).unwrap() + 40;
        library[at..at + 8].copy_from_slice(&1_u64.to_le_bytes());
    });
    let stderr = set.verify(1).stderr;
    assert!(
        stderr.contains("damaged-layout") && stderr.contains("libamdhip64.so.7"),
        "{stderr}"
    );
}

#[test]
fn a_tree_to_build_against_comes_in_the_order_that_its_extractor_needs() {
    let check = |edit: &dyn Fn(&mut Vec<InTree>), begins: &str| {
        let set = Set::new();
        set.edit("rocm_sdk_devel", |members| tree(members, edit));
        set.assert_finding(
            1,
            &format!("error[S041 sdk-devel-tree]: {begins}"),
            "rocm_sdk_devel/_devel.tar",
        );
    };
    check(
        &|entries| {
            let deep = entries.remove(place(entries, "include/hip/hip_runtime.h"));
            entries.insert(1, deep);
        },
        "`_rocm_sdk_devel/include/hip` comes after files in subdirectories of \
         `_rocm_sdk_devel/include`",
    );
    check(
        &|entries| {
            let file = InTree {
                path: "_rocm_sdk_devel/x".into(),
                link: None,
                is_folder: false,
                content: b"x".to_vec(),
            };
            let link = InTree {
                path: "_rocm_sdk_devel/y".into(),
                link: Some("x".into()),
                ..file.clone()
            };
            entries.splice(
                0..0,
                [
                    InTree {
                        content: Vec::new(),
                        ..link
                    },
                    file,
                ],
            );
        },
        "the link `_rocm_sdk_devel/y` comes before its file `_rocm_sdk_devel/x`",
    );
    check(
        &|entries| {
            let again = entries[0].clone();
            entries.push(again);
        },
        "the archive has `_rocm_sdk_devel/__init__.py` twice",
    );
    check(
        &|entries| drop(entries.remove(0)),
        "the tree has no `_rocm_sdk_devel/__init__.py`",
    );
}

#[test]
fn a_tree_to_build_against_stays_in_its_folder_and_links_to_what_is_there() {
    let stderr_of = |edit: &dyn Fn(&mut Vec<InTree>), code: i32| {
        let set = Set::new();
        set.edit("rocm_sdk_devel", |members| tree(members, edit));
        set.verify(code).stderr
    };
    for path in ["_rocm_sdk_devel/../x", "etc/x", "/_rocm_sdk_devel/x"] {
        let edit = |entries: &mut Vec<InTree>| {
            entries.push(InTree {
                path: path.into(),
                link: None,
                is_folder: false,
                content: Vec::new(),
            });
        };
        let stderr = stderr_of(&edit, 1);
        assert!(
            stderr.contains(&format!(
                "`{path}` is not in the directory `_rocm_sdk_devel`"
            )),
            "{stderr}"
        );
    }
    let link = |text: &'static str| {
        move |entries: &mut Vec<InTree>| {
            let at = place(entries, "lib/libamdhip64.so");
            entries[at].link = Some(text.into());
        }
    };
    let nobody = stderr_of(&link("../../_rocm_sdk_core/lib/libnobody.so"), 1);
    assert!(
        nobody.contains("is a link to `_rocm_sdk_core/lib/libnobody.so`, which no package has"),
        "{nobody}"
    );
    let outside = stderr_of(&link("../../../lib/x"), 1);
    assert!(
        outside.contains("is a link to `../../../lib/x`, which leads out of all packages"),
        "{outside}"
    );
    let itself = stderr_of(&link("libamdhip64.so"), 1);
    assert!(
        itself.contains("is a link to `libamdhip64.so`, which leads to itself"),
        "{itself}"
    );
    let dangling = stderr_of(&link("libgone.so"), 0);
    assert!(
        dangling.starts_with("warning[S041 sdk-devel-tree]"),
        "{dangling}"
    );
    assert!(
        dangling.contains("is a link to `libgone.so`, which is not in the tree"),
        "{dangling}"
    );
}

#[test]
fn links_of_a_tree_may_lead_through_links_to_folders() {
    let set = Set::of(|artifacts| {
        artifacts.link(
            "amd-llvm_run_generic/llvm/stage/bin-a.h",
            "llvm/include/llvm/a.h",
        );
    });
    assert_eq!(set.verify(0).stderr, "");
}

#[test]
fn an_xz_tree_is_read_and_a_damaged_one_is_reported() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    artifacts.programs();
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
    project
        .run(&[&words[..], &["--devel-tarball-compression"]].concat())
        .exits(0);
    let set = Set { project };
    assert_eq!(set.verify(0).stderr, "");
    set.edit("rocm_sdk_devel", |members| {
        let content = &mut members.get_mut("rocm_sdk_devel/_devel.tar.xz").unwrap().0;
        content.truncate(content.len() / 2);
    });
    let stderr = set.verify(1).stderr;
    assert!(
        stderr.contains("error[S041 sdk-devel-tree]: the archive cannot be read"),
        "{stderr}"
    );
    set.edit("rocm_sdk_devel", |members| {
        drop(members.remove("rocm_sdk_devel/_devel.tar.xz"));
    });
    set.assert_finding(
        1,
        "error[S041 sdk-devel-tree]: it must have one archive",
        "rocm_sdk_devel",
    );
}

#[test]
fn libraries_of_a_tree_have_an_rpath_and_are_whole() {
    let set = Set::new();
    set.edit("rocm_sdk_devel", |members| {
        tree(members, |entries| {
            let (content, _) = linked(|library| library.soname("libx.so.1").runpath("$ORIGIN"));
            entries.insert(
                1,
                InTree {
                    path: "_rocm_sdk_devel/libx.so.1".into(),
                    link: None,
                    is_folder: false,
                    content,
                },
            );
        });
    });
    set.assert_finding(
        1,
        "error[S037 sdk-search-path]: `_rocm_sdk_devel/libx.so.1` has the RUNPATH `$ORIGIN`",
        "_devel.tar",
    );
}

#[test]
fn a_device_package_lists_each_of_its_files() {
    let list = "_rocm_sdk_libraries/.devel_links/gfx942.json";
    let check = |edit: &dyn Fn(String) -> String, holds: &str| {
        let set = Set::new();
        set.edit("rocm_sdk_device_gfx942", |members| {
            text(members, list, edit);
        });
        let stderr = set.verify(1).stderr;
        assert!(
            stderr.starts_with("error[S042 device-links]: ") && stderr.contains(holds),
            "{stderr}"
        );
    };
    check(
        &|text| text.replace("7.10.0", "7.9.0"),
        "it has version \"7.9.0\", but the package has `7.10.0`",
    );
    check(
        &|text| text.replace("\"lib/rocblas", "\"lib/other"),
        "it does not list `lib/rocblas/library/Kernels_gfx942.co`",
    );
    check(
        &|text| text.replace("\"lib/rocblas", "\"lib/other"),
        "it lists `lib/other/library/Kernels_gfx942.co`",
    );
    check(
        &|text| text.replace("\"../../_rocm", "\"../_rocm"),
        "it says that `.kpack/blas_lib_gfx942.kpack` is at `../_rocm",
    );
    check(&|_| "no list".to_owned(), "it is not a list of files");
    let set = Set::new();
    set.edit("rocm_sdk_device_gfx942", |members| {
        drop(members.remove(list));
    });
    set.assert_finding(
        1,
        "error[S042 device-links]: there is no `_rocm_sdk_libraries/.devel_links/gfx942.json`",
        "gfx942",
    );
}

/// Changes the files of the source distribution.
fn selector(set: &Set, edit: impl Fn(&str, String) -> Option<String>) {
    let path = set.project.path("out/dist/rocm-7.10.0.tar.gz");
    let packed = std::fs::read(&path).unwrap();
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(packed.as_slice()));
    let mut builder = tar::Builder::new(flate2::write::GzEncoder::new(
        Vec::new(),
        flate2::Compression::fast(),
    ));
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        let mut content = String::new();
        entry.read_to_string(&mut content).unwrap();
        let Some(content) = edit(name.strip_prefix("rocm-7.10.0/").unwrap(), content) else {
            continue;
        };
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder
            .append_data(&mut header, &name, content.as_bytes())
            .unwrap();
    }
    std::fs::write(path, builder.into_inner().unwrap().finish().unwrap()).unwrap();
}

#[test]
fn the_source_distribution_knows_exactly_the_targets_that_there_are_packages_for() {
    let about = "src/rocm_sdk/_dist_info.py";
    let stderr_of = |edit: &dyn Fn(&str, String) -> Option<String>| {
        let set = Set::new();
        selector(&set, edit);
        set.verify(1).stderr
    };
    let stderr = stderr_of(&|name, text| {
        Some(if name == about {
            text + "AVAILABLE_TARGET_FAMILIES = [\"gfx1100\"]\n"
        } else {
            text
        })
    });
    assert!(
        stderr.starts_with("error[S043 bad-selector]: it does not know `gfx942`"),
        "{stderr}"
    );
    let stderr = stderr_of(&|name, text| {
        Some(if name == about {
            text + "DEFAULT_TARGET_FAMILY = \"gfx900\"\n"
        } else {
            text
        })
    });
    assert!(
        stderr.contains("if no GPU is found, it selects `gfx900`"),
        "{stderr}"
    );
    let stderr = stderr_of(&|name, text| {
        Some(if name == "PKG-INFO" {
            text.replace("7.10.0", "7.9.0")
        } else {
            text
        })
    });
    assert!(
        stderr.contains("its filename has version `7.10.0`, but PKG-INFO has `7.9.0`"),
        "{stderr}"
    );
    let stderr = stderr_of(&|name, text| {
        Some(if name == "setup.cfg" {
            text.replace('\n', "\r\n")
        } else {
            text
        })
    });
    assert!(
        stderr.contains("`rocm-7.10.0/setup.cfg` has lines that end with CR"),
        "{stderr}"
    );
    let stderr = stderr_of(&|name, text| (name != "setup.py").then_some(text));
    assert!(stderr.contains("there is no `setup.py` in it"), "{stderr}");
    let set = Set::new();
    std::fs::remove_file(set.path("rocm_sdk_device_gfx1100")).unwrap();
    let stderr = set.verify(1).stderr;
    assert!(
        stderr.contains("it offers `gfx1100`, for which there is no package"),
        "{stderr}"
    );
    assert!(
        stderr.contains(
            "it requires `rocm-sdk-device-gfx1100==7.10.0`, but there is no such package"
        ),
        "{stderr}"
    );
    std::fs::write(
        set.project.path("out/dist/rocm-7.10.0.tar.gz"),
        b"no archive",
    )
    .unwrap();
    let stderr = set.verify(1).stderr;
    assert!(
        stderr.contains("error[S043 bad-selector]: it cannot be read"),
        "{stderr}"
    );
}

#[test]
fn code_that_was_split_from_a_library_is_in_a_package_for_each_target() {
    use crate::support::bundle;
    let set_of = |archive_of: &[&str]| {
        let set = Set::new();
        set.edit("rocm_sdk_libraries", |members| {
            let reference =
                bundle::kpack_reference("blas", &["../.kpack/blas_lib_@GFXARCH@.kpack"]);
            let library = bundle::library(&[
                bundle::part(".hipFatBinSegment", bundle::wrappers(1, *b"HIPK")),
                bundle::part(".rocm_kpack_ref", reference),
            ]);
            members.insert(
                "_rocm_sdk_libraries/lib/libsplit.so".into(),
                (library, 0o755),
            );
        });
        for target in ["gfx942", "gfx1100"] {
            set.edit(&format!("rocm_sdk_device_{target}"), |members| {
                let names: &[&str] = if archive_of.contains(&target) {
                    &["blas"]
                } else {
                    &["other"]
                };
                let archive = &mut members
                    .get_mut(&format!(
                        "_rocm_sdk_libraries/.kpack/blas_lib_{target}.kpack"
                    ))
                    .unwrap()
                    .0;
                *archive = bundle::kpack(&[target], names);
            });
        }
        set
    };
    assert_eq!(set_of(&["gfx942", "gfx1100"]).verify(0).stderr, "");
    set_of(&["gfx942"]).assert_finding(
        0,
        "warning[R130 kpack-missing]: its code for gfx1100 is in no package",
        "lib/libsplit.so",
    );
    set_of(&[]).assert_finding(
        0,
        "warning[R130 kpack-missing]: no code for `blas` is in",
        "lib/libsplit.so",
    );
}

#[test]
fn a_package_that_no_release_takes_is_a_warning() {
    let set = Set::new();
    let file = std::fs::File::create(set.project.path("out/dist/rocm-7.10.0.tar.gz")).unwrap();
    file.set_len(2 << 30).unwrap();
    let outcome = set.verify(1);
    assert!(
        outcome.stderr.contains("warning[R140 wheel-too-large]"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stdout.contains("failed rocm-7.10.0.tar.gz: 2.1 GB"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn packages_of_several_families_are_proved_each_with_its_own() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    artifacts.programs();
    for target in ["gfx942", "gfx1100"] {
        std::fs::remove_dir_all(project.path(&format!("artifacts/blas_lib_{target}"))).unwrap();
    }
    for family in ["gfx94X-dcgpu", "gfx110X-all"] {
        artifacts.file(
            &format!("blas_lib_{family}/blas/stage/lib/rocblas/library/{family}.co"),
            b"code",
        );
    }
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
    project
        .run(&[&words[..], &["--mode", "legacy"]].concat())
        .exits(0);
    let set = Set { project };
    assert_eq!(set.verify(0).stderr, "");
    std::fs::remove_file(set.project.path("out/dist/gfx110X-all/rocm-7.10.0.tar.gz")).unwrap();
    set.assert_finding(
        1,
        "error[S032 sdk-package-missing]: there is no package `rocm` for gfx110X-all",
        "",
    );
}

/// What `wheel check` finds in one of them alone.
#[test]
fn a_package_that_no_check_of_one_wheel_lets_pass_is_no_part_of_a_sound_set() {
    let set = Set::new();
    set.edit("rocm_sdk_device_gfx942", |members| {
        members
            .get_mut("_rocm_sdk_libraries/.kpack/blas_lib_gfx942.kpack")
            .unwrap()
            .0 = b"KPAK".to_vec();
    });
    let stderr = set.verify(1).stderr;
    assert!(
        stderr.contains("error[R132 damaged-code-objects]")
            && stderr.contains("blas_lib_gfx942.kpack"),
        "{stderr}"
    );
    for (tag, why) in [
        (
            "manylinux_2_28_aarch64",
            "error[E003 other-architecture]: a library for x86_64 in a wheel for aarch64",
        ),
        (
            "win_amd64",
            "error[R101 false-platform-tag]: the filename claims `win_amd64`, but its libraries \
             are for Linux",
        ),
    ] {
        let project = Project::new().env("ROCM_SDK_WHEEL_PLATFORM_TAG", tag);
        Artifacts::split(&project).programs();
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
        project.run(&words).exits(0);
        let stderr = project.run(&["sdk", "verify", "out/dist"]).exits(1).stderr;
        assert!(
            stderr.contains(why)
                && stderr.contains(&format!("rocm_sdk_core-7.10.0-py3-none-{tag}.whl")),
            "{stderr}"
        );
    }
}

#[test]
fn the_dist_info_module_is_required_and_of_the_same_version() {
    let set = Set::new();
    set.edit("rocm_sdk_core", |members| {
        text(members, "rocm_sdk_core/_dist_info.py", |content| {
            content.replace("\"7.10.0\"", "\"7.9.0\"")
        });
    });
    let other =
        "error[S031 sdk-package-name]: it has version `7.9.0`, but the package has `7.10.0`";
    set.assert_finding(1, other, "rocm_sdk_core/_dist_info.py");
    let set = Set::new();
    set.edit("rocm_sdk_devel", |members| {
        drop(members.remove("rocm_sdk_devel/_dist_info.py"));
    });
    let missing = "error[S035 sdk-package-layout]: there is no `rocm_sdk_devel/_dist_info.py`";
    set.assert_finding(1, missing, "help: create the packages again");
}

/// Codes of what `wheel check` finds in a wheel of a set, under a profile.
fn checked(set: &Set, name: &str, profile: &str, code: i32) -> Vec<String> {
    let path = set.path(name).display().to_string();
    let words = [
        "wheel",
        "check",
        &path,
        "--no-host-libs",
        "--json",
        "--profile",
        profile,
    ];
    let document: Value =
        serde_json::from_str(&set.project.run(&words).exits(code).stdout).unwrap();
    let findings = document["findings"].as_array().unwrap();
    findings
        .iter()
        .map(|finding| finding["code"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn what_packages_of_the_sdk_do_on_purpose_is_a_finding_in_other_wheels_alone() {
    let set = Set::new();
    let usual = checked(&set, "rocm_sdk_core", "default", 0);
    assert!(
        usual.contains(&"R111".to_owned()),
        "ROCm is inside: {usual:?}"
    );
    let names = [
        "rocm_profiler",
        "rocm_sdk_core",
        "rocm_sdk_devel",
        "rocm_sdk_device_gfx1100",
        "rocm_sdk_device_gfx942",
        "rocm_sdk_libraries",
    ];
    for name in names {
        assert_eq!(
            checked(&set, name, "sdk", 0),
            Vec::<String>::new(),
            "{name}"
        );
    }
}

#[test]
fn one_package_of_the_sdk_is_checked_for_what_it_promises_by_itself() {
    let found = |name: &str, edit: &dyn Fn(&mut Members)| {
        let set = Set::new();
        set.edit(name, edit);
        checked(&set, name, "sdk", 1)
    };
    let library = "_rocm_sdk_core/lib/libamdhip64.so.7";
    let core = |edit: &dyn Fn(&mut Members)| found("rocm_sdk_core", edit);
    let runpath = core(&|members| {
        let made = linked(|one| one.soname("libamdhip64.so.7").runpath(CORE));
        members.insert(library.into(), made);
    });
    assert!(runpath.contains(&"S037".to_owned()), "{runpath:?}");
    let other_name = core(&|members| {
        let library = members[library].clone();
        members.insert("_rocm_sdk_core/lib/libamdhip64.so".into(), library);
    });
    assert!(other_name.contains(&"S039".to_owned()), "{other_name:?}");
    let stub = core(&|members| drop(members.remove("_rocm_sdk_core/lib/llvm/bin/clang-23")));
    assert!(stub.contains(&"S040".to_owned()), "{stub:?}");
    let module = found("rocm_sdk_device_gfx942", &|members| {
        members.insert(
            "_rocm_sdk_libraries/__init__.py".into(),
            (Vec::new(), 0o644),
        );
    });
    assert!(module.contains(&"S035".to_owned()), "{module:?}");
}

#[test]
fn a_wheel_of_another_project_is_an_error_of_the_sdk_profile() {
    let wheel = crate::support::Wheel::named("demo-1.0-py3-none-any.whl");
    let project = Project::new().bytes(wheel.name(), &wheel.bytes());
    let stderr = project
        .run(&["wheel", "check", wheel.name(), "--profile", "sdk"])
        .exits(0)
        .stderr;
    assert!(
        stderr.starts_with("warning[S030 no-sdk-packages]: it is not a package of the SDK"),
        "{stderr}"
    );
}

/// What the builder of `TheRock` appends to its template instead
/// (`build_tools/_therock_utils/py_packaging.py`, `Parameters`).
fn as_of_therock(text: &str, version: &str) -> String {
    let mut written = String::from(
        "__version__ = \"DEFAULT\"\nPY_PACKAGE_SUFFIX_NONCE: str = \"_DEFAULT\"\nAVAILABLE_TARGET_FAMILIES: list[str] = []\n",
    );
    let line = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "))
    };
    written += &format!("__version__ = '{version}'\n");
    written += &format!(
        "PY_PACKAGE_SUFFIX_NONCE = {}\n",
        line("PY_PACKAGE_SUFFIX_NONCE")
            .unwrap_or("''")
            .replace('"', "'")
    );
    written += "ALL_PACKAGES[\"libraries\"].dist_package_template = \"rocm-sdk-libraries\"\n";
    written += "DEFAULT_TARGET_FAMILY = 'gfx1100'\n";
    for target in ["gfx1100", "gfx942", "gfx942:xnack+"] {
        written += &format!("AVAILABLE_TARGET_FAMILIES.append('{target}')\n");
    }
    let kept = text.lines().filter(|line| line.starts_with("SCRIPTS"));
    written + &kept.map(|line| format!("{line}\n")).collect::<String>()
}

#[test]
fn packages_of_the_builder_of_therock_are_as_they_should_be() {
    let set = Set::new();
    for name in [
        "rocm_sdk_core",
        "rocm_sdk_libraries",
        "rocm_sdk_devel",
        "rocm_profiler",
    ] {
        set.edit(name, |members| {
            text(members, &format!("{name}/_dist_info.py"), |text| {
                as_of_therock(&text, "7.10.0")
            });
        });
    }
    // Compiled for each link to a program, without a search path
    // (`build_tools/_therock_utils/exe_stub_gen.py`).
    set.edit("rocm_sdk_core", |members| {
        members.insert(
            "_rocm_sdk_core/bin/clang".to_owned(),
            (crate::support::artifacts::program().to_vec(), 0o755),
        );
    });
    // Texts of a build on Windows.
    selector(&set, |name, text| match name {
        "src/rocm_sdk/_dist_info.py" => Some(as_of_therock(&text, "7.10.0").replace('\n', "\r\n")),
        _ => Some(text),
    });
    let stderr = set.verify(0).stderr;
    assert_eq!(stderr, "");
    // A library without a search path is still none.
    set.edit("rocm_sdk_core", |members| {
        members.insert(
            "_rocm_sdk_core/lib/libx.so.1".to_owned(),
            linked(|one| one.soname("libx.so.1").needs("libc.so.6", &[])),
        );
    });
    let stderr = set.verify(1).stderr;
    assert!(
        stderr.contains("error[S037 sdk-search-path]: it does not search"),
        "{stderr}"
    );
}
