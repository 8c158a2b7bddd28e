//! A crate runs documentation tests exactly if it has examples.

use std::collections::BTreeSet;

use crate::none;
use crate::sources::{self, SourceFile};

/// The directory of the crate that a file belongs to, with a slash at its end; empty for the main
/// crate.
fn crate_of(path: &str) -> &str {
    let below = path.strip_prefix("crates/").and_then(|rest| rest.find('/'));
    below.map_or("", |end| &path[..="crates/".len() + end])
}

/// Whether the documentation of a file has an example that is compiled.
fn has_example(file: &SourceFile) -> bool {
    let is_doc = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("///") || line.starts_with("//!")
    };
    let fences = file.text.lines().filter(is_doc).filter_map(|line| {
        let text = line.trim_start()[3..].trim_start();
        text.strip_prefix("```")
    });
    // Every other fence ends an example.
    let mut begins = fences.step_by(2);
    begins.any(|language| !["text", "ignore"].contains(&language))
}

/// Crates with examples that no test compiles, and crates without any that are searched for some.
fn doctest_faults(files: &[SourceFile]) -> Vec<String> {
    let with_examples: BTreeSet<&str> = files
        .iter()
        .filter(|file| file.path.ends_with(".rs") && has_example(file))
        .filter(|file| file.path.contains("/src/") || file.path.starts_with("src/"))
        .map(|file| crate_of(&file.path))
        .collect();
    let manifests = files.iter().filter_map(|file| {
        let folder = file.path.strip_suffix("Cargo.toml")?;
        let is_ours = folder.is_empty() || folder.starts_with("crates/");
        is_ours.then_some((folder, &file.text))
    });
    let fault = |(folder, manifest): (&str, &String)| {
        let is_off = manifest.contains("[lib]\ndoctest = false\n");
        let reads_readme = files.iter().any(|file| {
            file.path == format!("{folder}src/lib.rs") && file.text.contains("#[doc = include_str!")
        });
        let has_examples = with_examples.contains(folder) || reads_readme;
        (is_off == has_examples).then(|| {
            if is_off {
                format!("{folder}Cargo.toml: `doctest = false`, but the crate has examples")
            } else {
                format!("{folder}Cargo.toml: no `doctest = false`, but the crate has no example")
            }
        })
    };
    manifests.filter_map(fault).collect()
}

#[test]
fn crates_run_documentation_tests_exactly_if_they_have_examples() {
    none("documentation tests", &doctest_faults(&sources::all()));
}

#[test]
fn an_example_that_no_test_compiles_is_caught() {
    let faults = |manifest: &str, source: &str| {
        doctest_faults(&[
            SourceFile::planted("crates/rock-x/Cargo.toml", manifest),
            SourceFile::planted("crates/rock-x/src/y.rs", source),
        ])
        .len()
    };
    let off = "[lib]\ndoctest = false\n";
    let (example, drawing) = (
        "/// ```\n/// x();\n/// ```\n",
        "//! ```text\n//! x\n//! ```\n",
    );
    assert_eq!((faults(off, example), faults("", drawing)), (1, 1));
    assert_eq!((faults("", example), faults(off, drawing)), (0, 0));
}
