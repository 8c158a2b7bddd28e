//! Reads the files to publish, and what the command line and the plan contain about them.

use std::path::Path;

use crate::cli::assets::{self, Depth};
use crate::cli::publish::contents::check_torch;
use crate::cli::publish::planned::Planned;
use crate::cli::publish::{
    Args, Exit, Gathered, Shell, cloned, left_out, load, named, once, parsed,
};
use crate::cli::{known, publish};
use crate::codes::release as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Location, Sink};
use crate::publish::remote::LONGEST_NAME_BYTES;
use crate::publish::{GitTag, as_github_release};
use crate::sys;

/// The files to publish, and the data for their release.
pub(super) struct Offer {
    pub(super) tag: GitTag,
    pub(super) planned: Planned,
    /// The text of the release, if given.
    pub(super) notes: Option<String>,
    /// The files; names are unique.
    pub(super) files: Vec<Gathered>,
    /// The compatibility tables.
    pub(super) compat: &'static Compat,
}

impl Offer {
    /// Reads the files and reports every error.
    pub(super) fn gather(args: &Args, shell: &Shell, sink: &mut Sink) -> Result<Self, Exit> {
        let tag: Option<GitTag> = parsed(
            args.tag.as_deref(),
            &codes::BAD_TAG,
            "--tag",
            "write it like `v1` or `nightly-20261101`",
            sink,
        );
        let compat = load::compat(shell)?;
        let planned = match &args.plan {
            Some(path) => Planned::read(path, sink)?,
            None => Planned::default(),
        };
        args.legs
            .check_plan(args.plan.as_deref(), planned.digest, sink);
        let given = assets::files(&named(args), sink);
        // Before anything is read, because the largest files are the ones that are refused.
        let largest = compat.limit_value("asset") as u64;
        let taken: Vec<_> = given
            .iter()
            .filter(|file| is_taken(file, largest, sink))
            .cloned()
            .collect();
        let known = publish::recorded_digests(&args.known, args.read_all, &taken, shell, sink)?;
        let files = assets::gather(&taken, Depth::Verify, &known, compat, sink);
        known::tell(&files, shell);
        check_torch(&files, args, compat, sink);
        as_github_release(&cloned(&files), &left_out(&given, &files), sink);
        let longest = compat.limit_value("release-text") as u64;
        let notes = args
            .github
            .notes
            .as_ref()
            .map(|path| sys::read_text(path, longest))
            .transpose();
        let notes = notes.unwrap_or_else(|error| {
            sink.push(error.into());
            None
        });
        let Some(tag) = tag.filter(|_| !sink.has_errors()) else {
            return Err(Exit::Fault);
        };
        Ok(Self {
            tag,
            planned,
            notes,
            files: once(files),
            compat,
        })
    }
}

/// Whether GitHub accepts a file of this size with a name of this length. A file without readable
/// metadata is reported later, when it is read.
fn is_taken(path: &Path, largest_bytes: u64, sink: &mut Sink) -> bool {
    let Some((size, _)) = sys::size_and_mtime(path) else {
        return true;
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (reason, help) = match size {
        0 => ("is empty".to_owned(), "build it again"),
        _ if size > largest_bytes => (
            format!(
                "has {size} bytes, and GitHub accepts fewer than {}",
                largest_bytes.saturating_add(1)
            ),
            "build it for fewer gfx targets, or split it",
        ),
        _ if name.len() > LONGEST_NAME_BYTES => (
            format!(
                "has a name of {} bytes, and GitHub accepts 255, or {LONGEST_NAME_BYTES} for a file that can be replaced",
                name.len()
            ),
            "give it a shorter local version label",
        ),
        _ => return true,
    };
    sink.push(
        Diagnostic::new(&codes::FILE_NOT_TAKEN, format!("`{name}` {reason}"))
            .at(Location::File(path.display().to_string().into()), "")
            .help(help),
    );
    false
}
