//! Unpacking of archives.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::bucket::{BucketArchive, UNPACKED_SUM, sum_in, sum_line};
use crate::codes::sdk as codes;
use crate::limits::{MAX_MANIFEST_BYTES, MAX_SUM_BYTES, unreadable_archive};
use crate::{ARTIFACT_MANIFEST, parse_artifact_manifest, safe_member_path};
use rock_bytes::archive::{ParsedMember, ParsedMemberKind, for_each_member};
use rock_bytes::read_to_string_limited;
use rock_diagnostic::{Diagnostic, Location};
use rock_names::{Digest, resolve_link};
use rock_sys::{ArchiveUnpacker, DirectoryLock, FileError, StagingDirectory};

/// The form of fetched artifacts.
#[derive(Debug, Clone)]
pub enum ArtifactForm {
    /// Archives.
    Archives,
    /// One directory per artifact, below this one.
    Directories(PathBuf),
    /// One tree with the files of all artifacts, as an installation has it.
    MergedTree(PathBuf),
}

impl ArtifactForm {
    /// Returns the final path of an artifact.
    pub fn path(&self, published: &BucketArchive, archive: &Path) -> PathBuf {
        match self {
            Self::Archives => archive.to_owned(),
            Self::Directories(directory) => directory.join(published.name.to_string()),
            Self::MergedTree(directory) => directory.clone(),
        }
    }
}

/// The reason for which an archive could not be unpacked.
enum UnpackError {
    Read(std::io::Error),
    Write(FileError),
    /// The manifest is invalid.
    Manifest(Box<Diagnostic>),
    /// The archive is not one of an artifact, for this reason.
    Malformed(String),
}

impl From<std::io::Error> for UnpackError {
    fn from(error: std::io::Error) -> Self {
        Self::Read(error)
    }
}

impl From<FileError> for UnpackError {
    fn from(error: FileError) -> Self {
        Self::Write(error)
    }
}

/// The merged tree, next to the directories of its artifacts in the staging directory.
const TREE: &str = "tree";

/// Unpacks archives, in any order and in parallel. Incomplete directories are hidden.
#[derive(Debug)]
pub(super) enum Unpacker {
    /// A directory appears once it is complete.
    Directories(DirectoryLock),
    /// The tree appears at the end.
    MergedTree(StagingDirectory),
}

impl Unpacker {
    /// Creates an unpacker and removes what a killed run left in its directory, which may be the
    /// one that `held` locks. Returns `None` for [`ArtifactForm::Archives`].
    ///
    /// # Errors
    /// When the directory cannot be created or read.
    pub(super) fn begin(
        form: &ArtifactForm,
        held: &DirectoryLock,
        waits: impl FnOnce(),
    ) -> Result<Option<Self>, FileError> {
        let (ArtifactForm::Directories(directory) | ArtifactForm::MergedTree(directory)) = form
        else {
            return Ok(None);
        };
        let lock = if directory == held.path() {
            held.clone()
        } else {
            rock_sys::create_directory(directory)?;
            let lock = DirectoryLock::acquire(directory, waits)?;
            lock.sweep()?;
            lock
        };
        Ok(Some(match form {
            ArtifactForm::MergedTree(_) => Self::MergedTree(lock.swap(TREE).stage()?),
            ArtifactForm::Archives | ArtifactForm::Directories(_) => Self::Directories(lock),
        }))
    }

    /// Whether there is a directory that was unpacked from the archive with this digest.
    pub(super) fn has(&self, published: &BucketArchive, digest: Digest) -> bool {
        let Self::Directories(lock) = self else {
            return false;
        };
        let directory = lock.path().join(published.name.to_string());
        let sum = rock_sys::read_text(&directory.join(UNPACKED_SUM), MAX_SUM_BYTES);
        rock_sys::is_real_directory(&directory) && sum.is_ok_and(|text| sum_in(&text) == Ok(digest))
    }

    /// Unpacks an archive with this digest, unless its directory was unpacked from it before.
    /// Returns whether it did.
    ///
    /// # Errors
    /// When the archive is damaged, leads out of its directory, or cannot be written.
    pub(super) fn unpack(
        &self,
        published: &BucketArchive,
        archive: &Path,
        digest: Digest,
    ) -> Result<bool, Diagnostic> {
        let name = published.name.to_string();
        match self {
            Self::Directories(_) if self.has(published, digest) => return Ok(false),
            Self::Directories(lock) => {
                let staging = lock.swap(&name).stage()?;
                unpack_members(published, archive, staging.path(), Paths::Kept)?;
                check_links(staging.path(), archive)?;
                let line = sum_line(digest, &published.file());
                rock_sys::write_unsynced(&staging.path().join(UNPACKED_SUM), line.as_bytes())?;
                staging.commit_unsynced()?;
            }
            Self::MergedTree(staging) => {
                unpack_members(
                    published,
                    archive,
                    &staging.staged_path(&name)?,
                    Paths::OfTree,
                )?;
            }
        }
        Ok(true)
    }

    /// Merges artifacts into one tree, in this order: files of later artifacts replace those of
    /// earlier ones and those that existed before.
    ///
    /// # Errors
    /// When a file is in the way, or links of several artifacts together, or with existing ones,
    /// lead out of the tree. The tree is not changed then.
    pub(super) fn finish<'p>(
        self,
        shown: &Path,
        all: impl Iterator<Item = &'p BucketArchive>,
    ) -> Result<(), Diagnostic> {
        let Self::MergedTree(staging) = self else {
            return Ok(());
        };
        let tree = staging.staged_path(TREE)?;
        for published in all {
            rock_sys::merge_tree(&staging.staged_path(&published.name.to_string())?, &tree)?;
        }
        stays_inside(
            rock_sys::find_escaping_link_after_merge(&tree, staging.parent())?,
            shown,
        )?;
        Ok(staging.merge_into(TREE)?)
    }
}

/// Refuses links that lead out of a directory through other links.
fn check_links(directory: &Path, shown: &Path) -> Result<(), Diagnostic> {
    stays_inside(rock_sys::find_escaping_link(directory)?, shown)
}

fn stays_inside(found: Option<(String, String)>, shown: &Path) -> Result<(), Diagnostic> {
    let Some((path, text)) = found else {
        return Ok(());
    };
    let message =
        format!("the link `{path}` leads out of the artifact, to `{text}`, through other links");
    Err(Diagnostic::new(&codes::BAD_ARTIFACT, message)
        .at(Location::File(shown.display().to_string().into()), "")
        .help("remove it and fetch it again"))
}

/// The paths of unpacked members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Paths {
    /// The paths in the archive.
    Kept,
    /// The paths below the roots of the artifact.
    OfTree,
}

/// Unpacks the members of an archive into a new directory.
fn unpack_members(
    published: &BucketArchive,
    archive: &Path,
    directory: &Path,
    paths: Paths,
) -> Result<(), Diagnostic> {
    let source =
        rock_sys::open_file(archive).map_err(|error| FileError::new("read", archive, error))?;
    let mut into = ArchiveUnpacker::new(directory)?;
    let mut unpacked = MemberUnpacker {
        archive,
        into: &mut into,
        paths,
        roots: None,
    };
    let done = published
        .compression
        .decoder(source, 1)
        .map_err(UnpackError::from)
        .and_then(|source| {
            for_each_member(source, |member, content| unpacked.member(member, content))
        })
        .and_then(|()| unpacked.roots.map(drop).ok_or_else(no_manifest));
    let bad = |message: String| {
        Diagnostic::new(&codes::BAD_ARTIFACT, message)
            .at(Location::File(archive.display().to_string().into()), "")
            .help("remove it and fetch it again")
    };
    done.map_err(|error| match error {
        UnpackError::Read(error) => unreadable_archive(archive, &error),
        UnpackError::Manifest(error) => *error,
        UnpackError::Malformed(message) => bad(message),
        UnpackError::Write(error) => error.into(),
    })?;
    Ok(into.finish()?)
}

fn no_manifest() -> UnpackError {
    UnpackError::Malformed(format!(
        "its first member is not `{ARTIFACT_MANIFEST}`, which lists its contents"
    ))
}

/// The unpacking of one archive.
struct MemberUnpacker<'m> {
    archive: &'m Path,
    into: &'m mut ArchiveUnpacker,
    paths: Paths,
    /// `None` until the manifest was read.
    roots: Option<Vec<String>>,
}

impl MemberUnpacker<'_> {
    fn member(&mut self, member: ParsedMember, content: &mut dyn Read) -> Result<(), UnpackError> {
        let shown = member.path.ok_or_else(|| {
            UnpackError::Malformed("a member has a name that is not UTF-8".to_owned())
        })?;
        let path = check_path(&shown)?;
        let Some(roots) = &self.roots else {
            return self.manifest(&path, content);
        };
        let is_known = |path: &str| {
            roots
                .iter()
                .any(|root| is_or_is_below(path, root) || is_or_is_below(root, path))
        };
        if !path.is_empty() && !is_known(&path) {
            return Err(UnpackError::Malformed(format!(
                "`{path}` is below none of the directories that the manifest lists"
            )));
        }
        let Some(place) = self.place(&path).filter(|place| !place.is_empty()) else {
            return Ok(());
        };
        match member.kind {
            ParsedMemberKind::Directory => self.into.create_directory(&place)?,
            ParsedMemberKind::File { mode, .. } => self.into.write_file(&place, mode, content)?,
            ParsedMemberKind::Symlink(text) if resolve_link(&place, &text).is_none() => {
                return Err(UnpackError::Malformed(format!(
                    "the link `{path}` leads out of the artifact, to `{text}`"
                )));
            }
            ParsedMemberKind::Symlink(text) => self.into.add_symlink(&place, &text),
            ParsedMemberKind::HardLink(other) => {
                let other = check_path(&other)?;
                let known = self.place(&other).filter(|other| self.into.has_file(other));
                let known = known.ok_or_else(|| {
                    UnpackError::Malformed(format!(
                        "`{path}` is a hard link to `{other}`, which is not a file that precedes it"
                    ))
                })?;
                self.into.hard_link(&place, &known)?;
            }
            ParsedMemberKind::Unsupported(what) => {
                return Err(UnpackError::Malformed(format!(
                    "the member `{path}` is {what}"
                )));
            }
        }
        Ok(())
    }

    fn manifest(&mut self, path: &str, content: &mut dyn Read) -> Result<(), UnpackError> {
        if path != ARTIFACT_MANIFEST {
            return Err(no_manifest());
        }
        let text = read_to_string_limited(content, MAX_MANIFEST_BYTES)?;
        if self.paths == Paths::Kept {
            self.into
                .write_file(ARTIFACT_MANIFEST, 0o644, &mut text.as_bytes())?;
        }
        let (roots, errors) = parse_artifact_manifest(&text, self.archive)
            .map_err(|error| UnpackError::Manifest(Box::new(error)))?;
        if let Some(error) = errors.into_iter().next() {
            return Err(UnpackError::Malformed(error.message));
        }
        self.roots = Some(roots);
        Ok(())
    }

    /// Returns the path that a member is unpacked to.
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

/// Checks that a path stays in the artifact and has no control characters.
fn check_path(path: &str) -> Result<String, UnpackError> {
    if path.contains(char::is_control) {
        return Err(UnpackError::Malformed(format!(
            "the member `{}` has a control character in its name",
            path.escape_debug()
        )));
    }
    safe_member_path(path).ok_or_else(|| {
        UnpackError::Malformed(format!("the member `{path}` leads out of the artifact"))
    })
}
