//! Preparation of the builds of several jobs, and the error if some of them fail.

use super::build_options::{BuildOptions, CallerEnv};
use super::prepared_build::PreparedBuild;
use crate::codes::build as codes;
use rock_diagnostic::{Diagnostic, Diagnostics};
use rock_plan::Job;
use rock_plan::config::recipe::RecipeDocument;
use rock_recipe::codes::build as recipe_codes;

impl<'a> PreparedBuild<'a> {
    /// Plans several jobs with their recipes, each like [`Self::prepare`], and returns the warnings
    /// to show before they run. `windows_help` returns the help for a job that is for Windows.
    ///
    /// # Errors
    /// If one of the jobs cannot be built. The error has the errors and warnings of all jobs.
    pub fn prepare_all<'j>(
        jobs: impl IntoIterator<Item = (&'j Job, &'j RecipeDocument)>,
        options: &'a BuildOptions,
        caller: CallerEnv<'a>,
        windows_help: impl Fn(&Job) -> String,
    ) -> Result<(Vec<Self>, Vec<Diagnostic>), Diagnostics> {
        let (mut builds, mut diagnostics) = (Vec::new(), Vec::new());
        for (job, recipe) in jobs {
            match Self::prepare(job, recipe, options, caller) {
                Ok(build) => {
                    diagnostics.extend(build.warnings().iter().cloned());
                    builds.push(build);
                }
                Err(errors) => diagnostics.extend(errors.into_iter().map(|error| {
                    if error.code == &recipe_codes::WINDOWS_JOB && error.help.is_none() {
                        error.help(windows_help(job))
                    } else {
                        error
                    }
                })),
            }
        }
        if diagnostics.iter().any(Diagnostic::is_error) {
            Err(diagnostics.into())
        } else {
            Ok((builds, diagnostics))
        }
    }
}

/// Returns the error for jobs whose builds failed, of `build_count` builds. It is `None` if all
/// succeeded, and for a single build, whose own errors are enough.
pub fn failed_builds_error(
    failed_jobs: &[&str],
    build_count: usize,
    resume_command: &str,
) -> Option<Diagnostic> {
    if failed_jobs.is_empty() || build_count < 2 {
        return None;
    }
    let message = format!("{} of {build_count} builds failed", failed_jobs.len());
    Some(
        Diagnostic::new(&codes::BUILDS_FAILED, message)
            .note(format!("the failed jobs are {}", failed_jobs.join(", ")))
            .help(format!("fix the causes, then run `{resume_command}`")),
    )
}

#[cfg(test)]
mod tests {
    use super::failed_builds_error;

    #[test]
    fn only_failures_among_several_builds_are_summarised() {
        assert_eq!(failed_builds_error(&[], 2, "build --resume"), None);
        assert_eq!(failed_builds_error(&["a"], 1, "build --resume"), None);
        let error = failed_builds_error(&["a", "c"], 3, "build --resume").unwrap();
        assert_eq!(error.message, "2 of 3 builds failed");
        assert_eq!(error.notes, ["the failed jobs are a, c"]);
        assert_eq!(
            error.help.as_deref(),
            Some("fix the causes, then run `build --resume`")
        );
    }
}
