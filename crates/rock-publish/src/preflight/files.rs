//! Checks of the names and the number of files that the plan expects.

use std::collections::BTreeMap;

use super::release::of_tag;
use super::{CheckResult, ObservedRepository, PreflightRequest, failed, passed, unknown};
use crate::checks::{is_kept_name, label_not_normal};
use crate::codes::release as codes;
use crate::remote::LONGEST_NAME_BYTES;
use crate::{MANIFEST, SUMS};
use rock_diagnostic::{Diagnostic, Location, Severity, counted};
use rock_plan::Job;

/// Returns the names of the wheels, archives and sdists of a plan, sorted and without duplicates.
pub fn planned_files(jobs: &[Job]) -> Vec<String> {
    let wheels = jobs.iter().flat_map(Job::wheels).cloned();
    let others = jobs
        .iter()
        .flat_map(|job| job.archive().into_iter().chain(job.sdist()))
        .map(str::to_owned);
    let mut names: Vec<String> = wheels.chain(others).collect();
    names.sort_unstable();
    names.dedup();
    names
}

pub(super) fn file_names(request: &PreflightRequest<'_>) -> CheckResult {
    if request.files.is_empty() {
        return unknown("no plan was given");
    }
    let fault = |name: &&str| {
        let (code, text, help) = if !is_kept_name(name) {
            (
                &codes::NAME_NOT_KEPT,
                "GitHub would store it under another name".to_owned(),
                "leave out the epoch",
            )
        } else if name.len() > LONGEST_NAME_BYTES {
            let text = format!(
                "its name has {} bytes; at most {LONGEST_NAME_BYTES} are possible",
                name.len()
            );
            (
                &codes::FILE_NOT_TAKEN,
                text,
                "use a shorter local version label",
            )
        } else if let Some((written, normal)) = label_not_normal(name) {
            let text = format!("its label is `{written}`, but the normal form is `{normal}`");
            (
                &codes::LABEL_NOT_NORMAL,
                text,
                "write the label in its normal form (PEP 440)",
            )
        } else {
            return None;
        };
        let fault = Diagnostic::new(code, format!("the plan expects `{name}`: {text}"))
            .severity(Severity::Error);
        Some(fault.at(Location::Url((*name).to_owned()), "").help(help))
    };
    let mut faults: Vec<Diagnostic> = request.files.iter().filter_map(fault).collect();
    let mut names: BTreeMap<String, &str> = BTreeMap::new();
    for name in &request.files {
        if let Some(other) = names
            .insert(name.to_lowercase(), name)
            .filter(|other| other != name)
        {
            let text = format!(
                "the plan expects `{other}` and `{name}`, which are the same name in a GitHub \
                 release"
            );
            let fault = Diagnostic::new(&codes::SAME_NAME_TWICE, text)
                .at(Location::Url((*name).to_owned()), "");
            faults.push(fault.help("give one of them another version or label"));
        }
    }
    if faults.is_empty() {
        passed(format!(
            "{} of the plan can be published",
            counted(request.files.len(), "name")
        ))
    } else {
        CheckResult::Failed(faults)
    }
}

pub(super) fn files_per_hour(
    request: &PreflightRequest<'_>,
    observed: &ObservedRepository,
) -> CheckResult {
    if request.files.is_empty() {
        return unknown("no plan was given");
    }
    let releases = observed.releases.as_deref().unwrap_or_default();
    let is_there = |name: &str| {
        of_tag(request, releases)
            .iter()
            .any(|of| of.assets.iter().any(|a| a.name == name))
    };
    let sent = request.files.iter().filter(|name| !is_there(name)).count() + [SUMS, MANIFEST].len();
    let most = request.files_per_hour;
    if sent <= most {
        return passed(format!("{sent} files can be uploaded within an hour"));
    }
    if request.slow {
        return passed(format!(
            "{sent} files take longer than an hour, which `--slow` allows"
        ));
    }
    failed(
        Diagnostic::new(
            &codes::TOO_MANY_CALLS,
            format!(
                "{sent} files would be uploaded, but only {most} can be uploaded within an hour"
            ),
        )
        .at(Location::Argument("--plan".to_owned()), "")
        .help(
            "publish with `--slow`, and pass it here too; `rock-matrix render workflow` adds it if \
             the plan needs it",
        ),
    )
}
