//! Selects the published wheel that a machine needs, or the nearest ones with their mismatches.
//!
//! Input: a [`TargetMachine`], the published [`WheelCandidate`]s, and the [`MatchRules`] of the
//! compatibility data. Output: a [`PickDecision`]: the wheels that fit, best first, each with the
//! assumptions made; if none fits, the nearest with their mismatches. The wheel finder makes the
//! same decision in the browser from the same numbers and sentences.
//!
//! **Invariant:** the code compares ROCm and torch versions, but names none of them. The versions
//! that a wheel runs with, in addition to its own, are in `matrices/compat/reach.yaml`. Equal input
//! gives an equal decision, whatever the order of the wheels.

mod candidate;
mod decide;
mod devices;
mod distribution;
mod hint;
mod install;
mod json;
mod newest;
mod newest_report;
mod offers;
mod published_offers;
mod ranges;
mod rules;
mod target_machine;
#[cfg(test)]
mod tests;
mod torch_match;
mod wheel_match;
mod wheel_pick;
mod yanked;

pub use candidate::{
    CompiledCode, GfxCode, PrereleaseMode, WheelAccelerator, WheelCandidate, candidates, unread,
};
pub use decide::{FittingWheel, NearMiss, PickDecision, decide};
pub use devices::DeviceOffer;
pub use distribution::{RequestedWheel, RequestedWheelError, select_distribution, select_version};
pub use install::{for_machine, run_time_text};
pub use json::json;
pub use newest::{ForeignWheel, LocalWheel, NewestWheel, WheelFilter, newest};
pub use newest_report::unfit_warnings;
pub use offers::{WheelOffer, WheelOffers, torch_sentence};
pub use published_offers::label_warnings;
pub use ranges::{GilBuild, PlatformNeed, PythonRange};
pub use rules::{MatchRules, MatchWeights, VersionReach, WEIGHTS};
pub use target_machine::{
    DetectedProperties, InstalledTorch, LibcKind, MachineError, MachineLibc, MachineOverrides,
    MachineProperty, TargetMachine, TorchSeries,
};
pub use wheel_match::{MatchAxis, MatchNote, Mismatch};
pub use wheel_pick::WheelPick;
pub use yanked::{PassedOver, passed_over, split, yanked_near_misses};
