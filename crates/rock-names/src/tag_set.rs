//! Compressed tag sets of wheel names (PEP 425).

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A compressed tag set (PEP 425): one or more Python, ABI or platform tags joined with dots.
///
/// Keeps the order and the spelling as written. Comparison ignores case, as in
/// `packaging.tags.Tag`, but not the order.
#[derive(Debug, Clone)]
pub struct TagSet {
    /// The tags in lower case.
    tags: Vec<String>,
    /// The text as written, if it has upper-case letters.
    written: Option<Box<str>>,
}

/// The error of parsing a [`TagSet`]; holds the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a set of wheel tags: letters, digits and `_`, several joined with `.`")]
pub struct TagSetError(pub String);

impl TagSet {
    fn of(tags: Vec<String>) -> Self {
        Self {
            tags,
            written: None,
        }
    }

    /// Returns the tags in lower case, in the order written.
    pub fn as_slice(&self) -> &[String] {
        &self.tags
    }

    /// Returns an iterator over [`Self::as_slice`].
    pub fn iter(&self) -> std::slice::Iter<'_, String> {
        self.tags.iter()
    }

    /// Returns whether the set contains a tag, in any case.
    pub fn contains(&self, tag: &str) -> bool {
        self.tags.iter().any(|own| own.eq_ignore_ascii_case(tag))
    }

    /// Returns this set followed by the tags of another one that it lacks.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut tags = self.tags.clone();
        tags.extend(other.tags.iter().filter(|tag| !self.contains(tag)).cloned());
        Self::of(tags)
    }

    /// Returns the tags in lower case, sorted and without duplicates, as tag sets are written in
    /// filenames (binary distribution format, "Compressed tag sets").
    #[must_use]
    pub fn sorted(&self) -> Self {
        let mut tags = self.tags.clone();
        tags.sort();
        tags.dedup();
        Self::of(tags)
    }
}

impl<'s> IntoIterator for &'s TagSet {
    type Item = &'s String;
    type IntoIter = std::slice::Iter<'s, String>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl std::str::FromStr for TagSet {
    type Err = TagSetError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Nearly always one; a growing vector would allocate four.
        let mut tags = Vec::with_capacity(1);
        tags.extend(text.split('.').map(str::to_ascii_lowercase));
        let fits =
            |t: &String| !t.is_empty() && t.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !tags.iter().all(fits) {
            return Err(TagSetError(text.to_owned()));
        }
        let has_capitals = text.bytes().any(|b| b.is_ascii_uppercase());
        Ok(Self {
            tags,
            written: has_capitals.then(|| text.into()),
        })
    }
}

impl fmt::Display for TagSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.written {
            Some(text) => f.write_str(text),
            None => f.write_str(&self.tags.join(".")),
        }
    }
}

impl PartialEq for TagSet {
    fn eq(&self, other: &Self) -> bool {
        self.tags == other.tags
    }
}

impl Eq for TagSet {}

impl PartialOrd for TagSet {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for TagSet {
    fn cmp(&self, other: &Self) -> Ordering {
        self.tags.cmp(&other.tags)
    }
}

impl Hash for TagSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.tags.hash(state);
    }
}

/// Returns the plain Linux tag of a manylinux tag: `linux_x86_64` for `manylinux_2_28_x86_64` and
/// `manylinux2014_x86_64` (PEP 600 and the PEPs before it). Returns other tags unchanged.
pub fn plain_linux_tag(platform: &str) -> String {
    let Some(rest) = platform.strip_prefix("manylinux") else {
        return platform.to_owned();
    };
    let parts: Vec<&str> = rest.split('_').collect();
    let glibc = parts
        .iter()
        .skip(1)
        .take_while(|part| part.bytes().all(|b| b.is_ascii_digit()))
        .count();
    format!("linux_{}", parts[(1 + glibc).min(parts.len())..].join("_"))
}

#[cfg(test)]
mod tests {
    use super::{TagSet, plain_linux_tag};

    #[test]
    fn repair_changes_the_platform_tag_and_not_the_machine() {
        for tag in [
            "manylinux_2_28_x86_64",
            "manylinux2014_x86_64",
            "manylinux1_x86_64",
            "linux_x86_64",
        ] {
            assert_eq!(plain_linux_tag(tag), "linux_x86_64", "{tag}");
        }
        assert_eq!(plain_linux_tag("manylinux_2_17_aarch64"), "linux_aarch64");
        assert_eq!(
            plain_linux_tag("musllinux_1_2_x86_64"),
            "musllinux_1_2_x86_64"
        );
        assert_eq!(plain_linux_tag("win_amd64"), "win_amd64");
    }

    #[test]
    fn capitals_mean_nothing_and_are_kept_in_print() {
        let set: TagSet = "CP311.py3".parse().unwrap();
        assert_eq!(
            (set.as_slice().join(" "), set.to_string()),
            ("cp311 py3".to_owned(), "CP311.py3".to_owned())
        );
        assert!(set.contains("cp311") && set.contains("Py3") && !set.contains("py"));
        assert_eq!(set, "cp311.PY3".parse().unwrap());
    }

    #[test]
    fn a_set_keeps_its_order_and_adds_each_tag_once() {
        let set: TagSet = "manylinux_2_28_x86_64.linux_x86_64".parse().unwrap();
        assert_eq!(set.to_string(), "manylinux_2_28_x86_64.linux_x86_64");
        let more = set.union(&"linux_x86_64.any".parse().unwrap());
        assert_eq!(more.to_string(), "manylinux_2_28_x86_64.linux_x86_64.any");
        assert_eq!(
            more.sorted().to_string(),
            "any.linux_x86_64.manylinux_2_28_x86_64"
        );
        for text in ["", "a..b", "a-b", "a b"] {
            assert!(text.parse::<TagSet>().is_err(), "{text}");
        }
    }
}
