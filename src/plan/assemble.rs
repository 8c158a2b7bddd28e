//! Legs to jobs.

use std::collections::{BTreeMap, HashMap};

use super::estimate::{Question, estimate};
use super::naming::{Labels, Words, wheel_tag};
use super::pool::Pool;
use super::view::JobView;
use super::{DroppedGfx, Estimate, Options, collide, id};
use crate::compat::Compat;
use crate::config::{AxisRole, Config, Gfx, GpuPolicy, Overrides, Profile, Row, TorchFrom, Word};
use crate::diagnostic::{Diagnostic, Sink, nearest::nearest, registry::plan as codes};
use crate::matrix::{Cell, Excluded, Universe, choose_gfx, expand};
use crate::names::{GfxTarget, LocalLabel, PackageVersion, Version};

/// All jobs of some matrix files, with what was left out and why.
///
/// Jobs are kept in a compact form and made whole by [`Plan::jobs`], so that a million of them fit in memory.
#[derive(Debug)]
pub struct Plan {
    /// One group a matrix file, in the order given.
    pub groups: Vec<Group>,
    /// Names of the wheels that jobs were left out for because they are published, sorted.
    pub published: Vec<String>,
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
    pub(super) drafts: Vec<Draft>,
    pub(super) shared: Shared,
}

/// A job in compact form: a cell, and numbers of shared values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draft {
    pub(super) cell: Cell,
    pub(super) label: u32,
    pub(super) tag: u32,
    pub(super) device: u32,
    pub(super) site: u32,
    pub(super) estimate: u32,
    pub(super) changes: u32,
    /// 0: covers itself only; else 1 + index into `Shared::covers`.
    pub(super) covers: u32,
}

/// Values that many jobs of a group share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Parts of ids: axis position → value index → part.
    pub(super) id_parts: Vec<Vec<String>>,
    /// Axis positions in the order in which ids name them.
    pub(super) id_order: Vec<usize>,
    /// By value index on the package axis; one entry of nothing without such an axis.
    pub(super) packages: Vec<Package>,
    /// By torch, ROCm, commit (0 for releases), backend.
    pub(super) labels: Pool<[usize; 4], Option<LocalLabel>>,
    /// By Python and backend.
    pub(super) tags: Pool<[usize; 2], String>,
    /// By kind of package, ROCm, backend, gfx axis, changes.
    pub(super) devices: Pool<[usize; 5], Device>,
    /// By torch, ROCm, Python, runner axis, gpu axis, changes.
    pub(super) sites: Pool<[usize; 6], Site>,
    /// By device, site and backend.
    pub(super) estimates: Pool<[usize; 3], Option<Estimate>>,
    /// By the rows that match.
    pub(super) changes: Pool<Vec<usize>, Overrides>,
    /// Value indexes on the collapsed axis.
    pub(super) covers: Vec<(usize, Vec<usize>)>,
}

/// What one value of the package axis stands for.
#[derive(Debug, Default)]
pub(super) struct Package {
    /// The public version that the wheel carries.
    pub(super) version: Option<Version>,
    /// Its PEP 440 normal form; `0` while it is not known.
    pub(super) normalized: String,
    /// The first value with the same facts: values of one kind compile the same device code.
    kind: usize,
    /// The commit's place among the values; 0 for releases.
    commit: usize,
    /// Warnings by backend.
    pub(super) warnings: BTreeMap<String, String>,
}

/// What device code a job compiles.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) gfx: Vec<GfxTarget>,
    pub(super) dropped: Vec<DroppedGfx>,
}

/// Where a job runs.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) image: Option<String>,
    pub(super) note: Option<String>,
    pub(super) runner: Vec<String>,
    pub(super) gpu: GpuPolicy,
    pub(super) threads: Option<u32>,
    pub(super) limit_min: Option<u32>,
}

impl Plan {
    /// Every job, group by group, in the order of each file's axes.
    pub fn jobs(&self) -> impl Iterator<Item = JobView<'_>> {
        self.groups.iter().enumerate().flat_map(|(number, group)| group.jobs(number))
    }

    /// How many jobs there are.
    pub fn job_count(&self) -> usize {
        self.groups.iter().map(|group| group.drafts.len()).sum()
    }
}

impl Group {
    /// The jobs of this group; `number` is its place in the plan.
    pub fn jobs(&self, number: usize) -> impl Iterator<Item = JobView<'_>> {
        self.drafts.iter().map(move |draft| JobView { group: self, draft, number })
    }

    /// How many jobs there are.
    pub fn job_count(&self) -> usize {
        self.drafts.len()
    }
}

/// Makes the plan of several matrix files. Every fault of every file goes to the sink; `None` when the jobs would not
/// be sound.
pub fn plan(files: Vec<(Config, Profile)>, compat: &Compat, options: &Options, sink: &mut Sink) -> Option<Plan> {
    let errors = sink.error_count();
    let mut expanded = Vec::new();
    for (config, profile) in files {
        check_backends(&config, &profile, sink);
        check_version_axis(&config, sink);
        if let Some(expansion) = expand(&config, &profile, compat, sink) {
            expanded.push((config, profile, expansion));
        }
    }
    if sink.error_count() > errors {
        return None;
    }
    let labels = Labels::new(compat, expanded.iter().map(|(_, _, expansion)| &expansion.universe));
    let mut groups = Vec::new();
    for (config, profile, expansion) in expanded {
        let legs = expansion.legs.len() as u64;
        let mut draft = Drafting::new(&config, &profile, &expansion.universe, compat, &labels, options);
        let drafts = draft.all(&expansion.legs, sink);
        let shared = draft.shared;
        let universe = expansion.universe;
        groups.push(Group {
            config,
            profile,
            universe,
            excluded: expansion.excluded,
            raw: expansion.raw,
            legs,
            drafts,
            shared,
        });
    }
    let mut plan = Plan { groups, published: Vec::new() };
    collide::check(&plan, sink);
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
    for axis in config.axes.iter().filter(|axis| axis.role == AxisRole::Backend) {
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
                    .at(config.places.of(&format!("axes.{}[{number}]", axis.name)), "")
                    .help(help),
                );
            }
        }
    }
}

fn check_version_axis(config: &Config, sink: &mut Sink) {
    let named = config.axes.iter().any(|axis| axis.role == AxisRole::Package);
    let in_rows =
        config.axes.is_empty() && config.rows.iter().all(|row| row.axes.contains_key(config.distribution.as_str()));
    if !named && !in_rows {
        sink.push(
            Diagnostic::new(&codes::NO_VERSION_AXIS, format!("no axis names the versions of {}", config.distribution))
                .at(config.places.of("axes"), "")
                .help(format!("add `{}: [\"…\"]` to `axes`", config.distribution)),
        );
    }
}

fn leave_out_published(plan: &mut Plan, options: &Options) {
    if options.published.is_empty() {
        return;
    }
    let mut left_out = Vec::new();
    for group in &mut plan.groups {
        let mut drafts = std::mem::take(&mut group.drafts);
        drafts.retain(|draft| {
            let wheel = JobView { group, draft, number: 0 }.wheel();
            let present = wheel.parse().is_ok_and(|name| options.published.contains(&name));
            if present {
                left_out.push(wheel);
            }
            !present
        });
        group.drafts = drafts;
    }
    left_out.sort();
    plan.published = left_out;
}

/// Warns of axis values that no leg has: writing them had no effect.
fn warn_of_idle_values(plan: &Plan, sink: &mut Sink) {
    for group in plan.groups.iter().filter(|group| group.config.enabled && !group.drafts.is_empty()) {
        let universe = &group.universe;
        let mut used: Vec<Vec<bool>> = universe.axes().iter().map(|column| vec![false; column.values.len()]).collect();
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
        for (axis, indexes) in &group.shared.covers {
            for &index in indexes {
                used[*axis][index] = true;
            }
        }
        if !plan.published.is_empty() {
            continue;
        }
        for (axis, column) in universe.axes().iter().enumerate() {
            for index in (0..column.product).filter(|&index| !used[axis][index]) {
                let text = column.values[index].as_ref().map(|value| value.text.as_str()).unwrap_or_default();
                sink.push(
                    Diagnostic::new(&codes::VALUE_WITHOUT_JOB, format!("no job has {} {text}", column.name))
                        .at(group.config.places.of(&format!("axes.{}[{index}]", column.name)), "every cell is left out")
                        .help(format!(
                            "see why with `rock-matrix plan --explain {}`",
                            group.config.places.source().path
                        )),
                );
            }
        }
    }
}

/// What every value of the package axis stands for.
fn packages(universe: &Universe, profile: &Profile, compat: &Compat) -> Vec<Package> {
    let Some(axis) = universe.position(AxisRole::Package) else { return vec![Package::default()] };
    let mut kinds: Vec<(Option<*const crate::compat::rows::PackageRow>, usize)> = Vec::new();
    let mut packages = Vec::new();
    for (index, value) in universe.axes()[axis].values.iter().enumerate() {
        let Some(Word::Package(asked)) = value.as_ref().map(|value| &value.value) else {
            packages.push(Package { normalized: "0".to_owned(), ..Package::default() });
            continue;
        };
        let row = compat.package(&profile.package, asked);
        let address = row.map(std::ptr::from_ref);
        let kind = match kinds.iter().find(|(known, _)| *known == address) {
            Some((_, kind)) => *kind,
            None => {
                kinds.push((address, index));
                index
            }
        };
        let version = match asked {
            PackageVersion::Released(version) => Some(version.clone()),
            PackageVersion::Commit { .. } => row.and_then(|row| row.version.parse().ok()),
        };
        packages.push(Package {
            normalized: version.as_ref().map_or_else(|| "0".to_owned(), Version::normalized),
            version,
            kind,
            commit: if matches!(asked, PackageVersion::Commit { .. }) { index + 1 } else { 0 },
            warnings: row.map(|row| row.warnings.clone()).unwrap_or_default(),
        });
    }
    packages
}

/// Makes the compact jobs of one group.
struct Drafting<'a> {
    config: &'a Config,
    profile: &'a Profile,
    universe: &'a Universe,
    compat: &'a Compat,
    labels: &'a Labels,
    options: &'a Options,
    rows: Vec<&'a Row>,
    at: BTreeMap<AxisRole, usize>,
    runner_axis: Option<usize>,
    gpu_axis: Option<usize>,
    shared: Shared,
}

impl<'a> Drafting<'a> {
    fn new(
        config: &'a Config,
        profile: &'a Profile,
        universe: &'a Universe,
        compat: &'a Compat,
        labels: &'a Labels,
        options: &'a Options,
    ) -> Self {
        let named = |name: &str| universe.axes().iter().position(|column| column.name == name);
        let at = universe.axes().iter().enumerate().map(|(axis, column)| (column.role, axis)).collect();
        let mut shared = Shared::default();
        for column in universe.axes() {
            let prefix = match column.role {
                AxisRole::Package => format!("{}-", config.distribution.normalized()),
                AxisRole::Rocm => "rocm".to_owned(),
                AxisRole::Torch => "torch".to_owned(),
                AxisRole::Python => "py".to_owned(),
                AxisRole::Backend => String::new(),
                AxisRole::Gfx | AxisRole::Field => format!("{}-", column.name.to_lowercase()),
            };
            let part = |value: &Option<_>| {
                value
                    .as_ref()
                    .map(|value: &crate::config::AxisValue| id::part(&prefix, &value.text))
                    .unwrap_or_default()
            };
            shared.id_parts.push(column.values.iter().map(part).collect());
        }
        let mut order: Vec<usize> = (0..universe.axes().len()).collect();
        let rank = |role| match role {
            AxisRole::Package => 0,
            AxisRole::Rocm => 1,
            AxisRole::Torch => 2,
            AxisRole::Python => 3,
            AxisRole::Gfx => 4,
            AxisRole::Field => 5,
            AxisRole::Backend => 6,
        };
        order.sort_by_key(|&axis| (rank(universe.axes()[axis].role), universe.axes()[axis].name.clone()));
        shared.id_order = order;
        shared.packages = packages(universe, profile, compat);
        Self {
            config,
            profile,
            universe,
            compat,
            labels,
            options,
            rows: config.rows.iter().chain(&config.include).collect(),
            at,
            runner_axis: named("runner"),
            gpu_axis: named("gpu"),
            shared,
        }
    }

    fn all(&mut self, legs: &[Cell], sink: &mut Sink) -> Vec<Draft> {
        let mut drafts: Vec<Draft> = Vec::with_capacity(legs.len());
        let mut collapsed: HashMap<Cell, usize> = HashMap::new();
        for &cell in legs {
            let Some(words) = Words::of(self.universe, cell, self.profile) else { continue };
            if let Some(axis) = self.collapsed_axis(&words) {
                let key = self.universe.with(cell, axis, 0);
                let index = self.universe.index(cell, axis);
                if let Some(&present) = collapsed.get(&key) {
                    self.cover(&mut drafts[present], axis, index, cell);
                    continue;
                }
                collapsed.insert(key, drafts.len());
                drafts.push(self.draft(cell, &words, sink));
                let last = drafts.len() - 1;
                self.cover(&mut drafts[last], axis, index, cell);
                continue;
            }
            drafts.push(self.draft(cell, &words, sink));
        }
        drafts
    }

    /// The axis whose legal values share one wheel for this backend.
    fn collapsed_axis(&self, words: &Words<'_>) -> Option<usize> {
        words.backend.collapse.iter().find_map(|name| {
            self.universe.axes().iter().position(|column| column.name == *name && column.values.len() > 1)
        })
    }

    /// Adds a value to what a job covers; the job runs under the lowest value that is not free-threaded.
    fn cover(&mut self, draft: &mut Draft, axis: usize, index: usize, cell: Cell) {
        if draft.covers == 0 {
            self.shared.covers.push((axis, Vec::new()));
            draft.covers = u32::try_from(self.shared.covers.len()).expect("fewer than 2^32 jobs fit in memory");
        }
        let covered = &mut self.shared.covers[draft.covers as usize - 1].1;
        if !covered.contains(&index) {
            covered.push(index);
        }
        let python = |cell: Cell| match self.universe.value(cell, axis).map(|value| &value.value) {
            Some(Word::Python(python)) => Some((python.is_free_threaded(), *python)),
            _ => None,
        };
        if python(cell) < python(draft.cell) {
            draft.cell = cell;
        }
    }

    fn index(&self, cell: Cell, role: AxisRole) -> usize {
        self.at.get(&role).map_or(0, |&axis| self.universe.index(cell, axis))
    }

    fn draft(&mut self, cell: Cell, words: &Words<'_>, sink: &mut Sink) -> Draft {
        let package = self.index(cell, AxisRole::Package);
        let (torch, rocm) = (self.index(cell, AxisRole::Torch), self.index(cell, AxisRole::Rocm));
        let (backend, python) = (self.index(cell, AxisRole::Backend), self.index(cell, AxisRole::Python));
        let gfx = self.index(cell, AxisRole::Gfx);
        let axis_index = |axis: Option<usize>| axis.map_or(0, |axis| self.universe.index(cell, axis));
        let (runner, gpu) = (axis_index(self.runner_axis), axis_index(self.gpu_axis));
        let matching = if self.rows.is_empty() {
            Vec::new()
        } else {
            (0..self.rows.len()).filter(|&row| self.universe.matches(cell, self.rows[row])).collect()
        };
        let rows = &self.rows;
        let mut shared = std::mem::take(&mut self.shared);
        let changes = shared.changes.number(matching.clone(), || merge(matching.iter().map(|&row| &rows[row].set)));
        let key = changes as usize;
        let (kind, commit) = shared.packages.get(package).map_or((0, 0), |package| (package.kind, package.commit));
        let label =
            shared.labels.number([torch, rocm, commit, backend], || self.labels.label(words, self.config, sink));
        let tag = shared.tags.number([python, backend], || wheel_tag(words, self.config.platform));
        let device = shared
            .devices
            .number([kind, rocm, backend, gfx, key], || self.device(cell, words, shared.changes.get(changes)));
        // The image depends on the Python only where that is the image's own.
        let python = if self.config.python_from == crate::config::PythonFrom::Image { python } else { 0 };
        let site = shared
            .sites
            .number([torch, rocm, python, runner, gpu, key], || self.site(cell, words, shared.changes.get(changes)));
        let estimate = shared.estimates.number([device as usize, site as usize, backend], || {
            self.estimate(words, shared.devices.get(device), shared.sites.get(site))
        });
        self.shared = shared;
        Draft { cell, label, tag, device, site, estimate, changes, covers: 0 }
    }

    fn device(&self, cell: Cell, words: &Words<'_>, changes: &Overrides) -> Device {
        let none = Device { gfx: Vec::new(), dropped: Vec::new() };
        if !words.backend.device_code {
            return none;
        }
        let wanted: &[GfxTarget] = match (self.universe.word(cell, AxisRole::Gfx), &changes.gfx, &self.config.gfx) {
            (Some(Word::Gfx(targets)), _, _) | (_, Some(targets), _) | (_, _, Gfx::Targets(targets)) => targets,
            (_, None, Gfx::Host) => return none,
        };
        let torch_wheels = self.config.torch_from == TorchFrom::PytorchIndex && words.torch.is_some();
        let package = (self.profile.package.as_str(), words.package);
        let choice = choose_gfx(wanted, self.compat, package, &words.backend.name, words.rocm, torch_wheels);
        let dropped = choice.dropped.into_iter().map(|(target, reason)| DroppedGfx { target, reason }).collect();
        Device { gfx: choice.kept, dropped }
    }

    fn site(&self, cell: Cell, words: &Words<'_>, changes: &Overrides) -> Site {
        let text = |axis: Option<usize>| axis.and_then(|axis| self.universe.value(cell, axis)).map(|v| v.text.as_str());
        let runner = changes.runner.as_deref().or(text(self.runner_axis)).unwrap_or(&self.config.runner);
        let row = self.compat.runner(runner);
        let gpu = changes.gpu.or(text(self.gpu_axis).and_then(GpuPolicy::from_word)).unwrap_or(self.config.gpu);
        let (image, note) = match &changes.image {
            Some(image) => (Some(image.clone()), None),
            None => super::image::choose(self.config, self.compat, words),
        };
        Site {
            image,
            note,
            runner: row.map_or_else(|| vec![runner.to_owned()], |row| row.labels.clone()),
            gpu,
            threads: self.options.runner.map(|shape| shape.threads).or(row.and_then(|row| row.threads)),
            limit_min: row.and_then(|row| row.limit_min),
        }
    }

    fn estimate(&self, words: &Words<'_>, device: &Device, site: &Site) -> Option<Estimate> {
        estimate(
            &self.compat.tables().build_costs,
            &Question {
                package: &self.profile.package,
                backend: &words.backend.name,
                targets: u32::try_from(device.gfx.len()).unwrap_or(u32::MAX),
                threads: site.threads?,
                limit_min: site.limit_min,
                levers: &words.backend.levers,
            },
        )
    }
}

fn merge<'a>(rows: impl Iterator<Item = &'a Overrides>) -> Overrides {
    rows.fold(Overrides::default(), |mut merged, row| {
        merged.runner = row.runner.clone().or(merged.runner);
        merged.gpu = row.gpu.or(merged.gpu);
        merged.gfx = row.gfx.clone().or(merged.gfx);
        merged.image = row.image.clone().or(merged.image);
        merged.vars.extend(row.vars.clone());
        merged
    })
}
