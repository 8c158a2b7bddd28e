//! Local version labels: the part of a wheel's version after `+`, what it is made of, and reading
//! it back.
//!
//! **Invariant:** what one style prints is read back as the same parts; which versions exist comes
//! in as a list.

use std::fmt::{self, Write};
use std::str::FromStr;

use super::{RocmVersion, Version, torch_text};

/// A PEP 440 local version label in normal form: lower-case letters and digits in segments joined
/// with dots, and segments of digits without leading zeros.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalLabel(String);

/// The first segment of the label of a wheel that ROCm was put into.
const EMBEDDED: &str = "rocm";

/// Not a local version label.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a local version label: letters and digits in segments joined with `.`, such as `{hint}`", hint = suggestion(.0))]
pub struct LabelError(pub String);

impl LocalLabel {
    /// The label in normal form.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The label of a wheel that ROCm was put into, by the label that it had: `rocm` stands before
    /// it.
    pub fn embedded(own: Option<&Self>) -> Self {
        own.map_or_else(
            || Self(EMBEDDED.to_owned()),
            |own| Self(format!("{EMBEDDED}.{own}")),
        )
    }

    /// Whether it says that ROCm was put into the wheel.
    pub fn is_embedded(&self) -> bool {
        self.0.split('.').next() == Some(EMBEDDED)
    }

    /// The label that the wheel had before ROCm was put into it: `rocm.rocm7.10.0` was
    /// `rocm7.10.0`.
    fn before_embedding(&self) -> &str {
        self.0
            .strip_prefix(EMBEDDED)
            .and_then(|rest| rest.strip_prefix('.'))
            .unwrap_or(&self.0)
    }

    /// This label with another one's segments behind it.
    #[must_use]
    pub fn joined(&self, other: &Self) -> Self {
        Self(format!("{self}.{other}"))
    }

    /// This label without the commit that a development build puts before it, which no plan can
    /// know: `git1a2b3c4d.rocm7.14.0` is `rocm7.14.0`.
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
        let segments: Vec<&str> = text.split(['.', '-', '_']).collect();
        if !segments.iter().all(|segment| fits(segment)) {
            return Err(LabelError(text.to_owned()));
        }
        Ok(Self(
            segments
                .into_iter()
                .map(normal_segment)
                .collect::<Vec<_>>()
                .join("."),
        ))
    }
}

/// Lower case; a segment of digits is a number and loses its leading zeros (PEP 440, "Local version
/// identifiers").
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

/// The nearest label to a text that is none: every run of other characters as one dot.
fn suggestion(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '.' })
        .collect();
    let segments: Vec<String> = plain
        .split('.')
        .filter(|s| !s.is_empty())
        .map(normal_segment)
        .collect();
    if segments.is_empty() {
        "rocm62torch2.5".to_owned()
    } else {
        segments.join(".")
    }
}

impl fmt::Display for LocalLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How the accelerator version is printed in a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelStyle {
    /// `rocm62`.
    Compact,
    /// `rocm6.2`.
    Dotted,
}

/// What a label is made of, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelParts {
    /// The accelerator.
    pub accelerator: Accelerator,
    /// The torch version the wheel was built against.
    pub torch: Option<Version>,
    /// The first 7 hex digits of the commit built, where it is no release.
    pub git: Option<String>,
    /// The backend's tail, `triton`, with what was appended to it, `triton.gfx942`; `None` for the
    /// default backend.
    pub backend: Option<String>,
    /// The C++ ABI tail, which projects write for torch up to 2.6 (later wheels have one ABI only);
    /// read, never built.
    pub cxx11abi: Option<bool>,
}

/// An accelerator runtime and its version.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Accelerator {
    /// CUDA, digits as printed (`124`, `12`); read from other projects' wheels, never built.
    Cuda(String),
    /// ROCm.
    Rocm(RocmVersion),
}

/// A CUDA version out of the digits of a label, whose last is the minor: `124` is 12.4. Major alone
/// stays (PyTorch's index folders, `cu118`, `cu130`).
pub fn cuda_version(digits: &str) -> String {
    match digits.split_at_checked(2) {
        Some((major, minor)) if !minor.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
            format!("{major}.{minor}")
        }
        _ => digits.to_owned(),
    }
}

impl LabelParts {
    /// The label in one style.
    pub fn label(&self, style: LabelStyle) -> LocalLabel {
        let mut text = match (&self.accelerator, style) {
            (Accelerator::Rocm(rocm), LabelStyle::Compact) => format!("rocm{}", rocm.compact()),
            (Accelerator::Rocm(rocm), LabelStyle::Dotted) => format!("rocm{rocm}"),
            (Accelerator::Cuda(digits), _) => format!("cu{digits}"),
        };
        text.push_str(&self.tail());
        LocalLabel(text)
    }

    /// The label without the accelerator: of a wheel that is the same for all of them. `None` where
    /// nothing is left.
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

    /// Reads a label that names no accelerator, as [`Self::label_without_accelerator`] writes it:
    /// torch and the backend.
    ///
    /// # Errors
    /// When a part cannot be read.
    pub fn parse_without_accelerator(
        label: &LocalLabel,
    ) -> Result<(Option<Version>, Option<String>), LabelPartsError> {
        let mut reader = Reader {
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

    /// Reads a label of either style, and what other projects write: a full torch version, dots
    /// before a tail. Whether ROCm was put into the wheel is no part: [`LocalLabel::is_embedded`].
    ///
    /// Digits without dots are one number each, `rocm62` and `rocm624`, unless a known version has
    /// the same digits.
    ///
    /// # Errors
    /// When the label does not begin with an accelerator and its version, or a part cannot be read.
    pub fn parse(
        label: &LocalLabel,
        known_rocm: &[RocmVersion],
    ) -> Result<ParsedLabel, LabelPartsError> {
        Reader {
            rest: label.before_embedding(),
        }
        .label(known_rocm)
        .map_err(|reason| LabelPartsError {
            label: label.to_string(),
            reason,
        })
    }
}

/// A label taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedLabel {
    /// Its parts; of several readings the likelier one.
    pub parts: LabelParts,
    /// Whether the digits of the accelerator have another reading, so that the caller has to say
    /// which is meant.
    pub ambiguous: bool,
}

/// A label that is not made of the parts of [`LabelParts`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the label `{label}` cannot be taken apart: {reason}")]
pub struct LabelPartsError {
    /// The label.
    pub label: String,
    /// What cannot be read.
    pub reason: String,
}

/// Whether the digits of a ROCm version without dots have one reading: every number has one digit,
/// and no other known version has the same digits.
pub fn is_compact_unambiguous(rocm: &RocmVersion, known: &[RocmVersion]) -> bool {
    rocm.parts().iter().all(|part| *part < 10)
        && readings(&rocm.compact(), known).all(|other| other == *rocm)
}

/// Known versions that print these digits, in full or cut to their minor.
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
    known.iter().flat_map(of).flatten()
}

/// The parts of a label behind the accelerator.
struct Tail {
    torch: Option<Version>,
    git: Option<String>,
    cxx11abi: Option<bool>,
    backend: Option<String>,
}

/// Reads a label from the left.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn label(mut self, known: &[RocmVersion]) -> Result<ParsedLabel, String> {
        let (accelerator, ambiguous) = self.accelerator(known)?;
        let Tail {
            torch,
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
            ambiguous,
        })
    }

    fn tail(&mut self) -> Result<Tail, String> {
        let torch = self.torch()?;
        let git = self.git()?;
        let cxx11abi = self.cxx11abi()?;
        let rest = self.rest.strip_prefix('.').unwrap_or(self.rest);
        // What `wheel label --append` put behind it stands there too: `triton.gfx942`.
        let is_word = |segment: &str| {
            segment
                .bytes()
                .next()
                .is_some_and(|b| b.is_ascii_lowercase())
        };
        if !rest.is_empty() && !rest.split('.').all(is_word) {
            return Err(format!("`{rest}` is no backend"));
        }
        let backend = Some(rest.to_owned()).filter(|rest| !rest.is_empty());
        Ok(Tail {
            torch,
            git,
            cxx11abi,
            backend,
        })
    }

    fn accelerator(&mut self, known: &[RocmVersion]) -> Result<(Accelerator, bool), String> {
        if self.word("rocm") {
            let number = self.number();
            let (rocm, ambiguous) = rocm(number, known)?;
            Ok((Accelerator::Rocm(rocm), ambiguous))
        } else if self.word("cu") {
            match self.number() {
                "" => Err("no version follows `cu`".to_owned()),
                digits => Ok((Accelerator::Cuda(digits.to_owned()), false)),
            }
        } else {
            Err("it does not begin with `rocm` or `cu`".to_owned())
        }
    }

    fn torch(&mut self) -> Result<Option<Version>, String> {
        if !self.word("torch") {
            return Ok(None);
        }
        let mut text = self.number().to_owned();
        for word in ["a", "b", "rc", "dev"] {
            let before = self.rest;
            if self.word(word) {
                match self.digits() {
                    "" => self.rest = before,
                    digits => {
                        text.extend([if word == "dev" { "." } else { "" }, word, digits]);
                    }
                }
            }
        }
        text.parse().map(Some).map_err(|_| {
            format!(
                "no torch version follows `torch`, but `{text}{}`",
                self.rest
            )
        })
    }

    /// Seven hex digits; more where the eighth is a digit too, since a backend begins with a
    /// letter.
    fn git(&mut self) -> Result<Option<String>, String> {
        if !self.word("git") {
            return Ok(None);
        }
        let hex = self
            .rest
            .bytes()
            .take_while(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(b))
            .count();
        let length = if self.rest.as_bytes().get(7).is_some_and(u8::is_ascii_digit) {
            hex
        } else {
            7
        };
        if hex < 7 || length > 40 {
            return Err(format!(
                "after `git` stand 7 to 40 hex digits, not `{}`",
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
            _ => Err("after `cxx11abi` stands `true` or `false`".to_owned()),
        }
    }

    /// Takes a word, with the dot before it that `-` and `_` become.
    fn word(&mut self, word: &str) -> bool {
        let rest = self.rest.strip_prefix('.').unwrap_or(self.rest);
        match rest.strip_prefix(word) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Takes digits in segments joined with dots.
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

/// A ROCm version out of a label, and whether it has another reading.
fn rocm(number: &str, known: &[RocmVersion]) -> Result<(RocmVersion, bool), String> {
    let fault = || {
        format!("`{number}` after `rocm` is no version: two to four numbers, such as `62` or `6.2`")
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
