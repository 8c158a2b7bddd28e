//! `.rock/checkout.json`: what a checkout was asked for and what it made. The next one goes on from
//! it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::checkout_spec::{CheckoutSpec, HipifyMode};
use super::git_output::is_commit_hash;
use rock_diagnostic::render::redact_urls;
use rock_names::is_path_below;

/// The version of the form.
const VERSION: u32 = 1;

/// What a checkout did, or had begun to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckoutState {
    /// Version of this form, 1.
    pub version: u32,
    /// The program that wrote it.
    pub generator: String,
    /// How far it came.
    pub outcome: CheckoutOutcome,
    /// The project, where it is a known one.
    pub project: Option<String>,
    /// The folder of the outer repository inside a patch set.
    pub name: String,
    /// Where it came from, without a password.
    pub origin: String,
    /// Branch, tag or commit as it was given.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The commit that this meant; unknown before it was fetched.
    pub commit: Option<String>,
    /// The patches.
    pub patches: Option<PatchesRecord>,
    /// Whether it was hipified.
    pub hipify: bool,
    /// Whether what hipify changed is a commit.
    pub commit_hipify: bool,
    /// Whether submodules are checked out.
    pub submodules: bool,
    /// The outer repository, then every submodule. While a checkout is under way, those of the one
    /// before.
    pub repositories: Vec<RepositoryRecord>,
}

/// How far a checkout came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckoutOutcome {
    /// It runs, or was ended before its end by force; files may be half written.
    Begun,
    /// It ended before its end by itself, and left nothing that is not committed.
    Incomplete,
    /// All is as it was asked for.
    Done,
}

/// The patches that were applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatchesRecord {
    /// The name of the set.
    pub set: String,
    /// Its folder.
    #[serde(default)]
    pub folder: String,
    /// Path below the set's folder → SHA-256 of the file.
    pub files: BTreeMap<String, String>,
}

/// One repository of a checkout.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepositoryRecord {
    /// Its path below the folder; empty for the outer one.
    pub path: String,
    /// The commit that upstream has.
    pub upstream: String,
    /// The commit that hipify made, where it changed anything.
    pub hipified: Option<String>,
    /// The commit that the checkout ended at.
    pub head: String,
    /// Whether hipify changed it without a commit.
    #[serde(default)]
    pub is_left_changed: bool,
}

/// A state that cannot be gone on from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckoutStateError {
    /// It is not the JSON of one.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// Another version of the program wrote it.
    #[error("it has version {0}, and this program knows version {VERSION}")]
    OtherVersion(u64),
    /// A field holds what no checkout writes there.
    #[error("`{0}` holds what no checkout writes there")]
    BadField(&'static str),
}

impl CheckoutState {
    /// The state of a checkout that begins. `before` is what was made earlier in the same folder.
    pub fn begun(wanted: &CheckoutSpec, before: Option<&Self>) -> Self {
        let patches = wanted.patches.as_ref().map(|set| PatchesRecord {
            set: set.name.clone(),
            folder: set.folder.clone(),
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

    /// Whether a tree that was made as `self` says is one that `other` would be, at the same
    /// commit.
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

    /// Reads the text of one.
    ///
    /// # Errors
    /// When it is no state of this version.
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

    /// Refuses paths that leave the checkout, options in the place of names, and commits that are
    /// none: each becomes a folder that git works in, or an argument of git.
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
                && is_word(&set.folder)
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

    /// The text of it.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("a record of texts has a JSON form");
        text + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted() -> CheckoutSpec {
        CheckoutSpec {
            folder: "/src/torch".into(),
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
    fn a_state_of_another_version_and_one_that_is_cut_are_told() {
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

    /// The folder of a checkout is one that its own hooks and build steps can write to.
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
            folder: "patches".into(),
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
            let told = CheckoutState::parse(&hostile.to_string()).unwrap_err();
            assert!(
                matches!(told, CheckoutStateError::BadField(field) if field == name),
                "{field} {value}: {told}"
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
