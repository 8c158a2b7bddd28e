//! Families that cannot be built with a value of an axis (P052).

use std::collections::BTreeMap;

use indexmap::IndexMap;

use crate::codes::plan as codes;
use crate::config::Platform;
use crate::matrix::{AxisSpace, CellRank, ExclusionRow};
use rock_compat::rows::UnsupportedFamilyRow;
use rock_compat::{Compat, SupportReason};

/// The rows of the compatibility data that apply to values of a matrix file.
#[derive(Debug)]
pub(super) struct UnsupportedFamilies<'a> {
    compat: &'a Compat,
    /// Axis and value index with their row.
    rows: Vec<(usize, usize, &'a UnsupportedFamilyRow)>,
}

impl<'a> UnsupportedFamilies<'a> {
    pub(super) fn new(space: &AxisSpace, compat: &'a Compat, platform: Platform) -> Self {
        let named = |row: &'a UnsupportedFamilyRow| {
            let axis = space.position_of_name(&row.axis)?;
            Some((axis, space.axes()[axis].index_of(&row.value)?, row))
        };
        let rows = compat.family_build_tables().unsupported_families.iter();
        let is_for = |row: &&UnsupportedFamilyRow| {
            row.platform.is_empty() || row.platform == platform.word()
        };
        Self {
            compat,
            rows: rows.filter(is_for).filter_map(named).collect(),
        }
    }

    /// Returns the rows that apply to a cell, as a bit set of at most 64 rows.
    pub(super) fn of(&self, space: &AxisSpace, cell: CellRank) -> u64 {
        let applies = |&(axis, index, _): &(usize, usize, _)| space.index(cell, axis) == index;
        let rows = self
            .rows
            .iter()
            .take(64)
            .enumerate()
            .filter(|(_, row)| applies(row));
        rows.fold(0, |bits, (number, _)| bits | 1 << number)
    }

    /// Returns the reason why a family cannot be built according to the rows in this bit set;
    /// family names are compared case-insensitively.
    pub(super) fn reason(&self, bits: u64, family: &str) -> Option<SupportReason> {
        let mut rows = self.applying(bits).map(|(.., row)| row);
        let row = rows.find(|row| {
            row.families
                .iter()
                .any(|known| known.eq_ignore_ascii_case(family))
        })?;
        Some(SupportReason {
            reason: format!("{} {} cannot be built for {family}", row.axis, row.value),
            hint: Some("select other families".into()),
            source: self.cite(row),
        })
    }

    /// Returns the rows in this bit set.
    fn applying(
        &self,
        bits: u64,
    ) -> impl Iterator<Item = &(usize, usize, &'a UnsupportedFamilyRow)> {
        let rows = self.rows.iter().take(64).enumerate();
        rows.filter(move |(number, _)| bits >> number & 1 == 1)
            .map(|(_, row)| row)
    }

    fn cite(&self, row: &UnsupportedFamilyRow) -> String {
        let entry = format!("{} {}", row.axis, row.value);
        self.compat.cite("release-types.yaml", &entry, &row.origin)
    }

    /// Returns the exclusions of cells that have no family left, one per set of values that causes
    /// it.
    pub(super) fn excluded(
        &self,
        space: &AxisSpace,
        cells: &[(CellRank, u64)],
        gfx_axis: Option<usize>,
    ) -> Vec<ExclusionRow> {
        let mut counts: BTreeMap<Vec<(usize, usize)>, (u64, u64)> = BTreeMap::new();
        for &(cell, bits) in cells {
            let values = self.applying(bits).map(|&(axis, index, _)| (axis, index));
            let of_gfx = gfx_axis.map(|axis| (axis, space.index(cell, axis)));
            counts
                .entry(values.chain(of_gfx).collect())
                .or_insert((bits, 0))
                .1 += 1;
        }
        let row = |(values, (bits, count)): (Vec<(usize, usize)>, (u64, u64))| {
            let text = |&(axis, index): &(usize, usize)| {
                let column = &space.axes()[axis];
                Some((
                    column.name.clone(),
                    column.values[index].as_ref()?.text.clone(),
                ))
            };
            let axes: IndexMap<String, String> = values.iter().filter_map(text).collect();
            let first = self.rows[bits.trailing_zeros() as usize].2;
            ExclusionRow {
                axes,
                count,
                code: &codes::FAMILY_NOT_SUPPORTED,
                reason: format!(
                    "{} {} cannot be built for {}",
                    first.axis,
                    first.value,
                    first.families.join(", ")
                ),
                hint: "select other families".to_owned(),
                source: self.cite(first),
            }
        };
        counts.into_iter().map(row).collect()
    }
}
