//! `compat refresh --actions`: compares the table `actions` with the tags of the repositories.

use super::Found;
use crate::cli::publish::{Connection, Opened};
use crate::cli::{Exit, Shell};
use crate::compat::refresh::actions::{self, ActionRemark, ActionUpdate, OWN_ACTION, RemarkKind};
use crate::compat::rows::ActionRow;
use crate::compat::{Compat, table_file};
use crate::diagnostic::Sink;
use crate::github::{GithubError, ReleaseClient};
use crate::names::RepoName;

/// The time limit for reading, in minutes.
const MINUTES: u64 = 10;
/// The metadata files of an action; the first one that exists is used (GitHub Docs, "Metadata
/// syntax reference").
const METADATA: [&str; 2] = ["action.yml", "action.yaml"];

/// The output as JSON.
#[derive(serde::Serialize)]
struct Document<'a> {
    version: u32,
    /// Repositories whose tags were read.
    read: Vec<&'a str>,
    differences: &'a [ActionUpdate],
    remarks: Vec<RemarkView<'a>>,
    /// For `git apply` in a checkout that has `matrices/compat`; empty when there are no
    /// differences.
    patch: &'a str,
}

#[derive(serde::Serialize)]
struct RemarkView<'a> {
    action: &'a str,
    remark: &'static str,
    text: String,
}

impl<'a> RemarkView<'a> {
    fn of(remark: &'a ActionRemark) -> Self {
        Self {
            action: &remark.action,
            remark: remark.kind.as_str(),
            text: remark.to_string(),
        }
    }
}

/// The results so far.
#[derive(Default)]
struct Seen {
    read: Vec<String>,
    differences: Vec<ActionUpdate>,
    remarks: Vec<ActionRemark>,
}

/// Reads the tags, and returns how they differ from the table.
///
/// # Errors
/// The exit of the command; the reason was reported.
pub(super) fn compare(
    compat: &Compat,
    connection: &Connection,
    shell: &Shell,
) -> Result<Found, Exit> {
    let mut sink = Sink::new();
    let seen = read_tags(compat, connection, shell, &mut sink).inspect_err(|_| {
        shell.report(&std::mem::take(&mut sink).finish());
    })?;
    let rows = &compat.tables().actions;
    let updated = actions::apply_updates(rows, &seen.differences, &shell.environment.today());
    let patch = table_file::ACTIONS.patch(rows, &updated);
    for difference in &seen.differences {
        shell.say(&difference.to_string());
    }
    for remark in &seen.remarks {
        match remark.warning() {
            Some(warning) => sink.push(warning),
            None => shell.say(&remark.to_string()),
        }
    }
    shell.report(&sink.finish());
    if seen.differences.is_empty() && seen.remarks.is_empty() {
        shell.say("the table of actions has the newest releases");
    }
    let is_moved = |remark: &ActionRemark| matches!(remark.kind, RemarkKind::MovedTag { .. });
    let document = super::json(&Document {
        version: 1,
        read: seen.read.iter().map(String::as_str).collect(),
        differences: &seen.differences,
        remarks: seen.remarks.iter().map(RemarkView::of).collect(),
        patch: &patch,
    });
    Ok(Found {
        differs: !seen.differences.is_empty() || seen.remarks.iter().any(is_moved),
        document,
        patch,
    })
}

/// Reads the tags for every row over one connection, so that rate limits and the deadline apply to
/// all requests together.
fn read_tags(
    compat: &Compat,
    connection: &Connection,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Seen, Exit> {
    let (mut seen, mut opened) = (Seen::default(), None::<Opened>);
    let rows = &compat.tables().actions;
    let named = rows.iter().map(|row| (row.name.as_str(), Some(row)));
    // The action of this project gets a row as soon as its release is out.
    let tool = rows
        .iter()
        .all(|row| row.name != OWN_ACTION)
        .then_some((OWN_ACTION, None));
    for (name, row) in named.chain(tool) {
        let Ok(repo) = name.parse::<RepoName>() else {
            seen.remarks.push(ActionRemark {
                action: name.to_owned(),
                kind: RemarkKind::NoRepository,
            });
            continue;
        };
        let here = match opened.take() {
            Some(before) => before.at(repo),
            None => connection.open(name, MINUTES, compat, shell, sink)?,
        };
        shell.detail(&format!("reading the tags of {name}"));
        let result = match row {
            Some(row) => read_action(row, &here.client, &mut seen),
            None => read_own_action(&here.client, &mut seen),
        };
        if let Err(error) = result {
            if error == GithubError::Stopped {
                return Err(here.exit_of_signal().unwrap_or(Exit::Machine));
            }
            sink.push(here.unread(error));
            return Err(Exit::Machine);
        }
        opened = Some(here);
    }
    Ok(seen)
}

/// Looks for the release of this version of our own action. A repository that does not exist yet is
/// not reported.
fn read_own_action(client: &ReleaseClient, seen: &mut Seen) -> Result<(), GithubError> {
    let Some(tags) = client.tags()? else {
        return Ok(());
    };
    seen.read.push(OWN_ACTION.to_owned());
    match actions::propose_own_action(env!("CARGO_PKG_VERSION"), &tags) {
        Ok(difference) => seen.differences.push(difference),
        Err(remark) => seen.remarks.push(remark),
    }
    Ok(())
}

/// Looks for a newer release of an action.
fn read_action(
    row: &ActionRow,
    client: &ReleaseClient,
    seen: &mut Seen,
) -> Result<(), GithubError> {
    let Some(tags) = client.tags()? else {
        seen.remarks.push(ActionRemark {
            action: row.name.clone(),
            kind: RemarkKind::NoRepository,
        });
        return Ok(());
    };
    seen.read.push(row.name.clone());
    let (newer, remarks) = actions::find_newer_release(row, &tags);
    seen.remarks.extend(remarks);
    let Some(newer) = newer else { return Ok(()) };
    let mut metadata = None;
    for path in METADATA {
        if metadata.is_none() {
            metadata = client.file(path, &newer.sha)?;
        }
    }
    match actions::propose_update(row, newer, metadata.as_deref()) {
        Ok(difference) => seen.differences.push(difference),
        Err(remark) => seen.remarks.push(remark),
    }
    Ok(())
}
