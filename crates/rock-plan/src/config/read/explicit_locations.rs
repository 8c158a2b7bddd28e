//! Locations of axis values that only explicit cells have.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::{Axis, CellRow, KeyLocations};
use rock_yaml::Node;

/// Inserts the locations of values that only explicit cells have. They are numbered after the
/// values of their axis, in order of appearance: if the axis `torch` has two values,
/// `axes.torch[2]` is the first of them. Each row comes with the mapping that names its values.
pub(super) fn insert<'a>(
    axes: &'a [Axis],
    rows: impl Iterator<Item = (&'a CellRow, &'a Node)>,
    locations: &mut KeyLocations,
) {
    let mut seen: BTreeMap<&str, BTreeSet<&str>> = axes
        .iter()
        .map(|axis| {
            (
                axis.name.as_str(),
                axis.values
                    .iter()
                    .map(|value| value.text.as_str())
                    .collect(),
            )
        })
        .collect();
    for (row, node) in rows {
        for (name, value) in &row.axes {
            let texts = seen.entry(name).or_default();
            let number = texts.len();
            if texts.insert(&value.text)
                && let Some(value) = node.get(name)
            {
                locations.insert(format!("axes.{name}[{number}]"), value.span.clone());
            }
        }
    }
}
