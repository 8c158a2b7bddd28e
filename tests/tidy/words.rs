//! How a file reads: its length, its opening, and words that must not be in it.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use crate::none;
use crate::sources::{self, SourceFile};

/// Maximum number of lines of a file without its tests.
const LONGEST_FILE: usize = 600;
/// Names that say nothing of what is inside.
const EMPTY_NAMES: [&str; 6] = ["utils", "util", "helpers", "common", "misc", "manager"];
/// Files that may have `allow(…)`, each with a reason.
const ALLOWING: &[&str] = &[
    "crates/rock-audit/src/system/mod.rs",
    "crates/rock-compat-tables/src/rows.rs",
    "crates/rock-compat/build.rs",
    "crates/rock-sys/src/lib.rs",
    "crates/rock-plan/build.rs",
    "build.rs",
];

/// Macros that must not be left in a program.
const PLACEHOLDERS: [&str; 3] = ["todo!", "dbg!", "unimplemented!"];
static PLACEHOLDER_PATTERNS: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new(PLACEHOLDERS.map(|word| format!(r"\b{word}"))).expect("the patterns are valid")
});
/// A pattern that ignores case by the Unicode tables.
static UNICODE_CASE: LazyLock<Regex> = LazyLock::new(|| pattern(r"\(\?[a-z]*i[a-z]*[):]"));
/// An `allow` attribute.
static ALLOW_ATTRIBUTE: LazyLock<Regex> = LazyLock::new(|| pattern(r"#!?\[allow\((?s:.*?)\)\]"));
/// Addresses of private networks (RFC 1918), and directories that only one machine has.
static MACHINE_PATTERN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b10\.\d{1,3}\.\d{1,3}\.\d{1,3}\b",
        r"|\b192\.168\.\d{1,3}\.\d{1,3}\b",
        r"|/work/(main|shared|\.)",
        "|/tmp/",
        r"rmx\b",
        r"|/home/[a-z]+/",
    ))
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is valid")
}

fn length_faults(file: &SourceFile) -> Vec<String> {
    let lines = file.code_lines();
    if lines <= LONGEST_FILE {
        return Vec::new();
    }
    vec![format!(
        "{}: {lines} lines without tests; {LONGEST_FILE} are the most",
        file.path
    )]
}

fn opening_faults(file: &SourceFile) -> Vec<String> {
    let docs: Vec<&str> = file
        .text
        .lines()
        .take_while(|line| line.starts_with("//!"))
        .collect();
    if docs.is_empty() && !file.is_test {
        return vec![format!("{}: does not open with `//!`", file.path)];
    }
    if file.is_module_root() && !docs.iter().any(|line| line.contains("**Invariant:**")) {
        return vec![format!("{}: has no `**Invariant:**` line", file.path)];
    }
    Vec::new()
}

fn word_faults(file: &SourceFile) -> Vec<String> {
    let code = file.code();
    let mut faults = Vec::new();
    for found in &PLACEHOLDER_PATTERNS.matches(&file.text) {
        faults.push(format!("{}: has `{}`", file.path, PLACEHOLDERS[found]));
    }
    if code.contains("\"error: ") || code.contains("\"error[") {
        faults.push(format!(
            "{}: tells a fault that is no diagnostic",
            file.path
        ));
    }
    if code.contains(".unwrap()") {
        faults.push(format!("{}: has `unwrap` outside of its tests", file.path));
    }
    // The case tables of regex are compiled in for tests only, through other crates: the program
    // would panic.
    if UNICODE_CASE.is_match(&code) {
        faults.push(format!(
            "{}: a pattern without `-u` ignores case; write `(?i-u:…)`",
            file.path
        ));
    }
    for found in ALLOW_ATTRIBUTE.find_iter(&code) {
        if !found.as_str().contains("reason =") || !ALLOWING.contains(&file.path.as_str()) {
            faults.push(format!(
                "{}: `{}`; write `expect` with a reason",
                file.path,
                found.as_str()
            ));
        }
    }
    faults
}

fn name_faults(file: &SourceFile) -> Vec<String> {
    let stem = file.path.strip_suffix(".rs").unwrap_or(&file.path);
    let empty = stem.split('/').find(|part| EMPTY_NAMES.contains(part));
    empty
        .map(|part| format!("{}: `{part}` names nothing", file.path))
        .into_iter()
        .collect()
}

/// Paths and addresses of the machine that a file was written on.
fn machine_faults(file: &SourceFile) -> Vec<String> {
    let mut faults = Vec::new();
    for found in MACHINE_PATTERN.find_iter(&file.text) {
        // A version may begin like an address, and goes on.
        if file.text[found.end()..].starts_with('.')
            && found.as_str().ends_with(|c: char| c.is_ascii_digit())
        {
            continue;
        }
        faults.push(format!(
            "{}: `{}` is of one machine",
            file.path,
            found.as_str()
        ));
    }
    faults
}

fn over_rust(rule: impl Fn(&SourceFile) -> Vec<String>) -> Vec<String> {
    sources::rust().iter().flat_map(rule).collect()
}

#[test]
fn files_are_short() {
    none("length", &over_rust(length_faults));
}

#[test]
fn every_file_states_its_purpose_and_every_module_its_invariant() {
    none("openings", &over_rust(opening_faults));
}

#[test]
fn no_placeholder_no_unwrap_no_bare_allow() {
    none("words", &over_rust(word_faults));
}

#[test]
fn no_module_has_an_empty_name() {
    let rust = sources::all()
        .into_iter()
        .filter(|file| file.path.ends_with(".rs"));
    none(
        "names",
        &rust.flat_map(|file| name_faults(&file)).collect::<Vec<_>>(),
    );
}

#[test]
fn no_file_knows_the_machine_it_was_written_on() {
    let files = sources::all()
        .into_iter()
        .filter(|file| file.path != "tests/tidy/words.rs");
    none(
        "machine",
        &files
            .flat_map(|file| machine_faults(&file))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn planted_faults_of_the_text_are_caught() {
    let planted = SourceFile::planted;
    let long = "\n".repeat(LONGEST_FILE + 1);
    assert_eq!(length_faults(&planted("src/x.rs", &long)).len(), 1);
    let tested = format!("#[cfg(test)]\nmod tests {{\n{long}}}\n");
    assert_eq!(length_faults(&planted("src/x.rs", &tested)).len(), 0);

    assert_eq!(opening_faults(&planted("src/x/y.rs", "use a;\n")).len(), 1);
    assert_eq!(
        opening_faults(&planted("src/x/tests.rs", "use a;\n")).len(),
        0
    );
    assert_eq!(
        opening_faults(&planted("src/x/mod.rs", "//! What it is.\n")).len(),
        1
    );
    assert_eq!(
        opening_faults(&planted(
            "src/x/mod.rs",
            "//! What it is.\n//! **Invariant:** none.\n"
        ))
        .len(),
        0
    );

    for text in [
        "fn f() { todo!() }",
        "dbg!(x)",
        "unimplemented!()",
        "x.unwrap()",
        "tell(\"error: no\")",
        "#[allow(dead_code)]\nfn f() {}",
        "Regex::new(\"(?is)x\")",
    ] {
        assert_eq!(word_faults(&planted("src/x.rs", text)).len(), 1, "{text}");
    }
    assert_eq!(
        word_faults(&planted("src/x.rs", "Regex::new(\"(?i-u:x)(?m)y\")")).len(),
        0
    );
    let reasoned = "#[allow(dead_code, reason = \"x\")]";
    assert_eq!(
        word_faults(&planted("src/x.rs", reasoned)).len(),
        1,
        "only listed files allow"
    );
    assert_eq!(
        word_faults(&planted("crates/rock-sys/src/lib.rs", reasoned)).len(),
        0
    );
    assert_eq!(
        word_faults(&planted("src/x.rs", "#[expect(dead_code, reason = \"x\")]")).len(),
        0
    );
    assert_eq!(
        word_faults(&planted(
            "src/x.rs",
            "#[cfg(test)]\nmod tests {\n    x.unwrap();\n}\n"
        ))
        .len(),
        0
    );

    assert_eq!(
        word_faults(&planted("src/x/tests.rs", "x.unwrap()")).len(),
        0
    );

    for path in [
        "src/utils.rs",
        "src/plan/helpers.rs",
        "tests/it/common/mod.rs",
    ] {
        assert_eq!(name_faults(&planted(path, "")).len(), 1, "{path}");
    }
    for text in [
        "at 10.1.2.3:80",
        "cd /work/main",
        "see ../x and /home/someone/x",
    ] {
        assert_eq!(
            machine_faults(&planted("README.md", text)).len(),
            1,
            "{text}"
        );
    }
    assert_eq!(
        machine_faults(&planted(
            "README.md",
            "ROCm 10.1.0 at 127.0.0.1, /work, /tmp/x"
        ))
        .len(),
        0
    );
}
