//! Libraries outside the wheel, behind a trait: those of the system, or none.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

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
    /// The properties of the ELF file.
    pub elf: ElfLibrary,
}

/// A source of libraries that a wheel needs and does not contain.
///
/// Audits of several threads share a provider.
pub trait LibraryProvider: Send + Sync {
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
    libraries: Mutex<BTreeMap<String, Arc<CachedLibrary>>>,
}

/// The library at a path, once it has been read.
type CachedLibrary = OnceLock<Option<Arc<SystemLibrary>>>;

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

    /// Returns the library at a path. Other threads wait for it only if they need the same one.
    pub(super) fn read(&self, path: &str) -> Option<Arc<SystemLibrary>> {
        let library = Arc::clone(
            self.libraries
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .entry(path.to_owned())
                .or_default(),
        );
        library
            .get_or_init(|| self.provider.read(path).map(Arc::new))
            .clone()
    }
}

impl std::fmt::Debug for LibraryCache<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LibraryCache")
    }
}
