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
