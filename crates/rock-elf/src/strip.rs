//! Drops what loading does not need: symbols for linking and debugging, notes of compilers.
//!
//! In: a file behind [`ReadAt`]. Out: a [`Patch`] that cuts the file behind what is loaded and
//! appends section headers for what is left. It comes before [`edit`](super::edit): what an edit
//! appends keeps everything before it.

use super::limits::MAX_STRIP_PADDING_BYTES;
use super::{Elf, ElfError, Header, Patch, Patched, Section, Segment, machine, section_type};
use rock_bytes::ReadAt;

/// Sections that stay although they may not be marked as loaded: code for GPUs, and what leads to
/// it (clang `ClangOffloadBundler`; ROCm's kpack).
const KEPT: [&str; 3] = [".hip_fatbin", ".hipFatBinSegment", ".rocm_kpack_ref"];
const NAMES: &str = ".shstrtab";
/// The first number that does not fit into the 16 bits for numbers of sections (gABI,
/// `SHN_LORESERVE`).
const FIRST_RESERVED: usize = 0xff00;
/// `ET_REL`: an object for linking (gABI, chapter 4, `e_type`).
const RELOCATABLE: u16 = 1;
/// Objects for linking and code objects are left as they are: what they are made of is in their
/// sections.
fn is_left(header: &Header) -> bool {
    header.kind == RELOCATABLE || header.machine == machine::AMDGPU
}

/// Drops all sections that are not loaded. Loaded bytes stay where they are, and so do the numbers
/// of sections, as symbols tell them: the header of one that is dropped before others becomes an
/// empty one. The patch is empty where there is nothing to drop, and for objects and code objects.
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
    check_end(&elf, &sections)?;
    let stays = |section: &Section| section.is_alloc() || is_kept(section);
    let kept = sections
        .iter()
        .filter(|section| stays(section))
        .map(section_end);
    let end = kept.chain([ends_of_loader(&elf)]).max().unwrap_or_default();
    if end > elf.size_bytes() {
        return Err(ElfError::Outside {
            what: "a section",
            offset: end,
            of: "the file",
        });
    }
    let last = sections.iter().rposition(stays).unwrap_or(0);
    let (table, names) = tables(&sections[..=last], stays);
    append(&elf, source, &mut patch, end, (table, names))?;
    // The file header is written to, and a table may lie over it.
    let after = Elf::read(&Patched::new(source, &patch))?;
    if after.segments() != elf.segments() || after.dynamic() != elf.dynamic() {
        return Err(ElfError::refused("its tables overlap"));
    }
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
    let headers = header.segments_offset
        + (Segment::bytes(header.format.class) * elf.segments().len()) as u64;
    let segments = elf
        .segments()
        .iter()
        .map(Segment::file_end)
        .max()
        .unwrap_or_default();
    segments
        .min(elf.size_bytes())
        .max(headers)
        .max(Header::bytes(header.format.class) as u64)
}

/// Bytes behind the end may be another file, such as an archive, that would be lost.
fn check_end(elf: &Elf, sections: &[Section]) -> Result<(), ElfError> {
    let header = elf.header();
    let table =
        header.sections_offset + (Section::bytes(header.format.class) * sections.len()) as u64;
    let known = sections
        .iter()
        .map(section_end)
        .chain([table, ends_of_loader(elf)])
        .max()
        .unwrap_or_default();
    match elf.size_bytes().checked_sub(known) {
        Some(more) if more > MAX_STRIP_PADDING_BYTES => Err(ElfError::refused(format!(
            "{more} bytes follow its end, which stripping would lose"
        ))),
        _ => Ok(()),
    }
}

/// The headers of sections that are left, and their names. Offsets of the names are still to be
/// set.
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
        .map(|section| {
            if !stays(section) {
                return Section::default();
            }
            Section {
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
    let own = Section {
        name_offset: place(NAMES),
        kind: section_type::STRTAB,
        align: 1,
        ..Section::default()
    };
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
        (short_own, table[0].link) = (
            usize::from(u16::MAX),
            u32::try_from(own).unwrap_or_default(),
        );
    }
    let mut tail = names;
    let at = (end + tail.len() as u64).next_multiple_of(format.word_bytes() as u64);
    tail.resize(usize::try_from(at - end).unwrap_or(0), 0);
    tail.extend(table.iter().flat_map(|section| section.to_bytes(format)));

    let mut bytes = vec![0; Header::bytes(format.class)];
    source
        .read_exact_at(&mut bytes, 0)
        .map_err(ElfError::reading("the file header", 0))?;
    let old = bytes.clone();
    let short = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
    Header::put_sections(format, &mut bytes, at, short(short_count), short(short_own));
    patch.cut(end);
    patch.replace(0, &old, &bytes);
    patch.append(end, tail);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::sample::{self, Headers, Sample, library, program};
    use super::super::{Elf, ElfEdits, Patched, SearchPath, edit, machine, verify};
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

    /// The size of an entry counts only where the file header counts entries.
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
            names(&Patched::new(&bytes, &patch)),
            names(&Patched::new(&source, &strip(&source).unwrap()))
        );
    }

    #[test]
    fn what_is_not_loaded_goes_and_what_is_loaded_stays_where_it_is() {
        for sample in sample::all() {
            let source = sample.build();
            let patch = strip(&source).unwrap();
            let stripped = Patched::new(&source, &patch);
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
                (before.segments(), before.dynamic()),
                (after.segments(), after.dynamic())
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
            rpath: SearchPath::Rpath("$ORIGIN/x.libs".to_owned()),
            ..ElfEdits::default()
        };
        let at_end = Headers::AtEnd {
            spare: 0,
            gap: 0x20_0000,
        };
        for sample in [
            library(),
            program(),
            Sample {
                headers: at_end,
                ..library()
            },
        ] {
            let source = sample.build();
            let cut = strip(&source).unwrap();
            let stripped = Patched::new(&source, &cut);
            let patch = edit(&stripped, &rpath).unwrap();
            assert_eq!(verify(&Patched::new(&stripped, &patch)), []);

            let patch = edit(&source, &rpath).unwrap();
            let edited = Patched::new(&source, &patch);
            let cut = strip(&edited).unwrap();
            let late = Patched::new(&edited, &cut);
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
            usize::try_from(sections[usize::from(elf.header().names_section)].offset).unwrap();
        let at = names_at + sections[debug].name_offset as usize;
        bytes[at..at + 12].copy_from_slice(b".hip_fatbin\0");
        let patch = strip(&bytes).unwrap();
        let stripped = Patched::new(&bytes, &patch);
        let left = Elf::read(&stripped).unwrap().sections(&stripped).unwrap();
        assert_eq!(
            (left[debug].name.as_str(), left[debug].offset),
            (".hip_fatbin", sections[debug].offset)
        );
        assert_eq!(
            left[debug - 1],
            super::Section::default(),
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
        let source = Sample {
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
        assert_eq!(verify(&Patched::new(&source, &patch)), []);
    }

    #[test]
    fn objects_and_code_objects_and_files_without_sections_are_left_alone() {
        for sample in [
            Sample {
                kind: 1,
                ..library()
            },
            Sample {
                machine: machine::AMDGPU,
                ..library()
            },
            Sample {
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
                let _ = verify(&Patched::new(&bytes, &patch));
            }
            let _ = strip(&whole[..at].to_vec());
        }
    }
}
