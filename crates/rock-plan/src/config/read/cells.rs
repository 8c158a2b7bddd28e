//! Entries that remove, change or add cells: `exclude`, `include`, `rows`.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use indexmap::IndexMap;

use super::axes::AxisNames;
use super::fields::words;
use super::{ConfigReader, entries, items};
use crate::codes::matrix as codes;
use crate::config::fields::OVERRIDES;
use crate::config::limits::{MOST_COMPARED, MOST_ENTRIES};
use crate::config::{
    Axis, AxisRole, AxisValue, CellRow, ExcludeEntry, GpuPolicy, ParsedValue, RowOverrides, syntax,
};
use rock_diagnostic::{
    Diagnostic,
    nearest::{nearest, with_nearest},
};
use rock_yaml::{MapKey, Node, NodeValue, shape};

/// The axes by name, with every value of the product or a row.
pub(super) struct KnownValues<'a> {
    pub(super) axes: &'a [Axis],
    /// Names in order of appearance.
    names: Vec<&'a str>,
    by_name: HashMap<&'a str, KnownAxis<'a>>,
}

/// An axis of the product or of rows.
struct KnownAxis<'a> {
    role: AxisRole,
    /// Each value with its first spelling.
    values: BTreeMap<&'a ParsedValue, &'a AxisValue>,
    /// The values of the product.
    product: BTreeSet<&'a ParsedValue>,
}

impl<'a> KnownValues<'a> {
    pub(super) fn new(axes: &'a [Axis], rows: &'a [CellRow]) -> Self {
        let mut known = Self {
            axes,
            names: Vec::new(),
            by_name: HashMap::new(),
        };
        for axis in axes {
            let entry = known.entry(&axis.name, axis.role);
            entry
                .product
                .extend(axis.values.iter().map(|value| &value.value));
            for value in &axis.values {
                entry.values.entry(&value.value).or_insert(value);
            }
        }
        for (name, value) in rows.iter().flat_map(|row| &row.axes) {
            known
                .entry(name, value.value.role(name))
                .values
                .entry(&value.value)
                .or_insert(value);
        }
        known
    }

    fn entry(&mut self, name: &'a str, role: AxisRole) -> &mut KnownAxis<'a> {
        self.by_name.entry(name).or_insert_with(|| {
            self.names.push(name);
            KnownAxis {
                role,
                values: BTreeMap::new(),
                product: BTreeSet::new(),
            }
        })
    }

    fn role(&self, name: &str) -> Option<AxisRole> {
        self.by_name.get(name).map(|axis| axis.role)
    }

    /// Returns the axis's own spelling of a value, if some cell has it.
    fn value(&self, name: &str, value: &ParsedValue) -> Option<&'a AxisValue> {
        self.by_name.get(name)?.values.get(value).copied()
    }

    fn texts(&self, name: &str) -> impl Iterator<Item = &'a str> {
        self.by_name
            .get(name)
            .into_iter()
            .flat_map(|axis| axis.values.values().map(|value| value.text.as_str()))
    }

    fn is_in_product(&self, name: &str, value: &AxisValue) -> bool {
        self.by_name
            .get(name)
            .is_some_and(|axis| axis.product.contains(&value.value))
    }
}

impl ConfigReader<'_> {
    /// Reads the partial cells to leave out.
    pub(super) fn excludes(
        &mut self,
        nodes: &[Node],
        known: &KnownValues<'_>,
    ) -> Vec<ExcludeEntry> {
        let mut found = Vec::new();
        for node in nodes {
            let Some(entries) = node.entries() else {
                continue;
            };
            if entries.is_empty() {
                let message = "an empty `exclude` entry would exclude every cell";
                self.fault(
                    &codes::EMPTY_ENTRY,
                    node,
                    message,
                    "name at least one axis, or remove the entry",
                );
                continue;
            }
            let mut axes = IndexMap::new();
            for (key, value) in entries {
                let Some(value) = self.named_value(key, value, known, "exclude") else {
                    continue;
                };
                axes.insert(key.text.clone(), self.value_of_axis(key, value, known));
            }
            if axes.len() == entries.len() {
                let axes = axes
                    .into_iter()
                    .map(|(name, (value, _))| (name, value.text))
                    .collect();
                found.push(ExcludeEntry { axes });
            }
        }
        found
    }

    /// Returns the entries of `rows` or `include` up to the limit.
    pub(super) fn explicit_cells<'n>(&mut self, file: &'n Node, name: &str) -> &'n [Node] {
        let is_list = file.get(name).is_none_or(|node| node.items().is_some());
        let entries = items(file, name);
        self.complete.explicit_cells &= is_list && entries.len() <= MOST_ENTRIES;
        self.bounded(entries, name, MOST_ENTRIES)
    }

    /// Reads the cells to change or add, each with its node.
    pub(super) fn includes<'n>(
        &mut self,
        nodes: &'n [Node],
        known: &KnownValues<'_>,
        exclude: &[ExcludeEntry],
        recipe: &str,
    ) -> Vec<(CellRow, &'n Node)> {
        let excluded = ExcludedCells::new(exclude);
        let mut found = Vec::new();
        for node in nodes {
            let given = entries(node, "axes");
            if given.is_empty()
                && node
                    .get("axes")
                    .is_some_and(|axes| matches!(axes.value, NodeValue::Map(_)))
            {
                self.complete.explicit_cells = false;
                let message = "an `include` entry names no axis";
                self.fault(
                    &codes::EMPTY_ENTRY,
                    node,
                    message,
                    "name the axes of the cells to change",
                );
                continue;
            }
            let mut axes = IndexMap::new();
            for (key, value) in given {
                if let Some((value, _)) = self.named_value(key, value, known, "include") {
                    axes.insert(key.text.clone(), canonical(value, &key.text, known));
                }
            }
            let set = node
                .get("set")
                .map(|set| self.overrides(set, recipe))
                .unwrap_or_default();
            if axes.len() != given.len() || axes.is_empty() {
                self.complete.explicit_cells = false;
                continue;
            }
            let overrides = &self.lookups.overrides;
            let has_replaced_axis = axes.keys().any(|name| overrides.replaces_axis(name));
            let is_outside =
                |(name, value): &(&String, &AxisValue)| !known.is_in_product(name, value);
            let mut outside = axes.iter().filter(is_outside).peekable();
            if outside.peek().is_some() {
                let missing = missing_axes(&axes, known);
                let is_replaced = outside.all(|(name, _)| overrides.replaces_axis(name));
                if is_replaced && !missing.is_empty() {
                    // The command line replaced the cells that the entry changes.
                    self.complete.explicit_cells = false;
                    continue;
                }
                self.must_name_all_axes(node, &missing);
            } else if !has_replaced_axis
                && entries(node, "set").is_empty()
                && !brings_back(&axes, known, &excluded)
            {
                let message = "this `include` entry changes nothing: its cells are in the product, and `set` is empty";
                self.fault(
                    &codes::IDLE_ENTRY,
                    node,
                    message,
                    "add `set`, or remove the entry",
                );
            }
            found.push((CellRow { axes, set }, node));
        }
        found
    }

    fn must_name_all_axes(&mut self, node: &Node, missing: &[&str]) {
        if !missing.is_empty() {
            let message = format!(
                "a cell outside the product must name every axis; {} missing",
                list(missing)
            );
            self.fault(
                &codes::INCOMPLETE_CELL,
                node,
                message,
                format!("add {}", list_keys(missing)),
            );
        }
    }

    /// Reads the cells in addition to the product, each with its node.
    pub(super) fn rows<'n>(
        &mut self,
        nodes: &'n [Node],
        axes: &[Axis],
        naming: &AxisNames<'_>,
    ) -> Vec<(CellRow, &'n Node)> {
        let mut found = Vec::new();
        for node in nodes {
            let Some(given) = node.entries() else {
                self.complete.explicit_cells = false;
                continue;
            };
            let (mut row_axes, mut rest, mut sound) = (IndexMap::new(), Vec::new(), true);
            for (key, value) in given {
                let is_axis = axes.iter().any(|axis| axis.name == key.text);
                if !is_axis
                    && OVERRIDES.field(&key.text).is_some()
                    && !(key.text == "gfx" && value.text().is_some())
                {
                    rest.push((key.clone(), value.clone()));
                    continue;
                }
                let role = self.role(key, naming);
                if value.text().is_none() {
                    let message = format!(
                        "`{}` in a row must be one value, not {}",
                        key.text,
                        value.kind()
                    );
                    self.fault(
                        &codes::WRONG_KIND,
                        value,
                        message,
                        "write one value, or one row per value",
                    );
                }
                match role.and_then(|role| self.value(role, &key.text, value)) {
                    Some(value) => drop(row_axes.insert(key.text.clone(), value)),
                    None => sound = false,
                }
            }
            let set = Node {
                span: node.span.clone(),
                value: NodeValue::Map(rest),
            };
            shape::check_record(&set, &OVERRIDES, self.source, self.sink);
            let set = self.overrides(&set, naming.recipe);
            let has_version = row_axes
                .values()
                .any(|value: &AxisValue| value.value.role("") == AxisRole::Package);
            if sound && !has_version {
                let name = axes.iter().find(|axis| axis.role == AxisRole::Package);
                let name = name.map_or(naming.distribution, |axis| &axis.name);
                let message =
                    format!("a row does not set the version to build: `{name}` is missing");
                self.fault(
                    &codes::INCOMPLETE_CELL,
                    node,
                    message,
                    format!("add `{name}:` to the row"),
                );
            }
            self.complete.explicit_cells &= sound;
            if sound {
                found.push((
                    CellRow {
                        axes: row_axes,
                        set,
                    },
                    node,
                ));
            }
        }
        found
    }

    /// Reads the value of a key that must be an axis of this file.
    fn named_value<'n>(
        &mut self,
        key: &MapKey,
        node: &'n Node,
        known: &KnownValues<'_>,
        entry: &str,
    ) -> Option<(AxisValue, &'n Node)> {
        let Some(role) = known.role(&key.text) else {
            let names = &known.names;
            let near = nearest(&key.text, names.iter().copied());
            let help = match near {
                Some(near) => format!("write `{near}`"),
                None if names.is_empty() => "add axes, or remove the entry".into(),
                None => format!("name one of {}, or remove the entry", names.join(", ")),
            };
            let message = format!(
                "`{entry}` names `{}`, which is not an axis of this file",
                key.text
            );
            let message = with_nearest(message, near);
            self.push(
                Diagnostic::new(&codes::NOT_AN_AXIS, message)
                    .at(self.source.location(key.span.clone()), "")
                    .help(help),
            );
            return None;
        };
        Some((self.value(role, &key.text, node)?, node))
    }

    /// Returns the axis's own spelling of a value; a value that no cell has is a warning, unless
    /// the command line replaced the values of the axis.
    fn value_of_axis<'n>(
        &mut self,
        key: &MapKey,
        (value, node): (AxisValue, &'n Node),
        known: &KnownValues<'_>,
    ) -> (AxisValue, &'n Node) {
        let is_replaced = self.lookups.overrides.replaces_axis(&key.text);
        if !is_replaced && known.value(&key.text, &value.value).is_none() {
            let help = match nearest(&value.text, known.texts(&key.text).take(MOST_COMPARED)) {
                Some(near) => format!("did you mean `{near}`? Otherwise remove the entry"),
                None => "remove the entry".into(),
            };
            let message = format!(
                "no cell has `{}: {}`, so this entry excludes nothing",
                key.text, value.text
            );
            self.fault(&codes::IDLE_ENTRY, node, message, help);
        }
        (canonical(value, &key.text, known), node)
    }

    /// Reads the fields to override for some cells.
    pub(super) fn overrides(&mut self, node: &Node, recipe: &str) -> RowOverrides {
        let gfx = node.get("gfx").and_then(Node::items);
        RowOverrides {
            runner: node.get("runner").and_then(|node| self.runner(node)),
            gpu: node
                .get("gpu")
                .and_then(Node::text)
                .and_then(GpuPolicy::from_word),
            gfx: gfx.map(|items| self.targets(items)),
            families: gfx.map(words),
            image: node
                .get("image")
                .and_then(|node| self.image_reference(node))
                .map(|(repository, tag)| {
                    if tag.is_empty() {
                        repository
                    } else {
                        format!("{repository}:{tag}")
                    }
                }),
            vars: self.vars(entries(node, "vars"), recipe),
        }
    }

    /// Splits `REPOSITORY[:TAG[@sha256:DIGEST]]` into the repository and the rest.
    pub(super) fn image_reference(&mut self, node: &Node) -> Option<(String, String)> {
        let text = node.text()?;
        let (repository, tag, digest) = syntax::image_parts(text);
        let tag = tag.unwrap_or_default();
        if let (Some(_), "") = (digest, tag) {
            let help = "write `REPOSITORY:TAG@sha256:…`: the digest alone does not identify the \
                versions in the image";
            self.fault(
                &codes::BAD_IMAGE,
                node,
                format!("`{text}` has a digest but no tag"),
                help,
            );
            return None;
        }
        let tail = digest.map_or(tag.to_owned(), |digest| format!("{tag}@{digest}"));
        (self.repository(repository, node) && (tail.is_empty() || self.tag(&tail, node)))
            .then(|| (repository.to_owned(), tail))
    }

    /// Checks that a text is the name of an image repository (distribution reference grammar:
    /// lower-case path components, with an optional host and port before them).
    pub(super) fn repository(&mut self, text: &str, node: &Node) -> bool {
        let fits = syntax::is_image_repository(text);
        if !fits {
            let message = format!(
                "`{text}` is not a valid image name: these are lower case, such as `rocm/pytorch`"
            );
            self.fault(
                &codes::BAD_IMAGE,
                node,
                message,
                "write the repository, or the repository and tag",
            );
        }
        fits
    }

    /// Checks that a text is a tag, with or without a digest.
    pub(super) fn tag(&mut self, text: &str, node: &Node) -> bool {
        let (tag, digest) = text
            .split_once('@')
            .map_or((text, None), |(tag, digest)| (tag, Some(digest)));
        let fits = syntax::is_image_tag(tag);
        let digest_fits = digest.is_none_or(syntax::is_image_digest);
        if !fits {
            let message = format!(
                "`{tag}` is not a valid image tag: only letters, digits, `_`, `.` and `-` are \
                 allowed"
            );
            self.fault(
                &codes::BAD_IMAGE,
                node,
                message,
                "copy the tag from the registry",
            );
        } else if !digest_fits {
            let message = "the digest of the image is not `sha256:` with 64 hex digits";
            self.fault(
                &codes::BAD_IMAGE,
                node,
                message,
                "copy the full digest, or omit it",
            );
        }
        fits && digest_fits
    }
}

/// Whether an include names every axis of a cell that an exclude removes.
fn brings_back(
    axes: &IndexMap<String, AxisValue>,
    known: &KnownValues<'_>,
    excluded: &ExcludedCells<'_>,
) -> bool {
    known.axes.iter().all(|axis| axes.contains_key(&axis.name)) && excluded.contain(axes)
}

/// The values that excludes name, by the names of their axes, so that an include is not compared
/// with each exclude.
struct ExcludedCells<'e>(HashMap<Vec<&'e str>, HashSet<Vec<&'e str>>>);

impl<'e> ExcludedCells<'e> {
    fn new(exclude: &'e [ExcludeEntry]) -> Self {
        let mut by_names = HashMap::<_, HashSet<_>>::new();
        for exclude in exclude {
            let mut named: Vec<_> = exclude
                .axes
                .iter()
                .map(|(name, text)| (name.as_str(), text.as_str()))
                .collect();
            named.sort_unstable();
            let (names, texts) = named.into_iter().unzip();
            by_names.entry(names).or_default().insert(texts);
        }
        Self(by_names)
    }

    /// Whether an exclude removes the cell with these values.
    fn contain(&self, axes: &IndexMap<String, AxisValue>) -> bool {
        self.0.iter().any(|(names, cells)| {
            let texts: Option<Vec<&str>> = names
                .iter()
                .map(|name| Some(axes.get(*name)?.text.as_str()))
                .collect();
            texts.is_some_and(|texts| cells.contains(&texts))
        })
    }
}

/// Returns the value as the axis spells it: `2.5` becomes `2.5.0` if the axis lists that.
fn canonical(value: AxisValue, name: &str, known: &KnownValues<'_>) -> AxisValue {
    known.value(name, &value.value).cloned().unwrap_or(value)
}

/// Returns the axes of the product that a cell does not name.
fn missing_axes<'a>(axes: &IndexMap<String, AxisValue>, known: &KnownValues<'a>) -> Vec<&'a str> {
    let names = known.axes.iter().map(|axis| axis.name.as_str());
    names.filter(|name| !axes.contains_key(*name)).collect()
}

fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match names.len() {
        1 => format!("{} is", quoted[0]),
        _ => format!("{} are", quoted.join(", ")),
    }
}

fn list_keys(names: &[&str]) -> String {
    names
        .iter()
        .map(|name| format!("`{name}:`"))
        .collect::<Vec<_>>()
        .join(", ")
}
