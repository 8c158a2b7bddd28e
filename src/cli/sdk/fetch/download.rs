//! Archives on their way to this machine.

use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::store::Store;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::registry::facts::CANNOT_FETCH;
use crate::diagnostic::registry::sdk as codes;
use crate::names::Digest;
use crate::sdk::bucket::{LARGEST_SUM_BYTES, Published, SUM, sum_in};
use crate::sys::{self, FileError};
use crate::wheel::Meter;

/// How long is waited before the second and the third try.
const WAITS: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(4)];

/// Fetches one archive, unless it is there and whole; it has its name only once it is whole. Tells whether it was fetched.
///
/// # Errors
/// When it cannot be fetched, or is not what was published.
pub(super) fn fetched(
    store: &Store,
    published: &Published,
    path: &Path,
    meter: &Meter<'_>,
) -> Result<bool, Diagnostic> {
    let sum = if published.has_sum { Some(tried(store, || sum(store, published))?) } else { None };
    if let (Some(sum), Some((size_bytes, _))) = (&sum, sys::stamp(path))
        && size_bytes == published.size_bytes
        && sys::digest_of(path)?.1 == *sum
    {
        meter.add(size_bytes);
        return Ok(false);
    }
    tried(store, || save(store, published, sum, path, meter)).map(|()| true)
}

/// Tries again where what failed may go well another time.
fn tried<T>(store: &Store, work: impl Fn() -> Result<T, Diagnostic>) -> Result<T, Diagnostic> {
    let waits: &[Duration] = if store.is_remote() { &WAITS } else { &[] };
    for wait in waits {
        match work() {
            // What is not there, and a full disk, time does not mend.
            Err(fault) if fault.code == &CANNOT_FETCH && !is_final(&fault) => {
                std::thread::sleep(*wait);
            }
            done => return done,
        }
    }
    work()
}

fn is_final(fault: &Diagnostic) -> bool {
    ["answers 403", "answers 404"].iter().any(|words| fault.message.ends_with(words))
}

/// The digest that is published beside an archive.
fn sum(store: &Store, published: &Published) -> Result<Digest, Diagnostic> {
    let file = format!("{}{SUM}", published.file());
    let mut text = String::new();
    store
        .open(&file)?
        .take(LARGEST_SUM_BYTES)
        .read_to_string(&mut text)
        .map_err(|error| broken(store, &file, &error))?;
    sum_in(&text).map_err(|said| {
        Diagnostic::new(&codes::BAD_ARTIFACT, format!("`{said}` is no SHA-256 digest"))
            .at(store.place_of(&file), "")
            .help("an archive that nothing vouches for is not taken; ask the run's owners, or take another run")
    })
}

fn save(
    store: &Store,
    published: &Published,
    sum: Option<Digest>,
    path: &Path,
    meter: &Meter<'_>,
) -> Result<(), Diagnostic> {
    let file = published.file();
    let mut source = store.open(&file)?;
    let mut fault = None;
    let written = sys::write_streamed(path, |out| {
        let (mut hash, mut size_bytes, mut buffer) = (Sha256::new(), 0_u64, vec![0; 256 << 10]);
        loop {
            match source.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => {
                    out.write_all(&buffer[..read])?;
                    hash.update(&buffer[..read]);
                    size_bytes += read as u64;
                    meter.add(read as u64);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    fault = Some(broken(store, &file, &error));
                    return Err(io::ErrorKind::Other.into());
                }
            }
        }
        let is = Digest::new(hash.finalize().into());
        let other = if size_bytes != published.size_bytes {
            format!("it has {size_bytes} bytes instead of {}", published.size_bytes)
        } else if sum.is_some_and(|sum| sum != is) {
            format!("its SHA-256 is {}, and not the one beside it", is.to_hex())
        } else {
            return Ok(());
        };
        fault = Some(
            Diagnostic::new(&codes::BAD_ARTIFACT, format!("the archive is not what was published: {other}"))
                .at(store.place_of(&file), "")
                .help("fetch it again; where it stays so, it is damaged where it is kept"),
        );
        Err(io::ErrorKind::Other.into())
    });
    match (fault, written) {
        (Some(fault), _) => Err(fault),
        (None, written) => written.map_err(Diagnostic::from),
    }
}

fn broken(store: &Store, file: &str, error: &io::Error) -> Diagnostic {
    match store {
        Store::Folder(folder) => {
            FileError { action: "read", path: folder.join(file), reason: error.to_string(), source: None }.into()
        }
        Store::Bucket { .. } => {
            let place = store.place_of(file);
            Diagnostic::new(&CANNOT_FETCH, format!("the file ended too early: {error}"))
                .at(place, "")
                .help("run it again: what came whole is kept")
        }
    }
}
