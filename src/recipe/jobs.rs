//! How many compilers run side by side.

/// Parallel jobs for `threads` and `memory_tenths_gib` of memory when one job may take `per_job_tenths_gib`:
/// as many as threads, as many as memory holds, at least one.
pub fn parallel_jobs(threads: u32, memory_tenths_gib: u32, per_job_tenths_gib: u32) -> u32 {
    threads.min(memory_tenths_gib / per_job_tenths_gib.max(1)).max(1)
}

/// The default of flash-attn 2.6.3 to 2.8.3 (its `setup.py`): half the threads, 9 GiB a job.
pub fn flash_attn_default(threads: u32, free_gib: u32) -> u32 {
    (threads / 2).min(free_gib / 9).max(1)
}

/// The default of flash-attn's main branch (its `setup.py`): half the threads, 5 GiB for each of `nvcc_threads`.
pub fn flash_attn_main_default(threads: u32, free_gib: u32, nvcc_threads: u32) -> u32 {
    (threads / 2).min(free_gib / (5 * nvcc_threads.max(1))).max(1)
}

#[cfg(test)]
mod tests {
    use super::{flash_attn_default, flash_attn_main_default, parallel_jobs};

    /// B7
    #[test]
    fn job_counts_follow_threads_and_memory() {
        // (threads, GiB) → 4 GiB a job capped at 8, 2.8 GiB a job, flash-attn 2.8.3, flash-attn main
        let golden = [
            ((1, 1), [1, 1, 1, 1]),
            ((2, 7), [1, 2, 1, 1]),
            ((4, 15), [3, 4, 1, 1]),
            ((8, 31), [7, 8, 3, 1]),
            ((16, 62), [8, 16, 6, 3]),
            ((32, 125), [8, 32, 13, 6]),
            ((64, 251), [8, 64, 27, 12]),
            ((96, 503), [8, 96, 48, 25]),
            ((128, 62), [8, 22, 6, 3]),
        ];
        for ((threads, gib), expected) in golden {
            let found = [
                parallel_jobs(threads, gib * 10, 40).min(8),
                parallel_jobs(threads, gib * 10, 28),
                flash_attn_default(threads, gib),
                flash_attn_main_default(threads, gib, 4),
            ];
            assert_eq!(found, expected, "{threads} threads, {gib} GiB");
        }
    }
}
