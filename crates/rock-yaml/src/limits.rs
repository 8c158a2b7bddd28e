//! Limits on YAML files. Each is far above what matrix files, recipes, tables of facts and policies
//! hold, and keeps the memory of reading one below a few times its length.

/// The most levels of lists and mappings, aliases included. Matrix and recipe files need six; code
/// above may recurse.
pub const MAX_DEPTH: usize = 64;
/// The most values that aliases add to a file.
pub const MAX_ALIAS_VALUES: usize = 100_000;
/// The most memory in bytes that anchors and aliases take beside the file itself: each anchor keeps
/// a copy of its value, and each alias is one.
pub const MAX_ALIAS_BYTES: usize = 16 << 20;
/// The most values of a file, keys included. One takes about 100 bytes of memory beside its text.
pub const MAX_VALUES: usize = 500_000;
/// The longest key in bytes. YAML allows a key without `?` 1024 characters (YAML 1.2.2, section
/// 7.4.2); the path to a value thus has at most 64 KiB ([`DEPTH_LIMIT`]), and is only built for
/// diagnostics.
pub const MAX_KEY_BYTES: usize = 1024;
/// The longest text of a value in bytes. The longest script of the shipped recipes has about 3 kB.
pub const MAX_TEXT_BYTES: usize = 64 << 10;
