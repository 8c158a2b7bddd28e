//! Stores of the artifacts of a run: a bucket, or a directory with the layout of a bucket.

use std::fmt;
use std::path::PathBuf;

use super::retry::{AttemptError, retry};
use crate::bucket::{self, BucketFile, BucketPage};
use crate::limits::{MAX_FILES, MAX_PAGE_BYTES, MAX_PAGES};
use rock_diagnostic::{Diagnostic, Location};
use rock_names::percent_encode;
use rock_sys::fetch::{self, FetchError, ProxySettings, ResponseBody};
use rock_sys::{DirectoryEntryKind, FileError};

/// Help for an archive that could not be fetched.
const KEPT: &str = "run the command again: complete downloads are kept";
/// Help for a bucket that does not answer.
const UNREACHABLE: &str = "check whether this machine reaches the bucket, or use a directory with \
                           the layout of a bucket (`--local-staging`)";
/// Help for a missing listing.
const NO_LISTING: &str = "select another run, release type or bucket, or a directory with the \
                          layout of a bucket (`--run-id`, `--release-type`, `--bucket`, \
                          `--local-staging`)";

/// The store of the artifacts of one run.
#[derive(Debug)]
pub enum ArtifactStore {
    /// A directory with the files that the run has in a bucket.
    Directory(PathBuf),
    /// An S3 bucket.
    Bucket {
        /// The URL of the bucket, without a trailing slash.
        address: String,
        /// The prefix of the run, with a trailing slash.
        directory: String,
        /// The proxies of requests.
        proxies: ProxySettings,
    },
}

/// The reason for which a store cannot be listed.
#[derive(Debug, thiserror::Error)]
pub enum ListError {
    /// The bucket does not exist, or is not public.
    #[error("{}", .0.message)]
    NoBucket(Box<Diagnostic>),
    /// The bucket cannot be reached, or does not answer with a listing.
    #[error("{}", .0.message)]
    Unreachable(Box<Diagnostic>),
    /// The listing exceeds a limit.
    #[error("{}", .0.message)]
    TooLarge(Box<Diagnostic>),
    /// The directory cannot be read.
    #[error(transparent)]
    Directory(#[from] FileError),
}

impl From<AttemptError> for ListError {
    fn from(error: AttemptError) -> Self {
        let is_missing = error.is_missing;
        let diagnostic = Box::new(error.diagnostic);
        if is_missing {
            Self::NoBucket(diagnostic)
        } else {
            Self::Unreachable(diagnostic)
        }
    }
}

impl From<ListError> for Diagnostic {
    fn from(error: ListError) -> Self {
        match error {
            ListError::NoBucket(diagnostic)
            | ListError::Unreachable(diagnostic)
            | ListError::TooLarge(diagnostic) => *diagnostic,
            ListError::Directory(error) => error.into(),
        }
    }
}

impl ArtifactStore {
    /// Lists the names and sizes of the files of the run. The list is empty if the store has no
    /// such run.
    ///
    /// # Errors
    /// When the store cannot be reached or read, or the listing exceeds a limit.
    pub fn list(&self) -> Result<Vec<BucketFile>, ListError> {
        match self {
            Self::Directory(directory) if !rock_sys::exists(directory) => Ok(Vec::new()),
            Self::Directory(directory) => {
                let files = rock_sys::read_entries(directory)?
                    .into_iter()
                    .filter(|entry| entry.kind == DirectoryEntryKind::File);
                let named = files.filter_map(|entry| {
                    let name = entry.path.file_name()?.to_str()?.to_owned();
                    Some((name, rock_sys::size_bytes(&entry.path)))
                });
                Ok(named.collect())
            }
            Self::Bucket {
                address,
                directory,
                proxies,
            } => {
                let mut files = Vec::new();
                let mut next: Option<String> = None;
                for _ in 0..MAX_PAGES {
                    let mut url = format!(
                        "{address}/?list-type=2&prefix={}",
                        percent_encode(directory)
                    );
                    if let Some(token) = &next {
                        url += &format!("&continuation-token={}", percent_encode(token));
                    }
                    let page = retry(|| page(&url, proxies))?;
                    let below = page.objects.into_iter().filter_map(|(key, size_bytes)| {
                        let name = key.strip_prefix(directory)?;
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
    fn unlisted(&self, reason: String) -> ListError {
        let error = FetchError {
            address: self.to_string(),
            status: Some(200),
            reason,
            is_transient: false,
        };
        ListError::TooLarge(Box::new(error.into()))
    }

    /// Opens a file of the run. Returns it with the version for [`Self::open_rest`], if the store
    /// supports that.
    pub(super) fn open(&self, file: &str) -> Result<(ResponseBody, Option<String>), AttemptError> {
        match self {
            Self::Directory(directory) => {
                let path = directory.join(file);
                Ok((
                    rock_sys::open_file(&path)
                        .map_err(|error| FileError::new("read", &path, error))?,
                    None,
                ))
            }
            Self::Bucket { proxies, .. } => fetch::open(&self.address_of(file), proxies)
                .map_err(|error| AttemptError::from(error).help(KEPT)),
        }
    }

    /// Opens the rest of a file from an offset. Returns `None` if it must be read from the start.
    pub(super) fn open_rest(
        &self,
        file: &str,
        from: u64,
        version: &str,
    ) -> Result<Option<ResponseBody>, AttemptError> {
        match self {
            Self::Directory(_) => Ok(None),
            Self::Bucket { proxies, .. } => {
                fetch::get_range(&self.address_of(file), from, version, proxies)
                    .map_err(|error| AttemptError::from(error).help(KEPT))
            }
        }
    }

    /// Whether a wrong response may be transient.
    pub(super) fn is_remote(&self) -> bool {
        matches!(self, Self::Bucket { .. })
    }

    /// Returns the location of the run.
    pub fn location(&self) -> Location {
        match self {
            Self::Directory(directory) => Location::File(directory.display().to_string().into()),
            Self::Bucket { .. } => Location::Url(self.to_string()),
        }
    }

    /// Returns the location of a file of the run.
    pub(super) fn file_location(&self, file: &str) -> Location {
        match self {
            Self::Directory(directory) => {
                Location::File(directory.join(file).display().to_string().into())
            }
            Self::Bucket { .. } => Location::Url(self.address_of(file)),
        }
    }

    fn address_of(&self, file: &str) -> String {
        format!("{self}{}", percent_encode(file))
    }
}

/// Fetches one page of a listing.
fn page(address: &str, proxies: &ProxySettings) -> Result<BucketPage, AttemptError> {
    let text = fetch::get(address, MAX_PAGE_BYTES, proxies).map_err(|error| {
        let error = AttemptError::from(error);
        let help = if error.is_missing {
            NO_LISTING
        } else {
            UNREACHABLE
        };
        error.help(help)
    })?;
    // The page may have been truncated.
    let none = |reason| FetchError {
        address: address.to_owned(),
        status: Some(200),
        reason,
        is_transient: true,
    };
    bucket::page(&text).map_err(|reason| AttemptError::from(none(reason)).help(UNREACHABLE))
}

impl fmt::Display for ArtifactStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(directory) => write!(f, "{}", directory.display()),
            Self::Bucket {
                address, directory, ..
            } => write!(f, "{address}/{directory}"),
        }
    }
}
