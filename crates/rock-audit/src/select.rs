//! Selection of the libraries of a wheel to which policies apply, and of their architecture and C
//! library.

use std::collections::BTreeSet;

use super::inspect::{InspectedFile, InspectedKind};
use super::libc;
use super::library::ElfLibrary;
use super::limits::{MAX_TREE_EDGES, MAX_TREE_NODES};
use crate::codes::elf as codes;
use rock_compat::policy::PolicyFamily;
use rock_diagnostic::{Diagnostic, Location, Severity};
use rock_elf::{ElfClass, ElfHeader, Endianness};
use rock_names::{Arch, PlatformSystem, WheelName};

/// The libraries of a wheel to which policies apply.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LibrarySelection {
    /// The architecture; `None` for a wheel without libraries.
    pub arch: Option<Arch>,
    /// The C library, if it can be identified.
    pub family: Option<PolicyFamily>,
    /// The indexes of the selected files.
    pub considered: Vec<usize>,
    /// The operating system that all tags of the name are for, if its wheels are not audited. No
    /// file is selected then.
    pub foreign_system: Option<&'static str>,
    /// Whether a file calls functions of a C library that nothing in the wheel identifies.
    pub is_libc_unknown: bool,
    /// Findings about files that are not selected.
    pub findings: Vec<Diagnostic>,
}

/// Selects the libraries of a wheel that match: of the architecture and C library in the file name,
/// or else of the first library. A name with several of them implies none.
pub(crate) fn select_libraries(name: &WheelName, files: &[InspectedFile]) -> LibrarySelection {
    let tags = name.platform_tags().as_slice();
    let mut selected = LibrarySelection {
        arch: common_value(tags.iter().filter_map(|tag| Arch::of_platform_tag(tag))),
        family: common_value(
            tags.iter()
                .filter_map(|tag| PolicyFamily::of_platform_tag(tag)),
        ),
        considered: Vec::new(),
        foreign_system: PlatformSystem::foreign_of(tags),
        is_libc_unknown: false,
        findings: Vec::new(),
    };
    for (number, file) in files.iter().enumerate() {
        let place = Location::Member {
            wheel: name.to_string(),
            member: file.path.clone(),
        };
        let finding = |code, message: String| Diagnostic::new(code, message).at(place.clone(), "");
        let InspectedKind::Library(library) = &file.kind else {
            selected
                .findings
                .extend(damaged_elf(&name.to_string(), file));
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
        let Some(arch) = elf_arch(&library.header) else {
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
        match (elf_libc(library, &file.path), selected.family) {
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
    if let Some(message) = excess_dependencies(files, &selected.considered) {
        let place = Location::File(name.to_string().into());
        selected
            .findings
            .push(Diagnostic::new(&codes::TOO_MANY_LIBRARIES, message).at(place, ""));
        selected.considered.clear();
    }
    // If no library remains, the wheel is not what its name claims, and nothing can be audited.
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
        selected.is_libc_unknown = finding
            .as_ref()
            .is_some_and(|finding| finding.code == &codes::OPEN_LIBC);
        selected.findings.extend(finding);
    }
    selected
}

/// Reports that the C library of a wheel cannot be identified: a file that calls one could be for
/// either, and a module that calls none is audited against that of the system.
fn unknown_libc(
    name: &WheelName,
    files: &[InspectedFile],
    considered: &[usize],
) -> Option<Diagnostic> {
    let libraries = || {
        considered.iter().filter_map(|at| match &files[*at].kind {
            InspectedKind::Library(library) => Some((files[*at].path.clone(), library)),
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

/// Reports a file with an ELF header that cannot be parsed: as an error if the dynamic linker would
/// load it, as a note for data.
pub(crate) fn damaged_elf(wheel: &str, file: &InspectedFile) -> Option<Diagnostic> {
    let InspectedKind::Damaged(reason) = &file.kind else {
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

/// Returns the common value, if all values are equal.
fn common_value<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|one| one == first).then_some(first)
}

/// Returns the reason why so many libraries cannot be audited: each leads to all that others need,
/// which grows with the square of their number.
pub(super) fn excess_dependencies(files: &[InspectedFile], considered: &[usize]) -> Option<String> {
    let needed = || super::inspect::libraries(files).flat_map(|(_, library)| &library.needed);
    let edges = needed().count();
    let names = needed().collect::<BTreeSet<_>>().len();
    let roots = considered.len();
    let is_large = roots.saturating_mul(names) > MAX_TREE_NODES
        || roots.saturating_mul(edges) > MAX_TREE_EDGES;
    is_large
        .then(|| format!("its {roots} libraries need {names} others, too many to follow from each"))
}

/// Returns the architecture of an ELF header.
pub(crate) fn elf_arch(header: &ElfHeader) -> Option<Arch> {
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

/// Returns the C library of a file by its needs, and by the name that Python gives modules.
pub(super) fn elf_libc(library: &ElfLibrary, path: &str) -> Option<PolicyFamily> {
    library.named_libc().or_else(|| libc::of_module_name(path))
}
