//! A file that is offered for a release or that a release holds.

use std::sync::Arc;

use crate::indexed::{by_name, label};
use crate::{AcceleratorVersion, GfxOrigin, ListedAsset, ManifestFile};
use rock_compat::RuntimeRequirements;
use rock_index::{FileKind, IndexFile, IndexFolder};
use rock_names::{
    Accelerator, Digest, DistributionName, LabelParts, RocmVersion, Version, WheelName,
    is_tree_archive, torch_text,
};
use rock_plan::config::recipe::shipped_runtime_requirements;

/// A wheel, source distribution or archive of an install tree, with the facts that a release
/// records about it.
#[derive(Debug, Clone)]
pub struct Asset {
    /// The path as the user gave it.
    pub shown: String,
    /// Its SHA-256 digest.
    pub digest: Digest,
    /// Its entry in the index.
    pub file: IndexFile,
    /// The parsed local version label, if it has one.
    pub label: Option<LabelParts>,
    /// The gfx targets of its own code, if a manifest lists them as read from the wheel.
    pub gfx_read: Option<Vec<String>>,
    /// The major versions of ROCm of which its libraries need one, if a manifest lists them.
    pub needs_rocm: Vec<u32>,
}

impl Asset {
    pub fn name(&self) -> &str {
        &self.file.name
    }

    /// Returns the parsed wheel name; `None` for files that are not wheels.
    pub fn wheel(&self) -> Option<&WheelName> {
        match &self.file.kind {
            FileKind::Wheel(name) => Some(name),
            FileKind::Sdist | FileKind::Tree => None,
        }
    }

    /// Creates the asset that a manifest row describes, without its METADATA. Returns `None` if the
    /// row is inconsistent. Memory is shared with the file of the row before, if there is one.
    pub fn of_row(row: &ManifestFile, before: Option<&IndexFile>) -> Option<Self> {
        let (file, label) = file_of_row(row, before)?;
        let gfx_read = (row.gfx_from == Some(GfxOrigin::Wheel)).then(|| row.gfx.clone());
        Some(Self {
            shown: row.name.clone(),
            digest: row.sha256,
            file,
            label,
            gfx_read,
            needs_rocm: row.needs_rocm.clone(),
        })
    }

    /// Creates an asset from the name and digest of a listed wheel; `None` if those are
    /// insufficient.
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
            needs_rocm: Vec::new(),
        })
    }

    /// Returns the manifest row. `covers` are the Python versions it is for, if a plan or an
    /// earlier release lists them.
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
            needs_rocm: self.needs_rocm.clone(),
            needs_torch: None,
            run_time: match label {
                Some(parts) => {
                    shipped_runtime_requirements(&file.project, parts.backend.as_deref())
                }
                None => RuntimeRequirements::default(),
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

/// Returns the index entry that a manifest row describes, with its label; `None` if the row is
/// inconsistent. Memory is shared with the file of the row before, if there is one.
pub(super) fn file_of_row(
    row: &ManifestFile,
    before: Option<&IndexFile>,
) -> Option<(IndexFile, Option<LabelParts>)> {
    let name = match before {
        Some(before) => WheelName::parse_sharing(&row.name, &before.version),
        None => row.name.parse(),
    };
    let kind = match name {
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
    // Wheels whose label does not say what they are for are not indexed, except those of the SDK.
    let is_of_sdk =
        label.is_none() && version.local().is_some() && row.index == IndexFolder::Any.to_string();
    let mut file = IndexFile {
        is_of_sdk,
        folder: IndexFolder::of(label.as_ref()),
        digest: Some(row.sha256),
        size_bytes: row.size_bytes,
        requires_python: row.requires_python.clone(),
        run_time: (!row.run_time.is_empty()).then(|| Arc::new(row.run_time.clone())),
        ..IndexFile::named(row.name.clone(), project, version, kind)
    };
    if let Some(before) = before {
        file.share(before);
    }
    Some((file, label))
}

/// Returns the Python versions that the tags of a wheel name individually: `cp313` with ABI
/// `cp313t` is `3.13t`. A wheel for all later versions (`abi3`, `abi3t`, `py3`) names none.
fn pythons(wheel: &WheelName) -> Vec<String> {
    let minor = |tag: &str| {
        let digits = tag.strip_prefix("cp")?;
        let (major, minor) = digits.split_at_checked(1)?;
        (!minor.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
            .then(|| format!("{major}.{minor}"))
    };
    if wheel.abi_tags().is_stable_abi() || wheel.abi_tags().contains("none") {
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
        assert_eq!(of("a-1-cp315-abi3t-linux_x86_64.whl"), "");
    }
}
