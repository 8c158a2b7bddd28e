//! Comparison of the table `torch-requirements` with the METADATA of torch wheels, and its update.

use std::collections::{BTreeMap, BTreeSet};

use super::comparison::{ComparisonDocument, PageSource, RefreshError, TableComparison};
use crate::rows::{Confidence, Provenance, TorchRequirementRow};
use crate::table_file;
use rock_names::{Requirement, Version};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The source of updated rows, a key of `sources`.
const SOURCE: &str = "pypi";
/// The maximum number of releases that are fetched, newest first. The table has about 20.
const MAX_RELEASES: usize = 60;

const ROOT_HELP: &str = "give the address of PyPI or of a server with its JSON API";

/// All releases of a project (PyPI's JSON API, `/pypi/PROJECT/json`).
#[derive(Deserialize)]
struct ProjectPage {
    releases: BTreeMap<String, Box<serde_json::value::RawValue>>,
}

/// One release (`/pypi/PROJECT/VERSION/json`).
#[derive(Deserialize)]
struct ReleasePage {
    info: ReleaseInfo,
}

#[derive(Deserialize)]
struct ReleaseInfo {
    #[serde(default)]
    requires_dist: Option<Vec<String>>,
}

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

/// Reads the newest releases of torch that are not older than the table, at most 60, without
/// prereleases.
/// `root` is the URL of a server with PyPI's JSON API without a trailing slash.
///
/// # Errors
/// If a page cannot be read, or there is no release. Releases without metadata are only remarks.
pub fn read_releases(
    rows: &[TorchRequirementRow],
    root: &str,
    source: &mut impl PageSource,
) -> Result<Vec<TorchRelease>, RefreshError> {
    let address = format!("{root}/pypi/torch/json");
    let page = source.read(&address)?;
    let project: ProjectPage = parse(&address, &page)?;
    let mut releases = Vec::new();
    for version in listed_versions(rows, &project) {
        let address = format!("{root}/pypi/torch/{version}/json");
        let page = match source.read(&address) {
            Ok(page) => page,
            Err(error) if error.status == Some(404) => {
                source.remark(&format!(
                    "there is no metadata of torch {version}; its row in the table is kept"
                ));
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let release: ReleasePage = parse(&address, &page)?;
        releases.push(TorchRelease {
            version,
            requires: release.info.requires_dist.unwrap_or_default(),
        });
    }
    if releases.is_empty() {
        return Err(RefreshError::Source {
            address: root.to_owned(),
            reason: format!("no metadata of torch releases was found at {root}"),
            help: ROOT_HELP,
        });
    }
    Ok(releases)
}

/// Returns the newest releases of a project since the oldest one in the table.
fn listed_versions(rows: &[TorchRequirementRow], project: &ProjectPage) -> Vec<Version> {
    let oldest = rows.iter().flat_map(|row| &row.torch);
    let oldest = oldest.filter_map(|text| text.parse::<Version>().ok()).min();
    let is_listed = |version: &Version| {
        !version.is_prerelease() && oldest.as_ref().is_none_or(|oldest| version >= oldest)
    };
    let mut versions: Vec<Version> = project
        .releases
        .keys()
        .filter_map(|text| text.parse().ok())
        .filter(is_listed)
        .collect();
    versions.sort_unstable();
    let first = versions.len().saturating_sub(MAX_RELEASES);
    versions.split_off(first)
}

fn parse<T: DeserializeOwned>(address: &str, page: &str) -> Result<T, RefreshError> {
    serde_json::from_str(page).map_err(|error| RefreshError::Source {
        address: address.to_owned(),
        reason: format!("the response is not in the format of PyPI's JSON API: {error}"),
        help: ROOT_HELP,
    })
}

/// Compares the table `torch-requirements` with the releases. `today` is the date of the check.
pub fn compare_requirements(
    rows: &[TorchRequirementRow],
    releases: &[TorchRelease],
    today: &str,
) -> TableComparison {
    let found = differences(rows, releases);
    let updated = apply_differences(rows, &found, today);
    let patch = table_file::TORCH_REQUIREMENTS.patch(rows, &updated);
    let read = releases
        .iter()
        .map(|release| release.version.to_string())
        .collect();
    let document = ComparisonDocument::<RequirementDifference, ()>::new(read, &found, &patch);
    TableComparison {
        differs: !found.is_empty(),
        lines: found.iter().map(ToString::to_string).collect(),
        warnings: Vec::new(),
        up_to_date: found
            .is_empty()
            .then_some("the table of torch's requirements is up to date"),
        document: document.to_json(),
        patch,
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
    use crate::refresh::comparison::testing::PagesInMemory;

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
    fn releases_since_the_oldest_row_are_read() {
        let project = r#"{"releases": {
            "2.3.0": [], "2.4.0": [], "2.5.0rc1": [], "2.5.0": [], "2.6.0": [], "odd": []
        }}"#;
        let with_triton = r#"{"info": {"requires_dist": ["triton==3.0.0"]}}"#;
        let none = r#"{"info": {"requires_dist": null}}"#;
        let mut source = PagesInMemory::new(
            &[
                ("https://a.test/pypi/torch/json", project),
                ("https://a.test/pypi/torch/2.4.0/json", with_triton),
                ("https://a.test/pypi/torch/2.6.0/json", none),
            ],
            Some(404),
        );
        let rows = [row(&["2.4.0"], "==3.0.0")];
        let releases = read_releases(&rows, "https://a.test", &mut source).unwrap();
        assert_eq!(
            releases,
            [release("2.4.0", &["triton==3.0.0"]), release("2.6.0", &[])]
        );
        assert_eq!(
            source.remarks,
            ["there is no metadata of torch 2.5.0; its row in the table is kept"]
        );
        let found = compare_requirements(&rows, &releases, "2026-12-01");
        assert_eq!(
            (found.differs, found.up_to_date, found.patch.as_str()),
            (
                false,
                Some("the table of torch's requirements is up to date"),
                ""
            )
        );
        let document: serde_json::Value = serde_json::from_str(&found.document).unwrap();
        assert_eq!(document["read"], serde_json::json!(["2.4.0", "2.6.0"]));
    }

    #[test]
    fn a_server_without_the_json_api_is_an_error() {
        let read = |pages: &[(&str, &str)]| {
            let mut source = PagesInMemory::new(pages, Some(404));
            let read = read_releases(&[], "https://a.test", &mut source);
            read.unwrap_err().to_string()
        };
        let root = "https://a.test/pypi/torch/json";
        assert_eq!(read(&[]), format!("cannot read {root}"));
        assert!(
            read(&[(root, "<html>")])
                .starts_with("the response is not in the format of PyPI's JSON API: "),
        );
        assert_eq!(
            read(&[(root, r#"{"releases": {"2.4.0": []}}"#)]),
            "no metadata of torch releases was found at https://a.test"
        );
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
