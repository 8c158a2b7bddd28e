//! The wheels of listings, read by name, and the archives of install trees.

use std::cmp::Ordering;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{ArchiveName, Combination, MachineTag, PublishedArchive, WheelPythons, addresses};
use crate::codes::release as codes;
use rock_diagnostic::{Diagnostic, Location, Sink};
use rock_index::BaseUrl;
use rock_names::{
    Digest, RepoName, RocmVersion, WheelIdentity, WheelIdentityError, YankedFiles,
    has_wheel_extension, is_tree_archive,
};
use rock_plan::config::RunTime;
use rock_publish::{
    AssetState, GfxOrigin, ListedAsset, ListedRelease, ManifestFile, RebuiltFile, ReleaseListing,
    ReleaseManifest, ReleasedBytes, tag_pieces,
};

/// Wheels, sorted by what they are, archives, and wheel files whose names say nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WheelListing {
    /// The wheels: by platform, combination and Python, then the newest release first.
    pub all: Vec<PublishedWheel>,
    /// Archives of install trees, by platform and name.
    pub archives: Vec<PublishedArchive>,
    /// Files that end in `.whl` and cannot be read, by release and name.
    pub unread: Vec<UnreadableName>,
}

/// One wheel of one release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedWheel {
    /// Its name, decoded.
    pub name: String,
    /// What it runs on.
    pub machine: MachineTag,
    /// What it is.
    pub combination: Combination,
    /// The Pythons it serves.
    pub pythons: WheelPythons,
    /// The C++ ABI that its label names.
    pub cxx11abi: Option<bool>,
    /// Its build tag.
    pub build: Option<String>,
    /// Its three wheel tags, `cp311-cp311-linux_x86_64`.
    pub tags: String,
    /// The gfx targets it was compiled for, where a manifest says.
    pub gfx: Vec<String>,
    /// Where these come from.
    pub gfx_from: Option<GfxOrigin>,
    /// Its needs at run time, where a manifest says.
    pub run_time: Option<RunTime>,
    /// Its size.
    pub size_bytes: u64,
    /// SHA-256 of it, where it is known.
    pub digest: Option<Digest>,
    /// Where it is fetched from, encoded for a document.
    pub address: Option<String>,
    /// The tag of its release; empty for a folder without one.
    pub tag: String,
    /// Why it is withdrawn, empty for no reason; `None` where it is not.
    pub withdrawn: Option<String>,
    /// Whether its release is a pre-release.
    pub is_prerelease: bool,
    /// When its release was published.
    published_at: String,
    /// Whether its label has another reading.
    is_ambiguous: bool,
}

/// A file whose name cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnreadableName {
    /// The release.
    pub tag: String,
    /// The name as listed.
    pub name: String,
    /// Why it cannot be read.
    pub reason: String,
    /// The same as a sentence that names it.
    told: String,
}

/// What is known beside a listing.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListingContext<'a> {
    /// Manifests, for what names do not say.
    pub manifests: &'a [ReleaseManifest],
    /// Address below which the files are served.
    pub base: Option<&'a BaseUrl>,
    /// The repository, where the listing does not say.
    pub repository: Option<&'a RepoName>,
    /// ROCm versions that exist, for labels without dots.
    pub known_rocm: &'a [RocmVersion],
    /// Which files are withdrawn.
    pub withdrawn: Option<&'a YankedFiles>,
}

impl WheelListing {
    /// The wheels that people can fetch: finished assets of releases that are no drafts.
    pub fn published(listing: &ReleaseListing, beside: ListingContext<'_>) -> Self {
        Self::of(
            listing.releases.iter().filter(|release| !release.draft),
            beside,
        )
    }

    /// The finished wheels of these releases, drafts or not.
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
        // A listing of GitHub and the manifest of the same release name the same file; the one that
        // says more stays.
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

    /// Leaves out wheels of which a newer release has other bytes under the same name, as an index
    /// does, and gives them.
    pub fn pass_over_older(&mut self) -> Vec<RebuiltFile> {
        let mut newest: HashMap<String, ReleasedBytes> = HashMap::new();
        let mut rebuilt = Vec::new();
        // They stand by what they are, and then the newest release first.
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

    /// Tells of names that cannot be read, and of labels with two readings.
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
                        "the label of `{}` has two readings and was read as {}",
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

/// Rows of manifests by name and digest.
type ManifestRows<'a> = BTreeMap<(&'a str, Digest), &'a ManifestFile>;

/// Returns the row of a wheel by name and digest; by name alone where the listing has no digest and
/// all manifests agree.
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
        withdrawn: beside
            .withdrawn
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

    /// Returns its gfx targets for a table; `planned` are those of its job. Those that were not
    /// read in the wheel are marked.
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

    /// What stands behind a wheel that is withdrawn; nothing for others.
    pub(super) fn withdrawn_mark(&self) -> String {
        match self.withdrawn.as_deref() {
            None => String::new(),
            Some("") => " (withdrawn)".to_owned(),
            Some(reason) => format!(" (withdrawn: {reason})"),
        }
    }

    /// By what it is, then the newest release first, then by build tag, the latest first, and name.
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

    /// Platform, combination and Python: equal for wheels that fill the same cell.
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
