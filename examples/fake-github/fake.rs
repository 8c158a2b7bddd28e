//! GitHub's releases, without GitHub: a state machine and a server of it.
//!
//! Tests include it with `#[path]`; `main.rs` runs it by hand.
//! **Invariant:** the model opens no socket, reads no clock and never sleeps; only the server does.

pub mod model;
pub mod server;
