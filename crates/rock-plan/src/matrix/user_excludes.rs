//! The rules of the matrix file's own `exclude` entries.

use indexmap::IndexMap;

use super::axis_space::{AxisSpace, AxisValueIndex};
use super::cell_rule::{CellRule, Finding, RuleEffect, RuleFinding};
use crate::codes::plan as codes;
use crate::config::{ExcludeEntry, MatrixConfig};
use rock_compat::SupportReason;

/// Returns one rule (P008) for each set of axes that excludes name, in the order of the file.
pub(super) fn user_excludes(config: &MatrixConfig, space: &AxisSpace) -> Vec<CellRule> {
    let mut by_axes: IndexMap<Vec<usize>, Vec<Vec<AxisValueIndex>>> = IndexMap::new();
    for exclude in &config.exclude {
        if let Some(values) = excluded_values(exclude, space) {
            let axes = values.iter().map(|at| at.axis).collect();
            by_axes.entry(axes).or_default().push(values);
        }
    }
    by_axes
        .into_iter()
        .map(|(axes, excludes)| {
            let finding = |values: Vec<AxisValueIndex>| RuleFinding {
                outcome: excluded_by_user(),
                values,
            };
            CellRule::of_findings(space, axes, excludes.into_iter().map(finding))
        })
        .collect()
}

/// Returns the values that an entry names, in the order of the axes; `None` if it names none, or if
/// no cell has one of them. Names that are not axes were reported when the file was read.
pub(super) fn excluded_values(
    exclude: &ExcludeEntry,
    space: &AxisSpace,
) -> Option<Vec<AxisValueIndex>> {
    let columns = space.axes().iter().enumerate();
    let values: Option<Vec<AxisValueIndex>> = columns
        .filter_map(|(axis, column)| {
            let text = exclude.axes.get(&column.name)?;
            let at = |value| AxisValueIndex { axis, value };
            Some(column.index_of(text).map(at))
        })
        .collect();
    values.filter(|values| !values.is_empty())
}

fn excluded_by_user() -> Finding {
    Finding {
        code: &codes::EXCLUDED_BY_USER,
        reason: SupportReason {
            reason: "excluded by the matrix file".into(),
            hint: None,
            source: String::new(),
        },
        effect: RuleEffect::Exclude,
    }
}
