//! Saves the commits on top of upstream as patch files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::error::CheckoutError;
use super::git::{GitCall, GitRunner};
use super::limits::LARGEST_PATCH_BYTES;
use super::patch_target::PatchTargetOptions;
use super::{LOCK, repository, worktree_status};
use crate::codes::checkout as codes;
use crate::{
    CheckoutOutcome, CheckoutState, CommitRange, HIPIFY_TAG, PatchSet, PatchStage,
    RepositoryRecord, UPSTREAM_TAG, named, shown,
};
use rock_bytes::start_threads;
use rock_diagnostic::{Diagnostic, Location, Severity, counted};
use rock_sys::{self as sys, DirectorySwap, Environment, Signals};

/// The directory where patches are created before they are compared, relative to the checkout.
const MADE: &str = ".rock/patches";
/// Options that make `git format-patch` produce the same bytes for the same commits, with any
/// configuration and version of git.
const STABLE: [&str; 24] = [
    "--no-signature",
    "--zero-commit",
    "--no-numbered",
    "--start-number=1",
    "--no-attach",
    "--no-thread",
    "--no-cover-letter",
    "--no-base",
    "--no-notes",
    "--no-to",
    "--no-cc",
    "--no-add-header",
    "--no-from",
    "--no-signoff",
    "--suffix=.patch",
    "--filename-max-length=64",
    "--full-index",
    "--binary",
    "--find-renames=50%",
    "--unified=3",
    "--inter-hunk-context=0",
    "--diff-algorithm=myers",
    "--no-ext-diff",
    "--no-textconv",
];
/// Further options of this kind, for the text around a change.
const STABLE_TEXT: [&str; 6] = [
    "--no-color",
    "--submodule=short",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--subject-prefix=PATCH",
    "--stat=72",
];

/// The change of a patch file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchFileChange {
    /// The file is new.
    Added,
    /// The contents differ.
    Changed,
    /// No commit produces the file any more.
    Removed,
}

/// The patches that were or would be saved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SavedPatches {
    /// The directory of the patch set.
    pub directory: PathBuf,
    /// The number of patches that the commits produce.
    pub patches: usize,
    /// The differences from the existing set, by path below its directory.
    pub changes: BTreeMap<String, PatchFileChange>,
    /// The warnings.
    pub warnings: Vec<Diagnostic>,
}

/// A patch set that is not written yet.
#[derive(Debug)]
pub struct PendingPatches {
    /// The changes that writing makes.
    pub saved: SavedPatches,
    files: BTreeMap<String, Vec<u8>>,
    kept: Vec<String>,
    _lock: sys::FileLock,
}

/// The patches of one repository.
#[derive(Debug, Default)]
struct RepositoryPatches {
    files: BTreeMap<String, Vec<u8>>,
    warnings: Vec<Diagnostic>,
}

impl SavedPatches {
    /// Checks that the patch set has no differences from the commits.
    ///
    /// # Errors
    /// When there are [changes](Self::changes).
    pub fn check_unchanged(&self) -> Result<(), Diagnostic> {
        let count = self.changes.len();
        if count == 0 {
            return Ok(());
        }
        let differ = if count == 1 { "differs" } else { "differ" };
        let directory = self.directory.display().to_string();
        let message = format!(
            "{} in `{directory}` {differ} from the commits",
            counted(count, "file")
        );
        Err(Diagnostic::new(&codes::PATCHES_DIFFER, message)
            .at(Location::File(directory.into()), "")
            .help("run the same command without `--check`"))
    }
}

/// Creates the patches of a checkout and compares them with the target, which is not changed.
///
/// # Errors
/// When the directory is not a completed checkout, another run uses it, a tag is missing, or there
/// are commits without a patch, such as merges.
pub fn create_patches(
    directory: &Path,
    target: &PatchTargetOptions,
    environment: &Environment,
    signals: &Signals,
) -> Result<PendingPatches, CheckoutError> {
    let git = GitRunner::new(directory, environment, signals);
    let state = worktree_status::state(&git)?
        .ok_or_else(|| CheckoutError::NoCheckout(directory.to_owned()))?;
    let target = target
        .resolve(&state, &environment.current_dir)
        .map_err(|error| CheckoutError::Refused(vec![error]))?;
    let lock = sys::try_lock(&directory.join(LOCK))?
        .ok_or_else(|| CheckoutError::Busy(directory.to_owned()))?;
    if state.outcome != CheckoutOutcome::Done {
        let message = format!("the checkout in `{}` did not complete", directory.display());
        let help = "run `rock-matrix source checkout` again first: patches may not be applied yet";
        return Err(CheckoutError::Refused(vec![
            Diagnostic::new(&codes::UNDER_WAY, message).help(help),
        ]));
    }
    let mut repositories = vec![String::new()];
    if state.submodules {
        repositories.extend(repository::submodules(&git)?);
    }
    let scratch = directory.join(MADE);
    sys::remove(&scratch)?;
    start_threads();
    let made: Vec<_> = repositories
        .par_iter()
        .enumerate()
        .map(|(number, path)| {
            let place = if path.is_empty() { &target.name } else { path };
            of_repository(&git, &state, path, place, &scratch.join(number.to_string()))
        })
        .collect();
    sys::remove(&scratch)?;
    let mut all = RepositoryPatches::default();
    for made in made {
        let made = made?;
        all.files.extend(made.files);
        all.warnings.extend(made.warnings);
    }
    let places: BTreeSet<&str> = repositories
        .iter()
        .map(|path| {
            if path.is_empty() {
                target.name.as_str()
            } else {
                path
            }
        })
        .collect();
    compare(all, &places, target.directory, lock)
}

/// Compares the new files with the existing ones in the target.
fn compare(
    made: RepositoryPatches,
    places: &BTreeSet<&str>,
    target: PathBuf,
    lock: sys::FileLock,
) -> Result<PendingPatches, CheckoutError> {
    let RepositoryPatches {
        files,
        mut warnings,
    } = made;
    let there = sys::list_files(&target)?.unwrap_or_default();
    let (mut changes, mut kept, mut idle) = (BTreeMap::new(), Vec::new(), BTreeSet::new());
    for (path, _) in there {
        let place = PatchSet::repository_of(&path);
        let is_ours = place.is_some_and(|place| places.contains(place));
        match files.get(&path) {
            Some(bytes) if sys::read_bytes(&target.join(&path), LARGEST_PATCH_BYTES)? == *bytes => {
                kept.push(path);
            }
            Some(_) => drop(changes.insert(path, PatchFileChange::Changed)),
            None if is_ours => drop(changes.insert(path, PatchFileChange::Removed)),
            None => {
                idle.extend(place.map(str::to_owned));
                kept.push(path);
            }
        }
    }
    for path in files
        .keys()
        .filter(|path| !kept.contains(path) && !changes.contains_key(*path))
        .cloned()
        .collect::<Vec<_>>()
    {
        changes.insert(path, PatchFileChange::Added);
    }
    for place in idle {
        let message = format!("no repository is named `{place}`, so its patches are not changed");
        warnings.push(
            Diagnostic::new(&codes::IDLE_PATCHES, message)
                .at(
                    Location::File(target.join(&place).display().to_string().into()),
                    "",
                )
                .help("move the directory to the path of the submodule, or remove it"),
        );
    }
    let saved = SavedPatches {
        directory: target,
        patches: files.len(),
        changes,
        warnings,
    };
    Ok(PendingPatches {
        saved,
        files,
        kept,
        _lock: lock,
    })
}

impl PendingPatches {
    /// Replaces the target directory atomically, if there are changes.
    ///
    /// # Errors
    /// When the set cannot be written; the old set is then unchanged.
    pub fn write(self) -> Result<SavedPatches, CheckoutError> {
        if !self.saved.changes.is_empty() {
            let staging = DirectorySwap::begin(&self.saved.directory, || ())?.stage()?;
            for path in &self.kept {
                staging.keep(path)?;
            }
            for (path, bytes) in self
                .files
                .iter()
                .filter(|(path, _)| !self.kept.contains(path))
            {
                staging.write(path, bytes)?;
            }
            staging.commit()?;
        }
        Ok(self.saved)
    }
}

fn of_repository(
    git: &GitRunner<'_>,
    state: &CheckoutState,
    path: &str,
    place: &str,
    scratch: &Path,
) -> Result<RepositoryPatches, CheckoutError> {
    let mut made = RepositoryPatches::default();
    let record = state
        .repositories
        .iter()
        .find(|record| record.path == path)
        .cloned();
    let record = record.unwrap_or_else(|| RepositoryRecord {
        path: path.to_owned(),
        ..RepositoryRecord::default()
    });
    if let Some(found) =
        worktree_status::status(git, &record)?.filter(|found| !found.changes.is_empty())
    {
        let count = counted(found.changes.len(), "file");
        let message = format!(
            "{count} in {} not saved in a patch: not committed",
            named(path)
        );
        made.warnings.push(
            Diagnostic::new(&codes::UNCOMMITTED_CHANGES, message)
                .severity(Severity::Warning)
                .note(format!("affected: {}", shown(found.changes.into_iter())))
                .help("commit them, then save again"),
        );
    }
    let head = repository::head(git, path)?;
    let [upstream, hipify] = tags(git, path)?;
    let refused = |diagnostic: Diagnostic| CheckoutError::Refused(vec![diagnostic]);
    let Some(upstream) = upstream else {
        let message = format!("{} has no tag `{UPSTREAM_TAG}`", named(path));
        return Err(refused(Diagnostic::new(&codes::NO_UPSTREAM_TAG, message).help(
            "run `rock-matrix source checkout` again, with `--discard-commits` only once the commits are kept elsewhere",
        )));
    };
    let output = git.succeed(&GitCall::git(
        path,
        &["rev-list", "--parents", &head, "--not", &upstream],
    ))?;
    let line = CommitRange::new(&String::from_utf8_lossy(&output.stdout), &upstream, &head)
        .map_err(|fault| match fault {
            crate::NoLine::Merge(commit) => {
                let message = format!(
                    "commit {} of {} is a merge commit",
                    &commit[..commit.len().min(12)],
                    named(path)
                );
                refused(
                    Diagnostic::new(&codes::MERGE_ABOVE_UPSTREAM, message)
                        .help("make the history linear with `git rebase`, then save again"),
                )
            }
            crate::NoLine::Apart => {
                let message = format!(
                    "the tag `{UPSTREAM_TAG}` of {} is not an ancestor of its head",
                    named(path)
                );
                refused(
                    Diagnostic::new(&codes::NO_UPSTREAM_TAG, message)
                        .help("check out commits above the checked-out ones, then save again"),
                )
            }
        })?;
    let (base, hipified) = line.split(hipify.as_deref());
    if hipify.is_some() && hipified.is_none() {
        let message = format!(
            "the tag `{HIPIFY_TAG}` of {} is not an ancestor of its head, so it is ignored",
            named(path)
        );
        let help =
            format!("if nothing is hipified, remove it with `git tag --delete {HIPIFY_TAG}`");
        made.warnings
            .push(Diagnostic::new(&codes::STALE_HIPIFY_TAG, message).help(help));
    }
    for (stage, range) in [
        (PatchStage::Base, base),
        (PatchStage::Hipified, hipified.flatten()),
    ] {
        let Some((above, last)) = range else { continue };
        let directory = scratch.join(stage.directory());
        sys::create_directory(&directory)?;
        let (output, above) = (
            format!("--output-directory={}", directory.display()),
            format!("^{above}"),
        );
        let words = [
            &["format-patch", "--quiet"][..],
            &STABLE,
            &STABLE_TEXT,
            &[&output, &last, &above],
        ]
        .concat();
        git.succeed(&GitCall::git(path, &words))?;
        for name in sys::entry_names(&directory)? {
            let bytes = sys::read_bytes(&directory.join(&name), LARGEST_PATCH_BYTES)?;
            made.files
                .insert(format!("{place}/{}/{name}", stage.directory()), bytes);
        }
    }
    Ok(made)
}

/// Returns the commits of both tags, if they exist.
fn tags(git: &GitRunner<'_>, path: &str) -> Result<[Option<String>; 2], CheckoutError> {
    let names = [UPSTREAM_TAG, HIPIFY_TAG].map(|tag| format!("refs/tags/{tag}"));
    let words = [
        "for-each-ref",
        "--format=%(objectname) %(refname)",
        &names[0],
        &names[1],
    ];
    let output = git.succeed(&GitCall::git(path, &words))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(names.map(|name| {
        let found = text.lines().find_map(|line| line.strip_suffix(&name));
        found.map(|commit| commit.trim().to_owned())
    }))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::{LARGEST_PATCH_BYTES, RepositoryPatches, compare};
    use rock_sys as sys;

    #[test]
    fn a_patch_at_the_limit_is_compared_and_a_larger_one_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let patches = directory.path().join("torch/base");
        sys::create_directory(&patches).unwrap();
        let compared = |bytes: u64| {
            let patch = tempfile::Builder::new()
                .prefix("0001-a.patch")
                .rand_bytes(0)
                .tempfile_in(&patches)
                .unwrap();
            patch.as_file().set_len(bytes).unwrap();
            let files = BTreeMap::from([("torch/base/0001-a.patch".to_owned(), b"other".to_vec())]);
            let lock = sys::try_lock(&directory.path().join("lock"))
                .unwrap()
                .unwrap();
            let made = RepositoryPatches {
                files,
                warnings: Vec::new(),
            };
            compare(
                made,
                &BTreeSet::from(["torch"]),
                directory.path().to_owned(),
                lock,
            )
            .map(|unsaved| unsaved.saved.changes.len())
        };
        assert_eq!(compared(LARGEST_PATCH_BYTES).unwrap(), 1);
        let error = compared(LARGEST_PATCH_BYTES + 1).unwrap_err();
        assert!(
            format!("{error:?}").contains("larger than 268435456 bytes"),
            "{error:?}"
        );
    }
}
