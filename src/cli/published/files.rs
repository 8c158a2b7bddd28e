//! Reads published releases from disk: saved listings, manifests and directories.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::Part;
use crate::bytes::start_threads;
use crate::cli::{Exit, Shell, load};
use crate::codes::release as codes;
use crate::diagnostic::{Diagnostic, Location, Sink, SourceText};
use crate::publish::{
    ListedAsset, ListedRelease, ListingError, MANIFEST, ReleaseListing, ReleaseManifest,
    saved_manifests,
};
use crate::sys;

/// Reads saved listings and manifests.
pub(super) fn files<M: From<ReleaseManifest> + Send>(
    paths: &[PathBuf],
    sink: &mut Sink,
) -> Vec<Part<M>> {
    start_threads();
    let read: Vec<Result<Part<M>, Diagnostic>> = paths.par_iter().map(|path| part(path)).collect();
    read.into_iter()
        .filter_map(|read| read.map_err(|error| sink.push(error)).ok())
        .collect()
}

fn part<M: From<ReleaseManifest>>(path: &Path) -> Result<Part<M>, Diagnostic> {
    let text = load::listing_text(path)?;
    let source = || SourceText::new(path.display().to_string(), text.as_str());
    match ReleaseManifest::from_json(&text) {
        Ok(manifest) => Ok(Part {
            listing: ReleaseListing { repository: None, releases: vec![ListedRelease::of_manifest(&manifest)] },
            is_bare_manifest: true,
            live: None,
            folder: Some(folder_of(path).to_owned()),
            manifests: vec![manifest.into()],
        }),
        Err(error) if path.file_name() == Some(MANIFEST.as_ref()) => Err(Diagnostic::new(
            &codes::BAD_MANIFEST,
            format!("`{}` cannot be used: {error}", path.display()),
        )
        .at(source().location(0..0), "")
        .help("publish the release again, or leave out the manifest; then only the names of its files are known")),
        Err(_) => {
            let read = saved_manifests(&text).and_then(|saved| Ok((ReleaseListing::from_json(&text)?, saved)));
            let (listing, manifests) = read.map_err(|error| no_listing(&source(), &error))?;
            Ok(Part::of(listing, manifests.into_iter().map(M::from).collect()))
        }
    }
}

/// Returns the diagnostic for a file that is not a listing of releases.
pub(in crate::cli) fn no_listing(source: &SourceText, error: &ListingError) -> Diagnostic {
    Diagnostic::new(&codes::NOT_A_LISTING, format!("`{}`: {error}", source.path))
        .at(source.location(0..0), "")
        .help("save it with `rock-matrix report listing --published OWNER/REPO`")
}

/// Returns the directory of a file: `.` for a bare name, whose parent is the empty path.
fn folder_of(file: &Path) -> &Path {
    file.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Reads a directory of a release, of several releases, or of wheels.
pub(super) fn folder<M: From<ReleaseManifest> + Send>(
    path: &Path,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Vec<Part<M>>, Exit> {
    let folders = sys::subdirectories(path).map_err(|error| shell.report(&[error.into()]))?;
    let places = std::iter::once(path.to_owned()).chain(folders);
    let manifests: Vec<PathBuf> = places
        .map(|folder| folder.join(MANIFEST))
        .filter(|manifest| sys::is_file(manifest))
        .collect();
    if !manifests.is_empty() {
        let parts = files(&manifests, sink);
        return Ok(parts.into_iter().map(|part| part.in_folder(path)).collect());
    }
    let wheels =
        sys::files_with_extension(path, &["whl"]).map_err(|error| shell.report(&[error.into()]))?;
    let name = |file: &PathBuf| Some(file.file_name()?.to_str()?.to_owned());
    let assets: Vec<ListedAsset> = wheels
        .iter()
        .filter_map(name)
        .map(|name| ListedAsset {
            name,
            ..ListedAsset::default()
        })
        .collect();
    if assets.is_empty() {
        sink.push(
            Diagnostic::new(
                &codes::NOT_A_LISTING,
                format!(
                    "`{}` contains no wheel, and no `{MANIFEST}` in it or a subdirectory",
                    path.display()
                ),
            )
            .at(Location::File(path.display().to_string().into()), "")
            .help("pass the directory that `rock-matrix publish --out DIR` wrote"),
        );
    }
    let release = ListedRelease {
        assets,
        ..ListedRelease::default()
    };
    let listing = ReleaseListing {
        repository: None,
        releases: vec![release],
    };
    Ok(vec![Part {
        folder: Some(path.to_owned()),
        ..Part::of(listing, Vec::new())
    }])
}
