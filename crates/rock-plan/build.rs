//! Embeds the recipes in a form that needs no YAML parser at start-up.

#![allow(
    clippy::disallowed_methods,
    reason = "a build script reads and writes files"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=recipes");
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    std::fs::write(out.join("recipes.rs"), recipes(Path::new("recipes")))
        .expect("OUT_DIR can be written");
}

/// The YAML files of a directory, sorted, with their texts.
fn yaml_files(directory: &Path) -> Vec<(PathBuf, String)> {
    let entries =
        std::fs::read_dir(directory).unwrap_or_else(|e| panic!("{}: {e}", directory.display()));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a directory can be listed").path())
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

/// Every `NAME.yaml` of a directory as a slice of names, JSON texts and the files as they are,
/// sorted; scalars keep their text.
fn recipes(directory: &Path) -> String {
    let mut all = BTreeMap::new();
    for (path, text) in yaml_files(directory) {
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
