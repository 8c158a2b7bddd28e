//! Asks a program a short question: bounded in time and output, no terminal, no input, nothing left
//! running.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Signal, WaitId, WaitIdOptions};

use super::Environment;

/// More than a version line takes, less than a pipe holds.
const ANSWER_LIMIT_BYTES: u64 = 16 << 10;
const PAUSE: Duration = Duration::from_millis(5);

/// What a program answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramOutput {
    /// Its standard output, cut at 16 KiB.
    pub stdout: String,
    /// Whether it ended in time with code 0.
    pub succeeded: bool,
}

impl ProgramOutput {
    /// The first line, whatever the program's code was.
    pub fn first_line(&self) -> Option<String> {
        self.stdout
            .lines()
            .next()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
    }

    /// The first line of a program that ended well.
    pub fn first_line_of_success(&self) -> Option<String> {
        self.first_line().filter(|_| self.succeeded)
    }
}

/// The program of that name on the `PATH` of the environment.
pub fn find_program(name: &str, environment: &Environment) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        std::fs::metadata(path).is_ok_and(|status| {
            status.is_file() && std::os::unix::fs::MetadataExt::mode(&status) & 0o111 != 0
        })
    };
    let folders = environment
        .get("PATH")?
        .split(':')
        .filter(|folder| !folder.is_empty());
    folders
        .map(|folder| Path::new(folder).join(name))
        .find(is_program)
}

/// Runs a program with a time-out; a program that cannot be started answers nothing.
pub fn probe(
    program: &Path,
    arguments: &[&str],
    environment: &Environment,
    timeout: Duration,
) -> ProgramOutput {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(&environment.variables);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0);
    let Ok(mut child) = command.spawn() else {
        return ProgramOutput::default();
    };
    let deadline = Instant::now() + timeout;
    let leader = rustix::process::Pid::from_child(&child);
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    let ended = loop {
        match rustix::process::waitid(WaitId::Pid(leader), options) {
            Ok(Some(_)) => break true,
            Ok(None) if Instant::now() < deadline => std::thread::sleep(PAUSE),
            Ok(None) | Err(_) => break false,
        }
    };
    // The leader is not waited for yet, so the group's number is still its own. A child left behind
    // would hold the pipe open.
    let _ = rustix::process::kill_process_group(leader, Signal::KILL);
    let status = child.wait();
    let mut bytes = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        let _ = stdout.take(ANSWER_LIMIT_BYTES).read_to_end(&mut bytes);
    }
    ProgramOutput {
        stdout: String::from_utf8_lossy(&bytes).into_owned(),
        succeeded: ended && status.is_ok_and(|status| status.success()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, timeout: Duration) -> ProgramOutput {
        let environment = Environment {
            variables: [("PATH".into(), "/usr/bin:/bin".into())].into(),
            ..Environment::default()
        };
        let program = find_program("sh", &environment).unwrap();
        probe(&program, &["-c", script], &environment, timeout)
    }

    #[test]
    fn an_answer_counts_only_where_its_code_does() {
        let failed = shell("echo 1.2; exit 1", PROBE);
        assert_eq!(
            (
                failed.first_line().as_deref(),
                failed.first_line_of_success()
            ),
            (Some("1.2"), None)
        );
        assert_eq!(
            shell("echo 1.2", PROBE).first_line_of_success().as_deref(),
            Some("1.2")
        );
    }

    #[test]
    fn a_program_that_hangs_is_ended_with_its_children() {
        let begun = Instant::now();
        assert_eq!(
            shell("sleep 30 & sleep 30", Duration::from_millis(50)),
            ProgramOutput::default()
        );
        assert!(!shell("sleep 30 & echo left", PROBE).stdout.is_empty());
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "it waited for the children"
        );
    }

    const PROBE: Duration = Duration::from_secs(10);
}
