//! ELF files with changes, as a stream: only the changes are in memory.

use std::io;
use std::ops::Range;

use rock_bytes::ReadAt;
use rock_elf::{self as elf, ElfEdits, ElfError, ElfPatch, PatchedFile};
use rock_wheel::{ChangedContent, MemberContent, ZipArchive, ZipMember};

/// An ELF file with its changes.
pub struct EditedFile<'b> {
    base: Box<dyn ReadAt + 'b>,
    changes: FileChanges,
}

/// The changes of an ELF file: those of stripping, and those of editing the stripped file.
#[derive(Debug, Default)]
pub struct FileChanges {
    stripped: Option<ElfPatch>,
    edited: Option<ElfPatch>,
}

impl FileChanges {
    /// Computes the changes of stripping a file, and then of editing it. The other order would break
    /// the edits.
    ///
    /// # Errors
    /// Returns an error if the file is damaged or cannot be changed safely.
    pub fn new(source: &dyn ReadAt, edits: &ElfEdits, strip: StripMode) -> Result<Self, ElfError> {
        let stripped = match strip {
            StripMode::Unloaded => Some(elf::strip(source)?),
            StripMode::None => None,
        };
        let edited = match &stripped {
            Some(patch) => elf::edit(&PatchedFile::new(source, patch), edits)?,
            None => elf::edit(source, edits)?,
        };
        Ok(Self {
            stripped: stripped.filter(|patch| !patch.is_empty()),
            edited: Some(edited).filter(|patch| !patch.is_empty()),
        })
    }

    /// Returns whether the file does not change.
    pub fn is_empty(&self) -> bool {
        self.patches().next().is_none()
    }

    fn patches(&self) -> impl Iterator<Item = &ElfPatch> {
        self.stripped.iter().chain(&self.edited)
    }
}

/// The parts that are removed from libraries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StripMode {
    /// Everything that is not loaded at run time: symbols, debug info, and other sections.
    Unloaded,
    /// Nothing.
    None,
}

impl<'b> EditedFile<'b> {
    /// Applies changes to a file.
    pub fn new(base: Box<dyn ReadAt + 'b>, changes: FileChanges) -> Self {
        Self { base, changes }
    }

    /// Returns whether sections were removed.
    pub fn is_stripped(&self) -> bool {
        self.changes.stripped.is_some()
    }

    fn with_changes<R>(&self, read: impl FnOnce(&dyn ReadAt) -> R) -> R {
        let base = self.base.as_ref();
        match (&self.changes.stripped, &self.changes.edited) {
            (None, None) => read(base),
            (Some(patch), None) | (None, Some(patch)) => read(&PatchedFile::new(base, patch)),
            (Some(stripped), Some(edited)) => {
                read(&PatchedFile::new(&PatchedFile::new(base, stripped), edited))
            }
        }
    }

    /// Returns the file as the new content of a member of which little changed.
    pub fn content<'c>(
        &'c self,
        archive: &'c ZipArchive<'c>,
        member: &'c ZipMember,
    ) -> MemberContent<'c> {
        let kept_bytes = self
            .changes
            .patches()
            .map(ElfPatch::kept_bytes)
            .min()
            .unwrap_or(member.size_bytes());
        let overwrites = self.changes.patches().flat_map(ElfPatch::overwrites);
        let mut changed: Vec<Range<u64>> = overwrites
            .map(|(offset, bytes)| *offset..offset.saturating_add(bytes.len() as u64))
            .collect();
        changed.sort_by_key(|range| range.start);
        let mut changed_ranges: Vec<Range<u64>> = Vec::new();
        for range in changed {
            match changed_ranges.last_mut() {
                Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
                _ => changed_ranges.push(range),
            }
        }
        MemberContent::Changed(ChangedContent {
            archive,
            member,
            source: self,
            changed_ranges,
            kept_bytes,
        })
    }
}

impl std::fmt::Debug for EditedFile<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EditedFile")
            .field("changes", &self.changes)
            .finish_non_exhaustive()
    }
}

impl ReadAt for EditedFile<'_> {
    fn size_bytes(&self) -> u64 {
        self.changes
            .patches()
            .last()
            .map_or_else(|| self.base.size_bytes(), ElfPatch::size_bytes)
    }

    fn announce_read(&self, range: Range<u64>) {
        self.with_changes(|file| file.announce_read(range));
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.with_changes(|file| file.read_at(buffer, offset))
    }
}
