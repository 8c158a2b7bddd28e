//! Values that are not in the matrix file: those of the command line and of a release type.
//!
//! **Invariant:** a value of the command line replaces the one in the file; a release type only
//! adds values that the file does not have.

use super::{ConfigReader, text};
use crate::codes::matrix as codes;
use crate::config::{AxisOverrides, KeyLocations};
use rock_compat::rows::ReleaseTypeRow;
use rock_diagnostic::{
    Span,
    nearest::{nearest, with_nearest},
};
use rock_yaml::{MapKey, Node, NodeValue, Scalar};

/// Inserts the overrides into a tree with defaults. Their locations are those of the arguments.
pub(super) fn apply_overrides(
    whole: &mut Node,
    overrides: &AxisOverrides,
    locations: &mut KeyLocations,
) {
    let NodeValue::Map(entries) = &mut whole.value else {
        return;
    };
    // The order is that of `AxisOverrides::arguments`.
    let mut locate = |number: usize, path: &str| {
        let span = locations.source().argument_span(number);
        locations.replace(path, span.clone());
        span
    };
    if let Some(word) = &overrides.release_type {
        let span = locate(0, "release-type");
        put(entries, "release-type", scalar(word, &span));
    }
    if let Some(families) = &overrides.gfx {
        match axes_with(entries, "gfx") {
            Some(axes) => {
                let span = locate(1, "axes.gfx");
                put(axes, "gfx", list(families, &span));
            }
            None => {
                let span = locate(1, "gfx");
                put(entries, "gfx", list(families, &span));
            }
        }
    }
    if let Some(families) = &overrides.test_families
        && let Some(Node {
            value: NodeValue::Map(fields),
            ..
        }) = node_mut(entries, "test")
    {
        let span = locate(2, "test.families");
        put(fields, "families", list(families, &span));
    }
    for (number, (name, values)) in overrides.axes.iter().enumerate() {
        if let Some(Node {
            value: NodeValue::Map(axes),
            ..
        }) = node_mut(entries, "axes")
        {
            let span = locate(3 + number, &format!("axes.{name}"));
            put(axes, name, list(values, &span));
        }
    }
}

fn node_mut<'n>(entries: &'n mut [(MapKey, Node)], key: &str) -> Option<&'n mut Node> {
    entries
        .iter_mut()
        .find(|(known, _)| known.text == key)
        .map(|(_, node)| node)
}

/// Returns the axes if this one is among them.
fn axes_with<'n>(
    entries: &'n mut [(MapKey, Node)],
    axis: &str,
) -> Option<&'n mut Vec<(MapKey, Node)>> {
    match &mut node_mut(entries, "axes")?.value {
        NodeValue::Map(axes) if axes.iter().any(|(key, _)| key.text == axis) => Some(axes),
        _ => None,
    }
}

fn put(entries: &mut Vec<(MapKey, Node)>, key: &str, node: Node) {
    match entries.iter_mut().find(|(known, _)| known.text == key) {
        Some((key, old)) => {
            key.span = node.span.clone();
            *old = node;
        }
        None => entries.push((
            MapKey {
                span: node.span.clone(),
                text: key.to_owned(),
            },
            node,
        )),
    }
}

fn scalar(text: &str, span: &Span) -> Node {
    Node {
        span: span.clone(),
        value: NodeValue::Scalar(Scalar {
            text: text.to_owned(),
            plain: false,
        }),
    }
}

fn list(texts: &[String], span: &Span) -> Node {
    Node {
        span: span.clone(),
        value: NodeValue::List(texts.iter().map(|text| scalar(text, span)).collect()),
    }
}

impl ConfigReader<'_> {
    /// Adds the axes of the release type that the file does not list, Python first, and returns the
    /// row of the type. A recipe with a variable `release-type` gets the type as its value. An
    /// unknown type is an error.
    pub(super) fn release_type(
        &mut self,
        whole: &mut Node,
        recipe: &str,
        locations: &mut KeyLocations,
    ) -> Option<ReleaseTypeRow> {
        let node = whole
            .get("release-type")
            .filter(|node| !node.text().is_none_or(str::is_empty))?
            .clone();
        let (word, platform) = (node.text()?, text(whole, "platform").to_owned());
        let rows = &self.lookups.release_types;
        let known: Vec<&str> = rows.iter().map(|row| row.release_type.as_str()).collect();
        let Some(row) = rows
            .iter()
            .find(|row| row.release_type == word && row.platform == platform)
            .cloned()
        else {
            if !known.is_empty() {
                let mut words = known.clone();
                words.sort_unstable();
                words.dedup();
                let near = nearest(word, words.iter().copied());
                let message = with_nearest(format!("unknown release type `{word}`"), near);
                let help = format!("write one of {}", words.join(", "));
                self.fault(&codes::UNKNOWN_WORD, &node, message, help);
            }
            return None;
        };
        let declared = self.lookups.recipes.known(recipe);
        let is_known = |axis: &String| {
            axis == "python"
                || declared
                    .as_ref()
                    .is_none_or(|words| words.axes.contains(axis))
        };
        if let NodeValue::Map(entries) = &mut whole.value
            && let Some(Node {
                value: NodeValue::Map(axes),
                ..
            }) = node_mut(entries, "axes")
        {
            for (axis, values) in row.axes.iter().filter(|(axis, _)| is_known(axis)) {
                if axes.iter().any(|(key, _)| key.text == *axis) {
                    continue;
                }
                let entry = (
                    MapKey {
                        span: node.span.clone(),
                        text: axis.clone(),
                    },
                    list(values, &node.span),
                );
                let at = if axis == "python" { 0 } else { axes.len() };
                axes.insert(at, entry);
                locations.insert(format!("axes.{axis}"), node.span.clone());
            }
        }
        if declared.is_some_and(|words| words.vars.contains_key("release-type"))
            && let NodeValue::Map(entries) = &mut whole.value
            && let Some(Node {
                value: NodeValue::Map(vars),
                ..
            }) = node_mut(entries, "vars")
            && (self.lookups.overrides.release_type.is_some()
                || !vars.iter().any(|(key, _)| key.text == "release-type"))
        {
            put(vars, "release-type", scalar(word, &node.span));
        }
        Some(row)
    }
}
