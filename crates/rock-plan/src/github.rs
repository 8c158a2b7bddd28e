//! The plan as GitHub matrices: `{"include":[…]}` with flat strings.

use serde::Serialize;

use super::matrix_leg::{MatrixLeg, TestLeg};
use super::{JobView, Plan};
use crate::codes::plan as codes;
use rock_diagnostic::{Diagnostic, Severity, Sink, counted};

/// Maximum number of jobs in a shard: GitHub's limit for one matrix, `jobs-per-matrix` in the
/// compatibility data. Also checked when a saved plan is read.
pub const JOBS_PER_MATRIX: usize = 256;

/// Maximum size of a job's outputs in bytes, counted as UTF-16: `job-outputs` in the compatibility
/// data.
pub const OUTPUT_BYTES: usize = 1_048_576;

/// A shard of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanShard {
    /// `{"include":[…]}` on one line.
    pub json: String,
    /// Number of jobs.
    pub count: usize,
}

/// The whole plan as GitHub matrices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GithubPlan {
    /// The build matrices.
    pub shards: Vec<PlanShard>,
    /// For each build matrix, the test matrix `{"include":[…]}` of the jobs whose wheels are tested
    /// on another runner; `None` if there are no such jobs.
    pub tests: Vec<Option<String>>,
    /// Total number of jobs.
    pub count: usize,
    /// Whether legs were reduced because whole ones exceed the limit; the omitted fields are in the
    /// plan file.
    pub slim: bool,
    /// Bytes of job output that whole legs would take.
    pub whole_bytes: usize,
}

/// The size of the plan that a workflow is rendered for; `None` is unlimited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WorkflowCapacity {
    /// The number of matrices that it has jobs for.
    pub shards: Option<u16>,
    /// The number of jobs that it has outputs for.
    pub legs: Option<u16>,
}

impl GithubPlan {
    /// Checks that a workflow has enough jobs and outputs for the plan.
    ///
    /// # Errors
    /// The plan has more matrices or jobs.
    pub fn check_capacity(&self, capacity: WorkflowCapacity) -> Result<(), Diagnostic> {
        let jobs = counted(self.count as u64, "job");
        let exceeded = |most: Option<u16>, count: usize| most.filter(|n| count > usize::from(*n));
        let message = if let Some(most) = exceeded(capacity.shards, self.shards.len()) {
            // There are at least two, so the noun is always plural.
            let matrices = self.shards.len();
            format!(
                "the plan has {matrices} matrices with {jobs}, and the workflow has jobs for {most}"
            )
        } else if let Some(most) = exceeded(capacity.legs, self.count) {
            format!("the plan has {jobs}, and the workflow has outputs for {most}")
        } else {
            return Ok(());
        };
        Err(Diagnostic::new(&codes::MORE_JOBS, message)
            .note("the second line of the workflow has the command that writes it")
            .help(
                "render the workflow again, with `rock-matrix render workflow --out \
                 .github/workflows/FILE`, and commit it",
            ))
    }

    /// Returns the outputs of a workflow's job that plans: `count`, `has_jobs`, `shards`, `slim`, a
    /// `matrix_N` for each matrix, and a `test_N` for each one with tests on other runners.
    pub fn into_outputs(self) -> Vec<(String, String)> {
        let mut outputs: Vec<(String, String)> = [
            ("count", self.count.to_string()),
            ("has_jobs", (self.count > 0).to_string()),
            ("shards", self.shards.len().to_string()),
            ("slim", self.slim.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        let shards = self.shards.into_iter().enumerate();
        outputs.extend(shards.map(|(number, shard)| (format!("matrix_{number}"), shard.json)));
        let tests = self.tests.into_iter().enumerate();
        outputs
            .extend(tests.filter_map(|(number, tests)| Some((format!("test_{number}"), tests?))));
        outputs
    }
}

#[derive(Serialize)]
struct GithubMatrix<L> {
    include: Vec<L>,
}

/// The level of detail of a leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LegDetail {
    /// All fields.
    Whole,
    /// The fields that a rendered workflow reads.
    Steps,
    /// The fields that start a job: ID, number, runner and GPU.
    Start,
}

/// Splits the plan into matrices. Legs that exceed 1 MiB of output are reduced to fewer fields;
/// reports an error if they still do not fit.
pub fn github(plan: &Plan, sink: &mut Sink) -> Option<GithubPlan> {
    let tests = plan.jobs().map(|job| job.tests().len()).collect::<Vec<_>>();
    let largest = tests
        .chunks(plan.jobs_per_matrix)
        .map(|tests| tests.iter().sum::<usize>())
        .max()
        .unwrap_or(0);
    if largest > JOBS_PER_MATRIX {
        let message = format!(
            "one matrix has {largest} test jobs, but GitHub runs at most {JOBS_PER_MATRIX} jobs of \
             a matrix"
        );
        let fault = Diagnostic::new(&codes::MORE_JOBS, message);
        sink.push(fault.help(
            "test fewer families, or reduce the number of jobs per matrix with `--max-jobs`",
        ));
        return None;
    }
    let made = fitted(plan, OUTPUT_BYTES);
    if let Err(bytes) = made {
        sink.push(
            Diagnostic::new(
                &codes::OUTPUT_TOO_LARGE,
                format!(
                    "the plan takes {bytes} bytes of job output, but at most {OUTPUT_BYTES} \
                    are allowed"
                ),
            )
            .note("GitHub counts outputs in UTF-16, two bytes per character")
            .help(
                "pass the plan on as an artifact: `rock-matrix plan --format json --out plan.json`",
            ),
        );
    }
    made.ok()
}

/// Warns that legs are reduced, or soon will be: a hand-written workflow may read a field that is
/// omitted, and would find it empty.
pub fn warn_of_size(github: &GithubPlan, sink: &mut Sink) {
    let bytes = github.whole_bytes;
    let message = if github.slim {
        format!(
            "complete legs take {bytes} bytes of job output, but at most {OUTPUT_BYTES} are \
             allowed, so some keys are dropped"
        )
    } else if bytes > OUTPUT_BYTES / 2 {
        format!(
            "the legs take {bytes} bytes of job output, more than half of the {OUTPUT_BYTES} \
             allowed"
        )
    } else {
        return;
    };
    sink.push(
        Diagnostic::new(&codes::OUTPUT_TOO_LARGE, message)
            .severity(Severity::Warning)
            .note("rendered workflows do not read the dropped keys; your own workflow may")
            .help("read them from the plan file: `rock-matrix plan --format json --out plan.json`"),
    );
}

/// Returns the matrices with as much detail as fits, or the size in bytes of the smallest form if
/// that exceeds the limit.
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

/// Returns the larger of the UTF-8 and UTF-16 sizes.
pub(super) fn output_bytes(text: &str) -> usize {
    text.len().max(2 * text.encode_utf16().count())
}

fn shard(jobs: &[JobView<'_>], detail: LegDetail) -> PlanShard {
    let include = jobs
        .iter()
        .enumerate()
        .map(|(number, job)| MatrixLeg::of(*job, number, detail))
        .collect();
    let json = serde_json::to_string(&GithubMatrix { include }).expect("strings serialize");
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
        .then(|| serde_json::to_string(&GithubMatrix { include }).expect("strings serialize"))
}

#[cfg(test)]
mod tests {
    use super::{GithubPlan, fitted, output_bytes};
    use crate::config::{self, Lookups, recipe};
    use crate::{self as plan, Plan, PlanInputs};
    use rock_compat::Compat;
    use rock_diagnostic::{Sink, SourceText};

    /// Creates a plan of three builds with a file of this name.
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
