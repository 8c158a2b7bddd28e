//! Turns legs into compact jobs.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::collapse::collapsed;
use super::estimate::{EstimateQuery, estimate};
use super::extra_wheels::{ExtraWheels, JobNameValues};
use super::machine_kind::{MachineKind, machines_of};
use super::naming::{CellValues, LabelFactory, name_end, platform_tag};
use super::override_rows::OverrideRows;
use super::refused_values::RefusedValues;
use super::shared_values::{CompactJob, DeviceCode, DeviceCodeKey, RunnerChoice, SharedValues};
use super::{BuildEstimate, PlanInputs};
use crate::config::{
    AxisRole, GpuPolicy, Leaves, MatrixConfig, RecipeBackend, RecipeProfile, RowOverrides,
    RunnerSelector,
};
use crate::matrix::{AxisSpace, CellRank, ExclusionRow};
use rock_compat::Compat;
use rock_diagnostic::Sink;

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
    pub(super) refused: RefusedValues<'a>,
    /// The positions of the axes in [`ROLES`].
    pub(super) axis_of_role: BTreeMap<AxisRole, usize>,
    runner_axis: Option<usize>,
    gpu_axis: Option<usize>,
    /// For each backend, the axes whose values share one wheel.
    pub(super) collapsed: Vec<(&'a RecipeBackend, Vec<usize>)>,
}

/// The jobs of a group while they are created.
struct JobList {
    jobs: Vec<CompactJob>,
    /// The values that they share.
    shared: SharedValues,
    /// The index of the job of each collapsed cell, whose values on the collapsed axes are cleared.
    collapsed: HashMap<CellRank, usize>,
}

impl<'a> CompactJobBuilder<'a> {
    pub(super) fn new(
        config: &'a MatrixConfig,
        profile: &'a RecipeProfile,
        space: &'a AxisSpace,
        compat: &'a Compat,
        labels: &'a LabelFactory,
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
            extra_wheels: ExtraWheels::new(config, profile, space),
            refused: RefusedValues::new(space, compat, config.platform),
            axis_of_role,
            collapsed: profile
                .backends
                .iter()
                .map(|backend| (backend, collapsed(backend, config, space)))
                .collect(),
            runner_axis: space.position_of_name("runner"),
            gpu_axis: space.position_of_name("gpu"),
        }
    }

    /// Returns the legs whose values are selected. Absent values, and values that share one wheel,
    /// are not compared.
    pub(super) fn selected<'l>(&self, legs: &'l [CellRank]) -> Cow<'l, [CellRank]> {
        let selection = &self.options.selection;
        if selection.is_empty() {
            return Cow::Borrowed(legs);
        }
        let is_selected = |cell: &CellRank| {
            let shared = self.collapsed_axes(&self.values(*cell));
            let columns = self.space.axes().iter().enumerate();
            columns
                .filter(|(axis, _)| !shared.contains(axis))
                .all(|(axis, column)| {
                    let value = self.space.value(*cell, axis);
                    value.is_none_or(|value| selection.allows(&column.name, value))
                })
        };
        legs.iter().copied().filter(is_selected).collect()
    }

    /// Returns the compact jobs, the values that they share, and the cells without a job because
    /// none of their families can be built.
    pub(super) fn all(
        &self,
        shared: SharedValues,
        legs: &[CellRank],
        sink: &mut Sink,
    ) -> (Vec<CompactJob>, SharedValues, Vec<ExclusionRow>) {
        let mut list = JobList {
            jobs: Vec::with_capacity(legs.len()),
            shared,
            collapsed: HashMap::new(),
        };
        let first = self.first_cells(legs);
        let mut refused = Vec::new();
        for &cell in legs {
            let values = self.values(cell);
            let axes = self.collapsed_axes(&values);
            let has_job = if axes.is_empty() {
                match self.job_of_cell(&mut list.shared, cell, &values, sink) {
                    Some(job) => {
                        list.jobs.push(job);
                        true
                    }
                    None => false,
                }
            } else {
                self.add_collapsed(&mut list, &first, (cell, axes), sink)
            };
            if !has_job {
                refused.push((cell, self.refused.of(self.space, cell)));
            }
        }
        let gfx_axis = self.axis_of_role.get(&AxisRole::Gfx).copied();
        let excluded = self.refused.excluded(self.space, &refused, gfx_axis);
        (list.jobs, list.shared, excluded)
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

    /// Adds a cell to the job that builds all its values of `axes`, and creates the job for the
    /// first of these cells. Returns false if none of its families can be built.
    fn add_collapsed(
        &self,
        list: &mut JobList,
        first: &HashMap<CellRank, CellRank>,
        (cell, axes): (CellRank, &[usize]),
        sink: &mut Sink,
    ) -> bool {
        let key = self.without(cell, axes);
        let index = match list.collapsed.get(&key) {
            Some(index) => *index,
            None => {
                let own = first.get(&key).copied().unwrap_or(cell);
                let values = self.values(own);
                let Some(job) = self.job_of_cell(&mut list.shared, own, &values, sink) else {
                    return false;
                };
                list.jobs.push(job);
                let index = list.jobs.len() - 1;
                list.collapsed.insert(key, index);
                index
            }
        };
        self.cover(&mut list.shared, &mut list.jobs[index], axes, cell);
        true
    }

    /// Returns the job of a cell, or `None` if none of its families can be built.
    fn job_of_cell(
        &self,
        shared: &mut SharedValues,
        cell: CellRank,
        values: &CellValues<'_>,
        sink: &mut Sink,
    ) -> Option<CompactJob> {
        let job = self.compact_job(shared, cell, values, sink);
        (!shared.devices.get(job.device).is_refused).then_some(job)
    }

    fn index(&self, cell: CellRank, role: AxisRole) -> usize {
        self.axis_of_role
            .get(&role)
            .map_or(0, |&axis| self.space.index(cell, axis))
    }

    fn compact_job(
        &self,
        shared: &mut SharedValues,
        cell: CellRank,
        values: &CellValues<'_>,
        sink: &mut Sink,
    ) -> CompactJob {
        let package = self.index(cell, AxisRole::Package);
        let (torch, rocm) = (
            self.index(cell, AxisRole::Torch),
            self.index(cell, AxisRole::Rocm),
        );
        let (backend, python) = (
            self.index(cell, AxisRole::Backend),
            self.index(cell, AxisRole::Python),
        );
        let gfx = self.index(cell, AxisRole::Gfx);
        let axis_index = |axis: Option<usize>| axis.map_or(0, |axis| self.space.index(cell, axis));
        let (runner, gpu) = (axis_index(self.runner_axis), axis_index(self.gpu_axis));
        let matching = self.overrides.matching(self.space, cell);
        let overrides = self.overrides_of(shared, &matching);
        let key = overrides as usize;
        let (kind, commit) = shared
            .packages
            .get(package)
            .map_or((0, 0), |package| (package.kind, package.commit));
        // Values that share a wheel are not part of its label.
        let shared_axes = self.collapsed_axes(values);
        let is_shared = |role: AxisRole| {
            self.axis_of_role
                .get(&role)
                .is_some_and(|axis| shared_axes.contains(axis))
        };
        let (torch_is_shared, rocm_is_shared) =
            (is_shared(AxisRole::Torch), is_shared(AxisRole::Rocm));
        let named = |is_shared: bool, index: usize| if is_shared { 0 } else { index };
        let of_label = (
            named(torch_is_shared, torch),
            named(rocm_is_shared, rocm),
            commit,
            backend,
        );
        let label = shared.labels.number(of_label, || {
            let values = if torch_is_shared {
                CellValues {
                    torch: None,
                    ..*values
                }
            } else {
                *values
            };
            if rocm_is_shared {
                LabelFactory::label_without_rocm(&values)
            } else {
                self.labels.label(&values, self.config, sink)
            }
        });
        let refused = self.refused.of(self.space, cell);
        let of_device = DeviceCodeKey {
            package_kind: kind,
            rocm,
            backend,
            gfx,
            has_torch: values.torch.is_some(),
            overrides: key,
            refused,
        };
        let device = shared.devices.number(of_device, || {
            self.device(
                cell,
                values,
                refused,
                (shared.overrides.get(overrides), &matching),
                sink,
            )
        });
        // The targets are part of the name of an install tree, but not of a wheel name.
        let leaves = self.profile.leaves;
        let made_for = if matches!(leaves, Leaves::Wheels | Leaves::Sdist) {
            0
        } else {
            device as usize
        };
        let targets = &shared.devices.get(device).gfx;
        // The image depends on the Python version only if Python comes from the image.
        let of_image = if self.config.python_from == crate::config::PythonFrom::Image {
            python
        } else {
            0
        };
        let site = shared
            .sites
            .number((torch, rocm, of_image, runner, gpu, key), || {
                self.site(cell, values, shared.overrides.get(overrides))
            });
        let RunnerChoice {
            platform,
            arch_number,
            ..
        } = shared.sites.get(site);
        let tag = shared
            .tags
            .number((python, backend, made_for, *arch_number), || {
                name_end(values, leaves, targets, platform)
            });
        let estimate = shared
            .estimates
            .number((device as usize, site as usize, backend), || {
                self.estimate(values, shared.devices.get(device), shared.sites.get(site))
            });
        let wheels = self.extra_wheels_of(
            shared,
            cell,
            values,
            (label, tag, overrides),
            (device, site),
            sink,
        );
        CompactJob {
            cell,
            label,
            tag,
            device,
            site,
            estimate,
            overrides,
            wheels,
            covers: 0,
        }
    }

    /// Returns the interned number of the extra wheels' names.
    fn extra_wheels_of(
        &self,
        shared: &mut SharedValues,
        cell: CellRank,
        values: &CellValues<'_>,
        (label, tag, overrides): (u32, u32, u32),
        (device, site): (u32, u32),
        sink: &mut Sink,
    ) -> u32 {
        if self.extra_wheels.is_none() {
            return SharedValues::NO_WHEELS;
        }
        let package = self.index(cell, AxisRole::Package);
        let key = (
            label,
            tag,
            overrides,
            self.extra_wheels.name_values(cell, package, device),
        );
        let SharedValues {
            wheels,
            labels,
            overrides: all,
            devices,
            packages,
            sites,
            ..
        } = shared;
        let own = JobNameValues {
            version: packages
                .get(package)
                .and_then(|package| package.version.as_ref()),
            label: labels.get(label).as_ref(),
            device: devices.get(device),
            platform: &sites.get(site).platform,
        };
        wheels.number(key, || {
            self.extra_wheels
                .of(cell, values, &own, all.get(overrides), sink)
        })
    }

    /// Returns the interned number of the merged overrides of these rows.
    fn overrides_of(&self, shared: &mut SharedValues, matching: &[usize]) -> u32 {
        if matching.is_empty() {
            // Skip the interner: comparing two empty keys in it took two fifths of the time of
            // planning a million jobs.
            return SharedValues::NO_OVERRIDES;
        }
        shared
            .overrides
            .number(matching.to_vec(), || self.overrides.merged(matching))
    }

    fn site(
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
        device: &DeviceCode,
        site: &RunnerChoice,
    ) -> Option<BuildEstimate> {
        estimate(
            &self.compat.tables().build_costs,
            &EstimateQuery {
                package: &self.profile.package,
                backend: &values.backend.name,
                targets: u32::try_from(device.gfx.len()).unwrap_or(u32::MAX),
                threads: site.threads?,
                limit_min: site.limit_min,
                levers: &self.unused_levers(&values.backend.levers),
            },
        )
    }

    /// Returns the ways to shorten a build that are not in use yet. One that starts with a variable
    /// and its value, such as `` `opt-dim: "128"` ``, is dropped if the matrix file sets that
    /// value.
    fn unused_levers(&self, levers: &[String]) -> Vec<String> {
        let setting = |lever: &str| -> Option<(String, String)> {
            let (name, value) = lever
                .strip_prefix('`')?
                .split_once('`')?
                .0
                .split_once(": ")?;
            Some((name.to_owned(), value.trim_matches('"').to_owned()))
        };
        let is_set = |lever: &&String| {
            setting(lever).is_some_and(|(name, value)| self.config.vars.get(&name) == Some(&value))
        };
        levers
            .iter()
            .filter(|lever| !is_set(lever))
            .cloned()
            .collect()
    }
}

fn least(machines: &[MachineKind], of: impl Fn(&MachineKind) -> Option<u32>) -> Option<u32> {
    machines.iter().filter_map(of).min()
}
