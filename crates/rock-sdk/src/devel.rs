//! The tree that is built against: everything, with links into the packages that are run from.

use std::collections::btree_map::Entry as Slot;
use std::collections::{BTreeMap, BTreeSet};

use super::artifact::{BuildArtifact, EntryKind, FileShape};
use super::layout::{
    LayoutRequest, PackageKind, PackageLayout, PathOverlap, RuntimePackage, SplitMode, folder_of,
    row,
};
use super::placement::{DropReason, FileContent, FileOrigin};
use super::resolve::{LinkTarget, PathEntry, follow};
use super::search::up;
use super::select::{is_of, of_family};
use rock_compat::rows::{SdkPackageRow, SdkTables};
use rock_names::Platform;
use rock_names::{ArtifactComponent, parent_directories};

/// One member of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevelEntry {
    /// Its path in the tree, with slashes.
    pub path: String,
    /// What it is.
    pub kind: DevelKind,
    /// What of an artifact it is there for; folders that only a path names are for nothing.
    pub from: Option<FileOrigin>,
}

/// What a member of the tree is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DevelKind {
    /// A link to the file of a package that is run from.
    Owned(String),
    /// A file.
    File {
        /// Whose bytes.
        bytes: FileOrigin,
        /// The RUNPATH that becomes an RPATH, so that `LD_LIBRARY_PATH` cannot override it.
        search: Option<String>,
        /// Whether it may be run.
        is_executable: bool,
    },
    /// A link as the artifact has it, or to the name that loaders ask for.
    Link(String),
    /// A folder.
    Folder,
}

/// The tree of one family, in the order that its extractor needs, and what is not in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevelTree {
    /// The name of its project.
    pub distribution: String,
    /// The folder of `site-packages` that it becomes.
    pub folder: String,
    /// The family, where libraries are built for one.
    pub made_for: Option<String>,
    /// The members.
    pub entries: Vec<DevelEntry>,
    /// Links that lead to nothing in the tree, out of it, or to themselves.
    pub dropped: BTreeMap<String, (DropReason, FileOrigin)>,
    /// Paths that several artifacts have. Whether their bytes differ is to be seen.
    pub overlaps: Vec<PathOverlap>,
    /// What is no folder, with something that lies in a folder of the same path.
    pub torn: Vec<PathOverlap>,
}

/// The trees to build against: one, or one for each family.
pub fn devel_trees(
    artifacts: &[BuildArtifact],
    facts: &SdkTables,
    wish: &LayoutRequest,
    layout: &PackageLayout,
    keeps_dangling: bool,
) -> Vec<DevelTree> {
    let families: Vec<Option<&str>> = match wish.mode {
        SplitMode::Kpack => vec![None],
        SplitMode::Legacy => {
            let libraries = layout
                .packages
                .iter()
                .filter(|package| package.kind == PackageKind::Libraries);
            libraries
                .map(|package| package.made_for.as_deref())
                .collect()
        }
    };
    let Some(row) = row(facts, PackageKind::Devel) else {
        return Vec::new();
    };
    let tree = |family: Option<&str>| {
        let owners = layout.packages.iter().filter(|package| {
            package.kind != PackageKind::Device
                && (package.made_for.is_none() || package.made_for.as_deref() == family)
        });
        let fed_by = of_family(artifacts, family, |artifact| {
            feeds(artifact, facts, row, wish.mode)
        });
        let mut members = TreeMembers {
            artifacts,
            platform: wish.platform,
            by_path: BTreeMap::new(),
            overlaps: Vec::new(),
        };
        members.claim(&fed_by, &owners.collect::<Vec<_>>());
        let dropped = members.drop_links(keeps_dangling);
        let (torn, overlaps) = (members.torn(), std::mem::take(&mut members.overlaps));
        let (distribution, folder) = (
            row.distribution.clone(),
            folder_of(&row.distribution, &wish.nonce),
        );
        let entries = in_order(members.whole());
        DevelTree {
            distribution,
            folder,
            made_for: family.map(str::to_owned),
            entries,
            dropped,
            overlaps,
            torn,
        }
    };
    families
        .into_iter()
        .map(tree)
        .filter(|tree| !tree.entries.is_empty())
        .collect()
}

/// Whether an artifact is one to build against.
fn feeds(
    artifact: &BuildArtifact,
    facts: &SdkTables,
    devel: &SdkPackageRow,
    mode: SplitMode,
) -> bool {
    let name = artifact.name.name();
    if devel.without.iter().any(|known| known == name) {
        return false;
    }
    // Tests of libraries for all GPUs at once would be larger than all else.
    if mode == SplitMode::Kpack && artifact.name.component() == ArtifactComponent::Test {
        return false;
    }
    let runs_from = [
        PackageKind::Core,
        PackageKind::Libraries,
        PackageKind::Profiler,
    ];
    let rows = runs_from.into_iter().filter_map(|kind| row(facts, kind));
    let mut takes = rows
        .flat_map(|row| &row.takes)
        .chain(&devel.takes)
        .filter(|take| is_of(take, mode));
    takes.any(|take| take.names.iter().any(|known| known == name))
}

/// A member before it is put in order.
struct TreeMember {
    kind: DevelKind,
    /// What it is there for.
    from: FileOrigin,
    /// Whose bytes are taken.
    kept: FileOrigin,
}

/// The members of a tree by path.
struct TreeMembers<'m> {
    artifacts: &'m [BuildArtifact],
    platform: Platform,
    by_path: BTreeMap<&'m str, TreeMember>,
    overlaps: Vec<PathOverlap>,
}

impl<'m> TreeMembers<'m> {
    /// Takes everything of the artifacts, each path once: what a package that is run from has is
    /// taken from there.
    fn claim(&mut self, fed_by: &[usize], owners: &[&RuntimePackage]) {
        let artifacts = self.artifacts;
        for &artifact in fed_by {
            for (entry, listed) in artifacts[artifact].entries.iter().enumerate() {
                let from = FileOrigin { artifact, entry };
                let is_folder = listed.kind == EntryKind::Folder;
                let kept = match self.by_path.entry(&listed.path) {
                    Slot::Vacant(slot) => {
                        let owned = owned(&listed.path, owners).filter(|_| !is_folder);
                        let kept = owned.as_ref().map_or(from, |(_, kept)| *kept);
                        // What a package has under another name than the artifact is no other file.
                        let is_of_path =
                            artifacts[kept.artifact].entries[kept.entry].path == listed.path;
                        let kept = if is_of_path { kept } else { from };
                        let kind = owned.map_or_else(
                            || own(&listed.kind, from, self.platform),
                            |(kind, _)| kind,
                        );
                        slot.insert(TreeMember { kind, from, kept }).kept
                    }
                    Slot::Occupied(slot) if is_folder && slot.get().kind == DevelKind::Folder => {
                        continue;
                    }
                    Slot::Occupied(slot) => slot.get().kept,
                };
                if kept != from {
                    self.overlaps.push(PathOverlap { kept, other: from });
                }
            }
        }
    }

    /// The folders that members are in.
    fn folders(&self) -> BTreeSet<&'m str> {
        self.by_path
            .keys()
            .flat_map(|path| parent_directories(path))
            .collect()
    }

    /// Takes out links that lead out of the tree or to themselves and, unless they are kept, those
    /// that lead to nothing in it, until none is left: a folder that only such links were in is
    /// none any more.
    fn drop_links(&mut self, keeps_dangling: bool) -> BTreeMap<String, (DropReason, FileOrigin)> {
        let mut dropped = BTreeMap::new();
        loop {
            let folders = self.folders();
            let met = |at: &str| match self.by_path.get(at).map(|member| &member.kind) {
                Some(DevelKind::Link(text)) => Some(PathEntry::Link(text)),
                Some(DevelKind::Folder) => Some(PathEntry::Folder),
                Some(DevelKind::Owned(_) | DevelKind::File { .. }) => Some(PathEntry::File),
                None => folders.contains(at).then_some(PathEntry::Folder),
            };
            let links = self
                .by_path
                .iter()
                .filter_map(|(path, member)| match &member.kind {
                    DevelKind::Link(text) => Some((*path, follow(path, text, met))),
                    _ => None,
                });
            let fault = |target| match target {
                LinkTarget::File(_) | LinkTarget::Folder | LinkTarget::Elsewhere => None,
                LinkTarget::Nothing => Some(DropReason::Dangling).filter(|_| !keeps_dangling),
                LinkTarget::Outside => Some(DropReason::Outside),
                LinkTarget::Loop => Some(DropReason::Loop),
            };
            let gone: Vec<(&str, DropReason)> = links
                .filter_map(|(path, target)| fault(target).map(|why| (path, why)))
                .collect();
            if gone.is_empty() {
                return dropped;
            }
            for (path, why) in gone {
                if let Some(member) = self.by_path.remove(path) {
                    dropped.insert(path.to_owned(), (why, member.from));
                }
            }
        }
    }

    /// Files and links under whose path something lies, each with one that does.
    fn torn(&self) -> Vec<PathOverlap> {
        let mut torn = Vec::new();
        for folder in self.folders() {
            let Some(member) = self
                .by_path
                .get(folder)
                .filter(|member| member.kind != DevelKind::Folder)
            else {
                continue;
            };
            let below = format!("{folder}/");
            let inside = self
                .by_path
                .range(below.as_str()..)
                .next()
                .map(|(_, inside)| inside.from);
            torn.extend(inside.map(|other| PathOverlap {
                kept: member.kept,
                other,
            }));
        }
        torn
    }

    /// Everything, with the folders that only a path names.
    fn whole(self) -> BTreeMap<String, (DevelKind, Option<FileOrigin>)> {
        let named = self
            .folders()
            .into_iter()
            .map(|folder| (folder.to_owned(), (DevelKind::Folder, None)));
        let mut all: BTreeMap<_, _> = named.collect();
        all.extend(
            self.by_path
                .into_iter()
                .map(|(path, one)| (path.to_owned(), (one.kind, Some(one.from)))),
        );
        all
    }
}

/// What the tree has of an entry that is in no package that is run from.
fn own(kind: &EntryKind, bytes: FileOrigin, platform: Platform) -> DevelKind {
    match kind {
        EntryKind::Folder => DevelKind::Folder,
        EntryKind::Link(text) => DevelKind::Link(text.clone()),
        EntryKind::File(facts) => DevelKind::File {
            bytes,
            search: (platform == Platform::Linux)
                .then(|| runpath(&facts.shape))
                .flatten(),
            is_executable: facts.mode & 0o111 != 0,
        },
    }
}

/// The link to what a package that is run from has under the path, and what that is there for.
fn owned(path: &str, owners: &[&RuntimePackage]) -> Option<(DevelKind, FileOrigin)> {
    for package in owners {
        if let Some(placed) = package.files.get(path) {
            let kind = match &placed.content {
                // What is linked against it is to need the library.
                FileContent::Alias(alias) => DevelKind::Link(alias.soname.clone()),
                _ => DevelKind::Owned(format!("{}{}/{path}", up(path), package.folder)),
            };
            return Some((kind, placed.from));
        }
        if let Some((DropReason::Alias(soname), from)) = package.dropped.get(path) {
            return Some((DevelKind::Link(soname.clone()), *from));
        }
    }
    None
}

/// The search path of a file that is not in a package that is run from.
fn runpath(shape: &FileShape) -> Option<String> {
    shape.search()?.clone()
}

/// The members in the order that the extractor in the installed package needs: it removes a folder
/// when it first meets something that is in it. So whatever lies in a folder comes before what lies
/// in the folders of that.
fn in_order(members: BTreeMap<String, (DevelKind, Option<FileOrigin>)>) -> Vec<DevelEntry> {
    let mut by_folder: BTreeMap<String, Vec<DevelEntry>> = BTreeMap::new();
    for (path, (kind, from)) in members {
        let folder = path
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder)
            .to_owned();
        by_folder
            .entry(folder)
            .or_default()
            .push(DevelEntry { path, kind, from });
    }
    let mut ordered = Vec::new();
    let mut open = vec![String::new()];
    while let Some(folder) = open.pop() {
        let mut inside = by_folder.remove(&folder).unwrap_or_default();
        inside.sort_by(|a, b| (rank(&a.kind), &a.path).cmp(&(rank(&b.kind), &b.path)));
        let folders = inside
            .iter()
            .filter(|entry| entry.kind == DevelKind::Folder)
            .map(|entry| entry.path.clone());
        open.extend(folders.collect::<Vec<_>>().into_iter().rev());
        ordered.extend(inside);
    }
    ordered
}

/// What comes first in a folder. Links to other names of the folder come after the files: an
/// extractor that makes hard links of links finds them then.
fn rank(kind: &DevelKind) -> u8 {
    match kind {
        DevelKind::Owned(_) => 0,
        DevelKind::File { .. } => 1,
        DevelKind::Link(_) => 2,
        DevelKind::Folder => 3,
    }
}
