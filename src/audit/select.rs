//! Which files of a wheel count, and for which architecture and C library.

use std::collections::BTreeSet;

use super::inspect::{FileFacts, FileKind};
use super::library::Library;
use crate::compat::policy::Family;
use crate::diagnostic::registry::elf as codes;
use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::elf::{Class, Endian, Header};
use crate::names::{Arch, WheelName};

/// What a wheel is for.
#[derive(Debug, Clone, PartialEq)]
pub struct Selected {
    /// The architecture; `None` for a wheel without libraries.
    pub arch: Option<Arch>,
    /// The C library, where something tells it.
    pub family: Option<Family>,
    /// The numbers of the files that count.
    pub considered: Vec<usize>,
    /// What was left out, and why.
    pub findings: Vec<Diagnostic>,
}

/// The libraries of a wheel that fit together: of the architecture and C library that the file name says, or else the
/// first one. A name that says several says none.
pub fn select(name: &WheelName, files: &[FileFacts]) -> Selected {
    let tags = name.platform.tags();
    let mut selected = Selected {
        arch: only(tags.iter().filter_map(|tag| Arch::of_platform_tag(tag))),
        family: only(tags.iter().filter_map(|tag| Family::of_platform_tag(tag))),
        considered: Vec::new(),
        findings: Vec::new(),
    };
    for (number, file) in files.iter().enumerate() {
        let place = Place::Member { wheel: name.to_string(), member: file.path.clone() };
        let finding = |code, message: String| Diagnostic::new(code, message).at(place.clone(), "");
        let FileKind::Library(library) = &file.kind else {
            selected.findings.extend(damaged(&name.to_string(), file));
            continue;
        };
        if file.path.split('/').rev().skip(1).any(|part| part == "purelib") {
            selected.findings.push(finding(&codes::ELF_IN_PURELIB, "a library below `purelib`".to_owned()));
        }
        let Some(arch) = arch_of(&library.header) else {
            let message = format!("a library for machine {}, which no wheel is for", library.header.machine);
            selected.findings.push(finding(&codes::OTHER_ARCHITECTURE, message));
            continue;
        };
        let expected = *selected.arch.get_or_insert(arch);
        if arch != expected {
            let message = format!("a library for {arch} in a wheel for {expected}");
            selected.findings.push(finding(&codes::OTHER_ARCHITECTURE, message));
            continue;
        }
        match (family_of(library, &file.path), selected.family) {
            (Some(own), Some(expected)) if own != expected => {
                let message = format!("a library for {} in a wheel for {}", own.as_str(), expected.as_str());
                selected.findings.push(finding(&codes::OTHER_LIBC, message));
            }
            (own, known) => {
                selected.family = known.or(own);
                selected.considered.push(number);
            }
        }
    }
    if let Some(message) = tangle(files, &selected.considered) {
        let place = Place::File(name.to_string().into());
        selected.findings.push(Diagnostic::new(&codes::TOO_MANY_LIBRARIES, message).at(place, ""));
        selected.considered.clear();
    }
    // Where none is left the wheel is not what its name says, and there is nothing to judge.
    if selected.considered.is_empty() {
        let is_left_out = |code| code == &codes::OTHER_ARCHITECTURE || code == &codes::OTHER_LIBC;
        for finding in selected.findings.iter_mut().filter(|finding| is_left_out(finding.code)) {
            finding.severity = Severity::Error;
        }
    }
    let is_unknown = selected.family.is_none();
    let extension = selected.considered.iter().find(|at| match &files[**at].kind {
        FileKind::Library(library) => library.extension.is_some(),
        _ => false,
    });
    if let Some(at) = extension.filter(|_| is_unknown) {
        let place = Place::Member { wheel: name.to_string(), member: files[*at].path.clone() };
        let message =
            "an extension module, and nothing tells its C library: it was judged by that of the machine".to_owned();
        selected.findings.push(Diagnostic::new(&codes::UNKNOWN_LIBC, message).at(place, ""));
    }
    selected
}

/// What is said of a file of a wheel that begins as an ELF file and cannot be read as one: an error where a loader would
/// take it, a remark about data.
pub fn damaged(wheel: &str, file: &FileFacts) -> Option<Diagnostic> {
    let FileKind::Damaged(reason) = &file.kind else { return None };
    let place = Place::Member { wheel: wheel.to_owned(), member: file.path.clone() };
    let told = Diagnostic::new(&codes::DAMAGED_ELF, format!("no ELF file: {reason}")).at(place, "");
    let severity = if file.is_for_loaders() { told.severity } else { Severity::Note };
    Some(told.severity(severity))
}

/// What all of them are, where they are one.
fn only<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|one| one == first).then_some(first)
}

/// What is kept at most of all that libraries lead to: as many as 700 libraries of which each leads to all of them.
const MOST_NODES: usize = 1 << 19;
/// How often at most a needed library is looked for.
const MOST_EDGES: usize = 1 << 25;

/// Why so many libraries cannot be judged: each leads to all that others need, and that grows with the square of them.
fn tangle(files: &[FileFacts], considered: &[usize]) -> Option<String> {
    let needed = || super::inspect::libraries(files).flat_map(|(_, library)| &library.needed);
    let edges = needed().count();
    let names = needed().collect::<BTreeSet<_>>().len();
    let roots = considered.len();
    let is_large = roots.saturating_mul(names) > MOST_NODES || roots.saturating_mul(edges) > MOST_EDGES;
    is_large.then(|| format!("its {roots} libraries need {names} others, too many to follow from each"))
}

/// The architecture that a file header is for.
pub fn arch_of(header: &Header) -> Option<Arch> {
    let class = match header.format.class {
        Class::Elf32 => 1,
        Class::Elf64 => 2,
    };
    let data = match header.format.endian {
        Endian::Little => 1,
        Endian::Big => 2,
    };
    Arch::from_elf(header.machine, class, data, header.flags)
}

/// The C library that a file is for: by its interpreter, by what it needs, and by the ending of its name, which Python
/// gives extension modules (PEP 3149, and PEP 656 for musl).
pub(super) fn family_of(library: &Library, path: &str) -> Option<Family> {
    if let Some(interpreter) = &library.interpreter {
        let name = interpreter.rsplit('/').next().unwrap_or_default();
        return Some(if name.starts_with("ld-musl-") { Family::Musllinux } else { Family::Manylinux });
    }
    let is_glibc = |name: &String| name == "libc.so.6" || name.starts_with("ld-linux-") || name.starts_with("ld64.so.");
    let is_musl = |name: &String| name.starts_with("libc.musl-") || name.starts_with("ld-musl-");
    match library.needed.iter().find(|name| is_glibc(name) || is_musl(name)) {
        Some(name) => Some(if is_musl(name) { Family::Musllinux } else { Family::Manylinux }),
        None if path.ends_with("-linux-musl.so") || path.ends_with("-linux-musleabihf.so") => Some(Family::Musllinux),
        None if path.ends_with("-linux-gnu.so") || path.ends_with("-linux-gnueabihf.so") => Some(Family::Manylinux),
        None => None,
    }
}
