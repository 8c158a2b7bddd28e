//! What package index pages say about torch × ROCm × Python, and how that differs from the table.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use super::rows::TorchRow;
use crate::names::{PythonVersion, RocmVersion, Version, WheelName};

/// The project page of torch in one ROCm index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexPage {
    /// Literal suffix of the index path, `6.2.4`.
    pub rocm_index: String,
    /// The page (PEP 503): HTML with one link a file.
    pub html: String,
}

/// One difference between the table and the pages.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Difference {
    /// The torch minor.
    pub torch: String,
    /// The column: `patches`, `rocm-index`, `python`, `free-threaded`.
    pub column: &'static str,
    /// Values that the pages have and the table has not.
    pub added: Vec<String>,
    /// Values that the table has and the pages, where they were read, have not.
    pub removed: Vec<String>,
}

/// What the pages have of one torch minor.
#[derive(Debug, Default, Clone)]
struct Seen {
    patches: BTreeMap<Version, String>,
    rocm: BTreeSet<String>,
    python: BTreeSet<PythonVersion>,
    free_threaded: BTreeSet<PythonVersion>,
}

/// File names of the links of a project page, decoded; links to other things are left out.
pub fn linked_files(html: &str) -> Vec<String> {
    let anchor = Regex::new(r#"(?is)<a\s[^>]*?href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))"#).expect("a fixed pattern");
    let links =
        anchor.captures_iter(html).filter_map(|found| found.iter().skip(1).flatten().next().map(|m| m.as_str()));
    let name = |link: &str| {
        let path = link.split(['#', '?']).next().unwrap_or_default();
        decoded(path.rsplit('/').next().unwrap_or_default())
    };
    links.map(name).filter(|name| !name.is_empty()).collect()
}

/// Names of the ROCm indexes that a root page links to: `6.2` for `rocm6.2/`.
pub fn linked_rocm_indexes(html: &str) -> Vec<String> {
    let anchor = Regex::new(r#"(?is)<a\s[^>]*?href\s*=\s*["']?[^"'>]*?\brocm([0-9]+(?:\.[0-9]+)+)/?["'\s>]"#)
        .expect("a fixed pattern");
    let found: BTreeSet<String> = anchor.captures_iter(html).map(|found| found[1].to_owned()).collect();
    found.into_iter().collect()
}

/// Percent-decoding; what is not UTF-8 after it is left as it was.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| text.to_owned())
}

/// Differences between the table and the pages, by torch minor and column. Only released versions count; a ROCm index
/// that was not read changes nothing. Torch minors older than the table's oldest are left out.
pub fn differences(rows: &[TorchRow], pages: &[IndexPage]) -> Vec<Difference> {
    let mut seen: BTreeMap<(u64, u64), Seen> = BTreeMap::new();
    for page in pages {
        for wheel in linked_files(&page.html).iter().filter_map(|name| name.parse::<WheelName>().ok()) {
            if wheel.distribution != "torch" || wheel.version.is_pre() {
                continue;
            }
            let release = wheel.version.release();
            let key = (release.first().copied().unwrap_or(0), release.get(1).copied().unwrap_or(0));
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
    let minor = |text: &str| {
        let (major, minor) = text.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    };
    let oldest: Option<(u64, u64)> = rows.iter().filter_map(|row| minor(&row.torch)).min();
    let mut differences = Vec::new();
    for (key, seen) in seen.iter().filter(|(key, _)| oldest.is_none_or(|oldest| **key >= oldest)) {
        let row = rows.iter().find(|row| minor(&row.torch) == Some(*key));
        differences.extend(of_row(&format!("{}.{}", key.0, key.1), row, seen, pages));
    }
    differences
}

fn of_row(torch: &str, row: Option<&TorchRow>, seen: &Seen, pages: &[IndexPage]) -> Vec<Difference> {
    let was_read = |rocm: &String| pages.iter().any(|page| page.rocm_index == *rocm);
    let column = |column, known: &[String], found: Vec<String>, gone: &dyn Fn(&String) -> bool| {
        let added: Vec<String> = found.iter().filter(|value| !known.contains(value)).cloned().collect();
        let removed: Vec<String> =
            known.iter().filter(|value| !found.contains(value) && gone(value)).cloned().collect();
        (!added.is_empty() || !removed.is_empty()).then(|| Difference {
            torch: torch.to_owned(),
            column,
            added,
            removed,
        })
    };
    // Patches and Pythons of an index that was not read may be missing here without being gone.
    let all_read = row.is_none_or(|row| row.rocm_index.iter().all(was_read));
    let mut rocm: Vec<RocmVersion> = seen.rocm.iter().filter_map(|text| text.parse().ok()).collect();
    rocm.sort();
    let of = |list: fn(&TorchRow) -> &Vec<String>| row.map(|row| list(row).as_slice()).unwrap_or_default();
    let pythons = |set: &BTreeSet<PythonVersion>| set.iter().map(ToString::to_string).collect();
    [
        column("patches", of(|row| &row.patches), seen.patches.values().cloned().collect(), &|_| all_read),
        column("rocm-index", of(|row| &row.rocm_index), rocm.iter().map(ToString::to_string).collect(), &was_read),
        column("python", of(|row| &row.python), pythons(&seen.python), &|_| all_read),
        column("free-threaded", of(|row| &row.free_threaded), pythons(&seen.free_threaded), &|_| all_read),
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

/// The changed rows as they stand and as they would stand, in the form of `torch.yaml`.
pub fn proposal(rows: &[TorchRow], differences: &[Difference], checked: &str) -> String {
    let mut text = String::new();
    let torches: Vec<&str> = {
        let mut names: Vec<&str> = differences.iter().map(|difference| difference.torch.as_str()).collect();
        names.dedup();
        names
    };
    for torch in torches {
        let row = rows.iter().find(|row| row.torch == torch);
        text.push_str(&format!("torch {torch}{}\n", if row.is_none() { " (new)" } else { "" }));
        for difference in differences.iter().filter(|difference| difference.torch == torch) {
            let known: &[String] = row.map_or(&[], |row| match difference.column {
                "patches" => &row.patches,
                "rocm-index" => &row.rocm_index,
                "python" => &row.python,
                _ => &row.free_threaded,
            });
            let kept = known.iter().filter(|value| !difference.removed.contains(value));
            let new: Vec<String> = kept.chain(&difference.added).cloned().collect();
            let line = |values: &[String]| {
                let quoted: Vec<String> = values.iter().map(|value| format!("\"{value}\"")).collect();
                format!("    {}: [{}]\n", difference.column, quoted.join(", "))
            };
            if row.is_some() {
                text.push_str(&format!("-{}", line(known)));
            }
            text.push_str(&format!("+{}", line(&new)));
        }
        if !checked.is_empty() {
            text.push_str(&format!("+    origin: {{…, checked: {checked}}}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{IndexPage, decoded, differences, linked_files, linked_rocm_indexes, proposal};
    use crate::compat::Compat;

    fn page(rocm: &str, files: &[&str]) -> IndexPage {
        let link = |file: &&str| {
            format!("<a href=\"/whl/rocm{rocm}/{}#sha256=00\">{file}</a><br>\n", file.replace('+', "%2B"))
        };
        IndexPage { rocm_index: rocm.to_owned(), html: files.iter().map(link).collect() }
    }

    #[test]
    fn pages_that_say_what_the_table_says_differ_in_nothing() {
        let row = |version: &str| {
            let pythons = ["39", "310", "311", "312"];
            pythons.map(|p| format!("torch-{version}+rocm6.2-cp{p}-cp{p}-linux_x86_64.whl")).to_vec()
        };
        let files: Vec<String> = [row("2.5.0"), row("2.5.1")].concat();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let pages = [page("6.1", &files), page("6.2", &files)];
        assert_eq!(differences(&Compat::embedded().tables().torch, &pages), []);
    }

    #[test]
    fn a_new_patch_a_new_python_and_a_new_index_are_proposed() {
        let rows = Compat::embedded().tables().torch.clone();
        let pages = [page("7.99", &["torch-2.14.1+rocm7.99-cp315-cp315t-manylinux_2_28_x86_64.whl"])];
        let found = differences(&rows, &pages);
        let columns: Vec<_> = found.iter().map(|d| (d.column, d.added.join(","), d.removed.len())).collect();
        assert_eq!(
            columns,
            [("patches", "2.14.1".into(), 0), ("rocm-index", "7.99".into(), 0), ("free-threaded", "3.15t".into(), 0)]
        );
        let text = proposal(&rows, &found, "2026-12-01");
        assert!(text.contains("+    rocm-index: [\"7.2\", \"7.14\", \"7.99\"]"), "{text}");
    }

    #[test]
    fn nightlies_other_projects_and_broken_links_count_for_nothing() {
        let html = "<a href='torch-2.15.0.dev20261101+rocm7.2-cp312-cp312-linux_x86_64.whl'>x</a><a href=>y</a>\
                    <a href=\"torchvision-0.1-cp312-cp312-linux_x86_64.whl\">z</a><a name=q>q</a><a href=\"%zz%é";
        let pages = [IndexPage { rocm_index: "7.2".into(), html: html.to_owned() }];
        assert_eq!(differences(&[], &pages), []);
        assert_eq!(linked_files("<A HREF=a/b%2Bc.whl#x>"), ["b+c.whl"]);
        assert_eq!(decoded("%2"), "%2");
    }

    #[test]
    fn a_root_page_names_its_rocm_indexes() {
        let html = r#"<a href="rocm6.2/">rocm6.2</a> <a href="/whl/rocm6.2.4/">x</a> <a href='cu118/'>cu118</a> <a href="torch/">torch</a>"#;
        assert_eq!(linked_rocm_indexes(html), ["6.2", "6.2.4"]);
    }
}
