//! Comparison of METADATA with the filename.

use super::{HeaderDocument, WheelError};
use rock_names::{DistributionName, Version, WheelName};

/// The comparison of the local version labels of METADATA and filename.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelCheck {
    /// They must be equal.
    MustMatch,
    /// They may differ, because the label will be replaced.
    Ignore,
}

/// Checks that METADATA has the name and version of the filename, and returns its version. `member`
/// is the name of the METADATA member, for errors.
///
/// # Errors
/// Fails if METADATA is not UTF-8 or repeats a single-use header, or if the name or version is
/// missing, invalid or different.
pub fn check_identity(
    metadata: &HeaderDocument,
    name: &WheelName,
    member: &str,
    label: LabelCheck,
) -> Result<Version, WheelError> {
    let member = || member.to_owned();
    let bad = |reason: String| WheelError::InvalidHeader {
        member: member(),
        reason,
    };
    if let Some(reason) = form_errors(metadata, ONCE_IN_METADATA).into_iter().next() {
        return Err(bad(reason));
    }
    let value = |header: &str| match metadata.get(header) {
        Some(value) if !value.is_empty() => Ok(value.into_owned()),
        _ => Err(bad(format!("there is no `{header}`"))),
    };
    let written = value("Name")?;
    if !is_same_distribution(&written, name.distribution()) {
        return Err(WheelError::NameMismatch {
            named: name.distribution().to_string(),
            written,
            member: member(),
        });
    }
    let text = value("Version")?;
    let version: Version = text
        .parse()
        .map_err(|_| bad(format!("`{text}` is not a version")))?;
    let is_same = match label {
        LabelCheck::MustMatch => version == *name.version(),
        LabelCheck::Ignore => version.public() == name.version().public(),
    };
    if is_same {
        return Ok(version);
    }
    Err(WheelError::VersionMismatch {
        named: name.version().to_string(),
        written: text,
        member: member(),
    })
}

/// Single-use headers of METADATA (core metadata specification).
pub(super) const ONCE_IN_METADATA: &[&str] = &[
    "Metadata-Version",
    "Name",
    "Version",
    "Summary",
    "Requires-Python",
    "License-Expression",
];

/// Returns errors for text that is not UTF-8, and for repeated single-use headers: readers disagree
/// about which of them applies.
pub(super) fn form_errors(headers: &HeaderDocument, once: &[&str]) -> Vec<String> {
    let encoding = std::str::from_utf8(headers.bytes())
        .is_err()
        .then(|| "the text is not UTF-8".to_owned());
    let twice = once.iter().filter_map(|header| {
        let mut values = headers.get_all(header);
        let (first, second) = (values.next()?, values.next()?);
        Some(format!("`{header}` occurs twice, `{first}` and `{second}`"))
    });
    encoding.into_iter().chain(twice).collect()
}

/// Returns whether a text is a distribution name that is equal to another one after normalization
/// (PEP 503).
pub(super) fn is_same_distribution(text: &str, name: &DistributionName) -> bool {
    text.parse::<DistributionName>()
        .is_ok_and(|written| written.normalized() == name.normalized())
}
