//! The report at the end of publishing to GitHub.

use serde::Serialize;

use crate::cli::Format;
use crate::diagnostic::markdown::code;
use crate::diagnostic::render::{escape_block, json};
use crate::diagnostic::{Diagnostic, counted};
use crate::github::{PublishDryRun, PublishOutcome, PublishResult, PublishRun, RecordedCall};
use crate::publish::remote::{DesiredRelease, PublishStep};
use crate::render::actions::{ActionOutput, table};

/// The result of publishing to GitHub.
pub(super) struct PublishReport<'o> {
    pub(super) repo: &'o str,
    pub(super) desired: &'o DesiredRelease,
    pub(super) run: &'o PublishRun,
    pub(super) outcome: PublishOutcome<'o>,
    /// The requests that would be sent, in a dry run.
    pub(super) dry_run: Option<PublishDryRun>,
    /// The command that resumes the run.
    pub(super) resume: String,
}

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
pub(super) fn not_begun(repository: &str, tag: &str, diagnostics: &[Diagnostic]) -> String {
    to_json(&Document {
        version: 1,
        repository,
        tag,
        published: Some(false),
        complete: Some(false),
        steps: 0,
        diagnostics: diagnostic_rows(diagnostics),
        assets: Vec::new(),
        calls: None,
        requests: None,
        pauses_s: None,
        resume: None,
    })
}

fn to_json(document: &Document<'_>) -> String {
    let mut text =
        serde_json::to_string_pretty(document).expect("a struct of text and numbers serialises");
    text.push('\n');
    text
}

/// Returns diagnostics as JSON objects.
fn diagnostic_rows(diagnostics: &[Diagnostic]) -> Vec<serde_json::Value> {
    json(diagnostics)
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

impl PublishReport<'_> {
    /// Returns the text to print, with the diagnostics of the run in JSON.
    pub(super) fn text(&self, format: Format, diagnostics: &[Diagnostic]) -> String {
        match format {
            Format::Human => escape_block(&self.human()),
            Format::Json => to_json(&self.document(diagnostics)),
        }
    }

    fn document(&self, diagnostics: &[Diagnostic]) -> Document<'_> {
        let (published, complete) = if self.dry_run.is_some() {
            (Some(false), Some(false))
        } else {
            (self.outcome.is_public(), self.outcome.is_complete())
        };
        let dry_run = self.dry_run.as_ref();
        Document {
            version: 1,
            repository: self.repo,
            tag: &self.desired.tag,
            published,
            complete,
            steps: self.run.steps,
            diagnostics: diagnostic_rows(diagnostics),
            assets: self.assets().collect(),
            calls: dry_run.map(|found| found.calls.iter().map(call_row).collect()),
            requests: dry_run.map(|found| found.requests),
            pauses_s: dry_run.map(|found| found.pauses.as_secs()),
            resume: self.outcome.can_resume().then_some(self.resume.as_str()),
        }
    }

    fn human(&self) -> String {
        if matches!(self.run.end, PublishResult::Refused(_)) {
            return String::new();
        }
        if let Some(dry_run) = &self.dry_run {
            return dry_run_text(dry_run);
        }
        if self.outcome.is_complete() == Some(true) {
            return self.complete_text();
        }
        if self.outcome.can_resume() {
            return self.resume_text();
        }
        String::new()
    }

    /// Returns the text of a release with every file.
    fn complete_text(&self) -> String {
        let releases = || self.outcome.releases();
        let address = releases()
            .find_map(|release| release.html_url.as_deref())
            .unwrap_or(&self.desired.tag);
        let state = match (self.run.steps, self.outcome.is_public()) {
            (_, Some(true)) if self.desired.stays_draft => {
                "is already public, and `--draft` does not unpublish it"
            }
            (0, _) => "is up to date, nothing written",
            (_, Some(false)) => "is a draft, which only its owners see",
            _ => "is published",
        };
        let count = self.desired.assets.len();
        let total: usize = releases().map(|release| release.assets.len()).sum();
        let unchanged = match total.saturating_sub(count) {
            0 => String::new(),
            others => format!(", next to {others} unchanged"),
        };
        let unverified = match self.outcome.unverified_count() {
            0 => String::new(),
            count => {
                format!(", {count} of them compared by size alone; `--verify full` compares bytes")
            }
        };
        format!("{address} {state}: {count} files{unchanged}{unverified}\n")
    }

    /// Returns the text of an incomplete run: the state of each file, and how to resume.
    fn resume_text(&self) -> String {
        let width = self
            .desired
            .assets
            .iter()
            .map(|file| file.name.len())
            .max()
            .unwrap_or_default();
        let mut text = String::new();
        for row in self.assets() {
            text.push_str(&format!("{:width$}  {}\n", row.name, row.state));
        }
        let state = self.release_state();
        let resume = if self.outcome.needs_fix() {
            "when that is fixed, resume with"
        } else {
            "resume with"
        };
        text.push_str(&format!("{state}; {resume}:\n  {}\n", self.resume));
        text
    }

    /// Describes the release after an incomplete run.
    fn release_state(&self) -> String {
        let tag = &self.desired.tag;
        if self.outcome.is_being_created() {
            return format!(
                "it is unknown whether the release {tag} exists: the request that creates it was in progress"
            );
        }
        if !self.outcome.has_release() {
            return format!("there is no release {tag}");
        }
        match (self.outcome.is_public(), self.outcome.is_complete()) {
            (None, _) => format!(
                "it is unknown whether the release {tag} is public: the request that publishes it was in progress"
            ),
            (Some(false), _) => format!("the release {tag} is a draft, which only its owners see"),
            (Some(true), None) => format!("the release {tag} is public, and may be incomplete"),
            (Some(true), Some(_)) => {
                format!("the release {tag} is public, but incomplete or out of date")
            }
        }
    }

    /// Returns a table of the files for the summary of a workflow's job, of at most `room` bytes;
    /// an empty text if nothing was written.
    pub(super) fn summary(&self, room: usize) -> String {
        if self.dry_run.is_some() || matches!(self.run.end, PublishResult::Refused(_)) {
            return String::new();
        }
        let state = match (self.outcome.is_complete(), self.outcome.is_public()) {
            (Some(true), Some(false)) => "a draft with every file",
            (Some(true), _) => "published",
            (_, None) => "unknown whether it is published",
            (None, Some(true)) => "public, may be incomplete",
            (Some(false), Some(true)) => "public, but incomplete",
            (_, Some(false)) => "not published",
        };
        let files = &self.desired.assets;
        let total_bytes: u64 = files.iter().map(|file| file.size_bytes).sum();
        let head = format!(
            "### Release {}: {state}\n\n{}, {} MiB\n\n| file | MiB | state |\n| --- | --- | --- |\n",
            code(&self.desired.tag),
            counted(files.len(), "file"),
            mib(total_bytes)
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

    /// Returns the outputs of a workflow step, which identify the release; none if there is none.
    pub(super) fn outputs(&self) -> Vec<ActionOutput> {
        let Some(release) = self.outcome.release().filter(|_| self.dry_run.is_none()) else {
            return Vec::new();
        };
        let mut outputs = vec![("release-id".to_owned(), release.id.to_string())];
        if let Some(address) = &release.html_url {
            outputs.push(("release-url".to_owned(), address.clone()));
        }
        outputs
    }

    fn assets(&self) -> impl Iterator<Item = AssetRow<'_>> {
        self.outcome.files().map(|(file, state)| AssetRow {
            name: &file.name,
            size_bytes: file.size_bytes,
            sha256: file.digest.to_hex(),
            state: state.word(),
        })
    }
}

/// Returns the requests of a dry run, and their number.
fn dry_run_text(dry_run: &PublishDryRun) -> String {
    let mut text = String::new();
    for call in &dry_run.calls {
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
    text.push_str(&request_count(dry_run));
    text.push('\n');
    text
}

fn request_count(dry_run: &PublishDryRun) -> String {
    let calls = match dry_run.calls.len() {
        0 => return "nothing would be written".to_owned(),
        1 => "1 request would change something".to_owned(),
        count => format!("{count} requests would change something"),
    };
    let pauses = match dry_run.pauses.as_secs() {
        0 => String::new(),
        seconds @ 1..=119 => format!(", with pauses of {seconds} s for GitHub's rate limits"),
        seconds => format!(
            ", with pauses of {} min for GitHub's rate limits",
            seconds.div_ceil(60)
        ),
    };
    format!("{calls}, out of about {}{pauses}", dry_run.requests)
}

fn mib(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
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
pub(super) fn describe_step(step: &PublishStep) -> String {
    match step {
        PublishStep::Create { tag } => format!("creating a draft of {tag}"),
        PublishStep::DeleteRelease {
            release,
            tag,
            assets,
        } => format!(
            "deleting the duplicate draft {release} of {tag} ({})",
            counted(*assets, "file")
        ),
        PublishStep::DeleteAsset { name, why, .. } => format!("deleting {name}: {why}"),
        PublishStep::Upload { as_name, .. } => format!("uploading {as_name}"),
        PublishStep::Rename { from, to, .. } => format!("renaming {from} to {to}"),
        PublishStep::Hash { name, .. } => format!("downloading {name} to hash it"),
        PublishStep::Describe { tag, .. } => format!("updating the text of {tag}"),
        PublishStep::Publish { tag, .. } => format!("publishing {tag}"),
    }
}

#[cfg(test)]
mod tests {
    use super::describe_step;
    use crate::publish::remote::PublishStep;

    #[test]
    fn a_deleted_draft_is_described_by_its_tag_and_its_files() {
        let step = |assets| PublishStep::DeleteRelease {
            release: 7,
            tag: "v1".to_owned(),
            assets,
        };
        assert_eq!(
            describe_step(&step(1)),
            "deleting the duplicate draft 7 of v1 (1 file)"
        );
        assert_eq!(
            describe_step(&step(0)),
            "deleting the duplicate draft 7 of v1 (0 files)"
        );
    }
}
