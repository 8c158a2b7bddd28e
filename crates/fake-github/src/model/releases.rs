//! Requests that list, create, edit, publish and delete releases.

use std::sync::Arc;

use serde_json::Value;

use super::errors::{self, custom_error, validation_error};
use super::github::ApiCall;
use super::json_fields::JsonFields;
use super::ledger::ReachedState;
use super::paging;
use super::request::ApiReply;
use super::response_bodies::BodyBuilder;
use super::state::{StoredRelease, StoredRepository};

/// The maximum length of a release's text, in characters; GitHub's error names it
/// (softprops/action-gh-release issue 374).
const BODY_CHARACTERS: usize = 125_000;

/// Lists the releases, the newest first; drafts only with write access.
pub fn list(call: &ApiCall, repository: &StoredRepository) -> ApiReply {
    let seen = repository
        .releases_at(call.list_ms)
        .values()
        .filter(|release| call.may_write || !release.draft);
    let mut releases: Vec<&Arc<StoredRelease>> = seen.collect();
    releases.sort_by_key(|release| std::cmp::Reverse((release.created_ms, release.id)));
    let url = format!(
        "{}/repositories/{}/releases",
        call.settings.api_base, repository.id
    );
    let (part, link) = paging::page(releases, call.address, &url);
    let shaper = BodyBuilder::new(call.settings, repository, call.now_ms);
    let most = call.settings.listed_assets;
    let body: Vec<_> = part
        .into_iter()
        .map(|release| shaper.listed(release, most))
        .collect();
    let mut reply = ApiReply::json(200, &body);
    if let Some(link) = link {
        reply.set("link", &link);
    }
    reply
}

/// Returns a release by its ID.
pub fn get(call: &ApiCall, repository: &StoredRepository) -> ApiReply {
    shown(
        call,
        repository,
        repository
            .releases
            .get(&call.route.id)
            .filter(|release| call.may_write || !release.draft),
    )
}

/// Returns the published release of a tag; drafts are not found.
pub fn by_tag(call: &ApiCall, repository: &StoredRepository) -> ApiReply {
    shown(call, repository, published(repository, &call.route.text))
}

/// Returns the latest release.
pub fn latest(call: &ApiCall, repository: &StoredRepository) -> ApiReply {
    let full = || {
        repository
            .releases
            .values()
            .filter(|release| !release.draft && !release.prerelease)
    };
    let has_latest =
        |release: &&Arc<StoredRelease>, word: &str| release.make_latest.as_deref() == Some(word);
    let chosen = full()
        .filter(|release| has_latest(release, "true"))
        .max_by_key(|release| release.updated_ms);
    let newest = full()
        .filter(|release| !has_latest(release, "false"))
        .max_by_key(|release| release.published_ms);
    shown(call, repository, chosen.or(newest))
}

/// Creates a release, as a draft or published.
pub fn create(call: &mut ApiCall, repository: &mut StoredRepository) -> ApiReply {
    let release = match new_release(call) {
        Ok(release) => release,
        Err(refused) => return refused,
    };
    let mut errors_found = release_errors(&release);
    if !release.draft {
        errors_found.extend(publication_errors(repository, &release));
    }
    if !errors_found.is_empty() {
        return errors::invalid(&errors_found);
    }
    call.ledger.reach(if release.draft {
        ReachedState::DraftMade
    } else {
        ReachedState::PublishedAtOnce
    });
    let id = release.id;
    repository.releases.insert(id, Arc::new(release));
    if !repository.releases[&id].draft {
        publish(call, repository, id);
    }
    let mut reply = shown(call, repository, repository.releases.get(&id));
    reply.status = 201;
    reply.set(
        "location",
        &format!(
            "{}/repos/{}/releases/{id}",
            call.settings.api_base, repository.full_name
        ),
    );
    reply
}

fn new_release(call: &mut ApiCall) -> Result<StoredRelease, ApiReply> {
    let fields = JsonFields::parse(call.request)?;
    let Some(tag_name) = fields.text("tag_name")? else {
        return Err(errors::refusal(
            422,
            "Invalid request.\n\n\"tag_name\" wasn't supplied.",
        ));
    };
    Ok(StoredRelease {
        id: call.next_id(),
        tag_name,
        target_commitish: fields
            .text("target_commitish")?
            .unwrap_or_else(|| "main".to_owned()),
        name: fields.text("name")?,
        body: fields.text("body")?,
        draft: fields.flag("draft")?.unwrap_or(false),
        prerelease: fields.flag("prerelease")?.unwrap_or(false),
        make_latest: fields.make_latest()?,
        created_ms: call.now_ms,
        updated_ms: call.now_ms,
        ..StoredRelease::default()
    })
}

/// Changes a release, including its publication.
pub fn edit(call: &mut ApiCall, repository: &mut StoredRepository) -> ApiReply {
    let Some(old) = repository.releases.get(&call.route.id).cloned() else {
        return errors::not_found();
    };
    let changed = match changed(call, &old) {
        Ok(changed) => changed,
        Err(refused) => return refused,
    };
    let mut errors_found = release_errors(&changed);
    let is_forbidden = changed.tag_name != old.tag_name || changed.draft;
    if old.immutable && is_forbidden {
        let field = if changed.draft { "draft" } else { "tag_name" };
        errors_found.push(custom_error(
            "Release",
            Some(field),
            &format!("{field} cannot be changed on an immutable release"),
        ));
    }
    if !changed.draft && (old.draft || changed.tag_name != old.tag_name) {
        errors_found.extend(publication_errors(repository, &changed));
    }
    if !errors_found.is_empty() {
        return errors::invalid(&errors_found);
    }
    if (&changed.name, &changed.body) != (&old.name, &old.body) {
        call.ledger.reach(ReachedState::TextEdited);
    }
    let id = old.id;
    let (is_published, is_hidden) = (old.draft && !changed.draft, !old.draft && changed.draft);
    repository.releases.insert(id, Arc::new(changed));
    if is_published {
        call.ledger.reach(ReachedState::Published);
        publish(call, repository, id);
    } else if is_hidden {
        call.ledger.reach(ReachedState::Unpublished);
    }
    shown(call, repository, repository.releases.get(&id))
}

fn changed(call: &ApiCall, old: &StoredRelease) -> Result<StoredRelease, ApiReply> {
    let fields = JsonFields::parse(call.request)?;
    let mut release = old.clone();
    release.tag_name = fields.text("tag_name")?.unwrap_or(release.tag_name);
    release.target_commitish = fields
        .text("target_commitish")?
        .unwrap_or(release.target_commitish);
    release.name = fields.text("name")?.or(release.name);
    release.body = fields.text("body")?.or(release.body);
    release.draft = fields.flag("draft")?.unwrap_or(release.draft);
    release.prerelease = fields.flag("prerelease")?.unwrap_or(release.prerelease);
    release.make_latest = fields.make_latest()?.or(release.make_latest);
    release.updated_ms = call.now_ms;
    Ok(release)
}

/// Deletes a release with its assets. The tag is kept, and stays locked if the release was
/// immutable.
pub fn delete(call: &mut ApiCall, repository: &mut StoredRepository) -> ApiReply {
    match repository.releases.remove(&call.route.id) {
        Some(_) => {
            call.ledger.reach(ReachedState::ReleaseDeleted);
            ApiReply::empty(204)
        }
        None => errors::not_found(),
    }
}

/// Returns whether git accepts the name of a tag (git-check-ref-format).
fn is_tag(name: &str) -> bool {
    let is_taken = |letter: char| !letter.is_ascii_control() && !" ~^:?*[\\".contains(letter);
    let is_part = |part: &str| {
        !part.is_empty() && !part.starts_with('.') && part.strip_suffix(".lock").is_none()
    };
    let has_none = |text: &&str| !name.contains(*text);
    name.chars().all(is_taken)
        && name.split('/').all(is_part)
        && ["..", "@{"].iter().all(has_none)
        && !name.ends_with('.')
        && name != "@"
}

/// Returns the errors of a release, published or not.
fn release_errors(release: &StoredRelease) -> Vec<Value> {
    let mut errors_found = Vec::new();
    if release.tag_name.is_empty() && !release.draft {
        errors_found.push(validation_error("Release", "missing_field", "tag_name"));
    }
    // GitHub reports both errors for such a name (cli/cli issue 1698).
    if !release.tag_name.is_empty() && !is_tag(&release.tag_name) {
        errors_found.push(custom_error(
            "Release",
            Some("tag_name"),
            "tag_name is not a valid tag",
        ));
        errors_found.push(custom_error(
            "Release",
            Some("tag_name"),
            "tag_name is not well-formed",
        ));
    }
    if release
        .body
        .as_ref()
        .is_some_and(|body| body.chars().count() > BODY_CHARACTERS)
    {
        let text = format!("body is too long (maximum is {BODY_CHARACTERS} characters)");
        errors_found.push(custom_error("Release", Some("body"), &text));
    }
    if release.make_latest.as_deref() == Some("true") && (release.draft || release.prerelease) {
        errors_found.push(custom_error(
            "Release",
            Some("make_latest"),
            "Latest release cannot be draft or prerelease",
        ));
    }
    errors_found
}

/// Returns the errors that prevent publication: a tag has one published release, ever, and must
/// exist or be creatable.
fn publication_errors(repository: &StoredRepository, release: &StoredRelease) -> Vec<Value> {
    let no_tag = custom_error("Release", None, "Published releases must have a valid tag");
    if published(repository, &release.tag_name).is_some_and(|other| other.id != release.id) {
        return vec![validation_error("Release", "already_exists", "tag_name")];
    }
    if repository.burned_tags.contains(&release.tag_name) {
        return vec![
            custom_error(
                "Release",
                Some("tag_name"),
                "tag_name was used by an immutable release",
            ),
            no_tag,
        ];
    }
    if repository.tags.contains_key(&release.tag_name) {
        return Vec::new();
    }
    if repository.commit(&release.target_commitish).is_none() {
        return vec![validation_error("Release", "invalid", "target_commitish")];
    }
    if repository
        .tag_ruleset
        .as_ref()
        .is_some_and(|ruleset| ruleset.refuses(&release.tag_name))
    {
        let rules = "pre_receive Repository rule violations found\n\nCannot create ref due to creations being \
                     restricted.\n\n";
        return vec![custom_error("Release", Some("pre_receive"), rules), no_tag];
    }
    Vec::new()
}

/// Creates the tag, sets the date, and locks the release if the repository has immutable releases.
fn publish(call: &ApiCall, repository: &mut StoredRepository, id: u64) {
    let Some(release) = repository.releases.get(&id) else {
        return;
    };
    let (tag, commit) = (
        release.tag_name.clone(),
        repository
            .commit(&release.target_commitish)
            .map(str::to_owned),
    );
    let is_immutable = repository.has_immutable_releases;
    if let Some(commit) = commit {
        repository.tags.entry(tag.clone()).or_insert(commit);
    }
    if is_immutable {
        repository.burned_tags.insert(tag);
    }
    if let Some(release) = repository.releases.get_mut(&id) {
        let release = Arc::make_mut(release);
        release.published_ms = release.published_ms.or(Some(call.now_ms));
        release.immutable = is_immutable;
    }
}

fn published<'a>(repository: &'a StoredRepository, tag: &str) -> Option<&'a Arc<StoredRelease>> {
    repository
        .releases
        .values()
        .find(|release| !release.draft && release.tag_name == tag)
}

fn shown(
    call: &ApiCall,
    repository: &StoredRepository,
    release: Option<&Arc<StoredRelease>>,
) -> ApiReply {
    match release {
        Some(release) => ApiReply::json(
            200,
            &BodyBuilder::new(call.settings, repository, call.now_ms).release(release),
        ),
        None => errors::not_found(),
    }
}
