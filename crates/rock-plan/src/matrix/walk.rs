//! The walk over the axes: each prefix of values is evaluated once, and a prefix that a rule
//! excludes is not entered.
//!
//! Input: the axes and the rules. Output: the legal cells, and the number of cells for each
//! finding.
//!
//! **Invariant:** a walk terminates: it fails with an error at a limit of legal cells or steps.

use std::collections::BTreeMap;

use super::axis_space::{AxisSpace, CellRank};
use super::limits::{MOST_COMBINATIONS, MOST_LEGS, MOST_STEPS};
use super::rules::ExclusionRule;
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
    Facts,
    /// Too many steps, even if few cells are legal.
    #[error("expanding the matrix takes more than {MOST_STEPS} steps")]
    Steps,
}

/// Indexes of a rule and of one of its findings.
pub(super) type RuleHit = (usize, usize);

/// The rules to evaluate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleScope {
    /// All rules.
    All,
    /// All rules except the user's own excludes.
    Facts,
}

/// The state of a walk: the values bound so far, the legs found, and the number of cells for each
/// finding.
#[derive(Debug)]
pub(super) struct MatrixWalk<'a> {
    universe: &'a AxisSpace,
    /// Axis positions in the order of binding.
    order: Vec<usize>,
    /// Rules to evaluate once the axis at this depth is bound.
    due: Vec<Vec<usize>>,
    rules: &'a [ExclusionRule],
    /// Value index per axis position.
    bound: Vec<usize>,
    limits: WalkLimits,
    steps: u64,
    /// The legal cells, in the order in which they were found.
    pub(super) legs: Vec<CellRank>,
    /// Number of cells per rule and finding. For warnings and notes, the affected cells.
    pub(super) counts: BTreeMap<RuleHit, u64>,
}

/// Limits of a walk.
#[derive(Debug, Clone, Copy)]
struct WalkLimits {
    legs: usize,
    steps: u64,
}

impl<'a> MatrixWalk<'a> {
    pub(super) fn new(universe: &'a AxisSpace, rules: &'a [ExclusionRule]) -> Self {
        Self::with_limits(
            universe,
            rules,
            WalkLimits {
                legs: MOST_LEGS,
                steps: MOST_STEPS,
            },
        )
    }

    fn with_limits(
        universe: &'a AxisSpace,
        rules: &'a [ExclusionRule],
        limits: WalkLimits,
    ) -> Self {
        let rank = |axis: &usize| {
            BINDING_ORDER
                .iter()
                .position(|role| *role == universe.axes()[*axis].role)
        };
        let mut order: Vec<usize> = (0..universe.axes().len()).collect();
        order.sort_by_key(rank);
        let depth_of = |axis: &usize| order.iter().position(|o| o == axis).unwrap_or(0);
        let mut due = vec![Vec::new(); order.len().max(1)];
        for (number, rule) in rules.iter().enumerate() {
            due[rule.axes.iter().map(depth_of).max().unwrap_or(0)].push(number);
        }
        let bound = vec![0; order.len()];
        Self {
            universe,
            order,
            due,
            rules,
            bound,
            limits,
            steps: 0,
            legs: Vec::new(),
            counts: BTreeMap::new(),
        }
    }

    /// Walks over the product.
    pub(super) fn all(&mut self) -> Result<(), TooLarge> {
        match self.universe.raw() {
            0 => Ok(()),
            raw => self.descend(0, 0, raw),
        }
    }

    /// Binds the axis at `depth`; `rank` is the sum of the weights above, and `below` the number of
    /// cells under this prefix.
    fn descend(&mut self, depth: usize, rank: u64, below: u64) -> Result<(), TooLarge> {
        let axis = self.order[depth];
        let range = self.universe.axes()[axis].product_range();
        let below = below / range.len() as u64;
        self.steps += range.len() as u64 * (1 + self.due[depth].len() as u64);
        if self.steps > self.limits.steps {
            return Err(TooLarge::Steps);
        }
        for index in range {
            self.bound[axis] = index;
            if self.is_ruled_out(depth, below, RuleScope::All) {
                continue;
            }
            let rank = rank + self.universe.weight(axis, index);
            if depth + 1 < self.order.len() {
                self.descend(depth + 1, rank, below)?;
            } else if self.legs.len() < self.limits.legs {
                self.legs.push(CellRank(rank));
            } else {
                return Err(TooLarge::Legs);
            }
        }
        Ok(())
    }

    /// Evaluates the rules due at this depth; the first one that excludes counts all cells below.
    fn is_ruled_out(&mut self, depth: usize, below: u64, asked: RuleScope) -> bool {
        for &rule in &self.due[depth] {
            if let Some(finding) = self.rules[rule].ask(&self.bound)
                && (asked == RuleScope::All || !self.is_by_user((rule, finding)))
            {
                *self.counts.entry((rule, finding)).or_default() += below;
                if self.rules[rule].findings()[finding].effect.leaves_out() {
                    return true;
                }
            }
        }
        false
    }

    /// Evaluates one explicit cell and counts it.
    pub(super) fn judge(&mut self, cell: CellRank, asked: RuleScope) {
        self.bind(cell);
        if !(0..self.due.len()).any(|depth| self.is_ruled_out(depth, 1, asked)) {
            self.legs.push(cell);
        }
    }

    /// Makes a cell of the product a leg if only the user's excludes exclude it.
    pub(super) fn bring_back(&mut self, cell: CellRank) {
        let Some(first) = self.against(cell, RuleScope::All) else {
            return;
        };
        if self.is_by_user(first) && self.against(cell, RuleScope::Facts).is_none() {
            if let Some(count) = self.counts.get_mut(&first) {
                *count -= 1;
            }
            self.judge(cell, RuleScope::Facts);
        }
    }

    /// Returns the first finding that excludes a cell, without counting it.
    pub(super) fn against(&mut self, cell: CellRank, asked: RuleScope) -> Option<RuleHit> {
        self.bind(cell);
        (0..self.due.len()).find_map(|depth| self.against_prefix(depth, asked))
    }

    fn against_prefix(&self, depth: usize, asked: RuleScope) -> Option<RuleHit> {
        self.due[depth].iter().find_map(|&rule| {
            let found = (rule, self.rules[rule].ask(&self.bound)?);
            let counts = asked == RuleScope::All || !self.is_by_user(found);
            (counts && self.rules[rule].findings()[found.1].effect.leaves_out()).then_some(found)
        })
    }

    /// Returns the finding that excludes every cell of the product with these value indexes, the
    /// first if there are several. Returns `None` if one of the cells is a leg, or the search would
    /// take too long.
    pub(super) fn against_all(&mut self, fixed: &[Option<usize>]) -> Option<RuleHit> {
        self.search(0, fixed).err()
    }

    fn search(&mut self, depth: usize, fixed: &[Option<usize>]) -> Result<(), RuleHit> {
        let axis = self.order[depth];
        let range = fixed[axis].map_or_else(
            || self.universe.axes()[axis].product_range(),
            |index| index..index + 1,
        );
        let mut first = None;
        for index in range {
            self.steps += 1 + self.due[depth].len() as u64;
            self.bound[axis] = index;
            let found = match self.against_prefix(depth, RuleScope::All) {
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
            self.bound[axis] = self.universe.index(cell, axis);
        }
    }

    fn is_by_user(&self, (rule, finding): RuleHit) -> bool {
        self.rules[rule].findings()[finding].code.id == codes::EXCLUDED_BY_USER.id
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
        let universe = AxisSpace::new(&config).unwrap();
        let walk = |legs: usize, steps: u64| {
            let mut walk = MatrixWalk::with_limits(&universe, &[], WalkLimits { legs, steps });
            walk.all().map(|()| (walk.legs.len(), walk.steps))
        };
        let (legs, steps) = walk(usize::MAX, u64::MAX).unwrap();
        assert_eq!(legs, 12);
        assert_eq!(walk(legs, steps), Ok((legs, steps)));
        assert_eq!(walk(legs - 1, steps), Err(TooLarge::Legs));
        assert_eq!(walk(legs, steps - 1), Err(TooLarge::Steps));
    }
}
