//! What a build is asked for: the version, the platform tag and the GPUs.

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

/// What the platform tag of wheels is set by.
pub(super) const TAG: &str = "ROCM_SDK_WHEEL_PLATFORM_TAG";

/// The platform tag of wheels: what the environment says, in the form of file names.
pub(super) fn platform_tag(said: Option<&str>, platform: Platform) -> Result<String, Diagnostic> {
    let tag = said
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
        format!("`{}` is no platform tag", tag.escape_debug()),
    )
    .at(Location::Argument(TAG.to_owned()), "")
    .help("set it to one such as `manylinux_2_28_x86_64`, or take it out of the environment"))
}

/// The ending of names of folders that Python imports.
pub(super) fn suffix(text: &str) -> Result<String, String> {
    let is_one = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_one {
        Ok(text.to_owned())
    } else {
        Err("names of modules have letters, digits and `_`".to_owned())
    }
}

impl Args {
    /// The version of all packages.
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
                "no manifest of the build says which version this is",
            )
            .help("give it with `--version`"));
        };
        let fault = |message: String, help: String| {
            let place = Location::Argument(format!("--version {text}"));
            Diagnostic::new(&codes::BAD_SDK_VERSION, message)
                .at(place, "")
                .help(help)
        };
        match text.parse::<Version>() {
            Ok(version) if version.normalized() == text => Ok(text),
            Ok(version) => {
                let normal = version.normalized();
                Err(fault(
                    format!("installers write `{text}` as `{normal}`"),
                    format!("give `--version {normal}`"),
                ))
            }
            Err(error) => Err(fault(
                error.to_string(),
                "give one such as `7.10.0` or `7.10.0a20251120`".to_owned(),
            )),
        }
    }

    /// What packages are for. Where families were asked for, every target of this platform must
    /// have artifacts.
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
        let asked = |platform: Platform| {
            let (option, said) = self.said(platform);
            // What there are packages for may be of a later ROCm than the facts; of the other
            // system nothing is here.
            let is_known = |word: &str| platform == own || found.contains(sdk::base_target(word));
            let looked_up = match layout.mode {
                SplitMode::Legacy => sdk::words(said)
                    .filter(|word| !is_known(word))
                    .collect::<Vec<_>>()
                    .join(","),
                SplitMode::Kpack => said.to_owned(),
            };
            let expanded = sdk::expand(&looked_up, &families).map_err(|unknown| {
                vec![unknown_families(
                    &unknown,
                    &format!("{option} {said}"),
                    &families,
                )]
            })?;
            Ok::<BTreeSet<String>, Vec<Diagnostic>>(match layout.mode {
                SplitMode::Legacy => sdk::words(said)
                    .map(sdk::base_target)
                    .map(str::to_owned)
                    .collect(),
                SplitMode::Kpack => expanded.into_iter().collect(),
            })
        };
        let (mut linux, mut windows) = (asked(Platform::Linux)?, asked(Platform::Windows)?);
        if linux.is_empty() && windows.is_empty() {
            return Ok(BuildTargets::found(found));
        }
        let own = match own {
            Platform::Linux => &mut linux,
            Platform::Windows => &mut windows,
        };
        // Where only the other system's are asked for, this one has what there are packages for.
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
                        "there are some for {}",
                        if present.is_empty() {
                            "none".to_owned()
                        } else {
                            present.join(", ")
                        }
                    ))
                    .help("fetch theirs, or ask for other families"),
            ]);
        }
        Ok(BuildTargets::asked(linux, windows))
    }

    /// The families of the platform that packages are made for, as they were asked for.
    pub(super) fn own_families(&self) -> BTreeSet<String> {
        sdk::words(self.said(self.layout.platform).1)
            .map(sdk::base_target)
            .map(str::to_owned)
            .collect()
    }

    /// The option for the families of a platform, and what it says.
    fn said(&self, platform: Platform) -> (&'static str, &str) {
        let (option, said) = match platform {
            Platform::Linux => ("--linux-amdgpu-families", &self.linux_amdgpu_families),
            Platform::Windows => ("--windows-amdgpu-families", &self.windows_amdgpu_families),
        };
        (option, said.as_deref().unwrap_or_default())
    }
}
