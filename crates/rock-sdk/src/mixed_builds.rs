//! Artifacts of different builds, detected by the versions and sizes in their files.

use std::collections::BTreeMap;

use crate::ArtifactSet;
use crate::codes::sdk as codes;
use crate::limits::{MAX_INSTALLED_VERSION_BYTES, MAX_KPACK_LIST_BYTES};
use crate::{EntryKind, FileOrigin};
use rock_codeobj::KpackManifest;
use rock_diagnostic::Diagnostic;
use rock_sys::FileError;

/// The file with the version of an installed ROCm.
const VERSION: &str = ".info/version";
/// The directory of device code archives, and the extension of their lists.
const ARCHIVES: &str = ".kpack/";
const LIST: &str = ".kpm";

/// Reports artifacts of another build than the others. `version` is the version in the manifest of
/// the build.
///
/// # Errors
/// When a file cannot be read.
pub(crate) fn find_mixed_builds(
    artifacts: &ArtifactSet,
    version: Option<&str>,
) -> Result<Vec<Diagnostic>, FileError> {
    let mut archives: BTreeMap<(&str, &str), Vec<FileOrigin>> = BTreeMap::new();
    let (mut lists, mut found) = (Vec::new(), Vec::new());
    for (artifact, listed) in artifacts.as_slice().iter().enumerate() {
        for (entry, one) in listed.entries.iter().enumerate() {
            let origin = FileOrigin { artifact, entry };
            if !matches!(one.kind, EntryKind::File(_)) {
                continue;
            }
            if one.path == VERSION
                && let Some(expected) = version.and_then(release)
                && let Some(bytes) =
                    read_small_file(artifacts, origin, MAX_INSTALLED_VERSION_BYTES)?
                && let Some(is) =
                    release(&String::from_utf8_lossy(&bytes)).filter(|is| *is != expected)
            {
                let [expected, is] = [expected, is]
                    .map(|numbers| numbers.map(|number| number.to_string()).join("."));
                found.push(other_build(
                    artifacts,
                    origin,
                    &format!("it is from ROCm {is}, but the manifest of the build says {expected}"),
                ));
            }
            if one.path.contains(ARCHIVES) {
                archives
                    .entry((listed.name.name(), one.path.as_str()))
                    .or_default()
                    .push(origin);
                if one.path.ends_with(LIST) {
                    lists.push(origin);
                }
            }
        }
    }
    for list in lists {
        let artifact = &artifacts.as_slice()[list.artifact];
        let directory = artifact.entries[list.entry]
            .path
            .rsplit_once('/')
            .map_or("", |(directory, _)| directory);
        let Some(bytes) = read_small_file(artifacts, list, MAX_KPACK_LIST_BYTES)? else {
            continue;
        };
        // A list that cannot be parsed has a later format.
        let Ok(known) = KpackManifest::parse(&bytes) else {
            continue;
        };
        for (name, size_bytes) in known.archive_sizes {
            let path = format!("{directory}/{name}");
            for origin in archives
                .get(&(artifact.name.name(), path.as_str()))
                .into_iter()
                .flatten()
            {
                let is = artifacts.size_bytes(*origin);
                if artifacts.as_slice()[origin.artifact].name.component()
                    == artifact.name.component()
                    && is != size_bytes
                {
                    let list = crate::entry_path(artifacts.as_slice(), list);
                    let message = format!("it has {is} bytes, but `{list}` lists {size_bytes}");
                    found.push(other_build(artifacts, *origin, &message));
                }
            }
        }
    }
    Ok(found)
}

fn other_build(artifacts: &ArtifactSet, origin: FileOrigin, why: &str) -> Diagnostic {
    let name = &artifacts.as_slice()[origin.artifact].name;
    Diagnostic::new(
        &codes::MIXED_ARTIFACTS,
        format!("`{name}` is from another build than other artifacts"),
    )
    .at(artifacts.location(origin), why)
    .help("fetch all artifacts of one run")
}

/// Reads a file, or returns `None` if it has more than `most` bytes.
fn read_small_file(
    artifacts: &ArtifactSet,
    origin: FileOrigin,
    most: u64,
) -> Result<Option<Vec<u8>>, FileError> {
    let file = artifacts.open(origin)?;
    let size = file.size_bytes();
    let mut bytes = vec![0; usize::try_from(size.min(most)).unwrap_or(0)];
    let fault = |error| {
        FileError::new(
            "read",
            std::path::Path::new(&crate::entry_path(artifacts.as_slice(), origin)),
            error,
        )
    };
    file.read_exact_at(&mut bytes, 0).map_err(fault)?;
    Ok((size <= most).then_some(bytes))
}

/// Returns the first three numbers of a version.
fn release(text: &str) -> Option<[u32; 3]> {
    let mut numbers = text
        .trim()
        .split(['.', '-', '+'])
        .map(|word| word.parse().ok());
    Some([numbers.next()??, numbers.next()??, numbers.next()??])
}

#[cfg(test)]
mod tests {
    use super::release;

    #[test]
    fn a_version_is_known_by_its_first_three_numbers() {
        assert_eq!(release("7.10.0\n"), Some([7, 10, 0]));
        assert_eq!(release("6.2.0-66"), Some([6, 2, 0]));
        assert_eq!((release("7.10"), release("main")), (None, None));
    }
}
