//! Wanted and present files to ordered changes.
