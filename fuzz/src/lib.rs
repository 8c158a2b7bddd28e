//! What each fuzz target does with the bytes that it gets.
//!
//! In: any bytes. Out: nothing; a panic, a hang or too much memory is the finding.
//!
//! **Invariant:** a target opens no file and asks no machine, so that an input does the same
//! everywhere.

mod archive;
mod audit;
mod code;
mod elf;
mod elf_edit;
mod hand_offs;
pub mod seeds;
mod sources;
mod text;
mod zip;
mod zip_fields;

/// Makes code for GPUs, as the tests do.
pub use rock_testkit::bundle as made;

pub use archive::{bucket, tar};
pub use audit::audit;
pub use code::{bundle, ccob, kpack};
pub use elf::elf;
pub use elf_edit::{CHOICES, elf_edit};
pub use hand_offs::{page, plan};
pub use sources::{cmake, related_commits};
pub use text::{entry_points, metadata, record, requirement, wheel_name};
pub use zip::zip;
pub use zip_fields::{CONTENT, zip_fields};

/// The name of the wheel that inputs are the contents of.
pub const WHEEL: &str = "demo-1.0+rocm62torch2.5-cp312-cp312-manylinux_2_28_x86_64.whl";
/// The folder in it that describes it.
pub const INFO: &str = "demo-1.0+rocm62torch2.5.dist-info";
