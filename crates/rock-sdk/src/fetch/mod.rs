//! Fetches the artifacts of a CI run.

mod ci_run;
mod download;
mod retry;
mod store;
mod unpacker;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use rock_audit::{NoProgress, ProgressReporter};
use rock_bytes::{on_threads, start_threads};
use rock_diagnostic::{Diagnostic, Diagnostics};
use rock_names::Digest;
use rock_sys::DirectoryLock;
use rock_wheel::ProgressMeter;

use self::download::{download, fetch_digest, remove_archive};
use self::unpacker::Unpacker;
use crate::bucket::BucketArchive;

pub use ci_run::{CiRun, CiRunError, CiRunOptions, FindStoreError, parse_platform, parse_run_id};
pub use store::{ArtifactStore, ListError};
pub use unpacker::ArtifactForm;

/// An artifact to fetch.
#[derive(Debug)]
pub struct FetchedArtifact {
    /// The archive in the store.
    pub published: BucketArchive,
    /// The path that the archive is written to.
    pub archive: PathBuf,
    /// The final path: that of the archive, or the directory that it is unpacked into.
    pub path: PathBuf,
}

impl FetchedArtifact {
    /// Plans to fetch an archive into a directory of archives.
    pub fn new(published: BucketArchive, archive_dir: &Path, form: &ArtifactForm) -> Self {
        let archive = archive_dir.join(published.file());
        Self {
            path: form.path(&published, &archive),
            archive,
            published,
        }
    }
}

/// The default number of simultaneous downloads.
const DOWNLOADS: u16 = 10;

/// Fetches and unpacks archives in parallel: archives are unpacked while others are fetched.
pub struct ArtifactFetcher<'f> {
    directory: &'f Path,
    form: &'f ArtifactForm,
    downloads: u16,
    unpacks: Option<u16>,
    removes_archives: bool,
    progress: &'f dyn ProgressReporter,
    on_message: &'f (dyn Fn(&str) + Sync),
}

impl<'f> ArtifactFetcher<'f> {
    /// Creates a fetcher that writes artifacts of a form to a directory, which only one run at a
    /// time writes to. It downloads ten archives at a time, and keeps them.
    pub fn new(directory: &'f Path, form: &'f ArtifactForm) -> Self {
        Self {
            directory,
            form,
            downloads: DOWNLOADS,
            unpacks: None,
            removes_archives: false,
            progress: &NoProgress,
            on_message: &|_| (),
        }
    }

    /// Sets the maximum number of simultaneous downloads.
    #[must_use]
    pub fn with_download_limit(mut self, count: u16) -> Self {
        self.downloads = count;
        self
    }

    /// Sets the maximum number of archives that are unpacked at the same time; `None` for the
    /// number of processors.
    #[must_use]
    pub fn with_unpack_limit(mut self, count: Option<u16>) -> Self {
        self.unpacks = count;
        self
    }

    /// Sets whether archives are removed after they were unpacked.
    #[must_use]
    pub fn with_archive_removal(mut self, is_enabled: bool) -> Self {
        self.removes_archives = is_enabled;
        self
    }

    /// Sets the receiver of the progress of all downloads together.
    #[must_use]
    pub fn with_progress(mut self, progress: &'f dyn ProgressReporter) -> Self {
        self.progress = progress;
        self
    }

    /// Sets the receiver of a message for each archive.
    #[must_use]
    pub fn with_message_listener(mut self, on_message: &'f (dyn Fn(&str) + Sync)) -> Self {
        self.on_message = on_message;
        self
    }

    /// Fetches artifacts from a store. `on_wait` is called before waiting for another run that
    /// writes to the directory.
    ///
    /// # Errors
    /// When archives cannot be fetched, do not match what was published, or cannot be unpacked.
    pub fn fetch(
        &self,
        store: &ArtifactStore,
        artifacts: &[FetchedArtifact],
        on_wait: impl Fn(),
    ) -> Result<(), Diagnostics> {
        rock_sys::create_directory(self.directory)?;
        let lock = DirectoryLock::acquire(self.directory, &on_wait)?;
        lock.sweep()?;
        let unpacker = Unpacker::begin(self.form, &lock, &on_wait)?;
        let report = self.progress.start("artifacts");
        let total_bytes = artifacts
            .iter()
            .map(|artifact| artifact.published.size_bytes)
            .sum();
        let meter = ProgressMeter::new(total_bytes, report.as_ref());
        self.fetch_all(store, artifacts, unpacker.as_ref(), &meter)?;
        if let Some(unpacker) = unpacker {
            unpacker.finish(
                self.directory,
                artifacts.iter().map(|artifact| &artifact.published),
            )?;
        }
        if self.removes_archives && matches!(self.form, ArtifactForm::MergedTree(_)) {
            let errors = artifacts
                .iter()
                .filter_map(|artifact| remove_archive(&artifact.archive).err());
            Diagnostics::check(errors.map(Diagnostic::from).collect())?;
        }
        Ok(())
    }

    /// Downloads all archives and unpacks each when it is complete.
    fn fetch_all(
        &self,
        store: &ArtifactStore,
        artifacts: &[FetchedArtifact],
        unpacker: Option<&Unpacker>,
        meter: &ProgressMeter<'_>,
    ) -> Result<(), Diagnostics> {
        let errors = &ErrorList::default();
        on_threads(self.unpacks, || {
            start_threads();
            rayon::scope(|unpacking| {
                let fetch_one = move |(position, artifact): (usize, &'_ FetchedArtifact)| {
                    let digest = match self.fetch_one(store, artifact, unpacker, meter) {
                        Ok(digest) => digest,
                        Err(error) => return errors.push(position, error),
                    };
                    if let (Some(digest), Some(unpacker)) = (digest, unpacker) {
                        unpacking.spawn(move |_| {
                            if let Err(error) = self.unpack(unpacker, &artifacts[position], digest)
                            {
                                errors.push(position, error);
                            }
                        });
                    }
                };
                on_threads(Some(self.downloads), || {
                    start_threads();
                    artifacts
                        .par_iter()
                        .enumerate()
                        .with_max_len(1)
                        .for_each(fetch_one);
                });
            });
        });
        errors.check()
    }

    /// Downloads an archive and returns its digest, or `None` if it was unpacked and removed by an
    /// earlier run.
    fn fetch_one(
        &self,
        store: &ArtifactStore,
        artifact: &FetchedArtifact,
        unpacker: Option<&Unpacker>,
        meter: &ProgressMeter<'_>,
    ) -> Result<Option<Digest>, Diagnostic> {
        let FetchedArtifact {
            published,
            archive,
            path,
        } = artifact;
        let expected = fetch_digest(store, published)?;
        if let (Some(expected), Some(unpacker)) = (expected, unpacker)
            && self.removes_archives
            && unpacker.has(published, expected)
        {
            remove_archive(archive)?;
            meter.add(published.size_bytes);
            self.report("already there:", path);
            return Ok(None);
        }
        let downloaded = download(store, published, expected, archive, meter)?;
        let action = if downloaded.is_new {
            "fetched"
        } else {
            "already there:"
        };
        self.report(action, archive);
        Ok(Some(downloaded.digest))
    }

    fn unpack(
        &self,
        unpacker: &Unpacker,
        artifact: &FetchedArtifact,
        digest: Digest,
    ) -> Result<(), Diagnostic> {
        let is_new = unpacker.unpack(&artifact.published, &artifact.archive, digest)?;
        let path = if matches!(self.form, ArtifactForm::MergedTree(_)) {
            &artifact.archive
        } else {
            &artifact.path
        };
        let action = if is_new { "unpacked" } else { "already there:" };
        self.report(action, path);
        if self.removes_archives && matches!(self.form, ArtifactForm::Directories(_)) {
            remove_archive(&artifact.archive)?;
        }
        Ok(())
    }

    fn report(&self, action: &str, path: &Path) {
        (self.on_message)(&format!("{action} {}", path.display()));
    }
}

/// Errors of several threads with the positions of their artifacts.
#[derive(Default)]
struct ErrorList(Mutex<Vec<(usize, Diagnostic)>>);

impl ErrorList {
    fn push(&self, position: usize, error: Diagnostic) {
        let mut errors = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        errors.push((position, error));
    }

    /// Returns the errors in the order of artifacts.
    fn check(&self) -> Result<(), Diagnostics> {
        let mut errors =
            std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        errors.sort_by_key(|(position, _)| *position);
        Diagnostics::check(errors.into_iter().map(|(_, error)| error).collect())
    }
}
