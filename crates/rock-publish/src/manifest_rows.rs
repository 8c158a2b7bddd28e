//! The part of a manifest that an index needs.

use std::fmt;
use std::sync::Arc;

use rock_index::IndexFile;
use rock_names::Digest;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::asset::file_of_row;
use super::manifest::{VERSION, check_release};
use super::{ListedRelease, ManifestError, ManifestFile, ReleaseManifest};

/// A form of the manifest of a release.
pub trait ManifestForm: From<ReleaseManifest> {
    /// Parses the text of a manifest file.
    ///
    /// # Errors
    /// As [`ReleaseManifest::from_json`].
    fn from_json(text: &str) -> Result<Self, ManifestError> {
        ReleaseManifest::from_json(text).map(Self::from)
    }

    /// Returns the release that the manifest describes.
    fn listed_release(&self) -> ListedRelease;
}

impl ManifestForm for ReleaseManifest {
    fn listed_release(&self) -> ListedRelease {
        ListedRelease::of_manifest(self)
    }
}

/// The part of a manifest that an index needs.
#[derive(Debug)]
pub struct ManifestRowSet {
    pub(super) tag: Option<String>,
    pub(super) files: Vec<ManifestRow>,
}

/// The part of a manifest row that an index needs.
#[derive(Debug, Clone)]
pub(super) struct ManifestRow {
    /// The index entry; only the filename if the row is inconsistent.
    pub(super) file: Result<Arc<IndexFile>, String>,
    pub(super) digest: Digest,
    pub(super) size_bytes: u64,
    pub(super) metadata: Option<Digest>,
}

impl ManifestForm for ManifestRowSet {
    /// Extracts each row when it is read, because all rows take several times the memory of their
    /// extracts.
    fn from_json(text: &str) -> Result<Self, ManifestError> {
        match serde_json::from_str::<ManifestDocument>(text) {
            Ok(ManifestDocument {
                version: VERSION,
                tag,
                plan,
                files,
            }) if check_release(tag.as_deref(), plan.as_deref()).is_ok() => Ok(Self { tag, files }),
            // Returns the error, which serde would turn into text.
            _ => ReleaseManifest::from_json(text).map(Self::from),
        }
    }

    fn listed_release(&self) -> ListedRelease {
        let files = self.files.iter();
        let files = files.map(|row| (row.name(), row.size_bytes, row.digest));
        ListedRelease::of_files(self.tag.as_deref(), files)
    }
}

impl From<ReleaseManifest> for ManifestRowSet {
    fn from(manifest: ReleaseManifest) -> Self {
        let mut files = Vec::with_capacity(manifest.files.len());
        for file in &manifest.files {
            files.push(ManifestRow::of(file, files.last()));
        }
        Self {
            tag: manifest.tag,
            files,
        }
    }
}

impl ManifestRow {
    /// Extracts a row, sharing memory with the row before it where possible.
    fn of(file: &ManifestFile, before: Option<&Self>) -> Self {
        let before = before.and_then(|row| row.file.as_deref().ok());
        let entry = file_of_row(file, before).map(|(entry, _)| Arc::new(entry));
        Self {
            digest: file.sha256,
            size_bytes: file.size_bytes,
            metadata: file.metadata_sha256,
            file: entry.ok_or_else(|| file.name.clone()),
        }
    }

    pub(super) fn name(&self) -> &str {
        self.file
            .as_ref()
            .map_or_else(String::as_str, |file| &file.name)
    }
}

/// A manifest file; its fields are those of [`ReleaseManifest`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ManifestDocument {
    version: u32,
    tag: Option<String>,
    plan: Option<String>,
    #[serde(deserialize_with = "extract_rows")]
    files: Vec<ManifestRow>,
}

fn extract_rows<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ManifestRow>, D::Error> {
    struct RowVisitor;

    impl<'de> Visitor<'de> for RowVisitor {
        type Value = Vec<ManifestRow>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a sequence of files")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut files: A) -> Result<Self::Value, A::Error> {
            let mut rows = Vec::new();
            let mut before: Option<ManifestFile> = None;
            while let Some(file) = files.next_element::<ManifestFile>()? {
                file.check(before.as_ref()).map_err(A::Error::custom)?;
                rows.push(ManifestRow::of(&file, rows.last()));
                before = Some(file);
            }
            Ok(rows)
        }
    }

    deserializer.deserialize_seq(RowVisitor)
}

#[cfg(test)]
mod tests {
    use super::{ManifestDocument, ManifestForm, ManifestRowSet};
    use crate::ReleaseManifest;

    const FILE: &str = r#"{"name": "demo-1.0+rocm6.2torch2.5-py3-none-any.whl",
        "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "size_bytes": 3,
        "distribution": "demo", "version": "1.0", "label": "rocm6.2torch2.5",
        "accelerator": {"name": "rocm", "version": "6.2"}, "torch": "2.5", "git": null,
        "backend": null, "build": null, "python": ["py3"], "abi": ["none"], "platform": ["any"],
        "covers": [], "requires_python": null, "metadata_sha256": null, "index": "rocm6.2-torch2.5"}"#;

    /// Both ways of reading have the same rows and errors.
    #[test]
    fn rows_that_are_extracted_while_reading_are_those_of_the_whole_manifest() {
        let manifest = |version: u32, tag: &str, files: &[String]| {
            format!(
                r#"{{"version": {version}, "tag": "{tag}", "plan": null, "files": [{}]}}"#,
                files.join(", ")
            )
        };
        let second = FILE
            .replace("demo-1.0", "demo-1.1")
            .replace("\"1.0\"", "\"1.1\"");
        let files = [
            FILE.to_owned(),
            second,
            FILE.replace("demo-1.0+rocm6.2torch2.5-py3", "x"),
        ];
        let texts = [
            manifest(1, "v1", &files),
            manifest(1, "v1", &[]),
            manifest(2, "v1", &files),
            manifest(1, "a b", &files),
            manifest(1, "v1", &[FILE.replace("\"1.0\"", "\"one\"")]),
            manifest(1, "v1", &[FILE.replace("\"size_bytes\": 3,", "")]),
            "[]".to_owned(),
        ];
        for text in texts {
            let whole = ReleaseManifest::from_json(&text);
            let rows = ManifestRowSet::from_json(&text);
            assert_eq!(
                rows.as_ref().map(|rows| format!("{rows:?}")),
                whole
                    .as_ref()
                    .map(|whole| format!("{:?}", ManifestRowSet::from(whole.clone()))),
                "{text}"
            );
            // The program would read the whole manifest otherwise.
            assert_eq!(
                serde_json::from_str::<ManifestDocument>(&text).is_ok(),
                whole.is_ok() || text.contains("\"version\": 2") || text.contains("a b"),
                "{text}"
            );
            if let (Ok(rows), Ok(whole)) = (rows, whole) {
                assert_eq!(rows.listed_release(), whole.listed_release());
            }
        }
    }
}
