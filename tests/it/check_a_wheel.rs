//! Every gate of a wheel at once: what its name says against what it holds.

use rock_matrix::audit::{Inspection, check_under_name};
use serde_json::Value;

use crate::support::bundle::{self, part};
use crate::support::elf::Library;
use crate::support::{Project, Wheel};

const NAME: &str = "demo-1.0-cp312-cp312-linux_x86_64.whl";
const MANY: &str = "demo-1.0-cp312-cp312-manylinux_2_17_x86_64.whl";
const LIBC: &str = "libc.so.6";
/// `NT_GNU_PROPERTY_TYPE_0` with `GNU_PROPERTY_X86_ISA_1_NEEDED` and the bit of x86-64-v3 (x86-64
/// psABI, "Program Property").
const X86_64_V3: &str = "
    .section .note.gnu.property,\"a\",@note
    .p2align 3
    .long 4, 16, 5
    .asciz \"GNU\"
    .long 0xc0008002, 4, 4, 0
";
/// `c10::ValueError::ValueError(c10::SourceLocation, std::string)`, exported since torch 2.13.
const TORCH: &str = "_ZN3c1010ValueErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";

fn extension() -> Library {
    Library::extension("_demo").needs(LIBC, &["GLIBC_2.17"])
}

fn named(name: &str, library: &Library) -> Wheel {
    Wheel::named(name).executable("demo/_demo.so", library.build())
}

fn labelled(label: &str, library: Vec<u8>) -> Wheel {
    Wheel::named(&format!("demo-1.0+{label}-cp312-cp312-linux_x86_64.whl"))
        .executable("demo/_demo.so", library)
}

/// Codes with their severities, as `wheel check` gives them; its exit is asserted.
#[track_caller]
fn checked(wheel: &Wheel, more: &[&str]) -> Vec<(String, String)> {
    let project = Project::new().bytes(wheel.name(), &wheel.bytes());
    let arguments = [
        &["wheel", "check", wheel.name(), "--json", "--no-host-libs"],
        more,
    ]
    .concat();
    let output = project.command(&arguments).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let findings: Vec<(String, String)> = document["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| (text(&finding["code"]), text(&finding["severity"])))
        .collect();
    let is_bad = findings.iter().any(|(_, severity)| severity == "error");
    assert_eq!(
        (output.status.code(), document["ok"].as_bool()),
        (Some(i32::from(is_bad)), Some(!is_bad))
    );
    findings
}

#[track_caller]
fn assert_finding(wheel: &Wheel, more: &[&str], code: &str, severity: &str) {
    let found = checked(wheel, more);
    assert!(
        found.contains(&(code.to_owned(), severity.to_owned())),
        "{code} as {severity} in {found:?}"
    );
}

/// Asserts that a finding appears with one wheel and is absent with another.
#[track_caller]
fn appears(code: &str, with: &Wheel, without: &Wheel) {
    let has = |found: &[(String, String)]| found.iter().any(|(one, _)| one == code);
    let (with, without) = (checked(with, &[]), checked(without, &[]));
    assert!(has(&with), "{code} in {with:?}");
    assert!(!has(&without), "{code} in {without:?}");
}

#[test]
fn a_claim_is_held_against_all_that_its_systems_lack() {
    let sound = named(MANY, &extension());
    assert_eq!(checked(&sound, &[]), []);
    let claims = |library: &Library| named(MANY, library);
    appears(
        "R101",
        &claims(&extension().assembly(X86_64_V3)),
        &named(NAME, &extension().assembly(X86_64_V3)),
    );
    assert_finding(
        &claims(&extension().linked("libz.so.1").undefined("_tr_init")),
        &[],
        "R101",
        "error",
    );
    assert_finding(
        &claims(&extension().undefined("__cxa_thread_atexit_impl")),
        &[],
        "R101",
        "error",
    );
    assert_eq!(
        checked(
            &claims(&extension().assembly(X86_64_V3)),
            &["--disable-isa-ext-check"]
        ),
        []
    );
}

#[test]
fn a_library_that_no_system_of_the_claim_has_must_come_along_unless_another_package_brings_it() {
    let needs = |soname: &str| named(MANY, &extension().needs(soname, &[]));
    appears("R105", &needs("libother.so.1"), &needs("libamdhip64.so.6"));
    appears("R105", &needs("libother.so.1"), &needs("libtorch_cpu.so"));
    appears("R105", &needs("libother.so.1"), &needs("libm.so.6"));
    assert_eq!(
        checked(&needs("libother.so.1"), &["--exclude", "libother.so*"]),
        []
    );
    let own = needs("libother.so.1").executable(
        "demo.libs/libother.so.1",
        Library::new().soname("libother.so.1").build(),
    );
    assert_finding(&own, &[], "R105", "error");
    let found = named(
        MANY,
        &extension()
            .needs("libother.so.1", &[])
            .rpath("$ORIGIN/../demo.libs"),
    )
    .executable(
        "demo.libs/libother.so.1",
        Library::new().soname("libother.so.1").linked(LIBC).build(),
    );
    assert_eq!(checked(&found, &[]), []);
}

#[test]
fn a_plugin_that_needs_a_python_module_of_its_wheel_is_a_note() {
    let plugin = |needed: &str| {
        Library::new()
            .soname("libplugin.so")
            .needs(needed, &[])
            .linked(LIBC)
            .build()
    };
    let module = || extension().soname("libdemo.so");
    let wheel =
        named(MANY, &module()).executable("demo/plugins/libplugin.so", plugin("libdemo.so"));
    assert_finding(&wheel, &[], "R105", "note");
    // Without this SONAME the loader does not know that it is the same library.
    let unnamed =
        named(MANY, &extension()).executable("demo/plugins/libplugin.so", plugin("libdemo.so"));
    assert_finding(&unnamed, &[], "R105", "error");
    let imported = named(MANY, &module()).executable(
        "demo/_other.cpython-312-x86_64-linux-gnu.so",
        Library::extension("_other")
            .needs("libdemo.so", &[])
            .linked(LIBC)
            .build(),
    );
    assert_finding(&imported, &[], "R105", "error");
}

#[test]
fn libraries_for_another_processor_or_c_library_than_the_name_are_errors_where_no_other_counts() {
    let mut other = extension().build();
    other[18] = 183;
    let alone = Wheel::named(MANY).executable("demo/_demo.so", other.clone());
    assert_finding(&alone, &[], "E003", "error");
    assert_finding(
        &named(MANY, &extension()).executable("demo/arm.so", other),
        &[],
        "E003",
        "warning",
    );
    let musl = Library::extension("_demo").needs("libc.musl-x86_64.so.1", &[]);
    assert_finding(&named(MANY, &musl), &[], "E004", "error");
    let shown = Project::new()
        .bytes(MANY, &alone.bytes())
        .run(&["wheel", "show", MANY])
        .exits(0);
    assert_eq!(
        shown.stdout,
        format!("{MANY}\n  platform  none: no library can be audited\n")
    );
}

#[test]
fn an_extension_that_needs_libpython_is_a_warning_and_under_a_claim_an_error() {
    let linked = extension().linked("libpython3.12.so.1.0");
    assert_finding(&named(NAME, &linked), &[], "E006", "warning");
    assert_finding(&named(MANY, &linked), &[], "E006", "error");
    appears("E006", &named(NAME, &linked), &named(NAME, &extension()));
}

#[test]
fn expectations_hold_for_code_outside_of_bundles() {
    let objects = Wheel::named(NAME)
        .file("demo/k.hsaco", bundle::code_object(0x3f, 2, 256))
        .file("demo/k2.co", bundle::code_object(0x41, 2, 256));
    let data = Wheel::named(NAME).file("demo/TensileLibrary_HH_gfx90a.dat", vec![1, 2, 3, 4]);
    let archive = Wheel::named(NAME).file(
        ".kpack/demo_gfx90a.kpack",
        bundle::kpack(&["gfx90a"], &["demo"]),
    );
    for wheel in [&objects, &data, &archive] {
        assert_finding(wheel, &["--expect", "gfx942"], "R120", "error");
    }
    assert_eq!(checked(&objects, &["--expect", "gfx90a,gfx1100"]), []);
    assert_eq!(checked(&data, &["--expect", "gfx90a"]), []);
    assert_eq!(checked(&archive, &["--expect", "gfx90a"]), []);
    // Libraries have data for some targets alone, and code for all.
    let fatbin = bundle::hip_bundle(&[("gfx90a", 0x3f), ("gfx942", 0x4c)], 512);
    let library = || {
        bundle::library(&[
            part(".hip_fatbin", fatbin.clone()),
            part(".hipFatBinSegment", bundle::wrappers(1, *b"FPIH")),
        ])
    };
    let both = data.executable("demo/_demo.so", library());
    assert_eq!(checked(&both, &["--expect", "gfx90a,gfx942"]), []);
    let one = Wheel::named(NAME)
        .executable("demo/_demo.so", library())
        .file("demo/k.hsaco", bundle::code_object(0x3f, 2, 256));
    assert_finding(&one, &["--expect", "gfx90a,gfx942"], "R120", "error");
}

#[test]
fn a_list_of_targets_fails_on_code_that_contradicts_its_bundle() {
    let gfx = |bundle: Vec<u8>, code: i32| {
        let wheel = Wheel::named(NAME).file("demo/k.hipfb", bundle);
        Project::new()
            .bytes(NAME, &wheel.bytes())
            .run(&["wheel", "gfx", NAME, "--json"])
            .exits(code)
    };
    let sound = bundle::hip_bundle(&[("gfx90a", 0x3f)], 512);
    assert_eq!(
        gfx(sound.clone(), 0).json()["findings"],
        serde_json::json!([])
    );
    let lying = gfx(bundle::hip_bundle(&[("gfx942", 0x3f)], 512), 1);
    assert!(
        lying.stderr.starts_with("error[R123 gfx-mislabelled]"),
        "{}",
        lying.stderr
    );
    assert_eq!(lying.json()["findings"][0]["code"], "R123");
    assert!(
        gfx(sound[..sound.len() - 100].to_vec(), 1)
            .stderr
            .starts_with("error[R132")
    );
}

#[test]
fn code_for_a_processor_newer_than_the_facts_is_taken_at_its_word() {
    let wheel = |target: &str| {
        Wheel::named(NAME).file("demo/k.hipfb", bundle::hip_bundle(&[(target, 0xf0)], 512))
    };
    appears("R123", &wheel("gfx942"), &wheel("gfx1999"));
}

#[test]
fn every_part_of_a_label_is_held_against_the_contents() {
    let hip = || extension().needs("libamdhip64.so.6", &[]).build();
    let fatbin = || {
        let bundle = bundle::hip_bundle(&[("gfx90a", 0x3f), ("gfx942", 0x4c)], 512);
        bundle::library(&[
            part(".hip_fatbin", bundle),
            part(".hipFatBinSegment", bundle::wrappers(1, *b"FPIH")),
        ])
    };
    appears(
        "R125",
        &labelled("cu121", hip()),
        &labelled("rocm62", hip()),
    );
    appears(
        "R125",
        &labelled("rocm62", extension().needs("libcudart.so.12", &[]).build()),
        &labelled("rocm62", hip()),
    );
    appears(
        "R125",
        &labelled("cu121", fatbin()),
        &labelled("cu121", extension().needs("libcudart.so.12", &[]).build()),
    );
    appears(
        "R125",
        &labelled("rocm62torch2.5gfx942", fatbin()),
        &labelled("rocm62torch2.5gfx90agfx942", fatbin()),
    );
    appears(
        "R125",
        &labelled("rocm62torch2.5py311triton", hip()),
        &labelled("rocm62torch2.5py312triton", hip()),
    );
    appears(
        "R125",
        &labelled("rocm62torch2.5cp311", hip()),
        &labelled("rocm62torch2.5cp312", hip()),
    );
    appears(
        "R125",
        &labelled("rocm62triton", fatbin()),
        &labelled("rocm62ck", fatbin()),
    );
    appears(
        "R162",
        &Wheel::named("demo-1.0-python3-none-any.whl"),
        &Wheel::named("demo-1.0-py3-none-any.whl"),
    );
    let pure = Wheel::named("demo-1.0+rocm62ck-py3-none-any.whl");
    appears(
        "R125",
        &pure,
        &Wheel::named("demo-1.0+rocm62triton-py3-none-any.whl"),
    );
    let torch = || extension().needs("libc10.so", &[]).undefined(TORCH).build();
    appears(
        "R125",
        &labelled("rocm62torch2.13cxx11abifalse", torch()),
        &labelled("rocm62torch2.13cxx11abitrue", torch()),
    );
}

/// A label with gfx targets of a wheel that holds no code for any GPU.
#[test]
fn a_gfx_label_of_a_wheel_without_gpu_code_is_reported() {
    let hip = || extension().needs("libamdhip64.so.6", &[]).build();
    let of_label = |label: &str| labelled(label, hip());
    let warning = [("R125".to_owned(), "warning".to_owned())];
    assert_eq!(checked(&of_label("rocm62torch2.5gfx942"), &[]), warning);
    assert_eq!(
        checked(&of_label("rocm62torch2.5triton.gfx942"), &[]),
        warning
    );
    assert_eq!(checked(&of_label("rocm62torch2.5triton"), &[]), []);
    let pure = |label: &str| Wheel::named(&format!("demo-1.0+{label}-py3-none-any.whl"));
    appears(
        "R125",
        &pure("rocm62torch2.5gfx942"),
        &pure("rocm62torch2.5"),
    );
    let archive = bundle::kpack(&["gfx942"], &["demo"]);
    let with_archive = of_label("rocm62torch2.5gfx942").file(".kpack/demo_gfx942.kpack", archive);
    assert!(
        !checked(&with_archive, &[])
            .iter()
            .any(|(code, _)| code == "R125")
    );
}

/// An audit that does not search for GPU code does not know whether there is any.
#[test]
fn a_gfx_target_in_the_label_is_not_questioned_where_code_was_not_searched_for() {
    let compat = rock_matrix::compat::Compat::embedded();
    let wheel = labelled(
        "rocm62torch2.5gfx942",
        extension().needs("libamdhip64.so.6", &[]).build(),
    );
    let name = wheel.name().parse().unwrap();
    let is_questioned = |inspection| {
        let findings = check_under_name(&name, &wheel.bytes(), inspection, &compat).unwrap();
        findings.iter().any(|finding| finding.code.id == "R125")
    };
    assert!(is_questioned(Inspection::default()) && is_questioned(Inspection::GPU_TABLES));
    assert!(!is_questioned(Inspection::LIBRARIES) && !is_questioned(Inspection::LAYOUTS));
}

#[test]
fn a_label_that_cannot_be_read_is_reported() {
    let hip = || extension().needs("libamdhip64.so.6", &[]).build();
    appears(
        "R128",
        &labelled("pt211rocm62", hip()),
        &labelled("rocm62torch2.11", hip()),
    );
    assert_finding(&labelled("pt211rocm62", hip()), &[], "R128", "warning");
    assert_finding(&labelled("cpu", hip()), &[], "R128", "note");
    assert_finding(&labelled("rocm62torch2.5own", hip()), &[], "R128", "note");
}

#[test]
fn a_tag_for_another_system_is_refused_unless_it_is_meant() {
    let project = Project::new().bytes(NAME, &named(NAME, &extension()).bytes());
    let retag =
        |tag: &str| project.run(&["wheel", "retag", NAME, "--platform-tag", tag, "-w", "out"]);
    for (tag, code) in [
        ("manylinux_2_17_aarch64", "E003"),
        ("musllinux_1_1_x86_64", "E004"),
        ("win_amd64", "R101"),
        ("manylinux_2_5_x86_64", "R101"),
    ] {
        assert!(
            retag(tag)
                .exits(1)
                .stderr
                .starts_with(&format!("error[{code} ")),
            "{tag}"
        );
        assert!(!project.has("out"), "{tag}");
    }
    project
        .run(&[
            "wheel",
            "retag",
            NAME,
            "--platform-tag",
            "win_amd64",
            "-w",
            "out",
            "--force",
        ])
        .exits(1);
    project
        .run(&[
            "wheel",
            "retag",
            NAME,
            "--platform-tag",
            "win_amd64",
            "-w",
            "out",
            "--allow",
            "R101",
        ])
        .exits(0);
    retag("manylinux_2_17_x86_64").exits(0);
}

/// Another Python cannot import an extension module with a Python in its name.
#[test]
fn a_python_tag_that_modules_contradict_is_refused() {
    let module = "demo/_demo.cpython-312-x86_64-linux-gnu.so";
    let wheel = Wheel::named(NAME).executable(module, extension().build());
    let project = Project::new().bytes(NAME, &wheel.bytes());
    let retag = |more: &[&str]| {
        project.run(
            &[
                &["wheel", "retag", NAME, "--out", "out", "--python-tag"],
                more,
            ]
            .concat(),
        )
    };
    insta::assert_snapshot!(retag(&["py3"]).exits(1).stderr, @r"
    error[R125 name-not-in-contents]: the filename says py3, but `demo/_demo` exists only for cp312
    --> demo-1.0-py3-cp312-linux_x86_64.whl: demo/_demo.cpython-312-x86_64-linux-gnu.so
     = note: use `--allow R125` if this is intended
    help: use the tags of cp312, or build the module for the Pythons in the filename
    ");
    assert!(!project.has("out"));
    retag(&["+cp311"]).exits(1);
    retag(&["cp312", "--abi-tag", "abi3"]).exits(1);
    let allowed = retag(&["py3", "--abi-tag", "none", "--allow", "R125"]).exits(0);
    assert_eq!(allowed.stdout, "out/demo-1.0-py3-none-linux_x86_64.whl\n");
    assert!(
        allowed.stderr.starts_with("warning[R125 "),
        "{}",
        allowed.stderr
    );
    retag(&["cp312", "--build", "1"]).exits(0);
}

/// Only `check` found a tag without an architecture, after the wheel had it.
#[test]
fn a_tag_that_no_installer_knows_is_refused_unless_it_is_meant() {
    let pure = "demo-1.0-py3-none-any.whl";
    let project = Project::new()
        .bytes(NAME, &named(NAME, &extension()).bytes())
        .bytes(pure, &Wheel::named(pure).bytes());
    let retag = |wheel: &str, tag: &str, more: &[&str]| {
        let words = [
            &["wheel", "retag", wheel, "--platform-tag", tag, "-w", "out"],
            more,
        ];
        project.run(&words.concat())
    };
    let stderr = retag(NAME, "manylinux_2_28", &[]).exits(1).stderr;
    insta::assert_snapshot!(stderr, @r"
    error[R160 unknown-platform-tag]: `manylinux_2_28` is not a platform that installers know
    --> demo-1.0-cp312-cp312-manylinux_2_28.whl
     = note: use `--allow R160` if this is intended
    help: add the architecture: `manylinux_2_28_x86_64`
    ");
    for (wheel, tag, help) in [
        (
            NAME,
            "+manylinux2014",
            "add the architecture: `manylinux2014_x86_64`",
        ),
        (
            pure,
            "musllinux_1_2",
            "add the architecture: `musllinux_1_2_x86_64`",
        ),
        (pure, "linux", "add the architecture: `linux_x86_64`"),
    ] {
        let stderr = retag(wheel, tag, &[]).exits(1).stderr;
        assert!(
            stderr.starts_with("error[R160 ") && stderr.contains(help),
            "{tag}: {stderr}"
        );
    }
    let stderr = project.stderr_of(&[
        "wheel",
        "retag",
        pure,
        "--platform-tag",
        "something",
        "-w",
        "out",
    ]);
    assert!(
        stderr.contains("error[R160 ") && stderr.contains("such as `linux_x86_64`"),
        "{stderr}"
    );
    assert!(!project.has("out"));
    retag(NAME, "manylinux_2_28", &["--allow", "R160"]).exits(0);
    let built = "out/demo-1.0-cp312-cp312-manylinux_2_28.whl";
    let found = project.run(&["wheel", "check", built]).exits(1).stderr;
    assert!(
        found.contains("error[R160 ")
            && found.contains("add the architecture: `manylinux_2_28_x86_64`"),
        "{found}"
    );
}

#[test]
fn a_check_finds_all_that_verifying_finds() {
    let name = "demo-1.0%2Brocm62-cp312-cp312-linux_x86_64.whl";
    let wheel = labelled("rocm62", extension().build())
        .edit("RECORD", |text| text.replacen("sha256=", "sha256=A", 1));
    let project = Project::new().bytes(name, &wheel.bytes());
    for command in ["verify", "check"] {
        let stderr = project.run(&["wheel", command, name]).exits(1).stderr;
        assert!(
            stderr.contains("[W016 ") && stderr.contains("[W022 "),
            "{command}: {stderr}"
        );
    }
}

#[test]
fn a_code_that_does_not_exist_cannot_be_allowed() {
    let project = Project::new().bytes(NAME, &named(NAME, &extension()).bytes());
    let refused = project
        .run(&["wheel", "check", NAME, "--allow", "absolute-rpaht"])
        .exits(2);
    assert!(
        refused.stderr.contains("did you mean `absolute-rpath`"),
        "{}",
        refused.stderr
    );
}

#[test]
fn the_torch_that_an_extension_without_a_label_fits_is_reported() {
    let wheel = named(NAME, &extension().needs("libc10.so", &[]).undefined(TORCH));
    let project = Project::new().bytes(NAME, &wheel.bytes());
    let shown = project
        .run(&["wheel", "show", NAME, "--no-host-libs"])
        .exits(0);
    assert!(
        shown
            .stdout
            .contains("  torch     2.13 to 2.15, by the symbols that it needs\n"),
        "{}",
        shown.stdout
    );
    let document = project
        .run(&["wheel", "show", NAME, "--no-host-libs", "--json"])
        .exits(0)
        .json();
    assert_eq!(
        document["rock"]["torch"]["minors"],
        serde_json::json!(["2.13", "2.14", "2.15"])
    );
}

#[test]
fn the_json_of_check_has_the_keys_and_values_of_show() {
    let with_rocm = extension()
        .needs("libamdhip64.so.6", &[])
        .needs("libc10.so", &[])
        .undefined(TORCH);
    let (pure, cut) = ("pure-1.0-py3-none-any.whl", "cut-1.0-py3-none-any.whl");
    let project = Project::new()
        .bytes(NAME, &named(NAME, &with_rocm).bytes())
        .bytes(pure, &Wheel::named(pure).bytes())
        .bytes(cut, &Wheel::named(cut).bytes()[..100]);
    let document = |command: &str, name: &str, code: i32| {
        project
            .run(&["wheel", command, name, "--no-host-libs", "--json"])
            .exits(code)
            .json()
    };
    for name in [NAME, pure] {
        let (checked, shown) = (document("check", name, 0), document("show", name, 0));
        let facts = checked["rock"].as_object().unwrap();
        assert!(
            facts
                .iter()
                .all(|(key, value)| shown["rock"][key] == *value),
            "{facts:?}"
        );
        assert_eq!(checked.get("overall_tag"), shown.get("overall_tag"));
        assert_eq!(checked["gfx"], shown["rock"]["gfx"]["targets"]);
        assert_eq!(facts.contains_key("torch"), name == NAME);
    }
    let checked = document("check", NAME, 0);
    assert_eq!(checked["overall_tag"], "linux_x86_64");
    assert_eq!(
        checked["rock"],
        serde_json::json!({
            "claimed_tags": ["linux_x86_64"],
            "claimed_ok": true,
            "own_sym_tag": "manylinux_2_17_x86_64",
            "rocm_sonames": {"6": ["libamdhip64.so.6"]},
            "torch": checked["rock"]["torch"],
        })
    );
    let cut = document("check", cut, 1);
    assert!(
        cut.get("rock").is_none() && cut.get("overall_tag").is_none() && cut["ok"] == false,
        "{cut}"
    );
}

#[test]
fn a_pinned_torch_without_a_label_is_a_warning() {
    let requires = |requirement: &str| named(NAME, &extension()).requires(requirement);
    appears("W052", &requires("torch==2.5.1"), &requires("torch>=2.5"));
    assert_finding(&requires("torch==2.5.1"), &[], "W052", "warning");
}

#[test]
fn a_purelib_mismatch_is_reported_once_and_only_outside_of_data() {
    let claiming_purelib = |wheel: Wheel| {
        wheel.edit("WHEEL", |text| {
            text.replace("Purelib: false", "Purelib: true")
        })
    };
    let codes = |wheel: &Wheel| {
        checked(wheel, &[])
            .into_iter()
            .map(|(code, _)| code)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        codes(&claiming_purelib(named(NAME, &extension()))),
        ["R104"]
    );
    let in_data =
        Wheel::named(NAME).executable("demo-1.0.data/platlib/demo/_demo.so", extension().build());
    let only_data = claiming_purelib(in_data);
    let has_root = only_data
        .bytes()
        .windows(16)
        .any(|window| window == b"demo/__init__.py");
    assert_eq!(
        codes(&only_data),
        if has_root { vec!["W054"] } else { Vec::new() }
    );
}

#[test]
fn a_cut_off_data_file_is_a_remark_and_a_cut_off_library_a_fault() {
    let cut = || b"\x7fELF\x02\x01\x01 and no more".to_vec();
    assert_finding(
        &named(NAME, &extension()).file("demo/tests/data.bin", cut()),
        &[],
        "E001",
        "note",
    );
    assert_finding(
        &named(NAME, &extension()).file("demo/libx.so.1", cut()),
        &[],
        "E001",
        "error",
    );
    let data = named(NAME, &extension()).file("demo/tests/data.bin", cut());
    Project::new()
        .bytes(NAME, &data.bytes())
        .run(&["wheel", "repair", NAME])
        .exits(0);
    let bare = named(NAME, &Library::extension("_demo"));
    assert_finding(&bare, &[], "E005", "warning");
    Project::new()
        .bytes(NAME, &bare.bytes())
        .run(&["wheel", "repair", NAME])
        .exits(0);
}

#[test]
fn a_person_reads_what_was_checked() {
    let name = "demo-1.0+rocm62-cp312-cp312-linux_x86_64.whl";
    let fatbin = bundle::hip_bundle(&[("gfx90a", 0x3f)], 512);
    let wheel = labelled("rocm62", extension().needs("libamdhip64.so.6", &[]).build()).executable(
        "demo/_kernels.so",
        bundle::library(&[
            part(".hip_fatbin", fatbin),
            part(".hipFatBinSegment", bundle::wrappers(1, *b"FPIH")),
        ]),
    );
    let project = Project::new().bytes(name, &wheel.bytes());
    let text = project
        .run(&["wheel", "check", name, "--no-host-libs"])
        .exits(0)
        .stdout;
    let sizes = regex::Regex::new("[0-9.]+ kB").unwrap();
    insta::assert_snapshot!(sizes.replace_all(&text, "N kB"), @r"
    ok     demo-1.0+rocm62-cp312-cp312-linux_x86_64.whl
           linux_x86_64, with the symbols of manylinux_2_17_x86_64, ROCm 6 by libamdhip64.so.6
           gfx90a, 704 bytes of code in 1 file
           N kB in 6 files
    ");
    let more = project
        .run(&["wheel", "check", name, "--no-host-libs", "-v"])
        .exits(0)
        .stdout;
    assert!(more.starts_with(&text) && more.len() > text.len(), "{more}");
    let nothing = project.run(&["wheel", "check", "dist/*.whl"]).exits(1);
    assert!(
        nothing.stderr.contains("help: no file matches the pattern"),
        "{}",
        nothing.stderr
    );
}

#[test]
fn launchers_for_windows_do_not_bind_a_wheel_to_a_platform_and_code_for_gpus_in_them_does() {
    let name = "demo-1.0-py3-none-any.whl";
    let launcher = Wheel::named(name).file(
        "demo/t64.exe",
        bundle::pe_library(&[part(".text", vec![0x90; 64])]),
    );
    let fatbin = part(".hip_fat", bundle::hip_bundle(&[("gfx90a", 0x3f)], 512));
    let kernels = part(".hipFatB", bundle::wrappers(1, *b"FPIH"));
    appears(
        "R102",
        &Wheel::named(name).file("demo/k.dll", bundle::pe_library(&[fatbin, kernels])),
        &launcher,
    );
    assert_eq!(checked(&launcher, &[]), []);
}

#[test]
fn libraries_of_another_release_than_the_label_are_reported() {
    let needs = |one: &str, other: &str| extension().needs(one, &[]).needs(other, &[]).build();
    let mixed = || needs("libamdhip64.so.6", "librocblas.so.5");
    appears(
        "R125",
        &labelled("rocm62", mixed()),
        &labelled("rocm62", needs("libamdhip64.so.6", "librocblas.so.4")),
    );
    appears(
        "R125",
        &labelled("rocm71", mixed()),
        &labelled("rocm71", needs("libamdhip64.so.7", "librocblas.so.5")),
    );
    // A library may keep its SONAME over a major version, and facts know it of one of them.
    let kept = labelled("rocm57", needs("libamdhip64.so.5", "libamd_comgr.so.2"));
    assert_eq!(checked(&kept, &[]), []);
    // One of several variants is what the label says.
    let variants = labelled("rocm62", extension().build())
        .executable(
            "demo/lib_rocm62/m.so",
            Library::new().needs("libamdhip64.so.6", &[]).build(),
        )
        .executable(
            "demo/lib_rocm71/m.so",
            Library::new().needs("libamdhip64.so.7", &[]).build(),
        );
    assert!(
        !checked(&variants, &[])
            .iter()
            .any(|(code, _)| code == "R125")
    );
}

#[test]
fn what_lies_outside_of_all_variants_is_loaded_with_each_of_them() {
    let hip = |major: u32| {
        Library::new()
            .linked(LIBC)
            .needs(&format!("libamdhip64.so.{major}"), &[])
            .build()
    };
    let variants = || {
        Wheel::named(NAME)
            .executable("demo/lib_rocm62/m.so", hip(6))
            .executable("demo/lib_rocm71/m.so", hip(7))
    };
    appears(
        "R112",
        &variants().executable("demo/core.so", hip(6)),
        &variants(),
    );
    let alone = Wheel::named(NAME).executable("demo/lib_rocm71/m.so", hip(7));
    appears(
        "R112",
        &alone.executable("demo/core.so", hip(6)),
        &Wheel::named(NAME).executable("demo/core.so", hip(6)),
    );
    let findings = checked(
        &variants()
            .executable("demo/a.so", hip(5))
            .executable("demo/b.so", hip(4)),
        &[],
    );
    assert_eq!(
        findings.iter().filter(|(code, _)| code == "R112").count(),
        2,
        "one of each variant: {findings:?}"
    );
}

#[test]
fn a_search_path_is_judged_from_every_file_that_has_it() {
    let library = |soname: &str| {
        Library::new()
            .soname(soname)
            .linked(LIBC)
            .runpath("$ORIGIN/../..")
            .build()
    };
    let deep = || {
        Wheel::named(NAME)
            .executable("pkg/a/b/m.so", library("m"))
            .executable("pkg/a/b/n.so", library("n"))
    };
    let stderr_of = |wheel: &Wheel| {
        let project = Project::new().bytes(NAME, &wheel.bytes());
        project
            .run(&["wheel", "check", NAME, "--no-host-libs"])
            .exits(0)
            .stderr
    };
    assert_eq!(stderr_of(&deep()), "");
    let one = stderr_of(&deep().executable("pkg/z.so", library("z")));
    assert!(
        one.contains("[R113 ") && one.contains("pkg/z.so") && !one.contains("the same in"),
        "{one}"
    );
    let two = stderr_of(
        &deep()
            .executable("pkg/z.so", library("z"))
            .executable("pkg/y.so", library("y")),
    );
    assert!(
        two.contains("pkg/y.so") && two.contains("the same in 1 other file"),
        "{two}"
    );
}

#[test]
fn features_of_an_expected_target_have_no_order() {
    let object = |flags| Wheel::named(NAME).file("demo/k.co", bundle::code_object(flags, 2, 256));
    let (both, plain) = (object(0xe3f), object(0x53f));
    for expect in ["gfx90a:xnack-:sramecc+", "gfx90a:sramecc+:xnack-"] {
        assert_eq!(checked(&both, &["--expect", expect]), [], "{expect}");
        assert_finding(&plain, &["--expect", expect], "R120", "error");
    }
}

/// What `objcopy --only-keep-debug` leaves has program headers that lead nowhere, and no loader
/// takes it.
#[test]
fn split_off_debug_sections_are_no_library() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, split) = (folder.path().join("m.so"), folder.path().join("m.debug"));
    std::fs::write(&whole, extension().flag("-g").build()).unwrap();
    let mut command = std::process::Command::new("objcopy");
    assert!(
        command
            .arg("--only-keep-debug")
            .arg(&whole)
            .arg(&split)
            .status()
            .unwrap()
            .success()
    );
    let debug = std::fs::read(&split).unwrap();
    let wheel = named(NAME, &extension()).file("demo/_demo.so.debug", debug.clone());
    assert_eq!(checked(&wheel, &[]), []);
    let project = Project::new().bytes(NAME, &wheel.bytes());
    assert_eq!(project.run(&["wheel", "verify", NAME]).exits(0).stderr, "");
    // Stripping would leave nothing of it.
    let out = project
        .run(&["wheel", "repair", NAME, "--strip", "--no-host-libs"])
        .exits(0)
        .stdout;
    let repaired = std::fs::read(project.path(out.lines().next().unwrap().trim())).unwrap();
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(repaired)).unwrap();
    let mut kept = Vec::new();
    std::io::Read::read_to_end(
        &mut archive.by_name("demo/_demo.so.debug").unwrap(),
        &mut kept,
    )
    .unwrap();
    assert!(kept == debug);
}

/// Newer systems have what older ones have, so one of several claims tells it.
#[test]
fn a_library_from_elsewhere_is_reported_once_for_each_file() {
    let name =
        "demo-1.0-cp312-cp312-manylinux1_x86_64.manylinux_2_28_x86_64.manylinux_2_5_x86_64.whl";
    let needs = || {
        Library::extension("_demo")
            .needs(LIBC, &["GLIBC_2.2.5"])
            .needs("libother.so.1", &[])
    };
    let stderr_of = |wheel: &Wheel| {
        let project = Project::new().bytes(name, &wheel.bytes());
        project
            .run(&["wheel", "check", name, "--no-host-libs"])
            .exits(1)
            .stderr
    };
    insta::assert_snapshot!(stderr_of(&named(name, &needs())), @r"
    error[R105 library-from-elsewhere]: it needs libother.so.1, which `manylinux1_x86_64` does not guarantee
    --> demo-1.0-cp312-cp312-manylinux1_x86_64.manylinux_2_28_x86_64.manylinux_2_5_x86_64.whl: demo/_demo.so
    help: graft it with `rock-matrix wheel repair`, or pass `--exclude` if another package provides it
    ");
    let other = Library::new().soname("libother.so.1").linked(LIBC).build();
    insta::assert_snapshot!(stderr_of(&named(name, &needs()).executable("demo/_C/libother.so", other)), @r"
    error[R105 library-from-elsewhere]: it needs libother.so.1, which is in the wheel as `demo/_C/libother.so`, but not in its search path
    --> demo-1.0-cp312-cp312-manylinux1_x86_64.manylinux_2_28_x86_64.manylinux_2_5_x86_64.whl: demo/_demo.so
    help: link it with the search path `$ORIGIN/_C`
    ");
}
