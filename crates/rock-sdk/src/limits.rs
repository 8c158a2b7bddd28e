//! Limits on artifacts, listings and packages from other sources, and diagnostics for unreadable
//! archives.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::codes::sdk as codes;
use rock_bytes::archive::{ArchiveError, is_damage};
use rock_diagnostic::codes::host;
use rock_diagnostic::{Diagnostic, Location};

/// The maximum size of an artifact's manifest. Manifests have a few kB.
pub const MAX_MANIFEST_BYTES: u64 = 1 << 20;
/// The maximum number of directories in a manifest. Manifests of `TheRock` list up to about 30.
pub const MAX_ROOTS: usize = 1000;
/// The maximum number of errors reported per artifact or devel tree; nothing more of an artifact is
/// read after that.
pub const MAX_FAULTS: usize = 1000;
/// The maximum number of symlinks followed on the way to one file (`MAXSYMLINKS` of Linux,
/// `namei.h`).
pub const MAX_LINKS: usize = 40;
/// The maximum size of a page of a bucket listing. A page has a thousand names (Amazon S3,
/// `ListObjectsV2`).
pub const MAX_PAGE_BYTES: u64 = 16 << 20;
/// The maximum number of pages for one run, against listings that never end. A run has some hundred
/// files.
pub const MAX_PAGES: usize = 1000;
/// The maximum nesting depth of a listing; those of S3 are three deep.
pub const MAX_LISTING_DEPTH: usize = 32;
/// The maximum number of files of one run. A run has some hundred.
pub const MAX_FILES: usize = 100_000;
/// The maximum size of an archive's checksum file: a digest and a name.
pub const MAX_SUM_BYTES: u64 = 64 << 10;
/// The maximum size of a build manifest (`therock_manifest.json`). It has a few kB per submodule.
pub const MAX_BUILD_MANIFEST_BYTES: u64 = 16 << 20;
/// The maximum size of the `version.json` of the sources. It has a few lines.
pub const MAX_VERSION_FILE_BYTES: u64 = 1 << 20;
/// The maximum size of the `.info/version` of an installed ROCm. It has one line.
pub const MAX_INSTALLED_VERSION_BYTES: u64 = 4096;
/// The maximum size of the list of a device code archive (`.kpm`). It has some ten bytes per
/// target.
pub const MAX_KPACK_LIST_BYTES: u64 = 1 << 20;
/// The maximum size of `therock_amdgpu_targets.cmake`. Each target is declared by a call of a few
/// hundred bytes.
pub const MAX_TARGETS_BYTES: u64 = 4 << 20;
/// The maximum size of a text file in a verified package. Short files have a few kB, and the file
/// list of a device package has 200 bytes per file.
pub const MAX_TEXT_BYTES: u64 = 64 << 20;
/// The maximum size of all files of an sdist. The sources of `rocm` have a tenth of this.
pub const MAX_SOURCE_BYTES: u64 = 16 << 20;
/// The maximum size of a library in a verified devel tree. Libraries are written to a temporary
/// file; those with code for all GPUs have 1 to 2 GB.
pub const MAX_LIBRARY_BYTES: u64 = 8 << 30;
/// The memory budget for listing all artifacts of a directory, as counted by
/// [`ListingBudget::take`].
pub const MAX_LISTING_BYTES: u64 = 1 << 30;
/// The memory of an entry in addition to its names, until packages are laid out.
const ENTRY_BYTES: u64 = 1 << 10;

/// The memory left for listing artifacts, shared by the threads that list them.
#[derive(Debug)]
pub struct ListingBudget(AtomicU64);

impl Default for ListingBudget {
    fn default() -> Self {
        Self(AtomicU64::new(MAX_LISTING_BYTES))
    }
}

impl ListingBudget {
    /// Takes the memory of one entry with names of this length. Returns whether enough was left.
    pub fn take(&self, name_bytes: usize) -> bool {
        let needed = ENTRY_BYTES + 2 * name_bytes as u64;
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(needed)
            })
            .is_ok()
    }
}

/// Reports an archive that exceeds a limit, is damaged, or cannot be read because of the machine.
pub fn unreadable_archive(archive: &Path, error: &io::Error) -> Diagnostic {
    match ArchiveError::find_in(error) {
        Some(ArchiveError::Limit { limit }) => {
            beyond_limit(archive, &format!("the archive has {limit}"))
        }
        // If the machine cannot read the archive, fetching it again does not help.
        None if !is_damage(error) => {
            let message = format!("cannot read `{}`: {error}", archive.display());
            Diagnostic::new(&host::CANNOT_READ_FILE, message)
        }
        Some(ArchiveError::Malformed { .. }) | None => {
            let message = format!("the archive is damaged or truncated: {error}");
            fault(&codes::BAD_ARTIFACT, archive, &message)
        }
    }
}

/// Reports an artifact that exceeds a limit.
pub fn beyond_limit(artifact: &Path, message: &str) -> Diagnostic {
    fault(&codes::ARCHIVE_LIMIT, artifact, message)
}

fn fault(code: &'static rock_diagnostic::Code, path: &Path, message: &str) -> Diagnostic {
    Diagnostic::new(code, message)
        .at(Location::File(path.display().to_string().into()), "")
        .help("fetch the artifact again, or remove it from the directory")
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;

    use super::{ENTRY_BYTES, ListingBudget, MAX_LISTING_BYTES, unreadable_archive};

    #[test]
    fn only_damage_is_blamed_on_an_archive() {
        let errors = [
            io::Error::new(io::ErrorKind::InvalidData, "Data corruption detected"),
            io::ErrorKind::UnexpectedEof.into(),
            io::Error::new(io::ErrorKind::StorageFull, "no space left"),
            io::ErrorKind::OutOfMemory.into(),
            // EIO.
            io::Error::from_raw_os_error(5),
        ];
        let codes =
            errors.map(|error| unreadable_archive(Path::new("a.tar.zst"), &error).code.name);
        let (damage, machine) = ("bad-artifact", "cannot-read-file");
        assert_eq!(codes, [damage, damage, machine, machine, machine]);
    }

    #[test]
    fn a_listing_takes_no_more_than_its_memory_limit() {
        let budget = ListingBudget::default();
        let taken = (0..=MAX_LISTING_BYTES)
            .take_while(|_| budget.take(512))
            .count() as u64;
        assert_eq!(taken, MAX_LISTING_BYTES / (ENTRY_BYTES + 1024));
    }
}
