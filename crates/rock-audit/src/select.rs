//! Which files of a wheel count, and for which architecture and C library.

use std::collections::BTreeSet;

use super::inspect::{FileFacts, FileKind};
use super::libc;
use super::library::Library;
use super::limits::{MAX_TREE_EDGES, MAX_TREE_NODES};
use crate::codes::elf as codes;
use rock_compat::policy::PolicyFamily;
use rock_diagnostic::{Diagnostic, Location, Severity};
use rock_elf::{ElfClass, ElfHeader, Endianness};
use rock_names::{Arch, PlatformSystem, WheelName};

/// What a wheel is for.
#[derive(Debug, Clone, PartialEq)]
pub struct Selected {
    /// The architecture; `None` for a wheel without libraries.
    pub arch: Option<Arch>,
    /// The C library, where something tells it.
    pub family: Option<PolicyFamily>,
    /// The numbers of the files that count.
    pub considered: Vec<usize>,
    /// The system that all tags of the name are for, where its wheels are not judged here. No file
    /// counts then.
    pub foreign_system: Option<&'static str>,
    /// Whether a file calls a C library, and nothing in the wheel tells which.
    pub is_libc_open: bool,
    /// What was left out, and why.
    pub findings: Vec<Diagnostic>,
}

/// The libraries of a wheel that fit together: of the architecture and C library that the file name
/// says, or else the first one. A name that says several says none.
pub fn select(name: &WheelName, files: &[FileFacts]) -> Selected {
    let tags = name.platform.tags();
    let mut selected = Selected {
        arch: only(tags.iter().filter_map(|tag| Arch::of_platform_tag(tag))),
        family: only(
            tags.iter()
                .filter_map(|tag| PolicyFamily::of_platform_tag(tag)),
        ),
        considered: Vec::new(),
        foreign_system: PlatformSystem::foreign_of(tags),
        is_libc_open: false,
        findings: Vec::new(),
    };
    for (number, file) in files.iter().enumerate() {
        let place = Location::Member {
            wheel: name.to_string(),
            member: file.path.clone(),
        };
        let finding = |code, message: String| Diagnostic::new(code, message).at(place.clone(), "");
        let FileKind::Library(library) = &file.kind else {
            selected.findings.extend(damaged(&name.to_string(), file));
            continue;
        };
        if file
            .path
            .split('/')
            .rev()
            .skip(1)
            .any(|part| part == "purelib")
        {
            selected.findings.push(finding(
                &codes::ELF_IN_PURELIB,
                "a library below `purelib`".to_owned(),
            ));
        }
        if selected.foreign_system.is_some() {
            continue;
        }
        let Some(arch) = arch_of(&library.header) else {
            let message = format!(
                "a library for machine {}, which no wheel is for",
                library.header.machine
            );
            selected
                .findings
                .push(finding(&codes::OTHER_ARCHITECTURE, message));
            continue;
        };
        let expected = *selected.arch.get_or_insert(arch);
        if arch != expected {
            let message = format!("a library for {arch} in a wheel for {expected}");
            selected
                .findings
                .push(finding(&codes::OTHER_ARCHITECTURE, message));
            continue;
        }
        match (family_of(library, &file.path), selected.family) {
            (Some(own), Some(expected)) if own != expected => {
                let message = format!(
                    "a library for {} in a wheel for {}",
                    own.as_str(),
                    expected.as_str()
                );
                selected.findings.push(finding(&codes::OTHER_LIBC, message));
            }
            (own, known) => {
                selected.family = known.or(own);
                selected.considered.push(number);
            }
        }
    }
    if let Some(message) = tangle(files, &selected.considered) {
        let place = Location::File(name.to_string().into());
        selected
            .findings
            .push(Diagnostic::new(&codes::TOO_MANY_LIBRARIES, message).at(place, ""));
        selected.considered.clear();
    }
    // Where none is left the wheel is not what its name says, and there is nothing to judge.
    if selected.considered.is_empty() {
        let is_left_out = |code| code == &codes::OTHER_ARCHITECTURE || code == &codes::OTHER_LIBC;
        for finding in selected
            .findings
            .iter_mut()
            .filter(|finding| is_left_out(finding.code))
        {
            finding.severity = Severity::Error;
        }
    }
    if selected.family.is_none() {
        let finding = unknown_libc(name, files, &selected.considered);
        selected.is_libc_open = finding
            .as_ref()
            .is_some_and(|finding| finding.code == &codes::OPEN_LIBC);
        selected.findings.extend(finding);
    }
    selected
}

/// Reports that nothing tells the C library of a wheel: a file that calls one could be for either,
/// and a module that calls none is judged by that of the machine.
fn unknown_libc(name: &WheelName, files: &[FileFacts], considered: &[usize]) -> Option<Diagnostic> {
    let libraries = || {
        considered.iter().filter_map(|at| match &files[*at].kind {
            FileKind::Library(library) => Some((files[*at].path.clone(), library)),
            _ => None,
        })
    };
    let place = |member: String| Location::Member {
        wheel: name.to_string(),
        member,
    };
    if let Some((path, symbol)) =
        libraries().find_map(|(path, library)| Some((path, library.libc_symbol.as_ref()?)))
    {
        let message = format!("it calls `{symbol}`, but whether from glibc or musl is unknown");
        let finding = Diagnostic::new(&codes::OPEN_LIBC, message).at(place(path), "");
        return Some(
            finding.help("link it with its C library (`-lc`), or name the platform in the file name of the wheel"),
        );
    }
    let (path, _) = libraries().find(|(_, library)| library.extension.is_some())?;
    let message = "the C library of this extension module is unknown; it was audited against that of the machine";
    Some(Diagnostic::new(&codes::UNKNOWN_LIBC, message).at(place(path), ""))
}

/// What is said of a file of a wheel that begins as an ELF file and cannot be read as one: an error
/// where a loader would take it, a remark about data.
pub fn damaged(wheel: &str, file: &FileFacts) -> Option<Diagnostic> {
    let FileKind::Damaged(reason) = &file.kind else {
        return None;
    };
    let place = Location::Member {
        wheel: wheel.to_owned(),
        member: file.path.clone(),
    };
    let told = Diagnostic::new(&codes::DAMAGED_ELF, format!("no ELF file: {reason}")).at(place, "");
    let severity = if file.is_for_loaders() {
        told.severity
    } else {
        Severity::Note
    };
    Some(told.severity(severity))
}

/// What all of them are, where they are one.
fn only<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|one| one == first).then_some(first)
}

/// Why so many libraries cannot be judged: each leads to all that others need, and that grows with
/// the square of them.
pub(super) fn tangle(files: &[FileFacts], considered: &[usize]) -> Option<String> {
    let needed = || super::inspect::libraries(files).flat_map(|(_, library)| &library.needed);
    let edges = needed().count();
    let names = needed().collect::<BTreeSet<_>>().len();
    let roots = considered.len();
    let is_large = roots.saturating_mul(names) > MAX_TREE_NODES
        || roots.saturating_mul(edges) > MAX_TREE_EDGES;
    is_large
        .then(|| format!("its {roots} libraries need {names} others, too many to follow from each"))
}

/// The architecture that a file header is for.
pub fn arch_of(header: &ElfHeader) -> Option<Arch> {
    let class = match header.format.class {
        ElfClass::Elf32 => 1,
        ElfClass::Elf64 => 2,
    };
    let data = match header.format.endianness {
        Endianness::Little => 1,
        Endianness::Big => 2,
    };
    Arch::from_elf(header.machine, class, data, header.flags)
}

/// Returns the C library that a file is for: by what it needs, and by the name that Python gives
/// modules.
pub(super) fn family_of(library: &Library, path: &str) -> Option<PolicyFamily> {
    library.named_libc().or_else(|| libc::of_module_name(path))
}
