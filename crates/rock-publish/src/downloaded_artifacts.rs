//! The downloaded artifacts of a workflow's jobs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rock_diagnostic::codes::host;
use rock_diagnostic::{Diagnostic, Diagnostics, Sink};
use rock_names::is_asset_name;
use rock_plan::Job;
use rock_sys::{FileError, ListedFile, hash_file, list_files, read_bytes};

use crate::file_errors::machine_error;
use crate::handover::{
    ArtifactSums, LARGEST_SUMS_BYTES, LegArtifact, check_artifact, check_strays,
};
use crate::{Asset, LegReport, LocalAsset, SUMS, sha256};

/// The artifacts of a run, each with the report of its job.
#[derive(Debug)]
pub struct DownloadedArtifacts {
    artifacts: Vec<DownloadedArtifact>,
}

/// An artifact in its directory.
#[derive(Debug)]
struct DownloadedArtifact {
    report: LegReport,
    directory: PathBuf,
    artifact: LegArtifact,
}

impl DownloadedArtifacts {
    /// Reads the directory that `actions/download-artifact` filled: a subdirectory for each
    /// artifact, or the files of the only one (its README, "Breaking changes in v5"). Wheels and
    /// archives are not read. Reports files that belong to no artifact.
    ///
    /// # Errors
    /// Something cannot be read.
    pub fn open(
        directory: &Path,
        reports: Vec<LegReport>,
        sink: &mut Sink,
    ) -> Result<Self, Diagnostics> {
        let Some(mut files) = list_files(directory).map_err(machine_error)? else {
            let message = format!("the directory `{}` does not exist", directory.display());
            return Err(Diagnostic::new(&host::CANNOT_READ_FILE, message)
                .help("check the value of `--artifacts`")
                .into());
        };
        let mut artifacts = Vec::new();
        let is_only_one = reports.len() == 1;
        for report in reports {
            let prefix = format!("wheel-{}/", report.job);
            let is_flat = is_only_one && !files.iter().any(|(name, _)| name.starts_with(&prefix));
            let prefix = if is_flat { String::new() } else { prefix };
            let own: Vec<ListedFile> = files
                .extract_if(.., |(name, _)| name.starts_with(&prefix))
                .collect();
            let artifact = read_artifact(directory, &prefix, own).map_err(machine_error)?;
            artifacts.push(DownloadedArtifact {
                report,
                directory: directory.join(&prefix),
                artifact,
            });
        }
        let strays: Vec<String> = files
            .iter()
            .map(|(name, _)| directory.join(name).display().to_string())
            .collect();
        check_strays(&strays, sink);
        Ok(Self { artifacts })
    }

    /// Returns the paths of the wheels and archives in the artifacts.
    pub fn asset_paths(&self) -> Vec<PathBuf> {
        self.artifacts
            .iter()
            .flat_map(|downloaded| {
                downloaded
                    .artifact
                    .files
                    .keys()
                    .filter(|name| is_asset_name(name))
                    .map(move |name| downloaded.directory.join(name))
            })
            .collect()
    }

    /// Checks each artifact against the report of its job and against the plan, after the wheels
    /// and archives were read.
    pub fn check(&self, jobs: &[Job], files: &[LocalAsset], sink: &mut Sink) {
        let by_path: BTreeMap<&Path, &Asset> = files
            .iter()
            .map(|file| (file.path.as_path(), &file.asset))
            .collect();
        let by_id: BTreeMap<&str, &Job> = jobs.iter().map(|job| (job.id.as_str(), job)).collect();
        for downloaded in &self.artifacts {
            let Some(job) = by_id.get(downloaded.report.job.as_str()) else {
                continue;
            };
            let mut artifact = downloaded.artifact.clone();
            let mut assets: BTreeMap<&str, &Asset> = BTreeMap::new();
            for (name, digest) in &mut artifact.files {
                if let Some(asset) = by_path.get(downloaded.directory.join(name).as_path()) {
                    *digest = Some(asset.digest);
                    assets.insert(asset.name(), asset);
                }
            }
            check_artifact(&downloaded.report, job, &artifact, &assets, sink);
        }
    }
}

/// Reads the `files` of an artifact, whose paths begin with `prefix`.
fn read_artifact(
    directory: &Path,
    prefix: &str,
    files: Vec<ListedFile>,
) -> Result<LegArtifact, FileError> {
    let shown = directory.join(prefix).display().to_string();
    let mut artifact = LegArtifact {
        shown: shown.trim_end_matches('/').to_owned(),
        sums: None,
        files: BTreeMap::new(),
        others: Vec::new(),
    };
    for (path, size) in files {
        let (path, name) = (directory.join(&path), path[prefix.len()..].to_owned());
        match size {
            None => artifact.others.push(name),
            Some(size_bytes) if name == SUMS => {
                artifact.sums = Some(read_artifact_sums(&path, size_bytes)?);
            }
            Some(_) if is_asset_name(&name) => drop(artifact.files.insert(name, None)),
            Some(_) => {
                let (_, digest) = hash_file(&path)?;
                artifact.files.insert(name, Some(digest));
            }
        }
    }
    Ok(artifact)
}

/// Reads the `SHA256SUMS` of an artifact; only its digest if it is too large.
fn read_artifact_sums(path: &Path, size_bytes: u64) -> Result<ArtifactSums, FileError> {
    if size_bytes > LARGEST_SUMS_BYTES {
        return Ok(ArtifactSums {
            digest: hash_file(path)?.1,
            bytes: Vec::new(),
            size_bytes,
        });
    }
    let bytes = read_bytes(path, LARGEST_SUMS_BYTES)?;
    Ok(ArtifactSums {
        digest: sha256(&bytes),
        bytes,
        size_bytes,
    })
}
