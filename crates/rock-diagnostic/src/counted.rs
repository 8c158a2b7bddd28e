//! Counts with their noun, for people.

/// `1 job`, `2 jobs`; the noun's plural takes an `s`.
///
/// ```
/// assert_eq!(rock_diagnostic::counted(1_u64, "job"), "1 job");
/// assert_eq!(rock_diagnostic::counted(0_usize, "fault"), "0 faults");
/// ```
pub fn counted(count: impl Into<Count>, noun: &str) -> String {
    let Count(count) = count.into();
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// `is` where one is meant, else `are`.
///
/// ```
/// assert_eq!([0_u64, 1, 2].map(rock_diagnostic::are), ["are", "is", "are"]);
/// ```
pub fn is_or_are(count: impl Into<Count>) -> &'static str {
    if count.into().0 == 1 { "is" } else { "are" }
}

/// How many.
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
