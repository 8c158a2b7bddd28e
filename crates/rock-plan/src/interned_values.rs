//! Values that jobs of one matrix file have in common, and jobs in compact form.
//!
//! A job's label, runner and so on depend on few of its values. Each is computed once for every
//! combination of these values, which is its key, and jobs have its number. A key must contain all
//! values that the result depends on; a value that never changes it would only compute it again.

use std::collections::BTreeMap;

use super::collapse::CoveredCells;
use super::interner::Interner;
use super::machine_kind::{MachineKind, machines_of};
use super::{BuildEstimate, job_id};
use crate::config::{
    AxisRole, GpuPolicy, MatrixConfig, ParsedValue, RecipeProfile, RowOverrides, RunnerSelector,
};
use crate::matrix::{AxisSpace, CellRank};
use rock_compat::{Compat, SupportReason};
use rock_names::{ExpectedWheel, GfxTarget, LocalLabel, PackageVersion, Version};

/// A job in compact form: a cell, and the numbers of its interned values.
#[derive(Debug, Clone, Copy)]
pub(super) struct CompactJob {
    pub(super) cell: CellRank,
    pub(super) label: u32,
    pub(super) tag: u32,
    pub(super) device_code: u32,
    pub(super) runner_choice: u32,
    pub(super) estimate: u32,
    pub(super) overrides: u32,
    /// Number of its extra wheels' names.
    pub(super) wheels: u32,
    /// 0 if the job is not collapsed, otherwise 1 + the index into `InternedValues::covered`.
    pub(super) covers: u32,
}

/// Values that jobs of a group have in common.
#[derive(Debug, Default)]
pub(super) struct InternedValues {
    /// Parts of IDs, by axis position and value index.
    pub(super) id_parts: Vec<Vec<String>>,
    /// Axis positions in their order in IDs.
    pub(super) id_order: Vec<usize>,
    /// By value index on the package axis; a single default entry without such an axis.
    pub(super) packages: Vec<PackageValue>,
    pub(super) labels: Interner<LabelKey, Option<LocalLabel>>,
    /// Ends of names.
    pub(super) tags: Interner<TagKey, String>,
    pub(super) device_codes: Interner<DeviceCodeKey, DeviceCode>,
    pub(super) runner_choices: Interner<RunnerChoiceKey, RunnerChoice>,
    pub(super) estimates: Interner<EstimateKey, Option<BuildEstimate>>,
    /// Merged overrides, by the numbers of the rows that match.
    pub(super) overrides: Interner<Vec<usize>, RowOverrides>,
    /// Names of extra wheels.
    pub(super) wheels: Interner<ExtraWheelsKey, Vec<String>>,
    /// The machines that test a family, by its name; only families with a runner on the platform.
    pub(super) tested_on: BTreeMap<String, Vec<MachineKind>>,
    /// The cells of each collapsed job.
    pub(super) covered: Vec<CoveredCells>,
}

/// The values that a label depends on: its parts are versions of ROCm and torch, a commit, and the
/// label of the backend. A value index is 0 if the matrix file has no such axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct LabelKey {
    /// Value indexes; 0 if the axis is collapsed, because then the label does not contain it.
    pub(super) torch: usize,
    pub(super) rocm: usize,
    /// [`PackageValue::commit`]: labels do not contain versions of releases.
    pub(super) commit: usize,
    /// Value index. It also determines which axes are collapsed.
    pub(super) backend: usize,
}

/// The values that the end of a name depends on: the tag of a wheel, or the targets, Python and
/// platform of an install tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct TagKey {
    /// Value indexes; a backend may fix the tag.
    pub(super) python: usize,
    pub(super) backend: usize,
    /// The number of the device code, whose targets are in the name; `None` for wheels and source
    /// distributions, whose names have no targets.
    pub(super) device_code: Option<u32>,
    /// [`RunnerChoice::arch_number`], which determines the platform tag.
    pub(super) arch: usize,
}

/// The values that the device code of a job depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct DeviceCodeKey {
    /// Value index of a version with [`PackageValue::has_gfx_limits`], which the reasons for
    /// dropped targets name; `None` for other versions.
    pub(super) package: Option<usize>,
    /// Value indexes. The backend also determines which axes are collapsed.
    pub(super) rocm: usize,
    pub(super) backend: usize,
    pub(super) gfx: usize,
    /// Whether the cell has a torch, whose wheels may lack targets.
    pub(super) has_torch: bool,
    /// The number of the overrides, which may replace the targets.
    pub(super) overrides: u32,
    /// The rows of families that cannot be built, as a bit set.
    pub(super) unsupported: u64,
}

/// The values that the runner, image and gpu policy of a job depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct RunnerChoiceKey {
    /// Value indexes of the axes that select an image.
    pub(super) torch: usize,
    pub(super) rocm: usize,
    /// `None` if Python does not come from the image.
    pub(super) python: Option<usize>,
    /// Value indexes of the axes `runner` and `gpu`.
    pub(super) runner: usize,
    pub(super) gpu: usize,
    /// The number of the overrides, which may replace all three.
    pub(super) overrides: u32,
}

/// The values that an estimate depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct EstimateKey {
    /// The number of the device code, whose targets are counted.
    pub(super) device_code: u32,
    /// The number of the runner choice, which determines the threads and the time limit.
    pub(super) runner_choice: u32,
    /// Value index.
    pub(super) backend: usize,
    /// The number of the overrides, which set variables that shorten the build.
    pub(super) overrides: u32,
}

/// The values that the names of extra wheels depend on.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ExtraWheelsKey {
    /// The numbers of the label and the tag. The tag also determines the Python, the backend and
    /// the platform.
    pub(super) label: u32,
    pub(super) tag: u32,
    /// The number of the overrides, whose variables the expressions of recipes can use.
    pub(super) overrides: u32,
    /// See [`ExtraWheels::name_values`](super::extra_wheels::ExtraWheels::name_values).
    pub(super) name_values: Vec<usize>,
}

/// A value of the package axis.
#[derive(Debug, Default)]
pub(super) struct PackageValue {
    /// The public version of the wheel.
    pub(super) version: Option<Version>,
    /// The version as it appears in the wheel name.
    pub(super) in_name: String,
    /// Whether the compatibility data limits the targets that the build of this version accepts.
    pub(super) has_gfx_limits: bool,
    /// The index of a commit among the values plus 1; 0 for releases.
    pub(super) commit: usize,
    /// Warnings by backend.
    pub(super) warnings: BTreeMap<String, String>,
}

/// The device code that a job compiles; by default none.
#[derive(Debug, Default)]
pub(super) struct DeviceCode {
    /// The requested families and targets, without those that nothing is compiled for.
    pub(super) families: Vec<String>,
    pub(super) gfx: Vec<GfxTarget>,
    /// Requested targets that are not compiled, with the reason.
    pub(super) dropped: Vec<(GfxTarget, SupportReason)>,
    /// The reason why cells with this device code have no job.
    pub(super) no_job: Option<NoJobReason>,
}

/// The reason why a cell that compiles device code has no job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoJobReason {
    /// None of the families can be built.
    FamiliesUnsupported,
    /// None of the targets can be compiled.
    TargetsUnsupported,
}

/// The machines that a job runs on, with its image.
#[derive(Debug)]
pub(super) struct RunnerChoice {
    /// The platform tag of its wheels before repair.
    pub(super) platform: String,
    /// Index of the first runner in the compatibility data with its architecture.
    pub(super) arch_number: usize,
    pub(super) image: Option<String>,
    /// The glibc version of the image, if the compatibility data has it.
    pub(super) image_glibc: Option<Version>,
    pub(super) note: Option<String>,
    /// The runner, or the members of a pool, one of which each job uses; never empty.
    pub(super) machines: Vec<MachineKind>,
    /// The machines that test the wheel, if it is not tested by the build itself.
    pub(super) tested_at: Vec<MachineKind>,
    pub(super) gpu: GpuPolicy,
    pub(super) threads: Option<u32>,
    pub(super) limit_min: Option<u32>,
}

impl InternedValues {
    /// Number of the overrides of a job that no row matches.
    pub(super) const NO_OVERRIDES: u32 = 0;

    /// Number of the extra wheels of jobs that have none.
    pub(super) const NO_WHEELS: u32 = 0;

    /// Computes the values that depend only on the axes, before any job is created.
    pub(super) fn of(
        config: &MatrixConfig,
        profile: &RecipeProfile,
        space: &AxisSpace,
        compat: &Compat,
    ) -> Self {
        let mut interned = Self::default();
        let none = interned.overrides.intern(Vec::new(), RowOverrides::default);
        assert_eq!(none, Self::NO_OVERRIDES);
        if profile.wheels.is_empty() {
            interned.wheels.intern(ExtraWheelsKey::default(), Vec::new);
        }
        for column in space.axes() {
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
                    .map(|value: &crate::config::AxisValue| job_id::part(&prefix, &value.text))
                    .unwrap_or_default()
            };
            interned
                .id_parts
                .push(column.values.iter().map(part).collect());
        }
        let mut order: Vec<usize> = (0..space.axes().len()).collect();
        let rank = |role| match role {
            AxisRole::Package => 0,
            AxisRole::Rocm => 1,
            AxisRole::Torch => 2,
            AxisRole::Python => 3,
            AxisRole::Gfx => 4,
            AxisRole::Field => 5,
            AxisRole::Backend => 6,
        };
        order.sort_by_key(|&axis| {
            (
                rank(space.axes()[axis].role),
                space.axes()[axis].name.clone(),
            )
        });
        interned.id_order = order;
        interned.packages = packages(space, profile, compat);
        if config.test.families.is_some() {
            let rows = compat.family_build_tables().family_builds.iter();
            let rows = rows.filter(|row| {
                row.platform == config.platform.word() && !row.test_runner.is_empty()
            });
            interned.tested_on = rows
                .map(|row| {
                    (
                        row.family.clone(),
                        machines_of(&RunnerSelector::label(&row.test_runner), compat),
                    )
                })
                .collect();
        }
        interned
    }
}

/// Returns the values of the package axis.
fn packages(space: &AxisSpace, profile: &RecipeProfile, compat: &Compat) -> Vec<PackageValue> {
    let Some(axis) = space.position(AxisRole::Package) else {
        return vec![PackageValue {
            in_name: ExpectedWheel::version_text(None),
            ..PackageValue::default()
        }];
    };
    let mut packages = Vec::new();
    for (index, value) in space.axes()[axis].values.iter().enumerate() {
        let Some(ParsedValue::Package(package)) = value.as_ref().map(|value| &value.value) else {
            packages.push(PackageValue {
                in_name: ExpectedWheel::version_text(None),
                ..PackageValue::default()
            });
            continue;
        };
        let row = compat.package(&profile.package, package);
        let version = match package {
            PackageVersion::Released(version) => Some(version.clone()),
            PackageVersion::Commit { .. } => row.and_then(|row| row.version.parse().ok()),
        };
        packages.push(PackageValue {
            in_name: ExpectedWheel::version_text(version.as_ref()),
            version,
            has_gfx_limits: row.is_some_and(|row| !row.gfx.is_empty()),
            commit: if matches!(package, PackageVersion::Commit { .. }) {
                index + 1
            } else {
                0
            },
            warnings: row.map(|row| row.warnings.clone()).unwrap_or_default(),
        });
    }
    packages
}
