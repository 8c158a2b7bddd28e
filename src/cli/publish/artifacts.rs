//! The downloaded artifacts of a workflow's jobs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Exit, Gathered};
use crate::cli::release_folder::digest;
use crate::codes::host;
use crate::diagnostic::{Diagnostic, Sink};
use crate::names::Digest;
use crate::plan::Job;
use crate::publish::{
    ArtifactSums, Asset, LARGEST_SUMS_BYTES, LegArtifact, LegReport, SUMS, check_artifact,
    check_strays,
};
use crate::sys;

/// The artifacts, each with the report of its job.
pub(super) struct Artifacts {
    legs: Vec<(LegReport, PathBuf, LegArtifact)>,
}

impl Artifacts {
    /// Reads the directory that `actions/download-artifact` filled: a subdirectory for each
    /// artifact, or the files of the only one (its README, "Breaking changes in v5"). Wheels and
    /// archives are not read.
    ///
    /// # Errors
    /// Something cannot be read; the sink has the reason.
    pub(super) fn open(
        folder: &Path,
        reports: Vec<LegReport>,
        sink: &mut Sink,
    ) -> Result<Self, Exit> {
        let machine = |error: sys::FileError, sink: &mut Sink| {
            sink.push(error.into());
            Exit::Machine
        };
        let Some(mut files) = sys::list_files(folder).map_err(|error| machine(error, sink))? else {
            let message = format!("the folder `{}` does not exist", folder.display());
            sink.push(
                Diagnostic::new(&host::CANNOT_READ_FILE, message)
                    .help("check the value of `--artifacts`"),
            );
            return Err(Exit::Fault);
        };
        let mut legs = Vec::new();
        let is_only_one = reports.len() == 1;
        for report in reports {
            let prefix = format!("wheel-{}/", report.job);
            let is_flat = is_only_one && !files.iter().any(|(name, _)| name.starts_with(&prefix));
            let prefix = if is_flat { String::new() } else { prefix };
            let own = files
                .extract_if(.., |(name, _)| name.starts_with(&prefix))
                .collect::<Vec<_>>();
            let place = folder.join(&prefix);
            let shown = place.display().to_string().trim_end_matches('/').to_owned();
            let mut artifact = LegArtifact {
                shown,
                sums: None,
                files: BTreeMap::new(),
                others: Vec::new(),
            };
            for (name, size) in own {
                let (path, name) = (folder.join(&name), name[prefix.len()..].to_owned());
                match size {
                    None => artifact.others.push(name),
                    Some(size_bytes) if name == SUMS => {
                        artifact.sums =
                            Some(sums(&path, size_bytes).map_err(|error| machine(error, sink))?);
                    }
                    Some(_) if is_asset(&name) => drop(artifact.files.insert(name, None)),
                    Some(_) => {
                        let (_, found) =
                            sys::hash_file(&path).map_err(|error| machine(error, sink))?;
                        artifact.files.insert(name, Some(found));
                    }
                }
            }
            legs.push((report, place, artifact));
        }
        let strays: Vec<String> = files
            .iter()
            .map(|(name, _)| folder.join(name).display().to_string())
            .collect();
        check_strays(&strays, sink);
        Ok(Self { legs })
    }

    /// Paths of the wheels and archives in them.
    pub(super) fn assets(&self) -> Vec<PathBuf> {
        let of_leg = |(_, place, artifact): &(LegReport, PathBuf, LegArtifact)| {
            artifact
                .files
                .keys()
                .filter(|name| is_asset(name))
                .map(|name| place.join(name))
                .collect::<Vec<_>>()
        };
        self.legs.iter().flat_map(of_leg).collect()
    }

    /// Checks each artifact against the report of its job and against the plan, after the wheels
    /// and archives were read.
    pub(super) fn check(&self, jobs: &[Job], gathered: &[Gathered], sink: &mut Sink) {
        let by_path: BTreeMap<&Path, &Asset> = gathered
            .iter()
            .map(|one| (one.path.as_path(), &one.asset))
            .collect();
        let by_id: BTreeMap<&str, &Job> = jobs.iter().map(|job| (job.id.as_str(), job)).collect();
        for (report, place, artifact) in &self.legs {
            let Some(job) = by_id.get(report.job.as_str()) else {
                continue;
            };
            let mut artifact = artifact.clone();
            let mut assets: BTreeMap<&str, &Asset> = BTreeMap::new();
            for (name, found) in &mut artifact.files {
                if let Some(asset) = by_path.get(place.join(name).as_path()) {
                    *found = Some::<Digest>(asset.digest);
                    assets.insert(asset.name(), asset);
                }
            }
            check_artifact(report, job, &artifact, &assets, sink);
        }
    }
}

/// Reads the `SHA256SUMS` of an artifact; only its digest if it is too large.
fn sums(path: &Path, size_bytes: u64) -> Result<ArtifactSums, sys::FileError> {
    if size_bytes > LARGEST_SUMS_BYTES {
        return Ok(ArtifactSums {
            digest: sys::hash_file(path)?.1,
            bytes: Vec::new(),
            size_bytes,
        });
    }
    let bytes = sys::read_bytes(path, LARGEST_SUMS_BYTES)?;
    Ok(ArtifactSums {
        digest: digest(&bytes),
        bytes,
        size_bytes,
    })
}

fn is_asset(name: &str) -> bool {
    [".whl", ".tar.gz"]
        .iter()
        .any(|suffix| name.ends_with(suffix))
}
