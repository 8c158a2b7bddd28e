//! Every row of the tables that say what the program must do has a test whose comment opens with
//! the row's id.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use regex::Regex;

use crate::none;
use crate::sources;

/// Letters with their numbers: M matrix, D docker, B build, W wheels, P publishing; 4.1 and on are
/// the rules of releases on GitHub, 6.1 and on what workflows, the action and their makers are
/// compared by; with a T before it, what building torch from source takes: TS sources, TB builds,
/// TM matrices, TA attention, TD advice; TK packages of the ROCm SDK, and TU faults that upstream's
/// packages of it have and these must not: by the numbers of their list, with 12 for what is left
/// after uninstalling, and 13 for libraries that are damaged where their program headers are not in
/// front.
const SERIES: [(&str, &[RangeInclusive<u32>]); 14] = [
    ("M", &[1..=24]),
    ("D", &[1..=11]),
    ("B", &[1..=12]),
    ("W", &[1..=7]),
    ("P", &[1..=9]),
    ("4.", &[1..=16]),
    ("6.", &[1..=30, 34..=39, 58..=59]),
    ("TS", &[1..=22]),
    ("TB", &[1..=26]),
    ("TM", &[1..=8]),
    ("TA", &[1..=18]),
    ("TD", &[1..=4]),
    ("TK", &[1..=15, 20..=24, 26..=28]),
    ("TU", &[1..=2, 6..=11, 13..=13]),
];

/// Rows that tools of others, a server or a clock must judge: stages of `scripts/test`, modules of
/// one, and benchmarks.
const ELSEWHERE: [(&str, &str); 17] = [
    ("6.31", "tests/real/workflow-lint.sh"),
    ("6.32", "tests/real/workflow-lint.sh"),
    ("6.33", "tests/real/workflow-lint.sh"),
    ("6.61", "tests/real/act.sh"),
    ("6.62", "tests/real/action_cases.py"),
    ("6.63", "benches/render_workflow.py"),
    ("TK16", "tests/real/sdk-packages.sh"),
    ("TK17", "tests/python/sdk/test_built.py"),
    ("TK18", "tests/python/sdk/test_built.py"),
    ("TK19", "tests/python/sdk/test_built.py"),
    ("TK25", "tests/python/sdk/test_built.py"),
    ("TK29", "tests/real/sdk_large.py"),
    ("TK30", "benches/sdk.py"),
    ("TU3", "tests/python/sdk/test_libraries.py"),
    ("TU4", "tests/python/sdk/test_libraries.py"),
    ("TU5", "tests/python/sdk/test_expansion.py"),
    ("TU12", "tests/python/sdk/test_built.py"),
];

fn wanted() -> Vec<String> {
    let numbers = |ranges: &'static [RangeInclusive<u32>]| ranges.iter().cloned().flatten();
    SERIES
        .iter()
        .flat_map(|(letter, ranges)| numbers(ranges).map(move |number| format!("{letter}{number}")))
        .collect()
}

/// The rows that a doc comment above a test names: `/// M2` or `/// M2, M7: why`.
fn rows_in(text: &str) -> BTreeSet<String> {
    // The comment, further lines of it, and attributes of which one makes a test.
    let comment = Regex::new(
        r"(?m)^\s*///\s((?:(?:T?[A-Z]|[46]\.)\d+(?:,\s|\sand\s)?)+)[^\n]*\n(?:\s*///[^\n]*\n)*(?:\s*#\[[^\n]*\n)*?\s*#\[test\]",
    )
    .unwrap();
    let row = Regex::new(r"(?:T?[A-Z]|[46]\.)\d+").unwrap();
    let lists = comment.captures_iter(text).map(|found| found[1].to_owned());
    lists
        .flat_map(|list| {
            row.find_iter(&list)
                .map(|found| found.as_str().to_owned())
                .collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn every_row_has_its_test() {
    let told: BTreeSet<String> = sources::all()
        .iter()
        .filter(|file| file.path.ends_with(".rs") && file.path != "tests/tidy/rows.rs")
        .flat_map(|file| {
            rows_in(
                if file.is_program() {
                    file.tests()
                } else {
                    file.text.clone()
                }
                .as_str(),
            )
        })
        .collect();
    none(
        "rows without a test",
        &wanted()
            .into_iter()
            .filter(|row| !told.contains(row))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn what_shows_the_other_rows_is_there() {
    let paths: BTreeSet<String> = sources::all().into_iter().map(|file| file.path).collect();
    let missing = ELSEWHERE.iter().filter(|(_, path)| !paths.contains(*path));
    none(
        "rows that nothing shows",
        &missing
            .map(|(row, path)| format!("{row}: {path}"))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn a_row_counts_where_its_comment_opens_with_it() {
    let rows = rows_in(
        "    /// M2\n    #[test]\n/// D3, D4: both\n/// of them\n#[cfg(unix)]\n#[test]\n/// see B1\n#[test]\n/// P7, 4.14\n/// 6.9\n#[test]\n/// 6.5\n#[test]\n/// TS9, TB1\n#[test]\n// W5\n/// B2\nfn not_a_test() {}\n",
    );
    assert_eq!(
        rows.into_iter().collect::<Vec<_>>(),
        ["4.14", "6.5", "D3", "D4", "M2", "P7", "TB1", "TS9"]
    );
}
