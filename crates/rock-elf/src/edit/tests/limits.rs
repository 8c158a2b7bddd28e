//! Large files and limits.

use super::*;

#[test]
fn a_library_of_5_gib_is_edited_without_being_held() {
    for headers in [
        HeaderPlacement::AtStart,
        HeaderPlacement::AtEnd { spare: 0, gap: 0 },
        HeaderPlacement::AtEnd {
            spare: 2,
            gap: 0x20_0000,
        },
    ] {
        for nulls in [1, 5] {
            let sample = ElfSample {
                fat: 5 << 30,
                headers,
                nulls,
                ..library()
            };
            full(&sample);
            let source = sample.build();
            let patch = edit(&source, &edits()).unwrap();
            assert!(source.size_bytes() > 5 << 30 && patch.tail().1.len() < 8192);
            let elf = Elf::read(&PatchedFile::new(&source, &patch)).unwrap();
            assert!(elf.segment(segment_type::DYNAMIC).unwrap().offset > 4 << 30);
        }
    }
}

/// A program whose memory exceeds its file by one page more than the limit is refused.
#[test]
fn zeros_are_added_up_to_the_limit() {
    let page = program().page;
    let source = program().build();
    let size = source.size_bytes().next_multiple_of(page);
    let source = source.with(size - 1, vec![0]);
    let edited = |padding: u64| {
        let source = source.clone().with_segments(|segment| {
            if segment.is_load() && segment.flags & segment_flag::WRITE != 0 {
                segment.memory_size = size + padding - segment.address;
            }
        });
        edit(&source, &rpath("$ORIGIN/a/long/way")).map(|patch| patch.tail().0 - size)
    };
    assert_eq!(
        edited(MAX_EDIT_PADDING_BYTES).unwrap(),
        MAX_EDIT_PADDING_BYTES
    );
    let message = edited(MAX_EDIT_PADDING_BYTES + page)
        .unwrap_err()
        .to_string();
    assert_eq!(
        message,
        "it cannot be edited: 1073745920 bytes of zeros would have to be added"
    );
}

/// The last library and version within the limit are protected from overwrites; later ones are not.
#[test]
fn versions_are_guarded_up_to_the_limit() {
    let source = ElfSample {
        fat: 1 << 20,
        ..library()
    }
    .build();
    let blank = source.blank();
    let limit = usize::try_from(MAX_GUARDED_VERSIONS).unwrap();
    let number = |number: u16| number.to_le_bytes().to_vec();
    let library = [
        number(1),
        number(0),
        vec![0; 4],
        vec![16, 0, 0, 0, 16, 0, 0, 0],
    ]
    .concat();
    let many = number(u16::try_from(limit + 1).unwrap());
    let one = [number(1), many, vec![0; 4], vec![16, 0, 0, 0, 0, 0, 0, 0]].concat();
    let version = [vec![0; 12], vec![16, 0, 0, 0]].concat();
    for (table, last) in [
        (library.repeat(limit + 1), limit - 1),
        ([one, version.repeat(limit + 1)].concat(), limit),
    ] {
        let bytes =
            sample::bytes(&source.clone().with(blank, table).with_entries(
                |entry| match entry.tag {
                    tag::VERNEED => entry.value = blank,
                    tag::VERNEEDNUM => entry.value = u64::MAX,
                    _ => {}
                },
            ));
        let elf = Elf::read(&bytes).unwrap();
        let check = |entry: usize| {
            let mut patch = ElfPatch::unchanged(elf.size_bytes());
            patch.replace(blank + entry as u64 * 16, &[0], &[1]);
            pinned_tables::check_versions(&elf, &bytes, &patch)
        };
        assert_eq!(
            check(last).unwrap_err().to_string(),
            "it cannot be edited: its tables overlap"
        );
        assert!(check(last + 1).is_ok());
    }
}
