//! What is known about versions: which torch has wheels for which ROCm, which gfx targets a release
//! accepts, which image carries what.
//!
//! Input: the tables of `matrices/compat`, embedded at build time or read from a folder. Output:
//! answers with the row they rest on.
//!
//! **Invariant:** no version number stands in this code; an answer without a row is "unknown",
//! never "no".

pub mod codes;
mod compat;
mod devices;
mod gfx;
mod hip;
mod images;
mod install_commands;
mod overview;
pub mod pages;
pub mod policy;
mod products;
mod profile;
mod query;
pub mod refresh;
mod requirements;
mod support;
pub mod table_file;
mod torch_symbols;

pub use rock_compat_tables::{RowError, rows, validate_tables};

pub use compat::Compat;
pub use devices::DevicePackage;
pub use images::ImageTag;
pub use install_commands::{InstallCommands, TorchWheel};
pub use overview::{CompatOverview, OverviewLine};
pub use products::UnknownGfxError;
pub use profile::{
    EnvVariable, ProfileContext, ProfileVariables, UnsetVariable, matches_gfx_prefix,
    variable_diagnostic,
};
pub use query::{CompatAnswer, CompatQuery};
pub use requirements::ImportQuery;
pub use support::{Support, SupportReason};
pub use torch_symbols::{TorchEvidence, TorchFit};
