//! Expands a matrix file into legs.
//!
//! Input: the validated file, its recipe's profile and the compatibility data. Output: the legal
//! cells, and the reason for every other cell.
//!
//! **Invariant:** no cell is lost: the number of legs and the counts of the exclusions add up to
//! the number of cells.

use std::collections::{BTreeMap, BTreeSet};

use super::axis_space::{AxisColumn, AxisSpace, CellRank};
use super::cell_selection::CellSelection;
use super::excluded::{ExclusionRow, table_command};
use super::partial::PartialCells;
use super::rules::{ExclusionRule, RuleEffect, RuleFinding, rules};
use super::walk::{MatrixWalk, RuleScope};
use crate::codes::plan as codes;
use crate::config::{AxisRole, CellRow, MatrixConfig, RecipeProfile};
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Severity, Sink};

/// The legs of a matrix file, and the reasons for all other cells.
#[derive(Debug)]
pub struct MatrixExpansion {
    /// The axes with all their values.
    pub universe: AxisSpace,
    /// The legal cells without duplicates, in the order of the file's axes.
    pub legs: Vec<CellRank>,
    /// The excluded cells; their counts and the number of `legs` add up to `raw`.
    pub excluded: Vec<ExclusionRow>,
    /// Number of cells of the product and of explicit cells outside it.
    pub raw: u64,
}

/// Expands a matrix file. Reports warnings and errors (unknown combinations under
/// `unknown: strict`, too many cells) to the sink; those about single cells only if the cells are
/// selected. The expansion has all cells, whether they are selected or not.
pub fn expand(
    config: &MatrixConfig,
    profile: &RecipeProfile,
    compat: &Compat,
    selection: &CellSelection,
    sink: &mut Sink,
) -> Option<MatrixExpansion> {
    let too_many = |message: String, sink: &mut Sink| {
        let fault =
            Diagnostic::new(&codes::TOO_MANY_CELLS, message).at(config.places.of("axes"), "");
        sink.push(fault.help("list fewer values, or split the matrix into several files"));
    };
    let universe = match AxisSpace::new(config) {
        Ok(universe) => universe,
        Err(error) => {
            too_many(error.to_string(), sink);
            return None;
        }
    };
    if !config.enabled {
        return Some(MatrixExpansion {
            universe,
            legs: Vec::new(),
            excluded: Vec::new(),
            raw: 0,
        });
    }
    let rules = match rules(config, &universe, profile, compat) {
        Ok(rules) => rules,
        Err(error) => {
            too_many(error.to_string(), sink);
            return None;
        }
    };
    let mut walk = MatrixWalk::new(&universe, &rules);
    if let Err(error) = walk.all() {
        too_many(error.to_string(), sink);
        return None;
    }
    let raw = universe.raw() + explicit_cells(config, &universe, &rules, &mut walk, sink);
    let MatrixWalk {
        mut legs, counts, ..
    } = walk;
    legs.sort_unstable();
    let mut excluded = Vec::new();
    for (&(rule, finding), &count) in &counts {
        let finding = &rules[rule].findings()[finding];
        if count > 0 && finding.effect.leaves_out() {
            excluded.push(excluded_row(&universe, finding, count));
        }
    }
    excluded.sort_by(|a, b| (a.code.id, order_key(a)).cmp(&(b.code.id, order_key(b))));
    report(config, &universe, &rules, &counts, selection, sink);
    Some(MatrixExpansion {
        universe,
        legs,
        excluded,
        raw,
    })
}

/// Evaluates the cells of `rows` and `include`, and returns how many are outside the product. An
/// `include` that names every axis overrides the user's excludes, but not the compatibility data.
/// Reports an `include` entry that changes no leg.
fn explicit_cells(
    config: &MatrixConfig,
    universe: &AxisSpace,
    rules: &[ExclusionRule],
    walk: &mut MatrixWalk<'_>,
    sink: &mut Sink,
) -> u64 {
    let is_whole = |row: &CellRow| {
        let mut axes = universe.axes().iter().filter(|column| column.product > 0);
        axes.all(|column| row.axes.contains_key(&column.name))
            || universe.has_value_beyond_product(row)
    };
    let (whole, partial): (Vec<_>, Vec<_>) = config
        .include
        .iter()
        .enumerate()
        .partition(|(_, row)| is_whole(row));
    let whole: BTreeMap<CellRank, usize> = whole
        .iter()
        .map(|(number, row)| (universe.cell_of(row), *number))
        .collect();
    let rows: BTreeSet<CellRank> = config
        .rows
        .iter()
        .map(|row| universe.cell_of(row))
        .collect();
    let is_outside = |cell: &&CellRank| !universe.is_in_product(**cell);
    let outside: BTreeSet<CellRank> = rows
        .iter()
        .chain(whole.keys())
        .filter(is_outside)
        .copied()
        .collect();
    let before = walk.legs.len();
    for &cell in &outside {
        walk.judge(
            cell,
            if whole.contains_key(&cell) {
                RuleScope::Facts
            } else {
                RuleScope::All
            },
        );
    }
    let legs_outside = walk.legs[before..].to_vec();
    let mut idle = BTreeMap::new();
    for (&cell, &number) in &whole {
        if universe.is_in_product(cell) {
            walk.bring_back(cell);
        }
        if let Some(against) = walk.against(cell, RuleScope::Facts) {
            idle.insert(
                number,
                (against, "the cell of this `include` entry is excluded"),
            );
        }
    }
    let fixed = |row: &CellRow| -> Vec<Option<usize>> {
        let index = |column: &AxisColumn| column.index_of(&row.axes.get(&column.name)?.text);
        universe.axes().iter().map(index).collect()
    };
    let fixed: Vec<(usize, Vec<Option<usize>>)> = partial
        .iter()
        .map(|(number, row)| (*number, fixed(row)))
        .collect();
    let values = |fixed: &[Option<usize>]| {
        fixed
            .iter()
            .enumerate()
            .filter_map(|(axis, i)| Some((axis, (*i)?)))
            .collect()
    };
    let cells = PartialCells::new(fixed.iter().map(|(_, fixed)| values(fixed)));
    let changed: BTreeSet<usize> = legs_outside
        .iter()
        .flat_map(|cell| cells.matching(universe, *cell))
        .collect();
    for (at, (number, fixed)) in fixed.iter().enumerate() {
        if let Some(against) = walk.against_all(fixed)
            && !changed.contains(&at)
        {
            idle.insert(
                *number,
                (against, "no cells are left for this `include` entry"),
            );
        }
    }
    for (number, ((rule, finding), message)) in idle {
        let finding = &rules[rule].findings()[finding];
        if finding.effect == RuleEffect::Exclude {
            sink.push(idle_include(config, number, message, finding));
        }
    }
    outside.len() as u64
}

fn idle_include(
    config: &MatrixConfig,
    number: usize,
    message: &str,
    finding: &RuleFinding,
) -> Diagnostic {
    let because = &finding.because;
    let message = format!("{message}: {}", because.reason);
    let diagnostic = Diagnostic::new(&codes::INCLUDE_LEFT_OUT, message).at(
        config.places.of(&format!("include[{number}].axes")),
        finding.code.name,
    );
    let diagnostic = with_source(diagnostic, finding);
    diagnostic.help(if because.hint.is_empty() {
        "remove the entry"
    } else {
        because.hint.as_str()
    })
}

/// Adds the row that a finding is based on, and the command that shows its table.
fn with_source(diagnostic: Diagnostic, finding: &RuleFinding) -> Diagnostic {
    let source = &finding.because.source;
    match table_command(finding.code) {
        _ if source.is_empty() => diagnostic,
        Some(command) => diagnostic.note(format!("from {source}; `{command}` shows the table")),
        None => diagnostic.note(format!("from {source}")),
    }
}

fn order_key(row: &ExclusionRow) -> Vec<(&String, &String)> {
    row.axes.iter().collect()
}

fn excluded_row(universe: &AxisSpace, finding: &RuleFinding, count: u64) -> ExclusionRow {
    let text = |&(axis, index): &(usize, usize)| {
        let column = &universe.axes()[axis];
        Some((
            column.name.clone(),
            column.values[index].as_ref()?.text.clone(),
        ))
    };
    let mut values = finding.values.clone();
    values.sort_unstable();
    ExclusionRow {
        axes: values.iter().filter_map(text).collect(),
        count,
        code: finding.code,
        reason: finding.because.reason.clone(),
        hint: finding.because.hint.clone(),
        source: finding.because.source.clone(),
    }
}

/// Reports findings about selected cells that fail the plan, warnings and notes. Notes with the
/// same code about the same version of the package are combined into one diagnostic.
fn report(
    config: &MatrixConfig,
    universe: &AxisSpace,
    rules: &[ExclusionRule],
    counts: &BTreeMap<(usize, usize), u64>,
    selection: &CellSelection,
    sink: &mut Sink,
) {
    let is_selected = |&(axis, index): &(usize, usize)| {
        let column = &universe.axes()[axis];
        let value = column.values[index].as_ref();
        value.is_none_or(|value| selection.allows(&column.name, value))
    };
    let mut notes: BTreeMap<(&str, Option<usize>), Diagnostic> = BTreeMap::new();
    for (&(rule, finding), _) in counts.iter().filter(|(_, count)| **count > 0) {
        let finding = &rules[rule].findings()[finding];
        let severity = match finding.effect {
            RuleEffect::Exclude => continue,
            RuleEffect::Fail => Severity::Error,
            RuleEffect::Warn => Severity::Warning,
            RuleEffect::Note => Severity::Note,
        };
        if !finding.values.iter().all(is_selected) {
            continue;
        }
        let package = universe.position(AxisRole::Package);
        let of_package = finding
            .values
            .iter()
            .find(|(axis, _)| Some(*axis) == package)
            .map(|(_, index)| *index);
        if severity == Severity::Note
            && let Some(first) = notes.remove(&(finding.code.id, of_package))
        {
            notes.insert(
                (finding.code.id, of_package),
                first.note(finding.because.reason.clone()),
            );
            continue;
        }
        let mut diagnostic =
            Diagnostic::new(finding.code, finding.because.reason.clone()).severity(severity);
        for (n, &(axis, index)) in finding.values.iter().enumerate() {
            let column = &universe.axes()[axis];
            let place = config.places.of(&format!("axes.{}[{index}]", column.name));
            let text = column.values[index]
                .as_ref()
                .map(|value| format!("{} {}", column.name, value.text));
            diagnostic = match n {
                0 => diagnostic.at(place, text.unwrap_or_default()),
                _ => diagnostic.also(place, text.unwrap_or_default()),
            };
        }
        diagnostic = with_source(diagnostic, finding);
        if !finding.because.hint.is_empty() {
            diagnostic = diagnostic.help(finding.because.hint.clone());
        }
        match severity {
            Severity::Note => drop(notes.insert((finding.code.id, of_package), diagnostic)),
            Severity::Error | Severity::Warning => sink.push(diagnostic),
        }
    }
    for note in notes.into_values() {
        sink.push(note);
    }
}
