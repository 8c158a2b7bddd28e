//! Checks for jobs that do not fit on their planned runner, and for caches that exceed GitHub's
//! limit.
//!
//! Input: a plan and the table `build-needs`. Output: one diagnostic per matrix file and reason,
//! and one for all caches.
//!
//! **Invariant:** a runner with unknown disk, threads or time limit fits every job, since the
//! person who chose it knows better. So does the runner of Windows jobs, which no workflow runs.

use std::collections::BTreeMap;

use super::estimate::IDLE_MIN;
use super::{JobView, Plan, PlanGroup};
use crate::codes::build;
use crate::codes::plan as codes;
use crate::config::{MissingImage, Platform};
use rock_compat::Compat;
use rock_compat::rows::BuildNeedRow;
use rock_diagnostic::{Diagnostic, Severity, Sink, counted};

/// Reports jobs that need more disk space or time than their runner has: as errors if they will run
/// on that runner, and as warnings if they may be built elsewhere.
pub fn check_fit(plan: &Plan, compat: &Compat, severity: Severity, sink: &mut Sink) {
    let on_linux = |group: &PlanGroup| group.config.platform == Platform::Linux;
    for (number, group) in plan
        .groups
        .iter()
        .enumerate()
        .filter(|(_, group)| on_linux(group))
    {
        let Some(need) = compat
            .tables()
            .build_needs
            .iter()
            .find(|row| row.recipe == group.profile.name)
        else {
            continue;
        };
        let mut lacking: BTreeMap<(String, String), usize> = BTreeMap::new();
        for job in group.jobs(number) {
            for why in lacks(job, need) {
                *lacking
                    .entry((job.machine().labels.join(", "), why))
                    .or_default() += 1;
            }
        }
        for ((labels, why), count) in lacking {
            let verb = if count == 1 { "does" } else { "do" };
            let message = format!(
                "{} {verb} not fit on `{labels}`: {why}",
                counted(count as u64, "job")
            );
            sink.push(
                Diagnostic::new(&codes::JOB_DOES_NOT_FIT, message)
                    .severity(severity)
                    .at(group.config.locations.of("runner"), "")
                    .note(need.origin.r#ref.clone())
                    .help(
                        "set `runner` to a larger one, such as `self-hosted`, or `[self-hosted, \
                         LABEL]` for a label of yours",
                    ),
            );
        }
    }
}

/// Reports jobs that need a container image but have no known one, for matrix files with
/// `image: {missing: error}`. Jobs on runners without containers need no image.
pub fn check_images(plan: &Plan, sink: &mut Sink) {
    for (number, group) in plan.groups.iter().enumerate() {
        if group.config.image.missing != MissingImage::Error {
            continue;
        }
        let mut without: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for job in group.jobs(number) {
            let choice = job.runner_choice();
            if let (None, Some(why), true) = (
                &choice.image,
                &choice.note,
                choice.machines.iter().any(|machine| machine.docker),
            ) {
                without.entry(why).or_default().push(job.id());
            }
        }
        for (why, jobs) in without {
            let count = counted(jobs.len() as u64, "job");
            let message = format!(
                "no container image is known for {count}, such as `{}`",
                jobs[0]
            );
            sink.push(
                Diagnostic::new(&build::NO_IMAGE, message)
                    .at(
                        group.config.locations.of("image.missing"),
                        "this makes it an error",
                    )
                    .note(why.to_owned())
                    .help("set `image: {tag: …}`, exclude these cells, or set `missing: builder`"),
            );
        }
    }
}

/// Warns if the compiler caches together exceed GitHub's limit for one repository.
pub fn warn_of_caches(plan: &Plan, sink: &mut Sink) {
    let (total, limit) = (plan.cache_total_mb(), plan.cache_limit_mb);
    let Some(share) = plan.cache_share_mb().filter(|_| total > limit) else {
        return;
    };
    let message = format!(
        "the compiler caches of all builds take about {total} MB, but GitHub keeps at most {limit} \
         MB"
    );
    let warning = Diagnostic::new(&codes::CACHES_EXCEED_LIMIT, message)
        .note(format!("each build is limited to {share} MB"))
        .help(
            "build fewer combinations, build some in another repository, or choose a larger runner",
        );
    sink.push(match plan.groups.iter().find(|group| group.keeps_cache()) {
        Some(group) => warning.at(group.config.locations.of("workflow.cache"), ""),
        None => warning,
    });
}

/// Returns the reasons why a job does not fit.
fn lacks(job: JobView<'_>, need: &BuildNeedRow) -> Vec<String> {
    let machine = job.machine();
    let mut reasons = Vec::new();
    if let (Some(needed), Some(has)) = (need.disk_gib, machine.disk_gib)
        && needed > has
    {
        reasons.push(format!(
            "a build of `{}` needs {needed} GiB of disk, but the runner has {has} GiB",
            need.recipe
        ));
    }
    if let (Some(needed), Some(threads), Some(limit_min)) =
        (need.thread_hours, machine.threads, machine.limit_min)
    {
        let useful_min = u64::from(limit_min.saturating_sub(IDLE_MIN));
        if u64::from(needed) * 60 > useful_min * u64::from(threads) {
            let hours = limit_min / 60;
            let threads = counted(u64::from(threads), "thread");
            reasons.push(format!(
                "a build of `{}` needs {needed} thread-hours, but the runner has {threads} for \
                 {hours} h",
                need.recipe
            ));
        }
    }
    reasons
}
