//! Reconciles releases with their desired files, and reads and writes the documents of a release.
//!
//! Input: the desired and the observed files of a release. Output: the changes, `SHA256SUMS`,
//! `rock-manifest.json`, and the errors of a set of wheels as a release. A release in a directory
//! is changed by [`DirectoryEdits`], which [`directory_edits()`] computes. A release on GitHub is
//! changed by the steps of a [`remote::Reconciliation`], which [`remote::reconcile()`] computes
//! from the observed releases until nothing is left to do. [`PublishedReleases`] are read from
//! saved listings, manifests and directories.
//!
//! [`read_assets`] reads local wheels as desired files, except those whose digest a [`DigestCache`]
//! has. [`ReleaseDirectory`] is a release in a directory, and [`IndexUpdate`] an index; both
//! replace their directory as a whole. An [`IndexReader`] reads the files of an index, and a
//! [`YankRuleSet`] selects those to yank.
//!
//! **Invariant:** Applying the changes leaves no changes. A file that differs from the published
//! one is never replaced unless requested, and files that this program did not write are never
//! changed. Generated files are the exception, such as `SHA256SUMS`: a file with such a name is
//! replaced whenever it differs, whoever wrote it, in a release that may be changed.

pub mod codes;

mod asset;
mod asset_reader;
mod attestation_subjects;
mod audit_errors;
mod built_torch;
mod checks;
mod digest_cache;
mod directory_edits;
mod directory_lock;
mod downloaded_artifacts;
mod file_errors;
mod gfx_reader;
mod handover;
mod index_directory;
mod index_input;
mod index_options;
mod index_summary;
mod index_update;
mod indexed;
mod listing;
mod local_files;
mod manifest;
mod manifest_rows;
mod missing_files;
mod preflight;
mod prune;
mod publish_summary;
mod published_releases;
mod published_yanks;
mod rebuilt_files;
mod release;
mod release_directory;
mod release_plan;
pub mod remote;
mod rocm_label;
mod saved_document;
mod sums;
mod tag;
mod tag_ruleset;
mod tag_target;
mod target_shortfall;
mod wheel_cell;
mod wheel_reader;
mod yank_rules;

pub use asset::Asset;
pub use asset_reader::{
    CheckDepth, LocalAsset, left_out, metadata_path, read_assets, unique_by_name, without_paths,
};
pub use attestation_subjects::write_subjects;
pub use audit_errors::{REFUSED_CODES, audit_errors};
pub use built_torch::built_with_other_torch;
pub use checks::{LeftOut, as_github_release, as_release};
pub use digest_cache::{CacheEntry, CachedAsset, DigestCache, MetadataBody, cache_note};
pub use directory_edits::{
    DesiredFile, DirectoryEdit, DirectoryEdits, FileConflict, ObservedFile, OnDifference,
    directory_edits,
};
pub use directory_lock::lock_for_replacement;
pub use downloaded_artifacts::DownloadedArtifacts;
pub use gfx_reader::{WheelCode, wheel_code_read};
pub use handover::{
    LegReport, LegReportError, check_all_reported, check_plan_digest, leg_reports_of_variables,
    read_leg_reports,
};
pub use index_directory::{
    IndexDirectory, check_index_target, clear_missing_metadata, index_kept, is_below, lists_files,
    read_yanked_files, relative_steps, write_metadata_files,
};
pub use index_input::{IndexInput, IndexReader, inherited_yanks, listed_files};
pub use index_options::{IndexAction, IndexOptions};
pub use index_summary::{IndexSummary, index_summaries, install_text};
pub use index_update::{IndexUpdate, WrittenIndex};
pub use indexed::{MetadataFiles, PublishedAt, index_files, merged};
pub use listing::{
    AssetState, LARGEST_LISTING_BYTES, ListedAsset, ListedRelease, ListingError, ReleaseListing,
};
pub use local_files::{expand_paths, find_files, no_files_in, pages_help};
pub use manifest::{
    AcceleratorVersion, GfxOrigin, LARGEST_MANIFEST_BYTES, MANIFEST, ManifestError, ManifestFile,
    NeededTorch, ReleaseManifest,
};
pub use manifest_rows::{ManifestForm, ManifestRowSet};
pub use preflight::{
    CheckOutcome, DeploymentRules, ObservedRepository, PreflightCheck, PreflightReport,
    PreflightRequest, RepositoryFacts, planned_files, preflight,
};
pub use prune::{
    PruneDecision, PruneFate, PruneOutcome, PruneReason, PruneRule, TagGlob, TagGlobError, prune,
};
pub use publish_summary::PublishSummary;
pub use published_releases::{
    ManifestSelection, PublishedLocation, PublishedReleases, PublishedSource, SelectedManifests,
    invalid_listing,
};
pub use published_yanks::PublishedYanks;
pub use rebuilt_files::{RebuiltFile, ReleasedBytes, newest_first, rebuilt_warning};
pub use release::{
    DirectoryContents, DirectoryFile, INDEX, ReleaseContents, ReleaseDetails, superseded,
};
pub use release_directory::{
    FileTransfer, ReleaseDirectory, ReleaseDirectoryError, ReleaseLock, file_in_path_error,
    nested_release_error,
};
pub use release_plan::{AllowedDifferences, ReleasePlan};
pub use rocm_label::missing_rocm_labels;
pub use saved_document::{saved, saved_manifests};
pub use sums::{SUMS, SumsError, read_sums, sha256, sums};
pub use tag::{GitTag, GitTagError, TagName, TagNameError, is_prerelease_tag, tag_pieces};
pub use tag_ruleset::{TagRuleset, TagRulesetDetails};
pub use tag_target::{TagTarget, TargetCommitish};
pub use target_shortfall::TargetShortfall;
pub use wheel_cell::WheelCell;
pub use yank_rules::YankRuleSet;

/// Test assets.
#[cfg(test)]
mod testing {
    use super::Asset;
    use rock_index::{FileKind, IndexFile, IndexFolder};
    use rock_names::{Accelerator, Digest, LabelParts, WheelName};

    /// Returns a wheel with this name. Any local version label counts as one for ROCm 6.2 with
    /// torch 2.5.
    pub(super) fn asset(name: &str, byte: u8) -> Asset {
        let wheel: WheelName = name.parse().unwrap();
        let label = wheel.version().local().map(|_| LabelParts {
            accelerator: Accelerator::Rocm("6.2".parse().unwrap()),
            torch: "2.5".parse().ok(),
            git: None,
            backend: None,
            cxx11abi: None,
        });
        let (project, version) = (wheel.distribution().clone(), wheel.version().clone());
        let file = IndexFile {
            folder: IndexFolder::of(label.as_ref()),
            digest: Some(Digest::new([byte; 32])),
            size_bytes: 7,
            ..IndexFile::named(name.to_owned(), project, version, FileKind::Wheel(wheel))
        };
        Asset {
            shown: format!("dist/{name}"),
            digest: Digest::new([byte; 32]),
            file,
            label,
            gfx_read: None,
            needs_rocm: Vec::new(),
        }
    }
}
