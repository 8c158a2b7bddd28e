//! What repairing a wheel takes, as options ask for it.

use std::io;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::super::bar::{Bar, Watchers};
use super::super::judging::Judge;
use super::Job;
use crate::audit::{
    self, Fingerprint, MachineLibrary, Needless, Plan, Repair, Report, Verdict, Wanted,
};
use crate::bytes::{ReadAt, for_each_chunk};
use crate::codes::{rocm as rocm_codes, wheel as codes};
use crate::compat::policy::PolicyFamily;
use crate::diagnostic::{Diagnostic, Location, Severity};
use crate::names::{Arch, Digest, TagSet};
use crate::sys;
use crate::wheel::{
    ExistingLabel, RenamePlan, RetagOptions, TagChange, Wheel, WheelError, relabel, retag,
};

/// What repairing the wheel takes.
pub(super) fn planned(
    job: &Job<'_>,
    wheel: &Wheel<'_>,
    report: &Report<'_>,
    verdict: &Verdict<'_>,
) -> Result<Plan, Vec<Diagnostic>> {
    let Job {
        file, args, judge, ..
    } = *job;
    let how = Repair {
        wanted: args
            .wanted()
            .map_or(Wanted::Best, |tag| Wanted::Tag(tag.to_owned())),
        only_wanted: args.only_plat,
        keeps_claims: args.keep_claimed_tags,
        keeps_tags: args.no_update_tags || verdict.judging.is_libc_open,
        folder_ending: args.lib_sdir.clone(),
        mends_paths: args.fix_rpath,
        allowed_paths: judge.allowed_paths.clone(),
        of_rocm: judge.of_rocm(),
        taken: wheel
            .archive()
            .members()
            .iter()
            .map(|member| member.name().to_owned())
            .collect(),
    };
    let mut digests = |library: &MachineLibrary| fingerprint(judge, library);
    let mut plan = audit::plan(&file.name, &report.files, verdict, &how, &mut digests)?;
    if args.dedup_sonames {
        plan.drop_copies(needless(job, wheel, report)?);
    }
    if !args.no_graft || plan.grafts.is_empty() {
        return Ok(plan);
    }
    let names: Vec<&str> = plan
        .grafts
        .iter()
        .flat_map(|graft| &graft.needed_as)
        .map(String::as_str)
        .collect();
    let noun = if plan.grafts.len() == 1 {
        "library"
    } else {
        "libraries"
    };
    let message = format!(
        "{} {noun} would come along: {}",
        plan.grafts.len(),
        names.join(", ")
    );
    Err(vec![
        Diagnostic::new(&codes::GRAFTS_FORBIDDEN, message)
            .at(Location::File(file.shown.as_str().into()), "")
            .help("leave them out with `--exclude` or `--exclude-preset`"),
    ])
}

/// Copies of libraries that nothing names.
fn needless(
    job: &Job<'_>,
    wheel: &Wheel<'_>,
    report: &Report<'_>,
) -> Result<Vec<Needless>, Vec<Diagnostic>> {
    let bar = Bar::new(Watchers::of(job.shell), &job.file.shown);
    let found = audit::needless_copies(wheel.archive(), &report.files, job.kept, &|progress| {
        bar.tell(progress);
    });
    found.map_err(|error| vec![error.diagnostic(&job.file.shown)])
}

/// What tells a library of the machine from others.
fn fingerprint(judge: &Judge, library: &MachineLibrary) -> Result<Fingerprint, Diagnostic> {
    let fault = |error| {
        Diagnostic::from(sys::FileError::new(
            "read",
            Path::new(&library.real_path),
            error,
        ))
    };
    let source = judge.open(&library.real_path).map_err(fault)?;
    let digest = sha256(source.as_ref()).map_err(fault)?;
    Ok(Fingerprint {
        digest,
        size_bytes: source.size_bytes(),
    })
}

/// The SHA-256 of a file, in hexadecimal.
///
/// # Errors
/// When it cannot be read.
pub(super) fn sha256(source: &dyn ReadAt) -> io::Result<String> {
    let mut hasher = Sha256::new();
    for_each_chunk(source, |piece| hasher.update(piece))?;
    Ok(Digest::new(hasher.finalize().into()).to_hex())
}

/// What repairing a wheel without libraries takes: one for any platform is for the wanted one as it
/// is, and another is named for it.
///
/// One for a system that is not judged keeps its tags.
///
/// # Errors
/// When there is no such platform, or it is not of the wheel's system.
pub(super) fn without_libraries(
    job: &Job<'_>,
    report: &Report<'_>,
) -> Result<Plan, Vec<Diagnostic>> {
    let Job {
        file, args, judge, ..
    } = *job;
    let Some(wanted) = args.wanted() else {
        return Ok(Plan::of_tags(file.name.platform.clone()));
    };
    if let Some(system) = report.foreign_system {
        let message = format!(
            "the wheel is for {system}, which is not judged, and cannot be named `{wanted}`"
        );
        let fault = Diagnostic::new(&rocm_codes::FOREIGN_SYSTEM, message);
        let fault = fault.at(Location::File(file.shown.as_str().into()), "");
        return Err(vec![
            fault.help("leave `--plat` out: the wheel is copied as it is"),
        ]);
    }
    let arch = Arch::of_platform_tag(wanted).or_else(|| {
        let tags = file.name.platform.tags();
        tags.iter().find_map(|tag| Arch::of_platform_tag(tag))
    });
    let family = if wanted.starts_with("musllinux") {
        PolicyFamily::Musllinux
    } else {
        PolicyFamily::Manylinux
    };
    let policies = judge.policies(family, arch.unwrap_or(Arch::X86_64));
    let tags = policies.get(wanted).and_then(|policy| {
        let tags: Vec<String> = if policy.is_linux() {
            vec![policy.tag()]
        } else {
            policy.tags()
        };
        tags.join(".").parse::<TagSet>().ok()
    });
    match tags {
        Some(_) if args.no_update_tags || file.name.is_any_platform() => {
            Ok(Plan::of_tags(file.name.platform.clone()))
        }
        Some(tags) => Ok(Plan::of_tags(tags)),
        None => Err(vec![audit::unknown_platform(&file.name, wanted, &policies)]),
    }
}

/// The new name, what it changes in dist-info, and what a person should know of a new label.
pub(super) fn renamed(
    job: &Job<'_>,
    wheel: &Wheel<'_>,
    report: &Report<'_>,
    plan: &Plan,
) -> Result<RenamePlan<'static>, Vec<Diagnostic>> {
    let fault = |error: WheelError| vec![error.diagnostic(&job.file.shown)];
    let tags = TagChange::Replace(plan.platform.tags.clone());
    let keeps_tags = job.args.no_update_tags
        || (report.verdict.is_none() && plan.platform.tags == job.file.name.platform);
    let change = RetagOptions {
        platform: (!keeps_tags).then_some(tags),
        ..RetagOptions::default()
    };
    let mut retagged = retag(wheel, &job.file.name, &change).map_err(fault)?;
    if let Some(label) = &job.args.relabel {
        let labelled =
            relabel(wheel, &retagged.name, label, ExistingLabel::Replace).map_err(fault)?;
        retagged.name = labelled.name;
        retagged
            .edits
            .renamed_dirs
            .extend(labelled.edits.renamed_dirs);
        retagged.edits.replaced.extend(labelled.edits.replaced);
        retagged.findings.extend(labelled.findings);
        let against = audit::label_findings(&retagged.name, report, job.judge.compat);
        retagged
            .findings
            .extend(against.into_iter().map(|one| match one.severity {
                Severity::Error => one.severity(Severity::Warning),
                _ => one,
            }));
    }
    Ok(retagged)
}
