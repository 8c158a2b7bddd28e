//! Entries of `rows` and `include` that name the same cells as an earlier one.

use std::collections::BTreeMap;

use super::Reader;
use crate::codes::matrix as codes;
use crate::config::{Overrides, Row, Word};
use rock_diagnostic::{Diagnostic, Severity};
use rock_yaml::Node;

/// One entry as written and as read.
#[derive(Clone, Copy)]
struct Entry<'a> {
    kind: Kind,
    row: &'a Row,
    node: &'a Node,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Row,
    Include,
}

impl Reader<'_> {
    /// Tells of entries that name the same cells: an error where they disagree, since the file does
    /// not say which of them counts.
    pub(super) fn twins(&mut self, rows: (&[Row], &[&Node]), include: (&[Row], &[&Node])) {
        let entries = |kind| {
            let (list, nodes) = if kind == Kind::Row { rows } else { include };
            list.iter()
                .zip(nodes)
                .map(move |(row, node)| Entry { kind, row, node })
        };
        let mut first: BTreeMap<Vec<(&str, &Word)>, Entry<'_>> = BTreeMap::new();
        for entry in entries(Kind::Row).chain(entries(Kind::Include)) {
            let mut key: Vec<(&str, &Word)> = entry
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

    fn twin(&mut self, earlier: Entry<'_>, later: Entry<'_>) {
        let who = match (earlier.kind, later.kind) {
            (Kind::Row, Kind::Row) => "two rows name the same cell",
            (Kind::Include, Kind::Include) => "two `include` entries name the same cells",
            _ => "a row and an `include` entry name the same cell",
        };
        // A row says all about its cell, an include only what it sets.
        let is_whole = (earlier.kind, later.kind) == (Kind::Row, Kind::Row);
        let differing = differing(&earlier.row.set, &later.row.set, is_whole);
        // Changing a row's cell by an include is what includes are for.
        if differing.is_none() && earlier.kind != later.kind {
            return;
        }
        let place = |entry: &Entry<'_>| {
            let field = differing.as_ref().and_then(|path| field(entry, path));
            self.source
                .location(field.unwrap_or(entry.node).span.clone())
        };
        let (message, severity) = match &differing {
            Some(path) => (
                format!("{who} and disagree on `{}`", path.join(".")),
                Severity::Error,
            ),
            None => (who.to_owned(), Severity::Warning),
        };
        let help = match &differing {
            Some(_) => "keep one of them, with what is meant",
            None if earlier.row.set == later.row.set => "remove one of them",
            None => "join them into one",
        };
        let diagnostic = Diagnostic::new(&codes::CELL_TWICE, message)
            .severity(severity)
            .at(place(&later), "again here")
            .also(place(&earlier), "first here")
            .help(help);
        self.push(diagnostic);
    }
}

/// Where an entry gives a field.
fn field<'a>(entry: &Entry<'a>, path: &[&str]) -> Option<&'a Node> {
    let set = if entry.kind == Kind::Row {
        entry.node
    } else {
        entry.node.get("set")?
    };
    path.iter().try_fold(set, |node, key| node.get(key))
}

/// The first field in which two entries differ. Unless both are `whole`, one that leaves it out
/// agrees.
fn differing<'a>(one: &'a Overrides, other: &'a Overrides, whole: bool) -> Option<Vec<&'a str>> {
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
