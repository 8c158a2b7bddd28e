//! Device wheels, which hold only code for GPUs, and the host wheels that require them.

use std::collections::BTreeSet;

use super::split::SplitCode;
use super::{CheckContext, also_in};
use crate::codes::rocm as codes;
use crate::inspect::InspectedFile;
use rock_codeobj::CodeTarget;
use rock_compat::Compat;
use rock_diagnostic::Diagnostic;
use rock_names::{DistributionName, Requirement, WheelName};
use rock_wheel::HeaderDocument;

/// Device wheels of a host wheel, as its METADATA names them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceWheels {
    /// The normalized distribution names.
    pub distributions: BTreeSet<String>,
    /// The targets and target families at the end of the names.
    pub bundles: BTreeSet<String>,
    /// The targets for which there is a device wheel.
    pub targets: BTreeSet<CodeTarget>,
    /// A requirement that installs one with the host wheel, `torch[device-gfx942]`, if METADATA has
    /// such an extra.
    pub example: Option<String>,
}

impl DeviceWheels {
    /// Reads METADATA of a host wheel; empty for other wheels. Device packages of other
    /// distributions, such as those of the ROCm SDK, contain no code of this wheel and do not count.
    pub fn new(metadata: &HeaderDocument, compat: &Compat) -> Self {
        let mut devices = Self::default();
        let own_name = metadata
            .get("Name")
            .and_then(|name| name.parse::<DistributionName>().ok());
        let own_name = own_name.map(|name| name.normalized());
        let names = metadata
            .get_all("Requires-Dist")
            .filter_map(|text| text.parse::<Requirement>().ok());
        let mut first = None;
        for name in names.map(|requirement| requirement.name().to_owned()) {
            let Some(package) = compat.device_package(&name) else {
                continue;
            };
            if compat.host_of_device(&package.device) != own_name.as_deref() || own_name.is_none() {
                continue;
            }
            devices.bundles.insert(package.bundle.clone());
            if package.is_of_one_target() {
                devices
                    .targets
                    .insert(CodeTarget::from_text(&package.bundle));
                first.get_or_insert(format!("device-{}", package.bundle));
            }
            devices.distributions.insert(name);
        }
        let example = first
            .filter(|extra: &String| {
                metadata
                    .get_all("Provides-Extra")
                    .any(|provided| provided == extra.as_str())
            })
            .zip(metadata.get("Name"));
        devices.example = example.map(|(extra, name)| format!("{name}[{extra}]"));
        devices
    }

    fn has(&self, wheel: &str) -> bool {
        let name = wheel
            .rsplit('/')
            .next()
            .and_then(|file| file.parse::<WheelName>().ok());
        name.is_some_and(|name| {
            let project = name.distribution().normalized();
            self.distributions.contains(&project)
        })
    }
}

/// Returns the device wheels of a host wheel if none of them is among these wheels: their contents
/// are unknown.
pub(super) fn elsewhere<'w>(
    wheel: &'w SplitCode,
    wheels: &[SplitCode],
) -> Option<&'w DeviceWheels> {
    let devices = &wheel.devices;
    let is_there = wheels.iter().any(|other| devices.has(&other.wheel));
    (!devices.distributions.is_empty() && !is_there).then_some(devices)
}

/// Reports code in a device wheel for targets other than that in its name.
pub(super) fn findings(context: CheckContext<'_>) -> Option<Diagnostic> {
    let package = context
        .compat
        .device_package(context.name.distribution().as_str())?;
    let with_others: Vec<(&str, Vec<String>)> = context
        .files
        .iter()
        .map(|file| (file.path.as_str(), other_targets(file, &package.targets)))
        .filter(|(_, others)| !others.is_empty())
        .collect();
    let (path, others) = with_others.first()?;
    let message = format!(
        "the name of the wheel says {}, but this code is for {}",
        package.bundle,
        others.join(", ")
    );
    let finding = context.on_member(&codes::OTHER_DEVICE_CODE, path, message);
    let help = "split the host wheel again: code for a target belongs in the device wheel that is \
                named after it";
    let paths = with_others.iter().map(|(path, _)| *path);
    Some(also_in(finding, context.file_name, paths).help(help))
}

/// Returns the targets of a file whose processors, `gfx942` of `gfx942:xnack+`, are not among these.
fn other_targets(file: &InspectedFile, targets: &[String]) -> Vec<String> {
    file.inventory
        .targets()
        .into_keys()
        .map(|target| target.to_string())
        .filter(|text| {
            !targets
                .iter()
                .any(|known| Some(known.as_str()) == text.split(':').next())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::DeviceWheels;
    use rock_compat::Compat;
    use rock_wheel::HeaderDocument;

    #[test]
    fn device_packages_of_other_distributions_do_not_count() {
        let read = |name: &str, requires: &[&str]| {
            let requires = requires
                .iter()
                .map(|text| format!("Requires-Dist: {text}\n"))
                .collect::<String>();
            let text = format!("Metadata-Version: 2.1\nName: {name}\nVersion: 1\n{requires}");
            DeviceWheels::new(
                &HeaderDocument::parse(text.into_bytes()),
                &Compat::embedded(),
            )
            .bundles
        };
        let requires = [
            "rocm-sdk-device-gfx942==7.14",
            "amd-torch-device-gfx942==1; extra == 'device-gfx942'",
        ];
        assert_eq!(
            read("torch", &requires).into_iter().collect::<Vec<_>>(),
            ["gfx942"]
        );
        for other in ["torchvision", "amd-torch-device-gfx942", "own"] {
            assert!(read(other, &requires).is_empty(), "{other}");
        }
    }
}
