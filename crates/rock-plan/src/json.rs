//! The plan as JSON, which `plan` passes to all later commands.
//!
//! This is version 1 of the format. Each job is on its own line, so that a million jobs can be
//! streamed. Values that jobs share are serialized once and concatenated; every piece is the output
//! of a serde struct of this module.

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
use super::interned_values::CompactJob;
use super::{BuildEstimate, DroppedGfx, JobView, Plan};
use rock_bytes::start_threads;
use rock_compat::RuntimeRequirements;

use matrix::matrix_document;
pub use read::{read_json, read_saved};

/// Maximum size of a plan to read. A job takes about 640 bytes, so this allows a plan of 200,000
/// jobs.
pub const LARGEST_PLAN_BYTES: u64 = 128 << 20;

/// The version of the format. Other versions are rejected.
pub(super) const VERSION: u32 = 1;

/// Number of jobs that one thread serializes at a time.
const CHUNK: usize = 4096;

/// Buffer size after which a thread serializes no further job: six times the size of a chunk of
/// typical jobs.
const CHUNK_BYTES: usize = 16 << 20;

/// Number of jobs per buffer when everything is serialized on one thread.
const SMALL_CHUNK: usize = 32;

/// A deserialized plan.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a plan")]
pub struct PlanDocument {
    /// The version of the format.
    pub version: u32,
    /// Name and version of the program that created it.
    pub generator: String,
    /// Settings that the jobs of one matrix file share.
    pub matrices: Vec<MatrixDocument>,
    /// The jobs.
    pub jobs: Vec<JobDocument>,
    /// The excluded cells, by reason. The counts are those of the whole matrix, also if only a part
    /// of its jobs was selected.
    pub excluded: Vec<ExcludedDocument>,
    /// Cells that share the wheel of another job.
    pub covered: Vec<CoveredDocument>,
    /// Wheels that were skipped because they are already published.
    pub published: Vec<String>,
    /// Wheels that were skipped because their jobs did not fail in a run.
    #[serde(default)]
    pub not_failed: Vec<String>,
    /// Shards of at most 256 jobs.
    pub shards: Vec<ShardDocument>,
    /// The limits that applied to planning.
    pub limits: IndexMap<String, u64>,
    /// Notes for people.
    pub notes: Vec<String>,
}

/// Settings that the jobs of one matrix file share.
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
    /// Maximum size of the compiler cache of one build in MB.
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

/// A job.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a job")]
pub struct JobDocument {
    /// The ID.
    pub id: String,
    /// Index into `matrices`.
    pub matrix: usize,
    /// Axis names and values.
    pub axes: IndexMap<String, String>,
    /// The distribution.
    pub distribution: String,
    /// The public version.
    pub version: Option<String>,
    /// The expected wheel name; `*` stands for a version that only the build determines. A name
    /// that ends with `-tree.tar.gz` is an archive of an install tree, and one that ends with
    /// `-tree` is an install tree, which is not a file.
    pub wheel: String,
    /// Names of the wheels of other distributions that the job also produces.
    #[serde(default)]
    pub wheels: Vec<String>,
    /// The local version label.
    pub label: Option<String>,
    /// The backend.
    pub backend: String,
    /// The recipe.
    pub recipe: String,
    /// Checks that the wheel must pass.
    pub gates: Vec<String>,
    /// The gfx targets to compile for.
    pub gfx: Vec<String>,
    /// The requested families and targets; omitted if they equal `gfx`.
    #[serde(default)]
    pub families: Vec<String>,
    /// Requested gfx targets that are not compiled.
    pub dropped_gfx: Vec<DroppedDocument>,
    /// The container image.
    pub image: Option<String>,
    /// The glibc version of the image, if the compatibility data has it.
    #[serde(default)]
    pub image_glibc: Option<String>,
    /// The runner labels.
    pub runner: Vec<String>,
    /// The runner group.
    #[serde(default)]
    pub runner_group: Option<String>,
    /// The GPU policy.
    pub gpu: String,
    /// The estimated cost of the build.
    pub estimate: Option<EstimateDocument>,
    /// Values of collapsed axes that the job covers; the document's `covered` has their
    /// combinations.
    #[serde(default)]
    pub covers: IndexMap<String, Vec<String>>,
    /// Variables that differ from those of the matrix file.
    #[serde(default)]
    pub vars: IndexMap<String, String>,
    /// Warnings for people.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// Requirements of the installed wheel.
    #[serde(default)]
    pub run_time: RuntimeRequirements,
}

/// A requested gfx target that is not compiled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a dropped target")]
pub struct DroppedDocument {
    /// The target.
    pub target: String,
    /// The reason.
    pub reason: String,
}

/// The estimated cost of a build.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an estimate")]
pub struct EstimateDocument {
    objects: u64,
    hours: f64,
    attempts: u32,
    cache_mb: u64,
    verdict: String,
}

/// Cells that are excluded for one reason.
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

/// Cells whose wheel one job builds: all combinations of these values. A job has several rows if
/// it does not cover all combinations of the values in its `covers`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a covered row")]
pub struct CoveredDocument {
    id: String,
    axes: IndexMap<String, Vec<String>>,
}

/// A range of jobs that forms one matrix.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a shard")]
pub struct ShardDocument {
    first: usize,
    count: usize,
}

/// Writes the plan. Jobs are streamed: a plan of a million jobs needs no more memory than its
/// compact form.
///
/// # Errors
/// If writing fails.
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
        // Returns the number of jobs that fit: long axis values can make a job many times the usual
        // size.
        let render = |compact_jobs: &[CompactJob], text: &mut Vec<u8>| {
            let has_room = |text: &Vec<u8>| text.len() < CHUNK_BYTES;
            let mut jobs = compact_jobs.iter();
            while has_room(text)
                && let Some(compact) = jobs.next()
            {
                pieces.job(
                    JobView {
                        group,
                        compact,
                        number,
                    },
                    text,
                );
            }
            compact_jobs.len() - jobs.len()
        };
        let mut write = |text: &[u8]| {
            let text = &text[usize::from(std::mem::take(&mut first))..];
            out.write_all(text)
        };
        // A few jobs are not worth starting threads or touching fresh memory.
        if group.compact_jobs.len() <= CHUNK {
            let mut text = Vec::new();
            for compact_jobs in group.compact_jobs.chunks(SMALL_CHUNK) {
                write_jobs(compact_jobs, &render, &mut text, &mut write)?;
            }
            continue;
        }
        start_threads();
        for batch in group
            .compact_jobs
            .chunks(CHUNK * rayon::current_num_threads())
        {
            let rendered = |compact_jobs: &[CompactJob]| {
                let mut text = Vec::with_capacity(compact_jobs.len() * 640);
                let done = render(compact_jobs, &mut text);
                (text, done)
            };
            let texts: Vec<(Vec<u8>, usize)> = batch.par_chunks(CHUNK).map(rendered).collect();
            for (compact_jobs, (mut text, done)) in batch.chunks(CHUNK).zip(texts) {
                write(&text)?;
                write_jobs(&compact_jobs[done..], &render, &mut text, &mut write)?;
            }
        }
    }
    out.write_all(b"]")?;
    out.write_all(b",\n\"excluded\":[")?;
    let mut text = Vec::new();
    for (n, row) in excluded(plan).enumerate() {
        text.clear();
        text.extend((n > 0).then_some(b','));
        serde_json::to_writer(&mut text, &row)?;
        out.write_all(&text)?;
    }
    out.write_all(b"],\n\"covered\":[")?;
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

/// Serializes jobs into a buffer and writes it each time it is full.
fn write_jobs(
    mut compact_jobs: &[CompactJob],
    render: &impl Fn(&[CompactJob], &mut Vec<u8>) -> usize,
    text: &mut Vec<u8>,
    write: &mut impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    while !compact_jobs.is_empty() {
        text.clear();
        compact_jobs = &compact_jobs[render(compact_jobs, text)..];
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

fn excluded(plan: &Plan) -> impl Iterator<Item = ExcludedDocument> {
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
}

fn covered(plan: &Plan) -> impl Iterator<Item = CoveredDocument> {
    plan.jobs().flat_map(|job| {
        let products = job.covered_products().into_iter();
        products.map(move |axes| CoveredDocument { id: job.id(), axes })
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
