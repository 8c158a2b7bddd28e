//! Storage that is written as a stream and read by position.

use std::io;
use std::sync::{Mutex, PoisonError};

use super::{BudgetShare, MemoryBudget, ReadAt};

/// Append-only storage: memory, or a temporary file for large content.
pub trait ScratchStorage: ReadAt + Send {
    /// Appends bytes.
    ///
    /// # Errors
    /// If memory or disk space is exhausted, or the file cannot be written.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;
}

impl ScratchStorage for Vec<u8> {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.try_reserve(bytes.len())
            .map_err(|_| io::ErrorKind::OutOfMemory)?;
        self.extend_from_slice(bytes);
        Ok(())
    }
}

/// A function that creates storage for a number of bytes. `u64::MAX` requests storage on disk.
pub type ScratchFactory<'a> = dyn Fn(u64) -> io::Result<Box<dyn ScratchStorage>> + Sync + 'a;

/// An allocator of storage for a worker: in memory while the shared budget permits it, on disk
/// beyond.
///
/// Returns its shares of the budget when dropped.
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

    /// Creates storage for `size_bytes`. Does not wait for the budget, because the caller may hold
    /// a share of it.
    ///
    /// # Errors
    /// If the storage cannot be created.
    pub fn allocate(&self, size_bytes: u64) -> io::Result<Box<dyn ScratchStorage>> {
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

/// Creates storage in memory, regardless of the size. A [`ScratchFactory`].
///
/// # Errors
/// None; exhausted memory is an error of [`ScratchStorage::append`].
pub fn in_memory(_: u64) -> io::Result<Box<dyn ScratchStorage>> {
    Ok(Box::<Vec<u8>>::default())
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Mutex;

    use super::{ScratchAllocator, ScratchStorage, in_memory};
    use crate::MemoryBudget;

    #[test]
    fn storage_beyond_the_budget_is_on_disk() {
        let budget = MemoryBudget::new(100);
        let requests = Mutex::new(Vec::new());
        let make = |size_bytes: u64| -> io::Result<Box<dyn ScratchStorage>> {
            requests.lock().unwrap().push(size_bytes);
            in_memory(size_bytes)
        };
        // Three workers with a share of 10 each, which allocate 30.
        let held: Vec<_> = (0..3)
            .map(|_| (budget.take(10), ScratchAllocator::new(&budget, &make)))
            .collect();
        for (_, allocator) in &held {
            allocator.allocate(30).unwrap();
        }
        assert_eq!(*requests.lock().unwrap(), [30, 30, u64::MAX]);
        assert_eq!(budget.held_bytes(), 90);
        // The rest of the budget can be used, and returned shares can be taken again.
        held[2].1.allocate(10).unwrap();
        assert_eq!(
            (requests.lock().unwrap().last(), budget.held_bytes()),
            (Some(&10), 100)
        );
        let mut held = held.into_iter();
        drop(held.next());
        let (share, allocator) = held.next().unwrap();
        allocator.allocate(40).unwrap();
        allocator.allocate(1).unwrap();
        assert_eq!(requests.lock().unwrap()[4..], [40, u64::MAX]);
        drop((held, allocator, share));
        assert_eq!(budget.held_bytes(), 0);
    }

    #[test]
    fn parallel_allocations_stay_within_the_budget() {
        let budget = MemoryBudget::new(100);
        let (in_memory_bytes, files) = (Mutex::new(0_u64), Mutex::new(0_u32));
        let make = |size_bytes: u64| -> io::Result<Box<dyn ScratchStorage>> {
            match size_bytes {
                u64::MAX => *files.lock().unwrap() += 1,
                size_bytes => *in_memory_bytes.lock().unwrap() += size_bytes,
            }
            in_memory(0)
        };
        let all_allocated = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let _share = budget.take(1);
                    let allocator = ScratchAllocator::new(&budget, &make);
                    allocator.allocate(40).unwrap();
                    all_allocated.wait();
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
