//! The inputs that documents have in common: releases, plans and job results.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::cli::publish::{self, Connection};
use crate::cli::published::{self, Manifests, Published};
use crate::cli::withdrawals::Withdrawals;
use crate::cli::{Exit, Shell, load};
use crate::codes::release as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Location, Severity, Sink, nearest::nearest};
use crate::index::BaseUrl;
use crate::names::{RepoName, RocmVersion, YankedFiles};
use crate::plan::{self, PlanInputs, SavedPlan};
use crate::publish::{ListedRelease, RebuiltFile, ReleaseListing, ReleaseManifest};
use crate::report::{ExpectedCells, JobOutcomes, ListingContext, WheelListing};
use crate::sys;

// Options that select the published releases.
#[derive(Debug, clap::Args)]
pub(super) struct Listed {
    #[arg(
        long,
        required = true,
        value_name = "FILE|DIR|OWNER/REPO",
        help_heading = "Input",
        help = published::HELP,
        long_help = published::LONG_HELP
    )]
    published: Vec<PathBuf>,
    /// Repository of the releases, if the listing does not name it
    #[arg(
        long,
        value_name = "OWNER/REPO",
        help_heading = "Input",
        hide_short_help = true
    )]
    repo: Option<RepoName>,
    /// Base URL of the files, instead of the URL of the release
    #[arg(long, value_name = "URL", help_heading = "Input")]
    base_url: Option<String>,
}

/// Published releases with their manifests and yanked files.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) listing: ReleaseListing,
    pub(super) repository: Option<RepoName>,
    manifests: Vec<ReleaseManifest>,
    withdrawn: YankedFiles,
    base: Option<BaseUrl>,
    shown: String,
}

impl Listed {
    /// Returns the URL of the files of the release with this tag in `--repo`; `None` with
    /// `--base-url`, without `--repo`, or after reporting an error.
    pub(super) fn release_address(
        &self,
        tag: &str,
        shell: &Shell,
        sink: &mut Sink,
    ) -> Option<BaseUrl> {
        let repo = self.repo.as_ref().filter(|_| self.base_url.is_none())?;
        publish::release_address(repo, tag, shell, sink)
    }

    /// Returns the values of `--published`.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.published.iter().map(PathBuf::as_path)
    }

    /// Reads the releases.
    ///
    /// # Errors
    /// The exit of the command; the reason was reported or is in the sink.
    pub(super) fn read(
        &self,
        connection: &Connection,
        manifests: Manifests<'_>,
        shell: &Shell,
        sink: &mut Sink,
    ) -> Result<Read, Exit> {
        self.read_all(connection, manifests, shell, sink)
            .map(|(read, _)| read)
    }

    /// Reads the releases and the files that are yanked.
    ///
    /// # Errors
    /// The exit of the command; the reason was reported or is in the sink.
    pub(super) fn read_offered(
        &self,
        withdrawals: &Withdrawals,
        connection: &Connection,
        manifests: Manifests<'_>,
        shell: &Shell,
        sink: &mut Sink,
    ) -> Result<Read, Exit> {
        let (read, published) = self.read_all(connection, manifests, shell, sink)?;
        Ok(Read {
            withdrawn: withdrawals.read(&published, sink)?,
            ..read
        })
    }

    /// Reads the releases, and returns them together and by source.
    ///
    /// # Errors
    /// The exit of the command; the reason was reported or is in the sink.
    pub(super) fn read_all(
        &self,
        connection: &Connection,
        manifests: Manifests<'_>,
        shell: &Shell,
        sink: &mut Sink,
    ) -> Result<(Read, Published), Exit> {
        let base = publish::address(self.base_url.as_deref(), "--base-url", sink);
        let published = published::read(&self.published, connection, manifests, shell, sink)?;
        let listing = published.listing();
        let listed = || {
            listing
                .repository
                .as_deref()
                .and_then(|text| text.parse().ok())
        };
        let read = Read {
            repository: self.repo.clone().or_else(listed),
            manifests: published.manifests(),
            withdrawn: YankedFiles::default(),
            base,
            shown: published.shown().to_owned(),
            listing,
        };
        Ok((read, published))
    }
}

impl Read {
    fn beside<'a>(&'a self, known_rocm: &'a [RocmVersion]) -> ListingContext<'a> {
        ListingContext {
            manifests: &self.manifests,
            base: self.base.as_ref(),
            repository: self.repository.as_ref(),
            known_rocm,
            withdrawn: Some(&self.withdrawn),
        }
    }

    /// Replaces the manifests by those of `published`.
    pub(super) fn take_manifests(&mut self, published: &Published) {
        self.manifests = published.manifests();
    }

    /// Whether the newest file of this name is yanked.
    pub(super) fn is_withdrawn(&self, rebuilt: &RebuiltFile) -> bool {
        self.withdrawn
            .reason(&rebuilt.name, rebuilt.offered.digest)
            .is_some()
    }

    /// Splits a release of a directory into the releases that it becomes on GitHub, each with its
    /// own URL. `most_assets` is the number of files that a release can have. The base URL is that
    /// of `--base-url`, else `address`.
    pub(super) fn deal_out(
        &mut self,
        tag: &str,
        most_assets: usize,
        address: Option<&BaseUrl>,
    ) -> Option<Vec<ListedRelease>> {
        let of_folder = |release: &&ListedRelease| {
            release.tag_name == tag && release.id == 0 && release.html_url.is_none()
        };
        let release = self.listing.releases.iter().find(of_folder)?;
        let dealt =
            crate::report::dealt_out(release, self.base.as_ref().or(address)?, most_assets)?;
        self.base = None;
        Some(dealt)
    }

    /// Whether the release with this tag has a manifest.
    pub(super) fn has_manifest_of(&self, tag: &str) -> bool {
        self.manifests
            .iter()
            .any(|manifest| manifest.tag.as_deref() == Some(tag))
    }

    /// Returns the repository in the base URL of the files.
    pub(super) fn repository_of_base(&self) -> Option<RepoName> {
        crate::report::repository_in(&self.base.as_ref()?.to_string())
    }

    /// Returns the published wheels, and reports names that cannot be parsed.
    pub(super) fn wheels(&self, compat: &Compat, sink: &mut Sink) -> WheelListing {
        let wheels = WheelListing::published(&self.listing, self.beside(&compat.rocm_versions()));
        wheels.report(&self.shown, sink);
        wheels
    }

    /// Returns the wheels of these releases, including drafts, and reports names that cannot be
    /// parsed.
    pub(super) fn wheels_of(
        &self,
        releases: &[&ListedRelease],
        compat: &Compat,
        sink: &mut Sink,
    ) -> WheelListing {
        let wheels = WheelListing::of(
            releases.iter().copied(),
            self.beside(&compat.rocm_versions()),
        );
        wheels.report(&self.shown, sink);
        wheels
    }
}

/// Returns the wheels and archives that plans or matrix files expect.
///
/// # Errors
/// The exit of the command; the reason was reported or is in the sink.
pub(super) fn expected(
    paths: &[PathBuf],
    compat: &Compat,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<ExpectedCells, Exit> {
    let is_matrix = |path: &&PathBuf| {
        path.extension()
            .is_some_and(|end| end == "yaml" || end == "yml")
    };
    let (matrices, saved): (Vec<&PathBuf>, Vec<&PathBuf>) = paths.iter().partition(is_matrix);
    let mut plan = SavedPlan::default();
    for path in saved {
        plan =
            plan.with(plan::read_saved(&load::plan_source(shell, path)?, sink).ok_or(Exit::Fault)?);
    }
    if !matrices.is_empty() {
        let files: Vec<PathBuf> = matrices.into_iter().cloned().collect();
        let workspace = load::workspace(shell, compat, &files, sink)?;
        if sink.has_errors() {
            return Err(Exit::Fault);
        }
        let made = workspace
            .plan(&PlanInputs::default(), sink)
            .ok_or(Exit::Fault)?;
        plan = plan.with(SavedPlan::of(&made));
    }
    let expected = ExpectedCells::of(&plan, &compat.rocm_versions(), sink);
    if sink.has_errors() {
        Err(Exit::Fault)
    } else {
        Ok(expected)
    }
}

/// The help of `--results`.
pub(super) const RESULTS: &str =
    "Job results: a build.json, a list of them, or a directory of job directories; can be repeated";

/// Reads the outcomes of jobs. Warns about a result whose job is not in the plan, because it would
/// have no effect.
///
/// # Errors
/// The exit of the command; the reason was reported or is in the sink.
pub(super) fn outcomes(
    paths: &[PathBuf],
    expected: &ExpectedCells,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<JobOutcomes, Exit> {
    let planned: BTreeSet<&str> = expected
        .cells
        .iter()
        .filter_map(|cell| cell.job.as_deref())
        .collect();
    let mut outcomes = JobOutcomes::default();
    for path in paths {
        let files = if sys::is_file(path) || !sys::exists(path) {
            vec![path.clone()]
        } else {
            let folders =
                sys::subdirectories(path).map_err(|error| shell.report(&[error.into()]))?;
            let places = std::iter::once(path.clone())
                .chain(folders)
                .map(|folder| folder.join("build.json"));
            places.filter(|file| sys::is_file(file)).collect()
        };
        for file in files {
            let source = load::source(shell, &file)?;
            let bad_results = |message: String| {
                Diagnostic::new(&codes::BAD_RESULTS, message)
                    .at(Location::File(source.path.clone()), "")
            };
            match outcomes.add_json(&source.text) {
                Ok(jobs) => {
                    for job in jobs.iter().filter(|job| !planned.contains(job.as_str())) {
                        let unknown = bad_results(format!("the plan has no job `{job}`"))
                            .severity(Severity::Warning);
                        sink.push(unknown.help(match nearest(job, planned.iter().copied()) {
                            Some(near) => format!("did you mean `{near}`?"),
                            None => "give the plan that the results belong to".to_owned(),
                        }));
                    }
                }
                Err(error) => sink.push(bad_results(format!(
                    "`{}` cannot be read: {error}",
                    source.path
                ))),
            }
        }
    }
    if sink.has_errors() {
        Err(Exit::Fault)
    } else {
        Ok(outcomes)
    }
}

/// A file whose name cannot be parsed, in JSON output.
#[derive(Debug, serde::Serialize)]
pub(super) struct UnreadDocument<'a> {
    release: &'a str,
    name: &'a str,
    reason: &'a str,
}

/// Returns the files whose names cannot be parsed.
pub(super) fn unread(wheels: &WheelListing) -> Vec<UnreadDocument<'_>> {
    wheels
        .unread
        .iter()
        .map(|unread| UnreadDocument {
            release: &unread.tag,
            name: &unread.name,
            reason: &unread.reason,
        })
        .collect()
}

/// Returns a document as JSON.
pub(super) fn json(document: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(document)
        .map(|text| text + "\n")
        .unwrap_or_default()
}
