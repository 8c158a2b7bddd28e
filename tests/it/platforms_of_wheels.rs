//! The platform that a wheel is for: the system and the C library that its name and its files tell.

use serde_json::{Value, json};

use crate::support::elf::Library;
use crate::support::{Project, Wheel, appears};

const LIBC: &str = "libc.so.6";

fn of_glibc() -> Library {
    Library::extension("_demo").needs(LIBC, &["GLIBC_2.17"])
}

/// What Android's linker makes of an extension module: it needs Python's library, and versions of
/// Bionic's symbols.
fn of_android() -> Library {
    Library::extension("_demo")
        .needs("libc.so", &["LIBC"])
        .linked("libpython3.13.so")
}

fn project(name: &str, member: &str, library: &Library) -> Project {
    Project::new().bytes(
        name,
        &Wheel::named(name)
            .executable(member, library.build())
            .bytes(),
    )
}

/// Runs a command for wheels on one of this name with this module, and returns what it prints.
fn run(command: &str, tags: &str, member: &str, library: &Library, options: &[&str]) -> String {
    let name = format!("demo-1.0-{tags}.whl");
    let project = project(&name, member, library);
    let output = project
        .command(&[&["wheel", command, &name, "--no-host-libs"], options].concat())
        .output()
        .unwrap();
    let code = output.status.code().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    format!(
        "{}{}exit {code}\n",
        text(output.stdout),
        text(output.stderr)
    )
}

fn document(name: &str, library: &Library, form: &str) -> Value {
    let project = project(name, "demo/_demo.so", library);
    serde_json::from_str(
        &project
            .run(&["wheel", "show", name, "--no-host-libs", form])
            .exits(0)
            .stdout,
    )
    .unwrap()
}

/// `repair` leaves the tag and the needs of a wheel for Android as they are, and `show` says that
/// it is not audited.
#[test]
fn wheels_for_android_stay_as_they_are() {
    let tags = "cp313-cp313-android_21_x86_64";
    let shown = run("show", tags, "demo/_demo.so", &of_android(), &[]);
    insta::assert_snapshot!(shown, @r"
    demo-1.0-cp313-cp313-android_21_x86_64.whl
      platform  android_21_x86_64 by its name: files for Android are not audited
    exit 0
    ");
    let checked = run("check", tags, "demo/_demo.so", &of_android(), &[]);
    assert!(
        checked.contains("android_21_x86_64, but files for Android are not audited"),
        "{checked}"
    );
    let name = format!("demo-1.0-{tags}.whl");
    let project = project(&name, "demo/_demo.so", &of_android());
    let done = project
        .run(&["wheel", "repair", &name, "-w", "out", "--no-host-libs"])
        .exits(0);
    let expected = "is for Android, which is not audited: its tags and dependencies are kept";
    assert!(done.stderr.contains(expected), "{}", done.stderr);
    let read = |path: &str| std::fs::read(project.path(path)).unwrap();
    assert!(
        read(&name) == read(&format!("out/{name}")),
        "not a byte changes"
    );
}

/// A Linux platform is refused for a wheel of a system that is not audited, and nothing is written.
#[test]
fn a_linux_platform_for_android_is_refused() {
    let options = ["--plat", "manylinux_2_17_x86_64", "-w", "out"];
    let refused = run(
        "repair",
        "cp313-cp313-android_21_x86_64",
        "demo/_demo.so",
        &of_android(),
        &options,
    );
    insta::assert_snapshot!(refused, @r"
    error[R161 foreign-system]: the wheel is for Android, which is not audited, so it cannot be named `manylinux_2_17_x86_64`
    --> demo-1.0-cp313-cp313-android_21_x86_64.whl
    help: leave out `--plat` to copy the wheel unchanged

    exit 1
    ");
    let linux = run(
        "repair",
        "cp313-cp313-linux_x86_64",
        "demo/_demo.so",
        &of_glibc(),
        &options,
    );
    appears("R161", &refused, &linux);
}

/// Wheels of systems that are not audited are errors for auditwheel's readers, and no pure wheels
/// for ours.
#[test]
fn documents_state_that_a_system_is_not_audited() {
    let name = "demo-1.0-cp313-cp313-android_21_x86_64.whl";
    let error = "libraries for Android are not audited";
    let expect = json!({"version": 1, "wheel": name, "error": error});
    assert_eq!(document(name, &of_android(), "--json=auditwheel"), expect);
    let own = document(name, &of_android(), "--json");
    assert_eq!(
        (&own["pure"], &own["error"]),
        (&json!(false), &json!(error))
    );
}

/// A library for glibc in a wheel that claims another system, an unknown one, or any beside one of
/// its own, is found.
#[test]
fn each_wrong_platform_tag_of_a_glibc_library_is_found() {
    let tags = [
        "linux_x86_64.any",
        "android_21_x86_64",
        "ios_13_0_arm64_iphoneos",
        "freebsd_14_x86_64",
        "something",
        "linux_x86_64.something",
        "linux_x86_64.android_21_x86_64",
        "manylinux_2_17_x86_64.macosx_11_0_arm64",
        "pyemscripten_2025_0_wasm32",
        "win32",
        "manylinux_2_17_x86_64.manylinux_2_17_aarch64",
        "linux_x86_64",
    ];
    let found = tags.map(|tag| {
        let text = run(
            "check",
            &format!("cp312-cp312-{tag}"),
            "demo/_demo.so",
            &of_glibc(),
            &[],
        );
        let errors: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with("error["))
            .collect();
        format!(
            "{tag}: {}\n",
            if errors.is_empty() {
                "nothing".to_owned()
            } else {
                errors.join("\n  ")
            }
        )
    });
    insta::assert_snapshot!(found.concat(), @r"
    linux_x86_64.any: error[R102 code-in-any-wheel]: the filename says any platform in addition to others, but `demo/_demo.so` is machine code
    android_21_x86_64: error[R101 false-platform-tag]: the filename claims `android_21_x86_64`, but its libraries are for Linux
    ios_13_0_arm64_iphoneos: error[R101 false-platform-tag]: the filename claims `ios_13_0_arm64_iphoneos`, but its libraries are for Linux
    freebsd_14_x86_64: error[R101 false-platform-tag]: the filename claims `freebsd_14_x86_64`, but its libraries are for Linux
    something: error[R160 unknown-platform-tag]: `something` is not a platform that installers know
    linux_x86_64.something: error[R160 unknown-platform-tag]: `something` is not a platform that installers know
    linux_x86_64.android_21_x86_64: error[R101 false-platform-tag]: the filename claims `android_21_x86_64`, but its libraries are for Linux
    manylinux_2_17_x86_64.macosx_11_0_arm64: error[R101 false-platform-tag]: the filename claims `macosx_11_0_arm64`, but its libraries are for Linux
    pyemscripten_2025_0_wasm32: error[R101 false-platform-tag]: the filename claims `pyemscripten_2025_0_wasm32`, but its libraries are for Linux
    win32: error[R101 false-platform-tag]: the filename claims `win32`, but its libraries are for Linux
    manylinux_2_17_x86_64.manylinux_2_17_aarch64: error[R101 false-platform-tag]: the filename claims `manylinux_2_17_aarch64`, but its libraries are for x86_64
    linux_x86_64: nothing
    ");
    let check = |tag: &str| {
        run(
            "check",
            &format!("cp312-cp312-{tag}"),
            "demo/_demo.so",
            &of_glibc(),
            &[],
        )
    };
    appears("R160", &check("something"), &check("linux_x86_64"));
}

/// A wheel that holds files for the other system of its name, too, keeps that tag in `repair`, and
/// `show` says that it is not audited. A wheel of glibc's libraries alone is still found to be named
/// wrongly.
#[test]
fn tags_of_systems_that_are_not_judged_stay() {
    let mach_o = [&[0xcf, 0xfa, 0xed, 0xfe, 12, 0, 0, 1][..], &[0; 64]].concat();
    // It says no C library, and needs one that all of these systems have.
    let other_elf = Library::new().linked("libgcc_s.so.1").build();
    for (tag, path, other) in [
        ("macosx_11_0_arm64", "demo/libdemo.dylib", mach_o.clone()),
        ("ios_13_0_arm64_iphoneos", "demo/libdemo.dylib", mach_o),
        ("android_21_x86_64", "demo/libandroid.so", other_elf.clone()),
        ("freebsd_14_x86_64", "demo/libbsd.so", other_elf),
    ] {
        let name = format!("demo-1.0-cp312-cp312-linux_x86_64.{tag}.whl");
        let wheel = || Wheel::named(&name).executable("demo/_demo.so", of_glibc().build());
        let mixed = Project::new().bytes(&name, &wheel().executable(path, other).bytes());
        let pure = Project::new().bytes(&name, &wheel().bytes());
        let run = |project: &Project, command: &[&str]| {
            let words = [
                &["wheel", command[0], &name, "--no-host-libs"],
                &command[1..],
            ]
            .concat();
            let output = project.command(&words).output().unwrap();
            [output.stdout, output.stderr]
                .concat()
                .into_iter()
                .map(char::from)
                .collect::<String>()
        };
        let shown = run(&mixed, &["show"]);
        assert!(
            shown.contains(&format!(
                "  claims    linux_x86_64, {tag}\n            {tag} is not audited\n"
            )),
            "{shown}"
        );
        let repaired = run(&mixed, &["repair", "-w", "out"]);
        assert!(
            repaired.contains(&format!("keeps tags that are not audited: {tag}\n")),
            "{repaired}"
        );
        assert!(
            repaired.lines().next().unwrap().contains(tag) && !repaired.contains("R101"),
            "{repaired}"
        );
        appears("R101", &run(&pure, &["check"]), &run(&mixed, &["check"]));
    }
}

/// A class file of Java begins as a Mach-O file of several architectures does, and is none.
#[test]
fn a_class_file_is_no_library_of_macos() {
    let found = |number: u8| {
        let name = "demo-1.0-cp312-cp312-linux_x86_64.macosx_11_0_arm64.whl";
        let file = [&[0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, number][..], &[0; 60]].concat();
        let wheel = Wheel::named(name)
            .executable("demo/_demo.so", of_glibc().build())
            .file("demo/file", file);
        let project = Project::new().bytes(name, &wheel.bytes());
        project.stderr_of(&["wheel", "check", name, "--no-host-libs"])
    };
    appears("R101", &found(61), &found(2));
}

/// A module that calls a C library which nothing tells keeps its platform tag, with a finding,
/// whatever Python it is for.
#[test]
fn a_module_with_an_open_libc_keeps_its_tag() {
    let module = Library::extension("_demo")
        .undefined("malloc")
        .undefined("PyModule_Create2");
    let member = "_demo.cpython-310-x86_64-linux-gnu.so";
    let tags = "cp310-cp310-linux_x86_64";
    insta::assert_snapshot!(run("show", tags, member, &module, &[]), @r"
    demo-1.0-cp310-cp310-linux_x86_64.whl
      holds     1 ELF file, 14.4 kB unpacked
      claims    linux_x86_64 (accurate)
      platform  linux_x86_64
      symbols   manylinux_2_5_x86_64
      next      manylinux_2_5_x86_64 lacks a C library, but whether glibc or musl is unknown
    warning[E010 open-libc]: it calls `malloc`, but whether from glibc or musl is unknown
    --> demo-1.0-cp310-cp310-linux_x86_64.whl: _demo.cpython-310-x86_64-linux-gnu.so
    help: link it with its C library (`-lc`), or name the platform in the filename of the wheel

    exit 0
    ");
    let repaired = run("repair", tags, member, &module, &["-w", "out"]);
    assert!(
        repaired.starts_with("out/demo-1.0-cp310-cp310-linux_x86_64.whl\n"),
        "{repaired}"
    );
    assert!(
        repaired.contains("warning[E010 open-libc]") && repaired.ends_with("exit 0\n"),
        "{repaired}"
    );
    let named = run(
        "repair",
        tags,
        member,
        &module,
        &["-w", "out", "--plat", "manylinux_2_17_x86_64"],
    );
    assert!(
        named.contains("manylinux_2_17_x86_64") && named.ends_with("exit 0\n"),
        "{named}"
    );
    let beside = Library::extension("_demo")
        .undefined("malloc")
        .needs("libother.so.1", &[]);
    let of_torch = Library::extension("_demo")
        .undefined("_ZN3c10E")
        .needs("libc10.so", &[]);
    appears(
        "E010",
        &run("show", tags, "_demo.so", &beside, &[]),
        &run("show", tags, "_demo.so", &of_torch, &[]),
    );
}

/// A module that calls no C library may have the lowest manylinux tag, and one that names its own
/// is judged by that.
#[test]
fn a_module_is_for_the_libc_that_its_needs_name() {
    let bare = Library::extension("_demo").undefined("PyLong_FromLong");
    let verdict = |python: &str, library: &Library| {
        let member = format!("_demo.cpython-{python}-x86_64-linux-gnu.so");
        let text = run(
            "show",
            &format!("cp{python}-cp{python}-linux_x86_64"),
            &member,
            library,
            &[],
        );
        let of = |start: &str| {
            text.lines()
                .find(|line| line.trim_start().starts_with(start))
                .unwrap_or_default()
                .trim()
        };
        format!("{python}: {}; {}\n", of("platform"), of("warning["))
    };
    let verdicts = [
        verdict("310", &bare),
        verdict("312", &bare),
        verdict("310", &of_glibc()),
        verdict(
            "310",
            &Library::extension("_demo").needs("libc.musl-x86_64.so.1", &[]),
        ),
    ];
    insta::assert_snapshot!(verdicts.concat(), @r"
    310: platform  manylinux_2_5_x86_64; warning[E005 unknown-libc]: the C library of this extension module is unknown; it was audited against that of the machine
    312: platform  manylinux_2_5_x86_64; 
    310: platform  manylinux_2_17_x86_64; 
    310: platform  musllinux_1_2_x86_64; 
    ");
    let plain = verdict(
        "310",
        &Library::extension("_demo")
            .undefined("malloc")
            .linked("libc.so"),
    );
    assert!(
        !plain.contains("warning["),
        "musl's library tells the C library: {plain}"
    );
}

/// A wheel of a processor that no policy knows is an error in auditwheel's schema, without the keys
/// of a verdict.
#[test]
fn an_unknown_processor_is_an_error_for_auditwheels_readers() {
    let name = "demo-1.0-cp312-cp312-linux_mips64.whl";
    let mut bytes = of_glibc().build();
    bytes[18] = 8;
    let project = Project::new().bytes(
        name,
        &Wheel::named(name)
            .executable("demo/_demo.so", bytes)
            .bytes(),
    );
    let shown = project
        .run(&["wheel", "show", name, "--json=auditwheel"])
        .exits(0)
        .stdout;
    let expect =
        json!({"version": 1, "wheel": name, "error": "no library of the wheel can be audited"});
    assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), expect);
}

/// `fpectl` was an option of Python 3, too, and is reported as what it is.
#[test]
fn the_floating_point_handler_is_no_python_2() {
    let module = of_glibc().undefined("PyFPE_jbuf");
    let output = run(
        "repair",
        "cp35-cp35m-linux_x86_64",
        "demo/_demo.so",
        &module,
        &["-w", "out"],
    );
    insta::assert_snapshot!(output, @r"
    error[W071 platform-out-of-reach]: the wheel cannot comply with any platform: the wheel needs a Python with the floating-point handler of `--with-fpectl`
    --> demo-1.0-cp35-cp35m-linux_x86_64.whl

    exit 1
    ");
}

/// Files that RECORD lists twice are listed once in a repaired wheel, also where nothing else
/// changes.
#[test]
fn repeated_rows_of_record_become_one() {
    let name = "demo_device_gfx942-1.0-py3-none-linux_x86_64.whl";
    let twice = |text: String| format!("{}{text}", text.lines().next().unwrap().to_owned() + "\n");
    let wheel = Wheel::named(name)
        .file("demo/kernel.kpack", "data")
        .edit("RECORD", twice);
    let project = Project::new().bytes(name, &wheel.bytes());
    let stderr = project.stderr_of(&["wheel", "verify", name]);
    assert!(
        stderr.contains("RECORD lists `demo_device_gfx942/__init__.py` twice"),
        "{stderr}"
    );
    let out = project
        .run(&["wheel", "repair", name, "-w", "out"])
        .exits(0)
        .stdout;
    assert_eq!(project.stderr_of(&["wheel", "verify", out.trim()]), "");
    let differ = |text: String| format!("{}{text}", "demo/kernel.kpack,sha256=AAAA,4\n");
    let other = Wheel::named(name)
        .file("demo/kernel.kpack", "data")
        .edit("RECORD", differ);
    let project = Project::new().bytes(name, &other.bytes());
    insta::assert_snapshot!(project.run(&["wheel", "repair", name, "-w", "out"]).exits(1).stderr, @r"
    demo_device_gfx942-1.0-py3-none-linux_x86_64.whl contains no libraries for Linux: nothing is grafted
    error[W023 bad-record]: line 3 of RECORD cannot be read: another row for `demo/kernel.kpack` contradicts it
    --> demo_device_gfx942-1.0-py3-none-linux_x86_64.whl: demo_device_gfx942-1.0.dist-info/RECORD
    ");
}

/// New tags are written sorted, of whichever kind they are.
#[test]
fn retag_sorts_the_tags_of_each_kind() {
    let name = "demo-1.0-py3-none-any.whl";
    let project = Project::new().bytes(name, &Wheel::named(name).bytes());
    let options = [
        "--python-tag",
        "cp312.cp311",
        "--abi-tag",
        "cp312.cp311",
        "--platform-tag",
        "win32.linux_x86_64",
    ];
    let out = project
        .run(&[&["wheel", "retag", name], &options[..]].concat())
        .exits(0)
        .stdout;
    assert_eq!(
        out,
        "demo-1.0-cp311.cp312-cp311.cp312-linux_x86_64.win32.whl\n"
    );
    let added = project
        .run(&["wheel", "retag", name, "--abi-tag", "+abi3"])
        .exits(0)
        .stdout;
    assert_eq!(added, "demo-1.0-py3-abi3.none-any.whl\n");
}
