//! ROCm put into a wheel: which files come along under which names, and what changes in the wheel
//! for it.

use std::collections::{BTreeMap, BTreeSet};

use super::library::Library;
use super::tree::Excludes;
use crate::codes::{rocm as rocm_codes, wheel as codes};
use rock_compat::Compat;
use rock_compat::rows::EmbeddingRow;
use rock_diagnostic::{Diagnostic, Location, Severity, counted};
use rock_elf::SearchPathEdit;
use rock_names::{DistributionName, LocalLabel, WheelName};
use rock_wheel::{AddedMember, ExistingLabel, HeaderDocument, RenamePlan, Wheel, relabel};

/// What is read of a module at most.
const LIMIT_BYTES: u64 = 16 << 20;

/// A file or link of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// Its path in the folder, with slashes.
    pub path: String,
    /// What it is.
    pub kind: LeafKind,
}

/// What is under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LeafKind {
    /// A regular file.
    File {
        /// Whether it may be run.
        is_executable: bool,
    },
    /// A link that leads to this file of the folder in the end.
    LinkToFile(String),
    /// A link to a folder in the folder.
    LinkToFolder,
    /// What no wheel can hold, in words.
    Other(&'static str),
}

/// A file that comes along.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Along {
    /// Its name below the folder that ROCm goes into.
    pub name: String,
    /// The file of ROCm that it is.
    pub path: String,
    /// Whether it may be run.
    pub is_executable: bool,
}

/// Whether requirements of what a wheel holds stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requirements {
    /// They go: an installer would bring ROCm twice.
    Dropped,
    /// They stay.
    Kept,
}

/// How ROCm is put into wheels of this name.
///
/// # Errors
/// When no row says it.
pub fn embedding<'c>(name: &WheelName, compat: &'c Compat) -> Result<&'c EmbeddingRow, Diagnostic> {
    known_embedding(name, compat).ok_or_else(|| {
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

/// The row that says how ROCm is put into wheels of this name.
pub(super) fn known_embedding<'c>(
    name: &WheelName,
    compat: &'c Compat,
) -> Option<&'c EmbeddingRow> {
    let project = name
        .distribution
        .parse::<DistributionName>()
        .map(|name| name.normalized())
        .unwrap_or_default();
    let platform = match name.platform.tags().first() {
        Some(tag) if tag.starts_with("win") => "windows",
        Some(tag) if tag.contains("linux") => "linux",
        _ => "",
    };
    let is_of = |row: &&EmbeddingRow| row.distribution == project && row.platform == platform;
    compat.wheel_tables().embeddings.iter().find(is_of)
}

/// That the label says of ROCm in a wheel what is not so.
pub fn not_as_labelled(wheel: &Wheel<'_>, name: &WheelName, compat: &Compat) -> Option<Diagnostic> {
    let row = known_embedding(name, compat)?;
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

/// Whether the label says that ROCm is in the wheel.
pub(super) fn says_embedded(name: &WheelName) -> bool {
    name.label().is_some_and(|label| label.is_embedded())
}

/// Whether a wheel holds ROCm already.
pub fn is_embedded(wheel: &Wheel<'_>, row: &EmbeddingRow) -> bool {
    let into = format!("{}/", row.into);
    wheel
        .archive()
        .members()
        .iter()
        .any(|member| member.name().starts_with(&into))
}

/// The files of ROCm that come along, sorted by name, and what a person should know of those that
/// do not.
///
/// A wheel holds no links. A library is packed once, under the name that loaders ask for (SONAME),
/// wherever a link of its folder has that name; its other links are left out. Links to other files
/// become copies.
///
/// # Errors
/// What no wheel can hold, and that nothing is left.
pub fn along(
    folder: &str,
    leaves: &[Leaf],
    row: &EmbeddingRow,
    soname: &dyn Fn(&str) -> Option<String>,
) -> Result<(Vec<Along>, Vec<Diagnostic>), Vec<Diagnostic>> {
    let place = |path: &str| Location::File(format!("{folder}/{path}").into());
    let excludes = Excludes::new(row.excludes.iter().map(String::as_str)).map_err(|reason| {
        vec![
            Diagnostic::new(&codes::BAD_PATTERN, reason)
                .help("correct the row of `embeddings` in the facts"),
        ]
    })?;
    let kept: Vec<&Leaf> = leaves
        .iter()
        .filter(|leaf| !excludes.has(&leaf.path))
        .collect();
    let faults: Vec<Diagnostic> = kept
        .iter()
        .filter_map(|leaf| match leaf.kind {
            LeafKind::Other(what) => Some(
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
            LeafKind::LinkToFile(target) if !excludes.has(target) => {
                links.entry(target).or_default().push(&leaf.path);
            }
            LeafKind::LinkToFile(_) | LeafKind::LinkToFolder => left_out += 1,
            _ => {}
        }
    }
    let (mut files, mut copies) = (Vec::new(), 0);
    for leaf in &kept {
        let LeafKind::File { is_executable } = leaf.kind else {
            continue;
        };
        let mut file = |name: &str| {
            files.push(Along {
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

/// The wheel of this name with ROCm in it: label, requirements, the statement that leads to it, and
/// the files.
///
/// # Errors
/// When METADATA is about another project or version, or the line that the statement goes before is
/// not there once.
pub fn embed<'c>(
    wheel: &Wheel<'_>,
    name: &WheelName,
    row: &EmbeddingRow,
    files: BTreeMap<String, AddedMember<'c>>,
    requirements: Requirements,
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
    if requirements == Requirements::Dropped {
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

/// The project that a requirement is about, normalized.
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

/// The module with the statement before its marker, at the same depth.
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

/// What becomes of the search path of a library of the wheel that needs one of these: the folder of
/// ROCm comes first.
pub fn search_path(
    path: &str,
    library: &Library,
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
    use super::{Along, Leaf, LeafKind, along, project_of};
    use rock_compat::Compat;
    use rock_names::WheelName;

    fn file(path: &str) -> Leaf {
        Leaf {
            path: path.to_owned(),
            kind: LeafKind::File {
                is_executable: false,
            },
        }
    }

    fn link(path: &str, target: &str) -> Leaf {
        Leaf {
            path: path.to_owned(),
            kind: LeafKind::LinkToFile(target.to_owned()),
        }
    }

    /// What comes along as `NAME=PATH`, and what is told.
    fn check(leaves: &[Leaf]) -> (Vec<String>, Vec<String>) {
        let compat = Compat::embedded();
        let name: WheelName = "torch-2.9.0-cp312-cp312-linux_x86_64.whl".parse().unwrap();
        let row = super::embedding(&name, &compat).unwrap();
        let soname = |path: &str| path.contains("libhip").then(|| "libhip.so.7".to_owned());
        let said = |told: Vec<rock_diagnostic::Diagnostic>| {
            told.into_iter().map(|one| one.message).collect()
        };
        match along("rocm", leaves, row, &soname) {
            Ok((files, told)) => (
                files
                    .into_iter()
                    .map(|Along { name, path, .. }| format!("{name}={path}"))
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
        let other = |path: &str| Leaf {
            path: path.to_owned(),
            kind: LeafKind::Other("a socket"),
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
