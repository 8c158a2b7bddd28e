//! The jobs that a command line selects by matrix files, saved plans and names.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use itertools::Itertools as _;

use super::{Exit, Shell, load};
use crate::codes::{build, matrix, plan as codes};
use crate::compat::Compat;
use crate::config::{self, recipe::RecipeDocument};
use crate::diagnostic::{
    Diagnostic, Location, Severity, Sink,
    nearest::{did_you_mean, nearest, nearest_few, with_nearest},
    shell_line,
};
use crate::plan::{self, Job, Plan, PlanInputs};
use crate::recipe::container::EngineProgram;

/// Maximum number of jobs that a message lists.
const SHOWN: usize = 10;

/// A job with the recipe that builds it.
#[derive(Debug)]
pub(super) struct Ready {
    /// The job.
    pub(super) job: Job,
    /// Its recipe.
    pub(super) recipe: Arc<RecipeDocument>,
}

/// The jobs that a command line selects.
#[derive(Debug)]
pub(super) struct Named {
    /// The plan, unless a saved one was read.
    pub(super) plan: Option<Plan>,
    /// The named jobs, or all jobs if none is named.
    pub(super) jobs: Vec<Ready>,
    /// Whether jobs were named.
    pub(super) by_name: bool,
}

/// Plans the files among `words` and selects the jobs that the other words name by ID, wheel or
/// unique prefix of an ID. Words with a YAML or JSON extension are files; a `.json` file is a saved
/// plan.
///
/// # Errors
/// The exit code of the command; the reason is in the sink or was reported.
pub(super) fn named(
    shell: &Shell,
    compat: &Compat,
    words: &[String],
    sink: &mut Sink,
) -> Result<Named, Exit> {
    let (files, names): (Vec<&String>, Vec<&String>) =
        words.iter().partition(|word| is_file_of_jobs(word));
    let (saved, files): (Vec<&String>, Vec<&String>) =
        files.into_iter().partition(|word| ends_in(word, &["json"]));
    let (mut plan, mut matrices) = (None, Vec::new());
    if saved.is_empty() || !files.is_empty() {
        let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        matrices = load::matrices(shell, compat, &files, sink)?;
        if sink.has_errors() {
            return Err(Exit::Fault);
        }
        let made = load::plan(shell, &matrices, compat, &PlanInputs::default(), sink)
            .ok_or(Exit::Fault)?;
        if made.job_count() == 0 {
            let explain = ["rock-matrix", "plan", "--explain"]
                .map(str::to_owned)
                .into_iter();
            let line =
                shell_line(explain.chain(files.iter().map(|file| file.display().to_string())));
            sink.push(no_jobs(&made).help(format!("see every reason with `{line}`")));
        }
        plan = Some(made);
    }
    let mut read: Vec<(&String, Job)> = Vec::new();
    for path in saved {
        let found = plan::read_json(&load::plan_source(shell, Path::new(path))?, sink)
            .ok_or(Exit::Fault)?;
        read.extend(found.into_iter().map(|job| (path, job)));
    }
    let mut known: Vec<(String, String)> = Vec::new();
    if !names.is_empty() {
        let planned = plan.iter().flat_map(Plan::jobs);
        known.extend(planned.flat_map(|job| job.files().map(move |file| (job.id(), file))));
        known.extend(
            read.iter()
                .flat_map(|(_, job)| job.files().map(|file| (job.id.clone(), file.clone()))),
        );
    }
    let ids: Vec<&str> = names
        .iter()
        .filter_map(|name| id_of(name, &known, sink))
        .collect();
    if ids.len() < names.len() {
        return Err(Exit::Usage);
    }
    let is_wanted = |id: &str| names.is_empty() || ids.contains(&id);
    let recipes = if read.is_empty() {
        Arc::default()
    } else {
        load::recipes(shell, &[], sink)?
    };
    let mut jobs = Vec::new();
    for view in plan
        .iter()
        .flat_map(Plan::jobs)
        .filter(|view| is_wanted(&view.id()))
    {
        jobs.push(Ready {
            job: view.to_job(),
            recipe: matrices[view.matrix()].recipe.clone(),
        });
    }
    for (path, job) in read.into_iter().filter(|(_, job)| is_wanted(&job.id)) {
        let recipe = recipes.whole(&job.recipe).transpose().map_err(|fault| {
            sink.push(fault);
            Exit::Fault
        })?;
        let Some(recipe) = recipe else {
            let fault = Diagnostic::new(
                &build::BAD_RECIPE,
                format!("there is no recipe `{}`", job.recipe),
            );
            sink.push(
                fault
                    .at(Location::File(path.as_str().into()), "")
                    .help("give its folder with `--recipes`"),
            );
            return Err(Exit::Fault);
        };
        jobs.push(Ready { job, recipe });
    }
    Ok(Named {
        plan,
        jobs,
        by_name: !names.is_empty(),
    })
}

/// Returns every job of a recipe with these settings, without a matrix file.
///
/// # Errors
/// The exit code of the command; the errors are in the sink.
pub(super) fn of_recipe(
    shell: &Shell,
    compat: &Compat,
    name: &str,
    settings: &[(String, String)],
    sink: &mut Sink,
) -> Result<Vec<Ready>, Exit> {
    let recipes = load::recipes(shell, &[], sink)?;
    let Some(recipe) = recipes.known(name) else {
        sink.push(
            recipes
                .unknown(name)
                .at(Location::Argument("--recipe".to_owned()), ""),
        );
        return Err(Exit::Usage);
    };
    let source = config::matrix_of_settings(&recipe, settings).map_err(|faults| {
        sink.extend(faults);
        Exit::Fault
    })?;
    let matrix = super::documents::matrix(shell, compat, &source, sink)?;
    let matrices: Vec<_> = matrix.into_iter().collect();
    if sink.has_errors() {
        return Err(Exit::Fault);
    }
    let plan =
        load::plan(shell, &matrices, compat, &PlanInputs::default(), sink).ok_or(Exit::Fault)?;
    if plan.job_count() == 0 {
        let fault = no_jobs(&plan).severity(Severity::Error);
        sink.push(fault.help("choose other values with `--set`, such as those in the reasons"));
        return Err(Exit::Fault);
    }
    let ready = |view: plan::JobView| Ready {
        job: view.to_job(),
        recipe: matrices[view.matrix()].recipe.clone(),
    };
    Ok(plan.jobs().map(ready).collect())
}

/// Returns a warning that a plan has no jobs, with the first reasons.
fn no_jobs(plan: &Plan) -> Diagnostic {
    if plan.groups.iter().all(|group| !group.config.enabled) {
        return Diagnostic::new(
            &codes::EMPTY_PLAN,
            "every matrix file has `enabled: false`, so there are no jobs",
        );
    }
    let warning = Diagnostic::new(
        &codes::EMPTY_PLAN,
        "every combination is excluded, so there are no jobs",
    );
    plan::first_reasons(&plan.groups)
        .into_iter()
        .fold(warning, Diagnostic::note)
}

/// The place where the steps run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum EngineChoice {
    /// On this machine
    Local,
    /// In a Docker container
    Docker,
    /// In a Podman container
    Podman,
}

impl EngineChoice {
    /// Returns the container engine; `None` for this machine.
    pub(super) fn container(self) -> Option<EngineProgram> {
        match self {
            Self::Local => None,
            Self::Docker => Some(EngineProgram::Docker),
            Self::Podman => Some(EngineProgram::Podman),
        }
    }

    /// Returns its name on the command line and in records.
    pub(super) fn word(self) -> &'static str {
        self.container().map_or("local", EngineProgram::program)
    }
}

/// Rejects container arguments that matrix files do not allow either, and facts, given with an
/// option, that no recipe of the jobs has.
pub(super) fn check_given(
    jobs: &[Ready],
    docker_args: &[String],
    (option, facts): (&str, &[(String, String)]),
    sink: &mut Sink,
) {
    for (number, text) in docker_args.iter().enumerate() {
        if let Some((message, help)) = config::docker_argument_fault(number, text) {
            let place = Location::Argument(format!("--docker-arg {text}"));
            sink.push(
                Diagnostic::new(&matrix::BAD_DOCKER_ARGUMENT, message)
                    .at(place, "")
                    .help(help),
            );
        }
    }
    let known: BTreeSet<&str> = jobs
        .iter()
        .flat_map(|ready| ready.recipe.facts.keys())
        .map(String::as_str)
        .collect();
    for (name, _) in facts
        .iter()
        .filter(|(name, _)| !jobs.is_empty() && !known.contains(name.as_str()))
    {
        let near = nearest(name, known.iter().copied());
        let help = match (near, known.is_empty()) {
            (Some(near), _) => format!("use `{option} {near}=…`"),
            (None, true) => "remove it: the recipe has no facts".to_owned(),
            (None, false) => format!(
                "the facts are {}",
                known.iter().copied().collect::<Vec<_>>().join(", ")
            ),
        };
        let message = with_nearest(format!("no recipe of these jobs has a fact `{name}`"), near);
        let place = Location::Argument(format!("{option} {name}"));
        sink.push(
            Diagnostic::new(&build::UNKNOWN_FACT, message)
                .at(place, "")
                .help(help),
        );
    }
}

/// Returns the ID of the job of a workflow's matrix entry, which is JSON in this variable.
pub(super) fn leg_id(variable: &str, shell: &Shell) -> Result<String, Diagnostic> {
    let fault = |why: &str| {
        let message = format!("the variable `{variable}` {why}");
        let place = Location::Argument(format!("--job-env {variable}"));
        let fault = Diagnostic::new(&codes::BAD_JOB_VARIABLE, message).at(place, "");
        fault.help(format!(
            "set it with `env: {{{variable}: \"${{{{ toJSON(matrix) }}}}\"}}`"
        ))
    };
    let text = shell
        .environment
        .get(variable)
        .ok_or_else(|| fault("is not set"))?;
    let leg: serde_json::Value = serde_json::from_str(text).map_err(|_| fault("is not JSON"))?;
    let id = leg
        .get("id")
        .and_then(serde_json::Value::as_str)
        .filter(|id| plan::is_id(id));
    id.map(str::to_owned)
        .ok_or_else(|| fault("is not an object with an `id`"))
}

/// Parses the name of a container image.
pub(super) fn image_name(text: &str) -> Result<String, String> {
    let is_word = !text.is_empty() && !text.starts_with('-') && !text.contains(char::is_whitespace);
    if is_word {
        Ok(text.to_owned())
    } else {
        Err("expected an image name, such as REPOSITORY:TAG".to_owned())
    }
}

/// Returns the ID of the job with this ID or wheel, or of the only job whose ID starts with the
/// name; reports an error if there is none.
fn id_of<'k>(name: &str, known: &'k [(String, String)], sink: &mut Sink) -> Option<&'k str> {
    if let Some((id, _)) = known.iter().find(|(id, _)| id == name) {
        return Some(id);
    }
    let ids = |is_selected: &dyn Fn(&(String, String)) -> bool| {
        let mut ids: Vec<&'k str> = known
            .iter()
            .filter(|one| is_selected(one))
            .map(|(id, _)| id.as_str())
            .collect();
        ids.dedup();
        ids
    };
    // Names of expected wheels may be incomplete, so several jobs may have the same.
    let of_wheel = ids(&|(_, wheel)| wheel == name);
    let is_wheel = !of_wheel.is_empty();
    let begun = if is_wheel {
        of_wheel
    } else {
        ids(&|(id, _)| id.starts_with(name))
    };
    let place = Location::Argument(name.to_owned());
    sink.push(match begun.as_slice() {
        [id] => return Some(id),
        [] => {
            let words = known
                .iter()
                .flat_map(|(id, wheel)| [id.as_str(), wheel.as_str()]);
            let near = nearest_few(name, words);
            let help = if near.is_empty() {
                one_of(known.iter().map(|(id, _)| id.as_str()))
            } else {
                did_you_mean(&near)
            };
            Diagnostic::new(&codes::UNKNOWN_JOB, format!("no job is called `{name}`"))
                .at(place, "")
                .help(help)
        }
        several => {
            let what = if is_wheel { "build" } else { "begin with" };
            Diagnostic::new(
                &codes::UNKNOWN_JOB,
                format!("{} jobs {what} `{name}`", several.len()),
            )
            .at(place, "")
            .help(one_of(several.iter().copied()))
        }
    });
    None
}

/// Whether a word of the command line is a matrix file or a saved plan rather than a job.
pub(super) fn is_file_of_jobs(word: &str) -> bool {
    ends_in(word, &["yaml", "yml", "json"])
}

fn ends_in(word: &str, ends: &[&str]) -> bool {
    Path::new(word)
        .extension()
        .is_some_and(|end| ends.iter().any(|known| end.eq_ignore_ascii_case(known)))
}

/// Returns a hint that lists the first of these jobs.
pub(super) fn one_of<'a>(ids: impl Iterator<Item = &'a str>) -> String {
    let ids: Vec<&str> = ids.unique().collect();
    let more = if ids.len() > SHOWN { ", …" } else { "" };
    match ids.as_slice() {
        [] => "choose files that have jobs".to_owned(),
        ids => format!(
            "name one of {}{more}",
            ids[..ids.len().min(SHOWN)].join(", ")
        ),
    }
}
