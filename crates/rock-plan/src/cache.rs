//! Cache keys under which a build that reached its time limit passes its compiler cache to the next
//! attempt.
//!
//! The cache is ccache's directory. Caching the build tree instead does not work for ROCm: every
//! run regenerates its sources without dependency files, so everything would be compiled again.
//!
//! The workflow appends the run and the attempt. A key is saved once, by the attempt that hit the
//! limit, and a later attempt restores the newest key that starts with cell, toolchain and run. No
//! other run can have written the cache that it restores.

use sha2::{Digest as _, Sha256};

/// Returns the part of the key that identifies a cell and its toolchain:
/// `rock-ccache-ID-FINGERPRINT`.
///
/// `toolchain` has the names and versions of `image`, `python`, `rocm` and `torch`.
pub(super) fn cell_key(cell: &str, toolchain: &[(&str, String)]) -> String {
    let mut hash = Sha256::new();
    for (name, value) in toolchain {
        hash.update(format!("{}:{name}={}:{value}\n", name.len(), value.len()));
    }
    let fingerprint: String = hash
        .finalize()
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("rock-ccache-{cell}-{fingerprint}")
}

#[cfg(test)]
mod tests {
    use super::cell_key;

    fn key(pairs: &[(&str, &str)]) -> String {
        let pairs: Vec<(&str, String)> = pairs
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect();
        cell_key("flash-attn-2.8.3-rocm6.2-torch2.5.1-py3.11-ck", &pairs)
    }

    #[test]
    fn a_key_pins_the_cell_and_its_toolchain() {
        let found = key(&[("rocm", "6.2"), ("torch", "2.5.1")]);
        let fingerprint = found
            .strip_prefix("rock-ccache-flash-attn-2.8.3-rocm6.2-torch2.5.1-py3.11-ck-")
            .unwrap();
        assert!(
            fingerprint.len() == 16 && fingerprint.bytes().all(|b| b.is_ascii_hexdigit()),
            "{found}"
        );
        // The run and the attempt are appended. Commas are not allowed, and the maximum is 512
        // characters (docs.github.com, "Dependency caching reference").
        assert!(!found.contains(',') && found.len() < 512 - 40);
    }

    #[test]
    fn another_toolchain_is_another_key_and_parts_do_not_run_together() {
        assert_ne!(key(&[("image", "a:1")]), key(&[("image", "a:2")]));
        assert_ne!(key(&[("a", "b\n1:c=1:d")]), key(&[("a", "b"), ("c", "d")]));
        assert_eq!(key(&[("rocm", "6.2")]), key(&[("rocm", "6.2")]));
    }
}
