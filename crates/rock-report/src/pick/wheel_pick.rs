//! The wheel for a machine, with messages and install commands.

use rock_compat::Compat;
use rock_diagnostic::Diagnostic;
use rock_names::RocmVersion;

use super::hint::PickHint;
use super::wheel_match::supports_rocm;
use super::{
    MatchAxis, MatchRules, Mismatch, PassedOver, PickDecision, TargetMachine, WheelAccelerator,
    WheelCandidate, decide, for_machine, json, passed_over, run_time_text, split,
    yanked_near_misses,
};
use crate::codes::release as codes;

/// The maximum number of yanked wheels that messages list.
const MAX_YANKED: usize = 3;

/// The decision which published wheel a machine needs.
#[derive(Debug, Clone)]
pub struct WheelPick {
    machine: TargetMachine,
    /// The candidates that are not yanked.
    wheels: Vec<WheelCandidate>,
    decision: PickDecision,
    passed_over: Vec<PassedOver>,
    /// Sentences about yanked wheels that do not fit, but are near.
    yanked_near_misses: Vec<String>,
    /// The ROCm versions that the wheels are for, sorted, if neither they nor yanked ones support
    /// that of the machine; otherwise empty.
    other_rocm: Vec<String>,
}

impl WheelPick {
    /// Selects the wheel for a machine. The candidates must be in the order of
    /// [`super::candidates`].
    pub fn new(candidates: Vec<WheelCandidate>, machine: TargetMachine, compat: &Compat) -> Self {
        let rules = MatchRules::of(compat);
        let (wheels, yanked_wheels) = split(candidates);
        let decision = decide(&wheels, &machine, &rules);
        let yanked_decision = decide(&yanked_wheels, &machine, &rules);
        let yanked = (yanked_wheels.as_slice(), &yanked_decision);
        Self {
            passed_over: passed_over((&wheels, &decision), yanked),
            yanked_near_misses: yanked_near_misses(&decision, yanked),
            other_rocm: other_rocm(&wheels, &yanked_wheels, &machine, &rules),
            machine,
            wheels,
            decision,
        }
    }

    /// Returns the best wheel that fits; `None` if none does.
    pub fn wheel(&self) -> Option<&WheelCandidate> {
        let fit = self.decision.fits.first()?;
        Some(&self.wheels[fit.index])
    }

    /// Returns the decision as JSON with a final newline.
    pub fn json(&self) -> String {
        json(
            &self.wheels,
            &self.machine,
            &self.decision,
            &self.passed_over,
        )
    }

    /// Returns an error if no wheel fits, and warnings about the installed torch.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        found.extend(self.foreign_torch_warning());
        found.extend(self.missing_torch_warning());
        found.extend(self.unknown_rocm_warning());
        if self.decision.fits.is_empty() {
            found.push(self.no_fit_error());
        }
        found
    }

    fn foreign_torch_warning(&self) -> Option<Diagnostic> {
        let torch = self.machine.foreign_torch.as_ref()?;
        let message = format!("the installed torch, {torch}, is not a ROCm build");
        Some(
            Diagnostic::new(&codes::TORCH_NOT_FOR_ROCM, message)
                .help("use a command that also installs torch for ROCm"),
        )
    }

    fn missing_torch_warning(&self) -> Option<Diagnostic> {
        let wheel = self.wheel()?;
        let torch = wheel.torch.as_ref()?;
        if !self.machine.has_no_torch || self.machine.torch.is_some() {
            return None;
        }
        let help = if wheel.official_torch.is_some() {
            "the command also installs it"
        } else {
            "install torch for ROCm first, then this wheel"
        };
        let message = format!("the wheel needs torch {torch}, and torch is not installed");
        Some(Diagnostic::new(&codes::NO_TORCH, message).help(help))
    }

    fn unknown_rocm_warning(&self) -> Option<Diagnostic> {
        let wheel = self.wheel().filter(|wheel| wheel.has_unknown_rocm())?;
        let message = format!("the ROCm version of `{}` is unknown", wheel.offer.file);
        let help = if wheel.offer.url.starts_with("file:") {
            "check it with `rock-matrix wheel show` before installing it"
        } else {
            "download it and check it with `rock-matrix wheel show` before installing it"
        };
        Some(Diagnostic::new(&codes::UNKNOWN_ROCM, message).help(help))
    }

    fn no_fit_error(&self) -> Diagnostic {
        let (machine, near) = (&self.machine, &self.decision.near);
        let project = machine.distribution.as_deref().unwrap_or_default();
        let unsupported = self.unsupported_rocm();
        let message = match unsupported {
            Some(rocm) => format!("no wheel of {project} supports ROCm {rocm}"),
            None if !self.passed_over.is_empty() => {
                format!("every wheel of {project} that fits {machine} is yanked")
            }
            None => format!("no wheel of {project} fits {machine}"),
        };
        let mut error = Diagnostic::new(&codes::NO_WHEEL_FITS, message);
        if unsupported.is_some() {
            let versions = self.other_rocm.join(", ");
            error = error.note(format!("wheels exist for ROCm {versions}"));
        }
        error.notes.extend(self.detected_note());
        let yanked = self.passed_over.iter().map(ToString::to_string);
        let yanked = yanked.chain(self.yanked_near_misses.iter().cloned());
        error.notes.extend(yanked.take(MAX_YANKED));
        for (at, near) in near.iter().enumerate() {
            let nearest = if at == 0 { "the nearest is" } else { "next is" };
            error = error.note(format!("{nearest} {}", self.wheels[near.index].offer.file));
            for difference in &near.differences {
                error = error.note(format!("  {difference}"));
            }
        }
        error.help(self.hint().to_string())
    }

    /// Returns what makes a wheel fit if none does.
    fn hint(&self) -> PickHint<'_> {
        if let Some(hint) = self.other_backend() {
            return hint;
        }
        let near = self.decision.near.first();
        let nearest = near.map(|near| &self.wheels[near.index]);
        if nearest.is_some_and(WheelCandidate::has_unknown_rocm) {
            return PickHint::UnknownRocm;
        }
        if nearest.is_some_and(|wheel| wheel.pythons.is_empty()) {
            return PickHint::NoPython;
        }
        let differences = near.map_or(&[][..], |near| near.differences.as_slice());
        let is_gpu = |difference: &&Mismatch| difference.axis == MatchAxis::Gpu;
        if let Some(gpu) = differences.iter().find(is_gpu) {
            return PickHint::OtherGpu(gpu, self.unsupported_rocm());
        }
        if differences.is_empty() {
            return if self.passed_over.is_empty() {
                PickHint::Build
            } else {
                PickHint::Unyanked
            };
        }
        let machine = &self.machine;
        let platforms = nearest.map_or(&[][..], |wheel| &wheel.platforms);
        let needs = differences
            .iter()
            .map(|difference| {
                difference.needed(platforms, machine.platform.as_deref(), machine.libc)
            })
            .collect();
        PickHint::OtherMachine(needs, self.unsupported_rocm())
    }

    /// Returns the ROCm version of the machine if no wheel supports it.
    fn unsupported_rocm(&self) -> Option<&RocmVersion> {
        let rocm = self.machine.rocm.as_ref();
        rocm.filter(|_| !self.other_rocm.is_empty())
    }

    /// Returns a note about properties that were not given but detected, if the nearest wheels are
    /// for others.
    fn detected_note(&self) -> Option<String> {
        let machine = &self.machine;
        let properties = self.decision.near.iter().flat_map(|near| {
            let platforms = &self.wheels[near.index].platforms;
            let differences = near.differences.iter();
            differences.filter_map(move |one| one.property(platforms, machine.platform.as_deref()))
        });
        machine.detected.note(&properties.collect())
    }

    /// Returns the hint about a requested backend that no wheel of the distribution has.
    fn other_backend(&self) -> Option<PickHint<'_>> {
        let requested = self.machine.backend.as_deref()?;
        let distribution = self.machine.distribution.as_deref().unwrap_or_default();
        let mut published: Vec<&str> = self
            .wheels
            .iter()
            .filter(|wheel| wheel.distribution == distribution)
            .map(|wheel| wheel.backend.as_deref().unwrap_or("default"))
            .collect();
        published.sort_unstable();
        published.dedup();
        (!published.contains(&requested)).then_some(PickHint::OtherBackend {
            requested,
            published,
        })
    }

    /// Returns the wheel with its install commands and notes as text; `None` if none fits.
    pub fn text(&self) -> Option<String> {
        let wheel = self.wheel()?;
        let offer = &wheel.offer;
        let mut text = format!("{}\n", offer.file);
        if let Some(lines) = wheel.install_lines(&self.machine.gfx) {
            text.push_str(&format!(
                "{}\n\n{}",
                offer.url,
                for_machine(lines, wheel, &self.machine)
            ));
        } else {
            text.push_str("\n  its URL is unknown\n");
        }
        text.push_str(&run_time_text(&wheel.run_time));
        for note in self.decision.fits.iter().take(1).flat_map(|fit| &fit.notes) {
            text.push_str(&format!("note: {}: {}\n", note.axis, note.text));
        }
        text.push_str(&self.missed_text());
        text.push_str(&self.others_text());
        Some(text)
    }

    /// Returns a note for each yanked wheel that would have been selected.
    fn missed_text(&self) -> String {
        let missed: Vec<&PassedOver> = self
            .passed_over
            .iter()
            .filter(|wheel| wheel.is_missed)
            .collect();
        let mut text: String = missed
            .iter()
            .take(MAX_YANKED)
            .map(|wheel| format!("note: {wheel}\n"))
            .collect();
        if missed.len() > MAX_YANKED {
            text.push_str(&format!(
                "note: {} more yanked\n",
                missed.len() - MAX_YANKED
            ));
        }
        text
    }

    /// Returns the number of other wheels that fit, and the options that can exclude some.
    fn others_text(&self) -> String {
        let others = match self.decision.fits.len() {
            0 | 1 => return String::new(),
            2 => "1 other wheel fits".to_owned(),
            count => format!("{} other wheels fit", count - 1),
        };
        let machine = &self.machine;
        let fits: Vec<&WheelCandidate> = self
            .decision
            .fits
            .iter()
            .map(|fit| &self.wheels[fit.index])
            .collect();
        let unknown: Vec<&str> = [
            (
                machine.rocm.is_none() && differ(&fits, |wheel| &wheel.accelerator),
                "`--rocm`",
            ),
            (
                machine.torch.is_none() && differ(&fits, |wheel| &wheel.torch),
                "`--torch`",
            ),
            (
                machine.python.is_none() && differ(&fits, |wheel| &wheel.pythons),
                "`--python`",
            ),
            (
                machine.gfx.is_empty() && differ(&fits, |wheel| &wheel.gfx),
                "`--gfx`",
            ),
            (
                machine.backend.is_none() && differ(&fits, |wheel| &wheel.backend),
                "`--backend`",
            ),
        ]
        .into_iter()
        .filter_map(|(separates, flag)| separates.then_some(flag))
        .collect();
        let fewer = if unknown.is_empty() {
            String::new()
        } else {
            format!("narrow the selection with {}, or ", unknown.join(", "))
        };
        format!("{others} too: {fewer}list all with `--format json`\n")
    }
}

/// Returns the ROCm versions that the wheels of the distribution are for, if neither they nor the
/// yanked ones support that of the machine.
fn other_rocm(
    wheels: &[WheelCandidate],
    yanked: &[WheelCandidate],
    machine: &TargetMachine,
    rules: &MatchRules,
) -> Vec<String> {
    let is_wanted = |wheel: &&WheelCandidate| {
        let name = machine.distribution.as_ref();
        name.is_none_or(|name| *name == wheel.distribution)
    };
    let wheels = || wheels.iter().filter(is_wanted);
    if wheels()
        .chain(yanked.iter().filter(is_wanted))
        .any(|wheel| supports_rocm(wheel, machine, rules))
    {
        return Vec::new();
    }
    let mut versions: Vec<RocmVersion> = wheels()
        .filter_map(|wheel| match &wheel.accelerator {
            WheelAccelerator::Rocm(rocm) => Some(rocm.clone()),
            WheelAccelerator::RocmLibraries(_)
            | WheelAccelerator::Other(_)
            | WheelAccelerator::Unsaid => None,
        })
        .collect();
    versions.sort();
    versions.dedup();
    let mut majors: Vec<u32> = wheels()
        .flat_map(|wheel| match &wheel.accelerator {
            WheelAccelerator::RocmLibraries(majors) => majors.as_slice(),
            _ => &[],
        })
        .copied()
        .filter(|major| versions.iter().all(|version| version.major() != *major))
        .collect();
    majors.sort_unstable();
    majors.dedup();
    let named = versions.iter().map(ToString::to_string);
    named.chain(majors.iter().map(u32::to_string)).collect()
}

/// Returns whether the wheels have different values of a property.
fn differ<T: PartialEq>(
    wheels: &[&WheelCandidate],
    property: impl Fn(&WheelCandidate) -> &T,
) -> bool {
    wheels
        .windows(2)
        .any(|pair| property(pair[0]) != property(pair[1]))
}

#[cfg(test)]
mod tests {
    use rock_compat::Compat;

    use super::WheelPick;
    use crate::pick::{
        DetectedProperties, GfxCode, MachineOverrides, MachineProperty, PrereleaseMode,
        TargetMachine, WheelOffers, candidates,
    };

    fn pick(names: &[&str], machine: TargetMachine) -> WheelPick {
        let compat = Compat::embedded();
        let mut offers = WheelOffers::default();
        offers.add_names(names.iter().copied(), "https://example.org/");
        let wheels = candidates(offers.into_wheels(), &compat, PrereleaseMode::IfNecessary);
        WheelPick::new(wheels, machine, &compat)
    }

    fn machine(python: &str) -> TargetMachine {
        TargetMachine {
            distribution: Some("a".to_owned()),
            python: python.parse().ok(),
            ..TargetMachine::default()
        }
    }

    const NAMES: [&str; 2] = [
        "a-1+rocm6.2torch2.5-cp312-cp312-linux_x86_64.whl",
        "a-1+rocm6.2torch2.5-cp311-cp311-linux_x86_64.whl",
    ];

    #[test]
    fn a_wheel_that_fits_has_install_commands() {
        let pick = pick(&NAMES, machine("3.12"));
        assert_eq!(pick.wheel().unwrap().offer.file, NAMES[0]);
        let text = pick.text().unwrap();
        assert!(text.contains("pip install"), "{text}");
        assert!(pick.diagnostics().is_empty());
    }

    #[test]
    fn the_nearest_wheel_is_named_if_none_fits() {
        let pick = pick(&NAMES, machine("3.9"));
        assert_eq!(pick.text(), None);
        let errors = pick.diagnostics();
        assert_eq!(errors.len(), 1);
        assert!(errors[0].notes[0].starts_with("the nearest is a-1+rocm6.2"));
    }

    #[test]
    fn a_backend_that_no_wheel_has_is_named() {
        let requested = TargetMachine {
            backend: Some("triton".to_owned()),
            ..machine("3.12")
        };
        let errors = pick(&NAMES, requested).diagnostics();
        assert_eq!(
            errors[0].help.as_deref(),
            Some("no wheel has this backend; the published ones are `default`")
        );
    }

    #[test]
    fn no_other_gpu_is_suggested() {
        let compat = Compat::embedded();
        let mut offers = WheelOffers::default();
        offers.add_names([NAMES[0]], "https://example.org/");
        let mut wheels = candidates(offers.into_wheels(), &compat, PrereleaseMode::IfNecessary);
        wheels[0].gfx = GfxCode::Targets(vec!["gfx90a".to_owned(), "gfx942".to_owned()]);
        let machine = TargetMachine {
            gfx: ["gfx1103".to_owned()].into(),
            ..machine("3.12")
        };
        let errors = WheelPick::new(wheels, machine, &compat).diagnostics();
        assert_eq!(
            errors[0].help.as_deref(),
            Some(
                "the nearest wheel only has code for gfx90a, gfx942; build the wheel with \
                 `rock-matrix build` if the sources support gfx1103"
            )
        );
    }

    #[test]
    fn detected_properties_and_an_old_c_library_are_named() {
        let detected = [
            (MachineProperty::Rocm, "ROCm 5.2 (from `hipconfig`)"),
            (MachineProperty::Libc, "glibc 2.17"),
            (MachineProperty::Platform, "linux_x86_64"),
        ];
        let detected = detected.map(|(property, value)| (property, value.to_owned()));
        let machine = TargetMachine {
            rocm: "5.2".parse().ok(),
            platform: Some("linux_x86_64".to_owned()),
            libc: "glibc 2.17".parse().ok(),
            detected: DetectedProperties(detected.into()),
            ..machine("3.12")
        };
        let names = ["a-1+rocm6.2-cp312-cp312-manylinux_2_28_x86_64.whl"];
        let errors = pick(&names, machine.clone()).diagnostics();
        assert_eq!(
            errors[0].notes[1],
            "glibc 2.17 and ROCm 5.2 (from `hipconfig`) were detected on this machine; for others, \
             pass `--glibc` (or `--musl`) and `--rocm`, or compare only what is passed with \
             `--only-given`"
        );
        let given = machine.with_overrides(MachineOverrides {
            torch: "2.5.1+rocm5.2".parse().ok(),
            ..MachineOverrides::default()
        });
        let errors = pick(&names, given).diagnostics();
        assert_eq!(
            errors[0].notes[1],
            "glibc 2.17 was detected on this machine; for another one, pass `--glibc` (or \
             `--musl`), or compare only what is passed with `--only-given`"
        );
        let errors = pick(&names, machine_for("linux_aarch64")).diagnostics();
        assert_eq!(
            errors[0].notes[0],
            "linux_aarch64 was detected on this machine; for another one, pass `--platform`, or \
             compare only what is passed with `--only-given`"
        );
    }

    /// Returns a machine of which the platform was detected.
    fn machine_for(platform: &str) -> TargetMachine {
        let platform = platform.to_owned();
        TargetMachine {
            detected: DetectedProperties([(MachineProperty::Platform, platform.clone())].into()),
            platform: Some(platform),
            ..machine("3.12")
        }
    }

    #[test]
    fn an_old_c_library_and_rocm_are_named_in_the_help() {
        let machine = TargetMachine {
            rocm: "5.2".parse().ok(),
            platform: Some("linux_x86_64".to_owned()),
            libc: "glibc 2.17".parse().ok(),
            ..machine("3.12")
        };
        let names = ["a-1+rocm6.2-cp312-cp312-manylinux_2_28_x86_64.whl"];
        let errors = pick(&names, machine).diagnostics();
        assert_eq!(
            errors[0].help.as_deref(),
            Some(
                "use a system with glibc 2.28 or newer (glibc 2.17 is too old) and ROCm 6.2, or \
                 build the wheel with `rock-matrix build` if the sources support ROCm 5.2"
            )
        );
    }

    #[test]
    fn a_wheel_for_no_python_is_not_suggested() {
        let errors = pick(&["a-1-cp312-cp312-any.whl"], machine("3.12")).diagnostics();
        assert_eq!(
            errors[0].help.as_deref(),
            Some(
                "build the wheel with `rock-matrix build`; the tags of the nearest one match no \
                 Python version"
            )
        );
    }

    #[test]
    fn a_yanked_wheel_for_the_rocm_is_not_denied() {
        let compat = Compat::embedded();
        let mut offers = WheelOffers::default();
        let names = ["5.2", "6.2"].map(|rocm| format!("a-1+rocm{rocm}-py3-none-linux_x86_64.whl"));
        offers.add_names(names.iter().map(String::as_str), "https://example.org/");
        let mut wheels = candidates(offers.into_wheels(), &compat, PrereleaseMode::IfNecessary);
        let yanked = wheels.iter_mut().find(|wheel| wheel.offer.file == names[0]);
        yanked.unwrap().offer.yanked = Some("broken".to_owned());
        let machine = TargetMachine {
            rocm: "5.2".parse().ok(),
            ..machine("3.12")
        };
        let errors = WheelPick::new(wheels, machine, &compat).diagnostics();
        assert_eq!(
            errors[0].message,
            "every wheel of a that fits Python 3.12, ROCm 5.2 is yanked"
        );
    }

    #[test]
    fn a_yanked_wheel_that_is_near_is_named_if_none_fits() {
        let compat = Compat::embedded();
        let mut offers = WheelOffers::default();
        let names = ["cp311", "cp312"].map(|tag| format!("a-1-{tag}-{tag}-linux_x86_64.whl"));
        offers.add_names(names.iter().map(String::as_str), "https://example.org/");
        let mut wheels = candidates(offers.into_wheels(), &compat, PrereleaseMode::IfNecessary);
        let newer = wheels.iter_mut().find(|wheel| wheel.offer.file == names[1]);
        newer.unwrap().offer.yanked = Some("broken".to_owned());
        let notes = |python: &str| {
            let pick = WheelPick::new(wheels.clone(), machine(python), &compat);
            pick.diagnostics()[0].notes.join("\n")
        };
        let yanked = format!("{} does not fit either and is yanked: broken\n", names[1]);
        assert!(notes("3.13").starts_with(&yanked), "{}", notes("3.13"));
        assert!(!notes("3.10").contains("yanked"), "{}", notes("3.10"));
    }

    #[test]
    fn a_machine_without_torch_is_warned_of() {
        let without_torch = TargetMachine {
            has_no_torch: true,
            ..machine("3.12")
        };
        let warnings = pick(&NAMES, without_torch).diagnostics();
        assert_eq!(warnings[0].code.name, "no-torch");
    }
}
