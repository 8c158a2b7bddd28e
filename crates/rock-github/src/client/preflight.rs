//! Observes a repository before a build.

use super::ReleaseClient;
use crate::error::GithubError;
use rock_publish::{GitTag, ObservedRepository};

/// The publish that a repository is observed for.
#[derive(Debug, Clone, Copy)]
pub struct ObservationRequest<'a> {
    /// The tag of the release.
    pub tag: &'a str,
    /// The commit or branch of the tag, if given.
    pub target: Option<&'a str>,
    /// The environment of the publishing job, if its rules are to be checked.
    pub environment: Option<&'a str>,
}

impl ReleaseClient {
    /// Reads everything that [`preflight`](rock_publish::preflight()) checks. After an error, which
    /// is returned as well, the remaining facts stay unknown.
    pub fn observe(
        &self,
        request: &ObservationRequest<'_>,
    ) -> (ObservedRepository, Option<GithubError>) {
        let mut observed = ObservedRepository {
            is_anonymous: self.executor.token.is_none(),
            ..ObservedRepository::default()
        };
        let error = self.observe_into(request, &mut observed).err();
        (observed, error)
    }

    fn observe_into(
        &self,
        request: &ObservationRequest<'_>,
        observed: &mut ObservedRepository,
    ) -> Result<(), GithubError> {
        let tag = request.tag;
        observed.repository = self.repository()?;
        let releases = self.releases(|release| release.tag_name == tag)?;
        let is_published = releases
            .iter()
            .any(|release| release.tag_name == tag && !release.draft);
        observed.releases = Some(releases);
        // An invalid Git tag must not become part of a URL.
        if tag.parse::<GitTag>().is_ok() {
            observed.tag = Some(self.tag_target(tag, request.target, is_published)?);
        }
        if observed
            .tag
            .as_ref()
            .is_some_and(|tag| tag.commit.is_none())
        {
            observed.tag_rulesets = self.tag_rulesets()?;
        }
        observed.immutable_releases = self.immutable_releases()?;
        if let Some(name) = request.environment {
            observed.deployment = self.deployment_rules(name)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::ObservationRequest;
    use crate::client::testing::{CannedTransport, client};

    #[test]
    fn facts_read_before_an_error_are_kept() {
        let transport = CannedTransport::new([
            ("/repos/o/r", 200, r#"{"archived": true}"#.to_owned()),
            ("/repos/o/r/releases", 422, "{}".to_owned()),
        ]);
        let request = ObservationRequest {
            tag: "v1",
            target: None,
            environment: None,
        };
        let (observed, error) = client(transport).observe(&request);
        assert!(error.is_some());
        assert!(observed.is_anonymous && observed.repository.unwrap().archived);
        assert_eq!(observed.releases, None);
    }
}
