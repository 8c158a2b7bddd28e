//! Wheels: the zip container, METADATA, WHEEL and RECORD; reading, checking, and writing with other
//! names.
//!
//! In: bytes behind [`ReadAt`], which is read by position and never as a whole. Out: values,
//! [`Diagnostic`]s, and the bytes of a new wheel on a [`Target`]. Members that do not change are
//! copied as they lie in the file.
//!
//! [`Diagnostic`]: rock_diagnostic::Diagnostic
//!
//! **Invariant:** nothing here opens a path, and no member is held in memory as a whole but the
//! small text files of dist-info; a hostile file makes an error, never a panic or a large
//! allocation.

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
pub use relabel::{ExistingLabel, relabel};
pub use rename_plan::RenamePlan;
pub use retag::{BuildTagChange, RetagOptions, TagChange, retag};
pub use rewrite::{
    RecordCheck, RewriteOptions, RewriteSummary, UnchangedMembers, WheelRewriter, rewrite,
};
pub use tar_archive::{verify_source_distribution, verify_tree_archive};
pub use verify::{
    CopiedMembers, check_dist_info, filter_persistent_errors, persistent_errors, verify,
    verify_except, verify_headers, verify_with_progress,
};
pub use zip::{
    ChangedContent, CompressionMethod, ContentObserver, DosTime, MemberContent, MemberOptions,
    MemberReader, MemberView, ZipArchive, ZipMember, ZipWriter,
};

#[cfg(test)]
mod tests;
