//! The wheels of an earlier build, put where the test of a build looks for them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::folder::JobFolder;
use rock_sys::{self as sys, FileError};

/// A built wheel and its place in the job's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WheelToTest {
    /// The file.
    pub path: PathBuf,
    /// The folder, relative to the job's, that the build leaves this wheel in.
    pub folder: PathBuf,
}

impl WheelToTest {
    /// Returns whether the wheel is in its folder already.
    fn is_in_place(&self, job: &JobFolder) -> bool {
        self.path
            .parent()
            .is_some_and(|parent| sys::is_same_file(parent, &job.at(&self.folder).path()))
    }

    fn name(&self) -> &Path {
        self.path.file_name().map_or(Path::new(""), Path::new)
    }
}

/// Copies wheels into their places and removes other wheels there: those of an earlier build have
/// other names where it was labelled or repaired after that, and only one may be tested.
///
/// # Errors
/// When a link leads out of the job's folder, or the system refuses. Nothing is removed unless all
/// can be copied.
pub(super) fn place_wheels(job: &JobFolder, wheels: &[WheelToTest]) -> Result<(), FileError> {
    let moved: Vec<&WheelToTest> = wheels
        .iter()
        .filter(|wheel| !wheel.is_in_place(job))
        .collect();
    let targets: Vec<PathBuf> = moved
        .iter()
        .map(|wheel| {
            job.at(&wheel.folder).check()?;
            let target = job.at(wheel.folder.join(wheel.name()));
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
    let folders: BTreeSet<&Path> = moved.iter().map(|wheel| wheel.folder.as_path()).collect();
    for folder in folders {
        for present in sys::files_with_extension(&job.at(folder).path(), &["whl"])? {
            if !targets.contains(&present) {
                job.at(folder.join(present.file_name().unwrap_or_default()))
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
        let job = JobFolder::new(base.path(), "job").unwrap();
        let built = base.path().join("dist");
        let wheel = |name: &str| WheelToTest {
            path: built.join(name),
            folder: "dist".into(),
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
        let job = JobFolder::new(base.path(), "job").unwrap();
        let path = job.at("dist/a-1.whl").path();
        sys::write_atomic(&path, b"wheel").unwrap();
        place_wheels(
            &job,
            &[WheelToTest {
                path: path.clone(),
                folder: "dist".into(),
            }],
        )
        .unwrap();
        assert!(sys::exists(&path));
    }
}
