//! Job IDs: `[a-z0-9._-]{1,80}`, independent of the other values of the axes.

use sha2::{Digest as _, Sha256};

/// Maximum length of an ID, so that artifact names that contain it stay valid.
pub(super) const LONGEST: usize = 80;

/// Returns the part of an ID for one axis value, in lower case with other characters replaced by
/// `-`. If that changes the value, a digest of it is appended, so that two values never give the
/// same part.
pub(super) fn part(prefix: &str, text: &str) -> String {
    let lower = text.to_lowercase();
    let folded: String = lower
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') {
                c
            } else {
                '-'
            }
        })
        .collect();
    let digest = if folded == text {
        String::new()
    } else {
        format!(".{}", short_digest(text))
    };
    format!("{prefix}{folded}{digest}")
}

/// Joins the parts; an ID that is too long is truncated and ends with a digest of the whole.
pub(super) fn join<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut id = String::with_capacity(48);
    for part in parts {
        if !id.is_empty() {
            id.push('-');
        }
        id.push_str(part);
    }
    if id.len() > LONGEST {
        let digest = short_digest(&id);
        id.truncate(LONGEST - digest.len() - 1);
        id.push('.');
        id.push_str(&digest);
    }
    id
}

/// Whether a text is a valid ID.
pub fn is_id(text: &str) -> bool {
    let inside =
        |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'.' | b'_' | b'-');
    let begins = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    text.len() <= LONGEST && text.as_bytes().first().is_some_and(begins) && text.bytes().all(inside)
}

pub(super) fn short_digest(text: &str) -> String {
    use std::fmt::Write as _;
    Sha256::digest(text.as_bytes())
        .iter()
        .take(4)
        .fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, join, part};

    #[test]
    fn values_that_fold_alike_keep_apart() {
        assert_eq!(part("rocm", "6.2"), "rocm6.2");
        assert_ne!(part("", "a b"), part("", "a:b"));
        assert_ne!(part("", "a b"), "a-b");
        assert_ne!(part("", "GFX"), part("", "gfx"));
    }

    #[test]
    fn a_long_id_is_cut_to_eighty_and_keeps_apart_from_its_neighbour() {
        let long = "x".repeat(100);
        let (a, b) = (join([long.as_str(), "a"]), join([long.as_str(), "b"]));
        assert_eq!((a.len(), b.len()), (LONGEST, LONGEST));
        assert_ne!(a, b);
    }
}
