//! The yanked files of published releases. A yank belongs to the release whose index records it: a
//! file of the same name in another release stays available.

use std::path::{Path, PathBuf};

use rock_diagnostic::{Diagnostic, Diagnostics, Location};
use rock_names::{Digest, YankedFiles};
use rock_sys::read_text;

use crate::codes::release as codes;
use crate::remote::continued_tag;
use crate::{
    INDEX, LARGEST_MANIFEST_BYTES, ListedRelease, MANIFEST, PublishedReleases, ReleaseManifest,
    lists_files, read_yanked_files,
};

/// The yanked files of published releases and of other indexes.
#[derive(Debug, Clone, Default)]
pub struct PublishedYanks {
    /// The files that the indexes in the directories of releases yank.
    releases: Vec<ReleaseYanks>,
    /// The files that other indexes yank, in all releases and with any bytes.
    anywhere: YankedFiles,
}

/// The files that the index in the directory of a release yanks.
#[derive(Debug, Clone)]
struct ReleaseYanks {
    directory: PathBuf,
    /// The tag of the release; empty if it has none.
    tag: String,
    files: YankedFiles,
}

impl PublishedYanks {
    /// Reads the yanked files of the indexes in the directories of the releases, and of these other
    /// `indexes`. An index in the directory of a release yanks files of that release, if it is
    /// published, and any other index files of all releases.
    ///
    /// # Errors
    /// One of the `indexes` is not an index of this program, or a page cannot be read.
    pub fn read(published: &PublishedReleases, indexes: &[PathBuf]) -> Result<Self, Diagnostics> {
        let mut yanks = Self::default();
        for source in &published.sources {
            let Some(directory) = &source.directory else {
                continue;
            };
            if let Some(files) = read_yanked_files(&directory.join(INDEX))? {
                let of_manifest = source.manifests.iter().find_map(|one| one.tag.clone());
                let releases = &source.listing.releases;
                let of_release = || releases.first().map(|release| release.tag_name.clone());
                yanks.releases.push(ReleaseYanks {
                    directory: directory.clone(),
                    tag: of_manifest.or_else(of_release).unwrap_or_default(),
                    files,
                });
            }
        }
        for index in indexes {
            let Some(files) = read_yanked_files(index)? else {
                return Err(missing_index(index).into());
            };
            let files = files.ignoring_digests();
            match release_of_index(index).filter(|(_, tag)| has_release(published, tag)) {
                Some((directory, tag)) => yanks.releases.push(ReleaseYanks {
                    directory,
                    tag,
                    files,
                }),
                None => yanks.anywhere.extend(files),
            }
        }
        Ok(yanks)
    }

    /// Returns the reason, which may be empty, if this file of a release is yanked. A release is
    /// identified by its tag, or by the tag that it continues. Yanks of a directory without a tag
    /// apply to the files in this directory, and to those of releases without a directory.
    pub fn reason(
        &self,
        directory: Option<&Path>,
        release: &ListedRelease,
        name: &str,
        digest: Option<Digest>,
    ) -> Option<&str> {
        let continued = release.body.as_deref().and_then(continued_tag);
        let is_of_release = |yanks: &&ReleaseYanks| {
            if yanks.tag.is_empty() {
                directory.is_none_or(|directory| yanks.directory == directory)
            } else {
                yanks.tag == release.tag_name || continued == Some(yanks.tag.as_str())
            }
        };
        self.releases
            .iter()
            .filter(is_of_release)
            .map(|yanks| &yanks.files)
            .chain([&self.anywhere])
            .find_map(|files| files.reason(name, digest))
    }

    /// Returns all yanked files, whatever their release.
    pub fn into_files(self) -> YankedFiles {
        let mut all = YankedFiles::default();
        for yanks in self.releases {
            all.extend(yanks.files);
        }
        all.extend(self.anywhere);
        all
    }
}

/// Returns the diagnostic for a directory that is not an index.
fn missing_index(directory: &Path) -> Diagnostic {
    let pages = directory.join(INDEX);
    let help = if lists_files(&pages) {
        format!("pass the pages of its index, `{}`", pages.display())
    } else {
        "pass the directory that `rock-matrix index build` wrote, such as `DIR/simple`".to_owned()
    };
    Diagnostic::new(
        &codes::NOT_AN_INDEX,
        format!("there is no index in `{}`", directory.display()),
    )
    .at(Location::Argument("--yanked-in".to_owned()), "")
    .help(help)
}

/// Returns the directory and the tag of the release whose index this is; `None` for other indexes,
/// and for a release without a tag.
fn release_of_index(index: &Path) -> Option<(PathBuf, String)> {
    let directory = index.parent().filter(|_| index.ends_with(INDEX))?;
    let text = read_text(&directory.join(MANIFEST), LARGEST_MANIFEST_BYTES).ok()?;
    let tag = ReleaseManifest::from_json(&text).ok()?.tag?;
    Some((directory.to_owned(), tag))
}

/// Returns whether a release with this tag is published.
fn has_release(published: &PublishedReleases, tag: &str) -> bool {
    published
        .sources
        .iter()
        .flat_map(|source| &source.listing.releases)
        .any(|release| release.tag_name == tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_yank_applies_to_the_release_whose_index_records_it() {
        let digest = Some(Digest::new([1; 32]));
        let files: YankedFiles = [("a.whl".to_owned(), digest, "broken".to_owned())]
            .into_iter()
            .collect();
        let yanks = |tag: &str| PublishedYanks {
            releases: vec![ReleaseYanks {
                directory: "releases/v1".into(),
                tag: tag.to_owned(),
                files: files.clone(),
            }],
            anywhere: YankedFiles::default(),
        };
        let release = |tag: &str, body: &str| ListedRelease {
            tag_name: tag.to_owned(),
            body: Some(body.to_owned()),
            ..ListedRelease::default()
        };
        let is_yanked =
            |yanks: &PublishedYanks, directory: Option<&str>, release: &ListedRelease| {
                yanks
                    .reason(directory.map(Path::new), release, "a.whl", digest)
                    .is_some()
            };
        let (tagged, untagged) = (yanks("v1"), yanks(""));
        let part = release("v1-2", "<!-- rock-matrix continues v1 -->");
        assert!(is_yanked(&tagged, None, &release("v1", "")));
        assert!(is_yanked(&tagged, None, &part));
        assert!(!is_yanked(&tagged, None, &release("v2", "")));
        assert!(is_yanked(&tagged, Some("releases/v1"), &release("v1", "")));
        assert!(!is_yanked(&tagged, Some("releases/v2"), &release("v2", "")));
        assert!(is_yanked(&untagged, None, &release("v2", "")));
        assert!(!is_yanked(&untagged, Some("dist"), &release("", "")));
        assert_eq!(tagged.into_files(), files);
    }
}
