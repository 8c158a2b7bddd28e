//! The coverage of a plan by published files, as a table and as badges.

use std::collections::BTreeMap;

use super::markers::{self, MarkedPart};
use super::{
    CoverageGrade, CoverageShare, ExpectedCells, MachineTag, MarkerError, MatchedArchive,
    MatchedCell, markdown,
};
use rock_names::percent_encode;

/// The coverage of a plan by published wheels and archives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    /// One row per platform and distribution, sorted.
    pub rows: Vec<CoverageRow>,
    /// The sum of all rows.
    pub total: CoverageShare,
}

/// The coverage of one distribution on one platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoverageRow {
    pub machine: MachineTag,
    /// The normalized name of the distribution.
    pub distribution: String,
    /// Present and missing cells and archives.
    pub share: CoverageShare,
    /// The number of cells that the plan excludes. They do not count towards the coverage.
    pub excluded: u64,
}

/// Counts present and missing cells and archives per platform and distribution. A distribution with
/// only excluded cells has a row without a percentage.
pub fn coverage(
    expected: &ExpectedCells,
    matched: &[MatchedCell<'_>],
    archives: &[MatchedArchive<'_>],
) -> Coverage {
    let mut shares: BTreeMap<(MachineTag, String), CoverageShare> = BTreeMap::new();
    for row in &expected.excluded {
        shares
            .entry((
                MachineTag::of_platform(row.platform),
                row.distribution.normalized(),
            ))
            .or_default();
    }
    for found in matched {
        let key = (
            found.cell.machine.clone(),
            found.cell.combination.distribution.clone(),
        );
        shares.entry(key).or_default().count(found.by.is_some());
    }
    for found in archives {
        let name = &found.archive.name;
        shares
            .entry((name.machine.clone(), name.distribution.clone()))
            .or_default()
            .count(found.is_there);
    }
    let total = shares
        .values()
        .fold(CoverageShare::default(), |total, share| total.plus(*share));
    let row =
        |((machine, distribution), share): ((MachineTag, String), CoverageShare)| CoverageRow {
            excluded: expected.excluded_count(&machine, &distribution),
            machine,
            distribution,
            share,
        };
    Coverage {
        rows: shares.into_iter().map(row).collect(),
        total,
    }
}

/// Renders the coverage as a Markdown table, with a row for the total unless there is exactly one
/// row.
pub fn coverage_table(coverage: &Coverage) -> String {
    let line = |platform: String, distribution: String, share: CoverageShare, excluded: u64| {
        let numbers = [share.present, share.missing, excluded].map(|number| number.to_string());
        [
            vec![platform, distribution],
            numbers.to_vec(),
            vec![share.to_string()],
        ]
        .concat()
    };
    let mut rows: Vec<Vec<String>> = coverage
        .rows
        .iter()
        .map(|row| {
            line(
                markdown::text(&row.machine.title()),
                markdown::code(&row.distribution),
                row.share,
                row.excluded,
            )
        })
        .collect();
    if rows.len() != 1 {
        let excluded = coverage.rows.iter().map(|row| row.excluded).sum();
        rows.push(line(
            "All".to_owned(),
            String::new(),
            coverage.total,
            excluded,
        ));
    }
    markdown::table(
        &[
            "platform",
            "distribution",
            "published",
            "missing",
            "excluded",
            "coverage",
        ],
        &rows,
    )
}

/// Renders one shields.io badge ("Static Badge") per row as a Markdown image with the same
/// information as alternative text. Without rows there is a single badge, "N/A".
pub fn badges(coverage: &Coverage) -> String {
    let badge = |label: &str, share: CoverageShare| {
        let colour = match share.grade() {
            CoverageGrade::Green => "brightgreen",
            CoverageGrade::Yellow => "yellow",
            CoverageGrade::Red => "red",
            CoverageGrade::None => "lightgrey",
        };
        let message = share.to_string();
        let address = format!(
            "https://img.shields.io/badge/{}-{}-{colour}",
            badge_part(label),
            badge_part(&message)
        );
        format!(
            "!{}\n",
            markdown::link(&markdown::text(&format!("{label}: {message}")), &address)
        )
    };
    let rows = coverage.rows.iter();
    let text: String = rows
        .map(|row| {
            badge(
                &format!("{}, {}", row.distribution, row.machine.title()),
                row.share,
            )
        })
        .collect();
    if text.is_empty() {
        badge("wheels", CoverageShare::default())
    } else {
        text
    }
}

/// Encodes a part of a badge URL. `-` and `_` are doubled, because shields.io reads a single `-` as
/// a separator and a single `_` as a space.
fn badge_part(text: &str) -> String {
    percent_encode(text.replace('-', "--").replace('_', "__"))
}

/// Returns the document with badges and table inserted between their markers.
///
/// # Errors
/// When the document has none of the markers, or a marker is unpaired, duplicated or out of order.
pub fn updated(document: &str, coverage: &Coverage) -> Result<String, MarkerError> {
    let (badges, table) = (
        badges(coverage),
        format!("\n{}\n", coverage_table(coverage)),
    );
    let parts = [
        MarkedPart {
            name: "COVERAGE_BADGE",
            text: &badges,
        },
        MarkedPart {
            name: "COVERAGE_TABLE",
            text: &table,
        },
    ];
    markers::replaced(document, &parts)
}

#[cfg(test)]
mod tests {
    use super::{Coverage, CoverageRow, badges, coverage_table, updated};
    use crate::{CoverageShare, MachineTag};
    use rock_names::Platform;

    fn coverage(rows: &[(&str, u64, u64)]) -> Coverage {
        let row = |(distribution, present, missing): &(&str, u64, u64)| CoverageRow {
            machine: MachineTag::of_platform(Platform::Linux),
            distribution: (*distribution).to_owned(),
            share: CoverageShare {
                present: *present,
                missing: *missing,
            },
            excluded: 3,
        };
        let rows: Vec<CoverageRow> = rows.iter().map(row).collect();
        let total = rows
            .iter()
            .fold(CoverageShare::default(), |total, row| total.plus(row.share));
        Coverage { rows, total }
    }

    #[test]
    fn a_table_has_a_row_a_distribution_and_their_sum() {
        insta::assert_snapshot!(coverage_table(&coverage(&[("flash-attn", 9, 1), ("triton", 0, 0)])), @r"
        | platform | distribution | published | missing | excluded | coverage |
        |---|---|---|---|---|---|
        | Linux x86-64 | `flash-attn` | 9 | 1 | 3 | 90% |
        | Linux x86-64 | `triton` | 0 | 0 | 3 | N/A |
        | All |  | 9 | 1 | 6 | 90% |
        ");
    }

    #[test]
    fn a_badge_has_alternative_text_and_an_encoded_url() {
        assert_eq!(
            badges(&coverage(&[("flash-attn", 7, 3)])),
            "![flash-attn, Linux x86-64: 70%](https://img.shields.io/badge/flash--attn%2C%20Linux%20x86--64-70%25-yellow)\n"
        );
        assert!(badges(&coverage(&[("a", 0, 0)])).contains("N%2FA-lightgrey"));
        assert!(badges(&coverage(&[("a", 0, 1)])).contains("0%25-red"));
        assert!(badges(&coverage(&[])).contains("N/A"));
    }

    #[test]
    fn a_document_is_updated_between_its_markers_and_once() {
        let document = "<!-- COVERAGE_BADGE_START -->\n<!-- COVERAGE_BADGE_END -->\ntext\n<!-- COVERAGE_TABLE_START -->\n<!-- COVERAGE_TABLE_END -->\n";
        let once = updated(document, &coverage(&[("a", 1, 0)])).unwrap();
        assert!(
            once.contains("a, Linux x86-64: 100%")
                && once.contains("| `a` | 1 | 0 | 3 | 100% |\n\n<!-- COVERAGE_TABLE_END")
        );
        assert_eq!(updated(&once, &coverage(&[("a", 1, 0)])).unwrap(), once);
        assert!(updated("text", &coverage(&[])).is_err());
    }
}
