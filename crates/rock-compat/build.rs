//! Validates the tables and encodes them with postcard, so that the program parses no YAML.

#![allow(
    clippy::disallowed_methods,
    reason = "a build script reads and writes files"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rock_compat_tables::policy::{PolicyTable, expand_policies};
use rock_compat_tables::{rows, validate_tables};

/// The tables, relative to this crate.
const TABLES: &str = "tables";

fn main() {
    println!("cargo::rerun-if-changed={TABLES}");
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut tables = read_tables(Path::new(TABLES));
    let sources = tables.sources.clone();
    let tables = &mut tables;
    write_group::<rows::CoreTables>(tables, &out);
    write_group::<rows::ProductTables>(tables, &out);
    write_group::<rows::LibraryTables>(tables, &out);
    write_group::<rows::TorchAbiTables>(tables, &out);
    write_group::<rows::SdkTables>(tables, &out);
    write_group::<rows::MachineTables>(tables, &out);
    write_group::<rows::SourceTables>(tables, &out);
    write_group::<rows::WheelTables>(tables, &out);
    write_group::<rows::FamilyBuildTables>(tables, &out);
    write_group::<rows::RecipeTables>(tables, &out);
    write_group::<rows::ClaimTables>(tables, &out);
    assert_eq!(
        *tables,
        rows::CompatTables::default(),
        "every table belongs to a group"
    );
    for (path, text) in yaml_files(&Path::new(TABLES).join("policies")) {
        let name = path
            .file_stem()
            .expect("a file with an extension has a stem");
        let bytes = encode_policies(&path, &text, &sources);
        std::fs::write(out.join(name).with_extension("bin"), bytes)
            .expect("OUT_DIR can be written");
    }
}

/// Moves the tables of a group out of `tables` and writes them into the build directory.
fn write_group<T: rows::TableGroup + serde::Serialize>(
    tables: &mut rows::CompatTables,
    out: &Path,
) {
    let bytes = postcard::to_stdvec(&T::take_from(tables)).expect("rows have serializable types");
    std::fs::write(out.join(T::NAME).with_extension("bin"), bytes).expect("OUT_DIR can be written");
}

/// Returns the paths and texts of the YAML files of a directory, sorted by path.
fn yaml_files(directory: &Path) -> Vec<(PathBuf, String)> {
    let entries =
        std::fs::read_dir(directory).unwrap_or_else(|e| panic!("{}: {e}", directory.display()));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a directory can be listed").path())
        .collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "yaml"));
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path)
                .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            (path, text)
        })
        .collect()
}

/// Reads and validates all tables. An invalid row stops the build with its file and reason.
fn read_tables(directory: &Path) -> rows::CompatTables {
    let mut tables = rows::CompatTables::default();
    let mut files: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for (path, text) in yaml_files(directory) {
        let read: rows::CompatTables =
            serde_yaml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        for (table, count) in read.row_counts() {
            files
                .entry(table)
                .or_default()
                .extend(std::iter::repeat_n(path.clone(), count));
        }
        tables.merge(read);
    }
    let errors: Vec<String> = validate_tables(&tables)
        .iter()
        .map(|error| format!("{}: {error}", files[error.table][error.row].display()))
        .collect();
    assert!(
        errors.is_empty(),
        "invalid compatibility data:\n{}",
        errors.join("\n")
    );
    tables
}

/// Returns the policies of a family, checked, expanded and encoded.
fn encode_policies(path: &Path, text: &str, sources: &BTreeMap<String, String>) -> Vec<u8> {
    let table: PolicyTable =
        serde_yaml::from_str(text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let expanded =
        expand_policies(&table, sources).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    postcard::to_stdvec(&expanded).expect("policies have serializable types")
}
