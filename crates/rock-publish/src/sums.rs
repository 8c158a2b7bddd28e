//! Reads and writes `SHA256SUMS`.

use std::collections::BTreeMap;

use rock_names::Digest;
use sha2::{Digest as _, Sha256};

/// The name of the checksum file.
pub const SUMS: &str = "SHA256SUMS";

/// Returns the SHA-256 digest of a text in memory.
pub fn sha256(bytes: &[u8]) -> Digest {
    Digest::new(Sha256::digest(bytes).into())
}

/// Returns the checksum file in the format of `sha256sum --check`: digest, two spaces, name; sorted
/// by name.
pub fn sums<'a>(files: impl IntoIterator<Item = (&'a str, Digest)>) -> String {
    let mut files: Vec<(&str, Digest)> = files.into_iter().collect();
    files.sort_by_key(|(name, _)| *name);
    files
        .iter()
        .map(|(name, digest)| format!("{}  {name}\n", digest.to_hex()))
        .collect()
}

/// The error for a text that `sha256sum --check` would not accept either.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is not a digest and a filename: `{text}`")]
pub struct SumsError {
    /// The line, counted from 1.
    pub line: usize,
    /// The first 80 characters of the line.
    pub text: String,
}

/// Parses a checksum file as `sha256sum` writes it (GNU coreutils manual, "cksum output modes"):
/// digest, a space, a space or `*`, name. Names that `sha256sum` escapes are skipped, because no
/// wheel has one.
///
/// # Errors
/// If a line has another format, or if there are no entries.
pub fn read_sums(text: &str) -> Result<BTreeMap<String, Digest>, SumsError> {
    let mut sums = BTreeMap::new();
    for (number, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('\\'))
    {
        let fault = || SumsError {
            line: number + 1,
            text: line.chars().take(80).collect(),
        };
        let (hex, name) = line.split_at_checked(64).ok_or_else(fault)?;
        let name = name
            .strip_prefix("  ")
            .or_else(|| name.strip_prefix(" *"))
            .ok_or_else(fault)?;
        sums.insert(name.to_owned(), hex.parse().map_err(|_| fault())?);
    }
    if sums.is_empty() {
        Err(SumsError {
            line: 1,
            text: String::new(),
        })
    } else {
        Ok(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::{read_sums, sums};
    use rock_names::Digest;

    #[test]
    fn sums_written_and_read_are_equal_and_other_text_is_refused() {
        let one = Digest::new([1; 32]);
        let read = read_sums(&sums([("b.whl", Digest::new([2; 32])), ("a.whl", one)])).unwrap();
        assert_eq!((read.len(), read["a.whl"]), (2, one));
        assert_eq!(
            read_sums(&format!("{} *a.whl\n", one.to_hex())).unwrap()["a.whl"],
            one
        );
        for text in [
            "",
            "{}",
            "01  a.whl",
            &format!("{} a.whl", one.to_hex()),
            &format!("{}é  a.whl", "0".repeat(63)),
        ] {
            assert!(read_sums(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sums_are_what_sha256sum_checks() {
        let text = sums([
            ("b.whl", Digest::new([0xab; 32])),
            ("a.whl", Digest::new([1; 32])),
        ]);
        let (one, ab) = ("01".repeat(32), "ab".repeat(32));
        assert_eq!(text, format!("{one}  a.whl\n{ab}  b.whl\n"));
    }
}
