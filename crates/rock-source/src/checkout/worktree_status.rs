//! Reads the current state: the state file of the last checkout, and the git status of each
//! repository.

use rayon::prelude::*;

use super::error::CheckoutError;
use super::git::{GitCall, GitRunner};
use super::limits::{LARGEST_STATE_BYTES, MOST_ABOVE};
use super::repository;
use super::{HIPIFIED_INDEX, STATE};
use crate::{
    CheckoutFacts, CheckoutOutcome, CheckoutSpec, CheckoutState, DirectoryKind, FoundRepository,
    GitStatus, LocalCommit, RepositoryRecord, commit_of, is_up_to_date, known_commit, made_by_us,
};
use rock_bytes::start_threads;
use rock_sys as sys;

/// The current state, compared with the desired one.
pub(super) enum WorktreeStatus {
    UpToDate(CheckoutFacts),
    Differs(CheckoutFacts),
}

/// Reads the state file of the last checkout.
pub(super) fn state(git: &GitRunner<'_>) -> Result<Option<CheckoutState>, CheckoutError> {
    let path = git.directory("").join(STATE);
    if !sys::exists(&path) {
        return Ok(None);
    }
    let text = sys::read_text(&path, LARGEST_STATE_BYTES)?;
    CheckoutState::parse(&text)
        .map(Some)
        .map_err(|fault| CheckoutError::State { path, fault })
}

/// Reads the current state and compares it with the desired one.
pub(super) fn read_status(
    git: &GitRunner<'_>,
    wanted: &CheckoutSpec,
) -> Result<WorktreeStatus, CheckoutError> {
    let state = state(git)?;
    let mut facts = CheckoutFacts {
        directory: directory_kind(git, state.as_ref())?,
        state,
        ..CheckoutFacts::default()
    };
    facts.remote = known_commit(wanted).map(str::to_owned);
    if let Some(state) = facts
        .state
        .as_ref()
        .filter(|state| state.outcome == CheckoutOutcome::Done)
    {
        let is_same = CheckoutState::begun(wanted, None).makes_the_same_as(state);
        let query = || {
            if is_same && facts.remote.is_none() {
                remote(git, wanted).map(Some)
            } else {
                Ok(None)
            }
        };
        start_threads();
        let (found, remote) = rayon::join(|| recorded(git, state), query);
        facts.repositories = found?;
        facts.remote = remote?.or(facts.remote);
        if is_up_to_date(wanted, state, &facts.repositories, facts.remote.as_deref()) {
            return Ok(WorktreeStatus::UpToDate(facts));
        }
    }
    if facts.directory == DirectoryKind::Repository {
        facts.repositories = everything(git, facts.state.as_ref(), &facts.repositories)?;
    }
    facts.has_identity = has_identity(git, facts.directory)?;
    Ok(WorktreeStatus::Differs(facts))
}

fn directory_kind(
    git: &GitRunner<'_>,
    state: Option<&CheckoutState>,
) -> Result<DirectoryKind, CheckoutError> {
    let directory = git.directory("");
    if repository::git_directory(&directory).is_some_and(|git| sys::exists(&git.join("HEAD"))) {
        return Ok(DirectoryKind::Repository);
    }
    let names = sys::entry_names(&directory)?;
    Ok(match names.as_slice() {
        [] => DirectoryKind::Empty,
        _ if state.is_some() || names == [".rock"] => DirectoryKind::Begun,
        _ => DirectoryKind::Other,
    })
}

/// Returns the commit that the ref resolves to in the remote repository.
fn remote(git: &GitRunner<'_>, wanted: &CheckoutSpec) -> Result<String, CheckoutError> {
    let peeled = format!("{}^{{}}", wanted.reference);
    let output = git.run(
        &GitCall::git(
            "",
            &["ls-remote", &wanted.origin, &wanted.reference, &peeled],
        ),
        &mut |_| (),
    )?;
    if !output.is_success() {
        return Err(CheckoutError::Fetch {
            origin: wanted.origin.clone(),
            output: output.stderr,
        });
    }
    commit_of(&wanted.reference, &output.stdout).ok_or_else(|| CheckoutError::NoSuchReference {
        origin: wanted.origin.clone(),
        reference: wanted.reference.clone(),
        output: output.stderr,
    })
}

/// Returns the repositories that the last checkout recorded and that still exist.
fn recorded(
    git: &GitRunner<'_>,
    state: &CheckoutState,
) -> Result<Vec<FoundRepository>, CheckoutError> {
    start_threads();
    let found: Vec<_> = state
        .repositories
        .par_iter()
        .map(|record| status(git, record))
        .collect();
    in_order(found)
}

/// Returns the status of a repository; `None` if there is no repository in its directory.
pub(super) fn status(
    git: &GitRunner<'_>,
    record: &RepositoryRecord,
) -> Result<Option<FoundRepository>, CheckoutError> {
    let directory = git.directory(&record.path);
    let Some(git_directory) = repository::git_directory(&directory) else {
        return Ok(None);
    };
    let words = [
        "status",
        "--porcelain=v2",
        "--branch",
        "-z",
        "--untracked-files=normal",
        "--no-ahead-behind",
        "--ignore-submodules=all",
    ];
    let mut call = GitCall::git(&record.path, &words);
    let index = git_directory.join(HIPIFIED_INDEX);
    let is_left_changed = record.is_left_changed && sys::exists(&index);
    if is_left_changed {
        call = call.with("GIT_INDEX_FILE", index.display().to_string());
    }
    let output = git.run(&call, &mut |_| ())?;
    if !output.is_success() {
        let is_broken = !record.path.is_empty() && output.stderr.contains("not a git repository");
        return Err(if is_broken {
            CheckoutError::Broken {
                path: record.path.clone(),
                output: output.stderr,
            }
        } else {
            CheckoutError::git(&call, output)
        });
    }
    let status = GitStatus::parse(&output.stdout);
    let mut changes = if is_left_changed {
        status.changed.clone()
    } else {
        status.uncommitted()
    };
    changes.retain(|path| !(record.path.is_empty() && path.starts_with(".rock/")));
    let session = repository::session(&directory);
    Ok(Some(FoundRepository {
        path: record.path.clone(),
        status,
        changes,
        session,
        is_left_changed,
        above: Vec::new(),
    }))
}

/// Returns all existing repositories, recorded or not, with the commits on top of the last
/// checkout.
pub(super) fn everything(
    git: &GitRunner<'_>,
    state: Option<&CheckoutState>,
    known: &[FoundRepository],
) -> Result<Vec<FoundRepository>, CheckoutError> {
    let records = state
        .map(|state| state.repositories.as_slice())
        .unwrap_or_default();
    let mut paths: Vec<String> = vec![String::new()];
    paths.extend(repository::submodules(git)?);
    paths.extend(records.iter().map(|record| record.path.clone()));
    paths.sort();
    paths.dedup();
    start_threads();
    let found = paths.into_par_iter().map(|path| {
        let record = records.iter().find(|record| record.path == path).cloned();
        let record = record.unwrap_or_else(|| RepositoryRecord {
            path,
            ..RepositoryRecord::default()
        });
        let known_status = known
            .iter()
            .find(|found| found.path == record.path)
            .cloned();
        let Some(mut found) =
            known_status.map_or_else(|| status(git, &record), |found| Ok(Some(found)))?
        else {
            return Ok(None);
        };
        found.above = above(git, &found, &record)?;
        Ok(Some(found))
    });
    in_order(found.collect())
}

/// Collects the results. Returns the error of the first repository in order that has one, so that
/// the result does not depend on thread timing.
fn in_order(
    found: Vec<Result<Option<FoundRepository>, CheckoutError>>,
) -> Result<Vec<FoundRepository>, CheckoutError> {
    found.into_iter().filter_map(Result::transpose).collect()
}

/// Returns the commits at the head that neither a checkout made nor any upstream ref contains.
fn above(
    git: &GitRunner<'_>,
    found: &FoundRepository,
    record: &RepositoryRecord,
) -> Result<Vec<LocalCommit>, CheckoutError> {
    let Some(head) = found
        .status
        .head
        .as_deref()
        .filter(|head| *head != record.head)
    else {
        return Ok(Vec::new());
    };
    let reflog = repository::reflog(&git.directory(&found.path));
    let ours = made_by_us(&reflog);
    if ours.contains(head) {
        return Ok(Vec::new());
    }
    let mut words = vec![
        "log",
        MOST_ABOVE,
        "--format=%h %s",
        "--ignore-missing",
        head,
        "--not",
    ];
    words.extend(
        [record.head.as_str(), record.upstream.as_str()]
            .into_iter()
            .filter(|commit| !commit.is_empty()),
    );
    words.extend(ours.iter().rev().take(1000));
    words.extend(["--remotes", "--exclude=THEROCK_*", "--tags"]);
    let output = git.succeed(&GitCall::git(&found.path, &words))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = |line: &str| {
        let (hash, subject) = line.split_once(' ').unwrap_or((line, ""));
        LocalCommit {
            hash: hash.to_owned(),
            subject: subject.to_owned(),
        }
    };
    Ok(text.lines().map(line).collect())
}

/// Returns whether a committer is configured in git.
fn has_identity(git: &GitRunner<'_>, directory: DirectoryKind) -> Result<bool, CheckoutError> {
    // A repository that does not exist yet has no configuration.
    let is_anywhere = directory != DirectoryKind::Repository;
    let call = GitCall {
        is_anywhere,
        ..GitCall::git("", &["var", "GIT_COMMITTER_IDENT"])
    };
    Ok(git.run(&call, &mut |_| ())?.is_success())
}
