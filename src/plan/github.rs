//! The plan in GitHub's form: `{"include":[…]}` matrices of flat texts.

use serde::Serialize;

use super::{JobView, Plan};
use crate::diagnostic::{Diagnostic, Sink, registry::plan as codes};

/// Jobs that one matrix may hold (GitHub documentation, "Usage limits": 256 jobs from a matrix per workflow run).
pub const JOBS_PER_MATRIX: usize = 256;

/// Bytes that the outputs of one job may have, counted as UTF-16 (github/docs pull request 36846).
pub(super) const OUTPUT_BYTES: usize = 1_048_576;

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
    /// How many jobs all of them have.
    pub count: usize,
    /// Whether the legs have only `id`, `runner` and `gpu`, because more does not fit; the rest is in the plan file.
    pub slim: bool,
}

#[derive(Serialize)]
struct Matrix<'a> {
    include: Vec<Entry<'a>>,
}

/// One leg of the workflow, as much of it as a workflow needs to start a job; every value is a text, because GitHub's expressions compare `3.10` and `3.1` as numbers.
#[derive(Serialize)]
struct Entry<'a> {
    id: String,
    /// Runner labels as JSON, for `fromJSON`.
    runner: String,
    gpu: &'a str,
    #[serde(flatten)]
    more: Option<More<'a>>,
}

/// What a leg says for people and for steps that do not read the plan file.
#[derive(Serialize)]
struct More<'a> {
    wheel: String,
    image: &'a str,
    recipe: &'a str,
    matrix: &'a str,
    gfx: String,
    label: &'a str,
}

/// Splits the plan into matrices. Where whole legs do not fit 1 MiB of output they have what starts a job only; where
/// that does not fit either, it is a fault.
pub fn github(plan: &Plan, sink: &mut Sink) -> Option<GithubPlan> {
    let jobs: Vec<JobView<'_>> = plan.jobs().collect();
    let made = |slim: bool| {
        let shards: Vec<Shard> = jobs.chunks(JOBS_PER_MATRIX).map(|jobs| shard(jobs, slim)).collect();
        let bytes: usize = shards.iter().map(|shard| output_bytes(&shard.json)).sum();
        (bytes, GithubPlan { count: jobs.len(), shards, slim })
    };
    let (mut bytes, mut plan) = made(false);
    if bytes > OUTPUT_BYTES {
        (bytes, plan) = made(true);
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

fn shard(jobs: &[JobView<'_>], slim: bool) -> Shard {
    let include = jobs.iter().map(|job| Entry {
        id: job.id(),
        runner: serde_json::to_string(&job.site().runner).expect("a list of texts serialises"),
        gpu: job.site().gpu.word(),
        more: (!slim).then(|| More {
            wheel: job.wheel(),
            image: job.site().image.as_deref().unwrap_or_default(),
            recipe: &job.group.config.recipe,
            matrix: &job.group.config.places.source().path,
            gfx: job.device().gfx.iter().map(ToString::to_string).collect::<Vec<_>>().join(";"),
            label: job.label().unwrap_or_default(),
        }),
    });
    let json = serde_json::to_string(&Matrix { include: include.collect() }).expect("texts serialise");
    Shard { json, count: jobs.len() }
}
