//! Deletes releases.

use super::ReleaseClient;
use crate::error::GithubError;
use rock_publish::{ListedRelease, PruneDecision, PruneFate, PruneOutcome};

impl ReleaseClient {
    /// Deletes the releases that are not kept one after the other, and their tags if
    /// `deletes_tags`. Calls `on_delete` before each. A tag that cannot be deleted does not end the
    /// run, because a later one would not find its release.
    ///
    /// Returns the deleted releases, and the first error after the last request.
    pub fn delete_releases(
        &self,
        decisions: &[PruneDecision<'_>],
        deletes_tags: bool,
        on_delete: &dyn Fn(&ListedRelease),
    ) -> (PruneOutcome, Result<(), GithubError>) {
        let mut outcome = PruneOutcome::default();
        let mut tag_error = None;
        for decision in decisions {
            if let PruneFate::Keep(_) = decision.fate {
                continue;
            }
            let release = decision.release;
            on_delete(release);
            if let Err(error) = self.delete_release(release.id) {
                outcome.unresolved = error.has_unknown_outcome().then_some(release.id);
                return (outcome, Err(error));
            }
            outcome.deleted.push(release.id);
            // The tag of a draft may not exist, or belong to another release.
            if deletes_tags
                && !release.draft
                && let Err(error) = self.delete_tag(&release.tag_name)
            {
                outcome.remaining_tags.push(release.id);
                tag_error.get_or_insert(error);
            }
        }
        (outcome, tag_error.map_or(Ok(()), Err))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use rock_publish::{PruneRule, ReleaseListing, prune};

    use crate::client::testing::{CannedTransport, client};

    /// Returns a listing of three releases, the newest of which a rule keeps.
    fn listing() -> ReleaseListing {
        let release = |day: u32| {
            format!(
                r#"{{"id": {day}, "tag_name": "n-{day}", "published_at": "2026-01-0{day}T00:00:00Z"}}"#
            )
        };
        ReleaseListing::from_json(&format!("[{}]", [3, 2, 1].map(release).join(","))).unwrap()
    }

    fn rule() -> PruneRule {
        PruneRule {
            tags: "n-*".parse().unwrap(),
            keep: Some(1),
            older_than: None,
        }
    }

    #[test]
    fn a_tag_that_stays_does_not_end_the_run() {
        let refused = r#"{"message": "Repository rule violations found"}"#.to_owned();
        let transport = CannedTransport::new([
            ("/repos/o/r/releases/1", 204, String::new()),
            ("/repos/o/r/releases/2", 204, String::new()),
            ("/repos/o/r/git/refs/tags/n-1", 422, refused),
            ("/repos/o/r/git/refs/tags/n-2", 204, String::new()),
        ]);
        let listing = listing();
        let decisions = prune(&listing, &rule(), None, 1_800_000_000);
        let begun = RefCell::new(Vec::new());
        let (outcome, result) = client(transport).delete_releases(&decisions, true, &|release| {
            begun.borrow_mut().push(release.tag_name.clone());
        });
        assert_eq!(*begun.borrow(), ["n-1", "n-2"]);
        assert_eq!(
            (outcome.deleted, outcome.remaining_tags),
            (vec![1, 2], vec![1])
        );
        assert!(result.is_err());
    }

    #[test]
    fn a_release_that_stays_ends_the_run() {
        let refused = r#"{"message": "Validation Failed"}"#.to_owned();
        let transport = CannedTransport::new([("/repos/o/r/releases/1", 422, refused)]);
        let listing = listing();
        let decisions = prune(&listing, &rule(), None, 1_800_000_000);
        let (outcome, result) = client(transport).delete_releases(&decisions, false, &|_| ());
        assert_eq!((outcome.deleted, outcome.unresolved), (vec![], None));
        assert!(result.is_err());
    }
}
