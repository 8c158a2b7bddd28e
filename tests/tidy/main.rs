//! The conventions of the repository as tests. Each rule is a function from a text to its faults,
//! and each has a test that plants one.
#![allow(clippy::disallowed_methods, reason = "the tests read the source tree")]
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot read the tree has failed"
)]
#![allow(
    clippy::case_sensitive_file_extension_comparisons,
    reason = "the tree has no `.RS`"
)]

mod action;
mod docs;
mod doctests;
mod fuzz;
mod outputs;
mod registry;
mod sources;
mod threads;
mod version;
mod words;
mod workflows;

/// Fails with every fault, one a line.
#[track_caller]
fn none(rule: &str, faults: &[String]) {
    assert!(
        faults.is_empty(),
        "{rule}: {} faults\n{}",
        faults.len(),
        faults.join("\n")
    );
}
