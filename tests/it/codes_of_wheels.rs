//! Every code that the commands for wheels give: it is reported where something is wrong, and not
//! for the same wheel without the error.

use crate::support::elf::Library;
use crate::support::raw_zip::{RawMember, RawZip};
use crate::support::zip_records::{CENTRAL, END, LOCAL, patched};
use crate::support::{Project, Wheel, appears};
use crate::verify_a_wheel::{duplicate, overlapping};

const NAME: &str = "demo-1.0+rocm62torch2.5-cp312-cp312-linux_x86_64.whl";
const PLAIN: &str = "demo-1.0-cp312-cp312-linux_x86_64.whl";

fn sound() -> Wheel {
    Wheel::named(NAME)
        .executable("demo/_demo.so", vec![7; 5000])
        .requires("torch")
}

/// What is said where these bytes are verified under that name.
#[track_caller]
fn verified(name: &str, bytes: &[u8]) -> String {
    Project::new()
        .bytes(name, bytes)
        .stderr_of(&["wheel", "verify", name])
}

/// Asserts that the code is reported for the wheel with this edit, and not for the sound one.
#[track_caller]
fn edited(code: &str, file: &str, edit: impl Fn(String) -> String + 'static) {
    let reports = (
        verified(NAME, &sound().edit(file, edit).bytes()),
        verified(NAME, &sound().bytes()),
    );
    assert!(
        reports.0.contains(&format!("[{code} ")) && reports.1.is_empty(),
        "{code}: {reports:?}"
    );
}

#[test]
fn a_container_is_refused_for_what_is_wrong_with_it_alone() {
    let bytes = sound().bytes();
    let well = verified(NAME, &bytes);
    assert_eq!(well, "");
    let put =
        |kind: &[u8], at: usize, with: &[u8]| verified(NAME, &patched(&bytes, kind, at, with));
    appears("W001", &verified(NAME, &bytes[..bytes.len() - 1]), &well);
    appears("W002", &put(END, 16, &[1]), &well);
    appears("W003", &put(CENTRAL, 8, &[1]), &well);
    appears("W004", &put(END, 4, &[1]), &well);
    appears("W005", &put(CENTRAL, 10, &[14]), &well);
    appears("W006", &put(CENTRAL, 46, b"/"), &well);
    appears("W007", &verified(NAME, &duplicate()), &well);
    appears("W008", &put(LOCAL, 30, b"k"), &well);
    appears("W009", &verified(NAME, &overlapping()), &well);
    appears("W010", &put(CENTRAL, 40, &[0xff, 0xa1]), &well);
    appears(
        "W012",
        &put(LOCAL, 30 + "demo/__init__.py".len(), &[0xff]),
        &well,
    );
    // The limits are 16 MiB for METADATA and WHEEL, and 64 MiB for RECORD, which has blank lines
    // here.
    for (file, limit) in [
        ("METADATA", 16 << 20),
        ("WHEEL", 16 << 20),
        ("RECORD", 64 << 20),
    ] {
        let large = |size: usize| {
            let filled = move |text: String| {
                let blank = "\n".repeat(size - text.len());
                text + &blank
            };
            let bytes = sound().edit(file, filled).bytes();
            verified(NAME, &bytes)
        };
        appears("W017", &large(limit + 1), &large(limit));
    }
}

#[test]
fn headers_and_bytes_that_installers_refuse_are_reported() {
    let well = verified(NAME, &sound().bytes());
    let put = |edit: &dyn Fn(&mut RawZip)| {
        let mut archive = RawZip::read(&sound().bytes());
        edit(&mut archive);
        verified(NAME, &archive.bytes())
    };
    assert_eq!(put(&|_| {}), well);
    appears(
        "W101",
        &put(&|archive| archive.members[0].local_extra = vec![0; 3]),
        &well,
    );
    appears(
        "W102",
        &put(&|archive| archive.members.push(RawMember::new("demo", b""))),
        &well,
    );
    appears("W103", &put(&|archive| archive.gap = vec![0]), &well);
    appears(
        "W104",
        &put(&|archive| archive.comment = vec![6]),
        &put(&|archive| archive.comment = vec![b'6']),
    );
    appears(
        "W105",
        &put(&|archive| archive.members[0].flags |= 1 << 3),
        &well,
    );
    appears(
        "W108",
        &put(&|archive| archive.members[0].version = 64),
        &well,
    );
    appears(
        "W110",
        &put(&|archive| archive.comment = vec![b'a'; 4097]),
        &put(&|archive| archive.comment = vec![b'a']),
    );
}

#[test]
fn refused_entry_points_and_data_folders_are_reported() {
    let info = "demo-1.0+rocm62torch2.5";
    let with = |path: &str, text: &str| verified(NAME, &sound().file(path, text).bytes());
    let entry_points = |line: &str| {
        with(
            &format!("{info}.dist-info/entry_points.txt"),
            &format!("[console_scripts]\n{line}\n"),
        )
    };
    appears(
        "W111",
        &entry_points("../foo = case:main"),
        &entry_points("foo = case:main"),
    );
    appears(
        "W112",
        &with(&format!("{info}.data/nonsense/x"), ""),
        &with(&format!("{info}.data/data/x"), ""),
    );
}

#[test]
fn unreadable_requirements_and_headers_are_reported() {
    let well = verified(NAME, &sound().bytes());
    appears(
        "W113",
        &verified(NAME, &sound().requires("a>=").bytes()),
        &well,
    );
    edited("W113", "METADATA", |text| {
        text.replacen("\n\n", "\nRequires-Python: three\n\n", 1)
    });
    edited("W114", "METADATA", |text| {
        text.replace("Name: demo", "Name : demo")
    });
}

/// PyPI's limit is 50 times; a wheel of other bytes, or of fewer, unpacks to less.
#[test]
fn wheels_that_pypi_takes_for_bombs_are_warned_of() {
    let zeros = |mib: usize| sound().file("demo/zeros", vec![0; mib << 20]).bytes();
    let (bomb, small) = (zeros(65), zeros(63));
    assert!(bomb.len() < 1 << 20);
    let stderr = verified(NAME, &bomb);
    assert!(
        stderr.starts_with("warning[W115 compression-ratio]: the wheel has "),
        "{stderr}"
    );
    appears("W115", &stderr, &verified(NAME, &small));
    let publish = |bytes: &[u8]| {
        let project = Project::new().bytes(&format!("dist/{NAME}"), bytes);
        project
            .run(&["publish", "--to", "release", "dist"])
            .exits(0)
            .stderr
    };
    appears("W115", &publish(&bomb), &publish(&small));
    // Both look at headers alone.
    for command in [
        &["index", "build", "dist", "--out", "site"][..],
        &["wheel", "show", NAME, "--no-host-libs"],
    ] {
        let run = |bytes: &[u8]| {
            let project = Project::new()
                .bytes(&format!("dist/{NAME}"), bytes)
                .bytes(NAME, bytes);
            project.run(command).exits(0).stderr
        };
        appears("W115", &run(&bomb), &run(&small));
    }
}

#[test]
fn names_that_only_differ_in_case_and_fields_that_hold_too_much_are_remarks() {
    let both = |second: &str| {
        verified(
            NAME,
            &sound().file("demo/a.py", "").file(second, "").bytes(),
        )
    };
    appears("W011", &both("demo/A.py"), &both("demo/B.py"));
    let name = "a-1-py3-none-any.whl";
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer
        .start_file("a.py", zip::write::SimpleFileOptions::default())
        .unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    let find = |kind: &[u8]| bytes.windows(4).position(|window| window == kind).unwrap();
    let (central, end) = (find(CENTRAL), find(END));
    // A ZIP64 field (APPNOTE 4.5.3) of one value, where no slot of the header asks for one.
    let mut long = bytes[..central + 50].to_vec();
    long[central + 30] = 12;
    long.extend([1, 0, 8, 0, 9, 0, 0, 0, 0, 0, 0, 0]);
    long.extend(patched(&bytes[end..], END, 12, &[62]));
    appears("W013", &verified(name, &long), &verified(name, &bytes));
}

#[test]
fn a_filename_and_a_dist_info_folder_that_do_not_fit_are_errors() {
    let well = verified(NAME, &sound().bytes());
    appears(
        "W014",
        &verified(
            NAME,
            &sound().file("other-1.dist-info/METADATA", "").bytes(),
        ),
        &well,
    );
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer
        .start_file(
            "demo-1.0+rocm62torch2.5.dist-info/WHEEL",
            zip::write::SimpleFileOptions::default(),
        )
        .unwrap();
    appears(
        "W015",
        &verified(NAME, &writer.finish().unwrap().into_inner()),
        &well,
    );
    appears(
        "W016",
        &verified(&NAME.replace('+', "%2B"), &sound().bytes()),
        &well,
    );
}

#[test]
fn each_kind_of_wrong_row_in_record_has_a_code() {
    edited("W020", "RECORD", |text| {
        text.lines()
            .skip(1)
            .map(|line| format!("{line}\n"))
            .collect()
    });
    edited("W021", "RECORD", |text| text + "demo/x.py,sha256=x,1\n");
    edited("W022", "RECORD", |text| text.replace(",5000\n", ",5001\n"));
    edited("W023", "RECORD", |text| text + "a,b\n");
    edited("W024", "RECORD", |text| text.replacen("sha256=", "md5=", 1));
}

#[test]
fn each_kind_of_wrong_line_in_metadata_and_wheel_has_a_code() {
    edited("W050", "METADATA", |text| {
        text.replace("Name: demo", "Name: other")
    });
    edited("W051", "METADATA", |text| {
        text.replace("Version: 1.0+rocm62torch2.5", "Version: 1.0")
    });
    edited("W052", "METADATA", |text| {
        text.replace("Dist: torch", "Dist: torch==2.6.0")
    });
    edited("R103", "WHEEL", |text| {
        text.replace("linux_x86_64", "manylinux_2_28_x86_64")
    });
    edited("W054", "WHEEL", |text| {
        text.replace("Purelib: false", "Purelib: true")
    });
    edited("W055", "WHEEL", |text| {
        text.replace("Wheel-Version: 1.0", "Wheel-Version: 2.0")
    });
}

/// A project with a wheel that has no label.
fn project(module: &str) -> Project {
    Project::new().bytes(
        PLAIN,
        &Wheel::named(PLAIN).file("demo/__init__.py", module).bytes(),
    )
}

#[test]
fn a_different_version_in_a_module_is_reported() {
    let stderr_of = |version: &str| {
        project(&format!("__version__ = '{version}'\n"))
            .stderr_of(&["wheel", "label", PLAIN, "--local", "rocm62"])
    };
    appears("W056", &stderr_of("1.0"), &stderr_of("1.0+rocm62"));
    // A module of at most 1 MiB is searched.
    let padded = |bytes: usize| {
        let module = "__version__ = '1.1'\n".to_owned();
        let module = module.clone() + &"#".repeat(bytes - module.len());
        project(&module).stderr_of(&["wheel", "label", PLAIN, "--local", "rocm62"])
    };
    appears("W056", &padded(1 << 20), &padded((1 << 20) + 1));
}

#[test]
fn an_existing_label_is_an_error_without_replace() {
    let stderr_of = |more: &[&str]| {
        let project = Project::new().bytes(NAME, &sound().bytes());
        project.stderr_of(&[&["wheel", "label", NAME, "--local", "rocm7.0"], more].concat())
    };
    appears("W060", &stderr_of(&[]), &stderr_of(&["--replace"]));
}

#[test]
fn an_existing_file_under_the_new_name_is_an_error() {
    let label = ["wheel", "label", PLAIN, "--local", "rocm62"];
    let twice = project("");
    let same = [twice.stderr_of(&label), twice.stderr_of(&label)].concat();
    let taken = project("").file("demo-1.0+rocm62-cp312-cp312-linux_x86_64.whl", "mine");
    appears("W061", &taken.stderr_of(&label), &same);
    let renamed = Project::new().bytes(NAME, &Wheel::named(PLAIN).bytes());
    let stderr_of = |more: &[&str]| {
        renamed.stderr_of(&[&["wheel", "label", NAME, "--local", "rocm62torch2.5"], more].concat())
    };
    appears("W062", &stderr_of(&[]), &stderr_of(&["-w", "out"]));
}

#[test]
fn an_invalid_source_date_epoch_is_reported() {
    let stderr_of = |time: &str| {
        project("")
            .env("SOURCE_DATE_EPOCH", time)
            .stderr_of(&["wheel", "label", PLAIN, "--local", "rocm62"])
    };
    appears("W063", &stderr_of("soon"), &stderr_of("1700000000"));
}

/// A wheel with an extension module, beside a folder `root` that stands for a machine with
/// libraries in `/opt`.
fn machine(library: &Library, host: &[(&str, Library)]) -> Project {
    let wheel = Wheel::named(PLAIN).executable("demo/_demo.so", library.build());
    let project = Project::new()
        .bytes(PLAIN, &wheel.bytes())
        .file("root/etc/ld.so.conf", "/opt\n");
    host.iter().fold(project, |project, (name, library)| {
        project.bytes(&format!("root/opt/{name}"), &library.build())
    })
}

fn extension() -> Library {
    Library::extension("_demo").needs("libc.so.6", &["GLIBC_2.2.5", "GLIBC_2.32"])
}

fn host() -> Vec<(&'static str, Library)> {
    vec![("libhost.so.1", Library::new().soname("libhost.so.1"))]
}

#[track_caller]
fn repaired(project: &Project, more: &[&str]) -> String {
    project.stderr_of(
        &[
            &["wheel", "repair", PLAIN, "--sysroot", "root", "--dry-run"],
            more,
        ]
        .concat(),
    )
}

#[test]
fn invalid_and_unmatched_exclude_patterns_are_reported() {
    let project = machine(&extension().needs("libamdhip64.so.7", &[]), &[]);
    let stderr_of = |more: &[&str]| repaired(&project, more);
    let well = stderr_of(&["--exclude-preset", "rocm"]);
    assert_eq!(well, "");
    let usage = |more: &[&str]| {
        project
            .run(&[&["wheel", "repair", PLAIN], more].concat())
            .exits(2)
            .stderr
    };
    appears("W030", &usage(&["--exclude-preset", "rock"]), &well);
    appears(
        "W031",
        &stderr_of(&["--exclude-preset", "rocm", "--exclude", "libx*"]),
        &stderr_of(&["--exclude", "libamd*"]),
    );
    appears(
        "W032",
        &usage(&["--exclude", "lib[am"]),
        &stderr_of(&["--exclude", "lib[am]*"]),
    );
    appears(
        "W032",
        &usage(&["--dedup-sonames", "--keep-copy", "lib[am"]),
        &stderr_of(&["--exclude", "lib[am]*"]),
    );
}

#[test]
fn unknown_and_unreachable_platforms_are_reported() {
    let project = machine(&extension(), &[]);
    let stderr_of = |platform: &str| repaired(&project, &["--plat", platform]);
    appears(
        "W070",
        &stderr_of("manylinux_3_1_x86_64"),
        &stderr_of("manylinux_2_34_x86_64"),
    );
    appears(
        "W071",
        &stderr_of("manylinux_2_28_x86_64"),
        &stderr_of("manylinux_2_34_x86_64"),
    );
}

#[test]
fn missing_and_forbidden_grafts_are_reported() {
    let library = extension().needs("libhost.so.1", &[]);
    let here = machine(&library, &host());
    let well = repaired(&here, &[]);
    assert_eq!(well, "");
    appears("W072", &repaired(&machine(&library, &[]), &[]), &well);
    appears("W073", &repaired(&here, &["--no-graft"]), &well);
}

#[test]
fn a_member_that_a_graft_replaces_is_reported() {
    let (library, host) = (extension().needs("libhost.so.1", &[]), host());
    let here = machine(&library, &host);
    let plan = here
        .run(&[
            "wheel",
            "repair",
            PLAIN,
            "--sysroot",
            "root",
            "--dry-run",
            "--json",
        ])
        .exits(0)
        .json();
    let path = plan["grafts"][0]["path"].as_str().unwrap();
    let stderr_of = |path: &str| {
        let wheel = Wheel::named(PLAIN)
            .executable("demo/_demo.so", library.build())
            .file(path, "text");
        repaired(&machine(&library, &host).bytes(PLAIN, &wheel.bytes()), &[])
    };
    appears("W075", &stderr_of(path), &stderr_of("demo.libs/README"));
}

#[test]
fn a_graft_whose_users_lead_it_to_two_libraries_is_an_error() {
    let user = |folder: &str| {
        extension()
            .needs("libmid.so.1", &[])
            .runpath(folder)
            .build()
    };
    let mid = Library::new()
        .soname("libmid.so.1")
        .needs("libdep.so.1", &[])
        .build();
    let dep = Library::new().soname("libdep.so.1");
    let stderr_of = |first: &str, second: &str| {
        let wheel = Wheel::named(PLAIN)
            .executable("demo/a.so", user(first))
            .executable("demo/b.so", user(second));
        let project = Project::new()
            .bytes(PLAIN, &wheel.bytes())
            .file("root/etc/ld.so.conf", "/opt\n");
        let project = project
            .bytes("root/opt/libmid.so.1", &mid)
            .bytes("root/opt/x/libdep.so.1", &dep.build());
        let dep = dep.clone().exports("another");
        repaired(&project.bytes("root/opt/y/libdep.so.1", &dep.build()), &[])
    };
    let (text, well) = (stderr_of("/opt/x", "/opt/y"), stderr_of("/opt/y", "/opt/y"));
    assert_eq!(well, "");
    appears("W076", &text, &well);
    for word in [
        "`/opt/libmid.so.1`",
        "`libdep.so.1`",
        "`/opt/x/libdep.so.1` for demo/a.so",
        "/opt/y/libdep.so.1",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn a_claim_that_grafts_do_not_keep_is_reported() {
    let name = PLAIN.replace("linux", "manylinux_2_17");
    let library = Library::extension("_demo")
        .needs("libc.so.6", &["GLIBC_2.17"])
        .needs("libhost.so.1", &[])
        .build();
    let stderr_of = |version: &str| {
        let host = Library::new()
            .soname("libhost.so.1")
            .needs("libc.so.6", &[version]);
        let wheel = Wheel::named(&name).executable("demo/_demo.so", library.clone());
        let project = Project::new()
            .bytes(&name, &wheel.bytes())
            .file("root/etc/ld.so.conf", "/opt\n");
        let project = project.bytes("root/opt/libhost.so.1", &host.build());
        project.stderr_of(&["wheel", "repair", &name, "--sysroot", "root", "--dry-run"])
    };
    let (text, well) = (stderr_of("GLIBC_2.28"), stderr_of("GLIBC_2.14"));
    assert_eq!(well, "");
    appears("W077", &text, &well);
    assert!(
        text.contains(
            "`libhost.so.1`, which is grafted, needs GLIBC_2.28, which it does not provide"
        ),
        "{text}"
    );
}

#[test]
fn a_library_that_is_needed_by_a_path_is_reported() {
    let stderr_of = |needed: &str, more: &[&str]| {
        let project = machine(
            &Library::extension("_demo")
                .linked("libc.so.6")
                .linked(needed),
            &[],
        );
        project.stderr_of(&[&["wheel", "check", PLAIN, "--no-host-libs"], more].concat())
    };
    let well = stderr_of("libx.so", &[]);
    for (needed, whence) in [
        ("/build/libx.so", "a path that other machines do not have"),
        ("lib/libx.so", "a path relative to the working directory"),
    ] {
        let stderr = stderr_of(needed, &[]);
        appears("R115", &stderr, &well);
        assert!(
            stderr.contains(&format!("it needs `{needed}`, {whence}")),
            "{stderr}"
        );
        appears(
            "R115",
            &stderr,
            &stderr_of(needed, &["--allow-rpath", needed]),
        );
    }
    appears(
        "R115",
        &stderr_of("/build/libx.so", &[]),
        &stderr_of("$ORIGIN/libx.so", &[]),
    );
}

#[test]
fn a_module_that_needs_libpython_is_reported() {
    let stderr_of = |library: &Library| repaired(&machine(library, &[]), &[]);
    appears(
        "E006",
        &stderr_of(&extension().needs("libpython3.12.so.1.0", &[])),
        &stderr_of(&extension()),
    );
}

#[test]
fn a_library_that_must_be_edited_but_cannot_be_is_reported() {
    let broken = |library: &Library| {
        let mut bytes = library.build();
        // The first loaded segment claims an alignment that it does not have.
        let table = usize::try_from(u64::from_le_bytes(bytes[32..40].try_into().unwrap())).unwrap();
        let load = (0..20)
            .map(|entry| table + 56 * entry)
            .find(|at| bytes[*at] == 1)
            .unwrap();
        bytes[load + 48..load + 56].copy_from_slice(&0x1001_u64.to_le_bytes());
        let wheel = Wheel::named(PLAIN).executable("demo/_demo.so", bytes);
        machine(library, &host()).bytes(PLAIN, &wheel.bytes())
    };
    let stderr_of = |project: Project| {
        project.stderr_of(&["wheel", "repair", PLAIN, "--sysroot", "root", "-w", "out"])
    };
    let grafting = extension().needs("libhost.so.1", &[]);
    appears(
        "E007",
        &stderr_of(broken(&grafting)),
        &stderr_of(machine(&grafting, &host())),
    );
    appears(
        "E007",
        &stderr_of(broken(&grafting)),
        &stderr_of(broken(&extension())),
    );
}

#[test]
fn a_wheel_larger_than_allowed_is_reported() {
    let project = machine(&extension(), &[]);
    let stderr_of = |size: &str| {
        project.stderr_of(&[
            "wheel",
            "check",
            PLAIN,
            "--no-host-libs",
            "--max-size",
            size,
        ])
    };
    appears("R140", &stderr_of("100B"), &stderr_of("100MB"));
}

/// Only with the profile, since most wheels for AMD GPUs have a label.
#[test]
fn a_wheel_that_pypi_rejects_fails_with_its_profile() {
    let stderr_of = |name: &str, more: &[&str]| {
        let project = Project::new().bytes(name, &Wheel::named(name).bytes());
        project.stderr_of(&[&["wheel", "check", name, "--no-host-libs"], more].concat())
    };
    let (labelled, plain) = (
        "demo-1.0+rocm62-py3-none-any.whl",
        "demo-1.0-py3-none-any.whl",
    );
    let profile = ["--profile", "pypi"];
    appears(
        "R141",
        &stderr_of(labelled, &profile),
        &stderr_of(plain, &profile),
    );
    appears(
        "R141",
        &stderr_of(labelled, &profile),
        &stderr_of(labelled, &[]),
    );
}

#[test]
fn invalid_and_inconsistent_policy_files_are_reported() {
    let policy = |name: &str, priority: u32, libraries: &str| {
        format!(
            r#"{{"name": "{name}", "aliases": [], "priority": {priority}, "symbol_versions": {{"x86_64": {{}}}},
                "lib_whitelist": [{libraries}], "blacklist": {{}}}}"#
        )
    };
    let stderr_of = |second: &str, libraries: &str| {
        let policies = [
            policy("linux", 0, ""),
            policy("manylinux_2_17", 80, r#""libc.so.6", "libz.so.1""#),
            policy(second, 64, libraries),
        ];
        let project = machine(&extension(), &[])
            .file("policies.json", &format!("[{}]", policies.join(",\n")));
        project.stderr_of(&[
            "wheel",
            "show",
            PLAIN,
            "--no-host-libs",
            "--policy-file",
            "policies.json",
        ])
    };
    let well = stderr_of("manylinux_2_28", r#""libc.so.6", "libz.so.1""#);
    assert_eq!(well, "");
    appears(
        "K007",
        &stderr_of("centos7", r#""libc.so.6", "libz.so.1""#),
        &well,
    );
    appears(
        "K008",
        &stderr_of("manylinux_2_28", r#""libc.so.6""#),
        &well,
    );
}
