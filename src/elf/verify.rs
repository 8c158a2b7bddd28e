//! Whether a file can be loaded: what linkers keep and faulty editors break.
//!
//! In: a file behind [`ReadAt`]. Out: all faults of its layout. The rules are those of the System V gABI, chapter 5,
//! as glibc's loader (`elf/dl-load.c`, `elf/dl-version.c`) and Linux (`fs/binfmt_elf.c`) rely on them.

use super::{Class, Elf, ElfError, Segment, Strings, machine, segment_flag, segment_type, tag};
use crate::bytes::ReadAt;

/// One thing in the layout of a file for which a loader refuses it or crashes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayoutFault {
    /// A table lies outside the file.
    #[error("it cannot be read as its loader reads it: {why}")]
    Unreadable {
        /// What cannot be read.
        why: String,
    },
    /// The table of program headers is in no loaded segment.
    #[error("the program headers, of {offset:#x} to {end:#x} in the file, are not all in one loaded segment")]
    HeadersNotLoaded {
        /// Where they begin in the file.
        offset: u64,
        /// Where they end.
        end: u64,
    },
    /// `PT_PHDR` lies where nothing is loaded.
    #[error("PT_PHDR says that the program headers are loaded to {address:#x}, where no segment is{}", patchelf(*wrapped))]
    HeadersNowhere {
        /// The address.
        address: u64,
        /// Whether the address went below zero.
        wrapped: bool,
    },
    /// `PT_PHDR` leads to other bytes than the file header.
    #[error("PT_PHDR says that the program headers are at {says:#x} in the file, the file header at {offset:#x}")]
    HeadersElsewhere {
        /// What `PT_PHDR` says.
        says: u64,
        /// What the file header says.
        offset: u64,
    },
    /// `PT_PHDR` is shorter than the table.
    #[error("PT_PHDR has {bytes} bytes, the program headers {needed}")]
    HeadersCutOff {
        /// What `PT_PHDR` says.
        bytes: u64,
        /// What the table has.
        needed: u64,
    },
    /// Old kernels look for the program headers of a program in the wrong place.
    #[error("Linux before 5.18 takes {taken:#x} for the address of the program headers, which is {address:#x}")]
    HeadersForNewKernels {
        /// `e_phoff`, relative to the first segment.
        taken: u64,
        /// Where they are.
        address: u64,
    },
    /// A segment comes after one with a higher address.
    #[error("the segment at {address:#x} comes after one at {before:#x}")]
    LoadOrder {
        /// The address.
        address: u64,
        /// The address of the one before.
        before: u64,
    },
    /// Two segments have the same memory.
    #[error("the segment at {address:#x} begins before the one below it ends, at {end:#x}")]
    LoadOverlap {
        /// The address.
        address: u64,
        /// Where the one before ends.
        end: u64,
    },
    /// A segment reaches beyond the file.
    #[error("the segment at {address:#x} ends at {end:#x} in a file of {size:#x} bytes")]
    LoadPastEnd {
        /// The address.
        address: u64,
        /// Where its bytes end.
        end: u64,
        /// The size of the file.
        size: u64,
    },
    /// A segment has more bytes in the file than in memory.
    #[error("the segment at {address:#x} has {file} bytes in the file but {memory} in memory")]
    LoadTooLarge {
        /// The address.
        address: u64,
        /// Its bytes in the file.
        file: u64,
        /// Its bytes in memory.
        memory: u64,
    },
    /// A segment has an alignment that loaders refuse.
    #[error("the segment at {address:#x} is aligned to {align:#x}, which is no whole number of pages")]
    LoadAlign {
        /// The address.
        address: u64,
        /// Its alignment.
        align: u64,
    },
    /// A segment lies elsewhere in its pages than its bytes in those of the file.
    #[error("the segment at {address:#x} cannot be mapped from {offset:#x} in pages of {align:#x}")]
    LoadNotCongruent {
        /// The address.
        address: u64,
        /// Where its bytes begin.
        offset: u64,
        /// Its alignment.
        align: u64,
    },
    /// The first segment of a program can be written.
    #[error("the first segment of the program can be written, for which Linux 4.18 kills it")]
    WritableStart,
    /// The dynamic table is in no loaded segment.
    #[error("the dynamic table, of {size} bytes at {address:#x}, is not in one loaded segment")]
    DynamicNotLoaded {
        /// The address.
        address: u64,
        /// Its size.
        size: u64,
    },
    /// A dynamic entry leads to where nothing is loaded from the file.
    #[error("{what} at {address:#x}, with {size} bytes, is not in one loaded segment")]
    TableNotLoaded {
        /// Which entry.
        what: &'static str,
        /// The address.
        address: u64,
        /// The size, as far as it is known.
        size: u64,
    },
    /// A name does not end within the table of names.
    #[error("{what} at {offset:#x} does not end within the {size} bytes of names")]
    NameOutside {
        /// Which entry.
        what: &'static str,
        /// Where the name begins.
        offset: u64,
        /// The size of the table.
        size: u64,
    },
    /// Symbol versions are needed of a library that is not needed, on which the loader stops.
    #[error("symbol versions are needed of `{library}`, but the library itself is not")]
    VersionsOfNothing {
        /// The library.
        library: String,
    },
    /// The section headers lie outside the file.
    #[error("the section headers cannot be read: {why}")]
    Sections {
        /// Why.
        why: String,
    },
}

fn patchelf(wrapped: bool) -> &'static str {
    if wrapped { ", as patchelf 0.18 and before leave files whose program headers are not at their start" } else { "" }
}

/// The least alignment of segments that all loaders of glibc take: the smallest page.
const PAGE: u64 = 4096;

/// All faults of a file's layout; none for a file that loaders take.
pub fn verify(source: &dyn ReadAt) -> Vec<LayoutFault> {
    let elf = match Elf::read(source) {
        Ok(elf) => elf,
        Err(error) => return vec![unreadable(&error)],
    };
    let mut faults = Vec::new();
    headers(&elf, &mut faults);
    loads(&elf, &mut faults);
    dynamic(&elf, &mut faults);
    names(&elf, source, &mut faults);
    if let Err(error) = elf.sections(source) {
        faults.push(LayoutFault::Sections { why: error.to_string() });
    }
    faults
}

fn unreadable(error: &ElfError) -> LayoutFault {
    LayoutFault::Unreadable { why: error.to_string() }
}

/// The loaded segment that maps so many bytes from an address, all of them from the file.
fn mapped(elf: &Elf, address: u64, size: u64) -> bool {
    elf.file_offset(address).is_some() && size <= elf.readable(address)
}

fn headers(elf: &Elf, faults: &mut Vec<LayoutFault>) {
    let (header, size) = (elf.header(), Segment::bytes(elf.header().format.class) as u64);
    let (offset, needed) = (header.segments_offset, size * elf.segments().len() as u64);
    let end = offset.saturating_add(needed);
    let is_loaded_by_kernel = elf.segment(segment_type::INTERP).is_some();
    let cover = elf.loads().find(|load| load.offset <= offset && end <= load.file_end());
    if let Some(said) = elf.segment(segment_type::PHDR) {
        if said.offset != offset {
            faults.push(LayoutFault::HeadersElsewhere { says: said.offset, offset });
        }
        if said.file_size < needed {
            faults.push(LayoutFault::HeadersCutOff { bytes: said.file_size, needed });
        }
        if !mapped(elf, said.address, needed) {
            let top = if header.format.class == Class::Elf32 { 1 << 31 } else { 1 << 63 };
            faults.push(LayoutFault::HeadersNowhere { address: said.address, wrapped: said.address >= top });
        } else if elf.file_offset(said.address) != Some(offset) && said.offset == offset {
            let says = elf.file_offset(said.address).unwrap_or_default();
            faults.push(LayoutFault::HeadersElsewhere { says, offset });
        }
    } else if cover.is_none() && is_loaded_by_kernel {
        faults.push(LayoutFault::HeadersNotLoaded { offset, end });
    }
    if let (Some(cover), Some(first)) = (cover.filter(|_| is_loaded_by_kernel), elf.loads().next()) {
        let address = cover.address.wrapping_add(offset - cover.offset);
        let taken = first.address.wrapping_sub(first.offset).wrapping_add(offset);
        if taken != address {
            faults.push(LayoutFault::HeadersForNewKernels { taken, address });
        }
    }
}

fn loads(elf: &Elf, faults: &mut Vec<LayoutFault>) {
    let is_hosted = elf.segment(segment_type::DYNAMIC).is_some() && elf.header().machine != machine::AMDGPU;
    let mut before: Option<&Segment> = None;
    for load in elf.loads() {
        let (address, align) = (load.address, load.align.max(1));
        match before {
            Some(before) if address < before.address => {
                faults.push(LayoutFault::LoadOrder { address, before: before.address });
            }
            Some(before) if address < before.memory_end() => {
                faults.push(LayoutFault::LoadOverlap { address, end: before.memory_end() });
            }
            _ => {}
        }
        if load.file_end() > elf.size_bytes() {
            faults.push(LayoutFault::LoadPastEnd { address, end: load.file_end(), size: elf.size_bytes() });
        }
        if load.file_size > load.memory_size {
            faults.push(LayoutFault::LoadTooLarge { address, file: load.file_size, memory: load.memory_size });
        }
        if !align.is_power_of_two() || (is_hosted && align < PAGE) {
            faults.push(LayoutFault::LoadAlign { address, align });
        } else if address.wrapping_sub(load.offset) % align != 0 {
            faults.push(LayoutFault::LoadNotCongruent { address, offset: load.offset, align });
        }
        before = Some(load);
    }
    let starts_writable = elf.loads().next().is_some_and(|first| first.flags & segment_flag::WRITE != 0);
    if starts_writable && elf.segment(segment_type::INTERP).is_some() {
        faults.push(LayoutFault::WritableStart);
    }
}

fn dynamic(elf: &Elf, faults: &mut Vec<LayoutFault>) {
    let Some(table) = elf.segment(segment_type::DYNAMIC) else { return };
    if !mapped(elf, table.address, table.file_size) || elf.file_offset(table.address) != Some(table.offset) {
        faults.push(LayoutFault::DynamicNotLoaded { address: table.address, size: table.file_size });
    }
    for (tag, size, what) in [
        (tag::STRTAB, Some(tag::STRSZ), "the table of names"),
        (tag::SYMTAB, None, "the table of symbols"),
        (tag::HASH, None, "the hash table"),
        (tag::GNU_HASH, None, "the GNU hash table"),
        (tag::RELA, Some(tag::RELASZ), "the relocations with addends"),
        (tag::REL, Some(tag::RELSZ), "the relocations without addends"),
        (tag::RELR, Some(tag::RELRSZ), "the packed relocations"),
        (tag::JMPREL, Some(tag::PLTRELSZ), "the relocations of the procedure linkage table"),
        (tag::VERSYM, None, "the versions of symbols"),
        (tag::VERDEF, None, "the versions that are defined"),
        (tag::VERNEED, None, "the versions that are needed"),
    ] {
        let size = size.map_or(1, |size| elf.value(size).unwrap_or_default());
        if let Some(address) = elf.value(tag).filter(|address| size > 0 && !mapped(elf, *address, size)) {
            faults.push(LayoutFault::TableNotLoaded { what, address, size });
        }
    }
}

fn names(elf: &Elf, source: &dyn ReadAt, faults: &mut Vec<LayoutFault>) {
    // Where the table is not loaded, that is told already.
    let Ok(strings) = elf.strings(source) else { return };
    let size = strings.bytes().len() as u64;
    for entry in elf.dynamic() {
        let what = match entry.tag {
            tag::NEEDED => "the name of a needed library",
            tag::SONAME => "the SONAME",
            tag::RPATH => "the RPATH",
            tag::RUNPATH => "the RUNPATH",
            _ => continue,
        };
        if !ends(&strings, entry.value) {
            faults.push(LayoutFault::NameOutside { what, offset: entry.value, size });
        }
    }
    let (Ok(needed), Ok(needs)) = (elf.texts(&strings, tag::NEEDED), elf.version_needs(source, &strings)) else {
        return;
    };
    for need in needs.into_iter().filter(|need| !needed.contains(&need.library)) {
        faults.push(LayoutFault::VersionsOfNothing { library: need.library });
    }
}

fn ends(strings: &Strings, offset: u64) -> bool {
    let rest = usize::try_from(offset).ok().and_then(|at| strings.bytes().get(at..));
    rest.is_some_and(|rest| rest.contains(&0))
}
