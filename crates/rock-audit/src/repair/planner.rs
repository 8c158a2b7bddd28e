//! Plans a repair: the grafts, the new name and the edits of files, all computed before anything is
//! written.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::io;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::plan::EditedFiles;
use super::tags::{PlatformTarget, unknown_platform};
use super::{LibraryDigest, PlanOptions, RepairChanges, RepairOptions, RepairPlan, plan_changes};
use crate::audited::AuditedWheel;
use crate::codes::{elf as elf_codes, rocm as rocm_codes, wheel as codes};
use crate::compliance::Compliance;
use crate::edited_file::{EditedFile, FileChanges, StripMode};
use crate::pattern::LibraryPatterns;
use crate::provider::SystemLibrary;
use crate::redundant_copies::{RedundantCopy, redundant_copies};
use rock_bytes::{ReadAt, for_each_chunk, has_same_content};
use rock_compat::policy::PolicyFamily;
use rock_diagnostic::{Code, Diagnostic, Location, Severity};
use rock_names::{Arch, Digest, TagSet};
use rock_sys::FileError;
use rock_wheel::{
    ExistingLabel, LabelCheck, MemberView, RenamePlan, RetagOptions, TagChange, WheelError,
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

/// The parts of a [`RepairPlan`] that are computed.
pub(super) struct PlanParts<'w> {
    changes: RepairChanges,
    renamed: RenamePlan<'static>,
    members: EditedFiles<'w>,
    grafts: EditedFiles<'w>,
    is_noop: bool,
}

impl<'w> PlanParts<'w> {
    pub(super) fn into_plan(
        self,
        audited: &'w AuditedWheel<'w>,
        options: RepairOptions,
    ) -> RepairPlan<'w> {
        let trees = audited
            .compliance
            .iter()
            .flat_map(|compliance| compliance.trees.values());
        RepairPlan {
            audited,
            options,
            changes: self.changes,
            renamed: self.renamed,
            members: self.members,
            grafts: self.grafts,
            excluded: trees.flat_map(|tree| tree.excluded.clone()).collect(),
            is_noop: self.is_noop,
        }
    }
}

/// A wheel and the options of its repair.
pub(super) struct Planner<'w, 'o> {
    pub(super) audited: &'w AuditedWheel<'w>,
    pub(super) options: &'o RepairOptions,
}

impl<'w> Planner<'w, '_> {
    pub(super) fn plan(&self) -> Result<PlanParts<'w>, Vec<Diagnostic>> {
        let blockers = self.unrepairable();
        if !blockers.is_empty() {
            return Err(blockers);
        }
        let mut changes = match &self.audited.compliance {
            Some(compliance) => self.graft_and_edit(compliance)?,
            None => self.set_tags()?,
        };
        let renamed = self.rename(&changes)?;
        let is_noop = self.is_noop(&changes, &renamed);
        let (grafts, mut errors) = self.edit_grafts(&changes);
        self.compare_with_members(&mut changes, &grafts)?;
        let (members, member_errors) = self.edit_members(&changes);
        errors.splice(0..0, member_errors);
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(PlanParts {
            changes,
            renamed,
            members,
            grafts,
            is_noop,
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

    fn graft_and_edit(&self, compliance: &Compliance) -> Result<RepairChanges, Vec<Diagnostic>> {
        let (audited, options) = (self.audited, self.options);
        let auditor = audited.auditor;
        let plan_options = PlanOptions {
            target: auditor
                .options()
                .requested_platform
                .clone()
                .map_or(PlatformTarget::Best, PlatformTarget::Tag),
            only_target: options.only_platform,
            keeps_claims: options.keep_claimed_tags,
            keeps_tags: !options.update_tags || compliance.calls_unidentified_libc,
            library_dir_suffix: options.library_dir_suffix.clone(),
            fixes_rpaths: options.fix_rpaths,
            allowed_rpaths: auditor.options().allowed_rpaths.clone(),
            rocm_libraries: self.rocm_libraries(),
            existing_paths: audited
                .wheel
                .archive()
                .members()
                .iter()
                .map(|member| member.name().to_owned())
                .collect(),
        };
        let mut changes = plan_changes(
            &audited.name,
            &audited.files,
            compliance,
            &plan_options,
            &mut |library| self.digest(library),
        )?;
        if let Some(kept) = &options.remove_copies_except {
            changes.drop_copies(self.redundant_copies(kept)?);
        }
        if options.allow_grafts || changes.grafts.is_empty() {
            return Ok(changes);
        }
        Err(vec![self.grafts_forbidden(&changes)])
    }

    /// Returns the patterns of ROCm libraries, of which a process must load only one copy.
    fn rocm_libraries(&self) -> LibraryPatterns {
        let patterns = self
            .audited
            .auditor
            .compat()
            .preset("rocm")
            .into_iter()
            .flat_map(|preset| preset.patterns.iter().map(String::as_str));
        LibraryPatterns::new(patterns).unwrap_or_default()
    }

    fn redundant_copies(
        &self,
        kept: &LibraryPatterns,
    ) -> Result<Vec<RedundantCopy>, Vec<Diagnostic>> {
        let file_name = &self.audited.file_name;
        let progress = self.audited.auditor.progress().start(file_name);
        redundant_copies(
            self.audited.wheel.archive(),
            &self.audited.files,
            kept,
            progress.as_ref(),
        )
        .map_err(|error| vec![error.diagnostic(file_name)])
    }

    fn grafts_forbidden(&self, changes: &RepairChanges) -> Diagnostic {
        let names: Vec<&str> = changes
            .grafts
            .iter()
            .flat_map(|graft| &graft.needed_as)
            .map(String::as_str)
            .collect();
        let noun = if changes.grafts.len() == 1 {
            "library"
        } else {
            "libraries"
        };
        let message = format!(
            "{} {noun} would be grafted: {}",
            changes.grafts.len(),
            names.join(", ")
        );
        Diagnostic::new(&codes::GRAFTS_FORBIDDEN, message)
            .at(Location::File(self.audited.file_name.as_str().into()), "")
            .help("leave them out with `--exclude` or `--exclude-preset`")
    }

    /// Returns the size and digest of a library of the system.
    fn digest(&self, library: &SystemLibrary) -> Result<LibraryDigest, Diagnostic> {
        let read_error =
            |error| Diagnostic::from(FileError::new("read", Path::new(&library.real_path), error));
        let source = self
            .audited
            .auditor
            .libraries()
            .open(&library.real_path)
            .map_err(read_error)?;
        Ok(LibraryDigest {
            digest: sha256(source.as_ref()).map_err(read_error)?,
            size_bytes: source.size_bytes(),
        })
    }

    /// Plans the tags of a wheel to which no policy applies: one for any platform suits the
    /// requested one and keeps its tag, and another one gets its tag. A wheel for a system that is
    /// not audited keeps its tags.
    fn set_tags(&self) -> Result<RepairChanges, Vec<Diagnostic>> {
        let audited = self.audited;
        let name = &audited.name;
        let Some(requested) = audited.auditor.options().requested_platform.as_deref() else {
            return Ok(RepairChanges::tags_only(name.platform_tags().clone()));
        };
        if let Some(system) = audited.foreign_system {
            let message = format!(
                "the wheel is for {system}, which is not judged, and cannot be named `{requested}`"
            );
            return Err(vec![
                Diagnostic::new(&rocm_codes::FOREIGN_SYSTEM, message)
                    .at(Location::File(audited.file_name.as_str().into()), "")
                    .help("leave `--plat` out: the wheel is copied as it is"),
            ]);
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
            tags.join(".").parse::<TagSet>().ok()
        });
        match tags {
            Some(_) if !self.options.update_tags || name.is_platform_independent() => {
                Ok(RepairChanges::tags_only(name.platform_tags().clone()))
            }
            Some(tags) => Ok(RepairChanges::tags_only(tags)),
            None => Err(vec![unknown_platform(name, requested, &policies)]),
        }
    }

    /// Returns the new name with its changes of dist-info, and findings about a new label.
    fn rename(&self, changes: &RepairChanges) -> Result<RenamePlan<'static>, Vec<Diagnostic>> {
        let audited = self.audited;
        let wheel_error = |error: WheelError| vec![error.diagnostic(&audited.file_name)];
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
                .extend(contradictions.into_iter().map(error_as_warning));
        }
        Ok(renamed)
    }

    /// Returns whether the repaired wheel would have the same contents.
    fn is_noop(&self, changes: &RepairChanges, renamed: &RenamePlan<'_>) -> bool {
        let (options, wheel) = (self.options, &self.audited.wheel);
        let is_rewrite_requested = options.recompress
            || options.strip
            || (options.time.is_some() && options.rewrite_for_time);
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

    /// Edits the libraries that are grafted. Returns those that cannot be edited as errors.
    fn edit_grafts(&self, changes: &RepairChanges) -> (EditedFiles<'w>, Vec<Diagnostic>) {
        let (mut files, mut errors) = (Vec::new(), Vec::new());
        for graft in &changes.grafts {
            let path = &graft.library.real_path;
            let edited = self
                .audited
                .auditor
                .libraries()
                .open(path)
                .map_err(|error| error.to_string())
                .and_then(|source| {
                    let changes =
                        FileChanges::new(source.as_ref(), &graft.edits, self.strip_mode())
                            .map_err(|error| error.to_string())?;
                    Ok(EditedFile::new(source, changes))
                });
            match edited {
                Ok(edited) => files.push((changes.path_of(graft), edited)),
                Err(error) => errors.push(self.uneditable(path, &error)),
            }
        }
        (files, errors)
    }

    /// Edits and strips files of the wheel. Returns those that cannot be edited as errors.
    fn edit_members(&self, changes: &RepairChanges) -> (EditedFiles<'w>, Vec<Diagnostic>) {
        let archive = self.audited.wheel.archive();
        let scratch = self.audited.auditor.scratch();
        let graft_paths = changes.graft_paths();
        let stripped = self
            .audited
            .libraries()
            .map(|(path, _)| path)
            .filter(|path| {
                self.options.strip
                    && !changes.dropped.contains_key(*path)
                    && !graft_paths.contains(*path)
            });
        let paths: BTreeSet<&str> = changes
            .edits
            .keys()
            .map(String::as_str)
            .chain(stripped)
            .collect();
        let (mut files, mut errors) = (Vec::new(), Vec::new());
        for path in paths {
            let Some(member) = archive.member(path) else {
                continue;
            };
            let edits = changes.edits.get(path).cloned().unwrap_or_default();
            let view = MemberView::new(archive, member, scratch, None);
            match FileChanges::new(&view, &edits, self.strip_mode()) {
                Ok(changes) if changes.is_empty() => {}
                Ok(changes) => {
                    let base = MemberView::forward(archive, member, scratch);
                    files.push((path.to_owned(), EditedFile::new(Box::new(base), changes)));
                }
                Err(error) => errors.push(self.uneditable(path, &error)),
            }
        }
        (files, errors)
    }

    /// Compares grafted libraries with members of the wheel that have their paths: an earlier
    /// repair may have grafted the same bytes, or the member is another file.
    ///
    /// # Errors
    /// Returns an error if a member or library cannot be read.
    fn compare_with_members(
        &self,
        changes: &mut RepairChanges,
        grafts: &EditedFiles<'_>,
    ) -> Result<(), Vec<Diagnostic>> {
        let archive = self.audited.wheel.archive();
        if !changes
            .graft_paths()
            .iter()
            .any(|path| archive.member(path).is_some())
        {
            return Ok(());
        }
        let (mut same, mut others) = (BTreeSet::new(), BTreeSet::new());
        for (path, edited) in grafts {
            let Some(member) = archive.member(path) else {
                continue;
            };
            let existing = MemberView::forward(archive, member, self.audited.auditor.scratch());
            let has_same_content = has_same_content(&existing, edited).map_err(|error| {
                vec![Diagnostic::from(FileError::new(
                    "read",
                    path.as_ref(),
                    error,
                ))]
            })?;
            if has_same_content {
                &mut same
            } else {
                &mut others
            }
            .insert(path.clone());
        }
        changes.record_existing_grafts(&self.audited.name, same, others);
        Ok(())
    }

    fn strip_mode(&self) -> StripMode {
        if self.options.strip {
            StripMode::Unloaded
        } else {
            StripMode::None
        }
    }

    fn uneditable(&self, path: &str, error: &dyn Display) -> Diagnostic {
        let location = Location::Member {
            wheel: self.audited.file_name.clone(),
            member: path.to_owned(),
        };
        Diagnostic::new(
            &elf_codes::UNEDITABLE_ELF,
            format!("it cannot be changed safely: {error}"),
        )
        .at(location, "")
    }
}

fn error_as_warning(finding: Diagnostic) -> Diagnostic {
    match finding.severity {
        Severity::Error => finding.severity(Severity::Warning),
        _ => finding,
    }
}

/// Returns the SHA-256 digest of a file in hexadecimal.
pub(super) fn sha256(source: &dyn ReadAt) -> io::Result<String> {
    let mut hasher = Sha256::new();
    for_each_chunk(source, |piece| hasher.update(piece))?;
    Ok(Digest::new(hasher.finalize().into()).to_hex())
}
