//! The end of a build: collects the wheels, checks them and copies them to the output directory.

use super::BuildRequest;
use super::prepare::{Prepared, shown};
use super::progress::span;
use crate::audit::check_built_wheel;
use crate::audit::expected::{ExpectedWheels, check_contents};
use crate::cli::wheel::{BuildLibraries, BuildRepair, repair_built, source_date_s};
use crate::cli::{Exit, Shell, load};
use crate::codes::{build as codes, rocm as rocm_codes, wheel as wheel_codes};
use crate::config::{Gate, RepairPlatform, TorchFrom};
use crate::diagnostic::{Diagnostic, Severity, counted};
use crate::exec::{self, BuildOutcome, BuiltWheel, CollectError, CollectedWheel, FinishedBuild};
use crate::names::{LabelParts, LocalLabel, WheelName, WheelNameError};
use crate::plan::Job;
use crate::publish::torch_contradictions;
use crate::recipe::measurements::{BuildMeasurements, MEASURED_FILE};
use crate::recipe::{LIBRARIES_FOLDER, is_repaired, outside};
use crate::sys::{self, OnExisting, PositionalFile};
use crate::wheel::{self, DosTime, ExistingLabel, RewriteOptions, Wheel, WheelError};

/// Delivers the wheels of a finished build: all of them or none.
pub(super) fn finish(
    job: &Prepared,
    built: &mut FinishedBuild,
    args: &BuildRequest<'_>,
    shell: &Shell,
) -> Exit {
    if job.build.wheels.is_empty() && job.build.archive.is_empty() {
        return Exit::Done;
    }
    let (exit, outcome, reason) = match deliver(job, args, shell) {
        Ok(wheels) => {
            shell.report(&other_torch(job, built, shell));
            let told = say(&wheels, built, args, shell);
            built.record.wheels = wheels;
            (told, BuildOutcome::Done, None)
        }
        Err(Undelivered::Refused(faults)) => {
            shell.report(&faults);
            let first = faults.into_iter().find(Diagnostic::is_error);
            (
                Exit::Fault,
                BuildOutcome::Refused,
                first.map(|fault| fault.message),
            )
        }
        Err(Undelivered::Machine(fault)) => {
            shell.report(std::slice::from_ref(&fault));
            (Exit::Machine, BuildOutcome::Machine, Some(fault.message))
        }
    };
    built.record.outcome = outcome;
    built.record.reason = reason.map(|reason| exec::shown_text(&reason));
    match save(job, built, args) {
        Ok(()) => exit,
        Err(error) => {
            shell.report(&[error.into()]);
            Exit::Machine
        }
    }
}

/// Warns if the build used another torch than that of the label.
fn other_torch(job: &Prepared, built: &FinishedBuild, shell: &Shell) -> Vec<Diagnostic> {
    let Ok(compat) = load::compat(shell) else {
        return Vec::new();
    };
    let label = job
        .job
        .label
        .as_ref()
        .and_then(|label| LabelParts::parse(label, &compat.rocm_versions()).ok());
    let Some(label) = label else {
        return Vec::new();
    };
    let found = torch_contradictions(&label.parts, &built.record.used, compat);
    let Some((first, others)) = found.split_first() else {
        return Vec::new();
    };
    let warning = others.iter().fold(
        Diagnostic::new(&codes::TORCH_NOT_OF_LABEL, first.clone()),
        |warning, other| warning.note(other.clone()),
    );
    let help = if job.job.wheels().all(|wheel| wheel.ends_with("-any.whl")) {
        "the wheel has no compiled code, so this does not affect it"
    } else {
        "build it with the torch and the ROCm of its label: `publish` refuses compiled code that was built with another one"
    };
    vec![warning.help(help)]
}

/// Writes the measurements of a build next to its record, and returns their row for the summary. A
/// failure to write them is only a warning.
pub(super) fn measure(job: &Prepared, built: &FinishedBuild, exit: Exit, shell: &Shell) -> String {
    let record = &built.record;
    let measured = BuildMeasurements {
        version: 1,
        job: record.job.clone(),
        exit: i32::from(exit.code()),
        seconds: record.seconds,
        disk_before_bytes: record.disk_before_bytes.unwrap_or_default(),
        disk_after_bytes: record.disk_after_bytes.unwrap_or_default(),
        wheel_bytes: record.wheels.iter().map(|wheel| wheel.size_bytes).sum(),
    };
    if let Err(error) = sys::replace_file(
        &job.folder.path().join(MEASURED_FILE),
        measured.to_json().as_bytes(),
    ) {
        shell.report(&[Diagnostic::from(error).severity(Severity::Warning)]);
    }
    measured.row()
}

/// The reason why wheels were not delivered.
enum Undelivered {
    /// They did not pass a check.
    Refused(Vec<Diagnostic>),
    /// A file could not be read or written.
    Machine(Diagnostic),
}

impl From<CollectError> for Undelivered {
    fn from(fault: CollectError) -> Self {
        let told = Diagnostic::from(&fault);
        if matches!(fault, CollectError::File(_)) {
            Self::Machine(told)
        } else {
            Self::Refused(vec![told])
        }
    }
}

fn deliver(
    job: &Prepared,
    args: &BuildRequest<'_>,
    shell: &Shell,
) -> Result<Vec<BuiltWheel>, Undelivered> {
    let of_archive = |archive: &str| -> Result<Vec<CollectedWheel>, CollectError> {
        let found = exec::collect(job.folder.path(), &job.build.archive, 1)?;
        Ok(found
            .into_iter()
            .map(|found| CollectedWheel {
                name: archive.to_owned(),
                ..found
            })
            .collect())
    };
    if let Some(archive) = job.job.archive() {
        return Ok(exec::copy_out(&of_archive(archive)?, args.out)?);
    }
    let sdist = job.job.sdist();
    if let Some(sdist) = sdist {
        named_whole(sdist, job)?;
    }
    let mut wheels = exec::collect(
        job.folder.path(),
        &job.build.wheels,
        job.job.wheels().count(),
    )?;
    let verified = job.job.gates.contains(&Gate::Verify);
    let label = job.job.label.as_ref().filter(|_| job.build.relabel);
    let repairs = is_repaired(&job.job);
    if label.is_some() || repairs {
        let time = source_date(job, shell)?;
        for found in &mut wheels {
            // Labelling and repairing write new hashes, which would hide a wrong RECORD of the
            // build.
            if verified {
                verify(found, shell)?;
            }
            if let Some(label) = label {
                *found = labelled(found, label, job, time)?;
            }
            if repairs {
                *found = repaired(found, job, time, shell)?;
            }
        }
    }
    // A wheel of another name is not delivered under any gates.
    exec::wheels_match(
        job.job.wheels().map(String::as_str),
        wheels.iter().map(|found| found.name.as_str()),
    )?;
    for found in &wheels {
        if verified {
            verify(found, shell)?;
        }
        if job.job.gates.contains(&Gate::Check) {
            check(found, &job.job, shell)?;
        }
        if job.job.gates.contains(&Gate::Contents) {
            holds_all(found, shell)?;
        }
    }
    let mut files = sdist.map(of_archive).transpose()?.unwrap_or_default();
    files.extend(wheels);
    Ok(exec::copy_out(&files, args.out)?)
}

/// Refuses a source distribution whose name differs from the plan's, because its name contains the
/// version.
fn named_whole(expected: &str, job: &Prepared) -> Result<(), CollectError> {
    match exec::collect(job.folder.path(), &job.build.archive, 1)?.as_slice() {
        [found] if found.name != expected => Err(CollectError::Name {
            expected: expected.to_owned(),
            found: found.name.clone(),
            reason: "it has a different version".to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Returns the time of all members of a rewritten wheel: the one that the build's steps used.
fn source_date(job: &Prepared, shell: &Shell) -> Result<DosTime, Undelivered> {
    let given = source_date_s(shell.environment.get(exec::SOURCE_DATE))
        .map_err(|fault| Undelivered::Refused(vec![fault]))?;
    Ok(DosTime::from_epoch_s(
        given.unwrap_or_else(|| exec::source_date_s(job.folder.path())),
    ))
}

/// Repairs a wheel for the platform of the matrix file. Without a requested platform, a wheel that
/// complies with none keeps its tag.
fn repaired(
    found: &CollectedWheel,
    job: &Prepared,
    time: DosTime,
    shell: &Shell,
) -> Result<CollectedWheel, Undelivered> {
    let compat = load::compat(shell).map_err(|_| Undelivered::Refused(Vec::new()))?;
    let folder = job.folder.at(exec::REPAIRED);
    folder
        .check()
        .map_err(|error| Undelivered::Machine(error.into()))?;
    let libraries = if job.is_contained() {
        let root = job.folder.at(LIBRARIES_FOLDER);
        root.check()
            .map_err(|error| Undelivered::Machine(error.into()))?;
        BuildLibraries::Below(root.path())
    } else {
        BuildLibraries::Machine
    };
    let repair = &job.job.settings.repair;
    let platform = match &repair.platform {
        RepairPlatform::Tag(tag) => Some(tag.as_str()),
        RepairPlatform::Auto | RepairPlatform::Off => None,
    };
    let outside = outside(repair, compat);
    let how = BuildRepair {
        compat,
        platform,
        outside: &outside,
        libraries,
        folder: &folder.path(),
        time,
    };
    match repair_built(&found.path, &how, shell) {
        Ok(done) => {
            for line in &done.grafts {
                shell.say(line);
            }
            shell.report(&done.findings);
            let name = done.name.to_string();
            if name != found.name {
                shell.say(&format!("repaired for {}", done.name.platform_tags()));
            }
            Ok(CollectedWheel {
                path: done.path,
                name,
            })
        }
        Err(faults) => {
            let is_out_of_reach =
                |one: &Diagnostic| one.code == &wheel_codes::PLATFORM_OUT_OF_REACH;
            if platform.is_none() && faults.as_slice().iter().all(is_out_of_reach) {
                let soft = |one: Diagnostic| {
                    one.severity(Severity::Warning)
                        .note("it keeps the platform tag of the build")
                };
                shell.report(&faults.into_iter().map(soft).collect::<Vec<_>>());
                return Ok(found.clone());
            }
            let message = format!("`{}` cannot be repaired", found.name);
            let refused = Diagnostic::new(&codes::WHEEL_REFUSED, message)
                .note(format!("the wheel is kept at {}", shown(&found.path, shell)))
                .help("fix the build, list the libraries that are not to be grafted under `repair: {exclude: […]}`, or set `repair: off`");
            Err(Undelivered::Refused(
                faults.into_iter().chain([refused]).collect(),
            ))
        }
    }
}

/// Returns the wheel with its label, for a build that cannot set it.
fn labelled(
    found: &CollectedWheel,
    label: &LocalLabel,
    job: &Prepared,
    time: DosTime,
) -> Result<CollectedWheel, Undelivered> {
    let (name, file) = open(found)?;
    let refused = |error: WheelError| Undelivered::Refused(vec![error.diagnostic(&found.name)]);
    let wheel = Wheel::open(&file).map_err(refused)?;
    // The label of the plan replaces one that the project sets.
    let change = wheel::relabel(&wheel, &name, label, ExistingLabel::Replace).map_err(refused)?;
    let name = change.name.to_string();
    let place = job
        .folder
        .at(std::path::Path::new(exec::LABELLED).join(&name));
    place
        .check()
        .map_err(|error| Undelivered::Machine(error.into()))?;
    let path = place.path();
    sys::save::<Diagnostic>(&path, OnExisting::Replace, |target| {
        let options = RewriteOptions {
            time: Some(time),
            ..RewriteOptions::default()
        };
        wheel::rewrite(&wheel, &change.edits, &options, target)
            .map(drop)
            .map_err(|e| e.diagnostic(&found.name))
    })
    .map_err(Undelivered::Machine)?;
    Ok(CollectedWheel { path, name })
}

/// Refuses a wheel whose archive, RECORD or METADATA is wrong, and reports warnings.
fn verify(found: &CollectedWheel, shell: &Shell) -> Result<(), Undelivered> {
    let (name, file) = open(found)?;
    pass(found, Gate::Verify, wheel::verify(&file, &name), shell)
}

/// Refuses a wheel whose label, platforms, libraries or GPU code differ from the plan, and reports
/// warnings.
fn check(found: &CollectedWheel, job: &Job, shell: &Shell) -> Result<(), Undelivered> {
    let (name, file) = open(found)?;
    let compat = load::compat(shell).map_err(|_| Undelivered::Refused(Vec::new()))?;
    let told = check_built_wheel(&name, &file, &job.gfx, compat)
        .unwrap_or_else(|error| error.diagnostics());
    // A build against the torch of this machine has the requested label; its record has the
    // versions used.
    let is_asked_for = |one: &Diagnostic| {
        one.code == &rocm_codes::LABEL_NOT_IN_CONTENTS && job.settings.torch_from == TorchFrom::Host
    };
    let soft = |one: Diagnostic| {
        if is_asked_for(&one) {
            one.severity(Severity::Warning)
        } else {
            one
        }
    };
    pass(
        found,
        Gate::Check,
        told.into_iter().map(soft).collect(),
        shell,
    )
}

/// Refuses a wheel without the contents and requirements that wheels of its distribution need, and
/// reports warnings.
fn holds_all(found: &CollectedWheel, shell: &Shell) -> Result<(), Undelivered> {
    let (name, file) = open(found)?;
    let compat = load::compat(shell).map_err(|_| Undelivered::Refused(Vec::new()))?;
    let told = check_contents(&name, &file, &ExpectedWheels::default(), compat)
        .unwrap_or_else(|error| vec![error.diagnostic(&name.to_string())]);
    pass(found, Gate::Contents, told, shell)
}

fn pass(
    found: &CollectedWheel,
    gate: Gate,
    mut told: Vec<Diagnostic>,
    shell: &Shell,
) -> Result<(), Undelivered> {
    let errors = told.iter().filter(|one| one.is_error()).count();
    if errors == 0 {
        shell.report(&told);
        return Ok(());
    }
    let message = format!(
        "`{}` did not pass the gate `{gate}`: {}",
        found.name,
        counted(errors, "error")
    );
    told.push(
        Diagnostic::new(&codes::WHEEL_REFUSED, message)
            .note(format!(
                "the wheel is kept at {}",
                shown(&found.path, shell)
            ))
            .help("fix the recipe or the sources, then build again"),
    );
    Err(Undelivered::Refused(told))
}

fn open(found: &CollectedWheel) -> Result<(WheelName, PositionalFile), Undelivered> {
    let file =
        PositionalFile::open(&found.path).map_err(|error| Undelivered::Machine(error.into()))?;
    let bad_name = |error: WheelNameError| {
        let told = Diagnostic::new(&codes::WRONG_WHEEL, error.to_string());
        Undelivered::Refused(vec![
            told.help("see `collect: wheels` of the recipe and the log of the build"),
        ])
    };
    Ok((found.name.parse().map_err(bad_name)?, file))
}

/// Writes the record, and a copy next to each wheel.
fn save(
    job: &Prepared,
    built: &FinishedBuild,
    args: &BuildRequest<'_>,
) -> Result<(), sys::FileError> {
    built.record.save(&job.folder.record())?;
    for wheel in &built.record.wheels {
        built
            .record
            .save(&args.out.join(exec::record_name(&wheel.name)))?;
    }
    Ok(())
}

fn say(
    wheels: &[BuiltWheel],
    built: &FinishedBuild,
    args: &BuildRequest<'_>,
    shell: &Shell,
) -> Exit {
    let used: Vec<String> = built
        .record
        .used
        .iter()
        .filter_map(|(name, value)| Some(format!("{name} {}", value.as_ref()?)))
        .collect();
    let took = span(std::time::Duration::from_secs(built.record.seconds));
    match built.passed_over {
        0 => shell.say(&format!("built in {took}")),
        stages => shell.say(&format!(
            "built in {took}; skipped {}",
            counted(stages, "completed stage")
        )),
    }
    if !used.is_empty() {
        shell.say(&format!("used {}", used.join(", ")));
    }
    if args.options.is_json() {
        return Exit::Done;
    }
    let line = |wheel: &BuiltWheel| {
        let path = shown(std::path::Path::new(&wheel.path), shell);
        format!("{path}  {}  {} bytes\n", wheel.digest, wheel.size_bytes)
    };
    shell.print(&wheels.iter().map(line).collect::<String>())
}
