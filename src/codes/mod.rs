//! All diagnostic codes of the command line and of the libraries.
//!
//! **Invariant:** a code is never reused and never changes its meaning; `explain` and
//! `docs/diagnostics.md` are generated from these tables alone.

pub mod facts;
pub mod handover;
pub mod host;
pub mod matrix;
pub mod plan;
mod reference;
pub mod release;
pub mod rocm;
pub mod wheel;

pub use reference::reference;

use crate::diagnostic::Code;

/// The tables of codes, by crate.
const CRATES: &[&[&[&Code]]] = &[
    rock_audit::codes::ALL,
    rock_compat::codes::ALL,
    rock_wheel::codes::ALL,
    rock_sys::codes::ALL,
    rock_yaml::codes::ALL,
    rock_diagnostic::codes::ALL,
    rock_plan::codes::ALL,
    rock_recipe::codes::ALL,
    rock_index::codes::ALL,
    rock_sdk::codes::ALL,
    rock_source::codes::ALL,
    rock_doctor::codes::ALL,
    rock_publish::codes::ALL,
    rock_report::codes::ALL,
    rock_github::codes::ALL,
    rock_exec::codes::ALL,
    &[
        facts::ALL,
        handover::ALL,
        host::ALL,
        plan::ALL,
        release::ALL,
        wheel::ALL,
    ],
];

/// Returns all codes, sorted by ID.
pub fn all() -> impl Iterator<Item = &'static Code> {
    let mut codes: Vec<&Code> = CRATES
        .iter()
        .copied()
        .flatten()
        .copied()
        .flatten()
        .copied()
        .collect();
    codes.sort_by_key(|code| code.id);
    codes.into_iter()
}

/// Returns the code with this ID (`M001`) or name (`duplicate-key`), ignoring case.
pub fn find(word: &str) -> Option<&'static Code> {
    all().find(|code| code.id.eq_ignore_ascii_case(word) || code.name.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::all;
    use std::collections::BTreeSet;

    #[test]
    fn ids_and_names_are_unique_and_well_formed() {
        let (mut ids, mut names) = (BTreeSet::new(), BTreeSet::new());
        for code in all() {
            assert!(ids.insert(code.id), "{} twice", code.id);
            assert!(names.insert(code.name), "{} twice", code.name);
            assert!(
                code.id.len() == 4 && code.id[1..].bytes().all(|b| b.is_ascii_digit()),
                "{}",
                code.id
            );
            assert!(
                code.name
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
                "{}",
                code.name
            );
            assert!(
                code.explanation.len() > 40,
                "{} needs an explanation",
                code.id
            );
        }
    }
}
