//! Of the wheels in a folder, those to install: the newest of each distribution for one Python.

use std::collections::{BTreeMap, BTreeSet};

use super::PythonRange;
use crate::diagnostic::shell_quoted;
use crate::names::{DistributionName, LocalLabel, PythonVersion, WheelName};

/// A wheel in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalWheel {
    /// Its name.
    pub name: WheelName,
    /// Where it lies, from the root.
    pub path: String,
    /// When it was written; later ones have more.
    pub modified: u128,
}

/// What the wheels must be for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// The normalized name of the one distribution that is asked for.
    pub distribution: Option<String>,
    /// The Python.
    pub python: Option<PythonVersion>,
    /// The label, or its last segments.
    pub label: Option<LocalLabel>,
}

/// What is to be installed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Newest<'l> {
    /// One wheel a distribution, in the order of their names.
    pub wheels: Vec<&'l LocalWheel>,
    /// Distributions whose wheels are all something else, with their labels or, for other Pythons, their tags.
    pub others: BTreeMap<String, BTreeSet<String>>,
}

/// The newest wheel of each distribution that is what was asked for: the greatest version, then the latest file.
pub fn newest<'l>(wheels: &'l [LocalWheel], asked: &Asked) -> Newest<'l> {
    let mut by_project: BTreeMap<String, Vec<&LocalWheel>> = BTreeMap::new();
    for wheel in wheels {
        let project = wheel.name.distribution.parse::<DistributionName>();
        let project = project.map_or_else(|_| wheel.name.distribution.clone(), |name| name.normalized());
        by_project.entry(project).or_default().push(wheel);
    }
    let mut found = Newest::default();
    for (project, wheels) in by_project {
        if asked.distribution.as_ref().is_some_and(|one| *one != project) {
            continue;
        }
        let (fitting, foreign): (Vec<_>, Vec<_>) =
            wheels.into_iter().partition(|wheel| is_for(asked.python, &wheel.name));
        let key = |wheel: &&LocalWheel| (wheel.name.version.clone(), wheel.modified, wheel.path.clone());
        match fitting.iter().copied().filter(|wheel| has(asked.label.as_ref(), &wheel.name)).max_by_key(key) {
            Some(wheel) => found.wheels.push(wheel),
            None => {
                let label =
                    |wheel: &LocalWheel| wheel.name.label().map_or_else(|| "none".to_owned(), |own| own.to_string());
                let tags = |wheel: &LocalWheel| format!("{}-{}", wheel.name.python, wheel.name.abi);
                let others = if fitting.is_empty() {
                    foreign.into_iter().map(tags).collect()
                } else {
                    fitting.into_iter().map(label).collect()
                };
                found.others.insert(project, others);
            }
        }
    }
    found
}

impl LocalWheel {
    /// The line that installs this file in the place of whatever is there, and nothing else.
    pub fn install_line(&self) -> String {
        format!("pip install {} --force-reinstall --no-deps", shell_quoted(&self.path))
    }
}

/// Returns whether installers take the tags for this Python; where none is asked for, any tags do.
fn is_for(python: Option<PythonVersion>, name: &WheelName) -> bool {
    python.is_none_or(|python| PythonRange::of(name, None).iter().any(|range| range.has(python)))
}

fn has(label: Option<&LocalLabel>, name: &WheelName) -> bool {
    let Some(label) = label else { return true };
    name.label().is_some_and(|own| {
        own == *label || own.as_str().strip_suffix(label.as_str()).is_some_and(|rest| rest.ends_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::{Asked, LocalWheel, newest};

    fn wheel(name: &str, modified: u128) -> LocalWheel {
        LocalWheel { name: name.parse().unwrap(), path: format!("/w {modified}/{name}"), modified }
    }

    fn check(wheels: &[LocalWheel], asked: &Asked) -> Vec<String> {
        newest(wheels, asked).wheels.iter().map(|wheel| wheel.install_line()).collect()
    }

    #[test]
    fn the_greatest_version_is_taken_and_of_one_version_the_latest_file() {
        let name = "torch-2.10.0-cp312-cp312-linux_x86_64.whl";
        let wheels = [wheel("torch-2.9.0-cp312-cp312-linux_x86_64.whl", 9), wheel(name, 2), wheel(name, 3)];
        let line = format!("pip install '/w 3/{name}' --force-reinstall --no-deps");
        assert_eq!(check(&wheels, &Asked::default()), [line]);
    }

    #[test]
    fn pythons_take_their_own_wheels_those_for_any_and_stable_ones() {
        let fits = |tags: &str, python: &str| {
            let wheels = [wheel(&format!("a-1-{tags}.whl"), 1)];
            !check(&wheels, &Asked { python: python.parse().ok(), ..Asked::default() }).is_empty()
        };
        let linux = |tags: &str, python: &str| fits(&format!("{tags}-linux_x86_64"), python);
        assert!(linux("cp312-cp312", "3.12") && fits("py3-none-any", "3.12") && linux("cp313-cp313t", "3.13t"));
        assert!(linux("cp39-abi3", "3.12") && linux("cp312-none", "3.12"));
        assert!(!linux("cp311-cp311", "3.12") && !linux("cp313-cp313", "3.13t") && !linux("cp39-abi3", "3.13t"));
        assert!(!linux("cp313-abi3", "3.12") && !fits("cp312-cp312-any", "3.12") && !fits("py313-none-any", "3.12"));
    }
}
