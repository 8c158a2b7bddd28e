//! Whether artifacts are of one build, as far as what is in them tells.

use std::collections::BTreeMap;

use super::read::Read;
use crate::codeobj::KpackManifest;
use crate::codes::sdk as codes;
use crate::diagnostic::Diagnostic;
use crate::sdk::limits::{MAX_INSTALLED_VERSION_BYTES, MAX_KPACK_LIST_BYTES};
use crate::sdk::{EntryKind, FileOrigin};
use crate::sys::FileError;

/// The file that names the version of an installed ROCm.
const VERSION: &str = ".info/version";
/// Where archives of code are, and how their lists are named.
const ARCHIVES: &str = ".kpack/";
const LIST: &str = ".kpm";

/// Artifacts that are of another build than others. `version` is what the manifest of the build
/// says.
///
/// # Errors
/// When a file cannot be read.
pub(super) fn findings(read: &Read, version: Option<&str>) -> Result<Vec<Diagnostic>, FileError> {
    let mut archives: BTreeMap<(&str, &str), Vec<FileOrigin>> = BTreeMap::new();
    let (mut lists, mut found) = (Vec::new(), Vec::new());
    for (artifact, listed) in read.artifacts.iter().enumerate() {
        for (entry, one) in listed.entries.iter().enumerate() {
            let origin = FileOrigin { artifact, entry };
            if !matches!(one.kind, EntryKind::File(_)) {
                continue;
            }
            if one.path == VERSION
                && let Some(said) = version.and_then(release)
                && let Some(bytes) = bytes(read, origin, MAX_INSTALLED_VERSION_BYTES)?
                && let Some(is) = release(&String::from_utf8_lossy(&bytes)).filter(|is| *is != said)
            {
                let [said, is] =
                    [said, is].map(|numbers| numbers.map(|number| number.to_string()).join("."));
                found.push(other_build(
                    read,
                    origin,
                    &format!("it is of ROCm {is}, and the manifest of the build says {said}"),
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
        let artifact = &read.artifacts[list.artifact];
        let folder = artifact.entries[list.entry]
            .path
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder);
        let Some(bytes) = bytes(read, list, MAX_KPACK_LIST_BYTES)? else {
            continue;
        };
        // What is no list is of a later form, of which nothing is known.
        let Ok(known) = KpackManifest::parse(&bytes) else {
            continue;
        };
        for (name, size_bytes) in known.archive_sizes {
            let path = format!("{folder}/{name}");
            for origin in archives
                .get(&(artifact.name.name(), path.as_str()))
                .into_iter()
                .flatten()
            {
                let is = read.size_bytes(*origin);
                if read.artifacts[origin.artifact].name.component() == artifact.name.component()
                    && is != size_bytes
                {
                    let list = crate::sdk::shown(&read.artifacts, list);
                    let message =
                        format!("it has {is} bytes, and `{list}` knows one of {size_bytes}");
                    found.push(other_build(read, *origin, &message));
                }
            }
        }
    }
    Ok(found)
}

fn other_build(read: &Read, origin: FileOrigin, why: &str) -> Diagnostic {
    let name = &read.artifacts[origin.artifact].name;
    Diagnostic::new(
        &codes::MIXED_ARTIFACTS,
        format!("`{name}` is of another build than other artifacts"),
    )
    .at(read.place(origin), why)
    .help("fetch all artifacts of one run")
}

/// A small file; `None` where it is larger than such files are.
fn bytes(read: &Read, origin: FileOrigin, most: u64) -> Result<Option<Vec<u8>>, FileError> {
    let file = read.open(origin)?;
    let size = file.size_bytes();
    let mut bytes = vec![0; usize::try_from(size.min(most)).unwrap_or(0)];
    let fault = |error| {
        FileError::new(
            "read",
            std::path::Path::new(&crate::sdk::shown(&read.artifacts, origin)),
            error,
        )
    };
    file.read_exact_at(&mut bytes, 0).map_err(fault)?;
    Ok((size <= most).then_some(bytes))
}

/// The first three numbers of a version.
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
