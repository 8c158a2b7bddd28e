//! A release on GitHub.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::outcome::{Outcome, Rehearsal};
use super::planned::Planned;
use super::{Args, Exit, Gathered, Shell, assets, cloned, load, named, once, parsed};
use crate::cli::assets::Depth;
use crate::cli::known;
use crate::cli::publish::connect::Opened;
use crate::cli::publish::progress::Sending;
use crate::cli::published::LARGEST_MANIFEST_BYTES;
use crate::diagnostic::{Diagnostic, Place, Severity, Sink, registry::release as codes};
use crate::github::{Clock, Doing, End, GithubError, Recorder, SkippingClock, Source, apply, of_goal};
use crate::publish::remote::{Allowed, Goal, MakeLatest, standing};
use crate::publish::{
    GitTag, ListedAsset, ListedRelease, Listing, MANIFEST, Manifest, ManifestError, MissingRule, Particulars, Release,
    SUMS, Wanted, against_plan, as_github_release,
};
use crate::sys;

/// What GitHub takes in an hour is 500 calls that make something; some are left for others (GitHub Docs, "Rate limits
/// for the REST API", secondary limits).
const MOST_PER_HOUR: usize = 450;
/// Minutes that publishing may take, and with `--slow`.
const MINUTES: (u64, u64) = (45, 300);
/// A text of a release is shorter (GitHub refuses 125,000 characters and more).
const LARGEST_NOTES_BYTES: u64 = 125_000;

/// A release on GitHub
#[derive(Debug, Clone, clap::Args)]
#[group(id = "on-github", multiple = true, conflicts_with = "to")]
pub(super) struct Options {
    /// The text of the release; an existing one keeps its own without it
    #[arg(long, value_name = "FILE", help_heading = "GitHub")]
    notes: Option<PathBuf>,
    /// The title of the release [default: the tag]
    #[arg(long, value_name = "TEXT", help_heading = "GitHub")]
    title: Option<String>,
    /// The commit that the tag names; it is made there if it does not exist, and must be there if it does
    #[arg(long, value_name = "COMMIT", help_heading = "GitHub")]
    target: Option<String>,
    /// Mark the release as not finished
    #[arg(long, help_heading = "GitHub")]
    prerelease: bool,
    /// Whether it becomes the latest release
    #[arg(long, value_parser = ["true", "false", "legacy"], default_value = "legacy", value_name = "WHEN", help_heading = "GitHub")]
    make_latest: String,
    /// Write to a release that is published already
    #[arg(long, help_heading = "GitHub")]
    allow_published: bool,
    /// Delete empty drafts of the same tag
    #[arg(long, help_heading = "GitHub")]
    clean_duplicates: bool,
    /// Where GitHub does not tell a digest: compare the size, or fetch the file and hash it
    #[arg(long, value_parser = ["size", "full"], default_value = "size", value_name = "HOW", help_heading = "GitHub")]
    verify: String,
    /// How many files are sent at once
    #[arg(long, value_name = "COUNT", default_value = "2", value_parser = clap::value_parser!(u8).range(1..=4), help_heading = "GitHub")]
    at_once: u8,
    /// Publish more than GitHub takes in an hour, and take longer
    #[arg(long, help_heading = "GitHub")]
    slow: bool,
    /// With --dry-run: releases saved as JSON, instead of asking GitHub
    #[arg(long, value_name = "FILE", requires = "dry_run", help_heading = "GitHub")]
    state: Option<PathBuf>,
}

impl Options {
    /// What they say of a release.
    fn goal(&self, tag: String, notes: Option<String>) -> Goal {
        Goal {
            tag,
            title: self.title.clone(),
            body: notes,
            target: self.target.clone(),
            prerelease: self.prerelease,
            make_latest: match self.make_latest.as_str() {
                "true" => MakeLatest::Yes,
                "false" => MakeLatest::No,
                _ => MakeLatest::Legacy,
            },
            assets: Vec::new(),
            nonce: nonce(),
        }
    }
}

/// Publishes to it.
pub(super) fn publish(args: &Args, repo: &str, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    let options = &args.github;
    let tag: Option<GitTag> = parsed(args.tag.as_deref(), &codes::BAD_TAG, "--tag", sink);
    let compat = load::compat(shell)?;
    let planned = match &args.plan {
        Some(path) => Planned::read(path, shell, sink)?,
        None => Planned::default(),
    };
    let mut files = assets::files(&named(args), sink);
    // Before anything is read: the largest are those that are refused.
    let largest = compat.limit("asset").map_or(u64::MAX, |row| row.value);
    files.retain(|file| is_taken(file, largest, sink));
    let known = super::known(args, &files, shell, sink)?;
    let offered = assets::gather(&files, Depth::Verify, &known, &compat, sink);
    known::tell(&offered, shell);
    as_github_release(&cloned(&offered), sink);
    let offered = once(offered);
    let notes = options.notes.as_ref().map(|path| sys::read_text(path, LARGEST_NOTES_BYTES)).transpose();
    let notes = notes.map_err(|error| {
        sink.push(error.into());
        Exit::Machine
    })?;
    let Some(tag) = tag.filter(|_| !sink.has_errors()) else { return Err(Exit::Fault) };

    let minutes = if options.slow { MINUTES.1 } else { MINUTES.0 };
    let opened = args.connection.open(repo, minutes, shell)?;
    if opened.token.is_none() && !args.dry_run {
        sink.push(
            Diagnostic::new(&codes::BAD_TOKEN, "there is no token, and without one nothing can be published")
                .help("set `GITHUB_TOKEN` or `GH_TOKEN`, or name a file with `--token-file`"),
        );
        return Err(Exit::Machine);
    }
    let resume = resume(args, repo);
    let failed = |error: GithubError, sink: &mut Sink| {
        if error == GithubError::Stopped {
            shell.tell(&format!("stopped before anything was written; go on with:\n  {resume}"));
        }
        failed(error, &opened, sink)
    };
    let mut goal = options.goal(tag.to_string(), notes);
    let listed = match &options.state {
        Some(path) => state(path, shell, sink)?,
        None => of_goal(&opened.client, &goal).map_err(|error| failed(error, sink))?,
    };
    if options.state.is_none() {
        check_tag(&opened, &goal, &listed, sink).map_err(|error| failed(error, sink))?;
    }
    let standing = standing(&goal, &listed);
    let before = match manifest(&opened, &standing, &offered, options.state.is_none()) {
        Ok(found) => unread(found, args.replace, sink),
        Err(error) => return Err(failed(error, sink)),
    };
    if args.plan.is_some() {
        let rule = if args.allow_missing { MissingRule::Allow } else { MissingRule::Refuse };
        let kept: Vec<_> = standing.keys().filter_map(|name| name.parse().ok()).collect();
        against_plan(&planned.expected, &cloned(&offered), &kept, rule, sink);
    }
    let particulars = Particulars {
        tag: Some(tag.to_string()),
        plan: planned.digest,
        covers: planned.covers(offered.iter()),
        gfx: planned.gfx(offered.iter()),
    };
    let known = compat.rocm_versions();
    let (release, untold) = Release::on_github(cloned(&offered), &particulars, before.as_ref(), &standing, &known);
    tell_untold(&untold, sink);
    goal.assets = release.wanted();
    let many = if args.dry_run { Severity::Warning } else { Severity::Error };
    if !options.slow {
        tell_many(&goal, &standing, many, sink);
    }
    if sink.has_errors() {
        return Err(Exit::Fault);
    }

    let allowed = Allowed {
        replace: args.replace,
        published: options.allow_published,
        clean_duplicates: options.clean_duplicates,
        fetch_to_verify: options.verify == "full",
    };
    let opener = Opener { offered: &offered, generated: &release.generated };
    let recorder = args.dry_run.then(|| Arc::new(Recorder::new(&opened.api.base(), listed.clone())));
    let sending = Arc::new(Sending::of(&goal, &listed, shell));
    let shown = Arc::clone(&sending);
    let mut doing = Doing {
        open: &|name| opener.open(name),
        on_step: &mut |step| {
            shell.detail(&super::outcome::line(step));
            sending.step(step);
        },
        on_sent: Arc::new(move |name, bytes| shown.sent(name, bytes)),
        at_once: usize::from(options.at_once),
    };
    let clock = Arc::new(SkippingClock::default());
    let applied = match &recorder {
        None => apply(&opened.client, &goal, allowed, listed, &mut doing),
        Some(recorder) => {
            let repo = repo.parse().map_err(|_| Exit::Usage)?;
            let wire: Arc<Recorder> = Arc::clone(recorder);
            let (clock, stop) = (Arc::clone(&clock), Box::new(|| false));
            let client = args.connection.client(repo, &opened.api, None, wire, clock, stop, minutes, shell)?;
            apply(&client, &goal, allowed, listed, &mut doing)
        }
    };
    sending.end();
    let outcome = Outcome {
        repo,
        goal: &goal,
        applied: &applied,
        rehearsal: recorder.map(|recorder| Rehearsal {
            calls: recorder.calls(),
            requests: recorder.requests(),
            pauses: clock.now(),
        }),
        resume: resume.clone(),
    };
    let is_begun = outcome.is_begun();
    let text = outcome.text(args.format);
    // Addresses come from the server, which knows the token.
    let told = shell.print(&opened.token.as_ref().map_or_else(|| text.clone(), |token| token.without(&text)));
    let exit = match applied.end {
        End::Done(_) => told,
        End::Refused(refused) => {
            sink.extend(refused.into_iter().map(Diagnostic::from));
            Exit::Fault
        }
        // GitHub does not take a release like this, and none was made.
        End::Failed(error @ GithubError::Status { status: 422, .. }) if !is_begun => {
            sink.push(error.into());
            Exit::Fault
        }
        End::Failed(error) => self::failed(error, &opened, sink),
        End::Incomplete(faults) => {
            sink.extend(faults.into_values().map(Diagnostic::from));
            Exit::Machine
        }
    };
    Ok(exit)
}

/// A fault of a call as a diagnostic, and the exit that it means.
pub(super) fn failed(error: GithubError, opened: &Opened, sink: &mut Sink) -> Exit {
    if error == GithubError::Stopped {
        return opened.exit_of_signal().unwrap_or(Exit::Machine);
    }
    sink.push(error.into());
    Exit::Machine
}

/// Opens what is sent.
struct Opener<'o> {
    offered: &'o [Gathered],
    generated: &'o BTreeMap<String, Vec<u8>>,
}

impl Opener<'_> {
    fn open(&self, name: &str) -> std::io::Result<Source> {
        if let Some(bytes) = self.generated.get(name) {
            return Ok(Source::Text(bytes.clone().into()));
        }
        let found = self.offered.iter().find(|gathered| gathered.asset.name() == name);
        let path = found.map(|gathered| gathered.path.as_path()).ok_or(std::io::ErrorKind::NotFound)?;
        sys::open_to_read(path).map(Source::File)
    }
}

/// Marks the drafts of this run.
fn nonce() -> String {
    let drawn = format!("{}-{}", sys::now_s(), std::process::id());
    crate::cli::release_folder::digest(drawn.as_bytes()).to_hex()[..16].to_owned()
}

/// Whether GitHub takes a file of this size and a name of this length; what cannot be looked at is told when it is read.
fn is_taken(path: &Path, largest_bytes: u64, sink: &mut Sink) -> bool {
    let Some((size, _)) = sys::stamp(path) else { return true };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (reason, help) = match size {
        0 => ("is empty".to_owned(), "build it again"),
        _ if size > largest_bytes => (
            format!("has {size} bytes, and GitHub takes fewer than {}", largest_bytes.saturating_add(1)),
            "build it for fewer gfx targets, or split it",
        ),
        _ if name.len() > 255 => (
            format!("has a name of {} bytes, and GitHub takes 255", name.len()),
            "give it a shorter local version label",
        ),
        _ => return true,
    };
    sink.push(
        Diagnostic::new(&codes::FILE_NOT_TAKEN, format!("`{name}` {reason}"))
            .at(Place::File(path.display().to_string().into()), "")
            .help(help),
    );
    false
}

/// Tells of more files than GitHub takes in an hour.
fn tell_many(goal: &Goal, standing: &BTreeMap<&str, &ListedAsset>, severity: Severity, sink: &mut Sink) {
    let is_sent = |wanted: &&Wanted| {
        let holds = |asset: &&ListedAsset| {
            asset.size == wanted.size_bytes && asset.digest.is_none_or(|digest| digest == wanted.digest)
        };
        !standing.get(wanted.name.as_str()).is_some_and(holds)
    };
    let sent = goal.assets.iter().filter(is_sent).count();
    if sent > MOST_PER_HOUR {
        let message = format!("{sent} files would be sent, and GitHub takes about 500 an hour");
        sink.push(
            Diagnostic::new(&codes::TOO_MANY_CALLS, message)
                .severity(severity)
                .help("publish them with `--slow`, which takes longer than an hour, or run it again later with fewer"),
        );
    }
}

/// Wheels of the release that neither a manifest nor GitHub tells enough of.
fn tell_untold(names: &[String], sink: &mut Sink) {
    let Some(first) = names.first() else { return };
    let others = names.len() - 1;
    let and = if others == 0 { String::new() } else { format!(" and {others} more") };
    sink.push(
        Diagnostic::new(
            &codes::NOT_IN_SUMS,
            format!("`{first}`{and} of the release will not be in `SHA256SUMS` and `rock-manifest.json`"),
        )
        .help("offer these wheels again with the others, so that their digests are known"),
    );
}

fn state(path: &std::path::Path, shell: &Shell, sink: &mut Sink) -> Result<Vec<ListedRelease>, Exit> {
    let source = load::source(shell, path)?;
    Listing::from_json(&source.text).map(|listing| listing.releases).map_err(|error| {
        sink.push(Diagnostic::new(&codes::NOT_A_LISTING, error.to_string()).at(source.place(0..0), ""));
        Exit::Fault
    })
}

/// The manifest that the release has, where it tells of files that are not offered.
fn manifest(
    opened: &Opened,
    standing: &BTreeMap<&str, &ListedAsset>,
    offered: &[Gathered],
    is_online: bool,
) -> Result<Option<Result<Manifest, ManifestError>>, GithubError> {
    let own: BTreeSet<&str> = offered.iter().map(|gathered| gathered.asset.name()).chain([MANIFEST, SUMS]).collect();
    let has_others = standing.keys().any(|name| !own.contains(name));
    let Some(found) = standing.get(MANIFEST).filter(|_| has_others && is_online) else { return Ok(None) };
    let content = opened.client.document(found, LARGEST_MANIFEST_BYTES)?;
    Ok(Some(Manifest::from_json(&String::from_utf8_lossy(&content))))
}

/// A manifest that could be read. Another is replaced only where that was asked for.
fn unread(found: Option<Result<Manifest, ManifestError>>, replace: bool, sink: &mut Sink) -> Option<Manifest> {
    match found? {
        Ok(manifest) => Some(manifest),
        Err(error) => {
            let severity = if replace { Severity::Warning } else { Severity::Error };
            sink.push(
                Diagnostic::new(
                    &codes::MANIFEST_UNREADABLE,
                    format!("the `{MANIFEST}` of the release would be replaced, and it cannot be read: {error}"),
                )
                .severity(severity)
                .at(Place::Remote(MANIFEST.to_owned()), "")
                .help("offer all wheels of the release, or replace it by what their names tell with `--replace`"),
            );
            None
        }
    }
}

/// The tag exists where it should: at the commit that is named, or not yet where one is named to make it at.
fn check_tag(opened: &Opened, goal: &Goal, listed: &[ListedRelease], sink: &mut Sink) -> Result<(), GithubError> {
    let is_published = listed.iter().any(|release| release.tag_name == goal.tag && !release.draft);
    let found = match opened.client.tag(&goal.tag)? {
        Some(object) if object.kind == "tag" => Some(opened.client.commit_of_tag_object(&object.sha)?),
        Some(object) => Some(object.sha),
        None => None,
    };
    match (found, &goal.target) {
        (None, None) if !is_published => sink.push(
            Diagnostic::new(&codes::TAG_IS_NOT_THERE, format!("the repository has no tag `{}`", goal.tag))
                .at(Place::Argument("--tag".to_owned()), "")
                .help("push the tag, or let it be made at a commit with `--target COMMIT`"),
        ),
        (Some(found), Some(target)) if is_commit(target) && !found.starts_with(&target.to_ascii_lowercase()) => sink
            .push(
                Diagnostic::new(
                    &codes::TAG_MOVED,
                    format!("the tag `{}` is at {found}, and the wheels are from {target}", goal.tag),
                )
                .at(Place::Argument("--target".to_owned()), "")
                .help("somebody moved the tag: build again, or publish under another one"),
            ),
        _ => {}
    }
    Ok(())
}

fn is_commit(text: &str) -> bool {
    text.len() >= 7 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The same command again.
fn resume(args: &Args, repo: &str) -> String {
    let mut words = vec!["rock-matrix publish --repo".to_owned(), repo.to_owned()];
    words.extend(["--tag".to_owned(), args.tag.clone().unwrap_or_default()]);
    let quoted = |path: &PathBuf| {
        shlex::try_quote(&path.display().to_string())
            .map_or_else(|_| path.display().to_string(), std::borrow::Cow::into_owned)
    };
    for path in named(args) {
        words.push(quoted(&path));
    }
    if let Some(plan) = &args.plan {
        words.extend(["--plan".to_owned(), quoted(plan)]);
    }
    if let Some(notes) = &args.github.notes {
        words.extend(["--notes".to_owned(), quoted(notes)]);
    }
    let options = &args.github;
    let text = |value: &str| shlex::try_quote(value).map_or_else(|_| value.to_owned(), std::borrow::Cow::into_owned);
    for (flag, value) in [("--title", &options.title), ("--target", &options.target)] {
        words.extend(value.iter().flat_map(|value| [flag.to_owned(), text(value)]));
    }
    for (flag, value, default) in
        [("--make-latest", &options.make_latest, "legacy"), ("--verify", &options.verify, "size")]
    {
        if value != default {
            words.extend([flag.to_owned(), value.clone()]);
        }
    }
    words.extend(args.known.iter().flat_map(|path| ["--known".to_owned(), quoted(path)]));
    words.extend(args.connection.words());
    let flags = [
        (args.allow_missing, "--allow-missing"),
        (args.replace, "--replace"),
        (args.github.allow_published, "--allow-published"),
        (args.github.clean_duplicates, "--clean-duplicates"),
        (args.github.prerelease, "--prerelease"),
        (args.github.slow, "--slow"),
        (args.read_all, "--read-all"),
    ];
    words.extend(flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| (*flag).to_owned()));
    words.join(" ")
}
