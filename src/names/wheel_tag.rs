//! Wheel tags: compressed sets of Python, ABI and platform tags.

use std::fmt;

/// One of the three tag fields of a wheel name: one or more tags joined with dots, in the order written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TagSet(Vec<String>);

/// Not a tag set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a set of wheel tags: letters, digits and `_`, several joined with `.`")]
pub struct TagSetError(pub String);

impl TagSet {
    /// The tags in the order written.
    pub fn tags(&self) -> &[String] {
        &self.0
    }

    /// Whether this tag is in it.
    pub fn contains(&self, tag: &str) -> bool {
        self.0.iter().any(|own| own == tag)
    }

    /// This set with another one's tags behind, each once.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        let mut tags = self.0.clone();
        tags.extend(other.0.iter().filter(|tag| !self.contains(tag)).cloned());
        Self(tags)
    }

    /// The tags sorted, each once: the form in which platform sets are written.
    #[must_use]
    pub fn sorted(&self) -> Self {
        let mut tags = self.0.clone();
        tags.sort();
        tags.dedup();
        Self(tags)
    }
}

impl std::str::FromStr for TagSet {
    type Err = TagSetError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let tags: Vec<String> = text.split('.').map(str::to_owned).collect();
        let fits = |t: &String| !t.is_empty() && t.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if tags.iter().all(fits) { Ok(Self(tags)) } else { Err(TagSetError(text.to_owned())) }
    }
}

impl fmt::Display for TagSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}

#[cfg(test)]
mod tests {
    use super::TagSet;

    #[test]
    fn a_set_keeps_its_order_and_adds_each_tag_once() {
        let set: TagSet = "manylinux_2_28_x86_64.linux_x86_64".parse().unwrap();
        assert_eq!(set.to_string(), "manylinux_2_28_x86_64.linux_x86_64");
        let more = set.with(&"linux_x86_64.any".parse().unwrap());
        assert_eq!(more.to_string(), "manylinux_2_28_x86_64.linux_x86_64.any");
        assert_eq!(more.sorted().to_string(), "any.linux_x86_64.manylinux_2_28_x86_64");
        for text in ["", "a..b", "a-b", "a b"] {
            assert!(text.parse::<TagSet>().is_err(), "{text}");
        }
    }
}
