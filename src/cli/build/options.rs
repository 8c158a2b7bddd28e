//! The options that `build` and `test` share.

use std::path::PathBuf;

use crate::cli::completed_value::{self, CompletedValue};
use crate::cli::jobs::EngineChoice;
use crate::cli::whole_number::{Unit, whole_number};
use crate::cli::{Format, OutputFormat};
use crate::exec;

/// Maximum time limit of a build: a year.
const MAX_MINUTES: u64 = 365 * 24 * 60;

/// The value of `--resume` that selects the stage automatically; no stage has this name.
pub(super) const AUTO: &str = "auto";

// The jobs of a command, and how their steps are run.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct JobOptions {
    /// Jobs by ID, unique prefix of an ID or wheel name; also matrix files
    ///
    /// Arguments that end in `.yaml` or `.yml` are matrix files, and those that end in `.json` are
    /// saved plans. `-` reads one of them from standard input.
    #[arg(
        value_name = "JOB",
        value_parser = CompletedValue(completed_value::job_ids),
        hide_possible_values = true
    )]
    pub(super) words: Vec<String>,
    /// Select all jobs, which run one after the other
    #[arg(long, help_heading = "Selection")]
    pub(super) all: bool,
    /// Matrix file; can be repeated [default: matrices/*.yaml]
    ///
    /// The default is all files in `matrices/` that end in `.yaml` or `.yml`.
    #[arg(long, value_name = "FILE", help_heading = "Selection")]
    pub(super) matrix: Vec<PathBuf>,
    /// Use a plan saved with `plan --format json` instead of matrix files
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "matrix",
        help_heading = "Selection"
    )]
    pub(super) plan: Option<PathBuf>,
    /// Read the job (the workflow's matrix entry as JSON) from this environment variable
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "all",
        hide_short_help = true,
        help_heading = "Selection"
    )]
    pub(super) job_env: Option<String>,
    /// Set a fact of the recipe instead of detecting it
    #[arg(
        long,
        value_name = "NAME=VALUE",
        value_parser = crate::cli::render::name_and_value,
        hide_short_help = true,
        help_heading = "Selection"
    )]
    pub(super) fact: Vec<(String, String)>,
    /// Where to run the steps [default: local]
    #[arg(long, value_enum, help_heading = "Engine")]
    pub(super) engine: Option<EngineChoice>,
    /// Container image to use instead of the one in the plan
    #[arg(
        long,
        value_name = "REF",
        value_parser = crate::cli::jobs::image_name,
        help_heading = "Engine"
    )]
    pub(super) image: Option<String>,
    /// Additional argument for `docker run` or `podman run`; can be repeated
    ///
    /// Follows the arguments in the matrix file.
    #[arg(
        long,
        value_name = "ARG",
        allow_hyphen_values = true,
        hide_short_help = true,
        help_heading = "Engine"
    )]
    pub(super) docker_arg: Vec<String>,
    /// Resume an unfinished run, optionally at a given stage
    ///
    /// Without a stage, it resumes at the first stage that changed or did not succeed.
    /// `--resume=STAGE` accepts a stage or a resume point of the recipe.
    #[arg(
        long,
        value_name = "STAGE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = AUTO,
        help_heading = "Execution"
    )]
    pub(super) resume: Option<String>,
    // The former spelling of `--resume`, with a required value.
    #[arg(
        long = "continue",
        value_name = "STAGE|auto",
        conflicts_with = "resume",
        hide = true
    )]
    pub(super) resume_at: Option<String>,
    /// Show every step without running or writing anything
    #[arg(short = 'n', long, help_heading = "Execution")]
    pub(super) dry_run: bool,
    /// Stop after this many minutes with exit code 124
    ///
    /// The work can then be saved and resumed later.
    #[arg(
        long,
        value_name = "MINUTES",
        value_parser = whole_number::<u64>(Unit::Minutes, 1..=MAX_MINUTES),
        help_heading = "Execution"
    )]
    pub(super) cap: Option<u64>,
    /// Start of the surrounding CI job in Unix seconds; --cap counts from there [default: now]
    #[arg(
        long,
        value_name = "SECONDS",
        requires = "cap",
        value_parser = whole_number::<u64>(Unit::Seconds, 0..=u64::MAX),
        hide_short_help = true,
        help_heading = "Execution"
    )]
    pub(super) started_at: Option<u64>,
    /// Limit in minutes for stages without a limit in the recipe
    #[arg(
        long,
        value_name = "MINUTES",
        value_parser = whole_number::<u64>(Unit::Minutes, 1..=MAX_MINUTES),
        hide_short_help = true,
        help_heading = "Execution"
    )]
    pub(super) timeout: Option<u64>,
    /// Seconds between SIGTERM and SIGKILL; a second Ctrl-C kills at once
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 5,
        value_parser = whole_number::<u64>(Unit::Seconds, 0..=3600),
        hide_short_help = true,
        help_heading = "Execution"
    )]
    pub(super) grace: u64,
    #[command(flatten, next_help_heading = "Output")]
    pub(super) format: OutputFormat,
    /// Directory in which a runner reports the assigned GPU; tests use their own
    #[arg(long, value_name = "DIR", default_value = exec::PODINFO, hide = true)]
    pub(super) podinfo_dir: PathBuf,
}

impl JobOptions {
    /// Returns the requested stage or resume point, or [`AUTO`]; `None` for a new build.
    pub(super) fn resume(&self) -> Option<&str> {
        self.resume.as_deref().or(self.resume_at.as_deref())
    }

    /// Returns the matrix files and the plan that options name.
    pub(super) fn files(&self) -> impl Iterator<Item = String> {
        self.matrix
            .iter()
            .chain(&self.plan)
            .map(|path| path.display().to_string())
    }

    /// Returns whether the output is JSON.
    pub(super) fn is_json(&self) -> bool {
        self.format.get() == Format::Json
    }
}
