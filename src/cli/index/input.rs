//! The files of an index, from a directory or from published releases.

use std::path::Path;

use super::args::IndexArgs;
use crate::cli::{Exit, Shell, publish, published};
use crate::compat::Compat;
use crate::diagnostic::Sink;
use crate::publish::{
    IndexInput, IndexOptions, IndexReader, ManifestRowSet, ManifestSelection, MetadataBody,
    PublishedReleases, find_files,
};

/// Reads the wheels and sdists of a directory.
pub(super) fn read_directory(
    args: &IndexArgs,
    folder: &Path,
    options: &IndexOptions,
    compat: &Compat,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<IndexInput, Exit> {
    let files = find_files(&[folder.to_owned()], sink);
    let cache = publish::digest_cache(
        &args.known,
        args.read_all,
        &files,
        MetadataBody::Load,
        shell,
        sink,
    )?;
    let reader = IndexReader {
        options,
        compat,
        on_note: &|note: &str| shell.detail(note),
    };
    reader
        .read_directory(&files, &cache, sink)
        .map_err(|errors| Exit::collect(errors, sink))
}

/// Reads published releases, without prereleases unless they are included.
pub(super) fn read_published(
    args: &IndexArgs,
    options: &IndexOptions,
    compat: &Compat,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<IndexInput, Exit> {
    let manifests = ManifestSelection::Newest(args.read_options.most_manifests);
    let connection = &args.read_options.connection;
    let mut published: PublishedReleases<ManifestRowSet> =
        published::read_as(&args.published, connection, manifests, shell, sink)?;
    args.prereleases.leave_out(published.listings_mut(), shell);
    let reader = IndexReader {
        options,
        compat,
        on_note: &|note: &str| shell.detail(note),
    };
    reader
        .read_releases(published, sink)
        .map_err(|errors| Exit::collect(errors, sink))
}
