//! Values that the jobs of one matrix file share, and jobs in compact form.

use std::collections::BTreeMap;

use super::interner::Interner;
use super::machine_kind::{MachineKind, machines_of};
use super::{BuildEstimate, job_id};
use crate::config::{
    AxisRole, GpuPolicy, MatrixConfig, ParsedValue, RecipeProfile, RowOverrides, RunnerSelector,
};
use crate::matrix::{AxisSpace, CellRank};
use rock_compat::{Compat, SupportReason};
use rock_names::{ExpectedWheel, GfxTarget, LocalLabel, PackageVersion, Version};

/// A job in compact form: a cell, and numbers of shared values.
#[derive(Debug, Clone, Copy)]
pub(super) struct CompactJob {
    pub(super) cell: CellRank,
    pub(super) label: u32,
    pub(super) tag: u32,
    pub(super) device: u32,
    pub(super) site: u32,
    pub(super) estimate: u32,
    pub(super) overrides: u32,
    /// Number of its extra wheels' names.
    pub(super) wheels: u32,
    /// 0 if the job is not collapsed, otherwise 1 + the index into `SharedValues::covers`.
    pub(super) covers: u32,
}

/// Values that the jobs of a group share.
#[derive(Debug, Default)]
pub(super) struct SharedValues {
    /// Parts of IDs, by axis position and value index.
    pub(super) id_parts: Vec<Vec<String>>,
    /// Axis positions in their order in IDs.
    pub(super) id_order: Vec<usize>,
    /// By value index on the package axis; a single default entry without such an axis.
    pub(super) packages: Vec<PackageValue>,
    /// By torch, ROCm, commit (0 for releases) and backend.
    pub(super) labels: Interner<(usize, usize, usize, usize), Option<LocalLabel>>,
    /// Ends of names, by Python, backend and architecture, and for trees also by device code.
    pub(super) tags: Interner<(usize, usize, usize, usize), String>,
    pub(super) devices: Interner<DeviceCodeKey, DeviceCode>,
    /// By torch, ROCm, Python, runner axis, gpu axis and overrides.
    pub(super) sites: Interner<(usize, usize, usize, usize, usize, usize), RunnerChoice>,
    /// By device code, site and backend.
    pub(super) estimates: Interner<(usize, usize, usize), Option<BuildEstimate>>,
    /// By the matching rows.
    pub(super) overrides: Interner<Vec<usize>, RowOverrides>,
    /// Names of extra wheels, by label, tag and overrides, and by field axes, version and device
    /// code if they matter.
    pub(super) wheels: Interner<(u32, u32, u32, Vec<usize>), Vec<String>>,
    /// The machines that test a family, by its name; only families with a runner on the platform.
    pub(super) tested_on: BTreeMap<String, Vec<MachineKind>>,
    /// For each collapsed job its collapsed axes, with value indexes.
    pub(super) covers: Vec<Vec<(usize, Vec<usize>)>>,
}

/// The values that the device code of a job depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct DeviceCodeKey {
    /// [`PackageValue::kind`].
    pub(super) package_kind: usize,
    /// Value indexes.
    pub(super) rocm: usize,
    pub(super) backend: usize,
    pub(super) gfx: usize,
    /// Whether the cell has a torch, whose wheels may lack targets.
    pub(super) has_torch: bool,
    /// The number of the override rows.
    pub(super) overrides: usize,
    /// The rows of families that cannot be built, as a bit set.
    pub(super) refused: u64,
}

/// A value of the package axis.
#[derive(Debug, Default)]
pub(super) struct PackageValue {
    /// The public version of the wheel.
    pub(super) version: Option<Version>,
    /// The version as it appears in the wheel name.
    pub(super) in_name: String,
    /// Index of the first value with the same compatibility data: values of one kind compile the
    /// same device code.
    pub(super) kind: usize,
    /// The index of a commit among the values plus 1; 0 for releases.
    pub(super) commit: usize,
    /// Warnings by backend.
    pub(super) warnings: BTreeMap<String, String>,
}

/// The device code that a job compiles.
#[derive(Debug)]
pub(super) struct DeviceCode {
    /// The requested families and targets, without those that nothing is compiled for.
    pub(super) families: Vec<String>,
    pub(super) gfx: Vec<GfxTarget>,
    /// Requested targets that are not compiled, with the reason.
    pub(super) dropped: Vec<(GfxTarget, SupportReason)>,
    /// Whether no family can be built, so that there is no job.
    pub(super) is_refused: bool,
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

impl SharedValues {
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
        let mut shared = Self::default();
        let none = shared.overrides.number(Vec::new(), RowOverrides::default);
        assert_eq!(none, Self::NO_OVERRIDES);
        if profile.wheels.is_empty() {
            shared.wheels.number((0, 0, 0, Vec::new()), Vec::new);
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
            shared
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
        shared.id_order = order;
        shared.packages = packages(space, profile, compat);
        if config.test.families.is_some() {
            let rows = compat.family_build_tables().family_builds.iter();
            let rows = rows.filter(|row| {
                row.platform == config.platform.word() && !row.test_runner.is_empty()
            });
            shared.tested_on = rows
                .map(|row| {
                    (
                        row.family.clone(),
                        machines_of(&RunnerSelector::label(&row.test_runner), compat),
                    )
                })
                .collect();
        }
        shared
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
    let mut kinds: Vec<(Option<*const rock_compat::rows::PackageRow>, usize)> = Vec::new();
    let mut packages = Vec::new();
    for (index, value) in space.axes()[axis].values.iter().enumerate() {
        let Some(ParsedValue::Package(asked)) = value.as_ref().map(|value| &value.value) else {
            packages.push(PackageValue {
                in_name: ExpectedWheel::version_text(None),
                ..PackageValue::default()
            });
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
        packages.push(PackageValue {
            in_name: ExpectedWheel::version_text(version.as_ref()),
            version,
            kind,
            commit: if matches!(asked, PackageVersion::Commit { .. }) {
                index + 1
            } else {
                0
            },
            warnings: row.map(|row| row.warnings.clone()).unwrap_or_default(),
        });
    }
    packages
}
