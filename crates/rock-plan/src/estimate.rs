//! Estimates the cost of a build from measured builds.
//!
//! The model is simple: objects by number of gfx targets, and objects per minute by number of
//! threads, both linear between measurements. Outside the measured range it uses the nearest
//! measurement's rate per thread, and scales objects in proportion to targets.

use super::BuildEstimate;
use rock_compat::rows::BuildCostRow;
use rock_diagnostic::counted;

/// The build to estimate and the machine that runs it.
#[derive(Debug, Clone, Copy)]
pub struct EstimateQuery<'a> {
    /// Normalized name of the package.
    pub package: &'a str,
    /// Name of the backend.
    pub backend: &'a str,
    /// Number of gfx targets.
    pub targets: u32,
    /// Number of hardware threads of the machine.
    pub threads: u32,
    /// Minutes after which the runner stops a job; `None` for no limit.
    pub limit_min: Option<u32>,
    /// Ways for the user to shorten the build, in the recipe's words.
    pub levers: &'a [String],
    /// Variables in use that shorten the build. The measured builds do not use them, so the estimate
    /// is that of a build without them.
    pub uncounted: &'a [String],
}

/// Minutes of an attempt that are not spent compiling: fetching, installing and restoring before,
/// and saving after. Of the 360 minutes of a hosted job 300 are usable (the cap is at 330 minutes,
/// and the first object is compiled after half an hour).
pub(super) const IDLE_MIN: u32 = 60;

/// Estimates a build. Returns `None` if there are no measurements for this package and backend, or
/// if the number of targets or threads is 0.
pub fn estimate(rows: &[BuildCostRow], question: &EstimateQuery<'_>) -> Option<BuildEstimate> {
    let rows: Vec<&BuildCostRow> = rows
        .iter()
        .filter(|row| row.package == question.package && row.backend == question.backend)
        .filter(|row| row.targets > 0 && row.threads > 0 && row.wall_min > 0)
        .collect();
    if rows.is_empty() || question.targets == 0 || question.threads == 0 {
        return None;
    }
    let objects = objects(&rows, question.targets);
    let minutes = objects / rate(&rows, question);
    let cache_kb = rows
        .iter()
        .map(|row| row.cache_kb_per_object)
        .max()
        .unwrap_or(0);
    let (attempts, fit) = match question.limit_min {
        None => (1, String::new()),
        Some(limit) => {
            let useful = f64::from(limit.saturating_sub(IDLE_MIN).max(1));
            let attempts = round((minutes / useful).ceil()).max(1);
            let hours = limit / 60;
            match attempts {
                1 => (1, format!("; fits {hours} h")),
                _ => (
                    attempts,
                    format!(
                        "; does not fit {hours} h; about {attempts} attempts{}",
                        levers(question.levers)
                    ),
                ),
            }
        }
    };
    let hours = (minutes / 6.0).round() / 10.0;
    Some(BuildEstimate {
        objects: round(objects),
        hours,
        attempts: u32::try_from(attempts).unwrap_or(u32::MAX),
        cache_mb: round(objects * as_f64(cache_kb) / 1000.0),
        verdict: format!(
            "{} objects, about {hours} h with {}{}{fit}",
            round(objects),
            counted(u64::from(question.threads), "thread"),
            uncounted(question.uncounted)
        ),
    })
}

fn levers(levers: &[String]) -> String {
    if levers.is_empty() {
        String::new()
    } else {
        format!("; shorter with {}", levers.join(" or "))
    }
}

fn uncounted(variables: &[String]) -> String {
    if variables.is_empty() {
        String::new()
    } else {
        format!(", not counting what `{}` saves", variables.join("` and `"))
    }
}

/// Estimates the number of objects for this many targets.
fn objects(rows: &[&BuildCostRow], targets: u32) -> f64 {
    let points: Vec<(u32, f64)> = rows
        .iter()
        .map(|row| (row.targets, as_f64(row.objects)))
        .collect();
    match between(&points, targets) {
        // Outside the measured range, objects are proportional to targets.
        SamplePosition::Outside(nearest, value) => value * f64::from(targets) / f64::from(nearest),
        SamplePosition::Inside(value) => value,
    }
}

/// Estimates the objects per minute for this many targets on this many threads.
fn rate(rows: &[&BuildCostRow], question: &EstimateQuery<'_>) -> f64 {
    let mut by_threads: Vec<(u32, f64)> = Vec::new();
    for threads in rows.iter().map(|row| row.threads) {
        let here = rows.iter().filter(|row| row.threads == threads);
        let points: Vec<(u32, f64)> = here
            .map(|row| (row.targets, as_f64(row.objects) / f64::from(row.wall_min)))
            .collect();
        let (SamplePosition::Inside(value) | SamplePosition::Outside(_, value)) =
            between(&points, question.targets);
        by_threads.push((threads, value));
    }
    match between(&by_threads, question.threads) {
        SamplePosition::Inside(value) => value,
        SamplePosition::Outside(nearest, value) => {
            value * f64::from(question.threads) / f64::from(nearest)
        }
    }
}

/// The position of a value relative to the measured points.
enum SamplePosition {
    /// Between two points, or on one; with the interpolated value.
    Inside(f64),
    /// Outside the measured range, with the position and value of the nearest point.
    Outside(u32, f64),
}

/// Interpolates linearly between the neighbours of `at`. Callers pass at least one point.
fn between(points: &[(u32, f64)], at: u32) -> SamplePosition {
    let below = points
        .iter()
        .filter(|(x, _)| *x <= at)
        .max_by_key(|(x, _)| *x);
    let above = points
        .iter()
        .filter(|(x, _)| *x >= at)
        .min_by_key(|(x, _)| *x);
    match (below, above) {
        (Some((x0, y0)), Some((x1, y1))) if x1 > x0 => {
            SamplePosition::Inside(y0 + (y1 - y0) * f64::from(at - x0) / f64::from(x1 - x0))
        }
        (Some((_, y)), Some(_)) => SamplePosition::Inside(*y),
        (Some((x, y)), None) | (None, Some((x, y))) => SamplePosition::Outside(*x, *y),
        (None, None) => SamplePosition::Inside(0.0),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of objects are far below 2^52"
)]
fn as_f64(count: u64) -> f64 {
    count as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounded, and never negative or huge"
)]
fn round(value: f64) -> u64 {
    value.round() as u64
}

#[cfg(test)]
mod tests {
    use super::{EstimateQuery, estimate};
    use crate::BuildEstimate;
    use rock_compat::rows::{BuildCostRow, Confidence, Provenance};

    fn rows() -> Vec<BuildCostRow> {
        let row = |targets, threads, objects, wall_min| BuildCostRow {
            package: "flash-attn".into(),
            backend: "ck".into(),
            targets,
            threads,
            objects,
            wall_min,
            cache_kb_per_object: 77,
            origin: Provenance {
                status: Confidence::Reported,
                source: "mjn".into(),
                r#ref: String::new(),
                checked: "2026-11-21".into(),
                note: String::new(),
            },
        };
        vec![
            row(3, 32, 2782, 170),
            row(3, 16, 2782, 440),
            row(10, 32, 7569, 545),
            row(10, 16, 7569, 1508),
        ]
    }

    fn check(targets: u32, threads: u32, limit_min: Option<u32>) -> BuildEstimate {
        let levers = ["one gfx target".to_owned(), "`opt-dim: \"128\"`".to_owned()];
        let question = EstimateQuery {
            package: "flash-attn",
            backend: "ck",
            targets,
            threads,
            limit_min,
            levers: &levers,
            uncounted: &[],
        };
        estimate(&rows(), &question).unwrap()
    }

    #[test]
    fn three_targets_at_16_threads_take_about_7_hours_20() {
        let found = check(3, 16, Some(360));
        assert!((found.hours - 7.33).abs() / 7.33 < 0.2, "{found:?}");
        assert_eq!(
            (found.objects, found.attempts, found.cache_mb),
            (2782, 2, 214)
        );
        assert!((check(10, 32, None).hours - 9.1).abs() < 0.2);
        assert!((check(10, 16, None).hours - 25.1).abs() < 0.2);
    }

    #[test]
    fn a_hosted_runner_has_a_note_with_attempts_and_ways_to_save() {
        let found = check(3, 4, Some(360));
        assert_eq!(
            found.verdict,
            "2782 objects, about 29.3 h with 4 threads; does not fit 6 h; about 6 attempts; \
             shorter with one gfx target or `opt-dim: \"128\"`"
        );
        assert_eq!(
            check(3, 32, Some(360)).verdict,
            "2782 objects, about 2.8 h with 32 threads; fits 6 h"
        );
        assert_eq!(
            check(3, 16, None).verdict,
            "2782 objects, about 7.3 h with 16 threads"
        );
    }

    #[test]
    fn variables_without_measurements_are_not_counted() {
        let question = EstimateQuery {
            package: "flash-attn",
            backend: "ck",
            targets: 3,
            threads: 16,
            limit_min: Some(360),
            levers: &["one gfx target".to_owned()],
            uncounted: &["opt-dim".to_owned()],
        };
        assert_eq!(
            estimate(&rows(), &question).unwrap().verdict,
            "2782 objects, about 7.3 h with 16 threads, not counting what `opt-dim` saves; does not \
             fit 6 h; about 2 attempts; shorter with one gfx target"
        );
    }

    #[test]
    fn more_targets_and_fewer_threads_never_get_cheaper() {
        for targets in 1..14 {
            assert!(
                check(targets + 1, 16, None).objects > check(targets, 16, None).objects,
                "{targets}"
            );
            for threads in [1, 2, 8, 16, 24, 32, 64] {
                assert!(
                    check(targets, threads, None).hours >= check(targets, threads * 2, None).hours
                );
            }
        }
    }

    #[test]
    fn what_was_never_measured_gets_no_estimate() {
        let question = EstimateQuery {
            package: "other",
            backend: "ck",
            targets: 3,
            threads: 4,
            limit_min: None,
            levers: &[],
            uncounted: &[],
        };
        assert!(estimate(&rows(), &question).is_none());
        assert!(
            estimate(
                &rows(),
                &EstimateQuery {
                    package: "flash-attn",
                    targets: 0,
                    ..question
                }
            )
            .is_none()
        );
    }
}
