//! Fields of a Python project's files, read without running them.
//!
//! **Invariant:** a field is a literal of the file; computed ones are `None`.

use itertools::Itertools as _;
use regex::Regex;

use rock_names::{Requirement, Version, VersionSpecifiers};

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

/// Returns the requirements on torch to build and to run the project of a `pyproject.toml`.
pub(super) fn required_torch(pyproject: &toml::Table) -> Vec<Requirement> {
    let mut required = torch_requirements(pyproject, "build-system", "requires");
    required.extend(torch_requirements(pyproject, "project", "dependencies"));
    required.extend(poetry_torch(pyproject));
    required
}

/// Returns the requirements on torch in a list of a `pyproject.toml`.
pub(super) fn torch_requirements(
    pyproject: &toml::Table,
    table: &str,
    key: &str,
) -> Vec<Requirement> {
    pyproject
        .get(table)
        .and_then(|table| table.get(key)?.as_array())
        .into_iter()
        .flatten()
        .filter_map(|requirement| requirement.as_str()?.parse::<Requirement>().ok())
        .filter(|requirement| requirement.name() == "torch")
        .collect()
}

/// Returns the requirements on torch in `tool.poetry.dependencies`.
fn poetry_torch(pyproject: &toml::Table) -> Vec<Requirement> {
    let dependencies = pyproject.get("tool").and_then(|tool| {
        let poetry = tool.get("poetry")?;
        poetry.get("dependencies")?.as_table()
    });
    dependencies
        .into_iter()
        .flatten()
        .filter(|(name, _)| name.eq_ignore_ascii_case("torch"))
        .flat_map(|(_, value)| match value {
            toml::Value::Array(constraints) => constraints.as_slice(),
            constraint => std::slice::from_ref(constraint),
        })
        .filter_map(poetry_requirement)
        .collect()
}

/// Converts a dependency of Poetry on torch, `"^2.3"` or `{version = "^2.3", platform = "linux"}`,
/// to a requirement; `None` for a dependency without a version or with alternatives.
fn poetry_requirement(constraint: &toml::Value) -> Option<Requirement> {
    let field = |key: &str| constraint.get(key)?.as_str();
    let version = constraint.as_str().or_else(|| field("version"))?;
    let mut markers: Vec<String> = Vec::new();
    markers.extend(field("markers").map(|marker| format!("({marker})")));
    markers.extend(field("platform").map(|platform| format!("sys_platform == '{platform}'")));
    if let Some(python) = field("python") {
        for clause in poetry_clauses(python)? {
            let (operator, version) = split_operator(&clause)?;
            markers.push(format!("python_full_version {operator} '{version}'"));
        }
    }
    let marker = if markers.is_empty() {
        String::new()
    } else {
        format!("; {}", markers.join(" and "))
    };
    let versions = poetry_clauses(version)?.join(",");
    format!("torch{versions}{marker}").parse().ok()
}

/// Converts a constraint of Poetry to version specifiers, `^2.3,!=2.4` to `>=2.3`, `<3` and
/// `!=2.4`; `None` for alternatives (`2.3 || 2.5`), which version specifiers cannot express.
fn poetry_clauses(constraint: &str) -> Option<Vec<String>> {
    let mut clauses = Vec::new();
    for clause in constraint.split(',').map(str::trim) {
        if clause == "*" {
            continue;
        }
        let (operator, text) = split_operator(clause)?;
        match operator {
            "" => clauses.push(format!("=={text}")),
            "^" | "~" => {
                let version: Version = text.parse().ok()?;
                let release = version.release();
                let is_nonzero = |number: &u64| *number != 0;
                let last = release.len() - 1;
                let raised = match operator {
                    "^" => release.iter().position(is_nonzero).unwrap_or(last),
                    _ => last.min(1),
                };
                let mut next = release[..=raised].to_vec();
                next[raised] = next[raised].saturating_add(1);
                clauses.push(format!(">={text}"));
                clauses.push(format!("<{}", next.iter().join(".")));
            }
            _ => clauses.push(clause.to_owned()),
        }
    }
    let is_valid = |clause: &String| clause.parse::<VersionSpecifiers>().is_ok();
    clauses.iter().all(is_valid).then_some(clauses)
}

/// Splits a clause such as `>=2.3` before its version.
fn split_operator(clause: &str) -> Option<(&str, &str)> {
    let (operator, version) = clause.split_at(clause.find(|c: char| c.is_ascii_digit())?);
    Some((operator.trim(), version))
}
