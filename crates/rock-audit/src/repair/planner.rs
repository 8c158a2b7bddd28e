//! Plans a repair: the grafts, the new name and the edits of files, all computed before anything is
//! written.

use super::tags::unknown_platform;
use super::{RepairChanges, RepairOptions, RepairPlan};
use crate::audited::AuditedWheel;
use crate::codes::{elf as elf_codes, rocm as rocm_codes};
use crate::locations::in_wheel;
use rock_compat::policy::PolicyFamily;
use rock_diagnostic::{Code, Diagnostic, Diagnostics};
use rock_names::{Arch, PlatformTags};
use rock_wheel::{
    ExistingLabel, LabelCheck, RenamePlan, RetagOptions, TagChange, WheelError,
    filter_persistent_errors, relabel, retag,
};

/// Findings that a repair cannot resolve: the contents of a file are not known.
const UNREPAIRABLE: [&Code; 5] = [
    &elf_codes::DAMAGED_ELF,
    &elf_codes::ELF_IN_PURELIB,
    &elf_codes::OTHER_ARCHITECTURE,
    &elf_codes::OTHER_LIBC,
    &elf_codes::TOO_MANY_LIBRARIES,
];

/// Turns an audited wheel and the options of its repair into a [`RepairPlan`].
pub(super) struct RepairPlanner<'w> {
    pub(super) audited: &'w AuditedWheel<'w>,
    pub(super) options: RepairOptions,
}

impl<'w> RepairPlanner<'w> {
    /// Plans the repair.
    ///
    /// # Errors
    /// Returns the reasons why the wheel cannot be repaired; see
    /// [`RepairError::blockers`](super::RepairError::blockers).
    pub(super) fn plan(self) -> Result<RepairPlan<'w>, Diagnostics> {
        let planned = match &self.audited.compliance {
            Some(compliance) => self.graft_and_edit(compliance),
            None => self.set_tags().map_err(Diagnostics::from),
        };
        let mut changes = unless_errors(self.unrepairable(), planned)?;
        let renamed = self.rename(&changes);
        let (grafts, mut errors) = self.edit_grafts(&changes);
        errors.extend(renamed.as_ref().err().cloned());
        let edited = self
            .compare_with_members(&mut changes, &grafts)
            .and_then(|()| self.edit_members(&changes));
        let members = unless_errors(errors, edited)?;
        let renamed = renamed?;
        let is_noop = self.is_noop(&changes, &renamed);
        let trees = self
            .audited
            .compliance
            .iter()
            .flat_map(|compliance| compliance.trees.values());
        Ok(RepairPlan {
            audited: self.audited,
            changes,
            renamed,
            members,
            grafts,
            excluded: trees.flat_map(|tree| tree.excluded.clone()).collect(),
            is_noop,
            options: self.options,
        })
    }

    /// Returns the findings that a repair cannot resolve, and those that the repaired wheel would
    /// have again and installers refuse.
    fn unrepairable(&self) -> Vec<Diagnostic> {
        let findings = &self.audited.findings;
        let label = if self.options.local_label.is_some() {
            LabelCheck::Ignore
        } else {
            LabelCheck::MustMatch
        };
        findings
            .iter()
            .filter(|finding| finding.is_error() && UNREPAIRABLE.contains(&finding.code))
            .cloned()
            .chain(filter_persistent_errors(findings, label))
            .collect()
    }

    /// Plans the tags of a wheel to which no policy applies: one for any platform suits the
    /// requested one and keeps its tag, and another one gets its tag. A wheel for a system that is
    /// not audited keeps its tags.
    fn set_tags(&self) -> Result<RepairChanges, Diagnostic> {
        let audited = self.audited;
        let name = &audited.name;
        let Some(requested) = audited.auditor.options().requested_platform.as_deref() else {
            return Ok(RepairChanges::tags_only(name.platform_tags().clone()));
        };
        if let Some(system) = audited.foreign_system {
            let message = format!(
                "the wheel is for {system}, which is not audited, so it cannot be named \
                 `{requested}`"
            );
            return Err(Diagnostic::new(&rocm_codes::FOREIGN_SYSTEM, message)
                .at(in_wheel(&audited.file_name), "")
                .help("leave out `--plat` to copy the wheel unchanged"));
        }
        let arch = Arch::of_platform_tag(requested).or_else(|| {
            let tags = name.platform_tags().as_slice();
            tags.iter().find_map(|tag| Arch::of_platform_tag(tag))
        });
        let family = if requested.starts_with("musllinux") {
            PolicyFamily::Musllinux
        } else {
            PolicyFamily::Manylinux
        };
        let policies = audited
            .auditor
            .policies(family, arch.unwrap_or(Arch::X86_64));
        let tags = policies.get(requested).and_then(|policy| {
            let tags: Vec<String> = if policy.is_linux() {
                vec![policy.tag()]
            } else {
                policy.tags()
            };
            tags.join(".").parse::<PlatformTags>().ok()
        });
        match tags {
            Some(_) if !self.options.update_tags || name.is_platform_independent() => {
                Ok(RepairChanges::tags_only(name.platform_tags().clone()))
            }
            Some(tags) => Ok(RepairChanges::tags_only(tags)),
            None => Err(unknown_platform(&audited.file_name, requested, &policies)),
        }
    }

    /// Returns the new name with its changes of dist-info, and findings about a new label.
    fn rename(&self, changes: &RepairChanges) -> Result<RenamePlan<'static>, Diagnostic> {
        let audited = self.audited;
        let wheel_error = |error: WheelError| error.diagnostic(&audited.file_name);
        let tags = &changes.platform.tags;
        let keeps_tags = !self.options.update_tags
            || (audited.compliance.is_none() && tags == audited.name.platform_tags());
        let retagging = RetagOptions {
            platform: (!keeps_tags).then(|| TagChange::Replace(tags.clone())),
            ..RetagOptions::default()
        };
        let mut renamed = retag(&audited.wheel, &audited.name, &retagging).map_err(wheel_error)?;
        if let Some(label) = &self.options.local_label {
            let labelled = relabel(&audited.wheel, &renamed.name, label, ExistingLabel::Replace)
                .map_err(wheel_error)?;
            renamed.name = labelled.name;
            renamed
                .edits
                .renamed_dirs
                .extend(labelled.edits.renamed_dirs);
            renamed.edits.replaced.extend(labelled.edits.replaced);
            renamed.findings.extend(labelled.findings);
            let contradictions = audited.check_label(&renamed.name);
            renamed
                .findings
                .extend(contradictions.into_iter().map(Diagnostic::error_as_warning));
        }
        Ok(renamed)
    }

    /// Returns whether the repaired wheel would have the same contents.
    fn is_noop(&self, changes: &RepairChanges, renamed: &RenamePlan<'_>) -> bool {
        let (options, wheel) = (&self.options, &self.audited.wheel);
        let is_rewrite_requested = options.recompress
            || options.strip
            || (options.time.is_some() && options.force_rewrite_for_time);
        // Some device wheels list files twice; a new RECORD lists them once.
        let record = wheel.record();
        let is_record_sound =
            !record.has_repeated_rows() && (options.trust_record || !record.has_weak_hashes());
        changes.keeps_files()
            && renamed.edits.is_empty()
            && !is_rewrite_requested
            && is_record_sound
            && !wheel.archive().needs_rewriting()
    }
}

/// Returns the value of a step if it has no errors and a step that it does not depend on has none.
///
/// # Errors
/// Returns the errors of both steps.
pub(super) fn unless_errors<T>(
    mut errors: Vec<Diagnostic>,
    result: Result<T, Diagnostics>,
) -> Result<T, Diagnostics> {
    match result {
        Ok(value) => Diagnostics::check(errors).map(|()| value),
        Err(others) => {
            errors.extend(others);
            Err(errors.into())
        }
    }
}
