//! The total cost of a plan's builds.

use std::fmt;

use super::{JobView, Plan};
use rock_diagnostic::counted;

/// Estimated runner hours of a plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunnerHours {
    /// Total hours of all jobs with an estimate.
    pub hours: f64,
    /// Number of jobs without an estimate.
    pub unmeasured: usize,
}

impl Plan {
    /// Returns the total hours of all jobs, or `None` if no job has an estimate.
    pub fn runner_hours(&self) -> Option<RunnerHours> {
        let mut total = RunnerHours {
            hours: 0.0,
            unmeasured: 0,
        };
        let mut estimated = 0usize;
        for estimate in self.jobs().map(JobView::estimate) {
            match estimate {
                Some(estimate) => {
                    (total.hours, estimated) = (total.hours + estimate.hours, estimated + 1);
                }
                None => total.unmeasured += 1,
            }
        }
        (estimated > 0).then_some(total)
    }
}

impl fmt::Display for RunnerHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "about {} runner-hours in total",
            (self.hours * 10.0).round() / 10.0
        )?;
        match self.unmeasured {
            0 => Ok(()),
            count => write!(
                f,
                ", without {}, for which there are no measurements",
                counted(count, "job")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RunnerHours;

    #[test]
    fn hours_are_rounded_and_unmeasured_jobs_are_counted() {
        let text = |hours, unmeasured| RunnerHours { hours, unmeasured }.to_string();
        assert_eq!(text(21.96, 0), "about 22 runner-hours in total");
        assert_eq!(
            text(529.04, 4),
            "about 529 runner-hours in total, without 4 jobs, for which there are no measurements"
        );
    }
}
