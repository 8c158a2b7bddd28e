//! `test`: tests the built wheels of jobs.

use std::path::PathBuf;

use super::build::{self, DEFAULT_OUT, JobOptions};
use super::{Exit, Shell};

#[derive(Debug, clap::Args)]
#[command(
    override_usage = "rock-matrix test [OPTIONS] <JOB...|--all>",
    after_long_help = "\
Prepares the environment of each job, installs its wheel and runs the smoke test of the recipe, with
the GPU access that `test.gpu` of the matrix file sets.

Exit codes: 0 passed, 1 the input is invalid, 3 the machine or the engine failed, 4 a test failed,
124 the limit of --cap was reached, 130 and 143 stopped by a signal.

Examples:
  rock-matrix test JOB                        test the wheel of a job in dist/
  rock-matrix test --all --dist release/v1    test the wheels of all jobs in release/v1"
)]
pub(super) struct Args {
    /// Directory of the built wheels
    #[arg(
        long,
        value_name = "DIR",
        default_value = DEFAULT_OUT,
        help_heading = "Selection"
    )]
    dist: PathBuf,
    #[command(flatten)]
    options: JobOptions,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    build::test(&args.options, &args.dist, shell)
}
