//! The number of compilers that run in parallel.

use std::collections::BTreeMap;

use rock_compat::Compat;
use rock_plan::config::recipe::RecipeDocument;
use rock_plan::{JobView, Plan, RunnerShape};

use super::{Build, BuildSite};

/// Number of jobs of a file that are examined for the number of parallel jobs; it hardly differs
/// between them.
const EXAMINED_JOBS: usize = 200;

/// The numbers of compilers that the jobs of a plan run in parallel on a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanParallelJobs {
    shape: RunnerShape,
    /// The lowest number that any step sets, by variable.
    counts: BTreeMap<String, u32>,
}

impl PlanParallelJobs {
    /// Examines the jobs of a plan; `recipes` are those of its groups, in order.
    pub fn new<'r>(
        plan: &Plan,
        recipes: impl IntoIterator<Item = &'r RecipeDocument>,
        compat: &Compat,
        shape: RunnerShape,
    ) -> Self {
        let mut builds = Vec::new();
        for (number, (group, recipe)) in plan.groups.iter().zip(recipes).enumerate() {
            let jobs = group.jobs(number).take(EXAMINED_JOBS).map(JobView::to_job);
            builds.extend(jobs.filter_map(|job| {
                let given = BTreeMap::new();
                super::build(&job, recipe, compat, &BuildSite::Container, &given).ok()
            }));
        }
        Self {
            shape,
            counts: on_machine(&builds, shape.threads, shape.memory_gib),
        }
    }

    /// Returns the machine with as many threads as are used: if the memory suffices for fewer
    /// compilers than threads, their number.
    pub fn used_shape(&self) -> RunnerShape {
        let fewest = self.counts.values().copied().min();
        RunnerShape {
            threads: fewest.map_or(self.shape.threads, |count| count.min(self.shape.threads)),
            ..self.shape
        }
    }

    /// Returns a note about the numbers; `None` if no step sets one.
    pub fn note(&self) -> Option<String> {
        let counts: Vec<String> = self
            .counts
            .iter()
            .map(|(variable, count)| format!("{variable} is {count}"))
            .collect();
        (!counts.is_empty()).then(|| {
            format!(
                "on {} threads with {} GiB {}",
                self.shape.threads,
                self.shape.memory_gib,
                counts.join(", ")
            )
        })
    }
}

/// Returns the number of parallel jobs for `threads` and `memory_tenths_gib` of memory if one job
/// may take `per_job_tenths_gib`: as many as threads and memory allow, but at least one.
pub fn parallel_jobs(threads: u32, memory_tenths_gib: u32, per_job_tenths_gib: u32) -> u32 {
    threads
        .min(memory_tenths_gib / per_job_tenths_gib.max(1))
        .max(1)
}

/// Returns the numbers of parallel jobs that the steps of builds set on a machine with these
/// threads and this memory: variable → the lowest number that any step sets.
fn on_machine(builds: &[Build], threads: u32, memory_gib: u32) -> BTreeMap<String, u32> {
    let mut found = BTreeMap::new();
    for jobs in builds
        .iter()
        .flat_map(|build| &build.steps)
        .filter_map(|step| step.jobs.as_ref())
    {
        if let Ok(count) = jobs
            .value(None, threads, memory_gib.saturating_mul(10))
            .parse::<u32>()
        {
            found
                .entry(jobs.variable.clone())
                .and_modify(|fewest: &mut u32| *fewest = count.min(*fewest))
                .or_insert(count);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::parallel_jobs;

    #[test]
    fn job_counts_follow_threads_and_memory() {
        // (threads, GiB) → jobs of 2.8 GiB, which the recipe of flash-attn sets in place of the
        // package's own default of half the threads and 9 GiB (setup.py of 2.6.3 to 2.8.3), and
        // jobs of 4 GiB.
        let golden = [
            ((1, 1), [1, 1]),
            ((2, 7), [2, 1]),
            ((4, 15), [4, 3]),
            ((8, 31), [8, 7]),
            ((16, 62), [16, 15]),
            ((32, 125), [32, 31]),
            ((64, 251), [64, 62]),
            ((96, 503), [96, 96]),
            ((128, 62), [22, 15]),
        ];
        for ((threads, gib), expected) in golden {
            let found = [
                parallel_jobs(threads, gib * 10, 28),
                parallel_jobs(threads, gib * 10, 40),
            ];
            assert_eq!(found, expected, "{threads} threads, {gib} GiB");
        }
    }
}
