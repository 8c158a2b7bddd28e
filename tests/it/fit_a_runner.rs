//! Builds are compared with the runners and the caches that GitHub has for them, before a workflow
//! is written.

use crate::support::Project;

/// A shipped matrix file with another runner.
fn on(file: &str, runner: &str) -> Project {
    let text =
        std::fs::read_to_string(format!("{}/matrices/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    assert!(text.contains("\nrunner: self-hosted\n"), "{file}");
    Project::new().file(
        "m.yaml",
        &text.replace("\nrunner: self-hosted\n", &format!("\nrunner: {runner}\n")),
    )
}

/// A hosted runner has 4 threads, 6 hours and 14 GB of disk.
#[test]
fn jobs_that_do_not_fit_their_runner_are_refused() {
    let refused = |file: &str| {
        let outcome = on(file, "ubuntu-22.04")
            .run(&["render", "workflow", "m.yaml"])
            .exits(1);
        assert_eq!(outcome.stdout, "");
        outcome.stderr
    };
    insta::assert_snapshot!(refused("pytorch.yaml"), @r"
    error[P065 job-does-not-fit]: 20 jobs do not fit on `ubuntu-22.04`: a build of `torch` needs 36 thread-hours, but the runner has 4 threads for 6 h
     --> m.yaml:7:9
      |
    7 | runner: ubuntu-22.04
      |         ^^^^^^^^^^^^
      |
      = note: pytorch/pytorch pull request 120913: 3 hours on 12 cores; issue 183301: builds for ROCm run out of 420 minutes on larger machines
    help: set `runner` to a larger one, such as `self-hosted`, or `[self-hosted, LABEL]` for a label of yours

    error[P065 job-does-not-fit]: 20 jobs do not fit on `ubuntu-22.04`: a build of `torch` needs 60 GiB of disk, but the runner has 34 GiB
     --> m.yaml:7:9
      |
    7 | runner: ubuntu-22.04
      |         ^^^^^^^^^^^^
      |
      = note: pytorch/pytorch pull request 120913: 3 hours on 12 cores; issue 183301: builds for ROCm run out of 420 minutes on larger machines
    help: set `runner` to a larger one, such as `self-hosted`, or `[self-hosted, LABEL]` for a label of yours
    ");
    insta::assert_snapshot!(refused("rocm-sdk.yaml"), @r"
    error[P065 job-does-not-fit]: 1 job does not fit on `ubuntu-22.04`: a build of `rocm-sdk-packages` needs 60 GiB of disk, but the runner has 34 GiB
     --> m.yaml:7:9
      |
    7 | runner: ubuntu-22.04
      |         ^^^^^^^^^^^^
      |
      = note: workflows that make the packages: hosted runners run out of disk
    help: set `runner` to a larger one, such as `self-hosted`, or `[self-hosted, LABEL]` for a label of yours
    ");
    insta::assert_snapshot!(refused("aotriton.yaml"), @r"
    error[P065 job-does-not-fit]: 1 job does not fit on `ubuntu-22.04`: a build of `aotriton` needs 27 thread-hours, but the runner has 4 threads for 6 h
     --> m.yaml:6:9
      |
    6 | runner: ubuntu-22.04
      |         ^^^^^^^^^^^^
      |
      = note: build of AOTriton for gfx1151: 27 processor hours
    help: set `runner` to a larger one, such as `self-hosted`, or `[self-hosted, LABEL]` for a label of yours
    ");
    // Whoever names a runner of their own knows what it has.
    for runner in ["self-hosted", "our-large-machine", "rocm-azure"] {
        on("rocm-sdk.yaml", runner)
            .run(&["render", "workflow", "m.yaml"])
            .exits(0);
    }
    // A build on this machine asks no runner.
    let builds = ["render", "script", "m.yaml", "--out", "scripts/"];
    on("pytorch.yaml", "ubuntu-22.04").run(&builds).exits(0);
}

/// Jobs that `check` and `plan` list may be built elsewhere; those that a workflow takes from
/// `plan` may not.
#[test]
fn check_and_plan_warn_of_jobs_that_do_not_fit() {
    let project = on("pytorch.yaml", "ubuntu-22.04").env("GITHUB_OUTPUT", "outputs");
    let rendered = project
        .run(&["render", "workflow", "m.yaml"])
        .exits(1)
        .stderr;
    let planned = project.run(&["plan", "m.yaml", "--github-output"]).exits(1);
    assert_eq!(
        (planned.stdout.as_str(), planned.stderr.as_str()),
        ("", rendered.as_str())
    );
    assert!(!project.has("outputs"));
    let warned = rendered.replace("error[P065", "warning[P065");
    let planned = project
        .run(&["plan", "m.yaml", "--format", "json", "--out", "plan.json"])
        .exits(0)
        .stderr;
    assert!(planned.contains(&warned), "{planned}");
    let checked = project.run(&["check", "m.yaml"]).exits(0).stderr;
    assert!(checked.starts_with(&warned), "{checked}");
    let rows = project
        .run(&["check", "m.yaml", "--format", "json"])
        .exits(0)
        .stdout;
    let places: Vec<String> = rows
        .lines()
        .map(|row| serde_json::from_str::<serde_json::Value>(row).unwrap())
        .filter(|row| row["code"].is_string())
        .map(|row| {
            format!(
                "{} {} {}:{}",
                row["severity"], row["code"], row["file"], row["line"]
            )
            .replace('"', "")
        })
        .collect();
    assert_eq!(places, ["warning P065 m.yaml:7"; 2]);
    let is_silent = |project: &Project, arguments: &[&str]| {
        let outcome = project.run(arguments).exits(0);
        assert!(
            !outcome.stderr.contains("P065"),
            "{arguments:?}: {}",
            outcome.stderr
        );
    };
    is_silent(&project, &["plan", "m.yaml", "--runner", "4x16"]);
    is_silent(
        &on("rocm-sdk.yaml", "our-large-machine"),
        &["check", "m.yaml"],
    );
    // No workflow runs jobs for Windows.
    is_silent(
        &Project::new().copy("matrices", "matrices"),
        &["check", "matrices/pytorch-windows.yaml"],
    );
}

/// GitHub keeps 10 GB of caches and deletes what was used least lately, so that a capped build
/// would begin anew.
#[test]
fn caches_larger_than_github_keeps_are_a_warning_and_shared_out() {
    let matrix = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\naxes:\n  flash-attn: [\"2.6.3\", \"2.7.4\", \"2.8.3\"]\n  \
                  python: [\"3.9\", \"3.10\", \"3.11\", \"3.12\"]\n  torch: [\"2.5.1\", \"2.6.0\", \"2.7.1\", \"2.8.0\"]\n  \
                  rocm: [\"6.1\", \"6.2\", \"6.3\", \"6.4\"]\n  backend: [ck]\ngfx: [gfx90a, gfx942]\n";
    let project = Project::new().file("m.yaml", &format!("{matrix}workflow: {{cache: on}}\n"));
    let stderr = project
        .run(&["render", "workflow", "m.yaml"])
        .exits(0)
        .stderr;
    let warned = stderr
        .split("\n\n")
        .find(|one| one.contains("[P066 "))
        .unwrap_or_default();
    insta::assert_snapshot!(warned, @r"
    warning[P066 caches-exceed-limit]: the compiler caches of all builds take about 10296 MB, but GitHub keeps at most 10000 MB
      --> m.yaml:11:19
       |
    11 | workflow: {cache: on}
       |                   ^^
       |
       = note: each build is limited to 138 MB
    help: build fewer combinations, build some in another repository, or choose a larger runner
    ");
    for command in [&["check", "m.yaml"][..], &["plan", "m.yaml"]] {
        let stderr = project.run(command).exits(0).stderr;
        assert!(stderr.contains(warned.trim_end()), "{command:?}: {stderr}");
    }
    let plan = project
        .run(&["plan", "m.yaml", "--format", "json"])
        .exits(0)
        .json();
    let jobs = plan["jobs"].as_array().unwrap().len() as u64;
    let total: u64 = plan["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job["estimate"]["cache_mb"].as_u64().unwrap())
        .sum();
    assert_eq!(
        (
            plan["limits"]["cache_limit_mb"].as_u64(),
            plan["limits"]["cache_total_mb"].as_u64()
        ),
        (Some(10_000), Some(total))
    );
    assert_eq!(
        plan["matrices"][0]["cache_mb"].as_u64(),
        Some(10_000 / jobs)
    );
    // The share reaches the compiler of a leg.
    let leg = serde_json::json!({"id": plan["jobs"][0]["id"], "runner": "[\"ubuntu-22.04\"]"})
        .to_string();
    let on_a_leg = Project::new()
        .env("ROCK_JOB", &leg)
        .file("plan.json", &plan.to_string());
    let steps = on_a_leg
        .run(&[
            "build",
            "--job-env",
            "ROCK_JOB",
            "--plan",
            "plan.json",
            "--dry-run",
        ])
        .exits(0)
        .stdout;
    let sizes: Vec<&str> = steps
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("CCACHE_MAXSIZE="))
        .collect();
    assert!(
        !sizes.is_empty() && sizes.iter().all(|size| *size == "CCACHE_MAXSIZE=138M"),
        "{steps}"
    );
    // Without caches there is nothing to share.
    let plan = Project::new()
        .file("m.yaml", matrix)
        .run(&["plan", "m.yaml", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(plan["limits"], serde_json::json!({"jobs_per_matrix": 256}));
    assert!(plan["matrices"][0]["cache_mb"].is_null());
}
