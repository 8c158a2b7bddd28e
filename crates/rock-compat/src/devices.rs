//! Names of wheels that hold the code for GPUs of another wheel.

use super::Compat;
use rock_names::{DistributionName, GfxTarget};

/// A wheel that holds nothing but code for GPUs, by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DevicePackage {
    /// Common prefix of the names of the device wheels of its host wheel, `amd-torch-device`.
    pub device: String,
    /// The target, or the word for several, at the end of its name: `gfx942`, `gfx12-0`.
    pub bundle: String,
    /// The processors that it may hold code for.
    pub targets: Vec<String>,
}

impl DevicePackage {
    /// Whether it is for one target, so that the host wheel has an extra for it.
    pub fn is_of_one_target(&self) -> bool {
        self.targets.contains(&self.bundle)
    }

    /// Returns whether it must hold code for this target of a job: a device wheel has the code of
    /// its own target alone.
    pub fn must_hold(&self, target: &GfxTarget) -> bool {
        self.is_of_one_target() && self.bundle == target.processor()
    }
}

impl Compat {
    /// Returns the targets that a distribution is for by its name, `amd-torch-device-gfx942`;
    /// `None` where it names none.
    pub fn device_package(&self, distribution: &str) -> Option<DevicePackage> {
        let normal = distribution.parse::<DistributionName>().ok()?.normalized();
        let (before, bundle) = normal.rsplit_once("-device-")?;
        let row = self
            .tables()
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

    /// Returns the distribution whose code device wheels of this name hold, `torch` for
    /// `amd-torch-device`.
    pub fn host_of_device(&self, device: &str) -> Option<&str> {
        self.tables()
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
    fn names_of_device_wheels_say_their_targets() {
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
