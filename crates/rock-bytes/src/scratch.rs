//! Storage for bytes that are written as a stream and read by position.

use std::io;
use std::sync::{Mutex, PoisonError};

use super::{BudgetShare, MemoryBudget, ReadAt};

/// Append-only storage: memory, or a temporary file for large content.
pub trait Scratch: ReadAt + Send {
    /// Adds bytes at the end.
    ///
    /// # Errors
    /// When there is no room.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
}

impl Scratch for Vec<u8> {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.try_reserve(bytes.len())
            .map_err(|_| io::ErrorKind::OutOfMemory)?;
        self.extend_from_slice(bytes);
        Ok(())
    }
}

/// A function that creates storage for a number of bytes; `u64::MAX` requests storage outside of
/// memory.
pub type ScratchFactory<'a> = dyn Fn(u64) -> io::Result<Box<dyn Scratch>> + Sync + 'a;

/// An allocator of storage for one worker's members that are read out of order: in memory within the
/// shared budget, elsewhere beyond it. Returns its shares of the budget when dropped.
pub struct ScratchAllocator<'b> {
    budget: &'b MemoryBudget,
    make: &'b ScratchFactory<'b>,
    shares: Mutex<Vec<BudgetShare<'b>>>,
}

impl<'b> ScratchAllocator<'b> {
    /// Creates an allocator within a budget.
    pub fn new(budget: &'b MemoryBudget, make: &'b ScratchFactory<'b>) -> Self {
        Self {
            budget,
            make,
            shares: Mutex::default(),
        }
    }

    /// Creates storage for `size_bytes`. Never waits for the budget, of which the caller already holds
    /// a share.
    ///
    /// # Errors
    /// When none can be made.
    pub fn scratch(&self, size_bytes: u64) -> io::Result<Box<dyn Scratch>> {
        match self.budget.try_take(size_bytes) {
            Some(share) => {
                self.shares
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(share);
                (self.make)(size_bytes)
            }
            None => (self.make)(u64::MAX),
        }
    }
}

impl std::fmt::Debug for ScratchAllocator<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ScratchAllocator({:?})", self.budget)
    }
}

/// Room in memory, whatever the size.
///
/// # Errors
/// Never; room that is not there shows when it is filled.
pub fn in_memory(_: u64) -> io::Result<Box<dyn Scratch>> {
    Ok(Box::<Vec<u8>>::default())
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Mutex;

    use super::{Scratch, ScratchAllocator, in_memory};
    use crate::MemoryBudget;

    #[test]
    fn members_read_out_of_order_are_in_memory_as_far_as_the_budget_goes_and_elsewhere_beyond() {
        let budget = MemoryBudget::new(100);
        let asked = Mutex::new(Vec::new());
        let make = |size_bytes: u64| -> io::Result<Box<dyn Scratch>> {
            asked.lock().unwrap().push(size_bytes);
            in_memory(size_bytes)
        };
        // Three workers, each with a member of 30 that streams by in 10.
        let held: Vec<_> = (0..3)
            .map(|_| (budget.take(10), ScratchAllocator::new(&budget, &make)))
            .collect();
        for (_, rooms) in &held {
            rooms.scratch(30).unwrap();
        }
        assert_eq!(*asked.lock().unwrap(), [30, 30, u64::MAX]);
        assert_eq!(budget.held_bytes(), 90, "and never more than the limit");
        // What the room that is left holds goes there still, and what was given back may be taken
        // again.
        held[2].1.scratch(10).unwrap();
        assert_eq!(
            (asked.lock().unwrap().last(), budget.held_bytes()),
            (Some(&10), 100)
        );
        let mut held = held.into_iter();
        drop(held.next());
        let (share, rooms) = held.next().unwrap();
        rooms.scratch(40).unwrap();
        rooms.scratch(1).unwrap();
        assert_eq!(asked.lock().unwrap()[4..], [40, u64::MAX]);
        drop((held, rooms, share));
        assert_eq!(budget.held_bytes(), 0);
    }

    #[test]
    fn workers_that_read_out_of_order_at_once_hold_no_more_than_the_budget() {
        let budget = MemoryBudget::new(100);
        let (in_memory_bytes, files) = (Mutex::new(0_u64), Mutex::new(0_u32));
        let make = |size_bytes: u64| -> io::Result<Box<dyn Scratch>> {
            match size_bytes {
                u64::MAX => *files.lock().unwrap() += 1,
                size_bytes => *in_memory_bytes.lock().unwrap() += size_bytes,
            }
            in_memory(0)
        };
        let all_have_room = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let _share = budget.take(1);
                    let rooms = ScratchAllocator::new(&budget, &make);
                    rooms.scratch(40).unwrap();
                    all_have_room.wait();
                });
            }
        });
        assert_eq!(
            (
                *in_memory_bytes.lock().unwrap(),
                *files.lock().unwrap(),
                budget.held_bytes()
            ),
            (80, 2, 0)
        );
    }
}
