//! Writes the pages of a static simple repository.
//!
//! Input: [`IndexFile`]s, and [`FileLinks`] with the location of the files relative to the index.
//! Output: a [`SimpleRepository`] with the pages by relative path, and the `.metadata` files that
//! belong next to the wheels. [`yank_changes`] returns the files that rules yank and unyank.
//!
//! Each pair of ROCm and torch has a directory with a complete simple repository (PEP 503, 691,
//! 658), because installers compare local version labels: on a single page, `rocm72torch2.9` would
//! be preferred to `rocm72torch2.10`, whichever torch is installed.
//!
//! **Invariant:** Equal files give equal bytes, in any order. Text is always escaped. No page lists
//! wheels of two ROCm or two torch versions.

pub mod codes;

mod escape;
mod file;
mod folder;
mod html;
mod install;
mod json;
mod label_order;
mod landing;
mod links;
mod order;
mod pages;
mod yank;
mod yank_report;

pub use escape::HtmlEscaped;
pub use file::{CoreMetadata, FileKind, IndexFile, PublishedOrigin, YankStatus};
pub use folder::IndexFolder;
pub use install::{BackendRelease, InstallCommand, RuntimeRequirementsLookup, backend_releases};
pub use json::{NotAPage, PageRow, page_rows};
pub use label_order::label_order;
pub use landing::GENERATOR;
pub use links::{BaseUrl, BaseUrlError, FileLinks};
pub use order::{NormalizedFile, sort_by_file, sorted};
pub use pages::{IndexError, SimpleRepository, repository};
pub use yank::{ReasonChange, YankChanges, YankRule, carry_over, is_selected, yank_changes};
pub use yank_report::{YankReport, yank_notes};

/// Test files.
#[cfg(test)]
mod testing {
    use super::{CoreMetadata, FileKind, IndexFile, IndexFolder, YankStatus};
    use rock_names::{Accelerator, Digest, LabelParts, WheelName};

    /// Returns a wheel with this name for this ROCm and torch.
    pub(super) fn file(name: &str, rocm: &str, torch: &str) -> IndexFile {
        let wheel: WheelName = name.parse().unwrap();
        let label = (!rocm.is_empty()).then(|| LabelParts {
            accelerator: Accelerator::Rocm(rocm.parse().unwrap()),
            torch: torch.parse().ok(),
            git: None,
            backend: None,
            cxx11abi: None,
        });
        IndexFile {
            name: name.to_owned(),
            project: wheel.distribution().clone(),
            version: wheel.version().clone(),
            folder: IndexFolder::of(label.as_ref()),
            kind: FileKind::Wheel(wheel),
            digest: Some(Digest::new([0xab; 32])),
            size_bytes: 1234,
            requires_python: Some(">=3.9,<4".to_owned()),
            requires: vec!["einops".to_owned(), "torch".to_owned()],
            metadata: Some(CoreMetadata {
                bytes: Some(b"Name: x\n".to_vec()),
                digest: Digest::new([0xcd; 32]),
            }),
            yanked: YankStatus::No,
            uploaded: None,
            origin: None,
            is_of_sdk: false,
            run_time: None,
        }
    }
}
