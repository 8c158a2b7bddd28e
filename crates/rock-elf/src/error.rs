//! The error type of this crate.

use std::io;

/// An error from reading or editing an ELF file.
#[derive(Debug, thiserror::Error)]
pub enum ElfError {
    /// The file does not start with the magic bytes.
    #[error("it is not an ELF file")]
    NotElf,
    /// A field of the ELF header has an undefined value.
    #[error("its header says {field} {value}, which does not exist")]
    InvalidHeader {
        /// The field.
        field: &'static str,
        /// Its value.
        value: u64,
    },
    /// A table or string lies outside the file, or outside the loaded segments.
    #[error("{what} at {offset:#x} is outside {container}")]
    OutOfBounds {
        /// The table or string.
        what: &'static str,
        /// Its file offset, or its address.
        offset: u64,
        /// What it must lie in: the file, the loaded segments or the string table.
        container: &'static str,
    },
    /// A table is inconsistent or exceeds a limit.
    #[error("{reason}")]
    Malformed {
        /// The inconsistency.
        reason: String,
    },
    /// The file cannot be edited, or not without guessing.
    #[error("it cannot be edited: {reason}")]
    NotEditable {
        /// The obstacle.
        reason: String,
    },
    /// The edited file would have a layout error that the original does not have.
    #[error("an edit would damage it: {0}")]
    InvalidResult(super::LayoutError),
    /// The source returned an error.
    #[error("it cannot be read: {0}")]
    Io(#[source] io::Error),
}

impl ElfError {
    /// Creates an [`ElfError::NotEditable`].
    pub(super) fn not_editable(reason: impl Into<String>) -> Self {
        Self::NotEditable {
            reason: reason.into(),
        }
    }

    /// Returns a function that converts the error of a read: an unexpected end of file becomes
    /// [`ElfError::OutOfBounds`], everything else [`ElfError::Io`].
    pub(super) fn from_read(what: &'static str, offset: u64) -> impl Fn(io::Error) -> Self {
        move |error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::OutOfBounds {
                what,
                offset,
                container: "the file",
            },
            _ => Self::Io(error),
        }
    }
}
