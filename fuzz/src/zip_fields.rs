//! Headers of zip archives and the bytes between members.

use rock_matrix::wheel::zip::MemberOptions;
use rock_matrix::wheel::{ZipArchive, ZipWriter};

/// The parts of an input, each behind a byte that says how long it is.
const PARTS: usize = 6;

/// An archive of one stored member, made of parts: name, local extra fields, central extra fields,
/// comment of the member, bytes behind the data, comment of the archive. The first byte has bits
/// for a data descriptor, for zeros in the local header, and for a name marked as UTF-8.
///
/// Copying an accepted member gives an archive that installers accept.
pub fn zip_fields(bytes: &[u8]) {
    let Some((choices, mut rest)) = bytes.split_first() else {
        return;
    };
    let mut parts = [&[][..]; PARTS];
    for part in &mut parts {
        let Some((length, after)) = rest.split_first() else {
            break;
        };
        (*part, rest) = after.split_at(usize::from(*length).min(after.len()));
    }
    let source = archive(*choices, &parts);
    let Ok(archive) = ZipArchive::open(&source) else {
        return;
    };
    let member = &archive.members()[0];
    let content = if member.is_dir() { b"" } else { CONTENT };
    assert!(
        archive
            .read(member, 1 << 10)
            .is_ok_and(|read| read == content)
    );
    let mut copy = Vec::new();
    let mut writer = ZipWriter::new(&mut copy);
    writer
        .copy(&archive, member, member.name(), member.time())
        .expect("memory takes everything");
    writer
        .copy(&archive, member, "another name", member.time())
        .expect("memory takes everything");
    writer
        .add("third", CONTENT, &MemberOptions::default())
        .expect("memory takes everything");
    writer.finish().expect("memory takes everything");
    let again = ZipArchive::open(&copy).map(|copied| copied.removable_violations().count());
    // A new name may be the old one, or a folder in it.
    let is_other = !["another name", "third"].iter().any(|name| {
        member
            .name()
            .strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    assert!(!is_other || again.is_ok_and(|count| count == 0));
}

/// Content of the member.
pub const CONTENT: &[u8] = b"content";

fn archive(choices: u8, parts: &[&[u8]; PARTS]) -> Vec<u8> {
    let [
        name,
        local_extra,
        central_extra,
        comment,
        behind,
        archive_comment,
    ] = parts;
    let content = if name.ends_with(b"/") {
        &[][..]
    } else {
        CONTENT
    };
    let flags = u16::from(choices & 1) << 3 | u16::from(choices >> 2 & 1) << 11;
    let size = u32::try_from(content.len()).expect("it is small");
    let sizes = [crc32fast::hash(content), size, size];
    let common = |is_local: bool| {
        let mut fields = [20, flags, 0, 0, 33].map(u16::to_le_bytes).concat();
        let is_zero = is_local && choices >> 1 & 1 != 0;
        fields.extend(
            sizes
                .map(|value| if is_zero { 0 } else { value }.to_le_bytes())
                .concat(),
        );
        fields
    };
    let length = |part: &[u8]| {
        u16::try_from(part.len())
            .expect("a byte says how long it is")
            .to_le_bytes()
    };
    let mut bytes = [
        b"PK\x03\x04",
        &common(true)[..],
        &length(name),
        &length(local_extra),
    ]
    .concat();
    for part in [name, local_extra, content, behind] {
        bytes.extend(part);
    }
    let offset = u32::try_from(bytes.len())
        .expect("it is small")
        .to_le_bytes();
    let lengths = [name, central_extra, comment]
        .map(|part| length(part))
        .concat();
    let attributes = [0_u32, 0o100_644 << 16].map(u32::to_le_bytes).concat();
    let central = [
        b"PK\x01\x02\x14\x03",
        &common(false)[..],
        &lengths,
        &attributes,
        &[0; 4],
        name,
        central_extra,
        comment,
    ];
    let central = central.concat();
    bytes.extend(&central);
    bytes.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
    bytes.extend(
        u32::try_from(central.len())
            .expect("it is small")
            .to_le_bytes(),
    );
    bytes.extend([&offset[..], &length(archive_comment), archive_comment].concat());
    bytes
}
