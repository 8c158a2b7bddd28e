//! What jobs of a rendered workflow hand to each other: the plan, the wheels and the program, each
//! by the report of the job that made it.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rock_matrix::names::Digest;
use rock_matrix::publish::sums;
use rock_matrix::sys::hash_file;
use serde_json::{Value, json};

use crate::support::Wheel;
use crate::support::toy::{JOB, Toy, WHEEL};

const OTHER_JOB: &str = "toy-1.0-rocm6.2-py3.12";
const OTHER_WHEEL: &str = "toy-1.0+rocm62-cp312-cp312-linux_x86_64.whl";

/// Builds the toy, so that its leg has something to hand over.
fn built() -> Toy {
    let toy = Toy::building("mkdir -p dist; cp \"$WHEELS\"/* dist/");
    let _ = toy.build(0, &[]);
    toy
}

/// Runs `report leg`; the exit code, stdout and stderr.
fn leg(toy: &Toy) -> (i32, String, String) {
    let words = ["report", "leg", "--job-env", "ROCK_JOB", "--out", "kept"];
    run(
        toy,
        &words,
        &[("ROCK_JOB", &json!({"id": JOB}).to_string())],
    )
}

fn run(toy: &Toy, words: &[&str], variables: &[(&str, &str)]) -> (i32, String, String) {
    let mut command = toy.command(words);
    command.envs(variables.iter().copied());
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn digest(path: &Path) -> Digest {
    hash_file(path).unwrap().1
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_leg_hands_over_what_its_build_reported() {
    let toy = built();
    toy.write("dist/notes.txt", b"not of the build, and no wheel");
    let (code, stdout, stderr) = leg(&toy);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let record = WHEEL.replace(".whl", ".build.json");
    assert_eq!(
        names(&toy.path("kept")),
        ["SHA256SUMS", &record, WHEEL].map(str::to_owned)
    );
    assert_eq!(
        std::fs::read_to_string(toy.path("kept/SHA256SUMS")).unwrap(),
        stdout
    );
    assert!(
        stdout.contains(&format!(
            "{}  {WHEEL}\n",
            digest(&toy.path("dist").join(WHEEL)).to_hex()
        )),
        "{stdout}"
    );
    // It takes no further disk.
    assert_eq!(
        inode(&toy.path("kept").join(WHEEL)),
        inode(&toy.path("dist").join(WHEEL))
    );
    let (code, _, stderr) = leg(&toy);
    assert_eq!(code, 1);
    insta::assert_snapshot!(stderr, @r"
    error[G349 output-not-empty]: the directory `kept` is not empty
    --> kept
    help: name another directory with `--out`, or remove this one
    ");
}

/// The files before the changed one are not collected, either.
#[test]
fn a_leg_with_a_changed_file_collects_nothing() {
    let toy = built();
    let mut record: Value = serde_json::from_str(&toy.text("build.json")).unwrap();
    let mut other = record["wheels"][0].clone();
    other["name"] = "zzz.tar.gz".into();
    record["wheels"].as_array_mut().unwrap().push(other);
    std::fs::write(toy.job("build.json"), record.to_string()).unwrap();
    toy.write("dist/zzz.tar.gz", b"changed");
    let (code, stdout, stderr) = leg(&toy);
    assert_eq!((code, stdout.as_str()), (1, ""));
    insta::assert_snapshot!(stderr.replace(&digest(&toy.path("dist").join(WHEEL)).to_hex(), "[BUILT]"), @r"
    error[G348 built-file-changed]: `zzz.tar.gz` is not the file that the build of `toy-1.0-rocm6.2-py3.11` reported
    --> dist/zzz.tar.gz
     = note: its digest is sha256:d67e2e944994496c8d8ec76eed0cf9f09679448d584b532bebf941852a37f5ed
     = note: the build reported sha256:[BUILT]
    help: find out what changed it, and do not publish files of this job until then
    ");
    assert!(!toy.path("kept").exists());
    std::fs::remove_file(toy.path("dist/zzz.tar.gz")).unwrap();
    let (code, _, stderr) = leg(&toy);
    assert!(
        code == 1 && stderr.contains("has nothing to hand over: `dist/zzz.tar.gz` is missing"),
        "{stderr}"
    );
    assert!(!toy.path("kept").exists());
}

/// Links are removed again if a later file cannot be written.
#[test]
fn a_leg_that_cannot_write_leaves_its_folder_empty() {
    let toy = built();
    let mut record: Value = serde_json::from_str(&toy.text("build.json")).unwrap();
    let mut other = record["wheels"][0].clone();
    // Its record has a name of more than 255 bytes.
    let name = format!("{}.tar.gz", "z".repeat(246));
    std::fs::copy(toy.path("dist").join(WHEEL), toy.path("dist").join(&name)).unwrap();
    other["name"] = name.into();
    record["wheels"].as_array_mut().unwrap().push(other);
    std::fs::write(toy.job("build.json"), record.to_string()).unwrap();
    let (code, _, stderr) = leg(&toy);
    assert!(code == 3 && stderr.starts_with("error[H0"), "{stderr}");
    assert_eq!(names(&toy.path("kept")), [""; 0]);
}

fn inode(path: &Path) -> u64 {
    std::fs::symlink_metadata(path).unwrap().ino()
}

#[test]
fn a_wheel_that_no_build_reported_stops_its_leg() {
    for name in [OTHER_WHEEL, "toy-1.0.tar.gz"] {
        let toy = built();
        toy.write(&format!("dist/{name}"), b"another job's");
        let (code, stdout, stderr) = leg(&toy);
        assert_eq!((code, stdout.as_str()), (1, ""), "{stderr}");
        assert!(stderr.starts_with(
            "error[G343 unreported-file]: the build of `toy-1.0-rocm6.2-py3.11` did not report"
        ));
        assert!(
            stderr.contains(&format!("dist/{name}")) && !toy.path("kept").exists(),
            "{stderr}"
        );
    }
}

#[test]
fn a_leg_hands_over_nothing_that_differs_from_its_build() {
    let error_of = |change: &dyn Fn(&Toy)| {
        let toy = built();
        change(&toy);
        let (code, _, stderr) = leg(&toy);
        assert_eq!(code, 1, "{stderr}");
        assert!(!toy.path("kept").exists());
        stderr.lines().next().unwrap().to_owned()
    };
    let record = |toy: &Toy, from: &str, to: &str| {
        let text = toy.text("build.json");
        assert!(text.contains(from), "{text}");
        std::fs::write(toy.job("build.json"), text.replace(from, to)).unwrap();
    };
    let wheel = |toy: &Toy| toy.path("dist").join(WHEEL);
    let found = [
        error_of(&|toy| std::fs::write(wheel(toy), b"").unwrap()),
        error_of(&|toy| std::fs::remove_file(toy.job("build.json")).unwrap()),
        error_of(&|toy| record(toy, "\"outcome\": \"done\"", "\"outcome\": \"failed\"")),
        error_of(&|toy| record(toy, &format!("\"job\": \"{JOB}\""), "\"job\": \"other\"")),
        error_of(&|toy| {
            std::fs::rename(wheel(toy), toy.path("elsewhere.whl")).unwrap();
            record(
                toy,
                &format!("\"name\": \"{WHEEL}\""),
                "\"name\": \"../elsewhere.whl\"",
            );
        }),
    ];
    insta::assert_snapshot!(found.join("\n"), @r"
    error[G348 built-file-changed]: `toy-1.0+rocm62-cp311-cp311-linux_x86_64.whl` is not the file that the build of `toy-1.0-rocm6.2-py3.11` reported
    error[G347 nothing-to-hand-over]: the job `toy-1.0-rocm6.2-py3.11` has nothing to hand over: there is no `.rock/toy-1.0-rocm6.2-py3.11/build.json`
    error[G347 nothing-to-hand-over]: the job `toy-1.0-rocm6.2-py3.11` has nothing to hand over: the build is not complete, or produced no file
    error[G347 nothing-to-hand-over]: the job `toy-1.0-rocm6.2-py3.11` has nothing to hand over: the build is for the job `other`
    error[G347 nothing-to-hand-over]: the job `toy-1.0-rocm6.2-py3.11` has nothing to hand over: `wheels` has a value that no build writes
    ");
}

/// A wheel that is a link may lead to any file of the runner.
#[test]
fn a_leg_hands_over_no_link() {
    let toy = built();
    std::fs::rename(toy.path("dist").join(WHEEL), toy.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", toy.path("dist").join(WHEEL)).unwrap();
    let (code, _, stderr) = leg(&toy);
    assert!(
        code == 1 && stderr.starts_with("error[G343 unreported-file]"),
        "{stderr}"
    );
}

/// A run with two legs, whose artifacts are downloaded.
struct Handed {
    toy: Toy,
    plan_digest: String,
    outputs: Value,
}

impl Handed {
    fn new() -> Self {
        let toy = Toy::building("").two_pythons();
        let output = toy
            .command(&[
                "plan",
                "matrices/toy.yaml",
                "--format",
                "json",
                "--out",
                "plan.json",
            ])
            .output()
            .unwrap();
        assert!(output.status.success());
        let plan_digest = digest(&toy.path("plan.json")).to_hex();
        let mut handed = Self {
            toy,
            plan_digest,
            outputs: json!({}),
        };
        handed.keep(0, JOB, &[WHEEL]);
        handed.keep(1, OTHER_JOB, &[OTHER_WHEEL]);
        handed
    }

    fn folder(&self, job: &str) -> PathBuf {
        self.toy.path("artifacts").join(format!("wheel-{job}"))
    }

    /// What a leg keeps and reports.
    fn keep(&mut self, number: usize, job: &str, wheels: &[&str]) {
        let folder = self.folder(job);
        let mut listed = Vec::new();
        for name in wheels {
            let record = name.replace(".whl", ".build.json");
            for (name, bytes) in [
                ((*name).to_owned(), Wheel::named(name).bytes()),
                (record, b"{}".to_vec()),
            ] {
                self.toy
                    .write(&format!("artifacts/wheel-{job}/{name}"), &bytes);
                listed.push((name.clone(), digest(&folder.join(name))));
            }
        }
        std::fs::write(
            folder.join("SHA256SUMS"),
            sums(listed.iter().map(|(name, of)| (name.as_str(), *of))),
        )
        .unwrap();
        let report = json!({
            "job": job,
            "artifact": (40 + number).to_string(),
            "digest": digest(&folder.join("SHA256SUMS")).to_hex(),
        });
        self.outputs[format!("leg_{number}")] = report.to_string().into();
    }

    fn run(&self, words: &[&str]) -> (i32, String, String) {
        let common = [
            "--plan",
            "plan.json",
            "--plan-sha256",
            &self.plan_digest,
            "--legs-env",
            "LEGS_0",
        ];
        run(
            &self.toy,
            &[words, &common].concat(),
            &[("LEGS_0", &self.outputs.to_string())],
        )
    }

    fn publish(&self) -> (i32, String, String) {
        self.run(&[
            "publish",
            "--to",
            "release",
            "--tag",
            "v1",
            "--artifacts",
            "artifacts",
        ])
    }

    /// The faults of a publish that is refused and writes nothing, with digests cut to four digits.
    #[track_caller]
    fn refused(&self) -> String {
        let (code, stdout, stderr) = self.publish();
        assert_eq!((code, stdout.as_str()), (1, ""), "{stderr}");
        assert!(!self.toy.path("release").exists(), "{stderr}");
        regex::Regex::new("[0-9a-f]{64}")
            .unwrap()
            .replace_all(&stderr, "[DIGEST]")
            .into_owned()
    }
}

#[test]
fn reports_without_artifacts_and_a_missing_folder_are_refused() {
    let handed = Handed::new();
    let (code, _, stderr) = handed.run(&["publish", "--to", "release", "artifacts"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(
        stderr.contains("`--legs-env` needs `--artifacts`"),
        "{stderr}"
    );
    let (code, _, stderr) = handed.run(&["publish", "--to", "release", "--artifacts", "nope"]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(stderr, @r"
    error[H020 cannot-read-file]: the directory `nope` does not exist
    help: check the value of `--artifacts`
    ");
    assert!(!handed.toy.path("release").exists());
}

#[test]
fn wheels_are_taken_by_the_reports_of_their_legs() {
    let handed = Handed::new();
    let (code, stdout, stderr) = handed.run(&["report", "legs"]);
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (0, "40,41\n", ""));
    let one = json!({"id": OTHER_JOB}).to_string();
    let words = "report legs --plan plan.json --legs-env LEGS_0 --job-env ROCK_JOB"
        .split(' ')
        .collect::<Vec<_>>();
    let variables = [("LEGS_0", handed.outputs.to_string()), ("ROCK_JOB", one)];
    let variables: Vec<(&str, &str)> = variables
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    assert_eq!(run(&handed.toy, &words, &variables).1, "41\n");
    let (code, _, stderr) = handed.publish();
    assert_eq!(code, 0, "{stderr}");
    for (job, wheel) in [(JOB, WHEEL), (OTHER_JOB, OTHER_WHEEL)] {
        let released = handed.toy.path("release/v1").join(wheel);
        assert_eq!(
            inode(&released),
            inode(&handed.folder(job).join(wheel)),
            "it takes no further disk"
        );
    }
    assert!(
        !handed
            .toy
            .path("release/v1")
            .join(WHEEL.replace(".whl", ".build.json"))
            .exists()
    );
}

/// `actions/download-artifact` makes no folder for the only artifact that it downloads.
#[test]
fn the_only_artifact_lies_in_the_folder_itself() {
    let handed = Handed::new();
    let matrix = std::fs::read_to_string(handed.toy.path("matrices/toy.yaml")).unwrap();
    handed.toy.write(
        "matrices/toy.yaml",
        matrix.replace(", \"3.12\"]", "]").as_bytes(),
    );
    let output = handed
        .toy
        .command(&[
            "plan",
            "matrices/toy.yaml",
            "--format",
            "json",
            "--out",
            "plan.json",
        ])
        .output()
        .unwrap();
    assert!(output.status.success());
    std::fs::rename(handed.folder(JOB), handed.toy.path("flat")).unwrap();
    let legs = json!({"leg_0": handed.outputs["leg_0"], "leg_1": ""}).to_string();
    let words = "publish --to release --tag v1 --plan plan.json --legs-env LEGS_0 --artifacts flat";
    let (code, _, stderr) = run(
        &handed.toy,
        &words.split(' ').collect::<Vec<_>>(),
        &[("LEGS_0", &legs)],
    );
    assert_eq!(code, 0, "{stderr}");
    assert!(handed.toy.path("release/v1").join(WHEEL).exists());
}

#[test]
fn a_replaced_plan_is_refused() {
    let handed = Handed::new();
    let plan = std::fs::read_to_string(handed.toy.path("plan.json")).unwrap();
    handed
        .toy
        .write("plan.json", plan.replace("cp312", "cp313").as_bytes());
    let (code, _, of_legs) = handed.run(&["report", "legs"]);
    assert!(
        code == 1 && of_legs.starts_with("error[G340 plan-replaced]"),
        "{of_legs}"
    );
    insta::assert_snapshot!(handed.refused(), @r"
    error[G340 plan-replaced]: `plan.json` is not the plan that the job `plan` created
    --> plan.json
     = note: its digest is sha256:[DIGEST]
     = note: the job `plan` reported sha256:[DIGEST]
    help: find out which job of the run wrote the artifact `plan`; publish nothing from this run
    ");
    let words = [
        "publish",
        "--repo",
        "me/wheels",
        "--tag",
        "v1",
        "--plan",
        "plan.json",
        "--dry-run",
    ];
    let reported = ["--plan-sha256", &handed.plan_digest, "artifacts"];
    let (code, _, to_github) = run(&handed.toy, &[&words[..], &reported].concat(), &[]);
    assert!(
        code == 1 && to_github.contains("error[G340 plan-replaced]"),
        "{to_github}"
    );
}

#[test]
fn a_replaced_wheel_is_refused() {
    let handed = Handed::new();
    let other = Wheel::named(WHEEL)
        .file("toy/more.py", b"import os\n")
        .bytes();
    std::fs::write(handed.folder(JOB).join(WHEEL), other).unwrap();
    insta::assert_snapshot!(handed.refused(), @r"
    error[G342 artifact-replaced]: `toy-1.0+rocm62-cp311-cp311-linux_x86_64.whl` of the artifact `wheel-toy-1.0-rocm6.2-py3.11` is not the file that its leg reported
    --> artifacts/wheel-toy-1.0-rocm6.2-py3.11/toy-1.0+rocm62-cp311-cp311-linux_x86_64.whl
     = note: its digest is sha256:[DIGEST]
     = note: the leg reported sha256:[DIGEST]
    help: find out which job of the run wrote this artifact; publish nothing from this run
    ");
}

/// The sums may be replaced together with the wheel; their digest is in the report.
#[test]
fn replaced_sums_are_refused() {
    let handed = Handed::new();
    let text = format!("{}  {WHEEL}\n", "0".repeat(64));
    std::fs::write(handed.folder(JOB).join("SHA256SUMS"), text).unwrap();
    insta::assert_snapshot!(handed.refused(), @r"
    error[G342 artifact-replaced]: the `SHA256SUMS` of the artifact `wheel-toy-1.0-rocm6.2-py3.11` is not the one that its leg reported
    --> artifacts/wheel-toy-1.0-rocm6.2-py3.11/SHA256SUMS
     = note: its digest is sha256:[DIGEST]
     = note: the leg reported sha256:[DIGEST]
    help: find out which job of the run wrote this artifact; publish nothing from this run
    ");
    std::fs::remove_file(handed.folder(JOB).join("SHA256SUMS")).unwrap();
    assert!(handed.refused().starts_with(
        "error[G342 artifact-replaced]: the artifact `wheel-toy-1.0-rocm6.2-py3.11` has no"
    ));
}

/// Their digest is the one that the leg reported, but they list no files.
#[test]
fn sums_that_list_no_files_are_refused() {
    let texts: [&[u8]; 6] = [
        b"",
        b"\n",
        b"x  y\n",
        b"\xff\n",
        &vec![b'\n'; 1 << 20],
        &vec![b'\n'; (1 << 20) + 1],
    ];
    let faults = texts.map(|text| {
        let mut handed = Handed::new();
        handed.keep(0, JOB, &[]);
        for name in names(&handed.folder(JOB)) {
            std::fs::remove_file(handed.folder(JOB).join(name)).unwrap();
        }
        std::fs::write(handed.folder(JOB).join("SHA256SUMS"), text).unwrap();
        let report = handed.outputs["leg_0"].as_str().unwrap();
        let mut report: Value = serde_json::from_str(report).unwrap();
        report["digest"] = digest(&handed.folder(JOB).join("SHA256SUMS"))
            .to_hex()
            .into();
        handed.outputs["leg_0"] = report.to_string().into();
        let fault = handed.refused();
        assert_eq!(fault.matches("error[").count(), 1, "{fault}");
        fault.lines().next().unwrap().to_owned()
    });
    insta::assert_snapshot!(faults.join("\n"), @r"
    error[G342 artifact-replaced]: the `SHA256SUMS` of the artifact `wheel-toy-1.0-rocm6.2-py3.11` cannot be used: it lists no files
    error[G342 artifact-replaced]: the `SHA256SUMS` of the artifact `wheel-toy-1.0-rocm6.2-py3.11` cannot be used: it lists no files
    error[G342 artifact-replaced]: the `SHA256SUMS` of the artifact `wheel-toy-1.0-rocm6.2-py3.11` cannot be used: line 1 is not a digest and a filename: `x  y`
    error[G342 artifact-replaced]: the `SHA256SUMS` of the artifact `wheel-toy-1.0-rocm6.2-py3.11` cannot be used: it is not UTF-8: invalid utf-8 sequence of 1 bytes from index 0
    error[G342 artifact-replaced]: the `SHA256SUMS` of the artifact `wheel-toy-1.0-rocm6.2-py3.11` cannot be used: it lists no files
    error[G342 artifact-replaced]: the `SHA256SUMS` of the artifact `wheel-toy-1.0-rocm6.2-py3.11` cannot be used: it has 1048577 bytes, more than 1048576
    ");
}

/// Code that holds the token of the run can put anything there; the machine is not at fault.
#[test]
fn replaced_sums_that_are_no_text_are_refused() {
    for text in [b"\xff\n".to_vec(), vec![b'x'; (1 << 20) + 1]] {
        let handed = Handed::new();
        std::fs::write(handed.folder(JOB).join("SHA256SUMS"), text).unwrap();
        let first = handed.refused().lines().next().unwrap().to_owned();
        assert_eq!(
            first,
            "error[G342 artifact-replaced]: the `SHA256SUMS` of the artifact `wheel-toy-1.0-rocm6.2-py3.11` is not the one that \
             its leg reported"
        );
    }
}

#[test]
fn files_that_no_leg_reported_are_refused() {
    let handed = Handed::new();
    handed
        .toy
        .write(&format!("artifacts/wheel-{JOB}/rock-manifest.json"), b"{}");
    handed
        .toy
        .write("artifacts/wheel-other/toy-1.0-py3-none-any.whl", b"x");
    std::os::unix::fs::symlink("/etc/passwd", handed.folder(OTHER_JOB).join("link")).unwrap();
    std::fs::remove_file(handed.folder(OTHER_JOB).join(OTHER_WHEEL)).unwrap();
    insta::assert_snapshot!(handed.refused(), @r"
    error[G343 unreported-file]: `artifacts/wheel-other/toy-1.0-py3-none-any.whl` does not belong to an artifact that a leg reported
    --> artifacts/wheel-other/toy-1.0-py3-none-any.whl
    help: download the artifacts that `report legs` names into an empty directory

    error[G343 unreported-file]: the artifact `wheel-toy-1.0-rocm6.2-py3.11` contains `rock-manifest.json`, which its leg did not report
    --> artifacts/wheel-toy-1.0-rocm6.2-py3.11/rock-manifest.json
    help: find out which job of the run wrote this artifact; publish nothing from this run

    error[G342 artifact-replaced]: the artifact `wheel-toy-1.0-rocm6.2-py3.12` lacks `toy-1.0+rocm62-cp312-cp312-linux_x86_64.whl`, which its leg reported
    --> artifacts/wheel-toy-1.0-rocm6.2-py3.12
    help: find out which job of the run wrote this artifact; publish nothing from this run

    error[G343 unreported-file]: the artifact `wheel-toy-1.0-rocm6.2-py3.12` contains `link`, which its leg did not report
    --> artifacts/wheel-toy-1.0-rocm6.2-py3.12/link
    help: find out which job of the run wrote this artifact; publish nothing from this run
    ");
}

#[test]
fn a_wheel_in_the_artifact_of_another_job_is_refused() {
    let mut handed = Handed::new();
    handed.keep(0, JOB, &[WHEEL, OTHER_WHEEL]);
    let stderr = handed.refused();
    insta::assert_snapshot!(stderr, @r"
    error[G344 file-of-another-job]: the artifact `wheel-toy-1.0-rocm6.2-py3.11` contains `toy-1.0+rocm62-cp312-cp312-linux_x86_64.whl`, which the job `toy-1.0-rocm6.2-py3.11` does not build
    --> artifacts/wheel-toy-1.0-rocm6.2-py3.11/toy-1.0+rocm62-cp312-cp312-linux_x86_64.whl
     = note: the job builds `toy-1.0+rocm62-cp311-cp311-linux_x86_64.whl`
    help: find out which job of the run wrote this artifact; publish nothing from this run
    ");
}

#[test]
fn every_job_has_one_report_and_one_artifact() {
    let stderr_of = |change: &dyn Fn(&mut Value)| {
        let mut handed = Handed::new();
        change(&mut handed.outputs);
        handed.refused()
    };
    let report = |job: &str, artifact: &str| {
        json!({"job": job, "artifact": artifact, "digest": "0".repeat(64)}).to_string()
    };
    let found = [
        stderr_of(&|outputs| outputs["leg_1"] = "".into()),
        stderr_of(&|outputs| *outputs = json!(["x"])),
        stderr_of(&|outputs| outputs["leg_1"] = report("other", "40").into()),
    ];
    insta::assert_snapshot!(found.join("\n"), @r#"
    error[G346 leg-not-reported]: no leg reports the job `toy-1.0-rocm6.2-py3.12`
    help: re-run the failed jobs; if none failed, re-run all jobs


    error[G341 bad-leg-report]: the variable `LEGS_0` does not hold leg reports: it is not a JSON object of strings: invalid type: sequence, expected a map at line 1 column 0
    --> argument `--legs-env LEGS_0`
    help: set it with `env: {LEGS_0: "${{ toJSON(needs.build.outputs) }}"}`


    error[G341 bad-leg-report]: a leg reports the job `other`, which is not in the plan
    help: render the workflow again, and run all of its jobs

    error[G341 bad-leg-report]: the jobs `toy-1.0-rocm6.2-py3.11` and `other` report the same artifact, 40
    help: render the workflow again, and run all of its jobs
    "#);
}

#[test]
fn a_plan_with_more_jobs_than_the_workflow_has_outputs_for_fails() {
    let toy = Toy::building("").two_pythons();
    let words = |most| {
        [
            "plan",
            "matrices/toy.yaml",
            "--github-output",
            "--max-legs",
            most,
        ]
    };
    let (code, stdout, stderr) = run(&toy, &words("1"), &[]);
    assert_eq!((code, stdout.as_str()), (1, ""));
    insta::assert_snapshot!(stderr, @r"
    error[P047 more-jobs]: the plan has 2 jobs, and the workflow has outputs for 1
     = note: the second line of the workflow has the command that writes it
    help: render the workflow again, with `rock-matrix render workflow --out .github/workflows/FILE`, and commit it
    ");
    assert_eq!(run(&toy, &words("2"), &[]).0, 0);
}

/// The program cannot judge itself, so the step does.
#[test]
fn a_replaced_program_is_not_started() {
    let toy = built().matrix("workflow: {tool: source}\n");
    let (workflow, _) = toy.workflow("matrix_0");
    let program = toy.path("temp/rock-matrix/rock-matrix");
    toy.write("temp/rock-matrix/rock-matrix", b"the program");
    let built = digest(&program).to_hex();
    for (id, job) in workflow["jobs"].as_object().unwrap() {
        let steps = job["steps"].as_array().unwrap();
        let Some(step) = steps
            .iter()
            .find(|step| step["name"] == "Put rock-matrix on the path")
        else {
            continue;
        };
        let script = step["run"].as_str().unwrap();
        let script = format!(
            "export RUNNER_TEMP='{}/temp' GITHUB_PATH=path\n{script}",
            toy.folder.display()
        );
        let step = json!({"run": script, "env": step["env"]});
        for (bytes, is_taken) in [(&b"the program"[..], true), (b"another", false)] {
            std::fs::write(&program, bytes).unwrap();
            let _ = std::fs::remove_file(toy.path("path"));
            assert_eq!(toy.step(&step, |_| built.clone()), is_taken, "{id}");
            assert_eq!(toy.path("path").exists(), is_taken, "{id}");
        }
        assert!(
            script.contains("::error title=G345 program-replaced::"),
            "{script}"
        );
    }
}

/// Matrices run side by side, and `max-parallel` is the number of legs of all of them.
#[test]
fn max_parallel_is_divided_among_the_matrices_of_a_workflow() {
    let shares = |parallel: usize| {
        let toy = Toy::building("");
        let pythons = "[\"3.9\", \"3.10\", \"3.11\", \"3.12\", \"3.13\"]";
        let toy = toy.matrix(&format!(
            "test: {{runner: mi300x, gpu: none}}\nworkflow: {{max-jobs: 2, max-parallel: {parallel}}}\n"
        ));
        let text = std::fs::read_to_string(toy.path("matrices/toy.yaml")).unwrap();
        toy.write(
            "matrices/toy.yaml",
            text.replace("[\"3.11\"]", pythons).as_bytes(),
        );
        let (workflow, _) = toy.workflow("matrix_0");
        let jobs = workflow["jobs"].as_object().unwrap();
        let of_job = |(id, job): (&String, &Value)| {
            let parallel = job["strategy"]["max-parallel"].as_u64()?;
            Some(format!(
                "{id} {parallel} needs {}",
                job["needs"].to_string().replace('"', "")
            ))
        };
        jobs.iter()
            .filter_map(of_job)
            .collect::<Vec<_>>()
            .join("\n")
    };
    insta::assert_snapshot!(shares(12), @r"
    build-0 5 needs plan
    build-1 5 needs plan
    build-2 2 needs plan
    gpu-test-0 5 needs [plan,build-0]
    gpu-test-1 5 needs [plan,build-1]
    gpu-test-2 2 needs [plan,build-2]
    ");
    insta::assert_snapshot!(shares(2), @r"
    build-0 1 needs plan
    build-1 1 needs plan
    build-2 1 needs [plan,build-0]
    gpu-test-0 1 needs [plan,build-0]
    gpu-test-1 1 needs [plan,build-1]
    gpu-test-2 1 needs [plan,build-2,gpu-test-0]
    ");
}

/// Without a variable there are no reports, which is a mistake of the command line and not of the
/// legs.
#[test]
fn report_legs_asks_for_the_variable_with_the_reports() {
    let stderr = crate::support::Project::new()
        .run(&["report", "legs", "--plan", "plan.json"])
        .exits(2)
        .stderr;
    assert!(
        stderr.contains("required arguments were not provided:\n  <--legs-env <NAME>>"),
        "{stderr}"
    );
}
