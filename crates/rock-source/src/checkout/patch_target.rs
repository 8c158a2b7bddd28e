//! The destination of saved patches.

use std::path::{Path, PathBuf};

use crate::{CheckoutState, patch_sets};
use rock_diagnostic::Diagnostic;
use rock_sys as sys;

/// Options that select the destination of saved patches; by default the patch set that was applied.
#[derive(Debug, Clone, Default)]
pub struct PatchTargetOptions {
    /// The directory of patch sets; `None` for `patches/NAME` with the name of the outer
    /// repository's directory.
    pub patch_dir: Option<PathBuf>,
    /// The name of the patch set; `None` for the applied set, or else the ref.
    pub patch_set: Option<String>,
    /// The name of the outer repository's directory in the set; `None` for that of the checkout.
    pub repository_name: Option<String>,
}

/// The destination of saved patches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PatchTarget {
    /// The directory of the patch set.
    pub(super) directory: PathBuf,
    /// The name of the outer repository's directory in the set.
    pub(super) name: String,
}

impl PatchTargetOptions {
    /// Returns the destination of the patches of a checkout. Relative paths are below
    /// `current_dir`.
    ///
    /// # Errors
    /// When the name of the set leads out of the directory of patch sets.
    pub(super) fn resolve(
        &self,
        state: &CheckoutState,
        current_dir: &Path,
    ) -> Result<PatchTarget, Diagnostic> {
        let name = self
            .repository_name
            .clone()
            .unwrap_or_else(|| state.name.clone());
        let applied = state.patches.as_ref();
        if let Some(applied) =
            applied.filter(|_| self.patch_dir.is_none() && self.patch_set.is_none())
        {
            return Ok(PatchTarget {
                directory: applied.directory.clone().into(),
                name,
            });
        }
        let set = self
            .patch_set
            .as_ref()
            .or(applied.map(|applied| &applied.set))
            .unwrap_or(&state.reference);
        patch_sets::check(set)?;
        let root = self
            .patch_dir
            .clone()
            .unwrap_or_else(|| patch_sets::default_root(&name));
        Ok(PatchTarget {
            directory: sys::real_path(&current_dir.join(root).join(set)),
            name,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use super::PatchTargetOptions;
    use crate::{CheckoutOptions, CheckoutState, PatchesRecord, RepositoryCheckout};

    #[test]
    fn patches_are_saved_to_the_applied_set_or_one_named_after_the_ref() {
        let directory = tempfile::tempdir().unwrap();
        let root = rock_sys::real_path(directory.path());
        let repository = RepositoryCheckout {
            url: "https://example.com/audio".to_owned(),
            reference: "v1".to_owned(),
            directory: "audio".into(),
            patch_set: None,
        };
        let spec = CheckoutOptions::new(&root)
            .resolve_repository(repository, &mut |_| ())
            .unwrap();
        let mut state = CheckoutState::begun(&spec, None);
        let resolve = |options: &PatchTargetOptions, state: &CheckoutState| {
            options
                .resolve(state, &root)
                .map(|target| target.directory)
                .map_err(|error| error.code.name)
        };
        let default = PatchTargetOptions::default();
        assert_eq!(resolve(&default, &state), Ok(root.join("patches/audio/v1")));
        state.patches = Some(PatchesRecord {
            set: "main".to_owned(),
            directory: "/sets/main".to_owned(),
            files: BTreeMap::new(),
        });
        assert_eq!(resolve(&default, &state), Ok(PathBuf::from("/sets/main")));
        let mut options = PatchTargetOptions {
            patch_dir: Some("mine".into()),
            ..PatchTargetOptions::default()
        };
        assert_eq!(resolve(&options, &state), Ok(root.join("mine/main")));
        options.patch_set = Some("../main".to_owned());
        assert_eq!(resolve(&options, &state), Err("bad-patch-set-name"));
    }
}
