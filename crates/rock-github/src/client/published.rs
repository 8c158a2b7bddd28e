//! Reads published releases and their manifests.

use super::ReleaseClient;
use crate::codes::release as codes;
use crate::error::GithubError;
use rock_diagnostic::{Diagnostic, Location, Severity, Sink};
use rock_names::RepoName;
use rock_publish::{
    LARGEST_MANIFEST_BYTES, ListedAsset, MANIFEST, ManifestForm, ManifestSelection,
    PublishedSource, ReleaseListing,
};

impl ReleaseClient {
    /// Reads the releases of the repository and the selected manifests, and converts each manifest
    /// when it is read. Reports invalid manifests as warnings.
    ///
    /// `on_omitted` is called before the manifests are read if the selection leaves out some, with
    /// the number of all manifests and of those that are read.
    ///
    /// # Errors
    /// If GitHub cannot be read.
    pub fn published<M: ManifestForm>(
        &self,
        selection: ManifestSelection<'_>,
        on_omitted: impl FnOnce(usize, usize),
        sink: &mut Sink,
    ) -> Result<PublishedSource<M>, GithubError> {
        let listing = ReleaseListing {
            repository: Some(self.repo.to_string()),
            releases: self.listing()?,
        };
        let selected = selection.select(&listing);
        if selected.omitted > 0 {
            let count = selected.assets.len();
            on_omitted(count + selected.omitted, count);
        }
        let manifests = self.manifests(&selected.assets, sink)?;
        Ok(PublishedSource::new(listing, manifests).with_repository(self.repo.clone()))
    }

    /// Downloads manifests. Reports invalid ones as warnings.
    ///
    /// # Errors
    /// If GitHub cannot be read.
    pub fn manifests<M: ManifestForm>(
        &self,
        assets: &[&ListedAsset],
        sink: &mut Sink,
    ) -> Result<Vec<M>, GithubError> {
        let mut manifests = Vec::new();
        for asset in assets {
            let content = self.document(asset, LARGEST_MANIFEST_BYTES)?;
            match M::from_json(&String::from_utf8_lossy(&content)) {
                Ok(manifest) => manifests.push(manifest),
                Err(error) => {
                    let url = asset
                        .browser_download_url
                        .clone()
                        .unwrap_or_else(|| format!("{} {MANIFEST}", self.repo));
                    sink.push(
                        Diagnostic::new(
                            &codes::BAD_MANIFEST,
                            format!("a `{MANIFEST}` of {} cannot be used: {error}", self.repo),
                        )
                        .at(Location::Url(url), "")
                        .severity(Severity::Warning)
                        .help("of this release only what filenames contain is known; publish it again"),
                    );
                }
            }
        }
        Ok(manifests)
    }
}

impl GithubError {
    /// Returns the help for a repository that cannot be read because it does not exist or is
    /// private; `None` for other errors. `repo` was also searched as a file or directory.
    pub fn repository_help(&self, repo: &RepoName, has_token: bool) -> Option<String> {
        let access = match self {
            Self::Status {
                status: 403 | 404, ..
            } if has_token => "the token needs read access to the repository",
            Self::Status { status: 404, .. } => {
                "a private repository needs a token in `GITHUB_TOKEN`"
            }
            _ => return None,
        };
        Some(format!(
            "check the name (no file or directory `{repo}` exists either); {access}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use rock_diagnostic::Sink;
    use rock_publish::{ManifestSelection, PublishedSource, ReleaseManifest};
    use serde_json::json;

    use crate::client::testing::{CannedTransport, client};

    /// A repository with a valid and an invalid manifest.
    fn transport() -> CannedTransport {
        let valid = ReleaseManifest::new(Some("v2".to_owned()), None, vec![]).to_json();
        let release = |id: u64, tag: &str, size: usize| {
            json!({
                "id": id,
                "tag_name": tag,
                "assets": [{"id": id, "name": "rock-manifest.json", "size": size}],
            })
        };
        let releases = json!([release(2, "v2", valid.len()), release(1, "v1", 2)]);
        CannedTransport::new([
            ("/repos/o/r/releases", 200, releases.to_string()),
            ("/repos/o/r/releases/assets/2", 200, valid),
            ("/repos/o/r/releases/assets/1", 200, "{}".to_owned()),
        ])
    }

    #[test]
    fn invalid_manifests_are_warnings() {
        let (mut sink, mut omitted) = (Sink::new(), None);
        let source: PublishedSource = client(transport())
            .published(
                ManifestSelection::Newest(2),
                |all, read| omitted = Some((all, read)),
                &mut sink,
            )
            .unwrap();
        assert_eq!(omitted, None);
        assert_eq!(source.listing.releases.len(), 2);
        assert_eq!(source.manifests[0].tag.as_deref(), Some("v2"));
        assert_eq!(source.manifests.len(), 1);
        assert_eq!(source.repository().unwrap().to_string(), "o/r");
        let warnings = sink.finish();
        assert_eq!(warnings.len(), 1);
        assert!(!warnings[0].is_error());
    }

    #[test]
    fn a_limit_leaves_out_the_older_manifests_and_is_reported() {
        let mut omitted = None;
        let source: PublishedSource = client(transport())
            .published(
                ManifestSelection::Newest(1),
                |all, read| omitted = Some((all, read)),
                &mut Sink::new(),
            )
            .unwrap();
        assert_eq!((source.manifests.len(), omitted), (1, Some((2, 1))));
    }

    #[test]
    fn a_missing_repository_gets_help_by_the_token() {
        let error = client(CannedTransport::new([]))
            .published::<ReleaseManifest>(ManifestSelection::None, |_, _| (), &mut Sink::new())
            .unwrap_err();
        let repo = "o/r".parse().unwrap();
        let help = |has_token| error.repository_help(&repo, has_token).unwrap();
        assert!(help(false).ends_with("needs a token in `GITHUB_TOKEN`"));
        assert!(help(true).ends_with("the token needs read access to the repository"));
    }
}
