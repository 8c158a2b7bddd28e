//! Short queries of git.

use std::path::Path;
use std::time::Duration;

use rock_sys::Environment;

/// The time limit of a query.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Returns the first line of output of a git command in a repository, independent of `GIT_*`
/// variables; `None` if git is missing, fails or prints nothing. A relative directory is below the
/// working directory of the environment.
pub(crate) fn git_line(
    directory: &Path,
    arguments: &[&str],
    environment: &Environment,
) -> Option<String> {
    let mut environment = environment.clone();
    environment
        .variables
        .retain(|name, _| !name.starts_with("GIT_"));
    let git = rock_sys::find_program("git", &environment)?;
    let directory = environment
        .current_dir
        .join(directory)
        .display()
        .to_string();
    let arguments = [&["-C", directory.as_str()], arguments].concat();
    rock_sys::probe(&git, &arguments, &environment, TIMEOUT).first_line_of_success()
}
