//! pip, which some stories install with.

use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus, Output, Stdio};

/// Options that isolate pip from the user's settings and cache.
const OPTIONS: [&str; 3] = [
    "--isolated",
    "--disable-pip-version-check",
    "--no-cache-dir",
];
/// A program that runs pip with each list of arguments in a fork of one process.
const FORKED_PIP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/real/forked_program.py");

/// Fails where there is no pip: a story that left its checks out would look like one that passed.
#[track_caller]
pub fn need_pip() {
    let mut pip = Command::new("python3");
    pip.args(["-c", "import pip"])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let found = pip.status().is_ok_and(|status| status.success());
    assert!(
        found,
        "this test installs with `python3 -m pip`, which is not there: install the package python3-pip"
    );
}

/// `python3 -m pip` with these words, untouched by the user's settings and cache.
pub fn pip(words: &[&str]) -> Command {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip"]).args(OPTIONS).args(words);
    leave_settings(&mut pip);
    pip
}

/// Runs pip with each of these lists of words, one after the other. The runs are copies of one
/// process, because a new one spends most of its time importing pip.
#[track_caller]
pub fn pips(calls: &[Vec<String>]) -> Vec<Output> {
    need_pip();
    let mut python = Command::new("python3");
    python.arg(FORKED_PIP);
    leave_settings(&mut python);
    let mut child = python
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let calls: Vec<Vec<&str>> = calls
        .iter()
        .map(|words| {
            let words = words.iter().map(String::as_str);
            OPTIONS.into_iter().chain(words).collect()
        })
        .collect();
    let words = serde_json::to_vec(&calls).unwrap();
    child.stdin.take().unwrap().write_all(&words).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let runs: Vec<(i32, String, String)> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(runs.len(), calls.len());
    runs.into_iter()
        .map(|(code, stdout, stderr)| Output {
            // The wait status of a program that exits (wait(2)).
            status: ExitStatus::from_raw(code << 8),
            stdout: stdout.into_bytes(),
            stderr: stderr.into_bytes(),
        })
        .collect()
}

fn leave_settings(command: &mut Command) {
    command.env("PIP_CONFIG_FILE", "/dev/null");
    for proxy in [
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "HTTPS_PROXY",
        "all_proxy",
        "ALL_PROXY",
    ] {
        command.env_remove(proxy);
    }
}
