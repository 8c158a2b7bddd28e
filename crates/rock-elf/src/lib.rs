//! ELF files: what a library needs and offers, and edits of it that append.
//!
//! In: bytes behind [`ReadAt`](rock_bytes::ReadAt), of which only the small tables are read. Out:
//! values. The format is that of the System V gABI, chapters 4 and 5, with the GNU extensions for
//! symbol versions and hashes.
//!
//! **Invariant:** nothing here opens a path; tables are read at addresses that loadable segments
//! map, as the dynamic loader does it, so that files without section headers are read too; no table
//! is larger than the file.

mod dynamic;
mod edit;
mod error;
mod file;
mod format;
mod header;
mod limits;
mod note;
mod patch;
mod section;
mod segment;
mod strings;
mod strip;
mod symbol;
mod verify;
mod version;

pub use dynamic::{DynamicEntry, tag};
pub use edit::{ElfEdits, SearchPath, edit};
pub use error::ElfError;
pub use file::Elf;
pub use format::{Class, Endian, Format};
pub use header::{Header, MAGIC, is_elf, machine};
pub use note::X86_ISA_LEVELS;
pub use patch::{Patch, Patched};
pub use section::{Section, section_type};
pub use segment::{Segment, segment_flag, segment_type};
pub use strings::Strings;
pub use strip::strip;
pub use symbol::{Binding, Symbol};
pub use verify::{LayoutFault, verify};
pub use version::VersionNeed;

#[cfg(fuzzing)]
pub use sample::made as made_for_fuzzing;

#[cfg(any(test, fuzzing))]
mod sample;
#[cfg(test)]
mod tests;
