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

mod change;
pub mod codes;
mod dist_info;
mod edits;
mod entry_points;
mod fault;
mod headers;
mod identity;
mod in_order;
mod limits;
mod make;
mod progress;
pub mod record;
mod relabel;
mod retag;
mod rewrite;
mod source_archive;
mod verify;
mod version_string;
mod vouch;
pub mod zip;

pub use change::Change;
pub use dist_info::{Wheel, WheelHeaders, read_metadata};
pub use edits::{Added, Edits};
pub use entry_points::{EntryPointFault, entry_point_faults, entry_point_lines};
pub use fault::WheelError;
pub use headers::Headers;
pub use identity::{LabelRule, identity};
pub use make::{MakeOptions, NewFile, make};
pub use progress::{Meter, Progress, Watch};
pub use relabel::{ExistingLabel, relabel};
pub use retag::{BuildChange, Retag, TagChange, retag};
pub use rewrite::{Rehash, Rewritten, Unchanged, WriteOptions, rewrite, rewrite_watched};
pub use source_archive::{verify_source_distribution, verify_tree_archive};
pub use verify::{
    Carried, check_dist_info, copied_among, copied_faults, verify, verify_headers, verify_some,
    verify_watched,
};
pub use vouch::Vouching;
pub use zip::{
    Archive, Changed, Content, DosTime, Member, MemberReader, MemberView, Method, NewMember,
    Observer, ZipWriter,
};

#[cfg(test)]
mod tests;
