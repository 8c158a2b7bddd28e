//! The outcome of pruning, and its JSON document.

use serde::Serialize;

use super::{PruneDecision, PruneFate};

/// The version of the JSON document.
const VERSION: u32 = 1;

/// The releases that a run deleted, by ID.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PruneOutcome {
    /// The deleted releases.
    pub deleted: Vec<u64>,
    /// The release whose deletion was in progress when the run ended.
    pub unresolved: Option<u64>,
    /// Deleted releases whose tags could not be deleted.
    pub remaining_tags: Vec<u64>,
}

#[derive(Serialize)]
struct PruneDocument<'a> {
    version: u32,
    repository: &'a str,
    applied: bool,
    releases: Vec<ReleaseRow<'a>>,
}

#[derive(Serialize)]
struct ReleaseRow<'a> {
    id: u64,
    tag: &'a str,
    draft: bool,
    published_at: Option<&'a str>,
    files: usize,
    bytes: u64,
    action: PruneAction,
    /// `None` if unknown.
    deleted: Option<bool>,
    because: String,
}

/// The planned action for a release.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum PruneAction {
    Delete,
    Keep,
}

impl PruneOutcome {
    /// Returns whether a release was deleted; `None` if unknown.
    pub fn is_deleted(&self, release: u64) -> Option<bool> {
        if self.unresolved == Some(release) {
            None
        } else {
            Some(self.deleted.contains(&release))
        }
    }

    /// Returns whether a release was deleted and its tag could not be deleted.
    pub fn keeps_tag(&self, release: u64) -> bool {
        self.remaining_tags.contains(&release)
    }

    /// Returns the decisions and the deleted releases as JSON with a final newline. `repository` is
    /// `OWNER/REPO`, or empty if unknown; `is_applied` is false for a preview.
    ///
    /// # Panics
    /// Never: strings and numbers always serialize.
    pub fn json(
        &self,
        decisions: &[PruneDecision<'_>],
        repository: &str,
        is_applied: bool,
    ) -> String {
        let document = PruneDocument {
            version: VERSION,
            repository,
            applied: is_applied,
            releases: decisions
                .iter()
                .map(|decision| self.row(decision))
                .collect(),
        };
        serde_json::to_string_pretty(&document).expect("a struct of text and numbers serialises")
            + "\n"
    }

    fn row<'a>(&self, decision: &PruneDecision<'a>) -> ReleaseRow<'a> {
        let release = decision.release;
        let (action, reason) = match decision.fate {
            PruneFate::Delete(reason) => (PruneAction::Delete, reason),
            PruneFate::Keep(reason) => (PruneAction::Keep, reason),
        };
        ReleaseRow {
            id: release.id,
            tag: &release.tag_name,
            draft: release.draft,
            published_at: release.published_at.as_deref(),
            files: release.assets.len(),
            bytes: release.size_bytes(),
            action,
            deleted: self.is_deleted(release.id),
            because: reason.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PruneOutcome;
    use crate::{PruneRule, ReleaseListing, prune};

    #[test]
    fn releases_that_may_be_deleted_are_null_in_the_document() {
        let json = r#"[
            {"id": 1, "tag_name": "n-1", "published_at": "2026-01-01T00:00:00Z"},
            {"id": 2, "tag_name": "n-2", "published_at": "2026-01-02T00:00:00Z"},
            {"id": 3, "tag_name": "n-3", "published_at": "2026-01-03T00:00:00Z",
             "assets": [{"name": "a", "size": 7}]}
        ]"#;
        let listing = ReleaseListing::from_json(json).unwrap();
        let rule = PruneRule {
            tags: "n-*".parse().unwrap(),
            keep: Some(1),
            older_than: None,
        };
        let decisions = prune(&listing, &rule, None, 1_800_000_000);
        let outcome = PruneOutcome {
            deleted: vec![1],
            unresolved: Some(2),
            remaining_tags: vec![1],
        };
        let text = outcome.json(&decisions, "o/r", true);
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let rows = document["releases"].as_array().unwrap();
        let field = |name: &str| -> Vec<_> { rows.iter().map(|row| row[name].clone()).collect() };
        assert_eq!(field("id"), [1, 2, 3]);
        assert_eq!(field("action"), ["delete", "delete", "keep"]);
        assert_eq!(
            field("deleted"),
            [true.into(), serde_json::Value::Null, false.into()]
        );
        assert_eq!(field("bytes"), [0, 0, 7]);
        assert!(outcome.keeps_tag(1) && !outcome.keeps_tag(3));
    }
}
