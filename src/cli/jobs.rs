//! The jobs that a command line selects, and the options that `build`, `test` and `render` share.

use clap::error::ErrorKind;

use super::suggestions::subcommand_tip;
use super::wheel::fail;
use super::{Exit, Shell, load, misused};
use crate::codes::plan as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Diagnostics, Location, Sink};
use crate::plan;
use crate::plan::workspace::{
    JobSelection, ReadyJob, check_docker_arguments, check_fact_names, is_job_file,
};
use crate::recipe::container::EngineProgram;

/// Plans the files among `arguments` and selects the jobs that the other arguments name.
///
/// # Errors
/// The exit code of the command, after reporting the errors.
pub(super) fn select_jobs(
    shell: &Shell,
    compat: &Compat,
    arguments: &[String],
    sink: &mut Sink,
) -> Result<JobSelection, Exit> {
    let options = load::workspace_options(shell, compat);
    let loaded = JobSelection::load(arguments, &options).map(load::without_idle_values);
    unwrap_or_report(loaded, shell, sink)
}

/// Selects jobs like [`select_jobs`], for a command whose first word may be a misspelled subcommand.
///
/// # Errors
/// The exit code of the command, after reporting the errors.
pub(super) fn select_jobs_of_group(
    shell: &Shell,
    compat: &Compat,
    group: &str,
    arguments: &[String],
    sink: &mut Sink,
) -> Result<JobSelection, Exit> {
    let options = load::workspace_options(shell, compat);
    let loaded = JobSelection::load(arguments, &options).map(load::without_idle_values);
    if let Err(errors) = &loaded
        && let Some(word) = arguments.first().filter(|word| !is_job_file(word))
        && errors
            .as_slice()
            .iter()
            .any(|error| is_unknown_job(error, word))
        && let Some(tip) = subcommand_tip(group, word)
    {
        let text = format!("no job or subcommand is called '{word}'\n\n  tip: {tip}");
        return Err(misused(&[group], ErrorKind::InvalidSubcommand, &text));
    }
    unwrap_or_report(loaded, shell, sink)
}

/// Whether an error says that no job has this name.
fn is_unknown_job(error: &Diagnostic, name: &str) -> bool {
    let mut labels = error.labels.iter();
    error.code.id == codes::UNKNOWN_SELECTION.id
        && labels.any(|label| matches!(&label.location, Location::Argument(text) if text == name))
}

/// Selects every job of a recipe with these settings, without a matrix file.
///
/// # Errors
/// The exit code of the command, after reporting the errors.
pub(super) fn select_recipe_jobs(
    shell: &Shell,
    compat: &Compat,
    recipe: &str,
    settings: &[(String, String)],
    sink: &mut Sink,
) -> Result<JobSelection, Exit> {
    let options = load::workspace_options(shell, compat);
    let selection = JobSelection::from_recipe(recipe, settings, &options);
    unwrap_or_report(selection, shell, sink)
}

/// Returns the selection, whose warnings go to the sink; without one, reports the errors.
fn unwrap_or_report(
    selection: Result<(JobSelection, Vec<Diagnostic>), Diagnostics>,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<JobSelection, Exit> {
    let (selection, warnings) = selection.map_err(|errors| fail(shell, &errors))?;
    sink.extend(warnings);
    Ok(selection)
}

/// Checks the values of `--docker-arg`, and the recipe facts that an option sets. Errors go to the
/// sink.
pub(super) fn check_job_options(
    jobs: &[ReadyJob],
    docker_args: &[String],
    facts: &[(String, String)],
    sink: &mut Sink,
) {
    let errors = [
        check_docker_arguments(docker_args),
        check_fact_names(jobs, facts),
    ];
    sink.extend(errors.into_iter().filter_map(Result::err).flatten());
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
}

/// Returns the ID of the job of a workflow's matrix entry, which is JSON in this variable.
pub(super) fn leg_id(variable: &str, shell: &Shell) -> Result<String, Diagnostic> {
    plan::job_of_variable(variable, shell.environment.get(variable))
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
