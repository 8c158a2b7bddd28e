//! Diagnoses a machine for building and running wheels.
//!
//! Input: [`HostFacts`](rock_host::HostFacts), compatibility data, and the output of a script.
//! Output: findings as diagnostics, a table, and JSON.
//!
//! **Invariant:** This crate does not read the system: equal facts give equal output.

pub mod codes;

pub mod attention;
mod builds;
mod findings;
mod json;
mod table;

pub use builds::{BuildMachine, build_findings, known_failures};
pub use findings::findings;
pub use json::json;
pub use table::human;

/// Returns a GPU with only a node and a target.
#[cfg(test)]
fn example_gpu(node: u32, version: u32) -> rock_host::kfd::Gpu {
    rock_host::kfd::Gpu {
        node,
        target: rock_names::GfxTarget::from_kfd_version(version)
            .expect("the version names a processor"),
        compute_units: None,
        vram_bytes: None,
        render_minor: None,
        pci_location: None,
        device_id: None,
        xcc_count: None,
        gpu_id: Ok(1),
    }
}
