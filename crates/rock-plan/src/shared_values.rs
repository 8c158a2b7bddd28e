//! Values that many jobs of one matrix file share, and a job in compact form.

use std::collections::BTreeMap;

use super::interner::Interner;
use super::machine_kind::{MachineKind, places};
use super::{BuildEstimate, DroppedGfx, job_id};
use crate::config::{
    AxisRole, GpuPolicy, MatrixConfig, ParsedValue, RecipeProfile, RowOverrides, RunnerSelector,
};
use crate::matrix::{AxisSpace, CellRank};
use rock_compat::Compat;
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
    pub(super) changes: u32,
    /// What further wheels it leaves.
    pub(super) wheels: u32,
    /// 0: covers itself only; else 1 + index into `SharedValues::covers`.
    pub(super) covers: u32,
}

/// Values that many jobs of a group share.
#[derive(Debug, Default)]
pub(super) struct SharedValues {
    /// Parts of ids: axis position → value index → part.
    pub(super) id_parts: Vec<Vec<String>>,
    /// Axis positions in the order in which ids name them.
    pub(super) id_order: Vec<usize>,
    /// By value index on the package axis; one entry of nothing without such an axis.
    pub(super) packages: Vec<PackageValue>,
    /// By torch, ROCm, commit (0 for releases), backend.
    pub(super) labels: Interner<(usize, usize, usize, usize), Option<LocalLabel>>,
    /// How names end, by Python, backend and architecture, and for trees by device.
    pub(super) tags: Interner<(usize, usize, usize, usize), String>,
    /// By kind of package, ROCm, backend, gfx axis, changes, refused families.
    pub(super) devices: Interner<(usize, usize, usize, usize, usize, u64), DeviceCode>,
    /// By torch, ROCm, Python, runner axis, gpu axis, changes.
    pub(super) sites: Interner<(usize, usize, usize, usize, usize, usize), RunnerChoice>,
    /// By device, site and backend.
    pub(super) estimates: Interner<(usize, usize, usize), Option<BuildEstimate>>,
    /// By the rows that match.
    pub(super) changes: Interner<Vec<usize>, RowOverrides>,
    /// Names of further wheels: by label, tag and changes, and by field axes, version and device
    /// where these matter.
    pub(super) wheels: Interner<(u32, u32, u32, Vec<usize>), Vec<String>>,
    /// Where a family is tested, by its name; of those that have a runner on the platform.
    pub(super) tested_on: BTreeMap<String, Vec<MachineKind>>,
    /// Of each collapsed job its collapsed axes, with value indexes.
    pub(super) covers: Vec<Vec<(usize, Vec<usize>)>>,
}

/// What one value of the package axis stands for.
#[derive(Debug, Default)]
pub(super) struct PackageValue {
    /// The public version that the wheel carries.
    pub(super) version: Option<Version>,
    /// The version as it stands in the wheel's name.
    pub(super) in_name: String,
    /// The first value with the same facts: values of one kind compile the same device code.
    pub(super) kind: usize,
    /// The commit's place among the values; 0 for releases.
    pub(super) commit: usize,
    /// Warnings by backend.
    pub(super) warnings: BTreeMap<String, String>,
}

/// What device code a job compiles.
#[derive(Debug)]
pub(super) struct DeviceCode {
    /// The families and targets as they were asked for, without those that nothing is compiled for.
    pub(super) families: Vec<String>,
    pub(super) gfx: Vec<GfxTarget>,
    pub(super) dropped: Vec<DroppedGfx>,
    /// Whether every family was refused, so that there is no job.
    pub(super) is_refused: bool,
}

/// Where a job runs.
#[derive(Debug)]
pub(super) struct RunnerChoice {
    /// The platform tag of what is built there, before repair.
    pub(super) platform: String,
    /// The first runner of the facts with its architecture.
    pub(super) arch_number: usize,
    pub(super) image: Option<String>,
    /// The glibc of the image, where the facts know it.
    pub(super) image_glibc: Option<Version>,
    pub(super) note: Option<String>,
    /// The runner, or the members of a pool of which each job has one; never empty.
    pub(super) places: Vec<MachineKind>,
    /// Where its wheel is tested, where that is not the build itself.
    pub(super) tested_at: Vec<MachineKind>,
    pub(super) gpu: GpuPolicy,
    pub(super) threads: Option<u32>,
    pub(super) limit_min: Option<u32>,
}

impl SharedValues {
    /// The number of the changes of a job that no row changes.
    pub(super) const NO_CHANGES: u32 = 0;

    /// The number of the further wheels of jobs that leave none.
    pub(super) const NO_WHEELS: u32 = 0;

    /// What is known of the axes before any job is made.
    pub(super) fn of(
        config: &MatrixConfig,
        profile: &RecipeProfile,
        universe: &AxisSpace,
        compat: &Compat,
    ) -> Self {
        let mut shared = Self::default();
        let unchanged = shared.changes.number(Vec::new(), RowOverrides::default);
        assert_eq!(unchanged, Self::NO_CHANGES);
        if profile.wheels.is_empty() {
            shared.wheels.number((0, 0, 0, Vec::new()), Vec::new);
        }
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
                    .map(|value: &crate::config::AxisValue| job_id::part(&prefix, &value.text))
                    .unwrap_or_default()
            };
            shared
                .id_parts
                .push(column.values.iter().map(part).collect());
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
        order.sort_by_key(|&axis| {
            (
                rank(universe.axes()[axis].role),
                universe.axes()[axis].name.clone(),
            )
        });
        shared.id_order = order;
        shared.packages = packages(universe, profile, compat);
        if config.test.families.is_some() {
            let rows = compat.family_build_tables().family_builds.iter();
            let rows = rows.filter(|row| {
                row.platform == config.platform.word() && !row.test_runner.is_empty()
            });
            shared.tested_on = rows
                .map(|row| {
                    (
                        row.family.clone(),
                        places(&RunnerSelector::label(&row.test_runner), compat),
                    )
                })
                .collect();
        }
        shared
    }
}

/// What every value of the package axis stands for.
fn packages(universe: &AxisSpace, profile: &RecipeProfile, compat: &Compat) -> Vec<PackageValue> {
    let Some(axis) = universe.position(AxisRole::Package) else {
        return vec![PackageValue {
            in_name: ExpectedWheel::version_text(None),
            ..PackageValue::default()
        }];
    };
    let mut kinds: Vec<(Option<*const rock_compat::rows::PackageRow>, usize)> = Vec::new();
    let mut packages = Vec::new();
    for (index, value) in universe.axes()[axis].values.iter().enumerate() {
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
