//! Wheels that hold nothing but code for GPUs, and host wheels whose code lies in such.

use std::collections::BTreeSet;

use super::split::SplitCode;
use super::{Subject, also_in};
use crate::codeobj::Target;
use crate::compat::Compat;
use crate::diagnostic::Diagnostic;
use crate::diagnostic::registry::rocm as codes;
use crate::names::{DistributionName, Requirement, WheelName};
use crate::wheel::Headers;

/// Wheels beside a host wheel that hold its code for GPUs, as its METADATA names them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceWheels {
    /// Their distributions, in normal form.
    pub distributions: BTreeSet<String>,
    /// The targets that there is one for.
    pub targets: BTreeSet<Target>,
    /// A requirement that installs one with the host wheel, `torch[device-gfx942]`, where METADATA has an extra for it.
    pub example: Option<String>,
}

impl DeviceWheels {
    /// Reads METADATA of a host wheel; empty for other wheels.
    pub fn new(metadata: &Headers, compat: &Compat) -> Self {
        let mut found = Self::default();
        let names = metadata.all("Requires-Dist").filter_map(|text| text.parse::<Requirement>().ok());
        let mut first = None;
        for name in names.map(|requirement| requirement.name().to_owned()) {
            let Some(package) = compat.device_package(&name) else { continue };
            if package.is_of_one_target() {
                found.targets.insert(Target::from_text(&package.bundle));
                first.get_or_insert(format!("device-{}", package.bundle));
            }
            found.distributions.insert(name);
        }
        let has_extra = |extra: &String| metadata.all("Provides-Extra").any(|one| one == extra.as_str());
        let example = first.filter(has_extra).zip(metadata.get("Name"));
        found.example = example.map(|(extra, name)| format!("{name}[{extra}]"));
        found
    }

    fn has(&self, wheel: &str) -> bool {
        let name = wheel.rsplit('/').next().and_then(|file| file.parse::<WheelName>().ok());
        let distribution = name.and_then(|name| name.distribution.parse::<DistributionName>().ok());
        distribution.is_some_and(|one| self.distributions.contains(&one.normalized()))
    }
}

/// The device wheels of a host wheel, where none of them is among these wheels: what they hold is not known.
pub(super) fn elsewhere<'w>(wheel: &'w SplitCode, wheels: &[SplitCode]) -> Option<&'w DeviceWheels> {
    let devices = &wheel.devices;
    let is_there = || wheels.iter().any(|one| devices.has(&one.wheel));
    (!devices.distributions.is_empty() && !is_there()).then_some(devices)
}

/// Code in a device wheel for other targets than its name says.
pub(super) fn findings(subject: Subject<'_>) -> Option<Diagnostic> {
    let package = subject.compat.device_package(&subject.name.distribution)?;
    let is_other = |target: &Target| {
        let text = target.to_string();
        !package.targets.iter().any(|known| Some(known.as_str()) == text.split(':').next())
    };
    let others = |file: &super::FileFacts| -> Vec<String> {
        file.inventory.targets().into_keys().filter(is_other).map(|target| target.to_string()).collect()
    };
    let mut with_others =
        subject.files.iter().map(|file| (file, others(file))).filter(|(_, others)| !others.is_empty());
    let (file, others) = with_others.next()?;
    let message = format!("the name of the wheel says {}, and this is for {}", package.bundle, others.join(", "));
    let finding = subject.on_member(&codes::OTHER_DEVICE_CODE, &file.path, message);
    let help = "split the host wheel again: code for a target goes into the device wheel that is named for it";
    Some(also_in(finding, 1 + with_others.count()).help(help))
}
