//! Compares the gfx targets that a wheel has code for with those of its job.
//!
//! Input: the targets of the job, and those of the wheel's own code. Output: the missing targets,
//! as an error before publishing and as a warning for published wheels.

use std::collections::BTreeSet;

use super::{Asset, ReleaseDetails};
use crate::codes::release as codes;
use rock_codeobj::{CodeTarget, TargetDifference};
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Location, Severity, Sink};

/// The targets of a job for which a wheel has no code, although it has code for others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetShortfall {
    missing: Vec<CodeTarget>,
    held: BTreeSet<CodeTarget>,
}

impl TargetShortfall {
    /// Compares the code of a wheel of this distribution with the targets of its job. Returns
    /// `None` if no target is missing, or if the wheel has no GPU code.
    pub fn of(
        distribution: &str,
        planned: &[String],
        held: &[String],
        compat: &Compat,
    ) -> Option<Self> {
        let package = compat.device_package(distribution);
        let is_own = |target: &CodeTarget| {
            let must_hold = |gfx| {
                package
                    .as_ref()
                    .is_none_or(|package| package.must_hold(gfx))
            };
            target.gfx().is_some_and(must_hold)
        };
        let targets = |texts: &[String]| {
            texts
                .iter()
                .map(|text| CodeTarget::from_text(text))
                .collect::<BTreeSet<CodeTarget>>()
        };
        let (planned, held) = (
            targets(planned).into_iter().filter(is_own).collect(),
            targets(held),
        );
        let missing = TargetDifference::between(&planned, &held, &held).missing;
        (!missing.is_empty() && !held.is_empty()).then_some(Self { missing, held })
    }

    /// Returns a diagnostic with the missing targets in the message and the existing ones in a
    /// note.
    fn finding(&self, message: impl FnOnce(&str) -> String) -> Diagnostic {
        let list = |targets: &mut dyn Iterator<Item = &CodeTarget>| {
            targets
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        };
        let missing = list(&mut self.missing.iter());
        Diagnostic::new(&codes::PLANNED_TARGET_MISSING, message(&missing))
            .note(format!("all have code for {}", list(&mut self.held.iter())))
    }

    /// Returns a warning about a published wheel, which prevents another wheel with its name from
    /// being published.
    pub fn of_published(&self, name: &str, tag: &str) -> Diagnostic {
        let of_release = if tag.is_empty() {
            String::new()
        } else {
            format!(" of release `{tag}`")
        };
        self.finding(|missing| {
            format!(
                "at least one library of the published `{name}`{of_release} has no code for {missing}, \
                 which is planned"
            )
        })
        .severity(Severity::Warning)
        .at(Location::Argument("--published".to_owned()), "")
        .help(
            "it counts as published: build it from a plan without `--published`, and publish it \
             with `publish --replace`, or with its own build number from `wheel retag --build 1`",
        )
    }
}

/// Reports offered wheels that lack code for targets of their jobs, as notes if `is_allowed`. Skips
/// wheels whose code was not read, and packages of the ROCm SDK, each of which has only a part of
/// its code.
pub(crate) fn targets_against_plan(
    offered: &[Asset],
    details: &ReleaseDetails,
    is_allowed: bool,
    compat: &Compat,
    sink: &mut Sink,
) {
    for asset in offered.iter().filter(|asset| !asset.file.is_of_sdk) {
        let (Some(wheel), Some(planned), Some(read)) = (
            asset.wheel(),
            details.gfx.get(asset.name()),
            details.gfx_read(asset),
        ) else {
            continue;
        };
        let Some(shortfall) =
            TargetShortfall::of(wheel.distribution().as_str(), planned, read, compat)
        else {
            continue;
        };
        let finding = shortfall
            .finding(|missing| {
                format!(
                    "at least one library of `{}` has no code for {missing}, which its job builds for",
                    asset.name()
                )
            })
            .severity(if is_allowed {
                Severity::Note
            } else {
                Severity::Error
            })
            .at(Location::File(asset.shown.as_str().into()), "");
        sink.push(finding.help(format!(
            "build it for the targets of the plan, or publish it anyway with `--allow {}`",
            codes::PLANNED_TARGET_MISSING.id
        )));
    }
}

#[cfg(test)]
mod tests {
    use super::TargetShortfall;
    use rock_compat::Compat;

    fn missing(distribution: &str, planned: &str, held: &str) -> String {
        let words = |text: &str| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let found = TargetShortfall::of(
            distribution,
            &words(planned),
            &words(held),
            &Compat::embedded(),
        );
        found.map_or_else(String::new, |found| {
            found
                .missing
                .iter()
                .map(|target| format!("{target} "))
                .collect()
        })
    }

    #[test]
    fn targets_are_compared_whole_and_in_one_direction() {
        assert_eq!(missing("a", "gfx90a gfx1030", "gfx906"), "gfx90a gfx1030 ");
        assert_eq!(missing("a", "gfx90a", "gfx90a gfx942"), "");
        assert_eq!(missing("a", "gfx90a", ""), "", "no code for GPUs");
        assert_eq!(missing("a", "", "gfx90a"), "");
        assert_eq!(missing("a", "gfx90a:xnack+", "gfx90a"), "gfx90a:xnack+ ");
        assert_eq!(
            missing("a", "gfx90a:xnack-:sramecc+", "gfx90a:sramecc+:xnack-"),
            ""
        );
        assert_eq!(
            missing("a", "gfx1100 gfx11-generic", "gfx11-generic"),
            "gfx1100 "
        );
        assert_eq!(
            missing("amd_torch_device_gfx942", "gfx942 gfx1100", "gfx942"),
            ""
        );
        assert_eq!(
            missing("amd_torch_device_gfx942", "gfx942 gfx1100", "gfx1100"),
            "gfx942 "
        );
    }
}
