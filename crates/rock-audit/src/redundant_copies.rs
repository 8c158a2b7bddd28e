//! Libraries that a wheel contains several times, as symbolic links become files when they are
//! packed.
//!
//! Input: the files of a wheel and its archive. Output: the groups of copies, and the redundant
//! copies.
//!
//! **Invariant:** copies are compared by SHA-256, and one file of each library stays.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use sha2::{Digest as _, Sha256};

use super::inspect::{InspectedFile, InspectedKind};
use super::library::ElfLibrary;
use super::limits::MAX_FILE_NAME_BYTES;
use super::pattern::LibraryPatterns;
use super::search_path::{installed, is_data};
use rock_bytes::start_threads;
use rock_wheel::{ProgressCallback, ProgressMeter, WheelError, ZipArchive, ZipMember};

/// A copy of a library that nothing loads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RedundantCopy {
    /// The path in the wheel.
    pub path: String,
    /// The path of the copy that stays.
    pub same_as: String,
    /// The size of each copy in bytes.
    pub size_bytes: u64,
}

/// Returns groups of libraries with the same size, CRC-32 and SONAME, sorted by the first path.
pub(super) fn copies(files: &[InspectedFile]) -> Vec<Vec<&InspectedFile>> {
    let mut groups: BTreeMap<(u64, u32, Option<&str>), Vec<&InspectedFile>> = BTreeMap::new();
    for file in files {
        if let InspectedKind::Library(library) = &file.kind {
            groups
                .entry((file.size_bytes, file.crc32, library.soname.as_deref()))
                .or_default()
                .push(file);
        }
    }
    let mut groups: Vec<Vec<&InspectedFile>> = groups
        .into_values()
        .filter(|group| group.len() > 1)
        .collect();
    groups.sort_by(|left, right| left[0].path.cmp(&right[0].path));
    groups
}

/// Returns copies of libraries whose file names occur in no file of the wheel: no library needs
/// them, and no file that loads libraries at run time names them. A copy named like its SONAME
/// stays, and so do extension modules, programs, libraries without a SONAME, those that `loaded`
/// matches, and those not installed next to the others.
///
/// Names that a program assembles at run time are not found.
///
/// # Errors
/// Returns an error if a member is damaged or cannot be read.
pub(crate) fn redundant_copies(
    archive: &ZipArchive<'_>,
    files: &[InspectedFile],
    loaded: &LibraryPatterns,
    progress: &ProgressCallback<'_>,
) -> Result<Vec<RedundantCopy>, WheelError> {
    let groups = split_by_digest(archive, copies(files))?;
    let searched: BTreeSet<&[u8]> = groups
        .iter()
        .flatten()
        .filter(|file| !must_stay(file, loaded))
        .map(|file| file_name(&file.path).as_bytes())
        .collect();
    if searched.is_empty() {
        return Ok(Vec::new());
    }
    let named = occurring_names(archive, &searched, progress)?;
    let mut redundant = Vec::new();
    for group in groups {
        let (mut kept, mut removed): (Vec<&InspectedFile>, Vec<&InspectedFile>) =
            group.into_iter().partition(|file| {
                must_stay(file, loaded) || named.contains(file_name(&file.path).as_bytes())
            });
        if kept.is_empty() {
            removed.sort_by_key(|file| (file_name(&file.path).len(), &file.path));
            kept.push(removed.remove(0));
        }
        redundant.extend(removed.into_iter().map(|file| RedundantCopy {
            path: file.path.clone(),
            same_as: kept[0].path.clone(),
            size_bytes: file.size_bytes,
        }));
    }
    redundant.sort_by(|left, right| left.path.cmp(&right.path));
    Ok(redundant)
}

/// Splits groups by the SHA-256 of their files.
fn split_by_digest<'f>(
    archive: &ZipArchive<'_>,
    groups: Vec<Vec<&'f InspectedFile>>,
) -> Result<Vec<Vec<&'f InspectedFile>>, WheelError> {
    start_threads();
    let mut same_digest = Vec::new();
    for group in groups {
        let digests: Vec<Option<[u8; 32]>> = group
            .par_iter()
            .map(|file| digest(archive, file))
            .collect::<Result<_, WheelError>>()?;
        let mut by_digest: BTreeMap<[u8; 32], Vec<&InspectedFile>> = BTreeMap::new();
        for (digest, file) in digests.into_iter().zip(group) {
            if let Some(digest) = digest {
                by_digest.entry(digest).or_default().push(file);
            }
        }
        same_digest.extend(by_digest.into_values().filter(|group| group.len() > 1));
    }
    Ok(same_digest)
}

/// Returns the SHA-256 of a file; `None` if the archive does not contain it.
fn digest(archive: &ZipArchive<'_>, file: &InspectedFile) -> Result<Option<[u8; 32]>, WheelError> {
    let Some(member) = archive.member(&file.path) else {
        return Ok(None);
    };
    let mut hasher = Sha256::new();
    archive.stream(member, &mut |bytes| hasher.update(bytes))?;
    Ok(Some(hasher.finalize().into()))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns whether a file stays although nothing names it.
fn must_stay(file: &InspectedFile, loaded: &LibraryPatterns) -> bool {
    let InspectedKind::Library(library) = &file.kind else {
        return true;
    };
    let ElfLibrary {
        soname: Some(soname),
        extension: None,
        interpreter: None,
        ..
    } = library.as_ref()
    else {
        return true;
    };
    let name = file_name(&file.path);
    let is_elsewhere = is_data(file.path.split('/').next().unwrap_or_default())
        && installed(&file.path) == file.path;
    let is_plain =
        name.len() <= MAX_FILE_NAME_BYTES && name.contains(".so") && name.bytes().all(is_name_byte);
    !is_plain || is_elsewhere || name == soname || loaded.has(name) || loaded.has(&file.path)
}

/// Returns those of the names that occur in some member. Those in dist-info do not count: RECORD lists every
/// file.
fn occurring_names<'n>(
    archive: &ZipArchive<'_>,
    names: &BTreeSet<&'n [u8]>,
    progress: &ProgressCallback<'_>,
) -> Result<BTreeSet<&'n [u8]>, WheelError> {
    let members: Vec<&ZipMember> = archive
        .members()
        .iter()
        .filter(|member| {
            let top = member.name().split('/').next();
            !member.is_dir() && !top.is_some_and(is_dist_info_name)
        })
        .collect();
    let meter = ProgressMeter::new(
        members.iter().map(|member| member.size_bytes()).sum(),
        progress,
    );
    let search = |member: &&ZipMember| {
        let mut search = NameSearch::new(names);
        archive.stream(member, &mut |bytes| {
            search.feed(bytes);
            meter.add(bytes.len() as u64);
        })?;
        Ok(search.finish())
    };
    start_threads();
    let found: Vec<BTreeSet<&[u8]>> = members
        .par_iter()
        .with_max_len(1)
        .map(search)
        .collect::<Result<_, WheelError>>()?;
    Ok(found.into_iter().flatten().collect())
}

fn is_dist_info_name(directory: &str) -> bool {
    directory.strip_suffix(".dist-info").is_some()
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.+-".contains(&byte)
}

/// A search for file names of libraries in a stream. A name counts if no further character of a
/// name follows; the bytes before it do not matter, because linkers merge strings with common
/// endings.
struct NameSearch<'a, 'n> {
    names: &'a BTreeSet<&'n [u8]>,
    lengths: BTreeSet<usize>,
    tail: Vec<u8>,
    found: BTreeSet<&'n [u8]>,
}

/// The common part of all names.
const ENDING: &[u8] = b".so";

impl<'a, 'n> NameSearch<'a, 'n> {
    fn new(names: &'a BTreeSet<&'n [u8]>) -> Self {
        let lengths = names.iter().map(|name| name.len()).collect();
        Self {
            names,
            lengths,
            tail: Vec::new(),
            found: BTreeSet::new(),
        }
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
        self.search(false);
        // A name and the byte after it may continue in the next chunk.
        let gone = self.tail.len().saturating_sub(2 * MAX_FILE_NAME_BYTES + 2);
        self.tail.drain(..gone);
    }

    fn finish(mut self) -> BTreeSet<&'n [u8]> {
        self.search(true);
        self.found
    }

    fn search(&mut self, is_end: bool) {
        let bytes = self.tail.as_slice();
        for position in memchr::memmem::find_iter(bytes, ENDING) {
            let rest = &bytes[position + ENDING.len()..];
            let more = rest
                .iter()
                .take(MAX_FILE_NAME_BYTES)
                .take_while(|byte| is_name_byte(**byte))
                .count();
            let is_cut = more == rest.len() && !is_end;
            if is_cut || more == MAX_FILE_NAME_BYTES {
                continue;
            }
            // A full stop after a name ends a sentence.
            let end = position + ENDING.len() + more;
            let stops = bytes[position + ENDING.len()..end]
                .iter()
                .rev()
                .take_while(|byte| **byte == b'.')
                .count();
            let end = end - stops;
            for length in self.lengths.iter().filter(|length| **length <= end) {
                if let Some(name) = self.names.get(&bytes[end - length..end]) {
                    self.found.insert(name);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_FILE_NAME_BYTES, NameSearch};
    use std::collections::BTreeSet;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let names: BTreeSet<&[u8]> = ["libx.so", "libx.so.1"].map(str::as_bytes).into();
        for chunk in [1, 3, 7, 4096] {
            let mut search = NameSearch::new(&names);
            text.as_bytes()
                .chunks(chunk)
                .for_each(|bytes| search.feed(bytes));
            let found: Vec<_> = search
                .finish()
                .into_iter()
                .map(|name| std::str::from_utf8(name).unwrap())
                .collect();
            assert_eq!(found, expect, "{text:?} in chunks of {chunk}");
        }
    }

    #[test]
    fn names_end_where_no_character_of_a_name_follows() {
        check("\0libx.so.1\0", &["libx.so.1"]);
        check("CDLL('libx.so')", &["libx.so"]);
        check("load libx.so. Then go", &["libx.so"]);
        check("at the end libx.so", &["libx.so"]);
        check("lib/liblibx.so.1", &["libx.so.1"]);
        check("libx.so.1.2 libx.sof libx.so_", &[]);
        check(
            &format!("{}libx.so.1{}", "y".repeat(5000), "\0".repeat(5000)),
            &["libx.so.1"],
        );
        check(&format!("libx.so{}", ".so".repeat(300)), &[]);
    }

    /// A name as long as the limit is found in chunks of any size; the end of a longer one does not
    /// count.
    #[test]
    fn names_are_found_up_to_the_limit() {
        let longest = format!("x.so{}", "y".repeat(MAX_FILE_NAME_BYTES - 4));
        for (text, expect) in [
            (longest.clone(), vec![longest.as_str()]),
            (format!("{longest}y"), vec![]),
        ] {
            let names: BTreeSet<&[u8]> = [longest.as_bytes()].into();
            for chunk in [1, 7, 4096] {
                let mut search = NameSearch::new(&names);
                text.as_bytes()
                    .chunks(chunk)
                    .for_each(|bytes| search.feed(bytes));
                let found: Vec<_> = search
                    .finish()
                    .into_iter()
                    .map(|name| std::str::from_utf8(name).unwrap())
                    .collect();
                assert_eq!(found, expect, "{} bytes in chunks of {chunk}", text.len());
            }
        }
    }
}
