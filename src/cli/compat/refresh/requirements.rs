//! `compat refresh --requirements`: compares the table `torch-requirements` with the metadata of
//! torch releases.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Found;
use crate::cli::{Exit, Shell};
use crate::codes::facts as codes;
use crate::compat::refresh::requirements::{self, RequirementDifference, TorchRelease};
use crate::compat::{Compat, table_file};
use crate::diagnostic::{Diagnostic, Location};
use crate::fetch::{self, ProxySettings};
use crate::names::Version;

/// The maximum number of releases that are fetched, newest first. The table has about 20.
const MAX_RELEASES: usize = 60;

/// The output as JSON.
#[derive(serde::Serialize)]
struct Document<'a> {
    version: u32,
    /// Releases of torch whose requirements were read.
    read: Vec<String>,
    differences: &'a [RequirementDifference],
    /// For `git apply` in a checkout that has `matrices/compat`; empty when there are no
    /// differences.
    patch: &'a str,
}

/// All releases of a project (PyPI's JSON API, `/pypi/PROJECT/json`).
#[derive(Deserialize)]
struct Project {
    releases: BTreeMap<String, Box<serde_json::value::RawValue>>,
}

/// One release (`/pypi/PROJECT/VERSION/json`).
#[derive(Deserialize)]
struct Release {
    info: Info,
}

#[derive(Deserialize)]
struct Info {
    #[serde(default)]
    requires_dist: Option<Vec<String>>,
}

/// Reads the metadata, and returns how it differs from the table.
///
/// # Errors
/// The exit of the command, after its reason was reported.
pub(super) fn compare(compat: &Compat, address: &str, shell: &Shell) -> Result<Found, Exit> {
    let releases = fetched(compat, address.trim_end_matches('/'), shell).map_err(|fault| {
        shell.report(&[fault]);
        Exit::Machine
    })?;
    let rows = &compat.tables().torch_requirements;
    let differences = requirements::differences(rows, &releases);
    let updated = requirements::apply_differences(rows, &differences, &shell.environment.today());
    let patch = table_file::TORCH_REQUIREMENTS.patch(rows, &updated);
    for difference in &differences {
        shell.say(&difference.to_string());
    }
    if differences.is_empty() {
        shell.say("the table of torch's requirements is up to date");
    }
    let read = releases
        .iter()
        .map(|release| release.version.to_string())
        .collect();
    let document = super::json(&Document {
        version: 1,
        read,
        differences: &differences,
        patch: &patch,
    });
    Ok(Found {
        differs: !differences.is_empty(),
        document,
        patch,
    })
}

/// Fetches the releases, starting with the oldest one in the table.
fn fetched(compat: &Compat, root: &str, shell: &Shell) -> Result<Vec<TorchRelease>, Diagnostic> {
    let proxies = ProxySettings::from_variables(|name| shell.environment.get(name));
    let project: Project =
        json(&format!("{root}/pypi/torch/json"), &proxies, shell).map_err(|unread| unread.fault)?;
    let oldest = compat
        .tables()
        .torch_requirements
        .iter()
        .flat_map(|row| &row.torch);
    let oldest = oldest.filter_map(|text| text.parse::<Version>().ok()).min();
    let is_wanted = |version: &Version| {
        !version.is_prerelease() && oldest.as_ref().is_none_or(|oldest| version >= oldest)
    };
    let mut versions: Vec<Version> = project
        .releases
        .keys()
        .filter_map(|text| text.parse().ok())
        .filter(is_wanted)
        .collect();
    versions.sort_unstable();
    let first = versions.len().saturating_sub(MAX_RELEASES);
    let mut releases = Vec::new();
    for version in versions.split_off(first) {
        let address = format!("{root}/pypi/torch/{version}/json");
        let release: Release = match json(&address, &proxies, shell) {
            Ok(release) => release,
            Err(Unread {
                status: Some(404), ..
            }) => {
                shell.say(&format!(
                    "there is no metadata of torch {version}; its row in the table is kept"
                ));
                continue;
            }
            Err(unread) => return Err(unread.fault),
        };
        releases.push(TorchRelease {
            version,
            requires: release.info.requires_dist.unwrap_or_default(),
        });
    }
    if releases.is_empty() {
        let fault = Diagnostic::new(
            &codes::CANNOT_FETCH,
            format!("no metadata of torch releases was found at {root}"),
        );
        return Err(fault
            .at(Location::Url(root.to_owned()), "")
            .help("give the address of PyPI or of a server with its JSON API"));
    }
    Ok(releases)
}

/// A response that cannot be used.
struct Unread {
    status: Option<u16>,
    fault: Diagnostic,
}

fn json<T: serde::de::DeserializeOwned>(
    address: &str,
    proxies: &ProxySettings,
    shell: &Shell,
) -> Result<T, Unread> {
    shell.detail(&format!("fetching {address}"));
    let text = fetch::get(address, fetch::LARGEST_PAGE_BYTES, proxies).map_err(|error| Unread {
        status: error.status,
        fault: error.into(),
    })?;
    serde_json::from_str(&text).map_err(|error| {
        let fault = Diagnostic::new(
            &codes::CANNOT_FETCH,
            format!("the response is not in the format of PyPI's JSON API: {error}"),
        )
        .at(Location::Url(address.to_owned()), "")
        .help("give the address of PyPI or of a server with its JSON API");
        Unread {
            status: None,
            fault,
        }
    })
}
