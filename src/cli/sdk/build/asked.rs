//! The version, the platform tag and the GPUs of a build, from options and the environment.

use std::collections::BTreeSet;

use super::Args;
use crate::cli::sdk::targets::unknown_families;
use crate::codes::sdk as codes;
use crate::compat::Compat;
use crate::config::Platform;
use crate::diagnostic::{Diagnostic, Location};
use crate::names::Version;
use crate::sdk::python::BuildTargets;
use crate::sdk::{self, PackageKind, ResolvedLayout, SplitMode};

/// The environment variable with the platform tag of wheels.
pub(super) const TAG: &str = "ROCM_SDK_WHEEL_PLATFORM_TAG";

/// Returns the platform tag of wheels as filenames have it: `value`, or the tag of the platform.
pub(super) fn platform_tag(value: Option<&str>, platform: Platform) -> Result<String, Diagnostic> {
    let tag = value
        .filter(|text| !text.is_empty())
        .unwrap_or(match platform {
            Platform::Linux => "linux_x86_64",
            Platform::Windows => "win_amd64",
        });
    let tag = tag.replace(['-', '.'], "_");
    if tag
        .chars()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    {
        return Ok(tag);
    }
    Err(Diagnostic::new(
        &codes::BAD_SDK_VERSION,
        format!("`{}` is not a platform tag", tag.escape_debug()),
    )
    .at(Location::Argument(TAG.to_owned()), "")
    .help("set it to a tag such as `manylinux_2_28_x86_64`, or unset it"))
}

/// Parses the suffix of directories that Python imports.
pub(super) fn suffix(text: &str) -> Result<String, String> {
    let is_suffix = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_suffix {
        Ok(text.to_owned())
    } else {
        Err("module names contain only letters, digits and `_`".to_owned())
    }
}

impl Args {
    /// Returns the version of all packages.
    pub(super) fn version(&self, layout: &ResolvedLayout) -> Result<String, Diagnostic> {
        let of_build = || {
            layout
                .rocm_version
                .as_ref()
                .map(|version| format!("{version}.dev0"))
        };
        let Some(text) = self.version.clone().or_else(of_build) else {
            return Err(Diagnostic::new(
                &codes::BAD_SDK_VERSION,
                "no manifest of the build contains the version",
            )
            .help("pass it with `--version`"));
        };
        let invalid = |message: String, help: String| {
            let place = Location::Argument(format!("--version {text}"));
            Diagnostic::new(&codes::BAD_SDK_VERSION, message)
                .at(place, "")
                .help(help)
        };
        match text.parse::<Version>() {
            Ok(version) if version.normalized() == text => Ok(text),
            Ok(version) => {
                let normal = version.normalized();
                Err(invalid(
                    format!("the normal form of `{text}` is `{normal}`"),
                    format!("give `--version {normal}`"),
                ))
            }
            Err(error) => Err(invalid(
                error.to_string(),
                "give one such as `7.10.0` or `7.10.0a20251120`".to_owned(),
            )),
        }
    }

    /// Returns the GPUs that packages are built for.
    ///
    /// # Errors
    /// If a requested family is unknown, or a requested target of this platform has no artifacts.
    pub(super) fn gpus(
        &self,
        layout: &ResolvedLayout,
        compat: &Compat,
    ) -> Result<BuildTargets, Vec<Diagnostic>> {
        let kind = match layout.mode {
            SplitMode::Kpack => PackageKind::Device,
            SplitMode::Legacy => PackageKind::Libraries,
        };
        let packages = layout
            .layout
            .packages
            .iter()
            .filter(|package| package.kind == kind);
        let found: BTreeSet<String> = packages
            .filter_map(|package| package.made_for.clone())
            .collect();
        let families = self.families.read(compat)?;
        let own = self.layout.platform;
        let requested = |platform: Platform| {
            let (option, list) = self.requested(platform);
            // Artifacts may be for GPUs that the compatibility tables do not have yet. There are no
            // artifacts for the other platform.
            let is_known = |word: &str| platform == own || found.contains(sdk::base_target(word));
            let looked_up = match layout.mode {
                SplitMode::Legacy => sdk::words(list)
                    .filter(|word| !is_known(word))
                    .collect::<Vec<_>>()
                    .join(","),
                SplitMode::Kpack => list.to_owned(),
            };
            let expanded = sdk::expand(&looked_up, &families).map_err(|unknown| {
                vec![unknown_families(
                    &unknown,
                    &format!("{option} {list}"),
                    &families,
                )]
            })?;
            Ok::<BTreeSet<String>, Vec<Diagnostic>>(match layout.mode {
                SplitMode::Legacy => sdk::words(list)
                    .map(sdk::base_target)
                    .map(str::to_owned)
                    .collect(),
                SplitMode::Kpack => expanded.into_iter().collect(),
            })
        };
        let (mut linux, mut windows) = (requested(Platform::Linux)?, requested(Platform::Windows)?);
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
        let missing: Vec<&str> = own
            .iter()
            .filter(|target| !found.contains(*target))
            .map(String::as_str)
            .collect();
        if !missing.is_empty() {
            let present: Vec<&str> = found.iter().map(String::as_str).collect();
            let message = format!("there are no artifacts for {}", missing.join(", "));
            return Err(vec![
                Diagnostic::new(&codes::MISSING_TARGETS, message)
                    .note(format!(
                        "artifacts exist for {}",
                        if present.is_empty() {
                            "none".to_owned()
                        } else {
                            present.join(", ")
                        }
                    ))
                    .help("fetch the missing artifacts, or request other GPUs"),
            ]);
        }
        Ok(BuildTargets::asked(linux, windows))
    }

    /// Returns the families that are requested for the platform of the packages.
    pub(super) fn own_families(&self) -> BTreeSet<String> {
        sdk::words(self.requested(self.layout.platform).1)
            .map(sdk::base_target)
            .map(str::to_owned)
            .collect()
    }

    /// Returns the option that requests GPUs for a platform, and its value.
    fn requested(&self, platform: Platform) -> (&'static str, &str) {
        if let Some(list) = &self.gfx
            && platform == self.layout.platform
        {
            return ("--gfx", list.as_str());
        }
        let (option, list) = match platform {
            Platform::Linux => ("--linux-gfx", &self.linux_gfx),
            Platform::Windows => ("--windows-gfx", &self.windows_gfx),
        };
        (option, list.as_deref().unwrap_or_default())
    }
}
