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

/// What the steps of builds set on a machine with these threads and this memory: `MAX_JOBS is 16`, each once.
pub fn on_machine<'b>(
    builds: impl IntoIterator<Item = &'b super::Build>,
    threads: u32,
    memory_gib: u32,
) -> std::collections::BTreeSet<String> {
    let steps = builds.into_iter().flat_map(|build| &build.steps);
    let said = |jobs: &super::Jobs| {
        format!("{} is {}", jobs.variable, jobs.value(None, threads, memory_gib.saturating_mul(10)))
    };
    steps.filter_map(|step| step.jobs.as_ref()).map(said).collect()
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

    /// B7
    #[test]
    fn a_machine_is_told_its_number_of_jobs() {
        use crate::recipe::fixture::{flash_attn, made};
        let build = made(&flash_attn("2.8.3", "6.2", "2.5.1", "ck", "")).unwrap();
        let on = |threads, gib| super::on_machine([&build], threads, gib).into_iter().collect::<Vec<_>>().join(", ");
        assert_eq!(on(16, 64), "MAX_JOBS is 16");
        assert_eq!(on(128, 62), "MAX_JOBS is 22");
        assert_eq!(on(2, 1), "MAX_JOBS is 1");
    }
}
