//! The options that all matrix files of a workflow must share.

use std::collections::BTreeSet;

use super::WorkflowOverrides;
use crate::codes::{build, plan as codes};
use crate::render::command;
use rock_diagnostic::{Diagnostic, Location, Sink, render::is_invisible};
use rock_plan::config::{CheckProfile, MatrixConfig, Platform, ReleaseConfig, WorkflowConfig};
use rock_plan::{Plan, PlanGroup};

/// The options of a workflow.
#[derive(Debug, Clone)]
pub(super) struct WorkflowOptions {
    pub(super) workflow: WorkflowConfig,
    pub(super) release: ReleaseConfig,
    /// Names of the secrets of all files, sorted.
    pub(super) secrets: Vec<String>,
    /// Names of the distributions, sorted.
    pub(super) distributions: Vec<String>,
    /// The kind of the wheels, which determines the checks.
    pub(super) checked_as: CheckProfile,
}

/// Returns the options of a plan's files; reports every place where they differ.
pub(super) fn agreed(plan: &Plan, sink: &mut Sink) -> Option<WorkflowOptions> {
    let first = &plan.groups.first()?.config;
    sink.extend(differ(plan));
    for group in plan
        .groups
        .iter()
        .filter(|group| group.config.platform == Platform::Windows && group.job_count() > 0)
    {
        sink.push(for_windows(
            &group.config,
            "a workflow cannot build jobs for Windows",
        ));
    }
    let collected = |of: fn(&MatrixConfig) -> Vec<String>| {
        let mut all: Vec<String> = plan
            .groups
            .iter()
            .flat_map(|group| of(&group.config))
            .collect();
        all.sort();
        all.dedup();
        all
    };
    Some(WorkflowOptions {
        workflow: first.workflow.clone(),
        release: first.release.clone(),
        secrets: collected(|config| config.secrets.clone()),
        distributions: collected(|config| vec![config.distribution.to_string()]),
        checked_as: plan.groups.first()?.profile.checked_as,
    })
}

/// Returns the diagnostic for a Windows matrix file, which a workflow cannot build.
pub fn for_windows(config: &MatrixConfig, message: impl Into<String>) -> Diagnostic {
    let words = [
        "rock-matrix",
        "render",
        "script",
        &config.locations.source().path,
        "--out",
        "rendered/",
    ];
    let command = command(&words.map(str::to_owned));
    Diagnostic::new(&build::WINDOWS_JOB, message)
        .at(config.locations.of("platform"), "")
        .help(format!(
            "omit the file; `{command}` writes a script that builds its jobs, with `--shell cmd` \
             for cmd"
        ))
}

/// Returns one diagnostic with every place where a file differs from the first one in `workflow`,
/// `release` or kind of wheels, and with the command for each workflow that can be rendered
/// instead.
fn differ(plan: &Plan) -> Option<Diagnostic> {
    let mut alike: Vec<Vec<&PlanGroup>> = Vec::new();
    let fields_of = |one: &PlanGroup, other: &PlanGroup| {
        [
            ("workflow", one.config.workflow == other.config.workflow),
            ("release", one.config.release == other.config.release),
            // All wheels of a release are checked together.
            ("recipe", one.profile.checked_as == other.profile.checked_as),
        ]
    };
    for group in &plan.groups {
        let same =
            |of: &&mut Vec<&PlanGroup>| fields_of(of[0], group).iter().all(|(_, same)| *same);
        match alike.iter_mut().find(same) {
            Some(of) => of.push(group),
            None => alike.push(vec![group]),
        }
    }
    let (first, others) = alike
        .split_first()
        .filter(|(_, others)| !others.is_empty())?;
    let first = first[0];
    let mut fields = BTreeSet::new();
    let mut locations = Vec::new();
    for other in others.iter().flatten() {
        for (field, _) in fields_of(first, other)
            .into_iter()
            .filter(|(_, same)| !same)
        {
            fields.insert(format!("`{field}`"));
            let location = other.config.locations.of(field);
            locations.push((
                location,
                format!("differs from `{}`", first.config.locations.source().path),
            ));
        }
    }
    let fields = fields.into_iter().collect::<Vec<_>>().join(" and ");
    let mut fault = Diagnostic::new(
        &codes::OPTIONS_DIFFER,
        format!("the files of a workflow have different {fields}"),
    );
    for (number, (location, text)) in locations.into_iter().enumerate() {
        fault = if number == 0 {
            fault.at(location, text)
        } else {
            fault.also(location, text)
        };
    }
    let commands: Vec<String> = alike
        .iter()
        .map(|of| format!("`{}`", render_command(of)))
        .collect();
    let help = "use the same values in each, or render several workflows with different tags";
    Some(fault.help(format!("{help}: {}", commands.join(", "))))
}

/// Returns the command that renders a workflow of these files, named after the first one.
fn render_command(files: &[&PlanGroup]) -> String {
    let paths: Vec<&str> = files
        .iter()
        .map(|group| &*group.config.locations.source().path)
        .collect();
    let name = paths[0]
        .rsplit('/')
        .next()
        .and_then(|name| name.rsplit_once('.'))
        .map_or("wheels", |(stem, _)| stem);
    let out = format!(".github/workflows/{name}.yml");
    let words = ["rock-matrix", "render", "workflow"]
        .into_iter()
        .chain(paths)
        .chain(["--out", &out]);
    command(&words.map(str::to_owned).collect::<Vec<_>>())
}

/// Checks the paths that the workflow repeats. It runs in a checkout, so they must be relative,
/// stay below the root, and contain nothing that GitHub would evaluate.
pub(super) fn check_paths(plan: &Plan, words: &WorkflowOverrides<'_>, sink: &mut Sink) {
    let read = plan
        .groups
        .iter()
        .map(|group| &*group.config.locations.source().path);
    let named = words
        .files
        .iter()
        .map(String::as_str)
        .chain(words.compat)
        .chain(words.recipes)
        .chain([words.out]);
    for path in read.chain(named).collect::<BTreeSet<_>>() {
        let from_root = "run the command in the repository's root, and pass paths relative to it";
        let (why, help) = if path.starts_with('/') {
            ("is not below the repository's root", from_root)
        } else if path.split('/').any(|part| part == "..") {
            ("leads out of the repository", from_root)
        } else if path.contains("${{") {
            ("contains `${{`, which GitHub evaluates", "rename it")
        } else if path.chars().any(is_unseen) {
            ("contains a control or invisible character", "rename it")
        } else if path == "-" {
            (
                "is standard input, which the workflow does not have",
                "save the matrix file, and name it",
            )
        } else if path.starts_with('-') {
            ("begins with `-`, like an option", "rename it")
        } else {
            continue;
        };
        let shown: String = path
            .chars()
            .map(|c| if is_unseen(c) { '\u{fffd}' } else { c })
            .collect();
        let fault = Diagnostic::new(
            &codes::PATH_NOT_IN_CHECKOUT,
            format!("`{shown}` cannot be used in a workflow: it {why}"),
        );
        sink.push(fault.at(Location::Argument(shown.clone()), "").help(help));
    }
}

/// Whether a character could end a line for some reader, or hide the text around it.
fn is_unseen(c: char) -> bool {
    c.is_control() || is_invisible(c)
}
