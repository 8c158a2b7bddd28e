//! An artifact that is an archive, read once from its start to its end.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rustc_hash::{FxHashMap, FxHashSet};
use sha2::{Digest as _, Sha256};

use super::roots::{Sorter, roots};
use super::{MANIFEST, Shared, bad, damaged, out_of_budget, safe_member};
use crate::archive::{
    ArchiveCompression, ParsedMember, ParsedMemberKind, Spool, SpoolWriter, for_each_member,
};
use crate::bytes::{RangeReader, ReadAt as _, SourceSlice, read_to_string_limited};
use crate::diagnostic::{Diagnostic, Location};
use crate::elf::is_elf;
use crate::names::{ArtifactName, Digest, parent_directories};
use crate::sdk::bucket::{path_of_sum, sum_in};
use crate::sdk::limits::{
    ListingBudget, MAX_FAULTS, MAX_MANIFEST_BYTES, MAX_SUM_BYTES, beyond_limit, unreadable_archive,
};
use crate::sdk::{ArtifactEntry, BuildArtifact, EntryKind, FileFacts, FileShape};
use crate::sys::{self, PositionalFile};

/// An archive, kept so that its files can be read.
#[derive(Debug)]
pub(super) struct Packed {
    pub(super) path: PathBuf,
    pub(super) folded: Spool,
    /// Where the content of each entry begins.
    pub(super) starts: Vec<u64>,
}

/// Lists an archive, and keeps what is in it.
///
/// # Errors
/// When it cannot be read or kept, is damaged, goes beyond a limit, is not the one that its digest
/// was made of, or has no manifest in front.
pub(super) fn artifact(
    name: &ArtifactName,
    path: &Path,
    (compression, threads): (ArchiveCompression, u32),
    shared: &Shared<'_>,
) -> Result<(BuildArtifact, Packed, Vec<Diagnostic>), Vec<Diagnostic>> {
    let one = |fault: Diagnostic| vec![fault];
    let file = PositionalFile::open(path).map_err(|error| one(error.into()))?;
    let said = sum_beside(path).map_err(one)?;
    let sum = said.is_some().then(Sha256::new);
    let mut summed = Summed {
        source: RangeReader::new(&file, 0, file.size_bytes()),
        sum,
    };
    let room = shared.room;
    let full = |error: io::Error| one(room.file_error(error).into());
    let kept = room
        .allocate(u64::MAX)
        .and_then(|scratch| SpoolWriter::new(scratch, &shared.plain_bytes))
        .map_err(full)?;
    let broken = |error: &io::Error| one(unreadable_archive(path, error));
    let mut listing = Listing {
        path,
        budget: &shared.budget,
        sorter: None,
        entries: BTreeMap::new(),
        seen: FxHashMap::default(),
        findings: Vec::new(),
    };
    let folded = {
        let source = compression
            .decoder(&mut summed, threads)
            .map_err(|error| broken(&error))?;
        let mut teed = Teed {
            source,
            kept,
            fault: None,
        };
        let read = for_each_member(&mut teed, |member, content| listing.member(member, content));
        if let Some(error) = teed.fault {
            return Err(full(error));
        }
        match read {
            Ok(()) if listing.sorter.is_some() => teed.kept.finish().map_err(full)?,
            Err(Stop::Read(error)) => return Err(broken(&error)),
            Err(Stop::Fault(fault)) => return Err(listing.faults(*fault)),
            Ok(()) | Err(Stop::NoManifest) => {
                return Err(one(bad(
                    path,
                    format!("its first member is not `{MANIFEST}`, which lists what it holds"),
                )));
            }
        }
    };
    io::copy(&mut summed, &mut io::sink()).map_err(|error| broken(&error))?;
    if let (Some(sum), Some((said, beside))) = (summed.sum, said) {
        check_sum(path, Digest::new(sum.finalize().into()), said, &beside).map_err(one)?;
    }
    Ok(listing.finish(name, folded))
}

/// The digest beside an archive, where there is one, and where it lies.
fn sum_beside(path: &Path) -> Result<Option<(Digest, PathBuf)>, Diagnostic> {
    let beside = path_of_sum(path);
    if !sys::is_file(&beside) {
        return Ok(None);
    }
    let text = sys::read_text(&beside, MAX_SUM_BYTES)?;
    let sum =
        sum_in(&text).map_err(|said| bad(&beside, format!("`{said}` is no SHA-256 digest")))?;
    Ok(Some((sum, beside)))
}

/// Whether an archive is the one that the digest beside it was made of.
fn check_sum(path: &Path, is: Digest, said: Digest, beside: &Path) -> Result<(), Diagnostic> {
    if said == is {
        return Ok(());
    }
    let message = format!(
        "the archive is not the one that was published: its SHA-256 is {}",
        is.to_hex()
    );
    let place = Location::File(beside.display().to_string().into());
    Err(bad(path, message).at(place, format!("this says `{}`", said.to_hex())))
}

/// Why an archive was not read to its end.
enum Stop {
    Read(io::Error),
    NoManifest,
    Fault(Box<Diagnostic>),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

/// A source whose digest is made as it is read, where one is asked for.
struct Summed<'s> {
    source: RangeReader<'s>,
    sum: Option<Sha256>,
}

impl io::Read for Summed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.source.read(buffer)?;
        if let Some(sum) = &mut self.sum {
            sum.update(&buffer[..length]);
        }
        Ok(length)
    }
}

/// A stream that is kept as it is read.
struct Teed<'p, R> {
    source: R,
    kept: SpoolWriter<'p>,
    /// Why it could not be kept.
    fault: Option<io::Error>,
}

impl<R: io::Read> io::Read for Teed<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.source.read(buffer)?;
        if let Err(error) = self.kept.write_all(&buffer[..length]) {
            self.fault = Some(error);
            return Err(io::ErrorKind::Other.into());
        }
        Ok(length)
    }
}

/// A file that another name may be given to.
type Seen = (EntryKind, u64, bool);

/// What is known of an archive as far as it was read.
struct Listing<'l> {
    path: &'l Path,
    budget: &'l ListingBudget,
    /// What its manifest lists, once that was read.
    sorter: Option<Sorter>,
    /// By root and path: what it is, where its content begins, and whether that begins as an ELF
    /// file.
    entries: BTreeMap<(usize, String), Seen>,
    seen: FxHashMap<String, Seen>,
    findings: Vec<Diagnostic>,
}

impl Listing<'_> {
    fn member(&mut self, member: ParsedMember, content: &mut dyn io::Read) -> Result<(), Stop> {
        let sorted = self
            .sorter
            .as_ref()
            .map_or(0, |sorter| sorter.findings.len());
        if self.findings.len() + sorted > MAX_FAULTS {
            let fault = beyond_limit(
                self.path,
                &format!("the archive has more than {MAX_FAULTS} faults"),
            );
            return Err(Stop::Fault(Box::new(fault)));
        }
        if self.sorter.is_none() {
            if member.path.as_deref().and_then(safe_member).as_deref() != Some(MANIFEST) {
                return Err(Stop::NoManifest);
            }
            let text = read_to_string_limited(content, MAX_MANIFEST_BYTES)?;
            let read = roots(&text, &self.path.join(MANIFEST));
            let (roots, findings) = read.map_err(|fault| Stop::Fault(Box::new(fault)))?;
            self.findings.extend(findings);
            self.sorter = Some(Sorter::new(self.path, roots));
            return Ok(());
        }
        let Some(shown) = &member.path else {
            self.bad(
                "",
                "it has a member with a name that is no UTF-8 text, which no package can hold"
                    .to_owned(),
            );
            return Ok(());
        };
        let Some(path) = safe_member(shown) else {
            self.bad(shown, "its path leads out of the artifact".to_owned());
            return Ok(());
        };
        let mut head = [0; 4];
        let found = match member.kind {
            ParsedMemberKind::Directory => (EntryKind::Folder, 0, false),
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
                match safe_member(&other).map(|path| self.seen.get(&path)) {
                    Some(Some(found)) => found.clone(),
                    Some(None) => {
                        self.bad(
                            shown,
                            format!("it is another name of `{other}`, which is not in front of it"),
                        );
                        return Ok(());
                    }
                    None => {
                        self.bad(
                            shown,
                            format!(
                                "it is another name of `{other}`, which leads out of the artifact"
                            ),
                        );
                        return Ok(());
                    }
                }
            }
            ParsedMemberKind::Unsupported(what) => {
                self.bad(shown, format!("it is {what}, which no package can hold"));
                return Ok(());
            }
        };
        if matches!(found.0, EntryKind::File(_)) {
            self.seen.insert(path.clone(), found.clone());
        }
        let is_folder = matches!(found.0, EntryKind::Folder);
        let places = self
            .sorter
            .as_mut()
            .and_then(|sorter| sorter.place(&path, is_folder));
        let text_bytes = if let EntryKind::Link(text) = &found.0 {
            text.len()
        } else {
            0
        };
        for (root, below) in places.unwrap_or_default() {
            if !self.budget.take(below.len() + text_bytes) {
                return Err(Stop::Fault(Box::new(out_of_budget(self.path))));
            }
            self.entries.insert((root, below), found.clone());
        }
        Ok(())
    }

    /// No folder can hold what lies below a link or a file, and nothing is unpacked there.
    fn check_folders(&mut self, roots: &[String]) {
        let is_folder = |kind: &EntryKind| matches!(kind, EntryKind::Folder);
        let others: FxHashSet<(usize, &str)> = self
            .entries
            .iter()
            .filter(|(_, (kind, ..))| !is_folder(kind))
            .map(|((root, path), _)| (*root, path.as_str()))
            .collect();
        let mut found = Vec::new();
        for (root, path) in self.entries.keys() {
            if let Some(above) =
                parent_directories(path).find(|folder| others.contains(&(*root, *folder)))
            {
                let message = format!(
                    "it lies below `{}/{above}`, which is no folder",
                    roots[*root]
                );
                found.push((format!("{}/{path}", roots[*root]), message));
            }
        }
        for (path, message) in found {
            self.bad(&path, message);
        }
    }

    fn bad(&mut self, path: &str, message: String) {
        self.findings
            .push(bad(&self.path.join(path.trim_start_matches('/')), message));
    }

    /// Everything that was found, where reading ended at a fault.
    fn faults(mut self, last: Diagnostic) -> Vec<Diagnostic> {
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
        folded: Spool,
    ) -> (BuildArtifact, Packed, Vec<Diagnostic>) {
        let (roots, told) = self
            .sorter
            .take()
            .map(|sorter| (sorter.roots, sorter.findings))
            .unwrap_or_default();
        self.findings.extend(told);
        self.check_folders(&roots);
        let (mut entries, mut starts) = (Vec::new(), Vec::new());
        for ((root, path), (mut kind, start, is_elf)) in std::mem::take(&mut self.entries) {
            if let EntryKind::File(facts) = &mut kind
                && is_elf
            {
                match FileShape::read(&SourceSlice::new(&folded, start, facts.size_bytes)) {
                    Ok(shape) => facts.shape = shape,
                    Err(error) => {
                        self.findings
                            .push(damaged(&self.path.join(&roots[root]).join(&path), &error));
                    }
                }
            }
            entries.push(ArtifactEntry { root, path, kind });
            starts.push(start);
        }
        let packed = Packed {
            path: self.path.to_owned(),
            folded,
            starts,
        };
        (
            BuildArtifact {
                name: name.clone(),
                roots,
                entries,
            },
            packed,
            self.findings,
        )
    }
}
