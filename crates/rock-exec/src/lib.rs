//! Runs the steps of a job on this machine, or as one script in a container.
//!
//! Input: [`rock_recipe::Step`]s, a directory, limits, and a [`Runner`]. Output: a [`Record`] of
//! the build (`build.json`, from which builds are resumed), a log, and the outcome.
//!
//! **Invariant:** Nothing outside the directory of the job is written or removed, except for wheels
//! that are copied to the output directory. No started process is left when a run returns.

pub mod codes;

mod assigned_gpu;
mod clean;
mod collect;
mod compiler_errors;
mod container;
mod engine_fault;
mod fault;
mod folder;
mod handover;
mod limits;
mod mask;
mod missing_sources;
mod record;
mod resume;
mod run;
mod runner;
mod session;
mod source_tree;
mod step_hash;
mod surroundings;
mod transcript;
mod wheels_to_test;

pub use assigned_gpu::{PODINFO, assigned_gpu};
pub use clean::{BuildFolder, build_folders, remove_build_folders};
pub use collect::{CollectFault, Collected, collect, copy_out, wheel_matches, wheels_match};
pub use container::{Containment, run_container};
pub use engine_fault::{EngineFault, EngineTrouble};
pub use fault::{BuildEnd, MessageContext, StepFault, StepTrouble, no_signals};
pub use folder::{
    JobFolder, LABELLED, OpenFault, Opened, REPAIRED, ROOT, freed_by_cleaning, ignore_folder, open,
};
pub use handover::{HandoverError, hand_over, record_name};
pub use mask::Masks;
pub use missing_sources::missing_sources;
pub use record::{BuiltWheel, Outcome, Record, StageRecord, StageState, shown_text};
pub use resume::{Continue, UnknownStage, first_step};
pub use run::{Event, Limits, Order, run_steps};
pub use runner::{ProcessRunner, Recorded, RecordingRunner, Runner};
pub use session::{Built, NotBegun, Session, build};
pub use source_tree::{exclude_matrix_folder, source_listing};
pub use step_hash::step_hash;
pub use surroundings::{SOURCE_DATE, source_date_s};
pub use surroundings::{Surroundings, invocation};
pub use wheels_to_test::WheelToTest;
