//! What commands answer at a first try: nothing empty passes, nothing beside the question, and no
//! fault that another causes.

use crate::support::{Project, Wheel};

const HEAD: &str = "version: 1\ndistribution: flash-attn\n";
const AXES: &str = "axes:\n  flash-attn: [\"2.8.3\"]\n  python: [\"3.12\"]\n  torch: [\"2.5.1\", \"2.6.0\"]\n  rocm: [\"6.2\", \"6.4\"]\n";

#[test]
fn an_empty_plan_can_fail_a_check() {
    let empty = AXES.replace("\"6.2\", ", "");
    let project = Project::new()
        .file("m.yaml", &format!("{HEAD}{empty}"))
        .file("off.yaml", &format!("{HEAD}enabled: false\n{AXES}"))
        .file("full.yaml", &format!("{HEAD}{AXES}"));
    assert!(
        project
            .run(&["check", "m.yaml"])
            .exits(0)
            .stderr
            .contains("warning[P014 empty-plan]")
    );
    for file in ["m.yaml", "off.yaml"] {
        let stderr = project
            .run(&["check", "--fail-empty", file])
            .exits(1)
            .stderr;
        insta::assert_snapshot!(stderr);
    }
    project
        .run(&["check", "--fail-empty", "m.yaml", "full.yaml"])
        .exits(0);
    let workflow = project
        .run(&["render", "workflow", "full.yaml"])
        .exits(0)
        .stdout;
    assert!(
        workflow.contains("rock-matrix check --fail-empty full.yaml"),
        "{workflow}"
    );
}

#[test]
fn a_plan_whose_files_are_all_published_has_a_message() {
    let one = AXES.replace(", \"2.6.0\"", "").replace(", \"6.4\"", "");
    let wheel = "flash_attn-2.8.3+rocm62torch2.5-cp312-cp312-linux_x86_64.whl";
    let project = Project::new()
        .file("m.yaml", &format!("{HEAD}{one}"))
        .bytes(&format!("wheels/{wheel}"), &Wheel::named(wheel).bytes());
    let stderr = project
        .run(&["plan", "m.yaml", "--published", "wheels"])
        .exits(0)
        .stderr;
    insta::assert_snapshot!(stderr, @r"
    warning[P014 empty-plan]: the plan has no jobs: all its files are published
    help: nothing is left to build; plan without `--published` to see every job
    ");
}

#[test]
fn only_keeps_the_reasons_for_what_is_selected() {
    let project = Project::new().file("m.yaml", &format!("{HEAD}{AXES}"));
    let words = [
        "plan",
        "m.yaml",
        "--explain",
        "--only",
        "torch=2.5.1",
        "--only",
        "rocm=6.4",
    ];
    let outcome = project.run(&words).exits(0);
    assert!(
        outcome.stdout.contains("torch 2.5.1 × rocm 6.4")
            && !outcome.stdout.contains("torch 2.6.0"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stderr.contains(
            "help: change the values of `--only`, or the settings that the reasons mention\n"
        ),
        "{}",
        outcome.stderr
    );
    // The reason that is advised is printed by the advised command.
    let stderr = project
        .run(&[&words[..2], &words[3..]].concat())
        .exits(0)
        .stderr;
    let advised = stderr
        .split_once("help: see every reason with `rock-matrix ")
        .unwrap()
        .1
        .split('`')
        .next()
        .unwrap()
        .to_owned();
    let advised = shlex::split(&advised).unwrap();
    assert!(
        project
            .run(&advised.iter().map(String::as_str).collect::<Vec<_>>())
            .exits(0)
            .stdout
            .contains("torch 2.5.1 × rocm 6.4"),
        "{advised:?}"
    );
}

#[test]
fn verify_takes_folders_of_wheels() {
    const NAME: &str = "demo-1.0-py3-none-any.whl";
    let project = Project::new()
        .bytes(&format!("dist/{NAME}"), &Wheel::named(NAME).bytes())
        .file("none/x", "");
    let stdout = project.run(&["wheel", "verify", "dist"]).exits(0).stdout;
    assert!(stdout.contains(NAME), "{stdout}");
    assert!(
        project
            .run(&["wheel", "verify", "none"])
            .exits(1)
            .stderr
            .contains("there are no wheels in `none`")
    );
}

#[test]
fn a_fault_is_not_reported_by_its_consequence() {
    let project = Project::new()
        .file("axis.yaml", &format!("{HEAD}{}", AXES.replace("axes:", "axis:")))
        .file("m.yaml", "version: 1\ndistribution: mine\nrecipe: mine\naxes: {mine: [\"1.0\"], python: [\"3.12\"]}\n")
        .file("r/mine.yaml", "recipe: 1\nname: mine\nbackend: {}\nsteps:\n  - {stage: build, argv: [\"true\"]}\ncollect: {wheels: \"dist/*.whl\"}\n");
    let codes = |words: &[&str]| {
        let stderr = project.run(words).exits(1).stderr;
        let codes = stderr
            .lines()
            .filter_map(|line| line.strip_prefix("error[")?.split(' ').next())
            .map(str::to_owned);
        codes.collect::<Vec<_>>()
    };
    assert_eq!(codes(&["check", "axis.yaml"]), ["M020"]);
    assert_eq!(codes(&["check", "m.yaml", "r/mine.yaml"]), ["M020"]);
    assert_eq!(codes(&["check", "m.yaml", "--recipes", "r"]), ["M020"]);
}

/// The script that a rendered command of a container needs is written by the command above it.
#[test]
fn the_hint_in_a_rendered_command_writes_the_script() {
    let recipe = "recipe: 1\nname: mine\nvars: {a: b}\nsteps:\n  - {stage: build, argv: [echo, \"{{ vars.a }}\"]}\ncollect: {wheels: \"dist/*.whl\"}\n";
    let matrix = "version: 1\ndistribution: mine\nrecipe: mine\nrunner: self-hosted\nimage: x/y:1\naxes: {mine: [\"1.0\"], python: [\"3.12\"], rocm: [\"6.2\"]}\n";
    let project = Project::new()
        .file("m.yaml", matrix)
        .file("own recipes/mine.yaml", recipe);
    let stdout = project
        .run(&["render", "docker", "m.yaml", "--recipes", "own recipes"])
        .exits(0)
        .stdout;
    let hint = stdout
        .lines()
        .find_map(|line| line.strip_prefix("# Write the script that it runs: rock-matrix "))
        .unwrap();
    let words = shlex::split(hint).unwrap();
    project
        .run(&words.iter().map(String::as_str).collect::<Vec<_>>())
        .exits(0);
    let script = words.last().unwrap();
    assert!(project.read(script).contains("echo b"), "{hint}");
    assert_eq!(project.read(".rock/.gitignore").lines().last(), Some("*"));
}
