//! `--published`: what is published, read in one way by every command: from GitHub, from its saved
//! answer, from a manifest, and from folders.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::publish::{Connection, Opened};
use super::told::file_url;
use super::{Exit, Shell, load};
use crate::bytes::start_threads;
use crate::codes::release as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Location, Sink, SourceText, counted};
use crate::github::GithubError;
use crate::index::BaseUrl;
use crate::names::{RepoName, is_sdist, is_tree_archive};
use crate::pick::{Offer, Offers, PrereleaseMode};
use crate::plan;
use crate::publish::{
    AssetState, LARGEST_MANIFEST_BYTES, ListedAsset, ListedRelease, Listing, ListingError,
    MANIFEST, Manifest, newest_first, saved_manifests,
};
use crate::report::{Beside, Wheels, release_of};
use crate::sys;

/// What `--published` takes.
pub(super) const HELP: &str = "What is published: the repository on GitHub, a saved list of its releases, a rock-manifest.json, or a folder of releases or wheels; can be repeated";
/// Maximum number of releases whose manifests are fetched to compare GPU targets with a plan.
const MAX_COMPARED_RELEASES: usize = 20;
/// Minutes that reading may take.
const MINUTES: u64 = 10;

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
pub(super) struct Published<M = Manifest> {
    /// One for each place that was given, in its order; for a folder of releases one for each of
    /// them.
    pub(super) parts: Vec<Part<M>>,
    shown: String,
}

/// What one place has.
#[derive(Debug)]
pub(super) struct Part<M = Manifest> {
    /// Its releases, drafts among them. Empty for a manifest whose release another part lists.
    pub(super) listing: Listing,
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
pub(super) fn read_as<M: From<Manifest> + Send>(
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
        listings: impl Iterator<Item = &'l mut Listing>,
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
    fn of(listing: Listing, manifests: Vec<M>) -> Self {
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
    pub(super) fn listings_mut(&mut self) -> impl Iterator<Item = &mut Listing> {
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
    pub(super) fn listing(&self) -> Listing {
        let mut all = Listing::default();
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
    pub(super) fn manifests(&self) -> Vec<Manifest> {
        self.parts
            .iter()
            .flat_map(|part| part.manifests.iter().cloned())
            .collect()
    }

    /// The wheels that people can fetch.
    pub(super) fn wheels(&self, compat: &Compat) -> Wheels {
        let (known_rocm, manifests) = (compat.rocm_versions(), self.manifests());
        let beside = Beside {
            manifests: &manifests,
            known_rocm: &known_rocm,
            ..Beside::default()
        };
        Wheels::published(&self.listing(), beside)
    }

    /// Reads the manifests of the releases with these tags, the newest first, in the repositories
    /// that were read without. Returns whether there were any.
    ///
    /// # Errors
    /// The exit of the command; why is in the sink.
    pub(super) fn add_manifests(
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

    /// The wheels that need no job.
    pub(super) fn to_skip(&self, compat: &Compat, sink: &mut Sink) -> plan::Published {
        let (listing, mut published) =
            (self.listing(), plan::Published::new(compat.rocm_versions()));
        for (_, _, name) in listing.wheels() {
            published.insert(&name);
        }
        for asset in listing.releases.iter().flat_map(|release| &release.assets) {
            if is_tree_archive(&asset.name) || is_sdist(&asset.name) {
                published.insert_archive(&asset.name);
            }
        }
        report_unreadable(&listing, sink);
        published
    }

    /// The wheels that can be chosen. Those of folders and manifests lie where these lie, or below
    /// `base`.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn offers(&self, base: Option<&BaseUrl>, sink: &mut Sink) -> Result<Offers, Exit> {
        let offers = self.all_offers(base, sink);
        if offers.is_empty() {
            sink.push(self.no_wheels());
            return Err(Exit::Fault);
        }
        Ok(offers)
    }

    /// The same, which may be none.
    pub(super) fn all_offers(&self, base: Option<&BaseUrl>, sink: &mut Sink) -> Offers {
        let mut offers = Offers::default();
        // What a list of releases says comes first: it has the addresses.
        let (named, placed): (Vec<&Part>, Vec<&Part>) =
            self.parts.iter().partition(|part| part.folder.is_none());
        for part in named {
            offers.add_listing(&part.listing);
            part.manifests
                .iter()
                .for_each(|manifest| offers.add_rows(manifest));
        }
        let mut placed: Vec<(&ListedRelease, &Part)> = placed
            .into_iter()
            .flat_map(|part| {
                part.listing
                    .releases
                    .iter()
                    .map(move |release| (release, part))
            })
            .collect();
        newest_first(&mut placed, |(release, _)| release);
        for (release, part) in placed {
            let folder = part.folder.as_deref().unwrap_or(Path::new("."));
            let base = base.map_or_else(
                || address(folder),
                |base| format!("{}/", base.below(part.subfolder())),
            );
            part.manifests
                .iter()
                .for_each(|manifest| offers.add_manifest(manifest, &base));
            if part.manifests.is_empty() {
                offers.add_names(
                    release.assets.iter().map(|asset| asset.name.as_str()),
                    &base,
                );
            }
        }
        // A manifest whose release another part lists.
        let beside = self
            .parts
            .iter()
            .filter(|part| part.folder.is_some() && part.listing.releases.is_empty());
        beside
            .flat_map(|part| &part.manifests)
            .for_each(|manifest| offers.add_rows(manifest));
        report_unreadable(&self.listing(), sink);
        offers
    }
}

/// The repository that is meant: `OWNER/REPO` where no file or folder is called so. What ends in
/// `.json` is a file.
fn repository(given: &Path) -> Option<RepoName> {
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

/// The releases of a repository as GitHub has them.
fn live<M: From<Manifest>>(
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
    let listing = Listing {
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
            "{repo} has {all} releases with a {MANIFEST}; the newest {most} are fetched (`--most-manifests`)"
        ));
    }
    let read = read_manifests(wanted.into_iter().take(most), repo, &opened, sink)
        .map_err(|error| failed(error, sink))?;
    Ok(Part {
        live: Some(repo.clone()),
        ..Part::of(listing, read)
    })
}

/// Reads manifests of a repository; warns of those that cannot be used.
fn read_manifests<'a, M: From<Manifest>>(
    wanted: impl Iterator<Item = &'a ListedAsset>,
    repo: &RepoName,
    opened: &Opened,
    sink: &mut Sink,
) -> Result<Vec<M>, GithubError> {
    let mut read = Vec::new();
    for asset in wanted {
        let content = opened.client.document(asset, LARGEST_MANIFEST_BYTES)?;
        match Manifest::from_json(&String::from_utf8_lossy(&content)) {
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
                    .help("what names do not say is not known of this release; publish it again"),
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

/// Why a repository could not be read, with what helps a reader.
fn unread(error: GithubError, repo: &RepoName, opened: &Opened) -> Diagnostic {
    let see = match &error {
        GithubError::Status {
            status: 403 | 404, ..
        } if opened.token.is_some() => "the token must see it",
        GithubError::Status { status: 404, .. } => {
            "a private repository needs a token in `GITHUB_TOKEN`"
        }
        _ => return opened.unread(error),
    };
    Diagnostic::from(error).help(format!(
        "check the name: neither a file nor a folder is called `{repo}`, and {see}"
    ))
}

/// Saved answers of GitHub, and manifests.
fn files<M: From<Manifest> + Send>(paths: &[PathBuf], sink: &mut Sink) -> Vec<Part<M>> {
    start_threads();
    let read: Vec<Result<Part<M>, Diagnostic>> = paths.par_iter().map(|path| part(path)).collect();
    read.into_iter()
        .filter_map(|read| read.map_err(|error| sink.push(error)).ok())
        .collect()
}

fn part<M: From<Manifest>>(path: &Path) -> Result<Part<M>, Diagnostic> {
    let text = load::listing_text(path)?;
    let source = || SourceText::new(path.display().to_string(), text.as_str());
    match Manifest::from_json(&text) {
        Ok(manifest) => Ok(Part {
            listing: Listing { repository: None, releases: vec![ListedRelease::of_manifest(&manifest)] },
            is_bare_manifest: true,
            live: None,
            folder: Some(folder_of(path).to_owned()),
            manifests: vec![manifest.into()],
        }),
        Err(error) if path.file_name() == Some(MANIFEST.as_ref()) => Err(Diagnostic::new(
            &codes::BAD_MANIFEST,
            format!("`{}` cannot be used: {error}", path.display()),
        )
        .at(source().location(0..0), "")
        .help("publish the release again, or leave the manifest out: then the names of its files are what is known")),
        Err(_) => {
            let read = saved_manifests(&text).and_then(|saved| Ok((Listing::from_json(&text)?, saved)));
            let (listing, manifests) = read.map_err(|error| no_listing(&source(), &error))?;
            Ok(Part::of(listing, manifests.into_iter().map(M::from).collect()))
        }
    }
}

/// Says that a file holds no releases, and how they are saved.
pub(super) fn no_listing(source: &SourceText, error: &ListingError) -> Diagnostic {
    Diagnostic::new(&codes::NOT_A_LISTING, format!("`{}`: {error}", source.path))
        .at(source.location(0..0), "")
        .help("save it with `rock-matrix report listing --published OWNER/REPO`")
}

/// The folder that a file lies in: `.` for a bare name, whose parent is the empty path.
fn folder_of(file: &Path) -> &Path {
    file.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// The folder of a release, of several, or of wheels.
fn folder<M: From<Manifest> + Send>(
    path: &Path,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Vec<Part<M>>, Exit> {
    let folders = sys::subdirectories(path).map_err(|error| shell.report(&[error.into()]))?;
    let places = std::iter::once(path.to_owned()).chain(folders);
    let manifests: Vec<PathBuf> = places
        .map(|folder| folder.join(MANIFEST))
        .filter(|manifest| sys::is_file(manifest))
        .collect();
    if !manifests.is_empty() {
        let parts = files(&manifests, sink);
        return Ok(parts.into_iter().map(|part| part.in_folder(path)).collect());
    }
    let wheels =
        sys::files_with_extension(path, &["whl"]).map_err(|error| shell.report(&[error.into()]))?;
    let name = |file: &PathBuf| Some(file.file_name()?.to_str()?.to_owned());
    let assets: Vec<ListedAsset> = wheels
        .iter()
        .filter_map(name)
        .map(|name| ListedAsset {
            name,
            ..ListedAsset::default()
        })
        .collect();
    if assets.is_empty() {
        sink.push(
            Diagnostic::new(
                &codes::NOT_A_LISTING,
                format!(
                    "there is neither a `{MANIFEST}` in `{}` or a folder of it, nor a wheel",
                    path.display()
                ),
            )
            .at(Location::File(path.display().to_string().into()), "")
            .help("give the folder that `rock-matrix publish --to DIR` wrote"),
        );
    }
    let release = ListedRelease {
        assets,
        ..ListedRelease::default()
    };
    let listing = Listing {
        repository: None,
        releases: vec![release],
    };
    Ok(vec![Part {
        folder: Some(path.to_owned()),
        ..Part::of(listing, Vec::new())
    }])
}

fn report_unreadable(listing: &Listing, sink: &mut Sink) {
    for (release, error) in listing.unreadable() {
        let told = Diagnostic::new(
            &codes::UNREADABLE_PUBLISHED_NAME,
            format!("published file {error}"),
        )
        .at(Location::Argument("--published".to_owned()), "")
        .help("publish it again under the name of a wheel");
        let of_release = Some(&release.tag_name).filter(|tag| !tag.is_empty());
        sink.push(match of_release {
            Some(tag) => told.note(format!("it is in release `{tag}`")),
            None => told,
        });
    }
}

/// Tells of wheels whose label cannot be taken apart.
pub(super) fn tell_unread(offers: &[Offer], compat: &Compat, sink: &mut Sink) {
    for (offer, reason) in crate::pick::unread(offers, compat) {
        sink.push(
            Diagnostic::new(
                &codes::UNREADABLE_PUBLISHED_NAME,
                format!("published `{}` is left out: {reason}", offer.file),
            )
            .at(Location::Argument("--published".to_owned()), "")
            .help("publish it again with a label that says what it is for"),
        );
    }
}

fn address(folder: &Path) -> String {
    file_url(&sys::real_path(folder).iter().collect::<PathBuf>())
}
