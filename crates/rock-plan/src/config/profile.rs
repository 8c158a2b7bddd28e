//! What a plan must know of a recipe.

use indexmap::IndexMap;

use super::recipe::WheelDocument;
use super::{CheckProfile, Leaves, RunTime, VersionFrom};

/// The planning side of a recipe document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipeProfile {
    /// The recipe's name.
    pub name: String,
    /// Normalized name of the package whose rows of the facts apply, `flash-attn`; a package
    /// without rows is not constrained.
    pub package: String,
    /// Axes beyond package, python, torch, rocm, backend and gfx that the recipe knows.
    pub axes: Vec<String>,
    /// Names of axes that a matrix file must have: `torch`, `rocm`, `python`.
    pub requires: Vec<String>,
    /// Where the version of what it builds stands.
    pub version_from: VersionFrom,
    /// What a job leaves.
    pub leaves: Leaves,
    /// What kind of wheels it leaves.
    pub checked_as: CheckProfile,
    /// Wheels of other distributions that a job leaves beside its own.
    pub wheels: Vec<WheelDocument>,
    /// Variables of the recipe with their defaults.
    pub vars: IndexMap<String, String>,
    /// Names of variables that a matrix file must set.
    pub required_vars: Vec<String>,
    /// The backends; the first is the default. Never empty.
    pub backends: Vec<RecipeBackend>,
}

/// One way of building the package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipeBackend {
    /// `ck`, `triton`; `default` where the recipe knows no backends.
    pub name: String,
    /// What it adds to the label, `triton`; empty for the default backend.
    pub label: String,
    /// Axes whose legal values share one wheel, `[python]`.
    pub collapse: Vec<String>,
    /// Axes whose legal values share one wheel where the matrix file asks for it, `[rocm, torch]`.
    pub collapsible: Vec<String>,
    /// Fixed wheel tags, `py3-none-any`; `None`: by the job's Python and platform.
    pub tag: Option<String>,
    /// Whether the wheel holds device code, so that gfx targets matter.
    pub device_code: bool,
    /// What makes a long build shorter, in the user's words: `fewer gfx targets`.
    pub levers: Vec<String>,
    /// The checks a built wheel must pass, in order.
    pub gates: Vec<super::Gate>,
    /// Needs of the installed package.
    pub run_time: RunTime,
}

impl RecipeProfile {
    /// The backend with this name; the default one for `None`.
    pub fn backend(&self, name: Option<&str>) -> Option<&RecipeBackend> {
        match name {
            None => self.backends.first(),
            Some(name) => self.backends.iter().find(|backend| backend.name == name),
        }
    }
}
