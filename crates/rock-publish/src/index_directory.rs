//! The directory of the pages of an index: its contents, and its replacement as a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use rayon::prelude::*;
use rock_bytes::start_threads;
use rock_diagnostic::codes::host;
use rock_diagnostic::{Diagnostic, Diagnostics, ExitClass, Location};
use rock_index::{BaseUrl, GENERATOR, IndexFile, PageRow, SimpleRepository, YankStatus, page_rows};
use rock_names::{Digest, YankedFiles};
use rock_sys::{
    DirectorySwap, FileError, PositionalFile, StagingDirectory, entry_names, is_regular_file,
    list_files, read_bytes, read_text, real_path, remove, replace_file, subdirectories,
};
use rock_wheel::read_metadata;

use crate::codes::release as codes;
use crate::file_errors::{machine_error, not_replaceable};
use crate::{metadata_path, sha256};

/// Maximum size of an index page: about 100,000 files.
const MAX_PAGE_BYTES: u64 = 64 << 20;
/// Suffix of the METADATA file next to a wheel (PEP 658).
pub(super) const METADATA_SUFFIX: &str = ".metadata";

/// The files in the directory of an index.
#[derive(Debug, Clone)]
pub struct IndexDirectory {
    path: PathBuf,
    /// Every file below the directory with its contents; `None` if it is not a page.
    files: BTreeMap<String, Option<Vec<u8>>>,
}

impl IndexDirectory {
    /// Reads the directory, which may be missing.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn read(path: &Path) -> Result<Self, Diagnostics> {
        read_files(path).map_err(machine_error)
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether it has no files.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns whether it has the pages of an index with this name.
    pub(crate) fn has_folder(&self, name: &str) -> bool {
        self.files.contains_key(&format!("{name}/index.html"))
    }

    /// Returns whether it has exactly these pages.
    pub fn has_pages(&self, repository: &SimpleRepository) -> bool {
        repository.pages.len() == self.files.len()
            && repository
                .pages
                .iter()
                .all(|(name, bytes)| self.has_page(name, bytes))
    }

    /// Returns the base URL of the links on its pages; `None` if they are relative.
    pub(crate) fn base_url(&self) -> Option<BaseUrl> {
        let row = self.rows().next()?;
        let (base, _) = row.url.rsplit_once('/')?;
        base.parse().ok()
    }

    /// Returns whether its pages announce METADATA of any file.
    pub(crate) fn has_metadata(&self) -> bool {
        self.rows().any(|row| row.metadata.is_some())
    }

    /// Returns the yanked files on its pages.
    ///
    /// # Errors
    /// A page that may have yanked files cannot be read.
    pub fn yanked_files(&self) -> Result<YankedFiles, Diagnostics> {
        let mut all = YankedFiles::default();
        for (name, bytes) in self.project_pages() {
            let found = match bytes {
                // Most pages have no yanked files and need not be parsed.
                Some(bytes) if memchr::memmem::find(bytes, b"\"yanked\"").is_none() => continue,
                Some(bytes) => page_rows(bytes).map_err(|error| error.to_string()),
                None => Err(format!(
                    "not a readable file of at most {MAX_PAGE_BYTES} bytes"
                )),
            };
            match found {
                Ok(rows) => all.extend(rows.into_iter().filter_map(yanked_file)),
                Err(error) => return Err(self.unreadable_page(name, &error).into()),
            }
        }
        Ok(all)
    }

    /// Replaces the pages unless nothing changed, and returns the number of written ones.
    ///
    /// # Errors
    /// Something cannot be written; the pages are then unchanged.
    pub fn replace(
        &self,
        repository: &SimpleRepository,
        swap: DirectorySwap,
    ) -> Result<usize, Diagnostics> {
        let written = repository
            .pages
            .iter()
            .filter(|(name, bytes)| !self.has_page(name, bytes))
            .count();
        if written == 0 && self.files.len() == repository.pages.len() {
            return Ok(0);
        }
        let staging = swap.stage().map_err(|error| not_replaceable(&error))?;
        start_threads();
        repository
            .pages
            .par_iter()
            .try_for_each(|(name, bytes)| self.stage(&staging, name, bytes))
            .map_err(index_unchanged)?;
        staging.commit().map_err(|error| not_replaceable(&error))?;
        Ok(written.max(1))
    }

    fn has_page(&self, name: &str, bytes: &[u8]) -> bool {
        self.files.get(name).and_then(Option::as_deref) == Some(bytes)
    }

    /// Returns the JSON pages of projects; `None` for those that cannot be read.
    fn project_pages(&self) -> impl Iterator<Item = (&str, Option<&[u8]>)> {
        self.files
            .iter()
            .filter(|(name, _)| name.ends_with("/index.json"))
            .map(|(name, bytes)| (name.as_str(), bytes.as_deref()))
    }

    /// Returns the files on its pages of projects, except those of pages that cannot be read.
    fn rows(&self) -> impl Iterator<Item = PageRow> {
        self.project_pages()
            .filter_map(|(_, bytes)| page_rows(bytes?).ok())
            .flatten()
    }

    fn unreadable_page(&self, name: &str, error: &str) -> Diagnostic {
        let page = self.path.join(name).display().to_string();
        Diagnostic::new(
            &codes::NOT_AN_INDEX,
            format!("cannot read the yanked files of `{page}`: {error}"),
        )
        .at(Location::File(page.into()), "")
        .help("restore the page, or delete the index, build it and yank the files again")
    }

    fn stage(&self, staging: &StagingDirectory, name: &str, bytes: &[u8]) -> Result<(), FileError> {
        if self.has_page(name, bytes) {
            staging.keep(name).map(drop)
        } else {
            staging.write(name, bytes)
        }
    }

    /// Removes the METADATA files of deleted wheels from the directory of the wheels, and returns
    /// their number. Files whose digest is not on these pages stay, because this program did not
    /// write them or they were changed since.
    ///
    /// # Errors
    /// The directory cannot be read, or a file cannot be removed.
    pub fn remove_orphaned_metadata(&self, wheels: &Path) -> Result<usize, Diagnostics> {
        let names = entry_names(wheels).map_err(machine_error)?;
        let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        let orphans: BTreeSet<&str> = names
            .iter()
            .filter_map(|name| name.strip_suffix(METADATA_SUFFIX))
            .filter(|wheel| !names.contains(wheel))
            .collect();
        if orphans.is_empty() {
            return Ok(0);
        }
        let mut removed_count = 0;
        for row in self.rows() {
            let name = row.filename.as_str();
            if let Some(digest) = row.metadata.filter(|_| orphans.contains(name)) {
                let path = metadata_path(&wheels.join(name));
                if has_digest(&path, digest) {
                    remove(&path).map_err(machine_error)?;
                    removed_count += 1;
                }
            }
        }
        Ok(removed_count)
    }
}

/// Returns the entry of a file on a page if it is yanked.
fn yanked_file(row: PageRow) -> Option<(String, Option<Digest>, String)> {
    match row.yanked {
        YankStatus::No => None,
        YankStatus::Because(reason) => Some((row.filename, row.digest, reason)),
    }
}

/// Returns the yanked files of the index in this directory; `None` if it has no index of this
/// program.
///
/// # Errors
/// A page that may have yanked files cannot be read.
pub fn read_yanked_files(index: &Path) -> Result<Option<YankedFiles>, Diagnostics> {
    match read_files(index) {
        Ok(directory) if is_index(index) => directory.yanked_files().map(Some),
        _ => Ok(None),
    }
}

/// Checks that the directory of the pages, which will be replaced, is new, empty or an index of
/// this program, and does not contain the directory of the `wheels`. Returns the diagnostic for one
/// that is not.
///
/// # Errors
/// The directory cannot be read.
pub fn check_index_target(
    out: &Path,
    wheels: Option<&Path>,
) -> Result<Option<Diagnostic>, Diagnostics> {
    let files = list_files(out).map_err(machine_error)?.unwrap_or_default();
    let problem = if wheels.is_some_and(|wheels| is_below(wheels, out)) {
        "contains the wheels; the pages need a separate directory"
    } else if files.is_empty()
        || (is_index(out) && files.iter().all(|(name, _)| is_page_name(name)))
    {
        return Ok(None);
    } else {
        "contains files that are not an index of this program"
    };
    Ok(Some(
        Diagnostic::new(
            &codes::CANNOT_INDEX,
            format!("`{}` {problem}", out.display()),
        )
        .at(Location::Argument("--out".to_owned()), "")
        .help("use a new directory with `--out`"),
    ))
}

/// Whether a path is a directory or below it. Neither has to exist.
pub fn is_below(path: &Path, directory: &Path) -> bool {
    components(path).starts_with(&components(directory))
}

/// Returns the relative path from one directory to another, as names.
pub fn relative_steps(from: &Path, to: &Path) -> Vec<String> {
    let (from, to) = (components(from), components(to));
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    std::iter::repeat_n("..".to_owned(), from.len() - shared)
        .chain(to[shared..].iter().cloned())
        .collect()
}

/// Writes the missing METADATA files next to the wheels of the directory and returns their number.
/// They are written before the pages that link to them.
///
/// # Errors
/// A wheel cannot be read or was changed, or a file cannot be written.
pub fn write_metadata_files(files: &[IndexFile], wheels: &Path) -> Result<usize, Diagnostics> {
    start_threads();
    let written: Result<Vec<bool>, Diagnostic> = files
        .par_iter()
        .filter(|file| file.origin.is_none())
        .filter_map(|file| Some((wheels.join(&file.name), file.metadata.as_ref()?.digest)))
        .map(|(wheel, digest)| write_metadata_file(&wheel, digest))
        .collect();
    match written {
        Ok(written) => Ok(written.into_iter().filter(|is_written| *is_written).count()),
        Err(error) => Err(Diagnostics::from(error.note("the index was not changed"))
            .exits_with(ExitClass::Machine)),
    }
}

/// Clears the METADATA of the wheels in a directory that is not next to them, so that pages do not
/// announce it. Files of another origin are unchanged.
pub fn clear_missing_metadata(files: &mut [IndexFile], wheels: &Path) {
    start_threads();
    files
        .par_iter_mut()
        .filter(|file| file.origin.is_none())
        .for_each(|file| {
            let path = metadata_path(&wheels.join(&file.name));
            let metadata = file.metadata.take().filter(|_| is_regular_file(&path));
            file.metadata = metadata.filter(|metadata| has_digest(&path, metadata.digest));
        });
}

/// Returns whether this directory has an index of this program that lists files.
pub fn lists_files(index: &Path) -> bool {
    is_index(index) && subdirectories(index).is_ok_and(|found| !found.is_empty())
}

/// Adds to the diagnostic for an input without files that the index was not changed. An empty input
/// is usually a mistake, so an index that lists files is not emptied, and its yanks are kept.
#[must_use]
pub fn index_kept(none: Diagnostic, index: &Path) -> Diagnostic {
    let index = index.display();
    none.note(format!(
        "`{index}` was not changed and still lists its files"
    ))
    .help(format!("delete `{index}` if it should list nothing"))
}

fn read_files(path: &Path) -> Result<IndexDirectory, FileError> {
    let listed = list_files(path)?.unwrap_or_default();
    start_threads();
    let files = listed
        .into_par_iter()
        .map(|(name, size)| {
            let bytes = size.and_then(|_| read_bytes(&path.join(&name), MAX_PAGE_BYTES).ok());
            (name, bytes)
        })
        .collect();
    Ok(IndexDirectory {
        path: path.to_owned(),
        files,
    })
}

/// Writes the METADATA of a wheel next to it unless it exists, and returns whether it was written.
/// A symbolic link is replaced.
fn write_metadata_file(wheel: &Path, expected: Digest) -> Result<bool, Diagnostic> {
    let path = metadata_path(wheel);
    if is_regular_file(&path) && has_digest(&path, expected) {
        return Ok(false);
    }
    let source = PositionalFile::open(wheel)?;
    let bytes =
        read_metadata(&source).map_err(|error| error.diagnostic(&wheel.display().to_string()))?;
    if sha256(&bytes) != expected {
        let message = format!(
            "`{}` was changed while its index was built",
            wheel.display()
        );
        return Err(Diagnostic::new(&host::CANNOT_READ_FILE, message).help("run it again"));
    }
    replace_file(&path, &bytes)?;
    Ok(true)
}

/// Returns whether a METADATA file exists and has this digest.
pub(crate) fn has_digest(path: &Path, expected: Digest) -> bool {
    read_bytes(path, MAX_PAGE_BYTES).is_ok_and(|bytes| sha256(&bytes) == expected)
}

/// Whether this directory has an index of this program.
pub(crate) fn is_index(directory: &Path) -> bool {
    read_text(&directory.join("index.html"), MAX_PAGE_BYTES)
        .is_ok_and(|text| text.contains(&format!("content=\"{GENERATOR}\"")))
}

fn is_page_name(name: &str) -> bool {
    matches!(name.rsplit('/').next(), Some("index.html" | "index.json"))
}

/// Returns the components of an absolute path without `.` and `..`. Symbolic links are resolved as
/// far as the path exists.
fn components(path: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for part in real_path(path).components() {
        match part {
            Component::Normal(name) => names.push(name.to_string_lossy().into_owned()),
            Component::ParentDir => drop(names.pop()),
            _ => {}
        }
    }
    names
}

/// Returns the error for a file that cannot be written, after which the index is unchanged.
fn index_unchanged(error: FileError) -> Diagnostics {
    Diagnostics::from(Diagnostic::from(error).note("the index was not changed"))
        .exits_with(ExitClass::Machine)
}
