//! Versions in which a file host replaced the `+` of a label with a dot.

use super::Version;

/// The words that a version follows in labels of builds, such as those of
/// [`rocm_label`](super::rocm_label) and [`rocmsdk_label`](super::rocmsdk_label).
const VERSIONED_WORDS: [&str; 6] = ["rocm", "devrocm", "rocmsdk", "cu", "torch", "gfx"];

/// Returns the first valid version that has a `+` in place of a dot before a label of a build.
pub(super) fn with_plus(version: &str) -> Option<String> {
    version.match_indices('.').find_map(|(at, _)| {
        let (public, label) = (&version[..at], &version[at + 1..]);
        let original = format!("{public}+{label}");
        (is_build_label(label) && original.parse::<Version>().is_ok()).then_some(original)
    })
}

/// Returns whether a label begins with a word that labels of builds begin with.
fn is_build_label(label: &str) -> bool {
    let label = label.to_ascii_lowercase();
    let is_version_of = |word: &str| {
        label
            .strip_prefix(word)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let is_commit = || {
        label
            .strip_prefix("git")
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_hexdigit()))
    };
    VERSIONED_WORDS.into_iter().any(is_version_of)
        || label == "cpu"
        || label.starts_with("cpu.")
        || is_commit()
}

#[cfg(test)]
mod tests {
    use super::{is_build_label, with_plus};
    use crate::{git_label, rocm_label, rocmsdk_label};

    #[test]
    fn the_labels_that_builds_get_are_recognized() {
        let rocm = |text: &str| rocm_label(&text.parse().unwrap()).unwrap();
        for label in [
            rocm("7.10.0"),
            rocm("7.10.0.dev0+efed3c"),
            rocmsdk_label("2025-05-28").unwrap(),
            git_label("1a2b3c4d5e").unwrap(),
        ] {
            assert!(is_build_label(label.as_str()), "{label}");
        }
    }

    #[test]
    fn the_plus_is_put_before_the_label() {
        let with_plus = |version| with_plus(version).unwrap_or_default();
        assert_eq!(with_plus("2.5.1.rocm6.2"), "2.5.1+rocm6.2");
        assert_eq!(with_plus("2.5.1.custom"), "");
        assert_eq!(with_plus("2.5.1"), "");
    }
}
