//! Reads releases and their manifests from GitHub.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Manifests, Part, Published};
use crate::cli::publish::{Connection, Opened};
use crate::cli::{Exit, Shell, load};
use crate::codes::release as codes;
use crate::diagnostic::{Diagnostic, Location, Sink};
use crate::github::GithubError;
use crate::names::RepoName;
use crate::publish::{
    AssetState, LARGEST_MANIFEST_BYTES, ListedAsset, ListedRelease, MANIFEST, ReleaseListing,
    ReleaseManifest,
};
use crate::report::release_of;
use crate::sys;

/// Maximum number of releases whose manifests are fetched to compare GPU targets with a plan.
const MAX_COMPARED_RELEASES: usize = 20;
/// Default time limit in minutes.
const MINUTES: u64 = 10;

impl Published {
    /// Reads the manifests of the releases with these tags, newest first, from the repositories
    /// that were read without manifests. Returns whether there were any.
    ///
    /// # Errors
    /// The exit of the command; the sink has the reason.
    pub(in crate::cli) fn add_manifests(
        &mut self,
        tags: &BTreeSet<String>,
        connection: &Connection,
        shell: &Shell,
        sink: &mut Sink,
    ) -> Result<bool, Exit> {
        let mut has_any = false;
        for part in &mut self.parts {
            let Some(repo) = &part.live else { continue };
            let releases = part
                .listing
                .releases
                .iter()
                .filter(|release| !release.draft);
            let assets = releases
                .filter(|release| tags.contains(&release.tag_name))
                .flat_map(|release| &release.assets);
            let is_manifest = |asset: &&ListedAsset| {
                asset.name == MANIFEST && asset.state == AssetState::Uploaded
            };
            let wanted: Vec<&ListedAsset> = assets
                .filter(is_manifest)
                .take(MAX_COMPARED_RELEASES)
                .collect();
            if wanted.is_empty() {
                continue;
            }
            let opened = connection.open(
                &repo.to_string(),
                MINUTES,
                load::compat(shell)?,
                shell,
                sink,
            )?;
            let read = read_manifests(wanted.into_iter(), repo, &opened, sink);
            part.manifests = read.map_err(|error| failed(error, repo, &opened, sink))?;
            has_any = true;
        }
        Ok(has_any)
    }
}

/// Parses `OWNER/REPO`, unless a file or directory has this name. Names that end in `.json` are
/// files.
pub(super) fn repository(given: &Path) -> Option<RepoName> {
    let text = given.to_str()?;
    let is_file = given
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("json"))
        || text.starts_with('.');
    if is_file || sys::exists(given) {
        None
    } else {
        text.parse().ok()
    }
}

/// Reads the releases of a repository from GitHub.
pub(super) fn live<M: From<ReleaseManifest>>(
    repo: &RepoName,
    connection: &Connection,
    manifests: Manifests<'_>,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Part<M>, Exit> {
    let opened = connection.open(
        &repo.to_string(),
        MINUTES,
        load::compat(shell)?,
        shell,
        sink,
    )?;
    let failed = |error: GithubError, sink: &mut Sink| failed(error, repo, &opened, sink);
    let releases = opened
        .client
        .listing()
        .map_err(|error| failed(error, sink))?;
    let listing = ReleaseListing {
        repository: Some(repo.to_string()),
        releases,
    };
    let wanted: Vec<&ListedAsset> = {
        let releases: Vec<&ListedRelease> = match manifests {
            Manifests::None => Vec::new(),
            Manifests::Newest(_) => listing
                .releases
                .iter()
                .filter(|release| !release.draft)
                .collect(),
            Manifests::Of(tag) => release_of(&listing, tag),
        };
        let assets = releases.into_iter().flat_map(|release| &release.assets);
        assets
            .filter(|asset| asset.name == MANIFEST && asset.state == AssetState::Uploaded)
            .collect()
    };
    let most = if let Manifests::Newest(most) = manifests {
        most
    } else {
        usize::MAX
    };
    if wanted.len() > most {
        let (all, most) = (wanted.len(), most);
        shell.say(&format!(
            "{repo} has {all} releases with a {MANIFEST}; the newest {most} are read (`--max-manifests`)"
        ));
    }
    let read = read_manifests(wanted.into_iter().take(most), repo, &opened, sink)
        .map_err(|error| failed(error, sink))?;
    Ok(Part {
        live: Some(repo.clone()),
        ..Part::of(listing, read)
    })
}

/// Reads manifests of a repository; warns about invalid ones.
fn read_manifests<'a, M: From<ReleaseManifest>>(
    wanted: impl Iterator<Item = &'a ListedAsset>,
    repo: &RepoName,
    opened: &Opened,
    sink: &mut Sink,
) -> Result<Vec<M>, GithubError> {
    let mut read = Vec::new();
    for asset in wanted {
        let content = opened.client.document(asset, LARGEST_MANIFEST_BYTES)?;
        match ReleaseManifest::from_json(&String::from_utf8_lossy(&content)) {
            Ok(manifest) => read.push(manifest.into()),
            Err(error) => {
                let place = asset
                    .browser_download_url
                    .clone()
                    .unwrap_or_else(|| format!("{repo} {MANIFEST}"));
                sink.push(
                    Diagnostic::new(
                        &codes::BAD_MANIFEST,
                        format!("a `{MANIFEST}` of {repo} cannot be used: {error}"),
                    )
                    .at(Location::Url(place), "")
                    .severity(crate::diagnostic::Severity::Warning)
                    .help("of this release only what filenames contain is known; publish it again"),
                );
            }
        }
    }
    Ok(read)
}

/// Reports why a repository could not be read, and returns the exit.
fn failed(error: GithubError, repo: &RepoName, opened: &Opened, sink: &mut Sink) -> Exit {
    if error == GithubError::Stopped {
        return opened.exit_of_signal().unwrap_or(Exit::Machine);
    }
    sink.push(unread(error, repo, opened));
    Exit::Machine
}

/// Returns the diagnostic for a repository that could not be read, with advice.
fn unread(error: GithubError, repo: &RepoName, opened: &Opened) -> Diagnostic {
    let see = match &error {
        GithubError::Status {
            status: 403 | 404, ..
        } if opened.token.is_some() => "the token needs read access to the repository",
        GithubError::Status { status: 404, .. } => {
            "a private repository needs a token in `GITHUB_TOKEN`"
        }
        _ => return opened.unread(error),
    };
    Diagnostic::from(error).help(format!(
        "check the name (no file or directory `{repo}` exists either); {see}"
    ))
}
