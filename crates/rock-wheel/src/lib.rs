//! Reads, verifies and rewrites Python wheels without unpacking them.
//!
//! Unchanged members of a wheel are copied raw: a new label or tag takes as long as copying the
//! file. Archives are checked against the rules of pip, uv and PyPI.
//!
//! Input: bytes behind [`ReadAt`], which are read by position. Output: parsed metadata,
//! [`Diagnostic`]s, and the bytes of a new wheel on a [`ByteSink`].
//!
//! ```
//! use rock_wheel::{DosTime, ExistingLabel, NewWheel, NewWheelOptions, ProgressMeter};
//! use rock_wheel::{RewriteOptions, Wheel, relabel, rewrite, verify};
//!
//! // A wheel without modules.
//! let mut old = Vec::new();
//! NewWheel {
//!     dist_info: "demo-1.0.dist-info",
//!     metadata: &[
//!         ("METADATA", b"Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n"),
//!         ("WHEEL", b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
//!     ],
//!     options: &NewWheelOptions { level: 6, time: DosTime::FIRST },
//! }
//! .write(std::iter::empty(), &mut old, &ProgressMeter::new(0, &|_| {}))?;
//!
//! // The same wheel with a local version label.
//! let wheel = Wheel::open(&old)?;
//! let name = "demo-1.0-py3-none-any.whl".parse()?;
//! let plan = relabel(&wheel, &name, &"rocm6.2".parse()?, ExistingLabel::Refuse)?;
//! let mut new = Vec::new();
//! rewrite(&wheel, &plan.edits, &RewriteOptions::default(), &mut new)?;
//!
//! assert_eq!(plan.name.to_string(), "demo-1.0+rocm6.2-py3-none-any.whl");
//! assert!(verify(&new, &plan.name).is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`ReadAt`]: rock_bytes::ReadAt
//! [`Diagnostic`]: rock_diagnostic::Diagnostic
//! [`ByteSink`]: rock_bytes::ByteSink
//!
//! **Invariant:** this crate opens no paths, and holds no member in memory as a whole except small
//! ones and the metadata files, which have limits; a hostile file causes an error, never a panic or
//! a large allocation.

#![warn(missing_docs)]

pub mod codes;
mod dist_info;
mod edits;
mod entry_points;
mod error;
mod headers;
mod identity;
mod limits;
mod new_wheel;
mod ordered_parallel;
mod progress;
pub mod record;
mod record_verifier;
mod relabel;
mod rename_plan;
mod retag;
mod rewrite;
mod source_date;
mod tar_archive;
mod verify;
mod version_strings;
pub mod zip;

pub use dist_info::{Wheel, WheelHeaders, read_metadata};
pub use edits::{AddedMember, WheelEdits};
pub use entry_points::{InvalidEntryPoint, entry_point_lines, invalid_entry_points};
pub use error::WheelError;
pub use headers::HeaderDocument;
pub use identity::{LabelCheck, check_identity};
pub use new_wheel::{NewWheel, NewWheelFile, NewWheelOptions};
pub use progress::{ByteProgress, ProgressCallback, ProgressMeter};
pub use record_verifier::RecordVerifier;
pub use relabel::{ExistingLabel, relabel, remove_label};
pub use rename_plan::RenamePlan;
pub use retag::{BuildTagChange, RetagOptions, TagChange, retag};
pub use rewrite::{
    RecordCheck, RewriteOptions, RewriteSummary, UnchangedMembers, WheelRewriter, rewrite,
};
pub use source_date::parse_source_date;
pub use tar_archive::{verify_source_distribution, verify_tree_archive};
pub use verify::{
    CopiedMembers, MAX_FINDINGS, check_dist_info, filter_persistent_errors, persistent_errors,
    verify, verify_except, verify_headers, verify_with_progress,
};
pub use zip::{
    ChangedContent, CompressionMethod, ContentObserver, DosTime, MemberContent, MemberOptions,
    MemberReader, MemberView, ZipArchive, ZipMember, ZipWriter,
};

/// The examples of the README, which are tested as documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests;
