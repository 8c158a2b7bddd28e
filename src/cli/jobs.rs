//! Jobs of a command line: matrix files or a saved plan, and the names of jobs among them.

use std::path::{Path, PathBuf};

use super::{Exit, Shell, load};
use crate::compat::Compat;
use crate::config::recipe::RecipeDocument;
use crate::diagnostic::{
    Diagnostic, Place, Sink,
    nearest::nearest,
    registry::{build, plan as codes},
};
use crate::plan::{self, Job, JobView, Options, Plan};

/// A job with the recipe that builds it.
#[derive(Debug)]
pub(super) struct Ready {
    /// The job.
    pub(super) job: Job,
    /// Its recipe.
    pub(super) recipe: RecipeDocument,
}

/// What a command line names.
#[derive(Debug)]
pub(super) struct Named {
    /// The plan, unless a saved one was read.
    pub(super) plan: Option<Plan>,
    /// The jobs named; all of them without a name.
    pub(super) jobs: Vec<Ready>,
}

/// Plans the files among `words` and picks the jobs that the other words name by id or wheel. Words that end like YAML
/// or JSON files are files; a `.json` file is a saved plan.
///
/// # Errors
/// The exit of the command; why is in the sink or was told.
pub(super) fn named(shell: &Shell, compat: &Compat, words: &[String], sink: &mut Sink) -> Result<Named, Exit> {
    let has = |word: &str, ends: &[&str]| {
        Path::new(word).extension().is_some_and(|end| ends.iter().any(|known| end.eq_ignore_ascii_case(known)))
    };
    let (files, names): (Vec<&String>, Vec<&String>) =
        words.iter().partition(|word| has(word, &["yaml", "yml", "json"]));
    let (saved, files): (Vec<&String>, Vec<&String>) = files.into_iter().partition(|word| has(word, &["json"]));
    let mut plan = None;
    let mut jobs = Vec::new();
    if saved.is_empty() || !files.is_empty() {
        let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        let matrices = load::matrices(shell, compat, &files, sink)?;
        if sink.has_errors() {
            return Err(Exit::Fault);
        }
        let made = load::plan(shell, &matrices, compat, &Options::default(), sink).ok_or(Exit::Fault)?;
        jobs.extend(
            picked(&made, &names)
                .map(|view| Ready { job: view.to_job(), recipe: matrices[view.matrix()].recipe.clone() }),
        );
        plan = Some(made);
    }
    let recipes = if saved.is_empty() { Vec::new() } else { load::recipes(shell, sink)? };
    for path in saved {
        let found = plan::read_json(&load::source(shell, Path::new(path))?, sink).ok_or(Exit::Fault)?;
        for job in found.into_iter().filter(|job| names.is_empty() || is_named(&names, &job.id, &job.wheel)) {
            let Some(recipe) = recipes.iter().find(|recipe| recipe.name == job.recipe) else {
                let fault = Diagnostic::new(&build::BAD_RECIPE, format!("there is no recipe `{}`", job.recipe));
                sink.push(fault.at(Place::File(path.as_str().into()), "").help("give its folder with `--recipes`"));
                return Err(Exit::Fault);
            };
            jobs.push(Ready { recipe: recipe.clone(), job });
        }
    }
    for name in &names {
        if !jobs.iter().any(|ready| is_named(&[name], &ready.job.id, &ready.job.wheel)) {
            sink.push(unknown(name, plan.as_ref()));
        }
    }
    if sink.has_errors() { Err(Exit::Fault) } else { Ok(Named { plan, jobs }) }
}

fn picked<'p>(plan: &'p Plan, names: &'p [&String]) -> impl Iterator<Item = JobView<'p>> {
    plan.jobs().filter(move |view| names.is_empty() || is_named(names, &view.id(), &view.wheel()))
}

fn is_named(names: &[&String], id: &str, wheel: &str) -> bool {
    names.iter().any(|name| *name == id || *name == wheel)
}

fn unknown(name: &str, plan: Option<&Plan>) -> Diagnostic {
    let fault = Diagnostic::new(&codes::UNKNOWN_JOB, format!("no job is called `{name}`"))
        .at(Place::Argument(name.to_owned()), "");
    let known: Vec<String> = plan.into_iter().flat_map(Plan::jobs).flat_map(|job| [job.id(), job.wheel()]).collect();
    match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => fault.help(format!("did you mean `{near}`?")),
        None => fault.help("`rock-matrix plan --explain` lists the ids and the wheels"),
    }
}
