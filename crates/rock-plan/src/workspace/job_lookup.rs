//! The jobs that a command line selects by matrix files, saved plans and names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use itertools::Itertools as _;

use super::document::read_stdin_document;
use super::{Workspace, WorkspaceData, is_stdin, load_recipes, read_plan_text};
use crate::codes::{build, plan as codes};
use crate::config::AxisOverrides;
use crate::config::matrix_of_settings;
use crate::config::recipe::RecipeDocument;
use crate::{Job, Plan, PlanInputs, first_reasons, read_json};
use rock_diagnostic::nearest::{did_you_mean, nearest_few};
use rock_diagnostic::{
    Diagnostic, Diagnostics, ExitClass, Location, Severity, Sink, SourceText, shell_line,
};

/// Maximum number of jobs that a message lists.
const MAX_LISTED_JOBS: usize = 10;

/// A job with the recipe that builds it.
#[derive(Debug)]
pub struct ReadyJob {
    /// The job.
    pub job: Job,
    /// Its recipe.
    pub recipe: Arc<RecipeDocument>,
}

/// The jobs that a command line selects.
#[derive(Debug)]
pub struct JobSelection {
    /// The plan, unless a saved one was read.
    pub plan: Option<Plan>,
    /// The named jobs, or all jobs if none is named.
    pub jobs: Vec<ReadyJob>,
    /// Whether jobs were named.
    pub by_name: bool,
    /// Warnings and notes about the files.
    pub warnings: Vec<Diagnostic>,
}

/// Looks up jobs.
#[derive(Debug, Clone)]
pub struct JobLookup<'c> {
    data: WorkspaceData<'c>,
}

/// The reason why no jobs are selected.
enum LookupError {
    /// The errors are in the sink.
    InSink(ExitClass),
    /// A file or directory cannot be read.
    Unreadable(Diagnostics),
}

impl From<Diagnostics> for LookupError {
    fn from(errors: Diagnostics) -> Self {
        Self::Unreadable(errors)
    }
}

impl LookupError {
    /// Returns all diagnostics; a file that cannot be read comes first.
    fn with(self, sink: Sink) -> Diagnostics {
        let (mut diagnostics, exit_class) = match self {
            Self::InSink(exit_class) => (Vec::new(), exit_class),
            Self::Unreadable(errors) => (errors.into_vec(), ExitClass::Input),
        };
        diagnostics.extend(sink.finish());
        Diagnostics::from(diagnostics).exits_with(exit_class)
    }
}

impl<'c> JobLookup<'c> {
    /// Creates a lookup.
    pub fn new(data: WorkspaceData<'c>) -> Self {
        Self { data }
    }

    /// Plans the files among `words` and selects the jobs that the other words name by ID, wheel or
    /// unique prefix of an ID. Words with a YAML or JSON extension are files; a `.json` file is a
    /// saved plan, and `-` is standard input, which may hold either. Without files, the matrix files
    /// in `matrices/` are planned.
    ///
    /// # Errors
    /// If a file cannot be read or has errors, or if a name matches no job or several, which is an
    /// error of the command line. Returns warnings about the files too.
    pub fn find(&self, words: &[String]) -> Result<JobSelection, Diagnostics> {
        let mut sink = Sink::new();
        match self.select(words, &mut sink) {
            Ok(selection) => Ok(JobSelection {
                warnings: sink.finish(),
                ..selection
            }),
            Err(error) => Err(error.with(sink)),
        }
    }

    /// Selects every job of a recipe with these settings, without a matrix file.
    ///
    /// # Errors
    /// If the recipe is unknown, which is an error of the command line, if a setting is unknown or
    /// missing, or if every combination is excluded. Returns warnings too.
    pub fn find_by_recipe(
        &self,
        recipe: &str,
        settings: &[(String, String)],
    ) -> Result<JobSelection, Diagnostics> {
        let mut sink = Sink::new();
        match self.select_by_recipe(recipe, settings, &mut sink) {
            Ok(selection) => Ok(JobSelection {
                warnings: sink.finish(),
                ..selection
            }),
            Err(error) => Err(error.with(sink)),
        }
    }

    fn select(&self, words: &[String], sink: &mut Sink) -> Result<JobSelection, LookupError> {
        let (paths, names): (Vec<&String>, Vec<&String>) =
            words.iter().partition(|word| is_job_file(word));
        let stdin = paths
            .iter()
            .any(|path| is_stdin(Path::new(path)))
            .then(|| read_stdin_document(crate::LARGEST_PLAN_BYTES).map_err(Diagnostics::from))
            .transpose()?;
        let is_saved = |path: &&String| match &stdin {
            Some(source) if is_stdin(Path::new(path)) => is_saved_plan(source),
            _ => has_extension(path, &["json"]),
        };
        let (saved, files): (Vec<&String>, Vec<&String>) = paths.into_iter().partition(is_saved);
        let (mut plan, mut workspace) = (None, None);
        if saved.is_empty() || !files.is_empty() {
            let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
            let overrides = AxisOverrides::default();
            let read = Workspace::load_with_stdin(
                self.data.clone(),
                &files,
                stdin.as_ref(),
                &overrides,
                sink,
            )?;
            plan = Some(Self::plan_files(&read, &files, sink)?);
            workspace = Some(read);
        }
        let mut saved_jobs: Vec<(&String, Job)> = Vec::new();
        for path in saved {
            let source = match &stdin {
                Some(source) if is_stdin(Path::new(path)) => source.clone(),
                _ => read_plan_text(Path::new(path)).map_err(Diagnostics::from)?,
            };
            let jobs = read_json(&source, sink).ok_or(LookupError::InSink(ExitClass::Input))?;
            saved_jobs.extend(jobs.into_iter().map(|job| (path, job)));
        }
        let ids = ids_of_names(&names, plan.as_ref(), &saved_jobs, sink)?;
        let is_selected = |id: &str| names.is_empty() || ids.iter().any(|known| known == id);
        let mut jobs = Vec::new();
        if let (Some(plan), Some(workspace)) = (&plan, &workspace) {
            jobs.extend(ready_jobs(plan, workspace, is_selected));
        }
        let selected = saved_jobs
            .into_iter()
            .filter(|(_, job)| is_selected(&job.id));
        jobs.extend(self.with_recipes(selected.collect(), sink)?);
        Ok(JobSelection {
            plan,
            jobs,
            by_name: !names.is_empty(),
            warnings: Vec::new(),
        })
    }

    /// Plans matrix files; a plan without jobs is a warning.
    fn plan_files(
        workspace: &Workspace<'_>,
        files: &[PathBuf],
        sink: &mut Sink,
    ) -> Result<Plan, LookupError> {
        if sink.has_errors() {
            return Err(LookupError::InSink(ExitClass::Input));
        }
        let plan = workspace
            .plan(&PlanInputs::default(), sink)
            .ok_or(LookupError::InSink(ExitClass::Input))?;
        if plan.job_count() == 0 {
            let explain = ["rock-matrix", "plan", "--explain"].map(str::to_owned);
            let files = files.iter().map(|file| file.display().to_string());
            let line = shell_line(explain.into_iter().chain(files));
            sink.push(no_jobs(&plan).help(format!("see every reason with `{line}`")));
        }
        Ok(plan)
    }

    /// Finds the recipes of the jobs of saved plans.
    fn with_recipes(
        &self,
        saved: Vec<(&String, Job)>,
        sink: &mut Sink,
    ) -> Result<Vec<ReadyJob>, LookupError> {
        if saved.is_empty() {
            return Ok(Vec::new());
        }
        let recipes = load_recipes(self.data.directories, [], sink)?;
        let mut jobs = Vec::new();
        for (path, job) in saved {
            let error = match recipes.whole(&job.recipe) {
                Some(Ok(recipe)) => {
                    jobs.push(ReadyJob { job, recipe });
                    continue;
                }
                Some(Err(error)) => error,
                None => Diagnostic::new(
                    &build::BAD_RECIPE,
                    format!("there is no recipe `{}`", job.recipe),
                )
                .at(Location::File(path.as_str().into()), "")
                .help("give its folder with `--recipes`"),
            };
            sink.push(error);
            return Err(LookupError::InSink(ExitClass::Input));
        }
        Ok(jobs)
    }

    fn select_by_recipe(
        &self,
        name: &str,
        settings: &[(String, String)],
        sink: &mut Sink,
    ) -> Result<JobSelection, LookupError> {
        let recipes = load_recipes(self.data.directories, [], sink)?;
        let Some(recipe) = recipes.known(name) else {
            let place = Location::Argument("--recipe".to_owned());
            sink.push(recipes.unknown(name).at(place, ""));
            return Err(LookupError::InSink(ExitClass::Usage));
        };
        let source = matrix_of_settings(&recipe, settings).map_err(|errors| {
            sink.extend(errors);
            LookupError::InSink(ExitClass::Input)
        })?;
        let workspace = Workspace::from_matrix(self.data.clone(), &source, sink)?;
        if sink.has_errors() {
            return Err(LookupError::InSink(ExitClass::Input));
        }
        let plan = workspace
            .plan(&PlanInputs::default(), sink)
            .ok_or(LookupError::InSink(ExitClass::Input))?;
        if plan.job_count() == 0 {
            let error = no_jobs(&plan).severity(Severity::Error);
            sink.push(error.help("choose other values with `--set`, such as those in the reasons"));
            return Err(LookupError::InSink(ExitClass::Input));
        }
        let jobs = ready_jobs(&plan, &workspace, |_| true).collect();
        Ok(JobSelection {
            plan: Some(plan),
            jobs,
            by_name: false,
            warnings: Vec::new(),
        })
    }
}

/// Returns the selected jobs of a plan with the recipes of their matrix files.
fn ready_jobs(
    plan: &Plan,
    workspace: &Workspace<'_>,
    is_selected: impl Fn(&str) -> bool,
) -> impl Iterator<Item = ReadyJob> {
    plan.jobs()
        .filter(move |view| is_selected(&view.id()))
        .map(move |view| ReadyJob {
            job: view.to_job(),
            recipe: Arc::clone(&workspace.matrices()[view.matrix()].recipe),
        })
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
    first_reasons(&plan.groups)
        .into_iter()
        .fold(warning, Diagnostic::note)
}

/// Returns the ID of the job that each name selects; an error for each other name goes to the sink.
fn ids_of_names(
    names: &[&String],
    plan: Option<&Plan>,
    saved: &[(&String, Job)],
    sink: &mut Sink,
) -> Result<Vec<String>, LookupError> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let planned = plan.into_iter().flat_map(Plan::jobs);
    let mut known: Vec<(String, String)> = planned
        .flat_map(|job| job.files().map(move |file| (job.id(), file)))
        .collect();
    known.extend(
        saved
            .iter()
            .flat_map(|(_, job)| job.files().map(|file| (job.id.clone(), file.clone()))),
    );
    let mut ids = Vec::new();
    for name in names {
        match id_of_name(name, &known) {
            Ok(id) => ids.push(id.to_owned()),
            Err(error) => sink.push(error),
        }
    }
    if ids.len() < names.len() {
        Err(LookupError::InSink(ExitClass::Usage))
    } else {
        Ok(ids)
    }
}

/// Returns the ID of the job with this ID or wheel, or of the only job whose ID starts with the
/// name. `known` has the ID of each job with each of its files.
fn id_of_name<'k>(name: &str, known: &'k [(String, String)]) -> Result<&'k str, Diagnostic> {
    if let Some((id, _)) = known.iter().find(|(id, _)| id == name) {
        return Ok(id);
    }
    // Names of expected wheels may be incomplete, so several jobs may have the same.
    let of_wheel = ids_where(known, |_, wheel| wheel == name);
    let is_wheel = !of_wheel.is_empty();
    let found = if is_wheel {
        of_wheel
    } else {
        ids_where(known, |id, _| id.starts_with(name))
    };
    let (message, help) = match found.as_slice() {
        [id] => return Ok(id),
        [] => {
            let words = known
                .iter()
                .flat_map(|(id, wheel)| [id.as_str(), wheel.as_str()]);
            let near = nearest_few(name, words);
            let help = if near.is_empty() {
                list_jobs(known.iter().map(|(id, _)| id.as_str()))
            } else {
                did_you_mean(&near)
            };
            (format!("no job is called `{name}`"), help)
        }
        several => {
            let verb = if is_wheel { "build" } else { "begin with" };
            (
                format!("{} jobs {verb} `{name}`", several.len()),
                list_jobs(several.iter().copied()),
            )
        }
    };
    Err(Diagnostic::new(&codes::UNKNOWN_JOB, message)
        .at(Location::Argument(name.to_owned()), "")
        .help(help))
}

/// Returns the IDs of the jobs that match by ID and file.
fn ids_where(known: &[(String, String)], is_match: impl Fn(&str, &str) -> bool) -> Vec<&str> {
    let mut ids: Vec<&str> = known
        .iter()
        .filter(|(id, file)| is_match(id, file))
        .map(|(id, _)| id.as_str())
        .collect();
    ids.dedup();
    ids
}

/// Whether a word of the command line is a matrix file, a saved plan or standard input rather than
/// a job.
pub fn is_job_file(word: &str) -> bool {
    is_stdin(Path::new(word)) || has_extension(word, &["yaml", "yml", "json"])
}

fn has_extension(word: &str, extensions: &[&str]) -> bool {
    let extension = Path::new(word).extension();
    extension.is_some_and(|found| extensions.iter().any(|one| found.eq_ignore_ascii_case(one)))
}

/// Whether a text is JSON that `plan` wrote. A matrix file may be a mapping in braces too.
fn is_saved_plan(source: &SourceText) -> bool {
    source.text.trim_start().starts_with('{')
        && ["\"generator\"", "\"matrices\"", "\"jobs\""]
            .iter()
            .all(|key| source.text.contains(key))
}

/// Returns a hint that lists the first of these jobs.
pub fn list_jobs<'a>(ids: impl Iterator<Item = &'a str>) -> String {
    let ids: Vec<&str> = ids.unique().collect();
    let more = if ids.len() > MAX_LISTED_JOBS {
        ", …"
    } else {
        ""
    };
    match ids.as_slice() {
        [] => "choose files that have jobs".to_owned(),
        ids => format!(
            "name one of {}{more}",
            ids[..ids.len().min(MAX_LISTED_JOBS)].join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Vec<(String, String)> {
        [
            ("a-1", "a-1-py3.whl"),
            ("a-2", "a-2-py3.whl"),
            ("b-1", "shared-*.whl"),
            ("b-2", "shared-*.whl"),
        ]
        .map(|(id, wheel)| (id.to_owned(), wheel.to_owned()))
        .to_vec()
    }

    #[test]
    fn a_name_is_an_id_a_wheel_or_a_unique_prefix() {
        let known = known();
        let find = |name: &str| id_of_name(name, &known).map_err(|error| error.message);
        assert_eq!(find("a-2"), Ok("a-2"));
        assert_eq!(find("a-1-py3.whl"), Ok("a-1"));
        assert_eq!(find("a"), Err("2 jobs begin with `a`".to_owned()));
        let message = "2 jobs build `shared-*.whl`";
        assert_eq!(find("shared-*.whl"), Err(message.to_owned()));
        assert_eq!(find("c"), Err("no job is called `c`".to_owned()));
    }

    #[test]
    fn at_most_ten_jobs_are_listed() {
        assert_eq!(list_jobs(["a", "b", "a"].into_iter()), "name one of a, b");
        let ids: Vec<String> = (0..12).map(|n| n.to_string()).collect();
        assert_eq!(
            list_jobs(ids.iter().map(String::as_str)),
            "name one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …"
        );
    }
}
