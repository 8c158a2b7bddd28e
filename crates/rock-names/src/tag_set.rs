//! Compressed tag sets of wheel names (PEP 425).

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

/// A compressed tag set (PEP 425): one or more tags of one kind, joined with dots. The kind is
/// [`PythonKind`], [`AbiKind`] or [`PlatformKind`].
///
/// Like the text that it is parsed from, it is a list: it keeps the order, the spelling and
/// repeated tags (`any.any`). Comparison ignores case, as in `packaging.tags.Tag`, but neither the
/// order nor repeated tags; compare [`Self::sorted`] to compare as sets.
#[derive(Debug, Clone)]
pub struct TagSet<K> {
    /// The tags in lower case.
    tags: Vec<String>,
    /// The text as written, if it has upper-case letters.
    written: Option<Box<str>>,
    kind: PhantomData<K>,
}

/// The kind of Python tags such as `cp312`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PythonKind {}

/// The kind of ABI tags such as `cp312`, `abi3` and `none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AbiKind {}

/// The kind of platform tags such as `linux_x86_64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlatformKind {}

/// The Python tags of a wheel name.
pub type PythonTags = TagSet<PythonKind>;

/// The ABI tags of a wheel name.
pub type AbiTags = TagSet<AbiKind>;

/// The platform tags of a wheel name.
pub type PlatformTags = TagSet<PlatformKind>;

/// The error of parsing a [`TagSet`]; holds the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a set of wheel tags: letters, digits and `_`, several joined with `.`")]
pub struct TagSetError(pub String);

impl<K> TagSet<K> {
    fn of(tags: Vec<String>) -> Self {
        Self {
            tags,
            written: None,
            kind: PhantomData,
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

impl AbiTags {
    /// Returns whether a tag is [that of free-threaded Python](is_free_threaded_abi). With other
    /// tags, as in `abi3.abi3t`, the wheel is for other Pythons, too.
    pub fn is_free_threaded(&self) -> bool {
        self.tags.iter().any(|tag| is_free_threaded_abi(tag))
    }

    /// Returns whether a tag is that of a stable ABI, with which a wheel for one Python is also for
    /// later ones: `abi3` (PEP 384), or `abi3t` for free-threaded Python (PEP 803).
    pub fn is_stable_abi(&self) -> bool {
        self.contains("abi3") || self.contains(FREE_THREADED_STABLE_ABI)
    }
}

impl<'s, K> IntoIterator for &'s TagSet<K> {
    type Item = &'s String;
    type IntoIter = std::slice::Iter<'s, String>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<K> std::str::FromStr for TagSet<K> {
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
            kind: PhantomData,
        })
    }
}

impl<K> fmt::Display for TagSet<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.written {
            Some(text) => f.write_str(text),
            None => f.write_str(&self.tags.join(".")),
        }
    }
}

impl<K> PartialEq for TagSet<K> {
    fn eq(&self, other: &Self) -> bool {
        self.tags == other.tags
    }
}

impl<K> Eq for TagSet<K> {}

impl<K> PartialOrd for TagSet<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K> Ord for TagSet<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.tags.cmp(&other.tags)
    }
}

impl<K> Hash for TagSet<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.tags.hash(state);
    }
}

/// The ABI tag of the stable ABI of free-threaded Python (PEP 803).
const FREE_THREADED_STABLE_ABI: &str = "abi3t";

/// Returns whether an ABI tag in lower case is that of free-threaded Python: `cp313t`, `cp313td` of
/// its debug build (PEP 703), or its stable ABI `abi3t` (PEP 803).
pub fn is_free_threaded_abi(tag: &str) -> bool {
    tag == FREE_THREADED_STABLE_ABI
        || tag
            .strip_prefix("cp")
            .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()))
            .is_some_and(|flags| matches!(flags, "t" | "td"))
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
    use super::{AbiTags, PlatformTags, PythonTags, plain_linux_tag};

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
        let set: PythonTags = "CP311.py3".parse().unwrap();
        assert_eq!(
            (set.as_slice().join(" "), set.to_string()),
            ("cp311 py3".to_owned(), "CP311.py3".to_owned())
        );
        assert!(set.contains("cp311") && set.contains("Py3") && !set.contains("py"));
        assert_eq!(set, "cp311.PY3".parse().unwrap());
    }

    #[test]
    fn a_set_keeps_its_order_and_adds_each_tag_once() {
        let set: PlatformTags = "manylinux_2_28_x86_64.linux_x86_64".parse().unwrap();
        assert_eq!(set.to_string(), "manylinux_2_28_x86_64.linux_x86_64");
        let more = set.union(&"linux_x86_64.any".parse().unwrap());
        assert_eq!(more.to_string(), "manylinux_2_28_x86_64.linux_x86_64.any");
        assert_eq!(
            more.sorted().to_string(),
            "any.linux_x86_64.manylinux_2_28_x86_64"
        );
        for text in ["", "a..b", "a-b", "a b"] {
            assert!(text.parse::<PlatformTags>().is_err(), "{text}");
        }
    }

    #[test]
    fn free_threaded_abis_are_those_with_a_t() {
        for (tags, is_free_threaded) in [
            ("cp313t", true),
            ("cp314td", true),
            ("CP314TD", true),
            ("abi3.cp313t", true),
            ("cp313", false),
            ("cp313d", false),
            ("cp37m", false),
            ("cp27dmu", false),
            ("abi3", false),
            ("abi3t", true),
            ("abi3.abi3t", true),
            ("none", false),
        ] {
            let tags: AbiTags = tags.parse().unwrap();
            assert_eq!(tags.is_free_threaded(), is_free_threaded, "{tags}");
        }
    }

    #[test]
    fn stable_abis_are_abi3_with_and_without_a_t() {
        for (tags, is_stable_abi) in [
            ("abi3", true),
            ("abi3t", true),
            ("ABI3.abi3t", true),
            ("abi3.none", true),
            ("abi4", false),
            ("cp313t", false),
            ("none", false),
        ] {
            let tags: AbiTags = tags.parse().unwrap();
            assert_eq!(tags.is_stable_abi(), is_stable_abi, "{tags}");
        }
    }

    #[test]
    fn repeated_tags_are_kept_as_written_and_merged_by_sorting() {
        let twice: PlatformTags = "any.ANY".parse().unwrap();
        let once: PlatformTags = "any".parse().unwrap();
        assert_eq!(twice.to_string(), "any.ANY");
        assert_ne!(twice, once);
        assert_eq!(twice.sorted(), once);
    }
}
