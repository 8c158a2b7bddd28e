//! Where artifacts are fetched from: a bucket, or a folder that has what a bucket has.

use std::fmt;
use std::io::Read;
use std::path::PathBuf;

use super::place;
use crate::diagnostic::{Diagnostic, Place};
use crate::fetch::{self, FetchError, Proxies};
use crate::names::percent_encode;
use crate::sdk::bucket::{self, File};
use crate::sys::{self, EntryKind, FileError};

/// A page of a listing has a thousand names.
const LARGEST_PAGE_BYTES: u64 = 16 << 20;
/// A run has some hundred files; a listing without end is none.
const MOST_PAGES: usize = 1000;

/// The files of one run.
pub(super) enum Store {
    Folder(PathBuf),
    Bucket {
        address: String,
        /// The run's folder, with a slash at its end.
        folder: String,
        proxies: Proxies,
    },
}

impl Store {
    /// Names of files right in the folder of the run, with their sizes; none where it is not there.
    pub(super) fn list(&self) -> Result<Vec<File>, Diagnostic> {
        match self {
            Self::Folder(folder) if !sys::exists(folder) => Ok(Vec::new()),
            Self::Folder(folder) => {
                let files = sys::entries(folder)?.into_iter().filter(|entry| entry.kind == EntryKind::File);
                let named = files.filter_map(|entry| {
                    let name = entry.path.file_name()?.to_str()?.to_owned();
                    Some((name, sys::size_bytes(&entry.path)))
                });
                Ok(named.collect())
            }
            Self::Bucket { address, folder, proxies } => {
                let mut files = Vec::new();
                let mut next: Option<String> = None;
                for _ in 0..MOST_PAGES {
                    let mut asked = format!("{address}/?list-type=2&prefix={}", percent_encode(folder));
                    if let Some(token) = &next {
                        asked += &format!("&continuation-token={}", percent_encode(token));
                    }
                    let text = fetch::get(&asked, LARGEST_PAGE_BYTES, proxies)?;
                    let page = bucket::page(&text).map_err(|reason| {
                        Diagnostic::from(FetchError { address: asked.clone(), status: Some(200), reason })
                    })?;
                    let below = page.objects.into_iter().filter_map(|(key, size_bytes)| {
                        let name = key.strip_prefix(folder)?;
                        (!name.contains('/')).then(|| (name.to_owned(), size_bytes))
                    });
                    files.extend(below);
                    match page.next {
                        None => return Ok(files),
                        token => next = token,
                    }
                }
                let reason = format!("the listing has more than {MOST_PAGES} pages");
                Err(FetchError { address: format!("{address}/{folder}"), status: Some(200), reason }.into())
            }
        }
    }

    /// A file of the run, to be read once.
    pub(super) fn open(&self, file: &str) -> Result<Box<dyn Read + Send>, Diagnostic> {
        match self {
            Self::Folder(folder) => {
                let path = folder.join(file);
                Ok(sys::open_to_read(&path).map_err(|error| FileError::new("read", &path, error))?)
            }
            Self::Bucket { proxies, .. } => Ok(Box::new(fetch::open(&self.address_of(file), proxies)?)),
        }
    }

    /// Whether what failed may go well another time.
    pub(super) fn is_remote(&self) -> bool {
        matches!(self, Self::Bucket { .. })
    }

    /// The place of the run.
    pub(super) fn place(&self) -> Place {
        match self {
            Self::Folder(folder) => place(folder),
            Self::Bucket { .. } => Place::Remote(self.to_string()),
        }
    }

    /// The place of a file of the run.
    pub(super) fn place_of(&self, file: &str) -> Place {
        match self {
            Self::Folder(folder) => place(&folder.join(file)),
            Self::Bucket { .. } => Place::Remote(self.address_of(file)),
        }
    }

    fn address_of(&self, file: &str) -> String {
        format!("{self}{}", percent_encode(file))
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "{}", folder.display()),
            Self::Bucket { address, folder, .. } => write!(f, "{address}/{folder}"),
        }
    }
}
