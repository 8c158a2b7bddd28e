//! The plan as JSON: the hand-off between `plan` and everything that runs later.
//!
//! Version 1. One job stands on one line, so that a million of them stream. What jobs share is
//! serialised once and joined; every piece comes out of a serde struct of this file.

mod check;
mod field;
mod field_checks;
mod job_checks;
mod matrix;
mod piece;
mod pieces;
mod read;

use std::io::{self, Write};

use indexmap::IndexMap;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::pieces::SerializedPieces;
use super::shared_values::CompactJob;
use super::{BuildEstimate, DroppedGfx, JobView, Plan};
use crate::config::RunTime;
use rock_bytes::start_threads;

use matrix::matrix_document;
pub use read::{read_json, read_saved};

/// The largest plan that is read back. A job has about 640 bytes, so that this is a plan of 200,000
/// jobs.
pub const LARGEST_PLAN_BYTES: u64 = 128 << 20;

/// The version of the format. A reader refuses others.
pub(super) const VERSION: u32 = 1;

/// Jobs serialised by one thread at a time.
const CHUNK: usize = 4096;

/// Bytes behind which one thread serialises no further job: six times what a chunk of usual jobs
/// has.
const CHUNK_BYTES: usize = 16 << 20;

/// Jobs serialised into one buffer where one thread does it all.
const SMALL_CHUNK: usize = 32;

/// A plan as read back.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a plan")]
pub struct PlanDocument {
    /// The version of the format.
    pub version: u32,
    /// Name and version of the program that wrote it.
    pub generator: String,
    /// What the jobs of one matrix file share.
    pub matrices: Vec<MatrixDocument>,
    /// The jobs.
    pub jobs: Vec<JobDocument>,
    /// What was left out.
    pub excluded: Vec<ExcludedDocument>,
    /// Cells that share another job's wheel.
    pub covered: Vec<CoveredDocument>,
    /// Wheels left out because they are published.
    pub published: Vec<String>,
    /// Wheels left out because their jobs did not fail in a run.
    #[serde(default)]
    pub not_failed: Vec<String>,
    /// Parts of at most 256 jobs.
    pub shards: Vec<ShardDocument>,
    /// The limits the plan was made under.
    pub limits: IndexMap<String, u64>,
    /// Things a person should know.
    pub notes: Vec<String>,
}

/// What the jobs of one matrix file share.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a matrix")]
pub struct MatrixDocument {
    matrix: String,
    distribution: String,
    platform: String,
    torch_from: String,
    python_from: String,
    image: ImageDocument,
    docker: DockerDocument,
    cache: String,
    /// MB that the compiler cache of one build may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cache_mb: Option<u64>,
    vars: IndexMap<String, String>,
    secrets: Vec<String>,
    indexes: IndexMap<String, String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    device_extras: bool,
    repair: RepairDocument,
    test: TestDocument,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an image rule")]
struct ImageDocument {
    repository: String,
    tag: String,
    missing: String,
    digest: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "container options")]
struct DockerDocument {
    shm_size: String,
    groups: Vec<String>,
    gid: String,
    args: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a repair rule")]
struct RepairDocument {
    /// `off`, `auto` or a platform tag.
    platform: String,
    presets: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    exclude: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a test rule")]
struct TestDocument {
    runner: String,
    gpu: String,
    /// `auto`, `none` or families joined with `;`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    families: Option<String>,
}

/// One job.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a job")]
pub struct JobDocument {
    /// The id.
    pub id: String,
    /// Index into `matrices`.
    pub matrix: usize,
    /// Axis name → value.
    pub axes: IndexMap<String, String>,
    /// The distribution.
    pub distribution: String,
    /// The public version.
    pub version: Option<String>,
    /// The expected wheel name; `*` stands for a version that only the build knows. What ends with
    /// `-tree.tar.gz` is an archive of an install tree, and what ends with `-tree` such a tree,
    /// which is no file.
    pub wheel: String,
    /// Names of the wheels of other distributions that it leaves too.
    #[serde(default)]
    pub wheels: Vec<String>,
    /// The label.
    pub label: Option<String>,
    /// The backend.
    pub backend: String,
    /// The recipe.
    pub recipe: String,
    /// Checks the wheel must pass.
    pub gates: Vec<String>,
    /// gfx targets.
    pub gfx: Vec<String>,
    /// The families and targets that were asked for; left out where these are the targets.
    #[serde(default)]
    pub families: Vec<String>,
    /// gfx targets left out.
    pub dropped_gfx: Vec<DroppedDocument>,
    /// The image.
    pub image: Option<String>,
    /// The glibc of the image, where the facts know it.
    #[serde(default)]
    pub image_glibc: Option<String>,
    /// Runner labels.
    pub runner: Vec<String>,
    /// The group of runners.
    #[serde(default)]
    pub runner_group: Option<String>,
    /// GPU policy.
    pub gpu: String,
    /// The estimate.
    pub estimate: Option<EstimateDocument>,
    /// Values of collapsed axes.
    #[serde(default)]
    pub covers: IndexMap<String, Vec<String>>,
    /// Variables that differ from the matrix file's.
    #[serde(default)]
    pub vars: IndexMap<String, String>,
    /// Things a person should know.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Needs of the installed wheel.
    #[serde(default)]
    pub run_time: RunTime,
}

/// A gfx target left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a dropped target")]
pub struct DroppedDocument {
    /// The target.
    pub target: String,
    /// Why.
    pub reason: String,
}

/// What a build is likely to cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an estimate")]
pub struct EstimateDocument {
    objects: u64,
    hours: f64,
    attempts: u32,
    cache_mb: u64,
    verdict: String,
}

/// Cells left out for one reason.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an excluded row")]
pub struct ExcludedDocument {
    matrix: usize,
    axes: IndexMap<String, String>,
    count: u64,
    code: String,
    reason: String,
    hint: String,
    source: String,
}

/// Cells that share a job's wheel.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a covered row")]
pub struct CoveredDocument {
    id: String,
    axes: IndexMap<String, Vec<String>>,
}

/// A part of the jobs that forms one matrix.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a shard")]
pub struct ShardDocument {
    first: usize,
    count: usize,
}

/// Writes the plan. Jobs stream; a plan of a million jobs needs no more memory than its compact
/// form.
///
/// # Errors
/// When writing fails.
pub fn write_json(
    plan: &Plan,
    generator: &str,
    notes: &[String],
    out: &mut dyn Write,
) -> io::Result<()> {
    let line = |out: &mut dyn Write,
                name: &str,
                value: &dyn Fn() -> serde_json::Result<Vec<u8>>|
     -> io::Result<()> {
        write!(out, ",\n\"{name}\":")?;
        out.write_all(&value()?)
    };
    let matrices: Vec<MatrixDocument> = plan
        .groups
        .iter()
        .map(|group| matrix_document(plan, group))
        .collect();
    write!(out, "{{\"version\":{VERSION}")?;
    line(out, "generator", &|| serde_json::to_vec(generator))?;
    line(out, "matrices", &|| serde_json::to_vec(&matrices))?;
    out.write_all(b",\n\"jobs\":[")?;
    let mut first = true;
    for (number, group) in plan.groups.iter().enumerate() {
        let pieces = SerializedPieces::new(group, number);
        // Returns how many jobs fit: values of axes can make a job many times as long as usual.
        let render = |drafts: &[CompactJob], text: &mut Vec<u8>| {
            let has_room = |text: &Vec<u8>| text.len() < CHUNK_BYTES;
            let mut jobs = drafts.iter();
            while has_room(text)
                && let Some(draft) = jobs.next()
            {
                pieces.job(
                    JobView {
                        group,
                        draft,
                        number,
                    },
                    text,
                );
            }
            drafts.len() - jobs.len()
        };
        let mut write = |text: &[u8]| {
            let text = &text[usize::from(std::mem::take(&mut first))..];
            out.write_all(text)
        };
        // Threads are not worth starting for a few jobs, nor is memory that no one has touched yet.
        if group.drafts.len() <= CHUNK {
            let mut text = Vec::new();
            for drafts in group.drafts.chunks(SMALL_CHUNK) {
                write_jobs(drafts, &render, &mut text, &mut write)?;
            }
            continue;
        }
        start_threads();
        for batch in group.drafts.chunks(CHUNK * rayon::current_num_threads()) {
            let rendered = |drafts: &[CompactJob]| {
                let mut text = Vec::with_capacity(drafts.len() * 640);
                let done = render(drafts, &mut text);
                (text, done)
            };
            let texts: Vec<(Vec<u8>, usize)> = batch.par_chunks(CHUNK).map(rendered).collect();
            for (drafts, (mut text, done)) in batch.chunks(CHUNK).zip(texts) {
                write(&text)?;
                write_jobs(&drafts[done..], &render, &mut text, &mut write)?;
            }
        }
    }
    out.write_all(b"]")?;
    line(out, "excluded", &|| serde_json::to_vec(&excluded(plan)))?;
    out.write_all(b",\n\"covered\":[")?;
    for (n, covered) in covered(plan).enumerate() {
        out.write_all(if n == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &covered)?;
    }
    out.write_all(b"]")?;
    line(out, "published", &|| serde_json::to_vec(&plan.published))?;
    line(out, "not_failed", &|| {
        serde_json::to_vec(&plan.not_failed())
    })?;
    line(out, "shards", &|| serde_json::to_vec(&shards(plan)))?;
    line(out, "limits", &|| serde_json::to_vec(&plan.limits()))?;
    line(out, "notes", &|| serde_json::to_vec(notes))?;
    out.write_all(b"}\n")
}

/// Serialises jobs into a buffer and writes it, as often as it is full.
fn write_jobs(
    mut drafts: &[CompactJob],
    render: &impl Fn(&[CompactJob], &mut Vec<u8>) -> usize,
    text: &mut Vec<u8>,
    write: &mut impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    while !drafts.is_empty() {
        text.clear();
        drafts = &drafts[render(drafts, text)..];
        write(text)?;
    }
    Ok(())
}

fn shards(plan: &Plan) -> Vec<ShardDocument> {
    let (jobs, most) = (plan.job_count(), plan.jobs_per_matrix);
    (0..jobs)
        .step_by(most)
        .map(|first| ShardDocument {
            first,
            count: most.min(jobs - first),
        })
        .collect()
}

fn excluded(plan: &Plan) -> Vec<ExcludedDocument> {
    let rows = plan
        .groups
        .iter()
        .enumerate()
        .flat_map(|(matrix, group)| group.excluded.iter().map(move |row| (matrix, row)));
    rows.map(|(matrix, row)| ExcludedDocument {
        matrix,
        axes: row.axes.clone(),
        count: row.count,
        code: row.code.id.to_owned(),
        reason: row.reason.clone(),
        hint: row.hint.clone(),
        source: row.source.clone(),
    })
    .collect()
}

fn covered(plan: &Plan) -> impl Iterator<Item = CoveredDocument> {
    plan.jobs()
        .filter(|job| !job.covered().is_empty())
        .map(|job| CoveredDocument {
            id: job.id(),
            axes: job.covers(),
        })
}

impl From<&DroppedGfx> for DroppedDocument {
    fn from(dropped: &DroppedGfx) -> Self {
        Self {
            target: dropped.target.to_string(),
            reason: dropped.reason.clone(),
        }
    }
}

impl From<&BuildEstimate> for EstimateDocument {
    fn from(e: &BuildEstimate) -> Self {
        Self {
            objects: e.objects,
            hours: e.hours,
            attempts: e.attempts,
            cache_mb: e.cache_mb,
            verdict: e.verdict.clone(),
        }
    }
}
