//! The files of an index that is made of a directory of wheels.

use std::path::Path;

use rock_diagnostic::Sink;
use rock_index::IndexFile;

use crate::index_directory::{index_kept, lists_files};
use crate::{LocalAsset, as_release, no_files_in};

/// Returns the files that an index of `directory` lists, whose pages are in `out`, and reports
/// errors of the assets as a release. Wheels with an unknown label are left out. Reports if there
/// are no files, or if `out` lists files that would be removed.
pub fn listed_files(
    assets: Vec<LocalAsset>,
    directory: &Path,
    out: &Path,
    sink: &mut Sink,
) -> Vec<IndexFile> {
    let has_assets = !assets.is_empty();
    let assets: Vec<_> = assets.into_iter().map(|file| file.asset).collect();
    as_release(&assets, sink);
    let files: Vec<IndexFile> = assets
        .into_iter()
        .map(|asset| asset.file)
        .filter(IndexFile::is_listed)
        .collect();
    if files.is_empty() && !sink.has_errors() {
        let none = no_files_in(&[directory.to_owned()]);
        if lists_files(out) {
            sink.push(index_kept(none, out));
        } else if !has_assets {
            sink.push(none);
        }
    }
    files
}
