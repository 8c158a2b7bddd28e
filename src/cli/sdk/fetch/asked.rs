//! What is asked for: which artifacts of which run.

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
use crate::names::ArtifactComponent;
use crate::sdk;
use crate::sdk::bucket::{ArtifactSelection, BucketFile};
use crate::sdk::fetch::ArtifactStore;

/// The run whose artifacts are asked for.
#[derive(Debug)]
pub(super) struct AskedRun {
    id: String,
    platform: Platform,
    /// The repository that it ran in, where one is named.
    repository: Option<String>,
    release_type: String,
    /// The folder that is there in place of a bucket.
    staging: Option<PathBuf>,
}

impl Args {
    /// The run that the command line names, and where it does not the environment.
    ///
    /// # Errors
    /// When neither does, or a variable has no value for it.
    pub(super) fn asked_run(&self, shell: &Shell) -> Result<AskedRun, Vec<Diagnostic>> {
        let mut faults = Vec::new();
        let id = self
            .run_id
            .clone()
            .map_or_else(|| said("THEROCK_RUN_ID", shell, run_id), |id| Ok(Some(id)));
        let id = id.and_then(|id| {
            id.ok_or_else(|| {
                Diagnostic::new(&codes::NO_ARTIFACT, "no run is named").help(
                    "give the number of the run whose artifacts are to be fetched with `--run-id`",
                )
            })
        });
        let platform = self.platform.map_or_else(
            || said("THEROCK_PLATFORM", shell, platform),
            |one| Ok(Some(one)),
        );
        let id = id.map_err(|fault| faults.push(fault)).unwrap_or_default();
        let platform = platform
            .map_err(|fault| faults.push(fault))
            .unwrap_or_default();
        if !faults.is_empty() {
            return Err(faults);
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

    /// Which artifacts are wanted.
    ///
    /// # Errors
    /// Everything that is no pattern or no family.
    pub(super) fn choice(&self, compat: &Compat) -> Result<ArtifactSelection, Vec<Diagnostic>> {
        let mut faults = Vec::new();
        let mut compiled = |words: &[String], option: &str| -> Vec<Regex> {
            let each = words.iter().filter_map(|word| {
                Regex::new(word)
                    .map_err(|error| {
                        let reason = error.to_string().lines().last().unwrap_or_default().to_owned();
                        let place = Location::Argument(format!("{option}{word}"));
                        faults.push(
                            Diagnostic::new(&BAD_PATTERN, format!("`{word}` is no regular expression: {reason}"))
                                .at(place, "")
                                .help("put a backslash in front of a character that stands for itself, such as `\\(` or `\\+`"),
                        );
                    })
                    .ok()
            });
            each.collect()
        };
        let includes = compiled(&self.include, "");
        let excludes = compiled(&self.exclude, "--exclude ");
        let mut made_for: BTreeSet<String> = BTreeSet::new();
        made_for.extend(self.artifact_group.clone());
        let words = |said: &Option<String>| -> Vec<String> {
            sdk::words(said.as_deref().unwrap_or_default())
                .map(str::to_owned)
                .collect()
        };
        let target = |word: String| compat.product(&word).map_or(word, |row| row.gfx.clone());
        made_for.extend(words(&self.amdgpu_targets).into_iter().map(target));
        let families = words(&self.amdgpu_families);
        if self.expand_family_to_targets {
            let rows = &compat.tables().families;
            let said = families
                .iter()
                .chain(&self.artifact_group)
                .cloned()
                .collect::<Vec<_>>()
                .join(",");
            match sdk::expand(&said, rows) {
                Ok(targets) => made_for.extend(targets),
                Err(unknown) => faults.push(unknown_families(&unknown, &said, rows)),
            }
        }
        made_for.extend(families);
        // Names of artifacts are compared without their features.
        let made_for: BTreeSet<String> = made_for
            .iter()
            .map(|word| sdk::base_target(word).to_owned())
            .collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(ArtifactSelection {
            made_for: (!made_for.is_empty()).then_some(made_for),
            includes,
            excludes,
            without_components: self.exclude_components.iter().copied().collect(),
            without_names: self.exclude_artifacts.iter().cloned().collect(),
        })
    }

    /// Where the run's artifacts are, and all files of the run.
    ///
    /// # Errors
    /// When it cannot be listed, or nothing is there.
    pub(super) fn store(
        &self,
        run: &AskedRun,
        shell: &Shell,
        compat: &Compat,
        proxies: &ProxySettings,
    ) -> Result<(ArtifactStore, Vec<BucketFile>), Vec<Diagnostic>> {
        let one = |fault: Diagnostic| vec![fault];
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
                    format!(
                        "nothing is known of releases of the kind `{}`",
                        run.release_type
                    ),
                )
                .at(
                    Location::Argument(format!("--release-type {}", run.release_type)),
                    "",
                )
                .help(format!("kinds are {}", known.join(", "))))
            })?;
        let repository = run.repository.as_deref().unwrap_or(&row.repository);
        let is_upstream = repository == row.repository;
        let address = |is_shared: bool| match (&self.bucket, is_shared && !row.shared.is_empty()) {
            (Some(bucket), _) => bucket.trim_end_matches('/').to_owned(),
            (None, true) => row.shared.clone(),
            (None, false) => row.address.clone(),
        };
        // Changes that come from other repositories are built in runs of upstream's, and kept where
        // those are.
        let ways: &[bool] = match (row.shared.is_empty() && self.bucket.is_none(), is_upstream) {
            (true, _) => &[false],
            (false, true) => &[false, true],
            (false, false) => &[true],
        };
        let mut asked = Vec::new();
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
            asked.push(store);
        }
        let places: Vec<String> = asked.iter().map(|store| format!("`{store}`")).collect();
        Err(one(
            Diagnostic::new(&codes::NO_ARTIFACT, format!("there is nothing of run {} in {}", run.id, places.join(" or ")))
                .at(Location::Argument(format!("--run-id {}", run.id)), "")
                .help("look at the run's number, its repository (`--run-github-repo`) and the kind of release (`--release-type`); artifacts of runs are kept for some weeks only"),
        ))
    }
}

/// What a variable of the environment says.
fn said<T>(
    name: &str,
    shell: &Shell,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, Diagnostic> {
    let fault = |why: String| {
        Diagnostic::new(
            &codes::NO_ARTIFACT,
            format!("the value of `{name}` cannot be taken: {why}"),
        )
        .at(Location::Argument(name.to_owned()), "")
        .help("set it to another value, or take it out of the environment")
    };
    shell
        .environment
        .get(name)
        .map(read)
        .transpose()
        .map_err(fault)
}

/// Reads the number of a run.
pub(super) fn run_id(text: &str) -> Result<String, String> {
    let is_one = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if is_one {
        Ok(text.to_owned())
    } else {
        Err("runs are numbered, such as 18456789012".to_owned())
    }
}

/// Reads the word of a component.
pub(super) fn component(word: &str) -> Result<ArtifactComponent, String> {
    word.parse().map_err(|()| {
        format!(
            "it is none of {}",
            ArtifactComponent::ALL
                .map(ArtifactComponent::word)
                .join(", ")
        )
    })
}
