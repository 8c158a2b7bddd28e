//! `SHA256SUMS`.

use crate::names::Digest;

/// The name of the file.
pub const SUMS: &str = "SHA256SUMS";

/// The file as `sha256sum --check` reads it: digest, two spaces, name; sorted by name.
pub fn sums<'a>(files: impl IntoIterator<Item = (&'a str, Digest)>) -> String {
    let mut files: Vec<(&str, Digest)> = files.into_iter().collect();
    files.sort_by_key(|(name, _)| *name);
    files.iter().map(|(name, digest)| format!("{}  {name}\n", digest.to_hex())).collect()
}

#[cfg(test)]
mod tests {
    use super::sums;
    use crate::names::Digest;

    /// P7
    #[test]
    fn sums_are_what_sha256sum_checks() {
        let text = sums([("b.whl", Digest::new([0xab; 32])), ("a.whl", Digest::new([1; 32]))]);
        let (one, ab) = ("01".repeat(32), "ab".repeat(32));
        assert_eq!(text, format!("{one}  a.whl\n{ab}  b.whl\n"));
    }
}
