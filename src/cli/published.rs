//! `--published`: what is published, read in one way by every command: from GitHub, from its saved
//! answer, from a manifest, and from folders.

mod files;
mod github;
mod offers;

use std::path::{Path, PathBuf};

use super::publish::Connection;
use super::{Exit, Shell};
use crate::codes::release as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Location, Sink, counted};
use crate::names::RepoName;
use crate::pick::PrereleaseMode;
use crate::publish::{ListedRelease, ReleaseListing, ReleaseManifest};
use crate::report::{ListingContext, WheelListing};

pub(super) use files::no_listing;
use files::{files, folder};
use github::{live, repository};
pub(super) use offers::tell_unread;

/// What `--published` takes.
pub(super) const HELP: &str = "What is published: the repository on GitHub, a saved list of its releases, a rock-manifest.json, or a folder of releases or wheels; can be repeated";
// Options for reading published releases from GitHub.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Reading {
    #[command(flatten)]
    pub(super) connection: Connection,
    /// Of how many releases of OWNER/REPO, the newest first, the rock-manifest.json is fetched too
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 200,
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

/// Whose manifests are fetched from GitHub.
#[derive(Debug, Clone, Copy)]
pub(super) enum Manifests<'m> {
    /// Nobody's: names are enough.
    None,
    /// Those of the newest releases, so many.
    Newest(usize),
    /// Those of one tag.
    Of(&'m str),
}

/// What is published, with what is kept of each manifest.
#[derive(Debug)]
pub(super) struct Published<M = ReleaseManifest> {
    /// One for each place that was given, in its order; for a folder of releases one for each of
    /// them.
    pub(super) parts: Vec<Part<M>>,
    shown: String,
}

/// What one place has.
#[derive(Debug)]
pub(super) struct Part<M = ReleaseManifest> {
    /// Its releases, drafts among them. Empty for a manifest whose release another part lists.
    pub(super) listing: ReleaseListing,
    /// The manifests of the releases.
    pub(super) manifests: Vec<M>,
    /// The folder that the files lie in; `None` where the listing has their addresses.
    pub(super) folder: Option<PathBuf>,
    /// Whether it is a manifest without its files.
    is_bare_manifest: bool,
    /// The repository on GitHub that it was read from.
    live: Option<RepoName>,
}

/// Reads what is published at these places: files, folders, and repositories `OWNER/REPO`. What
/// exists as a file or folder is that. `connection` is how GitHub is reached.
///
/// # Errors
/// The exit of the command; why was told or is in the sink.
pub(super) fn read(
    given: &[PathBuf],
    connection: &Connection,
    manifests: Manifests<'_>,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Published, Exit> {
    read_as(given, connection, manifests, shell, sink)
}

/// The same with something else made of each manifest, as soon as it is read: a manifest takes
/// several times what most need of it.
///
/// # Errors
/// As [`read`].
pub(super) fn read_as<M: From<ReleaseManifest> + Send>(
    given: &[PathBuf],
    connection: &Connection,
    manifests: Manifests<'_>,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Published<M>, Exit> {
    let shown: Vec<String> = given
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let mut published = Published {
        parts: Vec::new(),
        shown: shown.join(", "),
    };
    for path in given {
        match repository(path) {
            Some(repo) => published
                .parts
                .push(live(&repo, connection, manifests, shell, sink)?),
            None if path.is_dir() => published.parts.extend(folder(path, shell, sink)?),
            None => published
                .parts
                .extend(files(std::slice::from_ref(path), sink)),
        }
    }
    if sink.has_errors() {
        return Err(Exit::Fault);
    }
    published.set_beside();
    Ok(published)
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

    /// Leaves out the releases that are marked as not finished, unless they were asked for.
    pub(super) fn leave_out<'l>(
        self,
        listings: impl Iterator<Item = &'l mut ReleaseListing>,
        shell: &Shell,
    ) {
        if self.prereleases {
            return;
        }
        let mut left_out = 0;
        for listing in listings {
            listing.releases.retain(|release| {
                left_out += usize::from(release.prerelease && !release.draft);
                !release.prerelease
            });
        }
        if left_out > 0 {
            let releases = counted(left_out, "release");
            shell.say(&format!(
                "left out: {releases} marked as not finished (`--prereleases` takes them in)"
            ));
        }
    }
}

impl<M> Part<M> {
    /// What has its addresses itself.
    fn of(listing: ReleaseListing, manifests: Vec<M>) -> Self {
        Self {
            listing,
            manifests,
            folder: None,
            is_bare_manifest: false,
            live: None,
        }
    }

    /// The folder of its files in the folder of releases that was given: below an address they lie
    /// there too.
    pub(super) fn subfolder(&self) -> Option<&str> {
        self.listing
            .releases
            .iter()
            .find_map(|release| release.subfolder.as_deref())
    }

    /// The same part, whose files lie in this folder of the one that was given.
    fn in_folder(mut self, given: &Path) -> Self {
        let below = self
            .folder
            .as_deref()
            .and_then(|folder| folder.strip_prefix(given).ok());
        let name = below
            .and_then(Path::to_str)
            .filter(|name| !name.is_empty() && *name != ".")
            .map(str::to_owned);
        self.listing
            .releases
            .iter_mut()
            .for_each(|release| release.subfolder.clone_from(&name));
        Self {
            is_bare_manifest: false,
            ..self
        }
    }
}

impl<M> Published<M> {
    /// What is listed at each place.
    pub(super) fn listings_mut(&mut self) -> impl Iterator<Item = &mut ReleaseListing> {
        self.parts.iter_mut().map(|part| &mut part.listing)
    }

    /// The places, as given.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// The folders in which files of it lie.
    pub(super) fn folders(&self) -> impl Iterator<Item = &Path> {
        self.parts.iter().filter_map(|part| part.folder.as_deref())
    }

    /// That there is no wheel.
    pub(super) fn no_wheels(&self) -> Diagnostic {
        Diagnostic::new(&codes::NO_PUBLISHED_WHEELS, format!("there is no published wheel in {}", self.shown))
            .at(Location::Argument("--published".to_owned()), "")
            .help(
                "publish a release first; drafts and unfinished uploads do not count, nor do releases marked as not \
                 finished without `--prereleases`",
            )
    }

    /// A manifest without its files adds to a release that is listed, and is none of its own beside
    /// it.
    fn set_beside(&mut self) {
        let (mut bare, others): (Vec<Part<M>>, Vec<Part<M>>) = std::mem::take(&mut self.parts)
            .into_iter()
            .partition(|part| part.is_bare_manifest);
        let releases = || others.iter().flat_map(|part| &part.listing.releases);
        let is_listed = |release: &ListedRelease| {
            let of_tag = |other: &ListedRelease| {
                !release.tag_name.is_empty() && other.tag_name == release.tag_name
            };
            let has = |name: &str| {
                others
                    .iter()
                    .any(|part| part.listing.published().any(|(_, a)| a.name == name))
            };
            releases().any(of_tag)
                || (release.tag_name.is_empty()
                    && release.assets.iter().all(|asset| has(&asset.name)))
        };
        for part in &mut bare {
            part.listing.releases.retain(|release| !is_listed(release));
        }
        self.parts = others;
        self.parts.append(&mut bare);
    }
}

impl Published {
    /// All releases, drafts among them, and the repository where one place says so.
    pub(super) fn listing(&self) -> ReleaseListing {
        let mut all = ReleaseListing::default();
        for part in &self.parts {
            all.repository = all
                .repository
                .take()
                .or_else(|| part.listing.repository.clone());
            all.releases.extend(part.listing.releases.iter().cloned());
        }
        all
    }

    /// All manifests.
    pub(super) fn manifests(&self) -> Vec<ReleaseManifest> {
        self.parts
            .iter()
            .flat_map(|part| part.manifests.iter().cloned())
            .collect()
    }

    /// The wheels that people can fetch.
    pub(super) fn wheels(&self, compat: &Compat) -> WheelListing {
        let (known_rocm, manifests) = (compat.rocm_versions(), self.manifests());
        let beside = ListingContext {
            manifests: &manifests,
            known_rocm: &known_rocm,
            ..ListingContext::default()
        };
        WheelListing::published(&self.listing(), beside)
    }
}
