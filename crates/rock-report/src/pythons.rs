//! The Python versions that a wheel supports, according to its tags.

use std::cmp::Ordering;
use std::fmt;

use rock_names::{PythonVersion, WheelName, is_free_threaded_abi};

/// The first Python whose free-threaded build has a stable ABI, `abi3t` (PEP 803).
pub(crate) const FIRST_FREE_THREADED_STABLE_ABI: (u8, u8) = (3, 15);

/// The Python versions that a wheel supports (platform compatibility tags, "Python Tag" and "ABI
/// Tag"; PEP 384 for `abi3`, PEP 803 for `abi3t`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WheelPythons {
    /// Only these versions.
    Listed(Vec<PythonVersion>),
    /// This version and all later ones of the same build, through its stable ABI: `abi3`, or
    /// `abi3t` for free-threaded builds.
    StableAbi(PythonVersion),
    /// This version and all later ones of both builds: the wheel has no compiled code for a
    /// specific Python, or supports both stable ABIs.
    From(PythonVersion),
    /// All versions.
    Any,
    /// Other interpreters, such as `PyPy`, as Python and ABI tags.
    Other(String),
}

impl WheelPythons {
    /// Determines the supported Python versions from the tags of a wheel name.
    pub fn of(name: &WheelName) -> Self {
        let tags = name.python_tags().as_slice();
        let abis = name.abi_tags().as_slice();
        let mut numbered: Vec<PythonVersion> = Vec::new();
        for tag in tags {
            numbered.extend(abis.iter().filter_map(|abi| {
                let is_of_tag = abi.starts_with(tag.as_str()) || abi == "abi3t";
                let python = version(tag, is_free_threaded_abi(abi) && is_of_tag)?;
                // Earlier Pythons have no stable ABI without the GIL (PEP 803).
                (abi != "abi3t" || python.numbers() >= FIRST_FREE_THREADED_STABLE_ABI)
                    .then_some(python)
            }));
        }
        numbered.sort();
        numbered.dedup();
        if name.abi_tags().contains("none") && tags.iter().any(|tag| tag == "py3") {
            return Self::Any;
        }
        match numbered.first() {
            None => Self::Other(format!("{}-{}", name.python_tags(), name.abi_tags())),
            Some(lowest) if name.abi_tags().contains("abi3") => {
                // Both builds have the same first version.
                let free_threaded = numbered.iter().find(|python| python.is_free_threaded());
                if free_threaded.is_some_and(|python| python.numbers() == lowest.numbers()) {
                    Self::From(*lowest)
                } else {
                    Self::StableAbi(*lowest)
                }
            }
            Some(lowest) if name.abi_tags().contains("abi3t") => Self::StableAbi(*lowest),
            Some(lowest)
                if name.abi_tags().contains("none")
                    && tags.iter().all(|tag| tag.starts_with("py")) =>
            {
                Self::From(*lowest)
            }
            Some(_) => Self::Listed(numbered),
        }
    }

    /// Whether the wheel supports this Python version. `None` stands for a job without one, which
    /// only `Any` supports.
    pub fn serves(&self, python: Option<PythonVersion>) -> bool {
        match (self, python) {
            (Self::Any, _) => true,
            (Self::Listed(versions), Some(python)) => versions.contains(&python),
            (Self::StableAbi(lowest), Some(python)) => {
                python >= *lowest && python.is_free_threaded() == lowest.is_free_threaded()
            }
            (Self::From(lowest), Some(python)) => python >= *lowest,
            (Self::Other(_), _) | (_, None) => false,
        }
    }

    /// Returns the sort key: by lowest version, the widest range first. Wheels without a version
    /// number come last.
    fn key(&self) -> (u8, Option<PythonVersion>, u8, &[PythonVersion], &str) {
        match self {
            Self::StableAbi(lowest) => (0, Some(*lowest), 0, &[], ""),
            Self::From(lowest) => (0, Some(*lowest), 1, &[], ""),
            Self::Listed(versions) => (0, versions.first().copied(), 2, versions, ""),
            Self::Any => (1, None, 0, &[], ""),
            Self::Other(tags) => (2, None, 0, &[], tags),
        }
    }
}

/// Parses `cp310` or `py310` as 3.10.
fn version(tag: &str, is_free_threaded: bool) -> Option<PythonVersion> {
    let digits = tag.strip_prefix("cp").or_else(|| tag.strip_prefix("py"))?;
    let (major, minor) = digits.split_at_checked(1)?;
    format!("{major}.{minor}{}", if is_free_threaded { "t" } else { "" })
        .parse()
        .ok()
}

impl Ord for WheelPythons {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for WheelPythons {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for WheelPythons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listed(versions) => f.write_str(
                &versions
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join(", "),
            ),
            Self::StableAbi(lowest) => {
                let flag = if lowest.is_free_threaded() { "t" } else { "" };
                write!(f, "{lowest}+ (abi3{flag})")
            }
            Self::From(lowest) => write!(f, "{lowest}+"),
            Self::Any => f.write_str("any"),
            Self::Other(tags) => f.write_str(tags),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::WheelPythons;

    fn of(tags: &str) -> WheelPythons {
        WheelPythons::of(&format!("a-1-{tags}-linux_x86_64.whl").parse().unwrap())
    }

    #[test]
    fn tags_determine_the_supported_pythons() {
        let check = |tags: &str, expect: &str| assert_eq!(of(tags).to_string(), expect, "{tags}");
        check("cp310-cp310", "3.10");
        check("cp313-cp313t", "3.13t");
        check("cp314-cp314td", "3.14t");
        check("cp311.cp312-cp311.cp312", "3.11, 3.12");
        check("cp39-abi3", "3.9+ (abi3)");
        check("cp39.cp310-abi3", "3.9+ (abi3)");
        check("cp315-abi3t", "3.15t+ (abi3t)");
        check("cp315-abi3.abi3t", "3.15+");
        check("py3-none", "any");
        check("py2.py3-none", "any");
        check("py310-none", "3.10+");
        check("cp311-none", "3.11");
        check("pp310-pypy310_pp73", "pp310-pypy310_pp73");
    }

    #[test]
    fn nine_and_later_sorts_before_ten_and_any_last() {
        let mut pythons = [
            "py3-none",
            "cp310-cp310",
            "cp313-cp313t",
            "cp39-abi3",
            "cp313-cp313",
            "cp39-cp39",
        ]
        .map(of);
        pythons.sort();
        let shown: Vec<String> = pythons.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            ["3.9+ (abi3)", "3.9", "3.10", "3.13", "3.13t", "any"]
        );
    }

    #[test]
    fn the_stable_abi_fills_every_later_python_but_free_threaded_ones_and_py3_fills_all() {
        let serves = |tags: &str, python: &str| of(tags).serves(Some(python.parse().unwrap()));
        assert!(serves("cp39-abi3", "3.9") && serves("cp39-abi3", "3.14"));
        assert!(!serves("cp39-abi3", "3.8") && !serves("cp39-abi3", "3.13t"));
        assert!(serves("cp315-abi3t", "3.16t") && !serves("cp315-abi3t", "3.16"));
        assert!(serves("cp315-abi3.abi3t", "3.15t") && serves("cp315-abi3.abi3t", "3.16"));
        assert!(serves("py3-none", "3.13t") && of("py3-none").serves(None));
        assert!(serves("cp313-cp313t", "3.13t") && !serves("cp313-cp313t", "3.13"));
        assert!(!of("cp310-cp310").serves(None));
    }
}
