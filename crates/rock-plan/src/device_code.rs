//! Selects the GPU targets of each job from the axes, the matrix file and the recipe.

use super::compact_jobs::CompactJobBuilder;
use super::gfx_choice::choose_gfx;
use super::interned_values::DeviceCode;
use super::naming::CellValues;
use crate::codes::plan as codes;
use crate::config::{AxisRole, AxisValue, GfxSelection, ParsedValue, RowOverrides, TorchFrom};
use crate::matrix::CellRank;
use rock_compat::SupportReason;
use rock_diagnostic::{Diagnostic, Sink};
use rock_names::GfxTarget;

impl CompactJobBuilder<'_> {
    /// Returns the device code of a cell after applying the matching override rows. Reports an
    /// error if none of the requested targets is left.
    pub(super) fn device_code(
        &self,
        cell: CellRank,
        values: &CellValues<'_>,
        unsupported: u64,
        (overrides, matching): (&RowOverrides, &[usize]),
        sink: &mut Sink,
    ) -> DeviceCode {
        let none = DeviceCode {
            families: Vec::new(),
            gfx: Vec::new(),
            dropped: Vec::new(),
            is_unsupported: false,
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
                is_unsupported: true,
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
        if choice.kept.is_empty() && !wanted.is_empty() {
            sink.push(self.no_gfx_left(cell, values, matching, &choice.dropped));
        }
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
            is_unsupported: false,
        }
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

    fn no_gfx_left(
        &self,
        cell: CellRank,
        values: &CellValues<'_>,
        matching: &[usize],
        dropped: &[(GfxTarget, SupportReason)],
    ) -> Diagnostic {
        let why: Vec<String> = dropped
            .iter()
            .map(|(target, because)| format!("{target}: {}", because.reason))
            .collect();
        let path_on_axis = |role: AxisRole| {
            let axis = *self.axis_of_role.get(&role)?;
            let (column, index) = (&self.space.axes()[axis], self.space.index(cell, axis));
            let text = &column.values[index].as_ref()?.text;
            Some((
                format!("axes.{}[{index}]", column.name),
                format!("{} {text}", column.name),
            ))
        };
        let of_axis = path_on_axis(AxisRole::Gfx).map(|(path, _)| path);
        let path = of_axis
            .or_else(|| self.overrides.path_of_gfx(matching))
            .unwrap_or_else(|| "gfx".to_owned());
        let diagnostic = Diagnostic::new(
            &codes::NO_GFX_LEFT,
            format!("no gfx target is left ({})", why.join("; ")),
        )
        .at(
            self.config.locations.of(&path),
            format!("for the backend `{}`", values.backend.name),
        )
        .help("add a target that the build supports, or exclude this combination");
        let also = [AxisRole::Package, AxisRole::Rocm]
            .into_iter()
            .filter_map(path_on_axis);
        also.fold(diagnostic, |diagnostic, (path, text)| {
            diagnostic.also(self.config.locations.of(&path), text)
        })
    }
}
