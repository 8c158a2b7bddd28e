//! `compat refresh --from` and `--requirements`: compares tables with the pages of an index, and
//! with PyPI.

use std::path::Path;

use crate::cli::{Exit, Shell};
use crate::codes::facts as codes;
use crate::compat::Compat;
use crate::compat::pages::IndexPage;
use crate::compat::refresh::{
    self, PageError, PageSource, RefreshError, SAVED_PAGES, TableComparison, requirements,
    saved_rocm_index,
};
use crate::diagnostic::{Diagnostic, Location};
use crate::fetch::{self, ProxySettings};
use crate::sys;

/// Compares the torch table with the pages of an index: those of a URL, or saved ones.
///
/// # Errors
/// The exit of the command; the reason was reported.
pub(super) fn compare_torch(
    compat: &Compat,
    from: &str,
    shell: &Shell,
) -> Result<TableComparison, Exit> {
    let is_address = from.starts_with("http://") || from.starts_with("https://");
    let from = from.trim_end_matches('/');
    let pages = if is_address {
        let rows = &compat.tables().torch;
        refresh::read_index_pages(rows, from, &mut FetchedPages::new(shell))
            .map_err(|error| fetch_failed(error, shell))
    } else {
        saved_pages(Path::new(from), shell)
    }?;
    let root = is_address.then_some(from);
    let compared = refresh::compare_torch(compat, &pages, root, &shell.environment.today());
    Ok(printed(compared, shell))
}

/// Compares the table of torch's requirements with the metadata of its releases.
///
/// # Errors
/// The exit of the command; the reason was reported.
pub(super) fn compare_requirements(
    compat: &Compat,
    address: &str,
    shell: &Shell,
) -> Result<TableComparison, Exit> {
    let rows = &compat.tables().torch_requirements;
    let root = address.trim_end_matches('/');
    let releases = requirements::read_releases(rows, root, &mut FetchedPages::new(shell))
        .map_err(|error| fetch_failed(error, shell))?;
    let today = shell.environment.today();
    let compared = requirements::compare_requirements(rows, &releases, &today);
    Ok(printed(compared, shell))
}

/// Prints the differences and returns the comparison.
fn printed(compared: TableComparison, shell: &Shell) -> TableComparison {
    for line in &compared.lines {
        shell.say(line);
    }
    compared
}

/// Pages of a server.
struct FetchedPages<'s> {
    shell: &'s Shell,
    proxies: ProxySettings,
}

impl<'s> FetchedPages<'s> {
    fn new(shell: &'s Shell) -> Self {
        Self {
            shell,
            proxies: ProxySettings::from_variables(|name| shell.environment.get(name)),
        }
    }
}

impl PageSource for FetchedPages<'_> {
    fn read(&mut self, address: &str) -> Result<String, PageError> {
        self.shell.detail(&format!("fetching {address}"));
        fetch::get(address, fetch::LARGEST_PAGE_BYTES, &self.proxies).map_err(|error| PageError {
            status: error.status,
            diagnostic: error.into(),
        })
    }

    fn remark(&mut self, text: &str) {
        self.shell.say(text);
    }
}

/// Reports why the pages of a server cannot be compared, and returns the exit.
fn fetch_failed(error: RefreshError, shell: &Shell) -> Exit {
    let diagnostic = match error {
        RefreshError::Page(diagnostic) => *diagnostic,
        RefreshError::Source {
            address,
            reason,
            help,
        } => Diagnostic::new(&codes::CANNOT_FETCH, reason)
            .at(Location::Url(address), "")
            .help(help),
    };
    shell.report(&[diagnostic]);
    Exit::Machine
}

/// Reads the pages of a saved index: `DIR/rocm6.2/torch/index.html`, `DIR/rocm6.2/torch.html` or
/// `DIR/rocm6.2/torch`.
fn saved_pages(root: &Path, shell: &Shell) -> Result<Vec<IndexPage>, Exit> {
    let mut pages = Vec::new();
    for folder in sys::subdirectories(root).map_err(|error| shell.report(&[error.into()]))? {
        let name = folder.file_name().and_then(|name| name.to_str());
        let Some(rocm_index) = name.and_then(saved_rocm_index) else {
            continue;
        };
        let candidates = SAVED_PAGES.map(|name| folder.join(name));
        if let Some(path) = candidates.iter().find(|path| sys::is_file(path)) {
            let bytes = sys::read_bytes(path, fetch::LARGEST_PAGE_BYTES)
                .map_err(|error| shell.report(&[error.into()]))?;
            pages.push(IndexPage {
                rocm_index: rocm_index.to_owned(),
                html: String::from_utf8_lossy(&bytes).into_owned(),
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
