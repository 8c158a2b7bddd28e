//! Hipifies the repositories of a checkout, and commits the changes or remembers them.

use rayon::prelude::*;

use super::apply::Run;
use super::fault::CheckoutFault;
use super::git::Call;
use super::{HIPIFIED_INDEX, repository};
use crate::{HIPIFY_SCRIPT, Hipify, Order, Step, UPSTREAM_TAG};
use rock_bytes::start_threads;
use rock_sys as sys;

impl Run<'_, '_> {
    pub(super) fn hipify(&mut self, step: &Step) -> Result<(), CheckoutFault> {
        if !sys::is_file(&self.git.folder("").join(HIPIFY_SCRIPT)) {
            return Ok(());
        }
        for order in step.orders() {
            for call in self.calls(&order) {
                // What Python keeps of its modules would be new files.
                let said = self.run(&call.with("PYTHONDONTWRITEBYTECODE", "1"))?;
                if !said.is_good() {
                    let repositories = self.repositories();
                    self.run_all(&Step::Discard { repositories })?;
                    let text = format!(
                        "{}\n{}",
                        String::from_utf8_lossy(&said.output).trim_end(),
                        said.talk
                    );
                    return Err(CheckoutFault::Hipify {
                        status: said.status,
                        said: text.trim().to_owned(),
                    });
                }
            }
        }
        self.is_hipified = true;
        if self.wanted.hipify == Hipify::Leave {
            start_threads();
            let changed: Result<Vec<_>, CheckoutFault> = self
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

    fn is_changed(&self, repository: &str) -> Result<bool, CheckoutFault> {
        let words = [
            "status",
            "--porcelain",
            "-z",
            "--untracked-files=normal",
            "--ignore-submodules=all",
        ];
        Ok(!self
            .git
            .succeed(&Call::git(repository, &words))?
            .output
            .is_empty())
    }

    /// Remembers what hipify changed in an index of its own, so that changes by a person are told
    /// from it.
    fn leave_changed(&self, repository: &str) -> Result<bool, CheckoutFault> {
        let Some(git_folder) = repository::git_folder(&self.git.folder(repository)) else {
            return Ok(false);
        };
        let is_changed = self.is_changed(repository)?;
        if is_changed {
            let index = git_folder.join(HIPIFIED_INDEX);
            sys::copy_atomic(&git_folder.join("index"), &index)?;
            let add = Call::git(repository, &["add", "--all"])
                .with("GIT_INDEX_FILE", index.display().to_string());
            self.succeed(&add)?;
        }
        Ok(is_changed)
    }

    pub(super) fn commit_hipify(&mut self, identity: &[String]) -> Result<(), CheckoutFault> {
        start_threads();
        let made: Result<Vec<_>, CheckoutFault> = self
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

    /// Commits what hipify changed in a repository, at the time of upstream's commit; `None` where
    /// it changed nothing.
    fn commit_hipified(
        &self,
        repository: &str,
        identity: &[String],
    ) -> Result<Option<String>, CheckoutFault> {
        if !self.is_changed(repository)? {
            return Ok(None);
        }
        let orders = Step::CommitHipify {
            identity: identity.to_vec(),
        }
        .orders();
        let call = |order: &Order| Call {
            argv: order.argv.clone(),
            is_long: true,
            ..Call::git(repository, &[])
        };
        let [add, commit, tag] = orders.as_slice() else {
            return Ok(None);
        };
        self.succeed(&call(add))?;
        // Files can be another on the disk and the same to git, such as by the ends of their lines.
        let staged = Call::git(
            repository,
            &["diff", "--cached", "--quiet", "--ignore-submodules=all"],
        );
        if self.git.run(&staged, &mut |_| ())?.is_good() {
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
            self.git.succeed(&Call::git(repository, &words))?.line()
        );
        let commit = call(commit)
            .with("GIT_AUTHOR_DATE", date.clone())
            .with("GIT_COMMITTER_DATE", date);
        self.succeed(&commit)?;
        self.succeed(&call(tag))?;
        repository::head(self.git, repository).map(Some)
    }
}
