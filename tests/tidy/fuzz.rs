//! The package of fuzz targets follows the main one: what is fuzzed is what is shipped.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::none;

fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn text(path: &str) -> String {
    std::fs::read_to_string(file(path)).unwrap()
}

/// The versions of each package that a lock file has from a registry.
fn locked(lock: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut packages: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for stanza in lock.split("[[package]]").skip(1) {
        let value = |key: &str| {
            stanza.lines().find_map(|line| {
                line.strip_prefix(key)?
                    .strip_prefix(" = \"")?
                    .strip_suffix('"')
            })
        };
        if let (Some(name), Some(version), Some(_)) =
            (value("name"), value("version"), value("source"))
        {
            packages.entry(name).or_default().insert(version);
        }
    }
    packages
}

/// The packages of which the second lock file has a version that the first has not, though it has
/// others.
fn other_versions(main: &str, fuzz: &str) -> Vec<String> {
    let main = locked(main);
    let others = locked(fuzz).into_iter().filter_map(|(name, versions)| {
        let known = main.get(name)?;
        let other: Vec<&str> = versions.difference(known).copied().collect();
        let fault = format!(
            "fuzz/Cargo.lock has {name} {}, and Cargo.lock has {known:?}",
            other.join(" and ")
        );
        (!other.is_empty()).then_some(fault)
    });
    others.collect()
}

/// The lines of the tables of dependencies of a manifest, by package.
fn dependencies(manifest: &str) -> BTreeMap<&str, &str> {
    let mut is_table = false;
    let mut found = BTreeMap::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_table = line == "[dependencies]" || line == "[dev-dependencies]";
        } else if let (true, Some((name, said))) = (is_table, line.split_once(" = ")) {
            found.insert(name, said);
        }
    }
    found
}

/// The dependencies that both manifests have and that the second asks for otherwise.
fn other_demands(main: &str, fuzz: &str) -> Vec<String> {
    let main = dependencies(main);
    let both = dependencies(fuzz)
        .into_iter()
        .filter_map(|(name, said)| Some((name, said, *main.get(name)?)));
    let others = both.filter(|(_, said, known)| said != known);
    others
        .map(|(name, said, known)| {
            format!("fuzz/Cargo.toml asks for {name} {said}, and Cargo.toml for {known}")
        })
        .collect()
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
fn what_is_fuzzed_is_locked_to_the_versions_that_are_shipped() {
    none(
        "run `cargo update` in fuzz",
        &other_versions(&text("Cargo.lock"), &text("fuzz/Cargo.lock")),
    );
}

#[test]
fn what_is_fuzzed_asks_for_the_same_features_and_edition() {
    let (main, fuzz) = (text("Cargo.toml"), text("fuzz/Cargo.toml"));
    none("demands that differ", &other_demands(&main, &fuzz));
    assert!(
        !dependencies(&fuzz).is_empty()
            && dependencies(&fuzz)["rock-matrix"] == r#"{ path = ".." }"#
    );
    assert!(
        !main.contains("\n[features]"),
        "with features of ours, fuzzing must name those it is built with"
    );
    let edition = |manifest: &str| {
        manifest
            .lines()
            .find(|line| line.starts_with("edition = "))
            .map(str::to_owned)
    };
    assert_eq!(edition(&fuzz), edition(&main));
}

#[test]
fn every_file_of_a_target_is_a_target() {
    let files = std::fs::read_dir(file("fuzz/targets")).unwrap();
    let files: BTreeSet<String> = files
        .map(|one| format!("targets/{}", one.unwrap().file_name().to_str().unwrap()))
        .collect();
    let targets = targets(&text("fuzz/Cargo.toml"));
    assert_eq!(targets.values().cloned().collect::<BTreeSet<_>>(), files);
    assert!(
        targets
            .iter()
            .all(|(name, path)| *path == format!("targets/{name}.rs")),
        "{targets:?}"
    );
}

#[test]
fn planted_faults_of_the_fuzz_package_are_caught() {
    let package = |name: &str, version: &str| {
        format!(
            "[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = \"registry\"\n\n"
        )
    };
    let own = "[[package]]\nname = \"own\"\nversion = \"0.1.0\"\n\n";
    let main = [
        &package("a", "1.0.0"),
        &package("a", "2.0.0"),
        &package("b", "1.0.0"),
        own,
    ]
    .concat();
    let other = own.replace("0.1.0", "0.2.0");
    let fuzz = [
        &package("a", "2.0.0"),
        &package("b", "1.0.1"),
        &package("c", "3.0.0"),
        other.as_str(),
    ]
    .concat();
    assert_eq!(
        other_versions(&main, &fuzz),
        [r#"fuzz/Cargo.lock has b 1.0.1, and Cargo.lock has {"1.0.0"}"#]
    );
    let main = "[dependencies]\na = \"1\"\nb = { version = \"1\", default-features = false }\n[lints]\nd = \"1\"\n";
    let fuzz = "[dependencies]\na = \"1\"\nb = \"1\"\nc = \"2\"\nd = \"2\"\n";
    assert_eq!(other_demands(main, fuzz).len(), 1);
}
