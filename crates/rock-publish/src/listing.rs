//! Published releases and their assets.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::remote::continued_tag;
use super::{DesiredFile, ReleaseManifest};
use rock_diagnostic::render::escape_line;
use rock_names::{Digest, RepoName, WheelName, WheelNameError, has_wheel_extension, is_file_name};

/// The releases of a repository, or of a directory, newest first where the order is known.
///
/// Parsed from GitHub's own JSON (REST API version 2022-11-28, "List releases"), so that a saved
/// response works like the network: `gh api --paginate --slurp repos/OWNER/REPO/releases`.
///
/// ```
/// use rock_publish::ReleaseListing;
/// let json = r#"[{"id": 7, "tag_name": "v1", "assets": [{"name": "a-1-py3-none-any.whl"}]}]"#;
/// let listing = ReleaseListing::from_json(json)?;
/// assert_eq!(listing.wheels().count(), 1);
/// # Ok::<(), rock_publish::ListingError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ReleaseListing {
    /// `OWNER/REPO`, if known.
    pub repository: Option<String>,
    /// The releases, including drafts.
    pub releases: Vec<ListedRelease>,
}

/// A release in a listing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedRelease {
    /// Its ID in the API; 0 for a directory.
    #[serde(default)]
    pub id: u64,
    /// Its tag; empty for a directory without a tag.
    #[serde(default)]
    pub tag_name: String,
    /// Its title.
    #[serde(default)]
    pub name: Option<String>,
    /// Whether only users with write access see it.
    #[serde(default)]
    pub draft: bool,
    /// Whether it is marked as a prerelease.
    #[serde(default)]
    pub prerelease: bool,
    /// Whether its assets and tag cannot change once it is published.
    #[serde(default)]
    pub immutable: bool,
    /// The time of its publication, as RFC 3339 in UTC.
    #[serde(default)]
    pub published_at: Option<String>,
    /// The time of its last change, as RFC 3339 in UTC.
    #[serde(default)]
    pub updated_at: Option<String>,
    /// The URL of its page for people.
    #[serde(default)]
    pub html_url: Option<String>,
    #[serde(default)]
    pub body: Option<String>,
    /// The branch or commit that it was created from.
    #[serde(default)]
    pub target_commitish: Option<String>,
    /// The URI template for uploads of assets.
    #[serde(default)]
    pub upload_url: Option<String>,
    #[serde(default)]
    pub assets: Vec<ListedAsset>,
    /// The subdirectory with its files, relative to the directory of releases that was read; `None`
    /// if the files are in that directory itself or not on disk.
    #[serde(skip)]
    pub subdirectory: Option<String>,
}

/// A file of a release.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedAsset {
    /// Its ID in the API; 0 for a directory.
    #[serde(default)]
    pub id: u64,
    pub name: String,
    /// The state of its upload.
    #[serde(default)]
    pub state: AssetState,
    /// Its size in bytes.
    #[serde(default)]
    pub size: u64,
    /// The SHA-256 digest, if GitHub has computed one: assets from before June 2025 have none.
    #[serde(default, with = "digest_text")]
    pub digest: Option<Digest>,
    /// The URL for downloads.
    #[serde(default)]
    pub browser_download_url: Option<String>,
    /// The time of its upload, as RFC 3339 in UTC.
    #[serde(default)]
    pub created_at: Option<String>,
}

impl ListedAsset {
    /// Parses its name. Listings may contain percent-encoded names, taken from URLs.
    ///
    /// # Errors
    /// If it is not a wheel name.
    pub fn wheel_name(&self) -> Result<WheelName, WheelNameError> {
        WheelName::from_percent_encoded(&self.name)
    }

    /// Whether it has the size of a file, and its digest if GitHub reports one.
    pub fn has_content_of(&self, file: &DesiredFile) -> bool {
        self.size == file.size_bytes && self.digest.is_none_or(|digest| digest == file.digest)
    }
}

/// The state of the upload of an asset.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AssetState {
    /// The upload is complete.
    #[default]
    Uploaded,
    /// The upload was started and not completed.
    #[serde(alias = "open", other)]
    Starter,
}

/// The error for a text that is not a listing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is not a list of releases: {0}")]
pub struct ListingError(pub String);

/// The largest saved listing that is read. GitHub writes 2 KiB per asset, so this is a listing of
/// 60,000 files.
pub const LARGEST_LISTING_BYTES: u64 = 128 << 20;

/// The formats of a saved listing, for the help of the error.
const FORMS: &str = "pass GitHub's list of releases, one release, its assets or their names, or a \
                     `rock-manifest.json`";

impl ReleaseListing {
    /// Returns the ID of the release that GitHub shows as the latest, as far as a listing shows it:
    /// the newest one that is neither a draft nor a prerelease (REST API version 2022-11-28, "Get
    /// the latest release"). No listing contains the choice of `make_latest`.
    pub fn latest(&self) -> Option<u64> {
        let full = self
            .releases
            .iter()
            .filter(|release| !release.draft && !release.prerelease);
        full.max_by_key(|release| (release.published_at.as_deref(), release.id))
            .map(|release| release.id)
    }

    /// Parses releases: a list, pages of lists, one release, the assets of one or their names, a
    /// listing that this program wrote, or a manifest.
    ///
    /// # Errors
    /// If the text has none of these formats, or if it contains an invalid repository name,
    /// filename, tag, date or target.
    pub fn from_json(text: &str) -> Result<Self, ListingError> {
        let fault = |error: serde_json::Error| ListingError(error.to_string());
        let document: serde_json::Value = serde_json::from_str(text).map_err(fault)?;
        let mut listing = Self::default();
        listing.add(document)?;
        listing.check()?;
        Ok(listing)
    }

    /// Rejects names that are not plain filenames, and control characters in tags and dates.
    /// Titles, bodies and URLs may contain anything, because they are escaped when they are shown.
    fn check(&self) -> Result<(), ListingError> {
        let is_line = |text: &str| !text.contains(char::is_control);
        let is_word = |text: &str| is_line(text) && !text.contains(char::is_whitespace);
        let fault =
            |what: &str, text: &str| Err(ListingError(format!("{what} `{}`", escape_line(text))));
        if let Some(name) = self
            .repository
            .as_deref()
            .filter(|name| name.parse::<RepoName>().is_err())
        {
            return fault("its repository name is not valid:", name);
        }
        for release in &self.releases {
            if !is_line(&release.tag_name) {
                return fault("a release has a tag that is not valid:", &release.tag_name);
            }
            let dates = [&release.published_at, &release.updated_at];
            if let Some(text) = dates.into_iter().flatten().find(|text| !is_word(text)) {
                return fault("a release has a date that is not valid:", text);
            }
            if let Some(text) = release
                .target_commitish
                .as_deref()
                .filter(|text| !is_line(text))
            {
                return fault("a release has a target that is not valid:", text);
            }
            for asset in &release.assets {
                if !is_file_name(&asset.name) || !is_line(&asset.name) || asset.name.contains('\\')
                {
                    return fault("a file has a name that is not valid:", &asset.name);
                }
                if let Some(text) = asset.created_at.as_deref().filter(|text| !is_word(text)) {
                    return fault("a file has a date that is not valid:", text);
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, document: serde_json::Value) -> Result<(), ListingError> {
        use serde_json::Value;
        match document {
            Value::Array(items) if items.first().is_some_and(is_asset) => {
                let assets: Result<_, _> = items.into_iter().map(asset).collect();
                let assets = assets.map_err(|error| ListingError(error.to_string()))?;
                self.releases.push(ListedRelease {
                    assets,
                    ..ListedRelease::default()
                });
                Ok(())
            }
            Value::Array(items) => items.into_iter().try_for_each(|item| self.add(item)),
            Value::Object(object) if object.contains_key("files") => {
                let manifest = ReleaseManifest::from_json(&Value::Object(object).to_string())
                    .map_err(|error| ListingError(error.to_string()))?;
                self.releases.push(ListedRelease::of_manifest(&manifest));
                Ok(())
            }
            Value::Object(mut object) if object.contains_key("releases") => {
                self.repository = object
                    .get("repository")
                    .and_then(Value::as_str)
                    .map(str::to_owned);
                self.add(object.remove("releases").unwrap_or_default())
            }
            Value::Object(object)
                if object.contains_key("assets") || object.contains_key("tag_name") =>
            {
                let read = serde_json::from_value(Value::Object(object));
                self.releases
                    .push(read.map_err(|error| ListingError(error.to_string()))?);
                Ok(())
            }
            _ => Err(ListingError(FORMS.to_owned())),
        }
    }

    /// Returns the files that can be downloaded: complete assets of published releases.
    pub fn published(&self) -> impl Iterator<Item = (&ListedRelease, &ListedAsset)> {
        let releases = self.releases.iter().filter(|release| !release.draft);
        let assets =
            releases.flat_map(|release| release.assets.iter().map(move |asset| (release, asset)));
        assets.filter(|(_, asset)| asset.state == AssetState::Uploaded)
    }

    /// Returns the release of a tag, followed by the releases that say they continue it because a
    /// release cannot hold all of the files. If several releases have the same tag, a published one
    /// is preferred to a draft, then the oldest. Without a release of the tag itself, the list is
    /// empty.
    pub fn of_tag(&self, tag: &str) -> Vec<&ListedRelease> {
        let is_of_tag = |release: &&ListedRelease| {
            release.tag_name == tag || release.body.as_deref().and_then(continued_tag) == Some(tag)
        };
        let mut of_tag: BTreeMap<(usize, &str), &ListedRelease> = BTreeMap::new();
        for release in self.releases.iter().filter(is_of_tag) {
            // Sort `v1-10` after `v1-9`.
            let place = of_tag
                .entry((release.tag_name.len(), &release.tag_name))
                .or_insert(release);
            if (release.draft, release.id) < (place.draft, place.id) {
                *place = release;
            }
        }
        if of_tag.contains_key(&(tag.len(), tag)) {
            of_tag.into_values().collect()
        } else {
            Vec::new()
        }
    }

    /// Removes releases that are marked as prereleases, and returns the number of those that are
    /// published.
    pub fn remove_prereleases(&mut self) -> usize {
        let mut removed = 0;
        self.releases.retain(|release| {
            removed += usize::from(release.prerelease && !release.draft);
            !release.prerelease
        });
        removed
    }

    /// Returns the published wheels with valid names.
    pub fn wheels(&self) -> impl Iterator<Item = (&ListedRelease, &ListedAsset, WheelName)> {
        self.published()
            .filter_map(|(release, asset)| Some((release, asset, asset.wheel_name().ok()?)))
    }

    /// Returns the published files that end in `.whl` and have an invalid name.
    pub fn unreadable(&self) -> impl Iterator<Item = (&ListedRelease, WheelNameError)> {
        let wheels = self
            .published()
            .filter(|(_, asset)| has_wheel_extension(&asset.name));
        wheels.filter_map(|(release, asset)| Some((release, asset.wheel_name().err()?)))
    }
}

/// Whether the value is an asset, or the name of one.
fn is_asset(value: &serde_json::Value) -> bool {
    let has = |key| value.get(key).is_some();
    value.is_string()
        || (has("name")
            && !["assets", "tag_name", "files", "releases"]
                .into_iter()
                .any(has))
}

fn asset(value: serde_json::Value) -> Result<ListedAsset, serde_json::Error> {
    match value {
        serde_json::Value::String(name) => Ok(ListedAsset {
            name,
            ..ListedAsset::default()
        }),
        value => serde_json::from_value(value),
    }
}

impl ListedRelease {
    /// Whether its assets and tag can no longer change: it is immutable and published.
    pub fn is_immutable(&self) -> bool {
        self.immutable && !self.draft
    }

    /// Returns the size of all assets in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.assets.iter().map(|asset| asset.size).sum()
    }

    /// Creates the release that a manifest describes.
    pub fn of_manifest(manifest: &ReleaseManifest) -> Self {
        let files = manifest.files.iter();
        let files = files.map(|file| (file.name.as_str(), file.size_bytes, file.sha256));
        Self::of_files(manifest.tag.as_deref(), files)
    }

    /// Creates a release with this tag of files with these names, sizes in bytes and digests.
    pub(crate) fn of_files<'f>(
        tag: Option<&str>,
        files: impl Iterator<Item = (&'f str, u64, Digest)>,
    ) -> Self {
        let asset = |(name, size, digest): (&str, u64, Digest)| ListedAsset {
            name: name.to_owned(),
            size,
            digest: Some(digest),
            ..ListedAsset::default()
        };
        Self {
            tag_name: tag.unwrap_or_default().to_owned(),
            assets: files.map(asset).collect(),
            ..Self::default()
        }
    }
}

/// Digests as `sha256:…`; `None` for other kinds of digests.
mod digest_text {
    use serde::{Deserialize, Deserializer, Serializer};

    use rock_names::Digest;

    #[expect(clippy::ref_option, reason = "serde hands the field over so")]
    pub(super) fn serialize<S: Serializer>(
        digest: &Option<Digest>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match digest {
            Some(digest) => to.collect_str(digest),
            None => to.serialize_none(),
        }
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(
        from: D,
    ) -> Result<Option<Digest>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        Ok(text
            .filter(|text| text.starts_with("sha256:"))
            .and_then(|text| text.parse().ok()))
    }
}

#[cfg(test)]
mod tests {
    use super::{AssetState, ReleaseListing};
    use crate::ReleaseManifest;

    const RELEASE: &str = r#"{"id": 7, "tag_name": "v1", "draft": false, "immutable": true, "author": {"id": 1},
        "assets": [{"id": 9, "name": "a-1-py3-none-any.whl", "state": "starter", "size": 3, "digest": null},
                   {"id": 8, "name": "b-1-py3-none-any.whl", "state": "uploaded", "size": 3,
                    "digest": "sha256:0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f"},
                   {"id": 6, "name": "notes.txt", "size": 3, "digest": "md5:00"}]}"#;

    #[test]
    fn an_answer_of_github_reads_as_it_is_alone_in_lists_and_in_pages() {
        for text in [
            RELEASE.to_owned(),
            format!("[{RELEASE}]"),
            format!("[[], [{RELEASE}]]"),
        ] {
            let listing = ReleaseListing::from_json(&text).unwrap();
            let release = &listing.releases[0];
            assert_eq!(
                (release.id, release.tag_name.as_str(), release.immutable),
                (7, "v1", true)
            );
            assert_eq!(release.assets[0].state, AssetState::Starter);
            assert_eq!(
                release.assets[1].digest.map(|digest| digest.as_bytes()[0]),
                Some(15)
            );
            assert_eq!(release.assets[2].digest, None, "no other digest counts");
        }
    }

    #[test]
    fn assets_and_bare_names_are_one_release_without_a_tag() {
        for text in [
            r#"["a-1-py3-none-any.whl", "b.whl"]"#,
            r#"[[{"name": "a-1-py3-none-any.whl"}, {"name": "b.whl"}]]"#,
        ] {
            let listing = ReleaseListing::from_json(text).unwrap();
            assert_eq!(
                (listing.releases.len(), listing.wheels().count()),
                (1, 1),
                "{text}"
            );
            let unreadable: Vec<_> = listing
                .unreadable()
                .map(|(_, error)| error.to_string())
                .collect();
            assert!(
                matches!(&unreadable[..], [only] if only.contains("`b.whl`")),
                "{unreadable:?}"
            );
        }
    }

    #[test]
    fn manifests_in_a_list_are_releases_of_their_own() {
        let manifest =
            |tag: &str| format!(r#"{{"version": 1, "tag": "{tag}", "plan": null, "files": []}}"#);
        let listing =
            ReleaseListing::from_json(&format!("[{}, {}]", manifest("v1"), manifest("v2")))
                .unwrap();
        assert_eq!(
            listing
                .releases
                .iter()
                .map(|release| &*release.tag_name)
                .collect::<Vec<_>>(),
            ["v1", "v2"]
        );
    }

    #[test]
    fn only_what_can_be_fetched_is_published() {
        let published = ReleaseListing::from_json(RELEASE).unwrap();
        assert_eq!(
            published
                .wheels()
                .map(|(.., wheel)| wheel.distribution().to_string())
                .collect::<Vec<_>>(),
            ["b"]
        );
        let draft =
            ReleaseListing::from_json(&RELEASE.replace("\"draft\": false", "\"draft\": true"))
                .unwrap();
        assert_eq!(draft.published().count(), 0);
    }

    #[test]
    fn the_releases_of_a_tag_are_its_own_and_those_that_continue_it() {
        let release = |id, tag: &str, draft| super::ListedRelease {
            id,
            tag_name: tag.to_owned(),
            draft,
            body: Some("<!-- rock-matrix continues v1 -->".to_owned()).filter(|_| tag == "v1-2"),
            ..super::ListedRelease::default()
        };
        let mut listing = ReleaseListing {
            repository: None,
            releases: vec![
                release(1, "v1", true),
                release(2, "v1", false),
                release(3, "v2", false),
                release(4, "v1-2", false),
            ],
        };
        let ids = |listing: &ReleaseListing, tag: &str| -> Vec<u64> {
            listing
                .of_tag(tag)
                .iter()
                .map(|release| release.id)
                .collect()
        };
        assert_eq!(ids(&listing, "v1"), [2, 4]);
        assert_eq!(ids(&listing, "v3"), [] as [u64; 0]);
        listing.releases[1].prerelease = true;
        listing.releases[0].prerelease = true;
        assert_eq!(listing.remove_prereleases(), 1, "drafts are not counted");
        assert_eq!(ids(&listing, "v2"), [3]);
    }

    #[test]
    fn a_listing_written_and_read_is_equal_and_a_manifest_is_one_release() {
        let listing = ReleaseListing::from_json(RELEASE).unwrap();
        assert_eq!(
            ReleaseListing::from_json(&serde_json::to_string(&listing).unwrap()).unwrap(),
            listing
        );
        let manifest = ReleaseManifest::new(Some("v2".into()), None, vec![]).to_json();
        assert_eq!(
            ReleaseListing::from_json(&manifest).unwrap().releases[0].tag_name,
            "v2"
        );
    }

    #[test]
    fn names_that_leave_a_directory_and_lines_in_tags_are_refused() {
        let whole: serde_json::Value = serde_json::from_str(RELEASE).unwrap();
        for (field, value) in [
            ("/tag_name", "v1\n::error::x"),
            ("/published_at", "a b"),
            ("/target_commitish", "a\u{1b}[2J"),
            ("/assets/1/name", "../b-1-py3-none-any.whl"),
            ("/assets/1/name", ".."),
            ("/assets/1/name", ""),
            ("/assets/1/created_at", "a\nb"),
        ] {
            let mut hostile = whole.clone();
            let (parent, key) = field.rsplit_once('/').unwrap();
            hostile.pointer_mut(parent).unwrap()[key] = value.into();
            assert!(
                ReleaseListing::from_json(&hostile.to_string()).is_err(),
                "{field} {value:?}"
            );
        }
        let error =
            ReleaseListing::from_json(r#"{"repository": "a b", "releases": []}"#).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("its repository name is not valid: `a b`"),
            "{error}"
        );
    }

    #[test]
    fn a_text_that_is_not_a_listing_is_reported_with_the_formats() {
        for text in [
            "7",
            "\"x\"",
            "{}",
            "[1]",
            "[\"a\", 1]",
            "not JSON",
            r#"{"message": "Not Found"}"#,
        ] {
            assert!(
                ReleaseListing::from_json(text)
                    .unwrap_err()
                    .to_string()
                    .contains("not a list of releases"),
                "{text}"
            );
        }
    }
}
