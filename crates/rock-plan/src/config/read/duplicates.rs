//! Entries of `rows` and `include` that name the same cells as an earlier one.

use std::collections::BTreeMap;

use super::ConfigReader;
use crate::codes::matrix as codes;
use crate::config::{CellRow, ParsedValue, RowOverrides};
use rock_diagnostic::{Diagnostic, Severity};
use rock_yaml::Node;

/// An entry as written and as parsed.
#[derive(Clone, Copy)]
struct ParsedEntry<'a> {
    kind: DuplicateKind,
    row: &'a CellRow,
    node: &'a Node,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DuplicateKind {
    Row,
    Include,
}

impl ConfigReader<'_> {
    /// Reports entries that name the same cells. It is an error if they disagree, because the file
    /// does not say which of them applies.
    pub(super) fn twins(&mut self, rows: (&[CellRow], &[&Node]), include: (&[CellRow], &[&Node])) {
        let entries = |kind| {
            let (list, nodes) = if kind == DuplicateKind::Row {
                rows
            } else {
                include
            };
            list.iter()
                .zip(nodes)
                .map(move |(row, node)| ParsedEntry { kind, row, node })
        };
        let mut first: BTreeMap<Vec<(&str, &ParsedValue)>, ParsedEntry<'_>> = BTreeMap::new();
        for entry in entries(DuplicateKind::Row).chain(entries(DuplicateKind::Include)) {
            let mut key: Vec<(&str, &ParsedValue)> = entry
                .row
                .axes
                .iter()
                .map(|(name, value)| (name.as_str(), &value.value))
                .collect();
            key.sort_unstable();
            match first.get(&key) {
                Some(earlier) => self.twin(*earlier, entry),
                None => drop(first.insert(key, entry)),
            }
        }
    }

    fn twin(&mut self, earlier: ParsedEntry<'_>, later: ParsedEntry<'_>) {
        let who = match (earlier.kind, later.kind) {
            (DuplicateKind::Row, DuplicateKind::Row) => "two rows name the same cell",
            (DuplicateKind::Include, DuplicateKind::Include) => {
                "two `include` entries name the same cells"
            }
            _ => "a row and an `include` entry name the same cell",
        };
        // A row defines its whole cell, an include only the fields that it sets.
        let is_whole = (earlier.kind, later.kind) == (DuplicateKind::Row, DuplicateKind::Row);
        let differing = differing(&earlier.row.set, &later.row.set, is_whole);
        // Includes exist to change cells, also those of rows.
        if differing.is_none() && earlier.kind != later.kind {
            return;
        }
        let place = |entry: &ParsedEntry<'_>| {
            let field = differing.as_ref().and_then(|path| field(entry, path));
            self.source
                .location(field.unwrap_or(entry.node).span.clone())
        };
        let (message, severity) = match &differing {
            Some(path) => (
                format!("{who} but set `{}` differently", path.join(".")),
                Severity::Error,
            ),
            None => (who.to_owned(), Severity::Warning),
        };
        let help = match &differing {
            Some(_) => "keep the intended one",
            None if earlier.row.set == later.row.set => "remove one of them",
            None => "merge them into one",
        };
        let diagnostic = Diagnostic::new(&codes::CELL_TWICE, message)
            .severity(severity)
            .at(place(&later), "again here")
            .also(place(&earlier), "first here")
            .help(help);
        self.push(diagnostic);
    }
}

/// Returns the node of a field in an entry.
fn field<'a>(entry: &ParsedEntry<'a>, path: &[&str]) -> Option<&'a Node> {
    let set = if entry.kind == DuplicateKind::Row {
        entry.node
    } else {
        entry.node.get("set")?
    };
    path.iter().try_fold(set, |node, key| node.get(key))
}

/// Returns the first field in which two entries differ. Unless both are `whole`, an entry that
/// omits a field agrees.
fn differing<'a>(
    one: &'a RowOverrides,
    other: &'a RowOverrides,
    whole: bool,
) -> Option<Vec<&'a str>> {
    fn differ<T: PartialEq>(one: Option<&T>, other: Option<&T>, whole: bool) -> bool {
        one != other && (whole || (one.is_some() && other.is_some()))
    }
    let fields = [
        (
            "runner",
            differ(one.runner.as_ref(), other.runner.as_ref(), whole),
        ),
        ("gpu", differ(one.gpu.as_ref(), other.gpu.as_ref(), whole)),
        ("gfx", differ(one.gfx.as_ref(), other.gfx.as_ref(), whole)),
        (
            "image",
            differ(one.image.as_ref(), other.image.as_ref(), whole),
        ),
    ];
    if let Some((name, _)) = fields.iter().find(|(_, differs)| *differs) {
        return Some(vec![name]);
    }
    let names = one.vars.keys().chain(other.vars.keys());
    let mut vars = names.filter(|&name| differ(one.vars.get(name), other.vars.get(name), whole));
    vars.next().map(|name| vec!["vars", name.as_str()])
}
