//! The input of documents about published releases.

use std::path::{Path, PathBuf};

use rock_compat::Compat;
use rock_diagnostic::nearest::nearest;
use rock_diagnostic::{Diagnostic, Location, Sink, shell_line, shell_quoted};
use rock_index::BaseUrl;
use rock_names::{RepoName, RocmVersion, YankedFiles};
use rock_publish::{
    ListedRelease, PublishedReleases, ReleaseListing, ReleaseManifest, rebuilt_warning,
};

use super::{ListingContext, WheelListing, repository_in, repository_of, split_release};
use crate::codes::release as codes;

/// Published releases with their manifests, yanked files and URLs.
#[derive(Debug)]
pub struct ReleaseInventory {
    /// The releases, including drafts.
    pub listing: ReleaseListing,
    manifests: Vec<ReleaseManifest>,
    yanked: YankedFiles,
    repository: Option<RepoName>,
    base: Option<BaseUrl>,
    /// The sources, for messages.
    source_names: String,
    /// Whether all sources are directories.
    is_local: bool,
    /// A directory whose release has no tag.
    untagged_directory: Option<PathBuf>,
}

/// Maximum number of tags that a message lists.
const MAX_LISTED_TAGS: usize = 5;

impl ReleaseInventory {
    /// Creates an inventory. `repository` is used if set, otherwise that of the releases; `base` is
    /// the URL of the files, if it is not that of their releases.
    pub fn new(
        published: &PublishedReleases,
        repository: Option<RepoName>,
        base: Option<BaseUrl>,
    ) -> Self {
        let listing = published.listing();
        let listed = || listing.repository.as_deref()?.parse().ok();
        Self {
            repository: repository.or_else(listed),
            manifests: published.manifests(),
            yanked: YankedFiles::default(),
            base,
            source_names: published.source_names().to_owned(),
            is_local: published.is_local(),
            untagged_directory: published.untagged_directories().next().map(Path::to_owned),
            listing,
        }
    }

    /// Sets the yanked files.
    #[must_use]
    pub fn with_yanked(self, yanked: YankedFiles) -> Self {
        Self { yanked, ..self }
    }

    /// Replaces the manifests.
    pub fn set_manifests(&mut self, manifests: Vec<ReleaseManifest>) {
        self.manifests = manifests;
    }

    /// Whether the release with this tag has a manifest.
    pub fn has_manifest_of(&self, tag: &str) -> bool {
        self.manifests
            .iter()
            .any(|manifest| manifest.tag.as_deref() == Some(tag))
    }

    /// Returns the repository of a release: that of the inventory, or of the URLs of the release or
    /// of the files.
    pub fn repository_of(&self, release: &ListedRelease) -> Option<RepoName> {
        self.repository
            .clone()
            .or_else(|| repository_of(release))
            .or_else(|| repository_in(&self.base.as_ref()?.to_string()))
    }

    /// Returns the release of a tag, followed by those that continue it.
    ///
    /// A release of a directory, for which notes are written before it exists on GitHub, is split
    /// into the releases that it becomes there, each with its own URL. `most_assets` is the number
    /// of files that a release can have. Its URL is that of the inventory, or else `url`.
    ///
    /// # Errors
    /// If no release has the tag.
    pub fn take_release(
        &mut self,
        tag: &str,
        most_assets: usize,
        url: Option<&BaseUrl>,
    ) -> Result<Vec<ListedRelease>, Diagnostic> {
        if let Some(parts) = self.split_local_release(tag, most_assets, url) {
            self.base = None;
            return Ok(parts);
        }
        let releases: Vec<ListedRelease> = self.listing.of_tag(tag).into_iter().cloned().collect();
        if releases.is_empty() {
            return Err(self.unknown_release(tag));
        }
        Ok(releases)
    }

    fn split_local_release(
        &self,
        tag: &str,
        most_assets: usize,
        url: Option<&BaseUrl>,
    ) -> Option<Vec<ListedRelease>> {
        let is_local = |release: &&ListedRelease| {
            release.tag_name == tag && release.id == 0 && release.html_url.is_none()
        };
        let release = self.listing.releases.iter().find(is_local)?;
        split_release(release, self.base.as_ref().or(url)?, most_assets)
    }

    fn unknown_release(&self, tag: &str) -> Diagnostic {
        let tags: Vec<&str> = self
            .listing
            .releases
            .iter()
            .map(|release| release.tag_name.as_str())
            .filter(|tag| !tag.is_empty())
            .collect();
        let error = Diagnostic::new(
            &codes::UNKNOWN_RELEASE,
            format!("no release has the tag `{tag}`"),
        )
        .at(Location::Argument("--tag".to_owned()), "");
        match (nearest(tag, tags.iter().copied()), &self.untagged_directory) {
            (Some(near), _) => error.help(format!("did you mean `{near}`?")),
            (None, Some(directory)) => error
                .note(format!(
                    "the release in `{}` has no tag",
                    directory.display()
                ))
                .help(publish_with_tag(directory, tag)),
            (None, None) if !self.is_local => error.help("save the listing again, with drafts"),
            (None, None) if tags.is_empty() => error.help(format!(
                "pass a release that `rock-matrix publish --tag {}` wrote",
                shell_quoted(tag)
            )),
            (None, None) => {
                let tags: Vec<String> = tags
                    .iter()
                    .take(MAX_LISTED_TAGS)
                    .map(|tag| format!("`{tag}`"))
                    .collect();
                error.help(format!("the tags are {}", tags.join(", ")))
            }
        }
    }

    /// Returns the published wheels, and reports names that cannot be parsed.
    pub fn wheels(&self, compat: &Compat, sink: &mut Sink) -> WheelListing {
        let wheels = WheelListing::published(&self.listing, self.context(compat.rocm_versions()));
        wheels.report(&self.source_names, sink);
        wheels
    }

    /// Returns the published wheels without those that a newer release rebuilt, and reports the
    /// rebuilt ones that are not yanked, and names that cannot be parsed.
    pub fn newest_wheels(&self, compat: &Compat, sink: &mut Sink) -> WheelListing {
        let mut wheels = self.wheels(compat, sink);
        let mut rebuilt = wheels.pass_over_older();
        // Yanked wheels are not recommended.
        rebuilt.retain(|file| {
            let digest = file.offered.digest;
            self.yanked.reason(&file.name, digest).is_none()
        });
        sink.extend(rebuilt_warning(&rebuilt));
        wheels
    }

    /// Returns the wheels of these releases, including drafts, and reports names that cannot be
    /// parsed.
    pub fn wheels_of(
        &self,
        releases: &[ListedRelease],
        compat: &Compat,
        sink: &mut Sink,
    ) -> WheelListing {
        let wheels = WheelListing::of(releases, self.context(compat.rocm_versions()));
        wheels.report(&self.source_names, sink);
        wheels
    }

    fn context<'a>(&'a self, known_rocm: &'a [RocmVersion]) -> ListingContext<'a> {
        ListingContext {
            manifests: &self.manifests,
            base: self.base.as_ref(),
            repository: self.repository.as_ref(),
            known_rocm,
            yanked: Some(&self.yanked),
        }
    }
}

/// Returns the hint that publishes the wheels of a directory as a release with this tag, to a
/// directory next to it: a release with a tag is in a subdirectory, and a release cannot contain
/// another one.
fn publish_with_tag(directory: &Path, tag: &str) -> String {
    let parent = match directory.file_name() {
        Some(name) => directory.with_file_name(format!("{}-tagged", name.display())),
        None => PathBuf::from("../releases"),
    };
    let (directory, parent) = (
        directory.display().to_string(),
        parent.display().to_string(),
    );
    let words = ["publish", &directory, "--out", &parent, "--tag", tag];
    format!(
        "publish its wheels with the tag, with `rock-matrix {}`, and pass `--published {}`",
        shell_line(words),
        shell_quoted(&parent)
    )
}

#[cfg(test)]
mod tests {
    use rock_compat::Compat;
    use rock_diagnostic::Sink;
    use rock_publish::{PublishedReleases, PublishedSource, ReleaseListing};

    use super::ReleaseInventory;

    fn inventory(json: &str) -> ReleaseInventory {
        let mut published: PublishedReleases = PublishedReleases::new(&["releases.json"]);
        let listing = ReleaseListing::from_json(json).unwrap();
        published.add(PublishedSource::new(listing, vec![]));
        ReleaseInventory::new(&published, None, None)
    }

    #[test]
    fn a_local_release_has_the_url_that_it_will_be_published_at() {
        let digest = format!("sha256:{}", "07".repeat(32));
        let asset = |name: &str| format!(r#"{{"name": "{name}", "digest": "{digest}"}}"#);
        let names = ["a-1-py3-none-any.whl", "rock-manifest.json", "SHA256SUMS"];
        let assets = names.map(asset).join(",");
        let mut inventory = inventory(&format!(r#"[{{"tag_name": "v1", "assets": [{assets}]}}]"#));
        let url = "https://github.com/o/r/releases/download/v1"
            .parse()
            .unwrap();
        let releases = inventory.take_release("v1", 1000, Some(&url)).unwrap();
        let repository = inventory.repository_of(&releases[0]).unwrap();
        assert_eq!(repository.to_string(), "o/r");
        let wheels = inventory.wheels_of(&releases, &Compat::embedded(), &mut Sink::new());
        assert_eq!(
            wheels.all[0].address.as_deref(),
            Some("https://github.com/o/r/releases/download/v1/a-1-py3-none-any.whl")
        );
    }

    #[test]
    fn an_unknown_tag_gets_a_suggestion() {
        let mut inventory = inventory(r#"[{"tag_name": "nightly-1"}]"#);
        let mut help = |tag: &str| inventory.take_release(tag, 1000, None).unwrap_err().help;
        assert_eq!(help("nightly-2").unwrap(), "did you mean `nightly-1`?");
        assert_eq!(help("x").unwrap(), "save the listing again, with drafts");
    }

    #[test]
    fn a_tag_that_no_directory_has_gets_a_hint() {
        let error = |json: &str, directory: &str| {
            let mut published: PublishedReleases = PublishedReleases::new(&[directory]);
            let listing = ReleaseListing::from_json(json).unwrap();
            let mut source = PublishedSource::new(listing, vec![]);
            source.directory = Some(directory.into());
            published.add(source);
            ReleaseInventory::new(&published, None, None)
                .take_release("v1", 1000, None)
                .unwrap_err()
        };
        let help = |json: &str, directory: &str| error(json, directory).help.unwrap();
        let untagged = r#"[{"tag_name": ""}]"#;
        assert_eq!(
            error(untagged, "./release").notes,
            ["the release in `./release` has no tag"]
        );
        assert_eq!(
            help(untagged, "./release"),
            "publish its wheels with the tag, with `rock-matrix publish ./release --out \
             ./release-tagged --tag v1`, and pass `--published ./release-tagged`"
        );
        assert!(help(untagged, "/a/releases").contains(" --out /a/releases-tagged --tag v1`"));
        assert!(help(untagged, ".").contains(" --out ../releases --tag v1`"));
        let tagged = r#"[{"tag_name": "nightly-1"}, {"tag_name": "nightly-2"}]"#;
        assert_eq!(
            help(tagged, "release"),
            "the tags are `nightly-1`, `nightly-2`"
        );
    }
}
