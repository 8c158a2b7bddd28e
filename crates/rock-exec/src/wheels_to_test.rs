//! Copies the wheels of an earlier build to the directories where the build's tests expect them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::job_directory::JobDirectory;
use rock_sys::{self as sys, FileError};

/// A built wheel and its directory in the job directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WheelToTest {
    /// The path of the wheel.
    pub path: PathBuf,
    /// The directory, relative to the job directory, in which the build leaves this wheel.
    pub directory: PathBuf,
}

impl WheelToTest {
    /// Whether the wheel is in its directory already.
    fn is_in_place(&self, job: &JobDirectory) -> bool {
        self.path
            .parent()
            .is_some_and(|parent| sys::is_same_file(parent, &job.at(&self.directory).path()))
    }

    fn name(&self) -> &Path {
        self.path.file_name().map_or(Path::new(""), Path::new)
    }
}

/// Copies wheels to their directories and removes other wheels there. Wheels of an earlier build
/// have other names if they were relabeled or repaired afterwards, and only one may be tested.
///
/// # Errors
/// If a symlink leads out of the job directory, or the system refuses. Nothing is removed unless
/// all wheels can be copied.
pub(super) fn place_wheels(job: &JobDirectory, wheels: &[WheelToTest]) -> Result<(), FileError> {
    let moved: Vec<&WheelToTest> = wheels
        .iter()
        .filter(|wheel| !wheel.is_in_place(job))
        .collect();
    let targets: Vec<PathBuf> = moved
        .iter()
        .map(|wheel| {
            job.at(&wheel.directory).check()?;
            let target = job.at(wheel.directory.join(wheel.name()));
            target.check()?;
            Ok(target.path())
        })
        .collect::<Result<_, FileError>>()?;
    let files: Vec<_> = moved
        .iter()
        .zip(&targets)
        .map(|(wheel, to)| (wheel.path.as_path(), to.as_path()))
        .collect();
    sys::copy_all(&files)?;
    let directories: BTreeSet<&Path> = moved
        .iter()
        .map(|wheel| wheel.directory.as_path())
        .collect();
    for directory in directories {
        for present in sys::files_with_extension(&job.at(directory).path(), &["whl"])? {
            if !targets.contains(&present) {
                job.at(directory.join(present.file_name().unwrap_or_default()))
                    .remove()?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wheels_take_the_place_of_older_ones_and_of_one_that_is_missing_nothing_is_changed() {
        let base = tempfile::tempdir().unwrap();
        let job = JobDirectory::new(base.path(), "job").unwrap();
        let built = base.path().join("dist");
        let wheel = |name: &str| WheelToTest {
            path: built.join(name),
            directory: "dist".into(),
        };
        for path in [built.join("a-2.whl"), job.at("dist/a-1.whl").path()] {
            sys::write_atomic(&path, b"wheel").unwrap();
        }
        let present = || sys::entry_names(&job.at("dist").path()).unwrap();
        assert!(place_wheels(&job, &[wheel("a-2.whl"), wheel("b-2.whl")]).is_err());
        assert_eq!(present(), ["a-1.whl"]);
        place_wheels(&job, &[wheel("a-2.whl")]).unwrap();
        assert_eq!(present(), ["a-2.whl"]);
    }

    #[test]
    fn wheels_in_their_place_stay() {
        let base = tempfile::tempdir().unwrap();
        let job = JobDirectory::new(base.path(), "job").unwrap();
        let path = job.at("dist/a-1.whl").path();
        sys::write_atomic(&path, b"wheel").unwrap();
        place_wheels(
            &job,
            &[WheelToTest {
                path: path.clone(),
                directory: "dist".into(),
            }],
        )
        .unwrap();
        assert!(sys::exists(&path));
    }
}
