//! Releases: made, listed, edited, published, deleted.

use std::sync::Arc;

use serde_json::Value;

use super::errors::{self, custom, fault};
use super::fields::Fields;
use super::github::Call;
use super::ledger::Reached;
use super::paging;
use super::request::Reply;
use super::shapes::Shaper;
use super::state::{Release, Repository};

/// The longest text of a release, in characters; the refusal names it (softprops/action-gh-release
/// issue 374).
const BODY_CHARACTERS: usize = 125_000;

/// The releases, the newest first; drafts only for those who may write.
pub fn list(call: &Call, repository: &Repository) -> Reply {
    let seen = repository
        .at(call.list_ms)
        .values()
        .filter(|release| call.may_write || !release.draft);
    let mut releases: Vec<&Arc<Release>> = seen.collect();
    releases.sort_by_key(|release| std::cmp::Reverse((release.created_ms, release.id)));
    let url = format!(
        "{}/repositories/{}/releases",
        call.settings.api_base, repository.id
    );
    let (part, link) = paging::page(releases, call.address, &url);
    let shaper = Shaper::new(call.settings, repository, call.now_ms);
    let most = call.settings.listed_assets;
    let body: Vec<_> = part
        .into_iter()
        .map(|release| shaper.listed(release, most))
        .collect();
    let mut reply = Reply::json(200, &body);
    if let Some(link) = link {
        reply.set("link", &link);
    }
    reply
}

/// One release by its number.
pub fn get(call: &Call, repository: &Repository) -> Reply {
    shown(
        call,
        repository,
        repository
            .releases
            .get(&call.route.id)
            .filter(|release| call.may_write || !release.draft),
    )
}

/// The published release of a tag; drafts are not found.
pub fn by_tag(call: &Call, repository: &Repository) -> Reply {
    shown(call, repository, published(repository, &call.route.text))
}

/// The release that is shown first.
pub fn latest(call: &Call, repository: &Repository) -> Reply {
    let full = || {
        repository
            .releases
            .values()
            .filter(|release| !release.draft && !release.prerelease)
    };
    let said = |release: &&Arc<Release>, word: &str| release.make_latest.as_deref() == Some(word);
    let chosen = full()
        .filter(|release| said(release, "true"))
        .max_by_key(|release| release.updated_ms);
    let newest = full()
        .filter(|release| !said(release, "false"))
        .max_by_key(|release| release.published_ms);
    shown(call, repository, chosen.or(newest))
}

/// Makes a release, as a draft or published at once.
pub fn create(call: &mut Call, repository: &mut Repository) -> Reply {
    let release = match new_release(call) {
        Ok(release) => release,
        Err(refused) => return refused,
    };
    let mut faults = faults_of(&release);
    if !release.draft {
        faults.extend(faults_of_publishing(repository, &release));
    }
    if !faults.is_empty() {
        return errors::invalid(&faults);
    }
    call.ledger.reach(if release.draft {
        Reached::DraftMade
    } else {
        Reached::PublishedAtOnce
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

fn new_release(call: &mut Call) -> Result<Release, Reply> {
    let fields = Fields::of(call.request)?;
    let Some(tag_name) = fields.text("tag_name")? else {
        return Err(errors::refusal(
            422,
            "Invalid request.\n\n\"tag_name\" wasn't supplied.",
        ));
    };
    Ok(Release {
        id: call.id(),
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
        ..Release::default()
    })
}

/// Changes a release; publishing is such a change.
pub fn edit(call: &mut Call, repository: &mut Repository) -> Reply {
    let Some(old) = repository.releases.get(&call.route.id).cloned() else {
        return errors::not_found();
    };
    let changed = match changed(call, &old) {
        Ok(changed) => changed,
        Err(refused) => return refused,
    };
    let mut faults = faults_of(&changed);
    let is_locked = changed.tag_name != old.tag_name || changed.draft;
    if old.immutable && is_locked {
        let field = if changed.draft { "draft" } else { "tag_name" };
        faults.push(custom(
            "Release",
            Some(field),
            &format!("{field} cannot be changed on an immutable release"),
        ));
    }
    if !changed.draft && (old.draft || changed.tag_name != old.tag_name) {
        faults.extend(faults_of_publishing(repository, &changed));
    }
    if !faults.is_empty() {
        return errors::invalid(&faults);
    }
    if (&changed.name, &changed.body) != (&old.name, &old.body) {
        call.ledger.reach(Reached::TextEdited);
    }
    let id = old.id;
    let (is_published, is_hidden) = (old.draft && !changed.draft, !old.draft && changed.draft);
    repository.releases.insert(id, Arc::new(changed));
    if is_published {
        call.ledger.reach(Reached::Published);
        publish(call, repository, id);
    } else if is_hidden {
        call.ledger.reach(Reached::Unpublished);
    }
    shown(call, repository, repository.releases.get(&id))
}

fn changed(call: &Call, old: &Release) -> Result<Release, Reply> {
    let fields = Fields::of(call.request)?;
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

/// Deletes a release with its assets; its tag stays, and stays locked where the release was
/// immutable.
pub fn delete(call: &mut Call, repository: &mut Repository) -> Reply {
    match repository.releases.remove(&call.route.id) {
        Some(_) => {
            call.ledger.reach(Reached::ReleaseDeleted);
            Reply::empty(204)
        }
        None => errors::not_found(),
    }
}

/// Whether git takes a name for a tag (git-check-ref-format).
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

/// What a release may not say, published or not.
fn faults_of(release: &Release) -> Vec<Value> {
    let mut faults = Vec::new();
    if release.tag_name.is_empty() && !release.draft {
        faults.push(fault("Release", "missing_field", "tag_name"));
    }
    // Both are said of such a name (cli/cli issue 1698).
    if !release.tag_name.is_empty() && !is_tag(&release.tag_name) {
        faults.push(custom(
            "Release",
            Some("tag_name"),
            "tag_name is not a valid tag",
        ));
        faults.push(custom(
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
        faults.push(custom("Release", Some("body"), &text));
    }
    if release.make_latest.as_deref() == Some("true") && (release.draft || release.prerelease) {
        faults.push(custom(
            "Release",
            Some("make_latest"),
            "Latest release cannot be draft or prerelease",
        ));
    }
    faults
}

/// What keeps a release from being published: each tag has one, once, and must be there or be made.
fn faults_of_publishing(repository: &Repository, release: &Release) -> Vec<Value> {
    let no_tag = custom("Release", None, "Published releases must have a valid tag");
    if published(repository, &release.tag_name).is_some_and(|other| other.id != release.id) {
        return vec![fault("Release", "already_exists", "tag_name")];
    }
    if repository.burned_tags.contains(&release.tag_name) {
        return vec![
            custom(
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
        return vec![fault("Release", "invalid", "target_commitish")];
    }
    if repository
        .tag_ruleset
        .as_ref()
        .is_some_and(|ruleset| ruleset.refuses(&release.tag_name))
    {
        let rules = "pre_receive Repository rule violations found\n\nCannot create ref due to creations being \
                     restricted.\n\n";
        return vec![custom("Release", Some("pre_receive"), rules), no_tag];
    }
    Vec::new()
}

/// Makes the tag, sets the day, and locks the release where the repository locks them.
fn publish(call: &Call, repository: &mut Repository, id: u64) {
    let Some(release) = repository.releases.get(&id) else {
        return;
    };
    let (tag, commit) = (
        release.tag_name.clone(),
        repository
            .commit(&release.target_commitish)
            .map(str::to_owned),
    );
    let is_locked = repository.has_immutable_releases;
    if let Some(commit) = commit {
        repository.tags.entry(tag.clone()).or_insert(commit);
    }
    if is_locked {
        repository.burned_tags.insert(tag);
    }
    if let Some(release) = repository.releases.get_mut(&id) {
        let release = Arc::make_mut(release);
        release.published_ms = release.published_ms.or(Some(call.now_ms));
        release.immutable = is_locked;
    }
}

fn published<'a>(repository: &'a Repository, tag: &str) -> Option<&'a Arc<Release>> {
    repository
        .releases
        .values()
        .find(|release| !release.draft && release.tag_name == tag)
}

fn shown(call: &Call, repository: &Repository, release: Option<&Arc<Release>>) -> Reply {
    match release {
        Some(release) => Reply::json(
            200,
            &Shaper::new(call.settings, repository, call.now_ms).release(release),
        ),
        None => errors::not_found(),
    }
}
