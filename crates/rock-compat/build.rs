//! Checks the tables and embeds them in a form that needs no YAML parser.

#![allow(
    clippy::disallowed_methods,
    reason = "a build script reads and writes files"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rock_compat_tables::policy::{expand, table};
use rock_compat_tables::{faults, rows};

/// The tables, relative to this crate.
const TABLES: &str = "tables";

fn main() {
    println!("cargo::rerun-if-changed={TABLES}");
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut tables = facts(Path::new(TABLES));
    let apart: Vec<(&str, rows::Tables)> = rows::TableGroup::ALL
        .iter()
        .map(|group| (group.name(), tables.take(*group)))
        .collect();
    for (name, part) in apart
        .iter()
        .map(|(name, part)| (*name, part))
        .chain([("facts", &tables)])
    {
        let bytes = postcard::to_stdvec(part).expect("tables of texts and numbers serialise");
        std::fs::write(out.join(name).with_extension("bin"), bytes)
            .expect("OUT_DIR can be written");
    }
    for (path, text) in yaml_files(&Path::new(TABLES).join("policies")) {
        let name = path
            .file_stem()
            .expect("a file with an extension has a stem");
        let bytes = policies(&path, &text, &tables.sources);
        std::fs::write(out.join(name).with_extension("bin"), bytes)
            .expect("OUT_DIR can be written");
    }
}

/// The YAML files of a folder, sorted, with their texts.
fn yaml_files(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a folder can be listed").path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "yaml"));
    paths.sort();
    let read = |path: PathBuf| {
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

/// Every table in one value, checked. A fault stops the build with the file, the row and the
/// reason.
fn facts(folder: &Path) -> rows::Tables {
    let mut tables = rows::Tables::default();
    let mut files: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for (path, text) in yaml_files(folder) {
        let read: rows::Tables =
            serde_yaml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        for (table, count) in read.row_counts() {
            files
                .entry(table)
                .or_default()
                .extend(std::iter::repeat_n(path.clone(), count));
        }
        tables.merge(read);
    }
    let faults: Vec<String> = faults::find(&tables)
        .iter()
        .map(|f| format!("{}: {f}", files[f.table][f.row].display()))
        .collect();
    assert!(
        faults.is_empty(),
        "the facts cannot be right:\n{}",
        faults.join("\n")
    );
    tables
}

/// One family of platform policies, checked, with its sets written out.
fn policies(path: &Path, text: &str, sources: &BTreeMap<String, String>) -> Vec<u8> {
    let table: table::Table =
        serde_yaml::from_str(text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let expanded = expand::expand(&table, sources).unwrap_or_else(|faults| {
        panic!("{} cannot be right:\n{}", path.display(), faults.join("\n"))
    });
    postcard::to_stdvec(&expanded).expect("texts and numbers serialise")
}
