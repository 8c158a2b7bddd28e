//! Checks of the repository: its server, the permissions of the token, attestations and
//! environments.

use super::{
    CheckResult, DeploymentRules, ObservedRepository, PreflightRequest, TokenPermissions, failed,
    passed, unknown,
};
use crate::TagGlob;
use crate::codes::release as codes;
use rock_diagnostic::{Diagnostic, Location};
use rock_plan::config::Attest;

/// Whether a workflow's server supports the actions that rendered workflows use: Enterprise Server
/// has neither version 4 of artifacts nor attestations (GitHub Docs, "Using artifact attestations";
/// actions/upload-artifact, README, "Breaking changes"). Servers with data residency have a host
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

pub(super) fn server(request: &PreflightRequest<'_>) -> CheckResult {
    match request.server {
        None => unknown("not a workflow run"),
        Some(server) if runs_rendered_workflows(server) => {
            passed(format!("`{server}` runs rendered workflows"))
        }
        Some(server) => failed(
            Diagnostic::new(
                &codes::ENTERPRISE_SERVER,
                format!(
                    "`{server}` is a GitHub Enterprise Server, which cannot run rendered workflows"
                ),
            )
            .at(Location::Argument("GITHUB_SERVER_URL".to_owned()), "")
            .help(
                "write your own workflow there, with `rock-matrix plan`, `build` and `publish \
                 --api-url`",
            ),
        ),
    }
}

pub(super) fn repository(observed: &ObservedRepository) -> CheckResult {
    let Some(facts) = &observed.repository else {
        return unknown("the repository was not read");
    };
    let why = match (facts.archived, facts.disabled) {
        (true, _) => "it is archived",
        (_, true) => "GitHub has disabled it",
        (false, false) => return passed("it accepts releases"),
    };
    failed(
        Diagnostic::new(
            &codes::REPOSITORY_TAKES_NO_RELEASE,
            format!("the repository does not accept releases: {why}"),
        )
        .at(Location::Argument("--repo".to_owned()), "")
        .help("unarchive it in its settings, or publish to another repository"),
    )
}

pub(super) fn rights(request: &PreflightRequest<'_>, observed: &ObservedRepository) -> CheckResult {
    let permissions = observed
        .repository
        .as_ref()
        .and_then(|facts| facts.permissions);
    if observed.is_anonymous && !request.read_only {
        return failed(
            Diagnostic::new(
                &codes::TOKEN_WITHOUT_RIGHT,
                "there is no token, which publishing requires",
            )
            .at(Location::Argument("--repo".to_owned()), "")
            .help("set GITHUB_TOKEN, or pass `--read-only` if another job publishes"),
        );
    }
    match permissions {
        Some(TokenPermissions { push: true }) => passed("the token may publish"),
        Some(TokenPermissions { push: false }) if !request.read_only => failed(
            Diagnostic::new(
                &codes::TOKEN_WITHOUT_RIGHT,
                "the token may not publish in this repository",
            )
            .at(Location::Argument("--repo".to_owned()), "")
            .help(
                "use a token with \"Contents: read and write\", or pass `--read-only` if another \
                 job publishes",
            ),
        ),
        Some(TokenPermissions { push: false }) => {
            unknown("the token of this run has only read access; another one publishes")
        }
        None => unknown("GitHub did not report the permissions of the token"),
    }
}

pub(super) fn immutable_releases(observed: &ObservedRepository) -> CheckResult {
    match observed.immutable_releases {
        Some(true) => {
            passed("releases become immutable: nothing can be added once they are published")
        }
        Some(false) => passed("files can be added to published releases"),
        None => unknown("not enabled, or not visible to this token"),
    }
}

pub(super) fn attestation(
    request: &PreflightRequest<'_>,
    observed: &ObservedRepository,
) -> CheckResult {
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
                "`release.attest` is `on`, but private repositories of user accounts have no \
                 attestations",
            )
            .at(Location::Argument("--attest".to_owned()), "")
            .help("set `attest: auto` or `attest: off` under `release`"),
        ),
        (true, Attest::On, _) => {
            unknown("a private repository needs Enterprise Cloud for attestations")
        }
        (true, ..) => passed("the repository is private, so nothing is attested"),
    }
}

pub(super) fn environment(
    request: &PreflightRequest<'_>,
    observed: &ObservedRepository,
) -> CheckResult {
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
            return passed(format!("`{name}` is created when it is first used"));
        }
        Some(DeploymentRules::All) => return passed(format!("`{name}` accepts every tag")),
        Some(DeploymentRules::ProtectedBranches) => "accepts only protected branches".to_owned(),
        // GitHub matches with fnmatch, in which `*` does not match `/`; the tag has none.
        Some(DeploymentRules::Tags(patterns)) => {
            let fits = |pattern: &&String| TagGlob::matches(pattern, request.tag);
            match patterns.iter().find(fits) {
                Some(pattern) => {
                    return passed(format!("`{name}` accepts tags such as `{pattern}`"));
                }
                None if patterns.is_empty() => "accepts no tags".to_owned(),
                None => format!("accepts only tags that match `{}`", patterns.join("`, `")),
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
    use super::{DeploymentRules, ObservedRepository, PreflightRequest, runs_rendered_workflows};
    use crate::preflight::{CheckOutcome, RepositoryFacts, RepositoryOwner, preflight};

    fn outcome(
        name: &str,
        request: &PreflightRequest<'_>,
        observed: &ObservedRepository,
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
                &ObservedRepository {
                    deployment: rules,
                    ..ObservedRepository::default()
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
        use CheckOutcome::{Failed, Passed, Unknown};
        use rock_plan::config::Attest::{Auto, Off, On};

        let ask = |attest, visibility: &str, kind: &str| {
            let request = PreflightRequest {
                tag: "v1",
                attest,
                ..PreflightRequest::default()
            };
            let owner = RepositoryOwner {
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
                &ObservedRepository {
                    repository: Some(facts),
                    ..ObservedRepository::default()
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
