//! Comparison of the table `actions` with the tags of the actions' repositories, and its update.
//!
//! Input: rows, the tags that GitHub lists, and the `action.yml` of newer releases. Output: updates,
//! remarks, and updated rows.
//!
//! **Invariant:** commits are taken from the list of tags only, and a row whose tag moved is kept.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::codes::facts as codes;
use crate::rows::{ActionRow, Confidence, Provenance};
use rock_diagnostic::{Diagnostic, Location, Sink, SourceText};

/// The action of this project. A release cannot contain its own commit, so the embedded table has no
/// row for it.
pub const OWN_ACTION: &str = "org/rock-action";
/// The source of updated rows, a key of `sources`.
const SOURCE: &str = "tags";
/// Maximal length of `runs.using` in bytes; longer values are ignored.
const LONGEST_RUNTIME: usize = 32;

/// A tag with its commit (GitHub REST API 2022-11-28, "List repository tags"). The commit of an
/// annotated tag is that of the tagged object.
#[derive(Debug, Clone, Deserialize)]
pub struct ActionTag {
    /// The name.
    pub name: String,
    /// The commit.
    pub commit: TagCommit,
}

/// The commit of a tag.
#[derive(Debug, Clone, Deserialize)]
pub struct TagCommit {
    /// The SHA-1 hash in hexadecimal.
    pub sha: String,
}

/// A release of an action that is newer than its row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionRelease {
    /// `v8.0.0`.
    pub version: String,
    /// The commit hash.
    pub sha: String,
}

/// An update of a row, or a new row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ActionUpdate {
    /// `OWNER/REPOSITORY`.
    pub action: String,
    /// The version of the row; `None` without a row.
    pub from: Option<String>,
    /// The newest release.
    pub to: String,
    /// The commit hash.
    pub sha: String,
    /// The runtime, `node24` or `composite`.
    pub runtime: String,
    /// Whether the major version changes.
    #[serde(rename = "major")]
    pub is_major: bool,
}

/// A remark about a row that a maintainer should read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionRemark {
    /// `OWNER/REPOSITORY`.
    pub action: String,
    /// The kind of remark.
    pub kind: RemarkKind,
}

/// The kinds of remarks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemarkKind {
    /// The repository is not visible on GitHub.
    NoRepository,
    /// The version of the row does not have the form `v1.2.3`, so it is not compared.
    NoRelease {
        /// The version of the row.
        version: String,
    },
    /// No tag has the version of the row.
    NoTag {
        /// The version of the row.
        version: String,
    },
    /// The tag has another commit than the row.
    MovedTag {
        /// The version of the row.
        version: String,
        /// The commit of the row.
        pinned: String,
        /// The commit of the tag.
        found: String,
    },
    /// A newer tag has no valid commit hash.
    NoCommit {
        /// The newer version.
        version: String,
    },
    /// A newer version has an unsupported runtime.
    Runtime {
        /// The newer version.
        version: String,
        /// The runtime; empty if unknown.
        runtime: String,
    },
}

/// Compares a row with the tags of its repository. Returns the newest release, if it is newer and
/// can be taken, and remarks.
pub fn find_newer_release(
    row: &ActionRow,
    tags: &[ActionTag],
) -> (Option<ActionRelease>, Vec<ActionRemark>) {
    let remark = |about| ActionRemark {
        action: row.name.clone(),
        kind: about,
    };
    let version = row.version.clone();
    let Some(known) = parse_release(&row.version) else {
        return (None, vec![remark(RemarkKind::NoRelease { version })]);
    };
    let mut remarks = Vec::new();
    match tags.iter().find(|tag| tag.name == row.version) {
        None => remarks.push(remark(RemarkKind::NoTag { version })),
        Some(tag) if !tag.commit.sha.eq_ignore_ascii_case(&row.sha) => {
            // Newer tags of this repository are not trusted either.
            let (pinned, found) = (row.sha.clone(), commit_hash(tag).unwrap_or_default());
            return (
                None,
                vec![remark(RemarkKind::MovedTag {
                    version,
                    pinned,
                    found,
                })],
            );
        }
        Some(_) => {}
    }
    let released = tags
        .iter()
        .filter_map(|tag| Some((parse_release(&tag.name)?, tag)));
    let newest = released
        .max_by(|(one, _), (other, _)| one.cmp(other))
        .filter(|(version, _)| *version > known);
    let newer = newest.and_then(|(_, tag)| {
        let version = tag.name.clone();
        match commit_hash(tag) {
            Some(sha) => Some(ActionRelease { version, sha }),
            None => {
                remarks.push(remark(RemarkKind::NoCommit { version }));
                None
            }
        }
    });
    (newer, remarks)
}

/// Returns the update to a newer release, after checking the runtime in its `action.yml`.
///
/// # Errors
/// The remark that the runtime is unsupported or unknown.
pub fn propose_update(
    row: &ActionRow,
    newer: ActionRelease,
    action: Option<&str>,
) -> Result<ActionUpdate, ActionRemark> {
    let runtime = action.and_then(parse_runtime).unwrap_or_default();
    let ActionRelease { version, sha } = newer;
    if !ActionRow::is_supported_runtime(&runtime) {
        return Err(ActionRemark {
            action: row.name.clone(),
            kind: RemarkKind::Runtime { version, runtime },
        });
    }
    let major = |version: &str| parse_release(version).map(|version| version.major);
    let is_major = major(&row.version) != major(&version);
    let from = Some(row.version.clone());
    Ok(ActionUpdate {
        action: row.name.clone(),
        from,
        to: version,
        sha,
        runtime,
        is_major,
    })
}

/// Returns a new row for this project's action at a version.
///
/// # Errors
/// The remark that the version has no tag, or its tag no valid commit hash.
pub fn propose_own_action(version: &str, tags: &[ActionTag]) -> Result<ActionUpdate, ActionRemark> {
    let version = format!("v{version}");
    let remark = |about| ActionRemark {
        action: OWN_ACTION.to_owned(),
        kind: about,
    };
    let Some(tag) = tags.iter().find(|tag| tag.name == version) else {
        return Err(remark(RemarkKind::NoTag { version }));
    };
    let Some(sha) = commit_hash(tag) else {
        return Err(remark(RemarkKind::NoCommit { version }));
    };
    let runtime = "composite".to_owned();
    Ok(ActionUpdate {
        action: OWN_ACTION.to_owned(),
        from: None,
        to: version,
        sha,
        runtime,
        is_major: false,
    })
}

/// Returns the rows with the updates applied, new rows last. `today` is the date of the check.
pub fn apply_updates(
    rows: &[ActionRow],
    differences: &[ActionUpdate],
    today: &str,
) -> Vec<ActionRow> {
    let row = |change: &ActionUpdate, note: String| ActionRow {
        name: change.action.clone(),
        version: change.to.clone(),
        sha: change.sha.clone(),
        runtime: change.runtime.clone(),
        origin: Provenance {
            status: Confidence::Verified,
            source: SOURCE.to_owned(),
            r#ref: format!("tag in {}", change.action),
            checked: today.to_owned(),
            note,
        },
    };
    let change_of = |name: &str| differences.iter().find(|change| change.action == name);
    let kept = rows.iter().map(|known| match change_of(&known.name) {
        Some(change) => row(change, known.origin.note.clone()),
        None => known.clone(),
    });
    let is_new = |change: &&ActionUpdate| rows.iter().all(|known| known.name != change.action);
    kept.chain(
        differences
            .iter()
            .filter(is_new)
            .map(|change| row(change, String::new())),
    )
    .collect()
}

impl RemarkKind {
    /// Returns the name of the kind in JSON output.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::NoRepository => "no-repository",
            Self::NoRelease { .. } => "no-release",
            Self::NoTag { .. } => "no-tag",
            Self::MovedTag { .. } => "moved-tag",
            Self::NoCommit { .. } => "no-commit",
            Self::Runtime { .. } => "runtime",
        }
    }
}

impl ActionRemark {
    /// Returns the warning for a moved tag; other remarks are informational.
    pub fn warning(&self) -> Option<Diagnostic> {
        let RemarkKind::MovedTag { version, .. } = &self.kind else {
            return None;
        };
        let warning = Diagnostic::new(&codes::MOVED_TAG, self.to_string())
            .at(Location::Url(format!("{} {version}", self.action)), "")
            .note("the row is kept, and nothing newer from this repository is proposed")
            .help(
                "find out why before you use any commit of it: check its releases and security \
                advisories",
            );
        Some(warning)
    }
}

impl fmt::Display for ActionUpdate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let notes = if self.is_major {
            ", a new major version: read its release notes before you apply the patch"
        } else {
            ""
        };
        match &self.from {
            Some(from) => write!(f, "{}: {from} -> {}{notes}", self.action, self.to),
            None => write!(f, "{}: {}, which is not in the table", self.action, self.to),
        }
    }
}

impl fmt::Display for ActionRemark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.action)?;
        match &self.kind {
            RemarkKind::NoRepository => {
                write!(
                    f,
                    "the repository does not exist on GitHub; its row is kept"
                )
            }
            RemarkKind::NoRelease { version } => {
                write!(
                    f,
                    "{version} is not a version like v1.2.3, so newer ones are not looked up; its \
                     row is kept"
                )
            }
            RemarkKind::NoTag { version } => write!(f, "the tag {version} no longer exists"),
            RemarkKind::MovedTag {
                version,
                pinned,
                found,
            } if found.is_empty() => {
                write!(
                    f,
                    "the tag {version} no longer points to a commit; it was {pinned}"
                )
            }
            RemarkKind::MovedTag {
                version,
                pinned,
                found,
            } => {
                write!(f, "the tag {version} was moved from {pinned} to {found}")
            }
            RemarkKind::NoCommit { version } => {
                write!(f, "{version} does not point to a commit; its row is kept")
            }
            RemarkKind::Runtime { version, runtime } if runtime.is_empty() => {
                write!(
                    f,
                    "no action.yml defines the runtime of {version}; its row is kept"
                )
            }
            RemarkKind::Runtime { version, runtime } => {
                write!(
                    f,
                    "{version} runs on {runtime}, but runners support composite actions and node24 \
                     or later; "
                )?;
                write!(f, "its row is kept")
            }
        }
    }
}

/// Parses a release tag, `v1.2.3`. Prereleases and build metadata are rejected, and tags with fewer
/// numbers too, because they are moved to new releases.
fn parse_release(tag: &str) -> Option<semver::Version> {
    let version: semver::Version = tag.strip_prefix('v')?.parse().ok()?;
    (version.pre.is_empty() && version.build.is_empty()).then_some(version)
}

fn commit_hash(tag: &ActionTag) -> Option<String> {
    let sha = tag.commit.sha.to_ascii_lowercase();
    (sha.len() == 40 && sha.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(sha)
}

/// Returns `runs.using` of an `action.yml`, if it is a word.
fn parse_runtime(action: &str) -> Option<String> {
    let root = rock_yaml::parse(&SourceText::new("action.yml", action), &mut Sink::new())?;
    let using = root.get("runs")?.get("using")?.text()?;
    let is_word =
        using.len() <= LONGEST_RUNTIME && using.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_word.then(|| using.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{
        ActionRelease, ActionTag, RemarkKind, TagCommit, find_newer_release, parse_runtime,
        propose_update,
    };
    use crate::rows::{ActionRow, Confidence, Provenance};

    fn row(version: &str) -> ActionRow {
        let origin = Provenance {
            status: Confidence::Verified,
            source: "tags".into(),
            r#ref: String::new(),
            checked: "2026-11-21".into(),
            note: String::new(),
        };
        ActionRow {
            name: "o/r".into(),
            version: version.into(),
            sha: sha(version),
            runtime: "node24".into(),
            origin,
        }
    }

    /// Returns a distinct commit hash for each tag.
    fn sha(tag: &str) -> String {
        let hex: String = tag.bytes().map(|byte| format!("{byte:02x}")).collect();
        format!("{hex:0<40.40}")
    }

    fn tags(names: &[&str]) -> Vec<ActionTag> {
        names
            .iter()
            .map(|name| ActionTag {
                name: (*name).into(),
                commit: TagCommit { sha: sha(name) },
            })
            .collect()
    }

    fn newest(version: &str, names: &[&str]) -> (Option<String>, Vec<RemarkKind>) {
        let (newer, remarks) = find_newer_release(&row(version), &tags(names));
        (
            newer.map(|newer| newer.version),
            remarks.into_iter().map(|remark| remark.kind).collect(),
        )
    }

    #[test]
    fn the_newest_release_is_found_by_semver() {
        let names = [
            "v9",
            "v9.9.9",
            "v8.0.0",
            "v10",
            "v10.0.0",
            "v10.2.0-rc.1",
            "v10.10.0",
            "v10.9.0",
            "v11.0",
        ];
        assert_eq!(
            newest("v8.0.0", &names),
            (Some("v10.10.0".into()), Vec::new())
        );
        assert_eq!(newest("v10.10.0", &names), (None, Vec::new()));
        let strange = [
            "v1.0.0",
            "v1.0.1.0",
            "1.0.2",
            "V1.0.3",
            "v1.0.+4",
            "v1.0.",
            "v1..5",
            "v1.0.6+build",
            "v",
            "",
        ];
        assert_eq!(newest("v1.0.0", &strange), (None, Vec::new()));
        assert_eq!(
            newest("v1.0.0", &["v1.0.0", "v99999999999999999999.0.0"]),
            (None, Vec::new())
        );
    }

    #[test]
    fn missing_tags_are_reported() {
        let gone = RemarkKind::NoTag {
            version: "v2.0.0".into(),
        };
        assert_eq!(newest("v2.0.0", &["v1.9.9"]), (None, vec![gone.clone()]));
        assert_eq!(
            newest("v2.0.0", &["v1.9.9", "v2.0.1"]),
            (Some("v2.0.1".into()), vec![gone.clone()])
        );
        assert_eq!(newest("v2.0.0", &[]), (None, vec![gone]));
        assert_eq!(
            newest("v2", &["v2", "v2.0.1"]),
            (
                None,
                vec![RemarkKind::NoRelease {
                    version: "v2".into()
                }]
            )
        );
    }

    #[test]
    fn repositories_with_moved_tags_are_not_updated() {
        let mut found = tags(&["v2.0.0", "v3.0.0"]);
        found[0].commit.sha = sha("evil");
        let (newer, remarks) = find_newer_release(&row("v2.0.0"), &found);
        assert_eq!((newer, remarks.len()), (None, 1));
        assert!(remarks[0].to_string().ends_with(&format!(
            "moved from {} to {}",
            sha("v2.0.0"),
            sha("evil")
        )));
        assert!(remarks[0].warning().is_some());
        found[0].commit.sha = sha("v2.0.0").to_uppercase();
        assert!(
            find_newer_release(&row("v2.0.0"), &found).0.is_some(),
            "the same commit in other letters"
        );
    }

    #[test]
    fn invalid_commit_hashes_are_rejected() {
        for wrong in [
            "",
            "v3.0.0",
            &sha("v3.0.0")[..39],
            &(sha("v3.0.0") + "0"),
            &"g".repeat(40),
        ] {
            let mut found = tags(&["v2.0.0", "v3.0.0"]);
            found[1].commit.sha = wrong.to_owned();
            let (newer, remarks) = find_newer_release(&row("v2.0.0"), &found);
            assert_eq!(
                (newer, &remarks[0].kind),
                (
                    None,
                    &RemarkKind::NoCommit {
                        version: "v3.0.0".into()
                    }
                ),
                "{wrong}"
            );
        }
    }

    #[test]
    fn unsupported_runtimes_are_rejected() {
        let judged = |action: Option<&str>| {
            let newer = ActionRelease {
                version: "v2.0.0".into(),
                sha: sha("v2.0.0"),
            };
            propose_update(&row("v1.0.0"), newer, action)
                .map(|found| found.runtime)
                .map_err(|remark| remark.kind)
        };
        let using = |word: &str| {
            format!(
                "name: x\ninputs: {{a: {{default: ''}}}}\nruns:\n  using: {word}\n  main: a.js\n"
            )
        };
        for (written, taken) in [
            ("node24", "node24"),
            ("'node26'", "node26"),
            ("\"composite\"", "composite"),
        ] {
            assert_eq!(judged(Some(&using(written))), Ok(taken.to_owned()));
        }
        for word in ["node20", "node16", "docker", "node", "nodejs24", "node024"] {
            let about = RemarkKind::Runtime {
                version: "v2.0.0".into(),
                runtime: word.into(),
            };
            assert_eq!(judged(Some(&using(word))), Err(about), "{word}");
        }
        let unknown = Err(RemarkKind::Runtime {
            version: "v2.0.0".into(),
            runtime: String::new(),
        });
        for text in [
            "",
            "runs: {}",
            "runs: [",
            "- runs",
            "runs: {using: \"node24\\e[31m\"}",
            "<html>",
        ] {
            assert_eq!(judged(Some(text)), unknown, "{text}");
        }
        assert_eq!(judged(None), unknown);
        assert_eq!(
            parse_runtime("runs: {using: node24}").as_deref(),
            Some("node24")
        );
    }
}
