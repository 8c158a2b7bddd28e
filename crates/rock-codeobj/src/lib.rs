//! Finds the AMD GPU code in files: which gfx targets a library, offload bundle, kpack archive or
//! data file contains code for.
//!
//! Input: the bytes of a file, fed once and in order to a [`CodeScanner`], and then the
//! [`FileLayout`]; or the path of a [`DataFile`]. Output: a [`CodeInventory`] of code containers with
//! their file offsets. It reports facts; whether they are errors is for the caller to decide.
//!
//! ```
//! use rock_codeobj::{CodeScanner, FileLayout, ScanDepth};
//!
//! // The ELF header of a code object for gfx942 (LLVM AMDGPU usage, "ELF Code Object").
//! let mut code_object = [0; 64];
//! code_object[..9].copy_from_slice(b"\x7fELF\x02\x01\x01\x40\x03");
//! code_object[18] = 224; // EM_AMDGPU
//! code_object[48] = 0x4c; // EF_AMDGPU_MACH_AMDGCN_GFX942
//!
//! let mut scanner = CodeScanner::new(ScanDepth::Headers);
//! scanner.feed(&code_object);
//! let inventory = scanner.finish(&FileLayout::code_object());
//! let targets: Vec<String> = inventory.targets().keys().map(ToString::to_string).collect();
//! assert_eq!(targets, ["gfx942"]);
//! ```
//!
//! **Invariant:** no code is kept: of each code object at most its first 64 bytes, of each bundle
//! its table. Sizes in a file never decide how much memory or time is spent; if a limit was
//! exceeded, the inventory has it in [`limits`](CodeInventory::limits).

#![warn(missing_docs)]

mod bundle;
mod candidate_filter;
mod code_object;
mod compressed_bundle;
mod data_file;
mod entry;
mod inventory;
mod kpack;
mod kpack_manifest;
mod layout;
mod limits;
mod little_endian;
mod msgpack;
mod scan;
mod target;

pub use bundle::{BundleError, is_bundle};
pub use code_object::{CodeObject, is_code_object, parse_code_object};
pub use compressed_bundle::{BundleCompression, CompressedBundleError, CompressedBundleHeader};
pub use data_file::{DataFile, DataFileKind, SourceKind};
pub use entry::{BundleEntryId, ContainerEntry, OffloadKind};
pub use inventory::{
    CodeContainer, CodeContainerKind, CodeDamage, CodeInventory, CodeLocation, InventoryTotals,
    TargetMismatch, TargetTotals,
};
pub use kpack::{KpackArchive, KpackError, KpackReference};
pub use kpack_manifest::KpackManifest;
pub use layout::{CodeFileKind, FileLayout, FileRange, FileSection};
pub use scan::{CodeScanner, ScanDepth, ScanLimit};
pub use target::{CodeTarget, TargetDifference};

/// The examples of the README, which are tested as documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests;
