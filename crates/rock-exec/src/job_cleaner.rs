//! Removes the build directories of jobs that are selected by name, or their whole directories.

use std::path::{Path, PathBuf};

use super::clean::{build_directories, remove_build_directories};
use super::job_directory::{JobDirectory, OpenDirectoryError, ROOT, freed_by_cleaning};
use rock_sys::{self as sys, Environment, FileError};

/// Cleans jobs of the working directory.
#[derive(Debug)]
pub struct JobCleaner<'e> {
    environment: &'e Environment,
    jobs: Vec<String>,
    whole: bool,
    dry_run: bool,
}

/// The result of cleaning one job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CleanedJob {
    /// The directories that were removed, or would be.
    pub removed: Vec<RemovedDirectory>,
    /// The build directories that were kept, with the reason.
    pub kept: Vec<(PathBuf, &'static str)>,
}

/// A directory that was removed, or would be removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedDirectory {
    /// The ID of the job.
    pub job: String,
    /// The path, relative to the working directory.
    pub path: PathBuf,
    /// The size in bytes.
    pub bytes: u64,
}

/// A job that was not cleaned.
#[derive(Debug, thiserror::Error)]
pub enum CleanError {
    /// The name selects no job with a directory.
    #[error("job `{0}` has no build directory")]
    UnknownJob(String),
    /// Several jobs begin with the name.
    #[error("{} jobs begin with `{name}`", jobs.len())]
    AmbiguousJob {
        /// The name.
        name: String,
        /// The jobs that begin with it.
        jobs: Vec<String>,
    },
    /// The directory of the job cannot be used.
    #[error(transparent)]
    Directory(#[from] OpenDirectoryError),
}

impl<'e> JobCleaner<'e> {
    /// Finds the jobs of the working directory.
    ///
    /// # Errors
    /// When the directory of the jobs cannot be read.
    pub fn new(environment: &'e Environment) -> Result<Self, FileError> {
        let base = &environment.current_dir;
        let root = base.join(ROOT);
        // Files in `.rock` may hold the state of a checkout.
        let jobs = sys::entry_names(&root)?
            .into_iter()
            .filter(|name| !sys::is_file(&root.join(name)))
            .filter(|name| JobDirectory::new(base, name).is_ok())
            .collect();
        Ok(Self {
            environment,
            jobs,
            whole: false,
            dry_run: false,
        })
    }

    /// Sets whether the whole directory of a job is removed, with sources, logs and `build.json`.
    #[must_use]
    pub fn whole(mut self, whole: bool) -> Self {
        self.whole = whole;
        self
    }

    /// Sets whether directories are only measured.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Returns the IDs of all jobs, sorted.
    pub fn jobs(&self) -> &[String] {
        &self.jobs
    }

    /// Cleans the job with this ID, or the only one whose ID starts with it.
    ///
    /// # Errors
    /// When the name does not select one job with a directory, a build of the job is running, or a
    /// directory cannot be read or removed.
    pub fn clean(&self, name: &str) -> Result<CleanedJob, CleanError> {
        let id = self.find_job(name).unwrap_or(name);
        let directory = JobDirectory::new(&self.environment.current_dir, id)?;
        let cleaned = if self.whole {
            self.remove_whole(&directory, id)?
        } else {
            self.remove_builds(&directory, id)?
        };
        cleaned.ok_or_else(|| self.unknown_job(name))
    }

    fn remove_whole(
        &self,
        directory: &JobDirectory,
        id: &str,
    ) -> Result<Option<CleanedJob>, OpenDirectoryError> {
        let bytes = freed_by_cleaning(directory, self.dry_run)?;
        Ok(bytes.map(|bytes| CleanedJob {
            removed: vec![self.removed(id, directory.path(), bytes)],
            kept: Vec::new(),
        }))
    }

    fn remove_builds(
        &self,
        directory: &JobDirectory,
        id: &str,
    ) -> Result<Option<CleanedJob>, OpenDirectoryError> {
        let Some(found) = build_directories(directory, self.environment)? else {
            return Ok(None);
        };
        if !self.dry_run {
            remove_build_directories(directory, &found)?;
        }
        let mut cleaned = CleanedJob::default();
        for build in found {
            match build.kept {
                Some(reason) => cleaned.kept.push((self.relative(&build.path), reason)),
                None => cleaned
                    .removed
                    .push(self.removed(id, &build.path, build.bytes)),
            }
        }
        Ok(Some(cleaned))
    }

    fn removed(&self, job: &str, path: &Path, bytes: u64) -> RemovedDirectory {
        RemovedDirectory {
            job: job.to_owned(),
            path: self.relative(path),
            bytes,
        }
    }

    fn relative(&self, path: &Path) -> PathBuf {
        let base = &self.environment.current_dir;
        path.strip_prefix(base).unwrap_or(path).to_owned()
    }

    /// Returns the ID of the job with this name, or of the only job whose ID starts with it.
    fn find_job(&self, name: &str) -> Option<&str> {
        if let Some(id) = self.jobs.iter().find(|id| *id == name) {
            return Some(id);
        }
        let mut jobs = self.jobs.iter().filter(|id| id.starts_with(name));
        let first = jobs.next().filter(|_| !name.is_empty())?;
        jobs.next().is_none().then_some(first)
    }

    fn unknown_job(&self, name: &str) -> CleanError {
        let jobs = self.jobs.iter().filter(|id| id.starts_with(name));
        let jobs: Vec<String> = jobs.cloned().collect();
        let name = name.to_owned();
        if jobs.len() > 1 {
            CleanError::AmbiguousJob { name, jobs }
        } else {
            CleanError::UnknownJob(name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CleanError, JobCleaner, RemovedDirectory};
    use rock_sys::Environment;

    #[test]
    fn a_job_is_selected_by_its_id_or_a_unique_prefix() {
        let base = tempfile::tempdir().unwrap();
        for job in ["torch-1", "torch-2", "audio"] {
            let build = base.path().join(".rock").join(job).join("src/x/build");
            rock_sys::write_atomic(&build.join("CMakeCache.txt"), b"x").unwrap();
        }
        rock_sys::write_atomic(&base.path().join(".rock/checkout.json"), b"{}").unwrap();
        let environment = Environment {
            current_dir: base.path().to_owned(),
            ..Environment::default()
        };
        let cleaner = JobCleaner::new(&environment).unwrap();
        assert_eq!(cleaner.jobs(), ["audio", "torch-1", "torch-2"]);
        let message = |name: &str| cleaner.clean(name).unwrap_err().to_string();
        assert_eq!(message("torch"), "2 jobs begin with `torch`");
        assert_eq!(message("vision"), "job `vision` has no build directory");
        assert!(matches!(
            cleaner.clean("../x"),
            Err(CleanError::Directory(_))
        ));

        let cleaner = JobCleaner::new(&environment).unwrap().dry_run(true);
        let removed = RemovedDirectory {
            job: "audio".to_owned(),
            path: ".rock/audio/src/x/build".into(),
            bytes: rock_sys::disk_usage(&base.path().join(".rock/audio/src/x/build")).unwrap(),
        };
        let again = cleaner.clean("aud").unwrap();
        assert_eq!(again.removed, std::slice::from_ref(&removed));
        let cleaner = JobCleaner::new(&environment).unwrap();
        assert_eq!(cleaner.clean("audio").unwrap().removed, [removed]);
        let path = base.path().join(".rock/audio/src/x");
        assert!(rock_sys::exists(&path) && !rock_sys::exists(&path.join("build")));
        let cleaner = JobCleaner::new(&environment).unwrap().whole(true);
        assert_eq!(cleaner.clean("torch-2").unwrap().removed.len(), 1);
        assert!(!rock_sys::exists(&base.path().join(".rock/torch-2")));
    }
}
