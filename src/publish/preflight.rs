//! The checks of a publish that can be made before anything is built.
//!
//! Input: the tag that will be published and what GitHub says of it ([`Observation`]). Output: one
//! [`PreflightCheck`] for each thing that publishing needs, and a diagnostic for each that is not
//! there.
//!
//! **Invariant:** every check is made in every run, so that one run reports all that is wrong; what
//! is not known is [`CheckOutcome::Unknown`] and never a failure.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use super::checks::{is_kept_name, label_not_normal};
use super::remote::{LONGEST_NAME_BYTES, Refusal, is_marked};
use super::{GitTag, ListedRelease, MANIFEST, SUMS, TagGlob, TagName, TagRuleset, TagTarget};
use crate::codes::release as codes;
use crate::config::Attest;
use crate::diagnostic::{Diagnostic, Location, Severity, counted};

/// A publish that is to come.
#[derive(Debug, Clone, Default)]
pub struct PreflightRequest<'a> {
    /// The tag.
    pub tag: &'a str,
    /// Whether a release that is published may be added to.
    pub allow_published: bool,
    /// Whether empty drafts of the tag may be deleted.
    pub clean_duplicates: bool,
    /// Whether the files are attested.
    pub attest: Attest,
    /// Whether the token of this run is one that only reads, so that its rights say nothing about
    /// publishing.
    pub read_only: bool,
    /// The server of the workflow run, `https://github.com`; `None` outside of workflows.
    pub server: Option<&'a str>,
    /// The environment of the job that publishes, where its rules are to be checked.
    pub environment: Option<&'a str>,
    /// Names of the files that the plan expects.
    pub files: Vec<&'a str>,
    /// Whether the publish takes longer than an hour, `publish --slow`.
    pub slow: bool,
    /// Files that a publish may send within an hour.
    pub files_per_hour: usize,
    /// Assets that GitHub takes in one release.
    pub most_assets: usize,
}

/// The state of a repository before a publish. What could not be read is `None`.
#[derive(Debug, Clone, Default)]
pub struct Observation {
    /// Whether it comes from a saved listing, without asking GitHub.
    pub is_offline: bool,
    /// The releases of the tag, drafts among them where the token may see them.
    pub releases: Option<Vec<ListedRelease>>,
    /// Where the tag and its target are.
    pub tag: Option<TagTarget>,
    /// Whether GitHub was asked without a token.
    pub is_anonymous: bool,
    /// The active rulesets for tags; asked for only where there is no such tag.
    pub tag_rulesets: Option<Vec<TagRuleset>>,
    /// What the repository is.
    pub repository: Option<RepositoryFacts>,
    /// Whether publishing makes releases immutable.
    pub immutable_releases: Option<bool>,
    /// The rules of the environment.
    pub deployment: Option<DeploymentRules>,
}

/// Fields of a repository (REST API version 2022-11-28, "Get a repository").
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct RepositoryFacts {
    /// Whether only some see it; `internal` repositories are private, too.
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
    /// Whose it is.
    #[serde(default)]
    pub owner: Owner,
    /// What the token may do.
    #[serde(default)]
    pub permissions: Option<Permissions>,
}

/// The owner of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Owner {
    /// `User` or `Organization`.
    #[serde(default, rename = "type")]
    pub kind: String,
}

/// The rights of a token in a repository.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct Permissions {
    /// Whether it may write, and see drafts.
    #[serde(default)]
    pub push: bool,
}

/// The branches and tags that an environment takes deployments from (REST API version 2022-11-28,
/// "Get an environment" and "List deployment branch policies").
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeploymentRules {
    /// There is no such environment: GitHub makes it when a job first names it, and it takes all.
    NoEnvironment,
    /// All branches and tags.
    All,
    /// Protected branches, and therefore no tag.
    ProtectedBranches,
    /// Tags that one of these patterns fits.
    Tags(Vec<String>),
}

/// The result of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckOutcome {
    /// It is as publishing needs it.
    Passed,
    /// Publishing would fail.
    Failed,
    /// It cannot be known from here.
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

/// One thing that publishing needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreflightCheck {
    /// Its name, in kebab case.
    pub name: &'static str,
    /// Whether it is there.
    pub outcome: CheckOutcome,
    /// One line for people.
    pub detail: String,
    /// The codes of its faults.
    pub codes: Vec<&'static str>,
}

/// All checks of a publish.
#[derive(Debug, Clone, Default)]
pub struct Preflight {
    /// Each check, always in the same order.
    pub checks: Vec<PreflightCheck>,
    /// The faults of those that failed.
    pub faults: Vec<Diagnostic>,
}

/// A check in words, or its faults.
enum Finding {
    Passed(String),
    Unknown(String),
    Failed(Vec<Diagnostic>),
}

/// Checks that only GitHub can answer.
const ONLINE_CHECKS: [&str; 6] = [
    "tag-commit",
    "tag-creation",
    "repository",
    "rights",
    "immutable-releases",
    "attestation",
];

/// Checks everything that publishing needs and that is known before a build.
pub fn preflight(request: &PreflightRequest<'_>, observed: &Observation) -> Preflight {
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
    let mut preflight = Preflight::default();
    for (name, finding) in findings {
        let (outcome, detail, faults) = match finding {
            Finding::Passed(detail) => (CheckOutcome::Passed, detail, Vec::new()),
            Finding::Unknown(_) if observed.is_offline && ONLINE_CHECKS.contains(&name) => (
                CheckOutcome::Unknown,
                "GitHub was not asked".to_owned(),
                Vec::new(),
            ),
            Finding::Unknown(detail) => (CheckOutcome::Unknown, detail, Vec::new()),
            Finding::Failed(faults) => {
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

fn passed(detail: impl Into<String>) -> Finding {
    Finding::Passed(detail.into())
}

fn unknown(detail: impl Into<String>) -> Finding {
    Finding::Unknown(detail.into())
}

fn failed(fault: Diagnostic) -> Finding {
    Finding::Failed(vec![fault])
}

/// Returns whether a workflow's server runs the actions that rendered workflows use: artifacts of
/// version 4 and attestations are not on Enterprise Server (GitHub Docs, "Using artifact
/// attestations"; actions/upload-artifact, README, "Breaking changes"). Data residency has a host
/// below ghe.com.
fn runs_rendered_workflows(server: &str) -> bool {
    let host = server.split_once("://").map_or(server, |(_, rest)| rest);
    let host = host
        .split(['/', ':'])
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    // Test servers run on localhost.
    ["github.com", "localhost"].contains(&host.as_str()) || host.ends_with(".ghe.com")
}

fn server(request: &PreflightRequest<'_>) -> Finding {
    match request.server {
        None => unknown("not a workflow run"),
        Some(server) if runs_rendered_workflows(server) => passed(format!("`{server}` runs rendered workflows")),
        Some(server) => failed(
            Diagnostic::new(
                &codes::ENTERPRISE_SERVER,
                format!("`{server}` is a GitHub Enterprise Server, which cannot run rendered workflows"),
            )
            .at(Location::Argument("GITHUB_SERVER_URL".to_owned()), "")
            .help("build there with `rock-matrix plan`, `build` and `publish --api-url` in a workflow of your own"),
        ),
    }
}

fn tag_name(request: &PreflightRequest<'_>) -> Finding {
    let fault = |text: String, help: &str| {
        failed(
            Diagnostic::new(&codes::BAD_TAG, text)
                .at(Location::Argument("--tag".to_owned()), "")
                .help(help),
        )
    };
    match request.tag.parse::<TagName>() {
        Ok(_) => passed(format!("`{}` can be published", request.tag)),
        Err(error) if request.tag.parse::<GitTag>().is_ok() => {
            fault(error.to_string(), "divide it by `-`, as in `release-1`")
        }
        Err(error) => fault(
            error.to_string(),
            "write it like `v1` or `nightly-20261101`",
        ),
    }
}

fn tag_commit(observed: &Observation) -> Finding {
    let Some(tag) = &observed.tag else {
        return unknown("the tag was not read");
    };
    match (tag.fault(), &tag.commit) {
        (Some(fault), _) => failed(fault),
        (None, Some(commit)) => passed(format!("at {commit}")),
        (None, None) => passed("it will be made with the release"),
    }
}

fn tag_creation(request: &PreflightRequest<'_>, observed: &Observation) -> Finding {
    match &observed.tag {
        None => return unknown("the tag was not read"),
        Some(tag) if tag.commit.is_some() => return passed("the tag exists"),
        Some(_) => {}
    }
    let Some(rulesets) = &observed.tag_rulesets else {
        return unknown(
            "the rulesets for tags cannot be read; push the tag before the build to be sure",
        );
    };
    let mut unsure = Vec::new();
    for TagRuleset { name, details } in rulesets {
        let Some(details) = details else {
            unsure.push(name.as_str());
            continue;
        };
        if !details.restricts_creation || details.may_bypass == Some(true) {
            continue;
        }
        match (details.applies_to(request.tag), details.may_bypass) {
            (Some(false), _) => {}
            // Another token publishes, and may be one that bypasses it.
            (Some(true), Some(false)) if !request.read_only => {
                return failed(tag_restricted(request.tag, name));
            }
            _ => unsure.push(name),
        }
    }
    if unsure.is_empty() {
        return passed("no ruleset keeps the tag from being created");
    }
    let names = unsure.join("`, `");
    unknown(format!(
        "the ruleset `{names}` may keep the tag from being created; push it before the build to be sure"
    ))
}

fn tag_restricted(tag: &str, ruleset: &str) -> Diagnostic {
    Diagnostic::new(
        &codes::TAG_CREATION_RESTRICTED,
        format!(
            "the ruleset `{ruleset}` restricts who creates the tag `{tag}`, and this token may not"
        ),
    )
    .at(Location::Argument("--tag".to_owned()), "")
    .help("push the tag as someone who may, or add who publishes to the bypass list of the ruleset")
}

fn of_tag<'o>(
    request: &PreflightRequest<'_>,
    releases: &'o [ListedRelease],
) -> Vec<&'o ListedRelease> {
    releases
        .iter()
        .filter(|release| release.tag_name == request.tag)
        .collect()
}

/// Returns the releases of the tag; the one that will be used comes first, as when the release is
/// reconciled.
fn by_use<'o>(
    request: &PreflightRequest<'_>,
    releases: &'o [ListedRelease],
) -> Vec<&'o ListedRelease> {
    let mut of_tag = of_tag(request, releases);
    of_tag.sort_by_key(|release| {
        (
            release.draft,
            release.assets.is_empty() || is_marked(release),
            release.id,
        )
    });
    of_tag
}

fn release(request: &PreflightRequest<'_>, observed: &Observation) -> Finding {
    let Some(releases) = &observed.releases else {
        return unknown("the releases were not read");
    };
    let published = of_tag(request, releases)
        .into_iter()
        .find(|release| !release.draft);
    let Some(published) = published else {
        return passed("no release of the tag is published");
    };
    let tag = request.tag;
    let files = counted(published.assets.len(), "file");
    let at = Location::Url(tag.to_owned());
    if published.is_locked() {
        return failed(
            Diagnostic::new(
                &codes::IMMUTABLE_RELEASE,
                format!("the release `{tag}` is immutable and holds {files}"),
            )
            .at(at, "")
            .help(
                "publish under a new tag: assets and tag of an immutable release stay as they are",
            ),
        );
    }
    if request.allow_published {
        return passed(format!("published with {files}, and may be added to"));
    }
    failed(
        Diagnostic::new(
            &codes::RELEASE_IS_PUBLISHED,
            format!("the release `{tag}` is published already, with {files}"),
        )
        .at(at, "")
        .help("publish under a new tag, or add to this one with `publish --allow-published`"),
    )
}

fn drafts(request: &PreflightRequest<'_>, observed: &Observation) -> Finding {
    let Some(releases) = &observed.releases else {
        return unknown("the releases were not read");
    };
    let of_tag = by_use(request, releases);
    let sees_drafts = observed
        .repository
        .as_ref()
        .and_then(|facts| facts.permissions)
        .is_some_and(|may| may.push)
        || releases.iter().any(|release| release.draft);
    if !sees_drafts {
        return unknown("only a token that may write sees drafts");
    }
    let Some((first, others)) = of_tag.split_first() else {
        return passed("no draft of the tag");
    };
    let is_empty = |release: &ListedRelease| release.draft && release.assets.is_empty();
    let stays = |release: &ListedRelease| {
        !(release.draft && (is_marked(release) || (request.clean_duplicates && is_empty(release))))
    };
    let kept: Vec<&ListedRelease> = others
        .iter()
        .copied()
        .filter(|release| stays(release))
        .collect();
    if !kept.is_empty() {
        let others_are_empty = kept.iter().all(|release| is_empty(release));
        let releases = of_tag
            .iter()
            .map(|release| (release.id, release.assets.len()))
            .collect();
        let tag = request.tag.to_owned();
        return failed(
            super::remote::Refusal::Duplicates {
                tag,
                releases,
                others_are_empty,
            }
            .into(),
        );
    }
    // Publishing deletes another draft of an earlier run only if its files are those of the plan.
    if let Some(draft) = others.iter().find(|release| !release.assets.is_empty()) {
        return unknown(format!(
            "the draft {} of an earlier run has files, which may not be those of the plan",
            draft.id
        ));
    }
    if first.draft {
        let files = counted(first.assets.len(), "file");
        passed(format!(
            "the draft {} will be continued; it has {files}",
            first.id
        ))
    } else {
        passed("no draft of the tag")
    }
}

/// Reports a release without room for the files that are made from the others. Those of the plan go
/// on in `TAG-2`.
fn room(request: &PreflightRequest<'_>, observed: &Observation) -> Finding {
    let Some(releases) = &observed.releases else {
        return unknown("the releases were not read");
    };
    let most = request.most_assets;
    let Some(&first) = by_use(request, releases).first() else {
        return passed(format!("a release takes {most} files"));
    };
    let holds = |name: &&&str| first.assets.iter().any(|asset| asset.name == **name);
    let documents = [SUMS, MANIFEST];
    let missing = documents.iter().filter(|name| !holds(name)).count();
    // In a published release the new bytes of a document are sent beside the old ones.
    let beside = usize::from(!first.draft && missing < documents.len());
    let free = most.saturating_sub(first.assets.len());
    if first.is_locked() {
        return unknown("the release takes no files");
    }
    if free < missing + beside {
        return failed(
            Refusal::Full {
                tag: request.tag.to_owned(),
                assets: first.assets.len(),
            }
            .into(),
        );
    }
    let sent = request.files.iter().filter(|name| !holds(name)).count();
    let more = if sent + missing > free {
        format!("; what does not fit goes to `{}-2`", request.tag)
    } else {
        String::new()
    };
    passed(format!(
        "the release has room for {}{more}",
        counted(free, "file")
    ))
}

fn files_per_hour(request: &PreflightRequest<'_>, observed: &Observation) -> Finding {
    if request.files.is_empty() {
        return unknown("no plan was given");
    }
    let releases = observed.releases.as_deref().unwrap_or_default();
    let is_there = |name: &str| {
        of_tag(request, releases)
            .iter()
            .any(|of| of.assets.iter().any(|a| a.name == name))
    };
    let sent = request.files.iter().filter(|name| !is_there(name)).count() + [SUMS, MANIFEST].len();
    let most = request.files_per_hour;
    if sent <= most {
        return passed(format!("{sent} files can be sent within an hour"));
    }
    if request.slow {
        return passed(format!(
            "{sent} files take longer than an hour, which `--slow` allows"
        ));
    }
    failed(
        Diagnostic::new(
            &codes::TOO_MANY_CALLS,
            format!("{sent} files would be sent, and {most} can be sent within an hour"),
        )
        .at(Location::Argument("--plan".to_owned()), "")
        .help(
            "publish with `--slow`, and say so here; `rock-matrix render workflow` writes it where the plan needs it",
        ),
    )
}

fn file_names(request: &PreflightRequest<'_>) -> Finding {
    if request.files.is_empty() {
        return unknown("no plan was given");
    }
    let fault = |name: &&str| {
        let (code, text, help) = if !is_kept_name(name) {
            (
                &codes::NAME_NOT_KEPT,
                "GitHub would store it under another name".to_owned(),
                "leave out the epoch",
            )
        } else if name.len() > LONGEST_NAME_BYTES {
            let text = format!(
                "its name has {} bytes, and {LONGEST_NAME_BYTES} can be published",
                name.len()
            );
            (
                &codes::FILE_NOT_TAKEN,
                text,
                "give it a shorter local version label",
            )
        } else if let Some((written, normal)) = label_not_normal(name) {
            let text = format!("its label is `{written}`, and the normal form is `{normal}`");
            (
                &codes::LABEL_NOT_NORMAL,
                text,
                "write the label in its normal form (PEP 440)",
            )
        } else {
            return None;
        };
        let fault = Diagnostic::new(code, format!("the plan expects `{name}`: {text}"))
            .severity(Severity::Error);
        Some(fault.at(Location::Url((*name).to_owned()), "").help(help))
    };
    let mut faults: Vec<Diagnostic> = request.files.iter().filter_map(fault).collect();
    let mut names: BTreeMap<String, &str> = BTreeMap::new();
    for name in &request.files {
        if let Some(other) = names
            .insert(name.to_lowercase(), name)
            .filter(|other| other != name)
        {
            let text = format!(
                "the plan expects `{other}` and `{name}`, which are one name to a GitHub release"
            );
            let fault = Diagnostic::new(&codes::SAME_NAME_TWICE, text)
                .at(Location::Url((*name).to_owned()), "");
            faults.push(fault.help("give one of them another version or label"));
        }
    }
    if faults.is_empty() {
        passed(format!(
            "{} of the plan can be published",
            counted(request.files.len(), "name")
        ))
    } else {
        Finding::Failed(faults)
    }
}

fn repository(observed: &Observation) -> Finding {
    let Some(facts) = &observed.repository else {
        return unknown("the repository was not read");
    };
    let why = match (facts.archived, facts.disabled) {
        (true, _) => "it is archived",
        (_, true) => "GitHub has disabled it",
        (false, false) => return passed("it takes releases"),
    };
    failed(
        Diagnostic::new(
            &codes::REPOSITORY_TAKES_NO_RELEASE,
            format!("the repository takes no release: {why}"),
        )
        .at(Location::Argument("--repo".to_owned()), "")
        .help("unarchive it in its settings, or publish in another repository"),
    )
}

fn rights(request: &PreflightRequest<'_>, observed: &Observation) -> Finding {
    let permissions = observed
        .repository
        .as_ref()
        .and_then(|facts| facts.permissions);
    if observed.is_anonymous && !request.read_only {
        return failed(
            Diagnostic::new(
                &codes::TOKEN_WITHOUT_RIGHT,
                "there is no token, and without one nothing can be published",
            )
            .at(Location::Argument("--repo".to_owned()), "")
            .help("set GITHUB_TOKEN, or say `--read-only` where another job publishes"),
        );
    }
    match permissions {
        Some(Permissions { push: true }) => passed("the token may publish"),
        Some(Permissions { push: false }) if !request.read_only => failed(
            Diagnostic::new(&codes::TOKEN_WITHOUT_RIGHT, "the token may not publish in this repository")
                .at(Location::Argument("--repo".to_owned()), "")
                .help(
                    "give a token with \"Contents: read and write\", or say `--read-only` where another job publishes",
                ),
        ),
        Some(Permissions { push: false }) => unknown("the token of this run only reads; another one publishes"),
        None => unknown("GitHub does not say what the token may do"),
    }
}

fn immutable_releases(observed: &Observation) -> Finding {
    match observed.immutable_releases {
        Some(true) => passed("releases become immutable: what is published cannot be added to"),
        Some(false) => passed("releases can be added to"),
        None => unknown("not enabled, or not visible to this token"),
    }
}

fn attestation(request: &PreflightRequest<'_>, observed: &Observation) -> Finding {
    if request.attest == Attest::Off {
        return passed("nothing is attested");
    }
    let Some(facts) = &observed.repository else {
        return unknown("the repository was not read");
    };
    // `internal` is a visibility of enterprises, which have attestations.
    let is_private = match facts.visibility.as_deref() {
        Some(visibility) => visibility == "private",
        None => facts.private,
    };
    match (is_private, request.attest, facts.owner.kind.as_str()) {
        (false, ..) => passed("files are attested"),
        (true, Attest::On, "User") => failed(
            Diagnostic::new(
                &codes::ATTESTATION_NOT_AVAILABLE,
                "`release.attest` is `on`, and a private repository of a person has no attestations",
            )
            .at(Location::Argument("--attest".to_owned()), "")
            .help("write `attest: auto` or `attest: off` under `release`"),
        ),
        (true, Attest::On, _) => unknown("a private repository needs Enterprise Cloud for attestations"),
        (true, ..) => passed("the repository is private, so nothing is attested"),
    }
}

fn environment(request: &PreflightRequest<'_>, observed: &Observation) -> Finding {
    let Some(name) = request.environment else {
        return unknown("no environment was named");
    };
    let why = match &observed.deployment {
        None => {
            return unknown(format!(
                "the rules of the environment `{name}` cannot be read"
            ));
        }
        Some(DeploymentRules::NoEnvironment) => {
            return passed(format!("`{name}` is made when it is first used"));
        }
        Some(DeploymentRules::All) => return passed(format!("`{name}` takes every tag")),
        Some(DeploymentRules::ProtectedBranches) => "takes protected branches only".to_owned(),
        // GitHub's patterns are those of fnmatch, in which `*` does not match `/`; the tag has
        // none.
        Some(DeploymentRules::Tags(patterns)) => {
            let fits = |pattern: &&String| TagGlob::matches(pattern, request.tag);
            match patterns.iter().find(fits) {
                Some(pattern) => return passed(format!("`{name}` takes tags such as `{pattern}`")),
                None if patterns.is_empty() => "takes no tags".to_owned(),
                None => format!("takes tags of `{}` only", patterns.join("`, `")),
            }
        }
    };
    failed(
        Diagnostic::new(
            &codes::ENVIRONMENT_REFUSES_TAG,
            format!(
                "the environment `{name}` {why}, so the job that publishes `{}` would not start",
                request.tag
            ),
        )
        .at(Location::Argument("--environment".to_owned()), "")
        .help("add a rule for this tag under \"Deployment branches and tags\" of the environment"),
    )
}

#[cfg(test)]
mod tests {
    use super::{
        CheckOutcome, DeploymentRules, Observation, Owner, PreflightRequest, RepositoryFacts,
        preflight, runs_rendered_workflows,
    };

    fn outcome(
        name: &str,
        request: &PreflightRequest<'_>,
        observed: &Observation,
    ) -> (CheckOutcome, String) {
        let found = preflight(request, observed)
            .checks
            .into_iter()
            .find(|check| check.name == name)
            .unwrap();
        (found.outcome, found.detail)
    }

    #[test]
    fn enterprise_servers_are_known_by_their_host() {
        for server in [
            "https://github.com",
            "https://github.com/",
            "https://octo.ghe.com",
            "https://OCTO.GHE.COM:443",
        ] {
            assert!(runs_rendered_workflows(server), "{server}");
        }
        for server in [
            "https://github.example.com",
            "https://ghe.com.example.org",
            "https://notgithub.com",
            "",
        ] {
            assert!(!runs_rendered_workflows(server), "{server}");
        }
    }

    #[test]
    fn an_environment_that_takes_no_such_tag_fails_the_preflight() {
        let request = PreflightRequest {
            tag: "v1.2",
            environment: Some("release"),
            ..PreflightRequest::default()
        };
        let ask = |rules| {
            outcome(
                "environment",
                &request,
                &Observation {
                    deployment: rules,
                    ..Observation::default()
                },
            )
        };
        let tags = |patterns: &[&str]| {
            Some(DeploymentRules::Tags(
                patterns.iter().map(|p| (*p).to_owned()).collect(),
            ))
        };
        for (rules, expected) in [
            (None, CheckOutcome::Unknown),
            (Some(DeploymentRules::NoEnvironment), CheckOutcome::Passed),
            (Some(DeploymentRules::All), CheckOutcome::Passed),
            (
                Some(DeploymentRules::ProtectedBranches),
                CheckOutcome::Failed,
            ),
            (tags(&["x*", "v*"]), CheckOutcome::Passed),
            (tags(&["v1.2"]), CheckOutcome::Passed),
            (tags(&["*"]), CheckOutcome::Passed),
            (tags(&["v1"]), CheckOutcome::Failed),
            (tags(&[]), CheckOutcome::Failed),
        ] {
            assert_eq!(ask(rules.clone()).0, expected, "{rules:?}");
        }
    }

    #[test]
    fn attestations_depend_on_visibility_and_owner() {
        use crate::config::Attest::{Auto, Off, On};
        use CheckOutcome::{Failed, Passed, Unknown};

        let ask = |attest, visibility: &str, kind: &str| {
            let request = PreflightRequest {
                tag: "v1",
                attest,
                ..PreflightRequest::default()
            };
            let owner = Owner {
                kind: kind.to_owned(),
            };
            let private = visibility != "public";
            let facts = RepositoryFacts {
                private,
                visibility: Some(visibility.to_owned()),
                owner,
                ..RepositoryFacts::default()
            };
            outcome(
                "attestation",
                &request,
                &Observation {
                    repository: Some(facts),
                    ..Observation::default()
                },
            )
            .0
        };
        assert_eq!(
            (ask(Auto, "public", "User"), ask(On, "public", "User")),
            (Passed, Passed)
        );
        assert_eq!(
            (ask(Auto, "private", "User"), ask(Off, "private", "User")),
            (Passed, Passed)
        );
        assert_eq!(
            (
                ask(On, "private", "User"),
                ask(On, "private", "Organization")
            ),
            (Failed, Unknown)
        );
        assert_eq!(ask(On, "internal", "Organization"), Passed);
    }
}
