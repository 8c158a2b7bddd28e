//! Applies patch series, with one `git am` per repository.

use std::path::Path;

use rayon::prelude::*;

use super::CheckoutEvent;
use super::apply::CheckoutRun;
use super::error::CheckoutError;
use super::git::GitCall;
use super::limits::LARGEST_SERIES_BYTES;
use super::repository;
use crate::codes::checkout as codes;
use crate::{CheckoutStep, CommandPlace, PatchSet, PatchStage};
use rock_bytes::start_threads;
use rock_diagnostic::{Diagnostic, Location};
use rock_sys as sys;

impl CheckoutRun<'_, '_> {
    /// Applies the patches of a stage.
    pub(super) fn series(
        &self,
        step: &CheckoutStep,
        stage: PatchStage,
        set: &PatchSet,
        name: &str,
    ) -> Result<(), CheckoutError> {
        let mut calls = Vec::new();
        for order in step.orders() {
            let path = match order.place {
                CommandPlace::In(path) => path,
                _ => String::new(),
            };
            if path.is_empty() || self.submodules.contains(&path) {
                let place = if path.is_empty() { name } else { &path };
                let patches: Vec<&str> = set
                    .patches(place, stage)
                    .iter()
                    .map(|patch| patch.path.as_str())
                    .collect();
                let call = GitCall {
                    argv: order.argv,
                    ..GitCall::git(&path, &[])
                };
                calls.push((call.long(), patches));
            } else if self.wanted.submodules && !path.contains('/') && !set.is_about(name) {
                let message = format!(
                    "the patch set `{}` has patches for `{path}`, but none for `{name}`",
                    set.name
                );
                let help = format!(
                    "`--repo-name {path}` applies them to the outer repository, `--no-patch` none"
                );
                let fault = Diagnostic::new(&codes::OTHER_REPOSITORY_NAME, message).help(help);
                return Err(CheckoutError::Refused(vec![
                    fault.at(Location::File(set.directory.as_str().into()), ""),
                ]));
            } else {
                let message =
                    format!("no repository is named `{path}`, so its patches are not applied");
                let directory = format!("{}/{path}/{}", set.directory, stage.directory());
                self.report(CheckoutEvent::Diagnostic(
                    &Diagnostic::new(&codes::IDLE_PATCHES, message)
                        .at(Location::File(directory.into()), "")
                        .help("move the directory to the path of the submodule, or remove it"),
                ));
            }
        }
        start_threads();
        let done: Vec<_> = calls
            .par_iter()
            .map(|(call, patches)| self.apply(call, patches, set))
            .collect();
        done.into_iter().collect()
    }

    fn apply(&self, call: &GitCall, patches: &[&str], set: &PatchSet) -> Result<(), CheckoutError> {
        let output = self.run(call)?;
        if output.is_success() {
            return Ok(());
        }
        let directory = self.git.directory(&call.repository);
        let number = repository::git_directory(&directory).and_then(|git| next_patch(&git));
        // A file may contain several patches; then the number counts patches, not files.
        let patch = number
            .and_then(|number| patches.get(number.checked_sub(1)?))
            .or(patches.first());
        if repository::session(&directory).is_some() {
            // Options before the word `am` set the committer, which `--abort` needs too.
            let before = call.argv.iter().take_while(|word| *word != "am").cloned();
            let argv = before
                .chain(["am".to_owned(), "--abort".to_owned()])
                .collect();
            self.succeed(&GitCall {
                argv,
                ..GitCall::git(&call.repository, &[])
            })?;
        }
        Err(CheckoutError::Patch {
            patch: patch
                .map(|patch| format!("{}/{patch}", set.directory))
                .unwrap_or_default(),
            repository: call.repository.clone(),
            output: output.stderr,
        })
    }
}

/// Returns the number of the patch that `git am` stopped at, from 1.
fn next_patch(git_directory: &Path) -> Option<usize> {
    let text = sys::read_text(
        &git_directory.join("rebase-apply/next"),
        LARGEST_SERIES_BYTES,
    )
    .ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{LARGEST_SERIES_BYTES, next_patch, sys};

    #[test]
    fn the_number_of_a_patch_is_read_up_to_the_limit() {
        let directory = tempfile::tempdir().unwrap();
        let read = |bytes: u64| {
            let text = format!("{:<1$}", 12, usize::try_from(bytes).unwrap());
            sys::write_atomic(&directory.path().join("rebase-apply/next"), text.as_bytes())
                .unwrap();
            next_patch(directory.path())
        };
        assert_eq!(
            (read(LARGEST_SERIES_BYTES), read(LARGEST_SERIES_BYTES + 1)),
            (Some(12), None)
        );
    }
}
