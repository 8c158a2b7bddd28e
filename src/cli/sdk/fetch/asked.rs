//! The run and the selection of its artifacts, from options and the environment.

use std::collections::BTreeSet;
use std::path::PathBuf;

use regex::Regex;

use super::super::layout_args::platform;
use super::super::targets::unknown_families;
use super::{Args, Shell};
use crate::codes::{sdk as codes, wheel::BAD_PATTERN};
use crate::compat::Compat;
use crate::config::Platform;
use crate::diagnostic::{Diagnostic, Location};
use crate::fetch::ProxySettings;
use crate::names::{ArtifactComponent, GfxTarget};
use crate::sdk;
use crate::sdk::bucket::{ArtifactSelection, BucketFile};
use crate::sdk::fetch::ArtifactStore;

/// The run whose artifacts are fetched.
#[derive(Debug)]
pub(super) struct AskedRun {
    id: String,
    platform: Platform,
    /// The repository of the run, if one was given.
    repository: Option<String>,
    release_type: String,
    /// A directory to use instead of the bucket.
    staging: Option<PathBuf>,
}

impl Args {
    /// Returns the run that the options or else the environment variables describe.
    ///
    /// # Errors
    /// If there is no run ID, or a variable has an invalid value.
    pub(super) fn asked_run(&self, shell: &Shell) -> Result<AskedRun, Vec<Diagnostic>> {
        let mut errors = Vec::new();
        let id = self.run_id.clone().map_or_else(
            || from_environment("THEROCK_RUN_ID", shell, run_id),
            |id| Ok(Some(id)),
        );
        let id = id.and_then(|id| {
            id.ok_or_else(|| {
                Diagnostic::new(&codes::NO_ARTIFACT, "no run ID given")
                    .help("pass the ID of the CI run with `--run-id`")
            })
        });
        let platform = self.platform.map_or_else(
            || from_environment("THEROCK_PLATFORM", shell, platform),
            |platform| Ok(Some(platform)),
        );
        let id = id.map_err(|error| errors.push(error)).unwrap_or_default();
        let platform = platform
            .map_err(|error| errors.push(error))
            .unwrap_or_default();
        if !errors.is_empty() {
            return Err(errors);
        }
        let variable = |name: &str| shell.environment.get(name);
        let staging = || {
            variable("THEROCK_LOCAL_STAGING_DIR")
                .filter(|_| self.bucket.is_none())
                .map(PathBuf::from)
        };
        Ok(AskedRun {
            id,
            platform: platform.unwrap_or(Platform::Linux),
            repository: self
                .run_github_repo
                .clone()
                .or_else(|| variable("GITHUB_REPOSITORY").map(str::to_owned)),
            release_type: self
                .release_type
                .as_deref()
                .or_else(|| variable("RELEASE_TYPE"))
                .unwrap_or("ci")
                .to_owned(),
            staging: self.local_staging.clone().or_else(staging),
        })
    }

    /// Returns the selection of artifacts.
    ///
    /// # Errors
    /// If regular expressions are invalid or families unknown.
    pub(super) fn choice(&self, compat: &Compat) -> Result<ArtifactSelection, Vec<Diagnostic>> {
        let mut errors = Vec::new();
        let mut compiled = |patterns: &[String], option: &str| -> Vec<Regex> {
            let each = patterns.iter().filter_map(|pattern| {
                Regex::new(pattern)
                    .map_err(|error| errors.push(bad_pattern(pattern, option, &error)))
                    .ok()
            });
            each.collect()
        };
        let includes = compiled(&self.include, "");
        let excludes = compiled(&self.exclude, "--exclude ");
        let gpus: Vec<String> = self
            .gfx
            .iter()
            .flat_map(|list| sdk::words(list))
            .map(|word| {
                compat
                    .product(word)
                    .map_or_else(|| word.to_owned(), |row| row.gfx.clone())
            })
            .collect();
        let mut made_for: BTreeSet<String> = gpus.iter().cloned().collect();
        if self.expand_family_to_targets {
            let rows = &compat.tables().families;
            // Targets need no row: there may be artifacts for some that the tables do not have yet.
            let families = gpus
                .iter()
                .filter(|word| word.parse::<GfxTarget>().is_err())
                .cloned()
                .collect::<Vec<_>>()
                .join(",");
            match sdk::expand(&families, rows) {
                Ok(targets) => made_for.extend(targets),
                Err(unknown) => {
                    let argument = format!("--gfx {}", self.gfx.join(","));
                    errors.push(unknown_families(&unknown, &argument, rows));
                }
            }
        }
        // Names of artifacts are compared without their features.
        let made_for: BTreeSet<String> = made_for
            .iter()
            .map(|word| sdk::base_target(word).to_owned())
            .collect();
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(ArtifactSelection {
            made_for: (!made_for.is_empty()).then_some(made_for),
            includes,
            excludes,
            without_components: self.exclude_components.iter().copied().collect(),
            without_names: self.exclude_artifacts.iter().cloned().collect(),
        })
    }

    /// Returns the location of the run's artifacts, and all files of the run.
    ///
    /// # Errors
    /// If the location cannot be listed or is empty, or the release type is unknown.
    pub(super) fn store(
        &self,
        run: &AskedRun,
        shell: &Shell,
        compat: &Compat,
        proxies: &ProxySettings,
    ) -> Result<(ArtifactStore, Vec<BucketFile>), Vec<Diagnostic>> {
        let one = |error: Diagnostic| vec![error];
        let rows = &compat.sdk_tables().sdk_buckets;
        let row = rows
            .iter()
            .find(|row| row.release_types.contains(&run.release_type))
            .ok_or_else(|| {
                let known: Vec<&str> = rows
                    .iter()
                    .flat_map(|row| &row.release_types)
                    .map(String::as_str)
                    .collect();
                one(Diagnostic::new(
                    &codes::NO_ARTIFACT,
                    format!("unknown release type `{}`", run.release_type),
                )
                .at(
                    Location::Argument(format!("--release-type {}", run.release_type)),
                    "",
                )
                .help(format!("known types are {}", known.join(", "))))
            })?;
        let repository = run.repository.as_deref().unwrap_or(&row.repository);
        let is_upstream = repository == row.repository;
        let address = |is_shared: bool| match (&self.bucket, is_shared && !row.shared.is_empty()) {
            (Some(bucket), _) => bucket.trim_end_matches('/').to_owned(),
            (None, true) => row.shared.clone(),
            (None, false) => row.address.clone(),
        };
        // Artifacts of pull requests from forks are in the shared bucket, but their runs belong to
        // the upstream repository.
        let ways: &[bool] = match (row.shared.is_empty() && self.bucket.is_none(), is_upstream) {
            (true, _) => &[false],
            (false, true) => &[false, true],
            (false, false) => &[true],
        };
        let mut searched = Vec::new();
        for &is_shared in ways {
            let folder =
                sdk::bucket::folder_of_run(is_shared.then_some(repository), &run.id, run.platform);
            let store = match &run.staging {
                Some(staging) => ArtifactStore::Directory(staging.join(&folder)),
                None => ArtifactStore::Bucket {
                    address: address(is_shared),
                    folder,
                    proxies: proxies.clone(),
                },
            };
            shell.detail(&format!("looking in {store}"));
            let files = store.list().map_err(one)?;
            if !files.is_empty() {
                return Ok((store, files));
            }
            searched.push(store);
        }
        let places: Vec<String> = searched.iter().map(|store| format!("`{store}`")).collect();
        let message = format!(
            "there are no artifacts of run {} in {}",
            run.id,
            places.join(" or ")
        );
        Err(one(Diagnostic::new(&codes::NO_ARTIFACT, message)
            .at(Location::Argument(format!("--run-id {}", run.id)), "")
            .help(
                "check the run ID, its repository (`--run-github-repo`) and the release type \
                 (`--release-type`); artifacts are deleted after some weeks",
            )))
    }
}

/// Returns the error for an invalid regular expression; `option` ends with a space if it is given.
fn bad_pattern(pattern: &str, option: &str, error: &regex::Error) -> Diagnostic {
    let text = error.to_string();
    let reason = text.lines().last().unwrap_or_default();
    let message = format!("`{pattern}` is not a regular expression: {reason}");
    Diagnostic::new(&BAD_PATTERN, message)
        .at(Location::Argument(format!("{option}{pattern}")), "")
        .help("escape special characters with a backslash, such as `\\(` or `\\+`")
}

/// Parses the value of an environment variable, if it is set.
fn from_environment<T>(
    name: &str,
    shell: &Shell,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, Diagnostic> {
    let invalid = |reason: String| {
        Diagnostic::new(
            &codes::NO_ARTIFACT,
            format!("invalid value of `{name}`: {reason}"),
        )
        .at(Location::Argument(name.to_owned()), "")
        .help("set it to another value, or unset it")
    };
    shell
        .environment
        .get(name)
        .map(parse)
        .transpose()
        .map_err(invalid)
}

/// Parses the ID of a run.
pub(super) fn run_id(text: &str) -> Result<String, String> {
    let is_id = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if is_id {
        Ok(text.to_owned())
    } else {
        Err("expected a run ID such as 18456789012".to_owned())
    }
}

/// Parses a component.
pub(super) fn component(word: &str) -> Result<ArtifactComponent, String> {
    word.parse().map_err(|()| {
        format!(
            "expected one of {}",
            ArtifactComponent::ALL
                .map(ArtifactComponent::word)
                .join(", ")
        )
    })
}
