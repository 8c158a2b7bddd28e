//! Expands a matrix file into legs.
//!
//! Input: the validated file, its recipe's profile and the compatibility data. Output: the legal
//! cells, and the reason for every other cell.
//!
//! **Invariant:** no cell is lost: the number of legs and the counts of the exclusions add up to
//! the number of cells.

use super::axis_space::{AxisSpace, CellRank};
use super::cell_selection::CellSelection;
use super::excluded::ExclusionRow;
use super::explicit_cells::add_explicit_cells;
use super::findings::{excluded_row, report};
use super::rules::rules;
use super::walk::MatrixWalk;
use crate::codes::plan as codes;
use crate::config::{MatrixConfig, RecipeProfile};
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Sink};

/// The legs of a matrix file, and the reasons for all other cells.
#[derive(Debug)]
pub struct MatrixExpansion {
    /// The axes with all their values.
    pub space: AxisSpace,
    /// The legal cells without duplicates, in the order of the file's axes.
    pub legs: Vec<CellRank>,
    /// The excluded cells; their counts and the number of `legs` add up to `cell_count`.
    pub excluded: Vec<ExclusionRow>,
    /// Number of cells of the product and of explicit cells outside it.
    pub cell_count: u64,
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
        let error =
            Diagnostic::new(&codes::TOO_MANY_CELLS, message).at(config.places.of("axes"), "");
        sink.push(error.help("list fewer values, or split the matrix into several files"));
    };
    let space = match AxisSpace::new(config) {
        Ok(space) => space,
        Err(error) => {
            too_many(error.to_string(), sink);
            return None;
        }
    };
    if !config.enabled {
        return Some(MatrixExpansion {
            space,
            legs: Vec::new(),
            excluded: Vec::new(),
            cell_count: 0,
        });
    }
    let rules = match rules(config, &space, profile, compat) {
        Ok(rules) => rules,
        Err(error) => {
            too_many(error.to_string(), sink);
            return None;
        }
    };
    let mut walk = MatrixWalk::new(&space, &rules);
    if let Err(error) = walk.all() {
        too_many(error.to_string(), sink);
        return None;
    }
    let outside = add_explicit_cells(config, &space, &rules, &mut walk, sink);
    let cell_count = space.cell_count() + outside;
    let MatrixWalk {
        mut legs, counts, ..
    } = walk;
    legs.sort_unstable();
    let mut excluded = Vec::new();
    for (hit, &count) in &counts {
        let found = &rules[hit.rule].findings()[hit.finding];
        if count > 0 && found.finding.effect.leaves_out() {
            excluded.push(excluded_row(&space, found, count));
        }
    }
    excluded.sort_by(|a, b| (a.code.id, order_key(a)).cmp(&(b.code.id, order_key(b))));
    report(config, &space, &rules, &counts, selection, sink);
    Some(MatrixExpansion {
        space,
        legs,
        excluded,
        cell_count,
    })
}

fn order_key(row: &ExclusionRow) -> Vec<(&String, &String)> {
    row.axes.iter().collect()
}

#[cfg(test)]
mod tests {
    use super::{CellRank, CellSelection, MatrixExpansion, expand};
    use crate::config::{self, Lookups, recipe};
    use rock_compat::Compat;
    use rock_diagnostic::{Severity, Sink, SourceText};

    /// Expands a matrix file of flash-attn 2.8.3 for Python 3.12.
    fn expanded(axes: &str) -> (MatrixExpansion, Vec<(&'static str, Severity)>) {
        let text = format!(
            "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\ngfx: [gfx942]\n{axes}"
        );
        let compat = Compat::embedded();
        let lookups = Lookups::new(&compat, recipe::RecipeSet::with_shipped([]).into());
        let mut sink = Sink::new();
        let config = config::read(&SourceText::new("m.yaml", text), &lookups, &mut sink).unwrap();
        let profile = recipe::embedded("flash-attn")
            .unwrap()
            .profile("flash-attn");
        let all = CellSelection::default();
        let expansion = expand(&config, &profile, &compat, &all, &mut sink).unwrap();
        let found = sink.finish();
        let codes = found.iter().map(|found| (found.code.id, found.severity));
        (expansion, codes.collect())
    }

    #[test]
    fn the_example_of_the_module_has_three_legs_and_one_exclusion() {
        let (expansion, _) = expanded(
            "axes: {flash-attn: [\"2.8.3\"], python: [\"3.12\"], torch: [\"2.5.1\", \"2.6.0\"], \
             rocm: [\"6.1\", \"6.2\"]}\n",
        );
        assert_eq!(expansion.cell_count, 4);
        assert_eq!(expansion.legs, [0, 1, 2].map(CellRank::new));
        assert_eq!(expansion.excluded.len(), 1);
        let row = &expansion.excluded[0];
        let axes: Vec<(&str, &str)> = row
            .axes
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        assert_eq!(axes, [("torch", "2.6.0"), ("rocm", "6.2")]);
        assert_eq!((row.code.id, row.count), ("P001", 1));
    }

    #[test]
    fn unknown_combinations_are_reported_unless_all_their_cells_are_excluded() {
        let axes = "axes: {flash-attn: [\"2.8.3\"], python: [\"3.11\", \"3.12\"], \
            torch: [\"2.5.1\", \"2.99.0\"], rocm: [\"6.2\"]}\n";
        let cell = "flash-attn: \"2.8.3\", python: \"3.12\", torch: \"2.99.0\", rocm: \"6.2\"";
        for (mode, severity) in [("strict", Severity::Error), ("lenient", Severity::Warning)] {
            let reported = |more: &str| {
                let (expansion, codes) = expanded(&format!("unknown: {mode}\n{axes}{more}"));
                let excluded: u64 = expansion.excluded.iter().map(|row| row.count).sum();
                let legs = expansion.legs.len() as u64;
                assert_eq!(excluded + legs, expansion.cell_count, "{mode} {more}");
                codes.contains(&("P009", severity))
            };
            assert!(reported(""));
            let pair = "exclude: [{torch: \"2.99.0\", rocm: \"6.2\"}]\n";
            assert!(!reported(pair));
            assert!(!reported("exclude: [{torch: \"2.99.0\"}]\n"));
            // Cells that are left, and one that `include` names in spite of the exclude.
            assert!(reported(
                "exclude: [{torch: \"2.99.0\", python: \"3.11\"}]\n"
            ));
            assert!(reported(&format!(
                "{pair}include: [{{axes: {{{cell}}}}}]\n"
            )));
        }
    }
}
