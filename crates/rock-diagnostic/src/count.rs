//! Numbers in messages.

/// Returns a number with its noun: `1 job`, `2 jobs`. The plural is the noun with an `s`.
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

/// Returns the number of items that a list leaves out, after a separator, or nothing for none.
///
/// ```
/// assert_eq!(rock_diagnostic::count_more(3, ", and "), ", and 3 more");
/// assert_eq!(rock_diagnostic::count_more(0, ", and "), "");
/// ```
pub fn count_more(left_out: usize, separator: &str) -> String {
    if left_out == 0 {
        String::new()
    } else {
        format!("{separator}{left_out} more")
    }
}

/// Joins the first items with commas and [counts](count_more) the others after a separator.
///
/// ```
/// let list = |limit| rock_diagnostic::list_first(&["a", "b", "c"], limit, " and ");
/// assert_eq!(list(2), "a, b and 1 more");
/// assert_eq!(list(3), "a, b, c");
/// ```
pub fn list_first(items: &[impl AsRef<str>], limit: usize, separator: &str) -> String {
    let first: Vec<&str> = items.iter().take(limit).map(AsRef::as_ref).collect();
    first.join(", ") + &count_more(items.len() - first.len(), separator)
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
