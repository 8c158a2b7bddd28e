//! The walk over the axes: each prefix of values is evaluated once, and a prefix that a rule
//! excludes is not entered.
//!
//! Input: the axes and the rules. Output: the legal cells, and the number of cells for each
//! finding. A cell that is excluded counts only for the rule that excludes it, so a prefix that
//! fails the plan is entered for the rules below that exclude its cells.
//!
//! **Invariant:** a walk terminates: it fails with an error at a limit of legal cells or steps.

use std::collections::BTreeMap;

use super::axis_space::{AxisSpace, CellRank};
use super::cell_rule::{CellRule, RuleEffect, RuleFinding};
use super::limits::{MOST_COMBINATIONS, MOST_LEGS, MOST_STEPS};
use crate::codes::plan as codes;
use crate::config::AxisRole;

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

/// An error of a walk that exceeds a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum TooLarge {
    /// Too many legal cells.
    #[error("more than {MOST_LEGS} cells are legal")]
    Legs,
    /// Too many combinations to evaluate against the compatibility data.
    #[error(
        "the compatibility data would have to be evaluated for more than {MOST_COMBINATIONS} \
         combinations of two or three axes"
    )]
    Combinations,
    /// Too many steps, even if few cells are legal.
    #[error("expanding the matrix takes more than {MOST_STEPS} steps")]
    Steps,
}

/// A finding of a rule, by their indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RuleHit {
    pub(super) rule: usize,
    pub(super) finding: usize,
}

/// The rules to evaluate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleScope {
    /// All rules.
    All,
    /// All rules except the user's own excludes.
    ExceptUserExcludes,
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
    /// The legal cells, in the order in which they were found.
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
            let excludes = |found: &RuleFinding| found.finding.effect == RuleEffect::Exclude;
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
    pub(super) fn all(&mut self) -> Result<(), TooLarge> {
        match self.space.cell_count() {
            0 => Ok(()),
            count => self.descend(0, 0, count, false).map(|_| ()),
        }
    }

    /// Binds the axis at `depth`, and returns the number of cells under this prefix that no rule
    /// excludes. `rank` is the sum of the weights above, and `cells` the number of cells under this
    /// prefix. If a rule has `failed` for the prefix, its cells are not legs, but they are walked
    /// over for the rules that exclude them.
    fn descend(
        &mut self,
        depth: usize,
        rank: u64,
        cells: u64,
        failed: bool,
    ) -> Result<u64, TooLarge> {
        let axis = self.order[depth];
        let range = self.space.axes()[axis].product_range();
        let cells_below = cells / range.len() as u64;
        self.steps += range.len() as u64 * (1 + self.due[depth].len() as u64);
        if self.steps > self.limits.steps {
            return Err(TooLarge::Steps);
        }
        let mut kept = 0;
        for index in range {
            self.bound[axis] = index;
            let (pending, mut failed) = (self.pending.len(), failed);
            let kept_below = match self.evaluate(depth, RuleScope::All, &mut failed) {
                Some(hit) => {
                    *self.counts.entry(hit).or_default() += cells_below;
                    0
                }
                None if failed && depth >= self.last_exclude => cells_below,
                None => {
                    let rank = rank + self.space.weight(axis, index);
                    if depth + 1 < self.order.len() {
                        self.descend(depth + 1, rank, cells_below, failed)?
                    } else if self.legs.len() < self.limits.legs {
                        self.legs.push(CellRank::new(rank));
                        1
                    } else {
                        return Err(TooLarge::Legs);
                    }
                }
            };
            self.count_pending(pending, kept_below);
            kept += kept_below;
        }
        Ok(kept)
    }

    /// Evaluates the rules due at this depth, and returns the first finding that excludes all cells
    /// below. Other findings become pending up to the first failure, which sets `failed`.
    fn evaluate(&mut self, depth: usize, scope: RuleScope, failed: &mut bool) -> Option<RuleHit> {
        let rules = self.rules;
        for &rule in &self.due[depth] {
            let Some(finding) = rules[rule].finding_for(&self.bound) else {
                continue;
            };
            let hit = RuleHit { rule, finding };
            if scope == RuleScope::ExceptUserExcludes && self.is_by_user(hit) {
                continue;
            }
            match rules[rule].findings()[finding].finding.effect {
                RuleEffect::Exclude => return Some(hit),
                RuleEffect::Fail | RuleEffect::Warn | RuleEffect::Note if *failed => {}
                RuleEffect::Fail => {
                    *failed = true;
                    self.pending.push(hit);
                }
                RuleEffect::Warn | RuleEffect::Note => self.pending.push(hit),
            }
        }
        None
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
        let mut failed = false;
        for depth in 0..self.due.len() {
            if let Some(hit) = self.evaluate(depth, scope, &mut failed) {
                *self.counts.entry(hit).or_default() += 1;
                self.pending.clear();
                return;
            }
        }
        self.count_pending(0, 1);
        if !failed {
            self.legs.push(cell);
        }
    }

    /// Evaluates a cell of the product again without the user's excludes if only they exclude it.
    pub(super) fn restore_cell(&mut self, cell: CellRank) {
        let Some(first) = self.exclusion_of(cell, RuleScope::All) else {
            return;
        };
        let scope = RuleScope::ExceptUserExcludes;
        if self.is_by_user(first) && self.exclusion_of(cell, scope).is_none() {
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
            let excludes =
                self.rules[rule].findings()[finding].finding.effect == RuleEffect::Exclude;
            (excludes && (scope == RuleScope::All || !self.is_by_user(hit))).then_some(hit)
        })
    }

    /// Returns the finding that excludes every cell of the product with these value indexes, the
    /// first if there are several. Returns `None` if one of the cells is not excluded, or if the
    /// search would take too long.
    pub(super) fn exclusion_of_all(&mut self, fixed: &[Option<usize>]) -> Option<RuleHit> {
        self.search(0, fixed).err()
    }

    fn search(&mut self, depth: usize, fixed: &[Option<usize>]) -> Result<(), RuleHit> {
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
                    return Ok(());
                }
                None => match self.search(depth + 1, fixed) {
                    Ok(()) => return Ok(()),
                    Err(found) => found,
                },
            };
            first.get_or_insert(found);
        }
        first.map_or(Ok(()), Err)
    }

    fn bind(&mut self, cell: CellRank) {
        for axis in 0..self.bound.len() {
            self.bound[axis] = self.space.index(cell, axis);
        }
    }

    fn is_by_user(&self, hit: RuleHit) -> bool {
        let found = &self.rules[hit.rule].findings()[hit.finding];
        found.finding.code.id == codes::EXCLUDED_BY_USER.id
    }
}

#[cfg(test)]
mod tests {
    use super::{AxisSpace, MatrixWalk, TooLarge, WalkLimits};
    use crate::config::{self, Lookups, recipe};
    use rock_compat::Compat;
    use rock_diagnostic::{Sink, SourceText};

    /// 3 × 4 cells; walking them binds 3 and then 3 × 4 values.
    const MATRIX: &str = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\nunknown: lenient\ngfx: [gfx942]\n\
        axes: {flash-attn: [\"2.8.3\"], torch: [\"2.6.0\"], rocm: [\"6.2\"], python: [\"3.10\", \"3.11\", \"3.12\"], \
        max-jobs: [1, 2, 3, 4]}\n";

    #[test]
    fn walks_at_the_limits_end_and_longer_ones_are_given_up() {
        let compat = Compat::embedded();
        let lookups = Lookups::new(&compat, recipe::RecipeSet::with_shipped([]).into());
        let mut sink = Sink::new();
        let config = config::read(&SourceText::new("m.yaml", MATRIX), &lookups, &mut sink).unwrap();
        let space = AxisSpace::new(&config).unwrap();
        let walk = |legs: usize, steps: u64| {
            let mut walk = MatrixWalk::with_limits(&space, &[], WalkLimits { legs, steps });
            walk.all().map(|()| (walk.legs.len(), walk.steps))
        };
        let (legs, steps) = walk(usize::MAX, u64::MAX).unwrap();
        assert_eq!(legs, 12);
        assert_eq!(walk(legs, steps), Ok((legs, steps)));
        assert_eq!(walk(legs - 1, steps), Err(TooLarge::Legs));
        assert_eq!(walk(legs, steps - 1), Err(TooLarge::Steps));
    }
}
