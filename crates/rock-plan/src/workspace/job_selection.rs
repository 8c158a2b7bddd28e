//! The jobs that a command line selects by matrix files, saved plans and names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use itertools::Itertools as _;

use super::document::read_stdin_document;
use super::{Workspace, WorkspaceOptions, is_stdin, read_text, with_sink};
use crate::codes::{build, plan as codes};
use crate::config::recipe::{RecipeDocument, RecipeSet};
use crate::config::{ParsedFile, is_saved_plan, matrix_of_settings};
use crate::{Job, LARGEST_PLAN_BYTES, Plan, PlanInputs, first_reasons, read_json};
use rock_diagnostic::nearest::{did_you_mean, nearest_few};
use rock_diagnostic::{Diagnostic, Diagnostics, ExitClass, Location, Severity, Sink, shell_line};

/// Maximum number of jobs that a message lists.
const MAX_LISTED_JOBS: usize = 10;

/// A job with the recipe that builds it.
#[derive(Debug)]
pub struct ReadyJob {
    /// The job.
    pub job: Job,
    /// Its recipe, merged with the recipes that it uses.
    pub recipe: Arc<RecipeDocument>,
}

/// The jobs that a command line selects.
#[derive(Debug)]
pub struct JobSelection {
    plan: Option<Plan>,
    jobs: Vec<ReadyJob>,
    is_by_name: bool,
    source: SelectionSource,
}

/// The source of the selected jobs.
#[derive(Debug)]
enum SelectionSource {
    /// The matrix files and saved plans among the arguments.
    Files(Vec<String>),
    /// The recipe of this name, without a matrix file.
    Recipe(String),
}

/// The reason why no jobs are selected.
enum SelectionError {
    /// The errors are in the sink.
    InSink(ExitClass),
    /// A file or directory cannot be read.
    Unreadable(Diagnostics),
}

impl From<Diagnostics> for SelectionError {
    fn from(errors: Diagnostics) -> Self {
        Self::Unreadable(errors)
    }
}

impl SelectionError {
    /// Returns all diagnostics; a file that cannot be read comes first.
    fn with(self, sink: Sink) -> Diagnostics {
        match self {
            Self::InSink(exit_class) => Diagnostics::from(sink.finish()).exits_with(exit_class),
            Self::Unreadable(errors) => with_sink(errors.exits_with(ExitClass::Input), sink),
        }
    }
}

impl JobSelection {
    /// Plans the files among `arguments` and selects the jobs that the other arguments name by ID,
    /// wheel or unique prefix of an ID; without names, all jobs. Arguments with a YAML or JSON
    /// extension are files. A `.json` file is a saved plan, and `-` is standard input, which may be
    /// either. Without files, the matrix files in `matrices/` are planned. Returns warnings about
    /// the files too.
    ///
    /// # Errors
    /// If a file cannot be read or has errors, or if a name matches no job or several, which is an
    /// error of the command line.
    pub fn load(
        arguments: &[String],
        options: &WorkspaceOptions<'_>,
    ) -> Result<(Self, Vec<Diagnostic>), Diagnostics> {
        let mut sink = Sink::new();
        match Self::select(arguments, options, &mut sink) {
            Ok(selection) => Ok((selection, sink.finish())),
            Err(error) => Err(error.with(sink)),
        }
    }

    /// Selects every job of a recipe, without a matrix file. `settings` are values of axes, of
    /// variables of the recipe and of keys of matrix files, by name. Returns warnings too.
    ///
    /// # Errors
    /// If the recipe is unknown, which is an error of the command line, if a setting is unknown or
    /// missing, or if every combination is excluded.
    pub fn from_recipe(
        recipe: &str,
        settings: &[(String, String)],
        options: &WorkspaceOptions<'_>,
    ) -> Result<(Self, Vec<Diagnostic>), Diagnostics> {
        let mut sink = Sink::new();
        match Self::select_by_recipe(recipe, settings, options, &mut sink) {
            Ok(selection) => Ok((selection, sink.finish())),
            Err(error) => Err(error.with(sink)),
        }
    }

    /// Returns the plan of the matrix files; `None` if there are only saved plans.
    pub fn plan(&self) -> Option<&Plan> {
        self.plan.as_ref()
    }

    /// Returns the selected jobs: those of matrix files, then those of saved plans.
    pub fn jobs(&self) -> &[ReadyJob] {
        &self.jobs
    }

    /// Returns the selected jobs: those of matrix files, then those of saved plans.
    pub fn into_jobs(self) -> Vec<ReadyJob> {
        self.jobs
    }

    /// Returns whether the jobs were selected by name.
    pub fn is_by_name(&self) -> bool {
        self.is_by_name
    }

    /// Returns a hint that lists the first of the selected jobs, `name one of a, b`.
    pub fn names_hint(&self) -> String {
        list_jobs(self.jobs.iter().map(|ready| ready.job.id.as_str()))
    }

    /// Returns the help for a job that can only be built on a Windows machine: how to render its
    /// script.
    pub fn windows_help(&self, id: &str) -> String {
        match &self.source {
            SelectionSource::Recipe(recipe) => format!(
                "write `recipe: {recipe}` and these settings into a matrix file, and run the output of `rock-matrix render script` on a Windows machine"
            ),
            SelectionSource::Files(files) => {
                let command = ["rock-matrix", "render", "script"].into_iter();
                let words = files.iter().map(String::as_str);
                let line = shell_line(command.chain(words).chain([id]));
                if files.iter().any(|file| is_stdin(Path::new(file))) {
                    format!(
                        "run the output of `{line} < FILE` on a Windows machine; FILE contains what this command read from standard input"
                    )
                } else {
                    format!("run the output of `{line}` on a Windows machine")
                }
            }
        }
    }

    fn select(
        arguments: &[String],
        options: &WorkspaceOptions<'_>,
        sink: &mut Sink,
    ) -> Result<Self, SelectionError> {
        let (paths, names): (Vec<&String>, Vec<&String>) =
            arguments.iter().partition(|argument| is_job_file(argument));
        let stdin = paths
            .iter()
            .any(|path| is_stdin(Path::new(path)))
            .then(|| read_stdin_document(LARGEST_PLAN_BYTES).map_err(Diagnostics::from))
            .transpose()?;
        let is_saved = |path: &&String| match &stdin {
            Some(source) if is_stdin(Path::new(path)) => is_saved_plan(&source.text),
            _ => has_extension(path, &["json"]),
        };
        let (saved, files): (Vec<&String>, Vec<&String>) = paths.into_iter().partition(is_saved);
        let (mut plan, mut workspace) = (None, None);
        if saved.is_empty() || !files.is_empty() {
            let files: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
            let read = Workspace::read(&files, stdin.as_ref(), options, sink)?;
            // The files may be recipes for the jobs of saved plans.
            if saved.is_empty() || !read.matrices().is_empty() {
                plan = Some(plan_files(&read, &files, sink)?);
            } else if sink.has_errors() {
                return Err(SelectionError::InSink(ExitClass::Input));
            }
            workspace = Some(read);
        }
        let mut saved_jobs: Vec<(&String, Job)> = Vec::new();
        for path in saved {
            let source = match &stdin {
                Some(source) if is_stdin(Path::new(path)) => source.clone(),
                _ => read_text(Path::new(path), LARGEST_PLAN_BYTES).map_err(Diagnostics::from)?,
            };
            let jobs = read_json(&source, sink).ok_or(SelectionError::InSink(ExitClass::Input))?;
            saved_jobs.extend(jobs.into_iter().map(|job| (path, job)));
        }
        let ids = ids_of_names(&names, plan.as_ref(), &saved_jobs, sink)?;
        let is_selected = |id: &str| names.is_empty() || ids.iter().any(|known| known == id);
        let mut jobs = Vec::new();
        if let (Some(plan), Some(workspace)) = (&plan, &workspace) {
            jobs.extend(ready_jobs(plan, workspace, is_selected));
        }
        saved_jobs.retain(|(_, job)| is_selected(&job.id));
        if !saved_jobs.is_empty() {
            let recipes = match &workspace {
                Some(workspace) => Arc::clone(&workspace.recipes),
                None => options.directories().read_recipes(&[], sink)?,
            };
            jobs.extend(find_recipes(saved_jobs, &recipes, sink)?);
        }
        if sink.has_errors() {
            return Err(SelectionError::InSink(ExitClass::Input));
        }
        Ok(Self {
            plan,
            jobs,
            is_by_name: !names.is_empty(),
            source: SelectionSource::Files(job_files(arguments)),
        })
    }

    fn select_by_recipe(
        name: &str,
        settings: &[(String, String)],
        options: &WorkspaceOptions<'_>,
        sink: &mut Sink,
    ) -> Result<Self, SelectionError> {
        let recipes = options.directories().read_recipes(&[], sink)?;
        let recipe = match recipes.whole(name) {
            Some(Ok(recipe)) => recipe,
            Some(Err(error)) => {
                sink.push(error);
                return Err(SelectionError::InSink(ExitClass::Input));
            }
            None => {
                let place = Location::Argument("--recipe".to_owned());
                sink.push(recipes.unknown(name).at(place, ""));
                return Err(SelectionError::InSink(ExitClass::Usage));
            }
        };
        let source = matrix_of_settings(&recipe, settings).map_err(|errors| {
            sink.extend(errors);
            SelectionError::InSink(ExitClass::Input)
        })?;
        let file = ParsedFile::parse(source, sink);
        let workspace = Workspace::with_recipes(recipes, vec![file], options, sink);
        let plan = plan_workspace(&workspace, sink)?;
        if plan.job_count() == 0 {
            let error = no_jobs(&plan).severity(Severity::Error);
            sink.push(error.help("choose other values with `--set`, such as those in the reasons"));
            return Err(SelectionError::InSink(ExitClass::Input));
        }
        let jobs = ready_jobs(&plan, &workspace, |_| true).collect();
        Ok(Self {
            plan: Some(plan),
            jobs,
            is_by_name: false,
            source: SelectionSource::Recipe(name.to_owned()),
        })
    }
}

/// Plans a workspace whose files were read with this sink; warnings go to the sink.
fn plan_workspace(workspace: &Workspace<'_>, sink: &mut Sink) -> Result<Plan, SelectionError> {
    if sink.has_errors() {
        return Err(SelectionError::InSink(ExitClass::Input));
    }
    match workspace.plan(&PlanInputs::default()) {
        Ok((plan, warnings)) => {
            sink.extend(warnings);
            Ok(plan)
        }
        Err(errors) => {
            sink.extend(errors);
            Err(SelectionError::InSink(ExitClass::Input))
        }
    }
}

/// Plans the matrix files of a workspace; a plan without jobs is a warning.
fn plan_files(
    workspace: &Workspace<'_>,
    files: &[PathBuf],
    sink: &mut Sink,
) -> Result<Plan, SelectionError> {
    let plan = plan_workspace(workspace, sink)?;
    if plan.job_count() == 0 {
        let explain = ["rock-matrix", "plan", "--explain"].map(str::to_owned);
        let files = files.iter().map(|file| file.display().to_string());
        let line = shell_line(explain.into_iter().chain(files));
        sink.push(no_jobs(&plan).help(format!("see every reason with `{line}`")));
    }
    Ok(plan)
}

/// Finds the recipes of jobs of saved plans, each with the path of its plan.
fn find_recipes(
    saved_jobs: Vec<(&String, Job)>,
    recipes: &RecipeSet,
    sink: &mut Sink,
) -> Result<Vec<ReadyJob>, SelectionError> {
    let mut jobs = Vec::new();
    for (path, job) in saved_jobs {
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
            .help("give its directory with `--recipes`"),
        };
        sink.push(error);
        return Err(SelectionError::InSink(ExitClass::Input));
    }
    Ok(jobs)
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
) -> Result<Vec<String>, SelectionError> {
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
        Err(SelectionError::InSink(ExitClass::Usage))
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
            let part = format!("-{name}");
            let with_part = ids_where(known, |id, _| id.contains(&part));
            let help = if !with_part.is_empty() {
                format!(
                    "{}; `rock-matrix plan --only AXIS=VALUE --format ids` prints the IDs of the \
                     jobs with a value",
                    list_jobs(with_part.iter().copied())
                )
            } else if near.is_empty() {
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
    Err(Diagnostic::new(&codes::UNKNOWN_SELECTION, message)
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

/// Whether an argument of the command line is a matrix file, a saved plan or standard input rather
/// than the name of a job.
pub fn is_job_file(argument: &str) -> bool {
    is_stdin(Path::new(argument)) || has_extension(argument, &["yaml", "yml", "json"])
}

/// Returns the matrix files and saved plans among the arguments.
fn job_files(arguments: &[String]) -> Vec<String> {
    arguments
        .iter()
        .filter(|argument| is_job_file(argument))
        .cloned()
        .collect()
}

fn has_extension(argument: &str, extensions: &[&str]) -> bool {
    let extension = Path::new(argument).extension();
    extension.is_some_and(|found| extensions.iter().any(|one| found.eq_ignore_ascii_case(one)))
}

/// Returns a hint that lists the first of these jobs.
fn list_jobs<'a>(ids: impl Iterator<Item = &'a str>) -> String {
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
        let help = id_of_name("2", &known).unwrap_err().help.unwrap();
        assert_eq!(
            help,
            "name one of a-2, b-2; `rock-matrix plan --only AXIS=VALUE --format ids` prints the \
             IDs of the jobs with a value"
        );
    }

    #[test]
    fn the_script_of_a_windows_job_is_rendered_from_the_same_files() {
        let selection = |source| JobSelection {
            plan: None,
            jobs: Vec::new(),
            is_by_name: true,
            source,
        };
        let arguments = ["a-1", "my matrix.yaml", "plan.json"].map(str::to_owned);
        let of_files = selection(SelectionSource::Files(job_files(&arguments)));
        assert_eq!(
            of_files.windows_help("a-1"),
            "run the output of `rock-matrix render script 'my matrix.yaml' plan.json a-1` on a \
             Windows machine"
        );
        let of_input = selection(SelectionSource::Files(vec!["-".to_owned()]));
        assert_eq!(
            of_input.windows_help("a-1"),
            "run the output of `rock-matrix render script - a-1 < FILE` on a Windows machine; FILE \
             contains what this command read from standard input"
        );
        let of_recipe = selection(SelectionSource::Recipe("demo".to_owned()));
        assert!(
            of_recipe
                .windows_help("a-1")
                .starts_with("write `recipe: demo` and")
        );
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
