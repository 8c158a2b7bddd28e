//! What several matrix files of one workflow must agree on.

use std::collections::BTreeSet;

use super::Words;
use crate::config::{Config, Platform, Release, Workflow};
use crate::diagnostic::{
    Diagnostic, Place, Sink,
    registry::{build, plan as codes},
    render::is_invisible,
};
use crate::plan::Plan;

/// The options of a workflow.
#[derive(Debug, Clone)]
pub(super) struct Agreed {
    pub(super) workflow: Workflow,
    pub(super) release: Release,
    /// Names of secrets of all files, sorted.
    pub(super) secrets: Vec<String>,
    /// The projects, sorted.
    pub(super) distributions: Vec<String>,
}

/// The options of all files of a plan; where they differ, that is a fault at each place.
pub(super) fn agreed(plan: &Plan, sink: &mut Sink) -> Option<Agreed> {
    let first = &plan.groups.first()?.config;
    for group in plan.groups.iter().skip(1) {
        differ(first, &group.config, "workflow", first.workflow == group.config.workflow, sink);
        differ(first, &group.config, "release", first.release == group.config.release, sink);
    }
    for group in plan.groups.iter().filter(|group| group.config.platform == Platform::Windows && group.job_count() > 0)
    {
        let told = Diagnostic::new(&build::WINDOWS_JOB, "jobs for Windows can be planned, not built by a workflow")
            .at(group.config.places.of("platform"), "")
            .help("leave this file out of the workflow");
        sink.push(told);
    }
    let collected = |of: fn(&Config) -> Vec<String>| {
        let mut all: Vec<String> = plan.groups.iter().flat_map(|group| of(&group.config)).collect();
        all.sort();
        all.dedup();
        all
    };
    Some(Agreed {
        workflow: first.workflow.clone(),
        release: first.release.clone(),
        secrets: collected(|config| config.secrets.clone()),
        distributions: collected(|config| vec![config.distribution.to_string()]),
    })
}

fn differ(first: &Config, other: &Config, field: &str, same: bool, sink: &mut Sink) {
    if !same {
        let message =
            format!("`{field}` differs from that of `{}`, and they make one workflow", first.places.source().path);
        sink.push(
            Diagnostic::new(&codes::OPTIONS_DIFFER, message)
                .at(other.places.of(field), "")
                .also(first.places.of(field), "the other one")
                .help("write the same in both, or render a workflow for each"),
        );
    }
}

/// Paths that were named or found stand in the workflow, which runs in a checkout: they are relative, stay below it, and
/// hold nothing that GitHub would evaluate.
pub(super) fn check_paths(plan: &Plan, words: &Words<'_>, sink: &mut Sink) {
    let read = plan.groups.iter().map(|group| &*group.config.places.source().path);
    let named = words.files.iter().map(String::as_str).chain(words.compat).chain(words.recipes).chain([words.out]);
    for path in read.chain(named).collect::<BTreeSet<_>>() {
        let from_root = "run the command in the repository's root, and name files by paths from there";
        let (why, help) = if path.starts_with('/') {
            ("is not below the repository's root", from_root)
        } else if path.split('/').any(|part| part == "..") {
            ("leaves the repository", from_root)
        } else if path.contains("${{") {
            ("holds `${{`, which GitHub evaluates", "rename it")
        } else if path.chars().any(is_unseen) {
            ("holds a control character or an invisible one", "rename it")
        } else if path.starts_with('-') {
            ("begins with `-`, like an option", "rename it")
        } else {
            continue;
        };
        let shown: String = path.chars().map(|c| if is_unseen(c) { '\u{fffd}' } else { c }).collect();
        let told =
            Diagnostic::new(&codes::PATH_NOT_IN_CHECKOUT, format!("`{shown}` cannot stand in a workflow: it {why}"));
        sink.push(told.at(Place::Argument(shown.clone()), "").help(help));
    }
}

/// Whether it could end a line for some reader, or hide what stands there.
fn is_unseen(c: char) -> bool {
    c.is_control() || is_invisible(c)
}
