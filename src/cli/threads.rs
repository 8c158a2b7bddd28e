//! How many threads work.

/// Does work on so many threads; on those that there are where no number is said, or no more can be
/// had.
pub(super) fn on_threads<T: Send>(threads: Option<u16>, work: impl FnOnce() -> T + Send) -> T {
    match threads.map(|threads| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.into())
            .build()
    }) {
        Some(Ok(pool)) => pool.install(work),
        Some(Err(_)) | None => work(),
    }
}
