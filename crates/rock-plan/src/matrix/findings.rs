//! The diagnostics of findings.

use std::collections::BTreeMap;

use super::axis_space::{AxisSpace, AxisValueIndex};
use super::cell_rule::{CellRule, Finding, RuleEffect, RuleFinding};
use super::cell_selection::CellSelection;
use super::excluded::table_command;
use super::walk::{RuleHit, rule_finding};
use crate::config::{AxisRole, MatrixConfig};
use rock_diagnostic::{Diagnostic, Severity, Sink};

/// Adds the row that a finding is based on, and the command that shows its table.
pub(super) fn with_source(diagnostic: Diagnostic, finding: &Finding) -> Diagnostic {
    let source = &finding.reason.source;
    match table_command(finding.code) {
        _ if source.is_empty() => diagnostic,
        Some(command) => diagnostic.note(format!("from {source}; `{command}` shows the table")),
        None => diagnostic.note(format!("from {source}")),
    }
}

/// Reports findings about selected cells that fail the plan, warnings and notes. Notes with the
/// same code about the same version of the package are combined into one diagnostic.
pub(super) fn report(
    config: &MatrixConfig,
    space: &AxisSpace,
    rules: &[CellRule],
    counts: &BTreeMap<RuleHit, u64>,
    selection: &CellSelection,
    sink: &mut Sink,
) {
    let is_selected = |at: &AxisValueIndex| {
        let column = &space.axes()[at.axis];
        let value = column.values[at.value].as_ref();
        value.is_none_or(|value| selection.allows(&column.name, value))
    };
    let mut notes: BTreeMap<(&str, Option<usize>), Diagnostic> = BTreeMap::new();
    for (hit, _) in counts.iter().filter(|(_, count)| **count > 0) {
        let RuleFinding { outcome, values } = rule_finding(rules, *hit);
        let severity = match outcome.effect {
            RuleEffect::Exclude => continue,
            RuleEffect::Fail => Severity::Error,
            RuleEffect::Warn => Severity::Warning,
            RuleEffect::Note => Severity::Note,
        };
        if !values.iter().all(is_selected) {
            continue;
        }
        let package = space.position(AxisRole::Package);
        let of_package = values
            .iter()
            .find(|at| Some(at.axis) == package)
            .map(|at| at.value);
        if severity == Severity::Note
            && let Some(first) = notes.remove(&(outcome.code.id, of_package))
        {
            notes.insert(
                (outcome.code.id, of_package),
                first.note(outcome.reason.reason.clone()),
            );
            continue;
        }
        let mut diagnostic =
            Diagnostic::new(outcome.code, outcome.reason.reason.clone()).severity(severity);
        for (n, at) in values.iter().enumerate() {
            let column = &space.axes()[at.axis];
            let path = format!("axes.{}[{}]", column.name, at.value);
            let location = config.locations.of(&path);
            let text = column.values[at.value]
                .as_ref()
                .map(|value| format!("{} {}", column.name, value.text));
            diagnostic = match n {
                0 => diagnostic.at(location, text.unwrap_or_default()),
                _ => diagnostic.also(location, text.unwrap_or_default()),
            };
        }
        diagnostic = with_source(diagnostic, outcome);
        if let Some(hint) = &outcome.reason.hint {
            diagnostic = diagnostic.help(hint.to_string());
        }
        match severity {
            Severity::Note => drop(notes.insert((outcome.code.id, of_package), diagnostic)),
            Severity::Error | Severity::Warning => sink.push(diagnostic),
        }
    }
    for note in notes.into_values() {
        sink.push(note);
    }
}
