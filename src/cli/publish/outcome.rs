//! What is said of a release on GitHub at the end.

use serde::Serialize;

use crate::cli::Format;
use crate::github::{Applied, End, Recorded};
use crate::publish::remote::{Goal, Step};
use crate::publish::{AssetState, ListedRelease};

/// How a publish went.
pub(super) struct Outcome<'o> {
    pub(super) repo: &'o str,
    pub(super) goal: &'o Goal,
    pub(super) applied: &'o Applied,
    /// The calls that would be made, in a dry run.
    pub(super) calls: Option<Vec<Recorded>>,
    /// The command that goes on.
    pub(super) resume: String,
}

#[derive(Serialize)]
struct Document<'o> {
    version: u32,
    repository: &'o str,
    tag: &'o str,
    published: bool,
    steps: usize,
    assets: Vec<AssetRow<'o>>,
    calls: Option<Vec<CallRow<'o>>>,
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
}

impl Outcome<'_> {
    pub(super) fn text(&self, format: Format) -> String {
        match format {
            Format::Human => self.human(),
            Format::Json => {
                let document = Document {
                    version: 1,
                    repository: self.repo,
                    tag: &self.goal.tag,
                    published: self.is_published() && self.calls.is_none(),
                    steps: self.applied.steps,
                    assets: self.assets().collect(),
                    calls: self.calls.as_ref().map(|calls| calls.iter().map(call_row).collect()),
                    resume: self.is_open().then_some(self.resume.as_str()),
                };
                let mut text =
                    serde_json::to_string_pretty(&document).expect("a struct of text and numbers serialises");
                text.push('\n');
                text
            }
        }
    }

    fn human(&self) -> String {
        let mut text = String::new();
        if let Some(calls) = &self.calls {
            for call in calls {
                text.push_str(&format!("{:6} {}  {} bytes\n", call.method, call.path, call.size_bytes));
            }
            let words = match calls.len() {
                0 => "nothing would be written".to_owned(),
                1 => "1 call would change something".to_owned(),
                count => format!("{count} calls would change something"),
            };
            return text + &words + "\n";
        }
        let count = self.goal.assets.len();
        if self.is_published() {
            let address = self.releases().find_map(|release| release.html_url.as_deref()).unwrap_or(&self.goal.tag);
            let did = if self.applied.steps == 0 { "is up to date, nothing written" } else { "is published" };
            return format!("{address} {did}: {count} files\n");
        }
        if self.is_open() {
            let width = self.goal.assets.iter().map(|wanted| wanted.name.len()).max().unwrap_or_default();
            for row in self.assets() {
                text.push_str(&format!("{:width$}  {}\n", row.name, row.state));
            }
            text.push_str(&format!(
                "the release {} is no more than a draft; go on with:\n  {}\n",
                self.goal.tag, self.resume
            ));
        }
        text
    }

    fn is_published(&self) -> bool {
        matches!(self.applied.end, End::Done(_))
    }

    /// Whether the same command would go on.
    fn is_open(&self) -> bool {
        matches!(self.applied.end, End::Failed(_) | End::Incomplete(_))
    }

    fn assets(&self) -> impl Iterator<Item = AssetRow<'_>> {
        self.goal.assets.iter().map(|wanted| {
            let found = self.releases().flat_map(|release| &release.assets).find(|asset| asset.name == wanted.name);
            let state = match found {
                Some(asset) if asset.state == AssetState::Starter => "begun",
                Some(asset) if asset.digest.is_none_or(|digest| digest == wanted.digest) => "there",
                Some(_) => "other bytes",
                None => "missing",
            };
            AssetRow { name: &wanted.name, size_bytes: wanted.size_bytes, sha256: wanted.digest.to_hex(), state }
        })
    }

    fn releases(&self) -> impl Iterator<Item = &ListedRelease> {
        self.applied.releases.iter().filter(|release| self.goal.has(release))
    }
}

fn call_row(call: &Recorded) -> CallRow<'_> {
    CallRow { method: &call.method, path: &call.path, size_bytes: call.size_bytes }
}

/// A step in words, while it is taken.
pub(super) fn line(step: &Step) -> String {
    match step {
        Step::Create { tag } => format!("making a draft of {tag}"),
        Step::DeleteRelease { release } => format!("deleting the empty draft {release}"),
        Step::DeleteAsset { name, why, .. } => format!("deleting {name}: {why}"),
        Step::Upload { as_name, .. } => format!("sending {as_name}"),
        Step::Rename { from, to, .. } => format!("giving {from} its name {to}"),
        Step::Hash { name, .. } => format!("fetching {name} to hash it"),
        Step::Describe { tag, .. } => format!("writing the text of {tag}"),
        Step::Publish { tag, .. } => format!("publishing {tag}"),
    }
}
