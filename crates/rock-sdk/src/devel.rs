//! The devel tree: all files that programs are built against, with symlinks into the runtime
//! packages.

use std::collections::btree_map::Entry as Slot;
use std::collections::{BTreeMap, BTreeSet};

use super::artifact::{BuildArtifact, EntryKind, FileShape};
use super::layout::{
    LayoutRequest, PackageKind, PackageLayout, PathOverlap, RuntimePackage, SplitMode,
    directory_of, row,
};
use super::placement::{DropReason, FileContent, FileOrigin};
use super::resolve::{LinkTarget, PathEntry, follow};
use super::search::up;
use super::select::{is_of, of_family};
use rock_compat::rows::{SdkPackageRow, SdkTables};
use rock_names::Platform;
use rock_names::{ArtifactComponent, parent_directories};

/// A member of a devel tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevelEntry {
    /// The path in the tree, with slashes.
    pub path: String,
    /// The kind of the member.
    pub kind: DevelKind,
    /// The artifact entry that the member is created for; `None` for directories that exist only as
    /// parents of other members.
    pub from: Option<FileOrigin>,
}

/// The kind of a member of a devel tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DevelKind {
    /// A symlink with this target text to the file in a runtime package.
    Owned(String),
    /// A file.
    File {
        /// The file of an artifact with the bytes.
        bytes: FileOrigin,
        /// The search path to write as RPATH, because `LD_LIBRARY_PATH` would override a RUNPATH.
        search: Option<String>,
        /// Whether the file is executable.
        is_executable: bool,
    },
    /// A symlink with this target text: as in the artifact, or to the SONAME of a library.
    Link(String),
    /// A directory.
    Directory,
}

/// The devel tree of one family, with the members in the order that the extractor needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevelTree {
    /// The name of the distribution.
    pub distribution: String,
    /// The directory in `site-packages` that the tree is extracted to.
    pub directory: String,
    /// The family, if libraries are built per family.
    pub made_for: Option<String>,
    /// The members in extraction order.
    pub entries: Vec<DevelEntry>,
    /// Omitted symlinks: those that dangle, lead out of the tree or form a loop.
    pub dropped: BTreeMap<String, (DropReason, FileOrigin)>,
    /// Paths that several artifacts have. Their bytes are not yet compared.
    pub overlaps: Vec<PathOverlap>,
    /// Files and symlinks at a path where another artifact has a directory, each with an entry in
    /// that directory.
    pub torn: Vec<PathOverlap>,
}

/// Lays out the devel trees: one in [`SplitMode::Kpack`], or one per family in
/// [`SplitMode::Legacy`]. Trees without members are omitted.
pub fn devel_trees(
    artifacts: &[BuildArtifact],
    facts: &SdkTables,
    request: &LayoutRequest,
    layout: &PackageLayout,
    keeps_dangling: bool,
) -> Vec<DevelTree> {
    let families: Vec<Option<&str>> = match request.mode {
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
            feeds(artifact, facts, row, request.mode)
        });
        let mut members = TreeMembers {
            artifacts,
            platform: request.platform,
            by_path: BTreeMap::new(),
            overlaps: Vec::new(),
        };
        members.claim(&fed_by, &owners.collect::<Vec<_>>());
        let dropped = members.drop_links(keeps_dangling);
        let (torn, overlaps) = (members.torn(), std::mem::take(&mut members.overlaps));
        let (distribution, directory) = (
            row.distribution.clone(),
            directory_of(&row.distribution, &request.name_suffix),
        );
        let entries = in_order(members.whole());
        DevelTree {
            distribution,
            directory,
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

/// Whether an artifact belongs in a devel tree.
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
    // The tests of libraries for all GPUs together would be larger than everything else.
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

/// A member before sorting.
struct TreeMember {
    kind: DevelKind,
    /// The artifact entry that the member is created for.
    from: FileOrigin,
    /// The artifact entry with the bytes.
    kept: FileOrigin,
}

/// The members of a devel tree by path.
struct TreeMembers<'m> {
    artifacts: &'m [BuildArtifact],
    platform: Platform,
    by_path: BTreeMap<&'m str, TreeMember>,
    overlaps: Vec<PathOverlap>,
}

impl<'m> TreeMembers<'m> {
    /// Adds the entries of the artifacts, each path once. A file that a runtime package contains
    /// becomes a symlink to it.
    fn claim(&mut self, fed_by: &[usize], owners: &[&RuntimePackage]) {
        let artifacts = self.artifacts;
        for &artifact in fed_by {
            for (entry, listed) in artifacts[artifact].entries.iter().enumerate() {
                let from = FileOrigin { artifact, entry };
                let is_directory = listed.kind == EntryKind::Directory;
                let kept = match self.by_path.entry(&listed.path) {
                    Slot::Vacant(slot) => {
                        let owned = owned(&listed.path, owners).filter(|_| !is_directory);
                        let kept = owned.as_ref().map_or(from, |(_, kept)| *kept);
                        // A second name that a runtime package gives a file is not an overlap.
                        let is_of_path =
                            artifacts[kept.artifact].entries[kept.entry].path == listed.path;
                        let kept = if is_of_path { kept } else { from };
                        let kind = owned.map_or_else(
                            || own(&listed.kind, from, self.platform),
                            |(kind, _)| kind,
                        );
                        slot.insert(TreeMember { kind, from, kept }).kept
                    }
                    Slot::Occupied(slot)
                        if is_directory && slot.get().kind == DevelKind::Directory =>
                    {
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

    /// Returns the parent directories of all members.
    fn directories(&self) -> BTreeSet<&'m str> {
        self.by_path
            .keys()
            .flat_map(|path| parent_directories(path))
            .collect()
    }

    /// Removes symlinks that lead out of the tree or form a loop and, unless `keeps_dangling` is
    /// set, dangling ones. Repeats this until no symlink is removed, because a directory ceases to
    /// exist with its last member.
    fn drop_links(&mut self, keeps_dangling: bool) -> BTreeMap<String, (DropReason, FileOrigin)> {
        let mut dropped = BTreeMap::new();
        loop {
            let directories = self.directories();
            let met = |at: &str| match self.by_path.get(at).map(|member| &member.kind) {
                Some(DevelKind::Link(text)) => Some(PathEntry::Link(text)),
                Some(DevelKind::Directory) => Some(PathEntry::Directory),
                Some(DevelKind::Owned(_) | DevelKind::File { .. }) => Some(PathEntry::File),
                None => directories.contains(at).then_some(PathEntry::Directory),
            };
            let links = self
                .by_path
                .iter()
                .filter_map(|(path, member)| match &member.kind {
                    DevelKind::Link(text) => Some((*path, follow(path, text, met))),
                    _ => None,
                });
            let fault = |target| match target {
                LinkTarget::File(_) | LinkTarget::Directory | LinkTarget::Elsewhere => None,
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

    /// Returns files and symlinks whose path is also a parent directory of other members, each with
    /// one of these members.
    fn torn(&self) -> Vec<PathOverlap> {
        let mut torn = Vec::new();
        for directory in self.directories() {
            let Some(member) = self
                .by_path
                .get(directory)
                .filter(|member| member.kind != DevelKind::Directory)
            else {
                continue;
            };
            let below = format!("{directory}/");
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

    /// Returns all members, including directories that exist only as parents.
    fn whole(self) -> BTreeMap<String, (DevelKind, Option<FileOrigin>)> {
        let named = self
            .directories()
            .into_iter()
            .map(|directory| (directory.to_owned(), (DevelKind::Directory, None)));
        let mut all: BTreeMap<_, _> = named.collect();
        all.extend(
            self.by_path
                .into_iter()
                .map(|(path, one)| (path.to_owned(), (one.kind, Some(one.from)))),
        );
        all
    }
}

/// Returns the member for an entry that no runtime package contains.
fn own(kind: &EntryKind, bytes: FileOrigin, platform: Platform) -> DevelKind {
    match kind {
        EntryKind::Directory => DevelKind::Directory,
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

/// Returns the symlink to the file that a runtime package has at a path, and the artifact entry
/// that the file was created for.
fn owned(path: &str, owners: &[&RuntimePackage]) -> Option<(DevelKind, FileOrigin)> {
    for package in owners {
        if let Some(placed) = package.files.get(path) {
            let kind = match &placed.content {
                // Programs linked against it must depend on the library, not on the stub library.
                FileContent::Alias(alias) => DevelKind::Link(alias.soname.clone()),
                _ => DevelKind::Owned(format!("{}{}/{path}", up(path), package.directory)),
            };
            return Some((kind, placed.from));
        }
        if let Some((DropReason::Alias(soname), from)) = package.dropped.get(path) {
            return Some((DevelKind::Link(soname.clone()), *from));
        }
    }
    None
}

/// Returns the search path of a file that no runtime package contains.
fn runpath(shape: &FileShape) -> Option<String> {
    shape.search()?.clone()
}

/// Sorts members into the order that the extractor in the installed package needs. The extractor
/// removes a directory when it first meets a file directly in it, so the files of a directory must
/// come before those of its subdirectories.
fn in_order(members: BTreeMap<String, (DevelKind, Option<FileOrigin>)>) -> Vec<DevelEntry> {
    let mut by_directory: BTreeMap<String, Vec<DevelEntry>> = BTreeMap::new();
    for (path, (kind, from)) in members {
        let directory = path
            .rsplit_once('/')
            .map_or("", |(directory, _)| directory)
            .to_owned();
        by_directory
            .entry(directory)
            .or_default()
            .push(DevelEntry { path, kind, from });
    }
    let mut ordered = Vec::new();
    let mut open = vec![String::new()];
    while let Some(directory) = open.pop() {
        let mut inside = by_directory.remove(&directory).unwrap_or_default();
        inside.sort_by(|a, b| (rank(&a.kind), &a.path).cmp(&(rank(&b.kind), &b.path)));
        let directories = inside
            .iter()
            .filter(|entry| entry.kind == DevelKind::Directory)
            .map(|entry| entry.path.clone());
        open.extend(directories.collect::<Vec<_>>().into_iter().rev());
        ordered.extend(inside);
    }
    ordered
}

/// Returns the sort rank of a member in its directory. Symlinks come after files, because an
/// extractor that creates hard links instead needs their targets.
fn rank(kind: &DevelKind) -> u8 {
    match kind {
        DevelKind::Owned(_) => 0,
        DevelKind::File { .. } => 1,
        DevelKind::Link(_) => 2,
        DevelKind::Directory => 3,
    }
}
