//! System, C library and GPUs of the machine.

use super::*;

#[test]
fn a_wheel_needs_the_c_library_and_processor_of_its_tag() {
    let on = |platform: &str, libc: Option<&str>| TargetMachine {
        platform: Some(platform.to_owned()),
        libc: libc.map(|libc| libc.parse().unwrap()),
        ..usual_machine()
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
fn the_c_library_is_compared_without_a_platform() {
    let with = |libc: &str| TargetMachine {
        platform: None,
        libc: libc.parse().ok(),
        ..usual_machine()
    };
    let differs = "system: the wheel is for linux_x86_64 with glibc 2.28 or newer, you have";
    for libc in ["glibc 2.17", "musl 1.2"] {
        check(&[CP312], &with(libc), &format!("{differs} {libc}"));
    }
    let decision = decided(&wheels(&[CP312]), &with("glibc 2.35"));
    assert_eq!(
        decision.fits[0].notes[0].text,
        "the wheel is for linux_x86_64 with glibc 2.28 or newer; you have glibc 2.35 on an \
         unknown platform"
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
    let on = |gfx: &[&str]| TargetMachine {
        gfx: gfx.iter().map(|target| (*target).to_owned()).collect(),
        ..usual_machine()
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
        "the wheel has code for gfx1100, but not for gfx1036"
    );
    assert_eq!(
        targets(&["gfx110X-all"])[0].gfx,
        GfxCode::Targets(
            ["gfx1100", "gfx1101", "gfx1102", "gfx1103"]
                .map(str::to_owned)
                .to_vec()
        )
    );
    let unknown = decided(&wheels(&[CP312]), &on(&["gfx1100"]));
    assert_eq!(
        unknown.fits[0].notes[0].text,
        "it is unknown which GPUs the wheel has code for"
    );
    assert_eq!(
        decided(&wheels(&[TRITON]), &on(&["gfx1100"])).fits[0].notes,
        []
    );
}

#[test]
fn facts_unknown_for_the_machine_exclude_no_wheel_but_are_noted() {
    let decision = decided(&wheels(&[CP312]), &TargetMachine::default());
    let axes: Vec<MatchAxis> = decision.fits[0]
        .notes
        .iter()
        .map(|note| note.axis)
        .collect();
    assert_eq!(
        axes,
        [
            MatchAxis::System,
            MatchAxis::Gpu,
            MatchAxis::Rocm,
            MatchAxis::Torch,
            MatchAxis::Python
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
    let seen = TargetMachine::from_json(report, compat).unwrap();
    let shown = "Python 3.13t, torch 2.9, ROCm 6.4, gfx1100, linux_x86_64, glibc 2.39";
    assert_eq!(
        (seen.to_string(), seen.foreign_torch),
        (shown.to_owned(), None)
    );
    let rocm = |text: &str| {
        TargetMachine::from_json(text, compat)
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
        assert!(TargetMachine::from_json(text, compat).is_err(), "{text}");
    }
    let cpu = r#"{"build": {}, "python": {"version": "3.12", "torch": "2.9.1+cpu"}}"#;
    assert_eq!(
        TargetMachine::from_json(cpu, compat)
            .unwrap()
            .foreign_torch
            .as_deref(),
        Some("2.9.1+cpu")
    );
}

#[test]
fn a_c_library_reads_back_as_it_was_printed() {
    for text in ["glibc 2.36", "musl 1.2", "musl"] {
        assert_eq!(text.parse::<MachineLibc>().unwrap().to_string(), text);
    }
    for text in ["", "glibc x", "glibc 2", "msvcrt 1.0"] {
        assert!(text.parse::<MachineLibc>().is_err(), "{text}");
    }
}
