//! ELF files with their changes, as streams.

use std::io;
use std::ops::Range;

use crate::bytes::ReadAt;
use crate::elf::{self, ElfEdits, ElfError, Patch, Patched};
use crate::wheel::{Archive, Changed, Content, Member};

/// A file with patches one on top of the other. Nothing of it is held but the patches.
pub(super) struct Edited<'b> {
    base: Box<dyn ReadAt + 'b>,
    patches: Vec<Patch>,
}

/// Whether what no loader needs is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strip {
    /// All of it is dropped.
    Debug,
    /// It stays.
    Nothing,
}

/// What stripping and editing change in a file, in this order: the other way round breaks what was edited.
///
/// # Errors
/// When the file is damaged or cannot be changed safely.
pub(super) fn patches(source: &dyn ReadAt, edits: &ElfEdits, strip: Strip) -> Result<Vec<Patch>, ElfError> {
    let stripped = if strip == Strip::Debug { vec![elf::strip(source)?] } else { Vec::new() };
    let edited = match stripped.first() {
        Some(patch) => elf::edit(&Patched::new(source, patch), edits)?,
        None => elf::edit(source, edits)?,
    };
    Ok(stripped.into_iter().chain([edited]).filter(|patch| !patch.is_empty()).collect())
}

impl<'b> Edited<'b> {
    /// The file that the patches make of another.
    pub(super) fn new(base: Box<dyn ReadAt + 'b>, patches: Vec<Patch>) -> Self {
        Self { base, patches }
    }

    /// What it is in an archive: the content of a member, with little changed.
    pub(super) fn content<'c>(&'c self, archive: &'c Archive<'c>, member: &'c Member) -> Content<'c> {
        let kept_bytes = self.patches.iter().map(Patch::kept_bytes).min().unwrap_or(member.size_bytes());
        let overwrites = self.patches.iter().flat_map(Patch::overwrites);
        let mut changed: Vec<Range<u64>> =
            overwrites.map(|(at, bytes)| *at..at.saturating_add(bytes.len() as u64)).collect();
        changed.sort_by_key(|range| range.start);
        let mut places: Vec<Range<u64>> = Vec::new();
        for range in changed {
            match places.last_mut() {
                Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
                _ => places.push(range),
            }
        }
        Content::Changed(Changed { archive, member, source: self, places, kept_bytes })
    }
}

impl ReadAt for Edited<'_> {
    fn size_bytes(&self) -> u64 {
        self.patches.last().map_or_else(|| self.base.size_bytes(), Patch::size_bytes)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self.patches.as_slice() {
            [] => self.base.read_at(buffer, offset),
            [one] => Patched::new(self.base.as_ref(), one).read_at(buffer, offset),
            [first, second, ..] => {
                Patched::new(&Patched::new(self.base.as_ref(), first), second).read_at(buffer, offset)
            }
        }
    }
}
