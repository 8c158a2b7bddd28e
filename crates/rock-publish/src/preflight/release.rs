//! Checks of the tag and its releases: whether the tag can be created and the files can be added.

use super::{CheckResult, ObservedRepository, PreflightRequest, failed, passed, unknown};
use crate::codes::release as codes;
use crate::remote::{ReleaseRefusal, is_marked};
use crate::{GitTag, ListedRelease, MANIFEST, SUMS, TagName, TagRuleset};
use rock_diagnostic::{Diagnostic, Location, counted};

pub(super) fn tag_name(request: &PreflightRequest<'_>) -> CheckResult {
    let fault = |text: String, help: &str| {
        failed(
            Diagnostic::new(&codes::BAD_TAG, text)
                .at(Location::Argument("--tag".to_owned()), "")
                .help(help),
        )
    };
    match request.tag.parse::<TagName>() {
        Ok(_) => passed(format!("`{}` is a valid tag", request.tag)),
        Err(error) if request.tag.parse::<GitTag>().is_ok() => fault(
            error.to_string(),
            "separate its parts with `-`, as in `release-1`",
        ),
        Err(error) => fault(
            error.to_string(),
            "write it like `v1` or `nightly-20261101`",
        ),
    }
}

pub(super) fn tag_commit(observed: &ObservedRepository) -> CheckResult {
    let Some(tag) = &observed.tag else {
        return unknown("the tag was not read");
    };
    match (tag.fault(), &tag.commit) {
        (Some(fault), _) => failed(fault),
        (None, Some(commit)) => passed(format!("at {commit}")),
        (None, None) => passed("it will be created with the release"),
    }
}

pub(super) fn tag_creation(
    request: &PreflightRequest<'_>,
    observed: &ObservedRepository,
) -> CheckResult {
    match &observed.tag {
        None => return unknown("the tag was not read"),
        Some(tag) if tag.commit.is_some() => return passed("the tag exists"),
        Some(_) => {}
    }
    let Some(rulesets) = &observed.tag_rulesets else {
        return unknown(
            "the rulesets for tags cannot be read; push the tag before the build to be sure",
        );
    };
    let mut unsure = Vec::new();
    for TagRuleset { name, details } in rulesets {
        let Some(details) = details else {
            unsure.push(name.as_str());
            continue;
        };
        if !details.restricts_creation || details.may_bypass == Some(true) {
            continue;
        }
        match (details.applies_to(request.tag), details.may_bypass) {
            (Some(false), _) => {}
            // Another token publishes, and may be allowed to bypass the ruleset.
            (Some(true), Some(false)) if !request.read_only => {
                return failed(tag_restricted(request.tag, name));
            }
            _ => unsure.push(name),
        }
    }
    if unsure.is_empty() {
        return passed("no ruleset prevents the creation of the tag");
    }
    let names = unsure.join("`, `");
    unknown(format!(
        "the ruleset `{names}` may prevent the creation of the tag; push it before the build to be \
         sure"
    ))
}

fn tag_restricted(tag: &str, ruleset: &str) -> Diagnostic {
    Diagnostic::new(
        &codes::TAG_CREATION_RESTRICTED,
        format!("the ruleset `{ruleset}` does not permit this token to create the tag `{tag}`"),
    )
    .at(Location::Argument("--tag".to_owned()), "")
    .help(
        "push the tag as a user who may create it, or add the user or app that publishes to the \
         bypass list of the ruleset",
    )
}

pub(super) fn of_tag<'o>(
    request: &PreflightRequest<'_>,
    releases: &'o [ListedRelease],
) -> Vec<&'o ListedRelease> {
    releases
        .iter()
        .filter(|release| release.tag_name == request.tag)
        .collect()
}

/// Returns the releases of the tag, first the one that reconciling will use.
fn by_use<'o>(
    request: &PreflightRequest<'_>,
    releases: &'o [ListedRelease],
) -> Vec<&'o ListedRelease> {
    let mut of_tag = of_tag(request, releases);
    of_tag.sort_by_key(|release| {
        (
            release.draft,
            release.assets.is_empty() || is_marked(release),
            release.id,
        )
    });
    of_tag
}

pub(super) fn release(
    request: &PreflightRequest<'_>,
    observed: &ObservedRepository,
) -> CheckResult {
    let Some(releases) = &observed.releases else {
        return unknown("the releases were not read");
    };
    let published = of_tag(request, releases)
        .into_iter()
        .find(|release| !release.draft);
    let Some(published) = published else {
        return passed("no release of the tag is published");
    };
    let tag = request.tag;
    let files = counted(published.assets.len(), "file");
    let at = Location::Url(tag.to_owned());
    if published.is_immutable() {
        return failed(
            Diagnostic::new(
                &codes::IMMUTABLE_RELEASE,
                format!("the release `{tag}` is immutable and has {files}"),
            )
            .at(at, "")
            .help(
                "publish under a new tag: the assets and the tag of an immutable release cannot \
                 change",
            ),
        );
    }
    if request.allow_published {
        return passed(format!("published with {files}; more can be added"));
    }
    failed(
        Diagnostic::new(
            &codes::RELEASE_IS_PUBLISHED,
            format!("the release `{tag}` is already published, with {files}"),
        )
        .at(at, "")
        .help("publish under a new tag, or change this release with `publish --allow G101`"),
    )
}

pub(super) fn drafts(request: &PreflightRequest<'_>, observed: &ObservedRepository) -> CheckResult {
    let Some(releases) = &observed.releases else {
        return unknown("the releases were not read");
    };
    let of_tag = by_use(request, releases);
    let sees_drafts = observed
        .repository
        .as_ref()
        .and_then(|facts| facts.permissions)
        .is_some_and(|may| may.push)
        || releases.iter().any(|release| release.draft);
    if !sees_drafts {
        return unknown("only a token with write access sees drafts");
    }
    let Some((first, others)) = of_tag.split_first() else {
        return passed("no draft of the tag");
    };
    let is_empty = |release: &ListedRelease| release.draft && release.assets.is_empty();
    let stays = |release: &ListedRelease| {
        !(release.draft && (is_marked(release) || (request.clean_duplicates && is_empty(release))))
    };
    let kept: Vec<&ListedRelease> = others
        .iter()
        .copied()
        .filter(|release| stays(release))
        .collect();
    if !kept.is_empty() {
        let others_are_empty = kept.iter().all(|release| is_empty(release));
        let releases = of_tag
            .iter()
            .map(|release| (release.id, release.assets.len()))
            .collect();
        let tag = request.tag.to_owned();
        return failed(
            ReleaseRefusal::Duplicates {
                tag,
                releases,
                others_are_empty,
            }
            .into(),
        );
    }
    // Publishing deletes another draft of an earlier run only if its files are those of the plan.
    if let Some(draft) = others.iter().find(|release| !release.assets.is_empty()) {
        return unknown(format!(
            "the draft {} of an earlier run has files that may not be those of the plan",
            draft.id
        ));
    }
    if first.draft {
        let files = counted(first.assets.len(), "file");
        passed(format!(
            "the draft {} will be continued; it has {files}",
            first.id
        ))
    } else {
        passed("no draft of the tag")
    }
}

/// Checks that the release has room for the generated files. Planned files that do not fit go to
/// `TAG-2`.
pub(super) fn room(request: &PreflightRequest<'_>, observed: &ObservedRepository) -> CheckResult {
    let Some(releases) = &observed.releases else {
        return unknown("the releases were not read");
    };
    let most = request.most_assets;
    let Some(&first) = by_use(request, releases).first() else {
        return passed(format!("a release can have {most} files"));
    };
    let holds = |name: &&&str| first.assets.iter().any(|asset| asset.name == **name);
    let documents = [SUMS, MANIFEST];
    let missing = documents.iter().filter(|name| !holds(name)).count();
    // In a published release, a new version of a document is uploaded before the old one is
    // deleted.
    let beside = usize::from(!first.draft && missing < documents.len());
    let free = most.saturating_sub(first.assets.len());
    if first.is_immutable() {
        return unknown("the release accepts no files");
    }
    if free < missing + beside {
        return failed(
            ReleaseRefusal::Full {
                tag: request.tag.to_owned(),
                assets: first.assets.len(),
            }
            .into(),
        );
    }
    let sent = request.files.iter().filter(|name| !holds(name)).count();
    let more = if sent + missing > free {
        format!("; the rest goes to `{}-2`", request.tag)
    } else {
        String::new()
    };
    passed(format!(
        "the release has room for {}{more}",
        counted(free, "file")
    ))
}
