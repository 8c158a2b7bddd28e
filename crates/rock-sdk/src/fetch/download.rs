//! Downloads of archives.

use std::io::{self, Read as _, Write};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::retry::{AttemptError, Retries, retry};
use super::store::ArtifactStore;
use crate::bucket::{BucketArchive, SUM, path_of_sum, sum_in, sum_line};
use crate::codes::sdk as codes;
use crate::limits::MAX_SUM_BYTES;
use rock_bytes::read_to_string_limited;
use rock_diagnostic::Diagnostic;
use rock_names::Digest;
use rock_sys::FileError;
use rock_sys::codes::facts::CANNOT_FETCH;
use rock_sys::fetch::ResponseBody;
use rock_wheel::ProgressMeter;

/// A complete archive on this machine.
#[derive(Debug, Clone, Copy)]
pub(super) struct DownloadedArchive {
    pub(super) digest: Digest,
    /// False if it already existed.
    pub(super) is_new: bool,
}

/// Downloads an archive, unless it exists with the published digest. Writes the published digest
/// into a file next to it. An incomplete archive never has the name of the archive.
///
/// # Errors
/// When it cannot be downloaded or does not match what was published.
pub(super) fn download(
    store: &ArtifactStore,
    published: &BucketArchive,
    sum: Option<Digest>,
    path: &Path,
    meter: &ProgressMeter<'_>,
) -> Result<DownloadedArchive, Diagnostic> {
    let checksum_path = path_of_sum(path);
    let line = |sum: Digest| sum_line(sum, &published.file());
    if let (Some(sum), Some((size_bytes, _))) = (sum, rock_sys::size_and_mtime(path))
        && size_bytes == published.size_bytes
        && rock_sys::hash_file(path)?.1 == sum
    {
        meter.add(size_bytes);
        rock_sys::replace_if_changed(&checksum_path, line(sum).as_bytes())?;
        return Ok(DownloadedArchive {
            digest: sum,
            is_new: false,
        });
    }
    // It may be the digest of another archive.
    rock_sys::remove(&checksum_path)?;
    let digest = download_with_retries(store, published, sum, path, meter)?;
    if let Some(sum) = sum {
        rock_sys::replace_file(&checksum_path, line(sum).as_bytes())?;
    }
    Ok(DownloadedArchive {
        digest,
        is_new: true,
    })
}

/// Removes an archive and the file with its digest.
///
/// # Errors
/// When one of them cannot be removed.
pub(super) fn remove_archive(path: &Path) -> Result<(), FileError> {
    rock_sys::remove(path)?;
    rock_sys::remove(&path_of_sum(path))
}

/// Fetches the published digest of an archive, if there is one.
///
/// # Errors
/// When it cannot be fetched or is invalid.
pub(super) fn fetch_digest(
    store: &ArtifactStore,
    published: &BucketArchive,
) -> Result<Option<Digest>, Diagnostic> {
    if !published.has_sum {
        return Ok(None);
    }
    let file = format!("{}{SUM}", published.file());
    retry(|| {
        let (source, _) = store.open(&file)?;
        let text = read_to_string_limited(source, MAX_SUM_BYTES)
            .map_err(|error| interrupted(store, &file, 0, &error))?;
        sum_in(&text).map_err(|word| AttemptError {
            diagnostic: bad_digest(store, &file, word),
            is_transient: store.is_remote(),
            is_missing: false,
        })
    })
    .map(Some)
    .map_err(|error| error.diagnostic)
}

/// Returns the error of a file that does not start with a digest.
fn bad_digest(store: &ArtifactStore, file: &str, word: &str) -> Diagnostic {
    let message = format!("`{word}` is not a SHA-256 digest");
    Diagnostic::new(&codes::BAD_ARTIFACT, message)
        .at(store.file_location(file), "")
        .help(
            "an archive without a valid digest is not used; report this to the owners of the run, \
             or fetch another run",
        )
}

/// Downloads an archive with retries, which continue at the last byte if the store supports that.
fn download_with_retries(
    store: &ArtifactStore,
    published: &BucketArchive,
    sum: Option<Digest>,
    path: &Path,
    meter: &ProgressMeter<'_>,
) -> Result<Digest, Diagnostic> {
    let file = published.file();
    let mut retries = Retries::new();
    let mut counted = ProgressCounter {
        meter,
        most_bytes: 0,
    };
    loop {
        let mut partial = PartialDownload {
            store,
            published,
            file: &file,
            hash: Sha256::new(),
            size_bytes: 0,
        };
        let mut outcome = None;
        let written = rock_sys::write_streamed(path, |out| {
            match partial.receive(out, sum, &mut retries, &mut counted) {
                Err(DownloadError::Write(error)) => Err(error),
                other => {
                    let is_whole = other.is_ok();
                    outcome = Some(other);
                    if is_whole {
                        Ok(())
                    } else {
                        Err(io::ErrorKind::Other.into())
                    }
                }
            }
        });
        match outcome {
            Some(Err(DownloadError::NotResumable)) => {}
            Some(Err(DownloadError::Read(error))) if retries.wait_after(&error) => {}
            Some(Err(DownloadError::Read(error))) => return Err(error.diagnostic),
            Some(Ok(digest)) => return written.map(|()| digest).map_err(Diagnostic::from),
            Some(Err(DownloadError::Write(_))) | None => written?,
        }
    }
}

/// Counts the bytes of an archive, but not those that are received again.
struct ProgressCounter<'m> {
    meter: &'m ProgressMeter<'m>,
    most_bytes: u64,
}

impl ProgressCounter<'_> {
    fn record(&mut self, bytes: u64) {
        self.meter.add(bytes.saturating_sub(self.most_bytes));
        self.most_bytes = self.most_bytes.max(bytes);
    }
}

/// The reason for which an attempt ended.
enum DownloadError {
    /// The server does not send the rest of this version: the download starts at the first byte.
    NotResumable,
    Read(AttemptError),
    Write(io::Error),
}

impl From<AttemptError> for DownloadError {
    fn from(error: AttemptError) -> Self {
        Self::Read(error)
    }
}

/// The received part of an archive.
struct PartialDownload<'c> {
    store: &'c ArtifactStore,
    published: &'c BucketArchive,
    file: &'c str,
    hash: Sha256,
    size_bytes: u64,
}

impl PartialDownload<'_> {
    /// Receives all of the archive and resumes after broken connections.
    fn receive(
        &mut self,
        out: &mut dyn Write,
        sum: Option<Digest>,
        retries: &mut Retries,
        counted: &mut ProgressCounter<'_>,
    ) -> Result<Digest, DownloadError> {
        let (mut source, version) = self.store.open(self.file)?;
        while let Err(error) = self.receive_response(&mut source, out, counted)? {
            let mut error = interrupted(self.store, self.file, self.size_bytes, &error);
            retries.record_progress(self.size_bytes);
            let Some(version) = version.as_deref() else {
                return Err(DownloadError::Read(error));
            };
            source = loop {
                if !retries.wait_after(&error) {
                    return Err(DownloadError::Read(error));
                }
                match self.store.open_rest(self.file, self.size_bytes, version) {
                    Ok(rest) => break rest.ok_or(DownloadError::NotResumable)?,
                    Err(other) => error = other,
                }
            };
        }
        self.verify(sum).map_err(DownloadError::Read)
    }

    /// Receives bytes until the response ends. The inner error is that of a broken connection.
    fn receive_response(
        &mut self,
        source: &mut ResponseBody,
        out: &mut dyn Write,
        counted: &mut ProgressCounter<'_>,
    ) -> Result<Result<(), io::Error>, DownloadError> {
        let mut buffer = vec![0; 256 << 10];
        // A response that is longer than published may not end.
        while self.size_bytes <= self.published.size_bytes {
            match source.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => {
                    out.write_all(&buffer[..read])
                        .map_err(DownloadError::Write)?;
                    self.hash.update(&buffer[..read]);
                    self.size_bytes += read as u64;
                    counted.record(self.size_bytes.min(self.published.size_bytes));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(()))
    }

    /// Checks the size and the digest.
    fn verify(&self, sum: Option<Digest>) -> Result<Digest, AttemptError> {
        let is = Digest::new(self.hash.clone().finalize().into());
        let (has, should) = (self.size_bytes, self.published.size_bytes);
        let other = match sum {
            _ if has > should => format!("it has more than {should} bytes"),
            _ if has < should => format!("it has {has} bytes instead of {should}"),
            Some(sum) if sum != is => {
                format!("its SHA-256 is {}, not the published one", is.to_hex())
            }
            _ => return Ok(is),
        };
        let diagnostic = Diagnostic::new(
            &codes::BAD_ARTIFACT,
            format!("the archive is not what was published: {other}"),
        )
        .at(self.store.file_location(self.file), "")
        .help("fetch it again; if the error persists, the published archive is damaged");
        Err(AttemptError {
            diagnostic,
            is_transient: self.store.is_remote(),
            is_missing: false,
        })
    }
}

/// Returns the error of a file that ended early.
fn interrupted(
    store: &ArtifactStore,
    file: &str,
    size_bytes: u64,
    error: &io::Error,
) -> AttemptError {
    match store {
        ArtifactStore::Directory(directory) => FileError {
            action: "read",
            path: directory.join(file),
            reason: error.to_string(),
            source: None,
        }
        .into(),
        ArtifactStore::Bucket { .. } => {
            let diagnostic = Diagnostic::new(
                &CANNOT_FETCH,
                format!("the download was interrupted after {size_bytes} bytes: {error}"),
            )
            .at(store.file_location(file), "")
            .help("run the command again: complete downloads are kept");
            AttemptError {
                diagnostic,
                is_transient: true,
                is_missing: false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::ProgressCounter;
    use rock_wheel::{ByteProgress, ProgressMeter};

    #[test]
    fn bytes_received_again_are_not_counted_twice() {
        let reported = Mutex::new(Vec::new());
        let watch = |progress: ByteProgress| reported.lock().unwrap().push(progress.done_bytes);
        let meter = ProgressMeter::new(10, &watch);
        let mut counted = ProgressCounter {
            meter: &meter,
            most_bytes: 0,
        };
        // A try that breaks after 6 of 10 bytes, and one from the start.
        for reached in [2, 6, 1, 6, 10] {
            counted.record(reached);
        }
        assert_eq!(reported.into_inner().unwrap(), [2, 6, 10]);
    }
}
