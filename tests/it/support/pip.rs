//! pip, which some stories install with.

use std::process::{Command, Stdio};

/// Fails where there is no pip: a story that left its checks out would look like one that passed.
#[track_caller]
pub fn need_pip() {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    let found = pip.status().is_ok_and(|status| status.success());
    assert!(found, "this test installs with `python3 -m pip`, which is not there: install the package python3-pip");
}
