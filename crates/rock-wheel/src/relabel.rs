//! Setting the local version label of a wheel.

use super::version_string::disagreements;
use super::{Change, Edits, LabelRule, Wheel, WheelError, identity};
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
) -> Result<Change<'static>, WheelError> {
    let written = identity(
        wheel.metadata(),
        name,
        &wheel.dist_info_path("METADATA"),
        LabelRule::IsSet,
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
    let version: Version = text.parse().map_err(|_| WheelError::Header {
        member: wheel.dist_info_path("METADATA"),
        reason: format!("`{text}` is no version"),
    })?;

    let mut edits = Edits::default();
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
                .renamed_folders
                .insert(format!("{old}{ending}"), format!("{new}{ending}"));
        }
    }
    let findings = disagreements(wheel.archive(), &name.to_string(), &version)?;
    Ok(Change {
        name: name.with_version(version),
        edits,
        findings,
    })
}
