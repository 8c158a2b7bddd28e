//! A leg of a workflow matrix.

use serde::Serialize;

use super::cache::cell_key;
use super::github::LegDetail;
use super::{JobView, MachineKind};

/// A leg: the fields of a job that a workflow needs to start and build it. All values are strings,
/// because GitHub's expressions compare `3.10` and `3.1` as numbers.
#[derive(Serialize)]
pub(super) struct MatrixLeg<'a> {
    id: String,
    /// The leg's index in its matrix, from 0. All legs share the outputs of one GitHub job, and
    /// each leg uses the output with its index.
    n: String,
    /// Runner labels as JSON, for `fromJSON`.
    runner: String,
    gpu: &'a str,
    #[serde(flatten)]
    steps: Option<LegInputs<'a>>,
    #[serde(flatten)]
    more: Option<LegDescription<'a>>,
}

/// The fields that the steps of a rendered workflow read.
#[derive(Serialize)]
struct LegInputs<'a> {
    /// The architecture of the runner.
    arch: &'a str,
    /// Value of `build --engine`.
    engine: &'a str,
    /// `timeout-minutes` of the job.
    timeout: String,
    /// Value of `build --cap` in minutes.
    cap: String,
    /// Cache key of the compiler cache, without run and attempt.
    cache: String,
}

/// The fields that describe a leg for people.
#[derive(Serialize)]
struct LegDescription<'a> {
    wheel: String,
    image: &'a str,
    recipe: &'a str,
    matrix: &'a str,
    families: String,
    gfx: String,
    label: &'a str,
}

impl<'a> MatrixLeg<'a> {
    pub(super) fn of(job: JobView<'a>, number: usize, detail: LegDetail) -> Self {
        let id = job.id();
        Self {
            n: number.to_string(),
            runner: labels(job.machine()),
            gpu: job.runner_choice().gpu.word(),
            steps: (detail != LegDetail::Start).then(|| LegInputs::of(job, &id)),
            more: (detail == LegDetail::Whole).then(|| LegDescription {
                wheel: job.wheel(),
                image: job.runner_choice().image.as_deref().unwrap_or_default(),
                recipe: &job.group.config.recipe,
                matrix: &job.group.config.locations.source().path,
                families: job.families().join(";"),
                gfx: job
                    .device_code()
                    .gfx
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join(";"),
                label: job.label().unwrap_or_default(),
            }),
            id,
        }
    }
}

/// A leg that tests a wheel.
#[derive(Serialize)]
pub(super) struct TestLeg<'a> {
    id: String,
    /// The index of the leg that builds the wheel.
    n: String,
    /// The family that the runner is for; set in all legs of a plan or in none.
    #[serde(skip_serializing_if = "Option::is_none")]
    family: Option<&'a str>,
    runner: String,
    arch: &'a str,
    engine: &'a str,
}

impl<'a> TestLeg<'a> {
    /// Returns the test legs of a job; empty if it is tested where it is built.
    pub(super) fn of(job: JobView<'a>, number: usize, by_family: bool) -> Vec<Self> {
        let leg = |(family, machine): (Option<&'a str>, &'a MachineKind)| Self {
            id: job.id(),
            n: number.to_string(),
            family: by_family.then_some(family.unwrap_or(ANY_FAMILY)),
            runner: labels(machine),
            arch: &machine.arch,
            engine: engine(job, machine),
        };
        job.tests().into_iter().map(leg).collect()
    }
}

/// Value of `family` for a test without a family, if other tests have one.
const ANY_FAMILY: &str = "any";

/// Returns the value of `runs-on` as JSON: labels, or a group with labels.
fn labels(machine: &MachineKind) -> String {
    match &machine.group {
        Some(group) if machine.labels.is_empty() => serde_json::json!({"group": group}).to_string(),
        Some(group) => serde_json::json!({"group": group, "labels": machine.labels}).to_string(),
        None => serde_json::to_string(&machine.labels).expect("a list of strings serializes"),
    }
}

/// Returns the engine that runs a job's steps on a machine.
fn engine(job: JobView<'_>, machine: &MachineKind) -> &'static str {
    if job.runner_choice().image.is_some() && machine.docker {
        "docker"
    } else {
        "local"
    }
}

impl<'a> LegInputs<'a> {
    fn of(job: JobView<'a>, id: &str) -> Self {
        let (choice, machine, values) = (job.runner_choice(), job.machine(), job.values());
        let toolchain = [
            ("image", choice.image.clone()),
            ("python", values.python.map(|python| python.to_string())),
            ("rocm", values.rocm.map(ToString::to_string)),
            ("torch", values.torch.map(ToString::to_string)),
        ];
        let known: Vec<(&str, String)> = toolchain
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .collect();
        Self {
            arch: &machine.arch,
            engine: engine(job, machine),
            timeout: machine.timeout_min.to_string(),
            cap: machine.cap_min().to_string(),
            cache: cell_key(id, &known),
        }
    }
}
