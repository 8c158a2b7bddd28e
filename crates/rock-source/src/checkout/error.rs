//! The errors of a checkout, and their diagnostics.

use std::path::PathBuf;

use super::git::{GitCall, GitOutput};
use crate::codes::checkout as codes;
use crate::{CheckoutStateError, named};
use rock_diagnostic::{Diagnostic, Location};
use rock_sys::process::{ProcessError, ProcessStatus};
use rock_sys::{FileError, StopSignal};

/// The number of last lines of git's output that a message shows.
const SHOWN_LINES: usize = 12;
/// Parts of git's messages for a ref that does not exist.
const NO_REF: [&str; 2] = ["couldn't find remote ref", "not our ref"];
/// Messages of programs for a full disk (`ENOSPC`, `EFBIG`, `EDQUOT`).
const FULL: [&str; 3] = [
    "No space left on device",
    "File too large",
    "Disk quota exceeded",
];

/// A checkout that did not complete.
#[derive(Debug, thiserror::Error)]
pub enum CheckoutError {
    /// The checkout is refused.
    #[error("it is refused")]
    Refused(Vec<Diagnostic>),
    /// Another run uses the directory.
    #[error("the directory `{}` is in use", .0.display())]
    Busy(PathBuf),
    /// The directory is not a checkout.
    #[error("`{}` is not a checkout", .0.display())]
    NoCheckout(PathBuf),
    /// The state file of the last checkout is invalid.
    #[error("`{}`: {fault}", path.display())]
    State {
        /// The path of the file.
        path: PathBuf,
        /// The reason.
        fault: CheckoutStateError,
    },
    /// Upstream does not have the ref.
    #[error("`{origin}` has no `{reference}`")]
    NoSuchReference {
        /// The URL that was queried.
        origin: String,
        /// The branch, tag or commit.
        reference: String,
        /// The output of git.
        output: String,
    },
    /// The fetch failed.
    #[error("cannot fetch from `{origin}`")]
    Fetch {
        /// The URL that was fetched from.
        origin: String,
        /// The output of git.
        output: String,
    },
    /// A submodule could not be checked out.
    #[error("the submodules cannot be checked out")]
    Submodules {
        /// The output of git.
        output: String,
    },
    /// The repository of a submodule is missing.
    #[error("{} has no repository", named(path))]
    Broken {
        /// The path of the submodule.
        path: String,
        /// The output of git.
        output: String,
    },
    /// A patch does not apply.
    #[error("`{patch}` does not apply to {}", named(repository))]
    Patch {
        /// The path of the patch.
        patch: String,
        /// The path of the repository.
        repository: String,
        /// The output of git.
        output: String,
    },
    /// The hipify script failed.
    #[error("hipify failed with {status}")]
    Hipify {
        /// The exit status.
        status: ProcessStatus,
        /// The output of the script.
        output: String,
    },
    /// Another git command failed.
    #[error("`{command}` in {} failed with {status}", named(repository))]
    Git {
        /// The start of the command.
        command: String,
        /// The path of the repository.
        repository: String,
        /// The exit status.
        status: ProcessStatus,
        /// The output of git.
        output: String,
    },
    /// A program could not be started.
    #[error(transparent)]
    Start(#[from] ProcessError),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A signal stopped the checkout.
    #[error("stopped by a signal")]
    Stopped(StopSignal),
}

impl CheckoutError {
    /// Creates the error for a failed call.
    pub(super) fn git(call: &GitCall, output: GitOutput) -> Self {
        Self::Git {
            command: call
                .argv
                .iter()
                .take(4)
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(" "),
            repository: call.repository.clone(),
            status: output.status,
            output: output.stderr,
        }
    }

    /// Creates the error for a failed fetch.
    pub(super) fn fetch(origin: &str, reference: &str, output: GitOutput) -> Self {
        let (origin, reference) = (origin.to_owned(), reference.to_owned());
        if NO_REF.iter().any(|words| output.stderr.contains(words)) {
            return Self::NoSuchReference {
                origin,
                reference,
                output: output.stderr,
            };
        }
        Self::Fetch {
            origin,
            output: output.stderr,
        }
    }

    /// Returns whether the input is at fault, rather than the machine or the network.
    pub fn is_of_input(&self) -> bool {
        match self {
            _ if self.is_of_disk() => false,
            Self::Refused(_)
            | Self::Busy(_)
            | Self::NoCheckout(_)
            | Self::State { .. }
            | Self::NoSuchReference { .. }
            | Self::Submodules { .. }
            | Self::Broken { .. }
            | Self::Patch { .. }
            | Self::Hipify { .. } => true,
            Self::Fetch { .. }
            | Self::Git { .. }
            | Self::Start(_)
            | Self::File(_)
            | Self::Stopped(_) => false,
        }
    }

    /// Returns whether the failed checkout left no uncommitted changes.
    pub(super) fn leaves_all_committed(&self) -> bool {
        !self.is_of_disk()
            && matches!(
                self,
                Self::Refused(_)
                    | Self::NoSuchReference { .. }
                    | Self::Fetch { .. }
                    | Self::Patch { .. }
                    | Self::Hipify { .. }
            )
    }

    fn output(&self) -> Option<&str> {
        match self {
            Self::NoSuchReference { output, .. }
            | Self::Fetch { output, .. }
            | Self::Submodules { output }
            | Self::Broken { output, .. }
            | Self::Patch { output, .. }
            | Self::Hipify { output, .. }
            | Self::Git { output, .. } => Some(output),
            _ => None,
        }
    }

    fn is_of_disk(&self) -> bool {
        self.output()
            .is_some_and(|output| FULL.iter().any(|words| output.contains(words)))
    }

    /// Converts the error into diagnostics.
    pub fn diagnostics(self) -> Vec<Diagnostic> {
        let is_of_disk = self.is_of_disk();
        let notes: Vec<String> = self.output().map(last_lines).unwrap_or_default();
        let message = self.to_string();
        let with_help = |code, help: &str| Diagnostic::new(code, message.clone()).help(help);
        let found = match self {
            Self::Refused(diagnostics) => return diagnostics,
            Self::File(error) => return vec![error.into()],
            Self::Busy(_) => with_help(
                &codes::CHECKOUT_IN_USE,
                "wait until it is done, then try again",
            ),
            Self::NoCheckout(_) => with_help(
                &codes::NO_CHECKOUT,
                "create one with `rock-matrix source checkout`",
            ),
            Self::State { .. } => {
                with_help(&codes::BAD_CHECKOUT_FILE, "remove the file, then try again")
            }
            Self::NoSuchReference { origin, .. } => {
                let help =
                    "list the names with `git ls-remote`; a commit must be given as its full hash";
                with_help(&codes::NO_SUCH_REFERENCE, help).at(Location::Url(origin), "")
            }
            Self::Fetch { origin, .. } => {
                let help = "check the address and the network, then run the same command again";
                with_help(&codes::FETCH_FAILED, help).at(Location::Url(origin), "")
            }
            Self::Submodules { .. } => with_help(
                &codes::SUBMODULES_FAILED,
                "fix what git reports, then run the same command again",
            ),
            Self::Broken { path, .. } => {
                let help = format!("move `{path}` away, then run the same command again");
                with_help(&codes::BROKEN_SUBMODULE, &help)
            }
            Self::Patch { patch, .. } => {
                let help = "fix the patch or select another set with `--patchset`, then run the \
                            same command again";
                with_help(&codes::PATCH_FAILED, help).at(Location::File(patch.into()), "")
            }
            Self::Hipify { .. } => {
                let help =
                    "fix what it reports, or pass `--no-hipify`, then run the same command again";
                with_help(&codes::HIPIFY_FAILED, help)
            }
            Self::Git { .. } => with_help(
                &codes::GIT_FAILED,
                "fix what git reports, then run the same command again",
            ),
            Self::Start(ProcessError::ProgramNotFound(name)) => with_help(
                &codes::NO_GIT,
                &format!("install `{name}`, or put it on the PATH"),
            ),
            Self::Start(_) => with_help(&codes::NO_GIT, "check that the program can be run"),
            Self::Stopped(signal) => {
                let name = if signal == StopSignal::Interrupt {
                    "SIGINT"
                } else {
                    "SIGTERM"
                };
                let message = format!("{name} stopped the checkout");
                return vec![
                    Diagnostic::new(&codes::CHECKOUT_STOPPED, message)
                        .help("run the same command again to resume"),
                ];
            }
        };
        let found = notes.into_iter().fold(found, Diagnostic::note);
        vec![if is_of_disk {
            found.help("free some space, then run the same command again")
        } else {
            found
        }]
    }
}

/// Returns the last lines of a program's output, without git's advice for people who run it
/// themselves, which differs between versions (`advice.*` in git-config).
fn last_lines(output: &str) -> Vec<String> {
    let lines: Vec<&str> = output
        .lines()
        .filter(|line| !line.starts_with("hint: "))
        .collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..]
        .iter()
        .map(|&line| line.to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_have_no_hints_of_git() {
        let output = "error: patch failed\nhint: run \"git am --skip\"\n";
        assert_eq!(last_lines(output), ["error: patch failed"]);
    }

    #[test]
    fn a_full_disk_differs_from_other_failures_of_git() {
        let fault = |output: &str| CheckoutError::Git {
            command: "git checkout".to_owned(),
            repository: "third_party/a".to_owned(),
            status: ProcessStatus::Code(128),
            output: output.to_owned(),
        };
        let [other] = fault("fatal: unable to read tree")
            .diagnostics()
            .try_into()
            .unwrap();
        assert_eq!(
            (other.code.id, other.notes.as_slice()),
            ("C017", &["fatal: unable to read tree".to_owned()][..])
        );
        assert_eq!(
            other.message,
            "`git checkout` in `third_party/a` failed with exit status 128"
        );
        let [full] = fault("error: write: No space left on device")
            .diagnostics()
            .try_into()
            .unwrap();
        assert_eq!(
            full.help.as_deref(),
            Some("free some space, then run the same command again")
        );
        // A full disk is not the fault of the patch.
        let output = "fatal: No space left on device".to_owned();
        let patch = CheckoutError::Patch {
            patch: "x".to_owned(),
            repository: String::new(),
            output,
        };
        assert!(!patch.is_of_input() && !patch.leaves_all_committed());
    }
}
