//! Runs git as a process, isolated from hooks and environment variables that would change what it
//! does, and captures its output.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use super::error::CheckoutError;
use super::limits::{KEPT_BYTES, LARGEST_OUTPUT_BYTES, LONGEST_LINE_BYTES};
use crate::REFLOG_MARK;
use crate::codes::host;
use rock_diagnostic::Diagnostic;
use rock_sys::process::{self, Control, Invocation, ProcessEvent, ProcessStatus, StderrTarget};
use rock_sys::{Environment, Signals, StopSignal};

/// The time git gets to clean up when it is stopped.
const GRACE: Duration = Duration::from_secs(10);
/// The environment variable that marks the processes of a checkout, so that they are found after it
/// was killed. Its value is the directory of the checkout.
pub(super) const MARK: &str = "ROCK_CHECKOUT_FOLDER";
/// Environment variables that select the repository of git (`git rev-parse --local-env-vars`).
/// Removed unless the call sets them: git uses the repository of its working directory.
const LOCAL: [&str; 12] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_OBJECT_DIRECTORY",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR",
];
/// Git settings for every call: reflogs show which commits a checkout made, nothing runs in the
/// background, and submodules are handled one by one. Code that was built in a worktree may have
/// written its configuration and hooks, so git runs neither hooks nor a file system monitor
/// (git-config(1), `core.hooksPath`, `core.fsmonitor`).
const SETTINGS: [(&str, &str); 7] = [
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.logAllRefUpdates", "true"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("submodule.recurse", "false"),
    ("advice.detachedHead", "false"),
];

/// A stop request that several threads can check.
#[derive(Debug)]
pub(super) struct StopFlag<'a> {
    signals: &'a Signals,
    signal: Mutex<Option<StopSignal>>,
}

impl<'a> StopFlag<'a> {
    pub(super) fn new(signals: &'a Signals) -> Self {
        Self {
            signals,
            signal: Mutex::new(None),
        }
    }

    /// Returns the latest signal so far; once set, it stays set.
    pub(super) fn requested(&self) -> Option<StopSignal> {
        let mut signal = self
            .signal
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        *signal = self.signals.take().or(*signal);
        *signal
    }
}

/// Runs programs in the repositories of one checkout.
#[derive(Debug)]
pub(super) struct GitRunner<'a> {
    directory: &'a Path,
    environment: &'a Environment,
    pub(super) stop: StopFlag<'a>,
}

/// The result of a program.
#[derive(Debug)]
pub(super) struct GitOutput {
    pub(super) status: ProcessStatus,
    pub(super) stdout: Vec<u8>,
    /// The end of stderr.
    pub(super) stderr: String,
}

impl GitOutput {
    pub(super) fn is_success(&self) -> bool {
        self.status == ProcessStatus::Code(0)
    }

    /// Returns stdout as one trimmed line.
    pub(super) fn line(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim().to_owned()
    }
}

/// A program to run in a repository.
#[derive(Debug, Clone, Default)]
pub(super) struct GitCall {
    pub(super) argv: Vec<String>,
    /// The path of the repository below the directory; empty for the outer one.
    pub(super) repository: String,
    /// Additional environment variables.
    pub(super) set: Vec<(String, String)>,
    /// Whether the call needs no repository.
    pub(super) is_anywhere: bool,
    /// Whether the call can take long and is marked, so that it is found if this program is killed.
    pub(super) is_long: bool,
}

impl GitCall {
    /// Creates a call of git with these arguments.
    pub(super) fn git(repository: &str, arguments: &[&str]) -> Self {
        let argv = std::iter::once(&"git")
            .chain(arguments)
            .map(|&word| word.to_owned())
            .collect();
        Self {
            argv,
            repository: repository.to_owned(),
            ..Self::default()
        }
    }

    /// Adds an environment variable.
    pub(super) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.set.push((name.to_owned(), value.into()));
        self
    }

    /// Marks the call as one that can take long.
    pub(super) fn long(mut self) -> Self {
        self.is_long = true;
        self
    }
}

impl<'a> GitRunner<'a> {
    pub(super) fn new(
        directory: &'a Path,
        environment: &'a Environment,
        signals: &'a Signals,
    ) -> Self {
        Self {
            directory,
            environment,
            stop: StopFlag::new(signals),
        }
    }

    /// Returns the directory of a repository.
    pub(super) fn directory(&self, repository: &str) -> PathBuf {
        if repository.is_empty() {
            self.directory.to_owned()
        } else {
            self.directory.join(repository)
        }
    }

    /// Runs a call and waits for its end, whatever its exit status is. `listen` receives each line
    /// of stderr, where a carriage return also ends a line, and `None` when time passes without
    /// output.
    ///
    /// # Errors
    /// When the program cannot be started, writes too much output, or a signal arrives.
    pub(super) fn run(
        &self,
        call: &GitCall,
        listen: &mut dyn FnMut(Option<&str>),
    ) -> Result<GitOutput, CheckoutError> {
        if let Some(signal) = self.stop.requested() {
            return Err(CheckoutError::Stopped(signal));
        }
        let (mut stdout, mut stderr, mut line) = (Vec::new(), Vec::new(), Vec::new());
        let mut is_stopped = false;
        let status = process::run(&self.invocation(call), GRACE, &mut |heard| {
            match heard {
                ProcessEvent::Output(_) if stdout.len() > LARGEST_OUTPUT_BYTES => {}
                ProcessEvent::Output(bytes) => stdout.extend_from_slice(bytes),
                ProcessEvent::Stderr(bytes) => {
                    stderr.extend_from_slice(bytes);
                    if stderr.len() > 2 * KEPT_BYTES {
                        stderr.drain(..stderr.len() - KEPT_BYTES);
                    }
                    for &byte in bytes {
                        if byte != b'\n' && byte != b'\r' {
                            if line.len() < LONGEST_LINE_BYTES {
                                line.push(byte);
                            }
                        } else if !line.is_empty() {
                            listen(Some(&String::from_utf8_lossy(&line)));
                            line.clear();
                        }
                    }
                }
                ProcessEvent::Tick => listen(None),
            }
            is_stopped |= self.stop.requested().is_some();
            if is_stopped || stdout.len() > LARGEST_OUTPUT_BYTES {
                Control::Terminate
            } else {
                Control::Continue
            }
        })?;
        if stdout.len() > LARGEST_OUTPUT_BYTES {
            let command = call.argv.join(" ");
            let message = format!(
                "`{command}` wrote more than {} MiB",
                LARGEST_OUTPUT_BYTES >> 20
            );
            let fault = Diagnostic::new(&host::TOO_MUCH_OUTPUT, message);
            return Err(CheckoutError::Refused(vec![
                fault.help("run it to see what it prints"),
            ]));
        }
        match self.stop.requested() {
            Some(signal) => Err(CheckoutError::Stopped(signal)),
            None => Ok(GitOutput {
                status,
                stdout,
                stderr: lines_of(&stderr),
            }),
        }
    }

    /// Runs a call that must succeed.
    ///
    /// # Errors
    /// When the program cannot be started, fails, writes too much output, or a signal arrives.
    pub(super) fn succeed(&self, call: &GitCall) -> Result<GitOutput, CheckoutError> {
        let output = self.run(call, &mut |_| ())?;
        if output.is_success() {
            Ok(output)
        } else {
            Err(CheckoutError::git(call, output))
        }
    }

    fn invocation(&self, call: &GitCall) -> Invocation {
        let directory = if call.is_anywhere {
            PathBuf::from("/")
        } else {
            self.directory(&call.repository)
        };
        let mut set: std::collections::BTreeMap<String, String> =
            call.set.iter().cloned().collect();
        // If a repository is missing, git must not use the one around it.
        if let Some(above) = directory.parent() {
            set.insert(
                "GIT_CEILING_DIRECTORIES".into(),
                above.display().to_string(),
            );
        }
        set.insert("GIT_REFLOG_ACTION".into(), REFLOG_MARK.into());
        set.insert("GIT_TERMINAL_PROMPT".into(), "0".into());
        set.insert("LC_ALL".into(), "C".into());
        let count = self
            .environment
            .get("GIT_CONFIG_COUNT")
            .and_then(|count| count.parse::<usize>().ok());
        let first = count.unwrap_or(0);
        for (number, (key, value)) in SETTINGS.iter().enumerate() {
            set.insert(
                format!("GIT_CONFIG_KEY_{}", first + number),
                (*key).to_owned(),
            );
            set.insert(
                format!("GIT_CONFIG_VALUE_{}", first + number),
                (*value).to_owned(),
            );
        }
        set.insert(
            "GIT_CONFIG_COUNT".into(),
            (first + SETTINGS.len()).to_string(),
        );
        let remove = LOCAL
            .iter()
            .filter(|name| !set.contains_key(**name))
            .map(|&name| name.to_owned())
            .collect();
        Invocation {
            argv: call.argv.clone(),
            set_env: set,
            remove_env: remove,
            current_dir: directory,
            mark: call
                .is_long
                .then(|| (MARK.to_owned(), self.directory.display().to_string())),
            stderr: StderrTarget::Separate,
            ..Invocation::default()
        }
    }
}

/// Returns the text without progress lines that were overwritten.
fn lines_of(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines = text.lines().map(|line| {
        line.rsplit('\r')
            .find(|part| !part.is_empty())
            .unwrap_or_default()
            .trim_end()
    });
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{CheckoutError, GitCall, GitRunner, LARGEST_OUTPUT_BYTES, lines_of};
    use rock_sys::{Environment, Signals};

    #[test]
    fn output_at_the_limit_is_read_and_more_is_refused() {
        let (environment, signals) = (Environment::default(), Signals::default());
        let directory = tempfile::tempdir().unwrap();
        let git = GitRunner::new(directory.path(), &environment, &signals);
        let run = |bytes: usize| {
            let argv = ["/usr/bin/head", "-c", &bytes.to_string(), "/dev/zero"]
                .map(str::to_owned)
                .to_vec();
            git.run(
                &GitCall {
                    argv,
                    ..GitCall::default()
                },
                &mut |_| (),
            )
        };
        assert_eq!(
            run(LARGEST_OUTPUT_BYTES).unwrap().stdout.len(),
            LARGEST_OUTPUT_BYTES
        );
        let Err(CheckoutError::Refused(faults)) = run(LARGEST_OUTPUT_BYTES + 1) else {
            panic!("it was read")
        };
        assert!(
            faults[0].message.ends_with(" wrote more than 64 MiB"),
            "{faults:?}"
        );
    }

    #[test]
    fn of_progress_the_last_state_is_kept() {
        assert_eq!(
            lines_of(b"Receiving:  1%\rReceiving: 100%, done.\n\nfatal: no\n"),
            "Receiving: 100%, done.\nfatal: no"
        );
        assert_eq!(lines_of(b"a  \r\nb"), "a\nb");
    }
}
