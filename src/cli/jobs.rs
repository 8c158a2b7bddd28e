//! Jobs of a command line: matrix files or a saved plan, and the names of jobs among them.

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
    nearest::{nearest, with_nearest},
    shell_line,
};
use crate::plan::{self, Job, Plan, PlanInputs};
use crate::recipe::container::EngineProgram;

/// Jobs that a message lists.
const SHOWN: usize = 5;

/// A job with the recipe that builds it.
#[derive(Debug)]
pub(super) struct Ready {
    /// The job.
    pub(super) job: Job,
    /// Its recipe.
    pub(super) recipe: Arc<RecipeDocument>,
}

/// What a command line names.
#[derive(Debug)]
pub(super) struct Named {
    /// The plan, unless a saved one was read.
    pub(super) plan: Option<Plan>,
    /// The jobs named; all of them without a name.
    pub(super) jobs: Vec<Ready>,
    /// Whether jobs were named.
    pub(super) by_name: bool,
}

/// Plans the files among `words` and picks the jobs that the other words name by id, by
/// wheel, or by how one id begins. Words that end like YAML
/// or JSON files are files; a `.json` file is a saved plan.
///
/// # Errors
/// The exit of the command; why is in the sink or was told.
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
    if sink.has_errors() {
        return Err(Exit::Fault);
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

/// Returns every job that a recipe and settings make without a matrix file.
///
/// # Errors
/// The exit of the command; the faults are in the sink.
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
        sink.push(
            fault.help("choose other values with `--set`, such as those that the reasons name"),
        );
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
        "every combination is left out, so there are no jobs",
    );
    plan::first_reasons(&plan.groups)
        .into_iter()
        .fold(warning, Diagnostic::note)
}

/// What runs the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum EngineChoice {
    /// This machine
    Local,
    /// A docker container
    Docker,
    /// A podman container
    Podman,
}

impl EngineChoice {
    /// The container engine; `None` on this machine.
    pub(super) fn container(self) -> Option<EngineProgram> {
        match self {
            Self::Local => None,
            Self::Docker => Some(EngineProgram::Docker),
            Self::Podman => Some(EngineProgram::Podman),
        }
    }

    /// The word of the command line and of records.
    pub(super) fn word(self) -> &'static str {
        self.container().map_or("local", EngineProgram::program)
    }
}

/// Refuses what is given by hand for the builds of these jobs and would do nothing, or something
/// else than was meant: container arguments by the rule of the matrix file, and facts that no
/// recipe asks for.
pub(super) fn check_given(
    jobs: &[Ready],
    docker_args: &[String],
    facts: &[(String, String)],
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
            (Some(near), _) => format!("write `--fact {near}=…`"),
            (None, true) => "remove it: the recipe asks for no facts".to_owned(),
            (None, false) => format!(
                "the facts are {}",
                known.iter().copied().collect::<Vec<_>>().join(", ")
            ),
        };
        let message = with_nearest(format!("no recipe of these jobs has a fact `{name}`"), near);
        let place = Location::Argument(format!("--fact {name}"));
        sink.push(
            Diagnostic::new(&build::UNKNOWN_FACT, message)
                .at(place, "")
                .help(help),
        );
    }
}

/// The id of the job that a leg of a workflow's matrix is for; the leg is JSON in this variable.
///
/// # Errors
/// When the variable holds none.
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
    let leg: serde_json::Value = serde_json::from_str(text).map_err(|_| fault("holds no JSON"))?;
    let id = leg
        .get("id")
        .and_then(serde_json::Value::as_str)
        .filter(|id| plan::is_id(id));
    id.map(str::to_owned)
        .ok_or_else(|| fault("holds no object with an `id`"))
}

/// The name of an image on the command line.
pub(super) fn image_name(text: &str) -> Result<String, String> {
    let is_word = !text.is_empty() && !text.starts_with('-') && !text.contains(char::is_whitespace);
    if is_word {
        Ok(text.to_owned())
    } else {
        Err("an image is named as docker takes it, REPOSITORY:TAG".to_owned())
    }
}

/// The id of the job with this id or wheel, or of the only one whose id begins so; why there is
/// none goes to the sink.
fn id_of<'k>(name: &str, known: &'k [(String, String)], sink: &mut Sink) -> Option<&'k str> {
    if let Some((id, _)) = known.iter().find(|(id, _)| id == name) {
        return Some(id);
    }
    let ids = |is_meant: &dyn Fn(&(String, String)) -> bool| {
        let mut ids: Vec<&'k str> = known
            .iter()
            .filter(|one| is_meant(one))
            .map(|(id, _)| id.as_str())
            .collect();
        ids.dedup();
        ids
    };
    // Several jobs may expect wheels whose names are told apart by a version only.
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
            let help = match nearest(name, words) {
                Some(near) => format!("did you mean `{near}`?"),
                None => one_of(known.iter().map(|(id, _)| id.as_str())),
            };
            Diagnostic::new(&codes::UNKNOWN_JOB, format!("no job is called `{name}`"))
                .at(place, "")
                .help(help)
        }
        several => {
            let what = if is_wheel {
                "are expected to leave"
            } else {
                "begin with"
            };
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

/// Whether a word of the command line is a matrix file or a saved plan, and no name of a job.
pub(super) fn is_file_of_jobs(word: &str) -> bool {
    ends_in(word, &["yaml", "yml", "json"])
}

fn ends_in(word: &str, ends: &[&str]) -> bool {
    Path::new(word)
        .extension()
        .is_some_and(|end| ends.iter().any(|known| end.eq_ignore_ascii_case(known)))
}

/// Asks for one of these jobs, of which the first are listed.
pub(super) fn one_of<'a>(ids: impl Iterator<Item = &'a str>) -> String {
    let ids: Vec<&str> = ids.unique().collect();
    let more = if ids.len() > SHOWN { ", …" } else { "" };
    match ids.as_slice() {
        [] => "name files that have jobs".to_owned(),
        ids => format!(
            "name one of {}{more}",
            ids[..ids.len().min(SHOWN)].join(", ")
        ),
    }
}
