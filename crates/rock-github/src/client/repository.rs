//! Reads the repository, and the settings that can prevent publishing.

use super::ReleaseClient;
use crate::error::GithubError;
use rock_names::percent_encode;
use rock_publish::{DeploymentRules, RepositoryFacts, TagRuleset, TagRulesetDetails};

impl ReleaseClient {
    /// Reads the repository; `None` if the token cannot see it.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn repository(&self) -> Result<Option<RepositoryFacts>, GithubError> {
        self.find(&format!("/repos/{}", self.repo))
    }

    /// Reads whether published releases become immutable; `None` if the token may not read the
    /// setting. It is visible to administrators only, and to others GitHub responds as if it were
    /// off (REST API, "Check if immutable releases are enabled for a repository").
    ///
    /// # Errors
    /// If the request itself fails.
    pub fn immutable_releases(&self) -> Result<Option<bool>, GithubError> {
        #[derive(serde::Deserialize)]
        struct ImmutableReleases {
            enabled: bool,
        }
        let found =
            self.find::<ImmutableReleases>(&format!("/repos/{}/immutable-releases", self.repo));
        Ok(unless_forbidden(found)?
            .flatten()
            .map(|setting| setting.enabled))
    }

    /// Reads the active rulesets for tags, including those of the organization; `None` if the token
    /// may not read them (REST API, "Get all repository rulesets"). Private repositories of free
    /// plans have none, for which GitHub also responds with `403`.
    ///
    /// # Errors
    /// If the requests themselves fail.
    pub fn tag_rulesets(&self) -> Result<Option<Vec<TagRuleset>>, GithubError> {
        #[derive(serde::Deserialize)]
        struct EnvironmentList {
            id: u64,
            name: String,
            #[serde(default)]
            target: Option<String>,
            enforcement: String,
        }
        let path = format!("/repos/{}/rulesets", self.repo);
        let found = self
            .pages::<EnvironmentList>(&format!("{path}?targets=tag&per_page=100"), |ruleset| {
                ruleset
            });
        let Some(Some(listed)) = unless_forbidden(super::found(found))? else {
            return Ok(None);
        };
        // `evaluate` only reports, and `disabled` has no effect.
        let is_active = |one: &EnvironmentList| {
            one.enforcement == "active"
                && one.target.as_deref().is_none_or(|target| target == "tag")
        };
        let details = |one: EnvironmentList| {
            let found =
                unless_forbidden(self.find::<RepositoryRuleset>(&format!("{path}/{}", one.id)))?
                    .flatten();
            Ok(TagRuleset {
                name: one.name,
                details: found.and_then(RepositoryRuleset::details),
            })
        };
        listed
            .into_iter()
            .filter(is_active)
            .map(details)
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// Reads which tags may deploy to an environment; `None` if the token may not read this.
    ///
    /// # Errors
    /// If the requests themselves fail.
    pub fn deployment_rules(
        &self,
        environment: &str,
    ) -> Result<Option<DeploymentRules>, GithubError> {
        #[derive(serde::Deserialize)]
        struct DeployEnvironment {
            deployment_branch_policy: Option<BranchPolicy>,
        }
        #[derive(serde::Deserialize)]
        struct BranchPolicy {
            custom_branch_policies: bool,
        }
        #[derive(serde::Deserialize)]
        struct BranchPatternList {
            total_count: usize,
            branch_policies: Vec<BranchPattern>,
        }
        #[derive(serde::Deserialize)]
        struct BranchPattern {
            name: String,
            #[serde(default, rename = "type")]
            kind: Option<String>,
        }
        let path = format!(
            "/repos/{}/environments/{}",
            self.repo,
            percent_encode(environment)
        );
        let Some(found) = unless_forbidden(self.find::<DeployEnvironment>(&path))? else {
            return Ok(None);
        };
        let policy = match found.map(|environment| environment.deployment_branch_policy) {
            None => return Ok(Some(DeploymentRules::NoEnvironment)),
            Some(None) => return Ok(Some(DeploymentRules::All)),
            Some(Some(policy)) => policy,
        };
        if !policy.custom_branch_policies {
            return Ok(Some(DeploymentRules::ProtectedBranches));
        }
        let path = format!("{path}/deployment-branch-policies?per_page=100");
        let Some(Some(found)) = unless_forbidden(self.find::<BranchPatternList>(&path))? else {
            return Ok(None);
        };
        // More patterns are on further pages.
        if found.branch_policies.len() < found.total_count {
            return Ok(None);
        }
        let of_tags = |pattern: BranchPattern| {
            (pattern.kind.as_deref() == Some("tag")).then_some(pattern.name)
        };
        Ok(Some(DeploymentRules::Tags(
            found
                .branch_policies
                .into_iter()
                .filter_map(of_tags)
                .collect(),
        )))
    }
}

/// A ruleset (REST API version 2022-11-28, "Get a repository ruleset").
#[derive(serde::Deserialize)]
struct RepositoryRuleset {
    conditions: Option<RulesetConditions>,
    #[serde(default)]
    rules: Vec<RulesetRule>,
    /// `always`, `pull_requests_only`, `never` or `exempt`.
    current_user_can_bypass: Option<String>,
    /// Present only if the token may edit the ruleset.
    bypass_actors: Option<Vec<serde::de::IgnoredAny>>,
}

#[derive(serde::Deserialize)]
struct RulesetConditions {
    ref_name: Option<RefName>,
}

#[derive(serde::Deserialize)]
struct RefName {
    #[serde(default)]
    include: Vec<String>,
    #[serde(default)]
    exclude: Vec<String>,
}

#[derive(serde::Deserialize)]
struct RulesetRule {
    #[serde(rename = "type")]
    kind: String,
}

impl RepositoryRuleset {
    /// Returns the details that are checked; `None` if the ruleset does not say which refs it
    /// applies to.
    fn details(self) -> Option<TagRulesetDetails> {
        let refs = self.conditions?.ref_name?;
        // A pull request does not create tags.
        let may_bypass = self
            .current_user_can_bypass
            .map(|word| ["always", "exempt"].contains(&word.as_str()));
        let nobody_may = self
            .bypass_actors
            .is_some_and(|actors| actors.is_empty())
            .then_some(false);
        Some(TagRulesetDetails {
            restricts_creation: self.rules.iter().any(|rule| rule.kind == "creation"),
            include: refs.include,
            exclude: refs.exclude,
            may_bypass: may_bypass.or(nobody_may),
        })
    }
}

/// Maps a 403 to `None`.
fn unless_forbidden<T>(answer: Result<T, GithubError>) -> Result<Option<T>, GithubError> {
    match answer {
        Err(GithubError::Status { status: 403, .. }) => Ok(None),
        answer => answer.map(Some),
    }
}
