//! Artifacts that are read and laid out as packages.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rayon::prelude::*;
use rock_bytes::{has_same_content, start_threads};
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Diagnostics, Location};
use rock_names::Platform;
use rock_sys::{FileError, ScratchSpace};

use crate::build_manifest::BuildManifest;
use crate::codes::sdk as codes;
use crate::mixed_builds::find_mixed_builds;
use crate::{
    ArtifactSet, ContentComparison, DevelTree, LayoutRequest, PathOverlap, RuntimePackage,
    SplitMode, devel_trees, lay_out, lint_layout, lint_spellings, overlaps,
};

/// Options of [`ResolvedLayout::resolve`].
#[derive(Debug, Clone)]
pub struct LayoutOptions {
    /// The directory of the artifacts.
    pub artifact_dir: PathBuf,
    /// The way device code is split from the libraries; `None` for the mode in the manifest of the
    /// build.
    pub mode: Option<SplitMode>,
    /// The platform of the packages.
    pub platform: Platform,
    /// The suffix of the names of the directories with package files, which may be empty.
    pub name_suffix: String,
    /// In [`SplitMode::Legacy`], the GPU families whose artifacts are used; all if it is empty.
    pub families: BTreeSet<String>,
    /// Globs of library names that get a stub library.
    pub runtime_aliases: Vec<String>,
    /// Whether different files at the same path are errors instead of warnings.
    pub is_strict: bool,
    /// Whether the devel package keeps dangling symlinks.
    pub keep_dangling: bool,
}

impl LayoutOptions {
    /// Creates the options to lay out all artifacts of a directory as packages of a platform, in
    /// the mode of the build.
    pub fn new(artifact_dir: PathBuf, platform: Platform) -> Self {
        Self {
            artifact_dir,
            mode: None,
            platform,
            name_suffix: String::new(),
            families: BTreeSet::new(),
            runtime_aliases: Vec::new(),
            is_strict: false,
            keep_dangling: false,
        }
    }
}

/// The artifacts of a build and the packages that they are laid out as.
pub struct ResolvedLayout {
    /// The artifacts.
    pub artifacts: ArtifactSet,
    /// The way device code is split from the libraries.
    pub mode: SplitMode,
    /// The ROCm version in the manifest of the build.
    pub rocm_version: Option<String>,
    /// The runtime packages, in build order: core, profiler, libraries, devices.
    pub packages: Vec<RuntimePackage>,
    /// The trees of the devel packages.
    pub devel: Vec<DevelTree>,
}

impl ResolvedLayout {
    /// Reads the artifacts of a directory and lays them out. Returns the layout with its warnings,
    /// which contain no errors.
    /// The content of archives is kept in `scratch`.
    ///
    /// # Errors
    /// When there is no artifact, an artifact or the manifest of the build is invalid, or the
    /// artifacts cannot be laid out.
    pub fn resolve(
        options: &LayoutOptions,
        scratch: &ScratchSpace,
        compat: &Compat,
    ) -> Result<(Self, Vec<Diagnostic>), Diagnostics> {
        let (mut artifacts, mut findings) = ArtifactSet::read(&options.artifact_dir, scratch)?;
        if artifacts.as_slice().is_empty() {
            findings.push(no_artifacts(options));
            return Err(findings.into());
        }
        let manifest = BuildManifest::read(&options.artifact_dir, &artifacts);
        let mode = match split_mode(options, &manifest, &mut findings) {
            Ok(mode) => mode,
            Err(error) => {
                findings.push(error);
                return Err(findings.into());
            }
        };
        findings.extend(missing_targets(options, &artifacts, mode));
        if mode == SplitMode::Legacy {
            artifacts.retain_families(&options.families);
        }
        let rocm_version = manifest.ok().and_then(|manifest| manifest.rocm_version);
        findings.extend(find_mixed_builds(&artifacts, rocm_version.as_deref())?);
        findings.extend(lint_spellings(
            artifacts.as_slice(),
            &compat.tables().families,
        ));
        let facts = compat.sdk_tables();
        let request = LayoutRequest {
            mode,
            platform: options.platform,
            name_suffix: options.name_suffix.clone(),
            aliases: options.runtime_aliases.clone(),
        };
        let layout = match lay_out(artifacts.as_slice(), facts, &request) {
            Ok(layout) => layout,
            Err(errors) => {
                findings.extend(errors);
                return Err(findings.into());
            }
        };
        let devel = devel_trees(
            artifacts.as_slice(),
            facts,
            &request,
            &layout,
            options.keep_dangling,
        );
        let shared = overlaps(artifacts.as_slice(), &layout, &devel);
        findings.extend(report_overlaps(&artifacts, &shared, options.is_strict)?);
        findings.extend(lint_layout(artifacts.as_slice(), &layout, &devel, &request));
        if findings.iter().any(Diagnostic::is_error) {
            return Err(findings.into());
        }
        let resolved = Self {
            artifacts,
            mode,
            rocm_version,
            packages: layout.packages,
            devel,
        };
        Ok((resolved, findings))
    }
}

fn no_artifacts(options: &LayoutOptions) -> Diagnostic {
    let place = Location::File(options.artifact_dir.display().to_string().into());
    Diagnostic::new(&codes::NO_ARTIFACT, "there is no artifact in the directory")
        .at(place, "")
        .help(
            "artifacts are directories such as `base_lib_generic`, each with an \
             `artifact_manifest.txt`, or archives of them",
        )
}

/// Returns the mode of the options, or the one in the manifest. Reports options that contradict
/// the manifest.
fn split_mode(
    options: &LayoutOptions,
    manifest: &Result<BuildManifest, Diagnostic>,
    findings: &mut Vec<Diagnostic>,
) -> Result<SplitMode, Diagnostic> {
    let built = manifest
        .as_ref()
        .map_err(Diagnostic::clone)
        .and_then(|manifest| manifest.split_mode(&options.artifact_dir));
    let Some(mode) = options.mode else {
        return built;
    };
    if let Ok(built) = built
        && built != mode
    {
        let message = format!(
            "the manifest of the build says {}, and the requested mode is {}",
            built.word(),
            mode.word()
        );
        findings.push(
            Diagnostic::new(&codes::OTHER_SDK_MODE, message)
                .at(Location::Argument(format!("--mode {}", mode.word())), "")
                .help("use the mode of the manifest to make the packages as the build was made"),
        );
    }
    Ok(mode)
}

fn missing_targets(
    options: &LayoutOptions,
    artifacts: &ArtifactSet,
    mode: SplitMode,
) -> Option<Diagnostic> {
    let has_targets = artifacts
        .as_slice()
        .iter()
        .any(|artifact| artifact.name.base().is_some());
    if mode != SplitMode::Kpack || has_targets {
        return None;
    }
    let place = Location::File(options.artifact_dir.display().to_string().into());
    let error = Diagnostic::new(
        &codes::OTHER_SDK_MODE,
        "the code for GPUs is split, but no artifact is for a GPU target",
    )
    .at(place, "")
    .help("fetch the artifacts of the targets, such as `blas_lib_gfx942`");
    Some(error)
}

/// Reports paths that several artifacts have with different bytes. Only files of the same size are
/// compared, in parallel.
fn report_overlaps(
    artifacts: &ArtifactSet,
    overlaps: &BTreeSet<PathOverlap>,
    is_strict: bool,
) -> Result<Vec<Diagnostic>, FileError> {
    let all: Vec<&PathOverlap> = overlaps.iter().collect();
    start_threads();
    let reports: Result<Vec<Option<Diagnostic>>, FileError> = all
        .into_par_iter()
        .map(|overlap| {
            let differs = has_different_content(artifacts, overlap)?;
            Ok(differs.then(|| overlap.diagnostic(artifacts.as_slice(), is_strict)))
        })
        .collect();
    Ok(reports?.into_iter().flatten().collect())
}

fn has_different_content(
    artifacts: &ArtifactSet,
    overlap: &PathOverlap,
) -> Result<bool, FileError> {
    match overlap.compare_listings(artifacts.as_slice()) {
        ContentComparison::Same => Ok(false),
        ContentComparison::Other => Ok(true),
        ContentComparison::Bytes => {
            let kept = artifacts.open(overlap.kept)?;
            let other = artifacts.open(overlap.other)?;
            let is_same = has_same_content(kept.as_ref(), other.as_ref()).map_err(|error| {
                FileError::new("compare", &artifacts.path(overlap.other), error)
            })?;
            Ok(!is_same)
        }
    }
}
