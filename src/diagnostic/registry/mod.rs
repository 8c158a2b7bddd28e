//! Every diagnostic code, one table a letter.
//!
//! **Invariant:** a code is never reused and never changes its meaning; `explain` and
//! `docs/diagnostics.md` are made of this registry alone.

pub mod build;
pub mod checkout;
pub mod elf;
pub mod facts;
pub mod handover;
pub mod host;
pub mod matrix;
pub mod plan;
pub mod release;
pub mod rocm;
pub mod sdk;
pub mod sources;
pub mod wheel;

use super::Code;

/// Every code, sorted by id within its letter.
pub fn all() -> impl Iterator<Item = &'static Code> {
    [
        matrix::ALL,
        facts::ALL,
        plan::ALL,
        build::ALL,
        wheel::ALL,
        elf::ALL,
        rocm::ALL,
        sdk::ALL,
        checkout::ALL,
        host::ALL,
        release::ALL,
        handover::ALL,
        sources::ALL,
    ]
    .into_iter()
    .flatten()
    .copied()
}

/// The code with this id (`M001`) or name (`duplicate-key`), in any case.
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
