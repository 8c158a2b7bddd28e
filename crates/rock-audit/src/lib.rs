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
//! Other entry points do less, or more:
//!
//! | function | for |
//! |---|---|
//! | [`Auditor::audit`], [`Auditor::audit_as`] | the audit; the latter if the file has another name |
//! | [`Auditor::audit_and_verify`], [`CheckedWheel::new`], [`add_cross_wheel_findings`] | an audit, the verification of all members against RECORD, and checks across wheels |
//! | [`verify_wheel`] | verification without an audit |
//! | [`check_built_wheel`], [`check_under_name`] | the findings of an audit without libraries of the system |
//! | [`AuditedWheel::overview`], [`ShownWheel`], [`gfx::GfxReport`], [`CheckedWheel::to_text`] | reports for people and as JSON |
//!
//! The results of an audit, and what they become:
//!
//! ```text
//! Auditor::audit ───────────→ AuditedWheel ── plan_repair → RepairPlan ── write → RepairedWheel
//!                                ├─ AuditDocument: its JSON
//!                                └─ ShownWheel: its text or JSON, without the file
//! Auditor::audit_and_verify → VerifiedWheel ─→ CheckedWheel
//!                                                └─ AuditSummary, with AuditFacts
//! ```
//!
//! - An [`AuditedWheel`] borrows the open file. Its findings are those of the audit alone.
//! - A [`VerifiedWheel`] adds the findings of RECORD, METADATA and WHEEL, or is unreadable.
//! - A [`CheckedWheel`] adds missing contents, and outlives the file: its [`AuditSummary`] has the
//!   results that are printed, and the GPU code for [`add_cross_wheel_findings`].
//! - [`AuditFacts`] are the JSON keys that an [`AuditDocument`] and a [`CheckedWheel`] share.
//!
//! [`embed`] puts the ROCm runtime into a wheel, [`gfx`] checks GPU code, and [`expected`] checks
//! the contents of finished wheels.
//!
//! The help of findings and the descriptions of [`codes`] name the options of `rock-matrix wheel`,
//! such as `--exclude` and `--plat`. [`AuditOptions`], [`RepairOptions`] and [`SystemLibraries`] have
//! the same settings.
//!
//! **Invariant:** An audit changes no wheel. Members over 512 MiB may be unpacked to temporary files.
//! Only the module `system` reads the system (directories, libraries, package databases) and may
//! run `rpm`; only [`RepairPlan::write`] writes a wheel.

#![warn(missing_docs)]

mod audited;
mod audited_libraries;
mod auditor;
mod check;
mod check_report;
pub mod codes;
mod compliance;
mod document;
mod edited_file;
pub mod embed;
mod exclude;
mod expectations;
mod findings;
mod gfx_report;
mod inspect;
mod installed_libraries;
mod libc;
mod library;
mod limits;
mod locations;
mod member_contents;
mod overview;
mod pattern;
mod policy_blockers;
mod progress;
mod provider;
mod redundant_copies;
mod repair;
mod resolve;
mod sbom;
mod search_path;
mod shown_wheel;
mod summary;
mod symbol_version;
mod system;
mod tree_completion;
mod verify;
mod wheel_dependencies;
mod wheel_file;

pub use audited::AuditedWheel;
pub use auditor::{AuditError, AuditOptions, Auditor};
pub use check::{
    AuditSummary, CheckedWheel, VerifiedWheel, add_cross_wheel_findings, check_built_wheel,
    check_under_name,
};
pub use check_report::CheckDetail;
pub use compliance::{Compliance, PolicyIndex, PolicyViolations, SymbolVersions};
pub use document::{AuditDocument, AuditFacts, FindingView, JsonDialect, finding_paths};
pub use edited_file::{EditedFile, FileChanges, StripMode};
pub use exclude::{pattern_lines, preset_patterns};
pub use findings::{
    TorchRequirement, check_python_tags, check_size, contradicts_claim, needed_rocm_majors,
    pypi_findings, unfit_python_tag, unknown_python_tags,
};
pub use inspect::{
    CodeSearch, InspectOptions, InspectedFile, InspectedKind, Inspection, LayoutChecks,
    inspect_members,
};
pub use library::{ElfLibrary, ExtensionPython};
pub use pattern::{LibraryPatterns, PatternError};
pub use policy_blockers::{PolicyBlockers, policy_blockers};
pub use progress::{NoProgress, ProgressReporter};
pub use provider::{LibraryProvider, NoLibraries, SystemLibrary};
pub use repair::{
    Graft, LibraryDirSuffix, LibraryDirSuffixError, PlatformChoice, RepairChanges,
    RepairDestination, RepairError, RepairNote, RepairOptions, RepairOutcome, RepairPlan,
    RepairedWheel,
};
pub use resolve::{DependencyNode, DependencyTree, ResolvedLibrary};
pub use search_path::LibrarySearchPath;
pub use shown_wheel::{ShowOutput, ShowQueue, ShownWheel};
pub use summary::{format_size, parse_size};
pub use system::{Sysroot, SystemLibraries, find_wheels};
pub use verify::{layout_code, verify_wheel};
pub use wheel_file::WheelFile;

pub mod gfx {
    //! Checks of GPU code, also of code that was split off into other wheels.

    pub use crate::document::GfxDocument;
    pub use crate::findings::{
        DeviceWheels, KpackLocation, SplitArchive, SplitCode, UnexpectedTargets, gfx_findings,
        kpack_locations, missing_archives, supported_targets, unexpected_targets,
    };
    pub use crate::gfx_report::GfxReport;
}

pub mod expected {
    //! Expected contents and requirements of the finished wheels of a distribution.

    pub use crate::check::check_contents;
    pub use crate::expectations::Expectations;
    pub use crate::findings::ExpectedWheels;
}

/// Wheels in memory.
#[cfg(test)]
mod testing {
    use rock_testkit::bundle;
    use rock_wheel::{MemberOptions, ZipWriter};

    /// Returns the wheel `demo-1.0-cp312-cp312-linux_x86_64.whl` with these members.
    pub(crate) fn wheel(members: &[(&str, &[u8])]) -> Vec<u8> {
        wheel_with_tag("cp312-cp312-linux_x86_64", members)
    }

    /// Returns the wheel `demo-1.0-TAG.whl` with these members.
    pub(crate) fn wheel_with_tag(tag: &str, members: &[(&str, &[u8])]) -> Vec<u8> {
        let wheel_file = format!("Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n");
        let dist_info: [(&str, &[u8]); 2] = [
            (
                "demo-1.0.dist-info/METADATA",
                b"Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n",
            ),
            ("demo-1.0.dist-info/WHEEL", wheel_file.as_bytes()),
        ];
        let mut record = "demo-1.0.dist-info/RECORD,,\n".to_owned();
        let mut file = Vec::new();
        let mut archive = ZipWriter::new(&mut file);
        let options = MemberOptions::default();
        for (path, content) in members.iter().chain(&dist_info) {
            archive.add(path, content, &options).unwrap();
            record.push_str(&format!("{path},,\n"));
        }
        let record = ("demo-1.0.dist-info/RECORD", record.as_bytes());
        archive.add(record.0, record.1, &options).unwrap();
        archive.finish().unwrap();
        file
    }

    /// Returns a library with an offload bundle for these targets, each with its machine number.
    pub(crate) fn gpu_library(targets: &[(&str, u32)]) -> Vec<u8> {
        bundle::library(&[
            bundle::part(".hip_fatbin", bundle::hip_bundle(targets, 512)),
            bundle::part(".hipFatBinSegment", bundle::wrappers(1, *b"FPIH")),
        ])
    }
}

/// The examples of the README, which are tested as documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
