//! The libraries of a system, for audits.

use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::{PackageOwners, Sysroot};
use crate::{LibraryProvider, LibrarySearchPath, SystemLibrary};
use rock_bytes::ReadAt;
use rock_compat::policy::PolicyFamily;

/// The libraries of this machine, or of a directory that takes the place of its root.
#[derive(Debug)]
pub struct SystemLibraries {
    sysroot: Sysroot,
    search_path: LibrarySearchPath,
    owners: Mutex<Option<PackageOwners>>,
}

impl SystemLibraries {
    /// Creates a provider of the libraries that the dynamic linker of this machine finds in the
    /// current environment.
    ///
    /// ```no_run
    /// use rock_audit::{AuditOptions, Auditor, SystemLibraries};
    /// use rock_compat::Compat;
    ///
    /// let compat = Compat::embedded();
    /// let auditor = Auditor::new(&compat, SystemLibraries::host(), AuditOptions::default());
    /// ```
    pub fn host() -> Self {
        let sysroot = Sysroot::new(Path::new("/"));
        let search_path = sysroot.search_path(None, &rock_sys::Environment::snapshot());
        Self::new(sysroot, search_path)
    }

    /// Creates a provider of the libraries below a root, searched for in `search_path`; see
    /// [`Sysroot::search_path`].
    pub fn new(sysroot: Sysroot, search_path: LibrarySearchPath) -> Self {
        Self {
            sysroot,
            search_path,
            owners: Mutex::default(),
        }
    }
}

impl LibraryProvider for SystemLibraries {
    fn read(&self, path: &str) -> Option<SystemLibrary> {
        self.sysroot.read(path)
    }

    fn open(&self, real_path: &str) -> io::Result<Box<dyn ReadAt>> {
        self.sysroot.open(real_path)
    }

    fn search_path(&self) -> LibrarySearchPath {
        self.search_path.clone()
    }

    fn libc(&self) -> PolicyFamily {
        if self.sysroot.is_of_musl() {
            PolicyFamily::Musllinux
        } else {
            PolicyFamily::Manylinux
        }
    }

    fn package_url(&self, real_path: &str) -> Option<String> {
        self.owners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_with(|| PackageOwners::new(self.sysroot.root()))
            .package_url(real_path)
    }
}
