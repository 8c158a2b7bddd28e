//! A stand-in for GitHub's release API: a state machine, and a server for it.
//!
//! Tests use it as a library; `main.rs` runs it by hand.
//! **Invariant:** the model opens no socket, reads no clock and never sleeps; only the server does.
#![allow(
    clippy::disallowed_methods,
    reason = "not part of the product, which keeps effects in one module"
)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        reason = "a test that cannot set its scene has failed"
    )
)]

pub mod model;
pub mod server;
