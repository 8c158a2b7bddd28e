//! Changes or removes the local version label of a wheel.

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
    let written = written_version(wheel, name)?;
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
    with_version(wheel, name, &text)
}

/// Plans to remove the local version label, where [`relabel`] would set it. Nothing changes in a
/// wheel without a label.
///
/// # Errors
/// Fails if name or version in METADATA is missing or contradicts the filename.
pub fn remove_label(
    wheel: &Wheel<'_>,
    name: &WheelName,
) -> Result<RenamePlan<'static>, WheelError> {
    let written = written_version(wheel, name)?;
    if LocalLabel::of(&written).is_none() && name.label().is_none() {
        return Ok(RenamePlan {
            name: name.clone(),
            edits: WheelEdits::default(),
            findings: Vec::new(),
        });
    }
    with_version(wheel, name, &written.public().normalized())
}

/// Returns the version in METADATA, which agrees with the filename except for the label.
fn written_version(wheel: &Wheel<'_>, name: &WheelName) -> Result<Version, WheelError> {
    check_identity(
        wheel.metadata(),
        name,
        &wheel.dist_info_path("METADATA"),
        LabelCheck::Ignore,
    )
}

/// Plans another version of a wheel.
fn with_version(
    wheel: &Wheel<'_>,
    name: &WheelName,
    text: &str,
) -> Result<RenamePlan<'static>, WheelError> {
    let version: Version = text.parse().map_err(|_| WheelError::InvalidHeader {
        member: wheel.dist_info_path("METADATA"),
        reason: format!("`{text}` is not a version"),
    })?;

    let mut edits = WheelEdits::default();
    let mut metadata = wheel.metadata().clone();
    metadata.set("Version", &[text.to_owned()]);
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
