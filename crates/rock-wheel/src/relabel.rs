//! Changes the local version label of a wheel.

use super::version_strings::version_string_mismatches;
use super::{LabelCheck, RenamePlan, Wheel, WheelEdits, WheelError, check_identity};
use rock_names::{LocalLabel, Version, WheelName};

/// The treatment of an existing label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExistingLabel {
    /// Fail, unless it is the same label.
    #[default]
    Refuse,
    /// Replace it.
    Replace,
    /// Append the new label to it.
    Append,
}

/// Plans a new local version label: in the filename, the version in METADATA, and the names of the
/// `.dist-info` and `.data` directories.
///
/// `name` may have the new label already, so that a file that was renamed by hand can be corrected.
///
/// # Errors
/// Fails if name or version in METADATA is missing or contradicts the filename, or if there is
/// another label and `existing` is [`ExistingLabel::Refuse`].
pub fn relabel(
    wheel: &Wheel<'_>,
    name: &WheelName,
    label: &LocalLabel,
    existing: ExistingLabel,
) -> Result<RenamePlan<'static>, WheelError> {
    let written = check_identity(
        wheel.metadata(),
        name,
        &wheel.dist_info_path("METADATA"),
        LabelCheck::Ignore,
    )?;
    let present = LocalLabel::of(&written).or_else(|| name.label());
    let label = match (present, existing) {
        (Some(present), ExistingLabel::Append) => present.joined(label),
        (Some(present), ExistingLabel::Refuse) if present != *label => {
            return Err(WheelError::HasLabel {
                label: present.to_string(),
            });
        }
        _ => label.clone(),
    };
    let text = format!("{}+{label}", written.public().normalized());
    let version: Version = text.parse().map_err(|_| WheelError::InvalidHeader {
        member: wheel.dist_info_path("METADATA"),
        reason: format!("`{text}` is not a version"),
    })?;

    let mut edits = WheelEdits::default();
    let mut metadata = wheel.metadata().clone();
    metadata.set("Version", std::slice::from_ref(&text));
    if metadata != *wheel.metadata() {
        edits.replaced.insert(
            wheel.dist_info_path("METADATA"),
            metadata.bytes().to_vec().into(),
        );
    }
    let old = wheel.dist_info_stem();
    let new = format!(
        "{}-{version}",
        old.rsplit_once('-').map_or(old, |(stem, _)| stem)
    );
    if new != old {
        for ending in [".dist-info", ".data"] {
            edits
                .renamed_dirs
                .insert(format!("{old}{ending}"), format!("{new}{ending}"));
        }
    }
    let findings = version_string_mismatches(wheel.archive(), &name.to_string(), &version)?;
    Ok(RenamePlan {
        name: name.clone().with_version(version),
        edits,
        findings,
    })
}
