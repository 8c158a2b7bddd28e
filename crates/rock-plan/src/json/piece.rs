//! Serialized pieces that many jobs share.

use serde::Serialize;

/// Creates the piece with this number unless it exists.
pub(super) fn keep<T>(pieces: &mut Vec<Option<T>>, number: u32, make: impl FnOnce() -> T) {
    let number = number as usize;
    if pieces.len() <= number {
        pieces.resize_with(number + 1, || None);
    }
    pieces[number].get_or_insert_with(make);
}

/// Serializes a struct without its outer braces.
pub(super) fn inner<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes =
        serde_json::to_vec(value).expect("structs of strings and numbers always serialize");
    bytes.pop();
    bytes.remove(0);
    bytes
}
