//! Local version labels: the part of a version after `+`, and the accelerator, torch version,
//! commit and backend that it encodes.
//!
//! **Invariant:** a label printed in either style parses to the same parts; the caller passes the
//! known ROCm versions.

use std::fmt::{self, Write};
use std::str::FromStr;

use super::new_label::with_rocm_version;
use super::{RocmVersion, Version, torch_text};

/// A PEP 440 local version label in normal form: segments of lower-case letters and digits joined
/// with dots; segments of digits have no leading zeros.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalLabel(String);

/// The first segment of the label of a wheel that embeds the ROCm runtime.
const EMBEDDED: &str = "rocm";

/// The error of parsing a [`LocalLabel`]; holds the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a local version label: letters and digits in segments joined with `.`, such as `{hint}`", hint = suggestion(.0))]
pub struct LabelError(pub String);

/// The separators of the segments of a label as written.
const SEPARATORS: [char; 3] = ['.', '-', '_'];

impl LocalLabel {
    /// Returns the local version label of a version; `None` for a public version.
    pub fn of(version: &Version) -> Option<Self> {
        // PEP 440 versions have valid labels only.
        version.local().map(Self::normalize)
    }

    /// Returns the normal form of a valid label.
    pub(super) fn normalize(text: &str) -> Self {
        let segments: Vec<String> = text.split(SEPARATORS).map(normal_segment).collect();
        Self(segments.join("."))
    }

    /// Returns the label in normal form.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the label of a wheel after ROCm was embedded: `rocm`, followed by the wheel's previous
    /// label.
    pub fn embedded(own: Option<&Self>) -> Self {
        own.map_or_else(
            || Self(EMBEDDED.to_owned()),
            |own| Self(format!("{EMBEDDED}.{own}")),
        )
    }

    /// Returns whether the label marks a wheel that embeds ROCm.
    pub fn is_embedded(&self) -> bool {
        self.0.split('.').next() == Some(EMBEDDED)
    }

    /// Returns the label before ROCm was embedded: `rocm7.10.0` for `rocm.rocm7.10.0`.
    fn before_embedding(&self) -> &str {
        self.0
            .strip_prefix(EMBEDDED)
            .and_then(|rest| rest.strip_prefix('.'))
            .unwrap_or(&self.0)
    }

    /// Returns this label followed by the segments of another one.
    #[must_use]
    pub fn joined(&self, other: &Self) -> Self {
        Self(format!("{self}.{other}"))
    }

    /// Returns this label without the commit that a development build puts first: `rocm7.14.0` for
    /// `git1a2b3c4d.rocm7.14.0`.
    #[must_use]
    pub fn without_commit(&self) -> Self {
        let is_commit = |text: &str| {
            (7..=40).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit())
        };
        match self
            .0
            .strip_prefix("git")
            .and_then(|rest| rest.split_once('.'))
        {
            Some((commit, rest)) if is_commit(commit) => Self(rest.to_owned()),
            _ => self.clone(),
        }
    }
}

impl FromStr for LocalLabel {
    type Err = LabelError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fits = |segment: &str| {
            !segment.is_empty() && segment.bytes().all(|b| b.is_ascii_alphanumeric())
        };
        if !text.split(SEPARATORS).all(fits) {
            return Err(LabelError(text.to_owned()));
        }
        Ok(Self::normalize(text))
    }
}

/// Converts a segment to lower case, or removes the leading zeros of a segment of digits (PEP 440,
/// "Local version identifiers").
fn normal_segment(segment: &str) -> String {
    if segment.bytes().all(|b| b.is_ascii_digit()) {
        let number = segment.trim_start_matches('0');
        return if number.is_empty() {
            "0".to_owned()
        } else {
            number.to_owned()
        };
    }
    segment.to_ascii_lowercase()
}

/// Returns a label similar to an invalid text: each run of other characters becomes a dot, except
/// before the versions of ROCm and torch.
fn suggestion(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '.' })
        .collect();
    let mut label = String::new();
    for segment in plain.split('.').filter(|s| !s.is_empty()) {
        let is_version = segment.starts_with(|c: char| c.is_ascii_digit())
            && (label.ends_with("rocm") || label.ends_with("torch"));
        if !label.is_empty() && !is_version {
            label.push('.');
        }
        label.push_str(&normal_segment(segment));
    }
    if label.is_empty() {
        return "rocm7.1torch2.9".to_owned();
    }
    with_rocm_version(&label).unwrap_or(label)
}

impl fmt::Display for LocalLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The spelling of the accelerator version in a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelStyle {
    /// `rocm62`.
    Compact,
    /// `rocm6.2`.
    Dotted,
}

/// The parts of a label, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelParts {
    /// The accelerator.
    pub accelerator: Accelerator,
    /// The torch version the wheel was built against.
    pub torch: Option<Version>,
    /// The commit built, of which labels print 7 hex digits; `None` for a release.
    pub git: Option<String>,
    /// The backend with any appended segments, `triton.gfx942`; `None` for the default backend.
    pub backend: Option<String>,
    /// The C++ ABI, which projects print for torch up to 2.6 (later wheels have one ABI only); parsed,
    /// never planned.
    pub cxx11abi: Option<bool>,
}

/// An accelerator runtime and its version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Accelerator {
    /// CUDA, with the digits as printed (`124`, `12`); parsed from wheels of other projects, never
    /// planned.
    Cuda(String),
    /// ROCm.
    Rocm(RocmVersion),
}

/// Returns the CUDA version of the digits in a label: the first two are the major version, `12.4` for
/// `124` (as in PyTorch's index directories, `cu118`, `cu130`).
pub fn cuda_version(digits: &str) -> String {
    match digits.split_at_checked(2) {
        Some((major, minor)) if !minor.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
            format!("{major}.{minor}")
        }
        _ => digits.to_owned(),
    }
}

impl LabelParts {
    /// Returns the label in the given style. A ROCm prerelease is always printed with dots.
    pub fn label(&self, style: LabelStyle) -> LocalLabel {
        let mut text = match (&self.accelerator, style) {
            (Accelerator::Rocm(rocm), LabelStyle::Compact) if !rocm.is_prerelease() => {
                format!("rocm{}", rocm.compact())
            }
            (Accelerator::Rocm(rocm), _) => format!("rocm{rocm}"),
            (Accelerator::Cuda(digits), _) => format!("cu{digits}"),
        };
        text.push_str(&self.tail());
        LocalLabel(text)
    }

    /// Returns the label without the accelerator, for a wheel that does not depend on it; `None` if
    /// no part remains.
    pub fn label_without_accelerator(&self) -> Option<LocalLabel> {
        Some(LocalLabel(self.tail())).filter(|label| !label.0.is_empty())
    }

    fn tail(&self) -> String {
        let mut text = String::new();
        if let Some(torch) = &self.torch {
            let _ = write!(text, "torch{}", torch_text(torch));
        }
        if let Some(git) = &self.git {
            let _ = write!(text, "git{}", git.get(..7).unwrap_or(git));
        }
        if let Some(abi) = self.cxx11abi {
            let _ = write!(text, "cxx11abi{abi}");
        }
        text.push_str(self.backend.as_deref().unwrap_or_default());
        text
    }

    /// Parses a label without an accelerator, as [`Self::label_without_accelerator`] prints it, into
    /// the torch version and the backend.
    ///
    /// # Errors
    /// If a part is invalid.
    pub fn parse_without_accelerator(
        label: &LocalLabel,
    ) -> Result<(Option<Version>, Option<String>), LabelPartsError> {
        let mut reader = LabelReader {
            rest: label.before_embedding(),
        };
        reader
            .tail()
            .map(|tail| (tail.torch, tail.backend))
            .map_err(|reason| LabelPartsError {
                label: label.to_string(),
                reason,
            })
    }

    /// Parses a label of either style, including spellings of other projects: a full torch version,
    /// dots between the parts. The mark of embedded ROCm is skipped; see
    /// [`LocalLabel::is_embedded`].
    ///
    /// In a ROCm version without dots each digit is a number, `rocm62` and `rocm624`, unless a known
    /// version has the same digits. So it is in a torch version, `torch28` and `torch281`; the
    /// latter is ambiguous, because it may be 2.81 as well.
    ///
    /// # Errors
    /// If the label does not begin with an accelerator and its version, or a part is invalid.
    pub fn parse(
        label: &LocalLabel,
        known_rocm: &[RocmVersion],
    ) -> Result<ParsedLabel, LabelPartsError> {
        LabelReader {
            rest: label.before_embedding(),
        }
        .label(known_rocm)
        .map_err(|reason| LabelPartsError {
            label: label.to_string(),
            reason,
        })
    }
}

/// The parts of a label and their certainty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedLabel {
    /// The parts; the most likely ones if the digits are ambiguous.
    pub parts: LabelParts,
    /// Whether the digits of the accelerator or of torch may also be another version.
    pub ambiguous: bool,
}

/// The error of parsing [`LabelParts`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the label `{label}` cannot be parsed: {reason}")]
pub struct LabelPartsError {
    /// The label.
    pub label: String,
    /// The reason.
    pub reason: String,
}

/// Returns whether a ROCm version without dots is unambiguous: every number has one digit, and no
/// other known version has the same digits.
pub fn is_compact_unambiguous(rocm: &RocmVersion, known: &[RocmVersion]) -> bool {
    !rocm.is_prerelease()
        && rocm.parts().iter().all(|part| *part < 10)
        && readings(&rocm.compact(), known).all(|other| other == *rocm)
}

/// Returns the known versions with these digits, in full or as major and minor only.
fn readings(digits: &str, known: &[RocmVersion]) -> impl Iterator<Item = RocmVersion> {
    let prints = move |text: &str| text.bytes().filter(|byte| *byte != b'.').eq(digits.bytes());
    let of = move |rocm: &RocmVersion| {
        let text = rocm.as_str();
        let minor = text
            .match_indices('.')
            .nth(1)
            .map_or(text, |(end, _)| &text[..end]);
        [
            prints(text).then(|| rocm.clone()),
            prints(minor).then(|| rocm.minor()),
        ]
    };
    let first = digits.as_bytes().first();
    let may_be = move |rocm: &&RocmVersion| rocm.as_str().as_bytes().first() == first;
    known.iter().filter(may_be).flat_map(of).flatten()
}

/// The parts of a label after the accelerator.
struct LabelTail {
    torch: Option<Version>,
    is_torch_ambiguous: bool,
    git: Option<String>,
    cxx11abi: Option<bool>,
    backend: Option<String>,
}

/// A parser that consumes a label from the left.
struct LabelReader<'a> {
    rest: &'a str,
}

impl<'a> LabelReader<'a> {
    fn label(mut self, known: &[RocmVersion]) -> Result<ParsedLabel, String> {
        let (accelerator, ambiguous) = self.accelerator(known)?;
        let LabelTail {
            torch,
            is_torch_ambiguous,
            git,
            cxx11abi,
            backend,
        } = self.tail()?;
        Ok(ParsedLabel {
            parts: LabelParts {
                accelerator,
                torch,
                git,
                backend,
                cxx11abi,
            },
            ambiguous: ambiguous || is_torch_ambiguous,
        })
    }

    fn tail(&mut self) -> Result<LabelTail, String> {
        let (torch, is_torch_ambiguous) = self.torch()?.unzip();
        let git = self.git()?;
        let cxx11abi = self.cxx11abi()?;
        let rest = self.rest.strip_prefix('.').unwrap_or(self.rest);
        // Includes segments appended by `wheel label --append`: `triton.gfx942`.
        let is_word = |segment: &str| {
            segment
                .bytes()
                .next()
                .is_some_and(|b| b.is_ascii_lowercase())
        };
        if !rest.is_empty() && !rest.split('.').all(is_word) {
            return Err(format!("`{rest}` is not a backend"));
        }
        let backend = Some(rest.to_owned()).filter(|rest| !rest.is_empty());
        Ok(LabelTail {
            torch,
            is_torch_ambiguous: is_torch_ambiguous.unwrap_or_default(),
            git,
            cxx11abi,
            backend,
        })
    }

    fn accelerator(&mut self, known: &[RocmVersion]) -> Result<(Accelerator, bool), String> {
        if self.word("rocm") {
            let number = self.number();
            if number.contains('.') {
                let after = self.rest;
                let text = format!("{number}{}", self.prerelease());
                if let Ok(rocm) = RocmVersion::parse_prerelease(&text) {
                    return Ok((Accelerator::Rocm(rocm), false));
                }
                self.rest = after;
            }
            let (rocm, ambiguous) = rocm(number, known)?;
            Ok((Accelerator::Rocm(rocm), ambiguous))
        } else if self.word("cu") {
            match self.number() {
                "" => Err("`cu` is not followed by a version".to_owned()),
                digits => Ok((Accelerator::Cuda(digits.to_owned()), false)),
            }
        } else {
            Err("it does not begin with `rocm` or `cu`".to_owned())
        }
    }

    /// Parses the torch version, and returns whether it is ambiguous.
    fn torch(&mut self) -> Result<Option<(Version, bool)>, String> {
        if !self.word("torch") {
            return Ok(None);
        }
        let number = self.number();
        let suffix = self.prerelease();
        let text = format!("{number}{suffix}");
        let digits = if number.contains('.') {
            1
        } else {
            number.len()
        };
        let dotted = if (2..=3).contains(&digits) {
            let digits: Vec<String> = number.chars().map(String::from).collect();
            digits.join(".") + &suffix
        } else {
            text.clone()
        };
        match dotted.parse() {
            Ok(version) if digits <= 3 => Ok(Some((version, digits == 3))),
            _ => Err(format!(
                "`torch` is not followed by a torch version, but by `{text}{}`",
                self.rest
            )),
        }
    }

    /// Consumes the suffix of a prerelease and returns it in normal form: `a20260520`, `rc1`,
    /// `.dev20261101`, or empty.
    fn prerelease(&mut self) -> String {
        let mut suffix = String::new();
        for word in ["a", "b", "rc", "dev"] {
            let before = self.rest;
            let (dot, is_next) = match word {
                "dev" => (".", self.word(word)),
                _ => ("", self.skip(word)),
            };
            if is_next {
                match self.digits() {
                    "" => self.rest = before,
                    digits => suffix.extend([dot, word, digits]),
                }
            }
        }
        suffix
    }

    /// Parses a commit of seven hex digits; of more if the eighth is a decimal digit, since a backend
    /// begins with a letter, or if nothing or a dot follows them.
    fn git(&mut self) -> Result<Option<String>, String> {
        if !self.word("git") {
            return Ok(None);
        }
        let hex = self
            .rest
            .bytes()
            .take_while(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(b))
            .count();
        let bytes = self.rest.as_bytes();
        let is_long = bytes.get(7).is_some_and(u8::is_ascii_digit)
            || matches!(bytes.get(hex), None | Some(b'.'));
        let length = if is_long { hex } else { 7 };
        if hex < 7 || length > 40 {
            return Err(format!(
                "`git` must be followed by 7 to 40 hex digits, not `{}`",
                self.rest
            ));
        }
        Ok(Some(self.take(length).to_owned()))
    }

    fn cxx11abi(&mut self) -> Result<Option<bool>, String> {
        if !self.word("cxx11abi") {
            return Ok(None);
        }
        match (self.word("true"), self.word("false")) {
            (true, _) => Ok(Some(true)),
            (_, true) => Ok(Some(false)),
            _ => Err("`cxx11abi` must be followed by `true` or `false`".to_owned()),
        }
    }

    /// Consumes a word and an optional dot before it.
    fn word(&mut self, word: &str) -> bool {
        let before = self.rest;
        self.skip(".");
        let is_next = self.skip(word);
        if !is_next {
            self.rest = before;
        }
        is_next
    }

    /// Consumes a text.
    fn skip(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Consumes numbers joined with dots.
    fn number(&mut self) -> &'a str {
        let bytes = self.rest.as_bytes();
        let mut end = 0;
        while end < bytes.len() {
            let digit_after = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
            if digit_after(end) {
                end += 1;
            } else if end > 0 && bytes[end] == b'.' && digit_after(end + 1) {
                end += 2;
            } else {
                break;
            }
        }
        self.take(end)
    }

    fn digits(&mut self) -> &'a str {
        self.take(self.rest.bytes().take_while(u8::is_ascii_digit).count())
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }
}

/// Parses a ROCm version of a label, and returns whether it is ambiguous.
fn rocm(number: &str, known: &[RocmVersion]) -> Result<(RocmVersion, bool), String> {
    let fault = || {
        format!(
            "`{number}` after `rocm` is not a version: two to four numbers, such as `7.1` or `71`"
        )
    };
    if number.contains('.') {
        return Ok((number.parse().map_err(|_| fault())?, false));
    }
    let spread: Vec<String> = number.chars().map(String::from).collect();
    let usual: Option<RocmVersion> = spread.join(".").parse().ok();
    let mut others: Vec<RocmVersion> = readings(number, known)
        .filter(|other| Some(other) != usual.as_ref())
        .collect();
    others.sort();
    others.dedup();
    match (usual, others.is_empty()) {
        (Some(usual), true) => Ok((usual, false)),
        (Some(usual), false) if known.contains(&usual) || others.len() > 1 => Ok((usual, true)),
        (usual, false) => Ok((others.swap_remove(0), usual.is_some() || others.len() > 1)),
        (None, true) => Err(fault()),
    }
}

#[cfg(test)]
mod tests;
