//! Turns legs into compact jobs.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::collapse::{add_covered_cell, axes_to_collapse};
use super::estimate::{EstimateQuery, estimate};
use super::extra_wheels::{ExtraWheels, JobNameValues};
use super::interned_values::{
    CompactJob, DeviceCode, DeviceCodeKey, EstimateKey, ExtraWheelsKey, InternedValues, LabelKey,
    RunnerChoice, RunnerChoiceKey, TagKey,
};
use super::machine_kind::{MachineKind, machines_of};
use super::naming::{CellValues, LabelFactory, name_end, platform_tag};
use super::override_rows::OverrideRows;
use super::unsupported_families::UnsupportedFamilies;
use super::{BuildEstimate, PlanInputs};
use crate::config::{
    AxisRole, GpuPolicy, Leaves, MatrixConfig, PythonFrom, RecipeBackend, RecipeProfile,
    RowOverrides, RunnerSelector,
};
use crate::matrix::{AxisSpace, CellRank};
use rock_compat::Compat;
use rock_diagnostic::Sink;
use rock_template::ExpressionEnv;

/// The roles that at most one axis has: all but [`AxisRole::Field`].
const ROLES: [AxisRole; 6] = [
    AxisRole::Package,
    AxisRole::Python,
    AxisRole::Torch,
    AxisRole::Rocm,
    AxisRole::Backend,
    AxisRole::Gfx,
];

/// Creates the compact jobs of one group.
pub(super) struct CompactJobBuilder<'a> {
    pub(super) config: &'a MatrixConfig,
    pub(super) profile: &'a RecipeProfile,
    pub(super) space: &'a AxisSpace,
    pub(super) compat: &'a Compat,
    labels: &'a LabelFactory,
    options: &'a PlanInputs,
    pub(super) overrides: OverrideRows<'a>,
    extra_wheels: ExtraWheels<'a>,
    pub(super) unsupported: UnsupportedFamilies<'a>,
    /// The positions of the axes in [`ROLES`].
    pub(super) axis_of_role: BTreeMap<AxisRole, usize>,
    runner_axis: Option<usize>,
    gpu_axis: Option<usize>,
    /// The collapsed axes of each backend.
    pub(super) axes_of_backends: Vec<(&'a RecipeBackend, Vec<usize>)>,
}

/// The jobs of a group.
pub(super) struct JobList {
    pub(super) jobs: Vec<CompactJob>,
    pub(super) interned: InternedValues,
    /// The cells without a job because none of their families or targets can be compiled, with the
    /// number of their device code, which has the reason.
    pub(super) cells_without_job: Vec<(CellRank, u32)>,
    /// The index of each collapsed job, by its cell with the values of the collapsed axes cleared.
    collapsed_jobs: HashMap<CellRank, usize>,
}

/// The cell that a job is created from, and what the keys of its interned values consist of.
struct JobCell<'c> {
    cell: CellRank,
    values: &'c CellValues<'c>,
    indexes: ValueIndexes,
    /// The number of the merged overrides of these rows.
    overrides: u32,
}

/// The value indexes of a cell; 0 if the matrix file has no such axis.
struct ValueIndexes {
    package: usize,
    python: usize,
    torch: usize,
    rocm: usize,
    backend: usize,
    gfx: usize,
    runner: usize,
    gpu: usize,
}

impl<'a> CompactJobBuilder<'a> {
    pub(super) fn new(
        config: &'a MatrixConfig,
        profile: &'a RecipeProfile,
        space: &'a AxisSpace,
        compat: &'a Compat,
        labels: &'a LabelFactory,
        expressions: &'a ExpressionEnv,
        options: &'a PlanInputs,
    ) -> Self {
        let axis_of_role = ROLES
            .into_iter()
            .filter_map(|role| Some((role, space.position(role)?)))
            .collect();
        Self {
            config,
            profile,
            space,
            compat,
            labels,
            options,
            overrides: OverrideRows::new(config, space),
            extra_wheels: ExtraWheels::new(config, profile, space, expressions),
            unsupported: UnsupportedFamilies::new(space, compat, config.platform),
            axis_of_role,
            axes_of_backends: profile
                .backends
                .iter()
                .map(|backend| (backend, axes_to_collapse(backend, config, space)))
                .collect(),
            runner_axis: space.position_of_name("runner"),
            gpu_axis: space.position_of_name("gpu"),
        }
    }

    /// Returns the legs whose values are selected. Absent values, and values of collapsed axes, are
    /// not compared: a job covers several of the latter.
    pub(super) fn selected<'l>(&self, legs: &'l [CellRank]) -> Cow<'l, [CellRank]> {
        let selection = &self.options.selection;
        if selection.is_empty() {
            return Cow::Borrowed(legs);
        }
        let is_selected = |cell: &CellRank| {
            let collapsed = self.collapsed_axes(&self.values(*cell));
            let columns = self.space.axes().iter().enumerate();
            columns
                .filter(|(axis, _)| !collapsed.contains(axis))
                .all(|(axis, column)| {
                    let value = self.space.value(*cell, axis);
                    value.is_none_or(|value| selection.allows(&column.name, value))
                })
        };
        legs.iter().copied().filter(is_selected).collect()
    }

    /// Returns the compact jobs of legs.
    pub(super) fn build(
        &self,
        interned: InternedValues,
        legs: &[CellRank],
        sink: &mut Sink,
    ) -> JobList {
        let mut list = JobList {
            jobs: Vec::with_capacity(legs.len()),
            interned,
            cells_without_job: Vec::new(),
            collapsed_jobs: HashMap::new(),
        };
        let legs = self.collapsible_legs(&mut list, legs);
        let built_cells = self.built_cells(&legs);
        for &cell in &*legs {
            let values = self.values(cell);
            let axes = self.collapsed_axes(&values);
            let added = if axes.is_empty() {
                self.job_of_cell(&mut list.interned, cell, &values, sink)
                    .map(|job| list.jobs.push(job))
            } else {
                self.add_to_collapsed_job(&mut list, &built_cells, cell, axes, sink)
            };
            if let Err(device_code) = added {
                list.cells_without_job.push((cell, device_code));
            }
        }
        list
    }

    /// Returns the values of a cell.
    ///
    /// # Panics
    /// If the recipe does not have the backend of the cell, which `check_backends` reports as an
    /// error: a plan with errors has no jobs.
    pub(super) fn values(&self, cell: CellRank) -> CellValues<'a> {
        CellValues::of(self.space, cell, self.profile)
            .expect("the backends of all cells were checked")
    }

    /// Adds a cell to the job that covers all its values of `axes`, which is created for the first
    /// of these cells. Without a job, returns the number of the device code.
    fn add_to_collapsed_job(
        &self,
        list: &mut JobList,
        built_cells: &HashMap<CellRank, CellRank>,
        cell: CellRank,
        axes: &[usize],
        sink: &mut Sink,
    ) -> Result<(), u32> {
        let key = self.clear_axes(cell, axes);
        let index = match list.collapsed_jobs.get(&key) {
            Some(index) => *index,
            None => {
                let built = built_cells.get(&key).copied().unwrap_or(cell);
                let values = self.values(built);
                let job = self.job_of_cell(&mut list.interned, built, &values, sink)?;
                list.jobs.push(job);
                let index = list.jobs.len() - 1;
                list.collapsed_jobs.insert(key, index);
                index
            }
        };
        add_covered_cell(&mut list.interned, &mut list.jobs[index], axes, cell);
        Ok(())
    }

    /// Returns the job of a cell. If none of its families or targets can be compiled, returns the
    /// number of its device code instead.
    fn job_of_cell(
        &self,
        interned: &mut InternedValues,
        cell: CellRank,
        values: &CellValues<'_>,
        sink: &mut Sink,
    ) -> Result<CompactJob, u32> {
        let job = self.compact_job(interned, cell, values, sink);
        let device_code = interned.device_codes.get(job.device_code);
        if device_code.no_job.is_some() {
            return Err(job.device_code);
        }
        Ok(job)
    }

    /// Returns the value index of a cell on the axis with this role, 0 if there is none.
    pub(super) fn index(&self, cell: CellRank, role: AxisRole) -> usize {
        self.axis_of_role
            .get(&role)
            .map_or(0, |&axis| self.space.index(cell, axis))
    }

    fn compact_job(
        &self,
        interned: &mut InternedValues,
        cell: CellRank,
        values: &CellValues<'_>,
        sink: &mut Sink,
    ) -> CompactJob {
        let job_cell = self.job_cell(interned, cell, values);
        let label = self.intern_label(interned, &job_cell, sink);
        let device_code = self.intern_device_code(interned, &job_cell);
        let runner_choice = self.intern_runner_choice(interned, &job_cell);
        let mut job = CompactJob {
            cell,
            label,
            tag: self.intern_tag(interned, &job_cell, device_code, runner_choice),
            device_code,
            runner_choice,
            estimate: self.intern_estimate(interned, &job_cell, device_code, runner_choice),
            overrides: job_cell.overrides,
            wheels: InternedValues::NO_WHEELS,
            covers: 0,
        };
        if !self.extra_wheels.is_none() {
            job.wheels = self.intern_extra_wheels(interned, &job_cell, &job, sink);
        }
        job
    }

    /// Returns a cell with the keys of its interned values.
    fn job_cell<'c>(
        &self,
        interned: &mut InternedValues,
        cell: CellRank,
        values: &'c CellValues<'c>,
    ) -> JobCell<'c> {
        let rows = self.overrides.matching(self.space, cell);
        JobCell {
            cell,
            values,
            indexes: self.value_indexes(cell),
            overrides: self.intern_overrides(interned, &rows),
        }
    }

    /// Returns the number of the device code of a cell.
    pub(super) fn device_code_of(&self, interned: &mut InternedValues, cell: CellRank) -> u32 {
        let values = self.values(cell);
        let job_cell = self.job_cell(interned, cell, &values);
        self.intern_device_code(interned, &job_cell)
    }

    fn value_indexes(&self, cell: CellRank) -> ValueIndexes {
        let index = |axis: Option<usize>| axis.map_or(0, |axis| self.space.index(cell, axis));
        let of_role = |role: AxisRole| index(self.axis_of_role.get(&role).copied());
        ValueIndexes {
            package: of_role(AxisRole::Package),
            python: of_role(AxisRole::Python),
            torch: of_role(AxisRole::Torch),
            rocm: of_role(AxisRole::Rocm),
            backend: of_role(AxisRole::Backend),
            gfx: of_role(AxisRole::Gfx),
            runner: index(self.runner_axis),
            gpu: index(self.gpu_axis),
        }
    }

    fn intern_label(
        &self,
        interned: &mut InternedValues,
        job_cell: &JobCell<'_>,
        sink: &mut Sink,
    ) -> u32 {
        let is_torch_collapsed = self.is_collapsed(AxisRole::Torch, job_cell.values);
        let is_rocm_collapsed = self.is_collapsed(AxisRole::Rocm, job_cell.values);
        let package = interned.packages.get(job_cell.indexes.package);
        let key = LabelKey {
            torch: index_unless(is_torch_collapsed, job_cell.indexes.torch),
            rocm: index_unless(is_rocm_collapsed, job_cell.indexes.rocm),
            commit: package.map_or(0, |package| package.commit),
            backend: job_cell.indexes.backend,
        };
        interned.labels.intern(key, || {
            let values = CellValues {
                torch: job_cell.values.torch.filter(|_| !is_torch_collapsed),
                ..*job_cell.values
            };
            if is_rocm_collapsed {
                LabelFactory::label_without_rocm(&values)
            } else {
                self.labels.label(&values, self.config, sink)
            }
        })
    }

    fn intern_device_code(&self, interned: &mut InternedValues, job_cell: &JobCell<'_>) -> u32 {
        let package = interned.packages.get(job_cell.indexes.package);
        let key = DeviceCodeKey {
            package: package
                .filter(|package| package.has_gfx_limits)
                .map(|_| job_cell.indexes.package),
            rocm: job_cell.indexes.rocm,
            backend: job_cell.indexes.backend,
            gfx: job_cell.indexes.gfx,
            has_torch: job_cell.values.torch.is_some(),
            overrides: job_cell.overrides,
            unsupported: self.unsupported.of(self.space, job_cell.cell),
        };
        interned.device_codes.intern(key, || {
            let overrides = interned.overrides.get(job_cell.overrides);
            self.device_code(job_cell.cell, job_cell.values, key.unsupported, overrides)
        })
    }

    fn intern_runner_choice(&self, interned: &mut InternedValues, job_cell: &JobCell<'_>) -> u32 {
        let is_python_of_image = self.config.python_from == PythonFrom::Image;
        let key = RunnerChoiceKey {
            torch: job_cell.indexes.torch,
            rocm: job_cell.indexes.rocm,
            python: is_python_of_image.then_some(job_cell.indexes.python),
            runner: job_cell.indexes.runner,
            gpu: job_cell.indexes.gpu,
            overrides: job_cell.overrides,
        };
        interned.runner_choices.intern(key, || {
            self.runner_choice(
                job_cell.cell,
                job_cell.values,
                interned.overrides.get(job_cell.overrides),
            )
        })
    }

    fn intern_tag(
        &self,
        interned: &mut InternedValues,
        job_cell: &JobCell<'_>,
        device_code: u32,
        runner_choice: u32,
    ) -> u32 {
        let leaves = self.profile.leaves;
        let has_targets = match leaves {
            Leaves::Wheels | Leaves::Sdist => false,
            Leaves::Archive | Leaves::Tree => true,
        };
        let choice = interned.runner_choices.get(runner_choice);
        let key = TagKey {
            python: job_cell.indexes.python,
            backend: job_cell.indexes.backend,
            device_code: has_targets.then_some(device_code),
            arch: choice.arch_number,
        };
        interned.tags.intern(key, || {
            let targets = &interned.device_codes.get(device_code).gfx;
            name_end(job_cell.values, leaves, targets, &choice.platform)
        })
    }

    fn intern_estimate(
        &self,
        interned: &mut InternedValues,
        job_cell: &JobCell<'_>,
        device_code: u32,
        runner_choice: u32,
    ) -> u32 {
        let key = EstimateKey {
            device_code,
            runner_choice,
            backend: job_cell.indexes.backend,
            overrides: job_cell.overrides,
        };
        interned.estimates.intern(key, || {
            self.estimate(
                job_cell.values,
                interned.device_codes.get(device_code),
                interned.runner_choices.get(runner_choice),
                interned.overrides.get(job_cell.overrides),
            )
        })
    }

    fn intern_extra_wheels(
        &self,
        interned: &mut InternedValues,
        job_cell: &JobCell<'_>,
        job: &CompactJob,
        sink: &mut Sink,
    ) -> u32 {
        let package = job_cell.indexes.package;
        let key = ExtraWheelsKey {
            label: job.label,
            tag: job.tag,
            overrides: job.overrides,
            name_values: self
                .extra_wheels
                .name_values(job_cell.cell, package, job.device_code),
        };
        interned.wheels.intern(key, || {
            let package = interned.packages.get(package);
            let own = JobNameValues {
                version: package.and_then(|package| package.version.as_ref()),
                label: interned.labels.get(job.label).as_ref(),
                device: interned.device_codes.get(job.device_code),
                platform: &interned.runner_choices.get(job.runner_choice).platform,
            };
            let overrides = interned.overrides.get(job.overrides);
            self.extra_wheels
                .of(job_cell.cell, job_cell.values, &own, overrides, sink)
        })
    }

    fn intern_overrides(&self, interned: &mut InternedValues, rows: &[usize]) -> u32 {
        if rows.is_empty() {
            // Skip the interner: comparing two empty keys in it took two fifths of the time of
            // planning a million jobs.
            return InternedValues::NO_OVERRIDES;
        }
        interned
            .overrides
            .intern(rows.to_vec(), || self.overrides.merged(rows))
    }

    fn runner_choice(
        &self,
        cell: CellRank,
        values: &CellValues<'_>,
        overrides: &RowOverrides,
    ) -> RunnerChoice {
        let text = |axis: Option<usize>| {
            axis.and_then(|axis| self.space.value(cell, axis))
                .map(|v| v.text.as_str())
        };
        let of_axis = text(self.runner_axis).map(RunnerSelector::label);
        let runner = overrides
            .runner
            .as_ref()
            .or(of_axis.as_ref())
            .unwrap_or(&self.config.runner);
        let machines = machines_of(runner, self.compat);
        let gpu = overrides
            .gpu
            .or(text(self.gpu_axis).and_then(GpuPolicy::from_word))
            .unwrap_or(self.config.gpu);
        let (image, note) = match &overrides.image {
            Some(image) => (Some(image.clone()), None),
            None => super::image::choose(self.config, self.compat, values),
        };
        let arch = machines.first().map_or("", |machine| &machine.arch);
        let image_glibc = image
            .as_deref()
            .and_then(|image| self.compat.glibc_of_image(image));
        RunnerChoice {
            platform: platform_tag(self.config.platform, arch),
            arch_number: self
                .compat
                .tables()
                .runners
                .iter()
                .position(|row| row.arch == arch)
                .unwrap_or(usize::MAX),
            image,
            image_glibc,
            note,
            gpu,
            // For a runner pool, estimate with its smallest member.
            threads: self
                .options
                .runner
                .map(|shape| shape.threads)
                .or(least(&machines, |machine| machine.threads)),
            limit_min: least(&machines, |machine| machine.limit_min),
            tested_at: match &self.config.test.runner {
                runner if runner.is_empty() => Vec::new(),
                runner => machines_of(runner, self.compat),
            },
            machines,
        }
    }

    fn estimate(
        &self,
        values: &CellValues<'_>,
        device_code: &DeviceCode,
        runner_choice: &RunnerChoice,
        overrides: &RowOverrides,
    ) -> Option<BuildEstimate> {
        let levers = &values.backend.levers;
        estimate(
            &self.compat.tables().build_costs,
            &EstimateQuery {
                package: &self.profile.package,
                backend: &values.backend.name,
                targets: u32::try_from(device_code.gfx.len()).unwrap_or(u32::MAX),
                threads: runner_choice.threads?,
                limit_min: runner_choice.limit_min,
                levers: &self.unused_levers(levers, overrides),
                uncounted: &self.variables_in_use(levers, overrides),
            },
        )
    }

    /// Returns the ways to shorten a build that are not in use yet. One that sets a variable is
    /// dropped if the matrix file sets that value.
    fn unused_levers(&self, levers: &[String], overrides: &RowOverrides) -> Vec<String> {
        let is_set = |lever: &&String| {
            setting(lever)
                .is_some_and(|(name, value)| self.variable(name, overrides) == Some(value))
        };
        levers
            .iter()
            .filter(|lever| !is_set(lever))
            .cloned()
            .collect()
    }

    /// Returns the variables of these ways to shorten a build that the matrix file sets or has as
    /// axes.
    fn variables_in_use(&self, levers: &[String], overrides: &RowOverrides) -> Vec<String> {
        let names = levers.iter().filter_map(|lever| Some(setting(lever)?.0));
        names
            .filter(|name| {
                self.space.position_of_name(name).is_some()
                    || self
                        .variable(name, overrides)
                        .is_some_and(|value| !value.is_empty())
            })
            .map(str::to_owned)
            .collect()
    }

    /// Returns the value of a recipe variable in the matrix file.
    fn variable<'v>(&'v self, name: &str, overrides: &'v RowOverrides) -> Option<&'v str> {
        let value = overrides.vars.get(name);
        value
            .or_else(|| self.config.vars.get(name))
            .map(String::as_str)
    }
}

/// Returns the variable and the value that a way to shorten a build begins with, such as
/// `` `opt-dim: "128"` ``.
fn setting(lever: &str) -> Option<(&str, &str)> {
    let (name, value) = lever
        .strip_prefix('`')?
        .split_once('`')?
        .0
        .split_once(": ")?;
    Some((name, value.trim_matches('"')))
}

/// Returns the value index, or 0 for a collapsed axis.
fn index_unless(is_collapsed: bool, index: usize) -> usize {
    if is_collapsed { 0 } else { index }
}

fn least(machines: &[MachineKind], of: impl Fn(&MachineKind) -> Option<u32>) -> Option<u32> {
    machines.iter().filter_map(of).min()
}
