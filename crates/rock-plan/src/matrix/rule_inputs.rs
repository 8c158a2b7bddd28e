//! The inputs of the rules, and the answers that several rules use.

use super::axis_space::AxisSpace;
use super::cell_rule::{BoundValues, CellRule, Finding, RuleEffect};
use super::limits::MatrixSizeError;
use crate::codes::plan as codes;
use crate::config::{AxisRole, MatrixConfig, PythonFrom, RecipeProfile, Strictness, TorchFrom};
use rock_compat::{Compat, Support};
use rock_diagnostic::Code;

/// A rule, or `None` if it does not apply to the matrix file or finds nothing.
pub(super) type RuleResult = Result<Option<CellRule>, MatrixSizeError>;

/// The inputs of the rules.
#[derive(Debug, Clone, Copy)]
pub(super) struct RuleInputs<'a> {
    pub(super) config: &'a MatrixConfig,
    pub(super) space: &'a AxisSpace,
    pub(super) profile: &'a RecipeProfile,
    pub(super) compat: &'a Compat,
}

impl<'a> RuleInputs<'a> {
    /// Returns the finding of an answer of the compatibility data: `code` if the combination is
    /// unsupported, and P009 if it is unknown.
    pub(super) fn finding(&self, code: &'static Code, support: Support) -> Option<Finding> {
        let (code, reason, effect) = match support {
            Support::Supported { .. } => return None,
            Support::Unsupported(reason) => (code, reason, RuleEffect::Exclude),
            Support::Unknown(reason) => {
                let effect = match self.config.unknown {
                    Strictness::Strict => RuleEffect::Fail,
                    Strictness::Lenient => RuleEffect::Warn,
                };
                (&codes::UNKNOWN_COMBINATION, reason, effect)
            }
        };
        Some(Finding {
            code,
            reason,
            effect,
        })
    }

    /// Whether the cell's Python has to be that of the image that contains torch.
    pub(super) fn reads_python_of_image(&self) -> bool {
        self.profile.installed_torch_from(self.config) == TorchFrom::Image
            && self.config.python_from == PythonFrom::Image
            && self.has_axis(AxisRole::Python)
    }

    /// Returns the roles of the axes that [`Self::torch_support`] reads.
    pub(super) fn torch_support_roles(&self) -> &'static [AxisRole] {
        if self.reads_python_of_image() {
            &[AxisRole::Torch, AxisRole::Rocm, AxisRole::Python]
        } else {
            &[AxisRole::Torch, AxisRole::Rocm]
        }
    }

    /// Returns whether the source of torch has it for a ROCm version; `None` for a source that the
    /// compatibility data does not describe.
    pub(super) fn torch_support(&self, values: BoundValues<'_>) -> Option<Support> {
        let repository = &self.config.image.repository;
        let (torch, rocm) = (values.torch(), values.rocm());
        match self.profile.installed_torch_from(self.config) {
            TorchFrom::PytorchIndex => {
                Some(self.compat.torch_index_support(repository, torch, rocm))
            }
            TorchFrom::Image => {
                let python = self.reads_python_of_image().then(|| values.python());
                let compat = self.compat;
                Some(compat.torch_image_support(repository, torch, rocm, python))
            }
            TorchFrom::AmdIndex | TorchFrom::Host => None,
        }
    }

    pub(super) fn has_axis(&self, role: AxisRole) -> bool {
        self.space.position(role).is_some()
    }

    /// Returns the backend of a matrix file without an axis of backends.
    pub(super) fn default_backend(&self) -> &'a str {
        let first = self.profile.backends.first();
        first
            .map(|backend| backend.name.as_str())
            .unwrap_or_default()
    }
}
