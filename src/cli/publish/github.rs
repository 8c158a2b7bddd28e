//! Publishing to GitHub: reads the files and the release, decides, uploads and reports.

mod decide;
mod doubt;
mod offer;
mod options;
mod resume;
mod send;
mod there;

use std::collections::BTreeMap;

use doubt::wrongly_known;
use offer::Offer;
use resume::{Reading, resume};
use send::{Content, rehearse, send};
use there::There;

use super::outcome::Outcome;
use super::{Args, Exit, Shell};
use crate::cli::publish::connect::Opened;
use crate::diagnostic::{Diagnostic, Sink};
use crate::github::{GithubError, PublishResult, PublishRun};

pub(super) use options::Options;
pub(in crate::cli) use there::saved_listing;

/// Publishes to GitHub.
pub(super) fn publish(
    args: &Args,
    repo: &str,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Exit, Exit> {
    let options = &args.github;
    let offer = Offer::gather(args, shell, sink)?;
    let (minutes, hosts) = (options.minutes(), &options.uploads_host);
    let opened = args
        .connection
        .open_to_send(repo, minutes, hosts, offer.compat, shell, sink)?;
    if !args.dry_run {
        opened.need_token("published", sink)?;
    }
    let resume = resume(&shell.arguments, Reading::Same);
    let mut goal = options.goal(offer.tag.to_string(), offer.notes.clone(), offer.compat);
    let there = match &options.state {
        Some(path) => There::saved(path, sink)?,
        None => There::asked(&opened, &goal, &offer.files, args, sink).map_err(|error| {
            if error == GithubError::Stopped {
                shell.tell(&format!(
                    "stopped before anything was written; resume with:\n  {resume}"
                ));
            }
            failed(error, &opened, sink)
        })?,
    };
    let release = decide::decide(args, &offer, &mut goal, &there, sink)?;

    let content = Content {
        offered: &offer.files,
        generated: &release.generated,
    };
    let (applied, rehearsal) = if args.dry_run {
        rehearse(
            args,
            &opened,
            &goal,
            there.listed,
            &content,
            offer.compat,
            shell,
        )
        .map(|(applied, found)| (applied, Some(found)))?
    } else {
        (
            send(args, &opened.client, &goal, there.listed, &content, shell),
            None,
        )
    };
    let wrong = wrongly_known(&offer.files, &applied.end);
    let resume = if wrong.is_empty() {
        resume
    } else {
        self::resume(&shell.arguments, Reading::All)
    };
    let outcome = Outcome {
        repo,
        goal: &goal,
        applied: &applied,
        rehearsal,
        resume,
    };
    shell.summarise_if_it_can_be(|room| outcome.summary(room));
    let exit = exit(&applied, wrong, outcome.is_begun(), &opened, sink);
    // URLs come from the server, which knows the token.
    let text = outcome.text(args.format.get(), sink.diagnostics());
    let without_token = |text: String| {
        opened
            .token
            .as_ref()
            .map_or_else(|| text.clone(), |token| token.without(&text))
    };
    let told = shell.print(&without_token(text));
    if args.github.github_output {
        let outputs: Vec<_> = outcome
            .outputs()
            .into_iter()
            .map(|(name, value)| (name, without_token(value)))
            .collect();
        shell.write_outputs(&outputs)?;
    }
    Ok(if exit == Exit::Done { told } else { exit })
}

/// Returns the exit of a run. Its errors go to the sink; `wrong` replaces those of files with a
/// wrong recorded digest.
fn exit(
    applied: &PublishRun,
    mut wrong: BTreeMap<String, Diagnostic>,
    is_begun: bool,
    opened: &Opened,
    sink: &mut Sink,
) -> Exit {
    match &applied.end {
        PublishResult::Done(_) => Exit::Done,
        PublishResult::Refused(refused) => {
            sink.extend(refused.iter().cloned().map(Diagnostic::from));
            Exit::Fault
        }
        // GitHub rejects a release like this, and none was created.
        PublishResult::Failed(error @ GithubError::Status { status: 422, .. }) if !is_begun => {
            sink.push(error.clone().into());
            Exit::Fault
        }
        PublishResult::Failed(error) => failed(error.clone(), opened, sink),
        PublishResult::Incomplete(faults) => {
            let told = |(name, error): (&String, &GithubError)| {
                wrong.remove(name).unwrap_or_else(|| error.clone().into())
            };
            sink.extend(faults.iter().map(told).collect::<Vec<_>>());
            Exit::Machine
        }
    }
}

/// Reports a failed request and returns the exit of the command.
pub(in crate::cli) fn failed(error: GithubError, opened: &Opened, sink: &mut Sink) -> Exit {
    let error = error.cause();
    if error == GithubError::Stopped {
        return opened.exit_of_signal().unwrap_or(Exit::Machine);
    }
    sink.push(error.into());
    Exit::Machine
}
