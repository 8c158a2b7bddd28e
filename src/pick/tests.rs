use std::collections::BTreeSet;

use super::{
    Axis, Candidate, Decision, GfxCode, Libc, Machine, Offers, PrereleaseMode, PythonRange, Rules,
    candidates, decide,
};
use crate::compat::Compat;
use crate::names::{VersionSpecifiers, WheelName};
use crate::publish::{Accelerated, Listing, Manifest, ManifestFile};

const BASE: &str = "https://example.org/r/";

fn row(name: &str) -> ManifestFile {
    ManifestFile {
        name: name.to_owned(),
        sha256: crate::names::Digest::new([0xab; 32]),
        size_bytes: 7,
        distribution: String::new(),
        version: String::new(),
        label: None,
        accelerator: None,
        torch: None,
        git: None,
        backend: None,
        build: None,
        python: vec![],
        abi: vec![],
        platform: vec![],
        covers: vec![],
        requires_python: None,
        gfx_from: None,
        run_time: crate::config::RunTime::default(),
        gfx: vec![],
        metadata_sha256: None,
        index: String::new(),
    }
}

fn wheels_of(rows: Vec<ManifestFile>) -> Vec<Candidate> {
    let mut offers = Offers::default();
    offers.add_manifest(&Manifest::new(None, None, rows), BASE);
    candidates(
        offers.into_wheels(),
        &Compat::embedded(),
        PrereleaseMode::IfNecessary,
    )
}

fn wheels(names: &[&str]) -> Vec<Candidate> {
    wheels_of(names.iter().map(|name| row(name)).collect())
}

/// ROCm, torch, Python and the rest of a usual machine.
fn machine(rocm: &str, torch: &str, python: &str) -> Machine {
    Machine {
        rocm: rocm.parse().ok(),
        torch: torch.parse().ok(),
        python: python.parse().ok(),
        platform: Some("linux_x86_64".to_owned()),
        libc: "glibc 2.35".parse().ok(),
        gfx: BTreeSet::from(["gfx942".to_owned()]),
        ..Machine::default()
    }
}

fn decided(wheels: &[Candidate], machine: &Machine) -> Decision {
    decide(wheels, machine, &Rules::of(&Compat::embedded()))
}

/// The best wheel, or the differences of the nearest.
#[track_caller]
fn check(names: &[&str], machine: &Machine, expect: &str) {
    let wheels = wheels(names);
    let decision = decided(&wheels, machine);
    let told = match decision.fits.first() {
        Some(fit) => wheels[fit.index].offer.file.clone(),
        None => decision.near[0]
            .differences
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" | "),
    };
    assert!(told.starts_with(expect), "{told}\nnot {expect}");
}

const CP312: &str = "flash_attn-2.8.3+rocm64torch2.9-cp312-cp312-manylinux_2_28_x86_64.whl";
const TRITON: &str = "flash_attn-2.8.3+rocm64torch2.9triton-py3-none-any.whl";

#[test]
fn the_wheel_for_all_that_a_machine_has_is_taken() {
    let others = [
        "flash_attn-2.8.3+rocm64torch2.9-cp311-cp311-manylinux_2_28_x86_64.whl",
        "flash_attn-2.8.3+rocm64torch2.8-cp312-cp312-manylinux_2_28_x86_64.whl",
        "flash_attn-2.8.3+rocm72torch2.9-cp312-cp312-manylinux_2_28_x86_64.whl",
        "flash_attn-2.7.4+rocm64torch2.9-cp312-cp312-manylinux_2_28_x86_64.whl",
        TRITON,
    ];
    let names: Vec<&str> = others.into_iter().chain([CP312]).collect();
    check(&names, &machine("6.4.1", "2.9.1", "3.12"), CP312);
    let decision = decided(&wheels(&names), &machine("6.4.1", "2.9.1", "3.12"));
    assert_eq!(
        decision.fits.len(),
        3,
        "triton and the older version fit too"
    );
}

#[test]
fn the_order_of_what_is_published_changes_nothing() {
    let names = [
        CP312,
        TRITON,
        "flash_attn-2.7.4+rocm64torch2.9-cp312-cp312-linux_x86_64.whl",
    ];
    let reversed: Vec<&str> = names.iter().rev().copied().collect();
    let files = |wheels: &[Candidate]| {
        wheels
            .iter()
            .map(|wheel| wheel.offer.file.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(files(&wheels(&names)), files(&wheels(&reversed)));
}

#[test]
fn the_newest_version_wins_by_number_and_a_pre_release_never_against_a_release() {
    let name =
        |version: &str| format!("a-{version}+rocm64torch2.9-cp312-cp312-manylinux_2_28_x86_64.whl");
    let names = ["2.9.0", "2.10.0", "2.11.0rc1"].map(name);
    check(
        &names.each_ref().map(String::as_str),
        &machine("6.4", "2.9", "3.12"),
        "a-2.10.0",
    );
}

#[test]
fn a_build_number_supersedes_by_number() {
    let name =
        |build: &str| format!("a-1+rocm64torch2.9{build}-cp312-cp312-manylinux_2_28_x86_64.whl");
    let names = ["", "-9", "-10"].map(name);
    check(
        &names.each_ref().map(String::as_str),
        &machine("6.4", "2.9", "3.12"),
        "a-1+rocm64torch2.9-10-cp312",
    );
}

#[test]
fn a_later_minor_of_rocm_fits_by_a_fact_that_is_told_and_an_earlier_one_does_not() {
    let name = "a-1+rocm71torch2.10-cp312-cp312-manylinux_2_28_x86_64.whl";
    let wheels = wheels(&[name]);
    let decision = decided(&wheels, &machine("7.2.1", "2.10", "3.12"));
    let note = decision.fits[0]
        .notes
        .iter()
        .find(|note| note.axis == Axis::Rocm)
        .unwrap();
    assert!(
        note.text
            .starts_with("the wheel is for 7.1, you have 7.2.1; one wheel serves the later"),
        "{}",
        note.text
    );
    assert!(
        note.text.contains("(reported, checked 20") && !note.text.contains(".yaml"),
        "{}",
        note.text
    );
    check(
        &[name],
        &machine("7.0", "2.10", "3.12"),
        "ROCm: the wheel is for 7.1, you have 7.0; only the forward",
    );
    check(
        &[name],
        &machine("6.4", "2.10", "3.12"),
        "ROCm: the wheel is for 7.1, you have 6.4; the libraries have",
    );
    check(&[name], &machine("7.1.1", "2.10", "3.12"), name);
}

#[test]
fn another_patch_of_rocm_fits_with_a_note() {
    let name = "a-1+rocm6.2.4torch2.6-cp312-cp312-manylinux_2_28_x86_64.whl";
    let notes = |rocm: &str| {
        let decision = decided(&wheels(&[name]), &machine(rocm, "2.6", "3.12"));
        decision.fits[0]
            .notes
            .iter()
            .filter(|note| note.axis == Axis::Rocm)
            .count()
    };
    assert_eq!([notes("6.2.4"), notes("6.2"), notes("6.2.3")], [0, 0, 1]);
}

#[test]
fn torch_must_be_of_the_same_minor_and_a_nightly_is_another() {
    check(
        &[CP312],
        &machine("6.4", "2.10.0", "3.12"),
        "torch: the wheel is for 2.9, you have 2.10; torch's C++",
    );
    check(
        &[CP312],
        &machine("6.4", "2.9.0.dev20261101", "3.12"),
        "torch: the wheel is for 2.9, you have 2.9dev20261101",
    );
    check(&[CP312], &machine("6.4", "2.9.1+rocm6.4", "3.12"), CP312);
    let without = "a-1+rocm52-cp312-cp312-manylinux_2_28_x86_64.whl";
    check(&[without], &machine("5.2", "2.9", "3.12"), without);
}

#[test]
fn free_threaded_pythons_have_wheels_of_their_own() {
    let free = "a-1+rocm64torch2.9-cp313-cp313t-manylinux_2_28_x86_64.whl";
    check(&[free], &machine("6.4", "2.9", "3.13t"), free);
    check(
        &[free],
        &machine("6.4", "2.9", "3.13"),
        "Python: the wheel is for 3.13t, you have 3.13",
    );
    check(&[TRITON], &machine("6.4", "2.9", "3.13t"), TRITON);
    let stable = "a-1+rocm64torch2.9-cp39-abi3-manylinux_2_28_x86_64.whl";
    check(&[stable], &machine("6.4", "2.9", "3.14"), stable);
    check(
        &[stable],
        &machine("6.4", "2.9", "3.8"),
        "Python: the wheel is for 3.9 or newer, you have 3.8",
    );
    check(
        &[stable],
        &machine("6.4", "2.9", "3.13t"),
        "Python: the wheel is for 3.9 or newer, you have 3.13t",
    );
}

#[test]
fn requires_python_narrows_what_the_tags_say() {
    let shown = |name: &str, specifiers: &str| {
        let ranges = PythonRange::of(&name.parse::<WheelName>().unwrap(), Some(specifiers));
        ranges
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" or ")
    };
    assert_eq!(shown("a-1-py3-none-any.whl", ">=3.9"), "3.9 or newer");
    assert_eq!(shown("a-1-py3-none-any.whl", ">=3.9,<3.13"), "3.9 to 3.12");
    assert_eq!(shown("a-1-py2.py3-none-any.whl", ">=2.7"), "any 3");
    assert_eq!(
        shown("a-1-cp311.cp312-cp311.cp312-linux_x86_64.whl", ">=3.12"),
        "3.12"
    );
    assert_eq!(shown("a-1-cp311-cp311-linux_x86_64.whl", ">=3.12"), "");
    assert_eq!(shown("a-1-cp311-cp311-linux_x86_64.whl", "what?"), "3.11");
    assert_eq!(
        shown("a-1-py3-none-any.whl", ">=3.8,!=3.11.*"),
        "3.8 to 3.10 or 3.12 or newer"
    );
    assert_eq!(
        shown("a-1-py3-none-any.whl", ">=3.8,!=3.9.*,!=3.11.*,<3.13"),
        "3.8 or 3.10 or 3.12"
    );
    assert_eq!(
        shown("a-1-cp39-abi3-linux_x86_64.whl", "!=3.11.*"),
        "3.9 to 3.10 or 3.12 or newer"
    );
    assert_eq!(
        shown("a-1-cp311-cp311-linux_x86_64.whl", ">=3.8,!=3.11.*"),
        ""
    );
    assert_eq!(shown("a-1-py3-none-any.whl", "==3.12.4"), "3.12");
    assert_eq!(
        shown("a-1-cp312-cp312-linux_x86_64.whl", ">=3.12.3,<3.12.8"),
        "3.12"
    );
}

/// The Pythons from 3.6 to 3.15 of which `packaging` 26.3 takes a patch release,
/// `SpecifierSet(TEXT).contains("3.X.Y")`.
#[test]
fn requires_python_allows_what_packaging_allows() {
    let name: WheelName = "a-1-py3-none-any.whl".parse().unwrap();
    let fitting = |specifiers: &str| {
        let ranges = PythonRange::of(&name, Some(specifiers));
        let has = |minor: &u8| {
            ranges
                .iter()
                .any(|range| range.has(format!("3.{minor}").parse().unwrap()))
        };
        (6..=15).filter(has).collect::<Vec<u8>>()
    };
    let patches = |specifiers: &str| {
        let specifiers: VersionSpecifiers = specifiers.parse().unwrap();
        let is_allowed = |minor: u8, patch: u8| {
            specifiers.contains(&format!("3.{minor}.{patch}").parse().unwrap())
        };
        (6..=15)
            .filter(|minor| (0..=60).any(|patch| is_allowed(*minor, patch)))
            .collect::<Vec<u8>>()
    };
    for (specifiers, expected) in [
        (">=3.8,!=3.11.*", &[8, 9, 10, 12, 13, 14, 15][..]),
        ("==3.12.4", &[12]),
        (">=3.12.3,<3.12.8", &[12]),
        (">3.12.3,<3.12.5", &[12]),
        (">3.12.3,<3.12.4", &[]),
        (">=3.12.5,!=3.12.*", &[13, 14, 15]),
        ("~=3.12.3", &[12]),
        ("~=3.12", &[12, 13, 14, 15]),
        ("===3.12.4", &[12]),
        ("==3.12", &[12]),
        ("<=3.12", &[6, 7, 8, 9, 10, 11, 12]),
        (">3.12", &[12, 13, 14, 15]),
        ("!=3.12.0,!=3.12.1,<3.12.2,>=3.12", &[]),
        ("!=3.9.0,!=3.9.1,<3.10,>=3.9", &[9]),
        (
            ">=3.6.2,<4,!=3.7.*,!=3.10.1",
            &[6, 8, 9, 10, 11, 12, 13, 14, 15],
        ),
        ("==3.12.*,==3.13.*", &[]),
        ("<3", &[]),
    ] {
        assert_eq!(
            (fitting(specifiers), patches(specifiers)),
            (expected.to_vec(), expected.to_vec()),
            "{specifiers}"
        );
    }
}

/// Tags that pip takes on no machine are for none.
#[test]
fn tags_that_pip_refuses_fit_no_machine() {
    let judged = |tags: &str, python: &str, platform: &str, libc: &str| {
        let name = format!("a-1+rocm64torch2.9-{tags}.whl");
        let machine = Machine {
            platform: Some(platform.to_owned()),
            libc: Some(libc.parse().unwrap()),
            ..machine("6.4", "2.9", python)
        };
        let decision = decided(&wheels(&[&name]), &machine);
        let near = decision
            .near
            .first()
            .map(|near| near.differences[0].to_string());
        format!("{tags}: {}\n", near.unwrap_or_else(|| "fits".to_owned()))
    };
    let x86 = |tags: &str| judged(tags, "3.12", "linux_x86_64", "glibc 2.35");
    let verdicts = [
        x86("cp31-abi3-linux_x86_64"),
        x86("cp32-abi3-linux_x86_64"),
        x86("cp3-abi3-linux_x86_64"),
        x86("cp312-cp312-any"),
        x86("cp38-abi3-any"),
        x86("cp312-none-any"),
        x86("cp312-cp312-any.manylinux_2_39_x86_64"),
        x86("cp0312-none-any"),
        judged(
            "cp37-cp37-linux_x86_64",
            "3.7",
            "linux_x86_64",
            "glibc 2.35",
        ),
        judged(
            "cp37-cp37m-linux_x86_64",
            "3.7",
            "linux_x86_64",
            "glibc 2.35",
        ),
        judged(
            "cp312-cp312t-linux_x86_64",
            "3.12t",
            "linux_x86_64",
            "glibc 2.35",
        ),
        x86("cp312-cp312-manylinux_2_4_x86_64"),
        x86("cp312-cp312-manylinux_2_5_x86_64"),
        x86("cp312-cp312-manylinux_02_28_x86_64"),
        x86("cp312-cp312-manylinux_1_9_x86_64"),
        judged(
            "cp312-cp312-manylinux_2_16_aarch64",
            "3.12",
            "linux_aarch64",
            "glibc 2.35",
        ),
        judged(
            "cp312-cp312-manylinux_2_17_aarch64",
            "3.12",
            "linux_aarch64",
            "glibc 2.35",
        ),
        judged(
            "cp312-cp312-manylinux1_aarch64",
            "3.12",
            "linux_aarch64",
            "glibc 2.35",
        ),
        judged(
            "cp312-cp312-manylinux_2_17_mips64",
            "3.12",
            "linux_mips64",
            "glibc 2.35",
        ),
        judged(
            "cp312-cp312-musllinux_0_9_x86_64",
            "3.12",
            "linux_x86_64",
            "musl 1.2",
        ),
        judged(
            "cp312-cp312-musllinux_1_0_x86_64",
            "3.12",
            "linux_x86_64",
            "musl 1.2",
        ),
    ];
    insta::assert_snapshot!(verdicts.concat(), @r"
    cp31-abi3-linux_x86_64: Python: the wheel is for no CPython, you have 3.12
    cp32-abi3-linux_x86_64: fits
    cp3-abi3-linux_x86_64: Python: the wheel is for no CPython, you have 3.12
    cp312-cp312-any: Python: the wheel is for no CPython, you have 3.12
    cp38-abi3-any: Python: the wheel is for no CPython, you have 3.12
    cp312-none-any: fits
    cp312-cp312-any.manylinux_2_39_x86_64: system: the wheel is for linux_x86_64 with glibc 2.39 or newer, you have linux_x86_64 with glibc 2.35
    cp0312-none-any: Python: the wheel is for no CPython, you have 3.12
    cp37-cp37-linux_x86_64: Python: the wheel is for no CPython, you have 3.7
    cp37-cp37m-linux_x86_64: fits
    cp312-cp312t-linux_x86_64: Python: the wheel is for no CPython, you have 3.12t
    cp312-cp312-manylinux_2_4_x86_64: system: the wheel is for manylinux_2_4_x86_64, you have linux_x86_64 with glibc 2.35
    cp312-cp312-manylinux_2_5_x86_64: fits
    cp312-cp312-manylinux_02_28_x86_64: system: the wheel is for manylinux_02_28_x86_64, you have linux_x86_64 with glibc 2.35
    cp312-cp312-manylinux_1_9_x86_64: system: the wheel is for manylinux_1_9_x86_64, you have linux_x86_64 with glibc 2.35
    cp312-cp312-manylinux_2_16_aarch64: system: the wheel is for manylinux_2_16_aarch64, you have linux_aarch64 with glibc 2.35
    cp312-cp312-manylinux_2_17_aarch64: fits
    cp312-cp312-manylinux1_aarch64: system: the wheel is for manylinux1_aarch64, you have linux_aarch64 with glibc 2.35
    cp312-cp312-manylinux_2_17_mips64: system: the wheel is for manylinux_2_17_mips64, you have linux_mips64 with glibc 2.35
    cp312-cp312-musllinux_0_9_x86_64: system: the wheel is for musllinux_0_9_x86_64, you have linux_x86_64 with musl 1.2
    cp312-cp312-musllinux_1_0_x86_64: fits
    ");
    let nobody = decided(
        &wheels(&["a-1-pp310-pypy310_pp73-linux_x86_64.whl"]),
        &Machine::default(),
    );
    let difference = nobody.near[0].differences[0].to_string();
    assert_eq!(
        difference,
        "Python: the wheel is for no CPython, you have CPython"
    );
}

#[test]
fn glibc_musl_and_the_processor_are_asked_for() {
    let on = |platform: &str, libc: Option<&str>| Machine {
        platform: Some(platform.to_owned()),
        libc: libc.map(|libc| libc.parse().unwrap()),
        ..machine("6.4", "2.9", "3.12")
    };
    let old = "system: the wheel is for linux_x86_64 with glibc 2.28 or newer, you have linux_x86_64 with glibc 2.17";
    check(&[CP312], &on("linux_x86_64", Some("glibc 2.17")), old);
    check(
        &[CP312],
        &on("linux_x86_64", Some("musl 1.2")),
        "system: the wheel is for linux_x86_64 with glibc 2.28",
    );
    check(
        &[CP312],
        &on("linux_aarch64", Some("glibc 2.35")),
        "system: the wheel is for linux_x86_64",
    );
    check(&[TRITON], &on("win_amd64", None), TRITON);
    let musl = "a-1+rocm64torch2.9-cp312-cp312-musllinux_1_2_x86_64.whl";
    check(&[musl], &on("linux_x86_64", Some("musl 1.2")), musl);
    check(
        &[musl],
        &on("linux_x86_64", Some("glibc 2.35")),
        "system: the wheel is for linux_x86_64 with musl 1.2",
    );
    let two = "a-1+rocm64torch2.9-cp312-cp312-manylinux2014_x86_64.manylinux_2_28_x86_64.whl";
    check(&[two], &on("linux_x86_64", Some("glibc 2.17")), two);
    let plain = "a-1+rocm64torch2.9-cp312-cp312-linux_x86_64.whl";
    let decision = decided(&wheels(&[plain]), &on("linux_x86_64", Some("glibc 2.17")));
    assert_eq!(
        decision.fits[0].notes[0].text,
        "the tag linux_x86_64 does not say which C library the wheel needs"
    );
}

#[test]
fn a_wheel_has_code_for_the_gpus_that_its_manifest_names_and_without_one_it_is_not_known() {
    let targets = |list: &[&str]| {
        wheels_of(vec![ManifestFile {
            gfx: list.iter().map(|target| (*target).to_owned()).collect(),
            ..row(CP312)
        }])
    };
    let on = |gfx: &[&str]| Machine {
        gfx: gfx.iter().map(|target| (*target).to_owned()).collect(),
        ..machine("6.4", "2.9", "3.12")
    };
    assert_eq!(
        decided(&targets(&["gfx90a:xnack-", "gfx942"]), &on(&["gfx90a"])).fits[0].notes,
        []
    );
    let missing = decided(&targets(&["gfx90a"]), &on(&["gfx1100"]));
    assert_eq!(
        missing.near[0].differences[0].to_string(),
        "GPU: the wheel is for gfx90a, you have gfx1100"
    );
    let partly = decided(&targets(&["gfx1100"]), &on(&["gfx1100", "gfx1036"]));
    assert_eq!(
        partly.fits[0].notes[0].text,
        "the wheel has code for gfx1100 and none for gfx1036"
    );
    assert_eq!(
        targets(&["gfx110X-all"])[0].gfx,
        GfxCode::Targets(
            ["gfx1100", "gfx1101", "gfx1102", "gfx1103"]
                .map(str::to_owned)
                .to_vec()
        )
    );
    let unsaid = decided(&wheels(&[CP312]), &on(&["gfx1100"]));
    assert_eq!(
        unsaid.fits[0].notes[0].text,
        "nothing says which GPUs the wheel has code for"
    );
    assert_eq!(
        decided(&wheels(&[TRITON]), &on(&["gfx1100"])).fits[0].notes,
        []
    );
}

#[test]
fn a_backend_is_a_wish_and_the_default_one_comes_first() {
    let asked = |backend: &str| Machine {
        backend: Some(backend.to_owned()),
        ..machine("6.4", "2.9", "3.12")
    };
    check(&[CP312, TRITON], &machine("6.4", "2.9", "3.12"), CP312);
    check(&[CP312, TRITON], &asked("triton"), TRITON);
    check(&[CP312, TRITON], &asked("default"), CP312);
    check(
        &[CP312],
        &asked("triton"),
        "backend: the wheel is for default, you asked for triton",
    );
}

#[test]
fn a_wheel_for_cuda_never_fits_and_one_without_a_label_is_told_of() {
    let cuda = "a-1+cu124torch2.9-cp312-cp312-manylinux_2_28_x86_64.whl";
    check(
        &[cuda],
        &machine("6.4", "2.9", "3.12"),
        "ROCm: the wheel is for CUDA 12.4, you have ROCm 6.4",
    );
    let plain = decided(
        &wheels(&["a-1-py3-none-any.whl"]),
        &machine("6.4", "2.9", "3.12"),
    );
    assert_eq!(
        plain.fits[0].notes[0].text,
        "the wheel's name does not say which it is for"
    );
}

#[test]
fn a_label_with_two_readings_says_nothing_unless_a_manifest_does() {
    let name = "a-1+rocm714torch2.14-cp312-cp312-manylinux_2_28_x86_64.whl";
    let note = |wheels: &[Candidate]| {
        decided(wheels, &machine("7.14", "2.14", "3.12")).fits[0]
            .notes
            .clone()
    };
    assert!(
        note(&wheels(&[name]))
            .iter()
            .any(|note| note.text == "the wheel's name does not say which it is for")
    );
    let told = Accelerated {
        name: "rocm".to_owned(),
        version: "7.14".to_owned(),
    };
    let known = wheels_of(vec![ManifestFile {
        accelerator: Some(told),
        ..row(name)
    }]);
    assert!(note(&known).iter().all(|note| note.axis == Axis::Gpu));
}

#[test]
fn the_nearest_has_the_fewest_then_the_smallest_differences() {
    let names = [
        "a-1+rocm64torch2.5-cp312-cp312-manylinux_2_28_x86_64.whl",
        "a-1+rocm64torch2.8-cp312-cp312-manylinux_2_28_x86_64.whl",
        "a-1+rocm64torch2.8-cp311-cp311-manylinux_2_28_x86_64.whl",
        "a-1+rocm64torch2.9-cp312-cp312-manylinux_2_28_aarch64.whl",
    ];
    let wheels = wheels(&names);
    let decision = decided(&wheels, &machine("6.4", "2.9", "3.12"));
    let order: Vec<&str> = decision
        .near
        .iter()
        .map(|near| wheels[near.index].offer.file.as_str())
        .collect();
    assert_eq!(
        order,
        [names[1], names[0], names[3]],
        "two differences come after one, whatever their size"
    );
}

#[test]
fn what_is_not_known_is_asked_of_no_wheel_and_told() {
    let decision = decided(&wheels(&[CP312]), &Machine::default());
    let told: Vec<Axis> = decision.fits[0]
        .notes
        .iter()
        .map(|note| note.axis)
        .collect();
    assert_eq!(
        told,
        [
            Axis::System,
            Axis::Gpu,
            Axis::Rocm,
            Axis::Torch,
            Axis::Python
        ]
    );
}

#[test]
fn a_report_of_doctor_is_read_and_the_torch_that_is_installed_decides_over_the_system() {
    let report = r#"{"version": 1, "build": {"gfx": ["gfx1151"]}, "overrides": {"runtime_gfx": "gfx1100"},
        "rocm": [{"folder": "/opt/rocm", "version": "7.2.1-43"}], "hip_version": "7.2.53211",
        "python": {"version": "3.13", "free_threaded": true, "platform": "linux_x86_64", "libc": "glibc 2.39",
                   "torch": "2.9.1+rocm6.4", "torch_hip": "6.4.43482"}}"#;
    let compat = &Compat::embedded();
    let seen = Machine::from_json(report, compat).unwrap();
    let shown = "Python 3.13t, torch 2.9, ROCm 6.4, gfx1100, linux_x86_64, glibc 2.39";
    assert_eq!(
        (seen.to_string(), seen.foreign_torch),
        (shown.to_owned(), None)
    );
    let rocm = |text: &str| {
        Machine::from_json(text, compat)
            .unwrap()
            .rocm
            .map(|rocm| rocm.to_string())
    };
    assert_eq!(
        rocm(&report.replace("+rocm6.4", "")).as_deref(),
        Some("6.4"),
        "out of torch's HIP"
    );
    assert_eq!(
        rocm(r#"{"build": {}, "rocm": [{"version": "7.2.1-43"}]}"#).as_deref(),
        Some("7.2.1")
    );
    assert_eq!(
        rocm(r#"{"build": {}, "hip_version": "7.2.53211-abc"}"#).as_deref(),
        Some("7.2")
    );
    let torch = |version: &str, hip: &str| {
        let python =
            format!(r#"{{"version": "3.12", "torch": "{version}", "torch_hip": "{hip}"}}"#);
        rocm(&format!(r#"{{"build": {{}}, "python": {python}}}"#))
    };
    assert_eq!(
        torch("2.13.0", "7.15.26333").as_deref(),
        Some("10.0"),
        "HIP counts on its own"
    );
    assert_eq!(
        torch("2.14.0+rocm10.1.0", "7.16.26385").as_deref(),
        Some("10.1.0")
    );
    assert_eq!(torch("2.99.0", "7.99.1"), None, "a HIP that no row has");
    assert_eq!(rocm(r#"{"build": {}}"#), None);
    for text in ["", "[]", "{}", "doctor"] {
        assert!(Machine::from_json(text, compat).is_err(), "{text}");
    }
    let cpu = r#"{"build": {}, "python": {"version": "3.12", "torch": "2.9.1+cpu"}}"#;
    assert_eq!(
        Machine::from_json(cpu, compat)
            .unwrap()
            .foreign_torch
            .as_deref(),
        Some("2.9.1+cpu")
    );
}

#[test]
fn a_c_library_reads_back_as_it_was_printed() {
    for text in ["glibc 2.36", "musl 1.2", "musl"] {
        assert_eq!(text.parse::<Libc>().unwrap().to_string(), text);
    }
    for text in ["", "glibc x", "glibc 2", "msvcrt 1.0"] {
        assert!(text.parse::<Libc>().is_err(), "{text}");
    }
}

#[test]
fn an_address_has_the_plus_encoded_whichever_way_it_was_published() {
    for url in [
        "https://github.com/o/r/releases/download/v1/a-1+rocm64-py3-none-any.whl",
        "",
    ] {
        let text = format!(
            r#"{{"repository": "o/r", "releases": [{{"tag_name": "v1", "assets": [
               {{"name": "a-1+rocm64-py3-none-any.whl", "browser_download_url": "{url}"}}, {{"name": "notes.txt"}},
               {{"name": "a-1.rocm64-py3-none-any.whl"}}]}}]}}"#
        );
        let mut offers = Offers::default();
        let listing = Listing::from_json(&text).unwrap();
        offers.add_listing(&listing);
        assert_eq!(
            listing.unreadable().count(),
            1,
            "a plus that became a dot is told"
        );
        let wheels = offers.into_wheels();
        assert_eq!(
            wheels[0].url,
            "https://github.com/o/r/releases/download/v1/a-1%2Brocm64-py3-none-any.whl"
        );
    }
}

#[test]
fn a_machine_is_given_the_line_for_its_torch() {
    let compat = Compat::embedded();
    let mut offers = Offers::default();
    offers.add_names(
        ["flash_attn-2.7.4.post1+rocm62torch2.5triton-py3-none-any.whl"],
        "https://x/a b/",
    );
    let wheels = candidates(offers.into_wheels(), &compat, PrereleaseMode::IfNecessary);
    let text = |machine: &Machine| {
        super::for_machine(
            wheels[0].install_lines(&machine.gfx).unwrap(),
            &wheels[0],
            machine,
        )
    };
    let url = "'https://x/a b/flash_attn-2.7.4.post1%2Brocm62torch2.5triton-py3-none-any.whl'";
    let installed = Machine {
        torch: wheels[0].torch.clone(),
        ..Machine::default()
    };
    let line = format!("  pip install {url}\n");
    assert!(text(&installed).starts_with(&line) && !text(&installed).contains("torch=="));
    assert_eq!(
        text(&Machine {
            has_no_torch: true,
            ..installed.clone()
        }),
        text(&installed),
        "one is named"
    );
    let bare = Machine {
        has_no_torch: true,
        ..Machine::default()
    };
    let from_nothing = format!(
        "  pip install torch==2.5.1+rocm6.2 {url} --extra-index-url https://download.pytorch.org/whl/rocm6.2\n"
    );
    assert!(text(&bare).starts_with(&from_nothing), "{}", text(&bare));
    let foreign = Machine {
        foreign_torch: Some("2.5.1+cu124".into()),
        ..installed
    };
    assert_eq!(text(&foreign), text(&bare));
    let unknown = text(&Machine::default());
    assert!(
        unknown.starts_with(&line) && unknown.ends_with(&from_nothing),
        "{unknown}"
    );
    let needs = super::run_time_text(&wheels[0].run_time);
    assert!(
        needs.ends_with("  export FLASH_ATTENTION_TRITON_AMD_ENABLE=TRUE\n\n"),
        "{needs}"
    );
}

#[test]
fn a_manifest_adds_what_a_listing_does_not_know_of_the_same_bytes_only() {
    let listing = |digest: &str| {
        let text = format!(
            r#"[{{"tag_name": "v1", "assets": [{{"name": "{CP312}", "digest": "sha256:{digest}",
               "browser_download_url": "https://github.com/o/r/releases/download/v1/{CP312}"}}]}}]"#
        );
        Listing::from_json(&text).unwrap()
    };
    let manifest = Manifest::new(
        None,
        None,
        vec![ManifestFile {
            gfx: vec!["gfx942".into()],
            ..row(CP312)
        }],
    );
    for (digest, known) in [("ab".repeat(32), true), ("cd".repeat(32), false)] {
        let mut offers = Offers::default();
        offers.add_listing(&listing(&digest));
        offers.add_manifest(&manifest, BASE);
        assert_eq!(offers.repository.as_deref(), Some("o/r"));
        let wheels = offers.into_wheels();
        assert_eq!((wheels.len(), wheels[0].row.is_some()), (1, known));
        assert!(wheels[0].url.starts_with("https://github.com/o/r/"));
    }
}
