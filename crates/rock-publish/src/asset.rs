//! A file offered for a release, and one that the release holds.

use std::sync::Arc;

use crate::indexed::{by_name, label};
use crate::{AcceleratorVersion, GfxOrigin, ListedAsset, ManifestFile};
use rock_index::{FileKind, IndexFile, IndexFolder};
use rock_names::{
    Accelerator, Digest, DistributionName, LabelParts, RocmVersion, Version, WheelName,
    is_tree_archive, torch_text,
};
use rock_plan::config::RunTime;

/// A wheel or source distribution with all that a release says of it.
#[derive(Debug, Clone)]
pub struct Asset {
    /// The path as the user knows it.
    pub shown: String,
    /// SHA-256 of it.
    pub digest: Digest,
    /// The file as the index lists it.
    pub file: IndexFile,
    /// What its label says, where it has one.
    pub label: Option<LabelParts>,
    /// The gfx targets of its own code, where a manifest says so.
    pub gfx_read: Option<Vec<String>>,
}

impl Asset {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.file.name
    }

    /// Its name as parsed; `None` for a source distribution.
    pub fn wheel(&self) -> Option<&WheelName> {
        match &self.file.kind {
            FileKind::Wheel(name) => Some(name),
            FileKind::Sdist | FileKind::Tree => None,
        }
    }

    /// The file that a row of a manifest tells of; `None` where the row contradicts itself. Its
    /// METADATA is not at hand.
    pub fn of_row(row: &ManifestFile) -> Option<Self> {
        let kind = match row.name.parse::<WheelName>() {
            Ok(wheel) => FileKind::Wheel(wheel),
            Err(_) if is_tree_archive(&row.name) => FileKind::Tree,
            Err(_) if row.name.ends_with(".tar.gz") => FileKind::Sdist,
            Err(_) => return None,
        };
        let version: Version = match &kind {
            FileKind::Wheel(wheel) => wheel.version().clone(),
            FileKind::Sdist | FileKind::Tree => row.version.parse().ok()?,
        };
        let label = match &row.accelerator {
            None => None,
            Some(found) => Some(LabelParts {
                accelerator: match found.name.as_str() {
                    "rocm" => Accelerator::Rocm(found.version.parse().ok()?),
                    _ if found.version.bytes().all(|b| b.is_ascii_digit()) => {
                        Accelerator::Cuda(found.version.clone())
                    }
                    _ => return None,
                },
                torch: row.torch.as_ref().and_then(|torch| torch.parse().ok()),
                git: row.git.clone(),
                backend: row.backend.clone(),
                cxx11abi: None,
            }),
        };
        let project = row.distribution.parse::<DistributionName>().ok()?;
        // A label that says nothing of what a wheel is for keeps it out of indexes, but for those
        // of the SDK.
        let is_of_sdk = label.is_none()
            && version.local().is_some()
            && row.index == IndexFolder::Any.to_string();
        let file = IndexFile {
            is_of_sdk,
            folder: IndexFolder::of(label.as_ref()),
            digest: Some(row.sha256),
            size_bytes: row.size_bytes,
            requires_python: row.requires_python.clone(),
            run_time: (!row.run_time.is_empty()).then(|| Arc::new(row.run_time.clone())),
            ..IndexFile::named(row.name.clone(), project, version, kind)
        };
        let gfx_read = (row.gfx_from == Some(GfxOrigin::Wheel)).then(|| row.gfx.clone());
        Some(Self {
            shown: row.name.clone(),
            digest: row.sha256,
            file,
            label,
            gfx_read,
        })
    }

    /// The wheel that a release holds, as far as its name and digest tell; `None` where they do
    /// not.
    pub fn of_listed(name: &str, listed: &ListedAsset, known: &[RocmVersion]) -> Option<Self> {
        let digest = listed.digest?;
        let file = by_name(name, known).ok()?;
        let label = match &file.kind {
            FileKind::Wheel(wheel) => label(wheel, known).ok()?,
            FileKind::Sdist | FileKind::Tree => None,
        };
        let file = IndexFile {
            digest: Some(digest),
            size_bytes: listed.size,
            ..file
        };
        Some(Self {
            shown: name.to_owned(),
            digest,
            file,
            label,
            gfx_read: None,
        })
    }

    /// The row of the manifest; `covers` are the Pythons it is for, where a plan or an earlier
    /// release says so.
    pub fn row(&self, covers: Option<Vec<String>>) -> ManifestFile {
        let file = &self.file;
        let tags = |get: fn(&WheelName) -> &[String]| {
            self.wheel()
                .map_or_else(Vec::new, |wheel| get(wheel).to_vec())
        };
        let label = self.label.as_ref();
        ManifestFile {
            name: file.name.clone(),
            sha256: self.digest,
            size_bytes: file.size_bytes,
            distribution: file.project.normalized(),
            version: file.version.public().to_string(),
            label: file.version.local().map(str::to_owned),
            accelerator: label.map(|parts| match &parts.accelerator {
                Accelerator::Rocm(rocm) => AcceleratorVersion {
                    name: "rocm".to_owned(),
                    version: rocm.release().to_string(),
                },
                Accelerator::Cuda(digits) => AcceleratorVersion {
                    name: "cuda".to_owned(),
                    version: digits.clone(),
                },
            }),
            torch: label.and_then(|parts| parts.torch.as_ref()).map(torch_text),
            git: label.and_then(|parts| parts.git.clone()),
            backend: label.and_then(|parts| parts.backend.clone()),
            build: self
                .wheel()
                .and_then(WheelName::build_tag)
                .map(ToString::to_string),
            python: tags(|wheel| wheel.python_tags().as_slice()),
            abi: tags(|wheel| wheel.abi_tags().as_slice()),
            platform: tags(|wheel| wheel.platform_tags().as_slice()),
            covers: covers.unwrap_or_else(|| self.wheel().map_or_else(Vec::new, pythons)),
            gfx: Vec::new(),
            gfx_from: None,
            run_time: match label {
                Some(parts) => RunTime::of_shipped(&file.project, parts.backend.as_deref()),
                None => RunTime::default(),
            },
            requires_python: file.requires_python.clone(),
            metadata_sha256: file.metadata.as_ref().map(|metadata| metadata.digest),
            index: if file.is_listed() {
                file.folder.to_string()
            } else {
                String::new()
            },
        }
    }
}

/// The Pythons that a wheel's tags name one by one: `cp313` with ABI `cp313t` is `3.13t`. A wheel
/// for any later Python (`abi3`, `py3`) names none.
fn pythons(wheel: &WheelName) -> Vec<String> {
    let minor = |tag: &str| {
        let digits = tag.strip_prefix("cp")?;
        let (major, minor) = digits.split_at_checked(1)?;
        (!minor.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
            .then(|| format!("{major}.{minor}"))
    };
    let abis = wheel.abi_tags().as_slice();
    if abis.iter().any(|abi| abi == "abi3" || abi == "none") {
        return Vec::new();
    }
    let free_threaded = wheel.abi_tags().is_free_threaded();
    let tags = wheel.python_tags().iter().filter_map(|tag| minor(tag));
    tags.map(|python| {
        if free_threaded {
            format!("{python}t")
        } else {
            python
        }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::pythons;

    #[test]
    fn tags_that_name_a_python_cover_it_alone() {
        let of = |name: &str| pythons(&name.parse().unwrap()).join(" ");
        assert_eq!(of("a-1-cp310-cp310-linux_x86_64.whl"), "3.10");
        assert_eq!(of("a-1-cp313-cp313t-linux_x86_64.whl"), "3.13t");
        assert_eq!(of("a-1-cp314-cp314td-linux_x86_64.whl"), "3.14t");
        assert_eq!(
            of("a-1-cp311.cp312-cp311.cp312-linux_x86_64.whl"),
            "3.11 3.12"
        );
        assert_eq!(of("a-1-py3-none-any.whl"), "");
        assert_eq!(of("a-1-cp39-abi3-linux_x86_64.whl"), "");
    }
}
