//! Builds a job: runs its steps on this machine or as one script in a container, and delivers the
//! wheels.
//!
//! [`PreparedBuild::prepare`] turns a job, its recipe and [`BuildOptions`] into steps and writes
//! nothing, and [`PreparedBuild::prepare_all`] does so for several jobs; [`PreparedBuild::run`] runs
//! the steps in the job directory and returns a [`BuildReport`] with the [`BuildRecord`]
//! (`build.json`, from which builds are resumed). Processes are started by a [`StepExecutor`], and
//! everything that happens is reported as a [`BuildEvent`].
//!
//! **Invariant:** Nothing outside the directory of the job is written or removed, except for wheels
//! that are copied to the output directory. No started process is left when a run returns.

pub mod codes;

mod assigned_gpu;
mod build_options;
mod build_report;
mod build_series;
mod build_start;
mod clean;
mod collect;
mod compiler_errors;
mod container;
mod engine_failure;
mod fact_detector;
mod handover;
mod host_env;
mod job_cleaner;
mod job_container;
mod job_directory;
mod job_renderer;
mod known_failures;
mod limits;
mod mask;
mod missing_sources;
mod prepared_build;
mod record;
mod resume_points;
mod rocm_sdk_query;
mod run;
mod runner;
mod session;
mod source_projects;
mod source_tree;
mod step_failure;
mod step_hash;
mod transcript;
mod wheel_delivery;
mod wheels_to_test;

pub use assigned_gpu::{PODINFO, assigned_gpu};
pub use build_options::{BuildOptions, CallerEnv, ResumeRequest};
pub use build_report::BuildReport;
pub use build_series::failed_builds_error;
pub use build_start::{BuildStart, UnknownStage, first_step};
pub use collect::{
    CollectError, CollectedWheel, check_output, collect, copy_out, wheel_matches, wheels_match,
};
pub use container::{ContainerSetup, run_container};
pub use engine_failure::{EngineErrorKind, EngineFailure};
pub use handover::{HandoverError, hand_over, record_name};
pub use host_env::{HostEnv, SOURCE_DATE, invocation, source_date_s};
pub use job_cleaner::{CleanError, CleanedJob, JobCleaner, RemovedDirectory};
pub use job_directory::{
    JobDirectory, LABELLED, LockedDirectory, OpenDirectoryError, REPAIRED, ROOT, ignore_directory,
    open,
};
pub use job_renderer::{JobRenderer, RenderOptions, ScriptShell};
pub use mask::SecretMasks;
pub use missing_sources::missing_sources;
pub use prepared_build::{BuildContext, PreparedBuild};
pub use record::{BuildOutcome, BuildRecord, BuiltWheel, StageRecord, StageState, shown_text};
pub use resume_points::ResumePoint;
pub use rocm_sdk_query::RocmSdkQuery;
pub use run::{BuildEvent, RunLimits, RunRequest, run_steps};
pub use runner::{ProcessRunner, RecordedProcess, RecordingRunner, StepExecutor};
pub use session::{BuildSession, FinishedBuild, StartError, build};
pub use source_projects::SourceProjects;
pub use source_tree::{copied_source_trees, exclude_matrix_directory, source_listing};
pub use step_failure::{MessageContext, StagesOutcome, StepError, StepErrorKind, no_signals};
pub use step_hash::step_hash;
pub use wheels_to_test::WheelToTest;
