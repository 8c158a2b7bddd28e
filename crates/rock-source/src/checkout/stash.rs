//! Saves the uncommitted changes of an interrupted checkout in commits under a separate ref.

use super::apply::CheckoutRun;
use super::error::CheckoutError;
use super::git::GitCall;
use super::{CheckoutEvent, repository};
use crate::codes::checkout as codes;
use crate::named;
use rock_diagnostic::Diagnostic;
use rock_sys as sys;

/// The index in which the changes are staged, in the git directory of a repository.
const SAVED_INDEX: &str = "rock-saved.index";
/// The namespace of the refs with saved changes.
const SAVED: &str = "refs/rock-matrix/saved";

impl CheckoutRun<'_, '_> {
    /// Saves uncommitted changes in a commit under a ref, and reports a warning.
    pub(super) fn save(&self, repositories: &[String]) -> Result<(), CheckoutError> {
        for path in repositories {
            let Some(git_directory) = repository::git_directory(&self.git.directory(path)) else {
                continue;
            };
            let index = git_directory.join(SAVED_INDEX);
            if sys::is_file(&git_directory.join("index")) {
                sys::copy_atomic(&git_directory.join("index"), &index)?;
            }
            let staged = |words: &[&str]| {
                let call =
                    GitCall::git(path, words).with("GIT_INDEX_FILE", index.display().to_string());
                self.succeed(&call).map(|output| output.line())
            };
            staged(&["add", "--all"])?;
            let tree = staged(&["write-tree"])?;
            let head = self
                .facts
                .repositories
                .iter()
                .find(|found| found.path == *path);
            let head = head.and_then(|found| found.status.head.clone());
            let mut words = vec![
                "-c",
                "user.name=rock-matrix",
                "-c",
                "user.email=rock-matrix@localhost",
                "commit-tree",
            ];
            if let Some(head) = &head {
                words.extend(["-p", head]);
            }
            words.extend(["-m", "Left by a checkout that was ended", &tree]);
            let commit = self.succeed(&GitCall::git(path, &words))?.line();
            let reference = format!("{SAVED}/{}", &commit[..commit.len().min(12)]);
            self.succeed(&GitCall::git(path, &["update-ref", &reference, &commit]))?;
            sys::remove(&index)?;
            let message = format!(
                "uncommitted files of an interrupted checkout in {} are kept as `{reference}`",
                named(path)
            );
            let help = format!(
                "run `git show --stat {reference}` to check whether some of them are yours"
            );
            self.report(CheckoutEvent::Diagnostic(
                &Diagnostic::new(&codes::CHANGES_KEPT, message).help(help),
            ));
        }
        Ok(())
    }
}
