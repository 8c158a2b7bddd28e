//! The end of a build: collects the wheels, labels, repairs and checks them, and copies them to the
//! output directory.

use std::path::{Path, PathBuf};

use super::build_report::BuildReport;
use super::collect::{CollectError, CollectedWheel, collect, copy_out, wheels_match};
use super::handover::record_name;
use super::host_env::source_date_s;
use super::job_directory::{LABELLED, REPAIRED};
use super::prepared_build::PreparedBuild;
use super::record::{BuildOutcome, BuiltWheel, shown_text};
use super::run::BuildEvent;
use super::session::FinishedBuild;
use crate::codes::build as codes;
use rock_audit::codes::{rocm as rocm_codes, wheel as wheel_codes};
use rock_audit::expected::{ExpectedWheels, check_contents};
use rock_audit::{
    AuditOptions, Auditor, Inspection, LibraryPatterns, NoLibraries, ProgressReporter,
    RepairDestination, RepairOptions, RepairedWheel, Sysroot, SystemLibraries, WheelFile,
    check_built_wheel,
};
use rock_compat::torch_contradictions;
use rock_diagnostic::{Diagnostic, Diagnostics, ExitClass, Severity, counted};
use rock_names::{LabelParts, LocalLabel, WheelName, WheelNameError};
use rock_plan::config::{Gate, RepairPlatform, TorchFrom};
use rock_recipe::{LIBRARIES_FOLDER, is_repaired, outside};
use rock_sys::{self as sys, FileError, OnExisting, PositionalFile, ScratchSpace};
use rock_wheel::{
    self as wheel, DosTime, ExistingLabel, RewriteOptions, Wheel, WheelError, parse_source_date,
};

/// Delivers the wheels of a build whose stages are done. An error with [`ExitClass::Machine`] means
/// that a file could not be read or written, any other that a wheel was rejected.
pub(super) struct WheelDelivery<'a> {
    pub(super) prepared: &'a PreparedBuild<'a>,
    pub(super) progress: &'a dyn ProgressReporter,
    pub(super) on_event: &'a mut dyn FnMut(BuildEvent<'_>),
}

impl<'a> WheelDelivery<'a> {
    /// Delivers all wheels or none, and records the outcome.
    pub(super) fn finish(mut self, finished: FinishedBuild) -> BuildReport {
        let mut report = BuildReport::new(finished);
        match self.deliver() {
            Ok(wheels) => {
                let warning = self.torch_warning(&report);
                report.warnings.extend(warning);
                report.is_delivered = true;
                report.record.wheels = wheels;
                report.record.outcome = BuildOutcome::Done;
                report.record.reason = None;
            }
            Err(errors) => {
                (self.on_event)(BuildEvent::Findings(errors.as_slice()));
                report.record.outcome = match errors.exit_class() {
                    ExitClass::Machine => BuildOutcome::Machine,
                    _ => BuildOutcome::Refused,
                };
                let first = errors.into_iter().find(Diagnostic::is_error);
                report.record.reason = first.map(|error| shown_text(&error.message));
            }
        }
        report.record_error = self.save_record(&report).err().map(Diagnostic::from);
        report
    }

    /// Writes the record, and a copy next to each wheel.
    fn save_record(&self, report: &BuildReport) -> Result<(), FileError> {
        let record = &report.record;
        record.save(&self.prepared.directory.record())?;
        record
            .wheels
            .iter()
            .try_for_each(|wheel| record.save(&self.out().join(record_name(&wheel.name))))
    }

    /// Returns a warning if the build used another torch than that of the label.
    fn torch_warning(&self, report: &BuildReport) -> Option<Diagnostic> {
        let (job, compat) = (&self.prepared.job, self.prepared.caller.compat);
        let label = LabelParts::parse(job.label.as_ref()?, compat.rocm_versions()).ok()?;
        let found = torch_contradictions(&label.parts, &report.record.used, compat);
        let (first, others) = found.split_first()?;
        let warning = others.iter().fold(
            Diagnostic::new(&codes::TORCH_NOT_OF_LABEL, first.clone()),
            |warning, other| warning.note(other.clone()),
        );
        let is_pure = job.wheels().all(|wheel| wheel.ends_with("-any.whl"));
        Some(warning.help(if is_pure {
            "the wheel has no compiled code, so this does not affect it"
        } else {
            "build it with the torch and the ROCm of its label: `publish` refuses compiled code that was built with another one"
        }))
    }

    fn deliver(&mut self) -> Result<Vec<BuiltWheel>, Diagnostics> {
        let PreparedBuild { job, build, .. } = self.prepared;
        if let Some(archive) = job.archive() {
            return copy_out(&self.archive(archive)?, self.out())
                .map_err(|error| collect_error(&error));
        }
        let sdist = job.sdist();
        if let Some(sdist) = sdist {
            self.check_sdist_name(sdist)?;
        }
        let mut wheels = collect(self.directory(), &build.wheels, job.wheels().count())
            .map_err(|error| collect_error(&error))?;
        let verified = job.gates.contains(&Gate::Verify);
        let label = job.label.as_ref().filter(|_| build.relabel);
        let repairs = is_repaired(job);
        if label.is_some() || repairs {
            let time = self.source_date()?;
            for found in &mut wheels {
                // Labelling and repairing write new hashes, which would hide a wrong RECORD of the
                // build.
                if verified {
                    self.verify(found)?;
                }
                if let Some(label) = label {
                    *found = self.label(found, label, time)?;
                }
                if repairs {
                    *found = self.repair(found, time)?;
                }
            }
        }
        // A wheel of another name is not delivered under any gates.
        wheels_match(
            job.wheels().map(String::as_str),
            wheels.iter().map(|found| found.name.as_str()),
        )
        .map_err(|error| collect_error(&error))?;
        for found in &wheels {
            if verified {
                self.verify(found)?;
            }
            if job.gates.contains(&Gate::Check) {
                self.check(found)?;
            }
            if job.gates.contains(&Gate::Contents) {
                self.check_contents(found)?;
            }
        }
        let mut files = match sdist {
            Some(sdist) => self.archive(sdist)?,
            None => Vec::new(),
        };
        files.extend(wheels);
        copy_out(&files, self.out()).map_err(|error| collect_error(&error))
    }

    /// Returns the archive of the build under the name of the plan.
    fn archive(&self, name: &str) -> Result<Vec<CollectedWheel>, Diagnostics> {
        let mut found = collect(self.directory(), &self.prepared.build.archive, 1)
            .map_err(|error| collect_error(&error))?;
        for file in &mut found {
            name.clone_into(&mut file.name);
        }
        Ok(found)
    }

    /// Refuses a source distribution whose name differs from the plan's, because its name contains
    /// the version.
    fn check_sdist_name(&self, expected: &str) -> Result<(), Diagnostics> {
        let found = collect(self.directory(), &self.prepared.build.archive, 1)
            .map_err(|error| collect_error(&error))?;
        match found.as_slice() {
            [found] if found.name != expected => Err(collect_error(&CollectError::Name {
                expected: expected.to_owned(),
                found: found.name.clone(),
                reason: "it has a different version".to_owned(),
            })),
            _ => Ok(()),
        }
    }

    /// Returns the time of all members of a rewritten wheel: the one that the build's steps used.
    fn source_date(&self) -> Result<DosTime, Diagnostics> {
        let given = self.prepared.given_source_date();
        let time_s = match given {
            Some(text) => parse_source_date(text).map_err(rejected)?,
            None => source_date_s(self.directory()),
        };
        Ok(DosTime::from_epoch_s(time_s))
    }

    /// Repairs a wheel for the platform of the matrix file. Without a requested platform, a wheel
    /// that complies with none keeps its tag.
    fn repair(
        &mut self,
        found: &CollectedWheel,
        time: DosTime,
    ) -> Result<CollectedWheel, Diagnostics> {
        let prepared = self.prepared;
        let repair = &prepared.job.settings.repair;
        let platform = match &repair.platform {
            RepairPlatform::Tag(tag) => Some(tag.as_str()),
            RepairPlatform::Auto | RepairPlatform::Off => None,
        };
        let directory = self.checked(REPAIRED)?;
        let root = if prepared.is_contained() {
            self.checked(LIBRARIES_FOLDER)?
        } else {
            PathBuf::from("/")
        };
        let excluded = outside(repair, prepared.caller.compat);
        let repaired = self
            .auditor(&root, &excluded, platform)
            .and_then(|auditor| self.write_repaired(&auditor, &found.path, &directory, time));
        match repaired {
            Ok(repaired) => {
                (self.on_event)(BuildEvent::Repaired {
                    path: &found.path,
                    repaired: &repaired,
                });
                Ok(CollectedWheel {
                    path: repaired.path,
                    name: repaired.name.to_string(),
                })
            }
            Err(errors) if platform.is_none() && errors.as_slice().iter().all(is_out_of_reach) => {
                let warnings: Vec<Diagnostic> = errors.into_iter().map(kept_tag).collect();
                (self.on_event)(BuildEvent::Findings(&warnings));
                Ok(found.clone())
            }
            Err(errors) => {
                let message = format!("`{}` cannot be repaired", found.name);
                let refused = Diagnostic::new(&codes::WHEEL_REFUSED, message)
                    .note(self.kept_at(found))
                    .help("fix the build, list the libraries that are not to be grafted under `repair: {exclude: […]}`, or set `repair: off`");
                let errors = errors.into_iter().chain([refused]);
                Err(rejected(errors.collect::<Vec<_>>()))
            }
        }
    }

    /// Returns an auditor that takes libraries from below `root`, if it exists. `excluded` are names
    /// and shell patterns of libraries that are not grafted; without a platform, the most
    /// compatible one is selected.
    fn auditor(
        &self,
        root: &Path,
        excluded: &[String],
        platform: Option<&str>,
    ) -> Result<Auditor<'a>, Diagnostics> {
        let caller = self.prepared.caller;
        let exclude =
            LibraryPatterns::new(excluded.iter().map(String::as_str)).map_err(|error| {
                Diagnostic::new(&wheel_codes::BAD_PATTERN, error.to_string())
                    .help("shell patterns have `*`, `?` and `[…]`")
            })?;
        let options = AuditOptions {
            inspection: Inspection::REPAIR,
            exclude,
            requested_platform: platform.map(str::to_owned),
            verify_record: true,
            scratch: ScratchSpace::new(None).map_err(Diagnostic::from)?,
            ..AuditOptions::default()
        };
        let sysroot = Sysroot::new(root);
        let auditor = if sysroot.is_there() {
            let path = sysroot.search_path(None, caller.environment);
            Auditor::new(caller.compat, SystemLibraries::new(sysroot, path), options)
        } else {
            Auditor::new(caller.compat, NoLibraries, options)
        };
        Ok(auditor.with_progress(self.progress))
    }

    /// Writes the repaired wheel to a directory.
    fn write_repaired(
        &mut self,
        auditor: &Auditor<'_>,
        path: &Path,
        directory: &Path,
        time: DosTime,
    ) -> Result<RepairedWheel, Diagnostics> {
        let file = WheelFile::open(path)?;
        let audited = auditor.audit_as(&file.file_name, &file.name, &file.file)?;
        let plan = audited.plan_repair(RepairOptions {
            // Directories of the build machine do not exist on others.
            fix_rpaths: true,
            time: Some(time),
            // The build has set the time already: a wheel that needs no change keeps its bytes.
            force_rewrite_for_time: false,
            ..RepairOptions::default()
        })?;
        if let Some(note) = plan.note() {
            (self.on_event)(BuildEvent::RepairNote { path, note: &note });
        }
        Ok(plan.write(&RepairDestination {
            directory,
            input: path,
            overwrite: true,
            protected: &[],
            dry_run: false,
        })?)
    }

    /// Returns the wheel with its label, for a build that cannot set it.
    fn label(
        &self,
        found: &CollectedWheel,
        label: &LocalLabel,
        time: DosTime,
    ) -> Result<CollectedWheel, Diagnostics> {
        let (name, file) = open(found)?;
        let refused = |error: WheelError| rejected(error.diagnostic(&found.name));
        let wheel = Wheel::open(&file).map_err(refused)?;
        // The label of the plan replaces one that the project sets.
        let change =
            wheel::relabel(&wheel, &name, label, ExistingLabel::Replace).map_err(refused)?;
        let name = change.name.to_string();
        let path = self.checked(Path::new(LABELLED).join(&name))?;
        sys::save::<Diagnostic>(&path, OnExisting::Replace, |target| {
            let options = RewriteOptions {
                time: Some(time),
                ..RewriteOptions::default()
            };
            wheel::rewrite(&wheel, &change.edits, &options, target)
                .map(drop)
                .map_err(|error| error.diagnostic(&found.name))
        })
        .map_err(machine_error)?;
        Ok(CollectedWheel { path, name })
    }

    /// Refuses a wheel whose archive, RECORD or METADATA is wrong, and reports warnings.
    fn verify(&mut self, found: &CollectedWheel) -> Result<(), Diagnostics> {
        let (name, file) = open(found)?;
        self.pass(found, Gate::Verify, wheel::verify(&file, &name))
    }

    /// Refuses a wheel whose label, platforms, libraries or GPU code differ from the plan, and
    /// reports warnings.
    fn check(&mut self, found: &CollectedWheel) -> Result<(), Diagnostics> {
        let (name, file) = open(found)?;
        let job = &self.prepared.job;
        let mut findings = check_built_wheel(&name, &file, &job.gfx, self.prepared.caller.compat)
            .unwrap_or_else(|error| error.diagnostics());
        if job.settings.torch_from == TorchFrom::Host {
            // A build against the torch of this machine has the requested label; its record has the
            // versions used.
            for finding in &mut findings {
                if finding.code == &rocm_codes::NAME_NOT_IN_CONTENTS {
                    finding.severity = Severity::Warning;
                }
            }
        }
        self.pass(found, Gate::Check, findings)
    }

    /// Refuses a wheel without the contents and requirements that wheels of its distribution need,
    /// and reports warnings.
    fn check_contents(&mut self, found: &CollectedWheel) -> Result<(), Diagnostics> {
        let (name, file) = open(found)?;
        let compat = self.prepared.caller.compat;
        let findings = check_contents(&name, &file, &ExpectedWheels::default(), compat)
            .unwrap_or_else(|error| vec![error.diagnostic(&name.to_string())]);
        self.pass(found, Gate::Contents, findings)
    }

    /// Reports the findings of a gate.
    ///
    /// # Errors
    /// Returns the findings if one of them is an error.
    fn pass(
        &mut self,
        found: &CollectedWheel,
        gate: Gate,
        mut findings: Vec<Diagnostic>,
    ) -> Result<(), Diagnostics> {
        let errors = findings.iter().filter(|one| one.is_error()).count();
        if errors == 0 {
            (self.on_event)(BuildEvent::Findings(&findings));
            return Ok(());
        }
        let message = format!(
            "`{}` did not pass the gate `{gate}`: {}",
            found.name,
            counted(errors, "error")
        );
        findings.push(
            Diagnostic::new(&codes::WHEEL_REFUSED, message)
                .note(self.kept_at(found))
                .help("fix the recipe or the sources, then build again"),
        );
        Err(rejected(findings))
    }

    fn kept_at(&self, found: &CollectedWheel) -> String {
        let path = self.prepared.caller.shown(&found.path);
        format!("the wheel is kept at {path}")
    }

    /// Returns a path in the job directory that goes through no symlink.
    fn checked(&self, path: impl AsRef<Path>) -> Result<PathBuf, Diagnostics> {
        let place = self.prepared.directory.at(path);
        place.check().map_err(machine_error)?;
        Ok(place.path())
    }

    fn directory(&self) -> &Path {
        self.prepared.directory.path()
    }

    fn out(&self) -> &Path {
        &self.prepared.options.out
    }
}

/// Whether an error only says that the wheel complies with no platform.
fn is_out_of_reach(error: &Diagnostic) -> bool {
    error.code == &wheel_codes::PLATFORM_OUT_OF_REACH
}

/// Turns an error of a repair into a warning about a wheel that keeps its platform tag.
fn kept_tag(error: Diagnostic) -> Diagnostic {
    error
        .severity(Severity::Warning)
        .note("it keeps the platform tag of the build")
}

/// Returns the error for a wheel that did not pass a check.
fn rejected(errors: impl Into<Diagnostics>) -> Diagnostics {
    errors.into().exits_with(ExitClass::Input)
}

/// Returns the error for a file that could not be read or written.
fn machine_error(error: impl Into<Diagnostic>) -> Diagnostics {
    Diagnostics::from(error.into()).exits_with(ExitClass::Machine)
}

fn collect_error(error: &CollectError) -> Diagnostics {
    let diagnostic = Diagnostic::from(error);
    match error {
        CollectError::File(_) => machine_error(diagnostic),
        CollectError::Count { .. } | CollectError::Name { .. } => rejected(diagnostic),
    }
}

/// Opens a wheel of the build.
fn open(found: &CollectedWheel) -> Result<(WheelName, PositionalFile), Diagnostics> {
    let file = PositionalFile::open(&found.path).map_err(machine_error)?;
    let name = found.name.parse().map_err(|error: WheelNameError| {
        rejected(
            Diagnostic::new(&codes::WRONG_WHEEL, error.to_string())
                .help("see `collect: wheels` of the recipe and the log of the build"),
        )
    })?;
    Ok((name, file))
}
