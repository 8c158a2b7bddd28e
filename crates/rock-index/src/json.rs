//! Writes PEP 691 JSON pages, `application/vnd.pypi.simple.v1+json`, and reads them back.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{IndexFile, YankStatus};
use rock_names::{Digest, YankedFiles};

/// The version of the simple API whose required keys are written (PEP 700: `versions` and `size`).
const API_VERSION: &str = "1.1";

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct ApiMeta {
    api_version: &'static str,
}

#[derive(Serialize)]
struct ProjectListDocument<'a> {
    meta: ApiMeta,
    projects: Vec<ProjectEntry<'a>>,
}

#[derive(Serialize)]
struct ProjectEntry<'a> {
    name: &'a str,
}

#[derive(Serialize)]
struct ProjectDocument<'a> {
    meta: ApiMeta,
    name: &'a str,
    versions: Vec<String>,
    files: Vec<FileEntry<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct FileEntry<'a> {
    filename: &'a str,
    url: &'a str,
    hashes: FileHashes,
    #[serde(skip_serializing_if = "Option::is_none")]
    requires_python: Option<&'a str>,
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    upload_time: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    core_metadata: Option<FileHashes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    yanked: Option<YankReason<'a>>,
}

/// Digests by algorithm; empty if the digest is unknown.
struct FileHashes(Option<Digest>);

impl Serialize for FileHashes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.map(|digest| ("sha256", digest.to_hex())))
    }
}

/// The value of `yanked`: `true`, or the reason.
enum YankReason<'a> {
    Plain,
    Because(&'a str),
}

impl Serialize for YankReason<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Plain => serializer.serialize_bool(true),
            Self::Because(reason) => serializer.serialize_str(reason),
        }
    }
}

/// Returns the document with the list of projects.
pub(super) fn root<'a>(projects: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let projects: Vec<ProjectEntry<'_>> = projects.map(|name| ProjectEntry { name }).collect();
    written(
        projects.len(),
        &ProjectListDocument {
            meta: ApiMeta {
                api_version: API_VERSION,
            },
            projects,
        },
    )
}

/// Returns the document of one project, with its files and their links in the given order.
pub(super) fn project(name: &str, files: &[(&IndexFile, String)]) -> Vec<u8> {
    let same_version = files.chunk_by(|(a, _), (b, _)| a.version.as_str() == b.version.as_str());
    let mut versions: Vec<String> = same_version
        .map(|files| files[0].0.version.normalized())
        .collect();
    versions.dedup();
    let files: Vec<FileEntry<'_>> = files
        .iter()
        .map(|(file, link)| FileEntry {
            filename: &file.name,
            url: link,
            hashes: FileHashes(file.digest),
            requires_python: file.requires_python.as_deref(),
            size: file.size_bytes,
            upload_time: file.uploaded.as_deref(),
            core_metadata: file
                .metadata
                .as_ref()
                .map(|metadata| FileHashes(Some(metadata.digest))),
            yanked: match &file.yanked {
                YankStatus::No => None,
                YankStatus::Because(reason) if reason.is_empty() => Some(YankReason::Plain),
                YankStatus::Because(reason) => Some(YankReason::Because(reason)),
            },
        })
        .collect();
    written(
        files.len(),
        &ProjectDocument {
            meta: ApiMeta {
                api_version: API_VERSION,
            },
            name,
            versions,
            files,
        },
    )
}

/// The error for a text that is not a project page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is not a project page: {0}")]
pub struct NotAPage(pub String);

/// Returns the yanked files of a project page.
///
/// # Errors
/// If the text is not a project page in the format that this module writes.
pub fn yanked_in(text: &str) -> Result<YankedFiles, NotAPage> {
    #[derive(serde::Deserialize)]
    struct Page {
        files: Vec<Row>,
    }
    #[derive(serde::Deserialize)]
    struct Row {
        filename: String,
        #[serde(default)]
        hashes: BTreeMap<String, String>,
        #[serde(default)]
        yanked: serde_json::Value,
    }
    let page: Page = serde_json::from_str(text).map_err(|error| NotAPage(error.to_string()))?;
    let reason = |yanked| match yanked {
        serde_json::Value::Bool(true) => Some(String::new()),
        serde_json::Value::String(reason) => Some(reason),
        _ => None,
    };
    let file = |row: Row| {
        Some((
            row.filename,
            row.hashes.get("sha256").and_then(|d| d.parse().ok()),
            reason(row.yanked)?,
        ))
    };
    Ok(page.files.into_iter().filter_map(file).collect())
}

/// Returns the digests of METADATA in a project page, by wheel name.
///
/// # Errors
/// If the text is not a project page in the format that this module writes.
pub fn metadata_in(text: &str) -> Result<BTreeMap<String, Digest>, NotAPage> {
    #[derive(serde::Deserialize)]
    struct Page {
        files: Vec<Row>,
    }
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    struct Row {
        filename: String,
        core_metadata: Option<BTreeMap<String, String>>,
    }
    let page: Page = serde_json::from_str(text).map_err(|error| NotAPage(error.to_string()))?;
    let digest = |row: Row| {
        Some((
            row.filename,
            row.core_metadata?.get("sha256")?.parse().ok()?,
        ))
    };
    Ok(page.files.into_iter().filter_map(digest).collect())
}

/// Returns the links in a project page, by filename.
///
/// # Errors
/// If the text is not a project page in the format that this module writes.
pub fn links_in(text: &str) -> Result<BTreeMap<String, String>, NotAPage> {
    #[derive(serde::Deserialize)]
    struct Page {
        files: Vec<Row>,
    }
    #[derive(serde::Deserialize)]
    struct Row {
        filename: String,
        url: String,
    }
    let page: Page = serde_json::from_str(text).map_err(|error| NotAPage(error.to_string()))?;
    let links = page.files.into_iter().map(|row| (row.filename, row.url));
    Ok(links.collect())
}

fn written(entries: usize, document: &impl Serialize) -> Vec<u8> {
    /// Approximate length of an entry.
    const ENTRY_BYTES: usize = 640;
    let mut bytes = Vec::with_capacity(256 + entries * ENTRY_BYTES);
    serde_json::to_writer_pretty(&mut bytes, document)
        .expect("maps with text keys always serialise");
    bytes.push(b'\n');
    bytes
}
