//! The version, the platform tag and the GPUs of the packages of a build.

use std::collections::BTreeSet;

use rock_compat::rows::FamilyRow;
use rock_diagnostic::{Diagnostic, Location};
use rock_names::{Platform, Version};

use crate::codes::sdk as codes;
use crate::python::BuildTargets;
use crate::{PackageKind, ResolvedLayout, SplitMode, TargetList, base_target};

/// The environment variable with the platform tag of wheels.
pub const PLATFORM_TAG_VARIABLE: &str = "ROCM_SDK_WHEEL_PLATFORM_TAG";

/// Returns the platform tag of wheels as filenames have it: `value`, which is that of
/// [`PLATFORM_TAG_VARIABLE`], or the tag of the platform.
///
/// # Errors
/// When the value is not a platform tag.
pub fn platform_tag(value: Option<&str>, platform: Platform) -> Result<String, Diagnostic> {
    let default = match platform {
        Platform::Linux => "linux_x86_64",
        Platform::Windows => "win_amd64",
    };
    let tag = value
        .filter(|text| !text.is_empty())
        .unwrap_or(default)
        .replace(['-', '.'], "_");
    if tag
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    {
        return Ok(tag);
    }
    let message = format!("`{}` is not a platform tag", tag.escape_debug());
    Err(Diagnostic::new(&codes::BAD_SDK_VERSION, message)
        .at(Location::Argument(PLATFORM_TAG_VARIABLE.to_owned()), "")
        .help("set it to a tag such as `manylinux_2_28_x86_64`, or unset it"))
}

/// Parses the suffix of the names of directories that Python imports.
///
/// # Errors
/// Returns the reason for which the text is not such a suffix.
pub fn parse_name_suffix(text: &str) -> Result<String, String> {
    if text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        Ok(text.to_owned())
    } else {
        Err("module names contain only letters, digits and `_`".to_owned())
    }
}

/// Returns the version of all packages: the requested one, or a development version of the ROCm in
/// the manifest of the build.
///
/// # Errors
/// When the version is unknown, or not a version in normal form.
pub fn package_version(
    requested: Option<&str>,
    layout: &ResolvedLayout,
) -> Result<String, Diagnostic> {
    let of_build = layout
        .rocm_version
        .as_ref()
        .map(|version| format!("{version}.dev0"));
    let Some(text) = requested.map(str::to_owned).or(of_build) else {
        let message = "no manifest of the build contains the version";
        return Err(Diagnostic::new(&codes::BAD_SDK_VERSION, message)
            .help("pass the version of the packages with `--version`"));
    };
    let (message, help) = match text.parse::<Version>() {
        Ok(version) if version.normalized() == text => return Ok(text),
        Ok(version) => {
            let normal = version.normalized();
            let message = format!("the normal form of `{text}` is `{normal}`");
            (message, format!("pass `{normal}` with `--version`"))
        }
        Err(error) => (
            error.to_string(),
            "pass one such as `7.10.0` or `7.10.0a20251120` with `--version`".to_owned(),
        ),
    };
    Err(Diagnostic::new(&codes::BAD_SDK_VERSION, message)
        .at(Location::Argument(format!("--version {text}")), "")
        .help(help))
}

/// The GPU targets and families that packages are requested for, by platform.
#[derive(Debug, Clone, Default)]
pub struct RequestedTargets {
    linux: TargetList,
    windows: TargetList,
}

impl RequestedTargets {
    /// Creates a request for both platforms. `gfx` replaces the list of the packages' platform, and
    /// a missing or empty list requests nothing.
    pub fn new(
        own: Platform,
        gfx: Option<&str>,
        linux: Option<&str>,
        windows: Option<&str>,
    ) -> Self {
        let list = |platform: Platform, option: &'static str, text: Option<&str>| match gfx {
            Some(gfx) if platform == own => TargetList::new(gfx),
            _ => TargetList::of_option(option, text.unwrap_or_default()),
        };
        Self {
            linux: list(Platform::Linux, "--linux-gfx", linux),
            windows: list(Platform::Windows, "--windows-gfx", windows),
        }
    }

    /// Returns the list for a platform.
    pub fn list(&self, platform: Platform) -> &TargetList {
        match platform {
            Platform::Linux => &self.linux,
            Platform::Windows => &self.windows,
        }
    }

    /// Returns the GPUs that packages of a layout are built for. `own` is the platform of the
    /// packages; those for the other platform are listed in the selector package.
    ///
    /// # Errors
    /// When a requested family is unknown, or a requested target of this platform has no artifacts.
    pub fn resolve(
        &self,
        layout: &ResolvedLayout,
        own: Platform,
        families: &[FamilyRow],
    ) -> Result<BuildTargets, Diagnostic> {
        let kind = match layout.mode {
            SplitMode::Kpack => PackageKind::Device,
            SplitMode::Legacy => PackageKind::Libraries,
        };
        let packages = layout.packages.iter();
        let found: BTreeSet<String> = packages
            .filter(|package| package.kind == kind)
            .filter_map(|package| package.made_for.clone())
            .collect();
        let expand = |platform: Platform| {
            let list = self.list(platform);
            if layout.mode == SplitMode::Kpack {
                return Ok::<_, Diagnostic>(list.expand(families)?.into_iter().collect());
            }
            // Artifacts may be for GPUs that the compatibility tables do not have yet. There are no
            // artifacts for the other platform.
            let is_unknown = |word: &str| platform != own && !found.contains(base_target(word));
            list.expand_some(families, is_unknown)?;
            Ok(list.base_targets())
        };
        let mut linux: BTreeSet<String> = expand(Platform::Linux)?;
        let mut windows: BTreeSet<String> = expand(Platform::Windows)?;
        if linux.is_empty() && windows.is_empty() {
            return Ok(BuildTargets::found(found));
        }
        let own = match own {
            Platform::Linux => &mut linux,
            Platform::Windows => &mut windows,
        };
        // If GPUs were requested for the other platform only, this one has all that have artifacts.
        if own.is_empty() {
            own.clone_from(&found);
        }
        check_artifacts(own, &found)?;
        Ok(BuildTargets::requested(linux, windows))
    }
}

/// Checks that each requested target has artifacts.
fn check_artifacts(
    requested: &BTreeSet<String>,
    found: &BTreeSet<String>,
) -> Result<(), Diagnostic> {
    let missing: Vec<&str> = requested.difference(found).map(String::as_str).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let present: Vec<&str> = found.iter().map(String::as_str).collect();
    let present = if present.is_empty() {
        "none".to_owned()
    } else {
        present.join(", ")
    };
    let message = format!("there are no artifacts for {}", missing.join(", "));
    Err(Diagnostic::new(&codes::MISSING_TARGETS, message)
        .note(format!("artifacts exist for {present}"))
        .help("fetch the missing artifacts, or request other GPUs"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{RequestedTargets, package_version, parse_name_suffix, platform_tag};
    use crate::{ArtifactSet, PackageKind, ResolvedLayout, RuntimePackage, SplitMode};
    use rock_compat::Compat;
    use rock_names::Platform;

    /// Returns a layout with device packages for two targets.
    fn layout(rocm_version: Option<&str>) -> ResolvedLayout {
        let package = |target: &str| RuntimePackage {
            kind: PackageKind::Device,
            made_for: Some(target.to_owned()),
            distribution: format!("rocm-sdk-device-{target}"),
            directory: "_rocm_sdk_libraries".to_owned(),
            files: BTreeMap::new(),
            dropped: BTreeMap::new(),
        };
        ResolvedLayout {
            artifacts: ArtifactSet::default(),
            mode: SplitMode::Kpack,
            rocm_version: rocm_version.map(str::to_owned),
            packages: ["gfx1100", "gfx942"].map(package).to_vec(),
            devel: Vec::new(),
        }
    }

    #[test]
    fn the_version_is_the_requested_one_or_that_of_the_build() {
        let version = |requested: Option<&str>, rocm: Option<&str>| {
            package_version(requested, &layout(rocm)).map_err(|error| error.message)
        };
        assert_eq!(version(None, Some("7.10.0")).unwrap(), "7.10.0.dev0");
        assert_eq!(
            version(Some("7.11.0a1"), Some("7.10.0")).unwrap(),
            "7.11.0a1"
        );
        assert_eq!(
            version(Some("7.10.0-rc1"), None).unwrap_err(),
            "the normal form of `7.10.0-rc1` is `7.10.0rc1`"
        );
        assert_eq!(
            version(None, None).unwrap_err(),
            "no manifest of the build contains the version"
        );
    }

    #[test]
    fn tags_and_suffixes_are_checked() {
        let tag = |value| platform_tag(value, Platform::Linux).map_err(|error| error.message);
        assert_eq!(tag(None).unwrap(), "linux_x86_64");
        assert_eq!(
            tag(Some("manylinux-2.28-x86_64")).unwrap(),
            "manylinux_2_28_x86_64"
        );
        assert_eq!(tag(Some("x y")).unwrap_err(), "`x y` is not a platform tag");
        assert!(parse_name_suffix("_7_10").is_ok() && parse_name_suffix("7.10").is_err());
    }

    #[test]
    fn targets_are_those_with_artifacts_or_the_requested_ones() {
        let compat = Compat::embedded();
        let resolve = |linux: &str, windows: &str| {
            RequestedTargets::new(Platform::Linux, None, Some(linux), Some(windows))
                .resolve(&layout(None), Platform::Linux, &compat.tables().families)
                .map(|targets| (targets.available.join(" "), targets.default))
                .map_err(|error| error.message)
        };
        let targets =
            |available: &str, default: &str| Ok((available.to_owned(), default.to_owned()));
        assert_eq!(resolve("", ""), targets("gfx1100 gfx942", "gfx1100"));
        assert_eq!(resolve("gfx94X-dcgpu", ""), targets("gfx942", "gfx942"));
        assert_eq!(
            resolve("", "gfx1101"),
            targets("gfx1100 gfx1101 gfx942", "gfx1100")
        );
        let missing = "there are no artifacts for gfx1101".to_owned();
        assert_eq!(resolve("gfx1101", ""), Err(missing));
    }

    /// `--gfx` is the list of the packages' platform.
    #[test]
    fn an_unknown_family_is_reported_with_its_option() {
        let compat = Compat::embedded();
        let families = &compat.tables().families;
        let word = Some("gfx12");
        for (gfx, linux, windows, location) in [
            (word, None, None, "argument `--gfx gfx12`"),
            (None, word, None, "argument `--linux-gfx gfx12`"),
            (None, None, word, "argument `--windows-gfx gfx12`"),
        ] {
            let request = RequestedTargets::new(Platform::Linux, gfx, linux, windows);
            let resolved = request.resolve(&layout(None), Platform::Linux, families);
            let error = resolved.err().unwrap();
            assert_eq!(error.labels[0].location.to_string(), location);
        }
    }
}
