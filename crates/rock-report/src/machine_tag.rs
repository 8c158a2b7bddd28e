//! The platform of a wheel, for grouping and headings.

use std::fmt;

use rock_names::Platform;
use rock_names::{WheelName, plain_linux_tag};

/// A platform tag without a glibc version, `linux_x86_64`; `any` for wheels that run on all
/// platforms. `any` sorts last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineTag(String);

/// The platform tag of a wheel that runs everywhere.
const ANY: &str = "any";

impl MachineTag {
    /// Returns the platform of a wheel. Tags of one platform for different glibc versions give the
    /// same result.
    pub fn of(name: &WheelName) -> Self {
        Self::of_tag(
            name.platform_tags()
                .as_slice()
                .first()
                .map_or(ANY, String::as_str),
        )
    }

    /// Returns the platform of a platform tag.
    pub(super) fn of_tag(tag: &str) -> Self {
        Self(plain_linux_tag(tag))
    }

    /// Returns the platform that a job builds for: that of its wheel, or of its matrix if the wheel
    /// runs everywhere.
    pub fn planned(name: &WheelName, platform: Platform) -> Self {
        let of_wheel = Self::of(name);
        match platform {
            _ if !of_wheel.is_any() => of_wheel,
            Platform::Linux => Self("linux_x86_64".to_owned()),
            Platform::Windows => Self("win_amd64".to_owned()),
        }
    }

    /// Returns the platform of a matrix without jobs.
    pub fn of_platform(platform: Platform) -> Self {
        match platform {
            Platform::Linux => Self("linux_x86_64".to_owned()),
            Platform::Windows => Self("win_amd64".to_owned()),
        }
    }

    /// Whether it stands for all platforms.
    pub fn is_any(&self) -> bool {
        self.0 == ANY
    }

    /// Returns the text for headings.
    pub fn title(&self) -> String {
        let parts = [
            ("linux_", "Linux"),
            ("musllinux_", "Linux with musl"),
            ("win_", "Windows"),
            ("win32", "Windows 32-bit"),
            ("macosx_", "macOS"),
        ];
        if self.is_any() {
            return "Any platform".to_owned();
        }
        let Some((prefix, system)) = parts.iter().find(|(prefix, _)| self.0.starts_with(prefix))
        else {
            return self.0.clone();
        };
        match &self.0[prefix.len()..] {
            "x86_64" | "amd64" => format!("{system} x86-64"),
            "aarch64" | "arm64" => format!("{system} AArch64"),
            "" => (*system).to_owned(),
            other => format!("{system} {other}"),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MachineTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Ord for MachineTag {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.is_any(), &self.0).cmp(&(other.is_any(), &other.0))
    }
}

impl PartialOrd for MachineTag {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::MachineTag;
    use rock_names::Platform;

    #[test]
    fn repair_changes_a_tag_and_not_the_machine() {
        let title =
            |tag: &str| MachineTag::of(&format!("a-1-py3-none-{tag}.whl").parse().unwrap()).title();
        for tag in [
            "linux_x86_64",
            "manylinux_2_28_x86_64",
            "manylinux_2_24_x86_64.manylinux_2_28_x86_64",
        ] {
            assert_eq!(title(tag), "Linux x86-64");
        }
        assert_eq!(title("win_amd64"), "Windows x86-64");
        assert_eq!(title("manylinux_2_28_aarch64"), "Linux AArch64");
        assert_eq!(title("any"), "Any platform");
        assert_eq!(title("plan9_mips"), "plan9_mips");
    }

    #[test]
    fn a_wheel_for_everything_is_planned_for_the_platform_of_its_matrix_and_sorts_last() {
        let any = "a-1-py3-none-any.whl".parse().unwrap();
        assert_eq!(
            MachineTag::planned(&any, Platform::Windows).as_str(),
            "win_amd64"
        );
        assert!(MachineTag::of(&any) > MachineTag::planned(&any, Platform::Windows));
    }
}
