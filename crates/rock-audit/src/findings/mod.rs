//! Findings about a wheel, each with its location.

mod contents;
mod copies;
mod devices;
mod gfx;
mod label;
mod label_words;
mod needed;
mod paths;
mod pypi;
mod python_tags;
mod rocm;
mod size;
mod split;
mod supported_targets;
mod tags;

pub use contents::ExpectedWheels;
pub use devices::DeviceWheels;
pub use gfx::{UnexpectedTargets, gfx_findings, unexpected_targets};
pub use label::TorchRequirement;
pub(crate) use label::is_torch_symbol;
pub(super) use label::torch_need;
pub(super) use paths::kept_entries;
pub use pypi::pypi_findings;
pub use python_tags::{check_python_tags, unfit_python_tag, unknown_python_tags};
pub use rocm::needed_rocm_majors;
use rocm::other_majors;
pub(super) use rocm::rocm_majors;
pub use size::check_size;
pub use split::{KpackLocation, SplitArchive, SplitCode, kpack_locations, missing_archives};
pub use supported_targets::supported_targets;
pub use tags::contradicts_claim;
pub(super) use tags::{notes_on_other_offenders, offenders, other_system};

use super::compliance::Compliance;
use super::inspect::{InspectedFile, libraries};
use super::library::ElfLibrary;
use super::locations::{in_member, in_wheel};
use super::pattern::LibraryPatterns;
use crate::codes::rocm as codes;
use rock_compat::Compat;
use rock_diagnostic::{Code, Diagnostic};
use rock_names::{ForeignSystem, LabelParts, WheelName};

/// The facts about a wheel that findings are derived from.
#[derive(Debug, Clone, Copy)]
pub(super) struct CheckContext<'a> {
    /// The file name of the wheel, for the locations of findings.
    pub file_name: &'a str,
    /// The name of the wheel.
    pub name: &'a WheelName,
    /// The files with machine code, sorted by path.
    pub files: &'a [InspectedFile],
    /// The evaluated policies; `None` for a wheel without libraries.
    pub compliance: Option<&'a Compliance>,
    /// The operating system that the name is for, if its wheels are not audited.
    pub foreign_system: Option<ForeignSystem>,
    /// Whether WHEEL has `Root-Is-Purelib: true`.
    pub is_purelib: bool,
    /// Whether the inspection searched for GPU code.
    pub scanned_code: bool,
    /// The compatibility data.
    pub compat: &'a Compat,
    /// Absolute RPATH entries that are not reported.
    pub allowed_rpaths: &'a LibraryPatterns,
}

/// Returns all findings about a wheel that need neither expectations nor other wheels.
pub(super) fn findings(context: CheckContext<'_>) -> Vec<Diagnostic> {
    let mut findings = tags::findings(context);
    findings.extend(paths::findings(context));
    findings.extend(needed::findings(context));
    findings.extend(rocm::findings(context));
    findings.extend(label::findings(context));
    if context.scanned_code {
        findings.extend(label::gfx_without_code(context));
    }
    findings.extend(gfx::findings(context));
    findings.extend(devices::findings(context));
    findings.extend(copies::findings(context));
    findings
}

/// Returns the findings about the local version label.
pub(super) fn findings_of_label(context: CheckContext<'_>) -> Vec<Diagnostic> {
    label::findings(context)
}

/// Removes a finding that another one reports in more detail: that a wheel with libraries says
/// `Root-Is-Purelib`.
pub(crate) fn remove_superseded(findings: &mut Vec<Diagnostic>) {
    if findings
        .iter()
        .any(|finding| finding.code == &codes::PURELIB_WITH_LIBRARIES)
    {
        findings.retain(|finding| finding.code != &rock_wheel::codes::wheel::PURELIB_MISMATCH);
    }
}

/// Adds to a finding about the first of several members that it is the same in the others.
pub(super) fn also_in<'m>(
    finding: Diagnostic,
    file_name: &str,
    members: impl IntoIterator<Item = &'m str>,
) -> Diagnostic {
    let others = members.into_iter().skip(1);
    finding.same_in_other_files(others.map(|member| in_member(file_name, member)).collect())
}

impl<'a> CheckContext<'a> {
    fn libraries(&self) -> impl Iterator<Item = (&'a str, &'a ElfLibrary)> + use<'a> {
        libraries(self.files)
    }

    fn on_wheel(&self, code: &'static Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, message).at(in_wheel(self.file_name), "")
    }

    fn on_member(
        &self,
        code: &'static Code,
        member: &str,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::new(code, message).at(in_member(self.file_name, member), "")
    }

    /// Returns whether a library belongs to a preset: other packages, such as ROCm and torch,
    /// provide it.
    fn comes_with_others(&self, name: &str) -> bool {
        let presets = &self.compat.library_tables().presets;
        presets.iter().any(|preset| {
            let patterns = preset.patterns.iter().map(String::as_str);
            LibraryPatterns::new(patterns).is_ok_and(|patterns| patterns.has(name))
        })
    }

    /// Returns the parsed label, if it consists of known parts.
    fn label(&self) -> Option<LabelParts> {
        let label = self.name.label()?;
        LabelParts::parse(&label, self.compat.rocm_versions())
            .ok()
            .map(|parsed| parsed.parts)
    }
}
