//! Audits and repairs of Python wheels with native code, like auditwheel, for ROCm.
//!
//! An [`Auditor`] audits wheels: it inspects all members, evaluates the platform policies of
//! PEP 600 and PEP 656, and compares the name, tags and label with the contents. The resulting
//! [`AuditedWheel`] plans repairs; a [`RepairPlan`] contains all changes before anything is written.
//!
//! ```
//! use rock_audit::{AuditOptions, Auditor, NoLibraries};
//! use rock_compat::Compat;
//! use rock_names::WheelName;
//! # use rock_wheel::{MemberOptions, ZipWriter};
//!
//! # let mut file = Vec::new();
//! # let mut archive = ZipWriter::new(&mut file);
//! # for (path, text) in [
//! #     ("demo.py", ""),
//! #     ("demo-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n"),
//! #     ("demo-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
//! #     ("demo-1.0.dist-info/RECORD", "demo.py,,\ndemo-1.0.dist-info/METADATA,,\ndemo-1.0.dist-info/WHEEL,,\ndemo-1.0.dist-info/RECORD,,\n"),
//! # ] {
//! #     archive.add(path, text.as_bytes(), &MemberOptions::default())?;
//! # }
//! # archive.finish()?;
//! let compat = Compat::embedded();
//! let auditor = Auditor::new(&compat, NoLibraries, AuditOptions::default());
//!
//! let name: WheelName = "demo-1.0-py3-none-any.whl".parse()?;
//! let audited = auditor.audit(&name, &file)?;
//! assert_eq!(audited.platform_tag(), None, "it contains no libraries");
//! for finding in audited.findings() {
//!     println!("{}: {}", finding.code.id, finding.message);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Invariant:** only [`RepairPlan::write`] writes, and only the repaired wheel. Only the providers
//! of libraries read files of the system, and no audit changes a wheel.

#![warn(missing_docs)]

mod audited;
mod auditor;
mod check;
pub mod codes;
mod compliance;
mod document;
mod edited_file;
mod embed;
mod findings;
mod inspect;
mod libc;
mod library;
mod limits;
mod machine;
mod pattern;
mod policy_blockers;
mod progress;
mod provider;
mod redundant_copies;
mod repair;
mod resolve;
mod sbom;
mod search_path;
mod select;
mod summary;
mod verify;

pub use audited::AuditedWheel;
pub use auditor::{AuditError, AuditOptions, Auditor};
pub use check::{
    CheckedWheel, VerifiedWheel, check_built_wheel, check_contents, check_together,
    check_under_name,
};
pub use compliance::{Compliance, PolicyGap, PolicyIndex, SymbolVersions};
pub use document::{AuditDocument, AuditFacts, FindingView, GfxDocument, JsonDialect};
pub use edited_file::{EditedFile, FileChanges, StripMode};
pub use embed::{
    EmbeddedFile, RocmRequirement, TreeEntry, TreeEntryKind, embed_rocm, embedded_search_path,
    embedding_rule, is_embedded, select_embedded_files,
};
pub use findings::{
    DeviceWheels, ExpectedWheels, KpackArchive, SplitArchive, SplitCode, TorchRequirement,
    check_size, contradicts_claim, gfx_findings, kpack_locations, missing_archives,
    unexpected_targets, version_numbers,
};
pub use inspect::{
    InspectOptions, InspectedFile, InspectedKind, InspectionDepth, inspect_members,
    inspect_some_members,
};
pub use library::{ElfLibrary, ExtensionPython};
pub use machine::{Sysroot, SystemLibraries, find_wheels, tree_entries};
pub use pattern::{LibraryPatterns, PatternError};
pub use policy_blockers::{PolicyBlockers, policy_blockers};
pub use progress::{NoProgress, ProgressReporter};
pub use provider::{LibraryProvider, NoLibraries, SystemLibrary};
pub use repair::{
    Graft, PlatformChoice, RepairChanges, RepairDestination, RepairError, RepairNote,
    RepairOptions, RepairPlan, RepairedWheel,
};
pub use resolve::{DependencyNode, DependencyTree, ResolvedLibrary};
pub use search_path::LibrarySearchPath;
pub use summary::format_size;
pub use verify::verify_wheel;
