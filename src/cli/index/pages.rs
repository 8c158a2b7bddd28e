//! The directory of the pages: its contents, and its replacement as a whole.

use std::collections::BTreeMap;
use std::path::Path;

use rayon::prelude::*;

use super::input::normal;
use super::{Diagnostic, Exit, Location, Sink, codes, in_place, machine};
use crate::bytes::start_threads;
use crate::cli::assets::metadata_path;
use crate::cli::limits::MAX_INDEX_PAGE_BYTES;
use crate::cli::release_folder::digest;
use crate::codes::host;
use crate::index::{self, GENERATOR, IndexFile, SimpleRepository, metadata_in};
use crate::names::{Digest, YankedFiles};
use crate::sys::{self, DirectorySwap, FileError, PositionalFile};
use crate::wheel::read_metadata;

/// Every file below the directory with its contents; `None` if it is not a page.
pub(super) type Present = BTreeMap<String, Option<Vec<u8>>>;

/// Reads the directory.
///
/// # Errors
/// The directory cannot be read.
pub(super) fn present(out: &Path) -> Result<Present, FileError> {
    let listed = sys::list_files(out)?.unwrap_or_default();
    start_threads();
    let read = listed.into_par_iter().map(|(name, size)| {
        let bytes = size.and_then(|_| sys::read_bytes(&out.join(&name), MAX_INDEX_PAGE_BYTES).ok());
        (name, bytes)
    });
    Ok(read.collect())
}

/// Returns the yanked files on these pages of an index.
///
/// # Errors
/// A page that may have yanked files cannot be read.
pub(super) fn withdrawn(
    index: &Path,
    present: &Present,
    sink: &mut Sink,
) -> Result<YankedFiles, Exit> {
    let mut all = YankedFiles::default();
    for (name, bytes) in present
        .iter()
        .filter(|(name, _)| name.ends_with("/index.json"))
    {
        let found = match bytes {
            // Most pages have no yanked files and need not be parsed.
            Some(bytes) if memchr::memmem::find(bytes, b"\"yanked\"").is_none() => continue,
            Some(bytes) => index::withdrawn_in(&String::from_utf8_lossy(bytes))
                .map_err(|error| error.to_string()),
            None => Err(format!(
                "not a readable file of at most {MAX_INDEX_PAGE_BYTES} bytes"
            )),
        };
        match found {
            Ok(found) => all.extend(found),
            Err(error) => {
                let page = index.join(name).display().to_string();
                sink.push(
                    Diagnostic::new(
                        &codes::NOT_AN_INDEX,
                        format!("cannot read the yanked files of `{page}`: {error}"),
                    )
                    .at(Location::File(page.into()), "")
                    .help(
                        "restore the page, or delete the index, build it and yank the files again",
                    ),
                );
                return Err(Exit::Fault);
            }
        }
    }
    Ok(all)
}

/// Returns the yanked files of the index in this directory; `None` if it has no index of this
/// program.
///
/// # Errors
/// As [`withdrawn`].
pub(in crate::cli) fn withdrawn_in(
    index: &Path,
    sink: &mut Sink,
) -> Result<Option<YankedFiles>, Exit> {
    let Some(present) = present(index).ok().filter(|_| is_index(index)) else {
        return Ok(None);
    };
    withdrawn(index, &present, sink).map(Some)
}

/// Whether this is the landing page of an index that this program wrote.
fn is_landing(text: &str) -> bool {
    text.contains(&format!("content=\"{GENERATOR}\""))
}

/// Whether this directory has an index of this program that lists files.
pub(super) fn offers_files(out: &Path) -> bool {
    is_index(out) && sys::subdirectories(out).is_ok_and(|folders| !folders.is_empty())
}

/// Whether this directory has an index of this program.
fn is_index(out: &Path) -> bool {
    is_landing(&sys::read_text(&out.join("index.html"), MAX_INDEX_PAGE_BYTES).unwrap_or_default())
}

/// Writes the missing METADATA files next to the wheels of the directory and returns their number.
/// They are written before the pages that link to them.
pub(super) fn write_metadata(
    files: &[IndexFile],
    folder: &Path,
    sink: &mut Sink,
) -> Result<usize, Exit> {
    let expected =
        |file: &IndexFile| Some((folder.join(&file.name), file.metadata.as_ref()?.digest));
    start_threads();
    let here = files
        .par_iter()
        .filter(|file| file.origin.is_none())
        .filter_map(expected);
    let written: Result<Vec<bool>, Diagnostic> = here
        .map(|(wheel, digest)| write_beside(&wheel, digest))
        .collect();
    written
        .map(|all| all.into_iter().filter(|one| *one).count())
        .map_err(|error| {
            sink.push(error.note("the index was not changed"));
            Exit::Machine
        })
}

/// Writes the METADATA of a wheel next to it unless it exists, and returns whether it was written.
/// A symbolic link is replaced.
fn write_beside(wheel: &Path, expected: Digest) -> Result<bool, Diagnostic> {
    let path = metadata_path(wheel);
    let is_there = sys::is_regular_file(&path)
        && sys::read_bytes(&path, MAX_INDEX_PAGE_BYTES)
            .is_ok_and(|bytes| digest(&bytes) == expected);
    if is_there {
        return Ok(false);
    }
    let source = PositionalFile::open(wheel)?;
    let bytes =
        read_metadata(&source).map_err(|error| error.diagnostic(&wheel.display().to_string()))?;
    if digest(&bytes) != expected {
        let message = format!(
            "`{}` was changed while its index was built",
            wheel.display()
        );
        return Err(Diagnostic::new(&host::CANNOT_READ_FILE, message).help("run it again"));
    }
    sys::replace_file(&path, &bytes)?;
    Ok(true)
}

/// Whether the directory has exactly these pages.
pub(super) fn are(made: &SimpleRepository, present: &Present) -> bool {
    made.pages.len() == present.len()
        && made
            .pages
            .iter()
            .all(|(name, bytes)| present.get(name).and_then(Option::as_ref) == Some(bytes))
}

/// Replaces the pages unless nothing changed, and returns the number of written ones. `folder` is
/// the directory of the wheels; METADATA files of deleted wheels are removed from it before the old
/// pages.
pub(super) fn write(
    made: &SimpleRepository,
    present: &Present,
    folder: Option<&Path>,
    swap: DirectorySwap,
    sink: &mut Sink,
) -> Result<usize, Exit> {
    let same = |name: &String, bytes: &Vec<u8>| {
        present
            .get(name)
            .is_some_and(|there| there.as_ref() == Some(bytes))
    };
    let written = made
        .pages
        .iter()
        .filter(|(name, bytes)| !same(name, bytes))
        .count();
    if written == 0 && present.len() == made.pages.len() {
        return Ok(0);
    }
    let staging = swap.stage().map_err(|error| in_place(&error, sink))?;
    let stage = |(name, bytes): (&String, &Vec<u8>)| {
        if same(name, bytes) {
            staging.keep(name).map(drop)
        } else {
            staging.write(name, bytes)
        }
    };
    start_threads();
    let staged: Result<(), FileError> = made.pages.par_iter().try_for_each(stage);
    staged.map_err(|error| as_it_was(error, sink))?;
    if let Some(folder) = folder {
        remove_stale(folder, present).map_err(|error| as_it_was(error, sink))?;
    }
    staging.commit().map_err(|error| in_place(&error, sink))?;
    Ok(written.max(1))
}

/// Removes the METADATA files of deleted wheels. Only files whose digest is on the present pages
/// are removed, because only those were written by this program and not changed since.
fn remove_stale(folder: &Path, present: &Present) -> Result<(), FileError> {
    let names = sys::entry_names(folder)?;
    let wheels = names
        .iter()
        .filter_map(|name| name.strip_suffix(".metadata"));
    let orphans: Vec<&str> = wheels
        .filter(|wheel| {
            names
                .binary_search_by(|name| name.as_str().cmp(wheel))
                .is_err()
        })
        .collect();
    if orphans.is_empty() {
        return Ok(());
    }
    let pages = present
        .iter()
        .filter(|(name, _)| name.ends_with("/index.json"));
    let texts = pages.filter_map(|(_, bytes)| std::str::from_utf8(bytes.as_ref()?).ok());
    let ours: BTreeMap<String, Digest> = texts
        .flat_map(|text| metadata_in(text).unwrap_or_default())
        .collect();
    for wheel in orphans {
        let Some(expected) = ours.get(wheel) else {
            continue;
        };
        let path = folder.join(format!("{wheel}.metadata"));
        if sys::read_bytes(&path, MAX_INDEX_PAGE_BYTES)
            .is_ok_and(|bytes| digest(&bytes) == *expected)
        {
            sys::remove(&path)?;
        }
    }
    Ok(())
}

/// Reports a file that cannot be written, and that the index was not changed.
fn as_it_was(error: FileError, sink: &mut Sink) -> Exit {
    sink.push(Diagnostic::from(error).note("the index was not changed"));
    Exit::Machine
}

/// Checks that the directory of the pages, which will be replaced, is new, empty or an index of
/// this program.
pub(super) fn check_out(out: &Path, folder: Option<&Path>, sink: &mut Sink) -> Result<(), Exit> {
    let present = sys::list_files(out)
        .map_err(|e| machine(e, sink))?
        .unwrap_or_default();
    let is_page = |name: &str| matches!(name.rsplit('/').next(), Some("index.html" | "index.json"));
    let ours = is_index(out) && present.iter().all(|(name, _)| is_page(name));
    let what = if folder.is_some_and(|folder| normal(folder).starts_with(&normal(out))) {
        "contains the wheels; the pages need a separate directory"
    } else if present.is_empty() || ours {
        return Ok(());
    } else {
        "contains files that are not an index of this program"
    };
    sink.push(
        Diagnostic::new(&codes::CANNOT_INDEX, format!("`{}` {what}", out.display()))
            .at(Location::Argument("--out".to_owned()), "")
            .help("use a new directory with `--out`"),
    );
    Ok(())
}
