//! Where artifacts are fetched from: a bucket, or a folder that has what a bucket has.

use std::fmt;
use std::path::PathBuf;

use super::place;
use super::tries::{Fault, tried};
use crate::diagnostic::{Diagnostic, Location};
use crate::fetch::{self, FetchError, ProxySettings, ResponseBody};
use crate::names::percent_encode;
use crate::sdk::bucket::{self, BucketFile, BucketPage};
use crate::sdk::limits::{MAX_FILES, MAX_PAGE_BYTES, MAX_PAGES};
use crate::sys::{self, DirectoryEntryKind, FileError};

/// What to do where an archive could not be fetched.
const KEPT: &str = "run it again: what came whole is kept";
/// What to do where a bucket does not answer.
const NO_ANSWER: &str = "see whether this machine reaches the bucket, or give a folder that is laid out as one (`--local-staging`)";
/// What to do where there is no listing.
const OTHER_PLACE: &str = "name another run (`--run-id`) or kind of release (`--release-type`), the bucket (`--bucket`), or a folder that is \
                           laid out as one (`--local-staging`)";

/// The files of one run.
pub(super) enum Store {
    Folder(PathBuf),
    Bucket {
        address: String,
        /// The run's folder, with a slash at its end.
        folder: String,
        proxies: ProxySettings,
    },
}

impl Store {
    /// Names of files right in the folder of the run, with their sizes; none where it is not there.
    pub(super) fn list(&self) -> Result<Vec<BucketFile>, Diagnostic> {
        match self {
            Self::Folder(folder) if !sys::exists(folder) => Ok(Vec::new()),
            Self::Folder(folder) => {
                let files = sys::read_entries(folder)?
                    .into_iter()
                    .filter(|entry| entry.kind == DirectoryEntryKind::File);
                let named = files.filter_map(|entry| {
                    let name = entry.path.file_name()?.to_str()?.to_owned();
                    Some((name, sys::size_bytes(&entry.path)))
                });
                Ok(named.collect())
            }
            Self::Bucket {
                address,
                folder,
                proxies,
            } => {
                let mut files = Vec::new();
                let mut next: Option<String> = None;
                for _ in 0..MAX_PAGES {
                    let mut asked =
                        format!("{address}/?list-type=2&prefix={}", percent_encode(folder));
                    if let Some(token) = &next {
                        asked += &format!("&continuation-token={}", percent_encode(token));
                    }
                    let page = tried(|| page(&asked, proxies))?;
                    let below = page.objects.into_iter().filter_map(|(key, size_bytes)| {
                        let name = key.strip_prefix(folder)?;
                        (!name.contains('/')).then(|| (name.to_owned(), size_bytes))
                    });
                    files.extend(below);
                    if files.len() > MAX_FILES {
                        return Err(
                            self.unlisted(format!("the listing has more than {MAX_FILES} files"))
                        );
                    }
                    match page.next {
                        None => return Ok(files),
                        token => next = token,
                    }
                }
                Err(self.unlisted(format!("the listing has more than {MAX_PAGES} pages")))
            }
        }
    }

    /// Reports a listing that is not read.
    fn unlisted(&self, reason: String) -> Diagnostic {
        FetchError {
            address: self.to_string(),
            status: Some(200),
            reason,
            is_transient: false,
        }
        .into()
    }

    /// A file of the run, to be read once; beside it what [`Self::rest`] takes, where the rest of
    /// it can be asked for.
    pub(super) fn open(&self, file: &str) -> Result<(ResponseBody, Option<String>), Fault> {
        match self {
            Self::Folder(folder) => {
                let path = folder.join(file);
                Ok((
                    sys::open_file(&path).map_err(|error| FileError::new("read", &path, error))?,
                    None,
                ))
            }
            Self::Bucket { proxies, .. } => fetch::open(&self.address_of(file), proxies)
                .map_err(|error| Fault::from(error).help(KEPT)),
        }
    }

    /// The rest of a file, from a byte on; `None` where it must come from its start.
    pub(super) fn rest(
        &self,
        file: &str,
        from: u64,
        version: &str,
    ) -> Result<Option<ResponseBody>, Fault> {
        match self {
            Self::Folder(_) => Ok(None),
            Self::Bucket { proxies, .. } => {
                fetch::get_range(&self.address_of(file), from, version, proxies)
                    .map_err(|error| Fault::from(error).help(KEPT))
            }
        }
    }

    /// Whether what comes wrong may come right another time.
    pub(super) fn is_remote(&self) -> bool {
        matches!(self, Self::Bucket { .. })
    }

    /// The place of the run.
    pub(super) fn place(&self) -> Location {
        match self {
            Self::Folder(folder) => place(folder),
            Self::Bucket { .. } => Location::Url(self.to_string()),
        }
    }

    /// The place of a file of the run.
    pub(super) fn place_of(&self, file: &str) -> Location {
        match self {
            Self::Folder(folder) => place(&folder.join(file)),
            Self::Bucket { .. } => Location::Url(self.address_of(file)),
        }
    }

    fn address_of(&self, file: &str) -> String {
        format!("{self}{}", percent_encode(file))
    }
}

/// One page of a listing.
fn page(address: &str, proxies: &ProxySettings) -> Result<BucketPage, Fault> {
    let text =
        fetch::get(address, MAX_PAGE_BYTES, proxies).map_err(|error| match error.status {
            // A bucket that is not there, and one that is not open to all, as those of other kinds
            // may be.
            Some(403 | 404) => Fault::from(error).help(OTHER_PLACE),
            _ => Fault::from(error).help(NO_ANSWER),
        })?;
    // One that was cut off is none.
    let none = |reason| FetchError {
        address: address.to_owned(),
        status: Some(200),
        reason,
        is_transient: true,
    };
    Ok(bucket::page(&text).map_err(none)?)
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "{}", folder.display()),
            Self::Bucket {
                address, folder, ..
            } => write!(f, "{address}/{folder}"),
        }
    }
}
