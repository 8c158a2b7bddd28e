//! The wheels and install tree archives of release listings, parsed from their names.

use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{ArchiveName, Combination, MachineTag, PublishedArchive, WheelPythons, addresses};
use crate::codes::release as codes;
use rock_compat::{Compat, RuntimeRequirements};
use rock_diagnostic::{Diagnostic, Location, Sink};
use rock_index::BaseUrl;
use rock_names::{
    Digest, RepoName, RocmVersion, WheelIdentity, WheelIdentityError, YankedFiles,
    has_wheel_extension, is_tree_archive,
};
use rock_publish::{
    AssetState, GfxOrigin, ListedAsset, ListedRelease, ManifestFile, PublishedReleases,
    RebuiltFile, ReleaseListing, ReleaseManifest, ReleasedBytes, tag_pieces,
};

/// The wheels and archives of listings, and the wheel files whose names cannot be parsed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WheelListing {
    /// The wheels, sorted by platform, combination and Python, then newest release first.
    pub all: Vec<PublishedWheel>,
    /// Archives of install trees, sorted by platform and name.
    pub archives: Vec<PublishedArchive>,
    /// Files that end in `.whl` and cannot be parsed, sorted by release and name.
    pub unread: Vec<UnreadableName>,
}

/// A wheel of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedWheel {
    /// The filename, percent-decoded.
    pub name: String,
    /// The platform.
    pub machine: MachineTag,
    pub combination: Combination,
    /// The supported Python versions.
    pub pythons: WheelPythons,
    /// The C++ ABI in the local version label, if any.
    pub cxx11abi: Option<bool>,
    /// The build tag, if any.
    pub build: Option<String>,
    /// The wheel tag, `cp311-cp311-linux_x86_64`.
    pub tags: String,
    /// The gfx targets that it was compiled for, according to a manifest.
    pub gfx: Vec<String>,
    /// The origin of the gfx targets.
    pub gfx_from: Option<GfxOrigin>,
    /// The needs at run time according to a manifest, if there are any.
    pub run_time: Option<RuntimeRequirements>,
    pub size_bytes: u64,
    /// The SHA-256 digest, if known.
    pub digest: Option<Digest>,
    /// The download URL, encoded for use in documents.
    pub address: Option<String>,
    /// The tag of its release; empty for a directory without one.
    pub tag: String,
    /// The reason why it is yanked, empty if none was given; `None` if it is not yanked.
    pub yanked: Option<String>,
    /// Whether its release is a prerelease.
    pub is_prerelease: bool,
    /// The publication time of its release.
    published_at: String,
    /// Whether its local version label can be read in two ways.
    is_ambiguous: bool,
}

/// A file whose name cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnreadableName {
    /// The tag of the release.
    pub tag: String,
    /// The name as listed.
    pub name: String,
    /// The reason why it cannot be parsed.
    pub reason: String,
    /// The reason as a sentence that names the file.
    told: String,
}

/// Additional information about the files of a listing.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListingContext<'a> {
    /// Manifests, for properties that are not part of a name.
    pub manifests: &'a [ReleaseManifest],
    /// The base URL of the files.
    pub base: Option<&'a BaseUrl>,
    /// The repository, if the listing does not name it.
    pub repository: Option<&'a RepoName>,
    /// Existing ROCm versions, for labels without dots.
    pub known_rocm: &'a [RocmVersion],
    /// The yanked files.
    pub yanked: Option<&'a YankedFiles>,
}

impl WheelListing {
    /// Collects the wheels of several sources that users can download.
    pub fn of_sources(published: &PublishedReleases, compat: &Compat) -> Self {
        let (known_rocm, manifests) = (compat.rocm_versions(), published.manifests());
        let context = ListingContext {
            manifests: &manifests,
            known_rocm,
            ..ListingContext::default()
        };
        Self::published(&published.listing(), context)
    }

    /// Collects the wheels that users can download: uploaded assets of releases that are not
    /// drafts.
    pub fn published(listing: &ReleaseListing, beside: ListingContext<'_>) -> Self {
        Self::of(
            listing.releases.iter().filter(|release| !release.draft),
            beside,
        )
    }

    /// Collects the wheels and archives with these filenames.
    pub fn of_files(names: impl IntoIterator<Item = String>, compat: &Compat) -> Self {
        let assets = names.into_iter().map(|name| ListedAsset {
            name,
            ..ListedAsset::default()
        });
        let release = ListedRelease {
            assets: assets.collect(),
            ..ListedRelease::default()
        };
        let known_rocm = compat.rocm_versions();
        let context = ListingContext {
            known_rocm,
            ..ListingContext::default()
        };
        Self::of([&release], context)
    }

    /// Collects the uploaded wheels and archives of these releases, including drafts.
    pub fn of<'a>(
        releases: impl IntoIterator<Item = &'a ListedRelease>,
        beside: ListingContext<'_>,
    ) -> Self {
        let mut wheels = Self::default();
        let rows: ManifestRows<'_> = beside
            .manifests
            .iter()
            .flat_map(|manifest| &manifest.files)
            .map(|file| ((file.name.as_str(), file.sha256), file))
            .collect();
        for release in releases {
            for asset in release
                .assets
                .iter()
                .filter(|asset| asset.state == AssetState::Uploaded)
            {
                if is_tree_archive(&asset.name) {
                    wheels.archives.push(archive(release, asset, beside));
                }
                if !has_wheel_extension(&asset.name) {
                    continue;
                }
                match read(release, asset, beside) {
                    Ok(mut wheel) => {
                        if let Some(row) = row(&rows, &wheel) {
                            wheel.gfx.clone_from(&row.gfx);
                            wheel.gfx_from = row.gfx_from;
                            wheel.run_time =
                                Some(row.run_time.clone()).filter(|run_time| !run_time.is_empty());
                        }
                        wheels.all.push(wheel);
                    }
                    Err(error) => wheels.unread.push(UnreadableName {
                        tag: release.tag_name.clone(),
                        name: asset.name.clone(),
                        reason: match &error {
                            WheelIdentityError::Name(error) => error.kind.to_string(),
                            WheelIdentityError::Label { error, .. } => error.to_string(),
                        },
                        told: error.to_string(),
                    }),
                }
            }
        }
        wheels.all.sort_by(PublishedWheel::order);
        // A GitHub listing and the manifest of the same release name the same file. The entry with
        // more information is sorted first and kept.
        let mut seen = BTreeSet::new();
        wheels
            .all
            .retain(|wheel| seen.insert((wheel.tag.clone(), wheel.name.clone())));
        let key = |archive: &PublishedArchive| {
            (
                archive.name.clone(),
                archive.tag.clone(),
                archive.address.is_none(),
            )
        };
        wheels.archives.sort_by_cached_key(key);
        wheels
            .archives
            .dedup_by(|one, other| (&one.name, &one.tag) == (&other.name, &other.tag));
        wheels.unread.sort();
        wheels.unread.dedup();
        wheels
    }

    /// Removes wheels of which a newer release has different bytes under the same name, as an index
    /// does, and returns them.
    pub fn pass_over_older(&mut self) -> Vec<RebuiltFile> {
        let mut newest: HashMap<String, ReleasedBytes> = HashMap::new();
        let mut rebuilt = Vec::new();
        // Wheels of one name are adjacent, newest release first.
        self.all
            .retain(|wheel| match newest.entry(wheel.name.clone()) {
                Entry::Vacant(free) => {
                    free.insert(wheel.held());
                    true
                }
                Entry::Occupied(first) => {
                    let (offered, older) = (first.get(), wheel.held());
                    let is_same = offered.is_same(&older);
                    if !is_same {
                        rebuilt.push(RebuiltFile {
                            name: wheel.name.clone(),
                            offered: offered.clone(),
                            older,
                        });
                    }
                    is_same
                }
            });
        rebuilt
    }

    /// Reports names that cannot be parsed, and labels that can be read in two ways.
    pub fn report(&self, listing: &str, sink: &mut Sink) {
        for unread in &self.unread {
            sink.push(
                Diagnostic::new(
                    &codes::UNREADABLE_PUBLISHED_NAME,
                    format!("published file {}", unread.told),
                )
                .at(Location::File(listing.into()), "")
                .note(format!("it is in release `{}`", unread.tag)),
            );
        }
        for wheel in self.all.iter().filter(|wheel| wheel.is_ambiguous) {
            sink.push(
                Diagnostic::new(
                    &codes::AMBIGUOUS_PUBLISHED_LABEL,
                    format!(
                        "the label of `{}` can be read in two ways; it was read as {}",
                        wheel.name,
                        wheel.combination.runs_with()
                    ),
                )
                .at(Location::File(listing.into()), "")
                .note(format!("it is in release `{}`", wheel.tag)),
            );
        }
    }
}

/// Rows of manifests, by name and digest.
type ManifestRows<'a> = BTreeMap<(&'a str, Digest), &'a ManifestFile>;

/// Returns the manifest row of a wheel by name and digest, or by name alone if the listing has no
/// digest and all manifests agree on gfx targets and needs at run time.
fn row<'a>(rows: &ManifestRows<'a>, wheel: &PublishedWheel) -> Option<&'a ManifestFile> {
    let mut of_name = rows
        .range((wheel.name.as_str(), Digest::new([0; 32]))..)
        .take_while(|((name, _), _)| *name == wheel.name);
    match wheel.digest {
        Some(digest) => rows.get(&(wheel.name.as_str(), digest)).copied(),
        None => {
            let first = of_name.next().map(|(_, row)| *row)?;
            let agree =
                |other: &ManifestFile| other.gfx == first.gfx && other.run_time == first.run_time;
            of_name.all(|(_, other)| agree(other)).then_some(first)
        }
    }
}

fn archive(
    release: &ListedRelease,
    asset: &ListedAsset,
    beside: ListingContext<'_>,
) -> PublishedArchive {
    let own_repository = addresses::repository_of(release);
    let repository = own_repository.as_ref().or(beside.repository);
    PublishedArchive {
        name: ArchiveName::from(asset.name.as_str()),
        digest: asset.digest,
        address: addresses::asset(release, asset, &asset.name, beside.base, repository),
        tag: release.tag_name.clone(),
    }
}

fn read(
    release: &ListedRelease,
    asset: &ListedAsset,
    beside: ListingContext<'_>,
) -> Result<PublishedWheel, WheelIdentityError> {
    let name = asset.wheel_name()?;
    let identity = WheelIdentity::of(&name, beside.known_rocm)?;
    let own_repository = addresses::repository_of(release);
    let repository = own_repository.as_ref().or(beside.repository);
    let text = name.to_string();
    Ok(PublishedWheel {
        address: addresses::asset(release, asset, &text, beside.base, repository),
        yanked: beside
            .yanked
            .and_then(|all| all.reason(&text, asset.digest))
            .map(str::to_owned),
        name: text,
        machine: MachineTag::of(&name),
        combination: Combination::of(&identity),
        pythons: WheelPythons::of(&name),
        cxx11abi: identity.cxx11abi(),
        build: name.build_tag().map(ToString::to_string),
        tags: name.compressed_tag(),
        gfx: Vec::new(),
        gfx_from: None,
        run_time: None,
        size_bytes: asset.size,
        digest: asset.digest,
        tag: release.tag_name.clone(),
        is_prerelease: release.prerelease,
        published_at: release.published_at.clone().unwrap_or_default(),
        is_ambiguous: identity.is_ambiguous(),
    })
}

impl PublishedWheel {
    fn held(&self) -> ReleasedBytes {
        ReleasedBytes {
            tag: self.tag.clone(),
            digest: self.digest,
            size_bytes: self.size_bytes,
        }
    }

    /// Returns its gfx targets for a table, or `planned`, those of its job, if no manifest lists
    /// them. Targets that were not read from the wheel's code are marked.
    pub(super) fn gfx_text(&self, planned: &[String]) -> Option<String> {
        let of_manifest = !self.gfx.is_empty() || self.gfx_from.is_some();
        let listed = if of_manifest { &self.gfx } else { planned };
        match (listed, self.gfx_from) {
            ([], Some(GfxOrigin::Wheel)) => Some("none".to_owned()),
            ([], _) => None,
            (listed, Some(GfxOrigin::Wheel)) => Some(listed.join(", ")),
            (listed, _) => Some(format!("{} (planned)", listed.join(", "))),
        }
    }

    /// Returns the suffix that marks a yanked wheel; empty for other wheels.
    pub(super) fn yanked_mark(&self) -> String {
        match self.yanked.as_deref() {
            None => String::new(),
            Some("") => " (yanked)".to_owned(),
            Some(reason) => format!(" (yanked: {reason})"),
        }
    }

    /// Compares by platform, combination and Python, then newest release first, latest build tag
    /// first, and name. Of equal names, entries with a URL and a digest come first.
    fn order(&self, other: &Self) -> Ordering {
        self.what()
            .cmp(&other.what())
            .then_with(|| other.published_at.cmp(&self.published_at))
            .then_with(|| tag_pieces(&other.tag).cmp(&tag_pieces(&self.tag)))
            .then_with(|| {
                other
                    .build
                    .as_deref()
                    .map(tag_pieces)
                    .cmp(&self.build.as_deref().map(tag_pieces))
            })
            .then_with(|| self.name.cmp(&other.name))
            .then_with(|| self.address.is_none().cmp(&other.address.is_none()))
            .then_with(|| self.digest.is_none().cmp(&other.digest.is_none()))
            .then_with(|| self.address.cmp(&other.address))
            .then_with(|| {
                self.digest
                    .map(Digest::to_hex)
                    .cmp(&other.digest.map(Digest::to_hex))
            })
            .then_with(|| self.size_bytes.cmp(&other.size_bytes))
    }

    /// Returns platform, combination, Pythons and C++ ABI, which are equal for wheels that fill the
    /// same cell.
    pub(super) fn what(&self) -> (&MachineTag, &Combination, &WheelPythons, Option<bool>) {
        (
            &self.machine,
            &self.combination,
            &self.pythons,
            self.cxx11abi,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{ListingContext, WheelListing};
    use rock_publish::ReleaseListing;

    #[test]
    fn every_wheel_file_is_read_or_listed_as_unread() {
        let listing =
            ReleaseListing::from_json(include_str!("../../../tests/fixtures/assets.json")).unwrap();
        let wheels = WheelListing::published(&listing, ListingContext::default());
        let unread: Vec<&str> = wheels
            .unread
            .iter()
            .map(|unread| unread.name.as_str())
            .collect();
        assert_eq!(
            unread,
            [
                "flash-attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl",
                "flash_attn-2.8.3+cputorch2.5-cp311-cp311-linux_x86_64.whl",
                "flash_attn-2.8.3.rocm62torch2.5-cp311-cp311-linux_x86_64.whl"
            ]
        );
        assert_eq!(
            wheels.all.len() + wheels.unread.len(),
            listing.releases[0].assets.len()
        );
        assert!(wheels.all.iter().all(|wheel| !wheel.name.contains('%')));
    }

    #[test]
    fn drafts_and_broken_uploads_are_not_published() {
        let text = r#"[{"tag_name": "a", "draft": true, "assets": [{"name": "a-1-py3-none-any.whl"}]},
            {"tag_name": "b", "assets": [{"name": "a-1-py3-none-any.whl", "state": "starter"}]}]"#;
        let listing = ReleaseListing::from_json(text).unwrap();
        assert_eq!(
            WheelListing::published(&listing, ListingContext::default()),
            WheelListing::default()
        );
        assert_eq!(
            WheelListing::of(&listing.releases, ListingContext::default())
                .all
                .len(),
            1,
            "notes look into drafts"
        );
    }

    #[test]
    fn of_a_wheel_that_was_built_again_the_newest_release_stays() {
        let release = |tag: &str, size: u64| {
            format!(
                r#"{{"tag_name": "{tag}", "assets": [{{"name": "a-1-py3-none-any.whl", "size": {size}}}]}}"#
            )
        };
        let text = format!(
            "[{}, {}, {}]",
            release("v3", 3),
            release("v2", 3),
            release("v1", 1)
        );
        let mut wheels = WheelListing::published(
            &ReleaseListing::from_json(&text).unwrap(),
            ListingContext::default(),
        );
        let rebuilt = wheels.pass_over_older();
        assert_eq!(
            wheels
                .all
                .iter()
                .map(|wheel| wheel.tag.as_str())
                .collect::<Vec<_>>(),
            ["v3", "v2"]
        );
        assert_eq!(
            rebuilt
                .iter()
                .map(|one| one.older.tag.as_str())
                .collect::<Vec<_>>(),
            ["v1"]
        );
    }
}
