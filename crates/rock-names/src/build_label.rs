//! Labels of wheels that are built with a ROCm SDK: its version or day, and the commit.
//!
//! **Invariant:** every part is a [`LocalLabel`], so a version has one `+` and a normal form.

use super::{LabelError, LocalLabel, Version, day_digits};

/// Returns the label of a wheel for a ROCm version: `rocm7.10.0`, or `devrocm7.10.0.dev0.efed3c`
/// for a development version (ROCm/TheRock, `determine_version.py`).
///
/// ```
/// use rock_names::rocm_label;
/// assert_eq!(rocm_label(&"7.10.0a20251124".parse()?)?.as_str(), "rocm7.10.0a20251124");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the normal form of the version is not a label, such as one with an epoch.
pub fn rocm_label(rocm: &Version) -> Result<LocalLabel, LabelError> {
    let version = rocm.normalized();
    let prefix = if version.contains("dev") {
        "devrocm"
    } else {
        "rocm"
    };
    format!("{prefix}{}", version.replace('+', "-")).parse()
}

/// The error of making the label of a day or a commit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildLabelError {
    /// The day does not exist or is not written as a day; holds the text.
    #[error("`{0}` is not a valid day, such as `2025-05-28`")]
    Day(String),
    /// The text is not 8 to 64 hex digits; holds the text.
    #[error("`{0}` is not a commit of at least 8 hex digits")]
    Commit(String),
}

/// Returns the label of a wheel for the ROCm packages of a day, `rocmsdk20250528`; the day is
/// written as `2025-05-28` or `20250528`.
///
/// # Errors
/// If the day does not exist.
pub fn rocmsdk_label(day: &str) -> Result<LocalLabel, BuildLabelError> {
    let digits = day_digits(day).ok_or_else(|| BuildLabelError::Day(day.to_owned()))?;
    Ok(LocalLabel::normalize(&format!("rocmsdk{digits}")))
}

/// Returns the label of a commit, `git` with its first eight hex digits: `git1a2b3c4d`.
///
/// # Errors
/// If the text is not 8 to 64 hex digits.
pub fn git_label(commit: &str) -> Result<LocalLabel, BuildLabelError> {
    let is_hex = commit.len() <= 64 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    match commit.get(..8).filter(|_| is_hex) {
        Some(short) => Ok(LocalLabel::normalize(&format!("git{short}"))),
        None => Err(BuildLabelError::Commit(commit.to_owned())),
    }
}

/// Joins labels, each with an optional leading `+`, into one. Skips empty ones; returns `None` if
/// none remain.
///
/// # Errors
/// If a part is not a label.
pub fn join_labels<'p>(
    parts: impl IntoIterator<Item = &'p str>,
) -> Result<Option<LocalLabel>, LabelError> {
    let mut whole: Option<LocalLabel> = None;
    for part in parts
        .into_iter()
        .map(|part| part.strip_prefix('+').unwrap_or(part))
        .filter(|part| !part.is_empty())
    {
        let part: LocalLabel = part.parse()?;
        whole = Some(whole.map_or_else(|| part.clone(), |before| before.joined(&part)));
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::{git_label, join_labels, rocm_label, rocmsdk_label};
    use crate::Version;

    #[track_caller]
    fn check(rocm: &str, upstream: &str, expect: &str) {
        let suffix = rocm_label(&rocm.parse().unwrap()).unwrap();
        assert_eq!(format!("+{suffix}"), expect);
        let normal = |suffix: &str| {
            format!("2.9.0{suffix}")
                .parse::<Version>()
                .unwrap()
                .normalized()
        };
        assert_eq!(
            normal(upstream),
            format!("2.9.0{expect}"),
            "the same wheel as upstream names it"
        );
    }

    /// A release, a nightly, and a development build.
    #[test]
    fn the_suffix_of_a_rocm_is_its_normal_form() {
        check("7.10.0", "+rocm7.10.0", "+rocm7.10.0");
        check(
            "7.10.0a20251124",
            "+rocm7.10.0a20251124",
            "+rocm7.10.0a20251124",
        );
        check(
            "7.10.0.dev0+efed3c",
            "+devrocm7.10.0.dev0-efed3c",
            "+devrocm7.10.0.dev0.efed3c",
        );
    }

    #[test]
    fn labels_by_rocm_sort_as_texts_and_those_of_a_day_behind_them_all() {
        let rocm = |text: &str| rocm_label(&text.parse().unwrap()).unwrap();
        let day = rocmsdk_label("2025-05-28").unwrap();
        let order = [
            rocm("7.10.0.dev0+efed3c"),
            rocm("10.2.0"),
            rocm("7.9.0"),
            rocm("7.10.0a20251124"),
            rocm("7.10.0"),
        ];
        let versions = order
            .iter()
            .chain([&day])
            .map(|label| format!("2.9.0+{label}").parse::<Version>().unwrap());
        assert!(
            versions
                .collect::<Vec<_>>()
                .windows(2)
                .all(|pair| pair[0] < pair[1]),
            "10.2.0 stands below 7.9.0"
        );
    }

    #[test]
    fn a_day_that_there_is_makes_a_suffix() {
        for day in ["2025-05-28", "20250528"] {
            assert_eq!(rocmsdk_label(day).unwrap().as_str(), "rocmsdk20250528");
        }
        assert!(rocmsdk_label("2024-02-29").is_ok());
        for day in [
            "2025-02-29",
            "2025-13-01",
            "2025-04-31",
            "2025-00-10",
            "today",
            "2025-5-28",
            "2025-0528",
            "",
        ] {
            assert!(rocmsdk_label(day).is_err(), "{day}");
        }
    }

    #[test]
    fn a_development_build_names_its_commit_before_its_rocm() {
        let commit = git_label("1A2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b").unwrap();
        let label = join_labels([commit.as_str(), "+rocm7.10.0"])
            .unwrap()
            .unwrap();
        assert_eq!(label.as_str(), "git1a2b3c4d.rocm7.10.0");
        for none in ["", "1a2b3c4", "1a2b3c4z5e", "ä234567890"] {
            assert!(git_label(none).is_err(), "{none}");
        }
    }

    #[test]
    fn a_label_of_parts_has_one_plus_and_no_empty_segment() {
        let label = |parts: &[&str]| {
            join_labels(parts.iter().copied())
                .unwrap()
                .map(|label| label.to_string())
        };
        assert_eq!(
            label(&["+a-b", "", "+", "C_01"]).as_deref(),
            Some("a.b.c.1")
        );
        assert_eq!(label(&["", "+"]), None);
        for part in ["a+b", "++a", "a b", "a..b"] {
            assert!(join_labels([part]).is_err(), "{part}");
        }
    }
}
