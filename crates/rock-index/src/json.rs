//! Writes PEP 691 JSON pages, `application/vnd.pypi.simple.v1+json`, and reads them back.

use serde::Serialize;

use super::{IndexFile, YankStatus};
use rock_names::Digest;

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

/// A file on a project page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRow {
    pub filename: String,
    /// The link to the file.
    pub url: String,
    /// The SHA-256 digest of the file, if the page has it.
    pub digest: Option<Digest>,
    /// The SHA-256 digest of its METADATA, if the page announces it.
    pub metadata: Option<Digest>,
    pub yanked: YankStatus,
}

/// Returns the files on a project page.
///
/// # Errors
/// If the bytes are not a project page in the format that this module writes.
pub fn page_rows(page: &[u8]) -> Result<Vec<PageRow>, NotAPage> {
    #[derive(serde::Deserialize)]
    struct Page {
        files: Vec<Row>,
    }
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    struct Row {
        filename: String,
        #[serde(default)]
        url: String,
        #[serde(default)]
        hashes: serde_json::Value,
        #[serde(default)]
        core_metadata: serde_json::Value,
        #[serde(default)]
        yanked: serde_json::Value,
    }
    let page: Page = serde_json::from_slice(page).map_err(|error| NotAPage(error.to_string()))?;
    let sha256 = |hashes: &serde_json::Value| -> Option<Digest> {
        hashes.get("sha256")?.as_str()?.parse().ok()
    };
    let row = |row: Row| PageRow {
        digest: sha256(&row.hashes),
        metadata: sha256(&row.core_metadata),
        yanked: match row.yanked {
            serde_json::Value::Bool(true) => YankStatus::Because(String::new()),
            serde_json::Value::String(reason) => YankStatus::Because(reason),
            _ => YankStatus::No,
        },
        filename: row.filename,
        url: row.url,
    };
    Ok(page.files.into_iter().map(row).collect())
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

#[cfg(test)]
mod tests {
    use super::{PageRow, page_rows, project};
    use crate::testing::file;
    use crate::{IndexFile, YankStatus};

    #[test]
    fn a_project_page_is_read_as_it_was_written() {
        let wheel = |version: &str| {
            let name = format!("demo-{version}+rocm62torch2.5-py3-none-any.whl");
            file(&name, "6.2", "2.5")
        };
        let mut files = [wheel("1.0"), wheel("1.1"), wheel("1.2")];
        files[1].yanked = YankStatus::Because(String::new());
        files[2].yanked = YankStatus::Because("broken".to_owned());
        (files[2].digest, files[2].metadata) = (None, None);
        let linked: Vec<(&IndexFile, String)> = files
            .iter()
            .map(|file| (file, format!("../{}", file.name)))
            .collect();
        let expected: Vec<PageRow> = linked
            .iter()
            .map(|(file, link)| PageRow {
                filename: file.name.clone(),
                url: link.clone(),
                digest: file.digest,
                metadata: file.metadata.as_ref().map(|metadata| metadata.digest),
                yanked: file.yanked.clone(),
            })
            .collect();
        assert_eq!(page_rows(&project("demo", &linked)), Ok(expected));
        assert!(page_rows(b"{\"projects\": []}").is_err());
    }
}
