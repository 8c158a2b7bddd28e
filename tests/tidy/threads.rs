//! Threads are started so that a refusal by the system is handled.

use regex::Regex;

use crate::none;
use crate::sources::{self, SourceFile};

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
