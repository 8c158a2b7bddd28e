//! Stripping: drops symbols for linking and debugging, and notes of compilers.
//!
//! Input: a file behind [`ReadAt`]. Output: an [`ElfPatch`] that truncates the file after its
//! loaded bytes and appends headers of the remaining sections. Strip before [`edit`](super::edit):
//! data that an edit appends keeps everything before it in the file.

use super::limits::MAX_STRIP_PADDING_BYTES;
use super::{
    Elf, ElfError, ElfHeader, ElfPatch, PatchedFile, ProgramHeader, SectionHeader, machine,
    section_type,
};
use rock_bytes::ReadAt;

/// Sections that are kept although they may not be marked as loaded: code for GPUs, and references
/// to it (clang `ClangOffloadBundler`; ROCm's kpack).
const KEPT_SECTIONS: [&str; 3] = [".hip_fatbin", ".hipFatBinSegment", ".rocm_kpack_ref"];
const NAME_SECTION: &str = ".shstrtab";
/// The first section number that does not fit into 16 bits (gABI, `SHN_LORESERVE`).
const FIRST_RESERVED: usize = 0xff00;
/// `ET_REL`: an object file for linking (gABI, chapter 4, `e_type`).
const RELOCATABLE: u16 = 1;
/// Returns `true` for object files and code objects: their contents are in their sections.
fn is_never_stripped(header: &ElfHeader) -> bool {
    header.kind == RELOCATABLE || header.machine == machine::AMDGPU
}

/// Returns the patch that drops all sections that are not loaded.
///
/// Loaded bytes do not move. Section numbers, to which symbols refer, stay the same: a dropped
/// section before a kept one leaves an empty header. The patch is empty if there is nothing to
/// drop, and for object files and code objects.
///
/// # Errors
/// Fails if the file is not an ELF file, if a table lies outside of it, or if data that no section
/// covers follows its end.
pub fn strip(source: &dyn ReadAt) -> Result<ElfPatch, ElfError> {
    let elf = Elf::read(source)?;
    let mut patch = ElfPatch::unchanged(elf.size_bytes());
    if is_never_stripped(elf.header()) {
        return Ok(patch);
    }
    let sections = elf.sections(source)?;
    let names_at = usize::from(elf.header().name_section_index);
    let is_dropped = |index: usize, section: &SectionHeader| {
        !section.is_alloc()
            && section.kind != section_type::NULL
            && index != names_at
            && !is_kept(section)
    };
    if !sections
        .iter()
        .enumerate()
        .any(|(index, section)| is_dropped(index, section))
    {
        return Ok(patch);
    }
    check_trailing_bytes(&elf, &sections)?;
    let stays = |section: &SectionHeader| section.is_alloc() || is_kept(section);
    let kept = sections
        .iter()
        .filter(|section| stays(section))
        .map(section_end);
    let end = kept.chain([loader_end(&elf)]).max().unwrap_or_default();
    if end > elf.size_bytes() {
        return Err(ElfError::OutOfBounds {
            what: "a section",
            offset: end,
            container: "the file",
        });
    }
    let last = sections.iter().rposition(stays).unwrap_or(0);
    let (table, names) = kept_tables(&sections[..=last], stays);
    append_section_headers(&elf, source, &mut patch, end, (table, names))?;
    // The ELF header is overwritten, and another table may overlap it.
    let after = Elf::read(&PatchedFile::new(source, &patch))?;
    if after.segments() != elf.segments() || after.dynamic_entries() != elf.dynamic_entries() {
        return Err(ElfError::not_editable("its tables overlap"));
    }
    Ok(patch)
}

fn is_kept(section: &SectionHeader) -> bool {
    KEPT_SECTIONS.contains(&section.name.as_str())
}

fn section_end(section: &SectionHeader) -> u64 {
    if section.is_nobits() || section.kind == section_type::NULL {
        return 0;
    }
    section.offset.saturating_add(section.size)
}

/// Returns the file offset after the last byte that a loader may read.
fn loader_end(elf: &Elf) -> u64 {
    let header = elf.header();
    let headers = header.segments_offset
        + (ProgramHeader::header_size(header.format.class) * elf.segments().len()) as u64;
    let segments = elf
        .segments()
        .iter()
        .map(ProgramHeader::file_end)
        .max()
        .unwrap_or_default();
    segments
        .min(elf.size_bytes())
        .max(headers)
        .max(ElfHeader::size(header.format.class) as u64)
}

/// Rejects files with more data after their end than padding: it may be another file, such as an
/// archive, and would be lost.
fn check_trailing_bytes(elf: &Elf, sections: &[SectionHeader]) -> Result<(), ElfError> {
    let header = elf.header();
    let table = header.sections_offset
        + (SectionHeader::header_size(header.format.class) * sections.len()) as u64;
    let known = sections
        .iter()
        .map(section_end)
        .chain([table, loader_end(elf)])
        .max()
        .unwrap_or_default();
    match elf.size_bytes().checked_sub(known) {
        Some(more) if more > MAX_STRIP_PADDING_BYTES => Err(ElfError::not_editable(format!(
            "{more} bytes follow its end, which stripping would lose"
        ))),
        _ => Ok(()),
    }
}

/// Returns the headers of the kept sections, and their names. The offset and size of the last
/// section, which holds the names, are still to be set.
fn kept_tables(
    sections: &[SectionHeader],
    stays: impl Fn(&SectionHeader) -> bool,
) -> (Vec<SectionHeader>, Vec<u8>) {
    let mut names = vec![0];
    let mut place = |name: &str| {
        let offset = u32::try_from(names.len()).unwrap_or_default();
        names.extend_from_slice(name.as_bytes());
        names.push(0);
        offset
    };
    let links = |index: u32| sections.get(index as usize).is_some_and(&stays);
    let mut table: Vec<SectionHeader> = sections
        .iter()
        .map(|section| {
            if !stays(section) {
                return SectionHeader::default();
            }
            SectionHeader {
                name_offset: if section.name.is_empty() {
                    0
                } else {
                    place(&section.name)
                },
                link: if links(section.link) { section.link } else { 0 },
                ..section.clone()
            }
        })
        .collect();
    let own = SectionHeader {
        name_offset: place(NAME_SECTION),
        kind: section_type::STRTAB,
        align: 1,
        ..SectionHeader::default()
    };
    table.push(own);
    (table, names)
}

fn append_section_headers(
    elf: &Elf,
    source: &dyn ReadAt,
    patch: &mut ElfPatch,
    end: u64,
    (mut table, names): (Vec<SectionHeader>, Vec<u8>),
) -> Result<(), ElfError> {
    let format = elf.header().format;
    let (count, own) = (table.len(), table.len() - 1);
    table[own].offset = end;
    table[own].size = names.len() as u64;
    // Numbers that 16 bits cannot hold are in the first header (gABI, `e_shnum`, `e_shstrndx`).
    let (mut short_count, mut short_own) = (count, own);
    if count >= FIRST_RESERVED {
        (short_count, table[0].size) = (0, count as u64);
    }
    if own >= FIRST_RESERVED {
        (short_own, table[0].link) = (
            usize::from(u16::MAX),
            u32::try_from(own).unwrap_or_default(),
        );
    }
    let mut tail = names;
    let at = (end + tail.len() as u64).next_multiple_of(format.word_bytes() as u64);
    tail.resize(usize::try_from(at - end).unwrap_or(0), 0);
    tail.extend(table.iter().flat_map(|section| section.to_bytes(format)));

    let mut bytes = vec![0; ElfHeader::size(format.class)];
    source
        .read_exact_at(&mut bytes, 0)
        .map_err(ElfError::from_read("the file header", 0))?;
    let old = bytes.clone();
    let short = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
    ElfHeader::write_section_header_table(
        format,
        &mut bytes,
        at,
        short(short_count),
        short(short_own),
    );
    patch.truncate(end);
    patch.replace(0, &old, &bytes);
    patch.append(end, tail);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::sample::{self, ElfSample, HeaderPlacement, library, program};
    use super::super::{Elf, ElfEdits, PatchedFile, SearchPathEdit, edit, machine, verify};
    use super::{MAX_STRIP_PADDING_BYTES, strip};
    use rock_bytes::ReadAt;

    fn names(source: &dyn ReadAt) -> Vec<String> {
        let sections = Elf::read(source).unwrap().sections(source).unwrap();
        sections
            .into_iter()
            .skip(1)
            .map(|section| section.name)
            .collect()
    }

    /// `e_shentsize` is only checked if `e_shnum` is not 0.
    #[test]
    fn a_file_that_counts_its_sections_elsewhere_can_be_read_when_it_is_stripped() {
        let source = library().build();
        let mut bytes = sample::bytes(&source);
        let elf = Elf::read(&source).unwrap();
        let at = usize::try_from(elf.header().sections_offset).unwrap();
        let count = u64::from(elf.header().section_count);
        // `sh_size` of the first header, `e_shentsize` and `e_shnum`.
        bytes[at + 32..at + 40].copy_from_slice(&count.to_le_bytes());
        bytes[58..62].fill(0);
        assert_eq!(names(&bytes).len() as u64 + 1, count);
        let patch = strip(&bytes).unwrap();
        assert!(!patch.is_empty());
        assert_eq!(
            names(&PatchedFile::new(&bytes, &patch)),
            names(&PatchedFile::new(&source, &strip(&source).unwrap()))
        );
    }

    #[test]
    fn what_is_not_loaded_goes_and_what_is_loaded_stays_where_it_is() {
        for sample in sample::all() {
            let source = sample.build();
            let patch = strip(&source).unwrap();
            let stripped = PatchedFile::new(&source, &patch);
            assert_eq!(verify(&stripped), []);
            let expected = [
                ".hash",
                ".dynsym",
                ".gnu.version",
                ".gnu.version_r",
                ".dynstr",
                ".hip_fatbin",
                ".dynamic",
                ".data",
                ".shstrtab",
            ];
            assert_eq!(names(&stripped), expected);
            let (before, after) = (Elf::read(&source).unwrap(), Elf::read(&stripped).unwrap());
            assert_eq!(
                (before.segments(), before.dynamic_entries()),
                (after.segments(), after.dynamic_entries())
            );
            let end = usize::try_from(before.loaded_end()).unwrap();
            let (old, new) = (sample::bytes(&source), sample::bytes(&stripped));
            assert_eq!(old[64..end], new[64..end]);
            assert!(new.len() + 500 < old.len());
            let sections = before.sections(&source).unwrap();
            let left = after.sections(&stripped).unwrap();
            assert_eq!(
                left[..left.len() - 1]
                    .iter()
                    .map(|one| (one.address, one.offset, one.size, one.link, one.info))
                    .collect::<Vec<_>>(),
                sections[..left.len() - 1]
                    .iter()
                    .map(|one| (one.address, one.offset, one.size, one.link, one.info))
                    .collect::<Vec<_>>()
            );
            assert!(
                strip(&stripped).unwrap().is_empty(),
                "the second time, nothing is left to drop"
            );
        }
    }

    #[test]
    fn a_stripped_file_is_edited_and_an_edited_one_stays_whole() {
        let rpath = ElfEdits {
            rpath: SearchPathEdit::Rpath("$ORIGIN/x.libs".to_owned()),
            ..ElfEdits::default()
        };
        let at_end = HeaderPlacement::AtEnd {
            spare: 0,
            gap: 0x20_0000,
        };
        for sample in [
            library(),
            program(),
            ElfSample {
                headers: at_end,
                ..library()
            },
        ] {
            let source = sample.build();
            let cut = strip(&source).unwrap();
            let stripped = PatchedFile::new(&source, &cut);
            let patch = edit(&stripped, &rpath).unwrap();
            assert_eq!(verify(&PatchedFile::new(&stripped, &patch)), []);

            let patch = edit(&source, &rpath).unwrap();
            let edited = PatchedFile::new(&source, &patch);
            let cut = strip(&edited).unwrap();
            let late = PatchedFile::new(&edited, &cut);
            assert_eq!(verify(&late), []);
            assert_eq!(
                Elf::read(&late).unwrap().segments(),
                Elf::read(&edited).unwrap().segments()
            );
        }
    }

    #[test]
    fn code_for_gpus_stays_even_where_it_is_not_loaded_and_numbers_of_sections_stay() {
        let source = library().build();
        let mut bytes = sample::bytes(&source);
        let elf = Elf::read(&source).unwrap();
        let sections = elf.sections(&source).unwrap();
        let debug = sections
            .iter()
            .position(|section| section.name == ".debug_info")
            .unwrap();
        let names_at =
            usize::try_from(sections[usize::from(elf.header().name_section_index)].offset).unwrap();
        let at = names_at + sections[debug].name_offset as usize;
        bytes[at..at + 12].copy_from_slice(b".hip_fatbin\0");
        let patch = strip(&bytes).unwrap();
        let stripped = PatchedFile::new(&bytes, &patch);
        let left = Elf::read(&stripped).unwrap().sections(&stripped).unwrap();
        assert_eq!(
            (left[debug].name.as_str(), left[debug].offset),
            (".hip_fatbin", sections[debug].offset)
        );
        assert_eq!(
            left[debug - 1],
            super::SectionHeader::default(),
            "the place of one that was dropped"
        );
        let mut kept = vec![0; 500];
        stripped
            .read_exact_at(&mut kept, left[debug].offset)
            .unwrap();
        assert_eq!(kept, [7; 500]);
    }

    #[test]
    fn a_library_of_5_gib_is_cut_without_being_held() {
        let source = ElfSample {
            fat: 5 << 30,
            ..library()
        }
        .build();
        let patch = strip(&source).unwrap();
        assert!(
            patch.kept_bytes() > 5 << 30
                && patch.tail().1.len() < 4096
                && patch.overwrites().len() < 10
        );
        assert_eq!(verify(&PatchedFile::new(&source, &patch)), []);
    }

    #[test]
    fn objects_and_code_objects_and_files_without_sections_are_left_alone() {
        for sample in [
            ElfSample {
                kind: 1,
                ..library()
            },
            ElfSample {
                machine: machine::AMDGPU,
                ..library()
            },
            ElfSample {
                has_sections: false,
                ..library()
            },
        ] {
            assert!(strip(&sample.build()).unwrap().is_empty());
        }
    }

    #[test]
    fn another_file_behind_the_end_is_not_lost() {
        let mut bytes = sample::bytes(&library().build());
        bytes.extend(vec![0; usize::try_from(MAX_STRIP_PADDING_BYTES).unwrap()]);
        assert!(!strip(&bytes).unwrap().is_empty());
        bytes.push(b'P');
        let message = strip(&bytes).unwrap_err().to_string();
        assert_eq!(
            message,
            "it cannot be edited: 4097 bytes follow its end, which stripping would lose"
        );
    }

    #[test]
    fn program_headers_over_the_file_header_are_not_stripped_away() {
        let mut bytes = sample::bytes(&library().build());
        let elf = Elf::read(&bytes).unwrap();
        let table: Vec<u8> = elf.segments()[..1]
            .iter()
            .flat_map(|one| one.to_bytes(elf.header().format))
            .collect();
        // One program header is left, which begins inside of the file header, with the counts of
        // both tables in it.
        let header = bytes[..64].to_vec();
        bytes[48..104].copy_from_slice(&table);
        bytes[..64].copy_from_slice(&header);
        bytes[32..40].copy_from_slice(&48_u64.to_le_bytes());
        bytes[56] = 1;
        let before = Elf::read(&bytes).unwrap();
        assert_eq!(before.segments().len(), 1);
        assert_eq!(
            strip(&bytes).unwrap_err().to_string(),
            "it cannot be edited: its tables overlap"
        );
    }

    #[test]
    fn a_damaged_file_is_stripped_or_refused_but_never_a_panic() {
        let whole = sample::bytes(&library().build());
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] = 0xff;
            if let Ok(patch) = strip(&bytes) {
                let _ = verify(&PatchedFile::new(&bytes, &patch));
            }
            let _ = strip(&whole[..at].to_vec());
        }
    }
}
