//! The ELF libraries of a wheel at the paths where they are installed.

use std::collections::BTreeMap;

use super::inspect::{InspectedFile, InspectedKind};
use super::library::ElfLibrary;
use super::search_path::installed;

/// A library of a wheel and its installed path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InstalledLibrary<'f> {
    /// The path below site-packages, which may differ from the path in the wheel.
    pub path: &'f str,
    /// The index of the file among the inspected files of the wheel.
    pub file_index: usize,
    /// The properties of the ELF file.
    pub elf: &'f ElfLibrary,
}

impl<'f> InstalledLibrary<'f> {
    /// Returns the file name.
    pub(super) fn file_name(&self) -> &'f str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

/// The libraries of a wheel, found by installed path or by the index of their file.
#[derive(Debug)]
pub(crate) struct InstalledLibraries<'f> {
    /// Sorted by installed path.
    libraries: Vec<InstalledLibrary<'f>>,
    /// Positions in `libraries` by the index of the file.
    positions: BTreeMap<usize, usize>,
}

impl<'f> InstalledLibraries<'f> {
    /// Collects the libraries among the files of a wheel.
    pub(super) fn new(files: &'f [InspectedFile]) -> Self {
        let mut libraries: Vec<InstalledLibrary<'f>> = files
            .iter()
            .enumerate()
            .filter_map(|(file_index, file)| match &file.kind {
                InspectedKind::Library(elf) => Some(InstalledLibrary {
                    path: installed(&file.path),
                    file_index,
                    elf,
                }),
                _ => None,
            })
            .collect();
        libraries.sort_by_key(|library| (library.path, library.file_index));
        let positions = libraries
            .iter()
            .enumerate()
            .map(|(position, library)| (library.file_index, position))
            .collect();
        Self {
            libraries,
            positions,
        }
    }

    /// Returns all libraries, sorted by installed path.
    pub(super) fn iter(&self) -> impl Iterator<Item = InstalledLibrary<'f>> {
        self.libraries.iter().copied()
    }

    /// Returns the library that is installed at a path.
    pub(super) fn at_path(&self, path: &str) -> Option<InstalledLibrary<'f>> {
        self.libraries
            .binary_search_by(|library| library.path.cmp(path))
            .ok()
            .map(|position| self.libraries[position])
    }

    /// Returns the library with this file index; `None` if the file is not a library.
    pub(super) fn of_file(&self, file_index: usize) -> Option<InstalledLibrary<'f>> {
        self.positions
            .get(&file_index)
            .map(|position| self.libraries[*position])
    }
}
