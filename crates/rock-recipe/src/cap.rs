//! The cap of a job: when it is stopped so that its work can be saved, and what each end means.
//!
//! A runner stops a job after its limit and everything is lost. A capped build stops itself before:
//! it ends with [`CAPPED`], its compiler cache is saved then and only then, and the next attempt
//! goes on from there.
//!
//! Times are seconds since the start of the job, given by the caller.

/// The exit code of a capped build, that of `timeout`.
pub const CAPPED: i32 = 124;

/// The cap of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cap {
    /// Seconds after the start of the job (not of the build) at which the build is stopped.
    pub at_s: u64,
}

/// How long one step may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowance {
    /// As long as it takes.
    Unlimited,
    /// Its own time limit; beyond it the step failed.
    Step(u64),
    /// What is left before the cap; beyond it the build is capped.
    Cap(u64),
    /// Nothing: the cap has passed.
    Over,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With this exit code.
    Exit(i32),
    /// It was stopped because its allowance was used up.
    TimedOut,
}

/// What follows for the build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The step is done; go on.
    GoOn,
    /// The build ends with this code, and its cache is kept or not.
    Stop {
        /// The exit code.
        code: i32,
        /// Whether the compiler cache is saved: only a capped build has work that the next attempt
        /// can use.
        save_cache: bool,
    },
}

impl Cap {
    /// What a step may use that starts `now_s` seconds after the start of the job.
    pub fn allowance(cap: Option<Self>, now_s: u64, step_limit_s: Option<u64>) -> Allowance {
        let left = cap.map(|cap| cap.at_s.saturating_sub(now_s));
        match (left, step_limit_s) {
            (Some(0), _) => Allowance::Over,
            (Some(left), Some(limit)) if left <= limit => Allowance::Cap(left),
            (_, Some(limit)) => Allowance::Step(limit),
            (Some(left), None) => Allowance::Cap(left),
            (None, None) => Allowance::Unlimited,
        }
    }
}

/// What the end of a step means under its allowance. A step that ends with 124 of its own accord
/// has failed: only the cap makes a build resumable.
pub fn next(allowance: Allowance, end: End) -> Next {
    let failed = |code| Next::Stop {
        code,
        save_cache: false,
    };
    match (allowance, end) {
        (Allowance::Over, _) | (Allowance::Cap(_), End::TimedOut) => Next::Stop {
            code: CAPPED,
            save_cache: true,
        },
        (_, End::Exit(0)) => Next::GoOn,
        (_, End::Exit(CAPPED) | End::TimedOut) => failed(1),
        (_, End::Exit(code)) => failed(code),
    }
}

#[cfg(test)]
mod tests {
    use super::{Allowance, CAPPED, Cap, End, Next, next};

    /// Runs steps of these lengths under a clock of our own; `overhead` passed before the first.
    fn run(cap_min: u64, overhead_min: u64, steps: &[(u64, Option<u64>)]) -> Next {
        let mut now_s = overhead_min * 60;
        for (length_min, limit_min) in steps {
            let allowance = Cap::allowance(
                Some(Cap { at_s: cap_min * 60 }),
                now_s,
                limit_min.map(|m| m * 60),
            );
            let end = match allowance {
                Allowance::Step(s) | Allowance::Cap(s) if length_min * 60 > s => End::TimedOut,
                _ => End::Exit(0),
            };
            now_s += length_min * 60;
            match next(allowance, end) {
                Next::GoOn => {}
                stop @ Next::Stop { .. } => return stop,
            }
        }
        Next::GoOn
    }

    #[test]
    fn the_cap_counts_from_the_start_of_the_job() {
        let capped = Next::Stop {
            code: CAPPED,
            save_cache: true,
        };
        assert_eq!(run(330, 0, &[(5, None), (320, None)]), Next::GoOn);
        assert_eq!(run(330, 30, &[(5, None), (320, None)]), capped);
        assert_eq!(run(330, 331, &[(1, None)]), capped);
    }

    #[test]
    fn the_cache_is_saved_only_when_the_cap_ended_the_build() {
        assert_eq!(
            run(330, 0, &[(20, Some(10))]),
            Next::Stop {
                code: 1,
                save_cache: false
            }
        );
        let failed = |code| Next::Stop {
            code,
            save_cache: false,
        };
        assert_eq!(next(Allowance::Cap(60), End::Exit(2)), failed(2));
        assert_eq!(next(Allowance::Cap(60), End::Exit(0)), Next::GoOn);
        assert_eq!(next(Allowance::Unlimited, End::Exit(CAPPED)), failed(1));
    }

    #[test]
    fn a_step_limit_before_the_cap_is_a_failure_and_one_after_it_is_the_cap() {
        let cap = Some(Cap { at_s: 100 });
        assert_eq!(Cap::allowance(cap, 0, Some(50)), Allowance::Step(50));
        assert_eq!(Cap::allowance(cap, 60, Some(50)), Allowance::Cap(40));
        assert_eq!(Cap::allowance(cap, 100, Some(50)), Allowance::Over);
        assert_eq!(Cap::allowance(None, 100, None), Allowance::Unlimited);
    }
}
