//! pip, which some stories install with.

use std::process::{Command, Stdio};

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
    pip.args([
        "-m",
        "pip",
        "--isolated",
        "--disable-pip-version-check",
        "--no-cache-dir",
    ])
    .args(words);
    pip.env("PIP_CONFIG_FILE", "/dev/null");
    for proxy in [
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "HTTPS_PROXY",
        "all_proxy",
        "ALL_PROXY",
    ] {
        pip.env_remove(proxy);
    }
    pip
}
