//! Archives of install trees, which indexes do not list: parsed names, expected and published
//! archives.

use super::{ExpectedCells, MachineTag, WheelListing};
use rock_names::{Digest, DistributionName, TREE_ARCHIVE_SUFFIX};

/// The distribution and platform from an archive name: the first and the last part of
/// `aotriton-0.13.0+rocm7.14-gfx942-linux_x86_64-tree.tar.gz`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ArchiveName {
    /// The platform.
    pub machine: MachineTag,
    /// The normalized name of the distribution.
    pub distribution: String,
    /// The complete name.
    pub text: String,
}

/// An archive that a plan expects to be published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedArchive {
    pub name: ArchiveName,
    /// The job that builds it; `None` for an archive that the plan skips because it is already
    /// published.
    pub job: Option<String>,
}

/// A published archive of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedArchive {
    pub name: ArchiveName,
    /// The SHA-256 digest, if known.
    pub digest: Option<Digest>,
    /// The download URL, encoded for use in documents.
    pub address: Option<String>,
    /// The tag of its release; empty for a directory without one.
    pub tag: String,
}

/// An expected archive and whether it is published.
#[derive(Debug, Clone, Copy)]
pub struct MatchedArchive<'a> {
    pub archive: &'a ExpectedArchive,
    /// Whether a file of this name is published.
    pub is_there: bool,
}

impl From<&str> for ArchiveName {
    fn from(text: &str) -> Self {
        let stem = text.strip_suffix(TREE_ARCHIVE_SUFFIX).unwrap_or(text);
        let (distribution, rest) = stem.split_once('-').unwrap_or((stem, "any"));
        let normal = distribution
            .parse::<DistributionName>()
            .map(|name| name.normalized());
        Self {
            machine: MachineTag::of_tag(rest.rsplit('-').next().unwrap_or(rest)),
            distribution: normal.unwrap_or_else(|_| distribution.to_owned()),
            text: text.to_owned(),
        }
    }
}

/// Returns each expected archive with whether it is published, sorted by name.
pub fn matched_archives<'a>(
    expected: &'a ExpectedCells,
    wheels: &WheelListing,
) -> Vec<MatchedArchive<'a>> {
    let is_there = |name: &str| {
        wheels
            .archives
            .iter()
            .any(|archive| archive.name.text == name)
    };
    let archives = expected.archives.iter();
    archives
        .map(|(name, archive)| MatchedArchive {
            archive,
            is_there: is_there(name),
        })
        .collect()
}

/// Returns the noun for these numbers of wheels and archives: `wheel`, `archive` or `file`.
pub fn called(wheels: usize, archives: usize) -> &'static str {
    match (wheels, archives) {
        (_, 0) => "wheel",
        (0, _) => "archive",
        _ => "file",
    }
}

#[cfg(test)]
mod tests {
    use super::ArchiveName;

    #[test]
    fn the_name_of_an_archive_has_distribution_and_platform() {
        let parts_of = |name: &str| {
            let ArchiveName {
                machine,
                distribution,
                ..
            } = ArchiveName::from(name);
            (distribution, machine.as_str().to_owned())
        };
        let of = |distribution: &str, machine: &str| (distribution.to_owned(), machine.to_owned());
        let name = "composable_kernel-1.0+rocm7.14-gfx942-cp312-win_amd64-tree.tar.gz";
        assert_eq!(parts_of(name), of("composable-kernel", "win_amd64"));
        assert_eq!(parts_of("own-tree.tar.gz"), of("own", "any"));
    }
}
