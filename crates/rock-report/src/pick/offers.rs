//! Published wheels with their URLs.

use std::collections::BTreeMap;

use rock_names::{Digest, RepoName, WheelName, has_wheel_extension, percent_encode, web_address};
use rock_publish::{
    ManifestFile, PublishedYanks, RebuiltFile, ReleaseListing, ReleaseManifest, ReleasedBytes,
    newest_first,
};

/// A published wheel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WheelOffer {
    /// The parsed filename.
    pub name: WheelName,
    /// The filename as published.
    pub file: String,
    /// The download URL; empty if unknown.
    pub url: String,
    /// The tag of its release; empty if there is none.
    pub release: String,
    /// The size, if known.
    pub size_bytes: Option<u64>,
    /// The SHA-256 digest, if known.
    pub digest: Option<Digest>,
    /// The manifest row, if there is one.
    pub row: Option<ManifestFile>,
    /// The reason why its release yanks it, empty if none was given; `None` if it is not yanked.
    pub yanked: Option<String>,
}

/// Published wheels by name. Files whose names cannot be parsed are left out;
/// [`ReleaseListing::unreadable`] lists them.
#[derive(Debug, Clone, Default)]
pub struct WheelOffers {
    wheels: BTreeMap<String, WheelOffer>,
    /// `OWNER/REPO`, if a listing names it.
    pub repository: Option<String>,
    /// Files of older releases that are skipped because a newer release has other bytes of the same
    /// name.
    pub rebuilt: Vec<RebuiltFile>,
}

impl WheelOffers {
    /// Adds the published wheels of a listing. If two releases contain a wheel of the same name,
    /// the newest release wins.
    pub fn add_listing(&mut self, listing: &ReleaseListing) {
        self.add_listing_with_yanks(listing, &PublishedYanks::default());
    }

    /// Adds the published wheels of a listing. If several releases contain a wheel of the same
    /// name, the newest release that does not yank it wins.
    pub(super) fn add_listing_with_yanks(
        &mut self,
        listing: &ReleaseListing,
        yanks: &PublishedYanks,
    ) {
        let named = listing
            .repository
            .clone()
            .filter(|name| name.parse::<RepoName>().is_ok());
        self.repository = self.repository.take().or(named);
        let mut published: Vec<_> = listing.published().collect();
        newest_first(&mut published, |(release, _)| release);
        for (release, asset) in published {
            let Some(name) = read(&asset.name) else {
                continue;
            };
            // A listing is untrusted: its URL may be an option of pip or a local file.
            let named = asset.browser_download_url.as_deref().and_then(web_address);
            let url = named.as_deref().map_or_else(
                || self.github_url(&release.tag_name, &asset.name),
                |url| encoded(url, &asset.name),
            );
            if self.repository.is_none() {
                self.repository = named.as_deref().and_then(repository_of);
            }
            let offer = WheelOffer {
                name,
                file: asset.name.clone(),
                url,
                release: release.tag_name.clone(),
                size_bytes: Some(asset.size).filter(|size| *size > 0),
                digest: asset.digest,
                row: None,
                yanked: yanks
                    .reason(None, release, &asset.name, asset.digest)
                    .map(str::to_owned),
            };
            self.add(offer);
        }
    }

    /// Adds the wheels of a manifest, whose URLs start with `base`, including its trailing slash.
    /// Data from a listing takes precedence; the manifest adds what is missing.
    pub fn add_manifest(&mut self, manifest: &ReleaseManifest, base: &str) {
        let wheels = manifest
            .files
            .iter()
            .filter(|file| has_wheel_extension(&file.name));
        for file in wheels {
            let Some(name) = read(&file.name) else {
                continue;
            };
            let offer = WheelOffer {
                name,
                file: file.name.clone(),
                url: format!("{base}{}", percent_encode(&file.name)),
                release: manifest.tag.clone().unwrap_or_default(),
                size_bytes: Some(file.size_bytes),
                digest: Some(file.sha256),
                row: Some(file.clone()),
                yanked: None,
            };
            self.add(offer);
        }
    }

    /// Adds the data of a manifest to the wheels that are already known.
    pub fn add_rows(&mut self, manifest: &ReleaseManifest) {
        for file in &manifest.files {
            if let Some(known) = self.wheels.get_mut(&file.name) {
                known.add_row(Some(file.clone()), Some(file.sha256), Some(file.size_bytes));
            }
        }
    }

    /// Adds wheels of which only the names are known; their URLs start with `base`.
    pub fn add_names<'a>(&mut self, names: impl IntoIterator<Item = &'a str>, base: &str) {
        for file in names {
            let Some(name) = read(file) else { continue };
            let url = format!("{base}{}", percent_encode(file));
            let file = file.to_owned();
            self.add(WheelOffer {
                name,
                file,
                url,
                release: String::new(),
                size_bytes: None,
                digest: None,
                row: None,
                yanked: None,
            });
        }
    }

    /// Adds the wheels of a release, of which `yanked` returns the reason for a yank.
    pub(super) fn add_release(
        &mut self,
        release: Self,
        yanked: &dyn Fn(&WheelOffer) -> Option<String>,
    ) {
        for offer in release.wheels.into_values() {
            let yanked = yanked(&offer);
            self.add(WheelOffer { yanked, ..offer });
        }
    }

    /// Removes the records of older files whose newer file is yanked: nobody is offered it.
    pub fn remove_rebuilt_of_yanked(&mut self) {
        let wheels = &self.wheels;
        self.rebuilt.retain(|file| {
            wheels
                .get(&file.name)
                .is_none_or(|offer| offer.yanked.is_none())
        });
    }

    /// Returns the wheels, sorted by filename.
    pub fn into_wheels(self) -> Vec<WheelOffer> {
        self.wheels.into_values().collect()
    }

    /// Returns the number of wheels.
    pub fn len(&self) -> usize {
        self.wheels.len()
    }

    /// Whether there are no wheels.
    pub fn is_empty(&self) -> bool {
        self.wheels.is_empty()
    }

    fn add(&mut self, offer: WheelOffer) {
        match self.wheels.get_mut(&offer.file) {
            None => drop(self.wheels.insert(offer.file.clone(), offer)),
            // A yanked wheel gives way to that of a release that does not yank it.
            Some(known) if known.yanked.is_some() && offer.yanked.is_none() => {
                // Only the yanked bytes had other bytes of an older release.
                self.rebuilt.retain(|file| file.name != offer.file);
                let yanked = std::mem::replace(known, offer);
                known.add_row(yanked.row, yanked.digest, yanked.size_bytes);
            }
            Some(known) => {
                if !known.is_same(offer.digest, offer.size_bytes) && known.release != offer.release
                {
                    let (offered, older) = (known.held(), offer.held());
                    self.rebuilt.push(RebuiltFile {
                        name: offer.file,
                        offered,
                        older,
                    });
                } else {
                    known.add_row(offer.row, offer.digest, offer.size_bytes);
                }
            }
        }
    }

    fn github_url(&self, tag: &str, file: &str) -> String {
        let Some(repository) = self.repository.as_ref().filter(|_| !tag.is_empty()) else {
            return String::new();
        };
        let encoded = [tag, file].map(percent_encode).join("/");
        format!("https://github.com/{repository}/releases/download/{encoded}")
    }
}

impl WheelOffer {
    /// Whether the bytes are the same, as far as digests and sizes are known.
    fn is_same(&self, digest: Option<Digest>, size_bytes: Option<u64>) -> bool {
        let same_digest = self.digest.is_none() || digest.is_none() || self.digest == digest;
        same_digest
            && (self.size_bytes.is_none() || size_bytes.is_none() || self.size_bytes == size_bytes)
    }

    fn held(&self) -> ReleasedBytes {
        ReleasedBytes {
            tag: self.release.clone(),
            digest: self.digest,
            size_bytes: self.size_bytes.unwrap_or(0),
        }
    }

    /// Adds data that is not known yet. A row for other bytes of the same name is ignored.
    fn add_row(
        &mut self,
        row: Option<ManifestFile>,
        digest: Option<Digest>,
        size_bytes: Option<u64>,
    ) {
        if self.row.is_none() && self.is_same(digest, size_bytes) {
            self.row = row;
            self.digest = self.digest.or(digest);
            self.size_bytes = self.size_bytes.or(size_bytes);
        }
    }
}

/// Returns a sentence about where an installer gets the requirements of a wheel from; `has_torch`
/// is for wheels that need torch.
pub fn torch_sentence(has_torch: bool) -> &'static str {
    if has_torch {
        "The installer keeps an installed torch, and takes the other requirements from its usual \
         index."
    } else {
        "The installer takes the requirements from its usual index."
    }
}

fn read(file: &str) -> Option<WheelName> {
    if has_wheel_extension(file) {
        WheelName::from_percent_encoded(file).ok()
    } else {
        None
    }
}

/// Returns the URL with the filename encoded in the form that all clients read alike: `+` as `%2B`.
fn encoded(url: &str, file: &str) -> String {
    match url.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{}", percent_encode(file)),
        None => url.to_owned(),
    }
}

/// Returns `OWNER/REPO` of a GitHub download URL.
fn repository_of(url: &str) -> Option<String> {
    let mut parts = url.strip_prefix("https://github.com/")?.split('/');
    let name = format!("{}/{}", parts.next()?, parts.next()?);
    name.parse::<RepoName>().is_ok().then_some(name)
}
