//! AMD GPU code objects, offload bundles, kpack archives, and libraries that contain them.

use std::io::Write;

/// A code object that is a file header, two bytes of section headers' room and filling: `size`
/// bytes in all.
pub fn code_object(flags: u32, abi_version: u8, size: usize) -> Vec<u8> {
    let mut bytes = vec![0xbb; size.max(64)];
    bytes[..64].fill(0);
    bytes[..9].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 64, abi_version]);
    bytes[16..20].copy_from_slice(&[3, 0, 224, 0]);
    bytes[48..52].copy_from_slice(&flags.to_le_bytes());
    bytes[52] = 64;
    // Section headers that end with the file, if the rest of it is a multiple of their size.
    let sections = (bytes.len() - 64) / 64;
    let offset = (bytes.len() - sections * 64) as u64;
    bytes[40..48].copy_from_slice(&offset.to_le_bytes());
    bytes[58..60].copy_from_slice(&64_u16.to_le_bytes());
    bytes[60..62].copy_from_slice(&(sections as u16).to_le_bytes());
    bytes
}

/// An uncompressed bundle of entries by id, each aligned, as clang writes it.
pub fn bundle(entries: &[(&str, Vec<u8>)], align: usize) -> Vec<u8> {
    let table_end = 32 + entries.iter().map(|(id, _)| 24 + id.len()).sum::<usize>();
    let mut bytes = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    bytes.extend((entries.len() as u64).to_le_bytes());
    let mut offset = table_end;
    let mut payload = Vec::new();
    for (id, content) in entries {
        offset = offset.next_multiple_of(align);
        payload.resize(offset - table_end, 0);
        payload.extend(content);
        for number in [offset as u64, content.len() as u64, id.len() as u64] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(id.as_bytes());
        offset += content.len();
    }
    bytes.extend(payload);
    bytes
}

/// The id of an entry for a target.
pub fn id(target: &str) -> String {
    format!("hipv4-amdgcn-amd-amdhsa--{target}")
}

/// A bundle with an empty host entry and one code object of `size` bytes for each target with its
/// flags.
pub fn hip_bundle(targets: &[(&str, u32)], size: usize) -> Vec<u8> {
    let ids: Vec<String> = targets.iter().map(|(target, _)| id(target)).collect();
    let mut entries = vec![("host-x86_64-unknown-linux-gnu-", Vec::new())];
    entries.extend(
        ids.iter()
            .zip(targets)
            .map(|(id, (_, flags))| (id.as_str(), code_object(*flags, 3, size))),
    );
    bundle(&entries, 64)
}

/// A compressed bundle: header of version 1, 2 or 3, and the bundle by zlib (0) or zstd (1).
pub fn compressed(raw: &[u8], version: u16, method: u16) -> Vec<u8> {
    let data = match method {
        0 => {
            let mut encoder =
                flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(6));
            encoder.write_all(raw).unwrap();
            encoder.finish().unwrap()
        }
        _ => zstd::bulk::compress(raw, 3).unwrap(),
    };
    let header = match version {
        1 => 20,
        2 => 24,
        _ => 32,
    };
    let (total, size) = ((header + data.len()) as u64, raw.len() as u64);
    let mut bytes = b"CCOB".to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend(method.to_le_bytes());
    match version {
        1 => bytes.extend((size as u32).to_le_bytes()),
        2 => bytes.extend([(total as u32).to_le_bytes(), (size as u32).to_le_bytes()].concat()),
        _ => bytes.extend([total.to_le_bytes(), size.to_le_bytes()].concat()),
    }
    bytes.extend(0x0123_4567_89ab_cdef_u64.to_le_bytes());
    bytes.extend(data);
    bytes
}

/// One after another, each at a multiple of `align`, with zeros between.
pub fn concatenated(parts: &[Vec<u8>], align: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in parts {
        bytes.resize(bytes.len().next_multiple_of(align), 0);
        bytes.extend(part);
    }
    bytes
}

/// So many wrappers of bundles, or of references to archives.
pub fn wrappers(count: usize, magic: [u8; 4]) -> Vec<u8> {
    let one = [
        magic.as_slice(),
        &[1, 0, 0, 0],
        &0x1000_u64.to_le_bytes(),
        &[0; 8],
    ]
    .concat();
    one.repeat(count)
}

/// A section of a library that is made here.
#[derive(Clone, Debug)]
pub struct Part {
    /// The name.
    pub name: &'static str,
    /// The content.
    pub content: Vec<u8>,
    /// Whether it is loaded.
    pub is_alloc: bool,
    /// Whether it takes no bytes of the file.
    pub is_nobits: bool,
}

/// A section that is loaded.
pub fn part(name: &'static str, content: Vec<u8>) -> Part {
    Part {
        name,
        content,
        is_alloc: true,
        is_nobits: false,
    }
}

/// A library for x86-64 of these sections, all that are loaded in one segment.
pub fn library(parts: &[Part]) -> Vec<u8> {
    let mut names = vec![0];
    let mut bytes = vec![0; 120];
    let mut headers = vec![[0_u8; 64]];
    let mut header = |name: u32, kind: u32, flags: u64, offset: usize, size: usize| {
        let mut one = [0; 64];
        one[..4].copy_from_slice(&name.to_le_bytes());
        one[4..8].copy_from_slice(&kind.to_le_bytes());
        one[8..16].copy_from_slice(&flags.to_le_bytes());
        one[16..24].copy_from_slice(&(offset as u64).to_le_bytes());
        one[24..32].copy_from_slice(&(offset as u64).to_le_bytes());
        one[32..40].copy_from_slice(&(size as u64).to_le_bytes());
        headers.push(one);
    };
    let mut loaded_end = bytes.len();
    for part in parts {
        bytes.resize(bytes.len().next_multiple_of(64), 0);
        let name = names.len() as u32;
        names.extend(part.name.as_bytes());
        names.push(0);
        let kind = if part.is_nobits { 8 } else { 1 };
        header(
            name,
            kind,
            if part.is_alloc { 2 } else { 0 },
            bytes.len(),
            part.content.len(),
        );
        if !part.is_nobits {
            bytes.extend(&part.content);
        }
        if part.is_alloc {
            loaded_end = bytes.len();
        }
    }
    let name = names.len() as u32;
    names.extend(b".shstrtab\0");
    header(name, 3, 0, bytes.len(), names.len());
    bytes.extend(&names);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let (table, count) = (bytes.len() as u64, headers.len() as u16);
    bytes.extend(headers.concat());

    bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    bytes[16..24].copy_from_slice(&[3, 0, 62, 0, 1, 0, 0, 0]);
    bytes[32..40].copy_from_slice(&64_u64.to_le_bytes());
    bytes[40..48].copy_from_slice(&table.to_le_bytes());
    for (at, value) in [
        (52, 64),
        (54, 56),
        (56, 1),
        (58, 64),
        (60, count),
        (62, count - 1),
    ] {
        bytes[at..at + 2].copy_from_slice(&u16::to_le_bytes(value));
    }
    bytes[64..72].copy_from_slice(&[1, 0, 0, 0, 5, 0, 0, 0]);
    for (at, value) in [
        (96, loaded_end as u64),
        (104, loaded_end as u64),
        (112, 4096),
    ] {
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
    bytes
}

/// A library for Windows of these sections.
pub fn pe_library(parts: &[Part]) -> Vec<u8> {
    let table = 64 + 24 + 16;
    let mut bytes = vec![0; table + 40 * parts.len()];
    bytes[..2].copy_from_slice(b"MZ");
    bytes[0x3c] = 64;
    bytes[64..68].copy_from_slice(b"PE\0\0");
    bytes[68..72].copy_from_slice(&[0x64, 0x86, parts.len() as u8, 0]);
    bytes[84] = 16;
    for (index, part) in parts.iter().enumerate() {
        bytes.resize(bytes.len().next_multiple_of(512), 0);
        let (at, offset) = (table + 40 * index, bytes.len() as u32);
        bytes[at..at + part.name.len()].copy_from_slice(part.name.as_bytes());
        bytes.extend(&part.content);
        bytes[at + 16..at + 20].copy_from_slice(&(part.content.len() as u32).to_le_bytes());
        bytes[at + 20..at + 24].copy_from_slice(&offset.to_le_bytes());
    }
    bytes
}

fn text(text: &str) -> Vec<u8> {
    [&[0xd9, text.len() as u8], text.as_bytes()].concat()
}

fn texts(list: &[&str]) -> Vec<u8> {
    [
        vec![0x90 | list.len() as u8],
        list.iter().flat_map(|one| text(one)).collect(),
    ]
    .concat()
}

/// An archive of code objects for these targets, of these libraries.
pub fn kpack(targets: &[&str], kernel_names: &[&str]) -> Vec<u8> {
    let mut table = vec![0x84];
    table.extend(text("format_version"));
    table.push(1);
    table.extend(text("blobs"));
    table.extend([0x92, 0xcf, 0, 0, 0, 0, 0, 0, 0, 1, 0xc4, 2, 1, 2]);
    table.extend(text("toc"));
    table.push(0x80 | kernel_names.len() as u8);
    for name in kernel_names {
        table.extend(text(name));
        table.push(0x80 | targets.len() as u8);
        table.extend(
            targets
                .iter()
                .flat_map(|target| [text(target), vec![0x81, 0xa1, b'o', 0]].concat()),
        );
    }
    table.extend(text("gfx_arches"));
    table.extend(texts(targets));
    [
        &b"KPAK\x01\0\0\0"[..],
        &64_u64.to_le_bytes(),
        &[0; 48],
        &table,
    ]
    .concat()
}

/// What a library says of the archives that hold its code.
pub fn kpack_reference(kernel_name: &str, search_paths: &[&str]) -> Vec<u8> {
    [
        vec![0x82],
        text("kernel_name"),
        text(kernel_name),
        text("kpack_search_paths"),
        texts(search_paths),
    ]
    .concat()
}
