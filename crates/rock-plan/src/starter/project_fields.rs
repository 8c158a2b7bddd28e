//! Fields of a Python project's files, read without running them.
//!
//! **Invariant:** a field is a literal of the file; computed ones are `None`.

use regex::Regex;

/// Whether a `pyproject.toml` contains more than tool settings.
pub(super) fn describes_a_project(text: &str) -> bool {
    ["[project]", "[build-system]", "[tool.poetry]"]
        .iter()
        .any(|table| text.lines().any(|line| line.trim() == *table))
}

/// Returns a field of `[metadata]` in `setup.cfg` if it is a literal that setuptools does not read
/// from elsewhere.
pub(super) fn cfg_field(text: &str, key: &str) -> Option<String> {
    let lines = text
        .lines()
        .skip_while(|line| line.trim() != "[metadata]")
        .skip(1);
    let mut fields = lines
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once('='));
    let value = fields.find(|(name, _)| name.trim() == key)?.1.trim();
    (!value.is_empty() && !value.starts_with("attr:") && !value.starts_with("file:"))
        .then(|| value.to_owned())
}

/// Returns an argument of `setup()` if it is a string literal.
pub(super) fn py_argument(text: &str, key: &str) -> Option<String> {
    let pattern = Regex::new(&format!(r#"(?m)\b{key}\s*=\s*["']([^"'\n]+)["']"#)).ok()?;
    Some(pattern.captures(text)?[1].to_owned())
}
