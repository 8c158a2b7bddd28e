//! The order of candidates.

use super::*;

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
    let files = |wheels: &[WheelCandidate]| {
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
        &usual_machine(),
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
        &usual_machine(),
        "a-1+rocm64torch2.9-10-cp312",
    );
}

#[test]
fn a_backend_is_a_wish_and_the_default_one_comes_first() {
    let machine_for = |backend: &str| TargetMachine {
        backend: Some(backend.to_owned()),
        ..usual_machine()
    };
    check(&[CP312, TRITON], &usual_machine(), CP312);
    check(&[CP312, TRITON], &machine_for("triton"), TRITON);
    check(&[CP312, TRITON], &machine_for("default"), CP312);
    check(
        &[CP312],
        &machine_for("triton"),
        "backend: the wheel is for default, you asked for triton",
    );
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
    let decision = decided(&wheels, &usual_machine());
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
