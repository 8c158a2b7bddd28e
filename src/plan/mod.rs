//! Legs to jobs: ids, labels, wheel names, images, shards, and the JSON that hands the plan on.
//!
//! Input: legs of `matrix`, the facts, what is published, limits. Output: a plan whose jobs are whole in themselves.
//!
//! **Invariant:** two jobs never have the same id or the same wheel name, and equal input gives equal bytes.

mod job;

pub use job::{DroppedGfx, Estimate, Job, Settings};
