//! Selects the GPU targets of each job from the axes, the matrix file and the recipe.

use std::collections::BTreeMap;

use indexmap::IndexMap;

use super::compact_jobs::{CompactJobBuilder, JobList};
use super::gfx_choice::choose_gfx;
use super::interned_values::{DeviceCode, NoDeviceCode};
use super::naming::CellValues;
use crate::codes::plan as codes;
use crate::config::{AxisRole, AxisValue, GfxSelection, ParsedValue, RowOverrides, TorchFrom};
use crate::matrix::{CellRank, ExclusionRow};
use rock_compat::SupportReason;
use rock_diagnostic::{Diagnostic, Sink};
use rock_names::GfxTarget;

impl CompactJobBuilder<'_> {
    /// Returns the device code of a cell after applying the overrides of the matching rows.
    pub(super) fn device_code(
        &self,
        cell: CellRank,
        values: &CellValues<'_>,
        unsupported: u64,
        overrides: &RowOverrides,
    ) -> DeviceCode {
        let none = DeviceCode {
            families: Vec::new(),
            gfx: Vec::new(),
            dropped: Vec::new(),
            no_job: None,
        };
        if !values.backend.device_code {
            return none;
        }
        let of_axis = self
            .axis_of_role
            .get(&AxisRole::Gfx)
            .and_then(|&axis| self.space.value(cell, axis));
        let (wanted, families): (&[GfxTarget], Vec<String>) =
            match (of_axis, &overrides.gfx, &self.config.gfx) {
                (
                    Some(AxisValue {
                        text,
                        value: ParsedValue::Gfx(targets),
                    }),
                    _,
                    _,
                ) => (targets, text.split(';').map(str::to_owned).collect()),
                (_, Some(targets), _) => (targets, overrides.families.clone().unwrap_or_default()),
                (_, _, GfxSelection::Targets(targets)) => (targets, self.config.families.clone()),
                (_, None, GfxSelection::Host) => return none,
            };
        let (left, taken): (Vec<String>, Vec<String>) = families
            .into_iter()
            .partition(|family| self.unsupported.reason(unsupported, family).is_none());
        if left.is_empty() && !taken.is_empty() {
            return DeviceCode {
                no_job: Some(NoDeviceCode::Families),
                ..none
            };
        }
        let mut dropped = Vec::new();
        let wanted: Vec<GfxTarget> = if taken.is_empty() {
            wanted.to_vec()
        } else {
            // A target may also belong to another family.
            let kept: Vec<GfxTarget> = left
                .iter()
                .flat_map(|family| self.members(family))
                .collect();
            for family in &taken {
                let Some(because) = self.unsupported.reason(unsupported, family) else {
                    continue;
                };
                let gone = self
                    .members(family)
                    .into_iter()
                    .filter(|target| !kept.contains(target));
                dropped.extend(gone.map(|target| (target, because.clone())));
            }
            wanted
                .iter()
                .filter(|target| kept.contains(target))
                .cloned()
                .collect()
        };
        let wanted = wanted.as_slice();
        let torch_wheels =
            self.config.torch_from == TorchFrom::PytorchIndex && values.torch.is_some();
        let package = (self.profile.package.as_str(), values.package);
        let choice = choose_gfx(
            wanted,
            self.compat,
            package,
            &values.backend.name,
            values.rocm,
            torch_wheels,
        );
        let has_none = choice.kept.is_empty() && !wanted.is_empty();
        dropped.extend(choice.dropped);
        let is_compiled = |family: &String| {
            self.members(family)
                .iter()
                .any(|target| choice.kept.contains(target))
        };
        let families = left.into_iter().filter(is_compiled).collect();
        DeviceCode {
            families,
            gfx: choice.kept,
            dropped,
            no_job: has_none.then_some(NoDeviceCode::Targets),
        }
    }

    /// Returns the exclusions of the cells of a group without a job. Cells without a target are
    /// errors instead, unless the command line sets the targets and the plan has jobs.
    pub(super) fn excluded_cells(
        &self,
        list: &JobList,
        has_jobs: bool,
        sink: &mut Sink,
    ) -> Vec<ExclusionRow> {
        let interned = &list.interned;
        let mut without_family = Vec::new();
        // By package, because versions with the same compatibility data share device code.
        let mut without_target: IndexMap<(u32, usize), (CellRank, u64)> = IndexMap::new();
        for &(cell, device) in &list.cells_without_job {
            if interned.device_codes.get(device).no_job == Some(NoDeviceCode::Families) {
                without_family.push((cell, self.unsupported.of(self.space, cell)));
            } else {
                let key = (device, self.index(cell, AxisRole::Package));
                without_target.entry(key).or_insert((cell, 0)).1 += 1;
            }
        }
        let gfx_axis = self.axis_of_role.get(&AxisRole::Gfx).copied();
        let mut rows = self
            .unsupported
            .excluded(self.space, &without_family, gfx_axis);
        let mut excludes: BTreeMap<u32, bool> = BTreeMap::new();
        for ((device, _), (cell, count)) in without_target {
            let dropped = &interned.device_codes.get(device).dropped;
            let is_excluded = *excludes.entry(device).or_insert_with(|| {
                let path = self.path_of_gfx(cell);
                let is_excluded = has_jobs && self.config.locations.is_override(&path);
                if !is_excluded {
                    sink.push(self.no_gfx_left(cell, &path, dropped));
                }
                is_excluded
            });
            if is_excluded {
                rows.push(self.exclusion_without_target(cell, count, dropped));
            }
        }
        rows
    }

    /// Returns the targets of a family; a target is a family of one.
    fn members(&self, family: &str) -> Vec<GfxTarget> {
        match self.compat.family(family) {
            Some(members) => members
                .iter()
                .filter_map(|member| member.parse().ok())
                .collect(),
            None => family.parse().into_iter().collect(),
        }
    }

    /// Returns the name and the value of the axis with this role, and the path of the value.
    fn value_of_role(&self, cell: CellRank, role: AxisRole) -> Option<(&str, &str, String)> {
        let axis = *self.axis_of_role.get(&role)?;
        let (column, index) = (&self.space.axes()[axis], self.space.index(cell, axis));
        let text = &column.values[index].as_ref()?.text;
        Some((
            column.name.as_str(),
            text.as_str(),
            format!("axes.{}[{index}]", column.name),
        ))
    }

    /// Returns the path in the file of a cell's gfx targets.
    fn path_of_gfx(&self, cell: CellRank) -> String {
        let of_axis = self.value_of_role(cell, AxisRole::Gfx);
        of_axis
            .map(|(.., path)| path)
            .or_else(|| {
                let matching = self.overrides.matching(self.space, cell);
                self.overrides.path_of_gfx(&matching)
            })
            .unwrap_or_else(|| "gfx".to_owned())
    }

    fn no_gfx_left(
        &self,
        cell: CellRank,
        path: &str,
        dropped: &[(GfxTarget, SupportReason)],
    ) -> Diagnostic {
        let backend = &self.values(cell).backend.name;
        let diagnostic = Diagnostic::new(&codes::NO_GFX_LEFT, no_target_reason(dropped))
            .at(
                self.config.locations.of(path),
                format!("for the backend `{backend}`"),
            )
            .help("add a target that the build supports, or exclude this combination");
        let also = [AxisRole::Package, AxisRole::Rocm]
            .into_iter()
            .filter_map(|role| self.value_of_role(cell, role));
        also.fold(diagnostic, |diagnostic, (name, text, path)| {
            diagnostic.also(self.config.locations.of(&path), format!("{name} {text}"))
        })
    }

    /// Returns the exclusion of cells with the same package, ROCm, backend and targets as this one.
    fn exclusion_without_target(
        &self,
        cell: CellRank,
        count: u64,
        dropped: &[(GfxTarget, SupportReason)],
    ) -> ExclusionRow {
        let roles = [
            AxisRole::Package,
            AxisRole::Rocm,
            AxisRole::Backend,
            AxisRole::Gfx,
        ];
        let axes = roles
            .into_iter()
            .filter_map(|role| self.value_of_role(cell, role))
            .map(|(name, text, _)| (name.to_owned(), text.to_owned()));
        let first = dropped.first().map(|(_, because)| because);
        ExclusionRow {
            axes: axes.collect(),
            count,
            code: &codes::NO_GFX_LEFT,
            reason: no_target_reason(dropped),
            hint: first.map_or_else(String::new, |because| because.hint.clone()),
            source: first.map_or_else(String::new, |because| because.source.clone()),
        }
    }
}

fn no_target_reason(dropped: &[(GfxTarget, SupportReason)]) -> String {
    let reasons: Vec<String> = dropped
        .iter()
        .map(|(target, because)| format!("{target}: {}", because.reason))
        .collect();
    format!("no gfx target is left ({})", reasons.join("; "))
}
