//! Which cell of a matrix a wheel fills.

use std::fmt;

use crate::names::WheelName;

/// What two wheels share when only one of them can be meant: project, version with label, Python, ABI and machine.
/// `linux_x86_64` and `manylinux_2_28_x86_64` are one machine; a build tag makes a cell of its own, because it exists to
/// supersede.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    distribution: String,
    version: String,
    build: Option<String>,
    python: String,
    abi: String,
    machine: String,
}

impl Cell {
    /// The cell of a wheel.
    pub fn of(name: &WheelName) -> Self {
        Self {
            distribution: name.distribution.to_ascii_lowercase().replace(['-', '.'], "_"),
            version: name.version.normalized(),
            build: name.build.clone(),
            python: name.python.to_string(),
            abi: name.abi.to_string(),
            machine: name.platform.tags().first().map_or_else(String::new, |tag| machine(tag)),
        }
    }

    /// The cell without its build tag, as a plan names it.
    #[must_use]
    pub fn planned(mut self) -> Self {
        self.build = None;
        self
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} for {}-{} on {}", self.distribution, self.version, self.python, self.abi, self.machine)
    }
}

/// The machine that a platform tag means: `manylinux_2_28_x86_64` and `manylinux2014_x86_64` as `linux_x86_64` (PEP 600
/// and the tags before it); others as they are.
pub fn machine(platform: &str) -> String {
    let Some(rest) = platform.strip_prefix("manylinux") else { return platform.to_owned() };
    let parts: Vec<&str> = rest.split('_').collect();
    let glibc = parts.iter().skip(1).take_while(|part| part.bytes().all(|b| b.is_ascii_digit())).count();
    format!("linux_{}", parts[(1 + glibc).min(parts.len())..].join("_"))
}

#[cfg(test)]
mod tests {
    use super::{Cell, machine};

    #[test]
    fn repair_changes_the_platform_tag_and_not_the_machine() {
        for tag in ["manylinux_2_28_x86_64", "manylinux2014_x86_64", "manylinux1_x86_64", "linux_x86_64"] {
            assert_eq!(machine(tag), "linux_x86_64", "{tag}");
        }
        assert_eq!(machine("manylinux_2_17_aarch64"), "linux_aarch64");
        assert_eq!(machine("musllinux_1_2_x86_64"), "musllinux_1_2_x86_64");
        assert_eq!(machine("win_amd64"), "win_amd64");
    }

    #[test]
    fn a_build_tag_is_a_cell_of_its_own_that_a_plan_does_not_know() {
        let cell = |name: &str| Cell::of(&name.parse().unwrap());
        let plain = cell("a-1+rocm62-cp311-cp311-linux_x86_64.whl");
        let rebuilt = cell("a-1+rocm62-1-cp311-cp311-manylinux_2_28_x86_64.whl");
        assert_ne!(plain, rebuilt);
        assert_eq!(plain, rebuilt.planned());
        assert_eq!(plain.to_string(), "a 1+rocm62 for cp311-cp311 on linux_x86_64");
    }
}
