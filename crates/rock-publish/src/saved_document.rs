//! Saves releases and their manifests as one document, so that several commands read the same
//! state.
//!
//! The document is in one of the formats that [`ReleaseListing::from_json`] reads, with the
//! manifests as an additional field.

use serde::{Deserialize, Serialize};

use super::{ListedRelease, ListingError, ReleaseListing, ReleaseManifest};

/// The version of the format. Readers reject all others.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct SavedDocument<'a> {
    version: u32,
    repository: Option<&'a str>,
    releases: &'a [ListedRelease],
    manifests: &'a [ReleaseManifest],
}

/// Fields that only a saved document has. Other formats have neither.
#[derive(Deserialize)]
struct SavedExtras {
    version: Option<u32>,
    #[serde(default)]
    manifests: Option<Vec<ReleaseManifest>>,
}

/// Returns the document for a listing and its manifests.
pub fn saved(listing: &ReleaseListing, manifests: &[ReleaseManifest]) -> String {
    let ReleaseListing {
        repository,
        releases,
    } = listing;
    let document = SavedDocument {
        version: VERSION,
        repository: repository.as_deref(),
        releases,
        manifests,
    };
    serde_json::to_string(&document).expect("a struct of text and numbers serialises") + "\n"
}

/// Returns the manifests in a saved document; empty if the text is a listing in another format.
///
/// # Errors
/// If the document has another version, or if its manifests are invalid.
pub fn saved_manifests(text: &str) -> Result<Vec<ReleaseManifest>, ListingError> {
    if !text.trim_start().starts_with('{') {
        return Ok(Vec::new());
    }
    let beside: SavedExtras =
        serde_json::from_str(text).map_err(|error| ListingError(error.to_string()))?;
    match (beside.manifests, beside.version) {
        (None, _) => Ok(Vec::new()),
        (Some(manifests), Some(VERSION)) => Ok(manifests),
        (Some(_), version) => {
            let version = version.map_or_else(|| "none".to_owned(), |version| version.to_string());
            Err(ListingError(format!(
                "its version is {version}, but this program reads version {VERSION}"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{saved, saved_manifests};
    use crate::{ReleaseListing, ReleaseManifest};

    #[test]
    fn what_is_saved_reads_as_it_was() {
        let mut listing = ReleaseListing::from_json(
            r#"[{"tag_name": "v1", "assets": [{"name": "a-1-py3-none-any.whl"}]}]"#,
        )
        .unwrap();
        listing.repository = Some("o/r".to_owned());
        let manifests = vec![
            ReleaseManifest::new(Some("v1".into()), None, vec![]),
            ReleaseManifest::new(None, None, vec![]),
        ];
        let text = saved(&listing, &manifests);
        assert_eq!(ReleaseListing::from_json(&text).unwrap(), listing);
        assert_eq!(saved_manifests(&text).unwrap(), manifests);
        let other = text.replacen("\"version\":1", "\"version\":2", 1);
        assert!(
            saved_manifests(&other)
                .unwrap_err()
                .to_string()
                .contains("its version is 2")
        );
    }

    #[test]
    fn other_forms_have_no_manifests() {
        for text in [
            "[]",
            r#"[{"tag_name": "v1"}]"#,
            r#"{"tag_name": "v1", "assets": []}"#,
            " \n[[]]",
        ] {
            assert_eq!(saved_manifests(text).unwrap(), [], "{text}");
        }
    }
}
