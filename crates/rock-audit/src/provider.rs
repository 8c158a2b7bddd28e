//! Libraries outside the wheel, behind a trait: those of the system, or none.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use super::library::ElfLibrary;
use super::search_path::LibrarySearchPath;
use rock_bytes::ReadAt;
use rock_compat::policy::PolicyFamily;

/// A library of the system.
#[derive(Debug)]
pub struct SystemLibrary {
    /// The path at which it was found.
    pub path: String,
    /// The path of the file itself, after symbolic links.
    pub real_path: String,
    /// Its properties.
    pub library: ElfLibrary,
}

/// A source of libraries that a wheel needs and does not contain.
pub trait LibraryProvider: Sync {
    /// Returns the library at a path; `None` if there is none or it is not an ELF file.
    fn read(&self, path: &str) -> Option<SystemLibrary>;

    /// Opens the file of a library for reading.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened.
    fn open(&self, real_path: &str) -> io::Result<Box<dyn ReadAt>>;

    /// Returns the directories that the dynamic linker searches besides RPATH and RUNPATH.
    fn search_path(&self) -> LibrarySearchPath {
        LibrarySearchPath::default()
    }

    /// Returns the C library of the system, which is assumed for wheels that do not reveal theirs.
    fn libc(&self) -> PolicyFamily {
        PolicyFamily::Manylinux
    }

    /// Returns the package URL of the package that installed a library, if it is known.
    fn package_url(&self, _real_path: &str) -> Option<String> {
        None
    }
}

/// A [`LibraryProvider`] without libraries: audits have the same result on every machine.
#[derive(Debug, Clone, Copy)]
pub struct NoLibraries;

impl LibraryProvider for NoLibraries {
    fn read(&self, _: &str) -> Option<SystemLibrary> {
        None
    }

    fn open(&self, _: &str) -> io::Result<Box<dyn ReadAt>> {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// A [`LibraryProvider`] that reads each library at most once.
pub(crate) struct LibraryCache<'a> {
    provider: Box<dyn LibraryProvider + 'a>,
    libraries: Mutex<BTreeMap<String, Option<Arc<SystemLibrary>>>>,
}

impl<'a> LibraryCache<'a> {
    /// Creates an empty cache.
    pub(crate) fn new(provider: impl LibraryProvider + 'a) -> Self {
        Self {
            provider: Box::new(provider),
            libraries: Mutex::default(),
        }
    }

    /// Returns the provider behind the cache.
    pub(super) fn provider(&self) -> &dyn LibraryProvider {
        self.provider.as_ref()
    }

    /// Returns the library at a path.
    pub(super) fn read(&self, path: &str) -> Option<Arc<SystemLibrary>> {
        let mut libraries = self
            .libraries
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        libraries
            .entry(path.to_owned())
            .or_insert_with(|| self.provider.read(path).map(Arc::new))
            .clone()
    }
}

impl std::fmt::Debug for LibraryCache<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LibraryCache")
    }
}
