//! The planned contents of the dynamic section.

use super::super::{DynamicEntry, Elf, ElfError, machine, segment_type, tag};
use super::{ElfEdits, SearchPathEdit, StringTableBuilder, version_needs};
use rock_bytes::ReadAt;

/// The changes to write, independent of their place in the file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct EditPlan {
    /// All dynamic entries without the final `DT_NULL`.
    pub(super) entries: Vec<DynamicEntry>,
    /// Whether they need more space than the dynamic section has.
    pub(super) moves_dynamic_section: bool,
    /// Renamed libraries in the version needs: the file offset of `vn_file`, and its new value.
    pub(super) version_need_names: Vec<(u64, u32)>,
}

impl EditPlan {
    /// Plans the edits; `None` if they change nothing. New strings are added to `names`.
    pub(super) fn new(
        elf: &Elf,
        source: &dyn ReadAt,
        edits: &ElfEdits,
        names: &mut StringTableBuilder,
    ) -> Result<Option<Self>, ElfError> {
        let mut entries = edit_needed(elf, edits, names)?;
        let version_need_names = version_needs::renamed_libraries(elf, source, edits, names)?;
        edit_soname(&mut entries, edits, names)?;
        edit_search_path(&mut entries, edits, names)?;
        if entries == elf.dynamic_entries() && version_need_names.is_empty() {
            return Ok(None);
        }
        if elf.header().machine == machine::AMDGPU {
            return Err(ElfError::not_editable("it is a code object"));
        }
        if elf.dynamic_value(MIPS_RLD_MAP_REL).is_some() {
            return Err(ElfError::not_editable(
                "one of its dynamic entries is an offset from its own address",
            ));
        }
        if elf.dynamic_value(tag::STRTAB).is_none() || elf.dynamic_value(tag::STRSZ).is_none() {
            return Err(ElfError::not_editable("it has no table of dynamic strings"));
        }
        let moves_dynamic_section = !make_fit(&mut entries, elf);
        Ok(Some(Self {
            entries,
            moves_dynamic_section,
            version_need_names,
        }))
    }
}

/// The distance from this entry to a word for debuggers (glibc, `elf.h`). The entry must not move.
const MIPS_RLD_MAP_REL: u64 = 0x7000_0035;

/// Returns `true` for a program: the kernel reads its program headers, and debuggers its
/// `DT_DEBUG`. A static position-independent program has no interpreter, but `DF_1_PIE`.
pub(super) fn is_program(elf: &Elf) -> bool {
    elf.is_executable() || elf.segment(segment_type::INTERP).is_some()
}

fn edit_needed(
    elf: &Elf,
    edits: &ElfEdits,
    names: &mut StringTableBuilder,
) -> Result<Vec<DynamicEntry>, ElfError> {
    let mut entries = Vec::with_capacity(elf.dynamic_entries().len() + 2);
    for entry in elf.dynamic_entries() {
        if entry.tag != tag::NEEDED {
            entries.push(*entry);
            continue;
        }
        let name = String::from_utf8_lossy(names.get(entry.value)?).into_owned();
        if edits.remove_needed.contains(&name) {
            continue;
        }
        let to = edits.rename_needed.get(&name).filter(|to| **to != name);
        entries.push(DynamicEntry {
            value: to.map_or(entry.value, |to| names.insert(to)),
            ..*entry
        });
    }
    Ok(entries)
}

fn edit_soname(
    entries: &mut Vec<DynamicEntry>,
    edits: &ElfEdits,
    names: &mut StringTableBuilder,
) -> Result<(), ElfError> {
    let Some(soname) = &edits.soname else {
        return Ok(());
    };
    match entries.iter_mut().find(|entry| entry.tag == tag::SONAME) {
        Some(entry) if names.get(entry.value)? == soname.as_bytes() => {}
        Some(entry) => entry.value = names.insert(soname),
        None => entries.push(DynamicEntry {
            tag: tag::SONAME,
            value: names.insert(soname),
        }),
    }
    Ok(())
}

/// Replaces all search paths by one or none. An existing entry is reused, whether it is RPATH or
/// RUNPATH.
fn edit_search_path(
    entries: &mut Vec<DynamicEntry>,
    edits: &ElfEdits,
    names: &mut StringTableBuilder,
) -> Result<(), ElfError> {
    let is_path = |entry: &DynamicEntry| matches!(entry.tag, tag::RPATH | tag::RUNPATH);
    let (tag, text) = match &edits.rpath {
        SearchPathEdit::Keep => return Ok(()),
        SearchPathEdit::Remove => {
            entries.retain(|entry| !is_path(entry));
            return Ok(());
        }
        SearchPathEdit::Rpath(text) => (tag::RPATH, text),
        SearchPathEdit::Runpath(text) => (tag::RUNPATH, text),
    };
    let mut kept = None;
    for entry in entries.iter().filter(|entry| is_path(entry)) {
        if names.get(entry.value)? == text.as_bytes() {
            kept = Some(entry.value);
            break;
        }
    }
    let wanted = DynamicEntry {
        tag,
        value: kept.unwrap_or_else(|| names.insert(text)),
    };
    let place = entries.iter().position(is_path).unwrap_or(entries.len());
    entries.retain(|entry| !is_path(entry));
    entries.insert(place, wanted);
    Ok(())
}

/// Drops entries that are only for debuggers of programs or hints, until the others and a final
/// `DT_NULL` fit into the dynamic section. Returns `true` if they fit.
fn make_fit(entries: &mut Vec<DynamicEntry>, elf: &Elf) -> bool {
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
