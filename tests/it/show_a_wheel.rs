//! Showing which platforms have what a wheel needs, and whether its name tells the truth.

use serde_json::Value;

use crate::support::bundle::{self, part};
use crate::support::elf::{Library, NEEDS_X86_64_V3};
use crate::support::{Project, Wheel};

const NAME: &str = "demo-1.0-cp312-cp312-linux_x86_64.whl";
/// What every library made of C needs.
const LIBC: &str = "libc.so.6";

/// The report of a wheel, by our JSON, on a machine without libraries.
#[track_caller]
fn report(wheel: &Wheel) -> Value {
    shown(wheel, &["--no-host-libs"])
}

#[track_caller]
fn shown(wheel: &Wheel, more: &[&str]) -> Value {
    let project = Project::new().bytes(wheel.name(), &wheel.bytes());
    let arguments = [&["wheel", "show", wheel.name(), "--json"], more].concat();
    serde_json::from_str(&project.run(&arguments).exits(0).stdout).unwrap()
}

/// The codes of a report's findings, sorted, each once.
fn codes(report: &Value) -> Vec<String> {
    let mut codes: Vec<String> = report["rock"]["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["code"].as_str().unwrap().to_owned())
        .collect();
    codes.sort();
    codes.dedup();
    codes
}

fn extension() -> Library {
    Library::extension("_demo").needs(LIBC, &["GLIBC_2.17"])
}

fn wheel(library: &Library) -> Wheel {
    Wheel::named(NAME).executable("demo/_demo.so", library.build())
}

/// Asserts that a finding appears with one library and is absent with another.
#[track_caller]
fn appears(code: &str, with: &Wheel, without: &Wheel) {
    let (with, without) = (report(with), report(without));
    assert!(
        codes(&with).iter().any(|one| one == code),
        "{code} in {with:#}"
    );
    assert!(
        !codes(&without).iter().any(|one| one == code),
        "{code} in {without:#}"
    );
}

#[test]
fn the_newest_symbol_decides_the_platform() {
    for (version, tag) in [
        ("GLIBC_2.2.5", "manylinux_2_5_x86_64"),
        ("GLIBC_2.10", "manylinux_2_12_x86_64"),
        ("GLIBC_2.14", "manylinux_2_17_x86_64"),
        ("GLIBC_2.28", "manylinux_2_28_x86_64"),
        ("GLIBC_2.32", "manylinux_2_34_x86_64"),
        ("GLIBC_2.38", "manylinux_2_38_x86_64"),
        ("GLIBC_2.99", "linux_x86_64"),
        ("GLIBC_PRIVATE", "linux_x86_64"),
    ] {
        let report = report(&wheel(
            &Library::extension("_demo").needs(LIBC, &["GLIBC_2.2.5", version]),
        ));
        assert_eq!(
            (&report["overall_tag"], &report["sym_tag"]),
            (&tag.into(), &tag.into()),
            "{version}"
        );
        assert_eq!(report["rock"]["own_sym_tag"], tag);
        assert_eq!(
            report["rock"]["elf"]["demo/_demo.so"]["needed"],
            serde_json::json!([LIBC])
        );
    }
    let report = report(&wheel(&extension().needs("libamdhip64.so.6", &["hip_4.2"])));
    assert_eq!(
        report["sym_tag"], "manylinux_2_17_x86_64",
        "versions of libraries that no policy names do not count"
    );
    assert_eq!(
        report["versioned_symbols"]["libamdhip64.so.6"],
        serde_json::json!(["hip_4.2"])
    );
}

#[test]
fn libraries_of_no_platform_keep_a_wheel_from_every_policy() {
    let wheel = wheel(
        &extension()
            .needs("libamdhip64.so.6", &[])
            .needs("libtorch.so", &[])
            .needs("libz.so.1", &[]),
    );
    let plain = report(&wheel);
    assert_eq!(plain["overall_tag"], "linux_x86_64");
    assert_eq!(
        plain["external_libs"],
        serde_json::json!({"libamdhip64.so.6": null, "libtorch.so": null})
    );
    let upgrade = &plain["policy_upgrades"]["manylinux_2_41_x86_64"]["libs_to_eliminate"];
    assert_eq!(
        *upgrade,
        serde_json::json!(["libamdhip64.so.6", "libtorch.so"])
    );
    assert_eq!(
        plain["rock"]["rocm_sonames"],
        serde_json::json!({"6": ["libamdhip64.so.6"]})
    );
    let excluded = shown(
        &wheel,
        &["--no-host-libs", "--exclude-preset", "rocm,torch"],
    );
    assert_eq!(excluded["overall_tag"], "manylinux_2_17_x86_64");
    assert_eq!(
        excluded["rock"]["excluded"],
        serde_json::json!(["libamdhip64.so.6", "libtorch.so"])
    );
}

#[test]
fn libraries_beside_each_other_in_the_wheel_are_found_through_their_search_paths() {
    let inner = Library::new()
        .soname("libinner.so.1")
        .needs("libelse.so.3", &[])
        .build();
    let outer = extension()
        .needs("libinner.so.1", &[])
        .rpath("$ORIGIN/../demo.libs");
    let beside = Wheel::named(NAME)
        .executable("demo/_demo.so", outer.build())
        .executable("demo.libs/libinner.so.1", inner);
    let report = report(&beside);
    assert_eq!(
        report["external_libs"],
        serde_json::json!({"libelse.so.3": null}),
        "what it needs in turn is not there"
    );
}

#[test]
fn libraries_of_a_folder_that_stands_for_the_root_raise_what_is_needed() {
    let project = Project::new()
        .bytes(
            NAME,
            &wheel(&extension().needs("libhost.so.1", &[])).bytes(),
        )
        .bytes(
            "root/opt/libhost.so.1.2",
            &Library::new()
                .soname("libhost.so.1")
                .needs(LIBC, &["GLIBC_2.34"])
                .build(),
        )
        .file("root/etc/ld.so.conf", "/opt\n");
    std::os::unix::fs::symlink("libhost.so.1.2", project.path("root/opt/libhost.so.1")).unwrap();
    let run = project
        .run(&["wheel", "show", NAME, "--json", "--sysroot", "root"])
        .exits(0);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        report["external_libs"],
        serde_json::json!({"libhost.so.1": "/opt/libhost.so.1.2"})
    );
    assert_eq!(
        (&report["sym_tag"], &report["rock"]["own_sym_tag"]),
        (
            &"manylinux_2_34_x86_64".into(),
            &"manylinux_2_17_x86_64".into()
        )
    );
    let other = project
        .run(&[
            "wheel",
            "show",
            NAME,
            "--json",
            "--sysroot",
            "root",
            "--ldpaths",
            "/none",
        ])
        .exits(0);
    assert_eq!(
        serde_json::from_str::<Value>(&other.stdout).unwrap()["external_libs"]["libhost.so.1"],
        Value::Null
    );
}

#[test]
fn symbols_that_older_systems_lack_in_spite_of_their_version_are_counted() {
    let weak = Library::extension("_demo").needs(LIBC, &["GLIBC_2.17"]);
    let report = report(&wheel(&weak.undefined("__cxa_thread_atexit_impl")));
    assert_eq!(report["overall_tag"], "manylinux_2_24_x86_64");
    let forbidden = &report["policy_upgrades"]["manylinux_2_17_x86_64"]["blacklisted_symbols"];
    assert_eq!(
        *forbidden,
        serde_json::json!({LIBC: ["__cxa_thread_atexit_impl"]})
    );
}

#[test]
fn a_name_that_claims_more_than_the_symbols_allow_is_found_out() {
    let named = |tag: &str| Wheel::named(&format!("demo-1.0-cp312-cp312-{tag}.whl"));
    let with = |tag: &str, version: &str| {
        named(tag).executable(
            "demo/_demo.so",
            Library::extension("_demo").needs(LIBC, &[version]).build(),
        )
    };
    appears(
        "R101",
        &with("manylinux_2_28_x86_64", "GLIBC_2.34"),
        &with("manylinux_2_34_x86_64", "GLIBC_2.34"),
    );
    appears(
        "R101",
        &with("manylinux1_x86_64", "GLIBC_2.17"),
        &with("manylinux2014_x86_64", "GLIBC_2.17"),
    );
    // A version that no policy describes is judged by the one before it.
    appears(
        "R101",
        &with("manylinux_2_29_x86_64", "GLIBC_2.34"),
        &with("manylinux_2_29_x86_64", "GLIBC_2.28"),
    );
    let report = report(&with("manylinux_2_28_x86_64", "GLIBC_2.34"));
    assert_eq!(report["rock"]["claimed_ok"], false);
}

#[test]
fn machine_code_in_a_wheel_for_any_platform_is_found() {
    let any = Wheel::named("demo-1.0-py3-none-any.whl");
    appears(
        "R102",
        &any.executable("demo/_demo.so", extension().build()),
        &wheel(&extension()),
    );
    let purelib = wheel(&extension()).edit("WHEEL", |text| {
        text.replace("Purelib: false", "Purelib: true")
    });
    appears("R104", &purelib, &wheel(&extension()));
}

#[test]
fn search_paths_that_lead_elsewhere_are_found() {
    let paths = |path: &str| wheel(&extension().runpath(path));
    appears(
        "R110",
        &paths("/opt/rocm/lib"),
        &paths("$ORIGIN/../demo.libs"),
    );
    appears("R114", &paths("lib"), &paths("$ORIGIN"));
    appears("R114", &paths("$ORIGINAL/x"), &paths("$ORIGIN/x"));
    appears(
        "R113",
        &paths("$ORIGIN/../../.."),
        &paths("$ORIGIN/../_rocm_sdk_core/lib"),
    );
    appears(
        "R114",
        &paths("$ORIGIN::$ORIGIN/x"),
        &paths("$ORIGIN:$ORIGIN/x"),
    );
    let allowed = shown(
        &paths("/opt/rocm/lib"),
        &["--no-host-libs", "--allow-rpath", "/opt/rocm*"],
    );
    assert_eq!(codes(&allowed), Vec::<String>::new());
}

#[test]
fn the_runtime_in_the_wheel_and_runtimes_of_two_releases_are_found() {
    let runtime = Library::new().soname("libamdhip64-1a2b3c4d.so.6");
    let vendored =
        wheel(&extension()).executable("demo.libs/libamdhip64-1a2b3c4d.so.6", runtime.build());
    appears(
        "R111",
        &vendored,
        &wheel(&extension().needs("libamdhip64.so.6", &[])),
    );
    let two = |path: &str| {
        wheel(&extension().needs("libamdhip64.so.6", &[]))
            .executable(path, Library::new().needs("libamdhip64.so.7", &[]).build())
    };
    appears(
        "R112",
        &two("demo/_other.so"),
        &wheel(&extension().needs("libamdhip64.so.6", &[])),
    );
    // A variant of its own kind goes with one release, too.
    let variant = |other: &str| {
        wheel(&extension())
            .executable(
                "demo/lib_rocm6/a.so",
                Library::new().needs("libamdhip64.so.6", &[]).build(),
            )
            .executable(other, Library::new().needs("libamdhip64.so.7", &[]).build())
    };
    appears(
        "R112",
        &variant("demo/lib_rocm6/b.so"),
        &variant("demo/lib_rocm7/b.so"),
    );
    // What is in the wheel counts as what is needed of it.
    let beside = |soname: &str| {
        wheel(&extension().needs("libamdhip64.so.6", &[]))
            .executable("demo/libamdhip64.so", Library::new().soname(soname).build())
    };
    appears(
        "R112",
        &beside("libamdhip64.so.7"),
        &beside("libamdhip64.so.6"),
    );
}

#[test]
fn one_library_under_several_names_is_found() {
    let library = |text: &str| {
        Library::new()
            .soname("libx.so.1")
            .linked(LIBC)
            .exports(text)
            .build()
    };
    let with = |second: Vec<u8>| {
        wheel(&extension())
            .executable("demo/libx.so", library("one"))
            .executable("demo/libx.so.1", second)
    };
    appears("W041", &with(library("one")), &with(library("two")));
    let size = library("one").len();
    let found = report(&with(library("one")).executable("demo/libx.so.1.2.3", library("one")));
    let finding = found["rock"]["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["code"] == "W041")
        .unwrap();
    assert_eq!(
        finding["message"],
        format!(
            "the wheel contains it 3 times, {} bytes more than necessary",
            2 * size
        )
    );
    assert_eq!(finding["path"], "demo/libx.so");
}

#[test]
fn folders_are_searched_from_the_one_the_program_is_started_in() {
    let host = Library::new().soname("libhost.so.1").build();
    let wheel = wheel(&extension().needs("libhost.so.1", &[]));
    let project = Project::new()
        .bytes(NAME, &wheel.bytes())
        .bytes("libs/libhost.so.1", &host);
    let found = |more: &[&str], variable: Option<&str>| {
        let arguments = [&["wheel", "show", NAME, "--json"], more].concat();
        let mut command = project.command(&arguments);
        if let Some(value) = variable {
            command.env("LD_LIBRARY_PATH", value);
        }
        let document: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        document["external_libs"]["libhost.so.1"].clone()
    };
    let there = Value::from(
        std::fs::canonicalize(project.path("libs/libhost.so.1"))
            .unwrap()
            .to_str()
            .unwrap(),
    );
    assert_eq!(found(&[], None), Value::Null);
    assert_eq!(found(&[], Some("none:libs")), there);
    assert_eq!(found(&["--ldpaths", "none/../libs"], None), there);
    assert_eq!(
        found(&["--ldpaths", "none"], Some("libs")),
        Value::Null,
        "they take the place of the variable"
    );
    assert_eq!(
        found(&["--sysroot", ".", "--ldpaths", "libs"], None),
        "/libs/libhost.so.1"
    );
}

#[test]
fn a_label_that_the_sonames_contradict_is_found() {
    let labelled = |soname: &str| {
        Wheel::named("demo-1.0+rocm62torch2.5-cp312-cp312-linux_x86_64.whl")
            .executable("demo/_demo.so", extension().needs(soname, &[]).build())
    };
    appears(
        "R125",
        &labelled("libamdhip64.so.7"),
        &labelled("libamdhip64.so.6"),
    );
    appears(
        "R125",
        &labelled("librocblas.so.5"),
        &labelled("libunknown.so.5"),
    );
}

#[test]
fn a_label_that_the_undefined_symbols_of_torch_contradict_is_found() {
    // `c10::ValueError::ValueError(c10::SourceLocation, std::string)`, exported since torch 2.13.
    let symbol = "_ZN3c1010ValueErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
    let labelled = |torch: &str| {
        Wheel::named(&format!(
            "demo-1.0+rocm6.2torch{torch}-cp312-cp312-linux_x86_64.whl"
        ))
        .executable(
            "demo/_demo.so",
            extension()
                .needs("libc10.so", &[])
                .undefined(symbol)
                .build(),
        )
    };
    appears("R125", &labelled("2.5"), &labelled("2.13"));
    let found = report(&labelled("2.5"));
    let message = &found["rock"]["findings"][0]["message"];
    assert_eq!(
        message,
        "the label says torch 2.5, but the torch symbols that the wheel needs are those of 2.13 to \
         2.15"
    );
}

#[test]
fn a_label_that_the_abi_of_torchs_symbols_contradicts_is_found() {
    let old = "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs";
    let new = "_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
    let labelled = |abi: &str, symbol: &str| {
        Wheel::named(&format!(
            "demo-1.0+rocm6.2torch2.5cxx11abi{abi}-cp312-cp312-linux_x86_64.whl"
        ))
        .executable(
            "demo/_demo.so",
            extension()
                .needs("libc10.so", &[])
                .undefined(symbol)
                .build(),
        )
    };
    appears("R125", &labelled("true", old), &labelled("true", new));
    appears("R125", &labelled("false", new), &labelled("false", old));
}

#[test]
fn extension_modules_for_another_python_are_found() {
    let module = |python: &str| format!("demo/_demo.cpython-{python}-x86_64-linux-gnu.so");
    let with = |pythons: &[&str]| {
        pythons.iter().fold(Wheel::named(NAME), |wheel, python| {
            wheel.executable(&module(python), extension().build())
        })
    };
    appears("R125", &with(&["311"]), &with(&["312"]));
    appears("R125", &with(&["311"]), &with(&["311", "312"]));
    let any = |name: &str| Wheel::named(name).executable(&module("311"), extension().build());
    appears(
        "R125",
        &with(&["310"]),
        &any("demo-1.0-cp38-abi3-linux_x86_64.whl"),
    );
    appears(
        "R125",
        &with(&["310"]),
        &any("demo-1.0-py3-none-linux_x86_64.whl"),
    );
}

#[test]
fn files_that_do_not_fit_are_left_out_and_named() {
    let damaged = wheel(&extension()).file(
        "demo/broken.so",
        b"\x7fELF\x02\x01\x01 and no more".to_vec(),
    );
    appears("E001", &damaged, &wheel(&extension()));
    let purelib = wheel(&extension()).executable("demo-1.0.data/purelib/x.so", extension().build());
    appears("E002", &purelib, &wheel(&extension()));
    let mut other = extension().build();
    other[18] = 183;
    appears(
        "E003",
        &wheel(&extension()).executable("demo/arm.so", other),
        &wheel(&extension()),
    );
    let musl = Library::new().needs("libc.musl-x86_64.so.1", &[]);
    appears(
        "E004",
        &wheel(&extension()).executable("demo/musl.so", musl.build()),
        &wheel(&extension()),
    );
    let bare = Library::extension("_demo");
    appears("E005", &wheel(&bare), &wheel(&extension()));
}

#[test]
fn a_wheel_of_musl_is_judged_by_its_own_policies() {
    let musl = Library::extension("_demo").needs("libc.musl-x86_64.so.1", &[]);
    let named = |tag: &str| {
        Wheel::named(&format!("demo-1.0-cp312-cp312-{tag}.whl"))
            .executable("demo/_demo.so", musl.build())
    };
    assert_eq!(
        report(&named("musllinux_1_1_x86_64"))["overall_tag"],
        "musllinux_1_1_x86_64"
    );
    assert_eq!(
        report(&named("linux_x86_64"))["overall_tag"],
        "musllinux_1_2_x86_64"
    );
}

#[test]
fn a_level_of_x86_64_above_the_first_is_for_no_platform() {
    let library = extension().assembly(NEEDS_X86_64_V3);
    let checked = report(&wheel(&library));
    assert_eq!(
        (&checked["overall_tag"], &checked["unsupported_isa"]),
        (&"linux_x86_64".into(), &true.into())
    );
    let unchecked = shown(
        &wheel(&library),
        &["--no-host-libs", "--disable-isa-ext-check"],
    );
    assert_eq!(unchecked["overall_tag"], "manylinux_2_17_x86_64");
}

#[test]
fn a_wheel_without_libraries_is_no_failure() {
    let name = "demo-1.0-py3-none-any.whl";
    let project = Project::new().bytes(
        name,
        &Wheel::named(name)
            .file("demo/bait.py", b"\x7fELF".to_vec())
            .bytes(),
    );
    let run = project
        .run(&["wheel", "show", name, "--json=auditwheel"])
        .exits(0);
    assert_eq!(
        run.stdout,
        "{\"version\":1,\"wheel\":\"demo-1.0-py3-none-any.whl\",\"pure\":true}\n"
    );
    let text = project.run(&["wheel", "show", name]).exits(0).stdout;
    assert_eq!(
        text,
        "demo-1.0-py3-none-any.whl\n  platform  any: it contains no libraries to audit\n"
    );
}

#[test]
fn a_person_reads_the_verdict_and_what_is_wrong() {
    let name = "demo-1.0+rocm62-cp312-cp312-manylinux_2_17_x86_64.whl";
    let library = Library::extension("_demo")
        .needs(LIBC, &["GLIBC_2.17", "GLIBC_2.34"])
        .needs("libamdhip64.so.6", &["hip_4.2"])
        .runpath("/opt/rocm/lib");
    let project = Project::new().bytes(
        name,
        &Wheel::named(name)
            .executable("demo/_demo.so", library.build())
            .bytes(),
    );
    let run = project
        .run(&["wheel", "show", name, "--no-host-libs"])
        .exits(0);
    let sizes = regex::Regex::new("[0-9.]+ kB").unwrap();
    insta::assert_snapshot!(sizes.replace_all(&(run.stdout + &run.stderr), "N kB"), @r"
    demo-1.0+rocm62-cp312-cp312-manylinux_2_17_x86_64.whl
      holds     1 ELF file, N kB unpacked
      claims    manylinux_2_17_x86_64 (not accurate)
      platform  linux_x86_64
      symbols   manylinux_2_34_x86_64: GLIBC_2.34, hip_4.2
      next      manylinux_2_34_x86_64 lacks libamdhip64.so.6, which demo/_demo.so needs
      needs     libamdhip64.so.6, not found here
      ROCm      6, by libamdhip64.so.6
    warning[R101 false-platform-tag]: the filename claims `manylinux_2_17_x86_64`, but `demo/_demo.so` needs GLIBC_2.34, which it does not provide
    --> demo-1.0+rocm62-cp312-cp312-manylinux_2_17_x86_64.whl
    help: its own symbols allow `manylinux_2_34_x86_64`

    warning[R110 absolute-rpath]: RUNPATH names `/opt/rocm/lib`, which other machines do not have
    --> demo-1.0+rocm62-cp312-cp312-manylinux_2_17_x86_64.whl: demo/_demo.so
    help: drop it with `--fix-rpath` of `rock-matrix wheel repair`, or link with a path from `$ORIGIN`
    ");
}

#[test]
fn a_person_reads_which_file_and_symbol_keep_it_from_the_next_platform() {
    let next = |wheel: &Wheel| {
        let project = Project::new().bytes(NAME, &wheel.bytes());
        let text = project
            .run(&["wheel", "show", NAME, "--no-host-libs"])
            .exits(0)
            .stdout;
        let lines = text.lines().skip_while(|line| !line.starts_with("  next"));
        lines
            .take_while(|line| line.starts_with("  next") || line.starts_with("    "))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let newer =
        |module: &str, versions: &[&str]| Library::extension(module).needs(LIBC, versions).build();
    let two = wheel(&Library::extension("_demo").needs(LIBC, &["GLIBC_2.2.5", "GLIBC_2.33"]))
        .executable("demo/_other.so", newer("_other", &["GLIBC_2.33"]))
        .executable("demo/_third.so", newer("_third", &["GLIBC_2.32"]));
    insta::assert_snapshot!(next(&two), @r"
      next      manylinux_2_31_x86_64 lacks GLIBC_2.33, which demo/_demo.so (and 1 other file) needs for `of_libc_so_6_GLIBC_2_33`
                                            GLIBC_2.32, which demo/_third.so needs for `of_libc_so_6_GLIBC_2_32`
    ");
    let many = ["a", "b", "c", "d", "e"]
        .iter()
        .fold(extension(), |library, one| {
            library.needs(&format!("lib{one}.so"), &[])
        });
    insta::assert_snapshot!(next(&wheel(&many)), @r"
      next      manylinux_2_17_x86_64 lacks liba.so, which demo/_demo.so needs
                                            libb.so, which demo/_demo.so needs
                                            libc.so, which demo/_demo.so needs
                                            and 2 more
    ");
    let late = Library::extension("_demo")
        .needs(LIBC, &["GLIBC_2.2.5"])
        .undefined("__cxa_thread_atexit_impl");
    insta::assert_snapshot!(next(&wheel(&late)), @"  next      manylinux_2_17_x86_64 lacks `__cxa_thread_atexit_impl`, which demo/_demo.so calls");
    let fast = extension().assembly(NEEDS_X86_64_V3);
    insta::assert_snapshot!(next(&wheel(&fast)), @"  next      manylinux_2_41_x86_64 lacks an x86-64 level above the baseline, which demo/_demo.so needs");
    assert_eq!(
        next(&wheel(
            &Library::extension("_demo").needs(LIBC, &["GLIBC_2.2.5"])
        )),
        ""
    );
}

#[test]
fn options_that_cannot_be_judged_with_are_reported_at_once() {
    let project = Project::new().bytes(NAME, &wheel(&extension()).bytes());
    let run = project
        .run(&[
            "wheel",
            "show",
            NAME,
            "--exclude-preset",
            "rock",
            "--exclude",
            "lib[",
            "--policy-file",
            "none.json",
        ])
        .exits(2);
    insta::assert_snapshot!(run.stderr, @r"
    error[H020 cannot-read-file]: cannot read `none.json`: it does not exist
    help: check the name

    error[W030 unknown-preset]: there is no preset `rock`; did you mean `rocm`?
    help: known presets are rocm, torch, cuda, jax; `none` alone excludes no set

    error[W032 bad-pattern]: error parsing glob 'lib[': unclosed character class; missing ']'
    help: shell patterns have `*`, `?` and `[…]`
    ");
}

#[test]
fn a_platform_that_the_symbols_contradict_is_refused_unless_it_is_meant() {
    let library = Library::extension("_demo").needs(LIBC, &["GLIBC_2.34"]);
    let project = Project::new().bytes(NAME, &wheel(&library).bytes());
    let retag = |more: &[&str]| {
        let arguments = [
            &[
                "wheel",
                "retag",
                NAME,
                "--platform-tag",
                "manylinux_2_28_x86_64",
            ],
            more,
        ]
        .concat();
        project.run(&arguments)
    };
    let refused = retag(&[]).exits(1);
    insta::assert_snapshot!(refused.stderr, @r"
    error[R101 false-platform-tag]: the filename claims `manylinux_2_28_x86_64`, but `demo/_demo.so` needs GLIBC_2.34, which it does not provide
    --> demo-1.0-cp312-cp312-manylinux_2_28_x86_64.whl
     = note: use `--allow R101` if this is intended
    help: its own symbols allow `manylinux_2_34_x86_64`
    ");
    assert_eq!(refused.stdout, "");
    // Replacing a file waives no finding.
    retag(&["--force"]).exits(1);
    assert!(
        retag(&["--allow", "false-platform-tag"])
            .exits(0)
            .stderr
            .starts_with("warning[R101")
    );
    project
        .run(&[
            "wheel",
            "retag",
            NAME,
            "--platform-tag",
            "manylinux_2_34_x86_64",
        ])
        .exits(0);
}

#[test]
fn a_label_that_the_libraries_contradict_is_refused_on_request() {
    let library = extension().needs("libamdhip64.so.7", &[]);
    let project = Project::new().bytes(NAME, &wheel(&library).bytes());
    let label =
        |label: &str| project.run(&["wheel", "label", NAME, "--local", label, "--check-label"]);
    assert!(
        label("rocm62")
            .exits(1)
            .stderr
            .starts_with("error[R125 name-not-in-contents]")
    );
    label("rocm70").exits(0);
    // Without the option, it is a warning.
    let warned = project.run(&["wheel", "label", NAME, "rocm6.4"]).exits(0);
    assert!(
        warned
            .stderr
            .starts_with("warning[R125 name-not-in-contents]"),
        "{}",
        warned.stderr
    );
    let silent = project.run(&["wheel", "label", NAME, "rocm7.1"]).exits(0);
    assert_eq!(silent.stderr, "");
}

/// The refusal of a tag does not hide that RECORD has no hash of the changed files.
#[test]
fn a_refused_tag_and_a_weak_record_are_reported_together() {
    let library = Library::extension("_demo").needs(LIBC, &["GLIBC_2.34"]);
    let weak = wheel(&library).edit("RECORD", |text| text.replace("sha256=", "md5="));
    let project = Project::new().bytes(NAME, &weak.bytes());
    let tag = ["--platform-tag", "manylinux_2_28_x86_64"];
    let retag = [&["wheel", "retag", NAME][..], &tag].concat();
    let stderr = project.run(&retag).exits(1).stderr;
    for code in ["R101", "W024"] {
        assert_eq!(
            stderr.matches(&format!("error[{code} ")).count(),
            1,
            "{stderr}"
        );
    }
}

#[test]
fn a_layout_that_loaders_refuse_is_a_fault_of_the_wheel() {
    let mut broken = extension().build();
    let table = usize::try_from(u64::from_le_bytes(broken[32..40].try_into().unwrap())).unwrap();
    let load = (0..20)
        .map(|entry| table + 56 * entry)
        .rfind(|at| broken[*at] == 1)
        .unwrap();
    (broken[load + 34], broken[load + 42]) = (0x70, 0x70);
    let project = Project::new().bytes(
        NAME,
        &Wheel::named(NAME)
            .executable("demo/_demo.so", broken)
            .bytes(),
    );
    let run = project.run(&["wheel", "verify", NAME]).exits(1);
    assert!(
        run.stderr.contains("error[R131 damaged-layout]"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_wheel_with_data_or_sources_alone_is_no_damaged_one() {
    let name = "demo-1.0-py3-none-any.whl";
    let data = Wheel::named(name)
        .file("demo/kernel.hip", b"__global__ void k() {}".to_vec())
        .file(
            "demo/library/TensileLibrary_Type_HH_gfx1201.dat",
            vec![1, 2, 3, 4],
        );
    let shown = report(&data);
    assert_eq!(
        (&shown["pure"], &shown["error"]),
        (&true.into(), &Value::Null),
        "{shown:#}"
    );
    assert_eq!(
        shown["rock"]["gfx"]["targets"],
        serde_json::json!(["gfx1201"])
    );
}

#[test]
fn a_policy_file_takes_the_place_of_the_shipped_policies() {
    let policies = r#"[
      {"name": "linux", "aliases": [], "priority": 0, "symbol_versions": {}, "lib_whitelist": [], "blacklist": {}},
      {"name": "manylinux_2_77", "aliases": [], "priority": 9, "symbol_versions": {"x86_64": {"GLIBC": ["2.17"]}},
       "lib_whitelist": ["libc.so.6", "libown.so.1"], "blacklist": {}}
    ]"#;
    let own = wheel(&extension().needs("libown.so.1", &[]));
    let project = Project::new()
        .bytes(NAME, &own.bytes())
        .file("policies.json", policies);
    let run = project
        .run(&[
            "wheel",
            "show",
            NAME,
            "--json",
            "--no-host-libs",
            "--policy-file",
            "policies.json",
        ])
        .exits(0);
    let shown: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(shown["overall_tag"], "manylinux_2_77_x86_64");
    assert_eq!(report(&own)["overall_tag"], "linux_x86_64");
}

#[test]
fn a_folder_for_what_memory_does_not_hold_is_tried_at_once() {
    let project = Project::new()
        .bytes(NAME, &wheel(&extension()).bytes())
        .file("room/.keep", "");
    project
        .run(&["wheel", "show", NAME, "--work-dir", "room"])
        .exits(0);
    for command in ["show", "check", "gfx", "repair"] {
        let run = project
            .run(&["wheel", command, NAME, "--work-dir", "none"])
            .exits(3);
        assert!(
            run.stderr.contains("cannot write to `none`"),
            "{}",
            run.stderr
        );
    }
}

/// RECORD is held against the names of the members, which takes no reading.
#[test]
fn a_member_missing_in_record_is_shown_and_reported_once() {
    let unlisted = || {
        wheel(&extension()).edit("RECORD", |text| {
            let listed = text
                .lines()
                .filter(|line| !line.starts_with("demo/_demo.so,"));
            listed.map(|line| format!("{line}\n")).collect()
        })
    };
    appears("W020", &unlisted(), &wheel(&extension()));
    let project = Project::new().bytes(NAME, &unlisted().bytes());
    let shown = project
        .run(&["wheel", "show", NAME, "--no-host-libs"])
        .exits(0)
        .stderr;
    let checked = project
        .run(&["wheel", "check", NAME, "--no-host-libs"])
        .exits(1)
        .stderr;
    for (content, severity) in [(shown, "warning"), (checked, "error")] {
        let finding = format!("{severity}[W020 member-not-in-record]");
        assert_eq!(content.matches(&finding).count(), 1, "{content}");
    }
}

/// auditwheel's `sym_tag` depends on the machine, and repairing brings what it rests on.
#[test]
fn a_person_reads_both_what_its_own_symbols_allow_and_what_those_of_the_machine_leave() {
    let host = Library::new()
        .soname("libhost.so.1")
        .needs(LIBC, &["GLIBC_2.34"])
        .build();
    let project = Project::new()
        .bytes(
            NAME,
            &wheel(&extension().needs("libhost.so.1", &[])).bytes(),
        )
        .bytes("root/lib/libhost.so.1", &host);
    let text = |more: &[&str]| {
        project
            .run(&[&["wheel", "show", NAME], more].concat())
            .exits(0)
            .stdout
    };
    let both = "  symbols   manylinux_2_17_x86_64: GLIBC_2.17
            manylinux_2_34_x86_64 with the libraries of this machine that it needs\n";
    let stdout = text(&["--sysroot", "root"]);
    assert!(stdout.contains(both), "{stdout}");
    assert!(!text(&["--no-host-libs"]).contains("with the libraries"));
}

#[test]
fn a_wheel_without_libraries_complies_with_its_tag() {
    let platform = |wheel: &Wheel| {
        let project = Project::new().bytes(wheel.name(), &wheel.bytes());
        let text = project
            .run(&["wheel", "show", wheel.name()])
            .exits(0)
            .stdout;
        text.lines()
            .nth(1)
            .unwrap()
            .trim()
            .trim_start_matches("platform")
            .trim()
            .to_owned()
    };
    let dll = || bundle::pe_library(&[part(".text", vec![0x90; 64])]);
    let windows = "demo-1.0-py3-none-win_amd64.whl";
    for (wheel, expect) in [
        (
            Wheel::named("demo-1.0-py3-none-any.whl"),
            "any: it contains no libraries to audit",
        ),
        (
            Wheel::named(NAME),
            "linux_x86_64 by its name: it contains no libraries to audit",
        ),
        (
            Wheel::named(windows).file("demo/m.pyd", dll()),
            "win_amd64 by its name: files for Windows are not audited",
        ),
    ] {
        assert_eq!(platform(&wheel), expect);
    }
    let project = Project::new().bytes(
        windows,
        &Wheel::named(windows).file("demo/m.pyd", dll()).bytes(),
    );
    let checked = project.run(&["wheel", "check", windows]).exits(0).stdout;
    assert!(
        checked.contains("win_amd64, but files for Windows are not audited"),
        "{checked}"
    );
}
