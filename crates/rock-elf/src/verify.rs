//! Whether a file can be loaded: what linkers keep and faulty editors break.
//!
//! In: a file behind [`ReadAt`]. Out: all faults of its layout. The rules are those of the System V
//! gABI, chapter 5, as glibc's loader (`elf/dl-load.c`, `elf/dl-version.c`) and Linux
//! (`fs/binfmt_elf.c`) rely on them.

use std::collections::BTreeSet;

use super::{Class, Elf, ElfError, Segment, machine, segment_flag, segment_type, tag};
use rock_bytes::ReadAt;

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
    #[error(
        "the program headers, of {offset:#x} to {end:#x} in the file, are not all in one loaded segment"
    )]
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
    #[error(
        "PT_PHDR says that the program headers are at {says:#x} in the file, the file header at {offset:#x}"
    )]
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
    /// glibc takes what is behind another segment for the program headers.
    #[error(
        "glibc takes zeros behind the segment at {address:#x} for the program headers, as no PT_PHDR names them"
    )]
    HeadersMistaken {
        /// The address of the segment whose last page reaches so far.
        address: u64,
    },
    /// Old kernels look for the program headers of a program in the wrong place.
    #[error(
        "Linux before 5.18 takes {taken:#x} for the address of the program headers, which is {address:#x}"
    )]
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
    #[error(
        "the segment at {address:#x} is aligned to {align:#x}, which is no whole number of pages"
    )]
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
    if wrapped {
        ", as patchelf 0.18 and before leave files whose program headers are not at their start"
    } else {
        ""
    }
}

/// The least alignment of segments that all loaders of glibc take: the smallest page.
const PAGE: u64 = 4096;

/// The largest page that Linux has on the machine of a file: 64 KiB, but for x86.
pub(super) fn largest_page(elf: &Elf) -> u64 {
    match elf.header().machine {
        machine::I386 | machine::X86_64 => PAGE,
        _ => 0x1_0000,
    }
}

/// The first segment of which the pages reach over the program headers, where its bytes do not
/// (glibc, `elf/dl-load.h`, `_dl_postprocess_loadcmd`).
fn mistaken(elf: &Elf, offset: u64, end: u64) -> Option<&Segment> {
    let first = elf.loads().find(|load| {
        let page = largest_page(elf).min(load.align.max(PAGE));
        let pages = load
            .file_end()
            .checked_next_multiple_of(page)
            .unwrap_or(u64::MAX);
        load.offset / page * page <= offset && end <= pages
    });
    first.filter(|load| offset < load.offset || load.file_end() < end)
}

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
        faults.push(LayoutFault::Sections {
            why: error.to_string(),
        });
    }
    faults
}

fn unreadable(error: &ElfError) -> LayoutFault {
    LayoutFault::Unreadable {
        why: error.to_string(),
    }
}

/// The loaded segment that maps so many bytes from an address, all of them from the file.
fn mapped(elf: &Elf, address: u64, size: u64) -> bool {
    elf.file_offset(address).is_some() && size <= elf.readable(address)
}

fn headers(elf: &Elf, faults: &mut Vec<LayoutFault>) {
    let (header, size) = (
        elf.header(),
        Segment::bytes(elf.header().format.class) as u64,
    );
    let (offset, needed) = (header.segments_offset, size * elf.segments().len() as u64);
    let end = offset.saturating_add(needed);
    let is_loaded_by_kernel = elf.segment(segment_type::INTERP).is_some();
    let cover = elf
        .loads()
        .find(|load| load.offset <= offset && end <= load.file_end());
    if let Some(said) = elf.segment(segment_type::PHDR) {
        if said.offset != offset {
            faults.push(LayoutFault::HeadersElsewhere {
                says: said.offset,
                offset,
            });
        }
        if said.file_size < needed {
            faults.push(LayoutFault::HeadersCutOff {
                bytes: said.file_size,
                needed,
            });
        }
        if !mapped(elf, said.address, needed) {
            let top = if header.format.class == Class::Elf32 {
                1 << 31
            } else {
                1 << 63
            };
            faults.push(LayoutFault::HeadersNowhere {
                address: said.address,
                wrapped: said.address >= top,
            });
        } else if elf.file_offset(said.address) != Some(offset) && said.offset == offset {
            let says = elf.file_offset(said.address).unwrap_or_default();
            faults.push(LayoutFault::HeadersElsewhere { says, offset });
        }
    } else if cover.is_none() && is_loaded_by_kernel {
        faults.push(LayoutFault::HeadersNotLoaded { offset, end });
    } else if let Some(load) = mistaken(elf, offset, end) {
        faults.push(LayoutFault::HeadersMistaken {
            address: load.address,
        });
    }
    if let (Some(cover), Some(first)) = (cover.filter(|_| is_loaded_by_kernel), elf.loads().next())
    {
        let address = cover.address.wrapping_add(offset - cover.offset);
        let taken = first
            .address
            .wrapping_sub(first.offset)
            .wrapping_add(offset);
        if taken != address {
            faults.push(LayoutFault::HeadersForNewKernels { taken, address });
        }
    }
}

fn loads(elf: &Elf, faults: &mut Vec<LayoutFault>) {
    let is_hosted =
        elf.segment(segment_type::DYNAMIC).is_some() && elf.header().machine != machine::AMDGPU;
    let mut before: Option<&Segment> = None;
    for load in elf.loads() {
        let (address, align) = (load.address, load.align.max(1));
        match before {
            Some(before) if address < before.address => {
                faults.push(LayoutFault::LoadOrder {
                    address,
                    before: before.address,
                });
            }
            Some(before) if address < before.memory_end() => {
                faults.push(LayoutFault::LoadOverlap {
                    address,
                    end: before.memory_end(),
                });
            }
            _ => {}
        }
        if load.file_end() > elf.size_bytes() {
            faults.push(LayoutFault::LoadPastEnd {
                address,
                end: load.file_end(),
                size: elf.size_bytes(),
            });
        }
        if load.file_size > load.memory_size {
            faults.push(LayoutFault::LoadTooLarge {
                address,
                file: load.file_size,
                memory: load.memory_size,
            });
        }
        if !align.is_power_of_two() || (is_hosted && align < PAGE) {
            faults.push(LayoutFault::LoadAlign { address, align });
        } else if address.wrapping_sub(load.offset) % align != 0 {
            faults.push(LayoutFault::LoadNotCongruent {
                address,
                offset: load.offset,
                align,
            });
        }
        before = Some(load);
    }
    let starts_writable = elf
        .loads()
        .next()
        .is_some_and(|first| first.flags & segment_flag::WRITE != 0);
    if starts_writable && elf.segment(segment_type::INTERP).is_some() {
        faults.push(LayoutFault::WritableStart);
    }
}

fn dynamic(elf: &Elf, faults: &mut Vec<LayoutFault>) {
    let Some(table) = elf.segment(segment_type::DYNAMIC) else {
        return;
    };
    if !mapped(elf, table.address, table.file_size)
        || elf.file_offset(table.address) != Some(table.offset)
    {
        faults.push(LayoutFault::DynamicNotLoaded {
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
        let size = size.map_or(1, |size| elf.value(size).unwrap_or_default());
        if let Some(address) = elf
            .value(tag)
            .filter(|address| size > 0 && !mapped(elf, *address, size))
        {
            faults.push(LayoutFault::TableNotLoaded {
                what,
                address,
                size,
            });
        }
    }
}

fn names(elf: &Elf, source: &dyn ReadAt, faults: &mut Vec<LayoutFault>) {
    // Where the table is not loaded, that is told already.
    let Ok(strings) = elf.strings(source) else {
        return;
    };
    let size = strings.bytes().len() as u64;
    for entry in elf.dynamic() {
        let what = match entry.tag {
            tag::NEEDED => "the name of a needed library",
            tag::SONAME => "the SONAME",
            tag::RPATH => "the RPATH",
            tag::RUNPATH => "the RUNPATH",
            _ => continue,
        };
        if !strings.ends(entry.value) {
            faults.push(LayoutFault::NameOutside {
                what,
                offset: entry.value,
                size,
            });
        }
    }
    let (Ok(needed), Ok(needs)) = (
        elf.texts(&strings, tag::NEEDED),
        elf.version_needs(source, &strings),
    ) else {
        return;
    };
    let needed: BTreeSet<String> = needed.into_iter().collect();
    for need in needs
        .into_iter()
        .filter(|need| !needed.contains(&need.library))
    {
        faults.push(LayoutFault::VersionsOfNothing {
            library: need.library,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{self, Headers, Sample, library, program};
    use super::super::{DynamicEntry, Elf, Header, Segment, segment_type, tag};
    use super::verify;
    use rock_bytes::ReadAt;

    /// A file of which program headers and dynamic entries are changed.
    fn changed(
        sample: &Sample,
        change: impl Fn(&mut Vec<Segment>, &mut Vec<DynamicEntry>),
    ) -> Vec<u8> {
        let source = sample.build();
        let (elf, mut bytes) = (Elf::read(&source).unwrap(), sample::bytes(&source));
        let format = elf.header().format;
        let (mut segments, mut entries) = (elf.segments().to_vec(), elf.dynamic().to_vec());
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

    fn told(source: &dyn ReadAt) -> Vec<String> {
        verify(source).iter().map(ToString::to_string).collect()
    }

    fn load(segments: &mut [Segment], index: usize) -> &mut Segment {
        segments
            .iter_mut()
            .filter(|segment| segment.is_load())
            .nth(index)
            .unwrap()
    }

    fn kpack() -> Sample {
        Sample {
            headers: Headers::AtEnd {
                spare: 2,
                gap: 0x20_0000,
            },
            ..library()
        }
    }

    #[test]
    fn good_files_have_no_fault() {
        for sample in sample::all() {
            assert_eq!(told(&sample.build()), [""; 0]);
            assert_eq!(
                told(
                    &Sample {
                        is_program: true,
                        ..sample.clone()
                    }
                    .build()
                ),
                [""; 0]
            );
            assert_eq!(
                told(
                    &Sample {
                        has_sections: false,
                        headers: kpack().headers,
                        ..sample
                    }
                    .build()
                ),
                [""; 0]
            );
        }
        assert_eq!(
            told(&b"text".to_vec()),
            ["it cannot be read as its loader reads it: it is no ELF file"]
        );
    }

    /// patchelf 0.17.2 and 0.18.0 on kpack-split libraries: the headers go back to 64, `PT_PHDR`
    /// goes below zero.
    #[test]
    fn program_headers_that_patchelf_moved_below_zero_are_known() {
        let mut bytes = changed(&kpack(), |segments, _| {
            segments[0].address = 0xffff_ffff_fff7_9040;
        });
        assert_eq!(
            told(&bytes),
            [
                "PT_PHDR says that the program headers are loaded to 0xfffffffffff79040, where no segment is, as patchelf \
              0.18 and before leave files whose program headers are not at their start"
            ]
        );
        let elf = Elf::read(&bytes).unwrap();
        let (from, size) = (
            usize::try_from(elf.header().segments_offset).unwrap(),
            elf.segments().len() * 56,
        );
        bytes.copy_within(from..from + size, 64);
        Header::put_segments(
            elf.header().format,
            &mut bytes,
            64,
            u16::try_from(elf.segments().len()).unwrap(),
        );
        assert!(
            told(&bytes)
                .iter()
                .any(|fault| fault.ends_with("in the file, the file header at 0x40"))
        );
    }

    /// The same: the last segment ends behind the file.
    #[test]
    fn a_segment_that_ends_behind_the_file_is_a_fault() {
        let bytes = changed(&kpack(), |segments, _| {
            let last = load(segments, 2);
            (last.file_size, last.memory_size) = (last.file_size + 1, last.memory_size + 1);
        });
        assert!(
            told(&bytes)[0].starts_with("the segment at 0x2"),
            "{:?}",
            told(&bytes)
        );
        assert!(told(&bytes)[0].contains(" ends at "));
    }

    /// patchelf makes room for strings by a writable segment before all others.
    #[test]
    fn a_program_that_starts_writable_is_a_fault_and_a_library_is_not() {
        let writable =
            |segments: &mut Vec<Segment>, _: &mut Vec<DynamicEntry>| load(segments, 0).flags = 6;
        let expected =
            "the first segment of the program can be written, for which Linux 4.18 kills it";
        assert_eq!(told(&changed(&program(), writable)), [expected]);
        assert_eq!(told(&changed(&library(), writable)), [""; 0]);
    }

    #[test]
    fn program_headers_that_old_kernels_look_for_elsewhere_are_a_fault_of_programs() {
        let move_up = |segments: &mut Vec<Segment>, _: &mut Vec<DynamicEntry>| {
            segments[0].address += 0x1_0000;
            load(segments, 2).address += 0x1_0000;
        };
        let sample = Sample {
            is_program: true,
            ..kpack()
        };
        let offset = Elf::read(&sample.build()).unwrap().header().segments_offset;
        let expected = format!(
            "Linux before 5.18 takes {offset:#x} for the address of the program headers, which is {:#x}",
            offset + 0x1_0000
        );
        assert_eq!(told(&changed(&sample, move_up)), [expected]);
        assert_eq!(told(&changed(&kpack(), move_up)), [""; 0]);
    }

    /// `strip` after patchelf, and the alignments of patchelf 0.18.0.
    #[test]
    fn segments_that_loaders_cannot_map_are_faults() {
        let align = |align| {
            changed(&library(), move |segments, _| {
                load(segments, 1).align = align;
            })
        };
        let second = *Elf::read(&library().build())
            .unwrap()
            .loads()
            .nth(1)
            .unwrap();
        let at = second.address;
        assert_eq!(
            told(&align(0x1_0000)),
            [format!(
                "the segment at {at:#x} cannot be mapped from {:#x} in pages of 0x10000",
                second.offset
            )]
        );
        for odd in [8, 0, 0x3000] {
            let seen: u64 = if odd == 0 { 1 } else { odd };
            assert_eq!(
                told(&align(odd)),
                [format!(
                    "the segment at {at:#x} is aligned to {seen:#x}, which is no whole number of pages"
                )]
            );
        }
        let shrinks = changed(&library(), |segments, _| load(segments, 1).memory_size = 3);
        assert_eq!(
            told(&shrinks),
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
            told(&order).iter().any(|fault| fault.starts_with(expected)),
            "{:?}",
            told(&order)
        );
        let overlap = changed(&library(), |segments, _| {
            load(segments, 0).memory_size = 0x2000;
        });
        assert!(
            told(&overlap)[0].ends_with("begins before the one below it ends, at 0x2000"),
            "{:?}",
            told(&overlap)
        );
    }

    #[test]
    fn program_headers_that_are_not_loaded_or_cut_off_are_faults() {
        let short = changed(&program(), |segments, _| segments[0].file_size -= 56);
        assert_eq!(
            told(&short),
            ["PT_PHDR has 280 bytes, the program headers 336"]
        );
        let elsewhere = changed(&program(), |segments, _| segments[0].offset += 8);
        assert_eq!(
            told(&elsewhere),
            [
                "PT_PHDR says that the program headers are at 0x48 in the file, the file header at 0x40"
            ]
        );
        let outside = changed(&program(), |segments, _| segments[0].address = 0x9_0000);
        assert_eq!(
            told(&outside),
            ["PT_PHDR says that the program headers are loaded to 0x90000, where no segment is"]
        );
        let none = changed(
            &Sample {
                is_program: true,
                ..kpack()
            },
            |segments, _| {
                segments[0].kind = 0;
                load(segments, 2).kind = 0;
            },
        );
        assert!(
            told(&none)[0].ends_with("are not all in one loaded segment"),
            "{:?}",
            told(&none)
        );
    }

    /// Without a `PT_PHDR`, glibc goes by pages: `dl_iterate_phdr` tells of zeros, and exceptions
    /// end the program.
    #[test]
    fn program_headers_on_the_last_page_of_another_segment_are_a_fault() {
        let sample = Sample {
            headers: Headers::AtEnd { spare: 0, gap: 0 },
            ..library()
        };
        let bytes = changed(&sample, |segments, _| segments[0].kind = 0);
        assert_eq!(told(&bytes), [""; 0], "they have a page of their own");
        let elf = Elf::read(&bytes).unwrap();
        let (format, from) = (
            elf.header().format,
            usize::try_from(elf.header().segments_offset).unwrap(),
        );
        let (count, size) = (elf.segments().len(), elf.segments().len() * 56);
        // Into the first page of the file, behind all that is in it.
        let end = usize::try_from(elf.header().sections_offset).unwrap() + 0x500;
        let mut near = bytes.clone();
        near[end..end + size].copy_from_slice(&bytes[from..from + size]);
        let mut cover = elf.segments()[3];
        assert!(cover.is_load());
        cover.offset = end as u64;
        cover.address += (end % 4096) as u64;
        near[end + 3 * 56..end + 4 * 56].copy_from_slice(&cover.to_bytes(format));
        Header::put_segments(format, &mut near, end as u64, u16::try_from(count).unwrap());
        assert_eq!(
            told(&near),
            [
                "glibc takes zeros behind the segment at 0x0 for the program headers, as no PT_PHDR names them"
            ]
        );
    }

    /// `strip` drops strings that patchelf or an edit has put behind everything else.
    #[test]
    fn tables_that_are_not_loaded_are_faults() {
        let set = |tag: u64, value: u64| {
            let source = changed(&library(), move |_, entries| {
                for entry in entries.iter_mut().filter(|entry| entry.tag == tag) {
                    entry.value = value;
                }
            });
            told(&source).first().cloned().unwrap_or_default()
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
        assert!(told(&nowhere)[0].starts_with("the dynamic table, of "));
    }

    /// An editor that renames what is needed, but not of what versions are needed: glibc stops on
    /// an assertion.
    #[test]
    fn versions_of_a_library_that_is_not_needed_are_a_fault() {
        let sample = Sample {
            needed: vec!["libc.so.6", "libfoo-renamed.so.1"],
            ..library()
        };
        let expected = "symbol versions are needed of `libfoo.so.1`, but the library itself is not";
        assert_eq!(told(&sample.build()), [expected]);
    }

    #[test]
    fn section_headers_outside_of_the_file_are_a_fault() {
        let source = library().build();
        let (elf, mut bytes) = (Elf::read(&source).unwrap(), sample::bytes(&source));
        let count = elf.header().section_count;
        Header::put_sections(
            elf.header().format,
            &mut bytes,
            source.size_bytes(),
            count,
            count - 1,
        );
        assert!(
            told(&bytes)[0].starts_with(
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
                let _ = told(&bytes);
            }
        }
    }
}
