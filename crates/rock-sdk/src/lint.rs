//! What a person should know of packages before they are made.

use std::collections::{BTreeMap, BTreeSet};

use super::artifact::{BuildArtifact, EntryKind};
use super::case_clash;
use super::devel::{DevelKind, DevelTree};
use super::layout::{LayoutRequest, PackageLayout, PathOverlap, shown};
use super::placement::{DropReason, FileContent, FileOrigin};
use super::select::globs;
use crate::codes::sdk as codes;
use rock_compat::rows::FamilyRow;
use rock_diagnostic::{Code, Diagnostic, Location, Severity};
use rock_names::Platform;

/// Whether what two artifacts have under one path is the same, as far as their listings tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentComparison {
    /// It is the same: folders, or links with one text.
    Same,
    /// It is not.
    Other,
    /// Both are files of one size, whose bytes must be compared.
    Bytes,
}

impl PathOverlap {
    /// Whether both are the same, as far as the listings tell.
    pub fn sameness(&self, artifacts: &[BuildArtifact]) -> ContentComparison {
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

    /// What is told of one whose bytes differ.
    pub fn told(&self, artifacts: &[BuildArtifact], is_strict: bool) -> Diagnostic {
        let message = format!(
            "two artifacts have `{}`, and it is not the same in both",
            path(artifacts, self.kept)
        );
        Diagnostic::new(&codes::OVERLAPPING_FILES, message)
            .severity(if is_strict {
                Severity::Error
            } else {
                Severity::Warning
            })
            .at(place(artifacts, self.other), "this one is left out")
            .note(format!("taken is {}", shown(artifacts, self.kept)))
            .help("fetch all artifacts of one run; `--strict` makes this an error")
    }

    /// Whether one is a folder, and the other is none.
    fn is_torn(&self, artifacts: &[BuildArtifact]) -> bool {
        is_folder(artifacts, self.kept) != is_folder(artifacts, self.other)
    }
}

/// Paths that several artifacts have, each pair once; those that cannot be in one package at all
/// are told otherwise.
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

/// Everything that the listings tell: links that nothing can be made of, names that some disks
/// cannot tell apart, paths that are a file here and a folder there, globs that match nothing.
pub fn told(
    artifacts: &[BuildArtifact],
    layout: &PackageLayout,
    devel: &[DevelTree],
    wish: &LayoutRequest,
) -> Vec<Diagnostic> {
    let mut found = links(artifacts, layout, devel);
    found.extend(cases(artifacts, layout, devel, wish.platform));
    found.extend(torn(artifacts, devel));
    found.extend(idle_aliases(layout, wish));
    found
}

/// Artifacts whose GPUs are written in another case than the facts have them: nothing would find
/// their packages.
pub fn spellings(artifacts: &[BuildArtifact], families: &[FamilyRow]) -> Vec<Diagnostic> {
    let known: BTreeSet<&str> = families
        .iter()
        .flat_map(|row| row.members.iter().chain([&row.family]))
        .map(String::as_str)
        .collect();
    let told = |artifact: &BuildArtifact| {
        let written = artifact.name.base().filter(|base| !known.contains(base))?;
        let meant = known
            .iter()
            .find(|word| word.eq_ignore_ascii_case(written))?;
        let message = format!("`{}` is for GPUs that are written `{meant}`", artifact.name);
        let renamed =
            artifact
                .name
                .to_string()
                .replacen(&format!("_{written}"), &format!("_{meant}"), 1);
        Some(
            Diagnostic::new(&codes::BAD_ARTIFACT, message)
                .at(Location::File(artifact.name.to_string().into()), "")
                .help(format!(
                    "rename it to `{renamed}`, or take it out of the folder"
                )),
        )
    };
    artifacts.iter().filter_map(told).collect()
}

fn kind(artifacts: &[BuildArtifact], origin: FileOrigin) -> &EntryKind {
    &artifacts[origin.artifact].entries[origin.entry].kind
}

fn is_folder(artifacts: &[BuildArtifact], origin: FileOrigin) -> bool {
    matches!(kind(artifacts, origin), EntryKind::Folder)
}

fn path(artifacts: &[BuildArtifact], origin: FileOrigin) -> &str {
    &artifacts[origin.artifact].entries[origin.entry].path
}

fn place(artifacts: &[BuildArtifact], origin: FileOrigin) -> Location {
    Location::File(shown(artifacts, origin).into())
}

/// Links that lead to nothing that could be packed, each once.
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
    let mut told: BTreeSet<FileOrigin> = BTreeSet::new();
    let mut found = Vec::new();
    for (distribution, dropped) in run_from.chain(built_against) {
        for (path, (why, origin)) in dropped {
            let Some((code, message, help)) = fault(why).filter(|_| told.insert(*origin)) else {
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

/// What is said of what is left out; nothing of what is in another package or under another name.
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
            "mend the build that made it",
        ),
        DropReason::ProgramLink => (
            &codes::PROGRAM_LINK,
            "a link to a program cannot be packed for Windows",
            "install the program twice",
        ),
        DropReason::NoStub(_) => (
            &codes::PROGRAM_LINK,
            "there is nothing that could stand for a link to a program of this processor",
            "install the program twice, or leave the link out of the artifact",
        ),
        DropReason::Alias(_) | DropReason::Dangling | DropReason::ToFolder => return None,
    })
}

/// Names that some disks cannot tell apart, each pair once. Folders are one there, and what is in
/// them is compared.
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
    let mut told: BTreeSet<[&str; 2]> = BTreeSet::new();
    let mut found = Vec::new();
    let run_from = layout.packages.iter().map(|package| {
        let files = package
            .files
            .iter()
            .map(|(path, placed)| (path.as_str(), (false, Some(placed.from))));
        (&package.distribution, files.collect::<BTreeMap<_, _>>())
    });
    let built_against = devel.iter().map(|tree| {
        let entries = tree
            .entries
            .iter()
            .map(|one| (one.path.as_str(), (one.kind == DevelKind::Folder, one.from)));
        (&tree.distribution, entries.collect::<BTreeMap<_, _>>())
    });
    for (distribution, paths) in run_from.chain(built_against) {
        for [
            (one, (is_folder, from)),
            (other, (is_other_folder, other_from)),
        ] in case_clash::clashes(paths)
        {
            if (is_folder && is_other_folder) || !told.insert([one, other]) {
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
                clash = clash.note(format!("the other is {}", shown(artifacts, from)));
            }
            found.push(clash);
        }
    }
    found
}

/// Paths of the trees to build against that are a folder in one artifact and none in another.
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
            let is_first = !is_folder(artifacts, found.kept);
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
        .map(|(named, (one, inside))| file_and_folder(artifacts, named, one, inside))
        .collect()
}

/// What is told of a path of a package that `one` has as a file or link, and `inside` as a folder
/// or lies in.
pub(super) fn file_and_folder(
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
        format!("`{path}` is a {word} and a folder in `{distribution}`"),
    )
    .at(place(artifacts, one), format!("this is the {word}"))
    .note(format!("the folder is of {}", shown(artifacts, inside)))
    .help("one of the artifacts was built by another version; fetch all of one run")
}

/// Globs of other names of libraries that match none.
fn idle_aliases(layout: &PackageLayout, wish: &LayoutRequest) -> Vec<Diagnostic> {
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
    wish.aliases.iter().filter(is_idle).map(tell).collect()
}
