//! Whether labels order versions as the ROCm releases order that they name.
//!
//! **Invariant:** only labels that a ROCm SDK gives are judged; one that names torch, too, is for
//! one torch alone, and an order between torches means nothing.

use std::collections::BTreeMap;

use super::{RocmVersion, Version};

/// What a label says of ROCm.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Built {
    /// For this ROCm: `rocm7.10.0a20251124`, `devrocm7.10.0.dev0`.
    For(Version),
    /// On a day, for whatever ROCm was the newest: `rocmsdk20250528`.
    On(String),
}

/// Two versions of which an installer takes the one for the newer that is for an earlier ROCm, or
/// tells nothing of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misordered {
    /// The one that sorts below.
    pub below: Version,
    /// The one that sorts above.
    pub above: Version,
    /// Why that is wrong.
    pub reason: String,
}

/// Two versions of one distribution that labels order against ROCm; `None` where there are none.
///
/// A label is compared segment by segment, and a segment that is no number as a text (PEP 440,
/// "Local version identifiers"): `rocm10` stands below `rocm7`.
pub fn misordered<'v>(versions: impl IntoIterator<Item = &'v Version>) -> Option<Misordered> {
    let mut by_public: BTreeMap<String, BTreeMap<&Version, Built>> = BTreeMap::new();
    for version in versions {
        if let Some(built) = version.local().and_then(built) {
            by_public
                .entry(version.public().normalized())
                .or_default()
                .insert(version, built);
        }
    }
    by_public.values().find_map(|sorted| {
        // What installers take, beside the latest ROCm, says the most.
        let latest = sorted
            .iter()
            .filter(|(_, built)| matches!(built, Built::For(_)))
            .max_by_key(|(_, built)| *built);
        let ends = latest.zip(sorted.last_key_value());
        let pairs = sorted.iter().zip(sorted.iter().skip(1));
        ends.into_iter()
            .chain(pairs)
            .find_map(|(one, other)| against(one, other))
    })
}

/// Says why it is wrong that one sorts below the other; `None` where it is not.
fn against(
    (below, one): (&&Version, &Built),
    (above, other): (&&Version, &Built),
) -> Option<Misordered> {
    let reason = match (one, other) {
        (Built::For(one), Built::For(other)) if one > other => {
            format!("is for ROCm {other}, not {one}")
        }
        (Built::For(one), Built::On(_)) => {
            format!("says its day, and not whether its ROCm is later than {one}")
        }
        (Built::On(_), Built::For(other)) => {
            format!("is for ROCm {other}, and nothing says which is later")
        }
        _ => return None,
    };
    Some(Misordered {
        below: (*below).clone(),
        above: (*above).clone(),
        reason,
    })
}

/// Reads `rocm7.10.0`, `rocm7.10.0a20251124`, `devrocm7.10.0.dev0.efed3c`, `rocmsdk20250528`, and
/// each of them behind `git1a2b3c4d.`.
fn built(label: &str) -> Option<Built> {
    let behind_commit = label
        .strip_prefix("git")
        .and_then(|rest| rest.split_once('.'))
        .map(|(_, rest)| rest);
    let label = behind_commit.unwrap_or(label).to_ascii_lowercase();
    if let Some(day) = label.strip_prefix("rocmsdk") {
        return (day.len() == 8 && day.bytes().all(|b| b.is_ascii_digit()))
            .then(|| Built::On(day.to_owned()));
    }
    let text = label
        .strip_prefix("devrocm")
        .or_else(|| label.strip_prefix("rocm"))?;
    // What follows the version is a commit, or something that says nothing of ROCm.
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
    if is_dotted { Some(whole) } else { compact() }.map(Built::For)
}

#[cfg(test)]
mod tests {
    use super::misordered;
    use crate::Version;

    /// The two that are told of, by their labels.
    fn check(labels: &[&str]) -> Option<(String, String)> {
        let versions: Vec<Version> = labels
            .iter()
            .map(|label| format!("2.9.0+{label}").parse().unwrap())
            .collect();
        let local = |version: Version| version.local().unwrap_or_default().to_owned();
        misordered(&versions).map(|found| (local(found.below), local(found.above)))
    }

    #[track_caller]
    fn told(labels: &[&str], below: &str, above: &str) {
        assert_eq!(check(labels), Some((below.to_owned(), above.to_owned())));
    }

    #[test]
    fn two_digits_stand_below_one() {
        told(&["rocm7.14.0", "rocm10.2.0"], "rocm10.2.0", "rocm7.14.0");
        told(
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
        told(&["rocm72", "rocm7.14.0"], "rocm7.14.0", "rocm72");
    }

    #[test]
    fn a_rocm_in_development_stands_below_all_and_a_day_above() {
        told(
            &["rocm7.10.0", "devrocm7.11.0.dev0.efed3c"],
            "devrocm7.11.0.dev0.efed3c",
            "rocm7.10.0",
        );
        assert_eq!(check(&["rocm7.10.0", "devrocm7.10.0.dev0.efed3c"]), None);
        told(
            &["rocm7.10.0", "rocmsdk20250528"],
            "rocm7.10.0",
            "rocmsdk20250528",
        );
        told(
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
        assert_eq!(misordered(&versions), None);
    }
}
