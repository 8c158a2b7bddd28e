//! The paths of a layout, with what happens to each.

use std::fmt;

use crate::placement::{DropReason, FileContent, FileOrigin};
use crate::{DevelKind, DevelTree, ResolvedLayout, RuntimePackage, entry_path, stub};

/// A path of a package, or a path of its artifacts that is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedPath<'l> {
    /// The distribution of the package.
    pub package: &'l str,
    /// The path in the directory of the package.
    pub path: &'l str,
    /// The treatment of the path.
    pub action: PathAction,
    /// The reason for the treatment, or its result; may be empty.
    pub reason: String,
    /// The entry of an artifact that the path comes from.
    pub origin: Option<FileOrigin>,
}

/// The treatment of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathAction {
    /// A copy of a file.
    Copy,
    /// A copy of a library or program with another search path.
    SetSearchPath,
    /// A stub library that opens a library under another name.
    Alias,
    /// A stub program that runs another program.
    Stub,
    /// A symlink of a devel tree.
    Link,
    /// The path is left out.
    Drop,
}

impl PathAction {
    /// Returns the name in documents.
    pub fn word(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::SetSearchPath => "search",
            Self::Alias => "alias",
            Self::Stub => "stub",
            Self::Link => "link",
            Self::Drop => "drop",
        }
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alias(soname) => write!(f, "another name of {soname}, which is included"),
            Self::Dangling => f.write_str("a link whose target is not in its artifact"),
            Self::ToDirectory => f.write_str("a link to a directory"),
            Self::Outside => f.write_str("a link that leads out of its artifact"),
            Self::Loop => f.write_str("a link that leads to itself"),
            Self::ProgramLink => {
                f.write_str("a link to a program, which Windows packages cannot contain")
            }
            Self::NoStub(machine) => write!(
                f,
                "a link to a program for processor {machine}, which no stub program supports"
            ),
        }
    }
}

impl ResolvedLayout {
    /// Returns the paths of all packages and those that are left out: of each runtime package, then
    /// of each devel tree.
    pub fn placed_paths(&self) -> Vec<PlacedPath<'_>> {
        let mut paths = Vec::new();
        for package in &self.packages {
            self.add_runtime_paths(package, &mut paths);
        }
        for tree in &self.devel {
            add_devel_paths(tree, &mut paths);
        }
        paths
    }

    /// Returns the total size of the files of a package in bytes, before search paths are changed.
    pub fn package_bytes(&self, package: &RuntimePackage) -> u64 {
        let files = package.files.values();
        files
            .map(|file| match &file.content {
                FileContent::Copy(origin) | FileContent::Searching(origin, _) => {
                    self.artifacts.size_bytes(*origin)
                }
                FileContent::Alias(alias) => alias.bytes().len() as u64,
                FileContent::Stub { machine, text } => {
                    stub::stub(*machine, text).map_or(0, |stub| stub.len() as u64)
                }
            })
            .sum()
    }

    /// Returns the path of an artifact entry for messages.
    pub fn entry_path(&self, origin: FileOrigin) -> String {
        entry_path(self.artifacts.as_slice(), origin)
    }

    fn add_runtime_paths<'l>(
        &'l self,
        package: &'l RuntimePackage,
        paths: &mut Vec<PlacedPath<'l>>,
    ) {
        for (path, file) in &package.files {
            let (action, reason) = match &file.content {
                FileContent::Copy(target) if file.from != *target => (
                    PathAction::Copy,
                    format!("the target of a link, {}", self.entry_path(*target)),
                ),
                FileContent::Copy(_) => (PathAction::Copy, String::new()),
                FileContent::Searching(_, search) => {
                    (PathAction::SetSearchPath, format!("RPATH {search}"))
                }
                FileContent::Alias(alias) => (
                    PathAction::Alias,
                    format!("a library that opens {}", alias.soname),
                ),
                FileContent::Stub { text, .. } => {
                    (PathAction::Stub, format!("a program that runs {text}"))
                }
            };
            paths.push(PlacedPath {
                package: &package.distribution,
                path,
                action,
                reason,
                origin: Some(file.from),
            });
        }
        for (path, (reason, origin)) in &package.dropped {
            paths.push(dropped(&package.distribution, path, reason, *origin));
        }
    }
}

fn add_devel_paths<'l>(tree: &'l DevelTree, paths: &mut Vec<PlacedPath<'l>>) {
    for entry in &tree.entries {
        let (action, reason, origin) = match &entry.kind {
            DevelKind::Directory => continue,
            DevelKind::Owned(text) => (
                PathAction::Link,
                format!("to a runtime package, {text}"),
                None,
            ),
            DevelKind::Link(text) => (PathAction::Link, format!("to {text}"), None),
            DevelKind::File {
                bytes,
                search: Some(search),
                ..
            } => (
                PathAction::SetSearchPath,
                format!("RPATH {search}"),
                Some(*bytes),
            ),
            DevelKind::File {
                bytes,
                search: None,
                ..
            } => (PathAction::Copy, String::new(), Some(*bytes)),
        };
        paths.push(PlacedPath {
            package: &tree.distribution,
            path: &entry.path,
            action,
            reason,
            origin,
        });
    }
    for (path, (reason, origin)) in &tree.dropped {
        paths.push(dropped(&tree.distribution, path, reason, *origin));
    }
}

fn dropped<'l>(
    package: &'l str,
    path: &'l str,
    reason: &DropReason,
    origin: FileOrigin,
) -> PlacedPath<'l> {
    PlacedPath {
        package,
        path,
        action: PathAction::Drop,
        reason: reason.to_string(),
        origin: Some(origin),
    }
}
