//! Limits on artifacts that others made, and the diagnostics of archives that cannot be read.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::archive::{ArchiveError, is_damage};
use crate::diagnostic::registry::{host, sdk as codes};
use crate::diagnostic::{Diagnostic, Place};

/// The largest manifest of an artifact. Manifests have a few kB.
pub const MAX_MANIFEST_BYTES: u64 = 1 << 20;
/// The most folders that a manifest lists. Manifests of `TheRock` list up to about 30.
pub const MAX_ROOTS: usize = 1000;
/// The most faults that are reported of one artifact; behind them nothing more is read of it.
pub const MAX_FAULTS: usize = 1000;
/// The memory that listing all artifacts of a folder takes, by [`ListingBudget::take`].
pub const MAX_LISTING_BYTES: u64 = 1 << 30;
/// The memory of an entry beside its names, until packages are laid out.
const ENTRY_BYTES: u64 = 1 << 10;

/// The memory that is left for listing artifacts, shared by the threads that do.
#[derive(Debug)]
pub struct ListingBudget(AtomicU64);

impl Default for ListingBudget {
    fn default() -> Self {
        Self(AtomicU64::new(MAX_LISTING_BYTES))
    }
}

impl ListingBudget {
    /// Takes the memory of one entry with names of this length; returns whether there was as much.
    pub fn take(&self, name_bytes: usize) -> bool {
        let needed = ENTRY_BYTES + 2 * name_bytes as u64;
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(needed)).is_ok()
    }
}

/// Reports an archive that is refused or damaged, or that the machine cannot read.
pub fn unreadable_archive(archive: &Path, error: &io::Error) -> Diagnostic {
    match ArchiveError::of(error) {
        Some(ArchiveError::Limit { limit }) => beyond_limit(archive, &format!("the archive has {limit}")),
        // As `MemberReader::fault`: what the machine cannot do is no reason to fetch the archive again.
        None if !is_damage(error) => {
            let message = format!("cannot read `{}`: {error}", archive.display());
            Diagnostic::new(&host::CANNOT_READ_FILE, message)
        }
        Some(ArchiveError::Malformed { .. }) | None => {
            let message = format!("the archive is damaged or cut off: {error}");
            fault(&codes::BAD_ARTIFACT, archive, &message)
        }
    }
}

/// Reports an artifact that goes beyond a limit.
pub fn beyond_limit(artifact: &Path, message: &str) -> Diagnostic {
    fault(&codes::ARCHIVE_LIMIT, artifact, message)
}

fn fault(code: &'static crate::diagnostic::Code, path: &Path, message: &str) -> Diagnostic {
    Diagnostic::new(code, message)
        .at(Place::File(path.display().to_string().into()), "")
        .help("fetch the artifact again, or take it out of the folder")
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
        let codes = errors.map(|error| unreadable_archive(Path::new("a.tar.zst"), &error).code.name);
        let (damage, machine) = ("bad-artifact", "cannot-read-file");
        assert_eq!(codes, [damage, damage, machine, machine, machine]);
    }

    #[test]
    fn the_memory_of_a_listing_ends_where_it_says() {
        let budget = ListingBudget::default();
        let taken = (0..=MAX_LISTING_BYTES).take_while(|_| budget.take(512)).count() as u64;
        assert_eq!(taken, MAX_LISTING_BYTES / (ENTRY_BYTES + 1024));
    }
}
