//! Ctrl-C and SIGTERM: the right exit code, nothing left running, and a build that goes on.

use rustix::process::{Pid, Signal, kill_process};

use crate::support::toy::{Toy, WHEEL, all_gone, wait, wait_until};

/// A stage with a child and a grandchild in a session of its own; all of them ignore SIGTERM.
const STUBBORN: &str = "\
if [ -e ../../calm ]; then mkdir -p dist; cp \"$WHEELS\"/*.whl dist/; exit 0; fi
trap '' TERM INT
(trap '' TERM INT; echo $BASHPID >>pids; while :; do sleep 0.1; done) &
setsid bash -c 'trap \"\" TERM INT; echo $$ >>pids; while :; do sleep 0.1; done' &
echo $$ >>pids
while [ $(wc -l <pids) -lt 3 ]; do sleep 0.02; done
touch ready
while :; do sleep 0.1; done";

/// Whether one signal is sent, or the same again until the program ends.
#[derive(PartialEq, Eq)]
enum Times {
    Once,
    Again,
}

fn cancelled(signal: Signal, times: &Times, grace: &str, code: i32) -> (Toy, String) {
    let toy = Toy::building(STUBBORN);
    let mut child = toy.start(&["--grace", grace]);
    toy.await_file("ready");
    let id = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(id, signal).unwrap();
    while *times == Times::Again && child.try_wait().unwrap().is_none() {
        kill_process(id, signal).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let (_, stderr) = wait(child, code, &toy.folder);
    assert!(all_gone(&toy.text("pids")), "left: {}", toy.text("pids"));
    (toy, stderr)
}

#[test]
fn ctrl_c_ends_everything_with_130_and_the_build_continues() {
    let (toy, stderr) = cancelled(Signal::INT, &Times::Once, "0", 130);
    assert!(
        stderr.contains("warning[B056 build-stopped]: SIGINT stopped the build in stage `build`"),
        "{stderr}"
    );
    let record = toy.record();
    assert_eq!(
        (&record["outcome"], &record["stages"][1]["state"]),
        (&"stopped".into(), &"stopped".into())
    );
    assert!(
        !toy.path("dist").join(WHEEL).exists(),
        "a stopped build delivers nothing"
    );
    toy.write("calm", b"");
    toy.build(0, &["--continue", "auto"]);
    assert_eq!(toy.text("order"), "prepare\n", "what was done stayed done");
}

#[test]
fn sigterm_ends_everything_with_143() {
    let (_, stderr) = cancelled(Signal::TERM, &Times::Once, "0", 143);
    assert!(stderr.contains("SIGTERM stopped the build"), "{stderr}");
}

#[test]
fn a_second_ctrl_c_waits_for_no_grace() {
    let begun = std::time::Instant::now();
    cancelled(Signal::INT, &Times::Again, "3600", 130);
    assert!(begun.elapsed() < std::time::Duration::from_mins(1));
}

#[test]
fn a_stage_that_heeds_sigterm_may_tidy_up() {
    let toy = Toy::building(
        "trap 'echo tidied >tidied; exit 1' TERM; touch ready; while :; do sleep 0.02; done",
    );
    let child = toy.start(&["--grace", "60"]);
    toy.await_file("ready");
    kill_process(
        Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(),
        Signal::TERM,
    )
    .unwrap();
    wait(child, 143, &toy.folder);
    assert_eq!(toy.text("tidied"), "tidied\n");
}

#[test]
fn a_signal_ends_the_builds_that_would_follow() {
    let toy = Toy::building("touch ready; while :; do sleep 0.02; done").two_pythons();
    let child = toy
        .command(&["build", "--all"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    toy.await_file("ready");
    kill_process(
        Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap(),
        Signal::INT,
    )
    .unwrap();
    wait(child, 130, &toy.folder);
    assert!(!toy.path(".rock/toy-1.0-rocm6.2-py3.12").exists());
    wait_until(|| toy.record()["outcome"] == "stopped", "the record");
}
