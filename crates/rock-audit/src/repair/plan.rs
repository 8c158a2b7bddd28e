//! The plan of a repair: the changes of all files, computed before anything is written.

use std::collections::BTreeSet;

use super::edited_files::EditedFiles;
use super::planner::RepairPlanner;
use super::{RepairChanges, RepairOptions};
use crate::audited::AuditedWheel;
use rock_diagnostic::Diagnostics;
use rock_names::{ForeignSystem, WheelName};
use rock_wheel::RenamePlan;

/// The error returned by [`AuditedWheel::plan_repair`] and [`RepairPlan::write`].
#[derive(Debug, Clone, thiserror::Error)]
#[error("`{file_name}` cannot be repaired: {blockers}")]
#[non_exhaustive]
pub struct RepairError {
    /// The file name of the wheel.
    pub file_name: String,
    /// The reasons why the wheel cannot be repaired, or the errors that kept the repaired wheel
    /// from being written; never empty. A step of the plan is only left out after errors of one that
    /// it depends on: a platform out of reach and a library that is not found are reported
    /// together, and files are edited after the platform and the libraries are known.
    pub blockers: Diagnostics,
}

impl From<RepairError> for Diagnostics {
    fn from(error: RepairError) -> Self {
        error.blockers
    }
}

/// A fact about a repair that is not a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepairNote {
    /// The wheel is for this operating system, whose wheels are not audited: its tags and needs
    /// stay.
    ForeignSystem(ForeignSystem),
    /// These platform tags are for systems that are not audited, and stay.
    KeptTags(Vec<String>),
    /// The wheel contains no library for Linux: nothing is grafted.
    NothingToGraft,
}

/// Changes that make a wheel comply with a platform.
///
/// Nothing is written until [`write`](Self::write).
///
/// ```no_run
/// use std::path::Path;
///
/// use rock_audit::{AuditedWheel, RepairDestination, RepairError, RepairOptions};
///
/// fn repair(audited: &AuditedWheel<'_>, path: &Path) -> Result<(), RepairError> {
///     let plan = audited.plan_repair(RepairOptions::default())?;
///     for graft in &plan.changes().grafts {
///         println!("grafts {}", graft.name);
///     }
///     let repaired = plan.write(&RepairDestination {
///         directory: Path::new("wheelhouse"),
///         input: path,
///         overwrite: false,
///         protected: &[],
///         dry_run: false,
///     })?;
///     println!("{}", repaired.path.display());
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct RepairPlan<'w> {
    pub(super) audited: &'w AuditedWheel<'w>,
    pub(super) options: RepairOptions,
    pub(super) changes: RepairChanges,
    /// The new name, and its changes of dist-info.
    pub(super) renamed: RenamePlan<'static>,
    /// Changed files of the wheel.
    pub(super) members: EditedFiles<'w>,
    /// Grafted libraries, also those that the wheel already contains.
    pub(super) grafts: EditedFiles<'w>,
    pub(super) excluded: BTreeSet<String>,
    /// Whether the repaired wheel would have the same contents.
    pub(super) is_noop: bool,
}

impl AuditedWheel<'_> {
    /// Plans how to make the wheel comply with a platform: which libraries to graft, which ELF
    /// files to edit, and which tags to set.
    ///
    /// # Errors
    ///
    /// Returns all reasons why the wheel cannot comply that can be known together, for example a
    /// required library that was not found, symbols newer than the policy permits, and a damaged
    /// ELF file; see [`RepairError::blockers`].
    pub fn plan_repair(&self, options: RepairOptions) -> Result<RepairPlan<'_>, RepairError> {
        let planner = RepairPlanner {
            audited: self,
            options,
        };
        planner.plan().map_err(|blockers| RepairError {
            file_name: self.file_name.clone(),
            blockers,
        })
    }
}

impl RepairPlan<'_> {
    /// Returns the name of the repaired wheel.
    pub fn name(&self) -> &WheelName {
        &self.renamed.name
    }

    /// Returns the planned changes.
    pub fn changes(&self) -> &RepairChanges {
        &self.changes
    }

    /// Returns a note on tags or libraries that a repair does not change.
    pub fn note(&self) -> Option<RepairNote> {
        if let Some(system) = self.audited.foreign_system {
            return Some(RepairNote::ForeignSystem(system));
        }
        let kept: Vec<String> = self
            .audited
            .unaudited_tags()
            .into_iter()
            .filter(|tag| self.changes.platform.tags.contains(tag))
            .map(str::to_owned)
            .collect();
        if !kept.is_empty() {
            return Some(RepairNote::KeptTags(kept));
        }
        self.audited
            .compliance
            .is_none()
            .then_some(RepairNote::NothingToGraft)
    }
}
