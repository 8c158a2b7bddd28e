//! Keeps the values of secrets out of logs.

/// What stands in a log instead of a secret.
const STARS: &str = "***";

/// Texts that must not be shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Masks {
    /// Longest first, so that a secret which holds another is hidden as a whole.
    values: Vec<String>,
}

impl std::fmt::Debug for Masks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Masks({} × {STARS})", self.values.len())
    }
}

impl Masks {
    /// Masks for these values; each line of a longer one is hidden by itself, since logs are lines.
    pub fn new<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let mut values: Vec<String> =
            values.into_iter().flat_map(str::lines).map(|line| line.trim().to_owned()).collect();
        values.retain(|value| !value.is_empty());
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        Self { values }
    }

    /// The length of the longest value: so much of an unfinished line may still become a secret.
    pub fn longest(&self) -> usize {
        self.values.first().map_or(0, String::len)
    }

    /// The text without secrets.
    pub fn hide(&self, text: &str) -> String {
        self.values.iter().fold(text.to_owned(), |text, value| text.replace(value, STARS))
    }

    /// The bytes without secrets.
    pub fn hide_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        self.values.iter().fold(bytes.to_vec(), |bytes, value| replace(&bytes, value.as_bytes()))
    }
}

fn replace(bytes: &[u8], value: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix(value) {
            replaced.extend_from_slice(STARS.as_bytes());
            rest = after;
        } else {
            replaced.push(rest[0]);
            rest = &rest[1..];
        }
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::Masks;

    #[test]
    fn secrets_are_hidden_longest_first_and_line_by_line() {
        let masks = Masks::new(["abc", "abcdef", "", "first\nsecond"]);
        assert_eq!(masks.hide("abc abcdef first second"), "*** *** *** ***");
        assert_eq!(masks.hide_bytes(b"\xffabcdef\xfe"), b"\xff***\xfe");
        assert_eq!(masks.longest(), 6);
        assert!(!format!("{masks:?}").contains("abc"));
    }

    #[test]
    fn without_secrets_nothing_changes() {
        assert_eq!(Masks::default().hide_bytes(b"abc"), b"abc");
    }
}
