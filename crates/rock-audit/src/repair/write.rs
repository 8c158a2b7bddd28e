//! Writing a repaired wheel, and the check of it before it gets its name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::RepairChanges;
use super::deviations::{OriginalWheel, WrittenWheel, deviations};
use super::graft::sha256;
use super::new_errors::new_errors;
use super::plan::{RepairError, RepairPlan};
use crate::auditor::AuditError;
use crate::codes::{elf as elf_codes, rocm as rocm_codes, wheel as codes};
use crate::sbom::{SbomComponent, sbom, sbom_path};
use rock_bytes::ByteSink;
use rock_diagnostic::{Diagnostic, Diagnostics, Location, Severity};
use rock_elf::SearchPathEdit;
use rock_names::WheelName;
use rock_sys::{FileError, OnExisting, PositionalFile, WriteOutcome};
use rock_wheel::codes::wheel::WEAK_RECORD_HASH;
use rock_wheel::{
    AddedMember, CopiedMembers, MemberContent, RecordCheck, RewriteOptions, UnchangedMembers,
    Wheel, WheelEdits, WheelError, WheelRewriter, verify_except,
};

/// Where a repaired wheel is written.
#[derive(Debug, Clone, Copy)]
pub struct RepairDestination<'p> {
    /// The directory of the repaired wheel.
    pub directory: &'p Path,
    /// The path of the original wheel, which is never replaced. An audit knows only the open file
    /// and its name.
    pub input: &'p Path,
    /// Replace a file of the new name that has other content.
    pub overwrite: bool,
    /// Files that are not replaced even then, such as the other wheels of a run.
    pub protected: &'p [PathBuf],
    /// Compute everything and write nothing; the result is not audited again then.
    pub dry_run: bool,
}

/// A repaired wheel.
#[derive(Debug)]
pub struct RepairedWheel {
    /// The new name.
    pub name: WheelName,
    /// The path of the repaired wheel, also if it was not written.
    pub path: PathBuf,
    /// The effect on the file system.
    pub outcome: RepairOutcome,
    /// Whether the wheel contains no libraries; see [`AuditedWheel::is_pure`].
    ///
    /// [`AuditedWheel::is_pure`]: crate::AuditedWheel::is_pure
    pub is_pure: bool,
    /// The planned changes, as they were made.
    pub changes: RepairChanges,
    /// Paths of files from which sections were removed.
    pub stripped: BTreeSet<String>,
    /// Names of the needed libraries that were excluded.
    pub excluded: BTreeSet<String>,
    /// Findings about the repaired wheel.
    pub findings: Vec<Diagnostic>,
}

/// The effect of a repair on the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RepairOutcome {
    /// The repaired wheel was written.
    Written,
    /// The repaired wheel exists already.
    AlreadyPresent,
    /// The original wheel needs no change and would be replaced by itself.
    LeftInPlace,
    /// Nothing was written, as requested.
    DryRun,
}

impl RepairPlan<'_> {
    /// Writes the repaired wheel. Members that do not change are copied without inflating them.
    ///
    /// A wheel that needs no change is left as it is if it would replace itself. Otherwise one
    /// without audited libraries is copied byte by byte, and any other is written and audited again
    /// before it gets its name.
    ///
    /// # Errors
    ///
    /// Returns an error if the wheel cannot be written, if another file has its name, or if the
    /// written wheel is not as planned; nothing is left behind then.
    pub fn write(self, destination: &RepairDestination<'_>) -> Result<RepairedWheel, RepairError> {
        let file_name = self.audited.file_name.clone();
        self.try_write(destination).map_err(|blockers| RepairError {
            file_name,
            blockers,
        })
    }

    fn try_write(
        mut self,
        destination: &RepairDestination<'_>,
    ) -> Result<RepairedWheel, Diagnostics> {
        let path = destination.directory.join(self.name().to_string());
        let is_in_place =
            destination.input == path || rock_sys::is_same_file(destination.input, &path);
        let has_no_audited_libraries = self.audited.compliance.is_none();
        let stripped = self
            .members
            .iter()
            .chain(&self.grafts)
            .filter(|(_, file)| file.is_stripped())
            .map(|(path, _)| path.clone())
            .collect();
        let mut findings = [
            self.changes.findings.clone(),
            self.unknown_libc_findings(),
            self.layout_findings(),
            self.kept_search_path_findings(),
            std::mem::take(&mut self.renamed.findings),
        ]
        .concat();
        let output = OutputFile {
            path: &path,
            destination,
            is_in_place,
        };
        let outcome = if self.is_noop && is_in_place {
            RepairOutcome::LeftInPlace
        } else if self.is_noop && has_no_audited_libraries {
            self.copy(&output)?
        } else {
            let (outcome, rehashed) = self.rewrite(&output)?;
            findings.extend(rehashed);
            outcome
        };
        Ok(RepairedWheel {
            name: self.renamed.name,
            path,
            outcome,
            is_pure: self.audited.is_pure(),
            changes: self.changes,
            stripped,
            excluded: self.excluded,
            findings,
        })
    }

    /// Returns the finding that explains why the platform tag stays, if nothing identifies the C
    /// library.
    fn unknown_libc_findings(&self) -> Vec<Diagnostic> {
        let is_unknown = self
            .audited
            .compliance
            .as_ref()
            .is_some_and(|compliance| compliance.calls_unidentified_libc);
        self.audited
            .findings
            .iter()
            .filter(|finding| is_unknown && finding.code == &elf_codes::OPEN_LIBC)
            .cloned()
            .collect()
    }

    /// Returns the layout errors, which a repair does not change: the wheel does not load, whatever
    /// its name.
    fn layout_findings(&self) -> Vec<Diagnostic> {
        self.audited
            .findings
            .iter()
            .filter(|finding| finding.code == &rocm_codes::DAMAGED_LAYOUT)
            .map(|finding| match finding.severity {
                Severity::Error => finding
                    .clone()
                    .severity(Severity::Warning)
                    .note("this was so before the repair, which does not change it"),
                _ => finding.clone(),
            })
            .collect()
    }

    /// Returns the search path entries that the repair keeps because `--fix-rpath` was not given;
    /// `wheel check` refuses them in the repaired wheel.
    fn kept_search_path_findings(&self) -> Vec<Diagnostic> {
        if self.options.fix_rpaths || self.audited.compliance.is_none() {
            return Vec::new();
        }
        let changes = &self.changes;
        self.audited.check_kept_search_paths(&|path| {
            let edits = changes.edits.get(path);
            edits.is_none_or(|edits| edits.rpath == SearchPathEdit::Keep)
                && !changes.dropped.contains_key(path)
                && !changes.replaced.contains(path)
        })
    }

    /// Copies the wheel byte by byte.
    fn copy(&self, output: &OutputFile<'_>) -> Result<RepairOutcome, Diagnostics> {
        let output = OutputFile {
            is_in_place: false,
            ..*output
        };
        let write = |target: &mut dyn ByteSink| {
            let size_bytes = self.audited.file.size_bytes();
            target
                .copy_from(self.audited.file, 0, size_bytes)
                .map_err(|error| FileError::new("write", output.path, error))?;
            Ok(())
        };
        output.save(write, |_| Ok(()))
    }

    /// Writes the wheel with its changes. Also returns findings about RECORD rows whose hash was
    /// replaced.
    fn rewrite(
        &self,
        output: &OutputFile<'_>,
    ) -> Result<(RepairOutcome, Vec<Diagnostic>), Diagnostics> {
        let components = self.sbom_components()?;
        let edits = self.edits(&components);
        let options = RewriteOptions {
            level: self.options.compression_level,
            time: self.options.time,
            unchanged: if self.options.recompress {
                UnchangedMembers::Recompress
            } else {
                UnchangedMembers::Copy
            },
            record_check: if self.options.trust_record {
                RecordCheck::AllowWeakHashes
            } else {
                RecordCheck::AllMembers
            },
        };
        let (audited, name) = (self.audited, &self.renamed.name);
        let progress = audited.auditor.progress().start(&name.to_string());
        let rewriter = WheelRewriter {
            wheel: &audited.wheel,
            edits: &edits,
            options: &options,
        };
        let mut rehashed = Vec::new();
        let write = |target: &mut dyn ByteSink| {
            let written = rewriter.write(target, progress.as_ref());
            rehashed = written
                .map_err(|error| match error {
                    WheelError::Write(error) => FileError::new("write", output.path, error).into(),
                    error => Diagnostics::from(error.diagnostic(&audited.file_name)),
                })?
                .findings(&audited.file_name);
            Ok(())
        };
        let outcome = output.save(write, |written| self.audit_again(written, &edits))?;
        Ok((outcome, rehashed))
    }

    /// Returns the SBOM entries of the grafted libraries.
    fn sbom_components(&self) -> Result<Vec<SbomComponent<'_>>, Diagnostics> {
        let libraries = self.audited.auditor.libraries();
        let mut components = Vec::new();
        for graft in &self.changes.grafts {
            let path = self.changes.path_of(graft);
            // There is no plan if a graft cannot be edited.
            let Some(edited) = self.grafts.get(&path) else {
                continue;
            };
            components.push(SbomComponent {
                graft,
                digest: sha256(edited)
                    .map_err(|error| FileError::new("read", path.as_ref(), error))?,
                owner: libraries.package_url(&graft.library.real_path),
            });
        }
        Ok(components)
    }

    /// Returns all changes of members, including the SBOM of the grafted libraries.
    fn edits(&self, components: &[SbomComponent<'_>]) -> WheelEdits<'_> {
        let (wheel, changes) = (&self.audited.wheel, &self.changes);
        let archive = wheel.archive();
        let mut edits = self.renamed.edits.clone();
        edits
            .replaced
            .extend(self.members.iter().map(|(path, edited)| {
                let member = archive.member(path).filter(|_| !self.options.recompress);
                let content = member.map_or(MemberContent::Source(edited), |member| {
                    edited.content(archive, member)
                });
                (path.clone(), content)
            }));
        let grafts = self.grafts.iter();
        for (path, edited) in grafts.filter(|(path, _)| !changes.present.contains(*path)) {
            let content = MemberContent::Source(edited);
            if changes.replaced.contains(path) {
                edits.replaced.insert(path.clone(), content);
            } else {
                edits
                    .added
                    .insert(path.clone(), AddedMember::executable(content));
            }
        }
        for (old, new) in &changes.moved {
            edits.renamed.insert(old.clone(), new.clone());
            edits
                .added
                .insert(old.clone(), AddedMember::executable(launcher(new)));
        }
        edits.removed.extend(changes.dropped.keys().cloned());
        if !changes.grafts.is_empty() {
            let document = sbom(
                &self.renamed.name,
                changes,
                components,
                self.excluded.iter().map(String::as_str),
            );
            // Those of earlier repairs stay.
            let mut paths = (1..).map(|repair| wheel.dist_info_path(&sbom_path(repair)));
            if let Some(path) = paths.find(|path| archive.member(path).is_none()) {
                edits.added.insert(path, AddedMember::plain(document));
            }
        }
        edits.verified = self
            .audited
            .verified_paths()
            .into_iter()
            .map(str::to_owned)
            .collect();
        edits
    }

    /// Audits a written wheel. Only members that were not copied are read.
    ///
    /// # Errors
    /// Returns the errors that the original wheel does not have; see [`new_errors`].
    fn audit_again(
        &self,
        written: &PositionalFile,
        edits: &WheelEdits<'_>,
    ) -> Result<(), Diagnostics> {
        let (audited, name) = (self.audited, &self.renamed.name);
        let file_name = name.to_string();
        let new = Wheel::open(written).map_err(|error| error.diagnostic(&file_name))?;
        let copied = CopiedMembers::new(&audited.wheel, &new);
        let files = audited
            .auditor
            .inspect_repaired(&new, &audited.name, &|member| !copied.contains(member))
            .map_err(|errors| AuditError { file_name, errors })?;
        let verified: BTreeSet<String> = crate::inspect::verified_paths(&files)
            .into_iter()
            .map(str::to_owned)
            .collect();
        let errors = verify_except(&new, name, &|member| {
            copied.contains(member) || verified.contains(member.name())
        });
        // Errors of the original wheel were reported already.
        let new_path = |path: &str| edits.new_name(path);
        let mut errors = new_errors(&audited.findings, errors, &new_path);
        for error in &mut errors {
            if self.options.trust_record && error.code == &WEAK_RECORD_HASH {
                error.help = Some("repair the wheel without `--trust-record`".to_owned());
            }
        }
        let written = WrittenWheel {
            name,
            archive: new.archive(),
            files,
            removed: &edits.removed,
            new_path: &new_path,
        };
        if let Some(compliance) = &audited.compliance {
            let original = OriginalWheel {
                name: &audited.name,
                files: &audited.files,
                compliance,
                context: audited
                    .auditor
                    .policy_context(compliance.calls_unidentified_libc),
            };
            errors.extend(deviations(original, &self.changes, &written));
        }
        Diagnostics::check(errors)
    }
}

/// The file of a repaired wheel.
#[derive(Debug, Clone, Copy)]
struct OutputFile<'p> {
    path: &'p Path,
    destination: &'p RepairDestination<'p>,
    /// Whether it is the original wheel.
    is_in_place: bool,
}

impl OutputFile<'_> {
    /// Writes the file, which gets its name after the check. A dry run neither writes nor checks.
    fn save(
        &self,
        write: impl FnOnce(&mut dyn ByteSink) -> Result<(), Diagnostics>,
        check: impl FnOnce(&PositionalFile) -> Result<(), Diagnostics>,
    ) -> Result<RepairOutcome, Diagnostics> {
        let is_replaceable = !self.is_in_place && !self.is_protected();
        let existing = if self.destination.overwrite && is_replaceable {
            OnExisting::Replace
        } else {
            OnExisting::Keep
        };
        let saved = if self.destination.dry_run {
            rock_sys::preview_save(self.path, existing, write)
        } else {
            rock_sys::save_checked(self.path, existing, write, check)
        };
        match saved? {
            WriteOutcome::Kept => Err(self.conflict().into()),
            _ if self.destination.dry_run => Ok(RepairOutcome::DryRun),
            WriteOutcome::Written => Ok(RepairOutcome::Written),
            WriteOutcome::Unchanged => Ok(RepairOutcome::AlreadyPresent),
        }
    }

    /// Whether the file is not replaced although others are.
    fn is_protected(&self) -> bool {
        let mut protected = self.destination.protected.iter();
        protected.any(|protected| rock_sys::is_same_file(protected, self.path))
    }

    /// Returns the error that another file has the name.
    fn conflict(&self) -> Diagnostic {
        let shown = self.path.display();
        if self.is_in_place {
            let message = format!("the output would replace its input, `{shown}`");
            return Diagnostic::new(&codes::OUTPUT_IS_INPUT, message)
                .help("choose another directory with `--out DIR`");
        }
        if self.is_protected() {
            let message = format!("the output would replace `{shown}`, another wheel of this run");
            let input = self.destination.input.display().to_string();
            return Diagnostic::new(&codes::OUTPUT_EXISTS, message)
                .at(Location::File(input.into()), "")
                .help("repair this wheel on its own, with another `--out DIR`");
        }
        let message = format!("`{shown}` exists with different content");
        Diagnostic::new(&codes::OUTPUT_EXISTS, message)
            .at(Location::File(shown.to_string().into()), "")
            .help("replace it with `--replace`, or choose another directory with `--out DIR`")
    }
}

/// Returns a script that starts a program which was moved to this path of the wheel.
fn launcher(path: &str) -> Vec<u8> {
    let (directory, name) = path.split_once('/').unwrap_or(("", path));
    include_str!("../../templates/wheel/program.py")
        .replace("<< folder >>", &quoted(directory))
        .replace("<< name >>", &quoted(name))
        .into_bytes()
}

/// Returns a text as a Python literal.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string serializes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AuditOptions, Auditor, NoLibraries, RepairOptions};
    use rock_compat::Compat;
    use rock_names::Digest;
    use rock_wheel::codes::wheel::{RECORD_MISMATCH, TORCH_REQUIREMENT};
    use rock_wheel::{MemberOptions, ZipWriter};
    use sha2::{Digest as _, Sha256};

    #[test]
    fn launcher_starts_the_program() {
        let script = String::from_utf8(launcher("demo.scripts/a b")).unwrap();
        assert!(
            script.contains(r#"sysconfig.get_path("platlib"), "demo.scripts", "a b")"#),
            "{script}"
        );
    }

    const CONTRADICTORY: &str = "demo-1.0+torch2.5-cp312-cp312-linux_x86_64.whl";

    /// Returns a wheel whose METADATA contradicts its label, and whose `demo/__init__.py` does not
    /// match RECORD.
    fn contradictory_wheel() -> Vec<u8> {
        let dist_info = "demo-1.0+torch2.5.dist-info";
        let (metadata, wheel, record) = (
            format!("{dist_info}/METADATA"),
            format!("{dist_info}/WHEEL"),
            format!("{dist_info}/RECORD"),
        );
        let library = rock_testkit::library(&["libc.so.6"], &[]);
        let mut members: Vec<(&str, &[u8])> = vec![
            ("demo/__init__.py", b"import os"),
            ("demo/_demo.so", &library),
            (
                &metadata,
                b"Metadata-Version: 2.1\nName: demo\nVersion: 1.0+torch2.5\nRequires-Dist: torch==2.6.0\n",
            ),
            (
                &wheel,
                b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp312-cp312-linux_x86_64\n",
            ),
        ];
        let mut rows = format!("{record},,\n");
        for (path, content) in &members {
            let listed: &[u8] = match *path {
                "demo/__init__.py" => b"import sys",
                _ => content,
            };
            let hash = Digest::new(Sha256::digest(listed).into()).to_base64();
            rows.push_str(&format!("{path},sha256={hash},{}\n", content.len()));
        }
        members.push((&record, rows.as_bytes()));
        let mut bytes = Vec::new();
        let mut writer = ZipWriter::new(&mut bytes);
        for (path, content) in members {
            writer
                .add(path, content, &MemberOptions::default())
                .unwrap();
        }
        writer.finish().unwrap();
        bytes
    }

    /// Repairs the [`contradictory_wheel`].
    fn repair(options: RepairOptions) -> Result<RepairOutcome, RepairError> {
        let directory = tempfile::tempdir().unwrap();
        let input = directory.path().join(CONTRADICTORY);
        let bytes = contradictory_wheel();
        let compat = Compat::embedded();
        let auditor = Auditor::new(&compat, NoLibraries, AuditOptions::default());
        let name: WheelName = CONTRADICTORY.parse().unwrap();
        let audited = auditor.audit(&name, &bytes).unwrap();
        let codes: Vec<_> = audited
            .findings
            .iter()
            .map(|finding| finding.code)
            .collect();
        assert!(codes.contains(&&TORCH_REQUIREMENT), "{codes:?}");
        let destination = RepairDestination {
            directory: directory.path(),
            input: &input,
            overwrite: false,
            protected: &[],
            dry_run: false,
        };
        let repaired = audited.plan_repair(options)?.write(&destination)?;
        Ok(repaired.outcome)
    }

    /// METADATA contradicts the label in both wheels, and a member that is copied does not match
    /// RECORD in both.
    #[test]
    fn errors_of_the_original_wheel_do_not_keep_it_from_being_repaired() {
        let options = RepairOptions {
            trust_record: true,
            ..RepairOptions::default()
        };
        assert_eq!(repair(options).unwrap(), RepairOutcome::Written);
    }

    #[test]
    fn a_member_that_does_not_match_record_is_an_error_unless_record_is_trusted() {
        let error = repair(RepairOptions::default()).unwrap_err();
        let codes: Vec<_> = error
            .blockers
            .as_slice()
            .iter()
            .map(|error| error.code)
            .collect();
        assert_eq!(codes, [&RECORD_MISMATCH]);
    }
}
