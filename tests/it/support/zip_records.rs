//! Signatures of the records of zip archives (APPNOTE 4.3), and changes of their bytes.

pub const LOCAL: &[u8] = b"PK\x03\x04";
pub const CENTRAL: &[u8] = b"PK\x01\x02";
pub const END: &[u8] = b"PK\x05\x06";

/// Bytes of a wheel with some put over, counted from the first header of a kind.
pub fn patched(bytes: &[u8], kind: &[u8], at: usize, with: &[u8]) -> Vec<u8> {
    let start = bytes
        .windows(kind.len())
        .position(|window| window == kind)
        .unwrap()
        + at;
    let mut patched = bytes.to_vec();
    patched[start..start + with.len()].copy_from_slice(with);
    patched
}
