//! Building in a container, with a stand-in for the engine that runs the script on this machine.

use rustix::process::{Pid, Signal, kill_process};

use crate::support::toy::{Harbour, JOB, WHEEL, all_gone, wait};

const TAKE: &str = "mkdir -p dist; cp \"$WHEELS\"/*.whl dist/; echo build >>order";

#[test]
fn the_container_builds_the_wheel_and_the_same_checks_follow_outside() {
    let harbour = Harbour::new(TAKE, "");
    let (stdout, stderr) = harbour.build(0, &[]);
    assert!(
        stdout.starts_with(&format!("dist/{WHEEL}  sha256:")),
        "{stdout}"
    );
    assert!(
        stderr.contains("[2/") && stderr.contains("build: done after"),
        "{stderr}"
    );
    let record = harbour.toy.record();
    assert_eq!(
        (
            &record["engine"],
            &record["image_digest"],
            &record["used"]["torch"]
        ),
        (&"docker".into(), &"sha256:1234".into(), &"1.13.1".into())
    );
    let stages = record["stages"].as_array().unwrap();
    assert!(
        stages.iter().all(|stage| stage["state"] == "done"),
        "{stages:?}"
    );
    assert_eq!(harbour.calls()[0], "version");
    let run = &harbour.calls()[1];
    assert!(run.starts_with("run --rm --name=rock-toy-"), "{run}");
    assert!(
        run.contains(&format!("--volume=[HERE]/.rock/{JOB}:/rock ")),
        "{run}"
    );
    assert!(run.ends_with(" img:1 bash /rock/build.sh"), "{run}");
}

/// Values are passed by name, so that no password of a proxy is on a command line.
#[test]
fn proxies_of_the_machine_reach_the_container() {
    let harbour = Harbour::new(TAKE, "");
    let mut command = harbour.command(&[]);
    for name in rock_matrix::recipe::container::PROXY_VARIABLES {
        command.env_remove(name);
    }
    command.envs([
        ("HTTPS_PROXY", "http://user:secret@proxy.example:3128"),
        ("no_proxy", "localhost"),
        ("all_proxy", ""),
    ]);
    let child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    wait(child, 0, &harbour.toy.folder);
    let run = &harbour.calls()[1];
    let passed: Vec<&str> = run
        .split(' ')
        .filter(|word| word.to_lowercase().ends_with("_proxy"))
        .collect();
    assert_eq!(passed, ["--env=HTTPS_PROXY", "--env=no_proxy"]);
    assert!(!run.contains("secret"), "{run}");
}

#[test]
fn a_dry_run_prints_the_argv_that_is_called_later_and_calls_nothing() {
    let harbour = Harbour::new(TAKE, "");
    let (stdout, _) = harbour.build(0, &["--dry-run", "--docker-arg=--memory=4g"]);
    assert!(
        stdout.contains("docker run --rm --name=rock-toy-") && stdout.contains(" --memory=4g "),
        "{stdout}"
    );
    assert!(harbour.calls().is_empty() && !harbour.toy.path(".rock").exists());
    let printed = stdout.replace(harbour.toy.folder.to_str().unwrap(), "[HERE]");
    let printed = printed
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("$ docker "))
        .unwrap();
    harbour.build(0, &["--docker-arg=--memory=4g"]);
    assert_eq!(harbour.calls()[1], shlex::split(printed).unwrap().join(" "));
}

#[test]
fn what_runs_always_runs_in_a_container_after_a_failure_too() {
    let build =
        format!("echo compiling; [ -e ../../mended ] || {{ echo build >>order; exit 7; }}; {TAKE}");
    let last = "  - stage: last\n    finally: true\n    argv: [bash, -c, \"echo last >>order; exit $(cat ../../ends 2>/dev/null || echo 0)\"]\ncollect:";
    let harbour = Harbour {
        toy: Harbour::new(&build, "").toy.recipe("collect:", last),
    };
    let failed = "error[B050 step-failed]: stage `build` failed: exit status 7";
    let (_, stderr) = harbour.build(4, &[]);
    assert!(
        stderr.contains(failed) && stderr.contains("compiling\n"),
        "{stderr}"
    );
    assert!(
        stderr.contains("build: failed after") && stderr.contains("last: done after"),
        "{stderr}"
    );
    assert_eq!(harbour.toy.text("order"), "prepare\nbuild\nlast\n");
    harbour.toy.write("ends", b"9");
    let (_, stderr) = harbour.build(4, &["--continue", "auto"]);
    assert!(stderr.contains(failed), "{stderr}");
    harbour.toy.write("mended", b"");
    let (_, stderr) = harbour.build(4, &["--continue", "auto"]);
    assert!(
        stderr.contains("error[B050 step-failed]: stage `last` failed: exit status 9"),
        "{stderr}"
    );
    harbour.toy.write("ends", b"0");
    harbour.build(0, &["--continue", "auto"]);
    assert_eq!(
        harbour.toy.text("order"),
        "prepare\nbuild\nlast\nbuild\nlast\nbuild\nlast\nlast\n"
    );
}

#[test]
fn a_failed_stage_is_reported_alike_in_a_container_and_without() {
    let harbour = Harbour::new("echo compiling; exit 7", "");
    let (_, stderr) = harbour.build(4, &[]);
    assert!(
        stderr.contains("error[B050 step-failed]: stage `build` failed: exit status 7"),
        "{stderr}"
    );
    assert!(stderr.contains("compiling\n"), "{stderr}");
    assert_eq!(harbour.toy.record()["stages"][1]["state"], "failed");
}

#[test]
fn going_on_in_a_container_passes_over_what_is_done() {
    let harbour = Harbour::new(
        "echo build >>order; [ -e ../../mended ] || exit 1; mkdir -p dist; cp \"$WHEELS\"/*.whl dist/",
        "",
    );
    harbour.build(4, &[]);
    harbour.toy.write("mended", b"");
    harbour.build(0, &["--continue", "auto"]);
    assert_eq!(harbour.toy.text("order"), "prepare\nbuild\nbuild\n");
    assert!(
        harbour
            .toy
            .text("logs/build.log")
            .contains("== prepare: done before")
    );
}

#[test]
fn messages_of_the_engine_become_diagnostics_with_help() {
    let harbour = Harbour::new(TAKE, "");
    let check = |text: &str, code: &str| {
        harbour.toy.write("bin/trouble", text.as_bytes());
        let (_, stderr) = harbour.build(3, &[]);
        assert!(
            stderr.contains(code) && stderr.contains("help: "),
            "{code}: {stderr}"
        );
        assert!(stderr.contains(text.lines().next().unwrap()), "{stderr}");
    };
    check(
        "docker: Error response from daemon: error gathering device information while adding custom device \"/dev/kfd\": no such file or directory.\n",
        "error[B064 device-missing]",
    );
    check(
        "docker: Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?\n",
        "error[B062 no-engine-answers]",
    );
    check(
        "docker: Error response from daemon: Unable to find group render: no matching entries in group file.\n",
        "error[B065 group-missing]",
    );
    check(
        "Unable to find image 'img:1' locally\ndocker: Error response from daemon: pull access denied for img\n",
        "error[B063 image-missing]",
    );
    check("docker: something new\n", "error[B066 engine-failed]");
    let output = harbour
        .command(&[])
        .env("PATH", "/nowhere")
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(
        stderr.contains("error[B061 engine-missing]: `docker` is not installed"),
        "{stderr}"
    );
}

#[test]
fn an_engine_that_cannot_start_leaves_an_earlier_build_as_it_was() {
    let harbour = Harbour::new(TAKE, "");
    harbour.build(0, &[]);
    let (record, order) = (harbour.toy.record(), harbour.toy.text("order"));
    let trouble = |text: &str| harbour.toy.write("bin/trouble", text.as_bytes());
    for arguments in [&[][..], &["--continue", "auto"]] {
        trouble(
            "Cannot connect to the Docker daemon at unix:///x. Is the docker daemon running?\n",
        );
        let (_, stderr) = harbour.build(3, arguments);
        assert!(stderr.contains("error[B062 no-engine-answers]"), "{stderr}");
        let output = harbour
            .command(arguments)
            .env("PATH", "/nowhere")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(3));
        assert_eq!(harbour.toy.record(), record, "{arguments:?}");
    }
    trouble("docker: Error response from daemon: pull access denied for img\n");
    std::fs::remove_file(harbour.toy.path(&format!(".rock/{JOB}/done/build"))).unwrap();
    harbour.toy.write(
        &format!(".rock/{JOB}/build.json"),
        record.to_string().replace("done", "failed").as_bytes(),
    );
    let before = harbour.toy.record();
    harbour.build(3, &["--continue", "auto"]);
    assert_eq!(
        harbour.toy.record(),
        before,
        "an image that is not there changes nothing either"
    );
    assert_eq!(harbour.toy.text("order"), order);
}

#[test]
fn devices_follow_the_policy_and_what_the_machine_has() {
    let words = |matrix: &str| {
        let (stdout, _) = Harbour::new(TAKE, matrix).build(0, &["--dry-run"]);
        stdout.contains("--device=/dev/kfd")
    };
    assert!(words("gpu: required\n") && !words("gpu: none\n"));
    let has_nodes = ["/dev/kfd", "/dev/dri"]
        .iter()
        .all(|node| std::path::Path::new(node).exists());
    assert_eq!(words("gpu: auto\n"), has_nodes);
}

/// The words about GPUs that the engine gets, where a runner has assigned one of several; the
/// second is the file that isolates it.
fn gpu_words(matrix: &str, devices: Option<&str>) -> Vec<String> {
    let harbour = Harbour::new(TAKE, matrix);
    std::fs::create_dir(harbour.toy.path("podinfo")).unwrap();
    if let Some(devices) = devices {
        harbour
            .toy
            .write("podinfo/gha-render-devices", devices.as_bytes());
        harbour.toy.write(
            "podinfo/gha-gpu-isolation-settings",
            b"ROCR_VISIBLE_DEVICES=1\n",
        );
    }
    let mut command = harbour.command(&["--podinfo-dir", "podinfo"]);
    command
        .env("ROCR_VISIBLE_DEVICES", "1")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    wait(command.spawn().unwrap(), 0, &harbour.toy.folder);
    let run = &harbour.calls()[1];
    let is_of_gpu = |word: &&str| {
        ["--device", "--env-file", "--env=ROCR"]
            .iter()
            .any(|start| word.starts_with(start))
    };
    run.split(' ')
        .filter(is_of_gpu)
        .map(str::to_owned)
        .collect()
}

/// A job with a GPU gets the one that its runner assigned, and no other; one without gets none.
#[test]
fn the_container_gets_the_gpu_that_the_runner_assigned() {
    let assigned = Some("--device /dev/dri/renderD129\n");
    let variable = "--env=ROCR_VISIBLE_DEVICES";
    assert_eq!(
        gpu_words("gpu: required\n", assigned),
        [
            "--device=/dev/kfd",
            "--device=/dev/dri/renderD129",
            "--env-file=podinfo/gha-gpu-isolation-settings",
            variable
        ]
    );
    assert_eq!(
        gpu_words("gpu: required\n", None),
        ["--device=/dev/kfd", "--device=/dev/dri", variable]
    );
    assert!(gpu_words("gpu: none\n", assigned).is_empty());
}

#[test]
fn a_list_of_devices_with_another_option_starts_nothing() {
    let harbour = Harbour::new(TAKE, "gpu: required\n");
    harbour
        .toy
        .write("podinfo/gha-render-devices", b"--privileged\n");
    let (_, stderr) = harbour.build(1, &["--podinfo-dir", "podinfo"]);
    insta::assert_snapshot!(stderr, @r"
    error[G364 strange-device]: `--privileged` is not a device below `/dev/dri`
    --> podinfo/gha-render-devices
    help: the file should have options such as `--device /dev/dri/renderD128`: ask the operator of this machine
    ");
    assert!(harbour.calls().is_empty());
}

/// Both print the argv of one function; they differ in the name, and in variables that are not set.
#[test]
fn a_rendered_command_and_a_dry_run_agree() {
    let harbour = Harbour::new(TAKE, "gpu: none\n");
    let output_of = |mut command: std::process::Command| {
        command.envs(
            rock_matrix::recipe::container::PROXY_VARIABLES
                .map(|name| (name, "http://proxy.example:3128")),
        );
        command.env("SOURCE_DATE_EPOCH", "1700000000");
        let child = command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        wait(child, 0, &harbour.toy.folder).0
    };
    let dry = output_of(harbour.command(&["--dry-run"]));
    let dry = dry
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("$ docker "))
        .unwrap();
    let rendered = output_of(harbour.toy.command(&[
        "render",
        "docker",
        "matrices/toy.yaml",
        "--image",
        "img:1",
    ]));
    let rendered: Vec<&str> = rendered
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect();
    let rendered = rendered
        .join("\n")
        .replace("\\\n", " ")
        .replace("\"$PWD\"", "[HERE]");
    let words = |text: &str| {
        let words = shlex::split(text).unwrap();
        words
            .into_iter()
            .filter(|word| !word.starts_with("--name="))
            .collect::<Vec<_>>()
    };
    let rendered = words(rendered.trim().strip_prefix("docker ").unwrap());
    assert!(
        rendered.contains(&"--env=https_proxy".to_owned()),
        "{rendered:?}"
    );
    assert_eq!(words(dry), rendered);
}

#[test]
fn a_signal_removes_the_container_and_the_build_continues() {
    let stubborn = "[ ! -e ../../calm ] || { mkdir -p dist; cp \"$WHEELS\"/*.whl dist/; exit 0; }\n\
        trap '' TERM; echo $$ >pids; touch ready; while :; do sleep 0.05; done";
    let harbour = Harbour::new(stubborn, "");
    let child = harbour
        .command(&["--grace", "0"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    harbour.toy.await_file("ready");
    kill_process(
        Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(),
        Signal::TERM,
    )
    .unwrap();
    let (_, stderr) = wait(child, 143, &harbour.toy.folder);
    assert!(
        stderr.contains("SIGTERM stopped the build in stage `build`"),
        "{stderr}"
    );
    assert!(all_gone(&harbour.toy.text("pids")));
    assert!(
        harbour
            .calls()
            .iter()
            .any(|call| call.starts_with("rm --force rock-toy-")),
        "{:?}",
        harbour.calls()
    );
    harbour.toy.write("calm", b"");
    harbour.build(0, &["--continue", "auto"]);
    assert_eq!(
        harbour.toy.text("order"),
        "prepare\n",
        "what was done stayed done"
    );
}

#[test]
fn the_container_of_a_killed_build_is_removed_before_the_next() {
    let harbour = Harbour::new(
        "[ ! -e ../../calm ] || { mkdir -p dist; cp \"$WHEELS\"/*.whl dist/; exit 0; }\n\
         echo $$ >pids; touch ready; while :; do sleep 0.05; done",
        "",
    );
    let mut child = harbour
        .command(&[])
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    harbour.toy.await_file("ready");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        !all_gone(&harbour.toy.text("pids")),
        "the container lives on"
    );
    harbour.toy.write("calm", b"");
    let pids = harbour.toy.text("pids");
    harbour.build(0, &["--continue", "auto"]);
    assert!(all_gone(&pids));
    assert_eq!(
        harbour.toy.text("order"),
        "prepare\n",
        "the marks of the killed build count"
    );
}

#[test]
fn the_cap_removes_the_container() {
    let harbour = Harbour::new("echo $$ >pids; while :; do sleep 0.05; done", "");
    let started_at = (rock_matrix::sys::now_s() - 58).to_string();
    let (_, stderr) = harbour.build(
        124,
        &["--cap", "1", "--started-at", &started_at, "--grace", "0"],
    );
    assert!(stderr.contains("warning[B055 build-capped]"), "{stderr}");
    assert!(all_gone(&harbour.toy.text("pids")));
}
