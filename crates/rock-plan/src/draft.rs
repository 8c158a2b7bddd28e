//! Turns legs into compact jobs.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::collapse::collapsed;
use super::estimate::{EstimateQuery, estimate};
use super::extra_wheels::{ExtraWheels, JobNameValues};
use super::machine_kind::{MachineKind, places};
use super::naming::{CellValues, LabelFactory, name_end, platform_tag};
use super::override_rows::OverrideRows;
use super::refused_values::RefusedValues;
use super::shared_values::{CompactJob, DeviceCode, RunnerChoice, SharedValues};
use super::{BuildEstimate, PlanInputs};
use crate::config::{
    AxisRole, GpuPolicy, Leaves, MatrixConfig, RecipeBackend, RecipeProfile, RowOverrides,
    RunnerSelector,
};
use crate::matrix::{AxisSpace, CellRank, ExclusionRow};
use rock_compat::Compat;
use rock_diagnostic::Sink;

/// Creates the compact jobs of one group.
pub(super) struct GroupDrafter<'a> {
    pub(super) config: &'a MatrixConfig,
    pub(super) profile: &'a RecipeProfile,
    pub(super) universe: &'a AxisSpace,
    pub(super) compat: &'a Compat,
    labels: &'a LabelFactory,
    options: &'a PlanInputs,
    pub(super) changes: OverrideRows<'a>,
    further: ExtraWheels<'a>,
    pub(super) refused: RefusedValues<'a>,
    pub(super) at: BTreeMap<AxisRole, usize>,
    runner_axis: Option<usize>,
    gpu_axis: Option<usize>,
    /// For each backend, the axes whose values share one wheel.
    pub(super) collapsed: Vec<(&'a RecipeBackend, Vec<usize>)>,
}

impl<'a> GroupDrafter<'a> {
    pub(super) fn new(
        config: &'a MatrixConfig,
        profile: &'a RecipeProfile,
        universe: &'a AxisSpace,
        compat: &'a Compat,
        labels: &'a LabelFactory,
        options: &'a PlanInputs,
    ) -> Self {
        let named = |name: &str| {
            universe
                .axes()
                .iter()
                .position(|column| column.name == name)
        };
        let at = universe
            .axes()
            .iter()
            .enumerate()
            .map(|(axis, column)| (column.role, axis))
            .collect();
        Self {
            config,
            profile,
            universe,
            compat,
            labels,
            options,
            changes: OverrideRows::new(config, universe),
            further: ExtraWheels::new(config, profile, universe),
            refused: RefusedValues::new(universe, compat, config.platform),
            at,
            collapsed: profile
                .backends
                .iter()
                .map(|backend| (backend, collapsed(backend, config, universe)))
                .collect(),
            runner_axis: named("runner"),
            gpu_axis: named("gpu"),
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
            let shared = CellValues::of(self.universe, *cell, self.profile)
                .map(|words| self.collapsed_axes(&words))
                .unwrap_or_default();
            let columns = self.universe.axes().iter().enumerate();
            columns
                .filter(|(axis, _)| !shared.contains(axis))
                .all(|(axis, column)| {
                    let value = self.universe.value(*cell, axis);
                    value.is_none_or(|value| selection.allows(&column.name, value))
                })
        };
        legs.iter().copied().filter(is_selected).collect()
    }

    /// Returns the compact jobs, the values that they share, and the cells without a job because
    /// none of their families can be built.
    pub(super) fn all(
        &self,
        mut shared: SharedValues,
        legs: &[CellRank],
        sink: &mut Sink,
    ) -> (Vec<CompactJob>, SharedValues, Vec<ExclusionRow>) {
        let mut drafts: Vec<CompactJob> = Vec::with_capacity(legs.len());
        let mut refused = Vec::new();
        let first = self.first_cells(legs);
        let mut collapsed: HashMap<CellRank, usize> = HashMap::new();
        for &cell in legs {
            let Some(words) = CellValues::of(self.universe, cell, self.profile) else {
                continue;
            };
            let axes = self.collapsed_axes(&words);
            if !axes.is_empty() {
                let key = self.without(cell, axes);
                if let Some(&present) = collapsed.get(&key) {
                    self.cover(&mut shared, &mut drafts[present], axes, cell);
                    continue;
                }
                let own = first.get(&key).copied().unwrap_or(cell);
                let words = CellValues::of(self.universe, own, self.profile).unwrap_or(words);
                let mut draft = self.draft(&mut shared, own, &words, sink);
                if shared.devices.get(draft.device).is_refused {
                    refused.push((cell, self.refused.of(self.universe, cell)));
                    continue;
                }
                collapsed.insert(key, drafts.len());
                self.cover(&mut shared, &mut draft, axes, cell);
                drafts.push(draft);
                continue;
            }
            let draft = self.draft(&mut shared, cell, &words, sink);
            if shared.devices.get(draft.device).is_refused {
                refused.push((cell, self.refused.of(self.universe, cell)));
            } else {
                drafts.push(draft);
            }
        }
        let gfx_axis = self.at.get(&AxisRole::Gfx).copied();
        let excluded = self.refused.excluded(self.universe, &refused, gfx_axis);
        (drafts, shared, excluded)
    }

    fn index(&self, cell: CellRank, role: AxisRole) -> usize {
        self.at
            .get(&role)
            .map_or(0, |&axis| self.universe.index(cell, axis))
    }

    fn draft(
        &self,
        shared: &mut SharedValues,
        cell: CellRank,
        words: &CellValues<'_>,
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
        let axis_index =
            |axis: Option<usize>| axis.map_or(0, |axis| self.universe.index(cell, axis));
        let (runner, gpu) = (axis_index(self.runner_axis), axis_index(self.gpu_axis));
        let matching = self.changes.matching(self.universe, cell);
        let changes = self.changes_of(shared, &matching);
        let key = changes as usize;
        let (kind, commit) = shared
            .packages
            .get(package)
            .map_or((0, 0), |package| (package.kind, package.commit));
        // Values that share a wheel are not part of its label.
        let shared_axes = self.collapsed_axes(words);
        let is_shared = |role: AxisRole| {
            self.at
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
            let words = if torch_is_shared {
                CellValues {
                    torch: None,
                    ..*words
                }
            } else {
                *words
            };
            if rocm_is_shared {
                LabelFactory::label_without_rocm(&words)
            } else {
                self.labels.label(&words, self.config, sink)
            }
        });
        let refused = self.refused.of(self.universe, cell);
        let device = shared
            .devices
            .number((kind, rocm, backend, gfx, key, refused), || {
                self.device(
                    cell,
                    words,
                    refused,
                    (shared.changes.get(changes), &matching),
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
                self.site(cell, words, shared.changes.get(changes))
            });
        let RunnerChoice {
            platform,
            arch_number,
            ..
        } = shared.sites.get(site);
        let tag = shared
            .tags
            .number((python, backend, made_for, *arch_number), || {
                name_end(words, leaves, targets, platform)
            });
        let estimate = shared
            .estimates
            .number((device as usize, site as usize, backend), || {
                self.estimate(words, shared.devices.get(device), shared.sites.get(site))
            });
        let wheels = self.further_wheels(
            shared,
            cell,
            words,
            (label, tag, changes),
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
            changes,
            wheels,
            covers: 0,
        }
    }

    /// Returns the interned number of the extra wheels' names.
    fn further_wheels(
        &self,
        shared: &mut SharedValues,
        cell: CellRank,
        words: &CellValues<'_>,
        (label, tag, changes): (u32, u32, u32),
        (device, site): (u32, u32),
        sink: &mut Sink,
    ) -> u32 {
        if self.further.is_none() {
            return SharedValues::NO_WHEELS;
        }
        let package = self.index(cell, AxisRole::Package);
        let key = (
            label,
            tag,
            changes,
            self.further.asked(cell, package, device),
        );
        let SharedValues {
            wheels,
            labels,
            changes: all,
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
            self.further.of(cell, words, &own, all.get(changes), sink)
        })
    }

    /// Returns the interned number of the merged overrides of these rows.
    fn changes_of(&self, shared: &mut SharedValues, matching: &[usize]) -> u32 {
        if matching.is_empty() {
            // Skip the interner: comparing two empty keys in it took two fifths of the time of
            // planning a million jobs.
            return SharedValues::NO_CHANGES;
        }
        shared
            .changes
            .number(matching.to_vec(), || self.changes.merged(matching))
    }

    fn site(&self, cell: CellRank, words: &CellValues<'_>, changes: &RowOverrides) -> RunnerChoice {
        let text = |axis: Option<usize>| {
            axis.and_then(|axis| self.universe.value(cell, axis))
                .map(|v| v.text.as_str())
        };
        let of_axis = text(self.runner_axis).map(RunnerSelector::label);
        let runner = changes
            .runner
            .as_ref()
            .or(of_axis.as_ref())
            .unwrap_or(&self.config.runner);
        let places = places(runner, self.compat);
        let gpu = changes
            .gpu
            .or(text(self.gpu_axis).and_then(GpuPolicy::from_word))
            .unwrap_or(self.config.gpu);
        let (image, note) = match &changes.image {
            Some(image) => (Some(image.clone()), None),
            None => super::image::choose(self.config, self.compat, words),
        };
        let arch = places.first().map_or("", |place| &place.arch);
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
                .or(least(&places, |place| place.threads)),
            limit_min: least(&places, |place| place.limit_min),
            tested_at: match &self.config.test.runner {
                runner if runner.is_empty() => Vec::new(),
                runner => super::machine_kind::places(runner, self.compat),
            },
            places,
        }
    }

    fn estimate(
        &self,
        words: &CellValues<'_>,
        device: &DeviceCode,
        site: &RunnerChoice,
    ) -> Option<BuildEstimate> {
        estimate(
            &self.compat.tables().build_costs,
            &EstimateQuery {
                package: &self.profile.package,
                backend: &words.backend.name,
                targets: u32::try_from(device.gfx.len()).unwrap_or(u32::MAX),
                threads: site.threads?,
                limit_min: site.limit_min,
                levers: &self.unused_levers(&words.backend.levers),
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

fn least(places: &[MachineKind], of: impl Fn(&MachineKind) -> Option<u32>) -> Option<u32> {
    places.iter().filter_map(of).min()
}
