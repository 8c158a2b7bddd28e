//! The report at the end of publishing to GitHub.

use std::time::Duration;

use serde::Serialize;

use crate::cli::Format;
use crate::diagnostic::markdown::code;
use crate::diagnostic::render::{json, visible_lines};
use crate::diagnostic::{Diagnostic, counted};
use crate::github::{GithubError, PublishResult, PublishRun, RecordedCall};
use crate::publish::remote::{DesiredRelease, PublishStep};
use crate::publish::{AssetState, DesiredFile, ListedAsset, ListedRelease};
use crate::render::actions::{ActionOutput, table};

/// The result of publishing to GitHub.
pub(super) struct Outcome<'o> {
    pub(super) repo: &'o str,
    pub(super) goal: &'o DesiredRelease,
    pub(super) applied: &'o PublishRun,
    /// The requests that would be sent, in a dry run.
    pub(super) rehearsal: Option<Rehearsal>,
    /// The command that resumes the run.
    pub(super) resume: String,
}

/// The result of a dry run.
pub(super) struct Rehearsal {
    /// The requests that would change something.
    pub(super) calls: Vec<RecordedCall>,
    /// Number of all requests.
    pub(super) requests: usize,
    /// Total time of the pauses between them.
    pub(super) pauses: Duration,
}

/// The state of a file that is in place.
const THERE: &str = "there";
/// The state of a file with a request in progress at the end.
const UNKNOWN: &str = "unknown";

#[derive(Serialize)]
struct Document<'o> {
    version: u32,
    repository: &'o str,
    tag: &'o str,
    /// Whether the release is public; `None` if unknown.
    published: Option<bool>,
    /// Whether it has every file; `None` if unknown.
    complete: Option<bool>,
    steps: usize,
    /// The diagnostics, as with `--message-format json`.
    diagnostics: Vec<serde_json::Value>,
    assets: Vec<AssetRow<'o>>,
    calls: Option<Vec<CallRow<'o>>>,
    requests: Option<usize>,
    pauses_s: Option<u64>,
    resume: Option<&'o str>,
}

#[derive(Serialize)]
struct AssetRow<'o> {
    name: &'o str,
    size_bytes: u64,
    sha256: String,
    state: &'static str,
}

#[derive(Serialize)]
struct CallRow<'o> {
    method: &'o str,
    path: &'o str,
    size_bytes: u64,
    fields: &'o [String],
}

/// Returns the document of a run that failed before it wrote anything.
pub(super) fn not_begun(repository: &str, tag: &str, told: &[Diagnostic]) -> String {
    print(&Document {
        version: 1,
        repository,
        tag,
        published: Some(false),
        complete: Some(false),
        steps: 0,
        diagnostics: rows(told),
        assets: Vec::new(),
        calls: None,
        requests: None,
        pauses_s: None,
        resume: None,
    })
}

fn print(document: &Document<'_>) -> String {
    let mut text =
        serde_json::to_string_pretty(document).expect("a struct of text and numbers serialises");
    text.push('\n');
    text
}

/// Returns diagnostics as JSON objects.
fn rows(told: &[Diagnostic]) -> Vec<serde_json::Value> {
    json(told)
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

impl Outcome<'_> {
    /// Returns the text to print; `told` are the diagnostics of the run.
    pub(super) fn text(&self, format: Format, told: &[Diagnostic]) -> String {
        match format {
            Format::Human => visible_lines(&self.human()),
            Format::Json => print(&Document {
                version: 1,
                repository: self.repo,
                tag: &self.goal.tag,
                published: if self.rehearsal.is_some() {
                    Some(false)
                } else {
                    self.is_public()
                },
                complete: if self.rehearsal.is_some() {
                    Some(false)
                } else {
                    self.is_complete()
                },
                steps: self.applied.steps,
                diagnostics: rows(told),
                assets: self.assets().collect(),
                calls: self
                    .rehearsal
                    .as_ref()
                    .map(|found| found.calls.iter().map(call_row).collect()),
                requests: self.rehearsal.as_ref().map(|found| found.requests),
                pauses_s: self.rehearsal.as_ref().map(|found| found.pauses.as_secs()),
                resume: self.is_open().then_some(self.resume.as_str()),
            }),
        }
    }

    fn human(&self) -> String {
        if matches!(self.applied.end, PublishResult::Refused(_)) {
            return String::new();
        }
        let mut text = String::new();
        if let Some(found) = &self.rehearsal {
            for call in &found.calls {
                let fields = if call.method == "PATCH" {
                    format!("  {}", call.fields.join(", "))
                } else {
                    String::new()
                };
                text.push_str(&format!(
                    "{:6} {}  {} bytes{fields}\n",
                    call.method, call.path, call.size_bytes
                ));
            }
            return text + &found.words() + "\n";
        }
        if self.is_complete() == Some(true) {
            let address = self
                .releases()
                .find_map(|release| release.html_url.as_deref())
                .unwrap_or(&self.goal.tag);
            let did = match (self.applied.steps, self.is_public()) {
                (_, Some(true)) if self.goal.stays_draft => {
                    "is already public, and `--draft` does not unpublish it"
                }
                (0, _) => "is up to date, nothing written",
                (_, Some(false)) => "is a draft, which only its owners see",
                _ => "is published",
            };
            let count = self.goal.assets.len();
            let there: usize = self.releases().map(|release| release.assets.len()).sum();
            let beside = match there.saturating_sub(count) {
                0 => String::new(),
                others => format!(", next to {others} unchanged"),
            };
            return format!(
                "{address} {did}: {count} files{beside}{}\n",
                self.unverified()
            );
        }
        if self.is_open() {
            let width = self
                .goal
                .assets
                .iter()
                .map(|wanted| wanted.name.len())
                .max()
                .unwrap_or_default();
            for row in self.assets() {
                text.push_str(&format!("{:width$}  {}\n", row.name, row.state));
            }
            let tag = &self.goal.tag;
            let stands = match (self.first(), self.is_public()) {
                (None, _)
                    if self.is_open_whether(
                        |step| matches!(step, PublishStep::Create { tag: made } if made == tag),
                    ) =>
                {
                    format!(
                        "it is unknown whether the release {tag} exists: the request that creates it was in progress"
                    )
                }
                (None, _) => format!("there is no release {tag}"),
                (_, None) => {
                    format!(
                        "it is unknown whether the release {tag} is public: the request that publishes it was in progress"
                    )
                }
                (_, Some(false)) => {
                    format!("the release {tag} is a draft, which only its owners see")
                }
                (_, Some(true)) if self.is_complete().is_none() => {
                    format!("the release {tag} is public, and may be incomplete")
                }
                (_, Some(true)) => {
                    format!("the release {tag} is public, but incomplete or out of date")
                }
            };
            let go = match &self.applied.end {
                PublishResult::Failed(error)
                    if error.is_final() && *error != GithubError::Stopped =>
                {
                    "when that is fixed, resume with"
                }
                _ => "resume with",
            };
            text.push_str(&format!("{stands}; {go}:\n  {}\n", self.resume));
        }
        text
    }

    /// Returns a table of the files for the summary of a workflow's job, of at most `room` bytes;
    /// an empty text if nothing was written.
    pub(super) fn summary(&self, room: usize) -> String {
        if self.rehearsal.is_some() || matches!(self.applied.end, PublishResult::Refused(_)) {
            return String::new();
        }
        let stands = match (self.is_complete(), self.is_public()) {
            (Some(true), Some(false)) => "a draft with every file",
            (Some(true), _) => "published",
            (_, None) => "unknown whether it is published",
            (None, Some(true)) => "public, may be incomplete",
            (Some(false), Some(true)) => "public, but incomplete",
            (_, Some(false)) => "not published",
        };
        let (tag, total): (_, u64) = (
            &self.goal.tag,
            self.goal
                .assets
                .iter()
                .map(|wanted| wanted.size_bytes)
                .sum(),
        );
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        let count = counted(self.goal.assets.len(), "file");
        let head = format!(
            "### Release {}: {stands}\n\n{count}, {} MiB\n\n| file | MiB | state |\n| --- | --- | --- |\n",
            code(tag),
            mib(total)
        );
        let rows = self.assets().map(|row| {
            format!(
                "| {} | {} | {} |\n",
                code(row.name),
                mib(row.size_bytes),
                row.state
            )
        });
        table(&head, rows, "file", room)
    }

    /// Returns a note about files without a digest on GitHub.
    fn unverified(&self) -> String {
        let is_unknown = |wanted: &&DesiredFile| {
            self.found(wanted)
                .is_some_and(|asset| asset.digest.is_none())
        };
        match self.goal.assets.iter().filter(is_unknown).count() {
            0 => String::new(),
            count => {
                format!(", {count} of them compared by size alone; `--verify full` compares bytes")
            }
        }
    }

    /// Whether everything is done; `None` if requests in progress at the end may have completed it.
    fn is_complete(&self) -> Option<bool> {
        let is_done = matches!(self.applied.end, PublishResult::Done(_));
        let may_be = !self.applied.open.is_empty()
            && self.is_public() != Some(false)
            && self
                .assets()
                .all(|row| [THERE, UNKNOWN].contains(&row.state));
        if may_be { None } else { Some(is_done) }
    }

    /// Whether there is a release.
    pub(super) fn is_begun(&self) -> bool {
        self.first().is_some()
    }

    /// Whether the release is public; `None` if it was being published at the end.
    fn is_public(&self) -> Option<bool> {
        let Some(first) = self.first() else {
            return Some(false);
        };
        let is_open = first.draft
            && self.is_open_whether(
                |step| matches!(step, PublishStep::Publish { release, .. } if *release == first.id),
            );
        if is_open { None } else { Some(!first.draft) }
    }

    /// Whether a step that `is_such` selects was in progress at the end.
    fn is_open_whether(&self, is_such: impl Fn(&PublishStep) -> bool) -> bool {
        self.applied.open.iter().any(is_such)
    }

    /// Whether a step that changes this file was in progress at the end.
    fn is_unknown(&self, wanted: &DesiredFile) -> bool {
        self.is_open_whether(|step| match step {
            PublishStep::Upload { as_name: name, .. }
            | PublishStep::DeleteAsset { name, .. }
            | PublishStep::Rename { to: name, .. } => *name == wanted.name,
            _ => false,
        })
    }

    /// Returns the outputs of a workflow step, which identify the release; none if there is none.
    pub(super) fn outputs(&self) -> Vec<ActionOutput> {
        let Some(release) = self.first().filter(|_| self.rehearsal.is_none()) else {
            return Vec::new();
        };
        let address = release
            .html_url
            .iter()
            .map(|address| ("release-url".to_owned(), address.clone()));
        std::iter::once(("release-id".to_owned(), release.id.to_string()))
            .chain(address)
            .collect()
    }

    /// Returns the release of the goal's tag; a public one takes precedence over drafts.
    fn first(&self) -> Option<&ListedRelease> {
        let own = self
            .applied
            .releases
            .iter()
            .filter(|release| release.tag_name == self.goal.tag);
        own.min_by_key(|release| release.draft)
    }

    /// Whether the same command would resume.
    fn is_open(&self) -> bool {
        matches!(
            self.applied.end,
            PublishResult::Failed(_) | PublishResult::Incomplete(_)
        )
    }

    fn found(&self, wanted: &DesiredFile) -> Option<&ListedAsset> {
        self.releases()
            .flat_map(|release| &release.assets)
            .find(|asset| asset.name == wanted.name)
    }

    fn assets(&self) -> impl Iterator<Item = AssetRow<'_>> {
        self.goal.assets.iter().map(|wanted| {
            let state = match self.found(wanted) {
                _ if self.is_unknown(wanted) => UNKNOWN,
                Some(asset) if asset.state == AssetState::Starter => "begun",
                Some(asset) if asset.digest.is_none_or(|digest| digest == wanted.digest) => THERE,
                Some(_) => "other bytes",
                None => "missing",
            };
            AssetRow {
                name: &wanted.name,
                size_bytes: wanted.size_bytes,
                sha256: wanted.digest.to_hex(),
                state,
            }
        })
    }

    fn releases(&self) -> impl Iterator<Item = &ListedRelease> {
        self.applied
            .releases
            .iter()
            .filter(|release| self.goal.has(release))
    }
}

impl Rehearsal {
    fn words(&self) -> String {
        let calls = match self.calls.len() {
            0 => return "nothing would be written".to_owned(),
            1 => "1 request would change something".to_owned(),
            count => format!("{count} requests would change something"),
        };
        let pauses = match self.pauses.as_secs() {
            0 => String::new(),
            seconds @ 1..=119 => format!(", with pauses of {seconds} s for GitHub's rate limits"),
            seconds => format!(
                ", with pauses of {} min for GitHub's rate limits",
                seconds.div_ceil(60)
            ),
        };
        format!("{calls}, out of about {}{pauses}", self.requests)
    }
}

fn call_row(call: &RecordedCall) -> CallRow<'_> {
    CallRow {
        method: &call.method,
        path: &call.path,
        size_bytes: call.size_bytes,
        fields: &call.fields,
    }
}

/// Describes a step in progress.
pub(super) fn line(step: &PublishStep) -> String {
    match step {
        PublishStep::Create { tag } => format!("creating a draft of {tag}"),
        PublishStep::DeleteRelease { release } => format!("deleting the empty draft {release}"),
        PublishStep::DeleteAsset { name, why, .. } => format!("deleting {name}: {why}"),
        PublishStep::Upload { as_name, .. } => format!("uploading {as_name}"),
        PublishStep::Rename { from, to, .. } => format!("renaming {from} to {to}"),
        PublishStep::Hash { name, .. } => format!("downloading {name} to hash it"),
        PublishStep::Describe { tag, .. } => format!("updating the text of {tag}"),
        PublishStep::Publish { tag, .. } => format!("publishing {tag}"),
    }
}
