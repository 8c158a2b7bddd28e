//! Repairing wheels: libraries are grafted, names tell the truth, and what comes out loads.

use std::io::Read as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use sha2::Digest as _;

use crate::repaired_wheels_load::assert_loads;
use crate::support::elf::Library;
use crate::support::{Project, Wheel, appears};

pub const NAME: &str = "demo-1.0-cp312-cp312-linux_x86_64.whl";
pub const LIBC: &str = "libc.so.6";

fn extension() -> Library {
    Library::extension("_demo").needs(LIBC, &["GLIBC_2.17"])
}

pub fn wheel(library: &Library) -> Wheel {
    Wheel::named(NAME).executable("demo/_demo.so", library.build())
}

/// A project with a wheel, and a folder `root` that stands for a machine with libraries in `/opt`.
pub fn project(wheel: &Wheel, libraries: &[(&str, &Library)]) -> Project {
    let project = Project::new()
        .bytes(wheel.name(), &wheel.bytes())
        .file("root/etc/ld.so.conf", "/opt\n");
    libraries.iter().fold(project, |project, (name, library)| {
        project.bytes(&format!("root/opt/{name}"), &library.build())
    })
}

/// Repairs the wheel; tells the plan and the members of the result.
#[track_caller]
pub fn repaired(project: &Project, more: &[&str]) -> (Value, Vec<(String, Vec<u8>)>) {
    let arguments = [
        &[
            "wheel",
            "repair",
            NAME,
            "--json",
            "--sysroot",
            "root",
            "-w",
            "out",
        ],
        more,
    ]
    .concat();
    let run = project.run(&arguments).exits(0);
    let plan: Value = serde_json::from_str(&run.stdout).unwrap();
    let members = members_of(&project.path(plan["wheel"].as_str().unwrap()));
    (plan, members)
}

pub fn members_of(wheel: &Path) -> Vec<(String, Vec<u8>)> {
    let mut archive = zip::ZipArchive::new(std::fs::File::open(wheel).unwrap()).unwrap();
    let members = (0..archive.len()).map(|number| {
        let mut member = archive.by_index(number).unwrap();
        let mut content = Vec::new();
        member.read_to_end(&mut content).unwrap();
        (member.name().unwrap().into_owned(), content)
    });
    members.collect()
}

pub fn member<'m>(members: &'m [(String, Vec<u8>)], name: &str) -> &'m [u8] {
    let found = members.iter().find(|(other, _)| other == name);
    &found
        .unwrap_or_else(|| {
            panic!(
                "{name} in {:?}",
                members.iter().map(|(name, _)| name).collect::<Vec<_>>()
            )
        })
        .1
}

/// The dynamic entries as readelf prints them.
fn dynamic(bytes: &[u8]) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let output = Command::new("readelf")
        .arg("-dW")
        .arg(file.path())
        .output()
        .unwrap();
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// A text without the hashes and sizes of libraries, which differ by the linker that made them.
fn without_sums(text: &str) -> String {
    let text = regex::Regex::new("-[0-9a-f]{8}")
        .unwrap()
        .replace_all(text, "-HASH")
        .into_owned();
    regex::Regex::new("[0-9]+\\.[0-9] kB")
        .unwrap()
        .replace_all(&text, "SIZE")
        .into_owned()
}

#[test]
fn a_library_of_the_machine_comes_along_under_a_name_of_its_own() {
    let deep = Library::new().soname("libdeep.so.2").runpath("/opt");
    let host = Library::new()
        .soname("libhost.so.1")
        .needs("libdeep.so.2", &[])
        .exports("of_libhost_so_1");
    let project = project(
        &wheel(
            &Library::extension("_demo")
                .linked(LIBC)
                .needs("libhost.so.1", &[]),
        ),
        &[("libhost.so.1", &host), ("libdeep.so.2", &deep)],
    );
    let (plan, members) = repaired(&project, &[]);
    let grafts: Vec<&str> = plan["grafts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["path"].as_str().unwrap())
        .collect();
    assert_eq!(grafts.len(), 2, "{plan:#}");
    assert!(
        grafts[0].starts_with("demo.libs/libdeep-") && grafts[0].ends_with(".so.2"),
        "{grafts:?}"
    );
    let own = dynamic(member(&members, "demo/_demo.so"));
    let host_name = grafts[1].rsplit('/').next().unwrap();
    assert!(
        own.contains(host_name) && !own.contains("[libhost.so.1]"),
        "{own}"
    );
    assert!(
        own.contains("(RPATH)") && own.contains("[$ORIGIN/../demo.libs]"),
        "{own}"
    );
    let along = dynamic(member(&members, grafts[1]));
    assert!(
        along.contains(&format!("Library soname: [{host_name}]")) && along.contains("[$ORIGIN]"),
        "{along}"
    );
    assert!(
        !dynamic(member(&members, grafts[0])).contains("PATH"),
        "it needs no neighbour"
    );
}

#[test]
fn grafts_are_in_a_bill_and_the_result_is_a_sound_wheel() {
    let host = Library::new()
        .soname("libhost.so.1")
        .exports("of_libhost_so_1");
    let library = extension()
        .needs("libhost.so.1", &[])
        .needs("libamdhip64.so.6", &[]);
    let project = project(&wheel(&library), &[("libhost.so.1.2", &host)]);
    std::os::unix::fs::symlink("libhost.so.1.2", project.path("root/opt/libhost.so.1")).unwrap();
    let (plan, members) = repaired(&project, &["--exclude-preset", "rocm"]);
    let bill: Value = serde_json::from_slice(member(
        &members,
        "demo-1.0.dist-info/sboms/rock-matrix.cdx.json",
    ))
    .unwrap();
    assert_eq!(bill["bomFormat"], "CycloneDX");
    assert_eq!(bill["components"][0]["name"], "libhost.so.1.2");
    let digest = |bytes: &[u8]| {
        sha2::Sha256::digest(bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    let along = member(&members, plan["grafts"][0]["path"].as_str().unwrap());
    assert_eq!(
        bill["components"][0]["hashes"][0]["content"],
        digest(along),
        "the file that is in the wheel"
    );
    let ancestor = &bill["components"][0]["pedigree"]["ancestors"][0];
    assert_eq!(
        ancestor["hashes"][0]["content"], plan["grafts"][0]["sha256"],
        "the file that it was made of"
    );
    assert_eq!(
        bill["components"][1],
        serde_json::json!({"type": "library", "name": "libamdhip64.so.6", "scope": "excluded"})
    );
    let name = plan["wheel"].as_str().unwrap();
    assert!(
        name.ends_with("manylinux2014_x86_64.manylinux_2_17_x86_64.whl"),
        "{name}"
    );
    assert_eq!(members.last().unwrap().0, "demo-1.0.dist-info/RECORD");
    project.run(&["wheel", "verify", name]).exits(0);
    let shown = project
        .run(&[
            "wheel",
            "show",
            name,
            "--json",
            "--sysroot",
            "root",
            "--exclude-preset",
            "rocm",
        ])
        .exits(0);
    assert_eq!(
        serde_json::from_str::<Value>(&shown.stdout).unwrap()["overall_tag"],
        "manylinux_2_17_x86_64"
    );
}

#[test]
fn the_bill_lists_which_library_needs_which() {
    let deep = Library::new().soname("libdeep.so.2");
    let host = Library::new()
        .soname("libhost.so.1")
        .needs("libdeep.so.2", &[]);
    let host = |more: &Library| {
        let project = project(
            &wheel(more),
            &[("libhost.so.1", &host), ("libdeep.so.2", &deep)],
        );
        let (_, members) = repaired(&project, &[]);
        let bill: Value = serde_json::from_slice(member(
            &members,
            "demo-1.0.dist-info/sboms/rock-matrix.cdx.json",
        ))
        .unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let entry = |one: &Value| {
            (
                text(&one["ref"]),
                one["dependsOn"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(text)
                    .collect::<Vec<_>>()
                    .join(" "),
            )
        };
        let entries: Vec<(String, String)> = bill["dependencies"]
            .as_array()
            .unwrap()
            .iter()
            .map(entry)
            .collect();
        entries
            .into_iter()
            .map(|(one, other)| (without_sums(&one), without_sums(&other)))
            .collect::<Vec<_>>()
    };
    let pair = |one: &str, other: &str| (one.to_owned(), other.to_owned());
    let (root, deep, mid) = (
        "pkg:pypi/demo@1.0",
        "file:demo.libs/libdeep-HASH.so.2",
        "file:demo.libs/libhost-HASH.so.1",
    );
    let library = extension().needs("libhost.so.1", &[]);
    assert_eq!(
        host(&library),
        [pair(root, mid), pair(deep, ""), pair(mid, deep)]
    );
    let both = library.needs("libdeep.so.2", &[]);
    assert_eq!(host(&both)[0], pair(root, &format!("{deep} {mid}")));
}

#[test]
fn a_second_run_gives_the_same_bytes_and_writes_nothing() {
    let host = Library::new()
        .soname("libhost.so.1")
        .exports("of_libhost_so_1");
    let project = project(
        &wheel(&extension().needs("libhost.so.1", &[])),
        &[("libhost.so.1", &host)],
    );
    let (first, _) = repaired(&project, &[]);
    let (second, _) = repaired(&project, &[]);
    assert_eq!(
        (&first["written"], &second["written"]),
        (&true.into(), &false.into())
    );
    let elsewhere = |epoch: &str, folder: &str| {
        let arguments = ["wheel", "repair", NAME, "--sysroot", "root", "-w", folder];
        let output = project
            .command(&arguments)
            .env("SOURCE_DATE_EPOCH", epoch)
            .output()
            .unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        std::fs::read(project.path(out.trim())).unwrap()
    };
    assert_eq!(
        elsewhere("1700000001", "a"),
        elsewhere("1700000000", "b"),
        "zip has two-second steps"
    );
    assert_ne!(elsewhere("1700000000", "c"), elsewhere("1600000000", "d"));
}

#[test]
fn the_presets_match_versioned_names_and_nothing_of_them_comes_along() {
    let library = extension()
        .needs("libamdhip64.so.7", &[])
        .needs("libtorch_cpu.so", &[])
        .needs("libc10_hip.so", &[])
        .needs("libhipblaslt.so.1", &[]);
    let host = Library::new().soname("libamdhip64.so.7");
    let project = project(&wheel(&library), &[("libamdhip64.so.7", &host)]);
    let (plan, members) = repaired(&project, &["--exclude-preset", "rocm,torch", "--no-graft"]);
    assert_eq!(plan["grafts"], serde_json::json!([]));
    assert_eq!(
        plan["excluded"],
        serde_json::json!([
            "libamdhip64.so.7",
            "libc10_hip.so",
            "libhipblaslt.so.1",
            "libtorch_cpu.so"
        ])
    );
    assert_eq!(
        member(&members, "demo/_demo.so"),
        library.build(),
        "not a byte of it changes"
    );
}

#[test]
fn a_library_that_would_come_along_is_refused_where_none_may() {
    let host = Library::new().soname("libhost.so.1");
    let project = project(
        &wheel(&extension().needs("libhost.so.1", &[])),
        &[("libhost.so.1", &host)],
    );
    let run = project
        .run(&[
            "wheel",
            "repair",
            NAME,
            "--sysroot",
            "root",
            "--no-graft",
            "-w",
            "out",
        ])
        .exits(1);
    insta::assert_snapshot!(run.stderr, @r"
    error[W073 grafts-forbidden]: 1 library would be grafted: libhost.so.1
    --> demo-1.0-cp312-cp312-linux_x86_64.whl
    help: exclude them with `--exclude` or `--exclude-preset`
    ");
    assert!(!project.path("out").exists());
    project
        .run(&[
            "wheel",
            "repair",
            NAME,
            "--sysroot",
            "root",
            "--no-graft",
            "--exclude",
            "libhost*",
            "-w",
            "out",
        ])
        .exits(0);
}

#[test]
fn a_library_that_is_nowhere_is_named_with_who_needs_it() {
    let project = project(
        &wheel(
            &extension()
                .needs("libgone.so.1", &[])
                .needs("libaway.so.2", &[]),
        ),
        &[],
    );
    let run = project
        .run(&["wheel", "repair", NAME, "--sysroot", "root", "-w", "out"])
        .exits(1);
    insta::assert_snapshot!(run.stderr, @r"
    error[W072 library-not-found]: `libaway.so.2` is not found, but demo/_demo.so needs it
    --> demo-1.0-cp312-cp312-linux_x86_64.whl
    help: pass its directory with `--ldpaths` or `--sysroot`, or leave it out with `--exclude`

    error[W072 library-not-found]: `libgone.so.1` is not found, but demo/_demo.so needs it
    --> demo-1.0-cp312-cp312-linux_x86_64.whl
    help: pass its directory with `--ldpaths` or `--sysroot`, or leave it out with `--exclude`
    ");
}

#[test]
fn a_damaged_library_is_no_wheel_without_libraries() {
    let name = "demo-1.0-py3-none-any.whl";
    let damaged = Wheel::named(name).file(
        "demo/broken.so",
        b"\x7fELF\x02\x01\x01 and no more".to_vec(),
    );
    let project = Project::new().bytes(name, &damaged.bytes());
    for command in ["repair", "check"] {
        let run = project.run(&["wheel", command, name]).exits(1);
        assert!(
            run.stderr.contains("error[E001 damaged-elf]"),
            "{}",
            run.stderr
        );
    }
    assert!(!project.path("wheelhouse").exists());
}

#[test]
fn a_wheel_with_nothing_but_libraries_for_another_machine_or_c_library_is_refused() {
    let mut arm = extension().build();
    arm[18] = 183;
    let musl = Library::extension("_demo")
        .needs("libc.musl-x86_64.so.1", &[])
        .build();
    let named = NAME.replace("linux_x86_64", "manylinux_2_17_x86_64");
    for (name, library, code) in [
        (NAME, arm, "E003 other-architecture"),
        (named.as_str(), musl, "E004 other-libc"),
    ] {
        let alone = Wheel::named(name).executable("demo/_demo.so", library.clone());
        let beside = Wheel::named(name)
            .executable("demo/_demo.so", library)
            .executable("x/_demo.so", extension().build());
        for command in ["repair", "check"] {
            let run = |wheel: &Wheel, exit: i32| {
                let project = Project::new().bytes(name, &wheel.bytes());
                let stderr = project
                    .run(&["wheel", command, name, "--no-host-libs"])
                    .exits(exit)
                    .stderr;
                assert!(
                    exit == 0 || project.files() == [name],
                    "{:?}",
                    project.files()
                );
                stderr
            };
            assert!(run(&alone, 1).contains(&format!("error[{code}]")));
            let stderr = run(&beside, 0);
            assert!(
                command == "repair" || stderr.contains(&format!("warning[{code}]")),
                "{stderr}"
            );
        }
    }
}

#[test]
fn a_platform_out_of_reach_is_refused_with_the_file_and_the_symbol() {
    let library = Library::extension("_demo").needs(LIBC, &["GLIBC_2.2.5", "GLIBC_2.32"]);
    let project = project(&wheel(&library), &[]);
    let plat = |plat: &str| {
        project.run(&[
            "wheel",
            "repair",
            NAME,
            "--no-host-libs",
            "--plat",
            plat,
            "-w",
            "out",
        ])
    };
    insta::assert_snapshot!(plat("manylinux_2_28_x86_64").exits(1).stderr, @r"
    error[W071 platform-out-of-reach]: the wheel cannot comply with `manylinux_2_28_x86_64`: `demo/_demo.so` needs GLIBC_2.32, which it does not provide
    --> demo-1.0-cp312-cp312-linux_x86_64.whl
    help: build in an older image, or repair for `manylinux_2_34_x86_64`
    ");
    assert!(
        plat("manylinux_3_1_x86_64")
            .exits(1)
            .stderr
            .starts_with("error[W070 unknown-platform]")
    );
    plat("manylinux_2_34_x86_64").exits(0);
}

#[test]
fn a_platform_older_than_wanted_is_named_too_unless_only_the_wanted_one_is() {
    let project = project(&wheel(&extension()), &[]);
    let tags = |more: &[&str]| repaired(&project, more).0["platform_tags"].clone();
    let both = serde_json::json!([
        "manylinux2014_x86_64",
        "manylinux_2_17_x86_64",
        "manylinux_2_28_x86_64"
    ]);
    assert_eq!(tags(&["--plat", "manylinux_2_28_x86_64"]), both);
    assert_eq!(
        tags(&["--plat", "manylinux_2_28_x86_64", "--only-plat"]),
        serde_json::json!(["manylinux_2_28_x86_64"])
    );
    assert_eq!(
        tags(&["--no-update-tags"]),
        serde_json::json!(["linux_x86_64"])
    );
}

#[test]
fn a_false_claim_is_dropped_and_a_true_one_stays() {
    let name = "demo-1.0-cp312-cp312-manylinux_2_24_x86_64.manylinux_2_38_x86_64.whl";
    let library = Library::extension("_demo").needs(LIBC, &["GLIBC_2.34"]);
    let project = Project::new().bytes(
        name,
        &Wheel::named(name)
            .executable("demo/_demo.so", library.build())
            .bytes(),
    );
    let run = project
        .run(&["wheel", "repair", name, "--no-host-libs", "-w", "out"])
        .exits(0);
    assert_eq!(
        run.stdout,
        "out/demo-1.0-cp312-cp312-manylinux_2_34_x86_64.manylinux_2_38_x86_64.whl\n"
    );
    assert!(
        run.stderr.starts_with(
            "warning[R101 false-platform-tag]: the filename claims `manylinux_2_24_x86_64`"
        ),
        "{}",
        run.stderr
    );
    let kept = project
        .run(&[
            "wheel",
            "repair",
            name,
            "--no-host-libs",
            "-w",
            "out",
            "--keep-claimed-tags",
        ])
        .exits(0);
    assert!(
        kept.stdout.contains("manylinux_2_24_x86_64"),
        "{}",
        kept.stdout
    );
}

/// Tags of systems that are not audited stay, unless a platform is asked for.
#[test]
fn claims_for_another_processor_or_c_library_are_dropped_wherever_they_stand() {
    let library = Library::extension("_demo")
        .needs(LIBC, &["GLIBC_2.17"])
        .build();
    let with = |claims: &str, more: &[&str]| {
        let name = format!("demo-1.0-cp312-cp312-{claims}.whl");
        let wheel = Wheel::named(&name).executable("demo/_demo.so", library.clone());
        let project = Project::new().bytes(&name, &wheel.bytes());
        let run = project
            .run(
                &[
                    &["wheel", "repair", &name, "--no-host-libs", "-w", "out"],
                    more,
                ]
                .concat(),
            )
            .exits(0);
        let new = run
            .stdout
            .trim()
            .rsplit('-')
            .next()
            .unwrap_or_default()
            .to_owned();
        (
            new,
            run.stderr.lines().next().unwrap_or_default().to_owned(),
        )
    };
    let is = |claims: &str| with(claims, &[]);
    let dropped_claim = |claim: &str, whose: &str| {
        let content = format!(
            "the filename claims `{claim}`, but its libraries are for {whose}; it was dropped"
        );
        (
            "manylinux2014_x86_64.manylinux_2_17_x86_64.whl".to_owned(),
            format!("warning[R101 false-platform-tag]: {content}"),
        )
    };
    let own = "manylinux_2_17_x86_64";
    for claim in ["manylinux_2_17_aarch64", "linux_ppc64le"] {
        assert_eq!(
            is(&format!("{claim}.{own}")),
            dropped_claim(claim, "x86_64")
        );
        assert_eq!(
            is(&format!("{own}.{claim}")),
            dropped_claim(claim, "x86_64")
        );
    }
    for foreign in [
        "macosx_11_0_arm64",
        "win_amd64",
        "android_21_x86_64",
        "ios_13_0_arm64_iphoneos",
        "freebsd_14_x86_64",
    ] {
        let claims = format!("{own}.{foreign}");
        let (tags, text) = is(&claims);
        assert!(tags.contains(foreign) && tags.contains(own), "{tags}");
        assert_eq!(
            text,
            format!("demo-1.0-cp312-cp312-{claims}.whl keeps tags that are not audited: {foreign}")
        );
        let (tags, text) = with(&claims, &["--plat", own]);
        assert_eq!(tags, "manylinux2014_x86_64.manylinux_2_17_x86_64.whl");
        let dropped =
            format!("the filename claims `{foreign}`, but `{own}` is requested; it was dropped");
        assert_eq!(text, format!("warning[R101 false-platform-tag]: {dropped}"));
    }
    assert_eq!(
        is(&format!("musllinux_1_2_x86_64.{own}")),
        dropped_claim("musllinux_1_2_x86_64", "manylinux")
    );
}

#[test]
fn claims_of_both_c_libraries_stay_where_no_file_needs_one() {
    let is = |library: &Library| {
        let name = "demo-1.0-py3-none-manylinux_2_5_x86_64.musllinux_1_1_x86_64.whl";
        let wheel = Wheel::named(name).executable("demo/free.so", library.build());
        let project = Project::new().bytes(name, &wheel.bytes());
        let run = project
            .run(&["wheel", "repair", name, "--no-host-libs", "-w", "out"])
            .exits(0);
        (run.stdout.contains(".musllinux_1_1_x86_64.whl"), run.stderr)
    };
    let (stays, text) = is(&Library::new());
    assert!(stays && !text.contains("R101"), "{text}");
    let (stays, text) = is(&Library::new().needs(LIBC, &["GLIBC_2.2.5"]));
    assert!(!stays && text.contains("[R101 "), "{text}");
}

#[test]
fn an_unloadable_layout_is_reported_even_without_an_edit() {
    let stderr_of = |align: Option<u64>| {
        let mut bytes = extension().build();
        let table = usize::try_from(u64::from_le_bytes(bytes[32..40].try_into().unwrap())).unwrap();
        let load = (0..20)
            .map(|entry| table + 56 * entry)
            .find(|at| bytes[*at] == 1)
            .unwrap();
        if let Some(align) = align {
            bytes[load + 48..load + 56].copy_from_slice(&align.to_le_bytes());
        }
        let project = project(&Wheel::named(NAME).executable("demo/_demo.so", bytes), &[]);
        project
            .run(&["wheel", "repair", NAME, "--sysroot", "root", "-w", "out"])
            .exits(0)
            .stderr
    };
    let (text, well) = (stderr_of(Some(0x1001)), stderr_of(None));
    assert_eq!(well, "");
    appears("R131", &text, &well);
    assert!(
        text.starts_with("warning[R131 damaged-layout]")
            && text.contains("which does not change it"),
        "{text}"
    );
}

#[test]
fn a_wheel_without_libraries_is_copied_and_nothing_fails() {
    let name = "demo-1.0-py3-none-any.whl";
    let bytes = Wheel::named(name).bytes();
    let project = Project::new().bytes(name, &bytes);
    let run = project
        .run(&["wheel", "repair", name, "-w", "out"])
        .exits(0);
    assert_eq!(run.stdout, "out/demo-1.0-py3-none-any.whl\n");
    assert_eq!(
        std::fs::read(project.path("out/demo-1.0-py3-none-any.whl")).unwrap(),
        bytes
    );
}

#[test]
fn pythons_library_is_needed_no_longer() {
    let library = extension().needs("libpython3.12.so.1.0", &[]);
    let project = project(&wheel(&library), &[]);
    let run = project
        .run(&["wheel", "repair", NAME, "--sysroot", "root", "-w", "out"])
        .exits(0);
    assert!(
        run.stderr.starts_with("warning[E006 needs-libpython]"),
        "{}",
        run.stderr
    );
    let (plan, members) = repaired(&project, &[]);
    assert_eq!(
        plan["edits"][0]["remove_needed"],
        serde_json::json!(["libpython3.12.so.1.0"])
    );
    assert!(!dynamic(member(&members, "demo/_demo.so")).contains("libpython"));
}

#[test]
fn a_program_among_the_scripts_moves_into_the_wheel_when_it_needs_libraries() {
    let host = Library::new()
        .soname("libhost.so.1")
        .exports("of_libhost_so_1");
    let program = Library::program()
        .needs("libhost.so.1", &[])
        .needs(LIBC, &["GLIBC_2.17"])
        .build();
    let wheel = Wheel::named(NAME).executable("demo-1.0.data/scripts/tool", program);
    let project = project(&wheel, &[("libhost.so.1", &host)]);
    let (plan, members) = repaired(&project, &[]);
    assert_eq!(
        plan["moved"],
        serde_json::json!({"demo-1.0.data/scripts/tool": "demo.scripts/tool"})
    );
    assert!(dynamic(member(&members, "demo.scripts/tool")).contains("[$ORIGIN/../demo.libs]"));
    let script =
        String::from_utf8(member(&members, "demo-1.0.data/scripts/tool").to_vec()).unwrap();
    assert!(
        script.starts_with("#!python\n") && script.contains("\"demo.scripts\", \"tool\""),
        "{script}"
    );
}

#[test]
fn search_paths_of_the_builder_are_dropped_on_demand() {
    let library = extension().runpath("/opt/rocm/lib:$ORIGIN/../more:");
    let project = project(&wheel(&library), &[]);
    let (plan, members) = repaired(&project, &["--fix-rpath"]);
    assert_eq!(
        (&plan["edits"][0]["rpath"], &plan["edits"][0]["rpath_tag"]),
        (&"$ORIGIN/../more".into(), &"RUNPATH".into())
    );
    assert!(
        dynamic(member(&members, "demo/_demo.so"))
            .contains("(RUNPATH)            Library runpath: [$ORIGIN/../more]")
    );
    std::fs::remove_dir_all(project.path("out")).unwrap();
    assert_eq!(repaired(&project, &[]).0["edits"], serde_json::json!([]));
}

#[test]
fn stripping_drops_what_no_loader_needs() {
    let host = Library::new()
        .soname("libhost.so.1")
        .exports("of_libhost_so_1")
        .flag("-g");
    let library = Library::extension("_demo")
        .linked(LIBC)
        .needs("libhost.so.1", &[])
        .flag("-g");
    let project = project(&wheel(&library), &[("libhost.so.1", &host)]);
    let (_, members) = repaired(&project, &["--strip"]);
    let stripped = member(&members, "demo/_demo.so");
    let file = project.path("stripped.so");
    std::fs::write(&file, stripped).unwrap();
    let output = Command::new("readelf")
        .args(["-SW"])
        .arg(&file)
        .output()
        .unwrap();
    let sections = String::from_utf8(output.stdout).unwrap();
    assert!(
        sections.contains(".dynsym")
            && !sections.contains(".debug")
            && !sections.contains(".symtab"),
        "{sections}"
    );
}

#[test]
fn a_dry_run_reports_the_repair_and_writes_nothing() {
    let host = Library::new().soname("libhost.so.1");
    let project = project(
        &wheel(&extension().needs("libhost.so.1", &[])),
        &[("libhost.so.1", &host)],
    );
    let run = project
        .run(&[
            "wheel",
            "repair",
            NAME,
            "--sysroot",
            "root",
            "--dry-run",
            "-w",
            "out",
        ])
        .exits(0);
    insta::assert_snapshot!(without_sums(&run.stdout), @r"
    graft  /opt/libhost.so.1 as demo.libs/libhost-HASH.so.1, SIZE
    edit   demo/_demo.so
             needs libhost-HASH.so.1 instead of libhost.so.1
             searches $ORIGIN/../demo.libs
    write  out/demo-1.0-cp312-cp312-manylinux2014_x86_64.manylinux_2_17_x86_64.whl
    ");
    assert!(!project.path("out").exists());
}

#[test]
fn a_library_without_a_hash_gets_one_and_is_reported() {
    let bare = wheel(&extension()).edit("RECORD", |text| {
        let bare = |line: &str| {
            if line.contains("_demo.so") {
                "demo/_demo.so,,\n".to_owned()
            } else {
                format!("{line}\n")
            }
        };
        text.lines().map(bare).collect()
    });
    let run = project(&bare, &[])
        .run(&["wheel", "repair", NAME, "--no-host-libs", "-w", "out"])
        .exits(0);
    assert!(
        run.stderr
            .starts_with("warning[W024 weak-record-hash]: RECORD has no hash for it"),
        "{}",
        run.stderr
    );
    let project = project(&bare, &[]);
    let (plan, _) = repaired(&project, &[]);
    project
        .run(&["wheel", "verify", plan["wheel"].as_str().unwrap()])
        .exits(0);
}

#[test]
fn a_label_is_set_in_the_same_go() {
    let project = project(&wheel(&extension()), &[]);
    let (plan, members) = repaired(&project, &["--relabel", "rocm62"]);
    assert_eq!(
        plan["wheel"],
        "out/demo-1.0+rocm62-cp312-cp312-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    );
    assert!(
        String::from_utf8_lossy(member(&members, "demo-1.0+rocm62.dist-info/METADATA"))
            .contains("Version: 1.0+rocm62\n")
    );
    project
        .run(&["wheel", "verify", plan["wheel"].as_str().unwrap()])
        .exits(0);
}

#[test]
fn a_pattern_that_left_nothing_out_is_reported() {
    let project = project(&wheel(&extension().needs("libamdhip64.so.6", &[])), &[]);
    let arguments = [
        "wheel",
        "repair",
        NAME,
        "--no-host-libs",
        "--exclude",
        "libamdhip64.so",
        "--exclude",
        "libamd*",
        "-w",
        "out",
    ];
    let run = project.run(&arguments).exits(0);
    insta::assert_snapshot!(run.stderr, @r"
    warning[W031 unmatched-exclude]: `--exclude libamdhip64.so` matches no library
    help: patterns match whole names: end them with `.so*`
    ");
    for (pattern, help) in [
        ("liblzma*", "no needed library has such a name"),
        ("", "an empty pattern matches nothing"),
    ] {
        let arguments = [
            "wheel",
            "repair",
            NAME,
            "--no-host-libs",
            "--exclude",
            "libamd*",
            "--exclude",
            pattern,
            "-w",
            "o2",
        ];
        let stderr = project.run(&arguments).exits(0).stderr;
        assert!(
            stderr.contains("[W031 ") && stderr.contains(help),
            "{pattern}: {stderr}"
        );
    }
}

#[test]
fn a_pattern_that_left_a_library_out_by_its_path_is_not_idle() {
    let host = Library::new()
        .soname("libhost.so.1")
        .exports("of_libhost_so_1");
    let project = project(
        &wheel(&extension().needs("libhost.so.1", &[])),
        &[("libhost.so.1", &host)],
    );
    let arguments = [
        "wheel",
        "repair",
        NAME,
        "--sysroot",
        "root",
        "--exclude",
        "/opt/*",
        "--no-graft",
        "-w",
        "out",
    ];
    assert_eq!(project.run(&arguments).exits(0).stderr, "");
}

#[test]
fn a_library_with_a_layout_that_cannot_be_changed_is_refused_and_nothing_is_written() {
    let mut bytes = extension().needs("libhost.so.1", &[]).build();
    // The first loaded segment claims to lie where nothing fits its alignment.
    let table = usize::try_from(u64::from_le_bytes(bytes[32..40].try_into().unwrap())).unwrap();
    let load = (0..20)
        .map(|entry| table + 56 * entry)
        .find(|at| bytes[*at] == 1)
        .unwrap();
    bytes[load + 48..load + 56].copy_from_slice(&0x1001_u64.to_le_bytes());
    let host = Library::new().soname("libhost.so.1");
    let project = project(
        &Wheel::named(NAME).executable("demo/_demo.so", bytes),
        &[("libhost.so.1", &host)],
    );
    let run = project
        .run(&["wheel", "repair", NAME, "--sysroot", "root", "-w", "out"])
        .exits(1);
    assert!(
        run.stderr
            .starts_with("error[E007 uneditable-elf]: it cannot be changed safely"),
        "{}",
        run.stderr
    );
    assert!(!project.path("out").exists());
}

#[test]
fn a_result_that_is_not_as_planned_is_no_result() {
    // Another entry makes the search path longer than any that is read.
    let folders: Vec<String> = (0..2850)
        .map(|number| format!("$ORIGIN/{number:014}"))
        .collect();
    let library = extension()
        .needs("libhost.so.1", &[])
        .runpath(&folders.join(":")[..65_500]);
    let host = Library::new().soname("libhost.so.1");
    let roomy = project(&wheel(&library), &[("libhost.so.1", &host)]);
    let arguments = ["wheel", "repair", NAME, "--sysroot", "root", "-w", "out"];
    let well = roomy.stderr_of(&arguments);
    let library = extension()
        .needs("libhost.so.1", &[])
        .runpath(&folders.join(":")[..65_530]);
    let project = project(&wheel(&library), &[("libhost.so.1", &host)]);
    let run = project.run(&arguments).exits(1);
    appears("W074", &run.stderr, &well);
    assert_eq!(roomy.run(&arguments).exits(0).stderr, well);
    let first = run.stderr.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("error[W074 unsound-result]: it cannot be read: its search path has 655"),
        "{first}"
    );
    assert!(!project.path("out").exists());
}

#[test]
fn what_came_along_is_found_from_where_files_of_data_are_installed() {
    let host = Library::new()
        .soname("libhost.so.1")
        .exports("of_libhost_so_1");
    let library = extension().needs("libhost.so.1", &[]);
    let wheel =
        Wheel::named(NAME).executable("demo-1.0.data/platlib/demo/_demo.so", library.build());
    let project = project(&wheel, &[("libhost.so.1", &host)]);
    let (plan, members) = repaired(&project, &["--relabel", "rocm62"]);
    assert!(
        dynamic(member(
            &members,
            "demo-1.0+rocm62.data/platlib/demo/_demo.so"
        ))
        .contains("[$ORIGIN/../demo.libs]")
    );
    let name = plan["wheel"].as_str().unwrap();
    let shown = project
        .run(&["wheel", "show", name, "--json", "--no-host-libs"])
        .exits(0);
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(
        (&shown["overall_tag"], &shown["external_libs"]),
        (&"manylinux_2_17_x86_64".into(), &serde_json::json!({}))
    );
}

#[test]
fn a_file_that_has_a_library_beside_it_keeps_that_one() {
    let host = Library::new()
        .soname("libhost.so.1")
        .exports("of_libhost_so_1");
    let beside = extension().needs("libhost.so.1", &[]).runpath("$ORIGIN");
    let wheel = wheel(&extension().needs("libhost.so.1", &[]))
        .executable("demo/own/_own.so", beside.build())
        .executable(
            "demo/own/libhost.so.1",
            host.clone().needs(LIBC, &["GLIBC_2.17"]).build(),
        );
    let (plan, members) = repaired(&project(&wheel, &[("libhost.so.1", &host)]), &[]);
    assert_eq!(plan["edits"].as_array().unwrap().len(), 1, "{plan:#}");
    assert_eq!(member(&members, "demo/own/_own.so"), beside.build());
}

#[test]
fn entries_that_lead_into_the_wheel_stay_before_the_folder_of_libraries_each_once() {
    let library = extension()
        .needs("libhost.so.1", &[])
        .runpath("/opt/rocm/lib:$ORIGIN/../more:$ORIGIN/../../up:");
    let host = Library::new().soname("libhost.so.1");
    let (plan, members) = repaired(&project(&wheel(&library), &[("libhost.so.1", &host)]), &[]);
    assert_eq!(
        plan["edits"][0]["rpath"],
        "$ORIGIN/../more:$ORIGIN/../demo.libs"
    );
    assert!(
        !dynamic(member(&members, "demo/_demo.so")).contains("RUNPATH"),
        "the environment would come first"
    );
}

#[test]
fn two_names_of_one_library_come_along_once() {
    let host = Library::new()
        .soname("libhost.so.1")
        .exports("of_libhost_so_1")
        .exports("of_libhost_so");
    let library = extension()
        .needs("libhost.so.1", &[])
        .needs("libhost.so", &[]);
    let project = project(&wheel(&library), &[("libhost.so.1.2", &host)]);
    for link in ["libhost.so", "libhost.so.1"] {
        std::os::unix::fs::symlink("libhost.so.1.2", project.path("root/opt").join(link)).unwrap();
    }
    std::process::Command::new("chmod")
        .arg("400")
        .arg(project.path("root/opt/libhost.so.1.2"))
        .status()
        .unwrap();
    let (plan, _) = repaired(&project, &[]);
    assert_eq!(plan["grafts"].as_array().unwrap().len(), 1, "{plan:#}");
    assert_eq!(
        plan["grafts"][0]["needed_as"],
        serde_json::json!(["libhost.so", "libhost.so.1"])
    );
    let file = std::fs::File::open(project.path(plan["wheel"].as_str().unwrap())).unwrap();
    let mut archive = zip::ZipArchive::new(file).unwrap();
    let graft = archive
        .by_name(plan["grafts"][0]["path"].as_str().unwrap())
        .unwrap();
    assert_eq!(graft.unix_mode(), Some(0o100_755), "its owner may write it");
}

#[test]
fn an_older_platform_is_not_worth_a_library_more_unless_it_is_the_one_wanted() {
    let expat = Library::new()
        .soname("libexpat.so.1")
        .exports("of_libexpat_so_1");
    let library = Library::extension("_demo")
        .needs(LIBC, &["GLIBC_2.2.5"])
        .needs("libexpat.so.1", &[]);
    let project = project(&wheel(&library), &[("libexpat.so.1", &expat)]);
    let (plan, _) = repaired(&project, &[]);
    assert_eq!(
        (&plan["grafts"], &plan["platform_tags"][0]),
        (&serde_json::json!([]), &"manylinux2010_x86_64".into())
    );
    let (plan, _) = repaired(&project, &["--plat", "manylinux1_x86_64"]);
    assert_eq!(
        plan["grafts"][0]["needed_as"],
        serde_json::json!(["libexpat.so.1"])
    );
    assert_eq!(
        plan["platform_tags"],
        serde_json::json!(["manylinux1_x86_64", "manylinux_2_5_x86_64"])
    );
}

/// A repair for a platform that many wheels do not comply with.
const REPAIR_FOR_GLIBC_2_17: [&str; 8] = [
    "wheel",
    "repair",
    NAME,
    "--no-host-libs",
    "--plat",
    "manylinux_2_17_x86_64",
    "-w",
    "out",
];

#[test]
fn symbols_and_processors_that_a_platform_lacks_are_named_when_it_is_refused() {
    let refused = |library: &Library| {
        let project = project(&wheel(library), &[]);
        project
            .run(&REPAIR_FOR_GLIBC_2_17)
            .exits(1)
            .stderr
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(
        refused(&extension().undefined("__cxa_thread_atexit_impl")),
        "error[W071 platform-out-of-reach]: the wheel cannot comply with `manylinux_2_17_x86_64`: \
         it does not provide __cxa_thread_atexit_impl of libc.so.6"
    );
    assert_eq!(
        refused(&extension().assembly(crate::support::elf::NEEDS_X86_64_V3)),
        "error[W071 platform-out-of-reach]: the wheel cannot comply with `manylinux_2_17_x86_64`: \
         `demo/_demo.so` needs an x86-64 level above the baseline"
    );
}

/// Symbols, the processor and a library that is not found do not hide each other.
#[test]
fn all_reasons_against_a_platform_are_reported_in_one_run() {
    let library = Library::extension("_demo")
        .needs(LIBC, &["GLIBC_2.17", "GLIBC_2.34"])
        .needs("libgone.so.1", &[])
        .undefined("__cxa_thread_atexit_impl")
        .assembly(crate::support::elf::NEEDS_X86_64_V3);
    let project = project(&wheel(&library), &[]);
    let run = project.run(&REPAIR_FOR_GLIBC_2_17).exits(1);
    let errors: Vec<&str> = run
        .stderr
        .lines()
        .filter(|line| line.starts_with("error["))
        .collect();
    assert_eq!(
        errors,
        [
            "error[W071 platform-out-of-reach]: the wheel cannot comply with \
             `manylinux_2_17_x86_64`: `demo/_demo.so` needs GLIBC_2.34, which it does not provide",
            "error[W071 platform-out-of-reach]: the wheel cannot comply with \
             `manylinux_2_17_x86_64`: it does not provide __cxa_thread_atexit_impl of libc.so.6",
            "error[W071 platform-out-of-reach]: the wheel cannot comply with \
             `manylinux_2_17_x86_64`: `demo/_demo.so` needs an x86-64 level above the baseline",
            "error[W072 library-not-found]: `libgone.so.1` is not found, but demo/_demo.so needs it",
        ]
    );
}

#[test]
fn errors_of_a_repair_name_the_file_as_it_is_spelled() {
    let encoded = "demo-1.0%2Blocal-cp312-cp312-linux_x86_64.whl";
    let library = Library::extension("_demo")
        .needs(LIBC, &["GLIBC_2.34"])
        .needs("libgone.so.1", &[])
        .build();
    let name = encoded.replace("%2B", "+");
    let bytes = Wheel::named(&name)
        .executable("demo/_demo.so", library)
        .bytes();
    let run = Project::new()
        .bytes(encoded, &bytes)
        .run(&[
            "wheel",
            "repair",
            encoded,
            "--no-host-libs",
            "--plat",
            "manylinux_2_17_x86_64",
        ])
        .exits(1);
    let locations: Vec<&str> = run
        .stderr
        .lines()
        .filter_map(|line| line.strip_prefix("--> "))
        .collect();
    assert_eq!(locations, [encoded, encoded]);
}

#[test]
fn a_bad_source_date_is_reported_once_for_all_wheels() {
    let project = project(&wheel(&extension()), &[]).env("SOURCE_DATE_EPOCH", "soon");
    let run = project
        .run(&["wheel", "repair", NAME, "gone.whl", "--no-host-libs"])
        .exits(1);
    insta::assert_snapshot!(run.stderr, @r"
    error[W063 bad-source-date]: `SOURCE_DATE_EPOCH` is `soon`, not a whole number of seconds
    help: set it to seconds since 1970-01-01, or unset it
    ");
}

#[test]
fn a_wheel_for_any_platform_that_holds_a_library_is_for_its_platform_afterwards() {
    let name = "demo-1.0-py3-none-any.whl";
    let wheel = Wheel::named(name).executable("demo/_demo.so", extension().build());
    let wheel = wheel.edit("WHEEL", |text| {
        text.replace("Purelib: false", "Purelib: true")
    });
    let project = Project::new().bytes(name, &wheel.bytes());
    let run = project
        .run(&["wheel", "repair", name, "--no-host-libs", "-w", "out"])
        .exits(0);
    assert_eq!(
        run.stdout,
        "out/demo-1.0-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl\n"
    );
    let members = members_of(&project.path(run.stdout.trim()));
    let text = String::from_utf8_lossy(member(&members, "demo-1.0.dist-info/WHEEL")).into_owned();
    let lines = |start: &str| {
        text.lines()
            .filter(|line| line.starts_with(start))
            .collect::<Vec<_>>()
    };
    assert_eq!(lines("Root-Is-Purelib"), ["Root-Is-Purelib: false"]);
    assert_eq!(
        lines("Tag"),
        [
            "Tag: py3-none-manylinux2014_x86_64",
            "Tag: py3-none-manylinux_2_17_x86_64"
        ]
    );
}

#[test]
fn several_wheels_are_repaired_in_one_go_with_patterns_of_a_file_and_the_environment() {
    let other = "other-2.0-cp312-cp312-linux_x86_64.whl";
    let library = extension().needs("libamdhip64.so.6", &[]);
    let project = project(&wheel(&library), &[])
        .bytes(
            other,
            &Wheel::named(other)
                .executable("other/_demo.so", library.build())
                .bytes(),
        )
        .file("leave.txt", "# comes with ROCm\n\nlibamdhip64*\n");
    let arguments = [
        "wheel",
        "repair",
        NAME,
        other,
        "--exclude-file",
        "leave.txt",
        "--no-host-libs",
        "-w",
        "out",
    ];
    let with = |name: &str, value: &str| {
        let output = project
            .command(&arguments)
            .args(["--jobs", "1", "--force"])
            .env(name, value)
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
        )
    };
    let (exit, out) = with("AUDITWHEEL_PLAT", "manylinux_2_28_x86_64");
    let tags = "manylinux2014_x86_64.manylinux_2_17_x86_64.manylinux_2_28_x86_64";
    assert_eq!(
        out,
        format!("out/demo-1.0-cp312-cp312-{tags}.whl\nout/other-2.0-cp312-cp312-{tags}.whl\n")
    );
    assert_eq!(exit, Some(0));
    assert_eq!(with("AUDITWHEEL_PLAT", "manylinux_2_12_x86_64").0, Some(1));
    assert_eq!(with("AUDITWHEEL_ZIP_COMPRESSION_LEVEL", "10").0, Some(2));
}

#[test]
fn copies_of_a_library_that_nothing_names_are_dropped_on_demand() {
    let chain = Library::new()
        .soname("libx.so.1")
        .linked(LIBC)
        .exports("of_libx_so_1")
        .build();
    let library = Library::extension("_demo")
        .linked(LIBC)
        .needs("libx.so.1", &[])
        .runpath("$ORIGIN");
    let all = ["demo/libx.so", "demo/libx.so.1", "demo/libx.so.1.2.3"];
    let built = all.iter().fold(wheel(&library), |wheel, path| {
        wheel.executable(path, chain.clone())
    });
    let left = |members: &[(String, Vec<u8>)]| -> Vec<String> {
        let names = members.iter().map(|(name, _)| name.clone());
        names.filter(|name| name.starts_with("demo/libx")).collect()
    };
    let repaired_with = |wheel: &Wheel, more: &[&str]| {
        let project = project(wheel, &[]);
        let (plan, members) = repaired(&project, more);
        project
            .run(&["wheel", "verify", plan["wheel"].as_str().unwrap()])
            .exits(0);
        (project, plan, members)
    };
    assert_eq!(left(&repaired_with(&built, &[]).2), all);
    let (project, plan, members) = repaired_with(&built, &["--dedup-sonames"]);
    assert_eq!(left(&members), ["demo/libx.so.1"]);
    let same = "demo/libx.so.1";
    assert_eq!(
        plan["dropped"],
        serde_json::json!({"demo/libx.so": same, "demo/libx.so.1.2.3": same})
    );
    assert_loads(&project, &members);
    let kept = repaired_with(
        &built,
        &["--dedup-sonames", "--keep-copy", "*.so.1.2.3", "--strip"],
    )
    .2;
    assert_eq!(left(&kept), ["demo/libx.so.1", "demo/libx.so.1.2.3"]);
    // A file that loads it by another of its names is seen.
    let loader = "import ctypes\nctypes.CDLL(__file__[:-9] + 'libx.so')\n";
    let kept = repaired_with(&built.file("demo/load.py", loader), &["--dedup-sonames"]).2;
    assert_eq!(left(&kept), ["demo/libx.so", "demo/libx.so.1"]);
}

#[test]
fn of_copies_without_a_name_of_their_own_one_stays() {
    let copy = Library::new().soname("libgone.so.1").linked(LIBC).build();
    let built = wheel(&extension())
        .executable("demo/libone.so", copy.clone())
        .executable("more/libother.so", copy)
        .executable("more/_demo.so", extension().build());
    let project = project(&built, &[]);
    let (plan, members) = repaired(&project, &["--dedup-sonames"]);
    assert_eq!(
        plan["dropped"],
        serde_json::json!({"more/libother.so": "demo/libone.so"})
    );
    assert!(
        members.iter().any(|(name, _)| name == "more/_demo.so"),
        "extension modules are found by their own names"
    );
    let text = project
        .run(&[
            "wheel",
            "repair",
            NAME,
            "--sysroot",
            "root",
            "--dedup-sonames",
            "--dry-run",
        ])
        .exits(0);
    assert!(
        text.stdout
            .contains("drop   more/libother.so, the same as demo/libone.so\n"),
        "{}",
        text.stdout
    );
}

#[test]
fn every_graft_is_reported_with_a_warning_for_the_rocm_runtime() {
    let host = Library::new().soname("libamdhip64.so.7");
    let project = project(
        &wheel(&extension().needs("libamdhip64.so.7", &[])),
        &[("libamdhip64.so.7", &host)],
    );
    let plain = ["wheel", "repair", NAME, "--sysroot", "root", "-w", "out"];
    let arguments = [&plain[..], &["--exclude-preset", "none"]].concat();
    let stderr = project.run(&arguments).exits(0).stderr;
    insta::assert_snapshot!(without_sums(&stderr), @r"
    grafted: demo.libs/libamdhip64-HASH.so.7, SIZE, from /opt/libamdhip64.so.7
    warning[R111 vendored-rocm]: `libamdhip64.so.7` is a library of ROCm, and is grafted into the wheel
    --> demo-1.0-cp312-cp312-linux_x86_64.whl
    help: leave it to the packages of ROCm: repair without `--exclude-preset`, or include `rocm` in it
    ");
    let dry = project
        .run(&[&arguments[..], &["--dry-run"]].concat())
        .exits(0);
    assert!(
        dry.stderr.starts_with("warning[R111 vendored-rocm]"),
        "{}",
        dry.stderr
    );
    let (plan, _) = repaired(&project, &["--exclude-preset", "none"]);
    assert_eq!(
        (
            &plan["findings"][0]["code"],
            &plan["findings"][0]["severity"]
        ),
        (&"R111".into(), &"warning".into())
    );
    assert!(plan["grafts"][0]["size"].as_u64().unwrap() > 1000);
    let excluded = project.run(&[&plain[..], &["--force"]].concat()).exits(0);
    assert_eq!(excluded.stderr, "");
    let unknown = project
        .run(&[&plain[..], &["--exclude-preset", "none,rocm"]].concat())
        .exits(2)
        .stderr;
    assert!(
        unknown.contains("there is no preset `none`")
            && unknown.contains("`none` alone excludes no set"),
        "{unknown}"
    );
}

/// A process must hold one copy of these, so they are grafted only where that is asked for.
#[test]
fn libraries_of_rocm_torch_and_cuda_stay_outside_by_default() {
    let names = [
        "libamdhip64.so.7",
        "libtorch_cpu.so",
        "libcudart.so.12",
        "libhost.so.1",
    ];
    let libraries = names.map(|name| (name, Library::new().soname(name)));
    let all = names
        .iter()
        .fold(extension(), |library, name| library.needs(name, &[]));
    let project = project(
        &wheel(&all),
        &libraries.each_ref().map(|(name, library)| (*name, library)),
    );
    let along = |more: &[&str]| {
        let (plan, _) = repaired(&project, &[more, &["--force"]].concat());
        plan["grafts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|graft| graft["needed_as"].to_string())
            .collect::<String>()
    };
    assert_eq!(along(&[]), r#"["libhost.so.1"]"#);
    let all = along(&["--exclude-preset", "none"]);
    assert!(names.iter().all(|name| all.contains(name)), "{all}");
    let but_torch = along(&["--exclude-preset", "torch"]);
    assert!(
        but_torch.contains("libamdhip64") && !but_torch.contains("libtorch"),
        "{but_torch}"
    );
}

#[test]
fn a_wheel_without_libraries_takes_label_time_and_platform() {
    let name = "demo-1.0-py3-none-any.whl";
    let project = Project::new().bytes(name, &Wheel::named(name).bytes());
    let out = |more: &[&str]| {
        let run = project
            .run(&[&["wheel", "repair", name, "-w", "out"], more].concat())
            .exits(0);
        run.stdout.trim().to_owned()
    };
    let labelled = out(&["--relabel", "rocm62"]);
    assert_eq!(labelled, "out/demo-1.0+rocm62-py3-none-any.whl");
    project.run(&["wheel", "verify", &labelled]).exits(0);
    assert_eq!(
        out(&["--plat", "manylinux_2_28_x86_64"]),
        "out/demo-1.0-py3-none-any.whl",
        "it runs there, too"
    );
    let command = ["wheel", "repair", name, "-w", "timed"];
    assert!(
        project
            .command(&command)
            .env("SOURCE_DATE_EPOCH", "1700000000")
            .output()
            .unwrap()
            .status
            .success()
    );
    let (plain, timed) = (
        project.path(&format!("out/{name}")),
        project.path(&format!("timed/{name}")),
    );
    assert_ne!(std::fs::read(plain).unwrap(), std::fs::read(timed).unwrap());
    let bound = name.replace("any", "linux_x86_64");
    let other = Project::new().bytes(&bound, &Wheel::named(&bound).bytes());
    let repaired =
        |plat: &str| other.run(&["wheel", "repair", &bound, "-w", "out", "--plat", plat]);
    let run = repaired("manylinux_2_28_x86_64").exits(0);
    assert_eq!(
        run.stdout,
        "out/demo-1.0-py3-none-manylinux_2_28_x86_64.whl\n"
    );
    let unknown = repaired("manylinux_9_1_x86_64").exits(1).stderr;
    assert!(
        unknown.starts_with("error[W070 unknown-platform]")
            && unknown.contains("known platforms are"),
        "{unknown}"
    );
}

#[test]
fn a_platform_of_a_file_of_policies_is_known_to_wheels_without_libraries() {
    let policy = |name: &str, priority: u32| {
        format!(
            r#"{{"name": "{name}", "aliases": [], "priority": {priority}, "symbol_versions": {{"x86_64": {{}}}},
                "lib_whitelist": [], "blacklist": {{}}}}"#
        )
    };
    let policies = format!("[{}, {}]", policy("linux", 0), policy("manylinux_2_99", 50));
    let name = "demo-1.0-py3-none-linux_x86_64.whl";
    let project = Project::new()
        .bytes(name, &Wheel::named(name).bytes())
        .file("policies.json", &policies);
    let run = |plat: &str| {
        project.run(&[
            "wheel",
            "repair",
            name,
            "-w",
            "out",
            "--plat",
            plat,
            "--policy-file",
            "policies.json",
        ])
    };
    let made = run("manylinux_2_99_x86_64").exits(0).stdout;
    assert_eq!(made, "out/demo-1.0-py3-none-manylinux_2_99_x86_64.whl\n");
    let unknown = run("manylinux_2_28_x86_64").exits(1).stderr;
    assert!(
        unknown.contains("known platforms are manylinux_2_99_x86_64, linux_x86_64"),
        "{unknown}"
    );
}

#[test]
fn a_repaired_wheel_is_left_as_it_is_where_it_lies() {
    let host = Library::new()
        .soname("libhost.so.1")
        .exports("of_libhost_so_1");
    let project = project(
        &wheel(&extension().needs("libhost.so.1", &[])),
        &[("libhost.so.1", &host)],
    );
    let (plan, _) = repaired(&project, &[]);
    let name = plan["wheel"].as_str().unwrap();
    let bytes = std::fs::read(project.path(name)).unwrap();
    let again =
        |more: &[&str]| project.run(&[&["wheel", "repair", name, "-w", "out"], more].concat());
    let run = again(&["--sysroot", "root"]).exits(0);
    assert_eq!(run.stdout, format!("{name}\n"));
    assert_eq!(
        run.stderr,
        format!("{name} needs no repair: it is left unchanged\n")
    );
    assert_eq!(std::fs::read(project.path(name)).unwrap(), bytes);
    for dry in [
        &["--sysroot", "root", "--recompress", "-z", "0"][..],
        &["--sysroot", "root", "--recompress", "-z", "0", "--dry-run"],
    ] {
        let run = again(dry).exits(1);
        assert!(
            run.stderr.starts_with("error[W062 output-is-input]"),
            "{}",
            run.stderr
        );
    }
    assert_eq!(std::fs::read(project.path(name)).unwrap(), bytes);
}

#[test]
fn a_wheel_is_repaired_again_over_what_an_earlier_repair_left() {
    let host = Library::new()
        .soname("libhost.so.1")
        .exports("of_libhost_so_1");
    let more = Library::new()
        .soname("libmore.so.1")
        .exports("of_libmore_so_1");
    let libraries = [("libhost.so.1", &host), ("libmore.so.1", &more)];
    let library = extension()
        .needs("libhost.so.1", &[])
        .needs("libmore.so.1", &[]);
    let first = project(&wheel(&library), &libraries);
    let (plan, members) = repaired(&first, &[]);
    let path = plan["grafts"][0]["path"].as_str().unwrap();
    // A file of another build, beside a library that was grafted before and is the same.
    let program = Library::program()
        .needs("libhost.so.1", &[])
        .needs(LIBC, &["GLIBC_2.17"])
        .build();
    let bill = "demo-1.0.dist-info/sboms/rock-matrix.cdx.json";
    let again = wheel(&library)
        .executable(path, member(&members, path).to_vec())
        .executable("demo-1.0.data/scripts/tool", program)
        .executable("demo.scripts/tool", b"#!/bin/sh\n".to_vec())
        .file(bill, b"{}".to_vec());
    let second = project(&again, &libraries);
    let (plan, members) = repaired(&second, &[]);
    assert_eq!(
        (&plan["grafts"][0]["present"], &plan["grafts"][1]["present"]),
        (&true.into(), &false.into())
    );
    assert_eq!(
        plan["moved"],
        serde_json::json!({"demo-1.0.data/scripts/tool": "demo.scripts/tool-2"})
    );
    assert_eq!(member(&members, bill), b"{}");
    member(&members, "demo-1.0.dist-info/sboms/rock-matrix-2.cdx.json");
    second
        .run(&["wheel", "verify", plan["wheel"].as_str().unwrap()])
        .exits(0);
}

#[test]
fn what_another_repair_left_under_the_name_of_a_library_gives_way_to_it() {
    let more = Library::new()
        .soname("libmore.so.1")
        .exports("of_libmore_so_1");
    let host = Library::new()
        .soname("libhost.so.1")
        .needs("libmore.so.1", &[])
        .exports("of_libhost_so_1");
    let libraries = [("libhost.so.1", &host), ("libmore.so.1", &more)];
    let library = Library::extension("_demo")
        .linked(LIBC)
        .needs("libhost.so.1", &[]);
    let first = project(&wheel(&library), &libraries);
    let (plan, members) = repaired(&first, &[]);
    let path = plan["grafts"][0]["path"].as_str().unwrap();
    assert!(path.starts_with("demo.libs/libhost-"), "{path}");
    // As another program would have left it, with needs and a search path of its own; and what is
    // no library at all.
    let soname = path.rsplit_once('/').unwrap().1;
    let other = Library::new()
        .soname(soname)
        .needs("libmore.so.1", &[])
        .runpath("/opt")
        .exports("of_libhost_so_1");
    let user = Library::new()
        .needs(soname, &[])
        .runpath("$ORIGIN/../demo.libs");
    for there in [other.build(), b"text".to_vec()] {
        for more in [
            &[][..],
            &["--strip"],
            &["--fix-rpath"],
            &["--dedup-sonames"],
        ] {
            let again = wheel(&library).executable(path, there.clone());
            let is_library = there != b"text";
            let again = if is_library {
                again.executable("demo/libuser.so", user.build())
            } else {
                again
            };
            let second = project(&again, &libraries);
            let arguments = [
                &["wheel", "repair", NAME, "--sysroot", "root", "-w", "out"],
                more,
            ]
            .concat();
            let dry = second
                .run(&[&arguments[..], &["--dry-run"]].concat())
                .exits(0);
            assert!(
                dry.stdout.contains(", replacing a different file\n"),
                "{}",
                dry.stdout
            );
            let stderr = second.run(&arguments).exits(0).stderr;
            let expected = "warning[W075 graft-replaces-member]: the library that is grafted under \
                        this name has different content";
            assert!(
                stderr.contains(expected) && stderr.contains(&format!("--> {NAME}: {path}\n")),
                "{more:?}: {stderr}"
            );
            let (plan, new) = repaired(&second, more);
            assert_eq!(plan["grafts"][0]["replaces"], true);
            assert_eq!(new.iter().filter(|(name, _)| name == path).count(), 1);
            if !more.contains(&"--strip") {
                assert_eq!(member(&new, path), member(&members, path), "{more:?}");
            }
            let out = plan["wheel"].as_str().unwrap();
            second.run(&["wheel", "verify", out]).exits(0);
            assert_loads(&second, &new);
        }
    }
}

#[test]
fn a_label_that_the_contents_contradict_is_reported() {
    let library = extension().needs("libamdhip64.so.7", &[]);
    let wheel = wheel(&library).file("demo/__init__.py", b"__version__ = \"1.0\"\n".to_vec());
    let project = project(&wheel, &[]);
    let arguments = [
        "wheel",
        "repair",
        NAME,
        "--no-host-libs",
        "--exclude-preset",
        "rocm",
        "-w",
        "out",
        "--relabel",
    ];
    let stderr = project
        .run(&[&arguments[..], &["rocm62"]].concat())
        .exits(0)
        .stderr;
    assert!(
        stderr.contains("[R125 ") && stderr.contains("[W056 ") && stderr.contains("warning"),
        "{stderr}"
    );
    let stderr = project
        .run(&[&arguments[..], &["rocm71"]].concat())
        .exits(0)
        .stderr;
    assert!(!stderr.contains("[R125 "), "{stderr}");
}

#[test]
fn what_check_finds_in_a_search_path_repair_drops() {
    let library = extension().runpath("$ORIGINAL/x:lib::$ORIGIN/in:/opt/x:${ORIGIN}/other");
    let project = project(&wheel(&library), &[]);
    let (plan, _) = repaired(&project, &["--fix-rpath"]);
    assert_eq!(plan["edits"][0]["rpath"], "$ORIGIN/in:${ORIGIN}/other");
    let check = |wheel: &str| project.stderr_of(&["wheel", "check", wheel, "--no-host-libs"]);
    let (before, after) = (check(NAME), check(plan["wheel"].as_str().unwrap()));
    appears("R110", &before, &after);
    appears("R114", &before, &after);
    assert!(
        before.contains("names `$ORIGINAL/x` and 1 more like it, relative to"),
        "{before}"
    );
}

/// A path to a package of ROCm replaces the dropped entry, and so does torch, which loads ROCm.
#[test]
fn a_dropped_search_path_to_rocm_is_a_warning() {
    let warns = |needed: &[&str], runpath: &str, more: &[&str]| {
        let library = needed
            .iter()
            .fold(extension().runpath(runpath), |library, name| {
                library.needs(name, &[])
            });
        let project = project(&wheel(&library), &[]);
        let words = [
            "wheel",
            "repair",
            NAME,
            "--no-host-libs",
            "--fix-rpath",
            "-n",
        ];
        let stderr = project.run(&[&words[..], more].concat()).exits(0).stderr;
        stderr.contains(
            "warning[R110 absolute-rpath]: the repair drops `/opt/rocm/lib` and leaves no search \
             path to `libamdhip64.so.7`, which is not in the wheel",
        )
    };
    let hip = &["libamdhip64.so.7"][..];
    assert!(warns(hip, "/opt/rocm/lib", &[]));
    assert!(warns(hip, "$ORIGIN/lib:/opt/rocm/lib", &[]));
    assert!(!warns(
        hip,
        "$ORIGIN/../_rocm_sdk_core/lib:/opt/rocm/lib",
        &[]
    ));
    assert!(!warns(
        hip,
        "/opt/rocm/lib",
        &["--allow-rpath", "/opt/rocm/*"]
    ));
    assert!(!warns(
        &["libamdhip64.so.7", "libtorch.so"],
        "/opt/rocm/lib",
        &[]
    ));
    assert!(!warns(&[], "/opt/rocm/lib", &[]));
}

#[test]
fn an_allowed_search_path_stays_and_a_cleared_one_is_reported() {
    let project = project(&wheel(&extension().runpath("/opt/rocm/lib:/home/x")), &[]);
    let (plan, _) = repaired(&project, &["--fix-rpath", "--allow-rpath", "/opt/rocm*"]);
    assert_eq!(plan["edits"][0]["rpath"], "/opt/rocm/lib");
    let (plan, _) = repaired(&project, &["--fix-rpath", "--force"]);
    assert_eq!(
        (&plan["edits"][0]["rpath"], &plan["edits"][0]["rpath_tag"]),
        (&"".into(), &serde_json::Value::Null)
    );
    let arguments = [
        "wheel",
        "repair",
        NAME,
        "--no-host-libs",
        "--fix-rpath",
        "--dry-run",
        "-w",
        "other",
    ];
    let run = project.run(&arguments).exits(0);
    assert!(
        run.stdout
            .contains("         no longer has a search path\n"),
        "{}",
        run.stdout
    );
}

#[test]
fn an_unmatched_pattern_is_reported_for_readable_wheels() {
    let project = project(&wheel(&extension()), &[]).bytes("torn-1.0-py3-none-any.whl", b"no zip");
    for command in ["show", "check", "repair"] {
        let run = |wheel: &str| {
            project.stderr_of(&[
                "wheel",
                command,
                wheel,
                "--no-host-libs",
                "--exclude",
                "libx*",
            ])
        };
        assert!(run(NAME).contains("[W031 unmatched-exclude]"), "{command}");
        assert!(
            !run("torn-1.0-py3-none-any.whl").contains("W031"),
            "{command}"
        );
    }
}

#[test]
fn a_dry_run_fails_where_the_run_would() {
    let host = Library::new().soname("libhost.so.1");
    let project = project(
        &wheel(&extension().needs("libhost.so.1", &[])),
        &[("libhost.so.1", &host)],
    );
    let run = |more: &[&str]| {
        project.run(
            &[
                &[
                    "wheel",
                    "repair",
                    NAME,
                    "--sysroot",
                    "root",
                    "-w",
                    "out",
                    "--dry-run",
                ],
                more,
            ]
            .concat(),
        )
    };
    let dry_run = run(&[]).exits(0).stdout;
    let name = dry_run.lines().last().unwrap();
    let name = name.strip_prefix("write  ").unwrap().to_owned();
    repaired(&project, &[]);
    run(&[]).exits(0);
    std::fs::write(project.path(&name), b"another").unwrap();
    assert!(
        run(&[])
            .exits(1)
            .stderr
            .starts_with("error[W061 output-exists]")
    );
    run(&["--force"]).exits(0);
    assert_eq!(std::fs::read(project.path(&name)).unwrap(), b"another");
}

/// Neither of them is written; a dry run fails, too.
#[test]
fn wheels_with_one_result_are_not_repaired() {
    let (one, other) = ("a/pure-1.0-py3-none-any.whl", "b/pure-1.0-py3-none-any.whl");
    let named = |path: &str| Wheel::named(path.split_once('/').unwrap().1).bytes();
    let project = Project::new()
        .bytes(one, &named(one))
        .bytes(other, &named(other));
    let words = ["wheel", "repair", one, other, "--relabel=rocm7.1"];
    for words in [words.to_vec(), [&words[..], &["--dry-run"]].concat()] {
        let done = project.run(&words).exits(1);
        let error = format!(
            "`wheelhouse/pure-1.0+rocm7.1-py3-none-any.whl` would also be the result of `{one}`"
        );
        assert!(done.stderr.contains(&error), "{}", done.stderr);
        assert_eq!(done.stdout, "");
    }
    assert!(!project.has("wheelhouse"));
}

#[test]
fn a_pipe_or_a_folder_where_the_result_would_lie_is_left_and_not_waited_for() {
    let host = Library::new().soname("libhost.so.1");
    let pure = Wheel::named("pure-1.0-py3-none-any.whl").bytes();
    let project = project(
        &wheel(&extension().needs("libhost.so.1", &[])),
        &[("libhost.so.1", &host)],
    )
    .bytes("pure-1.0-py3-none-any.whl", &pure);
    for wheel in [NAME, "pure-1.0-py3-none-any.whl"] {
        let whole = project.run(&[
            "wheel",
            "repair",
            wheel,
            "--sysroot",
            "root",
            "-w",
            "out",
            "--dry-run",
            "--json",
        ]);
        let document: Value = serde_json::from_str(&whole.exits(0).stdout).unwrap();
        let name = document["wheel"].as_str().unwrap().to_owned();
        let place = project.path(&name);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        for kind in ["a pipe", "a directory"] {
            if kind == "a pipe" {
                assert!(
                    Command::new("mkfifo")
                        .arg(&place)
                        .status()
                        .unwrap()
                        .success()
                );
            } else {
                std::fs::create_dir(&place).unwrap();
            }
            for more in [
                &[][..],
                &["--dry-run"],
                &["--force"],
                &["--force", "--dry-run"],
            ] {
                let arguments = [
                    &["wheel", "repair", wheel, "--sysroot", "root", "-w", "out"],
                    more,
                ]
                .concat();
                let stderr = project.run(&arguments).exits(3).stderr;
                let fault =
                    format!("cannot write `{name}`: it is {kind}, not a file\nhelp: move it away");
                assert!(stderr.contains(&fault), "{kind} {more:?}: {stderr}");
            }
            assert_eq!(
                std::fs::read_dir(project.path("out")).unwrap().count(),
                1,
                "{kind}"
            );
            if kind == "a pipe" {
                std::fs::remove_file(&place)
            } else {
                std::fs::remove_dir(&place)
            }
            .unwrap();
        }
    }
}

#[test]
fn a_false_claim_that_is_kept_is_reported() {
    let name = "demo-1.0-cp312-cp312-manylinux_2_24_x86_64.whl";
    let library = Library::extension("_demo").needs(LIBC, &["GLIBC_2.34"]);
    let project = Project::new().bytes(
        name,
        &Wheel::named(name)
            .executable("demo/_demo.so", library.build())
            .bytes(),
    );
    for option in ["--keep-claimed-tags", "--no-update-tags"] {
        let run = project
            .run(&[
                "wheel",
                "repair",
                name,
                "--no-host-libs",
                "-w",
                "out",
                option,
            ])
            .exits(0);
        let expected =
            "warning[R101 false-platform-tag]: the filename claims `manylinux_2_24_x86_64`";
        assert!(
            run.stderr.starts_with(expected) && run.stderr.contains("it is kept"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_wheel_that_fails_has_its_line_of_json() {
    let project = project(&wheel(&extension().needs("libgone.so.1", &[])), &[]);
    let run = project
        .run(&["wheel", "repair", NAME, "--sysroot", "root", "--json"])
        .exits(1);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        (&document["input"], &document["findings"][0]["code"]),
        (&NAME.into(), &"W072".into())
    );
    assert!(
        document["error"].as_str().unwrap().contains("libgone.so.1"),
        "{document}"
    );
}

#[test]
fn a_folder_of_libraries_lies_in_the_wheel() {
    let project = project(&wheel(&extension()), &[]);
    for ending in ["../x", "/../../x", "", "/", "a/./b"] {
        let run = project
            .run(&["wheel", "repair", NAME, "--no-host-libs", "-L", ending])
            .exits(2);
        assert!(run.stderr.contains("--lib-sdir"), "{}", run.stderr);
    }
    project
        .run(&["wheel", "repair", NAME, "--no-host-libs", "-L", "/lib"])
        .exits(0);
}

#[test]
fn a_musl_wheel_without_a_claim_is_repaired_for_the_platform_that_is_wanted() {
    let musl = Library::extension("_demo")
        .needs("libc.musl-x86_64.so.1", &[])
        .build();
    let bytes = Wheel::named(NAME).executable("demo/_demo.so", musl).bytes();
    let project = Project::new().bytes(NAME, &bytes);
    let plat = |plat: &str| {
        project.run(&[
            "wheel",
            "repair",
            NAME,
            "--no-host-libs",
            "-w",
            "out",
            "--plat",
            plat,
        ])
    };
    let run = plat("musllinux_1_1_x86_64").exits(0);
    assert_eq!(
        run.stdout,
        "out/demo-1.0-cp312-cp312-musllinux_1_1_x86_64.whl\n"
    );
    plat("musllinux_1_2_x86_64").exits(0);
}

#[test]
fn without_a_wanted_platform_none_is_complained_of() {
    let refused = |library: &Library| {
        let project = project(&wheel(library), &[]);
        project
            .run(&["wheel", "repair", NAME, "--no-host-libs", "-w", "out"])
            .exits(1)
            .stderr
    };
    insta::assert_snapshot!(refused(&Library::extension("_demo").needs(LIBC, &["GLIBC_2.99"])), @r"
    error[W071 platform-out-of-reach]: the wheel cannot comply with any platform: `demo/_demo.so` needs GLIBC_2.99, which none of them provides
    --> demo-1.0-cp312-cp312-linux_x86_64.whl
    help: build in an older image
    ");
    insta::assert_snapshot!(refused(&extension().assembly(crate::support::elf::NEEDS_X86_64_V3)), @r"
    error[W071 platform-out-of-reach]: the wheel cannot comply with any platform: `demo/_demo.so` needs an x86-64 level above the baseline
    --> demo-1.0-cp312-cp312-linux_x86_64.whl
    help: compile it for baseline x86-64, or accept it with `--disable-isa-ext-check`
    ");
}

#[test]
fn folders_to_search_that_are_not_there_are_reported() {
    let project = project(&wheel(&extension()), &[]);
    let run = |option: &str| project.run(&["wheel", "repair", NAME, option, "gone", "-w", "out"]);
    assert!(
        run("--sysroot")
            .exits(1)
            .stderr
            .contains("cannot read `gone`: there is no such directory")
    );
    assert!(
        run("--ldpaths")
            .exits(0)
            .stderr
            .contains("gone`: there is no such directory")
    );
}

#[test]
fn each_folder_of_ldpaths_that_is_not_there_is_warned_of_by_all_that_judge_and_no_other() {
    let project = project(
        &wheel(&extension()),
        &[("libhost.so.1", &Library::new().soname("libhost.so.1"))],
    );
    for command in ["show", "check", "repair"] {
        let stderr_of = |folders: &str| {
            let arguments = [
                "wheel",
                command,
                NAME,
                "--sysroot",
                "root",
                "--ldpaths",
                folders,
            ];
            let more: &[&str] = if command == "repair" {
                &["--dry-run"]
            } else {
                &[]
            };
            project.run(&[&arguments, more].concat()).exits(0).stderr
        };
        assert_eq!(stderr_of("/opt"), "", "{command}");
        insta::allow_duplicates!(insta::assert_snapshot!(stderr_of("/gone:/opt:away"), @r"
        warning[H020 cannot-read-file]: cannot read `/gone`: there is no such directory
        help: correct `--ldpaths`

        warning[H020 cannot-read-file]: cannot read `/away`: there is no such directory
        help: correct `--ldpaths`
        "));
    }
}
