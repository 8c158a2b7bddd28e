//! Collects the files that a build reported in a separate directory, for the workflow artifact of a
//! job.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::record::{BuildOutcome, BuildRecord, BuiltWheel};
use rock_names::{Digest, has_wheel_extension};
use rock_sys::{self as sys, FileError};

/// A build whose files cannot be handed over.
#[derive(Debug, thiserror::Error)]
pub enum HandoverError {
    /// The build is of another job.
    #[error("the build is for the job `{0}`")]
    OtherJob(String),
    /// The build is not done, or produced nothing.
    #[error("the build is not complete, or produced no file")]
    NotDone,
    /// A file of the build is missing.
    #[error("`{}` is missing", .0.display())]
    Missing(PathBuf),
    /// A file that differs from the build's output.
    #[error("`{name}` has the digest {found}, but the build reported {reported}")]
    Changed {
        name: String,
        /// The digest of the file.
        found: Digest,
        /// The digest in the record.
        reported: String,
    },
    /// A file that the build did not report, or a symlink instead of a file.
    #[error("`{}` is not a file that the build produced", .0.display())]
    Unreported(PathBuf),
    /// The output directory is not empty.
    #[error("the directory `{}` is not empty", .0.display())]
    NotEmpty(PathBuf),
    /// The system refused.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Links the files that a job's build left in `dist`, each with a copy of the record, into the
/// directory `out`, which is empty or missing. Returns their names and digests, sorted. All files
/// are compared with the record before the first is linked, and `out` stays empty on an error.
///
/// The links take no further disk space, but a process of the build that is still running can
/// change a file under both names. The receiver detects this by comparing the files with the
/// returned digests.
///
/// # Errors
/// If the record is not of a finished build of this job, a file is missing or differs from the
/// record, `dist` holds another wheel or sdist, or `out` is not empty.
pub fn hand_over(
    record: &BuildRecord,
    job: &str,
    dist: &Path,
    out: &Path,
) -> Result<Vec<(String, Digest)>, HandoverError> {
    if record.job != job {
        return Err(HandoverError::OtherJob(record.job.clone()));
    }
    if record.outcome != BuildOutcome::Done || record.wheels.is_empty() {
        return Err(HandoverError::NotDone);
    }
    if !sys::entry_names(out)?.is_empty() {
        return Err(HandoverError::NotEmpty(out.to_owned()));
    }
    let files: BTreeMap<String, Option<u64>> = sys::list_files(dist)?
        .unwrap_or_default()
        .into_iter()
        .collect();
    let is_reported = |name: &str| record.wheels.iter().any(|wheel| wheel.name == name);
    for (name, size) in &files {
        let is_publishable =
            !name.contains('/') && (has_wheel_extension(name) || name.ends_with(".tar.gz"));
        let is_unreported = if is_reported(name) {
            size.is_none()
        } else {
            is_publishable
        };
        if is_unreported {
            return Err(HandoverError::Unreported(dist.join(name)));
        }
    }
    let digests = record
        .wheels
        .iter()
        .map(|wheel| left_digest(wheel, dist, &files))
        .collect::<Result<Vec<_>, _>>()?;
    let linked = link_all(record, &digests, dist, out);
    if linked.is_err() {
        for name in record
            .wheels
            .iter()
            .flat_map(|wheel| [wheel.name.clone(), record_name(&wheel.name)])
        {
            // The first error is more useful than one from cleaning up after it.
            let _ = sys::remove(&out.join(name));
        }
    }
    linked
}

/// Returns the digest of a file in `dist`, after comparing it with the record.
fn left_digest(
    wheel: &BuiltWheel,
    dist: &Path,
    files: &BTreeMap<String, Option<u64>>,
) -> Result<Digest, HandoverError> {
    let path = dist.join(&wheel.name);
    if !files.contains_key(&wheel.name) {
        return Err(HandoverError::Missing(path));
    }
    let (_, found) = sys::hash_file(&path)?;
    if wheel.digest.parse() == Ok(found) {
        return Ok(found);
    }
    let (name, reported) = (wheel.name.clone(), wheel.digest.clone());
    Err(HandoverError::Changed {
        name,
        found,
        reported,
    })
}

/// Links files of `dist` with these digests into `out`, each with a copy of the record.
fn link_all(
    record: &BuildRecord,
    digests: &[Digest],
    dist: &Path,
    out: &Path,
) -> Result<Vec<(String, Digest)>, HandoverError> {
    let mut handed = Vec::new();
    for (wheel, digest) in record.wheels.iter().zip(digests) {
        sys::link_or_copy(&dist.join(&wheel.name), &out.join(&wheel.name))?;
        let beside = record_name(&wheel.name);
        record.save(&out.join(&beside))?;
        handed.push((beside.clone(), sys::hash_file(&out.join(beside))?.1));
        handed.push((wheel.name.clone(), *digest));
    }
    handed.sort();
    Ok(handed)
}

/// Returns the name of the copy of the build record that belongs to a file of the build.
pub fn record_name(file: &str) -> String {
    let stem = [".whl", ".tar.gz"]
        .iter()
        .find_map(|ending| file.strip_suffix(ending))
        .unwrap_or(file);
    format!("{stem}.build.json")
}
