//! Checks the shipped facts and recipes and embeds them in a form that needs no YAML parser at
//! start-up.

#![allow(
    clippy::disallowed_methods,
    reason = "a build script reads and writes files"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[allow(
    unreachable_pub,
    dead_code,
    unused_imports,
    reason = "the crate uses all of it"
)]
#[path = "src/compat/rows.rs"]
mod rows;

#[allow(unreachable_pub, reason = "the crate uses it too")]
#[path = "src/compat/faults.rs"]
mod faults;

use rows::Origin;

#[allow(unreachable_pub, reason = "the crate uses it too")]
#[path = "src/compat/policy/table.rs"]
mod table;

#[allow(unreachable_pub, reason = "the crate uses it too")]
#[path = "src/compat/policy/expand.rs"]
mod expand;

fn main() {
    println!("cargo::rerun-if-changed=matrices/recipes");
    println!("cargo::rerun-if-changed=matrices/compat");
    println!("cargo::rerun-if-changed=src/compat/rows.rs");
    println!("cargo::rerun-if-changed=src/compat/rows");
    println!("cargo::rerun-if-changed=src/compat/faults.rs");
    println!("cargo::rerun-if-changed=src/compat/faults");
    println!("cargo::rerun-if-changed=src/compat/policy/table.rs");
    println!("cargo::rerun-if-changed=src/compat/policy/expand.rs");
    fixed_address();
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    std::fs::write(
        out.join("recipes.rs"),
        recipes(Path::new("matrices/recipes")),
    )
    .expect("OUT_DIR can be written");
    let mut tables = facts(Path::new("matrices/compat"));
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
    for (path, text) in yaml_files(Path::new("matrices/compat/policies")) {
        let name = path
            .file_stem()
            .expect("a file with an extension has a stem");
        let bytes = policies(&path, &text, &tables.sources);
        std::fs::write(out.join(name).with_extension("bin"), bytes)
            .expect("OUT_DIR can be written");
    }
}

/// Links the program to a fixed address, where the linker is known to take that: nothing has to be
/// relocated when it starts, which is a quarter of what a small plan takes (`benches/plan.py`).
fn fixed_address() {
    let target = |key: &str| std::env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
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

/// Every `NAME.yaml` of a folder as a slice of names, JSON texts and the files as they are, sorted;
/// scalars keep their text.
fn recipes(folder: &Path) -> String {
    let mut all = BTreeMap::new();
    for (path, text) in yaml_files(folder) {
        let document: serde_json::Value =
            serde_yaml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let name = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .expect("recipe files have plain names");
        all.insert(name.to_owned(), (document.to_string(), text));
    }
    format!(
        "&{:?}",
        all.into_iter()
            .map(|(name, (json, text))| (name, json, text))
            .collect::<Vec<_>>()
    )
}
