//! Requests that list, get, edit and delete assets.

use std::sync::Arc;

use super::errors::{self, custom_error, validation_error};
use super::github::ApiCall;
use super::json_fields::JsonFields;
use super::ledger::ReachedState;
use super::request::ApiReply;
use super::response_bodies::BodyBuilder;
use super::state::{StoredAsset, StoredRelease, StoredRepository};
use super::{asset_name, downloads, paging};

/// Lists the assets of a release, the oldest first.
pub fn list(call: &ApiCall, repository: &StoredRepository) -> ApiReply {
    let id = call.route.id;
    let is_seen = |release: &&Arc<StoredRelease>| call.may_write || !release.draft;
    let Some(real) = repository.releases.get(&id).filter(is_seen) else {
        return errors::not_found();
    };
    // A release that is not yet in the lagging list has no assets there.
    let seen = repository.releases_at(call.list_ms).get(&id);
    let assets: Vec<&Arc<StoredAsset>> = seen
        .map(|release| release.assets.iter().collect())
        .unwrap_or_default();
    let url = format!(
        "{}/repositories/{}/releases/{id}/assets",
        call.settings.api_base, repository.id
    );
    let (part, link) = paging::page(assets, call.address, &url);
    let shaper = BodyBuilder::new(call.settings, repository, call.now_ms);
    let mut reply = ApiReply::json(200, &shaper.assets(real, part));
    if let Some(link) = link {
        reply.set("link", &link);
    }
    reply
}

/// Returns an asset, or redirects to its bytes.
pub fn get(call: &ApiCall, repository: &mut StoredRepository) -> ApiReply {
    let found = repository
        .asset(call.route.id)
        .filter(|(release, _)| call.may_write || !release.draft);
    let Some((release, asset)) = found else {
        return errors::not_found();
    };
    if call
        .request
        .get("accept")
        .is_some_and(|accept| accept.contains("application/octet-stream"))
    {
        if !asset.is_uploaded {
            return errors::not_found();
        }
        let id = asset.id;
        change(repository, id, |asset| asset.downloads += 1);
        return downloads::redirect(call, id);
    }
    ApiReply::json(
        200,
        &BodyBuilder::new(call.settings, repository, call.now_ms).asset(release, asset),
    )
}

/// Changes the name or label of an asset.
pub fn edit(call: &mut ApiCall, repository: &mut StoredRepository) -> ApiReply {
    let Some((release, old)) = repository.asset(call.route.id) else {
        return errors::not_found();
    };
    let read = || -> Result<_, ApiReply> {
        let fields = JsonFields::parse(call.request)?;
        Ok((fields.text("name")?, fields.text("label")?))
    };
    let (name, label) = match read() {
        Ok(read) => read,
        Err(refused) => return refused,
    };
    if release.immutable {
        return errors::invalid(&[custom_error(
            "ReleaseAsset",
            None,
            "Cannot update asset from an immutable release",
        )]);
    }
    let name = name.map_or_else(
        || old.name.clone(),
        |requested| asset_name::stored_name(&requested),
    );
    if is_taken(release, &name, Some(old.id)) {
        call.ledger.reach(ReachedState::NameTaken);
        return errors::invalid(&[validation_error("ReleaseAsset", "already_exists", "name")]);
    }
    if name != old.name {
        call.ledger.reach(ReachedState::AssetRenamed);
    }
    let id = old.id;
    change(repository, id, |asset| {
        asset.name = name;
        asset.label = label.or(asset.label.take());
        asset.updated_ms = call.now_ms;
    });
    match repository.asset(id) {
        Some((release, asset)) => ApiReply::json(
            200,
            &BodyBuilder::new(call.settings, repository, call.now_ms).asset(release, asset),
        ),
        None => errors::not_found(),
    }
}

/// Deletes an asset, complete or not.
pub fn delete(call: &mut ApiCall, repository: &mut StoredRepository) -> ApiReply {
    let Some((release, asset)) = repository.asset(call.route.id) else {
        return errors::not_found();
    };
    if release.immutable {
        return errors::invalid(&[custom_error(
            "ReleaseAsset",
            None,
            "Cannot delete asset from an immutable release",
        )]);
    }
    call.ledger.reach(if asset.is_uploaded {
        ReachedState::AssetDeleted
    } else {
        ReachedState::StarterDeleted
    });
    let id = asset.id;
    remove(repository, id);
    ApiReply::empty(204)
}

/// Returns whether another asset has this name, ignoring case, as on the file systems of users.
pub fn is_taken(release: &StoredRelease, name: &str, but: Option<u64>) -> bool {
    release
        .assets
        .iter()
        .any(|asset| Some(asset.id) != but && asset.name.eq_ignore_ascii_case(name))
}

/// Changes an asset if it still exists.
pub fn change(repository: &mut StoredRepository, id: u64, change: impl FnOnce(&mut StoredAsset)) {
    let of = repository.asset(id).map(|(release, _)| release.id);
    let release = of.and_then(|of| repository.releases.get_mut(&of));
    if let Some(asset) = release.and_then(|release| {
        Arc::make_mut(release)
            .assets
            .iter_mut()
            .find(|one| one.id == id)
    }) {
        change(Arc::make_mut(asset));
    }
}

/// Removes an asset if it still exists.
pub fn remove(repository: &mut StoredRepository, id: u64) {
    let of = repository.asset(id).map(|(release, _)| release.id);
    if let Some(release) = of.and_then(|of| repository.releases.get_mut(&of)) {
        Arc::make_mut(release).assets.retain(|asset| asset.id != id);
    }
}
