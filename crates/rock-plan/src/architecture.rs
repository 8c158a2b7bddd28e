//! Checks that the architectures of runners and platform tags agree.

use std::collections::BTreeSet;

use super::machine_kind::{MachineKind, arch_of_label};
use super::{Plan, PlanGroup};
use crate::codes::plan as codes;
use crate::config::Platform;
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Sink};

/// Reports conflicts between the architecture that jobs are built for and their runners, test
/// runners and platform tags. Each message is reported once per matrix file.
pub(super) fn check_architectures(plan: &Plan, compat: &Compat, sink: &mut Sink) {
    for (number, group) in plan.groups.iter().enumerate() {
        if group.config.platform != Platform::Linux {
            continue;
        }
        let mut seen = BTreeSet::new();
        let mut checked = BTreeSet::new();
        for job in group.jobs(number) {
            // Jobs with the same runner and the same tag, which implies the backend, are alike.
            if !checked.insert((job.compact.runner_choice, job.compact.tag)) {
                continue;
            }
            let choice = job.runner_choice();
            let Some(arch) = choice.machines.first().map(|machine| machine.arch.as_str()) else {
                continue;
            };
            for machine in choice.machines.iter().chain(&choice.tested_at) {
                let claimed = claimed(machine, compat);
                if claimed.len() > 1 {
                    let all: Vec<&str> = claimed.into_iter().collect();
                    let message = format!(
                        "`{}` selects runners of {}",
                        machine.labels.join(", "),
                        all.join(" and of ")
                    );
                    let fault = Diagnostic::new(&codes::ARCHITECTURE_CONFLICT, message);
                    report(
                        fault.help("remove one of the labels"),
                        "runner",
                        group,
                        &mut seen,
                        sink,
                    );
                }
            }
            if let Some(other) = choice.machines.iter().find(|machine| machine.arch != arch) {
                let message = format!(
                    "the runners of one pool have different architectures: {arch} and {}",
                    other.arch
                );
                let fault = Diagnostic::new(&codes::ARCHITECTURE_CONFLICT, message);
                report(
                    fault.help("use runners of one architecture"),
                    "runner",
                    group,
                    &mut seen,
                    sink,
                );
            }
            if let Some(other) = choice.tested_at.iter().find(|machine| machine.arch != arch) {
                let (own, labels) = (&other.arch, other.labels.join(", "));
                let message = format!(
                    "wheels are built for {arch}, but `{labels}`, which tests them, is {own}"
                );
                let fault = Diagnostic::new(&codes::ARCHITECTURE_CONFLICT, message);
                report(
                    fault.help(format!(
                        "test on an {arch} runner, or build on an {own} runner"
                    )),
                    "test.runner",
                    group,
                    &mut seen,
                    sink,
                );
            }
            let repair = group.config.repair.platform.to_string();
            let of_repair = Some(repair.as_str());
            let of_backend = job
                .backend()
                .tag
                .as_deref()
                .filter(|tag| tag.matches('-').count() == 2);
            let of_backend = of_backend
                .and_then(|tag| tag.rsplit_once('-'))
                .map(|(_, platform)| platform);
            for (tag, path) in [(of_repair, "repair.platform"), (of_backend, "runner")] {
                let Some(tag) = tag else { continue };
                let Some(of_tag) = of_tag(tag, compat).filter(|of_tag| *of_tag != arch) else {
                    continue;
                };
                let message =
                    format!("wheels are built for {arch}, but the tag `{tag}` is for {of_tag}");
                let fault = Diagnostic::new(&codes::ARCHITECTURE_CONFLICT, message);
                let help = format!("set `runner` to an {of_tag} runner, or use another tag");
                report(fault.help(help), path, group, &mut seen, sink);
            }
        }
    }
}

/// Returns the architecture that a platform tag ends with, if it is a known one.
fn of_tag<'a>(tag: &str, compat: &'a Compat) -> Option<&'a str> {
    compat
        .tables()
        .runners
        .iter()
        .map(|row| row.arch.as_str())
        .find(|arch| tag.ends_with(*arch))
}

/// Returns the architectures that the labels of a machine imply: those of known hosted runners, and
/// those of GitHub's own architecture labels.
fn claimed<'a>(machine: &'a MachineKind, compat: &'a Compat) -> BTreeSet<&'a str> {
    let of_label = |label: &'a String| {
        // The label of a self-hosted runner implies no architecture unless GitHub defines it.
        let row = compat
            .runner(label)
            .filter(|row| row.kind != "self-hosted")
            .map(|row| row.arch.as_str());
        row.or_else(|| arch_of_label(label))
    };
    machine.labels.iter().filter_map(of_label).collect()
}

fn report(
    fault: Diagnostic,
    path: &str,
    group: &PlanGroup,
    seen: &mut BTreeSet<String>,
    sink: &mut Sink,
) {
    if seen.insert(fault.message.clone()) {
        sink.push(fault.at(group.config.locations.of(path), ""));
    }
}
