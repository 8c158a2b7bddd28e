//! `__version__` assignments in the modules of a wheel.

use regex::Regex;

use super::limits::MAX_VERSION_FILE_BYTES;
use super::{WheelError, ZipArchive};
use crate::codes::wheel as codes;
use rock_diagnostic::{Diagnostic, Location, Severity};
use rock_names::Version;

/// Files in which packages define their version.
const FILES: [&str; 4] = ["__init__.py", "version.py", "_version.py", "__about__.py"];

/// Finds top-level modules with another version: a warning, or a note if only the label is missing.
pub(super) fn version_string_mismatches(
    archive: &ZipArchive<'_>,
    wheel: &str,
    version: &Version,
) -> Result<Vec<Diagnostic>, WheelError> {
    let pattern =
        Regex::new(r#"(?m)^__version__\s*(?::[^=\n]*)?=\s*(?:\w+\s*=\s*)*["']([^"'\n]+)["']"#)
            .expect("the pattern is a constant");
    let mut found = Vec::new();
    for member in archive.members() {
        let is_candidate = match member.name().split_once('/') {
            Some((_, file)) => FILES.contains(&file),
            None => member
                .name()
                .split_once('.')
                .is_some_and(|(_, ending)| ending == "py"),
        };
        if !is_candidate || member.size_bytes() > MAX_VERSION_FILE_BYTES {
            continue;
        }
        let content = archive.read(member, MAX_VERSION_FILE_BYTES)?;
        let text = String::from_utf8_lossy(&content);
        let Some(written) = pattern.captures(&text).and_then(|groups| groups.get(1)) else {
            continue;
        };
        let Ok(other) = written.as_str().parse::<Version>() else {
            continue;
        };
        if other != *version {
            let is_label_only = other.local().is_none() && other == version.public();
            let message = format!(
                "the module's `__version__` is `{other}`, but the wheel's version is `{version}`"
            );
            let place = Location::Member {
                wheel: wheel.to_owned(),
                member: member.name().to_owned(),
            };
            found.push(
                Diagnostic::new(&codes::OTHER_VERSION_STRING, message)
                    .severity(if is_label_only {
                        Severity::Note
                    } else {
                        Severity::Warning
                    })
                    .at(place, ""),
            );
        }
    }
    Ok(found)
}
