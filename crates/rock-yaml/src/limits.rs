//! Limits of YAML files, far above the needs of hand-written files. They bound the memory of a tree
//! to a few times the length of the text.

/// The maximum depth of lists and mappings, including those of aliases, so that code can recurse on
/// a tree.
pub const MAX_DEPTH: usize = 64;
/// The maximum number of values that aliases add to a file.
pub const MAX_ALIAS_VALUES: usize = 100_000;
/// The maximum memory in bytes for the copies that anchors and aliases make: the value of each
/// anchor is kept, and each alias is a copy.
pub const MAX_ALIAS_BYTES: usize = 16 << 20;
/// The maximum number of values of a file, including keys. Each takes about 100 bytes of memory in
/// addition to its text.
pub const MAX_VALUES: usize = 500_000;
/// The maximum length of a key in bytes. YAML limits a key without `?` to 1,024 characters (YAML
/// 1.2.2, section 7.4.2). With [`MAX_DEPTH`], this limits the path to a value to 64 KiB.
pub const MAX_KEY_BYTES: usize = 1024;
/// The maximum length of a scalar value in bytes.
pub const MAX_TEXT_BYTES: usize = 64 << 10;
