//! Selects the GPU targets of each job from the axes, the matrix file and the recipe.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;

use super::compact_jobs::{CompactJobBuilder, JobList};
use super::gfx_choice::{GfxQuery, choose_gfx};
use super::interned_values::{DeviceCode, NoJobReason};
use super::naming::CellValues;
use crate::codes::plan as codes;
use crate::config::{AxisRole, AxisValue, GfxSelection, ParsedValue, RowOverrides, TorchFrom};
use crate::matrix::{CellRank, ExclusionRow};
use rock_compat::SupportReason;
use rock_diagnostic::{Diagnostic, Sink};
use rock_names::GfxTarget;

/// The targets that a matrix file requests for a cell.
struct RequestedGfx {
    /// The targets, with families expanded.
    targets: Vec<GfxTarget>,
    /// The families and targets as written.
    families: Vec<String>,
}

impl CompactJobBuilder<'_> {
    /// Returns the device code of a cell. `unsupported` are the rows of families that cannot be
    /// built for it, as a bit set, and `overrides` those of the rows that match it.
    pub(super) fn device_code(
        &self,
        cell: CellRank,
        values: &CellValues<'_>,
        unsupported: u64,
        overrides: &RowOverrides,
    ) -> DeviceCode {
        if !values.backend.device_code {
            return DeviceCode::default();
        }
        let Some(mut requested) = self.requested_gfx(cell, overrides) else {
            return DeviceCode::default();
        };
        let has_families = !requested.families.is_empty();
        let mut dropped = self.drop_unsupported_families(&mut requested, unsupported);
        if has_families && requested.families.is_empty() {
            return DeviceCode {
                no_job: Some(NoJobReason::FamiliesUnsupported),
                ..DeviceCode::default()
            };
        }
        let RequestedGfx {
            targets,
            mut families,
        } = requested;
        let choice = choose_gfx(&targets, &self.gfx_query(values), self.compat);
        families.retain(|family| {
            let members = self.members(family);
            members.iter().any(|target| choice.kept.contains(target))
        });
        let has_no_target = choice.kept.is_empty() && !targets.is_empty();
        dropped.extend(choice.dropped);
        DeviceCode {
            families,
            gfx: choice.kept,
            dropped,
            no_job: has_no_target.then_some(NoJobReason::TargetsUnsupported),
        }
    }

    /// Returns the targets that the axis `gfx` requests for a cell, or else the overrides, or else
    /// the matrix file. Returns `None` if they are those of this machine, which are not known here.
    fn requested_gfx(&self, cell: CellRank, overrides: &RowOverrides) -> Option<RequestedGfx> {
        let axis = self.axis_of_role.get(&AxisRole::Gfx);
        let of_axis = axis.and_then(|&axis| self.space.value(cell, axis));
        if let Some(AxisValue {
            text,
            value: ParsedValue::Gfx(targets),
        }) = of_axis
        {
            return Some(RequestedGfx {
                targets: targets.clone(),
                families: text.split(';').map(str::to_owned).collect(),
            });
        }
        let (targets, families) = match (&overrides.gfx, &self.config.gfx) {
            (Some(targets), _) => (targets, overrides.families.clone().unwrap_or_default()),
            (None, GfxSelection::Targets(targets)) => (targets, self.config.families.clone()),
            (None, GfxSelection::Host) => return None,
        };
        Some(RequestedGfx {
            targets: targets.clone(),
            families,
        })
    }

    /// Drops the families that these rows say cannot be built, and returns their targets with the
    /// reason. A target that also belongs to another requested family is kept.
    fn drop_unsupported_families(
        &self,
        requested: &mut RequestedGfx,
        rows: u64,
    ) -> Vec<(GfxTarget, SupportReason)> {
        let mut unsupported = Vec::new();
        requested.families.retain(|family| {
            let reason = self.unsupported.reason(rows, family);
            let is_supported = reason.is_none();
            unsupported.extend(reason.map(|reason| (self.members(family), reason)));
            is_supported
        });
        if unsupported.is_empty() {
            return Vec::new();
        }
        let families = requested.families.iter();
        let supported: Vec<GfxTarget> = families.flat_map(|family| self.members(family)).collect();
        requested
            .targets
            .retain(|target| supported.contains(target));
        let mut dropped = Vec::new();
        for (members, reason) in unsupported {
            let others = members
                .into_iter()
                .filter(|target| !supported.contains(target));
            dropped.extend(others.map(|target| (target, reason.clone())));
        }
        dropped
    }

    fn gfx_query<'q>(&'q self, values: &CellValues<'q>) -> GfxQuery<'q> {
        let uses_torch_index =
            self.profile.installed_torch_from(self.config) == TorchFrom::PytorchIndex;
        GfxQuery {
            package: &self.profile.package,
            version: values.package,
            backend: &values.backend.name,
            rocm: values.rocm,
            is_rocm_collapsed: self.is_collapsed(AxisRole::Rocm, values),
            uses_torch_wheels: uses_torch_index && values.torch.is_some(),
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
        let device_codes = &list.interned.device_codes;
        let mut without_family = Vec::new();
        // By package too, because versions that accept any target share device code.
        let mut without_target: IndexMap<(u32, usize), (CellRank, u64)> = IndexMap::new();
        for &(cell, device_code) in &list.cells_without_job {
            if device_codes.get(device_code).no_job == Some(NoJobReason::FamiliesUnsupported) {
                without_family.push((cell, self.unsupported.of(self.space, cell)));
            } else {
                let key = (device_code, self.index(cell, AxisRole::Package));
                without_target.entry(key).or_insert((cell, 0)).1 += 1;
            }
        }
        let gfx_axis = self.axis_of_role.get(&AxisRole::Gfx).copied();
        let mut rows = self
            .unsupported
            .excluded(self.space, &without_family, gfx_axis);
        let mut reported = BTreeSet::new();
        for ((device_code, _), (cell, count)) in without_target {
            let dropped = &device_codes.get(device_code).dropped;
            if has_jobs && self.has_overridden_gfx(cell) {
                rows.push(self.exclusion_without_target(cell, count, dropped));
            } else if reported.insert(device_code) {
                sink.push(self.no_gfx_left(cell, dropped));
            }
        }
        rows
    }

    /// Returns the cells without a job whose targets the command line sets: with those of the
    /// matrix file, they may have one.
    pub(super) fn cells_excluded_by_override(&self, list: &JobList) -> Vec<CellRank> {
        // Cells with the same device code have the targets of the same place.
        let mut by_device_code: BTreeMap<u32, bool> = BTreeMap::new();
        let mut cells = Vec::new();
        for &(cell, device_code) in &list.cells_without_job {
            let is_overridden = *by_device_code
                .entry(device_code)
                .or_insert_with(|| self.has_overridden_gfx(cell));
            if is_overridden {
                cells.push(cell);
            }
        }
        cells
    }

    /// Whether the command line sets the targets of a cell.
    fn has_overridden_gfx(&self, cell: CellRank) -> bool {
        let path = self.path_of_gfx(cell);
        self.config.locations.is_override(&path)
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

    /// Returns the error that none of the targets of a cell can be compiled.
    fn no_gfx_left(&self, cell: CellRank, dropped: &[(GfxTarget, SupportReason)]) -> Diagnostic {
        let backend = &self.values(cell).backend.name;
        let diagnostic = Diagnostic::new(&codes::NO_GFX_LEFT, no_target_reason(dropped))
            .at(
                self.config.locations.of(&self.path_of_gfx(cell)),
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

    /// Returns the exclusion of `count` cells with the same package, ROCm, backend and targets as
    /// this one.
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
        let first = dropped.first().map(|(_, reason)| reason);
        ExclusionRow {
            axes: axes.collect(),
            count,
            code: &codes::NO_GFX_LEFT,
            reason: no_target_reason(dropped),
            hint: first.map_or_else(String::new, SupportReason::hint_text),
            source: first.map_or_else(String::new, |reason| reason.source.clone()),
        }
    }
}

fn no_target_reason(dropped: &[(GfxTarget, SupportReason)]) -> String {
    let reasons: Vec<String> = dropped
        .iter()
        .map(|(target, reason)| format!("{target}: {}", reason.reason))
        .collect();
    format!("no gfx target is left ({})", reasons.join("; "))
}
