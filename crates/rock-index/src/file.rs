//! The entry of one file in the index.

use std::borrow::Cow;
use std::sync::Arc;

use super::{FileLinks, IndexFolder};
use rock_compat::RuntimeRequirements;
use rock_names::{Digest, DistributionName, Version, WheelName};

/// A file that the index lists.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexFile {
    /// The filename on disk, in which `+` is not encoded.
    pub name: String,
    pub project: DistributionName,
    /// The version, including the local version label.
    pub version: Version,
    /// The directory of the index that lists it.
    pub folder: IndexFolder,
    pub kind: FileKind,
    /// The SHA-256 digest; `None` for a published file whose digest is unknown.
    pub digest: Option<Digest>,
    pub size_bytes: u64,
    /// `Requires-Python` of its METADATA.
    pub requires_python: Option<String>,
    /// `Requires-Dist` lines of its METADATA that apply without an extra.
    pub requires: Vec<String>,
    /// Its METADATA, if that is served next to the file (PEP 658).
    pub metadata: Option<CoreMetadata>,
    /// Whether it is yanked.
    pub yanked: YankStatus,
    /// When it was published, as RFC 3339 in UTC; `None` if unknown.
    pub uploaded: Option<String>,
    /// Where it was published; `None` if the links of the index apply to it.
    pub origin: Option<Arc<PublishedOrigin>>,
    /// Whether it is a package of the ROCm SDK. SDK packages need only each other, and their local
    /// version label names the build that all of them belong to.
    pub is_of_sdk: bool,
    /// Its needs at run time, if a plan or a manifest states them; for other wheels, a
    /// [`RuntimeRequirementsLookup`](crate::RuntimeRequirementsLookup) applies.
    pub run_time: Option<Arc<RuntimeRequirements>>,
}

impl IndexFile {
    /// Creates a file with the facts that follow from its name, and defaults for all others.
    pub fn named(
        name: String,
        project: DistributionName,
        version: Version,
        kind: FileKind,
    ) -> Self {
        Self {
            name,
            project,
            version,
            folder: IndexFolder::Any,
            kind,
            digest: None,
            size_bytes: 0,
            requires_python: None,
            requires: Vec::new(),
            metadata: None,
            yanked: YankStatus::No,
            uploaded: None,
            origin: None,
            is_of_sdk: false,
            run_time: None,
        }
    }

    /// Shares memory with a file of the same version and directory. Neighbouring files usually are,
    /// and versions take up half of the memory of a file.
    pub fn share(&mut self, other: &Self) {
        self.version.share(&other.version);
        if self.run_time == other.run_time {
            self.run_time.clone_from(&other.run_time);
        }
        if self.folder == other.folder {
            self.folder.clone_from(&other.folder);
        }
    }

    /// Returns the name in lower case, as case-insensitive file systems compare it.
    pub fn folded_name(&self) -> Cow<'_, str> {
        let is_folded = self
            .name
            .bytes()
            .all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase());
        if is_folded {
            Cow::Borrowed(&self.name)
        } else {
            Cow::Owned(self.name.to_lowercase())
        }
    }

    /// Returns the local version label of a wheel if the label does not say what the wheel is for.
    /// Such a wheel is in no directory of the index: among the unlabelled files of `any`,
    /// installers on every machine would take it for the latest version.
    pub fn unread_label(&self) -> Option<&str> {
        match &self.kind {
            FileKind::Wheel(wheel) if self.folder == IndexFolder::Any && !self.is_of_sdk => {
                wheel.version().local()
            }
            _ => None,
        }
    }

    /// Whether installers can find it in the index.
    pub fn is_listed(&self) -> bool {
        self.kind != FileKind::Tree && self.unread_label().is_none()
    }

    /// Returns the link to the file from a page `depth` directories below the root of an index.
    /// `links` applies to files without an origin.
    pub(super) fn link(&self, links: &FileLinks, depth: usize) -> String {
        self.origin
            .as_ref()
            .map_or(links, |origin| &origin.links)
            .link(depth, &self.name)
    }
}

/// The place where a file was published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedOrigin {
    /// The base of its download links.
    pub links: FileLinks,
    /// The tag of its release; empty if it has none.
    pub tag: String,
}

/// The kind of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileKind {
    /// A wheel.
    Wheel(WheelName),
    /// A source distribution.
    Sdist,
    /// An archive of an install tree: part of a release, but not for installers.
    Tree,
}

/// The METADATA of a wheel, served as `<file>.metadata`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreMetadata {
    /// The content of METADATA in the wheel; `None` if it is already served and only its digest is
    /// known.
    pub bytes: Option<Vec<u8>>,
    /// The SHA-256 digest of the content.
    pub digest: Digest,
}

/// Whether installers ignore a file unless its version is pinned (PEP 592).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum YankStatus {
    /// Not yanked.
    #[default]
    No,
    /// Yanked, with the reason; empty if no reason was given.
    Because(String),
}

#[cfg(test)]
mod tests {
    use crate::testing::file;

    #[test]
    fn a_file_that_shares_memory_with_another_one_is_as_it_was() {
        let before = file(
            "a-1.0+rocm62torch2.5-cp311-cp311-linux_x86_64.whl",
            "6.2",
            "2.5",
        );
        for name in [
            "b-1.0+rocm62torch2.5-py3-none-any.whl",
            "b-1.0.0+rocm62torch2.5-py3-none-any.whl",
        ] {
            let own = file(name, "6.2", "2.5");
            let mut shared = own.clone();
            shared.share(&before);
            assert_eq!(shared, own);
            assert_eq!(shared.version.as_str(), own.version.as_str());
        }
    }

    #[test]
    fn names_are_folded_with_all_their_letters() {
        for (name, folded) in [
            ("a-1.whl", "a-1.whl"),
            ("A-1.whl", "a-1.whl"),
            ("\u{c4}-1.whl", "\u{e4}-1.whl"),
        ] {
            let named = crate::IndexFile {
                name: name.to_owned(),
                ..file("a-1-py3-none-any.whl", "", "")
            };
            assert_eq!(named.folded_name(), folded);
        }
    }
}
