//! The files of an index, from a directory of wheels or from published releases.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Diagnostics, Severity, Sink};
use rock_index::{IndexFile, PublishedOrigin, carry_over};
use rock_names::YankedFiles;
use rock_sys::real_path;

use crate::index_directory::{index_kept, lists_files};
use crate::{
    CheckDepth, DigestCache, INDEX, IndexAction, IndexOptions, LocalAsset, ManifestRowSet,
    MetadataBody, MetadataFiles, PublishedAt, PublishedReleases, PublishedSource, RebuiltFile,
    YankRuleSet, as_release, cache_note, find_files, index_files, merged, no_files_in, read_assets,
    read_yanked_files,
};

/// The files that an index will list.
#[derive(Debug)]
pub struct IndexInput {
    pub(crate) files: Vec<IndexFile>,
    /// Files of older releases that newer ones rebuilt.
    pub(crate) rebuilt: Vec<RebuiltFile>,
    /// Files that the indexes in the directories of wheels or releases yank.
    pub(crate) inherited: Vec<InheritedYanks>,
}

/// The files that the index in a directory of wheels or of a release yanks.
#[derive(Debug)]
pub(crate) struct InheritedYanks {
    pub(crate) directory: PathBuf,
    pub(crate) files: YankedFiles,
}

impl InheritedYanks {
    /// Returns those of these files that the index yanks.
    pub(crate) fn among<'f>(&self, files: &'f [IndexFile]) -> Vec<&'f IndexFile> {
        files
            .iter()
            .filter(|file| self.files.reason(&file.name, file.digest).is_some())
            .collect()
    }
}

/// Reads the files of an index.
///
/// ```
/// use rock_compat::Compat;
/// use rock_diagnostic::Sink;
/// use rock_publish::{
///     IndexAction, IndexOptions, IndexReader, IndexUpdate, ManifestRowSet, PublishedReleases,
///     YankRuleSet, lists_files,
/// };
///
/// let directory = tempfile::tempdir()?;
/// let saved = directory.path().join("releases.json");
/// let listing = r#"[{"tag_name": "v1", "assets": [{
///     "name": "demo-1.0+rocm62torch2.5-py3-none-any.whl",
///     "browser_download_url": "https://example.org/v1/demo-1.0%2Brocm62torch2.5-py3-none-any.whl"
/// }]}]"#;
/// rock_sys::write_atomic(&saved, listing.as_bytes())?;
/// let mut published = PublishedReleases::<ManifestRowSet>::new(&[&saved]);
/// published.add_file(&saved)?;
///
/// let (compat, mut sink) = (Compat::embedded(), Sink::new());
/// let options = IndexOptions {
///     out: directory.path().join("simple"),
///     wheels: None,
///     base_url: None,
///     omits_metadata: false,
///     action: IndexAction::Build,
/// };
/// let reader = IndexReader {
///     options: &options,
///     compat: &compat,
///     on_note: &|_: &str| (),
/// };
/// let input = reader.read_releases(published, &mut sink)?;
/// let rules = YankRuleSet::default();
/// assert!(input.check_rules(&rules)?.is_empty());
///
/// let mut update = IndexUpdate::open(input, &options, &compat, || ())?;
/// let (report, _) = update.yank(&rules, 0);
/// assert!(report.is_empty());
/// sink.extend(update.warnings());
/// assert!(!sink.has_errors());
/// assert!(update.write()?.is_some_and(|written| written.is_changed));
/// assert!(lists_files(&options.out));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct IndexReader<'a> {
    /// The settings of the index.
    pub options: &'a IndexOptions,
    /// The compatibility data.
    pub compat: &'a Compat,
    /// Receives notes about recorded digests.
    pub on_note: &'a dyn Fn(&str),
}

impl IndexReader<'_> {
    /// Reads these wheels and sdists of the directory of the wheels, except those in the cache, and
    /// reports errors of them as a release. Wheels with an unknown label are left out. Reports if
    /// there are no files, or if the index lists files that would be removed. If an index is built,
    /// warns of files that a manifest in the directory lists, but that are missing. Files that an
    /// index in the directory yanks are yanked in one that is built elsewhere, too.
    ///
    /// # Errors
    /// A page with yanked files in the directory cannot be read.
    pub fn read_directory(
        &self,
        files: &[PathBuf],
        cache: &DigestCache,
        sink: &mut Sink,
    ) -> Result<IndexInput, Diagnostics> {
        if self.options.action == IndexAction::Build {
            sink.extend(cache.missing_files(files));
        }
        let directory = self.options.wheel_directory();
        let inherited = inherited_yanks([directory], &self.options.out)?;
        let mut files = self.read_files(directory, files, cache, sink);
        carry_over(&inherited, &mut files);
        let inherited = InheritedYanks {
            directory: directory.to_owned(),
            files: inherited,
        };
        Ok(IndexInput {
            files,
            rebuilt: Vec::new(),
            inherited: vec![inherited],
        })
    }

    /// Lists the files of published releases, with the yanks of the indexes in their directories.
    /// Skipped files are reported with the reason.
    ///
    /// # Errors
    /// A page with yanked files in a directory cannot be read.
    pub fn read_releases(
        &self,
        mut published: PublishedReleases<ManifestRowSet>,
        sink: &mut Sink,
    ) -> Result<IndexInput, Diagnostics> {
        let (unlisted, listed): (Vec<&mut PublishedSource<_>>, Vec<&mut PublishedSource<_>>) =
            published
                .sources
                .iter_mut()
                .partition(|source| source.directory.is_some() && source.manifests.is_empty());
        // The index of a directory applies to the bytes in it: a later release may have other bytes
        // under the same name.
        let mut inherited = Vec::new();
        for directory in listed
            .iter()
            .filter_map(|source| source.directory.as_deref())
        {
            inherited.push(InheritedYanks {
                directory: directory.to_owned(),
                files: read_yanked(directory)?,
            });
        }
        let places: Vec<PublishedAt<'_>> = listed
            .into_iter()
            .map(|source| self.published_at(source))
            .collect();
        let mut files = index_files(places, self.compat.rocm_versions(), sink);
        let mut unlisted_yanks = Vec::new();
        for source in &unlisted {
            if let Some(directory) = source.directory.as_deref() {
                let yanked = read_yanked(directory)?.ignoring_digests();
                files.extend(self.read_unlisted(source, directory, &yanked, sink));
                unlisted_yanks.push(InheritedYanks {
                    directory: directory.to_owned(),
                    files: yanked,
                });
            }
        }
        let (mut files, rebuilt) = merged(files, sink);
        for files in files.chunk_by_mut(|a, b| a.project == b.project) {
            let is_of_sdk = self.compat.is_sdk_package(&files[0].project.normalized());
            for file in files {
                file.is_of_sdk |= is_of_sdk;
            }
        }
        if files.is_empty() {
            let (none, out) = (published.no_wheels(), &self.options.out);
            sink.push(if lists_files(out) {
                index_kept(none, out)
            } else {
                none.severity(Severity::Warning)
            });
        }
        for yanks in &inherited {
            carry_over(&yanks.files, &mut files);
        }
        inherited.extend(unlisted_yanks);
        // Leaked on purpose: freeing the many small strings takes a tenth of the run.
        std::mem::forget(published);
        Ok(IndexInput {
            files,
            rebuilt,
            inherited,
        })
    }

    /// Reads the wheels in the directory of a release without a manifest, of which only the
    /// filenames are known. Its index yanks the files in `yanked`.
    fn read_unlisted(
        &self,
        source: &PublishedSource<ManifestRowSet>,
        directory: &Path,
        yanked: &YankedFiles,
        sink: &mut Sink,
    ) -> Vec<IndexFile> {
        let paths = find_files(&[directory.to_owned()], sink);
        let (cache, notes) = DigestCache::of_directories(&paths, MetadataBody::Load);
        for note in &notes {
            (self.on_note)(note);
        }
        let mut files = self.read_files(directory, &paths, &cache, sink);
        carry_over(yanked, &mut files);
        let origin = Arc::new(PublishedOrigin {
            links: self.options.links_of(source, directory),
            tag: String::new(),
        });
        for file in &mut files {
            file.origin = Some(Arc::clone(&origin));
            file.metadata = None;
        }
        files
    }

    fn read_files(
        &self,
        directory: &Path,
        files: &[PathBuf],
        cache: &DigestCache,
        sink: &mut Sink,
    ) -> Vec<IndexFile> {
        let assets = read_assets(files, CheckDepth::List, cache, self.compat, sink);
        (self.on_note)(&cache_note(&assets));
        listed_files(assets, directory, &self.options.out, sink)
    }

    /// Returns the location of a source, and takes its manifests.
    fn published_at<'p>(&self, source: &'p mut PublishedSource<ManifestRowSet>) -> PublishedAt<'p> {
        let manifests = std::mem::take(&mut source.manifests);
        let source: &'p PublishedSource<ManifestRowSet> = source;
        let directory = source.directory.as_deref();
        PublishedAt {
            manifests,
            listing: &source.listing,
            links: directory.map(|directory| self.options.links_of(source, directory)),
            metadata: directory
                .filter(|_| !self.options.omits_metadata)
                .map(MetadataFiles::list),
        }
    }
}

impl IndexInput {
    /// Checks that each selector of the rules matches a file. Returns warnings about those of
    /// matrix files that match none.
    ///
    /// # Errors
    /// A selector of the command line matches no file. The error has the warnings, too.
    pub fn check_rules(&self, rules: &YankRuleSet) -> Result<Vec<Diagnostic>, Diagnostics> {
        let unmatched = rules.unmatched(&self.files);
        if unmatched.iter().any(Diagnostic::is_error) {
            Err(unmatched.into())
        } else {
            Ok(unmatched)
        }
    }
}

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

/// Returns the files that the indexes in directories of wheels yank, other than the index with the
/// pages in `out`.
///
/// # Errors
/// A page that may have yanked files cannot be read.
pub fn inherited_yanks<'d>(
    directories: impl IntoIterator<Item = &'d Path>,
    out: &Path,
) -> Result<YankedFiles, Diagnostics> {
    let out = real_path(out);
    let mut inherited = YankedFiles::default();
    for directory in directories {
        if real_path(&directory.join(INDEX)) != out {
            inherited.extend(read_yanked(directory)?);
        }
    }
    Ok(inherited)
}

/// Returns the files that the index in the directory of a release yanks.
fn read_yanked(directory: &Path) -> Result<YankedFiles, Diagnostics> {
    Ok(read_yanked_files(&directory.join(INDEX))?.unwrap_or_default())
}
