//! The repository itself: what it is, and what its settings keep from being published.

use super::Client;
use crate::github::error::GithubError;
use crate::names::percent_encode;
use crate::publish::{DeploymentRules, RepositoryFacts};

impl Client {
    /// Reads the repository, `None` where the token sees none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn repository(&self) -> Result<Option<RepositoryFacts>, GithubError> {
        self.find(&format!("/repos/{}", self.repo))
    }

    /// Reads whether publishing makes releases immutable, `None` where the token may not know: the setting is for
    /// administrators, and for others GitHub answers as if it were off (REST API, "Check if immutable releases are
    /// enabled for a repository").
    ///
    /// # Errors
    /// When the call itself fails.
    pub fn immutable_releases(&self) -> Result<Option<bool>, GithubError> {
        #[derive(serde::Deserialize)]
        struct Setting {
            enabled: bool,
        }
        let found = self.find::<Setting>(&format!("/repos/{}/immutable-releases", self.repo));
        Ok(unless_forbidden(found)?.flatten().map(|setting| setting.enabled))
    }

    /// Reads which tags an environment takes, `None` where the token may not know.
    ///
    /// # Errors
    /// When the calls themselves fail.
    pub fn deployment_rules(&self, environment: &str) -> Result<Option<DeploymentRules>, GithubError> {
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
            branch_policies: Vec<Pattern>,
        }
        #[derive(serde::Deserialize)]
        struct Pattern {
            name: String,
            #[serde(default, rename = "type")]
            kind: Option<String>,
        }
        let path = format!("/repos/{}/environments/{}", self.repo, percent_encode(environment));
        let Some(found) = unless_forbidden(self.find::<Environment>(&path))? else { return Ok(None) };
        let policy = match found.map(|environment| environment.deployment_branch_policy) {
            None => return Ok(Some(DeploymentRules::NoEnvironment)),
            Some(None) => return Ok(Some(DeploymentRules::All)),
            Some(Some(policy)) => policy,
        };
        if !policy.custom_branch_policies {
            return Ok(Some(DeploymentRules::ProtectedBranches));
        }
        let path = format!("{path}/deployment-branch-policies?per_page=100");
        let Some(Some(found)) = unless_forbidden(self.find::<Patterns>(&path))? else { return Ok(None) };
        let of_tags = |pattern: Pattern| (pattern.kind.as_deref() == Some("tag")).then_some(pattern.name);
        Ok(Some(DeploymentRules::Tags(found.branch_policies.into_iter().filter_map(of_tags).collect())))
    }
}

/// The answer, `None` where the token may not have it.
fn unless_forbidden<T>(answer: Result<T, GithubError>) -> Result<Option<T>, GithubError> {
    match answer {
        Err(GithubError::Status { status: 403, .. }) => Ok(None),
        answer => answer.map(Some),
    }
}
