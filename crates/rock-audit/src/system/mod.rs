//! Libraries, files and packages of this machine, or of a directory that takes its place (a sysroot).
//!
//! **Invariant:** apart from the wheels themselves, the rest of the crate reads no files. Only
//! `package_owners` runs a program, `rpm`.
#![allow(
    clippy::disallowed_methods,
    reason = "directories and links are read as they are, without following them"
)]

mod package_owners;
mod rocm_directory;
mod sysroot;
mod system_libraries;
mod tree_entries;
mod wheel_files;

use package_owners::PackageOwners;
pub(crate) use rocm_directory::RocmDirectory;
pub use sysroot::Sysroot;
pub use system_libraries::SystemLibraries;
use tree_entries::tree_entries;
pub use wheel_files::find_wheels;
