//! An archive on its way to this machine.

use std::io::{self, Read as _, Write};
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::store::Store;
use super::tries::{Fault, Tries, tried};
use crate::bytes::read_to_string_limited;
use crate::codes::facts::CANNOT_FETCH;
use crate::codes::sdk as codes;
use crate::diagnostic::Diagnostic;
use crate::fetch::ResponseBody;
use crate::names::Digest;
use crate::sdk::bucket::{BucketArchive, SUM, path_of_sum, sum_in, sum_line};
use crate::sdk::limits::MAX_SUM_BYTES;
use crate::sys::{self, FileError};
use crate::wheel::ProgressMeter;

/// An archive that is here and whole.
#[derive(Debug, Clone, Copy)]
pub(super) struct Here {
    /// Its digest.
    pub(super) digest: Digest,
    /// Whether it was fetched for this.
    pub(super) is_new: bool,
}

/// Fetches one archive, unless it is there and is what was published; it has its name only once it
/// is whole, and its digest lies beside it where that is published.
///
/// # Errors
/// When it cannot be fetched, or is not what was published.
pub(super) fn fetched(
    store: &Store,
    published: &BucketArchive,
    sum: Option<Digest>,
    path: &Path,
    meter: &ProgressMeter<'_>,
) -> Result<Here, Diagnostic> {
    let beside = path_of_sum(path);
    let line = |sum: Digest| sum_line(sum, &published.file());
    if let (Some(sum), Some((size_bytes, _))) = (sum, sys::size_and_mtime(path))
        && size_bytes == published.size_bytes
        && sys::hash_file(path)?.1 == sum
    {
        meter.add(size_bytes);
        sys::replace_if_changed(&beside, line(sum).as_bytes())?;
        return Ok(Here {
            digest: sum,
            is_new: false,
        });
    }
    // That of another archive vouches for nothing.
    sys::remove(&beside)?;
    let digest = saved(store, published, sum, path, meter)?;
    if let Some(sum) = sum {
        sys::replace_file(&beside, line(sum).as_bytes())?;
    }
    Ok(Here {
        digest,
        is_new: true,
    })
}

/// Removes an archive, and the digest beside it.
///
/// # Errors
/// When one of them cannot be removed.
pub(super) fn remove(path: &Path) -> Result<(), FileError> {
    sys::remove(path)?;
    sys::remove(&path_of_sum(path))
}

/// The digest that is published beside an archive, where there is one.
///
/// # Errors
/// When it cannot be fetched, or is none.
pub(super) fn sum(store: &Store, published: &BucketArchive) -> Result<Option<Digest>, Diagnostic> {
    if !published.has_sum {
        return Ok(None);
    }
    let file = format!("{}{SUM}", published.file());
    tried(|| {
        let (source, _) = store.open(&file)?;
        let text = read_to_string_limited(source, MAX_SUM_BYTES).map_err(|error| broken(store, &file, 0, &error))?;
        let bad = |said: &str| {
            Diagnostic::new(&codes::BAD_ARTIFACT, format!("`{said}` is no SHA-256 digest"))
                .at(store.place_of(&file), "")
                .help("an archive that nothing vouches for is not taken; ask the run's owners, or take another run")
        };
        sum_in(&text).map_err(|said| Fault { told: bad(said), is_transient: store.is_remote() })
    })
    .map(Some)
}

/// Writes an archive, in as many tries as there are; bytes that came are kept where the rest can be
/// had.
fn saved(
    store: &Store,
    published: &BucketArchive,
    sum: Option<Digest>,
    path: &Path,
    meter: &ProgressMeter<'_>,
) -> Result<Digest, Diagnostic> {
    let file = published.file();
    let mut tries = Tries::all();
    let mut counted = Counted {
        meter,
        most_bytes: 0,
    };
    loop {
        let mut coming = Coming {
            store,
            published,
            file: &file,
            hash: Sha256::new(),
            size_bytes: 0,
        };
        let mut came = None;
        let written = sys::write_streamed(path, |out| {
            match coming.all(out, sum, &mut tries, &mut counted) {
                Err(Stop::Write(error)) => Err(error),
                other => {
                    let is_whole = other.is_ok();
                    came = Some(other);
                    if is_whole {
                        Ok(())
                    } else {
                        Err(io::ErrorKind::Other.into())
                    }
                }
            }
        });
        match came {
            Some(Err(Stop::Anew)) => {}
            Some(Err(Stop::Read(fault))) if tries.again(&fault) => {}
            Some(Err(Stop::Read(fault))) => return Err(fault.told),
            Some(Ok(digest)) => return written.map(|()| digest).map_err(Diagnostic::from),
            Some(Err(Stop::Write(_))) | None => written?,
        }
    }
}

/// What is done of an archive, which bytes that come a second time are no part of.
struct Counted<'m> {
    meter: &'m ProgressMeter<'m>,
    most_bytes: u64,
}

impl Counted<'_> {
    fn reached(&mut self, bytes: u64) {
        self.meter.add(bytes.saturating_sub(self.most_bytes));
        self.most_bytes = self.most_bytes.max(bytes);
    }
}

/// Why an archive did not come.
enum Stop {
    /// It must come from its start.
    Anew,
    Read(Fault),
    Write(io::Error),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Read(fault)
    }
}

/// An archive as far as it came.
struct Coming<'c> {
    store: &'c Store,
    published: &'c BucketArchive,
    file: &'c str,
    hash: Sha256,
    size_bytes: u64,
}

impl Coming<'_> {
    /// Takes all of it, going on where the connection broke.
    fn all(
        &mut self,
        out: &mut dyn Write,
        sum: Option<Digest>,
        tries: &mut Tries,
        counted: &mut Counted<'_>,
    ) -> Result<Digest, Stop> {
        let (mut source, version) = self.store.open(self.file)?;
        while let Err(error) = self.take(&mut source, out, counted)? {
            let mut fault = broken(self.store, self.file, self.size_bytes, &error);
            tries.reached(self.size_bytes);
            let Some(version) = version.as_deref() else {
                return Err(Stop::Read(fault));
            };
            source = loop {
                if !tries.again(&fault) {
                    return Err(Stop::Read(fault));
                }
                match self.store.rest(self.file, self.size_bytes, version) {
                    Ok(rest) => break rest.ok_or(Stop::Anew)?,
                    Err(other) => fault = other,
                }
            };
        }
        self.checked(sum).map_err(Stop::Read)
    }

    /// Takes what comes until nothing more does: well, or because the connection broke.
    fn take(
        &mut self,
        source: &mut ResponseBody,
        out: &mut dyn Write,
        counted: &mut Counted<'_>,
    ) -> Result<Result<(), io::Error>, Stop> {
        let mut buffer = vec![0; 256 << 10];
        // What is longer than it says it is need not end.
        while self.size_bytes <= self.published.size_bytes {
            match source.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => {
                    out.write_all(&buffer[..read]).map_err(Stop::Write)?;
                    self.hash.update(&buffer[..read]);
                    self.size_bytes += read as u64;
                    counted.reached(self.size_bytes.min(self.published.size_bytes));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(()))
    }

    /// Whether it is what was published.
    fn checked(&self, sum: Option<Digest>) -> Result<Digest, Fault> {
        let is = Digest::new(self.hash.clone().finalize().into());
        let (has, should) = (self.size_bytes, self.published.size_bytes);
        let other = match sum {
            _ if has > should => format!("it has more than {should} bytes"),
            _ if has < should => format!("it has {has} bytes instead of {should}"),
            Some(sum) if sum != is => {
                format!("its SHA-256 is {}, and not the one beside it", is.to_hex())
            }
            _ => return Ok(is),
        };
        let told = Diagnostic::new(
            &codes::BAD_ARTIFACT,
            format!("the archive is not what was published: {other}"),
        )
        .at(self.store.place_of(self.file), "")
        .help("fetch it again; where it stays so, it is damaged where it is kept");
        Err(Fault {
            told,
            is_transient: self.store.is_remote(),
        })
    }
}

/// What is told where a file could not be read to its end.
fn broken(store: &Store, file: &str, size_bytes: u64, error: &io::Error) -> Fault {
    match store {
        Store::Folder(folder) => FileError {
            action: "read",
            path: folder.join(file),
            reason: error.to_string(),
            source: None,
        }
        .into(),
        Store::Bucket { .. } => {
            let told = Diagnostic::new(
                &CANNOT_FETCH,
                format!("the file broke off after {size_bytes} bytes: {error}"),
            )
            .at(store.place_of(file), "")
            .help("run it again: what came whole is kept");
            Fault {
                told,
                is_transient: true,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::Counted;
    use crate::wheel::{ByteProgress, ProgressMeter};

    #[test]
    fn bytes_that_come_a_second_time_are_not_counted_twice() {
        let told = Mutex::new(Vec::new());
        let watch = |progress: ByteProgress| told.lock().unwrap().push(progress.done_bytes);
        let meter = ProgressMeter::new(10, &watch);
        let mut counted = Counted {
            meter: &meter,
            most_bytes: 0,
        };
        // A try that breaks after 6 of 10 bytes, and one from the start.
        for reached in [2, 6, 1, 6, 10] {
            counted.reached(reached);
        }
        assert_eq!(told.into_inner().unwrap(), [2, 6, 10]);
    }
}
