//! Checks of the packed devel tree.

use std::collections::{BTreeMap, BTreeSet};

use super::ownership::too_long;
use super::packages::{LoaderView, OpenedPackages, OpenedWheel, PackedTree, PayloadEntry};
use crate::codes::sdk as codes;
use crate::limits::MAX_FAULTS;
use crate::resolve::{LinkTarget, PathEntry, follow};
use crate::{PackageKind, case_clash};
use rock_bytes::archive::ParsedMemberKind;
use rock_compat::rows::SdkTables;
use rock_diagnostic::{Diagnostic, Severity};
use rock_names::{parent_directories, resolve_link, without_dots};

/// Checks the devel tree of a wheel, independent of other wheels.
pub(super) fn findings(wheel: &OpenedWheel, facts: &SdkTables) -> Vec<Diagnostic> {
    if wheel.kind != PackageKind::Devel {
        return Vec::new();
    }
    let [payload] = wheel.payloads.as_slice() else {
        let message = format!(
            "it must have one archive of the devel tree, but has {}",
            wheel.payloads.len()
        );
        return vec![wheel.fault(&codes::SDK_DEVEL_TREE, message)];
    };
    let tree = VerifiedTree::new(wheel, payload, facts);
    let mut found: Vec<Diagnostic> = payload
        .fault
        .iter()
        .map(|why| tree.fault(format!("the archive cannot be read: {why}")))
        .chain(
            payload
                .entries
                .iter()
                .filter_map(|entry| tree.unsafe_member(entry)),
        )
        .collect();
    found.extend(tree.twice());
    found.extend(tree.out_of_order());
    found.extend(tree.links());
    found.extend(tree.search_paths());
    found.extend(tree.names());
    let init = format!("{}/__init__.py", tree.root);
    if !tree.by_path.contains_key(init.as_str()) {
        found.push(tree.fault(format!(
            "the tree has no `{init}`, which marks it as complete"
        )));
    }
    if found.len() > MAX_FAULTS {
        found.truncate(MAX_FAULTS);
        found.push(tree.fault(format!(
            "the archive has more than {MAX_FAULTS} faults; the others are left out"
        )));
    }
    found
}

/// Reports symlinks of a devel tree to files that no package of the directory has.
pub(super) fn owners(
    wheel: &OpenedWheel,
    opened: &OpenedPackages,
    facts: &SdkTables,
) -> Vec<Diagnostic> {
    let owned: BTreeSet<&str> = opened
        .beside(&wheel.path)
        .flat_map(|other| other.files.keys())
        .map(String::as_str)
        .collect();
    let mut found = Vec::new();
    for payload in &wheel.payloads {
        let tree = VerifiedTree::new(wheel, payload, facts);
        for (entry, target) in tree.leading_out() {
            if !owned.contains(target.as_str()) {
                let message = format!(
                    "`{}` is a link to `{target}`, which no package has",
                    entry.path
                );
                found.push(
                    tree.fault(message)
                        .help("create all packages of a build together"),
                );
            }
        }
    }
    found
}

/// A devel tree with its members by path.
struct VerifiedTree<'t> {
    wheel: &'t OpenedWheel,
    payload: &'t PackedTree,
    root: String,
    /// The first member with each path, and its index.
    by_path: BTreeMap<&'t str, (usize, &'t PayloadEntry)>,
    /// The parent directories of all members.
    directories: BTreeSet<&'t str>,
}

impl<'t> VerifiedTree<'t> {
    fn new(wheel: &'t OpenedWheel, payload: &'t PackedTree, facts: &SdkTables) -> Self {
        let mut by_path = BTreeMap::new();
        for (number, entry) in payload.entries.iter().enumerate() {
            by_path
                .entry(entry.path.as_str())
                .or_insert((number, entry));
        }
        let directories = payload
            .entries
            .iter()
            .flat_map(|entry| parent_directories(&entry.path))
            .collect();
        Self {
            wheel,
            payload,
            root: wheel.directory(facts),
            by_path,
            directories,
        }
    }

    fn fault(&self, message: String) -> Diagnostic {
        self.wheel
            .fault_at(&codes::SDK_DEVEL_TREE, &self.payload.member, message)
    }

    /// Reports a member that would be written outside of the tree, or that installers could not
    /// remove because it is not a file, symlink or directory.
    fn unsafe_member(&self, entry: &PayloadEntry) -> Option<Diagnostic> {
        let path = &entry.path;
        let is_below = path
            .strip_prefix(&self.root)
            .is_some_and(|rest| rest.starts_with('/'));
        if !is_below || without_dots(path).as_deref() != Some(path) {
            return Some(self.fault(format!("`{path}` is not in the directory `{}`", self.root)));
        }
        matches!(
            entry.kind,
            ParsedMemberKind::HardLink(_) | ParsedMemberKind::Unsupported(_)
        )
        .then(|| {
            self.fault(format!(
                "`{path}` is not a file, link or directory, and is not unpacked"
            ))
        })
    }

    fn twice(&self) -> Vec<Diagnostic> {
        let all = self.payload.entries.iter().enumerate();
        let again = all.filter(|(number, entry)| self.by_path[entry.path.as_str()].0 != *number);
        again
            .map(|(_, entry)| self.fault(format!("the archive has `{}` twice", entry.path)))
            .collect()
    }

    /// Reports members that the extractor would remove again, and symlinks that come before their
    /// file.
    fn out_of_order(&self) -> Vec<Diagnostic> {
        let (mut met, mut filled): (BTreeSet<&str>, BTreeSet<&str>) = Default::default();
        let mut found = Vec::new();
        for (number, entry) in self.payload.entries.iter().enumerate() {
            let mut above = parent_directories(&entry.path);
            let Some(directory) = above.next() else {
                continue;
            };
            if met.insert(directory) && filled.contains(directory) {
                let message = format!(
                    "`{}` comes after files in subdirectories of `{directory}`, which would be \
                     removed",
                    entry.path
                );
                found.push(self.fault(message));
            }
            filled.extend(above);
            if let ParsedMemberKind::Symlink(text) = &entry.kind
                && let Some(target) = resolve_link(&entry.path, text)
                && target.rsplit_once('/').map(|(above, _)| above) == Some(directory)
                && let Some((at, file)) = self.by_path.get(target.as_str())
                && matches!(file.kind, ParsedMemberKind::File { .. })
                && *at > number
            {
                found.push(self.fault(format!(
                    "the link `{}` comes before its file `{target}`",
                    entry.path
                )));
            }
        }
        found
    }

    /// Reports symlinks that lead out of `site-packages`, form a loop, or dangle.
    fn links(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for entry in &self.payload.entries {
            let ParsedMemberKind::Symlink(text) = &entry.kind else {
                continue;
            };
            let leads = match follow(&entry.path, text, |at| self.met(at)) {
                LinkTarget::File(_) | LinkTarget::Directory | LinkTarget::Elsewhere => continue,
                LinkTarget::Outside => "which leads out of all packages",
                LinkTarget::Loop => "which leads to itself",
                LinkTarget::Nothing => {
                    let message = format!(
                        "`{}` is a link to `{text}`, which is not in the tree",
                        entry.path
                    );
                    found.push(self.fault(message).severity(Severity::Warning));
                    continue;
                }
            };
            found.push(self.fault(format!("`{}` is a link to `{text}`, {leads}", entry.path)));
        }
        found
    }

    /// Returns the symlinks into other packages with their targets.
    fn leading_out(&self) -> impl Iterator<Item = (&'t PayloadEntry, String)> {
        self.payload.entries.iter().filter_map(|entry| {
            let ParsedMemberKind::Symlink(text) = &entry.kind else {
                return None;
            };
            let target = resolve_link(&entry.path, text)?;
            (!self.is_inside(&target)).then_some((entry, target))
        })
    }

    fn is_inside(&self, path: &str) -> bool {
        path.split('/').next() == Some(&self.root)
    }

    /// Returns the entry at a path of `site-packages`. Other packages are not inspected.
    fn met(&self, path: &str) -> Option<PathEntry<'t>> {
        if !self.is_inside(path) {
            return Some(PathEntry::Elsewhere);
        }
        match self.by_path.get(path).map(|(_, entry)| &entry.kind) {
            Some(ParsedMemberKind::Symlink(text)) => Some(PathEntry::Link(text)),
            Some(ParsedMemberKind::Directory) => Some(PathEntry::Directory),
            Some(_) => Some(PathEntry::File),
            None => self
                .directories
                .contains(path)
                .then_some(PathEntry::Directory),
        }
    }

    /// Reports files with a RUNPATH: as in runtime packages, they must have an RPATH.
    fn search_paths(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for entry in &self.payload.entries {
            if let LoaderView::Linked(linked) = &entry.held
                && let Some(runpath) = &linked.runpath
            {
                let message = format!(
                    "`{}` has the RUNPATH `{runpath}`, but must have an RPATH",
                    entry.path
                );
                found.push(self.wheel.fault_at(
                    &codes::SDK_SEARCH_PATH,
                    &self.payload.member,
                    message,
                ));
            }
        }
        found
    }

    /// Reports paths that some systems do not accept.
    fn names(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for [(other, ()), (path, ())] in
            case_clash::clashes(self.by_path.keys().map(|path| (*path, ())))
        {
            let message = format!("`{other}` and `{path}` differ only in case");
            found.push(
                self.wheel
                    .fault_at(&codes::CASE_CLASH, &self.payload.member, message)
                    .help(case_clash::HELP),
            );
        }
        let files = self
            .payload
            .entries
            .iter()
            .filter(|entry| entry.kind != ParsedMemberKind::Directory);
        if let Some((path, message)) = too_long(files.map(|entry| entry.path.as_str())) {
            let message = format!("`{path}`: {message}");
            found.push(
                self.wheel
                    .fault_at(&codes::LONG_SDK_PATH, &self.payload.member, message),
            );
        }
        found
    }
}
