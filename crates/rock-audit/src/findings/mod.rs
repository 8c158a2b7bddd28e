//! What a person should know about a wheel, each with its place.

mod contents;
mod copies;
mod devices;
mod gfx;
mod label;
mod needed;
mod paths;
mod rocm;
mod size;
mod split;
mod tags;
mod words;

pub use contents::{Expected, features};
pub use devices::DeviceWheels;
pub use gfx::{file_findings, unexpected};
pub(super) use label::torch_need;
pub use label::{TorchNeed, is_of_torch};
use rocm::other_majors;
pub(super) use rocm::rocm_majors;
pub use size::too_large;
pub use split::{Archive, SplitArchive, SplitCode, archives_of, missing_archives};
pub use tags::contradicts_claim;
pub(super) use tags::{offenders, other_system};

use super::inspect::{FileFacts, libraries};
use super::library::Library;
use super::tree::Excludes;
use super::verdict::Verdict;
use rock_compat::Compat;
use rock_diagnostic::{Code, Diagnostic, Location, counted};
use rock_names::{LabelParts, WheelName};

/// What findings are made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a> {
    /// The name of the wheel's file.
    pub name: &'a WheelName,
    /// Its files that hold machine code, by path.
    pub files: &'a [FileFacts],
    /// The verdict; none for a wheel without libraries.
    pub verdict: Option<&'a Verdict<'a>>,
    /// The system that the name is for, where its wheels are not judged here.
    pub foreign_system: Option<&'static str>,
    /// Whether WHEEL says `Root-Is-Purelib: true`.
    pub is_purelib: bool,
    /// The facts.
    pub compat: &'a Compat,
    /// Search paths from the root that are allowed.
    pub allowed_paths: &'a Excludes,
}

/// Everything that can be said of a wheel's libraries without asking for expectations, or for other
/// wheels.
pub(super) fn findings(subject: Subject<'_>) -> Vec<Diagnostic> {
    let mut found = tags::findings(subject);
    found.extend(paths::findings(subject));
    found.extend(needed::findings(subject));
    found.extend(rocm::findings(subject));
    found.extend(label::findings(subject));
    found.extend(gfx::findings(subject));
    found.extend(devices::findings(subject));
    found.extend(copies::findings(subject));
    found
}

/// What can be said of the label alone.
pub(super) fn of_label(subject: Subject<'_>) -> Vec<Diagnostic> {
    label::findings(subject)
}

/// A finding about the first of so many files.
fn also_in(finding: Diagnostic, files: usize) -> Diagnostic {
    match files {
        0 | 1 => finding,
        more => finding.note(format!("the same in {}", counted(more - 1, "other file"))),
    }
}

impl<'a> Subject<'a> {
    fn libraries(&self) -> impl Iterator<Item = (&'a str, &'a Library)> + use<'a> {
        libraries(self.files)
    }

    fn on_wheel(&self, code: &'static Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, message).at(Location::File(self.name.to_string().into()), "")
    }

    fn on_member(
        &self,
        code: &'static Code,
        member: &str,
        message: impl Into<String>,
    ) -> Diagnostic {
        let place = Location::Member {
            wheel: self.name.to_string(),
            member: member.to_owned(),
        };
        Diagnostic::new(code, message).at(place, "")
    }

    /// Whether a library is of those that other packages bring: ROCm, torch and the like.
    fn comes_with_others(&self, name: &str) -> bool {
        let presets = &self.compat.tables().presets;
        presets.iter().any(|preset| {
            let patterns = preset.patterns.iter().map(String::as_str);
            Excludes::new(patterns).is_ok_and(|patterns| patterns.has(name))
        })
    }

    /// What the label says, where it has the parts of a label.
    fn label(&self) -> Option<LabelParts> {
        let label = self.name.label()?;
        LabelParts::parse(&label, &self.compat.rocm_versions())
            .ok()
            .map(|parsed| parsed.parts)
    }
}

/// The numbers of a version, `GLIBC_2.28` or `2.28`, which compare as versions do.
pub fn numbers(version: &str) -> Vec<u32> {
    version
        .rsplit('_')
        .next()
        .unwrap_or(version)
        .split('.')
        .map(|part| part.parse().unwrap_or_default())
        .collect()
}
