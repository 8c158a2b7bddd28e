//! Published releases from several sources: saved listings, manifests, directories and
//! repositories.
//!
//! Input: the sources that a user names ([`PublishedLocation`]). Files and directories are read
//! here ([`PublishedReleases::add_file`], [`PublishedReleases::add_directory`]); `rock-github`
//! reads repositories. Output: the releases and manifests of each source, in order.
//!
//! **Invariant:** a release is counted once: [`PublishedReleases::merge_bare_manifests`] removes
//! the releases of manifests that another source lists.

mod local;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;

use super::{
    AssetState, ListedAsset, ListedRelease, MANIFEST, ReleaseListing, ReleaseManifest, saved,
};
use crate::codes::{published, release as codes};
use rock_diagnostic::{Diagnostic, Location};
use rock_index::BaseUrl;
use rock_names::{RepoName, RocmVersion, is_sdist, is_tree_archive};
use rock_plan::PublishedSet;
use rock_sys::directory_url;

pub use local::invalid_listing;

/// Maximum number of releases whose manifests [`ManifestSelection::OfTags`] selects.
const MAX_TAGGED_MANIFESTS: usize = 20;

/// Published releases, by source, with a reduced form `M` of each manifest.
///
/// ```
/// use rock_publish::PublishedReleases;
///
/// let directory = tempfile::tempdir()?;
/// let saved = directory.path().join("releases.json");
/// rock_sys::write_atomic(&saved, br#"[{"tag_name": "v1"}]"#)?;
///
/// let mut published: PublishedReleases = PublishedReleases::new(&[&saved]);
/// published.add_file(&saved)?;
/// published.merge_bare_manifests();
/// assert_eq!(published.listing().releases[0].tag_name, "v1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct PublishedReleases<M = ReleaseManifest> {
    /// One for each source, in order; for a directory of releases one for each release.
    pub sources: Vec<PublishedSource<M>>,
    source_names: String,
}

/// The releases of one source.
#[derive(Debug)]
pub struct PublishedSource<M = ReleaseManifest> {
    /// Its releases, including drafts. Empty for a manifest whose release is in another source.
    pub listing: ReleaseListing,
    /// The manifests of the releases.
    pub manifests: Vec<M>,
    /// The directory of the files; `None` if the listing has their URLs.
    pub directory: Option<PathBuf>,
    /// Whether this is a manifest without its files.
    is_bare_manifest: bool,
    /// The repository on GitHub that this was read from.
    repository: Option<RepoName>,
}

/// A source of published releases, as a user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublishedLocation {
    /// A repository on GitHub.
    Repository(RepoName),
    /// A directory of a release, of several releases, or of wheels.
    Directory,
    /// A saved listing or a manifest, which may not exist.
    File,
}

/// A selection of the manifests to read from GitHub.
#[derive(Debug, Clone, Copy)]
pub enum ManifestSelection<'t> {
    /// None: filenames are enough.
    None,
    /// The manifests of at most this number of releases, newest first.
    Newest(usize),
    /// The manifests of one tag.
    OfTag(&'t str),
    /// The manifests of the releases with these tags, at most 20, newest first.
    OfTags(&'t BTreeSet<String>),
}

/// The manifests of a listing that a [`ManifestSelection`] selects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedManifests<'l> {
    /// The selected manifests.
    pub assets: Vec<&'l ListedAsset>,
    /// The number of manifests that [`ManifestSelection::Newest`] leaves out.
    pub omitted: usize,
}

impl PublishedLocation {
    /// Returns the kind of a source. `OWNER/REPO` is a repository unless a file or directory has
    /// this name; names that start with `.` or end with `.json` are always files.
    pub fn of(source: &Path) -> Self {
        if let Some(repo) = repository(source) {
            Self::Repository(repo)
        } else if rock_sys::is_directory(source) {
            Self::Directory
        } else {
            Self::File
        }
    }
}

/// Parses `OWNER/REPO`, unless a file or directory has this name.
fn repository(source: &Path) -> Option<RepoName> {
    let text = source.to_str()?;
    let is_file = source
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("json"))
        || text.starts_with('.');
    if is_file || rock_sys::exists(source) {
        None
    } else {
        text.parse().ok()
    }
}

impl ManifestSelection<'_> {
    /// Selects among the completely uploaded manifests of a listing.
    pub fn select<'l>(&self, listing: &'l ReleaseListing) -> SelectedManifests<'l> {
        let published = || listing.releases.iter().filter(|release| !release.draft);
        let releases: Vec<&ListedRelease> = match self {
            Self::None => Vec::new(),
            Self::Newest(_) => published().collect(),
            Self::OfTag(tag) => listing.of_tag(tag),
            Self::OfTags(tags) => published()
                .filter(|release| tags.contains(&release.tag_name))
                .collect(),
        };
        let mut assets: Vec<&ListedAsset> = releases
            .into_iter()
            .flat_map(|release| &release.assets)
            .filter(|asset| asset.name == MANIFEST && asset.state == AssetState::Uploaded)
            .collect();
        let mut omitted = 0;
        match self {
            Self::None | Self::OfTag(_) => {}
            Self::Newest(limit) => {
                omitted = assets.len().saturating_sub(*limit);
                assets.truncate(*limit);
            }
            Self::OfTags(_) => assets.truncate(MAX_TAGGED_MANIFESTS),
        }
        SelectedManifests { assets, omitted }
    }
}

impl<M> PublishedSource<M> {
    /// Creates a source whose listing has the URLs of the files.
    pub fn new(listing: ReleaseListing, manifests: Vec<M>) -> Self {
        Self {
            listing,
            manifests,
            directory: None,
            is_bare_manifest: false,
            repository: None,
        }
    }

    /// Sets the repository on GitHub that this was read from.
    #[must_use]
    pub fn with_repository(mut self, repository: RepoName) -> Self {
        self.repository = Some(repository);
        self
    }

    /// Returns the repository on GitHub that this was read from, if it was.
    pub fn repository(&self) -> Option<&RepoName> {
        self.repository.as_ref()
    }

    /// Returns the subdirectory of the files in the given directory of releases, which is also
    /// their path below a base URL.
    pub fn subdirectory(&self) -> Option<&str> {
        self.listing
            .releases
            .iter()
            .find_map(|release| release.subdirectory.as_deref())
    }

    /// Returns the URL that the names of the files are appended to: below `base`, or else the
    /// `file:` URL of their directory.
    pub fn files_url(&self, base: Option<&BaseUrl>) -> String {
        match base {
            Some(base) => format!("{}/", base.below(self.subdirectory())),
            None => directory_url(self.directory.as_deref().unwrap_or(Path::new("."))),
        }
    }
}

impl<M> PublishedReleases<M> {
    /// Creates a collection without sources. `given` are the sources for messages.
    pub fn new<P: AsRef<Path>>(given: &[P]) -> Self {
        let names: Vec<String> = given
            .iter()
            .map(|source| source.as_ref().display().to_string())
            .collect();
        Self {
            sources: Vec::new(),
            source_names: names.join(", "),
        }
    }

    /// Adds a source.
    pub fn add(&mut self, source: PublishedSource<M>) {
        self.sources.push(source);
    }

    /// Returns the releases of each source.
    pub fn listings_mut(&mut self) -> impl Iterator<Item = &mut ReleaseListing> {
        self.sources.iter_mut().map(|source| &mut source.listing)
    }

    /// Returns the sources, as given, for messages.
    pub fn source_names(&self) -> &str {
        &self.source_names
    }

    /// Returns the directories of the files.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        self.sources
            .iter()
            .filter_map(|source| source.directory.as_deref())
    }

    /// Returns the directories without a manifest: only the names of their files are known.
    pub fn directories_without_manifest(&self) -> impl Iterator<Item = &Path> {
        self.sources
            .iter()
            .filter(|source| source.manifests.is_empty())
            .filter_map(|source| source.directory.as_deref())
    }

    /// Returns whether every source is a directory, or a manifest of one.
    pub fn is_local(&self) -> bool {
        self.sources.iter().all(|part| part.directory.is_some())
    }

    /// Returns the directories whose release has no tag. Manifests without their files are left
    /// out.
    pub fn untagged_directories(&self) -> impl Iterator<Item = &Path> {
        let is_untagged = |part: &&PublishedSource<M>| {
            let mut releases = part.listing.releases.iter();
            !part.is_bare_manifest && releases.any(|release| release.tag_name.is_empty())
        };
        self.sources
            .iter()
            .filter(is_untagged)
            .filter_map(|part| part.directory.as_deref())
    }

    /// Returns the diagnostic for sources without wheels.
    pub fn no_wheels(&self) -> Diagnostic {
        let message = format!("there is no published wheel in {}", self.source_names);
        Diagnostic::new(&published::NO_PUBLISHED_WHEELS, message)
            .at(Location::Argument("--published".to_owned()), "")
            .help(
                "publish a release first; drafts and incomplete uploads are ignored, and so are prereleases without \
                 `--prereleases`",
            )
    }

    /// Merges manifests without files into the listed releases, so that they are not counted as
    /// releases themselves.
    pub fn merge_bare_manifests(&mut self) {
        let (mut bare, others): (Vec<_>, Vec<_>) = std::mem::take(&mut self.sources)
            .into_iter()
            .partition(|source| source.is_bare_manifest);
        let listed = ListedNames::new(&others);
        for source in &mut bare {
            source
                .listing
                .releases
                .retain(|release| !listed.contain(release));
        }
        self.sources = others;
        self.sources.append(&mut bare);
    }
}

/// The tags of listed releases, and the names of their published files.
#[derive(Debug)]
struct ListedNames<'l> {
    tags: FxHashSet<&'l str>,
    files: FxHashSet<&'l str>,
}

impl<'l> ListedNames<'l> {
    fn new<M>(sources: &'l [PublishedSource<M>]) -> Self {
        let releases = sources.iter().flat_map(|source| &source.listing.releases);
        let published = sources.iter().flat_map(|source| source.listing.published());
        Self {
            tags: releases.map(|release| release.tag_name.as_str()).collect(),
            files: published.map(|(_, asset)| asset.name.as_str()).collect(),
        }
    }

    /// Whether these are the names of a release: its tag, or all files of a release without a tag.
    fn contain(&self, release: &ListedRelease) -> bool {
        if release.tag_name.is_empty() {
            let mut assets = release.assets.iter();
            assets.all(|asset| self.files.contains(asset.name.as_str()))
        } else {
            self.tags.contains(release.tag_name.as_str())
        }
    }
}

impl PublishedReleases {
    /// Returns all releases, including drafts, and the repository if a source has it.
    pub fn listing(&self) -> ReleaseListing {
        let mut all = ReleaseListing::default();
        for source in &self.sources {
            all.repository = all
                .repository
                .take()
                .or_else(|| source.listing.repository.clone());
            all.releases.extend(source.listing.releases.iter().cloned());
        }
        all
    }

    /// Returns all manifests.
    pub fn manifests(&self) -> Vec<ReleaseManifest> {
        self.sources
            .iter()
            .flat_map(|source| source.manifests.iter().cloned())
            .collect()
    }

    /// Returns the wheels, archives and sdists whose jobs a plan can skip. `known_rocm` are the
    /// existing ROCm versions, for labels without dots.
    pub fn published_set(&self, known_rocm: Vec<RocmVersion>) -> PublishedSet {
        let listing = self.listing();
        let mut set = PublishedSet::new(known_rocm);
        for (_, _, name) in listing.wheels() {
            set.insert(&name);
        }
        for asset in listing.releases.iter().flat_map(|release| &release.assets) {
            if is_tree_archive(&asset.name) || is_sdist(&asset.name) {
                set.insert_archive(&asset.name);
            }
        }
        set
    }

    /// Returns the document for all releases and manifests, as [`saved`] does.
    ///
    /// # Errors
    /// If a source is a directory: its files have no URL that a listing could contain. A manifest
    /// without files is no such source.
    pub fn to_saved(&self) -> Result<String, Diagnostic> {
        let local = self
            .sources
            .iter()
            .filter(|source| !source.listing.releases.is_empty())
            .find_map(|source| source.directory.as_deref());
        let Some(directory) = local else {
            return Ok(saved(&self.listing(), &self.manifests()));
        };
        let message = format!(
            "the files in `{}` have no URL that could be saved",
            directory.display()
        );
        Err(Diagnostic::new(&published::NOT_A_LISTING, message)
            .at(Location::Argument("--published".to_owned()), "")
            .help("give the directory to the command that reads the listing"))
    }

    /// Returns a warning for each published `.whl` file with an invalid name.
    pub fn name_warnings(&self) -> Vec<Diagnostic> {
        let listing = self.listing();
        listing
            .unreadable()
            .map(|(release, error)| {
                let warning = Diagnostic::new(
                    &codes::UNREADABLE_PUBLISHED_NAME,
                    format!("published file {error}"),
                )
                .at(Location::Argument("--published".to_owned()), "")
                .help("publish it again under the name of a wheel");
                if release.tag_name.is_empty() {
                    warning
                } else {
                    warning.note(format!("it is in release `{}`", release.tag_name))
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{ManifestSelection, PublishedLocation, PublishedReleases, PublishedSource};
    use crate::{ReleaseListing, ReleaseManifest};

    fn listing(json: &str) -> ReleaseListing {
        ReleaseListing::from_json(json).unwrap()
    }

    fn tags(published: &PublishedReleases) -> Vec<String> {
        let listing = published.listing();
        let tag = |release: &crate::ListedRelease| release.tag_name.clone();
        listing.releases.iter().map(tag).collect()
    }

    #[test]
    fn existing_paths_take_precedence_over_repositories() {
        let of = |text: &str| PublishedLocation::of(Path::new(text));
        let repository = PublishedLocation::Repository("o/r".parse().unwrap());
        assert_eq!(of("o/r"), repository);
        // Tests run in the directory of the crate.
        assert_eq!(of("src/codes"), PublishedLocation::Directory);
        assert_eq!(of("src/lib.rs"), PublishedLocation::File);
        for missing in ["o/r.json", "./o/r", "../r", "one", "a/b/c"] {
            assert_eq!(of(missing), PublishedLocation::File, "{missing}");
        }
    }

    #[test]
    fn a_bare_manifest_adds_no_release_that_another_source_lists() {
        let manifest = |tag: Option<&str>| {
            let manifest = ReleaseManifest::new(tag.map(str::to_owned), None, vec![]);
            PublishedSource::of_manifest(manifest, Path::new("m/rock-manifest.json"))
        };
        let mut published: PublishedReleases = PublishedReleases::new(&["m", "o/r"]);
        for tag in [Some("v1"), Some("v2"), None] {
            published.add(manifest(tag));
        }
        let listed = listing(r#"[{"tag_name": "v1"}, {"tag_name": "v0"}]"#);
        published.add(PublishedSource::new(listed, vec![]));
        published.merge_bare_manifests();
        assert_eq!(tags(&published), ["v1", "v0", "v2"]);
        let error = published.to_saved().unwrap_err();
        assert!(error.message.contains("`m`"), "{}", error.message);
        assert_eq!(published.manifests().len(), 3);
        assert!(published.no_wheels().message.ends_with(" in m, o/r"));
    }

    #[test]
    fn manifests_are_selected_newest_first_and_never_of_incomplete_uploads() {
        let listing = listing(
            r#"[
                {"tag_name": "v3", "draft": true, "assets": [{"id": 3, "name": "rock-manifest.json"}]},
                {"tag_name": "v2", "assets": [{"id": 2, "name": "rock-manifest.json"}, {"name": "a.whl"}]},
                {"tag_name": "v1", "assets": [{"id": 1, "name": "rock-manifest.json"}]},
                {"tag_name": "v0", "assets": [{"id": 9, "name": "rock-manifest.json", "state": "starter"}]}
            ]"#,
        );
        let select = |selection: ManifestSelection<'_>| {
            let selected = selection.select(&listing);
            let ids: Vec<u64> = selected.assets.iter().map(|asset| asset.id).collect();
            (ids, selected.omitted)
        };
        let tags = ["v1", "v3"].map(str::to_owned).into();
        assert_eq!(select(ManifestSelection::None), (vec![], 0));
        assert_eq!(select(ManifestSelection::Newest(1)), (vec![2], 1));
        assert_eq!(select(ManifestSelection::Newest(7)), (vec![2, 1], 0));
        assert_eq!(select(ManifestSelection::OfTag("v3")), (vec![3], 0));
        assert_eq!(select(ManifestSelection::OfTags(&tags)), (vec![1], 0));
    }

    #[test]
    fn invalid_wheel_names_are_reported_with_their_release() {
        let mut published: PublishedReleases = PublishedReleases::new(&["o/r"]);
        let listed = listing(
            r#"[{"tag_name": "v1", "assets": [{"name": "a.whl"}, {"name": "a-1-py3-none-any.whl"}]}]"#,
        );
        published.add(PublishedSource::new(listed, vec![]));
        let warnings = published.name_warnings();
        assert_eq!(warnings.len(), 1);
        assert_eq!(warnings[0].notes, ["it is in release `v1`"]);
    }
}
