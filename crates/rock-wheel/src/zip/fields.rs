//! Little-endian numbers and extra fields of zip records.

/// Reads a 16-bit number. Panics if the slice is too short.
pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// Reads a 32-bit number. Panics if the slice is too short.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Reads a 64-bit number. Panics if the slice is too short.
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// Returns the ID and content of each extra field, up to the first malformed one (APPNOTE 4.5.1).
pub(super) fn extra_fields(mut extra: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let (id, content, rest) = split_extra_field(extra)?;
        extra = rest;
        Some((id, content))
    })
}

/// Splits off the first extra field, and returns its ID, its content and the fields after it.
pub(super) fn split_extra_field(extra: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = usize::from(u16_at(extra.get(..4)?, 2));
    let (content, rest) = extra[4..].split_at_checked(length)?;
    Some((u16_at(extra, 0), content, rest))
}

/// Returns the extra fields without those with the given IDs.
pub(super) fn without_fields(extra: &[u8], ids: &[u16]) -> Vec<u8> {
    let mut kept = Vec::new();
    for (id, content) in extra_fields(extra).filter(|(id, _)| !ids.contains(id)) {
        kept.extend(id.to_le_bytes());
        kept.extend(
            u16::try_from(content.len())
                .expect("it was read from 16 bits")
                .to_le_bytes(),
        );
        kept.extend(content);
    }
    kept
}
