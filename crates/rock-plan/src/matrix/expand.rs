//! The steps of an expansion, which the module `matrix` describes.

use super::axis_space::{AxisSpace, CellRank};
use super::cell_rule::RuleFinding;
use super::cell_selection::CellSelection;
use super::excluded::ExclusionRow;
use super::explicit_cells::add_explicit_cells;
use super::findings::report;
use super::limits::MatrixSizeError;
use super::rules::rules;
use super::walk::{MatrixWalk, rule_finding};
use crate::codes::plan as codes;
use crate::config::{MatrixConfig, RecipeProfile};
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Sink};

/// The legs of a matrix file, and the reasons for all other cells.
#[derive(Debug)]
pub struct MatrixExpansion {
    /// The axes with all their values.
    pub space: AxisSpace,
    /// The legs without duplicates, in the order of the file's axes.
    pub legs: Vec<CellRank>,
    /// The excluded cells, sorted by code and then by value in the order of the file; their counts
    /// and the number of `legs` add up to `cell_count`.
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
    match expand_within_limits(config, profile, compat, selection, sink) {
        Ok(expansion) => Some(expansion),
        Err(error) => {
            let error = Diagnostic::new(&codes::TOO_MANY_CELLS, error.to_string())
                .at(config.locations.of("axes"), "");
            sink.push(error.help("list fewer values, or split the matrix into several files"));
            None
        }
    }
}

fn expand_within_limits(
    config: &MatrixConfig,
    profile: &RecipeProfile,
    compat: &Compat,
    selection: &CellSelection,
    sink: &mut Sink,
) -> Result<MatrixExpansion, MatrixSizeError> {
    let space = AxisSpace::new(config)?;
    if !config.enabled {
        return Ok(MatrixExpansion {
            space,
            legs: Vec::new(),
            excluded: Vec::new(),
            cell_count: 0,
        });
    }
    let rules = rules(config, &space, profile, compat)?;
    let mut walk = MatrixWalk::new(&space, &rules);
    walk.walk_product()?;
    let outside = add_explicit_cells(config, &space, &rules, &mut walk, sink);
    let cell_count = space.cell_count() + outside;
    let MatrixWalk {
        mut legs, counts, ..
    } = walk;
    legs.sort_unstable();
    let mut excluded: Vec<(&RuleFinding, u64)> = counts
        .iter()
        .map(|(hit, &count)| (rule_finding(&rules, *hit), count))
        .filter(|(found, count)| *count > 0 && found.outcome.effect.prevents_leg())
        .collect();
    excluded.sort_by_cached_key(|(found, _)| (found.outcome.code.id, found.sorted_values()));
    let excluded = excluded
        .into_iter()
        .map(|(found, count)| ExclusionRow::of(&space, found, count))
        .collect();
    report(config, &space, &rules, &counts, selection, sink);
    Ok(MatrixExpansion {
        space,
        legs,
        excluded,
        cell_count,
    })
}

#[cfg(test)]
mod tests {
    use super::super::excluded::table_command;
    use super::CellRank;
    use crate::matrix::tests::expanded;
    use rock_diagnostic::Severity;

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
    fn rows_of_one_code_are_sorted_by_the_order_of_the_values() {
        let (expansion, _) = expanded(
            "axes: {flash-attn: [\"2.8.3\"], python: [\"3.12\"], rocm: [\"6.1\"], \
             torch: [\"2.5.1\", \"2.9.1\", \"2.10.0\"]}\n",
        );
        let torches: Vec<(&str, &str)> = expansion
            .excluded
            .iter()
            .map(|row| (row.code.id, row.axes["torch"].as_str()))
            .collect();
        assert_eq!(torches, [("P001", "2.9.1"), ("P001", "2.10.0")]);
    }

    /// A rule that cites a table has a command that shows it.
    #[test]
    fn rows_with_a_source_have_the_command_that_shows_their_table() {
        let of_index = "axes: {flash-attn: [\"2.6.3\", \"2.8.3\"], python: [\"3.8\", \"3.12\", \"3.13t\"], \
            torch: [\"2.4.1\", \"2.6.0\"], rocm: [\"6.1\", \"6.2\"], backend: [ck, triton]}\n";
        let of_image = "torch-from: image\nrocm-policy: newest\naxes: {flash-attn: [\"2.8.3\"], \
            python: [\"3.12\"], torch: [\"2.9.1\"], rocm: [\"7.0\", \"7.2\", \"7.2.4\"]}\n";
        let rows = [of_index, of_image].map(|axes| expanded(axes).0.excluded);
        let mut codes: Vec<(&str, bool)> = Vec::new();
        for row in rows.iter().flatten() {
            let has_source = !row.source.is_empty();
            assert!(
                !has_source || table_command(row.code).is_some(),
                "{} cites {}",
                row.code.id,
                row.source
            );
            codes.push((row.code.id, has_source));
        }
        codes.sort_unstable();
        codes.dedup();
        let expected = [
            ("P001", true),
            ("P002", true),
            ("P003", true),
            ("P004", true),
            ("P005", true),
            ("P006", false),
            ("P007", false),
            ("P078", true),
        ];
        assert_eq!(codes, expected);
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
