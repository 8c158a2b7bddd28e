//! What an attestation is about: the files to be published and their digests.

use std::path::{Path, PathBuf};

use super::{Args, Exit, Shell, assets, cloned, left_out, load, named, once};
use crate::cli::assets::Depth;
use crate::diagnostic::Sink;
use crate::publish::{as_github_release, sums};
use crate::sys;

/// Writes them as `sha256sum` does, so many to a file, and prints the names of the files. Further
/// files that an earlier run left are removed: what they tell of is not published.
pub(super) fn write(args: &Args, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    let Some(first) = &args.subjects else {
        return Ok(Exit::Done);
    };
    let compat = load::compat(shell)?;
    let files = assets::files(&named(args), sink);
    let known = super::known(args, &files, shell, sink)?;
    let offered = assets::gather(&files, Depth::Verify, &known, compat, sink);
    as_github_release(&cloned(&offered), &left_out(&files, &offered), sink);
    if sink.has_errors() {
        return Err(Exit::Fault);
    }
    let mut offered = once(offered);
    offered.sort_by(|one, other| one.asset.name().cmp(other.asset.name()));
    let mut told = String::new();
    let mut parts = 0;
    for (at, part) in offered
        .chunks(compat.limit_value("attestation-subjects").max(1))
        .enumerate()
    {
        let path = nth(first, at);
        let text = sums(
            part.iter()
                .map(|gathered| (gathered.asset.name(), gathered.asset.digest)),
        );
        sys::write_if_changed(&path, text.as_bytes()).map_err(|error| {
            sink.push(error.into());
            Exit::Machine
        })?;
        told.push_str(&format!("{}\n", path.display()));
        parts = at + 1;
    }
    for stale in (parts..)
        .map(|at| nth(first, at))
        .take_while(|path| sys::is_file(path))
    {
        sys::remove(&stale).map_err(|error| {
            sink.push(error.into());
            Exit::Machine
        })?;
    }
    Ok(shell.print(&told))
}

/// `FILE`, `FILE-2`, ….
fn nth(first: &Path, at: usize) -> PathBuf {
    if at == 0 {
        return first.to_owned();
    }
    let mut name = first.as_os_str().to_owned();
    name.push(format!("-{}", at + 1));
    name.into()
}
