//! `build --test` tries a wheel that another build made, and keeps the job's folder.

use crate::support::toy::{Toy, WHEEL};

const TAKE: &str = "echo built >>order; mkdir -p dist; cp \"$WHEELS\"/*.whl dist/";

#[test]
fn build_test_works_by_itself_and_keeps_the_folder() {
    let toy = Toy::building(TAKE);
    let _ = toy.build(0, &[]);
    let stages = |toy: &Toy| {
        let record = toy.record();
        let stages = record["stages"].as_array().unwrap().iter();
        stages
            .map(|stage| format!("{} {}", stage["stage"], stage["state"]))
            .collect::<Vec<_>>()
    };
    let built = stages(&toy);
    let (_, stderr) = toy.test(0, &["--dist", "dist"]);
    assert!(stderr.contains("smoke-test: done"), "{stderr}");
    assert!(stderr.contains(&format!("\npassed: {WHEEL}\n")), "{stderr}");
    assert_eq!(
        toy.text("order"),
        "prepare\nbuilt\n",
        "nothing was removed and nothing built"
    );
    assert_eq!(stages(&toy), built);

    let (_, stderr) = toy.test(0, &["--dist", "dist"]);
    assert!(
        stderr.contains("smoke-test: done"),
        "a test is run again: {stderr}"
    );
    let (_, stderr) = toy.build(0, &["--continue", "auto"]);
    assert!(
        !stderr.contains("] build"),
        "the build is still done: {stderr}"
    );
}

#[test]
fn build_test_leaves_the_wheel_of_the_build() {
    let toy = Toy::building(TAKE);
    let _ = toy.build(0, &[]);
    let built = std::fs::read(toy.job("dist").join(WHEEL)).unwrap();
    let foreign = toy.job("foreign");
    std::fs::create_dir(&foreign).unwrap();
    std::fs::write(foreign.join(WHEEL), [&built[..], b"another"].concat()).unwrap();
    let _ = toy.test(0, &["--dist", foreign.to_str().unwrap()]);
    assert_eq!(std::fs::read(toy.job("dist").join(WHEEL)).unwrap(), built);
    let (_, stderr) = toy.build(0, &["--continue", "auto"]);
    assert!(
        stderr.contains("smoke-test: done") && !stderr.contains("] build"),
        "{stderr}"
    );
}

#[test]
fn a_wheel_of_another_name_takes_the_place_of_the_one_that_was_tested() {
    let toy = Toy::building(TAKE);
    let _ = toy.build(0, &[]);
    let _ = toy.test(0, &["--dist", "dist"]);
    let tested = toy.job("tested/dist");
    let other = tested.join(WHEEL.replace("+rocm62", ""));
    std::fs::rename(tested.join(WHEEL), &other).unwrap();
    let _ = toy.test(0, &["--dist", "dist"]);
    assert!(!other.exists() && tested.join(WHEEL).exists());
    let _ = toy.test(0, &["--dist", tested.to_str().unwrap()]);
    assert!(
        tested.join(WHEEL).exists(),
        "a wheel that is where it belongs stays"
    );
}

#[test]
fn a_folder_without_the_wheel_leaves_that_of_the_build() {
    let toy = Toy::building(TAKE);
    let _ = toy.build(0, &[]);
    let (_, stderr) = toy.test(1, &["--dist", "recipes"]);
    assert!(
        stderr.contains("`recipes` has 0 wheels of the job"),
        "{stderr}"
    );
    let (_, stderr) = toy.test(1, &["--dist", "nowhere"]);
    assert!(
        stderr.contains("the directory `nowhere` does not exist"),
        "{stderr}"
    );
    assert!(toy.job("dist").join(WHEEL).exists());
}

#[test]
fn a_wheel_is_tested_in_the_folder_of_its_distribution() {
    let toy = Toy::building("mkdir -p dist/toy; cp \"$WHEELS\"/*.whl dist/toy/")
        .recipe("dist/*.whl", "dist/*/*.whl");
    let _ = toy.build(0, &[]);
    let _ = toy.test(0, &["--dist", "dist"]);
    assert!(toy.job("tested/dist/toy").join(WHEEL).exists() && !toy.job("tested/dist/*").exists());
}
