//! Everything that is known of one wheel.

use std::collections::{BTreeMap, BTreeSet};

use super::findings::{Subject, TorchNeed, findings, of_label, rocm_majors, torch_need};
use super::inspect::{FileFacts, FileKind};
use super::select::Selected;
use super::tree::Excludes;
use super::verdict::{Judging, Verdict, judge};
use rock_compat::Compat;
use rock_compat::policy::{PlatformPolicies, PolicyFamily, PolicyFile};
use rock_diagnostic::Diagnostic;
use rock_names::{Arch, PlatformSystem, WheelName};

/// A wheel judged.
#[derive(Debug)]
pub struct Report<'p> {
    /// The name of its file.
    pub name: WheelName,
    /// Its files that hold machine code, by path.
    pub files: Vec<FileFacts>,
    /// Its architecture.
    pub arch: Option<Arch>,
    /// The verdict; none for a wheel without libraries.
    pub verdict: Option<Verdict<'p>>,
    /// The system that the name is for, where its wheels are not judged here.
    pub foreign_system: Option<&'static str>,
    /// The major versions of ROCm that its libraries were linked against, with the names that tell.
    pub rocm: BTreeMap<String, BTreeSet<String>>,
    /// The torch that its libraries were built against, where the symbols they need tell.
    pub torch: Option<TorchNeed>,
    /// What a person should know.
    pub findings: Vec<Diagnostic>,
}

impl Report<'_> {
    /// Whether there are libraries, and none that can be judged.
    pub fn has_unjudged_libraries(&self) -> bool {
        self.verdict.is_none()
            && self.foreign_system.is_none()
            && self.files.iter().any(FileFacts::is_for_loaders)
    }

    /// Whether there are programs or libraries for Windows, which nobody judges. They are known
    /// where code for GPUs was looked for.
    pub fn has_windows_files(&self) -> bool {
        self.files.iter().any(|file| file.kind == FileKind::Windows)
    }

    /// The platform tags for systems that are not judged, where others are.
    pub fn unjudged_tags(&self) -> Vec<&str> {
        let is_foreign =
            |tag: &&str| matches!(PlatformSystem::of_tag(tag), PlatformSystem::Foreign(_));
        let tags = self.name.platform.tags().iter().map(String::as_str);
        tags.filter(|_| self.foreign_system.is_none())
            .filter(is_foreign)
            .collect()
    }

    /// The libraries of the wheel, with their paths.
    pub fn libraries(&self) -> impl Iterator<Item = (&str, &super::library::Library)> {
        super::inspect::libraries(&self.files)
    }
}

/// The policies by which a wheel is judged; those of the machine's C library where nothing tells
/// the wheel's.
///
/// musl has no symbol versions, so nothing inside a wheel tells its policies apart: it is the one
/// that the name claims, or the newest. One that is wanted is it before those.
pub fn policies_for(
    selected: &Selected,
    name: &WheelName,
    host: PolicyFamily,
    file: Option<&PolicyFile>,
    wanted: Option<&str>,
) -> Option<PlatformPolicies> {
    let arch = selected.arch?;
    let family = selected.family.unwrap_or(host);
    let policies = match file {
        Some(file) => PlatformPolicies::from_file(file, family, arch),
        None => PlatformPolicies::embedded(family, arch),
    };
    if family != PolicyFamily::Musllinux {
        return Some(policies);
    }
    let mut claims = name
        .platform
        .tags()
        .iter()
        .filter_map(|tag| policies.for_tag(tag));
    let wanted = wanted
        .and_then(|tag| policies.get(tag))
        .filter(|one| !one.is_linux());
    let claimed = wanted.or_else(|| claims.find(|one| !one.is_linux()));
    Some(policies.only(claimed.unwrap_or(policies.lowest())))
}

/// What a report takes besides the files of the wheel.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// The facts.
    pub compat: &'a Compat,
    /// Search paths from the root that are allowed.
    pub allowed_paths: &'a Excludes,
    /// Whether WHEEL says `Root-Is-Purelib: true`.
    pub is_purelib: bool,
}

/// What is to be said of the label in another name for a wheel than the one it was judged under.
pub fn label_findings(name: &WheelName, report: &Report<'_>, compat: &Compat) -> Vec<Diagnostic> {
    let allowed_paths = &Excludes::default();
    let (files, verdict) = (report.files.as_slice(), report.verdict.as_ref());
    let foreign_system = report.foreign_system;
    of_label(Subject {
        name,
        files,
        verdict,
        foreign_system,
        is_purelib: false,
        compat,
        allowed_paths,
    })
}

/// Judges a wheel by its files. Without policies, or without a library that counts, there is no
/// verdict.
pub fn report<'p>(
    name: &WheelName,
    files: Vec<FileFacts>,
    selected: Selected,
    judging: Option<Judging<'p>>,
    judged: Judged<'_>,
) -> Report<'p> {
    let has_libraries = !selected.considered.is_empty();
    let verdict = judging
        .filter(|_| has_libraries)
        .map(|judging| judge(&files, &selected.considered, judging));
    let subject = Subject {
        name,
        files: &files,
        verdict: verdict.as_ref(),
        foreign_system: selected.foreign_system,
        is_purelib: judged.is_purelib,
        compat: judged.compat,
        allowed_paths: judged.allowed_paths,
    };
    let mut all = selected.findings;
    all.extend(findings(subject));
    let rocm = rocm_majors(subject);
    let torch = torch_need(subject);
    let foreign_system = selected.foreign_system;
    Report {
        name: name.clone(),
        arch: selected.arch,
        verdict,
        foreign_system,
        rocm,
        torch,
        findings: all,
        files,
    }
}
