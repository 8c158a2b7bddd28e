//! ELF files with their changes, as streams.

use std::io;
use std::ops::Range;

use crate::bytes::ReadAt;
use crate::elf::{self, ElfEdits, ElfError, ElfPatch, PatchedFile};
use crate::wheel::{ChangedContent, MemberContent, ZipArchive, ZipMember};

/// A file with its changes, one on top of the other. Nothing of it is held but these.
pub(in crate::cli::wheel) struct Edited<'b> {
    base: Box<dyn ReadAt + 'b>,
    changes: Changes,
}

/// What stripping changes in a file, and what editing changes in what is left.
#[derive(Debug, Default)]
pub(in crate::cli::wheel) struct Changes {
    stripped: Option<ElfPatch>,
    edited: Option<ElfPatch>,
}

impl Changes {
    /// Whether nothing changes.
    pub(in crate::cli::wheel) fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }

    fn all(&self) -> impl Iterator<Item = &ElfPatch> {
        self.stripped.iter().chain(&self.edited)
    }
}

/// Whether what no loader needs is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli::wheel) enum Strip {
    /// All of it is dropped.
    Debug,
    /// It stays.
    Nothing,
}

/// What stripping and editing change in a file, in this order: the other way round breaks what was
/// edited.
///
/// # Errors
/// When the file is damaged or cannot be changed safely.
pub(in crate::cli::wheel) fn changes(
    source: &dyn ReadAt,
    edits: &ElfEdits,
    strip: Strip,
) -> Result<Changes, ElfError> {
    let stripped = if strip == Strip::Debug {
        Some(elf::strip(source)?)
    } else {
        None
    };
    let edited = match &stripped {
        Some(patch) => elf::edit(&PatchedFile::new(source, patch), edits)?,
        None => elf::edit(source, edits)?,
    };
    let some = |patch: ElfPatch| (!patch.is_empty()).then_some(patch);
    Ok(Changes {
        stripped: stripped.and_then(some),
        edited: some(edited),
    })
}

impl<'b> Edited<'b> {
    /// The file that the changes make of another.
    pub(in crate::cli::wheel) fn new(base: Box<dyn ReadAt + 'b>, changes: Changes) -> Self {
        Self { base, changes }
    }

    /// Whether something of it was dropped.
    pub(in crate::cli::wheel) fn is_stripped(&self) -> bool {
        self.changes.stripped.is_some()
    }

    /// Hands on the file as it is with its changes.
    fn with_changes<R>(&self, take: impl FnOnce(&dyn ReadAt) -> R) -> R {
        let base = self.base.as_ref();
        match (&self.changes.stripped, &self.changes.edited) {
            (None, None) => take(base),
            (Some(one), None) | (None, Some(one)) => take(&PatchedFile::new(base, one)),
            (Some(stripped), Some(edited)) => {
                take(&PatchedFile::new(&PatchedFile::new(base, stripped), edited))
            }
        }
    }

    /// What it is in an archive: the content of a member, with little changed.
    pub(in crate::cli::wheel) fn content<'c>(
        &'c self,
        archive: &'c ZipArchive<'c>,
        member: &'c ZipMember,
    ) -> MemberContent<'c> {
        let kept_bytes = self
            .changes
            .all()
            .map(ElfPatch::kept_bytes)
            .min()
            .unwrap_or(member.size_bytes());
        let overwrites = self.changes.all().flat_map(ElfPatch::overwrites);
        let mut changed: Vec<Range<u64>> = overwrites
            .map(|(at, bytes)| *at..at.saturating_add(bytes.len() as u64))
            .collect();
        changed.sort_by_key(|range| range.start);
        let mut places: Vec<Range<u64>> = Vec::new();
        for range in changed {
            match places.last_mut() {
                Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
                _ => places.push(range),
            }
        }
        MemberContent::Changed(ChangedContent {
            archive,
            member,
            source: self,
            changed_ranges: places,
            kept_bytes,
        })
    }
}

impl ReadAt for Edited<'_> {
    fn size_bytes(&self) -> u64 {
        self.changes
            .all()
            .last()
            .map_or_else(|| self.base.size_bytes(), ElfPatch::size_bytes)
    }

    fn will_read(&self, range: Range<u64>) {
        self.with_changes(|file| file.will_read(range));
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.with_changes(|file| file.read_at(buffer, offset))
    }
}
