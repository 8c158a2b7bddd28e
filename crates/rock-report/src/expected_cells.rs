//! The wheels and archives that a plan expects to be published.

use std::collections::BTreeMap;

use super::{ArchiveName, Combination, ExpectedArchive, MachineTag};
use rock_diagnostic::{Diagnostic, Location, Sink};
use rock_names::Platform;
use rock_names::{
    ExpectedWheel, PythonVersion, RocmVersion, WheelIdentity, has_wheel_extension, is_tree_archive,
};
use rock_plan::codes::plan as codes;
use rock_plan::{Job, SavedExclusion, SavedPlan};

/// The expected cells and archives of a plan.
#[derive(Debug, Clone, Default)]
pub struct ExpectedCells {
    /// One cell per Python of each job, sorted by platform, combination and Python.
    pub cells: Vec<ExpectedCell>,
    /// Archives of install trees, by name.
    pub archives: BTreeMap<String, ExpectedArchive>,
    /// The cells that the plan excludes.
    pub excluded: Vec<SavedExclusion>,
}

/// A wheel for one Python. A wheel for any Python has one cell for each Python that the plan says
/// it covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedCell {
    /// The platform of the wheel, or of the matrix if the wheel is for any platform.
    pub machine: MachineTag,
    pub combination: Combination,
    /// The Python version; `None` if the job names none.
    pub python: Option<PythonVersion>,
    /// The expected wheel name.
    pub wheel: String,
    /// The job; `None` for a wheel that the plan skips because it is already published.
    pub job: Option<String>,
    /// The gfx targets that the wheel is compiled for.
    pub gfx: Vec<String>,
    /// Whether the version is known before the build. If not, the version in `combination` is
    /// meaningless.
    pub is_version_known: bool,
    /// Whether any local version label matches.
    pub is_any_label: bool,
}

impl ExpectedCell {
    /// Returns version and commit, with `*` for an unknown version.
    pub fn version_text(&self) -> String {
        match &self.combination.git {
            _ if self.is_version_known => self.combination.version_text(),
            Some(git) => format!("* git {git}"),
            None => "*".to_owned(),
        }
    }
}

impl ExpectedCells {
    /// Collects the cells of a plan. A wheel name that cannot be parsed is reported as an error.
    pub fn of(plan: &SavedPlan, known_rocm: &[RocmVersion], sink: &mut Sink) -> Self {
        let mut known = known_rocm.to_vec();
        known.extend(plan.jobs.iter().filter_map(|job| job.rocm.clone()));
        known.sort();
        known.dedup();
        let of_jobs = plan
            .jobs
            .iter()
            .filter_map(|job| Some((job.archive()?, Some(job.id.clone()))));
        let published = plan
            .published
            .iter()
            .filter(|name| is_tree_archive(name))
            .map(|name| (name.as_str(), None));
        // If a name has a job, the entry with the job comes last and wins.
        let archives = published
            .chain(of_jobs)
            .map(|(name, job)| {
                (
                    name.to_owned(),
                    ExpectedArchive {
                        name: ArchiveName::from(name),
                        job,
                    },
                )
            })
            .collect();
        let mut expected = Self {
            cells: Vec::new(),
            archives,
            excluded: plan.excluded.clone(),
        };
        for job in &plan.jobs {
            for wheel in job.wheels() {
                if let Some((wheel, combination)) = read(wheel, &known, sink) {
                    expected.add_job(job, &wheel, &combination);
                }
            }
        }
        for wheel in plan
            .published
            .iter()
            .filter(|name| has_wheel_extension(name))
        {
            if let Some((wheel, combination)) = read(wheel, &known, sink) {
                expected.add_published(&wheel, &combination);
            }
        }
        expected.cells.sort_by(|one, other| {
            let key = |cell: &ExpectedCell| {
                (
                    cell.machine.clone(),
                    cell.combination.clone(),
                    cell.python,
                    cell.wheel.clone(),
                )
            };
            key(one).cmp(&key(other))
        });
        // If only the builds know the versions, each job has its own wheel.
        expected.cells.dedup_by(|one, other| {
            one.is_version_known
                && one.machine == other.machine
                && one.combination == other.combination
                && one.python == other.python
        });
        expected
    }

    fn add_job(&mut self, job: &Job, wheel: &ExpectedWheel, combination: &Combination) {
        let covered: Vec<PythonVersion> = job
            .covers
            .get("python")
            .into_iter()
            .flatten()
            .filter_map(|text| text.parse().ok())
            .collect();
        let pythons: Vec<Option<PythonVersion>> = if covered.is_empty() {
            vec![job.python]
        } else {
            covered.into_iter().map(Some).collect()
        };
        self.cells
            .extend(pythons.into_iter().map(|python| ExpectedCell {
                machine: MachineTag::planned(wheel.name_with_placeholder(), job.settings.platform),
                combination: combination.clone(),
                python,
                wheel: wheel.to_string(),
                job: Some(job.id.clone()),
                gfx: job.gfx.iter().map(ToString::to_string).collect(),
                is_version_known: wheel.is_version_known(),
                is_any_label: is_any_label(wheel),
            }));
    }

    /// Adds a wheel that the plan no longer has a job for. The plan does not record the Pythons
    /// that the job would cover, so the wheel gets a cell for each Python that its tags list, for
    /// the lowest one of an open range, or a single cell without Python.
    fn add_published(&mut self, wheel: &ExpectedWheel, combination: &Combination) {
        let name = wheel.name_with_placeholder();
        let pythons = match super::WheelPythons::of(name) {
            super::WheelPythons::Listed(versions) => versions.into_iter().map(Some).collect(),
            super::WheelPythons::StableAbi(lowest) | super::WheelPythons::From(lowest) => {
                vec![Some(lowest)]
            }
            super::WheelPythons::Any | super::WheelPythons::Other(_) => vec![None],
        };
        let beside = self
            .cells
            .iter()
            .find(|cell| cell.combination.distribution == combination.distribution);
        let machine = match beside {
            Some(cell) if MachineTag::of(name).is_any() => cell.machine.clone(),
            _ => MachineTag::planned(name, Platform::Linux),
        };
        self.cells
            .extend(pythons.into_iter().map(|python| ExpectedCell {
                machine: machine.clone(),
                combination: combination.clone(),
                python,
                wheel: wheel.to_string(),
                job: None,
                gfx: Vec::new(),
                is_version_known: wheel.is_version_known(),
                is_any_label: is_any_label(wheel),
            }));
    }

    /// Returns the number of cells that the plan excludes for a distribution on a platform.
    pub fn excluded_count(&self, machine: &MachineTag, distribution: &str) -> u64 {
        let rows = self.excluded.iter().filter(|row| {
            MachineTag::of_platform(row.platform) == *machine
                && row.distribution.normalized() == distribution
        });
        rows.map(|row| row.count).sum()
    }

    /// Returns the exclusion that a cell matches, if the plan has one.
    pub fn exclusion_of(
        &self,
        machine: &MachineTag,
        cell: &Combination,
        python: Option<PythonVersion>,
    ) -> Option<&SavedExclusion> {
        let python = python.map(|python| python.to_string());
        let accelerator = cell.accelerator_version();
        let torch = cell.torch_text();
        let same_minor =
            |value: &str, wanted: &str| value == wanted || value.starts_with(&format!("{wanted}."));
        let agrees = |axis: &str, value: &str| match axis {
            "python" => python.as_deref() == Some(value),
            "rocm" => accelerator
                .as_deref()
                .is_some_and(|rocm| same_minor(value, rocm)),
            "torch" => torch
                .as_deref()
                .is_some_and(|torch| same_minor(value, torch)),
            "backend" => cell
                .backend
                .as_deref()
                .is_none_or(|backend| backend.starts_with(value)),
            _ if axis == cell.distribution || axis == "version" => value == cell.version.as_str(),
            _ => false,
        };
        self.excluded.iter().find(|row| {
            MachineTag::of_platform(row.platform) == *machine
                && row.distribution.normalized() == cell.distribution
                && row.axes.iter().all(|(axis, value)| agrees(axis, value))
        })
    }
}

fn is_any_label(wheel: &ExpectedWheel) -> bool {
    !wheel.is_version_known() && wheel.label().is_none()
}

fn read(
    wheel: &str,
    known: &[RocmVersion],
    sink: &mut Sink,
) -> Option<(ExpectedWheel, Combination)> {
    let read = || {
        let wheel: ExpectedWheel = wheel
            .parse()
            .map_err(|error: rock_names::WheelNameError| error.to_string())?;
        let identity = WheelIdentity::of(wheel.name_with_placeholder(), known)
            .map_err(|error| error.to_string())?;
        Ok((wheel, Combination::of(&identity)))
    };
    read()
        .map_err(|reason: String| {
            sink.push(
                Diagnostic::new(
                    &codes::BAD_PLAN_FILE,
                    format!("invalid wheel in the plan: {reason}"),
                )
                .at(Location::Argument("--plan".to_owned()), "")
                .help("create the plan with `rock-matrix plan --format json`"),
            );
        })
        .ok()
}
