//! The memory budget of parallel work.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A memory limit that workers share.
///
/// The sum of all shares never exceeds the limit, except that a single share larger than the limit
/// is granted while there is no other. Requests are served in order, so small ones cannot starve a
/// large one.
///
/// A worker that holds a share must not wait for work that takes another one, or it may deadlock.
/// In rayon, this applies to all parallel work that the worker starts.
///
/// ```
/// use rock_bytes::MemoryBudget;
/// let budget = MemoryBudget::new(100);
/// let first = budget.take(60);
/// assert!(budget.try_take(60).is_none());
/// drop(first);
/// assert!(budget.try_take(5000).is_some(), "a single share may exceed the limit");
/// ```
#[derive(Debug)]
pub struct MemoryBudget {
    limit_bytes: u64,
    state: Mutex<BudgetState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct BudgetState {
    held_bytes: u64,
    /// Number of current shares.
    shares: u64,
    /// The ticket of the next request.
    next_ticket: u64,
    /// The ticket of the request that is served next.
    serving: u64,
}

/// A share of a budget, returned when dropped.
#[derive(Debug)]
#[must_use = "the share is returned when it is dropped"]
pub struct BudgetShare<'b> {
    budget: &'b MemoryBudget,
    bytes: u64,
}

impl MemoryBudget {
    /// Creates a budget of `limit_bytes`.
    pub fn new(limit_bytes: u64) -> Self {
        Self {
            limit_bytes,
            state: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    /// Takes a share; waits until the budget permits it and all earlier requests are served.
    pub fn take(&self, bytes: u64) -> BudgetShare<'_> {
        let mut state = self.state();
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        while state.serving != ticket || !self.has_room(&state, bytes) {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.serving += 1;
        self.changed.notify_all();
        self.grant(&mut state, bytes)
    }

    /// Takes a share if the budget permits it and no other request is waiting.
    pub fn try_take(&self, bytes: u64) -> Option<BudgetShare<'_>> {
        let mut state = self.state();
        let is_free = state.serving == state.next_ticket && self.has_room(&state, bytes);
        is_free.then(|| self.grant(&mut state, bytes))
    }

    /// Returns the sum of all current shares in bytes.
    pub fn held_bytes(&self) -> u64 {
        self.state().held_bytes
    }

    fn has_room(&self, state: &BudgetState, bytes: u64) -> bool {
        state.shares == 0
            || state
                .held_bytes
                .checked_add(bytes)
                .is_some_and(|sum| sum <= self.limit_bytes)
    }

    fn grant(&self, state: &mut BudgetState, bytes: u64) -> BudgetShare<'_> {
        state.held_bytes += bytes;
        state.shares += 1;
        BudgetShare {
            budget: self,
            bytes,
        }
    }

    fn state(&self) -> MutexGuard<'_, BudgetState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for BudgetShare<'_> {
    fn drop(&mut self) {
        let mut state = self.budget.state();
        state.held_bytes -= self.bytes;
        state.shares -= 1;
        self.budget.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use proptest::prelude::*;

    use super::MemoryBudget;

    #[test]
    fn requests_are_served_in_order() {
        let budget = MemoryBudget::new(10);
        let order = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            let first = budget.take(10);
            let waiting = |tickets: u64| {
                while budget.state().next_ticket < tickets {
                    std::thread::yield_now();
                }
            };
            // The second request waits for the first share; the third one waits for the second
            // request.
            for (name, bytes, tickets) in [("second", 9, 2), ("third", 2, 3)] {
                let (budget, order) = (&budget, &order);
                scope.spawn(move || {
                    let share = budget.take(bytes);
                    order.lock().unwrap().push(name);
                    drop(share);
                });
                waiting(tickets);
            }
            assert!(budget.try_take(0).is_none(), "others wait");
            drop(first);
        });
        assert_eq!(
            (order.into_inner().unwrap(), budget.held_bytes()),
            (vec!["second", "third"], 0)
        );
    }

    #[test]
    fn overflowing_sum_exceeds_the_limit() {
        let budget = MemoryBudget::new(u64::MAX);
        let _first = budget.take(u64::MAX);
        assert!(budget.try_take(1).is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn shares_exceed_the_limit_only_if_there_is_one(
            limit in 0..100_u64,
            sizes in proptest::collection::vec(0..160_u64, 0..60),
            workers in 1..5_usize,
        ) {
            let budget = MemoryBudget::new(limit);
            let jobs = Mutex::new(sizes.clone());
            let held = Mutex::new(Vec::<u64>::new());
            let worst = Mutex::new(Vec::<u64>::new());
            std::thread::scope(|scope| {
                for _ in 0..workers {
                    scope.spawn(|| loop {
                        let Some(bytes) = jobs.lock().unwrap().pop() else { break };
                        let share = budget.take(bytes);
                        {
                            let mut held = held.lock().unwrap();
                            held.push(bytes);
                            let mut worst = worst.lock().unwrap();
                            if held.iter().sum::<u64>() > worst.iter().sum() {
                                worst.clone_from(&held);
                            }
                        }
                        std::thread::yield_now();
                        let mut now = held.lock().unwrap();
                        let at = now.iter().position(|one| *one == bytes).unwrap();
                        now.swap_remove(at);
                        drop(now);
                        drop(share);
                    });
                }
            });
            let worst = worst.into_inner().unwrap();
            prop_assert!(worst.len() <= 1 || worst.iter().sum::<u64>() <= limit, "{:?} of {}", worst, limit);
            prop_assert_eq!(budget.held_bytes(), 0);
            prop_assert!(jobs.into_inner().unwrap().is_empty());
        }
    }
}
