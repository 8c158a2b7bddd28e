//! Release tags.

use std::fmt;
use std::str::FromStr;

use rock_names::Version;

/// The tag of a release, which is also the name of a directory: a git tag without `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagName(String);

/// The error for a text that is not a valid tag or not a directory name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TagNameError {
    /// The text is not a valid git tag.
    #[error(transparent)]
    Git(#[from] GitTagError),
    /// The tag contains a `/`.
    #[error("`{0}` cannot be the name of a directory: it contains a `/`")]
    Parts(String),
}

impl TagName {
    /// Returns the tag as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TagName {
    type Err = TagNameError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let GitTag(text) = text.parse()?;
        if text.contains('/') {
            Err(TagNameError::Parts(text))
        } else {
            Ok(Self(text))
        }
    }
}

impl fmt::Display for TagName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A git tag (git-check-ref-format(1)), which may contain `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitTag(String);

/// The error for a text that is not a valid tag.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a valid tag: a tag has at most 200 bytes, does not start with `-`, is not `@`, \
     contains no spaces, control characters, `~`, `^`, `:`, `?`, `*`, `[`, `\\`, `..` or `@{{`, \
     and no part between slashes is empty, starts with `.`, or ends with `.` or `.lock`"
)]
pub struct GitTagError(pub String);

impl FromStr for GitTag {
    type Err = GitTagError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // git accepts non-ASCII whitespace and control characters.
        let is_plain = |c: char| c > ' ' && c != '\x7f' && !"~^:?*[\\".contains(c);
        let is_part = |part: &str| {
            let ends = part.ends_with('.') || part.to_ascii_lowercase().ends_with(".lock");
            !part.is_empty() && !part.starts_with('.') && !ends
        };
        let is_whole =
            !text.starts_with('-') && text != "@" && !text.contains("..") && !text.contains("@{");
        if text.len() <= 200
            && is_whole
            && text.chars().all(is_plain)
            && text.split('/').all(is_part)
        {
            Ok(Self(text.to_owned()))
        } else {
            Err(GitTagError(text.to_owned()))
        }
    }
}

impl fmt::Display for GitTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Splits a tag into pieces that sort naturally: `v10` after `v9`.
pub fn tag_pieces(text: &str) -> Vec<(u8, u64, &str)> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_digit = first.is_ascii_digit();
        let end = rest
            .find(|c: char| c.is_ascii_digit() != is_digit)
            .unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        pieces.push(match piece.parse() {
            Ok(number) if is_digit => (1, number, piece),
            _ => (0, 0, piece),
        });
        rest = after;
    }
    pieces
}

/// Whether a tag is the tag of a prerelease: one of its words is `nightly`, or its first version is
/// a prerelease by PEP 440 (`v2.9.0rc1`, `flash-attn-2.9.dev3`) or, if it is not a PEP 440 version,
/// by Semantic Versioning (`v1.0.0-preview.2`).
pub fn is_prerelease_tag(tag: &str) -> bool {
    if tag
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| word.eq_ignore_ascii_case("nightly"))
    {
        return true;
    }
    let starts = std::iter::once(0).chain(tag.match_indices(['-', '/', '_']).map(|(at, _)| at + 1));
    starts
        .map(|at| &tag[at..])
        .find_map(is_prerelease)
        .unwrap_or(false)
}

/// Whether a version is a prerelease; `None` if the text is not a version.
fn is_prerelease(text: &str) -> Option<bool> {
    let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    match text.parse::<Version>() {
        Ok(version) => Some(version.is_prerelease()),
        Err(_) => Some(!text.parse::<semver::Version>().ok()?.pre.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::{GitTag, TagName, tag_pieces};

    #[test]
    fn ten_follows_nine_in_tags() {
        assert!(tag_pieces("v1.10") > tag_pieces("v1.9"));
        assert!(tag_pieces("v2") < tag_pieces("v10"));
    }

    #[test]
    fn a_tag_cannot_leave_its_directory() {
        for text in ["", ".", "..", "../x", "a/b", "-x", "a b", "a\0b"] {
            assert!(text.parse::<TagName>().is_err(), "{text:?}");
        }
        assert_eq!(
            "v2.8.3+rocm".parse::<TagName>().unwrap().to_string(),
            "v2.8.3+rocm"
        );
    }

    /// git-check-ref-format(1): a tag may contain every character except these. Of the permitted
    /// ones, only `/` cannot be in a directory name.
    #[test]
    fn every_legal_tag_character_but_a_slash_names_a_directory() {
        let never = |c: char| c <= ' ' || c == '\x7f' || "~^:?*[\\".contains(c);
        for c in ('\0'..='\u{ff}').chain(['\u{2028}', '日', '😀']) {
            let tag = format!("v1{c}2");
            assert_eq!(tag.parse::<GitTag>().is_ok(), !never(c), "{c:?}");
            assert_eq!(
                tag.parse::<TagName>().is_ok(),
                !never(c) && c != '/',
                "{c:?}"
            );
        }
    }

    #[test]
    fn a_tag_of_git_may_have_parts() {
        for text in ["v1", "flash/v1", "v1.0+rocm6.2", "nightly-2026-11-21"] {
            assert_eq!(
                text.parse::<GitTag>().map(|tag| tag.to_string()).as_deref(),
                Ok(text)
            );
        }
        for text in [
            "", "-x", "a b", "a..b", "/a", "a/", "a//b", ".a", "a/.b", "a.", "a.lock", "a.LOCK",
            "a~1", "@", "a@{1}", "a\0",
        ] {
            assert!(text.parse::<GitTag>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_tag_determines_whether_its_release_is_a_prerelease() {
        let of = |tags: &str| {
            tags.split(' ')
                .filter(|tag| super::is_prerelease_tag(tag))
                .collect::<Vec<_>>()
                .join(" ")
        };
        let prereleases = "v2.9.0rc1 v2.9.0-rc.1 2.9.dev3 flash-attn-2.8.3b2 release/v1.0a1 v1.0.0-preview.2 \
                           v1.0.0-alpha.beta nightly-20261101 nightly-20261101.2 flash-attn-nightly NIGHTLY v1.0rc1+rocm6.2";
        assert_eq!(of(prereleases), prereleases);
        assert_eq!(
            of(
                "v2.8.3 v2.8.3-1 v2.8.3.post2 v2.8.3+rocm6.2 flash-attn-2.8.3 wheels-2026-11-01 wheels latest v7 fortnightly x-rc1"
            ),
            ""
        );
    }
}
