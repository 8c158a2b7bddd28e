//! Reads published releases from disk: saved listings, manifests and directories.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::{PublishedReleases, PublishedSource};
use crate::codes::published as codes;
use crate::missing_files::missing_files_warning;
use crate::{
    CheckDepth, DigestCache, GfxOrigin, LARGEST_LISTING_BYTES, ListedAsset, ListedRelease,
    ListingError, LocalAsset, MANIFEST, ManifestFile, ManifestForm, MetadataBody, ReleaseListing,
    ReleaseManifest, WheelCode, pages_help, read_assets, saved_manifests, wheel_code_read,
};
use rock_bytes::start_threads;
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Diagnostics, Location, Sink, SourceText};
use rock_sys::FileError;

impl<M: ManifestForm + Send> PublishedReleases<M> {
    /// Adds a saved listing or a manifest, of at most [`LARGEST_LISTING_BYTES`]. Converts each
    /// manifest when it is read, because a manifest takes several times the memory that most
    /// commands need.
    ///
    /// # Errors
    /// If the file cannot be read, or is neither.
    pub fn add_file(&mut self, path: &Path) -> Result<(), Diagnostics> {
        self.add(read_file(path)?);
        Ok(())
    }

    /// Adds a directory of a release, of several releases, or of wheels.
    ///
    /// # Errors
    /// If the directory cannot be read or has no wheels, or manifests in it are invalid.
    pub fn add_directory(&mut self, path: &Path) -> Result<(), Diagnostics> {
        let manifests = manifest_paths(path).map_err(Diagnostic::from)?;
        if manifests.is_empty() {
            self.add(read_wheel_names(path)?);
            return Ok(());
        }
        start_threads();
        let sources: Vec<Result<PublishedSource<M>, Diagnostic>> = manifests
            .par_iter()
            .map(|manifest| read_file(manifest))
            .collect();
        let mut errors = Vec::new();
        for source in sources {
            match source {
                Ok(source) => self.add(source.in_directory(path)),
                Err(error) => errors.push(error),
            }
        }
        Diagnostics::check(errors)
    }
}

impl PublishedReleases {
    /// Adds wheels in a directory as a release, with the GPU targets of their code. Returns the
    /// errors of wheels that are left out, as warnings.
    pub fn add_wheels(
        &mut self,
        directory: &Path,
        files: &[PathBuf],
        compat: &Compat,
    ) -> Vec<Diagnostic> {
        let mut sink = Sink::new();
        let (cache, _) = DigestCache::of_directories(files, MetadataBody::Skip);
        let assets = read_assets(files, CheckDepth::List, &cache, compat, &mut sink);
        let code = wheel_code_read(&assets, compat);
        let rows = assets
            .iter()
            .map(|file| wheel_row(file, code.get(file.name())));
        let manifest = ReleaseManifest::new(None, None, rows.collect());
        self.add(PublishedSource {
            is_bare_manifest: false,
            ..PublishedSource::of_manifest(manifest, &directory.join(MANIFEST))
        });
        let findings = sink.finish().into_iter();
        findings.map(Diagnostic::error_as_warning).collect()
    }

    /// Removes the files of releases in directories that do not exist, and returns a warning for
    /// each of these releases. Manifests without their files are unchanged.
    pub fn remove_missing_files(&mut self) -> Vec<Diagnostic> {
        self.sources
            .iter_mut()
            .filter_map(PublishedSource::remove_missing_files)
            .collect()
    }
}

impl PublishedSource {
    fn remove_missing_files(&mut self) -> Option<Diagnostic> {
        let directory = self
            .directory
            .as_deref()
            .filter(|_| !self.is_bare_manifest)?;
        let found = rock_sys::entry_names(directory).ok()?;
        let is_missing = |name: &&String| found.binary_search(name).is_err();
        let files = self.manifests.iter().flat_map(|manifest| &manifest.files);
        let names = files.map(|file| &file.name).filter(is_missing);
        let missing: BTreeSet<String> = names.cloned().collect();
        for manifest in &mut self.manifests {
            manifest.files.retain(|file| !missing.contains(&file.name));
        }
        for release in &mut self.listing.releases {
            release
                .assets
                .retain(|asset| !missing.contains(&asset.name));
        }
        let tag = self.manifests.iter().find_map(|one| one.tag.as_deref());
        missing_files_warning(directory, tag, &missing)
    }
}

impl<M> PublishedSource<M> {
    /// Creates the source for a manifest whose files are next to it, as far as they exist.
    pub(super) fn of_manifest(manifest: M, path: &Path) -> Self
    where
        M: ManifestForm,
    {
        let listing = ReleaseListing {
            repository: None,
            releases: vec![manifest.listed_release()],
        };
        Self {
            directory: Some(parent_directory(path).to_owned()),
            is_bare_manifest: true,
            ..Self::new(listing, vec![manifest])
        }
    }

    /// Marks a manifest as that of a release in the given directory, and sets the subdirectory of
    /// the files in it.
    fn in_directory(mut self, given: &Path) -> Self {
        let below = self
            .directory
            .as_deref()
            .and_then(|directory| directory.strip_prefix(given).ok());
        let name = below
            .and_then(Path::to_str)
            .filter(|name| !name.is_empty() && *name != ".")
            .map(str::to_owned);
        self.listing
            .releases
            .iter_mut()
            .for_each(|release| release.subdirectory.clone_from(&name));
        Self {
            is_bare_manifest: false,
            ..self
        }
    }
}

/// Reads a saved listing or a manifest.
fn read_file<M: ManifestForm>(path: &Path) -> Result<PublishedSource<M>, Diagnostic> {
    let text = rock_sys::read_text(path, LARGEST_LISTING_BYTES)?;
    let source = || SourceText::new(path.display().to_string(), text.as_str());
    match M::from_json(&text) {
        Ok(manifest) => Ok(PublishedSource::of_manifest(manifest, path)),
        Err(error) if path.file_name() == Some(MANIFEST.as_ref()) => Err(Diagnostic::new(
            &codes::BAD_MANIFEST,
            format!("`{}` cannot be used: {error}", path.display()),
        )
        .at(source().location(0..0), "")
        .help(
            "publish the release again, or leave out the manifest; then only the names of its files are known",
        )),
        Err(_) => {
            let manifests = saved_manifests(&text);
            let saved =
                manifests.and_then(|saved| Ok((ReleaseListing::from_json(&text)?, saved)));
            let (listing, manifests) = saved.map_err(|error| invalid_listing(&source(), &error))?;
            let manifests = manifests.into_iter().map(M::from).collect();
            Ok(PublishedSource::new(listing, manifests))
        }
    }
}

/// Returns the diagnostic for a file that is not a listing of releases.
pub fn invalid_listing(source: &SourceText, error: &ListingError) -> Diagnostic {
    Diagnostic::new(&codes::NOT_A_LISTING, format!("`{}`: {error}", source.path))
        .at(source.location(0..0), "")
        .help("save it with `rock-matrix report listing --published OWNER/REPO`")
}

/// Returns the manifest row of a wheel with the facts from its libraries, or with those that a
/// manifest records.
fn wheel_row(file: &LocalAsset, code: Option<&WheelCode>) -> ManifestFile {
    let row = file.asset.row(None);
    let (gfx, needs_rocm) = match (code, &file.asset.gfx_read) {
        (Some(code), _) => (&code.gfx, &code.needs_rocm),
        (None, Some(gfx)) => (gfx, &file.asset.needs_rocm),
        (None, None) => return row,
    };
    ManifestFile {
        gfx: gfx.clone(),
        gfx_from: Some(GfxOrigin::Wheel),
        needs_rocm: needs_rocm.clone(),
        needs_torch: code.and_then(|code| code.needs_torch.clone()),
        ..row
    }
}

/// Returns the parent directory of a file: `.` for a bare name, whose parent is the empty path.
fn parent_directory(file: &Path) -> &Path {
    file.parent()
        .filter(|directory| !directory.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// Returns the manifests in a directory and its subdirectories.
fn manifest_paths(directory: &Path) -> Result<Vec<PathBuf>, FileError> {
    let subdirectories = rock_sys::subdirectories(directory)?;
    let directories = std::iter::once(directory.to_owned()).chain(subdirectories);
    Ok(directories
        .map(|directory| directory.join(MANIFEST))
        .filter(|manifest| rock_sys::is_file(manifest))
        .collect())
}

/// Reads the names of the wheels in a directory without a manifest.
fn read_wheel_names<M>(directory: &Path) -> Result<PublishedSource<M>, Diagnostic> {
    let assets: Vec<ListedAsset> = rock_sys::files_with_extension(directory, &["whl"])?
        .iter()
        .filter_map(|file| Some(file.file_name()?.to_str()?.to_owned()))
        .map(|name| ListedAsset {
            name,
            ..ListedAsset::default()
        })
        .collect();
    if assets.is_empty() {
        let shown = directory.display().to_string();
        let message =
            format!("`{shown}` contains no wheel, and no `{MANIFEST}` in it or a subdirectory");
        return Err(Diagnostic::new(&codes::NOT_A_LISTING, message)
            .at(Location::File(shown.into()), "")
            .help(pages_help(directory).unwrap_or_else(|| {
                "pass the directory that `rock-matrix publish --out DIR` wrote".to_owned()
            })));
    }
    let release = ListedRelease {
        assets,
        ..ListedRelease::default()
    };
    let listing = ReleaseListing {
        repository: None,
        releases: vec![release],
    };
    Ok(PublishedSource {
        directory: Some(directory.to_owned()),
        ..PublishedSource::new(listing, Vec::new())
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{PublishedReleases, ReleaseManifest};

    fn write(path: &Path, text: &str) {
        rock_sys::create_directory(path.parent().unwrap()).unwrap();
        rock_sys::write_atomic(path, text.as_bytes()).unwrap();
    }

    #[test]
    fn a_directory_of_releases_has_one_source_for_each_manifest() {
        let directory = tempfile::tempdir().unwrap();
        for tag in ["v1", "v2"] {
            let manifest = ReleaseManifest::new(Some(tag.to_owned()), None, vec![]);
            let path = directory.path().join(tag).join("rock-manifest.json");
            write(&path, &manifest.to_json());
        }
        let mut published: PublishedReleases = PublishedReleases::new(&[directory.path()]);
        published.add_directory(directory.path()).unwrap();
        let subdirectories: Vec<_> = published
            .sources
            .iter()
            .map(|source| source.subdirectory())
            .collect();
        assert_eq!(subdirectories, [Some("v1"), Some("v2")]);

        write(&directory.path().join("v1/rock-manifest.json"), "{}");
        write(&directory.path().join("v2/rock-manifest.json"), "[");
        let mut published: PublishedReleases = PublishedReleases::new(&[directory.path()]);
        let errors = published.add_directory(directory.path()).unwrap_err();
        assert_eq!(errors.as_slice().len(), 2, "{errors}");
    }

    #[test]
    fn a_directory_without_manifest_has_the_names_of_its_wheels() {
        let directory = tempfile::tempdir().unwrap();
        let mut published: PublishedReleases = PublishedReleases::new(&[directory.path()]);
        let errors = published.add_directory(directory.path()).unwrap_err();
        assert_eq!(errors.as_slice()[0].code.name, "not-a-listing");

        write(&directory.path().join("a-1-py3-none-any.whl"), "");
        published.add_directory(directory.path()).unwrap();
        assert_eq!(published.listing().wheels().count(), 1);
        assert_eq!(
            published.directories().collect::<Vec<_>>(),
            [directory.path()]
        );
    }

    #[test]
    fn missing_files_are_removed_from_releases_but_not_from_bare_manifests() {
        let directory = tempfile::tempdir().unwrap();
        let rows = ["a-1-py3-none-any.whl", "b-1-py3-none-any.whl"]
            .map(|name| crate::testing::asset(name, 1).row(None));
        let manifest = ReleaseManifest::new(None, None, rows.to_vec());
        let path = directory.path().join("rock-manifest.json");
        write(&path, &manifest.to_json());
        write(&directory.path().join("a-1-py3-none-any.whl"), "");
        let mut published: PublishedReleases = PublishedReleases::new(&[directory.path()]);
        published.add_directory(directory.path()).unwrap();
        let warnings = published.remove_missing_files();
        assert_eq!(warnings.len(), 1);
        assert_eq!(
            warnings[0].message,
            "a file of the release is listed but missing: `b-1-py3-none-any.whl`"
        );
        assert_eq!(published.manifests()[0].files.len(), 1);
        assert_eq!(published.listing().wheels().count(), 1);
        let mut published: PublishedReleases = PublishedReleases::new(&[&path]);
        published.add_file(&path).unwrap();
        assert_eq!(published.remove_missing_files(), []);
        assert_eq!(published.manifests()[0].files.len(), 2);
    }

    #[test]
    fn other_files_are_rejected_by_name_and_content() {
        let directory = tempfile::tempdir().unwrap();
        let code = |name: &str, text: &str| {
            let path = directory.path().join(name);
            write(&path, text);
            let mut published: PublishedReleases = PublishedReleases::new(&[&path]);
            let errors = published.add_file(&path).unwrap_err();
            errors.as_slice()[0].code.name
        };
        assert_eq!(code("rock-manifest.json", "{}"), "bad-manifest");
        assert_eq!(code("releases.json", "{}"), "not-a-listing");
    }
}
