//! Tests that take long: publishing through 10,000 sequences of faults, builds and publishing that
//! are killed, and random changes to source trees.
//!
//! `scripts/test` runs them in an optimized build, and `cargo test` does not run them:
//!
//! ```text
//! CARGO_PROFILE_DEV_OPT_LEVEL=1 cargo nextest run --test proofs
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
mod publish_survives_faults;
mod publish_survives_kills;
mod random_work_in_sources;
#[path = "../it/support/mod.rs"]
mod support;
