//! Checks the shipped facts and recipes and embeds them in a form that needs no YAML parser at start-up.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=matrices/recipes");
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let recipes = recipes(Path::new("matrices/recipes"));
    std::fs::write(Path::new(&out).join("recipes.json"), recipes).expect("OUT_DIR can be written");
}

/// Every `NAME.yaml` of a folder as one JSON object by name; scalars keep their text.
fn recipes(folder: &Path) -> String {
    let mut all = serde_json::Map::new();
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|e| e == "yaml")) {
        let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let document: serde_json::Value =
            serde_yaml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_else(|| panic!("{}", path.display()));
        all.insert(name.to_owned(), document);
    }
    serde_json::Value::Object(all).to_string()
}
