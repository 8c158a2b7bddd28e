//! Defaults of `rock-matrix.toml` and `pyproject.toml`, and what overrides them.

use crate::support::Project;

const JOB: &str = "flash-attn-2.8.3-rocm6.2-torch2.5.1-py3.12";

fn project() -> Project {
    Project::new().copy("matrices/flash-attn.yaml", "matrices/flash-attn.yaml")
}

/// Whether a missing job is reported as JSON.
fn reports_json(project: &Project, more: &[&str]) -> bool {
    let stderr = project
        .run(&[&["build", "no-such-job"], more].concat())
        .exits(2)
        .stderr;
    stderr.starts_with('{')
}

#[test]
fn options_and_environment_variables_override_the_file() {
    let project = project();
    assert!(!reports_json(&project, &[]));
    let project = project.file("rock-matrix.toml", "message-format = \"json\"\n");
    assert!(reports_json(&project, &[]));
    assert!(!reports_json(&project, &["--message-format", "human"]));
    let project = project.env("ROCK_MATRIX_MESSAGE_FORMAT", "human");
    assert!(!reports_json(&project, &[]));
    assert!(reports_json(&project, &["--message-format", "json"]));
}

/// `build` and `render` have one default.
#[test]
fn the_engine_of_the_file_is_used() {
    let in_container = |project: &Project| {
        let commands = [&["build", JOB, "--dry-run"][..], &["render", JOB]];
        let [build, render] = commands.map(|command| {
            let text = project.run(command).exits(0).stdout;
            text.contains("docker run")
        });
        assert_eq!(build, render);
        build
    };
    let project = project();
    assert!(!in_container(&project));
    let pyproject = "[project]\nname = \"x\"\n\n[tool.rock-matrix]\nengine = \"docker\"\n";
    let project = project.file("pyproject.toml", pyproject);
    assert!(in_container(&project));
    let project = project.env("ROCK_MATRIX_ENGINE", "local");
    assert!(!in_container(&project));
}

#[test]
fn recipes_are_relative_to_the_file() {
    let project = project()
        .copy("matrices/recipes/apex.yaml", "own/apex.yaml")
        .file("rock-matrix.toml", "recipes = \"own\"\n");
    let text = project.read("own/apex.yaml");
    std::fs::write(
        project.path("own/mine.yaml"),
        text.replace("name: apex", "name: mine"),
    )
    .unwrap();
    let listed = project.run(&["recipe", "list", "-v"]).exits(0);
    assert!(listed.stdout.contains("mine"), "{}", listed.stdout);
    assert!(
        listed.stderr.contains("using defaults of "),
        "{}",
        listed.stderr
    );
}

#[test]
fn an_invalid_file_is_an_error_for_commands_that_use_it() {
    let project = project().file("rock-matrix.toml", "jobs = 0\ncolour = \"never\"\n");
    let stderr = project.run(&["plan"]).exits(1).stderr;
    insta::assert_snapshot!(stderr, @r#"
    error[H046 bad-project-file]: there is no setting `colour`; did you mean `color`?
     --> [ROOT]/rock-matrix.toml:2:1
      |
    2 | colour = "never"
      | ^^^^^^
      |
    help: the settings are: compat, recipes, color, message-format, jobs, engine

    error[H046 bad-project-file]: `jobs` must be a number from 1 to 999
     --> [ROOT]/rock-matrix.toml:1:8
      |
    1 | jobs = 0
      |        ^
    "#);
    project.run(&["explain", "H046"]).exits(0);
    let project = project.file("rock-matrix.toml", "jobs =\n");
    assert!(
        project
            .run(&["plan"])
            .exits(1)
            .stderr
            .contains("error[H046 bad-project-file]")
    );
}

#[test]
fn the_file_cannot_choose_the_server_that_gets_the_token() {
    let project = project().file("rock-matrix.toml", "api-url = \"https://example.com\"\n");
    let stderr = project.run(&["plan"]).exits(1).stderr;
    assert!(stderr.contains("there is no setting `api-url`"), "{stderr}");
}

#[test]
fn empty_variables_count_as_unset_and_invalid_ones_are_usage_errors() {
    let project = project().env("ROCK_MATRIX_ENGINE", "");
    project.run(&["build", JOB, "--dry-run"]).exits(0);
    let project = project.env("ROCK_MATRIX_ENGINE", "dokcer");
    let stderr = project.run(&["build", JOB, "--dry-run"]).exits(2).stderr;
    assert!(
        stderr.contains("`ROCK_MATRIX_ENGINE` must be one of"),
        "{stderr}"
    );
}
