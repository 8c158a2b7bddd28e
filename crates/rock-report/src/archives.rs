//! Archives of install trees, which no index lists: what their names tell, those that are expected
//! and those that are there.

use super::{ExpectedCells, MachineTag, WheelListing};
use rock_names::{Digest, DistributionName, TREE_ARCHIVE_SUFFIX};

/// What the name of an archive tells: of `aotriton-0.13.0+rocm7.14-gfx942-linux_x86_64-tree.tar.gz`
/// the first and the last part.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ArchiveName {
    /// What it runs on.
    pub machine: MachineTag,
    /// The distribution, normalised.
    pub distribution: String,
    /// All of it.
    pub text: String,
}

/// An archive that a plan says should be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedArchive {
    /// Its name.
    pub name: ArchiveName,
    /// The job that makes it; `None` for one that the plan leaves out because it is published.
    pub job: Option<String>,
}

/// An archive of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishedArchive {
    /// Its name.
    pub name: ArchiveName,
    /// SHA-256 of it, where it is known.
    pub digest: Option<Digest>,
    /// Where it is fetched from, encoded for a document.
    pub address: Option<String>,
    /// The tag of its release; empty for a folder without one.
    pub tag: String,
}

/// An expected archive, and whether it is there.
#[derive(Debug, Clone, Copy)]
pub struct MatchedArchive<'a> {
    /// The archive.
    pub archive: &'a ExpectedArchive,
    /// Whether there is a file of its name.
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

/// Each expected archive with whether it is there, by name.
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

/// What so many wheels and archives are called together.
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
    fn the_name_of_an_archive_tells_distribution_and_platform() {
        let told = |name: &str| {
            let ArchiveName {
                machine,
                distribution,
                ..
            } = ArchiveName::from(name);
            (distribution, machine.as_str().to_owned())
        };
        let of = |distribution: &str, machine: &str| (distribution.to_owned(), machine.to_owned());
        let name = "composable_kernel-1.0+rocm7.14-gfx942-cp312-win_amd64-tree.tar.gz";
        assert_eq!(told(name), of("composable-kernel", "win_amd64"));
        assert_eq!(told("own-tree.tar.gz"), of("own", "any"));
    }
}
