//! Labels that are set on wheels.
//!
//! **Invariant:** a label that begins with `rocm` and a number contains a ROCm version, so that
//! indexes can be built from the wheels.

use super::{LabelError, LocalLabel};

/// The error of parsing a label that is set on a wheel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NewLabelError {
    /// The text is not a label.
    #[error(transparent)]
    Invalid(#[from] LabelError),
    /// The ROCm version cannot be read.
    #[error(
        "`{text}` contains no ROCm version: at least two numbers follow `rocm` directly, as in `{corrected}`"
    )]
    NoRocmVersion {
        /// The text.
        text: String,
        /// A similar label with a ROCm version.
        corrected: String,
    },
}

/// Parses a label that is set on a wheel, with or without the `+` before labels in versions.
/// Refuses `rocm-7.1`, whose normal form is `rocm.7.1`, and `rocm7`: they contain no ROCm version.
///
/// ```
/// use rock_names::parse_new_label;
/// assert_eq!(parse_new_label("ROCm7.1torch2.9")?.as_str(), "rocm7.1torch2.9");
/// assert!(parse_new_label("rocm-7.1").unwrap_err().to_string().ends_with("as in `rocm7.1`"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the text is not a label, or begins with `rocm` and a number that is not a ROCm version.
pub fn parse_new_label(text: &str) -> Result<LocalLabel, NewLabelError> {
    let text = text.strip_prefix('+').unwrap_or(text);
    let label: LocalLabel = text.parse()?;
    match with_rocm_version(label.as_str()) {
        Some(corrected) => Err(NewLabelError::NoRocmVersion {
            text: text.to_owned(),
            corrected,
        }),
        None => Ok(label),
    }
}

/// Returns a label like this one whose ROCm version can be read: without a dot before it, and with
/// a minor version. Returns `None` if the version can be read, or if there is none.
pub(super) fn with_rocm_version(label: &str) -> Option<String> {
    let rest = label.strip_prefix("rocm")?;
    let version = rest.strip_prefix('.').unwrap_or(rest);
    let digits = version.bytes().take_while(u8::is_ascii_digit).count();
    let (major, after) = version.split_at(digits);
    let has_minor = digits > 1
        || after
            .strip_prefix('.')
            .is_some_and(|minor| minor.starts_with(|c: char| c.is_ascii_digit()));
    if digits == 0 || (has_minor && version.len() == rest.len()) {
        return None;
    }
    let minor = if has_minor { "" } else { ".0" };
    Some(format!("rocm{major}{minor}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_without_a_rocm_version_are_refused() {
        for (text, corrected) in [
            ("rocm-7.1", "rocm7.1"),
            ("rocm_7.1", "rocm7.1"),
            ("ROCm.7.1torch2.9", "rocm7.1torch2.9"),
            ("rocm-71", "rocm71"),
            ("rocm7", "rocm7.0"),
            ("rocm-7", "rocm7.0"),
            ("rocm7torch2.9", "rocm7.0torch2.9"),
            ("rocm7.torch2.9", "rocm7.0.torch2.9"),
        ] {
            let error = parse_new_label(text).unwrap_err();
            assert_eq!(
                error,
                NewLabelError::NoRocmVersion {
                    text: text.to_owned(),
                    corrected: corrected.to_owned(),
                }
            );
            assert_eq!(parse_new_label(corrected).unwrap().as_str(), corrected);
        }
    }

    #[test]
    fn other_labels_are_kept() {
        for text in [
            "rocm7.1torch2.9",
            "rocm71",
            "rocm.rocm7.1",
            "rocm",
            "rocmsdk20250528",
            "cu124",
            "gfx942",
        ] {
            assert_eq!(parse_new_label(text).unwrap().as_str(), text);
        }
        assert_eq!(parse_new_label("+rocm7.1").unwrap().as_str(), "rocm7.1");
        for text in ["a+b", "++a", "+"] {
            assert!(matches!(
                parse_new_label(text),
                Err(NewLabelError::Invalid(_))
            ));
        }
    }
}
