//! Modules of the main crate that may use a third-party crate or a part of the standard library.
//!
//! The libraries are bounded by their dependencies and by `crates/clippy.toml`.

use regex::Regex;

use crate::none;
use crate::sources::{self, SourceFile};

/// A pattern, what it stands for, and the modules that may have it.
const FENCES: &[(&str, &str, &[&str])] = &[
    (r"\bclap(_complete|_mangen)?::", "clap", &["cli"]),
    (r"\bminijinja::", "minijinja", &["template"]),
    (r"\btoml::", "toml", &["plan"]),
    (
        r"\b(octocrab|tokio|hyper|hyper_util|hyper_rustls|http_body|http_body_util)::",
        "octocrab and its stack",
        &["github"],
    ),
    (r"\bstd::fs\b|\bstd::\{[^}]*\bfs\b", "std::fs", &["exec"]),
    (
        r"\bprocess::Command\b|\bprocess::\{[^}]*\bCommand\b",
        "std::process::Command",
        &["exec"],
    ),
    (
        r"\benv::(var|vars|var_os|vars_os|current_dir|temp_dir|set_var)\b",
        "std::env",
        &["exec"],
    ),
    (r"\bSystemTime::now\b", "the clock", &["exec"]),
    (r"\bInstant::now\b", "the clock", &["cli", "exec", "github"]),
    (r"\b(print|println|eprint|eprintln)!", "printing", &["cli"]),
    (r"\bstd::net\b", "sockets", &["github"]),
];

fn fence_faults(file: &SourceFile) -> Vec<String> {
    let own = file.module().first().copied();
    let Some(own) = own.filter(|_| file.path.starts_with("src/")) else {
        return Vec::new();
    };
    let code = file.code();
    let crossed = FENCES.iter().filter(|(pattern, _, homes)| {
        !homes.contains(&own) && Regex::new(pattern).unwrap().is_match(&code)
    });
    crossed
        .map(|(_, what, homes)| format!("{}: {what} belongs to {}", file.path, homes.join(", ")))
        .collect()
}

/// Code that panics where the system permits no further thread: `thread::spawn`, and rayon without
/// `start_threads`. A pool of its own returns an error instead.
fn thread_faults(file: &SourceFile) -> Vec<String> {
    let code = file.code();
    let has = |pattern: &str| Regex::new(pattern).unwrap().is_match(&code);
    let mut faults = Vec::new();
    if has(r"\bthread::spawn\(") || (has(r"\bthread::scope\(") && !code.contains("spawn_scoped(")) {
        faults.push(format!(
            "{}: threads are started by `std::thread::Builder`, which returns an error",
            file.path
        ));
    }
    if has(r"\brayon::[a-z]") && !code.contains("start_threads()") {
        faults.push(format!("{}: `start_threads` comes before rayon", file.path));
    }
    faults
}

#[test]
fn no_thread_is_started_without_handling_its_error() {
    none(
        "threads",
        &sources::rust()
            .iter()
            .flat_map(thread_faults)
            .collect::<Vec<_>>(),
    );
}

#[test]
fn a_thread_whose_error_is_lost_is_caught() {
    let caught = |text: &str| !thread_faults(&SourceFile::planted("src/sys/x.rs", text)).is_empty();
    assert!(
        caught("std::thread::spawn(x);") && caught("std::thread::scope(|scope| scope.spawn(x));")
    );
    assert!(caught("use rayon::prelude::*;") && caught("rayon::join(a, b)"));
    assert!(
        !caught("start_threads();\nrayon::join(a, b)")
            && !caught("rayon::ThreadPoolBuilder::new()")
    );
    assert!(!caught(
        "thread::scope(|scope| Builder::new().spawn_scoped(scope, x))"
    ));
}

#[test]
fn crates_and_effects_stay_behind_their_fences() {
    none(
        "fences",
        &sources::rust()
            .iter()
            .flat_map(fence_faults)
            .collect::<Vec<_>>(),
    );
}

#[test]
fn a_crate_or_an_effect_outside_of_its_fence_is_caught() {
    let check = |path: &str, text: &str, expect: &[&str]| {
        assert_eq!(
            fence_faults(&SourceFile::planted(path, text)),
            expect,
            "{text}"
        );
    };
    check(
        "src/plan/json.rs",
        "use clap::Parser;",
        &["src/plan/json.rs: clap belongs to cli"],
    );
    check(
        "src/render/mod.rs",
        "use minijinja::Environment;",
        &["src/render/mod.rs: minijinja belongs to template"],
    );
    check(
        "src/cli/x.rs",
        "tokio::spawn(x)",
        &["src/cli/x.rs: octocrab and its stack belongs to github"],
    );
    check(
        "src/plan/x.rs",
        "std::fs::read(p)",
        &["src/plan/x.rs: std::fs belongs to exec"],
    );
    check(
        "src/plan/x.rs",
        "use std::{fmt, fs};",
        &["src/plan/x.rs: std::fs belongs to exec"],
    );
    check(
        "src/recipe/x.rs",
        "use std::process::{Command, Stdio};",
        &["src/recipe/x.rs: std::process::Command belongs to exec"],
    );
    check(
        "src/source/x.rs",
        "std::env::var(\"X\")",
        &["src/source/x.rs: std::env belongs to exec"],
    );
    check(
        "src/plan/x.rs",
        "SystemTime::now()",
        &["src/plan/x.rs: the clock belongs to exec"],
    );
    check(
        "src/plan/x.rs",
        "println!(\"x\")",
        &["src/plan/x.rs: printing belongs to cli"],
    );
    check("src/cli/mod.rs", "use clap::Parser;\n// std::fs", &[]);
    check("src/exec/x.rs", "std::fs::read(p)", &[]);
    check("crates/rock-sys/src/files.rs", "std::fs::read(p)", &[]);
}
