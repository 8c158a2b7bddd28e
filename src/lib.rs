//! rock-matrix: from one matrix file to labelled, checked wheels for AMD GPUs in a release that pip
//! installs from.
//!
//! The modules, lowest layer first; a module uses only those before it (see `ARCHITECTURE.md`).

pub use rock_diagnostic as diagnostic;

pub mod codes;
pub use rock_yaml as yaml;

pub use rock_bytes as bytes;
pub use rock_names as names;

pub use rock_bytes::archive;
pub mod cmake;
pub use rock_codeobj as codeobj;
pub use rock_elf as elf;
pub mod template;
pub use rock_wheel as wheel;

pub use rock_compat as compat;
pub mod config;
pub use rock_host as host;

pub use rock_audit as audit;
pub mod doctor;
pub mod finder;
pub mod index;
pub mod matrix;
pub mod pick;
pub mod plan;
pub mod publish;
pub mod recipe;
pub mod render;
pub mod report;
pub mod sdk;
pub mod source;

pub mod checkout;
pub mod exec;
pub use rock_sys::fetch;
pub mod github;
pub use rock_sys as sys;

pub mod cli;
