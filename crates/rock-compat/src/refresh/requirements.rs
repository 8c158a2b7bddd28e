//! Comparison of the table `torch-requirements` with the METADATA of torch wheels, and its update.

use std::collections::BTreeSet;

use crate::rows::{Confidence, Provenance, TorchRequirementRow};
use rock_names::{Requirement, Version};

/// The source of updated rows, a key of `sources`.
const SOURCE: &str = "pypi";

/// A release of torch with the `Requires-Dist` of its wheels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TorchRelease {
    /// The version.
    pub version: Version,
    /// The requirements as written (PEP 508).
    pub requires: Vec<String>,
}

/// A requirement that differs from the table, or is not in it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct RequirementDifference {
    /// The torch version.
    pub torch: String,
    /// The required package.
    pub package: String,
    /// The version specifier in the table; `None` without a row.
    pub table: Option<String>,
    /// The version specifier of the wheels.
    pub found: String,
}

impl std::fmt::Display for RequirementDifference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            torch,
            package,
            table,
            found,
        } = self;
        write!(f, "torch {torch} requires {package}{found}")?;
        match table {
            Some(table) => write!(f, ", not {table}"),
            None => write!(f, ", but the table has no row for it"),
        }
    }
}

/// Returns the differences for the packages in the table. Releases that do not require a package,
/// or require it without a version, are ignored.
pub fn differences(
    rows: &[TorchRequirementRow],
    releases: &[TorchRelease],
) -> Vec<RequirementDifference> {
    let packages: BTreeSet<&str> = rows.iter().map(|row| row.package.as_str()).collect();
    let mut found = Vec::new();
    for release in releases {
        let torch = release.version.to_string();
        for package in &packages {
            let Some(versions) = release
                .requires
                .iter()
                .find_map(|text| versions_of(text, package))
            else {
                continue;
            };
            let row = rows
                .iter()
                .find(|row| row.package == **package && row.torch.contains(&torch));
            let table = row.map(|row| row.versions.clone());
            if table.as_ref() != Some(&versions) {
                found.push(RequirementDifference {
                    torch: torch.clone(),
                    package: (*package).to_owned(),
                    table,
                    found: versions,
                });
            }
        }
    }
    found
}

/// Returns the rows with the differences applied. A release that differs from its row moves to a new
/// row.
pub fn apply_differences(
    rows: &[TorchRequirementRow],
    differences: &[RequirementDifference],
    today: &str,
) -> Vec<TorchRequirementRow> {
    let mut updated = rows.to_vec();
    for difference in differences {
        for row in updated
            .iter_mut()
            .filter(|row| row.package == difference.package)
        {
            row.torch.retain(|torch| *torch != difference.torch);
        }
        updated.push(TorchRequirementRow {
            torch: vec![difference.torch.clone()],
            package: difference.package.clone(),
            versions: difference.found.clone(),
            origin: Provenance {
                status: Confidence::Verified,
                source: SOURCE.to_owned(),
                r#ref: format!("METADATA of torch {}, Requires-Dist", difference.torch),
                checked: today.to_owned(),
                note: String::new(),
            },
        });
    }
    updated.retain(|row| !row.torch.is_empty());
    updated.sort_by_cached_key(|row| (row.package.clone(), row.torch[0].parse::<Version>().ok()));
    updated
}

/// The version specifier of a requirement on this package: `==3.1.0` of
/// `triton==3.1.0; platform_system == "Linux"`.
fn versions_of(text: &str, package: &str) -> Option<String> {
    let requirement: Requirement = text.parse().ok()?;
    if requirement.name() != package {
        return None;
    }
    let head = text.split(';').next().unwrap_or_default();
    let versions = head[head.find(['=', '<', '>', '~', '!'])?..]
        .trim_end_matches(|c: char| c == ')' || c.is_whitespace());
    Some(versions.split_whitespace().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(torch: &[&str], versions: &str) -> TorchRequirementRow {
        TorchRequirementRow {
            torch: torch.iter().map(|text| (*text).to_owned()).collect(),
            package: "triton".to_owned(),
            versions: versions.to_owned(),
            origin: Provenance {
                status: Confidence::Verified,
                source: SOURCE.to_owned(),
                r#ref: String::new(),
                checked: "2026-01-01".to_owned(),
                note: String::new(),
            },
        }
    }

    fn release(version: &str, requires: &[&str]) -> TorchRelease {
        let requires = requires.iter().map(|text| (*text).to_owned()).collect();
        TorchRelease {
            version: version.parse().unwrap(),
            requires,
        }
    }

    #[test]
    fn a_differing_release_moves_to_a_new_row() {
        let rows = [
            row(&["2.4.0", "2.4.1"], "==3.0.0"),
            row(&["2.5.0"], "==3.1.0"),
        ];
        let linux = "triton==3.0.0; platform_system == \"Linux\" and python_version < \"3.13\"";
        let releases = [
            release("2.4.0", &["filelock", linux]),
            release("2.4.1", &["triton (==3.0.1) ; extra == 'x'"]),
            release("2.5.0", &["filelock"]),
            release("2.6.0", &["triton ~= 3.2, < 4"]),
        ];
        let found = differences(&rows, &releases);
        let shown: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "torch 2.4.1 requires triton==3.0.1, not ==3.0.0",
                "torch 2.6.0 requires triton~=3.2,<4, but the table has no row for it"
            ]
        );
        let updated = apply_differences(&rows, &found, "2026-02-03");
        let shown: Vec<String> = updated
            .iter()
            .map(|row| format!("{} {}", row.torch.join("+"), row.versions))
            .collect();
        assert_eq!(
            shown,
            [
                "2.4.0 ==3.0.0",
                "2.4.1 ==3.0.1",
                "2.5.0 ==3.1.0",
                "2.6.0 ~=3.2,<4"
            ]
        );
        assert_eq!(updated[1].origin.checked, "2026-02-03");
    }

    #[test]
    fn the_text_equals_the_shipped_file() {
        let compat = crate::Compat::embedded();
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tables/torch-requirements.yaml"
        );
        let kept = rock_sys::read_text(std::path::Path::new(path), 1 << 20).unwrap();
        assert_eq!(
            crate::table_file::TORCH_REQUIREMENTS.text(&compat.tables().torch_requirements),
            kept
        );
    }
}
