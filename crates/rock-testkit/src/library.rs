//! Minimal ELF shared libraries.

const BASE: usize = 0x1000;
const DYNAMIC_ENTRY_BYTES: usize = 16;

/// Returns a 64-bit little-endian x86-64 library with these NEEDED entries and further dynamic
/// entries that have a text, such as `DT_RUNPATH` (29). It has no sections and no symbols.
///
/// # Panics
/// When the texts have more than 4 GiB.
pub fn library(needed: &[&str], texts: &[(u64, &str)]) -> Vec<u8> {
    let mut strings = vec![0_u8];
    let mut entries: Vec<(u64, u64)> = Vec::new();
    for (tag, text) in needed
        .iter()
        .map(|name| (1, *name))
        .chain(texts.iter().copied())
    {
        entries.push((tag, strings.len() as u64));
        strings.extend_from_slice(text.as_bytes());
        strings.push(0);
    }
    let dynamic = 64 + 2 * 56;
    let dynamic_bytes = (entries.len() + 3) * DYNAMIC_ENTRY_BYTES;
    let strings_at = dynamic + dynamic_bytes;
    entries.extend([
        (5, (BASE + strings_at) as u64),
        (10, strings.len() as u64),
        (0, 0),
    ]);
    let total = (strings_at + strings.len()) as u64;

    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    let header: [(u64, usize); 13] = [
        (3, 2),
        (62, 2),
        (1, 4),
        (0, 8),
        (64, 8),
        (0, 8),
        (0, 4),
        (64, 2),
        (56, 2),
        (2, 2),
        (64, 2),
        (0, 2),
        (0, 2),
    ];
    let segment = |kind: u64, at: usize, bytes: u64, align: u64| {
        let address = (BASE + at) as u64;
        [
            (kind, 4),
            (6, 4),
            (at as u64, 8),
            (address, 8),
            (address, 8),
            (bytes, 8),
            (bytes, 8),
            (align, 8),
        ]
    };
    let fields = header
        .into_iter()
        .chain(segment(1, 0, total, 0x1000))
        .chain(segment(2, dynamic, dynamic_bytes as u64, 8))
        .chain(
            entries
                .into_iter()
                .flat_map(|(tag, value)| [(tag, 8), (value, 8)]),
        );
    for (value, width) in fields {
        file.extend_from_slice(&value.to_le_bytes()[..width]);
    }
    file.extend_from_slice(&strings);
    file
}
