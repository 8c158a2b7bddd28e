//! What is known about versions: which torch has wheels for which ROCm, which gfx targets a release
//! accepts, which image carries what.
//!
//! Input: the tables of `matrices/compat`, embedded at build time or read from a folder. Output:
//! answers with the row they rest on.
//!
//! **Invariant:** no version number stands in this code; an answer without a row is "unknown",
//! never "no".

pub mod codes;
mod devices;
mod explain;
mod gfx;
mod hip;
mod images;
mod install;
mod overview;
pub mod pages;
pub mod patch;
pub mod policy;
mod products;
pub mod refresh;
mod requirements;
mod run_time;
mod store;
mod torch_abi;
mod verdict;

pub use rock_compat_tables::{faults, rows};

pub use devices::DevicePackage;
pub use explain::{Answer, Question};
pub use images::ImageTag;
pub use install::{InstallLines, TorchWheel};
pub use overview::{CompatOverview, OverviewLine};
pub use products::UnknownGfx;
pub use requirements::ImportQuestion;
pub use rows::TableGroup;
pub use run_time::{LeftOut, Surroundings, Variable, Variables, advice, begins};
pub use store::Compat;
pub use torch_abi::{TorchEvidence, TorchFit};
pub use verdict::{Because, Verdict};
