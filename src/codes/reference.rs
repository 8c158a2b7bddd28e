//! The reference page of all codes.

use std::fmt::Write;

use super::all;

/// What the letters of codes stand for.
const LETTERS: [(char, &str); 11] = [
    ('M', "Matrix files"),
    ('K', "Facts"),
    ('P', "Plan"),
    ('B', "Recipes and builds"),
    ('W', "Wheels as containers"),
    ('E', "ELF files"),
    ('R', "ROCm"),
    ('C', "Source checkouts"),
    ('G', "GitHub"),
    ('S', "SDK packages"),
    ('H', "Machines"),
];

/// The reference page of all codes, in Markdown.
pub fn reference() -> String {
    let mut out = String::from(
        "# Diagnostics\n\n\
         <!-- Made of src/codes by `ROCK_BLESS=1 cargo test`; do not edit. -->\n\n\
         Everything that is wrong is told in one form: a code, what is wrong, where, and what to do.\n\
         A code has a letter for its subject and a number; its name says the same in words.\n\
         `rock-matrix explain CODE` shows what stands here, by number or by name.\n\
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
    fn every_code_stands_in_the_page() {
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
