//! Diagnostics about a layout that need only the listings of artifacts.

use std::collections::{BTreeMap, BTreeSet};

use super::artifact::{BuildArtifact, EntryKind};
use super::case_clash;
use super::devel::{DevelKind, DevelTree};
use super::layout::{LayoutRequest, PackageLayout, PathOverlap, entry_path};
use super::placement::{DropReason, FileContent, FileOrigin};
use super::select::globs;
use crate::codes::sdk as codes;
use rock_compat::rows::FamilyRow;
use rock_diagnostic::{Code, Diagnostic, Location, Severity};
use rock_names::Platform;

/// The result of comparing the entries of two artifacts at one path by their listings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentComparison {
    /// The entries are equal: directories, or symlinks with the same target text.
    Same,
    /// The entries differ.
    Other,
    /// Both are files of the same size, whose bytes must be compared.
    Bytes,
}

impl PathOverlap {
    /// Compares both entries by the listings.
    pub fn compare_listings(&self, artifacts: &[BuildArtifact]) -> ContentComparison {
        match (kind(artifacts, self.kept), kind(artifacts, self.other)) {
            (EntryKind::File(kept), EntryKind::File(other))
                if kept.size_bytes == other.size_bytes =>
            {
                ContentComparison::Bytes
            }
            (EntryKind::File(_), EntryKind::File(_)) => ContentComparison::Other,
            (kept, other) if kept == other => ContentComparison::Same,
            _ => ContentComparison::Other,
        }
    }

    /// Reports a path at which the bytes of two artifacts differ.
    pub fn diagnostic(&self, artifacts: &[BuildArtifact], is_strict: bool) -> Diagnostic {
        let message = format!(
            "two artifacts have different files at `{}`",
            path(artifacts, self.kept)
        );
        Diagnostic::new(&codes::OVERLAPPING_FILES, message)
            .severity(if is_strict {
                Severity::Error
            } else {
                Severity::Warning
            })
            .at(place(artifacts, self.other), "this one is left out")
            .note(format!(
                "the other one is used: {}",
                entry_path(artifacts, self.kept)
            ))
            .help("fetch all artifacts of one run; `--strict` makes this an error")
    }

    /// Whether exactly one of the entries is a directory.
    fn is_torn(&self, artifacts: &[BuildArtifact]) -> bool {
        is_directory(artifacts, self.kept) != is_directory(artifacts, self.other)
    }
}

/// Returns the paths that several artifacts have, each pair once. Pairs of a directory and
/// something else are not included, because [`lint_layout`] reports them.
pub fn overlaps(
    artifacts: &[BuildArtifact],
    layout: &PackageLayout,
    devel: &[DevelTree],
) -> BTreeSet<PathOverlap> {
    let all = layout
        .overlaps
        .iter()
        .chain(devel.iter().flat_map(|tree| &tree.overlaps));
    all.filter(|overlap| !overlap.is_torn(artifacts))
        .copied()
        .collect()
}

/// Returns all diagnostics that follow from the listings: symlinks that cannot be packed, paths
/// that differ only in case, paths that are both a file and a directory, and globs that match
/// nothing.
pub fn lint_layout(
    artifacts: &[BuildArtifact],
    layout: &PackageLayout,
    devel: &[DevelTree],
    request: &LayoutRequest,
) -> Vec<Diagnostic> {
    let mut found = links(artifacts, layout, devel);
    found.extend(cases(artifacts, layout, devel, request.platform));
    found.extend(torn(artifacts, devel));
    found.extend(idle_aliases(layout, request));
    found
}

/// Reports artifacts that spell their GPUs in another case than the compatibility data. Nothing
/// would find their packages.
pub fn lint_spellings(artifacts: &[BuildArtifact], families: &[FamilyRow]) -> Vec<Diagnostic> {
    let known: BTreeSet<&str> = families
        .iter()
        .flat_map(|row| row.members.iter().chain([&row.family]))
        .map(String::as_str)
        .collect();
    artifacts
        .iter()
        .filter_map(|artifact| lint_spelling(artifact, &known))
        .collect()
}

fn lint_spelling(artifact: &BuildArtifact, known: &BTreeSet<&str>) -> Option<Diagnostic> {
    let written = artifact.name.base().filter(|base| !known.contains(base))?;
    let usual = known
        .iter()
        .find(|word| word.eq_ignore_ascii_case(written))?;
    let name = artifact.name.to_string();
    let message = format!("`{name}` is for GPUs that are spelled `{usual}`");
    let renamed = name.replacen(&format!("_{written}"), &format!("_{usual}"), 1);
    Some(
        Diagnostic::new(&codes::BAD_ARTIFACT, message)
            .at(Location::File(name.into()), "")
            .help(format!(
                "rename it to `{renamed}`, or remove it from the directory"
            )),
    )
}

fn kind(artifacts: &[BuildArtifact], origin: FileOrigin) -> &EntryKind {
    &artifacts[origin.artifact].entries[origin.entry].kind
}

fn is_directory(artifacts: &[BuildArtifact], origin: FileOrigin) -> bool {
    matches!(kind(artifacts, origin), EntryKind::Directory)
}

fn path(artifacts: &[BuildArtifact], origin: FileOrigin) -> &str {
    &artifacts[origin.artifact].entries[origin.entry].path
}

fn place(artifacts: &[BuildArtifact], origin: FileOrigin) -> Location {
    Location::File(entry_path(artifacts, origin).into())
}

/// Reports symlinks that cannot be packed, each once.
fn links(
    artifacts: &[BuildArtifact],
    layout: &PackageLayout,
    devel: &[DevelTree],
) -> Vec<Diagnostic> {
    let run_from = layout
        .packages
        .iter()
        .map(|package| (&package.distribution, &package.dropped));
    let built_against = devel.iter().map(|tree| (&tree.distribution, &tree.dropped));
    let mut reported: BTreeSet<FileOrigin> = BTreeSet::new();
    let mut found = Vec::new();
    for (distribution, dropped) in run_from.chain(built_against) {
        for (path, (why, origin)) in dropped {
            let Some((code, message, help)) = fault(why).filter(|_| reported.insert(*origin))
            else {
                continue;
            };
            found.push(
                Diagnostic::new(code, format!("`{path}` of `{distribution}`: {message}"))
                    .at(place(artifacts, *origin), "")
                    .help(help),
            );
        }
    }
    found
}

/// Returns the code, message and help for an omitted path, or `None` if it is in another package or
/// under another name.
fn fault(why: &DropReason) -> Option<(&'static Code, &'static str, &'static str)> {
    Some(match why {
        DropReason::Outside => {
            let help = "make the link relative, below the artifact";
            (
                &codes::LINK_TO_NOWHERE,
                "the link leads out of its artifact",
                help,
            )
        }
        DropReason::Loop => (
            &codes::LINK_TO_NOWHERE,
            "the link leads to itself",
            "fix the build that created it",
        ),
        DropReason::ProgramLink => (
            &codes::PROGRAM_LINK,
            "a link to a program cannot be packed for Windows",
            "install the program twice",
        ),
        DropReason::NoStub(_) => (
            &codes::PROGRAM_LINK,
            "there is no stub for a link to a program for this processor",
            "install the program twice, or leave the link out of the artifact",
        ),
        DropReason::Alias(_) | DropReason::Dangling | DropReason::ToDirectory => return None,
    })
}

/// Reports paths that differ only in case, each pair once. Two directories are not reported,
/// because they are merged and their contents are compared.
fn cases(
    artifacts: &[BuildArtifact],
    layout: &PackageLayout,
    devel: &[DevelTree],
    platform: Platform,
) -> Vec<Diagnostic> {
    let severity = if platform == Platform::Windows {
        Severity::Error
    } else {
        Severity::Warning
    };
    let mut reported: BTreeSet<[&str; 2]> = BTreeSet::new();
    let mut found = Vec::new();
    let run_from = layout.packages.iter().map(|package| {
        let files = package
            .files
            .iter()
            .map(|(path, placed)| (path.as_str(), (false, Some(placed.from))));
        (&package.distribution, files.collect::<BTreeMap<_, _>>())
    });
    let built_against = devel.iter().map(|tree| {
        let entries = tree.entries.iter().map(|one| {
            (
                one.path.as_str(),
                (one.kind == DevelKind::Directory, one.from),
            )
        });
        (&tree.distribution, entries.collect::<BTreeMap<_, _>>())
    });
    for (distribution, paths) in run_from.chain(built_against) {
        for [
            (one, (is_directory, from)),
            (other, (is_other_directory, other_from)),
        ] in case_clash::clashes(paths)
        {
            if (is_directory && is_other_directory) || !reported.insert([one, other]) {
                continue;
            }
            let message = format!("`{one}` and `{other}` of `{distribution}` differ only in case");
            let mut clash = Diagnostic::new(&codes::CASE_CLASH, message)
                .severity(severity)
                .help(case_clash::HELP);
            if let Some(from) = other_from.or(from) {
                clash = clash.at(place(artifacts, from), "");
            }
            if let (Some(from), Some(_)) = (from, other_from) {
                clash = clash.note(format!("the other one is {}", entry_path(artifacts, from)));
            }
            found.push(clash);
        }
    }
    found
}

/// Reports paths of the devel trees that are a directory in one artifact and not in another.
fn torn(artifacts: &[BuildArtifact], devel: &[DevelTree]) -> Vec<Diagnostic> {
    let mut torn: BTreeMap<(&str, &str), (FileOrigin, FileOrigin)> = BTreeMap::new();
    for tree in devel {
        for found in &tree.torn {
            torn.insert(
                (&tree.distribution, path(artifacts, found.kept)),
                (found.kept, found.other),
            );
        }
        for found in tree
            .overlaps
            .iter()
            .filter(|overlap| overlap.is_torn(artifacts))
        {
            let is_first = !is_directory(artifacts, found.kept);
            let pair = if is_first {
                (found.kept, found.other)
            } else {
                (found.other, found.kept)
            };
            torn.entry((&tree.distribution, path(artifacts, found.kept)))
                .or_insert(pair);
        }
    }
    torn.into_iter()
        .map(|(named, (one, inside))| file_and_directory(artifacts, named, one, inside))
        .collect()
}

/// Reports a path of a package at which `one` is a file or symlink, and `inside` is a directory or
/// is in a directory.
pub(super) fn file_and_directory(
    artifacts: &[BuildArtifact],
    (distribution, path): (&str, &str),
    one: FileOrigin,
    inside: FileOrigin,
) -> Diagnostic {
    let word = if matches!(kind(artifacts, one), EntryKind::Link(_)) {
        "link"
    } else {
        "file"
    };
    Diagnostic::new(
        &codes::FILE_AND_FOLDER,
        format!("`{path}` is both a {word} and a directory in `{distribution}`"),
    )
    .at(place(artifacts, one), format!("this is the {word}"))
    .note(format!(
        "the directory is from {}",
        entry_path(artifacts, inside)
    ))
    .help("one of the artifacts was built from another version; fetch all artifacts of one run")
}

/// Reports globs for stub libraries that match no library name.
fn idle_aliases(layout: &PackageLayout, request: &LayoutRequest) -> Vec<Diagnostic> {
    let is_alias = |content: &FileContent| matches!(content, FileContent::Alias(_));
    let files = || layout.packages.iter().flat_map(|package| &package.files);
    let made: Vec<&str> = files()
        .filter(|(_, placed)| is_alias(&placed.content))
        .map(|(path, _)| path.as_str())
        .collect();
    let is_idle = |glob: &&String| {
        let set = globs(std::slice::from_ref(glob));
        set.is_ok_and(|set| !made.iter().any(|path| set.is_match(path)))
    };
    let tell = |glob: &String| {
        Diagnostic::new(
            &codes::NO_SUCH_ALIAS,
            format!("no library has another name that matches `{glob}`"),
        )
        .at(Location::Argument(format!("--runtime-alias {glob}")), "")
        .help("`rock-matrix sdk plan` lists the other names that are left out")
    };
    request.aliases.iter().filter(is_idle).map(tell).collect()
}
