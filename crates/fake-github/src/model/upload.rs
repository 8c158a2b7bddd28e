//! Uploads: checked before the body, hashed while it arrives, completed after it.

use std::sync::Arc;

use super::asset_name;
use super::assets;
use super::errors::{self, custom_error, validation_error};
use super::fault::InjectedFault;
use super::github::{ApiCall, FakeGithub, max_list_age_ms};
use super::ledger::ReachedState;
use super::request::{ApiReply, ApiRequest, ReceivedBody};
use super::response_bodies::BodyBuilder;
use super::route::ApiOperation;
use super::state::{StoredAsset, StoredRepository};

/// An upload before its body. Its asset already exists as a `starter`: "When an upstream failure
/// occurs, you will receive a `502 Bad Gateway` status. This may leave an empty asset with a state
/// of `starter`. It can be safely deleted." (REST API, "Upload a release asset").
#[derive(Debug)]
pub struct PendingUpload {
    /// Where to cut the connection, in bytes of the body.
    pub stop_at: Option<u64>,
    /// Where to wait, in bytes of the body.
    pub hold_at: Option<u64>,
    /// The speed at which to read the body.
    pub bytes_per_s: Option<u64>,
    /// The value of `Content-Length`.
    pub announced_bytes: u64,
    /// The number of the request.
    pub number: u64,
    repository: u64,
    asset: u64,
    fault: Option<InjectedFault>,
    request: ApiRequest,
}

impl ApiCall<'_> {
    /// Checks an upload before its first byte, and creates its asset.
    pub(super) fn begin_upload(
        &mut self,
        repository: &mut StoredRepository,
        fault: Option<InjectedFault>,
        number: u64,
    ) -> Result<PendingUpload, ApiReply> {
        let length = self.request.get("content-length").unwrap_or_default();
        let (Some(size_bytes), None) =
            (self.request.length(), self.request.get("transfer-encoding"))
        else {
            // skx/github-action-publish-binaries issue 19, PyGithub/PyGithub pull request 525: `Bad
            // Content-Length: ` with the value of the header; denoland/deno issue 24197: for a
            // chunked body.
            return Err(errors::upload_refusal(
                400,
                &format!("Bad Content-Length: {length}"),
            ));
        };
        let Some(release) = repository.releases.get_mut(&self.route.id) else {
            return Err(errors::not_found());
        };
        if release.immutable {
            return Err(errors::upload_refusal(
                422,
                "Cannot upload assets to an immutable release.",
            ));
        }
        let Some(requested) = self
            .address
            .query_value("name")
            .filter(|name| !name.is_empty())
        else {
            return Err(errors::upload_refusal(400, "Invalid name for request"));
        };
        let invalid = |field: &str, text: &str| {
            errors::invalid(&[custom_error("ReleaseAsset", Some(field), text)])
        };
        if size_bytes == 0 {
            return Err(invalid("size", "size must be greater than or equal to 1"));
        }
        if size_bytes >= self.settings.asset_bytes {
            return Err(invalid(
                "size",
                &format!("size must be less than {}", self.settings.asset_bytes),
            ));
        }
        if requested.len() > 255 {
            return Err(invalid(
                "name",
                "name is too long (maximum is 255 characters)",
            ));
        }
        let mut name = asset_name::stored_name(&requested);
        if fault == Some(InjectedFault::WrongName) {
            name = other_name(&name);
        }
        if assets::is_taken(release, &name, None) {
            self.ledger.reach(ReachedState::NameTaken);
            return Err(errors::invalid(&[validation_error(
                "ReleaseAsset",
                "already_exists",
                "name",
            )]));
        }
        let most = self.settings.assets_per_release;
        if release.assets.len() >= most {
            return Err(invalid(
                "file_count",
                &format!("file_count limited to {most} assets per release"),
            ));
        }
        let asset = StoredAsset {
            id: self.next_id(),
            name,
            label: self
                .address
                .query_value("label")
                .filter(|label| !label.is_empty()),
            content_type: self
                .request
                .get("content-type")
                .unwrap_or("application/octet-stream")
                .to_owned(),
            size_bytes,
            created_ms: self.now_ms,
            updated_ms: self.now_ms,
            hides_digest: fault == Some(InjectedFault::NoDigest),
            ..StoredAsset::default()
        };
        let id = asset.id;
        Arc::make_mut(release).assets.push(Arc::new(asset));
        self.ledger.reach(ReachedState::UploadBegun);
        Ok(PendingUpload {
            stop_at: match fault {
                Some(InjectedFault::Cut(at) | InjectedFault::Lost(at)) => Some(at.min(size_bytes)),
                _ => None,
            },
            hold_at: match fault {
                Some(InjectedFault::HoldUpload(at)) => Some(at.min(size_bytes)),
                _ => None,
            },
            bytes_per_s: match fault {
                Some(InjectedFault::SlowRead(rate)) => Some(rate.max(1)),
                _ => None,
            },
            announced_bytes: size_bytes,
            number,
            repository: repository.id,
            asset: id,
            fault,
            request: ApiRequest {
                body: Vec::new(),
                ..self.request.clone()
            },
        })
    }
}

impl FakeGithub {
    /// Completes an upload with the received body.
    pub fn finish(
        &mut self,
        upload: &PendingUpload,
        received: &ReceivedBody,
        now_ms: u64,
    ) -> ApiReply {
        let clock_ms = self.settings.clock(now_ms);
        if let Some(logged) = self
            .ledger
            .requests
            .iter_mut()
            .rev()
            .find(|logged| logged.number == upload.number)
        {
            logged.size_bytes = received.size_bytes;
        }
        let lag_ms = max_list_age_ms(&self.settings);
        let Some(repository) = self.repositories.get_mut(&upload.repository) else {
            return ApiReply::cut();
        };
        repository.push_snapshot(clock_ms, lag_ms);
        let is_whole = upload.stop_at.is_none() && received.size_bytes == upload.announced_bytes;
        let reply = if !is_whole {
            if matches!(upload.fault, Some(InjectedFault::Lost(_))) {
                assets::remove(repository, upload.asset);
            }
            self.ledger.reach(ReachedState::UploadCut);
            ApiReply::cut()
        } else if let Some(InjectedFault::Status(status)) = upload.fault {
            self.ledger.reach(ReachedState::UploadCut);
            errors::server_error(status)
        } else if repository.asset(upload.asset).is_none() {
            errors::not_found()
        } else {
            let is_short = upload.fault == Some(InjectedFault::Short);
            let is_wrong = is_short || upload.fault == Some(InjectedFault::WrongDigest);
            assets::change(repository, upload.asset, |asset| {
                asset.is_uploaded = true;
                asset.size_bytes -= u64::from(is_short);
                asset.sha256 = Some(if is_wrong {
                    "0".repeat(64)
                } else {
                    received.sha256.clone()
                });
                asset.content = received.content.clone().filter(|_| !is_wrong);
                asset.updated_ms = clock_ms;
            });
            self.ledger.reach(ReachedState::Uploaded);
            let reply = match repository.asset(upload.asset) {
                Some((release, asset)) => ApiReply::json(
                    201,
                    &BodyBuilder::new(&self.settings, repository, clock_ms).asset(release, asset),
                ),
                None => errors::not_found(),
            };
            assets::change(repository, upload.asset, |asset| {
                contradict(asset, upload.fault);
            });
            reply
        };
        self.send(
            reply,
            &upload.request,
            ApiOperation::Upload,
            upload.fault,
            upload.number,
            now_ms,
        )
    }
}

/// Makes an asset contradict the reply to its upload.
fn contradict(asset: &mut StoredAsset, fault: Option<InjectedFault>) {
    match fault {
        Some(InjectedFault::LaterDigest) => {
            (asset.sha256, asset.content) = (Some("0".repeat(64)), None);
        }
        Some(InjectedFault::LaterSize) => (asset.size_bytes, asset.content) = (1, None),
        Some(InjectedFault::LaterStarter) => asset.is_uploaded = false,
        Some(InjectedFault::LaterName) => asset.name = other_name(&asset.name),
        _ => {}
    }
}

/// Returns another name than the requested one.
fn other_name(name: &str) -> String {
    if name.contains('+') {
        name.replace('+', ".")
    } else {
        format!("{name}.1")
    }
}
