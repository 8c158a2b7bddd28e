//! Answers to queries, each about a pair of values.

use std::collections::BTreeMap;
use std::fmt;

use super::Support;
use super::compat::join_with_and;
use super::rows::Provenance;
use rock_names::{GfxTarget, PackageVersion, PythonVersion, RocmVersion, Version};

/// Whether one pair of values is supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompatAnswer<'a> {
    /// The pair.
    pub subject: AnswerSubject,
    /// The part of the query that the answer is about.
    pub scope: AnswerScope,
    /// Whether the pair is supported, and the reason if not.
    pub support: Support,
    /// The provenance of the row; `None` if the support is unknown, or without a row.
    pub provenance: Option<&'a Provenance>,
}

/// The values that an answer is about. Prints as `torch 2.6.0 with ROCm 6.2`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerSubject {
    /// A torch version and a ROCm version.
    TorchRocm(Version, RocmVersion),
    /// A torch version that is built for another accelerator, with ROCm of any version.
    TorchBuild(Version),
    /// A torch version and a Python version.
    TorchPython(Version, PythonVersion),
    /// A package version.
    Package(PackageRelease),
    /// A package version and one of its backends.
    PackageBackend(PackageRelease, String),
    /// A package version with a backend, and a gfx target.
    PackageGfx {
        /// The package version.
        package: PackageRelease,
        /// The backend.
        backend: String,
        /// The gfx target.
        target: GfxTarget,
    },
    /// A package version and a Python version.
    PackagePython(PackageRelease, PythonVersion),
    /// The import of a package version with a backend, and a torch version.
    Import {
        /// The package version.
        package: PackageRelease,
        /// The backend.
        backend: String,
        /// The torch version.
        torch: Version,
    },
    /// The toolchain of a ROCm version and a gfx target.
    ToolchainGfx(RocmVersion, GfxTarget),
    /// Official torch wheels and a gfx target.
    WheelsGfx(OfficialWheels, GfxTarget),
    /// Official torch wheels and a Python version.
    WheelsPython(OfficialWheels, PythonVersion),
}

/// A version of a package. Prints as `flash-attn 2.8.3`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageRelease {
    /// The normalized name.
    pub name: String,
    /// The version.
    pub version: PackageVersion,
}

/// Official torch wheels. Prints as `the wheels of torch 2.10 for ROCm 7.0 and 7.1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfficialWheels {
    /// The torch versions.
    pub torch: WheelVersions<Version>,
    /// The ROCm versions.
    pub rocm: WheelVersions<RocmVersion>,
}

/// The versions of torch or ROCm of wheels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WheelVersions<V> {
    /// Any version.
    Any,
    /// One of these versions.
    OneOf(Vec<V>),
}

/// The part of a query that an answer is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerScope {
    /// Values that the query names.
    Requested,
    /// A backend that the query does not name.
    Backend(String),
    /// Versions that the query does not name.
    Related,
}

impl CompatAnswer<'_> {
    /// Returns whether the answer is not only about one of several backends.
    pub(super) fn is_decisive(&self) -> bool {
        !matches!(self.scope, AnswerScope::Backend(_))
    }
}

impl AnswerSubject {
    /// Returns whether the package, its backend and gfx targets decide the answer alone.
    pub(super) fn is_of_package(&self) -> bool {
        matches!(
            self,
            Self::Package(_) | Self::PackageBackend(..) | Self::PackageGfx { .. }
        )
    }
}

/// Returns whether no answer rules out the values of the query. One supported backend is enough if
/// the query does not name any.
pub fn is_supported<'a, 'b: 'a>(answers: impl IntoIterator<Item = &'a CompatAnswer<'b>>) -> bool {
    let mut backends: BTreeMap<&str, bool> = BTreeMap::new();
    for answer in answers {
        let is_supported = !answer.support.is_unsupported();
        match &answer.scope {
            AnswerScope::Requested if !is_supported => return false,
            AnswerScope::Requested | AnswerScope::Related => {}
            AnswerScope::Backend(backend) => {
                *backends.entry(backend).or_insert(true) &= is_supported;
            }
        }
    }
    backends.is_empty() || backends.values().any(|is_supported| *is_supported)
}

impl fmt::Display for AnswerSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TorchRocm(torch, rocm) => write!(f, "torch {torch} with ROCm {rocm}"),
            Self::TorchBuild(torch) => write!(f, "torch {torch} with ROCm"),
            Self::TorchPython(torch, python) => write!(f, "torch {torch} with Python {python}"),
            Self::Package(package) => package.fmt(f),
            Self::PackageBackend(package, backend) => {
                write!(f, "{package} with the {backend} backend")
            }
            Self::PackageGfx {
                package,
                backend,
                target,
            } => write!(f, "{package} ({backend}) for {target}"),
            Self::PackagePython(package, python) => write!(f, "{package} with Python {python}"),
            Self::Import {
                package,
                backend,
                torch,
            } => write!(f, "importing {package} ({backend}) with torch {torch}"),
            Self::ToolchainGfx(rocm, target) => write!(f, "ROCm {rocm} compiling for {target}"),
            Self::WheelsGfx(wheels, target) => write!(f, "{wheels} on {target}"),
            Self::WheelsPython(wheels, python) => write!(f, "{wheels} with Python {python}"),
        }
    }
}

impl fmt::Display for PackageRelease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.version)
    }
}

impl fmt::Display for OfficialWheels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.torch {
            WheelVersions::Any => f.write_str("torch's wheels")?,
            WheelVersions::OneOf(torch) => write!(f, "the wheels of torch {}", joined(torch))?,
        }
        match &self.rocm {
            WheelVersions::Any => Ok(()),
            WheelVersions::OneOf(rocm) => write!(f, " for ROCm {}", joined(rocm)),
        }
    }
}

fn joined<T: ToString>(values: &[T]) -> String {
    let texts: Vec<String> = values.iter().map(ToString::to_string).collect();
    join_with_and(&texts)
}
