//! The time cap of a job: when the build is stopped so that its work can be saved, and the
//! consequences of each step's end.
//!
//! A runner stops a job at its time limit, and everything is lost. A capped build stops itself
//! before that: it exits with [`CAPPED`], its compiler cache is saved (only in this case), and the
//! next attempt continues from there.
//!
//! Times are seconds since the start of the job, given by the caller.

/// The exit code of a capped build, that of `timeout`.
pub const CAPPED: i32 = 124;

/// The time cap of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeCap {
    /// Seconds after the start of the job (not of the build) at which the build is stopped.
    pub at_s: u64,
}

/// The time that one step may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepAllowance {
    /// No limit.
    Unlimited,
    /// The step's own time limit; beyond it the step has failed.
    Step(u64),
    /// The time left before the cap; beyond it the build is capped.
    Cap(u64),
    /// No time: the cap has passed.
    Over,
}

/// The end of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepEnd {
    /// It exited with this code.
    Exit(i32),
    /// It was stopped because its allowance was used up.
    TimedOut,
}

/// The consequence of a step's end for the build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapDecision {
    /// The step succeeded; continue.
    GoOn,
    /// The build ends with this code, and its cache is saved or not.
    Stop {
        /// The exit code.
        code: i32,
        /// Whether the compiler cache is saved: only a capped build has work that the next attempt
        /// can use.
        save_cache: bool,
    },
}

impl TimeCap {
    /// Returns the time that a step may use if it starts `now_s` seconds after the start of the
    /// job.
    pub fn allowance(cap: Option<Self>, now_s: u64, step_limit_s: Option<u64>) -> StepAllowance {
        let left = cap.map(|cap| cap.at_s.saturating_sub(now_s));
        match (left, step_limit_s) {
            (Some(0), _) => StepAllowance::Over,
            (Some(left), Some(limit)) if left <= limit => StepAllowance::Cap(left),
            (_, Some(limit)) => StepAllowance::Step(limit),
            (Some(left), None) => StepAllowance::Cap(left),
            (None, None) => StepAllowance::Unlimited,
        }
    }
}

/// Returns the consequence of a step's end under its allowance. A step that itself exits with 124
/// has failed: only the cap makes a build resumable.
pub fn next(allowance: StepAllowance, end: StepEnd) -> CapDecision {
    let failed = |code| CapDecision::Stop {
        code,
        save_cache: false,
    };
    match (allowance, end) {
        (StepAllowance::Over, _) | (StepAllowance::Cap(_), StepEnd::TimedOut) => {
            CapDecision::Stop {
                code: CAPPED,
                save_cache: true,
            }
        }
        (_, StepEnd::Exit(0)) => CapDecision::GoOn,
        (_, StepEnd::Exit(CAPPED) | StepEnd::TimedOut) => failed(1),
        (_, StepEnd::Exit(code)) => failed(code),
    }
}

#[cfg(test)]
mod tests {
    use super::{CAPPED, CapDecision, StepAllowance, StepEnd, TimeCap, next};

    /// Runs steps of these lengths with a simulated clock; `overhead_min` minutes pass before the
    /// first.
    fn run(cap_min: u64, overhead_min: u64, steps: &[(u64, Option<u64>)]) -> CapDecision {
        let mut now_s = overhead_min * 60;
        for (length_min, limit_min) in steps {
            let allowance = TimeCap::allowance(
                Some(TimeCap { at_s: cap_min * 60 }),
                now_s,
                limit_min.map(|m| m * 60),
            );
            let end = match allowance {
                StepAllowance::Step(s) | StepAllowance::Cap(s) if length_min * 60 > s => {
                    StepEnd::TimedOut
                }
                _ => StepEnd::Exit(0),
            };
            now_s += length_min * 60;
            match next(allowance, end) {
                CapDecision::GoOn => {}
                stop @ CapDecision::Stop { .. } => return stop,
            }
        }
        CapDecision::GoOn
    }

    #[test]
    fn the_cap_counts_from_the_start_of_the_job() {
        let capped = CapDecision::Stop {
            code: CAPPED,
            save_cache: true,
        };
        assert_eq!(run(330, 0, &[(5, None), (320, None)]), CapDecision::GoOn);
        assert_eq!(run(330, 30, &[(5, None), (320, None)]), capped);
        assert_eq!(run(330, 331, &[(1, None)]), capped);
    }

    #[test]
    fn the_cache_is_saved_only_when_the_cap_ended_the_build() {
        assert_eq!(
            run(330, 0, &[(20, Some(10))]),
            CapDecision::Stop {
                code: 1,
                save_cache: false
            }
        );
        let failed = |code| CapDecision::Stop {
            code,
            save_cache: false,
        };
        assert_eq!(next(StepAllowance::Cap(60), StepEnd::Exit(2)), failed(2));
        assert_eq!(
            next(StepAllowance::Cap(60), StepEnd::Exit(0)),
            CapDecision::GoOn
        );
        assert_eq!(
            next(StepAllowance::Unlimited, StepEnd::Exit(CAPPED)),
            failed(1)
        );
    }

    #[test]
    fn a_step_limit_before_the_cap_is_a_failure_and_one_after_it_is_the_cap() {
        let cap = Some(TimeCap { at_s: 100 });
        assert_eq!(
            TimeCap::allowance(cap, 0, Some(50)),
            StepAllowance::Step(50)
        );
        assert_eq!(
            TimeCap::allowance(cap, 60, Some(50)),
            StepAllowance::Cap(40)
        );
        assert_eq!(TimeCap::allowance(cap, 100, Some(50)), StepAllowance::Over);
        assert_eq!(
            TimeCap::allowance(None, 100, None),
            StepAllowance::Unlimited
        );
    }
}
