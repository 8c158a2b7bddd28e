//! Layout errors: properties with which a file cannot be loaded.
//!
//! Input: a file behind [`ReadAt`]. Output: all layout errors. The rules are those of the System V
//! gABI, chapter 5, as glibc's dynamic linker (`elf/dl-load.c`, `elf/dl-version.c`) and Linux
//! (`fs/binfmt_elf.c`) rely on them.

use std::collections::BTreeSet;

use super::{Elf, ElfClass, ProgramHeader, machine, segment_flag, segment_type, tag};
use rock_bytes::ReadAt;

/// A layout error, with which a loader refuses a file or crashes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// The ELF header, the program headers or the dynamic section cannot be read.
    #[error("its loader cannot read it: {reason}")]
    Unreadable {
        /// The read error.
        reason: String,
    },
    /// The program headers are not in a loaded segment.
    #[error(
        "the program headers, at {offset:#x} to {end:#x} in the file, are not all in one loaded \
         segment"
    )]
    ProgramHeadersNotLoaded {
        /// File offset of the first program header.
        offset: u64,
        /// File offset of the end of the program headers.
        end: u64,
    },
    /// `PT_PHDR` has an address at which nothing is loaded.
    #[error(
        "PT_PHDR says that the program headers are loaded at {address:#x}, where there is no \
         segment{}",
        patchelf_hint(*wrapped)
    )]
    PhdrUnmapped {
        /// The address.
        address: u64,
        /// Whether the address looks like a negative number, as patchelf 0.18 and before write it.
        wrapped: bool,
    },
    /// `PT_PHDR` and the ELF header disagree about the place of the program headers.
    #[error(
        "PT_PHDR says that the program headers are at {phdr_offset:#x} in the file, the file \
         header says {offset:#x}"
    )]
    PhdrMismatch {
        /// The value in `PT_PHDR`.
        phdr_offset: u64,
        /// The value in the ELF header.
        offset: u64,
    },
    /// `PT_PHDR` is shorter than the program headers.
    #[error("PT_PHDR has {bytes} bytes, the program headers {needed}")]
    PhdrTooShort {
        /// The value in `PT_PHDR`.
        bytes: u64,
        /// The size of the program headers, in bytes.
        needed: u64,
    },
    /// glibc reads the program headers from the wrong segment.
    #[error(
        "glibc reads zeros after the segment at {address:#x} as the program headers, because there \
         is no PT_PHDR"
    )]
    ProgramHeadersMisdetected {
        /// The address of the segment whose last page covers them.
        address: u64,
    },
    /// Old kernels pass a wrong address of the program headers (`AT_PHDR`) to a program.
    #[error(
        "Linux before 5.18 computes {taken:#x} as the address of the program headers, which is \
         {address:#x}"
    )]
    AtPhdrMismatch {
        /// The address that they compute, from `e_phoff` and the first segment.
        taken: u64,
        /// The actual address.
        address: u64,
    },
    /// The segments are not sorted by address.
    #[error("the segment at {address:#x} comes after one at {before:#x}")]
    LoadOrder {
        /// The address.
        address: u64,
        /// The address of the previous segment.
        before: u64,
    },
    /// Two segments overlap in memory.
    #[error("the segment at {address:#x} starts before the end of the previous one, at {end:#x}")]
    LoadOverlap {
        /// The address.
        address: u64,
        /// The end address of the previous segment.
        end: u64,
    },
    /// A segment extends beyond the end of the file.
    #[error("the segment at {address:#x} ends at {end:#x} in a file of {size:#x} bytes")]
    LoadPastEnd {
        /// The address.
        address: u64,
        /// The file offset of its end.
        end: u64,
        /// The size of the file.
        size: u64,
    },
    /// A segment is larger in the file than in memory.
    #[error("the segment at {address:#x} has {file} bytes in the file but {memory} in memory")]
    LoadTooLarge {
        /// The address.
        address: u64,
        /// Its size in the file, in bytes.
        file: u64,
        /// Its size in memory, in bytes.
        memory: u64,
    },
    /// A segment has an alignment that is not a power of two or smaller than a page.
    #[error(
        "the segment at {address:#x} is aligned to {align:#x}, which is not a multiple of the page \
         size"
    )]
    LoadAlignment {
        /// The address.
        address: u64,
        /// Its alignment.
        align: u64,
    },
    /// Address and file offset of a segment are not congruent modulo its alignment.
    #[error("the segment at {address:#x} cannot be mapped from {offset:#x} in pages of {align:#x}")]
    LoadNotCongruent {
        /// The address.
        address: u64,
        /// Its file offset.
        offset: u64,
        /// Its alignment.
        align: u64,
    },
    /// The first segment of a program is writable. The program loads, but was probably edited: linkers
    /// put a segment that is not writable first.
    #[error("the first segment of the program is writable")]
    WritableFirstSegment,
    /// The dynamic section is not in a loaded segment.
    #[error("the dynamic table, of {size} bytes at {address:#x}, is not in one loaded segment")]
    DynamicNotLoaded {
        /// The address.
        address: u64,
        /// Its size, in bytes.
        size: u64,
    },
    /// A dynamic entry refers to a table that is not in a loaded segment.
    #[error("{what} at {address:#x}, with {size} bytes, is not in one loaded segment")]
    TableNotLoaded {
        /// The table or string.
        what: &'static str,
        /// The address.
        address: u64,
        /// Its size in bytes; 1 if it is not known.
        size: u64,
    },
    /// A string does not end within the string table.
    #[error("{what} at {offset:#x} does not end within the {size} bytes of names")]
    NameOutOfBounds {
        /// The table or string.
        what: &'static str,
        /// Its offset in the string table.
        offset: u64,
        /// The size of the string table, in bytes.
        size: u64,
    },
    /// A library has version needs but no NEEDED entry; the dynamic linker stops there.
    #[error("symbol versions are needed of `{library}`, but the library itself is not")]
    VersionNeedWithoutNeeded {
        /// The library.
        library: String,
    },
    /// The section headers cannot be read.
    #[error("the section headers cannot be read: {reason}")]
    SectionHeaders {
        /// The read error.
        reason: String,
    },
}

fn patchelf_hint(wrapped: bool) -> &'static str {
    if wrapped {
        ", as patchelf up to 0.18 writes it for files whose program headers are not at their start"
    } else {
        ""
    }
}

/// The smallest page size, in bytes. glibc requires it as the minimum alignment of segments.
const MIN_PAGE_SIZE: u64 = 4096;

/// Returns the largest page size of Linux on the machine of a file: 64 KiB, except on x86.
pub(super) fn max_page_size(elf: &Elf) -> u64 {
    match elf.header().machine {
        machine::I386 | machine::X86_64 => MIN_PAGE_SIZE,
        _ => 0x1_0000,
    }
}

/// Returns the first segment whose pages, but not whose bytes, cover the program headers. glibc
/// then reads the wrong bytes (`elf/dl-load.h`, `_dl_postprocess_loadcmd`).
fn misdetected_segment(elf: &Elf, offset: u64, end: u64) -> Option<&ProgramHeader> {
    let first = elf.load_segments().find(|load| {
        let page = max_page_size(elf).min(load.align.max(MIN_PAGE_SIZE));
        let pages = load
            .file_end()
            .checked_next_multiple_of(page)
            .unwrap_or(u64::MAX);
        load.offset / page * page <= offset && end <= pages
    });
    first.filter(|load| offset < load.offset || load.file_end() < end)
}

/// Returns all layout errors of a file; none if it can be loaded.
pub fn verify(source: &dyn ReadAt) -> Vec<LayoutError> {
    let elf = match Elf::read(source) {
        Ok(elf) => elf,
        Err(error) => {
            return vec![LayoutError::Unreadable {
                reason: error.to_string(),
            }];
        }
    };
    let mut errors = check_program_headers(&elf);
    errors.extend(check_load_segments(&elf));
    errors.extend(check_dynamic_section(&elf));
    errors.extend(check_names(&elf, source));
    if let Err(error) = elf.sections(source) {
        errors.push(LayoutError::SectionHeaders {
            reason: error.to_string(),
        });
    }
    errors
}

/// Returns `true` if one loaded segment maps `size` bytes at an address from the file.
fn is_mapped(elf: &Elf, address: u64, size: u64) -> bool {
    elf.file_offset(address).is_some() && size <= elf.readable_bytes(address)
}

fn check_program_headers(elf: &Elf) -> Vec<LayoutError> {
    let mut errors = Vec::new();
    let (header, size) = (
        elf.header(),
        ProgramHeader::header_size(elf.header().format.class) as u64,
    );
    let (offset, needed) = (header.segments_offset, size * elf.segments().len() as u64);
    let end = offset.saturating_add(needed);
    let is_loaded_by_kernel = elf.segment(segment_type::INTERP).is_some();
    let cover = elf
        .load_segments()
        .find(|load| load.offset <= offset && end <= load.file_end());
    if let Some(phdr) = elf.segment(segment_type::PHDR) {
        if phdr.offset != offset {
            errors.push(LayoutError::PhdrMismatch {
                phdr_offset: phdr.offset,
                offset,
            });
        }
        if phdr.file_size < needed {
            errors.push(LayoutError::PhdrTooShort {
                bytes: phdr.file_size,
                needed,
            });
        }
        if !is_mapped(elf, phdr.address, needed) {
            let top = if header.format.class == ElfClass::Elf32 {
                1 << 31
            } else {
                1 << 63
            };
            errors.push(LayoutError::PhdrUnmapped {
                address: phdr.address,
                wrapped: phdr.address >= top,
            });
        } else if elf.file_offset(phdr.address) != Some(offset) && phdr.offset == offset {
            let phdr_offset = elf.file_offset(phdr.address).unwrap_or_default();
            errors.push(LayoutError::PhdrMismatch {
                phdr_offset,
                offset,
            });
        }
    } else if cover.is_none() && is_loaded_by_kernel {
        errors.push(LayoutError::ProgramHeadersNotLoaded { offset, end });
    } else if let Some(load) = misdetected_segment(elf, offset, end) {
        errors.push(LayoutError::ProgramHeadersMisdetected {
            address: load.address,
        });
    }
    if let (Some(cover), Some(first)) = (
        cover.filter(|_| is_loaded_by_kernel),
        elf.load_segments().next(),
    ) {
        let address = cover.address.wrapping_add(offset - cover.offset);
        let taken = first
            .address
            .wrapping_sub(first.offset)
            .wrapping_add(offset);
        if taken != address {
            errors.push(LayoutError::AtPhdrMismatch { taken, address });
        }
    }
    errors
}

fn check_load_segments(elf: &Elf) -> Vec<LayoutError> {
    let mut errors = Vec::new();
    let is_hosted =
        elf.segment(segment_type::DYNAMIC).is_some() && elf.header().machine != machine::AMDGPU;
    let mut before: Option<&ProgramHeader> = None;
    for load in elf.load_segments() {
        let (address, align) = (load.address, load.align.max(1));
        match before {
            Some(before) if address < before.address => {
                errors.push(LayoutError::LoadOrder {
                    address,
                    before: before.address,
                });
            }
            Some(before) if address < before.memory_end() => {
                errors.push(LayoutError::LoadOverlap {
                    address,
                    end: before.memory_end(),
                });
            }
            _ => {}
        }
        if load.file_end() > elf.size_bytes() {
            errors.push(LayoutError::LoadPastEnd {
                address,
                end: load.file_end(),
                size: elf.size_bytes(),
            });
        }
        if load.file_size > load.memory_size {
            errors.push(LayoutError::LoadTooLarge {
                address,
                file: load.file_size,
                memory: load.memory_size,
            });
        }
        if !align.is_power_of_two() || (is_hosted && align < MIN_PAGE_SIZE) {
            errors.push(LayoutError::LoadAlignment { address, align });
        } else if address.wrapping_sub(load.offset) % align != 0 {
            errors.push(LayoutError::LoadNotCongruent {
                address,
                offset: load.offset,
                align,
            });
        }
        before = Some(load);
    }
    let starts_writable = elf
        .load_segments()
        .next()
        .is_some_and(|first| first.flags & segment_flag::WRITE != 0);
    if starts_writable && elf.segment(segment_type::INTERP).is_some() {
        errors.push(LayoutError::WritableFirstSegment);
    }
    errors
}

fn check_dynamic_section(elf: &Elf) -> Vec<LayoutError> {
    let mut errors = Vec::new();
    let Some(table) = elf.segment(segment_type::DYNAMIC) else {
        return errors;
    };
    if !is_mapped(elf, table.address, table.file_size)
        || elf.file_offset(table.address) != Some(table.offset)
    {
        errors.push(LayoutError::DynamicNotLoaded {
            address: table.address,
            size: table.file_size,
        });
    }
    for (tag, size, what) in [
        (tag::STRTAB, Some(tag::STRSZ), "the table of names"),
        (tag::SYMTAB, None, "the table of symbols"),
        (tag::HASH, None, "the hash table"),
        (tag::GNU_HASH, None, "the GNU hash table"),
        (tag::RELA, Some(tag::RELASZ), "the relocations with addends"),
        (
            tag::REL,
            Some(tag::RELSZ),
            "the relocations without addends",
        ),
        (tag::RELR, Some(tag::RELRSZ), "the packed relocations"),
        (
            tag::JMPREL,
            Some(tag::PLTRELSZ),
            "the relocations of the procedure linkage table",
        ),
        (tag::VERSYM, None, "the versions of symbols"),
        (tag::VERDEF, None, "the versions that are defined"),
        (tag::VERNEED, None, "the versions that are needed"),
    ] {
        let size = size.map_or(1, |size| elf.dynamic_value(size).unwrap_or_default());
        if let Some(address) = elf
            .dynamic_value(tag)
            .filter(|address| size > 0 && !is_mapped(elf, *address, size))
        {
            errors.push(LayoutError::TableNotLoaded {
                what,
                address,
                size,
            });
        }
    }
    errors
}

fn check_names(elf: &Elf, source: &dyn ReadAt) -> Vec<LayoutError> {
    let mut errors = Vec::new();
    // `check_dynamic_section` reports a table that is not loaded.
    let Ok(strings) = elf.string_table(source) else {
        return errors;
    };
    let size = strings.bytes().len() as u64;
    for entry in elf.dynamic_entries() {
        let what = match entry.tag {
            tag::NEEDED => "the name of a needed library",
            tag::SONAME => "the SONAME",
            tag::RPATH => "the RPATH",
            tag::RUNPATH => "the RUNPATH",
            _ => continue,
        };
        if !strings.is_terminated(entry.value) {
            errors.push(LayoutError::NameOutOfBounds {
                what,
                offset: entry.value,
                size,
            });
        }
    }
    let (Ok(needed), Ok(needs)) = (
        elf.dynamic_strings(&strings, tag::NEEDED),
        elf.version_needs(source, &strings),
    ) else {
        return errors;
    };
    let needed: BTreeSet<String> = needed.into_iter().collect();
    for need in needs
        .into_iter()
        .filter(|need| !needed.contains(&need.library))
    {
        errors.push(LayoutError::VersionNeedWithoutNeeded {
            library: need.library,
        });
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::super::sample::{self, ElfSample, HeaderPlacement, library, program};
    use super::super::{DynamicEntry, Elf, ElfHeader, ProgramHeader, segment_type, tag};
    use super::verify;
    use rock_bytes::ReadAt;

    /// Builds a sample and changes its program headers and dynamic entries.
    fn changed(
        sample: &ElfSample,
        change: impl Fn(&mut Vec<ProgramHeader>, &mut Vec<DynamicEntry>),
    ) -> Vec<u8> {
        let source = sample.build();
        let (elf, mut bytes) = (Elf::read(&source).unwrap(), sample::bytes(&source));
        let format = elf.header().format;
        let (mut segments, mut entries) = (elf.segments().to_vec(), elf.dynamic_entries().to_vec());
        change(&mut segments, &mut entries);
        let dynamic = usize::try_from(elf.segment(segment_type::DYNAMIC).unwrap().offset).unwrap();
        for (index, entry) in entries.into_iter().enumerate() {
            format.put_word(&mut bytes, dynamic + index * 16, entry.tag);
            format.put_word(&mut bytes, dynamic + index * 16 + 8, entry.value);
        }
        let at = usize::try_from(elf.header().segments_offset).unwrap();
        let table: Vec<u8> = segments
            .iter()
            .flat_map(|segment| segment.to_bytes(format))
            .collect();
        bytes[at..at + table.len()].copy_from_slice(&table);
        bytes
    }

    fn messages(source: &dyn ReadAt) -> Vec<String> {
        verify(source).iter().map(ToString::to_string).collect()
    }

    fn load(segments: &mut [ProgramHeader], index: usize) -> &mut ProgramHeader {
        segments
            .iter_mut()
            .filter(|segment| segment.is_load())
            .nth(index)
            .unwrap()
    }

    fn kpack_library() -> ElfSample {
        ElfSample {
            headers: HeaderPlacement::AtEnd {
                spare: 2,
                gap: 0x20_0000,
            },
            ..library()
        }
    }

    #[test]
    fn good_files_have_no_fault() {
        for sample in sample::all() {
            assert_eq!(messages(&sample.build()), [""; 0]);
            assert_eq!(
                messages(
                    &ElfSample {
                        is_program: true,
                        ..sample.clone()
                    }
                    .build()
                ),
                [""; 0]
            );
            assert_eq!(
                messages(
                    &ElfSample {
                        has_sections: false,
                        headers: kpack_library().headers,
                        ..sample
                    }
                    .build()
                ),
                [""; 0]
            );
        }
        assert_eq!(
            messages(&b"text".to_vec()),
            ["its loader cannot read it: it is not an ELF file"]
        );
    }

    /// patchelf 0.17.2 and 0.18.0 do this to kpack-split libraries: the program headers move to
    /// 0x40, and the address in `PT_PHDR` becomes negative.
    #[test]
    fn program_headers_that_patchelf_moved_below_zero_are_known() {
        let mut bytes = changed(&kpack_library(), |segments, _| {
            segments[0].address = 0xffff_ffff_fff7_9040;
        });
        assert_eq!(
            messages(&bytes),
            [
                "PT_PHDR says that the program headers are loaded at 0xfffffffffff79040, where \
                 there is no segment, as patchelf up to 0.18 writes it for files whose program \
                 headers are not at their start"
            ]
        );
        let elf = Elf::read(&bytes).unwrap();
        let (from, size) = (
            usize::try_from(elf.header().segments_offset).unwrap(),
            elf.segments().len() * 56,
        );
        bytes.copy_within(from..from + size, 64);
        ElfHeader::write_program_header_table(
            elf.header().format,
            &mut bytes,
            64,
            u16::try_from(elf.segments().len()).unwrap(),
        );
        assert!(
            messages(&bytes)
                .iter()
                .any(|error| error.ends_with("in the file, the file header says 0x40"))
        );
    }

    /// patchelf does this to the same libraries.
    #[test]
    fn a_segment_that_ends_behind_the_file_is_a_fault() {
        let bytes = changed(&kpack_library(), |segments, _| {
            let last = load(segments, 2);
            (last.file_size, last.memory_size) = (last.file_size + 1, last.memory_size + 1);
        });
        assert!(
            messages(&bytes)[0].starts_with("the segment at 0x2"),
            "{:?}",
            messages(&bytes)
        );
        assert!(messages(&bytes)[0].contains(" ends at "));
    }

    /// patchelf adds a writable segment for strings before all others.
    #[test]
    fn a_program_that_starts_writable_is_a_fault_and_a_library_is_not() {
        let writable = |segments: &mut Vec<ProgramHeader>, _: &mut Vec<DynamicEntry>| {
            load(segments, 0).flags = 6;
        };
        let expected = "the first segment of the program is writable";
        assert_eq!(messages(&changed(&program(), writable)), [expected]);
        assert_eq!(messages(&changed(&library(), writable)), [""; 0]);
    }

    #[test]
    fn program_headers_that_old_kernels_look_for_elsewhere_are_a_fault_of_programs() {
        let move_up = |segments: &mut Vec<ProgramHeader>, _: &mut Vec<DynamicEntry>| {
            segments[0].address += 0x1_0000;
            load(segments, 2).address += 0x1_0000;
        };
        let sample = ElfSample {
            is_program: true,
            ..kpack_library()
        };
        let offset = Elf::read(&sample.build()).unwrap().header().segments_offset;
        let expected = format!(
            "Linux before 5.18 computes {offset:#x} as the address of the program headers, which \
             is {:#x}",
            offset + 0x1_0000
        );
        assert_eq!(messages(&changed(&sample, move_up)), [expected]);
        assert_eq!(messages(&changed(&kpack_library(), move_up)), [""; 0]);
    }

    /// `strip` after patchelf, and alignments that patchelf 0.18.0 writes.
    #[test]
    fn segments_that_loaders_cannot_map_are_faults() {
        let align = |align| {
            changed(&library(), move |segments, _| {
                load(segments, 1).align = align;
            })
        };
        let second = *Elf::read(&library().build())
            .unwrap()
            .load_segments()
            .nth(1)
            .unwrap();
        let at = second.address;
        assert_eq!(
            messages(&align(0x1_0000)),
            [format!(
                "the segment at {at:#x} cannot be mapped from {:#x} in pages of 0x10000",
                second.offset
            )]
        );
        for odd in [8, 0, 0x3000] {
            let seen: u64 = if odd == 0 { 1 } else { odd };
            assert_eq!(
                messages(&align(odd)),
                [format!(
                    "the segment at {at:#x} is aligned to {seen:#x}, which is not a multiple of \
                     the page size"
                )]
            );
        }
        let shrinks = changed(&library(), |segments, _| load(segments, 1).memory_size = 3);
        assert_eq!(
            messages(&shrinks),
            [format!(
                "the segment at {at:#x} has {} bytes in the file but 3 in memory",
                second.file_size
            )]
        );
    }

    #[test]
    fn segments_out_of_order_or_on_top_of_each_other_are_faults() {
        let order = changed(&library(), |segments, _| segments.swap(0, 1));
        let expected = "the segment at 0x0 comes after one at 0x1";
        assert!(
            messages(&order)
                .iter()
                .any(|error| error.starts_with(expected)),
            "{:?}",
            messages(&order)
        );
        let overlap = changed(&library(), |segments, _| {
            load(segments, 0).memory_size = 0x2000;
        });
        assert!(
            messages(&overlap)[0].ends_with("starts before the end of the previous one, at 0x2000"),
            "{:?}",
            messages(&overlap)
        );
    }

    #[test]
    fn program_headers_that_are_not_loaded_or_cut_off_are_faults() {
        let short = changed(&program(), |segments, _| segments[0].file_size -= 56);
        assert_eq!(
            messages(&short),
            ["PT_PHDR has 280 bytes, the program headers 336"]
        );
        let elsewhere = changed(&program(), |segments, _| segments[0].offset += 8);
        assert_eq!(
            messages(&elsewhere),
            [
                "PT_PHDR says that the program headers are at 0x48 in the file, the file header \
                 says 0x40"
            ]
        );
        let outside = changed(&program(), |segments, _| segments[0].address = 0x9_0000);
        assert_eq!(
            messages(&outside),
            [
                "PT_PHDR says that the program headers are loaded at 0x90000, where there is no \
                 segment"
            ]
        );
        let none = changed(
            &ElfSample {
                is_program: true,
                ..kpack_library()
            },
            |segments, _| {
                segments[0].kind = 0;
                load(segments, 2).kind = 0;
            },
        );
        assert!(
            messages(&none)[0].ends_with("are not all in one loaded segment"),
            "{:?}",
            messages(&none)
        );
    }

    /// Without a `PT_PHDR`, glibc rounds segments to pages: `dl_iterate_phdr` returns zeros, and
    /// exceptions end the program.
    #[test]
    fn program_headers_on_the_last_page_of_another_segment_are_a_fault() {
        let sample = ElfSample {
            headers: HeaderPlacement::AtEnd { spare: 0, gap: 0 },
            ..library()
        };
        let bytes = changed(&sample, |segments, _| segments[0].kind = 0);
        assert_eq!(messages(&bytes), [""; 0], "they have a page of their own");
        let elf = Elf::read(&bytes).unwrap();
        let (format, from) = (
            elf.header().format,
            usize::try_from(elf.header().segments_offset).unwrap(),
        );
        let (count, size) = (elf.segments().len(), elf.segments().len() * 56);
        // Into the first page of the file, after its other contents.
        let end = usize::try_from(elf.header().sections_offset).unwrap() + 0x500;
        let mut near = bytes.clone();
        near[end..end + size].copy_from_slice(&bytes[from..from + size]);
        let mut cover = elf.segments()[3];
        assert!(cover.is_load());
        cover.offset = end as u64;
        cover.address += (end % 4096) as u64;
        near[end + 3 * 56..end + 4 * 56].copy_from_slice(&cover.to_bytes(format));
        ElfHeader::write_program_header_table(
            format,
            &mut near,
            end as u64,
            u16::try_from(count).unwrap(),
        );
        assert_eq!(
            messages(&near),
            [
                "glibc reads zeros after the segment at 0x0 as the program headers, because there \
                 is no PT_PHDR"
            ]
        );
    }

    /// `strip` drops strings that patchelf or an edit appended.
    #[test]
    fn tables_that_are_not_loaded_are_faults() {
        let set = |tag: u64, value: u64| {
            let source = changed(&library(), move |_, entries| {
                for entry in entries.iter_mut().filter(|entry| entry.tag == tag) {
                    entry.value = value;
                }
            });
            messages(&source).first().cloned().unwrap_or_default()
        };
        assert!(set(tag::STRTAB, 0x50_0000).starts_with("the table of names at 0x500000, with "));
        assert!(
            set(tag::STRSZ, 0x50_0000)
                .ends_with("with 5242880 bytes, is not in one loaded segment")
        );
        assert!(set(tag::SYMTAB, 0x50_0000).starts_with("the table of symbols at 0x500000"));
        assert!(set(tag::HASH, 0x50_0000).starts_with("the hash table at 0x500000"));
        assert!(
            set(tag::VERNEED, 0x50_0000).starts_with("the versions that are needed at 0x500000")
        );
        assert!(
            set(tag::SONAME, 0x5000).starts_with("the SONAME at 0x5000 does not end within the ")
        );
        assert!(set(tag::NEEDED, 0x5000).starts_with("the name of a needed library at 0x5000"));
        let nowhere = changed(&library(), |segments, _| segments[2].address += 0x10_0000);
        assert!(messages(&nowhere)[0].starts_with("the dynamic table, of "));
    }

    /// An editor that renames NEEDED entries but not version needs: glibc fails an assertion.
    #[test]
    fn versions_of_a_library_that_is_not_needed_are_a_fault() {
        let sample = ElfSample {
            needed: vec!["libc.so.6", "libfoo-renamed.so.1"],
            ..library()
        };
        let expected = "symbol versions are needed of `libfoo.so.1`, but the library itself is not";
        assert_eq!(messages(&sample.build()), [expected]);
    }

    #[test]
    fn section_headers_outside_of_the_file_are_a_fault() {
        let source = library().build();
        let (elf, mut bytes) = (Elf::read(&source).unwrap(), sample::bytes(&source));
        let count = elf.header().section_count;
        ElfHeader::write_section_header_table(
            elf.header().format,
            &mut bytes,
            source.size_bytes(),
            count,
            count - 1,
        );
        assert!(
            messages(&bytes)[0].starts_with(
                "the section headers cannot be read: the table of section headers at "
            )
        );
    }

    #[test]
    fn a_damaged_file_is_never_a_panic() {
        let whole = sample::bytes(&program().build());
        for at in 0..whole.len() {
            for value in [0, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] = value;
                let _ = messages(&bytes);
            }
        }
    }
}
