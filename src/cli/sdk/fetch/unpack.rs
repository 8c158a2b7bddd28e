//! Archives that are unpacked.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::place;
use crate::archive::{ParsedMember, ParsedMemberKind, for_each_member};
use crate::bytes::read_to_string_limited;
use crate::codes::sdk as codes;
use crate::diagnostic::Diagnostic;
use crate::names::{Digest, resolve_link};
use crate::sdk::bucket::{BucketArchive, UNPACKED_SUM, sum_in, sum_line};
use crate::sdk::limits::{MAX_MANIFEST_BYTES, MAX_SUM_BYTES, unreadable_archive};
use crate::sdk::{ARTIFACT_MANIFEST, parse_artifact_manifest, safe_member_path};
use crate::sys::{self, ArchiveUnpacker, DirectoryLock, FileError, StagingDirectory};

/// What becomes of archives.
#[derive(Debug)]
pub(super) enum Way {
    /// They stay as they are.
    Packed,
    /// Each is unpacked into a folder of its own, below this one.
    Apart(PathBuf),
    /// All are unpacked into this one, as an installation has it.
    OneTree(PathBuf),
}

impl Way {
    /// Where the artifact of an archive is in the end.
    pub(super) fn path(&self, published: &BucketArchive, archive: &Path) -> PathBuf {
        match self {
            Self::Packed => archive.to_owned(),
            Self::Apart(folder) => folder.join(published.name.to_string()),
            Self::OneTree(folder) => folder.clone(),
        }
    }
}

/// Why an archive could not be unpacked.
enum Stop {
    Read(std::io::Error),
    Write(FileError),
    Fault(Box<Diagnostic>),
    Bad(String),
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Self::Read(error)
    }
}

impl From<FileError> for Stop {
    fn from(error: FileError) -> Self {
        Self::Write(error)
    }
}

/// The folder of one tree among those that archives are unpacked into on the way to it.
const TREE: &str = "tree";

/// Archives being unpacked, in any order and at once. What is not whole lies in hidden folders.
#[derive(Debug)]
pub(super) enum Unpacker {
    /// A folder appears once all of it is there.
    Apart(DirectoryLock),
    /// All of it appears at the end.
    OneTree(StagingDirectory),
}

impl Unpacker {
    /// Begins to unpack below a folder, which may be one that this run has locked; what a killed
    /// run left there is put away. Where archives stay as they are, there is nothing to do.
    ///
    /// # Errors
    /// When the folder cannot be made or read.
    pub(super) fn begin(
        way: &Way,
        held: &DirectoryLock,
        waits: impl FnOnce(),
    ) -> Result<Option<Self>, FileError> {
        let (Way::Apart(folder) | Way::OneTree(folder)) = way else {
            return Ok(None);
        };
        let lock = if folder == held.path() {
            held.clone()
        } else {
            sys::create_directory(folder)?;
            let lock = DirectoryLock::acquire(folder, waits)?;
            lock.sweep()?;
            lock
        };
        Ok(Some(match way {
            Way::OneTree(_) => Self::OneTree(lock.swap(TREE).stage()?),
            Way::Packed | Way::Apart(_) => Self::Apart(lock),
        }))
    }

    /// Whether there is a folder that was unpacked from the archive with this digest.
    pub(super) fn has(&self, published: &BucketArchive, digest: Digest) -> bool {
        let Self::Apart(lock) = self else {
            return false;
        };
        let folder = lock.path().join(published.name.to_string());
        let said = sys::read_text(&folder.join(UNPACKED_SUM), MAX_SUM_BYTES);
        sys::is_real_directory(&folder) && said.is_ok_and(|text| sum_in(&text) == Ok(digest))
    }

    /// Unpacks an archive with this digest, unless its folder is there; tells whether it did.
    ///
    /// # Errors
    /// When it is damaged, leads out of its folder, or cannot be written.
    pub(super) fn unpack(
        &self,
        published: &BucketArchive,
        archive: &Path,
        digest: Digest,
    ) -> Result<bool, Diagnostic> {
        let name = published.name.to_string();
        match self {
            Self::Apart(_) if self.has(published, digest) => return Ok(false),
            Self::Apart(lock) => {
                let staging = lock.swap(&name).stage()?;
                members(published, archive, staging.path(), Paths::Kept)?;
                inside(staging.path(), archive)?;
                let line = sum_line(digest, &published.file());
                sys::write_unsynced(&staging.path().join(UNPACKED_SUM), line.as_bytes())?;
                staging.commit_unsynced()?;
            }
            Self::OneTree(staging) => {
                members(
                    published,
                    archive,
                    &staging.staged_path(&name)?,
                    Paths::OfTree,
                )?;
            }
        }
        Ok(true)
    }

    /// Puts together what is to be one tree, in this order: files of later artifacts take the place
    /// of those of earlier ones, and of those that were there before.
    ///
    /// # Errors
    /// When something is in the way, or links of several artifacts lead out of the tree together,
    /// also with those that earlier runs left in it. Nothing is put into the tree then.
    pub(super) fn finish<'p>(
        self,
        shown: &Path,
        all: impl Iterator<Item = &'p BucketArchive>,
    ) -> Result<(), Diagnostic> {
        let Self::OneTree(staging) = self else {
            return Ok(());
        };
        let tree = staging.staged_path(TREE)?;
        for published in all {
            sys::merge_tree(&staging.staged_path(&published.name.to_string())?, &tree)?;
        }
        stays_inside(
            sys::find_escaping_link_after_merge(&tree, staging.parent())?,
            shown,
        )?;
        Ok(staging.merge_into(TREE)?)
    }
}

/// Refuses links that lead out of a folder by way of others; each stays in it by its text.
fn inside(folder: &Path, shown: &Path) -> Result<(), Diagnostic> {
    stays_inside(sys::find_escaping_link(folder)?, shown)
}

fn stays_inside(found: Option<(String, String)>, shown: &Path) -> Result<(), Diagnostic> {
    let Some((path, text)) = found else {
        return Ok(());
    };
    let message =
        format!("the link `{path}` leads out of the artifact, to `{text}`, through other links");
    Err(Diagnostic::new(&codes::BAD_ARTIFACT, message)
        .at(place(shown), "")
        .help("remove it and fetch it again"))
}

/// Which paths members get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Paths {
    /// Those of the archive.
    Kept,
    /// Those below the folders that its manifest lists.
    OfTree,
}

/// Unpacks the members of one archive into a folder that is made for it.
fn members(
    published: &BucketArchive,
    archive: &Path,
    folder: &Path,
    paths: Paths,
) -> Result<(), Diagnostic> {
    let source = sys::open_file(archive).map_err(|error| FileError::new("read", archive, error))?;
    let mut into = ArchiveUnpacker::new(folder)?;
    let mut unpacked = Members {
        archive,
        into: &mut into,
        paths,
        roots: None,
    };
    let done = published
        .compression
        .decoder(source, 1)
        .map_err(Stop::from)
        .and_then(|source| {
            for_each_member(source, |member, content| unpacked.member(member, content))
        })
        .and_then(|()| unpacked.roots.map(drop).ok_or_else(no_manifest));
    let bad = |message: String| {
        Diagnostic::new(&codes::BAD_ARTIFACT, message)
            .at(place(archive), "")
            .help("remove it and fetch it again")
    };
    done.map_err(|stop| match stop {
        Stop::Read(error) => unreadable_archive(archive, &error),
        Stop::Fault(fault) => *fault,
        Stop::Bad(message) => bad(message),
        Stop::Write(error) => error.into(),
    })?;
    Ok(into.finish()?)
}

fn no_manifest() -> Stop {
    Stop::Bad(format!(
        "its first member is not `{ARTIFACT_MANIFEST}`, which lists what it holds"
    ))
}

/// An archive that is being unpacked.
struct Members<'m> {
    archive: &'m Path,
    into: &'m mut ArchiveUnpacker,
    paths: Paths,
    /// What its manifest lists, once that was read.
    roots: Option<Vec<String>>,
}

impl Members<'_> {
    fn member(&mut self, member: ParsedMember, content: &mut dyn Read) -> Result<(), Stop> {
        let shown = member
            .path
            .ok_or_else(|| Stop::Bad("a member has a name that is no UTF-8 text".to_owned()))?;
        let path = safe(&shown)?;
        let Some(roots) = &self.roots else {
            return self.manifest(&path, content);
        };
        let is_known = |path: &str| {
            roots
                .iter()
                .any(|root| is_or_is_below(path, root) || is_or_is_below(root, path))
        };
        if !path.is_empty() && !is_known(&path) {
            return Err(Stop::Bad(format!(
                "`{path}` is below none of the folders that the manifest lists"
            )));
        }
        let Some(place) = self.place(&path).filter(|place| !place.is_empty()) else {
            return Ok(());
        };
        match member.kind {
            ParsedMemberKind::Directory => self.into.create_directory(&place)?,
            ParsedMemberKind::File { mode, .. } => self.into.write_file(&place, mode, content)?,
            ParsedMemberKind::Symlink(text) if resolve_link(&place, &text).is_none() => {
                return Err(Stop::Bad(format!(
                    "the link `{path}` leads out of the artifact, to `{text}`"
                )));
            }
            ParsedMemberKind::Symlink(text) => self.into.add_symlink(&place, &text),
            ParsedMemberKind::HardLink(other) => {
                let other = safe(&other)?;
                let known = self.place(&other).filter(|other| self.into.has_file(other));
                let known = known.ok_or_else(|| {
                    Stop::Bad(format!(
                        "`{path}` is another name of `{other}`, which is no file in front of it"
                    ))
                })?;
                self.into.hard_link(&place, &known)?;
            }
            ParsedMemberKind::Unsupported(what) => {
                return Err(Stop::Bad(format!("the member `{path}` is {what}")));
            }
        }
        Ok(())
    }

    fn manifest(&mut self, path: &str, content: &mut dyn Read) -> Result<(), Stop> {
        if path != ARTIFACT_MANIFEST {
            return Err(no_manifest());
        }
        let text = read_to_string_limited(content, MAX_MANIFEST_BYTES)?;
        if self.paths == Paths::Kept {
            self.into
                .write_file(ARTIFACT_MANIFEST, 0o644, &mut text.as_bytes())?;
        }
        let (roots, faults) = parse_artifact_manifest(&text, self.archive)
            .map_err(|fault| Stop::Fault(Box::new(fault)))?;
        if let Some(fault) = faults.into_iter().next() {
            return Err(Stop::Bad(fault.message));
        }
        self.roots = Some(roots);
        Ok(())
    }

    /// Where a member goes.
    fn place(&self, path: &str) -> Option<String> {
        if self.paths == Paths::Kept {
            return Some(path.to_owned());
        }
        let mut roots = self.roots.iter().flatten();
        roots
            .find_map(|root| path.strip_prefix(root.as_str())?.strip_prefix('/'))
            .map(str::to_owned)
    }
}

fn is_or_is_below(path: &str, root: &str) -> bool {
    path.strip_prefix(root)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the path of a member that leads nowhere else, and that packages can list and terminals
/// can show.
fn safe(path: &str) -> Result<String, Stop> {
    if path.contains(char::is_control) {
        return Err(Stop::Bad(format!(
            "the member `{}` has a control character in its name",
            path.escape_debug()
        )));
    }
    safe_member_path(path)
        .ok_or_else(|| Stop::Bad(format!("the member `{path}` leads out of the artifact")))
}
