//! Finds the wheels of a finished build, compares them with the plan, and copies them out.

use std::path::{Path, PathBuf};

use super::record::BuiltWheel;
use rock_diagnostic::{Diagnostic, Diagnostics, ExitClass};
use rock_names::{ExpectedWheel, WheelName, WheelNameError};
use rock_sys::{self as sys, FileError};

/// A wheel that a build produced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectedWheel {
    /// Its path in the job directory.
    pub path: PathBuf,
    /// Its filename.
    pub name: String,
}

/// A result that does not match the job.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// Too few or too many wheels.
    #[error("{} wheels for `{glob}`, not {wanted}", found.len())]
    Count {
        /// The glob that was searched.
        glob: String,
        /// The expected number of wheels.
        wanted: usize,
        /// The filenames that match.
        found: Vec<String>,
    },
    /// A wheel with another name than planned.
    #[error("`{found}` is not `{expected}`: {reason}")]
    Name {
        /// The name in the plan.
        expected: String,
        /// The name of the built wheel.
        found: String,
        /// The difference.
        reason: String,
    },
    /// The system refused.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Returns the wheels in a job directory that match a glob.
///
/// # Errors
/// If their number is not `wanted`.
pub fn collect(
    directory: &Path,
    wheels: &str,
    wanted: usize,
) -> Result<Vec<CollectedWheel>, CollectError> {
    let found = sys::glob(directory, wheels)?;
    let name = |path: &PathBuf| {
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    if found.len() != wanted {
        let found = found.iter().map(name).collect();
        return Err(CollectError::Count {
            glob: wheels.to_owned(),
            wanted,
            found,
        });
    }
    Ok(found
        .into_iter()
        .map(|path| CollectedWheel {
            name: name(&path),
            path,
        })
        .collect())
}

/// Checks that each built wheel is one of those expected, with no expected wheel used twice.
///
/// # Errors
/// The first wheel that matches none of the remaining expected ones, compared with the closest one.
pub fn wheels_match<'w>(
    expected: impl Iterator<Item = &'w str>,
    found: impl Iterator<Item = &'w str>,
) -> Result<(), CollectError> {
    let mut left: Vec<&str> = expected.collect();
    let distribution = |name: &str| name.split('-').next().unwrap_or_default().to_lowercase();
    for name in found {
        match left
            .iter()
            .position(|expected| wheel_matches(expected, name).is_ok())
        {
            Some(at) => drop(left.remove(at)),
            None => {
                let alike = left
                    .iter()
                    .find(|expected| distribution(expected) == distribution(name));
                wheel_matches(alike.or(left.first()).copied().unwrap_or_default(), name)?;
            }
        }
    }
    Ok(())
}

/// Checks that a built wheel is the expected one. Distribution, version with label, Python tag and
/// ABI tag are compared. The expected platform tag is that before repair, so it may differ. A
/// version that the plan did not know is not compared.
///
/// # Errors
/// The difference.
pub fn wheel_matches(expected: &str, found: &str) -> Result<(), CollectError> {
    let fault = |reason: String| CollectError::Name {
        expected: expected.to_owned(),
        found: found.to_owned(),
        reason,
    };
    let built: WheelName = found
        .parse()
        .map_err(|e: WheelNameError| fault(e.to_string()))?;
    let wanted: ExpectedWheel = expected
        .parse()
        .map_err(|e: WheelNameError| fault(e.to_string()))?;
    wanted
        .difference(&built)
        .map_or(Ok(()), |reason| Err(fault(reason)))
}

/// Creates the output directory of a build, and checks that files can be written to it.
///
/// # Errors
/// If they cannot.
pub fn check_output(out: &Path) -> Result<(), Diagnostics> {
    sys::ensure_writable(out).map_err(|error| {
        let diagnostic = Diagnostic::from(&CollectError::File(error));
        Diagnostics::from(diagnostic).exits_with(ExitClass::Machine)
    })
}

/// Copies the wheels of a build to the output directory: all of them, or none if one cannot be read
/// or written.
///
/// # Errors
/// If a file cannot be read or written, or cannot be renamed to its final name. Files that were
/// renamed before that one stay.
pub fn copy_out(found: &[CollectedWheel], out: &Path) -> Result<Vec<BuiltWheel>, CollectError> {
    let targets: Vec<PathBuf> = found.iter().map(|found| out.join(&found.name)).collect();
    let files: Vec<_> = found
        .iter()
        .zip(&targets)
        .map(|(found, target)| (found.path.as_path(), target.as_path()))
        .collect();
    sys::copy_all(&files)?;
    let built = |(found, target): (&CollectedWheel, &PathBuf)| {
        let (size_bytes, digest) = sys::hash_file(target)?;
        let (name, path) = (found.name.clone(), target.display().to_string());
        Ok(BuiltWheel {
            name,
            path,
            digest: digest.to_string(),
            size_bytes,
        })
    };
    found.iter().zip(&targets).map(built).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPECTED: &str = "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl";

    fn check(found: &str) -> String {
        match wheel_matches(EXPECTED, found) {
            Ok(()) => "fits".to_owned(),
            Err(CollectError::Name { reason, .. }) => reason,
            Err(other) => other.to_string(),
        }
    }

    #[test]
    fn a_wheel_fits_by_distribution_version_label_python_and_abi() {
        assert_eq!(check(EXPECTED), "fits");
        assert_eq!(
            check("flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-manylinux_2_28_x86_64.whl"),
            "fits"
        );
        assert_eq!(
            check("Flash.Attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl"),
            "fits"
        );
    }

    #[test]
    fn what_differs_is_named() {
        let label = check("flash_attn-2.8.3-cp311-cp311-linux_x86_64.whl");
        assert_eq!(label, "the version is `2.8.3`, not `2.8.3+rocm62torch2.5`");
        let python = check("flash_attn-2.8.3+rocm62torch2.5-cp312-cp312-linux_x86_64.whl");
        assert_eq!(python, "the Python tag is `cp312`, not `cp311`");
        assert_eq!(
            check("flash_attn-2.8.3+rocm62torch2.5-cp311-abi3-linux_x86_64.whl"),
            "the ABI tag is `abi3`, not `cp311`"
        );
        assert!(
            check("other-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl")
                .starts_with("the distribution")
        );
        assert!(check("nonsense.whl").contains("not a wheel name"));
    }

    #[test]
    fn as_many_wheels_as_are_wanted_are_collected() {
        let directory = tempfile::tempdir().unwrap();
        assert!(
            matches!(collect(directory.path(), "dist/*.whl", 1), Err(CollectError::Count { found, .. }) if found.is_empty())
        );
        for name in ["a.whl", "b.whl"] {
            sys::write_atomic(&directory.path().join("dist").join(name), b"x").unwrap();
        }
        assert!(
            matches!(collect(directory.path(), "dist/*.whl", 1), Err(CollectError::Count { found, .. }) if found == ["a.whl", "b.whl"])
        );
        assert_eq!(
            collect(directory.path(), "dist/a*.whl", 1).unwrap()[0].name,
            "a.whl"
        );
        assert_eq!(collect(directory.path(), "dist/*.whl", 2).unwrap().len(), 2);
    }

    #[test]
    fn of_several_wheels_all_are_copied_or_none() {
        let directory = tempfile::tempdir().unwrap();
        let out = directory.path().join("out");
        let wheel = |name: &str| CollectedWheel {
            path: directory.path().join(name),
            name: name.to_owned(),
        };
        let wheels = [wheel("a.whl"), wheel("b.whl")];
        sys::write_atomic(&wheels[0].path, b"first").unwrap();
        assert!(matches!(
            copy_out(&wheels, &out),
            Err(CollectError::File(_))
        ));
        assert_eq!(sys::entry_names(&out).unwrap(), Vec::<String>::new());
        sys::write_atomic(&wheels[1].path, b"second").unwrap();
        let sizes: Vec<u64> = copy_out(&wheels, &out)
            .unwrap()
            .iter()
            .map(|wheel| wheel.size_bytes)
            .collect();
        assert_eq!(
            (sizes, sys::entry_names(&out).unwrap().len()),
            (vec![5, 6], 2)
        );
    }

    #[test]
    fn every_wheel_of_a_build_is_one_that_is_expected() {
        const TORCH: &str = "torch-*-cp312-cp312-linux_x86_64.whl";
        const TRITON: &str = "triton-*-cp312-cp312-linux_x86_64.whl";
        let check = |found: [&'static str; 2]| match wheels_match(
            [TORCH, TRITON].into_iter(),
            found.into_iter(),
        ) {
            Ok(()) => "fits".to_owned(),
            Err(fault) => fault.to_string(),
        };
        let (torch, triton) = (
            "torch-2.12.0-cp312-cp312-linux_x86_64.whl",
            "triton-3.5.0-cp312-cp312-linux_x86_64.whl",
        );
        assert_eq!(check([triton, torch]), "fits");
        assert_eq!(
            check([torch, torch]),
            format!("`{torch}` is not `{TRITON}`: the distribution is `torch`, not `triton`")
        );
        let old = "triton-3.5.0-cp311-cp311-linux_x86_64.whl";
        assert_eq!(
            check([torch, old]),
            format!("`{old}` is not `{TRITON}`: the Python tag is `cp311`, not `cp312`")
        );
    }
}
