//! Which published wheel a machine needs, or which comes nearest and why none fits.
//!
//! Input: a [`Machine`], [`Candidate`]s made of what is published, and the [`Rules`] out of the
//! facts. Output: a [`Decision`]: the wheels that fit, best first, each with what had to be
//! assumed; where none fits, the nearest with what differs. The wheel finder takes the same
//! decision in the browser from the same numbers and sentences.
//!
//! **Invariant:** a version is compared, never named: what a wheel runs with beside its own
//! versions is in `matrices/compat/reach.yaml`. Equal input gives an equal decision, whatever order
//! the wheels come in.

mod candidate;
mod decide;
mod devices;
mod install;
mod json;
mod judge;
mod machine;
mod newest;
mod offers;
mod ranges;
mod rules;
#[cfg(test)]
mod tests;
mod withdrawn;

pub use candidate::{Accelerator, Candidate, GfxCode, PrereleaseMode, candidates, unread};
pub use decide::{Decision, Fit, Near, decide};
pub use devices::DeviceOffer;
pub use install::{for_machine, run_time_text};
pub use json::json;
pub use judge::{Axis, Difference, Note};
pub use machine::{InstalledTorch, Libc, LibcKind, Machine, MachineError, TorchSeries};
pub use newest::{Asked, ForeignWheel, LocalWheel, Newest, newest};
pub use offers::{Offer, Offers, torch_sentence};
pub use ranges::{GilBuild, PlatformNeed, PythonRange};
pub use rules::{Reach, Rules, WEIGHTS, Weights};
pub use withdrawn::{PassedOver, passed_over, split};
