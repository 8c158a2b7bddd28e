//! Decides which steps turn the current worktree into the desired one.

use super::checkout_spec::{CheckoutSpec, HipifyMode};
use super::git_output::{GitStatus, is_commit_hash};
use super::state::{CheckoutOutcome, CheckoutState};
use super::step::{CheckoutStep, GitOperation};
use crate::codes::checkout as codes;
use rock_diagnostic::{Diagnostic, Location, counted, list_first};

/// The maximum number of list items in a message.
const SHOWN: usize = 10;

/// The current state of a checkout directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckoutFacts {
    /// The state file of the last checkout.
    pub state: Option<CheckoutState>,
    /// The kind of the directory.
    pub directory: DirectoryKind,
    /// The outer repository and every existing submodule.
    pub repositories: Vec<FoundRepository>,
    /// The commit that the ref resolves to, if it was queried.
    pub remote: Option<String>,
    /// Whether a committer is configured in git.
    pub has_identity: bool,
}

/// The contents of a directory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DirectoryKind {
    /// Empty or missing.
    #[default]
    Empty,
    /// A repository.
    Repository,
    /// The start of an interrupted checkout, before it created a repository.
    Begun,
    /// Other files.
    Other,
}

/// The current state of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundRepository {
    /// The path below the directory of the checkout; empty for the outer repository.
    pub path: String,
    /// The output of `git status`.
    pub status: GitStatus,
    /// Paths that differ both from the commit and from the result of the last checkout.
    pub changes: Vec<String>,
    /// Commits that neither a checkout made nor upstream has, newest first.
    pub above: Vec<LocalCommit>,
    /// The operation in progress, if there is one.
    pub session: Option<GitOperation>,
    /// Whether the last checkout left uncommitted changes of hipify.
    pub is_left_changed: bool,
}

/// A commit of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalCommit {
    /// The abbreviated hash.
    pub hash: String,
    /// The subject line.
    pub subject: String,
}

/// Returns whether there is nothing to do: the last checkout succeeded with equivalent options, at
/// the commit that the ref resolves to now, every repository is at its recorded commit, and nothing
/// has changed.
pub fn is_up_to_date(
    wanted: &CheckoutSpec,
    state: &CheckoutState,
    repositories: &[FoundRepository],
    remote: Option<&str>,
) -> bool {
    let is_as_recorded = || {
        state.repositories.len() == repositories.len()
            && state
                .repositories
                .iter()
                .zip(repositories)
                .all(|(record, found)| {
                    record.path == found.path
                        && found.status.head.as_deref() == Some(record.head.as_str())
                        && found.status.branch.is_none()
                        && found.changes.is_empty()
                        && found.session.is_none()
                })
    };
    state.outcome == CheckoutOutcome::Done
        && remote.is_some()
        && remote == state.commit.as_deref()
        && CheckoutState::begun(wanted, None).makes_the_same_as(state)
        && is_as_recorded()
}

/// Returns the desired commit if it is known without a query because the ref is a commit hash.
pub fn known_commit(wanted: &CheckoutSpec) -> Option<&str> {
    is_commit_hash(&wanted.reference).then_some(wanted.reference.as_str())
}

/// Returns the steps that produce the desired state.
///
/// # Errors
/// When user changes would be lost without permission, the directory contains other files, or the
/// options are invalid.
pub fn steps(
    wanted: &CheckoutSpec,
    facts: &CheckoutFacts,
) -> Result<Vec<CheckoutStep>, Vec<Diagnostic>> {
    let faults = refusals(wanted, facts);
    if !faults.is_empty() {
        return Err(faults);
    }
    let was_ended = facts
        .state
        .as_ref()
        .is_some_and(|state| state.outcome == CheckoutOutcome::Begun);
    let of = |wish: &dyn Fn(&FoundRepository) -> bool| -> Vec<String> {
        facts
            .repositories
            .iter()
            .filter(|found| wish(found))
            .map(|found| found.path.clone())
            .collect()
    };
    let mut steps = Vec::new();
    match facts.directory {
        DirectoryKind::Repository => steps.push(CheckoutStep::Repoint {
            origin: wanted.origin.clone(),
        }),
        _ => steps.push(CheckoutStep::Initialise {
            origin: wanted.origin.clone(),
        }),
    }
    // The tree does not change before the fetch has succeeded.
    let had = had_commit(facts);
    if had.is_none() {
        steps.push(CheckoutStep::Fetch {
            reference: wanted.reference.clone(),
            depth: wanted.depth,
            jobs: wanted.jobs,
            submodules: wanted.submodules,
        });
    }
    let sessions = facts
        .repositories
        .iter()
        .filter_map(|found| Some((found.path.clone(), found.session?)));
    let sessions: Vec<_> = sessions.collect();
    if !sessions.is_empty() {
        steps.push(CheckoutStep::EndSession {
            repositories: sessions,
            identity: identity(facts),
        });
    }
    let saved = of(&|found| was_ended && !found.changes.is_empty());
    if !saved.is_empty() {
        steps.push(CheckoutStep::Save {
            repositories: saved,
        });
    }
    let discarded = of(&|found| {
        found.status.head.is_some() && (!found.changes.is_empty() || found.is_left_changed)
    });
    if !discarded.is_empty() {
        steps.push(CheckoutStep::Discard {
            repositories: discarded,
        });
    }
    if facts.directory == DirectoryKind::Repository {
        steps.push(CheckoutStep::DropTags);
    }
    steps.extend(to_upstream(wanted, facts, had));
    steps.extend(above_upstream(wanted, facts));
    Ok(steps)
}

/// Returns the desired commit if the last checkout also had it: it and its submodules need no
/// fetch.
fn had_commit(facts: &CheckoutFacts) -> Option<String> {
    let had = facts
        .state
        .as_ref()
        .filter(|state| state.outcome != CheckoutOutcome::Begun)?
        .commit
        .clone();
    had.filter(|had| facts.remote.as_ref() == Some(had))
}

fn to_upstream(
    wanted: &CheckoutSpec,
    facts: &CheckoutFacts,
    had: Option<String>,
) -> Vec<CheckoutStep> {
    let mut steps = Vec::new();
    let commit = had.unwrap_or_else(|| "FETCH_HEAD".to_owned());
    // Without a first commit, the files are from an interrupted checkout, and were saved.
    let is_half_made = facts.state.is_some()
        && facts
            .repositories
            .iter()
            .any(|found| found.path.is_empty() && found.status.head.is_none());
    steps.push(CheckoutStep::CheckOut {
        commit,
        force: is_half_made,
    });
    steps.push(CheckoutStep::Tag);
    if wanted.submodules {
        steps.push(CheckoutStep::Submodules {
            depth: wanted.depth,
            jobs: wanted.jobs,
        });
        steps.push(CheckoutStep::TagSubmodules);
        steps.push(CheckoutStep::Quiet);
    }
    steps
}

fn above_upstream(wanted: &CheckoutSpec, facts: &CheckoutFacts) -> Vec<CheckoutStep> {
    let identity = identity(facts);
    let series = |stage| {
        let set = wanted.patches.clone()?;
        let is_part = set.series.iter().any(|series| series.stage == stage);
        is_part.then(|| CheckoutStep::Series {
            stage,
            set,
            name: wanted.name.clone(),
            identity: identity.clone(),
        })
    };
    let mut steps: Vec<CheckoutStep> = series(super::PatchStage::Base).into_iter().collect();
    if wanted.hipify != HipifyMode::Skip {
        steps.push(CheckoutStep::Hipify {
            python: wanted.python.clone(),
        });
        if wanted.hipify == HipifyMode::Commit {
            steps.push(CheckoutStep::CommitHipify {
                identity: identity.clone(),
            });
        }
        steps.extend(series(super::PatchStage::Hipified));
    }
    steps
}

/// Returns git options that set a committer, if none is configured.
fn identity(facts: &CheckoutFacts) -> Vec<String> {
    if facts.has_identity {
        return Vec::new();
    }
    [
        "-c",
        "user.name=rock-matrix",
        "-c",
        "user.email=rock-matrix@localhost",
    ]
    .map(str::to_owned)
    .into()
}

fn refusals(wanted: &CheckoutSpec, facts: &CheckoutFacts) -> Vec<Diagnostic> {
    let place = || Location::File(wanted.directory.display().to_string().into());
    let mut faults = Vec::new();
    if facts.directory == DirectoryKind::Other {
        let message = format!(
            "the directory `{}` is not empty",
            wanted.directory.display()
        );
        faults.push(
            Diagnostic::new(&codes::FOLDER_IS_TAKEN, message)
                .help("use a directory that is empty or does not exist"),
        );
    }
    if let Some(why) = super::git_output::bad_reference(&wanted.reference) {
        let message = format!(
            "`{}` is not a branch, tag or commit: {why}",
            wanted.reference
        );
        faults.push(
            Diagnostic::new(&codes::BAD_REFERENCE, message)
                .at(Location::Argument(wanted.reference.clone()), "")
                .help(
                    "use one ref of the repository, such as `main`, `v2.7.0` or a full commit hash",
                ),
        );
    }
    if wanted.origin.is_empty() || wanted.origin.starts_with('-') {
        let message = format!("`{}` is not the address of a repository", wanted.origin);
        faults.push(
            Diagnostic::new(&codes::BAD_REFERENCE, message)
                .at(Location::Argument(wanted.origin.clone()), "")
                .help("use an address that `git fetch` accepts"),
        );
    }
    let has_hipified = |set: &super::PatchSet| {
        set.series
            .iter()
            .any(|series| series.stage == super::PatchStage::Hipified)
    };
    if wanted.hipify == HipifyMode::Leave && wanted.patches.as_ref().is_some_and(has_hipified) {
        let message = "patches of hipified sources need the changes of hipify to be committed";
        faults.push(
            Diagnostic::new(&codes::HIPIFIED_NEEDS_COMMIT, message)
                .at(Location::Argument("--no-commit-hipify".to_owned()), "")
                .help("leave out `--no-commit-hipify`, or pass `--no-patch`"),
        );
    }
    // Uncommitted files after a killed run are saved, whoever made them.
    let was_ended = facts
        .state
        .as_ref()
        .is_some_and(|state| state.outcome == CheckoutOutcome::Begun);
    for found in &facts.repositories {
        if !wanted.discard.changes && !was_ended {
            if let Some(session) = found.session {
                let message = format!(
                    "{} is in progress in {}",
                    session.word(),
                    named(&found.path)
                );
                faults.push(
                    Diagnostic::new(&codes::UNDER_WAY, message)
                        .at(place(), "")
                        .help("finish it with git, or pass `--discard-changes`"),
                );
            } else if !found.changes.is_empty() {
                let count = counted(found.changes.len(), "file");
                let message = format!(
                    "{count} in {} would be lost: not committed",
                    named(&found.path)
                );
                faults.push(
                    Diagnostic::new(&codes::UNCOMMITTED_CHANGES, message)
                        .at(place(), "")
                        .note(format!("affected: {}", shown(found.changes.iter().cloned())))
                        .help("commit them and run `rock-matrix source save-patches`, or pass `--discard-changes`"),
                );
            }
        }
        if !wanted.discard.commits && !found.above.is_empty() {
            let count = counted(found.above.len(), "commit");
            let message = format!(
                "{count} in {} would be lost: above what was checked out",
                named(&found.path)
            );
            let lines = found
                .above
                .iter()
                .map(|above| format!("{} {}", above.hash, above.subject));
            faults.push(
                Diagnostic::new(&codes::LOCAL_COMMITS, message)
                    .at(place(), "")
                    .note(format!("affected: {}", shown(lines)))
                    .help("run `rock-matrix source save-patches`, then pass `--discard-commits`"),
            );
        }
    }
    faults
}

/// Returns the name of a repository for messages.
pub fn named(path: &str) -> String {
    if path.is_empty() {
        "the outer repository".to_owned()
    } else {
        format!("`{path}`")
    }
}

/// Formats a list for a message, truncated if it is long.
pub fn shown(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.map(|item| format!("`{item}`")).collect();
    list_first(&items, SHOWN, " and ")
}
