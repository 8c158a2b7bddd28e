//! Messages and JSON for the selection among local wheels.

use std::collections::{BTreeMap, BTreeSet};

use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Location, Severity};
use serde_json::json;

use super::wheel_match::verdict;
use super::{
    ForeignWheel, LocalWheel, MachineProperty, MatchAxis, MatchRules, NewestWheel, PassedOver,
    PlatformNeed, TargetMachine, WheelCandidate, WheelFilter,
};
use crate::codes::release as codes;

/// The version of the JSON document, incremented when a field is removed or changes its meaning.
const VERSION: u32 = 1;

impl NewestWheel<'_> {
    /// Returns the install commands, one per line.
    pub fn text(&self) -> String {
        self.wheels
            .iter()
            .map(|wheel| wheel.install_line() + "\n")
            .collect()
    }

    /// Returns the selection as JSON with a final newline.
    pub fn json(&self) -> String {
        let wheels = self.wheels.iter().map(|wheel| {
            json!({
                "distribution": wheel.name.distribution().as_str(),
                "version": wheel.name.version().to_string(),
                "path": wheel.path,
                "install": wheel.install_line(),
            })
        });
        let foreign = self.foreign.iter().map(|foreign| {
            json!({
                "distribution": foreign.wheel.name.distribution().as_str(),
                "version": foreign.wheel.name.version().to_string(),
                "path": foreign.wheel.path,
                "reason": foreign.difference.to_string(),
            })
        });
        let yanked = self
            .yanked
            .iter()
            .map(|wheel| json!({"name": wheel.name.to_string(), "reason": wheel.yanked}));
        let document = json!({
            "version": VERSION,
            "wheels": wheels.collect::<Vec<_>>(),
            "others": self.others,
            "left_out": foreign.collect::<Vec<_>>(),
            "yanked": yanked.collect::<Vec<_>>(),
        });
        format!("{document:#}\n")
    }

    /// Reports distributions without a matching wheel: errors if nothing was selected, otherwise
    /// warnings; and wheels that are left out or yanked, as notes. `directory` is the directory of
    /// the wheels, for messages.
    pub fn diagnostics(&self, directory: &str, filter: &WheelFilter) -> Vec<Diagnostic> {
        let mut found: Vec<Diagnostic> = self
            .others
            .keys()
            .map(|project| self.no_match(project, directory, filter))
            .collect();
        let omitted = self
            .foreign
            .iter()
            .filter(|foreign| !self.others.contains_key(&foreign.project));
        let missed = self.yanked.iter().filter(|wheel| {
            !self
                .others
                .contains_key(&wheel.name.distribution().normalized())
        });
        let notes = omitted
            .map(omission)
            .chain(missed.map(|wheel| yank(wheel)))
            .map(|text| Diagnostic::new(&codes::NO_WHEEL_FITS, text).severity(Severity::Note));
        found.extend(notes);
        if self.wheels.is_empty() && self.others.is_empty() {
            let name = filter.distribution.clone().unwrap_or_default();
            let message = format!("no wheel of {name} is in `{directory}`");
            found.push(
                Diagnostic::new(&codes::NO_SUCH_PROJECT, message)
                    .at(Location::Argument(name), "")
                    .help("omit the name to see all distributions"),
            );
        }
        found
    }

    /// Returns the diagnostic for a distribution without a matching wheel.
    fn no_match(&self, project: &str, directory: &str, filter: &WheelFilter) -> Diagnostic {
        let severity = if self.wheels.is_empty() {
            Severity::Error
        } else {
            Severity::Warning
        };
        let python = filter
            .python
            .map(|python| format!(" for Python {python}"))
            .unwrap_or_default();
        let label = filter
            .label
            .as_ref()
            .map(|label| format!(" with the label `{label}`"))
            .unwrap_or_default();
        let foreign: Vec<&ForeignWheel<'_>> = self
            .foreign
            .iter()
            .filter(|foreign| foreign.project == project)
            .collect();
        let mut yanked = self.yanked.iter();
        let yanked = yanked.find(|wheel| wheel.name.distribution().normalized() == project);
        let message = if yanked.is_some() {
            format!("every wheel of {project}{python}{label} that fits in `{directory}` is yanked")
        } else {
            let fits = if foreign.is_empty() {
                "is"
            } else {
                "that fits the system is"
            };
            format!("no wheel of {project}{python}{label} {fits} in `{directory}`")
        };
        let mut diagnostic = Diagnostic::new(&codes::NO_WHEEL_FITS, message).severity(severity);
        let others: Vec<String> = self.others[project]
            .iter()
            .map(|other| format!("`{other}`"))
            .collect();
        if !others.is_empty() {
            diagnostic = diagnostic.note(format!("there are {}", others.join(", ")));
        }
        diagnostic.notes.extend(yanked.map(|wheel| yank(wheel)));
        for foreign in &foreign {
            diagnostic = diagnostic.note(omission(foreign));
        }
        let property = |foreign: &&ForeignWheel<'_>| {
            let platforms = PlatformNeed::of(&foreign.wheel.name, &mut BTreeMap::new());
            let platform = filter.platform.as_deref();
            foreign.difference.property(&platforms, platform)
        };
        let mut differing: BTreeSet<MachineProperty> =
            foreign.iter().filter_map(property).collect();
        if self.for_other_pythons.contains(project) {
            differing.insert(MachineProperty::Python);
        }
        diagnostic.notes.extend(filter.detected.note(&differing));
        diagnostic.help(match foreign.first() {
            _ if yanked.is_some() => {
                "build another one, or revert the yank with `rock-matrix index unyank`".to_owned()
            }
            Some(foreign) => {
                let platforms = PlatformNeed::of(&foreign.wheel.name, &mut BTreeMap::new());
                let platform = filter.platform.as_deref();
                let needed = foreign.difference.needed(&platforms, platform, filter.libc);
                format!("use {needed}, or build the wheel with `rock-matrix build`")
            }
            None => "build it, or select another one with `--python` and `--label`".to_owned(),
        })
    }
}

/// Returns warnings about selected wheels with code for another ROCm, torch or GPU than that of the
/// machine.
pub fn unfit_warnings(
    selected: &[WheelCandidate],
    machine: &TargetMachine,
    compat: &Compat,
) -> Vec<Diagnostic> {
    let rules = MatchRules::of(compat);
    let mut found = Vec::new();
    for wheel in selected {
        let mut differences = verdict(wheel, machine, &rules).differences;
        differences.retain(|difference| {
            let axis = difference.axis;
            matches!(axis, MatchAxis::Rocm | MatchAxis::Torch | MatchAxis::Gpu)
        });
        if differences.is_empty() {
            continue;
        }
        let properties = differences
            .iter()
            .filter_map(|one| one.property(&wheel.platforms, machine.platform.as_deref()))
            .collect();
        let message = format!("`{}` does not fit this machine", wheel.offer.file);
        let mut warning =
            Diagnostic::new(&codes::NO_WHEEL_FITS, message).severity(Severity::Warning);
        let differences = differences.iter().map(ToString::to_string);
        warning.notes.extend(differences);
        warning.notes.extend(machine.detected.note(&properties));
        found.push(warning.help("build the wheel with `rock-matrix build`"));
    }
    found
}

/// Returns the note about a wheel that fits but is yanked.
fn yank(wheel: &LocalWheel) -> String {
    let passed_over = PassedOver {
        file: wheel.name.to_string(),
        reason: wheel.yanked.clone().unwrap_or_default(),
        is_missed: true,
    };
    passed_over.to_string()
}

fn omission(foreign: &ForeignWheel<'_>) -> String {
    format!(
        "`{}` is left out: {}",
        foreign.wheel.name, foreign.difference
    )
}

#[cfg(test)]
mod tests {
    use rock_compat::Compat;
    use rock_diagnostic::Severity;

    use super::unfit_warnings;
    use crate::pick::{
        DetectedProperties, LocalWheel, MachineProperty, PrereleaseMode, TargetMachine,
        WheelFilter, WheelOffers, candidates, newest,
    };

    fn wheel(name: &str) -> LocalWheel {
        LocalWheel {
            name: name.parse().unwrap(),
            path: format!("/w/{name}"),
            modified: 1,
            yanked: None,
        }
    }

    #[test]
    fn a_distribution_for_other_pythons_is_reported_with_its_tags() {
        let wheels = [
            wheel("a-1-cp311-cp311-linux_x86_64.whl"),
            wheel("b-1-py3-none-any.whl"),
        ];
        let filter = WheelFilter {
            python: "3.12".parse().ok(),
            ..WheelFilter::default()
        };
        let found = newest(&wheels, &filter);
        assert_eq!(found.text().lines().count(), 1);
        let diagnostics = found.diagnostics("dist", &filter);
        assert_eq!(
            diagnostics[0].message,
            "no wheel of a for Python 3.12 is in `dist`"
        );
        assert_eq!(diagnostics[0].severity, Severity::Warning);
        assert_eq!(diagnostics[0].notes, ["there are `cp311-cp311`"]);
        let found = newest(&wheels[..1], &filter);
        assert_eq!(
            found.diagnostics("dist", &filter)[0].severity,
            Severity::Error
        );
        let document: serde_json::Value = serde_json::from_str(&found.json()).unwrap();
        assert_eq!(document["others"]["a"][0], "cp311-cp311");
    }

    #[test]
    fn detected_properties_that_differ_are_named() {
        let wheels = [wheel("a-1+rocm6.2-cp312-cp312-manylinux_2_39_x86_64.whl")];
        let notes = |python: &str, label: &str| {
            let detected = [
                (MachineProperty::Python, format!("Python {python}")),
                (MachineProperty::Libc, "glibc 2.35".to_owned()),
            ];
            let filter = WheelFilter {
                python: python.parse().ok(),
                label: label.parse().ok(),
                platform: Some("linux_x86_64".to_owned()),
                libc: "glibc 2.35".parse().ok(),
                detected: DetectedProperties(detected.into()),
                ..WheelFilter::default()
            };
            let found = newest(&wheels, &filter);
            found.diagnostics("dist", &filter)[0].notes.clone()
        };
        assert_eq!(
            notes("3.12", "")[1],
            "glibc 2.35 was detected on this machine; for another one, pass `--glibc` (or \
             `--musl`), or compare only what is passed with `--only-given`"
        );
        for label in ["", "rocm6.2"] {
            assert_eq!(
                notes("3.11", label)[1],
                "Python 3.11 was detected on this machine; for another one, pass `--python`, or \
                 compare only what is passed with `--only-given`"
            );
        }
        assert_eq!(notes("3.11", "rocm6.3"), ["there are `rocm6.2`"]);
    }

    #[test]
    fn yanked_wheels_are_never_selected() {
        let mut wheels = [
            wheel("a-1-py3-none-any.whl"),
            wheel("a-2-py3-none-any.whl"),
            wheel("b-1-py3-none-any.whl"),
        ];
        wheels[1].yanked = Some("broken".to_owned());
        wheels[2].yanked = Some(String::new());
        let filter = WheelFilter::default();
        let found = newest(&wheels, &filter);
        assert_eq!(found.wheels, [&wheels[0]]);
        let diagnostics = found.diagnostics("dist", &filter);
        assert_eq!(
            diagnostics[0].message,
            "every wheel of b that fits in `dist` is yanked"
        );
        assert_eq!(diagnostics[0].severity, Severity::Warning);
        assert_eq!(
            diagnostics[0].notes,
            ["b-1-py3-none-any.whl fits but is yanked"]
        );
        assert_eq!(
            diagnostics[1].message,
            "a-2-py3-none-any.whl fits but is yanked: broken"
        );
        let found = newest(&wheels[2..], &filter);
        assert_eq!(
            found.diagnostics("dist", &filter)[0].severity,
            Severity::Error
        );
        wheels[1].yanked = None;
        wheels[0].yanked = Some("old".to_owned());
        assert!(newest(&wheels[..2], &filter).yanked.is_empty());
    }

    #[test]
    fn selected_wheels_for_another_rocm_are_warned_of() {
        let compat = Compat::embedded();
        let mut offers = WheelOffers::default();
        let name = "a-1+rocm7.0-cp312-cp312-linux_x86_64.whl";
        offers.add_names([name], "file:///w/");
        let wheels = candidates(offers.into_wheels(), &compat, PrereleaseMode::Allow);
        let machine = TargetMachine {
            rocm: "5.2".parse().ok(),
            python: "3.11".parse().ok(),
            ..TargetMachine::default()
        };
        let warnings = unfit_warnings(&wheels, &machine, &compat);
        assert_eq!(warnings.len(), 1);
        assert_eq!(warnings[0].notes.len(), 1);
        assert!(warnings[0].notes[0].starts_with("ROCm: the wheel is for 7.0, you have 5.2"));
        assert!(unfit_warnings(&wheels, &TargetMachine::default(), &compat).is_empty());
    }

    #[test]
    fn a_distribution_without_wheels_is_an_error() {
        let wheels = [wheel("b-1-py3-none-any.whl")];
        let filter = WheelFilter {
            distribution: Some("a".to_owned()),
            ..WheelFilter::default()
        };
        let diagnostics = newest(&wheels, &filter).diagnostics("dist", &filter);
        assert_eq!(diagnostics[0].message, "no wheel of a is in `dist`");
    }
}
