//! What is there: the releases of the tag as GitHub lists them, or as they were saved.

use std::collections::BTreeSet;
use std::path::Path;

use crate::cli::publish::connect::Opened;
use crate::cli::publish::{Args, Exit, Gathered, load};
use crate::cli::published::{LARGEST_MANIFEST_BYTES, no_listing};
use crate::diagnostic::{Diagnostic, Place, Severity, Sink, registry::release as codes};
use crate::github::{GithubError, of_goal};
use crate::publish::remote::{Goal, standing};
use crate::publish::{ListedRelease, Listing, MANIFEST, Manifest, ManifestError, SUMS};

/// What is there.
pub(super) struct There {
    /// The releases of the goal's tags, with their assets.
    pub(super) listed: Vec<ListedRelease>,
    /// The manifest that tells of files that are not offered.
    pub(super) manifest: Option<Manifest>,
}

impl There {
    /// As it was saved in a file. What is in its files is not known.
    pub(super) fn saved(path: &Path, sink: &mut Sink) -> Result<Self, Exit> {
        let source = load::read_source(path, sink)?;
        let listing = Listing::from_json(&source.text).map_err(|error| {
            sink.push(no_listing(&source, &error));
            Exit::Fault
        })?;
        Ok(Self { listed: listing.releases, manifest: None })
    }

    /// As GitHub tells it.
    pub(super) fn asked(
        opened: &Opened,
        goal: &Goal,
        offered: &[Gathered],
        args: &Args,
        sink: &mut Sink,
    ) -> Result<Self, GithubError> {
        let listed = of_goal(&opened.client, goal)?;
        check_tag(opened, goal, &listed, sink)?;
        let found = manifest(opened, goal, &listed, offered)?;
        // Of a release that is locked none can be replaced, which is told when that is tried.
        let has_it = |release: &ListedRelease| release.assets.iter().any(|asset| asset.name == MANIFEST);
        let is_locked = listed.iter().any(|release| goal.has(release) && release.is_locked() && has_it(release));
        let manifest = if is_locked { found.and_then(Result::ok) } else { unread(found, args.replace, sink) };
        Ok(Self { listed, manifest })
    }
}

/// The manifest that the release has, where it tells of files that are not offered.
fn manifest(
    opened: &Opened,
    goal: &Goal,
    listed: &[ListedRelease],
    offered: &[Gathered],
) -> Result<Option<Result<Manifest, ManifestError>>, GithubError> {
    let standing = standing(goal, listed);
    let own: BTreeSet<&str> = offered.iter().map(|gathered| gathered.asset.name()).chain([MANIFEST, SUMS]).collect();
    let has_others = standing.keys().any(|name| !own.contains(name));
    let Some(found) = standing.get(MANIFEST).filter(|_| has_others) else { return Ok(None) };
    let content = opened.client.document(found, LARGEST_MANIFEST_BYTES)?;
    Ok(Some(Manifest::from_json(&String::from_utf8_lossy(&content))))
}

/// A manifest that could be read. Another is replaced only where that was asked for.
fn unread(found: Option<Result<Manifest, ManifestError>>, replace: bool, sink: &mut Sink) -> Option<Manifest> {
    match found? {
        Ok(manifest) => Some(manifest),
        Err(error) => {
            let (severity, help) = if replace {
                (Severity::Warning, "offer all wheels of the release to have all of it told")
            } else {
                let help = "offer all wheels of the release, or replace it by what their names tell with `--replace`";
                (Severity::Error, help)
            };
            sink.push(
                Diagnostic::new(
                    &codes::MANIFEST_UNREADABLE,
                    format!("the `{MANIFEST}` of the release would be replaced, and it cannot be read: {error}"),
                )
                .severity(severity)
                .at(Place::Remote(MANIFEST.to_owned()), "")
                .help(help),
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
        (_, None) => {}
        (Some(found), Some(target)) if is_commit(target) => {
            if !found.starts_with(&target.to_ascii_lowercase()) {
                sink.push(moved(&goal.tag, &found, &format!("the wheels are from {target}")));
            }
        }
        // A branch goes on after a release was published from it.
        (Some(_), Some(_)) if is_published => {}
        (found, Some(target)) => match (opened.client.commit(target)?, found) {
            (None, _) => sink.push(
                Diagnostic::new(
                    &codes::NO_SUCH_TARGET,
                    format!("the repository has no commit and no branch `{target}`"),
                )
                .at(Place::Argument("--target".to_owned()), "")
                .help("push it, or name the commit that the wheels were built from"),
            ),
            (Some(sha), Some(found)) if sha != found => {
                sink.push(moved(&goal.tag, &found, &format!("`{target}` is at {sha}")));
            }
            _ => {}
        },
    }
    Ok(())
}

fn moved(tag: &str, found: &str, but: &str) -> Diagnostic {
    Diagnostic::new(&codes::TAG_MOVED, format!("the tag `{tag}` is at {found}, and {but}"))
        .at(Place::Argument("--target".to_owned()), "")
        .help("build again from where the tag is, name that commit with `--target`, or publish under another tag")
}

fn is_commit(text: &str) -> bool {
    text.len() >= 7 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
