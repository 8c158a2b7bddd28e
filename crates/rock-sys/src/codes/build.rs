//! The `B` codes, for the files of builds.

use rock_diagnostic::Code;

/// All `B` codes of this crate, sorted by ID.
pub const ALL: &[&Code] = &[&LINKED_FOLDER];

/// A symbolic link in place of a file or directory of a job.
pub const LINKED_FOLDER: Code = Code::error(
    "B081",
    "linked-folder",
    "A file or directory in the job directory `.rock/JOB` is a symbolic link. A build step may have created it, and it could point anywhere on this machine, so nothing is read, written or removed through it.\n\nRemove the link and build again. `.rock` itself may be a link, for example to a larger disk.",
);
