//! The tree that is built against: everything, with links into the packages that are run from.

use std::collections::{BTreeMap, BTreeSet};

use super::artifact::{Artifact, EntryKind, Shape};
use super::layout::{Layout, Mode, Package, PackageKind, Wish, folder_of, row};
use super::place::{Content, Dropped, Origin};
use super::search::up;
use super::select::of_family;
use crate::compat::rows::{SdkPackageRow, Tables};
use crate::config::Platform;
use crate::names::{Component, beside, folders_above};

/// One member of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevelEntry {
    /// Its path in the tree, with slashes.
    pub path: String,
    /// What it is.
    pub kind: DevelKind,
}

/// What a member of the tree is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DevelKind {
    /// A link to the file of a package that is run from.
    Owned(String),
    /// A file.
    File {
        /// Whose bytes.
        bytes: Origin,
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
    /// Links that lead to nothing in the tree.
    pub dropped: BTreeMap<String, (Dropped, Origin)>,
}

/// The trees to build against: one, or one for each family.
pub fn devel_trees(
    artifacts: &[Artifact],
    facts: &Tables,
    wish: &Wish,
    layout: &Layout,
    keeps_dangling: bool,
) -> Vec<DevelTree> {
    let families: Vec<Option<&str>> = match wish.mode {
        Mode::Kpack => vec![None],
        Mode::Legacy => {
            let libraries = layout.packages.iter().filter(|package| package.kind == PackageKind::Libraries);
            libraries.map(|package| package.made_for.as_deref()).collect()
        }
    };
    let Some(row) = row(facts, PackageKind::Devel) else { return Vec::new() };
    let tree = |family: Option<&str>| {
        let owners = layout.packages.iter().filter(|package| {
            package.kind != PackageKind::Device && (package.made_for.is_none() || package.made_for.as_deref() == family)
        });
        let fed_by = of_family(artifacts, family, |artifact| feeds(artifact, facts, row, wish.mode));
        let (entries, dropped) =
            entries(artifacts, &fed_by, &owners.collect::<Vec<_>>(), wish.platform, keeps_dangling);
        let (distribution, folder) = (row.distribution.clone(), folder_of(&row.distribution, &wish.nonce));
        DevelTree { distribution, folder, made_for: family.map(str::to_owned), entries, dropped }
    };
    families.into_iter().map(tree).filter(|tree| !tree.entries.is_empty()).collect()
}

/// Whether an artifact is one to build against.
fn feeds(artifact: &Artifact, facts: &Tables, devel: &SdkPackageRow, mode: Mode) -> bool {
    let name = artifact.name.name();
    if devel.without.iter().any(|known| known == name) {
        return false;
    }
    // Tests of libraries for all GPUs at once would be larger than all else.
    if mode == Mode::Kpack && artifact.name.component() == Component::Test {
        return false;
    }
    let runs_from = [PackageKind::Core, PackageKind::Libraries, PackageKind::Profiler];
    let rows = runs_from.into_iter().filter_map(|kind| row(facts, kind));
    let mut takes = rows.flat_map(|row| &row.takes).chain(&devel.takes).filter(|take| take.is_of(mode));
    takes.any(|take| take.names.iter().any(|known| known == name))
}

/// The members of a tree, in order, and the links that lead to nothing in it.
fn entries(
    artifacts: &[Artifact],
    fed_by: &[usize],
    owners: &[&Package],
    platform: Platform,
    keeps_dangling: bool,
) -> (Vec<DevelEntry>, BTreeMap<String, (Dropped, Origin)>) {
    let mut members: BTreeMap<&str, (DevelKind, Origin)> = BTreeMap::new();
    for &artifact in fed_by {
        for (entry, listed) in artifacts[artifact].entries.iter().enumerate() {
            let origin = Origin { artifact, entry };
            members.entry(&listed.path).or_insert_with(|| {
                let kind = match (&listed.kind, owned(&listed.path, owners)) {
                    (EntryKind::Folder, _) => DevelKind::Folder,
                    (_, Some(kind)) => kind,
                    (EntryKind::Link(text), None) => DevelKind::Link(text.clone()),
                    (EntryKind::File(facts), None) => DevelKind::File {
                        bytes: origin,
                        search: (platform == Platform::Linux).then(|| runpath(&facts.shape)).flatten(),
                        is_executable: facts.mode & 0o111 != 0,
                    },
                };
                (kind, origin)
            });
        }
    }
    let dropped = drop_links(&mut members, keeps_dangling);
    let folders: BTreeSet<String> = folders_of(&members).into_iter().map(str::to_owned).collect();
    let mut all: BTreeMap<String, DevelKind> =
        members.into_iter().map(|(path, (kind, _))| (path.to_owned(), kind)).collect();
    all.extend(folders.into_iter().map(|folder| (folder, DevelKind::Folder)));
    (in_order(all), dropped)
}

/// The link to what a package that is run from has under the path.
fn owned(path: &str, owners: &[&Package]) -> Option<DevelKind> {
    for package in owners {
        match package.files.get(path).map(|placed| &placed.content) {
            // What is linked against it is to need the library.
            Some(Content::Alias(alias)) => return Some(DevelKind::Link(alias.soname.clone())),
            Some(_) => return Some(DevelKind::Owned(format!("{}{}/{path}", up(path), package.folder))),
            None => {}
        }
        if let Some((Dropped::Alias(soname), _)) = package.dropped.get(path) {
            return Some(DevelKind::Link(soname.clone()));
        }
    }
    None
}

/// The search path of a file that is not in a package that is run from.
fn runpath(shape: &Shape) -> Option<String> {
    shape.search()?.clone()
}

/// The folders that members are in.
fn folders_of<'m, V>(members: &BTreeMap<&'m str, V>) -> BTreeSet<&'m str> {
    members.keys().flat_map(|path| folders_above(path)).collect()
}

/// Takes out links that lead out of the tree or to themselves and, unless they are kept, those that lead to nothing in
/// it, until none is left.
fn drop_links(
    members: &mut BTreeMap<&str, (DevelKind, Origin)>,
    keeps_dangling: bool,
) -> BTreeMap<String, (Dropped, Origin)> {
    let mut dropped = BTreeMap::new();
    loop {
        let folders = folders_of(members);
        let leads = |path: &str, text: &str| -> Result<(), Dropped> {
            let Some(target) = beside(path, text) else { return Err(Dropped::Outside) };
            let at = through_links(&target, members);
            if at == path {
                return Err(Dropped::Loop);
            }
            let is_there = at.is_empty() || members.contains_key(at.as_str()) || folders.contains(at.as_str());
            if is_there { Ok(()) } else { Err(Dropped::Dangling) }
        };
        let gone: Vec<(&str, Dropped)> = members
            .iter()
            .filter_map(|(path, (kind, _))| match kind {
                DevelKind::Link(text) => leads(path, text).err().map(|why| (*path, why)),
                _ => None,
            })
            .filter(|(_, why)| !keeps_dangling || *why != Dropped::Dangling)
            .collect();
        if gone.is_empty() {
            return dropped;
        }
        for (path, why) in gone {
            if let Some((_, origin)) = members.remove(path) {
                dropped.insert(path.to_owned(), (why, origin));
            }
        }
    }
}

/// A path of the tree, with links to folders on the way to it followed.
fn through_links(path: &str, members: &BTreeMap<&str, (DevelKind, Origin)>) -> String {
    let mut at = String::new();
    for (step, word) in path.split('/').enumerate() {
        at = if at.is_empty() { word.to_owned() } else { format!("{at}/{word}") };
        let is_last = step == path.matches('/').count();
        let mut followed = 0;
        while !is_last
            && let Some((DevelKind::Link(text), _)) = members.get(at.as_str())
            && let Some(next) = beside(&at, text)
            && followed < 40
        {
            followed += 1;
            at = next;
        }
    }
    at
}

/// The members in the order that the extractor in the installed package needs: it removes a folder when it first meets
/// something that is in it. So whatever lies in a folder comes before what lies in the folders of that.
fn in_order(members: BTreeMap<String, DevelKind>) -> Vec<DevelEntry> {
    let mut by_folder: BTreeMap<String, Vec<DevelEntry>> = BTreeMap::new();
    for (path, kind) in members {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        by_folder.entry(folder).or_default().push(DevelEntry { path, kind });
    }
    let mut ordered = Vec::new();
    let mut open = vec![String::new()];
    while let Some(folder) = open.pop() {
        let mut inside = by_folder.remove(&folder).unwrap_or_default();
        inside.sort_by(|a, b| (rank(&a.kind), &a.path).cmp(&(rank(&b.kind), &b.path)));
        let folders = inside.iter().filter(|entry| entry.kind == DevelKind::Folder).map(|entry| entry.path.clone());
        open.extend(folders.collect::<Vec<_>>().into_iter().rev());
        ordered.extend(inside);
    }
    ordered
}

/// What comes first in a folder. Links to other names of the folder come after the files: an extractor that makes hard
/// links of links finds them then.
fn rank(kind: &DevelKind) -> u8 {
    match kind {
        DevelKind::Owned(_) => 0,
        DevelKind::File { .. } => 1,
        DevelKind::Link(_) => 2,
        DevelKind::Folder => 3,
    }
}
