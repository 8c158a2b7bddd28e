//! Archives that installers or PyPI refuse, or that two of them read as different files: no command
//! takes one, and none writes anything.

use crate::support::raw_zip::{RawMember, RawZip, extra_field, unicode_path};
use crate::support::{Project, Wheel, appears};

const NAME: &str = "demo-1.0-cp312-cp312-linux_x86_64.whl";

/// Every command that takes a wheel.
fn commands() -> [Vec<&'static str>; 9] {
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
        vec!["publish", "--to", "release", NAME],
        vec!["index", "build", ".", "--out", "site"],
    ]
}

/// A sound wheel whose first member is `demo/__init__.py`.
fn sound() -> RawZip {
    RawZip::read(&Wheel::named(NAME).file("demo/z.bin", "evil()").bytes())
}

/// Returns what `wheel verify` says of an archive that every command must refuse with this code.
#[track_caller]
fn refused(code: &str, archive: &RawZip) -> String {
    let bytes = archive.bytes();
    let project = Project::new().bytes(NAME, &bytes);
    for command in commands() {
        let done = project.run(&command).exits(1);
        assert!(
            done.stderr.starts_with(&format!("error[{code} ")),
            "{command:?}: {}",
            done.stderr
        );
        assert_eq!(project.files(), [NAME], "{command:?}");
        assert!(
            std::fs::read(project.path(NAME)).unwrap() == bytes,
            "{command:?}"
        );
    }
    verified(archive)
}

fn verified(archive: &RawZip) -> String {
    Project::new()
        .bytes(NAME, &archive.bytes())
        .stderr_of(&["wheel", "verify", NAME])
}

#[test]
fn every_command_takes_the_sound_archive() {
    let project = Project::new().bytes(NAME, &sound().bytes());
    for command in commands() {
        project.run(&command).exits(0);
    }
}

/// The name that pip on Python 3.12 and uv install is the one that was checked, in both headers.
#[test]
fn a_unicode_path_that_names_another_file_is_refused() {
    let field = unicode_path(b"demo/z.bin", "demo/__init__.py");
    let with = |edit: fn(&mut RawMember, Vec<u8>)| {
        sound().with(|archive| {
            let member = archive
                .members
                .iter_mut()
                .find(|member| member.name == b"demo/z.bin")
                .unwrap();
            edit(member, field.clone());
        })
    };
    let central = refused("W100", &with(|member, field| member.central_extra = field));
    let local = refused("W100", &with(|member, field| member.local_extra = field));
    insta::assert_snapshot!([central, local].concat(), @r"
    error[W100 unicode-path]: the central header of `demo/z.bin`, at byte 846, has an Info-ZIP Unicode Path field (0x7075) that names `demo/__init__.py`
    --> demo-1.0-cp312-cp312-linux_x86_64.whl: demo/z.bin

    error[W100 unicode-path]: the local header of `demo/z.bin`, at byte 62, has an Info-ZIP Unicode Path field (0x7075) that names `demo/__init__.py`
    --> demo-1.0-cp312-cp312-linux_x86_64.whl: demo/z.bin
    ");
    // The same name again changes nothing.
    let same = unicode_path(b"demo/z.bin", "demo/z.bin");
    let both = sound().with(|archive| {
        let member = archive
            .members
            .iter_mut()
            .find(|member| member.name == b"demo/z.bin")
            .unwrap();
        (member.local_extra, member.central_extra) = (same.clone(), same);
    });
    assert_eq!(verified(&both), "");
    appears(
        "W100",
        &verified(&with(|member, field| member.central_extra = field)),
        &verified(&both),
    );
}

/// A ZIP64 end record with an extension, and its locator (APPNOTE 4.3.14, 4.3.15), put before the
/// end record.
fn with_zip64_end(archive: &RawZip, extension: &[u8]) -> Vec<u8> {
    let mut bytes = archive.bytes();
    let end = bytes.len() - 22;
    let word = |at: usize| {
        u64::from(u32::from_le_bytes(
            bytes[end + at..end + at + 4].try_into().unwrap(),
        ))
    };
    let (length, offset, count) = (word(12), word(16), archive.members.len() as u64);
    let mut records = b"PK\x06\x06".to_vec();
    records.extend((44 + extension.len() as u64).to_le_bytes());
    records.extend([45, 3, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    records.extend(
        [count, count, length, offset]
            .map(u64::to_le_bytes)
            .concat(),
    );
    records.extend(extension);
    records.extend(b"PK\x06\x07\0\0\0\0");
    records.extend((end as u64).to_le_bytes());
    records.extend(1_u32.to_le_bytes());
    bytes.splice(end..end, records);
    bytes
}

/// A member with a data descriptor, which is right.
fn streamed(member: &mut RawMember) {
    member.flags |= 1 << 3;
    member.is_streamed = true;
    member.descriptor = member.true_descriptor();
}

/// A sound archive whose first member is edited.
fn first(edit: impl FnOnce(&mut RawMember)) -> RawZip {
    sound().with_first(edit)
}

/// A sound archive with one more member, which RECORD does not list.
fn and(member: RawMember) -> RawZip {
    sound().with(|archive| archive.members.push(member))
}

/// Every rule of pip, uv and PyPI for headers and what lies between them, broken once or more.
#[test]
fn archives_that_installers_or_pypi_refuse_are_refused() {
    let hidden = RawMember {
        is_hidden: true,
        ..RawMember::new("demo/hidden.py", b"evil()")
    };
    let inner = RawZip {
        members: vec![RawMember::new("demo/inner.py", b"evil()")],
        ..RawZip::default()
    };
    let vectors = [
        (
            "W101",
            first(|member| member.local_extra = vec![0x55, 0x54, 9, 0, 1]),
        ),
        (
            "W101",
            first(|member| member.central_extra = vec![0x55, 0x54, 9, 0, 1]),
        ),
        ("W101", first(|member| member.local_extra = vec![0; 3])),
        (
            "W101",
            first(|member| member.local_extra = extra_field(0x5455, &[1]).repeat(2)),
        ),
        (
            "W101",
            first(|member| member.central_extra = extra_field(1, &[]).repeat(2)),
        ),
        (
            "W101",
            first(|member| member.local_extra = extra_field(1, &[0; 16])),
        ),
        ("W102", and(RawMember::new("demo", b""))),
        ("W102", and(RawMember::new("demo/__init__.py/", b""))),
        ("W103", first(|member| member.gap = b"#!/bin/sh\n".to_vec())),
        (
            "W103",
            sound().with(|archive| archive.members[1].gap = vec![0]),
        ),
        ("W103", sound().with(|archive| archive.gap = vec![0; 7])),
        (
            "W103",
            sound().with(|archive| archive.members.insert(1, hidden.clone())),
        ),
        (
            "W103",
            sound().with(|archive| archive.members.push(hidden.clone())),
        ),
        (
            "W103",
            first(|member| member.descriptor = member.true_descriptor()),
        ),
        (
            "W002",
            sound().with(|archive| archive.comment = inner.bytes()),
        ),
        (
            "W104",
            sound().with(|archive| archive.comment = b"PK\x05\x06".to_vec()),
        ),
        ("W105", first(|member| member.flags |= 1 << 3)),
        (
            "W105",
            first(|member| {
                streamed(member);
                member.descriptor[4] ^= 1;
            }),
        ),
        (
            "W105",
            first(|member| {
                streamed(member);
                member.descriptor[8] ^= 1;
            }),
        ),
        (
            "W105",
            first(|member| {
                streamed(member);
                member.descriptor[0] ^= 1;
            }),
        ),
        ("W108", first(|member| member.version = 64)),
        (
            "W110",
            sound().with(|archive| archive.comment = vec![b'a'; 4097]),
        ),
        ("W006", and(RawMember::new("demo/a\nb.py", b""))),
        ("W006", and(RawMember::new("demo/a\u{202e}b.py", b""))),
        (
            "W006",
            and(RawMember {
                flags: 0,
                ..RawMember::new("demo/ü.py", b"")
            }),
        ),
        (
            "W006",
            and(RawMember {
                name: b"demo/\xff.py".to_vec(),
                ..RawMember::new("ü", b"")
            }),
        ),
        (
            "W006",
            and(RawMember::new(&format!("demo/{}", "a".repeat(256)), b"")),
        ),
        (
            "W002",
            and(RawMember {
                crc32: Some(7),
                ..RawMember::new("demo/empty/", b"")
            }),
        ),
    ];
    for (code, archive) in &vectors {
        refused(code, archive);
    }
}

#[test]
fn a_zip64_end_record_with_an_extension_is_refused() {
    let stderr_of = |bytes: &[u8]| {
        Project::new()
            .bytes(NAME, bytes)
            .stderr_of(&["wheel", "verify", NAME])
    };
    appears(
        "W109",
        &stderr_of(&with_zip64_end(&sound(), b"extension")),
        &stderr_of(&with_zip64_end(&sound(), b"")),
    );
}

/// Comments of members, true data descriptors and ZIP64 fields that hold too much can be read
/// without doubt: what is checked or published is refused for them, and what is written again does
/// not have them.
#[test]
fn what_pypi_alone_refuses_is_gone_where_a_wheel_is_written_again() {
    let vectors = [
        ("W106", first(streamed)),
        (
            "W107",
            first(|member| member.comment = b"a comment".to_vec()),
        ),
        (
            "W013",
            first(|member| member.central_extra = extra_field(1, &[0; 8])),
        ),
    ];
    for (code, archive) in &vectors {
        let project = Project::new().bytes(NAME, &archive.bytes());
        let commands = commands();
        for command in [&commands[1], &commands[3], &commands[7]] {
            let stderr = project.stderr_of(command);
            assert!(
                stderr.contains(&format!("error[{code} ")),
                "{command:?}: {stderr}"
            );
        }
        for command in &commands[4..7] {
            project.run(command).exits(0);
        }
        for made in project.files().iter().filter(|file| file.contains('/')) {
            assert_eq!(
                project.stderr_of(&["wheel", "verify", made]),
                "",
                "{code} {made}"
            );
        }
    }
    let [streamed, comment, inexact] = vectors.map(|(_, archive)| verified(&archive));
    let well = verified(&sound());
    appears("W106", &streamed, &well);
    appears("W107", &comment, &well);
    appears("W013", &inexact, &well);
}

#[test]
fn entry_points_of_more_than_a_mebibyte_are_not_read() {
    let stderr_of = |length: usize| {
        let text = "#".repeat(length);
        let wheel = Wheel::named(NAME).file("demo-1.0.dist-info/entry_points.txt", text);
        Project::new()
            .bytes(NAME, &wheel.bytes())
            .stderr_of(&["wheel", "verify", NAME])
    };
    appears("W017", &stderr_of((1 << 20) + 1), &stderr_of(1 << 20));
}

/// The longest names and comments, and the newest version.
#[test]
fn archives_at_the_limits_are_taken() {
    for archive in [
        sound().with(|archive| archive.comment = vec![b'a'; 4096]),
        first(|member| member.version = 63),
        first(|member| member.local_extra = extra_field(0x5455, &[1, 0, 0, 0, 0])),
    ] {
        assert_eq!(verified(&archive), "");
    }
    let long = format!("demo/{}", "a".repeat(255));
    assert_eq!(
        verified(&RawZip::read(&Wheel::named(NAME).file(&long, "").bytes())),
        ""
    );
}
