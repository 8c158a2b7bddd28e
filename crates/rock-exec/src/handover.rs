//! The files that a build reported, in a folder of their own for the artifact of a workflow's leg.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::record::{BuildOutcome, BuildRecord, BuiltWheel};
use rock_names::{Digest, has_wheel_extension};
use rock_sys::{self as sys, FileError};

/// A build whose files cannot be handed over.
#[derive(Debug, thiserror::Error)]
pub enum HandoverError {
    /// It is another job's.
    #[error("the build is of the job `{0}`")]
    OtherJob(String),
    /// It is not done, or made nothing.
    #[error("the build is not done, or left no file")]
    NotDone,
    /// A file that the build left is missing.
    #[error("`{}` is missing", .0.display())]
    Missing(PathBuf),
    /// A file with other bytes than the build left.
    #[error("`{name}` has the digest {found}, and the build left {reported}")]
    Changed {
        /// Its name.
        name: String,
        /// The digest of the file.
        found: Digest,
        /// The digest in the record.
        reported: String,
    },
    /// A file that the build did not leave, or a link instead of a file.
    #[error("`{}` is not a file that the build left", .0.display())]
    Unreported(PathBuf),
    /// The folder to fill holds something.
    #[error("the folder `{}` is not empty", .0.display())]
    NotEmpty(PathBuf),
    /// The system refused.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Links the files that the build of a job left in `dist`, each with a copy of the record, into the
/// folder `out`, which is empty or missing. Returns their names and digests, sorted. All files are
/// compared with the record before the first is linked, and `out` stays empty on an error.
///
/// The links take no further disk, but a process of the build that still runs can change both names
/// of a file. That is found later: whoever takes the files over compares them with the digests that
/// are returned here.
///
/// # Errors
/// When the record is not of a finished build of this job, a file is missing or not as the record
/// says, `dist` holds another wheel or source distribution, or `out` is not empty.
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
            // The first error says more than one of clearing up after it.
            let _ = sys::remove(&out.join(name));
        }
    }
    linked
}

/// Returns the digest of a file in `dist`, which is the one that the build left.
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

/// The name of the copy of a build's record beside a file that it left.
pub fn record_name(file: &str) -> String {
    let stem = [".whl", ".tar.gz"]
        .iter()
        .find_map(|ending| file.strip_suffix(ending))
        .unwrap_or(file);
    format!("{stem}.build.json")
}
