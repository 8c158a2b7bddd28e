//! The properties of a recipe that planning needs.

use indexmap::IndexMap;

use super::recipe::WheelDocument;
use super::{CheckProfile, Leaves, MatrixConfig, TorchFrom, VersionFrom};
use rock_compat::RuntimeRequirements;

/// The planning side of a recipe document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipeProfile {
    /// The recipe's name.
    pub name: String,
    /// Normalized name of the package whose compatibility data applies, `flash-attn`; a package
    /// without data is not constrained.
    pub package: String,
    /// Axes that the recipe supports in addition to package, python, torch, rocm, backend and gfx.
    pub axes: Vec<String>,
    /// Names of axes that a matrix file must have: `torch`, `rocm`, `python`.
    pub requires: Vec<String>,
    /// The source of the version of the built distribution.
    pub version_from: VersionFrom,
    /// The artifacts that a job produces.
    pub leaves: Leaves,
    /// Whether the build produces the torch of the axis `torch`.
    pub builds_torch: bool,
    /// The kind of the wheels.
    pub checked_as: CheckProfile,
    /// Wheels of other distributions that a job also produces.
    pub wheels: Vec<WheelDocument>,
    /// Variables of the recipe with their defaults.
    pub vars: IndexMap<String, String>,
    /// Names of variables that a matrix file must set.
    pub required_vars: Vec<String>,
    /// The backends; the first is the default. Never empty.
    pub backends: Vec<RecipeBackend>,
}

/// A way of building the package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipeBackend {
    /// The name, `ck` or `triton`; `default` if the recipe has no backends.
    pub name: String,
    /// Its segment of the local version label, `triton`; empty for the default backend.
    pub label: String,
    /// Axes whose legal values share one wheel, `[python]`.
    pub collapse: Vec<String>,
    /// Axes whose legal values share one wheel if the matrix file requests it, `[rocm, torch]`.
    pub collapsible: Vec<String>,
    /// A fixed wheel tag, `py3-none-any`; `None` if it depends on the job's Python and platform.
    pub tag: Option<String>,
    /// Whether the wheel contains device code, so that gfx targets matter.
    pub device_code: bool,
    /// Suggestions that shorten a long build, as shown to the user: `fewer gfx targets`.
    pub levers: Vec<String>,
    /// The checks that a built wheel must pass, in order.
    pub gates: Vec<super::Gate>,
    /// Run-time needs of the installed package.
    pub run_time: RuntimeRequirements,
}

impl RecipeProfile {
    /// Returns the source of the torch that jobs install. Jobs that build torch install none: like
    /// with the torch of the host, no index and no image limits their versions.
    pub(crate) fn installed_torch_from(&self, config: &MatrixConfig) -> TorchFrom {
        if self.builds_torch {
            TorchFrom::Host
        } else {
            config.torch_from
        }
    }

    /// Returns the backend with this name; the default one for `None`.
    pub fn backend(&self, name: Option<&str>) -> Option<&RecipeBackend> {
        match name {
            None => self.backends.first(),
            Some(name) => self.backends.iter().find(|backend| backend.name == name),
        }
    }
}
