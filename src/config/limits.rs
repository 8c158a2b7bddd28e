//! Limits on matrix files, beside those of every YAML file ([`yaml::limits`](crate::yaml::limits)).

/// The longest text in bytes. A plan repeats values of axes and variables for each job; names of images have up to 255
/// characters, and paths up to 4096 bytes (`PATH_MAX` of Linux, limits.h).
pub const LONGEST_TEXT_BYTES: usize = 4 << 10;
