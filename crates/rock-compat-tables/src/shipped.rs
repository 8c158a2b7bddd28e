//! The tables of this repository, for tests.

#![allow(
    clippy::disallowed_methods,
    reason = "tests read the tables of the repository"
)]

use std::path::Path;

use crate::rows::CompatTables;

/// Returns all tables of `matrices/compat`.
pub(crate) fn tables() -> CompatTables {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../matrices/compat");
    let mut paths: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .collect();
    paths.sort();
    let mut tables = CompatTables::default();
    for path in paths {
        tables.merge(serde_yaml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap());
    }
    tables
}
