//! `--published`: published releases, which every command reads the same way from GitHub, a saved
//! list of releases, a manifest or a directory.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::publish::{Connection, Opened};
use super::whole_number::{Unit, whole_number};
use super::{Exit, Shell, load};
use crate::diagnostic::{Diagnostic, Sink, counted};
use crate::github::GithubError;
use crate::names::RepoName;
use crate::pick::PrereleaseMode;
use crate::publish::{
    MANIFEST, ManifestForm, ManifestSelection, PublishedLocation, PublishedReleases,
    PublishedSource, ReleaseListing,
};

/// Default time limit in minutes.
const MINUTES: u64 = 10;
/// Short help of `--published`.
pub(super) const HELP: &str = "Published wheels: a repository, file or directory";
/// Long help of `--published`.
pub(super) const LONG_HELP: &str = "Published wheels: a repository, file or directory\n\n\
    A repository on GitHub, a saved list of its releases, a rock-manifest.json, or a directory of \
    releases or wheels. An existing file or directory takes precedence over a repository. Can be \
    repeated.";

// Options for reading published releases from GitHub.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ReadOptions {
    #[command(flatten)]
    pub(super) connection: Connection,
    /// Read the manifests of at most this many releases on GitHub, newest first
    ///
    /// The rock-manifest.json of a release has details that filenames do not contain.
    #[arg(
        long = "max-manifests",
        alias = "most-manifests",
        value_name = "N",
        default_value_t = 200,
        value_parser = whole_number::<usize>(Unit::One, 0..=u64::MAX),
        hide_short_help = true,
        help_heading = "GitHub"
    )]
    pub(super) most_manifests: usize,
}

// Options that select releases to install from.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct Prereleases {
    /// Include prereleases
    #[arg(long, requires = "published")]
    prereleases: bool,
}

/// Reads published releases from these sources: files, directories, and repositories `OWNER/REPO`.
///
/// # Errors
/// The exit of the command; the reason was reported or is in the sink.
pub(super) fn read(
    given: &[PathBuf],
    connection: &Connection,
    manifests: ManifestSelection<'_>,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<PublishedReleases, Exit> {
    read_as(given, connection, manifests, shell, sink)
}

/// Does the same, and converts each manifest when it is read.
///
/// # Errors
/// As [`read`].
pub(super) fn read_as<M: ManifestForm + Send>(
    given: &[PathBuf],
    connection: &Connection,
    manifests: ManifestSelection<'_>,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<PublishedReleases<M>, Exit> {
    let mut published = PublishedReleases::new(given);
    for source in given {
        let added = match PublishedLocation::of(source) {
            PublishedLocation::Repository(repo) => {
                published.add(fetch(&repo, connection, manifests, shell, sink)?);
                Ok(())
            }
            PublishedLocation::Directory => published.add_directory(source),
            PublishedLocation::File => published.add_file(source),
        };
        sink.extend(added.err().into_iter().flatten());
    }
    if sink.has_errors() {
        return Err(Exit::Fault);
    }
    published.merge_bare_manifests();
    Ok(published)
}

/// Reads the releases of a repository from GitHub.
fn fetch<M: ManifestForm>(
    repo: &RepoName,
    connection: &Connection,
    manifests: ManifestSelection<'_>,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<PublishedSource<M>, Exit> {
    let opened = open(repo, connection, shell, sink)?;
    let warn_of_limit = |all: usize, read: usize| {
        shell.say(&format!(
            "{repo} has {all} releases with a {MANIFEST}; the newest {read} are read (`--max-manifests`)"
        ));
    };
    opened
        .client
        .published(manifests, warn_of_limit, sink)
        .map_err(|error| failed(error, repo, &opened, sink))
}

/// Reads the manifests of the releases with these tags, newest first, from the repositories that
/// were read without manifests. Returns whether there were any.
///
/// # Errors
/// The exit of the command; the reason was reported or is in the sink.
pub(super) fn add_manifests(
    published: &mut PublishedReleases,
    tags: &BTreeSet<String>,
    connection: &Connection,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<bool, Exit> {
    let mut has_any = false;
    for source in &mut published.sources {
        let Some(repo) = source.repository().cloned() else {
            continue;
        };
        let selected = ManifestSelection::OfTags(tags).select(&source.listing);
        if selected.assets.is_empty() {
            continue;
        }
        let opened = open(&repo, connection, shell, sink)?;
        source.manifests = opened
            .client
            .manifests(&selected.assets, sink)
            .map_err(|error| failed(error, &repo, &opened, sink))?;
        has_any = true;
    }
    Ok(has_any)
}

fn open(
    repo: &RepoName,
    connection: &Connection,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Opened, Exit> {
    let compat = load::compat(shell)?;
    connection.open(&repo.to_string(), MINUTES, compat, shell, sink)
}

/// Reports why a repository could not be read, and returns the exit.
fn failed(error: GithubError, repo: &RepoName, opened: &Opened, sink: &mut Sink) -> Exit {
    if error.is_stop() {
        return opened.stopped(error, sink);
    }
    sink.push(match error.repository_help(repo, opened.token.is_some()) {
        Some(help) => Diagnostic::from(error).help(help),
        None => opened.unread(error),
    });
    Exit::Machine
}

impl Prereleases {
    /// Returns how prereleases compare with final versions.
    pub(super) fn mode(self) -> PrereleaseMode {
        if self.prereleases {
            PrereleaseMode::Allow
        } else {
            PrereleaseMode::IfNecessary
        }
    }

    /// Removes prereleases, unless `--prereleases` is set.
    pub(super) fn leave_out<'l>(
        self,
        listings: impl Iterator<Item = &'l mut ReleaseListing>,
        shell: &Shell,
    ) {
        if self.prereleases {
            return;
        }
        let removed: usize = listings.map(ReleaseListing::remove_prereleases).sum();
        if removed > 0 {
            let releases = counted(removed, "release");
            shell.say(&format!(
                "skipped {releases} marked as a prerelease (include with `--prereleases`)"
            ));
        }
    }
}
