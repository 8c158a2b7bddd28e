//! Selects the wheels in a directory to install: the newest of each distribution for one Python.

use std::collections::{BTreeMap, BTreeSet};

use super::wheel_match::system_difference;
use super::{DetectedProperties, MachineLibc, Mismatch, PlatformNeed, PythonRange};
use rock_diagnostic::shell_quoted;
use rock_names::{LocalLabel, PythonVersion, WheelName};

/// A wheel in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalWheel {
    /// The parsed filename.
    pub name: WheelName,
    /// The absolute path.
    pub path: String,
    /// The modification time; later ones are greater.
    pub modified: u128,
    /// The reason why the index in its directory yanks it, which may be empty; `None` if it is not
    /// yanked.
    pub yanked: Option<String>,
}

/// The properties that wheels must have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WheelFilter {
    /// The normalized name of the requested distribution.
    pub distribution: Option<String>,
    /// The Python version.
    pub python: Option<PythonVersion>,
    /// The local version label, or its last segments.
    pub label: Option<LocalLabel>,
    /// The platform tag of the system, without the C library.
    pub platform: Option<String>,
    /// The C library of the system.
    pub libc: Option<MachineLibc>,
    /// The properties that were detected on this machine and not given.
    pub detected: DetectedProperties,
}

/// The wheels to install, and those that are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewestWheel<'l> {
    /// One wheel per distribution, sorted by name.
    pub wheels: Vec<&'l LocalWheel>,
    /// Distributions without a matching wheel, with the Python and ABI tags of their wheels that
    /// have the label or, if none has it, the labels of all; empty if they are for other systems or
    /// yanked.
    pub others: BTreeMap<String, BTreeSet<String>>,
    /// Distributions without a matching wheel that have wheels with the label for other Pythons.
    pub for_other_pythons: BTreeSet<String>,
    /// Wheels that match the Python and the label, but not the system.
    pub foreign: Vec<ForeignWheel<'l>>,
    /// The newest yanked wheel of each distribution that would be selected otherwise.
    pub yanked: Vec<&'l LocalWheel>,
}

/// A wheel for another system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignWheel<'l> {
    /// The wheel.
    pub wheel: &'l LocalWheel,
    /// The normalized name of its distribution.
    pub project: String,
    /// The reason why it is left out.
    pub difference: Mismatch,
}

/// Selects the newest matching wheel of each distribution that is not yanked: the greatest version,
/// then the latest file. Matches platforms like [`super::decide()`].
pub fn newest<'l>(wheels: &'l [LocalWheel], asked: &WheelFilter) -> NewestWheel<'l> {
    let mut by_project: BTreeMap<String, Vec<&LocalWheel>> = BTreeMap::new();
    for wheel in wheels {
        let project = wheel.name.distribution().normalized();
        by_project.entry(project).or_default().push(wheel);
    }
    let mut found = NewestWheel::default();
    let mut tags = BTreeMap::new();
    for (project, wheels) in by_project {
        if asked
            .distribution
            .as_ref()
            .is_some_and(|one| *one != project)
        {
            continue;
        }
        let (fitting, for_others): (Vec<_>, Vec<_>) = wheels
            .into_iter()
            .partition(|wheel| is_for(asked.python, &wheel.name));
        let key = |wheel: &&LocalWheel| {
            (
                wheel.name.version().clone(),
                wheel.modified,
                wheel.path.clone(),
            )
        };
        let labelled = fitting
            .iter()
            .copied()
            .filter(|wheel| wheel.has_label(asked.label.as_ref()));
        let judged = labelled.map(|wheel| {
            let needs = PlatformNeed::of(&wheel.name, &mut tags);
            (
                wheel,
                system_difference(&needs, asked.platform.as_deref(), asked.libc),
            )
        });
        let (native, foreign_systems): (Vec<_>, Vec<_>) =
            judged.partition(|(_, difference)| difference.is_none());
        let has_foreign = !foreign_systems.is_empty();
        found.foreign.extend(
            foreign_systems
                .into_iter()
                .filter_map(|(wheel, difference)| {
                    Some(ForeignWheel {
                        wheel,
                        project: project.clone(),
                        difference: difference?,
                    })
                }),
        );
        let (offered, yanked): (Vec<_>, Vec<_>) = native
            .into_iter()
            .map(|(wheel, _)| wheel)
            .partition(|wheel| wheel.yanked.is_none());
        let chosen = offered.into_iter().max_by_key(key);
        let missed = yanked
            .into_iter()
            .max_by_key(key)
            .filter(|missed| chosen.is_none_or(|chosen| key(missed) > key(&chosen)));
        found.yanked.extend(missed);
        match chosen {
            Some(wheel) => found.wheels.push(wheel),
            None if has_foreign || missed.is_some() => {
                drop(found.others.insert(project, BTreeSet::new()));
            }
            None => {
                let label = |wheel: &LocalWheel| {
                    wheel
                        .name
                        .label()
                        .map_or_else(|| "none".to_owned(), |own| own.to_string())
                };
                let tags = |wheel: &LocalWheel| {
                    format!("{}-{}", wheel.name.python_tags(), wheel.name.abi_tags())
                };
                let has_label = |wheel: &&LocalWheel| wheel.has_label(asked.label.as_ref());
                let for_others_with_label = for_others.iter().copied().filter(has_label);
                let mut others: BTreeSet<String> = for_others_with_label.map(tags).collect();
                if others.is_empty() {
                    others = fitting.into_iter().chain(for_others).map(label).collect();
                } else {
                    found.for_other_pythons.insert(project.clone());
                }
                found.others.insert(project, others);
            }
        }
    }
    found
}

impl LocalWheel {
    /// Returns the command that installs only this file and replaces an installed version.
    pub fn install_line(&self) -> String {
        format!(
            "pip install {} --force-reinstall --no-deps",
            shell_quoted(&self.path)
        )
    }

    /// Returns whether the wheel has this local version label, or one that ends in its segments;
    /// without a label, every wheel does.
    pub fn has_label(&self, label: Option<&LocalLabel>) -> bool {
        let Some(label) = label else { return true };
        self.name.label().is_some_and(|own| {
            own == *label
                || own
                    .as_str()
                    .strip_suffix(label.as_str())
                    .is_some_and(|rest| rest.ends_with('.'))
        })
    }
}

/// Returns whether installers accept the tags for this Python; without a Python, all tags match.
fn is_for(python: Option<PythonVersion>, name: &WheelName) -> bool {
    python.is_none_or(|python| {
        PythonRange::of(name, None)
            .iter()
            .any(|range| range.has(python))
    })
}

#[cfg(test)]
mod tests {
    use super::{LocalWheel, WheelFilter, newest};

    fn wheel(name: &str, modified: u128) -> LocalWheel {
        LocalWheel {
            name: name.parse().unwrap(),
            path: format!("/w {modified}/{name}"),
            modified,
            yanked: None,
        }
    }

    fn check(wheels: &[LocalWheel], output: &WheelFilter) -> Vec<String> {
        newest(wheels, output)
            .wheels
            .iter()
            .map(|wheel| wheel.install_line())
            .collect()
    }

    #[test]
    fn the_greatest_version_is_taken_and_of_one_version_the_latest_file() {
        let name = "torch-2.10.0-cp312-cp312-linux_x86_64.whl";
        let wheels = [
            wheel("torch-2.9.0-cp312-cp312-linux_x86_64.whl", 9),
            wheel(name, 2),
            wheel(name, 3),
        ];
        let line = format!("pip install '/w 3/{name}' --force-reinstall --no-deps");
        assert_eq!(check(&wheels, &WheelFilter::default()), [line]);
    }

    #[test]
    fn wheels_for_another_system_are_left_out_with_the_reason() {
        let wheels = [
            wheel("a-1-cp312-cp312-manylinux_2_28_x86_64.whl", 1),
            wheel("a-2-cp312-cp312-manylinux_2_39_x86_64.whl", 1),
            wheel("b-1-cp312-cp312-win_amd64.whl", 1),
            wheel("c-1-py3-none-any.whl", 1),
        ];
        let names_of = |platform: Option<&str>, libc: Option<&str>| {
            let libc = libc.map(|text| text.parse().unwrap());
            let requests = WheelFilter {
                platform: platform.map(str::to_owned),
                libc,
                ..WheelFilter::default()
            };
            let found = newest(&wheels, &requests);
            let versions = |wheel: &&LocalWheel| {
                format!("{} {}", wheel.name.distribution(), wheel.name.version())
            };
            let foreign = found
                .foreign
                .iter()
                .map(|one| one.difference.to_string())
                .collect::<Vec<_>>();
            (
                found
                    .wheels
                    .iter()
                    .map(versions)
                    .collect::<Vec<_>>()
                    .join(", "),
                foreign.join("\n"),
            )
        };
        insta::assert_debug_snapshot!(names_of(Some("linux_x86_64"), Some("glibc 2.36")), @r#"
        (
            "a 1, c 1",
            "system: the wheel is for linux_x86_64 with glibc 2.39 or newer, you have linux_x86_64 with glibc 2.36\nsystem: the wheel is for win_amd64, you have linux_x86_64 with glibc 2.36",
        )
        "#);
        insta::assert_debug_snapshot!(names_of(None, Some("glibc 2.31")), @r#"
        (
            "a 1, b 1, c 1",
            "system: the wheel is for linux_x86_64 with glibc 2.39 or newer, you have glibc 2.31",
        )
        "#);
        assert_eq!(
            names_of(None, None),
            ("a 2, b 1, c 1".to_owned(), String::new())
        );
    }

    #[test]
    fn pythons_take_their_own_wheels_those_for_any_and_stable_ones() {
        let fits = |tags: &str, python: &str| {
            let wheels = [wheel(&format!("a-1-{tags}.whl"), 1)];
            !check(
                &wheels,
                &WheelFilter {
                    python: python.parse().ok(),
                    ..WheelFilter::default()
                },
            )
            .is_empty()
        };
        let linux = |tags: &str, python: &str| fits(&format!("{tags}-linux_x86_64"), python);
        assert!(
            linux("cp312-cp312", "3.12")
                && fits("py3-none-any", "3.12")
                && linux("cp313-cp313t", "3.13t")
        );
        assert!(linux("cp39-abi3", "3.12") && linux("cp312-none", "3.12"));
        assert!(linux("cp315-abi3t", "3.16t") && !linux("cp315-abi3t", "3.16"));
        assert!(linux("cp315-abi3.abi3t", "3.15t") && linux("cp315-abi3.abi3t", "3.15"));
        assert!(
            !linux("cp311-cp311", "3.12")
                && !linux("cp313-cp313", "3.13t")
                && !linux("cp39-abi3", "3.13t")
        );
        assert!(
            !linux("cp313-abi3", "3.12")
                && !fits("cp312-cp312-any", "3.12")
                && !fits("py313-none-any", "3.12")
        );
    }
}
