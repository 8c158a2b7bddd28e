//! Fields of a Python project's files, read without running them.
//!
//! **Invariant:** a field is a literal of the file; computed ones are `None`.

use regex::Regex;

use rock_names::VersionSpecifiers;

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

/// Returns the versions of torch that a `pyproject.toml` requires to build and to run the project;
/// `None` if it does not limit them.
pub(super) fn required_torch(pyproject: &toml::Table) -> Option<VersionSpecifiers> {
    let lists = [("build-system", "requires"), ("project", "dependencies")];
    let limits: Vec<&str> = lists
        .into_iter()
        .flat_map(|(table, key)| torch_requirements(pyproject, table, key))
        .filter(|text| !text.is_empty() && text.parse::<VersionSpecifiers>().is_ok())
        .collect();
    if limits.is_empty() {
        return None;
    }
    limits.join(",").parse().ok()
}

/// Returns the version specifiers of the requirements on torch in a list of a `pyproject.toml`.
pub(super) fn torch_requirements<'t>(
    pyproject: &'t toml::Table,
    table: &str,
    key: &str,
) -> Vec<&'t str> {
    pyproject
        .get(table)
        .and_then(|table| table.get(key)?.as_array())
        .into_iter()
        .flatten()
        .filter_map(toml::Value::as_str)
        .filter_map(torch_specifiers)
        .collect()
}

/// Returns the version specifiers of a requirement on torch, `>=2` for `torch>=2`; `None` for a
/// requirement on another distribution.
fn torch_specifiers(requirement: &str) -> Option<&str> {
    let requirement = requirement.trim();
    let is_part_of_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let end = requirement
        .find(|c: char| !is_part_of_name(c))
        .unwrap_or(requirement.len());
    let (name, rest) = requirement.split_at(end);
    if !name.eq_ignore_ascii_case("torch") {
        return None;
    }
    let rest = rest.split(';').next().unwrap_or_default().trim();
    let rest = match rest.strip_prefix('[') {
        Some(extras) => extras.split_once(']').map_or("", |(_, rest)| rest),
        None => rest,
    };
    let rest = rest.trim();
    let inner = rest
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    Some(inner.unwrap_or(rest))
}
