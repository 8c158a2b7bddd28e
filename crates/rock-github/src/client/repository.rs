//! Reads the repository, and the settings that can prevent publishing.

use octocrab::models::rulesets::{Rule, RulesetConditions};
use serde::de::IgnoredAny;

use super::{ReleaseClient, found};
use crate::error::GithubError;
use rock_names::percent_encode;
use rock_publish::{DeploymentRules, RepositoryFacts, TagRuleset, TagRulesetDetails};

impl ReleaseClient {
    /// Reads the repository; `None` if the token cannot see it.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn repository(&self) -> Result<Option<RepositoryFacts>, GithubError> {
        let path = format!("/repos/{}", self.repo);
        // octocrab's model rejects new values of unused settings, and licenses without an ID.
        found(self.call(self.octocrab.get(&path, None::<&()>)))
    }

    /// Reads whether published releases become immutable; `None` if the token may not read the
    /// setting. It is visible to administrators only, and to others GitHub responds as if it were
    /// off (REST API, "Check if immutable releases are enabled for a repository").
    ///
    /// # Errors
    /// If the request itself fails.
    pub fn immutable_releases(&self) -> Result<Option<bool>, GithubError> {
        let setting = unless_forbidden(found(self.call(self.handler().immutable_releases())))?;
        Ok(setting.flatten().map(|setting| setting.enabled))
    }

    /// Reads the active rulesets for tags, including those of the organization; `None` if the token
    /// may not read them (REST API, "Get all repository rulesets"). Private repositories of free
    /// plans have none, for which GitHub also responds with `403`.
    ///
    /// # Errors
    /// If the requests themselves fail.
    pub fn tag_rulesets(&self) -> Result<Option<Vec<TagRuleset>>, GithubError> {
        let path = format!("/repos/{}/rulesets?targets=tag&per_page=100", self.repo);
        let listed = found(self.pages(&path, |ruleset: RepositoryRuleset| ruleset));
        let Some(Some(listed)) = unless_forbidden(listed)? else {
            return Ok(None);
        };
        // `evaluate` only reports, and `disabled` has no effect.
        let is_active = |one: &RepositoryRuleset| {
            one.enforcement == "active"
                && one.target.as_deref().is_none_or(|target| target == "tag")
        };
        let details = |one: RepositoryRuleset| {
            let path = format!("/repos/{}/rulesets/{}", self.repo, one.id);
            let whole = found(self.call(self.octocrab.get(&path, None::<&()>)));
            let whole = unless_forbidden(whole)?.flatten();
            Ok(TagRuleset {
                name: one.name,
                details: whole.and_then(RepositoryRuleset::details),
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
        let name = percent_encode(environment);
        let handler = self.handler();
        let environment = found(self.call(handler.environments().get(&name)));
        let Some(environment) = unless_forbidden(environment)? else {
            return Ok(None);
        };
        let policy = match environment.map(|found| found.deployment_branch_policy) {
            None => return Ok(Some(DeploymentRules::NoEnvironment)),
            Some(None) => return Ok(Some(DeploymentRules::All)),
            Some(Some(policy)) => policy,
        };
        if !policy.custom_branch_policies {
            return Ok(Some(DeploymentRules::ProtectedBranches));
        }
        let path = format!(
            "/repos/{}/environments/{name}/deployment-branch-policies?per_page=100",
            self.repo
        );
        // octocrab's model rejects patterns of other kinds than branches and tags.
        let page = found(self.call(self.octocrab.get(&path, None::<&()>)));
        let page: Option<BranchPolicyPage> = unless_forbidden(page)?.flatten();
        // More patterns are on further pages.
        Ok(page
            .filter(|page| page.branch_policies.len() >= page.total_count)
            .map(BranchPolicyPage::rules_for_tags))
    }
}

/// The patterns of names that may deploy to an environment (REST API version 2022-11-28, "List
/// deployment branch policies").
#[derive(serde::Deserialize)]
struct BranchPolicyPage {
    total_count: usize,
    branch_policies: Vec<BranchPolicy>,
}

#[derive(serde::Deserialize)]
struct BranchPolicy {
    name: String,
    /// `branch` or `tag`.
    #[serde(default, rename = "type")]
    kind: Option<String>,
}

impl BranchPolicyPage {
    fn rules_for_tags(self) -> DeploymentRules {
        let policies = self.branch_policies.into_iter();
        let of_tags = policies.filter(|policy| policy.kind.as_deref() == Some("tag"));
        DeploymentRules::Tags(of_tags.map(|policy| policy.name).collect())
    }
}

/// A ruleset (REST API version 2022-11-28, "Get a repository ruleset"); a listing has no conditions
/// and rules.
///
/// octocrab's model rejects new targets, and takes actors that are hidden for none.
#[derive(serde::Deserialize)]
struct RepositoryRuleset {
    id: u64,
    name: String,
    target: Option<String>,
    enforcement: String,
    conditions: Option<RulesetConditions>,
    #[serde(default)]
    rules: Vec<Rule>,
    /// `always`, `pull_requests_only`, `never` or `exempt`.
    current_user_can_bypass: Option<String>,
    /// Present only if the token may edit the ruleset.
    bypass_actors: Option<Vec<IgnoredAny>>,
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
            restricts_creation: self.rules.iter().any(|rule| rule.rule_type == "creation"),
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
