//! Tests that take long: publishing through 10,000 sequences of faults, builds and publishing that
//! are killed, random changes to source trees, and files that are hostile or as large as is read.
//!
//! `scripts/test` runs them, and `cargo test` does not run them:
//!
//! ```text
//! cargo nextest run --test proofs
//! ```
#![allow(
    clippy::disallowed_methods,
    reason = "tests make files and look at them"
)]
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot set its scene has failed"
)]
#![allow(
    dead_code,
    unused_imports,
    reason = "these tests use a part of what all tests share"
)]
#![allow(unreachable_pub, reason = "one binary of private modules")]

mod go_on_with_a_build;
mod hostile_hand_offs;
mod hostile_wheels;
mod matrices_at_the_limits;
mod publish_survives_faults;
mod publish_survives_kills;
mod random_work_in_sources;
mod sdk_hostile_archives;
mod source_archives_at_the_limits;
#[path = "../it/support/mod.rs"]
mod support;
