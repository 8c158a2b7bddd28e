//! The dynamic entries as edits want them.

use super::super::{DynamicEntry, Elf, ElfError, machine, segment_type, tag};
use super::{ElfEdits, Names, SearchPath, versions};
use rock_bytes::ReadAt;

/// What is to be written, wherever it finds room.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    /// All dynamic entries, without the one that ends them.
    pub(super) entries: Vec<DynamicEntry>,
    /// Whether they need more room than the table has.
    pub(super) moves: bool,
    /// Names of the libraries that versions are needed of: where in the file to write which offset
    /// of a name.
    pub(super) version_files: Vec<(u64, u32)>,
}

impl Change {
    /// What the edits change; `None` where the file is as they want it. Names are added to the
    /// table on the way.
    pub(super) fn plan(
        elf: &Elf,
        source: &dyn ReadAt,
        edits: &ElfEdits,
        names: &mut Names,
    ) -> Result<Option<Self>, ElfError> {
        let mut entries = needed(elf, edits, names)?;
        let version_files = versions::renamed(elf, source, edits, names)?;
        name_of_library(&mut entries, edits, names)?;
        search_path(&mut entries, edits, names)?;
        if entries == elf.dynamic() && version_files.is_empty() {
            return Ok(None);
        }
        if elf.header().machine == machine::AMDGPU {
            return Err(ElfError::refused("it is a code object"));
        }
        if elf.value(MIPS_RLD_MAP_REL).is_some() {
            return Err(ElfError::refused(
                "one of its dynamic entries tells a distance from itself",
            ));
        }
        if elf.value(tag::STRTAB).is_none() || elf.value(tag::STRSZ).is_none() {
            return Err(ElfError::refused("it has no table of dynamic strings"));
        }
        let moves = !fit(&mut entries, elf);
        Ok(Some(Self {
            entries,
            moves,
            version_files,
        }))
    }
}

/// The distance from this entry to a word for debuggers (glibc, `elf.h`); entries may not move
/// under it.
const MIPS_RLD_MAP_REL: u64 = 0x7000_0035;

/// Whether the file is a program rather than a library: the kernel reads its program headers, and
/// debuggers its `DT_DEBUG`. Programs that load themselves have no interpreter but say that they
/// are position-independent.
pub(super) fn is_program(elf: &Elf) -> bool {
    elf.says_program() || elf.segment(segment_type::INTERP).is_some()
}

fn needed(elf: &Elf, edits: &ElfEdits, names: &mut Names) -> Result<Vec<DynamicEntry>, ElfError> {
    let mut entries = Vec::with_capacity(elf.dynamic().len() + 2);
    for entry in elf.dynamic() {
        if entry.tag != tag::NEEDED {
            entries.push(*entry);
            continue;
        }
        let name = String::from_utf8_lossy(names.text(entry.value)?).into_owned();
        if edits.remove_needed.contains(&name) {
            continue;
        }
        let to = edits.rename_needed.get(&name).filter(|to| **to != name);
        entries.push(DynamicEntry {
            value: to.map_or(entry.value, |to| names.place(to)),
            ..*entry
        });
    }
    Ok(entries)
}

fn name_of_library(
    entries: &mut Vec<DynamicEntry>,
    edits: &ElfEdits,
    names: &mut Names,
) -> Result<(), ElfError> {
    let Some(soname) = &edits.soname else {
        return Ok(());
    };
    match entries.iter_mut().find(|entry| entry.tag == tag::SONAME) {
        Some(entry) if names.text(entry.value)? == soname.as_bytes() => {}
        Some(entry) => entry.value = names.place(soname),
        None => entries.push(DynamicEntry {
            tag: tag::SONAME,
            value: names.place(soname),
        }),
    }
    Ok(())
}

/// Leaves exactly one search path, or none. An entry that is there is used again, whichever of the
/// two it was.
fn search_path(
    entries: &mut Vec<DynamicEntry>,
    edits: &ElfEdits,
    names: &mut Names,
) -> Result<(), ElfError> {
    let is_path = |entry: &DynamicEntry| matches!(entry.tag, tag::RPATH | tag::RUNPATH);
    let (tag, text) = match &edits.rpath {
        SearchPath::Keep => return Ok(()),
        SearchPath::Clear => {
            entries.retain(|entry| !is_path(entry));
            return Ok(());
        }
        SearchPath::Rpath(text) => (tag::RPATH, text),
        SearchPath::Runpath(text) => (tag::RUNPATH, text),
    };
    let mut kept = None;
    for entry in entries.iter().filter(|entry| is_path(entry)) {
        if names.text(entry.value)? == text.as_bytes() {
            kept = Some(entry.value);
            break;
        }
    }
    let wanted = DynamicEntry {
        tag,
        value: kept.unwrap_or_else(|| names.place(text)),
    };
    let place = entries.iter().position(is_path).unwrap_or(entries.len());
    entries.retain(|entry| !is_path(entry));
    entries.insert(place, wanted);
    Ok(())
}

/// Makes the entries fit into the table, of which the last must stay empty, by giving up entries
/// that only help debuggers of programs or are hints for speed. Says whether they fit.
fn fit(entries: &mut Vec<DynamicEntry>, elf: &Elf) -> bool {
    let room = elf.dynamic_slots().saturating_sub(1);
    for spare in [tag::DEBUG, tag::RELACOUNT, tag::RELCOUNT] {
        if entries.len() as u64 <= room {
            break;
        }
        let allowed = spare != tag::DEBUG || !is_program(elf);
        if let Some(at) = entries
            .iter()
            .position(|entry| entry.tag == spare)
            .filter(|_| allowed)
        {
            entries.remove(at);
        }
    }
    entries.len() as u64 <= room
}
