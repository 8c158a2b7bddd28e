//! Distribution names of device wheels.

use super::Compat;
use rock_names::{DistributionName, GfxTarget};

/// The distribution name of a device wheel, in its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevicePackage {
    /// The common prefix of the names of all device wheels of a host wheel, `amd-torch-device`.
    pub device: String,
    /// The gfx target or device bundle at the end of the name: `gfx942`, `gfx12-0`.
    pub bundle: String,
    /// The processors that the wheel may have code objects for.
    pub targets: Vec<String>,
}

impl DevicePackage {
    /// Returns whether the wheel is for a single target, so that the host wheel has an extra for it.
    pub fn is_of_one_target(&self) -> bool {
        self.targets.contains(&self.bundle)
    }

    /// Returns whether the wheel must have code objects for this target of a job: only if it is a
    /// wheel for this single target.
    pub fn must_hold(&self, target: &GfxTarget) -> bool {
        self.is_of_one_target() && self.bundle == target.processor()
    }
}

impl Compat {
    /// Returns the parts of the name of a device wheel, `amd-torch-device-gfx942`; `None` for the
    /// name of another distribution.
    pub fn device_package(&self, distribution: &str) -> Option<DevicePackage> {
        let normal = distribution.parse::<DistributionName>().ok()?.normalized();
        let (before, bundle) = normal.rsplit_once("-device-")?;
        let row = self
            .library_tables()
            .device_bundles
            .iter()
            .find(|row| row.bundle == bundle);
        let targets = match row {
            Some(row) => row
                .members
                .iter()
                .chain([&row.generic])
                .filter(|one| !one.is_empty())
                .cloned()
                .collect(),
            None => vec![bundle.parse::<GfxTarget>().ok()?.processor().to_owned()],
        };
        Some(DevicePackage {
            device: format!("{before}-device"),
            bundle: bundle.to_owned(),
            targets,
        })
    }

    /// Returns the distribution of the host wheel for a prefix of device wheels: `torch` for
    /// `amd-torch-device`.
    pub fn host_of_device(&self, device: &str) -> Option<&str> {
        self.library_tables()
            .device_wheels
            .iter()
            .find(|row| row.device == device)
            .map(|row| row.distribution.as_str())
    }
}

#[cfg(test)]
mod tests {
    use crate::Compat;

    #[test]
    fn names_of_device_wheels_have_their_targets() {
        let compat = Compat::embedded();
        let read = |name: &str| {
            compat
                .device_package(name)
                .map(|one| (one.device.clone(), one.targets.join(" ")))
        };
        let expected = |device: &str, targets: &str| Some((device.to_owned(), targets.to_owned()));
        assert_eq!(
            read("amd_torch_device_gfx942"),
            expected("amd-torch-device", "gfx942")
        );
        assert_eq!(
            read("rocm-sdk-device-gfx90a"),
            expected("rocm-sdk-device", "gfx90a")
        );
        assert_eq!(
            read("amd_torchvision_device_gfx12_0"),
            expected("amd-torchvision-device", "gfx1200 gfx1201 gfx12-generic")
        );
        let is_of_one = |name: &str| {
            compat
                .device_package(name)
                .map(|one| one.is_of_one_target())
        };
        assert_eq!(is_of_one("amd-torch-device-gfx1250"), Some(true));
        assert_eq!(is_of_one("amd-torch-device-gfx110x"), Some(false));
        assert_eq!(
            ["torch", "my-device-driver", "amd-torch-device"].map(read),
            [None, None, None]
        );
        assert_eq!(compat.host_of_device("amd-torch-device"), Some("torch"));
        assert_eq!(compat.host_of_device("rocm-sdk-device"), None);
    }
}
