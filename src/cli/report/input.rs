//! What the documents have in common: what they are made of.

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

/// What is published.
#[derive(Debug, clap::Args)]
pub(super) struct Listed {
    #[arg(long, required = true, value_name = "FILE|DIR|OWNER/REPO", help_heading = "Input", help = published::HELP)]
    published: Vec<PathBuf>,
    /// The repository, where the listing does not say
    #[arg(long, value_name = "OWNER/REPO", help_heading = "Input")]
    repo: Option<RepoName>,
    /// Address below which the files are served, instead of that of the release
    #[arg(long, value_name = "URL", help_heading = "Input")]
    base_url: Option<String>,
}

/// What was read of it.
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
    /// The address of the release with this tag in the repository that was named, unless
    /// `--base-url` gives another; `None` after telling what is wrong with it.
    pub(super) fn release_address(
        &self,
        tag: &str,
        shell: &Shell,
        sink: &mut Sink,
    ) -> Option<BaseUrl> {
        let repo = self.repo.as_ref().filter(|_| self.base_url.is_none())?;
        publish::release_address(repo, tag, shell, sink)
    }

    /// The files that are read, as given.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.published.iter().map(PathBuf::as_path)
    }

    /// Reads the listings.
    ///
    /// # Errors
    /// The exit of the command; why was told or is in the sink.
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

    /// The same, and which of it is withdrawn.
    ///
    /// # Errors
    /// The exit of the command; why was told or is in the sink.
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

    /// Reads the same, and returns what was read at each place.
    ///
    /// # Errors
    /// The exit of the command; why was told or is in the sink.
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
        let told = || {
            listing
                .repository
                .as_deref()
                .and_then(|text| text.parse().ok())
        };
        let read = Read {
            repository: self.repo.clone().or_else(told),
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

    /// Takes over manifests that were read later.
    pub(super) fn take_manifests(&mut self, published: &Published) {
        self.manifests = published.manifests();
    }

    /// Whether the file that is offered under this name is withdrawn.
    pub(super) fn is_withdrawn(&self, rebuilt: &RebuiltFile) -> bool {
        self.withdrawn
            .reason(&rebuilt.name, rebuilt.offered.digest)
            .is_some()
    }

    /// Of a release in a folder whose files will be served by GitHub: the releases that it becomes
    /// there, each with its own address. `most_assets` is how many files GitHub takes in one. They
    /// are served below `--base-url`, else below `address`.
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

    /// Whether a manifest tells of the release with this tag.
    pub(super) fn has_manifest_of(&self, tag: &str) -> bool {
        self.manifests
            .iter()
            .any(|manifest| manifest.tag.as_deref() == Some(tag))
    }

    /// The repository below whose releases the files are served.
    pub(super) fn repository_of_base(&self) -> Option<RepoName> {
        crate::report::repository_in(&self.base.as_ref()?.to_string())
    }

    /// The wheels that people can fetch; tells of names that cannot be read.
    pub(super) fn wheels(&self, compat: &Compat, sink: &mut Sink) -> WheelListing {
        let wheels = WheelListing::published(&self.listing, self.beside(&compat.rocm_versions()));
        wheels.report(&self.shown, sink);
        wheels
    }

    /// The wheels of these releases, drafts or not; tells of names that cannot be read.
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

/// What a plan, or matrix files, say should be there.
///
/// # Errors
/// The exit of the command; why was told or is in the sink.
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
        let matrices = load::matrices(shell, compat, &files, sink)?;
        if sink.has_errors() {
            return Err(Exit::Fault);
        }
        let made = load::plan(shell, &matrices, compat, &PlanInputs::default(), sink)
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

/// What `--results` takes.
pub(super) const RESULTS: &str = "What jobs came to: a build.json, a list of such, or a folder that has them below it; can be repeated";

/// Reads what jobs came to. A result of a job that nothing plans is told of: it would explain
/// nothing.
///
/// # Errors
/// The exit of the command; why was told or is in the sink.
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
            let told = |message: String| {
                Diagnostic::new(&codes::BAD_RESULTS, message)
                    .at(Location::File(source.path.clone()), "")
            };
            match outcomes.add_json(&source.text) {
                Ok(jobs) => {
                    for job in jobs.iter().filter(|job| !planned.contains(job.as_str())) {
                        let unknown = told(format!("the plan has no job `{job}`"))
                            .severity(Severity::Warning);
                        sink.push(unknown.help(match nearest(job, planned.iter().copied()) {
                            Some(near) => format!("did you mean `{near}`?"),
                            None => "give the plan that the results are of".to_owned(),
                        }));
                    }
                }
                Err(error) => sink.push(told(format!("`{}` cannot be read: {error}", source.path))),
            }
        }
    }
    if sink.has_errors() {
        Err(Exit::Fault)
    } else {
        Ok(outcomes)
    }
}

/// A file whose name cannot be read, for programs.
#[derive(Debug, serde::Serialize)]
pub(super) struct UnreadDocument<'a> {
    release: &'a str,
    name: &'a str,
    reason: &'a str,
}

/// The files whose names cannot be read.
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

/// A document for programs.
pub(super) fn json(document: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(document)
        .map(|text| text + "\n")
        .unwrap_or_default()
}
