//! For which GPUs a wheel holds code, and the gates that this and all else must pass.

use serde_json::Value;

use crate::support::bundle::{self, part};
use crate::support::elf::Library;
use crate::support::{Project, Wheel};

const NAME: &str = "demo-1.0-cp312-cp312-linux_x86_64.whl";
/// Machine numbers (LLVM AMDGPU usage, "AMDGPU ELF Header `e_flags`").
const GFX90A: (&str, u32) = ("gfx90a", 0x3f);
const GFX942: (&str, u32) = ("gfx942", 0x4c);
const GFX1100: (&str, u32) = ("gfx1100", 0x41);

/// A library with this section of bundles and so many wrappers.
fn library(fatbin: Vec<u8>, wrappers: usize) -> Vec<u8> {
    bundle::library(&[
        part(".hip_fatbin", fatbin),
        part(".hipFatBinSegment", bundle::wrappers(wrappers, *b"FPIH")),
    ])
}

fn wheel(library: Vec<u8>) -> Wheel {
    Wheel::named(NAME).executable("demo/_demo.so", library)
}

#[track_caller]
fn gfx(wheel: &Wheel, more: &[&str]) -> Value {
    let project = Project::new().bytes(wheel.name(), &wheel.bytes());
    let arguments = [&["wheel", "gfx", wheel.name(), "--json"], more].concat();
    serde_json::from_str::<Value>(&project.run(&arguments).exits(0).stdout).unwrap()["gfx"].take()
}

/// The codes that `wheel check` gives, and how bad they are.
#[track_caller]
fn checked(wheel: &Wheel, more: &[&str]) -> Vec<String> {
    let project = Project::new().bytes(wheel.name(), &wheel.bytes());
    let arguments = [
        &["wheel", "check", wheel.name(), "--json", "--no-host-libs"],
        more,
    ]
    .concat();
    let output = project.command(&arguments).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = document["findings"].as_array().unwrap();
    let is_bad = findings
        .iter()
        .any(|finding| finding["severity"] == "error");
    assert_eq!(
        (output.status.code(), document["ok"].as_bool()),
        (Some(i32::from(is_bad)), Some(!is_bad))
    );
    findings
        .iter()
        .map(|finding| finding["code"].as_str().unwrap().to_owned())
        .collect()
}

#[track_caller]
fn appears(code: &str, with: &Wheel, without: &Wheel, more: &[&str]) {
    let (with, without) = (checked(with, more), checked(without, more));
    assert!(with.iter().any(|one| one == code), "{code} in {with:?}");
    assert!(
        !without.iter().any(|one| one == code),
        "{code} in {without:?}"
    );
}

#[test]
fn bundles_of_every_form_are_listed_with_their_targets() {
    let raw = bundle::hip_bundle(&[GFX90A, GFX942], 4096);
    for (fatbin, kind) in [
        (raw.clone(), "bundle"),
        (bundle::compressed(&raw, 1, 0), "ccob1"),
        (bundle::compressed(&raw, 2, 1), "ccob2"),
        (bundle::compressed(&raw, 3, 1), "ccob3"),
    ] {
        let found = gfx(&wheel(library(fatbin, 1)), &[]);
        assert_eq!(
            found["targets"],
            serde_json::json!(["gfx90a", "gfx942"]),
            "{kind}"
        );
        let file = &found["files"]["demo/_demo.so"];
        assert_eq!(
            (&file["containers"], &file["places"]),
            (
                &serde_json::json!([kind]),
                &serde_json::json!([".hip_fatbin"])
            )
        );
        assert_eq!(
            (&file["bundles"], &file["wrappers"]),
            (&1.into(), &1.into())
        );
        assert_eq!(
            file["targets"]["gfx942"],
            serde_json::json!({"objects": 1, "bytes": 4096})
        );
    }
}

#[test]
fn code_outside_the_section_in_files_of_its_own_and_in_names_is_listed() {
    let embedded = bundle::library(&[part(".rodata", bundle::hip_bundle(&[GFX1100], 512))]);
    let all = wheel(embedded)
        .file("demo/kernel.co", bundle::code_object(0x3f, 2, 256))
        .file("demo/bundle.hipfb", bundle::hip_bundle(&[GFX942], 256))
        .file(
            "demo/library/TensileLibrary_Type_HH_gfx1201.dat",
            vec![1, 2, 3, 4],
        )
        .file(
            "demo/kernel.hip",
            "__global__ void k() {}".as_bytes().to_vec(),
        )
        .executable(
            "demo/windows.dll",
            bundle::pe_library(&[part(".hip_fat", bundle::hip_bundle(&[GFX90A], 256))]),
        );
    let found = gfx(&all, &[]);
    assert_eq!(
        found["targets"],
        serde_json::json!(["gfx90a", "gfx942", "gfx1100", "gfx1201"])
    );
    assert_eq!(
        found["files"]["demo/_demo.so"]["places"],
        serde_json::json!(["embedded"])
    );
    assert_eq!(
        found["files"]["demo/kernel.co"]["containers"],
        serde_json::json!(["elf"])
    );
    assert_eq!(found["sources"], 1);
}

#[test]
fn text_that_only_looks_like_a_bundle_is_no_code() {
    let bait = bundle::library(&[part(
        ".rodata",
        b"__CLANG_OFFLOAD_BUNDLE__ CCOB \x7fELF and so on".repeat(50),
    )]);
    let found = gfx(&wheel(bait), &[]);
    assert_eq!(
        (&found["targets"], &found["files"]),
        (&serde_json::json!([]), &serde_json::json!({}))
    );
}

#[test]
fn a_person_reads_targets_file_by_file() {
    let raw = bundle::hip_bundle(&[GFX90A, GFX942], 4096);
    let project = Project::new().bytes(
        NAME,
        &wheel(library(bundle::compressed(&raw, 2, 0), 1)).bytes(),
    );
    let text = project
        .run(&["wheel", "gfx", NAME, "--fast"])
        .exits(0)
        .stdout;
    let sizes = regex::Regex::new("[0-9]+ bytes for").unwrap();
    insta::assert_snapshot!(sizes.replace(&text, "N bytes for"), @r"
    demo-1.0-cp312-cp312-linux_x86_64.whl
      targets   gfx90a gfx942
                gfx90a: Instinct MI250X, Instinct MI250, Instinct MI210
                gfx942: Instinct MI300X, Instinct MI325X, Instinct MI300A
      demo/_demo.so: 1 compressed bundle (ccob2), N bytes for 8.4 kB unpacked
        gfx90a                  1 object, 4.0 kB
        gfx942                  1 object, 4.0 kB
    ");
}

#[test]
fn targets_other_than_expected_fail() {
    let both = wheel(library(bundle::hip_bundle(&[GFX90A, GFX942], 512), 1));
    let one = wheel(library(bundle::hip_bundle(&[GFX90A], 512), 1));
    appears("R120", &one, &both, &["--expect", "gfx942,gfx90a"]);
    appears("R120", &both, &one, &["--expect", "gfx90a"]);
    appears(
        "R120",
        &wheel(Library::extension("_demo").linked("libc.so.6").build()),
        &one,
        &["--expect", "gfx90a"],
    );
    let project = Project::new().bytes(NAME, &both.bytes());
    let gfx = |option: &str, targets: &str, code: i32| {
        let _ = project
            .run(&["wheel", "gfx", NAME, option, targets])
            .exits(code);
    };
    gfx("--require", "gfx90a", 0);
    gfx("--exact", "gfx90a", 1);
    gfx("--require", "gfx90a,gfx1100", 1);
    gfx("--exact", "gfx90a,gfx942", 0);
    let project = Project::new().bytes(NAME, &one.bytes());
    let run = project
        .run(&["wheel", "gfx", NAME, "--expect", "gfx942"])
        .exits(1);
    insta::assert_snapshot!(run.stderr, @r"
    error[R120 gfx-not-as-expected]: gfx942 is missing, and gfx90a was not requested
    --> demo-1.0-cp312-cp312-linux_x86_64.whl: demo/_demo.so
    help: check the variables that set the targets of the build, such as `PYTORCH_ROCM_ARCH`
    ");
}

#[test]
fn what_is_wrong_with_code_for_gpus_is_found() {
    let sound = || wheel(library(bundle::hip_bundle(&[GFX90A, GFX942], 512), 1));
    let with = |fatbin: Vec<u8>, wrappers: usize| wheel(library(fatbin, wrappers));
    let other = || library(bundle::hip_bundle(&[GFX90A], 512), 1);
    appears(
        "R121",
        &sound().executable("demo/_other.so", other()),
        &sound(),
        &[],
    );
    appears(
        "R122",
        &with(bundle::hip_bundle(&[], 512), 1),
        &sound(),
        &[],
    );
    appears(
        "R123",
        &with(bundle::hip_bundle(&[("gfx90a", 0x4c)], 512), 1),
        &sound(),
        &[],
    );
    let compressed = bundle::compressed(&bundle::hip_bundle(&[GFX90A], 512), 3, 1);
    appears("R124", &with(compressed.clone(), 1), &sound(), &[]);
    appears(
        "R127",
        &with(bundle::hip_bundle(&[GFX90A], 512), 3),
        &sound(),
        &[],
    );
    let cut = compressed[..compressed.len() - 9].to_vec();
    appears("R132", &with(cut, 1), &sound(), &[]);
    let labelled = |label: &str, target: (&str, u32)| {
        Wheel::named(&format!("demo-1.0+{label}-cp312-cp312-linux_x86_64.whl")).executable(
            "demo/_demo.so",
            library(bundle::hip_bundle(&[target], 512), 1),
        )
    };
    let generic = ("gfx11-generic", 0x54);
    appears(
        "R126",
        &labelled("rocm6.1", generic),
        &labelled("rocm6.4", generic),
        &[],
    );
    appears(
        "R126",
        &labelled("rocm6.1", generic),
        &labelled("rocm6.1", GFX90A),
        &[],
    );
    appears(
        "R125",
        &labelled("rocm6.4.gfx942", GFX90A),
        &labelled("rocm6.4.gfx90a", GFX90A),
        &[],
    );
    appears(
        "R125",
        &labelled("gfx942", GFX90A),
        &labelled("gfx942", GFX942),
        &[],
    );
    appears(
        "R125",
        &labelled("rocm6.4torch2.5triton", GFX90A),
        &labelled("rocm6.4torch2.5ck", GFX90A),
        &[],
    );
}

#[test]
fn archives_of_code_objects_belong_to_libraries_that_name_them() {
    let split = split_library;
    let whole = wheel(split()).file(
        ".kpack/demo_gfx942.kpack",
        bundle::kpack(&["gfx942"], &["demo"]),
    );
    appears("R130", &wheel(split()), &whole, &[]);
    appears(
        "R130",
        &wheel(split()).file("other.kpack", bundle::kpack(&["gfx942"], &["demo"])),
        &whole,
        &[],
    );
    let of = |names: &[&str]| {
        wheel(split()).file(
            ".kpack/demo_gfx942.kpack",
            bundle::kpack(&["gfx942"], names),
        )
    };
    for names in [&["demo2", "libdemo"][..], &["demo#"], &[]] {
        appears("R130", &of(names), &whole, &[]);
    }
    appears(
        "R130",
        &of(&["other"]),
        &of(&["other", "demo#0", "demo#1"]),
        &[],
    );
    assert_eq!(gfx(&whole, &[])["targets"], serde_json::json!(["gfx942"]));
}

#[test]
fn library_code_missing_in_all_archives_is_reported() {
    let host = wheel(split_library());
    let archive = |target: &str, name: &str| {
        Wheel::named(&format!("demo_device_{target}-1.0-py3-none-any.whl")).file(
            &format!(".kpack/demo_{target}.kpack"),
            bundle::kpack(&[target], &[name]),
        )
    };
    let wheels = [
        host,
        archive("gfx942", "demo"),
        archive("gfx1100", "other"),
        archive("gfx1201", "other"),
    ];
    let project = wheels.iter().fold(Project::new(), |project, wheel| {
        project.bytes(wheel.name(), &wheel.bytes())
    });
    let [host, with, without, more] = wheels.each_ref().map(Wheel::name);
    let check = |wheels: &[&str], code: i32| {
        project
            .run(&[&["wheel", "check", "--no-host-libs", "-q"], wheels].concat())
            .exits(code)
            .stderr
    };
    insta::assert_snapshot!(check(&[host, without, more], 1), @r"
    error[R130 kpack-missing]: no code for `demo` is in .kpack/demo_gfx1100.kpack and 1 other archive
    --> demo-1.0-cp312-cp312-linux_x86_64.whl: demo/_demo.so
    help: use the library and the archives of the same build, and pass all of its wheels together
    ");
    check(&[host, with, without, more], 0);
    // Code for a target is there where the archive has code of the library, and not where it is of
    // others.
    check(&[host, with, without, "--expect", "gfx942"], 0);
    let stderr = check(&[host, with, without, "--expect", "gfx942,gfx1100"], 1);
    assert!(
        stderr.contains("[R120 ") && stderr.contains("gfx1100 is missing"),
        "{stderr}"
    );
}

/// A library whose code lies in archives beside its folder.
fn split_library() -> Vec<u8> {
    bundle::library(&[
        part(
            ".rocm_kpack_ref",
            bundle::kpack_reference("demo", &["../.kpack/demo_@GFXARCH@.kpack"]),
        ),
        part(".hipFatBinSegment", bundle::wrappers(1, *b"HIPK")),
    ])
}

/// A wheel of one target, which holds nothing but archives for another wheel's libraries.
fn device_wheel(target: &str, archive: &str) -> Wheel {
    Wheel::named(&format!("demo_device_{target}-1.0-py3-none-any.whl"))
        .file(archive, bundle::kpack(&[target], &["demo"]))
}

#[test]
fn archives_may_lie_in_other_wheels_of_the_command_line() {
    let host = wheel(split_library());
    let devices = [
        ("gfx942", ".kpack/demo_gfx942.kpack"),
        (
            "gfx1100",
            "demo_device_gfx1100-1.0.data/platlib/.kpack/demo_gfx1100.kpack",
        ),
    ]
    .map(|(target, archive)| device_wheel(target, archive));
    let stray = device_wheel("gfx1201", ".kpack/other_gfx1201.kpack");
    let wheels = [&host, &devices[0], &devices[1], &stray];
    let project = wheels.iter().fold(Project::new(), |project, wheel| {
        project.bytes(wheel.name(), &wheel.bytes())
    });
    let documents = |arguments: &[&str]| -> Vec<Value> {
        let output = project.command(arguments).output().unwrap();
        String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let lists = |findings: &Value| -> Vec<String> {
        let of_code = findings
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| one["code"] == "R130" || one["code"] == "R120");
        of_code
            .map(|one| {
                format!(
                    "{} {}",
                    one["code"].as_str().unwrap(),
                    one["path"].as_str().unwrap()
                )
            })
            .collect()
    };
    let [host, first, second, stray] = wheels.map(Wheel::name);
    let checked = |arguments: &[&str]| -> Vec<Vec<String>> {
        let start = ["wheel", "check", "--json", "--no-host-libs"];
        documents(&[&start, arguments].concat())
            .iter()
            .map(|one| lists(&one["findings"]))
            .collect()
    };
    assert_eq!(checked(&[host]), [["R130 demo/_demo.so"]]);
    assert_eq!(checked(&[first]), [[""; 0]]);
    assert_eq!(checked(&[host, first, second]), [[""; 0]; 3]);
    assert_eq!(
        checked(&[stray, host, first]),
        [vec!["R130 .kpack/other_gfx1201.kpack"], vec![], vec![]]
    );
    assert_eq!(
        checked(&[host, first, second, "--expect", "gfx942,gfx1100"]),
        [[""; 0]; 3]
    );
    assert_eq!(
        checked(&[host, first, "--expect", "gfx942,gfx1100"]),
        [vec!["R120 demo/_demo.so"], vec![]]
    );

    let shown = |arguments: &[&str]| {
        documents(&[&["wheel", "show", "--json", "--no-host-libs"], arguments].concat())
    };
    assert_eq!(
        lists(&shown(&[host])[0]["rock"]["findings"]),
        ["R130 demo/_demo.so"]
    );
    let both = shown(&[host, first]);
    assert_eq!(lists(&both[0]["rock"]["findings"]), [""; 0]);
    assert_eq!(
        both[0]["rock"]["gfx"]["elsewhere"],
        serde_json::json!(["gfx942"])
    );

    let listed = documents(&["wheel", "gfx", "--json", host, first, second]);
    assert_eq!(listed[0]["gfx"]["targets"], serde_json::json!([]));
    assert_eq!(
        listed[0]["gfx"]["elsewhere"],
        serde_json::json!(["gfx942", "gfx1100"])
    );
    let archives = &listed[0]["gfx"]["files"]["demo/_demo.so"]["archives"];
    assert_eq!(
        archives["gfx942"],
        serde_json::json!([{"wheel": first, "path": ".kpack/demo_gfx942.kpack"}])
    );
    let text = project.run(&["wheel", "gfx", host, first]).exits(0).stdout;
    insta::assert_snapshot!(text, @r"
    demo-1.0-cp312-cp312-linux_x86_64.whl
      targets   none
      elsewhere gfx942
      demo/_demo.so: code split off
        gfx942                  .kpack/demo_gfx942.kpack of demo_device_gfx942-1.0-py3-none-any.whl
    demo_device_gfx942-1.0-py3-none-any.whl
      targets   gfx942
                gfx942: Instinct MI300X, Instinct MI325X, Instinct MI300A
      .kpack/demo_gfx942.kpack: 1 archive, 149 bytes
        gfx942
    ");
}

#[test]
fn a_layout_that_loaders_refuse_is_found() {
    let sound = Library::extension("_demo").linked("libc.so.6").build();
    let mut broken = sound.clone();
    let table = usize::try_from(u64::from_le_bytes(broken[32..40].try_into().unwrap())).unwrap();
    let load = (0..20)
        .map(|entry| table + 56 * entry)
        .rfind(|at| broken[*at] == 1)
        .unwrap();
    // The last loaded segment claims more bytes than the file has.
    broken[load + 34] = 0x70;
    broken[load + 42] = 0x70;
    appears("R131", &wheel(broken), &wheel(sound), &[]);
}

/// As in `ptxas` of upstream's triton: it loads all the same.
#[test]
fn a_program_whose_first_segment_is_writable_is_no_error() {
    let sound = Library::program().linked("libc.so.6").build();
    let mut writable = sound.clone();
    let table = usize::try_from(u64::from_le_bytes(sound[32..40].try_into().unwrap())).unwrap();
    let load = (0..20)
        .map(|entry| table + 56 * entry)
        .find(|at| writable[*at] == 1)
        .unwrap();
    writable[load + 4] = 7;
    appears("R134", &wheel(writable.clone()), &wheel(sound), &[]);
    let name = "demo-1.0-cp312-cp312-linux_x86_64.whl";
    let wheel = Wheel::named(name).executable("demo/bin/tool", writable);
    let project = Project::new().bytes(name, &wheel.bytes());
    for command in ["check", "verify"] {
        let stderr = project.run(&["wheel", command, name]).exits(0).stderr;
        assert!(
            stderr.contains("warning[R134 writable-first-segment]") && !stderr.contains("R131"),
            "{command}: {stderr}"
        );
    }
}

#[test]
fn every_gate_is_in_one_check_and_what_is_known_may_be_allowed() {
    let name = "demo-1.0+rocm62-cp312-cp312-manylinux_2_17_x86_64.whl";
    let library = Library::extension("_demo")
        .needs("libc.so.6", &["GLIBC_2.34"])
        .needs("libamdhip64.so.7", &[]);
    let wheel = Wheel::named(name)
        .executable("demo/_demo.so", library.runpath("/opt/rocm/lib").build())
        .edit("RECORD", |text| text.replacen("sha256=", "sha256=A", 1));
    assert_eq!(
        checked(&wheel, &["--max-size", "100B"]),
        ["W022", "R101", "R110", "R125", "R140"]
    );
    assert_eq!(checked(&wheel, &["--max-size", "100MB"]).len(), 4);
    let project = Project::new().bytes(name, &wheel.bytes());
    let allow = [
        "wheel",
        "check",
        name,
        "--no-host-libs",
        "--allow",
        "R101,absolute-rpath,w022,name-not-in-contents",
    ];
    let run = project.run(&allow).exits(0);
    assert!(
        run.stdout
            .starts_with(&format!("ok     {name}\n       manylinux_2_17_x86_64, ")),
        "{}",
        run.stdout
    );
}

#[test]
fn wheels_are_reported_in_argument_order_unreadable_ones_too() {
    let one = wheel(library(bundle::hip_bundle(&[GFX90A], 512), 1));
    let project = Project::new()
        .bytes(NAME, &one.bytes())
        .bytes("torn-1.0-py3-none-any.whl", b"no zip");
    let names = |first: &str, second: &str| {
        let text = project
            .run(&["wheel", "gfx", "--json", first, second])
            .exits(1)
            .stdout;
        let documents = text
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        documents
            .map(|one| one["wheel"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let torn = "torn-1.0-py3-none-any.whl";
    assert_eq!(names(NAME, torn), [NAME, torn]);
    assert_eq!(names(torn, NAME), [torn, NAME]);
}

#[test]
fn a_person_reads_how_many_of_each_kind_there_are() {
    let source = |count: usize, ending: &str| {
        (0..count).fold(
            wheel(library(bundle::hip_bundle(&[GFX90A], 512), 1)),
            |wheel, number| {
                wheel.file(
                    &format!("demo/s{number}.{ending}"),
                    "some text".as_bytes().to_vec(),
                )
            },
        )
    };
    let text = |wheel: Wheel| {
        Project::new()
            .bytes(NAME, &wheel.bytes())
            .run(&["wheel", "gfx", NAME])
            .exits(0)
            .stdout
    };
    assert!(text(source(1, "hip")).ends_with("  1 source file (not GPU code)\n"));
    let two = text(source(2, "bc").file("demo/k.co", bundle::code_object(0x3f, 2, 256)));
    assert!(two.ends_with("  2 bitcode files (not GPU code)\n"), "{two}");
    assert!(
        two.contains("demo/_demo.so: 1 bundle, ") && two.contains("demo/k.co: 1 code object, "),
        "{two}"
    );
}

#[test]
fn a_folder_represents_its_wheels() {
    let bytes = wheel(library(bundle::hip_bundle(&[GFX942], 512), 1)).bytes();
    let project = Project::new()
        .bytes(&format!("dist/{NAME}"), &bytes)
        .file("dist/notes.txt", "")
        .file("none/a.txt", "");
    for command in [&["wheel", "show", "--no-host-libs"][..], &["wheel", "gfx"]] {
        let of = |path: &str, exit| project.run(&[command, &[path]].concat()).exits(exit);
        let whole = of("dist", 0);
        assert_eq!(whole.stdout, of(&format!("dist/{NAME}"), 0).stdout);
        assert!(whole.stdout.contains("gfx942"), "{}", whole.stdout);
        let empty = of("none", 1).stderr;
        assert!(empty.contains("there are no wheels in `none`"), "{empty}");
    }
}
