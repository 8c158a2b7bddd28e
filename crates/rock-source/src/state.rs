//! `.rock/checkout.json`: the options and results of a checkout. The next checkout continues from
//! it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::checkout_spec::{CheckoutSpec, HipifyMode};
use super::git_output::is_commit_hash;
use rock_diagnostic::render::redact_urls;
use rock_names::is_path_below;

/// The version of the file format.
const VERSION: u32 = 1;

/// The record of a finished or started checkout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckoutState {
    /// The version of the file format, 1.
    pub version: u32,
    /// The name and version of the program that wrote the file.
    pub generator: String,
    /// The progress of the checkout.
    pub outcome: CheckoutOutcome,
    /// The project, if it is a known one.
    pub project: Option<String>,
    /// The name of the outer repository's directory in a patch set.
    pub name: String,
    /// The URL that was fetched from, without a password.
    pub origin: String,
    /// The requested branch, tag or commit.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The commit that the ref resolved to; `None` before the fetch.
    pub commit: Option<String>,
    /// The applied patches.
    pub patches: Option<PatchesRecord>,
    /// Whether the sources are hipified.
    pub hipify: bool,
    /// Whether the changes of hipify are committed.
    pub commit_hipify: bool,
    /// Whether submodules are checked out.
    pub submodules: bool,
    /// The outer repository, then every submodule. While a checkout is running, the repositories of
    /// the previous checkout.
    pub repositories: Vec<RepositoryRecord>,
}

/// The progress of a checkout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckoutOutcome {
    /// The checkout is running or was killed; files may be partially written.
    Begun,
    /// The checkout failed and left no uncommitted changes.
    Incomplete,
    /// The checkout succeeded.
    Done,
}

/// The patches that were applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchesRecord {
    /// The name of the patch set.
    pub set: String,
    /// The directory of the patch set.
    #[serde(default, rename = "folder")]
    pub directory: String,
    /// The path below the directory of the set → SHA-256 of the file.
    pub files: BTreeMap<String, String>,
}

/// A repository of a checkout.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryRecord {
    /// The path below the directory of the checkout; empty for the outer repository.
    pub path: String,
    /// The upstream commit.
    pub upstream: String,
    /// The commit with the changes of hipify, if there are any.
    pub hipified: Option<String>,
    /// The head at the end of the checkout.
    pub head: String,
    /// Whether hipify left uncommitted changes.
    #[serde(default)]
    pub is_left_changed: bool,
}

/// An error in a state file from which no checkout can continue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckoutStateError {
    /// The file is not valid JSON of this format.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// The file has the format of another version of the program.
    #[error("it has version {0}, but this program reads version {VERSION}")]
    OtherVersion(u64),
    /// A field has a value that no checkout writes.
    #[error("`{0}` has a value that no checkout writes")]
    BadField(&'static str),
}

impl CheckoutState {
    /// Returns the state at the start of a checkout. `before` is the state of the previous checkout
    /// in the same directory.
    pub fn begun(wanted: &CheckoutSpec, before: Option<&Self>) -> Self {
        let patches = wanted.patches.as_ref().map(|set| PatchesRecord {
            set: set.name.clone(),
            directory: set.directory.clone(),
            files: set
                .series
                .iter()
                .flat_map(|series| &series.patches)
                .map(|patch| (patch.path.clone(), patch.digest.to_hex()))
                .collect(),
        });
        Self {
            version: VERSION,
            generator: format!("rock-matrix {}", env!("CARGO_PKG_VERSION")),
            outcome: CheckoutOutcome::Begun,
            project: wanted.project.clone(),
            name: wanted.name.clone(),
            origin: redact_urls(&wanted.origin).into_owned(),
            reference: wanted.reference.clone(),
            commit: None,
            patches,
            hipify: wanted.hipify != HipifyMode::Skip,
            commit_hipify: wanted.hipify == HipifyMode::Commit,
            submodules: wanted.submodules,
            repositories: before
                .map(|before| before.repositories.clone())
                .unwrap_or_default(),
        }
    }

    /// Returns whether a checkout with the options in `self` produces the same tree as one with
    /// those in `other`, at the same commit.
    pub fn makes_the_same_as(&self, other: &Self) -> bool {
        let files = |state: &Self| {
            state
                .patches
                .as_ref()
                .map(|patches| patches.files.clone())
                .unwrap_or_default()
        };
        (self.hipify, self.commit_hipify, self.submodules, &self.name)
            == (
                other.hipify,
                other.commit_hipify,
                other.submodules,
                &other.name,
            )
            && files(self) == files(other)
    }

    /// Returns a description of the tree in one line: the project, the ref, the commit and the
    /// number of applied patches.
    pub fn summary(&self) -> String {
        let commit = self.commit.as_deref().unwrap_or_default();
        let name = self.project.as_deref().unwrap_or(&self.name);
        let patches = match self.applied_patches() {
            0 => String::new(),
            1 => ", 1 patch".to_owned(),
            count => format!(", {count} patches"),
        };
        let short = &commit[..commit.len().min(12)];
        if self.reference.starts_with(short) {
            format!("{name} {short}{patches}")
        } else {
            format!("{name} {} ({short}{patches})", self.reference)
        }
    }

    /// Returns the number of patches for repositories that the tree has.
    fn applied_patches(&self) -> usize {
        let files = self.patches.iter().flat_map(|patches| patches.files.keys());
        files
            .filter(|path| {
                let repository = path.rsplitn(3, '/').nth(2).unwrap_or_default();
                repository == self.name
                    || self.repositories.iter().any(|one| one.path == repository)
            })
            .count()
    }

    /// Parses a state file.
    ///
    /// # Errors
    /// When the text is not a valid state of this version.
    pub fn parse(text: &str) -> Result<Self, CheckoutStateError> {
        let unreadable =
            |error: serde_json::Error| CheckoutStateError::Unreadable(error.to_string());
        let value: serde_json::Value = serde_json::from_str(text).map_err(unreadable)?;
        match value.get("version").and_then(serde_json::Value::as_u64) {
            Some(version) if version != u64::from(VERSION) => {
                Err(CheckoutStateError::OtherVersion(version))
            }
            _ => {
                let state: Self = serde_json::from_value(value).map_err(unreadable)?;
                state.check().map(|()| state)
            }
        }
    }

    /// Rejects paths outside the checkout, options in place of names, and invalid commits: the
    /// values become directories that git works in, or arguments of git.
    fn check(&self) -> Result<(), CheckoutStateError> {
        let is_line = |text: &str| !text.contains(char::is_control);
        let is_word = |text: &str| !text.starts_with('-') && is_line(text);
        let is_hex =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_commit = |text: &str| text.is_empty() || is_commit_hash(text);
        let is_record = |record: &RepositoryRecord| {
            (record.path.is_empty() || is_path_below(&record.path))
                && [&record.upstream, &record.head]
                    .into_iter()
                    .chain(&record.hipified)
                    .all(|commit| is_commit(commit))
        };
        let is_set = |set: &PatchesRecord| {
            is_word(&set.set)
                && is_word(&set.directory)
                && set
                    .files
                    .iter()
                    .all(|(path, sum)| is_path_below(path) && is_hex(sum))
        };
        let fields = [
            ("generator", is_line(&self.generator)),
            ("project", self.project.as_deref().is_none_or(is_word)),
            ("name", self.name.is_empty() || is_path_below(&self.name)),
            ("origin", is_word(&self.origin)),
            ("ref", is_word(&self.reference)),
            ("commit", self.commit.as_deref().is_none_or(is_commit)),
            ("patches", self.patches.as_ref().is_none_or(is_set)),
            ("repositories", self.repositories.iter().all(is_record)),
        ];
        match fields.iter().find(|(_, fits)| !fits) {
            Some((name, _)) => Err(CheckoutStateError::BadField(name)),
            None => Ok(()),
        }
    }

    /// Returns the contents of the state file.
    pub fn to_json(&self) -> String {
        let text =
            serde_json::to_string_pretty(self).expect("a struct of strings can be serialized");
        text + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted() -> CheckoutSpec {
        CheckoutSpec {
            directory: "/src/torch".into(),
            project: Some("torch".into()),
            origin: "https://example.com/torch".into(),
            reference: "v1".into(),
            name: "pytorch".into(),
            patches: None,
            hipify: HipifyMode::Commit,
            submodules: true,
            depth: None,
            jobs: Some(10),
            python: "python3".into(),
            build_environment: BTreeMap::new(),
            discard: super::super::DiscardPolicy::default(),
        }
    }

    #[test]
    fn a_state_reads_back() {
        let mut state = CheckoutState::begun(&wanted(), None);
        state.repositories.push(RepositoryRecord {
            head: "a".repeat(40),
            ..RepositoryRecord::default()
        });
        assert_eq!(CheckoutState::parse(&state.to_json()).unwrap(), state);
        assert!(state.to_json().contains("\"ref\": \"v1\""));
    }

    #[test]
    fn a_state_of_another_version_and_one_that_is_cut_are_reported() {
        let text = CheckoutState::begun(&wanted(), None).to_json();
        assert_eq!(
            CheckoutState::parse(&text.replace("\"version\": 1", "\"version\": 2")),
            Err(CheckoutStateError::OtherVersion(2))
        );
        assert!(matches!(
            CheckoutState::parse(&text[..40]),
            Err(CheckoutStateError::Unreadable(_))
        ));
        assert!(matches!(
            CheckoutState::parse("{}"),
            Err(CheckoutStateError::Unreadable(_))
        ));
    }

    /// Hooks and build steps of a checkout can write to its directory.
    #[test]
    fn a_state_that_leads_out_of_its_checkout_is_refused() {
        let mut state = CheckoutState::begun(&wanted(), None);
        let head = "a".repeat(40);
        state.repositories.push(RepositoryRecord {
            path: "third_party/x".into(),
            head,
            ..RepositoryRecord::default()
        });
        state.patches = Some(PatchesRecord {
            set: "main".into(),
            directory: "patches".into(),
            files: BTreeMap::from([("pytorch/base/0001-x.patch".into(), "0".repeat(64))]),
        });
        let whole = serde_json::to_value(&state).unwrap();
        assert_eq!(CheckoutState::parse(&whole.to_string()).unwrap(), state);
        for (field, value) in [
            ("/repositories/0/path", "../../other"),
            ("/repositories/0/path", "/etc"),
            ("/repositories/0/path", "--exec-path=x"),
            ("/repositories/0/head", "--hard"),
            ("/repositories/0/upstream", "HEAD"),
            ("/ref", "--upload-pack=id"),
            ("/origin", "--upload-pack=id"),
            ("/name", "../x"),
            ("/project", "-x"),
            ("/patches/set", "a\nb"),
            ("/patches/files/pytorch~1base~10001-x.patch", "x"),
        ] {
            let mut hostile = whole.clone();
            *hostile.pointer_mut(field).unwrap() = value.into();
            let name = field.split('/').nth(1).unwrap();
            let message = CheckoutState::parse(&hostile.to_string()).unwrap_err();
            assert!(
                matches!(message, CheckoutStateError::BadField(field) if field == name),
                "{field} {value}: {message}"
            );
        }
    }

    #[test]
    fn the_name_of_a_branch_and_the_origin_do_not_make_another_tree() {
        let (one, mut other) = (CheckoutState::begun(&wanted(), None), wanted());
        other.reference = "main".into();
        other.origin = "elsewhere".into();
        assert!(one.makes_the_same_as(&CheckoutState::begun(&other, None)));
        other.hipify = HipifyMode::Skip;
        assert!(!one.makes_the_same_as(&CheckoutState::begun(&other, None)));
    }
}
