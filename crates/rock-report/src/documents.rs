//! The JSON documents of `report coverage`, `report missing` and `report packages`.
//!
//! Each has the field `version`, which is incremented when a field is removed or changes its
//! meaning, and the files whose names cannot be parsed as `unread`.

use serde::Serialize;

use super::{
    Coverage, CoverageShare, GridCell, GridColumn, GridRow, MissingGrid, MissingReport, PackageRow,
    PublishedWheel, UnreadableName, WheelListing, package_rows,
};

/// The version of the three documents.
const VERSION: u32 = 1;

/// A file whose name cannot be parsed.
#[derive(Serialize)]
struct UnreadDocument<'a> {
    release: &'a str,
    name: &'a str,
    reason: &'a str,
}

impl<'a> From<&'a UnreadableName> for UnreadDocument<'a> {
    fn from(unread: &'a UnreadableName) -> Self {
        Self {
            release: &unread.tag,
            name: &unread.name,
            reason: &unread.reason,
        }
    }
}

fn unread(wheels: &WheelListing) -> Vec<UnreadDocument<'_>> {
    wheels.unread.iter().map(UnreadDocument::from).collect()
}

fn json(document: &impl Serialize) -> String {
    serde_json::to_string_pretty(document)
        .map(|text| text + "\n")
        .unwrap_or_default()
}

#[derive(Serialize)]
struct CoverageDocument<'a> {
    version: u32,
    total: ShareDocument,
    coverage: Vec<CoverageRowDocument<'a>>,
    unread: Vec<UnreadDocument<'a>>,
}

#[derive(Serialize)]
struct CoverageRowDocument<'a> {
    platform: &'a str,
    distribution: &'a str,
    #[serde(rename = "cells")]
    share: ShareDocument,
    excluded: u64,
}

#[derive(Serialize)]
struct ShareDocument {
    published: u64,
    missing: u64,
    percent: Option<u64>,
}

impl From<CoverageShare> for ShareDocument {
    fn from(share: CoverageShare) -> Self {
        Self {
            published: share.present,
            missing: share.missing,
            percent: share.percent(),
        }
    }
}

/// Returns a coverage as JSON with a final newline. `wheels` are the published wheels.
pub fn coverage_json(coverage: &Coverage, wheels: &WheelListing) -> String {
    let rows = coverage.rows.iter().map(|row| CoverageRowDocument {
        platform: row.machine.as_str(),
        distribution: &row.distribution,
        share: row.share.into(),
        excluded: row.excluded,
    });
    json(&CoverageDocument {
        version: VERSION,
        total: coverage.total.into(),
        coverage: rows.collect(),
        unread: unread(wheels),
    })
}

#[derive(Serialize)]
struct MissingDocument<'a> {
    version: u32,
    present: u64,
    missing: u64,
    grids: Vec<GridDocument<'a>>,
    wheels: &'a [String],
    unread: Vec<UnreadDocument<'a>>,
}

#[derive(Serialize)]
struct GridDocument<'a> {
    platform: &'a str,
    distribution: &'a str,
    version: &'a str,
    columns: Vec<ColumnDocument<'a>>,
    rows: Vec<GridRowDocument<'a>>,
}

#[derive(Serialize)]
struct ColumnDocument<'a> {
    torch: Option<&'a str>,
    accelerator: Option<&'a str>,
    backend: Option<&'a str>,
}

#[derive(Serialize)]
struct GridRowDocument<'a> {
    python: Option<String>,
    cells: Vec<CellDocument<'a>>,
}

#[derive(Serialize)]
struct CellDocument<'a> {
    state: &'static str,
    wheel: Option<&'a str>,
    job: Option<&'a str>,
    reason: Option<&'a str>,
}

impl<'a> From<&'a MissingGrid> for GridDocument<'a> {
    fn from(grid: &'a MissingGrid) -> Self {
        Self {
            platform: grid.machine.as_str(),
            distribution: &grid.distribution,
            version: &grid.version,
            columns: grid.columns.iter().map(ColumnDocument::from).collect(),
            rows: grid.rows.iter().map(GridRowDocument::from).collect(),
        }
    }
}

impl<'a> From<&'a GridColumn> for ColumnDocument<'a> {
    fn from(column: &'a GridColumn) -> Self {
        Self {
            torch: column.torch.as_deref(),
            accelerator: column.accelerator.as_deref(),
            backend: column.backend.as_deref(),
        }
    }
}

impl<'a> From<&'a GridRow> for GridRowDocument<'a> {
    fn from(row: &'a GridRow) -> Self {
        Self {
            python: row.python.map(|python| python.to_string()),
            cells: row.cells.iter().map(CellDocument::from).collect(),
        }
    }
}

impl<'a> From<&'a GridCell> for CellDocument<'a> {
    fn from(cell: &'a GridCell) -> Self {
        Self {
            state: cell.state.word(),
            wheel: cell.wheel.as_deref(),
            job: cell.job.as_deref(),
            reason: cell.reason.as_deref(),
        }
    }
}

/// Returns the missing files as JSON with a final newline. `wheels` are the published wheels.
pub(super) fn missing_json(report: &MissingReport<'_>, wheels: &WheelListing) -> String {
    json(&MissingDocument {
        version: VERSION,
        present: report.share.present,
        missing: report.share.missing,
        grids: report.grids.iter().map(GridDocument::from).collect(),
        wheels: &report.files,
        unread: unread(wheels),
    })
}

#[derive(Serialize)]
struct PackagesDocument<'a> {
    version: u32,
    packages: Vec<PackageDocument<'a>>,
    unread: Vec<UnreadDocument<'a>>,
}

#[derive(Serialize)]
struct PackageDocument<'a> {
    platform: &'a str,
    distribution: &'a str,
    version: String,
    git: Option<&'a str>,
    python: String,
    torch: Option<String>,
    accelerator: Option<String>,
    backend: Option<&'a str>,
    gfx: &'a [String],
    files: Vec<FileDocument<'a>>,
}

#[derive(Serialize)]
struct FileDocument<'a> {
    release: &'a str,
    name: &'a str,
    url: Option<&'a str>,
    size_bytes: u64,
    digest: Option<String>,
    yanked: Option<&'a str>,
}

impl<'a> From<PackageRow<'a>> for PackageDocument<'a> {
    fn from(row: PackageRow<'a>) -> Self {
        let combination = row.combination;
        let accelerator = combination.accelerator_version();
        Self {
            platform: row.machine.as_str(),
            distribution: &combination.distribution,
            version: combination.version.to_string(),
            git: combination.git.as_deref(),
            python: row.pythons.to_string(),
            torch: combination.torch_text(),
            accelerator: accelerator
                .map(|version| format!("{} {version}", combination.accelerator_name())),
            backend: combination.backend.as_deref(),
            gfx: row
                .wheels
                .iter()
                .map(|wheel| wheel.gfx.as_slice())
                .find(|gfx| !gfx.is_empty())
                .unwrap_or_default(),
            files: row.wheels.into_iter().map(FileDocument::from).collect(),
        }
    }
}

impl<'a> From<&'a PublishedWheel> for FileDocument<'a> {
    fn from(wheel: &'a PublishedWheel) -> Self {
        Self {
            release: &wheel.tag,
            name: &wheel.name,
            url: wheel.address.as_deref(),
            size_bytes: wheel.size_bytes,
            digest: wheel.digest.map(|digest| digest.to_string()),
            yanked: wheel.yanked.as_deref(),
        }
    }
}

/// Returns the published wheels as JSON with a final newline.
pub fn packages_json(wheels: &WheelListing) -> String {
    let rows = package_rows(wheels).into_iter().map(PackageDocument::from);
    json(&PackagesDocument {
        version: VERSION,
        packages: rows.collect(),
        unread: unread(wheels),
    })
}

#[cfg(test)]
mod tests {
    use rock_publish::ReleaseListing;

    use super::packages_json;
    use crate::{ListingContext, WheelListing};

    #[test]
    fn packages_have_their_files_and_unreadable_names_the_reason() {
        let listing = ReleaseListing::from_json(
            r#"[{"tag_name": "v1", "assets": [
                {"name": "a-1+rocm6.2torch2.5-cp312-cp312-linux_x86_64.whl", "size": 7},
                {"name": "a.whl"}
            ]}]"#,
        );
        let wheels = WheelListing::published(&listing.unwrap(), ListingContext::default());
        let document: serde_json::Value = serde_json::from_str(&packages_json(&wheels)).unwrap();
        let package = &document["packages"][0];
        assert_eq!(package["accelerator"], "ROCm 6.2");
        assert_eq!(package["files"][0]["size_bytes"], 7);
        assert_eq!(document["unread"][0]["name"], "a.whl");
    }
}
