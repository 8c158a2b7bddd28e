//! Wheels made to do harm: whatever they are, a command ends with an error that has a code, has
//! written nothing, and took little memory and time.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;

use crate::support::bundle::{self, part};
use crate::support::elf::Library;
use crate::support::hostile::{Bounds, RawElf, bounded, bounded_to_any};
use crate::support::raw_zip::{RawMember, RawZip, extra_field};
use crate::support::{Project, Wheel, appears};

const NAME: &str = "demo-1.0-cp312-cp312-linux_x86_64.whl";
const BOUNDS: Bounds = Bounds {
    address_mib: 768,
    peak_mib: 128,
    cpu_s: 60,
};

const LOCAL: &[u8] = b"PK\x03\x04";
const CENTRAL: &[u8] = b"PK\x01\x02";

/// Every command that reads a whole wheel.
fn commands() -> [Vec<&'static str>; 7] {
    [
        vec!["wheel", "show", NAME, "--no-host-libs"],
        vec!["wheel", "check", NAME, "--no-host-libs"],
        vec!["wheel", "gfx", NAME],
        vec!["wheel", "verify", NAME],
        vec!["wheel", "repair", NAME, "--no-host-libs", "-w", "fixed"],
        vec!["wheel", "label", NAME, "--local", "rocm62", "-w", "out"],
        vec![
            "wheel",
            "retag",
            NAME,
            "--platform-tag",
            "manylinux_2_28_x86_64",
            "-w",
            "out",
        ],
    ]
}

/// Asserts that each command refuses the wheel with this code and leaves everything as it was.
#[track_caller]
fn refused(bytes: &[u8], code: &str) {
    refused_by(&commands(), bytes, code);
}

#[track_caller]
fn refused_by(commands: &[Vec<&str>], bytes: &[u8], code: &str) {
    let project = Project::new().bytes(NAME, bytes);
    for command in commands {
        let done = bounded(&project, BOUNDS, command, 1);
        assert!(
            done.stderr.starts_with(&format!("error[{code}")),
            "{command:?}: {}",
            done.stderr
        );
        assert!(
            done.stdout.is_empty() || done.stdout.starts_with("failed "),
            "{command:?}: {}",
            done.stdout
        );
        assert_eq!(project.files(), [NAME], "{command:?}");
        assert!(
            std::fs::read(project.path(NAME)).unwrap() == bytes,
            "{command:?}"
        );
    }
}

fn sound() -> Wheel {
    Wheel::named(NAME).executable("demo/_demo.so", RawElf::default().build())
}

/// The positions of all headers of a kind.
fn headers(bytes: &[u8], kind: &[u8]) -> Vec<usize> {
    bytes
        .windows(kind.len())
        .enumerate()
        .filter(|(_, window)| *window == kind)
        .map(|(at, _)| at)
        .collect()
}

fn put(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

#[test]
fn a_sound_wheel_is_taken_by_every_command_within_the_bounds() {
    let project = Project::new().bytes(NAME, &sound().bytes());
    for command in commands() {
        bounded(&project, BOUNDS, &command, 0);
    }
    assert_eq!(project.files().len(), 4, "repaired, labelled and retagged");
}

#[test]
fn a_wheel_cut_off_where_a_structure_begins_or_ends_is_refused() {
    let bytes = sound().bytes();
    let (locals, centrals) = (headers(&bytes, LOCAL), headers(&bytes, CENTRAL));
    let last = *locals.last().unwrap();
    let end = bytes.len() - 22;
    for length in [
        0,
        4,
        30,
        locals[1],
        locals[1] + 30,
        last,
        centrals[0],
        centrals[0] + 46,
        centrals[1],
        end,
        end + 21,
    ] {
        refused(&bytes[..length], "W001 not-a-zip");
    }
}

#[test]
fn members_that_lead_elsewhere_are_refused() {
    for name in [
        "../evil.py",
        "/etc/evil.py",
        "demo/../../evil.py",
        "demo\\evil.py",
        "C:evil.py",
    ] {
        refused(&sound().file(name, "x").bytes(), "W006 unsafe-member-name");
    }
    let mut link = sound().file("demo/link.so", "_demo.so").bytes();
    let at = headers(&link, CENTRAL)[2];
    link[at + 40..at + 42].copy_from_slice(&0o120_777_u16.to_le_bytes());
    refused(&link, "W010 symlink-member");
}

/// The two hundred entries of the table of contents all lead to the same data: what unpacks to 200
/// times as much.
#[test]
fn members_that_share_their_data_are_refused() {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for number in 100..300 {
        writer
            .start_file(format!("m{number}"), SimpleFileOptions::default())
            .unwrap();
        writer.write_all(&vec![0; 20_000]).unwrap();
    }
    let mut bytes = writer.finish().unwrap().into_inner();
    for at in headers(&bytes, CENTRAL) {
        put(&mut bytes, at + 42, 0);
    }
    refused(&bytes, "W008 headers-differ");
}

/// A wheel whose METADATA and module unpack to more than the headers say, or to less.
#[test]
fn sizes_that_lie_are_reported_and_make_no_room() {
    let bytes = sound().file("demo/data.bin", vec![0; 3_000_000]).bytes();
    let number = headers(&bytes, CENTRAL)
        .into_iter()
        .position(|at| bytes[at + 46..].starts_with(b"demo/data.bin"))
        .unwrap();
    for text in [100, 3_000_001, 0xffff_fffe] {
        let mut lying = bytes.clone();
        put(&mut lying, headers(&bytes, LOCAL)[number] + 22, text);
        put(&mut lying, headers(&bytes, CENTRAL)[number] + 24, text);
        // These read every member; of the others' members none lies.
        let readers: Vec<Vec<&str>> = commands()[1..5]
            .iter()
            .filter(|one| one[1] != "gfx")
            .cloned()
            .collect();
        refused_by(&readers, &lying, "W012 corrupt-member");
    }
    // As much as the size of its data allows.
    let bytes = Wheel::named(NAME)
        .executable("demo/_demo.so", with_noise(RawElf::default().build()))
        .bytes();
    let (local, central) = (headers(&bytes, LOCAL)[1], headers(&bytes, CENTRAL)[1]);
    for text in [100, 0x00ff_ffff, 0xffff_fffe] {
        let mut lying = bytes.clone();
        put(&mut lying, local + 22, text);
        put(&mut lying, central + 24, text);
        let project = Project::new().bytes(NAME, &lying);
        for command in &commands()[..5] {
            // `show` and `gfx` read only as far as there is something to judge.
            let reads_all = !["show", "gfx"].contains(&command[1]);
            let stderr = bounded(&project, BOUNDS, command, i32::from(reads_all)).stderr;
            if !reads_all {
                continue;
            }
            assert!(
                ["W012 ", "E001 "].iter().any(|one| stderr.contains(one)),
                "{text} {command:?}: {stderr}"
            );
        }
        assert_eq!(project.files(), [NAME]);
    }
}

/// Appends 5 MiB that do not compress, so that the headers of a deflated file may claim up to 4
/// GiB.
fn with_noise(mut library: Vec<u8>) -> Vec<u8> {
    let mut state = 1_u32;
    library.extend((0..5 << 20).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    }));
    library
}

/// Deflated data inflates to at most 1032 times its size, so that the sizes of all members have a
/// sum.
#[test]
fn sizes_that_no_data_of_an_archive_has_are_refused() {
    for (method, code) in [(8, "W012 corrupt-member"), (0, "W002 damaged-zip")] {
        let archive = RawZip::read(&sound().bytes()).with(|archive| {
            for name in ["demo/a.so", "demo/b.so"] {
                let sizes =
                    [u64::MAX, if method == 0 { u64::MAX } else { 2 }].map(u64::to_le_bytes);
                let extra = extra_field(1, &sizes.concat());
                // An empty last block.
                archive.members.push(RawMember {
                    method,
                    sizes: Some([u32::MAX; 2]),
                    local_extra: extra.clone(),
                    central_extra: extra,
                    ..RawMember::new(name, b"\x03\0")
                });
            }
        });
        refused(&archive.bytes(), code);
    }
}

/// The headers of a small member say 4 GiB, and the library in it that its tables have 3 GiB of it.
#[test]
fn a_library_that_claims_gigabytes_makes_no_room_for_them() {
    let large = 3 << 30;
    let elf = RawElf {
        claimed_loaded: Some(large),
        claimed_strings: Some(large - 4096),
        ..RawElf::default()
    };
    let mut bytes = Wheel::named(NAME)
        .executable("demo/_demo.so", with_noise(elf.build()))
        .bytes();
    let at = (headers(&bytes, LOCAL)[1], headers(&bytes, CENTRAL)[1]);
    put(&mut bytes, at.0 + 22, 0xffff_fff0);
    put(&mut bytes, at.1 + 24, 0xffff_fff0);
    let project = Project::new().bytes(NAME, &bytes);
    let done = bounded(
        &project,
        BOUNDS,
        &["wheel", "show", NAME, "--no-host-libs"],
        0,
    );
    assert!(
        done.stderr.contains("[E001 damaged-elf]"),
        "{}",
        done.stderr
    );
    bounded(&project, BOUNDS, &["wheel", "verify", NAME], 1);
}

/// Zeros deflate to a thousandth of their size.
#[test]
fn bombs_stream_through_little_memory() {
    let mut library = RawElf::default().build();
    library.resize(300 << 20, 0);
    let bytes = Wheel::named(NAME)
        .executable("demo/_demo.so", library)
        .file("demo/zeros", vec![0; 50 << 20])
        .bytes();
    assert!(bytes.len() < 1 << 20);
    let project = Project::new().bytes(NAME, &bytes);
    for command in commands() {
        bounded(&project, BOUNDS, &command, 0);
    }
}

/// Behind what is loaded every piece has the name of the table of section names.
#[test]
fn names_of_sections_without_end_fill_no_memory() {
    let mut library = RawElf::default().build();
    library.resize(40 << 20, 0);
    let mut piece = b".shstrtab\0".to_vec();
    piece.resize(64 << 10, 0);
    library.extend(piece.repeat((260 << 20) / piece.len()));
    let bytes = Wheel::named(NAME)
        .executable("demo/_demo.so", library)
        .bytes();
    assert!(bytes.len() < 1 << 20);
    let project = Project::new().bytes(NAME, &bytes);
    for command in commands() {
        bounded(&project, BOUNDS, &command, 0);
    }
}

#[test]
fn text_files_of_dist_info_that_are_bombs_are_not_read() {
    // `gfx` reads none of them.
    let readers: Vec<Vec<&str>> = commands()
        .into_iter()
        .filter(|command| command[1] != "gfx")
        .collect();
    for file in ["METADATA", "WHEEL", "RECORD"] {
        let bytes = sound()
            .edit(file, |text| text + &"\n".repeat(100 << 20))
            .bytes();
        refused_by(&readers, &bytes, "W017 member-too-large");
    }
}

/// Sixteen million rows of RECORD and five million lines of METADATA are within the sizes of these
/// files.
#[test]
fn text_files_of_dist_info_with_too_many_lines_are_refused() {
    let bounds = Bounds {
        peak_mib: 176,
        ..BOUNDS
    };
    for (file, line, count, code) in [
        ("RECORD", "a,,\n", 1 << 24, "W023"),
        ("METADATA", "a:\n", 5 << 20, "W055"),
    ] {
        let bytes = sound().edit(file, move |_| line.repeat(count)).bytes();
        let project = Project::new().bytes(NAME, &bytes);
        for command in [&commands()[0], &commands()[3]] {
            let stderr = bounded(&project, bounds, command, 1).stderr;
            assert!(
                stderr.starts_with(&format!("error[{code} ")),
                "{command:?}: {stderr}"
            );
        }
    }
}

/// A parser that calls itself for each parenthesis would overflow the stack.
#[test]
fn requirements_of_100000_parentheses_are_refused() {
    let (open, close) = ("(".repeat(100_000), ")".repeat(100_000));
    let markers = [
        format!("a; {open}os_name == 'x'{close}"),
        format!("a; {open}"),
        format!("a; os_name == 'x'{close}"),
    ];
    let heads = [
        format!("a {open}"),
        format!("a {open}>=1{close}"),
        "a[".repeat(100_000),
    ];
    for requirement in markers.iter().chain(&heads) {
        let project = Project::new().bytes(NAME, &sound().requires(requirement).bytes());
        for command in [&commands()[1], &commands()[3]] {
            let stderr = bounded(&project, BOUNDS, command, 1).stderr;
            assert!(
                stderr.starts_with("error[W113 bad-requirement]"),
                "{command:?}: {stderr:.200}"
            );
        }
    }
}

#[test]
fn seventy_thousand_members_are_no_matter() {
    let info = "demo-1.0.dist-info";
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let mut record = String::new();
    let mut add = |name: &str, content: &str| {
        writer
            .start_file(name, SimpleFileOptions::default())
            .unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    };
    for number in 0..70_000 {
        let name = format!("demo/m{number}.txt");
        add(&name, "");
        record.push_str(&format!(
            "{name},sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n"
        ));
    }
    let texts = [
        (
            "METADATA",
            "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n",
        ),
        (
            "WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp312-cp312-linux_x86_64\n",
        ),
    ];
    for (file, text) in texts {
        let name = format!("{info}/{file}");
        add(&name, text);
        let row = rock_matrix::wheel::record::RecordRow::for_content(&name, text.as_bytes());
        record.push_str(&format!("{name},{},{}\n", row.hash, row.size));
    }
    record.push_str(&format!("{info}/RECORD,,\n"));
    add(&format!("{info}/RECORD"), &record);
    let project = Project::new().bytes(NAME, &writer.finish().unwrap().into_inner());
    for command in commands() {
        bounded(&project, BOUNDS, &command, 0);
    }
    let labelled = "out/demo-1.0+rocm62-cp312-cp312-linux_x86_64.whl";
    bounded(&project, BOUNDS, &["wheel", "verify", labelled], 0);
}

/// What `show` says of a wheel with this library, which must not take long.
#[track_caller]
fn stderr_for(elf: &RawElf) -> String {
    let bytes = Wheel::named(NAME)
        .executable("demo/_demo.so", elf.build())
        .bytes();
    let project = Project::new().bytes(NAME, &bytes);
    bounded(
        &project,
        BOUNDS,
        &["wheel", "show", NAME, "--no-host-libs"],
        0,
    )
    .stderr
}

#[track_caller]
fn damaged(elf: &RawElf, reason: &str) {
    let stderr = stderr_for(elf);
    assert!(
        stderr.contains("[E001 damaged-elf]") && stderr.contains(reason),
        "{stderr}"
    );
}

const NEEDED: u64 = 1;
const HASH: u64 = 4;
const SYMTAB: u64 = 6;
const RPATH: u64 = 15;
const GNU_HASH: u64 = 0x6fff_fef5;
const VERNEED: u64 = 0x6fff_fffe;
const VERNEEDNUM: u64 = 0x6fff_ffff;

#[test]
fn counts_of_symbols_that_no_file_holds_are_damage() {
    let symbols = (SYMTAB, vec![0; 240]);
    let hash = [1_u32, u32::MAX, 0, 0].map(u32::to_le_bytes).concat();
    damaged(
        &RawElf {
            tables: vec![symbols.clone(), (HASH, hash)],
            ..RawElf::default()
        },
        "the dynamic symbols",
    );
    // The last bucket leads far away.
    let far = [1_u32, 1, 0, 0, 0x0fff_0000].map(u32::to_le_bytes).concat();
    damaged(
        &RawElf {
            tables: vec![symbols.clone(), (GNU_HASH, far)],
            ..RawElf::default()
        },
        "the GNU hash table",
    );
    let buckets = [u32::MAX, 1, 0, 0].map(u32::to_le_bytes).concat();
    damaged(
        &RawElf {
            tables: vec![symbols, (GNU_HASH, buckets)],
            ..RawElf::default()
        },
        "the GNU hash table",
    );
}

/// One chain that holds every bucket, and never the name that is looked for.
#[test]
fn a_chain_of_a_million_links_is_not_walked() {
    let mut table = [1_u32, 1, 0, 0, 1].map(u32::to_le_bytes).concat();
    table.extend(vec![0; 4 << 20]);
    table.extend(1_u32.to_le_bytes());
    let elf = RawElf {
        tables: vec![(SYMTAB, vec![0; 25 << 20]), (GNU_HASH, table)],
        ..RawElf::default()
    };
    damaged(
        &elf,
        "a chain of the GNU hash table has more than 65536 links",
    );
}

#[test]
fn symbol_versions_that_overlap_or_lead_away_are_damage() {
    let entry = |versions: u16, first: u32, next: u32| {
        [
            &[1, 0][..],
            &versions.to_le_bytes(),
            &[0; 4],
            &first.to_le_bytes(),
            &next.to_le_bytes(),
        ]
        .concat()
    };
    let elf = |table: Vec<u8>| RawElf {
        tables: vec![(VERNEED, table)],
        entries: vec![(VERNEEDNUM, u64::MAX)],
        ..RawElf::default()
    };
    // Each entry has 65,535 versions, which are the entries that follow, each one byte after the
    // other.
    let overlapping = [entry(u16::MAX, 1, 1), vec![1; 200_000]].concat();
    assert!(stderr_for(&elf(overlapping)).contains("[E001 damaged-elf]"));
    let repeated = entry(1000, 16, 16).repeat(2000);
    assert!(stderr_for(&elf(repeated)).contains("[E001 damaged-elf]"));
    assert!(stderr_for(&elf(entry(1, 16, u32::MAX))).contains("[E001 damaged-elf]"));
    damaged(
        &elf(entry(0, 16, u32::MAX)),
        "the table of needed symbol versions",
    );
}

#[test]
fn a_hundred_thousand_needed_libraries_are_too_many() {
    let entries = (0..100_000).map(|number| (NEEDED, 1 + number)).collect();
    let strings = "a\0".repeat(60_000).into_bytes();
    damaged(
        &RawElf {
            strings,
            entries,
            ..RawElf::default()
        },
        "it needs 100000 libraries, more than 4096",
    );
}

/// Each of a hundred thousand names is a megabyte long, and all of them are the same megabyte.
#[test]
fn names_that_overlap_take_no_memory() {
    let strings = vec![b'a'; 1 << 20];
    let entries = (0..100_000).map(|number| (NEEDED, 1 + number)).collect();
    damaged(
        &RawElf {
            strings: strings.clone(),
            entries,
            ..RawElf::default()
        },
        "its names overlap more than names can",
    );
    let symbol = [&1_u32.to_le_bytes()[..], &[0x12, 0, 0, 0], &[0; 16]].concat();
    let hash = [1_u32, 100_001, 0, 0].map(u32::to_le_bytes).concat();
    let tables = vec![(SYMTAB, symbol.repeat(100_001)), (HASH, hash)];
    damaged(
        &RawElf {
            strings,
            tables,
            ..RawElf::default()
        },
        "its names overlap more than names can",
    );
}

#[test]
fn search_paths_and_program_headers_without_end_are_damage() {
    let strings = "$ORIGIN/a:".repeat(100_000).into_bytes();
    damaged(
        &RawElf {
            entries: vec![(RPATH, 1)],
            strings,
            ..RawElf::default()
        },
        "its search path has 1000000 bytes, more than 65536",
    );
    // Notes, each a megabyte long, and all of them the same megabyte.
    let elf = RawElf {
        strings: vec![0; 2 << 20],
        segments: vec![(4, 0, 1 << 20); 60_000],
        ..RawElf::default()
    };
    damaged(
        &elf,
        "it has 60002 program headers, more than any loader supports",
    );
    // As many as may be.
    let elf = RawElf {
        strings: vec![0; 2 << 20],
        segments: vec![(4, 0, 1 << 20); 1000],
        ..RawElf::default()
    };
    assert!(!stderr_for(&elf).contains("E001"));
}

/// A wheel of libraries of which each needs the next one, and the last one the first.
fn circle(count: usize) -> Wheel {
    (0..count).fold(Wheel::named(NAME).stored(), |wheel, number| {
        let next = format!("lib{}.so\0$ORIGIN", (number + 1) % count);
        let path = next.find('$').unwrap() as u64;
        let elf = RawElf {
            strings: next.into_bytes(),
            entries: vec![(NEEDED, 1), (RPATH, path + 1)],
            ..RawElf::default()
        };
        wheel.executable(&format!("demo/lib{number}.so"), elf.build())
    })
}

#[test]
fn libraries_that_need_each_other_in_a_circle_are_judged() {
    for count in [1, 3, 200] {
        let project = Project::new().bytes(NAME, &circle(count).bytes());
        let done = bounded(
            &project,
            BOUNDS,
            &["wheel", "show", NAME, "--no-host-libs", "--json"],
            0,
        )
        .json();
        assert_eq!(done["external_libs"], serde_json::json!({}), "{count}");
        assert_eq!(done["rock"]["findings"], serde_json::json!([]), "{count}");
    }
}

#[test]
fn a_circle_of_thousands_of_libraries_is_an_error_and_fills_no_memory() {
    let stderr_of = |count: usize| {
        let project = Project::new().bytes(NAME, &circle(count).bytes());
        bounded(
            &project,
            BOUNDS,
            &["wheel", "show", NAME, "--no-host-libs"],
            0,
        )
        .stderr
    };
    let (many, fewer) = (stderr_of(3000), stderr_of(30));
    appears("E008", &many, &fewer);
    assert!(
        many.contains("[E008 too-many-libraries]: its 3000 libraries need 3000 others"),
        "{many}"
    );
    let stderr = stderr_for(&RawElf {
        entries: vec![(NEEDED, 1); 4096],
        strings: b"libx.so".to_vec(),
        ..RawElf::default()
    });
    assert!(!stderr.contains("E008"), "{stderr}");
}

/// Asserts that `check` and `verify` refuse a wheel with this library, and `repair` where it cannot
/// be read.
#[track_caller]
fn library_refused(content: &[u8]) {
    let project =
        Project::new().bytes(NAME, &sound().executable("demo/_other.so", content).bytes());
    let stderr = bounded(&project, BOUNDS, &commands()[1], 1).stderr;
    let is_unread = stderr.contains("error[E001 ");
    assert!(is_unread || stderr.contains("error[R131 "), "{stderr}");
    for command in [&commands()[0], &commands()[2]] {
        bounded(&project, BOUNDS, command, 0);
    }
    bounded(&project, BOUNDS, &commands()[3], 1);
    if is_unread {
        let stderr = bounded(&project, BOUNDS, &commands()[4], 1).stderr;
        assert!(stderr.contains("error[E001 "), "{stderr}");
    }
    assert_eq!(project.files(), [NAME]);
}

#[test]
fn a_library_cut_off_where_a_structure_begins_or_ends_is_refused() {
    let file = Library::extension("_demo")
        .needs("libc.so.6", &["GLIBC_2.17"])
        .build();
    let word = |at: usize| {
        usize::try_from(u64::from_le_bytes(file[at..at + 8].try_into().unwrap())).unwrap()
    };
    let segments = word(32);
    let mut cuts = vec![4, 6, 16, 32, 63, 64, segments + 55];
    for number in 0..usize::from(file[56]) {
        let at = segments + 56 * number;
        // Where a segment begins, and where it ends: PT_LOAD and PT_DYNAMIC.
        if [1, 2].contains(&file[at]) {
            cuts.extend([word(at + 8) + 1, word(at + 8) + word(at + 32) - 1]);
        }
    }
    cuts.retain(|cut| *cut >= 4);
    cuts.sort_unstable();
    cuts.dedup();
    assert!(cuts.len() > 10, "{cuts:?}");
    for cut in cuts {
        library_refused(&file[..cut]);
    }
}

/// What `gfx` and `check` say of a wheel with this section of bundles.
#[track_caller]
fn scanned(fatbin: Vec<u8>, bounds: Bounds) -> String {
    let parts = [
        part(".hip_fatbin", fatbin),
        part(".hipFatBinSegment", bundle::wrappers(1, *b"FPIH")),
    ];
    let bytes = Wheel::named(NAME)
        .executable("demo/_demo.so", bundle::library(&parts))
        .bytes();
    let project = Project::new().bytes(NAME, &bytes);
    let stderr_of =
        |arguments: &[&str]| bounded_to_any(&project, bounds, arguments, &[0, 1]).stderr;
    stderr_of(&["wheel", "gfx", NAME, "--fast"]);
    stderr_of(&["wheel", "gfx", NAME]);
    stderr_of(&["wheel", "check", NAME, "--no-host-libs"])
}

const TARGETS: [(&str, u32); 2] = [("gfx90a", 0x3f), ("gfx942", 0x4c)];

#[test]
fn gpu_code_cut_off_at_a_structure_boundary_is_reported() {
    let raw = bundle::hip_bundle(&TARGETS, 512);
    let whole = scanned(raw.clone(), BOUNDS);
    assert!(!whole.contains("error["), "{whole}");
    // In the count, in the first entry, in an id, before the first object, in it, and in the last
    // one.
    for cut in [28, 40, 60, 200, 700, raw.len() - 1] {
        let stderr = scanned(raw[..cut].to_vec(), BOUNDS);
        assert!(
            stderr.contains("error[R132 ") || stderr.contains("error[R122 "),
            "{cut}: {stderr}"
        );
    }
    for (version, header) in [(1, 20), (2, 24), (3, 32)] {
        for method in [0, 1] {
            let packed = bundle::compressed(&raw, version, method);
            for cut in [
                6,
                8,
                header - 1,
                header,
                header + 3,
                packed.len() / 2,
                packed.len() - 1,
            ] {
                let stderr = scanned(packed[..cut].to_vec(), BOUNDS);
                let is_reported = stderr.contains("error[R132 ") || stderr.contains("error[R122 ");
                assert!(
                    is_reported,
                    "version {version} by {method} to {cut}: {stderr}"
                );
            }
        }
    }
}

#[test]
fn a_truncated_code_object_is_reported() {
    let whole = bundle::code_object(0x4c, 3, 4096);
    assert!(!cut_object(&whole).contains("error["));
    for cut in [24, 63, 64, 65, 2048, 4095] {
        let stderr = cut_object(&whole[..cut]);
        assert!(stderr.contains("error[R132 "), "{cut}: {stderr}");
    }
    // One without section headers: a segment that reaches beyond the file tells.
    let mut stripped = whole;
    stripped[40..48].fill(0);
    stripped[58..62].fill(0);
    stripped[32] = 64;
    stripped[54] = 56;
    stripped[56] = 1;
    stripped[64..120].fill(0);
    stripped[64] = 1;
    stripped[96..104].copy_from_slice(&4096_u64.to_le_bytes());
    assert!(
        !cut_object(&stripped).contains("error["),
        "{}",
        cut_object(&stripped)
    );
    assert!(cut_object(&stripped[..2048]).contains("error[R132 "));
}

/// What is said of a code object that is a member of its own, by those who look for code.
fn cut_object(bytes: &[u8]) -> String {
    let wheel = sound().file("demo/k.co", bytes).bytes();
    let project = Project::new().bytes(NAME, &wheel);
    let stderr_of = |arguments: &[&str]| {
        let output = project.command(arguments).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let (listed, checked) = (
        stderr_of(&["wheel", "gfx", NAME]),
        stderr_of(&["wheel", "check", NAME, "--no-host-libs"]),
    );
    assert_eq!(
        listed.contains("R132"),
        checked.contains("R132"),
        "{listed}{checked}"
    );
    checked
}

/// A gigabyte of zeros behind one bundle, in a few kilobytes: it is read through, and not held.
#[test]
fn compressed_code_that_is_a_bomb_streams_through_little_memory() {
    let mut raw = bundle::hip_bundle(&TARGETS, 512);
    raw.resize(1 << 30, 0);
    for method in [0, 1] {
        let packed = bundle::compressed(&raw, 3, method);
        assert!(packed.len() < 2 << 20);
        scanned(packed, BOUNDS);
    }
}

#[test]
fn code_for_gpus_that_lies_about_its_sizes_makes_no_room_for_them() {
    let raw = bundle::hip_bundle(&TARGETS, 512);
    let huge = u64::MAX.to_le_bytes();
    // The count, the size and the length of the id of the host's entry, and all three numbers of
    // the next one.
    for at in [24, 40, 48, 86, 94, 102] {
        let mut lying = raw.clone();
        lying[at..at + 8].copy_from_slice(&huge);
        let stderr = scanned(lying, BOUNDS);
        assert!(
            stderr.contains("error[R132 ") || stderr.contains("error[R122 "),
            "{at}: {stderr}"
        );
    }
    // The size of all, and the size it unpacks to.
    for at in [8, 16] {
        let mut lying = bundle::compressed(&raw, 3, 1);
        lying[at..at + 8].copy_from_slice(&(u64::MAX / 4).to_le_bytes());
        let stderr = scanned(lying, BOUNDS);
        assert!(stderr.contains("error[R132 "), "{at}: {stderr}");
    }
}

#[test]
fn truncated_and_endlessly_nested_code_archives_are_reported() {
    let archive = bundle::kpack(&["gfx942"], &["demo"]);
    let mut deep = archive[..64].to_vec();
    deep.extend(vec![0x91; 1_000_000]);
    let mut many = archive[..64].to_vec();
    many.extend([0xdf, 0xff, 0xff, 0xff, 0xff]);
    let mut far = archive.clone();
    far[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
    let cuts = [6, 12, 63, 64, 65, archive.len() / 2, archive.len() - 1];
    let all = cuts
        .iter()
        .map(|cut| archive[..*cut].to_vec())
        .chain([deep, many, far]);
    for (number, content) in all.enumerate() {
        let project = Project::new().bytes(
            NAME,
            &sound()
                .file("demo/.kpack/demo_gfx942.kpack", content)
                .bytes(),
        );
        bounded(&project, BOUNDS, &["wheel", "gfx", NAME], 1);
        let stderr = bounded(
            &project,
            BOUNDS,
            &["wheel", "check", NAME, "--no-host-libs"],
            1,
        )
        .stderr;
        assert!(stderr.contains("error[R13"), "{number}: {stderr}");
        bounded(
            &project,
            BOUNDS,
            &["wheel", "repair", NAME, "--no-host-libs", "-w", "out"],
            0,
        );
    }
}
