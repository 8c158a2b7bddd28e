//! The CI run whose artifacts are fetched, and the store that has them.

use std::path::PathBuf;

use itertools::Itertools as _;
use rock_compat::rows::SdkBucketRow;
use rock_diagnostic::{Diagnostic, Location};
use rock_names::Platform;
use rock_sys::fetch::ProxySettings;

use super::store::{ArtifactStore, ListError};
use crate::bucket::{BucketFile, directory_of_run};
use crate::codes::sdk as codes;

/// The release type of runs of pull requests and branches.
const DEFAULT_RELEASE_TYPE: &str = "ci";

/// A description of a CI run; what is `None` is taken from environment variables.
#[derive(Debug, Clone, Default)]
pub struct CiRunOptions {
    /// The ID of the run; by default that in `THEROCK_RUN_ID`.
    pub id: Option<String>,
    /// The platform of the artifacts; by default that in `THEROCK_PLATFORM`, or else Linux.
    pub platform: Option<Platform>,
    /// The repository of the run, `OWNER/REPO`; by default that in `GITHUB_REPOSITORY`, or else the
    /// one of the bucket.
    pub repository: Option<String>,
    /// The release type of the run; by default that in `RELEASE_TYPE`, or else `ci`.
    pub release_type: Option<String>,
    /// The URL of the bucket; by default the one of the release type in the table `sdk-buckets`.
    pub bucket: Option<String>,
    /// A directory with the layout of a bucket, to use instead of one; by default that in
    /// `THEROCK_LOCAL_STAGING_DIR`, unless there is a bucket.
    pub staging: Option<PathBuf>,
}

/// A CI run whose artifacts can be fetched.
#[derive(Debug, Clone)]
pub struct CiRun {
    id: String,
    platform: Platform,
    /// The repository of the run, if one was given.
    repository: Option<String>,
    release_type: String,
    bucket: Option<String>,
    staging: Option<PathBuf>,
}

/// An incomplete or invalid description of a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CiRunError {
    /// There is no run ID.
    #[error("no run ID given")]
    NoId,
    /// An environment variable has an invalid value.
    #[error("invalid value of `{variable}`: {reason}")]
    InvalidVariable {
        /// The name of the variable.
        variable: &'static str,
        /// The reason.
        reason: String,
    },
}

/// The reason for which the artifacts of a run are not found.
#[derive(Debug, thiserror::Error)]
pub enum FindStoreError {
    /// No row of the table `sdk-buckets` has the release type of the run.
    #[error("unknown release type `{release_type}`")]
    UnknownReleaseType {
        /// The release type of the run.
        release_type: String,
        /// The types of the table.
        known: Vec<String>,
    },
    /// None of the stores has the run.
    #[error("there are no artifacts of run {id} in {}", stores.iter().map(|store| format!("`{store}`")).join(" or "))]
    NoArtifacts {
        /// The ID of the run.
        id: String,
        /// The stores in which it was looked for.
        stores: Vec<String>,
    },
    /// A store cannot be listed.
    #[error(transparent)]
    List(#[from] ListError),
}

impl From<CiRunError> for Diagnostic {
    fn from(error: CiRunError) -> Self {
        let diagnostic = Self::new(&codes::NO_ARTIFACT, error.to_string());
        match error {
            CiRunError::NoId => diagnostic.help("pass the ID of the CI run with `--run-id`"),
            CiRunError::InvalidVariable { variable, .. } => diagnostic
                .at(Location::Argument(variable.to_owned()), "")
                .help("set it to another value, or unset it"),
        }
    }
}

impl From<FindStoreError> for Diagnostic {
    fn from(error: FindStoreError) -> Self {
        let diagnostic = Self::new(&codes::NO_ARTIFACT, error.to_string());
        match error {
            FindStoreError::UnknownReleaseType {
                release_type,
                known,
            } => diagnostic
                .at(
                    Location::Argument(format!("--release-type {release_type}")),
                    "",
                )
                .help(format!("known types are {}", known.join(", "))),
            FindStoreError::NoArtifacts { id, .. } => diagnostic
                .at(Location::Argument(format!("--run-id {id}")), "")
                .help(
                    "check the run ID, its repository (`--run-github-repo`) and the release type \
                     (`--release-type`); artifacts are deleted after some weeks",
                ),
            FindStoreError::List(error) => error.into(),
        }
    }
}

impl CiRunOptions {
    /// Returns the run. `variable` looks up an environment variable that is not empty.
    ///
    /// # Errors
    /// When there is no run ID, or a variable has an invalid value: every such problem.
    pub fn resolve<'v>(
        self,
        variable: impl Fn(&str) -> Option<&'v str>,
    ) -> Result<CiRun, Vec<CiRunError>> {
        let mut errors = Vec::new();
        let mut parsed = |name: &'static str, is_valid: Result<(), String>| {
            let invalid = |reason| CiRunError::InvalidVariable {
                variable: name,
                reason,
            };
            errors.extend(is_valid.map_err(invalid).err());
        };
        let id = self.id.or_else(|| {
            let id = variable("THEROCK_RUN_ID")?;
            parsed("THEROCK_RUN_ID", parse_run_id(id).map(drop));
            Some(id.to_owned())
        });
        let platform = self.platform.or_else(|| {
            let platform = parse_platform(variable("THEROCK_PLATFORM")?);
            parsed("THEROCK_PLATFORM", platform.clone().map(drop));
            platform.ok()
        });
        let Some(id) = id else {
            errors.insert(0, CiRunError::NoId);
            return Err(errors);
        };
        if !errors.is_empty() {
            return Err(errors);
        }
        let staging = self.staging.or_else(|| {
            variable("THEROCK_LOCAL_STAGING_DIR")
                .filter(|_| self.bucket.is_none())
                .map(PathBuf::from)
        });
        Ok(CiRun {
            id,
            platform: platform.unwrap_or(Platform::Linux),
            repository: self
                .repository
                .or_else(|| variable("GITHUB_REPOSITORY").map(str::to_owned)),
            release_type: self
                .release_type
                .or_else(|| variable("RELEASE_TYPE").map(str::to_owned))
                .unwrap_or_else(|| DEFAULT_RELEASE_TYPE.to_owned()),
            bucket: self.bucket,
            staging,
        })
    }
}

impl CiRun {
    /// Returns the store with the run's artifacts, and all files of the run. `rows` is the table
    /// `sdk-buckets`; `on_message` receives a message before each store is listed.
    ///
    /// # Errors
    /// When the release type is unknown, or no store has the run or one cannot be listed.
    pub fn find_store(
        &self,
        rows: &[SdkBucketRow],
        proxies: &ProxySettings,
        on_message: &dyn Fn(&str),
    ) -> Result<(ArtifactStore, Vec<BucketFile>), FindStoreError> {
        let row = rows
            .iter()
            .find(|row| row.release_types.contains(&self.release_type))
            .ok_or_else(|| FindStoreError::UnknownReleaseType {
                release_type: self.release_type.clone(),
                known: rows
                    .iter()
                    .flat_map(|row| row.release_types.iter().cloned())
                    .collect(),
            })?;
        let mut stores = Vec::new();
        for store in self.stores(row, proxies) {
            on_message(&format!("looking in {store}"));
            let files = store.list()?;
            if !files.is_empty() {
                return Ok((store, files));
            }
            stores.push(store.to_string());
        }
        Err(FindStoreError::NoArtifacts {
            id: self.id.clone(),
            stores,
        })
    }

    /// Returns the stores that may have the artifacts, in order.
    fn stores(&self, row: &SdkBucketRow, proxies: &ProxySettings) -> Vec<ArtifactStore> {
        let repository = self.repository.as_deref().unwrap_or(&row.repository);
        let is_upstream = repository == row.repository;
        // Artifacts of pull requests from forks are in the shared bucket, but their runs belong to
        // the upstream repository.
        let sharing: &[bool] = match (row.shared.is_empty() && self.bucket.is_none(), is_upstream) {
            (true, _) => &[false],
            (false, true) => &[false, true],
            (false, false) => &[true],
        };
        sharing
            .iter()
            .map(|&is_shared| {
                let directory =
                    directory_of_run(is_shared.then_some(repository), &self.id, self.platform);
                match &self.staging {
                    Some(staging) => ArtifactStore::Directory(staging.join(&directory)),
                    None => ArtifactStore::Bucket {
                        address: self.address(row, is_shared),
                        directory,
                        proxies: proxies.clone(),
                    },
                }
            })
            .collect()
    }

    /// Returns the URL of the bucket, without a trailing slash.
    fn address(&self, row: &SdkBucketRow, is_shared: bool) -> String {
        match &self.bucket {
            Some(bucket) => bucket.trim_end_matches('/').to_owned(),
            None if is_shared && !row.shared.is_empty() => row.shared.clone(),
            None => row.address.clone(),
        }
    }
}

/// Parses the ID of a run.
///
/// # Errors
/// Returns the reason for which the text is not an ID.
pub fn parse_run_id(text: &str) -> Result<String, String> {
    let is_id = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if is_id {
        Ok(text.to_owned())
    } else {
        Err("expected a run ID such as 18456789012".to_owned())
    }
}

/// Parses a platform.
///
/// # Errors
/// Returns the known platforms.
pub fn parse_platform(word: &str) -> Result<Platform, String> {
    Platform::from_word(word)
        .ok_or_else(|| format!("expected one of {}", Platform::WORDS.join(", ")))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{CiRunError, CiRunOptions};
    use rock_compat::Compat;
    use rock_sys::fetch::ProxySettings;

    #[test]
    fn a_run_is_described_by_options_or_variables() {
        let resolve = |options: CiRunOptions, variables: &[(&str, &'static str)]| {
            let variables: BTreeMap<&str, &str> = variables.iter().copied().collect();
            options
                .resolve(|name| variables.get(name).copied())
                .map(|run| (run.id, run.platform.word(), run.release_type))
        };
        let id = CiRunOptions {
            id: Some("7".to_owned()),
            ..CiRunOptions::default()
        };
        let run = ("7".to_owned(), "linux", "ci".to_owned());
        assert_eq!(resolve(id, &[("THEROCK_RUN_ID", "../x")]), Ok(run));
        let variables = [
            ("THEROCK_RUN_ID", "8"),
            ("THEROCK_PLATFORM", "windows"),
            ("RELEASE_TYPE", "nightly"),
        ];
        let run = ("8".to_owned(), "windows", "nightly".to_owned());
        assert_eq!(resolve(CiRunOptions::default(), &variables), Ok(run));
        let errors = resolve(CiRunOptions::default(), &[("THEROCK_PLATFORM", "mac")]).unwrap_err();
        assert_eq!(errors[0], CiRunError::NoId);
        assert_eq!(
            errors[1].to_string(),
            "invalid value of `THEROCK_PLATFORM`: expected one of linux, windows"
        );
    }

    /// The run of an upstream repository may be in its own bucket or in the shared one.
    #[test]
    fn a_store_with_the_run_is_found() {
        let compat = Compat::embedded();
        let rows = &compat.sdk_tables().sdk_buckets;
        let staging = tempfile::tempdir().unwrap();
        let run = CiRunOptions {
            id: Some("7".to_owned()),
            staging: Some(staging.path().to_owned()),
            ..CiRunOptions::default()
        };
        let run = run.resolve(|_| None).unwrap();
        let find = || run.find_store(rows, &ProxySettings::default(), &|_| ());
        let error = find().unwrap_err().to_string();
        assert!(
            error.starts_with("there are no artifacts of run 7 in ") && error.contains("7-linux/`"),
            "{error}"
        );
        let file = staging.path().join("7-linux/base_lib_generic.tar.zst");
        rock_sys::write_atomic(&file, b"x").unwrap();
        let (_, files) = find().unwrap();
        assert_eq!(files, [("base_lib_generic.tar.zst".to_owned(), 1)]);
    }
}
