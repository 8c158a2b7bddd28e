//! Archives that are unpacked.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::place;
use crate::archive::{Unpacked, UnpackedKind, each_member};
use crate::cli::Shell;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::registry::sdk as codes;
use crate::names::{beside, without_dots};
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
                members(published, path, &mut unpacking, false)?;
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
                members(published, path, &mut unpacking, true).map_err(|fault| vec![fault])?;
            }
            unpacking.finish().map_err(|error| vec![error.into()])?;
            Ok(vec![folder.clone(); places.len()])
        }
    }
}

/// Unpacks the members of one archive: all of them, or without the folders that its manifest lists around them.
fn members(published: &Published, path: &Path, into: &mut Unpacking, is_flat: bool) -> Result<(), Diagnostic> {
    let source = sys::open_to_read(path).map_err(|error| FileError::new("read", path, error))?;
    let threads = u32::try_from(rayon::current_num_threads()).unwrap_or(1);
    let mut roots: Vec<String> = Vec::new();
    let done = published.compression.decoder(source, threads).map_err(Stop::from).and_then(|source| {
        each_member(source, |member, content| one(member, content, into, is_flat, &mut roots)).map(drop)
    });
    let bad = |message: String| {
        Diagnostic::new(&codes::BAD_ARTIFACT, message).at(place(path), "").help("remove it and fetch it anew")
    };
    done.map_err(|stop| match stop {
        Stop::Read(error) => bad(format!("the archive is damaged or cut off: {error}")),
        Stop::Bad(message) => bad(message),
        Stop::Write(error) => error.into(),
    })
}

fn one(
    member: Unpacked,
    content: &mut dyn std::io::Read,
    into: &mut Unpacking,
    is_flat: bool,
    roots: &mut Vec<String>,
) -> Result<(), Stop> {
    let safe = |path: &str| match without_dots(path) {
        Some(normal) if !path.starts_with('/') && path.split('/').all(|word| word != "..") => Ok(normal),
        _ => Err(Stop::Bad(format!("the member `{path}` leads out of the artifact"))),
    };
    let shown = member.path.ok_or_else(|| Stop::Bad("a member has a name that is no UTF-8 text".to_owned()))?;
    let path = safe(&shown)?;
    if is_flat && roots.is_empty() {
        let mut text = String::new();
        std::io::Read::read_to_string(content, &mut text)?;
        *roots = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
        return Ok(());
    }
    let below = |path: &str| -> Option<String> {
        if !is_flat {
            return Some(path.to_owned());
        }
        roots.iter().find_map(|root| path.strip_prefix(root.as_str())?.strip_prefix('/')).map(str::to_owned)
    };
    let Some(place) = below(&path).filter(|place| !place.is_empty()) else { return Ok(()) };
    match member.kind {
        UnpackedKind::Folder => into.folder(&place)?,
        UnpackedKind::File { mode, .. } => into.file(&place, mode, content)?,
        UnpackedKind::Link(text) => {
            if beside(&path, &text).is_none() {
                return Err(Stop::Bad(format!("the link `{path}` leads out of the artifact, to `{text}`")));
            }
            into.link(&place, &text);
        }
        UnpackedKind::Again(other) => {
            let other = safe(&other)?;
            let other = below(&other).ok_or_else(|| {
                Stop::Bad(format!("`{path}` is another name of `{other}`, which is in no folder of the manifest"))
            })?;
            into.again(&place, &other)?;
        }
        UnpackedKind::Other(what) => return Err(Stop::Bad(format!("the member `{path}` is {what}"))),
    }
    Ok(())
}
