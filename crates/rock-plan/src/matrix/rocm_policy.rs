//! The rule of `rocm-policy` (P007): it keeps the newest or the oldest ROCm version of each torch.
//!
//! Where images determine the Python, one version is kept for each torch and Python. A version is
//! kept only if a cell has it with this torch (and Python), and if neither the rule about torch and
//! ROCm (P001, P003) nor an exclude that names only these axes excludes the combination.
//! `has_torch_support` has to agree with that rule, so both call [`RuleInputs::torch_support`] and
//! read the same axes.
//!
//! Other rules are not considered: a version is kept even if they exclude all its cells. Neither
//! are the cells of `include` entries: one that names every axis is kept with any version, so that
//! it does not take the place of the version that all other cells with this torch have.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools as _;

use super::cell_rule::{BoundValues, CellRule, Finding, RuleEffect};
use super::rule_inputs::{RuleInputs, RuleResult};
use super::user_excludes::excluded_values;
use crate::codes::plan as codes;
use crate::config::RocmPolicy;
use rock_compat::{Support, SupportReason};
use rock_names::{PythonVersion, RocmVersion, Version};

/// The torch and, where images determine it, the Python that a ROCm version is kept for.
type PolicyKey<'a> = (&'a Version, Option<PythonVersion>);

/// Excludes the ROCm versions of a torch that `rocm-policy` does not keep (P007).
pub(super) fn rocm_policy(inputs: &RuleInputs<'_>) -> RuleResult {
    let policy = inputs.config.rocm_policy;
    if policy == RocmPolicy::All {
        return Ok(None);
    }
    let Some(candidates) = RocmCandidates::new(inputs) else {
        return Ok(None);
    };
    CellRule::combinations(inputs.space, &candidates.axes)?;
    let kept = candidates.kept(policy);
    CellRule::build(inputs.space, inputs.torch_support_roles(), |values| {
        let (torch, python) = inputs.policy_key(values);
        let kept = kept
            .get(&(torch, python))
            .filter(|kept| **kept != values.rocm())?;
        let and_python = python
            .map(|python| format!(" and Python {python}"))
            .unwrap_or_default();
        let reason = SupportReason {
            reason: format!("`rocm-policy: {policy}` keeps {kept} for torch {torch}{and_python}"),
            hint: Some("set `rocm-policy: all` to build all of them".into()),
            source: String::new(),
        };
        Some(Finding {
            code: &codes::ROCM_POLICY,
            reason,
            effect: RuleEffect::Exclude,
        })
    })
}

impl RuleInputs<'_> {
    fn policy_key<'v>(&self, values: BoundValues<'v>) -> PolicyKey<'v> {
        let python = self.reads_python_of_image().then(|| values.python());
        (values.torch(), python)
    }
}

/// The combinations of torch, ROCm and, where images determine it, Python that a policy chooses
/// from. A combination consists of value indexes, in the order of `axes`.
struct RocmCandidates<'a> {
    inputs: RuleInputs<'a>,
    /// The positions of the axes.
    axes: Vec<usize>,
    /// Combinations that `rows` name.
    of_rows: BTreeSet<Vec<usize>>,
    /// The values of excludes that name no other axis; `None` for an axis that one does not name.
    excluded: BTreeSet<Vec<Option<usize>>>,
}

impl<'a> RocmCandidates<'a> {
    /// Returns `None` if the matrix file does not have all axes.
    fn new(inputs: &RuleInputs<'a>) -> Option<Self> {
        let (config, space) = (inputs.config, inputs.space);
        let roles = inputs.torch_support_roles().iter();
        let axes: Vec<usize> = roles
            .map(|role| space.position(*role))
            .collect::<Option<_>>()?;
        let of_rows = config.rows.iter().filter_map(|row| -> Option<Vec<usize>> {
            let index = |axis: &usize| {
                let column = &space.axes()[*axis];
                column.index_of(&row.axes.get(&column.name)?.text)
            };
            axes.iter().map(index).collect()
        });
        let excludes = config.exclude.iter();
        let excludes = excludes.filter_map(|exclude| excluded_values(exclude, space));
        let excluded = excludes.filter_map(|values| {
            let mut of_axes = vec![None; axes.len()];
            for at in values {
                let position = axes.iter().position(|axis| *axis == at.axis)?;
                of_axes[position] = Some(at.value);
            }
            Some(of_axes)
        });
        Some(Self {
            inputs: *inputs,
            of_rows: of_rows.collect(),
            excluded: excluded.collect(),
            axes,
        })
    }

    /// Returns the ROCm version that the policy keeps for each torch.
    fn kept(&self, policy: RocmPolicy) -> BTreeMap<PolicyKey<'a>, &'a RocmVersion> {
        let mut kept: BTreeMap<PolicyKey<'a>, &'a RocmVersion> = BTreeMap::new();
        for values in self.values() {
            let rocm = values.rocm();
            kept.entry(self.inputs.policy_key(values))
                .and_modify(|kept| {
                    if is_preferred(policy, rocm, kept) {
                        *kept = rocm;
                    }
                })
                .or_insert(rocm);
        }
        kept
    }

    /// Returns the values of the combinations that the policy chooses from.
    fn values(&self) -> impl Iterator<Item = BoundValues<'a>> {
        let space = self.inputs.space;
        self.axes
            .iter()
            .map(move |&axis| 0..space.axes()[axis].values.len())
            .multi_cartesian_product()
            .filter(move |indexes| self.has_cell(indexes) && !self.is_excluded(indexes))
            .filter_map(move |indexes| BoundValues::at(space, &self.axes, &indexes))
            .filter(move |values| self.has_torch_support(*values))
    }

    /// Whether the product or a row has a combination.
    fn has_cell(&self, indexes: &[usize]) -> bool {
        let mut values = self.axes.iter().zip(indexes);
        values.all(|(&axis, &index)| index < self.inputs.space.axes()[axis].product_len)
            || self.of_rows.contains(indexes)
    }

    /// Whether an exclude that names only these axes matches a combination.
    fn is_excluded(&self, indexes: &[usize]) -> bool {
        let named = indexes.iter().map(|&index| [None, Some(index)]);
        !self.excluded.is_empty()
            && named
                .multi_cartesian_product()
                .any(|named| self.excluded.contains(&named))
    }

    /// Whether the rule about torch and ROCm does not exclude a combination.
    fn has_torch_support(&self, values: BoundValues<'_>) -> bool {
        let support = self.inputs.torch_support(values);
        !matches!(support, Some(Support::Unsupported(_)))
    }
}

fn is_preferred(policy: RocmPolicy, rocm: &RocmVersion, other: &RocmVersion) -> bool {
    match policy {
        RocmPolicy::All => false,
        RocmPolicy::Oldest => rocm < other,
        RocmPolicy::Newest => rocm > other,
    }
}

#[cfg(test)]
mod tests {
    use crate::matrix::tests::expanded;

    /// Returns Python, torch and ROCm of each leg of flash-attn 2.8.3, and the reasons of P007.
    fn planned(text: &str) -> (Vec<String>, Vec<String>) {
        let (expansion, _) = expanded(text);
        let legs = expansion.legs.iter().map(|&leg| {
            let texts = expansion.space.texts(leg);
            ["python", "torch", "rocm"]
                .map(|axis| texts[axis].as_str())
                .join(" ")
        });
        let reasons = expansion.excluded.iter();
        let reasons = reasons
            .filter(|row| row.code.id == "P007")
            .map(|row| row.reason.clone());
        (legs.collect(), reasons.collect())
    }

    const ROWS: &str = "rows:\n  \
        - {flash-attn: \"2.8.3\", python: \"3.12\", torch: \"2.8.0\", rocm: \"6.3\"}\n  \
        - {flash-attn: \"2.8.3\", python: \"3.12\", torch: \"2.9.1\", rocm: \"6.4\"}\n";

    /// Both ROCm versions have wheels of both torch versions.
    #[test]
    fn a_version_is_kept_only_if_a_cell_has_it_with_this_torch() {
        let product = "axes: {flash-attn: [\"2.8.3\"], python: [\"3.12\"], torch: [\"2.8.0\"], rocm: [\"6.3\"]}\n";
        let legs = ["3.12 2.8.0 6.3", "3.12 2.9.1 6.4"];
        for policy in ["newest", "oldest"] {
            for axes in [product, ""] {
                let (found, reasons) = planned(&format!("rocm-policy: {policy}\n{axes}{ROWS}"));
                assert_eq!(found, legs, "{policy} {axes}");
                assert!(reasons.is_empty(), "{reasons:?}");
            }
        }
    }

    #[test]
    fn a_row_with_a_newer_version_excludes_older_product_cells() {
        let (legs, reasons) = planned(
            "rocm-policy: newest\n\
             axes: {flash-attn: [\"2.8.3\"], python: [\"3.12\"], torch: [\"2.8.0\"], rocm: [\"6.3\"]}\n\
             rows: [{flash-attn: \"2.8.3\", python: \"3.12\", torch: \"2.8.0\", rocm: \"6.4\"}]\n",
        );
        assert_eq!(legs, ["3.12 2.8.0 6.4"]);
        assert_eq!(reasons, ["`rocm-policy: newest` keeps 6.4 for torch 2.8.0"]);
    }

    /// The user excludes ROCm 6.4 except for one cell, or the product does not have it.
    #[test]
    fn an_included_cell_is_kept_and_does_not_change_the_choice() {
        let include = "include: [{axes: {flash-attn: \"2.8.3\", python: \"3.12\", torch: \"2.8.0\", rocm: \"6.4\"}}]\n";
        let axes = |rocm: &str| {
            format!(
                "axes: {{flash-attn: [\"2.8.3\"], python: [\"3.11\", \"3.12\"], torch: [\"2.8.0\"], rocm: [{rocm}]}}\n"
            )
        };
        let legs = ["3.11 2.8.0 6.3", "3.12 2.8.0 6.3", "3.12 2.8.0 6.4"];
        let exclude = "exclude: [{torch: \"2.8.0\", rocm: \"6.4\"}]\n";
        let both = axes("\"6.3\", \"6.4\"");
        for (policy, text) in [
            ("newest", format!("{exclude}{include}{both}")),
            ("oldest", format!("{include}{both}")),
            ("newest", format!("{include}{}", axes("\"6.3\""))),
        ] {
            let (found, _) = planned(&format!("rocm-policy: {policy}\n{text}"));
            assert_eq!(found, legs, "{policy} {text}");
        }
        // Without the `include`, the policy keeps the same version.
        let (found, reasons) = planned(&format!("rocm-policy: newest\n{exclude}{both}"));
        assert_eq!(found, legs[..2]);
        assert_eq!(reasons, ["`rocm-policy: newest` keeps 6.3 for torch 2.8.0"]);
    }

    /// Images with torch 2.9.1 exist for ROCm 7.2 with Python 3.10 and 3.12, and for ROCm 7.2.4
    /// with Python 3.12.
    #[test]
    fn a_python_of_images_keeps_the_newest_rocm_that_has_it() {
        let text = |python_from: &str| {
            format!(
                "torch-from: image\npython-from: {python_from}\nrocm-policy: newest\n\
                 axes: {{flash-attn: [\"2.8.3\"], python: [\"3.10\", \"3.12\"], torch: [\"2.9.1\"], \
                 rocm: [\"7.2\", \"7.2.4\"]}}\n"
            )
        };
        let (legs, reasons) = planned(&text("image"));
        assert_eq!(legs, ["3.10 2.9.1 7.2", "3.12 2.9.1 7.2.4"]);
        assert_eq!(
            reasons,
            ["`rocm-policy: newest` keeps 7.2.4 for torch 2.9.1 and Python 3.12"]
        );
        for exclude in [
            "{rocm: \"7.2.4\", python: \"3.12\"}",
            "{torch: \"2.9.1\", rocm: \"7.2.4\", python: \"3.12\"}",
        ] {
            let (legs, _) = planned(&format!("exclude: [{exclude}]\n{}", text("image")));
            assert_eq!(legs, ["3.10 2.9.1 7.2", "3.12 2.9.1 7.2"], "{exclude}");
        }
        let (legs, reasons) = planned(&text("uv"));
        assert_eq!(legs, ["3.10 2.9.1 7.2.4", "3.12 2.9.1 7.2.4"]);
        assert_eq!(
            reasons,
            ["`rocm-policy: newest` keeps 7.2.4 for torch 2.9.1"]
        );
    }

    #[test]
    fn an_unsupported_or_excluded_version_is_not_kept() {
        // ROCm 7.0 has no wheels of torch 2.8.
        let axes = "axes: {flash-attn: [\"2.8.3\"], python: [\"3.12\"], torch: [\"2.8.0\"], \
            rocm: [\"6.3\", \"6.4\", \"7.0\"]}\n";
        let kept = |exclude: &str| planned(&format!("rocm-policy: newest\n{exclude}{axes}")).0;
        assert_eq!(kept(""), ["3.12 2.8.0 6.4"]);
        for exclude in ["{rocm: \"6.4\"}", "{torch: \"2.8.0\", rocm: \"6.4\"}"] {
            assert_eq!(kept(&format!("exclude: [{exclude}]\n")), ["3.12 2.8.0 6.3"]);
        }
        // An exclude of another axis does not change the choice.
        let of_python = "exclude: [{rocm: \"6.4\", python: \"3.12\"}]\n";
        assert!(kept(of_python).is_empty());
    }
}
