//! Jobs that leave an archive of an install tree, or a tree alone: planned, published and missed as
//! what they are.

use crate::support::{Project, SourceArchive};

/// A matrix of AOTriton with these lines.
fn matrix(more: &str) -> String {
    format!(
        "version: 1\ndistribution: aotriton\nrecipe: aotriton\nrunner: self-hosted\nunknown: lenient\ntorch-from: host\npython-from: host\n{more}"
    )
}

const BY_TARGET: &str =
    "axes: {aotriton: [\"0.13.0\"], rocm: [\"7.14.0\"], gfx: [gfx942, gfx1151]}\n";
const GFX942: &str = "aotriton-0.13.0+rocm7.14-gfx942-linux_x86_64-tree.tar.gz";
const GFX1151: &str = "aotriton-0.13.0+rocm7.14-gfx1151-linux_x86_64-tree.tar.gz";

fn planned(more: &str) -> Project {
    let project = Project::new().file("m.yaml", &matrix(more));
    project
        .run(&["plan", "m.yaml", "--format", "json", "--out", "plan.json"])
        .exits(0);
    project
}

fn jobs(project: &Project) -> Vec<(String, String)> {
    let plan: serde_json::Value = serde_json::from_str(&project.read("plan.json")).unwrap();
    let text = |job: &serde_json::Value, key: &str| job[key].as_str().unwrap().to_owned();
    plan["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| (text(job, "id"), text(job, "wheel")))
        .collect()
}

#[test]
fn archives_of_several_targets_have_names_of_their_own() {
    let found = jobs(&planned(BY_TARGET));
    let expected = [
        ("aotriton-0.13.0-rocm7.14.0-gfx-gfx942", GFX942),
        ("aotriton-0.13.0-rocm7.14.0-gfx-gfx1151", GFX1151),
    ];
    assert_eq!(
        found,
        expected.map(|(id, name)| (id.to_owned(), name.to_owned()))
    );
    // Where the targets are no axis, the id names them all the same: two files may differ in
    // nothing else.
    let list = jobs(&planned(
        "axes: {aotriton: [\"0.13.0\"], rocm: [\"7.14.0\"]}\ngfx: [gfx942, gfx950]\n",
    ));
    assert_eq!(list[0].0, "aotriton-0.13.0-rocm7.14.0-gfx942_gfx950");
    assert_eq!(
        list[0].1,
        "aotriton-0.13.0+rocm7.14-gfx942_gfx950-linux_x86_64-tree.tar.gz"
    );
}

#[test]
fn a_tree_alone_is_planned_and_no_workflow_throws_it_away() {
    let text = "version: 1\ndistribution: composable-kernel\nrecipe: ck\nunknown: lenient\naxes: {rocm: [\"7.14.0\"]}\ngfx: [gfx942]\n";
    let project = Project::new().file("m.yaml", text);
    let stdout = project.run(&["plan", "m.yaml"]).exits(0).stdout;
    assert!(
        stdout.contains("composable_kernel-*+rocm7.14-gfx942-linux_x86_64-tree  gfx942\n"),
        "{stdout}"
    );
    let stderr = project
        .run(&["render", "workflow", "m.yaml"])
        .exits(1)
        .stderr;
    assert!(
        stderr.contains(
            "error[P054 tree-on-a-runner]: the recipe `ck` installs a tree on its \
        runner and produces nothing to publish\n"
        ),
        "{stderr}"
    );
}

#[test]
fn a_release_takes_archives_lists_none_for_installers_and_misses_those_that_are_planned() {
    let project = planned(BY_TARGET).bytes(
        &format!("dist/{GFX942}"),
        &SourceArchive::tree("a tree").bytes(),
    );
    let publish = ["publish", "--to", "release", "--plan", "plan.json", "dist"];
    let stderr = project.run(&publish).exits(1).stderr;
    assert!(
        stderr.contains(&format!(
            "error[G004 missing-wheel]: an archive of an install tree is missing: `{GFX1151}`\n"
        )),
        "{stderr}"
    );
    std::fs::write(
        project.path("dist").join(GFX1151),
        SourceArchive::tree("another tree").bytes(),
    )
    .unwrap();
    project.run(&publish).exits(0);
    let sums = project.read("release/SHA256SUMS");
    assert!(sums.contains(GFX942) && sums.contains(GFX1151), "{sums}");
    let pages: Vec<String> = project
        .files()
        .into_iter()
        .filter(|path| path.starts_with("release/simple/"))
        .collect();
    assert!(
        pages
            .iter()
            .all(|page| !project.read(page).contains("tree.tar.gz")),
        "{pages:?}"
    );
    let before = project.files();
    let stdout = project.run(&publish).exits(0).stdout;
    assert_eq!(project.files(), before, "{stdout}");
    let rebuilt = ["plan", "m.yaml", "--published", "release"];
    assert!(
        project.run(&rebuilt).exits(0).stdout.contains("0 jobs"),
        "what is published needs no job"
    );
    let other = "aotriton-0.12.0+rocm7.14-gfx942-linux_x86_64-tree.tar.gz";
    std::fs::write(
        project.path("dist").join(other),
        SourceArchive::tree("old").bytes(),
    )
    .unwrap();
    let stderr = project.run(&publish).exits(1).stderr;
    assert!(
        stderr.contains(&format!(
            "error[G005 unplanned-wheel]: no job of the plan builds `{other}`\n"
        )),
        "{stderr}"
    );
}

#[test]
fn archives_that_are_missing_are_reported() {
    let project = planned(BY_TARGET).bytes(
        &format!("dist/{GFX942}"),
        &SourceArchive::tree("a tree").bytes(),
    );
    project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0);
    let missing = [
        "report",
        "missing",
        "--published",
        "release",
        "--plan",
        "plan.json",
    ];
    let outcome = project.run(&missing).exits(1);
    let expected = format!(
        "install trees: 1 of 2 present, 1 missing\n  MISSING  {GFX1151}\n  yes      {GFX942}\n"
    );
    assert_eq!(outcome.stdout, expected);
    let listed = project
        .run(&[&missing[..], &["--list"]].concat())
        .exits(1)
        .stdout;
    assert_eq!(listed, format!("{GFX1151}\n"));
    std::fs::write(
        project.path("dist").join(GFX1151),
        SourceArchive::tree("another tree").bytes(),
    )
    .unwrap();
    project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0);
    project.run(&missing).exits(0);
}

#[test]
fn archives_and_failed_archives_are_in_coverage_and_notes() {
    let result = format!(
        "{{\"job\": \"aotriton-0.13.0-rocm7.14.0-gfx-gfx1151\", \"outcome\": \"failed\", \"reason\": \"{}\"}}",
        "no space"
    );
    let project = planned(BY_TARGET)
        .bytes(
            &format!("dist/{GFX942}"),
            &SourceArchive::tree("a tree").bytes(),
        )
        .file("results/build.json", &result);
    let release = project.run(&["publish", "--to", "release", "--tag", "v1", "dist"]);
    release.exits(0);
    let coverage = [
        "report",
        "coverage",
        "--published",
        "release",
        "--plan",
        "plan.json",
    ];
    let stdout = project.run(&coverage).exits(0).stdout;
    assert!(
        stdout.contains("| Linux x86-64 | `aotriton` | 1 | 1 | 0 | 50% |\n"),
        "{stdout}"
    );
    let results = ["--plan", "plan.json", "--results", "results"];
    let notes = [
        &["report", "notes", "--published", "release", "--tag", "v1"][..],
        &results,
    ]
    .concat();
    let stdout = project.run(&notes).exits(0).stdout;
    assert!(
        stdout.starts_with(
            "1 archive. Of the 2 that were planned, 1 is missing.\n\n## Install trees\n"
        ),
        "{stdout}"
    );
    assert!(
        stdout.contains(&format!("| aotriton | Linux x86-64 | `{GFX942}` |\n")),
        "{stdout}"
    );
    let failed = format!(
        "| archive | job | what happened |\n|---|---|---|\n| `{GFX1151}` | `aotriton-0.13.0-rocm7.14.0-gfx-gfx1151` | failed: no space |\n"
    );
    assert!(
        stdout.contains(&format!("1 of the 2 planned archives:\n\n{failed}")),
        "{stdout}"
    );
    assert!(
        stdout.contains("SHA-256 of every archive") && stdout.contains(&format!("  {GFX942}\n")),
        "{stdout}"
    );
    let failures = [&["report", "failures", "--built", "dist"][..], &results].concat();
    let stdout = project.run(&failures).exits(0).stdout;
    assert!(
        stdout.starts_with("1 of the 2 planned archives is missing:\n")
            && stdout.contains("failed: no space"),
        "{stdout}"
    );
    let bad = result.replace("gfx1151", "gfx942");
    let project = project.file("results/build.json", &bad).bytes(
        &format!("dist/{GFX1151}"),
        &SourceArchive::tree("another tree").bytes(),
    );
    let stdout = project.run(&failures).exits(0).stdout;
    assert!(
        stdout.starts_with("1 archive is built and did not pass the test:\n")
            && stdout.contains(GFX942),
        "{stdout}"
    );
}

#[test]
fn jobs_that_share_a_place_of_the_grid_count_each() {
    let wheels = "version: 1\ndistribution: torch\nrecipe: torch\nrunner: self-hosted\nunknown: lenient\ntorch-from: host\npython-from: host\n\
        axes: {torch-ref: [release/2.12, release/2.13], python: [\"3.12\"]}\ngfx: [gfx942]\n";
    let project = Project::new()
        .file("m.yaml", wheels)
        .file("dist/build.log", "");
    project
        .run(&["plan", "m.yaml", "--format", "json", "--out", "plan.json"])
        .exits(0);
    let names: Vec<String> = jobs(&project).into_iter().map(|(_, wheel)| wheel).collect();
    assert!(
        names.len() == 2 && names[0] == names[1] && names[0].starts_with("torch-*"),
        "{names:?}"
    );
    let project = project.bytes("release/torch-2.12.0-cp312-cp312-linux_x86_64.whl", b"");
    let outcome = project
        .run(&[
            "report",
            "missing",
            "--published",
            "release",
            "--plan",
            "plan.json",
        ])
        .exits(1);
    assert!(
        outcome
            .stdout
            .contains("\ntorch * on Linux x86-64: 1 of 2 present, 1 missing\n"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome
            .stderr
            .contains("9 of 10 cells are missing, in 9 wheels\n"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_workflow_keeps_archives_and_checks_no_wheels() {
    let project = Project::new().file(
        "m.yaml",
        &matrix(BY_TARGET).replace("torch-from: host\npython-from: host\n", "python-from: uv\n"),
    );
    let stdout = project
        .run(&["render", "workflow", "m.yaml"])
        .exits(0)
        .stdout;
    // `report leg` takes what the build reported, whatever its form.
    assert!(
        stdout.contains("report leg --job-env ROCK_JOB --dist dist --out kept"),
        "{stdout}"
    );
    assert!(
        !stdout.contains("*.whl") && !stdout.contains("Check the wheels"),
        "{stdout}"
    );
}

#[test]
fn what_a_recipe_leaves_and_what_it_collects_agree() {
    let stderr_of = |more: &str| {
        let recipe = format!(
            "recipe: 1\nname: own\ndistribution: own\n{more}\nsteps:\n  - {{stage: a, argv: [make]}}\n"
        );
        let text = "version: 1\ndistribution: own\nrecipe: own\naxes: {own: [\"1.0\"]}\n";
        let project = Project::new()
            .file("m.yaml", text)
            .file("recipes/own.yaml", &recipe);
        project
            .run(&["check", "m.yaml", "--recipes", "recipes"])
            .exits(1)
            .stderr
    };
    let wrong = stderr_of("leaves: archive\ncollect: {wheels: \"dist/*.whl\"}");
    assert!(
        wrong.contains(
            "a recipe that produces an archive must have `archive` and no `wheels` under `collect`"
        ),
        "{wrong}"
    );
    let open = stderr_of("leaves: archive\nversion-from: build\ncollect: {archive: dist/x.tar.gz}");
    assert!(
        open.contains(
            "the name of an archive contains the version, which is unknown with `version-from: \
             build`"
        ),
        "{open}"
    );
    assert!(stderr_of("collect: {archive: dist/x.tar.gz}").contains(
        "a recipe that produces wheels must have `wheels` and no `archive` under `collect`"
    ));
}
