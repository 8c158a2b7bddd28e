//! The walk over the axes: each prefix of values is evaluated once, and a prefix that a rule
//! excludes is not entered.
//!
//! Input: the axes and the rules. Output: the legs, and the number of cells for each
//! finding. A cell that is excluded counts only for the rule that excludes it, so a prefix that
//! fails the plan is entered for the rules below that exclude its cells.
//!
//! **Invariant:** a walk terminates: it fails with an error at a limit of legs or steps.

use std::collections::BTreeMap;

use super::axis_space::{AxisSpace, CellRank};
use super::cell_rule::{CellRule, RuleEffect, RuleFinding};
use super::limits::{MOST_LEGS, MOST_STEPS, MatrixSizeError};
use crate::codes::plan as codes;
use crate::config::AxisRole;
use rock_diagnostic::Code;

/// Axes in the order of binding, the most constrained by compatibility data first.
const BINDING_ORDER: [AxisRole; 7] = [
    AxisRole::Torch,
    AxisRole::Rocm,
    AxisRole::Package,
    AxisRole::Backend,
    AxisRole::Python,
    AxisRole::Gfx,
    AxisRole::Field,
];

/// A finding of a rule, by their indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RuleHit {
    pub(super) rule: usize,
    pub(super) finding: usize,
}

/// Returns the finding that a hit refers to.
#[inline]
pub(super) fn rule_finding(rules: &[CellRule], hit: RuleHit) -> &RuleFinding {
    &rules[hit.rule].findings()[hit.finding]
}

/// The effect of the rules on the values bound so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PrefixState {
    /// The cells below may be legs.
    Open,
    /// The cells below are not legs, because the plan fails; other rules may exclude them.
    Failed,
    /// A finding excludes all cells below.
    Excluded(RuleHit),
}

/// The rules to evaluate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleScope {
    /// All rules.
    All,
    /// The rules for the cell of an `include` entry that names every axis: all except the user's
    /// excludes and `rocm-policy`, which the entry overrides.
    IncludedCell,
}

impl RuleScope {
    /// Whether rules with this code are evaluated.
    fn has_rule(self, code: &Code) -> bool {
        let overridden = [codes::EXCLUDED_BY_USER.id, codes::ROCM_POLICY.id];
        self == Self::All || !overridden.contains(&code.id)
    }
}

/// The state of a walk: the values bound so far, the legs found, and the number of cells for each
/// finding.
#[derive(Debug)]
pub(super) struct MatrixWalk<'a> {
    space: &'a AxisSpace,
    /// Axis positions in the order of binding.
    order: Vec<usize>,
    /// Rules to evaluate once the axis at this depth is bound.
    due: Vec<Vec<usize>>,
    /// The last depth at which a rule may exclude cells.
    last_exclude: usize,
    rules: &'a [CellRule],
    /// Value index per axis position.
    bound: Vec<usize>,
    /// Findings about the bound values that exclude nothing: failures, warnings and notes. They are
    /// counted once it is known how many cells no other rule excludes.
    pending: Vec<RuleHit>,
    limits: WalkLimits,
    steps: u64,
    /// The legs, in the order in which they were found.
    pub(super) legs: Vec<CellRank>,
    /// Number of cells per finding. For failures, warnings and notes, the affected cells that no
    /// rule excludes.
    pub(super) counts: BTreeMap<RuleHit, u64>,
}

/// Limits of a walk.
#[derive(Debug, Clone, Copy)]
struct WalkLimits {
    legs: usize,
    steps: u64,
}

impl<'a> MatrixWalk<'a> {
    pub(super) fn new(space: &'a AxisSpace, rules: &'a [CellRule]) -> Self {
        Self::with_limits(
            space,
            rules,
            WalkLimits {
                legs: MOST_LEGS,
                steps: MOST_STEPS,
            },
        )
    }

    fn with_limits(space: &'a AxisSpace, rules: &'a [CellRule], limits: WalkLimits) -> Self {
        let rank = |axis: &usize| {
            BINDING_ORDER
                .iter()
                .position(|role| *role == space.axes()[*axis].role)
        };
        let mut order: Vec<usize> = (0..space.axes().len()).collect();
        order.sort_by_key(rank);
        let depth_of = |axis: &usize| order.iter().position(|o| o == axis).unwrap_or(0);
        let mut due = vec![Vec::new(); order.len().max(1)];
        let mut last_exclude = 0;
        for (number, rule) in rules.iter().enumerate() {
            let depth = rule.axes.iter().map(depth_of).max().unwrap_or(0);
            due[depth].push(number);
            let excludes = |found: &RuleFinding| found.outcome.effect == RuleEffect::Exclude;
            if rule.findings().iter().any(excludes) {
                last_exclude = last_exclude.max(depth);
            }
        }
        let bound = vec![0; order.len()];
        Self {
            space,
            order,
            due,
            last_exclude,
            rules,
            bound,
            pending: Vec::new(),
            limits,
            steps: 0,
            legs: Vec::new(),
            counts: BTreeMap::new(),
        }
    }

    /// Walks over the product.
    pub(super) fn walk_product(&mut self) -> Result<(), MatrixSizeError> {
        match self.space.cell_count() {
            0 => Ok(()),
            count => self.descend(0, 0, count, false).map(|_| ()),
        }
    }

    /// Binds the axis at `depth`, and returns the number of cells under this prefix that no rule
    /// excludes. `rank` is the sum of the weights above, and `cells` the number of cells under this
    /// prefix. If a rule `has_failed` for the prefix, its cells are not legs, but they are walked
    /// over for the rules that exclude them.
    fn descend(
        &mut self,
        depth: usize,
        rank: u64,
        cells: u64,
        has_failed: bool,
    ) -> Result<u64, MatrixSizeError> {
        let axis = self.order[depth];
        let range = self.space.axes()[axis].product_range();
        let cells_below = cells / range.len() as u64;
        self.steps += range.len() as u64 * (1 + self.due[depth].len() as u64);
        if self.steps > self.limits.steps {
            return Err(MatrixSizeError::Steps);
        }
        let mut kept = 0;
        for index in range {
            self.bound[axis] = index;
            let pending = self.pending.len();
            let state = self.evaluate(depth, RuleScope::All, has_failed);
            let kept_below = match state {
                PrefixState::Excluded(hit) => {
                    *self.counts.entry(hit).or_default() += cells_below;
                    0
                }
                PrefixState::Failed if depth >= self.last_exclude => cells_below,
                PrefixState::Open | PrefixState::Failed => {
                    let rank = rank + self.space.weight(axis, index);
                    if depth + 1 < self.order.len() {
                        let has_failed = state == PrefixState::Failed;
                        self.descend(depth + 1, rank, cells_below, has_failed)?
                    } else if self.legs.len() < self.limits.legs {
                        self.legs.push(CellRank::new(rank));
                        1
                    } else {
                        return Err(MatrixSizeError::Legs);
                    }
                }
            };
            self.count_pending(pending, kept_below);
            kept += kept_below;
        }
        Ok(kept)
    }

    /// Evaluates the rules due at this depth up to the first finding that excludes all cells below.
    /// Other findings become pending up to the first failure, at this depth or above if a rule
    /// `has_failed` there.
    fn evaluate(&mut self, depth: usize, scope: RuleScope, mut has_failed: bool) -> PrefixState {
        let rules = self.rules;
        for &rule in &self.due[depth] {
            let Some(finding) = rules[rule].finding_for(&self.bound) else {
                continue;
            };
            let hit = RuleHit { rule, finding };
            let outcome = &rule_finding(rules, hit).outcome;
            if !scope.has_rule(outcome.code) {
                continue;
            }
            match outcome.effect {
                RuleEffect::Exclude => return PrefixState::Excluded(hit),
                RuleEffect::Fail | RuleEffect::Warn | RuleEffect::Note if has_failed => {}
                RuleEffect::Fail => {
                    has_failed = true;
                    self.pending.push(hit);
                }
                RuleEffect::Warn | RuleEffect::Note => self.pending.push(hit),
            }
        }
        if has_failed {
            PrefixState::Failed
        } else {
            PrefixState::Open
        }
    }

    /// Counts the pending findings from the one at `first` on, and removes them.
    fn count_pending(&mut self, first: usize, cells: u64) {
        if cells > 0 {
            for hit in &self.pending[first..] {
                *self.counts.entry(*hit).or_default() += cells;
            }
        }
        self.pending.truncate(first);
    }

    /// Evaluates one explicit cell and counts it.
    pub(super) fn add_explicit_cell(&mut self, cell: CellRank, scope: RuleScope) {
        self.bind(cell);
        let mut has_failed = false;
        for depth in 0..self.due.len() {
            match self.evaluate(depth, scope, has_failed) {
                PrefixState::Excluded(hit) => {
                    *self.counts.entry(hit).or_default() += 1;
                    self.pending.clear();
                    return;
                }
                state => has_failed = state == PrefixState::Failed,
            }
        }
        self.count_pending(0, 1);
        if !has_failed {
            self.legs.push(cell);
        }
    }

    /// Evaluates a cell of the product again as one of an `include` entry if only rules that the
    /// entry overrides exclude it.
    pub(super) fn restore_cell(&mut self, cell: CellRank) {
        let Some(first) = self.exclusion_of(cell, RuleScope::All) else {
            return;
        };
        let scope = RuleScope::IncludedCell;
        if self.exclusion_of(cell, scope).is_none() {
            if let Some(count) = self.counts.get_mut(&first) {
                *count -= 1;
            }
            self.add_explicit_cell(cell, scope);
        }
    }

    /// Returns the first finding that excludes a cell, without counting it.
    pub(super) fn exclusion_of(&mut self, cell: CellRank, scope: RuleScope) -> Option<RuleHit> {
        self.bind(cell);
        (0..self.due.len()).find_map(|depth| self.exclusion_at(depth, scope))
    }

    /// Returns the first finding of the rules due at this depth that excludes the bound values.
    fn exclusion_at(&self, depth: usize, scope: RuleScope) -> Option<RuleHit> {
        self.due[depth].iter().find_map(|&rule| {
            let finding = self.rules[rule].finding_for(&self.bound)?;
            let hit = RuleHit { rule, finding };
            let outcome = &rule_finding(self.rules, hit).outcome;
            let excludes = outcome.effect == RuleEffect::Exclude && scope.has_rule(outcome.code);
            excludes.then_some(hit)
        })
    }

    /// Returns the finding that excludes every cell of the product with these value indexes, the
    /// first if there are several. Returns `None` if one of the cells is not excluded, or if the
    /// search would take too long.
    pub(super) fn exclusion_of_all(&mut self, fixed: &[Option<usize>]) -> Option<RuleHit> {
        self.search(0, fixed)
    }

    fn search(&mut self, depth: usize, fixed: &[Option<usize>]) -> Option<RuleHit> {
        let axis = self.order[depth];
        let range = fixed[axis].map_or_else(
            || self.space.axes()[axis].product_range(),
            |index| index..index + 1,
        );
        let mut first = None;
        for index in range {
            self.steps += 1 + self.due[depth].len() as u64;
            self.bound[axis] = index;
            let found = match self.exclusion_at(depth, RuleScope::All) {
                Some(found) => found,
                None if depth + 1 == self.order.len() || self.steps > self.limits.steps => {
                    return None;
                }
                None => self.search(depth + 1, fixed)?,
            };
            first.get_or_insert(found);
        }
        first
    }

    fn bind(&mut self, cell: CellRank) {
        for axis in 0..self.bound.len() {
            self.bound[axis] = self.space.index(cell, axis);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        AxisSpace, CellRule, MatrixSizeError, MatrixWalk, RuleEffect, RuleFinding, RuleHit,
        WalkLimits, codes,
    };
    use crate::matrix::AxisValueIndex;
    use crate::matrix::cell_rule::Finding;
    use crate::matrix::tests::read;
    use rock_compat::SupportReason;

    /// 3 × 4 cells; walking them binds 3 and then 3 × 4 values.
    const MATRIX: &str = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\nunknown: lenient\ngfx: [gfx942]\n\
        axes: {flash-attn: [\"2.8.3\"], torch: [\"2.6.0\"], rocm: [\"6.2\"], python: [\"3.10\", \"3.11\", \"3.12\"], \
        max-jobs: [1, 2, 3, 4]}\n";
    /// The positions of two of its axes, in their order of binding.
    const PYTHON: usize = 3;
    const MAX_JOBS: usize = 4;

    fn space() -> AxisSpace {
        AxisSpace::new(&read(MATRIX)).unwrap()
    }

    /// Creates a rule with one finding about the cells with these values of axes.
    fn rule(space: &AxisSpace, effect: RuleEffect, values: &[(usize, usize)]) -> CellRule {
        let values: Vec<AxisValueIndex> = values
            .iter()
            .map(|&(axis, value)| AxisValueIndex { axis, value })
            .collect();
        let axes = values.iter().map(|at| at.axis).collect();
        let outcome = Finding {
            code: &codes::ROCM_POLICY,
            reason: SupportReason {
                reason: String::new(),
                hint: None,
                source: String::new(),
            },
            effect,
        };
        CellRule::of_findings(
            space,
            axes,
            std::iter::once(RuleFinding { outcome, values }),
        )
    }

    /// Returns the number of legs, and the number of cells that count for each rule.
    fn walked(rules: &[CellRule]) -> (usize, Vec<(usize, u64)>) {
        let space = space();
        let mut walk = MatrixWalk::new(&space, rules);
        walk.walk_product().unwrap();
        let counts = walk.counts.iter();
        let counts = counts.map(|(RuleHit { rule, .. }, count)| (*rule, *count));
        (walk.legs.len(), counts.collect())
    }

    #[test]
    fn walks_at_the_limits_end_and_longer_ones_are_given_up() {
        let space = space();
        let walk = |legs: usize, steps: u64| {
            let mut walk = MatrixWalk::with_limits(&space, &[], WalkLimits { legs, steps });
            walk.walk_product().map(|()| (walk.legs.len(), walk.steps))
        };
        let (legs, steps) = walk(usize::MAX, u64::MAX).unwrap();
        assert_eq!(legs, 12);
        assert_eq!(walk(legs, steps), Ok((legs, steps)));
        assert_eq!(walk(legs - 1, steps), Err(MatrixSizeError::Legs));
        assert_eq!(walk(legs, steps - 1), Err(MatrixSizeError::Steps));
    }

    #[test]
    fn a_cell_counts_for_the_shallowest_then_the_first_rule() {
        let space = space();
        let exclude = |values: &[(usize, usize)]| rule(&space, RuleEffect::Exclude, values);
        let (shallow, deep) = ([(PYTHON, 1)], [(PYTHON, 1), (MAX_JOBS, 0)]);
        assert_eq!(
            walked(&[exclude(&shallow), exclude(&shallow)]),
            (8, vec![(0, 4)])
        );
        assert_eq!(
            walked(&[exclude(&deep), exclude(&shallow)]),
            (8, vec![(1, 4)])
        );
        assert_eq!(
            walked(&[exclude(&deep), exclude(&deep)]),
            (11, vec![(0, 1)])
        );
    }

    #[test]
    fn an_exclusion_takes_precedence_over_a_failure() {
        let space = space();
        let fail = || rule(&space, RuleEffect::Fail, &[(PYTHON, 1)]);
        let exclude = |values: &[(usize, usize)]| rule(&space, RuleEffect::Exclude, values);
        assert_eq!(walked(&[fail()]), (8, vec![(0, 4)]));
        // One of the four cells of the failure is excluded below.
        assert_eq!(
            walked(&[fail(), exclude(&[(PYTHON, 1), (MAX_JOBS, 0)])]),
            (8, vec![(0, 3), (1, 1)])
        );
        // All four are excluded at the same depth, so the failure is not reported.
        assert_eq!(
            walked(&[fail(), exclude(&[(PYTHON, 1)])]),
            (8, vec![(1, 4)])
        );
    }
}
