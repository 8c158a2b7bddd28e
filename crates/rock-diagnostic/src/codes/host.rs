//! The `H` codes, for problems of the host.

use crate::{Code, ExitClass};

/// All `H` codes of this crate, sorted by ID.
pub const ALL: &[&Code] = &[&CANNOT_READ_FILE, &CANNOT_WRITE_FILE];

/// A file that cannot be read.
pub const CANNOT_READ_FILE: Code = Code::error(
    "H020",
    "cannot-read-file",
    "A file that the command needs cannot be read: it does not exist, its permissions deny access, it is too large for its kind, or it is not UTF-8 text.\n\nNothing was written. Correct the path or the file and run the command again.",
);
/// A file that cannot be written.
pub const CANNOT_WRITE_FILE: Code = Code::error(
    "H021",
    "cannot-write-file",
    "A file or directory cannot be created, replaced or removed: the disk is full, the permissions of the directory deny access, or something else has that name.\n\nFiles are written next to their destination and moved into place when complete, so the old content is unchanged.",
)
.exits_with(ExitClass::Machine);
