//! A person builds one wheel with a recipe and a few settings, without a matrix file.

use crate::support::Project;
use crate::support::toy::{JOB, Toy, WHEEL};

/// The recipe names the distribution.
#[test]
fn a_recipe_and_settings_build_a_wheel() {
    let toy = Toy::building("mkdir -p dist; cp \"$WHEELS\"/* dist");
    std::fs::remove_dir_all(toy.path("matrices")).unwrap();
    let python = format!("vars.python={}", toy.path("python").display());
    let settings = [
        "toy=1.0",
        "python=3.11",
        "rocm=6.2",
        "gfx=gfx90a",
        "torch-from=host",
        "python-from=host",
        &python,
    ];
    let words: Vec<&str> = ["build", "--recipe", "toy"]
        .into_iter()
        .chain(settings.iter().flat_map(|set| ["--set", set]))
        .collect();
    let built = toy.command(&words).output().unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    assert!(toy.path("dist").join(WHEEL).is_file() && toy.path(".rock").join(JOB).is_dir());
}

#[test]
fn a_value_that_is_set_twice_makes_two_jobs() {
    let settings = [
        "flash-attn=2.7.4.post1",
        "torch=2.5.1",
        "rocm=6.2",
        "gfx=gfx942",
        "python=3.11",
        "python=3.12",
    ];
    let settings = settings.iter().flat_map(|set| ["--set", set]);
    let words: Vec<&str> = ["build", "--recipe", "flash-attn", "--dry-run"]
        .into_iter()
        .chain(settings)
        .collect();
    let printed = Project::new().run(&words).exits(0).stdout;
    let jobs: Vec<&str> = printed
        .lines()
        .filter_map(|line| line.trim().strip_prefix("wheel "))
        .map(str::trim)
        .collect();
    let wheel = |python| {
        format!("flash_attn-2.7.4.post1+rocm62torch2.5-{python}-{python}-linux_x86_64.whl")
    };
    assert_eq!(jobs, [wheel("cp311"), wheel("cp312")], "{printed}");
}

#[test]
fn every_wrong_setting_is_reported() {
    let words = [
        "build",
        "--recipe",
        "flash-attn",
        "--set",
        "pyhton=3.11",
        "--set",
        "colour=red",
        "--dry-run",
    ];
    let stderr = Project::new().run(&words).exits(1).stderr;
    let (missing, unknown): (Vec<&str>, Vec<&str>) = stderr
        .split("\n\n")
        .partition(|fault| fault.contains("[P030"));
    assert_eq!(missing.len(), 4, "{stderr}");
    let unknown = unknown.join("\n\n");
    insta::assert_snapshot!(unknown, @r"
    error[M020 unknown-key]: `colour` is neither an axis or a variable of the recipe `flash-attn` nor a key of matrix files
    --> argument `--set colour`
    help: `rock-matrix recipe show flash-attn` lists the variables, `rock-matrix schema` the keys

    error[M020 unknown-key]: `pyhton` is neither an axis or a variable of the recipe `flash-attn` nor a key of matrix files; did you mean `python`?
    --> argument `--set pyhton`
    help: `rock-matrix recipe show flash-attn` lists the variables, `rock-matrix schema` the keys
    ");
}

#[test]
fn every_missing_axis_is_reported_with_its_setting() {
    let run = Project::new().run(&[
        "build",
        "--recipe",
        "flash-attn",
        "--set",
        "rocm=6.2",
        "--dry-run",
    ]);
    insta::assert_snapshot!(run.exits(1).stderr, @r"
    error[P030 missing-axis]: the recipe `flash-attn` requires a value for `flash-attn`
    --> argument `--recipe flash-attn`
    help: add `--set flash-attn=VALUE`

    error[P030 missing-axis]: the recipe `flash-attn` requires a value for `python`
    --> argument `--recipe flash-attn`
    help: add `--set python=VALUE`

    error[P030 missing-axis]: the recipe `flash-attn` requires a value for `torch`
    --> argument `--recipe flash-attn`
    help: add `--set torch=VALUE`
    ");
}

#[test]
fn an_unknown_recipe_is_a_usage_error() {
    let run = Project::new().run(&["build", "--recipe", "flash-atn", "--set", "python=3.11"]);
    insta::assert_snapshot!(run.exits(2).stderr, @r"
    error[P015 unknown-recipe]: there is no recipe `flash-atn`; did you mean `flash-attn`?
    --> argument `--recipe`
    help: `rock-matrix recipe list` shows all recipes; `rock-matrix recipe new NAME` creates one
    ");
}
