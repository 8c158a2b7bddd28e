//! Drops what loading does not need: symbols for linking and debugging, notes of compilers.
//!
//! In: a file behind [`ReadAt`]. Out: a [`Patch`] that cuts the file behind what is loaded and appends section headers
//! for what is left. It comes before [`edit`](super::edit): what an edit appends keeps everything before it.

use super::{Elf, ElfError, Header, Patch, Section, Segment, machine, section_type};
use crate::bytes::ReadAt;

/// Sections that stay although they may not be marked as loaded: code for GPUs, and what leads to it (clang
/// `ClangOffloadBundler`; ROCm's kpack).
const KEPT: [&str; 3] = [".hip_fatbin", ".hipFatBinSegment", ".rocm_kpack_ref"];
const NAMES: &str = ".shstrtab";
/// Bytes that may lie at the end of a file without belonging to anything: padding to a page.
const MOST_PADDING_BYTES: u64 = 4096;
/// The first number that does not fit into the 16 bits for numbers of sections (gABI, `SHN_LORESERVE`).
const FIRST_RESERVED: usize = 0xff00;
/// `ET_REL`: an object for linking (gABI, chapter 4, `e_type`).
const RELOCATABLE: u16 = 1;
/// Objects for linking and code objects are left as they are: what they are made of is in their sections.
fn is_left(header: &Header) -> bool {
    header.kind == RELOCATABLE || header.machine == machine::AMDGPU
}

/// Drops all sections that are not loaded. Loaded bytes stay where they are, and so do the numbers of sections, as
/// symbols tell them: the header of one that is dropped before others becomes an empty one. The patch is empty where
/// there is nothing to drop, and for objects and code objects.
///
/// # Errors
/// When it is no ELF file, a table lies outside it, or bytes that no section names follow its end.
pub fn strip(source: &dyn ReadAt) -> Result<Patch, ElfError> {
    let elf = Elf::read(source)?;
    let mut patch = Patch::unchanged(elf.size_bytes());
    if is_left(elf.header()) {
        return Ok(patch);
    }
    let sections = elf.sections(source)?;
    let names_at = usize::from(elf.header().names_section);
    let is_dropped = |index: usize, section: &Section| {
        !section.is_alloc() && section.kind != section_type::NULL && index != names_at && !is_kept(section)
    };
    if !sections.iter().enumerate().any(|(index, section)| is_dropped(index, section)) {
        return Ok(patch);
    }
    check_end(&elf, &sections)?;
    let stays = |section: &Section| section.is_alloc() || is_kept(section);
    let kept = sections.iter().filter(|section| stays(section)).map(section_end);
    let end = kept.chain([ends_of_loader(&elf)]).max().unwrap_or_default();
    if end > elf.size_bytes() {
        return Err(ElfError::Outside { what: "a section", offset: end, of: "the file" });
    }
    let last = sections.iter().rposition(stays).unwrap_or(0);
    let (table, names) = tables(&sections[..=last], stays);
    append(&elf, source, &mut patch, end, (table, names))?;
    Ok(patch)
}

fn is_kept(section: &Section) -> bool {
    KEPT.contains(&section.name.as_str())
}

fn section_end(section: &Section) -> u64 {
    if section.is_nobits() || section.kind == section_type::NULL {
        return 0;
    }
    section.offset.saturating_add(section.size)
}

/// Where the bytes end that a loader may look at.
fn ends_of_loader(elf: &Elf) -> u64 {
    let header = elf.header();
    let headers = header.segments_offset + (Segment::bytes(header.format.class) * elf.segments().len()) as u64;
    let segments = elf.segments().iter().map(Segment::file_end).max().unwrap_or_default();
    segments.min(elf.size_bytes()).max(headers).max(Header::bytes(header.format.class) as u64)
}

/// Bytes behind the end may be another file, such as an archive, that would be lost.
fn check_end(elf: &Elf, sections: &[Section]) -> Result<(), ElfError> {
    let header = elf.header();
    let table = header.sections_offset + (Section::bytes(header.format.class) * sections.len()) as u64;
    let known = sections.iter().map(section_end).chain([table, ends_of_loader(elf)]).max().unwrap_or_default();
    match elf.size_bytes().checked_sub(known) {
        Some(more) if more > MOST_PADDING_BYTES => {
            Err(ElfError::refused(format!("{more} bytes follow its end, which stripping would lose")))
        }
        _ => Ok(()),
    }
}

/// The headers of sections that are left, and their names. Offsets of the names are still to be set.
fn tables(sections: &[Section], stays: impl Fn(&Section) -> bool) -> (Vec<Section>, Vec<u8>) {
    let mut names = vec![0];
    let mut place = |name: &str| {
        let offset = u32::try_from(names.len()).unwrap_or_default();
        names.extend_from_slice(name.as_bytes());
        names.push(0);
        offset
    };
    let links = |index: u32| sections.get(index as usize).is_some_and(&stays);
    let mut table: Vec<Section> = sections
        .iter()
        .map(|section| match stays(section) {
            true => Section {
                name_offset: if section.name.is_empty() { 0 } else { place(&section.name) },
                link: if links(section.link) { section.link } else { 0 },
                ..section.clone()
            },
            false => Section::default(),
        })
        .collect();
    let own = Section { name_offset: place(NAMES), kind: section_type::STRTAB, align: 1, ..Section::default() };
    table.push(own);
    (table, names)
}

fn append(
    elf: &Elf,
    source: &dyn ReadAt,
    patch: &mut Patch,
    end: u64,
    (mut table, names): (Vec<Section>, Vec<u8>),
) -> Result<(), ElfError> {
    let format = elf.header().format;
    let (count, own) = (table.len(), table.len() - 1);
    table[own].offset = end;
    table[own].size = names.len() as u64;
    // Numbers that 16 bits cannot hold stand in the first header (gABI, `e_shnum`, `e_shstrndx`).
    let (mut short_count, mut short_own) = (count, own);
    if count >= FIRST_RESERVED {
        (short_count, table[0].size) = (0, count as u64);
    }
    if own >= FIRST_RESERVED {
        (short_own, table[0].link) = (usize::from(u16::MAX), u32::try_from(own).unwrap_or_default());
    }
    let mut tail = names;
    let at = (end + tail.len() as u64).next_multiple_of(format.word_bytes() as u64);
    tail.resize(usize::try_from(at - end).unwrap_or(0), 0);
    tail.extend(table.iter().flat_map(|section| section.to_bytes(format)));

    let mut bytes = vec![0; Header::bytes(format.class)];
    source.read_exact_at(&mut bytes, 0).map_err(ElfError::reading("the file header", 0))?;
    let old = bytes.clone();
    let short = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
    Header::put_sections(format, &mut bytes, at, short(short_count), short(short_own));
    patch.cut(end);
    patch.replace(0, &old, &bytes);
    patch.append(end, tail);
    Ok(())
}
