//! Names of the packages of the ROCm SDK.

use rock_compat_tables::rows::SdkPackageRow;

use crate::Compat;

/// Name of the sdist that selects among the packages of the ROCm SDK.
pub const SDK_SELECTOR: &str = "rocm";

impl Compat {
    /// Returns whether a distribution belongs to the ROCm SDK. `distribution` is its normalized or
    /// escaped name.
    pub fn is_sdk_package(&self, distribution: &str) -> bool {
        // Most are not, which is known without the tables.
        if !distribution.starts_with(SDK_SELECTOR) {
            return false;
        }
        let name = distribution.replace('_', "-");
        name == SDK_SELECTOR
            || self
                .sdk_tables()
                .sdk_packages
                .iter()
                .any(|row| is_of_row(&name, row))
    }
}

/// Returns whether a name is that of the row, or begins with it, as for packages of one GPU family.
fn is_of_row(name: &str, row: &SdkPackageRow) -> bool {
    name.strip_prefix(row.distribution.as_str())
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use crate::Compat;

    #[test]
    fn packages_are_found_by_normalized_and_escaped_names() {
        let compat = Compat::embedded();
        for name in [
            "rocm",
            "rocm-sdk-core",
            "rocm_sdk_core",
            "rocm-sdk-libraries-gfx94x-dcgpu",
        ] {
            assert!(compat.is_sdk_package(name), "{name}");
        }
        for name in ["flash-attn", "rocm-other", "rocmlib", "torch"] {
            assert!(!compat.is_sdk_package(name), "{name}");
        }
    }
}
