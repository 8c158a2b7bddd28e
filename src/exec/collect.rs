//! The wheel of a finished build: found, compared with what the plan expects, copied out.

use std::path::{Path, PathBuf};

use super::record::BuiltWheel;
use crate::names::WheelName;
use crate::sys::{self, FileError};

/// The wheel that a build left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collected {
    /// Where it lies in the job's folder.
    pub path: PathBuf,
    /// Its name.
    pub name: String,
}

/// A result that is not the job's.
#[derive(Debug, thiserror::Error)]
pub enum CollectFault {
    /// Not one wheel.
    #[error("{} wheels for `{glob}`", found.len())]
    Count {
        /// Where they were looked for.
        glob: String,
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

/// The one wheel that matches a glob in a job's folder.
///
/// # Errors
/// When there is none, or more than one.
pub fn collect(folder: &Path, wheels: &str) -> Result<Collected, CollectFault> {
    let found = sys::glob(folder, wheels)?;
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match found.as_slice() {
        [path] => Ok(Collected { path: path.clone(), name: name(path) }),
        _ => Err(CollectFault::Count { glob: wheels.to_owned(), found: found.iter().map(name).collect() }),
    }
}

/// Whether a built wheel is the expected one: distribution, version with label, Python and ABI are compared. The
/// platform is that before repair, so it may differ. A version that the plan did not know is not compared.
///
/// # Errors
/// What differs.
pub fn wheel_matches(expected: &str, found: &str) -> Result<(), CollectFault> {
    let fault = |reason: String| CollectFault::Name { expected: expected.to_owned(), found: found.to_owned(), reason };
    let built: WheelName = found.parse().map_err(|e: crate::names::WheelNameError| fault(e.to_string()))?;
    // A plan whose version comes from the source has no full name to compare with.
    let Ok(wanted) = expected.parse::<WheelName>() else { return Ok(()) };
    let fold = |name: &str| name.to_lowercase().replace(['-', '.'], "_");
    let differs = |what: &str, wanted: &dyn std::fmt::Display, built: &dyn std::fmt::Display| {
        Err(fault(format!("the {what} is `{built}`, not `{wanted}`")))
    };
    if fold(&wanted.distribution) != fold(&built.distribution) {
        return differs("distribution", &wanted.distribution, &built.distribution);
    }
    if wanted.version != built.version {
        return differs("version", &wanted.version, &built.version);
    }
    if wanted.python != built.python {
        return differs("Python tag", &wanted.python, &built.python);
    }
    if wanted.abi != built.abi {
        return differs("ABI tag", &wanted.abi, &built.abi);
    }
    Ok(())
}

/// Copies a wheel to the output folder, as a whole or not at all.
///
/// # Errors
/// When the system refuses.
pub fn copy_out(wheel: &Path, name: &str, out: &Path) -> Result<BuiltWheel, CollectFault> {
    let target = out.join(name);
    sys::copy_atomic(wheel, &target)?;
    let (size_bytes, digest) = sys::digest_of(&target)?;
    Ok(BuiltWheel { name: name.to_owned(), path: target.display().to_string(), digest: digest.to_string(), size_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPECTED: &str = "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl";

    fn check(found: &str) -> String {
        match wheel_matches(EXPECTED, found) {
            Ok(()) => "fits".to_owned(),
            Err(CollectFault::Name { reason, .. }) => reason,
            Err(other) => other.to_string(),
        }
    }

    #[test]
    fn a_wheel_fits_by_distribution_version_label_python_and_abi() {
        assert_eq!(check(EXPECTED), "fits");
        assert_eq!(check("flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-manylinux_2_28_x86_64.whl"), "fits");
        assert_eq!(check("Flash.Attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl"), "fits");
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
        assert!(check("other-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl").starts_with("the distribution"));
        assert!(check("nonsense.whl").contains("not a wheel name"));
    }

    #[test]
    fn one_wheel_is_wanted() {
        let folder = tempfile::tempdir().unwrap();
        assert!(
            matches!(collect(folder.path(), "dist/*.whl"), Err(CollectFault::Count { found, .. }) if found.is_empty())
        );
        for name in ["a.whl", "b.whl"] {
            sys::write_atomic(&folder.path().join("dist").join(name), b"x").unwrap();
        }
        assert!(
            matches!(collect(folder.path(), "dist/*.whl"), Err(CollectFault::Count { found, .. }) if found == ["a.whl", "b.whl"])
        );
        assert_eq!(collect(folder.path(), "dist/a*.whl").unwrap().name, "a.whl");
    }
}
