//! `--published`: published releases, which every command reads the same way from GitHub, a saved
//! list of releases, a manifest or a directory.

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

/// Short help of `--published`.
pub(super) const HELP: &str = "Published wheels: a repository, file or directory";
/// Long help of `--published`.
pub(super) const LONG_HELP: &str = "Published wheels: a repository, file or directory\n\n\
    A repository on GitHub, a saved list of its releases, a rock-manifest.json, or a directory of \
    releases or wheels. An existing file or directory takes precedence over a repository. Can be \
    repeated.";

// Options for reading published releases from GitHub.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Reading {
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

/// Selects the manifests to fetch from GitHub.
#[derive(Debug, Clone, Copy)]
pub(super) enum Manifests<'m> {
    /// None: filenames are enough.
    None,
    /// The manifests of at most this number of releases, newest first.
    Newest(usize),
    /// The manifests of one tag.
    Of(&'m str),
}

/// Published releases, with a reduced form `M` of each manifest.
#[derive(Debug)]
pub(super) struct Published<M = ReleaseManifest> {
    /// One for each given source, in order; for a directory of releases one for each release.
    pub(super) parts: Vec<Part<M>>,
    shown: String,
}

/// The releases of one source.
#[derive(Debug)]
pub(super) struct Part<M = ReleaseManifest> {
    /// Its releases, including drafts. Empty for a manifest whose release is in another part.
    pub(super) listing: ReleaseListing,
    /// The manifests of the releases.
    pub(super) manifests: Vec<M>,
    /// The directory of the files; `None` if the listing has their URLs.
    pub(super) folder: Option<PathBuf>,
    /// Whether this is a manifest without its files.
    is_bare_manifest: bool,
    /// The repository on GitHub that this was read from.
    live: Option<RepoName>,
}

/// Reads published releases from these sources: files, directories, and repositories `OWNER/REPO`.
/// An existing file or directory takes precedence over a repository.
///
/// # Errors
/// The exit of the command; the reason was reported or is in the sink.
pub(super) fn read(
    given: &[PathBuf],
    connection: &Connection,
    manifests: Manifests<'_>,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Published, Exit> {
    read_as(given, connection, manifests, shell, sink)
}

/// Does the same, and converts each manifest when it is read, because a manifest takes several
/// times the memory that most commands need.
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

    /// Removes prereleases, unless `--prereleases` is set.
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
                "skipped {releases} marked as a prerelease (include with `--prereleases`)"
            ));
        }
    }
}

impl<M> Part<M> {
    /// Creates a part whose listing has URLs.
    fn of(listing: ReleaseListing, manifests: Vec<M>) -> Self {
        Self {
            listing,
            manifests,
            folder: None,
            is_bare_manifest: false,
            live: None,
        }
    }

    /// Returns the subdirectory of the files in the given directory of releases, which is also
    /// their path below a base URL.
    pub(super) fn subfolder(&self) -> Option<&str> {
        self.listing
            .releases
            .iter()
            .find_map(|release| release.subfolder.as_deref())
    }

    /// Sets the subdirectory of the files in the given directory.
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
    /// The releases of each source.
    pub(super) fn listings_mut(&mut self) -> impl Iterator<Item = &mut ReleaseListing> {
        self.parts.iter_mut().map(|part| &mut part.listing)
    }

    /// The sources, as given.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// The directories of the files.
    pub(super) fn folders(&self) -> impl Iterator<Item = &Path> {
        self.parts.iter().filter_map(|part| part.folder.as_deref())
    }

    /// Returns the diagnostic for sources without wheels.
    pub(super) fn no_wheels(&self) -> Diagnostic {
        Diagnostic::new(&codes::NO_PUBLISHED_WHEELS, format!("there is no published wheel in {}", self.shown))
            .at(Location::Argument("--published".to_owned()), "")
            .help(
                "publish a release first; drafts and incomplete uploads are ignored, and so are prereleases without \
                 `--prereleases`",
            )
    }

    /// Merges manifests without files into the listed releases, so that they are not counted as
    /// releases themselves.
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
    /// Returns all releases, including drafts, and the repository if a source has it.
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

    /// Returns all manifests.
    pub(super) fn manifests(&self) -> Vec<ReleaseManifest> {
        self.parts
            .iter()
            .flat_map(|part| part.manifests.iter().cloned())
            .collect()
    }

    /// Returns the wheels that can be downloaded.
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
