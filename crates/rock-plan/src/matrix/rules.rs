//! The rules that exclude cells or warn about them: compatibility data, policies and the user's
//! excludes, each with the axes that it reads.

use std::collections::{BTreeMap, BTreeSet};

use super::axis_space::AxisSpace;
use super::cell_rule::{CellRule, Finding, RuleEffect};
use super::user_excludes::user_excludes;
use super::walk::TooLarge;
use crate::codes::plan as codes;
use crate::config::{
    AxisRole, AxisValue, ExcludeEntry, MatrixConfig, ParsedValue, PythonFrom, RecipeProfile,
    RocmPolicy, Strictness, TorchFrom,
};
use rock_compat::{Compat, ImportQuery, Support, SupportReason};
use rock_diagnostic::Code;
use rock_names::{PythonVersion, RocmVersion, Version};

/// A rule, or `None` if it does not apply to the matrix file or finds nothing.
type RuleResult = Result<Option<CellRule>, TooLarge>;

/// The inputs of the rules.
#[derive(Clone, Copy)]
struct RuleInputs<'a> {
    config: &'a MatrixConfig,
    space: &'a AxisSpace,
    profile: &'a RecipeProfile,
    compat: &'a Compat,
}

impl<'a> RuleInputs<'a> {
    /// Returns the finding of an answer of the compatibility data: `code` if the combination is
    /// unsupported, and P009 if it is unknown.
    fn finding(&self, code: &'static Code, support: Support) -> Option<Finding> {
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

    fn has_axis(&self, role: AxisRole) -> bool {
        self.space.position(role).is_some()
    }

    /// Returns the backend of a matrix file without an axis of backends.
    fn default_backend(&self) -> &'a str {
        let first = self.profile.backends.first();
        first
            .map(|backend| backend.name.as_str())
            .unwrap_or_default()
    }
}

/// Returns all rules that apply to a matrix file. If several rules exclude a cell, the reported
/// reason is that of the rule whose axes are bound first, and then of the first in this order.
///
/// # Errors
/// If the compatibility data would have to be evaluated for too many combinations.
pub(super) fn rules(
    config: &MatrixConfig,
    space: &AxisSpace,
    profile: &RecipeProfile,
    compat: &Compat,
) -> Result<Vec<CellRule>, TooLarge> {
    let inputs = RuleInputs {
        config,
        space,
        profile,
        compat,
    };
    let of_data_and_policies = [
        torch_without_rocm(&inputs)?,
        torch_not_in_image(&inputs)?,
        rocm_policy(&inputs)?,
        torch_without_python(&inputs)?,
        free_threaded_off(&inputs)?,
        backend_not_in_version(&inputs)?,
        import_conflict(&inputs)?,
        python_too_old(&inputs)?,
    ];
    Ok(of_data_and_policies
        .into_iter()
        .flatten()
        .chain(user_excludes(config, space))
        .collect())
}

/// Excludes a torch without wheels for a ROCm version in the official index (P001).
fn torch_without_rocm(inputs: &RuleInputs<'_>) -> RuleResult {
    if inputs.config.torch_from != TorchFrom::PytorchIndex {
        return Ok(None);
    }
    let roles = [AxisRole::Torch, AxisRole::Rocm];
    CellRule::build(inputs.space, &roles, |values| {
        let repository = &inputs.config.image.repository;
        let (torch, rocm) = (values.torch(), values.rocm());
        let support = inputs.compat.torch_index_support(repository, torch, rocm);
        inputs.finding(&codes::TORCH_WITHOUT_ROCM, support)
    })
}

/// Excludes a torch that no image of a ROCm version contains, with `torch-from: image` (P003).
/// Reads the Python too if it is that of the image.
fn torch_not_in_image(inputs: &RuleInputs<'_>) -> RuleResult {
    if inputs.config.torch_from != TorchFrom::Image {
        return Ok(None);
    }
    let reads_python =
        inputs.config.python_from == PythonFrom::Image && inputs.has_axis(AxisRole::Python);
    let mut roles = vec![AxisRole::Torch, AxisRole::Rocm];
    if reads_python {
        roles.push(AxisRole::Python);
    }
    CellRule::build(inputs.space, &roles, |values| {
        let support = inputs.compat.torch_image_support(
            &inputs.config.image.repository,
            values.torch(),
            values.rocm(),
            reads_python.then(|| values.python()),
        );
        inputs.finding(&codes::TORCH_NOT_IN_IMAGE, support)
    })
}

/// Excludes the ROCm versions of a torch that `rocm-policy` does not keep (P007).
fn rocm_policy(inputs: &RuleInputs<'_>) -> RuleResult {
    let (config, space) = (inputs.config, inputs.space);
    let keeps = match config.rocm_policy {
        RocmPolicy::All => return Ok(None),
        RocmPolicy::Newest => KeptRocm::Newest,
        RocmPolicy::Oldest => KeptRocm::Oldest,
    };
    let (Some(torch), Some(rocm)) = (
        space.position(AxisRole::Torch),
        space.position(AxisRole::Rocm),
    ) else {
        return Ok(None);
    };
    CellRule::combinations(space, &[torch, rocm])?;
    let kept = kept_rocms(config, keeps, space, [torch, rocm], inputs.compat);
    let roles = [AxisRole::Torch, AxisRole::Rocm];
    CellRule::build(space, &roles, |values| {
        let torch = values.torch();
        let kept = kept.get(torch).filter(|kept| *kept != values.rocm())?;
        let reason = SupportReason {
            reason: format!(
                "`rocm-policy: {}` keeps {kept} for torch {torch}",
                config.rocm_policy
            ),
            hint: "set `rocm-policy: all` to build all of them".into(),
            source: String::new(),
        };
        Some(Finding {
            code: &codes::ROCM_POLICY,
            reason,
            effect: RuleEffect::Exclude,
        })
    })
}

/// Excludes a torch without wheels for a Python in the official index (P002).
fn torch_without_python(inputs: &RuleInputs<'_>) -> RuleResult {
    if inputs.config.torch_from != TorchFrom::PytorchIndex {
        return Ok(None);
    }
    let roles = [AxisRole::Torch, AxisRole::Python];
    CellRule::build(inputs.space, &roles, |values| {
        let support = inputs
            .compat
            .torch_python_support(values.torch(), values.python());
        inputs.finding(&codes::TORCH_WITHOUT_PYTHON, support)
    })
}

/// Excludes free-threaded Pythons unless `free-threaded` is set (P006).
fn free_threaded_off(inputs: &RuleInputs<'_>) -> RuleResult {
    if inputs.config.free_threaded {
        return Ok(None);
    }
    CellRule::build(inputs.space, &[AxisRole::Python], |values| {
        let python = values.python();
        python
            .is_free_threaded()
            .then(|| free_threaded_finding(python))
    })
}

fn free_threaded_finding(python: PythonVersion) -> Finding {
    Finding {
        code: &codes::FREE_THREADED_OFF,
        reason: SupportReason {
            reason: format!("Python {python} is free-threaded, and `free-threaded` is off"),
            hint: "set `free-threaded: true` to build it".into(),
            source: String::new(),
        },
        effect: RuleEffect::Exclude,
    }
}

/// Excludes a version of the package that does not have a backend (P004). `unknown` applies to
/// torch, ROCm and Python, while an unknown version of the package itself is kept with a warning.
fn backend_not_in_version(inputs: &RuleInputs<'_>) -> RuleResult {
    let mut roles = vec![AxisRole::Package];
    if inputs.has_axis(AxisRole::Backend) {
        roles.push(AxisRole::Backend);
    }
    CellRule::build(inputs.space, &roles, |values| {
        let support = inputs.compat.package_backend_support(
            &inputs.profile.package,
            values.package(),
            values.backend().unwrap_or(inputs.default_backend()),
        );
        let finding = inputs.finding(&codes::BACKEND_NOT_IN_VERSION, support)?;
        Some(if finding.effect == RuleEffect::Fail {
            Finding {
                effect: RuleEffect::Warn,
                ..finding
            }
        } else {
            finding
        })
    })
}

/// Excludes a wheel that cannot be imported with the torch in its label (P078). Images and the AMD
/// index may have another version of torch's requirements than the official wheels, so for them
/// this is only a note (P079).
fn import_conflict(inputs: &RuleInputs<'_>) -> RuleResult {
    let mut roles = vec![AxisRole::Package, AxisRole::Torch];
    if inputs.has_axis(AxisRole::Backend) {
        roles.push(AxisRole::Backend);
    }
    CellRule::build(inputs.space, &roles, |values| {
        let support = inputs.compat.import_support(ImportQuery {
            package: &inputs.profile.package,
            version: values.package(),
            backend: values.backend().unwrap_or(inputs.default_backend()),
            torch: values.torch(),
        });
        import_finding(inputs.config.torch_from, support)
    })
}

fn import_finding(torch_from: TorchFrom, support: Support) -> Option<Finding> {
    let (code, reason, effect) = match (support, torch_from) {
        (Support::Supported { .. }, _) => return None,
        (Support::Unsupported(reason), TorchFrom::PytorchIndex | TorchFrom::Host) => {
            (&codes::IMPORT_CONFLICT, reason, RuleEffect::Exclude)
        }
        (Support::Unsupported(conflict), TorchFrom::Image | TorchFrom::AmdIndex) => {
            let reason = format!(
                "{}; torch from another source may require another version",
                conflict.reason
            );
            let reason = SupportReason { reason, ..conflict };
            (&codes::IMPORT_UNTRIED, reason, RuleEffect::Note)
        }
        (Support::Unknown(reason), _) => (&codes::IMPORT_UNTRIED, reason, RuleEffect::Note),
    };
    Some(Finding {
        code,
        reason,
        effect,
    })
}

/// Excludes a Python that is too old for a version of the package (P005). Unknown versions are
/// covered by [`backend_not_in_version`].
fn python_too_old(inputs: &RuleInputs<'_>) -> RuleResult {
    let roles = [AxisRole::Package, AxisRole::Python];
    CellRule::build(inputs.space, &roles, |values| {
        let support = inputs.compat.package_python_support(
            &inputs.profile.package,
            values.package(),
            values.python(),
        );
        inputs
            .finding(&codes::PYTHON_TOO_OLD, support)
            .filter(|finding| finding.effect == RuleEffect::Exclude)
    })
}

/// The ROCm version that a policy keeps for each torch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeptRocm {
    Newest,
    Oldest,
}

/// Returns the ROCm version that the policy keeps for each torch, among the matrix's legal ones.
fn kept_rocms<'u>(
    config: &MatrixConfig,
    keeps: KeptRocm,
    space: &'u AxisSpace,
    [torch_axis, rocm_axis]: [usize; 2],
    compat: &Compat,
) -> BTreeMap<&'u Version, RocmVersion> {
    let legal = |torch: &Version, rocm: &RocmVersion| match config.torch_from {
        TorchFrom::PytorchIndex => !matches!(
            compat.torch_rocm_support(torch, rocm),
            Support::Unsupported(_)
        ),
        TorchFrom::Image => {
            let support = compat.torch_image_support(&config.image.repository, torch, rocm, None);
            !matches!(support, Support::Unsupported(_))
        }
        TorchFrom::AmdIndex | TorchFrom::Host => true,
    };
    // An exclude that names only a torch, a ROCm or a pair of both leaves no cell to keep.
    let names = [torch_axis, rocm_axis].map(|axis| space.axes()[axis].name.as_str());
    let pair = |exclude: &'_ ExcludeEntry| -> Option<(Option<Version>, Option<String>)> {
        let [torch, rocm] = names.map(|name| exclude.axes.get(name));
        let is_pair =
            exclude.axes.len() == usize::from(torch.is_some()) + usize::from(rocm.is_some());
        let torch = torch.map(|text| text.parse()).transpose().ok()?;
        (is_pair && !exclude.axes.is_empty()).then(|| (torch, rocm.cloned()))
    };
    let excluded: BTreeSet<_> = config.exclude.iter().filter_map(pair).collect();
    let is_excluded = |torch: &Version, rocm: &str| {
        if excluded.is_empty() {
            return false;
        }
        let (torch, rocm) = (Some(torch.clone()), Some(rocm.to_owned()));
        [(torch.clone(), None), (None, rocm.clone()), (torch, rocm)]
            .iter()
            .any(|pair| excluded.contains(pair))
    };
    let kept = |value: &'u AxisValue| {
        let ParsedValue::Torch(torch) = &value.value else {
            return None;
        };
        let versions = space.axes()[rocm_axis]
            .values
            .iter()
            .flatten()
            .filter_map(|value| match &value.value {
                ParsedValue::Rocm(rocm) => {
                    (!is_excluded(torch, &value.text) && legal(torch, rocm)).then_some(rocm)
                }
                _ => None,
            });
        let kept = match keeps {
            KeptRocm::Newest => versions.max(),
            KeptRocm::Oldest => versions.min(),
        };
        Some((torch, kept?.clone()))
    };
    space.axes()[torch_axis]
        .values
        .iter()
        .flatten()
        .filter_map(kept)
        .collect()
}
