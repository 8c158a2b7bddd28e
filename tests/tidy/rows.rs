//! Every row of the tables that say what the program must do has a test whose comment opens with the row's id.

use std::collections::BTreeSet;

use regex::Regex;

use crate::none;
use crate::sources;

/// Letters with their last number: M matrix, D docker, B build, W wheels, P publishing; 4.1 and on are the rules of
/// releases on GitHub.
const SERIES: [(&str, u32); 6] = [("M", 24), ("D", 11), ("B", 12), ("W", 7), ("P", 8), ("4.", 16)];

fn wanted() -> Vec<String> {
    SERIES.iter().flat_map(|(letter, last)| (1..=*last).map(move |number| format!("{letter}{number}"))).collect()
}

/// The rows that a doc comment above a test names: `/// M2` or `/// M2, M7: why`.
fn rows_in(text: &str) -> BTreeSet<String> {
    // The comment, further lines of it, and attributes of which one makes a test.
    let comment = Regex::new(
        r"(?m)^\s*///\s((?:(?:[A-Z]|4\.)\d+(?:,\s|\sand\s)?)+)[^\n]*\n(?:\s*///[^\n]*\n)*(?:\s*#\[[^\n]*\n)*?\s*#\[test\]",
    )
    .unwrap();
    let row = Regex::new(r"(?:[A-Z]|4\.)\d+").unwrap();
    let lists = comment.captures_iter(text).map(|found| found[1].to_owned());
    lists.flat_map(|list| row.find_iter(&list).map(|found| found.as_str().to_owned()).collect::<Vec<_>>()).collect()
}

#[test]
fn every_row_has_its_test() {
    let told: BTreeSet<String> = sources::all()
        .iter()
        .filter(|file| file.path.ends_with(".rs") && !file.path.starts_with("tests/tidy/"))
        .flat_map(|file| rows_in(if file.path.starts_with("src/") { file.tests() } else { file.text.clone() }.as_str()))
        .collect();
    none("rows without a test", &wanted().into_iter().filter(|row| !told.contains(row)).collect::<Vec<_>>());
}

#[test]
fn a_row_counts_where_its_comment_opens_with_it() {
    let rows = rows_in(
        "    /// M2\n    #[test]\n/// D3, D4: both\n/// of them\n#[cfg(unix)]\n#[test]\n/// see B1\n#[test]\n/// P7, 4.14\n#[test]\n// W5\n/// B2\nfn not_a_test() {}\n",
    );
    assert_eq!(rows.into_iter().collect::<Vec<_>>(), ["4.14", "D3", "D4", "M2", "P7"]);
}
