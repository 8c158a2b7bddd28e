//! Legs to jobs.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use itertools::Itertools as _;

use super::architecture::check_architectures;
use super::draft::GroupDrafter;
use super::job_view::JobView;
use super::naming::LabelFactory;
use super::plan_checks::{
    check_backends, check_collapse, check_family_of_indexes, check_required_axes,
    check_required_variables, check_version_axis, warn_of_idle_values,
};
use super::shared_values::{CompactJob, SharedValues};
use super::{PlanInputs, collisions};
use crate::config::{
    CheckProfile, Leaves, MatrixConfig, RecipeProfile, RepairPlatform, Switch, VersionFrom,
};
use crate::matrix::{AxisSpace, ExclusionRow, expand};
use rock_compat::Compat;
use rock_diagnostic::Sink;

/// All jobs of some matrix files, with what was left out and why.
///
/// Jobs are kept in a compact form and made whole by [`Plan::jobs`], so that a million of them fit
/// in memory.
#[derive(Debug)]
pub struct Plan {
    /// One group a matrix file, in the order given.
    pub groups: Vec<PlanGroup>,
    /// Names of the wheels that jobs were left out for because they are published, sorted.
    pub published: Vec<String>,
    /// Jobs of one matrix at most: what is asked for, or the least `workflow.max-jobs` where that
    /// is less.
    pub jobs_per_matrix: usize,
    /// MB of caches that GitHub keeps of one repository.
    pub cache_limit_mb: u64,
}

/// The jobs of one matrix file.
#[derive(Debug)]
pub struct PlanGroup {
    /// The matrix file.
    pub config: MatrixConfig,
    /// The planning side of its recipe.
    pub profile: RecipeProfile,
    /// The axes with all values.
    pub universe: AxisSpace,
    /// What was left out.
    pub excluded: Vec<ExclusionRow>,
    /// Cells looked at.
    pub raw: u64,
    /// Legs before collapsing and before leaving out published ones.
    pub legs: u64,
    /// Legs that have no job of their own, because their wheel is another job's.
    pub shared_legs: u64,
    /// Names of the wheels that jobs were left out for because they did not fail in a run, in the
    /// order of the jobs.
    pub not_failed: Vec<String>,
    pub(super) drafts: Vec<CompactJob>,
    /// Jobs that were left out because their files are published.
    pub(super) skipped: Vec<CompactJob>,
    pub(super) shared: SharedValues,
}

impl Plan {
    /// Every job, group by group, in the order of each file's axes.
    pub fn jobs(&self) -> impl Iterator<Item = JobView<'_>> {
        self.groups
            .iter()
            .enumerate()
            .flat_map(|(number, group)| group.jobs(number))
    }

    /// Returns the jobs that were left out because their files are published.
    pub fn skipped_jobs(&self) -> impl Iterator<Item = JobView<'_>> {
        let view = |group| {
            move |draft| JobView {
                group,
                draft,
                number: 0,
            }
        };
        self.groups
            .iter()
            .flat_map(move |group| group.skipped.iter().map(view(group)))
    }

    /// Leaves out every job that is not wanted.
    pub fn keep(&mut self, is_wanted: impl Fn(JobView<'_>) -> bool) {
        for group in &mut self.groups {
            let mut drafts = std::mem::take(&mut group.drafts);
            drafts.retain(|draft| {
                is_wanted(JobView {
                    group,
                    draft,
                    number: 0,
                })
            });
            group.drafts = drafts;
            let mut skipped = std::mem::take(&mut group.skipped);
            skipped.retain(|draft| {
                is_wanted(JobView {
                    group,
                    draft,
                    number: 0,
                })
            });
            group.skipped = skipped;
        }
    }

    /// Leaves out the reasons for cells that are not wanted; `is_wanted` gets the values that a
    /// reason is about.
    pub fn keep_excluded(&mut self, is_wanted: impl Fn(&IndexMap<String, String>) -> bool) {
        for group in &mut self.groups {
            group.excluded.retain(|row| is_wanted(&row.axes));
        }
    }

    /// Leaves out every job that did not fail in a run; their wheels are known still.
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

    /// Names of the wheels that jobs were left out for because they did not fail in a run.
    pub fn not_failed(&self) -> Vec<&str> {
        self.groups
            .iter()
            .flat_map(|group| &group.not_failed)
            .map(String::as_str)
            .collect()
    }

    /// Whether wheels are tested on the runners of families.
    pub fn tests_by_family(&self) -> bool {
        self.groups
            .iter()
            .any(|group| group.config.test.families.is_some())
    }

    /// MB that the compiler caches of all builds are estimated to take; 0 where none keeps one.
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

    /// MB that the compiler cache of one build may take, so that all of them fit; `None` where none
    /// keeps one.
    pub fn cache_share_mb(&self) -> Option<u64> {
        let cached = self.groups.iter().filter(|group| group.keeps_cache());
        let builds: usize = cached.map(PlanGroup::job_count).sum();
        (builds > 0).then(|| (self.cache_limit_mb / builds as u64).max(1))
    }

    /// The limits that the plan keeps, and what is estimated of them.
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

    /// How many jobs there are.
    pub fn job_count(&self) -> usize {
        self.groups.iter().map(|group| group.drafts.len()).sum()
    }

    /// Returns how many files the jobs leave to be published: a job may leave several wheels.
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
    /// Whether its builds keep a compiler cache between attempts.
    pub(super) fn keeps_cache(&self) -> bool {
        self.config.workflow.cache == Switch::On
    }

    /// The jobs of this group; `number` is its place in the plan.
    pub fn jobs(&self, number: usize) -> impl Iterator<Item = JobView<'_>> {
        self.drafts.iter().map(move |draft| JobView {
            group: self,
            draft,
            number,
        })
    }

    /// How many jobs there are.
    pub fn job_count(&self) -> usize {
        self.drafts.len()
    }
}

/// Reasons for missing combinations that a message gives before it names the command that gives
/// all.
const REASONS_SHOWN: usize = 3;

/// Returns the first reasons for combinations of these files that are left out, each once.
pub fn first_reasons(groups: &[PlanGroup]) -> Vec<String> {
    let reasons = groups
        .iter()
        .flat_map(|group| &group.excluded)
        .map(|row| row.reason.clone());
    reasons.unique().take(REASONS_SHOWN).collect()
}

/// Makes the plan of several matrix files. Every fault of every file goes to the sink; `None` when
/// the jobs would not be sound.
pub fn plan(
    files: Vec<(MatrixConfig, RecipeProfile)>,
    compat: &Compat,
    options: &PlanInputs,
    sink: &mut Sink,
) -> Option<Plan> {
    let errors = sink.error_count();
    let mut expanded = Vec::new();
    for (mut config, profile) in files {
        if profile.checked_as == CheckProfile::Sdk {
            // They are ROCm: no library of theirs is outside, and the names of AMD's own packages
            // are not repaired.
            config.repair.platform = RepairPlatform::Off;
        }
        check_backends(&config, &profile, sink);
        if profile.version_from == VersionFrom::Axis {
            check_version_axis(&config, sink);
        }
        check_required_axes(&config, &profile, sink);
        check_collapse(&config, &profile, sink);
        if let Some(expansion) = expand(&config, &profile, compat, sink) {
            expanded.push((config, profile, expansion));
        }
    }
    if sink.error_count() > errors {
        return None;
    }
    let labels = LabelFactory::new(
        compat,
        expanded.iter().map(|(_, _, expansion)| &expansion.universe),
    );
    let mut groups = Vec::new();
    for (config, profile, expansion) in expanded {
        let drafting = GroupDrafter::new(
            &config,
            &profile,
            &expansion.universe,
            compat,
            &labels,
            options,
        );
        let shared = SharedValues::of(&config, &profile, &expansion.universe, compat);
        let (drafts, shared, refused) = drafting.all(shared, &expansion.legs, sink);
        let legs = expansion.legs.len() as u64 - refused.iter().map(|row| row.count).sum::<u64>();
        let universe = expansion.universe;
        let excluded = expansion.excluded.into_iter().chain(refused).collect();
        groups.push(PlanGroup {
            config,
            profile,
            universe,
            excluded,
            skipped: Vec::new(),
            raw: expansion.raw,
            legs,
            shared_legs: legs.saturating_sub(drafts.len() as u64),
            not_failed: Vec::new(),
            drafts,
            shared,
        });
    }
    let by_files = groups
        .iter()
        .map(|group| group.config.workflow.max_jobs as usize)
        .min();
    let jobs_per_matrix = by_files.map_or(options.jobs_per_matrix, |most| {
        most.min(options.jobs_per_matrix)
    });
    let cache_limit_mb = compat
        .limit("actions-cache")
        .map_or(u64::MAX, |row| row.value);
    let mut plan = Plan {
        groups,
        published: Vec::new(),
        jobs_per_matrix,
        cache_limit_mb,
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
    leave_out_published(&mut plan, options);
    warn_of_idle_values(&plan, sink);
    Some(plan)
}

fn leave_out_published(plan: &mut Plan, options: &PlanInputs) {
    if options.published.is_empty() {
        return;
    }
    // Jobs whose wheels have names alike before the build need one wheel each.
    let mut wanted: BTreeMap<String, usize> = BTreeMap::new();
    for wheel in plan.jobs().flat_map(JobView::wheels) {
        *wanted.entry(wheel).or_default() += 1;
    }
    wanted.retain(|wheel, count| {
        wheel
            .parse()
            .is_ok_and(|name| options.published.count(&name) >= *count)
    });
    let mut left_out = Vec::new();
    for group in &mut plan.groups {
        let drafts = std::mem::take(&mut group.drafts);
        let (skipped, drafts) = drafts.into_iter().partition(|draft| {
            let job = JobView {
                group,
                draft,
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
                left_out.extend(job.wheels().chain(archive));
            }
            present
        });
        group.drafts = drafts;
        group.skipped = skipped;
    }
    left_out.sort();
    plan.published = left_out;
}
