//! Rules about cells: each has an answer for every combination of the axes that it reads.

use std::collections::HashMap;

use super::axis_space::{AxisSpace, AxisValueIndex};
use super::limits::{MOST_COMBINATIONS, MOST_STORED_ANSWERS, MatrixSizeError};
use crate::config::{AxisRole, ParsedValue};
use rock_compat::SupportReason;
use rock_diagnostic::Code;
use rock_names::{PackageVersion, PythonVersion, RocmVersion, Version};

/// A rule with its answers for every combination of the axes that it reads.
#[derive(Debug)]
pub(super) struct CellRule {
    /// Positions of the axes that it reads.
    pub(super) axes: Vec<usize>,
    /// Answers by mixed-radix number of the value indexes on `axes`; 0 means that nothing was
    /// found.
    answers: RuleAnswers,
    /// The findings; answer `n` refers to `findings[n - 1]`.
    findings: Vec<RuleFinding>,
    /// Number of values of each axis.
    sizes: Vec<usize>,
}

/// Answers by number.
#[derive(Debug)]
enum RuleAnswers {
    /// One answer for every number.
    All(Vec<u32>),
    /// Only nonzero answers: a few excludes over long axes would not fit otherwise.
    Few(HashMap<usize, u32>),
}

/// The reason why cells are excluded or doubtful.
#[derive(Debug, Clone)]
pub(super) struct Finding {
    /// The rule's code.
    pub(super) code: &'static Code,
    /// The reason, its hint and its source.
    pub(super) reason: SupportReason,
    /// The effect on the cells.
    pub(super) effect: RuleEffect,
}

/// A finding about the cells with these values.
#[derive(Debug, Clone)]
pub(super) struct RuleFinding {
    pub(super) outcome: Finding,
    /// The values that it applies to, in the order of the rule's axes.
    pub(super) values: Vec<AxisValueIndex>,
}

impl RuleFinding {
    /// Returns the values that it applies to, in the order of the file's axes.
    pub(super) fn sorted_values(&self) -> Vec<AxisValueIndex> {
        let mut values = self.values.clone();
        values.sort_unstable();
        values
    }
}

/// The effect of a finding on cells. An exclusion takes precedence over the others: a cell that one
/// rule excludes neither fails the plan nor has warnings or notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleEffect {
    /// The cells are excluded.
    Exclude,
    /// The cells are not legs, and the plan fails.
    Fail,
    /// The cells are legs, with a warning.
    Warn,
    /// The cells are legs, with a note.
    Note,
}

impl RuleEffect {
    /// Whether the cells are not legs.
    pub(super) fn prevents_leg(self) -> bool {
        matches!(self, Self::Exclude | Self::Fail)
    }
}

/// The values of one combination of the axes that a rule reads.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BoundValues<'s> {
    torch: Option<&'s Version>,
    rocm: Option<&'s RocmVersion>,
    python: Option<PythonVersion>,
    package: Option<&'s PackageVersion>,
    backend: Option<&'s str>,
}

impl<'s> BoundValues<'s> {
    /// Returns the values with these indexes, or `None` if one of them is the absent value.
    pub(super) fn at(space: &'s AxisSpace, axes: &[usize], indexes: &[usize]) -> Option<Self> {
        let mut bound = Self::default();
        for (&axis, &index) in axes.iter().zip(indexes) {
            let column = &space.axes()[axis];
            match &column.values[index].as_ref()?.value {
                ParsedValue::Package(version) => bound.package = Some(version),
                ParsedValue::Python(version) => bound.python = Some(*version),
                ParsedValue::Torch(version) => bound.torch = Some(version),
                ParsedValue::Rocm(version) => bound.rocm = Some(version),
                ParsedValue::Text(text) if column.role == AxisRole::Backend => {
                    bound.backend = Some(text.as_str());
                }
                ParsedValue::Text(_) | ParsedValue::Gfx(_) => {}
            }
        }
        Some(bound)
    }

    /// Returns the torch version.
    ///
    /// # Panics
    /// If the rule does not read this axis, as for the other values.
    pub(super) fn torch(&self) -> &'s Version {
        self.torch.expect("the rule reads the axis of torch")
    }

    /// Returns the ROCm version.
    pub(super) fn rocm(&self) -> &'s RocmVersion {
        self.rocm.expect("the rule reads the axis of ROCm")
    }

    /// Returns the Python version.
    pub(super) fn python(&self) -> PythonVersion {
        self.python.expect("the rule reads the axis of Python")
    }

    /// Returns the version of the package.
    pub(super) fn package(&self) -> &'s PackageVersion {
        self.package
            .expect("the rule reads the axis of the package")
    }

    /// Returns the backend, or `None` if the rule does not read its axis.
    pub(super) fn backend(&self) -> Option<&'s str> {
        self.backend
    }
}

impl CellRule {
    /// Evaluates every combination of values of the axes with these roles; combinations with absent
    /// values have no finding. Returns `None` if an axis is missing or nothing is found.
    ///
    /// # Errors
    /// If there are too many combinations.
    ///
    /// # Panics
    /// If a role is [`AxisRole::Gfx`], which [`BoundValues`] does not return, or
    /// [`AxisRole::Field`], which several axes may have; [`Self::of_findings`] takes any axes.
    pub(super) fn build(
        space: &AxisSpace,
        roles: &[AxisRole],
        mut evaluate: impl FnMut(BoundValues<'_>) -> Option<Finding>,
    ) -> Result<Option<Self>, MatrixSizeError> {
        assert!(
            !roles.contains(&AxisRole::Field) && !roles.contains(&AxisRole::Gfx),
            "rules read no gfx axis, and a field axis has no role of its own"
        );
        let axes: Option<Vec<usize>> = roles.iter().map(|role| space.position(*role)).collect();
        let Some(axes) = axes else {
            return Ok(None);
        };
        let count = Self::combinations(space, &axes)?;
        let sizes = sizes(space, &axes);
        let (mut answers, mut findings) = (vec![0_u32; count], Vec::new());
        let mut indexes = vec![0; axes.len()];
        for answer in &mut answers {
            if let Some(values) = BoundValues::at(space, &axes, &indexes)
                && let Some(outcome) = evaluate(values)
            {
                let at = |(&axis, &value): (&usize, &usize)| AxisValueIndex { axis, value };
                let values = axes.iter().zip(&indexes).map(at).collect();
                findings.push(RuleFinding { outcome, values });
                *answer = last_answer(&findings);
            }
            for (index, size) in indexes.iter_mut().zip(&sizes).rev() {
                *index += 1;
                if *index < *size {
                    break;
                }
                *index = 0;
            }
        }
        Ok((!findings.is_empty()).then_some(Self {
            axes,
            answers: RuleAnswers::All(answers),
            findings,
            sizes,
        }))
    }

    /// Creates a rule with these findings, each about one combination of values of `axes`. Keeps the
    /// first of several about one combination.
    pub(super) fn of_findings(
        space: &AxisSpace,
        axes: Vec<usize>,
        candidates: impl Iterator<Item = RuleFinding>,
    ) -> Self {
        let sizes = sizes(space, &axes);
        let (mut few, mut findings) = (HashMap::new(), Vec::new());
        for candidate in candidates {
            let number = candidate
                .values
                .iter()
                .zip(&sizes)
                .fold(0_usize, |number, (at, size)| number * size + at.value);
            few.entry(number).or_insert_with(|| {
                findings.push(candidate);
                last_answer(&findings)
            });
        }
        let count: usize = sizes.iter().product();
        let answers = if count > MOST_STORED_ANSWERS {
            RuleAnswers::Few(few)
        } else {
            let answer = |number: usize| few.get(&number).copied().unwrap_or(0);
            RuleAnswers::All((0..count).map(answer).collect())
        };
        Self {
            axes,
            answers,
            findings,
            sizes,
        }
    }

    /// Returns the number of the finding for these value indexes (one per axis of the space), if
    /// any.
    #[inline]
    pub(super) fn finding_for(&self, indexes: &[usize]) -> Option<usize> {
        let number = self
            .axes
            .iter()
            .zip(&self.sizes)
            .fold(0, |number, (&axis, size)| number * size + indexes[axis]);
        let answer = match &self.answers {
            RuleAnswers::All(answers) => answers[number],
            RuleAnswers::Few(answers) => answers.get(&number).copied().unwrap_or(0),
        };
        answer.checked_sub(1).map(|n| n as usize)
    }

    /// Returns all findings: those of [`Self::build`] in the order of the values, those of
    /// [`Self::of_findings`] in the given order.
    pub(super) fn findings(&self) -> &[RuleFinding] {
        &self.findings
    }

    /// Returns the number of value combinations of these axes.
    ///
    /// # Errors
    /// If there are too many to evaluate.
    pub(super) fn combinations(
        space: &AxisSpace,
        axes: &[usize],
    ) -> Result<usize, MatrixSizeError> {
        let count = sizes(space, axes).iter().product();
        if count > MOST_COMBINATIONS {
            Err(MatrixSizeError::Combinations)
        } else {
            Ok(count)
        }
    }
}

/// Returns the answer that refers to the last finding.
fn last_answer(findings: &[RuleFinding]) -> u32 {
    u32::try_from(findings.len()).expect("the numbers of combinations and of excludes are limited")
}

fn sizes(space: &AxisSpace, axes: &[usize]) -> Vec<usize> {
    axes.iter()
        .map(|&axis| space.axes()[axis].values.len())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::user_excludes::user_excludes;
    use super::{AxisSpace, CellRule, Finding, MOST_STORED_ANSWERS, RuleAnswers, RuleEffect};
    use crate::codes::plan as codes;
    use crate::config::AxisRole;
    use crate::matrix::tests::read;
    use rock_compat::SupportReason;

    /// Returns whether an exclude over two axes of these lengths has an answer for every
    /// combination, and whether it finds its own.
    fn answers(jobs: usize, dims: usize) -> (bool, bool) {
        let values = |count: usize| {
            (1..=count)
                .map(|number| number.to_string())
                .collect::<Vec<_>>()
                .join(", ")
        };
        let config = read(&format!(
            "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\nunknown: lenient\ngfx: [gfx942]\naxes:\n  \
             flash-attn: [\"2.8.3\"]\n  torch: [\"2.6.0\"]\n  rocm: [\"6.2\"]\n  python: [\"3.12\"]\n  max-jobs: [{}]\n  \
             opt-dim: [{}]\nexclude: [{{max-jobs: \"{jobs}\", opt-dim: \"{dims}\"}}]\n",
            values(jobs),
            values(dims)
        ));
        let space = AxisSpace::new(&config).unwrap();
        let rules = user_excludes(&config, &space);
        let last: Vec<usize> = space
            .axes()
            .iter()
            .map(|axis| axis.values.len() - 1)
            .collect();
        (
            matches!(rules[0].answers, RuleAnswers::All(_)),
            rules[0].finding_for(&last).is_some(),
        )
    }

    #[test]
    #[should_panic(expected = "rules read no gfx axis, and a field axis has no role of its own")]
    fn a_rule_cannot_read_field_axes_by_role() {
        let config = read(
            "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\ngfx: [gfx942]\naxes:\n  \
             flash-attn: [\"2.8.3\"]\n  torch: [\"2.6.0\"]\n  rocm: [\"6.2\"]\n  python: [\"3.12\"]\n  \
             max-jobs: [1, 2]\n  opt-dim: [64, 128]\n",
        );
        let space = AxisSpace::new(&config).unwrap();
        assert_eq!(space.position_of_name("max-jobs"), Some(4));
        assert_eq!(space.position_of_name("opt-dim"), Some(5));
        let _ = CellRule::build(&space, &[AxisRole::Field], |_| None);
    }

    #[test]
    fn excludes_have_an_answer_for_each_combination_up_to_the_limit() {
        assert_eq!(answers(MOST_STORED_ANSWERS / 256, 256), (true, true));
        assert_eq!(answers(MOST_STORED_ANSWERS + 1, 1), (false, true));
    }

    #[test]
    fn a_rule_reads_values_by_role_in_any_order_of_the_axes() {
        for roles in [
            [AxisRole::Torch, AxisRole::Python],
            [AxisRole::Python, AxisRole::Torch],
        ] {
            let config = read(
                "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\ngfx: [gfx942]\naxes:\n  \
                 flash-attn: [\"2.8.3\"]\n  python: [\"3.11\", \"3.12\"]\n  torch: [\"2.5.1\", \"2.6.0\"]\n  \
                 rocm: [\"6.1\"]\n",
            );
            let space = AxisSpace::new(&config).unwrap();
            let rule = CellRule::build(&space, &roles, |values| {
                let is_found =
                    values.torch().to_string() == "2.6.0" && values.python().to_string() == "3.11";
                is_found.then(|| Finding {
                    code: &codes::TORCH_WITHOUT_PYTHON,
                    reason: SupportReason {
                        reason: String::new(),
                        hint: None,
                        source: String::new(),
                    },
                    effect: RuleEffect::Exclude,
                })
            });
            let rule = rule.unwrap().unwrap();
            // The axes of the file: package, Python, torch, ROCm.
            assert_eq!(rule.finding_for(&[0, 0, 1, 0]), Some(0));
            assert_eq!(rule.finding_for(&[0, 1, 0, 0]), None);
            assert_eq!(rule.findings().len(), 1);
        }
    }
}
