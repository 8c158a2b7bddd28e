//! Judging a wheel: what its files need, which platforms have that, and whether its name, label and
//! contents agree.
//!
//! In: a wheel's members, the policies, and the libraries of the machine behind
//! [`MachineLibraries`]. Out: a report with findings, and what repairing takes.
//!
//! **Invariant:** nothing here writes, and what comes from the machine is told apart from what the
//! wheel itself says.

pub mod codes;
mod copies;
mod embed;
mod findings;
mod inspect;
mod json;
mod libc;
mod library;
mod limits;
mod machine;
mod obstacles;
mod repair;
mod report;
mod sbom;
mod search;
mod select;
mod tree;
mod verdict;

pub use copies::{Needless, needless_copies};
pub use embed::{
    Along, Leaf, LeafKind, Requirements, along, embed, embedding, is_embedded, not_as_labelled,
    search_path,
};
pub use findings::{
    Archive, DeviceWheels, Expected, SplitArchive, SplitCode, TorchNeed, archives_of,
    contradicts_claim, features, file_findings, is_of_torch, missing_archives, numbers, too_large,
    unexpected,
};
pub use inspect::{FileFacts, FileKind, Look, Reading, inspect, inspect_some};
pub use json::{Document, Facts, FindingView, GfxDocument, Readers};
pub use library::{Extension, Library};
pub use machine::{Owners, Sysroot, leaves};
pub use obstacles::{Obstacles, obstacles};
pub use repair::{
    Digests, Fingerprint, Graft, Made, Plan, Platform, Repair, Wanted, grafted_name, plan,
    shortfalls, unknown_platform,
};
pub use report::{Judged, Report, label_findings, policies_for, report};
pub use sbom::{Part, sbom, sbom_path};
pub use search::{Folder, SearchPath};
pub use select::{Selected, arch_of, damaged, select};
pub use tree::{
    Excludes, Found, Known, MachineLibraries, MachineLibrary, NoLibraries, Node, Surroundings,
    Tree, is_libpython, walk,
};
pub use verdict::{Judging, Reference, Verdict, Versions, judge};
