//! Rules that yank files (PEP 592).

use std::collections::{BTreeMap, BTreeSet};

use super::{IndexFile, YankStatus};
use rock_names::{Age, Version, YankSelection, YankSelector, YankedFiles};
use serde::Serialize;

/// Seconds per day.
const DAY_S: u64 = 24 * 60 * 60;

/// A rule that selects files to yank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum YankRule {
    /// Files with a reason: `flash-attn<2.6: superseded`.
    These(YankSelection),
    /// Nightly builds older than `age`, except the newest `keep` versions of each project in each
    /// directory that are not yanked.
    Nightly {
        /// The age up to which a nightly build is kept.
        age: Age,
        /// The number of versions that are kept regardless of age.
        keep: usize,
    },
}

/// The changes that rules make.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct YankChanges {
    /// Names of files to yank, with the reason.
    pub yank: BTreeMap<String, String>,
    /// Names of yanked files that get another reason.
    pub reasons: BTreeMap<String, ReasonChange>,
    /// Names of yanked files that a selection selects and that keep their reason.
    pub kept: BTreeMap<String, String>,
    /// Names of files to unyank.
    pub unyank: BTreeSet<String>,
    /// Names of nightly builds whose date is unknown.
    pub undated: BTreeSet<String>,
}

/// The reason of a yanked file, before and after a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReasonChange {
    /// The old reason; empty if there was none.
    pub before: String,
    /// The new reason.
    pub after: String,
}

/// Returns the changes that the rules make to these files. A file that both lists select is
/// unyanked. One that is already yanked gets the reason of a selection, if that has one.
pub fn yank_changes(
    files: &[IndexFile],
    yank: &[YankRule],
    unyank: &[YankSelector],
    now_s: u64,
) -> YankChanges {
    let mut changes = YankChanges::default();
    for rule in yank {
        match rule {
            YankRule::These(YankSelection { selector, reason }) => {
                let selected = files.iter().filter(|file| is_selected(selector, file));
                changes
                    .yank
                    .extend(selected.map(|file| (file.name.clone(), reason.clone())));
            }
            YankRule::Nightly { age, keep } => add_nightly(files, *age, *keep, now_s, &mut changes),
        }
    }
    for file in files {
        let is_unyanked = unyank.iter().any(|selector| is_selected(selector, file));
        match &file.yanked {
            YankStatus::No if is_unyanked => {
                changes.yank.remove(&file.name);
            }
            YankStatus::No => {}
            YankStatus::Because(_) if is_unyanked => {
                changes.yank.remove(&file.name);
                changes.unyank.insert(file.name.clone());
            }
            YankStatus::Because(before) => changes.keep_yanked(&file.name, before),
        }
    }
    changes
}

/// Returns whether the selector selects a file.
pub fn is_selected(selector: &YankSelector, file: &IndexFile) -> bool {
    selector.matches(&file.name, &file.project, &file.version)
}

impl YankChanges {
    /// Replaces the reason of a file that is already yanked, if a selection has another one.
    fn keep_yanked(&mut self, name: &str, before: &str) {
        let Some(after) = self.yank.remove(name) else {
            return;
        };
        let name = name.to_owned();
        let before = before.to_owned();
        if after.is_empty() || after == before {
            self.kept.insert(name, before);
        } else {
            self.reasons.insert(name, ReasonChange { before, after });
        }
    }

    /// Applies the changes to the files that they name.
    pub fn apply(&self, files: &mut [IndexFile]) {
        for file in files {
            if let Some(reason) = self.yank.get(&file.name) {
                file.yanked = YankStatus::Because(reason.clone());
            } else if let Some(reason) = self.reasons.get(&file.name) {
                file.yanked = YankStatus::Because(reason.after.clone());
            } else if self.unyank.contains(&file.name) {
                file.yanked = YankStatus::No;
            }
        }
    }
}

/// Yanks the files that `yanked` lists, with the same reasons.
pub fn carry_over<'f>(yanked: &YankedFiles, files: impl IntoIterator<Item = &'f mut IndexFile>) {
    if yanked.is_empty() {
        return;
    }
    for file in files {
        if let Some(reason) = yanked.reason(&file.name, file.digest) {
            file.yanked = YankStatus::Because(reason.to_owned());
        }
    }
}

fn add_nightly(files: &[IndexFile], age: Age, keep: usize, now_s: u64, changes: &mut YankChanges) {
    let first_day = now_s.saturating_sub(age.seconds()) / DAY_S;
    let mut groups: BTreeMap<(String, String), Vec<&IndexFile>> = BTreeMap::new();
    for file in files.iter().filter(|file| is_nightly(file)) {
        groups
            .entry((file.folder.to_string(), file.project.normalized()))
            .or_default()
            .push(file);
    }
    for group in groups.values() {
        let is_offered = |file: &&&IndexFile| {
            file.yanked == YankStatus::No && !changes.yank.contains_key(&file.name)
        };
        let versions: BTreeSet<Version> = group
            .iter()
            .filter(is_offered)
            .map(|file| file.version.public())
            .collect();
        let kept: BTreeSet<&Version> = versions.iter().rev().take(keep).collect();
        for file in group
            .iter()
            .filter(|file| !kept.contains(&file.version.public()))
        {
            match day_of(file) {
                None => drop(changes.undated.insert(file.name.clone())),
                // A rule by age has no reason of its own.
                Some((day, text)) if day < first_day && file.yanked == YankStatus::No => {
                    let reason = format!("nightly build of {text}, older than {age}");
                    changes.yank.entry(file.name.clone()).or_insert(reason);
                }
                Some(_) => {}
            }
        }
    }
}

/// Whether a file is a nightly build: its version is a `.dev` version, or the tag of its release
/// starts with `nightly`.
fn is_nightly(file: &IndexFile) -> bool {
    file.version.is_dev()
        || file
            .origin
            .as_ref()
            .is_some_and(|origin| origin.tag.starts_with("nightly"))
}

/// Returns the date of a nightly build: that of its version, `.dev20261101`, or else of its upload.
fn day_of(file: &IndexFile) -> Option<(u64, String)> {
    let version = file.version.public().normalized();
    let digits = version
        .rsplit_once(".dev")
        .map(|(_, digits)| digits)
        .filter(|digits| digits.len() == 8);
    let of_version =
        digits.and_then(|d| Some(format!("{}-{}-{}", d.get(..4)?, d.get(4..6)?, d.get(6..)?)));
    let of_upload = || {
        file.uploaded
            .as_deref()
            .and_then(|time| time.get(..10))
            .map(str::to_owned)
    };
    let dated = |text: String| Some((day_number(&text)?, text));
    of_version
        .and_then(dated)
        .or_else(|| of_upload().and_then(dated))
}

/// Returns the number of days from 1970-01-01 to a Gregorian date such as `2026-11-01`.
fn day_number(date: &str) -> Option<u64> {
    let mut parts = date.splitn(3, '-').map(|part| part.parse::<u64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let lengths = [
        31,
        28 + u64::from(is_leap(year)),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let in_range = (1970..=9999).contains(&year) && (1..=12).contains(&month);
    let before = lengths
        .iter()
        .take(usize::try_from(month).ok()?.checked_sub(1)?)
        .sum::<u64>();
    if !in_range || !(1..=lengths[usize::try_from(month - 1).ok()?]).contains(&day) {
        return None;
    }
    let years: u64 = (1970..year)
        .map(|year| 365 + u64::from(is_leap(year)))
        .sum();
    Some(years + before + day - 1)
}

#[cfg(test)]
mod tests {
    use super::{ReasonChange, YankRule, carry_over, day_number, yank_changes};
    use crate::testing::file;
    use crate::{FileLinks, IndexFile, PublishedOrigin, YankStatus};
    use rock_names::{YankSelection, YankSelector, YankedFiles};

    /// 2026-11-21 12:00 UTC.
    const NOW_S: u64 = 1_795_262_400;

    fn wheels(versions: &[&str]) -> Vec<IndexFile> {
        versions
            .iter()
            .map(|v| {
                file(
                    &format!("flash_attn-{v}-cp311-cp311-linux_x86_64.whl"),
                    "6.2",
                    "2.5",
                )
            })
            .collect()
    }

    fn rule(text: &str) -> YankRule {
        YankRule::These(text.parse().unwrap())
    }

    fn nightly(days: u32, keep: usize) -> YankRule {
        YankRule::Nightly {
            age: format!("{days}d").parse().unwrap(),
            keep,
        }
    }

    fn yanked(files: &[IndexFile], rule: YankRule) -> Vec<String> {
        let changes = yank_changes(files, &[rule], &[], NOW_S);
        changes
            .yank
            .keys()
            .map(|name| name.split('-').nth(1).unwrap().to_owned())
            .collect()
    }

    #[test]
    fn a_rule_names_a_project_and_versions_or_a_file_and_a_reason() {
        let files = wheels(&["2.5.9+rocm62", "2.6.3+rocm62", "2.6.3+rocm72"]);
        let these = |text: &str| yanked(&files, rule(text));
        assert_eq!(these("flash-attn<2.6: superseded"), ["2.5.9+rocm62"]);
        assert_eq!(
            these("Flash.Attn >=2.6,<3"),
            ["2.6.3+rocm62", "2.6.3+rocm72"]
        );
        assert_eq!(these("flash_attn==2.6.3+rocm72"), ["2.6.3+rocm72"]);
        assert_eq!(these("flash-attn").len(), 3);
        assert_eq!(
            these("flash_attn-2.6.3+rocm62-cp311-cp311-linux_x86_64.whl: broken"),
            ["2.6.3+rocm62"]
        );
        assert_eq!(these("triton<9"), Vec::<String>::new());
        for text in [
            "",
            "<2",
            "flash-attn<<2",
            "flash-attn==x+y",
            "a: two\nlines",
        ] {
            assert!(text.parse::<YankSelection>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn nightly_builds_are_yanked_by_age_and_the_newest_stay() {
        let files = wheels(&[
            "3.0.dev20261120",
            "3.0.dev20261001",
            "3.0.dev20260901",
            "3.0.dev20260801",
            "2.8.3",
            "3.0.dev7",
        ]);
        let old = |days, keep| yanked(&files, nightly(days, keep));
        assert_eq!(
            old(30, 1),
            ["3.0.dev20260801", "3.0.dev20260901", "3.0.dev20261001"]
        );
        assert_eq!(old(30, 3), ["3.0.dev20260801"]);
        assert_eq!(old(60, 0), ["3.0.dev20260801", "3.0.dev20260901"]);
        let undated = yank_changes(&files, &[nightly(1, 0)], &[], NOW_S).undated;
        assert_eq!(undated.len(), 1, "{undated:?}");
    }

    #[test]
    fn what_a_release_called_nightly_holds_is_as_old_as_its_upload() {
        let mut files = wheels(&["3.0", "3.1"]);
        for file in &mut files {
            let links = FileLinks::Relative(Vec::new());
            file.origin = Some(
                PublishedOrigin {
                    links,
                    tag: "nightly-x".to_owned(),
                }
                .into(),
            );
            file.uploaded = Some("2026-10-01T00:00:00Z".to_owned());
        }
        files[1].origin = None;
        assert_eq!(yanked(&files, nightly(30, 0)), ["3.0"]);
        assert_eq!(yanked(&files, nightly(51, 0)), Vec::<String>::new());
        assert_eq!(yanked(&files, nightly(50, 0)), ["3.0"]);
    }

    #[test]
    fn yanked_files_stay_yanked_until_they_are_unyanked() {
        let mut files = wheels(&["1.0", "2.0"]);
        let rule = rule("flash-attn<2: broken");
        yank_changes(&files, std::slice::from_ref(&rule), &[], NOW_S).apply(&mut files);
        assert_eq!(files[0].yanked, YankStatus::Because("broken".to_owned()));
        let yanked = [(files[0].name.clone(), files[0].digest, "broken".to_owned())];
        let mut next = wheels(&["1.0", "2.0"]);
        carry_over(&yanked.into_iter().collect::<YankedFiles>(), &mut next);
        assert_eq!(next, files);
        let changes = yank_changes(&next, &[rule], &[], NOW_S);
        assert!(changes.yank.is_empty() && changes.reasons.is_empty());
        assert_eq!(changes.kept.len(), 1);
        let selector: YankSelector = "flash-attn".parse().unwrap();
        let changes = yank_changes(&next, &[self::rule("flash-attn")], &[selector], NOW_S);
        assert_eq!((changes.yank.len(), changes.unyank.len()), (0, 1));
        changes.apply(&mut next);
        assert_eq!(next, wheels(&["1.0", "2.0"]));
    }

    #[test]
    fn a_new_reason_replaces_that_of_a_yanked_file() {
        let mut files = wheels(&["1.0", "3.0.dev20260801"]);
        for file in &mut files {
            file.yanked = YankStatus::Because("broken".to_owned());
        }
        let changes = yank_changes(&files, &[rule("flash-attn<2: insecure")], &[], NOW_S);
        let change = ReasonChange {
            before: "broken".to_owned(),
            after: "insecure".to_owned(),
        };
        assert_eq!(
            changes.reasons,
            [(files[0].name.clone(), change)].into_iter().collect()
        );
        assert!(changes.yank.is_empty() && changes.kept.is_empty());
        changes.apply(&mut files);
        assert_eq!(files[0].yanked, YankStatus::Because("insecure".to_owned()));
        for none in [rule("flash-attn"), nightly(30, 0)] {
            let changes = yank_changes(&files, &[none], &[], NOW_S);
            assert!(changes.yank.is_empty() && changes.reasons.is_empty());
        }
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(day_number("1970-01-01"), Some(0));
        assert_eq!(day_number("2000-03-01"), Some(11_017));
        assert_eq!(day_number("2026-11-21"), Some(NOW_S / 86_400));
        for none in [
            "2026-02-29",
            "2026-13-01",
            "2026-00-01",
            "1969-01-01",
            "x",
            "2026-11",
            "2026-11-",
        ] {
            assert_eq!(day_number(none), None, "{none}");
        }
    }
}
