//! Selection of the libraries of a wheel to which policies apply, and of their architecture and C
//! library.

use std::collections::BTreeSet;

use super::inspect::{InspectedFile, InspectedKind};
use super::libc;
use super::library::ElfLibrary;
use super::limits::{MAX_TREE_EDGES, MAX_TREE_NODES};
use super::locations::{in_member, in_wheel};
use crate::codes::elf as codes;
use rock_compat::policy::PolicyFamily;
use rock_diagnostic::{Code, Diagnostic, Severity};
use rock_elf::{ElfClass, ElfHeader, Endianness};
use rock_names::{Arch, ForeignSystem, PlatformSystem, WheelName};

/// The libraries of a wheel to which policies apply.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AuditedLibraries {
    /// The architecture; `None` for a wheel without libraries.
    pub arch: Option<Arch>,
    /// The C library, if it can be identified.
    pub libc: Option<PolicyFamily>,
    /// The indexes of the selected files.
    pub file_indexes: Vec<usize>,
    /// The operating system that all tags of the name are for, if its wheels are not audited. No
    /// file is selected then.
    pub foreign_system: Option<ForeignSystem>,
    /// The file whose C library nothing in the wheel identifies, if `libc` is `None`.
    pub unidentified_libc: Option<UnidentifiedLibc>,
    /// Findings about files that are not selected, and about an unidentified C library.
    pub findings: Vec<Diagnostic>,
}

/// A library whose C library nothing in its wheel identifies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UnidentifiedLibc {
    /// The file calls a function of a C library, either glibc or musl.
    Called {
        /// The path in the wheel.
        path: String,
        /// The function.
        symbol: String,
    },
    /// The extension module calls no function of a C library.
    NotCalled {
        /// The path in the wheel.
        path: String,
    },
}

impl AuditedLibraries {
    /// Selects the libraries of the architecture and C library in the name, or else of those of
    /// the first library; see [`claimed_platform`]. `wheel` is the file name, for findings.
    pub(crate) fn select(wheel: &str, name: &WheelName, files: &[InspectedFile]) -> Self {
        let (libc, arch) = claimed_platform(name);
        let mut selected = Self {
            arch,
            libc,
            file_indexes: Vec::new(),
            foreign_system: PlatformSystem::foreign_of(name.platform_tags().as_slice()),
            unidentified_libc: None,
            findings: Vec::new(),
        };
        for (file_index, file) in files.iter().enumerate() {
            let InspectedKind::Library(library) = &file.kind else {
                selected.findings.extend(damaged_elf(wheel, file));
                continue;
            };
            if is_below_purelib(&file.path) {
                selected.findings.push(on_member(
                    wheel,
                    &file.path,
                    &codes::ELF_IN_PURELIB,
                    "a library below `purelib`",
                ));
            }
            if selected.foreign_system.is_some() {
                continue;
            }
            match selected.mismatch(library, &file.path) {
                Some((code, message)) => {
                    selected
                        .findings
                        .push(on_member(wheel, &file.path, code, message));
                }
                None => selected.file_indexes.push(file_index),
            }
        }
        if let Some(message) = excess_dependencies(files, &selected.file_indexes) {
            selected
                .findings
                .push(Diagnostic::new(&codes::TOO_MANY_LIBRARIES, message).at(in_wheel(wheel), ""));
            selected.file_indexes.clear();
        }
        // If no library remains, the wheel is not what its name claims, and nothing can be audited.
        if selected.file_indexes.is_empty() {
            for finding in &mut selected.findings {
                if [&codes::OTHER_ARCHITECTURE, &codes::OTHER_LIBC].contains(&finding.code) {
                    finding.severity = Severity::Error;
                }
            }
        }
        if selected.libc.is_none() {
            selected.unidentified_libc = UnidentifiedLibc::find(files, &selected.file_indexes);
            let finding = selected
                .unidentified_libc
                .as_ref()
                .map(|libc| libc.finding(wheel));
            selected.findings.extend(finding);
        }
        selected
    }

    /// Returns the reason why a library does not match the selected ones; takes over its
    /// architecture and C library where these are not known yet.
    fn mismatch(&mut self, library: &ElfLibrary, path: &str) -> Option<(&'static Code, String)> {
        let Some(arch) = elf_arch(&library.header) else {
            let message = format!(
                "a library for machine {}, which no wheel is for",
                library.header.machine
            );
            return Some((&codes::OTHER_ARCHITECTURE, message));
        };
        let expected = *self.arch.get_or_insert(arch);
        if arch != expected {
            let message = format!("a library for {arch} in a wheel for {expected}");
            return Some((&codes::OTHER_ARCHITECTURE, message));
        }
        match (elf_libc(library, path), self.libc) {
            (Some(libc), Some(expected)) if libc != expected => {
                let message = format!(
                    "a library for {} in a wheel for {}",
                    libc.as_str(),
                    expected.as_str()
                );
                Some((&codes::OTHER_LIBC, message))
            }
            (libc, expected) => {
                self.libc = expected.or(libc);
                None
            }
        }
    }

    /// Returns whether a file calls functions of a C library that nothing in the wheel identifies.
    pub(crate) fn calls_unidentified_libc(&self) -> bool {
        matches!(
            self.unidentified_libc,
            Some(UnidentifiedLibc::Called { .. })
        )
    }
}

impl UnidentifiedLibc {
    /// Returns the first of the selected files that calls a C library, or else the first extension
    /// module.
    fn find(files: &[InspectedFile], file_indexes: &[usize]) -> Option<Self> {
        let mut libraries = file_indexes
            .iter()
            .filter_map(|index| match &files[*index].kind {
                InspectedKind::Library(library) => Some((&files[*index].path, library)),
                _ => None,
            });
        let called = libraries.clone().find_map(|(path, library)| {
            Some(Self::Called {
                path: path.clone(),
                symbol: library.libc_symbol.clone()?,
            })
        });
        called.or_else(|| {
            let (path, _) = libraries.find(|(_, library)| library.extension.is_some())?;
            Some(Self::NotCalled { path: path.clone() })
        })
    }

    /// Reports the file: it could be for either C library if it calls one, and is audited against
    /// that of the system otherwise.
    fn finding(&self, wheel: &str) -> Diagnostic {
        match self {
            Self::Called { path, symbol } => {
                let message =
                    format!("it calls `{symbol}`, but whether from glibc or musl is unknown");
                on_member(wheel, path, &codes::OPEN_LIBC, message).help(
                    "link it with its C library (`-lc`), or name the platform in the filename of \
                     the wheel",
                )
            }
            Self::NotCalled { path } => on_member(
                wheel,
                path,
                &codes::UNKNOWN_LIBC,
                "the C library of this extension module is unknown; it was audited against that of \
                 the machine",
            ),
        }
    }
}

fn on_member(
    wheel: &str,
    path: &str,
    code: &'static Code,
    message: impl Into<String>,
) -> Diagnostic {
    Diagnostic::new(code, message).at(in_member(wheel, path), "")
}

fn is_below_purelib(path: &str) -> bool {
    path.split('/').rev().skip(1).any(|part| part == "purelib")
}

/// Reports a file with an ELF header that cannot be parsed: as an error if the dynamic linker would
/// load it, as a note for data.
pub(crate) fn damaged_elf(wheel: &str, file: &InspectedFile) -> Option<Diagnostic> {
    let InspectedKind::Damaged(reason) = &file.kind else {
        return None;
    };
    let finding = on_member(
        wheel,
        &file.path,
        &codes::DAMAGED_ELF,
        format!("not an ELF file: {reason}"),
    );
    let severity = if file.is_loadable() {
        finding.severity
    } else {
        Severity::Note
    };
    Some(finding.severity(severity))
}

/// Returns the C library and the architecture that all platform tags of a name with one claim. A
/// name with several claims none.
pub(crate) fn claimed_platform(name: &WheelName) -> (Option<PolicyFamily>, Option<Arch>) {
    let tags = name.platform_tags();
    let libcs = tags
        .iter()
        .filter_map(|tag| PolicyFamily::of_platform_tag(tag));
    let archs = tags.iter().filter_map(|tag| Arch::of_platform_tag(tag));
    (common_value(libcs), common_value(archs))
}

/// Returns the common value, if all values are equal.
fn common_value<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|value| value == first).then_some(first)
}

/// Returns the reason why the selected libraries are too many to be audited: each leads to all that
/// others need, which grows with the square of their number.
pub(super) fn excess_dependencies(
    files: &[InspectedFile],
    file_indexes: &[usize],
) -> Option<String> {
    let edges: usize = super::inspect::libraries(files)
        .map(|(_, library)| library.needed.len())
        .sum();
    let names: BTreeSet<&String> = super::inspect::libraries(files)
        .flat_map(|(_, library)| &library.needed)
        .collect();
    let names = names.len();
    let roots = file_indexes.len();
    let is_large = roots.saturating_mul(names) > MAX_TREE_NODES
        || roots.saturating_mul(edges) > MAX_TREE_EDGES;
    is_large
        .then(|| format!("its {roots} libraries need {names} others, which is too many to resolve"))
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

/// Returns the C library of a file by its needs, or else by the suffix of an extension module.
pub(super) fn elf_libc(library: &ElfLibrary, path: &str) -> Option<PolicyFamily> {
    library.named_libc().or_else(|| libc::of_module_name(path))
}
