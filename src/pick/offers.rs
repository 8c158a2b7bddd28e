//! What is published, with addresses to fetch it from.

use std::collections::BTreeMap;

use crate::names::{Digest, WheelName, percent_encode};
use crate::publish::{Listing, Manifest, ManifestFile};

/// A published wheel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Its name.
    pub name: WheelName,
    /// The file's name, as published.
    pub file: String,
    /// Where it is fetched from; empty where nothing says so.
    pub url: String,
    /// The tag of its release; empty where there is none.
    pub release: String,
    /// Its size, where it is told.
    pub size_bytes: Option<u64>,
    /// SHA-256 of it, where it is told.
    pub digest: Option<Digest>,
    /// Its row of a manifest, where there is one.
    pub row: Option<ManifestFile>,
}

/// Published wheels by name, and names that no wheel has.
#[derive(Debug, Clone, Default)]
pub struct Offers {
    wheels: BTreeMap<String, Offer>,
    /// Names that end in `.whl` and cannot be read, with the reason, sorted.
    pub unreadable: BTreeMap<String, String>,
    /// `OWNER/REPO`, where a listing says so.
    pub repository: Option<String>,
}

impl Offers {
    /// Adds the published wheels of a listing. Where two releases have a wheel of one name, the first listed stays.
    pub fn add_listing(&mut self, listing: &Listing) {
        self.repository = self.repository.take().or_else(|| listing.repository.clone());
        for (release, asset) in listing.published() {
            let Some(name) = self.read(&asset.name) else { continue };
            let named = asset.browser_download_url.as_deref().filter(|url| !url.is_empty());
            let url =
                named.map_or_else(|| self.github_url(&release.tag_name, &asset.name), |url| encoded(url, &asset.name));
            if self.repository.is_none() {
                self.repository = named.and_then(repository_of);
            }
            let offer = Offer {
                name,
                file: asset.name.clone(),
                url,
                release: release.tag_name.clone(),
                size_bytes: Some(asset.size).filter(|size| *size > 0),
                digest: asset.digest,
                row: None,
            };
            self.add(offer);
        }
    }

    /// Adds the wheels of a manifest, which lie below `base`, an address with a slash at its end. What a listing said of
    /// a wheel stays; the manifest adds what it knows beside.
    pub fn add_manifest(&mut self, manifest: &Manifest, base: &str) {
        let wheels = manifest.files.iter().filter(|file| has_ending(&file.name));
        for file in wheels {
            let Some(name) = self.read(&file.name) else { continue };
            let offer = Offer {
                name,
                file: file.name.clone(),
                url: format!("{base}{}", percent_encode(&file.name)),
                release: manifest.tag.clone().unwrap_or_default(),
                size_bytes: Some(file.size_bytes),
                digest: format!("sha256:{}", file.sha256).parse().ok(),
                row: Some(file.clone()),
            };
            self.add(offer);
        }
    }

    /// Adds wheels that lie below `base` and of which only the names are known.
    pub fn add_names<'a>(&mut self, names: impl IntoIterator<Item = &'a str>, base: &str) {
        for file in names {
            let Some(name) = self.read(file) else { continue };
            let url = format!("{base}{}", percent_encode(file));
            let file = file.to_owned();
            self.add(Offer { name, file, url, release: String::new(), size_bytes: None, digest: None, row: None });
        }
    }

    /// The wheels, sorted by name.
    pub fn into_wheels(self) -> Vec<Offer> {
        self.wheels.into_values().collect()
    }

    /// How many wheels there are.
    pub fn len(&self) -> usize {
        self.wheels.len()
    }

    /// Whether there is no wheel.
    pub fn is_empty(&self) -> bool {
        self.wheels.is_empty()
    }

    fn add(&mut self, offer: Offer) {
        match self.wheels.get_mut(&offer.file) {
            None => drop(self.wheels.insert(offer.file.clone(), offer)),
            // A row about other bytes of the same name says nothing about these.
            Some(known) => {
                let same = known.digest.is_none() || offer.digest.is_none() || known.digest == offer.digest;
                if known.row.is_none() && same {
                    known.row = offer.row;
                    known.digest = known.digest.or(offer.digest);
                    known.size_bytes = known.size_bytes.or(offer.size_bytes);
                }
            }
        }
    }

    fn read(&mut self, file: &str) -> Option<WheelName> {
        if !has_ending(file) {
            return None;
        }
        match file.parse::<WheelName>() {
            Ok(name) => Some(name),
            Err(error) => {
                self.unreadable.insert(file.to_owned(), error.reason);
                None
            }
        }
    }

    fn github_url(&self, tag: &str, file: &str) -> String {
        let Some(repository) = self.repository.as_ref().filter(|_| !tag.is_empty()) else { return String::new() };
        let encoded = [tag, file].map(percent_encode).join("/");
        format!("https://github.com/{repository}/releases/download/{encoded}")
    }
}

/// The line that installs a wheel.
pub fn install_line(url: &str) -> String {
    format!("pip install --no-deps {}", quoted(url))
}

/// Why the line has `--no-deps`.
pub fn no_deps_reason(has_torch: bool) -> &'static str {
    if has_torch {
        "With --no-deps, because an installer that resolves dependencies would take torch from its default index and \
         replace the one you have by a build without ROCm."
    } else {
        "With --no-deps, because an installer that resolves dependencies would take them from its default index, where \
         a torch comes without ROCm."
    }
}

/// A word of a POSIX shell. Addresses of published wheels need no quotes.
fn quoted(word: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~:/%+@=,".contains(&b);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn has_ending(name: &str) -> bool {
    std::path::Path::new(name).extension().is_some_and(|ending| ending == "whl")
}

/// The address with the file's name in the one form that every client reads alike: `+` as `%2B`.
fn encoded(url: &str, file: &str) -> String {
    match url.rsplit_once('/') {
        Some((folder, _)) => format!("{folder}/{}", percent_encode(file)),
        None => url.to_owned(),
    }
}

/// `OWNER/REPO` of a download address of GitHub.
fn repository_of(url: &str) -> Option<String> {
    let mut parts = url.strip_prefix("https://github.com/")?.split('/');
    Some(format!("{}/{}", parts.next()?, parts.next()?))
}
