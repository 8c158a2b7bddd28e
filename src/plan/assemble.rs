//! Legs to jobs.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use itertools::Itertools as _;

use super::architecture::check_architectures;
use super::draft::Drafting;
use super::job::FAMILY;
use super::naming::Labels;
use super::shared::{Draft, Shared};
use super::view::JobView;
use super::{Options, collide};
use crate::codes::matrix;
use crate::codes::plan as codes;
use crate::compat::Compat;
use crate::config::{
    AxisRole, Backend, CheckProfile, Config, Leaves, Profile, RepairPlatform, Switch, VersionFrom,
};
use crate::diagnostic::{Diagnostic, Sink, nearest::nearest, shell_quoted};
use crate::matrix::{Excluded, Universe, expand};

/// All jobs of some matrix files, with what was left out and why.
///
/// Jobs are kept in a compact form and made whole by [`Plan::jobs`], so that a million of them fit
/// in memory.
#[derive(Debug)]
pub struct Plan {
    /// One group a matrix file, in the order given.
    pub groups: Vec<Group>,
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
pub struct Group {
    /// The matrix file.
    pub config: Config,
    /// The planning side of its recipe.
    pub profile: Profile,
    /// The axes with all values.
    pub universe: Universe,
    /// What was left out.
    pub excluded: Vec<Excluded>,
    /// Cells looked at.
    pub raw: u64,
    /// Legs before collapsing and before leaving out published ones.
    pub legs: u64,
    /// Legs that have no job of their own, because their wheel is another job's.
    pub shared_legs: u64,
    /// Names of the wheels that jobs were left out for because they did not fail in a run, in the
    /// order of the jobs.
    pub not_failed: Vec<String>,
    pub(super) drafts: Vec<Draft>,
    /// Jobs that were left out because their files are published.
    pub(super) skipped: Vec<Draft>,
    pub(super) shared: Shared,
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
        let builds: usize = cached.map(Group::job_count).sum();
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

impl Group {
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
pub fn first_reasons(groups: &[Group]) -> Vec<String> {
    let reasons = groups
        .iter()
        .flat_map(|group| &group.excluded)
        .map(|row| row.reason.clone());
    reasons.unique().take(REASONS_SHOWN).collect()
}

/// Makes the plan of several matrix files. Every fault of every file goes to the sink; `None` when
/// the jobs would not be sound.
pub fn plan(
    files: Vec<(Config, Profile)>,
    compat: &Compat,
    options: &Options,
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
    let labels = Labels::new(
        compat,
        expanded.iter().map(|(_, _, expansion)| &expansion.universe),
    );
    let mut groups = Vec::new();
    for (config, profile, expansion) in expanded {
        let drafting = Drafting::new(
            &config,
            &profile,
            &expansion.universe,
            compat,
            &labels,
            options,
        );
        let shared = Shared::of(&config, &profile, &expansion.universe, compat);
        let (drafts, shared, refused) = drafting.all(shared, &expansion.legs, sink);
        let legs = expansion.legs.len() as u64 - refused.iter().map(|row| row.count).sum::<u64>();
        let universe = expansion.universe;
        let excluded = expansion.excluded.into_iter().chain(refused).collect();
        groups.push(Group {
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
    collide::check(&plan, sink);
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

/// Every backend of the axis must be one of the recipe's.
fn check_backends(config: &Config, profile: &Profile, sink: &mut Sink) {
    let known = || profile.backends.iter().map(|backend| backend.name.as_str());
    for axis in config
        .axes
        .iter()
        .filter(|axis| axis.role == AxisRole::Backend)
    {
        for (number, value) in axis.values.iter().enumerate() {
            if profile.backend(Some(&value.text)).is_none() {
                let names: Vec<&str> = known().collect();
                let help = match nearest(&value.text, known()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the recipe knows {}", names.join(", ")),
                };
                sink.push(
                    Diagnostic::new(
                        &codes::UNKNOWN_BACKEND,
                        format!("recipe `{}` has no backend `{}`", profile.name, value.text),
                    )
                    .at(
                        config.places.of(&format!("axes.{}[{number}]", axis.name)),
                        "",
                    )
                    .help(help),
                );
            }
        }
    }
}

fn check_version_axis(config: &Config, sink: &mut Sink) {
    let named = config
        .axes
        .iter()
        .any(|axis| axis.role == AxisRole::Package);
    let in_rows = config.axes.is_empty()
        && config
            .rows
            .iter()
            .all(|row| row.axes.contains_key(config.distribution.as_str()));
    if !named && !in_rows {
        sink.push(
            Diagnostic::new(
                &codes::NO_VERSION_AXIS,
                format!("no axis names the versions of {}", config.distribution),
            )
            .at(config.places.of("axes"), "")
            .help(format!("add `{}: [\"…\"]` to `axes`", config.distribution)),
        );
    }
}

/// The recipe says which axes it cannot do without.
fn check_required_axes(config: &Config, profile: &Profile, sink: &mut Sink) {
    for name in &profile.requires {
        let is_axis = config.axes.iter().any(|axis| axis.name == *name);
        let in_rows =
            !config.rows.is_empty() && config.rows.iter().all(|row| row.axes.contains_key(name));
        if !is_axis && !in_rows {
            let message = format!(
                "no axis `{name}`, and the recipe `{}` needs one",
                profile.name
            );
            sink.push(
                Diagnostic::new(&codes::MISSING_AXIS, message)
                    .at(config.places.of("axes"), "")
                    .help(format!("add `{name}: [\"…\"]` to `axes`")),
            );
        }
    }
}

/// Checks `collapse` of a matrix file: it lists axes of the file that the recipe lets a backend
/// collapse.
fn check_collapse(config: &Config, profile: &Profile, sink: &mut Sink) {
    for (number, name) in config.collapse.iter().enumerate() {
        let place = config.places.of(&format!("collapse[{number}]"));
        let fault = |message: String| {
            Diagnostic::new(&codes::CANNOT_COLLAPSE, message).at(place.clone(), "")
        };
        let allows = |backend: &Backend| {
            backend.collapse.contains(name) || backend.collapsible.contains(name)
        };
        let in_rows = config.rows.iter().any(|row| row.axes.contains_key(name));
        if !profile.backends.iter().any(allows) {
            let message = format!(
                "the recipe `{}` builds no wheels that are the same for several `{name}`",
                profile.name
            );
            sink.push(
                fault(message).help(
                    "remove it, or list it under `collapsible` of a backend of your own recipe",
                ),
            );
        } else if !in_rows && !config.axes.iter().any(|axis| axis.name == *name) {
            sink.push(fault(format!("there is no axis `{name}` to collapse")).help("remove it"));
        }
    }
}

/// Checks that every job has the required variables of its recipe, from `vars`, an axis, or its own
/// row.
fn check_required_variables(plan: &Plan, sink: &mut Sink) {
    for (number, group) in plan.groups.iter().enumerate() {
        let of_file = |name: &String| {
            group
                .config
                .vars
                .get(name)
                .is_some_and(|value| !value.is_empty())
        };
        for name in group
            .profile
            .required_vars
            .iter()
            .filter(|name| !of_file(name))
        {
            let lacks = |job: &JobView<'_>| job.own_vars().get(name).is_none_or(String::is_empty);
            let lacking: Vec<String> = group.jobs(number).filter(lacks).map(JobView::id).collect();
            let Some(first) = lacking.first() else {
                continue;
            };
            let message = format!(
                "the recipe `{}` needs the variable `{name}`, which is not set",
                group.profile.name
            );
            let places = &group.config.places;
            let key = ["vars", "recipe"]
                .into_iter()
                .find(|key| places.span(key).is_some_and(|span| !span.is_empty()));
            let place = places.of(key.unwrap_or("distribution"));
            let mut fault = Diagnostic::new(&codes::MISSING_VARIABLE, message).at(place, "");
            if lacking.len() < group.job_count() {
                fault = fault.note(format!(
                    "{} of {} jobs lack it, such as `{first}`",
                    lacking.len(),
                    group.job_count()
                ));
            }
            let command = format!("`rock-matrix recipe show {}`", group.profile.name);
            sink.push(fault.help(format!(
                "set `{name}` under `vars`; {command} says what it is for"
            )));
        }
    }
}

/// The address of an index that names the family is that of one family.
fn check_family_of_indexes(plan: &Plan, sink: &mut Sink) {
    for (number, group) in plan.groups.iter().enumerate() {
        let named = group
            .config
            .indexes
            .iter()
            .find(|(_, address)| address.contains(FAMILY));
        let Some((name, address)) = named else {
            continue;
        };
        if let Some(job) = group.jobs(number).find(|job| job.families().len() != 1) {
            let families = job.families().join(";");
            let message = format!(
                "`{address}` is the index of one family, and the job `{}` is for `{families}`",
                job.id()
            );
            let fault = Diagnostic::new(&matrix::BAD_INDEX, message)
                .at(group.config.places.of(&format!("indexes.{name}")), "");
            sink.push(fault.help(
                "list each family as a value of the axis `gfx`, or name an index of all families",
            ));
        }
    }
}

fn leave_out_published(plan: &mut Plan, options: &Options) {
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

/// Warns of axis values that no leg has: writing them had no effect.
fn warn_of_idle_values(plan: &Plan, sink: &mut Sink) {
    for group in plan
        .groups
        .iter()
        .filter(|group| group.config.enabled && !group.drafts.is_empty())
    {
        let universe = &group.universe;
        let mut used: Vec<Vec<bool>> = universe
            .axes()
            .iter()
            .map(|column| vec![false; column.values.len()])
            .collect();
        let mut missing: usize = universe.axes().iter().map(|column| column.product).sum();
        for draft in &group.drafts {
            for (axis, used) in used.iter_mut().enumerate() {
                let index = universe.index(draft.cell, axis);
                if !used[index] {
                    used[index] = true;
                    missing = missing.saturating_sub(1);
                }
            }
            if missing == 0 {
                break;
            }
        }
        for (axis, indexes) in group.shared.covers.iter().flatten() {
            for &index in indexes {
                used[*axis][index] = true;
            }
        }
        if !plan.published.is_empty() {
            continue;
        }
        for (axis, column) in universe.axes().iter().enumerate() {
            for index in (0..column.product).filter(|&index| !used[axis][index]) {
                let text = column.values[index]
                    .as_ref()
                    .map(|value| value.text.as_str())
                    .unwrap_or_default();
                sink.push(
                    Diagnostic::new(
                        &codes::VALUE_WITHOUT_JOB,
                        format!("no job has {} {text}", column.name),
                    )
                    .at(
                        group
                            .config
                            .places
                            .of(&format!("axes.{}[{index}]", column.name)),
                        "every cell is left out",
                    )
                    .help(format!(
                        "see the reasons with `rock-matrix plan --explain {}`",
                        shell_quoted(&*group.config.places.source().path)
                    )),
                );
            }
        }
    }
}
