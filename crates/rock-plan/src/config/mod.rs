//! Matrix files and recipe files: from spanned YAML to checked values, and the schema they follow.
//!
//! Input: a [`rock_yaml::Node`] tree. Output: a [`MatrixConfig`] (one matrix file) or a recipe
//! document, and every error as a diagnostic.
//!
//! **Invariant:** a `MatrixConfig` is well formed in itself; `matrix` checks whether its cells are
//! legal.

mod fields;
mod issue;
mod key_locations;
pub mod limits;
mod lookups;
mod model;
mod parsed_file;
mod profile;
mod read;
pub mod recipe;
mod recipe_checks;
mod reference;
mod repair;
mod runner;
mod settings;
pub mod syntax;

pub use fields::MATRIX_FILE;
pub use issue::{RequestedCell, requested};
pub use key_locations::KeyLocations;
pub use lookups::{AxisOverrides, HostRocm, Lookups};
pub use model::*;
pub use parsed_file::ParsedFile;
pub use profile::{RecipeBackend, RecipeProfile};
pub use read::{docker_argument_fault, is_saved_plan, read, read_parsed};
pub(crate) use read::{package_version, released_version};
pub(crate) use recipe_checks::{check_recipe, missing_variable};
pub use reference::{reference, schema};
pub use repair::*;
pub use runner::{RunnerSelector, RunnerSelectorError, is_runner_group};
pub use settings::matrix_of_settings;

/// Directory of the matrix files that commands read by default.
pub const MATRICES: &str = "matrices";
