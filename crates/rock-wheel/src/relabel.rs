//! Setting the local version label of a wheel.

use super::version_strings::version_string_mismatches;
use super::{LabelCheck, RenamePlan, Wheel, WheelEdits, WheelError, check_identity};
use rock_names::{LocalLabel, Version, WheelName};

/// What to do where the wheel has a label already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExistingLabel {
    /// Refuse, unless it is the same.
    #[default]
    Refuse,
    /// Put the new one in its place.
    Replace,
    /// Put the new one behind it.
    Append,
}

/// The wheel of this file name with a label: version in METADATA and file name, folders
/// `.dist-info` and `.data`.
///
/// A file that was given its label by renaming it is mended by giving it the same label.
///
/// # Errors
/// When METADATA has no version or one that contradicts the file name, and when there is another
/// label and `existing` refuses.
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
    let present = written
        .local()
        .or(name.version.local())
        .and_then(|local| local.parse::<LocalLabel>().ok());
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
        reason: format!("`{text}` is no version"),
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
        name: name.with_version(version),
        edits,
        findings,
    })
}
