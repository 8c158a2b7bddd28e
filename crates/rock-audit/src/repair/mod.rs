//! Repairs of wheels: the platform, the grafts and the changes of files.
//!
//! A private [`RepairPlanner`](planner::RepairPlanner) turns an audited wheel and [`RepairOptions`]
//! into a [`RepairPlan`], which contains the [`RepairChanges`] and writes the repaired wheel.

mod changes;
mod deviations;
mod edited_files;
mod graft;
mod library_dir_suffix;
mod new_errors;
mod options;
mod plan;
mod planned_changes;
mod planner;
mod rpath;
mod tags;
mod write;

pub use changes::{Graft, RepairChanges};
pub use library_dir_suffix::{LibraryDirSuffix, LibraryDirSuffixError};
pub use options::RepairOptions;
pub use plan::{RepairError, RepairNote, RepairPlan};
pub use tags::PlatformChoice;
pub use write::{RepairDestination, RepairOutcome, RepairedWheel};
