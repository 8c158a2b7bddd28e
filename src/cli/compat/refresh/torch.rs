//! `compat refresh --from`: compares the torch table with the pages of an index.

use std::path::{Path, PathBuf};

use super::Found;
use crate::cli::{Exit, Shell};
use crate::codes::facts as codes;
use crate::compat::pages::{self, IndexPage};
use crate::compat::refresh::{self, TorchDifference};
use crate::compat::{Compat, table_file};
use crate::diagnostic::{Diagnostic, Location};
use crate::fetch::{self, FetchError, ProxySettings};
use crate::sys;

/// The maximum number of ROCm indexes below one root, each of which is fetched. PyTorch has about
/// 30.
const MAX_INDEXES: usize = 200;

/// The output as JSON.
#[derive(serde::Serialize)]
struct Document<'a> {
    version: u32,
    /// ROCm indexes whose page was read.
    read: Vec<&'a str>,
    differences: &'a [TorchDifference],
    /// For `git apply` in a checkout that has `matrices/compat`; empty when there are no
    /// differences.
    patch: &'a str,
}

/// Reads the pages, and returns how they differ from the table.
///
/// # Errors
/// The exit of the command; the reason was reported.
pub(super) fn compare(compat: &Compat, from: &str, shell: &Shell) -> Result<Found, Exit> {
    let is_address = from.starts_with("http://") || from.starts_with("https://");
    let from = from.trim_end_matches('/');
    let pages = if is_address {
        fetched(compat, from, shell)
    } else {
        saved(Path::new(from), shell)
    }?;
    let rows = &compat.tables().torch;
    let differences = refresh::differences(rows, &pages);
    let address = if is_address {
        without_user_info(from)
    } else {
        "saved pages".to_owned()
    };
    let updated =
        refresh::apply_differences(rows, &differences, &address, &shell.environment.today());
    let patch = table_file::TORCH.patch(rows, &updated);
    for difference in &differences {
        shell.say(&difference.to_string());
    }
    for rocm in refresh::unlisted_rocm(&compat.tables().rocm, &differences) {
        shell.say(&format!(
            "ROCm {rocm} is not in the rocm table yet: add its row to rocm.yaml with the patch"
        ));
    }
    if differences.is_empty() {
        shell.say("the torch table is up to date");
    }
    let read = pages.iter().map(|page| page.rocm_index.as_str()).collect();
    let document = super::json(&Document {
        version: 1,
        read,
        differences: &differences,
        patch: &patch,
    });
    Ok(Found {
        differs: !differences.is_empty(),
        document,
        patch,
    })
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

/// Reads the pages of a saved index: `DIR/rocm6.2/torch/index.html`, `DIR/rocm6.2/torch.html` or
/// `DIR/rocm6.2/torch`.
fn saved(root: &Path, shell: &Shell) -> Result<Vec<IndexPage>, Exit> {
    let mut pages = Vec::new();
    for folder in sys::subdirectories(root).map_err(|error| shell.report(&[error.into()]))? {
        let Some(rocm) = folder
            .file_name()
            .and_then(|name| name.to_str()?.strip_prefix("rocm"))
        else {
            continue;
        };
        let candidates: [PathBuf; 3] =
            ["torch/index.html", "torch.html", "torch"].map(|name| folder.join(name));
        if let Some(path) = candidates.iter().find(|path| sys::is_file(path)) {
            let bytes = sys::read_bytes(path, fetch::LARGEST_PAGE_BYTES)
                .map_err(|error| shell.report(&[error.into()]))?;
            let html = String::from_utf8_lossy(&bytes).into_owned();
            pages.push(IndexPage {
                rocm_index: rocm.to_owned(),
                html,
            });
        }
    }
    if pages.is_empty() {
        let text = format!(
            "`{}` contains no pages such as rocm6.2/torch/index.html",
            root.display()
        );
        let help = "save the pages of an index under those names";
        return Err(shell.report(&[Diagnostic::new(&codes::CANNOT_FETCH, text).help(help)]));
    }
    Ok(pages)
}

/// Fetches the pages of an index that its root page or the table lists. Missing ones are reported.
fn fetched(compat: &Compat, root: &str, shell: &Shell) -> Result<Vec<IndexPage>, Exit> {
    let proxies = ProxySettings::from_variables(|name| shell.environment.get(name));
    let get = |address: &str| {
        shell.detail(&format!("fetching {address}"));
        fetch::get(address, fetch::LARGEST_PAGE_BYTES, &proxies)
    };
    let failed = |fault: Diagnostic| {
        shell.report(&[fault]);
        Exit::Machine
    };
    let mut indexes: Vec<String> = compat
        .tables()
        .torch
        .iter()
        .flat_map(|row| row.rocm_index.clone())
        .collect();
    match get(&format!("{root}/")) {
        Ok(html) => {
            let linked = pages::linked_rocm_indexes(&html);
            if linked.len() > MAX_INDEXES {
                let text = format!(
                    "{root}/ links to {} ROCm indexes, and the maximum is {MAX_INDEXES}",
                    linked.len()
                );
                let fault = Diagnostic::new(&codes::CANNOT_FETCH, text)
                    .at(Location::Url(root.to_owned()), "");
                return Err(failed(fault.help(
                    "give the root of an index with paths such as rocm6.2/torch/",
                )));
            }
            indexes.extend(linked);
        }
        // Some servers do not list the root; the indexes of the table are fetched nevertheless.
        Err(FetchError {
            status: Some(_), ..
        }) => {}
        Err(error) => return Err(failed(error.into())),
    }
    indexes.sort();
    indexes.dedup();
    let mut found = Vec::new();
    for rocm in indexes {
        match get(&format!("{root}/rocm{rocm}/torch/")) {
            Ok(html) => found.push(IndexPage {
                rocm_index: rocm,
                html,
            }),
            Err(error) if matches!(error.status, Some(403 | 404)) => {
                shell.say(&format!(
                    "there is no index rocm{rocm}; its rows in the table are kept"
                ));
            }
            Err(error) => return Err(failed(error.into())),
        }
    }
    if found.is_empty() {
        let fault = Diagnostic::new(
            &codes::CANNOT_FETCH,
            format!("no page of torch was found under {root}"),
        )
        .at(Location::Url(root.to_owned()), "")
        .help("give the root of an index with paths such as rocm6.2/torch/");
        return Err(failed(fault));
    }
    Ok(found)
}
