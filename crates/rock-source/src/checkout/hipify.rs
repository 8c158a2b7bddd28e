//! Hipifies the repositories of a checkout, and commits the changes or records them.

use rayon::prelude::*;

use super::apply::CheckoutRun;
use super::error::CheckoutError;
use super::git::GitCall;
use super::{HIPIFIED_INDEX, repository};
use crate::{CheckoutCommand, CheckoutStep, HIPIFY_SCRIPT, HipifyMode, UPSTREAM_TAG};
use rock_bytes::start_threads;
use rock_sys as sys;

impl CheckoutRun<'_, '_> {
    pub(super) fn hipify(&mut self, step: &CheckoutStep) -> Result<(), CheckoutError> {
        if !sys::is_file(&self.git.directory("").join(HIPIFY_SCRIPT)) {
            return Ok(());
        }
        for order in step.orders() {
            for call in self.calls(&order) {
                // Python's bytecode cache would appear as new files.
                let output = self.run(&call.with("PYTHONDONTWRITEBYTECODE", "1"))?;
                if !output.is_success() {
                    let repositories = self.repositories();
                    self.run_all(&CheckoutStep::Discard { repositories })?;
                    let text = format!(
                        "{}\n{}",
                        String::from_utf8_lossy(&output.stdout).trim_end(),
                        output.stderr
                    );
                    return Err(CheckoutError::Hipify {
                        status: output.status,
                        output: text.trim().to_owned(),
                    });
                }
            }
        }
        self.is_hipified = true;
        if self.wanted.hipify == HipifyMode::Leave {
            start_threads();
            let changed: Result<Vec<_>, CheckoutError> = self
                .repositories()
                .into_par_iter()
                .map(|path| Ok((self.leave_changed(&path)?, path)))
                .collect();
            self.left_changed = changed?
                .into_iter()
                .filter(|(is_changed, _)| *is_changed)
                .map(|(_, path)| path)
                .collect();
        }
        Ok(())
    }

    fn is_changed(&self, repository: &str) -> Result<bool, CheckoutError> {
        let words = [
            "status",
            "--porcelain",
            "-z",
            "--untracked-files=normal",
            "--ignore-submodules=all",
        ];
        Ok(!self
            .git
            .succeed(&GitCall::git(repository, &words))?
            .stdout
            .is_empty())
    }

    /// Records the changes of hipify in a separate index, to distinguish them from changes of the
    /// user. Returns whether there are any.
    fn leave_changed(&self, repository: &str) -> Result<bool, CheckoutError> {
        let Some(git_directory) = repository::git_directory(&self.git.directory(repository)) else {
            return Ok(false);
        };
        let is_changed = self.is_changed(repository)?;
        if is_changed {
            let index = git_directory.join(HIPIFIED_INDEX);
            sys::copy_atomic(&git_directory.join("index"), &index)?;
            let add = GitCall::git(repository, &["add", "--all"])
                .with("GIT_INDEX_FILE", index.display().to_string());
            self.succeed(&add)?;
        }
        Ok(is_changed)
    }

    pub(super) fn commit_hipify(&mut self, identity: &[String]) -> Result<(), CheckoutError> {
        start_threads();
        let made: Result<Vec<_>, CheckoutError> = self
            .repositories()
            .into_par_iter()
            .map(|path| {
                Ok(self
                    .commit_hipified(&path, identity)?
                    .map(|commit| (path, commit)))
            })
            .collect();
        self.hipified = made?.into_iter().flatten().collect();
        Ok(())
    }

    /// Commits the changes of hipify in a repository, with the date of the upstream commit; returns
    /// `None` if there are none.
    fn commit_hipified(
        &self,
        repository: &str,
        identity: &[String],
    ) -> Result<Option<String>, CheckoutError> {
        if !self.is_changed(repository)? {
            return Ok(None);
        }
        let orders = CheckoutStep::CommitHipify {
            identity: identity.to_vec(),
        }
        .orders();
        let call = |order: &CheckoutCommand| GitCall {
            argv: order.argv.clone(),
            is_long: true,
            ..GitCall::git(repository, &[])
        };
        let [add, commit, tag] = orders.as_slice() else {
            return Ok(None);
        };
        self.succeed(&call(add))?;
        // Files can differ on disk and be equal for git, for example in their line endings.
        let staged = GitCall::git(
            repository,
            &["diff", "--cached", "--quiet", "--ignore-submodules=all"],
        );
        if self.git.run(&staged, &mut |_| ())?.is_success() {
            return Ok(None);
        }
        let words = [
            "show",
            "--no-patch",
            "--format=%cd",
            "--date=raw",
            &format!("refs/tags/{UPSTREAM_TAG}"),
        ];
        let date = format!(
            "@{}",
            self.git.succeed(&GitCall::git(repository, &words))?.line()
        );
        let commit = call(commit)
            .with("GIT_AUTHOR_DATE", date.clone())
            .with("GIT_COMMITTER_DATE", date);
        self.succeed(&commit)?;
        self.succeed(&call(tag))?;
        repository::head(self.git, repository).map(Some)
    }
}
