//! What package index pages say about torch × ROCm × Python, and how that differs from the table.

pub mod actions;
pub mod requirements;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::pages::{IndexPage, linked_files};
use super::rows::{Confidence, Provenance, RocmRow, TorchRow};
use rock_names::{PythonVersion, RocmVersion, Version, WheelName};

/// One difference between the table and the pages.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct TorchDifference {
    /// The torch minor.
    pub torch: String,
    /// The column: `patches`, `rocm-index`, `python`, `free-threaded`.
    pub column: &'static str,
    /// Values that the pages have and the table has not.
    pub added: Vec<String>,
    /// Values that the table has and the pages, where they were read, have not.
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

/// What the pages have of one torch minor.
#[derive(Debug, Default, Clone)]
struct ListedWheels {
    patches: BTreeMap<Version, String>,
    rocm: BTreeSet<String>,
    python: BTreeSet<PythonVersion>,
    free_threaded: BTreeSet<PythonVersion>,
}

/// Differences between the table and the pages, by torch minor and column. Only released wheels for
/// ROCm count; a ROCm index that was not read changes nothing. Torch minors older than the table's
/// oldest are left out.
pub fn differences(rows: &[TorchRow], pages: &[IndexPage]) -> Vec<TorchDifference> {
    let mut seen: BTreeMap<(u64, u64), ListedWheels> = BTreeMap::new();
    for page in pages {
        for wheel in linked_files(&page.html)
            .iter()
            .filter_map(|name| name.parse::<WheelName>().ok())
        {
            let is_for_rocm = wheel
                .version
                .local()
                .is_some_and(|local| local.starts_with("rocm"));
            if wheel.distribution != "torch" || wheel.version.is_prerelease() || !is_for_rocm {
                continue;
            }
            let release = wheel.version.release();
            let key = (
                release.first().copied().unwrap_or(0),
                release.get(1).copied().unwrap_or(0),
            );
            let seen = seen.entry(key).or_default();
            let public = wheel.version.public();
            seen.patches.insert(public.clone(), public.to_string());
            seen.rocm.insert(page.rocm_index.clone());
            for abi in wheel.abi.tags().iter().filter_map(|tag| python_of(tag)) {
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
    // Patches and Pythons of an index that was not read may be missing here without being gone.
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

/// `cp313t` as 3.13t; other ABI tags are none of a Python version.
fn python_of(tag: &str) -> Option<PythonVersion> {
    let digits = tag.strip_prefix("cp")?;
    let (major, minor) = digits.split_at_checked(1)?;
    format!("{major}.{minor}").parse().ok()
}

/// The rows as they would stand: changed ones read anew at this address on this day, new ones in
/// their place.
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

/// Moves the rows behind the first so many to where they belong by their minor: before the first
/// row of a later one.
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

/// ROCm versions that the pages add and the table of ROCm versions does not list.
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

/// The source that a refreshed row names.
const SOURCE: &str = "index";

fn minor(torch: &str) -> Option<(u64, u64)> {
    let (major, minor) = torch.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The numbers of a version, for order: `3.13t` with 3.13, `2.10.0` after `2.9.1`.
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
    fn pages_that_say_what_the_table_says_differ_in_nothing() {
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
    fn a_new_patch_a_new_python_and_a_new_index_are_proposed() {
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

    /// A page may name any number of releases: each is looked up, not searched for.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test bounds a time")]
    fn a_page_of_a_hundred_thousand_minors_is_compared_in_seconds() {
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
    fn a_new_minor_stands_in_its_place_and_an_index_that_lost_a_release_is_told() {
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
    fn nightlies_other_projects_and_other_accelerators_count_for_nothing() {
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
