//! A first matrix file, the meaning of a code, and what `check` says without files.

use crate::support::Project;

#[test]
fn init_writes_files_that_check_and_plan_take() {
    let project = Project::new();
    let said = project.run(&["init"]).exits(0);
    assert_eq!(said.stdout, "");
    assert!(
        said.stderr.starts_with("wrote matrices/flash-attn.yaml\nwrote .github/workflows/wheels.yml\n"),
        "{}",
        said.stderr
    );
    let checked = project.run(&["render", "workflow", "--check"]).exits(0);
    assert_eq!(checked.stderr.lines().last().unwrap(), ".github/workflows/wheels.yml is what would be rendered");
    assert_eq!(project.files(), [".github/workflows/wheels.yml", "matrices/flash-attn.yaml"]);
    assert_eq!(project.run(&["check"]).exits(0).stderr, "1 file, 0 errors, 0 warnings\n");
    assert_eq!(project.run(&["plan", "--format", "json"]).exits(0).json()["jobs"].as_array().unwrap().len(), 31);
}

/// The file is this repository's, which builds the program from its checkout and keeps `v*` for the program's releases.
#[test]
fn init_leaves_out_what_is_for_this_repository_alone() {
    let project = Project::new();
    let _ = project.run(&["init"]).exits(0);
    let matrix: serde_json::Value = serde_yaml::from_str(&project.read("matrices/flash-attn.yaml")).unwrap();
    assert_eq!(matrix["workflow"], serde_json::json!({"cache": "on"}));
    assert!(matrix["release"].is_null(), "{matrix}");
    let text = project.read(".github/workflows/wheels.yml");
    assert!(text.contains("uses: org/rock-action@") && !text.contains("cargo"), "{text}");
    assert!(text.contains(" --make-latest legacy "), "{text}");
    let workflow: serde_json::Value = serde_yaml::from_str(&text).unwrap();
    assert_eq!(workflow["on"]["push"]["tags"], serde_json::json!(["v*"]), "README's tag starts it");
    let own: serde_json::Value = serde_yaml::from_str(include_str!("../../matrices/flash-attn.yaml")).unwrap();
    assert_eq!((&own["axes"], &own["gfx"]), (&matrix["axes"], &matrix["gfx"]));
}

#[test]
fn init_overwrites_nothing_and_says_what_it_kept() {
    let project = Project::new().file("repo/matrices/flash-attn.yaml", "mine");
    let said = project.run(&["init", "repo"]).exits(0);
    assert!(
        said.stderr.starts_with(
            "kept repo/matrices/flash-attn.yaml, which is there already\nthe workflow of your matrix files"
        ),
        "{}",
        said.stderr
    );
    assert!(!project.has("repo/.github"), "a workflow of another matrix file would be wrong");
    assert_eq!(project.read("repo/matrices/flash-attn.yaml"), "mine");
    let _ = project.run(&["init", "new"]).exits(0);
    let again = project.run(&["init", "new"]).exits(0);
    assert_eq!(again.stderr.lines().filter(|line| line.starts_with("kept ")).count(), 2);
    assert!(!again.stderr.contains("wrote"), "{}", again.stderr);
}

#[test]
fn a_code_is_explained_by_number_by_name_and_as_it_is_printed() {
    let project = Project::new();
    let by_number = project.run(&["explain", "m001"]).exits(0).stdout;
    assert!(by_number.starts_with("M001 duplicate-key (error)\n\nA mapping holds the same key twice."), "{by_number}");
    assert_eq!(project.run(&["explain", "duplicate-key"]).exits(0).stdout, by_number);
    assert_eq!(project.run(&["explain", "error[M001 duplicate-key]"]).exits(0).stdout, by_number);
    let all = project.run(&["explain"]).exits(0).stdout;
    assert_eq!(all.lines().count(), rock_matrix::diagnostic::registry::all().count());
}

#[test]
fn an_unknown_code_is_a_wrong_command_line_with_the_nearest_one() {
    let said = Project::new().run(&["explain", "duplicate-kye"]).exits(2);
    assert!(said.stderr.starts_with("error[H022 unknown-code]: there is no code `duplicate-kye`\n"), "{}", said.stderr);
    assert!(said.stderr.contains("help: did you mean `duplicate-key`?\n"), "{}", said.stderr);
}

#[test]
fn check_without_files_looks_into_matrices_and_says_what_to_do_where_there_are_none() {
    let said = Project::new().run(&["check"]).exits(1);
    assert_eq!(
        said.stderr,
        "error[M049 no-matrix-file]: there is no matrix file in `matrices/`\nhelp: name one, or write a first one with `rock-matrix init`\n\n"
    );
}

#[test]
fn check_reads_recipes_too() {
    let recipe = "recipe: 1\nname: mine\nsteps: []\n";
    let project = Project::new().file("mine.yaml", recipe);
    let said = project.run(&["check", "mine.yaml"]).exits(1);
    assert!(said.stderr.contains("--> mine.yaml") && said.stderr.contains("no steps"), "{}", said.stderr);
}

#[test]
fn check_gives_json_on_stdout() {
    let project = Project::new().file("m.yaml", "version: 1\ndistribution: flash-attn\n");
    let said = project.run(&["check", "m.yaml", "--format", "json"]).exits(1);
    let row: serde_json::Value = serde_json::from_str(said.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(
        (row["name"].as_str(), row["file"].as_str(), row["line"].as_u64()),
        (Some("no-cells"), Some("m.yaml"), Some(2))
    );
    assert_eq!(said.stderr, "1 file, 1 error, 0 warnings\n");
}
