//! Compatibility data of ROCm, PyTorch, Python and AMD GPUs: the torch wheels that exist for a ROCm
//! version, the gfx targets that a release supports, the contents of images, and platform policies.
//! Also what an installed package needs: the commands that install it ([`InstallCommands`]), and
//! its requirements at run time ([`RuntimeRequirements`]), which recipes, plans and manifests of
//! releases state.
//!
//! Input: the tables of `matrices/compat`, embedded at build time or read from a directory. Output:
//! answers that cite the row behind them.
//!
//! **Invariant:** the code contains no version numbers; a combination without a row is unknown, not
//! unsupported.
//!
//! ```
//! use rock_compat::{Compat, Support};
//!
//! let compat = Compat::embedded();
//! let support = compat.torch_rocm_support(&"2.6.0".parse()?, &"6.2".parse()?);
//! let Support::Unsupported(reason) = support else {
//!     panic!("{support:?}");
//! };
//! assert_eq!(
//!     reason.reason,
//!     "torch 2.6.0 has wheels for ROCm 6.1 and 6.2.4, not 6.2"
//! );
//! assert_eq!(reason.source, "compat/torch.yaml, torch 2.6, checked 2026-11-21");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
pub mod codes;
mod compat;
mod devices;
mod gfx;
mod gfx_words;
mod hint;
mod hip;
mod images;
mod install_commands;
mod lazy_tables;
mod overview;
pub mod pages;
pub mod policy;
mod products;
mod profile;
mod query;
mod query_hints;
mod query_words;
pub mod refresh;
mod requirements;
mod runtime_requirements;
mod sdk_packages;
mod support;
pub mod table_file;
mod torch_contradictions;
mod torch_symbols;
mod unknown_values;

pub use rock_compat_tables::{RowError, TableOverlay, rows, validate_tables};

pub use answer::{
    AnswerScope, AnswerSubject, CompatAnswer, OfficialWheels, PackageRelease, WheelVersions,
    is_supported,
};
pub use compat::Compat;
pub use devices::DevicePackage;
pub use gfx_words::ResolvedGfx;
pub use hint::{Hint, TorchSource, ValueChange};
pub use images::{ImageNotFoundError, ImageTag};
pub use install_commands::{InstallCommands, TorchWheel};
pub use overview::{CompatOverview, OverviewLine};
pub use products::{UnknownGfxError, related_targets, short_product_names, similar_gfx_names};
pub use profile::{
    EnvVariable, ProfileContext, ProfileVariables, UnsetVariable, matches_gfx_prefix,
    variable_diagnostic,
};
pub use query::CompatQuery;
pub use requirements::ImportQuery;
pub use runtime_requirements::RuntimeRequirements;
pub use sdk_packages::SDK_SELECTOR;
pub use support::{Support, SupportReason};
pub use torch_contradictions::torch_contradictions;
pub use torch_symbols::{TorchEvidence, TorchFit};
