//! Embedding of the ROCm runtime: selection of the files of an installed ROCm, and the changes of
//! the wheel.

use std::collections::{BTreeMap, BTreeSet};

use super::library::ElfLibrary;
use super::pattern::LibraryPatterns;
use crate::codes::{rocm as rocm_codes, wheel as codes};
use rock_compat::Compat;
use rock_compat::rows::EmbeddingRow;
use rock_diagnostic::{Diagnostic, Location, Severity, counted};
use rock_elf::SearchPathEdit;
use rock_names::{DistributionName, LocalLabel, WheelName};
use rock_wheel::{AddedMember, ExistingLabel, HeaderDocument, RenamePlan, Wheel, relabel};

/// Maximum size of a Python module or METADATA file that is read, in bytes.
const LIMIT_BYTES: u64 = 16 << 20;

/// A file or symbolic link below a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    /// The path relative to the directory, with slashes.
    pub path: String,
    /// The kind.
    pub kind: TreeEntryKind,
}

/// The kind of a directory entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeEntryKind {
    /// A regular file.
    File {
        /// Whether it is executable.
        is_executable: bool,
    },
    /// A symbolic link that resolves to this file of the directory.
    LinkToFile(String),
    /// A symbolic link to a directory inside the directory.
    LinkToFolder,
    /// Anything else, in words; a wheel cannot contain it.
    Other(&'static str),
}

/// A file of ROCm that is embedded.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EmbeddedFile {
    /// The path below the directory of the wheel into which ROCm is embedded.
    pub name: String,
    /// The path below the directory of the installed ROCm.
    pub path: String,
    /// Whether it is executable.
    pub is_executable: bool,
}

/// Handling of the wheel's requirement of ROCm packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RocmRequirement {
    /// The requirement is removed: an installer would install ROCm twice.
    Dropped,
    /// The requirement stays.
    Kept,
}

/// Returns the embedding rule for wheels of this name.
///
/// # Errors
/// Returns an error if no rule is recorded.
pub fn embedding_rule<'c>(
    name: &WheelName,
    compat: &'c Compat,
) -> Result<&'c EmbeddingRow, Diagnostic> {
    known_embedding_rule(name, compat).ok_or_else(|| {
        let known: Vec<String> = compat
            .wheel_tables()
            .embeddings
            .iter()
            .map(|row| format!("{} for {}", row.distribution, row.platform))
            .collect();
        Diagnostic::new(
            &codes::NO_EMBEDDING,
            format!("nothing says how ROCm is put into `{name}`"),
        )
        .help(format!(
            "known are {}; a row of `embeddings` in the facts says more",
            known.join(", ")
        ))
    })
}

/// Returns the embedding rule for wheels of this name, if one is recorded.
pub(super) fn known_embedding_rule<'c>(
    name: &WheelName,
    compat: &'c Compat,
) -> Option<&'c EmbeddingRow> {
    let project = name.distribution().normalized();
    let platform = match name.platform_tags().as_slice().first() {
        Some(tag) if tag.starts_with("win") => "windows",
        Some(tag) if tag.contains("linux") => "linux",
        _ => "",
    };
    let is_of = |row: &&EmbeddingRow| row.distribution == project && row.platform == platform;
    compat.wheel_tables().embeddings.iter().find(is_of)
}

/// Reports a local version label that claims ROCm is embedded when it is not, or the reverse.
pub(crate) fn check_embedding_label(
    wheel: &Wheel<'_>,
    name: &WheelName,
    compat: &Compat,
) -> Option<Diagnostic> {
    let row = known_embedding_rule(name, compat)?;
    let into = &row.into;
    let (message, help) = match (says_embedded(name), is_embedded(wheel, row)) {
        (true, false) => (
            format!("the label says that ROCm is in the wheel, and there is nothing in `{into}`"),
            "put ROCm into the wheel that it was made of with `rock-matrix wheel embed`, or give it the label that is true"
                .to_owned(),
        ),
        (false, true) => (
            format!("ROCm is in `{into}`, and the label does not say so"),
            format!("`rock-matrix wheel label WHEEL --local {} --replace`", LocalLabel::embedded(name.label().as_ref())),
        ),
        _ => return None,
    };
    let place = Location::File(name.to_string().into());
    Some(
        Diagnostic::new(&rocm_codes::LABEL_NOT_IN_CONTENTS, message)
            .at(place, "")
            .help(help),
    )
}

/// Returns whether the label claims that ROCm is embedded.
pub(super) fn says_embedded(name: &WheelName) -> bool {
    name.label().is_some_and(|label| label.is_embedded())
}

/// Returns whether ROCm is embedded in a wheel.
pub fn is_embedded(wheel: &Wheel<'_>, row: &EmbeddingRow) -> bool {
    let into = format!("{}/", row.into);
    wheel
        .archive()
        .members()
        .iter()
        .any(|member| member.name().starts_with(&into))
}

/// Selects the files of an installed ROCm that are embedded, sorted by name. Also returns findings
/// about those that are not.
///
/// A wheel cannot contain symbolic links. A library is included once, under its SONAME if a link of
/// its directory has that name; its other links are dropped. Links to other files become copies.
///
/// # Errors
/// Returns an error for each entry that a wheel cannot contain, or if no file remains.
pub fn select_embedded_files(
    folder: &str,
    leaves: &[TreeEntry],
    row: &EmbeddingRow,
    soname: &dyn Fn(&str) -> Option<String>,
) -> Result<(Vec<EmbeddedFile>, Vec<Diagnostic>), Vec<Diagnostic>> {
    let place = |path: &str| Location::File(format!("{folder}/{path}").into());
    let excludes =
        LibraryPatterns::new(row.excludes.iter().map(String::as_str)).map_err(|error| {
            vec![
                Diagnostic::new(&codes::BAD_PATTERN, error.to_string())
                    .help("correct the row of `embeddings` in the facts"),
            ]
        })?;
    let kept: Vec<&TreeEntry> = leaves
        .iter()
        .filter(|leaf| !excludes.has(&leaf.path))
        .collect();
    let faults: Vec<Diagnostic> = kept
        .iter()
        .filter_map(|leaf| match leaf.kind {
            TreeEntryKind::Other(what) => Some(
                Diagnostic::new(
                    &codes::BAD_ROCM_FOLDER,
                    format!("`{}` is {what}, which no wheel can hold", leaf.path),
                )
                .at(place(&leaf.path), "")
                .help("remove it, or give the folder that ROCm was installed into"),
            ),
            _ => None,
        })
        .collect();
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut links: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut left_out = 0;
    for leaf in &kept {
        match &leaf.kind {
            TreeEntryKind::LinkToFile(target) if !excludes.has(target) => {
                links.entry(target).or_default().push(&leaf.path);
            }
            TreeEntryKind::LinkToFile(_) | TreeEntryKind::LinkToFolder => left_out += 1,
            _ => {}
        }
    }
    let (mut files, mut copies) = (Vec::new(), 0);
    for leaf in &kept {
        let TreeEntryKind::File { is_executable } = leaf.kind else {
            continue;
        };
        let mut file = |name: &str| {
            files.push(EmbeddedFile {
                name: name.to_owned(),
                path: leaf.path.clone(),
                is_executable,
            });
        };
        let own = links.get(leaf.path.as_str()).map_or(&[][..], Vec::as_slice);
        if own.is_empty() {
            file(&leaf.path);
            continue;
        }
        let stem = leaf
            .path
            .rsplit_once('/')
            .map_or(String::new(), |(stem, _)| format!("{stem}/"));
        let asked = soname(&leaf.path).map(|soname| format!("{stem}{soname}"));
        match asked.filter(|asked| *asked == leaf.path || own.contains(&asked.as_str())) {
            Some(asked) => {
                left_out += own.len();
                file(&asked);
            }
            None => {
                copies += own.len();
                std::iter::once(leaf.path.as_str())
                    .chain(own.iter().copied())
                    .for_each(file);
            }
        }
    }
    files.sort();
    if files.is_empty() {
        let fault = Diagnostic::new(
            &codes::BAD_ROCM_FOLDER,
            "there is nothing in it to put into a wheel",
        );
        return Err(vec![
            fault
                .at(place(""), "")
                .help("give the folder that ROCm was installed into"),
        ]);
    }
    let mut told = Vec::new();
    if left_out + copies > 0 {
        let message = format!(
            "a wheel holds no links: {} left out, {} {}",
            counted(left_out, "link"),
            counted(copies, "link"),
            if copies == 1 {
                "is a copy"
            } else {
                "are copies"
            }
        );
        let note = "libraries are there under the name that loaders ask for, without the other links to them";
        told.push(
            Diagnostic::new(&codes::LINKS_IN_ROCM, message)
                .at(place(""), "")
                .note(note),
        );
    }
    Ok((files, told))
}

/// Embeds ROCm: changes the label, the requirements and the module that loads ROCm, and adds the
/// files.
///
/// # Errors
/// Returns an error if METADATA names another project or version, or if the marker of the module is
/// not there exactly once.
pub fn embed_rocm<'c>(
    wheel: &Wheel<'_>,
    name: &WheelName,
    row: &EmbeddingRow,
    files: BTreeMap<String, AddedMember<'c>>,
    requirements: RocmRequirement,
) -> Result<RenamePlan<'c>, Diagnostic> {
    let shown = name.to_string();
    let label = LocalLabel::embedded(name.label().as_ref());
    let mut change: RenamePlan<'c> = relabel(wheel, name, &label, ExistingLabel::Replace)
        .map_err(|error| error.diagnostic(&shown))?;
    // The modules of the wheel say the version that they were built as, which stays true.
    change.findings = change
        .findings
        .into_iter()
        .map(|finding| finding.severity(Severity::Note))
        .collect();
    let metadata = wheel.dist_info_path("METADATA");
    if requirements == RocmRequirement::Dropped {
        let content = change.edits.replaced.get(&metadata);
        let bytes = content
            .and_then(|content| content.as_bytes())
            .unwrap_or_else(|| wheel.metadata().bytes());
        let mut headers = HeaderDocument::parse(bytes.to_vec());
        let stays = |requirement: &str| !row.drops.contains(&project_of(requirement));
        let kept: Vec<String> = headers
            .get_all("Requires-Dist")
            .filter(|one| stays(one))
            .map(std::borrow::Cow::into_owned)
            .collect();
        headers.set("Requires-Dist", &kept);
        change
            .edits
            .replaced
            .insert(metadata, headers.bytes().to_vec().into());
        let removed = row
            .removes
            .iter()
            .filter(|path| wheel.archive().member(path).is_some());
        change.edits.removed.extend(removed.cloned());
    }
    if !row.module.is_empty() {
        change
            .edits
            .replaced
            .insert(row.module.clone(), led(wheel, &shown, row)?.into());
    }
    let below = |(path, added): (String, AddedMember<'c>)| (format!("{}/{path}", row.into), added);
    change.edits.added.extend(files.into_iter().map(below));
    if row.experimental {
        let message = format!(
            "nobody has run a wheel of {} for {} made so",
            row.distribution, row.platform
        );
        change.findings.push(
            Diagnostic::new(&codes::UNTRIED_EMBEDDING, message)
                .help("try the wheel where no ROCm is"),
        );
    }
    Ok(change)
}

/// Returns the normalized project name of a requirement.
fn project_of(requirement: &str) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name = requirement
        .split(|c| !is_name(c))
        .next()
        .unwrap_or_default();
    name.parse::<DistributionName>()
        .map(|name| name.normalized())
        .unwrap_or_default()
}

/// Inserts a statement before the marker of a module, with the same indentation.
fn led(wheel: &Wheel<'_>, shown: &str, row: &EmbeddingRow) -> Result<Vec<u8>, Diagnostic> {
    let place = || Location::Member {
        wheel: shown.to_owned(),
        member: row.module.clone(),
    };
    let found = |count: usize| {
        let message = match count {
            0 => format!("no line of it holds `{}`", row.marker),
            count => format!("{count} lines of it hold `{}`", row.marker),
        };
        Diagnostic::new(&codes::MARKER_NOT_FOUND, message)
            .at(place(), "the statement that leads to ROCm goes before this one line")
            .help(
                "`embeddings` in the facts was written for another torch; correct the row, and read it with `--compat`",
            )
    };
    let member = wheel
        .archive()
        .member(&row.module)
        .ok_or_else(|| found(0))?;
    let content = wheel
        .archive()
        .read(member, LIMIT_BYTES)
        .map_err(|error| error.diagnostic(shown))?;
    let text = String::from_utf8(content).map_err(|_| found(0))?;
    let count = text
        .lines()
        .filter(|line| line.contains(&row.marker))
        .count();
    if count != 1 {
        return Err(found(count));
    }
    let mut made = String::with_capacity(text.len() + 200);
    for line in text.split_inclusive('\n') {
        if line.contains(&row.marker) {
            let indent = &line[..line.len() - line.trim_start().len()];
            let ending = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
            made.extend([indent, &row.insert, ending]);
        }
        made.push_str(line);
    }
    Ok(made.into_bytes())
}

/// Returns the new search path of a library of the wheel that needs one of these: the directory of
/// ROCm comes first.
pub fn embedded_search_path(
    path: &str,
    library: &ElfLibrary,
    row: &EmbeddingRow,
    names: &BTreeSet<&str>,
) -> SearchPathEdit {
    if row.search.is_empty()
        || !library
            .needed
            .iter()
            .any(|needed| names.contains(needed.as_str()))
    {
        return SearchPathEdit::Keep;
    }
    let target = format!("{}/{}", row.into, row.search);
    let folder: Vec<&str> = path
        .split('/')
        .rev()
        .skip(1)
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .collect();
    let target: Vec<&str> = target.split('/').collect();
    let shared = folder
        .iter()
        .zip(&target)
        .take_while(|(one, other)| one == other)
        .count();
    let up = std::iter::repeat_n("..", folder.len() - shared);
    let steps: Vec<&str> = std::iter::once("$ORIGIN")
        .chain(up)
        .chain(target[shared..].iter().copied())
        .collect();
    let first = steps.join("/");
    let with = |old: &str| {
        let rest = old
            .split(':')
            .filter(|entry| !entry.is_empty() && *entry != first);
        std::iter::once(first.as_str())
            .chain(rest)
            .collect::<Vec<_>>()
            .join(":")
    };
    match (&library.runpath, &library.rpath) {
        (None, Some(old)) => SearchPathEdit::Rpath(with(old)),
        (old, _) => SearchPathEdit::Runpath(with(old.as_deref().unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests {
    use super::{EmbeddedFile, TreeEntry, TreeEntryKind, project_of, select_embedded_files};
    use rock_compat::Compat;
    use rock_names::WheelName;

    fn file(path: &str) -> TreeEntry {
        TreeEntry {
            path: path.to_owned(),
            kind: TreeEntryKind::File {
                is_executable: false,
            },
        }
    }

    fn link(path: &str, target: &str) -> TreeEntry {
        TreeEntry {
            path: path.to_owned(),
            kind: TreeEntryKind::LinkToFile(target.to_owned()),
        }
    }

    /// Returns the embedded files as `NAME=PATH`, and the findings.
    fn check(leaves: &[TreeEntry]) -> (Vec<String>, Vec<String>) {
        let compat = Compat::embedded();
        let name: WheelName = "torch-2.9.0-cp312-cp312-linux_x86_64.whl".parse().unwrap();
        let row = super::embedding_rule(&name, &compat).unwrap();
        let soname = |path: &str| path.contains("libhip").then(|| "libhip.so.7".to_owned());
        let said = |told: Vec<rock_diagnostic::Diagnostic>| {
            told.into_iter().map(|one| one.message).collect()
        };
        match select_embedded_files("rocm", leaves, row, &soname) {
            Ok((files, told)) => (
                files
                    .into_iter()
                    .map(|EmbeddedFile { name, path, .. }| format!("{name}={path}"))
                    .collect(),
                said(told),
            ),
            Err(faults) => (Vec::new(), said(faults)),
        }
    }

    #[test]
    fn a_library_comes_along_once_under_the_name_that_loaders_ask_for() {
        let real = "lib/libhip.so.7.1";
        let (files, told) = check(&[
            file(real),
            link("lib/libhip.so", real),
            link("lib/libhip.so.7", real),
        ]);
        assert_eq!(files, ["lib/libhip.so.7=lib/libhip.so.7.1"]);
        assert_eq!(
            told,
            ["a wheel holds no links: 2 links left out, 0 links are copies"]
        );
        let elsewhere = "lib/real/libhip.so.7.1";
        let (files, _) = check(&[file(elsewhere), link("lib/libhip.so.7", elsewhere)]);
        assert_eq!(files.len(), 2, "another folder may be searched for it");
    }

    #[test]
    fn links_to_other_files_become_copies_and_what_is_excluded_does_not_come_back_by_a_link() {
        let compiler = "lib/llvm/bin/clang";
        let (files, told) = check(&[
            file("share/a"),
            link("share/b", "share/a"),
            file(compiler),
            link("bin/clang", compiler),
        ]);
        assert_eq!(files, ["share/a=share/a", "share/b=share/a"]);
        assert_eq!(
            told,
            ["a wheel holds no links: 1 link left out, 1 link is a copy"]
        );
    }

    #[test]
    fn what_no_wheel_can_hold_is_refused_unless_it_is_excluded() {
        let other = |path: &str| TreeEntry {
            path: path.to_owned(),
            kind: TreeEntryKind::Other("a socket"),
        };
        assert_eq!(
            check(&[file("a"), other("b")]).1,
            ["`b` is a socket, which no wheel can hold"]
        );
        assert_eq!(check(&[file("a"), other("lib/llvm/b")]).0, ["a=a"]);
        assert_eq!(
            check(&[file("lib/llvm/a")]).1,
            ["there is nothing in it to put into a wheel"]
        );
    }

    #[test]
    fn a_requirement_is_about_its_project() {
        for (requirement, project) in [
            ("rocm[libraries]==7.10.0", "rocm"),
            ("Rocm (==7)", "rocm"),
            ("rocm-sdk-core==7", "rocm-sdk-core"),
            ("rocm; extra == 'x'", "rocm"),
            ("", ""),
        ] {
            assert_eq!(project_of(requirement), project);
        }
    }
}
