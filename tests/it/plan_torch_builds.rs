//! Builds of torch from source: what their matrices say, and what a plan makes of them.

use serde_json::Value;

use crate::support::toy::Toy;
use crate::support::{Project, Wheel};

/// A recipe of the kind that builds torch: the version stands in the sources, and several wheels come out.
const RECIPE: &str = r#"recipe: 1
name: torch-build
distribution: torch
version-from: build
axes: [torch-ref]
vars: {apex: "on"}
wheels:
  - {distribution: triton, when: "{{ platform == 'linux' }}"}
  - {distribution: torchvision}
  - {distribution: apex, when: "{{ platform == 'linux' and vars.apex == 'on' }}"}
steps:
  - {stage: build, argv: [make]}
collect: {wheels: "dist/*.whl"}
"#;

/// A project with that recipe, and a matrix file of these lines.
fn project(lines: &str) -> Project {
    let head = "version: 1\ndistribution: torch\nrecipe: torch-build\n";
    Project::new().file("recipes/torch-build.yaml", RECIPE).file("m.yaml", &format!("{head}{lines}"))
}

fn plan(lines: &str) -> Value {
    project(lines).run(&["--recipes", "recipes", "plan", "m.yaml", "--format", "json"]).exits(0).json()
}

fn texts<'a>(plan: &'a Value, key: &str) -> Vec<&'a str> {
    plan["jobs"].as_array().unwrap().iter().map(|job| job[key].as_str().unwrap()).collect()
}

const ONE: &str = "axes: {python: [\"3.12\"], torch-ref: [release/2.12]}\n";

#[test]
fn a_version_that_only_the_build_knows_needs_no_axis_and_is_a_star_in_the_name() {
    let plan = plan(ONE);
    assert_eq!(texts(&plan, "wheel"), ["torch-*-cp312-cp312-linux_x86_64.whl"]);
    assert_eq!(plan["jobs"][0]["version"], Value::Null);
}

#[test]
fn a_wheel_of_a_recipe_has_the_name_of_a_project_and_three_tags() {
    let recipe = RECIPE.replace("{distribution: torchvision}", "{distribution: 'a b', tag: py3-none}");
    let project = project(ONE).file("recipes/torch-build.yaml", &recipe);
    let told = project.run(&["--recipes", "recipes", "plan", "m.yaml"]).exits(1).stderr;
    assert!(told.contains("error[B001 bad-recipe]: `a b`"), "{told}");
    assert!(told.contains("`py3-none` is not three wheel tags"), "{told}");
}

#[test]
fn a_job_expects_the_wheels_whose_condition_holds() {
    let further = |lines: &str| {
        let plan = plan(lines);
        let wheels = plan["jobs"][0]["wheels"].as_array().unwrap().iter();
        wheels.map(|wheel| wheel.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let on_linux = |name: &str| format!("{name}-*-cp312-cp312-linux_x86_64.whl");
    assert_eq!(further(ONE), ["triton", "torchvision", "apex"].map(on_linux));
    assert_eq!(further(&format!("{ONE}vars: {{apex: \"\"}}\n")), ["triton", "torchvision"].map(on_linux));
    let windows = format!("{ONE}platform: windows\nrunner: windows-2022\n");
    assert_eq!(further(&windows), ["torchvision-*-cp312-cp312-win_amd64.whl"]);
    let with_rocm = ONE.replace("{python", "{rocm: [\"7.2.1\"], python");
    assert_eq!(further(&with_rocm)[0], "triton-*+rocm72-cp312-cp312-linux_x86_64.whl");
    let shown = project(ONE).run(&["--recipes", "recipes", "plan", "m.yaml"]).exits(0).stdout;
    assert!(shown.contains("\n    and triton-*-cp312-cp312-linux_x86_64.whl\n"), "{shown}");
}

#[test]
fn a_condition_that_names_nothing_known_is_told_with_what_there_is() {
    let recipe = RECIPE.replace("vars.apex ==", "vars.apx ==");
    let project = project(ONE).file("recipes/torch-build.yaml", &recipe);
    let told = project.run(&["--recipes", "recipes", "plan", "m.yaml"]).exits(1).stderr;
    assert!(told.contains("of the wheel `apex`") && told.contains("`vars`, `platform`, `backend`"), "{told}");
}

const TWO: &str = "axes: {python: [\"3.12\"], torch-ref: [release/2.12, nightly]}\n";

/// The wheels of both jobs of `TWO`.
const BUILT: [&str; 8] = [
    "torch-2.12.0-cp312-cp312-manylinux_2_28_x86_64.whl",
    "torch-2.13.0a0-cp312-cp312-linux_x86_64.whl",
    "triton-3.5.0-cp312-cp312-linux_x86_64.whl",
    "triton-3.6.0-cp312-cp312-linux_x86_64.whl",
    "torchvision-0.27.0-cp312-cp312-linux_x86_64.whl",
    "torchvision-0.28.0a0-cp312-cp312-linux_x86_64.whl",
    "apex-1.12.0-cp312-cp312-linux_x86_64.whl",
    "apex-1.13.0-cp312-cp312-linux_x86_64.whl",
];

/// A project with these wheels in `dist` and the plan of `TWO`.
fn planned(wheels: &[&str]) -> Project {
    let project = project(TWO);
    let project = wheels
        .iter()
        .fold(project, |project, name| project.bytes(&format!("dist/{name}"), &Wheel::named(name).bytes()));
    let _ = project.run(&["--recipes", "recipes", "plan", "m.yaml", "--format", "json", "--out", "plan.json"]).exits(0);
    project
}

#[test]
fn a_release_is_whole_with_every_wheel_of_every_job() {
    let publish = ["publish", "--to", "release", "--plan", "plan.json", "dist"];
    let _ = planned(&BUILT).run(&publish).exits(0);
    let told = planned(&BUILT[..7]).run(&publish).exits(1).stderr;
    assert!(told.contains("there is 1 wheel for apex * for cp312-cp312 on linux_x86_64, and 2 are planned"), "{told}");
    let project = planned(&BUILT[..7]);
    let _ = project.run(&[&publish[..], &["--allow-missing"]].concat()).exits(0);
    let missing = ["report", "missing", "--plan", "plan.json", "--published", "release", "--list"];
    let listed = project.run(&missing).exits(0).stdout;
    assert_eq!(listed, "apex-*-cp312-cp312-linux_x86_64.whl\n");
    let coverage =
        project.run(&["report", "coverage", "--plan", "plan.json", "--published", "release"]).exits(0).stdout;
    assert!(coverage.contains("| `apex` | 1 | 1 |"), "{coverage}");
    assert!(coverage.contains("| `torch` | 2 | 0 |"), "{coverage}");
}

#[test]
fn jobs_are_left_out_once_all_their_wheels_are_published() {
    let left = |wheels: &[&str]| {
        let project = planned(wheels);
        let plan = ["--recipes", "recipes", "plan", "m.yaml", "--published", "dist", "--format", "json"];
        let plan = project.run(&plan).exits(0).json();
        (plan["jobs"].as_array().unwrap().len(), plan["published"].as_array().unwrap().len())
    };
    assert_eq!(left(&BUILT), (0, 8));
    assert_eq!(left(&BUILT[..7]), (2, 0), "which of the two jobs lacks its wheel cannot be told");
}

#[test]
fn a_wheel_that_several_jobs_expect_names_none_of_them() {
    let name = "torch-*-cp312-cp312-linux_x86_64.whl";
    let told = planned(&[]).run(&["--recipes", "recipes", "build", "plan.json", name, "--dry-run"]).exits(1).stderr;
    assert!(told.contains(&format!("2 jobs are expected to leave `{name}`")), "{told}");
}

#[test]
fn a_build_delivers_each_of_its_wheels_and_none_where_one_is_missing() {
    let extra = "toy_extra-2.0-cp311-cp311-linux_x86_64.whl";
    let toy = || {
        let toy = Toy::building("mkdir -p dist; cp \"$WHEELS\"/*.whl dist/");
        toy.recipe("collect:\n", "wheels: [{distribution: toy-extra}]\ncollect:\n")
    };
    let short = toy();
    let (_, told) = short.build(1, &[]);
    assert!(told.contains("the build left 1 wheels for") && told.contains("not 2"), "{told}");
    assert!(!short.path("dist").join(crate::support::toy::WHEEL).exists());
    let whole = toy();
    let labelled = extra.replace("2.0", "2.0+rocm62");
    whole.write(&format!("wheels/{labelled}"), &Wheel::named(&labelled).bytes());
    let (stdout, _) = whole.build(0, &[]);
    assert_eq!(stdout.lines().count(), 2, "{stdout}");
    assert!(whole.path("dist").join(&labelled).exists());
    assert_eq!(whole.record()["wheels"].as_array().unwrap().len(), 2);
    let other = toy();
    other.write(&format!("wheels/{extra}"), &Wheel::named(extra).bytes());
    let (_, told) = other.build(1, &[]);
    assert!(told.contains("the label is ``, not `rocm62`"), "{told}");
}
