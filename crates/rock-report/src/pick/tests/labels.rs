//! ROCm and torch in local version labels.

use super::*;

#[test]
fn a_wheel_fits_a_later_minor_of_rocm_with_a_note() {
    let name = "a-1+rocm71torch2.10-cp312-cp312-manylinux_2_28_x86_64.whl";
    let wheels = wheels(&[name]);
    let decision = decided(&wheels, &machine("7.2.1", "2.10", "3.12"));
    let note = decision.fits[0]
        .notes
        .iter()
        .find(|note| note.axis == MatchAxis::Rocm)
        .unwrap();
    assert!(
        note.text
            .starts_with("the wheel is for 7.1, you have 7.2.1; one wheel works with later"),
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
            .filter(|note| note.axis == MatchAxis::Rocm)
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
fn a_cuda_wheel_never_fits_and_an_unlabelled_one_has_a_note() {
    let cuda = "a-1+cu124torch2.9-cp312-cp312-manylinux_2_28_x86_64.whl";
    check(
        &[cuda],
        &usual_machine(),
        "ROCm: the wheel is for CUDA 12.4, you have ROCm 6.4",
    );
    let plain = decided(&wheels(&["a-1-py3-none-any.whl"]), &usual_machine());
    assert_eq!(
        plain.fits[0].notes[0].text,
        "the wheel's name does not contain a ROCm version"
    );
}

#[test]
fn an_ambiguous_label_needs_a_manifest() {
    let name = "a-1+rocm714torch2.14-cp312-cp312-manylinux_2_28_x86_64.whl";
    let note = |wheels: &[WheelCandidate]| {
        decided(wheels, &machine("7.14", "2.14", "3.12")).fits[0]
            .notes
            .clone()
    };
    assert!(
        note(&wheels(&[name]))
            .iter()
            .any(|note| note.text == "the wheel's name does not contain a ROCm version")
    );
    let rocm = AcceleratorVersion {
        name: "rocm".to_owned(),
        version: "7.14".to_owned(),
    };
    let known = wheels_of(vec![ManifestFile {
        accelerator: Some(rocm),
        ..row(name)
    }]);
    assert!(note(&known).iter().all(|note| note.axis == MatchAxis::Gpu));
}

#[test]
fn a_wheel_without_a_label_is_for_the_rocm_that_its_libraries_need() {
    let known = |majors: &[u32]| {
        wheels_of(vec![ManifestFile {
            needs_rocm: majors.to_vec(),
            ..row("a-1-cp312-cp312-manylinux_2_28_x86_64.whl")
        }])
    };
    let decision = decided(&known(&[7]), &usual_machine());
    assert!(decision.fits.is_empty());
    let [difference] = &decision.near[0].differences[..] else {
        panic!("only ROCm differs");
    };
    assert_eq!(
        (difference.wheel.as_str(), difference.yours.as_str()),
        ("7", "6.4")
    );
    let note = decided(&known(&[6, 7]), &usual_machine()).fits[0]
        .notes
        .iter()
        .find(|note| note.axis == MatchAxis::Rocm)
        .map(|note| note.text.clone());
    assert_eq!(
        note.as_deref(),
        Some("the wheel's name does not contain a ROCm version; its libraries need ROCm 6 or 7")
    );
}

#[test]
fn a_wheel_without_a_label_is_for_the_torch_whose_symbols_its_libraries_need() {
    let known = wheels_of(vec![ManifestFile {
        needs_torch: Some(NeededTorch {
            versions: "2.8 to 2.9".to_owned(),
            lacking: vec!["2.7".to_owned(), "2.10".to_owned()],
        }),
        ..row("a-1-cp312-cp312-manylinux_2_28_x86_64.whl")
    }]);
    let decision = decided(&known, &machine("6.4", "2.7", "3.12"));
    assert_eq!(
        decision.near[0].differences[0].to_string(),
        "torch: the wheel is for 2.8 to 2.9, you have 2.7; its libraries need symbols that other \
         versions lack"
    );
    for (torch, text) in [
        (
            "2.9",
            "the wheel's name does not contain a torch version; its libraries need symbols of \
             torch 2.8 to 2.9",
        ),
        ("", "the wheel is for 2.8 to 2.9; yours is unknown"),
    ] {
        let decision = decided(&known, &machine("6.4", torch, "3.12"));
        let mut notes = decision.fits[0].notes.iter();
        assert!(notes.any(|note| note.text == text), "{torch}");
    }
}

/// Returns a wheel whose code for GPUs, of which it has none, a manifest lists as read.
fn read_without_gpu_code(name: &str, needs_rocm: &[u32]) -> Vec<WheelCandidate> {
    wheels_of(vec![ManifestFile {
        gfx_from: Some(GfxOrigin::Wheel),
        needs_rocm: needs_rocm.to_vec(),
        ..row(name)
    }])
}

/// Returns the notes about ROCm of the best wheel, or the mismatches of the nearest one.
fn about_rocm(wheels: &[WheelCandidate], machine: &TargetMachine) -> String {
    let decision = decided(wheels, machine);
    let texts: Vec<String> = match decision.fits.first() {
        Some(fit) => fit
            .notes
            .iter()
            .filter(|note| note.axis == MatchAxis::Rocm)
            .map(|note| note.text.clone())
            .collect(),
        None => decision.near[0]
            .differences
            .iter()
            .map(ToString::to_string)
            .collect(),
    };
    texts.join(" | ")
}

#[test]
fn libraries_that_need_no_rocm_fit_another_rocm_but_are_compiled_code() {
    let name = "a-1+rocm7.14-cp312-cp312-manylinux_2_28_x86_64.whl";
    for rocm in ["7.2", "6.4"] {
        let text = about_rocm(
            &read_without_gpu_code(name, &[]),
            &machine(rocm, "2.9", "3.12"),
        );
        let expected = format!(
            "the wheel is for 7.14, you have {rocm}; its libraries need no ROCm library (inferred"
        );
        assert!(text.starts_with(&expected), "{text}");
    }
    let pure = about_rocm(
        &wheels(&["a-1+rocm7.14-py3-none-any.whl"]),
        &machine("7.2", "2.9", "3.12"),
    );
    let expected = "the wheel is for 7.14, you have 7.2; a wheel without compiled code needs no";
    assert!(pure.starts_with(expected), "{pure}");
}

#[test]
fn compiled_code_that_may_need_rocm_is_for_that_of_the_label() {
    let linux = "a-1+rocm7.14-cp312-cp312-manylinux_2_28_x86_64.whl";
    let expected = "ROCm: the wheel is for 7.14, you have 7.2; only the forward direction";
    let text = |wheels: &[WheelCandidate]| about_rocm(wheels, &machine("7.2", "2.9", "3.12"));
    let needy = text(&read_without_gpu_code(linux, &[7]));
    assert!(needy.starts_with(expected), "{needy}");
    let unread = text(&wheels(&[linux]));
    assert!(unread.starts_with(expected), "{unread}");
    let windows = read_without_gpu_code("a-1+rocm7.14-cp312-cp312-win_amd64.whl", &[]);
    assert_eq!(
        windows[0].compiled_code,
        CompiledCode::Present,
        "DLLs are not read"
    );
}

#[test]
fn libraries_that_need_no_rocm_are_for_the_torch_of_the_label() {
    let name = "a-1+rocm64torch2.9-cp312-cp312-manylinux_2_28_x86_64.whl";
    let text = about_rocm(
        &read_without_gpu_code(name, &[]),
        &machine("6.4", "2.10", "3.12"),
    );
    let expected = "torch: the wheel is for 2.9, you have 2.10; torch's C++";
    assert!(text.starts_with(expected), "{text}");
}
