//! All packages with all their files.

use std::collections::BTreeMap;

use super::artifact::BuildArtifact;
use super::package_builder::PackageBuilder;
use super::placement::{DropReason, FileOrigin, PackageFile};
use super::resolve;
use super::select::globs;
use crate::codes::sdk as codes;
use rock_audit::codes::wheel::BAD_PATTERN;
use rock_compat::rows::{SdkPackageRow, SdkTables};
use rock_diagnostic::{Diagnostic, Location};
use rock_names::DistributionName;
use rock_names::Platform;

/// How the code for GPUs is split from the libraries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitMode {
    /// Libraries for any GPU, and files with the code for each target beside them.
    Kpack,
    /// Libraries that hold the code for a family of targets.
    Legacy,
}

impl SplitMode {
    /// The word of options and facts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Kpack => "kpack",
            Self::Legacy => "legacy",
        }
    }
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutRequest {
    /// How code for GPUs is split.
    pub mode: SplitMode,
    /// What the packages are made for.
    pub platform: Platform,
    /// What is appended to the names of the folders that hold files, so that two versions can lie
    /// side by side.
    pub nonce: String,
    /// Globs of other names of libraries, without which programs that open libraries by those find
    /// none.
    pub aliases: Vec<String>,
}

/// Which package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PackageKind {
    /// The compiler, the run-time libraries and their tools.
    Core,
    /// Profilers.
    Profiler,
    /// Libraries of mathematics and machine learning.
    Libraries,
    /// Their code for one target.
    Device,
    /// What building against all of them needs.
    Devel,
}

impl PackageKind {
    /// The word of the facts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Profiler => "profiler",
            Self::Libraries => "libraries",
            Self::Device => "device",
            Self::Devel => "devel",
        }
    }
}

/// The target or family that a package is for.
pub(super) type DeviceFamily = Option<String>;

/// A package that is run from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimePackage {
    /// Which it is.
    pub kind: PackageKind,
    /// The target or family that it is for.
    pub made_for: DeviceFamily,
    /// The name of its project, `rocm-sdk-device-gfx942`.
    pub distribution: String,
    /// The folder of `site-packages` that its files are in, `_rocm_sdk_libraries`.
    pub folder: String,
    /// Its files by path in that folder.
    pub files: BTreeMap<String, PackageFile>,
    /// Paths of its artifacts that are not in it.
    pub dropped: BTreeMap<String, (DropReason, FileOrigin)>,
}

/// A path that two artifacts have, of which one is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathOverlap {
    /// The one that is taken.
    pub kept: FileOrigin,
    /// The one that is not.
    pub other: FileOrigin,
}

/// All packages that are run from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageLayout {
    /// They, in the order in which they are made: core, profiler, libraries, devices.
    pub packages: Vec<RuntimePackage>,
    /// Paths that several artifacts of one package have. Whether their bytes differ is to be seen.
    pub overlaps: Vec<PathOverlap>,
}

/// Lays out the packages that are run from. `artifacts` must be sorted by name.
///
/// # Errors
/// Rows of the facts that cannot be right, artifacts that are missing, paths that are a file in one
/// artifact and a folder in another, and packages that would have one file name.
pub fn lay_out(
    artifacts: &[BuildArtifact],
    facts: &SdkTables,
    wish: &LayoutRequest,
) -> Result<PackageLayout, Vec<Diagnostic>> {
    let paths: Vec<resolve::ArtifactPaths<'_>> =
        artifacts.iter().map(resolve::ArtifactPaths::new).collect();
    let aliases = globs(&wish.aliases).map_err(|error| {
        let place = Location::Argument(format!(
            "--runtime-alias {}",
            error.glob().unwrap_or_default()
        ));
        let fault =
            Diagnostic::new(&BAD_PATTERN, format!("it is no glob: {}", error.kind())).at(place, "");
        vec![fault.help("give one over whole paths, such as `lib/libhsa-runtime64.so`")]
    })?;
    let builder = PackageBuilder {
        artifacts,
        paths,
        facts,
        wish,
        aliases,
    };
    let mut kinds: Vec<(PackageKind, DeviceFamily)> =
        vec![(PackageKind::Core, None), (PackageKind::Profiler, None)];
    match wish.mode {
        SplitMode::Kpack => {
            kinds.push((PackageKind::Libraries, None));
            kinds.extend(
                builder
                    .bases(PackageKind::Device)
                    .into_iter()
                    .map(|base| (PackageKind::Device, Some(base))),
            );
        }
        SplitMode::Legacy => {
            let bases = builder.bases(PackageKind::Libraries);
            kinds.extend(
                bases
                    .into_iter()
                    .map(|base| (PackageKind::Libraries, Some(base))),
            );
        }
    }
    let (mut layout, mut faults) = (
        PackageLayout {
            packages: Vec::new(),
            overlaps: Vec::new(),
        },
        Vec::new(),
    );
    for (kind, made_for) in kinds {
        match builder.package(kind, made_for) {
            Ok(None) => {}
            Ok(Some((package, overlaps))) => {
                layout.packages.push(package);
                layout.overlaps.extend(overlaps);
            }
            Err(more) => faults.extend(more),
        }
    }
    faults.extend(same_names(artifacts, &layout.packages));
    if faults.is_empty() {
        Ok(layout)
    } else {
        Err(faults)
    }
}

/// Packages of which one would take the place of another: file names know neither case nor how
/// words are joined.
fn same_names(artifacts: &[BuildArtifact], packages: &[RuntimePackage]) -> Vec<Diagnostic> {
    let made_of = |package: &RuntimePackage| {
        let is_of = |artifact: &&BuildArtifact| artifact.name.base() == package.made_for.as_deref();
        artifacts
            .iter()
            .find(is_of)
            .map_or_else(String::new, |artifact| artifact.name.to_string())
    };
    let mut seen: BTreeMap<String, &RuntimePackage> = BTreeMap::new();
    let mut found = Vec::new();
    for package in packages {
        let word = file_word(&package.distribution);
        let Some(other) = seen.get(&word) else {
            seen.insert(word, package);
            continue;
        };
        let message = format!(
            "`{}` and `{}` would be one package, `{word}`",
            other.distribution, package.distribution
        );
        found.push(
            Diagnostic::new(&codes::PACKAGE_TWICE, message)
                .at(
                    Location::File(made_of(package).into()),
                    format!("the other is of `{}`", made_of(other)),
                )
                .help("write the GPUs of both in one way, or take one of them out of the folder"),
        );
    }
    found
}

/// The project that the packages are installed by: a source distribution that chooses among them.
pub const SELECTOR: &str = "rocm";

/// Whether a project, as indexes write its name, is a package of the SDK.
pub fn is_package(project: &str, facts: &SdkTables) -> bool {
    let is_of = |row: &SdkPackageRow| {
        project
            .strip_prefix(row.distribution.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    project == SELECTOR || facts.sdk_packages.iter().any(is_of)
}

/// The folder of `site-packages` that holds the files of a package.
pub(super) fn folder_of(distribution: &str, nonce: &str) -> String {
    format!("_{}{nonce}", distribution.replace('-', "_"))
}

/// The row of a package.
pub(super) fn row(facts: &SdkTables, kind: PackageKind) -> Option<&SdkPackageRow> {
    facts
        .sdk_packages
        .iter()
        .find(|row| row.package == kind.word())
}

/// A path of an artifact as a person knows it.
pub fn shown(artifacts: &[BuildArtifact], origin: FileOrigin) -> String {
    let artifact = &artifacts[origin.artifact];
    let entry = &artifact.entries[origin.entry];
    format!(
        "{}/{}/{}",
        artifact.name, artifact.roots[entry.root], entry.path
    )
}

/// The name of a project as file names have it.
fn file_word(distribution: &str) -> String {
    distribution
        .parse::<DistributionName>()
        .map(|name| name.normalized().replace('-', "_"))
        .unwrap_or_default()
}
