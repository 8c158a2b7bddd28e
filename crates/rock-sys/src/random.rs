//! Random numbers and names.

use std::fmt::Write as _;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Returns an unpredictable number: the hash of nothing with the keys of `RandomState`, which the
/// operating system seeds (std documentation).
pub fn random_u64() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Returns 32 random hexadecimal digits.
pub fn random_name() -> String {
    (0..2).fold(String::new(), |mut name, _| {
        let _ = write!(name, "{:016x}", random_u64());
        name
    })
}

#[cfg(test)]
mod tests {
    use super::random_name;

    #[test]
    fn names_differ() {
        let (one, two) = (random_name(), random_name());
        assert!(
            one.len() == 32 && one.bytes().all(|b| b.is_ascii_hexdigit()) && one != two,
            "{one} {two}"
        );
    }
}
