//! The places of values that only explicit cells have.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::{Axis, CellRow, KeyLocations};
use rock_yaml::Node;

/// Values that only explicit cells have count on after those of their axis, in the order in which
/// they appear: `axes.torch[2]` is then the first of them. Each row comes with the mapping that
/// names its values.
pub(super) fn insert<'a>(
    axes: &'a [Axis],
    rows: impl Iterator<Item = (&'a CellRow, &'a Node)>,
    places: &mut KeyLocations,
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
                places.insert(format!("axes.{name}[{number}]"), value.span.clone());
            }
        }
    }
}
