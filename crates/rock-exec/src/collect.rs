//! The wheel of a finished build: found, compared with what the plan expects, copied out.

use std::path::{Path, PathBuf};

use super::record::BuiltWheel;
use rock_names::{ExpectedWheel, WheelName, WheelNameError};
use rock_sys::{self as sys, FileError};

/// The wheel that a build left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectedWheel {
    /// Where it lies in the job's folder.
    pub path: PathBuf,
    /// Its name.
    pub name: String,
}

/// A result that is not the job's.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// Fewer wheels than are expected, or more.
    #[error("{} wheels for `{glob}`, not {wanted}", found.len())]
    Count {
        /// Where they were looked for.
        glob: String,
        /// How many are expected.
        wanted: usize,
        /// Their names.
        found: Vec<String>,
    },
    /// A wheel of another name.
    #[error("`{found}` is not `{expected}`: {reason}")]
    Name {
        /// What the plan expects.
        expected: String,
        /// What was built.
        found: String,
        /// What differs.
        reason: String,
    },
    /// The system refused.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The wheels that match a glob in a job's folder, as many as are wanted.
///
/// # Errors
/// When there are fewer, or more.
pub fn collect(
    folder: &Path,
    wheels: &str,
    wanted: usize,
) -> Result<Vec<CollectedWheel>, CollectError> {
    let found = sys::glob(folder, wheels)?;
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

/// Whether each built wheel is one of those expected, and each of those is there.
///
/// # Errors
/// The first wheel that is none of those that are left, beside the one that it comes nearest to.
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

/// Whether a built wheel is the expected one: distribution, version with label, Python and ABI are
/// compared. The platform is that before repair, so it may differ. A version that the plan did not
/// know is not compared.
///
/// # Errors
/// What differs.
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

/// Copies what a build left to the output folder: all files, or none where one cannot be read or
/// written.
///
/// # Errors
/// When one cannot be read or written, or not be renamed to its name; files that were renamed
/// before it stay.
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
        let folder = tempfile::tempdir().unwrap();
        assert!(
            matches!(collect(folder.path(), "dist/*.whl", 1), Err(CollectError::Count { found, .. }) if found.is_empty())
        );
        for name in ["a.whl", "b.whl"] {
            sys::write_atomic(&folder.path().join("dist").join(name), b"x").unwrap();
        }
        assert!(
            matches!(collect(folder.path(), "dist/*.whl", 1), Err(CollectError::Count { found, .. }) if found == ["a.whl", "b.whl"])
        );
        assert_eq!(
            collect(folder.path(), "dist/a*.whl", 1).unwrap()[0].name,
            "a.whl"
        );
        assert_eq!(collect(folder.path(), "dist/*.whl", 2).unwrap().len(), 2);
    }

    #[test]
    fn of_several_wheels_all_are_copied_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let wheel = |name: &str| CollectedWheel {
            path: folder.path().join(name),
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
