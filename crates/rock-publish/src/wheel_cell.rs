//! The cell of a matrix that a wheel fills.

use std::fmt;

use rock_names::{ExpectedWheel, LocalLabel, WheelName, plain_linux_tag};

/// The key of wheels of which a release can contain only one: project, version with label, Python,
/// ABI and machine. `linux_x86_64` and `manylinux_2_28_x86_64` are the same machine. A build tag
/// makes a separate cell, because its purpose is to supersede.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WheelCell {
    distribution: String,
    version: String,
    build: Option<String>,
    python: String,
    abi: String,
    machine: String,
}

impl WheelCell {
    /// Returns the cell of a wheel.
    pub fn of(name: &WheelName) -> Self {
        Self {
            distribution: name
                .distribution()
                .as_str()
                .to_ascii_lowercase()
                .replace(['-', '.'], "_"),
            version: name.version().normalized(),
            build: name.build_tag().map(ToString::to_string),
            python: name.python_tags().to_string(),
            abi: name.abi_tags().to_string(),
            machine: name
                .platform_tags()
                .as_slice()
                .first()
                .map_or_else(String::new, |tag| plain_linux_tag(tag)),
        }
    }

    /// Returns the cell of a wheel that a plan expects, with a placeholder for a version that the
    /// plan does not know.
    pub fn expected(wheel: &ExpectedWheel) -> Self {
        let own = Self::of(wheel.name_with_placeholder()).planned();
        if wheel.is_version_known() {
            own
        } else {
            Self {
                version: any_version(wheel.label()),
                ..own
            }
        }
    }

    /// Returns the cells under which a plan may expect a wheel: by its version, by its label, and
    /// by neither.
    pub fn as_planned(name: &WheelName) -> [Self; 3] {
        let own = Self::of(name).planned();
        let open = |label| Self {
            version: any_version(label),
            ..own.clone()
        };
        [
            own.clone(),
            open(name.label().map(|label| label.without_commit())),
            open(None),
        ]
    }

    /// Returns the cell without its build tag, as a plan identifies it.
    #[must_use]
    pub fn planned(mut self) -> Self {
        self.build = None;
        self
    }
}

/// Returns the placeholder for every version with a label, or for every version.
fn any_version(label: Option<LocalLabel>) -> String {
    label.map_or_else(|| "*".to_owned(), |label| format!("*+{label}"))
}

impl fmt::Display for WheelCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} for {}-{} on {}",
            self.distribution, self.version, self.python, self.abi, self.machine
        )
    }
}

#[cfg(test)]
mod tests {
    use super::WheelCell;

    #[test]
    fn a_build_tag_is_a_cell_of_its_own_that_a_plan_does_not_know() {
        let cell = |name: &str| WheelCell::of(&name.parse().unwrap());
        let plain = cell("a-1+rocm62-cp311-cp311-linux_x86_64.whl");
        let rebuilt = cell("a-1+rocm62-1-cp311-cp311-manylinux_2_28_x86_64.whl");
        assert_ne!(plain, rebuilt);
        assert_eq!(plain, rebuilt.planned());
        assert_eq!(
            plain.to_string(),
            "a 1+rocm62 for cp311-cp311 on linux_x86_64"
        );
    }
}
