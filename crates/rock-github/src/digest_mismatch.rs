//! Files with another digest than recorded.

use std::collections::BTreeMap;

use rock_diagnostic::{Diagnostic, Location};
use rock_publish::LocalAsset;
use rock_sys::hash_file;

use crate::GithubError;
use crate::codes::release as codes;

/// Returns diagnostics by filename for those of the `failed` files that were not uploaded because
/// they do not have the digest that a manifest or checksum file records.
pub fn digest_mismatches(
    files: &[LocalAsset],
    failed: &BTreeMap<String, GithubError>,
) -> BTreeMap<String, Diagnostic> {
    files
        .iter()
        .filter(|file| {
            matches!(
                failed.get(file.name()),
                Some(GithubError::FileChanged { .. })
            )
        })
        .filter_map(|file| Some((file.name().to_owned(), digest_mismatch(file)?)))
        .collect()
}

/// Compares the recorded digest of a file with its bytes.
fn digest_mismatch(file: &LocalAsset) -> Option<Diagnostic> {
    let document = file.recorded_in.as_ref()?;
    let (_, actual) = hash_file(&file.path).ok()?;
    let (name, recorded) = (file.name(), file.asset.digest);
    (actual != recorded).then(|| {
        Diagnostic::new(
            &codes::KNOWN_DIGEST_IS_WRONG,
            format!(
                "the digest of `{name}` does not match `{}`",
                document.display()
            ),
        )
        .at(Location::File(file.asset.shown.as_str().into()), "")
        .note(format!("recorded: {recorded}"))
        .note(format!("actual: {actual}"))
        .help(
            "if the file is right, publish it with `--read-all`; otherwise provide the right file",
        )
    })
}
