//! The pages of torch in the ROCm indexes of a server or a directory, and their comparison with the
//! table `torch`.

use super::comparison::{ComparisonDocument, PageSource, RefreshError, TableComparison};
use super::{TorchDifference, apply_differences, differences, unlisted_rocm};
use crate::Compat;
use crate::pages::{IndexPage, linked_rocm_indexes};
use crate::rows::TorchRow;
use crate::table_file;

/// The maximum number of ROCm indexes below one root, each of which is fetched. PyTorch has about
/// 30.
const MAX_INDEXES: usize = 200;

const ROOT_HELP: &str = "give the root of an index with paths such as rocm6.2/torch/";

/// The paths of a saved page of torch below the directory `rocmX.Y` of a ROCm index. The first one
/// that exists is read.
pub const SAVED_PAGES: [&str; 3] = ["torch/index.html", "torch.html", "torch"];

/// Returns the ROCm version of a directory of a saved index: `6.2` for `rocm6.2`.
pub fn saved_rocm_index(directory: &str) -> Option<&str> {
    directory.strip_prefix("rocm")
}

/// Reads the pages of torch in the ROCm indexes that the root page or the table lists. `root` is
/// the URL of the root without a trailing slash.
///
/// # Errors
/// If a page cannot be read, the root lists too many indexes, or there is no page. Single missing
/// pages are only remarks.
pub fn read_index_pages(
    rows: &[TorchRow],
    root: &str,
    source: &mut impl PageSource,
) -> Result<Vec<IndexPage>, RefreshError> {
    let mut indexes: Vec<String> = rows.iter().flat_map(|row| row.rocm_index.clone()).collect();
    match source.read(&format!("{root}/")) {
        Ok(html) => {
            let linked = linked_rocm_indexes(&html);
            if linked.len() > MAX_INDEXES {
                let count = linked.len();
                return Err(RefreshError::Source {
                    address: root.to_owned(),
                    reason: format!(
                        "{root}/ links to {count} ROCm indexes, and the maximum is {MAX_INDEXES}"
                    ),
                    help: ROOT_HELP,
                });
            }
            indexes.extend(linked);
        }
        // Some servers do not list the root; the indexes of the table are fetched nevertheless.
        Err(error) if matches!(error.status, Some(403 | 404)) => {}
        Err(error) => return Err(error.into()),
    }
    indexes.sort();
    indexes.dedup();
    let mut found = Vec::new();
    for rocm_index in indexes {
        match source.read(&format!("{root}/rocm{rocm_index}/torch/")) {
            Ok(html) => found.push(IndexPage { rocm_index, html }),
            Err(error) if matches!(error.status, Some(403 | 404)) => source.remark(&format!(
                "there is no index rocm{rocm_index}; its rows in the table are kept"
            )),
            Err(error) => return Err(error.into()),
        }
    }
    if found.is_empty() {
        return Err(RefreshError::Source {
            address: root.to_owned(),
            reason: format!("no page of torch was found under {root}"),
            help: ROOT_HELP,
        });
    }
    Ok(found)
}

/// Compares the table `torch` with the pages of an index. `root` is its URL, or `None` for saved
/// pages; `today` is the date of the check.
pub fn compare_torch(
    compat: &Compat,
    pages: &[IndexPage],
    root: Option<&str>,
    today: &str,
) -> TableComparison {
    let rows = &compat.tables().torch;
    let found = differences(rows, pages);
    let address = root.map_or_else(|| "saved pages".to_owned(), without_user_info);
    let updated = apply_differences(rows, &found, &address, today);
    let patch = table_file::TORCH.patch(rows, &updated);
    let unlisted = unlisted_rocm(&compat.tables().rocm, &found);
    let lines = found.iter().map(ToString::to_string);
    let lines = lines.chain(unlisted.into_iter().map(|rocm| {
        format!("ROCm {rocm} is not in the rocm table yet: add its row to rocm.yaml with the patch")
    }));
    let read = pages.iter().map(|page| page.rocm_index.clone()).collect();
    TableComparison {
        differs: !found.is_empty(),
        lines: lines.collect(),
        warnings: Vec::new(),
        up_to_date: found.is_empty().then_some("the torch table is up to date"),
        document: ComparisonDocument::<TorchDifference, ()>::new(read, &found, &patch).to_json(),
        patch,
    }
}

/// Returns a URL without its user and password (RFC 3986, section 3.2.1), because compatibility
/// data is published.
fn without_user_info(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else {
        return address.to_owned();
    };
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let user_info = authority.rfind('@').map_or(0, |at| at + 1);
    format!("{scheme}://{}", &rest[user_info..])
}

#[cfg(test)]
mod tests {
    use super::{RefreshError, compare_torch, read_index_pages, without_user_info};
    use crate::Compat;
    use crate::pages::IndexPage;
    use crate::refresh::comparison::testing::PagesInMemory;
    use crate::rows::TorchRow;

    fn rows() -> Vec<TorchRow> {
        let known = |row: &&TorchRow| row.torch == "2.5";
        let tables = Compat::embedded();
        tables
            .tables()
            .torch
            .iter()
            .filter(known)
            .cloned()
            .collect()
    }

    #[test]
    fn indexes_of_the_root_and_of_the_table_are_read() {
        let mut source = PagesInMemory::new(
            &[
                ("https://a.test/", r#"<a href="rocm9.9/">rocm9.9</a>"#),
                ("https://a.test/rocm9.9/torch/", "nine"),
            ],
            Some(404),
        );
        let pages = read_index_pages(&rows(), "https://a.test", &mut source).unwrap();
        let [IndexPage { rocm_index, html }] = &pages[..] else {
            panic!("{pages:?}");
        };
        assert_eq!((rocm_index.as_str(), html.as_str()), ("9.9", "nine"));
        assert_eq!(source.read.len(), source.remarks.len() + 2);
        assert!(
            source
                .remarks
                .contains(&"there is no index rocm6.2; its rows in the table are kept".to_owned()),
            "{:?}",
            source.remarks
        );
    }

    #[test]
    fn a_server_without_pages_is_an_error() {
        let read = |pages: &[(&str, &str)], status| {
            let mut source = PagesInMemory::new(pages, status);
            read_index_pages(&rows(), "https://a.test", &mut source).unwrap_err()
        };
        let none = read(&[], Some(404));
        assert!(matches!(none, RefreshError::Source { .. }), "{none:?}");
        assert_eq!(
            none.to_string(),
            "no page of torch was found under https://a.test"
        );
        // Without a response, and with an error of the server.
        assert_eq!(read(&[], None).to_string(), "cannot read https://a.test/");
        let failed = read(&[], Some(500)).to_string();
        assert_eq!(failed, "cannot read https://a.test/");
        let many: String = (0..201)
            .map(|minor| format!("<a href=\"rocm1.{minor}/\"></a>"))
            .collect();
        assert_eq!(
            read(&[("https://a.test/", &many)], Some(404)).to_string(),
            "https://a.test/ links to 201 ROCm indexes, and the maximum is 200"
        );
    }

    #[test]
    fn a_comparison_has_the_address_without_its_password() {
        let link = "<a href=\"torch-2.20.0%2Brocm9.9-cp312-cp312-linux_x86_64.whl\"></a>";
        let page = IndexPage {
            rocm_index: "9.9".to_owned(),
            html: link.to_owned(),
        };
        let compat = Compat::embedded();
        let root = Some("https://me:secret@a.test/whl");
        let found = compare_torch(&compat, &[page], root, "2026-12-01");
        assert!(found.differs && found.up_to_date.is_none());
        assert!(found.patch.contains("a.test/whl") && !found.patch.contains("secret"));
        let document: serde_json::Value = serde_json::from_str(&found.document).unwrap();
        assert_eq!(document["version"], 1);
        assert_eq!(document["read"][0], "9.9");
        assert_eq!(document["patch"], found.patch);
        assert_eq!(document.get("remarks"), None);
        assert_eq!(
            found.lines.last().unwrap(),
            "ROCm 9.9 is not in the rocm table yet: add its row to rocm.yaml with the patch"
        );
        let same = compare_torch(&compat, &[], None, "2026-12-01");
        assert_eq!(same.up_to_date, Some("the torch table is up to date"));
        assert!(!same.differs && same.lines.is_empty() && same.patch.is_empty());
        for (address, expected) in [
            ("http://u@h:1/x@y", "http://h:1/x@y"),
            ("https://h?a@b", "https://h?a@b"),
            ("h", "h"),
        ] {
            assert_eq!(without_user_info(address), expected);
        }
    }
}
