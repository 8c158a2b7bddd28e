//! The rules that exclude cells or warn about them: compatibility data, policies and the user's
//! excludes, each with the axes that it reads.
//!
//! # Adding a rule
//!
//! A rule is a function that returns the findings about the combinations of some axes, which
//! [`BoundValues`](super::cell_rule::BoundValues) can return: package, Python, torch, ROCm and
//! backend. A rule about ROCm and Python would be as follows. The query `rocm_python_support` does
//! not exist: it would read a table of `matrices/compat`, whose rows and validation are in
//! `rock-compat-tables`, and whose queries are in `rock-compat`.
//!
//! ```text
//! /// Excludes a ROCm version whose packages do not support a Python.
//! fn rocm_without_python(inputs: &RuleInputs<'_>) -> RuleResult {
//!     if inputs.config.python_from != PythonFrom::Image {
//!         return Ok(None);
//!     }
//!     let roles = [AxisRole::Rocm, AxisRole::Python];
//!     CellRule::build(inputs.space, &roles, |values| {
//!         let support = inputs.compat.rocm_python_support(values.rocm(), values.python());
//!         inputs.finding(&codes::ROCM_WITHOUT_PYTHON, support)
//!     })
//! }
//! ```
//!
//! 1. Add the code, with its explanation, to `codes/plan.rs` and its list `ALL`, and to the table of
//!    stages in ARCHITECTURE.md.
//! 2. Add the function here, and its line in `rules`. Of two rules whose last axis is bound at the
//!    same depth, the first one in the list has precedence.
//! 3. If it cites a table, add the code to `TABLES` in `excluded.rs`.
//! 4. If it is about torch and ROCm, evaluate it in [`RuleInputs::torch_support`], so that
//!    `rocm_policy` keeps no version that it excludes.
//! 5. Add its answer to `violated` in `tests/it/expansion_is_exact.rs`, which compares expansions
//!    with enumerations of all cells: at the position that it has in `rules`, with the depth of its
//!    last axis. Extend the values there if none of them violates it.
//! 6. Add a session to `tests/it/mistakes_in_commands/plan` that shows the complete message.
//! 7. Run `ROCK_BLESS=1 cargo test --test it`, which writes the output of the session and
//!    `docs/diagnostics.md`; review both.

use super::axis_space::AxisSpace;
use super::cell_rule::{CellRule, Finding, RuleEffect};
use super::limits::MatrixSizeError;
use super::rocm_policy::rocm_policy;
use super::rule_inputs::{RuleInputs, RuleResult};
use super::user_excludes::user_excludes;
use crate::codes::plan as codes;
use crate::config::{AxisRole, MatrixConfig, RecipeProfile, TorchFrom};
use rock_compat::{Compat, ImportQuery, Support, SupportReason};
use rock_names::PythonVersion;

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
) -> Result<Vec<CellRule>, MatrixSizeError> {
    let inputs = RuleInputs {
        config,
        space,
        profile,
        compat,
    };
    let of_data_and_policies = [
        torch_without_rocm(&inputs)?,
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

/// Excludes a torch without wheels for a ROCm version in the official index (P001) or, with
/// `torch-from: image`, one that no image of a ROCm version contains (P003). Reads the Python too
/// if it is that of the image.
fn torch_without_rocm(inputs: &RuleInputs<'_>) -> RuleResult {
    let code = match inputs.profile.installed_torch_from(inputs.config) {
        TorchFrom::PytorchIndex => &codes::TORCH_WITHOUT_ROCM,
        TorchFrom::Image => &codes::TORCH_NOT_IN_IMAGE,
        TorchFrom::AmdIndex | TorchFrom::Host => return Ok(None),
    };
    CellRule::build(inputs.space, inputs.torch_support_roles(), |values| {
        inputs.finding(code, inputs.torch_support(values)?)
    })
}

/// Excludes a torch without wheels for a Python in the official index (P002).
fn torch_without_python(inputs: &RuleInputs<'_>) -> RuleResult {
    if inputs.profile.installed_torch_from(inputs.config) != TorchFrom::PytorchIndex {
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
            hint: Some("set `free-threaded: true` to build it".into()),
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
    let torch_from = inputs.profile.installed_torch_from(inputs.config);
    CellRule::build(inputs.space, &roles, |values| {
        let support = inputs.compat.import_support(ImportQuery {
            package: &inputs.profile.package,
            version: values.package(),
            backend: values.backend().unwrap_or(inputs.default_backend()),
            torch: values.torch(),
        });
        let is_unlisted = || {
            let newest = inputs.compat.newest_release_if_unlisted(values.torch());
            torch_from.is_index() && newest.is_some()
        };
        if matches!(support, Support::Unknown(_)) && is_unlisted() {
            // `warn_of_unknown_versions` reports the release (P019).
            return None;
        }
        import_finding(torch_from, support)
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
