//! The jobs that a command line selects, and the options that `build`, `test` and `render` share.

use super::wheel::fail;
use super::{Exit, Shell, load};
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Diagnostics, Sink};
use crate::plan;
use crate::plan::workspace::{JobLookup, JobSelection};
pub(super) use crate::plan::workspace::{
    ReadyJob as Ready, check_job_options as check_given, is_job_file as is_file_of_jobs,
    list_jobs as one_of,
};
use crate::recipe::container::EngineProgram;

/// Plans the files among `words` and selects the jobs that the other words name.
///
/// # Errors
/// The exit code of the command, after reporting the errors.
pub(super) fn named(
    shell: &Shell,
    compat: &Compat,
    words: &[String],
    sink: &mut Sink,
) -> Result<JobSelection, Exit> {
    let found = JobLookup::new(load::workspace_data(shell, compat)).find(words);
    selected(found, shell, sink)
}

/// Returns every job of a recipe with these settings, without a matrix file.
///
/// # Errors
/// The exit code of the command, after reporting the errors.
pub(super) fn of_recipe(
    shell: &Shell,
    compat: &Compat,
    name: &str,
    settings: &[(String, String)],
    sink: &mut Sink,
) -> Result<Vec<Ready>, Exit> {
    let found = JobLookup::new(load::workspace_data(shell, compat)).find_by_recipe(name, settings);
    Ok(selected(found, shell, sink)?.jobs)
}

/// Moves warnings to the sink, and reports errors.
fn selected(
    found: Result<JobSelection, Diagnostics>,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<JobSelection, Exit> {
    let mut selection = found.map_err(|errors| fail(shell, &errors))?;
    sink.extend(std::mem::take(&mut selection.warnings));
    Ok(selection)
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
