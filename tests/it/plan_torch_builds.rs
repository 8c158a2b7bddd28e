//! Builds of torch from source: what their matrices say, and what a plan makes of them.

use serde_json::Value;

use crate::support::Project;

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
