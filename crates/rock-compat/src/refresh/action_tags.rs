//! Reads the tags of the actions of the table `actions`, and compares them with the table.

use serde::Serialize;

use super::actions::{
    ActionRemark, ActionTag, ActionUpdate, OWN_ACTION, RemarkKind, apply_updates,
    find_newer_release, propose_own_action, propose_update,
};
use super::comparison::{ComparisonDocument, TableComparison};
use crate::rows::ActionRow;
use crate::table_file;
use rock_names::RepoName;

/// The metadata files of an action; the first one that exists is used (GitHub Docs, "Metadata
/// syntax reference").
const METADATA: [&str; 2] = ["action.yml", "action.yaml"];

/// Reads the repositories of actions.
pub trait ActionSource {
    /// The error of a request.
    type Error;

    /// Returns the tags of a repository; `None` if it cannot be seen.
    ///
    /// # Errors
    /// If they cannot be read.
    fn tags(&mut self, repo: &RepoName) -> Result<Option<Vec<ActionTag>>, Self::Error>;

    /// Returns the text of a file at a commit; `None` if it does not exist.
    ///
    /// # Errors
    /// If it cannot be read.
    fn file(
        &mut self,
        repo: &RepoName,
        path: &str,
        commit: &str,
    ) -> Result<Option<String>, Self::Error>;
}

/// The actions whose tags were read, with their newer releases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActionReleases {
    /// Repositories whose tags were read.
    read: Vec<String>,
    updates: Vec<ActionUpdate>,
    remarks: Vec<ActionRemark>,
}

#[derive(Serialize)]
struct RemarkView<'a> {
    action: &'a str,
    remark: &'static str,
    text: String,
}

impl<'a> RemarkView<'a> {
    fn new(remark: &'a ActionRemark) -> Self {
        Self {
            action: &remark.action,
            remark: remark.kind.as_str(),
            text: remark.to_string(),
        }
    }
}

impl ActionReleases {
    /// Reads the tags of every row. The action of this project gets a row as soon as its release
    /// `own_version` exists.
    ///
    /// # Errors
    /// If a request fails.
    pub fn read<S: ActionSource>(
        rows: &[ActionRow],
        own_version: &str,
        source: &mut S,
    ) -> Result<Self, S::Error> {
        let mut found = Self::default();
        for row in rows {
            match row.name.parse::<RepoName>() {
                Ok(repo) => found.read_action(row, &repo, source)?,
                Err(_) => found.add_remark(row, RemarkKind::NoRepository),
            }
        }
        let has_own_row = rows.iter().any(|row| row.name == OWN_ACTION);
        if !has_own_row && let Ok(repo) = OWN_ACTION.parse::<RepoName>() {
            found.read_own_action(&repo, own_version, source)?;
        }
        Ok(found)
    }

    /// Compares the table `actions` with the releases. `today` is the date of the check.
    pub fn compare(&self, rows: &[ActionRow], today: &str) -> TableComparison {
        let updated = apply_updates(rows, &self.updates, today);
        let patch = table_file::ACTIONS.patch(rows, &updated);
        let mut lines: Vec<String> = self.updates.iter().map(ToString::to_string).collect();
        let mut warnings = Vec::new();
        for remark in &self.remarks {
            match remark.warning() {
                Some(warning) => warnings.push(warning),
                None => lines.push(remark.to_string()),
            }
        }
        let has_nothing = self.updates.is_empty() && self.remarks.is_empty();
        let views = self.remarks.iter().map(RemarkView::new).collect();
        let document = ComparisonDocument::new(self.read.clone(), &self.updates, &patch)
            .with_remarks(views)
            .to_json();
        TableComparison {
            differs: !self.updates.is_empty() || !warnings.is_empty(),
            lines,
            warnings,
            up_to_date: has_nothing.then_some("the table of actions has the newest releases"),
            document,
            patch,
        }
    }

    /// Looks for a newer release of an action.
    fn read_action<S: ActionSource>(
        &mut self,
        row: &ActionRow,
        repo: &RepoName,
        source: &mut S,
    ) -> Result<(), S::Error> {
        let Some(tags) = source.tags(repo)? else {
            self.add_remark(row, RemarkKind::NoRepository);
            return Ok(());
        };
        self.read.push(row.name.clone());
        let (newer, remarks) = find_newer_release(row, &tags);
        self.remarks.extend(remarks);
        let Some(newer) = newer else { return Ok(()) };
        let mut metadata = None;
        for path in METADATA {
            if metadata.is_none() {
                metadata = source.file(repo, path, &newer.sha)?;
            }
        }
        match propose_update(row, newer, metadata.as_deref()) {
            Ok(update) => self.updates.push(update),
            Err(remark) => self.remarks.push(remark),
        }
        Ok(())
    }

    /// Looks for the release of this version of our own action. A repository that does not exist
    /// yet is not reported.
    fn read_own_action<S: ActionSource>(
        &mut self,
        repo: &RepoName,
        version: &str,
        source: &mut S,
    ) -> Result<(), S::Error> {
        let Some(tags) = source.tags(repo)? else {
            return Ok(());
        };
        self.read.push(OWN_ACTION.to_owned());
        match propose_own_action(version, &tags) {
            Ok(update) => self.updates.push(update),
            Err(remark) => self.remarks.push(remark),
        }
        Ok(())
    }

    fn add_remark(&mut self, row: &ActionRow, kind: RemarkKind) {
        self.remarks.push(ActionRemark {
            action: row.name.clone(),
            kind,
        });
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{ActionReleases, ActionSource};
    use crate::refresh::actions::{ActionTag, OWN_ACTION, TagCommit};
    use crate::rows::{ActionRow, Confidence, Provenance};
    use rock_names::RepoName;

    /// Repositories in memory: tags by repository, and files by repository and path.
    #[derive(Default)]
    struct Repositories {
        tags: BTreeMap<String, Vec<(&'static str, u8)>>,
        files: BTreeMap<(String, String), &'static str>,
        requests: Vec<String>,
    }

    fn sha(byte: u8) -> String {
        format!("{byte:02x}").repeat(20)
    }

    impl ActionSource for Repositories {
        type Error = String;

        fn tags(&mut self, repo: &RepoName) -> Result<Option<Vec<ActionTag>>, String> {
            let name = repo.to_string();
            self.requests.push(format!("tags {name}"));
            if name == "o/broken" {
                return Err("no response".to_owned());
            }
            let tag = |(name, byte): &(&str, u8)| ActionTag {
                name: (*name).to_owned(),
                commit: TagCommit { sha: sha(*byte) },
            };
            let tags = self.tags.get(&name);
            Ok(tags.map(|tags| tags.iter().map(tag).collect()))
        }

        fn file(
            &mut self,
            repo: &RepoName,
            path: &str,
            commit: &str,
        ) -> Result<Option<String>, String> {
            self.requests
                .push(format!("{path} {repo} {}", &commit[..2]));
            let file = self.files.get(&(repo.to_string(), path.to_owned()));
            Ok(file.map(|text| (*text).to_owned()))
        }
    }

    fn row(name: &str, version: &str, byte: u8) -> ActionRow {
        ActionRow {
            name: name.to_owned(),
            version: version.to_owned(),
            sha: sha(byte),
            runtime: "node24".to_owned(),
            origin: Provenance {
                status: Confidence::Verified,
                source: "tags".to_owned(),
                r#ref: String::new(),
                checked: "2026-11-21".to_owned(),
                note: String::new(),
            },
        }
    }

    #[test]
    fn newer_releases_with_a_runtime_update_their_rows() {
        let mut source = Repositories::default();
        let tags = vec![("v1.0.0", 1), ("v2.0.0", 2)];
        source.tags.insert("o/a".to_owned(), tags.clone());
        source.tags.insert("o/moved".to_owned(), tags);
        let yaml = ("o/a".to_owned(), "action.yaml".to_owned());
        source.files.insert(yaml, "runs: {using: node24}");
        let rows = [
            row("o/a", "v1.0.0", 1),
            row("o/gone", "v1.0.0", 1),
            row("not a repository", "v1.0.0", 1),
            row("o/moved", "v1.0.0", 9),
        ];
        let found = ActionReleases::read(&rows, "1.2.3", &mut source).unwrap();
        let own = format!("tags {OWN_ACTION}");
        assert_eq!(
            source.requests,
            [
                "tags o/a",
                "action.yml o/a 02",
                "action.yaml o/a 02",
                "tags o/gone",
                "tags o/moved",
                own.as_str()
            ]
        );
        let compared = found.compare(&rows, "2026-12-01");
        assert!(compared.differs && compared.up_to_date.is_none());
        assert_eq!(compared.lines.len(), 3, "{:?}", compared.lines);
        assert!(compared.lines[0].starts_with("o/a"), "{:?}", compared.lines);
        assert_eq!(compared.warnings.len(), 1);
        assert!(compared.patch.contains(&sha(2)), "{}", compared.patch);
        let document: serde_json::Value = serde_json::from_str(&compared.document).unwrap();
        assert_eq!(document["read"], serde_json::json!(["o/a", "o/moved"]));
        let kinds: Vec<&str> = document["remarks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|remark| remark["remark"].as_str().unwrap())
            .collect();
        assert_eq!(kinds, ["no-repository", "no-repository", "moved-tag"]);
    }

    #[test]
    fn the_action_of_this_project_gets_a_row() {
        let mut source = Repositories::default();
        let tags = vec![("v1.2.3", 7)];
        source.tags.insert(OWN_ACTION.to_owned(), tags);
        let found = ActionReleases::read(&[], "1.2.3", &mut source).unwrap();
        let compared = found.compare(&[], "2026-12-01");
        assert!(compared.differs && compared.patch.contains(OWN_ACTION));
        let known = [row(OWN_ACTION, "v1.2.3", 7)];
        let same = ActionReleases::read(&known, "1.2.3", &mut source).unwrap();
        assert_eq!(
            same.compare(&known, "2026-12-01").up_to_date,
            Some("the table of actions has the newest releases")
        );
    }

    #[test]
    fn a_failed_request_ends_the_comparison() {
        let rows = [row("o/broken", "v1.0.0", 1), row("o/a", "v1.0.0", 1)];
        let mut source = Repositories::default();
        let error = ActionReleases::read(&rows, "1.2.3", &mut source).unwrap_err();
        assert_eq!((error.as_str(), source.requests.len()), ("no response", 1));
    }
}
