//! Recipe documents: how one distribution is built, as data.
//!
//! A document is read from YAML (a directory given by `--recipes`) or from the JSON embedded at
//! build time; both use the same types. Expressions are not evaluated here; `rock-recipe` does
//! that.
//!
//! **Invariant:** unknown keys are errors; no distribution is hard-coded here.

mod document;
mod overview;
mod page;
mod read;
mod recipes;
mod replacement;
mod runtime_requirements;
mod shape;
mod starter;
mod step_shape;
mod unions;
mod uses;

pub use document::{
    BackendDocument, CollectDocument, EditDocument, FactDocument, OutputDocument, PlaceDocument,
    RecipeDocument, RefuseDocument, SourceDocument, StepDocument, TestDocument, WheelDocument,
};
pub use overview::{RecipeOverview, RecipeVariable};
pub use page::page;
#[cfg(feature = "workspace")]
pub(crate) use read::is_embedded;
pub use read::{embedded, embedded_names, from_parsed, from_source};
pub use recipes::RecipeSet;
pub use replacement::{ESCAPES, ReplacementPart};
pub use runtime_requirements::{
    shipped_runtime_requirements, shipped_runtime_requirements_of_wheel,
};
pub use shape::RECIPE as SHAPE;
pub use starter::starter;
pub use unions::{EnvValue, PATH_SEPARATOR};
use uses::resolve;
