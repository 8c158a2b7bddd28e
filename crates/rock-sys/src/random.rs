//! Chance, and words that nobody can guess.

use std::fmt::Write as _;
use std::hash::{BuildHasher, Hasher, RandomState};

/// A number that nobody can guess: a keyed hash whose key the system drew (std documentation,
/// `RandomState`).
pub fn random_u64() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// 32 hex digits.
pub fn random_name() -> String {
    (0..2).fold(String::new(), |mut word, _| {
        let _ = write!(word, "{:016x}", random_u64());
        word
    })
}

#[cfg(test)]
mod tests {
    use super::random_name;

    #[test]
    fn no_two_words_are_the_same() {
        let (one, two) = (random_name(), random_name());
        assert!(
            one.len() == 32 && one.bytes().all(|b| b.is_ascii_hexdigit()) && one != two,
            "{one} {two}"
        );
    }
}
