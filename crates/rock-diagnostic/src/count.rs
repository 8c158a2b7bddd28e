//! Numbers in messages.

/// Returns a number with its noun: `1 job`, `2 jobs`. The plural of the noun must end in `s`.
///
/// ```
/// assert_eq!(rock_diagnostic::counted(1_u64, "job"), "1 job");
/// assert_eq!(rock_diagnostic::counted(0_usize, "error"), "0 errors");
/// ```
pub fn counted(count: impl Into<Count>, noun: &str) -> String {
    let Count(count) = count.into();
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Returns the verb that agrees with a number: `is` for 1, otherwise `are`.
///
/// ```
/// assert_eq!([0_u64, 1, 2].map(rock_diagnostic::is_or_are), ["are", "is", "are"]);
/// ```
pub fn is_or_are(count: impl Into<Count>) -> &'static str {
    if count.into().0 == 1 { "is" } else { "are" }
}

/// A number of things, converted from `u64` or `usize`.
#[derive(Debug, Clone, Copy)]
pub struct Count(u64);

impl From<u64> for Count {
    fn from(count: u64) -> Self {
        Self(count)
    }
}

impl From<usize> for Count {
    fn from(count: usize) -> Self {
        Self(count as u64)
    }
}
