//! Comparison of the table `torch` with package index pages, and its update.
//!
//! Input: rows, and the project pages of torch in ROCm indexes. Output: differences, and updated rows.
//! The submodules compare other tables with their sources in the same way; a [`PageSource`] reads
//! pages for them, and a [`TableComparison`] is their result.
//!
//! **Invariant:** a value is removed only if all pages that could list it were read.

mod action_tags;
pub mod actions;
mod comparison;
pub mod requirements;
mod torch_index;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

pub use action_tags::{ActionReleases, ActionSource};
pub use comparison::{PageError, PageSource, RefreshError, TableComparison};
pub use torch_index::{SAVED_PAGES, compare_torch, read_index_pages, saved_rocm_index};

use super::pages::{IndexPage, linked_files};
use super::rows::{Confidence, Provenance, RocmRow, TorchRow};
use rock_names::{PythonVersion, RocmVersion, Version, WheelName};

/// A difference in one column between a torch row and the pages.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct TorchDifference {
    /// The torch minor version.
    pub torch: String,
    /// The column: `patches`, `rocm-index`, `python`, `free-threaded`.
    pub column: &'static str,
    /// Values that only the pages have.
    pub added: Vec<String>,
    /// Values that only the table has, although their pages were read.
    pub removed: Vec<String>,
}

impl std::fmt::Display for TorchDifference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "torch {}: {}", self.torch, self.column)?;
        self.added
            .iter()
            .try_for_each(|value| write!(f, " +{value}"))?;
        self.removed
            .iter()
            .try_for_each(|value| write!(f, " -{value}"))
    }
}

/// The wheels of one torch minor version on the pages.
#[derive(Debug, Default, Clone)]
struct ListedWheels {
    patches: BTreeMap<Version, String>,
    rocm: BTreeSet<String>,
    python: BTreeSet<PythonVersion>,
    free_threaded: BTreeSet<PythonVersion>,
}

/// Returns the differences between the table and the pages, by torch minor version and column.
///
/// Prereleases, wheels for other accelerators, and minor versions before the oldest row are ignored.
/// ROCm indexes without a page cause no difference.
pub fn differences(rows: &[TorchRow], pages: &[IndexPage]) -> Vec<TorchDifference> {
    let mut seen: BTreeMap<(u64, u64), ListedWheels> = BTreeMap::new();
    for page in pages {
        for wheel in linked_files(&page.html)
            .iter()
            .filter_map(|name| name.parse::<WheelName>().ok())
        {
            let is_for_rocm = wheel
                .version()
                .local()
                .is_some_and(|local| local.starts_with("rocm"));
            if wheel.distribution().as_str() != "torch"
                || wheel.version().is_prerelease()
                || !is_for_rocm
            {
                continue;
            }
            let release = wheel.version().release();
            let key = (
                release.first().copied().unwrap_or(0),
                release.get(1).copied().unwrap_or(0),
            );
            let seen = seen.entry(key).or_default();
            let public = wheel.version().public();
            seen.patches.insert(public.clone(), public.to_string());
            seen.rocm.insert(page.rocm_index.clone());
            for abi in wheel.abi_tags().iter().filter_map(|tag| python_of(tag)) {
                if abi.is_free_threaded() {
                    seen.free_threaded.insert(abi)
                } else {
                    seen.python.insert(abi)
                };
            }
        }
    }
    let oldest: Option<(u64, u64)> = rows.iter().filter_map(|row| minor(&row.torch)).min();
    let mut differences = Vec::new();
    for (key, seen) in seen
        .iter()
        .filter(|(key, _)| oldest.is_none_or(|oldest| **key >= oldest))
    {
        let row = rows.iter().find(|row| minor(&row.torch) == Some(*key));
        differences.extend(row_differences(
            &format!("{}.{}", key.0, key.1),
            row,
            seen,
            pages,
        ));
    }
    differences
}

fn row_differences(
    torch: &str,
    row: Option<&TorchRow>,
    seen: &ListedWheels,
    pages: &[IndexPage],
) -> Vec<TorchDifference> {
    let was_read = |rocm: &String| pages.iter().any(|page| page.rocm_index == *rocm);
    let column = |column, known: &[String], found: Vec<String>, gone: &dyn Fn(&String) -> bool| {
        let (of_table, of_pages): (HashSet<&String>, HashSet<&String>) =
            (known.iter().collect(), found.iter().collect());
        let added: Vec<String> = found
            .iter()
            .filter(|value| !of_table.contains(value))
            .cloned()
            .collect();
        let removed: Vec<String> = known
            .iter()
            .filter(|value| !of_pages.contains(value) && gone(value))
            .cloned()
            .collect();
        (!added.is_empty() || !removed.is_empty()).then(|| TorchDifference {
            torch: torch.to_owned(),
            column,
            added,
            removed,
        })
    };
    // Patch and Python versions may be on a page that was not read.
    let all_read = row.is_none_or(|row| row.rocm_index.iter().all(was_read));
    let mut rocm: Vec<RocmVersion> = seen
        .rocm
        .iter()
        .filter_map(|text| text.parse().ok())
        .collect();
    rocm.sort();
    let of = |list: fn(&TorchRow) -> &Vec<String>| {
        row.map(|row| list(row).as_slice()).unwrap_or_default()
    };
    let pythons = |set: &BTreeSet<PythonVersion>| set.iter().map(ToString::to_string).collect();
    [
        column(
            "patches",
            of(|row| &row.patches),
            seen.patches.values().cloned().collect(),
            &|_| all_read,
        ),
        column(
            "rocm-index",
            of(|row| &row.rocm_index),
            rocm.iter().map(ToString::to_string).collect(),
            &was_read,
        ),
        column(
            "python",
            of(|row| &row.python),
            pythons(&seen.python),
            &|_| all_read,
        ),
        column(
            "free-threaded",
            of(|row| &row.free_threaded),
            pythons(&seen.free_threaded),
            &|_| all_read,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the Python version of an ABI tag, 3.13t for `cp313t`; `None` for tags such as `abi3`.
fn python_of(tag: &str) -> Option<PythonVersion> {
    let digits = tag.strip_prefix("cp")?;
    let (major, minor) = digits.split_at_checked(1)?;
    format!("{major}.{minor}").parse().ok()
}

/// Returns the rows with the differences applied, in order of their minor version. The provenance of
/// changed and new rows is this URL and date.
pub fn apply_differences(
    rows: &[TorchRow],
    differences: &[TorchDifference],
    address: &str,
    today: &str,
) -> Vec<TorchRow> {
    let origin = Provenance {
        status: Confidence::Verified,
        source: SOURCE.to_owned(),
        r#ref: address.to_owned(),
        checked: today.to_owned(),
        note: String::new(),
    };
    let mut updated = rows.to_vec();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (at, row) in rows.iter().enumerate() {
        known.entry(row.torch.clone()).or_insert(at);
    }
    for difference in differences {
        let at = *known.entry(difference.torch.clone()).or_insert_with(|| {
            updated.push(TorchRow {
                torch: difference.torch.clone(),
                patches: Vec::new(),
                rocm_index: Vec::new(),
                python: Vec::new(),
                free_threaded: Vec::new(),
                origin: origin.clone(),
            });
            updated.len() - 1
        });
        let row = &mut updated[at];
        row.origin = Provenance {
            note: std::mem::take(&mut row.origin.note),
            ..origin.clone()
        };
        let column = match difference.column {
            "patches" => &mut row.patches,
            "rocm-index" => &mut row.rocm_index,
            "python" => &mut row.python,
            _ => &mut row.free_threaded,
        };
        let removed: HashSet<&String> = difference.removed.iter().collect();
        column.retain(|value| !removed.contains(value));
        column.extend(difference.added.iter().cloned());
        column.sort_by_cached_key(|text| numbers(text));
    }
    insert_by_minor(rows.len(), updated)
}

/// Moves the rows after the first `known` ones before the first known row of a later minor version.
fn insert_by_minor(known: usize, mut rows: Vec<TorchRow>) -> Vec<TorchRow> {
    let mut new = rows.split_off(known);
    new.sort_by_cached_key(|row| minor(&row.torch));
    let mut new = new.into_iter().peekable();
    let mut placed = Vec::with_capacity(rows.len() + new.len());
    for row in rows {
        while let Some(earlier) = new.next_if(|one| minor(&one.torch) < minor(&row.torch)) {
            placed.push(earlier);
        }
        placed.push(row);
    }
    placed.extend(new);
    placed
}

/// Returns the ROCm versions that the differences add and the table `rocm` does not have.
pub fn unlisted_rocm<'a>(
    rocm: &[RocmRow],
    differences: &'a [TorchDifference],
) -> BTreeSet<&'a str> {
    let added = differences
        .iter()
        .filter(|difference| difference.column == "rocm-index")
        .flat_map(|d| &d.added);
    added
        .map(String::as_str)
        .filter(|version| !rocm.iter().any(|row| row.rocm == *version))
        .collect()
}

/// The source of updated rows, a key of `sources`.
const SOURCE: &str = "index";

fn minor(torch: &str) -> Option<(u64, u64)> {
    let (major, minor) = torch.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Returns the numbers of a version as a sort key: `2.10.0` is after `2.9.1`.
fn numbers(text: &str) -> Vec<u64> {
    text.split(|c: char| !c.is_ascii_digit())
        .filter_map(|number| number.parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{IndexPage, apply_differences, differences};
    use crate::Compat;

    fn page(rocm: &str, files: &[&str]) -> IndexPage {
        let link = |file: &&str| {
            format!(
                "<a href=\"/whl/rocm{rocm}/{}#sha256=00\">{file}</a><br>\n",
                file.replace('+', "%2B")
            )
        };
        IndexPage {
            rocm_index: rocm.to_owned(),
            html: files.iter().map(link).collect(),
        }
    }

    #[test]
    fn equal_pages_have_no_differences() {
        let row = |version: &str| {
            let pythons = ["39", "310", "311", "312"];
            pythons
                .map(|p| format!("torch-{version}+rocm6.2-cp{p}-cp{p}-linux_x86_64.whl"))
                .to_vec()
        };
        let files: Vec<String> = [row("2.5.0"), row("2.5.1")].concat();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let pages = [page("6.1", &files), page("6.2", &files)];
        assert_eq!(differences(&Compat::embedded().tables().torch, &pages), []);
    }

    #[test]
    fn new_patches_pythons_and_indexes_are_added() {
        let rows = Compat::embedded().tables().torch.clone();
        let pages = [page(
            "7.99",
            &["torch-2.14.2+rocm7.99-cp315-cp315t-manylinux_2_28_x86_64.whl"],
        )];
        let found = differences(&rows, &pages);
        let columns: Vec<_> = found
            .iter()
            .map(|d| (d.column, d.added.join(","), d.removed.len()))
            .collect();
        assert_eq!(
            columns,
            [
                ("patches", "2.14.2".into(), 0),
                ("rocm-index", "7.99".into(), 0),
                ("free-threaded", "3.15t".into(), 0)
            ]
        );
        let rows = apply_differences(&rows, &found, "https://pages.example/whl", "2026-12-01");
        let row = rows.iter().find(|row| row.torch == "2.14").unwrap();
        assert_eq!(row.rocm_index, ["7.2", "7.14", "7.99"]);
        assert_eq!(
            (row.origin.source.as_str(), row.origin.checked.as_str()),
            ("index", "2026-12-01")
        );
        assert!(
            row.origin.note.contains("2.14.1+rocm7.2"),
            "what a person noted stays"
        );
    }

    /// The time is not quadratic in the number of releases.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test bounds a time")]
    fn a_hundred_thousand_minor_versions_take_seconds() {
        let files: String = (0..100_000)
            .map(|minor| {
                format!("<a href='torch-3.{minor}.0%2Brocm7.2-cp312-cp312-linux_x86_64.whl'></a>")
            })
            .collect();
        let pages = [IndexPage {
            rocm_index: "7.2".to_owned(),
            html: files,
        }];
        let rows = Compat::embedded().tables().torch.clone();
        let began = std::time::Instant::now();
        let found = differences(&rows, &pages);
        let updated = apply_differences(&rows, &found, "saved", "2026-12-01");
        assert_eq!(
            (found.len(), updated.len()),
            (300_000, rows.len() + 100_000)
        );
        assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
    }

    #[test]
    fn new_minor_versions_are_inserted_in_order() {
        let rows = Compat::embedded().tables().torch.clone();
        let pages = [
            page(
                "7.2",
                &[
                    "torch-2.20.0+rocm7.2-cp312-cp312-linux_x86_64.whl",
                    "torch-2.14.0+rocm7.2-cp310-cp310-linux_x86_64.whl",
                ],
            ),
            page(
                "7.14",
                &["torch-2.20.0+rocm7.14-cp312-cp312-linux_x86_64.whl"],
            ),
        ];
        let found = differences(&rows, &pages);
        let rows = apply_differences(&rows, &found, "saved", "2026-12-01");
        let torches: Vec<&str> = rows.iter().map(|row| row.torch.as_str()).collect();
        assert_eq!(torches[torches.len() - 2..], ["2.15", "2.20"]);
        let of_2_14 = rows.iter().find(|row| row.torch == "2.14").unwrap();
        assert_eq!(
            (&of_2_14.rocm_index[..], &of_2_14.python[..]),
            (&["7.2".to_owned()][..], &["3.10".to_owned()][..])
        );
    }

    #[test]
    fn other_wheels_are_ignored() {
        let pages = [page(
            "7.2",
            &[
                "torch-2.15.0.dev20261101+rocm7.2-cp312-cp312-linux_x86_64.whl",
                "torchvision-0.1+rocm7.2-cp312-cp312-linux_x86_64.whl",
                "torch-2.99.0+cpu-cp312-cp312-linux_x86_64.whl",
                "torch-2.99.0-cp312-cp312-linux_x86_64.whl",
                "torch-2.99.0.tar.gz",
            ],
        )];
        assert_eq!(differences(&[], &pages), []);
    }
}
