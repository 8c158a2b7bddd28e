//! The walk over the axes.

use std::collections::{BTreeMap, BTreeSet};

use super::excluded::Excluded;
use super::rules::{Effect, Finding, Rule, rules};
use super::universe::{Cell, Universe};
use crate::compat::Compat;
use crate::config::{AxisRole, Config, Profile};
use crate::diagnostic::{Diagnostic, Severity, Sink, registry::plan as codes};

/// The legs of one matrix file and the reason for every cell that is none.
#[derive(Debug)]
pub struct Expansion {
    /// The axes with all values.
    pub universe: Universe,
    /// The legal cells, each once, in the order of the file's axes.
    pub legs: Vec<Cell>,
    /// What was left out; counts and `legs` add up to `raw`.
    pub excluded: Vec<Excluded>,
    /// Cells of the product plus explicit cells outside it.
    pub raw: u64,
}

/// Axes in the order of binding: what facts constrain most comes first.
const BINDING_ORDER: [AxisRole; 7] = [
    AxisRole::Torch,
    AxisRole::Rocm,
    AxisRole::Package,
    AxisRole::Backend,
    AxisRole::Python,
    AxisRole::Gfx,
    AxisRole::Field,
];

/// Expands one matrix file. Faults (unknown combinations under `unknown: strict`, no gfx target left) and warnings go
/// to the sink.
pub fn expand(config: &Config, profile: &Profile, compat: &Compat, sink: &mut Sink) -> Option<Expansion> {
    let universe = match Universe::new(config) {
        Ok(universe) => universe,
        Err(error) => {
            sink.push(
                Diagnostic::new(&codes::TOO_MANY_CELLS, error.to_string())
                    .at(config.places.of("axes"), "")
                    .help("split the matrix into several files"),
            );
            return None;
        }
    };
    if !config.enabled {
        return Some(Expansion { universe, legs: Vec::new(), excluded: Vec::new(), raw: 0 });
    }
    let rules = rules(config, &universe, profile, compat);
    let mut walk = Walk::new(&universe, &rules);
    if universe.raw() > 0 {
        walk.descend(0, 0, universe.raw());
    }
    let mut raw = universe.raw();
    // An include entry whose values all belong to the product changes cells of it and is none of its own.
    let added = config.include.iter().filter(|row| universe.has_value_beyond_product(row));
    let explicit = config.rows.iter().chain(added).map(|row| universe.cell_of(row));
    for cell in explicit.filter(|&cell| !universe.is_in_product(cell)).collect::<BTreeSet<_>>() {
        raw += 1;
        walk.judge(cell);
    }
    let Walk { mut legs, counts, .. } = walk;
    legs.sort_unstable();
    let mut excluded = Vec::new();
    for (&(rule, finding), &count) in &counts {
        let finding = &rules[rule].findings()[finding];
        if count > 0 && finding.effect != Effect::Warn {
            excluded.push(excluded_row(&universe, finding, count));
        }
    }
    excluded.sort_by(|a, b| (a.code.id, order_key(a)).cmp(&(b.code.id, order_key(b))));
    report(config, &universe, &rules, &counts, sink);
    Some(Expansion { universe, legs, excluded, raw })
}

fn order_key(row: &Excluded) -> Vec<(&String, &String)> {
    row.axes.iter().collect()
}

/// The state of the walk: the values bound so far, the legs found, and how many cells each finding took.
struct Walk<'a> {
    universe: &'a Universe,
    /// Axis positions in the order of binding.
    order: Vec<usize>,
    /// Rules to ask once the axis at this depth is bound.
    due: Vec<Vec<usize>>,
    rules: &'a [Rule],
    /// Value index per axis position.
    bound: Vec<usize>,
    legs: Vec<Cell>,
    /// (rule, finding) → cells. Warnings count the cells they touch.
    counts: BTreeMap<(usize, usize), u64>,
}

impl<'a> Walk<'a> {
    fn new(universe: &'a Universe, rules: &'a [Rule]) -> Self {
        let rank = |axis: &usize| BINDING_ORDER.iter().position(|role| *role == universe.axes()[*axis].role);
        let mut order: Vec<usize> = (0..universe.axes().len()).collect();
        order.sort_by_key(rank);
        let depth_of = |axis: &usize| order.iter().position(|o| o == axis).unwrap_or(0);
        let mut due = vec![Vec::new(); order.len().max(1)];
        for (number, rule) in rules.iter().enumerate() {
            due[rule.axes.iter().map(depth_of).max().unwrap_or(0)].push(number);
        }
        let bound = vec![0; order.len()];
        Self { universe, order, due, rules, bound, legs: Vec::new(), counts: BTreeMap::new() }
    }

    /// Binds the axis at `depth`; `rank` is the sum of the weights above, `below` the cells under this prefix.
    fn descend(&mut self, depth: usize, rank: u64, below: u64) {
        let axis = self.order[depth];
        let range = self.universe.axes()[axis].product_range();
        let below = below / range.len() as u64;
        for index in range {
            self.bound[axis] = index;
            if self.is_ruled_out(depth, below) {
                continue;
            }
            let rank = rank + self.universe.weight(axis, index);
            if depth + 1 == self.order.len() {
                self.legs.push(Cell(rank));
            } else {
                self.descend(depth + 1, rank, below);
            }
        }
    }

    /// Asks the rules due at this depth; the first that rules out takes all cells below.
    fn is_ruled_out(&mut self, depth: usize, below: u64) -> bool {
        for &rule in &self.due[depth] {
            if let Some(finding) = self.rules[rule].ask(&self.bound) {
                *self.counts.entry((rule, finding)).or_default() += below;
                if self.rules[rule].findings()[finding].effect != Effect::Warn {
                    return true;
                }
            }
        }
        false
    }

    /// Asks every rule about one explicit cell.
    fn judge(&mut self, cell: Cell) {
        for axis in 0..self.bound.len() {
            self.bound[axis] = self.universe.index(cell, axis);
        }
        if !(0..self.due.len()).any(|depth| self.is_ruled_out(depth, 1)) {
            self.legs.push(cell);
        }
    }
}

fn excluded_row(universe: &Universe, finding: &Finding, count: u64) -> Excluded {
    let text = |&(axis, index): &(usize, usize)| {
        let column = &universe.axes()[axis];
        Some((column.name.clone(), column.values[index].as_ref()?.text.clone()))
    };
    let mut values = finding.values.clone();
    values.sort_unstable();
    Excluded {
        axes: values.iter().filter_map(text).collect(),
        count,
        code: finding.code,
        reason: finding.because.reason.clone(),
        hint: finding.because.hint.clone(),
        source: finding.because.source.clone(),
    }
}

/// Tells of findings that fail the plan, and warns of doubtful ones.
fn report(
    config: &Config,
    universe: &Universe,
    rules: &[Rule],
    counts: &BTreeMap<(usize, usize), u64>,
    sink: &mut Sink,
) {
    for (&(rule, finding), _) in counts.iter().filter(|(_, count)| **count > 0) {
        let finding = &rules[rule].findings()[finding];
        let severity = match finding.effect {
            Effect::Exclude => continue,
            Effect::Fail => Severity::Error,
            Effect::Warn => Severity::Warning,
        };
        let mut diagnostic = Diagnostic::new(finding.code, finding.because.reason.clone()).severity(severity);
        for (n, &(axis, index)) in finding.values.iter().enumerate() {
            let column = &universe.axes()[axis];
            let place = config.places.of(&format!("axes.{}[{index}]", column.name));
            let text = column.values[index].as_ref().map(|value| format!("{} {}", column.name, value.text));
            diagnostic = match n {
                0 => diagnostic.at(place, text.unwrap_or_default()),
                _ => diagnostic.also(place, text.unwrap_or_default()),
            };
        }
        if !finding.because.source.is_empty() {
            diagnostic = diagnostic.note(format!("from {}", finding.because.source));
        }
        if !finding.because.hint.is_empty() {
            diagnostic = diagnostic.help(finding.because.hint.clone());
        }
        sink.push(diagnostic);
    }
}
