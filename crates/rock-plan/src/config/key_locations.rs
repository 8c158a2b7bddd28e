//! Locations of the parts of a checked matrix file, for diagnostics of later checks.

use std::collections::BTreeMap;
use std::sync::Arc;

use rock_diagnostic::{Location, SourceText, Span};
use rock_yaml::{Node, NodeValue};

/// The locations of key paths, `axes.torch[1]`, in a file.
///
/// A path is looked up in the tree on demand, because the paths of all values together can be much
/// longer than the file.
#[derive(Debug, Clone)]
pub struct KeyLocations {
    source: SourceText,
    tree: Arc<Node>,
    /// Paths whose location differs from the tree's, or that are not in the tree.
    others: BTreeMap<String, Span>,
    /// Paths below which the tree is ignored.
    replaced: Vec<String>,
}

impl KeyLocations {
    /// Creates the locations of a tree in its source.
    pub fn new(source: SourceText, tree: Node) -> Self {
        Self {
            source,
            tree: tree.into(),
            others: BTreeMap::new(),
            replaced: Vec::new(),
        }
    }

    /// Sets the location of a key path.
    pub fn insert(&mut self, path: impl Into<String>, span: Span) {
        self.others.insert(path.into(), span);
    }

    /// Sets the location of a key path and discards those of all paths below it.
    pub(super) fn replace(&mut self, path: &str, span: Span) {
        self.others.retain(|known, _| !is_below(known, path));
        self.replaced.push(path.to_owned());
        self.insert(path, span);
    }

    /// Whether the command line sets the value of a key path.
    pub(crate) fn is_override(&self, path: &str) -> bool {
        self.replaced
            .iter()
            .any(|replaced| path == replaced || is_below(path, replaced))
    }

    /// Returns the byte range of a key path, or `None` if the path itself is unknown. For an empty
    /// value or one of several lines, it is the range of the key.
    pub fn span(&self, path: &str) -> Option<Span> {
        if let Some(span) = self.others.get(path) {
            return Some(span.clone());
        }
        if path.is_empty() {
            return None;
        }
        let is_replaced = self
            .replaced
            .iter()
            .any(|replaced| is_below(path, replaced));
        let (key, node) = if is_replaced {
            None
        } else {
            find(&self.tree, None, path)
        }?;
        let text = self.source.text.get(node.span.clone());
        let many_lines = text.is_none_or(|text| text.is_empty() || text.contains('\n'));
        Some(
            if many_lines {
                key.unwrap_or(&node.span)
            } else {
                &node.span
            }
            .clone(),
        )
    }

    /// Returns the location of a key path, of its nearest known parent, or else of the beginning of
    /// the file.
    pub fn of(&self, path: &str) -> Location {
        let mut path = path;
        loop {
            if let Some(span) = self.span(path) {
                return self.source.location(span);
            }
            match path.rfind(['.', '[']) {
                Some(cut) => path = &path[..cut],
                None => return self.source.location(0..0),
            }
        }
    }

    /// Returns the source text.
    pub fn source(&self) -> &SourceText {
        &self.source
    }
}

fn is_below(path: &str, parent: &str) -> bool {
    path.strip_prefix(parent)
        .is_some_and(|rest| rest.starts_with(['.', '[']))
}

/// Finds the value at a path, with its key if it has one. Keys may contain `.` and `[`.
fn find<'n>(
    node: &'n Node,
    key: Option<&'n Span>,
    path: &str,
) -> Option<(Option<&'n Span>, &'n Node)> {
    match &node.value {
        _ if path.is_empty() => Some((key, node)),
        NodeValue::List(items) => {
            let (number, rest) = path.strip_prefix('[')?.split_once(']')?;
            find(items.get(number.parse::<usize>().ok()?)?, None, rest)
        }
        NodeValue::Map(entries) => entries.iter().find_map(|(key, value)| {
            let rest = path
                .strip_prefix('.')
                .unwrap_or(path)
                .strip_prefix(key.text.as_str())?;
            if rest.is_empty() || rest.starts_with(['.', '[']) {
                find(value, Some(&key.span), rest)
            } else {
                None
            }
        }),
        NodeValue::Null | NodeValue::Scalar(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::KeyLocations;
    use rock_diagnostic::{Sink, SourceText};
    use rock_yaml as yaml;

    #[test]
    fn a_path_leads_to_its_value_or_its_nearest_parent() {
        let text = "axes:\n  torch: [\"2.5\", \"2.6\"]\n  rocm: [\"6.2\"]\nindexes: {a.b: x, a: {b: y, c: z}}\nrows:\n  - torch: \"2.7\"\n";
        let source = SourceText::new("m.yaml", text);
        let tree = yaml::parse(&source, &mut Sink::new()).unwrap();
        let mut locations = KeyLocations::new(source, tree);
        let at = |locations: &KeyLocations, path: &str| {
            locations.span(path).map(|span| text[span].to_owned())
        };
        let known = |path| at(&locations, path).unwrap();
        assert_eq!(known("axes.torch[1]"), "\"2.6\"");
        assert_eq!(known("indexes.a.b"), "x", "the first path that fits");
        assert_eq!(known("indexes.a.c"), "z");
        assert_eq!(known("rows[0].torch"), "\"2.7\"");
        assert_eq!(
            known("axes"),
            "axes",
            "a value of several lines stands where its key does"
        );
        for path in [
            "",
            "axes.torc",
            "axes.torch[2]",
            "axes.torch[x]",
            "axes.torch.x",
            "rows[0].torch.x",
            "axes.",
        ] {
            assert_eq!(at(&locations, path), None, "{path}");
        }
        assert!(
            locations.of("axes.torch[2]").to_string().ends_with(":2:10"),
            "{}",
            locations.of("axes.torch[2]")
        );
        locations.insert("axes.torch[2]", 0..4);
        assert_eq!(at(&locations, "axes.torch[2]").unwrap(), "axes");
        locations.replace("axes.torch", 2..4);
        assert!(locations.is_override("axes.torch[1]") && !locations.is_override("axes"));
        assert_eq!(at(&locations, "axes.torch").unwrap(), "es");
        assert_eq!(
            (
                at(&locations, "axes.torch[1]"),
                at(&locations, "axes.torch[2]")
            ),
            (None, None)
        );
    }
}
