//! The reference page of all codes.

use std::fmt::Write;

use super::all;

/// The subject of each letter that starts an ID.
const LETTERS: [(char, &str); 11] = [
    ('M', "Matrix files"),
    ('K', "Compatibility data"),
    ('P', "Plan"),
    ('B', "Recipes and builds"),
    ('W', "Wheels"),
    ('E', "ELF files"),
    ('R', "ROCm"),
    ('C', "Source checkouts"),
    ('G', "GitHub"),
    ('S', "SDK packages"),
    ('H', "Machines"),
];

/// Returns the reference page of all codes, in Markdown.
pub fn reference() -> String {
    let mut out = String::from(
        "# Diagnostics\n\n\
         <!-- Generated from the tables of codes by `ROCK_BLESS=1 cargo test`; do not edit. -->\n\n\
         Every problem is reported in the same form: a code, a message, its location, and a fix.\n\
         A code has an ID, which is a letter for its subject and a number, and a name.\n\
         `rock-matrix explain CODE` prints the text of this page for an ID or a name.\n\
         Errors make a command fail; warnings and notes do not.\n",
    );
    for (letter, title) in LETTERS {
        let codes: Vec<_> = all().filter(|code| code.id.starts_with(letter)).collect();
        if codes.is_empty() {
            continue;
        }
        let _ = write!(out, "\n## {title}\n");
        for code in codes {
            let _ = write!(
                out,
                "\n### {} {}\n\n*{}*\n\n{}\n",
                code.id, code.name, code.severity, code.explanation
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{LETTERS, all, reference};

    #[test]
    fn the_page_contains_every_code() {
        let page = reference();
        for code in all() {
            assert!(
                LETTERS
                    .iter()
                    .any(|(letter, _)| code.id.starts_with(*letter)),
                "{}",
                code.id
            );
            assert!(
                page.contains(&format!("### {} {}\n", code.id, code.name)),
                "{}",
                code.id
            );
        }
    }
}
