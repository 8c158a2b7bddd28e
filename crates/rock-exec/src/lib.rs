//! Runs the steps of a job on this machine, or as one script in a container.
//!
//! Input: [`rock_recipe::Step`]s, a directory, limits, and a [`StepExecutor`]. Output: a
//! [`BuildRecord`] (`build.json`, from which builds are resumed), a log, and the outcome.
//!
//! **Invariant:** Nothing outside the directory of the job is written or removed, except for wheels
//! that are copied to the output directory. No started process is left when a run returns.

pub mod codes;

mod assigned_gpu;
mod clean;
mod collect;
mod compiler_errors;
mod container;
mod engine_failure;
mod folder;
mod handover;
mod host_env;
mod limits;
mod mask;
mod missing_sources;
mod record;
mod resume;
mod run;
mod runner;
mod session;
mod source_tree;
mod step_failure;
mod step_hash;
mod transcript;
mod wheels_to_test;

pub use assigned_gpu::{PODINFO, assigned_gpu};
pub use clean::{BuildFolder, build_folders, remove_build_folders};
pub use collect::{CollectError, CollectedWheel, collect, copy_out, wheel_matches, wheels_match};
pub use container::{ContainerSetup, run_container};
pub use engine_failure::{EngineErrorKind, EngineFailure};
pub use folder::{
    JobFolder, LABELLED, LockedFolder, OpenFolderError, REPAIRED, ROOT, freed_by_cleaning,
    ignore_folder, open,
};
pub use handover::{HandoverError, hand_over, record_name};
pub use host_env::{HostEnv, invocation};
pub use host_env::{SOURCE_DATE, source_date_s};
pub use mask::SecretMasks;
pub use missing_sources::missing_sources;
pub use record::{BuildOutcome, BuildRecord, BuiltWheel, StageRecord, StageState, shown_text};
pub use resume::{ResumePoint, UnknownStage, first_step};
pub use run::{BuildEvent, RunLimits, RunRequest, run_steps};
pub use runner::{ProcessRunner, RecordedProcess, RecordingRunner, StepExecutor};
pub use session::{BuildSession, FinishedBuild, StartError, build};
pub use source_tree::{exclude_matrix_folder, source_listing};
pub use step_failure::{BuildEnd, MessageContext, StepError, StepErrorKind, no_signals};
pub use step_hash::step_hash;
pub use wheels_to_test::WheelToTest;
