//! Embedding of the ROCm runtime: selection of the files of an installed ROCm, and the changes of
//! the wheel.
//!
//! [`embedding_rule`] returns the rule for a wheel. A [`RocmEmbedding`] has the selected files of an
//! installed ROCm and the changes of a wheel.
//!
//! **Invariant:** The wheel and the installed ROCm are only read; all changes are in the
//! [`RenamePlan`] of the embedding.

mod rocm_embedding;

pub use rocm_embedding::RocmEmbedding;

use std::collections::{BTreeMap, BTreeSet};

use super::library::ElfLibrary;
use super::locations::in_wheel;
use super::pattern::LibraryPatterns;
use super::search_path::relative_entry;
use crate::codes::{rocm as rocm_codes, wheel as codes};
use rock_compat::Compat;
use rock_compat::rows::EmbeddingRow;
use rock_diagnostic::{Diagnostic, Diagnostics, Location, Severity, counted};
use rock_elf::SearchPathEdit;
use rock_names::{DistributionName, LocalLabel, WheelName};
use rock_wheel::{ExistingLabel, HeaderDocument, RenamePlan, Wheel, relabel};

/// Maximum size of a Python module that is read, in bytes.
const MAX_MODULE_BYTES: u64 = 16 << 20;

/// A file or symbolic link below a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TreeEntry {
    /// The path relative to the directory, with slashes.
    pub(crate) path: String,
    /// Whether it is a file or a symbolic link.
    pub(crate) kind: TreeEntryKind,
}

/// The kind of a directory entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TreeEntryKind {
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
pub(crate) struct EmbeddedFile {
    /// The path below the directory of the wheel into which ROCm is embedded.
    pub(crate) name: String,
    /// The path below the directory of the installed ROCm.
    pub(crate) path: String,
    /// Whether it is executable.
    pub(crate) is_executable: bool,
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
            format!("there is no embedding rule for `{name}`"),
        )
        .help(format!(
            "there are rules for {}; add a row to `embeddings` in the compatibility data for \
             others",
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
    compat
        .wheel_tables()
        .embeddings
        .iter()
        .find(|row| row.distribution == project && row.platform == platform)
}

/// Reports a local version label that claims ROCm is embedded when it is not, or the reverse.
pub(crate) fn check_embedding_label(
    wheel: &Wheel<'_>,
    file_name: &str,
    name: &WheelName,
    compat: &Compat,
) -> Option<Diagnostic> {
    let row = known_embedding_rule(name, compat)?;
    let into = &row.into;
    let (message, help) = match (says_embedded(name), is_embedded(wheel, row)) {
        (true, false) => (
            format!("the label says that the wheel contains ROCm, but `{into}` is empty"),
            "embed ROCm in the original wheel with `rock-matrix wheel embed`, or correct the label"
                .to_owned(),
        ),
        (false, true) => (
            format!("`{into}` contains ROCm, but the label does not say so"),
            format!(
                "`rock-matrix wheel label WHEEL {} --replace`",
                LocalLabel::embedded(name.label().as_ref())
            ),
        ),
        _ => return None,
    };
    Some(
        Diagnostic::new(&rocm_codes::NAME_NOT_IN_CONTENTS, message)
            .at(in_wheel(file_name), "")
            .help(help),
    )
}

/// Returns whether the label claims that ROCm is embedded.
pub(super) fn says_embedded(name: &WheelName) -> bool {
    name.label().is_some_and(|label| label.is_embedded())
}

/// Returns whether ROCm is embedded in a wheel.
pub(crate) fn is_embedded(wheel: &Wheel<'_>, row: &EmbeddingRow) -> bool {
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
fn select_embedded_files(
    rocm_dir: &str,
    entries: &[TreeEntry],
    row: &EmbeddingRow,
    soname: &dyn Fn(&str) -> Option<String>,
) -> Result<(Vec<EmbeddedFile>, Vec<Diagnostic>), Diagnostics> {
    let excludes =
        LibraryPatterns::new(row.excludes.iter().map(String::as_str)).map_err(|error| {
            Diagnostic::new(&codes::BAD_PATTERN, error.to_string())
                .help("correct the row of `embeddings` in the compatibility data")
        })?;
    let kept: Vec<&TreeEntry> = entries
        .iter()
        .filter(|entry| !excludes.has(&entry.path))
        .collect();
    let errors: Vec<Diagnostic> = kept
        .iter()
        .filter_map(|entry| match entry.kind {
            TreeEntryKind::Other(description) => Some(
                Diagnostic::new(
                    &codes::BAD_ROCM_FOLDER,
                    format!(
                        "`{}` is {description}, which no wheel can contain",
                        entry.path
                    ),
                )
                .at(location_below(rocm_dir, &entry.path), "")
                .help("remove it, or pass the directory into which ROCm was installed"),
            ),
            _ => None,
        })
        .collect();
    Diagnostics::check(errors)?;
    let mut links: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut left_out = 0;
    for entry in &kept {
        match &entry.kind {
            TreeEntryKind::LinkToFile(target) if !excludes.has(target) => {
                links.entry(target).or_default().push(&entry.path);
            }
            TreeEntryKind::LinkToFile(_) | TreeEntryKind::LinkToFolder => left_out += 1,
            _ => {}
        }
    }
    let (mut files, mut copies) = (Vec::new(), 0);
    for entry in &kept {
        let TreeEntryKind::File { is_executable } = entry.kind else {
            continue;
        };
        let mut file = |name: &str| {
            files.push(EmbeddedFile {
                name: name.to_owned(),
                path: entry.path.clone(),
                is_executable,
            });
        };
        let links_to_file = links
            .get(entry.path.as_str())
            .map_or(&[][..], Vec::as_slice);
        if links_to_file.is_empty() {
            file(&entry.path);
            continue;
        }
        let directory = entry
            .path
            .rsplit_once('/')
            .map_or(String::new(), |(directory, _)| format!("{directory}/"));
        let loaded_path = soname(&entry.path).map(|soname| format!("{directory}{soname}"));
        match loaded_path.filter(|loaded_path| {
            *loaded_path == entry.path || links_to_file.contains(&loaded_path.as_str())
        }) {
            Some(loaded_path) => {
                left_out += links_to_file.len();
                file(&loaded_path);
            }
            None => {
                copies += links_to_file.len();
                std::iter::once(entry.path.as_str())
                    .chain(links_to_file.iter().copied())
                    .for_each(file);
            }
        }
    }
    files.sort();
    if files.is_empty() {
        let error = Diagnostic::new(&codes::BAD_ROCM_FOLDER, "it contains nothing to embed");
        return Err(error
            .at(location_below(rocm_dir, ""), "")
            .help("pass the directory into which ROCm was installed")
            .into());
    }
    let mut findings = Vec::new();
    if left_out + copies > 0 {
        let effects: Vec<String> = [(left_out, "left out"), (copies, "copied")]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, effect)| format!("{} {effect}", counted(count, "link")))
            .collect();
        let message = format!("wheels cannot contain links: {}", effects.join(", "));
        let mut finding =
            Diagnostic::new(&codes::LINKS_IN_ROCM, message).at(location_below(rocm_dir, ""), "");
        if left_out > 0 {
            finding = finding.note(
                "libraries are included under the name that the dynamic linker looks up, without \
                 other links to them",
            );
        }
        findings.push(finding);
    }
    Ok((files, findings))
}

/// Plans to change the label, the requirements and the module that loads ROCm.
///
/// # Errors
/// Returns an error if METADATA names another project or version, or if the marker of the module is
/// not there exactly once.
fn plan_rename(
    wheel: &Wheel<'_>,
    name: &WheelName,
    row: &EmbeddingRow,
    requirements: RocmRequirement,
) -> Result<RenamePlan<'static>, Diagnostic> {
    let file_name = name.to_string();
    let label = LocalLabel::embedded(name.label().as_ref());
    let mut plan = relabel(wheel, name, &label, ExistingLabel::Replace)
        .map_err(|error| error.diagnostic(&file_name))?;
    // The modules of the wheel contain the version that they were built as, which stays true.
    plan.findings = plan
        .findings
        .into_iter()
        .map(|finding| finding.severity(Severity::Note))
        .collect();
    let metadata = wheel.dist_info_path("METADATA");
    if requirements == RocmRequirement::Dropped {
        let content = plan.edits.replaced.get(&metadata);
        let bytes = content
            .and_then(|content| content.as_bytes())
            .unwrap_or_else(|| wheel.metadata().bytes());
        let mut headers = HeaderDocument::parse(bytes.to_vec());
        let kept: Vec<String> = headers
            .get_all("Requires-Dist")
            .filter(|requirement| !row.drops.contains(&project_of(requirement)))
            .map(std::borrow::Cow::into_owned)
            .collect();
        headers.set("Requires-Dist", &kept);
        plan.edits
            .replaced
            .insert(metadata, headers.bytes().to_vec().into());
        let removed = row
            .removes
            .iter()
            .filter(|path| wheel.archive().member(path).is_some());
        plan.edits.removed.extend(removed.cloned());
    }
    if !row.module.is_empty() {
        plan.edits.replaced.insert(
            row.module.clone(),
            with_rocm_loader(wheel, &file_name, row)?.into(),
        );
    }
    if row.experimental {
        let message = format!(
            "embedding ROCm in wheels of {} for {} is untested",
            row.distribution, row.platform
        );
        plan.findings.push(
            Diagnostic::new(&codes::UNTRIED_EMBEDDING, message)
                .help("test the wheel on a machine without ROCm"),
        );
    }
    Ok(plan)
}

fn location_below(directory: &str, path: &str) -> Location {
    Location::File(format!("{directory}/{path}").into())
}

/// Returns the normalized project name of a requirement.
fn project_of(requirement: &str) -> String {
    let name = requirement
        .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
        .next()
        .unwrap_or_default();
    name.parse::<DistributionName>()
        .map(|name| name.normalized())
        .unwrap_or_default()
}

/// Returns the error that a number of lines other than one contain the marker of a module.
fn wrong_marker_count(file_name: &str, row: &EmbeddingRow, count: usize) -> Diagnostic {
    let message = match count {
        0 => format!("no line of it contains `{}`", row.marker),
        count => format!("{count} lines of it contain `{}`", row.marker),
    };
    let location = Location::Member {
        wheel: file_name.to_owned(),
        member: row.module.clone(),
    };
    Diagnostic::new(&codes::MARKER_NOT_FOUND, message)
        .at(
            location,
            "the statement that finds ROCm is inserted before this line",
        )
        .help(
            "the row of `embeddings` was written for another torch; correct it, and load it with \
             `--compat`",
        )
}

/// Inserts a statement before the marker of a module, with the same indentation.
fn with_rocm_loader(
    wheel: &Wheel<'_>,
    file_name: &str,
    row: &EmbeddingRow,
) -> Result<Vec<u8>, Diagnostic> {
    let member = wheel
        .archive()
        .member(&row.module)
        .ok_or_else(|| wrong_marker_count(file_name, row, 0))?;
    let content = wheel
        .archive()
        .read(member, MAX_MODULE_BYTES)
        .map_err(|error| error.diagnostic(file_name))?;
    let text = String::from_utf8(content).map_err(|_| wrong_marker_count(file_name, row, 0))?;
    let count = text
        .lines()
        .filter(|line| line.contains(&row.marker))
        .count();
    if count != 1 {
        return Err(wrong_marker_count(file_name, row, count));
    }
    let mut module = String::with_capacity(text.len() + 200);
    for line in text.split_inclusive('\n') {
        if line.contains(&row.marker) {
            let indent = &line[..line.len() - line.trim_start().len()];
            let ending = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
            module.extend([indent, &row.insert, ending]);
        }
        module.push_str(line);
    }
    Ok(module.into_bytes())
}

/// Returns the new search path of a library of the wheel that needs one of these: the directory of
/// ROCm comes first.
fn embedded_search_path(
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
    let mut own_dirs: Vec<&str> = path.split('/').collect();
    own_dirs.pop();
    let target = format!("{}/{}", row.into, row.search);
    let target_dirs: Vec<&str> = target.split('/').collect();
    let first = relative_entry(&own_dirs, &target_dirs);
    match (&library.runpath, &library.rpath) {
        (None, Some(old)) => SearchPathEdit::Rpath(prepended(&first, old)),
        (old, _) => SearchPathEdit::Runpath(prepended(&first, old.as_deref().unwrap_or_default())),
    }
}

/// Puts an entry in front of the other entries of a search path.
fn prepended(first: &str, search_path: &str) -> String {
    let rest = search_path
        .split(':')
        .filter(|entry| !entry.is_empty() && *entry != first);
    std::iter::once(first)
        .chain(rest)
        .collect::<Vec<_>>()
        .join(":")
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
    fn check(entries: &[TreeEntry]) -> (Vec<String>, Vec<String>) {
        let compat = Compat::embedded();
        let name: WheelName = "torch-2.9.0-cp312-cp312-linux_x86_64.whl".parse().unwrap();
        let row = super::embedding_rule(&name, &compat).unwrap();
        let soname = |path: &str| path.contains("libhip").then(|| "libhip.so.7".to_owned());
        let messages = |findings: Vec<rock_diagnostic::Diagnostic>| {
            findings
                .into_iter()
                .map(|finding| finding.message)
                .collect()
        };
        match select_embedded_files("rocm", entries, row, &soname) {
            Ok((files, findings)) => (
                files
                    .into_iter()
                    .map(|EmbeddedFile { name, path, .. }| format!("{name}={path}"))
                    .collect(),
                messages(findings),
            ),
            Err(errors) => (Vec::new(), messages(errors.into_vec())),
        }
    }

    #[test]
    fn libraries_are_embedded_once_under_their_soname() {
        let real = "lib/libhip.so.7.1";
        let (files, messages) = check(&[
            file(real),
            link("lib/libhip.so", real),
            link("lib/libhip.so.7", real),
        ]);
        assert_eq!(files, ["lib/libhip.so.7=lib/libhip.so.7.1"]);
        assert_eq!(messages, ["wheels cannot contain links: 2 links left out"]);
        let elsewhere = "lib/real/libhip.so.7.1";
        let (files, _) = check(&[file(elsewhere), link("lib/libhip.so.7", elsewhere)]);
        assert_eq!(files.len(), 2, "another folder may be searched for it");
    }

    #[test]
    fn links_to_other_files_become_copies_unless_these_are_excluded() {
        let compiler = "lib/llvm/bin/clang";
        let (files, messages) = check(&[
            file("share/a"),
            link("share/b", "share/a"),
            file(compiler),
            link("bin/clang", compiler),
        ]);
        assert_eq!(files, ["share/a=share/a", "share/b=share/a"]);
        assert_eq!(
            messages,
            ["wheels cannot contain links: 1 link left out, 1 link copied"]
        );
    }

    #[test]
    fn special_files_are_errors_unless_they_are_excluded() {
        let socket = |path: &str| TreeEntry {
            path: path.to_owned(),
            kind: TreeEntryKind::Other("a socket"),
        };
        assert_eq!(
            check(&[file("a"), socket("b")]).1,
            ["`b` is a socket, which no wheel can contain"]
        );
        assert_eq!(check(&[file("a"), socket("lib/llvm/b")]).0, ["a=a"]);
        assert_eq!(
            check(&[file("lib/llvm/a")]).1,
            ["it contains nothing to embed"]
        );
    }

    #[test]
    fn requirements_name_a_project() {
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
