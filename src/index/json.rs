//! The pages as PEP 691 JSON, `application/vnd.pypi.simple.v1+json`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{IndexFile, Links, Yanked};

/// The version of the simple API whose required keys are written (PEP 700: `versions` and `size`).
const API_VERSION: &str = "1.1";

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Meta {
    api_version: &'static str,
}

#[derive(Serialize)]
struct Root<'a> {
    meta: Meta,
    projects: Vec<Named<'a>>,
}

#[derive(Serialize)]
struct Named<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct Project<'a> {
    meta: Meta,
    name: &'a str,
    versions: Vec<String>,
    files: Vec<File<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct File<'a> {
    filename: &'a str,
    url: String,
    hashes: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requires_python: Option<&'a str>,
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    upload_time: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    core_metadata: Option<BTreeMap<&'static str, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    yanked: Option<Withdrawn<'a>>,
}

/// `true`, or the reason.
enum Withdrawn<'a> {
    Plain,
    Because(&'a str),
}

impl Serialize for Withdrawn<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Plain => serializer.serialize_bool(true),
            Self::Because(reason) => serializer.serialize_str(reason),
        }
    }
}

/// The list of projects.
pub(super) fn root<'a>(projects: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let projects = projects.map(|name| Named { name }).collect();
    written(&Root { meta: Meta { api_version: API_VERSION }, projects })
}

/// One project's files, in the order given.
pub(super) fn project(name: &str, files: &[&IndexFile], links: &Links, depth: usize) -> Vec<u8> {
    let mut versions: Vec<String> = files.iter().map(|file| file.version.normalized()).collect();
    versions.dedup();
    let files = files
        .iter()
        .map(|file| File {
            filename: &file.name,
            url: links.link(depth, &file.name),
            hashes: BTreeMap::from([("sha256", file.digest.to_hex())]),
            requires_python: file.requires_python.as_deref(),
            size: file.size_bytes,
            upload_time: file.uploaded.as_deref(),
            core_metadata: file.metadata.as_ref().map(|m| BTreeMap::from([("sha256", m.digest.to_hex())])),
            yanked: match &file.yanked {
                Yanked::No => None,
                Yanked::Because(reason) if reason.is_empty() => Some(Withdrawn::Plain),
                Yanked::Because(reason) => Some(Withdrawn::Because(reason)),
            },
        })
        .collect();
    written(&Project { meta: Meta { api_version: API_VERSION }, name, versions, files })
}

fn written(document: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(document).expect("maps with text keys always serialise");
    bytes.push(b'\n');
    bytes
}
