//! Turns legs into jobs.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use itertools::Itertools as _;

use super::architecture::check_architectures;
use super::compact_jobs::{CompactJobBuilder, JobList};
use super::interned_values::{CompactJob, InternedValues};
use super::job_view::JobView;
use super::naming::LabelFactory;
use super::plan_checks::{
    check_family_of_indexes, check_required_variables, warn_of_idle_values,
    warn_of_unknown_versions,
};
use super::{PlanInputs, collisions};
use crate::config::{
    AxisRole, CheckProfile, Leaves, MatrixConfig, RecipeProfile, RepairPlatform, Switch,
    check_recipe,
};
use crate::matrix::{AxisSpace, CellRank, ExclusionRow, MatrixExpansion, expand};
use rock_compat::Compat;
use rock_diagnostic::Sink;
use rock_template::ExpressionEnv;

/// All jobs of a set of matrix files, with the exclusions and their reasons.
///
/// Jobs are stored in a compact form and expanded by [`Plan::jobs`], so that a million of them fit
/// in memory.
#[derive(Debug)]
pub struct Plan {
    /// One group per matrix file, in the given order.
    pub groups: Vec<PlanGroup>,
    /// Names of the wheels whose jobs were skipped because they are already published, sorted.
    pub published: Vec<String>,
    /// Maximum number of jobs per matrix: the requested number, or the smallest `workflow.max-jobs`
    /// if that is lower.
    pub jobs_per_matrix: usize,
    /// Size limit of a repository's GitHub Actions caches, in MB.
    pub cache_limit_mb: u64,
}

/// The jobs of one matrix file.
#[derive(Debug)]
pub struct PlanGroup {
    /// The matrix file.
    pub config: MatrixConfig,
    /// The planning part of its recipe.
    pub profile: RecipeProfile,
    /// The axes with all their values.
    pub space: AxisSpace,
    /// The excluded cells with their reasons.
    pub excluded: Vec<ExclusionRow>,
    /// The cells that are excluded because of the targets that the command line sets.
    pub(super) excluded_by_override: Vec<CellRank>,
    /// Number of cells before exclusions.
    pub cell_count: u64,
    /// Number of legs before collapsing and before skipping published wheels.
    pub legs: u64,
    /// Number of legs without a job because another job builds their wheel.
    pub covered_legs: u64,
    /// The jobs that a filter selected from; `None` without a filter.
    pub selected_from: Option<SelectedFrom>,
    /// Names of the wheels whose jobs were dropped because they did not fail in an earlier run, in
    /// job order.
    pub not_failed: Vec<String>,
    pub(super) compact_jobs: Vec<CompactJob>,
    /// Jobs that were skipped because their files are already published.
    pub(super) skipped: Vec<CompactJob>,
    pub(super) interned: InternedValues,
}

/// The jobs of a matrix file from which a filter selected some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectedFrom {
    /// All jobs of the file, also those whose files are published; this is their number.
    All(usize),
    /// Only cells with the selected values were planned, so the number of all jobs is unknown.
    Planned,
}

/// A matrix file with its recipe and its legs.
struct ExpandedFile {
    config: MatrixConfig,
    profile: RecipeProfile,
    expansion: MatrixExpansion,
}

/// The jobs of a matrix file, and its legs without one.
struct FileJobs {
    list: JobList,
    /// Number of selected legs, with and without a job.
    selected_legs: u64,
    /// The selected legs that cannot be built, with their reasons.
    excluded: Vec<ExclusionRow>,
    /// The cells in `excluded` whose targets the command line sets.
    excluded_by_override: Vec<CellRank>,
}

impl Plan {
    /// Returns every job, group by group, in the order of each file's axes.
    pub fn jobs(&self) -> impl Iterator<Item = JobView<'_>> {
        self.groups
            .iter()
            .enumerate()
            .flat_map(|(number, group)| group.jobs(number))
    }

    /// Returns the jobs that were skipped because their files are already published.
    pub fn skipped_jobs(&self) -> impl Iterator<Item = JobView<'_>> {
        let view = |group| {
            move |compact| JobView {
                group,
                compact,
                number: 0,
            }
        };
        self.groups
            .iter()
            .flat_map(move |group| group.skipped.iter().map(view(group)))
    }

    /// Keeps only the jobs for which `is_wanted` returns true, including among the skipped ones.
    pub fn keep(&mut self, is_wanted: impl Fn(JobView<'_>) -> bool) {
        for group in &mut self.groups {
            let mut compact_jobs = std::mem::take(&mut group.compact_jobs);
            compact_jobs.retain(|compact| {
                is_wanted(JobView {
                    group,
                    compact,
                    number: 0,
                })
            });
            group.compact_jobs = compact_jobs;
            let mut skipped = std::mem::take(&mut group.skipped);
            skipped.retain(|compact| {
                is_wanted(JobView {
                    group,
                    compact,
                    number: 0,
                })
            });
            group.skipped = skipped;
        }
    }

    /// Keeps only the jobs that a filter selects, like [`Self::keep`], and records that there was
    /// one.
    pub(super) fn select(&mut self, is_selected: impl Fn(JobView<'_>) -> bool) {
        for group in &mut self.groups {
            let all = SelectedFrom::All(group.job_count() + group.skipped.len());
            group.selected_from = group.selected_from.or(Some(all));
        }
        self.keep(is_selected);
    }

    /// Keeps only the exclusions for which `is_wanted` returns true; it is passed the axes of the
    /// matrix file.
    pub(super) fn keep_excluded(&mut self, is_wanted: impl Fn(&AxisSpace, &ExclusionRow) -> bool) {
        for PlanGroup {
            space, excluded, ..
        } in &mut self.groups
        {
            excluded.retain(|row| is_wanted(space, row));
        }
    }

    /// Drops every job that is not in `failed`, and records the names of the dropped wheels.
    pub fn keep_failed(&mut self, failed: &BTreeSet<String>) {
        for group in &mut self.groups {
            let others = group
                .jobs(0)
                .filter(|job| !failed.contains(&job.id()))
                .map(JobView::wheel);
            group.not_failed = others.collect();
        }
        self.keep(|job| failed.contains(&job.id()));
    }

    /// Returns the names of the wheels whose jobs were dropped because they did not fail in a run.
    pub fn not_failed(&self) -> Vec<&str> {
        self.groups
            .iter()
            .flat_map(|group| &group.not_failed)
            .map(String::as_str)
            .collect()
    }

    /// Whether any wheels are tested on runners chosen by GPU family.
    pub fn tests_by_family(&self) -> bool {
        self.groups
            .iter()
            .any(|group| group.config.test.families.is_some())
    }

    /// Returns the estimated size of the compiler caches of all builds in MB; 0 if no build keeps
    /// one.
    pub fn cache_total_mb(&self) -> u64 {
        let cached = self
            .groups
            .iter()
            .enumerate()
            .filter(|(_, group)| group.keeps_cache());
        let jobs = cached.flat_map(|(number, group)| group.jobs(number));
        jobs.filter_map(|job| job.estimate().map(|estimate| estimate.cache_mb))
            .sum()
    }

    /// Returns the MB that the compiler cache of one build may use so that all caches fit, or
    /// `None` if no build keeps one.
    pub fn cache_share_mb(&self) -> Option<u64> {
        let cached = self.groups.iter().filter(|group| group.keeps_cache());
        let builds: usize = cached.map(PlanGroup::job_count).sum();
        (builds > 0).then(|| (self.cache_limit_mb / builds as u64).max(1))
    }

    /// Returns the limits that apply to the plan, and the estimated total size of its caches.
    pub(super) fn limits(&self) -> IndexMap<&'static str, u64> {
        let mut limits = IndexMap::from([("jobs_per_matrix", self.jobs_per_matrix as u64)]);
        if self.cache_share_mb().is_some() {
            limits.extend([
                ("cache_limit_mb", self.cache_limit_mb),
                ("cache_total_mb", self.cache_total_mb()),
            ]);
        }
        limits
    }

    /// Returns the number of jobs.
    pub fn job_count(&self) -> usize {
        self.groups
            .iter()
            .map(|group| group.compact_jobs.len())
            .sum()
    }

    /// Returns the number of files to publish; a job may produce several wheels.
    pub fn file_count(&self) -> usize {
        let leaves = |job: JobView<'_>| {
            job.wheels().count()
                + usize::from(job.archive().is_some())
                + usize::from(job.sdist().is_some())
        };
        self.jobs().map(leaves).sum()
    }
}

impl PlanGroup {
    fn new(file: ExpandedFile, jobs: FileJobs, selected_from: Option<SelectedFrom>) -> Self {
        let expansion = file.expansion;
        let excluded = expansion.excluded.into_iter();
        let legs_without_job: u64 = jobs.excluded.iter().map(|row| row.count).sum();
        let legs_with_job = jobs.selected_legs - legs_without_job;
        let compact_jobs = jobs.list.jobs;
        Self {
            config: file.config,
            profile: file.profile,
            space: expansion.space,
            cell_count: expansion.cell_count,
            legs: expansion.legs.len() as u64 - legs_without_job,
            covered_legs: legs_with_job.saturating_sub(compact_jobs.len() as u64),
            excluded: excluded.chain(jobs.excluded).collect(),
            excluded_by_override: jobs.excluded_by_override,
            selected_from,
            not_failed: Vec::new(),
            compact_jobs,
            skipped: Vec::new(),
            interned: jobs.list.interned,
        }
    }

    /// Whether the builds of this group keep a compiler cache between attempts.
    pub(super) fn keeps_cache(&self) -> bool {
        self.config.workflow.cache == Switch::On
    }

    /// Returns the jobs of this group; `number` is the group's index in the plan.
    pub fn jobs(&self, number: usize) -> impl Iterator<Item = JobView<'_>> {
        self.compact_jobs.iter().map(move |compact| JobView {
            group: self,
            compact,
            number,
        })
    }

    /// Returns the first job of each pair of a version and a Python; `number` is the group's index
    /// in the plan.
    pub fn jobs_by_version_and_python(&self, number: usize) -> impl Iterator<Item = JobView<'_>> {
        let axes = [AxisRole::Package, AxisRole::Python].map(|role| self.space.position(role));
        let value_counts = axes.iter().flatten();
        let value_counts = value_counts.map(|&axis| self.space.axes()[axis].values.len());
        // Jobs after the first one of the last pair are not compared.
        let pair_count: usize = value_counts.product();
        let pair = move |job: &JobView<'_>| {
            axes.map(|axis| axis.map(|axis| self.space.index(job.compact.cell, axis)))
        };
        self.jobs(number).unique_by(pair).take(pair_count)
    }

    /// Returns the number of jobs.
    pub fn job_count(&self) -> usize {
        self.compact_jobs.len()
    }

    /// Returns the number of jobs that were skipped because their files are published.
    pub fn published_count(&self) -> usize {
        self.skipped.len()
    }
}

/// Maximum number of exclusion reasons in a message; after these it names the command that lists
/// all.
const REASONS_SHOWN: usize = 3;

/// Returns the first few distinct exclusion reasons of these groups.
pub fn first_reasons(groups: &[PlanGroup]) -> Vec<String> {
    let reasons = groups
        .iter()
        .flat_map(|group| &group.excluded)
        .map(|row| row.reason.clone());
    reasons.unique().take(REASONS_SHOWN).collect()
}

/// Plans the jobs of several matrix files. Reports the problems of all files to the sink and
/// returns `None` if there are errors.
pub fn plan(
    files: Vec<(MatrixConfig, RecipeProfile)>,
    compat: &Compat,
    options: &PlanInputs,
    sink: &mut Sink,
) -> Option<Plan> {
    let errors = sink.error_count();
    let expanded = expand_files(files, compat, options, sink);
    if sink.error_count() > errors {
        return None;
    }
    let groups = create_groups(expanded, compat, options, sink);
    let max_jobs = groups
        .iter()
        .map(|group| group.config.workflow.max_jobs as usize);
    let jobs_per_matrix = max_jobs.fold(options.jobs_per_matrix, usize::min);
    let cache_limit = compat.limit("actions-cache");
    let mut plan = Plan {
        groups,
        published: Vec::new(),
        jobs_per_matrix,
        cache_limit_mb: cache_limit.map_or(u64::MAX, |row| row.value),
    };
    collisions::check(&plan, sink);
    if sink.error_count() > errors {
        return None;
    }
    check_architectures(&plan, compat, sink);
    check_family_of_indexes(&plan, sink);
    check_required_variables(&plan, sink);
    if sink.error_count() > errors {
        return None;
    }
    skip_published(&mut plan, options);
    warn_of_unknown_versions(&plan, compat, sink);
    if options.selection.is_empty() {
        warn_of_idle_values(&plan, options.explain_hint.as_deref(), sink);
    }
    Some(plan)
}

/// Checks the matrix files against their recipes and expands them. Files with errors, which are in
/// the sink, may be missing from the result.
fn expand_files(
    files: Vec<(MatrixConfig, RecipeProfile)>,
    compat: &Compat,
    options: &PlanInputs,
    sink: &mut Sink,
) -> Vec<ExpandedFile> {
    let mut expanded = Vec::new();
    for (mut config, profile) in files {
        if profile.checked_as == CheckProfile::Sdk {
            // SDK packages are ROCm itself: they have no external libraries, and AMD's own packages
            // are not repaired.
            config.repair.platform = RepairPlatform::Off;
        }
        if !check_recipe(&config, &profile, sink) {
            continue;
        }
        if let Some(expansion) = expand(&config, &profile, compat, &options.selection, sink) {
            expanded.push(ExpandedFile {
                config,
                profile,
                expansion,
            });
        }
    }
    expanded
}

/// Creates the groups of expanded files.
fn create_groups(
    files: Vec<ExpandedFile>,
    compat: &Compat,
    options: &PlanInputs,
    sink: &mut Sink,
) -> Vec<PlanGroup> {
    let jobs = create_jobs(&files, compat, options, sink);
    let selected_from = (!options.selection.is_empty()).then_some(SelectedFrom::Planned);
    files
        .into_iter()
        .zip(jobs)
        .map(|(file, jobs)| PlanGroup::new(file, jobs, selected_from))
        .collect()
}

/// Creates the jobs of each file. Labels, and whether legs that cannot be built are errors, depend
/// on all files.
fn create_jobs(
    files: &[ExpandedFile],
    compat: &Compat,
    options: &PlanInputs,
    sink: &mut Sink,
) -> Vec<FileJobs> {
    let labels = LabelFactory::new(compat, files.iter().map(|file| &file.expansion.space));
    let expressions = ExpressionEnv::default();
    let mut created: Vec<(CompactJobBuilder<'_>, JobList, u64)> = Vec::with_capacity(files.len());
    for file in files {
        let (config, profile, expansion) = (&file.config, &file.profile, &file.expansion);
        let space = &expansion.space;
        let builder = CompactJobBuilder::new(
            config,
            profile,
            space,
            compat,
            &labels,
            &expressions,
            options,
        );
        let interned = InternedValues::of(config, profile, space, compat);
        let selected = builder.selected(&expansion.legs);
        let selected_legs = selected.len() as u64;
        let list = builder.build(interned, &selected, sink);
        created.push((builder, list, selected_legs));
    }
    let has_jobs = created.iter().any(|(_, list, _)| !list.jobs.is_empty());
    created
        .into_iter()
        .map(|(builder, list, selected_legs)| FileJobs {
            excluded: builder.excluded_cells(&list, has_jobs, sink),
            excluded_by_override: builder.cells_excluded_by_override(&list),
            selected_legs,
            list,
        })
        .collect()
}

/// Skips the jobs whose files are all published, and records the names of these files.
fn skip_published(plan: &mut Plan, options: &PlanInputs) {
    if options.published.is_empty() {
        return;
    }
    // Jobs whose expected wheel names are equal before the build need one published wheel each.
    let mut wanted: BTreeMap<String, usize> = BTreeMap::new();
    for wheel in plan.jobs().flat_map(JobView::wheels) {
        *wanted.entry(wheel).or_default() += 1;
    }
    wanted.retain(|wheel, count| {
        wheel
            .parse()
            .is_ok_and(|name| options.published.count(&name) >= *count)
    });
    let mut published = Vec::new();
    for group in &mut plan.groups {
        let compact_jobs = std::mem::take(&mut group.compact_jobs);
        let (skipped, compact_jobs) = compact_jobs.into_iter().partition(|compact| {
            let job = JobView {
                group,
                compact,
                number: 0,
            };
            let wheels = || job.wheels().all(|wheel| wanted.contains_key(&wheel));
            let archive = job.archive().or_else(|| job.sdist());
            let present = match (group.profile.leaves, &archive) {
                (Leaves::Wheels, _) => wheels(),
                (_, Some(archive)) => options.published.has_archive(archive) && wheels(),
                (_, None) => false,
            };
            if present {
                published.extend(job.wheels().chain(archive));
            }
            present
        });
        group.compact_jobs = compact_jobs;
        group.skipped = skipped;
    }
    published.sort();
    plan.published = published;
}
