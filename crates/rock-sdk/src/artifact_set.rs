//! Listings of the artifacts in a directory, each of which is a directory or an archive.
//!
//! Archives are not unpacked: their content is kept in a [`ScratchSpace`] and read from there.

mod archive;
mod directory;
mod roots;

pub use roots::parse_artifact_manifest;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use itertools::Itertools as _;
use rayon::prelude::*;

use self::archive::SpooledArchive;
use crate::codes::sdk as codes;
use crate::limits::{ListingBudget, MAX_LISTING_BYTES, beyond_limit};
use crate::{BuildArtifact, EntryKind, FileOrigin};
use rock_bytes::archive::ArchiveCompression;
use rock_bytes::{ReadAt, SourceSlice, start_threads};
use rock_diagnostic::{Diagnostic, Diagnostics, Location, Severity};
use rock_names::{ArtifactName, ArtifactNameError, without_dots};
use rock_sys::{
    DirectoryEntryKind as OnDisk, FileError, PositionalFile, ReopenedFile, ScratchSpace,
};

/// The file in an artifact that lists its directories.
pub const ARTIFACT_MANIFEST: &str = "artifact_manifest.txt";

/// The artifacts of a directory, whose files can be read.
#[derive(Debug, Default)]
pub struct ArtifactSet {
    /// The artifacts, sorted by name.
    artifacts: Vec<BuildArtifact>,
    /// The source of the artifact at the same position.
    sources: Vec<ArtifactSource>,
}

#[derive(Debug)]
enum ArtifactSource {
    Directory(PathBuf),
    Archive(SpooledArchive),
}

/// An artifact, its source and its findings.
type ListedArtifact = (BuildArtifact, ArtifactSource, Vec<Diagnostic>);

impl ArtifactSet {
    /// Lists every artifact of a directory and ignores anything else. Returns the artifacts with
    /// warnings and errors that do not prevent other checks. The content of archives is kept in
    /// `scratch`.
    ///
    /// # Errors
    /// When something cannot be read or an archive is damaged, with the diagnostics of all
    /// artifacts.
    pub fn read(
        directory: &Path,
        scratch: &ScratchSpace,
    ) -> Result<(Self, Vec<Diagnostic>), Diagnostics> {
        let (mut candidates, mut findings) = find_candidates(directory)?;
        // Threads take the largest archive first, so that none is left alone with it at the end.
        candidates.sort_by_cached_key(|candidate| {
            std::cmp::Reverse(
                candidate
                    .compression
                    .map_or(0, |_| rock_sys::size_bytes(&candidate.path)),
            )
        });
        // Archives that are read at the same time share the processors and the memory of decoders.
        let archives = candidates
            .iter()
            .filter(|candidate| candidate.compression.is_some())
            .count();
        start_threads();
        let threads = u32::try_from(rayon::current_num_threads() / archives.max(1))
            .unwrap_or(1)
            .max(1);
        let limits = SharedLimits {
            scratch,
            plain_bytes: AtomicU64::new(scratch.budget_bytes()),
            budget: ListingBudget::default(),
        };
        let listed: Vec<Result<ListedArtifact, Vec<Diagnostic>>> = candidates
            .into_par_iter()
            .with_max_len(1)
            .map(|candidate| list_artifact(&candidate, threads, &limits))
            .collect();
        let (listed, errors): (Vec<_>, Vec<_>) = listed.into_iter().partition_result();
        if !errors.is_empty() {
            findings.extend(errors.into_iter().flatten());
            return Err(findings.into());
        }
        let mut set = Self::default();
        for (artifact, source, of_artifact) in listed
            .into_iter()
            .sorted_by(|(one, ..), (other, ..)| one.name.cmp(&other.name))
        {
            set.artifacts.push(artifact);
            set.sources.push(source);
            findings.extend(of_artifact);
        }
        Ok((set, findings))
    }

    /// Returns the artifacts, sorted by name.
    pub fn as_slice(&self) -> &[BuildArtifact] {
        &self.artifacts
    }

    /// Opens a file of an artifact.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open(&self, origin: FileOrigin) -> Result<Box<dyn ReadAt + Send + '_>, FileError> {
        Ok(match &self.sources[origin.artifact] {
            ArtifactSource::Directory(_) => Box::new(PositionalFile::open(&self.path(origin))?),
            ArtifactSource::Archive(archive) => Box::new(self.slice(archive, origin)),
        })
    }

    /// Opens a file of an artifact for reads that may come much later: no file descriptor stays
    /// open between them.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open_lazily(
        &self,
        origin: FileOrigin,
    ) -> Result<Box<dyn ReadAt + Send + '_>, FileError> {
        Ok(match &self.sources[origin.artifact] {
            ArtifactSource::Directory(_) => Box::new(ReopenedFile::new(&self.path(origin))?),
            ArtifactSource::Archive(archive) => Box::new(self.slice(archive, origin)),
        })
    }

    /// Returns the size of a file when it was listed; 0 for anything but a file.
    pub fn size_bytes(&self, origin: FileOrigin) -> u64 {
        match &self.artifacts[origin.artifact].entries[origin.entry].kind {
            EntryKind::File(facts) => facts.size_bytes,
            EntryKind::Directory | EntryKind::Link(_) => 0,
        }
    }

    /// Returns the location of a file of an artifact.
    pub fn location(&self, origin: FileOrigin) -> Location {
        Location::File(self.path(origin).display().to_string().into())
    }

    /// Returns the file with this path below a root of the artifact with this name.
    pub fn find(&self, name: &str, root: &str, path: &str) -> Option<FileOrigin> {
        let artifact = self
            .artifacts
            .iter()
            .position(|artifact| artifact.name.to_string() == name)?;
        let is_it = |entry: &crate::ArtifactEntry| {
            entry.path == path
                && self.artifacts[artifact].roots[entry.root] == root
                && matches!(entry.kind, EntryKind::File(_))
        };
        let entry = self.artifacts[artifact].entries.iter().position(is_it)?;
        Some(FileOrigin { artifact, entry })
    }

    /// Removes the artifacts of other GPU families, if there are artifacts for each of these.
    /// Otherwise all stay, so that an error can list the families that exist.
    pub fn retain_families(&mut self, families: &BTreeSet<String>) {
        let is_there = |family: &String| {
            self.artifacts
                .iter()
                .any(|one| one.name.base() == Some(family.as_str()))
        };
        if families.is_empty() || !families.iter().all(is_there) {
            return;
        }
        let all = std::mem::take(&mut self.artifacts)
            .into_iter()
            .zip(std::mem::take(&mut self.sources));
        let is_kept =
            |name: &ArtifactName| name.base().is_none_or(|family| families.contains(family));
        (self.artifacts, self.sources) =
            all.filter(|(artifact, _)| is_kept(&artifact.name)).unzip();
    }

    /// Returns the path of a file of an artifact. In an archive, it is below the path of the
    /// archive.
    pub fn path(&self, origin: FileOrigin) -> PathBuf {
        let artifact = &self.artifacts[origin.artifact];
        let entry = &artifact.entries[origin.entry];
        let whole = match &self.sources[origin.artifact] {
            ArtifactSource::Directory(directory) => directory,
            ArtifactSource::Archive(archive) => &archive.path,
        };
        whole.join(&artifact.roots[entry.root]).join(&entry.path)
    }

    fn slice<'r>(&self, archive: &'r SpooledArchive, origin: FileOrigin) -> SourceSlice<'r> {
        SourceSlice::new(
            &archive.content,
            archive.offsets[origin.entry],
            self.size_bytes(origin),
        )
    }
}

/// The limits that all artifacts of a directory share.
struct SharedLimits<'s> {
    scratch: &'s ScratchSpace,
    /// The bytes that may still be kept without compression.
    plain_bytes: AtomicU64,
    budget: ListingBudget,
}

/// A directory or an archive that has the name of an artifact.
struct ArtifactCandidate {
    name: ArtifactName,
    path: PathBuf,
    /// The compression of the archive; `None` for a directory.
    compression: Option<ArchiveCompression>,
}

/// Finds the artifacts of a directory. Of several forms of an artifact, it takes a directory or the
/// archive that is decompressed fastest.
fn find_candidates(
    directory: &Path,
) -> Result<(Vec<ArtifactCandidate>, Vec<Diagnostic>), Diagnostic> {
    if !rock_sys::exists(directory) {
        let place = Location::File(directory.display().to_string().into());
        let diagnostic =
            Diagnostic::new(&codes::NO_ARTIFACT, "there is no such directory").at(place, "");
        return Err(
            diagnostic.help("pass the directory to which `rock-matrix sdk fetch` wrote artifacts")
        );
    }
    let (mut found, mut findings) = (Vec::new(), Vec::new());
    for entry in rock_sys::read_entries(directory)? {
        let file_name = entry
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        // A killed run may have left a part of an artifact.
        if file_name.starts_with('.') {
            continue;
        }
        let (name, compression) = match (entry.kind, ArchiveCompression::from_file_name(&file_name))
        {
            (OnDisk::Directory, _)
                if rock_sys::try_is_file(&entry.path.join(ARTIFACT_MANIFEST))? =>
            {
                (file_name.as_str(), None)
            }
            (OnDisk::File, Some((name, compression))) => (name, Some(compression)),
            _ => continue,
        };
        match name.parse::<ArtifactName>() {
            Ok(name) => found.push(ArtifactCandidate {
                name,
                path: entry.path,
                compression,
            }),
            Err(error @ ArtifactNameError::InvalidWord { .. }) => {
                findings
                    .push(bad_artifact(&entry.path, error.to_string()).severity(Severity::Warning));
            }
            Err(ArtifactNameError::WordCount(_)) => {}
        }
    }
    found.sort_by(|one, other| (&one.name, one.compression).cmp(&(&other.name, other.compression)));
    findings.extend(duplicate_forms(&found, directory));
    found.dedup_by(|later, first| later.name == first.name);
    Ok((found, findings))
}

/// Reports artifacts that exist in several forms. The candidates are sorted, and the first of each
/// is taken.
fn duplicate_forms(found: &[ArtifactCandidate], directory: &Path) -> Option<Diagnostic> {
    const SHOWN: usize = 5;
    let forms: Vec<&[ArtifactCandidate]> = found
        .chunk_by(|one, other| one.name == other.name)
        .filter(|all| all.len() > 1)
        .collect();
    let first = forms.first()?;
    let message = match forms.len() {
        1 => format!("`{}` exists in several forms", first[0].name),
        more => format!("{more} artifacts exist in several forms"),
    };
    let place = Location::File(directory.display().to_string().into());
    let mut diagnostic = Diagnostic::new(&codes::ARTIFACT_TWICE, message).at(place, "");
    let name = |one: &ArtifactCandidate| {
        format!(
            "`{}`",
            one.path.file_name().unwrap_or_default().to_string_lossy()
        )
    };
    for all in forms.iter().take(SHOWN) {
        let others: Vec<String> = all[1..].iter().map(name).collect();
        diagnostic = diagnostic.note(format!(
            "{} is used instead of {}",
            name(&all[0]),
            others.join(" or ")
        ));
    }
    Some(diagnostic.help("remove the forms that you do not need"))
}

fn list_artifact(
    candidate: &ArtifactCandidate,
    threads: u32,
    limits: &SharedLimits<'_>,
) -> Result<ListedArtifact, Vec<Diagnostic>> {
    let ArtifactCandidate {
        name,
        path,
        compression,
    } = candidate;
    match compression {
        None => {
            let (artifact, findings) = directory::list_directory(name, path, &limits.budget)?;
            Ok((artifact, ArtifactSource::Directory(path.clone()), findings))
        }
        Some(compression) => {
            let (artifact, archive, findings) =
                archive::list_archive(name, path, (*compression, threads), limits)?;
            Ok((artifact, ArtifactSource::Archive(archive), findings))
        }
    }
}

/// Returns the path of a member of an archive without `.` components, or `None` if it leads out of
/// the archive.
pub fn safe_member_path(path: &str) -> Option<String> {
    without_dots(path)
        .filter(|_| !path.starts_with('/') && path.split('/').all(|word| word != ".."))
}

/// Reports the artifact at which the memory for listing all of them was used up.
fn out_of_budget(artifact: &Path) -> Diagnostic {
    let most = MAX_LISTING_BYTES >> 20;
    beyond_limit(
        artifact,
        &format!("listing this artifact and those before it takes more than {most} MiB"),
    )
}

fn bad_artifact(path: &Path, message: String) -> Diagnostic {
    Diagnostic::new(&codes::BAD_ARTIFACT, message)
        .at(Location::File(path.display().to_string().into()), "")
        .help("fetch the artifact again, or remove it from the directory")
}

/// Reports a file that begins like an ELF file and is damaged.
fn damaged_elf(path: &Path, error: &rock_elf::ElfError) -> Diagnostic {
    bad_artifact(path, format!("it starts like an ELF file, but {error}"))
        .severity(Severity::Warning)
}
