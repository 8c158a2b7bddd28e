//! The default of `--engine`.

use clap::error::ErrorKind;

use super::jobs::EngineChoice;
use super::{Exit, Shell, misused};

/// Returns where `build`, `test` and `render` run the steps of jobs: as the option says, else the
/// environment variable, else the project file, and on this machine by default.
pub(super) fn selected_engine(option: Option<EngineChoice>, shell: &Shell) -> EngineChoice {
    // The project file was overridden with the environment variable.
    option
        .or(shell.project_file.engine)
        .unwrap_or(EngineChoice::Local)
}

/// Rejects options of containers for steps that run on this machine.
///
/// # Errors
/// The exit code of the command, after reporting the error.
pub(super) fn check_container_options(
    command: &str,
    image: Option<&String>,
    docker_args: &[String],
) -> Result<(), Exit> {
    if image.is_none() && docker_args.is_empty() {
        return Ok(());
    }
    let text =
        "`--image` and `--docker-arg` need a container; add `--engine docker` or `--engine podman`";
    Err(misused(&[command], ErrorKind::ArgumentConflict, text))
}
