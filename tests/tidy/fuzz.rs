//! Every file of a fuzz target is compiled.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use regex::Regex;

fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The names of the targets that a manifest of targets has, each with its path.
fn targets(manifest: &str) -> BTreeMap<String, String> {
    let target = Regex::new(r#"\[\[bin\]\]\nname = "([^"]+)"\npath = "([^"]+)""#).unwrap();
    target
        .captures_iter(manifest)
        .map(|found| (found[1].to_owned(), found[2].to_owned()))
        .collect()
}

#[test]
fn every_file_of_a_target_is_a_target() {
    let files = std::fs::read_dir(file("fuzz/targets")).unwrap();
    let files: BTreeSet<String> = files
        .map(|one| format!("targets/{}", one.unwrap().file_name().to_str().unwrap()))
        .collect();
    let targets = targets(&std::fs::read_to_string(file("fuzz/Cargo.toml")).unwrap());
    assert_eq!(targets.values().cloned().collect::<BTreeSet<_>>(), files);
    assert!(
        targets
            .iter()
            .all(|(name, path)| *path == format!("targets/{name}.rs")),
        "{targets:?}"
    );
}
