//! Artifacts, listed: folders of them, and archives that stay packed.
//!
//! In: a folder. Out: what is in each artifact, and its bytes on demand. Nothing of an archive is
//! ever written under a name.

mod folder;
mod packed;
mod roots;

pub(super) use roots::roots;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use rayon::prelude::*;

use self::packed::Packed;
use crate::archive::ArchiveCompression;
use crate::bytes::{ReadAt, SourceSlice, start_threads};
use crate::codes::sdk as codes;
use crate::diagnostic::{Diagnostic, Location, Severity};
use crate::names::{ArtifactName, ArtifactNameError, without_dots};
use crate::sdk::limits::{ListingBudget, MAX_LISTING_BYTES, beyond_limit};
use crate::sdk::{BuildArtifact, EntryKind, FileOrigin};
use crate::sys::{
    self, DirectoryEntryKind as OnDisk, FileError, PositionalFile, ReopenedFile, ScratchSpace,
};

/// The list of an artifact's folders, in the artifact itself.
pub(super) const MANIFEST: &str = "artifact_manifest.txt";

/// Artifacts with where they lie.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// They, sorted by name.
    pub(super) artifacts: Vec<BuildArtifact>,
    /// Where each is.
    sources: Vec<Source>,
    /// What a person should know.
    pub(super) findings: Vec<Diagnostic>,
}

/// Where an artifact is.
#[derive(Debug)]
enum Source {
    Folder(PathBuf),
    Packed(Packed),
}

/// An artifact, where it is, and what a person should know of it.
type Listed = (BuildArtifact, Source, Vec<Diagnostic>);

impl Read {
    /// The bytes of a file of an artifact, to be read now.
    pub(super) fn open(
        &self,
        origin: FileOrigin,
    ) -> Result<Box<dyn ReadAt + Send + '_>, FileError> {
        Ok(match &self.sources[origin.artifact] {
            Source::Folder(_) => Box::new(PositionalFile::open(&self.path(origin))?),
            Source::Packed(packed) => Box::new(self.part(packed, origin)),
        })
    }

    /// The same, to be read later: no file stays open.
    pub(super) fn closed(
        &self,
        origin: FileOrigin,
    ) -> Result<Box<dyn ReadAt + Send + '_>, FileError> {
        Ok(match &self.sources[origin.artifact] {
            Source::Folder(_) => Box::new(ReopenedFile::new(&self.path(origin))?),
            Source::Packed(packed) => Box::new(self.part(packed, origin)),
        })
    }

    /// How large a file was when it was listed.
    pub(super) fn size_bytes(&self, origin: FileOrigin) -> u64 {
        match &self.artifacts[origin.artifact].entries[origin.entry].kind {
            EntryKind::File(facts) => facts.size_bytes,
            EntryKind::Folder | EntryKind::Link(_) => 0,
        }
    }

    /// The place of a file of an artifact, for people.
    pub(super) fn place(&self, origin: FileOrigin) -> Location {
        Location::File(self.path(origin).display().to_string().into())
    }

    /// The file at a path of an artifact.
    pub(super) fn find(&self, name: &str, root: &str, path: &str) -> Option<FileOrigin> {
        let artifact = self
            .artifacts
            .iter()
            .position(|artifact| artifact.name.to_string() == name)?;
        let is_it = |entry: &crate::sdk::ArtifactEntry| {
            entry.path == path
                && self.artifacts[artifact].roots[entry.root] == root
                && matches!(entry.kind, EntryKind::File(_))
        };
        let entry = self.artifacts[artifact].entries.iter().position(is_it)?;
        Some(FileOrigin { artifact, entry })
    }

    /// Leaves out the artifacts of other families, where there are some for each of these. Where
    /// there are none for one, that is to be told with all that there are.
    pub(super) fn keep_families(&mut self, families: &BTreeSet<String>) {
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

    /// Where a file of an artifact lies; of one that is packed, below its archive.
    pub(super) fn path(&self, origin: FileOrigin) -> PathBuf {
        let artifact = &self.artifacts[origin.artifact];
        let entry = &artifact.entries[origin.entry];
        let whole = match &self.sources[origin.artifact] {
            Source::Folder(folder) => folder,
            Source::Packed(packed) => &packed.path,
        };
        whole.join(&artifact.roots[entry.root]).join(&entry.path)
    }

    fn part<'r>(&self, packed: &'r Packed, origin: FileOrigin) -> SourceSlice<'r> {
        SourceSlice::new(
            &packed.folded,
            packed.starts[origin.entry],
            self.size_bytes(origin),
        )
    }
}

/// The room and the memory that all artifacts of a folder share.
struct Shared<'s> {
    room: &'s ScratchSpace,
    /// How much more is kept as it is.
    plain_bytes: AtomicU64,
    budget: ListingBudget,
}

/// An artifact that was found in a folder.
struct Found {
    name: ArtifactName,
    path: PathBuf,
    /// What its archive is compressed by; a folder is none.
    packed: Option<ArchiveCompression>,
}

/// Lists every artifact of a folder; what is no artifact is passed over. What must be kept of
/// archives is kept in `room`.
///
/// # Errors
/// When something cannot be read, and an archive that is damaged, with everything else that is.
pub(super) fn read(folder: &Path, room: &ScratchSpace) -> Result<Read, Vec<Diagnostic>> {
    let (mut found, mut findings) = found(folder).map_err(|fault| vec![fault])?;
    // Threads take the largest archive first, so that none is left alone with it at the end.
    found.sort_by_cached_key(|one| {
        std::cmp::Reverse(one.packed.map_or(0, |_| sys::size_bytes(&one.path)))
    });
    // Those that are read at once share the processors, and what decoding by several holds.
    let archives = found.iter().filter(|one| one.packed.is_some()).count();
    start_threads();
    let threads = u32::try_from(rayon::current_num_threads() / archives.max(1))
        .unwrap_or(1)
        .max(1);
    let shared = Shared {
        room,
        plain_bytes: AtomicU64::new(room.budget_bytes()),
        budget: ListingBudget::default(),
    };
    let listed: Vec<Result<Listed, Vec<Diagnostic>>> = found
        .into_par_iter()
        .with_max_len(1)
        .map(|one| listed(&one, threads, &shared))
        .collect();
    let (mut all, mut faults) = (Vec::new(), Vec::new());
    for listed in listed {
        match listed {
            Ok(listed) => all.push(listed),
            Err(more) => faults.extend(more),
        }
    }
    if !faults.is_empty() {
        findings.extend(faults);
        return Err(findings);
    }
    all.sort_by(|(one, ..), (other, ..)| one.name.cmp(&other.name));
    let mut read = Read {
        findings,
        ..Read::default()
    };
    for (artifact, source, more) in all {
        read.artifacts.push(artifact);
        read.sources.push(source);
        read.findings.extend(more);
    }
    Ok(read)
}

/// The artifacts of a folder. Where there are several forms of one, a folder comes before archives,
/// and what is read faster before the other.
fn found(folder: &Path) -> Result<(Vec<Found>, Vec<Diagnostic>), Diagnostic> {
    if !sys::exists(folder) {
        let place = Location::File(folder.display().to_string().into());
        let told = Diagnostic::new(&codes::NO_ARTIFACT, "there is no such folder").at(place, "");
        return Err(told.help("give the folder that `rock-matrix sdk fetch` wrote artifacts to"));
    }
    let (mut found, mut findings) = (Vec::new(), Vec::new());
    for entry in sys::read_entries(folder)? {
        let file_name = entry
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        // What a run that was killed left of an artifact is none.
        if file_name.starts_with('.') {
            continue;
        }
        let (name, packed) = match (entry.kind, ArchiveCompression::from_file_name(&file_name)) {
            (OnDisk::Directory, _) if sys::try_is_file(&entry.path.join(MANIFEST))? => {
                (file_name.as_str(), None)
            }
            (OnDisk::File, Some((name, compression))) => (name, Some(compression)),
            _ => continue,
        };
        match name.parse::<ArtifactName>() {
            Ok(name) => found.push(Found {
                name,
                path: entry.path,
                packed,
            }),
            Err(error @ ArtifactNameError::InvalidWord { .. }) => {
                findings.push(bad(&entry.path, error.to_string()).severity(Severity::Warning));
            }
            Err(ArtifactNameError::WordCount(_)) => {}
        }
    }
    found.sort_by(|one, other| (&one.name, one.packed).cmp(&(&other.name, other.packed)));
    findings.extend(several_forms(&found, folder));
    found.dedup_by(|later, first| later.name == first.name);
    Ok((found, findings))
}

/// Artifacts that are there in several forms. They are sorted, and the first of each is taken.
fn several_forms(found: &[Found], folder: &Path) -> Option<Diagnostic> {
    const SHOWN: usize = 5;
    let forms: Vec<&[Found]> = found
        .chunk_by(|one, other| one.name == other.name)
        .filter(|all| all.len() > 1)
        .collect();
    let first = forms.first()?;
    let message = match forms.len() {
        1 => format!("`{}` is there in several forms", first[0].name),
        more => format!("{more} artifacts are there in several forms"),
    };
    let place = Location::File(folder.display().to_string().into());
    let mut told = Diagnostic::new(&codes::ARTIFACT_TWICE, message).at(place, "");
    let name = |one: &Found| {
        format!(
            "`{}`",
            one.path.file_name().unwrap_or_default().to_string_lossy()
        )
    };
    for all in forms.iter().take(SHOWN) {
        let others: Vec<String> = all[1..].iter().map(name).collect();
        told = told.note(format!(
            "{} is taken, and not {}",
            name(&all[0]),
            others.join(" or ")
        ));
    }
    Some(told.help("remove the forms that are not meant"))
}

fn listed(found: &Found, threads: u32, shared: &Shared<'_>) -> Result<Listed, Vec<Diagnostic>> {
    match found.packed {
        None => {
            let (artifact, findings) = folder::artifact(&found.name, &found.path, &shared.budget)?;
            Ok((artifact, Source::Folder(found.path.clone()), findings))
        }
        Some(compression) => {
            let (artifact, packed, findings) =
                packed::artifact(&found.name, &found.path, (compression, threads), shared)?;
            Ok((artifact, Source::Packed(packed), findings))
        }
    }
}

/// The path of a member of an archive; `None` where it leads out of it.
pub(super) fn safe_member(path: &str) -> Option<String> {
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

fn bad(path: &Path, message: String) -> Diagnostic {
    Diagnostic::new(&codes::BAD_ARTIFACT, message)
        .at(Location::File(path.display().to_string().into()), "")
        .help("fetch the artifact anew, or take it out of the folder")
}

/// What a file that begins as an ELF file, and is a damaged one, is told with.
fn damaged(path: &Path, error: &crate::elf::ElfError) -> Diagnostic {
    bad(path, format!("it begins as an ELF file, but {error}")).severity(Severity::Warning)
}
