//! The Python versions and platforms that wheel tags stand for.

use crate::pythons::FIRST_FREE_THREADED_STABLE_ABI;
use std::collections::BTreeMap;
use std::fmt;

use rock_compat::policy::{PlatformPolicies, PolicyFamily};
use rock_names::{Arch, PythonVersion, VersionSpecifiers, WheelName};

use super::{LibcKind, MachineLibc};

/// The first Python with a stable ABI (PEP 384; `packaging.tags._abi3_applies`).
const FIRST_STABLE_ABI: (u8, u8) = (3, 2);
/// The last Python whose ABI tag has an allocator flag, `cp37m` (`packaging.tags._cpython_abis`).
const LAST_MARKED_ALLOCATOR: (u8, u8) = (3, 7);
/// The first Python with a free-threaded build (PEP 703; `packaging.tags._cpython_abis`).
const FIRST_FREE_THREADED: (u8, u8) = (3, 13);
/// The oldest glibc whose tags installers accept, on x86 and on other architectures
/// (`packaging._manylinux.platform_tags`).
const OLDEST_GLIBC_X86: (u64, u64) = (2, 5);
const OLDEST_GLIBC: (u64, u64) = (2, 17);
/// The oldest musl that a tag can name (PEP 656).
const OLDEST_MUSL: (u64, u64) = (1, 0);

/// The number of minor versions that are checked when `Requires-Python` narrows an open range.
const MINORS: u8 = 64;

/// A range of Python versions, of one major version, that a wheel tag supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PythonRange {
    /// The lowest version, as major and minor.
    pub from: (u8, u8),
    /// The highest minor version; `None` for all later ones of the major version.
    pub to: Option<u8>,
    /// The supported build.
    pub build: GilBuild,
}

/// The builds of `CPython` that a tag supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GilBuild {
    /// The default build, with the global interpreter lock.
    Plain,
    /// The free-threaded build.
    Free,
    /// Both builds.
    Either,
}

/// A platform that a wheel tag supports.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlatformNeed {
    /// `linux_x86_64`, `win_amd64` or `any`.
    pub system: String,
    /// The required C library and its minimum version.
    pub libc: Option<(LibcKind, u64, u64)>,
}

impl PythonRange {
    /// Returns the ranges of a wheel's tags (PEP 425, whose "Usage" section defines `none` and
    /// `abi3`), narrowed by its `Requires-Python`. Installers do not accept an ABI together with
    /// any platform (`packaging.tags.cpython_tags`), so only the ABI `none` counts for a wheel
    /// whose platform is `any`.
    pub fn of(name: &WheelName, requires_python: Option<&str>) -> Vec<Self> {
        let has_platform = !name.is_platform_independent();
        let mut ranges: Vec<Self> = Vec::new();
        for python in name.python_tags() {
            let abis = name
                .abi_tags()
                .iter()
                .filter(|abi| has_platform || *abi == "none");
            ranges.extend(abis.filter_map(|abi| of_tags(python, abi)));
        }
        ranges.sort_unstable();
        ranges.dedup();
        if ranges.iter().any(|range| range.from.0 >= 3) {
            ranges.retain(|range| range.from.0 >= 3);
        }
        // Specifiers that cannot be parsed do not restrict the ranges.
        match requires_python.and_then(|text| text.parse::<VersionSpecifiers>().ok()) {
            Some(specifiers) => ranges
                .into_iter()
                .flat_map(|range| range.narrowed(&specifiers))
                .collect(),
            None => ranges,
        }
    }

    /// Whether the range contains this Python.
    pub fn has(self, python: PythonVersion) -> bool {
        let (major, minor) = python.numbers();
        self.has_build(python)
            && self.from.0 == major
            && self.from.1 <= minor
            && self.to.is_none_or(|to| minor <= to)
    }

    /// Whether the range supports the build of this Python.
    pub fn has_build(self, python: PythonVersion) -> bool {
        match self.build {
            GilBuild::Plain => !python.is_free_threaded(),
            GilBuild::Free => python.is_free_threaded(),
            GilBuild::Either => true,
        }
    }

    /// Returns the ranges of the minor versions that the specifiers allow, in order.
    fn narrowed(self, specifiers: &VersionSpecifiers) -> Vec<Self> {
        let last = self.to.unwrap_or(self.from.1.saturating_add(MINORS));
        let mut ranges: Vec<Self> = Vec::new();
        for minor in
            (self.from.1..=last).filter(|minor| specifiers.allows_minor((self.from.0, *minor)))
        {
            match ranges
                .last_mut()
                .filter(|range| range.to.is_some_and(|to| to + 1 == minor))
            {
                Some(range) => range.to = Some(minor),
                None => ranges.push(Self {
                    from: (self.from.0, minor),
                    to: Some(minor),
                    ..self
                }),
            }
        }
        if let Some(range) = ranges.last_mut().filter(|range| range.to == Some(last)) {
            range.to = self.to;
        }
        ranges
    }
}

/// Returns the Pythons for which installers accept a Python tag with an ABI tag
/// (`packaging.tags.cpython_tags` and `_py_interpreter_range`); `None` if there are none.
fn of_tags(python: &str, abi: &str) -> Option<PythonRange> {
    let (implementation, digits) = python.split_at_checked(2)?;
    let (major, minor) = digits.split_at_checked(1)?;
    // Tags are compared as strings, so `cp3011` does not match any Python.
    let number = |text: &str| {
        text.parse::<u8>()
            .ok()
            .filter(|number| number.to_string() == text)
    };
    let major = number(major)?;
    let minor: Option<u8> = if minor.is_empty() {
        None
    } else {
        Some(number(minor)?)
    };
    let exact = |build| {
        minor.map(|minor| PythonRange {
            from: (major, minor),
            to: Some(minor),
            build,
        })
    };
    let from = |build| PythonRange {
        from: (major, minor.unwrap_or(0)),
        to: None,
        build,
    };
    let own_abi = abi.strip_prefix(python);
    match (implementation, abi) {
        ("py", "none") => Some(from(GilBuild::Either)),
        ("cp", "none") => exact(GilBuild::Either),
        ("cp", "abi3") if (major, minor?) >= FIRST_STABLE_ABI => Some(from(GilBuild::Plain)),
        ("cp", "abi3t") if (major, minor?) >= FIRST_FREE_THREADED_STABLE_ABI => {
            Some(from(GilBuild::Free))
        }
        ("cp", _) if own_abi == Some("") && (major, minor?) > LAST_MARKED_ALLOCATOR => {
            exact(GilBuild::Plain)
        }
        ("cp", _) if own_abi == Some("m") && (major, minor?) <= LAST_MARKED_ALLOCATOR => {
            exact(GilBuild::Plain)
        }
        ("cp", _) if own_abi == Some("t") && (major, minor?) >= FIRST_FREE_THREADED => {
            exact(GilBuild::Free)
        }
        _ => None,
    }
}

impl fmt::Display for PythonRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((major, minor), threads) = (
            self.from,
            if self.build == GilBuild::Free {
                "t"
            } else {
                ""
            },
        );
        match self.to {
            None if minor == 0 => write!(f, "any {major}"),
            None => write!(f, "{major}.{minor}{threads} or newer"),
            Some(to) if to == minor => write!(f, "{major}.{minor}{threads}"),
            Some(to) => write!(f, "{major}.{minor}{threads} to {major}.{to}{threads}"),
        }
    }
}

impl PlatformNeed {
    /// Returns the platforms of a wheel's platform tags, without duplicates. `known` caches parsed
    /// tags across wheels. If the wheel has an ABI, `any` is ignored next to other tags.
    pub fn of(name: &WheelName, known: &mut BTreeMap<String, Self>) -> Vec<Self> {
        let mut of_tag = |tag: &String| {
            known
                .entry(tag.clone())
                .or_insert_with(|| Self::of_tag(tag))
                .clone()
        };
        let takes_any = name.abi_tags().contains("none") || name.is_platform_independent();
        let tags = name
            .platform_tags()
            .iter()
            .filter(|tag| takes_any || *tag != "any");
        let mut needs: Vec<Self> = tags.map(&mut of_tag).collect();
        needs.sort();
        needs.dedup();
        needs
    }

    /// Returns the version of the C library that a wheel for one of these platforms needs, if that of
    /// the machine is only too old.
    pub(super) fn newer_libc(
        needs: &[Self],
        platform: Option<&str>,
        libc: MachineLibc,
    ) -> Option<(u64, u64)> {
        let needed = needs
            .iter()
            .filter(|need| platform.is_none_or(|platform| platform == need.system))
            .filter_map(|need| need.libc)
            .filter(|(kind, ..)| *kind == libc.kind)
            .map(|(_, major, minor)| (major, minor))
            .min()?;
        libc.version
            .is_some_and(|own| own < needed)
            .then_some(needed)
    }

    fn of_tag(tag: &str) -> Self {
        let plain = || Self {
            system: tag.to_owned(),
            libc: None,
        };
        let Some(family) = PolicyFamily::of_platform_tag(tag) else {
            return plain();
        };
        let kind = match family {
            PolicyFamily::Manylinux => LibcKind::Glibc,
            PolicyFamily::Musllinux => LibcKind::Musl,
        };
        // `manylinux_2_28_x86_64` (PEP 600) and `musllinux_1_2_x86_64` (PEP 656) contain the
        // version. Tags that installers do not accept, because of an older C library or another
        // spelling of the number, are kept as they are.
        let rest = tag.strip_prefix(family.as_str()).unwrap_or_default();
        let spelled = spelled_version(rest).and_then(|(major, minor, arch)| {
            let arch: Arch = Arch::ALL
                .into_iter()
                .find(|known| known.to_string() == arch)?;
            let oldest = match (family, arch) {
                (PolicyFamily::Musllinux, _) => OLDEST_MUSL,
                (PolicyFamily::Manylinux, Arch::X86_64 | Arch::I686) => OLDEST_GLIBC_X86,
                (PolicyFamily::Manylinux, _) => OLDEST_GLIBC,
            };
            let is_taken = (major, minor) >= oldest;
            is_taken.then(|| Self {
                system: format!("linux_{arch}"),
                libc: Some((kind, major, minor)),
            })
        });
        // `manylinux2014_x86_64` is an alias in the policy table.
        let aliased = || {
            let (_, arch) = tag.split_once('_')?;
            let parsed: Arch = Arch::ALL
                .into_iter()
                .find(|known| known.to_string() == arch)?;
            let policies = PlatformPolicies::embedded(family, parsed);
            let (major, minor) = policies.get(tag)?.version()?;
            Some(Self {
                system: format!("linux_{arch}"),
                libc: Some((kind, major.into(), minor.into())),
            })
        };
        spelled.or_else(aliased).unwrap_or_else(plain)
    }
}

/// Splits `_2_28_x86_64` into the version numbers, without leading zeros, and the architecture.
fn spelled_version(text: &str) -> Option<(u64, u64, &str)> {
    let mut parts = text.strip_prefix('_')?.splitn(3, '_');
    let number = |text: &str| {
        text.parse::<u64>()
            .ok()
            .filter(|number| number.to_string() == text)
    };
    Some((
        number(parts.next()?)?,
        number(parts.next()?)?,
        parts.next()?,
    ))
}

impl fmt::Display for PlatformNeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.libc {
            Some((kind, major, minor)) => {
                write!(f, "{} with {kind} {major}.{minor} or newer", self.system)
            }
            None => f.write_str(&self.system),
        }
    }
}
