//! The plan in GitHub's form: `{"include":[…]}` matrices of flat texts.

use serde::Serialize;

use super::leg::{Leg, TestLeg};
use super::{JobView, Plan};
use crate::codes::plan as codes;
use rock_diagnostic::{Diagnostic, Severity, Sink};

/// Jobs of one shard: what one matrix may hold, by the fact `jobs-per-matrix`. A plan that was
/// saved is read by it too.
pub const JOBS_PER_MATRIX: usize = 256;

/// Bytes that the outputs of one job may have, counted as UTF-16, by the fact `job-outputs`.
pub const OUTPUT_BYTES: usize = 1_048_576;

/// One matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanShard {
    /// `{"include":[…]}` on one line.
    pub json: String,
    /// How many jobs it has.
    pub count: usize,
}

/// The whole plan in GitHub's form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GithubPlan {
    /// The matrices.
    pub shards: Vec<PlanShard>,
    /// For each matrix, the jobs of it whose wheels are tested on another runner,
    /// `{"include":[…]}`; none for none.
    pub tests: Vec<Option<String>>,
    /// How many jobs all of them have.
    pub count: usize,
    /// Whether the legs have less than they could, because it does not fit; the rest is in the plan
    /// file.
    pub slim: bool,
    /// Bytes of job output that whole legs take.
    pub whole_bytes: usize,
}

#[derive(Serialize)]
struct GithubMatrix<L> {
    include: Vec<L>,
}

/// How much a leg says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LegDetail {
    /// Everything.
    Whole,
    /// What a rendered workflow reads.
    Steps,
    /// What starts a job: id, number, runner and gpu.
    Start,
}

/// Splits the plan into matrices. Where whole legs do not fit 1 MiB of output they have what starts
/// a job only; where that does not fit either, it is a fault.
pub fn github(plan: &Plan, sink: &mut Sink) -> Option<GithubPlan> {
    let tests = plan.jobs().map(|job| job.tests().len()).collect::<Vec<_>>();
    let largest = tests
        .chunks(plan.jobs_per_matrix)
        .map(|tests| tests.iter().sum::<usize>())
        .max()
        .unwrap_or(0);
    if largest > JOBS_PER_MATRIX {
        let message = format!(
            "the tests of one matrix are {largest} jobs, and GitHub runs {JOBS_PER_MATRIX} of one"
        );
        let fault = Diagnostic::new(&codes::MORE_MATRICES, message);
        sink.push(fault.help(
            "name fewer families under `test`, or put fewer jobs into one matrix with `--max-jobs`",
        ));
        return None;
    }
    let made = fitted(plan, OUTPUT_BYTES);
    if let Err(bytes) = made {
        sink.push(
            Diagnostic::new(
                &codes::OUTPUT_TOO_LARGE,
                format!("the plan takes {bytes} bytes of job output, {OUTPUT_BYTES} are allowed"),
            )
            .note("GitHub counts outputs in UTF-16, two bytes a letter")
            .help(
                "hand the plan on as an artifact: `rock-matrix plan --format json --out plan.json`",
            ),
        );
    }
    made.ok()
}

/// Says that legs are cut down, or soon will be: a workflow that somebody wrote may read what is
/// missing then, and would find it empty.
pub fn warn_of_size(github: &GithubPlan, sink: &mut Sink) {
    let bytes = github.whole_bytes;
    let message = if github.slim {
        format!(
            "whole legs take {bytes} bytes of job output, {OUTPUT_BYTES} are allowed, so they have less"
        )
    } else if bytes > OUTPUT_BYTES / 2 {
        format!(
            "the legs take {bytes} bytes of job output, more than half of the {OUTPUT_BYTES} that are allowed"
        )
    } else {
        return;
    };
    sink.push(
        Diagnostic::new(&codes::OUTPUT_TOO_LARGE, message)
            .severity(Severity::Warning)
            .note("a rendered workflow reads nothing that is left out; one that you wrote may")
            .help("take it from the plan file: `rock-matrix plan --format json --out plan.json`"),
    );
}

/// The matrices, as much of each leg as fits; how many bytes the least of it takes where that is
/// too much.
fn fitted(plan: &Plan, most: usize) -> Result<GithubPlan, usize> {
    let jobs: Vec<JobView<'_>> = plan.jobs().collect();
    let made = |detail: LegDetail| {
        let shards: Vec<PlanShard> = jobs
            .chunks(plan.jobs_per_matrix)
            .map(|jobs| shard(jobs, detail))
            .collect();
        let by_family = plan.tests_by_family();
        let tests = jobs
            .chunks(plan.jobs_per_matrix)
            .map(|jobs| tests(jobs, by_family))
            .collect::<Vec<_>>();
        let texts = shards
            .iter()
            .map(|shard| &shard.json)
            .chain(tests.iter().flatten());
        let bytes: usize = texts.map(|json| output_bytes(json)).sum();
        (
            bytes,
            GithubPlan {
                count: jobs.len(),
                shards,
                tests,
                slim: detail != LegDetail::Whole,
                whole_bytes: bytes,
            },
        )
    };
    let (mut bytes, mut plan) = made(LegDetail::Whole);
    let whole_bytes = bytes;
    for detail in [LegDetail::Steps, LegDetail::Start] {
        if bytes > most {
            (bytes, plan) = made(detail);
        }
    }
    if bytes > most {
        Err(bytes)
    } else {
        Ok(GithubPlan {
            whole_bytes,
            ..plan
        })
    }
}

/// The larger of the UTF-8 and the UTF-16 size.
pub(super) fn output_bytes(text: &str) -> usize {
    text.len().max(2 * text.encode_utf16().count())
}

fn shard(jobs: &[JobView<'_>], detail: LegDetail) -> PlanShard {
    let include = jobs
        .iter()
        .enumerate()
        .map(|(number, job)| Leg::of(*job, number, detail))
        .collect();
    let json = serde_json::to_string(&GithubMatrix { include }).expect("texts serialise");
    PlanShard {
        json,
        count: jobs.len(),
    }
}

fn tests(jobs: &[JobView<'_>], by_family: bool) -> Option<String> {
    let include: Vec<TestLeg<'_>> = jobs
        .iter()
        .enumerate()
        .flat_map(|(number, job)| TestLeg::of(*job, number, by_family))
        .collect();
    (!include.is_empty())
        .then(|| serde_json::to_string(&GithubMatrix { include }).expect("texts serialise"))
}

#[cfg(test)]
mod tests {
    use super::{GithubPlan, fitted, output_bytes};
    use crate::config::{self, Lookups, recipe};
    use crate::{self as plan, Plan, PlanInputs};
    use rock_compat::Compat;
    use rock_diagnostic::{Sink, SourceText};

    /// Three builds, with a file of that name.
    fn three(file: &str) -> Plan {
        let text = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\ntest: {runner: mi300x}\naxes:\n  flash-attn: [\"2.8.3\"]\n  \
                    python: [\"3.10\", \"3.11\", \"3.12\"]\n  torch: [\"2.5.1\"]\n  rocm: [\"6.2\"]\n";
        let (compat, document) = (Compat::embedded(), recipe::embedded("flash-attn").unwrap());
        let mut sink = Sink::new();
        let config = config::read(
            &SourceText::new(file, text),
            &Lookups::new(&compat, recipe::RecipeSet::with_shipped([]).into()),
            &mut sink,
        )
        .unwrap();
        plan::plan(
            vec![(config, document.profile("flash-attn"))],
            &compat,
            &PlanInputs::default(),
            &mut sink,
        )
        .unwrap()
    }

    fn bytes(plan: &GithubPlan) -> usize {
        let texts = plan
            .shards
            .iter()
            .map(|shard| &shard.json)
            .chain(plan.tests.iter().flatten());
        texts.map(|text| output_bytes(text)).sum()
    }

    #[test]
    fn the_larger_of_both_encodings_counts() {
        assert_eq!(output_bytes("abc"), 6, "UTF-16");
        assert_eq!(output_bytes("\u{e9}"), 2);
        assert_eq!(output_bytes("\u{6f22}\u{5b57}"), 6, "UTF-8");
        assert_eq!(output_bytes("\u{1f680}"), 4, "two units of UTF-16");
    }

    #[test]
    fn a_plan_fits_to_the_byte_and_one_byte_less_takes_something_out_of_its_legs() {
        for file in ["m.yaml", "\u{6f22}\u{5b57}\u{6f22}\u{5b57}.yaml"] {
            let plan = three(file);
            let whole = fitted(&plan, usize::MAX).unwrap();
            let most = bytes(&whole);
            assert_eq!(
                (
                    whole.slim,
                    whole.whole_bytes,
                    whole.shards[0].json.contains("wheel")
                ),
                (false, most, true)
            );
            assert_eq!(fitted(&plan, most).unwrap(), whole);
            let steps = fitted(&plan, most - 1).unwrap();
            let json = &steps.shards[0].json;
            assert!(
                steps.slim && json.contains("\"timeout\":") && !json.contains("\"wheel\":"),
                "{json}"
            );
            assert_eq!(steps.whole_bytes, most);
            let start = fitted(&plan, bytes(&steps) - 1).unwrap();
            let json = &start.shards[0].json;
            assert!(
                start.slim && json.contains("\"runner\":") && !json.contains("\"timeout\":"),
                "{json}"
            );
            assert_eq!(fitted(&plan, bytes(&start)).unwrap(), start);
            assert_eq!(fitted(&plan, bytes(&start) - 1), Err(bytes(&start)));
        }
    }
}
