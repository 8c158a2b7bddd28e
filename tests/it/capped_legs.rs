//! A leg of a rendered workflow that is capped keeps its compiler cache, and its next attempt goes
//! on from it: the scripts as they stand, and the steps between them as their conditions say.

use std::path::Path;

use serde_json::Value;

use crate::support::toy::{JOB, Toy, WHEEL};

/// Seconds that the build has until its cap.
const LEFT_S: u64 = 6;

/// A repository, and what the cache of its host holds: keys with objects, the newest last.
struct Host {
    toy: Toy,
    steps: Vec<Value>,
    leg: Value,
    kept: Vec<(String, String)>,
}

impl Host {
    /// Each attempt compiles one object; the wheel needs two.
    fn new(build: &str) -> Self {
        let toy = Toy::building(build).matrix("workflow: {cache: on}\n");
        let (workflow, leg) = toy.workflow("matrix_0");
        let steps = workflow["jobs"]["build"]["steps"]
            .as_array()
            .unwrap()
            .clone();
        Self {
            toy,
            steps,
            leg,
            kept: Vec::new(),
        }
    }

    /// An attempt of the leg, on a runner of its own, that began so long ago; the exit code of its
    /// build.
    fn attempt(&mut self, run: u32, attempt: u32, seconds_ago: u64) -> String {
        let _ = std::fs::remove_dir_all(self.toy.path(".rock"));
        let _ = std::fs::remove_dir_all(self.toy.path("dist"));
        let _ = std::fs::remove_dir_all(self.toy.path("kept"));
        let _ = std::fs::remove_file(self.toy.path("outputs"));
        let mut has_failed = false;
        for step in self.steps.clone() {
            let is_run = match step["if"].as_str() {
                None => !has_failed,
                Some(
                    "runner.environment == 'github-hosted'" | "runner.environment == 'self-hosted'",
                ) => false,
                Some("github.run_attempt != '1'") => !has_failed && attempt > 1,
                Some("failure() && steps.build.outputs.code == '124'") => {
                    has_failed && self.output("code") == "124"
                }
                Some(other) if other.starts_with("failure() || cancelled()") => has_failed,
                Some(other) => panic!("{other}"),
            };
            if is_run && step["run"].is_string() {
                let value = |expression: &str| self.value(expression, run, attempt, seconds_ago);
                has_failed |= !self.toy.step(&step, value);
            } else if is_run {
                self.uses(&step);
            }
        }
        self.output("code")
    }

    fn value(&self, expression: &str, run: u32, attempt: u32, seconds_ago: u64) -> String {
        match expression {
            "GITHUB_RUN_ID" => run.to_string(),
            "GITHUB_RUN_ATTEMPT" => attempt.to_string(),
            "${{ toJSON(matrix) }}" => self.leg.to_string(),
            "${{ job.status }}" => "failure".to_owned(),
            "${{ steps.take.outputs.digest }}" => self.output("digest"),
            "${{ steps.keep.outputs.artifact-id }}" => "12".to_owned(),
            "${{ steps.began.outputs.at }}" => {
                (rock_matrix::sys::now_s() - seconds_ago).to_string()
            }
            other => {
                let key = other
                    .strip_prefix("${{ matrix.")
                    .and_then(|rest| rest.strip_suffix(" }}"))
                    .unwrap();
                self.leg[key].as_str().unwrap().to_owned()
            }
        }
    }

    /// The actions of the cache; what others do is not looked at here.
    fn uses(&mut self, step: &Value) {
        let action = step["uses"].as_str().unwrap().split('@').next().unwrap();
        let with = |name: &str| {
            let expression = step["with"][name].as_str().unwrap_or_default();
            self.output(
                expression
                    .trim_start_matches("${{ steps.cache.outputs.")
                    .trim_end_matches(" }}"),
            )
        };
        let (key, beginning) = (with("key"), with("restore-keys"));
        let path = step["with"]["path"]
            .as_str()
            .unwrap_or_default()
            .replace("${{ matrix.id }}", JOB);
        let objects = self.toy.path(&path).join("objects");
        match action {
            "actions/cache/save" => {
                // A key is written once.
                assert!(
                    !key.is_empty() && self.kept.iter().all(|(known, _)| *known != key),
                    "{key}"
                );
                self.kept
                    .push((key, std::fs::read_to_string(objects).unwrap()));
            }
            "actions/cache/restore" => {
                assert!(!beginning.is_empty());
                let begins =
                    |kept: &&(String, String)| kept.0 == key || kept.0.starts_with(&beginning);
                let Some((_, kept)) = self.kept.iter().rev().find(begins) else {
                    return;
                };
                std::fs::create_dir_all(objects.parent().unwrap()).unwrap();
                std::fs::write(objects, kept).unwrap();
            }
            _ => {}
        }
    }

    /// What a step has put out.
    fn output(&self, name: &str) -> String {
        let outputs = std::fs::read_to_string(self.toy.path("outputs")).unwrap_or_default();
        let found = outputs
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        found.unwrap_or_default().to_owned()
    }

    /// Seconds since the job of a leg began whose build is about to be capped.
    fn almost_capped(&self) -> u64 {
        self.leg["cap"].as_str().unwrap().parse::<u64>().unwrap() * 60 - LEFT_S
    }

    fn has_wheel(&self) -> bool {
        Path::exists(&self.toy.path("dist").join(WHEEL))
    }
}

/// A compiler that finishes an object and is then at work on the next one; with two objects there
/// is a wheel.
const COMPILES: &str = "[ {{ 'on' if compiler_cache else 'off' }} = on ] || exit 9\n[ ! -e ../../no-network ] || exit 7\nmkdir -p ccache\necho object >>ccache/objects\n\
     [ \"$(wc -l <ccache/objects)\" -ge 2 ] || sleep 300\nmkdir -p dist; cp \"$WHEELS\"/* dist/";

#[test]
fn the_next_attempt_of_a_capped_leg_uses_its_compiler_cache() {
    let mut host = Host::new(COMPILES);
    let almost = host.almost_capped();
    assert_eq!(host.attempt(7, 1, almost), "124");
    assert!(!host.has_wheel());
    assert_eq!(
        host.kept
            .iter()
            .map(|(_, objects)| objects.as_str())
            .collect::<Vec<_>>(),
        ["object\n"]
    );
    // Another run has nothing to go on from, and what it keeps has a key of its own.
    assert_eq!(host.attempt(8, 2, almost), "124");
    assert_eq!(host.kept.len(), 2);
    // An attempt that fails for another reason loses nothing, and one of the other legs alone does
    // not either.
    host.toy.write("no-network", b"");
    assert_eq!(host.attempt(7, 2, almost), "4");
    std::fs::remove_file(host.toy.path("no-network")).unwrap();
    assert_eq!(host.attempt(7, 4, almost), "0");
    assert!(host.has_wheel());
    assert_eq!(
        host.kept.len(),
        2,
        "a build that ends by itself keeps no cache"
    );
}

#[test]
fn a_leg_that_fails_before_its_cap_keeps_no_compiler_cache() {
    let mut host = Host::new("mkdir -p ccache; echo object >>ccache/objects; exit 3");
    assert_eq!(host.attempt(7, 1, 0), "4");
    assert_eq!(host.kept.len(), 0);
}
