//! Reads, edits, strips and verifies ELF files without moving their bytes.
//!
//! Input: bytes behind [`ReadAt`](rock_bytes::ReadAt), of which only small tables are read, however
//! large the file is. Output: values, and an [`ElfPatch`] of the bytes to overwrite and append. The
//! format is that of the System V gABI, chapters 4 and 5, with the GNU extensions for symbol
//! versions and hash tables.
//!
//! ```
//! use rock_elf::{Elf, ElfEdits, PatchedFile, SearchPathEdit, edit, tag, verify};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let file = std::fs::read(std::env::current_exe()?)?;
//! let elf = Elf::read(&file)?;
//! let needed = elf.dynamic_strings(&elf.string_table(&file)?, tag::NEEDED)?;
//! assert!(needed.iter().any(|name| name.starts_with("libc.so")));
//!
//! let edits = ElfEdits {
//!     rpath: SearchPathEdit::Rpath("$ORIGIN/../lib".to_owned()),
//!     ..ElfEdits::default()
//! };
//! let patch = edit(&file, &edits)?;
//! let patched = PatchedFile::new(&file, &patch);
//! assert!(verify(&patched).is_empty());
//! let elf = Elf::read(&patched)?;
//! let rpath = elf.dynamic_strings(&elf.string_table(&patched)?, tag::RPATH)?;
//! assert_eq!(rpath, ["$ORIGIN/../lib"]);
//! # Ok(())
//! # }
//! ```
//!
//! **Invariant:** nothing here opens a path; tables are read at the addresses that loaded segments
//! map, as the dynamic linker reads them, so that files without section headers work, too; no table
//! in memory is larger than the file.

#![warn(missing_docs)]

mod dynamic;
mod edit;
mod elf_file;
mod error;
mod format;
mod header;
mod limits;
mod note;
mod patch;
mod program_header;
mod section_header;
mod string_table;
mod strip;
mod symbol;
mod verify;
mod version;

pub use dynamic::{DynamicEntry, tag};
pub use edit::{ElfEdits, SearchPathEdit, edit};
pub use elf_file::Elf;
pub use error::ElfError;
pub use format::{ElfClass, ElfFormat, Endianness};
pub use header::{ElfHeader, MAGIC, is_elf, machine};
pub use note::X86_ISA_LEVELS;
pub use patch::{ElfPatch, PatchedFile};
pub use program_header::{ProgramHeader, segment_flag, segment_type};
pub use section_header::{SectionHeader, section_type};
pub use string_table::StringTable;
pub use strip::strip;
pub use symbol::{ElfSymbol, SymbolBinding};
pub use verify::{LayoutError, verify};
pub use version::VersionNeed;

#[cfg(fuzzing)]
pub use sample::sample_for_fuzzing;

#[cfg(any(test, fuzzing))]
mod sample;

/// The examples of the README, which are tested as documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests;
