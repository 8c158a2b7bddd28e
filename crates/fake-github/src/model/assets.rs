//! Assets: listed, fetched, renamed, deleted.

use std::sync::Arc;

use super::errors::{self, custom, fault};
use super::fields::Fields;
use super::github::Call;
use super::ledger::Reached;
use super::request::Reply;
use super::shapes::Shaper;
use super::state::{Asset, Release, Repository};
use super::{downloads, paging, rename};

/// The assets of a release, the oldest first.
pub fn list(call: &Call, repository: &Repository) -> Reply {
    let id = call.route.id;
    let is_seen = |release: &&Arc<Release>| call.may_write || !release.draft;
    let Some(real) = repository.releases.get(&id).filter(is_seen) else {
        return errors::not_found();
    };
    // A release that the lagging list does not know yet has no assets there.
    let seen = repository.at(call.list_ms).get(&id);
    let assets: Vec<&Arc<Asset>> = seen
        .map(|release| release.assets.iter().collect())
        .unwrap_or_default();
    let url = format!(
        "{}/repositories/{}/releases/{id}/assets",
        call.settings.api_base, repository.id
    );
    let (part, link) = paging::page(assets, call.address, &url);
    let shaper = Shaper::new(call.settings, repository, call.now_ms);
    let body: Vec<_> = part
        .into_iter()
        .map(|asset| shaper.asset(real, asset))
        .collect();
    let mut reply = Reply::json(200, &body);
    if let Some(link) = link {
        reply.set("link", &link);
    }
    reply
}

/// One asset, or where its bytes are.
pub fn get(call: &Call, repository: &mut Repository) -> Reply {
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
    Reply::json(
        200,
        &Shaper::new(call.settings, repository, call.now_ms).asset(release, asset),
    )
}

/// Changes name or label.
pub fn edit(call: &mut Call, repository: &mut Repository) -> Reply {
    let Some((release, old)) = repository.asset(call.route.id) else {
        return errors::not_found();
    };
    let read = || -> Result<_, Reply> {
        let fields = Fields::of(call.request)?;
        Ok((fields.text("name")?, fields.text("label")?))
    };
    let (name, label) = match read() {
        Ok(read) => read,
        Err(refused) => return refused,
    };
    if release.immutable {
        return errors::invalid(&[custom(
            "ReleaseAsset",
            None,
            "Cannot update asset from an immutable release",
        )]);
    }
    let name = name.map_or_else(|| old.name.clone(), |asked| rename::stored_name(&asked));
    if is_taken(release, &name, Some(old.id)) {
        call.ledger.reach(Reached::NameTaken);
        return errors::invalid(&[fault("ReleaseAsset", "already_exists", "name")]);
    }
    if name != old.name {
        call.ledger.reach(Reached::AssetRenamed);
    }
    let id = old.id;
    change(repository, id, |asset| {
        asset.name = name;
        asset.label = label.or(asset.label.take());
        asset.updated_ms = call.now_ms;
    });
    match repository.asset(id) {
        Some((release, asset)) => Reply::json(
            200,
            &Shaper::new(call.settings, repository, call.now_ms).asset(release, asset),
        ),
        None => errors::not_found(),
    }
}

/// Deletes an asset, whole or not.
pub fn delete(call: &mut Call, repository: &mut Repository) -> Reply {
    let Some((release, asset)) = repository.asset(call.route.id) else {
        return errors::not_found();
    };
    if release.immutable {
        return errors::invalid(&[custom(
            "ReleaseAsset",
            None,
            "Cannot delete asset from an immutable release",
        )]);
    }
    call.ledger.reach(if asset.is_uploaded {
        Reached::AssetDeleted
    } else {
        Reached::StarterDeleted
    });
    let id = asset.id;
    remove(repository, id);
    Reply::empty(204)
}

/// Whether another asset has a name; names that differ in case alone are one name, as on the file
/// systems of users.
pub fn is_taken(release: &Release, name: &str, but: Option<u64>) -> bool {
    release
        .assets
        .iter()
        .any(|asset| Some(asset.id) != but && asset.name.eq_ignore_ascii_case(name))
}

/// Changes an asset, where it is still there.
pub fn change(repository: &mut Repository, id: u64, change: impl FnOnce(&mut Asset)) {
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

/// Removes an asset, where it is still there.
pub fn remove(repository: &mut Repository, id: u64) {
    let of = repository.asset(id).map(|(release, _)| release.id);
    if let Some(release) = of.and_then(|of| repository.releases.get_mut(&of)) {
        Arc::make_mut(release).assets.retain(|asset| asset.id != id);
    }
}
