//! Patch sets: which files are applied to which repository, in what order, and whether before or
//! after hipify.

use std::collections::BTreeMap;

use rock_names::Digest;

/// The patches in one directory below a patch root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PatchSet {
    /// The name of the set: its directory below the patch root.
    pub name: String,
    /// The path of the directory.
    pub directory: String,
    /// The series of the set, sorted by repository and stage; no series is empty.
    pub series: Vec<PatchSeries>,
}

/// The patches of one repository at one stage, in the order in which they are applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchSeries {
    /// The directory of the repository in the set: a name for the outer repository, the path of a
    /// submodule otherwise.
    pub repository: String,
    /// The stage at which the patches are applied.
    pub stage: PatchStage,
    /// The patches, in byte order of their filenames.
    pub patches: Vec<PatchFile>,
}

/// The stage at which patches are applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PatchStage {
    /// Before hipify, on top of the upstream sources.
    Base,
    /// After hipify, on top of the hipified sources.
    Hipified,
}

/// A patch file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchFile {
    /// The path below the directory of the set, with `/` as separator.
    pub path: String,
    /// The digest of the file.
    pub digest: Digest,
}

impl PatchStage {
    /// Both stages, in the order in which they are applied.
    pub const ALL: [Self; 2] = [Self::Base, Self::Hipified];

    /// Returns the name of the directory with the patches of this stage.
    pub fn directory(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Hipified => "hipified",
        }
    }
}

impl PatchSet {
    /// Returns whether the set has patches for this repository.
    pub fn is_about(&self, repository: &str) -> bool {
        self.series
            .iter()
            .any(|series| series.repository == repository)
    }

    /// Creates a set from the files of a directory. Files that are not patches of a stage are
    /// ignored.
    pub fn new(name: &str, directory: &str, files: impl IntoIterator<Item = PatchFile>) -> Self {
        let mut series: BTreeMap<(String, PatchStage), Vec<PatchFile>> = BTreeMap::new();
        for patch in files {
            if let Some(key) = series_of(&patch.path) {
                series.entry(key).or_default().push(patch);
            }
        }
        let mut set = Self {
            name: name.to_owned(),
            directory: directory.to_owned(),
            series: Vec::new(),
        };
        for ((repository, stage), mut patches) in series {
            // All patches of a series are in one directory, so sorting by path sorts by filename.
            patches.sort_by(|a, b| a.path.cmp(&b.path));
            set.series.push(PatchSeries {
                repository,
                stage,
                patches,
            });
        }
        set
    }

    /// Returns whether a path below the directory of a set is a patch.
    pub fn is_patch(path: &str) -> bool {
        series_of(path).is_some()
    }

    /// Returns the directory of the repository that the patch at this path applies to.
    pub fn repository_of(path: &str) -> Option<&str> {
        let repository = path.rsplit_once('/')?.0.rsplit_once('/')?.0;
        Self::is_patch(path).then_some(repository)
    }

    /// Returns the patches of a repository at a stage.
    pub fn patches(&self, repository: &str, stage: PatchStage) -> &[PatchFile] {
        let found = self
            .series
            .iter()
            .find(|series| series.repository == repository && series.stage == stage);
        found.map_or(&[], |series| &series.patches)
    }
}

/// Returns the repository and the stage of a patch at `REPOSITORY/STAGE/NAME.patch`.
fn series_of(path: &str) -> Option<(String, PatchStage)> {
    let (directory, name) = path.rsplit_once('/')?;
    let (repository, stage) = directory.rsplit_once('/')?;
    let stage = PatchStage::ALL
        .into_iter()
        .find(|known| known.directory() == stage)?;
    let is_patch = name
        .strip_suffix(".patch")
        .is_some_and(|stem| !stem.is_empty());
    is_patch.then(|| (repository.to_owned(), stage))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(paths: &[&str]) -> PatchSet {
        let patch = |path: &&str| PatchFile {
            path: (*path).to_owned(),
            digest: Digest::new([0; 32]),
        };
        PatchSet::new("v1", "/patches/v1", paths.iter().map(patch))
    }

    #[test]
    fn patches_are_applied_in_the_byte_order_of_their_names() {
        let found = set(&[
            "top/base/0010-b.patch",
            "top/base/0002-a.patch",
            "top/base/0002-B.patch",
        ]);
        let paths: Vec<&str> = found
            .patches("top", PatchStage::Base)
            .iter()
            .map(|patch| patch.path.as_str())
            .collect();
        assert_eq!(
            paths,
            [
                "top/base/0002-B.patch",
                "top/base/0002-a.patch",
                "top/base/0010-b.patch"
            ]
        );
        assert_eq!(found.patches("top", PatchStage::Hipified), []);
    }

    #[test]
    fn a_submodules_patches_lie_below_its_path_and_other_files_are_none() {
        let found = set(&[
            "third_party/inner/hipified/0001-x.patch",
            "third_party/inner/hipified/README.md",
            "top/base/.patch",
            "top/0001-x.patch",
            "base/0001-x.patch",
        ]);
        assert_eq!(found.series.len(), 1);
        assert_eq!(
            found
                .patches("third_party/inner", PatchStage::Hipified)
                .len(),
            1
        );
    }
}
