//! A job borrowed from the plan: cheap to create, with everything that a [`Job`] has.

use indexmap::IndexMap;

use super::assemble::PlanGroup;
use super::collapse::CoveredCells;
use super::interned_values::{CompactJob, DeviceCode, PackageValue, RunnerChoice};
use super::job::indexes_for;
use super::machine_kind::{MachineKind, chosen};
use super::naming::{CellValues, targets_part};
use super::{BuildEstimate, DroppedGfx, Job, JobSettings, job_id};
use crate::config::{
    AxisRole, Leaves, PythonFrom, RecipeBackend, RecipeProfile, RowOverrides, TestFamilies,
};
use crate::matrix::{AxisSpace, CellRank};
use rock_compat::SupportReason;
use rock_names::{GfxTarget, has_wheel_extension, is_sdist, is_tree_archive};

/// A job of a plan.
#[derive(Debug, Clone, Copy)]
pub struct JobView<'a> {
    pub(super) group: &'a PlanGroup,
    pub(super) compact: &'a CompactJob,
    pub(super) number: usize,
}

impl<'a> JobView<'a> {
    /// Returns the index of the job's matrix file in the plan.
    pub fn matrix(self) -> usize {
        self.number
    }

    /// Returns the ID.
    pub fn id(self) -> String {
        let interned = &self.group.interned;
        let collapsed = self
            .covered()
            .map(|covered| covered.axes.as_slice())
            .unwrap_or_default();
        let parts = interned
            .id_order
            .iter()
            .filter(|axis| !collapsed.contains(axis))
            .map(|&axis| {
                interned.id_parts[axis][self.group.space.index(self.compact.cell, axis)].as_str()
            });
        let windows =
            (self.group.config.platform == crate::config::Platform::Windows).then_some("win");
        // If targets are not an axis, the trees of two files would get the same ID.
        let is_tree = matches!(self.group.profile.leaves, Leaves::Archive | Leaves::Tree)
            && self.group.space.position(AxisRole::Gfx).is_none();
        let targets = is_tree.then(|| targets_part(self.gfx())).flatten();
        job_id::join(
            parts
                .chain(targets.as_deref())
                .chain(windows)
                .filter(|part| !part.is_empty()),
        )
    }

    /// Returns the axis names and values as written.
    pub fn axes(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let space = &self.group.space;
        (0..space.axes().len()).filter_map(move |axis| {
            Some((
                space.axes()[axis].name.as_str(),
                space.value(self.compact.cell, axis)?.text.as_str(),
            ))
        })
    }

    /// Returns the expected wheel name. For a job without a wheel of its own, returns the name of
    /// its source distribution, archive or tree.
    pub fn wheel(self) -> String {
        let (escaped, plus) = (
            self.group.config.distribution.escaped(),
            if self.label().is_some() { "+" } else { "" },
        );
        let label = self.label().unwrap_or_default();
        format!(
            "{escaped}-{}{plus}{label}{}",
            self.package().in_name,
            self.tag()
        )
    }

    /// Returns the local version label, if any.
    pub fn label(self) -> Option<&'a str> {
        self.local_label().map(rock_names::LocalLabel::as_str)
    }

    /// Returns the backend.
    pub fn backend(self) -> &'a RecipeBackend {
        self.values().backend
    }

    /// Returns the gfx targets to compile for.
    pub fn gfx(self) -> &'a [rock_names::GfxTarget] {
        &self.device_code().gfx
    }

    /// Returns the families and targets as requested, without those that nothing is compiled for.
    pub fn families(self) -> &'a [String] {
        &self.device_code().families
    }

    /// Returns the requested targets that are not compiled, with the reason.
    pub fn dropped_gfx(self) -> &'a [(GfxTarget, SupportReason)] {
        &self.device_code().dropped
    }

    /// Returns the estimate, if there are measurements.
    pub fn estimate(self) -> Option<&'a BuildEstimate> {
        self.group
            .interned
            .estimates
            .get(self.compact.estimate)
            .as_ref()
    }

    /// Returns the values of collapsed axes that this job covers, including its own. It need not
    /// cover every combination of them, which [`Self::covered_products`] returns.
    pub fn covers(self) -> IndexMap<String, Vec<String>> {
        let space = &self.group.space;
        let of_covered = |covered: &CoveredCells| {
            let texts = |&axis: &usize| {
                let name = space.axes()[axis].name.clone();
                (name, value_texts(space, axis, &covered.values(space, axis)))
            };
            covered.axes.iter().map(texts).collect()
        };
        self.covered().map(of_covered).unwrap_or_default()
    }

    /// Returns the cells that this job covers, including its own, as products of values of the
    /// collapsed axes. Returns none if the job is not collapsed.
    pub fn covered_products(self) -> Vec<IndexMap<String, Vec<String>>> {
        let Some(covered) = self.covered() else {
            return Vec::new();
        };
        let space = &self.group.space;
        let texts = |product: Vec<Vec<usize>>| {
            let values = covered.axes.iter().zip(product);
            values
                .map(|(&axis, indexes)| {
                    let name = space.axes()[axis].name.clone();
                    (name, value_texts(space, axis, &indexes))
                })
                .collect()
        };
        covered.products(space).into_iter().map(texts).collect()
    }

    /// Returns the warnings about the job for people.
    pub fn warnings(self) -> impl Iterator<Item = &'a str> {
        self.package_warning()
            .into_iter()
            .chain(self.runner_choice().note.as_deref())
    }

    /// Returns the warning about the package with this backend, if any.
    pub fn package_warning(self) -> Option<&'a str> {
        self.package()
            .warnings
            .get(&self.backend().name)
            .map(String::as_str)
    }

    /// Returns the cells that the job covers, or `None` if it is not collapsed.
    pub(super) fn covered(self) -> Option<&'a CoveredCells> {
        let at = (self.compact.covers as usize).checked_sub(1)?;
        Some(&self.group.interned.covered[at])
    }

    /// Returns the cells whose wheel the job builds.
    pub(super) fn cells(self) -> &'a [CellRank] {
        let own = std::slice::from_ref(&self.compact.cell);
        self.covered()
            .map_or(own, |covered| covered.cells.as_slice())
    }

    pub(super) fn package(self) -> &'a PackageValue {
        let axis = self.group.space.position(AxisRole::Package);
        &self.group.interned.packages
            [axis.map_or(0, |axis| self.group.space.index(self.compact.cell, axis))]
    }

    pub(super) fn local_label(self) -> Option<&'a rock_names::LocalLabel> {
        self.group.interned.labels.get(self.compact.label).as_ref()
    }

    pub(super) fn tag(self) -> &'a str {
        self.group.interned.tags.get(self.compact.tag)
    }

    pub(super) fn device_code(self) -> &'a DeviceCode {
        self.group
            .interned
            .device_codes
            .get(self.compact.device_code)
    }

    pub(super) fn runner_choice(self) -> &'a RunnerChoice {
        self.group
            .interned
            .runner_choices
            .get(self.compact.runner_choice)
    }

    /// Returns the machine that the job runs on.
    pub fn machine(self) -> &'a MachineKind {
        chosen(&self.runner_choice().machines, || self.id())
    }

    /// Returns the machines that test the job's wheel separately from the build, each with its
    /// family if wheels are tested by family.
    pub fn tests(self) -> Vec<(Option<&'a str>, &'a MachineKind)> {
        if self.group.profile.leaves != Leaves::Wheels {
            return Vec::new();
        }
        let machines = &self.runner_choice().tested_at;
        let at_runner = (!machines.is_empty()).then(|| (None, chosen(machines, || self.id())));
        let on_families = self.test_families().iter().filter_map(|family| {
            let machines = self.group.interned.tested_on.get(family)?;
            Some((
                Some(family.as_str()),
                chosen(machines, || format!("{}-{family}", self.id())),
            ))
        });
        at_runner.into_iter().chain(on_families).collect()
    }

    /// Returns the families to test for which no runner is known.
    pub fn families_without_runner(self) -> impl Iterator<Item = &'a str> {
        let tested_on = &self.group.interned.tested_on;
        self.test_families()
            .iter()
            .map(String::as_str)
            .filter(|family| !tested_on.contains_key(*family))
    }

    fn test_families(self) -> &'a [String] {
        let config = &self.group.config;
        let untested = config
            .release_type
            .as_ref()
            .map(|row| row.untested.as_slice())
            .unwrap_or_default();
        let has = |(axis, value): (&String, &String)| {
            self.axes()
                .any(|pair| pair == (axis.as_str(), value.as_str()))
        };
        if untested.iter().any(|cell| cell.iter().all(has)) {
            return &[];
        }
        match &config.test.families {
            Some(TestFamilies::Built) => self.families(),
            Some(TestFamilies::These(families)) => families,
            Some(TestFamilies::None) | None => &[],
        }
    }

    pub(super) fn overrides(self) -> &'a RowOverrides {
        self.group.interned.overrides.get(self.compact.overrides)
    }

    pub(super) fn values(self) -> CellValues<'a> {
        CellValues::of(&self.group.space, self.compact.cell, &self.group.profile)
            .expect("the backend of a job is known")
    }

    /// Returns the variables that differ from those of the matrix file.
    pub(super) fn own_vars(self) -> IndexMap<String, String> {
        own_vars(
            &self.group.profile,
            &self.group.space,
            self.compact.cell,
            self.overrides(),
        )
    }

    /// Returns the names of the wheels of other distributions that the job also produces.
    pub fn extra_wheels(self) -> &'a [String] {
        self.group.interned.wheels.get(self.compact.wheels)
    }

    /// Returns the names of the expected wheels: the job's own, then the others.
    pub fn wheels(self) -> impl Iterator<Item = String> {
        let own = std::iter::once(self.wheel()).filter(|name| has_wheel_extension(name));
        own.chain(self.extra_wheels().iter().cloned())
    }

    /// Returns the names of the job's files: its wheels, or the archive or tree that it produces
    /// instead.
    pub fn files(self) -> impl Iterator<Item = String> {
        std::iter::once(self.wheel()).chain(self.extra_wheels().iter().cloned())
    }

    /// Returns the name of the archive of an install tree, if the job produces one.
    pub fn archive(self) -> Option<String> {
        Some(self.wheel()).filter(|name| is_tree_archive(name))
    }

    /// Returns the name of the source distribution, if the job produces one.
    pub fn sdist(self) -> Option<String> {
        Some(self.wheel()).filter(|name| is_sdist(name))
    }

    /// Converts the view into an owned job.
    pub fn to_job(self) -> Job {
        let values = self.values();
        let config = &self.group.config;
        let field = |name: &str| {
            self.axes()
                .find(|(axis, _)| *axis == name)
                .map(|(_, value)| value)
        };
        let mut vars = config.vars.clone();
        vars.extend(self.own_vars());
        Job {
            id: self.id(),
            axes: self
                .axes()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            distribution: config.distribution.clone(),
            package: values.package.cloned(),
            version: self.package().version.clone(),
            label: self.local_label().cloned(),
            wheel: self.wheel(),
            extra_wheels: self.extra_wheels().to_vec(),
            python: values.python,
            torch: values.torch.cloned(),
            rocm: values.rocm.cloned(),
            backend: values.backend.name.clone(),
            gfx: self.device_code().gfx.clone(),
            families: self.device_code().families.clone(),
            dropped_gfx: self.dropped_gfx().iter().map(DroppedGfx::from).collect(),
            image: self.runner_choice().image.clone(),
            image_glibc: self.runner_choice().image_glibc.clone(),
            runner: self.machine().labels.clone(),
            runner_group: self.machine().group.clone(),
            gpu: self.runner_choice().gpu,
            recipe: config.recipe.clone(),
            gates: values.backend.gates.clone(),
            estimate: self.estimate().cloned(),
            covers: self.covers(),
            warnings: self.warnings().map(str::to_owned).collect(),
            run_time: values.backend.run_time.clone(),
            settings: JobSettings {
                matrix: config.locations.source().path.to_string(),
                platform: config.platform,
                torch_from: config.torch_from,
                python_from: field("python-from")
                    .and_then(PythonFrom::from_word)
                    .unwrap_or(config.python_from),
                image: config.image.clone(),
                docker: config.docker.clone(),
                cache: config.workflow.cache,
                cache_mb: None,
                vars,
                secrets: config.secrets.clone(),
                indexes: indexes_for(&config.indexes, self.families()),
                device_extras: config.device_extras,
                repair: config.repair.clone(),
                test: config.test.clone(),
            },
        }
    }
}

/// Returns the texts of the values of an axis with these indexes.
fn value_texts(space: &AxisSpace, axis: usize, indexes: &[usize]) -> Vec<String> {
    let values = &space.axes()[axis].values;
    indexes
        .iter()
        .filter_map(|&index| Some(values[index].as_ref()?.text.clone()))
        .collect()
}

/// Returns the variables of a cell that differ from those of the matrix file: values of field axes
/// and of matching override rows. Axes that the recipe declares are not variables.
pub(super) fn own_vars(
    profile: &RecipeProfile,
    space: &AxisSpace,
    cell: CellRank,
    overrides: &RowOverrides,
) -> IndexMap<String, String> {
    let is_variable =
        |name: &String| profile.vars.contains_key(name) || !profile.axes.contains(name);
    let fields = space.axes().iter().enumerate().filter(|(_, column)| {
        let has_home = FIELDS_WITH_A_HOME.contains(&column.name.as_str());
        column.role == AxisRole::Field && !has_home && is_variable(&column.name)
    });
    let values = fields.filter_map(|(axis, column)| {
        Some((column.name.clone(), space.value(cell, axis)?.text.clone()))
    });
    values
        .chain(
            overrides
                .vars
                .iter()
                .map(|(name, value)| (name.clone(), value.clone())),
        )
        .collect()
}

/// Field axes that have their own field in a job; every other field axis is a recipe variable.
const FIELDS_WITH_A_HOME: [&str; 3] = ["runner", "gpu", "python-from"];
