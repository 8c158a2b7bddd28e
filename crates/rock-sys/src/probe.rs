//! Runs short programs: limited time and output, no terminal, no input, no processes left behind.

use std::io::Read;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Signal, WaitId, WaitIdOptions};

use super::Environment;

/// Maximum size of the output in bytes: more than a version line, less than the capacity of a pipe.
const MAX_OUTPUT_BYTES: u64 = 16 << 10;
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The output of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramOutput {
    /// Standard output, truncated to 16 KiB; invalid UTF-8 is replaced.
    pub stdout: String,
    /// Whether the program exited in time with code 0.
    pub succeeded: bool,
}

impl ProgramOutput {
    /// Returns the first line, if not empty, whatever the exit code.
    pub fn first_line(&self) -> Option<String> {
        self.stdout
            .lines()
            .next()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
    }

    /// Returns the first line, if not empty, of a program that succeeded.
    pub fn first_line_of_success(&self) -> Option<String> {
        self.first_line().filter(|_| self.succeeded)
    }
}

/// Returns the path of a program on the `PATH` of the environment.
pub fn find_program(name: &str, environment: &Environment) -> Option<PathBuf> {
    let directories = environment
        .get("PATH")?
        .split(':')
        .filter(|directory| !directory.is_empty());
    directories
        .map(|directory| Path::new(directory).join(name))
        .find(|path| is_executable(path))
}

/// Returns whether a path is a regular file that somebody may execute.
fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.mode() & 0o111 != 0)
}

/// Runs a program with a timeout. A program that cannot be started has no output.
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
    let exited = loop {
        match rustix::process::waitid(WaitId::Pid(leader), options) {
            Ok(Some(_)) => break true,
            Ok(None) if Instant::now() < deadline => std::thread::sleep(POLL_INTERVAL),
            Ok(None) | Err(_) => break false,
        }
    };
    // The leader is not reaped yet, so its process group ID cannot be reused. A remaining child
    // would keep the pipe open.
    let _ = rustix::process::kill_process_group(leader, Signal::KILL);
    let status = child.wait();
    let mut bytes = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        let _ = stdout.take(MAX_OUTPUT_BYTES).read_to_end(&mut bytes);
    }
    ProgramOutput {
        stdout: String::from_utf8_lossy(&bytes).into_owned(),
        succeeded: exited && status.is_ok_and(|status| status.success()),
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
    fn output_counts_only_on_success() {
        let failed = shell("echo 1.2; exit 1", TIMEOUT);
        assert_eq!(
            (
                failed.first_line().as_deref(),
                failed.first_line_of_success()
            ),
            (Some("1.2"), None)
        );
        assert_eq!(
            shell("echo 1.2", TIMEOUT)
                .first_line_of_success()
                .as_deref(),
            Some("1.2")
        );
    }

    #[test]
    fn a_hanging_program_is_killed_with_its_children() {
        let begun = Instant::now();
        assert_eq!(
            shell("sleep 30 & sleep 30", Duration::from_millis(50)),
            ProgramOutput::default()
        );
        assert!(!shell("sleep 30 & echo left", TIMEOUT).stdout.is_empty());
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "it waited for the children"
        );
    }

    const TIMEOUT: Duration = Duration::from_secs(10);
}
