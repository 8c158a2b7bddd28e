//! Legs of a rendered workflow that fail keep why, and the job `failures` tells it: the scripts of
//! both, run as they stand.

use serde_json::Value;

use crate::support::toy::{JOB, Toy, WHEEL};

/// A workflow run whose wheel is built and tested on another runner.
struct Run {
    toy: Toy,
    workflow: Value,
    leg: Value,
}

impl Run {
    fn new() -> Self {
        let toy = Toy::building("exit 1").matrix("test: {runner: mi300x, gpu: none}\n");
        let python =
            "#!/bin/bash\n[ ! -e ../../broken ] || { echo 'no kernel for gfx90a'; exit 1; }\n";
        toy.write("python", python.as_bytes());
        let (workflow, leg) = toy.workflow("test_0");
        let run = Self { toy, workflow, leg };
        run.fetch_wheel();
        run
    }

    fn fetch_wheel(&self) {
        std::fs::create_dir_all(self.toy.path("dist")).unwrap();
        std::fs::copy(
            self.toy.path(&format!("wheels/{WHEEL}")),
            self.toy.path(&format!("dist/{WHEEL}")),
        )
        .unwrap();
    }

    /// Runs the leg that tests, as a runner does whose job began so long ago, and keeps its
    /// artifact; whether it succeeded.
    fn test(&self, attempt: u32, seconds_ago: u64) -> bool {
        let _ = std::fs::remove_dir_all(self.toy.path(".rock"));
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap()
            .as_secs();
        let plan = rock_matrix::sys::hash_file(&self.toy.path("plan.json"))
            .unwrap()
            .1
            .to_hex();
        let value = |expression: &str| match expression {
            "${{ toJSON(matrix) }}" => self.leg.to_string(),
            "${{ needs.plan.outputs.digest }}" => plan.clone(),
            "${{ toJSON(needs.build.outputs) }}" => reports(),
            "${{ matrix.id }}" => JOB.to_owned(),
            "${{ matrix.engine }}" => self.leg["engine"].as_str().unwrap().to_owned(),
            "${{ steps.began.outputs.at }}" => (now - seconds_ago).to_string(),
            "${{ job.status }}" => "failure".to_owned(),
            other => panic!("{other}"),
        };
        let mut has_failed = false;
        for step in self.workflow["jobs"]["gpu-test"]["steps"]
            .as_array()
            .unwrap()
        {
            let is_run = match step["if"].as_str() {
                None => !has_failed,
                Some(
                    "runner.environment == 'github-hosted'" | "runner.environment == 'self-hosted'",
                ) => false,
                Some("failure() || cancelled()") => has_failed,
                Some("failure() || cancelled() || github.run_attempt != '1'") => {
                    has_failed || attempt > 1
                }
                Some(other) => panic!("{other}"),
            };
            if is_run && step["run"].is_string() {
                has_failed |= !self.toy.step(step, value);
            } else if is_run && step["name"] == "Keep how the leg ended" {
                self.keep(&step["with"]);
            }
        }
        !has_failed
    }

    /// Keeps the files of an artifact where the job `failures` fetches it to.
    fn keep(&self, with: &Value) {
        let text = |key: &str| with[key].as_str().unwrap().replace("${{ matrix.id }}", JOB);
        let artifact = self.toy.path("results").join(text("name"));
        let _ = std::fs::remove_dir_all(&artifact);
        std::fs::create_dir_all(&artifact).unwrap();
        for path in text("path")
            .lines()
            .map(|path| self.toy.path(path))
            .filter(|path| path.is_file())
        {
            std::fs::copy(&path, artifact.join(path.file_name().unwrap())).unwrap();
        }
    }

    /// The summary that the job `failures` writes.
    fn summary(&self) -> String {
        let _ = std::fs::remove_file(self.toy.path("summary.md"));
        let job = &self.workflow["jobs"]["failures"];
        let fetched = job["steps"]
            .as_array()
            .unwrap()
            .iter()
            .find(|step| step["name"] == "Fetch how legs ended")
            .unwrap();
        assert_eq!(
            fetched["with"],
            serde_json::json!({"pattern": "result-*", "path": "results"})
        );
        for step in job["steps"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|step| step["run"].is_string())
        {
            let value = |expression: &str| match expression {
                "${{ toJSON(needs.build.outputs) }}" => reports(),
                other => other.replace("${{ needs.gpu-test.result }}", "failure"),
            };
            assert!(self.toy.step(step, value), "{step}");
        }
        std::fs::read_to_string(self.toy.path("summary.md")).unwrap()
    }
}

/// What the leg that built the wheel reported.
fn reports() -> String {
    let report = serde_json::json!({"job": JOB, "artifact": "12", "digest": "0".repeat(64)});
    serde_json::json!({"leg_0": report.to_string()}).to_string()
}

#[test]
fn a_failed_test_is_reported_with_its_wheel_and_finding() {
    let run = Run::new();
    run.toy.write("broken", b"");
    assert!(!run.test(1, 0));
    let summary = run.summary();
    assert!(
        summary.starts_with(
            "### Nothing was published\n\nbuild: ${{ needs.build.result }}, gpu-test: failure\n\n"
        ),
        "{summary}"
    );
    let table = format!(
        "1 wheel is built and did not pass the test:\n\n| wheel | job | what happened |\n| --- | --- | --- |\n\
         | `{WHEEL}` | `{JOB}` | failed: stage `smoke-test`, exit status 1: no kernel for gfx90a |\n"
    );
    assert!(summary.ends_with(&table), "{summary}");
    // Nothing is there to install or to verify.
    assert!(
        !summary.contains("pip install") && !summary.contains("verify"),
        "{summary}"
    );
}

#[test]
fn a_test_that_ran_out_of_time_or_never_began_is_reported_too() {
    let run = Run::new();
    assert!(!run.test(1, 3000), "the cap of 50 minutes is reached");
    let summary = run.summary();
    assert!(
        summary.ends_with("| stopped at its time limit: stage `smoke-test` |\n"),
        "{summary}"
    );
    std::fs::remove_dir_all(run.toy.path("dist")).unwrap();
    assert!(!run.test(1, 0), "no wheel was fetched");
    run.fetch_wheel();
    let summary = run.summary();
    assert!(
        summary.ends_with("| failed: before its first stage |\n"),
        "{summary}"
    );
}

#[test]
fn a_test_that_passes_at_the_second_attempt_is_not_reported() {
    let run = Run::new();
    run.toy.write("broken", b"");
    assert!(!run.test(1, 0));
    std::fs::remove_file(run.toy.path("broken")).unwrap();
    assert!(run.test(2, 0));
    let summary = run.summary();
    assert!(
        summary.ends_with("\n\nNo job recorded what failed: see the logs of the run.\n"),
        "{summary}"
    );
}
