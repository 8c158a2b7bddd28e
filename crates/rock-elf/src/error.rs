//! What can be wrong with an ELF file.

use std::io;

/// Why a file cannot be read as ELF.
#[derive(Debug, thiserror::Error)]
pub enum ElfError {
    /// It does not begin with the magic bytes.
    #[error("it is no ELF file")]
    NotElf,
    /// A field of the file header has a value that the format does not know.
    #[error("its header says {field} {value}, which does not exist")]
    Header {
        /// The field in words.
        field: &'static str,
        /// Its value.
        value: u64,
    },
    /// A table or text lies outside the file, or outside what is loaded.
    #[error("{what} at {offset:#x} lies outside {of}")]
    Outside {
        /// The table or text.
        what: &'static str,
        /// Its offset in the file or its address.
        offset: u64,
        /// What it must lie in.
        of: &'static str,
    },
    /// A table does not fit together.
    #[error("{what}")]
    Damaged {
        /// What does not fit.
        what: String,
    },
    /// It cannot be edited without guessing.
    #[error("it cannot be edited: {why}")]
    Refused {
        /// What stands in the way.
        why: String,
    },
    /// An edit would have left a fault that was not there; nothing is to be written.
    #[error("an edit would damage it: {0}")]
    Harmful(super::LayoutFault),
    /// The bytes cannot be read.
    #[error("it cannot be read: {0}")]
    Read(#[source] io::Error),
}

impl ElfError {
    /// What cannot be edited.
    pub(super) fn refused(why: impl Into<String>) -> Self {
        Self::Refused { why: why.into() }
    }

    /// A table that ends too early is damage; anything else is the machine's fault.
    pub(super) fn reading(what: &'static str, offset: u64) -> impl Fn(io::Error) -> Self {
        move |error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Outside {
                what,
                offset,
                of: "the file",
            },
            _ => Self::Read(error),
        }
    }
}
