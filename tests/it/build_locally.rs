//! Building on this machine: what a person sees, and what lies there afterwards.

use crate::support::elf::Library;
use crate::support::toy::{JOB, Toy, WHEEL, all_gone, wait, wait_until};
use crate::support::{Wheel, appears};

const TAKE: &str = "mkdir -p dist; cp \"$WHEELS\"/*.whl dist/; echo build >>order";

#[test]
fn a_build_leaves_the_wheel_its_digest_and_what_was_used() {
    let toy = Toy::building(TAKE);
    let (stdout, stderr) = toy.build(0, &[]);
    let wheel = std::fs::read(toy.path("wheels").join(WHEEL)).unwrap();
    assert_eq!(std::fs::read(toy.path("dist").join(WHEEL)).unwrap(), wheel);
    assert!(
        stdout.starts_with(&format!("dist/{WHEEL}  sha256:")),
        "{stdout}"
    );
    assert!(
        stdout.ends_with(&format!("  {} bytes\n", wheel.len())),
        "{stdout}"
    );
    for text in [
        "[1/4] prepare\n",
        "[2/4] build: done after ",
        "used torch 1.13.1",
        "the log is .rock/",
    ] {
        assert!(stderr.contains(text), "{text}: {stderr}");
    }
    let record = toy.record();
    assert_eq!(
        (&record["outcome"], &record["used"]["torch"]),
        (&"done".into(), &"1.13.1".into())
    );
    assert_eq!(record["wheels"][0]["size_bytes"], wheel.len());
    assert_eq!(record["axes"]["rocm"], "6.2");
    let beside =
        std::fs::read_to_string(toy.path("dist").join(WHEEL.replace(".whl", ".build.json")))
            .unwrap();
    assert_eq!(beside, toy.text("build.json"));
    assert_eq!(
        toy.text("logs/build.log"),
        "== prepare\npreparing\n== build\n== record\n== smoke-test\n"
    );
    assert_eq!(
        std::fs::read_to_string(toy.path(".rock/.gitignore"))
            .unwrap()
            .lines()
            .last(),
        Some("*")
    );
}

#[test]
fn json_is_the_record_on_one_line() {
    let toy = Toy::building(TAKE);
    let (stdout, _) = toy.build(0, &["--format", "json"]);
    assert_eq!(stdout.lines().count(), 1);
    let document: serde_json::Value =
        serde_json::from_str(&stdout.replace("[HERE]", toy.folder.to_str().unwrap())).unwrap();
    assert_eq!(document, toy.record());
}

#[test]
fn a_dry_run_prints_every_step_and_touches_nothing() {
    let toy = Toy::building(TAKE);
    let before = toy.project.files();
    let (stdout, _) = toy.build(0, &["--dry-run"]);
    for text in [
        "1/4 prepare",
        "bash -c 'echo preparing; echo prepare >>order'",
        "2/4 build",
        "4/4 smoke-test",
        WHEEL,
    ] {
        assert!(stdout.contains(text), "{text}: {stdout}");
    }
    assert_eq!(toy.project.files(), before);
    assert!(!toy.path(".rock").exists() && !toy.path("dist").exists());
}

#[test]
fn a_failed_stage_is_reported_with_command_log_and_help() {
    let toy = Toy::building("echo compiling; echo 'x.hip:3: error: no' >&2; exit 7");
    let (_, stderr) = toy.build(4, &[]);
    let diagnostic = &stderr[stderr.find("error[").unwrap()..];
    let expected = "\
error[B050 step-failed]: stage `build` failed: exit status 7
 = note: the first error in its output is
         x.hip:3: error: no
 = note: the command was bash -c 'echo compiling; echo '\\''x.hip:3: error: no'\\'' >&2; exit 7 …'
 = note: its last lines were
         compiling
         x.hip:3: error: no
 = note: the complete log is in .rock/toy-1.0-rocm6.2-py3.11/logs/build.log
help: fix the cause, then run `rock-matrix build toy-1.0-rocm6.2-py3.11 --recipes recipes --resume`
";
    assert_eq!(diagnostic.trim_end(), expected.trim_end());
    assert!(
        toy.text("logs/build.log").contains("x.hip:3: error: no"),
        "the log is kept"
    );
    assert!(!toy.path("dist").join(WHEEL).exists());
    assert_eq!(toy.record()["outcome"], "failed");
}

#[test]
fn going_on_runs_what_is_missing_and_a_fresh_build_runs_all() {
    let toy = Toy::building(
        "echo build >>order; [ -e ../../mended ] || exit 1; mkdir -p dist; cp \"$WHEELS\"/*.whl dist/",
    );
    toy.build(4, &[]);
    toy.write("mended", b"");
    let (_, stderr) = toy.build(0, &["--continue", "auto"]);
    assert!(stderr.contains("skipped 1 completed stage"), "{stderr}");
    assert_eq!(toy.text("order"), "prepare\nbuild\nbuild\n");
    std::fs::remove_dir_all(toy.path("dist")).unwrap();
    let (stdout, _) = toy.build(0, &["--continue", "auto"]);
    assert!(
        stdout.contains(WHEEL),
        "all is done, and the wheel is delivered again"
    );
    assert_eq!(toy.text("order"), "prepare\nbuild\nbuild\n");
    toy.build(0, &["--continue", "build"]);
    assert_eq!(toy.text("order"), "prepare\nbuild\nbuild\nbuild\n");
    toy.build(0, &[]);
    assert_eq!(toy.text("order"), "prepare\nbuild\n");
    let (_, stderr) = toy.build(2, &["--continue", "biuld"]);
    assert!(!stderr.contains("starting over"), "{stderr}");
    assert!(
        stderr.contains("error[B058 unknown-stage]")
            && stderr.contains("did you mean `--resume=build`?"),
        "{stderr}"
    );
}

#[test]
fn a_changed_recipe_begins_at_the_stage_that_changed() {
    let toy = Toy::building(TAKE);
    toy.build(0, &[]);
    let recipe = std::fs::read_to_string(toy.path("recipes/toy.yaml")).unwrap();
    toy.write(
        "recipes/toy.yaml",
        recipe
            .replace("echo build >>order", "echo changed >>order")
            .as_bytes(),
    );
    toy.build(0, &["--continue", "auto"]);
    assert_eq!(toy.text("order"), "prepare\nbuild\nchanged\n");
}

#[test]
fn a_missing_wheel_fails_and_a_wheel_of_another_name_is_refused() {
    let outputs = "    outputs: {wheel: {glob: \"dist/*.whl\"}}\n";
    let (_, stderr) = Toy::with_recipe("true", outputs).build(4, &[]);
    assert!(
        stderr.contains(
            "error[B053 output-missing]: stage `build` produced no file for `dist/*.whl`"
        ),
        "{stderr}"
    );
    let toy = Toy::building(TAKE);
    let other = "toy-1.0-cp311-cp311-linux_x86_64.whl";
    std::fs::remove_file(toy.path("wheels").join(WHEEL)).unwrap();
    toy.write(&format!("wheels/{other}"), &Wheel::named(other).bytes());
    let (_, stderr) = toy.build(1, &[]);
    assert!(stderr.contains("error[B054 wrong-wheel]"), "{stderr}");
    assert!(
        stderr.contains("the version is `1.0`, not `1.0+rocm62`"),
        "{stderr}"
    );
    assert!(!toy.path("dist").join(other).exists());
    assert_eq!(toy.record()["outcome"], "refused");
    assert!(
        toy.record()["reason"]
            .as_str()
            .unwrap()
            .contains("which is not the job's wheel"),
        "{}",
        toy.record()
    );
}

#[test]
fn a_stage_that_the_cap_cuts_ends_with_its_children() {
    let toy = Toy::building("sleep 300 & echo $! >child; wait");
    let (_, stderr) = toy.build(124, &["--cap", "1", "--started-at", &seconds_ago(55)]);
    assert!(
        stderr.contains("warning[B055 build-capped]: `--cap` stopped the build in stage `build`"),
        "{stderr}"
    );
    assert!(all_gone(&toy.text("child")));
    assert_eq!(toy.record()["outcome"], "capped");
}

#[test]
fn a_capped_build_exits_with_124_and_continues() {
    let toy = Toy::building(TAKE);
    let _ = toy.build(124, &["--cap", "5", "--started-at", &seconds_ago(600)]);
    assert_eq!(toy.text("order"), "");
    let (_, stderr) = toy.build(124, &["--cap", "5", "--started-at", &seconds_ago(600)]);
    assert!(
        stderr.starts_with(
            "starting over: an earlier build was capped; use `--resume` to continue it"
        ),
        "{stderr}"
    );
    let (_, stderr) = toy.follow(&stderr, "help: resume it with", 0);
    assert!(stderr.contains("built in"), "{stderr}");
}

fn seconds_ago(seconds: u64) -> String {
    (rock_matrix::sys::now_s() - seconds).to_string()
}

#[test]
fn a_second_build_of_the_same_job_is_refused_while_the_first_runs() {
    let toy = Toy::building(&format!(
        "touch ready; while [ ! -e go ]; do sleep 0.02; done; {TAKE}"
    ));
    let first = toy.start(&[]);
    toy.await_file("ready");
    let (_, stderr) = toy.build(3, &[]);
    assert!(
        stderr.contains("error[B057 job-busy]: another build of this job is running"),
        "{stderr}"
    );
    let clean = toy.command(&["clean", JOB]).output().unwrap();
    assert_eq!(
        clean.status.code(),
        Some(3),
        "a running build is not cleaned away"
    );
    std::fs::write(toy.job("go"), "").unwrap();
    wait(first, 0, &toy.folder);
}

#[test]
fn an_unwritable_output_directory_is_reported_before_the_build() {
    let toy = Toy::building(TAKE);
    toy.write("file", b"");
    let (_, stderr) = toy.build(3, &["--out", "file/dist"]);
    assert!(stderr.contains("error[B070 out-folder]"), "{stderr}");
    assert!(!toy.path(".rock").exists());
}

#[test]
fn a_full_disk_is_named_as_such() {
    let (_, stderr) = Toy::building("echo much >/dev/full").build(4, &[]);
    assert!(
        stderr.contains("error[B067 disk-full]: stage `build` failed because the disk is full"),
        "{stderr}"
    );
}

/// The same system error as on a full disk, but one that needs no device.
#[test]
fn a_log_that_cannot_be_written_ends_the_build() {
    let toy = Toy::building("head -c 300000 /dev/zero | tr '\\0' '\\n'; sleep 60");
    let mut bash = toy.project.program("bash");
    bash.args([
        "-c",
        "ulimit -f 100; exec \"$0\" \"$@\"",
        env!("CARGO_BIN_EXE_rock-matrix"),
        "build",
        JOB,
    ]);
    bash.args(["--recipes", "recipes"])
        .current_dir(&toy.folder)
        .env("WHEELS", toy.path("wheels"));
    let output = bash.output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(
        stderr.contains("cannot write") && stderr.contains("build.log"),
        "{stderr}"
    );
}

#[test]
fn secrets_stay_out_of_log_and_messages() {
    let toy = Toy::building("echo token $TOKEN; exit 1").matrix("secrets: [TOKEN]\n");
    let output = toy
        .command(&["build", JOB, "--verbose"])
        .env("TOKEN", "open-sesame")
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("token ***") && !stderr.contains("sesame"),
        "{stderr}"
    );
    let log = toy.text("logs/build.log");
    assert!(
        log.contains("token ***") && !log.contains("sesame"),
        "{log}"
    );
}

#[test]
fn a_job_is_named_by_id_wheel_or_beginning_and_a_near_name_is_offered() {
    let toy = Toy::building(TAKE);
    let dry = |name: &str| toy.command(&["build", name, "--dry-run"]).output().unwrap();
    for name in [JOB, WHEEL, "toy"] {
        assert_eq!(dry(name).status.code(), Some(0), "{name}");
    }
    let unknown = dry("toy-1.0-rocm6.2-py3.12");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        String::from_utf8(unknown.stderr)
            .unwrap()
            .contains(&format!("did you mean `{JOB}`?"))
    );
    let toy = toy.matrix("").two_pythons();
    let output = toy
        .command(&["build", "toy", "--dry-run"])
        .output()
        .unwrap();
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("2 jobs begin with `toy`")
    );
    let nothing = toy
        .command(&["build", "matrices/toy.yaml"])
        .output()
        .unwrap();
    assert_eq!(nothing.status.code(), Some(2));
}

#[test]
fn all_builds_every_job_and_lists_those_that_failed() {
    let toy = Toy::building(
        "case $PWD in *py3.12) exit 9;; esac; mkdir dist; cp \"$WHEELS\"/*.whl dist/",
    )
    .two_pythons();
    let output = toy.command(&["build", "--all"]).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{stderr}");
    assert!(
        stderr.contains("error[B071 builds-failed]: 1 of 2 builds failed"),
        "{stderr}"
    );
    assert!(
        stderr.contains("the failed jobs are toy-1.0-rocm6.2-py3.12"),
        "{stderr}"
    );
    assert!(toy.path("dist").join(WHEEL).exists());
}

#[test]
fn a_saved_plan_builds_without_the_matrix_file() {
    let toy = Toy::building(TAKE);
    let plan = toy
        .command(&["plan", "--format", "json", "--out", "plan.json"])
        .output()
        .unwrap();
    assert_eq!(plan.status.code(), Some(0));
    std::fs::remove_file(toy.path("matrices/toy.yaml")).unwrap();
    toy.build(0, &["--plan", "plan.json"]);
}

/// What `clean` says, and its exit code.
fn clean(toy: &Toy, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = toy
        .command(&[&["clean"], arguments].concat())
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn cleaning_removes_build_folders_of_sources_and_nothing_else() {
    let toy = Toy::building(TAKE);
    toy.build(0, &[]);
    let make = "mkdir -p src/torch/build/lib.linux src/torch/torch src/vision/build; touch src/torch/build/CMakeCache.txt src/torch/setup.py src/vision/build/mine";
    assert!(
        std::process::Command::new("sh")
            .args(["-c", make])
            .current_dir(toy.job(""))
            .status()
            .unwrap()
            .success()
    );
    let built = format!(".rock/{JOB}/src/torch/build  ");
    let (code, stdout, stderr) = clean(&toy, &["toy", "--dry-run"]);
    assert!(
        code == Some(0) && stdout.starts_with(&format!("would remove {built}")),
        "{stdout}"
    );
    assert!(
        stdout.lines().count() == 1
            && stderr.contains("src/vision/build: it does not contain files of a build tool"),
        "{stderr}"
    );
    assert!(toy.job("src/torch/build").exists());
    let (code, stdout, _) = clean(&toy, &["toy"]);
    assert!(
        code == Some(0) && stdout.starts_with(&format!("removed {built}")),
        "{stdout}"
    );
    let stays = [
        "src/torch/setup.py",
        "src/torch/torch",
        "src/vision/build/mine",
        "build.json",
        "logs/build.log",
    ];
    assert!(
        !toy.job("src/torch/build").exists() && stays.iter().all(|path| toy.job(path).exists())
    );
    let (code, stdout, stderr) = clean(&toy, &[JOB]);
    assert!(
        code == Some(0) && stdout.is_empty() && stderr.contains("there are no build directories; "),
        "{stderr}"
    );
    toy.build(0, &["--continue", "auto"]);
}

#[test]
fn full_cleaning_removes_only_the_job_and_reports_its_size() {
    let toy = Toy::building(TAKE);
    toy.build(0, &[]);
    let (code, stdout, _) = clean(&toy, &[JOB, "--whole", "--dry-run"]);
    assert!(
        code == Some(0) && stdout.starts_with(&format!("would remove .rock/{JOB}  ")),
        "{stdout}"
    );
    assert!(toy.job("build.json").exists());
    let (code, _, stderr) = clean(&toy, &["tyo-1.0-rocm6.2-py3.11"]);
    assert!(
        code == Some(2) && stderr.contains(&format!("did you mean `{JOB}`?")),
        "{stderr}"
    );
    std::fs::create_dir(toy.path(".rock/toy-2")).unwrap();
    let (code, _, stderr) = clean(&toy, &["toy"]);
    assert!(
        code == Some(2) && stderr.contains("2 jobs begin with `toy`") && stderr.contains("toy-2"),
        "{stderr}"
    );
    let (code, stdout, _) = clean(&toy, &["--all", "--whole"]);
    assert!(
        code == Some(0) && stdout.contains(&format!("removed .rock/{JOB}  ")),
        "{stdout}"
    );
    assert!(!toy.job("").exists() && toy.path("dist").join(WHEEL).exists());
    assert_eq!(clean(&toy, &["../wheels"]).0, Some(1));
    assert!(toy.path("wheels").join(WHEEL).exists());
}

#[test]
fn a_known_failure_is_reported_with_help() {
    let script = "echo 'FAILED: aotriton_v2.dir/flash.o'; echo 'ccache clang++ flash.cc: Invalid argument'; exit 1";
    let (_, stderr) = Toy::building(script).build(4, &[]);
    assert!(
        stderr.contains(
            "known problem: AOTriton's build fails like this if the compiler is called through \
             ccache"
        ),
        "{stderr}"
    );
    let help = "help: build again without ccache: unset CMAKE_C_COMPILER_LAUNCHER and CMAKE_CXX_COMPILER_LAUNCHER, or set CCACHE_DISABLE=1, then run `rock-matrix build toy-1.0-rocm6.2-py3.11 --recipes recipes --resume`\n";
    assert!(stderr.contains(help), "{stderr}");
    let (_, stderr) =
        Toy::building("echo 'clang++ flash.cc: Invalid argument'; exit 1").build(4, &[]);
    assert!(!stderr.contains("known problem"), "{stderr}");
}

#[test]
fn a_build_of_a_killed_program_continues_at_its_stage() {
    for (stage, before) in [("prepare", ""), ("build", "prepare\n")] {
        let hold = |name: &str| {
            format!(
                "echo $BASHPID >>pids; touch at-{name}; while [ -e ../../hold-{name} ]; do sleep 0.02; done"
            )
        };
        let toy = Toy::building(&format!("{}; {TAKE}", hold("build")));
        let recipe = std::fs::read_to_string(toy.path("recipes/toy.yaml")).unwrap();
        let held = recipe.replace("echo preparing;", &format!("{};", hold("prepare")));
        toy.write("recipes/toy.yaml", held.as_bytes());
        toy.write(&format!("hold-{stage}"), b"");
        let mut child = toy.start(&[]);
        toy.await_file(&format!("at-{stage}"));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(toy.text("order"), before);
        assert_eq!(
            toy.record()["outcome"],
            "running",
            "nobody could say how it ended"
        );
        let orphan = toy
            .text("pids")
            .split_whitespace()
            .last()
            .unwrap()
            .to_owned();
        assert!(
            !all_gone(&orphan),
            "the killed program could not end its stage"
        );
        std::fs::remove_file(toy.job(&format!("at-{stage}"))).unwrap();
        let next = toy.start(&["--continue", "auto"]);
        wait_until(|| all_gone(&orphan), "the end of the orphan");
        std::fs::remove_file(toy.path(&format!("hold-{stage}"))).unwrap();
        wait(next, 0, &toy.folder);
        assert_eq!(toy.text("order"), "prepare\nbuild\n", "killed in {stage}");
    }
}

#[test]
fn a_wheel_that_does_not_verify_is_refused_and_kept() {
    let toy = Toy::building(TAKE).recipe("  record:", "  gates: [name, verify]\n  record:");
    let broken = Wheel::named(WHEEL).edit("METADATA", |text| {
        text.replace("Version: 1.0", "Version: 2.0")
    });
    toy.write(&format!("wheels/{WHEEL}"), &broken.bytes());
    let (_, stderr) = toy.build(1, &[]);
    assert!(stderr.contains("error[B072 wheel-refused]"), "{stderr}");
    assert!(
        stderr.contains(&format!("the wheel is kept at .rock/{JOB}/dist/{WHEEL}")),
        "{stderr}"
    );
    assert!(!toy.path("dist").join(WHEEL).exists());
    assert_eq!(toy.record()["outcome"], "refused");
}

#[test]
fn a_wheel_whose_contents_are_not_those_of_the_plan_is_refused() {
    let toy = Toy::building(TAKE).recipe("  record:", "  gates: [name, verify, check]\n  record:");
    let with = |soname: &str| {
        let library = Library::extension("_toy")
            .linked("libc.so.6")
            .linked(soname);
        toy.write(
            &format!("wheels/{WHEEL}"),
            &Wheel::named(WHEEL)
                .executable("toy/_toy.so", library.build())
                .bytes(),
        );
    };
    with("libamdhip64.so.7");
    let (_, stderr) = toy.build(1, &[]);
    assert!(
        stderr.contains("error[R120 gfx-not-as-expected]: there is no code for a GPU"),
        "{stderr}"
    );
    assert!(
        stderr.contains("the label says ROCm 6.2, but `libamdhip64.so.7` is from ROCm 7"),
        "{stderr}"
    );
    assert!(stderr.contains("did not pass the gate `check`"), "{stderr}");
    assert!(!toy.path("dist").join(WHEEL).exists());
    let output = toy.command(&["plan", "--format", "json"]).output().unwrap();
    let plan = String::from_utf8(output.stdout).unwrap();
    assert!(
        plan.contains("\"gates\":[\"name\",\"verify\",\"check\"]"),
        "{plan}"
    );
}

#[test]
fn a_wheel_that_lacks_what_its_distribution_holds_by_the_facts_is_refused() {
    let toy = Toy::building(TAKE).recipe("  record:", "  gates: [name, contents]\n  record:");
    let shipped = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("matrices/compat");
    for entry in std::fs::read_dir(shipped)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
    {
        let name = entry.file_name().unwrap().to_str().unwrap();
        toy.write(&format!("facts/{name}"), &std::fs::read(&entry).unwrap());
    }
    let row = "wheel-contents:\n  - {distribution: toy, holds: [toy/data.bin], reason: toys play with it, help: pack it, \
               origin: {status: verified, source: us, checked: 2026-11-22}}\n";
    toy.write("facts/toy.yaml", row.as_bytes());
    let (_, stderr) = toy.build(1, &["--compat", "facts"]);
    assert!(
        stderr.contains("error[R150 content-missing]: it does not contain `toy/data.bin`"),
        "{stderr}"
    );
    assert!(
        stderr.contains("toys play with it") && stderr.contains("help: pack it"),
        "{stderr}"
    );
    assert!(
        stderr.contains("did not pass the gate `contents`: 1 error"),
        "{stderr}"
    );
    toy.write(
        &format!("wheels/{WHEEL}"),
        &Wheel::named(WHEEL).file("toy/data.bin", "x").bytes(),
    );
    toy.build(0, &["--compat", "facts"]);
}

#[test]
fn a_wheel_is_verified_before_a_label_makes_its_record_anew() {
    let toy = Toy::building(TAKE).recipe(
        "  record:",
        "  relabel: true\n  gates: [name, verify]\n  record:",
    );
    let plain = "toy-1.0-cp311-cp311-linux_x86_64.whl";
    std::fs::remove_file(toy.path("wheels").join(WHEEL)).unwrap();
    let unlisted = |text: String| {
        text.lines()
            .filter(|line| !line.contains("__init__"))
            .map(|l| format!("{l}\n"))
            .collect()
    };
    toy.write(
        &format!("wheels/{plain}"),
        &Wheel::named(plain).edit("RECORD", unlisted).bytes(),
    );
    let (_, stderr) = toy.build(1, &[]);
    assert!(
        stderr.contains("error[W020") && stderr.contains("did not pass the gate `verify`: 1 error"),
        "{stderr}"
    );
    assert!(!toy.path("dist").join(WHEEL).exists());
}

#[test]
fn measurements_of_a_build_are_always_in_the_summary() {
    let toy = Toy::building(TAKE).two_pythons();
    let summary = toy.path("summary.md");
    std::fs::write(&summary, "# A summary\n\n").unwrap();
    let run = |arguments: &[&str]| {
        let all = ["build"]
            .iter()
            .chain(arguments)
            .copied()
            .collect::<Vec<_>>();
        toy.command(&all)
            .env("GITHUB_STEP_SUMMARY", &summary)
            .output()
            .unwrap()
            .status
            .code()
    };
    assert_eq!(
        run(&["--all"]),
        Some(1),
        "there is no wheel of the second name to take"
    );
    let measured: serde_json::Value = serde_json::from_str(&toy.text("measured.json")).unwrap();
    assert_eq!(
        (&measured["job"], &measured["exit"]),
        (&JOB.into(), &0.into())
    );
    assert!(
        measured["wheel_bytes"].as_u64().unwrap() > 0
            && measured["disk_before_bytes"].as_u64().unwrap() > 0
    );
    let other =
        std::fs::read_to_string(toy.path(".rock/toy-1.0-rocm6.2-py3.12/measured.json")).unwrap();
    assert!(other.contains("\"exit\":1"), "{other}");
    let text = std::fs::read_to_string(&summary).unwrap();
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 4, "one head, one row a job\n{text}");
    assert!(
        rows[2].starts_with(&format!("| `{JOB}` | 0 | ")) && rows[3].contains(" | 1 | "),
        "{text}"
    );
}

#[test]
fn a_gate_that_is_none_is_refused() {
    let toy = Toy::building(TAKE).recipe("  record:", "  gates: [verfy]\n  record:");
    let (_, stderr) = toy.build(1, &[]);
    assert!(
        stderr.contains("recipes/toy.yaml:")
            && stderr.contains("verfy")
            && stderr.contains("`verify`"),
        "{stderr}"
    );
}

#[test]
fn options_that_would_do_nothing_are_refused() {
    let toy = Toy::building(TAKE);
    for arguments in [&["--image", "x:1"][..], &["--docker-arg=--x"]] {
        let (_, stderr) = toy.build(2, arguments);
        assert!(
            stderr.contains(arguments[0].split('=').next().unwrap()),
            "{stderr}"
        );
    }
    let (stdout, stderr) = toy.build(2, &["--dry-run", "--continue", "biuld"]);
    assert!(
        stderr.contains("error[B058") && stdout.is_empty(),
        "{stderr}"
    );
    toy.build(0, &["--dry-run", "--continue", "build"]);
    assert!(!toy.path(".rock").exists());
}

/// One line of JSON for each job.
#[test]
fn a_dry_run_has_a_form_for_programs() {
    let toy = Toy::building(TAKE);
    let shown = |more: &[&str]| {
        let (stdout, _) = toy.build(0, &[&["--dry-run", "--json"], more].concat());
        serde_json::from_str::<serde_json::Value>(&stdout).unwrap()
    };
    let document = shown(&[]);
    let stages: Vec<&str> = document["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["stage"].as_str().unwrap())
        .collect();
    assert_eq!(stages, ["prepare", "build", "record", "smoke-test"]);
    assert_eq!(document["job"], JOB);
    assert_eq!(document["wheel"], WHEEL);
    assert_eq!(document["container"], serde_json::Value::Null);
    assert_eq!(document.get("start"), None);
    assert_eq!(shown(&["--resume=build"])["start"], "build");
    assert!(!toy.path(".rock").exists());
}

#[test]
fn a_folder_that_is_not_utf_8_is_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let toy = Toy::building(TAKE);
    let folder = toy.folder.join(std::ffi::OsStr::from_bytes(b"rel\xff"));
    std::fs::create_dir(&folder).unwrap();
    let matrix = toy.path("matrices/toy.yaml");
    let recipes = toy.path("recipes");
    let mut command = toy.project.command(&[
        "build",
        JOB,
        "--matrix",
        matrix.to_str().unwrap(),
        "--recipes",
        recipes.to_str().unwrap(),
    ]);
    let output = command.current_dir(&folder).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.starts_with("error[B0") && stderr.contains("is not UTF-8"),
        "{stderr}"
    );
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn times_beyond_a_year_are_refused() {
    let toy = Toy::building(TAKE);
    for (option, value) in [
        ("--timeout", u64::MAX),
        ("--cap", 307_445_734_561_825_861),
        ("--grace", u64::MAX),
    ] {
        let (_, stderr) = toy.build(2, &[option, &value.to_string()]);
        assert!(stderr.contains(option), "{stderr}");
    }
}

#[test]
fn a_label_that_the_build_cannot_set_is_set_afterwards() {
    let toy = Toy::building(TAKE).recipe(
        "  record:",
        "  relabel: true\n  gates: [name, verify]\n  record:",
    );
    let plain = "toy-1.0-cp311-cp311-linux_x86_64.whl";
    std::fs::remove_file(toy.path("wheels").join(WHEEL)).unwrap();
    toy.write(&format!("wheels/{plain}"), &Wheel::named(plain).bytes());
    let (stdout, _) = toy.build(0, &[]);
    assert!(
        stdout.starts_with(&format!("dist/{WHEEL}  sha256:")),
        "{stdout}"
    );
}

#[test]
fn facts_are_detected_on_this_machine_and_can_be_given() {
    let asks = |command: &str| {
        let facts = format!("facts:\n  answer: {{command: [{command}]}}\nsteps:");
        let toy = Toy::building(&format!("echo '{{{{ answer }}}}' >answer; {TAKE}"));
        toy.recipe("steps:", &facts)
    };
    let toy = asks("bash, -c, echo forty-two");
    toy.build(0, &[]);
    assert_eq!(toy.text("answer"), "forty-two\n");
    let toy = asks("no-such-program");
    let (_, stderr) = toy.build(1, &[]);
    assert!(
        stderr.contains("error[B073 fact-unknown]: the fact `answer` of the recipe has no value"),
        "{stderr}"
    );
    assert!(
        stderr.contains("help: set it with `--fact answer=VALUE`"),
        "{stderr}"
    );
    assert!(!toy.path(".rock").exists());
    toy.build(0, &["--fact", "answer=by hand"]);
    assert_eq!(toy.text("answer"), "by hand\n");
}

#[test]
fn a_damaged_record_is_reported_and_the_build_begins_again() {
    let toy = Toy::building(TAKE);
    toy.write(&format!(".rock/{JOB}/build.json"), b"{");
    let (_, stderr) = toy.build(0, &["--continue", "auto"]);
    assert!(
        stderr.contains("warning[B059 bad-build-file]: `.rock/"),
        "{stderr}"
    );
}

#[test]
fn a_source_on_this_machine_is_copied_again_when_it_changed() {
    let source = "sources:\n  code: {path: code}\nsteps:";
    let toy = Toy::building(&format!("cat src/code/text >>seen; {TAKE}")).recipe("steps:", source);
    // The stand-in for Python copies nothing, so a real copy stands in for it.
    toy.write("code/text", b"one\n");
    let copy = "#!/bin/bash\nif [ -d \"$3\" ]; then mkdir -p src; rm -rf \"$4\"; cp -r \"$3\" \"$4\"; fi\n";
    toy.write("python", copy.as_bytes());
    toy.build(0, &[]);
    toy.build(0, &["--continue", "auto"]);
    assert_eq!(
        toy.text("seen"),
        "one\n",
        "nothing changed, so nothing was run"
    );
    toy.write("code/text", b"other\n");
    toy.build(0, &["--continue", "auto"]);
    assert_eq!(toy.text("seen"), "one\nother\n");
}

#[test]
fn a_step_runs_again_when_one_of_its_inputs_changed() {
    let toy = Toy::with_recipe(
        &format!("cat ../../input >>seen; {TAKE}"),
        "    inputs: [input]\n",
    );
    toy.write("input", b"one\n");
    toy.build(0, &[]);
    toy.build(0, &["--continue", "auto"]);
    assert_eq!(
        toy.text("seen"),
        "one\n",
        "nothing changed, so nothing was run"
    );
    toy.write("input", b"other\n");
    toy.build(0, &["--continue", "auto"]);
    assert_eq!(toy.text("seen"), "one\nother\n");
}

/// What an earlier build left is not thrown away without a word.
#[test]
fn a_new_build_lists_the_points_it_could_be_resumed_at() {
    let toy = Toy::with_recipe("echo build >>order; exit 1", "").recipe(
        "collect:",
        "  - stage: pack\n    argv: [bash, -c, \"true\"]\npoints: {first: [prepare], wheel: [build], last: [pack]}\ncollect:",
    );
    let toy = toy.recipe("echo prepare >>order\"]", "echo prepare >>order; mkdir -p src/toy dist; touch dist/one.whl\"]\n    outputs: {wheel: {glob: 'dist/*.whl'}}");
    let (_, stderr) = toy.build(4, &[]);
    assert!(!stderr.contains("--resume=wheel"), "{stderr}");
    let expected = "an earlier build of this job can be resumed; add one of these options:\n  \
                --resume=wheel      `prepare` is done: src/toy, dist/one.whl\n";
    let (_, stderr) = toy.build(0, &["--dry-run"]);
    assert_eq!(stderr, expected);
    let (stdout, _) = toy.build(0, &["--dry-run", "--continue", "wheel"]);
    assert!(
        stdout.contains("   1/5 prepare  skipped\n   2/5 build\n"),
        "{stdout}"
    );
    toy.build(4, &["--continue", "wheel"]);
    assert_eq!(toy.text("order"), "prepare\nbuild\nbuild\n");
    let (_, stderr) = toy.build(4, &[]);
    assert!(stderr.starts_with(expected), "{stderr}");
    assert_eq!(
        toy.text("order"),
        "prepare\nbuild\n",
        "and then it begins anew, as it was asked to"
    );
}

#[test]
fn another_torch_than_that_of_the_label_is_a_warning() {
    let toy = Toy::building(TAKE);
    let (_, agrees) = toy.build(0, &[]);
    let used = "#!/bin/bash\nif [ \"$3\" = used.json ]; then echo '{\"torch\": \"1.13.1\", \"torch-hip\": \"None\"}' >used.json; fi\n";
    toy.write("python", used.as_bytes());
    let (_, differs) = toy.build(0, &[]);
    appears("B095", &differs, &agrees);
    assert!(
        differs.contains("the label names ROCm 6.2, but the build used a torch without HIP\n"),
        "{differs}"
    );
    toy.write(
        "python",
        used.replace("\"torch-hip\": \"None\"", "\"hip\": \"5.2.21153-0\"")
            .as_bytes(),
    );
    let (_, differs) = toy.build(0, &[]);
    assert!(
        differs.contains("the label names ROCm 6.2, but the build used the HIP of ROCm 5.2\n"),
        "{differs}"
    );
}
