//! Conflicts between the PEP 440 order of labels and the order of their ROCm releases.
//!
//! **Invariant:** only labels given by a ROCm SDK are compared; labels with a torch version are
//! ignored, because they do not compete.

use std::collections::BTreeMap;

use super::{RocmVersion, Version};

/// The ROCm that a label names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum RocmOrigin {
    /// A version: `rocm7.10.0a20251124`, `devrocm7.10.0.dev0`.
    Release(Version),
    /// The latest ROCm on a day: `rocmsdk20250528`.
    Day(String),
}

/// Two versions of a distribution whose order contradicts that of their ROCm, or leaves it unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionOrderConflict {
    /// The version that sorts lower.
    pub below: Version,
    /// The version that sorts higher, which installers prefer.
    pub above: Version,
    /// The reason, as the rest of a sentence about the higher version.
    pub reason: String,
}

/// Returns two versions of a distribution whose labels sort in another order than their ROCm, if
/// there are any.
///
/// Labels are compared by segment, and segments with letters as text (PEP 440, "Local version
/// identifiers"), so `rocm10` sorts below `rocm7`.
pub fn find_order_conflict<'v>(
    versions: impl IntoIterator<Item = &'v Version>,
) -> Option<VersionOrderConflict> {
    let mut by_public: BTreeMap<String, BTreeMap<&Version, RocmOrigin>> = BTreeMap::new();
    for version in versions {
        if let Some(built) = version.local().and_then(rocm_origin) {
            by_public
                .entry(version.public().normalized())
                .or_default()
                .insert(version, built);
        }
    }
    by_public.values().find_map(|sorted| {
        // The version that installers prefer, compared with the latest ROCm, comes first.
        let latest = sorted
            .iter()
            .filter(|(_, built)| matches!(built, RocmOrigin::Release(_)))
            .max_by_key(|(_, built)| *built);
        let ends = latest.zip(sorted.last_key_value());
        let pairs = sorted.iter().zip(sorted.iter().skip(1));
        ends.into_iter()
            .chain(pairs)
            .find_map(|(one, other)| order_conflict(one, other))
    })
}

/// Returns the conflict of two versions of which the first sorts lower, if there is one.
fn order_conflict(
    (below, one): (&&Version, &RocmOrigin),
    (above, other): (&&Version, &RocmOrigin),
) -> Option<VersionOrderConflict> {
    let reason = match (one, other) {
        (RocmOrigin::Release(one), RocmOrigin::Release(other)) if one > other => {
            format!("is for ROCm {other}, not {one}")
        }
        (RocmOrigin::Release(one), RocmOrigin::Day(_)) => {
            format!("has only a build date, so it is unknown whether its ROCm is later than {one}")
        }
        (RocmOrigin::Day(_), RocmOrigin::Release(other)) => {
            format!("is for ROCm {other}, but it is unknown which one is later")
        }
        _ => return None,
    };
    Some(VersionOrderConflict {
        below: (*below).clone(),
        above: (*above).clone(),
        reason,
    })
}

/// Parses `rocm7.10.0`, `rocm7.10.0a20251124`, `devrocm7.10.0.dev0.efed3c` and `rocmsdk20250528`,
/// each with an optional prefix `git1a2b3c4d.`.
fn rocm_origin(label: &str) -> Option<RocmOrigin> {
    let behind_commit = label
        .strip_prefix("git")
        .and_then(|rest| rest.split_once('.'))
        .map(|(_, rest)| rest);
    let label = behind_commit.unwrap_or(label).to_ascii_lowercase();
    if let Some(day) = label.strip_prefix("rocmsdk") {
        return (day.len() == 8 && day.bytes().all(|b| b.is_ascii_digit()))
            .then(|| RocmOrigin::Day(day.to_owned()));
    }
    let text = label
        .strip_prefix("devrocm")
        .or_else(|| label.strip_prefix("rocm"))?;
    // A commit or other segments unrelated to ROCm may follow the version.
    let ends = text
        .match_indices(['.', '-', '_'])
        .map(|(at, _)| at)
        .chain([text.len()]);
    let whole = ends
        .rev()
        .find_map(|end| text[..end].parse::<Version>().ok())?;
    let is_dotted = whole.release().len() > 1;
    let compact = || {
        let spread: Vec<String> = text.chars().map(String::from).collect();
        spread
            .join(".")
            .parse::<RocmVersion>()
            .ok()?
            .as_str()
            .parse::<Version>()
            .ok()
    };
    if is_dotted { Some(whole) } else { compact() }.map(RocmOrigin::Release)
}

#[cfg(test)]
mod tests {
    use super::find_order_conflict;
    use crate::Version;

    /// Returns the labels of the conflict.
    fn check(labels: &[&str]) -> Option<(String, String)> {
        let versions: Vec<Version> = labels
            .iter()
            .map(|label| format!("2.9.0+{label}").parse().unwrap())
            .collect();
        let local = |version: Version| version.local().unwrap_or_default().to_owned();
        find_order_conflict(&versions).map(|found| (local(found.below), local(found.above)))
    }

    #[track_caller]
    fn assert_conflict(labels: &[&str], below: &str, above: &str) {
        assert_eq!(check(labels), Some((below.to_owned(), above.to_owned())));
    }

    #[test]
    fn two_digits_stand_below_one() {
        assert_conflict(&["rocm7.14.0", "rocm10.2.0"], "rocm10.2.0", "rocm7.14.0");
        assert_conflict(
            &[
                "rocm7.14.0",
                "rocm7.9.0",
                "git1a2b3c4d.rocm7.9.0",
                "rocm10.2",
            ],
            "rocm10.2",
            "rocm7.14.0",
        );
        assert_eq!(
            check(&[
                "rocm7.14.0",
                "rocm7.9.0",
                "rocm7.10.0a20251124",
                "rocm7.10.0"
            ]),
            None
        );
        assert_eq!(check(&["rocm62", "rocm64", "rocm71"]), None);
        assert_conflict(&["rocm72", "rocm7.14.0"], "rocm7.14.0", "rocm72");
    }

    #[test]
    fn a_rocm_in_development_stands_below_all_and_a_day_above() {
        assert_conflict(
            &["rocm7.10.0", "devrocm7.11.0.dev0.efed3c"],
            "devrocm7.11.0.dev0.efed3c",
            "rocm7.10.0",
        );
        assert_eq!(check(&["rocm7.10.0", "devrocm7.10.0.dev0.efed3c"]), None);
        assert_conflict(
            &["rocm7.10.0", "rocmsdk20250528"],
            "rocm7.10.0",
            "rocmsdk20250528",
        );
        assert_conflict(
            &["git00000000.rocmsdk20250528", "rocm7.10.0"],
            "git00000000.rocmsdk20250528",
            "rocm7.10.0",
        );
        assert_eq!(check(&["rocmsdk20250528", "rocmsdk20250601"]), None);
    }

    #[test]
    fn labels_that_name_torch_and_other_public_versions_are_not_compared() {
        assert_eq!(check(&["rocm10.1torch2.15", "rocm62torch2.5"]), None);
        assert_eq!(check(&["cu124", "rocm7.14.0", "rocm", "x"]), None);
        let versions = ["2.9.0+rocm7.14.0", "2.9.1+rocm10.2.0", "2.9.0"]
            .map(|text| text.parse::<Version>().unwrap());
        assert_eq!(find_order_conflict(&versions), None);
    }
}
