//! The files of an index, from a directory or from published releases.

use std::path::Path;
use std::sync::Arc;

use super::{Exit, FileLinks, IndexOptions, Shell, Sink, publish, published};
use crate::compat::Compat;
use crate::diagnostic::Severity;
use crate::index::{IndexFile, PublishedOrigin, carry_over};
use crate::names::YankedFiles;
use crate::publish::{
    CheckDepth, INDEX, ManifestRowSet, ManifestSelection, MetadataBody, PublishedAt,
    PublishedReleases, PublishedSource, RebuiltFile, cache_note, find_files, index_files,
    index_kept, listed_files, lists_files, merged, names_with_metadata, read_assets,
    read_yanked_files, relative_steps,
};

/// The input of an index.
pub(super) struct Input {
    pub(super) files: Vec<IndexFile>,
    /// Files of older releases that newer ones rebuilt.
    pub(super) rebuilt: Vec<RebuiltFile>,
    /// Files that the indexes of release directories yank.
    pub(super) inherited: YankedFiles,
}

/// Returns the wheels and sdists of a directory, whose index is in `out`; reports if there are
/// none. Wheels with an unknown label are left out, with a warning.
pub(super) fn read_directory(
    args: &IndexOptions,
    folder: &Path,
    out: &Path,
    compat: &Compat,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Vec<IndexFile>, Exit> {
    let files = find_files(&[folder.to_owned()], sink);
    let cache = publish::digest_cache(
        &args.known,
        args.read_all,
        &files,
        MetadataBody::Load,
        shell,
        sink,
    )?;
    let assets = read_assets(&files, CheckDepth::List, &cache, compat, sink);
    shell.detail(&cache_note(&assets));
    Ok(listed_files(assets, folder, out, sink))
}

/// Returns the published files, with the yanks of the indexes in their directories, and the files
/// of older releases that newer ones rebuilt. `base` is the base URL of files in directories, if
/// given.
pub(super) fn read_published(
    args: &IndexOptions,
    out: &Path,
    base: Option<&FileLinks>,
    compat: &Compat,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Input, Exit> {
    let manifests = ManifestSelection::Newest(args.read_options.most_manifests);
    let mut published: PublishedReleases<ManifestRowSet> = published::read_as(
        &args.published,
        &args.read_options.connection,
        manifests,
        shell,
        sink,
    )?;
    args.prereleases.leave_out(published.listings_mut(), shell);
    let links_to = |source: &PublishedSource<ManifestRowSet>, folder: &Path| match base {
        Some(FileLinks::Absolute(base)) => FileLinks::Absolute(base.below(source.subdirectory())),
        _ => FileLinks::Relative(relative_steps(out, folder)),
    };
    let (plain, listed): (Vec<&mut PublishedSource<_>>, Vec<&mut PublishedSource<_>>) = published
        .sources
        .iter_mut()
        .partition(|source| source.directory.is_some() && source.manifests.is_empty());
    // The index of a directory applies to the bytes in it: a later release may have other bytes
    // under the same name.
    let mut inherited = YankedFiles::default();
    for folder in listed
        .iter()
        .filter_map(|source| source.directory.as_deref())
    {
        inherited.extend(read_yanked(folder, sink)?);
    }
    let places: Vec<PublishedAt<'_>> = listed
        .into_iter()
        .map(|source| PublishedAt {
            manifests: std::mem::take(&mut source.manifests),
            listing: &source.listing,
            links: source
                .directory
                .as_deref()
                .map(|folder| links_to(source, folder)),
            sidecars: source
                .directory
                .as_deref()
                .map(names_with_metadata)
                .unwrap_or_default(),
        })
        .collect();
    let mut files = index_files(places, &compat.rocm_versions(), sink);
    // Directories without a manifest only have filenames, so their wheels are read.
    for (source, folder) in plain
        .iter()
        .filter_map(|source| Some((source, source.directory.as_deref()?)))
    {
        let origin = Arc::new(PublishedOrigin {
            links: links_to(source, folder),
            tag: String::new(),
        });
        let mut read = read_directory(args, folder, out, compat, shell, sink)?;
        carry_over(&read_yanked(folder, sink)?.ignoring_digests(), &mut read);
        files.extend(read.into_iter().map(|file| IndexFile {
            origin: Some(origin.clone()),
            metadata: None,
            ..file
        }));
    }
    let (mut files, rebuilt) = merged(files, sink);
    for file in &mut files {
        file.is_of_sdk = file.is_of_sdk || compat.is_sdk_package(&file.project.normalized());
    }
    if files.is_empty() {
        let none = published.no_wheels();
        sink.push(if lists_files(out) {
            index_kept(none, out)
        } else {
            none.severity(Severity::Warning)
        });
    }
    carry_over(&inherited, &mut files);
    // Leaked on purpose: freeing the many small strings takes a tenth of the run.
    std::mem::forget(published);
    Ok(Input {
        files,
        rebuilt,
        inherited,
    })
}

/// Returns the files that the index in the directory of a release yanks.
fn read_yanked(folder: &Path, sink: &mut Sink) -> Result<YankedFiles, Exit> {
    read_yanked_files(&folder.join(INDEX))
        .map(Option::unwrap_or_default)
        .map_err(|errors| Exit::collect(errors, sink))
}
