//! Parallel work with results in order.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;

use rayon::Yield;

use rock_bytes::{BudgetShare, MemoryBudget, start_threads};

/// Maximum number of results that wait for an earlier one.
const MAX_PENDING: usize = 4096;

/// The next item of the sequence.
pub(super) enum WorkItem<T, R> {
    /// A result that needs no work.
    Ready(R),
    /// The memory of the task and its result in bytes, and the task.
    Work(u64, T),
}

/// The limits on the memory of all tasks and results at a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemoryLimits {
    /// Limit for each thread of the pool.
    pub(super) per_thread_bytes: u64,
    /// Limit for all threads.
    pub(super) total_bytes: u64,
}

/// Performs tasks in rayon's threads, and passes the results to `emit` in the calling thread, in
/// the order of `next`.
///
/// Started tasks and waiting results stay within the limits, except that one task may always run.
pub(super) fn run_in_order<T: Send, R: Send, E>(
    room: MemoryLimits,
    mut next: impl FnMut() -> Result<Option<WorkItem<T, R>>, E>,
    work: impl Fn(T) -> R + Sync,
    mut emit: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    // As long as there are no tasks, the pool is not started.
    let mut step = loop {
        match next()? {
            Some(WorkItem::Ready(result)) => emit(result)?,
            Some(work) => break Some(work),
            None => return Ok(()),
        }
    };
    start_threads();
    let threads = rayon::current_num_threads() as u64;
    let budget = &MemoryBudget::new(
        room.per_thread_bytes
            .saturating_mul(threads)
            .min(room.total_bytes),
    );
    rayon::in_place_scope_fifo(|scope| {
        let work = &work;
        let mut waiting: VecDeque<PendingResult<'_, R>> = VecDeque::new();
        let mut finish = |one: PendingResult<'_, R>| {
            let (result, share) = one.wait();
            emit(result)?;
            drop(share);
            Ok(())
        };
        while let Some(present) = step {
            match present {
                WorkItem::Ready(result) => waiting.push_back(PendingResult::Done(result, None)),
                WorkItem::Work(bytes, task) => {
                    let share = loop {
                        if let Some(share) = budget.try_take(bytes) {
                            break share;
                        }
                        match waiting.pop_front() {
                            Some(front) => finish(front)?,
                            None => break budget.take(bytes),
                        }
                    };
                    let (give, result) = sync_channel(1);
                    scope.spawn_fifo(move |_| {
                        // After an error, nothing receives the result.
                        let _ = give.send(catch_unwind(AssertUnwindSafe(|| work(task))));
                    });
                    waiting.push_back(PendingResult::Running(result, share));
                }
            }
            while let Some(front) = waiting.pop_front() {
                let front = front.poll();
                if matches!(front, PendingResult::Running(..)) && waiting.len() < MAX_PENDING {
                    waiting.push_front(front);
                    break;
                }
                finish(front)?;
            }
            step = next()?;
        }
        waiting.into_iter().try_for_each(finish)
    })
}

enum PendingResult<'b, R> {
    Done(R, Option<BudgetShare<'b>>),
    Running(Receiver<thread::Result<R>>, BudgetShare<'b>),
}

impl<'b, R> PendingResult<'b, R> {
    /// Returns `Ready` if the task is done.
    fn poll(self) -> Self {
        match self {
            Self::Running(result, share) => match result.try_recv() {
                Ok(done) => Self::Done(resume_panic(done), Some(share)),
                Err(_) => Self::Running(result, share),
            },
            done @ Self::Done(..) => done,
        }
    }

    /// Returns the result. A thread of the pool works on other tasks while it waits.
    fn wait(self) -> (R, Option<BudgetShare<'b>>) {
        let (result, share) = match self {
            Self::Done(result, share) => return (result, share),
            Self::Running(result, share) => (result, share),
        };
        let done = loop {
            match result.try_recv() {
                Ok(done) => break Ok(done),
                Err(TryRecvError::Empty) if rayon::yield_now() == Some(Yield::Executed) => {}
                // Another thread runs the task.
                Err(_) => break result.recv(),
            }
        };
        (
            resume_panic(done.expect("every worker sends its result, even after a panic")),
            Some(share),
        )
    }
}

/// Returns the result of a task, or resumes its panic in the calling thread.
fn resume_panic<R>(done: thread::Result<R>) -> R {
    done.unwrap_or_else(|panic| resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use proptest::prelude::*;

    use super::*;

    /// Squares of numbers; multiples of five need no work.
    fn squares(count: u64, limit: u64, threads: usize) -> Result<Vec<u64>, String> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let (room, mut numbers, mut found) = (
                MemoryLimits {
                    per_thread_bytes: limit,
                    total_bytes: 40,
                },
                0..count,
                Vec::new(),
            );
            let held = AtomicU64::new(0);
            let next = || {
                Ok(numbers.next().map(|n| {
                    if n % 5 == 0 {
                        WorkItem::Ready(n * n)
                    } else {
                        WorkItem::Work(n % 7, n)
                    }
                }))
            };
            let work = |n: u64| {
                let now = held.fetch_add(n % 7, Ordering::Relaxed) + n % 7;
                assert!(now <= (limit * threads as u64).clamp(6, 40));
                held.fetch_sub(n % 7, Ordering::Relaxed);
                n * n
            };
            let emit = |square| {
                found.push(square);
                if square == 9801 {
                    Err("99".to_owned())
                } else {
                    Ok(())
                }
            };
            run_in_order(room, next, work, emit).map(|()| found)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn results_are_in_order_for_any_threads_and_limits(count in 0..90_u64, limit in 0..30_u64, threads in 1..5_usize) {
            let expect: Vec<u64> = (0..count).map(|n| n * n).collect();
            prop_assert_eq!(squares(count, limit, threads), Ok(expect));
        }
    }

    #[test]
    fn errors_end_the_sequence() {
        assert_eq!(squares(5000, 20, 3), Err("99".to_owned()));
    }

    #[test]
    #[should_panic(expected = "no")]
    fn panics_of_tasks_are_resumed() {
        let mut numbers = 0..9;
        let next = || Ok::<_, ()>(numbers.next().map(|n| WorkItem::<_, ()>::Work(1, n)));
        let room = MemoryLimits {
            per_thread_bytes: 3,
            total_bytes: 3,
        };
        let _ = run_in_order(room, next, |_: u64| panic!("no"), |()| Ok(()));
    }
}
