//! rock-matrix: from one matrix file to labelled, checked wheels for AMD GPUs in a release that pip
//! installs from.
//!
//! This crate is the command line; the libraries are the crates of the workspace (see
//! `ARCHITECTURE.md`), under their subjects as names.

pub use rock_diagnostic as diagnostic;

pub mod codes;
pub use rock_yaml as yaml;

pub use rock_bytes as bytes;
pub use rock_names as names;

pub use rock_bytes::archive;
pub use rock_codeobj as codeobj;
pub use rock_elf as elf;
pub use rock_source::cmake;
pub use rock_wheel as wheel;

pub use rock_compat as compat;
pub use rock_host as host;
pub use rock_plan::config;

pub use rock_audit as audit;
pub use rock_doctor as doctor;
pub use rock_index as index;
pub use rock_plan as plan;
pub use rock_plan::matrix;
pub use rock_publish as publish;
pub use rock_recipe as recipe;
pub use rock_recipe::render;
pub use rock_report as report;
pub use rock_report::finder;
pub use rock_report::pick;
pub use rock_sdk as sdk;
pub use rock_source as source;

pub use rock_exec as exec;
pub use rock_github as github;
pub use rock_source::checkout;
pub use rock_sys as sys;
pub use rock_sys::fetch;

pub mod cli;
