//! Threads where the system allows them, and one thread where it does not.

use std::io::{Error, ErrorKind};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};

use rayon::{ThreadBuilder, ThreadPoolBuilder};

/// The number of threads of rayon's global pool that were started; 0 where the calling thread does
/// all work.
static STARTED: OnceLock<usize> = OnceLock::new();

/// Returns whether this many threads can be started at once.
///
/// Libraries that start threads themselves (liblzma, ureq) fail or panic where they cannot.
pub fn can_start_threads(count: u32) -> bool {
    let mut idle: Vec<(Sender<()>, JoinHandle<()>)> = Vec::new();
    let is_possible = (0..count).all(|_| {
        let (release, released) = channel::<()>();
        let wait = move || {
            let _ = released.recv();
        };
        Builder::new()
            .spawn(wait)
            .map(|thread| idle.push((release, thread)))
            .is_ok()
    });
    for (release, thread) in idle {
        drop(release);
        let _ = thread.join();
    }
    is_possible
}

/// Starts the threads of rayon's global pool at the first call: as many as rayon would start, or as
/// many as the system allows.
///
/// Rayon panics at its first use where one of its threads cannot be started, as in a control group
/// with a limit of processes or under `RLIMIT_NPROC` (rayon-core, `registry.rs`,
/// `global_registry`). Every use of rayon must follow a call of this function. Where no thread can
/// be started, the calling thread becomes the only one of the pool.
pub fn start_threads() {
    // In a thread of a pool there is nothing to start.
    if rayon::current_thread_index().is_none() {
        STARTED.get_or_init(start);
    }
}

fn start() -> usize {
    let wanted = default_thread_count();
    let mut idle: Vec<Sender<ThreadBuilder>> = Vec::new();
    while idle.len() < wanted {
        let (give, work) = channel::<ThreadBuilder>();
        let run = move || {
            if let Ok(thread) = work.recv() {
                thread.run();
            }
        };
        match Builder::new().spawn(run) {
            Ok(_) => idle.push(give),
            Err(_) => break,
        }
    }
    let started = idle.len();
    let pool = ThreadPoolBuilder::new().num_threads(started.max(1));
    // An error means that the pool exists, so that its threads could be started.
    let _ = if started == 0 {
        pool.use_current_thread().build_global()
    } else {
        pool.spawn_handler(|thread| {
            let give = idle.pop().ok_or(ErrorKind::WouldBlock)?;
            give.send(thread)
                .map_err(|_| Error::from(ErrorKind::WouldBlock))
        })
        .build_global()
    };
    started
}

/// Returns the number of threads that rayon would start by default, which `RAYON_NUM_THREADS` may
/// set.
fn default_thread_count() -> usize {
    // A pool whose threads are never run.
    let pool = ThreadPoolBuilder::new().spawn_handler(|_| Ok(())).build();
    pool.map_or(1, |pool| pool.current_num_threads())
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::{can_start_threads, default_thread_count, start_threads};

    #[test]
    fn the_pool_has_as_many_threads_as_rayon_starts_by_default() {
        start_threads();
        start_threads();
        assert_eq!(rayon::current_num_threads(), default_thread_count());
        assert_eq!((0..1000_u64).into_par_iter().sum::<u64>(), 499_500);
    }

    #[test]
    fn threads_can_be_started_here() {
        assert!(can_start_threads(0) && can_start_threads(3));
    }
}
