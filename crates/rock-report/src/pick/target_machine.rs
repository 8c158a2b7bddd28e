//! The machine that a wheel is selected for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use rock_compat::Compat;
use rock_host::{
    HostFacts, PythonFacts, RocmInstallation, gfx_targets, system_rocm, system_rocm_source,
};
use rock_names::{GfxTarget, PythonVersion, RocmVersion, TorchBuild, Version};

/// The known properties of a machine, and the requested ones of a wheel. Unknown properties are not
/// matched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TargetMachine {
    /// The normalized name of the distribution (PEP 503).
    pub distribution: Option<String>,
    /// The ROCm version of the installed torch, otherwise of the system.
    pub rocm: Option<RocmVersion>,
    /// The series of the installed torch.
    pub torch: Option<TorchSeries>,
    /// The version of the interpreter.
    pub python: Option<PythonVersion>,
    /// The processors of the GPUs, `gfx942`.
    pub gfx: BTreeSet<String>,
    /// The requested backend; `default` for the one that labels do not name.
    pub backend: Option<String>,
    /// The platform tag without the C library: `linux_x86_64`.
    pub platform: Option<String>,
    /// The C library.
    pub libc: Option<MachineLibc>,
    /// The version of the installed torch if it is not built for ROCm: `2.9.1+cpu`.
    pub foreign_torch: Option<String>,
    /// Whether the interpreter is known and torch is not installed.
    pub has_no_torch: bool,
    /// The properties that were detected on this machine and not given.
    pub detected: DetectedProperties,
}

/// A property of a machine that an option replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MachineProperty {
    /// The operating system and the processor.
    Platform,
    /// The C library.
    Libc,
    /// The GPUs.
    Gfx,
    /// The ROCm version.
    Rocm,
    /// The torch series.
    Torch,
    /// The version of the interpreter.
    Python,
}

/// The detected properties of a machine, with their values in words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DetectedProperties(pub BTreeMap<MachineProperty, String>);

/// Properties that replace those of a machine.
#[derive(Debug, Clone, Default)]
pub struct MachineOverrides {
    /// The version of the interpreter.
    pub python: Option<PythonVersion>,
    /// The installed torch; its ROCm version, if it has one, replaces that of the machine too.
    pub torch: Option<InstalledTorch>,
    /// The ROCm version.
    pub rocm: Option<RocmVersion>,
    /// The processors of the GPUs, `gfx942`.
    pub gfx: Option<BTreeSet<String>>,
    /// The requested backend. Machines have none of their own.
    pub backend: Option<String>,
    /// The platform tag without the C library.
    pub platform: Option<String>,
    /// The C library.
    pub libc: Option<MachineLibc>,
}

/// A torch series as in labels: major, minor, and the suffix of a prerelease. All patch releases
/// belong to one series.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TorchSeries {
    /// The major and minor version.
    pub minor: (u64, u64),
    /// The prerelease suffix, `a0`, `rc1`, `dev20261101`, or empty.
    pub tail: String,
}

/// The version that an installed torch reports, `2.9.1+rocm6.4`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledTorch {
    /// The series, as in wheel labels.
    pub series: TorchSeries,
    /// The ROCm version in the label, which torch's wheels include.
    pub rocm: Option<RocmVersion>,
    /// The complete version if its label names something other than ROCm: `2.9.1+cpu`.
    pub foreign: Option<String>,
}

/// A C library, with its version if known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MachineLibc {
    pub kind: LibcKind,
    /// The major and minor version.
    pub version: Option<(u64, u64)>,
}

/// The kind of a C library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LibcKind {
    /// The GNU C Library.
    Glibc,
    /// musl.
    Musl,
}

/// The error for input that is not a report of `doctor --format json`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
    /// The text is not JSON.
    #[error("it is not JSON: the error is in line {line}, column {column}")]
    NotJson {
        /// The line of the error, from 1.
        line: usize,
        /// The column of the error, from 1.
        column: usize,
    },
    /// The JSON is not a report of `doctor`.
    #[error(
        "it is not the output of `rock-matrix doctor --format json`: line {line}, column {column} \
         differs"
    )]
    NotAReport {
        /// The line of the first difference, from 1.
        line: usize,
        /// The column of the first difference, from 1.
        column: usize,
    },
}

impl MachineError {
    fn of(error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        if error.is_data() {
            Self::NotAReport { line, column }
        } else {
            Self::NotJson { line, column }
        }
    }
}

/// The fields of a doctor report that are used here. Others are ignored, so that reports of later
/// versions can be read.
#[derive(Debug, Deserialize)]
struct MachineReport {
    build: DoctorBuild,
    #[serde(default)]
    overrides: DoctorOverrides,
    #[serde(default)]
    python: Option<PythonFacts>,
    #[serde(default)]
    rocm: Vec<DoctorRocm>,
    #[serde(default)]
    hip_version: Option<String>,
}

#[derive(Debug, Deserialize)]
struct DoctorBuild {
    #[serde(default)]
    gfx: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
struct DoctorOverrides {
    #[serde(default)]
    runtime_gfx: Option<String>,
}

#[derive(Debug, Deserialize)]
struct DoctorRocm {
    #[serde(default)]
    folder: String,
    version: String,
}

impl TargetMachine {
    /// Creates a machine from a report of `doctor --format json`.
    ///
    /// # Errors
    /// When the text is not such a report.
    pub fn from_json(text: &str, compat: &Compat) -> Result<Self, MachineError> {
        let report: MachineReport =
            serde_json::from_str(text).map_err(|error| MachineError::of(&error))?;
        let gfx = report
            .overrides
            .runtime_gfx
            .map_or(report.build.gfx, |target| vec![target]);
        let installs = report.rocm.into_iter().map(|rocm| RocmInstallation {
            directory: rocm.folder,
            version: rocm.version,
        });
        let facts = HostFacts {
            rocm: installs.collect(),
            hip_version: report.hip_version,
            ..HostFacts::default()
        };
        let of_system = system_rocm(&facts, |hip| compat.rocm_of_hip(hip));
        let python = report.python.filter(|python| !python.version.is_empty());
        let machine = Self::of_parts(python.as_ref(), &gfx, compat);
        Ok(Self {
            rocm: machine.rocm.or(of_system),
            ..machine
        })
    }

    /// Creates a machine from host facts. A runtime override of the gfx target replaces the
    /// detected GPUs, because programs see only the override.
    pub fn of(facts: &HostFacts, compat: &Compat) -> Self {
        let gfx: Vec<String> = match facts.overrides.runtime_target() {
            Ok(Some(target)) => vec![target.to_string()],
            _ => gfx_targets(facts).iter().map(ToString::to_string).collect(),
        };
        let of_system = system_rocm(facts, |hip| compat.rocm_of_hip(hip));
        let machine = Self::of_parts(facts.python.as_ref(), &gfx, compat);
        let source = if machine.rocm.is_some() {
            "the installed torch".to_owned()
        } else {
            format!("`{}`", system_rocm_source(facts))
        };
        let machine = Self {
            rocm: machine.rocm.or(of_system),
            ..machine
        };
        let values = machine
            .values()
            .into_iter()
            .filter_map(|(property, value)| {
                let value = value?;
                let value = match property {
                    MachineProperty::Rocm => format!("{value} (from {source})"),
                    _ => value,
                };
                Some((property, value))
            });
        Self {
            detected: DetectedProperties(values.collect()),
            ..machine
        }
    }

    /// Replaces the properties that are set.
    #[must_use]
    pub fn with_overrides(mut self, overrides: MachineOverrides) -> Self {
        let torch_rocm = overrides
            .torch
            .as_ref()
            .and_then(|torch| torch.rocm.clone());
        let rocm = overrides.rocm.or(torch_rocm);
        let given = [
            (MachineProperty::Platform, overrides.platform.is_some()),
            (MachineProperty::Libc, overrides.libc.is_some()),
            (MachineProperty::Gfx, overrides.gfx.is_some()),
            (MachineProperty::Rocm, rocm.is_some()),
            (MachineProperty::Torch, overrides.torch.is_some()),
            (MachineProperty::Python, overrides.python.is_some()),
        ];
        let detected = &mut self.detected.0;
        detected.retain(|property, _| !given.contains(&(*property, true)));
        if let Some(torch) = overrides.torch {
            self.torch = Some(torch.series);
            self.foreign_torch = torch.foreign;
        }
        Self {
            rocm: rocm.or(self.rocm),
            python: overrides.python.or(self.python),
            gfx: overrides.gfx.unwrap_or(self.gfx),
            backend: overrides.backend,
            platform: overrides.platform.or(self.platform),
            libc: overrides.libc.or(self.libc),
            ..self
        }
    }

    /// Returns the known properties in words.
    fn values(&self) -> [(MachineProperty, Option<String>); 6] {
        let gfx: Vec<&str> = self.gfx.iter().map(String::as_str).collect();
        let gfx = Some(gfx.join(" and ")).filter(|gfx| !gfx.is_empty());
        let python = self.python.map(|python| format!("Python {python}"));
        let torch = self.torch.as_ref().map(|torch| format!("torch {torch}"));
        let rocm = self.rocm.as_ref().map(|rocm| format!("ROCm {rocm}"));
        [
            (MachineProperty::Python, python),
            (MachineProperty::Torch, torch),
            (MachineProperty::Rocm, rocm),
            (MachineProperty::Gfx, gfx),
            (MachineProperty::Platform, self.platform.clone()),
            (
                MachineProperty::Libc,
                self.libc.map(|libc| libc.to_string()),
            ),
        ]
    }

    /// Returns the machine of these facts, with the ROCm of the installed torch.
    fn of_parts(python: Option<&PythonFacts>, gfx: &[String], compat: &Compat) -> Self {
        let of_hip = |hip: &str| compat.rocm_of_hip(&RocmVersion::from_leading_numbers(hip)?);
        let named = python.and_then(|python| python.torch.as_deref());
        let torch = named.and_then(|torch| torch.parse::<InstalledTorch>().ok());
        let torch_hip = python.and_then(|python| python.torch_hip.as_deref());
        // torch's wheels include ROCm, and an extension uses the libraries that torch has loaded.
        let of_torch = torch.as_ref().and_then(|torch| torch.rocm.clone());
        let free = python.is_some_and(|python| python.free_threaded);
        Self {
            rocm: of_torch.or_else(|| torch_hip.and_then(of_hip)),
            foreign_torch: torch
                .as_ref()
                .filter(|_| torch_hip.is_none())
                .and_then(|torch| torch.foreign.clone()),
            torch: torch.map(|torch| torch.series),
            python: python.and_then(|p| {
                format!("{}{}", p.version, if free { "t" } else { "" })
                    .parse()
                    .ok()
            }),
            gfx: gfx
                .iter()
                .filter_map(|text| Some(text.parse::<GfxTarget>().ok()?.processor().to_owned()))
                .collect(),
            platform: python
                .map(|python| python.platform.clone())
                .filter(|platform| !platform.is_empty()),
            libc: python.and_then(|python| python.libc.as_deref()?.parse().ok()),
            has_no_torch: python.is_some() && named.is_none(),
            ..Self::default()
        }
    }
}

impl MachineProperty {
    /// Returns the options that replace the property.
    fn options(self) -> &'static str {
        match self {
            Self::Platform => "`--platform`",
            Self::Libc => "`--glibc` (or `--musl`)",
            Self::Gfx => "`--gfx`",
            Self::Rocm => "`--rocm`",
            Self::Torch => "`--torch`",
            Self::Python => "`--python`",
        }
    }
}

impl DetectedProperties {
    /// Returns a note about those of these properties that were detected, with the options that
    /// replace them; `None` if none was.
    pub(super) fn note(&self, properties: &BTreeSet<MachineProperty>) -> Option<String> {
        let (options, values): (Vec<&str>, Vec<&str>) = self
            .0
            .iter()
            .filter(|(property, _)| properties.contains(*property))
            .map(|(property, value)| (property.options(), value.as_str()))
            .unzip();
        let (verb, other) = match values.len() {
            0 => return None,
            1 => ("was", "another one"),
            _ => ("were", "others"),
        };
        Some(format!(
            "{} {verb} detected on this machine; for {other}, pass {}, or compare only what is \
             passed with `--only-given`",
            values.join(" and "),
            options.join(" and ")
        ))
    }
}

impl TorchSeries {
    /// Returns the series of a version.
    pub fn of(version: &Version) -> Self {
        let number = |at: usize| version.release().get(at).copied().unwrap_or(0);
        Self {
            minor: (number(0), number(1)),
            tail: version.prerelease_suffix(),
        }
    }
}

impl FromStr for TorchSeries {
    type Err = rock_names::VersionError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self::of(&text.parse::<Version>()?))
    }
}

impl FromStr for InstalledTorch {
    type Err = rock_names::VersionError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let version: Version = text.parse()?;
        let (rocm, foreign) = match TorchBuild::of(&version) {
            Some(TorchBuild::Rocm(rocm)) => (Some(rocm), None),
            Some(TorchBuild::Cuda | TorchBuild::Cpu | TorchBuild::Xpu) => {
                (None, Some(text.to_owned()))
            }
            None => (None, None),
        };
        Ok(Self {
            series: TorchSeries::of(&version),
            rocm,
            foreign,
        })
    }
}

impl fmt::Display for TorchSeries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}{}", self.minor.0, self.minor.1, self.tail)
    }
}

/// The error for text that is not a C library.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a C library: write it as `glibc 2.35` or `musl 1.2`")]
pub struct LibcError(pub String);

impl FromStr for MachineLibc {
    type Err = LibcError;

    /// Parses `glibc 2.36`, as glibc reports itself, `musl 1.2`, or a name without a version.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fault = || LibcError(text.to_owned());
        let (name, version) = text
            .split_once(' ')
            .map_or((text, None), |(name, version)| (name, Some(version)));
        let kind = match name {
            "glibc" => LibcKind::Glibc,
            "musl" => LibcKind::Musl,
            _ => return Err(fault()),
        };
        let numbers = |text: &str| -> Option<(u64, u64)> {
            let mut parts = text.split('.').map(str::parse);
            Some((parts.next()?.ok()?, parts.next()?.ok()?))
        };
        let version = version
            .map(|text| numbers(text).ok_or_else(fault))
            .transpose()?;
        Ok(Self { kind, version })
    }
}

impl fmt::Display for LibcKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Glibc => "glibc",
            Self::Musl => "musl",
        })
    }
}

impl fmt::Display for MachineLibc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.version {
            Some((major, minor)) => write!(f, "{} {major}.{minor}", self.kind),
            None => write!(f, "{}", self.kind),
        }
    }
}

impl fmt::Display for TargetMachine {
    /// Formats the known properties on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let backend = self.backend.as_ref();
        let parts: Vec<String> = self
            .values()
            .into_iter()
            .filter_map(|(_, value)| value)
            .chain(backend.map(|backend| format!("backend {backend}")))
            .collect();
        f.write_str(if parts.is_empty() { "any machine" } else { "" })?;
        f.write_str(&parts.join(", "))
    }
}
