//! The inputs that documents have in common: releases, plans and job results.

use std::path::{Path, PathBuf};

use crate::cli::publish::{self, Connection};
use crate::cli::published;
use crate::cli::yanked_in_options::YankedInOptions;
use crate::cli::{Exit, Shell, load};
use crate::compat::Compat;
use crate::diagnostic::Sink;
use crate::index::BaseUrl;
use crate::names::RepoName;
use crate::plan::{self, PlanInputs, SavedPlan};
use crate::publish::{ManifestSelection, PublishedReleases};
use crate::report::{ExpectedCells, JobOutcomes, ReleaseInventory};
use crate::sys::{self, FileError};

// Options that select the published releases.
#[derive(Debug, clap::Args)]
pub(super) struct PublishedArgs {
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

impl PublishedArgs {
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
        manifests: ManifestSelection<'_>,
        shell: &Shell,
        sink: &mut Sink,
    ) -> Result<ReleaseInventory, Exit> {
        self.read_all(connection, manifests, shell, sink)
            .map(|(inventory, _)| inventory)
    }

    /// Reads the releases and the files that are yanked.
    ///
    /// # Errors
    /// The exit of the command; the reason was reported or is in the sink.
    pub(super) fn read_with_yanked(
        &self,
        yanked_in: &YankedInOptions,
        connection: &Connection,
        manifests: ManifestSelection<'_>,
        shell: &Shell,
        sink: &mut Sink,
    ) -> Result<ReleaseInventory, Exit> {
        let (inventory, published) = self.read_all(connection, manifests, shell, sink)?;
        Ok(inventory.with_yanked(yanked_in.read(&published, sink)?.into_files()))
    }

    /// Reads the releases, and returns them together and by source.
    ///
    /// # Errors
    /// The exit of the command; the reason was reported or is in the sink.
    pub(super) fn read_all(
        &self,
        connection: &Connection,
        manifests: ManifestSelection<'_>,
        shell: &Shell,
        sink: &mut Sink,
    ) -> Result<(ReleaseInventory, PublishedReleases), Exit> {
        let base = publish::address(self.base_url.as_deref(), "--base-url", sink);
        let published = published::read(&self.published, connection, manifests, shell, sink)?;
        let inventory = ReleaseInventory::new(&published, self.repo.clone(), base);
        Ok((inventory, published))
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
        let planned = load::plan(&workspace, &PlanInputs::default(), sink)?;
        plan = plan.with(SavedPlan::of(&planned));
    }
    let expected = ExpectedCells::of(&plan, compat.rocm_versions(), sink);
    if sink.has_errors() {
        Err(Exit::Fault)
    } else {
        Ok(expected)
    }
}

/// The help of `--results`.
pub(super) const RESULTS: &str =
    "Job results: a build.json, a list of them, or a directory of job directories; can be repeated";

/// Reads the outcomes of jobs. Warns about a result whose job is not in the plan.
///
/// # Errors
/// The exit of the command; the reason was reported or is in the sink.
pub(super) fn outcomes(
    paths: &[PathBuf],
    expected: &ExpectedCells,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<JobOutcomes, Exit> {
    let mut outcomes = JobOutcomes::default();
    for path in paths {
        for file in result_files(path).map_err(|error| shell.report(&[error.into()]))? {
            let source = load::source(shell, &file)?;
            sink.extend(outcomes.add_source(&source, expected));
        }
    }
    if sink.has_errors() {
        Err(Exit::Fault)
    } else {
        Ok(outcomes)
    }
}

/// Returns the results files of a value of `--results`: the file itself, or each `build.json` in
/// the directory and its subdirectories.
fn result_files(path: &Path) -> Result<Vec<PathBuf>, FileError> {
    if sys::is_file(path) || !sys::exists(path) {
        return Ok(vec![path.to_owned()]);
    }
    let subdirectories = sys::subdirectories(path)?;
    Ok(std::iter::once(path.to_owned())
        .chain(subdirectories)
        .map(|directory| directory.join("build.json"))
        .filter(|file| sys::is_file(file))
        .collect())
}
