//! Artifacts that are archives, which are read once from start to end.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};
use sha2::{Digest as _, Sha256};

use super::roots::{RootSorter, parse_artifact_manifest};
use super::{
    ARTIFACT_MANIFEST, SharedLimits, bad_artifact, damaged_elf, out_of_budget, safe_member_path,
};
use crate::bucket::{path_of_sum, sum_in};
use crate::limits::{
    ListingBudget, MAX_FAULTS, MAX_MANIFEST_BYTES, MAX_SUM_BYTES, beyond_limit, unreadable_archive,
};
use crate::{ArtifactEntry, BuildArtifact, EntryKind, FileFacts, FileShape};
use rock_bytes::archive::{
    ArchiveCompression, ParsedMember, ParsedMemberKind, Spool, SpoolWriter, for_each_member,
};
use rock_bytes::{RangeReader, ReadAt as _, SourceSlice, read_to_string_limited};
use rock_diagnostic::{Diagnostic, Location};
use rock_elf::is_elf;
use rock_names::{ArtifactName, Digest, parent_directories};
use rock_sys::PositionalFile;

/// An archive whose decompressed content can be read at any position.
#[derive(Debug)]
pub(super) struct SpooledArchive {
    pub(super) path: PathBuf,
    pub(super) content: Spool,
    /// The offset of the content of each entry.
    pub(super) offsets: Vec<u64>,
}

/// Lists the files of an artifact that is an archive, and keeps their content.
///
/// # Errors
/// When it cannot be read or kept, is damaged, exceeds a limit, does not match its checksum file,
/// or does not begin with a manifest.
pub(super) fn list_archive(
    name: &ArtifactName,
    path: &Path,
    (compression, threads): (ArchiveCompression, u32),
    limits: &SharedLimits<'_>,
) -> Result<(BuildArtifact, SpooledArchive, Vec<Diagnostic>), Vec<Diagnostic>> {
    let one = |fault: Diagnostic| vec![fault];
    let file = PositionalFile::open(path).map_err(|error| one(error.into()))?;
    let expected = read_checksum_file(path).map_err(one)?;
    let sum = expected.is_some().then(Sha256::new);
    let mut hashing = HashingReader {
        source: RangeReader::new(&file, 0, file.size_bytes()),
        sum,
    };
    let space = limits.scratch;
    let full = |error: io::Error| one(space.file_error(error).into());
    let kept = space
        .allocate(u64::MAX)
        .and_then(|scratch| SpoolWriter::new(scratch, &limits.plain_bytes))
        .map_err(full)?;
    let broken = |error: &io::Error| one(unreadable_archive(path, error));
    let mut listing = ArchiveListing {
        path,
        budget: &limits.budget,
        sorter: None,
        entries: BTreeMap::new(),
        seen: FxHashMap::default(),
        findings: Vec::new(),
    };
    let content = {
        let source = compression
            .decoder(&mut hashing, threads)
            .map_err(|error| broken(&error))?;
        let mut tee = TeeReader {
            source,
            kept,
            fault: None,
        };
        let read = for_each_member(&mut tee, |member, content| listing.member(member, content));
        if let Some(error) = tee.fault {
            return Err(full(error));
        }
        match read {
            Ok(()) if listing.sorter.is_some() => tee.kept.finish().map_err(full)?,
            Err(ListingError::Read(error)) => return Err(broken(&error)),
            Err(ListingError::Fault(fault)) => return Err(listing.into_diagnostics(*fault)),
            Ok(()) | Err(ListingError::NoManifest) => {
                return Err(one(bad_artifact(
                    path,
                    format!(
                        "its first member is not `{ARTIFACT_MANIFEST}`, which lists its contents"
                    ),
                )));
            }
        }
    };
    io::copy(&mut hashing, &mut io::sink()).map_err(|error| broken(&error))?;
    if let (Some(sum), Some((expected, checksum_path))) = (hashing.sum, expected) {
        check_digest(
            path,
            Digest::new(sum.finalize().into()),
            expected,
            &checksum_path,
        )
        .map_err(one)?;
    }
    Ok(listing.finish(name, content))
}

/// Reads the checksum file of an archive, if there is one. Returns the digest with the path of the
/// file.
fn read_checksum_file(path: &Path) -> Result<Option<(Digest, PathBuf)>, Diagnostic> {
    let checksum_path = path_of_sum(path);
    if !rock_sys::is_file(&checksum_path) {
        return Ok(None);
    }
    let text = rock_sys::read_text(&checksum_path, MAX_SUM_BYTES)?;
    let sum = sum_in(&text).map_err(|word| {
        bad_artifact(&checksum_path, format!("`{word}` is not a SHA-256 digest"))
    })?;
    Ok(Some((sum, checksum_path)))
}

/// Checks the digest of an archive against its checksum file.
fn check_digest(
    path: &Path,
    actual: Digest,
    expected: Digest,
    checksum_path: &Path,
) -> Result<(), Diagnostic> {
    if expected == actual {
        return Ok(());
    }
    let message = format!(
        "the archive is not the one that was published: its SHA-256 is {}",
        actual.to_hex()
    );
    let place = Location::File(checksum_path.display().to_string().into());
    Err(bad_artifact(path, message).at(place, format!("this says `{}`", expected.to_hex())))
}

/// The reason for which an archive was not read to its end.
enum ListingError {
    Read(io::Error),
    NoManifest,
    Fault(Box<Diagnostic>),
}

impl From<io::Error> for ListingError {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

/// A reader that optionally hashes what it reads.
struct HashingReader<'s> {
    source: RangeReader<'s>,
    sum: Option<Sha256>,
}

impl io::Read for HashingReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.source.read(buffer)?;
        if let Some(sum) = &mut self.sum {
            sum.update(&buffer[..length]);
        }
        Ok(length)
    }
}

/// A reader that writes what it reads to a spool.
struct TeeReader<'p, R> {
    source: R,
    kept: SpoolWriter<'p>,
    /// The error of the spool.
    fault: Option<io::Error>,
}

impl<R: io::Read> io::Read for TeeReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.source.read(buffer)?;
        if let Err(error) = self.kept.write_all(&buffer[..length]) {
            self.fault = Some(error);
            return Err(io::ErrorKind::Other.into());
        }
        Ok(length)
    }
}

/// A file that a hard link may refer to.
type SeenFile = (EntryKind, u64, bool);

/// The listing of an archive as far as it was read.
struct ArchiveListing<'l> {
    path: &'l Path,
    budget: &'l ListingBudget,
    /// `None` until the manifest was read.
    sorter: Option<RootSorter>,
    /// By root and path: the kind, the offset of the content, and whether it begins like an ELF
    /// file.
    entries: BTreeMap<(usize, String), SeenFile>,
    seen: FxHashMap<String, SeenFile>,
    findings: Vec<Diagnostic>,
}

impl ArchiveListing<'_> {
    fn member(
        &mut self,
        member: ParsedMember,
        content: &mut dyn io::Read,
    ) -> Result<(), ListingError> {
        let sorted = self
            .sorter
            .as_ref()
            .map_or(0, |sorter| sorter.findings.len());
        if self.findings.len() + sorted > MAX_FAULTS {
            let fault = beyond_limit(
                self.path,
                &format!("the archive has more than {MAX_FAULTS} faults"),
            );
            return Err(ListingError::Fault(Box::new(fault)));
        }
        if self.sorter.is_none() {
            if member.path.as_deref().and_then(safe_member_path).as_deref()
                != Some(ARTIFACT_MANIFEST)
            {
                return Err(ListingError::NoManifest);
            }
            let text = read_to_string_limited(content, MAX_MANIFEST_BYTES)?;
            let read = parse_artifact_manifest(&text, &self.path.join(ARTIFACT_MANIFEST));
            let (roots, findings) = read.map_err(|fault| ListingError::Fault(Box::new(fault)))?;
            self.findings.extend(findings);
            self.sorter = Some(RootSorter::new(self.path, roots));
            return Ok(());
        }
        let Some(shown) = &member.path else {
            self.report(
                "",
                "it has a member with a name that is not UTF-8, which no package can contain"
                    .to_owned(),
            );
            return Ok(());
        };
        let Some(path) = safe_member_path(shown) else {
            self.report(shown, "its path leads out of the artifact".to_owned());
            return Ok(());
        };
        let mut head = [0; 4];
        let found = match member.kind {
            ParsedMemberKind::Directory => (EntryKind::Directory, 0, false),
            ParsedMemberKind::Symlink(text) => (EntryKind::Link(text), 0, false),
            ParsedMemberKind::File { size_bytes, mode } => {
                let has_head = size_bytes > 4;
                if has_head {
                    content.read_exact(&mut head)?;
                }
                let facts = FileFacts {
                    size_bytes,
                    mode,
                    shape: FileShape::Data,
                };
                (
                    EntryKind::File(facts),
                    member.content_offset,
                    has_head && is_elf(&head),
                )
            }
            ParsedMemberKind::HardLink(other) => {
                match safe_member_path(&other).map(|path| self.seen.get(&path)) {
                    Some(Some(found)) => found.clone(),
                    Some(None) => {
                        self.report(
                            shown,
                            format!("it is a hard link to `{other}`, which does not precede it"),
                        );
                        return Ok(());
                    }
                    None => {
                        self.report(
                            shown,
                            format!(
                                "it is a hard link to `{other}`, which leads out of the artifact"
                            ),
                        );
                        return Ok(());
                    }
                }
            }
            ParsedMemberKind::Unsupported(what) => {
                self.report(shown, format!("it is {what}, which no package can contain"));
                return Ok(());
            }
        };
        if matches!(found.0, EntryKind::File(_)) {
            self.seen.insert(path.clone(), found.clone());
        }
        let is_directory = matches!(found.0, EntryKind::Directory);
        let places = self
            .sorter
            .as_mut()
            .and_then(|sorter| sorter.place(&path, is_directory));
        let text_bytes = if let EntryKind::Link(text) = &found.0 {
            text.len()
        } else {
            0
        };
        for (root, below) in places.unwrap_or_default() {
            if !self.budget.take(below.len() + text_bytes) {
                return Err(ListingError::Fault(Box::new(out_of_budget(self.path))));
            }
            self.entries.insert((root, below), found.clone());
        }
        Ok(())
    }

    /// Reports entries below a symlink or a file, which cannot be unpacked.
    fn check_parents(&mut self, roots: &[String]) {
        let is_directory = |kind: &EntryKind| matches!(kind, EntryKind::Directory);
        let others: FxHashSet<(usize, &str)> = self
            .entries
            .iter()
            .filter(|(_, (kind, ..))| !is_directory(kind))
            .map(|((root, path), _)| (*root, path.as_str()))
            .collect();
        let mut found = Vec::new();
        for (root, path) in self.entries.keys() {
            if let Some(above) =
                parent_directories(path).find(|directory| others.contains(&(*root, *directory)))
            {
                let message = format!(
                    "it is below `{}/{above}`, which is not a directory",
                    roots[*root]
                );
                found.push((format!("{}/{path}", roots[*root]), message));
            }
        }
        for (path, message) in found {
            self.report(&path, message);
        }
    }

    fn report(&mut self, path: &str, message: String) {
        self.findings.push(bad_artifact(
            &self.path.join(path.trim_start_matches('/')),
            message,
        ));
    }

    /// Returns all diagnostics, if reading ended at an error.
    fn into_diagnostics(mut self, last: Diagnostic) -> Vec<Diagnostic> {
        self.findings.extend(
            self.sorter
                .take()
                .map(|sorter| sorter.findings)
                .unwrap_or_default(),
        );
        self.findings.push(last);
        self.findings
    }

    fn finish(
        mut self,
        name: &ArtifactName,
        content: Spool,
    ) -> (BuildArtifact, SpooledArchive, Vec<Diagnostic>) {
        let (roots, told) = self
            .sorter
            .take()
            .map(|sorter| (sorter.roots, sorter.findings))
            .unwrap_or_default();
        self.findings.extend(told);
        self.check_parents(&roots);
        let (mut entries, mut offsets) = (Vec::new(), Vec::new());
        for ((root, path), (mut kind, start, is_elf)) in std::mem::take(&mut self.entries) {
            if let EntryKind::File(facts) = &mut kind
                && is_elf
            {
                match FileShape::read(&SourceSlice::new(&content, start, facts.size_bytes)) {
                    Ok(shape) => facts.shape = shape,
                    Err(error) => {
                        self.findings.push(damaged_elf(
                            &self.path.join(&roots[root]).join(&path),
                            &error,
                        ));
                    }
                }
            }
            entries.push(ArtifactEntry { root, path, kind });
            offsets.push(start);
        }
        let archive = SpooledArchive {
            path: self.path.to_owned(),
            content,
            offsets,
        };
        (
            BuildArtifact {
                name: name.clone(),
                roots,
                entries,
            },
            archive,
            self.findings,
        )
    }
}
