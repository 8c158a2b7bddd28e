//! A wheel and the results of its audit.

use std::collections::{BTreeMap, BTreeSet};

use super::auditor::{Auditor, is_purelib};
use super::compliance::Compliance;
use super::findings::{
    CheckContext, DeviceWheels, SplitCode, TorchRequirement, contradicts_claim, findings_of_label,
    kept_entries,
};
use super::inspect::{InspectedFile, InspectedKind};
use super::library::ElfLibrary;
use rock_bytes::ReadAt;
use rock_diagnostic::Diagnostic;
use rock_names::{Arch, ForeignSystem, PlatformSystem, WheelName};
use rock_wheel::Wheel;

/// A wheel and the results of its audit.
///
/// The wheel remains open, so that a repair can copy members that do not change.
pub struct AuditedWheel<'w> {
    pub(super) auditor: &'w Auditor<'w>,
    pub(super) file_name: String,
    pub(super) name: WheelName,
    pub(super) file: &'w dyn ReadAt,
    pub(super) wheel: Wheel<'w>,
    pub(super) files: Vec<InspectedFile>,
    pub(super) arch: Option<Arch>,
    pub(super) compliance: Option<Compliance>,
    pub(super) foreign_system: Option<ForeignSystem>,
    pub(super) rocm_majors: BTreeMap<String, BTreeSet<String>>,
    pub(super) torch: Option<TorchRequirement>,
    pub(super) findings: Vec<Diagnostic>,
}

impl std::fmt::Debug for AuditedWheel<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AuditedWheel")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl<'w> AuditedWheel<'w> {
    /// Returns the name that the wheel was audited under.
    pub fn name(&self) -> &WheelName {
        &self.name
    }

    /// Returns the wheel.
    pub fn wheel(&self) -> &Wheel<'w> {
        &self.wheel
    }

    /// Returns the size of the wheel in bytes.
    pub fn size_bytes(&self) -> u64 {
        self.file.size_bytes()
    }

    /// Returns the files with machine code, sorted by path.
    pub fn files(&self) -> &[InspectedFile] {
        &self.files
    }

    /// Returns the architecture that the wheel is for; `None` if it contains no libraries.
    pub fn arch(&self) -> Option<Arch> {
        self.arch
    }

    /// Returns the results of evaluating the policies; `None` if the wheel contains no library to
    /// which policies apply.
    ///
    /// Such a wheel is not necessarily portable: it may contain Windows libraries.
    pub fn compliance(&self) -> Option<&Compliance> {
        self.compliance.as_ref()
    }

    /// Returns the most compatible platform tag that the wheel complies with, for example
    /// `manylinux_2_28_x86_64`.
    pub fn platform_tag(&self) -> Option<String> {
        self.compliance
            .as_ref()
            .map(|compliance| compliance.overall_policy().tag())
    }

    /// Returns the operating system that the name is for, if its wheels are not audited.
    pub fn foreign_system(&self) -> Option<ForeignSystem> {
        self.foreign_system
    }

    /// Returns the major versions of ROCm that the libraries were linked against, each with the
    /// names of the needed ROCm libraries that imply it.
    pub fn rocm_majors(&self) -> &BTreeMap<String, BTreeSet<String>> {
        &self.rocm_majors
    }

    /// Returns the torch versions that the libraries were built against, if the symbols that they
    /// need imply them.
    pub fn torch(&self) -> Option<&TorchRequirement> {
        self.torch.as_ref()
    }

    /// Returns the problems found by the audit.
    pub fn findings(&self) -> &[Diagnostic] {
        &self.findings
    }

    /// Returns whether nothing that was audited contradicts the platforms in the filename.
    pub fn is_claim_accurate(&self) -> bool {
        !self.findings.iter().any(contradicts_claim)
    }

    /// Returns the libraries of the wheel with their paths.
    pub fn libraries(&self) -> impl Iterator<Item = (&str, &ElfLibrary)> {
        super::inspect::libraries(&self.files)
    }

    /// Returns whether the wheel contains libraries, and policies apply to none of them.
    pub fn has_unaudited_libraries(&self) -> bool {
        self.compliance.is_none()
            && self.foreign_system.is_none()
            && self.files.iter().any(InspectedFile::is_loadable)
    }

    /// Returns whether the wheel contains no libraries. Programs for Windows, macOS and WebAssembly
    /// do not count in a wheel for any platform, such as the launchers of pip and setuptools.
    pub fn is_pure(&self) -> bool {
        let is_for_any = self.name.is_platform_independent();
        !self.files.iter().any(|file| {
            let is_foreign = matches!(
                file.kind,
                InspectedKind::Windows | InspectedKind::AppleOrWasm
            );
            file.is_loadable() || (is_foreign && !is_for_any)
        })
    }

    /// Returns whether the wheel contains programs or libraries for Windows, which are not audited.
    /// They are only found by an audit that searches for GPU code; see [`CodeSearch`].
    ///
    /// [`CodeSearch`]: crate::CodeSearch
    fn has_windows_files(&self) -> bool {
        self.files
            .iter()
            .any(|file| file.kind == InspectedKind::Windows)
    }

    /// Returns the platform tags for systems that are not audited, if other tags are.
    pub fn unaudited_tags(&self) -> Vec<&str> {
        let tags = self.name.platform_tags().iter().map(String::as_str);
        tags.filter(|_| self.foreign_system.is_none())
            .filter(|tag| matches!(PlatformSystem::of_tag(tag), PlatformSystem::Foreign(_)))
            .collect()
    }

    /// Returns the system whose libraries and programs the wheel contains, if they are not audited:
    /// that of the name, or Windows.
    pub fn unaudited_system(&self) -> Option<ForeignSystem> {
        self.foreign_system
            .or(self.has_windows_files().then_some(ForeignSystem::Windows))
    }

    /// Returns the paths of files that were read completely and match RECORD.
    pub fn verified_paths(&self) -> BTreeSet<&str> {
        super::inspect::verified_paths(&self.files)
    }

    /// Returns the GPU code that was split off into other wheels, and the archives with such code.
    pub fn split_code(&self) -> SplitCode {
        let devices = DeviceWheels::new(self.wheel.metadata(), self.auditor.compat());
        SplitCode::new(&self.file_name, &self.files).with_device_wheels(devices)
    }

    /// Returns the findings about the local version label that the wheel would have under another
    /// name.
    pub(super) fn check_label(&self, name: &WheelName) -> Vec<Diagnostic> {
        findings_of_label(self.check_context(name, &name.to_string()))
    }

    /// Returns warnings about the search path entries that `--fix-rpath` would drop, of the files
    /// for which `is_kept` returns true.
    pub(super) fn check_kept_search_paths(
        &self,
        is_kept: &dyn Fn(&str) -> bool,
    ) -> Vec<Diagnostic> {
        let context = self.check_context(&self.name, &self.file_name);
        kept_entries(context, is_kept)
    }

    /// Returns the facts that findings are derived from, for the wheel under this name.
    fn check_context<'a>(&'a self, name: &'a WheelName, file_name: &'a str) -> CheckContext<'a> {
        CheckContext {
            file_name,
            name,
            files: &self.files,
            compliance: self.compliance.as_ref(),
            foreign_system: self.foreign_system,
            is_purelib: is_purelib(&self.wheel),
            scanned_code: self.auditor.options().inspection.scans(),
            compat: self.auditor.compat(),
            allowed_rpaths: &self.auditor.options().allowed_rpaths,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::wheel;
    use crate::{AuditDocument, AuditOptions, Auditor, Inspection, JsonDialect, NoLibraries};
    use rock_compat::Compat;

    #[test]
    fn libraries_for_other_systems_are_not_pure() {
        let compat = Compat::embedded();
        let options = AuditOptions {
            inspection: Inspection::REPAIR,
            ..AuditOptions::default()
        };
        let auditor = Auditor::new(&compat, NoLibraries, options);
        let is_pure = |tags: &str, path: &str, content: &[u8]| {
            let name = format!("demo-1.0-{tags}.whl").parse().unwrap();
            let file = wheel(&[(path, content)]);
            let audited = auditor.audit(&name, &file).unwrap();
            let document = AuditDocument::new(&audited, JsonDialect::Rock);
            let document = serde_json::to_value(document).unwrap();
            assert_eq!(document["pure"], audited.is_pure(), "{document:#}");
            audited.is_pure()
        };
        let mut program = b"MZ".to_vec();
        program.resize(256, 0);
        let library = rock_testkit::library(&["libc.so.6"], &[]);
        for (tags, path, content, expected) in [
            ("cp312-cp312-linux_x86_64", "demo/_demo.so", &library, false),
            ("cp312-cp312-win_amd64", "demo/_demo.pyd", &program, false),
            ("cp312-cp312-linux_x86_64", "demo/a.dll", &program, false),
            ("py3-none-any", "demo/launcher.exe", &program, true),
            (
                "py3-none-any",
                "demo/__init__.py",
                &b"import os".to_vec(),
                true,
            ),
        ] {
            assert_eq!(is_pure(tags, path, content), expected, "{tags}: {path}");
        }
    }
}
