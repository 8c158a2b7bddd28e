//! The `H` codes.

use crate::Code;

/// All of them, sorted by ID.
pub const ALL: &[&Code] = &[&CANNOT_READ_FILE, &CANNOT_WRITE_FILE];

/// A file cannot be read.
pub const CANNOT_READ_FILE: Code = Code::error(
    "H020",
    "cannot-read-file",
    "A file that the command needs cannot be read: it is not there, its mode keeps this user out, it is too large to be what it should be, or it is not UTF-8 text.\n\nNothing was written. Correct the path or the file and run the command again.",
);
/// A file cannot be written.
pub const CANNOT_WRITE_FILE: Code = Code::error(
    "H021",
    "cannot-write-file",
    "A file or folder cannot be made, replaced or removed: the disk is full, the folder's mode keeps this user out, or something else has that name.\n\nFiles are written beside their place and moved there whole, so the old content stays as it was.",
);
