//! The plan in GitHub's form: `{"include":[…]}` matrices of flat texts.

use serde::Serialize;

use super::leg::{Leg, TestLeg};
use super::{JobView, Plan};
use crate::diagnostic::{Diagnostic, Sink, registry::plan as codes};

/// Jobs of one shard: what one matrix may hold, by the fact `jobs-per-matrix`. A plan that was saved is read by it too.
pub const JOBS_PER_MATRIX: usize = 256;

/// Bytes that the outputs of one job may have, counted as UTF-16, by the fact `job-outputs`.
pub const OUTPUT_BYTES: usize = 1_048_576;

/// One matrix of at most 256 jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shard {
    /// `{"include":[…]}` on one line.
    pub json: String,
    /// How many jobs it has.
    pub count: usize,
}

/// The whole plan in GitHub's form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GithubPlan {
    /// The matrices.
    pub shards: Vec<Shard>,
    /// For each matrix, the jobs of it whose wheels are tested on another runner, `{"include":[…]}`; none for none.
    pub tests: Vec<Option<String>>,
    /// How many jobs all of them have.
    pub count: usize,
    /// Whether the legs have less than they could, because it does not fit; the rest is in the plan file.
    pub slim: bool,
}

#[derive(Serialize)]
struct Matrix<L> {
    include: Vec<L>,
}

/// How much a leg says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// Everything.
    Whole,
    /// What a rendered workflow reads.
    Steps,
    /// What starts a job: id, runner and gpu.
    Start,
}

/// Splits the plan into matrices. Where whole legs do not fit 1 MiB of output they have what starts a job only; where
/// that does not fit either, it is a fault.
pub fn github(plan: &Plan, sink: &mut Sink) -> Option<GithubPlan> {
    let jobs: Vec<JobView<'_>> = plan.jobs().collect();
    let made = |detail: Detail| {
        let shards: Vec<Shard> = jobs.chunks(JOBS_PER_MATRIX).map(|jobs| shard(jobs, detail)).collect();
        let tests: Vec<Option<String>> = jobs.chunks(JOBS_PER_MATRIX).map(tests).collect();
        let texts = shards.iter().map(|shard| &shard.json).chain(tests.iter().flatten());
        let bytes: usize = texts.map(|json| output_bytes(json)).sum();
        (bytes, GithubPlan { count: jobs.len(), shards, tests, slim: detail != Detail::Whole })
    };
    let (mut bytes, mut plan) = made(Detail::Whole);
    for detail in [Detail::Steps, Detail::Start] {
        if bytes > OUTPUT_BYTES {
            (bytes, plan) = made(detail);
        }
    }
    if bytes > OUTPUT_BYTES {
        sink.push(
            Diagnostic::new(
                &codes::OUTPUT_TOO_LARGE,
                format!("the plan takes {bytes} bytes of job output, {OUTPUT_BYTES} are allowed"),
            )
            .note("GitHub counts outputs in UTF-16, two bytes a letter")
            .help("hand the plan on as an artifact: `rock-matrix plan --format json --out plan.json`"),
        );
        return None;
    }
    Some(plan)
}

/// The larger of the UTF-8 and the UTF-16 size.
pub(super) fn output_bytes(text: &str) -> usize {
    text.len().max(2 * text.encode_utf16().count())
}

fn shard(jobs: &[JobView<'_>], detail: Detail) -> Shard {
    let include = jobs.iter().map(|job| Leg::of(*job, detail)).collect();
    let json = serde_json::to_string(&Matrix { include }).expect("texts serialise");
    Shard { json, count: jobs.len() }
}

fn tests(jobs: &[JobView<'_>]) -> Option<String> {
    let include: Vec<TestLeg<'_>> = jobs.iter().filter_map(|job| TestLeg::of(*job)).collect();
    (!include.is_empty()).then(|| serde_json::to_string(&Matrix { include }).expect("texts serialise"))
}
