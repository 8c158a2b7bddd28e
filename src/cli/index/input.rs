//! The files of an index, from a directory or from published releases.

use std::collections::BTreeSet;
use std::path::{Component, Path};
use std::sync::Arc;

use super::{
    Exit, FileLinks, IndexOptions, Known, Shell, Sink, Texts, assets, known, pages::offers_files,
    published, withdrawn_in,
};
use crate::cli::assets::Depth;
use crate::cli::published::{Manifests, Part, Published};
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Severity};
use crate::index::{IndexFile, PublishedOrigin, carry_over};
use crate::names::YankedFiles;
use crate::publish::{
    INDEX, ManifestRowSet, PublishedAt, RebuiltFile, as_release, index_files, merged,
};
use crate::sys;

/// The input of an index.
pub(super) struct Input {
    pub(super) files: Vec<IndexFile>,
    /// Files of older releases that newer ones rebuilt.
    pub(super) rebuilt: Vec<RebuiltFile>,
    /// Files that the indexes of release directories yank.
    pub(super) of_folders: YankedFiles,
}

/// Returns the wheels and sdists of a directory, whose index is in `out`; reports if there are
/// none. Wheels with an unknown label are left out, with a warning.
pub(super) fn of_folder(
    args: &IndexOptions,
    folder: &Path,
    out: &Path,
    compat: &Compat,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Vec<IndexFile>, Exit> {
    let folders = [folder.to_owned()];
    let files = assets::found(&folders, sink);
    let has_files = !files.is_empty();
    let mut known = Known::nothing();
    if !args.read_all {
        known = Known::beside(&files, Texts::Wanted, shell);
        for path in &args.known {
            known.add(path, sink)?;
        }
    }
    let gathered = assets::gather(&files, Depth::List, &known, compat, sink);
    known::tell(&gathered, shell);
    let assets: Vec<_> = gathered
        .into_iter()
        .map(|gathered| gathered.asset)
        .collect();
    as_release(&assets, sink);
    let listed = assets
        .into_iter()
        .map(|asset| asset.file)
        .filter(IndexFile::is_listed);
    let listed: Vec<IndexFile> = listed.collect();
    if listed.is_empty() && !sink.has_errors() {
        let none = assets::none_in(&folders);
        if offers_files(out) {
            sink.push(as_it_is(none, out));
        } else if !has_files {
            sink.push(none);
        }
    }
    Ok(listed)
}

/// Returns the published files, with the yanks of the indexes in their directories, and the files
/// of older releases that newer ones rebuilt. `base` is the base URL of files in directories, if
/// given.
pub(super) fn of_published(
    args: &IndexOptions,
    out: &Path,
    base: Option<&FileLinks>,
    compat: &Compat,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Input, Exit> {
    let manifests = Manifests::Newest(args.reading.most_manifests);
    let mut published: Published<ManifestRowSet> = published::read_as(
        &args.published,
        &args.reading.connection,
        manifests,
        shell,
        sink,
    )?;
    args.prereleases.leave_out(published.listings_mut(), shell);
    let links_to = |part: &Part<ManifestRowSet>, folder: &Path| match base {
        Some(FileLinks::Absolute(base)) => FileLinks::Absolute(base.below(part.subfolder())),
        _ => FileLinks::Relative(steps(out, folder)),
    };
    let (plain, listed): (Vec<&mut Part<_>>, Vec<&mut Part<_>>) = published
        .parts
        .iter_mut()
        .partition(|part| part.folder.is_some() && part.manifests.is_empty());
    // The index of a directory applies to the bytes in it: a later release may have other bytes
    // under the same name.
    let mut of_folders = YankedFiles::default();
    for folder in listed.iter().filter_map(|part| part.folder.as_deref()) {
        of_folders.extend(withdrawn_in(&folder.join(INDEX), sink)?.unwrap_or_default());
    }
    let places: Vec<PublishedAt<'_>> = listed
        .into_iter()
        .map(|part| PublishedAt {
            told: std::mem::take(&mut part.manifests),
            listing: &part.listing,
            links: part.folder.as_deref().map(|folder| links_to(part, folder)),
            sidecars: part.folder.as_deref().map(sidecars).unwrap_or_default(),
        })
        .collect();
    let mut files = index_files(places, &compat.rocm_versions(), sink);
    // Directories without a manifest only have filenames, so their wheels are read.
    for (part, folder) in plain
        .iter()
        .filter_map(|part| Some((part, part.folder.as_deref()?)))
    {
        let origin = Arc::new(PublishedOrigin {
            links: links_to(part, folder),
            tag: String::new(),
        });
        let mut read = of_folder(args, folder, out, compat, shell, sink)?;
        let withdrawn = withdrawn_in(&folder.join(INDEX), sink)?.unwrap_or_default();
        carry_over(&withdrawn.ignoring_digests(), &mut read);
        files.extend(read.into_iter().map(|file| IndexFile {
            origin: Some(origin.clone()),
            metadata: None,
            ..file
        }));
    }
    let (mut files, rebuilt) = merged(files, sink);
    for file in &mut files {
        file.is_of_sdk = file.is_of_sdk || assets::is_of_sdk(&file.project.normalized(), compat);
    }
    if files.is_empty() {
        let none = published.no_wheels();
        sink.push(if offers_files(out) {
            as_it_is(none, out)
        } else {
            none.severity(Severity::Warning)
        });
    }
    carry_over(&of_folders, &mut files);
    // Leaked on purpose: freeing the many small strings takes a tenth of the run.
    std::mem::forget(published);
    Ok(Input {
        files,
        rebuilt,
        of_folders,
    })
}

/// Adds that the index was not changed. An empty input is usually a mistake, so an index that lists
/// files is not emptied, and its yanks are kept.
fn as_it_is(none: Diagnostic, out: &Path) -> Diagnostic {
    let out = out.display();
    none.note(format!("`{out}` was not changed and still lists its files"))
        .help(format!("delete `{out}` if it should list nothing"))
}

/// Returns the names of the files in a directory whose METADATA is next to them.
fn sidecars(folder: &Path) -> BTreeSet<String> {
    let names = sys::entry_names(folder).unwrap_or_default();
    names
        .iter()
        .filter_map(|name| name.strip_suffix(".metadata").map(str::to_owned))
        .collect()
}

/// Returns the relative path from one directory to another.
pub(super) fn steps(from: &Path, to: &Path) -> Vec<String> {
    let (from, to) = (normal(from), normal(to));
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..".to_owned(), from.len() - shared);
    up.chain(to[shared..].iter().cloned()).collect()
}

/// Returns the components of an absolute path without `.` and `..`. Symbolic links are resolved as
/// far as the path exists.
pub(super) fn normal(path: &Path) -> Vec<String> {
    let absolute = sys::real_path(path);
    let mut parts = Vec::new();
    for part in absolute.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_string_lossy().into_owned()),
            Component::ParentDir => drop(parts.pop()),
            _ => {}
        }
    }
    parts
}
