//! Checks of a publish that can run before anything is built.
//!
//! Input: the tag that will be published, and the repository as GitHub describes it
//! ([`ObservedRepository`]). Output: one [`PreflightCheck`] for each requirement of publishing, and
//! a diagnostic for each requirement that is not met.
//!
//! **Invariant:** every check runs every time, so that one run reports all errors; unknown facts
//! give [`CheckOutcome::Unknown`] and never a failure.

mod document;
mod files;
mod release;
mod repository;

use std::fmt;

use serde::Deserialize;

use super::{ListedRelease, TagRuleset, TagTarget};
use rock_diagnostic::Diagnostic;
use rock_plan::config::Attest;

pub use files::planned_files;
use files::{file_names, files_per_hour};
use release::{drafts, release, room, tag_commit, tag_creation, tag_name};
use repository::{attestation, environment, immutable_releases, repository, rights, server};

/// A planned publish.
#[derive(Debug, Clone, Default)]
pub struct PreflightRequest<'a> {
    pub tag: &'a str,
    /// Whether files may be added to a published release.
    pub allow_published: bool,
    /// Whether empty drafts of the tag may be deleted.
    pub clean_duplicates: bool,
    /// Whether the files are attested.
    pub attest: Attest,
    /// Whether the token of this run is read-only, so that its permissions say nothing about
    /// publishing.
    pub read_only: bool,
    /// The server of the workflow run, `https://github.com`; `None` outside of workflows.
    pub server: Option<&'a str>,
    /// The environment of the job that publishes, if its rules are to be checked.
    pub environment: Option<&'a str>,
    /// Names of the files that the plan expects.
    pub files: Vec<&'a str>,
    /// Whether the publish may take longer than an hour, `publish --slow`.
    pub slow: bool,
    /// The number of files that a publish may upload within an hour.
    pub files_per_hour: usize,
    /// The number of assets that GitHub accepts in one release.
    pub most_assets: usize,
}

/// The state of a repository before a publish. Fields that could not be read are `None`.
#[derive(Debug, Clone, Default)]
pub struct ObservedRepository {
    /// Whether it comes from a saved listing, without requests to GitHub.
    pub is_offline: bool,
    /// The releases of the tag, including drafts if the token may see them.
    pub releases: Option<Vec<ListedRelease>>,
    /// The commits of the tag and of its target.
    pub tag: Option<TagTarget>,
    /// Whether the requests to GitHub were made without a token.
    pub is_anonymous: bool,
    /// The active rulesets for tags; only requested if the tag does not exist.
    pub tag_rulesets: Option<Vec<TagRuleset>>,
    pub repository: Option<RepositoryFacts>,
    /// Whether publishing makes releases immutable.
    pub immutable_releases: Option<bool>,
    /// The deployment rules of the environment.
    pub deployment: Option<DeploymentRules>,
}

/// Fields of a repository (REST API version 2022-11-28, "Get a repository").
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct RepositoryFacts {
    /// Whether access is restricted; `internal` repositories are private, too.
    #[serde(default)]
    pub private: bool,
    /// `public`, `private` or `internal`.
    #[serde(default)]
    pub visibility: Option<String>,
    /// Whether it is read-only.
    #[serde(default)]
    pub archived: bool,
    /// Whether GitHub has disabled it.
    #[serde(default)]
    pub disabled: bool,
    #[serde(default)]
    pub owner: RepositoryOwner,
    /// The permissions of the token.
    #[serde(default)]
    pub permissions: Option<TokenPermissions>,
}

/// The owner of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct RepositoryOwner {
    /// `User` or `Organization`.
    #[serde(default, rename = "type")]
    pub kind: String,
}

/// The permissions of a token in a repository.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct TokenPermissions {
    /// Whether it may write, and see drafts.
    #[serde(default)]
    pub push: bool,
}

/// The branches and tags that may deploy to an environment (REST API version 2022-11-28, "Get an
/// environment" and "List deployment branch policies").
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeploymentRules {
    /// The environment does not exist: GitHub creates it when a job first names it, without
    /// restrictions.
    NoEnvironment,
    /// All branches and tags.
    All,
    /// Protected branches, and therefore no tags.
    ProtectedBranches,
    /// Tags that match one of these patterns.
    Tags(Vec<String>),
}

/// The result of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckOutcome {
    /// The requirement is met.
    Passed,
    /// Publishing would fail.
    Failed,
    /// The requirement cannot be checked from here.
    Unknown,
}

impl fmt::Display for CheckOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        })
    }
}

/// The check of one requirement of publishing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreflightCheck {
    /// Its name, in kebab case.
    pub name: &'static str,
    pub outcome: CheckOutcome,
    /// A one-line explanation.
    pub detail: String,
    /// The codes of its diagnostics.
    pub codes: Vec<&'static str>,
}

/// The results of all checks.
#[derive(Debug, Clone, Default)]
pub struct PreflightReport {
    /// All checks, always in the same order.
    pub checks: Vec<PreflightCheck>,
    /// The diagnostics of failed checks.
    pub faults: Vec<Diagnostic>,
}

/// The result of a check, with an explanation or its diagnostics.
enum CheckResult {
    Passed(String),
    Unknown(String),
    Failed(Vec<Diagnostic>),
}

/// Checks that need GitHub.
const ONLINE_CHECKS: [&str; 6] = [
    "tag-commit",
    "tag-creation",
    "repository",
    "rights",
    "immutable-releases",
    "attestation",
];

/// Checks every requirement of publishing that is known before a build.
pub fn preflight(request: &PreflightRequest<'_>, observed: &ObservedRepository) -> PreflightReport {
    let findings = [
        ("server", server(request)),
        ("tag-name", tag_name(request)),
        ("tag-commit", tag_commit(observed)),
        ("tag-creation", tag_creation(request, observed)),
        ("release", release(request, observed)),
        ("drafts", drafts(request, observed)),
        ("room", room(request, observed)),
        ("file-names", file_names(request)),
        ("files-per-hour", files_per_hour(request, observed)),
        ("repository", repository(observed)),
        ("rights", rights(request, observed)),
        ("immutable-releases", immutable_releases(observed)),
        ("attestation", attestation(request, observed)),
        ("environment", environment(request, observed)),
    ];
    let mut preflight = PreflightReport::default();
    for (name, finding) in findings {
        let (outcome, detail, faults) = match finding {
            CheckResult::Passed(detail) => (CheckOutcome::Passed, detail, Vec::new()),
            CheckResult::Unknown(_) if observed.is_offline && ONLINE_CHECKS.contains(&name) => (
                CheckOutcome::Unknown,
                "GitHub was not queried".to_owned(),
                Vec::new(),
            ),
            CheckResult::Unknown(detail) => (CheckOutcome::Unknown, detail, Vec::new()),
            CheckResult::Failed(faults) => {
                let detail = faults
                    .iter()
                    .map(|fault| fault.message.as_str())
                    .collect::<Vec<_>>()
                    .join("; ");
                (CheckOutcome::Failed, detail, faults)
            }
        };
        let codes = faults.iter().map(|fault| fault.code.id).collect();
        preflight.checks.push(PreflightCheck {
            name,
            outcome,
            detail,
            codes,
        });
        preflight.faults.extend(faults);
    }
    preflight
}

fn passed(detail: impl Into<String>) -> CheckResult {
    CheckResult::Passed(detail.into())
}

fn unknown(detail: impl Into<String>) -> CheckResult {
    CheckResult::Unknown(detail.into())
}

fn failed(fault: Diagnostic) -> CheckResult {
    CheckResult::Failed(vec![fault])
}
