//! Uploads: checked before the body, hashed while it comes, judged after it.

use std::sync::Arc;

use super::assets;
use super::errors::{self, custom, fault as code};
use super::fault::Fault;
use super::github::{Call, Github, lag};
use super::ledger::Reached;
use super::rename;
use super::request::{Received, Reply, Request};
use super::route::Operation;
use super::shapes::Shaper;
use super::state::{Asset, Repository};

/// An upload whose body is still to come. Its asset is there as `starter`: "When an upstream
/// failure occurs, you will receive a `502 Bad Gateway` status. This may leave an empty asset with
/// a state of `starter`. It can be safely deleted." (REST API, "Upload a release asset").
#[derive(Debug)]
pub struct Upload {
    /// Where the connection is to be cut, in bytes of the body.
    pub stop_at: Option<u64>,
    /// Where reading is to wait, in bytes of the body.
    pub hold_at: Option<u64>,
    /// How fast the body is to be read.
    pub bytes_per_s: Option<u64>,
    /// What `Content-Length` said.
    pub announced_bytes: u64,
    /// The number of the request.
    pub number: u64,
    repository: u64,
    asset: u64,
    fault: Option<Fault>,
    request: Request,
}

impl Call<'_> {
    /// Checks an upload before its first byte, and makes its asset.
    pub(super) fn begin_upload(
        &mut self,
        repository: &mut Repository,
        fault: Option<Fault>,
        number: u64,
    ) -> Result<Upload, Reply> {
        let length = self.request.get("content-length").unwrap_or_default();
        let (Some(size_bytes), None) =
            (self.request.length(), self.request.get("transfer-encoding"))
        else {
            // skx/github-action-publish-binaries issue 19, PyGithub/PyGithub pull request 525:
            // `Bad Content-Length: `, with what the header said; denoland/deno issue 24197: for a
            // body in chunks.
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
        let Some(asked) = self.address.asked("name").filter(|name| !name.is_empty()) else {
            return Err(errors::upload_refusal(400, "Invalid name for request"));
        };
        let invalid =
            |field: &str, text: &str| errors::invalid(&[custom("ReleaseAsset", Some(field), text)]);
        if size_bytes == 0 {
            return Err(invalid("size", "size must be greater than or equal to 1"));
        }
        if size_bytes >= self.settings.asset_bytes {
            return Err(invalid(
                "size",
                &format!("size must be less than {}", self.settings.asset_bytes),
            ));
        }
        if asked.len() > 255 {
            return Err(invalid(
                "name",
                "name is too long (maximum is 255 characters)",
            ));
        }
        let mut name = rename::stored_name(&asked);
        if fault == Some(Fault::WrongName) {
            name = other_name(&name);
        }
        if assets::is_taken(release, &name, None) {
            self.ledger.reach(Reached::NameTaken);
            return Err(errors::invalid(&[code(
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
        let asset = Asset {
            id: self.id(),
            name,
            label: self
                .address
                .asked("label")
                .filter(|label| !label.is_empty()),
            content_type: self
                .request
                .get("content-type")
                .unwrap_or("application/octet-stream")
                .to_owned(),
            size_bytes,
            created_ms: self.now_ms,
            updated_ms: self.now_ms,
            hides_digest: fault == Some(Fault::NoDigest),
            ..Asset::default()
        };
        let id = asset.id;
        Arc::make_mut(release).assets.push(Arc::new(asset));
        self.ledger.reach(Reached::UploadBegun);
        Ok(Upload {
            stop_at: match fault {
                Some(Fault::Cut(at) | Fault::Lost(at)) => Some(at.min(size_bytes)),
                _ => None,
            },
            hold_at: match fault {
                Some(Fault::HoldUpload(at)) => Some(at.min(size_bytes)),
                _ => None,
            },
            bytes_per_s: match fault {
                Some(Fault::SlowRead(rate)) => Some(rate.max(1)),
                _ => None,
            },
            announced_bytes: size_bytes,
            number,
            repository: repository.id,
            asset: id,
            fault,
            request: Request {
                body: Vec::new(),
                ..self.request.clone()
            },
        })
    }
}

impl Github {
    /// Ends an upload with what came of its body.
    pub fn finish(&mut self, upload: &Upload, received: &Received, now_ms: u64) -> Reply {
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
        let lag_ms = lag(&self.settings);
        let Some(repository) = self.repositories.get_mut(&upload.repository) else {
            return Reply::cut();
        };
        repository.remember(clock_ms, lag_ms);
        let is_whole = upload.stop_at.is_none() && received.size_bytes == upload.announced_bytes;
        let reply = if !is_whole {
            if matches!(upload.fault, Some(Fault::Lost(_))) {
                assets::remove(repository, upload.asset);
            }
            self.ledger.reach(Reached::UploadCut);
            Reply::cut()
        } else if let Some(Fault::Status(status)) = upload.fault {
            self.ledger.reach(Reached::UploadCut);
            errors::server_fault(status)
        } else if repository.asset(upload.asset).is_none() {
            errors::not_found()
        } else {
            let is_short = upload.fault == Some(Fault::Short);
            let is_wrong = is_short || upload.fault == Some(Fault::WrongDigest);
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
            self.ledger.reach(Reached::Uploaded);
            let reply = match repository.asset(upload.asset) {
                Some((release, asset)) => Reply::json(
                    201,
                    &Shaper::new(&self.settings, repository, clock_ms).asset(release, asset),
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
            Operation::Upload,
            upload.fault,
            upload.number,
            now_ms,
        )
    }
}

/// Makes an asset another than its upload was answered with.
fn contradict(asset: &mut Asset, fault: Option<Fault>) {
    match fault {
        Some(Fault::LaterDigest) => (asset.sha256, asset.content) = (Some("0".repeat(64)), None),
        Some(Fault::LaterSize) => (asset.size_bytes, asset.content) = (1, None),
        Some(Fault::LaterStarter) => asset.is_uploaded = false,
        Some(Fault::LaterName) => asset.name = other_name(&asset.name),
        _ => {}
    }
}

/// A name that is not the one that was asked for.
fn other_name(name: &str) -> String {
    if name.contains('+') {
        name.replace('+', ".")
    } else {
        format!("{name}.1")
    }
}
