//! The files to publish as a release on GitHub, and the contents of that release.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use rock_compat::Compat;
use rock_diagnostic::{Code, Diagnostic, Location, Severity, Sink, count_more};
use rock_publish::codes::release::{FILE_NOT_TAKEN, TOO_MANY_CALLS};
use rock_publish::remote::{DesiredRelease, LONGEST_NAME_BYTES, immutable_refusal, standing};
use rock_publish::{
    AllowedDifferences, DesiredFile, GitTag, ListedAsset, LocalAsset, ReleaseContents, ReleasePlan,
    audit_errors, missing_rocm_labels, without_paths,
};
use rock_sys::{open_file, size_and_mtime};

use crate::codes::release as codes;
use crate::{ObservedReleases, UploadSource};

/// The files to publish, and the data for their release.
#[derive(Debug)]
pub struct UploadSet {
    /// The tag of the release.
    pub tag: GitTag,
    /// The plan that the files are checked against; empty without one.
    pub plan: ReleasePlan,
    /// The text of the release, if given.
    pub notes: Option<String>,
    /// The files; names are unique.
    pub files: Vec<LocalAsset>,
}

/// The checks of the files of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReleaseChecks<'c> {
    /// The differences from the plan that are not errors.
    pub allowed: AllowedDifferences,
    /// The codes of errors of an audit that are only notes.
    pub allowed_errors: &'c [&'static Code],
    /// The severity of more uploads than GitHub accepts in an hour; `None` if they may take longer.
    pub hourly_limit: Option<Severity>,
    /// Whether nothing is uploaded.
    pub is_dry_run: bool,
}

/// The bytes of the files of a release.
#[derive(Debug, Clone, Copy)]
pub struct UploadContents<'c> {
    files: &'c [LocalAsset],
    generated: &'c BTreeMap<String, Vec<u8>>,
}

impl UploadSet {
    /// Returns the contents of the release and sets the files of the desired one. Every reason
    /// against it is reported; `None` if there are errors.
    pub fn release_contents(
        &self,
        desired: &mut DesiredRelease,
        state: &ObservedReleases,
        checks: ReleaseChecks<'_>,
        compat: &Compat,
        sink: &mut Sink,
    ) -> Option<ReleaseContents> {
        let standing = standing(desired, &state.releases);
        let details = self
            .plan
            .details(Some(desired.tag.clone()), &self.files, &[], compat);
        let (release, undescribed) = ReleaseContents::on_github(
            without_paths(&self.files),
            &details,
            state.manifest.as_ref(),
            &standing,
            compat.rocm_versions(),
        );
        desired.assets = release.desired_files();
        match immutable_refusal(desired, &state.releases) {
            // No other advice would help. Without another error, this is reported with the steps.
            Some(refusal) if sink.has_errors() => sink.push(refusal.into()),
            Some(_) => {}
            None => {
                let names: BTreeSet<&str> = standing.keys().copied().collect();
                let offered = without_paths(&self.files);
                self.plan
                    .check(&offered, &names, &details, checks.allowed, compat, sink);
                sink.extend(audit_errors(&offered, &details, checks.allowed_errors));
                sink.extend(undescribed_wheels(&undescribed));
                if let Some(severity) = checks.hourly_limit {
                    sink.extend(
                        too_many_uploads(&desired.assets, &standing, compat)
                            .map(|diagnostic| diagnostic.severity(severity)),
                    );
                }
                let is_published = !checks.is_dry_run && !sink.has_errors();
                let is_kept = |name: &str| is_published || names.contains(name);
                sink.extend(missing_rocm_labels(&release.assets, &details, is_kept));
            }
        }
        (!sink.has_errors()).then_some(release)
    }
}

impl<'c> UploadContents<'c> {
    /// Creates the contents of local files and of generated ones.
    pub fn new(files: &'c [LocalAsset], generated: &'c BTreeMap<String, Vec<u8>>) -> Self {
        Self { files, generated }
    }

    /// Opens a file for its upload.
    ///
    /// # Errors
    /// The file is not part of the release, or cannot be opened.
    pub fn open(&self, name: &str) -> io::Result<UploadSource> {
        if let Some(bytes) = self.generated.get(name) {
            return Ok(UploadSource::Text(bytes.clone().into()));
        }
        let file = self
            .files
            .iter()
            .find(|file| file.name() == name)
            .ok_or(io::ErrorKind::NotFound)?;
        open_file(&file.path).map(UploadSource::File)
    }

    /// Returns the path of a file for messages. That of a generated file is its name.
    pub fn path_of(&self, name: &str) -> String {
        let file = self.files.iter().find(|file| file.name() == name);
        file.map_or_else(|| name.to_owned(), |file| file.asset.shown.clone())
    }
}

/// Returns the files that GitHub accepts, by size and length of the name, and reports the others. A
/// file without readable metadata is reported later, when it is read.
pub fn accepted_files(files: &[PathBuf], compat: &Compat, sink: &mut Sink) -> Vec<PathBuf> {
    let max_bytes = compat.limit_value("asset") as u64;
    let mut accepted = Vec::new();
    for file in files {
        match refused_file(file, max_bytes) {
            None => accepted.push(file.clone()),
            Some(diagnostic) => sink.push(diagnostic),
        }
    }
    accepted
}

/// Returns the reason why GitHub does not accept a file.
fn refused_file(path: &Path, max_bytes: u64) -> Option<Diagnostic> {
    let (size_bytes, _) = size_and_mtime(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (reason, help) = if size_bytes == 0 {
        ("is empty".to_owned(), "build it again")
    } else if size_bytes > max_bytes {
        (
            format!(
                "has {size_bytes} bytes, and GitHub accepts fewer than {}",
                max_bytes.saturating_add(1)
            ),
            "build it for fewer gfx targets, or split it",
        )
    } else if name.len() > LONGEST_NAME_BYTES {
        (
            format!(
                "has a name of {} bytes, and GitHub accepts 255, or {LONGEST_NAME_BYTES} for a file that can be replaced",
                name.len()
            ),
            "give it a shorter local version label",
        )
    } else {
        return None;
    };
    Some(
        Diagnostic::new(&FILE_NOT_TAKEN, format!("`{name}` {reason}"))
            .at(Location::File(path.display().to_string().into()), "")
            .help(help),
    )
}

/// Returns a diagnostic if there are more files to upload than GitHub accepts in an hour.
fn too_many_uploads(
    desired: &[DesiredFile],
    standing: &BTreeMap<&str, &ListedAsset>,
    compat: &Compat,
) -> Option<Diagnostic> {
    let uploads = desired
        .iter()
        .filter(|file| {
            !standing
                .get(file.name.as_str())
                .is_some_and(|asset| asset.has_content_of(file))
        })
        .count();
    if uploads <= compat.uploads_per_hour() {
        return None;
    }
    let per_hour = compat.limit_value("content-per-hour");
    Some(
        Diagnostic::new(
            &TOO_MANY_CALLS,
            format!("{uploads} files to upload, but GitHub accepts about {per_hour} per hour"),
        )
        .help("publish them with `--slow`, which takes longer than an hour, or publish fewer files at a time"),
    )
}

/// Returns a diagnostic for wheels of the release about which neither a manifest nor GitHub has
/// enough data.
fn undescribed_wheels(names: &[String]) -> Option<Diagnostic> {
    let (first, others) = names.split_first()?;
    let and_others = count_more(others.len(), " and ");
    Some(
        Diagnostic::new(
            &codes::NOT_IN_SUMS,
            format!(
                "`{first}`{and_others} of the release will not be in `SHA256SUMS` and `rock-manifest.json`"
            ),
        )
        .help("publish these wheels again with the others, so that their digests are known"),
    )
}

#[cfg(test)]
mod tests {
    use rock_compat::Compat;
    use rock_diagnostic::{Severity, Sink};
    use rock_publish::remote::{DesiredRelease, MakeLatest};
    use rock_publish::{
        AllowedDifferences, ListedAsset, ListedRelease, MANIFEST, ReleasePlan, SUMS,
    };

    use super::{ReleaseChecks, UploadSet};
    use crate::ObservedReleases;

    #[test]
    fn wheels_without_a_digest_stay_out_of_the_checksums() {
        let upload = UploadSet {
            tag: "v1".parse().unwrap(),
            plan: ReleasePlan::default(),
            notes: None,
            files: Vec::new(),
        };
        let mut desired = DesiredRelease {
            tag: "v1".to_owned(),
            title: None,
            body: None,
            target: None,
            prerelease: false,
            make_latest: MakeLatest::Legacy,
            stays_draft: false,
            assets: Vec::new(),
            nonce: "nonce".to_owned(),
            most_assets: 1000,
        };
        let state = ObservedReleases {
            releases: vec![ListedRelease {
                id: 1,
                tag_name: "v1".to_owned(),
                assets: vec![ListedAsset {
                    id: 2,
                    name: "demo-1.0-py3-none-any.whl".to_owned(),
                    size: 7,
                    ..ListedAsset::default()
                }],
                ..ListedRelease::default()
            }],
            manifest: None,
        };
        let checks = ReleaseChecks {
            allowed: AllowedDifferences::default(),
            allowed_errors: &[],
            hourly_limit: Some(Severity::Error),
            is_dry_run: false,
        };
        let (compat, mut sink) = (Compat::embedded(), Sink::new());
        let release = upload
            .release_contents(&mut desired, &state, checks, &compat, &mut sink)
            .unwrap();
        let generated: Vec<&str> = release.generated.keys().map(String::as_str).collect();
        assert_eq!(generated, [SUMS, MANIFEST]);
        let names: Vec<&str> = desired
            .assets
            .iter()
            .map(|file| file.name.as_str())
            .collect();
        assert_eq!(names, [SUMS, MANIFEST]);
        let reported = sink.finish();
        assert_eq!(reported.len(), 1, "{reported:?}");
        assert_eq!(reported[0].code.name, "not-in-sums");
    }
}
