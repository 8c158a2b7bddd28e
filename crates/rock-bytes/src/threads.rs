//! Starting threads on systems that limit their number.

use std::io::{Error, ErrorKind};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};

use rayon::{ThreadBuilder, ThreadPoolBuilder};

/// Number of started threads of rayon's global pool; 0 if the calling thread is its only one.
static STARTED: OnceLock<usize> = OnceLock::new();

/// Returns whether `count` threads can run at the same time.
///
/// Call this before using a library that fails if it cannot start a thread (liblzma).
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

/// Starts the threads of rayon's global pool on the first call: as many as rayon would start, or as
/// many as the system allows.
///
/// Call this before every use of rayon: on its first use, rayon panics if it cannot start all
/// threads, for example because of the `pids` limit of a control group or `RLIMIT_NPROC`
/// (rayon-core, `registry.rs`, `global_registry`). If no thread can be started, the calling thread
/// becomes the only one of the pool.
pub fn start_threads() {
    // A thread of a pool implies a running pool.
    if rayon::current_thread_index().is_none() {
        STARTED.get_or_init(start);
    }
}

/// Runs `work` on a pool of `threads` threads. Runs it on the current pool if `threads` is `None` or
/// the threads cannot be started.
pub fn on_threads<T: Send>(threads: Option<u16>, work: impl FnOnce() -> T + Send) -> T {
    let pool = threads.map(|threads| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.into())
            .build()
    });
    match pool {
        Some(Ok(pool)) => pool.install(work),
        Some(Err(_)) | None => work(),
    }
}

/// Starts the global pool and returns the number of its threads.
fn start() -> usize {
    let wanted = default_thread_count();
    let mut idle: Vec<Sender<ThreadBuilder>> = Vec::new();
    while idle.len() < wanted {
        let (sender, receiver) = channel::<ThreadBuilder>();
        let run = move || {
            if let Ok(thread) = receiver.recv() {
                thread.run();
            }
        };
        match Builder::new().spawn(run) {
            Ok(_) => idle.push(sender),
            Err(_) => break,
        }
    }
    let started = idle.len();
    let pool = ThreadPoolBuilder::new().num_threads(started.max(1));
    // Fails only if the pool already exists.
    let _ = if started == 0 {
        pool.use_current_thread().build_global()
    } else {
        pool.spawn_handler(|thread| {
            let sender = idle.pop().ok_or(ErrorKind::WouldBlock)?;
            sender
                .send(thread)
                .map_err(|_| Error::from(ErrorKind::WouldBlock))
        })
        .build_global()
    };
    started
}

/// Returns the number of threads that rayon starts by default, which respects `RAYON_NUM_THREADS`.
fn default_thread_count() -> usize {
    // The threads of this pool never run.
    let pool = ThreadPoolBuilder::new().spawn_handler(|_| Ok(())).build();
    pool.map_or(1, |pool| pool.current_num_threads())
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::{can_start_threads, default_thread_count, start_threads};

    #[test]
    fn pool_has_the_default_number_of_threads() {
        start_threads();
        start_threads();
        assert_eq!(rayon::current_num_threads(), default_thread_count());
        assert_eq!((0..1000_u64).into_par_iter().sum::<u64>(), 499_500);
    }

    #[test]
    fn a_few_threads_can_be_started() {
        assert!(can_start_threads(0) && can_start_threads(3));
    }
}
