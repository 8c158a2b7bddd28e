//! Checks of wheels: an audit, the verification of all members against RECORD, and expectations.

use super::audited::AuditedWheel;
use super::auditor::{AuditError, AuditOptions, Auditor};
use super::document::{AuditFacts, GfxDocument};
use super::findings::{
    ExpectedWheels, SplitCode, UnexpectedTargets, check_size, missing_archives, remove_superseded,
    unexpected_targets,
};
use super::inspect::{InspectedFile, Inspection};
use super::provider::NoLibraries;
use rock_bytes::ReadAt;
use rock_compat::Compat;
use rock_diagnostic::Diagnostic;
use rock_names::{GfxTarget, WheelName};
use rock_wheel::{Wheel, WheelError, verify, verify_except};

/// The result of [`Auditor::audit_and_verify`].
#[derive(Debug)]
pub enum VerifiedWheel<'w> {
    /// A wheel that was audited, and whose members were verified against RECORD.
    Readable {
        /// The audited wheel.
        audited: Box<AuditedWheel<'w>>,
        /// The problems found by the audit and the verification, each once.
        findings: Vec<Diagnostic>,
    },
    /// A file that cannot be read as a wheel.
    Unreadable {
        /// The reasons.
        findings: Vec<Diagnostic>,
    },
}

impl<'w> VerifiedWheel<'w> {
    /// Returns the audited wheel, if it can be read.
    pub fn audited(&self) -> Option<&AuditedWheel<'w>> {
        match self {
            Self::Readable { audited, .. } => Some(audited),
            Self::Unreadable { .. } => None,
        }
    }

    /// Returns the problems found.
    pub fn findings(&self) -> &[Diagnostic] {
        match self {
            Self::Readable { findings, .. } | Self::Unreadable { findings } => findings,
        }
    }
}

impl Auditor<'_> {
    /// Audits a wheel, and verifies its METADATA, WHEEL and all members against RECORD. Members are
    /// not read twice if [`AuditOptions::verify_record`] is set.
    pub fn audit_and_verify<'w>(
        &'w self,
        file_name: &str,
        name: &WheelName,
        file: &'w dyn ReadAt,
    ) -> VerifiedWheel<'w> {
        match self.audit_as(file_name, name, file) {
            Ok(audited) => VerifiedWheel::Readable {
                findings: audited.verified_findings(),
                audited: Box::new(audited),
            },
            Err(error) => VerifiedWheel::Unreadable {
                findings: unreadable_findings(name, file, &error),
            },
        }
    }
}

impl AuditedWheel<'_> {
    /// Verifies the members that the audit did not verify, and returns all findings, each once.
    fn verified_findings(&self) -> Vec<Diagnostic> {
        let verified = self.verified_paths();
        let mut findings = verify_except(&self.wheel, &self.name, &|member| {
            verified.contains(member.name())
        });
        // Audit and verification both report problems of dist-info.
        let fresh: Vec<Diagnostic> = self
            .findings
            .iter()
            .filter(|finding| !findings.contains(finding))
            .cloned()
            .collect();
        findings.extend(fresh);
        remove_superseded(&mut findings);
        findings
    }
}

/// Returns the problems of a wheel that cannot be read. Usually all of them are problems of the
/// archive.
fn unreadable_findings(name: &WheelName, file: &dyn ReadAt, error: &AuditError) -> Vec<Diagnostic> {
    let findings = verify(file, name);
    if findings.iter().any(Diagnostic::is_error) {
        findings
    } else {
        error.diagnostics()
    }
}

/// A checked wheel, without the wheel itself.
#[derive(Debug)]
pub struct CheckedWheel {
    /// The file name; empty if the file cannot be opened.
    pub file_name: String,
    /// The size in bytes.
    pub size_bytes: u64,
    /// The results of the audit; `None` if the wheel cannot be read.
    pub audit: Option<AuditSummary>,
    /// The problems found.
    pub findings: Vec<Diagnostic>,
}

/// The results of an audit that outlive the audited wheel.
#[derive(Debug)]
pub struct AuditSummary {
    /// The GPU targets for which the wheel contains code.
    pub gfx_targets: Vec<String>,
    /// The most compatible platform tag that the wheel complies with.
    pub platform_tag: Option<String>,
    /// The results in brief.
    pub facts: AuditFacts,
    /// The results for people, a line each.
    pub lines: Vec<String>,
    /// The files with GPU code.
    pub files: Vec<InspectedFile>,
    /// GPU code that was split off into other wheels.
    pub split: SplitCode,
}

impl AuditSummary {
    fn new(audited: &AuditedWheel<'_>) -> Self {
        Self {
            gfx_targets: GfxDocument::new(&audited.files).targets().to_vec(),
            platform_tag: audited.platform_tag(),
            facts: AuditFacts::new(audited),
            lines: audited.summary(),
            files: audited
                .files
                .iter()
                .filter(|file| !file.inventory.is_empty())
                .cloned()
                .collect(),
            split: audited.split_code(),
        }
    }
}

impl CheckedWheel {
    /// Checks the contents of a verified wheel against the expectations for its distribution.
    pub fn new(
        file_name: &str,
        size_bytes: u64,
        verified: &VerifiedWheel<'_>,
        expected: &ExpectedWheels,
    ) -> Self {
        let audited = verified.audited();
        let missing = audited.map(|audited| audited.missing_contents(expected));
        Self {
            file_name: file_name.to_owned(),
            size_bytes,
            audit: audited.map(AuditSummary::new),
            findings: [verified.findings().to_vec(), missing.unwrap_or_default()].concat(),
        }
    }
}

impl AuditedWheel<'_> {
    /// Returns the contents that are expected of wheels of its distribution and are missing.
    fn missing_contents(&self, expected: &ExpectedWheels) -> Vec<Diagnostic> {
        if !expected.has(&self.name) {
            return Vec::new();
        }
        expected
            .missing_contents(
                &self.file_name,
                &self.wheel,
                self.size_bytes(),
                &self.name,
                self.auditor.compat(),
            )
            .unwrap_or_else(|error| vec![error.diagnostic(&self.file_name)])
    }
}

/// Adds the findings that need all wheels of a run: archives with split-off code that are missing,
/// GPU targets other than `targets` unless that is empty, and wheels larger than `max_size_bytes`,
/// or larger than a release on GitHub takes.
pub fn add_cross_wheel_findings(
    wheels: &mut [CheckedWheel],
    targets: &[GfxTarget],
    max_size_bytes: Option<u64>,
    compat: &Compat,
) {
    // A wheel that cannot be read has no split-off code.
    let splits: Vec<SplitCode> = wheels
        .iter()
        .map(|wheel| match &wheel.audit {
            Some(audit) => audit.split.clone(),
            None => SplitCode::default(),
        })
        .collect();
    for (wheel, missing) in wheels.iter_mut().zip(missing_archives(&splits)) {
        let Some(audit) = &wheel.audit else {
            continue;
        };
        wheel.findings.extend(missing);
        if !targets.is_empty() {
            wheel.findings.extend(unexpected_targets(
                &wheel.file_name,
                &audit.files,
                &splits,
                targets,
                UnexpectedTargets::Rejected,
            ));
        }
        wheel.findings.extend(check_size(
            &wheel.file_name,
            wheel.size_bytes,
            max_size_bytes,
            compat,
        ));
    }
}

/// Checks a wheel that was just built, with the same result on every machine. If `targets` is not
/// empty and the wheel is for one platform, it must contain GPU code for exactly these targets.
///
/// # Errors
///
/// Returns an error if the archive or any of its members cannot be read.
pub fn check_built_wheel(
    name: &WheelName,
    file: &dyn ReadAt,
    targets: &[GfxTarget],
    compat: &Compat,
) -> Result<Vec<Diagnostic>, AuditError> {
    let auditor = Auditor::new(compat, NoLibraries, AuditOptions::default());
    let audited = auditor.audit(name, file)?;
    let file_name = name.to_string();
    let splits = [audited.split_code()];
    let mut findings = audited.findings.clone();
    findings.extend(missing_archives(&splits).into_iter().flatten());
    let package = compat.device_package(name.distribution().as_str());
    let own_targets: Vec<GfxTarget> = targets
        .iter()
        .filter(|target| {
            package
                .as_ref()
                .is_none_or(|package| package.must_hold(target))
        })
        .cloned()
        .collect();
    if !own_targets.is_empty() && !name.is_platform_independent() {
        findings.extend(unexpected_targets(
            &file_name,
            &audited.files,
            &splits,
            &own_targets,
            UnexpectedTargets::Rejected,
        ));
    }
    findings.extend(check_size(&file_name, file.size_bytes(), None, compat));
    Ok(findings)
}

/// Checks a wheel as if it had another name, with the same result on every machine.
///
/// # Errors
///
/// Returns an error if the archive or any of its members cannot be read.
pub fn check_under_name(
    name: &WheelName,
    file: &dyn ReadAt,
    inspection: Inspection,
    compat: &Compat,
) -> Result<Vec<Diagnostic>, AuditError> {
    let options = AuditOptions {
        inspection,
        ..AuditOptions::default()
    };
    let auditor = Auditor::new(compat, NoLibraries, options);
    let audited = auditor.audit(name, file)?;
    Ok(audited.findings.clone())
}

/// Returns the contents and requirements that are expected of a wheel's distribution and missing.
///
/// # Errors
///
/// Returns an error if the wheel cannot be read.
pub fn check_contents(
    name: &WheelName,
    file: &dyn ReadAt,
    expected: &ExpectedWheels,
    compat: &Compat,
) -> Result<Vec<Diagnostic>, WheelError> {
    let wheel = Wheel::open(file)?;
    expected.missing_contents(&name.to_string(), &wheel, file.size_bytes(), name, compat)
}

#[cfg(test)]
mod tests {
    use super::{CheckedWheel, Diagnostic, VerifiedWheel, check_built_wheel};
    use crate::expected::ExpectedWheels;
    use crate::testing::wheel_with_tag;
    use crate::{AuditOptions, Auditor, NoLibraries};
    use insta::assert_snapshot;
    use rock_compat::Compat;
    use rock_names::WheelName;

    const LINUX: &str = "cp312-cp312-linux_x86_64";
    const SONAME: u64 = 14;
    const RUNPATH: u64 = 29;

    /// Checks a wheel that was just built, with these libraries in its directory `demo`. Returns a
    /// line for each finding.
    fn check(tag: &str, libraries: &[(&str, Vec<u8>)]) -> String {
        let paths: Vec<String> = libraries
            .iter()
            .map(|(name, _)| format!("demo/{name}"))
            .collect();
        let members: Vec<(&str, &[u8])> = paths
            .iter()
            .zip(libraries)
            .map(|(path, (_, library))| (path.as_str(), library.as_slice()))
            .collect();
        let name: WheelName = format!("demo-1.0-{tag}.whl").parse().unwrap();
        let file = wheel_with_tag(tag, &members);
        let lines: Vec<String> = check_built_wheel(&name, &file, &[], &Compat::embedded())
            .unwrap()
            .iter()
            .map(|finding| {
                let location = &finding.labels[0].location;
                let (severity, code) = (finding.severity, finding.code.id);
                format!("{severity} {code} {location}: {}", finding.message)
            })
            .collect();
        lines.join("\n")
    }

    fn library(needed: &str, texts: &[(u64, &str)]) -> Vec<u8> {
        rock_testkit::library(&[needed, "libc.so.6"], texts)
    }

    #[test]
    fn a_clean_wheel_has_no_findings() {
        let demo = library("libm.so.6", &[(RUNPATH, "$ORIGIN")]);
        assert_snapshot!(check(LINUX, &[("libdemo.so", demo)]), @"");
    }

    #[test]
    fn platform_tags_that_the_libraries_contradict_are_reported() {
        let demo = || library("libother.so.1", &[]);
        assert_snapshot!(
            check("cp312-cp312-win_amd64", &[("libdemo.so", demo())]),
            @"error R101 demo-1.0-cp312-cp312-win_amd64.whl: the filename claims `win_amd64`, but its libraries are for Linux"
        );
        assert_snapshot!(
            check("cp312-cp312-manylinux_2_17_x86_64", &[("libdemo.so", demo())]),
            @"error R105 demo-1.0-cp312-cp312-manylinux_2_17_x86_64.whl: demo/libdemo.so: it needs libother.so.1, which `manylinux_2_17_x86_64` does not guarantee"
        );
    }

    #[test]
    fn search_paths_outside_of_the_wheel_are_reported() {
        let runpath = "/opt/rocm/lib:$ORIGIN/../../../lib";
        let demo = library("libm.so.6", &[(RUNPATH, runpath)]);
        assert_snapshot!(check(LINUX, &[("libdemo.so", demo)]), @r"
        error R110 demo-1.0-cp312-cp312-linux_x86_64.whl: demo/libdemo.so: RUNPATH names `/opt/rocm/lib`, which other machines do not have
        warning R113 demo-1.0-cp312-cp312-linux_x86_64.whl: demo/libdemo.so: RUNPATH names `$ORIGIN/../../../lib`, above the directory into which the wheel is installed
        ");
    }

    /// The hash that a repair adds to the SONAME does not hide the library.
    #[test]
    fn a_vendored_rocm_runtime_is_reported() {
        let grafted = "libamdhip64-1a2b3c4d.so.6";
        let demo = library(grafted, &[(RUNPATH, "$ORIGIN")]);
        let runtime = library("libm.so.6", &[(SONAME, grafted)]);
        assert_snapshot!(
            check(LINUX, &[("libdemo.so", demo), (grafted, runtime)]),
            @"warning R111 demo-1.0-cp312-cp312-linux_x86_64.whl: demo/libamdhip64-1a2b3c4d.so.6: the wheel contains `libamdhip64-1a2b3c4d.so.6`, a library of ROCm"
        );
    }

    #[test]
    fn an_unreadable_wheel_has_findings_and_no_audit() {
        let (compat, file) = (Compat::embedded(), b"not an archive".to_vec());
        let auditor = Auditor::new(&compat, NoLibraries, AuditOptions::default());
        let name: WheelName = format!("demo-1.0-{LINUX}.whl").parse().unwrap();
        let verified = auditor.audit_and_verify("demo.whl", &name, &file);
        assert!(
            matches!(verified, VerifiedWheel::Unreadable { .. }),
            "{verified:?}"
        );
        let checked = CheckedWheel::new("demo.whl", 14, &verified, &ExpectedWheels::default());
        assert!(checked.audit.is_none());
        assert!(checked.findings.iter().any(Diagnostic::is_error));
    }
}
