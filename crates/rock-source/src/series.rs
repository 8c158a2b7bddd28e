//! Patch sets: which files are applied to which repository, before or after hipify, and in what
//! order.

use std::collections::BTreeMap;

use rock_names::Digest;

/// The patches of one folder below a patch root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PatchSet {
    /// The name of the set: its folder below the patch root.
    pub name: String,
    /// The folder.
    pub folder: String,
    /// Its series, sorted by repository and stage. None is empty.
    pub series: Vec<PatchSeries>,
}

/// The patches of one repository at one stage, in the order in which they are applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchSeries {
    /// The repository's folder in the set: a name for the outer one, a submodule's path for
    /// another.
    pub repository: String,
    /// When they are applied.
    pub stage: PatchStage,
    /// The patches, in byte order of their file names.
    pub patches: Vec<PatchFile>,
}

/// When patches are applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PatchStage {
    /// On what upstream has.
    Base,
    /// On what hipify made of it.
    Hipified,
}

/// One patch file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchFile {
    /// Its path below the set's folder, with `/` between parts.
    pub path: String,
    /// What is in it.
    pub digest: Digest,
}

impl PatchStage {
    /// Both, in the order in which they are applied.
    pub const ALL: [Self; 2] = [Self::Base, Self::Hipified];

    /// The folder of its patches.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Hipified => "hipified",
        }
    }
}

impl PatchSet {
    /// Whether it has patches of this repository.
    pub fn is_about(&self, repository: &str) -> bool {
        self.series
            .iter()
            .any(|series| series.repository == repository)
    }

    /// The set that the files of a folder make. Files that are no patches of a stage are not part
    /// of it.
    pub fn new(name: &str, folder: &str, files: impl IntoIterator<Item = PatchFile>) -> Self {
        let mut series: BTreeMap<(String, PatchStage), Vec<PatchFile>> = BTreeMap::new();
        for patch in files {
            if let Some(key) = series_of(&patch.path) {
                series.entry(key).or_default().push(patch);
            }
        }
        let mut set = Self {
            name: name.to_owned(),
            folder: folder.to_owned(),
            series: Vec::new(),
        };
        for ((repository, stage), mut patches) in series {
            // All lie in one folder, so the order of paths is that of file names, byte by byte.
            patches.sort_by(|a, b| a.path.cmp(&b.path));
            set.series.push(PatchSeries {
                repository,
                stage,
                patches,
            });
        }
        set
    }

    /// Whether a path below the folder is that of a patch.
    pub fn is_patch(path: &str) -> bool {
        series_of(path).is_some()
    }

    /// The repository's folder in the set that a patch at this path is for.
    pub fn repository_of(path: &str) -> Option<&str> {
        let repository = path.rsplit_once('/')?.0.rsplit_once('/')?.0;
        Self::is_patch(path).then_some(repository)
    }

    /// The patches of a repository at a stage.
    pub fn patches(&self, repository: &str, stage: PatchStage) -> &[PatchFile] {
        let found = self
            .series
            .iter()
            .find(|series| series.repository == repository && series.stage == stage);
        found.map_or(&[], |series| &series.patches)
    }
}

/// The repository and the stage that `REPOSITORY/STAGE/NAME.patch` belongs to.
fn series_of(path: &str) -> Option<(String, PatchStage)> {
    let (folder, name) = path.rsplit_once('/')?;
    let (repository, stage) = folder.rsplit_once('/')?;
    let stage = PatchStage::ALL
        .into_iter()
        .find(|known| known.folder() == stage)?;
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
