//! Selects releases to delete: nightly builds that newer ones have replaced.
//!
//! Input: the releases, a rule, the ID of the release that is marked as latest, and the time.
//! Output: a decision for each release whose tag matches the rule, in the order of deletion.
//!
//! **Invariant:** a release is kept if its tag does not match the rule, if it is immutable or
//! marked as latest, or if its age is unknown (unless it continues a release that is deleted). A
//! rule without conditions deletes nothing, and a rule without an age deletes no drafts.

mod outcome;

use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;

use super::{ListedRelease, ReleaseListing};
use rock_names::Age;

pub use outcome::PruneOutcome;

/// A rule that selects releases to delete: those with matching tags that are neither among the
/// newest nor young.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneRule {
    /// The matching tags.
    pub tags: TagGlob,
    /// The number of newest published releases to keep.
    pub keep: Option<usize>,
    /// The age up to which releases are kept.
    pub older_than: Option<Age>,
}

/// A pattern for tags, in which `*` matches any text and `?` matches one character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagGlob(String);

/// The error for a text that is not a pattern for tags.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a valid tag pattern: it is text with `*` and `?`, such as `nightly-*`, but not \
     only `*`"
)]
pub struct TagGlobError(pub String);

/// The decision for a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneDecision<'l> {
    pub release: &'l ListedRelease,
    /// The decision.
    pub fate: PruneFate,
}

/// The decision whether to delete a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PruneFate {
    /// It is deleted.
    Delete(PruneReason),
    /// It is kept.
    Keep(PruneReason),
}

/// The reason for a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PruneReason {
    /// It is the release that GitHub shows as the latest.
    Latest,
    /// It is immutable: its assets and tag cannot change.
    Immutable,
    /// Its position among the published releases, and its age.
    Place {
        /// The position, where 1 is the newest; `usize::MAX` for a release that continues another
        /// one.
        place: usize,
        /// Seconds since it was published.
        age_s: u64,
    },
    /// It is a draft of this age.
    Draft {
        /// Seconds since it was last changed.
        age_s: u64,
    },
    /// It is a draft, and the rule has no minimum age: a publish may be in progress.
    DraftWithoutAge,
    /// Its age is unknown.
    UnknownAge,
    /// It continues a release that is kept.
    Continues,
}

/// Returns a decision for each release that the rule matches: first drafts to delete, then other
/// releases to delete, the oldest first, then releases to keep, the newest first. `latest` is the
/// ID of the release that is marked as latest, `now_s` the time in seconds since 1970.
///
/// A release that continues a kept one is kept. A release of unknown age that continues a deleted
/// one is deleted.
pub fn prune<'l>(
    listing: &'l ReleaseListing,
    rule: &PruneRule,
    latest: Option<u64>,
    now_s: u64,
) -> Vec<PruneDecision<'l>> {
    let named: Vec<&ListedRelease> = listing
        .releases
        .iter()
        .filter(|release| rule.tags.fits(&release.tag_name))
        .collect();
    let first_of = |release: &ListedRelease| {
        let tag = continued(release)?;
        named
            .iter()
            .find(|other| other.tag_name == tag && other.id != release.id)
            .copied()
    };
    let mut newest: Vec<&ListedRelease> = named
        .iter()
        .copied()
        .filter(|release| !release.draft && first_of(release).is_none())
        .collect();
    newest.sort_by_key(|release| {
        Reverse((
            release.published_at.as_deref().and_then(seconds),
            release.id,
        ))
    });
    let fate = |release: &ListedRelease| {
        let place = newest
            .iter()
            .position(|other| other.id == release.id)
            .map(|at| at + 1);
        judge(release, rule, place, latest, now_s)
    };
    let mut judged: Vec<PruneDecision<'_>> = named
        .iter()
        .map(|release| {
            let own = fate(release);
            let fate = match (first_of(release).map(fate), own) {
                (Some(PruneFate::Keep(_)), PruneFate::Delete(_)) => {
                    PruneFate::Keep(PruneReason::Continues)
                }
                (Some(PruneFate::Delete(because)), PruneFate::Keep(PruneReason::UnknownAge)) => {
                    PruneFate::Delete(because)
                }
                _ => own,
            };
            PruneDecision { release, fate }
        })
        .collect();
    judged.sort_by_key(|judged| {
        let time = changed(judged.release).unwrap_or_default();
        match judged.fate {
            PruneFate::Delete(_) => (
                i32::from(!judged.release.draft),
                i128::from(time),
                judged.release.id,
            ),
            PruneFate::Keep(_) => (2, -i128::from(time), judged.release.id),
        }
    });
    judged
}

/// Returns the decision for one release. `place` is its position among the published releases; a
/// release that continues another one has none, and only its age counts.
fn judge(
    release: &ListedRelease,
    rule: &PruneRule,
    place: Option<usize>,
    latest: Option<u64>,
    now_s: u64,
) -> PruneFate {
    if release.immutable {
        return PruneFate::Keep(PruneReason::Immutable);
    }
    if latest == Some(release.id) {
        return PruneFate::Keep(PruneReason::Latest);
    }
    let Some(time) = changed(release) else {
        return PruneFate::Keep(PruneReason::UnknownAge);
    };
    let age_s = now_s.saturating_sub(time);
    let is_old = rule.older_than.is_none_or(|least| age_s > least.seconds());
    if release.draft {
        return match rule.older_than {
            None => PruneFate::Keep(PruneReason::DraftWithoutAge),
            Some(_) if is_old => PruneFate::Delete(PruneReason::Draft { age_s }),
            Some(_) => PruneFate::Keep(PruneReason::Draft { age_s }),
        };
    }
    let has_rule = rule.keep.is_some() || rule.older_than.is_some();
    let place = place.unwrap_or(usize::MAX);
    let is_behind = rule.keep.is_none_or(|keep| place > keep);
    let because = PruneReason::Place { place, age_s };
    if has_rule && is_old && is_behind {
        PruneFate::Delete(because)
    } else {
        PruneFate::Keep(because)
    }
}

/// Returns the time at which a release was published or a draft was last changed. GitHub's
/// `created_at` of a release is the date of its commit (GitHub Docs, "Get the latest release") and
/// says nothing about a draft.
fn changed(release: &ListedRelease) -> Option<u64> {
    if !release.draft {
        return release.published_at.as_deref().and_then(seconds);
    }
    let assets = release
        .assets
        .iter()
        .filter_map(|asset| asset.created_at.as_deref());
    assets
        .chain(release.updated_at.as_deref())
        .filter_map(seconds)
        .max()
}

/// Returns the tag of the release that this one continues.
fn continued(release: &ListedRelease) -> Option<&str> {
    super::remote::continued_tag(release.body.as_deref()?)
}

/// Parses a time such as `2026-11-21T08:30:00Z` (RFC 3339, in UTC as GitHub writes it) into seconds
/// since 1970.
fn seconds(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let numbers = |text: &str, by: char| -> Option<Vec<u64>> {
        text.split(by).map(|part| part.parse().ok()).collect()
    };
    let (date, time) = (numbers(date, '-')?, numbers(time.split('.').next()?, ':')?);
    let ([year, month, day], [hour, minute, second]) = (&date[..], &time[..]) else {
        return None;
    };
    if !(1970..=9999).contains(year) || !(1..=12).contains(month) || !(1..=31).contains(day) {
        return None;
    }
    if *hour > 23 || *minute > 59 || *second > 60 {
        return None;
    }
    // In a year that starts in March, the leap day comes last, and the number of days before a
    // month is a linear function of the month.
    let (year, month) = if *month < 3 {
        (year - 1, month + 9)
    } else {
        (*year, month - 3)
    };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    // Days from 1 March of the year 0 to 1970.
    Some((days - 719_468) * 86_400 + hour * 3600 + minute * 60 + second)
}

impl TagGlob {
    /// Whether the pattern matches a tag.
    pub fn fits(&self, tag: &str) -> bool {
        Self::matches(&self.0, tag)
    }

    /// Whether a pattern, which may be `*` alone, matches a tag.
    pub fn matches(pattern: &str, tag: &str) -> bool {
        fits(pattern.as_bytes(), tag.as_bytes())
    }
}

fn fits(glob: &[u8], text: &[u8]) -> bool {
    // Where to resume after a mismatch: behind the last `*`, one byte later in the text.
    let (mut at, mut read, mut again) = (0, 0, None);
    while read < text.len() {
        match glob.get(at) {
            Some(b'*') => {
                again = Some((at + 1, read));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == text[read] => {
                at += 1;
                read += 1;
            }
            _ => {
                let Some((after, from)) = again else {
                    return false;
                };
                again = Some((after, from + 1));
                (at, read) = (after, from + 1);
            }
        }
    }
    glob[at..].iter().all(|byte| *byte == b'*')
}

impl FromStr for TagGlob {
    type Err = TagGlobError;

    fn from_str(text: &str) -> Result<Self, TagGlobError> {
        let has_letter = text.bytes().any(|byte| byte.is_ascii_alphanumeric());
        if has_letter {
            Ok(Self(text.to_owned()))
        } else {
            Err(TagGlobError(text.to_owned()))
        }
    }
}

impl fmt::Display for TagGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for PruneReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latest => f.write_str("it is marked as the latest release"),
            Self::Immutable => f.write_str("it is immutable"),
            Self::Place {
                place: usize::MAX,
                age_s,
            } => write!(f, "{}", aged(*age_s)),
            Self::Place { place: 1, age_s } => write!(f, "the newest, {}", aged(*age_s)),
            Self::Place { place, age_s } => {
                write!(f, "number {place} from the newest, {}", aged(*age_s))
            }
            Self::Draft { age_s } => write!(f, "a draft, last changed {}", aged(*age_s)),
            Self::DraftWithoutAge => {
                f.write_str("a draft that may still be in use by a publish; pass `--older-than`")
            }
            Self::UnknownAge => f.write_str("its age is unknown"),
            Self::Continues => f.write_str("it has files of a release that is kept"),
        }
    }
}

fn aged(age_s: u64) -> String {
    match (age_s / 86_400, age_s / 3600) {
        (0, 1) => "1 hour old".to_owned(),
        (0, hours) => format!("{hours} hours old"),
        (1, _) => "1 day old".to_owned(),
        (days, _) => format!("{days} days old"),
    }
}

#[cfg(test)]
mod tests {
    use super::{PruneFate, PruneReason, PruneRule, TagGlob, prune, seconds};
    use crate::{ListedAsset, ListedRelease, ReleaseListing};

    const NOW: &str = "2026-11-21T00:00:00Z";

    fn release(id: u64, tag: &str, day: &str) -> ListedRelease {
        let published_at = Some(format!("2026-{day}T00:00:00Z"));
        ListedRelease {
            id,
            tag_name: tag.to_owned(),
            published_at,
            ..ListedRelease::default()
        }
    }

    fn draft(id: u64, tag: &str, updated: Option<&str>) -> ListedRelease {
        let updated_at = updated.map(|day| format!("2026-{day}T00:00:00Z"));
        ListedRelease {
            id,
            tag_name: tag.to_owned(),
            draft: true,
            updated_at,
            ..ListedRelease::default()
        }
    }

    fn rule(keep: Option<usize>, older_than: Option<&str>) -> PruneRule {
        let older_than = older_than.map(|text| text.parse().unwrap());
        PruneRule {
            tags: "nightly-*".parse().unwrap(),
            keep,
            older_than,
        }
    }

    /// Returns the IDs of the releases to delete, in order.
    fn deleted(releases: Vec<ListedRelease>, rule: &PruneRule, latest: Option<u64>) -> Vec<u64> {
        let listing = ReleaseListing {
            repository: None,
            releases,
        };
        let judged = prune(&listing, rule, latest, seconds(NOW).unwrap());
        judged
            .iter()
            .filter(|judged| matches!(judged.fate, PruneFate::Delete(_)))
            .map(|judged| judged.release.id)
            .collect()
    }

    fn nightlies() -> Vec<ListedRelease> {
        let days = ["11-20", "11-10", "10-01", "09-01"];
        (1..)
            .zip(days)
            .map(|(id, day)| release(id, &format!("nightly-{day}"), day))
            .collect()
    }

    #[test]
    fn the_newest_stay_and_the_oldest_go_first() {
        assert_eq!(deleted(nightlies(), &rule(Some(2), None), None), [4, 3]);
        assert_eq!(
            deleted(nightlies(), &rule(Some(9), None), None),
            [] as [u64; 0]
        );
        assert_eq!(
            deleted(nightlies(), &rule(Some(0), None), None),
            [4, 3, 2, 1]
        );
    }

    #[test]
    fn young_ones_stay_and_both_parts_of_a_rule_must_let_go() {
        assert_eq!(deleted(nightlies(), &rule(None, Some("30d")), None), [4, 3]);
        assert_eq!(deleted(nightlies(), &rule(Some(3), Some("30d")), None), [4]);
        assert_eq!(deleted(nightlies(), &rule(Some(1), Some("60d")), None), [4]);
        assert_eq!(
            deleted(nightlies(), &rule(None, None), None),
            [] as [u64; 0],
            "no rule, nothing is deleted"
        );
    }

    #[test]
    fn other_tags_immutable_ones_and_the_latest_never_go() {
        let mut releases = nightlies();
        releases[3].immutable = true;
        releases.push(release(9, "v1", "01-01"));
        releases.push(release(10, "old-nightly-1", "01-01"));
        assert_eq!(deleted(releases, &rule(Some(0), None), Some(3)), [2, 1]);
    }

    #[test]
    fn drafts_go_first_and_only_when_they_are_old() {
        let all = |updated| [vec![draft(8, "nightly-x", updated)], nightlies()].concat();
        assert_eq!(
            deleted(all(Some("01-01")), &rule(Some(3), Some("30d")), None),
            [8, 4]
        );
        assert_eq!(
            deleted(all(Some("11-20")), &rule(Some(3), Some("30d")), None),
            [4]
        );
        assert_eq!(
            deleted(all(None), &rule(Some(3), Some("30d")), None),
            [4],
            "its age is unknown"
        );
        assert_eq!(
            deleted(all(Some("01-01")), &rule(Some(3), None), None),
            [4],
            "a publish may be under way"
        );
        let mut fed = draft(8, "nightly-x", Some("01-01"));
        let created_at = Some("2026-11-20T12:00:00Z".to_owned());
        fed.assets.push(ListedAsset {
            created_at,
            ..ListedAsset::default()
        });
        assert_eq!(
            deleted(vec![fed], &rule(None, Some("30d")), None),
            [] as [u64; 0],
            "a file came yesterday"
        );
    }

    #[test]
    fn a_continuation_is_pruned_with_its_release_and_not_counted() {
        let mut releases = nightlies();
        let mut more = release(7, "nightly-11-10-2", "11-10");
        more.body = Some(
            "Further files of `nightly-11-10`.\n\n<!-- rock-matrix continues nightly-11-10 -->\n"
                .into(),
        );
        releases.push(more);
        assert_eq!(
            deleted(releases.clone(), &rule(Some(2), None), None),
            [4, 3]
        );
        assert_eq!(deleted(releases, &rule(Some(1), None), None), [4, 3, 2, 7]);
    }

    #[test]
    fn an_unreadable_date_keeps_a_release() {
        let mut odd = release(1, "nightly-1", "01-01");
        for date in [None, Some("yesterday"), Some("2026-13-01T00:00:00Z")] {
            odd.published_at = date.map(str::to_owned);
            assert_eq!(
                deleted(vec![odd.clone()], &rule(Some(0), None), None),
                [] as [u64; 0],
                "{date:?}"
            );
        }
    }

    #[test]
    fn times_are_seconds_since_1970() {
        for (text, expect) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("2000-02-29T12:00:00Z", Some(951_825_600)),
            ("2026-11-21T00:00:01.25Z", Some(1_795_219_201)),
            ("2026-11-21", None),
            ("1969-01-01T00:00:00Z", None),
            ("2026-01-01T24:00:00Z", None),
        ] {
            assert_eq!(seconds(text), expect, "{text}");
        }
    }

    #[test]
    fn patterns_are_read_or_refused() {
        let fits = |glob: &str, tag| glob.parse::<TagGlob>().unwrap().fits(tag);
        assert!(
            fits("nightly-*", "nightly-1")
                && fits("*-nightly-*-x", "a-nightly-b-nightly-c-x")
                && fits("v?", "v1")
        );
        assert!(
            !fits("nightly-*", "v-nightly-1")
                && !fits("v?", "v10")
                && !fits("v1", "v10")
                && !fits("v?", "v")
        );
        for bad in ["", "*", "?*", "-*"] {
            assert!(bad.parse::<TagGlob>().is_err(), "{bad}");
        }
        assert_eq!(
            PruneReason::Place {
                place: 8,
                age_s: 31 * 86_400
            }
            .to_string(),
            "number 8 from the newest, 31 days old"
        );
    }
}
