//! Patterns of libraries that are excluded from audits.

use crate::auditor::Auditor;
use crate::codes::wheel as codes;
use rock_compat::Compat;
use rock_diagnostic::nearest::{nearest, with_nearest};
use rock_diagnostic::{Diagnostic, Diagnostics};

/// The name that selects no preset, instead of the default ones.
const NO_PRESET: &str = "none";

/// Returns the patterns of presets, which are rows of the table `presets`. `none` alone selects no
/// preset.
///
/// # Errors
/// Returns an error for each preset that does not exist.
pub fn preset_patterns(names: &[String], compat: &Compat) -> Result<Vec<String>, Diagnostics> {
    if names == [NO_PRESET] {
        return Ok(Vec::new());
    }
    let (mut patterns, mut errors) = (Vec::new(), Vec::new());
    for name in names {
        match compat.preset(name) {
            Some(preset) => patterns.extend(preset.patterns.iter().cloned()),
            None => errors.push(unknown_preset(name, compat)),
        }
    }
    Diagnostics::check(errors)?;
    Ok(patterns)
}

fn unknown_preset(name: &str, compat: &Compat) -> Diagnostic {
    let presets = compat.library_tables().presets.iter();
    let known: Vec<&str> = presets.map(|row| row.name.as_str()).collect();
    let message = format!("there is no preset `{name}`");
    let message = with_nearest(message, nearest(name, known.iter().copied()));
    Diagnostic::new(&codes::UNKNOWN_PRESET, message).help(format!(
        "known presets are {}; `{NO_PRESET}` alone excludes no set",
        known.join(", ")
    ))
}

/// Returns the patterns of a file, one per line, without empty lines and comments (`#`).
pub fn pattern_lines(text: &str) -> impl Iterator<Item = String> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
}

impl Auditor<'_> {
    /// Returns a warning for each of these exclude patterns that matched no library, unless fewer
    /// than `wheel_count` wheels could be read: another one may contain the only match.
    pub fn unmatched_exclude_findings(
        &self,
        patterns: &[String],
        wheel_count: usize,
    ) -> Vec<Diagnostic> {
        if self.audited_count() < wheel_count {
            return Vec::new();
        }
        let unmatched = self.unmatched_excludes();
        patterns
            .iter()
            .filter(|pattern| unmatched.contains(&pattern.as_str()))
            .map(|pattern| {
                let message = format!("`--exclude {pattern}` matches no library");
                Diagnostic::new(&codes::UNMATCHED_EXCLUDE, message).help(unmatched_help(pattern))
            })
            .collect()
    }
}

/// Returns the help for a pattern that matched no library.
fn unmatched_help(pattern: &str) -> &'static str {
    if pattern.is_empty() {
        "an empty pattern matches nothing: leave it out"
    } else if pattern.contains(['*', '?', '[']) {
        "no needed library has such a name or path: `rock-matrix wheel show` lists them"
    } else {
        "patterns match whole names: end them with `.so*`"
    }
}

#[cfg(test)]
mod tests {
    use super::{pattern_lines, preset_patterns};
    use rock_compat::Compat;

    #[test]
    fn presets_have_patterns_and_none_has_none() {
        let compat = Compat::embedded();
        let patterns = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            preset_patterns(&names, &compat).map_err(|errors| errors.to_string())
        };
        assert!(
            patterns(&["rocm"])
                .unwrap()
                .contains(&"libamdhip64.so*".to_owned())
        );
        assert_eq!(patterns(&["none"]), Ok(Vec::new()));
        let error = patterns(&["rocn"]).unwrap_err();
        assert!(error.starts_with("there is no preset `rocn`"), "{error}");
        let lines: Vec<String> = pattern_lines("# mine\n\n libx.so* \n").collect();
        assert_eq!(lines, ["libx.so*"]);
    }
}
