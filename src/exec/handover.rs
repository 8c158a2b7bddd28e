//! The files that a build reported, in a folder of their own for the artifact of a workflow's leg.

use std::path::{Path, PathBuf};

use super::record::{Outcome, Record};
use crate::names::{Digest, is_wheel_file};
use crate::sys::{self, FileError};

/// A build whose files cannot be handed over.
#[derive(Debug, thiserror::Error)]
pub enum HandoverError {
    /// It is another job's.
    #[error("the build is of the job `{0}`")]
    OtherJob(String),
    /// It is not done, or made nothing.
    #[error("the build is not done, or left no file")]
    NotDone,
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

/// Links the files that the build of a job left in `dist`, each with a copy of the record, into the folder `out`, which is
/// empty or missing. Returns their names and digests, sorted.
///
/// # Errors
/// When the record is not of a finished build of this job, a file is not as it says, or `dist` holds another wheel or
/// source distribution.
pub fn hand_over(record: &Record, job: &str, dist: &Path, out: &Path) -> Result<Vec<(String, Digest)>, HandoverError> {
    if record.job != job {
        return Err(HandoverError::OtherJob(record.job.clone()));
    }
    if record.outcome != Outcome::Done || record.wheels.is_empty() {
        return Err(HandoverError::NotDone);
    }
    let is_reported = |name: &str| record.wheels.iter().any(|wheel| wheel.name == name);
    for (name, size) in sys::tree(dist)?.unwrap_or_default() {
        let is_publishable = !name.contains('/') && (is_wheel_file(&name) || name.ends_with(".tar.gz"));
        if is_publishable && (size.is_none() || !is_reported(&name)) {
            return Err(HandoverError::Unreported(dist.join(name)));
        }
    }
    if !sys::names_in(out)?.is_empty() {
        return Err(HandoverError::NotEmpty(out.to_owned()));
    }
    let mut handed = Vec::new();
    for wheel in &record.wheels {
        let target = out.join(&wheel.name);
        sys::link_or_copy(&dist.join(&wheel.name), &target)?;
        let (_, found) = sys::digest_of(&target)?;
        if wheel.digest.parse() != Ok(found) {
            let (name, reported) = (wheel.name.clone(), wheel.digest.clone());
            return Err(HandoverError::Changed { name, found, reported });
        }
        let beside = record_name(&wheel.name);
        record.save(&out.join(&beside))?;
        handed.push((beside.clone(), sys::digest_of(&out.join(beside))?.1));
        handed.push((wheel.name.clone(), found));
    }
    handed.sort();
    Ok(handed)
}

/// The name of the copy of a build's record beside a file that it left.
pub fn record_name(file: &str) -> String {
    let stem = [".whl", ".tar.gz"].iter().find_map(|ending| file.strip_suffix(ending)).unwrap_or(file);
    format!("{stem}.build.json")
}
