//! The layout of all runtime packages.

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

/// The way device code is split from the libraries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitMode {
    /// Libraries for any GPU, with the device code of each target in separate files.
    Kpack,
    /// Libraries that contain the device code of one family.
    Legacy,
}

impl SplitMode {
    /// Returns the name used in options and compatibility data.
    pub fn word(self) -> &'static str {
        match self {
            Self::Kpack => "kpack",
            Self::Legacy => "legacy",
        }
    }
}

/// The parameters of [`lay_out`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayoutRequest {
    /// The way device code is split from the libraries.
    pub mode: SplitMode,
    /// The platform of the packages.
    pub platform: Platform,
    /// A suffix for the names of the directories with package files, so that two versions can be
    /// installed side by side.
    pub name_suffix: String,
    /// Globs of library names that get a stub library, for programs that open libraries by these
    /// names.
    pub aliases: Vec<String>,
}

/// The kind of an SDK package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PackageKind {
    /// The compiler, the runtime libraries and their tools.
    Core,
    /// Profilers.
    Profiler,
    /// Math and machine learning libraries.
    Libraries,
    /// The device code of the libraries for one target.
    Device,
    /// The devel tree: everything that programs are built against.
    Devel,
}

impl PackageKind {
    /// Returns the name used in compatibility data.
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

/// The target or family of a package, if it is for one.
pub(super) type DeviceFamily = Option<String>;

/// A runtime package: any SDK package except the devel package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimePackage {
    /// The kind of the package.
    pub kind: PackageKind,
    /// The target or family, if the package is for one.
    pub made_for: DeviceFamily,
    /// The name of the distribution, `rocm-sdk-device-gfx942`.
    pub distribution: String,
    /// The directory in `site-packages` with its files, `_rocm_sdk_libraries`.
    pub directory: String,
    /// The files by path in that directory.
    pub files: BTreeMap<String, PackageFile>,
    /// Omitted paths of its artifacts.
    pub dropped: BTreeMap<String, (DropReason, FileOrigin)>,
}

/// A path that two artifacts have, one of which provides the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathOverlap {
    /// The entry that is packed.
    pub kept: FileOrigin,
    /// The entry that is omitted.
    pub other: FileOrigin,
}

/// All runtime packages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageLayout {
    /// The packages in build order: core, profiler, libraries, devices.
    pub packages: Vec<RuntimePackage>,
    /// Paths that several artifacts of a package have. Their bytes are not yet compared.
    pub overlaps: Vec<PathOverlap>,
}

/// Lays out the runtime packages. `artifacts` must be sorted by name.
///
/// # Errors
/// When a row of the compatibility data or a glob of the request is invalid, artifacts are missing,
/// a path is a file in one artifact and a directory in another, or two packages would have the same
/// filename.
pub fn lay_out(
    artifacts: &[BuildArtifact],
    facts: &SdkTables,
    request: &LayoutRequest,
) -> Result<PackageLayout, Vec<Diagnostic>> {
    let paths: Vec<resolve::ArtifactPaths<'_>> =
        artifacts.iter().map(resolve::ArtifactPaths::new).collect();
    let aliases = globs(&request.aliases).map_err(|error| {
        let glob = error.glob().unwrap_or_default();
        let place = Location::Argument(format!("--runtime-alias {glob}"));
        let message = format!("it is not a valid glob: {}", error.kind());
        vec![
            Diagnostic::new(&BAD_PATTERN, message)
                .at(place, "")
                .help("pass a glob for whole paths, such as `lib/libhsa-runtime64.so`"),
        ]
    })?;
    let builder = PackageBuilder {
        artifacts,
        paths,
        facts,
        request,
        aliases,
    };
    let mut kinds: Vec<(PackageKind, DeviceFamily)> =
        vec![(PackageKind::Core, None), (PackageKind::Profiler, None)];
    match request.mode {
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

/// Reports packages that would have the same filename: filenames ignore case and treat `-`, `_` and
/// `.` alike.
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
                    format!("the other one is from `{}`", made_of(other)),
                )
                .help(
                    "spell the GPUs of both in the same way, or remove one of them from the \
                     directory",
                ),
        );
    }
    found
}

/// The distribution that users install: an sdist that selects among the packages.
pub const SELECTOR: &str = rock_compat::SDK_SELECTOR;

/// Returns the directory in `site-packages` with the files of a package.
pub(super) fn directory_of(distribution: &str, name_suffix: &str) -> String {
    format!("_{}{name_suffix}", distribution.replace('-', "_"))
}

/// Returns the row of a package in the compatibility data.
pub(super) fn row(facts: &SdkTables, kind: PackageKind) -> Option<&SdkPackageRow> {
    facts
        .sdk_packages
        .iter()
        .find(|row| row.package == kind.word())
}

/// Returns the path of an artifact entry for messages: the artifact, its root, and the path below.
pub fn entry_path(artifacts: &[BuildArtifact], origin: FileOrigin) -> String {
    let artifact = &artifacts[origin.artifact];
    let entry = &artifact.entries[origin.entry];
    format!(
        "{}/{}/{}",
        artifact.name, artifact.roots[entry.root], entry.path
    )
}

/// Returns the name of a distribution as filenames have it.
fn file_word(distribution: &str) -> String {
    distribution
        .parse::<DistributionName>()
        .map(|name| name.normalized().replace('-', "_"))
        .unwrap_or_default()
}
