//! The repository itself: what it is, and what its settings keep from being published.

use super::Client;
use crate::error::GithubError;
use rock_names::percent_encode;
use rock_publish::{DeploymentRules, RepositoryFacts, TagRuleset, TagRulesetDetails};

impl Client {
    /// Reads the repository, `None` where the token sees none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn repository(&self) -> Result<Option<RepositoryFacts>, GithubError> {
        self.find(&format!("/repos/{}", self.repo))
    }

    /// Reads whether publishing makes releases immutable, `None` where the token may not know: the
    /// setting is for administrators, and for others GitHub answers as if it were off (REST API,
    /// "Check if immutable releases are enabled for a repository").
    ///
    /// # Errors
    /// When the call itself fails.
    pub fn immutable_releases(&self) -> Result<Option<bool>, GithubError> {
        #[derive(serde::Deserialize)]
        struct Setting {
            enabled: bool,
        }
        let found = self.find::<Setting>(&format!("/repos/{}/immutable-releases", self.repo));
        Ok(unless_forbidden(found)?
            .flatten()
            .map(|setting| setting.enabled))
    }

    /// Reads the active rulesets for tags, those of its organization among them; `None` where the
    /// token may not know them (REST API, "Get all repository rulesets"). Private repositories of
    /// free plans have none, which GitHub says with a `403` as well.
    ///
    /// # Errors
    /// When the calls themselves fail.
    pub fn tag_rulesets(&self) -> Result<Option<Vec<TagRuleset>>, GithubError> {
        #[derive(serde::Deserialize)]
        struct Listed {
            id: u64,
            name: String,
            #[serde(default)]
            target: Option<String>,
            enforcement: String,
        }
        let path = format!("/repos/{}/rulesets", self.repo);
        let found = self.pages::<Listed>(&format!("{path}?targets=tag&per_page=100"), |ruleset| {
            ruleset
        });
        let Some(Some(listed)) = unless_forbidden(super::found(found))? else {
            return Ok(None);
        };
        // `evaluate` only reports, and `disabled` does nothing.
        let is_active = |one: &Listed| {
            one.enforcement == "active"
                && one.target.as_deref().is_none_or(|target| target == "tag")
        };
        let details = |one: Listed| {
            let found =
                unless_forbidden(self.find::<Ruleset>(&format!("{path}/{}", one.id)))?.flatten();
            Ok(TagRuleset {
                name: one.name,
                details: found.and_then(Ruleset::details),
            })
        };
        listed
            .into_iter()
            .filter(is_active)
            .map(details)
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// Reads which tags an environment takes, `None` where the token may not know.
    ///
    /// # Errors
    /// When the calls themselves fail.
    pub fn deployment_rules(
        &self,
        environment: &str,
    ) -> Result<Option<DeploymentRules>, GithubError> {
        #[derive(serde::Deserialize)]
        struct Environment {
            deployment_branch_policy: Option<Policy>,
        }
        #[derive(serde::Deserialize)]
        struct Policy {
            custom_branch_policies: bool,
        }
        #[derive(serde::Deserialize)]
        struct Patterns {
            total_count: usize,
            branch_policies: Vec<Pattern>,
        }
        #[derive(serde::Deserialize)]
        struct Pattern {
            name: String,
            #[serde(default, rename = "type")]
            kind: Option<String>,
        }
        let path = format!(
            "/repos/{}/environments/{}",
            self.repo,
            percent_encode(environment)
        );
        let Some(found) = unless_forbidden(self.find::<Environment>(&path))? else {
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
        let Some(Some(found)) = unless_forbidden(self.find::<Patterns>(&path))? else {
            return Ok(None);
        };
        // Further patterns are on another page.
        if found.branch_policies.len() < found.total_count {
            return Ok(None);
        }
        let of_tags =
            |pattern: Pattern| (pattern.kind.as_deref() == Some("tag")).then_some(pattern.name);
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
struct Ruleset {
    conditions: Option<Conditions>,
    #[serde(default)]
    rules: Vec<Rule>,
    /// `always`, `pull_requests_only`, `never` or `exempt`.
    current_user_can_bypass: Option<String>,
    /// Only where the token may change the ruleset.
    bypass_actors: Option<Vec<serde::de::IgnoredAny>>,
}

#[derive(serde::Deserialize)]
struct Conditions {
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
struct Rule {
    #[serde(rename = "type")]
    kind: String,
}

impl Ruleset {
    /// Returns what is checked of it; `None` where it does not say which refs it applies to.
    fn details(self) -> Option<TagRulesetDetails> {
        let refs = self.conditions?.ref_name?;
        // No tag is created by a pull request.
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

/// The answer, `None` where the token may not have it.
fn unless_forbidden<T>(answer: Result<T, GithubError>) -> Result<Option<T>, GithubError> {
    match answer {
        Err(GithubError::Status { status: 403, .. }) => Ok(None),
        answer => answer.map(Some),
    }
}
