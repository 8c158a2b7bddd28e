//! The `M` codes, for errors in the YAML files of users.

use crate::Code;

/// All `M` codes of this crate, sorted by ID.
pub const ALL: &[&Code] = &[&NOT_UTF8];

/// A file that is not UTF-8.
pub const NOT_UTF8: Code = Code::error(
    "M004",
    "not-utf8",
    "The file contains bytes that are not UTF-8 text. Files saved as UTF-16 or in an old code page look like this; so do binary files. Wheels and other ZIP archives are recognized.\n\nSave the file as UTF-8. To check a wheel, use `rock-matrix wheel check`.",
);
