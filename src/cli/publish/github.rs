//! Publishing to GitHub: reads the files and the release, decides, uploads and reports.

mod options;
mod resume;
mod run_publish;
mod saved_listing;
mod upload_set;

use std::collections::BTreeMap;

use resume::{DigestSource, resume};
use run_publish::run_publish;
use upload_set::read_upload_set;

use super::connect::{Opened, no_client};
use super::outcome::PublishReport;
use super::{Args, Exit, Shell};
use crate::diagnostic::{Diagnostic, Severity, Sink};
use crate::github::{
    GithubError, ObservedReleases, PublishDryRun, PublishOutcome, PublishResult, PublishRun,
    ReleaseChecks, ReleaseClient, UploadContents, UploadSet, digest_mismatches,
};
use crate::publish::remote::DesiredRelease;

pub(super) use options::Options;
pub(in crate::cli) use saved_listing::saved_listing;

/// Publishes to GitHub.
pub(super) fn publish(
    args: &Args,
    repo: &str,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Exit, Exit> {
    let options = &args.github;
    let (upload, compat) = read_upload_set(args, shell, sink)?;
    let (minutes, hosts) = (options.minutes(), &options.uploads_host);
    let opened = args
        .connection
        .open_to_send(repo, minutes, hosts, compat, shell, sink)?;
    if !args.dry_run {
        opened.need_token("published", sink)?;
    }
    let resume = resume(&shell.arguments, DigestSource::AsGiven);
    let mut desired = options.desired_release(upload.tag.to_string(), upload.notes.clone(), compat);
    let state = read_state(args, &opened, &desired, &upload, &resume, shell, sink)?;
    let release = upload
        .release_contents(&mut desired, &state, args.release_checks(), compat, sink)
        .ok_or(Exit::Fault)?;

    let contents = UploadContents::new(&upload.files, &release.generated);
    let releases = state.releases.clone();
    let run_with = |client: &ReleaseClient| {
        let line = &opened.line;
        run_publish(args, client, &desired, releases, contents, shell, line)
    };
    let (run, dry_run) = if args.dry_run {
        let (repo, api) = (opened.repo.clone(), &opened.api);
        let simulated = PublishDryRun::run(repo, api, state.releases, compat, run_with);
        let (run, dry_run) = simulated.map_err(|error| no_client(&error, shell))?;
        (run, Some(dry_run))
    } else {
        (run_with(&opened.client), None)
    };
    let wrong = digest_mismatches(&upload.files, &run.failed_files);
    let resume = if wrong.is_empty() {
        resume
    } else {
        self::resume(&shell.arguments, DigestSource::Files)
    };
    let outcome = PublishOutcome::new(&desired, &run);
    let report = PublishReport {
        repo,
        desired: &desired,
        run: &run,
        outcome,
        dry_run,
        resume,
    };
    shell.summarise_if_it_can_be(|room| report.summary(room));
    let exit = exit(&run, wrong, outcome.has_release(), &opened, sink);
    // URLs come from the server, which knows the token.
    let text = report.text(args.format.get(), sink.diagnostics());
    let without_token = |text: String| {
        opened
            .token
            .as_ref()
            .map_or_else(|| text.clone(), |token| token.without(&text))
    };
    let printed = shell.print(&without_token(text));
    if args.github.github_output {
        let outputs: Vec<_> = report
            .outputs()
            .into_iter()
            .map(|(name, value)| (name, without_token(value)))
            .collect();
        shell.write_outputs(&outputs)?;
    }
    Ok(if exit == Exit::Done { printed } else { exit })
}

/// Reads the releases of the tag from GitHub, or from the listing of `--state`.
fn read_state(
    args: &Args,
    opened: &Opened,
    desired: &DesiredRelease,
    upload: &UploadSet,
    resume: &str,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<ObservedReleases, Exit> {
    if let Some(path) = &args.github.state {
        return saved_listing(path, sink).map(ObservedReleases::from_listing);
    }
    let client = &opened.client;
    ObservedReleases::read(client, desired, &upload.files, args.replace, sink).map_err(|error| {
        if error.is_stop() {
            shell.tell(&format!(
                "stopped before anything was written; resume with:\n  {resume}"
            ));
        }
        failed(error, opened, sink)
    })
}

impl Args {
    /// Returns the checks of the files before they are uploaded.
    fn release_checks(&self) -> ReleaseChecks<'_> {
        let severity = if self.dry_run {
            Severity::Warning
        } else {
            Severity::Error
        };
        ReleaseChecks {
            allowed: self.allowed_differences(),
            allowed_errors: &self.allow,
            hourly_limit: (!self.github.slow).then_some(severity),
            is_dry_run: self.dry_run,
        }
    }
}

/// Returns the exit of a run. Its errors go to the sink, those of files first; `wrong` replaces
/// those of files with a wrong recorded digest.
fn exit(
    run: &PublishRun,
    mut wrong: BTreeMap<String, Diagnostic>,
    has_release: bool,
    opened: &Opened,
    sink: &mut Sink,
) -> Exit {
    for (name, error) in &run.failed_files {
        sink.push(wrong.remove(name).unwrap_or_else(|| error.clone().into()));
    }
    match &run.end {
        PublishResult::Done(_) => Exit::Done,
        PublishResult::Refused(refused) => {
            sink.extend(refused.iter().cloned().map(Diagnostic::from));
            Exit::Fault
        }
        // GitHub rejects a release like this, and none was created.
        PublishResult::Failed(error @ GithubError::Status { status: 422, .. }) if !has_release => {
            sink.push(error.clone().into());
            Exit::Fault
        }
        PublishResult::Failed(error) => failed(error.clone(), opened, sink),
        PublishResult::Incomplete => Exit::Machine,
    }
}

/// Reports a failed request and returns the exit of the command.
pub(in crate::cli) fn failed(error: GithubError, opened: &Opened, sink: &mut Sink) -> Exit {
    let error = error.cause();
    if error.is_stop() {
        return opened.stopped(error, sink);
    }
    sink.push(error.into());
    Exit::Machine
}
