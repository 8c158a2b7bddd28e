//! One file as the index sees it.

use std::borrow::Cow;
use std::sync::Arc;

use super::{FileLinks, IndexFolder};
use rock_names::{Digest, DistributionName, Version, WheelName};
use rock_plan::config::RunTime;

/// A file that the index lists.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexFile {
    /// The file's name as it lies on the disk, `+` and all.
    pub name: String,
    /// The project it belongs to.
    pub project: DistributionName,
    /// Its version with label.
    pub version: Version,
    /// The folder it is listed in.
    pub folder: IndexFolder,
    /// What kind of file it is.
    pub kind: FileKind,
    /// SHA-256 of the file; `None` for a published one of which nothing tells it.
    pub digest: Option<Digest>,
    /// Its size.
    pub size_bytes: u64,
    /// `Requires-Python` of its METADATA.
    pub requires_python: Option<String>,
    /// `Requires-Dist` lines of its METADATA that hold without an extra.
    pub requires: Vec<String>,
    /// Its METADATA, where it is served beside the file (PEP 658).
    pub metadata: Option<CoreMetadata>,
    /// Whether it is withdrawn.
    pub yanked: YankStatus,
    /// When it was published, RFC 3339 in UTC, where that is known.
    pub uploaded: Option<String>,
    /// Where it was published, where that is not where the others lie.
    pub origin: Option<Arc<PublishedOrigin>>,
    /// Whether it is a package of the ROCm SDK. Those need each other and nothing else, and a label
    /// of theirs names the build that all of them are of.
    pub is_of_sdk: bool,
    /// Its needs at run time, where a plan or a manifest says so.
    pub run_time: Option<Arc<RunTime>>,
}

impl IndexFile {
    /// A file of which no more is known than its name says.
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

    /// Takes the memory of a file of the same version and folder for both. Files beside each other
    /// are mostly such, and versions are half of what a file takes.
    pub fn share(&mut self, other: &Self) {
        self.version.share(&other.version);
        if let FileKind::Wheel(wheel) = &mut self.kind {
            wheel.share_version(&self.version);
        }
        if self.run_time == other.run_time {
            self.run_time.clone_from(&other.run_time);
        }
        if self.folder == other.folder {
            self.folder.clone_from(&other.folder);
        }
    }

    /// Its name as file systems take it that tell no capitals apart.
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

    /// The label of a wheel of which it does not tell what the wheel is for. Such a wheel is in no
    /// folder: among the unlabelled ones of `any` an installer would take it for the latest, on
    /// every machine.
    pub fn unread_label(&self) -> Option<&str> {
        match &self.kind {
            FileKind::Wheel(wheel) if self.folder == IndexFolder::Any && !self.is_of_sdk => {
                wheel.version().local()
            }
            _ => None,
        }
    }

    /// Whether installers are offered it.
    pub fn is_listed(&self) -> bool {
        self.kind != FileKind::Tree && self.unread_label().is_none()
    }

    /// The link to it from a page this many folders below the root of an index whose files lie by
    /// `links`.
    pub(super) fn link(&self, links: &FileLinks, depth: usize) -> String {
        self.origin
            .as_ref()
            .map_or(links, |origin| &origin.links)
            .link(depth, &self.name)
    }
}

/// Where a file was published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedOrigin {
    /// Where it is fetched from.
    pub links: FileLinks,
    /// The tag of its release; empty for none.
    pub tag: String,
}

/// A kind of file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileKind {
    /// A wheel.
    Wheel(WheelName),
    /// A source distribution.
    Sdist,
    /// An archive of an install tree: part of a release, and nothing for installers.
    Tree,
}

/// The METADATA of a wheel, served as `<file>.metadata`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreMetadata {
    /// The file as it stands in the wheel; `None` where it is served already and only its digest is
    /// known.
    pub bytes: Option<Vec<u8>>,
    /// SHA-256 of it.
    pub digest: Digest,
}

/// Whether installers pass over a file (PEP 592).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum YankStatus {
    /// It is offered.
    #[default]
    No,
    /// It is withdrawn, with the reason; empty for none.
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
