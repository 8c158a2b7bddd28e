//! The `B` codes: recipes, building, containers.

use rock_diagnostic::Code;

/// All of them, sorted by ID.
pub const ALL: &[&Code] = &[&LINKED_FOLDER];

/// A symbolic link in the place of a folder of the job.
pub const LINKED_FOLDER: Code = Code::error(
    "B081",
    "linked-folder",
    "A folder or a file in the job's folder `.rock/JOB` is a symbolic link. A step of the build may have made it, and it could lead anywhere on this machine, so nothing is read, written or removed through it.\n\nRemove the link and build again. `.rock` itself may be a link, for example to a larger disk.",
);
