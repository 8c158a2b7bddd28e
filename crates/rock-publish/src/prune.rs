//! Which releases may go: nightly builds that newer ones have taken the place of.
//!
//! Input: the releases, a rule, which one is marked latest, and the time. Output: a verdict on each
//! release whose tag the rule names, in the order in which they go.
//!
//! **Invariant:** a release never goes whose tag the rule does not name, that is immutable or
//! marked latest, or of which it is not known how old it is; a rule that says only one thing lets
//! nothing go that the other could keep.

use std::cmp::Reverse;
use std::fmt;
use std::str::FromStr;

use super::{ListedRelease, ReleaseListing};
use rock_names::Age;

/// What may go: of the releases that tags name, those that are neither among the newest nor young.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneRule {
    /// The tags.
    pub tags: TagGlob,
    /// So many of the newest published ones stay.
    pub keep: Option<usize>,
    /// What is no older than this stays.
    pub older_than: Option<Age>,
}

/// Tags, with `*` for any text and `?` for one character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagGlob(String);

/// Not a pattern of tags.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names no tags: write text with `*` and `?`, such as `nightly-*`, and no `*` alone")]
pub struct TagGlobError(pub String);

/// A release and whether it may go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneDecision<'l> {
    /// The release.
    pub release: &'l ListedRelease,
    /// Whether it goes.
    pub fate: PruneFate,
}

/// Whether a release goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PruneFate {
    /// It goes.
    Goes(PruneReason),
    /// It stays.
    Stays(PruneReason),
}

/// Why it goes or stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PruneReason {
    /// It is the release that GitHub shows first.
    Latest,
    /// Its assets and tag are locked.
    Immutable,
    /// It is that many published releases behind the newest, from 1, and that old in seconds.
    Place {
        /// 1 is the newest.
        place: usize,
        /// Since it was published.
        age_s: u64,
    },
    /// It is a draft that was last changed so many seconds ago.
    Draft {
        /// Since it was changed.
        age_s: u64,
    },
    /// It is a draft, and the rule does not say how old it must be: a publish may be under way.
    DraftWithoutAge,
    /// Nothing says how old it is.
    UnknownAge,
    /// It holds files of a release that stays.
    Continues,
}

/// The releases that a rule is about: first the drafts that go, then the others that go, the oldest
/// first, then those that stay, the newest first. `latest` is the number of the release marked so,
/// `now_s` the time in seconds since 1970.
///
/// Releases that go on with the files of another share its fate.
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
                (Some(PruneFate::Stays(_)), PruneFate::Goes(_)) => {
                    PruneFate::Stays(PruneReason::Continues)
                }
                (Some(PruneFate::Goes(because)), PruneFate::Stays(PruneReason::UnknownAge)) => {
                    PruneFate::Goes(because)
                }
                _ => own,
            };
            PruneDecision { release, fate }
        })
        .collect();
    judged.sort_by_key(|judged| {
        let time = changed(judged.release).unwrap_or_default();
        match judged.fate {
            PruneFate::Goes(_) => (
                i32::from(!judged.release.draft),
                i128::from(time),
                judged.release.id,
            ),
            PruneFate::Stays(_) => (2, -i128::from(time), judged.release.id),
        }
    });
    judged
}

/// `place` is that among the published ones; a release that continues another has none and is
/// judged by age alone.
fn judge(
    release: &ListedRelease,
    rule: &PruneRule,
    place: Option<usize>,
    latest: Option<u64>,
    now_s: u64,
) -> PruneFate {
    if release.immutable {
        return PruneFate::Stays(PruneReason::Immutable);
    }
    if latest == Some(release.id) {
        return PruneFate::Stays(PruneReason::Latest);
    }
    let Some(time) = changed(release) else {
        return PruneFate::Stays(PruneReason::UnknownAge);
    };
    let age_s = now_s.saturating_sub(time);
    let is_old = rule.older_than.is_none_or(|least| age_s > least.seconds());
    if release.draft {
        return match rule.older_than {
            None => PruneFate::Stays(PruneReason::DraftWithoutAge),
            Some(_) if is_old => PruneFate::Goes(PruneReason::Draft { age_s }),
            Some(_) => PruneFate::Stays(PruneReason::Draft { age_s }),
        };
    }
    let has_rule = rule.keep.is_some() || rule.older_than.is_some();
    let place = place.unwrap_or(usize::MAX);
    let is_behind = rule.keep.is_none_or(|keep| place > keep);
    let because = PruneReason::Place { place, age_s };
    if has_rule && is_old && is_behind {
        PruneFate::Goes(because)
    } else {
        PruneFate::Stays(because)
    }
}

/// When a release was published, or a draft last changed. GitHub's `created_at` of a release is the
/// date of its commit (GitHub Docs, "Get the latest release"), and says nothing of a draft.
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

/// The tag of the release whose files this one goes on with.
fn continued(release: &ListedRelease) -> Option<&str> {
    super::remote::continued_tag(release.body.as_deref()?)
}

/// Seconds since 1970 of a time like `2026-11-21T08:30:00Z` (RFC 3339, UTC as GitHub writes it).
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
    // Years that begin in March have their odd day at the end; the sum of month lengths is then a
    // line.
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
    /// Whether it names this tag.
    pub fn fits(&self, tag: &str) -> bool {
        Self::matches(&self.0, tag)
    }

    /// Returns whether a pattern, which may be `*` alone, names this tag.
    pub fn matches(pattern: &str, tag: &str) -> bool {
        fits(pattern.as_bytes(), tag.as_bytes())
    }
}

fn fits(glob: &[u8], text: &[u8]) -> bool {
    // Where to go on when what follows the last star does not fit: after it, one byte of the text
    // later.
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
                f.write_str("a draft, and a publish may be under way; give `--older-than`")
            }
            Self::UnknownAge => f.write_str("nothing says how old it is"),
            Self::Continues => f.write_str("it holds files of a release that stays"),
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

    /// The numbers of those that go, in their order.
    fn goes(releases: Vec<ListedRelease>, rule: &PruneRule, latest: Option<u64>) -> Vec<u64> {
        let listing = ReleaseListing {
            repository: None,
            releases,
        };
        let judged = prune(&listing, rule, latest, seconds(NOW).unwrap());
        judged
            .iter()
            .filter(|judged| matches!(judged.fate, PruneFate::Goes(_)))
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
        assert_eq!(goes(nightlies(), &rule(Some(2), None), None), [4, 3]);
        assert_eq!(
            goes(nightlies(), &rule(Some(9), None), None),
            [] as [u64; 0]
        );
        assert_eq!(goes(nightlies(), &rule(Some(0), None), None), [4, 3, 2, 1]);
    }

    #[test]
    fn young_ones_stay_and_both_parts_of_a_rule_must_let_go() {
        assert_eq!(goes(nightlies(), &rule(None, Some("30d")), None), [4, 3]);
        assert_eq!(goes(nightlies(), &rule(Some(3), Some("30d")), None), [4]);
        assert_eq!(goes(nightlies(), &rule(Some(1), Some("60d")), None), [4]);
        assert_eq!(
            goes(nightlies(), &rule(None, None), None),
            [] as [u64; 0],
            "no rule, nothing goes"
        );
    }

    #[test]
    fn other_tags_immutable_ones_and_the_latest_never_go() {
        let mut releases = nightlies();
        releases[3].immutable = true;
        releases.push(release(9, "v1", "01-01"));
        releases.push(release(10, "old-nightly-1", "01-01"));
        assert_eq!(goes(releases, &rule(Some(0), None), Some(3)), [2, 1]);
    }

    #[test]
    fn drafts_go_first_and_only_when_they_are_old() {
        let all = |updated| [vec![draft(8, "nightly-x", updated)], nightlies()].concat();
        assert_eq!(
            goes(all(Some("01-01")), &rule(Some(3), Some("30d")), None),
            [8, 4]
        );
        assert_eq!(
            goes(all(Some("11-20")), &rule(Some(3), Some("30d")), None),
            [4]
        );
        assert_eq!(
            goes(all(None), &rule(Some(3), Some("30d")), None),
            [4],
            "nothing says how old it is"
        );
        assert_eq!(
            goes(all(Some("01-01")), &rule(Some(3), None), None),
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
            goes(vec![fed], &rule(None, Some("30d")), None),
            [] as [u64; 0],
            "a file came yesterday"
        );
    }

    #[test]
    fn what_goes_on_with_a_release_goes_with_it_and_counts_for_none() {
        let mut releases = nightlies();
        let mut more = release(7, "nightly-11-10-2", "11-10");
        more.body = Some(
            "Further files of `nightly-11-10`.\n\n<!-- rock-matrix continues nightly-11-10 -->\n"
                .into(),
        );
        releases.push(more);
        assert_eq!(goes(releases.clone(), &rule(Some(2), None), None), [4, 3]);
        assert_eq!(goes(releases, &rule(Some(1), None), None), [4, 3, 2, 7]);
    }

    #[test]
    fn an_unreadable_date_keeps_a_release() {
        let mut odd = release(1, "nightly-1", "01-01");
        for date in [None, Some("yesterday"), Some("2026-13-01T00:00:00Z")] {
            odd.published_at = date.map(str::to_owned);
            assert_eq!(
                goes(vec![odd.clone()], &rule(Some(0), None), None),
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
