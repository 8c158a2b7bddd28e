//! Archives that are unpacked.

use std::io::Read;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::super::read::{LARGEST_MANIFEST_BYTES, MANIFEST, roots, safe_member};
use super::place;
use crate::archive::{Unpacked, UnpackedKind, each_member};
use crate::cli::Shell;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::registry::sdk as codes;
use crate::names::beside;
use crate::sdk::bucket::Published;
use crate::sys::{self, FileError, Unpacking};

/// Where archives are unpacked to.
pub(super) enum Way {
    /// Into a folder each, below this one.
    Apart(PathBuf),
    /// All into this one, as an installation has it.
    OneTree(PathBuf),
}

/// Why an archive could not be unpacked.
enum Stop {
    Read(std::io::Error),
    Write(FileError),
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

/// Unpacks archives, and tells where each went. A folder of an artifact appears once all of it is there.
///
/// # Errors
/// Every archive that cannot be unpacked.
pub(super) fn all(
    way: &Way,
    places: &[(Published, PathBuf)],
    threads: Option<u16>,
    shell: &Shell,
) -> Result<Vec<PathBuf>, Vec<Diagnostic>> {
    match way {
        Way::Apart(folder) => {
            let one = |(published, path): &(Published, PathBuf)| -> Result<PathBuf, Diagnostic> {
                let target = folder.join(published.name.to_string());
                let mut unpacking = Unpacking::beside(&target)?;
                members(published, path, &mut unpacking, way)?;
                unpacking.finish()?;
                shell.detail(&format!("unpacked {}", target.display()));
                Ok(target)
            };
            let work = || places.par_iter().with_max_len(1).map(one).collect::<Vec<_>>();
            let pool =
                threads.and_then(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build().ok());
            let done = pool.map_or_else(work, |pool| pool.install(work));
            let (mut unpacked, mut faults) = (Vec::new(), Vec::new());
            for one in done {
                match one {
                    Ok(path) => unpacked.push(path),
                    Err(fault) => faults.push(fault),
                }
            }
            if faults.is_empty() { Ok(unpacked) } else { Err(faults) }
        }
        Way::OneTree(folder) => {
            // One after the other: what comes later takes the place of what was there.
            let mut unpacking = Unpacking::new(folder);
            for (published, path) in places {
                members(published, path, &mut unpacking, way).map_err(|fault| vec![fault])?;
            }
            unpacking.finish().map_err(|error| vec![error.into()])?;
            Ok(vec![folder.clone(); places.len()])
        }
    }
}

/// Unpacks the members of one archive: all of them, or without the folders that its manifest lists around them.
fn members(published: &Published, path: &Path, into: &mut Unpacking, way: &Way) -> Result<(), Diagnostic> {
    let source = sys::open_to_read(path).map_err(|error| FileError::new("read", path, error))?;
    let mut unpacked = Members { archive: path, into, is_flat: matches!(way, Way::OneTree(_)), roots: None };
    let done = published
        .compression
        .decoder(source, 1)
        .map_err(Stop::from)
        .and_then(|source| each_member(source, |member, content| unpacked.member(member, content)))
        .and_then(|_| unpacked.roots.map(drop).ok_or_else(no_manifest));
    let bad = |message: String| {
        Diagnostic::new(&codes::BAD_ARTIFACT, message).at(place(path), "").help("remove it and fetch it anew")
    };
    done.map_err(|stop| match stop {
        Stop::Read(error) => bad(format!("the archive is damaged or cut off: {error}")),
        Stop::Bad(message) => bad(message),
        Stop::Write(error) => error.into(),
    })
}

fn no_manifest() -> Stop {
    Stop::Bad(format!("its first member is not `{MANIFEST}`, which lists what it holds"))
}

/// An archive that is being unpacked.
struct Members<'m> {
    archive: &'m Path,
    into: &'m mut Unpacking,
    is_flat: bool,
    /// What its manifest lists, once that was read.
    roots: Option<Vec<String>>,
}

impl Members<'_> {
    fn member(&mut self, member: Unpacked, content: &mut dyn Read) -> Result<(), Stop> {
        let shown = member.path.ok_or_else(|| Stop::Bad("a member has a name that is no UTF-8 text".to_owned()))?;
        let path = safe(&shown)?;
        let Some(roots) = &self.roots else { return self.manifest(&path, content) };
        let is_known = |path: &str| roots.iter().any(|root| is_or_is_below(path, root) || is_or_is_below(root, path));
        if !path.is_empty() && !is_known(&path) {
            return Err(Stop::Bad(format!("`{path}` is below none of the folders that the manifest lists")));
        }
        let Some(place) = self.place(&path).filter(|place| !place.is_empty()) else { return Ok(()) };
        match member.kind {
            UnpackedKind::Folder => self.into.folder(&place)?,
            UnpackedKind::File { mode, .. } => self.into.file(&place, mode, content)?,
            UnpackedKind::Link(text) if beside(&place, &text).is_none() => {
                return Err(Stop::Bad(format!("the link `{path}` leads out of the artifact, to `{text}`")));
            }
            UnpackedKind::Link(text) => self.into.link(&place, &text),
            UnpackedKind::Again(other) => {
                let other = safe(&other)?;
                let known = self.place(&other).filter(|other| self.into.has_file(other));
                let known = known.ok_or_else(|| {
                    Stop::Bad(format!("`{path}` is another name of `{other}`, which is no file in front of it"))
                })?;
                self.into.again(&place, &known)?;
            }
            UnpackedKind::Other(what) => return Err(Stop::Bad(format!("the member `{path}` is {what}"))),
        }
        Ok(())
    }

    fn manifest(&mut self, path: &str, content: &mut dyn Read) -> Result<(), Stop> {
        if path != MANIFEST {
            return Err(no_manifest());
        }
        let mut text = String::new();
        content.take(LARGEST_MANIFEST_BYTES).read_to_string(&mut text)?;
        if !self.is_flat {
            self.into.file(MANIFEST, 0o644, &mut text.as_bytes())?;
        }
        let (roots, faults) = roots(&text, self.archive);
        if let Some(fault) = faults.into_iter().next() {
            return Err(Stop::Bad(fault.message));
        }
        self.roots = Some(roots);
        Ok(())
    }

    /// Where a member goes.
    fn place(&self, path: &str) -> Option<String> {
        if !self.is_flat {
            return Some(path.to_owned());
        }
        let mut roots = self.roots.iter().flatten();
        roots.find_map(|root| path.strip_prefix(root.as_str())?.strip_prefix('/')).map(str::to_owned)
    }
}

fn is_or_is_below(path: &str, root: &str) -> bool {
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The path of a member that leads nowhere else.
fn safe(path: &str) -> Result<String, Stop> {
    safe_member(path).ok_or_else(|| Stop::Bad(format!("the member `{path}` leads out of the artifact")))
}
